/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <ctype.h>
#include <errno.h>

#include "base/num.h"
#include "shell/cmd/num.h"
#include "shell/cmd/wide.h"

static const struct cmd_opt opts[] = {
    {'c', "bytes", CMD_NO_ARG},
    {'m', "chars", CMD_NO_ARG},
    {'l', "lines", CMD_NO_ARG},
    {'w', "words", CMD_NO_ARG},
    {256, "files0-from", CMD_ARG},
    {'L', "max-line-length", CMD_NO_ARG},
    {0},
};

struct counts {
    uint64_t lines, words, chars, bytes, longest;
};

struct wc {
    struct cmd *c;
    bool lines, words, chars, bytes, longest;
    bool utf8, nbsp;
    int width;
    char *block;
    struct counts total;
    uint8_t kind[256]; /* of bytes below 0x80 (all, when not UTF-8) */
};

enum { KIND_NONE, KIND_SPACE, KIND_WORD, KIND_WIDE };

/* State that goes over blocks. */
struct scan {
    struct counts n;
    uint64_t pos; /* column */
    bool in_word;
};

typedef uint8_t wc_vec __attribute__((vector_size(16)));

/* Newlines in @n bytes: 16 at a time, in byte counters that are emptied before they can overflow. */
static uint64_t count_newlines(const char *p, size_t n)
{
    uint64_t total = 0;
    while (n >= sizeof(wc_vec)) {
        size_t turns = NUM_MIN(n / sizeof(wc_vec), 255);
        wc_vec sum = {0}, v;
        for (size_t i = 0; i < turns; i++, p += sizeof v) {
            memcpy(&v, p, sizeof v);
            sum -= (wc_vec)(v == '\n');
        }
        n -= turns * sizeof v;
        for (size_t i = 0; i < sizeof v; i++)
            total += sum[i];
    }
    while (n-- > 0)
        total += *p++ == '\n';
    return total;
}

static bool is_nbsp(uint32_t ch)
{
    return ch == 0xa0 || ch == 0x2007 || ch == 0x202f || ch == 0x2060;
}

/* Columns after a space or control character. */
static void move(struct scan *s, unsigned char ch)
{
    switch (ch) {
    case '\n':
    case '\r':
    case '\f':
        s->n.longest = NUM_MAX(s->n.longest, s->pos);
        s->pos = 0;
        break;
    case '\t':
        s->pos += 8 - s->pos % 8;
        break;
    case ' ':
        s->pos++;
        break;
    default:
        break;
    }
}

/* Words of bytes alone: no columns, no characters. Returns what is left to decode (a byte of KIND_WIDE), or the end. */
static const char *scan_words(const struct wc *w, struct scan *s, const char *p, const char *end)
{
    uint64_t words = s->n.words;
    unsigned in = s->in_word;
    for (; p < end; p++) {
        unsigned k = w->kind[(unsigned char)*p];
        if (k == KIND_WIDE)
            break;
        unsigned word = k == KIND_WORD;
        words += word & ~in;
        in = k == KIND_NONE ? in : word;
    }
    s->n.words = words;
    s->in_word = in;
    return p;
}

/* One character or byte, all counts. Returns its length; 0: a character that is not all there. */
static size_t scan_char(const struct wc *w, struct scan *s, const char *p, size_t n)
{
    unsigned char b = (unsigned char)*p;
    unsigned kind = w->kind[b];
    uint32_t ch = b;
    size_t len = 1;
    int width = 1;
    if (kind == KIND_WIDE) {
        len = wide_decode(p, n, &ch);
        if (len == 0)
            return wide_partial(p, n) ? 0 : 1;
        width = wide_width(ch);
        kind = width < 0 ? KIND_NONE : wide_space(ch) || (w->nbsp && is_nbsp(ch)) ? KIND_SPACE : KIND_WORD;
        s->pos += width > 0 ? (unsigned)width : 0;
    } else if (kind == KIND_WORD) {
        s->pos++;
    } else {
        move(s, b);
    }
    s->n.chars++;
    if (kind == KIND_WORD) {
        s->n.words += !s->in_word;
        s->in_word = true;
    } else if (kind == KIND_SPACE) {
        s->in_word = false;
    }
    return len;
}

/* Counts a block; returns how many bytes at its end belong to a character that is not all there. */
static size_t scan_block(const struct wc *w, struct scan *s, const char *p, size_t n)
{
    const char *end = p + n;
    bool full = w->longest || (w->chars && w->utf8);
    while (p < end) {
        if (w->words && !full)
            p = scan_words(w, s, p, end);
        size_t len = p < end ? scan_char(w, s, p, (size_t)(end - p)) : 1;
        if (len == 0)
            return (size_t)(end - p);
        p += len;
    }
    return 0;
}

