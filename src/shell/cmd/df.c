/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What df shows is the session's tree: its quota, and what the tree holds as the quota counts it, in blocks of 1 KiB.
 * Rows are those of /proc/mounts. A directory mounted from the host has the tree's numbers, because what is written to
 * it goes into the tree; what it holds on the host is no use of the session's room. So without operands it is listed
 * with -a only, as the real tool does with a file system that it has listed already.
 */
#include "shell/cmd/cmd.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>

#include "base/num.h"
#include "shell/cmd/num.h"
#include "shell/cmd/wide.h"

#define BLOCK 1024u

enum { DF_OUTPUT = 256, DF_SYNC, DF_NO_SYNC, DF_TOTAL };

static const struct cmd_opt opts[] = {
    {'a', "all", CMD_NO_ARG},
    {'B', "block-size", CMD_ARG},
    {'i', "inodes", CMD_NO_ARG},
    {'h', "human-readable", CMD_NO_ARG},
    {'H', "si", CMD_NO_ARG},
    {'l', "local", CMD_NO_ARG},
    {DF_OUTPUT, "output", CMD_OPT_ARG},
    {'P', "portability", CMD_NO_ARG},
    {'T', "print-type", CMD_NO_ARG},
    {DF_SYNC, "sync", CMD_NO_ARG},
    {DF_NO_SYNC, "no-sync", CMD_NO_ARG},
    {DF_TOTAL, "total", CMD_NO_ARG},
    {'t', "type", CMD_ARG | CMD_REFUSED},
    {'x', "exclude-type", CMD_ARG | CMD_REFUSED},
    {'F', NULL, CMD_ARG | CMD_REFUSED},
    {'k', NULL, CMD_NO_ARG},
    {'m', NULL, CMD_NO_ARG},
    {'v', NULL, CMD_NO_ARG},
    {0},
};

enum field { SOURCE, FSTYPE, ITOTAL, IUSED, IAVAIL, IPCENT, SIZE, USED, AVAIL, PCENT, FILE_NAME, TARGET, N_FIELDS };

static const struct {
    const char *name, *title;
    unsigned width; /* at least */
    bool left;
} fields[N_FIELDS] = {
    [SOURCE] = {"source", "Filesystem", 14, true}, [FSTYPE] = {"fstype", "Type", 4, true},
    [ITOTAL] = {"itotal", "Inodes", 5, false},     [IUSED] = {"iused", "IUsed", 5, false},
    [IAVAIL] = {"iavail", "IFree", 5, false},      [IPCENT] = {"ipcent", "IUse%", 4, false},
    [SIZE] = {"size", "blocks", 5, false},         [USED] = {"used", "Used", 5, false},
    [AVAIL] = {"avail", "Available", 5, false},    [PCENT] = {"pcent", "Use%", 4, false},
    [FILE_NAME] = {"file", "File", 0, true},       [TARGET] = {"target", "Mounted on", 0, true},
};

enum mode { MODE_DEFAULT, MODE_INODES, MODE_HUMAN, MODE_POSIX, MODE_OUTPUT };

struct amount {
    uint64_t total, used, avail;
};

struct row {
    const char *source, *type, *file, *target;
    struct amount blocks, inodes;
    struct row *next;
};

struct df {
    struct cmd *c;
    struct num_human human;
    bool human_set, all, inodes, posix, print_type, total, output, utf8;
    enum mode mode;
    enum field columns[N_FIELDS];
    size_t n_columns, width[N_FIELDS];
    struct row *rows, **last;
    struct row grand;
    struct vfs_stat root, proc;
    bool has_proc;
};

/* ---- rows ---- */

static struct amount amount_of(uint64_t total, uint64_t used)
{
    return (struct amount){total, used, total > used ? total - used : 0};
}

static void amount_add(struct amount *a, const struct amount *b)
{
    if (__builtin_add_overflow(a->total, b->total, &a->total))
        a->total = UINT64_MAX;
    if (__builtin_add_overflow(a->used, b->used, &a->used))
        a->used = UINT64_MAX;
    if (__builtin_add_overflow(a->avail, b->avail, &a->avail))
        a->avail = UINT64_MAX;
}

static void add_row(struct df *d, const char *source, const char *type, const char *file, const char *target)
{
    struct row *r = ARENA_NEW(d->c->arena, struct row);
    *r = (struct row){.source = source, .type = type, .file = file, .target = target};
    if (strcmp(type, "proc") != 0) {
        struct vfs_quota quota, used;
        vfs_get_quota(cmd_vfs(d->c), &quota);
        vfs_usage(cmd_vfs(d->c), &used);
        r->blocks = amount_of(quota.bytes / BLOCK, used.bytes / BLOCK + (used.bytes % BLOCK != 0));
        r->inodes = amount_of(quota.inodes, used.inodes);
    }
    amount_add(&d->grand.blocks, &r->blocks);
    amount_add(&d->grand.inodes, &r->inodes);
    *d->last = r;
    d->last = &r->next;
}

