/* SPDX-License-Identifier: Apache-2.0 */

/* run: a command in a session of a server, its streams passed through. */

#include "client/client_int.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/fd.h"
#include "base/mem.h"
#include "cli/script.h"
#include "client/follow.h"
#include "types/errtab.h"
#include "types/limits.h"
#include "types/outcome.h"

enum {
    O_SERVER = 256,
    O_CA,
    O_ENV,
    O_WORKDIR,
    O_USER,
    O_TIMEOUT,
    O_LIMIT,
    O_JSON,
    O_QUIET,
    O_SESSION,
    O_HELP,
    O_LOCAL
};

static const struct option long_options[] = {
    {"server", required_argument, NULL, O_SERVER}, {"ca", required_argument, NULL, O_CA},
    {"env", required_argument, NULL, O_ENV},       {"workdir", required_argument, NULL, O_WORKDIR},
    {"user", required_argument, NULL, O_USER},     {"timeout", required_argument, NULL, O_TIMEOUT},
    {"limit", required_argument, NULL, O_LIMIT},   {"json", optional_argument, NULL, O_JSON},
    {"quiet", no_argument, NULL, O_QUIET},         {"session", required_argument, NULL, O_SESSION},
    {"help", no_argument, NULL, O_HELP},           {"mount", required_argument, NULL, O_LOCAL},
    {"copy-in", required_argument, NULL, O_LOCAL}, {"copy-out", required_argument, NULL, O_LOCAL},
    {"diff", optional_argument, NULL, O_LOCAL},    {"apply", no_argument, NULL, O_LOCAL},
    {"state", required_argument, NULL, O_LOCAL},   {"durable", no_argument, NULL, O_LOCAL},
    {"secret", required_argument, NULL, O_LOCAL},  {"modules", required_argument, NULL, O_LOCAL},
    {"policy", required_argument, NULL, O_LOCAL},  {NULL, 0, NULL, 0},
};

struct options {
    struct client_where where;
    const char *session, *workdir, *user, *text, *json_file;
    bool json, quiet, argv_only, has_limits;
    uint64_t timeout_ms;
    struct limits limits;
    const char **env, **limit_names;
    size_t n_env, n_limits;
    int argc;
    char **argv;
};

/* ---- options ---- */

static int set_limit(struct options *o, const char *kv)
{
    const char *eq = strchr(kv, '=');
    struct str name = str_of(kv, eq ? (size_t)(eq - kv) : 0);
    if (!eq || limits_set(&o->limits, name, str_c(eq + 1))) {
        cli_error("--limit: '%s' is not NAME=VALUE (names: %s; sizes: 64M, numbers: 100, times: 10s)", kv,
                  limits_names());
        return -EINVAL;
    }
    o->limit_names = mem_realloc(o->limit_names, (o->n_limits + 1) * sizeof(*o->limit_names));
    o->limit_names[o->n_limits++] = kv;
    return 0;
}

static int set_env(struct options *o, const char *kv)
{
    if (cli_check_env(kv))
        return -EINVAL;
    o->env = mem_realloc(o->env, (o->n_env + 1) * sizeof(*o->env));
    o->env[o->n_env++] = kv;
    return 0;
}

/* @given: the option, for messages. */
static int take_option(struct options *o, int code, const char *arg, const char *given)
{
    switch (code) {
    case 'c':
        o->text = arg;
        return 0;
    case O_SERVER:
        o->where.url = arg;
        return 0;
    case O_CA:
        o->where.ca = arg;
        return 0;
    case O_ENV:
        return set_env(o, arg);
    case O_WORKDIR:
        o->workdir = arg;
        return 0;
    case O_USER:
        o->user = arg;
        return 0;
    case O_TIMEOUT:
        return cli_take_timeout(arg, &o->timeout_ms);
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
    case O_HELP:
        client_help("run");
    case O_LOCAL:
        cli_error("%s has no form for a server: it is about files and state of this machine", given);
        return -EINVAL;
    case ':':
        cli_error("option '%s' requires an argument", given);
        return -EINVAL;
    default:
        cli_error("unrecognized option '%s'", given);
        return -EINVAL;
    }
}

