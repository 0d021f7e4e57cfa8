/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/grep_int.h"

#include <errno.h>

#include "base/num.h"

/*
 * One file, block by block. Blocks are as large as GNU grep's, because it decides block by block whether a file is
 * binary: lines that match in front of the first NUL's block are printed, later ones are only told of. In a binary file
 * a NUL ends a line.
 *
 * The buffer holds, in this order: lines kept as leading context, the beginning of a line whose end is not read yet,
 * and what was read.
 */

#define BLOCK 98304u

struct scan {
    struct grep *g;
    struct grep_input *in;
    size_t len;      /* bytes in the buffer */
    uint64_t base;   /* file offset of the buffer */
    size_t last_out; /* behind the last line printed */
    bool has_out;    /* last_out is one */
    uint64_t lines;  /* lines before `counted` */
    size_t counted;
    int64_t left;             /* of --max-count */
    int64_t found;            /* lines selected */
    int64_t pending;          /* lines of trailing context to come */
    uint64_t after_last;      /* file offset behind the last line selected */
    int64_t found_before_nul; /* -1: no NUL met */
    bool bad_text;            /* a line was not printed as it is no text */
    bool eof;
    int width; /* of numbers, with -T */
};

void grep_scan_done(struct grep *g)
{
    mem_free(g->buf);
    g->buf = NULL;
}

/* ---- matching ---- */

static int match_error(struct grep *g, int r)
{
    g->stop = g->error = true;
    if (r == -EINTR || g->c->p->must_end)
        return -1;
    if (r == -ENOMEM)
        cmd_no_memory(g->c);
    else if (r == -E2BIG && g->pcre)
        cmd_err(g->c, "%s: exceeded PCRE's backtracking limit", g->file);
    else if (r == -ENOBUFS)
        cmd_err(g->c, "%s: exceeded PCRE's heap limit", g->file);
    else if (r == -E2BIG)
        cmd_err(g->c, "%s: exceeded the limit on back-reference matching", g->file);
    else
        cmd_errno(g->c, r, "%s", g->file);
    return -1;
}

int grep_match(struct grep *g, struct str line, size_t from, struct regex_span *ret)
{
    int r = g->pcre ? regex_pcre_exec(g->pcre, line, from, 0, ret, 1) : regex_exec(g->re, line, from, 0, ret, 1);
    return r < 0 ? match_error(g, r) : r;
}

static int find_perl(struct grep *g, struct str buf, size_t *ret_start, size_t *ret_end)
{
    for (size_t from = 0; from < buf.n;) {
        const char *nl = memchr(buf.p + from, g->eol, buf.n - from);
        size_t end = nl ? (size_t)(nl - buf.p) : buf.n;
        struct regex_span sp[1];
        int r = regex_pcre_exec(g->pcre, str_of(buf.p + from, end - from), 0, 0, sp, 1);
        if (r == 0)
            r = cmd_poll(g->c);
        if (r != 0) {
            *ret_start = from;
            *ret_end = end;
            return r;
        }
        from = end + 1;
    }
    return 0;
}

/* The first line of whole lines that matches: 1, 0, or -1 after a message. */
static int find_line(struct grep *g, struct str buf, size_t *ret_start, size_t *ret_end)
{
    int r =
        g->pcre ? find_perl(g, buf, ret_start, ret_end) : regex_find_line(g->re, buf, 0, g->eol, ret_start, ret_end);
    return r < 0 ? match_error(g, r) : r;
}

/* ---- lines ---- */

typedef uint8_t vec16 __attribute__((vector_size(16)));

static uint64_t count_eols(const char *p, size_t n, char eol)
{
    uint64_t total = 0;
    while (n >= sizeof(vec16)) {
        size_t turns = NUM_MIN(n / sizeof(vec16), 255);
        vec16 sum = {0}, v;
        for (size_t i = 0; i < turns; i++, p += sizeof v) {
            memcpy(&v, p, sizeof v);
            sum -= (vec16)(v == (uint8_t)eol);
        }
        n -= turns * sizeof v;
        for (size_t i = 0; i < sizeof v; i++)
            total += sum[i];
    }
    while (n-- > 0)
        total += *p++ == eol;
    return total;
}

