/* SPDX-License-Identifier: Apache-2.0 */
#include "vfs/vfs_int.h"

#include <errno.h>

#include "base/assert.h"

/*
 * Pages grow by doubling from 72 bytes of body to DPAGE_MAX and then split, so a small directory takes 128 bytes. On
 * the way down an inner page that could not take one more name of any length is split first: so a split never has to
 * be carried upwards, and a failed allocation leaves a tree with the same names.
 */

#define SLOT ((unsigned)sizeof(struct dslot))
#define PAGE_HEAD ((unsigned)sizeof(struct dpage) + 8) /* and malloc's own */
/* No guest can get there: each level takes at least three times the insertions of the one below. */
#define MAX_LEVELS 32

static const struct str lowest = {"", 0};

static char *body_end(const struct dpage *p)
{
    return (char *)(uintptr_t)p->slot + p->cap;
}

struct str vfs__dslot_name(const struct dpage *p, const struct dslot *s)
{
    return str_of(body_end(p) - s->off, s->len);
}

static unsigned room(const struct dpage *p)
{
    return p->cap - p->n * SLOT - p->heap;
}

static uint32_t head_of(struct str name)
{
    uint32_t h = 0;
    for (unsigned i = 0; i < 4; i++)
        h = h << 8 | (i < name.n ? (uint8_t)name.p[i] : 0);
    return h;
}

/* Orders a slot's name against @name. Names hold no NUL, so equal heads mean equal first four bytes and ends. */
static int slot_cmp(const struct dpage *p, const struct dslot *s, struct str name, uint32_t head)
{
    if (s->head != head)
        return s->head < head ? -1 : 1;
    size_t n = s->len < name.n ? s->len : name.n;
    if (n > 4) {
        int rc = memcmp(body_end(p) - s->off + 4, name.p + 4, n - 4);
        if (rc)
            return rc;
    }
    return s->len < name.n ? -1 : s->len > name.n;
}

