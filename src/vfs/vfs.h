/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * vfs - the copy-on-write tree: one Linux-like file system in memory, and the source of truth of a session.
 *
 * Model. A tree is a persistent radix table from inode number to node. A directory node maps names to inode numbers
 * in byte order (a persistent B-tree); it does not point to nodes, so writing a file touches the file's path in the
 * table and nothing above it. Nodes, table pages, directory pages and content pages are counted; a tree changes in
 * place what only it holds and copies what it shares. vfs_fork() takes one reference on the table's root: its cost
 * does not depend on the size of the tree. Content up to 64 KiB is one page just as long as it needs to be; longer
 * files have a table of 64 KiB pages, NULL for a hole. docs/internals/vfs.md draws the structures.
 *
 * Open files and held directories are counted per tree beside the table (struct vfs_handle); a node without a name
 * lives while it is held, and is gone in every fork. Handles belong to one tree. Inode numbers are not used again.
 *
 * Host directories are mounted through a descriptor: their nodes are made when first looked at, their content is read
 * from the host while unchanged, and everything written stays in the tree. Every descriptor is from openat2() beneath
 * the mount's own with RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS, for a chain of names that the
 * tree itself resolved; status and targets are asked for by one name in such a directory, following nothing. A host
 * symlink is a symlink of the tree, resolved inside the tree. A listing is read once, a node's status once, content at
 * each read until written; the first write copies the whole file. What on the host has become something else since
 * gives ESTALE. A mount has its own device number; links and renames across mounts are EXDEV, as in Linux. Its files'
 * access times do not move, and hard links among them are separate files.
 *
 * Directories whose entries are made on demand (/proc) come from a provider.
 *
 * Invariants (vfs_check() tests 1-7):
 *   1. Every name leads to a node in the table; every node but the held ones has a name.
 *   2. nlink of a file is the number of names that lead to it; of a directory 2 plus its subdirectories.
 *   3. The directory graph is a tree: each directory but the root is named once, and its parent field is right.
 *   4. used_bytes and used_inodes equal what a full walk counts.
 *   5. No page holds a byte beyond its file's size; what a page does not hold reads as zeros.
 *   6. Names are 1..LIMIT_NAME bytes, hold neither '/' nor NUL, and are not "." or "..".
 *   7. Every reference count equals the number of references (checked for a tree with no forks).
 *   8. A call that fails changes nothing; a quota failure (ENOSPC for inodes, EDQUOT for bytes) is such a failure.
 *
 * Errors are negative errno with the meaning of the Linux manual pages (open(2), rename(2), …), and for the order in
 * which Linux finds them, tmpfs is the reference (test_model compares). Access times of files move as relatime does,
 * those of directories and symlinks do not. protected_hardlinks is on, as in Debian. Permission follows
 * path_resolution(7): uid 0 passes every check but execute of a file without any x bit; sticky directories, setgid
 * inheritance, and clearing of setuid/setgid on write and chown are as Linux.
 *
 * Threads: one thread at a time uses a tree and its forks that share pages (reference counts are not atomic). Limits:
 * types/limits.h. Times are nanoseconds of the clock set with vfs_set_clock().
 */

#include "base/str.h"
#include "types/limits.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct mem_account;
struct vfs;
struct vfs_handle;
struct buf;

#define VFS_PAGE 65536u
#define VFS_ROOT_INO UINT64_C(1)

/* What the tree holds counts in full, shared with forks or not: to allow N more bytes than a template has, add N to
 * its usage. Content that is still the host's does not count, nodes of a mount do once their directory was listed. */
struct vfs_quota {
    uint64_t bytes; /* room of content pages and symlink targets: a little more than the bytes written, holes nothing */
    uint64_t inodes; /* nodes, and each further name of a file, as on tmpfs */
};

/* Whose rights apply. Borrowed by each call. */
struct vfs_cred {
    uint32_t uid, gid;
    uint32_t n_groups;
    uint32_t groups[LIMIT_GROUPS];
};

/* Who asks, and from where. */
struct vfs_ctx {
    const struct vfs_cred *cred;
    uint64_t cwd; /* inode where relative paths start; held by the owner */
    uint32_t umask;
};

struct vfs_stat {
    uint64_t dev, ino;
    uint32_t mode; /* S_IF* and permission bits */
    uint32_t nlink, uid, gid;
    uint64_t rdev;   /* makedev() form for devices, else 0 */
    uint64_t size;   /* bytes; of a symlink its length */
    uint64_t blocks; /* of 512 bytes, holes not counted */
    uint32_t blksize;
    int64_t atime, mtime, ctime, btime;
};

