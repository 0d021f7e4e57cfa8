/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Fuzz target: the mount resolver. A host directory full of symlinks that point out of it is mounted copy-on-write,
 * and the input is walked, read and changed in the tree, with moves that make origins and paths differ. What lies
 * outside of the mount, or any change of what lies inside of it, ends the run.
 */

#include <fcntl.h>
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "vfs/vfs.h"

/* The target (its name is libFuzzer's). */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#define SECRET "this lies outside of the mount"

static char top[64];
static int mount_fd = -1;
static const struct vfs_cred root = {0};
static const struct vfs_quota quota = {1 << 20, 300};

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st;
    (void)flag;
    (void)ftw;
    return remove(path);
}

static void teardown(void)
{
    nftw(top, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void put(int dir, const char *name, const char *text)
{
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0 || write(fd, text, strlen(text)) < 0)
        abort();
    close(fd);
}

static void setup(void)
{
    static const char *const links[][2] = {
        {"../secret", "s"},       {"..", "u"},          {"/", "r"}, {"d", "l"}, {"../../m/../secret", "d/s"},
        {"/proc/self/root", "p"}, {"e/../../..", "d/u"}};
    snprintf(top, sizeof(top), "/tmp/frontal-fuzz-XXXXXX");
    if (!mkdtemp(top))
        abort();
    atexit(teardown);
    int dir = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    put(dir, "secret", SECRET);
    if (dir < 0 || mkdirat(dir, "m", 0755) < 0)
        abort();
    mount_fd = openat(dir, "m", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (mount_fd < 0 || mkdirat(mount_fd, "d", 0755) < 0 || mkdirat(mount_fd, "d/e", 0755) < 0)
        abort();
    for (unsigned i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
        if (symlinkat(links[i][0], mount_fd, links[i][1]) < 0)
            abort();
    }
    put(mount_fd, "f", "inside");
    put(mount_fd, "d/e/g", "inside");
    close(dir);
}

/* Nothing in the mount may be other than setup() made it. */
static void check_host(void)
{
    char text[16] = "";
    int fd = openat(mount_fd, "f", O_RDONLY | O_CLOEXEC), deep = openat(mount_fd, "d/e/g", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || deep < 0 || read(fd, text, sizeof(text)) != 6 || memcmp(text, "inside", 6) != 0 ||
        faccessat(mount_fd, "new", F_OK, 0) == 0)
        abort();
    close(fd);
    close(deep);
}

static void read_path(struct vfs *v, const struct vfs_ctx *ctx, struct str path, int oflags)
{
    struct vfs_handle *h = NULL;
    char text[64];
    if (vfs_open(v, ctx, 0, path, oflags, 0644, &h) < 0)
        return;
    ssize_t n = vfs_pread(h, text, sizeof(text), 0);
    if (n == (ssize_t)strlen(SECRET) && memcmp(text, SECRET, strlen(SECRET)) == 0)
        abort();
    vfs_pwrite(h, "changed", 7, 0, NULL);
    vfs_close(h);
}

/* One line of the input: a letter and a path below the mount; "m" and "s" take the line after as well. */
static void run_line(struct vfs *v, const struct vfs_ctx *ctx, struct str line, struct str next)
{
    struct str path = str_from(line, 1);
    struct vfs_stat st;
    switch (line.n ? line.p[0] : 0) {
    case 'r':
        read_path(v, ctx, path, O_RDONLY);
        break;
    case 'w':
        read_path(v, ctx, path, O_RDWR | O_CREAT);
        break;
    case 't':
        read_path(v, ctx, path, O_RDWR | O_TRUNC);
        break;
    case 'm':
        vfs_rename(v, ctx, 0, path, 0, str_from(next, 1), 0);
        break;
    case 'x':
        vfs_rename(v, ctx, 0, path, 0, str_from(next, 1), 2);
        break;
    case 's':
        vfs_symlink(v, ctx, path, 0, str_from(next, 1));
        break;
    case 'd':
        vfs_mkdir(v, ctx, 0, path, 0755);
        break;
    case 'u':
        vfs_unlink(v, ctx, 0, path);
        break;
    default:
        vfs_stat(v, ctx, 0, line, 0, &st);
        break;
    }
}

static int count_change(void *arg, const struct vfs_change *c)
{
    (void)c;
    ++*(unsigned *)arg;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct str in = str_of((const char *)data, n);
    const char *what;
    unsigned changes = 0;
    if (mount_fd < 0)
        setup();
    struct vfs *v = vfs_new(&quota);
    int fd = fcntl(mount_fd, F_DUPFD_CLOEXEC, 0);
    if (!v || vfs_mount_host(v, STR("/m"), fd, VFS_MOUNT_COW, 0, 0, 0, 0) < 0)
        abort();
    struct vfs *before = vfs_fork(v);
    struct vfs_ctx ctx = {.cred = &root, .cwd = VFS_ROOT_INO, .umask = 022};
    if (!before || vfs_lookup(v, &ctx, 0, STR("/m"), 0, &ctx.cwd) < 0)
        abort();
    for (unsigned i = 0; in.n > 0 && i < 200; i++) {
        ptrdiff_t end = str_find(in, '\n', 0);
        struct str line = end < 0 ? in : str_of(in.p, (size_t)end);
        in = end < 0 ? str_of(in.p + in.n, 0) : str_from(in, (size_t)end + 1);
        ptrdiff_t next = str_find(in, '\n', 0);
        run_line(v, &ctx, line, next < 0 ? in : str_of(in.p, (size_t)next));
    }
    if (vfs_check(v, &what) < 0 || vfs_diff(before, v, count_change, &changes) < 0)
        abort();
    vfs_free(v);
    vfs_free(before);
    check_host();
    return 0;
}
