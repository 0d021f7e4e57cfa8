/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/find_int.h"

#include <stdarg.h>
#include <sys/sysmacros.h>

#include "shell/cmd/wide.h"

#define SINK_BYTES 32768u
#define SINK_MAX (SINK_BYTES + 2 * LIMIT_PATH)

/* ---- sinks ---- */

static void sink_flush(struct find *f, struct find_sink *s)
{
    size_t done = 0;
    while (done < s->b.n && !s->failed) {
        ssize_t n = proc_write(f->c->p, s->fd, s->b.p + done, s->b.n - done);
        if (n < 0) {
            s->failed = true;
            cmd_errno(f->c, (int)n, "%s", cmd_quote_loc(f->c, s->name));
            f->status = 1;
        } else {
            done += (size_t)n;
        }
    }
    buf_clear(&s->b);
}

void find__write(struct find *f, struct find_sink *s, const void *p, size_t n)
{
    if (!s) {
        if (cmd_write(f->c, p, n) < 0)
            f->stop = true;
        return;
    }
    if (s->b.n + n > SINK_BYTES)
        sink_flush(f, s);
    for (const char *at = p; n > 0;) {
        size_t k = n < SINK_BYTES ? n : SINK_BYTES;
        buf_add(&s->b, at, k);
        at += k;
        n -= k;
        if (n > 0)
            sink_flush(f, s);
    }
    if (s->fd == 2 || s->tty)
        sink_flush(f, s);
}

void find__write_name(struct find *f, struct find_sink *sink, struct str s)
{
    if (!(sink ? sink->tty : f->c->out_tty)) {
        find__write(f, sink, s.p, s.n);
        return;
    }
    bool utf8 = cmd_utf8(f->c);
    for (size_t i = 0; i < s.n;) {
        uint32_t ch = (unsigned char)s.p[i];
        size_t n = utf8 && ch >= 0x80 ? wide_decode(s.p + i, s.n - i, &ch) : 1;
        bool prints = ch < 0x80 ? ch >= 0x20 && ch < 0x7f : utf8 && n > 0 && wide_width(ch) >= 0;
        n = n ? n : 1;
        find__write(f, sink, prints ? s.p + i : "?", prints ? n : 1);
        i += n;
    }
}

bool find__sink(struct find *f, const char *name, struct find_sink **ret)
{
    struct cmd *c = f->c;
    struct vfs_stat st = {0};
    *ret = NULL;
    if (strcmp(name, "/dev/stdout") == 0)
        return true;
    bool err = strcmp(name, "/dev/stderr") == 0;
    int fd = err ? 2 : cmd_open_safe(c, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) {
        cmd_errno(c, fd, "%s", cmd_quote_loc(c, name));
        return find__fail(f, 1);
    }
    bool known = proc_fstat(c->p, fd, &st) == 0;
    for (struct find_sink *s = f->sinks; s; s = s->next) {
        if (s->fd == fd || (fd != 2 && s->fd != 2 && known && s->ino == st.ino && s->dev == st.dev)) {
            if (fd != s->fd)
                proc_close(c->p, fd);
            *ret = s;
            return true;
        }
    }
    struct find_sink *s = ARENA_NEW(c->keep, struct find_sink);
    *s = (struct find_sink){.next = f->sinks, .name = name, .fd = fd, .dev = st.dev, .ino = st.ino};
    s->tty = proc_isatty(c->p, fd);
    buf_init(&s->b, SINK_MAX);
    f->sinks = s;
    *ret = s;
    return true;
}

void find__sinks_done(struct find *f)
{
    for (struct find_sink *s = f->sinks; s; s = s->next) {
        if (!f->c->p->must_end)
            sink_flush(f, s);
        if (s->fd > 2)
            proc_close(f->c->p, s->fd);
        buf_done(&s->b);
    }
}

/* ---- names ---- */

bool find__arg_file(struct find_parse *ps, const char *arg)
{
    return find__sink(ps->f, arg, &ps->t->out.sink);
}

bool find__t_print(struct find *f, const struct find_test *t)
{
    find__write_name(f, t->out.sink, buf_str(&f->path));
    find__write(f, t->out.sink, "\n", 1);
    return true;
}

