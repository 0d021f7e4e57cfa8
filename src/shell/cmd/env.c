/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <ctype.h>
#include <errno.h>

/* Exit statuses of its own, when the command never ran. */
enum { ENV_FAILED = 125, ENV_CANNOT = 126, ENV_NOT_FOUND = 127 };

static const struct cmd_opt opts[] = {
    {'i', "ignore-environment", CMD_NO_ARG},
    {'0', "null", CMD_NO_ARG},
    {'u', "unset", CMD_ARG},
    {'C', "chdir", CMD_ARG},
    {256, "default-signal", CMD_OPT_ARG | CMD_REFUSED},
    {257, "ignore-signal", CMD_OPT_ARG | CMD_REFUSED},
    {258, "block-signal", CMD_OPT_ARG | CMD_REFUSED},
    {259, "list-signal-handling", CMD_NO_ARG | CMD_REFUSED},
    {'v', "debug", CMD_NO_ARG},
    {'S', "split-string", CMD_ARG},
    /* Never meant: words of a "#!" line in one argument. */
    {' ', NULL, CMD_NO_ARG},
    {'\t', NULL, CMD_NO_ARG},
    {0},
};

struct env {
    struct cmd *c;
    bool clear, nul, debug;
    const char *dir;
    const char **unset;
    size_t n_unset, cap_unset;
    char **v; /* the environment to give: n strings and NULL */
    size_t n;
};

/* -v: a line on standard error for each thing that is done. */
#define env_say(e, ...)                                                                                                \
    do {                                                                                                               \
        if ((e)->debug)                                                                                                \
            cmd_err_raw((e)->c, arena_printf((e)->c->arena, __VA_ARGS__));                                             \
    } while (0)

/* ---- -S: a string split into arguments ---- */

struct split {
    struct env *e;
    struct buf text; /* arguments, each ended by NUL */
    size_t count;
    bool in_arg, single, dbl;
};

static void split_char(struct split *s, char ch)
{
    if (!s->in_arg)
        s->count++;
    s->in_arg = true;
    buf_putc(&s->text, ch);
}

/* An argument may be begun and stay empty. */
static void split_begin(struct split *s)
{
    if (!s->in_arg)
        s->count++;
    s->in_arg = true;
}

static void split_end(struct split *s)
{
    if (s->in_arg)
        buf_putc(&s->text, 0);
    s->in_arg = false;
}

/* What follows a backslash at @p (not inside single quotes): 0, 1 when the string ends there, -1 after a message. */
static int split_escape(struct split *s, const char *p)
{
    static const char from[] = "fnrtv", to[] = "\f\n\r\t\v";
    struct cmd *c = s->e->c;
    const char *known = *p ? strchr(from, *p) : NULL;
    if (known) {
        split_char(s, to[known - from]);
        return 0;
    }
    switch (*p) {
    case '"':
    case '#':
    case '$':
    case '\'':
    case '\\':
        split_char(s, *p);
        return 0;
    case '_':
        if (s->dbl)
            split_char(s, ' ');
        else
            split_end(s);
        return 0;
    case 'c':
        if (!s->dbl)
            return 1;
        cmd_err(c, "'\\c' must not appear in double-quoted -S string");
        return -1;
    case 0:
        cmd_err(c, "invalid backslash at end of string in -S");
        return -1;
    default:
        cmd_err(c, "invalid sequence '\\%c' in -S", *p);
        return -1;
    }
}

/* "${NAME}" at @p: its length, or 0 after a message. */
static size_t split_var(struct split *s, const char *p)
{
    struct cmd *c = s->e->c;
    size_t n = 2;
    if (p[1] == '{' && (isalpha((unsigned char)p[2]) || p[2] == '_'))
        while (isalnum((unsigned char)p[n]) || p[n] == '_')
            n++;
    if (n == 2 || p[n] != '}') {
        cmd_err(c, "only ${VARNAME} expansion is supported, error at: %s", p);
        return 0;
    }
    const char *name = arena_dup(c->arena, p + 2, n - 2);
    const char *val = cmd_getenv(c, name);
    if (val) {
        split_begin(s);
        env_say(s->e, "expanding ${%s} into %s\n", name, cmd_quote_loc(c, val));
        buf_addc(&s->text, val);
    } else {
        env_say(s->e, "replacing ${%s} with null string\n", name);
    }
    return n + 1;
}

