/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/sed_int.h"

#include <stdio.h>

/* The cycle: which commands a line is for, and what they do. */

/* Where to go on after a command. */
enum flow {
    FLOW_NEXT,
    FLOW_JUMP,    /* to the command's target */
    FLOW_RESTART, /* at the first command, with what is left of the pattern space */
    FLOW_CYCLE,   /* the next line; nothing is printed */
    FLOW_QUIT,
    FLOW_FAIL,
};

/* ---- spaces ---- */

int sed_add(struct sed *s, struct sed_space *to, const char *p, size_t n)
{
    if (n > to->cap - to->at - to->n) {
        size_t need = to->n + n;
        if (to->at >= need || to->at > to->cap / 2) {
            memmove(to->mem, to->mem + to->at, to->n);
            to->at = 0;
        }
        if (need > to->cap - to->at) {
            size_t cap = (to->at + need) * 2 + 128;
            char *mem = need > LIMIT_LINE ? NULL : mem_try_realloc(to->mem, cap);
            if (!mem)
                return sed_no_memory(s);
            to->mem = mem;
            to->cap = cap;
        }
    }
    if (n > 0)
        memcpy(to->mem + to->at + to->n, p, n);
    to->n += n;
    return 0;
}

static int copy_space(struct sed *s, struct sed_space *to, const struct sed_space *from)
{
    to->at = to->n = 0;
    to->chomped = from->chomped;
    return sed_add(s, to, sed_bytes(from), from->n);
}

static int append_space(struct sed *s, struct sed_space *to, const struct sed_space *from)
{
    to->chomped = from->chomped;
    return sed_add(s, to, &s->delim, 1) < 0 ? -1 : sed_add(s, to, sed_bytes(from), from->n);
}

/* ---- addresses ---- */

static int matches_one(struct sed *s, const struct sed_addr *a)
{
    switch (a->kind) {
    case SED_ADDR_ANY:
        return 1;
    case SED_ADDR_LINE:
        return a->line == s->line_number;
    case SED_ADDR_EVERY:
        return s->line_number >= a->line && (s->line_number - a->line) % a->step == 0;
    case SED_ADDR_PLUS:
    case SED_ADDR_UNTIL:
        return a->line <= s->line_number;
    case SED_ADDR_LAST:
        return sed_is_last(s);
    case SED_ADDR_REGEX:
        return sed_match(s, a->regex, 0, NULL, 0);
    }
    return 0;
}

/* Whether a range begins at this line: 1, 0, -1. *ret_done: the answer is whole. */
static int begins_range(struct sed *s, struct sed_cmd *k, bool *ret_done)
{
    struct sed_addr *a2 = k->a2;
    *ret_done = true;
    if (k->a1->kind == SED_ADDR_LINE) {
        if (k->range == SED_RANGE_OVER || s->line_number < k->a1->line)
            return 0;
    } else {
        int r = matches_one(s, k->a1);
        if (r <= 0)
            return r;
    }
    k->range = SED_RANGE_ON;
    switch (a2->kind) {
    case SED_ADDR_REGEX: /* is looked for from the next line on */
        return 1;
    case SED_ADDR_LINE:
        if (s->line_number >= a2->line)
            k->range = SED_RANGE_OVER;
        return s->line_number <= a2->line ? 1 : matches_one(s, k->a1);
    case SED_ADDR_PLUS:
        a2->line = s->line_number + a2->step;
        return 1;
    case SED_ADDR_UNTIL:
        a2->line = s->line_number + a2->step - s->line_number % a2->step;
        return 1;
    case SED_ADDR_ANY:
    case SED_ADDR_EVERY:
    case SED_ADDR_LAST:
        break;
    }
    *ret_done = false;
    return 1;
}

/* Whether the line is one that the addresses of @k name: 1, 0, -1. */
static int matches(struct sed *s, struct sed_cmd *k)
{
    bool done;
    if (!k->a1)
        return 1;
    if (!k->a2)
        return matches_one(s, k->a1);
    if (k->range != SED_RANGE_ON) {
        int r = begins_range(s, k, &done);
        if (r <= 0 || done)
            return r;
    }
    if (k->a2->kind == SED_ADDR_LINE) {
        if (s->line_number >= k->a2->line)
            k->range = SED_RANGE_OVER;
        return s->line_number <= k->a2->line;
    }
    int r = matches_one(s, k->a2);
    if (r > 0)
        k->range = SED_RANGE_OVER;
    return r < 0 ? r : 1;
}

/* ---- commands that print ---- */

static int put_space(struct sed *s, struct sed_out *o)
{
    return sed_put_line(s, o, sed_bytes(&s->space), s->space.n, s->space.chomped);
}