bool find__t_print0(struct find *f, const struct find_test *t)
{
    find__write(f, t->out.sink, f->path.p, f->path.n + 1);
    return true;
}

/* ---- -ls ---- */

/* A column that stays as wide as its widest entry so far. */
__attribute__((format(printf, 3, 4))) static void column(struct buf *b, int *width, const char *fmt, ...)
{
    char text[64];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (n > *width)
        *width = n;
    buf_addf(b, "%*s", *width, text);
}

static void owner(struct buf *b, int *width, const char *name, uint32_t id)
{
    char text[16];
    snprintf(text, sizeof text, "%u", id);
    const char *s = name ? name : text;
    if (strlen(s) > (size_t)*width && strlen(s) < INT32_MAX)
        *width = (int)strlen(s);
    buf_addf(b, " %-*s", *width, s);
}

/* What a terminal or a space-separated line could not take, as C would write it. */
static void escaped(struct buf *b, struct str s)
{
    static const char letters[] = "\\\n\b\r\t\f \"", shown[] = "\\nbrtf \"";
    for (size_t i = 0; i < s.n; i++) {
        const char *at = s.p[i] ? strchr(letters, s.p[i]) : NULL;
        unsigned char ch = (unsigned char)s.p[i];
        if (at) {
            buf_putc(b, '\\');
            buf_putc(b, shown[at - letters]);
        } else if (ch > 040 && ch < 0177) {
            buf_putc(b, s.p[i]);
        } else {
            buf_addf(b, "\\%03o", ch);
        }
    }
}

/* The time of day of what is recent, else the year. */
static void when(struct find *f, struct buf *b)
{
    struct cmd_time tm;
    struct find_time at = find__time_of(f->st.mtime);
    int64_t now = proc_wall(f->c->p->ps) / 1000000000;
    bool old = now - (int64_t)6 * 30 * 24 * 60 * 60 > at.s || now + 60 * 60 < at.s;
    cmd_localtime(f->c, at.s, false, &tm);
    cmd_strftime(f->c, b, old ? "%b %e  %Y" : "%b %e %H:%M", &tm, at.s, 0);
}

bool find__t_ls(struct find *f, const struct find_test *t)
{
    struct cmd *c = f->c;
    const struct vfs_stat *st = &f->st;
    BUF_AUTO struct buf b;
    char mode[11];
    bool device = f->type == S_IFCHR || f->type == S_IFBLK;
    buf_init(&b, SIZE_MAX / 2);
    cmd_mode_text(st->mode, mode);
    column(&b, &f->w_ino, "%llu", (unsigned long long)st->ino);
    buf_putc(&b, ' ');
    column(&b, &f->w_blocks, "%llu", (unsigned long long)(f->posix ? st->blocks : (st->blocks + 1) / 2));
    buf_addf(&b, " %s ", mode);
    column(&b, &f->w_nlink, "%u", st->nlink);
    owner(&b, &f->w_owner, cmd_user_name(c, st->uid), st->uid);
    owner(&b, &f->w_group, cmd_group_name(c, st->gid), st->gid);
    buf_putc(&b, ' ');
    if (device) {
        column(&b, &f->w_major, "%u", major(st->rdev));
        buf_addc(&b, ", ");
        column(&b, &f->w_minor, "%u", minor(st->rdev));
    } else {
        column(&b, &f->w_size, "%llu", (unsigned long long)st->size);
    }
    buf_putc(&b, ' ');
    when(f, &b);
    buf_putc(&b, ' ');
    escaped(&b, buf_str(&f->path));
    if (f->type == S_IFLNK) {
        BUF_AUTO struct buf to;
        struct vfs_ctx ctx = cmd_ctx(c);
        buf_init(&to, 2 * LIMIT_PATH);
        int r = vfs_readlink(f->v, &ctx, f->parent, find__ref(f), &to);
        if (r == 0) {
            buf_addc(&b, " -> ");
            escaped(&b, buf_str(&to));
        } else {
            find__error(f, r);
        }
    }
    buf_putc(&b, '\n');
    find__write(f, t->out.sink, b.p, b.n);
    return true;
}
