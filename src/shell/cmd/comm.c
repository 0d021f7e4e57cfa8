/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <errno.h>

static const struct cmd_opt opts[] = {
    {'1', NULL, CMD_NO_ARG},
    {'2', NULL, CMD_NO_ARG},
    {'3', NULL, CMD_NO_ARG},
    {256, "check-order", CMD_NO_ARG},
    {257, "nocheck-order", CMD_NO_ARG},
    {258, "output-delimiter", CMD_ARG},
    {259, "total", CMD_NO_ARG},
    {'z', "zero-terminated", CMD_NO_ARG},
    {0},
};

enum check { CHECK_UNPAIRED, CHECK_ALL, CHECK_NONE };

struct side {
    const char *name;
    int fd;
    struct cmd_lines lines;
    struct str line; /* the one that is compared now */
    bool have;
    struct buf before; /* the line before it, when order is checked */
    bool told;
};

struct comm {
    struct cmd *c;
    bool hide[3]; /* only in the first, only in the second, in both */
    bool total, unpaired;
    enum check check;
    char delim;
    struct str separator;
    uint64_t counts[3];
    struct side s[2];
};

static void put_column(struct comm *m, int which, struct str line)
{
    struct cmd *c = m->c;
    if (m->hide[which])
        return;
    if (which > 0 && !m->hide[0])
        cmd_write(c, m->separator.p, m->separator.n);
    if (which > 1 && !m->hide[1])
        cmd_write(c, m->separator.p, m->separator.n);
    cmd_write(c, line.p, line.n);
    cmd_putc(c, m->delim);
}

/* Takes the next line of a side: 0, 1 after a message that ends it all. */
static int advance(struct comm *m, int i)
{
    struct cmd *c = m->c;
    struct side *s = &m->s[i];
    bool check = s->have && !s->told && (m->check == CHECK_ALL || (m->check == CHECK_UNPAIRED && m->unpaired));
    if (check) {
        buf_clear(&s->before);
        if (buf_add(&s->before, s->line.p, s->line.n) < 0)
            return cmd_no_memory(c);
    }
    int r = cmd_lines_next(&s->lines, &s->line, NULL);
    if (r < 0) {
        if (r == -ENOMEM)
            cmd_no_memory(c);
        else
            cmd_errno(c, r, "%s", cmd_quote(c, s->name, false));
        return 1;
    }
    s->have = r == 1;
    if (!check || !s->have || str_cmp(buf_str(&s->before), s->line) <= 0)
        return 0;
    cmd_err(c, "file %d is not in sorted order", i + 1);
    s->told = true;
    return m->check == CHECK_ALL;
}

static int compare(struct comm *m)
{
    struct cmd *c = m->c;
    int r = advance(m, 0);
    if (r == 0)
        r = advance(m, 1);
    while (r == 0 && c->out_err == 0 && (r = cmd_poll(c) < 0) == 0 && (m->s[0].have || m->s[1].have)) {
        int order = !m->s[0].have ? 1 : !m->s[1].have ? -1 : str_cmp(m->s[0].line, m->s[1].line);
        int which = order < 0 ? 0 : order > 0 ? 1 : 2;
        m->unpaired |= order != 0;
        m->counts[which]++;
        put_column(m, which, m->s[which == 1].line);
        if (order <= 0)
            r = advance(m, 0);
        if (r == 0 && order >= 0)
            r = advance(m, 1);
    }
    return r;
}

static void put_total(struct comm *m)
{
    struct cmd *c = m->c;
    for (int i = 0; i < 3; i++) {
        cmd_printf(c, "%llu", (unsigned long long)m->counts[i]);
        cmd_write(c, m->separator.p, m->separator.n);
    }
    cmd_puts(c, "total");
    cmd_putc(c, m->delim);
}

static int run(struct comm *m, char **names)
{
    struct cmd *c = m->c;
    int r = 0;
    for (int i = 0; i < 2; i++) {
        struct side *s = &m->s[i];
        s->name = names[i];
        s->fd = cmd_open_input(c, s->name);
        if (s->fd < 0) {
            cmd_errno(c, s->fd, "%s", cmd_quote(c, s->name, false));
            r = 1;
            break;
        }
        cmd_lines_init(&s->lines, c, s->fd, m->delim);
        buf_init(&s->before, LIMIT_LINE);
    }
    if (r == 0)
        r = compare(m);
    if (r == 0 && m->total)
        put_total(m);
    bool told = m->s[0].told || m->s[1].told;
    for (int i = 0; i < 2; i++) {
        cmd_lines_done(&m->s[i].lines);
        buf_done(&m->s[i].before);
        cmd_close_input(c, m->s[i].fd);
    }
    if (r == 0 && told)
        cmd_err(c, "input is not in sorted order");
    return r || told;
}

static int comm_main(struct cmd *c)
{
    struct comm m = {.c = c, .delim = '\n', .separator = str_c("\t")};
    const char *given = NULL;
    for (int o; (o = cmd_getopt(c, opts, false)) != -1;) {
        if (o == -2)
            return cmd_usage_status(c);
        if (o >= '1' && o <= '3')
            m.hide[o - '1'] = true;
        if (o == 256 || o == 257)
            m.check = o == 256 ? CHECK_ALL : CHECK_NONE;
        m.total |= o == 259;
        if (o == 'z')
            m.delim = 0;
        if (o != 258)
            continue;
        if (given && strcmp(given, c->optarg) != 0) {
            cmd_err(c, "multiple output delimiters specified");
            return 1;
        }
        given = c->optarg;
        m.separator = *given ? str_c(given) : str_of("", 1);
    }
    int n = c->argc - c->optind;
    if (n == 0)
        return cmd_missing(c);
    if (n == 1)
        return cmd_usage_error(c, "missing operand after %s", cmd_quote_loc(c, c->argv[c->optind]));
    if (n > 2)
        return cmd_extra(c, c->argv[c->optind + 2]);
    if (strcmp(c->argv[c->optind], "-") == 0 && strcmp(c->argv[c->optind + 1], "-") == 0)
        return cmd_refuse(c, "standard input as both files is not implemented here");
    return run(&m, c->argv + c->optind);
}

CMD(comm, comm_main, 1, "Usage: comm [OPTION]... FILE1 FILE2\n",
    "Compares two sorted files: lines of the first alone, of the second alone, of both, in three columns.\n"
    "  -1                         not those of the first alone\n"
    "  -2                         not those of the second alone\n"
    "  -3                         not those of both\n"
    "      --check-order          order is checked whether lines differ or not\n"
    "      --nocheck-order        order is not checked\n"
    "      --output-delimiter=S   S between columns, not TAB\n"
    "      --total                their numbers at the end\n"
    "  -z, --zero-terminated      lines end with NUL\n");
