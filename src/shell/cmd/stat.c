/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <ctype.h>
#include <errno.h>
#include <sys/sysmacros.h>

#include "base/num.h"
#include "shell/cmd/file_type.h"
#include "shell/cmd/num.h"
#include "shell/cmd/quote.h"

/* Field widths above this are as good as endless; the real tool would print until killed. */
#define FIELD_MAX (1 << 20)

static const struct cmd_opt opts[] = {
    {'L', "dereference", CMD_NO_ARG},
    {'f', "file-system", CMD_NO_ARG | CMD_REFUSED},
    {'c', "format", CMD_ARG},
    {256, "printf", CMD_ARG},
    {'t', "terse", CMD_NO_ARG},
    {257, "cached", CMD_ARG},
    {0},
};

struct stat_cmd {
    struct cmd *c;
    const char *format;
    bool follow, escapes, newline;
    struct quote_opts quote; /* of %N */
    bool failed, stop;
};

/* What stands between '%' and the letter. */
struct field {
    bool minus, plus, space, zero, alt;
    int width, prec; /* -1: none */
    bool dot;
};

/* ---- fields ---- */

static void fill(struct cmd *c, char ch, int n)
{
    while (n-- > 0 && c->out_err == 0)
        cmd_putc(c, ch);
}

static void put_text(struct cmd *c, const struct field *f, const char *s)
{
    size_t n = strlen(s);
    if (f->prec >= 0)
        n = NUM_MIN(n, (size_t)f->prec);
    if (!f->minus)
        fill(c, ' ', f->width - (int)n);
    cmd_write(c, s, n);
    if (f->minus)
        fill(c, ' ', f->width - (int)n);
}

/* Digits with what goes in front of them. */
static void put_digits(struct cmd *c, const struct field *f, const char *front, const char *digits)
{
    int n = (int)strlen(digits), zeros = f->prec > n ? f->prec - n : 0;
    if (f->prec == 0 && strcmp(digits, "0") == 0)
        n = 0;
    int all = n + zeros + (int)strlen(front);
    if (f->zero && !f->minus && f->prec < 0 && f->width > all) {
        zeros += f->width - all;
        all = f->width;
    }
    if (!f->minus)
        fill(c, ' ', f->width - all);
    cmd_puts(c, front);
    fill(c, '0', zeros);
    cmd_write(c, digits, (size_t)n);
    if (f->minus)
        fill(c, ' ', f->width - all);
}

static void put_unsigned(struct cmd *c, const struct field *f, uint64_t v)
{
    char text[24];
    put_digits(c, f, "", num_u64_text(v, text));
}

static void put_signed(struct cmd *c, const struct field *f, int64_t v, bool minus_zero)
{
    char text[24];
    const char *front = v < 0 || minus_zero ? "-" : f->plus ? "+" : f->space ? " " : "";
    put_digits(c, f, front, num_u64_text(v < 0 ? 0 - (uint64_t)v : (uint64_t)v, text));
}

static void put_octal(struct cmd *c, const struct field *f, uint64_t v)
{
    char text[32];
    snprintf(text, sizeof text, f->alt && v ? "0%llo" : "%llo", (unsigned long long)v);
    put_digits(c, f, "", text);
}

static void put_hex(struct cmd *c, const struct field *f, uint64_t v)
{
    char text[32];
    snprintf(text, sizeof text, "%llx", (unsigned long long)v);
    put_digits(c, f, f->alt && v ? "0x" : "", text);
}