/* Splits @p: 0, or -1 after a message. */
static int split_text(struct split *s, const char *p)
{
    for (; *p; p++) {
        if (*p == '\'' && !s->dbl) {
            s->single = !s->single;
            split_begin(s);
        } else if (*p == '"' && !s->single) {
            s->dbl = !s->dbl;
            split_begin(s);
        } else if (isspace((unsigned char)*p) && !s->single && !s->dbl) {
            split_end(s);
        } else if (*p == '#' && !s->in_arg) {
            break;
        } else if (*p == '\\' && s->single) {
            if (p[1] == '\\' || p[1] == '\'')
                p++;
            split_char(s, *p);
        } else if (*p == '\\') {
            int r = split_escape(s, ++p);
            if (r < 0)
                return -1;
            if (r > 0)
                break;
        } else if (*p == '$' && !s->single) {
            size_t n = split_var(s, p);
            if (n == 0)
                return -1;
            p += n - 1;
        } else {
            split_char(s, *p);
        }
    }
    if (s->single || s->dbl) {
        cmd_err(s->e->c, "no terminating quote in -S string");
        return -1;
    }
    split_end(s);
    return 0;
}

/* Puts the arguments in @text in the place of the option that brought it: 0, or -1 after a message. */
static int split_string(struct env *e, const char *text)
{
    struct cmd *c = e->c;
    struct split s = {.e = e};
    buf_init(&s.text, LIMIT_ARGS);
    int r = split_text(&s, text);
    if (r == 0 && s.text.err) {
        cmd_errno(c, -E2BIG, "-S");
        r = -1;
    }
    if (r == 0) {
        size_t rest = (size_t)(c->argc - c->optind);
        char **v = arena_zalloc(c->arena, (s.count + rest + 2) * sizeof *v);
        char *p = arena_dup(c->arena, s.text.p, s.text.n);
        v[0] = c->argv[0];
        if (s.count > 0)
            env_say(e, "split -S:  %s\n", cmd_quote_loc(c, text));
        for (size_t i = 0; i < s.count; i++) {
            v[i + 1] = p;
            env_say(e, "%s%s\n", i == 0 ? " into:    " : "     &    ", cmd_quote_loc(c, p));
            p += strlen(p) + 1;
        }
        memcpy(v + s.count + 1, c->argv + c->optind, rest * sizeof *v);
        c->argv = v;
        c->argc = (int)(s.count + rest + 1);
        c->optind = 1;
    }
    buf_done(&s.text);
    return r;
}

/* ---- the environment to give ---- */

/* Length of the name in "NAME=VALUE". */
static size_t name_len(const char *s)
{
    return strcspn(s, "=");
}

static void put(struct env *e, char *assignment)
{
    size_t n = name_len(assignment) + 1;
    env_say(e, "setenv:   %s\n", assignment);
    for (size_t i = 0; i < e->n; i++)
        if (strncmp(e->v[i], assignment, n) == 0) {
            e->v[i] = assignment;
            return;
        }
    e->v[e->n++] = assignment;
}

/* 0, or -1 after a message. */
static int take_away(struct env *e, const char *name)
{
    size_t n = strlen(name), k = 0;
    env_say(e, "unset:    %s\n", name);
    if (n == 0 || strchr(name, '=')) {
        cmd_errno(e->c, EINVAL, "cannot unset %s", cmd_quote_loc(e->c, name));
        return -1;
    }
    for (size_t i = 0; i < e->n; i++)
        if (strncmp(e->v[i], name, n) != 0 || e->v[i][n] != '=')
            e->v[k++] = e->v[i];
    e->n = k;
    return 0;
}

/* Makes e->v; c->optind is left at the command. 0, or -1 after a message. */
static int make(struct env *e)
{
    struct cmd *c = e->c;
    char **old = cmd_environ(c);
    size_t n = 0;
    while (!e->clear && old[n])
        n++;
    e->v = arena_alloc(c->arena, (n + (size_t)(c->argc - c->optind) + 1) * sizeof *e->v);
    memcpy(e->v, old, n * sizeof *e->v);
    e->n = n;
    if (e->clear)
        env_say(e, "cleaning environ\n");
    else
        for (size_t i = 0; i < e->n_unset; i++)
            if (take_away(e, e->unset[i]) < 0)
                return -1;
    while (c->optind < c->argc && strchr(c->argv[c->optind], '='))
        put(e, c->argv[c->optind++]);
    e->v[e->n] = NULL;
    return 0;
}

