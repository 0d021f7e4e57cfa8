/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <ctype.h>
#include <errno.h>

#include "base/num.h"
#include "shell/cmd/num.h"

enum { OPT_CHECK = 256, OPT_NOCHECK, OPT_HEADER };

static const struct cmd_opt opts[] = {
    {'i', "ignore-case", CMD_NO_ARG},
    {OPT_CHECK, "check-order", CMD_NO_ARG},
    {OPT_NOCHECK, "nocheck-order", CMD_NO_ARG},
    {'z', "zero-terminated", CMD_NO_ARG},
    {OPT_HEADER, "header", CMD_NO_ARG},
    {'1', NULL, CMD_ARG},
    {'2', NULL, CMD_ARG},
    {'a', NULL, CMD_ARG},
    {'e', NULL, CMD_ARG},
    {'j', NULL, CMD_ARG},
    {'o', NULL, CMD_ARG},
    {'t', NULL, CMD_ARG},
    {'v', NULL, CMD_ARG},
    {0},
};

enum check { CHECK_UNPAIRED, CHECK_ALL, CHECK_NONE };

/* A line that is kept, and its fields once they are asked for. */
struct row {
    struct buf text;
    struct str key;
    struct str *fields;
    size_t n, cap;
    bool split;
};

/* A file, and the lines of it that are compared now: some with equal keys, or one. */
struct side {
    const char *name;
    int fd;
    struct cmd_lines lines;
    uint64_t line_no;
    size_t field; /* the one that is joined on; NO_FIELD: not said */
    bool unpaired; /* lines without a pair are printed */
    bool told;     /* that it is not sorted */
    struct row *rows;
    size_t n, cap;
    size_t last; /* the row that was read last */
    bool any;    /* there is one */
    size_t columns; /* of -o auto */
};

#define NO_FIELD SIZE_MAX

/* An item of -o. */
struct column {
    int file; /* 0: the key */
    size_t field;
};

struct join {
    struct cmd *c;
    struct side s[2];
    bool pairs, fold, header, automatic;
    enum check check;
    bool unpaired_seen;
    int tab; /* -1: blanks */
    char delim;
    const char *filler;
    struct column *columns;
    size_t n_columns, cap_columns;
    int err; /* negative errno of reading, or of memory */
};

/* ---- fields ---- */

struct cursor {
    const char *p, *end;
    bool first;
    bool empty; /* blanks at the end of a line stand before an empty field */
};

static bool is_blank(char ch)
{
    return ch == ' ' || ch == '\t' || ch == '\n';
}

/* The next field of a line; false: there are no more. */
static bool next_field(const struct join *j, struct cursor *k, struct str *ret)
{
    if (j->tab >= 0) {
        if (k->p == k->end && k->first)
            return false;
        if (!k->p)
            return false;
        const char *e = j->tab == '\n' ? NULL : memchr(k->p, j->tab, (size_t)(k->end - k->p));
        *ret = str_of(k->p, (size_t)((e ? e : k->end) - k->p));
        k->p = e ? e + 1 : NULL;
        k->first = false;
        return true;
    }
    const char *p = k->p;
    while (k->first && p < k->end && is_blank(*p))
        p++;
    k->first = false;
    if (p == k->end && !k->empty)
        return false;
    const char *start = p;
    while (p < k->end && !is_blank(*p))
        p++;
    *ret = str_of(start, (size_t)(p - start));
    k->empty = p < k->end;
    while (p < k->end && is_blank(*p))
        p++;
    k->empty &= p == k->end;
    k->p = p;
    return true;
}

static struct cursor start_of(struct str line)
{
    return (struct cursor){line.p, line.p + line.n, true, false};
}

/* The field that @line is joined on; empty when it has none. */
static struct str key_of(const struct join *j, const struct side *s, struct str line)
{
    struct cursor k = start_of(line);
    struct str f;
    for (size_t i = 0; next_field(j, &k, &f); i++)
        if (i == s->field)
            return f;
    return str_of("", 0);
}

static int compare(const struct join *j, struct str a, struct str b)
{
    if (!j->fold)
        return str_cmp(a, b);
    for (size_t i = 0; i < a.n && i < b.n; i++) {
        int d = toupper((unsigned char)a.p[i]) - toupper((unsigned char)b.p[i]);
        if (d != 0)
            return d;
    }
    return (a.n > b.n) - (a.n < b.n);
}

