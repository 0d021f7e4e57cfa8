/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <ctype.h>
#include <errno.h>

#include "shell/cmd/dateparse.h"

static const struct cmd_opt opts[] = {
    {256, "time", CMD_ARG},      {'c', "no-create", CMD_NO_ARG},
    {'d', "date", CMD_ARG},      {'h', "no-dereference", CMD_NO_ARG},
    {'r', "reference", CMD_ARG}, {'a', NULL, CMD_NO_ARG},
    {'f', NULL, CMD_NO_ARG},     {'m', NULL, CMD_NO_ARG},
    {'t', NULL, CMD_ARG},        {0},
};

/* What vfs_utimens() takes for these. */
#define TIME_KEEP INT64_MIN
#define TIME_NOW INT64_MAX

struct touch {
    struct cmd *c;
    bool no_create, no_follow;
    int64_t atime, mtime;
};

/* ---- -t ---- */

static int pair(const char *s)
{
    return (s[0] - '0') * 10 + (s[1] - '0');
}

/* [[CC]YY]MMDDhhmm[.ss] in local time. */
static bool stamp(struct cmd *c, const char *text, int64_t *ret_ns)
{
    size_t n = strspn(text, "0123456789");
    const char *p = text + n;
    struct cmd_time t = {0};
    int64_t s;
    if (n != 8 && n != 10 && n != 12)
        return false;
    int sec = 0;
    if (*p == '.') {
        if (!isdigit((unsigned char)p[1]) || !isdigit((unsigned char)p[2]) || p[3])
            return false;
        sec = pair(p + 1);
    } else if (*p) {
        return false;
    }
    p = text + n - 8;
    if (n == 8) {
        struct cmd_time now;
        cmd_localtime(c, proc_wall(c->p->ps) / 1000000000, false, &now);
        t.year = now.year;
    } else {
        int yy = pair(text + n - 10);
        t.year = n == 12 ? pair(text) * 100 + yy : yy < 69 ? 2000 + yy : 1900 + yy;
    }
    t.mon = pair(p) - 1;
    t.mday = pair(p + 2);
    t.hour = pair(p + 4);
    t.min = pair(p + 6);
    t.sec = sec == 60 ? 59 : sec; /* a leap second is the one that follows */
    struct cmd_time asked = t;
    if (sec > 60 || cmd_mktime(c, &t, false, &s) < 0 || t.year != asked.year || t.mon != asked.mon ||
        t.mday != asked.mday || t.hour != asked.hour || t.min != asked.min || t.sec != asked.sec)
        return false;
    return !__builtin_mul_overflow(s + (sec == 60), 1000000000, ret_ns);
}

/* ---- a file ---- */

static int cannot(struct touch *t, int err, const char *what, const char *name)
{
    cmd_errno(t->c, err, "%s %s", what, cmd_quote(t->c, name, true));
    return 1;
}

static int standard_output(struct touch *t)
{
    struct cmd *c = t->c;
    struct vfs_handle *h = proc_fd_handle(c->p, 1);
    int r = h                            ? vfs_utimens(cmd_vfs(c), &c->p->cred, vfs_handle_ino(h), t->atime, t->mtime)
            : proc_fd_flags(c->p, 1) < 0 ? -EBADF
                                         : 0;
    if (r == -EBADF && t->no_create)
        return 0;
    return r < 0 ? cannot(t, r, "setting times of", "-") : 0;
}

static int one(struct touch *t, const char *name)
{
    struct cmd *c = t->c;
    struct vfs *v = cmd_vfs(c);
    struct vfs_ctx ctx = cmd_ctx(c);
    struct vfs_handle *h = NULL;
    uint64_t ino;
    int opened = 0;
    if (strcmp(name, "-") == 0)
        return standard_output(t);
    if (!t->no_create && !t->no_follow) {
        opened = vfs_open(v, &ctx, 0, str_c(name), O_WRONLY | O_CREAT, 0666, &h);
        if (opened == 0) {
            int r = vfs_utimens(v, ctx.cred, vfs_handle_ino(h), t->atime, t->mtime);
            vfs_close(h);
            return r < 0 ? cannot(t, r, "setting times of", name) : 0;
        }
        if (opened == -EISDIR || opened == -EINVAL || opened == -EPERM)
            opened = 0;
    }
    int r = vfs_lookup(v, &ctx, 0, str_c(name), t->no_follow ? VFS_NOFOLLOW : 0, &ino);
    if (r == 0)
        r = vfs_utimens(v, ctx.cred, ino, t->atime, t->mtime);
    if (r == 0)
        return 0;
    if (opened < 0)
        return cannot(t, opened, "cannot touch", name);
    return t->no_create && r == -ENOENT ? 0 : cannot(t, r, "setting times of", name);
}