/* First slot of @p at or after @name; *ret_equal tells which. */
static unsigned lower_bound(const struct dpage *p, struct str name, bool *ret_equal)
{
    uint32_t head = head_of(name);
    unsigned lo = 0, hi = p->n;
    *ret_equal = false;
    while (lo < hi) {
        unsigned mid = (lo + hi) / 2;
        int rc = slot_cmp(p, &p->slot[mid], name, head);
        if (rc == 0) {
            *ret_equal = true;
            return mid;
        }
        if (rc < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* The child of an inner page that @name belongs to. */
static unsigned child_of(const struct dpage *p, struct str name)
{
    bool equal;
    unsigned i = lower_bound(p, name, &equal);
    return equal || i == 0 ? i : i - 1;
}

/* Child @i of an inner page, loaded; NULL when it cannot be had. */
static struct dpage *down(const struct dpage *p, unsigned i)
{
    struct dpage *c = p->slot[i].u.child;
    return c->absent ? vfs__dpage_load((struct dpage **)(uintptr_t)&p->slot[i].u.child) : c;
}

struct dslot *vfs__dir_find(const struct dpage *p, struct str name)
{
    if (!p)
        return NULL;
    while (p->level > 0) {
        p = down(p, child_of(p, name));
        if (!p)
            return NULL;
    }
    bool equal;
    unsigned i = lower_bound(p, name, &equal);
    return equal ? (struct dslot *)(uintptr_t)&p->slot[i] : NULL;
}

struct dslot *vfs__dir_after(const struct dpage *p, struct str name, const struct dpage **ret_page)
{
    if (!p)
        return NULL;
    const struct dpage *next = NULL; /* what leads to the subtree that follows the one we are in: its child next_i */
    unsigned next_i = 0;
    while (p->level > 0) {
        unsigned c = child_of(p, name);
        if (c + 1u < p->n) {
            next = p;
            next_i = c + 1;
        }
        p = down(p, c);
        if (!p)
            return NULL;
    }
    bool equal;
    unsigned i = lower_bound(p, name, &equal) + equal;
    if (i >= p->n) {
        if (!next)
            return NULL;
        for (p = down(next, next_i); p && p->level > 0;)
            p = down(p, 0);
        if (!p)
            return NULL;
        i = 0;
    }
    *ret_page = p;
    return (struct dslot *)(uintptr_t)&p->slot[i];
}

/* ---- pages ---- */

/* The smallest body of the series that holds @need bytes. */
static unsigned body_for(unsigned need)
{
    unsigned total = 128;
    while (total - PAGE_HEAD < need)
        total *= 2;
    return total - PAGE_HEAD;
}

static struct dpage *page_new(unsigned level, unsigned cap)
{
    struct dpage *p = vfs__alloc(sizeof(*p) + cap);
    if (!p)
        return NULL;
    *p = (struct dpage){.refs = 1, .cap = (uint16_t)cap, .level = (uint8_t)level};
    return p;
}

/* A page of @cap bytes with the same slots as @p; children are not counted. */
static struct dpage *page_move(const struct dpage *p, unsigned cap)
{
    struct dpage *to = page_new(p->level, cap);
    if (!to)
        return NULL;
    to->n = p->n;
    to->heap = p->heap;
    memcpy(to->slot, p->slot, p->n * SLOT);
    memcpy(body_end(to) - to->heap, body_end(p) - p->heap, p->heap);
    return to;
}

/* Makes the page at @link one's own, with room for @need more bytes if a page can have that. NULL: no memory. */
static struct dpage *own(struct dpage **link, unsigned need)
{
    struct dpage *p = *link;
    if (p->absent)
        p = vfs__dpage_load(link);
    if (!p)
        return NULL;
    unsigned cap = p->cap;
    if (room(p) < need && cap < DPAGE_MAX) {
        unsigned want = cap - room(p) + need;
        cap = want >= DPAGE_MAX ? DPAGE_MAX : body_for(want);
    }
    if (p->refs == 1 && cap == p->cap) {
        p->stored = false;
        return p;
    }
    struct dpage *to = page_move(p, cap);
    if (!to)
        return NULL;
    if (p->refs == 1) {
        vfs__free(p);
    } else {
        for (unsigned i = 0; p->level > 0 && i < p->n; i++)
            p->slot[i].u.child->refs++;
        p->refs--;
    }
    *link = to;
    return to;
}

struct dpage *vfs__dpage_new(unsigned level, unsigned need)
{
    return page_new(level, need >= DPAGE_MAX - PAGE_HEAD ? DPAGE_MAX : body_for(need));
}

/* Puts a slot at @i of a page that has the room. */
static void slot_insert(struct dpage *p, unsigned i, struct str name, struct dslot s)
{
    ASSERT(room(p) >= SLOT + name.n);
    memmove(&p->slot[i + 1], &p->slot[i], (p->n - i) * SLOT);
    p->heap = (uint16_t)(p->heap + name.n);
    s.head = head_of(name);
    s.off = p->heap;
    s.len = (uint8_t)name.n;
    if (name.n)
        memcpy(body_end(p) - p->heap, name.p, name.n);
    p->slot[i] = s;
    p->n++;
}

void vfs__dpage_append(struct dpage *p, struct str name, struct dslot s)
{
    slot_insert(p, p->n, name, s);
}

/* Removes slot @i and closes the gap among the names. */
static void slot_remove(struct dpage *p, unsigned i)
{
    unsigned off = p->slot[i].off;
    unsigned len = p->slot[i].len;
    char *low = body_end(p) - p->heap;
    memmove(low + len, low, p->heap - off);
    p->heap = (uint16_t)(p->heap - len);
    p->n--;
    memmove(&p->slot[i], &p->slot[i + 1], (p->n - i) * SLOT);
    for (unsigned j = 0; len > 0 && j < p->n; j++) {
        if (p->slot[j].off > off)
            p->slot[j].off = (uint16_t)(p->slot[j].off - len);
    }
}

/* Where to cut a full page: in the middle of its bytes, or before the last slot when names come in ascending order. */
static unsigned cut_point(const struct dpage *p, struct str name, bool last)
{
    if (last && slot_cmp(p, &p->slot[p->n - 1], name, head_of(name)) < 0)
        return p->n - 1u;
    unsigned half = (p->n * SLOT + p->heap) / 2, sum = 0, i = 0;
    while (i + 1u < p->n && sum < half)
        sum += SLOT + p->slot[i++].len;
    return i;
}

/* Splits child @i of @parent, both owned, the parent with room for a name. */
static int split_child(struct dpage *parent, unsigned i, struct str name)
{
    struct dpage *left = parent->slot[i].u.child;
    unsigned cut = cut_point(left, name, i + 1u == parent->n);
    struct dpage *right = page_new(left->level, DPAGE_MAX);
    if (!right)
        return -ENOMEM;
    for (unsigned j = cut; j < left->n; j++)
        slot_insert(right, right->n, vfs__dslot_name(left, &left->slot[j]), left->slot[j]);
    while (left->n > cut)
        slot_remove(left, left->n - 1u);
    slot_insert(parent, i + 1, vfs__dslot_name(right, &right->slot[0]), (struct dslot){.u.child = right});
    return 0;
}

/* ---- inserting ---- */

/* Bytes a page must have free before we go on below or put into it. */
static unsigned need_of(const struct dpage *p, struct str name)
{
    return SLOT + (p->level > 0 ? LIMIT_NAME : (unsigned)name.n);
}

/* A full root becomes the only child of a new one. */
static int raise_root(struct dpage **root)
{
    struct dpage *up = page_new((*root)->level + 1u, body_for(2 * SLOT + LIMIT_NAME));
    if (!up)
        return -ENOMEM;
    slot_insert(up, 0, lowest, (struct dslot){.u.child = *root});
    *root = up;
    return 0;
}

int vfs__dir_reserve(struct dpage **root, struct str name)
{
    if (!*root) {
        *root = page_new(0, body_for(SLOT + (unsigned)name.n));
        return *root ? 0 : -ENOMEM;
    }
    if (vfs__dpage_need(root) < 0 || !own(root, need_of(*root, name)))
        return -ENOMEM;
    if (room(*root) < need_of(*root, name) && raise_root(root) < 0)
        return -ENOMEM;
    struct dpage *p = *root;
    while (p->level > 0) {
        unsigned i = child_of(p, name);
        struct dpage *c = down(p, i);
        c = c ? own(&p->slot[i].u.child, need_of(c, name)) : NULL;
        if (!c)
            return -ENOMEM;
        if (room(c) < need_of(c, name)) {
            if (split_child(p, i, name) < 0)
                return -ENOMEM;
            continue; /* either half now has room */
        }
        p = c;
    }
    return 0;
}

void vfs__dir_put(struct dpage **root, struct str name, uint64_t ino, uint8_t type)
{
    struct dpage *p = *root;
    while (p->level > 0)
        p = p->slot[child_of(p, name)].u.child;
    bool equal;
    unsigned i = lower_bound(p, name, &equal);
    ASSERT(p->refs == 1 && !equal);
    slot_insert(p, i, name, (struct dslot){.u.ino = ino, .type = type});
}

/* ---- removing ---- */

int vfs__dir_own(struct dpage **root, struct str name)
{
    struct dpage **link = root;
    for (;;) {
        struct dpage *p = own(link, 0);
        if (!p)
            return -ENOMEM;
        if (p->level == 0)
            return 0;
        link = &p->slot[child_of(p, name)].u.child;
    }
}

/* Joins children @i and @i + 1 of @p when one page easily holds both. It is a courtesy: without memory it stays undone.
 */
static void join(struct dpage *p, unsigned i)
{
    struct dpage *right = down(p, i + 1);
    if (!right || !down(p, i))
        return;
    unsigned used_right = right->n * SLOT + right->heap;
    struct dpage *left = p->slot[i].u.child;
    unsigned used_left = left->n * SLOT + left->heap;
    if (used_left + used_right + LIMIT_NAME > DPAGE_MAX * 3 / 4)
        return;
    left = own(&p->slot[i].u.child, used_right + LIMIT_NAME);
    if (!left)
        return;
    for (unsigned j = 0; j < right->n; j++) {
        struct str name = vfs__dslot_name(right, &right->slot[j]);
        if (j == 0 && right->level > 0)
            name = vfs__dslot_name(p, &p->slot[i + 1]); /* the true bound of the first child */
        if (right->level > 0)
            right->slot[j].u.child->refs++;
        slot_insert(left, left->n, name, right->slot[j]);
    }
    vfs__dir_unref(right);
    slot_remove(p, i + 1);
}

/* After a removal below: drops an empty child, joins a sparse one. Levels from the leaf up. */
static void tidy(struct dpage **path[], unsigned at[], unsigned depth)
{
    for (unsigned d = depth; d > 0; d--) {
        struct dpage *c = *path[d];
        struct dpage *p = *path[d - 1];
        unsigned i = at[d - 1];
        if (c->n == 0) {
            vfs__free(c);
            slot_remove(p, i);
        } else if ((c->n * SLOT + c->heap) * 4 < DPAGE_MAX && p->n > 1) {
            join(p, i + 1u < p->n ? i : i - 1);
        } else {
            return;
        }
    }
}

void vfs__dir_del(struct dpage **root, struct str name)
{
    struct dpage **path[MAX_LEVELS];
    unsigned at[MAX_LEVELS];
    unsigned depth = 0;
    path[0] = root;
    while ((*path[depth])->level > 0) {
        struct dpage *p = *path[depth];
        at[depth] = child_of(p, name);
        ASSERT(depth + 1 < MAX_LEVELS);
        path[depth + 1] = &p->slot[at[depth]].u.child;
        depth++;
    }
    bool equal;
    unsigned i = lower_bound(*path[depth], name, &equal);
    ASSERT(equal && (*path[depth])->refs == 1);
    slot_remove(*path[depth], i);
    tidy(path, at, depth);
    while ((*root)->level > 0 && (*root)->n == 1) {
        struct dpage *old = *root;
        *root = old->slot[0].u.child;
        vfs__free(old);
    }
    if (!(*root)->absent && (*root)->n == 0) {
        vfs__free(*root);
        *root = NULL;
    }
}

void vfs__dir_unref(struct dpage *p)
{
    if (!p || --p->refs > 0)
        return;
    if (p->absent)
        vfs__library_unref(((struct absent *)p->slot)->lib);
    for (unsigned i = 0; !p->absent && p->level > 0 && i < p->n; i++)
        vfs__dir_unref(p->slot[i].u.child);
    vfs__free(p);
}

/* ---- looking ---- */

int vfs__dir_walk(const struct dpage *p, int (*fn)(void *arg, const struct dpage *p, const struct dslot *s), void *arg)
{
    for (unsigned i = 0; p && i < p->n; i++) {
        const struct dpage *c = p->level > 0 ? down(p, i) : NULL;
        int rc = p->level == 0 ? fn(arg, p, &p->slot[i]) : c ? vfs__dir_walk(c, fn, arg) : vfs__absent(-EIO);
        if (rc)
            return rc;
    }
    return 0;
}

bool vfs__dir_name_of(const struct dpage *p, uint64_t ino, struct str *ret)
{
    for (unsigned i = 0; p && i < p->n; i++) {
        if (p->level > 0) {
            if (vfs__dir_name_of(down(p, i), ino, ret))
                return true;
        } else if (p->slot[i].u.ino == ino) {
            *ret = vfs__dslot_name(p, &p->slot[i]);
            return true;
        }
    }
    return false;
}

/* @lo and @hi bound the names of this page: lo <= name < hi; an empty hi is no bound. */
static int check_page(const struct dpage *p, struct str lo, struct str hi, bool alone)
{
    if (p->n == 0 || p->n * SLOT + p->heap > p->cap || p->cap > DPAGE_MAX || (alone && p->refs != 1))
        return -EUCLEAN;
    unsigned heap = 0;
    for (unsigned i = 0; i < p->n; i++) {
        struct str name = vfs__dslot_name(p, &p->slot[i]);
        struct str next = i + 1u < p->n ? vfs__dslot_name(p, &p->slot[i + 1]) : hi;
        heap += p->slot[i].len;
        if (p->slot[i].head != head_of(name) || p->slot[i].off > p->heap || p->slot[i].off < p->slot[i].len)
            return -EUCLEAN;
        if (p->level > 0 && i == 0)
            name = lo;
        if (str_cmp(name, lo) < 0 || (next.n && str_cmp(name, next) >= 0))
            return -EUCLEAN;
        if (p->level > 0) {
            const struct dpage *c = down(p, i);
            if (!c || c->level + 1 != p->level || check_page(c, name, next, alone) < 0)
                return -EUCLEAN;
        }
    }
    return heap == p->heap ? 0 : -EUCLEAN;
}

int vfs__dir_check(const struct dpage *p, bool alone)
{
    /* An empty page is what a reservation leaves that came to nothing. */
    if (!p || (p->n == 0 && p->level == 0))
        return 0;
    return check_page(p, lowest, lowest, alone);
}
