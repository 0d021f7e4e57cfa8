/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/copy.h"

#include <errno.h>

#include "base/num.h"

#define PATH_LIMIT ((size_t)LIMIT_DEPTH * (LIMIT_NAME + 1) + 2 * LIMIT_PATH)

/* Levels of directories below an operand, links followed. */
#define DEPTH_LIMIT (2u * LIMIT_DEPTH)

/* A directory whose entries are being copied. */
struct copy_frame {
    struct copy_item it; /* names are not valid any more but for operands */
    uint64_t src_dir, dst_dir;
    size_t src_n, dst_n; /* lengths of its paths */
    uint32_t dst_mode;   /* as it was before it was made writable */
    bool restore;        /* put dst_mode back */
    bool ok;
};

enum step { STEP_OK, STEP_FAILED, STEP_ENTER };

void copy_init(struct copier *k, struct cmd *c, bool several)
{
    k->c = c;
    k->several = several;
    map_init(&k->copied);
    map_init(&k->made);
    map_init(&k->seen);
    buf_init(&k->src, PATH_LIMIT);
    buf_init(&k->dst, PATH_LIMIT);
}

void copy_done(struct copier *k)
{
    struct map_iter it = {0};
    while (map_next(&k->copied, &it))
        mem_free(it.val);
    map_done(&k->copied);
    map_done(&k->made);
    map_done(&k->seen);
    buf_done(&k->src);
    buf_done(&k->dst);
    mem_free(k->frames);
}

void copy__error(struct copier *k, int err, const char *what, const char *path)
{
    cmd_errno(k->c, err, "%s %s", what, cmd_quote(k->c, path, true));
}

static void message2(struct copier *k, const char *before, const char *a, const char *between, const char *b)
{
    cmd_err(k->c, "%s%s%s%s", before, cmd_quote(k->c, a, true), between, cmd_quote(k->c, b, true));
}

/* ---- the tables ---- */

struct key {
    uint64_t ino, dev;
};

/* Path that the file was copied to, or NULL; with @path it is noted when it is new. */
static const char *copied_to(struct copier *k, const struct vfs_stat *st, const char *path)
{
    struct key key = {st->ino, st->dev};
    struct str s = str_of((const char *)&key, sizeof key);
    const char *p = map_get(&k->copied, s);
    if (!p && path)
        map_set(&k->copied, s, mem_dup(path, strlen(path)));
    return p;
}

/* Whether (name, inode, device) is in a table; with @add it is put there. */
static bool known(struct copier *k, struct map *m, struct str name, const struct vfs_stat *st, bool add)
{
    static char yes;
    struct buf b;
    struct key key = {st->ino, st->dev};
    if (!k->several)
        return false;
    buf_init(&b, PATH_LIMIT);
    buf_add(&b, &key, sizeof key);
    buf_adds(&b, name);
    bool found = map_get(m, buf_str(&b)) != NULL;
    if (add && !found)
        map_set(m, buf_str(&b), &yes);
    buf_done(&b);
    return found;
}

static void note_made(struct copier *k, const struct copy_item *it)
{
    struct vfs_ctx ctx = cmd_ctx(k->c);
    struct vfs_stat st;
    if (it->top && k->several && vfs_stat(cmd_vfs(k->c), &ctx, 0, it->dst, VFS_NOFOLLOW, &st) == 0)
        known(k, &k->made, it->dst, &st, true);
}

static void announce(struct copier *k, const char *prefix)
{
    cmd_printf(k->c, "%s%s -> %s\n", prefix, cmd_quote(k->c, k->src.p, true), cmd_quote(k->c, k->dst.p, true));
}

/* ---- what stands at the destination ---- */