/* The row of the host mount that is looked for by its device, or of each one. */
struct mount_rows {
    struct df *d;
    const char *file;
    uint64_t dev; /* 0: all */
};

static int mount_row(void *arg, const struct vfs_mount *m)
{
    const struct mount_rows *q = arg;
    if (q->dev && q->dev != m->dev)
        return 0;
    add_row(q->d, "host", "host", q->file, arena_dup(q->d->c->arena, m->path.p, m->path.n));
    return q->dev != 0;
}

static int operand(struct df *d, const char *name)
{
    struct vfs_stat st;
    int r = proc_stat(d->c->p, str_c(name), 0, &st);
    if (r < 0) {
        cmd_errno(d->c, r, "%s", cmd_quote(d->c, name, false));
        return 1;
    }
    if (st.dev == d->root.dev) {
        add_row(d, "frontal", "frontal", name, "/");
    } else if (d->has_proc && st.dev == d->proc.dev) {
        add_row(d, "proc", "proc", name, "/proc");
    } else {
        struct mount_rows q = {d, name, st.dev};
        if (!vfs_mount_each(cmd_vfs(d->c), mount_row, &q)) {
            cmd_err(d->c, "%s: not on a file system of this tree", cmd_quote(d->c, name, false));
            return 1;
        }
    }
    return 0;
}

static int collect(struct df *d)
{
    struct cmd *c = d->c;
    struct vfs_ctx ctx = cmd_ctx(c);
    int status = 0;
    d->last = &d->rows;
    vfs_stat(cmd_vfs(c), &ctx, 0, STR("/"), 0, &d->root);
    d->has_proc = vfs_stat(cmd_vfs(c), &ctx, 0, STR("/proc"), 0, &d->proc) == 0 && d->proc.ino >= VFS_PROVIDED;
    for (int i = c->optind; i < c->argc && cmd_poll(c) == 0; i++)
        status |= operand(d, c->argv[i]);
    if (c->optind < c->argc)
        return status;
    add_row(d, "frontal", "frontal", "-", "/");
    if (d->all && d->has_proc)
        add_row(d, "proc", "proc", "-", "/proc");
    if (d->all)
        (void)vfs_mount_each(cmd_vfs(c), mount_row,
                             &(struct mount_rows){d, "-", 0}); /* it returns what mount_row does */
    return 0;
}

/* ---- the table ---- */

static bool has_column(const struct df *d, enum field f)
{
    for (size_t i = 0; i < d->n_columns; i++)
        if (d->columns[i] == f)
            return true;
    return false;
}

__extension__ typedef unsigned __int128 wide_uint;

static const char *percent(const struct amount *a, char out[NUM_TEXT])
{
    wide_uint all = (wide_uint)a->used + a->avail;
    if (all == 0)
        return "-";
    uint64_t v = (uint64_t)(((wide_uint)a->used * 100 + all - 1) / all);
    snprintf(out, NUM_TEXT, "%llu%%", (unsigned long long)v);
    return out;
}

static const char *cell(const struct df *d, const struct row *r, enum field f, char out[NUM_TEXT])
{
    struct num_human one = d->human;
    one.block = 1;
    switch (f) {
    case SOURCE:
        return r->source;
    case FSTYPE:
        return r->type;
    case ITOTAL:
        return num_human_text(r->inodes.total, 1, &one, out);
    case IUSED:
        return num_human_text(r->inodes.used, 1, &one, out);
    case IAVAIL:
        return num_human_text(r->inodes.avail, 1, &one, out);
    case IPCENT:
        return percent(&r->inodes, out);
    case SIZE:
        return num_human_text(r->blocks.total, BLOCK, &d->human, out);
    case USED:
        return num_human_text(r->blocks.used, BLOCK, &d->human, out);
    case AVAIL:
        return num_human_text(r->blocks.avail, BLOCK, &d->human, out);
    case PCENT:
        return percent(&r->blocks, out);
    case FILE_NAME:
        return r->file;
    case TARGET:
        return r->target;
    case N_FIELDS:
        break;
    }
    return "";
}

