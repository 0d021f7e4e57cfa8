/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "wasm/test/wasi_test.h"

/* poll_oneoff: clocks, pipes, files, and what is wrong with a subscription. */

#define SUBS 1024u
#define EVENTS 8192u
#define COUNT 64u

static void sub_clock(struct prog *g, uint32_t i, uint64_t user, uint32_t id, uint64_t t, uint16_t flags)
{
    uint32_t at = SUBS + 48 * i;
    memset(g->mem + at, 0, 48);
    set64(g, at, user);
    set32(g, at + 16, id);
    set64(g, at + 24, t);
    g->mem[at + 40] = (uint8_t)flags;
}

static void sub_fd(struct prog *g, uint32_t i, uint64_t user, uint8_t type, uint32_t fd)
{
    uint32_t at = SUBS + 48 * i;
    memset(g->mem + at, 0, 48);
    set64(g, at, user);
    g->mem[at + 8] = type;
    set32(g, at + 16, fd);
}

static int poll(struct prog *g, uint32_t n)
{
    int r = CALL(g, poll_oneoff, SUBS, EVENTS, n, COUNT);
    return r ? -r : (int)get32(g, COUNT);
}

static uint64_t user_of(struct prog *g, uint32_t i)
{
    return get64(g, EVENTS + 32 * i);
}

static uint16_t error_of(struct prog *g, uint32_t i)
{
    return (uint16_t)get32(g, EVENTS + 32 * i + 8);
}

static void clocks(struct prog *g)
{
    CHECK_INT(CALL(g, clock_time_get, 1, 1, 80), 0);
    uint64_t t = get64(g, 80);
    sub_clock(g, 0, 7, 1, 20 * CLOCK_MS, 0);
    sub_clock(g, 1, 8, 1, 5 * CLOCK_S, 0);
    CHECK_INT(poll(g, 2), 1);
    CHECK_INT(user_of(g, 0), 7);
    CHECK_INT(error_of(g, 0), 0);
    CHECK_INT(g->mem[EVENTS + 10], 0);
    CHECK_INT(CALL(g, clock_time_get, 1, 1, 88), 0);
    CHECK(get64(g, 88) - t >= 20 * CLOCK_MS);
    CHECK(get64(g, 88) - t < 2 * CLOCK_S);
    /* Absolute, and gone by. */
    sub_clock(g, 0, 7, 1, t, 1);
    sub_clock(g, 1, 8, 0, 1, 1);
    unsigned before = g->blocked;
    CHECK_INT(poll(g, 2), 2);
    CHECK_INT(g->blocked, before);
    CHECK_INT(CALL(g, clock_time_get, 0, 1, 80), 0);
    sub_clock(g, 0, 9, 0, get64(g, 80) + 10 * CLOCK_MS, 1);
    CHECK_INT(poll(g, 1), 1);
    CHECK_INT(CALL(g, clock_time_get, 0, 1, 88), 0);
    CHECK(get64(g, 88) >= get64(g, 80) + 9 * CLOCK_MS);
    /* None such. */
    sub_clock(g, 0, 1, 2, 5, 0);
    sub_clock(g, 1, 2, 9, 5, 0);
    sub_clock(g, 2, 3, 1, 5 * CLOCK_S, 0);
    sub_clock(g, 3, 4, 1, 5, 2);
    CHECK_INT(poll(g, 4), 3);
    CHECK_INT(error_of(g, 0), E_NOTSUP);
    CHECK_INT(error_of(g, 1), E_INVAL);
    CHECK_INT(user_of(g, 2), 4);
    CHECK_INT(error_of(g, 2), E_INVAL);
    CHECK_INT(poll(g, 0), -E_INVAL);
    CHECK_INT(CALL(g, poll_oneoff, SUBS, EVENTS, 4097, COUNT), E_INVAL);
    CHECK_INT(CALL(g, poll_oneoff, MEM_BYTES - 47, EVENTS, 1, COUNT), E_FAULT);
    g->mem[SUBS + 8] = 3;
    CHECK_INT(poll(g, 1), -E_INVAL);
}

TEST(clocks)
{
    run_prog(clocks, "");
}

