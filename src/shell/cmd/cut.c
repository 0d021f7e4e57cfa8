/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <ctype.h>
#include <errno.h>

#include "base/num.h"

static const struct cmd_opt opts[] = {
    {'b', "bytes", CMD_ARG},
    {'c', "characters", CMD_ARG},
    {'f', "fields", CMD_ARG},
    {'d', "delimiter", CMD_ARG},
    {'n', NULL, CMD_NO_ARG},
    {'s', "only-delimited", CMD_NO_ARG},
    {256, "output-delimiter", CMD_ARG},
    {257, "complement", CMD_NO_ARG},
    {'z', "zero-terminated", CMD_NO_ARG},
    {0},
};

struct range {
    uint64_t lo, hi; /* counted from 1, both in */
};

struct cut {
    struct cmd *c;
    bool fields, only_delimited, complement;
    char delim, line_delim;
    struct str out_delim;
    bool out_delim_given;
    struct range *r; /* sorted, apart; behind them one that is never reached */
    size_t n, cap;
};

/* ---- the list ---- */

static void add_range(struct cut *k, uint64_t lo, uint64_t hi)
{
    if (k->n == k->cap) {
        k->cap = k->cap ? k->cap * 2 : 8;
        struct range *v = arena_alloc(k->c->arena, k->cap * sizeof *v);
        if (k->n > 0)
            memcpy(v, k->r, k->n * sizeof *v);
        k->r = v;
    }
    k->r[k->n++] = (struct range){lo, hi};
}

static int range_cmp(const void *a, const void *b)
{
    const struct range *x = a, *y = b;
    return x->lo < y->lo ? -1 : x->lo > y->lo;
}

/* Sorts, joins what overlaps (not what only touches: --output-delimiter goes between), complements. */
static void finish_ranges(struct cut *k)
{
    size_t n = 0;
    qsort(k->r, k->n, sizeof *k->r, range_cmp);
    for (size_t i = 0; i < k->n; i++) {
        if (n > 0 && k->r[i].lo <= k->r[n - 1].hi)
            k->r[n - 1].hi = NUM_MAX(k->r[n - 1].hi, k->r[i].hi);
        else
            k->r[n++] = k->r[i];
    }
    k->n = n;
    if (k->complement) {
        const struct range *old = k->r;
        uint64_t next = 1;
        k->r = NULL;
        k->n = k->cap = 0;
        for (size_t i = 0; i < n; i++) {
            if (old[i].lo > next)
                add_range(k, next, old[i].lo - 1);
            if (old[i].hi == UINT64_MAX)
                next = 0;
            else
                next = old[i].hi + 1;
        }
        if (next > 0)
            add_range(k, next, UINT64_MAX);
    }
    add_range(k, UINT64_MAX, UINT64_MAX);
}

static int list_error(const struct cut *k, const char *fields, const char *bytes)
{
    cmd_usage_error(k->c, "%s", k->fields ? fields : bytes);
    return -1;
}

static int not_from_zero(const struct cut *k)
{
    return list_error(k, "fields are numbered from 1", "byte/character positions are numbered from 1");
}

/* A number of the list at *p. */
static int list_number(const struct cut *k, const char **p, uint64_t *ret)
{
    size_t n = strspn(*p, "0123456789");
    uint64_t v = 0;
    for (size_t i = 0; i < n; i++)
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, (uint64_t)((*p)[i] - '0'), &v) ||
            v == UINT64_MAX) {
            cmd_usage_error(k->c, k->fields ? "field number %s is too large" : "byte/character offset %s is too large",
                            cmd_quote_loc(k->c, arena_dup(k->c->arena, *p, n)));
            return -1;
        }
    *p += n;
    *ret = v;
    return 0;
}

