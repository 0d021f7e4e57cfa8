/* SPDX-License-Identifier: Apache-2.0 */
#include "proc/proc_int.h"

#include <fcntl.h>

#include "base/num.h"

/*
 * A terminal of the session's own: the line discipline that stands between what is typed and what a program reads
 * (POSIX, 11 General Terminal Interface; where that leaves a choice, as Linux, termios(3)).
 *
 * Typed bytes lie in a ring. In canonical mode the last of them are the line that is being edited, and only whole lines
 * before it are read; else all can be read. A byte may be marked: a read ends behind it, or (the end-of-file character)
 * in its place.
 *
 * Determinism. What is typed is processed when the host gives it, which is an event of the tape. What it echoes goes
 * out before anything that is printed after it; a byte is taken only when all echo before it is out, so that how much
 * one byte can echo, and what of it is dropped, does not depend on when the host takes output.
 */

#define ECHO_MAX 16384u /* bytes that one typed byte may echo: of a long line that is killed, the rest is not shown */
#define TAB 8u

enum mark { MARK_NONE, MARK_END, MARK_EOF };

struct proc_tty {
    struct proc_set *ps;
    uint32_t refs; /* files, and the host */
    struct proc_termios t;
    struct proc_file *out; /* the host's sink */
    void (*need)(void *arg);
    void *arg;
    uint32_t head, n, ready; /* of the ring: first byte, bytes, bytes that may be read */
    uint32_t column;         /* where the next byte is shown */
    uint32_t begin;          /* and where the line that is being edited began */
    bool literal;            /* the next byte is taken as it is */
    bool half;               /* of "\r\n" the first was written */
    bool hung_up;
    struct proc_waitq rq;
    uint32_t n_echo;
    char ring[LIMIT_TTY];
    uint8_t marks[LIMIT_TTY];
    char echo[ECHO_MAX];
};

#define ON(t, flag) (((t)->t.flags & (flag)) != 0)

static const struct proc_termios at_first = {
    .flags = PROC_ICRNL | PROC_IUTF8 | PROC_OPOST | PROC_ONLCR | PROC_ISIG | PROC_ICANON | PROC_ECHO | PROC_ECHOE |
             PROC_ECHOK | PROC_ECHOCTL | PROC_ECHOKE | PROC_IEXTEN,
    .cc = {[PROC_VINTR] = 3,
           [PROC_VQUIT] = 28,
           [PROC_VERASE] = 127,
           [PROC_VKILL] = 21,
           [PROC_VEOF] = 4,
           [PROC_VSUSP] = 26,
           [PROC_VREPRINT] = 18,
           [PROC_VWERASE] = 23,
           [PROC_VLNEXT] = 22,
           [PROC_VMIN] = 1},
};

/* ---- life ---- */

static struct proc_file *new_file(struct proc_tty *t, int oflags)
{
    struct proc_file *f = file__new(t->ps, FILE_TERMINAL, oflags);
    if (!f)
        return NULL;
    f->tty = true;
    f->u.tty = t;
    t->refs++;
    return f;
}

struct proc_file *proc_file_tty(struct proc_set *ps, ssize_t (*write)(void *arg, const void *p, size_t n),
                                void (*need)(void *arg), void *arg, struct proc_tty **ret)
{
    struct mem_account *before = set__use(ps);
    struct proc_tty *t = mem_try_zalloc(sizeof(*t));
    struct proc_file *out = t ? proc_file_sink(ps, true, write, arg) : NULL, *f = NULL;
    if (out) {
        *t = (struct proc_tty){.ps = ps, .refs = 1, .t = at_first, .out = out, .need = need, .arg = arg};
        out->u.sink.tty = t;
        f = new_file(t, O_RDWR);
    }
    if (f) {
        ps->terminal = t;
        *ret = t;
    } else {
        proc_file_unref(out);
        mem_free(t);
    }
    mem_use(before);
    return f;
}

int tty__open(struct proc_set *ps, int oflags, struct proc_file **ret)
{
    *ret = new_file(ps->terminal, oflags);
    return *ret ? 0 : -ENOMEM;
}

void tty__unref(struct proc_tty *t)
{
    if (--t->refs)
        return;
    if (t->ps->terminal == t)
        t->ps->terminal = NULL;
    proc_file_unref(t->out);
    mem_free(t);
}

