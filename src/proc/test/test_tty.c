/* SPDX-License-Identifier: Apache-2.0 */

/* The terminal of a session's own: what it echoes and gives to read, beside a pseudo terminal of this machine's kernel
 * for all that needs no signal; and what a kernel's terminal does not show from outside. */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "proc/test/proc_test.h"

static ssize_t take(void *arg, const void *p, size_t n)
{
    struct world *w = arg;
    n = n < w->out_room ? n : w->out_room;
    if (!n)
        return -EAGAIN;
    w->out_room -= n;
    buf_add(&w->out, p, n);
    return (ssize_t)n;
}

struct term {
    struct world w;
    struct proc_tty *tty;
    const char *typed; /* when a reader asks */
    size_t n;
    struct buf got;
};

static void need(void *arg)
{
    struct term *t = (struct term *)arg; /* its first member is the sink's argument, too */
    size_t k = proc_tty_input(t->tty, t->typed, t->n);
    t->typed += k;
    t->n -= k;
}

static void term_init(struct term *t, const char *typed, size_t n)
{
    *t = (struct term){.typed = typed, .n = n};
    world_init(&t->w);
    buf_init(&t->got, 1u << 20);
    t->w.in = proc_file_tty(t->w.ps, take, need, t, &t->tty);
    CHECK(t->w.in != NULL);
}

static void term_done(struct term *t)
{
    proc_tty_close(t->tty);
    buf_done(&t->got);
    world_done(&t->w);
}

/* ---- beside a kernel's ---- */

struct both {
    const char *what;
    const char *typed;
    size_t n;
    uint32_t off, on; /* of our flags */
};

#define TYPED(s) (s), sizeof(s) - 1

/* Each ends with "~\n", by which the reader knows that all of it has come. */
static const struct both cases[] = {
    {"a line", TYPED("hello~\n"), 0, 0},
    {"lines", TYPED("a\nbc\n\n~\n"), 0, 0},
    {"erase", TYPED("abc\177\177x\177\177\177\177\177y~\n"), 0, 0},
    {"erase a character of two bytes", TYPED("a\303\251\177b\342\202\254\177\177c~\n"), 0, 0},
    {"bytes that are no characters", TYPED("a\303\251\177~\n"), PROC_IUTF8, 0},
    {"erase what is shown as two", TYPED("a\001\002\177b\033\177\177~\n"), 0, 0},
    {"erase a tab", TYPED("ab\t\177c\t\td\177\177\177e~\n"), 0, 0},
    {"kill", TYPED("some text\025other\001\025x~\n"), 0, 0},
    {"erase words", TYPED("one two  three\027\027x a.b.c\027\027 \t\027y~\n"), 0, 0},
    {"reprint", TYPED("one\002two\022~\n"), 0, 0},
    {"literal", TYPED("a\026\177b\026\nc\026\004\026\026~\n"), 0, 0},
    {"end of file", TYPED("ab\004cd\n\004ef\004\004~\n"), 0, 0},
    {"carriage return", TYPED("a\rb\r~\r"), 0, 0},
    {"carriage return ignored", TYPED("a\rb\n~\n"), 0, PROC_IGNCR},
    {"carriage return kept", TYPED("a\rb\n~\n"), PROC_ICRNL, 0},
    {"no output processing", TYPED("a\nb\n~\n"), PROC_OPOST, 0},
    {"no carriage return in output", TYPED("a\nb\n~\n"), PROC_ONLCR, 0},
    {"no echo", TYPED("secret\177x\025y\n~\n"), PROC_ECHO, PROC_ECHONL},
    {"control characters as they are", TYPED("a\001\177b\002\177\177c~\n"), PROC_ECHOCTL, 0},
    {"erase without wiping out", TYPED("abc\177\177d~\n"), PROC_ECHOE, 0},
    {"kill on a line of its own", TYPED("abc\025d~\n"), PROC_ECHOKE, 0},
    {"no extensions", TYPED("a b\027c\026\022d~\n"), PROC_IEXTEN, 0},
};
#define CASES (sizeof(cases) / sizeof(cases[0]))

