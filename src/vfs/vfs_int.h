/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * vfs_int - what the files of the module share. docs/internals/vfs.md draws these structures.
 *
 * Counted objects (struct radix, node, page, filemap, dpage, links, origin, host) begin with their reference count,
 * so that a copy of a page of pointers can count its children without knowing what they are. An object may be changed
 * in place when its count is 1 and so is that of everything above it on the way from the tree; the *_own() and
 * vfs__edit() functions make that true by copying, which changes nothing anybody can see. So each operation first
 * owns and reserves whatever it will touch, where it may still fail, and then commits by steps that cannot.
 *
 * Memory of trees is charged to no account (it is shared by the sessions of a worker): vfs__alloc() and vfs__free().
 */

#include "cas/store.h"
#include "vfs/vfs.h"

#include <errno.h>
#include <limits.h>

/* ---- lazy.c: pages that are in the store and were not looked at yet ---- */

/*
 * A radix page, a directory page or a content page may be absent: its struct is there with a reference count and its
 * name in the store, but instead of its body it has a struct absent. Whoever goes down to such a page loads it first,
 * which puts the whole page into the slot that led to it: a change that nobody can see, so it is made in shared pages
 * too. A page whose id is valid (stored) is in the store as it is; changing it in place clears that.
 *
 * A page that cannot be loaded is not there for the caller (NULL), and vfs__absent() turns the error that follows from
 * that into the store's, so that it is an I/O error of this path only.
 */
struct library {
    uint32_t refs;
    uint32_t n_mounts; /* of the tree that was loaded: what a node may refer to */
    struct cas *store; /* borrowed: outlives the trees loaded from it */
};

struct absent {
    struct library *lib; /* counted */
};

/* The error of the last load that failed on this thread; 0: none since vfs__absent(). */
extern _Thread_local int vfs__load_error;

/* The error to give when something was not found: that of a load which failed, else @otherwise. */
static inline int vfs__absent(int otherwise)
{
    int rc = vfs__load_error;
    vfs__load_error = 0;
    return rc ? rc : otherwise;
}

/* Drops one reference. */
void vfs__library_unref(struct library *lib);

#define RADIX_BITS 5
#define RADIX_WIDTH 32u

/* ---- radix.c: a persistent table from number to counted object ---- */

struct radix {
    uint32_t refs;
    uint8_t level;   /* 0: slots are objects; else pages of one level less */
    uint8_t n;       /* slots in use */
    uint8_t kind;    /* enum radix_kind: what the objects are */
    bool stored : 1; /* @id is valid */
    bool absent : 1; /* the body is a struct absent */
    struct cas_id id;
    void *slot[RADIX_WIDTH];
};

enum radix_kind { RADIX_NODES, RADIX_PAGES, RADIX_HASHES };

/* Loads the absent page at @link into its place: NULL when it cannot be had. */
struct radix *vfs__radix_load(struct radix **link);

/* True when @key lies within what a root of this height reaches. */
static inline bool vfs__radix_covers(const struct radix *r, uint64_t key)
{
    unsigned bits = (r->level + 1u) * RADIX_BITS;
    return bits >= 64 || key >> bits == 0;
}

/* The object of @key, borrowed, or NULL. */
static inline void *vfs__radix_get(const struct radix *r, uint64_t key)
{
    if (!r || !vfs__radix_covers(r, key))
        return NULL;
    for (unsigned l = r->level; l > 0; l--) {
        void *const *slot = &r->slot[(key >> (l * RADIX_BITS)) & (RADIX_WIDTH - 1)];
        r = *slot;
        if (r && r->absent)
            r = vfs__radix_load((struct radix **)(uintptr_t)slot);
        if (!r)
            return NULL;
    }
    return r->slot[key & (RADIX_WIDTH - 1)];
}

/* Makes and owns the path to @key, in a table of @kind: after it vfs__radix_put() cannot fail. 0 or -ENOMEM; nothing
 * visible changes. */
int vfs__radix_reserve(struct radix **root, uint8_t kind, uint64_t key) __attribute__((warn_unused_result));

/* Owns the path to @key as far as it exists. 0 or -ENOMEM. */
int vfs__radix_own(struct radix **root, uint64_t key) __attribute__((warn_unused_result));

