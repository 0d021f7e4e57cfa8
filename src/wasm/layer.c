/* SPDX-License-Identifier: Apache-2.0 */
#include "wasm/layer.h"

#include <endian.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/mem.h"
#include "types/errtab.h"
#include "types/limits.h"
#include "vfs/vfs.h"

#define LAYER_KIND 1 /* of its provider; 0 is /proc */
#define HEAD 16
static const char magic[8] = "FSLAYER\1";

/* As in the file. */
struct entry {
    uint32_t parent, mode, name, name_n;
    uint64_t data, data_n;
    uint32_t first, children;
};

struct layer {
    const char *p; /* the whole file */
    size_t n;
    const struct entry *entries;
    const char *names;
    uint32_t count, names_n;
};

/* Empty when it would not lie among the names. */
static struct str name_of(const struct layer *l, const struct entry *e)
{
    uint32_t name = le32toh(e->name), n = le32toh(e->name_n);
    return name <= l->names_n && n <= l->names_n - name ? str_of(l->names + name, n) : STR("");
}

/* One entry, its name and its place among its neighbours. */
static bool entry_good(const struct layer *l, uint32_t i)
{
    const struct entry *e = &l->entries[i];
    uint32_t parent = le32toh(e->parent), mode = le32toh(e->mode);
    uint64_t data = le64toh(e->data), data_n = le64toh(e->data_n);
    uint32_t first = le32toh(e->first), children = le32toh(e->children);
    if (data > l->n || data_n > l->n - data)
        return false;
    if (!S_ISDIR(mode) && !S_ISREG(mode) && !S_ISLNK(mode))
        return false;
    if (children && (!S_ISDIR(mode) || first <= i || first > l->count || children > l->count - first))
        return false;
    if (i == 0)
        return S_ISDIR(mode) && parent == 0;
    struct str s = name_of(l, e);
    if (parent >= i || s.n == 0 || s.n > LIMIT_NAME || memchr(s.p, '/', s.n) || memchr(s.p, 0, s.n))
        return false;
    const struct entry *up = &l->entries[parent];
    uint32_t from = le32toh(up->first);
    if (i < from || i - from >= le32toh(up->children))
        return false;
    return i == from || str_cmp(name_of(l, e - 1), s) < 0;
}

/* Entry @i, or NULL when it is damaged. */
static const struct entry *entry_at(const struct layer *l, uint64_t i)
{
    return i < l->count && entry_good(l, (uint32_t)i) ? &l->entries[i] : NULL;
}

static bool layer_good(struct layer *l)
{
    if (l->n < HEAD || memcmp(l->p, magic, sizeof magic) != 0)
        return false;
    uint32_t head[2];
    memcpy(head, l->p + sizeof magic, sizeof head);
    uint64_t entries = le32toh(head[0]), names = le32toh(head[1]);
    if (entries == 0 || entries > LIMIT_LAYER_ENTRIES || HEAD + entries * sizeof(struct entry) + names > l->n)
        return false;
    l->count = (uint32_t)entries;
    l->names_n = (uint32_t)names;
    l->entries = (const struct entry *)(const void *)(l->p + HEAD); /* a mapping is aligned, and HEAD keeps it so */
    l->names = l->p + HEAD + entries * sizeof(struct entry);
    return entry_good(l, 0);
}

int layer_open(int fd, struct layer **ret, struct err *err)
{
    FD_AUTO int f = fd;
    struct stat st;
    if (fstat(f, &st))
        return err_set(err, -errno, "the userland's layer: %s", errtab_text(errno));
    if (!S_ISREG(st.st_mode) || st.st_size < HEAD || (uint64_t)st.st_size > LIMIT_LAYER)
        return err_set(err, -EBADMSG, "the userland's layer is none (%lld bytes): build the userland again",
                       (long long)st.st_size);
    struct layer l = {.n = (size_t)st.st_size};
    void *p = mmap(NULL, l.n, PROT_READ, MAP_PRIVATE, f, 0);
    if (p == MAP_FAILED)
        return err_set(err, -errno, "the userland's layer: %s", errtab_text(errno));
    l.p = p;
    if (!layer_good(&l)) {
        munmap(p, l.n);
        return err_set(err, -EBADMSG, "the userland's layer is damaged: build the userland again");
    }
    struct mem_account *acc = mem_use(NULL); /* of no session */
    *ret = mem_alloc(sizeof l);
    mem_use(acc);
    **ret = l;
    return 0;
}

void layer_close(struct layer *l)
{
    if (!l)
        return;
    munmap((void *)(uintptr_t)l->p, l->n);
    mem_free(l);
}

/* ---- the provider; a node's id is its entry's number and one ---- */

/* The number of the first child whose name is not before @name, or of what follows the last. */
static uint32_t child_from(const struct layer *l, const struct entry *dir, struct str name)
{
    uint32_t lo = le32toh(dir->first), hi = lo + le32toh(dir->children);
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (str_cmp(name_of(l, &l->entries[mid]), name) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* What entry @i is. */
static int give(const struct layer *l, uint32_t i, uint64_t *ret_id, uint32_t *ret_mode)
{
    const struct entry *e = entry_at(l, i);
    if (!e)
        return -EIO;
    *ret_id = (uint64_t)i + 1;
    *ret_mode = le32toh(e->mode);
    return 0;
}

static int lookup(void *arg, uint64_t id, struct str name, uint64_t *ret_id, uint32_t *ret_mode)
{
    const struct layer *l = arg;
    const struct entry *dir = entry_at(l, id - 1);
    if (!dir)
        return -EIO;
    if (str_eq(name, STR("..")))
        return give(l, le32toh(dir->parent), ret_id, ret_mode);
    uint32_t i = child_from(l, dir, name);
    if (i >= le32toh(dir->first) + le32toh(dir->children) || !str_eq(name_of(l, &l->entries[i]), name))
        return -ENOENT;
    return give(l, i, ret_id, ret_mode);
}

static int next(void *arg, uint64_t id, struct str after, char *name, uint64_t *ret_id, uint32_t *ret_mode)
{
    const struct layer *l = arg;
    const struct entry *dir = entry_at(l, id - 1);
    if (!dir)
        return -EIO;
    uint32_t end = le32toh(dir->first) + le32toh(dir->children), i = child_from(l, dir, after);
    if (i < end && str_eq(name_of(l, &l->entries[i]), after))
        i++;
    if (i >= end)
        return 0;
    int r = give(l, i, ret_id, ret_mode);
    if (r < 0)
        return r;
    struct str s = name_of(l, &l->entries[i]);
    memcpy(name, s.p, s.n);
    name[s.n] = 0;
    return 1;
}

static int bytes(void *arg, uint64_t id, struct str *ret)
{
    const struct layer *l = arg;
    const struct entry *e = entry_at(l, id - 1);
    if (!e)
        return -EIO;
    if (S_ISDIR(le32toh(e->mode)))
        return -EISDIR;
    *ret = str_of(l->p + le64toh(e->data), (size_t)le64toh(e->data_n));
    return 0;
}

static int read_node(void *arg, uint64_t id, struct buf *out)
{
    struct str s;
    int r = bytes(arg, id, &s);
    return r ? r : buf_adds(out, s);
}

static void owner(void *arg, uint64_t id, uint32_t *ret_uid, uint32_t *ret_gid)
{
    (void)arg;
    (void)id;
    *ret_uid = *ret_gid = 0;
}

const struct vfs_provider layer_provider = {
    .kind = LAYER_KIND, .lookup = lookup, .next = next, .read = read_node, .bytes = bytes, .owner = owner};
