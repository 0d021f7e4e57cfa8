/* SPDX-License-Identifier: Apache-2.0 */
#include "proc/test/proc_test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/num.h"
#include "engine/engine.h"

/* Descriptors, pipes, streams, devices, programs, /proc and the base tree. */

/* Runs @main on a fresh machine and compares what it wrote. */
static struct outcome run_once(proc_main main, const char *want)
{
    struct world w;
    world_init(&w);
    struct outcome o = world_run(&w, main, NULL);
    CHECK_STR(buf_str(&w.out), str_c(want));
    world_done(&w);
    return o;
}

/* Reads what there is of a descriptor, once. */
static struct str get(struct proc *p, int fd, char *buf, size_t n)
{
    ssize_t r = proc_read(p, fd, buf, n);
    CHECK(r >= 0);
    return str_of(buf, r < 0 ? 0 : (size_t)r);
}

/* ---- pipes ---- */

static struct outcome main_yes(struct proc *p, void *arg)
{
    int *fds = arg;
    char buf[65536];
    proc_close(p, fds[0]);
    memset(buf, 'y', sizeof(buf));
    size_t total = 0;
    for (;;) {
        ssize_t r = proc_write(p, fds[1], buf, sizeof(buf));
        if (r < 0) {
            CHECK(r == -EPIPE || r == -EINTR);
            CHECK(p->must_end);
            break;
        }
        total += (size_t)r;
    }
    CHECK(total <= 3 * 65536);
    return exited(0);
}

static struct outcome main_yes_head(struct proc *p, void *arg)
{
    (void)arg;
    int fds[2];
    char c;
    struct outcome o;
    CHECK_INT(proc_pipe(p, fds, false), 0);
    CHECK_INT(fds[0], 3);
    CHECK_INT(fds[1], 4);
    int pid = spawn(p, main_yes, fds)->pid;
    proc_close(p, fds[1]);
    CHECK_STR(get(p, fds[0], &c, 1), STR("y"));
    proc_close(p, fds[0]);
    CHECK_INT(wait_for(p, pid, &o), pid);
    CHECK_INT(o.signal, SIGPIPE);
    return exited(0);
}

TEST(yes_head_ends_at_once)
{
    run_once(main_yes_head, "");
}

static struct outcome main_ignores_pipe(struct proc *p, void *arg)
{
    (void)arg;
    int fds[2];
    proc_pipe(p, fds, false);
    proc_close(p, fds[0]);
    proc_sigaction(p, SIGPIPE, PROC_SIG_IGNORE);
    CHECK_INT(proc_write(p, fds[1], "x", 1), -EPIPE);
    CHECK_INT(proc_write(p, fds[1], "x", 0), 0);
    CHECK_INT(proc_lseek(p, fds[1], 0, SEEK_CUR), -ESPIPE);
    CHECK_INT(proc_read(p, fds[1], NULL, 1), -EBADF);
    put(p, 1, "alive");
    return exited(0);
}

TEST(ignored_sigpipe_is_epipe)
{
    run_once(main_ignores_pipe, "alive");
}

/* Writers of whole records of one letter each. */
static struct outcome main_records(struct proc *p, void *arg)
{
    char rec[LIMIT_PIPE_BUF];
    const int *a = arg;
    memset(rec, a[1], sizeof(rec));
    for (int i = 0; i < 50; i++)
        CHECK_INT(proc_write(p, a[0], rec, 3000), 3000);
    return exited(0);
}

static struct outcome main_atomic(struct proc *p, void *arg)
{
    (void)arg;
    int fds[2];
    char *buf = mem_alloc(1 << 20);
    size_t n = 0;
    proc_pipe(p, fds, false);
    int a[3][2] = {{fds[1], 'a'}, {fds[1], 'b'}, {fds[1], 'c'}};
    for (int i = 0; i < 3; i++)
        spawn(p, main_records, a[i]);
    proc_close(p, fds[1]);
    /* Odd sizes, by copying and by peeking in turn. */
    for (int turn = 0;; turn++) {
        ssize_t r;
        if (turn & 1) {
            const void *q;
            size_t k;
            CHECK_INT(proc_peek(p, fds[0], &q, &k), 0);
            k = NUM_MIN(k, (size_t)777);
            memcpy(buf + n, q, k);
            proc_consume(p, fds[0], k);
            r = (ssize_t)k;
        } else {
            r = proc_read(p, fds[0], buf + n, 1 + (size_t)turn * 37 % 5000);
        }
        if (r <= 0)
            break;
        n += (size_t)r;
    }
    CHECK_INT(n, 3 * 50 * 3000);
    for (size_t i = 0; i < n; i++)
        if (buf[i] != buf[i / 3000 * 3000] && !test_check(0, __FILE__, __LINE__, "a record is torn"))
            break;
    mem_free(buf);
    while (wait_for(p, -1, NULL) > 0)
        ;
    return exited(0);
}

TEST(small_writes_are_atomic)
{
    run_once(main_atomic, "");
}