/* The question before something is overwritten. */
static bool overwrite_ok(struct copier *k, const struct copy_item *it)
{
    struct cmd *c = k->c;
    char mode[11];
    const char *q = cmd_quote(c, k->dst.p, true);
    if (S_ISLNK(it->dstat.mode) || vfs_access_ino(cmd_vfs(c), &c->p->cred, it->dstat.ino, W_OK) == 0)
        return cmd_ask(c, "%s: overwrite %s? ", c->name, q);
    cmd_mode_text(it->dstat.mode, mode);
    if (k->o.move || k->o.unlink_first || k->o.unlink_after_fail)
        return cmd_ask(c, "%s: replace %s, overriding mode %04o (%s)? ", c->name, q, it->dstat.mode & 07777, mode + 1);
    return cmd_ask(c, "%s: unwritable %s (mode %04o, %s); try anyway? ", c->name, q, it->dstat.mode & 07777, mode + 1);
}

/* Whether -n, -i or a terminal keep what is there. */
static bool kept(struct copier *k, const struct copy_item *it)
{
    if (k->o.ask == COPY_ASK_ALWAYS_NO)
        return true;
    if (k->o.ask == COPY_ASK_USER)
        return !overwrite_ok(k, it);
    return k->o.move && k->o.ask == COPY_ASK_UNSET && k->o.tty && !S_ISLNK(it->dstat.mode) &&
           vfs_access_ino(cmd_vfs(k->c), &k->c->p->cred, it->dstat.ino, W_OK) < 0 && !overwrite_ok(k, it);
}

/* Kinds that do not replace each other, and what an earlier operand has made: false after a message. */
static bool kinds_ok(struct copier *k, const struct copy_item *it)
{
    bool sd = S_ISDIR(it->sst.mode), dd = S_ISDIR(it->dstat.mode);
    if (!dd && sd) {
        message2(k, "cannot overwrite non-directory ", k->dst.p, " with directory ", k->src.p);
        return false;
    }
    if (!dd && it->top && known(k, &k->made, it->dst, &it->dstat, false)) {
        message2(k, "will not overwrite just-created ", k->dst.p, " with ", k->src.p);
        return false;
    }
    if (dd && !sd) {
        cmd_err(k->c, "cannot overwrite directory %s with non-directory", cmd_quote(k->c, k->dst.p, true));
        return false;
    }
    return true;
}

/* Removes the destination first, where links or --remove-destination ask for it. */
static bool unlink_first(struct copier *k, struct copy_item *it)
{
    struct vfs_ctx ctx = cmd_ctx(k->c);
    bool wanted = k->o.unlink_first ||
                  (!k->o.attributes_only && ((k->o.keep_links && it->dstat.nlink > 1) ||
                                             (k->o.deref == COPY_DEREF_NEVER && !S_ISREG(it->sst.mode))));
    if (S_ISDIR(it->dstat.mode) || k->o.move || !wanted)
        return true;
    int r = vfs_unlink(cmd_vfs(k->c), &ctx, it->dst_at, it->dst);
    if (r < 0 && r != -ENOENT) {
        copy__error(k, r, "cannot remove", k->dst.p);
        return false;
    }
    it->new_dst = true;
    if (k->o.verbose)
        cmd_printf(k->c, "removed %s\n", cmd_quote(k->c, k->dst.p, true));
    return true;
}

/* A hard link @dst to the copy at @earlier; what is there goes. */
static bool link_to(struct copier *k, const struct copy_item *it, const char *earlier);

/* Looks at the destination. STEP_ENTER: go on; else the step's result. *ret_renamed is set when the source counts as
 * moved. */