static int put_first_line(struct sed *s, struct sed_out *o)
{
    const char *p = sed_bytes(&s->space), *e = s->space.n ? memchr(p, s->delim, s->space.n) : NULL;
    return sed_put_line(s, o, p, e ? (size_t)(e - p) : s->space.n, e ? true : s->space.chomped);
}

/* The text of i and c. */
static int put_text(struct sed *s, struct str text)
{
    return text.p ? sed_put_line(s, s->out, text.p, text.n - 1, true) : 0;
}

static int put_formatted(struct sed *s, const char *text)
{
    if (sed_put_missing(s, s->out) < 0 || sed_put(s, s->out, text, strlen(text)) < 0 ||
        sed_put(s, s->out, &s->delim, 1) < 0)
        return -1;
    return sed_flush_unbuffered(s, s->out);
}

static int put_number(struct sed *s)
{
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)s->line_number);
    return put_formatted(s, text);
}

/* A byte as l shows it; its length. */
static size_t visible(unsigned char b, char out[5])
{
    static const char named[] = "\aa\bb\ff\nn\rr\tt\vv";
    if (b >= 0x20 && b < 0x7f && b != '\\') {
        out[0] = (char)b;
        return 1;
    }
    out[0] = '\\';
    if (b == '\\') {
        out[1] = '\\';
        return 2;
    }
    for (const char *p = named; *p; p += 2) {
        if ((unsigned char)*p == b) {
            out[1] = p[1];
            return 2;
        }
    }
    snprintf(out + 1, 4, "%03o", b);
    return 4;
}

static int put_visible(struct sed *s, int wrap)
{
    const char *p = sed_bytes(&s->space);
    size_t width = 0;
    char out[5];
    int r = sed_put_missing(s, s->out);
    for (size_t i = 0; i < s->space.n && r == 0; i++) {
        size_t n = visible((unsigned char)p[i], out);
        if (wrap > 0 && width + n >= (size_t)wrap) {
            const char end[2] = {'\\', s->delim};
            r = sed_put(s, s->out, end, 2);
            width = 0;
        }
        if (r == 0)
            r = sed_put(s, s->out, out, n);
        width += n;
        if (cmd_poll(s->c) < 0)
            return -1;
    }
    const char end[2] = {'$', s->delim};
    if (r < 0 || sed_put(s, s->out, end, 2) < 0)
        return -1;
    return sed_flush_unbuffered(s, s->out);
}

/* ---- what is put off to the end of the cycle ---- */

static int put_off(struct sed *s, struct sed_append a)
{
    if (s->n_appends == s->cap_appends) {
        size_t cap = s->cap_appends ? s->cap_appends * 2 : 8;
        struct sed_append *v = mem_try_realloc(s->appends, cap * sizeof *v);
        if (!v) {
            mem_free(a.owned);
            return sed_no_memory(s);
        }
        s->appends = v;
        s->cap_appends = cap;
    }
    s->appends[s->n_appends++] = a;
    return 0;
}

static int put_off_line(struct sed *s, struct sed_reader *in)
{
    struct sed_space line = {0};
    bool whole;
    int r = sed_reader_line(s, in, &line, &whole);
    if (r == 1 && whole && sed_add(s, &line, &s->delim, 1) < 0)
        r = -1;
    if (r == 1)
        return put_off(s, (struct sed_append){str_of(line.mem, line.n), NULL, line.mem});
    mem_free(line.mem);
    return r;
}

static int read_file(struct sed *s, const struct sed_cmd *k)
{
    if (k->before)
        return sed_put_file(s, s->out, k->text.p);
    return put_off(s, (struct sed_append){.file = k->text.p});
}

/* ---- the cycle ---- */

/* n and N: the next line in the place of the current one, or behind it. */
static enum flow next_line(struct sed *s, bool append)
{
    if (append && sed_add(s, &s->space, &s->delim, 1) < 0)
        return FLOW_FAIL;
    if (!append && !s->quiet && put_space(s, s->out) < 0)
        return FLOW_FAIL;
    int last = sed_is_last(s);
    int r = last == 0 ? sed_read_line(s, append) : 0;
    if (last < 0 || r < 0)
        return FLOW_FAIL;
    if (r > 0)
        return FLOW_NEXT;
    if (append) {
        s->space.n--;
        if (!s->quiet && put_space(s, s->out) < 0)
            return FLOW_FAIL;
    }
    return FLOW_CYCLE;
}

static enum flow drop_first_line(struct sed *s)
{
    const char *p = sed_bytes(&s->space), *e = s->space.n ? memchr(p, s->delim, s->space.n) : NULL;
    if (!e)
        return FLOW_CYCLE;
    s->space.at += (size_t)(e - p) + 1;
    s->space.n -= (size_t)(e - p) + 1;
    return FLOW_RESTART;
}