/* ---- trees ---- */

/* A tree that holds only a root directory (0755, uid 0). NULL when memory is short. */
struct vfs *vfs_new(const struct vfs_quota *quota);

/* A tree equal to @v, in O(1). Handles, watch, clock and held nameless nodes stay with @v. NULL when memory is short.
 */
struct vfs *vfs_fork(struct vfs *v) __attribute__((warn_unused_result));

/* Releases a tree; all its handles must be closed. Accepts NULL. */
void vfs_free(struct vfs *v);

/* Replaces the quota; a tree already over it keeps what it has and cannot grow. */
void vfs_set_quota(struct vfs *v, const struct vfs_quota *quota);

/* The quota that holds now. */
void vfs_get_quota(const struct vfs *v, struct vfs_quota *ret);

/* What is in use, counted as the quota counts. */
void vfs_usage(const struct vfs *v, struct vfs_quota *ret_used);

/* Sets the source of time stamps (NULL: clock_wall, as at first). */
void vfs_set_clock(struct vfs *v, int64_t (*now)(void *arg), void *arg);

/* What trees take in memory from now on, in this thread, is charged to @acc, and refused with -ENOMEM over its limit:
 * for who looks at a tree for which no quota holds. NULL, as at first: to none, as trees share what they have. The one
 * before. */
struct mem_account *vfs_charge(struct mem_account *acc);

/* Tests invariants 1-7: 0, or -EUCLEAN and *ret_what says which (static text). */
int vfs_check(struct vfs *v, const char **ret_what);

/* ---- paths ---- */

enum vfs_lookup_flags {
    VFS_NOFOLLOW = 1 << 0,  /* do not follow a symlink in the last component */
    VFS_DIRECTORY = 1 << 1, /* ENOTDIR unless it is a directory */
    VFS_BENEATH = 1 << 2,   /* EXDEV when the walk leaves @at by "..", "/" or a symlink */
};

/* Every call below takes a base inode @at: relative paths start there (0 means ctx->cwd). Paths are bytes, may not
 * hold NUL (EINVAL), may end in '/', and are at most LIMIT_PATH - 1 bytes. */

/* Resolves @path to an inode. ENOENT ENOTDIR EACCES ELOOP ENAMETOOLONG. */
int vfs_lookup(struct vfs *v, const struct vfs_ctx *ctx, uint64_t at, struct str path, int flags, uint64_t *ret_ino);

/* Absolute path of a directory, appended to @out: 0, -ENOENT when it was removed, -ENAMETOOLONG. */
int vfs_dir_path(struct vfs *v, uint64_t dir, struct buf *out);

/* Parent of a directory (the root's parent is the root). */
int vfs_dir_parent(struct vfs *v, uint64_t dir, uint64_t *ret_parent);

/* stat(2) of a path (flags: VFS_NOFOLLOW) and of an inode (cannot fail for a live one: -ESTALE otherwise). */
int vfs_stat(struct vfs *v, const struct vfs_ctx *ctx, uint64_t at, struct str path, int flags, struct vfs_stat *ret);
/* See vfs_stat(). */
int vfs_stat_ino(struct vfs *v, uint64_t ino, struct vfs_stat *ret);

/* Whether access(2) with effective ids would allow R_OK|W_OK|X_OK bits @want: 0, -EACCES, -EROFS or a lookup error. */
int vfs_access(struct vfs *v, const struct vfs_ctx *ctx, uint64_t at, struct str path, int want, int flags);
/* The same for an inode already at hand. */
int vfs_access_ino(struct vfs *v, const struct vfs_cred *cred, uint64_t ino, int want);

/* Target of a symlink, appended to @out. EINVAL when it is not one. */
int vfs_readlink(struct vfs *v, const struct vfs_ctx *ctx, uint64_t at, struct str path, struct buf *out);

/* ---- changing names ---- */