static void pipes(struct prog *g)
{
    CHECK_INT(HCALL(g, pipe, 0, 80), 0);
    uint32_t r = get32(g, 80), wr = get32(g, 84);
    sub_fd(g, 0, 1, 1, r);
    sub_fd(g, 1, 2, 2, wr);
    CHECK_INT(poll(g, 2), 1);
    CHECK_INT(user_of(g, 0), 2);
    CHECK_INT(g->mem[EVENTS + 10], 2);
    CHECK_INT(get64(g, EVENTS + 16), 4096);
    CHECK_INT(write_text(g, wr, "hello"), 5);
    CHECK_INT(poll(g, 2), 2);
    CHECK_INT(user_of(g, 0), 1);
    CHECK_INT(get64(g, EVENTS + 16), 5);
    CHECK_INT(get32(g, EVENTS + 24), 0);
    sub_clock(g, 1, 3, 1, 0, 0);
    CHECK_INT(poll(g, 2), 2);
    /* The end: hung up, with what is left to read. */
    CHECK_INT(CALL(g, fd_close, wr), 0);
    CHECK_INT(poll(g, 1), 1);
    CHECK_INT(get64(g, EVENTS + 16), 5);
    CHECK_INT(get32(g, EVENTS + 24), 1);
    char buf[8];
    CHECK_INT(read_some(g, r, buf, 8), 5);
    CHECK_INT(read_some(g, r, buf, 8), 0);
    /* A look with nothing there. */
    CHECK_INT(HCALL(g, pipe, 0, 80), 0);
    sub_fd(g, 0, 1, 1, get32(g, 80));
    sub_clock(g, 1, 3, 1, 0, 0);
    CHECK_INT(poll(g, 2), 1);
    CHECK_INT(user_of(g, 0), 3);
    /* Errors. */
    sub_fd(g, 0, 1, 1, 99);
    sub_fd(g, 1, 2, 1, get32(g, 84));
    CHECK_INT(poll(g, 2), 2);
    CHECK_INT(error_of(g, 0), E_BADF);
    CHECK_INT(error_of(g, 1), E_BADF);
    /* Files and the preopen are always ready. */
    sub_fd(g, 0, 1, 1, 3);
    sub_fd(g, 1, 2, 1, (uint32_t)open_at(g, "etc/passwd", 0, 5));
    CHECK_INT(poll(g, 2), 2); /* whatever else, it answers */
    int fd = open_at(g, "etc/passwd", 0, 5);
    CHECK_INT(CALL(g, fd_filestat_get, fd, 128), 0);
    sub_fd(g, 0, 1, 1, (uint32_t)fd);
    CHECK_INT(poll(g, 1), 1);
    CHECK_INT(get64(g, EVENTS + 16), get64(g, 160));
    /* Subscriptions and events in one place. */
    sub_fd(g, 0, 1, 1, (uint32_t)fd);
    sub_fd(g, 1, 2, 1, (uint32_t)fd);
    sub_fd(g, 2, 3, 1, (uint32_t)fd);
    CHECK_INT(CALL(g, poll_oneoff, SUBS, SUBS, 3, COUNT), 0);
    CHECK_INT(get32(g, COUNT), 3);
    CHECK_INT(get64(g, SUBS + 64), 3);
    /* More than lie on the stack. */
    for (uint32_t i = 0; i < 100; i++)
        sub_fd(g, i, i, 1, (uint32_t)fd);
    CHECK_INT(poll(g, 100), 100);
}

TEST(pipes)
{
    run_prog(pipes, "");
}

/* ---- waiting for another process ---- */

struct late {
    int fd;
};

static struct outcome writes_later(struct proc *p, void *arg)
{
    const struct late *l = arg;
    CHECK_INT(proc_sleep(p, proc_now(p->ps) + 5 * CLOCK_MS), 0);
    put(p, l->fd, "late");
    return exited(0);
}

static void waits(struct prog *g)
{
    char buf[8];
    CHECK_INT(HCALL(g, pipe, 0, 80), 0);
    uint32_t r = get32(g, 80);
    struct late l = {(int)get32(g, 84)};
    int pid = spawn(g->w.p, writes_later, &l)->pid;
    sub_fd(g, 0, 1, 1, r);
    sub_clock(g, 1, 2, 1, 10 * CLOCK_S, 0);
    unsigned blocked = g->blocked, refreshed = g->refreshed;
    CHECK_INT(poll(g, 2), 1);
    CHECK_INT(user_of(g, 0), 1);
    CHECK_INT(g->blocked, blocked + 1);
    CHECK(g->refreshed > refreshed);
    CHECK_INT(read_some(g, r, buf, 8), 4);
    CHECK_INT(wait_for(g->w.p, pid, NULL), pid);
    /* And a read that waits by itself. */
    pid = spawn(g->w.p, writes_later, &l)->pid;
    CHECK_INT(read_some(g, r, buf, 8), 4);
    CHECK_INT(g->blocked, blocked + 2);
    CHECK_INT(wait_for(g->w.p, pid, NULL), pid);
}

