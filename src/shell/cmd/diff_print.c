/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/diff_int.h"

#include <ctype.h>

#include "base/num.h"
#include "shell/cmd/quote.h"

/* Changes, and how they are printed. */

/* ---- the list ---- */

static bool all_blank(const struct diff *d, const struct diff_file *f, size_t from, size_t n)
{
    for (size_t i = from; i < from + n; i++) {
        const char *p = f->text.p + f->at[i], *end = f->text.p + f->at[i + 1] - 1;
        while (p < end && d->space != DIFF_SPACE_COUNTS && isspace((unsigned char)*p))
            p++;
        if (p < end)
            return false;
    }
    return true;
}

static int add(struct diff *d, struct diff_change c)
{
    if (d->n_changes == d->cap_changes) {
        size_t cap = d->cap_changes ? 2 * d->cap_changes : 64;
        struct diff_change *v = mem_try_realloc(d->changes, cap * sizeof *v);
        if (!v)
            return diff_no_memory(d);
        d->changes = v;
        d->cap_changes = cap;
    }
    c.ignored =
        d->ignore_blank && all_blank(d, &d->f[0], c.line[0], c.n[0]) && all_blank(d, &d->f[1], c.line[1], c.n[1]);
    d->changes[d->n_changes++] = c;
    return 0;
}

int diff_list(struct diff *d)
{
    const struct diff_file *a = &d->f[0], *b = &d->f[1];
    d->n_changes = 0;
    for (size_t i = 0, k = 0; i < a->count || k < b->count; i++, k++) {
        struct diff_change c = {.line = {a->first + i, b->first + k}};
        for (; a->changed[i]; i++)
            c.n[0]++;
        for (; b->changed[k]; k++)
            c.n[1]++;
        if ((c.n[0] || c.n[1]) && add(d, c) < 0)
            return -1;
    }
    return 0;
}

bool diff_counts(const struct diff *d)
{
    for (size_t i = 0; i < d->n_changes; i++)
        if (!d->changes[i].ignored)
            return true;
    return false;
}

void diff_clear(struct diff *d)
{
    for (unsigned i = 0; i < 2; i++) {
        struct diff_file *f = &d->f[i];
        if (f->fd > 2)
            proc_close(d->c->p, f->fd);
        buf_done(&f->text);
        mem_free(f->at);
        mem_free(f->cls);
        mem_free(f->changed_mem);
        *f = (struct diff_file){.fd = -1};
    }
    mem_free(d->changes);
    d->changes = NULL;
    d->n_changes = d->cap_changes = 0;
}

/* ---- lines ---- */

static void put_line(struct diff *d, const char *mark, const struct diff_file *f, size_t i)
{
    bool cut = f->cut && i + 1 == f->n;
    cmd_puts(d->c, mark);
    cmd_write(d->c, f->text.p + f->at[i], f->at[i + 1] - f->at[i]);
    if (cut)
        cmd_puts(d->c, "\\ No newline at end of file\n");
}

static void put_lines(struct diff *d, const char *mark, const struct diff_file *f, size_t from, size_t n)
{
    for (size_t i = from; i < from + n && cmd_poll(d->c) == 0; i++)
        put_line(d, mark, f, i);
}

/* ---- headers ---- */

/* A name with blanks or control characters is quoted as in C. */
static const char *header_name(struct diff *d, const char *name)
{
    static const char named[] = "\aa\bb\tt\nn\vv\ff\rr\"\"\\\\";
    BUF_AUTO struct buf b;
    bool quoted = false;
    buf_init(&b, 8 * LIMIT_PATH);
    buf_putc(&b, '"');
    for (const char *p = name; *p; p++) {
        const char *e = named;
        while (*e && *e != *p)
            e += 2;
        /* Bytes above 0x7f are negative to the real one, where char is signed. */
        bool octal = !*e && (signed char)*p < 32;
        quoted = quoted || *p == ' ' || *e || octal;
        if (*e)
            buf_addf(&b, "\\%c", e[1]);
        else if (octal)
            buf_addf(&b, "\\%03o", (unsigned char)*p);
        else
            buf_putc(&b, *p);
    }
    buf_putc(&b, '"');
    return quoted && !b.err ? arena_dup(d->c->arena, b.p, b.n) : name;
}

static void put_label(struct diff *d, const char *mark, const struct diff_file *f)
{
    struct cmd_time t;
    BUF_AUTO struct buf b;
    const char *format = "%Y-%m-%d %H:%M:%S.%N %z";
    buf_init(&b, 256);
    if (f->label) {
        cmd_printf(d->c, "%s %s\n", mark, f->label);
        return;
    }
    int64_t s = f->st.mtime / 1000000000, ns = f->st.mtime % 1000000000;
    if (ns < 0) {
        s--;
        ns += 1000000000;
    }
    if (d->style == DIFF_CONTEXT && !d->utf8)
        format = "%a %b %e %T %Y";
    cmd_localtime(d->c, s, false, &t);
    cmd_strftime(d->c, &b, format, &t, s, (uint32_t)ns);
    cmd_printf(d->c, "%s %s\t", mark, header_name(d, f->name));
    cmd_write(d->c, b.p, b.n);
    cmd_putc(d->c, '\n');
}