void proc_tty_close(struct proc_tty *t)
{
    if (!t)
        return;
    proc_tty_hangup(t);
    t->need = NULL;
    struct mem_account *before = set__use(t->ps);
    tty__unref(t);
    mem_use(before);
}

/* ---- echo ---- */

bool tty__flush(struct proc_tty *t)
{
    uint32_t done = 0;
    while (done < t->n_echo) {
        ssize_t r = t->out->u.sink.write(t->out->u.sink.arg, t->echo + done, t->n_echo - done);
        if (r == 0 || r == -EAGAIN)
            break;
        done = r < 0 ? t->n_echo : done + (uint32_t)r; /* nobody looks any more */
    }
    memmove(t->echo, t->echo + done, t->n_echo - done);
    t->n_echo -= done;
    return t->n_echo == 0;
}

bool proc_tty_quiet(struct proc_tty *t)
{
    return tty__flush(t);
}

static void show_raw(struct proc_tty *t, char c)
{
    if (t->n_echo < ECHO_MAX)
        t->echo[t->n_echo++] = c;
}

/* Where the cursor is after @c. */
static void move(struct proc_tty *t, char c)
{
    if (c == '\r' || (c == '\n' && ON(t, PROC_ONLCR)))
        t->column = 0;
    else if (c == '\b')
        t->column -= t->column > 0;
    else if (c == '\t')
        t->column = (t->column / TAB + 1) * TAB;
    else if ((uint8_t)c >= 32 && c != 127 && ((uint8_t)c & 0xc0) != 0x80)
        t->column++;
}

static void show(struct proc_tty *t, char c)
{
    if (c == '\n' && ON(t, PROC_OPOST) && ON(t, PROC_ONLCR))
        show_raw(t, '\r');
    show_raw(t, c);
    move(t, c);
}

/* A typed byte as it is echoed: ^X for what cannot be shown. */
static void show_typed(struct proc_tty *t, char c)
{
    if (ON(t, PROC_ECHOCTL) && ((uint8_t)c < 32 || c == 127) && c != '\t') {
        show(t, '^');
        show(t, (char)(c ^ 64));
    } else {
        show(t, c);
    }
}

/* ---- the line that is being edited ---- */

static uint32_t at(const struct proc_tty *t, uint32_t i)
{
    return (t->head + i) % LIMIT_TTY;
}

static char last(const struct proc_tty *t)
{
    return t->ring[at(t, t->n - 1)];
}

static void add(struct proc_tty *t, char c, enum mark m)
{
    t->ring[at(t, t->n)] = c;
    t->marks[at(t, t->n)] = (uint8_t)m;
    t->n++;
    if (m || !ON(t, PROC_ICANON))
        t->ready = t->n;
}

/* The column behind the line that is being edited, when all of it is shown. */
static uint32_t end_column(const struct proc_tty *t)
{
    uint32_t col = t->begin;
    for (uint32_t i = t->ready; i < t->n; i++) {
        char c = t->ring[at(t, i)];
        if (c == '\t')
            col = (col / TAB + 1) * TAB;
        else if ((uint8_t)c < 32 || c == 127)
            col += ON(t, PROC_ECHOCTL) ? 2 : 0;
        else
            col += !ON(t, PROC_IUTF8) || ((uint8_t)c & 0xc0) != 0x80;
    }
    return col;
}

/* Takes the last character off, and off the screen. */
static void erase_one(struct proc_tty *t)
{
    uint32_t before = end_column(t);
    bool more, tab = last(t) == '\t';
    do {
        more = ON(t, PROC_IUTF8) && ((uint8_t)last(t) & 0xc0) == 0x80;
        t->n--;
    } while (more && t->n > t->ready);
    if (!ON(t, PROC_ECHO))
        return;
    if (!ON(t, PROC_ECHOE)) {
        show_typed(t, (char)t->t.cc[PROC_VERASE]);
        return;
    }
    for (uint32_t col = end_column(t); col < before; col++) {
        show(t, '\b');
        if (tab)
            continue; /* there is nothing to wipe out */
        show(t, ' ');
        show(t, '\b');
    }
}

static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' || c & 0x80;
}

/* Blanks, then a word, as Linux. */
static void erase_word(struct proc_tty *t)
{
    bool seen = false;
    while (t->n > t->ready) {
        bool word = is_word(last(t));
        if (seen && !word)
            break;
        seen |= word;
        erase_one(t);
    }
}

