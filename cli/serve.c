/* SPDX-License-Identifier: Apache-2.0 */

/* frontal-sandbox serve: checks the options and becomes the server, a program beside this one. */

#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "cli/view.h"
#include "types/errtab.h"

#define PROGRAM "frontal-sandbox-server"
#define CONFIG_MAX (64u << 10)

struct serve {
    const char *state, *listen, *drain, *retention, *tls_cert, *tls_key, *config;
    uint64_t workers;
    bool quiet;
};

/* ---- the file of --config ---- */

static struct str trim(struct str s)
{
    while (s.n && strchr(" \t\r", s.p[0]))
        s = str_from(s, 1);
    while (s.n && strchr(" \t\r", s.p[s.n - 1]))
        s.n--;
    return s;
}

/* Sets an option that the command line has not given. */
static int set_field(const struct cli_opt *o, struct str value, struct arena *a, const char **ret_why)
{
    uint64_t n;
    switch (o->kind) {
    case CLI_OPT_FLAG:
        *ret_why = "takes true or false";
        if (!str_eqc(value, "true") && !str_eqc(value, "false"))
            return -EINVAL;
        *(bool *)o->to |= str_eqc(value, "true");
        return 0;
    case CLI_OPT_TEXT:
        *ret_why = "has no value";
        if (value.n == 0)
            return -EINVAL;
        if (!*(const char **)o->to)
            *(const char **)o->to = arena_str(a, value).p;
        return 0;
    case CLI_OPT_COUNT:
        *ret_why = "takes a number above zero";
        if (str_u64(value, &n) || n == 0)
            return -EINVAL;
        if (*(uint64_t *)o->to == 0)
            *(uint64_t *)o->to = n;
        return 0;
    }
    return -EINVAL;
}

static int read_line(const char *path, unsigned number, struct str line, const struct cli_opt *opts, struct arena *a)
{
    ptrdiff_t eq = str_find(line, '=', 0);
    struct str name = trim(eq < 0 ? line : str_of(line.p, (size_t)eq));
    const char *why = "is no setting; there are:";
    BUF_AUTO struct buf names;
    buf_init(&names, 1024);
    for (const struct cli_opt *o = opts; o->name; o++) {
        if (str_eqc(name, o->name)) {
            if (eq >= 0 && set_field(o, trim(str_from(line, (size_t)eq + 1)), a, &why) == 0)
                return 0;
            cli_error("%s:%u: '%s' %s", path, number, o->name, eq < 0 ? "is not followed by '= VALUE'" : why);
            return -EINVAL;
        }
        buf_addf(&names, " %s", o->name);
    }
    cli_error("%s:%u: '%.*s' %s%s", path, number, (int)(name.n < 64 ? name.n : 64), name.p, why, names.p);
    return -EINVAL;
}

/* Lines NAME = VALUE, named as the options are; # begins a comment line. */
static int read_config(const char *path, const struct cli_opt *opts, struct arena *a)
{
    BUF_AUTO struct buf text;
    buf_init(&text, CONFIG_MAX);
    FD_AUTO int fd = open(path, O_RDONLY | O_CLOEXEC);
    int r = fd < 0 ? -errno : fd_read_all(fd, &text);
    if (r) {
        cli_error("--config: '%s': %s", path, errtab_text(r));
        return r;
    }
    struct str all = buf_str(&text);
    for (unsigned number = 1; all.n && r == 0; number++) {
        ptrdiff_t nl = str_find(all, '\n', 0);
        struct str line = trim(nl < 0 ? all : str_of(all.p, (size_t)nl));
        if (line.n && line.p[0] != '#')
            r = memchr(line.p, 0, line.n) ? -EINVAL : read_line(path, number, line, opts, a);
        if (r && memchr(line.p, 0, line.n))
            cli_error("%s:%u: a NUL byte", path, number);
        all = nl < 0 ? str_of(all.p, 0) : str_from(all, (size_t)nl + 1);
    }
    return r;
}

/* ---- becoming it ---- */

static int check(const struct serve *s, uint64_t *ret_drain, uint64_t *ret_kept)
{
    *ret_drain = 30000;
    *ret_kept = UINT64_C(7) * 24 * 3600 * 1000;
    if (s->retention && limits_duration(str_c(s->retention), ret_kept)) {
        cli_error("--trace-retention: '%s' is no duration (7d, 12h, 0)", s->retention);
        return -EINVAL;
    }
    if (s->drain && limits_duration(str_c(s->drain), ret_drain)) {
        cli_error("--drain: '%s' is no duration (30s, 500ms)", s->drain);
        return -EINVAL;
    }
    if (!s->tls_cert != !s->tls_key) {
        cli_error("--tls-cert and --tls-key go together");
        return -EINVAL;
    }
    if (s->tls_cert && s->listen && strncmp(s->listen, "unix:", 5) == 0) {
        cli_error("--tls-cert is for addresses; a Unix socket leaves the machine by nothing");
        return -EINVAL;
    }
    return 0;
}

