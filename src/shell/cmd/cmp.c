/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <ctype.h>
#include <errno.h>
#include <sys/sysmacros.h>

#include "base/num.h"
#include "shell/cmd/num.h"

/* cmp of GNU diffutils 3.8. Numbers with suffixes and wrong operands go to the userland's. */

static const struct cmd_opt opts[] = {
    {'b', "print-bytes", CMD_NO_ARG},
    {'c', "print-chars", CMD_NO_ARG | CMD_REFUSED},
    {'i', "ignore-initial", CMD_ARG},
    {'l', "verbose", CMD_NO_ARG},
    {'n', "bytes", CMD_ARG},
    {'s', "silent", CMD_NO_ARG},
    {'s', "quiet", CMD_NO_ARG},
    {'v', NULL, CMD_NO_ARG | CMD_REFUSED},
    {0},
};

enum kind { FIRST, ALL, MESSAGES /* output goes nowhere */, STATUS };
enum { SAME, DIFFER, TROUBLE };

struct side {
    const char *name;
    int fd;
    struct vfs_stat st;
    uint64_t skip;
    char *buf; /* a block */
    size_t n;
};

struct cmp {
    struct cmd *c;
    enum kind kind;
    bool print_bytes, words; /* words: "byte" for "char" */
    uint64_t limit;          /* bytes that are compared at most */
    struct side f[2];
    uint64_t byte, line; /* of the place reached, from 1 */
    bool line_start;
    int width; /* of offsets, with -l */
};

static int trouble(struct cmp *k, int err, const char *name)
{
    if (!k->c->p->must_end)
        cmd_errno(k->c, err, "%s", name);
    return TROUBLE;
}

/* ---- files ---- */

/* Reads until @want bytes are there or the end: 0 or -errno. */
static int fill(struct cmp *k, struct side *f, size_t want)
{
    f->n = 0;
    while (f->n < want) {
        ssize_t r = proc_read(k->c->p, f->fd, f->buf + f->n, want - f->n);
        if (r <= 0)
            return (int)r;
        f->n += (size_t)r;
    }
    return 0;
}

/* Where the file stands, -1 when that is no question to ask. */
static int64_t place(struct cmp *k, const struct side *f)
{
    return proc_lseek(k->c->p, f->fd, 0, SEEK_CUR);
}

static int skip(struct cmp *k, struct side *f)
{
    if (f->skip == 0 || proc_lseek(k->c->p, f->fd, (int64_t)f->skip, SEEK_CUR) >= 0)
        return 0;
    for (uint64_t left = f->skip; left > 0; left -= f->n) {
        int r = fill(k, f, (size_t)NUM_MIN(left, CMD_BLOCK));
        if (r < 0)
            return r;
        if (f->n == 0)
            break;
    }
    return 0;
}

static uint64_t rest(struct cmp *k, const struct side *f)
{
    int64_t at = place(k, f);
    return at < 0 ? f->st.size : f->st.size - NUM_MIN((uint64_t)at, f->st.size);
}

/* Opens both and skips; -1: go on, else the status. */
static int begin(struct cmp *k)
{
    struct side *a = &k->f[0], *b = &k->f[1];
    for (unsigned i = 0; i < 2; i++) {
        struct side *f = &k->f[i];
        f->fd = cmd_open_input(k->c, f->name);
        int r = f->fd < 0 ? f->fd : proc_fstat(k->c->p, f->fd, &f->st);
        if (r < 0)
            return k->kind == STATUS ? TROUBLE : trouble(k, r, f->name);
    }
    for (unsigned i = 0; i < 2; i++) {
        int r = skip(k, &k->f[i]);
        if (r < 0)
            return trouble(k, r, k->f[i].name);
    }
    if (a->st.ino == b->st.ino && a->st.dev == b->st.dev && place(k, a) == place(k, b))
        return SAME;
    if (k->kind == STATUS && S_ISREG(a->st.mode) && S_ISREG(b->st.mode)) {
        uint64_t n = rest(k, a), m = rest(k, b);
        if (n != m && NUM_MIN(n, m) < k->limit)
            return DIFFER;
    }
    uint64_t most = NUM_MIN(k->limit, (uint64_t)INT64_MAX);
    for (unsigned i = 0; i < 2; i++)
        if (S_ISREG(k->f[i].st.mode))
            most = NUM_MIN(most, rest(k, &k->f[i]));
    for (k->width = 1; (most /= 10) != 0; k->width++)
        ;
    return -1;
}

/* ---- output ---- */

