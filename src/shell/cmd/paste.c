/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <errno.h>

#include "base/num.h"

static const struct cmd_opt opts[] = {
    {'d', "delimiters", CMD_ARG},
    {'s', "serial", CMD_NO_ARG},
    {'z', "zero-terminated", CMD_NO_ARG},
    {0},
};

#define NO_DELIM (-1)

struct paste {
    struct cmd *c;
    char delim;     /* of lines */
    int16_t *v;     /* delimiters, taken in turn; NO_DELIM: nothing */
    size_t n;
};

struct source {
    const char *name;
    int fd;
    bool open;
    struct cmd_lines *lines; /* those of "-" share one */
};

/* The list of -d with its escapes undone: 0, or -1: it ends in a lone backslash. */
static int parse_delims(struct paste *p, const char *list)
{
    static const char from[] = "0bfnrtv", to[] = "\0\b\f\n\r\t\v";
    size_t n = strlen(list);
    p->v = arena_alloc(p->c->arena, (n + 1) * sizeof *p->v);
    p->n = 0;
    for (; *list; list++) {
        int16_t ch = *list;
        if (ch == '\\') {
            if (*++list == 0)
                return -1;
            const char *e = strchr(from, *list);
            ch = !e ? *list : *list == '0' ? NO_DELIM : to[e - from];
        }
        p->v[p->n++] = ch == NO_DELIM ? ch : (unsigned char)ch;
    }
    if (p->n == 0)
        p->v[p->n++] = NO_DELIM;
    return 0;
}

static void put_delim(struct paste *p, size_t i)
{
    int16_t d = p->v[i % p->n];
    if (d != NO_DELIM)
        cmd_putc(p->c, (char)d);
}

static int open_source(struct paste *p, struct source *s, struct cmd_lines *input)
{
    s->fd = cmd_open_input(p->c, s->name);
    if (s->fd < 0) {
        cmd_errno(p->c, s->fd, "%s", cmd_quote(p->c, s->name, false));
        return 1;
    }
    s->open = true;
    s->lines = s->fd == 0 ? input : arena_alloc(p->c->arena, sizeof *s->lines);
    if (s->fd != 0)
        cmd_lines_init(s->lines, p->c, s->fd, p->delim);
    return 0;
}

static void close_source(struct paste *p, struct source *s, const struct cmd_lines *input)
{
    if (s->open && s->lines != input) {
        cmd_lines_done(s->lines);
        cmd_close_input(p->c, s->fd);
    }
    s->open = false;
}

/* The next line of a source. 1; 0 at its end, which closes it; failures are told, and are ends, too. */
static int next_line(struct paste *p, struct source *s, const struct cmd_lines *input, struct str *ret, int *status)
{
    int r = s->open ? cmd_lines_next(s->lines, ret, NULL) : 0;
    if (r == 1)
        return 1;
    if (r < 0 && !p->c->p->must_end) {
        cmd_errno(p->c, r, "%s", cmd_quote(p->c, s->name, false));
        *status = 1;
    }
    close_source(p, s, input);
    return 0;
}

/* One line of each source side by side. False: all have ended. */
static bool paste_row(struct paste *p, struct source *v, size_t n, const struct cmd_lines *input, int *status)
{
    struct str line;
    size_t held = 0; /* delimiters that are printed only when another source has a line */
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        if (next_line(p, &v[i], input, &line, status)) {
            for (; held < i; held++)
                put_delim(p, held);
            any = true;
            cmd_write(p->c, line.p, line.n);
        }
    }
    if (!any)
        return false;
    for (; held + 1 < n; held++)
        put_delim(p, held);
    cmd_putc(p->c, p->delim);
    return true;
}

static int paste_parallel(struct paste *p, struct source *v, size_t n, struct cmd_lines *input)
{
    int status = 0;
    /* All are opened first: one that is missing ends it before anything is printed. */
    for (size_t i = 0; i < n && status == 0; i++)
        status = open_source(p, &v[i], input);
    if (status == 0)
        while (p->c->out_err == 0 && cmd_poll(p->c) == 0 && paste_row(p, v, n, input, &status))
            continue;
    for (size_t i = 0; i < n; i++)
        close_source(p, &v[i], input);
    return status;
}

/* All lines of each source in one. */
static int paste_serial(struct paste *p, struct source *v, size_t n, struct cmd_lines *input)
{
    int status = 0;
    for (size_t i = 0; i < n && p->c->out_err == 0 && !p->c->p->must_end; i++) {
        struct str line;
        size_t k = 0;
        int bad = open_source(p, &v[i], input);
        status |= bad;
        if (bad)
            continue;
        for (; p->c->out_err == 0 && next_line(p, &v[i], input, &line, &bad); k++) {
            if (k > 0)
                put_delim(p, k - 1);
            cmd_write(p->c, line.p, line.n);
        }
        status |= bad;
        cmd_putc(p->c, p->delim);
        close_source(p, &v[i], input);
    }
    return status;
}

static int paste_main(struct cmd *c)
{
    struct paste p = {.c = c, .delim = '\n'};
    const char *list = "\t";
    bool serial = false;
    for (int o; (o = cmd_getopt(c, opts, false)) != -1;) {
        if (o == -2)
            return cmd_usage_status(c);
        if (o == 'd')
            list = *c->optarg ? c->optarg : "\\0";
        serial |= o == 's';
        if (o == 'z')
            p.delim = 0;
    }
    if (parse_delims(&p, list) < 0) {
        cmd_err(c, "delimiter list ends with an unescaped backslash: %s", list);
        return 1;
    }
    size_t n = (size_t)NUM_MAX(c->argc - c->optind, 1);
    struct source *v = arena_alloc(c->arena, n * sizeof *v);
    for (size_t i = 0; i < n; i++)
        v[i] = (struct source){.name = c->optind < c->argc ? c->argv[(size_t)c->optind + i] : "-"};
    struct cmd_lines input;
    cmd_lines_init(&input, c, 0, p.delim);
    int status = serial ? paste_serial(&p, v, n, &input) : paste_parallel(&p, v, n, &input);
    cmd_lines_done(&input);
    return status;
}

CMD(paste, paste_main, 1, "Usage: paste [OPTION]... [FILE]...\n",
    "Prints lines of the FILEs (or standard input) side by side.\n"
    "  -d, --delimiters=LIST  these in turn between them, not TAB\n"
    "  -s, --serial           all lines of a FILE in one, FILE after FILE\n"
    "  -z, --zero-terminated  lines end with NUL\n");
