/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/find_int.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>

#include "base/num.h"
#include "shell/cmd/num.h"

/* Wider fields than this are refused: the real tool would print blanks for hours. */
#define FIELD_MAX (1 << 20)

/* ---- the format ---- */

struct format {
    struct find_parse *ps;
    struct find_seg **end; /* where the next piece goes */
    struct buf text;       /* that is not a piece yet */
    int need;
};

static void add_seg(struct format *k, const struct find_seg *seg)
{
    struct find_seg *s = ARENA_NEW(k->ps->f->c->keep, struct find_seg);
    *s = *seg;
    s->next = NULL;
    *k->end = s;
    k->end = &s->next;
}

/* Makes a piece of the text so far. */
static void end_text(struct format *k)
{
    if (k->text.n > 0)
        add_seg(k, &(struct find_seg){.text = arena_str(k->ps->f->c->keep, buf_str(&k->text))});
    buf_clear(&k->text);
}

/* Behind a backslash; returns what follows it, or NULL after \c. */
static const char *escape(struct format *k, const char *p)
{
    static const char letters[] = "abfnrtv\\", codes[] = "\a\b\f\n\r\t\v\\";
    const char *at = *p ? strchr(letters, *p) : NULL;
    if (*p >= '0' && *p <= '7') {
        unsigned v = 0;
        for (int i = 0; i < 3 && *p >= '0' && *p <= '7'; i++)
            v = v * 8 + (unsigned)(*p++ - '0');
        buf_putc(&k->text, (char)v);
        return p;
    }
    if (at) {
        buf_putc(&k->text, codes[at - letters]);
        return p + 1;
    }
    if (*p == 'c')
        return NULL;
    buf_putc(&k->text, '\\');
    if (*p == 0) {
        cmd_err(k->ps->f->c, "warning: escape `\\' followed by nothing at all");
        return p;
    }
    cmd_err(k->ps->f->c, "warning: unrecognized escape `\\%c'", *p);
    buf_putc(&k->text, *p);
    return p + 1;
}

/* Flags, width and precision at *p: false when they are too large. */
static bool read_field(const char **p, struct find_field *fd)
{
    *fd = (struct find_field){0};
    for (; **p && strchr("-+ 0#", **p); (*p)++) {
        fd->minus |= **p == '-';
        fd->plus |= **p == '+';
        fd->space |= **p == ' ';
        fd->zero |= **p == '0';
        fd->alt |= **p == '#';
    }
    for (; isdigit((unsigned char)**p) && fd->width <= FIELD_MAX; (*p)++)
        fd->width = fd->width * 10 + (**p - '0');
    if (**p == '.') {
        fd->dot = true;
        (*p)++;
        for (; isdigit((unsigned char)**p) && fd->prec <= FIELD_MAX; (*p)++)
            fd->prec = fd->prec * 10 + (**p - '0');
    }
    return fd->width <= FIELD_MAX && fd->prec <= FIELD_MAX;
}

/* What a directive must know; -1: there is no such directive. */
static int need_of(char kind)
{
    if (strchr("dfhHpPZ", kind))
        return NEED_NAME;
    if (kind == 'y')
        return NEED_TYPE;
    return strchr("aAbBcCDgGiklmMnsStTuUY", kind) ? NEED_STAT : -1;
}

