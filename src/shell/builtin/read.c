/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/expander_int.h"

#include <errno.h>
#include <signal.h>

#include "base/clock.h"
#include "shell/builtin/condition_int.h"
#include "shell/builtin/duration_int.h"
#include "shell/builtin/target_int.h"
#include "shell/uchar_int.h"

enum ended { END_NONE, END_DELIM, END_COUNT, END_EOF, END_TIMEOUT, END_FAIL };

struct reading {
    struct shell *sh;
    const struct builtin_args *args;
    const char *who;
    int fd;
    char delim;
    bool raw;
    bool exact;    /* -N: the delimiter is ordinary, nothing is split */
    int64_t count; /* characters still wanted, or -1 */
    int64_t deadline;
    struct buf line;
    struct buf mask; /* as long as line, 1 where a character was escaped; empty while none was */
    bool backslash;  /* the last byte was one, and takes the next */
    int more;        /* bytes that lack to the character begun last */
    int status;      /* with END_FAIL */
};

/* ---- taking input ---- */

/* Adds bytes; none is special to splitting when @escaped. */
static void add(struct reading *r, const char *p, size_t n, bool escaped)
{
    if (escaped && r->mask.n == 0)
        while (r->mask.n < r->line.n && r->mask.err == 0)
            buf_putc(&r->mask, 0);
    buf_add(&r->line, p, n);
    if (escaped || r->mask.n > 0)
        while (r->mask.n < r->line.n && r->mask.err == 0)
            buf_putc(&r->mask, escaped);
}

/* Counts the byte @b of a character: true when the number of characters wanted is complete. */
static bool counted(struct reading *r, unsigned char b)
{
    if (r->count < 0)
        return false;
    if (r->more > 0 && (b & 0xc0) == 0x80) {
        r->more--;
    } else {
        r->count--;
        r->more = !r->sh->utf8 || b < 0xc2 ? 0 : b < 0xe0 ? 1 : b < 0xf0 ? 2 : b < 0xf5 ? 3 : 0;
    }
    return r->count == 0 && r->more == 0;
}

/* Takes one byte. */
static enum ended take_byte(struct reading *r, char c)
{
    if (r->backslash) {
        r->backslash = false;
        if (c == '\n' || c == 0)
            return END_NONE;
        add(r, &c, 1, true);
        return counted(r, (unsigned char)c) ? END_COUNT : END_NONE;
    }
    if (c == '\\' && !r->raw) {
        r->backslash = true;
        return END_NONE;
    }
    if (c == r->delim && !r->exact)
        return END_DELIM;
    if (c == 0)
        return END_NONE;
    add(r, &c, 1, false);
    return counted(r, (unsigned char)c) ? END_COUNT : END_NONE;
}

/* How many bytes at @p are plain: no delimiter, backslash or NUL. */
static size_t plain_run(const struct reading *r, const char *p, size_t n)
{
    if (r->count >= 0 || r->backslash)
        return 0;
    const char *hit = r->exact ? NULL : memchr(p, r->delim, n);
    n = hit ? (size_t)(hit - p) : n;
    hit = r->raw ? NULL : memchr(p, '\\', n);
    n = hit ? (size_t)(hit - p) : n;
    hit = memchr(p, 0, n);
    return hit ? (size_t)(hit - p) : n;
}

/* Takes what it can of the @n bytes at @p; *ret_used says how many. */
static enum ended take(struct reading *r, const char *p, size_t n, size_t *ret_used)
{
    enum ended e = END_NONE;
    size_t i = 0;
    while (i < n && e == END_NONE) {
        size_t k = plain_run(r, p + i, n - i);
        if (k > 0)
            add(r, p + i, k, false);
        i += k;
        if (i < n)
            e = take_byte(r, p[i++]);
    }
    *ret_used = i;
    return e;
}

/* After -EINTR: runs traps. Whether reading goes on. */
static bool resume(struct reading *r)
{
    struct shell *sh = r->sh;
    bool trapped = proc_signal_pending(sh->p);
    if (sh_poll(sh) || sh->flow != FLOW_NONE || (trapped && sh_opt(sh, OPT_POSIX))) {
        r->status = 128 + SIGINT;
        return false;
    }
    return true;
}