static size_t line_end(const struct scan *s, size_t at)
{
    const char *e = memchr(s->g->buf + at, s->g->eol, s->len - at);
    return e ? (size_t)(e - s->g->buf) + 1 : s->len;
}

/* Start of the line that ends right before @at. */
static size_t line_before(const struct scan *s, size_t at)
{
    const char *e = at > 1 ? memrchr(s->g->buf, s->g->eol, at - 1) : NULL;
    return e ? (size_t)(e - s->g->buf) + 1 : 0;
}

static void print(struct scan *s, size_t from, size_t to, char sep)
{
    struct grep *g = s->g;
    if (g->line_numbers) {
        s->lines += count_eols(g->buf + s->counted, from - s->counted, g->eol) + 1;
        s->counted = to;
    }
    /* A line that is no text leaves the place where context goes on as it was, as in the real one. */
    if (!grep_print_line(g, str_of(g->buf + from, to - from), s->base + from, s->lines, sep, s->width)) {
        s->bad_text = true;
        return;
    }
    s->last_out = to;
    s->has_out = true;
}

/* Trailing context up to @lim. */
static void print_pending(struct scan *s, size_t lim)
{
    if (!s->has_out) {
        s->last_out = 0;
        s->has_out = true;
    }
    while (s->pending > 0 && s->last_out < lim) {
        print(s, s->last_out, line_end(s, s->last_out), '-');
        s->pending--;
    }
}

static void print_leading(struct scan *s, size_t from)
{
    struct grep *g = s->g;
    size_t least = s->has_out ? s->last_out : 0, p = from;
    for (int64_t i = 0; i < g->before && p > least; i++)
        p = line_before(s, p);
    if ((g->before >= 0 || g->after >= 0) && g->used && !(s->has_out && p == s->last_out) && g->group_sep)
        grep_print_group(g);
    while (p < from) {
        size_t e = line_end(s, p);
        print(s, p, e, '-');
        p = e;
    }
}

/* Lines [from, to) are selected: one, or with -v several. */
static void select_lines(struct scan *s, size_t from, size_t to)
{
    struct grep *g = s->g;
    size_t p = from;
    int64_t n = 0;
    if (!g->out_quiet && s->pending > 0)
        print_pending(s, from);
    if (!g->out_quiet)
        print_leading(s, from);
    while (p < to && n < s->left && !g->stop) {
        size_t e = line_end(s, p);
        if (!g->out_quiet)
            print(s, p, e, ':');
        p = e;
        n++;
        if (g->first_only)
            break;
    }
    s->after_last = s->base + p;
    s->pending = g->out_quiet ? 0 : NUM_MAX(g->after, 0);
    g->used = true;
    s->left -= n;
    s->found += n;
}

/* Whether each line is selected and none printed, so that they need only be counted. */
static bool counts_all(const struct scan *s)
{
    const struct grep *g = s->g;
    bool empty = g->n_patterns == 1 && g->patterns[0].text.n == 0 && !g->pcre && !g->words && !g->lines;
    return empty && g->count && g->out_quiet && !g->invert && !g->first_only && g->max_count == INT64_MAX;
}

/* Whole lines [from, to) of the buffer. */
static void scan_lines(struct scan *s, size_t from, size_t to)
{
    struct grep *g = s->g;
    if (counts_all(s)) {
        s->found += (int64_t)count_eols(g->buf + from, to - from, g->eol);
        s->after_last = s->base + to;
        return;
    }
    while (from < to && s->left > 0 && !g->stop && g->c->out_err == 0) {
        size_t b, e;
        int r = find_line(g, str_of(g->buf + from, to - from), &b, &e);
        if (r < 0)
            return;
        b = r ? from + b : to;
        e = r ? from + e + 1 : to;
        if (!g->invert && r == 0)
            return;
        if (!g->invert)
            select_lines(s, b, e);
        else if (from < b)
            select_lines(s, from, b);
        if (g->first_only && s->found > 0)
            return;
        from = e;
    }
}