static enum step look_at_dest(struct copier *k, struct copy_item *it, bool *ret_renamed)
{
    struct vfs_ctx ctx = cmd_ctx(k->c);
    bool dir = S_ISDIR(it->sst.mode), done;
    bool through = !(k->o.move || k->o.symbolic_link || k->o.hard_link || k->o.unlink_first) &&
                   (S_ISREG(it->sst.mode) || (k->o.as_regular && !dir && !S_ISLNK(it->sst.mode)));
    int r = it->dst_at == 0
                ? proc_stat(k->c->p, it->dst, through ? 0 : VFS_NOFOLLOW, &it->dstat)
                : vfs_stat(cmd_vfs(k->c), &ctx, it->dst_at, it->dst, through ? 0 : VFS_NOFOLLOW, &it->dstat);
    it->new_dst = r < 0 && r != -ELOOP; /* a loop of links is there, and goes when it cannot be opened */
    if (r == -ENOENT || (r == -ELOOP && k->o.unlink_after_fail))
        return STEP_ENTER;
    if (r < 0) {
        copy__error(k, r, "cannot stat", k->dst.p);
        return STEP_FAILED;
    }
    if (!copy__same_ok(k, it, &done)) {
        cmd_err(k->c, "%s and %s are the same file", cmd_quote(k->c, k->src.p, true), cmd_quote(k->c, k->dst.p, true));
        return STEP_FAILED;
    }
    if (k->o.update && !dir && it->dstat.mtime >= it->sst.mtime) {
        /* Other names of the same source become links to this one. */
        const char *earlier = copied_to(k, &it->sst, k->dst.p);
        *ret_renamed = true; /* so that mv leaves the source */
        return !earlier || link_to(k, it, earlier) ? STEP_OK : STEP_FAILED;
    }
    if ((k->o.move || !dir) && kept(k, it)) {
        *ret_renamed = true;
        return STEP_OK;
    }
    if (done)
        return STEP_OK;
    return kinds_ok(k, it) && unlink_first(k, it) ? STEP_ENTER : STEP_FAILED;
}

/* ---- links to what was copied before ---- */

/* A hard link @dst to the copy at @earlier; what is there goes. */
static bool link_to(struct copier *k, const struct copy_item *it, const char *earlier)
{
    struct vfs *v = cmd_vfs(k->c);
    struct vfs_ctx ctx = cmd_ctx(k->c);
    int r = vfs_link(v, &ctx, 0, str_c(earlier), it->dst_at, it->dst, 0);
    if (r == -EEXIST) {
        r = vfs_unlink(v, &ctx, it->dst_at, it->dst);
        if (r < 0) {
            copy__error(k, r, "cannot remove", k->dst.p);
            return false;
        }
        r = vfs_link(v, &ctx, 0, str_c(earlier), it->dst_at, it->dst, 0);
        if (r == 0 && k->o.verbose)
            cmd_printf(k->c, "removed %s\n", cmd_quote(k->c, k->dst.p, true));
    }
    if (r < 0)
        cmd_errno(k->c, r, "cannot create hard link %s to %s", cmd_quote(k->c, k->dst.p, true),
                  cmd_quote(k->c, earlier, true));
    return r == 0;
}

/* A directory that was met before: into itself, twice on the command line, or by links. STEP_ENTER: copy it all the
 * same. */
static enum step directory_again(struct copier *k, const struct copy_item *it, const char *earlier)
{
    if (copy__same_name(k, it->src_at, it->src, 0, str_c(earlier))) {
        cmd_err(k->c, "cannot copy a directory, %s, into itself, %s", cmd_quote(k->c, k->top_src, true),
                cmd_quote(k->c, k->top_dst, true));
        k->into_self = true;
        return STEP_FAILED;
    }
    if (copy__same_name(k, it->dst_at, it->dst, 0, str_c(earlier))) {
        cmd_err(k->c, "warning: source directory %s specified more than once", cmd_quote(k->c, k->top_src, true));
        return STEP_OK;
    }
    if (k->o.deref == COPY_DEREF_ALWAYS || (it->top && k->o.deref == COPY_DEREF_ARGS))
        return STEP_ENTER;
    message2(k, "will not create hard link ", k->dst.p, " to directory ", earlier);
    return STEP_FAILED;
}

/* Whether the file was copied before, under this or another name. STEP_ENTER: it was not. */
static enum step earlier_copy(struct copier *k, const struct copy_item *it)
{
    const char *earlier = NULL;
    bool dir = S_ISDIR(it->sst.mode);
    bool links = k->o.keep_links && !k->o.hard_link &&
                 (it->sst.nlink > 1 || (it->top && k->o.deref == COPY_DEREF_ARGS) || k->o.deref == COPY_DEREF_ALWAYS);
    if (k->o.move && it->sst.nlink == 1)
        earlier = copied_to(k, &it->sst, NULL);
    else if (k->o.recursive && dir)
        earlier = copied_to(k, &it->sst, it->top ? k->dst.p : NULL);
    else if (!dir && links)
        earlier = copied_to(k, &it->sst, k->dst.p);
    if (!earlier)
        return STEP_ENTER;
    if (dir)
        return directory_again(k, it, earlier);
    return link_to(k, it, earlier) ? STEP_OK : STEP_FAILED;
}