/* Behind a percent sign; NULL after a message. */
static const char *directive(struct format *k, const char *p)
{
    struct find *f = k->ps->f;
    struct find_seg seg = {0};
    const char *begin = p - 1;
    if (*p == '%') {
        buf_putc(&k->text, '%');
        return p + 1;
    }
    if (*p == 0) {
        find__bad(f, "error: %% at end of format string");
        return NULL;
    }
    bool fits = read_field(&p, &seg.field);
    seg.kind = *p;
    if (*p == 0 || strchr("{[(", *p)) {
        find__bad(f, "error: the format directive `%%%.1s' is reserved for future use", p);
        return NULL;
    }
    if (!fits || *p == '%' || *p == 'F') {
        f->status =
            cmd_refuse(f->c, "the format directive '%.*s' is not implemented here", (int)(p + 1 - begin), begin);
        return NULL;
    }
    int need = need_of(*p);
    if (need < 0) {
        cmd_err(f->c, "warning: unrecognized format directive `%%%c'", *p);
    } else if (strchr("ABCT", *p)) {
        seg.aux = p[1];
        if (p[1] == 0)
            cmd_err(f->c, "warning: format directive `%%%c' should be followed by another character", *p);
        else
            p++;
    }
    p++;
    if (need < 0 || (strchr("ABCT", seg.kind) && !seg.aux)) {
        buf_add(&k->text, begin, (size_t)(p - begin));
        return p;
    }
    k->need = NUM_MAX(k->need, need);
    end_text(k);
    add_seg(k, &seg);
    return p;
}

static bool parse_format(struct find_parse *ps, const char *p)
{
    struct format k = {.ps = ps, .end = &ps->t->out.segs};
    buf_init(&k.text, SIZE_MAX / 2);
    while (p && *p) {
        if (*p == '\\') {
            p = escape(&k, p + 1);
        } else if (*p == '%') {
            p = directive(&k, p + 1);
        } else {
            size_t n = strcspn(p, "\\%");
            buf_add(&k.text, p, n);
            p += n;
        }
    }
    end_text(&k);
    ps->t->need = k.need;
    buf_done(&k.text);
    return ps->f->status == 0;
}

bool find__arg_printf(struct find_parse *ps, const char *arg)
{
    return parse_format(ps, arg);
}

bool find__arg_fprintf(struct find_parse *ps, const char *arg)
{
    if (ps->i == ps->argc)
        return false;
    const char *format = ps->argv[ps->i++];
    return find__sink(ps->f, arg, &ps->t->out.sink) && parse_format(ps, format);
}

/* ---- fields ---- */

static void blanks(struct buf *out, char ch, int n)
{
    while (n-- > 0)
        buf_putc(out, ch);
}

static void pad_text(struct buf *out, const struct find_field *fd, struct str s)
{
    size_t n = fd->dot ? NUM_MIN(s.n, (size_t)fd->prec) : s.n;
    int fill = n < (size_t)fd->width ? fd->width - (int)n : 0;
    if (!fd->minus)
        blanks(out, ' ', fill);
    buf_add(out, s.p, n);
    if (fd->minus)
        blanks(out, ' ', fill);
}

/* As %d (@sign: what stands in front) and %o. */
static void pad_digits(struct buf *out, const struct find_field *fd, const char *sign, const char *digits)
{
    int n = (int)strlen(digits), zeros = fd->dot && fd->prec > n ? fd->prec - n : 0;
    if (fd->dot && fd->prec == 0 && strcmp(digits, "0") == 0)
        n = 0;
    int all = n + zeros + (int)strlen(sign);
    if (fd->zero && !fd->minus && !fd->dot && fd->width > all) {
        zeros += fd->width - all;
        all = fd->width;
    }
    if (!fd->minus)
        blanks(out, ' ', fd->width - all);
    buf_addc(out, sign);
    blanks(out, '0', zeros);
    buf_add(out, digits, (size_t)n);
    if (fd->minus)
        blanks(out, ' ', fd->width - all);
}

static void pad_number(struct buf *out, const struct find_field *fd, uint64_t v)
{
    char text[24];
    pad_text(out, fd, str_c(num_u64_text(v, text)));
}

/* ---- times ---- */

static void local_text(struct find *f, struct buf *out, const char *fmt, struct find_time at)
{
    struct cmd_time tm;
    cmd_localtime(f->c, at.s, false, &tm);
    cmd_strftime(f->c, out, fmt, &tm, at.s, (uint32_t)at.ns);
}

/* Nanoseconds have a digit too many in the real tool. */
#define FRACTION ".%09d0"

