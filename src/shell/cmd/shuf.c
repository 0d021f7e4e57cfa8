/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <ctype.h>
#include <errno.h>

#include "base/num.h"
#include "shell/cmd/num.h"

enum { OPT_SOURCE = 256 };

static const struct cmd_opt opts[] = {
    {'e', "echo", CMD_NO_ARG},
    {'i', "input-range", CMD_ARG},
    {'n', "head-count", CMD_ARG},
    {'o', "output", CMD_ARG},
    {OPT_SOURCE, "random-source", CMD_ARG | CMD_REFUSED},
    {'r', "repeat", CMD_NO_ARG},
    {'z', "zero-terminated", CMD_NO_ARG},
    {0},
};

struct shuf {
    struct cmd *c;
    bool echo, range, repeat, counted;
    uint64_t low, count; /* of the range: count numbers from low on */
    uint64_t head;       /* lines to print at most */
    char delim;
    const char *output;
    struct str *lines; /* when there is no range */
    uint8_t pool[512]; /* random bytes */
    size_t pool_at;
};

/* ---- chance ---- */

/* A number below @n, each as likely. */
static uint64_t below(struct shuf *s, uint64_t n)
{
    uint64_t v, over = (0 - n) % n; /* so many of 2^64 would make the first ones likelier */
    do {
        if (s->pool_at + sizeof v > sizeof s->pool) {
            proc_entropy(s->c->p->ps, s->pool, sizeof s->pool);
            s->pool_at = 0;
        }
        memcpy(&v, s->pool + s->pool_at, sizeof v);
        s->pool_at += sizeof v;
    } while (v < over);
    return v % n;
}

/* ---- printing ---- */

static void put_item(struct shuf *s, uint64_t i)
{
    char text[24];
    if (s->range)
        cmd_puts(s->c, num_u64_text(s->low + i, text));
    else
        cmd_write(s->c, s->lines[i].p, s->lines[i].n);
    cmd_putc(s->c, s->delim);
}

static bool goes_on(struct shuf *s)
{
    return s->c->out_err == 0 && cmd_poll(s->c) == 0;
}