/* The slot of @key in a reserved or owned path; NULL when there is none. */
void **vfs__radix_slot(struct radix *root, uint64_t key);

/* Puts @obj (takes its reference) at @key of a reserved path; returns what was there, whose reference goes to the
 * caller. */
void *vfs__radix_put(struct radix *root, uint64_t key, void *obj);

/* Takes the object of @key out of an owned path and gives back pages that became empty. */
void *vfs__radix_take(struct radix **root, uint64_t key);

/* Drops every object at or above @from; the path to @from must be owned. */
void vfs__radix_trim(struct radix **root, uint64_t from, void (*drop)(void *obj));

/* Drops one reference of a root (may be NULL). */
void vfs__radix_unref(struct radix *r, void (*drop)(void *obj));

/* Calls @fn for each object at or above @from, in order of keys, until it returns non-zero; returns that, 0, or an
 * error of the store. */
int vfs__radix_each(const struct radix *r, uint64_t from, int (*fn)(void *arg, uint64_t key, void *obj), void *arg);

/* Calls @fn for each key whose objects differ between @a and @b; shared pages are skipped. As vfs__radix_each(). */
int vfs__radix_diff(struct radix *const *a, struct radix *const *b,
                    int (*fn)(void *arg, uint64_t key, void *obj_a, void *obj_b), void *arg);

/* ---- dir.c: a persistent sorted tree of names ---- */

#define DPAGE_MAX 1992u /* bytes of a full page's body: with its head and malloc's it fills 2 KiB */

struct dpage;

struct dslot {
    union {
        uint64_t ino;        /* leaf */
        struct dpage *child; /* inner page */
    } u;
    uint32_t head; /* first four bytes of the name, big endian, zero padded: most comparisons end here */
    uint16_t off;  /* where the name starts, counted back from the end of the body */
    uint8_t len;   /* bytes of the name */
    uint8_t type;  /* S_IFMT bits >> 12 */
};

struct dpage {
    uint32_t refs;
    uint16_t n;    /* slots, at the start of the body, in byte order of names */
    uint16_t heap; /* bytes of names, at its end */
    uint16_t cap;  /* bytes of the body */
    uint8_t
        level; /* 0: leaf. In an inner page a slot's name is the lower bound of its child, the first one's is ignored */
    bool stored : 1; /* @id is valid */
    bool absent : 1; /* the body is a struct absent */
    struct cas_id id;
    struct dslot slot[];
};

/* Loads the absent page at @link into its place: NULL when it cannot be had. */
struct dpage *vfs__dpage_load(struct dpage **link);

/* The page at @link, which may be NULL, loaded: -EIO and the like when it cannot be had. */
static inline int vfs__dpage_need(struct dpage **link)
{
    return !*link || !(*link)->absent || vfs__dpage_load(link) ? 0 : vfs__absent(-EIO);
}

/* An empty page with room for @need bytes of slots and names; NULL: no memory. */
struct dpage *vfs__dpage_new(unsigned level, unsigned need);
/* Appends a slot whose name comes after all others; the room is there. */
void vfs__dpage_append(struct dpage *p, struct str name, struct dslot s);

/* The slot of @name, or NULL. */
struct dslot *vfs__dir_find(const struct dpage *root, struct str name);

/* The first slot after @name in byte order, or NULL; *ret_page is the page it lies in. */
struct dslot *vfs__dir_after(const struct dpage *root, struct str name, const struct dpage **ret_page);

/* Name of a slot of @p, borrowed from the page. */
struct str vfs__dslot_name(const struct dpage *p, const struct dslot *s);

/* Owns the path to @name and makes room for it: the next vfs__dir_put() of it cannot fail. 0 or -ENOMEM. */
int vfs__dir_reserve(struct dpage **root, struct str name) __attribute__((warn_unused_result));

/* Puts a new name into the room that the last vfs__dir_reserve() made. */
void vfs__dir_put(struct dpage **root, struct str name, uint64_t ino, uint8_t type);

/* Owns the path to an existing name: vfs__dir_del() and changes of its slot are allowed after. 0 or -ENOMEM. */
int vfs__dir_own(struct dpage **root, struct str name) __attribute__((warn_unused_result));