/* Blocks until there is input. END_NONE: there is, or its end, or an error that reading will tell. */
static enum ended wait_input(struct reading *r)
{
    while (r->deadline != INT64_MAX) {
        struct proc_pollfd pf = {.fd = r->fd, .want_read = true};
        int n = proc_poll_fds(r->sh->p, &pf, 1, r->deadline);
        if (n == 0)
            return END_TIMEOUT;
        if (n > 0)
            break;
        if (n == -EINTR && !resume(r))
            return END_FAIL;
        if (n != -EINTR)
            break;
    }
    return END_NONE;
}

static enum ended read_line(struct reading *r)
{
    enum ended e = END_NONE;
    while (e == END_NONE) {
        const void *p;
        size_t n = 0, used = 0;
        e = wait_input(r);
        if (e != END_NONE)
            break;
        int rc = proc_peek(r->sh->p, r->fd, &p, &n);
        if (rc == -EINTR) {
            if (!resume(r))
                return END_FAIL;
            continue;
        }
        if (rc < 0) {
            sh_errno(r->sh, rc, "%s: read error: %d", r->who, r->fd);
            r->status = 1;
            return END_FAIL;
        }
        if (n == 0)
            return END_EOF;
        e = take(r, p, n, &used);
        proc_consume(r->sh->p, r->fd, used);
        if (r->line.err || r->mask.err) {
            sh_error(r->sh, "%s: the line is too long", r->who);
            r->status = 1;
            return END_FAIL;
        }
    }
    return e;
}

/* ---- splitting ---- */

struct split {
    const struct expand_state *st;
    struct str s;
    const char *mask; /* NULL: nothing is escaped */
    size_t i;
};

/* The class of what stands at @i, and its length. */
static enum ifs_class class_at(const struct split *sp, size_t i, size_t *ret_len)
{
    *ret_len = 1;
    if (sp->mask && sp->mask[i])
        return IFS_NONE;
    enum ifs_class c = sp->st->ifs_class[(unsigned char)sp->s.p[i]];
    if (c != IFS_LEAD)
        return c;
    size_t len;
    if (uchar_get(sp->s.p + i, sp->s.n - i, &len) == UCHAR_BAD)
        return IFS_NONE;
    *ret_len = len;
    for (size_t k = 0; k + len <= sp->st->ifs_now.n; k++)
        if (memcmp(sp->st->ifs_now.p + k, sp->s.p + i, len) == 0)
            return IFS_OTHER;
    return IFS_NONE;
}

static void skip_space(struct split *sp)
{
    size_t len;
    while (sp->i < sp->s.n && class_at(sp, sp->i, &len) == IFS_SPACE)
        sp->i++;
}

/* The next field, and past the delimiter behind it. */
static struct str next_field(struct split *sp)
{
    size_t from = sp->i, len = 1;
    while (sp->i < sp->s.n && class_at(sp, sp->i, &len) == IFS_NONE)
        sp->i += len;
    struct str f = str_of(sp->s.p + from, sp->i - from);
    skip_space(sp);
    if (sp->i < sp->s.n && class_at(sp, sp->i, &len) == IFS_OTHER) {
        sp->i += len;
        skip_space(sp);
    }
    return f;
}

/* What the last name gets: the one field left without its delimiter, or all the rest but white space at its end. */
static struct str last_field(struct split *sp)
{
    size_t from = sp->i, len;
    struct str f = next_field(sp);
    if (sp->i >= sp->s.n)
        return f;
    size_t end = sp->s.n;
    sp->mask = NULL; /* bash strips escaped white space here, too */
    while (end > from && class_at(sp, end - 1, &len) == IFS_SPACE)
        end--;
    sp->i = sp->s.n;
    return str_of(sp->s.p + from, end - from);
}

/* ---- assigning ---- */