/* ---- the command ---- */

static int shebang_hint(struct cmd *c)
{
    cmd_err(c, "use -[v]S to pass options in shebang lines");
    return ENV_FAILED;
}

static int run(struct env *e)
{
    struct cmd *c = e->c;
    struct outcome o;
    char **argv = c->argv + c->optind;
    int argc = c->argc - c->optind, r;
    if (e->dir) {
        env_say(e, "chdir:    %s\n", cmd_quote(c, e->dir, true));
        r = proc_chdir(c->p, str_c(e->dir));
        if (r < 0) {
            cmd_errno(c, r, "cannot change directory to %s", cmd_quote(c, e->dir, true));
            return ENV_FAILED;
        }
    }
    env_say(e, "executing: %s\n", argv[0]);
    for (int i = 0; i < argc; i++)
        env_say(e, "   arg[%d]= %s\n", i, cmd_quote_loc(c, argv[i]));
    r = cmd_exec(c, argc, argv, e->v, &o);
    if (r == 0)
        return outcome_status(o);
    cmd_errno(c, r, "%s", cmd_quote_loc(c, argv[0]));
    if (r == -ENOENT && strpbrk(argv[0], " \t\n\v\f\r"))
        shebang_hint(c);
    return r == -ENOENT ? ENV_NOT_FOUND : ENV_CANNOT;
}

static void note_unset(struct env *e, const char *name)
{
    if (e->n_unset == e->cap_unset) {
        const char **old = e->unset;
        e->cap_unset = e->cap_unset ? e->cap_unset * 2 : 8;
        e->unset = arena_alloc(e->c->arena, e->cap_unset * sizeof *e->unset);
        if (old)
            memcpy(e->unset, old, e->n_unset * sizeof *e->unset);
    }
    e->unset[e->n_unset++] = name;
}

/* 0, -1 when all is done, or the status to end with. */
static int options(struct env *e)
{
    struct cmd *c = e->c;
    for (int o; (o = cmd_getopt(c, opts, true)) != -1;) {
        switch (o) {
        case -2:
            return cmd_usage_status(c) ? cmd_usage_status(c) : -1;
        case 'i':
            e->clear = true;
            break;
        case '0':
            e->nul = true;
            break;
        case 'u':
            note_unset(e, c->optarg);
            break;
        case 'C':
            e->dir = c->optarg;
            break;
        case 'v':
            e->debug = true;
            break;
        case 'S':
            if (split_string(e, c->optarg) < 0)
                return ENV_FAILED;
            break;
        default:
            cmd_err(c, "invalid option -- '%c'", o);
            shebang_hint(c);
            cmd_try_help(c);
            return ENV_FAILED;
        }
    }
    return 0;
}

static int env_main(struct cmd *c)
{
    struct env e = {.c = c};
    int r = options(&e);
    if (r != 0)
        return r < 0 ? 0 : r;
    if (c->optind < c->argc && strcmp(c->argv[c->optind], "-") == 0) {
        e.clear = true;
        c->optind++;
    }
    if (make(&e) < 0)
        return ENV_FAILED;
    bool program = c->optind < c->argc;
    if (e.nul && program)
        return cmd_usage_error(c, "cannot specify --null (-0) with command");
    if (e.dir && !program)
        return cmd_usage_error(c, "must specify command with --chdir (-C)");
    if (program)
        return run(&e);
    for (size_t i = 0; i < e.n && cmd_poll(c) == 0; i++) {
        cmd_puts(c, e.v[i]);
        cmd_putc(c, e.nul ? 0 : '\n');
    }
    return 0;
}

CMD(env, env_main, ENV_FAILED, "Usage: env [OPTION]... [-] [NAME=VALUE]... [COMMAND [ARG]...]\n",
    "Runs COMMAND with each NAME set to VALUE; without COMMAND prints the environment. '-' is -i.\n"
    "  -i, --ignore-environment  begin with an empty environment\n"
    "  -0, --null                lines end with NUL\n"
    "  -u, --unset=NAME          take a variable away\n"
    "  -C, --chdir=DIR           change the working directory\n"
    "  -S, --split-string=S      split S into arguments, for \"#!\" lines\n"
    "  -v, --debug               tell of each step on standard error\n");