/* Removes a name whose path is owned. */
void vfs__dir_del(struct dpage **root, struct str name);

/* Drops one reference of a root (may be NULL). */
void vfs__dir_unref(struct dpage *p);

/* Calls @fn for each slot in order until it returns non-zero; returns that or 0. */
int vfs__dir_walk(const struct dpage *p, int (*fn)(void *arg, const struct dpage *p, const struct dslot *s), void *arg);

/* Name of the entry that leads to @ino: true, and a borrowed name. Looks at every entry. */
bool vfs__dir_name_of(const struct dpage *p, uint64_t ino, struct str *ret);

/* Order, room and counts of a directory's pages: 0 or -EUCLEAN. @alone: every count must be 1. */
int vfs__dir_check(const struct dpage *p, bool alone);

/* ---- node.c ---- */

/* Content bytes: of a whole short file, of one VFS_PAGE of a long one, or a symlink's target. */
struct page {
    uint32_t refs;
    uint32_t cap;        /* bytes there is room for, at most VFS_PAGE: what the quota counts */
    uint32_t len;        /* bytes held; the rest of the page's range reads as zeros */
    uint32_t named : 1;  /* @id is valid */
    uint32_t stored : 1; /* and it is in the store */
    uint32_t absent : 1; /* @p is a struct absent: cap and len are right, the bytes are in the store */
    struct cas_id id;    /* of the bytes up to the last that is not 0; zeros when there is none */
    uint8_t p[] __attribute__((aligned(8))); /* for what may lie here beside bytes: a struct absent, host entries */
};

/* Loads the absent page at @link into its place: NULL when it cannot be had. */
struct page *vfs__page_load(struct page **link);

/* Content of a file longer than one page. */
struct filemap {
    uint32_t refs;
    uint32_t pad;
    uint64_t bytes;     /* sum of the pages' cap */
    uint64_t pages;     /* number of pages */
    struct radix *root; /* page number -> struct page */
};

/* The root of a file's pages, loaded; NULL when there is none, or it cannot be had (vfs__load_error). */
static inline struct radix *vfs__map_root(struct filemap *m)
{
    return m->root && m->root->absent ? vfs__radix_load(&m->root) : m->root;
}

/* The directories that name a file, when they are more than one. */
struct links {
    uint32_t refs;
    uint32_t n, cap;
    struct link {
        uint64_t dir;
        uint64_t count; /* names in that directory, > 0 */
    } e[];              /* by dir */
};

/* Where a node of a mount lies on the host: a name below its parent's place. */
struct origin {
    uint32_t refs;
    uint32_t len;
    uint64_t blocks;        /* of 512 bytes; this and the next once the status was read */
    uint64_t size_or_links; /* of a directory its size, of a file its names on the host */
    struct origin *parent;  /* counted; NULL for the mount's root */
    char name[];            /* NUL-terminated */
};

enum node_flag {
    NODE_MAPPED = 1 << 0, /* content is in u.map */
    NODE_HOST = 1 << 1,   /* a file's content, a link's target or a directory's entries are still the host's alone */
    NODE_UNSTAT = 1 << 2, /* the status was not read from the host yet: only the type is known */
    NODE_CLEAN = 1 << 3,  /* came from the host, and nothing was changed here */
    NODE_TOP = 1 << 4,    /* root of a mount */
};

struct node {
    uint32_t refs;
    uint32_t mode;
    uint32_t nlink;
    uint32_t uid, gid;
    uint16_t flags;
    uint16_t mount;  /* index + 1 in the tree's mounts; 0: the tree's own */
    uint64_t parent; /* a directory that names it (of a directory: the only one) */
    uint64_t size;   /* bytes of a file or target; entries of a directory */
    int64_t atime, mtime, ctime, btime;
    union {
        struct page *page;     /* file, symlink; NULL: no bytes */
        struct filemap *map;   /* NODE_MAPPED */
        struct origin *origin; /* NODE_HOST, or NODE_UNSTAT of what is not a directory */
        struct dpage *dir;     /* directory; NULL: empty */
        uint64_t rdev;         /* device */
    } u;
    union {
        struct links *links;   /* not a directory: NULL while all names are in @parent */
        struct origin *origin; /* directory of a mount */
    } x;
};