static int count_file(const struct wc *w, int fd, struct counts *ret)
{
    struct scan s = {0};
    struct vfs_stat st;
    struct proc *p = w->c->p;
    bool plain = !w->words && !w->longest && !(w->chars && w->utf8);
    if (plain && !w->lines && proc_fstat(p, fd, &st) == 0 && S_ISREG(st.mode) && st.size > 0) {
        int64_t at = proc_lseek(p, fd, 0, SEEK_CUR);
        if (at >= 0) {
            s.n.bytes = s.n.chars = (int64_t)st.size > at ? st.size - (uint64_t)at : 0;
            if (st.size % 4096 == 0) /* the real tool trusts other sizes, and leaves the offset */
                proc_lseek(p, fd, NUM_MAX((int64_t)st.size, at), SEEK_SET);
            *ret = s.n;
            return 0;
        }
    }
    size_t held = 0;
    ssize_t n = 0;
    while (cmd_poll(w->c) == 0 && (n = proc_read(p, fd, w->block + held, CMD_BLOCK - held)) > 0) {
        s.n.bytes += (uint64_t)n;
        if (w->lines)
            s.n.lines += count_newlines(w->block + held, (size_t)n);
        if (plain)
            continue;
        size_t all = held + (size_t)n;
        held = scan_block(w, &s, w->block, all);
        memmove(w->block, w->block + all - held, held);
    }
    if (!(w->chars && w->utf8))
        s.n.chars = s.n.bytes;
    s.n.longest = NUM_MAX(s.n.longest, s.pos);
    *ret = s.n;
    return (int)NUM_MIN(n, 0);
}

static void put_counts(const struct wc *w, const struct counts *n, const char *name)
{
    const uint64_t v[] = {n->lines, n->words, n->chars, n->bytes, n->longest};
    const bool on[] = {w->lines, w->words, w->chars, w->bytes, w->longest};
    bool more = false;
    for (size_t i = 0; i < 5; i++) {
        char text[24];
        if (!on[i])
            continue;
        const char *p = num_u64_text(v[i], text);
        if (more)
            cmd_putc(w->c, ' ');
        for (int k = (int)strlen(p); k < w->width; k++)
            cmd_putc(w->c, ' ');
        cmd_puts(w->c, p);
        more = true;
    }
    if (name) {
        cmd_putc(w->c, ' ');
        cmd_puts(w->c, strchr(name, '\n') ? cmd_quote(w->c, name, false) : name);
    }
    cmd_putc(w->c, '\n');
    if (cmd_flush(w->c) < 0 && !w->c->out_reported) {
        w->c->out_reported = true; /* errno is lost in the real tool: it flushes, too */
        cmd_err(w->c, "write error");
    }
}

/* @name NULL: standard input without a name. */
static int one(struct wc *w, const char *name)
{
    struct cmd *c = w->c;
    struct counts n = {0};
    int fd = name ? cmd_open_input(c, name) : 0;
    if (fd < 0) {
        cmd_errno(c, fd, "%s", cmd_quote(c, name, false));
        return 1;
    }
    int r = count_file(w, fd, &n);
    if (r < 0)
        cmd_errno(c, r, "%s", cmd_quote(c, name ? name : "-", false));
    put_counts(w, &n, name);
    w->total.lines += n.lines;
    w->total.words += n.words;
    w->total.chars += n.chars;
    w->total.bytes += n.bytes;
    w->total.longest = NUM_MAX(w->total.longest, n.longest);
    cmd_close_input(c, fd);
    return r < 0;
}

/* Columns that the numbers need, from the sizes of the files; 7 when one of them is not a regular file. */
static int number_width(const struct wc *w, char *const *names, size_t n)
{
    int columns = w->lines + w->words + w->chars + w->bytes + w->longest, least = 1, width = 1;
    uint64_t total = 0;
    struct vfs_stat st;
    if (n == 0 || (n == 1 && columns == 1))
        return 1;
    for (size_t i = 0; i < n; i++) {
        bool in = !names[i] || strcmp(names[i], "-") == 0;
        int r = in ? proc_fstat(w->c->p, 0, &st) : proc_stat(w->c->p, str_c(names[i]), 0, &st);
        if (r < 0 && i == 0 && n == 1)
            return 1;
        if (r < 0)
            continue;
        if (S_ISREG(st.mode))
            total += st.size;
        else
            least = 7;
    }
    for (; total >= 10; total /= 10)
        width++;
    return NUM_MAX(width, least);
}

/* ---- --files0-from ---- */

/* One name of the list; @i counts from 1. */
static int listed(struct wc *w, const char *from, struct str name, uint64_t i)
{
    struct cmd *c = w->c;
    bool in = strcmp(from, "-") == 0;
    if (in && str_eqc(name, "-")) {
        cmd_err(c, "when reading file names from stdin, no file name of %s allowed", cmd_quote(c, "-", true));
        return 1;
    }
    if (name.n == 0) {
        cmd_err(c, "%s:%llu: invalid zero-length file name", cmd_quote(c, from, false), (unsigned long long)i);
        return 1;
    }
    return one(w, arena_dup(c->arena, name.p, name.n));
}

