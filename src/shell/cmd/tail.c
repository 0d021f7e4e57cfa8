/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/tail_int.h"

#include <ctype.h>
#include <errno.h>

#include "base/num.h"
#include "shell/cmd/num.h"

static const struct cmd_opt opts[] = {
    {'c', "bytes", CMD_ARG},
    {259, "follow", CMD_OPT_ARG},
    {'n', "lines", CMD_ARG},
    {256, "max-unchanged-stats", CMD_ARG},
    {257, "pid", CMD_ARG},
    {'q', "quiet", CMD_NO_ARG},
    {258, "retry", CMD_NO_ARG},
    {'q', "silent", CMD_NO_ARG},
    {'s', "sleep-interval", CMD_ARG},
    {'v', "verbose", CMD_NO_ARG},
    {'z', "zero-terminated", CMD_NO_ARG},
    {260, "-disable-inotify", CMD_NO_ARG}, /* undocumented there; nothing but polling is done here */
    {'f', NULL, CMD_NO_ARG},
    {'F', NULL, CMD_NO_ARG},
    {'0', NULL, CMD_NO_ARG},
    {'1', NULL, CMD_NO_ARG},
    {'2', NULL, CMD_NO_ARG},
    {'3', NULL, CMD_NO_ARG},
    {'4', NULL, CMD_NO_ARG},
    {'5', NULL, CMD_NO_ARG},
    {'6', NULL, CMD_NO_ARG},
    {'7', NULL, CMD_NO_ARG},
    {'8', NULL, CMD_NO_ARG},
    {'9', NULL, CMD_NO_ARG},
    {0},
};

/* A block of a pipe's end. */
struct tail_block {
    struct tail_block *next;
    size_t n, lines;
    char p[CMD_BLOCK];
};

void tail__header(struct tail *t, const struct tail_file *f)
{
    if (t->headers)
        cmd_printf(t->c, "%s==> %s <==\n", t->header_done ? "\n" : "", tail_pretty(f));
    t->header_done = true;
}

static int read_error(struct tail *t, const struct tail_file *f, int err)
{
    cmd_errno(t->c, err, "error reading %s", cmd_quote(t->c, tail_pretty(f), true));
    return err;
}

int64_t tail__rest(struct tail *t, struct tail_file *f)
{
    int64_t total = 0;
    ssize_t n;
    while (cmd_poll(t->c) == 0 && (n = proc_read(t->c->p, f->fd, t->block, CMD_BLOCK)) != 0) {
        if (n < 0)
            return read_error(t, f, (int)n);
        total += n;
        if (cmd_write(t->c, t->block, (size_t)n) < 0)
            break;
    }
    return total;
}

/* ---- the end of something that can be read once only ---- */

static size_t count_delim(const char *p, size_t n, char delim)
{
    size_t k = 0;
    for (const char *end = p + n, *e; (e = memchr(p, delim, (size_t)(end - p))); p = e + 1)
        k++;
    return k;
}

static void free_blocks(struct tail_block *b)
{
    while (b) {
        struct tail_block *next = b->next;
        mem_free(b);
        b = next;
    }
}

struct tail_list {
    struct tail_block *first, *last;
    uint64_t total; /* lines or bytes in it */
};

/* Reads all, and keeps as few blocks as hold the last t->n lines or bytes. */
static int read_list(struct tail *t, struct tail_file *f, struct tail_list *l)
{
    struct tail_block *spare = NULL;
    ssize_t n = 0;
    int r;
    while ((r = cmd_poll(t->c)) == 0) {
        if (!l->last || l->last->n == CMD_BLOCK) {
            struct tail_block *b = spare ? spare : mem_try(sizeof *b);
            spare = NULL;
            if (!b) {
                cmd_no_memory(t->c);
                return -ENOMEM;
            }
            b->next = NULL;
            b->n = b->lines = 0;
            *(l->last ? &l->last->next : &l->first) = b;
            l->last = b;
        }
        struct tail_block *b = l->last;
        n = proc_read(t->c->p, f->fd, b->p + b->n, CMD_BLOCK - b->n);
        if (n <= 0)
            break;
        size_t got = t->bytes ? (size_t)n : count_delim(b->p + b->n, (size_t)n, t->delim);
        b->n += (size_t)n;
        b->lines += got;
        l->total += got;
        while (l->first != l->last && l->total - l->first->lines > t->n) {
            b = l->first;
            l->first = b->next;
            l->total -= b->lines;
            mem_free(spare);
            spare = b;
        }
    }
    mem_free(spare);
    return r < 0 ? r : n < 0 ? read_error(t, f, (int)n) : 0;
}

