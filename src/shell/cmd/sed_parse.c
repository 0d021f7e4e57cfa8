/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/sed_int.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/num.h"

/* Scripts: commands and their addresses. */

/* ---- messages ---- */

int sed_script_error(struct sed *s, const struct sed_place *place, size_t pos, const char *fmt, ...)
{
    char text[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (place->file)
        return sed_fail(s, SED_BAD_USAGE, "file %s line %llu: %s", place->file, (unsigned long long)place->line, text);
    return sed_fail(s, SED_BAD_USAGE, "-e expression #%lu, char %zu: %s", place->expr, pos, text);
}

int sed_parse_error(struct sed_parse *ps, const char *text)
{
    return sed_script_error(ps->s, &ps->place, ps->pos, "%s", text);
}

/* ---- bytes ---- */

int sed_next(struct sed_parse *ps)
{
    if (ps->pos == ps->n)
        return SED_END;
    unsigned char ch = (unsigned char)ps->p[ps->pos++];
    ps->place.line += ch == '\n';
    return ch;
}

void sed_back(struct sed_parse *ps, int ch)
{
    if (ch == SED_END)
        return;
    ps->pos--;
    ps->place.line -= ch == '\n' && ps->place.line > 0;
}

int sed_next_nonblank(struct sed_parse *ps)
{
    int ch;
    do {
        ch = sed_next(ps);
    } while (ch == ' ' || ch == '\t');
    return ch;
}

/* Behind a command only blanks and what ends it may come. */
static int end_of_command(struct sed_parse *ps)
{
    int ch = sed_next_nonblank(ps);
    if (ch == '}' || ch == '#')
        sed_back(ps, ch);
    else if (ch != SED_END && ch != '\n' && ch != ';')
        return sed_parse_error(ps, "extra characters after command");
    return 0;
}

static bool is_digit(int ch)
{
    return ch >= '0' && ch <= '9';
}

/* The number that begins with the digit @ch; too large ones wrap, as in the real one. */
static uint64_t integer(struct sed_parse *ps, int ch)
{
    uint64_t n = 0;
    for (; is_digit(ch); ch = sed_next(ps))
        n = n * 10 + (uint64_t)(ch - '0');
    sed_back(ps, ch);
    return n;
}

static struct str label(struct sed_parse *ps)
{
    int ch = sed_next_nonblank(ps);
    size_t from = ps->pos - (ch != SED_END);
    while (ch != SED_END && !strchr("\n \t;}#", ch))
        ch = sed_next(ps);
    sed_back(ps, ch);
    return arena_str(ps->s->c->keep, str_of(ps->p + from, ps->pos - from));
}

/* The name up to the end of the line; NULL after a message. */
static const char *file_name(struct sed_parse *ps)
{
    if (ps->s->sandbox) {
        sed_parse_error(ps, "e/r/w commands disabled in sandbox mode");
        return NULL;
    }
    int ch = sed_next_nonblank(ps);
    size_t from = ps->pos - (ch != SED_END);
    while (ch != SED_END && ch != '\n')
        ch = sed_next(ps);
    size_t to = ps->pos - (ch == '\n');
    const char *name = arena_dup(ps->s->c->keep, ps->p + from, to - from);
    if (*name)
        return name;
    sed_parse_error(ps, "missing filename in r/R/w/W commands");
    return NULL;
}

/* ---- addresses ---- */

static int regex_address(struct sed_parse *ps, int ch, struct sed_addr *a)
{
    struct str text;
    unsigned flags = 0;
    a->kind = SED_ADDR_REGEX;
    if (ch == '\\')
        ch = sed_next(ps);
    int r = ch == SED_END ? 0 : sed_delimited(ps, ch, true, &text);
    if (r <= 0)
        return r < 0 ? r : sed_parse_error(ps, "unterminated address regex");
    while ((ch = sed_next_nonblank(ps)) == 'I' || ch == 'M')
        flags |= ch == 'I' ? REGEX_ICASE : REGEX_NEWLINE;
    sed_back(ps, ch);
    return sed_regex(ps, text, flags, 0, &a->regex) < 0 ? -1 : 1;
}

/* An address that begins with @ch: 1, 0 when it is none, -1. */
static int address(struct sed_parse *ps, int ch, struct sed_addr **ret)
{
    struct sed_addr *a = ARENA_NEW(ps->s->c->keep, struct sed_addr);
    a->line = UINT64_MAX;
    *ret = a;
    if (ch == '/' || ch == '\\')
        return regex_address(ps, ch, a);
    if (is_digit(ch)) {
        a->kind = SED_ADDR_LINE;
        a->line = integer(ps, ch);
        ch = sed_next_nonblank(ps);
        if (ch != '~') {
            sed_back(ps, ch);
            return 1;
        }
        a->step = integer(ps, sed_next_nonblank(ps));
        if (a->step > 0)
            a->kind = SED_ADDR_EVERY;
        return 1;
    }
    if (ch == '+' || ch == '~') {
        a->step = integer(ps, sed_next_nonblank(ps));
        a->kind = a->step == 0 ? SED_ADDR_ANY : ch == '+' ? SED_ADDR_PLUS : SED_ADDR_UNTIL;
        return 1;
    }
    if (ch == '$') {
        a->kind = SED_ADDR_LAST;
        return 1;
    }
    *ret = NULL;
    return 0;
}

/* The addresses and ! in front of a command; *ch becomes the command's letter. */
static int addresses(struct sed_parse *ps, struct sed_cmd *k, int *ch)
{
    int r = address(ps, *ch, &k->a1);
    if (r < 0)
        return r;
    if (r > 0) {
        if (k->a1->kind == SED_ADDR_PLUS || k->a1->kind == SED_ADDR_UNTIL)
            return sed_parse_error(ps, "invalid usage of +N or ~N as first address");
        *ch = sed_next_nonblank(ps);
        if (*ch == ',') {
            r = address(ps, sed_next_nonblank(ps), &k->a2);
            if (r <= 0)
                return r < 0 ? r : sed_parse_error(ps, "unexpected `,'");
            *ch = sed_next_nonblank(ps);
        }
        if (k->a1->kind == SED_ADDR_LINE && k->a1->line == 0 && (k->a2 ? k->a2->kind != SED_ADDR_REGEX : *ch != 'r'))
            return sed_parse_error(ps, "invalid usage of line address 0");
    }
    if (*ch == '!') {
        k->negate = true;
        *ch = sed_next_nonblank(ps);
        if (*ch == '!')
            return sed_parse_error(ps, "multiple `!'s");
    }
    return 0;
}

/* ---- s ---- */

/* 1 at the end of the flags, 0 to go on, -1. */
static int subst_flag(struct sed_parse *ps, struct sed_subst *sub, unsigned *flags, int ch)
{
    switch (ch) {
    case 'i':
    case 'I':
        *flags |= REGEX_ICASE;
        return 0;
    case 'm':
    case 'M':
        *flags |= REGEX_NEWLINE;
        return 0;
    case 'e':
        if (ps->s->sandbox)
            return sed_parse_error(ps, "e/r/w commands disabled in sandbox mode");
        cmd_refuse(ps->s->c, "the flag e of s is not implemented here");
        ps->s->status = SED_BAD_USAGE;
        return -1;
    case 'p':
        if (sub->print)
            return sed_parse_error(ps, "multiple `p' options to `s' command");
        sub->print = true;
        return 0;
    case 'g':
        if (sub->global)
            return sed_parse_error(ps, "multiple `g' options to `s' command");
        sub->global = true;
        return 0;
    case 'w': {
        const char *name = file_name(ps);
        return name && sed_file_out(ps, name, &sub->out) == 0 ? 1 : -1;
    }
    case '}':
    case '#':
        sed_back(ps, ch);
        return 1;
    case SED_END:
    case '\n':
    case ';':
        return 1;
    case '\r':
        if (sed_next(ps) == '\n')
            return 1;
        break;
    default:
        if (!is_digit(ch))
            break;
        if (sub->number)
            return sed_parse_error(ps, "multiple number options to `s' command");
        sub->number = integer(ps, ch);
        if (!sub->number)
            return sed_parse_error(ps, "number option to `s' command may not be zero");
        return 0;
    }
    return sed_parse_error(ps, "unknown option to `s'");
}

static int substitution(struct sed_parse *ps, struct sed_subst **ret)
{
    struct sed_subst *sub = ARENA_NEW(ps->s->c->keep, struct sed_subst);
    struct str regex, with;
    unsigned flags = 0;
    int delim = sed_next(ps);
    int r = sed_delimited(ps, delim, true, &regex);
    if (r == 1)
        r = sed_delimited(ps, delim, false, &with);
    if (r <= 0)
        return r < 0 ? r : sed_parse_error(ps, "unterminated `s' command");
    r = sed_replacement(ps, with, sub);
    while (r == 0)
        r = subst_flag(ps, sub, &flags, sed_next_nonblank(ps));
    if (r < 0)
        return r;
    *ret = sub;
    return sed_regex(ps, regex, flags, sub->max_group + 1, &sub->regex);
}

/* ---- commands ---- */

static void note_jump(struct sed *s, struct sed_jump **list, struct str name)
{
    struct sed_jump *j = ARENA_NEW(s->c->keep, struct sed_jump);
    *j = (struct sed_jump){name, s->n_cmds, *list};
    *list = j;
}

static int open_block(struct sed_parse *ps, struct sed_cmd *k)
{
    struct sed_block *b = ARENA_NEW(ps->s->c->keep, struct sed_block);
    *b = (struct sed_block){ps->s->n_cmds, ps->place, ps->s->blocks};
    ps->s->blocks = b;
    k->negate = !k->negate; /* it is the jump over the block */
    return 0;
}

static int close_block(struct sed_parse *ps, const struct sed_cmd *k)
{
    struct sed *s = ps->s;
    if (!s->blocks)
        return sed_parse_error(ps, "unexpected `}'");
    if (k->a1)
        return sed_parse_error(ps, "`}' doesn't want any addresses");
    if (end_of_command(ps) < 0)
        return -1;
    s->cmds[s->blocks->cmd].target = s->n_cmds;
    s->blocks = s->blocks->next;
    return 0;
}

static int text_command(struct sed_parse *ps)
{
    int ch = sed_next_nonblank(ps);
    if (ch == SED_END)
        return sed_parse_error(ps, "expected \\ after `a', `c' or `i'");
    if (ch == '\\') {
        ch = sed_next(ps);
    } else {
        sed_back(ps, ch);
        ch = '\n';
    }
    return sed_read_text(ps, ch, true);
}

static int number_command(struct sed_parse *ps, struct sed_cmd *k)
{
    int ch = sed_next_nonblank(ps);
    k->number = -1;
    if (is_digit(ch))
        k->number = (int)(uint32_t)integer(ps, ch);
    else
        sed_back(ps, ch);
    return end_of_command(ps);
}

static int read_command(struct sed_parse *ps, struct sed_cmd *k)
{
    const char *name = file_name(ps);
    if (!name)
        return -1;
    k->text = str_c(name);
    if (k->a1 && k->a1->kind == SED_ADDR_LINE && k->a1->line == 0 && !k->a2) {
        k->a1->line = 1;
        k->before = true;
    }
    return 0;
}

static int file_command(struct sed_parse *ps, struct sed_cmd *k)
{
    const char *name = file_name(ps);
    if (!name)
        return -1;
    return k->name == 'R' ? sed_file_in(ps, name, &k->in) : sed_file_out(ps, name, &k->out);
}

static int label_command(struct sed_parse *ps, const struct sed_cmd *k)
{
    if (k->a1)
        return sed_parse_error(ps, ": doesn't want any addresses");
    struct str name = label(ps);
    if (name.n == 0)
        return sed_parse_error(ps, "\":\" lacks a label");
    note_jump(ps->s, &ps->s->labels, name);
    return 0;
}

/* What follows the letter of a command: 0 or -1. */
static int arguments(struct sed_parse *ps, struct sed_cmd *k)
{
    switch (k->name) {
    case '{':
        return open_block(ps, k);
    case '}':
        return close_block(ps, k);
    case 'e':
        if (ps->s->sandbox)
            return sed_parse_error(ps, "e/r/w commands disabled in sandbox mode");
        cmd_refuse(ps->s->c, "the command e is not implemented here");
        ps->s->status = SED_BAD_USAGE;
        return -1;
    case 'a':
    case 'i':
    case 'c':
        return text_command(ps);
    case ':':
        return label_command(ps, k);
    case 'T':
    case 'b':
    case 't':
        note_jump(ps->s, &ps->s->jumps, label(ps));
        return 0;
    case 'Q':
    case 'q':
        if (k->a2)
            return sed_parse_error(ps, "command only uses one address");
        return number_command(ps, k);
    case 'l':
        return number_command(ps, k);
    case 'r':
        return read_command(ps, k);
    case 'R':
    case 'W':
    case 'w':
        return file_command(ps, k);
    case 's':
        return substitution(ps, &k->subst);
    case 'y':
        return sed_translation(ps, &k->trans) < 0 ? -1 : end_of_command(ps);
    default:
        if (k->name && strchr("=dDFgGhHnNpPzx", k->name))
            return end_of_command(ps);
        return sed_script_error(ps->s, &ps->place, ps->pos, "unknown command: `%c'", k->name);
    }
}

/* A comment, whose # was read; "#n" as the first two bytes of the first script is -n. */
static int comment(struct sed_parse *ps, const struct sed_cmd *k)
{
    if (k->a1)
        return sed_parse_error(ps, "comments don't accept any addresses");
    int ch = sed_next(ps);
    if (ch == 'n' && ps->pos == 2 && !ps->s->first_done)
        ps->s->quiet = true;
    while (ch != SED_END && ch != '\n')
        ch = sed_next(ps);
    return 0;
}

static int wanted_version(struct sed_parse *ps)
{
    struct str v = label(ps);
    if (strverscmp(v.n > 0 ? v.p : "4.0", "4.9") > 0)
        return sed_parse_error(ps, "expected newer version of sed");
    return 0;
}

static struct sed_cmd *new_command(struct sed *s)
{
    if (s->n_cmds == s->cap_cmds) {
        s->cap_cmds = s->cap_cmds ? s->cap_cmds * 2 : 16;
        struct sed_cmd *v = arena_alloc(s->c->keep, s->cap_cmds * sizeof *v);
        if (s->n_cmds > 0)
            memcpy(v, s->cmds, s->n_cmds * sizeof *v);
        s->cmds = v;
    }
    s->cmds[s->n_cmds] = (struct sed_cmd){0};
    return &s->cmds[s->n_cmds];
}

/* The command that begins with @ch: 0 or -1. */
static int command(struct sed_parse *ps, int ch)
{
    struct sed_cmd *k = new_command(ps->s);
    if (addresses(ps, k, &ch) < 0)
        return -1;
    if (ch == SED_END)
        return sed_parse_error(ps, "missing command");
    if (ch == '#')
        return comment(ps, k);
    if (ch == 'v')
        return wanted_version(ps);
    k->name = (char)ch;
    if (ch == 'L') {
        cmd_refuse(ps->s->c, "the command L is not implemented here");
        ps->s->status = SED_BAD_USAGE;
        return -1;
    }
    if (arguments(ps, k) < 0)
        return -1;
    ps->s->n_cmds++;
    return 0;
}

int sed_parse(struct sed *s, struct str text, const char *file)
{
    struct sed_parse ps = {.s = s, .p = text.p, .n = text.n, .place = {file, 0, file ? 1 : 0}};
    int r = 0;
    if (!file)
        ps.place.expr = ++s->n_exprs;
    if (s->pending_open)
        r = sed_read_text(&ps, '\n', false);
    while (r == 0) {
        int ch = sed_next(&ps);
        if (ch == SED_END)
            break;
        if (ch != ';' && !isspace(ch))
            r = command(&ps, ch);
        if (cmd_poll(s->c) < 0)
            r = -1;
    }
    s->place = ps.place;
    s->first_done = true;
    s->have_script = true;
    return r;
}

/* ---- the whole ---- */

static int resolve(struct sed *s, const struct sed_jump *j)
{
    const struct sed_jump *l = s->labels;
    while (l && !str_eq(l->label, j->label)) {
        l = l->next;
        if (cmd_poll(s->c) < 0)
            return -1;
    }
    if (!l && j->label.n > 0)
        return sed_fail(s, SED_PANIC, "can't find label for jump to `%s'", j->label.p);
    s->cmds[j->cmd].target = l ? l->cmd : s->n_cmds;
    return 0;
}

int sed_parse_end(struct sed *s)
{
    if (s->blocks)
        return sed_script_error(s, &s->blocks->place, 0, "unmatched `{'");
    if (s->pending_open && s->pending.n > 0)
        s->cmds[s->pending_cmd].text = arena_str(s->c->keep, buf_str(&s->pending));
    for (const struct sed_jump *j = s->jumps; j; j = j->next)
        if (resolve(s, j) < 0)
            return -1;
    return 0;
}