static int assign_array(struct reading *r, struct split *sp, struct str name)
{
    struct shell *sh = r->sh;
    struct sym *s = sym_get(sh, name);
    struct var *v = s ? var_find(sh, s) : NULL;
    if (v && (v->flags & VAR_ASSOC)) {
        sh_error(sh, "%s: %s: not an indexed array", r->who, name.p);
        return 1;
    }
    if (!s || var_make_array(sh, s, VAR_ARRAY, false) < 0 || !(s = var_resolve(sh, s, NULL)) ||
        var_attr(sh, s, VAR_SET, 0) < 0)
        return 1;
    for (int64_t n = 0; sp->i < sp->s.n; n++) {
        int rc = var_set_elem(sh, s, (struct str){0}, n, next_field(sp), false);
        if (rc == -ENOMEM)
            sh_error(sh, "%s: %s: cannot allocate memory", r->who, name.p);
        if (rc < 0)
            return 1;
    }
    return 0;
}

static int assign_names(struct reading *r, struct split *sp, const struct str *names, int n)
{
    for (int i = 0; i < n; i++) {
        struct str f = r->exact ? str_from(sp->s, i ? sp->s.n : 0) : i + 1 < n ? next_field(sp) : last_field(sp);
        if (target_assign(r->sh, r->who, names[i], builtin_written(r->args, names[i]), f) < 0)
            return 1;
    }
    return 0;
}

static int assign(struct reading *r, struct str array, const struct str *names, int n)
{
    struct shell *sh = r->sh;
    if (!array.p && n == 0)
        return var_set_name(sh, "REPLY", buf_str(&r->line)) < 0;
    struct expand_state *st = expand__state(sh);
    expand__ifs(sh, st);
    struct split sp = {.st = st, .s = buf_str(&r->line), .mask = r->mask.n ? r->mask.p : NULL};
    if (!r->exact)
        skip_space(&sp);
    return array.p ? assign_array(r, &sp, array) : assign_names(r, &sp, names, n);
}

/* ---- the builtin ---- */

struct options {
    struct str array, prompt;
    bool silent, edit, text, timed;
    int64_t timeout; /* nanoseconds */
};

static int bad(struct reading *r, struct str s, const char *what)
{
    sh_error(r->sh, "%s: %s: %s", r->who, s.p, what);
    return 1;
}

static int set_fd(struct reading *r, struct str s)
{
    int64_t fd;
    if (!condition_int(s, &fd) || fd < 0 || fd > INT32_MAX)
        return bad(r, s, "invalid file descriptor specification");
    r->fd = (int)fd;
    if (fd >= LIMIT_FDS || !proc_get(r->sh->p, r->fd))
        return bad(r, s, "invalid file descriptor: Bad file descriptor");
    return 0;
}

/* One option: 0, or the status to end with. */
static int set_option(struct reading *r, struct options *op, int c, struct str arg)
{
    int64_t n;
    switch (c) {
    case 'a':
        op->array = arg;
        return 0;
    case 'd':
        r->delim = arg.n ? arg.p[0] : 0;
        return 0;
    case 'e':
        op->edit = true;
        return 0;
    case 'i':
        op->text = true;
        return 0;
    case 'n':
    case 'N':
        if (!condition_int(arg, &n) || n < 0 || n > INT32_MAX)
            return bad(r, arg, "invalid number");
        r->count = n;
        r->exact |= c == 'N';
        return 0;
    case 'p':
        op->prompt = arg;
        return 0;
    case 'r':
        r->raw = true;
        return 0;
    case 's':
        op->silent = true;
        return 0;
    case 't':
        if (!duration_parse(arg, &op->timeout))
            return bad(r, arg, "invalid timeout specification");
        op->timed = true;
        return 0;
    case 'u':
        return set_fd(r, arg);
    default:
        return 2;
    }
}

/* -t 0: whether reading would find input. */
static int poll_only(struct reading *r)
{
    struct proc_pollfd pf = {.fd = r->fd, .want_read = true};
    return proc_poll_fds(r->sh->p, &pf, 1, proc_now(r->sh->ps)) > 0 && !pf.bad ? 0 : 1;
}

/* Switches off the echo of a terminal of the session's own for -s, and its line editing when a line need not be whole.
 * *ret_before is to be set again. */
static struct proc_tty *set_terminal(const struct reading *r, const struct options *op, struct proc_termios *ret_before)
{
    struct proc_tty *t = proc_terminal(r->sh->p, r->fd);
    if (!t)
        return NULL;
    proc_tty_get(t, ret_before);
    struct proc_termios s = *ret_before;
    if (op->silent)
        s.flags &= ~(uint32_t)(PROC_ECHO | PROC_ECHOK | PROC_ECHONL);
    if (r->count >= 0 || r->delim != '\n')
        s.flags &= ~(uint32_t)PROC_ICANON;
    proc_tty_set(t, &s);
    return t;
}

