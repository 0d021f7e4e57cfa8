/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The model test: long random sequences of file operations on the tree and, the same, in a fresh tmpfs of the host.
 * After each, results, errno and the status of what was touched are compared, now and then the whole tree. On our
 * side the tree is forked in between: forks must stay as they were, and sometimes a fork is what the test goes on
 * with.
 *
 * The host side is chrooted into its tmpfs, so that absolute symlinks and ".." at the root mean the same on both
 * sides. Without root a user namespace gives what is needed for the run as uid 0; the run with several users is
 * skipped.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/fs.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/test/test.h"
#include "vfs/image.h"
#include "vfs/test/mem_store.h"
#include "vfs/vfs.h"

#define N_HANDLES 6
#define N_FORKS 4
#define N_CREDS 4

struct pair {
    struct vfs_handle *h;
    int fd;
    int cred;
    bool regular;
};

struct fork {
    struct vfs *v;
    struct buf dump;
};

static struct vfs *v;
static uint64_t rng;
static struct pair pairs[N_HANDLES];
static struct pair cwd; /* h holds it */
static struct fork forks[N_FORKS];
static int n_creds;
static int who; /* cred of the running operation */
static bool devices;
static int old_root = -1;
static char root_dir[] = "/tmp/frontal-model-XXXXXX";
static uint64_t op_number;
static struct cas *store;
static struct vfs_canon *canon; /* of the tree that was stored last */
static char op_text[3 * LIMIT_PATH];
static bool stop;
static int64_t ticks;

static const struct vfs_cred creds[N_CREDS] = {
    {.uid = 0, .gid = 0},
    {.uid = 1000, .gid = 1000, .n_groups = 1, .groups = {2000}},
    {.uid = 1001, .gid = 1001, .n_groups = 1, .groups = {2000}},
    {.uid = 1002, .gid = 1000},
};
static const uint32_t umasks[N_CREDS] = {022, 022, 002, 077};

static uint64_t rnd(uint64_t n)
{
    return (test_rand(&rng) >> 11) % n;
}

static bool chance(unsigned percent)
{
    return rnd(100) < percent;
}

static int64_t tick(void *arg)
{
    (void)arg;
    return ticks += CLOCK_MS;
}

static struct vfs_ctx ctx_of(int cred)
{
    return (struct vfs_ctx){.cred = &creds[cred], .cwd = vfs_handle_ino(cwd.h), .umask = umasks[cred]};
}

/* Lets the host side act as one of the users. */
static void become(int cred)
{
    static int now;
    gid_t groups[LIMIT_GROUPS];
    umask(umasks[cred]);
    if (now == cred)
        return;
    for (uint32_t i = 0; i < creds[cred].n_groups; i++)
        groups[i] = creds[cred].groups[i];
    if (seteuid(0) < 0 || setgroups(creds[cred].n_groups, groups) < 0 || setegid(creds[cred].gid) < 0 ||
        seteuid(creds[cred].uid) < 0)
        abort();
    now = cred;
}

static void mismatch(const char *what, long long ours, long long theirs)
{
    fprintf(stderr, "# op %llu as uid %u: %s\n#   %s: ours %lld, Linux %lld\n", (unsigned long long)op_number,
            creds[who].uid, op_text, what, ours, theirs);
    CHECK(ours == theirs);
    stop = true;
}

/* Compares results: negative errno, or something >= 0. */
static bool same(const char *what, long long ours, long long theirs)
{
    if (ours != theirs)
        mismatch(what, ours, theirs);
    return ours == theirs;
}

static int host(long rc)
{
    return rc < 0 ? -errno : (int)rc;
}

/* ---- random material ---- */

static const char *names[] = {"a", "b", "c", "d", "dir", "link", "a-name-of-middling-length.txt"};

static void add_name(struct buf *b)
{
    char longest[LIMIT_NAME + 2];
    unsigned what = (unsigned)rnd(100);
    if (what < 4)
        buf_addc(b, "..");
    else if (what < 7)
        buf_addc(b, ".");
    else if (what < 9) {
        memset(longest, 'n', sizeof(longest));
        buf_add(b, longest, LIMIT_NAME + rnd(2));
    } else if (what < 14)
        buf_addf(b, "f%u", (unsigned)rnd(300));
    else
        buf_addc(b, names[rnd(sizeof(names) / sizeof(names[0]))]);
}

