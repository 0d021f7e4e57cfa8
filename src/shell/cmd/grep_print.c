/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/grep_int.h"

#include <ctype.h>

#include "regex/unicode.h"

/* What grep prints for a line, and its colors. */

/* ---- colors ---- */

/* One "name=value" of GREP_COLORS. False when it is none: the rest is then ignored. */
static bool color_item(struct grep *g, struct str item)
{
    struct grep_colors *k = &g->color;
    const struct {
        const char *name;
        const char **to, **also;
    } names[] = {
        {"mt", &k->selected_match, &k->context_match},
        {"ms", &k->selected_match, NULL},
        {"mc", &k->context_match, NULL},
        {"fn", &k->file, NULL},
        {"ln", &k->line, NULL},
        {"bn", &k->byte, NULL},
        {"se", &k->sep, NULL},
        {"sl", &k->selected_line, NULL},
        {"cx", &k->context_line, NULL},
    };
    ptrdiff_t eq = str_find(item, '=', 0);
    struct str name = eq < 0 ? item : str_of(item.p, (size_t)eq);
    struct str value = eq < 0 ? STR("") : str_from(item, (size_t)eq + 1);
    if (eq < 0) {
        k->reverse = k->reverse || str_eqc(name, "rv");
        k->keep_rest = k->keep_rest || str_eqc(name, "ne");
        return name.n > 0;
    }
    for (size_t i = 0; i < value.n; i++) {
        if (value.p[i] != ';' && !isdigit((unsigned char)value.p[i]))
            return false;
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!str_eqc(name, names[i].name))
            continue;
        *names[i].to = arena_dup(g->c->keep, value.p, value.n);
        if (names[i].also)
            *names[i].also = *names[i].to;
    }
    return true;
}

void grep_colors(struct grep *g)
{
    struct grep_colors *k = &g->color;
    k->selected_match = k->context_match = "01;31";
    k->file = "35";
    k->line = k->byte = "32";
    k->sep = "36";
    k->selected_line = k->context_line = "";
    if (!k->on)
        return;
    const char *old = cmd_getenv(g->c, "GREP_COLOR");
    if (old && *old) {
        cmd_err(g->c, "warning: GREP_COLOR='%s' is deprecated; use GREP_COLORS='mt=%s'", old, old);
        k->selected_match = k->context_match = old;
    }
    struct str v = str_c(cmd_getenv(g->c, "GREP_COLORS"));
    for (size_t from = 0; from < v.n;) {
        ptrdiff_t colon = str_find(v, ':', from);
        size_t end = colon < 0 ? v.n : (size_t)colon;
        if (!color_item(g, str_of(v.p + from, end - from)))
            return;
        from = end + 1;
    }
}

static void color_on(struct grep *g, const char *color)
{
    if (g->color.on && *color)
        cmd_printf(g->c, g->color.keep_rest ? "\33[%sm" : "\33[%sm\33[K", color);
}

static void color_off(struct grep *g, const char *color)
{
    if (g->color.on && *color)
        cmd_puts(g->c, g->color.keep_rest ? "\33[m" : "\33[m\33[K");
}

/* ---- parts of a line ---- */

void grep_print_name(struct grep *g)
{
    color_on(g, g->color.file);
    cmd_puts(g->c, g->file);
    color_off(g, g->color.file);
}

static void print_sep(struct grep *g, char sep)
{
    color_on(g, g->color.sep);
    cmd_putc(g->c, sep);
    color_off(g, g->color.sep);
}

static void name_and_sep(struct grep *g, char sep)
{
    grep_print_name(g);
    if (g->null_names)
        cmd_putc(g->c, 0);
    else
        print_sep(g, sep);
}

void grep_print_count(struct grep *g, int64_t n)
{
    if (g->names)
        name_and_sep(g, ':');
    cmd_printf(g->c, "%lld\n", (long long)n);
    if (g->line_buffered)
        cmd_flush(g->c);
}

void grep_print_group(struct grep *g)
{
    color_on(g, g->color.sep);
    cmd_puts(g->c, g->group_sep);
    color_off(g, g->color.sep);
    cmd_putc(g->c, '\n');
}