static void split(struct join *j, struct row *r)
{
    struct cursor k = start_of(buf_str(&r->text));
    struct str f;
    if (r->split)
        return;
    r->n = 0;
    while (next_field(j, &k, &f)) {
        if (r->n == r->cap) {
            size_t cap = r->cap ? 2 * r->cap : 16;
            struct str *v = mem_try_realloc(r->fields, cap * sizeof *v);
            if (!v) {
                j->err = -ENOMEM;
                return;
            }
            r->fields = v;
            r->cap = cap;
        }
        r->fields[r->n++] = f;
    }
    r->split = true;
}

/* ---- reading ---- */

/* A row behind the side's last one, or NULL. */
static struct row *new_row(struct side *s)
{
    if (s->n == s->cap) {
        size_t cap = s->cap ? 2 * s->cap : 4;
        struct row *v = mem_try_realloc(s->rows, cap * sizeof *v);
        if (!v)
            return NULL;
        for (size_t i = s->cap; i < cap; i++) {
            v[i] = (struct row){0};
            buf_init(&v[i].text, LIMIT_LINE);
        }
        s->rows = v;
        s->cap = cap;
    }
    return &s->rows[s->n++];
}

/* Tells when @line must not come behind the one before. False: that ends it all. */
static bool in_order(struct join *j, int which, struct str line, struct str key)
{
    struct side *s = &j->s[which];
    if (!s->any || s->told || j->check == CHECK_NONE || (j->check == CHECK_UNPAIRED && !j->unpaired_seen))
        return true;
    if (compare(j, s->rows[s->last].key, key) <= 0)
        return true;
    int n = (int)NUM_MIN(line.n, (size_t)INT32_MAX);
    cmd_err(j->c, "%s:%llu: is not sorted: %.*s", s->name, (unsigned long long)s->line_no, n, line.p);
    s->told = true;
    return j->check != CHECK_ALL;
}

/* Reads a line into a side: behind the rows there are, or alone when @alone. 1, 0 at the end, -1 when all must end. */
static int advance(struct join *j, int which, bool alone)
{
    struct side *s = &j->s[which];
    struct str line;
    int r = cmd_lines_next(&s->lines, &line, NULL);
    if (alone)
        s->n = 0;
    if (r <= 0) {
        j->err = r;
        return r < 0 ? -1 : 0;
    }
    s->line_no++;
    struct str key = key_of(j, s, line);
    if (!in_order(j, which, line, key))
        return -1;
    struct row *row = new_row(s);
    if (!row) {
        j->err = -ENOMEM;
        return -1;
    }
    buf_clear(&row->text);
    if (buf_add(&row->text, line.p, line.n) < 0) {
        j->err = -ENOMEM;
        return -1;
    }
    row->key = key.n ? str_of(row->text.p + (key.p - line.p), key.n) : key;
    row->split = false;
    s->last = s->n - 1;
    s->any = true;
    return 1;
}

/* ---- printing ---- */

static void put_sep(struct join *j)
{
    cmd_putc(j->c, j->tab < 0 ? ' ' : (char)j->tab);
}

/* A field, or what stands for an empty one; @r NULL: the line is not there. */
static void put_field(struct join *j, struct row *r, size_t field)
{
    struct str f = {0};
    if (r)
        split(j, r);
    if (r && field < r->n)
        f = r->fields[field];
    if (f.n)
        cmd_write(j->c, f.p, f.n);
    else if (j->filler)
        cmd_puts(j->c, j->filler);
}

/* All fields but the one that is joined on. */
static void put_others(struct join *j, const struct side *s, struct row *r)
{
    if (!r && !j->automatic)
        return;
    if (r)
        split(j, r);
    size_t n = j->automatic ? s->columns : r->n;
    for (size_t i = 0; i < n && j->c->out_err == 0; i++) {
        if (i == s->field)
            continue;
        put_sep(j);
        put_field(j, r, i);
    }
}