static void set(tcflag_t *to, tcflag_t bit, bool on)
{
    *to = on ? *to | bit : *to & ~bit;
}

static void set_kernel(int fd, const struct proc_termios *t)
{
    struct termios k;
    CHECK_INT(tcgetattr(fd, &k), 0);
    k.c_iflag &= ~(tcflag_t)(IXON | IXOFF | ISTRIP | PARMRK | IMAXBEL);
    set(&k.c_iflag, ICRNL, t->flags & PROC_ICRNL);
    set(&k.c_iflag, INLCR, t->flags & PROC_INLCR);
    set(&k.c_iflag, IGNCR, t->flags & PROC_IGNCR);
    set(&k.c_iflag, IUTF8, t->flags & PROC_IUTF8);
    k.c_oflag &= ~(tcflag_t)(OCRNL | ONOCR | ONLRET | OFILL | XTABS);
    set(&k.c_oflag, OPOST, t->flags & PROC_OPOST);
    set(&k.c_oflag, ONLCR, t->flags & PROC_ONLCR);
    k.c_lflag &= ~(tcflag_t)(ECHOPRT | TOSTOP | FLUSHO);
    set(&k.c_lflag, ISIG, t->flags & PROC_ISIG);
    set(&k.c_lflag, ICANON, t->flags & PROC_ICANON);
    set(&k.c_lflag, ECHO, t->flags & PROC_ECHO);
    set(&k.c_lflag, ECHOE, t->flags & PROC_ECHOE);
    set(&k.c_lflag, ECHOK, t->flags & PROC_ECHOK);
    set(&k.c_lflag, ECHONL, t->flags & PROC_ECHONL);
    set(&k.c_lflag, ECHOCTL, t->flags & PROC_ECHOCTL);
    set(&k.c_lflag, ECHOKE, t->flags & PROC_ECHOKE);
    set(&k.c_lflag, IEXTEN, t->flags & PROC_IEXTEN);
    static const int at[PROC_CC] = {VINTR, VQUIT,    VERASE,  VKILL,  VEOF, VEOL,
                                    VSUSP, VREPRINT, VWERASE, VLNEXT, VMIN, VTIME};
    for (int i = 0; i < PROC_CC; i++)
        k.c_cc[at[i]] = t->cc[i];
    CHECK_INT(tcsetattr(fd, TCSANOW, &k), 0);
}

static bool ends_with(const struct buf *b, const char *s)
{
    size_t n = strlen(s);
    return b->n >= n && memcmp(b->p + b->n - n, s, n) == 0;
}

/* A read as text: its bytes and a bar, so that where reads end is compared, too. */
static void note_read(struct buf *to, const char *p, size_t n)
{
    buf_add(to, p, n);
    buf_putc(to, '|');
}

static void kernel(int master, int slave, const struct both *c, struct buf *echo, struct buf *got)
{
    char b[4096];
    CHECK_INT(write(master, c->typed, c->n), (ssize_t)c->n);
    while (!ends_with(got, "~\n|") && !ends_with(got, "~\r|")) {
        ssize_t n = read(slave, b, sizeof(b));
        if (!CHECK(n >= 0))
            return;
        note_read(got, b, (size_t)n);
    }
    const char *end = c->off & PROC_ECHO ? "\n" : c->off & (PROC_OPOST | PROC_ONLCR) ? "~\n" : "~\r\n";
    size_t want = c->off & PROC_ECHO ? 4 : 0; /* two newlines, as they are shown */
    while (!ends_with(echo, end) || echo->n < want) {
        ssize_t n = read(master, b, sizeof(b));
        if (!CHECK(n > 0))
            return;
        buf_add(echo, b, (size_t)n);
    }
}