/* @n bytes or NULL, charged to no account. */
void *vfs__alloc(size_t n) __attribute__((malloc, warn_unused_result));
/* Room for one more element of @size bytes in the array at @v (a pointer to its pointer) that holds @n: false when
 * there is no memory. */
bool vfs__grow(void *v, size_t n, size_t *cap, size_t size);
/* Gives back what vfs__alloc() gave. */
void vfs__free(void *p);

/* A node with one reference; all else zero but the type and permission bits. */
struct node *vfs__node_new(uint32_t mode);
/* Drops one reference. */
void vfs__node_unref(void *node);
/* A copy of one's own with one reference: shares content. */
struct node *vfs__node_copy(struct node *n);

/* An empty page with room for at least @need bytes. */
struct page *vfs__page_new(size_t need);
/* The capacity vfs__page_new() would give. */
uint32_t vfs__page_cap(size_t need);
/* Drops one reference; accepts NULL. */
void vfs__page_unref(void *page);
/* Drops one reference; accepts NULL. */
void vfs__filemap_unref(struct filemap *m);
/* Drops one reference; accepts NULL. */
void vfs__links_unref(struct links *l);
/* Drops one reference; accepts NULL. */
void vfs__origin_unref(struct origin *o);

/* Content bytes the quota counts for a node. */
uint64_t vfs__node_bytes(const struct node *n);

/* Prepares that @dir will name @n once more, and that names in it go away: 0 or -ENOMEM; nothing visible changes. */
int vfs__links_reserve(struct node *n, uint64_t dir) __attribute__((warn_unused_result));
/* Notes a new name in @dir (before nlink is raised). */
void vfs__links_add(struct node *n, uint64_t dir);
/* Notes that a name in @dir is gone (before nlink is lowered). */
void vfs__links_del(struct node *n, uint64_t dir);

/* Bytes of a node's content that is not on the host: count, zeros for holes, or an error of the store. */
ssize_t vfs__content_read(const struct node *n, void *p, size_t len, uint64_t off);
/* The page that holds the bytes from @index * VFS_PAGE on, or NULL; it may be absent. */
struct page *vfs__content_page(const struct node *n, uint64_t index);
/* The same with its bytes: 0, and *ret is NULL for a hole; or an error of the store. */
int vfs__content_need(const struct node *n, uint64_t index, struct page **ret);
/* Target of a symlink whose status was read. */
static inline struct str vfs__target(const struct node *n)
{
    return n->u.page ? str_of((const char *)n->u.page->p, n->u.page->len) : str_of("", 0);
}

/* ---- image_page.c: the blobs that pages are stored as; image.h has the whole ---- */

/* Appends the blob of a page whose children are stored already. */
void vfs__encode_radix(struct buf *out, const struct radix *r);
/* See vfs__encode_radix(). */
void vfs__encode_dpage(struct buf *out, const struct dpage *p);
/* The page of a blob, with one reference and children that are absent: 0, -EBADMSG, -ENOMEM. */
int vfs__decode_radix(struct str blob, struct library *lib, unsigned level, unsigned kind, struct radix **ret);
/* See vfs__decode_radix(). @level: of the page, or -1 when any will do. */
int vfs__decode_dpage(struct str blob, struct library *lib, int level, struct dpage **ret);
/* An absent page; NULL: no memory. */
struct radix *vfs__radix_absent(struct library *lib, const struct cas_id *id, unsigned level, unsigned kind);
/* Bytes of @p up to the last that is not 0: what is stored. */
struct str vfs__page_text(const struct page *p);
/* Calls @fn for each page a blob leads to. */
int vfs__blob_children(struct str blob, int (*fn)(void *arg, const struct cas_id *id, bool leaf), void *arg);

/* Device numbers of the tree and its mounts, as Linux gives to file systems without a device. */
#define VFS_DEV_BASE 32u

/* ---- tree.c ---- */

struct family {
    uint32_t trees; /* that share memory */
};

/* An inode that handles keep alive. */
struct hold {
    uint64_t ino;
    uint32_t count;    /* handles */
    struct node *node; /* of an inode without a name: it is here and not in the table */
};

