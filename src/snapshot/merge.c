/* SPDX-License-Identifier: Apache-2.0 */
#include "snapshot/merge.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/num.h"
#include "snapshot/merge_int.h"
#include "snapshot/textdiff.h"
#include "types/errtab.h"
#include "vfs/image.h"

static const struct vfs_cred root_cred;
const struct vfs_ctx merge__ctx = {&root_cred, VFS_ROOT_INO, 0};

int merge__path_cmp(struct str a, struct str b)
{
    size_t n = NUM_MIN(a.n, b.n);
    for (size_t i = 0; i < n; i++) {
        int x = a.p[i] == '/' ? -1 : (uint8_t)a.p[i], y = b.p[i] == '/' ? -1 : (uint8_t)b.p[i];
        if (x != y)
            return x < y ? -1 : 1;
    }
    return a.n < b.n ? -1 : a.n > b.n;
}

int merge__conflict(struct merge *m, enum snapshot_conflict_kind kind, struct str path, const char *what)
{
    if (m->n_conflicts == m->cap_conflicts) {
        size_t cap = m->cap_conflicts ? 2 * m->cap_conflicts : 16;
        struct snapshot_conflict *v = mem_try_realloc(m->conflicts, cap * sizeof(*v));
        if (!v)
            return -ENOMEM;
        m->conflicts = v;
        m->cap_conflicts = cap;
    }
    char *p = arena_try(&m->arena, path.n + 1);
    if (!p)
        return -ENOMEM;
    memcpy(p, path.p, path.n);
    p[path.n] = 0;
    m->conflicts[m->n_conflicts++] = (struct snapshot_conflict){kind, str_of(p, path.n), what};
    return 0;
}

/* ---- what the sides changed ---- */

static int by_path(const void *pa, const void *pb)
{
    const struct merge_entry *a = pa, *b = pb;
    int order = merge__path_cmp(a->path, b->path);
    return order ? order : (int)a->dir - (int)b->dir;
}

/* Puts the change of a side into its entry. A change of type that leaves it a file comes as two. */
static void add_change(struct merge_entry *e, const struct vfs_change *c, enum merge_side side)
{
    e->path = c->path;
    e->dir = S_ISDIR(c->old_st.mode | (c->old_st.mode ? 0 : c->new_st.mode));
    e->changed[side] = true;
    e->content[side] = c->content;
    e->st[MERGE_BASE] = c->old_st;
    e->st[side] = c->new_st;
}

static void join(struct merge_entry *to, const struct merge_entry *e)
{
    if (e->st[MERGE_BASE].mode)
        to->st[MERGE_BASE] = e->st[MERGE_BASE];
    for (int s = MERGE_OURS; s <= MERGE_THEIRS; s++) {
        to->changed[s] |= e->changed[s];
        to->content[s] |= e->content[s];
        if (e->st[s].mode)
            to->st[s] = e->st[s];
    }
}

/* Makes one sorted list of both sides' changes, an entry for each path. */
static int join_sides(struct merge *m, const struct snapshot_changes sides[MERGE_SIDES])
{
    size_t all = sides[MERGE_OURS].n + sides[MERGE_THEIRS].n, n = 0;
    m->v = mem_try_zalloc((all + 1) * sizeof(*m->v));
    if (!m->v)
        return -ENOMEM;
    for (int s = MERGE_OURS; s <= MERGE_THEIRS; s++)
        for (size_t i = 0; i < sides[s].n; i++)
            add_change(&m->v[n++], &sides[s].v[i], (enum merge_side)s);
    qsort(m->v, n, sizeof(*m->v), by_path);
    for (size_t i = 0; i < n; i++) {
        if (m->n > 0 && by_path(&m->v[m->n - 1], &m->v[i]) == 0)
            join(&m->v[m->n - 1], &m->v[i]);
        else
            m->v[m->n++] = m->v[i];
    }
    for (size_t i = 0; i < m->n; i++)
        for (int s = MERGE_OURS; s <= MERGE_THEIRS; s++)
            if (!m->v[i].changed[s])
                m->v[i].st[s] = m->v[i].st[MERGE_BASE];
    return 0;
}

/* ---- deciding ---- */

static uint32_t type(const struct vfs_stat *st)
{
    return st->mode & S_IFMT;
}

/* Of one that was changed by a side and is there still: whether only its time did, or how it is linked. */
static bool only_time(const struct merge_entry *e, enum merge_side side)
{
    const struct vfs_stat *b = &e->st[MERGE_BASE], *s = &e->st[side];
    return !e->content[side] && b->mode == s->mode && b->uid == s->uid && b->gid == s->gid;
}

