/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <errno.h>

#include "shell/cmd/num.h"
#include "shell/cmd/users.h"

static const struct cmd_opt opts[] = {
    {'Z', "context", CMD_NO_ARG}, {'g', "group", CMD_NO_ARG}, {'G', "groups", CMD_NO_ARG},
    {'n', "name", CMD_NO_ARG},    {'r', "real", CMD_NO_ARG},  {'u', "user", CMD_NO_ARG},
    {'z', "zero", CMD_NO_ARG},    {'a', NULL, CMD_NO_ARG},    {0},
};

struct id {
    struct cmd *c;
    bool user, group, groups, name, real, zero, many;
    int status;
};

/* Whose ids: of the process, or of an account (then name is set). */
struct id_who {
    const char *name;
    uint32_t uid, gid;
};

/* At most as many groups as an account can be in: each line of /etc/group once, and the primary one. */
static uint32_t *group_list(struct id *d, const struct id_who *w, size_t *ret_n)
{
    struct cmd *c = d->c;
    const struct vfs_cred *cred = &c->p->cred;
    size_t rows, n = 0;
    users_table(c, true, &rows);
    uint32_t *v = arena_alloc(c->arena, (rows + LIMIT_GROUPS + 1) * sizeof *v);
    if (w->name) {
        n = users_group_list(c, w->name, w->gid, v, rows + 1);
    } else {
        v[n++] = w->gid;
        for (uint32_t i = 0; i < cred->n_groups && i < LIMIT_GROUPS; i++)
            if (cred->groups[i] != v[0] && cred->groups[i] != v[n - 1])
                v[n++] = cred->groups[i];
    }
    *ret_n = n;
    return v;
}

static void put_id(struct id *d, uint32_t id, const char *name, const char *what)
{
    if (d->name && !name) {
        cmd_err(d->c, "cannot find name for %s ID %u", what, id);
        d->status = 1;
    }
    if (d->name && name)
        cmd_puts(d->c, name);
    else
        cmd_printf(d->c, "%u", id);
}

static void put_groups(struct id *d, const struct id_who *w)
{
    size_t n;
    const uint32_t *v = group_list(d, w, &n);
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            cmd_putc(d->c, d->zero ? 0 : ' ');
        put_id(d, v[i], d->name ? cmd_group_name(d->c, v[i]) : NULL, "group");
    }
}

static void put_named(struct id *d, const char *before, uint32_t id, const char *name)
{
    cmd_printf(d->c, "%s%u", before, id);
    if (name)
        cmd_printf(d->c, "(%s)", name);
}

static void put_all(struct id *d, const struct id_who *w)
{
    struct cmd *c = d->c;
    size_t n;
    put_named(d, "uid=", w->uid, cmd_user_name(c, w->uid));
    put_named(d, " gid=", w->gid, cmd_group_name(c, w->gid));
    const uint32_t *v = group_list(d, w, &n);
    for (size_t i = 0; i < n; i++)
        put_named(d, i == 0 ? " groups=" : ",", v[i], cmd_group_name(c, v[i]));
}

static void one(struct id *d, const struct id_who *w)
{
    struct cmd *c = d->c;
    struct arena_mark mark = arena_mark(c->arena);
    if (d->user)
        put_id(d, w->uid, d->name ? cmd_user_name(c, w->uid) : NULL, "user");
    else if (d->group)
        put_id(d, w->gid, d->name ? cmd_group_name(c, w->gid) : NULL, "group");
    else if (d->groups)
        put_groups(d, w);
    else
        put_all(d, w);
    if (d->zero && d->groups && d->many)
        cmd_putc(c, 0);
    cmd_putc(c, d->zero ? 0 : '\n');
    arena_reset(c->arena, mark);
}

static bool by_name(struct cmd *c, const char *name, struct id_who *ret)
{
    size_t n;
    const struct user_entry *v = users_table(c, false, &n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(v[i].name, name) == 0) {
            *ret = (struct id_who){v[i].name, v[i].id, v[i].gid};
            return true;
        }
    return false;
}