static int tail_pipe(struct tail *t, struct tail_file *f)
{
    struct tail_list l = {0};
    int r = read_list(t, f, &l);
    struct tail_block *b = l.first;
    size_t at = 0;
    if (r == 0 && b) {
        struct tail_block *last = l.last;
        if (last->n == 0) { /* the end came just behind a full block */
            for (last = b; last->next && last->next->n > 0;)
                last = last->next;
        }
        uint64_t have = l.total + (!t->bytes && last->n > 0 && last->p[last->n - 1] != t->delim);
        uint64_t skip = have > t->n ? have - t->n : 0;
        while (skip > 0 && b && skip >= b->lines && b->next) {
            skip -= b->lines;
            b = b->next;
        }
        if (t->bytes)
            at = (size_t)skip;
        for (; !t->bytes && skip > 0; skip--) {
            char *e = memchr(b->p + at, t->delim, b->n - at);
            at = e ? (size_t)(e - b->p) + 1 : b->n;
        }
        for (; b; b = b->next, at = 0)
            if (cmd_write(t->c, b->p + at, b->n - at) < 0)
                break;
    }
    free_blocks(l.first);
    return r;
}

/* ---- the end of a file ---- */

/* Offset where the last t->n lines of [start, end) begin, or a negative errno. */
static int64_t find_lines(struct tail *t, struct tail_file *f, int64_t start, int64_t end)
{
    uint64_t left = t->n;
    bool last = true;
    while (end > start) {
        size_t want = (size_t)NUM_MIN(end - start, (int64_t)CMD_BLOCK), got = 0;
        int64_t r = cmd_poll(t->c);
        if (r < 0 || (r = proc_lseek(t->c->p, f->fd, end - (int64_t)want, SEEK_SET)) < 0)
            return r;
        while (got < want) {
            ssize_t n = proc_read(t->c->p, f->fd, t->block + got, want - got);
            if (n < 0)
                return read_error(t, f, (int)n);
            if (n == 0)
                break;
            got += (size_t)n;
        }
        size_t from = got;
        if (last && got > 0 && t->block[got - 1] == t->delim)
            from--; /* ends the last line, begins none */
        last = false;
        for (char *e; (e = memrchr(t->block, t->delim, from)); from = (size_t)(e - t->block))
            if (--left == 0)
                return end - (int64_t)want + (e - t->block) + 1;
        end -= (int64_t)want;
    }
    return start;
}

/* Skips t->n lines or bytes. */
static int skip_start(struct tail *t, struct tail_file *f)
{
    uint64_t left = t->n;
    ssize_t n = 1;
    if (t->bytes && left <= INT64_MAX && proc_lseek(t->c->p, f->fd, (int64_t)left, SEEK_CUR) >= 0)
        return 0;
    while (left > 0 && cmd_poll(t->c) == 0) {
        size_t want = t->bytes ? NUM_MIN(left, (uint64_t)CMD_BLOCK) : CMD_BLOCK, at = 0;
        n = proc_read(t->c->p, f->fd, t->block, want);
        if (n <= 0)
            break;
        if (t->bytes) {
            left -= (uint64_t)n;
            continue;
        }
        for (char *e; left > 0 && (e = memchr(t->block + at, t->delim, (size_t)n - at)); left--)
            at = (size_t)(e - t->block) + 1;
        if (left == 0)
            cmd_write(t->c, t->block + at, (size_t)n - at);
    }
    return n < 0 ? read_error(t, f, (int)n) : 0;
}