/* "N", "N-", "N-M", "-M" at *p, up to ',' or a blank or the end. */
static int list_item(struct cut *k, const char **p)
{
    uint64_t lo = 0, hi = 0;
    bool has_lo = isdigit((unsigned char)**p), has_hi = false, dash = false;
    if (has_lo && list_number(k, p, &lo) < 0)
        return -1;
    if (**p == '-') {
        dash = true;
        (*p)++;
        if (has_lo && lo == 0)
            return not_from_zero(k);
        has_hi = isdigit((unsigned char)**p);
        if (has_hi && list_number(k, p, &hi) < 0)
            return -1;
        if (**p == '-')
            return list_error(k, "invalid field range", "invalid byte or character range");
    }
    if (**p && **p != ',' && !isblank((unsigned char)**p)) {
        cmd_usage_error(k->c, k->fields ? "invalid field value %s" : "invalid byte/character position %s",
                        cmd_quote_loc(k->c, *p));
        return -1;
    }
    if (!dash) {
        if (lo == 0)
            return not_from_zero(k);
        add_range(k, lo, lo);
        return 0;
    }
    if (!has_lo && !has_hi)
        return list_error(k, "invalid range with no endpoint: -", "invalid range with no endpoint: -");
    if (!has_lo)
        lo = 1;
    if (has_hi && hi < lo)
        return list_error(k, "invalid decreasing range", "invalid decreasing range");
    add_range(k, lo, has_hi ? hi : UINT64_MAX);
    return 0;
}

static int parse_list(struct cut *k, const char *list)
{
    for (;;) {
        if (list_item(k, &list) < 0)
            return -1;
        if (*list == 0)
            break;
        list++;
    }
    finish_ranges(k);
    return 0;
}

/* ---- lines ---- */

static void cut_bytes(struct cut *k, struct str line)
{
    bool more = false;
    for (const struct range *r = k->r; r->lo <= line.n; r++) {
        if (more && k->out_delim_given)
            cmd_write(k->c, k->out_delim.p, k->out_delim.n);
        more = true;
        uint64_t hi = NUM_MIN(r->hi, line.n);
        cmd_write(k->c, line.p + r->lo - 1, hi - r->lo + 1);
        if (hi == line.n)
            break;
    }
    cmd_putc(k->c, k->line_delim);
}

static void cut_fields(struct cut *k, struct str line)
{
    struct cmd *c = k->c;
    const char *p = line.p, *end = line.p + line.n;
    const char *e = line.n > 0 ? memchr(p, k->delim, line.n) : NULL;
    if (!e) {
        if (!k->only_delimited) {
            cmd_write(c, line.p, line.n);
            cmd_putc(c, k->line_delim);
        }
        return;
    }
    const struct range *r = k->r;
    bool more = false, one_delim = k->out_delim.n == 1 && k->out_delim.p[0] == k->delim;
    for (uint64_t f = 1;; f++) {
        if (f >= r->lo) {
            if (more)
                cmd_write(c, k->out_delim.p, k->out_delim.n);
            more = true;
            if (r->hi == UINT64_MAX && one_delim) { /* all the rest, as it is */
                cmd_write(c, p, (size_t)(end - p));
                break;
            }
            cmd_write(c, p, (size_t)((e ? e : end) - p));
            if (f == r->hi && (++r)->lo == UINT64_MAX)
                break;
        }
        if (!e)
            break;
        p = e + 1;
        e = memchr(p, k->delim, (size_t)(end - p));
    }
    cmd_putc(c, k->line_delim);
}

/* The delimiter is the line's own end: the fields are the lines of the whole input. */
static int cut_line_fields(struct cut *k, struct cmd_lines *l)
{
    struct str line;
    const struct range *r = k->r;
    bool more = false, ended = false;
    uint64_t f = 0;
    int got;
    while ((got = cmd_lines_next(l, &line, &ended)) > 0) {
        f++;
        if (f == 1 && !ended) { /* no delimiter at all */
            more = !k->only_delimited;
            if (more)
                cmd_write(k->c, line.p, line.n);
            break;
        }
        if (f > r->hi)
            r++;
        if (f < r->lo)
            continue;
        if (more)
            cmd_write(k->c, k->out_delim.p, k->out_delim.n);
        more = true;
        cmd_write(k->c, line.p, line.n);
    }
    if (f > 0 && (more || f > 1 || (ended && !k->only_delimited)))
        cmd_putc(k->c, k->line_delim);
    return got;
}