/* Seconds since 1970, with as many decimals as the precision says (nine for a bare dot). */
static void put_epoch(struct cmd *c, const struct field *f, int64_t at)
{
    int64_t s = at / 1000000000, ns = at % 1000000000;
    int prec = !f->dot ? 0 : f->prec < 0 ? 9 : f->prec;
    struct field sf = *f;
    int divisor = 1;
    bool minus_zero = false;
    sf.prec = -1;
    if (ns < 0) {
        ns += 1000000000;
        s--;
    }
    for (int i = prec; i < 9; i++)
        divisor *= 10;
    int64_t frac = ns / divisor;
    if (s < 0 && ns != 0) { /* towards zero: the sign stands for both parts */
        frac = 1000000000 / divisor - frac - (ns % divisor != 0);
        s += frac != 0;
        minus_zero = s == 0;
    }
    if (prec > 0 && f->width > 0) {
        int w = f->width - 1 - prec;
        sf.width = w > 1 && !f->minus ? w : 0;
    }
    size_t before = c->out.n;
    put_signed(c, &sf, s, minus_zero);
    if (prec > 0) {
        int shown = NUM_MIN(prec, 9);
        char text[16];
        snprintf(text, sizeof text, ".%0*lld", shown, (long long)frac);
        cmd_puts(c, text);
        fill(c, '0', prec - 9);
        if (f->minus && c->out.n > before)
            fill(c, ' ', f->width - (int)(c->out.n - before));
    }
}

static const char *time_text(struct cmd *c, int64_t at)
{
    struct cmd_time t;
    struct buf b;
    int64_t s = at / 1000000000, ns = at % 1000000000;
    if (ns < 0) {
        ns += 1000000000;
        s--;
    }
    buf_init(&b, 4096);
    cmd_localtime(c, s, false, &t);
    cmd_strftime(c, &b, "%Y-%m-%d %H:%M:%S.%N %z", &t, s, (uint32_t)ns);
    const char *r = arena_dup(c->arena, b.p, b.n);
    buf_done(&b);
    return r;
}

/* ---- what needs the tree ---- */

/* Directory that the file's device is mounted on. */
static const char *mount_point(struct stat_cmd *k, const char *name, const struct vfs_stat *st)
{
    struct vfs *v = cmd_vfs(k->c);
    struct vfs_ctx ctx = cmd_ctx(k->c);
    uint64_t dir = 0, up;
    struct vfs_stat a, b;
    if (S_ISDIR(st->mode)) {
        dir = st->ino;
    } else {
        const char *slash = strrchr(name, '/');
        struct str parent = !slash ? STR(".") : slash == name ? STR("/") : str_of(name, (size_t)(slash - name));
        if (vfs_lookup(v, &ctx, 0, parent, VFS_DIRECTORY, &dir) < 0)
            return "?";
    }
    while (vfs_dir_parent(v, dir, &up) == 0 && up != dir && vfs_stat_ino(v, dir, &a) == 0 &&
           vfs_stat_ino(v, up, &b) == 0 && a.dev == b.dev)
        dir = up;
    struct buf path;
    buf_init(&path, 1u << 20);
    const char *r = vfs_dir_path(v, dir, &path) == 0 ? arena_dup(k->c->arena, path.p, path.n) : "?";
    buf_done(&path);
    return r;
}

static const char *quoted(struct stat_cmd *k, const char *s)
{
    struct buf b;
    buf_init(&b, 1u << 20);
    quote_add(&b, str_c(s), &k->quote);
    const char *r = arena_dup(k->c->arena, b.p, b.n);
    buf_done(&b);
    return r;
}

/* %N: the name, and where a link leads. */
static void put_name(struct stat_cmd *k, const struct field *f, const char *name, const struct vfs_stat *st)
{
    struct vfs_ctx ctx = cmd_ctx(k->c);
    struct buf b;
    put_text(k->c, f, quoted(k, name));
    if (!S_ISLNK(st->mode))
        return;
    buf_init(&b, 1u << 20);
    int r = vfs_readlink(cmd_vfs(k->c), &ctx, 0, str_c(name), &b);
    if (r < 0) {
        cmd_errno(k->c, r, "cannot read symbolic link %s", cmd_quote(k->c, name, true));
        k->failed = true;
    } else {
        cmd_puts(k->c, " -> ");
        put_text(k->c, f, quoted(k, arena_dup(k->c->arena, b.p, b.n)));
    }
    buf_done(&b);
}