static int parse(int argc, char **argv, struct options *o)
{
    int code, r = 0;
    *o = (struct options){.limits = limits_default()};
    opterr = 0;
    optind = 1;
    int at = -1;
    char name[32];
    while (r == 0 && (code = getopt_long(argc, argv, "+:c:", long_options, &at)) != -1) {
        snprintf(name, sizeof(name), "--%s", at >= 0 ? long_options[at].name : "");
        r = take_option(o, code, optarg, code == O_LOCAL ? name : argv[optind - 1]);
    }
    if (r) {
        fprintf(stderr, "Try 'frontal-sandbox run --help' for more information.\n");
        return r;
    }
    o->argv_only = !o->text && optind > 1 && strcmp(argv[optind - 1], "--") == 0 && optind < argc;
    o->argc = argc - optind;
    o->argv = argv + optind;
    if (o->session && o->text && o->argc) {
        cli_error("run: arguments after -c have no form in a session of a server that is kept: set them in the text");
        return -EINVAL;
    }
    return 0;
}

/* ---- the session ---- */

static void put_settings(const struct options *o, struct json_writer *w)
{
    json_begin(w, NULL, '{');
    if (o->session)
        json_text(w, "name", str_c(o->session));
    if (o->workdir)
        json_text(w, "cwd", str_c(o->workdir));
    if (o->user)
        json_text(w, "user", str_c(o->user));
    if (o->n_limits)
        json_begin(w, "limits", '{');
    for (size_t i = 0; i < o->n_limits; i++) {
        struct str name = str_of(o->limit_names[i], strcspn(o->limit_names[i], "="));
        uint64_t v;
        const char *n;
        for (size_t k = 0; (n = limits_at(&o->limits, k, &v)) != NULL; k++) {
            if (str_eqc(name, n))
                json_number(w, strcmp(n, "cpu") == 0 ? "cpu_ms" : n, v);
        }
    }
    if (o->n_limits)
        json_end(w, '}');
    json_end(w, '}');
}

static int create(struct client *c, const struct options *o, char *id, size_t cap, struct err *err)
{
    char key[40];
    struct json_tree *t = NULL;
    BUF_AUTO struct buf body;
    buf_init(&body, LIMIT_REQUEST);
    struct json_writer w = {.out = &body};
    put_settings(o, &w);
    client_new_key(key, sizeof(key));
    int r = client_json(c, "POST", "/v1/sessions", &body, key, &t, err);
    struct str s = json_tree_text(t, "id");
    if (r == 0)
        snprintf(id, cap, "%.*s", (int)s.n, s.n ? s.p : "");
    json_tree_free(t);
    return r;
}

/* The session of --session, which is made when there is none, or a new one. *ret_fresh: it was made. */
static int find_session(struct client *c, const struct options *o, char *id, size_t cap, bool *ret_fresh,
                        struct err *err)
{
    struct json_tree *t = NULL;
    BUF_AUTO struct buf path;
    buf_init(&path, 64u << 10);
    int r = -ENOENT;
    if (o->session) {
        r = client_json(c, "GET", client_session_path(&path, o->session, ""), NULL, NULL, &t, err);
        struct str s = json_tree_text(t, "id");
        if (r == 0)
            snprintf(id, cap, "%.*s", (int)s.n, s.n ? s.p : "");
        json_tree_free(t);
    }
    *ret_fresh = r == -ENOENT;
    if (r == 0 && (o->workdir || o->user || o->n_limits))
        return err_set(err, -EINVAL, "session '%s' is there: --workdir, --user and --limit are for a new one",
                       o->session);
    return r == -ENOENT ? create(c, o, id, cap, err) : r;
}

static void destroy(struct client *c, const char *id)
{
    struct json_tree *t = NULL;
    struct err err = {0};
    BUF_AUTO struct buf path;
    buf_init(&path, 4096);
    if (client_json(c, "DELETE", client_session_path(&path, id, ""), NULL, NULL, &t, &err))
        cli_error("session %s stays on the server: %s", id, err.text);
    json_tree_free(t);
}

