/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/ls_int.h"

#include <errno.h>
#include <sys/sysmacros.h>

#include "base/num.h"
#include "shell/cmd/wide.h"

/* Narrowest column of names: one letter and two blanks. */
#define COLUMN_MIN 3

/* A time in this many seconds before now (and not after it) is recent: half of an average year. */
#define RECENT_S INT64_C(15778476)

int64_t ls__time(const struct ls *l, const struct vfs_stat *st)
{
    switch (l->time) {
    case LS_CTIME:
        return st->ctime;
    case LS_ATIME:
        return st->atime;
    case LS_BTIME:
        return st->btime;
    case LS_MTIME:
        break;
    }
    return st->mtime;
}

/* ---- names ---- */

size_t ls__columns(const struct ls *l, struct str s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n;) {
        uint32_t ch;
        unsigned char b = (unsigned char)s.p[i];
        size_t len = l->quote.utf8 && b >= 0x80 ? wide_decode(s.p + i, s.n - i, &ch) : 0;
        if (len > 0) {
            int w = wide_width(ch);
            n += w > 0 ? (unsigned)w : 0;
        } else {
            n += b >= 0x20 && b < 0x7f;
        }
        i += len > 0 ? len : 1;
    }
    return n;
}

/* -q: '?' for what does not print. */
static void hide_control(struct ls *l, struct buf *b)
{
    size_t to = 0;
    for (size_t i = 0; i < b->n;) {
        uint32_t ch = (unsigned char)b->p[i];
        size_t len = 1;
        if (ch >= 0x80 && l->quote.utf8)
            len = wide_decode(b->p + i, b->n - i, &ch);
        bool prints = ch < 0x80 ? ch >= 0x20 && ch < 0x7f : l->quote.utf8 && len > 0 && wide_width(ch) >= 0;
        if (prints) {
            memmove(b->p + to, b->p + i, len);
            to += len;
        } else {
            b->p[to++] = '?';
        }
        i += len > 0 ? len : 1;
    }
    buf_trunc(b, to);
}

static struct str quote_text(struct ls *l, const char *text, const struct quote_opts *o)
{
    buf_clear(&l->scratch);
    quote_add(&l->scratch, str_c(text), o);
    if (l->hide_control)
        hide_control(l, &l->scratch);
    return buf_str(&l->scratch);
}

/* Most names are plain: nothing to quote, a column a byte. */
static bool is_plain(const struct ls *l, const char *s, size_t *ret_n)
{
    const char *p = s;
    if (l->quote.style == QUOTE_SHELL_ALWAYS || l->quote.style >= QUOTE_SHELL_ESCAPE_ALWAYS)
        return false;
    while ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') || *p == '.' || *p == '_' ||
           *p == '-' || *p == '/')
        p++;
    *ret_n = (size_t)(p - s);
    return *p == 0 && p > s;
}

struct str ls__quote(struct ls *l, struct ls_file *f)
{
    size_t n;
    if (is_plain(l, f->name, &n)) {
        f->quoted = 0;
        f->width = (uint32_t)n;
        return str_of(f->name, n);
    }
    struct str s = quote_text(l, f->name, &l->quote);
    f->quoted = s.n > 0 && s.p[0] != f->name[0];
    f->width = (uint32_t)ls__columns(l, s);
    return s;
}

static bool pads(const struct ls *l, const struct ls_file *f)
{
    return l->align_quotes && l->some_quoted && f->quoted == 0;
}

static char mark_of(const struct ls *l, uint32_t mode)
{
    if (S_ISREG(mode))
        return l->indicator == LS_CLASSIFY && (mode & 0111) ? '*' : 0;
    if (S_ISDIR(mode))
        return '/';
    if (l->indicator == LS_SLASH)
        return 0;
    return S_ISLNK(mode) ? '@' : S_ISFIFO(mode) ? '|' : S_ISSOCK(mode) ? '=' : 0;
}

/* Prints the name (or the link's target) with its colour; @from is its column on the line. */
static void put_name(struct ls *l, struct ls_file *f, bool target, size_t from)
{
    struct str s = target ? quote_text(l, f->target, &l->quote) : ls__quote(l, f);
    size_t len = s.n;
    if (!target && pads(l, f)) {
        cmd_putc(l->c, ' ');
        len++;
    }
    bool colored = l->color && ls__color_begin(l, f, target);
    cmd_write(l->c, s.p, s.n);
    if (colored)
        ls__color_end(l, from, len);
}