static struct outcome main_stage(struct proc *p, void *arg)
{
    const int *a = arg; /* in, out */
    char buf[3000];
    for (int fd = 3; fd < 40; fd++)
        if (fd != a[0] && fd != a[1])
            proc_close(p, fd);
    for (;;) {
        ssize_t r = proc_read(p, a[0], buf, sizeof(buf));
        if (r <= 0)
            return exited(r < 0);
        if (proc_write(p, a[1], buf, (size_t)r) != r)
            return exited(1);
    }
}

static struct outcome main_source(struct proc *p, void *arg)
{
    const int *a = arg;
    uint8_t buf[5000];
    uint32_t x = 1;
    for (int fd = 3; fd < 40; fd++)
        if (fd != a[1])
            proc_close(p, fd);
    for (int i = 0; i < 400; i++) {
        for (size_t k = 0; k < sizeof(buf); k++)
            buf[k] = (uint8_t)((x = x * 1103515245 + 12345) >> 16);
        CHECK_INT(proc_write(p, a[1], buf, sizeof(buf)), sizeof(buf));
    }
    return exited(0);
}

static struct outcome main_pipeline(struct proc *p, void *arg)
{
    (void)arg;
    int f[5][2], a[5][2];
    for (int i = 0; i < 5; i++)
        proc_pipe(p, f[i], false);
    a[0][1] = f[0][1];
    spawn(p, main_source, a[0]);
    for (int i = 1; i < 5; i++) {
        a[i][0] = f[i - 1][0];
        a[i][1] = f[i][1];
        spawn(p, main_stage, a[i]);
    }
    for (int i = 0; i < 5; i++) {
        proc_close(p, f[i][1]);
        if (i < 4)
            proc_close(p, f[i][0]);
    }
    uint32_t x = 1;
    size_t n = 0;
    for (;;) {
        const void *q;
        size_t k;
        CHECK_INT(proc_peek(p, f[4][0], &q, &k), 0);
        if (!k)
            break;
        for (size_t i = 0; i < k; i++)
            if (((const uint8_t *)q)[i] != (uint8_t)((x = x * 1103515245 + 12345) >> 16) &&
                !test_check(0, __FILE__, __LINE__, "a byte is wrong"))
                return exited(1);
        proc_consume(p, f[4][0], k);
        n += k;
    }
    CHECK_INT(n, 2000000);
    struct outcome o;
    while (wait_for(p, -1, &o) > 0)
        CHECK_INT(o.code, 0);
    return exited(0);
}

TEST(bytes_pass_through_stages)
{
    run_once(main_pipeline, "");
}

static struct outcome main_nonblock(struct proc *p, void *arg)
{
    (void)arg;
    char buf[4096] = "";
    CHECK_INT(vfs_mknod(proc_set_vfs(p->ps), &(struct vfs_ctx){.cred = &p->cred, .cwd = vfs_handle_ino(p->cwd)}, 0,
                        STR("f"), S_IFIFO | 0600, 0),
              0);
    CHECK_INT(proc_open(p, STR("f"), O_WRONLY | O_NONBLOCK, 0), -ENXIO);
    int r = proc_open(p, STR("f"), O_RDONLY | O_NONBLOCK, 0);
    int w = proc_open(p, STR("f"), O_WRONLY | O_NONBLOCK, 0);
    CHECK_INT(r, 3);
    CHECK_INT(w, 4);
    CHECK_INT(proc_read(p, r, buf, 1), -EAGAIN);
    int n = 0;
    while (proc_write(p, w, buf, 4096) == 4096)
        n++;
    CHECK_INT(n, 16);
    CHECK_INT(proc_write(p, w, buf, 1), -EAGAIN);
    proc_close(p, w);
    while (proc_read(p, r, buf, 4096) > 0)
        n--;
    CHECK_INT(n, 0);
    struct vfs_stat st;
    CHECK_INT(proc_fstat(p, r, &st), 0);
    CHECK(S_ISFIFO(st.mode));
    return exited(0);
}

TEST(nonblocking_fifo)
{
    run_once(main_nonblock, "");
}

static struct outcome main_fifo_writer(struct proc *p, void *arg)
{
    (void)arg;
    int fd = proc_open(p, STR("/tmp/fifo"), O_WRONLY, 0);
    if (p->must_end) {
        CHECK_INT(fd, -EINTR);
        return exited(0);
    }
    put(p, fd, "through");
    return exited(0);
}

static struct outcome main_fifo(struct proc *p, void *arg)
{
    (void)arg;
    char buf[64];
    struct vfs_ctx ctx = proc_ctx(p);
    CHECK_INT(vfs_mknod(proc_set_vfs(p->ps), &ctx, 0, STR("/tmp/fifo"), S_IFIFO | 0644, 0), 0);
    for (int i = 0; i < 3; i++) {
        spawn(p, main_fifo_writer, NULL);
        if (i == 1)
            proc_yield(p); /* the writer waits first */
        int fd = proc_open(p, STR("/tmp/fifo"), O_RDONLY, 0);
        CHECK_STR(get(p, fd, buf, sizeof(buf)), STR("through"));
        CHECK_INT(proc_read(p, fd, buf, 1), 0);
        proc_close(p, fd);
        wait_for(p, -1, NULL);
    }
    /* A kill gets it out of the open. */
    struct proc *c = spawn(p, main_fifo_writer, NULL);
    proc_yield(p);
    world_check(p->ps);
    proc_kill(p, c->pid, SIGKILL);
    return exited(0);
}