/* Prints the end of an open file: 0 or a negative errno, after its message. */
static int tail_one(struct tail *t, struct tail_file *f)
{
    struct vfs_stat st;
    if (t->from_start) {
        int r = skip_start(t, f);
        return r < 0 ? r : (int)NUM_MIN(tail__rest(t, f), 0);
    }
    int r = proc_fstat(t->c->p, f->fd, &st);
    int64_t at = r < 0 || !S_ISREG(st.mode) || st.size == 0 ? -1 : proc_lseek(t->c->p, f->fd, 0, SEEK_CUR);
    if (at < 0)
        return tail_pipe(t, f);
    int64_t end = (int64_t)st.size, from = end;
    if (at > end)
        return 0;
    if (t->bytes)
        from = t->n >= (uint64_t)(end - at) ? at : end - (int64_t)t->n;
    else if (t->n > 0)
        from = find_lines(t, f, at, end);
    if (from < 0 || (from = proc_lseek(t->c->p, f->fd, from, SEEK_SET)) < 0)
        return (int)from;
    return (int)NUM_MIN(tail__rest(t, f), 0);
}

void tail__opened(struct tail *t, struct tail_file *f, int fd)
{
    struct vfs_stat st;
    f->fd = fd;
    f->err = 0;
    f->unchanged = 0;
    if (proc_fstat(t->c->p, fd, &st) == 0) {
        f->dev = st.dev;
        f->ino = st.ino;
        f->mode = st.mode;
        f->mtime = st.mtime;
        int64_t at = S_ISREG(st.mode) ? proc_lseek(t->c->p, fd, 0, SEEK_CUR) : 0;
        f->size = at > 0 ? (uint64_t)at : 0;
    }
}

static bool can_follow(uint32_t mode)
{
    return S_ISREG(mode) || S_ISFIFO(mode) || S_ISSOCK(mode) || S_ISCHR(mode);
}

static int start(struct tail *t, struct tail_file *f)
{
    struct cmd *c = t->c;
    f->fd = -1;
    f->tailable = true;
    int fd = cmd_open_input(c, f->name);
    if (fd < 0) {
        f->err = fd;
        f->tailable = false;
        f->ignore = !t->retry;
        cmd_errno(c, fd, "cannot open %s for reading", cmd_quote(c, tail_pretty(f), true));
        return 1;
    }
    f->fd = fd;
    tail__header(t, f);
    int r = tail_one(t, f);
    if (t->follow == TAIL_NOT) {
        cmd_close_input(c, fd);
        return r < 0;
    }
    tail__opened(t, f, fd);
    if (r < 0 || !can_follow(f->mode)) {
        if (!can_follow(f->mode))
            cmd_err(c, "%s: cannot follow end of this type of file%s", cmd_quote(c, tail_pretty(f), false),
                    t->retry ? "" : "; giving up on this name");
        f->err = r < 0 ? r : -EINVAL;
        f->tailable = false;
        f->ignore = !t->retry;
        cmd_close_input(c, fd);
        f->fd = -1;
        return 1;
    }
    return 0;
}

/* ---- options ---- */

static int number(struct tail *t, const char *text, bool bytes)
{
    uint64_t n;
    t->bytes = bytes;
    t->from_start = *text == '+';
    const char *digits = *text == '+' || *text == '-' ? text + 1 : text;
    enum num_status st = num_u64(digits, "bkKmMGTPEZY0", &n);
    if (st != NUM_OK) {
        cmd_errno(t->c, st == NUM_OVERFLOW ? EOVERFLOW : 0, "invalid number of %s: %s", bytes ? "bytes" : "lines",
                  cmd_quote_loc(t->c, *text == '-' ? text + 1 : text));
        return -1;
    }
    t->n = t->from_start && n > 0 ? n - 1 : n;
    return 0;
}