/* %a, and %Ak with @aux 'k'. */
static void time_text(struct find *f, struct buf *out, char aux, struct find_time at)
{
    static const char plain[] = "aAbBcCdDeFgGhHIjklmMnpPrRstuUVwWxyYzZ%";
    switch (aux) {
    case 0:
        local_text(f, out, "%a %b %e %H:%M:%S", at);
        buf_addf(out, FRACTION, (int)at.ns);
        local_text(f, out, " %Y", at);
        return;
    case '@':
        buf_addi(out, at.s);
        break;
    case 'S':
        local_text(f, out, "%S", at);
        break;
    case 'T':
    case 'X':
        local_text(f, out, "%H:%M:%S", at);
        break;
    case '+':
        local_text(f, out, "%Y-%m-%d+%H:%M:%S", at);
        break;
    default:
        if (strchr(plain, aux)) {
            local_text(f, out, (const char[]){'%', aux, 0}, at);
        } else {
            buf_putc(out, '%');
            buf_putc(out, aux);
        }
        return;
    }
    buf_addf(out, FRACTION, (int)at.ns);
}

static void pad_time(struct find *f, struct buf *out, const struct find_seg *s)
{
    BUF_AUTO struct buf b;
    struct find_time at;
    int clock = s->kind == 'a' || s->kind == 'A'   ? CLOCK_A
                : s->kind == 'B'                   ? CLOCK_B
                : s->kind == 'c' || s->kind == 'C' ? CLOCK_C
                                                   : CLOCK_M;
    buf_init(&b, 4096);
    if (find__clock(&f->st, clock, &at))
        time_text(f, &b, s->aux, at);
    pad_text(out, &s->field, buf_str(&b));
}

/* ---- names ---- */

/* %h: all but the last component. The real tool takes one slash off the start points "/", ".//" and "a//", no more. */
static struct str dir_text(const struct find *f)
{
    struct str s = buf_str(&f->path);
    while (s.n > 0 && s.p[s.n - 1] == '/')
        s.n--;
    if (s.n <= 1 && s.n < f->path.n)
        return str_of(f->path.p, f->path.n - 1);
    while (s.n > 0 && s.p[s.n - 1] != '/')
        s.n--;
    if (s.n == 0)
        return STR(".");
    s.n--;
    return s;
}

/* %f: the last component, with one slash when slashes end a start point. */
static struct str base_text(const struct find *f)
{
    struct str s = find__base(f);
    if (s.p + s.n < f->path.p + f->path.n && !str_eqc(s, "/"))
        s.n++;
    return s;
}

/* %P: less the start point. */
static struct str below_text(const struct find *f)
{
    struct str s = str_from(buf_str(&f->path), f->start_n);
    return s.n > 0 && s.p[0] == '/' ? str_from(s, 1) : s;
}

/* %l: where a link leads, or nothing. */
static void link_text(struct find *f, struct buf *out)
{
    struct vfs_ctx ctx = cmd_ctx(f->c);
    int r = f->type == S_IFLNK ? vfs_readlink(f->v, &ctx, f->parent, find__ref(f), out) : 0;
    if (r < 0)
        find__error(f, r);
}

static char type_letter(uint32_t type)
{
    switch (type & S_IFMT) {
    case S_IFREG:
        return 'f';
    case S_IFDIR:
        return 'd';
    case S_IFLNK:
        return 'l';
    case S_IFSOCK:
        return 's';
    case S_IFBLK:
        return 'b';
    case S_IFCHR:
        return 'c';
    case S_IFIFO:
        return 'p';
    default:
        return 'U';
    }
}

/* %Y: the type of what a link leads to. */
static char target_letter(struct find *f)
{
    struct vfs_ctx ctx = cmd_ctx(f->c);
    struct vfs_stat st;
    if (f->type != S_IFLNK)
        return type_letter(f->type);
    int r = vfs_stat(f->v, &ctx, f->parent, find__ref(f), 0, &st);
    if (r == 0)
        return type_letter(st.mode);
    if (r == -ENOENT || r == -ENOTDIR)
        return 'N';
    if (r == -ELOOP)
        return 'L';
    find__error(f, r);
    return '?';
}

/* ---- output ---- */