static void kill_line(struct proc_tty *t)
{
    if (ON(t, PROC_ECHO) && ON(t, PROC_ECHOK) && ON(t, PROC_ECHOKE) && ON(t, PROC_ECHOE)) {
        while (t->n > t->ready)
            erase_one(t);
        return;
    }
    t->n = t->ready;
    if (!ON(t, PROC_ECHO))
        return;
    show_typed(t, (char)t->t.cc[PROC_VKILL]);
    if (ON(t, PROC_ECHOK))
        show(t, '\n');
}

static void reprint(struct proc_tty *t)
{
    if (!ON(t, PROC_ECHO))
        return;
    show_typed(t, (char)t->t.cc[PROC_VREPRINT]);
    show(t, '\n');
    t->begin = t->column;
    for (uint32_t i = t->ready; i < t->n; i++)
        show_typed(t, t->ring[at(t, i)]);
}

/* ---- what is typed ---- */

/* A character of @i that is switched on: 0 is none. */
static bool is(const struct proc_tty *t, char c, enum proc_cc i)
{
    return t->t.cc[i] && (uint8_t)c == t->t.cc[i];
}

static int signal_of(const struct proc_tty *t, char c)
{
    if (!ON(t, PROC_ISIG))
        return 0;
    return is(t, c, PROC_VINTR) ? SIGINT : is(t, c, PROC_VQUIT) ? SIGQUIT : is(t, c, PROC_VSUSP) ? SIGTSTP : 0;
}

static void send_signal(struct proc_tty *t, int sig, char c)
{
    if (!ON(t, PROC_NOFLSH))
        t->n = t->ready = 0;
    if (ON(t, PROC_ECHO))
        show_typed(t, c);
    if (t->ps->foreground)
        proc_signal_group(t->ps, t->ps->foreground, sig);
}

/* Whether @c edits the line; it is done then. */
static bool edits(struct proc_tty *t, char c)
{
    bool more = t->n > t->ready, ext = ON(t, PROC_IEXTEN);
    if (is(t, c, PROC_VERASE)) {
        if (more)
            erase_one(t);
    } else if (is(t, c, PROC_VKILL)) {
        kill_line(t);
    } else if (ext && is(t, c, PROC_VWERASE)) {
        erase_word(t);
    } else if (ext && is(t, c, PROC_VREPRINT)) {
        reprint(t);
    } else {
        return false;
    }
    return true;
}

static void type_text(struct proc_tty *t, char c, bool literal)
{
    bool canon = ON(t, PROC_ICANON);
    bool ends = canon && !literal && (c == '\n' || is(t, c, PROC_VEOL));
    if (canon && !ends && t->n + 1 >= LIMIT_TTY) {
        show(t, '\a'); /* the line is full, but for its end */
        return;
    }
    if (canon && t->n == t->ready)
        t->begin = t->column;
    if (c == '\n' && !literal && (ON(t, PROC_ECHO) || (canon && ON(t, PROC_ECHONL))))
        show(t, c);
    else if (ON(t, PROC_ECHO))
        show_typed(t, c);
    add(t, c, ends ? MARK_END : MARK_NONE);
}

static void type(struct proc_tty *t, char c)
{
    if (t->literal) {
        t->literal = false;
        type_text(t, c, true);
        return;
    }
    if (c == '\r' && ON(t, PROC_IGNCR))
        return;
    int sig = signal_of(t, c);
    if (sig) {
        send_signal(t, sig, c);
        return;
    }
    if (c == '\r' && ON(t, PROC_ICRNL))
        c = '\n';
    else if (c == '\n' && ON(t, PROC_INLCR))
        c = '\r';
    if (ON(t, PROC_ICANON) && edits(t, c))
        return;
    if (ON(t, PROC_ICANON) && ON(t, PROC_IEXTEN) && is(t, c, PROC_VLNEXT)) {
        t->literal = true;
        if (ON(t, PROC_ECHO) && ON(t, PROC_ECHOCTL)) {
            show_raw(t, '^');
            show_raw(t, '\b');
        }
        return;
    }
    if (ON(t, PROC_ICANON) && is(t, c, PROC_VEOF))
        add(t, 0, MARK_EOF);
    else
        type_text(t, c, false);
}