/* "-5", "+5", "-5cf" of old, when nothing but a file follows: 1 when it was one, 0 not, -1 after an error. */
static int obsolete(struct tail *t)
{
    struct cmd *c = t->c;
    bool alone = c->argc == 2 || (c->argc == 3 && !(c->argv[2][0] == '-' && c->argv[2][1])) ||
                 (c->argc >= 3 && c->argc <= 4 && strcmp(c->argv[2], "--") == 0);
    if (!alone || (c->argv[1][0] != '-' && c->argv[1][0] != '+'))
        return 0;
    const char *p = c->argv[1] + 1, *digits = p;
    bool from_start = c->argv[1][0] == '+', bytes = false, follow = false;
    if (!from_start && (*p == 0 || (*p == 'c' && p[1] == 0)))
        return 0;
    p += strspn(p, "0123456789");
    size_t n = (size_t)(p - digits);
    uint64_t v = 10;
    if (*p == 'b') {
        v *= 512;
        bytes = true;
        p++;
    } else if (*p == 'c') {
        bytes = true;
        p++;
    } else if (*p == 'l') {
        p++;
    }
    if (*p == 'f') {
        follow = true;
        p++;
    }
    if (*p)
        return 0;
    if (n > 0 && num_u64(arena_printf(c->arena, "%.*s%s", (int)n, digits, v == 5120 ? "b" : ""), "b", &v) != NUM_OK) {
        cmd_err(c, "invalid number: %s", cmd_quote_loc(c, c->argv[1]));
        return -1;
    }
    t->n = from_start && v > 0 ? v - 1 : v;
    t->bytes = bytes;
    t->from_start = from_start;
    if (follow)
        t->follow = TAIL_DESCRIPTOR;
    c->optind = 2;
    return 1;
}

static int add_pid(struct tail *t)
{
    uint64_t pid;
    struct cmd *c = t->c;
    if (num_u64(c->optarg, "", &pid) != NUM_OK || pid > INT32_MAX) {
        cmd_err(c, "invalid PID: %s", cmd_quote_loc(c, c->optarg));
        return -1;
    }
    uint64_t *v = arena_alloc(c->arena, (t->n_pids + 1) * sizeof *v);
    if (t->n_pids > 0)
        memcpy(v, t->pids, t->n_pids * sizeof *v);
    v[t->n_pids++] = pid;
    t->pids = v;
    return 0;
}

static int option(struct tail *t, int o, int *quiet)
{
    static const char *const names[] = {"descriptor", "name", NULL};
    static const int vals[] = {TAIL_DESCRIPTOR, TAIL_NAME};
    struct cmd *c = t->c;
    char *end;
    int f;
    switch (o) {
    case 'c':
    case 'n':
        return number(t, c->optarg, o == 'c');
    case 'f':
        t->follow = TAIL_DESCRIPTOR;
        return 0;
    case 259:
        f = c->optarg ? cmd_choice(c, "--follow", c->optarg, names, vals) : TAIL_DESCRIPTOR;
        if (f < 0)
            return -1;
        t->follow = (enum tail_follow)f;
        return 0;
    case 'F':
        t->follow = TAIL_NAME;
        t->retry = true;
        return 0;
    case 256:
        if (num_u64(c->optarg, "", &t->max_unchanged) == NUM_OK)
            return 0;
        cmd_err(c, "invalid maximum number of unchanged stats between opens: %s", cmd_quote_loc(c, c->optarg));
        return -1;
    case 257:
        return add_pid(t);
    case 258:
        t->retry = true;
        return 0;
    case 260:
        return 0;
    case 's':
        t->interval = strtod(c->optarg, &end);
        if (end != c->optarg && *end == 0 && t->interval >= 0)
            return 0;
        cmd_err(c, "invalid number of seconds: %s", cmd_quote_loc(c, c->optarg));
        return -1;
    case 'q':
    case 'v':
        *quiet = o == 'q' ? 1 : -1;
        return 0;
    case 'z':
        t->delim = 0;
        return 0;
    default:
        cmd_err(c, "option used in invalid context -- %c", o);
        return -1;
    }
}