static void put_name(struct find *f, struct find_sink *sink, const struct find_seg *s)
{
    BUF_AUTO struct buf b, padded;
    struct str text = STR("");
    buf_init(&b, 2 * LIMIT_PATH);
    buf_init(&padded, SIZE_MAX / 2);
    switch (s->kind) {
    case 'f':
        text = base_text(f);
        break;
    case 'h':
        text = dir_text(f);
        break;
    case 'H':
        text = str_of(f->path.p, f->start_n);
        break;
    case 'l':
        link_text(f, &b);
        text = buf_str(&b);
        break;
    case 'P':
        text = below_text(f);
        break;
    default:
        text = buf_str(&f->path);
        break;
    }
    if (s->field.width || s->field.dot) {
        pad_text(&padded, &s->field, text);
        text = buf_str(&padded);
    }
    find__write_name(f, sink, text);
}

/* Share of a file's size that is on disk. */
static double sparseness(const struct vfs_stat *st)
{
    if (st->size == 0)
        return st->blocks == 0 ? 1.0 : -1.0;
    return 512.0 * (double)st->blocks / (double)st->size;
}

static void add_number(struct find *f, struct buf *out, const struct find_seg *s)
{
    const struct vfs_stat *st = &f->st;
    char text[32];
    uint64_t v = s->kind == 'b'   ? st->blocks
                 : s->kind == 'D' ? st->dev
                 : s->kind == 'G' ? st->gid
                 : s->kind == 'i' ? st->ino
                 : s->kind == 'k' ? st->blocks / 2 + st->blocks % 2
                 : s->kind == 'n' ? st->nlink
                 : s->kind == 'U' ? st->uid
                                  : st->size;
    switch (s->kind) {
    case 'd':
        snprintf(text, sizeof text, "%u", f->depth);
        pad_digits(out, &s->field, s->field.plus ? "+" : s->field.space ? " " : "", text);
        break;
    case 'm':
        snprintf(text, sizeof text, s->field.alt && (st->mode & 07777) ? "0%o" : "%o", st->mode & 07777);
        pad_digits(out, &s->field, "", text);
        break;
    default:
        pad_number(out, &s->field, v);
        break;
    }
}

static void add_text(struct find *f, struct buf *out, const struct find_seg *s)
{
    char text[32];
    const char *name = text;
    switch (s->kind) {
    case 'g':
    case 'u':
        name = s->kind == 'g' ? cmd_group_name(f->c, f->st.gid) : cmd_user_name(f->c, f->st.uid);
        if (!name) {
            snprintf(text, sizeof text, "%u", s->kind == 'g' ? f->st.gid : f->st.uid);
            name = text;
        }
        break;
    case 'M':
        cmd_mode_text(f->st.mode, text);
        break;
    case 'S':
        snprintf(text, sizeof text, "%g", sparseness(&f->st));
        break;
    case 'Z': /* no file has one */
        cmd_errno(f->c, -ENODATA, "getfilecon failed: %s", cmd_quote_loc(f->c, f->path.p));
        f->status = 1;
        text[0] = 0;
        break;
    default: /* y, Y */
        text[0] = s->kind == 'y' ? type_letter(f->type) : target_letter(f);
        text[1] = 0;
        break;
    }
    pad_text(out, &s->field, str_c(name));
}

bool find__t_printf(struct find *f, const struct find_test *t)
{
    struct find_sink *sink = t->out.sink;
    struct arena_mark m = arena_mark(f->c->arena);
    BUF_AUTO struct buf b;
    buf_init(&b, SIZE_MAX / 2);
    for (const struct find_seg *s = t->out.segs; s && !f->stop; s = s->next) {
        buf_clear(&b);
        if (s->kind == 0)
            buf_adds(&b, s->text);
        else if (strchr("fhHlpP", s->kind))
            put_name(f, sink, s);
        else if (strchr("aABcCtT", s->kind))
            pad_time(f, &b, s);
        else if (strchr("guMSyYZ", s->kind))
            add_text(f, &b, s);
        else
            add_number(f, &b, s);
        find__write(f, sink, b.p, b.n);
    }
    arena_reset(f->c->arena, m);
    return true;
}