/* Whether there is a base that the two sides can be compared with. */
static bool has_base(const struct merge_entry *e)
{
    return type(&e->st[MERGE_BASE]) == type(&e->st[MERGE_OURS]);
}

/* The three-way choice of a number; false when both changed it differently. */
static bool pick(bool based, uint32_t base, uint32_t ours, uint32_t theirs, uint32_t *ret)
{
    *ret = based && ours == base ? theirs : ours;
    return ours == theirs || (based && (ours == base || theirs == base));
}

static int mix_status(struct merge *m, struct merge_entry *e)
{
    const struct vfs_stat *b = &e->st[MERGE_BASE], *o = &e->st[MERGE_OURS], *t = &e->st[MERGE_THEIRS];
    bool based = has_base(e);
    e->to = *o;
    bool mode = pick(based, b->mode, o->mode, t->mode, &e->to.mode);
    bool uid = pick(based, b->uid, o->uid, t->uid, &e->to.uid);
    bool gid = pick(based, b->gid, o->gid, t->gid, &e->to.gid);
    if (based && (o->mtime == b->mtime || t->mtime == b->mtime))
        e->to.mtime = o->mtime == b->mtime ? t->mtime : o->mtime;
    else
        e->to.mtime = NUM_MAX(o->mtime, t->mtime);
    if (mode && uid && gid)
        return 0;
    return merge__conflict(m, SNAPSHOT_META, e->path,
                           mode ? "both changed its owner, differently" : "both changed its mode, differently");
}

static int read_side(struct merge *m, const struct merge_entry *e, enum merge_side side, struct buf *out)
{
    buf_init(out, SNAPSHOT_TEXT_MAX);
    if (side == MERGE_BASE && !has_base(e))
        return 0;
    int r = snapshot_read_text(m->tree[side], e->path, out);
    return r == 0 && !textdiff_is_text(buf_str(out)) ? -EILSEQ : r;
}

/* 0, 1 when there is a conflict, or an error. */
static int merge_texts(struct merge *m, struct merge_entry *e)
{
    struct buf side[MERGE_SIDES] = {0};
    BUF_AUTO struct buf out = {0};
    buf_init(&out, 2 * SNAPSHOT_TEXT_MAX);
    int r = 0;
    for (int s = MERGE_BASE; s <= MERGE_THEIRS && r == 0; s++)
        r = read_side(m, e, (enum merge_side)s, &side[s]);
    if (r == 0)
        r = textdiff_merge(buf_str(&side[MERGE_BASE]), buf_str(&side[MERGE_OURS]), buf_str(&side[MERGE_THEIRS]), &out);
    for (int s = MERGE_BASE; s <= MERGE_THEIRS; s++)
        buf_done(&side[s]);
    if (r == 0) {
        e->from = MERGE_BASE;
        e->text.n = out.n;
        e->text.p = buf_take(&out);
        return 0;
    }
    const char *what = r == 1         ? "both changed the same lines, or lines side by side"
                       : r == -EILSEQ ? "both changed it, and it is not text"
                       : r == -EFBIG  ? "both changed it, and it is too large to be merged by lines"
                       : r == -ESTALE ? "both changed it, and what it was is only on the host"
                                      : NULL;
    if (!what)
        return err_set(m->err, r, "%s: %s", e->path.p, errtab_text(r));
    r = merge__conflict(m, SNAPSHOT_CONTENT, e->path, what);
    return r < 0 ? r : 1;
}

/* Whether ours and theirs hold the same: 1, 0 or an error. */
static int same_content(struct merge *m, const struct merge_entry *e)
{
    const struct vfs_stat *o = &e->st[MERGE_OURS], *t = &e->st[MERGE_THEIRS];
    if (!e->content[MERGE_OURS] && !e->content[MERGE_THEIRS] && has_base(e))
        return 1;
    if (o->size != t->size || o->rdev != t->rdev)
        return 0;
    if (!S_ISREG(o->mode) && !S_ISLNK(o->mode))
        return 1;
    struct cas_id x, y;
    int r = vfs_content_id(m->tree[MERGE_OURS], o->ino, &x);
    if (r == 0)
        r = vfs_content_id(m->tree[MERGE_THEIRS], t->ino, &y);
    return r < 0 ? err_set(m->err, r, "%s: %s", e->path.p, errtab_text(r)) : cas_id_cmp(&x, &y) == 0;
}