/* "1K-blocks": the block size in the powers that divide it more often, "1kB" in those of 1000. */
static const char *blocks_title(const struct df *d, char out[NUM_TEXT])
{
    uint64_t block = d->human.block, q1000 = block, q1024 = block;
    struct num_human h = {.block = 1, .scale = true, .suffix = true, .base1024 = d->human.base1024};
    char text[NUM_TEXT];
    while (q1000 % 1000 == 0 && q1024 % 1024 == 0) {
        q1000 /= 1000;
        q1024 /= 1024;
    }
    if (q1000 % 1000 == 0 || q1024 % 1024 == 0)
        h.base1024 = q1024 % 1024 == 0;
    h.b = d->human.b || !h.base1024;
    num_human_text(block, 1, &h, text);
    size_t n = strcspn(text, ".");
    const char *rest = text + n;
    if (rest[0] == '.' && rest[1] == '0')
        rest += 2;
    snprintf(out, NUM_TEXT, "%.*s%s-blocks", (int)n, text, rest);
    return out;
}

static const char *title(const struct df *d, enum field f, char out[NUM_TEXT])
{
    if (f == SIZE && d->human.scale)
        return "Size";
    if (f == SIZE && d->mode == MODE_POSIX) {
        snprintf(out, NUM_TEXT, "%llu-blocks", (unsigned long long)d->human.block);
        return out;
    }
    if (f == SIZE)
        return blocks_title(d, out);
    if (f == AVAIL && (d->mode == MODE_HUMAN || d->mode == MODE_OUTPUT))
        return "Avail";
    if (f == PCENT && d->mode == MODE_POSIX)
        return "Capacity";
    return fields[f].title;
}

/* The length of the first character of a cell, its columns in *ret_width; *ret_shown is false for what would spoil the
 * table (control characters, bytes that are no characters), which is shown as '?'. */
static size_t cell_char(const struct df *d, const char *p, size_t *ret_width, bool *ret_shown)
{
    uint32_t ch;
    size_t n = d->utf8 && (unsigned char)*p >= 0x80 ? wide_decode(p, strlen(p), &ch) : 0;
    int width = n > 0 ? wide_width(ch) : 1;
    *ret_shown = !iscntrl((unsigned char)*p) && (n > 0 ? width >= 0 : !(d->c->out_tty && (unsigned char)*p >= 0x80));
    *ret_width = *ret_shown ? (size_t)NUM_MAX(width, 0) : 1;
    return n > 0 ? n : 1;
}

static size_t cell_width(const struct df *d, const char *text)
{
    size_t total = 0, width;
    bool shown;
    for (; *text; total += width)
        text += cell_char(d, text, &width, &shown);
    return total;
}

static void pad(const struct df *d, size_t n)
{
    while (n-- > 0)
        cmd_putc(d->c, ' ');
}

/* One line; @r NULL: the titles. With @measure it only makes the columns as wide as it needs. */
static void line(struct df *d, const struct row *r, bool measure)
{
    for (size_t i = 0; i < d->n_columns; i++) {
        enum field f = d->columns[i];
        char out[NUM_TEXT];
        const char *text = r ? cell(d, r, f, out) : title(d, f, out);
        size_t width = cell_width(d, text);
        if (measure) {
            d->width[f] = NUM_MAX(d->width[f], NUM_MAX(width, fields[f].width));
            continue;
        }
        if (i > 0)
            cmd_putc(d->c, ' ');
        if (!fields[f].left)
            pad(d, d->width[f] - width);
        while (*text) {
            size_t unused;
            bool shown;
            size_t n = cell_char(d, text, &unused, &shown);
            cmd_write(d->c, shown ? text : "?", shown ? n : 1);
            text += n;
        }
        if (fields[f].left && i + 1 < d->n_columns)
            pad(d, d->width[f] - width);
    }
    if (!measure)
        cmd_putc(d->c, '\n');
}

static void print_table(struct df *d)
{
    for (int measure = 1; measure >= 0; measure--) {
        line(d, NULL, measure);
        for (const struct row *r = d->rows; r && d->c->out_err == 0 && cmd_poll(d->c) == 0; r = r->next)
            line(d, r, measure);
        if (d->total)
            line(d, &d->grand, measure);
    }
}

/* ---- options ---- */

static int add_columns(struct df *d, const char *list)
{
    struct cmd *c = d->c;
    for (bool more = true; more;) {
        size_t n = strcspn(list, ","), f = 0;
        const char *name = arena_dup(c->arena, list, n);
        while (f < N_FIELDS && strcmp(fields[f].name, name) != 0)
            f++;
        if (f == N_FIELDS)
            return cmd_usage_error(c, "option --output: field %s unknown", cmd_quote_loc(c, name));
        if (has_column(d, (enum field)f))
            return cmd_usage_error(c, "option --output: field %s used more than once", cmd_quote_loc(c, name));
        d->columns[d->n_columns++] = (enum field)f;
        more = list[n] == ',';
        list += n + more;
    }
    return -1;
}