/* What a terminal of the host side is needed for: its echo and its line editor are out of this process's reach. */
static int check_tty(struct reading *r, const struct options *op)
{
    if (!proc_isatty(r->sh->p, r->fd))
        return 0;
    if ((op->silent && !proc_terminal(r->sh->p, r->fd)) || (op->edit && op->text)) {
        sh_error(r->sh, "%s: option '-%c' is not implemented here for a terminal", r->who, op->silent ? 's' : 'i');
        return 2;
    }
    sh_write_fd(r->sh, 2, op->prompt);
    return 0;
}

static int check_names(struct reading *r, struct str array, const struct str *names, int n)
{
    struct str name = array, sub;
    if (!array.p && n == 0)
        return 0;
    if (!array.p && !target_split(r->sh, names[0], builtin_written(r->args, names[0]), &name, &sub))
        name = names[0];
    if (sym_valid(name))
        return 0;
    sh_error(r->sh, "%s: `%s': not a valid identifier", r->who, array.p ? array.p : names[0].p);
    return 1;
}

static int run(struct reading *r, const struct options *op, const struct str *names, int n)
{
    int status = check_names(r, op->array, names, n);
    if (status == 0 && op->timed && op->timeout == 0)
        return poll_only(r);
    if (status == 0)
        status = check_tty(r, op);
    if (status != 0)
        return status;
    if (op->timed && __builtin_add_overflow(proc_now(r->sh->ps), op->timeout, &r->deadline))
        r->deadline = INT64_MAX - 1;
    struct proc_termios before;
    struct proc_tty *t = set_terminal(r, op, &before);
    enum ended e = r->count == 0 ? END_COUNT : read_line(r);
    if (t)
        proc_tty_set(t, &before);
    if (e == END_FAIL)
        return r->status;
    status = assign(r, op->array, names, n);
    if (e == END_TIMEOUT)
        return 128 + SIGALRM;
    return status ? status : e == END_EOF;
}

static int builtin_read(struct shell *sh, struct builtin_args *a)
{
    struct reading r = {.sh = sh, .args = a, .who = a->argv[0].p, .delim = '\n', .count = -1, .deadline = INT64_MAX};
    struct options op = {0};
    struct builtin_opt o = {0};
    int c;
    while ((c = builtin_getopt(sh, a, "ersa:d:i:n:p:t:u:N:", &o)) != -1) {
        int status = set_option(&r, &op, c, o.arg);
        if (status != 0)
            return status;
    }
    buf_init(&r.line, LIMIT_STRING);
    buf_init(&r.mask, LIMIT_STRING);
    int status = run(&r, &op, a->argv + o.i, a->argc - o.i);
    buf_done(&r.line);
    buf_done(&r.mask);
    return status;
}

BUILTIN(
    read, "read", builtin_read, BUILTIN_POSIX | BUILTIN_REFS,
    "read [-ers] [-a array] [-d delim] [-i text] [-n nchars] [-N nchars] [-p prompt] [-t timeout] [-u fd] [name ...]",
    "    Read a line, split it by IFS and assign the fields to the names; the last name gets the rest. Without\n"
    "    names the whole line goes to REPLY.\n"
    "\n"
    "      -a array    assign the fields to the elements of an indexed array\n"
    "      -d delim    the line ends at the first character of delim, at a NUL when it is empty\n"
    "      -e          on a terminal, edit the line\n"
    "      -i text     with -e, what the line begins with\n"
    "      -n nchars   end after so many characters, or at the delimiter\n"
    "      -N nchars   end only after so many characters; nothing is split\n"
    "      -p prompt   on a terminal, print this before\n"
    "      -r          backslashes are ordinary\n"
    "      -s          on a terminal, do not show what is typed\n"
    "      -t timeout  give up after so many seconds, which may have a fraction; with 0 only look for input\n"
    "      -u fd       read from this descriptor\n"
    "\n"
    "    The status is 0 unless the input ended, time was up (then above 128), an assignment failed or an\n"
    "    option is wrong.\n");