/* ---- directives ---- */

/* Texts: true when @ch is one. */
static bool directive_text(struct stat_cmd *k, const struct field *f, char ch, const char *name,
                           const struct vfs_stat *st)
{
    struct cmd *c = k->c;
    char mode[11];
    const char *s;
    switch (ch) {
    case 'n':
        s = name;
        break;
    case 'N':
        put_name(k, f, name, st);
        return true;
    case 'A':
        cmd_mode_text(st->mode, mode);
        s = mode;
        break;
    case 'F':
        s = file_type_text(st);
        break;
    case 'm':
        s = mount_point(k, name, st);
        break;
    case 'U':
        s = cmd_user_name(c, st->uid);
        s = s ? s : "UNKNOWN";
        break;
    case 'G':
        s = cmd_group_name(c, st->gid);
        s = s ? s : "UNKNOWN";
        break;
    case 'C':
        cmd_errno(c, -ENODATA, "failed to get security context of %s", cmd_quote(c, name, true));
        k->failed = true;
        s = "?";
        break;
    case 'w':
        s = st->btime ? time_text(c, st->btime) : "-";
        break;
    case 'x':
        s = time_text(c, st->atime);
        break;
    case 'y':
        s = time_text(c, st->mtime);
        break;
    case 'z':
        s = time_text(c, st->ctime);
        break;
    default:
        return false;
    }
    put_text(c, f, s);
    return true;
}

/* Numbers; @half is 'H' or 'L' before a device letter, else 0. True when @ch is one. */
static bool directive_number(struct stat_cmd *k, const struct field *f, char half, char ch, const struct vfs_stat *st)
{
    struct cmd *c = k->c;
    uint64_t dev = ch == 'd' ? st->dev : st->rdev;
    if (half) {
        put_unsigned(c, f, half == 'H' ? major(dev) : minor(dev));
        return true;
    }
    switch (ch) {
    case 'a':
        put_octal(c, f, st->mode & 07777);
        return true;
    case 'D':
        put_hex(c, f, st->dev);
        return true;
    case 'R':
        put_hex(c, f, st->rdev);
        return true;
    case 'f':
        put_hex(c, f, st->mode);
        return true;
    case 't':
        put_hex(c, f, major(st->rdev));
        return true;
    case 'T':
        put_hex(c, f, minor(st->rdev));
        return true;
    case 'W':
        put_epoch(c, f, st->btime);
        return true;
    case 'X':
        put_epoch(c, f, st->atime);
        return true;
    case 'Y':
        put_epoch(c, f, st->mtime);
        return true;
    case 'Z':
        put_epoch(c, f, st->ctime);
        return true;
    case 's':
        put_signed(c, f, (int64_t)st->size, false);
        return true;
    default:
        break;
    }
    uint64_t v = ch == 'b'   ? st->blocks
                 : ch == 'B' ? 512
                 : ch == 'd' ? st->dev
                 : ch == 'g' ? st->gid
                 : ch == 'h' ? st->nlink
                 : ch == 'i' ? st->ino
                 : ch == 'o' ? st->blksize
                 : ch == 'r' ? st->rdev
                             : st->uid;
    if (!strchr("bBdghioru", ch))
        return false;
    put_unsigned(c, f, v);
    return true;
}

static int small_number(const char **p)
{
    int v = 0;
    for (; isdigit((unsigned char)**p); (*p)++)
        if (v < FIELD_MAX)
            v = v * 10 + (**p - '0');
    return v;
}