TEST(fifos_wait_for_both_ends)
{
    struct world w;
    world_init(&w);
    proc_begin(w.ps);
    world_start(&w, main_fifo, NULL);
    int64_t wake;
    proc_run(w.ps, NULL, &wake);
    CHECK_INT(proc_count(w.ps), 0);
    world_done(&w);
}

/* ---- descriptors ---- */

static struct outcome main_fds(struct proc *p, void *arg)
{
    (void)arg;
    int fd = proc_open(p, STR("f"), O_RDWR | O_CREAT | O_TRUNC, 0666);
    CHECK_INT(fd, 3);
    struct vfs_stat st;
    CHECK_INT(proc_fstat(p, fd, &st), 0);
    CHECK_INT(st.mode, S_IFREG | 0644);
    put(p, fd, "hello world");
    CHECK_INT(proc_dup2(p, fd, 10, false), 10);
    CHECK_INT(proc_dup2(p, 10, 10, false), 10);
    CHECK_INT(proc_dup2(p, 55, 10, false), -EBADF);
    CHECK_INT(proc_dup2(p, fd, LIMIT_FDS, false), -EBADF);
    CHECK_INT(proc_dup(p, fd, 20, true), 20);
    CHECK_INT(proc_dup(p, fd, 20, true), 21);
    CHECK_INT(proc_dup(p, fd, LIMIT_FDS, true), -EINVAL);
    /* One offset for all dups; a new open has its own. */
    CHECK_INT(proc_lseek(p, 10, 6, SEEK_SET), 6);
    char buf[64];
    CHECK_STR(get(p, 20, buf, sizeof(buf)), STR("world"));
    int own = proc_open(p, STR("/dev/fd/3"), O_RDONLY, 0);
    CHECK_INT(own, 4);
    CHECK_STR(get(p, own, buf, 5), STR("hello"));
    const void *q;
    size_t k;
    CHECK_INT(proc_peek(p, own, &q, &k), 0);
    CHECK_STR(str_of(q, k), STR(" world"));
    proc_consume(p, own, 1);
    CHECK_STR(get(p, own, buf, sizeof(buf)), STR("world"));
    CHECK_INT(proc_peek(p, own, &q, &k), 0);
    CHECK_INT(k, 0);
    CHECK_INT(proc_fd_flags(p, own), O_RDONLY);
    CHECK_INT(proc_fd_flags(p, 99), -EBADF);
    CHECK_INT(proc_write(p, own, "x", 1), -EBADF);
    CHECK_INT(proc_lseek(p, own, -1, SEEK_SET), -EINVAL);
    CHECK_INT(proc_lseek(p, own, -1, SEEK_END), 10);
    CHECK_INT(proc_lseek(p, own, INT64_MAX, SEEK_CUR), -EOVERFLOW);
    CHECK_INT(proc_ftruncate(p, own, 0), -EINVAL);
    CHECK_INT(proc_ftruncate(p, 10, 2), 0);
    /* O_APPEND. */
    int app = proc_open(p, STR("f"), O_WRONLY | O_APPEND, 0);
    put(p, app, "!!");
    CHECK_INT(proc_lseek(p, app, 0, SEEK_CUR), 4);
    CHECK_INT(proc_close(p, app), 0);
    CHECK_INT(proc_close(p, app), -EBADF);
    /* The table is full at LIMIT_FDS, and a failed call leaves it as it was. */
    int last = -1, r;
    while ((r = proc_dup(p, 3, 0, false)) >= 0)
        last = r;
    CHECK_INT(r, -EMFILE);
    CHECK_INT(last, LIMIT_FDS - 1);
    CHECK_INT(proc_open(p, STR("new"), O_CREAT | O_WRONLY, 0644), -EMFILE);
    CHECK_INT(proc_stat(p, STR("new"), 0, &st), -ENOENT);
    CHECK_INT(proc_pipe(p, (int[2]){0}, false), -EMFILE);
    proc_close(p, 500);
    CHECK_INT(proc_pipe(p, (int[2]){0}, false), -EMFILE);
    CHECK(!proc_get(p, 500));
    world_check(p->ps);
    struct proc *c;
    CHECK_INT(proc_fork_inline(p, &c), 0);
    CHECK_INT(proc_fd_flags(c, LIMIT_FDS - 1), O_RDWR);
    world_check(p->ps);
    proc_end_inline(c, exited(0));
    world_check(p->ps);
    CHECK_INT(proc_open(p, STR("none"), O_RDONLY, 0), -ENOENT);
    return exited(0);
}

TEST(descriptors)
{
    run_once(main_fds, "");
}