/* ---- moving ---- */

/* rename(2). STEP_ENTER: the destination is on another device and was removed; copy. */
static enum step rename_step(struct copier *k, struct copy_item *it, bool *ret_renamed)
{
    struct vfs *v = cmd_vfs(k->c);
    struct vfs_ctx ctx = cmd_ctx(k->c);
    bool dir = S_ISDIR(it->sst.mode);
    int r = vfs_rename(v, &ctx, it->src_at, it->src, it->dst_at, it->dst, 0);
    if (r == 0) {
        if (k->o.verbose)
            announce(k, "renamed ");
        *ret_renamed = true;
        note_made(k, it);
        return STEP_OK;
    }
    if (r == -EINVAL) {
        message2(k, "cannot move ", k->top_src, " to a subdirectory of itself, ", k->top_dst);
        k->into_self = true;
        return STEP_FAILED;
    }
    if (r != -EXDEV) {
        cmd_errno(k->c, r, "cannot move %s to %s", cmd_quote(k->c, k->top_src, true),
                  cmd_quote(k->c, k->top_dst, true));
        return STEP_FAILED;
    }
    r = dir ? vfs_rmdir(v, &ctx, it->dst_at, it->dst) : vfs_unlink(v, &ctx, it->dst_at, it->dst);
    if (r < 0 && r != -ENOENT) {
        cmd_errno(k->c, r, "inter-device move failed: %s to %s; unable to remove target",
                  cmd_quote(k->c, k->top_src, true), cmd_quote(k->c, k->top_dst, true));
        return STEP_FAILED;
    }
    if (k->o.verbose && !dir)
        announce(k, "copied ");
    it->new_dst = true;
    return STEP_ENTER;
}

/* ---- making ---- */

/* -s: only an absolute name means the same from everywhere. */
static bool make_symlink_to_source(struct copier *k, struct copy_item *it)
{
    struct vfs *v = cmd_vfs(k->c);
    struct vfs_ctx ctx = cmd_ctx(k->c);
    uint64_t dir = 0;
    const char *slash = strrchr(k->dst.p, '/');
    if (slash)
        vfs_lookup(v, &ctx, 0, slash == k->dst.p ? STR("/") : str_of(k->dst.p, (size_t)(slash - k->dst.p)), 0, &dir);
    if (k->src.p[0] != '/' && slash && dir != ctx.cwd) {
        cmd_err(k->c, "%s: can make relative symbolic links only in current directory",
                cmd_quote(k->c, k->dst.p, false));
        return false;
    }
    int r = vfs_symlink(v, &ctx, buf_str(&k->src), it->dst_at, it->dst);
    if (r == -EEXIST && k->o.unlink_after_fail) {
        vfs_unlink(v, &ctx, it->dst_at, it->dst);
        r = vfs_symlink(v, &ctx, buf_str(&k->src), it->dst_at, it->dst);
    }
    if (r < 0)
        cmd_errno(k->c, r, "cannot create symbolic link %s to %s", cmd_quote(k->c, k->dst.p, true),
                  cmd_quote(k->c, k->src.p, true));
    return r == 0;
}

static bool make_hard_link(struct copier *k, struct copy_item *it)
{
    struct vfs *v = cmd_vfs(k->c);
    struct vfs_ctx ctx = cmd_ctx(k->c);
    int flags = k->o.deref == COPY_DEREF_ALWAYS || (k->o.deref == COPY_DEREF_ARGS && it->top) ? VFS_FOLLOW_OLD : 0;
    int r = vfs_link(v, &ctx, it->src_at, it->src, it->dst_at, it->dst, flags);
    if (r == -EEXIST && (k->o.unlink_after_fail || k->o.ask == COPY_ASK_USER)) {
        vfs_unlink(v, &ctx, it->dst_at, it->dst);
        r = vfs_link(v, &ctx, it->src_at, it->src, it->dst_at, it->dst, flags);
    }
    if (r < 0)
        cmd_errno(k->c, r, "cannot create hard link %s to %s", cmd_quote(k->c, k->dst.p, true),
                  cmd_quote(k->c, k->src.p, true));
    return r == 0;
}