static struct outcome read_all(struct proc *p, void *arg)
{
    struct term *t = *(struct term **)arg;
    char b[4096];
    proc_set_foreground(p->ps, p->pgid);
    while (!ends_with(&t->got, "~\n|") && !ends_with(&t->got, "~\r|")) {
        ssize_t n = proc_read(p, 0, b, sizeof(b));
        if (!CHECK(n >= 0))
            return exited(1);
        note_read(&t->got, b, (size_t)n);
    }
    return exited(0);
}

TEST(as_a_kernels_terminal)
{
    FD_AUTO int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (master < 0 || grantpt(master) || unlockpt(master)) {
        fprintf(stderr, "# no pseudo terminals here\n");
        return;
    }
    for (size_t i = 0; i < CASES; i++) {
        const struct both *c = &cases[i];
        struct term t, *tp = &t;
        struct proc_termios s;
        BUF_AUTO struct buf echo, got;
        buf_init(&echo, 1u << 20);
        buf_init(&got, 1u << 20);
        term_init(&t, c->typed, c->n);
        proc_tty_get(t.tty, &s);
        s.flags = (s.flags & ~c->off) | c->on;
        proc_tty_set(t.tty, &s);
        FD_AUTO int slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
        CHECK(slave >= 0);
        set_kernel(slave, &s);
        kernel(master, slave, c, &echo, &got);
        world_run(&t.w, read_all, &tp);
        CHECK_INT(proc_tty_quiet(t.tty), true);
        if (!str_eq(buf_str(&t.got), buf_str(&got)) || !str_eq(buf_str(&t.w.out), buf_str(&echo)))
            CHECK_C(c->what, "the same"); /* names the row */
        CHECK_STR(buf_str(&t.got), buf_str(&got));
        CHECK_STR(buf_str(&t.w.out), buf_str(&echo));
        term_done(&t);
    }
}

/* ---- what needs a session around it ---- */

static struct outcome main_signal(struct proc *p, void *arg)
{
    char b[10];
    (void)arg;
    proc_set_foreground(p->ps, p->pgid);
    CHECK_INT(proc_sigaction(p, SIGINT, PROC_SIG_CATCH), 0);
    CHECK_INT(proc_read(p, 0, b, sizeof(b)), -EINTR);
    CHECK_INT(proc_take_signal(p), SIGINT);
    CHECK_INT(proc_read(p, 0, b, sizeof(b)), 5);
    CHECK(memcmp(b, "line\n", 5) == 0);
    CHECK_INT(proc_read(p, 0, b, sizeof(b)), -EINTR); /* ended by SIGQUIT */
    return exited(0);
}

TEST(keys_that_are_signals)
{
    struct term t;
    term_init(&t, "", 0);
    struct proc *p = world_start(&t.w, main_signal, NULL);
    int64_t wake;
    CHECK_INT(proc_run(t.w.ps, p, &wake), 0);
    CHECK_INT(proc_tty_input(t.tty, "lost\003", 5), 5);
    CHECK_INT(proc_run(t.w.ps, p, &wake), 0);
    CHECK_INT(proc_tty_input(t.tty, "line\n", 5), 5);
    CHECK_INT(proc_run(t.w.ps, p, &wake), 0);
    CHECK_INT(proc_tty_input(t.tty, "\034", 1), 1);
    CHECK_INT(proc_run(t.w.ps, p, &wake), 1);
    CHECK(p->outcome.kind == OUTCOME_KILLED && p->outcome.signal == SIGQUIT);
    CHECK_STR(buf_str(&t.w.out), STR("lost^Cline\r\n^\\"));
    proc_forget(t.w.ps, p);
    term_done(&t);
}