/* ---- blocks ---- */

static int room(struct grep *g, size_t n)
{
    if (n <= g->cap)
        return 0;
    size_t cap = g->cap ? g->cap : 2 * BLOCK;
    while (cap < n)
        cap *= 2;
    if (cap > LIMIT_LINE)
        return -ENOMEM;
    char *b = mem_try_realloc(g->buf, cap);
    if (!b)
        return -ENOMEM;
    g->buf = b;
    g->cap = cap;
    return 0;
}

/* Reads the next block behind what is there: bytes, 0 at the end, or an error. */
static ssize_t fill(struct scan *s)
{
    struct grep *g = s->g;
    if (s->eof)
        return 0;
    int r = cmd_poll(g->c);
    if (r == 0)
        r = room(g, s->len + BLOCK + 1);
    if (r < 0)
        return r;
    ssize_t n = s->in->fd >= 0 ? proc_read(g->c->p, s->in->fd, g->buf + s->len, BLOCK)
                               : vfs_pread(s->in->h, g->buf + s->len, BLOCK, s->in->off);
    if (n > 0) {
        s->len += (size_t)n;
        s->in->off += (uint64_t)n;
    }
    /* A handle gives less than was asked for at the end only: no second call to hear 0. */
    s->eof = n == 0 || (s->in->fd < 0 && n < (ssize_t)BLOCK);
    return n;
}

/* Drops what is no longer needed before @keep. */
static void drop(struct scan *s, size_t keep)
{
    struct grep *g = s->g;
    if (g->line_numbers) {
        /* Lines dropped uncounted would be missed. */
        if (keep > s->counted) {
            s->lines += count_eols(g->buf + s->counted, keep - s->counted, g->eol);
            s->counted = keep;
        }
        s->counted -= keep;
    }
    memmove(g->buf, g->buf + keep, s->len - keep);
    s->len -= keep;
    s->base += keep;
    s->has_out = s->has_out && s->last_out >= keep;
    s->last_out = s->has_out ? s->last_out - keep : 0;
}

/* Whether the file has a hole behind what was read: a hole is NULs. */
static bool hole_follows(const struct scan *s)
{
    struct vfs_handle *h = s->in->fd >= 0 ? proc_fd_handle(s->g->c->p, s->in->fd) : s->in->h;
    uint64_t hole, at = s->base + s->len;
    return h && s->in->regular && at < s->in->size && vfs_seek_data(h, at, true, &hole) == 0 && hole < s->in->size;
}

/* The first NUL makes the file binary. False: it is not to be searched at all. */
static bool look_for_nul(struct scan *s, size_t from, bool first)
{
    struct grep *g = s->g;
    if (s->found_before_nul >= 0 || !g->eol || g->binary == GREP_TEXT)
        return true;
    if (!memchr(g->buf + from, 0, s->len - from) && !(first && hole_follows(s)))
        return true;
    if (g->binary == GREP_WITHOUT_MATCH)
        return false;
    s->found_before_nul = s->found;
    return true;
}

static void zap_nuls(struct scan *s, size_t from)
{
    char *p = s->g->buf + from, *end = s->g->buf + s->len;
    while ((p = memchr(p, 0, (size_t)(end - p))))
        *p++ = s->g->eol;
}

static void search_block(struct scan *s, size_t from, size_t to)
{
    struct grep *g = s->g;
    bool first_only = g->first_only, out_quiet = g->out_quiet;
    /* From a NUL on one more match is all that will be told, unless matches are counted. */
    if (s->found_before_nul >= 0 && !g->count)
        g->first_only = g->out_quiet = true;
    int64_t before = s->found;
    s->found = s->found_before_nul >= 0 && !g->count ? 0 : before;
    scan_lines(s, from, to);
    if (s->found_before_nul >= 0 && !g->count)
        s->found += before;
    if (s->pending > 0 && !g->out_quiet && !g->stop)
        print_pending(s, to);
    g->first_only = first_only;
    g->out_quiet = out_quiet;
}