static void begin(struct diff *d)
{
    const struct diff_file *a = &d->f[0], *b = &d->f[1];
    const char *name0 = a->label ? a->label : a->name, *name1 = b->label ? b->label : b->name;
    if (d->in_dir)
        cmd_printf(d->c, "diff%s %s %s\n", d->switches, header_name(d, name0), header_name(d, name1));
    if (d->style == DIFF_NORMAL)
        return;
    put_label(d, d->style == DIFF_UNIFIED ? "---" : "***", a);
    put_label(d, d->style == DIFF_UNIFIED ? "+++" : "---", b);
}

/* ---- normal ---- */

static void put_range(struct diff *d, size_t line, size_t n)
{
    if (n > 1)
        cmd_printf(d->c, "%zu,%zu", line + 1, line + n);
    else
        cmd_printf(d->c, "%zu", line + n);
}

static void print_normal(struct diff *d, const struct diff_change *c)
{
    put_range(d, c->line[0], c->n[0]);
    cmd_putc(d->c, !c->n[0] ? 'a' : !c->n[1] ? 'd' : 'c');
    put_range(d, c->line[1], c->n[1]);
    cmd_putc(d->c, '\n');
    put_lines(d, "< ", &d->f[0], c->line[0], c->n[0]);
    if (c->n[0] && c->n[1])
        cmd_puts(d->c, "---\n");
    put_lines(d, "> ", &d->f[1], c->line[1], c->n[1]);
}

/* ---- hunks ---- */

struct hunk {
    const struct diff_change *v; /* its changes */
    size_t n;
    size_t from[2], to[2]; /* lines shown */
};

/* The changes from @v on that are so near each other that they share context. */
static struct hunk find_hunk(const struct diff *d, const struct diff_change *v, const struct diff_change *end)
{
    struct hunk h = {.v = v, .n = 1};
    for (; v + h.n < end; h.n++) {
        const struct diff_change *next = v + h.n;
        size_t gap = next->line[0] - (next[-1].line[0] + next[-1].n[0]);
        if (gap >= (next->ignored ? d->context : 2 * d->context + 1))
            break;
    }
    const struct diff_change *last = v + h.n - 1;
    for (unsigned f = 0; f < 2; f++) {
        size_t behind = last->line[f] + last->n[f];
        h.from[f] = v->line[f] - NUM_MIN(v->line[f], d->context);
        h.to[f] = behind + NUM_MIN(d->f[f].n - behind, d->context);
    }
    return h;
}

static bool hunk_counts(const struct hunk *h)
{
    for (size_t i = 0; i < h->n; i++)
        if (!h->v[i].ignored)
            return true;
    return false;
}

static void put_unified_range(struct diff *d, size_t from, size_t to)
{
    if (to - from == 1)
        cmd_printf(d->c, "%zu", to);
    else
        cmd_printf(d->c, "%zu,%zu", to == from ? to : from + 1, to - from);
}

static void print_unified(struct diff *d, const struct hunk *h)
{
    cmd_puts(d->c, "@@ -");
    put_unified_range(d, h->from[0], h->to[0]);
    cmd_puts(d->c, " +");
    put_unified_range(d, h->from[1], h->to[1]);
    cmd_puts(d->c, " @@\n");
    size_t at = h->from[0];
    for (const struct diff_change *c = h->v; c < h->v + h->n; c++) {
        put_lines(d, " ", &d->f[0], at, c->line[0] - at);
        put_lines(d, "-", &d->f[0], c->line[0], c->n[0]);
        put_lines(d, "+", &d->f[1], c->line[1], c->n[1]);
        at = c->line[0] + c->n[0];
    }
    put_lines(d, " ", &d->f[0], at, h->to[0] - at);
}

static void put_context_range(struct diff *d, size_t from, size_t to)
{
    if (to > from + 1)
        cmd_printf(d->c, "%zu,%zu", from + 1, to);
    else
        cmd_printf(d->c, "%zu", to);
}

/* One file's lines of a hunk; none when nothing changed in it. */
static void print_context_side(struct diff *d, const struct hunk *h, unsigned f)
{
    size_t at = h->from[f], n = 0;
    for (size_t i = 0; i < h->n; i++)
        n += h->v[i].n[f];
    if (n == 0)
        return;
    for (const struct diff_change *c = h->v; c < h->v + h->n; c++) {
        put_lines(d, "  ", &d->f[f], at, c->line[f] - at);
        put_lines(d, c->n[!f] ? "! " : f ? "+ " : "- ", &d->f[f], c->line[f], c->n[f]);
        at = c->line[f] + c->n[f];
    }
    put_lines(d, "  ", &d->f[f], at, h->to[f] - at);
}

static void print_context(struct diff *d, const struct hunk *h)
{
    cmd_puts(d->c, "***************\n*** ");
    put_context_range(d, h->from[0], h->to[0]);
    cmd_puts(d->c, " ****\n");
    print_context_side(d, h, 0);
    cmd_puts(d->c, "--- ");
    put_context_range(d, h->from[1], h->to[1]);
    cmd_puts(d->c, " ----\n");
    print_context_side(d, h, 1);
}

void diff_print(struct diff *d)
{
    const struct diff_change *c = d->changes, *end = c + d->n_changes;
    bool begun = false;
    while (c < end && d->c->out_err == 0) {
        struct hunk h = {.v = c, .n = 1};
        if (d->style != DIFF_NORMAL)
            h = find_hunk(d, c, end);
        c += h.n;
        if (!hunk_counts(&h))
            continue;
        if (!begun)
            begin(d);
        begun = true;
        if (d->style == DIFF_NORMAL)
            print_normal(d, h.v);
        else if (d->style == DIFF_UNIFIED)
            print_unified(d, &h);
        else
            print_context(d, &h);
    }
}