/* A path of one to four names; the result lives until the next but three calls. */
static struct str path(void)
{
    static struct buf bufs[4];
    static unsigned next;
    struct buf *b = &bufs[next++ % 4];
    buf_done(b);
    buf_init(b, 1 << 20);
    if (chance(1) && chance(20)) {
        buf_addc(b, chance(50) ? "" : "/");
        for (int i = 0; b->n > 0 && i < 2100; i++)
            buf_addc(b, "./");
        return buf_str(b);
    }
    if (chance(60))
        buf_addc(b, "/");
    unsigned n = (unsigned)rnd(4);
    for (unsigned i = 0; i <= n; i++) {
        if (i > 0)
            buf_addc(b, chance(3) ? "//" : "/");
        add_name(b);
    }
    if (chance(5))
        buf_addc(b, "/");
    return buf_str(b);
}

static const char *c(struct str s)
{
    return s.p; /* made by buf: there is a NUL behind it */
}

static uint32_t random_mode(void)
{
    static const uint32_t usual[] = {0777, 0755, 0644, 0666, 0700, 01777, 02775};
    return chance(70) ? usual[rnd(7)] : (uint32_t)rnd(010000);
}

static void describe(const char *op, struct str a, struct str b, uint64_t x, uint64_t y)
{
    snprintf(op_text, sizeof(op_text), "%s '%.*s' '%.*s' %llo %lld", op, (int)(a.n > 600 ? 600 : a.n), a.p ? a.p : "",
             (int)(b.n > 600 ? 600 : b.n), b.p ? b.p : "", (unsigned long long)x, (long long)y);
}

/* ---- whole trees ---- */

static const struct vfs_ctx root_ctx = {.cred = &creds[0], .cwd = VFS_ROOT_INO};

struct inos {
    uint64_t ino[20000];
    unsigned n;
};

/* Number of an inode in order of appearance: hard links show, numbers do not. */
static unsigned ino_rank(struct inos *t, uint64_t ino)
{
    for (unsigned i = 0; i < t->n; i++) {
        if (t->ino[i] == ino)
            return i;
    }
    if (t->n < 20000)
        t->ino[t->n++] = ino;
    return t->n - 1;
}

static void add_line(struct buf *out, const char *name, uint32_t mode, uint32_t nlink, uint32_t uid, uint32_t gid,
                     uint64_t rdev, uint64_t size)
{
    bool sized = S_ISREG(mode) || S_ISLNK(mode);
    buf_addf(out, "%s %o %u %u %u %llx %llu", name, mode, nlink, uid, gid, (unsigned long long)rdev,
             (unsigned long long)(sized ? size : 0));
}

static void hash_add(uint64_t *hash, uint64_t *zeros, const uint8_t *p, size_t n)
{
    /* Zeros are only counted, so that holes cost nothing and sides may cut the bytes into pieces as they like. */
    for (size_t i = 0; i < n; i++) {
        if (p[i] == 0) {
            ++*zeros;
            continue;
        }
        *hash = (*hash + *zeros * 31 + p[i]) * UINT64_C(0x9e3779b97f4a7c15);
        *hash ^= *hash >> 29;
        *zeros = 0;
    }
}