static void set_columns(struct df *d)
{
    static const enum field blocks[] = {SIZE, USED, AVAIL, PCENT}, inodes[] = {ITOTAL, IUSED, IAVAIL, IPCENT};
    if (d->mode == MODE_OUTPUT) {
        if (d->n_columns == 0)
            while (d->n_columns < N_FIELDS) {
                d->columns[d->n_columns] = (enum field)d->n_columns;
                d->n_columns++;
            }
        return;
    }
    d->columns[d->n_columns++] = SOURCE;
    if (d->print_type)
        d->columns[d->n_columns++] = FSTYPE;
    for (size_t i = 0; i < 4; i++)
        d->columns[d->n_columns++] = d->mode == MODE_INODES ? inodes[i] : blocks[i];
    d->columns[d->n_columns++] = TARGET;
}

/* --output chooses the columns alone: the option that it cannot go with, or NULL. */
static const char *conflict(const struct df *d)
{
    if (!d->output)
        return NULL;
    return d->inodes ? "-i" : d->posix ? "-P" : d->print_type ? "-T" : NULL;
}

static void set_unit(struct df *d, uint64_t block, bool scale, bool base1024)
{
    d->human = (struct num_human){.block = block, .scale = scale, .suffix = scale, .base1024 = base1024};
    d->human_set = true;
}

/* Those that cannot fail. */
static void set_option(struct df *d, int o)
{
    switch (o) {
    case 'h':
    case 'H':
        set_unit(d, 1, true, o == 'h');
        break;
    case 'k':
        set_unit(d, 1024, false, false);
        break;
    case 'm':
        set_unit(d, 1u << 20, false, false);
        break;
    case 'a':
        d->all = true;
        break;
    case 'i':
        d->inodes = true;
        break;
    case 'P':
        d->posix = true;
        break;
    case 'T':
        d->print_type = true;
        break;
    case DF_TOTAL:
        d->total = true;
        break;
    case DF_OUTPUT:
        d->output = true;
        break;
    default: /* -l, --sync, --no-sync, -v: all is local and nothing waits to be written */
        break;
    }
}

/* -1, or the exit status of what was wrong. */
static int options(struct df *d)
{
    struct cmd *c = d->c;
    for (int o; (o = cmd_getopt(c, opts, false)) != -1;) {
        if (o == -2)
            return cmd_usage_status(c);
        if (o == 'B') {
            enum num_status st = num_block_size(c->optarg, &d->human);
            if (st != NUM_OK)
                return num_block_error(c, st, c->opt_name, c->optarg);
            d->human_set = true;
            continue;
        }
        set_option(d, o);
        if (conflict(d))
            return cmd_usage_error(c, "options %s and %s are mutually exclusive", conflict(d), "--output");
        int r = o == DF_OUTPUT && c->optarg ? add_columns(d, c->optarg) : -1;
        if (r >= 0)
            return r;
    }
    return -1;
}

static int df_main(struct cmd *c)
{
    struct df d = {.c = c, .utf8 = cmd_utf8(c)};
    int status = options(&d);
    if (status >= 0)
        return status;
    if (!d.human_set && d.posix)
        set_unit(&d, cmd_getenv(c, "POSIXLY_CORRECT") ? 512 : 1024, false, false);
    else if (!d.human_set)
        num_block_env(c, "DF_BLOCK_SIZE", &d.human);
    d.mode = d.output        ? MODE_OUTPUT
             : d.inodes      ? MODE_INODES
             : d.human.scale ? MODE_HUMAN
             : d.posix       ? MODE_POSIX
                             : MODE_DEFAULT;
    set_columns(&d);
    bool source = has_column(&d, SOURCE);
    d.grand = (struct row){.source = "total", .type = "-", .file = "-", .target = source ? "-" : "total"};
    status = collect(&d);
    if (d.rows)
        print_table(&d);
    return status;
}

CMD(df, df_main, 1, "Usage: df [OPTION]... [FILE]...\n",
    "  -a, --all               file systems without room of their own too\n"
    "  -B, --block-size=SIZE   in units of SIZE\n"
    "  -h, --human-readable    sizes such as 1023M\n"
    "  -H, --si                the same in powers of 1000\n"
    "  -i, --inodes            files, not blocks\n"
    "  -k, -m                  in units of 1K, of 1M\n"
    "  -l, --local             local file systems (all are)\n"
    "      --sync, --no-sync   nothing waits to be written, both do nothing\n"
    "      --output[=FIELDS]   columns: source, fstype, itotal, iused, iavail, ipcent, size, used, avail, pcent, "
    "file,\n"
    "                          target; without FIELDS all of them\n"
    "  -P, --portability       the format of POSIX\n"
    "      --total             a line for all together\n"
    "  -T, --print-type        the type of the file system\n"
    "  -v                      does nothing\n");