static void put_mark(struct ls *l, uint32_t mode)
{
    char ch = l->indicator == LS_NO_MARK ? 0 : mark_of(l, mode);
    if (ch)
        cmd_putc(l->c, ch);
}

static uint32_t mode_of(const struct ls_file *f)
{
    return f->st ? f->st->mode : f->type;
}

/* ---- numbers ---- */

static void put_right(struct ls *l, const char *s, int width)
{
    for (int n = (int)strlen(s); n < width; n++)
        cmd_putc(l->c, ' ');
    cmd_puts(l->c, s);
    cmd_putc(l->c, ' ');
}

static const char *number(uint64_t v, char text[24])
{
    return num_u64_text(v, text);
}

static const char *blocks_text(const struct ls *l, const struct ls_file *f, char text[NUM_TEXT])
{
    return f->st ? num_human_text(f->st->blocks, 512, &l->human, text) : "?";
}

static const char *inode_text(const struct ls_file *f, char text[24])
{
    return f->ino ? number(f->ino, text) : "?";
}

/* Owner or group: the name, or NULL when the number is shown. */
static const char *id_name(const struct ls *l, bool group, uint32_t id)
{
    if (l->numeric)
        return NULL;
    return group ? cmd_group_name(l->c, id) : cmd_user_name(l->c, id);
}

static int id_width(const struct ls *l, bool group, uint32_t id)
{
    char text[24];
    const char *name = id_name(l, group, id);
    return name ? (int)ls__columns(l, str_c(name)) : (int)strlen(number(id, text));
}

/* Names are left-aligned, numbers right. */
static void put_id(struct ls *l, const struct ls_file *f, bool group, uint32_t id, int width)
{
    char text[24];
    const char *name = f->st ? id_name(l, group, id) : "?";
    if (!name) {
        put_right(l, number(id, text), width);
        return;
    }
    cmd_puts(l->c, name);
    for (int n = (int)ls__columns(l, str_c(name)); n < width; n++)
        cmd_putc(l->c, ' ');
    cmd_putc(l->c, ' ');
}

static void widen(int *w, size_t n)
{
    if ((int)n > *w)
        *w = (int)n;
}

static void measure_size(struct ls *l, const struct vfs_stat *st)
{
    char text[NUM_TEXT];
    if (S_ISCHR(st->mode) || S_ISBLK(st->mode)) {
        widen(&l->w.major, strlen(number(major(st->rdev), text)));
        widen(&l->w.minor, strlen(number(minor(st->rdev), text)));
        widen(&l->w.size, (size_t)(l->w.major + 2 + l->w.minor));
    } else {
        widen(&l->w.size, strlen(num_human_text(st->size, 1, &l->size_human, text)));
    }
}

void ls__measure(struct ls *l, const struct ls_file *f)
{
    char text[NUM_TEXT];
    if (l->inode)
        widen(&l->w.ino, strlen(inode_text(f, text)));
    if (l->blocks)
        widen(&l->w.blocks, strlen(blocks_text(l, f, text)));
    if (l->format != LS_LONG || !f->st) {
        if (l->format == LS_LONG) {
            widen(&l->w.nlink, 1);
            widen(&l->w.owner, 1);
            widen(&l->w.group, 1);
            widen(&l->w.author, 1);
            widen(&l->w.size, 1);
        }
        return;
    }
    widen(&l->w.nlink, strlen(number(f->st->nlink, text)));
    if (!l->no_owner)
        widen(&l->w.owner, (size_t)id_width(l, false, f->st->uid));
    if (!l->no_group)
        widen(&l->w.group, (size_t)id_width(l, true, f->st->gid));
    if (l->author)
        widen(&l->w.author, (size_t)id_width(l, false, f->st->uid));
    measure_size(l, f->st);
}

/* ---- long lines ---- */

static void put_size(struct ls *l, const struct ls_file *f)
{
    char text[NUM_TEXT];
    if (!f->st) {
        put_right(l, "?", l->w.size);
    } else if (S_ISCHR(f->st->mode) || S_ISBLK(f->st->mode)) {
        int extra = l->w.size - (l->w.major + 2 + l->w.minor);
        const char *s = number(major(f->st->rdev), text);
        for (int n = (int)strlen(s); n < l->w.major + extra; n++)
            cmd_putc(l->c, ' ');
        cmd_puts(l->c, s);
        cmd_write(l->c, ", ", 2);
        put_right(l, number(minor(f->st->rdev), text), l->w.minor);
    } else {
        put_right(l, num_human_text(f->st->size, 1, &l->size_human, text), l->w.size);
    }
}