static int cut_file(struct cut *k, const char *name)
{
    struct cmd *c = k->c;
    struct cmd_lines l;
    struct str line;
    int r, fd = cmd_open_input(c, name);
    if (fd < 0) {
        cmd_errno(c, fd, "%s", cmd_quote(c, name, false));
        return 1;
    }
    cmd_lines_init(&l, c, fd, k->line_delim);
    if (!k->fields) {
        while ((r = cmd_lines_next(&l, &line, NULL)) > 0 && c->out_err == 0)
            cut_bytes(k, line);
    } else if (k->delim == k->line_delim) {
        r = cut_line_fields(k, &l);
    } else {
        while ((r = cmd_lines_next(&l, &line, NULL)) > 0 && c->out_err == 0)
            cut_fields(k, line);
    }
    cmd_lines_done(&l);
    cmd_close_input(c, fd);
    if (r == -ENOMEM)
        return cmd_no_memory(c);
    if (r < 0)
        cmd_errno(c, r, "%s", cmd_quote(c, name, false));
    return r < 0;
}

static int usage_fail(struct cmd *c, const char *text)
{
    cmd_usage_error(c, "%s", text);
    return -1;
}

/* Reads the options; *ret_list is the list's text. 0, or -1 and *ret_status. */
static int options(struct cut *k, const char **ret_list, int *ret_status)
{
    struct cmd *c = k->c;
    bool delim = false;
    *ret_list = NULL;
    *ret_status = 1;
    for (int o; (o = cmd_getopt(c, opts, false)) != -1;) {
        if (o == -2) {
            *ret_status = cmd_usage_status(c);
            return -1;
        }
        if (o == 'b' || o == 'c' || o == 'f') {
            if (*ret_list)
                return usage_fail(c, "only one list may be specified");
            *ret_list = c->optarg;
            k->fields = o == 'f';
        } else if (o == 'd') {
            if (c->optarg[0] && c->optarg[1])
                return usage_fail(c, "the delimiter must be a single character");
            k->delim = c->optarg[0];
            delim = true;
        } else if (o == 's') {
            k->only_delimited = true;
        } else if (o == 256) {
            /* An empty one stands for a NUL. */
            k->out_delim = *c->optarg ? str_c(c->optarg) : str_of("", 1);
            k->out_delim_given = true;
        } else if (o == 257) {
            k->complement = true;
        } else if (o == 'z') {
            k->line_delim = 0;
        }
    }
    if (!*ret_list)
        return usage_fail(c, "you must specify a list of bytes, characters, or fields");
    if (!k->fields && delim)
        return usage_fail(c, "an input delimiter may be specified only when operating on fields");
    if (!k->fields && k->only_delimited)
        return usage_fail(c, "suppressing non-delimited lines makes sense\n\tonly when operating on fields");
    if (!k->out_delim_given)
        k->out_delim = str_of(&k->delim, 1);
    return 0;
}

static int cut_main(struct cmd *c)
{
    struct cut k = {.c = c, .delim = '\t', .line_delim = '\n'};
    const char *list;
    int status;
    if (options(&k, &list, &status) < 0)
        return status;
    if (parse_list(&k, list) < 0)
        return 1;
    status = 0;
    if (c->optind == c->argc)
        status = cut_file(&k, "-");
    for (int i = c->optind; i < c->argc && c->out_err == 0 && !c->p->must_end; i++)
        status |= cut_file(&k, c->argv[i]);
    return status;
}

CMD(cut, cut_main, 1, "Usage: cut OPTION... [FILE]...\n",
    "  -b, --bytes=LIST          these bytes\n"
    "  -c, --characters=LIST     the same as -b\n"
    "  -d, --delimiter=DELIM     DELIM between fields, not TAB\n"
    "  -f, --fields=LIST         these fields, and lines without DELIM as they are, but for -s\n"
    "  -n                        nothing: -b never splits what -c would not\n"
    "      --complement          all but the selected\n"
    "  -s, --only-delimited      no lines without DELIM\n"
    "      --output-delimiter=S  S between what is printed\n"
    "  -z, --zero-terminated     lines end with NUL\n"
    "LIST is N, N-, N-M or -M, or several with ',' between.\n");
