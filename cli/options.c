/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/mem.h"
#include "types/errtab.h"
#include "vfs/vfs.h"

enum {
    O_MOUNT = 256,
    O_COPY_IN,
    O_COPY_OUT,
    O_DIFF,
    O_APPLY,
    O_ENV,
    O_WORKDIR,
    O_USER,
    O_TIMEOUT,
    O_LIMIT,
    O_JSON,
    O_QUIET,
    O_SESSION,
    O_STATE,
    O_DURABLE,
    O_SECRET,
    O_MODULES,
    O_POLICY,
    O_SERVER,
    O_HELP,
};

static const struct option long_options[] = {
    {"mount", required_argument, NULL, O_MOUNT},
    {"copy-in", required_argument, NULL, O_COPY_IN},
    {"copy-out", required_argument, NULL, O_COPY_OUT},
    {"diff", optional_argument, NULL, O_DIFF},
    {"apply", no_argument, NULL, O_APPLY},
    {"env", required_argument, NULL, O_ENV},
    {"workdir", required_argument, NULL, O_WORKDIR},
    {"user", required_argument, NULL, O_USER},
    {"timeout", required_argument, NULL, O_TIMEOUT},
    {"limit", required_argument, NULL, O_LIMIT},
    {"json", optional_argument, NULL, O_JSON},
    {"quiet", no_argument, NULL, O_QUIET},
    {"session", required_argument, NULL, O_SESSION},
    {"state", required_argument, NULL, O_STATE},
    {"durable", no_argument, NULL, O_DURABLE},
    {"secret", required_argument, NULL, O_SECRET},
    {"modules", required_argument, NULL, O_MODULES},
    {"policy", required_argument, NULL, O_POLICY},
    {"server", required_argument, NULL, O_SERVER},
    {"help", no_argument, NULL, O_HELP},
    {NULL, 0, NULL, 0},
};

