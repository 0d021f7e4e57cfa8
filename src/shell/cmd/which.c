/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

/* Debian's which is a script of sh: these are its texts, and where its shell looks when PATH is not set. */
#define WHICH_NAME "/usr/bin/which"
#define WHICH_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* Whether test -f and test -x hold. */
static bool runs(struct cmd *c, struct str path)
{
    struct vfs_stat st;
    return proc_stat(c->p, path, 0, &st) == 0 && S_ISREG(st.mode) && proc_access(c->p, path, X_OK) == 0;
}

/* Prints @dir/@name if it runs. */
static bool try(struct cmd *c, struct str dir, struct str name)
{
    struct arena_mark mark = arena_mark(c->arena);
    size_t n = dir.n + name.n + 1;
    char *file = arena_alloc(c->arena, n + 1);
    memcpy(file, dir.p, dir.n);
    file[dir.n] = '/';
    memcpy(file + dir.n + 1, name.p, name.n);
    bool hit = runs(c, str_of(file, n));
    if (hit) {
        file[n] = '\n';
        cmd_write(c, file, n + 1);
    }
    arena_reset(c->arena, mark);
    return hit;
}

/*
 * Looks for @name in the directories of @path: whether it was there. An empty element is the working directory; so is
 * what follows a colon at the end, unless an empty element stands before it.
 */
static bool search(struct cmd *c, const char *path, struct str name, bool all)
{
    bool found = false;
    for (const char *p = path; *p && (all || !found);) {
        size_t n = strcspn(p, ":");
        found |= try(c, n ? str_of(p, n) : STR("."), name);
        p += n;
        if (*p == ':' && *++p == 0 && n > 0 && (all || !found))
            found |= try(c, STR("."), name);
    }
    return found;
}

/* The options: index of the first operand, or -1 after a message. */
static int options(struct cmd *c, bool *ret_all)
{
    int i = 1;
    for (; i < c->argc && c->argv[i][0] == '-' && c->argv[i][1]; i++) {
        if (strcmp(c->argv[i], "--") == 0)
            return i + 1;
        for (const char *s = c->argv[i] + 1; *s; s++) {
            if (*s != 'a') {
                cmd_err_raw(c, arena_printf(c->arena, "Illegal option -%c\n", *s));
                cmd_puts(c, "Usage: " WHICH_NAME " [-a] args\n");
                return -1;
            }
            *ret_all = true;
        }
    }
    return i;
}

static int which_main(struct cmd *c)
{
    bool all = false;
    if (cmd_help_alone(c))
        return 0;
    int i = options(c, &all), status = 0;
    if (i < 0)
        return 2;
    if (i >= c->argc)
        return 1;
    const char *path = cmd_getenv(c, "PATH");
    if (!path)
        path = WHICH_PATH;
    for (; i < c->argc && cmd_poll(c) == 0; i++) {
        const char *name = c->argv[i];
        bool found;
        if (strchr(name, '/')) {
            found = runs(c, str_c(name));
            if (found)
                cmd_printf(c, "%s\n", name);
        } else {
            found = search(c, path, str_c(name), all);
        }
        if (!found)
            status = 1;
    }
    return status;
}

CMD(which, which_main, 2, "Usage: " WHICH_NAME " [-a] args\n", "  -a  all matches of each name, not only the first\n");
