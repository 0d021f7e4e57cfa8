/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <errno.h>

#include "base/num.h"
#include "shell/cmd/num.h"

enum { OPT_VERBOSE = 256, OPT_FILTER, OPT_SUFFIX, OPT_NUMERIC, OPT_HEX };

static const struct cmd_opt opts[] = {
    {'b', "bytes", CMD_ARG},
    {'l', "lines", CMD_ARG},
    {'C', "line-bytes", CMD_ARG | CMD_REFUSED},
    {'n', "number", CMD_ARG},
    {'e', "elide-empty-files", CMD_NO_ARG},
    {'u', "unbuffered", CMD_NO_ARG},
    {'a', "suffix-length", CMD_ARG},
    {OPT_SUFFIX, "additional-suffix", CMD_ARG},
    {'d', NULL, CMD_NO_ARG},
    {OPT_NUMERIC, "numeric-suffixes", CMD_OPT_ARG},
    {'x', NULL, CMD_NO_ARG},
    {OPT_HEX, "hex-suffixes", CMD_OPT_ARG},
    {OPT_FILTER, "filter", CMD_ARG | CMD_REFUSED},
    {OPT_VERBOSE, "verbose", CMD_NO_ARG},
    {'t', "separator", CMD_ARG | CMD_REFUSED},
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

enum how { HOW_UNSAID, HOW_LINES, HOW_BYTES, HOW_CHUNKS, HOW_DIGITS };

struct split {
    struct cmd *c;
    enum how how;
    uint64_t n;
    const char *alphabet;
    size_t suffix_n; /* 0: not said */
    bool widen;      /* suffixes get longer when they run out */
    bool elide, verbose;
    const char *input, *prefix, *behind;
    struct vfs_stat in;
    /* the names: digits of the alphabet */
    uint8_t *digits;
    size_t n_digits, n_fixed; /* fixed: those in front that widening has added */
    bool begun;
    int out; /* -1: none */
    const char *name;
};

/* ---- files ---- */

/* Steps to the next name: false when there are no more. */
static bool next_name(struct split *s)
{
    size_t base = strlen(s->alphabet);
    if (!s->begun) {
        s->begun = true;
        s->n_digits = s->suffix_n;
        s->digits = arena_alloc(s->c->arena, s->n_digits);
        memset(s->digits, 0, s->n_digits);
        return true;
    }
    for (size_t i = s->n_digits; i-- > s->n_fixed;) {
        /* The last letter in front is kept for names that are longer. */
        bool reserved = s->widen && i == s->n_fixed && (size_t)s->digits[i] + 2 == base;
        if ((size_t)s->digits[i] + 1 < base && !reserved) {
            s->digits[i]++;
            return true;
        }
        if (reserved) {
            s->n_digits += 2;
            s->digits = arena_alloc(s->c->arena, s->n_digits);
            memset(s->digits, 0, s->n_digits);
            memset(s->digits, (int)base - 1, ++s->n_fixed);
            return true;
        }
        s->digits[i] = 0;
    }
    return false;
}

/* Ends the file that is open: 0, or -1 after a message. */
static int close_file(struct split *s)
{
    if (s->out >= 0)
        proc_close(s->c->p, s->out);
    s->out = -1;
    return 0;
}

static int open_file(struct split *s)
{
    struct cmd *c = s->c;
    struct vfs_stat st;
    if (!next_name(s)) {
        cmd_err(c, "output file suffixes exhausted");
        return -1;
    }
    size_t before = strlen(s->prefix), behind = strlen(s->behind);
    char *name = arena_alloc(c->arena, before + s->n_digits + behind + 1);
    memcpy(name, s->prefix, before);
    for (size_t i = 0; i < s->n_digits; i++)
        name[before + i] = s->alphabet[s->digits[i]];
    memcpy(name + before + s->n_digits, s->behind, behind + 1);
    s->name = name;
    if (s->verbose)
        cmd_printf(c, "creating file %s\n", cmd_quote(c, name, true));
    if (proc_stat(c->p, str_c(name), 0, &st) == 0 && st.dev == s->in.dev && st.ino == s->in.ino) {
        cmd_err(c, "%s would overwrite input; aborting", cmd_quote(c, name, true));
        return -1;
    }
    s->out = cmd_open_safe(c, name, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    c->written = true;
    if (s->out >= 0)
        return 0;
    cmd_errno(c, s->out, "%s", cmd_quote(c, name, false));
    return -1;
}

/* Bytes for the file that is open, which is opened when it is not: 0, or -1 after a message. */
static int put(struct split *s, const char *p, size_t n)
{
    struct cmd *c = s->c;
    if (s->out < 0 && open_file(s) < 0)
        return -1;
    while (n > 0) {
        ssize_t w = proc_write(c->p, s->out, p, n);
        if (w < 0) {
            cmd_errno(c, (int)w, "%s", cmd_quote(c, s->name, false));
            return -1;
        }
        p += w;
        n -= (size_t)w;
    }
    return 0;
}

/* ---- splitting ---- */

/* A block into files of `n` bytes; *left is what the one that is open lacks. @most: files that may be made. */
static int split_bytes(struct split *s, const char *p, size_t n, uint64_t each, uint64_t *left, uint64_t *most)
{
    while (n > 0) {
        if (*left == 0 && *most > 1) {
            close_file(s);
            *left = each;
            (*most)--;
        }
        /* The last file gets all the rest. */
        size_t part = *left == 0 ? n : (size_t)NUM_MIN((uint64_t)n, *left);
        if (put(s, p, part) < 0)
            return -1;
        *left -= NUM_MIN(*left, (uint64_t)part);
        p += part;
        n -= part;
    }
    return 0;
}

static int split_lines(struct split *s, const char *p, size_t n, uint64_t *left)
{
    for (const char *end = p + n; p < end;) {
        const char *to = p;
        if (*left == 0) {
            close_file(s);
            *left = s->n;
        }
        while (*left > 0 && to < end) {
            const char *e = memchr(to, '\n', (size_t)(end - to));
            to = e ? e + 1 : end;
            *left -= e != NULL;
        }
        if (put(s, p, (size_t)(to - p)) < 0)
            return -1;
        p = to;
    }
    return 0;
}

/* What chunks there were no bytes for. */
static int empty_files(struct split *s, uint64_t n)
{
    for (; n > 0 && !s->elide; n--) {
        close_file(s);
        if (cmd_poll(s->c) < 0 || open_file(s) < 0)
            return -1;
    }
    return 0;
}

static int run(struct split *s, int fd)
{
    struct cmd *c = s->c;
    uint64_t left = 0, each = s->n, most = UINT64_MAX;
    if (s->how == HOW_CHUNKS) {
        int64_t at = proc_lseek(c->p, fd, 0, SEEK_CUR);
        uint64_t size = s->in.size > (uint64_t)at ? s->in.size - (uint64_t)at : 0;
        each = NUM_MAX(size / s->n, 1);
        most = s->n;
        left = 0;
    }
    char *block = cmd_block_get();
    ssize_t n = 0;
    int r = 0;
    uint64_t files = most;
    if (s->how == HOW_CHUNKS)
        most++; /* split_bytes() counts one down before the first */
    while (r == 0 && cmd_poll(c) == 0 && (n = proc_read(c->p, fd, block, CMD_BLOCK)) > 0)
        r = s->how == HOW_LINES ? split_lines(s, block, (size_t)n, &left)
                                : split_bytes(s, block, (size_t)n, each, &left, &most);
    cmd_block_put(block);
    if (n < 0) {
        cmd_errno(c, (int)n, "%s", cmd_quote(c, s->input, false));
        r = -1;
    }
    if (r == 0 && s->how == HOW_CHUNKS)
        r = empty_files(s, NUM_MIN(most - 1, files));
    close_file(s);
    return r < 0;
}

/* ---- options ---- */

/* The only way to split: 0, or -1 after a message. */
static int set_how(struct split *s, enum how how)
{
    if (s->how != HOW_UNSAID) {
        cmd_usage_error(s->c, "cannot split in more than one way");
        return -1;
    }
    s->how = how;
    return 0;
}

static int digit(struct split *s, int o, int *word)
{
    int at = s->c->opt_pos ? s->c->optind : s->c->optind - 1;
    if (s->how != HOW_DIGITS && set_how(s, HOW_DIGITS) < 0)
        return -1;
    if (*word != at)
        s->n = 0;
    *word = at;
    if (__builtin_mul_overflow(s->n, 10, &s->n) || __builtin_add_overflow(s->n, (uint64_t)(o - '0'), &s->n))
        return cmd_refuse(s->c, "such a number of lines is not implemented here"), -2;
    return 0;
}

/* One option: 0, -1 after a message, -2 refused. */
static int option(struct split *s, int o, int *word)
{
    struct cmd *c = s->c;
    uint64_t v = 0;
    switch (o) {
    case 'b':
        if (set_how(s, HOW_BYTES) < 0)
            return -1;
        return num_option(c, c->optarg, "bEGKkMmPTYZ0", 1, INT64_MAX, "invalid number of bytes", &s->n) ? 0 : -1;
    case 'l':
        if (set_how(s, HOW_LINES) < 0)
            return -1;
        return num_option(c, c->optarg, "", 1, INT64_MAX, "invalid number of lines", &s->n) ? 0 : -1;
    case 'n':
        if (set_how(s, HOW_CHUNKS) < 0)
            return -1;
        if (strchr(c->optarg, '/'))
            return cmd_refuse(c, "a kind of chunks like %s is not implemented here", cmd_quote_loc(c, c->optarg)), -2;
        return num_option(c, c->optarg, "", 1, INT64_MAX, "invalid number of chunks", &s->n) ? 0 : -1;
    case 'a':
        if (!num_option(c, c->optarg, "", 0, LIMIT_NAME, "invalid suffix length", &v))
            return -1;
        s->suffix_n = (size_t)v;
        return 0;
    case 'd':
    case 'x':
    case OPT_NUMERIC:
    case OPT_HEX:
        if (c->optarg)
            return cmd_refuse(c, "a first suffix of another number is not implemented here"), -2;
        s->alphabet = o == 'd' || o == OPT_NUMERIC ? "0123456789" : "0123456789abcdef";
        return 0;
    case OPT_SUFFIX:
        s->behind = c->optarg;
        if (!strchr(s->behind, '/'))
            return 0;
        cmd_usage_error(c, "invalid suffix %s, contains directory separator", cmd_quote_loc(c, s->behind));
        return -1;
    case 'e':
        s->elide = true;
        return 0;
    case OPT_VERBOSE:
        s->verbose = true;
        return 0;
    case 'u': /* it is about chunks in turn, which are refused */
        return 0;
    default:
        return digit(s, o, word);
    }
}

/* How long suffixes are: 0, or -1 after a message. */
static int set_suffix(struct split *s)
{
    size_t needed = 0, base = strlen(s->alphabet);
    s->widen = s->suffix_n == 0 && s->how != HOW_CHUNKS;
    if (s->how == HOW_CHUNKS) {
        uint64_t last = s->n - 1;
        needed = last % base != 0;
        while (last /= base)
            needed++;
    }
    if (s->suffix_n > 0 && s->suffix_n < needed) {
        cmd_err(s->c, "the suffix length needs to be at least %zu", needed);
        return -1;
    }
    if (s->suffix_n == 0)
        s->suffix_n = NUM_MAX(needed, 2);
    return 0;
}

static int split_main(struct cmd *c)
{
    struct split s = {.c = c, .alphabet = "abcdefghijklmnopqrstuvwxyz", .prefix = "x", .behind = "", .out = -1};
    int word = 0;
    for (int o; (o = cmd_getopt(c, opts, false)) != -1;) {
        int r = o == -2 ? 0 : option(&s, o, &word);
        if (o == -2)
            return cmd_usage_status(c);
        if (r < 0)
            return r == -2 ? 2 : 1;
    }
    if (s.how == HOW_UNSAID)
        s.n = 1000;
    if (s.how == HOW_UNSAID || s.how == HOW_DIGITS)
        s.how = HOW_LINES;
    if (s.n == 0)
        return cmd_refuse(c, "pieces without lines is not implemented here");
    if (c->argc - c->optind > 2)
        return cmd_extra(c, c->argv[c->optind + 2]);
    s.input = c->optind < c->argc ? c->argv[c->optind] : "-";
    if (c->argc - c->optind == 2)
        s.prefix = c->argv[c->optind + 1];
    if (set_suffix(&s) < 0)
        return 1;
    int fd = cmd_open_input(c, s.input), r = fd;
    if (fd < 0) {
        cmd_errno(c, fd, "cannot open %s for reading", cmd_quote(c, s.input, true));
        return 1;
    }
    int status = 1;
    r = proc_fstat(c->p, fd, &s.in);
    if (r < 0)
        cmd_errno(c, r, "%s", cmd_quote(c, s.input, false));
    else if (s.how == HOW_CHUNKS && !S_ISREG(s.in.mode))
        status = cmd_refuse(c, "chunks of what is no file is not implemented here");
    else
        status = run(&s, fd);
    cmd_close_input(c, fd);
    return status;
}

CMD(split, split_main, 1, "Usage: split [OPTION]... [FILE [PREFIX]]\n",
    "Puts pieces of FILE (or standard input) into files PREFIXaa, PREFIXab, ...; of 1000 lines, PREFIX x.\n"
    "  -a, --suffix-length=N        letters behind PREFIX, not 2\n"
    "      --additional-suffix=S    S behind them\n"
    "  -b, --bytes=SIZE             pieces of SIZE bytes\n"
    "  -d, --numeric-suffixes       digits, not letters\n"
    "  -e, --elide-empty-files      no empty files with -n\n"
    "  -l, --lines=N                pieces of N lines\n"
    "  -n, --number=N               N pieces\n"
    "  -x, --hex-suffixes           hexadecimal digits\n"
    "      --verbose                a line for each file that is made\n");