/* Columns of the time field, for files without one. */
static int time_width(struct ls *l)
{
    struct cmd_time t;
    struct buf b;
    buf_init(&b, 1u << 20);
    cmd_localtime(l->c, 0, false, &t);
    cmd_strftime(l->c, &b, l->time_old, &t, 0, 0);
    int n = (int)ls__columns(l, buf_str(&b));
    buf_done(&b);
    return n;
}

static void put_time(struct ls *l, const struct ls_file *f)
{
    if (!f->st || ls__time(l, f->st) == INT64_MIN) {
        put_right(l, "?", time_width(l));
        return;
    }
    int64_t at = ls__time(l, f->st), s = at / 1000000000, ns = at % 1000000000;
    struct cmd_time t;
    if (ns < 0) {
        ns += 1000000000;
        s--;
    }
    if (at > l->now)
        l->now = proc_wall(l->c->p->ps);
    bool recent = at <= l->now && at > l->now - RECENT_S * 1000000000;
    cmd_localtime(l->c, s, false, &t);
    buf_clear(&l->scratch);
    cmd_strftime(l->c, &l->scratch, recent ? l->time_recent : l->time_old, &t, s, (uint32_t)ns);
    cmd_write(l->c, l->scratch.p, l->scratch.n);
    cmd_putc(l->c, ' ');
}

/* Inode and blocks, which come first in every format. */
static void put_front(struct ls *l, const struct ls_file *f, bool align)
{
    char text[NUM_TEXT];
    if (l->inode)
        put_right(l, inode_text(f, text), align ? l->w.ino : 0);
    if (l->blocks)
        put_right(l, blocks_text(l, f, text), align ? l->w.blocks : 0);
}

static char type_letter(uint32_t type)
{
    char mode[11];
    cmd_mode_text(type, mode);
    return mode[0];
}

static void put_long(struct ls *l, struct ls_file *f)
{
    struct cmd *c = l->c;
    char mode[11] = "?????????", text[24];
    if (c->out.n > CMD_BLOCK / 2)
        cmd_flush(c); /* so that the line's column can be told from c->out.n */
    ls__color_plain(l);
    size_t before = c->out.n;
    if (f->st)
        cmd_mode_text(f->st->mode, mode);
    else
        snprintf(mode, sizeof mode, "%c?????????", type_letter(f->type));
    put_front(l, f, true);
    cmd_puts(c, mode);
    cmd_putc(c, ' ');
    put_right(l, f->st ? number(f->st->nlink, text) : "?", l->w.nlink);
    if (!l->no_owner)
        put_id(l, f, false, f->st ? f->st->uid : 0, l->w.owner);
    if (!l->no_group)
        put_id(l, f, true, f->st ? f->st->gid : 0, l->w.group);
    if (l->author)
        put_id(l, f, false, f->st ? f->st->uid : 0, l->w.author);
    put_size(l, f);
    put_time(l, f);
    size_t from = c->out.n > before ? c->out.n - before : 0;
    put_name(l, f, false, from);
    if (S_ISLNK(mode_of(f)) && f->target) {
        cmd_write(c, " -> ", 4);
        put_name(l, f, true, from + f->width + 4);
        if (f->target_ok)
            put_mark(l, f->target_mode);
    } else {
        put_mark(l, mode_of(f));
    }
    cmd_putc(c, l->eol);
}

/* ---- short lines ---- */

static size_t short_width(struct ls *l, struct ls_file *f)
{
    char text[NUM_TEXT];
    size_t n = 0;
    if (f->width == UINT32_MAX)
        ls__quote(l, f);
    if (l->inode)
        n += 1 + (l->format == LS_COMMAS ? strlen(inode_text(f, text)) : (size_t)l->w.ino);
    if (l->blocks)
        n += 1 + (l->format == LS_COMMAS ? strlen(blocks_text(l, f, text)) : (size_t)l->w.blocks);
    n += f->width + pads(l, f);
    if (l->indicator != LS_NO_MARK && mark_of(l, mode_of(f)))
        n++;
    return n;
}

static void put_short(struct ls *l, struct ls_file *f, size_t from)
{
    ls__color_plain(l);
    put_front(l, f, l->format != LS_COMMAS);
    put_name(l, f, false, from);
    put_mark(l, mode_of(f));
}

/* Blanks and tabs from column @from to @to. */
static void indent(struct ls *l, size_t from, size_t to)
{
    while (from < to) {
        if (l->tab != 0 && to / l->tab > (from + 1) / l->tab) {
            cmd_putc(l->c, '\t');
            from += l->tab - from % l->tab;
        } else {
            cmd_putc(l->c, ' ');
            from++;
        }
    }
}