/* In canonical mode a line without an end is never waited with: what is too much of it is refused by type_text(). */
static bool has_room(const struct proc_tty *t)
{
    return t->n + 1 < LIMIT_TTY || (ON(t, PROC_ICANON) ? t->ready == 0 : t->n < LIMIT_TTY);
}

size_t proc_tty_input(struct proc_tty *t, const void *p, size_t n)
{
    const char *c = p;
    size_t done = 0;
    uint32_t ready = t->ready;
    while (done < n && !t->hung_up && has_room(t) && tty__flush(t))
        type(t, c[done++]);
    (void)tty__flush(t);
    if (t->ready && (t->ready != ready || done)) {
        proc_wake(&t->rq);
        poll__notify(t->ps);
    }
    return t->hung_up ? n : done;
}

void proc_tty_hangup(struct proc_tty *t)
{
    if (t->hung_up)
        return;
    t->hung_up = true;
    t->ready = t->n;
    proc_wake(&t->rq);
    poll__notify(t->ps);
}

/* ---- reading ---- */

/* Bytes before the next mark, at most @n; *ret_mark is the mark that ends them, MARK_NONE when none does. A byte with
 * MARK_END is among them. */
static uint32_t span(const struct proc_tty *t, size_t n, enum mark *ret_mark)
{
    uint32_t i = 0;
    *ret_mark = MARK_NONE;
    while (i < t->ready && *ret_mark == MARK_NONE) {
        enum mark m = (enum mark)t->marks[at(t, i)];
        if (m != MARK_EOF && i == n)
            break;
        *ret_mark = m;
        i += m != MARK_EOF;
    }
    return i;
}

static void drop(struct proc_tty *t, uint32_t n)
{
    t->head = at(t, n);
    t->n -= n;
    t->ready -= NUM_MIN(n, t->ready);
}

/* Takes the place of an end-of-file character that comes next. */
static void drop_eof(struct proc_tty *t)
{
    if (t->ready && t->marks[t->head] == MARK_EOF)
        drop(t, 1);
}

/* Waits until a read of @want bytes returns: 1, 0 when it gives nothing, or an error. */
static int await_typed(struct proc *p, struct proc_file *f, size_t want)
{
    struct proc_tty *t = f->u.tty;
    bool asked = false;
    int64_t timeout = INT64_MAX;
    uint32_t seen = 0;
    for (;;) {
        int r = stream__may_read(p, f);
        if (r < 0)
            return r;
        bool canon = ON(t, PROC_ICANON);
        uint32_t min = canon ? 1 : t->t.cc[PROC_VMIN], time = canon ? 0 : t->t.cc[PROC_VTIME];
        if (t->ready && t->ready >= NUM_MIN((uint32_t)NUM_MIN(want, (size_t)LIMIT_TTY), min))
            return 1;
        if (t->hung_up || (min == 0 && time == 0))
            return t->ready != 0;
        if (f->oflags & O_NONBLOCK)
            return -EAGAIN;
        /* TIME runs from the read when MIN is 0, else from the last byte. */
        if (time && (min == 0 ? timeout == INT64_MAX : t->ready != seen))
            timeout = proc_now(t->ps) + (int64_t)time * (CLOCK_S / 10);
        seen = t->ready;
        if (!asked && !t->ready && t->need) {
            asked = true;
            tape__place(t->ps);
            struct mem_account *before = set__host_begin(t->ps);
            t->need(t->arg);
            set__host_end(before);
            continue;
        }
        r = proc_block(p, &t->rq, timeout);
        if (r == -ETIMEDOUT)
            return t->ready != 0;
        if (r < 0)
            return r;
    }
}

ssize_t tty__read(struct proc *p, struct proc_file *f, char *buf, size_t n)
{
    struct proc_tty *t = f->u.tty;
    enum mark m;
    int r = await_typed(p, f, n);
    if (r <= 0)
        return r;
    uint32_t k = span(t, n, &m);
    for (uint32_t i = 0; i < k; i++)
        buf[i] = t->ring[at(t, i)];
    drop(t, k);
    if (m == MARK_EOF)
        drop_eof(t);
    return (ssize_t)k;
}