/* Both changed it and both have it, as the same type. */
static int mix(struct merge *m, struct merge_entry *e)
{
    int r = mix_status(m, e);
    int same = r < 0 || e->dir ? 1 : same_content(m, e);
    if (r < 0 || same < 0)
        return r < 0 ? r : same;
    e->act = MERGE_PLACE;
    e->from = MERGE_OURS;
    if (same)
        return 0;
    if (has_base(e) && !(e->content[MERGE_OURS] && e->content[MERGE_THEIRS]))
        e->from = e->content[MERGE_THEIRS] ? MERGE_THEIRS : MERGE_OURS;
    else if (S_ISREG(e->to.mode))
        r = merge_texts(m, e);
    else
        r = merge__conflict(m, SNAPSHOT_CONTENT, e->path,
                            S_ISLNK(e->to.mode) ? "both changed its target, differently"
                                                : "both changed its device number, differently");
    return r < 0 ? r : 0;
}

static int decide(struct merge *m, struct merge_entry *e)
{
    const struct vfs_stat *b = &e->st[MERGE_BASE], *o = &e->st[MERGE_OURS], *t = &e->st[MERGE_THEIRS];
    bool touched = false; /* by ours, which has another type than theirs */
    if (!e->changed[MERGE_THEIRS] || (!o->mode && !t->mode))
        return 0;
    if (e->changed[MERGE_OURS] && o->mode && t->mode) {
        if (type(o) == type(t))
            return mix(m, e);
        if (type(b) == type(t) && only_time(e, MERGE_THEIRS))
            return 0;
        touched = type(b) == type(o) && only_time(e, MERGE_OURS);
        if (!touched)
            return merge__conflict(m, SNAPSHOT_TYPES, e->path, "both made something of it, of different types");
    }
    /* What a conflict leaves is placed too, so that what it is in the way of shows. */
    bool both = e->changed[MERGE_OURS] && !touched;
    bool kept = both && (t->mode ? !only_time(e, MERGE_THEIRS) : !only_time(e, MERGE_OURS));
    e->from = MERGE_THEIRS;
    e->to = *t;
    if (t->mode ? !both || kept : !kept)
        e->act = t->mode ? MERGE_PLACE : MERGE_REMOVE;
    return kept ? merge__conflict(m, SNAPSHOT_REMOVED, e->path,
                                  t->mode ? "removed here, changed there" : "changed here, removed there")
                : 0;
}

/* ---- the whole ---- */

static int by_place(const void *pa, const void *pb)
{
    const struct snapshot_conflict *a = pa, *b = pb;
    int order = merge__path_cmp(a->path, b->path);
    return order ? order : (int)a->kind - (int)b->kind;
}

static void tell(struct merge *m, void (*conflict)(void *arg, const struct snapshot_conflict *c), void *arg)
{
    qsort(m->conflicts, m->n_conflicts, sizeof(*m->conflicts), by_place);
    for (size_t i = 0; conflict && i < m->n_conflicts; i++)
        if (i == 0 || !str_eq(m->conflicts[i].path, m->conflicts[i - 1].path))
            conflict(arg, &m->conflicts[i]);
}

static int run(struct merge *m, struct snapshot_changes sides[MERGE_SIDES])
{
    int r = 0;
    for (int s = MERGE_OURS; s <= MERGE_THEIRS && r == 0; s++) {
        r = snapshot_changes_get(m->tree[MERGE_BASE], m->tree[s], NULL, 0, &sides[s]);
        if (r)
            return err_set(m->err, r, "the trees cannot be compared: %s", errtab_text(r));
    }
    r = join_sides(m, sides);
    for (size_t i = 0; i < m->n && r == 0; i++)
        r = decide(m, &m->v[i]);
    m->out = r == 0 ? vfs_fork(m->tree[MERGE_OURS]) : NULL;
    if (r == 0)
        r = m->out ? merge__apply(m) : -ENOMEM;
    return r;
}

int snapshot_merge(struct vfs *base, struct vfs *ours, struct vfs *theirs,
                   void (*conflict)(void *arg, const struct snapshot_conflict *c), void *arg, struct vfs **ret,
                   struct err *err)
{
    struct err unused;
    struct merge m = {.tree = {base, ours, theirs}, .err = err ? err : &unused};
    struct snapshot_changes sides[MERGE_SIDES] = {0};
    m.err->code = 0;
    int r = run(&m, sides);
    if (r < 0 && m.err->code == 0)
        err_set(m.err, r, "%s", errtab_text(r));
    if (r == 0 && m.n_conflicts > 0) {
        tell(&m, conflict, arg);
        r = 1;
    }
    if (r == 0)
        *ret = m.out;
    else
        vfs_free(m.out);
    for (size_t i = 0; i < m.n; i++)
        mem_free((void *)(uintptr_t)m.v[i].text.p);
    mem_free(m.v);
    mem_free(m.conflicts);
    map_done(&m.names);
    arena_done(&m.arena);
    for (int s = MERGE_OURS; s <= MERGE_THEIRS; s++)
        snapshot_changes_done(&sides[s]);
    return r;
}
