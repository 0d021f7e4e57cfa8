/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sudo: runs a command as who asks. A session has one user, who may change what he may change, and no other rights can
 * be had: the command that needs them says so itself. So it is a prefix without effect, and "as another user" is
 * refused.
 */
#include "shell/cmd/cmd.h"

#include <errno.h>

#include "types/errtab.h"

struct sudo {
    struct cmd *c;
    bool shell, login;
    const char *dir;
    char **env;
    size_t n_env;
};

static bool is_assignment(const char *w)
{
    size_t n = strspn(w, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
    return n > 0 && w[n] == '=';
}

/* -u: only who asks, and root, for whom scripts ask by habit. */
static int check_user(struct cmd *c, const char *name)
{
    uint32_t uid, gid;
    uint64_t number;
    if (name[0] == '#' && str_u64(str_from(str_c(name), 1), &number) == 0)
        uid = (uint32_t)number;
    else if (cmd_user_id(c, name, &uid, &gid) < 0)
        return cmd_err(c, "unknown user %s", name), 1;
    if (uid != 0 && uid != c->p->cred.uid)
        return cmd_refuse(c, "running a command as another user is not implemented here");
    return 0;
}

static int options(struct sudo *s, int *i)
{
    struct cmd *c = s->c;
    for (; *i < c->argc && c->argv[*i][0] == '-'; ++*i) {
        const char *w = c->argv[*i];
        if (strcmp(w, "--") == 0) {
            ++*i;
            return 0;
        }
        if (strcmp(w, "-u") == 0 || strcmp(w, "--user") == 0) {
            if (*i + 1 >= c->argc)
                return cmd_usage_error(c, "option requires an argument -- 'u'");
            int r = check_user(c, c->argv[++*i]);
            if (r)
                return r;
            continue;
        }
        if (strncmp(w, "--user=", 7) == 0) {
            int r = check_user(c, w + 7);
            if (r)
                return r;
            continue;
        }
        if (strcmp(w, "--preserve-env") == 0 || strcmp(w, "--non-interactive") == 0 || strcmp(w, "--set-home") == 0)
            continue;
        if (strcmp(w, "-v") == 0 || strcmp(w, "-k") == 0 || strcmp(w, "-K") == 0)
            return -1;
        if (strcmp(w, "-V") == 0) {
            cmd_printf(c, "sudo (Frontal Sandbox) %s\n", FRONTAL_VERSION);
            return -1;
        }
        for (const char *ch = w + 1; *ch; ch++) {
            if (*ch == 'i')
                s->login = true;
            else if (*ch == 's')
                s->shell = true;
            else if (!strchr("EnHbSk", *ch) || *ch == 'b')
                return cmd_refuse(c, "option '%s' is not implemented here", w);
        }
    }
    return 0;
}

/* The environment with the assignments of the command line in front: getenv() takes the first. */
static char **environment(struct sudo *s, int *i)
{
    struct cmd *c = s->c;
    char **old = cmd_environ(c);
    size_t n = 0, k = 0;
    while (old[n])
        n++;
    char **env = arena_alloc(c->arena, (n + (size_t)c->argc + 2) * sizeof *env);
    for (; *i < c->argc && is_assignment(c->argv[*i]); ++*i)
        env[k++] = c->argv[*i];
    size_t set = k;
    for (size_t o = 0; o < n; o++) {
        size_t len = strcspn(old[o], "=") + 1;
        bool again = false;
        for (size_t e = 0; e < set; e++)
            again = again || strncmp(env[e], old[o], len) == 0;
        if (!again)
            env[k++] = old[o];
    }
    env[k] = NULL;
    return env;
}

static int sudo_main(struct cmd *c)
{
    struct sudo s = {.c = c};
    struct outcome o;
    int i = 1;
    if (cmd_help_alone(c))
        return 0;
    int r = options(&s, &i);
    if (r)
        return r < 0 ? 0 : r;
    char **env = environment(&s, &i);
    char **argv = c->argv + i;
    int argc = c->argc - i;
    if (s.shell || s.login) {
        /* As a shell: the words, quoted by the shell's own rules, are one command line. */
        argv = arena_alloc(c->arena, 4 * sizeof *argv);
        argv[0] = arena_dup(c->arena, "bash", 4);
        argv[1] = arena_dup(c->arena, "-c", 2);
        struct buf line BUF_AUTO;
        buf_init(&line, LIMIT_ARGS);
        for (int k = i; k < c->argc; k++) {
            for (const char *ch = c->argv[k]; *ch; ch++) {
                bool plain = (*ch >= 'a' && *ch <= 'z') || (*ch >= 'A' && *ch <= 'Z') || (*ch >= '0' && *ch <= '9') ||
                             strchr("_-$", *ch) || (unsigned char)*ch >= 0x80;
                if (!plain)
                    buf_putc(&line, '\\');
                buf_putc(&line, *ch);
            }
            buf_putc(&line, k + 1 < c->argc ? ' ' : '\n');
        }
        argc = i < c->argc ? 3 : 1;
        argv[2] = arena_dup(c->arena, line.n ? line.p : "", line.n ? line.n - 1 : 0);
        argv[argc] = NULL;
    }
    if (argc == 0)
        return cmd_err_raw(c, c->def->usage), 1;
    /* Once it began, the outcome is the command's; cmd_spawn() gives it to us as a status. */
    r = cmd_spawn(c, argc, argv, env, &o);
    if (r == -ENOENT)
        return cmd_err(c, "%s: command not found", argv[0]), 1;
    if (r < 0)
        return cmd_err(c, "unable to execute %s: %s", argv[0], errtab_text(r)), 1;
    return r;
}

CMD(sudo, sudo_main, 1, "usage: sudo [-EHnS] [-u user] [-i | -s] [VAR=value] command [arg ...]\n",
    "Runs the command, with no other rights: a session has one user.\n\n"
    "  -u, --user USER  root, or who asks\n"
    "  -i, -s           by way of a shell\n"
    "  -E -H -n -S      have no effect\n"
    "  -v -k -K         do nothing\n");