/* The directive at @p, after its '%': returns where it ended. */
static const char *directive(struct stat_cmd *k, const char *p, const char *name, const struct vfs_stat *st)
{
    struct field f = {.width = 0, .prec = -1};
    const char *start = p - 1;
    for (; *p && strchr("'-+ #0I", *p); p++) {
        f.minus |= *p == '-';
        f.plus |= *p == '+';
        f.space |= *p == ' ';
        f.zero |= *p == '0';
        f.alt |= *p == '#';
    }
    f.width = small_number(&p);
    if (*p == '.') {
        f.dot = true;
        p++;
        f.prec = isdigit((unsigned char)*p) ? small_number(&p) : -1;
    }
    if (*p == '%' || *p == 0) {
        if (p - start > 1) {
            cmd_err(k->c, "%s: invalid directive",
                    cmd_quote_loc(k->c, arena_dup(k->c->arena, start, (size_t)(p - start) + (*p == '%'))));
            k->failed = k->stop = true;
            return p;
        }
        cmd_putc(k->c, '%');
        return p + (*p == '%');
    }
    char half = 0, ch = *p;
    if ((ch == 'H' || ch == 'L') && (p[1] == 'd' || p[1] == 'r')) {
        half = ch;
        ch = *++p;
    }
    if (f.dot && f.prec < 0 && !strchr("WXYZ", ch))
        f.prec = 0;
    if (!half && directive_text(k, &f, ch, name, st))
        return p + 1;
    if (!directive_number(k, &f, half, ch, st))
        cmd_putc(k->c, '?');
    return p + 1;
}

/* An escape of --printf after its backslash: returns where it ended. */
static const char *escape(struct stat_cmd *k, const char *p)
{
    static const char letters[] = "abefnrtv\"\\", values[] = "\a\b\033\f\n\r\t\v\"\\";
    struct cmd *c = k->c;
    unsigned v = 0;
    int n = 0;
    if (*p >= '0' && *p <= '7') {
        for (; n < 3 && *p >= '0' && *p <= '7'; n++)
            v = v * 8 + (unsigned)(*p++ - '0');
        cmd_putc(c, (char)v);
        return p;
    }
    if (*p == 'x' && isxdigit((unsigned char)p[1])) {
        for (p++; n < 2 && isxdigit((unsigned char)*p); n++, p++)
            v = v * 16 + (unsigned)(isdigit((unsigned char)*p) ? *p - '0' : (*p | 32) - 'a' + 10);
        cmd_putc(c, (char)v);
        return p;
    }
    if (*p == 0) {
        cmd_err(c, "warning: backslash at end of format");
        cmd_putc(c, '\\');
        return p;
    }
    const char *l = strchr(letters, *p);
    if (!l)
        cmd_err(c, "warning: unrecognized escape '\\%c'", *p);
    cmd_putc(c, l ? values[l - letters] : *p);
    return p + 1;
}

static void print(struct stat_cmd *k, const char *format, const char *name, const struct vfs_stat *st)
{
    for (const char *p = format; *p && !k->stop;) {
        if (*p == '%') {
            p = directive(k, p + 1, name, st);
        } else if (*p == '\\' && k->escapes) {
            p = escape(k, p + 1);
        } else {
            cmd_putc(k->c, *p++);
        }
    }
    if (k->newline && !k->stop)
        cmd_putc(k->c, '\n');
}

