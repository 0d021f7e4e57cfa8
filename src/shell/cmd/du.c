/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <errno.h>

#include "shell/cmd/num.h"
#include "shell/cmd/walk.h"
#include "shell/expand_int.h"

enum { DU_APPARENT = 256, DU_EXCLUDE, DU_FILES0, DU_INODES, DU_SI, DU_TIME, DU_TIME_STYLE };

static const struct cmd_opt opts[] = {
    {'a', "all", CMD_NO_ARG},
    {DU_APPARENT, "apparent-size", CMD_NO_ARG},
    {'B', "block-size", CMD_ARG},
    {'b', "bytes", CMD_NO_ARG},
    {'l', "count-links", CMD_NO_ARG},
    {'L', "dereference", CMD_NO_ARG},
    {'D', "dereference-args", CMD_NO_ARG},
    {DU_EXCLUDE, "exclude", CMD_ARG},
    {'X', "exclude-from", CMD_ARG | CMD_REFUSED},
    {DU_FILES0, "files0-from", CMD_ARG | CMD_REFUSED},
    {'h', "human-readable", CMD_NO_ARG},
    {DU_INODES, "inodes", CMD_NO_ARG},
    {DU_SI, "si", CMD_NO_ARG},
    {'d', "max-depth", CMD_ARG},
    {'0', "null", CMD_NO_ARG},
    {'P', "no-dereference", CMD_NO_ARG},
    {'x', "one-file-system", CMD_NO_ARG},
    {'S', "separate-dirs", CMD_NO_ARG},
    {'s', "summarize", CMD_NO_ARG},
    {'c', "total", CMD_NO_ARG},
    {'t', "threshold", CMD_ARG | CMD_REFUSED},
    {DU_TIME, "time", CMD_OPT_ARG | CMD_REFUSED},
    {DU_TIME_STYLE, "time-style", CMD_ARG | CMD_REFUSED},
    {'H', NULL, CMD_NO_ARG},
    {'k', NULL, CMD_NO_ARG},
    {'m', NULL, CMD_NO_ARG},
    {0},
};

struct sum {
    uint64_t bytes, inodes;
};

/* What the entries at one depth have so far, since the directory that holds them began. */
struct level {
    struct sum own; /* themselves: directories too, unless -S */
    struct sum sub; /* what is below them */
};

struct pattern_item {
    struct str text;
    struct pattern_item *next;
};

/* Inode numbers, which are unique in the tree over its mounts: open addressing, 0 is an empty slot. */
struct inode_set {
    uint64_t *slots;
    size_t cap, n; /* cap: a power of two, or 0 */
};

struct du {
    struct cmd *c;
    struct num_human human;
    bool human_set, all, apparent, count_links, inodes, separate, one_fs, summarize, total, once_each, utf8;
    bool depth_set, no_memory;
    int follow; /* enum walk_flags */
    char eol;
    uint64_t max_depth;
    struct pattern_item *excludes;
    struct inode_set seen;
    struct level *levels;
    size_t n_levels;
    struct sum grand;
};