static struct outcome main_devices(struct proc *p, void *arg)
{
    (void)arg;
    char buf[100], other[100];
    const void *q;
    size_t k;
    int fd = proc_open(p, STR("/dev/null"), O_RDWR, 0);
    CHECK_INT(proc_read(p, fd, buf, 10), 0);
    put(p, fd, "gone");
    fd = proc_open(p, STR("/dev/zero"), O_RDONLY, 0);
    memset(buf, 1, sizeof(buf));
    CHECK_INT(get(p, fd, buf, 100).n, 100);
    for (int i = 0; i < 100; i++)
        CHECK_INT(buf[i], 0);
    CHECK_INT(proc_peek(p, fd, &q, &k), 0);
    CHECK(k > 0 && *(const char *)q == 0);
    fd = proc_open(p, STR("/dev/full"), O_WRONLY, 0);
    CHECK_INT(proc_write(p, fd, "x", 1), -ENOSPC);
    fd = proc_open(p, STR("/dev/urandom"), O_RDONLY, 0);
    get(p, fd, buf, 100);
    CHECK_INT(proc_peek(p, fd, &q, &k), 0);
    memcpy(other, q, 100);
    CHECK(memcmp(buf, other, 100) != 0);
    proc_consume(p, fd, 100);
    proc_peek(p, fd, &q, &k);
    CHECK(memcmp(q, other, 100) != 0);
    CHECK_INT(proc_open(p, STR("/dev/tty"), O_RDWR, 0), -ENXIO);
    struct vfs_stat st;
    CHECK_INT(proc_fstat(p, fd, &st), 0);
    CHECK(S_ISCHR(st.mode) && st.rdev == makedev(1, 9));
    return exited(0);
}

TEST(devices)
{
    run_once(main_devices, "");
}

/* Whether it is the device, and of which file: 0 when of none. */
static uint64_t null_ino(struct proc *p)
{
    char buf[4];
    struct vfs_stat st;
    int fd = proc_install(p, proc_file_null(p->ps), 0, false);
    CHECK(fd >= 0);
    CHECK_INT(proc_fstat(p, fd, &st), 0);
    CHECK(S_ISCHR(st.mode) && st.rdev == makedev(1, 3));
    CHECK_INT(proc_read(p, fd, buf, sizeof(buf)), 0);
    CHECK_INT(proc_write(p, fd, "x", 1), -EBADF);
    uint64_t ino = proc_fd_ino(p, fd);
    CHECK_INT(proc_close(p, fd), 0);
    return ino;
}

static struct outcome main_null(struct proc *p, void *arg)
{
    struct vfs *v = proc_set_vfs(p->ps);
    struct vfs_cred root = {0};
    struct vfs_ctx ctx = {.cred = &root, .cwd = VFS_ROOT_INO};
    struct vfs_stat st;
    (void)arg;
    CHECK_INT(proc_stat(p, STR("/dev/null"), 0, &st), 0);
    CHECK_INT(null_ino(p), st.ino);
    /* A session may put something else there, and its next command still reads nothing. */
    CHECK_INT(vfs_unlink(v, &ctx, 0, STR("/dev/null")), 0);
    CHECK_INT(null_ino(p), 0);
    CHECK_INT(vfs_symlink(v, &ctx, STR("/etc/passwd"), 0, STR("/dev/null")), 0);
    CHECK_INT(null_ino(p), 0);
    return exited(0);
}

TEST(null_for_no_input)
{
    run_once(main_null, "");
}

static struct outcome main_magic(struct proc *p, void *arg)
{
    (void)arg;
    int fds[2];
    char buf[100];
    struct vfs_stat st, st2;
    struct vfs_ctx ctx = proc_ctx(p);
    struct vfs *v = proc_set_vfs(p->ps);
    proc_pipe(p, fds, false);
    /* By any name that leads there. */
    CHECK_INT(vfs_symlink(v, &ctx, STR("/dev/fd/4"), 0, STR("/tmp/link")), 0);
    CHECK_INT(vfs_symlink(v, &ctx, STR("link"), 0, STR("/tmp/link2")), 0);
    static const char *const names[] = {"/dev/fd/4", "/proc/self/fd/4", "/tmp/link2", "/dev/../dev/fd/4"};
    for (size_t i = 0; i < 4; i++) {
        int fd = proc_open(p, str_c(names[i]), O_WRONLY | O_CREAT | O_TRUNC, 0666);
        CHECK_INT(fd, 5);
        put(p, fd, "x");
        proc_close(p, fd);
        CHECK_INT(proc_stat(p, str_c(names[i]), 0, &st), 0);
        CHECK_INT(proc_fstat(p, 4, &st2), 0);
        CHECK(S_ISFIFO(st.mode) && st.ino == st2.ino);
        CHECK_INT(proc_access(p, str_c(names[i]), R_OK), 0);
    }
    CHECK_STR(get(p, 3, buf, 100), STR("xxxx"));
    CHECK_INT(proc_stat(p, STR("/tmp/link"), VFS_NOFOLLOW, &st), 0);
    CHECK(S_ISLNK(st.mode));
    CHECK_INT(proc_open(p, STR("/dev/fd/9"), O_RDONLY, 0), -ENOENT);
    CHECK_INT(proc_stat(p, STR("/dev/fd/9"), 0, &st), -ENOENT);
    CHECK_INT(proc_open(p, STR("/dev/fd/04"), O_RDONLY, 0), -ENOENT);
    /* Standard output: the stream itself. */
    int fd = proc_open(p, STR("/dev/stdout"), O_WRONLY | O_TRUNC, 0);
    put(p, fd, "out");
    CHECK_INT(proc_open(p, STR("/dev/stdout"), O_RDONLY, 0), -EACCES);
    /* A deleted file opens anew. */
    fd = proc_open(p, STR("/tmp/f"), O_RDWR | O_CREAT, 0600);
    put(p, fd, "deleted");
    CHECK_INT(vfs_unlink(v, &ctx, 0, STR("/tmp/f")), 0);
    snprintf(buf, sizeof(buf), "/proc/%d/fd/%d", p->pid, fd);
    fd = proc_open(p, str_c(buf), O_RDONLY, 0);
    CHECK_STR(get(p, fd, buf, 100), STR("deleted"));
    return exited(0);
}