static struct outcome main_raw(struct proc *p, void *arg)
{
    char b[10];
    struct proc_termios s;
    struct proc_tty *t = proc_terminal(p, 0);
    (void)arg;
    proc_set_foreground(p->ps, p->pgid);
    CHECK(t != NULL);
    CHECK_INT(proc_read(p, 0, b, sizeof(b)), 2);
    proc_tty_get(t, &s);
    s.flags &= ~(uint32_t)(PROC_ICANON | PROC_ECHO | PROC_ISIG | PROC_ICRNL | PROC_OPOST);
    proc_tty_set(t, &s);
    CHECK_INT(proc_read(p, 0, b, 2), 2); /* typed before, as a line that had no end */
    CHECK(memcmp(b, "b\r", 2) == 0 || memcmp(b, "b\003", 2) == 0);
    CHECK_INT(proc_read(p, 0, b, sizeof(b)), 1);
    s.cc[PROC_VMIN] = 0;
    proc_tty_set(t, &s);
    CHECK_INT(proc_read(p, 0, b, sizeof(b)), 0);
    s.cc[PROC_VTIME] = 1;
    proc_tty_set(t, &s);
    int64_t before = proc_now(p->ps);
    CHECK_INT(proc_read(p, 0, b, sizeof(b)), 0);
    CHECK(proc_now(p->ps) - before >= CLOCK_S / 10);
    CHECK_INT(proc_write(p, 0, "x\ny", 3), 3);
    return exited(0);
}

TEST(raw)
{
    struct term t;
    term_init(&t, TYPED("a\nb\026\003\004"));
    CHECK_INT(proc_tty_input(t.tty, "a\nb\026\003", 5), 5);
    t.typed = "\004";
    t.n = 1;
    world_run(&t.w, main_raw, NULL);
    CHECK_STR(buf_str(&t.w.out), STR("a\r\nb^\b^Cx\ny"));
    CHECK(t.w.outcome.kind == OUTCOME_EXITED);
    term_done(&t);
}

static struct outcome main_room(struct proc *p, void *arg)
{
    struct term *t = *(struct term **)arg;
    char b[LIMIT_TTY];
    proc_set_foreground(p->ps, p->pgid);
    CHECK_INT(proc_read(p, 0, b, 5), 5);
    while (!ends_with(&t->got, "end\n")) {
        ssize_t n = proc_read(p, 0, b, sizeof(b));
        if (!CHECK(n > 0))
            return exited(1);
        buf_add(&t->got, b, (size_t)n);
    }
    return exited(0);
}

TEST(more_than_there_is_room_for)
{
    struct term t, *tp = &t;
    BUF_AUTO struct buf all;
    buf_init(&all, 1u << 20);
    for (int i = 0; i < 2000; i++)
        buf_addf(&all, "line %d\n", i);
    buf_addc(&all, "end\n");
    term_init(&t, all.p, all.n);
    size_t n = proc_tty_input(t.tty, all.p, all.n);
    CHECK(n >= LIMIT_TTY - 1 && n <= LIMIT_TTY);
    t.typed += n;
    t.n -= n;
    world_run(&t.w, main_room, &tp);
    CHECK_STR(buf_str(&t.got), str_from(buf_str(&all), 5));
    term_done(&t);
    /* A line that is too long is cut, with a bell for what is too much, and can be ended. */
    term_init(&t, "", 0);
    for (int i = 0; i < LIMIT_TTY + 10; i++)
        CHECK_INT(proc_tty_input(t.tty, "x", 1), 1);
    CHECK_INT(proc_tty_input(t.tty, "\n", 1), 1);
    CHECK_INT(proc_tty_input(t.tty, "y", 1), 0);
    CHECK_INT(t.w.out.n, LIMIT_TTY - 1 + 11 + 2);
    proc_file_unref(t.w.in); /* no program took it */
    term_done(&t);
}

TEST(echo_waits_for_the_host)
{
    struct term t;
    term_init(&t, "", 0);
    t.w.out_room = 2;
    CHECK_INT(proc_tty_input(t.tty, "abcdef", 6), 3); /* the third waits in the terminal */
    CHECK(!proc_tty_quiet(t.tty));
    t.w.out_room = 100;
    proc_sink_ready(t.w.ps);
    CHECK(proc_tty_quiet(t.tty));
    CHECK_STR(buf_str(&t.w.out), STR("abc"));
    proc_file_unref(t.w.in);
    term_done(&t);
}