/* ---- the exec ---- */

static void put_env(const struct options *o, struct json_writer *w)
{
    json_begin(w, "env", '{');
    for (size_t i = 0; i < o->n_env; i++) {
        char name[512];
        size_t n = strcspn(o->env[i], "=");
        snprintf(name, sizeof(name), "%.*s", (int)n, o->env[i]);
        json_text(w, name, str_c(o->env[i] + n + 1));
    }
    json_end(w, '}');
}

/* The words of a shell that runs @text, or the command's own. */
static void put_argv(const struct options *o, const char *shell, struct str text, struct json_writer *w)
{
    json_begin(w, "argv", '[');
    if (!o->argv_only) {
        json_text(w, NULL, str_c(shell));
        if (text.p) {
            json_text(w, NULL, STR("-c"));
            json_text(w, NULL, text);
        }
    }
    for (int i = 0; i < o->argc; i++)
        json_text(w, NULL, str_c(o->argv[i]));
    json_end(w, ']');
}

/* The body of the request, and whether standard input is the command's. 0, or -errno after a message. */
static int put_exec(const struct options *o, struct buf *body, bool *ret_input)
{
    BUF_AUTO struct buf script;
    buf_init(&script, LIMIT_SCRIPT);
    struct json_writer w = {.out = body};
    bool posix = false;
    int r = 0;
    *ret_input = true;
    json_begin(&w, NULL, '{');
    json_number(&w, "wait_ms", 0);
    if (o->timeout_ms)
        json_number(&w, "timeout_ms", o->timeout_ms);
    if (o->n_env)
        put_env(o, &w);
    if (o->text && o->argc == 0) {
        json_text(&w, "command", str_c(o->text));
    } else if (o->text || o->argv_only) {
        put_argv(o, "bash", o->text ? str_c(o->text) : str_of(NULL, 0), &w);
    } else if (o->argc) {
        r = cli_script_read(o->argv[0], &script, &posix);
        if (r == 0)
            put_argv(o, posix ? "sh" : "bash", buf_str(&script), &w);
    } else if (o->session) { /* the shell that is kept takes it as a text, so the commands in it have no input */
        *ret_input = false;
        r = fd_read_all(STDIN_FILENO, &script);
        if (r)
            cli_error("standard input: %s", errtab_text(r));
        json_text(&w, "command", buf_str(&script));
    } else {
        put_argv(o, "bash", str_of(NULL, 0), &w);
    }
    if (*ret_input)
        json_bool(&w, "stdin_open", true);
    json_end(&w, '}');
    if (r == 0 && body->err) {
        cli_error("the command is too large for a request");
        r = -E2BIG;
    }
    return r;
}

int client_begin_exec(struct client *c, const char *session, const struct buf *body, char *id, size_t cap,
                      struct err *err)
{
    char key[40];
    struct json_tree *t = NULL;
    BUF_AUTO struct buf path;
    buf_init(&path, 4096);
    client_new_key(key, sizeof(key));
    int r = client_json(c, "POST", client_session_path(&path, session, "/exec"), body, key, &t, err);
    struct str s = json_tree_text(t, "exec_id");
    if (r == 0 && !s.n)
        r = err_set(err, -EPROTO, "the server began a command and gave no id of it");
    if (r == 0)
        snprintf(id, cap, "%.*s", (int)s.n, s.p);
    json_tree_free(t);
    return r;
}

/* ---- what came of it ---- */

static struct outcome outcome_of(const struct json_tree *t)
{
    struct outcome o = {.kind = OUTCOME_LOST};
    struct str status = json_tree_text(t, "status"), reason = json_tree_text(t, "reason");
    if (str_eqc(status, "exited")) {
        o.kind = OUTCOME_EXITED;
        o.code = (uint8_t)json_tree_number(t, "exit_code", CLIENT_FAILED);
    } else if (str_eqc(status, "killed")) {
        o.kind = OUTCOME_KILLED;
        o.signal = (uint8_t)json_tree_number(t, "signal", SIGKILL);
        for (int r = REASON_SIGNAL; r <= REASON_CRASH; r++) {
            if (str_eqc(reason, outcome_reason_name((enum outcome_reason)r)))
                o.reason = (enum outcome_reason)r;
        }
    }
    return o;
}

