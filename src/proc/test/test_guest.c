/* SPDX-License-Identifier: Apache-2.0 */
#include "proc/test/proc_test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "engine/engine.h"

/* What programs need that are no C commands: whether a call would wait, places in the tree, and the like. */

static void run_once(proc_main main)
{
    struct world w;
    world_init(&w);
    world_run(&w, main, NULL);
    world_done(&w);
}

/* A child that yields for ever, so that a turn that ends is seen. */
static struct outcome main_others(struct proc *p, void *arg)
{
    int *turns = arg;
    while (!p->must_end) {
        ++*turns;
        proc_yield(p);
    }
    return exited(0);
}

static struct outcome main_ready(struct proc *p, void *arg)
{
    int fds[2], turns = 0;
    char buf[8192] = {0};
    (void)arg;
    int pid = spawn(p, main_others, &turns)->pid;
    CHECK_INT(proc_pipe(p, fds, false), 0);
    /* Nothing to read, and room to write. */
    CHECK(!proc_ready(p, fds[0], false, 1));
    CHECK(proc_ready(p, fds[0], false, 0));
    CHECK(proc_ready(p, fds[1], true, LIMIT_PIPE));
    CHECK(!proc_ready(p, fds[1], true, LIMIT_PIPE + 1));
    /* Errors come at once. */
    CHECK(proc_ready(p, fds[1], false, 1));
    CHECK(proc_ready(p, 99, true, 1));
    CHECK_INT(proc_available(p, fds[0]), 0);
    CHECK_INT(proc_write(p, fds[1], buf, 5000), 5000);
    CHECK_INT(proc_available(p, fds[0]), 5000);
    CHECK(proc_ready(p, fds[0], false, 8000));
    CHECK(!proc_ready(p, fds[1], true, LIMIT_PIPE - 4999));
    CHECK_INT(proc_set_fd_flags(p, fds[1], O_NONBLOCK), 0);
    CHECK(proc_ready(p, fds[1], true, LIMIT_PIPE));
    /* How much the host takes is not known before. */
    CHECK(!proc_ready(p, 1, true, 1));
    CHECK_INT(turns, 0);
    /* A turn that would end: ready says so, and what is ready does not switch. */
    int ready = 0;
    while (proc_ready(p, fds[0], false, 1) && proc_available(p, fds[0])) {
        CHECK_INT(proc_read(p, fds[0], buf, 1), 1);
        ready++;
    }
    CHECK(ready > 900 && ready < 1024);
    CHECK_INT(turns, 0);
    while (proc_has_turn(p))
        CHECK_INT(proc_poll(p), 0);
    CHECK_INT(turns, 0);
    CHECK_INT(proc_poll(p), 0);
    CHECK(turns > 0);
    /* The end of input. */
    CHECK(proc_read(p, fds[0], buf, sizeof buf) > 0);
    CHECK(!proc_ready(p, fds[0], false, 1));
    proc_close(p, fds[1]);
    CHECK(proc_ready(p, fds[0], false, 1));
    CHECK_INT(proc_kill(p, pid, SIGKILL), 0);
    CHECK_INT(wait_for(p, pid, NULL), pid);
    return exited(0);
}

TEST(ready_neither_waits_nor_switches)
{
    run_once(main_ready);
}

static struct outcome main_at(struct proc *p, void *arg)
{
    struct vfs_ctx ctx = proc_ctx(p);
    struct vfs *v = proc_set_vfs(p->ps);
    struct vfs_stat st;
    uint64_t tmp;
    (void)arg;
    CHECK_INT(vfs_lookup(v, &ctx, 0, STR("/tmp"), 0, &tmp), 0);
    CHECK_INT(proc_open_at(p, tmp, STR("f"), O_CREAT | O_WRONLY, 0600, 7, false), 7);
    CHECK_INT(proc_stat(p, STR("/tmp/f"), 0, &st), 0);
    CHECK_INT(proc_fd_ino(p, 7), st.ino);
    CHECK_INT(proc_fd_ino(p, 1), 0);
    CHECK_INT(proc_stat_at(p, tmp, STR("f"), 0, &st), 0);
    CHECK_INT(proc_access_at(p, tmp, STR("f"), R_OK), 0);
    CHECK_INT(proc_access_at(p, tmp, STR("f"), X_OK), -EACCES);
    CHECK_INT(proc_access_at(p, tmp, STR("none"), 0), -ENOENT);
    /* Links to open files are found from the root as by an absolute path. */
    CHECK_INT(proc_stat_at(p, VFS_ROOT_INO, STR("dev/stdout"), 0, &st), 0);
    CHECK(S_ISFIFO(st.mode));
    CHECK(proc_open_at(p, VFS_ROOT_INO, STR("proc/self/fd/1"), O_WRONLY, 0, 0, false) >= 0);
    CHECK_INT(proc_open_at(p, VFS_ROOT_INO, STR("tmp"), O_RDONLY | O_DIRECTORY, 0, LIMIT_FDS, false), -EINVAL);
    /* A FIFO whose other end nobody has. */
    CHECK_INT(vfs_mknod(v, &ctx, tmp, STR("p"), S_IFIFO | 0600, 0), 0);
    CHECK_INT(proc_open_at(p, tmp, STR("p"), O_RDONLY, 0, 0, false), -EAGAIN);
    CHECK_INT(proc_open_at(p, tmp, STR("p"), O_WRONLY | O_NONBLOCK, 0, 0, false), -ENXIO);
    int r = proc_open_at(p, tmp, STR("p"), O_RDONLY | O_NONBLOCK, 0, 0, false);
    CHECK(r >= 0);
    CHECK(proc_fd_ino(p, r) != 0);
    int fds[2];
    CHECK_INT(proc_pipe_from(p, 20, fds, true), 0);
    CHECK_INT(fds[0], 20);
    CHECK_INT(fds[1], 21);
    CHECK_INT(proc_pipe_from(p, LIMIT_FDS - 1, fds, true), -EMFILE);
    CHECK(!proc_get(p, LIMIT_FDS - 1));
    return exited(0);
}