static int bad(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static int bad(const char *fmt, ...)
{
    BUF_AUTO struct buf text;
    buf_init(&text, 8192);
    va_list ap;
    va_start(ap, fmt);
    buf_vaddf(&text, fmt, ap);
    va_end(ap);
    cli_error("%s", text.p);
    return -EINVAL;
}

/* Splits HOST:GUEST before the ":/" that begins the guest's absolute path. */
static int split_host_guest(const char *option, const char *spec, struct str s, char **ret_host, char **ret_guest)
{
    size_t i = 1;
    while (i + 1 < s.n && !(s.p[i] == ':' && s.p[i + 1] == '/'))
        i++;
    if (s.n < 3 || i + 1 >= s.n)
        return bad("%s: '%s' is not HOST:GUEST with an absolute GUEST", option, spec);
    *ret_host = mem_dup(s.p, i);
    *ret_guest = mem_dup(s.p + i + 1, s.n - i - 1);
    return 0;
}

int cli_add_mount(struct cli_options *o, const char *spec)
{
    if (o->n_mounts == LIMIT_MOUNTS)
        return bad("--mount: a session has at most %d mounts", LIMIT_MOUNTS);
    struct cli_mount *m = &o->mounts[o->n_mounts];
    *m = (struct cli_mount){.spec = spec, .flags = VFS_MOUNT_COW, .fd = -1};
    struct str s = str_c(spec);
    if (str_ends(s, STR(":ro")))
        m->flags = VFS_MOUNT_RO;
    if (str_ends(s, STR(":ro")))
        s.n -= 3;
    else if (str_ends(s, STR(":cow")))
        s.n -= 4;
    int r = split_host_guest("--mount", spec, s, &m->host, &m->guest);
    if (r)
        return r;
    o->n_mounts++;
    m->fd = open(m->host, O_PATH | O_CLOEXEC);
    struct stat st;
    if (m->fd < 0 || fstat(m->fd, &st))
        return bad("--mount: '%s': %s", m->host, errtab_text(errno));
    m->is_dir = S_ISDIR(st.st_mode);
    if (!m->is_dir && !S_ISREG(st.st_mode))
        return bad("--mount: '%s' is neither a directory nor a regular file", m->host);
    if (!m->is_dir) {
        /* A directory's descriptor need only name it; a file's is what its bytes are read through. */
        int fd = open(m->host, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (fd < 0)
            return bad("--mount: '%s': %s", m->host, errtab_text(errno));
        fd_close(&m->fd);
        m->fd = fd;
    }
    return 0;
}

static struct cli_copy *grow(struct cli_copy **v, uint32_t *n)
{
    *v = mem_realloc(*v, (*n + 1) * sizeof(**v));
    (*v)[*n] = (struct cli_copy){0};
    return &(*v)[(*n)++];
}

static int add_copy_in(struct cli_options *o, const char *spec)
{
    struct cli_copy *c = grow(&o->copy_in, &o->n_copy_in);
    return split_host_guest("--copy-in", spec, str_c(spec), &c->from, &c->to);
}

static int add_copy_out(struct cli_options *o, const char *spec)
{
    struct cli_copy *c = grow(&o->copy_out, &o->n_copy_out);
    const char *colon = strchr(spec, ':');
    if (spec[0] != '/' || !colon || !colon[1])
        return bad("--copy-out: '%s' is not GUEST:HOST with an absolute GUEST", spec);
    c->from = mem_dup(spec, (size_t)(colon - spec));
    c->to = mem_dup(colon + 1, strlen(colon + 1));
    return 0;
}

static int add_env(struct cli_options *o, const char *kv)
{
    if (cli_check_env(kv))
        return -EINVAL;
    o->env = mem_realloc(o->env, (o->n_env + 1) * sizeof(*o->env));
    o->env[o->n_env++] = str_c(kv);
    return 0;
}

/* NAME=VALUE, or NAME: then the value is that of our own environment, so that it is in no list of processes. */
static int add_secret(struct cli_options *o, const char *kv)
{
    const char *eq = strchr(kv, '=');
    const char *value = eq ? eq + 1 : getenv(kv);
    if (eq == kv || !*kv)
        return bad("--secret: '%s' is neither NAME=VALUE nor NAME", kv);
    if (!value)
        return bad("--secret: '%s' is not set in the environment", kv);
    size_t name = eq ? (size_t)(eq - kv) : strlen(kv), n = name + 1 + strlen(value);
    if (strlen(value) < 4)
        return bad(
            "--secret: the value of '%.*s' is too short to be told from other text and masked (at least 4 bytes)",
            (int)name, kv);
    char *text = arena_alloc(&o->arena, n + 1);
    memcpy(text, kv, name);
    text[name] = '=';
    memcpy(text + name + 1, value, n - name);
    o->secrets = mem_realloc(o->secrets, (o->n_secrets + 1) * sizeof(*o->secrets));
    o->secrets[o->n_secrets++] = str_of(text, n);
    return 0;
}

static int set_limit(struct cli_options *o, const char *kv)
{
    const char *eq = strchr(kv, '=');
    if (!eq)
        return bad("--limit: '%s' is not NAME=VALUE (names: %s)", kv, limits_names());
    int r = limits_set(&o->limits, str_of(kv, (size_t)(eq - kv)), str_c(eq + 1));
    if (r == -ENOENT)
        return bad("--limit: '%s': there is no such limit (names: %s)", kv, limits_names());
    if (r)
        return bad("--limit: '%s': %s", kv,
                   r == -ERANGE ? "the value is too large"
                                : "not a value of this limit (sizes: 64M, numbers: 100, times: 10s)");
    o->limit_args = mem_realloc(o->limit_args, (o->n_limit_args + 1) * sizeof(*o->limit_args));
    o->limit_args[o->n_limit_args++] = (struct cli_limit_arg){str_of(kv, (size_t)(eq - kv)), str_c(eq + 1)};
    return 0;
}

static int set_diff(struct cli_options *o, const char *arg)
{
    if (arg && strcmp(arg, "text") != 0 && strcmp(arg, "list") != 0)
        return bad("--diff: '%s' is neither list nor text", arg);
    o->diff = arg && strcmp(arg, "text") == 0 ? CLI_DIFF_TEXT : CLI_DIFF_LIST;
    return 0;
}

static int set_modules(struct cli_options *o, const char *arg)
{
    if (strcmp(arg, "own") != 0 && strcmp(arg, "set") != 0)
        return bad("--modules: '%s' is neither own nor set", arg);
    o->modules = arg;
    return 0;
}

bool cli_own_modules(const struct cli_options *o)
{
    return !o->modules || strcmp(o->modules, "own") == 0;
}

static int take_option(struct cli_options *o, int code, const char *arg)
{
    switch (code) {
    case 'c':
        o->text = arg;
        return 0;
    case O_MOUNT:
        return cli_add_mount(o, arg);
    case O_COPY_IN:
        return add_copy_in(o, arg);
    case O_COPY_OUT:
        return add_copy_out(o, arg);
    case O_DIFF:
        return set_diff(o, arg);
    case O_APPLY:
        o->apply = true;
        return 0;
    case O_ENV:
        return add_env(o, arg);
    case O_WORKDIR:
        o->workdir = arg;
        return 0;
    case O_USER:
        o->user = arg;
        return 0;
    case O_TIMEOUT:
        return cli_take_timeout(arg, &o->limits.wall_ms);
    case O_LIMIT:
        return set_limit(o, arg);
    case O_JSON:
        o->json = true;
        o->json_file = arg;
        return 0;
    case O_QUIET:
        o->quiet = true;
        return 0;
    case O_SESSION:
        o->session = arg;
        return 0;
    case O_STATE:
        o->state = arg;
        return 0;
    case O_DURABLE:
        o->durable = true;
        return 0;
    case O_SECRET:
        return add_secret(o, arg);
    case O_MODULES:
        return set_modules(o, arg);
    case O_POLICY:
        return cli_policy_set(o, arg);
    default:
        return -EINVAL; /* bad_option() says what is wrong */
    }
}

/* What getopt_long() returned @code for, in its own words; @given is the word. It says nothing itself, so that --json
 * can. */
static int bad_option(int code, const char *given)
{
    int like = 0;
    for (const struct option *l = long_options; l->name && given[0] == '-' && given[1] == '-'; l++)
        like += strncmp(l->name, given + 2, strlen(given + 2)) == 0;
    if (code == ':')
        return bad("option '%s' requires an argument", given);
    if (optopt > UINT8_MAX)
        return bad("option '%s' doesn't allow an argument", given);
    if (optopt)
        return bad("invalid option -- '%c'", optopt);
    return like > 1 ? bad("option '%s' is ambiguous", given) : bad("unrecognized option '%s'", given);
}

static int check_combination(const struct cli_options *o, bool is_shell)
{
    bool cow = false;
    for (uint32_t i = 0; i < o->n_mounts; i++)
        cow |= (o->mounts[i].flags & VFS_MOUNT_COW) != 0;
    if (!o->session && (o->state || o->durable))
        return bad("%s: only a session that is kept has state (give it a name with --session)",
                   o->state ? "--state" : "--durable");
    if (o->apply && !cow && !o->session)
        return bad("--apply: there is no cow mount whose changes could be applied");
    if (is_shell && (o->text || o->argc > 0))
        return bad("shell: takes no command (use frontal-sandbox run)");
    if (is_shell && o->json)
        return bad("shell: --json is an option of run");
    return 0;
}

int cli_parse(int argc, char **argv, bool is_shell, struct cli_options *o)
{
    *o = (struct cli_options){.limits = limits_default(), .interactive = is_shell};
    static char name[] = "frontal-sandbox";
    char *verb = argv[0];
    argv[0] = name; /* what getopt_long() puts in front of its messages */
    optind = 1;
    int code, r = 0;
    opterr = 0;
    while ((code = getopt_long(argc, argv, "+:c:", long_options, NULL)) != -1) {
        if (r) { /* only how the failure is to be told is still of interest */
            if (code == O_JSON)
                (void)take_option(o, code, optarg);
            continue;
        }
        if (code == O_HELP) {
            cli_help(verb);
            return 1;
        }
        if (code == O_SERVER)
            cli_remote();
        /* As in bash, whose -c takes no argument: the text is what comes after the options, and "--" ends these. */
        if (code == 'c' && strcmp(optarg, "--") == 0) {
            o->text = argv[optind];
            r = optind < argc ? 0 : bad("option '-c' requires an argument");
            optind += r == 0;
            break;
        }
        r = code == ':' || code == '?' ? bad_option(code, argv[optind - 1]) : take_option(o, code, optarg);
    }
    if (r) {
        fprintf(stderr, "Try 'frontal-sandbox %s --help' for more information.\n", verb);
        return r;
    }
    /* Secrets are the last of the environment. */
    o->env = mem_realloc(o->env, (o->n_env + o->n_secrets + 1) * sizeof(*o->env));
    for (uint32_t i = 0; i < o->n_secrets; i++)
        o->env[o->n_env++] = o->secrets[i];
    o->argv_only = !o->text && optind > 1 && strcmp(argv[optind - 1], "--") == 0 && optind < argc;
    o->argc = argc - optind;
    o->argv = argv + optind;
    return check_combination(o, is_shell);
}

static void free_copies(struct cli_copy *v, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        mem_free(v[i].from);
        mem_free(v[i].to);
    }
    mem_free(v);
}

void cli_options_done(struct cli_options *o)
{
    for (uint32_t i = 0; i < o->n_mounts; i++) {
        mem_free(o->mounts[i].host);
        mem_free(o->mounts[i].guest);
        fd_close(&o->mounts[i].fd);
    }
    free_copies(o->copy_in, o->n_copy_in);
    free_copies(o->copy_out, o->n_copy_out);
    mem_free(o->env);
    mem_free(o->secrets);
    mem_free(o->limit_args);
    if (o->policy)
        policy_done(o->policy);
    mem_free(o->policy);
    arena_done(&o->arena);
}