static size_t inode_slot(const struct inode_set *s, uint64_t ino)
{
    size_t i = (size_t)(ino * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (s->cap - 1);
    while (s->slots[i] && s->slots[i] != ino)
        i = (i + 1) & (s->cap - 1);
    return i;
}

static bool inode_set_grow(struct inode_set *s)
{
    struct inode_set bigger = {.cap = s->cap ? s->cap * 2 : 256, .n = s->n};
    bigger.slots = mem_try_zalloc(bigger.cap * sizeof *bigger.slots);
    if (!bigger.slots)
        return false;
    for (size_t i = 0; i < s->cap; i++) {
        if (s->slots[i])
            bigger.slots[inode_slot(&bigger, s->slots[i])] = s->slots[i];
    }
    mem_free(s->slots);
    *s = bigger;
    return true;
}

/* 1: added; 0: it is there; -ENOMEM. */
static int inode_set_add(struct inode_set *s, uint64_t ino)
{
    if (s->n >= s->cap / 2 && !inode_set_grow(s))
        return -ENOMEM;
    size_t i = inode_slot(s, ino);
    if (s->slots[i])
        return 0;
    s->slots[i] = ino;
    s->n++;
    return 1;
}

static void sum_add(struct sum *a, const struct sum *b)
{
    if (__builtin_add_overflow(a->bytes, b->bytes, &a->bytes))
        a->bytes = UINT64_MAX;
    a->inodes += b->inodes;
}

static void put_line(const struct du *d, const struct sum *n, const char *name)
{
    char text[NUM_TEXT];
    cmd_puts(d->c, num_human_text(d->inodes ? n->inodes : n->bytes, 1, &d->human, text));
    cmd_putc(d->c, '\t');
    cmd_puts(d->c, name);
    cmd_putc(d->c, d->eol);
}

/* A pattern may match the whole path or what follows any of its slashes. */
static bool excluded(const struct du *d, const struct walk *w)
{
    int flags = d->utf8 ? PATTERN_UTF8 : 0;
    if (d->one_fs && w->depth > 0 && w->err == 0 && w->st.dev != w->root_dev)
        return true;
    for (const struct pattern_item *p = d->excludes; p; p = p->next) {
        struct str path = buf_str(&w->path);
        if (cmd_poll(d->c) != 0 || pattern_match(p->text, path, flags))
            return true;
        for (size_t i = 0; i < path.n; i++) {
            if (path.p[i] == '/' && (i + 1 == path.n || path.p[i + 1] != '/') &&
                pattern_match(p->text, str_from(path, i + 1), flags))
                return true;
        }
    }
    return false;
}

/* Whether the entry was counted before: by another name, another operand or a link that is followed. */
static bool seen(struct du *d, const struct walk *w)
{
    if (d->count_links || (!d->once_each && (S_ISDIR(w->st.mode) || w->st.nlink <= 1)))
        return false;
    int r = inode_set_add(&d->seen, w->st.ino);
    if (r < 0)
        d->no_memory = true;
    return r == 0;
}

static void count(struct du *d, const struct walk *w, bool is_dir)
{
    struct level *l = &d->levels[w->depth];
    struct sum own = {d->apparent ? w->st.size : w->st.blocks * 512, 1}, show = own;
    if (is_dir) {
        struct level *below = l + 1;
        sum_add(&show, &below->own);
        if (!d->separate)
            sum_add(&show, &below->sub);
        sum_add(&l->sub, &below->own);
        sum_add(&l->sub, &below->sub);
        *below = (struct level){0};
    }
    if (!is_dir || !d->separate)
        sum_add(&l->own, &own);
    sum_add(&d->grand, &own);
    if (w->depth == 0 || (w->depth <= d->max_depth && (is_dir || d->all)))
        put_line(d, &show, w->path.p);
}

/* Room for the sums of the entry's depth and of the one below. */
static void make_level(struct du *d, const struct walk *w)
{
    size_t need = (size_t)w->depth + 2;
    if (need <= d->n_levels)
        return;
    size_t n = need * 2;
    d->levels = mem_realloc(d->levels, n * sizeof *d->levels);
    memset(d->levels + d->n_levels, 0, (n - d->n_levels) * sizeof *d->levels);
    d->n_levels = n;
}

/* A link that should have been followed and leads nowhere. The real tool tells why only when it is not ENOENT. */
static int lost_link(const struct du *d, const struct walk *w)
{
    struct vfs_ctx ctx = cmd_ctx(d->c);
    struct vfs_stat st;
    int r = vfs_stat(cmd_vfs(d->c), &ctx, w->parent, walk_ref(w), 0, &st);
    if (r < 0 && r != -ENOENT)
        cmd_errno(d->c, r, "cannot access %s", cmd_quote(d->c, w->path.p, true));
    else
        cmd_err(d->c, "cannot access %s", cmd_quote(d->c, w->path.p, true));
    return 1;
}

static int event(struct du *d, struct walk *w, enum walk_event ev)
{
    make_level(d, w);
    switch (ev) {
    case WALK_PRE:
        if (excluded(d, w) || seen(d, w))
            walk_skip(w);
        return 0;
    case WALK_FILE:
        if (excluded(d, w))
            return 0;
        if (S_ISLNK(w->st.mode) && ((d->follow & WALK_FOLLOW) || (d->follow && w->depth == 0)))
            return lost_link(d, w);
        if (!seen(d, w))
            count(d, w, false);
        return 0;
    case WALK_POST:
        count(d, w, true);
        return 0;
    case WALK_UNREAD:
        cmd_errno(d->c, w->err, "cannot read directory %s", cmd_quote(d->c, w->path.p, true));
        count(d, w, true);
        return 1;
    case WALK_LOST:
        if (excluded(d, w))
            return 0;
        cmd_errno(d->c, w->err, "cannot access %s", cmd_quote(d->c, w->path.p, true));
        return 1;
    case WALK_CYCLE: /* only by links that are followed, and then it is counted higher up */
    case WALK_END:
        break;
    }
    return 0;
}

static int operand(struct du *d, struct walk *w, const char *name)
{
    int status = 0;
    if (!name[0]) {
        cmd_err(d->c, "invalid zero-length file name");
        return 1;
    }
    walk_start(w, name);
    for (enum walk_event ev; !d->no_memory && (ev = walk_next(w)) != WALK_END;) {
        struct arena_mark mark = arena_mark(d->c->arena);
        status |= event(d, w, ev);
        arena_reset(d->c->arena, mark);
    }
    return status;
}

static int run(struct du *d)
{
    struct cmd *c = d->c;
    struct walk w;
    int status = 0, n = c->argc - c->optind;
    d->once_each = n > 1 || (d->follow & WALK_FOLLOW);
    d->utf8 = d->excludes && cmd_utf8(c);
    walk_init(&w, c, d->follow);
    if (n == 0)
        status = operand(d, &w, ".");
    for (int i = c->optind; i < c->argc && !d->no_memory && !c->p->must_end; i++)
        status |= operand(d, &w, c->argv[i]);
    walk_done(&w);
    mem_free(d->levels);
    mem_free(d->seen.slots);
    if (d->no_memory)
        return cmd_no_memory(c);
    if (d->total)
        put_line(d, &d->grand, "total");
    return status;
}

/* ---- options ---- */

static void set_block(struct du *d, uint64_t block)
{
    d->human = (struct num_human){.block = block};
    d->human_set = true;
}

static void set_scale(struct du *d, bool base1024)
{
    d->human = (struct num_human){.block = 1, .scale = true, .suffix = true, .base1024 = base1024};
    d->human_set = true;
}

/* Options that choose sizes and units: false when @o is none of them. */
static bool size_option(struct du *d, int o)
{
    switch (o) {
    case 'b':
        d->apparent = true;
        set_block(d, 1);
        return true;
    case 'k':
        set_block(d, 1024);
        return true;
    case 'm':
        set_block(d, 1u << 20);
        return true;
    case 'h':
    case DU_SI:
        set_scale(d, o == 'h');
        return true;
    case DU_APPARENT:
        d->apparent = true;
        return true;
    case DU_INODES:
        d->inodes = true;
        return true;
    default:
        return false;
    }
}

static void other_option(struct du *d, int o)
{
    d->all |= o == 'a';
    d->total |= o == 'c';
    d->count_links |= o == 'l';
    d->separate |= o == 'S';
    d->summarize |= o == 's';
    d->one_fs |= o == 'x';
    if (o == '0')
        d->eol = 0;
    if (o == 'L' || o == 'D' || o == 'H' || o == 'P')
        d->follow = o == 'L' ? WALK_FOLLOW : o == 'P' ? 0 : WALK_FOLLOW_ARGS;
    if (o == DU_EXCLUDE) {
        struct pattern_item *p = ARENA_NEW(d->c->arena, struct pattern_item);
        *p = (struct pattern_item){str_c(d->c->optarg), d->excludes};
        d->excludes = p;
    }
}

/* -1, or the exit status of what was wrong. */
static int options(struct du *d)
{
    struct cmd *c = d->c;
    bool ok = true;
    for (int o; (o = cmd_getopt(c, opts, false)) != -1;) {
        if (o == -2)
            return cmd_usage_status(c);
        if (o == 'B') {
            enum num_status st = num_block_size(c->optarg, &d->human);
            if (st != NUM_OK)
                return num_block_error(c, st, c->opt_name, c->optarg);
            d->human_set = true;
        } else if (o == 'd') {
            if (num_u64_any(c->optarg, "", &d->max_depth) == NUM_OK) {
                d->depth_set = true;
            } else {
                cmd_err(c, "invalid maximum depth %s", cmd_quote_loc(c, c->optarg));
                ok = false;
            }
        } else if (!size_option(d, o)) {
            other_option(d, o);
        }
    }
    if (!ok) {
        cmd_try_help(c);
        return 1;
    }
    return -1;
}

static int du_main(struct cmd *c)
{
    struct du d = {.c = c, .eol = '\n', .max_depth = UINT64_MAX};
    int r = options(&d);
    if (r >= 0)
        return r;
    if (d.all && d.summarize)
        return cmd_usage_error(c, "cannot both summarize and show all entries");
    if (d.summarize && d.depth_set && d.max_depth == 0)
        cmd_err(c, "warning: summarizing is the same as using --max-depth=0");
    else if (d.summarize && d.depth_set)
        return cmd_usage_error(c, "warning: summarizing conflicts with --max-depth=%llu",
                               (unsigned long long)d.max_depth);
    if (d.summarize)
        d.max_depth = 0;
    if (!d.human_set)
        num_block_env(c, "DU_BLOCK_SIZE", &d.human);
    if (d.inodes) {
        if (d.apparent)
            cmd_err(c, "warning: options --apparent-size and -b are ineffective with --inodes");
        d.human.block = 1;
    }
    return run(&d);
}

CMD(du, du_main, 1, "Usage: du [OPTION]... [FILE]...\n",
    "  -0, --null              lines end with NUL\n"
    "  -a, --all               files too, not only directories\n"
    "      --apparent-size     sizes, not the room they take\n"
    "  -B, --block-size=SIZE   in units of SIZE\n"
    "  -b, --bytes             as --apparent-size --block-size=1\n"
    "  -c, --total             a line for all together\n"
    "  -D, -H, --dereference-args  follow links that are operands\n"
    "  -d, --max-depth=N       only what is at most N levels below an operand\n"
    "      --exclude=PATTERN   leave out what matches PATTERN\n"
    "  -h, --human-readable    sizes such as 1K, 234M\n"
    "      --inodes            count files, not their size\n"
    "  -k, -m                  in units of 1K, of 1M\n"
    "  -L, --dereference       follow all links\n"
    "  -l, --count-links       count a file by each of its names\n"
    "  -P, --no-dereference    follow no links (the default)\n"
    "  -S, --separate-dirs     directories without their subdirectories\n"
    "      --si                as -h with powers of 1000\n"
    "  -s, --summarize         one line for each operand\n"
    "  -x, --one-file-system   leave out other file systems\n");