static void dump_vfs(struct vfs *t, uint64_t dir, struct buf *path_buf, struct buf *out, struct inos *inos)
{
    struct vfs_dirent e;
    char after[LIMIT_NAME + 1] = "";
    size_t base = path_buf->n;
    while (vfs_dir_next(t, dir, str_c(after), &e) == 1) {
        struct vfs_stat st;
        memcpy(after, e.name.p, e.name.n);
        after[e.name.n] = 0;
        buf_trunc(path_buf, base);
        buf_addf(path_buf, "/%s", after);
        CHECK_INT(vfs_stat_ino(t, e.ino, &st), 0);
        CHECK_INT(st.mode & S_IFMT, e.type);
        add_line(out, path_buf->p, st.mode, st.nlink, st.uid, st.gid, st.rdev, st.size);
        if (!S_ISDIR(st.mode) && st.nlink > 1)
            buf_addf(out, " #%u", ino_rank(inos, e.ino));
        if (S_ISLNK(st.mode)) {
            buf_addc(out, " -> ");
            CHECK_INT(vfs_readlink(t, &root_ctx, dir, str_c(after), out), 0);
        } else if (S_ISREG(st.mode)) {
            struct vfs_handle *h = NULL;
            uint64_t hash = 1, zero_run = 0, off = 0;
            const void *p = NULL;
            size_t n = 0;
            CHECK_INT(vfs_open_ino(t, e.ino, O_RDONLY, &h), 0);
            while (vfs_peek(h, off, &p, &n) == 0 && n > 0) {
                hash_add(&hash, &zero_run, p, n);
                off += n;
            }
            buf_addf(out, " %llx", (unsigned long long)hash);
            vfs_close(h);
        }
        buf_putc(out, '\n');
        if (S_ISDIR(st.mode))
            dump_vfs(t, e.ino, path_buf, out, inos);
    }
    buf_trunc(path_buf, base);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int no_dots(const struct dirent *d)
{
    return strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0;
}

static void dump_host(int dir, struct buf *path_buf, struct buf *out, struct inos *inos)
{
    struct dirent **list = NULL;
    int n = scandirat(dir, ".", &list, no_dots, by_name);
    size_t base = path_buf->n;
    for (int i = 0; i < n; i++) {
        const char *name = list[i]->d_name;
        struct stat st;
        char target[LIMIT_PATH];
        buf_trunc(path_buf, base);
        buf_addf(path_buf, "/%s", name);
        if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
            abort();
        add_line(out, path_buf->p, st.st_mode, (uint32_t)st.st_nlink, st.st_uid, st.st_gid, st.st_rdev,
                 (uint64_t)st.st_size);
        if (!S_ISDIR(st.st_mode) && st.st_nlink > 1)
            buf_addf(out, " #%u", ino_rank(inos, st.st_ino));
        if (S_ISLNK(st.st_mode)) {
            buf_addf(out, " -> %.*s", (int)readlinkat(dir, name, target, sizeof(target)), target);
        } else if (S_ISREG(st.st_mode)) {
            static uint8_t block[65536];
            uint64_t hash = 1, zero_run = 0;
            int fd = openat(dir, name, O_RDONLY | O_NOATIME);
            for (ssize_t got; (got = read(fd, block, sizeof(block))) > 0;)
                hash_add(&hash, &zero_run, block, (size_t)got);
            buf_addf(out, " %llx", (unsigned long long)hash);
            close(fd);
        }
        buf_putc(out, '\n');
        if (S_ISDIR(st.st_mode)) {
            int sub = openat(dir, name, O_RDONLY | O_DIRECTORY);
            dump_host(sub, path_buf, out, inos);
            close(sub);
        }
        free(list[i]);
    }
    free(list);
    buf_trunc(path_buf, base);
}

static void dump(struct vfs *t, struct buf *out)
{
    static struct inos inos;
    struct buf p;
    buf_init(&p, 1 << 20);
    inos.n = 0;
    buf_init(out, 64 << 20);
    if (t) {
        dump_vfs(t, VFS_ROOT_INO, &p, out, &inos);
    } else {
        become(0);
        int dir = open("/", O_RDONLY | O_DIRECTORY);
        dump_host(dir, &p, out, &inos);
        close(dir);
    }
    buf_done(&p);
}

/* Prints the first line that differs. */
static void first_difference(struct str a, struct str b)
{
    size_t i = 0, line = 0;
    while (i < a.n && i < b.n && a.p[i] == b.p[i]) {
        if (a.p[i] == '\n')
            line = i + 1;
        i++;
    }
    fprintf(stderr, "# ours:  %.*s\n# Linux: %.*s\n", (int)strcspn(a.p + line, "\n"), a.p + line,
            (int)strcspn(b.p + line, "\n"), b.p + line);
}

static void compare_trees(void)
{
    struct buf ours, theirs;
    const char *what = "";
    describe("comparing the trees", str_of("", 0), str_of("", 0), 0, 0);
    dump(v, &ours);
    dump(NULL, &theirs);
    if (!str_eq(buf_str(&ours), buf_str(&theirs))) {
        first_difference(buf_str(&ours), buf_str(&theirs));
        mismatch("trees", (long long)ours.n, (long long)theirs.n);
    }
    int rc = vfs_check(v, &what);
    if (rc < 0) {
        fprintf(stderr, "# vfs_check: %s\n", what);
        mismatch("vfs_check", rc, 0);
    }
    buf_done(&ours);
    buf_done(&theirs);
}

/* ---- what an operation did to the status ---- */

struct both {
    int rc, host_rc;
    struct vfs_stat st;
    struct stat host;
};

/* Status of @p as root sees it. */
static struct both look(struct str p)
{
    struct both b = {0};
    struct vfs_ctx ctx = ctx_of(0);
    b.rc = vfs_stat(v, &ctx, 0, p, VFS_NOFOLLOW, &b.st);
    become(0);
    b.host_rc = host(lstat(c(p), &b.host));
    return b;
}

static void compare_status(const char *what, const struct both *b)
{
    if (!same(what, b->rc, b->host_rc) || b->rc < 0)
        return;
    same("mode", b->st.mode, b->host.st_mode);
    same("nlink", b->st.nlink, (long long)b->host.st_nlink);
    same("uid", b->st.uid, b->host.st_uid);
    same("gid", b->st.gid, b->host.st_gid);
    if (!S_ISDIR(b->st.mode) || b->st.ino != VFS_ROOT_INO)
        same("size", (long long)b->st.size, b->host.st_size);
    if (b->st.mtime >= CLOCK_S * 5000000000 || b->host.st_mtime >= 5000000000)
        same("mtime", b->st.mtime, b->host.st_mtim.tv_sec * CLOCK_S + b->host.st_mtim.tv_nsec);
}

static bool moved(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec || a->tv_nsec != b->tv_nsec;
}

/* Gives @p a modification time long past on both sides: tmpfs may give two changes close together the same time. */
static void make_old(struct str p)
{
    struct vfs_ctx ctx = ctx_of(0);
    struct timespec ts[2] = {{0, UTIME_OMIT}, {1000000, 0}};
    uint64_t ino;
    become(0);
    if (vfs_lookup(v, &ctx, 0, p, VFS_NOFOLLOW, &ino) == 0 &&
        vfs_utimens(v, &creds[0], ino, INT64_MIN, 1000000 * CLOCK_S) == 0)
        same("making old", 0, host(utimensat(AT_FDCWD, c(p), ts, AT_SYMLINK_NOFOLLOW)));
}

/* An old modification time changes on both sides or on none; what changes on Linux changes here. */
static void compare_times(const struct both *before, const struct both *after)
{
    if (before->rc < 0 || after->rc < 0 || before->st.ino != after->st.ino || before->host.st_ino != after->host.st_ino)
        return;
    bool mtime = before->st.mtime != after->st.mtime, ctime_ = before->st.ctime != after->st.ctime;
    bool host_mtime = moved(&before->host.st_mtim, &after->host.st_mtim);
    if (before->host.st_mtim.tv_sec <= 1000000 || host_mtime)
        same("mtime moved", mtime, host_mtime);
    if (moved(&before->host.st_ctim, &after->host.st_ctim))
        same("ctime moved", ctime_, true);
}

/* The directory part of a path, in a buffer of its own. */
static struct str dir_of(struct str p)
{
    static char text[1 << 14];
    while (p.n > 1 && p.p[p.n - 1] == '/')
        p.n--;
    while (p.n > 0 && p.p[p.n - 1] != '/')
        p.n--;
    if (p.n == 0 || p.n >= sizeof(text))
        return STR(".");
    memcpy(text, p.p, p.n);
    text[p.n] = 0;
    return str_of(text, p.n);
}

/* ---- operations ---- */

static void op_mkdir(struct str p)
{
    struct vfs_ctx ctx = ctx_of(who);
    uint32_t mode = random_mode();
    describe("mkdir", p, str_of("", 0), mode, 0);
    int rc = vfs_mkdir(v, &ctx, 0, p, mode);
    become(who);
    same("result", rc, host(mkdir(c(p), mode)));
}

static void op_rmdir(struct str p)
{
    struct vfs_ctx ctx = ctx_of(who);
    describe("rmdir", p, str_of("", 0), 0, 0);
    int rc = vfs_rmdir(v, &ctx, 0, p);
    become(who);
    same("result", rc, host(rmdir(c(p))));
}

static void op_unlink(struct str p)
{
    struct vfs_ctx ctx = ctx_of(who);
    describe("unlink", p, str_of("", 0), 0, 0);
    int rc = vfs_unlink(v, &ctx, 0, p);
    become(who);
    same("result", rc, host(unlink(c(p))));
}

static void op_symlink(struct str p)
{
    struct vfs_ctx ctx = ctx_of(who);
    struct str target = path();
    describe("symlink", target, p, 0, 0);
    int rc = vfs_symlink(v, &ctx, target, 0, p);
    become(who);
    same("result", rc, host(symlink(c(target), c(p))));
}

static void op_link(struct str p)
{
    struct vfs_ctx ctx = ctx_of(who);
    struct str to = path();
    bool follow = chance(50);
    describe("link", p, to, follow, 0);
    int rc = vfs_link(v, &ctx, 0, p, 0, to, follow ? VFS_FOLLOW_OLD : 0);
    become(who);
    same("result", rc, host(linkat(AT_FDCWD, c(p), AT_FDCWD, c(to), follow ? AT_SYMLINK_FOLLOW : 0)));
}

static void op_rename(struct str p)
{
    struct vfs_ctx ctx = ctx_of(who);
    struct str to = path();
    unsigned flags = chance(70) ? 0 : (unsigned)rnd(4);
    describe("rename", p, to, flags, 0);
    struct both before = look(p);
    int rc = vfs_rename(v, &ctx, 0, p, 0, to, flags);
    become(who);
    if (same("result", rc, host(renameat2(AT_FDCWD, c(p), AT_FDCWD, c(to), flags))) && rc == 0) {
        struct both after = look(to);
        compare_status("target", &after);
        compare_times(&before, &after);
    }
}

static void op_mknod(struct str p)
{
    static const uint32_t types[] = {S_IFIFO, S_IFREG, S_IFSOCK, S_IFCHR, S_IFDIR, 0, S_IFLNK};
    struct vfs_ctx ctx = ctx_of(who);
    uint32_t type = types[chance(70) ? rnd(3) : rnd(7)];
    uint32_t mode = random_mode();
    if (type == S_IFCHR && !devices)
        return;
    describe("mknod", p, str_of("", 0), type | mode, 0);
    int rc = vfs_mknod(v, &ctx, 0, p, type | mode, makedev(1, 3));
    become(who);
    same("result", rc, host(mknod(c(p), type | mode, makedev(1, 3))));
}

static int find_ino(struct str p, int flags, uint64_t *ino)
{
    struct vfs_ctx ctx = ctx_of(who);
    return vfs_lookup(v, &ctx, 0, p, flags, ino);
}

static void op_chmod(struct str p)
{
    uint64_t ino = 0;
    uint32_t mode = random_mode();
    describe("chmod", p, str_of("", 0), mode, 0);
    int rc = find_ino(p, 0, &ino);
    if (rc == 0)
        rc = vfs_chmod(v, &creds[who], ino, mode);
    become(who);
    same("result", rc, host(chmod(c(p), mode)));
}

static void op_chown(struct str p)
{
    static const uint32_t ids[] = {0, 1000, 1001, 2000, UINT32_MAX};
    uint64_t ino = 0;
    uint32_t uid = ids[rnd(5)], gid = ids[rnd(uid == UINT32_MAX ? 4 : 5)];
    bool follow = chance(70);
    if (n_creds == 1)
        uid = gid = 0;
    describe(follow ? "chown" : "lchown", p, str_of("", 0), uid, gid);
    int rc = find_ino(p, follow ? 0 : VFS_NOFOLLOW, &ino);
    if (rc == 0)
        rc = vfs_chown(v, &creds[who], ino, uid, gid);
    become(who);
    same("result", rc, host(fchownat(AT_FDCWD, c(p), uid, gid, follow ? 0 : AT_SYMLINK_NOFOLLOW)));
}

static void random_time(int64_t *ours, struct timespec *theirs)
{
    unsigned what = (unsigned)rnd(4);
    if (what == 0) {
        *ours = INT64_MIN;
        *theirs = (struct timespec){0, UTIME_OMIT};
    } else if (what == 1) {
        *ours = INT64_MAX;
        *theirs = (struct timespec){0, UTIME_NOW};
    } else {
        *theirs = (struct timespec){(time_t)(5000000000 + (int64_t)rnd(1000000)), (long)rnd(1000000000)};
        *ours = theirs->tv_sec * CLOCK_S + theirs->tv_nsec;
    }
}

static void op_utimens(struct str p)
{
    uint64_t ino = 0;
    int64_t atime, mtime;
    struct timespec ts[2];
    random_time(&atime, &ts[0]);
    random_time(&mtime, &ts[1]);
    describe("utimens", p, str_of("", 0), (uint64_t)ts[0].tv_nsec, ts[1].tv_nsec);
    int rc = find_ino(p, VFS_NOFOLLOW, &ino);
    if (rc == 0)
        rc = vfs_utimens(v, &creds[who], ino, atime, mtime);
    become(who);
    /* With both times left alone Linux does not even look the path up. */
    if (atime == INT64_MIN && mtime == INT64_MIN)
        return;
    same("result", rc, host(utimensat(AT_FDCWD, c(p), ts, AT_SYMLINK_NOFOLLOW)));
}

static void op_stat(struct str p)
{
    struct vfs_ctx ctx = ctx_of(who);
    struct vfs_stat st;
    struct stat hst;
    bool follow = chance(50);
    describe(follow ? "stat" : "lstat", p, str_of("", 0), 0, 0);
    int rc = vfs_stat(v, &ctx, 0, p, follow ? 0 : VFS_NOFOLLOW, &st);
    become(who);
    if (same("result", rc, host(fstatat(AT_FDCWD, c(p), &hst, follow ? 0 : AT_SYMLINK_NOFOLLOW))) && rc == 0)
        same("mode", st.mode, hst.st_mode);
}

static void op_access(struct str p)
{
    struct vfs_ctx ctx = ctx_of(who);
    int want = (int)rnd(8);
    describe("access", p, str_of("", 0), (uint64_t)want, 0);
    int rc = vfs_access(v, &ctx, 0, p, want, 0);
    become(who);
    same("result", rc, host(faccessat(AT_FDCWD, c(p), want, AT_EACCESS)));
}

static void op_readlink(struct str p)
{
    struct vfs_ctx ctx = ctx_of(who);
    struct buf b;
    char target[LIMIT_PATH];
    buf_init(&b, LIMIT_PATH);
    describe("readlink", p, str_of("", 0), 0, 0);
    int rc = vfs_readlink(v, &ctx, 0, p, &b);
    become(who);
    int n = host(readlink(c(p), target, sizeof(target)));
    if (same("result", rc, n < 0 ? n : 0) && rc == 0)
        same("target", str_eq(buf_str(&b), str_of(target, (size_t)n)), 1);
    buf_done(&b);
}

static void close_pair(struct pair *p)
{
    if (!p->h)
        return;
    vfs_close(p->h);
    close(p->fd);
    *p = (struct pair){.fd = -1};
}

static void op_open(struct str p)
{
    static const int flags[] = {O_CREAT, O_EXCL, O_TRUNC, O_APPEND, O_NOFOLLOW, O_DIRECTORY, O_PATH};
    struct pair *slot = &pairs[rnd(N_HANDLES)];
    struct vfs_ctx ctx = ctx_of(who);
    struct vfs_stat st;
    int oflags = (int)rnd(3);
    uint32_t mode = random_mode();
    for (unsigned i = 0; i < 7; i++)
        oflags |= chance(i == 0 ? 60 : i < 4 ? 20 : 6) ? flags[i] : 0;
    describe("open", p, str_of("", 0), (uint64_t)oflags, (int64_t)mode);
    close_pair(slot);
    /* A FIFO waits, or not, for another end: that is not the tree's business. */
    struct vfs_ctx root = ctx_of(0);
    if (vfs_stat(v, &root, 0, p, 0, &st) == 0 && S_ISFIFO(st.mode))
        return;
    int rc = vfs_open(v, &ctx, 0, p, oflags, mode, &slot->h);
    become(who);
    int fd = host(open(c(p), oflags | O_CLOEXEC, mode));
    if (!same("result", rc, fd < 0 ? fd : 0) || rc < 0) {
        if (fd >= 0)
            close(fd);
        return;
    }
    slot->fd = fd;
    slot->cred = who;
    struct stat hst;
    if (fstat(fd, &hst) == 0 && vfs_stat_ino(v, vfs_handle_ino(slot->h), &st) == 0) {
        same("mode of the open file", st.mode, hst.st_mode);
        same("links of the open file", st.nlink, (long long)hst.st_nlink);
        slot->regular = S_ISREG(st.mode);
    }
}

static uint64_t random_offset(void)
{
    return chance(50) ? rnd(300) : chance(80) ? rnd(70000) : rnd(400000);
}

static void op_write(struct pair *p)
{
    static uint8_t data[150000];
    size_t n = (size_t)(chance(70) ? rnd(200) : chance(80) ? rnd(9000) : rnd(sizeof(data)));
    uint64_t off = random_offset(), end = 0;
    uint64_t x = test_rand(&rng);
    for (size_t i = 0; i < n; i++)
        data[i] = (uint8_t)(x >> (i % 56)) & (uint8_t)(x >> 7);
    describe("pwrite", str_of("", 0), str_of("", 0), n, (int64_t)off);
    who = p->cred;
    long long rc = vfs_pwrite(p->h, data, n, off, &end);
    become(p->cred);
    ssize_t got = pwrite(p->fd, data, n, (off_t)off);
    same("result", rc, got < 0 ? -errno : got);
}

static void op_read(struct pair *p)
{
    static uint8_t ours[100000], theirs[100000];
    size_t n = (size_t)(chance(70) ? rnd(200) : rnd(sizeof(ours)));
    uint64_t off = random_offset();
    describe("pread", str_of("", 0), str_of("", 0), n, (int64_t)off);
    long long rc = vfs_pread(p->h, ours, n, off);
    ssize_t got = pread(p->fd, theirs, n, (off_t)off);
    if (same("result", rc, got < 0 ? -errno : got) && rc > 0)
        same("bytes", memcmp(ours, theirs, (size_t)rc), 0);
}

static void op_truncate(struct pair *p)
{
    uint64_t size = chance(20) ? 0 : random_offset();
    describe("ftruncate", str_of("", 0), str_of("", 0), size, 0);
    who = p->cred;
    int rc = vfs_ftruncate(p->h, size);
    become(p->cred);
    same("result", rc, host(ftruncate(p->fd, (off_t)size)));
}

/* An operation on an open file; its status is compared after. */
static void op_handle(void)
{
    struct pair *p = &pairs[rnd(N_HANDLES)];
    if (!p->h || !p->regular)
        return;
    struct both before = {0}, after = {0};
    before.rc = vfs_stat_ino(v, vfs_handle_ino(p->h), &before.st);
    before.host_rc = host(fstat(p->fd, &before.host));
    unsigned what = (unsigned)rnd(10);
    if (what < 5)
        op_write(p);
    else if (what < 8)
        op_read(p);
    else
        op_truncate(p);
    after.rc = vfs_stat_ino(v, vfs_handle_ino(p->h), &after.st);
    after.host_rc = host(fstat(p->fd, &after.host));
    compare_status("fstat", &after);
    compare_times(&before, &after);
    same("size of the handle", (long long)vfs_handle_size(p->h), after.host.st_size);
}

static void op_chdir(struct str p)
{
    struct vfs_ctx ctx = ctx_of(who);
    uint64_t ino = 0;
    describe("chdir", p, str_of("", 0), 0, 0);
    int rc = vfs_lookup(v, &ctx, 0, p, VFS_DIRECTORY, &ino);
    if (rc == 0)
        rc = vfs_access_ino(v, &creds[who], ino, X_OK);
    become(who);
    if (same("result", rc, host(chdir(c(p)))) && rc == 0) {
        struct vfs_handle *h = NULL;
        CHECK_INT(vfs_open_ino(v, ino, O_PATH, &h), 0);
        vfs_close(cwd.h);
        cwd.h = h;
    }
}

static void op_getcwd(void)
{
    char there[LIMIT_PATH];
    struct buf b;
    buf_init(&b, LIMIT_PATH);
    describe("getcwd", str_of("", 0), str_of("", 0), 0, 0);
    become(0);
    int rc = vfs_dir_path(v, vfs_handle_ino(cwd.h), &b);
    const char *got = getcwd(there, sizeof(there));
    if (same("result", rc, got ? 0 : -errno) && rc == 0)
        same("cwd", strcmp(b.p, there), 0);
    buf_done(&b);
}

static void op_path(void)
{
    static void (*const ops[])(struct str p) = {
        op_mkdir,  op_mkdir,  op_mkdir,    op_rmdir, op_unlink, op_unlink, op_symlink, op_link,
        op_rename, op_rename, op_rename,   op_mknod, op_chmod,  op_chmod,  op_chown,   op_utimens,
        op_stat,   op_access, op_readlink, op_open,  op_open,   op_open,   op_open,    op_chdir,
    };
    struct str p = path();
    static char copy[1 << 14];
    memcpy(copy, p.p, p.n + 1);
    p.p = copy;
    describe("making old", p, str_of("", 0), 0, 0);
    if (chance(30))
        make_old(p);
    if (chance(30))
        make_old(dir_of(p));
    struct both before = look(p), before_dir = look(dir_of(p));
    ops[rnd(sizeof(ops) / sizeof(ops[0]))](p);
    if (stop)
        return;
    struct both after = look(p), after_dir = look(dir_of(p));
    compare_status("lstat after", &after);
    compare_status("lstat of the directory after", &after_dir);
    compare_times(&before, &after);
    compare_times(&before_dir, &after_dir);
}

/* ---- forks ---- */

static void check_fork(struct fork *f)
{
    struct buf now;
    const char *what = "";
    dump(f->v, &now);
    describe("a fork", str_of("", 0), str_of("", 0), 0, 0);
    if (!str_eq(buf_str(&now), buf_str(&f->dump))) {
        first_difference(buf_str(&now), buf_str(&f->dump));
        mismatch("fork changed", (long long)now.n, (long long)f->dump.n);
    }
    if (vfs_check(f->v, &what) < 0) {
        fprintf(stderr, "# vfs_check: %s\n", what);
        mismatch("vfs_check of a fork", 1, 0);
    }
    buf_done(&now);
}

/* The tree, stored and loaded. */
static struct vfs *by_way_of_the_store(void)
{
    struct vfs_image_env env = {.quota = {0}};
    struct vfs_canon *known = NULL;
    struct cas_id root, image, again;
    struct vfs *next = NULL;
    if (!store)
        store = mem_store_new();
    if (!canon)
        canon = vfs_canon_new();
    vfs_get_quota(v, &env.quota);
    describe("store and load", str_of("", 0), str_of("", 0), 0, 0);
    if (vfs_image_store(v, canon, store, &root, &image) < 0 ||
        vfs_image_load(store, &image, &env, &next, &known, &again) < 0 || cas_id_cmp(&root, &again) != 0) {
        mismatch("store and load", 1, 0);
        return vfs_fork(v);
    }
    vfs_canon_free(canon);
    canon = known;
    return next;
}

static void op_fork(void)
{
    struct fork *f = &forks[rnd(N_FORKS)];
    if (f->v) {
        check_fork(f);
        vfs_free(f->v);
        buf_done(&f->dump);
    }
    f->v = vfs_fork(v);
    dump(f->v, &f->dump);
    if (!chance(40))
        return;
    /* Go on with a fork instead: handles belong to one tree, so they are closed on both sides. */
    for (unsigned i = 0; i < N_HANDLES; i++)
        close_pair(&pairs[i]);
    vfs_close(cwd.h);
    become(0);
    if (chdir("/") < 0)
        abort();
    struct vfs *next = chance(50) ? vfs_fork(v) : by_way_of_the_store();
    vfs_free(v);
    v = next;
    CHECK_INT(vfs_open_ino(v, VFS_ROOT_INO, O_PATH, &cwd.h), 0);
}

/* ---- the runs ---- */

/* Back to the real root: sanitizers look into /proc at the end. */
static void leave_tmpfs(void)
{
    become(0);
    if (fchdir(old_root) < 0 || chroot(".") < 0)
        abort();
    close(old_root);
    umount2(root_dir, MNT_DETACH);
    rmdir(root_dir);
}

static void write_file(const char *name, const char *text)
{
    int fd = open(name, O_WRONLY);
    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
        test_skip("no user namespace to be root in");
    close(fd);
}

/* A tmpfs of our own as the root directory. */
static void enter_tmpfs(void)
{
    char text[64];
    uid_t uid = getuid();
    gid_t gid = getgid();
    if (uid != 0) {
        if (n_creds > 1)
            test_skip("needs root for several users");
        if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
            test_skip("no user namespace to be root in");
        write_file("/proc/self/setgroups", "deny");
        snprintf(text, sizeof(text), "0 %u 1", uid);
        write_file("/proc/self/uid_map", text);
        snprintf(text, sizeof(text), "0 %u 1", gid);
        write_file("/proc/self/gid_map", text);
    } else if (unshare(CLONE_NEWNS) < 0) {
        test_skip("no mount namespace");
    }
    if (!mkdtemp(root_dir) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("tmpfs", root_dir, "tmpfs", 0, "mode=0755") < 0)
        test_skip("cannot mount a tmpfs");
    old_root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (old_root < 0 || chdir(root_dir) < 0 || chroot(".") < 0 || chdir("/") < 0)
        test_skip("cannot chroot");
}

static void run(int users, uint64_t ops)
{
    static const struct vfs_quota quota = {UINT64_C(1) << 40, 1 << 20};
    n_creds = users;
    rng = test_seed();
    devices = getuid() == 0;
    enter_tmpfs();
    v = vfs_new(&quota);
    vfs_set_clock(v, tick, NULL);
    CHECK_INT(vfs_chmod(v, &creds[0], VFS_ROOT_INO, 0777), 0);
    CHECK_INT(chmod("/", 0777), 0);
    CHECK_INT(vfs_open_ino(v, VFS_ROOT_INO, O_PATH, &cwd.h), 0);
    for (op_number = 0; op_number < ops && !stop; op_number++) {
        who = (int)rnd((uint64_t)n_creds);
        if (chance(35))
            op_handle();
        else if (chance(2))
            op_getcwd();
        else
            op_path();
        if (!stop && op_number % 1000 == 999)
            compare_trees();
        if (!stop && op_number % 2500 == 2499)
            op_fork();
    }
    if (!stop)
        compare_trees();
    for (unsigned i = 0; i < N_HANDLES; i++)
        close_pair(&pairs[i]);
    vfs_close(cwd.h);
    for (unsigned i = 0; i < N_FORKS; i++) {
        if (!forks[i].v)
            continue;
        if (!stop)
            check_fork(&forks[i]);
        vfs_free(forks[i].v);
        buf_done(&forks[i].dump);
    }
    const char *what = "";
    CHECK_INT(vfs_check(v, &what), 0);
    vfs_free(v);
    vfs_canon_free(canon);
    canon = NULL;
    if (store)
        mem_store_free(store);
    store = NULL;
    leave_tmpfs();
}

TEST_LIMIT(model_root, 600)
{
    run(1, test_env("FRONTAL_MODEL_OPS", 200000) / 2);
}

TEST_LIMIT(model_users, 600)
{
    run(N_CREDS, test_env("FRONTAL_MODEL_OPS", 200000) / 2);
}