/* The line of a pair; one of the two may be NULL. */
static void put_pair(struct join *j, struct row *a, struct row *b)
{
    struct row *keyed = a ? a : b;
    size_t key = a ? j->s[0].field : j->s[1].field;
    if (j->n_columns == 0) {
        put_field(j, keyed, key);
        put_others(j, &j->s[0], a);
        put_others(j, &j->s[1], b);
    }
    for (size_t i = 0; i < j->n_columns; i++) {
        const struct column *o = &j->columns[i];
        if (i > 0)
            put_sep(j);
        if (o->file == 0)
            put_field(j, keyed, key);
        else
            put_field(j, o->file == 1 ? a : b, o->field);
    }
    cmd_putc(j->c, j->delim);
}

static void put_single(struct join *j, int which)
{
    struct row *r = &j->s[which].rows[0];
    put_pair(j, which == 0 ? r : NULL, which == 0 ? NULL : r);
}

/* ---- the join ---- */

/* Reads on while keys equal the other side's first: 1 when a row with another key ends the side's rows, 0 when the file
 * did, -1 when all must end. */
static int gather(struct join *j, int which)
{
    const struct side *s = &j->s[which];
    for (;;) {
        int r = advance(j, which, false);
        if (r <= 0)
            return r;
        if (compare(j, s->rows[s->n - 1].key, j->s[!which].rows[0].key) != 0)
            return 1;
    }
}

/* What is left of a side after its rows with equal keys: the row behind them, if there is one. */
static void keep_last(struct side *s, bool more)
{
    if (more) {
        struct row r = s->rows[0];
        s->rows[0] = s->rows[s->n - 1];
        s->rows[s->n - 1] = r;
    }
    s->n = more;
    s->last = 0;
}

/* Both sides stand at equal keys: false when all must end. */
static bool join_equal(struct join *j)
{
    int more[2];
    size_t n[2];
    for (int i = 0; i < 2; i++) {
        more[i] = gather(j, i);
        if (more[i] < 0)
            return false;
        n[i] = j->s[i].n - (size_t)more[i];
    }
    for (size_t a = 0; j->pairs && a < n[0]; a++)
        for (size_t b = 0; b < n[1]; b++) {
            if (j->c->out_err != 0 || j->err < 0 || cmd_poll(j->c) < 0)
                return false;
            put_pair(j, &j->s[0].rows[a], &j->s[1].rows[b]);
        }
    for (int i = 0; i < 2; i++)
        keep_last(&j->s[i], more[i] > 0);
    return true;
}

/* One side has ended: the rest of the other has no pairs. False when all must end. */
static bool rest(struct join *j, int which)
{
    struct side *s = &j->s[which];
    bool look = s->unpaired || (j->check != CHECK_NONE && !(j->s[0].told && j->s[1].told));
    if (!look || s->n == 0)
        return true;
    if (s->unpaired)
        put_single(j, which);
    if (j->s[!which].n > 0)
        j->unpaired_seen = true;
    while (j->c->out_err == 0 && cmd_poll(j->c) == 0) {
        int r = advance(j, which, true);
        if (r <= 0)
            return r == 0;
        if (s->unpaired)
            put_single(j, which);
        if (s->told && !s->unpaired)
            break;
    }
    return true;
}

/* The first lines are headers: joined whatever they say. False when all must end. */
static bool join_headers(struct join *j)
{
    struct side *s = j->s;
    if (s[0].n == 0 && s[1].n == 0)
        return true;
    put_pair(j, s[0].n ? s[0].rows : NULL, s[1].n ? s[1].rows : NULL);
    for (int i = 0; i < 2; i++) {
        s[i].any = false;
        if (s[i].n > 0 && advance(j, i, true) < 0)
            return false;
    }
    return true;
}

static bool join_all(struct join *j)
{
    struct side *s = j->s;
    for (int i = 0; i < 2; i++) {
        if (advance(j, i, true) < 0)
            return false;
        if (j->automatic && s[i].n > 0) {
            split(j, s[i].rows);
            s[i].columns = s[i].rows[0].n;
        }
    }
    if (j->header && !join_headers(j))
        return false;
    while (s[0].n > 0 && s[1].n > 0 && j->c->out_err == 0 && j->err == 0) {
        if (cmd_poll(j->c) < 0)
            return false;
        int d = compare(j, s[0].rows[0].key, s[1].rows[0].key);
        if (d == 0) {
            if (!join_equal(j))
                return false;
            continue;
        }
        int which = d > 0;
        if (s[which].unpaired)
            put_single(j, which);
        if (advance(j, which, true) < 0)
            return false;
        j->unpaired_seen = true;
    }
    /* The two look at each other's rows, so what ends first is asked first. */
    return rest(j, 0) && rest(j, 1);
}