/* ---- options ---- */

enum { CHANGE_ATIME = 1, CHANGE_MTIME = 2 };

struct touch_opts {
    int change;
    const char *date, *reference;
    bool stamped;
};

static int option(struct touch *t, int o, struct touch_opts *s)
{
    static const char *const names[] = {"atime", "access", "use", "mtime", "modify", NULL};
    static const int vals[] = {CHANGE_ATIME, CHANGE_ATIME, CHANGE_ATIME, CHANGE_MTIME, CHANGE_MTIME};
    struct cmd *c = t->c;
    int k;
    switch (o) {
    case 256:
        k = cmd_choice(c, "--time", c->optarg, names, vals);
        if (k < 0)
            return -1;
        s->change |= k;
        return 0;
    case 't':
        s->stamped = true;
        if (!stamp(c, c->optarg, &t->mtime)) {
            cmd_err(c, "invalid date format %s", cmd_quote_loc(c, c->optarg));
            return -2;
        }
        t->atime = t->mtime;
        return 0;
    case 'd':
        s->date = c->optarg;
        return 0;
    case 'r':
        s->reference = c->optarg;
        return 0;
    default:
        s->change |= o == 'a' ? CHANGE_ATIME : o == 'm' ? CHANGE_MTIME : 0;
        t->no_create |= o == 'c';
        t->no_follow |= o == 'h';
        return 0;
    }
}

/* The times from -r and -d: 0, or -1 after a message. */
static int set_times(struct touch *t, const struct touch_opts *s)
{
    struct cmd *c = t->c;
    int64_t now = proc_wall(c->p->ps);
    if (s->reference) {
        struct vfs_stat st;
        int r = proc_stat(c->p, str_c(s->reference), t->no_follow ? VFS_NOFOLLOW : 0, &st);
        if (r < 0) {
            cannot(t, r, "failed to get attributes of", s->reference);
            return -1;
        }
        t->atime = st.atime;
        t->mtime = st.mtime;
    }
    if (!s->date)
        return 0;
    int64_t a = s->reference ? t->atime : now, m = s->reference ? t->mtime : now;
    if (dateparse(c, s->date, a, &t->atime) < 0 || dateparse(c, s->date, m, &t->mtime) < 0) {
        cmd_err(c, "invalid date format %s", cmd_quote_loc(c, s->date));
        return -1;
    }
    return 0;
}

static int touch_main(struct cmd *c)
{
    struct touch t = {.c = c, .atime = TIME_NOW, .mtime = TIME_NOW};
    struct touch_opts s = {0};
    for (int o; (o = cmd_getopt(c, opts, false)) != -1;) {
        int r = o == -2 ? -1 : option(&t, o, &s);
        if (r < 0)
            return r == -1 ? cmd_usage_status(c) : 1;
    }
    if (s.stamped && (s.date || s.reference))
        return cmd_usage_error(c, "cannot specify times from more than one source");
    if (set_times(&t, &s) < 0)
        return 1;
    if (c->optind == c->argc)
        return cmd_usage_error(c, "missing file operand");
    if (s.change == CHANGE_ATIME)
        t.mtime = TIME_KEEP;
    if (s.change == CHANGE_MTIME)
        t.atime = TIME_KEEP;
    int status = 0;
    for (int i = c->optind; i < c->argc && cmd_poll(c) == 0; i++)
        status |= one(&t, c->argv[i]);
    return status;
}

CMD(touch, touch_main, 1, "Usage: touch [OPTION]... FILE...\n",
    "  -a                     only the access time\n"
    "  -c, --no-create        make no files\n"
    "  -d, --date=STRING      the time that STRING says, not now\n"
    "  -f                     ignored\n"
    "  -h, --no-dereference   links themselves\n"
    "  -m                     only the modification time\n"
    "  -r, --reference=FILE   this file's times, not now\n"
    "  -t STAMP               [[CC]YY]MMDDhhmm[.ss], not now\n"
    "      --time=WORD        atime, access, use: as -a; mtime, modify: as -m\n");