TEST(paths_and_numbers_from_a_place)
{
    run_once(main_at);
}

static struct outcome main_offsets(struct proc *p, void *arg)
{
    char buf[16] = {0};
    (void)arg;
    int fd = proc_open(p, STR("f"), O_CREAT | O_RDWR, 0600);
    put(p, fd, "0123456789");
    CHECK_INT(proc_pread(p, fd, buf, 4, 3), 4);
    CHECK(memcmp(buf, "3456", 4) == 0);
    CHECK_INT(proc_pread(p, fd, buf, 4, 8), 2);
    CHECK_INT(proc_pread(p, fd, buf, 4, 100), 0);
    CHECK_INT(proc_pwrite(p, fd, "ab", 2, 12), 2);
    CHECK_INT(proc_lseek(p, fd, 0, SEEK_CUR), 10);
    CHECK_INT(proc_available(p, fd), 4);
    /* O_APPEND comes and goes. */
    CHECK_INT(proc_set_fd_flags(p, fd, O_APPEND), 0);
    CHECK_INT(proc_fd_flags(p, fd) & O_APPEND, O_APPEND);
    CHECK_INT(proc_lseek(p, fd, 0, SEEK_SET), 0);
    put(p, fd, "end");
    CHECK_INT(proc_lseek(p, fd, 0, SEEK_CUR), 17);
    CHECK_INT(proc_set_fd_flags(p, fd, 0), 0);
    CHECK_INT(proc_lseek(p, fd, 0, SEEK_SET), 0);
    put(p, fd, "X");
    CHECK_INT(proc_lseek(p, fd, 0, SEEK_CUR), 1);
    CHECK_INT(proc_set_fd_flags(p, 99, 0), -EBADF);
    /* Texts, devices, streams. */
    int text = proc_install(p, proc_file_text(p->ps, STR("text")), 0, false);
    CHECK_INT(proc_pread(p, text, buf, 16, 2), 2);
    CHECK_INT(proc_pread(p, text, buf, 16, UINT64_MAX), 0);
    CHECK_INT(proc_pwrite(p, text, "x", 1, 0), -EBADF);
    int zero = proc_open(p, STR("/dev/zero"), O_RDWR, 0);
    CHECK_INT(proc_pread(p, zero, buf, 16, 5), 16);
    CHECK_INT(proc_pwrite(p, zero, buf, 16, 5), 16);
    CHECK_INT(proc_pwrite(p, 1, buf, 1, 0), -ESPIPE);
    CHECK_INT(proc_pread(p, 1, buf, 1, 0), -EBADF);
    int dir = proc_open(p, STR("/tmp"), O_RDONLY, 0);
    CHECK_INT(proc_pread(p, dir, buf, 1, 0), -EISDIR);
    struct proc_pollfd q[2] = {{.fd = fd, .want_read = true}, {.fd = 99, .want_read = true}};
    CHECK_INT(proc_look_fds(p, q, 1), 1);
    CHECK(q[0].readable);
    CHECK_INT(proc_look_fds(p, q, 2), 2);
    CHECK(q[1].bad);
    return exited(0);
}

TEST(offsets_and_flags)
{
    run_once(main_offsets);
}

/* ---- the point of no return ---- */

static int claims(void *engine, const struct exec_image *img)
{
    (void)engine;
    return str_starts(img->head, STR(PROC_COMMAND_MAGIC));
}

static int run(void *engine, struct proc *p, const struct exec_image *img, struct outcome *ret)
{
    int *begun = engine;
    (void)img;
    (void)p;
    CHECK_INT(*begun, 1);
    *ret = exited(3);
    return 0;
}

static const struct engine_ops engine_guest = {.name = "test", .tier = "isolate", .claims = claims, .run = run};

static void note(void *arg)
{
    ++*(int *)arg;
}

static int begun;

static struct outcome main_on_exec(struct proc *p, void *arg)
{
    char name[] = "cat";
    char *argv[] = {name, NULL};
    struct outcome o;
    (void)arg;
    proc_on_exec(p, note, &begun);
    CHECK_INT(proc_exec(p, STR("/bin/none"), 1, argv, NULL, NULL, &o), -ENOENT);
    CHECK_INT(begun, 0);
    CHECK_INT(proc_exec(p, STR("/bin/cat"), 1, argv, NULL, NULL, &o), 0);
    CHECK_INT(o.code, 3);
    CHECK_INT(begun, 1);
    CHECK_INT(proc_exec(p, STR("/bin/cat"), 1, argv, NULL, NULL, &o), 0); /* once */
    CHECK_INT(begun, 1);
    return exited(0);
}

TEST(the_point_of_no_return_is_told)
{
    struct world w;
    world_init(&w);
    begun = 0;
    CHECK_INT(proc_add_engine(w.ps, &engine_guest, &begun), 0);
    world_run(&w, main_on_exec, NULL);
    world_done(&w);
}