static int become(const struct serve *s)
{
    BUF_AUTO struct buf self, server, fd_text, n_text, drain_text, kept_text;
    buf_init(&self, LIMIT_PATH);
    buf_init(&server, LIMIT_PATH);
    buf_init(&fd_text, 32);
    buf_init(&n_text, 32);
    buf_init(&drain_text, 32);
    buf_init(&kept_text, 32);
    uint64_t ms, kept;
    if (check(s, &ms, &kept))
        return CLI_FAILED;
    int r = cli_beside(PROGRAM, &self, &server);
    if (r) {
        cli_error("%s is not there (%s): it is built where libmicrohttpd is (scripts/setup)", PROGRAM, errtab_text(r));
        return CLI_FAILED;
    }
    int userland = cli_userland_open();
    if (userland >= 0 && fcntl(userland, F_SETFD, 0) == 0)
        buf_addf(&fd_text, "%d", userland);
    buf_addf(&n_text, "%llu", (unsigned long long)s->workers);
    buf_addf(&drain_text, "%llu", (unsigned long long)ms);
    buf_addf(&kept_text, "%llu", (unsigned long long)kept);
    const char *const pairs[][2] = {{"--listen", s->listen},
                                    {"--state", s->state},
                                    {"--workers", s->workers ? n_text.p : NULL},
                                    {"--drain-ms", drain_text.p},
                                    {"--trace-retention-ms", kept_text.p},
                                    {"--tls-cert", s->tls_cert},
                                    {"--tls-key", s->tls_key},
                                    {"--userland", fd_text.n ? fd_text.p : NULL}};
    const char *argv[5 + 2 * sizeof(pairs) / sizeof(pairs[0])] = {PROGRAM, "--program", self.p};
    int n = 3;
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        if (!pairs[i][1])
            continue;
        argv[n++] = pairs[i][0];
        argv[n++] = pairs[i][1];
    }
    if (s->quiet)
        argv[n++] = "--quiet";
    (void)unsetenv("FRONTAL_SANDBOX_URL"); /* the verbs that it runs are about its own state */
    execv(server.p, (char *const *)(uintptr_t)argv);
    cli_error("%s: %s", server.p, errtab_text(errno));
    return CLI_FAILED;
}

int cli_serve(int argc, char **argv)
{
    struct cli_common c;
    struct serve s = {.state = NULL};
    ARENA_AUTO struct arena a = {0};
    const struct cli_opt opts[] = {{"listen", CLI_OPT_TEXT, &s.listen},     {"workers", CLI_OPT_COUNT, &s.workers},
                                   {"drain", CLI_OPT_TEXT, &s.drain},       {"quiet", CLI_OPT_FLAG, &s.quiet},
                                   {"tls-cert", CLI_OPT_TEXT, &s.tls_cert}, {"tls-key", CLI_OPT_TEXT, &s.tls_key},
                                   {"trace-retention", CLI_OPT_TEXT, &s.retention},
                                   {"config", CLI_OPT_TEXT, &s.config},     {NULL, CLI_OPT_FLAG, NULL}};
    int r = cli_options_read(&c, "serve", argc, argv, opts, 0, 0, "no operands");
    if (r)
        return r > 0 ? 0 : CLI_FAILED;
    if (c.json) {
        cli_error("serve takes no --json");
        return CLI_FAILED;
    }
    s.state = c.state_dir;
    const struct cli_opt settings[] = {{"listen", CLI_OPT_TEXT, &s.listen},    {"state", CLI_OPT_TEXT, &s.state},
                                       {"workers", CLI_OPT_COUNT, &s.workers}, {"drain", CLI_OPT_TEXT, &s.drain},
                                       {"quiet", CLI_OPT_FLAG, &s.quiet},      {"tls-cert", CLI_OPT_TEXT, &s.tls_cert},
                                       {"tls-key", CLI_OPT_TEXT, &s.tls_key},
                                       {"trace-retention", CLI_OPT_TEXT, &s.retention},
                                       {NULL, CLI_OPT_FLAG, NULL}};
    if (s.config && read_config(s.config, settings, &a))
        return CLI_FAILED;
    return become(&s);
}