static int run(struct join *j, char **names)
{
    struct cmd *c = j->c;
    bool ok = true;
    for (int i = 0; i < 2; i++) {
        struct side *s = &j->s[i];
        s->name = names[i];
        s->fd = cmd_open_input(c, s->name);
        if (s->fd < 0) {
            cmd_errno(c, s->fd, "%s", cmd_quote(c, s->name, false));
            ok = false;
            break;
        }
        cmd_lines_init(&s->lines, c, s->fd, j->delim);
    }
    if (ok) {
        ok = join_all(j);
        if (j->err == -ENOMEM)
            cmd_no_memory(c);
        else if (j->err < 0)
            cmd_errno(c, j->err, "read error");
        else if (ok && (j->s[0].told || j->s[1].told))
            cmd_err(c, "input is not in sorted order");
        ok &= j->err == 0 && !j->s[0].told && !j->s[1].told;
    }
    for (int i = 0; i < 2; i++) {
        struct side *s = &j->s[i];
        cmd_lines_done(&s->lines);
        cmd_close_input(c, s->fd);
        for (size_t k = 0; k < s->cap; k++) {
            buf_done(&s->rows[k].text);
            mem_free(s->rows[k].fields);
        }
        mem_free(s->rows);
    }
    return !ok;
}

/* ---- options ---- */

/* A field's number, less one: 0, or -1 after a message. */
static int field_number(struct cmd *c, const char *text, size_t *ret)
{
    uint64_t v = 0;
    enum num_status st = num_u64(text, NULL, &v);
    if (st == NUM_OVERFLOW)
        v = NO_FIELD;
    else if (st != NUM_OK || v == 0)
        return cmd_err(c, "invalid field number: %s", cmd_quote_loc(c, text)), -1;
    *ret = (size_t)v - 1;
    return 0;
}

static int set_field(struct cmd *c, struct side *s, const char *text)
{
    size_t v;
    if (field_number(c, text, &v) < 0)
        return -1;
    if (s->field != NO_FIELD && s->field != v) {
        cmd_err(c, "incompatible join fields %zu, %zu", s->field + 1, v + 1);
        return -1;
    }
    s->field = v;
    return 0;
}

static int add_column(struct join *j, const char *text)
{
    struct cmd *c = j->c;
    struct column o = {.file = text[0] - '0'};
    if (text[0] < '0' || text[0] > '2') {
        cmd_err(c, "invalid file number in field spec: %s", cmd_quote_loc(c, text));
        return -1;
    }
    if (text[1] != (o.file == 0 ? 0 : '.')) {
        cmd_err(c, "invalid field specifier: %s", cmd_quote_loc(c, text));
        return -1;
    }
    if (o.file > 0 && field_number(c, text + 2, &o.field) < 0)
        return -1;
    if (j->n_columns == j->cap_columns) {
        size_t cap = j->cap_columns ? 2 * j->cap_columns : 16;
        struct column *v = arena_alloc(c->arena, cap * sizeof *v);
        if (j->n_columns)
            memcpy(v, j->columns, j->n_columns * sizeof *v);
        j->columns = v;
        j->cap_columns = cap;
    }
    j->columns[j->n_columns++] = o;
    return 0;
}

static int add_columns(struct join *j, const char *list)
{
    if (strcmp(list, "auto") == 0) {
        j->automatic = true;
        return 0;
    }
    for (;;) {
        size_t n = strcspn(list, ", \t");
        if (add_column(j, arena_dup(j->c->arena, list, n)) < 0)
            return -1;
        if (!list[n])
            return 0;
        list += n + 1;
    }
}