/* A copy of the link itself. */
static bool make_symlink(struct copier *k, struct copy_item *it)
{
    struct vfs *v = cmd_vfs(k->c);
    struct vfs_ctx ctx = cmd_ctx(k->c);
    struct buf target, old;
    buf_init(&target, LIMIT_PATH);
    buf_init(&old, LIMIT_PATH);
    int r = vfs_readlink(v, &ctx, it->src_at, it->src, &target);
    if (r < 0) {
        copy__error(k, r, "cannot read symbolic link", k->src.p);
    } else {
        r = vfs_symlink(v, &ctx, buf_str(&target), it->dst_at, it->dst);
        if (r == -EEXIST && k->o.update && !it->new_dst && S_ISLNK(it->dstat.mode) &&
            vfs_readlink(v, &ctx, it->dst_at, it->dst, &old) == 0 && str_eq(buf_str(&old), buf_str(&target)))
            r = 0;
        if (r < 0)
            copy__error(k, r, "cannot create symbolic link", k->dst.p);
    }
    buf_done(&target);
    buf_done(&old);
    return r == 0;
}

static bool make_special(struct copier *k, struct copy_item *it)
{
    struct vfs_ctx ctx = cmd_ctx(k->c);
    uint32_t mode = it->sst.mode & ~it->omitted;
    int r = vfs_mknod(cmd_vfs(k->c), &ctx, it->dst_at, it->dst, mode, it->sst.rdev);
    if (r < 0)
        copy__error(k, r, S_ISFIFO(mode) ? "cannot create fifo" : "cannot create special file", k->dst.p);
    return r == 0;
}

/* ---- attributes of what copy__regular() did not make ---- */

static bool finish_mode(struct copier *k, struct copy_item *it, uint64_t ino, uint32_t base, bool restore)
{
    struct vfs *v = cmd_vfs(k->c);
    const struct vfs_cred *cred = &k->c->p->cred;
    uint32_t umask = k->c->p->umask;
    int r = 0;
    if (k->o.keep_mode || k->o.move) {
        r = vfs_chmod(v, cred, ino, it->mode & 07777);
    } else if (k->o.no_mode && it->new_dst) {
        r = vfs_chmod(v, cred, ino, (S_ISDIR(it->sst.mode) || S_ISSOCK(it->sst.mode) ? 0777 : 0666) & ~umask);
    } else {
        uint32_t add = it->omitted & ~umask;
        if (add && !restore) {
            struct vfs_stat st;
            if (vfs_stat_ino(v, ino, &st) == 0) {
                base = st.mode & 07777;
                restore = (add & ~base) != 0;
            }
        }
        if (restore)
            r = vfs_chmod(v, cred, ino, (base & 07777) | add);
    }
    if (r < 0)
        copy__error(k, r, "preserving permissions for", k->dst.p);
    return r == 0 || !k->o.require;
}

static bool finish_attributes(struct copier *k, struct copy_item *it, uint64_t ino, uint32_t base, bool restore)
{
    struct vfs *v = cmd_vfs(k->c);
    const struct vfs_cred *cred = &k->c->p->cred;
    struct vfs_stat now;
    bool link = S_ISLNK(it->sst.mode);
    if (vfs_stat_ino(v, ino, &now) < 0)
        return true;
    if (link && k->o.keep_owner && copy__owner(k, it, ino, &now) < 0)
        return false;
    if (k->o.keep_times) {
        int r = vfs_utimens(v, cred, ino, it->sst.atime, it->sst.mtime);
        if (r < 0)
            copy__error(k, r, "preserving times for", k->dst.p);
        if (r < 0 && k->o.require)
            return false;
    }
    if (link)
        return true;
    if (k->o.keep_owner && (now.uid != it->sst.uid || now.gid != it->sst.gid)) {
        int r = copy__owner(k, it, ino, &now);
        if (r < 0)
            return false;
        if (r == 0)
            it->mode &= ~(uint32_t)(S_ISUID | S_ISGID | S_ISVTX);
    }
    return finish_mode(k, it, ino, base, restore);
}