static bool done(const struct scan *s)
{
    const struct grep *g = s->g;
    if (g->stop || g->c->out_err || (g->first_only && s->found > 0))
        return true;
    if (s->found_before_nul >= 0 && !g->count && s->found > s->found_before_nul)
        return true;
    return s->left <= 0 && s->pending <= 0;
}

/* Where leading context for what comes next begins. */
static size_t keep_from(const struct scan *s, size_t end)
{
    size_t p = end, least = s->has_out ? s->last_out : 0;
    for (int64_t i = 0; i < s->g->before && p > least; i++)
        p = line_before(s, p);
    return p;
}

/* The whole input: 0 or why reading failed. */
static int scan_input(struct scan *s)
{
    struct grep *g = s->g;
    size_t begin = 0; /* of the first line not searched yet */
    for (bool first = true;; first = false) {
        size_t old = s->len;
        ssize_t n = fill(s);
        if (n < 0)
            return (int)n;
        if (n == 0)
            break;
        if (!look_for_nul(s, old, first))
            return 0;
        if (s->found_before_nul >= 0)
            zap_nuls(s, begin);
        const char *last = memrchr(g->buf + old, g->eol, s->len - old);
        if (s->found_before_nul >= 0 && !last)
            last = memrchr(g->buf + begin, g->eol, s->len - begin);
        if (!last)
            continue;
        size_t end = (size_t)(last - g->buf) + 1;
        search_block(s, begin, end);
        if (done(s))
            return 0;
        size_t keep = keep_from(s, end);
        drop(s, keep);
        begin = end - keep;
    }
    if (s->len > begin) {
        /* The last line gets the end that it lacks. */
        g->buf[s->len++] = g->eol;
        search_block(s, begin, s->len);
    }
    return 0;
}

static int number_width(const struct scan *s)
{
    const struct grep *g = s->g;
    if (!g->align)
        return 0;
    uint64_t n = s->in->regular ? s->in->size : INT64_MAX;
    n += g->line_numbers && s->in->regular;
    int w = 0;
    do
        w++;
    while ((n /= 10) != 0);
    return w;
}

/* A pipeline's next reader goes on behind the last line that -m let through. */
static void leave_input(struct scan *s)
{
    if (s->in->fd != 0 || s->eof)
        return;
    if (s->left <= 0 || s->g->first_only) {
        int64_t back = (int64_t)(s->base + s->len) - (int64_t)s->after_last;
        if (s->left <= 0 && back != 0)
            (void)proc_lseek(s->g->c->p, 0, -back, SEEK_CUR);
    }
}

bool grep_scan(struct grep *g, struct grep_input *in)
{
    struct scan s = {.g = g, .in = in, .left = g->max_count, .found_before_nul = -1};
    s.width = number_width(&s);
    int r = s.left > 0 ? scan_input(&s) : 0;
    if (r == -EINTR || g->c->p->must_end) {
        g->stop = true;
        return false;
    }
    if (r == -ENOMEM)
        match_error(g, r);
    else if (r < 0)
        grep_file_error(g, r);
    if (g->stop && g->error)
        return false;
    bool binary = s.bad_text || (s.found_before_nul >= 0 && s.found > s.found_before_nul);
    if (g->binary == GREP_BINARY && !g->out_quiet && binary)
        cmd_err(g->c, "%s: binary file matches", g->file);
    if (g->count)
        grep_print_count(g, s.found);
    bool hit = s.found > 0;
    if (g->list == (hit ? GREP_LIST_MATCHING : GREP_LIST_NONMATCHING)) {
        grep_print_name(g);
        cmd_putc(g->c, g->null_names ? 0 : '\n');
        if (g->line_buffered)
            cmd_flush(g->c);
    }
    leave_input(&s);
    return hit;
}