/* mkdir(2). The umask applies. */
int vfs_mkdir(struct vfs *v, const struct vfs_ctx *ctx, uint64_t at, struct str path, uint32_t mode);
/* rmdir(2). */
int vfs_rmdir(struct vfs *v, const struct vfs_ctx *ctx, uint64_t at, struct str path);
/* unlink(2). */
int vfs_unlink(struct vfs *v, const struct vfs_ctx *ctx, uint64_t at, struct str path);
/* symlink(2): @target may be any 1..LIMIT_PATH-1 bytes without NUL. */
int vfs_symlink(struct vfs *v, const struct vfs_ctx *ctx, struct str target, uint64_t at, struct str path);
/* link(2); flags: 0 follows no symlink in @old as Linux's link(2), VFS_FOLLOW_OLD follows it. */
#define VFS_FOLLOW_OLD (1 << 8)
int vfs_link(struct vfs *v, const struct vfs_ctx *ctx, uint64_t at_old, struct str old, uint64_t at_new,
             struct str new_path, int flags);
/* renameat2(2): flags 0, RENAME_NOREPLACE, RENAME_EXCHANGE. Directories too; atomic. */
int vfs_rename(struct vfs *v, const struct vfs_ctx *ctx, uint64_t at_old, struct str old, uint64_t at_new,
               struct str new_path, unsigned flags);
/* mknod(2) for S_IFIFO, S_IFREG, S_IFSOCK (anyone) and S_IFCHR, S_IFBLK (uid 0: else EPERM). */
int vfs_mknod(struct vfs *v, const struct vfs_ctx *ctx, uint64_t at, struct str path, uint32_t mode, uint64_t rdev);

/* ---- changing status ---- */

/* chmod(2) on an inode. */
int vfs_chmod(struct vfs *v, const struct vfs_cred *cred, uint64_t ino, uint32_t mode);
/* chown(2) on an inode; UINT32_MAX leaves an id as it is. */
int vfs_chown(struct vfs *v, const struct vfs_cred *cred, uint64_t ino, uint32_t uid, uint32_t gid);
/* utimensat(2) on an inode; INT64_MIN leaves a time, INT64_MAX means now. */
int vfs_utimens(struct vfs *v, const struct vfs_cred *cred, uint64_t ino, int64_t atime, int64_t mtime);
/* truncate(2) on an inode (the caller checked write access). EFBIG EDQUOT EISDIR EINVAL EROFS. Takes setuid away, as
 * a write by somebody who is not root and not in the file's group. */
int vfs_truncate(struct vfs *v, uint64_t ino, uint64_t size);

/* ---- open files ---- */

/* ftruncate(2) by a handle open for writing. As vfs_truncate(), and EINVAL when it is not. */
int vfs_ftruncate(struct vfs_handle *h, uint64_t size);

/* open(2). @oflags are Linux's O_RDONLY.. O_CREAT O_EXCL O_TRUNC O_APPEND O_NOFOLLOW O_DIRECTORY O_PATH. FIFOs and
 * devices open as plain handles whose reads and writes are the caller's business (vfs_stat_ino tells; vfs_pread and
 * vfs_pwrite give EINVAL). Yields a handle that the caller closes. */
int vfs_open(struct vfs *v, const struct vfs_ctx *ctx, uint64_t at, struct str path, int oflags, uint32_t mode,
             struct vfs_handle **ret);

/* A handle on a nameless file (O_TMPFILE; also what here-documents use). Owned by ctx->cred. */
int vfs_open_anon(struct vfs *v, const struct vfs_ctx *ctx, uint32_t mode, struct vfs_handle **ret);

/* A handle on an inode without a permission check (to hold a cwd: oflags O_PATH; O_CREAT, O_EXCL and O_TRUNC do
 * nothing). */
int vfs_open_ino(struct vfs *v, uint64_t ino, int oflags, struct vfs_handle **ret);

/* Closes; a nameless node whose last handle goes is freed. Accepts NULL. */
void vfs_close(struct vfs_handle *h);

/* Inode of a handle. */
uint64_t vfs_handle_ino(const struct vfs_handle *h);
/* Tree of a handle. */
struct vfs *vfs_handle_vfs(const struct vfs_handle *h);

/* Sets or takes away O_APPEND, as fcntl(2) F_SETFL. */
void vfs_handle_set_append(struct vfs_handle *h, bool on);

/* Bytes at @off into @p: count (0 at the end), or EBADF EISDIR EIO. Updates atime as relatime does. */
ssize_t vfs_pread(struct vfs_handle *h, void *p, size_t n, uint64_t off);

/* Borrows the bytes at @off without copying, as many as lie together, at most a page or so: *ret_n is 0 at the end.
 * Holes point to a page of zeros. Valid until the next call that may change the tree. */