static struct outcome main_print(struct proc *p, void *arg)
{
    (void)arg;
    CHECK_INT(proc_write(p, 0, "a\nb\n\nc\n", 7), 7);
    return exited(0);
}

TEST(output_in_pieces_of_every_size)
{
    for (size_t room = 1; room < 13; room++) {
        struct term t;
        int64_t wake;
        term_init(&t, "", 0);
        struct proc *p = world_start(&t.w, main_print, NULL);
        do {
            t.w.out_room = room;
            proc_sink_ready(t.w.ps);
        } while (!proc_run(t.w.ps, p, &wake));
        CHECK_STR(buf_str(&t.w.out), STR("a\r\nb\r\n\r\nc\r\n"));
        proc_forget(t.w.ps, p);
        term_done(&t);
    }
}

static struct outcome main_short(struct proc *p, void *arg)
{
    (void)arg;
    proc_set_foreground(p->ps, p->pgid);
    CHECK_INT(proc_sigaction(p, SIGINT, PROC_SIG_CATCH), 0);
    CHECK_INT(proc_write(p, 0, "a\nb", 3), 1); /* stopped within the newline */
    CHECK_INT(proc_take_signal(p), SIGINT);
    CHECK_INT(proc_write(p, 0, "\nb", 2), 2);
    return exited(0);
}

TEST(a_write_that_a_signal_cuts)
{
    struct term t;
    int64_t wake;
    term_init(&t, "", 0);
    t.w.out_room = 2;
    struct proc *p = world_start(&t.w, main_short, NULL);
    CHECK_INT(proc_run(t.w.ps, p, &wake), 0);
    CHECK_INT(proc_tty_input(t.tty, "\003", 1), 1);
    CHECK_INT(proc_run(t.w.ps, p, &wake), 0);
    t.w.out_room = 100;
    proc_sink_ready(t.w.ps);
    CHECK_INT(proc_run(t.w.ps, p, &wake), 1);
    CHECK_STR(buf_str(&t.w.out), STR("a\r^C\nb"));
    proc_forget(t.w.ps, p);
    term_done(&t);
}

static struct outcome main_hangup(struct proc *p, void *arg)
{
    char b[10];
    const void *q;
    size_t n;
    (void)arg;
    proc_set_foreground(p->ps, p->pgid);
    int fd = proc_open(p, STR("/dev/tty"), O_RDWR, 0);
    CHECK_INT(fd, 3);
    CHECK(proc_terminal(p, fd) == proc_terminal(p, 0) && proc_isatty(p, fd));
    CHECK_INT(proc_available(p, 0), 0);
    struct proc_pollfd e = {.fd = 0, .want_read = true};
    CHECK_INT(proc_look_fds(p, &e, 1), 0);
    CHECK_INT(proc_peek(p, fd, &q, &n), 0);
    CHECK_INT(n, 3);
    proc_consume(p, fd, 1);
    CHECK_INT(proc_available(p, 0), 2);
    CHECK_INT(proc_read(p, 0, b, sizeof(b)), 2);
    CHECK_INT(proc_peek(p, 0, &q, &n), 0);
    CHECK_INT(n, 0); /* ^D */
    CHECK_INT(proc_read(p, 0, b, sizeof(b)), 2);
    CHECK_INT(proc_read(p, 0, b, sizeof(b)), 0);
    CHECK_INT(proc_read(p, 0, b, sizeof(b)), 0);
    return exited(0);
}

static void need_then_hang_up(void *arg)
{
    struct term *t = arg;
    if (t->n)
        need(t);
    else
        proc_tty_hangup(t->tty);
}

TEST(another_open_peeks_and_a_hangup)
{
    struct term t;
    term_init(&t, TYPED("ab\n\004cd"));
    proc_tty_close(t.tty);
    proc_file_unref(t.w.in);
    t.w.in = proc_file_tty(t.w.ps, take, need_then_hang_up, &t, &t.tty);
    world_run(&t.w, main_hangup, NULL);
    CHECK(t.w.outcome.kind == OUTCOME_EXITED);
    term_done(&t);
}