/* @n of the items, none twice: -ENOMEM. Few of many are drawn and those seen before dropped; else all are shuffled. */
static int put_sample(struct shuf *s, uint64_t n)
{
    size_t slots = 16, bytes;
    bool few = n <= s->count / 4;
    while (few && slots < 2 * n)
        slots *= 2;
    if (!few)
        slots = (size_t)s->count;
    if (n > SIZE_MAX / 32 || !num_mul(slots, sizeof(uint64_t), &bytes))
        return -ENOMEM;
    uint64_t *v MEM_AUTO = mem_try(bytes);
    if (!v)
        return -ENOMEM;
    for (size_t i = 0; i < slots; i++)
        v[i] = few ? UINT64_MAX : i;
    for (uint64_t i = 0; i < n && goes_on(s); i++) {
        uint64_t pick;
        if (!few) {
            uint64_t k = i + below(s, s->count - i);
            pick = v[k];
            v[k] = v[i];
        } else {
            size_t at;
            do {
                pick = below(s, s->count);
                at = (size_t)(pick * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (slots - 1);
                while (v[at] != UINT64_MAX && v[at] != pick)
                    at = (at + 1) & (slots - 1);
            } while (v[at] == pick);
            v[at] = pick;
        }
        put_item(s, pick);
    }
    return 0;
}

/* Standard output becomes the file of -o: 0, or 1 after a message. */
static int open_output(struct shuf *s)
{
    struct cmd *c = s->c;
    if (!s->output)
        return 0;
    int fd = cmd_open_safe(c, s->output, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd < 0) {
        cmd_errno(c, fd, "%s", cmd_quote(c, s->output, false));
        return 1;
    }
    proc_dup2(c->p, fd, 1, false);
    proc_close(c->p, fd);
    c->out_tty = false;
    return 0;
}

static int put_all(struct shuf *s)
{
    struct cmd *c = s->c;
    if (open_output(s) != 0)
        return 1;
    if (s->repeat) {
        if (s->head > 0 && s->count == 0) {
            cmd_err(c, "no lines to repeat");
            return 1;
        }
        for (uint64_t i = 0; (i < s->head || !s->counted) && goes_on(s); i++)
            put_item(s, below(s, s->count));
        return 0;
    }
    return put_sample(s, NUM_MIN(s->head, s->count)) < 0 ? cmd_no_memory(c) : 0;
}

/* ---- input ---- */

/* The lines of a file, in @text: 0, or a status after a message. */
static int read_lines(struct shuf *s, const char *name, struct buf *text)
{
    struct cmd *c = s->c;
    int fd = cmd_open_input(c, name), r = fd;
    if (fd >= 0) {
        r = cmd_read_all(c, fd, text);
        cmd_close_input(c, fd);
    }
    if (r == -ENOMEM || r == -EFBIG)
        return cmd_no_memory(c);
    if (r < 0) {
        cmd_errno(c, r, "%s", fd < 0 ? cmd_quote(c, name, false) : "read error");
        return 1;
    }
    if (text->n > 0 && text->p[text->n - 1] != s->delim && buf_putc(text, s->delim) < 0)
        return cmd_no_memory(c);
    uint64_t n = 0;
    for (const char *p = text->p, *end = p + text->n; p < end; n++)
        p = (const char *)memchr(p, s->delim, (size_t)(end - p)) + 1;
    size_t bytes;
    if (!num_mul((size_t)n, sizeof *s->lines, &bytes) || !(s->lines = mem_try(bytes + 1)))
        return cmd_no_memory(c);
    s->count = 0;
    for (const char *p = text->p, *end = p + text->n; p < end;) {
        const char *e = memchr(p, s->delim, (size_t)(end - p));
        s->lines[s->count++] = str_of(p, (size_t)(e - p));
        p = e + 1;
    }
    return 0;
}

static int take_words(struct shuf *s)
{
    struct cmd *c = s->c;
    s->count = (uint64_t)(c->argc - c->optind);
    s->lines = mem_try((size_t)s->count * sizeof *s->lines + 1);
    if (!s->lines)
        return cmd_no_memory(c);
    for (int i = c->optind; i < c->argc; i++)
        s->lines[i - c->optind] = str_c(c->argv[i]);
    return 0;
}

/* ---- options ---- */

/* One end of a range: 0, or -1 after a message. */
static int range_end(struct cmd *c, const char *text, uint64_t *ret)
{
    return num_option(c, text, "", 0, UINT64_MAX, "invalid input range", ret) ? 0 : -1;
}

/* "LO-HI": 0, or -1 after a message. */
static int parse_range(struct shuf *s, const char *text)
{
    struct cmd *c = s->c;
    const char *dash = strchr(text, '-');
    uint64_t high = 0;
    if (s->range)
        return cmd_err(c, "multiple -i options specified"), -1;
    s->range = true;
    if (dash) {
        if (range_end(c, arena_dup(c->arena, text, (size_t)(dash - text)), &s->low) < 0 ||
            range_end(c, dash + 1, &high) < 0)
            return -1;
        s->count = high - s->low + 1;
        if ((s->low <= high) == (s->count != 0))
            return 0;
    }
    cmd_err(c, "invalid input range: %s", cmd_quote_loc(c, text));
    return -1;
}

static int option(struct shuf *s, int o)
{
    struct cmd *c = s->c;
    uint64_t v = 0;
    enum num_status st;
    switch (o) {
    case 'i':
        return parse_range(s, c->optarg);
    case 'n':
        st = num_u64(c->optarg, NULL, &v);
        if (st != NUM_OK && st != NUM_OVERFLOW) {
            cmd_err(c, "invalid line count: %s", cmd_quote_loc(c, c->optarg));
            return -1;
        }
        s->head = NUM_MIN(s->head, v);
        s->counted = true;
        return 0;
    case 'o':
        if (s->output && strcmp(s->output, c->optarg) != 0)
            return cmd_err(c, "multiple output files specified"), -1;
        s->output = c->optarg;
        return 0;
    default:
        s->echo |= o == 'e';
        s->repeat |= o == 'r';
        if (o == 'z')
            s->delim = 0;
        return 0;
    }
}

static int shuf_main(struct cmd *c)
{
    struct shuf *s = arena_alloc(c->arena, sizeof *s);
    *s = (struct shuf){.c = c, .head = UINT64_MAX, .delim = '\n', .pool_at = sizeof s->pool};
    for (int o; (o = cmd_getopt(c, opts, false)) != -1;) {
        if (o == -2)
            return cmd_usage_status(c);
        if (option(s, o) < 0)
            return 1;
    }
    if (s->echo && s->range)
        return cmd_usage_error(c, "cannot combine -e and -i options");
    int n = c->argc - c->optind;
    if (s->range ? n > 0 : !s->echo && n > 1)
        return cmd_extra(c, c->argv[c->optind + !s->range]);
    BUF_AUTO struct buf text;
    buf_init(&text, LIMIT_LINE);
    int status = 0;
    if (s->echo)
        status = take_words(s);
    else if (!s->range && s->head > 0) /* nothing is read to print nothing */
        status = read_lines(s, n > 0 ? c->argv[c->optind] : "-", &text);
    if (status == 0)
        status = put_all(s);
    mem_free(s->lines);
    return status;
}

CMD(shuf, shuf_main, 1, "Usage: shuf [OPTION]... [FILE]\n"
                        "  or:  shuf -e [OPTION]... [ARG]...\n"
                        "  or:  shuf -i LO-HI [OPTION]...\n",
    "Prints lines in an order of chance.\n"
    "  -e, --echo               the ARGs are the lines\n"
    "  -i, --input-range=LO-HI  the numbers from LO to HI are\n"
    "  -n, --head-count=N       N lines at most\n"
    "  -o, --output=FILE        into FILE\n"
    "  -r, --repeat             lines may come several times\n"
    "  -z, --zero-terminated    lines end with NUL\n");