struct mount {
    struct host *host;              /* counted, or NULL */
    const struct vfs_provider *ops; /* or NULL */
    void *arg;
    uint64_t parent; /* of a provider: the directory that holds it */
    uint64_t top;    /* of a host mount: the inode of its root */
    uint64_t covers; /* the inode that had the name before and has none now, or 0 */
    int64_t time;
    bool ro;
};

struct mounts {
    uint32_t refs;
    uint32_t n;
    struct mount m[];
};

struct vfs {
    struct radix *root; /* ino -> struct node */
    uint64_t next_ino;
    struct vfs_quota quota, used;
    uint64_t n_dirs;
    uint64_t gen;
    int64_t (*now)(void *arg);
    void *now_arg;
    void (*watch)(void *arg, enum vfs_event ev, uint64_t dir, struct str name, uint64_t ino);
    void *watch_arg;
    struct mounts *mounts;            /* counted, NULL while there are none */
    const struct vfs_host_tape *tape; /* or NULL */
    struct hold **holds;              /* open addressing by ino */
    uint32_t holds_cap, n_holds, n_orphans;
    struct family *family;
    char name[LIMIT_NAME + 1]; /* of the provided entry that vfs_dir_next() gave last */
};

/* Slow path of vfs__node(). */
struct node *vfs__orphan(const struct vfs *v, uint64_t ino);

/* The node of an inode, borrowed, or NULL. */
static inline struct node *vfs__node(const struct vfs *v, uint64_t ino)
{
    struct node *n = vfs__radix_get(v->root, ino);
    return n || v->n_orphans == 0 ? n : vfs__orphan(v, ino);
}

/* The node made safe to change; NULL: no memory (or no such inode). */
struct node *vfs__edit(struct vfs *v, uint64_t ino);

/* The hold of an inode, or NULL. */
struct hold *vfs__held(const struct vfs *v, uint64_t ino);
/* Counts one more handle on @ino; NULL: no memory. */
struct hold *vfs__hold(struct vfs *v, uint64_t ino);
/* One handle less; the last one frees a nameless node. */
void vfs__release(struct vfs *v, struct hold *h);

/* Takes a nameless inode (edited before) out of the table: into its hold, or away. */
void vfs__drop(struct vfs *v, uint64_t ino);

/* The quota's word on @bytes more content: 0 or -EDQUOT. */
int vfs__room(const struct vfs *v, uint64_t bytes);

/* The time now. */
int64_t vfs__now(const struct vfs *v);

/* Notes a change: the generation grows, the watch is told. @n (may be NULL) is no longer as on the host. */
void vfs__changed(struct vfs *v, struct node *n, enum vfs_event ev, uint64_t dir, struct str name, uint64_t ino);

/* True when nothing below this node's mount may be changed. */
static inline bool vfs__readonly(const struct vfs *v, const struct node *n)
{
    return n->mount && v->mounts->m[n->mount - 1].ro;
}

/* ---- walk.c ---- */

enum last_type { LAST_NAME, LAST_DOT, LAST_DOTDOT, LAST_ROOT };

struct walk_rest {
    struct str rest;
    char *own; /* memory behind the target being walked, or NULL */
};

struct walk {
    struct vfs *v;
    const struct vfs_ctx *ctx;
    uint64_t dir; /* where the last component is looked for */
    struct str last;
    enum last_type type;
    bool slash; /* something after the last component says it is a directory */
    bool beneath;
    int links;       /* symlinks followed */
    uint64_t top;    /* with beneath */
    struct str path; /* what is still to walk */
    char *own;
    int depth;
    struct walk_rest stack[LIMIT_SYMLINKS];
};

/* Starts a walk: 0, -ENOENT, -EINVAL, -ENAMETOOLONG. vfs__walk_done() is needed after in any case. */
int vfs__walk_init(struct walk *w, struct vfs *v, const struct vfs_ctx *ctx, uint64_t at, struct str path, int flags);
/* Walks up to the last component, which is not looked at. */
int vfs__walk_run(struct walk *w);
/* Goes on through the symlink @ino found at the last component; vfs__walk_run() follows. */
int vfs__walk_follow(struct walk *w, uint64_t ino);
/* Frees what a walk holds. */
void vfs__walk_done(struct walk *w);