int client_explain(const struct json_tree *t, enum client_notes notes)
{
    struct outcome out = outcome_of(t);
    struct str note = json_tree_text(t, "note"), refused = json_tree_text(t, "error.message");
    if (str_eqc(json_tree_text(t, "status"), "refused")) {
        client_say(refused);
        return CLIENT_FAILED;
    }
    if (note.n && notes)
        client_say(note);
    else if (out.kind == OUTCOME_LOST)
        cli_error("the worker ended unexpectedly; how the command ended is not known");
    else if (out.kind == OUTCOME_KILLED && out.reason > REASON_SIGNAL && notes == CLIENT_NOTES)
        cli_error("killed: %s limit", outcome_reason_name(out.reason));
    else if (out.kind == OUTCOME_KILLED && out.reason > REASON_SIGNAL && notes)
        cli_error("killed: %s limit (raise it with %s)", outcome_reason_name(out.reason),
                  out.reason == REASON_TIMEOUT ? "--timeout" : "--limit");
    return outcome_status(out);
}

/* The result with the output that the server has kept, as an object. */
static int print_json(struct client *c, const struct options *o, const char *session, const char *exec, struct err *err)
{
    struct json_tree *t = NULL;
    BUF_AUTO struct buf path, rest, line;
    buf_init(&path, 4096);
    buf_init(&rest, 4096);
    buf_init(&line, CLIENT_ANSWER_MAX);
    buf_addf(&rest, "/execs/%s?output_limit=%u", exec, o->json_file ? 0 : LIMIT_TRACE_OUTPUT);
    int r = client_json(c, "GET", client_session_path(&path, session, rest.p), NULL, NULL, &t, err);
    if (r)
        return r;
    r = json_tree_line(t, &line);
    json_tree_free(t);
    FD_AUTO int fd =
        o->json_file ? open(o->json_file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : dup(STDOUT_FILENO);
    if (r == 0)
        r = fd < 0 ? -errno : fd_write_all(fd, buf_str(&line));
    return r ? err_set(err, r, "writing %s: %s", o->json_file ? o->json_file : "standard output", errtab_text(r)) : 0;
}

/* @body begins it in @session: the exit status. */
static int run_in(struct client *c, const struct options *o, const char *session, const struct buf *body, bool input)
{
    char exec[64];
    struct err err = {0};
    struct json_tree *end = NULL;
    int r = client_begin_exec(c, session, body, exec, sizeof(exec), &err);
    if (r)
        return client_fail(&err);
    const struct follow_config f = {.client = c,
                                    .session = session,
                                    .exec = exec,
                                    .input = input,
                                    .silent = o->json && !o->json_file,
                                    .quiet = o->quiet};
    r = client_follow(&f, &end, &err);
    if (r == 0 && o->json)
        r = print_json(c, o, session, exec, &err);
    int status = end ? client_explain(end, o->quiet ? CLIENT_NO_NOTES : CLIENT_NOTES_OF_RUN) : CLIENT_FAILED;
    json_tree_free(end);
    if (r)
        status = client_fail(&err);
    return status;
}

int client_run(int argc, char **argv)
{
    struct options o;
    struct err err = {0};
    char session[64];
    bool fresh, input;
    BUF_AUTO struct buf body;
    buf_init(&body, LIMIT_REQUEST);
    int r = parse(argc, argv, &o), status = CLIENT_FAILED;
    struct client *c = r ? NULL : client_of(&o.where);
    if (c) {
        r = put_exec(&o, &body, &input);
        status = r == -ENOENT ? 127 : r == -E2BIG ? CLIENT_FAILED : 126;
        if (r == 0) {
            r = find_session(c, &o, session, sizeof(session), &fresh, &err);
            status = r ? client_fail(&err) : run_in(c, &o, session, &body, input);
            if (r == 0 && !o.session)
                destroy(c, session);
        }
    }
    client_free(c);
    mem_free(o.env);
    mem_free(o.limit_names);
    return status;
}
