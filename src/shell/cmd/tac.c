/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <errno.h>

#include "base/num.h"

static const struct cmd_opt opts[] = {
    {'b', "before", CMD_NO_ARG},
    {'r', "regex", CMD_NO_ARG | CMD_REFUSED},
    {'s', "separator", CMD_ARG},
    {0},
};

struct tac {
    struct cmd *c;
    bool before;
    struct str separator;
};

/* Where the last separator in p[0, n) begins, or NULL. */
static const char *last_separator(const struct tac *t, const char *p, size_t n)
{
    struct str s = t->separator;
    while (n >= s.n) {
        const char *at = memrchr(p, s.p[0], n - s.n + 1);
        if (!at || memcmp(at, s.p, s.n) == 0)
            return at;
        n = (size_t)(at - p) + s.n - 1;
    }
    return NULL;
}

/*
 * Prints the records of p[0, n), the last one first, but the first of them, whose start is not known to be there unless
 * @whole. Returns how many bytes at the front are left.
 */
static size_t put_records(const struct tac *t, const char *p, size_t n, bool whole)
{
    size_t end = n;    /* of what is not printed */
    size_t search = n; /* separators are looked for before it */
    while (t->c->out_err == 0 && cmd_poll(t->c) == 0) {
        const char *at = last_separator(t, p, search);
        if (!at)
            break;
        search = (size_t)(at - p);
        size_t start = t->before ? search : search + t->separator.n;
        cmd_write(t->c, p + start, end - start);
        end = start;
    }
    if (!whole)
        return end;
    cmd_write(t->c, p, end);
    return 0;
}

/* All of a pipe: it has to be read before anything can be printed. */
static int tac_stream(const struct tac *t, int fd)
{
    BUF_AUTO struct buf all;
    buf_init(&all, LIMIT_LINE);
    int r = cmd_read_all(t->c, fd, &all);
    if (r == 0)
        put_records(t, all.p, all.n, true);
    return r;
}

/* A file of which the place is known, from its end to @start: a window of it goes backwards. */
static int tac_file(const struct tac *t, int fd, uint64_t start, uint64_t end)
{
    struct cmd *c = t->c;
    size_t cap = CMD_BLOCK, have = 0;
    char *w MEM_AUTO = mem_try(cap);
    if (!w)
        return -ENOMEM;
    /* The window's last `have` bytes are what follows the place `end` and is not printed yet. */
    while (end > start && c->out_err == 0) {
        int r = cmd_poll(c);
        if (r < 0)
            return r;
        if (have > cap / 2) {
            char *more = cap < LIMIT_LINE ? mem_try(2 * cap) : NULL;
            if (!more)
                return -ENOMEM;
            memcpy(more + 2 * cap - have, w + cap - have, have);
            mem_free(w);
            w = more;
            cap *= 2;
        }
        size_t n = (size_t)NUM_MIN(end - start, (uint64_t)(cap - have));
        char *to = w + cap - have - n;
        for (size_t got = 0; got < n;) {
            ssize_t k = proc_pread(c->p, fd, to + got, n - got, end - n + got);
            if (k <= 0)
                return k < 0 ? (int)k : -EIO; /* it has become shorter */
            got += (size_t)k;
        }
        end -= n;
        size_t left = put_records(t, to, n + have, end == start);
        memmove(w + cap - left, to, left);
        have = left;
    }
    return 0;
}

static int one(const struct tac *t, const char *name)
{
    struct cmd *c = t->c;
    bool input = strcmp(name, "-") == 0;
    int r, fd = cmd_open_input(c, name);
    if (fd < 0) {
        cmd_errno(c, fd, "failed to open %s for reading", cmd_quote(c, name, true));
        return 1;
    }
    struct vfs_stat st;
    int64_t at = proc_lseek(c->p, fd, 0, SEEK_CUR);
    if (proc_fstat(c->p, fd, &st) == 0 && S_ISREG(st.mode) && st.size > 0 && at >= 0)
        r = tac_file(t, fd, 0, st.size);
    else
        r = tac_stream(t, fd);
    cmd_close_input(c, fd);
    if (r == -ENOMEM || r == -EFBIG)
        return cmd_no_memory(c);
    if (r < 0 && c->out_err == 0)
        cmd_errno(c, r, "%s: read error", cmd_quote(c, input ? "standard input" : name, false));
    return r < 0;
}

static int tac_main(struct cmd *c)
{
    struct tac t = {.c = c, .separator = str_c("\n")};
    for (int o; (o = cmd_getopt(c, opts, false)) != -1;) {
        if (o == -2)
            return cmd_usage_status(c);
        t.before |= o == 'b';
        if (o == 's') /* an empty one stands for a NUL */
            t.separator = *c->optarg ? str_c(c->optarg) : str_of("", 1);
    }
    int status = 0;
    if (c->optind == c->argc)
        status = one(&t, "-");
    for (int i = c->optind; i < c->argc && c->out_err == 0 && !c->p->must_end; i++)
        status |= one(&t, c->argv[i]);
    return status;
}

CMD(tac, tac_main, 1, "Usage: tac [OPTION]... [FILE]...\n",
    "Prints the lines of each FILE (or standard input), the last one first.\n"
    "  -b, --before            separators stand before what they separate\n"
    "  -s, --separator=STRING  STRING between records, not a newline\n");