/* Says what of --retry and --pid will have no effect. */
static void warnings(struct tail *t)
{
    if (t->retry && t->follow == TAIL_NOT)
        cmd_err(t->c, "warning: --retry ignored; --retry is useful only when following");
    else if (t->retry && t->follow == TAIL_DESCRIPTOR)
        cmd_err(t->c, "warning: --retry only effective for the initial open");
    if (t->n_pids > 0 && t->follow == TAIL_NOT)
        cmd_err(t->c, "warning: PID ignored; --pid=PID is useful only when following");
    if (t->follow == TAIL_NOT)
        t->retry = false;
}

/* A pipe on standard input is read to its end and not followed. */
static void drop_pipes(struct tail *t)
{
    size_t viable = 0;
    for (size_t i = 0; i < t->n_files; i++) {
        struct tail_file *f = &t->files[i];
        if (f->fd == 0 && !f->ignore && S_ISFIFO(f->mode)) {
            f->ignore = true;
            f->fd = -1;
        } else if (!f->ignore) {
            viable++;
        }
    }
    if (viable == 0)
        t->follow = TAIL_NOT;
}

static int run(struct tail *t)
{
    struct cmd *c = t->c;
    int status = 0;
    bool had_files = false;
    t->n_files = (size_t)NUM_MAX(c->argc - c->optind, 1);
    t->files = arena_zalloc(c->arena, t->n_files * sizeof *t->files);
    for (size_t i = 0; i < t->n_files; i++) {
        t->files[i].name = c->optind < c->argc ? c->argv[c->optind + (int)i] : "-";
        if (t->follow == TAIL_NAME && strcmp(t->files[i].name, "-") == 0) {
            cmd_err(c, "cannot follow %s by name", cmd_quote(c, "-", true));
            return 1;
        }
    }
    for (size_t i = 0; i < t->n_files && c->out_err == 0 && !c->p->must_end; i++) {
        status |= start(t, &t->files[i]);
        had_files |= !t->files[i].ignore;
    }
    if (t->follow == TAIL_NOT)
        return status;
    if (!had_files) {
        cmd_err(c, "no files remaining");
        return 1;
    }
    drop_pipes(t);
    return t->follow == TAIL_NOT ? status : tail__forever(t) | status;
}

static int tail_main(struct cmd *c)
{
    struct tail t = {.c = c, .n = 10, .delim = '\n', .interval = 1, .max_unchanged = 5};
    int quiet = 0;
    if (obsolete(&t) < 0)
        return 1;
    for (int o; (o = cmd_getopt(c, opts, false)) != -1;)
        if (o == -2 || option(&t, o, &quiet) < 0)
            return o == -2 ? cmd_usage_status(c) : 1;
    warnings(&t);
    t.headers = quiet < 0 || (quiet == 0 && c->argc - c->optind > 1);
    if (t.n == 0 && t.follow == TAIL_NOT && !t.from_start)
        return 0;
    t.block = cmd_block_get();
    int status = run(&t);
    cmd_block_put(t.block);
    return status;
}

CMD(tail, tail_main, 1, "Usage: tail [OPTION]... [FILE]...\n",
    "  -c, --bytes=[+]NUM       the last NUM bytes; with '+' all from byte NUM on\n"
    "  -f, --follow[={name|descriptor}]  go on with what is added\n"
    "  -F                       as --follow=name --retry\n"
    "  -n, --lines=[+]NUM       the last NUM lines (10); with '+' all from line NUM on\n"
    "      --max-unchanged-stats=N  with --follow=name look for a new file after N looks without a change (5)\n"
    "      --pid=PID            with -f, end when process PID ends\n"
    "  -q, --quiet, --silent    no headers with file names\n"
    "      --retry              go on trying to open a file\n"
    "  -s, --sleep-interval=N   with -f, at most N seconds between looks (1)\n"
    "  -v, --verbose            always headers\n"
    "  -z, --zero-terminated    lines end with NUL\n");