/* The names of a regular file are known before the first is counted, so the columns can fit. */
static int list_width(struct wc *w, int fd)
{
    struct vfs_stat st;
    struct cmd_lines l;
    struct str s;
    size_t n = 0, cap = 0;
    char **names = NULL;
    int width = 1;
    if (proc_fstat(w->c->p, fd, &st) < 0 || !S_ISREG(st.mode) || st.size > 10u << 20)
        return 1;
    cmd_lines_init(&l, w->c, fd, 0);
    while (cmd_lines_next(&l, &s, NULL) > 0) {
        if (n == cap) {
            cap = cap ? cap * 2 : 64;
            char **more = arena_alloc(w->c->arena, cap * sizeof *more);
            if (n > 0)
                memcpy(more, names, n * sizeof *more);
            names = more;
        }
        names[n++] = arena_dup(w->c->arena, s.p, s.n);
    }
    cmd_lines_done(&l);
    if (n > 0)
        width = number_width(w, names, n);
    proc_lseek(w->c->p, fd, 0, SEEK_SET);
    return width;
}

static int from_list(struct wc *w, const char *from)
{
    struct cmd *c = w->c;
    struct cmd_lines l;
    struct str name;
    uint64_t n = 0;
    int status = 0, r;
    int fd = cmd_open_input(c, from);
    if (fd < 0) {
        cmd_errno(c, fd, "cannot open %s for reading", cmd_quote(c, from, true));
        return 1;
    }
    w->width = list_width(w, fd);
    cmd_lines_init(&l, c, fd, 0);
    while ((r = cmd_lines_next(&l, &name, NULL)) > 0) {
        struct arena_mark m = arena_mark(c->arena);
        status |= listed(w, from, name, ++n);
        arena_reset(c->arena, m);
    }
    if (r < 0) {
        cmd_errno(c, r, "%s: read error", cmd_quote(c, from, false));
        status = 1;
    }
    cmd_lines_done(&l);
    cmd_close_input(c, fd);
    if (n > 1)
        put_counts(w, &w->total, "total");
    return status;
}

static void set_kinds(struct wc *w)
{
    for (unsigned i = 0; i < 256; i++) {
        if (i >= 0x80)
            w->kind[i] = w->utf8 ? KIND_WIDE : KIND_NONE;
        else
            w->kind[i] = i == ' ' || (i >= 9 && i <= 13) ? KIND_SPACE : i > ' ' && i < 0x7f ? KIND_WORD : KIND_NONE;
    }
}

static int wc_main(struct cmd *c)
{
    struct wc w = {.c = c};
    const char *from = NULL;
    for (int o; (o = cmd_getopt(c, opts, false)) != -1;) {
        if (o == -2)
            return cmd_usage_status(c);
        w.bytes |= o == 'c';
        w.chars |= o == 'm';
        w.lines |= o == 'l';
        w.words |= o == 'w';
        w.longest |= o == 'L';
        if (o == 256)
            from = c->optarg;
    }
    if (!(w.lines || w.words || w.chars || w.bytes || w.longest))
        w.lines = w.words = w.bytes = true;
    w.utf8 = (w.words || w.chars || w.longest) && cmd_utf8(c);
    w.nbsp = w.utf8 && !cmd_getenv(c, "POSIXLY_CORRECT");
    set_kinds(&w);
    size_t n = (size_t)(c->argc - c->optind);
    if (from && n > 0) {
        cmd_err(c, "extra operand %s", cmd_quote(c, c->argv[c->optind], true));
        cmd_err_raw(c, "file operands cannot be combined with --files0-from\n");
        cmd_try_help(c);
        return 1;
    }
    w.block = cmd_block_get();
    int status = 0;
    if (from) {
        status = from_list(&w, from);
    } else {
        static char *no_name[1];
        w.width = n > 0 ? number_width(&w, c->argv + c->optind, n) : number_width(&w, no_name, 1);
        if (n == 0)
            status = one(&w, NULL);
        for (size_t i = 0; i < n && c->out_err == 0 && !c->p->must_end; i++)
            status |= one(&w, c->argv[c->optind + (int)i]);
        if (n > 1)
            put_counts(&w, &w.total, "total");
    }
    cmd_block_put(w.block);
    return status;
}

CMD(wc, wc_main, 1, "Usage: wc [OPTION]... [FILE]...\n  or:  wc [OPTION]... --files0-from=F\n",
    "  -c, --bytes            bytes\n"
    "  -m, --chars            characters\n"
    "  -l, --lines            newlines\n"
    "      --files0-from=F    the FILEs are the names in F, each ended by NUL; '-' is standard input\n"
    "  -L, --max-line-length  columns of the longest line\n"
    "  -w, --words            words\n");