static void print_number(struct grep *g, uint64_t n, const char *color, char sep, int width)
{
    char text[32];
    color_on(g, color);
    int len = snprintf(text, sizeof text, "%*llu", width, (unsigned long long)n);
    cmd_write(g->c, text, (size_t)len);
    color_off(g, color);
    print_sep(g, sep);
}

/* Whether the bytes are characters; outside of UTF-8 every byte is one. */
static bool is_text(const struct grep *g, struct str s)
{
    for (size_t i = 0; g->utf8 && i < s.n;) {
        uint64_t word;
        uint32_t c;
        while (s.n - i >= sizeof word) {
            memcpy(&word, s.p + i, sizeof word);
            if (word & UINT64_C(0x8080808080808080))
                break;
            i += sizeof word;
        }
        if (i == s.n)
            break;
        unsigned len = unicode_decode(s.p + i, s.n - i, &c);
        if (len == 0)
            return false;
        i += len;
    }
    return true;
}

struct place {
    uint64_t off, number;
    int width;
};

/* What stands in front of @text. False: it is no text, and nothing is printed. */
static bool print_head(struct grep *g, struct str text, const struct place *at, char sep)
{
    if (g->binary != GREP_TEXT && !is_text(g, text))
        return false;
    if (g->names)
        name_and_sep(g, sep);
    if (g->line_numbers)
        print_number(g, at->number, g->color.line, sep, at->width);
    if (g->byte_offsets)
        print_number(g, at->off, g->color.byte, sep, at->width);
    if (g->align && (g->names || g->line_numbers || g->byte_offsets) && text.n > 0)
        cmd_putc(g->c, '\t');
    return true;
}

/* The matches of a line, each on a line of its own (-o) or in color. *ret_done is what of @line was printed. */
static bool print_matches(struct grep *g, struct str line, const struct place *at, const char *line_color,
                          const char *match_color, size_t *ret_done)
{
    size_t cur = 0, from = 0;
    char sep = g->invert ? '-' : ':';
    struct regex_span m;
    while (from < line.n && grep_match(g, line, from, &m) == 1) {
        size_t b = (size_t)m.start, e = (size_t)m.end;
        if (b >= line.n)
            break;
        if (b == e) {
            from = b + 1;
            continue;
        }
        if (g->only_matching) {
            struct place here = {at->off + b, at->number, at->width};
            if (!print_head(g, str_of(line.p + b, e - b), &here, sep))
                return false;
        } else {
            color_on(g, line_color);
            cmd_write(g->c, line.p + cur, b - cur);
        }
        color_on(g, match_color);
        cmd_write(g->c, line.p + b, e - b);
        color_off(g, match_color);
        if (g->only_matching)
            cmd_putc(g->c, g->eol);
        cur = from = e;
    }
    *ret_done = cur;
    return true;
}

bool grep_print_line(struct grep *g, struct str line, uint64_t off, uint64_t number, char sep, int width)
{
    const struct grep_colors *k = &g->color;
    struct place at = {off, number, width};
    struct str body = str_of(line.p, line.n - 1);
    if (!g->only_matching && !print_head(g, body, &at, sep))
        return false;
    bool selected = sep == ':', matching = selected != g->invert;
    const char *line_color = !k->on ? "" : (selected != (g->invert && k->reverse)) ? k->selected_line : k->context_line;
    const char *match_color = !k->on ? "" : selected ? k->selected_match : k->context_match;
    size_t done_to = 0;
    if (matching && (g->only_matching || *match_color) &&
        !print_matches(g, body, &at, line_color, match_color, &done_to))
        return false;
    if (!g->only_matching) {
        size_t tail = body.n;
        tail -= *line_color && tail > done_to && body.p[tail - 1] == '\r';
        if (*line_color && tail > done_to) {
            color_on(g, line_color);
            cmd_write(g->c, line.p + done_to, tail - done_to);
            color_off(g, line_color);
            done_to = tail;
        }
        cmd_write(g->c, line.p + done_to, line.n - done_to);
    }
    if (g->line_buffered)
        cmd_flush(g->c);
    return true;
}
