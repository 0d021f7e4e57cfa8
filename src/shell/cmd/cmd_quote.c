/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/quote.h"

#include <ctype.h>

#include "base/buf.h"
#include "shell/cmd/cmd.h"
#include "shell/cmd/wide.h"

/*
 * Shell styles have two passes over a name: one without outer quotes, which stops at the first character that needs
 * them, and one with. Inside quotes SHELL_ESCAPE switches to $'…' around what does not print, and back.
 */

/* ASCII characters that a shell takes literally anywhere in a word. */
static bool shell_plain(uint8_t ch)
{
    return isalnum(ch) || (ch && strchr("%+,-./:]_@", ch));
}

/* Whether character @ch at offset @i of @s needs outer quotes in a shell style. */
static bool shell_needs(struct str s, size_t i, uint8_t ch)
{
    if (shell_plain(ch))
        return false;
    if (ch == '{' || ch == '}')
        return s.n == 1;
    if (ch == '#' || ch == '~')
        return i == 0;
    return ch == '\n' || ch == '\t' || ch == '\r' || (ch && strchr(" !\"$&()*;<=>[^`|?'\\", ch));
}

/* Length of the character at @i, and whether it prints. */
static size_t char_at(struct str s, size_t i, bool utf8, bool *ret_prints)
{
    uint8_t b = (uint8_t)s.p[i];
    if (b < 0x80) {
        *ret_prints = b >= 0x20 && b < 0x7f;
        return 1;
    }
    uint32_t ch = 0;
    size_t n = utf8 ? wide_decode(s.p + i, s.n - i, &ch) : 0;
    *ret_prints = n > 0 && wide_width(ch) >= 0;
    return n > 0 ? n : 1;
}

static char escape_letter(uint8_t ch)
{
    static const char letters[] = "abtnvfr";
    return ch >= 7 && ch <= 13 ? letters[ch - 7] : 0;
}

/* "\n" or "\303" for one byte. */
static void add_escape(struct buf *out, uint8_t ch, bool letters)
{
    char e = letters ? escape_letter(ch) : 0;
    buf_putc(out, '\\');
    if (e) {
        buf_putc(out, e);
    } else {
        buf_putc(out, (char)('0' + (ch >> 6)));
        buf_putc(out, (char)('0' + ((ch >> 3) & 7)));
        buf_putc(out, (char)('0' + (ch & 7)));
    }
}

/* True when the name can stand without quotes in a shell style. */
static bool shell_bare(struct str s, bool escape, const struct quote_opts *o)
{
    for (size_t i = 0; i < s.n;) {
        uint8_t b = (uint8_t)s.p[i];
        bool prints;
        size_t n = char_at(s, i, o->utf8, &prints);
        if (shell_needs(s, i, b) || (escape && !prints) || (b && o->extra && strchr(o->extra, b)))
            return false;
        i += n;
    }
    return s.n > 0;
}

/* A name with ' in it may stand in "…" when nothing in it means something there or in C. */
static bool shell_double(struct str s, bool utf8)
{
    bool quote = false;
    for (size_t i = 0; i < s.n;) {
        uint8_t b = (uint8_t)s.p[i];
        bool prints;
        size_t n = char_at(s, i, utf8, &prints);
        if (b == '\'')
            quote = true;
        else if (b < 0x80 && !shell_plain(b) && b != ' ' && !((b == '#' || b == '~') && i == 0) &&
                 !((b == '{' || b == '}') && s.n == 1))
            return false;
        else if (!prints)
            return false;
        i += n;
    }
    return quote;
}

static void add_shell(struct buf *out, struct str s, bool escape, bool utf8)
{
    bool open = false; /* inside $'…' */
    if (shell_double(s, utf8)) {
        buf_putc(out, '"');
        buf_adds(out, s);
        buf_putc(out, '"');
        return;
    }
    buf_putc(out, '\'');
    for (size_t i = 0; i < s.n;) {
        uint8_t b = (uint8_t)s.p[i];
        bool prints;
        size_t n = char_at(s, i, utf8, &prints);
        if (escape && !prints) {
            if (!open)
                buf_addc(out, "'$'");
            open = true;
            for (size_t k = 0; k < n; k++)
                add_escape(out, (uint8_t)s.p[i + k], true);
        } else if (b == '\'') {
            buf_addc(out, "'\\''");
            open = false;
        } else {
            if (open)
                buf_addc(out, "''");
            open = false;
            buf_add(out, s.p + i, n);
        }
        i += n;
    }
    buf_putc(out, '\'');
}