TEST(waiting_for_another)
{
    run_prog(waits, "");
}

static struct outcome kills_parent(struct proc *p, void *arg)
{
    (void)arg;
    CHECK_INT(proc_kill(p, p->ppid, SIGTERM), 0);
    return exited(0);
}

static void killed(struct prog *g)
{
    spawn(g->w.p, kills_parent, NULL);
    sub_clock(g, 0, 2, 1, 10 * CLOCK_S, 0);
    CHECK_INT(poll(g, 1), -WASI_END);
    CHECK_INT(g->w.end, WASI_KILLED);
    /* Everything that might wait says so again. */
    g->w.end = WASI_RUNS;
    CHECK_INT(write_text(g, 1, "x"), -WASI_END);
}

TEST(killed_while_waiting)
{
    struct outcome o = run_prog(killed, "");
    CHECK_INT(o.kind, OUTCOME_KILLED);
    CHECK_INT(o.signal, SIGTERM);
}

static void nonblocking(struct prog *g)
{
    char buf[8];
    CHECK_INT(HCALL(g, pipe, 2, 80), 0);
    uint32_t r = get32(g, 80), wr = get32(g, 84);
    unsigned blocked = g->blocked;
    CHECK_INT(read_some(g, r, buf, 8), -E_AGAIN);
    uint32_t iov = room(g, 16);
    set32(g, iov, 0);
    set32(g, iov + 4, 50000);
    CHECK_INT(CALL(g, fd_write, wr, iov, 1, 64), 0);
    CHECK_INT(get32(g, 64), 50000);
    CHECK_INT(CALL(g, fd_write, wr, iov, 1, 64), 0);
    CHECK_INT(get32(g, 64), 65536 - 50000);
    CHECK_INT(CALL(g, fd_write, wr, iov, 1, 64), E_AGAIN);
    CHECK_INT(g->blocked, blocked);
    CHECK_INT(HCALL(g, pipe, 4, 80), E_INVAL);
    /* Nobody reads. */
    CHECK_INT(CALL(g, fd_close, r), 0);
    CHECK_INT(HCALL(g, sig_disposition, SIGPIPE, 1), 0);
    CHECK_INT(write_text(g, wr, "x"), -E_PIPE);
    CHECK_INT(HCALL(g, sig_disposition, SIGPIPE, 0), 0);
    CHECK_INT(HCALL(g, sig_disposition, SIGKILL, 1), E_INVAL);
    CHECK_INT(HCALL(g, sig_disposition, SIGINT, 2), E_INVAL);
    CHECK_INT(HCALL(g, sig_disposition, 99, 0), E_INVAL);
    CHECK_INT(write_text(g, wr, "x"), -WASI_END);
    CHECK_INT(g->w.end, WASI_KILLED);
}

TEST(nonblocking_and_broken_pipes)
{
    struct outcome o = run_prog(nonblocking, "");
    CHECK_INT(o.signal, SIGPIPE);
}

/* ---- several pieces on a pipe ---- */

static void piece(struct prog *g, uint32_t i, uint32_t p, uint32_t n)
{
    set32(g, 256 + 8 * i, p);
    set32(g, 260 + 8 * i, n);
}