static int set_tab(struct join *j, const char *text)
{
    struct cmd *c = j->c;
    int tab = (unsigned char)text[0];
    if (tab == 0)
        tab = '\n';
    else if (text[1] && strcmp(text, "\\0") == 0)
        tab = 0;
    else if (text[1])
        return cmd_err(c, "multi-character tab %s", cmd_quote_loc(c, text)), -1;
    if (j->tab >= 0 && j->tab != tab)
        return cmd_err(c, "incompatible tabs"), -1;
    j->tab = tab;
    return 0;
}

static int set_filler(struct join *j, const char *text)
{
    if (j->filler && strcmp(j->filler, text) != 0)
        return cmd_err(j->c, "conflicting empty-field replacement strings"), -1;
    j->filler = text;
    return 0;
}

/* One option: 0, or -1 after a message. *ret_old: it may be the old form, of which operands may be part. */
static int option(struct join *j, int o, bool *ret_old)
{
    struct cmd *c = j->c;
    uint64_t which = 0;
    switch (o) {
    case '1':
    case '2':
        return set_field(c, &j->s[o - '1'], c->optarg);
    case 'j':
        *ret_old = true;
        return set_field(c, &j->s[0], c->optarg) < 0 ? -1 : set_field(c, &j->s[1], c->optarg);
    case 'o':
        *ret_old = true;
        return add_columns(j, c->optarg);
    case 'a':
    case 'v':
        if (num_u64(c->optarg, NULL, &which) != NUM_OK || which < 1 || which > 2)
            return cmd_err(c, "invalid field number: %s", cmd_quote_loc(c, c->optarg)), -1;
        j->s[which - 1].unpaired = true;
        j->pairs &= o != 'v';
        return 0;
    case 'e':
        return set_filler(j, c->optarg);
    case 't':
        return set_tab(j, c->optarg);
    case 'i':
        j->fold = true;
        return 0;
    case 'z':
        j->delim = 0;
        return 0;
    case OPT_HEADER:
        j->header = true;
        return 0;
    default:
        j->check = o == OPT_CHECK ? CHECK_ALL : CHECK_NONE;
        return 0;
    }
}

static int join_main(struct cmd *c)
{
    struct join j = {.c = c, .s = {{.field = NO_FIELD}, {.field = NO_FIELD}}, .pairs = true, .tab = -1, .delim = '\n'};
    bool old = false;
    for (int o; (o = cmd_getopt(c, opts, false)) != -1;) {
        if (o == -2)
            return cmd_usage_status(c);
        if (option(&j, o, &old) < 0)
            return 1;
    }
    char **v = c->argv + c->optind;
    int n = c->argc - c->optind;
    if (n > 2 && old)
        return cmd_refuse(c, "an option with several words is not implemented here");
    if (n == 0)
        return cmd_missing(c);
    if (n == 1)
        return cmd_usage_error(c, "missing operand after %s", cmd_quote_loc(c, v[0]));
    if (n > 2)
        return cmd_usage_error(c, "extra operand %s", cmd_quote(c, v[2], true));
    if (strcmp(v[0], "-") == 0 && strcmp(v[1], "-") == 0)
        return cmd_refuse(c, "standard input as both files is not implemented here");
    for (int i = 0; i < 2; i++)
        if (j.s[i].field == NO_FIELD)
            j.s[i].field = 0;
    return run(&j, v);
}

CMD(join, join_main, 1, "Usage: join [OPTION]... FILE1 FILE2\n",
    "Prints pairs of lines that have a field in common; both files are sorted by it.\n"
    "  -1 FIELD, -2 FIELD, -j FIELD  the field of the first, the second, of both; 1 without them\n"
    "  -a FILENUM             lines of FILE 1 or 2 without a pair, too\n"
    "      --check-order      order is checked whether lines have pairs or not\n"
    "  -e STRING              for fields that are empty or missing\n"
    "      --header           the first lines are headers and not compared\n"
    "  -i, --ignore-case      capitals are as small letters\n"
    "      --nocheck-order    order is not checked\n"
    "  -o FORMAT              what is printed: FILENUM.FIELD, 0 (the field in common), with ',' between, or auto\n"
    "  -t CHAR                between fields, not blanks\n"
    "  -v FILENUM             as -a, and no pairs\n"
    "  -z, --zero-terminated  lines end with NUL\n");