int vfs_peek(struct vfs_handle *h, uint64_t off, const void **ret_p, size_t *ret_n);

/* Writes @n bytes at @off (O_APPEND: at the end; *ret_end, may be NULL, is the offset after the last byte). Count,
 * never short unless the quota ends inside; EBADF EFBIG EDQUOT EROFS. */
ssize_t vfs_pwrite(struct vfs_handle *h, const void *p, size_t n, uint64_t off, uint64_t *ret_end);

/* Size of an open file without a stat. */
uint64_t vfs_handle_size(const struct vfs_handle *h);

/* First offset >= @off that is data (SEEK_DATA) or hole (SEEK_HOLE): ENXIO beyond the end. */
int vfs_seek_data(struct vfs_handle *h, uint64_t off, bool hole, uint64_t *ret);

/* ---- directories ---- */

struct vfs_dirent {
    struct str name; /* borrowed until the tree changes */
    uint64_t ino;
    uint32_t type; /* S_IF* of the node */
};

/* Whether @cred may read the entries of the directory @dir, for who goes on to do so: one descriptor of a host
 * directory then gives both its status and its entries. 0, -EACCES, -ESTALE. */
int vfs_dir_enter(struct vfs *v, const struct vfs_cred *cred, uint64_t dir);

/* The first entry after @after in byte order of names ("" for the first; "." and ".." are not listed). 1, 0 at the
 * end, or ENOTDIR EACCES. Naming the place by name makes reading stable while entries come and go. No permission
 * check. */
int vfs_dir_next(struct vfs *v, uint64_t dir, struct str after, struct vfs_dirent *ret);

/* Walks all entries quickly: calls @fn until it returns non-zero, and returns that, 0, or an error. @fn must not
 * change the tree. */
int vfs_dir_each(struct vfs *v, uint64_t dir, int (*fn)(void *arg, const struct vfs_dirent *e), void *arg);

/* Number of entries. */
int vfs_dir_count(struct vfs *v, uint64_t dir, uint64_t *ret);

/* ---- providers and mounts ---- */

/* Entries made on demand, such as /proc. A provided node has an inode number >= VFS_PROVIDED and lives as long as its
 * provider. Ids are below 2^40. The number holds id and mode, so a node whose mode changes has another number.
 * Nothing in a provided directory can be made or changed by way of the tree: EPERM (EACCES for who has no right to
 * try; EACCES for opening to write). */
#define VFS_PROVIDED (UINT64_C(1) << 62)
struct vfs_provider {
    /* Tells providers apart where a tree is stored and loaded again; 0 is /proc. */
    uint8_t kind;
    /* Child @name of the provided directory @id: its id (> 0) and mode, or -ENOENT. ".." asks for the parent; a
     * provider that answers -ENOENT to it has its directories searched instead, to a depth of eight. */
    int (*lookup)(void *arg, uint64_t id, struct str name, uint64_t *ret_id, uint32_t *ret_mode);
    /* The first child after @after in byte order, copied into @name (LIMIT_NAME + 1 bytes): 1, 0 or an error. */
    int (*next)(void *arg, uint64_t id, struct str after, char *name, uint64_t *ret_id, uint32_t *ret_mode);
    /* Content of a file, or target of a symlink, as it is now. Read once when opened. */
    int (*read)(void *arg, uint64_t id, struct buf *out);
    /* The same of a provider whose content stays as it is, and where it is, as long as the provider: borrowed, and the
     * size of a file is that of its content. NULL: read() is asked at each open, and files say 0. */
    int (*bytes)(void *arg, uint64_t id, struct str *ret);
    /* Owner of a node. */
    void (*owner)(void *arg, uint64_t id, uint32_t *ret_uid, uint32_t *ret_gid);
};

/* Puts a provider's root (id 1) over the existing directory @path. @ops and @arg outlive the tree; a fork has the
 * same provider with @arg replaced by what vfs_set_provider_arg() gives. ENOENT ENOTDIR, EBUSY (the root, or a
 * provider is there), ENOSPC (LIMIT_MOUNTS), ENOMEM. What the directory held is covered for good. */
int vfs_provide(struct vfs *v, struct str path, const struct vfs_provider *ops, void *arg);
/* Replaces the argument of every provider with @ops in this tree (after a fork); its nodes are as old as this. */
void vfs_set_provider_arg(struct vfs *v, const struct vfs_provider *ops, void *arg);