/* The account that an operand names, by name or number. */
static bool find(struct cmd *c, const char *arg, struct id_who *ret)
{
    size_t n;
    uint64_t uid = UINT64_MAX;
    const struct user_entry *v = users_table(c, false, &n);
    if (*arg != '+' && by_name(c, arg, ret))
        return true;
    if (num_u64(arg, NULL, &uid) != NUM_OK || uid >= UINT32_MAX)
        return false;
    for (size_t i = 0; i < n; i++)
        if (v[i].id == uid) {
            *ret = (struct id_who){v[i].name, v[i].id, v[i].gid};
            return true;
        }
    return false;
}

static int check(struct cmd *c, const struct id *d)
{
    const char *what = NULL;
    bool plain = !d->user && !d->group && !d->groups;
    if (d->user + d->group + d->groups > 1)
        what = "cannot print \"only\" of more than one choice";
    else if (plain && (d->real || d->name))
        what = "cannot print only names or real IDs in default format";
    else if (plain && d->zero)
        what = "option --zero not permitted in default format";
    if (what)
        cmd_err(c, "%s", what);
    return what ? 1 : 0;
}

static int id_main(struct cmd *c)
{
    struct id d = {.c = c};
    for (int o; (o = cmd_getopt(c, opts, false)) != -1;) {
        if (o == -2)
            return cmd_usage_status(c);
        if (o == 'Z') {
            cmd_err(c, "--context (-Z) works only on an SELinux-enabled kernel");
            return 1;
        }
        d.user |= o == 'u';
        d.group |= o == 'g';
        d.groups |= o == 'G';
        d.name |= o == 'n';
        d.real |= o == 'r';
        d.zero |= o == 'z';
    }
    if (check(c, &d))
        return 1;
    int n = c->argc - c->optind;
    d.many = n > 1;
    if (n == 0) {
        struct id_who me = {NULL, c->p->cred.uid, c->p->cred.gid};
        one(&d, &me);
    }
    for (int i = c->optind; i < c->argc && cmd_poll(c) == 0; i++) {
        struct id_who w;
        if (find(c, c->argv[i], &w)) {
            one(&d, &w);
        } else {
            cmd_errno(c, c->argv[i][0] ? 0 : ENOENT, "%s: no such user", cmd_quote_loc(c, c->argv[i]));
            d.status = 1;
        }
    }
    return d.status;
}

CMD(id, id_main, 1, "Usage: id [OPTION]... [USER]...\n",
    "Prints user and group ids of each USER, or of the process itself.\n"
    "  -a             nothing: for compatibility\n"
    "  -Z, --context  the security context: there is none\n"
    "  -g, --group    only the effective group\n"
    "  -G, --groups   only the groups\n"
    "  -n, --name     names instead of numbers, for -ugG\n"
    "  -r, --real     the real id instead of the effective one, with -ugG\n"
    "  -u, --user     only the effective user\n"
    "  -z, --zero     NUL instead of blanks and newlines, not in the default format\n");

/* ---- groups ---- */

static const struct cmd_opt groups_opts[] = {{0}};

static int groups_main(struct cmd *c)
{
    struct id d = {.c = c, .groups = true, .name = true};
    if (cmd_getopt(c, groups_opts, false) == -2)
        return cmd_usage_status(c);
    if (c->optind == c->argc) {
        struct id_who me = {NULL, c->p->cred.uid, c->p->cred.gid};
        one(&d, &me);
    }
    for (int i = c->optind; i < c->argc && cmd_poll(c) == 0; i++) {
        struct id_who w;
        if (by_name(c, c->argv[i], &w)) {
            cmd_printf(c, "%s : ", c->argv[i]);
            one(&d, &w);
        } else {
            cmd_err(c, "%s: no such user", cmd_quote_loc(c, c->argv[i]));
            d.status = 1;
        }
    }
    return d.status;
}

CMD(groups, groups_main, 1, "Usage: groups [OPTION]... [USER]...\n",
    "Prints the groups of each USER, or of the process itself.\n");