/* Widths of @cols columns in @w: false when they do not fit on a line. As in the real tool only a name that widens its
 * column is compared with the line. */
static bool fit(const struct ls *l, const size_t *lens, size_t cols, bool down, size_t *w)
{
    size_t total = cols * COLUMN_MIN, rows = (l->n + cols - 1) / cols;
    for (size_t k = 0; k < cols; k++)
        w[k] = COLUMN_MIN;
    for (size_t i = 0; i < l->n; i++) {
        size_t k = down ? i / rows : i % cols;
        size_t len = lens[i] + (k == cols - 1 ? 0 : 2);
        if (len > w[k]) {
            total += len - w[k];
            w[k] = len;
            if (l->line && total >= l->line)
                return false;
        }
    }
    return true;
}

/* The most columns that fit. A bound from the shortest names spares trying what cannot. */
static size_t choose_columns(const struct ls *l, const size_t *lens, bool down, size_t *w)
{
    size_t most = l->line ? l->line / COLUMN_MIN + (l->line % COLUMN_MIN != 0) : l->n;
    size_t total = 0;
    for (size_t i = 0; i < l->n; i++)
        total += lens[i] + 2;
    most = NUM_MAX(NUM_MIN(most, l->n), 1);
    if (l->line == 0 && total > 0)
        most = l->n;
    for (size_t cols = most; cols > 1 && cmd_poll(l->c) == 0; cols--)
        if (fit(l, lens, cols, down, w))
            return cols;
    fit(l, lens, 1, down, w);
    return 1;
}

static void print_columns(struct ls *l, bool down)
{
    size_t *lens = mem_try(l->n * sizeof *lens), *w = mem_try((l->n + 1) * sizeof *w);
    if (!lens || !w) {
        mem_free(lens);
        mem_free(w);
        l->status = cmd_no_memory(l->c);
        return;
    }
    for (size_t i = 0; i < l->n; i++)
        lens[i] = short_width(l, &l->files[i]);
    size_t cols = choose_columns(l, lens, down, w), rows = (l->n + cols - 1) / cols;
    for (size_t r = 0; r < rows && cmd_poll(l->c) == 0; r++) {
        size_t pos = 0;
        for (size_t k = 0; k < cols; k++) {
            size_t i = down ? k * rows + r : r * cols + k;
            size_t next = down ? i + rows : i + 1;
            if (i >= l->n)
                break;
            put_short(l, &l->files[i], pos);
            if (k + 1 == cols || next >= l->n)
                break;
            indent(l, pos + lens[i], pos + w[k]);
            pos += w[k];
        }
        cmd_putc(l->c, l->eol);
    }
    mem_free(lens);
    mem_free(w);
}

static void print_commas(struct ls *l, char sep)
{
    size_t pos = 0;
    for (size_t i = 0; i < l->n && cmd_poll(l->c) == 0; i++) {
        size_t len = l->line ? short_width(l, &l->files[i]) : 0;
        if (i > 0) {
            bool fits = !l->line || pos + len + 2 < l->line;
            pos = fits ? pos + 2 : 0;
            cmd_putc(l->c, sep);
            cmd_putc(l->c, fits ? ' ' : l->eol);
        }
        put_short(l, &l->files[i], pos);
        pos += len;
    }
    if (l->n > 0)
        cmd_putc(l->c, l->eol);
}

void ls__print(struct ls *l)
{
    switch (l->format) {
    case LS_LONG:
        for (size_t i = 0; i < l->n && cmd_poll(l->c) == 0; i++)
            put_long(l, &l->files[i]);
        break;
    case LS_SINGLE:
        for (size_t i = 0; i < l->n && cmd_poll(l->c) == 0; i++) {
            put_short(l, &l->files[i], 0);
            cmd_putc(l->c, l->eol);
        }
        break;
    case LS_COLUMNS:
    case LS_ACROSS:
        if (l->n == 0)
            break;
        if (l->line == 0)
            print_commas(l, ' ');
        else
            print_columns(l, l->format == LS_COLUMNS);
        break;
    case LS_COMMAS:
        print_commas(l, ',');
        break;
    }
}

void ls__print_header(struct ls *l, const char *path)
{
    struct str s = quote_text(l, path, &l->dir_quote);
    cmd_write(l->c, s.p, s.n);
    cmd_write(l->c, ":\n", 2);
}