/* The inode and S_IFMT bits of the last component: 0 or -ENOENT and others. */
int vfs__walk_last(struct walk *w, uint64_t *ret_ino, uint32_t *ret_type);

/* Looks @name up in the directory @dir, without a permission check: 0, -ENOENT, -ENAMETOOLONG, -ENOTDIR or host errors.
 */
int vfs__child(struct vfs *v, uint64_t dir, struct str name, uint64_t *ret_ino, uint32_t *ret_type);

/* The node of @ino with its status known. A provided one is made up in @tmp. -ESTALE when there is none. */
int vfs__view(struct vfs *v, uint64_t ino, struct node *tmp, struct node **ret);

/* Absolute path of @ino by one of its names, appended to @out: 0, -ENOENT when it has none, -ENAMETOOLONG. */
int vfs__path(struct vfs *v, uint64_t ino, struct buf *out);

/* Whether @cred may do R_OK|W_OK|X_OK to @n: 0 or -EACCES. */
int vfs__permit(const struct vfs_cred *cred, const struct node *n, int want);

/* True when @cred has the group @gid. */
bool vfs__in_group(const struct vfs_cred *cred, uint32_t gid);

/* ---- open.c, file.c ---- */

struct vfs_handle {
    struct vfs *v;
    struct hold *hold;
    int oflags;
    bool fd_borrowed;
    bool read_before;    /* the age of atime was looked at */
    int fd;              /* of a host file, or -1 */
    struct page *window; /* bytes of a host file at window_off, for vfs_peek() */
    struct host *host;   /* counted; gets the window back */
    uint64_t window_off;
    bool window_eof; /* the window ended short of a page */
    char *data;      /* content of a provided file */
    size_t data_n;
    bool data_borrowed;   /* from the provider, for good */
    struct vfs_cred cred; /* who opened it: decides whether a write keeps setuid and setgid */
};

/* Somebody without rights, where a call does not say who asks. */
extern const struct vfs_cred vfs__nobody;

/* Opens the host's content for a handle that has not done so. 0 or a host error. */
int vfs__handle_host(struct vfs_handle *h);

/* Changes the size of an edited file whose content is in memory: 0, -ENOMEM. Times are the caller's. */
int vfs__resize(struct vfs *v, struct node *n, uint64_t size);
/* Writes into an edited file whose content is in memory; count or an error. Times are the caller's. */
ssize_t vfs__content_write(struct vfs *v, struct node *n, const void *p, size_t len, uint64_t off);
/* truncate by @cred. */
int vfs__truncate(struct vfs *v, uint64_t ino, uint64_t size, const struct vfs_cred *cred);

/* ---- name.c ---- */

/* Makes a node named @name in @dir, where it must not exist: all checks but the quota are the caller's. @target is a
 * symlink's. */
int vfs__create(struct vfs *v, const struct vfs_ctx *ctx, uint64_t dir, struct str name, uint32_t mode, uint64_t rdev,
                struct str target, uint64_t *ret_ino);
/* Gives a node made by @ctx in @dir (may be NULL) its owner, and takes from its mode what setgid rules and the umask
 * take. */
void vfs__inherit(const struct vfs_ctx *ctx, const struct node *dir, struct node *n);
/* Whether a name may be made in @dir: 0, -ENOENT, -EROFS, -EACCES, -EPERM. */
int vfs__may_create(struct vfs *v, const struct vfs_cred *cred, uint64_t dir);

/* Linux's may_delete(): whether @n, found in @dir, may be unnamed by @cred; @as_dir: by rmdir, or as a directory. */
int vfs__may_delete(const struct vfs_cred *cred, const struct node *dir, const struct node *n, bool as_dir);
/* One name (in @dir) fewer for an edited node; without any it leaves the table. */
void vfs__unname(struct vfs *v, struct node *n, uint64_t ino, uint64_t dir);
/* Directories above @dir. */
uint64_t vfs__depth(struct vfs *v, uint64_t dir);

/* ---- host.c ---- */

/* Directories of a mount whose descriptors are kept for a moment: as many as a walk has above it in most trees. */
#define HOST_KEPT 4

struct kept_dir {
    int fd;            /* -1: none */
    struct origin *of; /* counted */
    int64_t time;
};