static void pieces(struct prog *g)
{
    CHECK_INT(HCALL(g, pipe, 0, 80), 0);
    uint32_t r = get32(g, 80), wr = get32(g, 84);
    unsigned blocked = g->blocked;
    /* A read has what is there and waits for no more, as wasi-libc's stdio counts on. */
    CHECK_INT(write_text(g, wr, "hello"), 5);
    piece(g, 0, 512, 3);
    piece(g, 1, 600, 100);
    CHECK_INT(CALL(g, fd_read, r, 256, 2, 64), 0);
    CHECK_INT(get32(g, 64), 5);
    CHECK(memcmp(g->mem + 600, "lo", 2) == 0);
    CHECK_INT(write_text(g, wr, "abc"), 3);
    CHECK_INT(CALL(g, fd_read, r, 256, 2, 64), 0);
    CHECK_INT(get32(g, 64), 3);
    piece(g, 0, 512, 0);
    CHECK_INT(write_text(g, wr, "abc"), 3);
    CHECK_INT(CALL(g, fd_read, r, 256, 2, 64), 0);
    CHECK_INT(get32(g, 64), 3);
    CHECK_INT(g->blocked, blocked);
    /* Several pieces of more than a pipe holds. */
    piece(g, 0, 0, 40000);
    piece(g, 1, 0, 25000);
    CHECK_INT(CALL(g, fd_write, wr, 256, 2, 64), 0);
    CHECK_INT(get32(g, 64), 65000);
    CHECK_INT(g->blocked, blocked);
    piece(g, 0, 0, 65000);
    piece(g, 1, 0, 1000);
    CHECK_INT(CALL(g, fd_read, r, 256, 2, 64), 0);
    CHECK_INT(get32(g, 64), 65000);
}

TEST(pieces_on_a_pipe)
{
    run_prog(pieces, "");
}

/* Two writers of records in two pieces, through a full pipe: each record stays whole. */
static struct outcome records(struct proc *p, void *arg)
{
    const int *a = arg;
    struct prog *g = mem_alloc(sizeof *g);
    prog_init(g, p);
    memset(g->mem + 1024, a[1], 3000);
    piece(g, 0, 1024, 1500);
    piece(g, 1, 2524, 1500);
    for (int i = 0; i < 100; i++) {
        CHECK_INT(CALL(g, fd_write, (uint32_t)a[0], 256, 2, 64), 0);
        CHECK_INT(get32(g, 64), 3000);
    }
    prog_done(g);
    mem_free(g);
    return exited(0);
}

static void whole(struct prog *g)
{
    CHECK_INT(HCALL(g, pipe, 0, 80), 0);
    uint32_t r = get32(g, 80);
    const int a[2][2] = {{(int)get32(g, 84), 'a'}, {(int)get32(g, 84), 'b'}};
    for (int i = 0; i < 2; i++)
        spawn(g->w.p, records, a[i]);
    CHECK_INT(CALL(g, fd_close, get32(g, 84)), 0);
    char buf[1000], last = 0;
    uint32_t run = 0;
    int n;
    while ((n = read_some(g, r, buf, sizeof buf)) > 0)
        for (int i = 0; i < n; i++) {
            if (buf[i] != last && last)
                CHECK_INT(run % 3000, 0);
            run = buf[i] == last ? run + 1 : 1;
            last = buf[i];
        }
    CHECK_INT(n, 0);
}

TEST(records_stay_whole)
{
    run_prog(whole, "");
}

/* ---- terminals ---- */

static struct proc_feed *feed;

static void with_terminal(struct world *w)
{
    w->in = proc_file_feed(w->ps, true, NULL, NULL, &feed);
    proc_feed_push(feed, "typed", 5);
    proc_set_winsize(w->ps, 24, 80);
}

static void terminal(struct prog *g)
{
    char buf[8];
    CHECK_INT(CALL(g, fd_fdstat_get, 0, 64), 0);
    CHECK_INT(g->mem[64], 2);
    CHECK_INT(get64(g, 72) & (1 << 2 | 1 << 5), 0); /* what isatty(3) of wasi-libc looks at */
    CHECK_INT(HCALL(g, isatty, 0), 0);
    CHECK_INT(HCALL(g, isatty, 1), E_NOTTY);
    CHECK_INT(HCALL(g, tty_size, 0, 64), 0);
    CHECK_INT(get32(g, 64), 24);
    CHECK_INT(get32(g, 68), 80);
    CHECK_INT(CALL(g, fd_seek, 0, 0, 1, 64), E_SPIPE);
    sub_fd(g, 0, 1, 1, 0);
    CHECK_INT(poll(g, 1), 1);
    CHECK_INT(get64(g, EVENTS + 16), 5);
    CHECK_INT(read_some(g, 0, buf, 8), 5);
    proc_feed_eof(feed);
    CHECK_INT(read_some(g, 0, buf, 8), 0);
    int fd = open_at(g, "dev/tty", 0, 5);
    CHECK(fd >= 4);
    CHECK_INT(HCALL(g, isatty, fd), 0);
}

TEST(terminals)
{
    run_prog_in(with_terminal, terminal, "");
}