/* A byte as cat -v shows it. */
static void visible(unsigned char b, char out[5])
{
    char *p = out;
    if (b >= 0x80) {
        *p++ = 'M';
        *p++ = '-';
        b -= 0x80;
    }
    if (b < 0x20 || b == 0x7f) {
        *p++ = '^';
        b ^= 0x40;
    }
    *p++ = (char)b;
    *p = 0;
}

static void print_first(struct cmp *k, size_t at)
{
    unsigned char a = (unsigned char)k->f[0].buf[at], b = (unsigned char)k->f[1].buf[at];
    char s[2][5];
    cmd_printf(k->c, "%s %s differ: %s %llu, line %llu", k->f[0].name, k->f[1].name,
               k->words || k->print_bytes ? "byte" : "char", (unsigned long long)k->byte, (unsigned long long)k->line);
    if (k->print_bytes) {
        visible(a, s[0]);
        visible(b, s[1]);
        cmd_printf(k->c, " is %3o %s %3o %s", a, s[0], b, s[1]);
    }
    cmd_putc(k->c, '\n');
}

/* -l: all that differ in this block, from @at on. */
static void print_all(struct cmp *k, size_t at, size_t end)
{
    for (; at < end && k->c->out_err == 0 && cmd_poll(k->c) == 0; at++, k->byte++) {
        unsigned char a = (unsigned char)k->f[0].buf[at], b = (unsigned char)k->f[1].buf[at];
        char s[2][5];
        if (a == b)
            continue;
        visible(a, s[0]);
        visible(b, s[1]);
        if (k->print_bytes)
            cmd_printf(k->c, "%*llu %3o %-4s %3o %s\n", k->width, (unsigned long long)k->byte, a, s[0], b, s[1]);
        else
            cmd_printf(k->c, "%*llu %3o %3o\n", k->width, (unsigned long long)k->byte, a, b);
    }
}

static void tell_end(struct cmp *k, const char *name)
{
    unsigned long long byte = k->byte - 1, line = k->line - k->line_start;
    const char *text;
    if (k->byte == 1)
        text = arena_printf(k->c->arena, "cmp: EOF on %s which is empty\n", name);
    else if (k->kind == FIRST)
        text = arena_printf(k->c->arena, "cmp: EOF on %s after byte %llu, %sline %llu\n", name, byte,
                            k->line_start ? "" : "in ", line);
    else
        text = arena_printf(k->c->arena, "cmp: EOF on %s after byte %llu\n", name, byte);
    cmd_flush(k->c);
    cmd_err_raw(k->c, text);
}

/* ---- comparing ---- */

static size_t equal_bytes(const char *a, const char *b, size_t n)
{
    size_t i = 0;
    if (memcmp(a, b, n) == 0)
        return n;
    while (i + 64 < n && memcmp(a + i, b + i, 64) == 0)
        i += 64;
    while (a[i] == b[i])
        i++;
    return i;
}

static void count_lines(struct cmp *k, const char *p, size_t n)
{
    for (const char *q = p, *end = p + n; (q = memchr(q, '\n', (size_t)(end - q))); q++)
        k->line++;
    if (n > 0)
        k->line_start = p[n - 1] == '\n';
}

/* Compares a block: -1 to go on, else the status. */
static int block(struct cmp *k, bool *differing)
{
    struct side *a = &k->f[0], *b = &k->f[1];
    size_t n = NUM_MIN(a->n, b->n), same = equal_bytes(a->buf, b->buf, n);
    k->byte += same;
    if (k->kind == FIRST)
        count_lines(k, a->buf, same);
    if (same < n) {
        *differing = true;
        if (k->kind == FIRST)
            print_first(k, same);
        if (k->kind != ALL)
            return DIFFER;
        print_all(k, same, n);
    }
    if (a->n == b->n)
        return -1;
    if (k->kind != STATUS)
        tell_end(k, b->n < a->n ? b->name : a->name);
    return DIFFER;
}

static int compare(struct cmp *k)
{
    bool differing = false;
    size_t want;
    do {
        want = (size_t)NUM_MIN(k->limit, CMD_BLOCK);
        k->limit -= k->limit == UINT64_MAX ? 0 : want;
        for (unsigned i = 0; i < 2; i++) {
            int r = fill(k, &k->f[i], want);
            if (r < 0)
                return trouble(k, r, k->f[i].name);
        }
        int status = block(k, &differing);
        if (status >= 0)
            return status;
        if (cmd_poll(k->c) < 0 || k->c->out_err != 0)
            return DIFFER;
    } while (k->f[0].n == CMD_BLOCK);
    return differing ? DIFFER : SAME;
}

/* ---- the command line ---- */