static bool finish_new(struct copier *k, struct copy_item *it)
{
    struct vfs_ctx ctx = cmd_ctx(k->c);
    uint64_t ino;
    if (vfs_lookup(cmd_vfs(k->c), &ctx, it->dst_at, it->dst, VFS_NOFOLLOW, &ino) < 0)
        return true;
    return finish_attributes(k, it, ino, 0, false);
}

/* ---- directories ---- */

static bool cyclic(struct copier *k, const struct copy_item *it)
{
    for (size_t i = 0; i < k->n; i++)
        if (k->frames[i].src_dir == it->sst.ino && k->frames[i].it.sst.dev == it->sst.dev)
            return true;
    return false;
}

/* Makes the directory, or takes the one that is there: its status is in it->dstat then. */
static bool make_dir(struct copier *k, struct copy_item *it, uint32_t *ret_mode, bool *ret_restore)
{
    struct cmd *c = k->c;
    struct vfs *v = cmd_vfs(c);
    struct vfs_ctx ctx = cmd_ctx(c);
    *ret_restore = false;
    if (!it->new_dst) {
        it->omitted = 0;
        return true;
    }
    int r = vfs_mkdir(v, &ctx, it->dst_at, it->dst, it->mode & 07777 & ~it->omitted);
    if (r < 0) {
        copy__error(k, r, "cannot create directory", k->dst.p);
        return false;
    }
    r = vfs_stat(v, &ctx, it->dst_at, it->dst, VFS_NOFOLLOW, &it->dstat);
    if (r < 0) {
        copy__error(k, r, "cannot stat", k->dst.p);
        return false;
    }
    *ret_mode = it->dstat.mode;
    if ((it->dstat.mode & S_IRWXU) != S_IRWXU) {
        r = vfs_chmod(v, ctx.cred, it->dstat.ino, (it->dstat.mode & 07777) | S_IRWXU);
        if (r < 0) {
            copy__error(k, r, "setting permissions for", k->dst.p);
            return false;
        }
        *ret_restore = true;
    }
    if (!k->first_dir) {
        copied_to(k, &it->dstat, k->dst.p);
        k->first_dir = true;
    }
    if (k->o.verbose && k->o.move)
        cmd_printf(c, "created directory %s\n", cmd_quote(c, k->dst.p, true));
    else if (k->o.verbose)
        announce(k, "");
    return true;
}

static enum step enter_dir(struct copier *k, struct copy_item *it)
{
    uint32_t mode = 0;
    bool restore;
    if (k->o.deref == COPY_DEREF_ALWAYS && cyclic(k, it)) {
        cmd_err(k->c, "cannot copy cyclic symbolic link %s", cmd_quote(k->c, k->src.p, true));
        return STEP_FAILED;
    }
    if (k->n >= DEPTH_LIMIT) {
        copy__error(k, -ELOOP, "cannot access", k->src.p);
        return STEP_FAILED;
    }
    if (!make_dir(k, it, &mode, &restore))
        return STEP_FAILED;
    if (k->n == k->cap) {
        k->cap = k->cap ? k->cap * 2 : 8;
        k->frames = mem_realloc(k->frames, k->cap * sizeof *k->frames);
    }
    size_t sn = k->src.n, dn = k->dst.n;
    k->frames[k->n++] = (struct copy_frame){
        .it = *it,
        .src_dir = it->sst.ino,
        .dst_dir = it->dstat.ino,
        .src_n = sn > 0 && k->src.p[sn - 1] == '/' ? sn - 1 : sn,
        .dst_n = dn > 0 && k->dst.p[dn - 1] == '/' ? dn - 1 : dn,
        .dst_mode = mode,
        .restore = restore,
        .ok = true,
    };
    return STEP_ENTER;
}