TEST(dev_fd_is_the_open_file)
{
    run_once(main_magic, "out");
}

/* ---- host streams ---- */

static struct outcome main_cat(struct proc *p, void *arg)
{
    char buf[1000];
    (void)arg;
    for (;;) {
        ssize_t r = proc_read(p, 0, buf, sizeof(buf));
        if (r <= 0)
            return exited(r < 0);
        if (proc_write(p, 1, buf, (size_t)r) != r)
            return exited(2);
    }
}

static void count_need(void *arg)
{
    ++*(int *)arg;
}

TEST(feed_and_sink_push_back)
{
    struct world w;
    struct proc_feed *feed;
    int needs = 0;
    int64_t wake;
    world_init(&w);
    w.in = proc_file_feed(w.ps, false, count_need, &needs, &feed);
    w.out_room = 3;
    proc_begin(w.ps);
    struct proc *p = world_start(&w, main_cat, NULL);
    CHECK_INT(proc_run(w.ps, p, &wake), 0);
    CHECK_INT(needs, 1);
    CHECK(proc_feed_wanted(feed));
    CHECK_INT(proc_feed_room(feed), LIMIT_PIPE);
    CHECK_INT(proc_feed_push(feed, "hello", 5), 5);
    CHECK_INT(proc_run(w.ps, p, &wake), 0);
    CHECK_STR(buf_str(&w.out), STR("hel"));
    CHECK(!proc_feed_wanted(feed));
    /* The writer waits; the feed fills. */
    char *big = mem_zalloc(100000);
    CHECK_INT(proc_feed_push(feed, big, 100000), LIMIT_PIPE);
    CHECK_INT(proc_feed_push(feed, big, 1), 0);
    mem_free(big);
    w.out_room = SIZE_MAX;
    proc_sink_ready(w.ps);
    CHECK_INT(proc_run(w.ps, p, &wake), 0);
    CHECK_INT(w.out.n, 5 + LIMIT_PIPE);
    CHECK(proc_feed_has_readers(feed));
    proc_feed_eof(feed);
    CHECK_INT(proc_run(w.ps, p, &wake), 1);
    CHECK_INT(p->outcome.code, 0);
    proc_forget(w.ps, p);
    CHECK(!proc_feed_has_readers(feed));
    proc_feed_close(feed);
    struct proc_usage u;
    proc_set_usage(w.ps, &u);
    CHECK_INT(u.output_bytes, 5 + LIMIT_PIPE);
    world_done(&w);
}

static struct outcome main_tty_child(struct proc *p, void *arg)
{
    char c;
    (void)arg;
    CHECK_INT(proc_setpgid(p, 0, 0), 0);
    ssize_t r = proc_read(p, 0, &c, 1); /* stopped by SIGTTIN until it is in the foreground */
    CHECK_INT(r, 1);
    put(p, 1, r == 1 && c == 'i' ? "read " : "wrong ");
    return exited(0);
}

static struct outcome main_tty(struct proc *p, void *arg)
{
    struct outcome o;
    int sig;
    char buf[10];
    (void)arg;
    proc_set_foreground(p->ps, p->pgid);
    CHECK(proc_isatty(p, 0) && !proc_isatty(p, 1));
    int fd = proc_open(p, STR("/dev/tty"), O_RDWR, 0);
    CHECK_INT(fd, 3);
    CHECK(proc_isatty(p, fd));
    CHECK_INT(proc_write(p, fd, "x", 1), -EBADF); /* this terminal has no output */
    int pid = spawn(p, main_tty_child, NULL)->pid;
    CHECK_INT(proc_wait(p, pid, WUNTRACED, &o, &sig), pid);
    CHECK_INT(sig, SIGTTIN);
    proc_set_foreground(p->ps, pid);
    CHECK_INT(proc_kill(p, -pid, SIGCONT), 0);
    CHECK_INT(wait_for(p, pid, &o), pid);
    proc_set_foreground(p->ps, p->pgid);
    CHECK_STR(get(p, fd, buf, 10), STR("n"));
    return exited(0);
}

TEST(terminal_and_job_control)
{
    struct world w;
    struct proc_feed *feed;
    world_init(&w);
    w.in = proc_file_feed(w.ps, true, NULL, NULL, &feed);
    proc_feed_push(feed, "in", 2);
    world_run(&w, main_tty, NULL);
    CHECK_STR(buf_str(&w.out), STR("read "));
    proc_feed_close(feed);
    world_done(&w);
}

