/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <errno.h>

#include "base/num.h"
#include "shell/cmd/num.h"

static const struct cmd_opt opts[] = {
    {'c', "no-create", CMD_NO_ARG}, {'o', "io-blocks", CMD_NO_ARG | CMD_REFUSED}, {'r', "reference", CMD_ARG},
    {'s', "size", CMD_ARG},         {0},
};

struct truncate {
    struct cmd *c;
    bool no_create, has_size;
    char how; /* what stood before the size: + (or -) < > / % or 0 */
    int64_t size;
    const char *reference;
    int64_t reference_size;
};

/* The size of -s: 0, or -1 after a message. */
static int parse_size(struct truncate *t, const char *s)
{
    struct cmd *c = t->c;
    while (*s == ' ' || (*s >= '\t' && *s <= '\r'))
        s++;
    t->how = 0;
    if (*s && strchr("<>/%", *s))
        t->how = *s++;
    while (*s == ' ' || (*s >= '\t' && *s <= '\r'))
        s++;
    if (*s == '+' || *s == '-') {
        if (t->how)
            return cmd_usage_error(c, "multiple relative modifiers specified"), -1;
        t->how = '+';
    }
    if (!num_option_signed(c, s, "EgGkKmMPtTYZ0", INT64_MIN, INT64_MAX, "Invalid number", &t->size))
        return -1;
    t->has_size = true;
    if (t->size == 0 && (t->how == '/' || t->how == '%')) {
        cmd_err(c, "division by zero");
        return -1;
    }
    return 0;
}

/* The size that a file of @old bytes gets: 0, or -1 after a message. */
static int new_size(const struct truncate *t, const char *name, int64_t old, int64_t *ret)
{
    int64_t to = t->size;
    switch (t->how) {
    case '<':
        to = NUM_MIN(old, t->size);
        break;
    case '>':
        to = NUM_MAX(old, t->size);
        break;
    case '/':
        to = old / t->size * t->size;
        break;
    case '%':
        if (__builtin_add_overflow(old, (t->size - old % t->size) % t->size, &to)) {
            cmd_err(t->c, "overflow rounding up size of file %s", cmd_quote(t->c, name, true));
            return -1;
        }
        break;
    case '+':
        if (__builtin_add_overflow(old, t->size, &to)) {
            cmd_err(t->c, "overflow extending size of file %s", cmd_quote(t->c, name, true));
            return -1;
        }
        break;
    default:
        if (!t->has_size)
            to = old;
        break;
    }
    *ret = NUM_MAX(to, 0);
    return 0;
}

static int one(const struct truncate *t, const char *name)
{
    struct cmd *c = t->c;
    int flags = O_WRONLY | O_NONBLOCK | (t->no_create ? 0 : O_CREAT), fd = cmd_open_safe(c, name, flags, 0666);
    if (fd < 0) {
        if (t->no_create && fd == -ENOENT)
            return 0;
        cmd_errno(c, fd, "cannot open %s for writing", cmd_quote(c, name, true));
        return 1;
    }
    struct vfs_stat st;
    int64_t old = t->reference_size, to;
    int status = 1, r = 0;
    if (t->how && !t->reference) {
        r = proc_fstat(c->p, fd, &st);
        old = (int64_t)st.size;
    }
    if (r < 0) {
        cmd_errno(c, r, "cannot fstat %s", cmd_quote(c, name, true));
    } else if (new_size(t, name, old, &to) == 0) {
        r = proc_ftruncate(c->p, fd, (uint64_t)to);
        status = r < 0;
        if (r < 0)
            cmd_errno(c, r, "failed to truncate %s at %lld bytes", cmd_quote(c, name, true), (long long)to);
    }
    proc_close(c->p, fd);
    return status;
}

/* Whether the options fit: 0, or a status after a message. */
static int check(struct truncate *t)
{
    struct cmd *c = t->c;
    struct vfs_stat st;
    if (!t->has_size && !t->reference)
        return cmd_usage_error(c, "you must specify either %s or %s", cmd_quote_loc(c, "--size"),
                               cmd_quote_loc(c, "--reference"));
    if (t->has_size && t->reference && !t->how)
        return cmd_usage_error(c, "you must specify a relative %s with %s", cmd_quote_loc(c, "--size"),
                               cmd_quote_loc(c, "--reference"));
    if (c->optind == c->argc)
        return cmd_usage_error(c, "missing file operand");
    if (!t->reference)
        return 0;
    int r = proc_stat(c->p, str_c(t->reference), 0, &st);
    if (r < 0) {
        cmd_errno(c, r, "cannot stat %s", cmd_quote(c, t->reference, true));
        return 1;
    }
    t->reference_size = (int64_t)st.size;
    return 0;
}

static int truncate_main(struct cmd *c)
{
    struct truncate t = {.c = c};
    for (int o; (o = cmd_getopt(c, opts, false)) != -1;) {
        if (o == -2)
            return cmd_usage_status(c);
        t.no_create |= o == 'c';
        if (o == 'r')
            t.reference = c->optarg;
        if (o == 's' && parse_size(&t, c->optarg) < 0)
            return 1;
    }
    int status = check(&t);
    if (status != 0)
        return status;
    for (int i = c->optind; i < c->argc && cmd_poll(c) == 0; i++)
        status |= one(&t, c->argv[i]);
    return status;
}

CMD_NAMED("truncate", truncate_, truncate_main, 1, "Usage: truncate OPTION... FILE...\n",
          "Gives each FILE a size.\n"
          "  -c, --no-create        make no files\n"
          "  -r, --reference=RFILE  the size of RFILE\n"
          "  -s, --size=SIZE        SIZE bytes; after + - more, less; < > at most, at least; / % a multiple of\n");
