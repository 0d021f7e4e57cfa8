/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/canon.h"

#include <errno.h>

#include "base/num.h"
#include "shell/cmd/cmd.h"

#define CANON_MAX ((size_t)LIMIT_DEPTH * (LIMIT_NAME + 2))

/* Links followed before loops are looked for, and the most that are remembered from then on. */
#define CANON_LINKS 20
#define CANON_SEEN 64

struct canon {
    struct cmd *c;
    enum canon_mode mode;
    bool no_links;
    struct buf *out; /* absolute, no slash at its end but for "/" */
    size_t base;     /* where it begins in out */
    struct buf rest; /* what is still to be walked, from `at` */
    size_t at;
    unsigned links, n_seen;
    uint64_t seen[CANON_SEEN];    /* inodes of links */
    size_t seen_left[CANON_SEEN]; /* how much was left behind each */
};

static struct str so_far(const struct canon *k)
{
    return str_of(k->out->p + k->base, k->out->n - k->base);
}

/* Takes the last component off. */
static void up(struct canon *k)
{
    while (k->out->n > k->base + 1 && k->out->p[k->out->n - 1] != '/')
        buf_trunc(k->out, k->out->n - 1);
    if (k->out->n > k->base + 1)
        buf_trunc(k->out, k->out->n - 1);
}

static const char *left(const struct canon *k)
{
    return k->rest.p + k->at;
}

/* Whether what follows, "/", "/." or "/..", asks for a directory. */
static bool wants_dir(const char *end)
{
    while (*end == '/') {
        end += strspn(end, "/");
        if (*end == 0)
            return true;
        if (*end++ != '.')
            return false;
        if (*end == 0 || (*end == '.' && (end[1] == 0 || end[1] == '/')))
            return true;
    }
    return false;
}

/* Whether a link was met before with as much behind it. */
static bool loops(struct canon *k, uint64_t ino)
{
    size_t n = strlen(left(k));
    if (k->links < CANON_LINKS) {
        k->links++;
        return false;
    }
    for (unsigned i = 0; i < k->n_seen; i++)
        if (k->seen[i] == ino && k->seen_left[i] == n)
            return true;
    if (k->n_seen == CANON_SEEN)
        return true;
    k->seen[k->n_seen] = ino;
    k->seen_left[k->n_seen++] = n;
    return false;
}

/* Puts a link's target in front of what is left. */
static int follow(struct canon *k, uint64_t ino)
{
    struct vfs_ctx ctx = cmd_ctx(k->c);
    struct buf target;
    if (loops(k, ino))
        return k->mode == CANON_MISSING ? 0 : -ELOOP;
    buf_init(&target, CANON_MAX);
    int r = vfs_readlink(cmd_vfs(k->c), &ctx, 0, so_far(k), &target);
    if (r == 0) {
        if (target.n > 0 && target.p[0] == '/')
            buf_trunc(k->out, k->base + 1);
        else
            up(k);
        buf_addc(&target, left(k));
        buf_clear(&k->rest);
        r = buf_adds(&k->rest, buf_str(&target));
        k->at = 0;
    }
    buf_done(&target);
    return r;
}

/* Looks at the component that was just added: 0, or why the walk ends. */
static int look(struct canon *k)
{
    struct vfs *v = cmd_vfs(k->c);
    struct vfs_ctx ctx = cmd_ctx(k->c);
    struct vfs_stat st;
    const char *end = left(k);
    int r = 0;
    if (!k->no_links) {
        r = vfs_stat(v, &ctx, 0, so_far(k), VFS_NOFOLLOW, &st);
        if (r == 0 && S_ISLNK(st.mode))
            return follow(k, st.ino);
    }
    if (k->mode == CANON_MISSING)
        return 0;
    if (wants_dir(end)) {
        uint64_t ino;
        r = vfs_lookup(v, &ctx, 0, so_far(k), VFS_DIRECTORY, &ino);
    } else if (k->no_links) {
        r = *end ? 0 : vfs_access(v, &ctx, 0, so_far(k), F_OK, 0);
    }
    if (r == -ENOENT && k->mode == CANON_ALL_BUT_LAST && end[strspn(end, "/")] == 0)
        return 0;
    return r;
}

static int walk(struct canon *k)
{
    for (int r;;) {
        k->at += strspn(left(k), "/");
        size_t n = strcspn(left(k), "/");
        struct str name = str_of(left(k), n);
        if (n == 0)
            return k->out->err;
        if ((r = cmd_poll(k->c)) < 0)
            return r;
        k->at += n;
        if (str_eqc(name, "."))
            continue;
        if (str_eqc(name, "..")) {
            up(k);
            continue;
        }
        if (k->out->n > k->base + 1)
            buf_putc(k->out, '/');
        buf_adds(k->out, name);
        if ((r = look(k)) < 0)
            return r;
    }
}

int canon_path(struct cmd *c, const char *name, enum canon_mode mode, bool no_links, struct buf *out)
{
    struct canon k = {.c = c, .mode = mode, .no_links = no_links, .out = out, .base = out->n};
    int r = 0;
    if (*name == 0)
        return -ENOENT;
    if (*name == '/')
        buf_putc(out, '/');
    else
        r = vfs_dir_path(cmd_vfs(c), cmd_ctx(c).cwd, out);
    if (r < 0)
        return r;
    buf_init(&k.rest, CANON_MAX);
    buf_addc(&k.rest, name);
    r = walk(&k);
    buf_done(&k.rest);
    return r;
}

bool canon_prefix(const char *prefix, const char *path)
{
    size_t n = strlen(prefix);
    if (n == 1)
        return true;
    return strncmp(prefix, path, n) == 0 && (path[n] == 0 || path[n] == '/');
}

/* Bytes of the directories that both names begin with. */
static size_t common(const char *a, const char *b)
{
    size_t i = 0, n = 0;
    while (a[i] && a[i] == b[i]) {
        i++;
        if (a[i - 1] == '/')
            n = i - 1;
    }
    if ((!a[i] && !b[i]) || (!a[i] && b[i] == '/') || (!b[i] && a[i] == '/'))
        n = i;
    return n;
}

void canon_relative(const char *path, const char *dir, struct buf *out)
{
    size_t n = common(path, dir), start = out->n;
    const char *p = path + n, *d = dir + n;
    while (*p == '/')
        p++;
    while (*d == '/')
        d++;
    for (; *d; d += strcspn(d, "/"), d += strspn(d, "/"))
        buf_addc(out, out->n > start ? "/.." : "..");
    if (*p && out->n > start)
        buf_putc(out, '/');
    buf_addc(out, p);
    if (out->n == start)
        buf_putc(out, '.');
}