/* ---- text and captures ---- */

static struct outcome main_text(struct proc *p, void *arg)
{
    (void)arg;
    char buf[64];
    struct proc_file *f = proc_file_text(p->ps, STR("a here-document\n"));
    int fd = proc_install(p, f, 0, false);
    CHECK_STR(get(p, fd, buf, 2), STR("a "));
    CHECK_INT(proc_lseek(p, fd, 2, SEEK_CUR), 4);
    const void *q;
    size_t k;
    CHECK_INT(proc_peek(p, fd, &q, &k), 0);
    CHECK_STR(str_of(q, k), STR("re-document\n"));
    proc_consume(p, fd, 1000);
    CHECK_INT(proc_read(p, fd, buf, 1), 0);
    CHECK_INT(proc_write(p, fd, buf, 1), -EBADF);
    return exited(0);
}

TEST(text_files)
{
    run_once(main_text, "");
}

static struct outcome main_say_late(struct proc *p, void *arg)
{
    proc_sleep(p, clock_mono() + 2 * CLOCK_MS);
    put(p, 1, arg);
    return exited(0);
}

static struct outcome main_capture(struct proc *p, void *arg)
{
    (void)arg;
    struct proc_capture *c;
    struct proc *k;
    struct proc_file *f = proc_file_capture(p->ps, 1 << 20, &c);
    CHECK_INT(proc_fork_inline(p, &k), 0);
    int fd = proc_install(k, proc_file_ref(f), 0, false);
    proc_dup2(k, fd, 1, false);
    proc_close(k, fd);
    put(k, 1, "one ");
    spawn(k, main_say_late, "two"); /* outlives the command, as $(cmd &) */
    proc_end_inline(k, exited(0));
    CHECK_INT(proc_capture_wait(p, c, f), 0);
    CHECK_STR(proc_capture_text(c), STR("one two"));
    proc_capture_free(c);
    /* One that is given up first: its writers find no reader. */
    f = proc_file_capture(p->ps, 4, &c);
    fd = proc_install(p, f, 0, false);
    put(p, fd, "four");
    proc_capture_free(c);
    proc_sigaction(p, SIGPIPE, PROC_SIG_IGNORE);
    CHECK_INT(proc_write(p, fd, "x", 1), -EPIPE);
    proc_close(p, fd);
    f = proc_file_capture(p->ps, 4, &c);
    fd = proc_install(p, f, 0, false);
    CHECK_INT(proc_write(p, fd, "fives", 5), -EINTR);
    proc_close(p, fd);
    proc_capture_free(c);
    return exited(0);
}

TEST(captures)
{
    struct outcome o = run_once(main_capture, "");
    CHECK_INT(o.reason, REASON_MEMORY);
}

/* ---- poll ---- */

static struct outcome main_feeder(struct proc *p, void *arg)
{
    const int *fds = arg;
    proc_sleep(p, clock_mono() + 3 * CLOCK_MS);
    put(p, fds[1], "x");
    proc_sleep(p, clock_mono() + 3 * CLOCK_MS);
    return exited(0);
}

static struct outcome main_poll(struct proc *p, void *arg)
{
    (void)arg;
    int fds[2];
    char c;
    proc_pipe(p, fds, false);
    spawn(p, main_feeder, fds);
    proc_close(p, fds[1]);
    struct proc_pollfd v[3] = {{.fd = fds[0], .want_read = true}, {.fd = -1, .want_read = true}, {.fd = 77}};
    CHECK_INT(proc_poll_fds(p, v, 2, clock_mono() + CLOCK_MS), 0);
    CHECK_INT(proc_poll_fds(p, v, 2, INT64_MAX), 1);
    CHECK(v[0].readable && !v[0].hangup);
    get(p, fds[0], &c, 1);
    CHECK_INT(proc_poll_fds(p, v, 2, INT64_MAX), 1);
    CHECK(v[0].hangup);
    CHECK_INT(proc_poll_fds(p, v, 3, 0), 2);
    CHECK(v[2].bad);
    struct proc_pollfd out = {.fd = 1, .want_write = true};
    CHECK_INT(proc_poll_fds(p, &out, 1, 0), 1);
    CHECK(out.writable);
    return exited(0);
}

TEST(poll_sees_pipes)
{
    run_once(main_poll, "");
}

/* ---- programs ---- */

static char **no_env(void *arg)
{
    static char entry[] = "A=1";
    static char *env[] = {entry, NULL};
    (void)arg;
    return env;
}

static int claims(void *engine, const struct exec_image *img)
{
    (void)engine;
    if (str_starts(img->head, STR("BROKEN")))
        return -EINVAL;
    return str_starts(img->head, STR(PROC_COMMAND_MAGIC));
}