/* C escapes, between @left and @right; @quote is the character that needs a backslash, or 0. */
static void add_c(struct buf *out, struct str s, const char *left, const char *right, char quote,
                  const struct quote_opts *o)
{
    buf_addc(out, left);
    for (size_t i = 0; i < s.n;) {
        uint8_t b = (uint8_t)s.p[i];
        bool prints;
        size_t n = char_at(s, i, o->utf8, &prints);
        if (!prints) {
            for (size_t k = 0; k < n; k++)
                add_escape(out, (uint8_t)s.p[i + k], true);
        } else {
            size_t r = strlen(right);
            bool closes = r > 1 && s.n - i >= r && memcmp(s.p + i, right, r) == 0;
            if (b == '\\' || (quote && b == (uint8_t)quote) || closes || (b && o->extra && strchr(o->extra, b)))
                buf_putc(out, '\\');
            buf_add(out, s.p + i, n);
        }
        i += n;
    }
    buf_addc(out, right);
}

/* C_MAYBE: whether quotes are needed. */
static bool c_needs(struct str s, const struct quote_opts *o)
{
    for (size_t i = 0; i < s.n;) {
        uint8_t b = (uint8_t)s.p[i];
        bool prints;
        size_t n = char_at(s, i, o->utf8, &prints);
        if (!prints || b == '"' || (b && o->extra && strchr(o->extra, b)))
            return true;
        i += n;
    }
    return false;
}

void quote_add(struct buf *out, struct str s, const struct quote_opts *o)
{
    struct quote_opts inner = {.style = o->style, .utf8 = o->utf8};
    switch (o->style) {
    case QUOTE_LITERAL:
        buf_adds(out, s);
        return;
    case QUOTE_SHELL:
    case QUOTE_SHELL_ESCAPE: {
        bool escape = o->style == QUOTE_SHELL_ESCAPE;
        if (shell_bare(s, escape, o))
            buf_adds(out, s);
        else
            add_shell(out, s, escape, o->utf8);
        return;
    }
    case QUOTE_SHELL_ALWAYS:
    case QUOTE_SHELL_ESCAPE_ALWAYS:
        add_shell(out, s, o->style == QUOTE_SHELL_ESCAPE_ALWAYS, o->utf8);
        return;
    case QUOTE_C_MAYBE:
        if (!c_needs(s, o)) {
            buf_adds(out, s);
            return;
        }
        add_c(out, s, "\"", "\"", '"', &inner);
        return;
    case QUOTE_C:
        add_c(out, s, "\"", "\"", '"', o);
        return;
    case QUOTE_ESCAPE:
        add_c(out, s, "", "", 0, o);
        return;
    case QUOTE_LOCALE:
    case QUOTE_CLOCALE:
        if (o->utf8)
            add_c(out, s, "\xe2\x80\x98", "\xe2\x80\x99", 0, o);
        else if (o->style == QUOTE_LOCALE)
            add_c(out, s, "'", "'", '\'', o);
        else
            add_c(out, s, "\"", "\"", '"', o);
        return;
    }
}

/* ---- the calls of cmd.h ---- */

static const char *quote_in(struct cmd *c, const char *s, const struct quote_opts *o)
{
    struct buf b;
    buf_init(&b, SIZE_MAX / 2);
    quote_add(&b, str_c(s), o);
    const char *r = arena_dup(c->arena, b.p, b.n);
    buf_done(&b);
    return r;
}

const char *cmd_quote(struct cmd *c, const char *s, bool always)
{
    if (!always) {
        const char *p = s;
        while (*p && shell_plain((uint8_t)*p) && *p != ':')
            p++;
        if (*p == 0 && p > s)
            return s;
    }
    struct quote_opts o = {
        .style = always ? QUOTE_SHELL_ESCAPE_ALWAYS : QUOTE_SHELL_ESCAPE,
        .utf8 = cmd_utf8(c),
        .extra = always ? NULL : ":",
    };
    return quote_in(c, s, &o);
}

const char *cmd_quote_loc(struct cmd *c, const char *s)
{
    struct quote_opts o = {.style = QUOTE_LOCALE, .utf8 = cmd_utf8(c)};
    return quote_in(c, s, &o);
}