int tty__peek(struct proc *p, struct proc_file *f, const void **ret_p, size_t *ret_n)
{
    struct proc_tty *t = f->u.tty;
    enum mark m;
    int r = await_typed(p, f, 1);
    if (r < 0)
        return r;
    uint32_t k = r ? span(t, LIMIT_TTY, &m) : 0;
    if (r && k == 0)
        drop_eof(t);
    *ret_p = t->ring + t->head;
    *ret_n = NUM_MIN(k, LIMIT_TTY - t->head);
    return 0;
}

void tty__consume(struct proc_tty *t, size_t n)
{
    uint32_t k = (uint32_t)NUM_MIN(n, (size_t)t->ready);
    bool line = k && t->marks[at(t, k - 1)] == MARK_NONE;
    drop(t, k);
    if (line)
        drop_eof(t);
}

uint32_t tty__available(const struct proc_tty *t)
{
    enum mark m;
    return span(t, LIMIT_TTY, &m);
}

bool tty__readable(const struct proc_tty *t)
{
    return t->ready != 0 || t->hung_up || (!ON(t, PROC_ICANON) && !t->t.cc[PROC_VMIN] && !t->t.cc[PROC_VTIME]);
}

void tty__look(const struct proc_tty *t, struct proc_pollfd *e)
{
    e->hangup = t->hung_up;
    e->readable = e->want_read && (t->ready != 0 || t->hung_up);
    e->writable = e->want_write;
}

void tty__need(struct proc_tty *t)
{
    if (!t->need || t->ready)
        return;
    tape__place(t->ps);
    struct mem_account *before = set__host_begin(t->ps);
    t->need(t->arg);
    set__host_end(before);
}

/* ---- writing ---- */

/* Writes the first of @n bytes and returns how many of them are out: a newline is when both of its bytes are. *ret_cut:
 * a signal has cut it short. */
static ssize_t write_some(struct proc *p, struct proc_tty *t, const char *buf, size_t n, bool *ret_cut)
{
    char out[512];
    size_t k = 0, i = 0;
    bool half = t->half;
    for (; i < n && k + 2 <= sizeof(out); i++) {
        if (buf[i] == '\n' && !half)
            out[k++] = '\r';
        half = false;
        out[k++] = buf[i];
        move(t, buf[i]);
    }
    ssize_t r = sink__write(p, t->out, out, k);
    if (r == (ssize_t)k) {
        t->half = false;
        return (ssize_t)i;
    }
    if (r <= 0)
        return r;
    *ret_cut = true;
    size_t left = (size_t)r, done = 0;
    for (half = t->half; done < i && left; done++) {
        size_t cost = buf[done] == '\n' && !half ? 2 : 1;
        if (cost > left)
            break;
        half = false;
        left -= cost;
    }
    t->half = left > 0;
    return (ssize_t)done;
}

ssize_t tty__write(struct proc *p, struct proc_file *f, const char *buf, size_t n)
{
    struct proc_tty *t = f->u.tty;
    size_t done = 0;
    if (!ON(t, PROC_OPOST) || !ON(t, PROC_ONLCR)) {
        for (size_t i = 0; i < n; i++)
            move(t, buf[i]);
        return sink__write(p, t->out, buf, n);
    }
    bool cut = false;
    while (done < n && !cut) {
        ssize_t r = write_some(p, t, buf + done, n - done, &cut);
        if (r < 0)
            return done ? (ssize_t)done : r;
        done += (size_t)r;
    }
    return done || !n ? (ssize_t)done : -EINTR;
}

/* ---- settings ---- */

struct proc_tty *proc_terminal(const struct proc *p, int fd)
{
    const struct proc_file *f = proc_get(p, fd);
    return f && f->kind == FILE_TERMINAL ? f->u.tty : NULL;
}

void proc_tty_get(const struct proc_tty *t, struct proc_termios *ret)
{
    *ret = t->t;
}

void proc_tty_set(struct proc_tty *t, const struct proc_termios *to)
{
    bool changes = (t->t.flags ^ to->flags) & PROC_ICANON;
    t->t = *to;
    if (!changes)
        return;
    /* What was typed so far is a line, or bytes: either can be read. */
    if (ON(t, PROC_ICANON) && t->n && t->marks[at(t, t->n - 1)] == MARK_NONE)
        t->marks[at(t, t->n - 1)] = MARK_END;
    t->ready = t->n;
    if (t->ready) {
        proc_wake(&t->rq);
        poll__notify(t->ps);
    }
}