/* Prints what it was started with. */
static int run(void *engine, struct proc *p, const struct exec_image *img, struct outcome *ret)
{
    (void)engine;
    put(p, 1, "[");
    for (int i = 0; i < img->argc; i++) {
        put(p, 1, img->argv[i]);
        put(p, 1, i + 1 < img->argc ? "," : "]");
    }
    put(p, 1, p->comm);
    char buf[100];
    int fd = proc_open(p, STR("/proc/self/cmdline"), O_RDONLY, 0);
    struct str s = get(p, fd, buf, sizeof(buf));
    CHECK(s.n > 0 && s.p[s.n - 1] == 0);
    CHECK_STR(str_c(buf), str_c(img->argv[0]));
    proc_close(p, fd);
    fd = proc_open(p, STR("/proc/self/environ"), O_RDONLY, 0);
    CHECK_STR(get(p, fd, buf, sizeof(buf)), STR("A=1\0"));
    proc_close(p, fd);
    CHECK(!proc_get(p, 9));
    CHECK(proc_get(p, 8) != NULL);
    *ret = exited(42);
    return 0;
}

static const struct engine_ops test_engine = {.name = "test", .tier = "isolate", .claims = claims, .run = run};

static void script(struct proc *p, const char *path, const char *text, uint32_t mode)
{
    int fd = proc_open(p, str_c(path), O_WRONLY | O_CREAT | O_TRUNC, mode);
    CHECK(fd >= 0);
    put(p, fd, text);
    proc_close(p, fd);
}

static int try_exec(struct proc *p, const char *path, struct outcome *ret)
{
    struct proc *c;
    char a0[] = "name", a1[] = "arg";
    char *argv[] = {a0, a1, NULL};
    CHECK_INT(proc_fork_inline(p, &c), 0);
    proc_dup2(c, 1, 8, false);
    proc_dup2(c, 1, 9, true);
    int r = proc_exec(c, str_c(path), 2, argv, no_env, NULL, ret);
    struct outcome o = proc_end_inline(c, *ret);
    CHECK_INT(o.code, ret->code);
    return r;
}

static struct outcome main_exec(struct proc *p, void *arg)
{
    struct outcome o = exited(0);
    (void)arg;
    CHECK_INT(try_exec(p, "/bin/cat", &o), 0);
    CHECK_INT(o.code, 42);
    put(p, 1, "\n");
    CHECK_INT(try_exec(p, "/bin/none", &o), -ENOENT);
    CHECK_INT(try_exec(p, "/bin", &o), -EACCES);
    CHECK_INT(try_exec(p, "/etc/passwd", &o), -EACCES);
    script(p, "text", "echo hi\n", 0755);
    CHECK_INT(try_exec(p, "text", &o), -ENOEXEC);
    script(p, "broken", "BROKEN", 0755);
    CHECK_INT(try_exec(p, "./broken", &o), -EINVAL);
    script(p, "s1", "#!/bin/cat\nrest", 0755);
    CHECK_INT(try_exec(p, "./s1", &o), 0);
    put(p, 1, "\n");
    script(p, "s2", "#! \t./s1 \t -x  y \t\nrest", 0755);
    CHECK_INT(try_exec(p, "s2", &o), 0);
    put(p, 1, "\n");
    script(p, "s3", "#!\n", 0755);
    CHECK_INT(try_exec(p, "s3", &o), -ENOEXEC);
    script(p, "s4", "#!./s4", 0755);
    CHECK_INT(try_exec(p, "s4", &o), -ELOOP);
    script(p, "s5", "#!/no/such\n", 0755);
    CHECK_INT(try_exec(p, "s5", &o), -ENOENT);
    script(p, "s6", "#!/bin/cat\n", 0644);
    CHECK_INT(try_exec(p, "s6", &o), -EACCES);
    const struct engine_ops *ops;
    uint64_t ino;
    CHECK_INT(proc_exec_probe(p, STR("s2"), &ops, &ino), 0);
    CHECK(ops == &test_engine);
    CHECK_INT(proc_exec_probe(p, STR("text"), &ops, &ino), -ENOEXEC);
    CHECK(!ops);
    return exited(0);
}

TEST(programs_run)
{
    struct world w;
    world_init(&w);
    CHECK_INT(proc_add_engine(w.ps, &test_engine, NULL), 0);
    world_run(&w, main_exec, NULL);
    CHECK_STR(buf_str(&w.out), STR("[name,arg]cat\n[/bin/cat,./s1,arg]s1\n[/bin/cat,./s1,-x  y,s2,arg]s2\n"));
    world_done(&w);
}

/* ---- /proc and the base tree ---- */

/* Whole content of a small file; "" when it cannot be read. */
static struct str slurp(struct proc *p, const char *path, char *buf, size_t n)
{
    int fd = proc_open(p, str_c(path), O_RDONLY, 0);
    if (!CHECK(fd >= 0)) {
        fprintf(stderr, "# %s: %d\n", path, fd);
        return STR("");
    }
    struct str s = get(p, fd, buf, n - 1);
    buf[s.n] = 0;
    proc_close(p, fd);
    return s;
}

static void check_link(struct proc *p, const char *path, const char *want)
{
    struct buf b;
    struct vfs_ctx ctx = proc_ctx(p);
    buf_init(&b, LIMIT_PATH);
    CHECK_INT(vfs_readlink(proc_set_vfs(p->ps), &ctx, 0, str_c(path), &b), 0);
    CHECK_STR(buf_str(&b), str_c(want));
    buf_done(&b);
}