/* ---- a step ---- */

static enum step make(struct copier *k, struct copy_item *it)
{
    bool ok, plain = S_ISREG(it->sst.mode) || (k->o.as_regular && !S_ISLNK(it->sst.mode));
    if (k->o.symbolic_link)
        ok = make_symlink_to_source(k, it);
    else if (k->o.hard_link)
        ok = make_hard_link(k, it);
    else if (plain)
        ok = copy__regular(k, it);
    else if (S_ISLNK(it->sst.mode))
        ok = make_symlink(k, it);
    else
        ok = make_special(k, it);
    if (!ok)
        return STEP_FAILED;
    note_made(k, it);
    if (plain || k->o.hard_link || k->o.symbolic_link)
        return STEP_OK;
    return finish_new(k, it) ? STEP_OK : STEP_FAILED;
}

/* Status of the source, and whether it may be copied at all: false after a message. */
static bool look_at_source(struct copier *k, struct copy_item *it)
{
    struct cmd *c = k->c;
    struct vfs_ctx ctx = cmd_ctx(c);
    bool follow = k->o.deref == COPY_DEREF_ALWAYS || (k->o.deref == COPY_DEREF_ARGS && it->top);
    int r = it->src_at == 0 ? proc_stat(c->p, it->src, follow ? 0 : VFS_NOFOLLOW, &it->sst)
                            : vfs_stat(cmd_vfs(c), &ctx, it->src_at, it->src, follow ? 0 : VFS_NOFOLLOW, &it->sst);
    if (r < 0) {
        copy__error(k, r, "cannot stat", k->src.p);
        return false;
    }
    it->mode = it->sst.mode;
    if (S_ISDIR(it->sst.mode) && !k->o.recursive) {
        cmd_err(c, "-r not specified; omitting directory %s", cmd_quote(c, k->src.p, true));
        return false;
    }
    return true;
}

/* An operand that was given before: true after a message (which is no failure). */
static bool given_before(struct copier *k, const struct copy_item *it)
{
    if (!it->top || S_ISDIR(it->sst.mode))
        return false;
    if (!known(k, &k->seen, it->src, &it->sst, true))
        return false;
    cmd_err(k->c, "warning: source file %s specified more than once", cmd_quote(k->c, k->src.p, true));
    return true;
}

/* An operand must not be written through a link that an earlier one has made. */
static bool through_made_link(struct copier *k, const struct copy_item *it)
{
    struct vfs_ctx ctx = cmd_ctx(k->c);
    struct vfs_stat st;
    if (!it->top || !k->several || k->o.move || vfs_stat(cmd_vfs(k->c), &ctx, 0, it->dst, VFS_NOFOLLOW, &st) < 0 ||
        !S_ISLNK(st.mode) || !known(k, &k->made, it->dst, &st, false))
        return false;
    message2(k, "will not copy ", k->src.p, " through just-created symlink ", k->dst.p);
    return true;
}

static enum step step(struct copier *k, struct copy_item *it, bool new_dst, bool *ret_renamed)
{
    if (!look_at_source(k, it))
        return STEP_FAILED;
    if (given_before(k, it))
        return STEP_OK;
    bool dir = S_ISDIR(it->sst.mode);
    enum step s = STEP_ENTER;
    it->new_dst = new_dst;
    if (!new_dst)
        s = look_at_dest(k, it, ret_renamed);
    if (s != STEP_ENTER)
        return s;
    if (through_made_link(k, it))
        return STEP_FAILED;
    if (k->o.verbose && !k->o.move && !dir)
        announce(k, "");
    s = earlier_copy(k, it);
    if (s == STEP_ENTER && k->o.move)
        s = rename_step(k, it, ret_renamed);
    if (s != STEP_ENTER)
        return s;
    it->omitted = it->mode & (k->o.keep_owner ? S_IRWXG | S_IRWXO : dir ? S_IWGRP | S_IWOTH : 0u);
    return dir ? enter_dir(k, it) : make(k, it);
}

/* ---- the walk ---- */