enum vfs_mount_flags { VFS_MOUNT_RO = 1 << 0, VFS_MOUNT_COW = 1 << 1 };

/* Mounts a host directory (or one file) over @path, which is made (with parents) when missing. Takes @host_fd (O_PATH
 * for a directory, a file must be open for reading: EBADF), also on failure. What @host_uid/@host_gid own appears
 * as owned by @uid/@gid; other owners appear as they are. EBUSY (the root), ENOTDIR EISDIR (what is there is of the
 * other kind), EINVAL (neither file nor directory), ENOSPC (LIMIT_MOUNTS, inodes), ENOMEM. */
int vfs_mount_host(struct vfs *v, struct str path, int host_fd, int flags, uint32_t host_uid, uint32_t host_gid,
                   uint32_t uid, uint32_t gid);

/*
 * What a run depends on that lies behind mounts: every answer of the host, in order. Recorded, the same run can be had
 * again without the host.
 */
enum vfs_host_ask { VFS_ASK_LIST, VFS_ASK_STATUS, VFS_ASK_READ, VFS_ASK_OPEN };
struct vfs_host_tape {
    void *arg;
    /* RECORD (else NULL): the host answered @ask about @path beneath mount @mount (0: the first) with @error, or with
     * @answer. Borrowed. */
    void (*heard)(void *arg, enum vfs_host_ask ask, unsigned mount, struct str path, int error, struct str answer);
    /* REPLAY: the next answer, appended to @ret, or its error; -EILSEQ when the record has another question there. */
    int (*answer)(void *arg, enum vfs_host_ask ask, unsigned mount, struct str path, struct buf *ret);
};
/* From now on (NULL: no more). Borrowed; forks do not have it. */
void vfs_set_host_tape(struct vfs *v, const struct vfs_host_tape *tape);

struct vfs_mount {
    struct str path; /* where it is now; borrowed during the call */
    uint64_t dev;    /* vfs_stat.dev of what is on it */
    bool read_only;
};

/* Calls @fn for each host mount that has a place, in the order of mounting, until it returns non-zero; returns that or
 * 0. */
int vfs_mount_each(struct vfs *v, int (*fn)(void *arg, const struct vfs_mount *m), void *arg);

/* ---- what changed ---- */

enum vfs_change_kind { VFS_ADDED, VFS_REMOVED, VFS_MODIFIED, VFS_META };

struct vfs_change {
    enum vfs_change_kind kind;
    struct str path;                /* absolute, borrowed during the call */
    struct vfs_stat old_st, new_st; /* zeroed on the side where it is not */
    bool content;                   /* the bytes (or the symlink's target) differ */
};

/* Calls @fn for each path that differs between @a and @b, trees of any relation: names in byte order, a directory
 * before its entries, a removed or added directory with all it held or holds; what both share, in memory or by its name
 * in the store, is not looked at. A rename shows as removed and added; so does a change of type. @fn's non-zero result
 * stops and is returned. VFS_META is mode, owner or modification time, or that names which both have lead to one file
 * in one tree and to several in the other; access times alone do not count, nor do the times of a directory, which
 * follow its entries. So but for times, trees without a difference are those of equal root hash (vfs/image.h).
 *
 * The cost follows what differs and the size of the directories it lies in, not the size of the trees, when one was
 * forked from the other or both come from one store; else all is compared. Content is compared by its names where these
 * are known. Where only one tree has listed a host directory and changed it, the other lists it now. When that host is
 * not there (a tree that was loaded without it), what the other tree wrote counts as changed, from a file whose
 * @old_st has only its type; names in a directory that one tree has not seen count as added or removed. */
int vfs_diff(struct vfs *a, struct vfs *b, int (*fn)(void *arg, const struct vfs_change *c), void *arg);

enum vfs_event { VFS_EV_CREATE, VFS_EV_REMOVE, VFS_EV_WRITE, VFS_EV_META, VFS_EV_RENAME };

/* Tells @fn of each change as it happens (NULL: no longer): directory and name, or dir 0 for a write or status change
 * known by inode only. A rename is told twice, with the old place and with the new. @fn must not call back into the
 * tree. */
void vfs_set_watch(struct vfs *v, void (*fn)(void *arg, enum vfs_event ev, uint64_t dir, struct str name, uint64_t ino),
                   void *arg);

/* A number that grows with every change of a name or status in the tree: equal numbers mean an unchanged tree. */
uint64_t vfs_generation(const struct vfs *v);