struct host {
    uint32_t refs;
    int fd;
    bool file; /* a mount of one file: @fd is the file */
    uint32_t host_uid, host_gid, uid, gid;
    struct kept_dir kept[HOST_KEPT]; /* the one used last is the first */
    struct page *window;             /* a spare page to read into */
};

/* A place on the host with one reference; @fd is taken when it succeeds, -1: not there (ESTALE). NULL: no memory. */
struct host *vfs__host_new(int fd, uint32_t host_uid, uint32_t host_gid, uint32_t uid, uint32_t gid);
/* Makes the status of a node known (and a symlink's target); *n is the node after. 0, -ENOMEM or an error of the host.
 */
int vfs__host_status(struct vfs *v, uint64_t ino, struct node **n);
/* Makes the entries of the directory @ino, whose node is @n, known: 0, -ENOMEM, -ENOSPC or an error of the host. */
int vfs__host_list(struct vfs *v, uint64_t ino, const struct node *n);
/* Opens the content of a file for reading, and learns its status: a descriptor that the caller owns unless
 * *ret_borrowed. */
int vfs__host_open(struct vfs *v, uint64_t ino, struct node **n, int *ret_fd, bool *ret_borrowed);
/* Reads the first @size bytes of a host file into the tree; after it @ino is a file like any other. */
int vfs__host_copy_up(struct vfs *v, uint64_t ino, uint64_t size);
/* Gives up a host file's content (its status was read): the file is empty after. @n is edited. */
void vfs__host_forget(struct node *n);
/* Reads as pread does, over EINTR and short reads. */
ssize_t vfs__host_pread(int fd, void *p, size_t n, uint64_t off);
/* The same of the file @n, which vfs__host_open() has opened: a read that a tape records or answers. */
ssize_t vfs__host_read(struct vfs *v, const struct node *n, int fd, void *p, size_t len, uint64_t off);
/* In place of a descriptor, while a tape answers. */
#define HOST_NO_FD INT_MAX
/* A page to read host bytes into: the mount's spare one, or a fresh one; NULL: no memory. */
struct page *vfs__window_take(struct host *h);
/* Gives such a page back. */
void vfs__window_give(struct host *h, struct page *p);
/* Drops one reference; accepts NULL. */
void vfs__host_unref(struct host *h);
/* An origin below @parent (takes no reference of the caller's; counts its own); NULL: no memory. */
struct origin *vfs__origin_new(struct origin *parent, struct str name);
/* True when both are the same place of the same mount. */
bool vfs__origin_same(const struct origin *a, const struct origin *b);
/* ---- mount.c ---- */

/* Drops one reference; accepts NULL. */
void vfs__mounts_unref(struct mounts *m);

/* ---- provide.c: inode numbers of provided nodes carry the mount and the mode, so that nothing has to be remembered
 * ---- */

static inline bool vfs__is_provided(uint64_t ino)
{
    return (ino & VFS_PROVIDED) != 0;
}

/* The inode number of the child @id; 0 when the id is out of range. */
uint64_t vfs__provided_ino(uint64_t like, uint64_t id, uint32_t mode);
/* The inode number of the root of mount @index. */
uint64_t vfs__provided_root(unsigned index);
/* True for the root of a provider. */
bool vfs__provided_top(uint64_t ino);
/* Fills @tmp as the node of a provided inode: 0 or -ESTALE. */
int vfs__provided_node(const struct vfs *v, uint64_t ino, struct node *tmp);
/* As vfs__child(). */
int vfs__provided_child(const struct vfs *v, uint64_t dir, struct str name, uint64_t *ret_ino, uint32_t *ret_type);
/* Parent of a provided directory. */
int vfs__provided_parent(const struct vfs *v, uint64_t dir, uint64_t *ret);
/* Content borrowed for good: 0, or -EOPNOTSUPP when it must be read. */
int vfs__provided_bytes(const struct vfs *v, uint64_t ino, struct str *ret);
/* Content or target, appended to @out. */
int vfs__provided_read(const struct vfs *v, uint64_t ino, struct buf *out);
/* As vfs_dir_next(); @name holds LIMIT_NAME + 1 bytes. */
int vfs__provided_next(const struct vfs *v, uint64_t dir, struct str after, char *name, uint64_t *ret_ino,
                       uint32_t *ret_mode);