static int count_entry(void *arg, const struct vfs_dirent *e)
{
    (void)e;
    ++*(int *)arg;
    return 0;
}

static struct outcome main_procfs(struct proc *p, void *arg)
{
    (void)arg;
    char buf[8192], want[100];
    struct vfs_ctx ctx = proc_ctx(p);
    struct vfs *v = proc_set_vfs(p->ps);
    static const char *const files[] = {
        "/proc/meminfo",   "/proc/cpuinfo",
        "/proc/uptime",    "/proc/loadavg",
        "/proc/version",   "/proc/mounts",
        "/proc/stat",      "/proc/filesystems",
        "/proc/self/stat", "/proc/self/status",
        "/proc/1/status",  "/proc/self/mounts",
        "/etc/mtab",       "/proc/sys/kernel/version",
        "/etc/os-release", "/etc/passwd",
        "/etc/group",      "/etc/profile",
    };
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        CHECK(slurp(p, files[i], buf, sizeof(buf)).n > 0);
    CHECK_STR(slurp(p, "/proc/sys/kernel/hostname", buf, 100), STR("sandbox\n"));
    CHECK_STR(slurp(p, "/proc/sys/kernel/ostype", buf, 100), STR("Linux\n"));
    CHECK_INT(slurp(p, "/proc/sys/kernel/random/uuid", buf, 100).n, 37);
    CHECK_INT(slurp(p, "/proc/sys/kernel/random/boot_id", want, 100).n, 37);
    CHECK_STR(slurp(p, "/proc/sys/kernel/random/boot_id", buf, 100), str_c(want));
    CHECK_STR(slurp(p, "/proc/self/comm", buf, 100), STR("sh\n"));
    snprintf(want, sizeof(want), "%d (sh) R 1 %d", p->pid, p->pid);
    CHECK(str_starts(slurp(p, "/proc/self/stat", buf, 1000), str_c(want)));
    int fields = 0;
    for (const char *s = buf; *s; s++)
        fields += *s == ' ' || *s == '\n';
    CHECK_INT(fields, 52);
    CHECK(strstr((slurp(p, "/proc/self/status", buf, 2000), buf), "\nUid:\t1000\t1000\t1000\t1000\n") != NULL);
    snprintf(want, sizeof(want), "%d", p->pid);
    check_link(p, "/proc/self", want);
    check_link(p, "/proc/self/cwd", "/home/user");
    check_link(p, "/proc/self/root", "/");
    int fd = proc_open(p, STR("/tmp/some file"), O_WRONLY | O_CREAT, 0600);
    CHECK_INT(fd, 3);
    check_link(p, "/proc/self/fd/3", "/tmp/some file");
    CHECK_INT(proc_pipe(p, (int[2]){0}, false), 0);
    struct buf b;
    buf_init(&b, 100);
    CHECK_INT(vfs_readlink(v, &ctx, 0, STR("/proc/self/fd/4"), &b), 0);
    CHECK(str_starts(buf_str(&b), STR("pipe:[")));
    buf_done(&b);
    uint64_t ino;
    int n = 0;
    CHECK_INT(vfs_lookup(v, &ctx, 0, STR("/proc/self/fd"), 0, &ino), 0);
    CHECK_INT(vfs_dir_each(v, ino, count_entry, &n), 0);
    CHECK_INT(n, 6);
    n = 0;
    CHECK_INT(vfs_lookup(v, &ctx, 0, STR("/proc"), 0, &ino), 0);
    CHECK_INT(vfs_dir_each(v, ino, count_entry, &n), 0);
    CHECK_INT(n, 12); /* ten names, init, this process */
    CHECK_INT(vfs_lookup(v, &ctx, 0, STR("/proc/99999"), 0, &ino), -ENOENT);
    CHECK_INT(proc_open(p, STR("/proc/self/comm"), O_WRONLY, 0), -EACCES);
    struct vfs_stat st;
    CHECK_INT(proc_stat(p, STR("/tmp"), 0, &st), 0);
    CHECK_INT(st.mode, S_IFDIR | 01777);
    CHECK_INT(proc_stat(p, STR("/home/user"), 0, &st), 0);
    CHECK_INT(st.uid, 1000);
    CHECK_INT(proc_chdir(p, STR("/root")), -EACCES);
    CHECK_STR(slurp(p, "/bin/bash", buf, 100), STR(PROC_COMMAND_MAGIC "bash\n"));
    CHECK_INT(proc_access(p, STR("/bin/bash"), X_OK), 0);
    return exited(0);
}

TEST(procfs_and_base_tree)
{
    run_once(main_procfs, "");
}

TEST(provider_survives_a_fork_of_the_tree)
{
    struct world w;
    world_init(&w);
    struct vfs *two = vfs_fork(w.v);
    proc_set_use_vfs(w.ps, two);
    CHECK_INT(proc_provide(w.ps), 0);
    world_run(&w, main_procfs, NULL);
    proc_set_free(w.ps);
    vfs_free(two);
    vfs_free(w.v);
    buf_done(&w.out);
}