/* The next entry of the directory on top: 1, 0 at its end, or a negative errno. */
static int next_entry(struct copier *k, struct copy_item *it)
{
    struct cmd *c = k->c;
    struct copy_frame *f = &k->frames[k->n - 1];
    struct vfs_dirent e;
    int r = cmd_poll(c);
    if (r < 0)
        return r;
    bool first = k->src.n <= f->src_n + 1;
    if (first && (r = vfs_access_ino(cmd_vfs(c), &c->p->cred, f->src_dir, R_OK)) < 0)
        return r;
    if (first && k->o.one_fs && k->n > 1 && f->it.sst.dev != k->frames[0].it.sst.dev)
        return 0;
    r = vfs_dir_next(cmd_vfs(c), f->src_dir, first ? STR("") : str_from(buf_str(&k->src), f->src_n + 1), &e);
    if (r <= 0)
        return r;
    buf_trunc(&k->src, f->src_n);
    buf_putc(&k->src, '/');
    buf_adds(&k->src, e.name);
    buf_trunc(&k->dst, f->dst_n);
    buf_putc(&k->dst, '/');
    if (buf_addc(&k->dst, k->src.p + f->src_n + 1) < 0 || k->src.err)
        return -ENAMETOOLONG;
    *it = (struct copy_item){
        .src_at = f->src_dir,
        .dst_at = f->dst_dir,
        .src = str_from(buf_str(&k->src), f->src_n + 1),
        .dst = str_from(buf_str(&k->dst), f->dst_n + 1),
    };
    return 1;
}

/* The directory on top is done: its attributes, and back in the one above. */
static bool leave_dir(struct copier *k)
{
    struct copy_frame f = k->frames[--k->n];
    k->src.err = k->dst.err = 0;
    buf_trunc(&k->src, f.src_n);
    buf_trunc(&k->dst, f.dst_n);
    if (k->src.n == 0)
        buf_putc(&k->src, '/');
    if (k->dst.n == 0)
        buf_putc(&k->dst, '/');
    if (!finish_attributes(k, &f.it, f.dst_dir, f.dst_mode, f.restore))
        f.ok = false;
    if (!f.ok && k->n > 0)
        k->frames[k->n - 1].ok = false;
    return f.ok;
}

static bool walk(struct copier *k)
{
    bool ok = true, renamed;
    while (k->n > 0) {
        struct copy_item it;
        struct arena_mark m = arena_mark(k->c->arena);
        /* Who is being copied into itself would never be done. */
        int r = k->into_self ? 0 : next_entry(k, &it);
        if (r == 1) {
            if (step(k, &it, false, &renamed) == STEP_FAILED)
                k->frames[k->n - 1].ok = false;
        } else {
            if (r < 0 && !k->c->p->must_end) {
                buf_trunc(&k->src, k->frames[k->n - 1].src_n);
                copy__error(k, r, "cannot access", k->src.p);
                k->frames[k->n - 1].ok = false;
            }
            ok = leave_dir(k);
        }
        arena_reset(k->c->arena, m);
        if (k->c->p->must_end)
            return false;
    }
    return ok;
}

bool copy_run(struct copier *k, const char *src, const char *dst, bool new_dst, bool *ret_renamed)
{
    struct copy_item it = {.top = true, .src = str_c(src), .dst = str_c(dst)};
    enum copy_deref deref = k->o.deref;
    bool renamed = false, ok;
    k->top_src = src;
    k->top_dst = dst;
    k->first_dir = k->into_self = false;
    k->n = 0;
    buf_clear(&k->src);
    buf_clear(&k->dst);
    buf_addc(&k->src, src);
    buf_addc(&k->dst, dst);
    enum step s = step(k, &it, new_dst, &renamed);
    ok = s != STEP_FAILED;
    if (s == STEP_ENTER) {
        if (deref == COPY_DEREF_ARGS)
            k->o.deref = COPY_DEREF_NEVER;
        ok = walk(k);
        k->o.deref = deref;
    }
    if (ret_renamed)
        *ret_renamed = renamed || k->into_self;
    return ok;
}