static int one(struct stat_cmd *k, const char *name)
{
    struct cmd *c = k->c;
    struct vfs_stat st;
    bool in = strcmp(name, "-") == 0;
    int r = in ? proc_fstat(c->p, 0, &st) : proc_stat(c->p, str_c(name), k->follow ? 0 : VFS_NOFOLLOW, &st);
    if (r < 0) {
        if (in)
            cmd_errno(c, r, "cannot stat standard input");
        else
            cmd_errno(c, r, "cannot statx %s", cmd_quote(c, name, true));
        return 1;
    }
    const char *format = k->format;
    if (!format)
        format =
            S_ISCHR(st.mode) || S_ISBLK(st.mode)
                ? "  File: %N\n  Size: %-10s\tBlocks: %-10b IO Block: %-6o %F\nDevice: %Hd,%Ld\tInode: %-10i  Links: "
                  "%-5h Device type: %Hr,%Lr\nAccess: (%04a/%10.10A)  Uid: (%5u/%8U)   Gid: (%5g/%8G)\nAccess: %x\n"
                  "Modify: %y\nChange: %z\n Birth: %w\n"
                : "  File: %N\n  Size: %-10s\tBlocks: %-10b IO Block: %-6o %F\nDevice: %Hd,%Ld\tInode: %-10i  Links: "
                  "%h\nAccess: (%04a/%10.10A)  Uid: (%5u/%8U)   Gid: (%5g/%8G)\nAccess: %x\nModify: %y\nChange: %z\n"
                  " Birth: %w\n";
    print(k, format, name, &st);
    return k->failed;
}

/* %N's quoting: QUOTING_STYLE; else as a shell would need it. Not at all when %N stands nowhere without a width, as in
 * the default format. */
static void set_quoting(struct stat_cmd *k)
{
    static const char *const names[] = {"literal", "shell",   "shell-always", "shell-escape", "shell-escape-always",
                                        "c",       "c-maybe", "escape",       "locale",       "clocale"};
    struct cmd *c = k->c;
    const char *env = cmd_getenv(c, "QUOTING_STYLE");
    bool given = k->format && strstr(k->format, "%N");
    k->quote = (struct quote_opts){.style = given ? QUOTE_SHELL_ESCAPE_ALWAYS : QUOTE_LITERAL, .utf8 = cmd_utf8(c)};
    if (!env || !given)
        return;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(env, names[i]) == 0) {
            k->quote.style = (enum quote_style)i;
            return;
        }
    cmd_err(c, "ignoring invalid value of environment variable QUOTING_STYLE: %s", cmd_quote_loc(c, env));
}

static int stat_main(struct cmd *c)
{
    static const char *const cached[] = {"default", "never", "always", NULL};
    static const int cached_vals[] = {0, 1, 2};
    struct stat_cmd k = {.c = c};
    bool terse = false;
    for (int o; (o = cmd_getopt(c, opts, false)) != -1;) {
        /* --cached asks a network file system for fresh or stale values: here there is one truth. */
        if (o == -2 || (o == 257 && cmd_choice(c, "--cached", c->optarg, cached, cached_vals) < 0))
            return cmd_usage_status(c);
        if (o == 'L')
            k.follow = true;
        if (o == 't')
            terse = true;
        if (o == 'c' || o == 256) {
            k.format = c->optarg;
            k.escapes = o == 256;
            k.newline = o == 'c';
        }
    }
    if (c->optind == c->argc)
        return cmd_missing(c);
    if (!k.format && terse)
        k.format = "%n %s %b %f %u %g %D %i %h %t %T %X %Y %Z %W %o\n";
    set_quoting(&k);
    int status = 0;
    for (int i = c->optind; i < c->argc && cmd_poll(c) == 0 && !k.stop; i++) {
        struct arena_mark m = arena_mark(c->arena);
        status |= one(&k, c->argv[i]);
        arena_reset(c->arena, m);
    }
    return status;
}

CMD_NAMED("stat", stat_, stat_main, 1, "Usage: stat [OPTION]... FILE...\n",
          "  -L, --dereference     follow links\n"
          "      --cached=MODE     always, never or default: the same here\n"
          "  -c, --format=FORMAT   FORMAT and a newline for each file\n"
          "      --printf=FORMAT   FORMAT with backslash escapes, and no newline\n"
          "  -t, --terse           all in one line\n"
          "FORMAT: %a %A %b %B %C %d %D %f %F %g %G %h %i %m %n %N %o %s %r %R %t %T %u %U %w %W %x %X %y %Y %z %Z,\n"
          "%Hd %Ld %Hr %Lr.\n");