/* 0, or the status of a refusal. */
static int number(struct cmd *c, const char *text, size_t n, uint64_t *ret)
{
    int r = str_u64(str_of(text, n), ret);
    if (r < 0 || *ret > INT64_MAX)
        return cmd_refuse(c, "the number '%s' is not implemented here", text);
    return 0;
}

/* -i SKIP or SKIP1:SKIP2; the larger of several counts. */
static int set_skip(struct cmp *k, const char *arg)
{
    size_t n = strcspn(arg, ":");
    uint64_t v[2];
    int r = number(k->c, arg, n, &v[0]);
    v[1] = v[0];
    if (r == 0 && arg[n] == ':')
        r = number(k->c, arg + n + 1, strlen(arg + n + 1), &v[1]);
    for (unsigned i = 0; i < 2 && r == 0; i++)
        k->f[i].skip = NUM_MAX(k->f[i].skip, v[i]);
    return r;
}

static int set_kind(struct cmp *k, enum kind kind)
{
    if (k->kind != FIRST && k->kind != kind)
        return cmd_refuse(k->c, "-l with -s is not implemented here");
    k->kind = kind;
    return 0;
}

static int option(struct cmp *k, int code)
{
    uint64_t n;
    int r;
    switch (code) {
    case 'b':
        k->print_bytes = true;
        return 0;
    case 'i':
        return set_skip(k, k->c->optarg);
    case 'l':
        return set_kind(k, ALL);
    case 's':
        return set_kind(k, STATUS);
    default: /* n: the smaller of several */
        r = number(k->c, k->c->optarg, strlen(k->c->optarg), &n);
        if (r == 0)
            k->limit = NUM_MIN(k->limit, n);
        return r;
    }
}

static int operands(struct cmp *k)
{
    struct cmd *c = k->c;
    int n = c->argc - c->optind;
    if (n < 1 || n > 4)
        return cmd_refuse(c, "this number of operands is not implemented here");
    k->f[0].name = c->argv[c->optind];
    k->f[1].name = n > 1 ? c->argv[c->optind + 1] : "-";
    for (int i = 2; i < n; i++) {
        uint64_t v;
        const char *text = c->argv[c->optind + i];
        int r = number(c, text, strlen(text), &v);
        if (r != 0)
            return r;
        k->f[i - 2].skip = NUM_MAX(k->f[i - 2].skip, v);
    }
    return 0;
}

/* Whether messages are of another locale than C. */
static bool has_words(struct cmd *c)
{
    static const char *const names[] = {"LC_ALL", "LC_MESSAGES", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *v = cmd_getenv(c, names[i]);
        if (v && *v)
            return strcasecmp(v, "C.UTF-8") == 0 || strcasecmp(v, "C.utf8") == 0;
    }
    return false;
}

static bool output_goes_nowhere(struct cmd *c)
{
    struct vfs_stat st;
    return proc_fstat(c->p, 1, &st) == 0 && S_ISCHR(st.mode) && st.rdev == makedev(1, 3);
}

static int cmp_main(struct cmd *c)
{
    struct cmp k = {
        .c = c, .limit = UINT64_MAX, .byte = 1, .line = 1, .line_start = true, .f = {{.fd = -1}, {.fd = -1}}};
    int code, r;
    c->opt_by_tool = true;
    while ((code = cmd_getopt(c, opts, false)) != -1) {
        if (code == -2)
            return cmd_usage_status(c);
        if ((r = option(&k, code)) != 0)
            return r;
    }
    if ((r = operands(&k)) != 0)
        return r;
    k.words = has_words(c);
    if (k.kind == FIRST && output_goes_nowhere(c))
        k.kind = MESSAGES;
    for (unsigned i = 0; i < 2; i++)
        k.f[i].buf = cmd_block_get();
    r = begin(&k);
    if (r < 0)
        r = compare(&k);
    for (unsigned i = 0; i < 2; i++) {
        cmd_block_put(k.f[i].buf);
        cmd_close_input(c, k.f[i].fd);
    }
    return r;
}

CMD(cmp, cmp_main, 2, "Usage: cmp [OPTION]... FILE1 [FILE2 [SKIP1 [SKIP2]]]\n",
    "  -b, --print-bytes           prints the bytes that differ\n"
    "  -i, --ignore-initial=SKIP   skips SKIP bytes of both\n"
    "  -i, --ignore-initial=SKIP1:SKIP2\n"
    "  -l, --verbose               prints all bytes that differ\n"
    "  -n, --bytes=LIMIT           compares at most LIMIT bytes\n"
    "  -s, --quiet, --silent       only the status\n");