static enum flow quit(struct sed *s, const struct sed_cmd *k)
{
    if (k->name == 'q' && ((!s->quiet && put_space(s, s->out) < 0) || sed_put_appends(s) < 0))
        return FLOW_FAIL;
    s->status = k->number == -1 ? 0 : k->number;
    return FLOW_QUIT;
}

/* Commands that print, write, or put something off: 0 or -1. */
static int emit(struct sed *s, const struct sed_cmd *k)
{
    switch (k->name) {
    case 'a':
        return k->text.p ? put_off(s, (struct sed_append){.text = k->text}) : put_off(s, (struct sed_append){0});
    case 'i':
        return put_text(s, k->text);
    case 'l':
        return put_visible(s, k->number == -1 ? s->wrap : k->number);
    case 'p':
        return put_space(s, s->out);
    case 'P':
        return put_first_line(s, s->out);
    case 'r':
        return read_file(s, k);
    case 'R':
        return put_off_line(s, k->in);
    case 'w':
        return put_space(s, k->out);
    case 'W':
        return put_first_line(s, k->out);
    case '=':
        return put_number(s);
    default: /* F */
        return put_formatted(s, s->file_name);
    }
}

/* Commands that change the spaces: 0 or -1. */
static int edit(struct sed *s, const struct sed_cmd *k)
{
    struct sed_space was;
    switch (k->name) {
    case 'g':
        return copy_space(s, &s->space, &s->hold);
    case 'G':
        return append_space(s, &s->space, &s->hold);
    case 'h':
        return copy_space(s, &s->hold, &s->space);
    case 'H':
        return append_space(s, &s->hold, &s->space);
    case 's':
        return sed_substitute(s, k->subst);
    case 'x':
        was = s->space;
        s->space = s->hold;
        s->hold = was;
        return 0;
    case 'y':
        return sed_translate(s, k->trans);
    default: /* z */
        s->space.n = 0;
        return 0;
    }
}

static enum flow execute(struct sed *s, const struct sed_cmd *k)
{
    switch (k->name) {
    case '{':
    case 'b':
        return FLOW_JUMP;
    case '}':
    case ':':
        return FLOW_NEXT;
    case 'c':
        /* Of a range, once behind its end. */
        if (k->range != SED_RANGE_ON && put_text(s, k->text) < 0)
            return FLOW_FAIL;
        return FLOW_CYCLE;
    case 'd':
        return FLOW_CYCLE;
    case 'D':
        return drop_first_line(s);
    case 'n':
    case 'N':
        return next_line(s, k->name == 'N');
    case 'q':
    case 'Q':
        return quit(s, k);
    case 't':
    case 'T': {
        bool jump = s->replaced == (k->name == 't');
        s->replaced = false;
        return jump ? FLOW_JUMP : FLOW_NEXT;
    }
    case 'g':
    case 'G':
    case 'h':
    case 'H':
    case 's':
    case 'x':
    case 'y':
    case 'z':
        return edit(s, k) < 0 ? FLOW_FAIL : FLOW_NEXT;
    default:
        return emit(s, k) < 0 ? FLOW_FAIL : FLOW_NEXT;
    }
}

/* The script, for the line in the pattern space. */
static enum flow cycle(struct sed *s)
{
    size_t i = 0;
    while (i < s->n_cmds) {
        struct sed_cmd *k = &s->cmds[i];
        if (cmd_poll(s->c) < 0)
            return FLOW_FAIL;
        int hit = matches(s, k);
        if (hit < 0)
            return FLOW_FAIL;
        enum flow flow = hit != k->negate ? execute(s, k) : FLOW_NEXT;
        if (flow == FLOW_NEXT)
            i++;
        else if (flow == FLOW_JUMP)
            i = k->target;
        else if (flow == FLOW_RESTART)
            i = 0;
        else
            return flow;
    }
    if (!s->quiet && put_space(s, s->out) < 0)
        return FLOW_FAIL;
    return FLOW_CYCLE;
}

int sed_run(struct sed *s)
{
    enum flow flow = FLOW_CYCLE;
    int r = 0;
    while (flow == FLOW_CYCLE && s->c->out_err == 0) {
        r = cmd_poll(s->c) < 0 ? -1 : sed_read_line(s, false);
        if (r <= 0)
            break;
        flow = cycle(s);
    }
    if (r < 0 || flow == FLOW_FAIL || sed_close_input(s) < 0)
        return s->status;
    return s->unreadable ? SED_BAD_INPUT : s->status;
}
