/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/sed_int.h"

#include <ctype.h>

#include "regex/unicode.h"
#include "shell/cmd/wide.h"

/* s and y. */

/* ---- case ---- */

/* A byte of the C locale, where what is not ASCII has no case and becomes 0xff, as in the real one. */
static char change_byte(char ch, bool upper)
{
    unsigned char b = (unsigned char)ch;
    return b >= 0x80 ? '\xff' : (char)(upper ? toupper(b) : tolower(b));
}

static int add_char(struct sed *s, struct sed_space *to, const char *p, size_t len, uint32_t wide, bool upper)
{
    char out[4];
    if (!s->utf8 || len == 1) {
        out[0] = change_byte(*p, upper);
        return sed_add(s, to, out, 1);
    }
    return sed_add(s, to, out, unicode_encode(upper ? unicode_upper(wide) : unicode_lower(wide), out));
}

/* Appends @t with its letters changed. Behind a NUL or a character that is cut off nothing is changed. */
static int add_changed(struct sed *s, struct sed_space *to, struct str t, unsigned letters)
{
    size_t at = 0;
    while (letters != SED_AS_IS && at < t.n) {
        uint32_t wide = 0;
        size_t len = s->utf8 ? wide_decode(t.p + at, t.n - at, &wide) : 1;
        int r;
        if (s->utf8 && (len == 0 ? wide_partial(t.p + at, t.n - at) : wide == 0))
            break;
        if (len == 0) {
            letters &= ~(unsigned)SED_FIRST;
            if (letters == SED_AS_IS)
                break;
            r = sed_add(s, to, t.p + at++, 1);
        } else {
            unsigned how = letters & SED_FIRST ? letters & SED_FIRST : letters;
            r = add_char(s, to, t.p + at, len, wide, how & (SED_UPPER | SED_UPPER_FIRST));
            letters &= ~(unsigned)SED_FIRST;
            at += len;
        }
        if (r < 0 || cmd_poll(s->c) < 0)
            return -1;
    }
    return sed_add(s, to, t.p + at, t.n - at);
}

/* ---- s ---- */

static int add_replacement(struct sed *s, const struct sed_part *parts, const struct regex_span *spans)
{
    unsigned waiting = 0; /* \u or \l that has met no letter yet */
    for (const struct sed_part *p = parts; p; p = p->next) {
        unsigned letters = p->letters & SED_FIRST ? p->letters : p->letters | waiting;
        waiting = 0;
        if (p->text.n > 0) {
            if (add_changed(s, &s->result, p->text, letters) < 0)
                return -1;
            letters &= ~(unsigned)SED_FIRST;
        }
        if (p->group < 0)
            continue;
        struct regex_span m = spans[p->group];
        if (m.start == m.end) {
            if (p->letters & SED_FIRST)
                waiting = letters & SED_FIRST;
        } else if (add_changed(s, &s->result, str_of(sed_bytes(&s->space) + m.start, (size_t)(m.end - m.start)),
                               letters) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Bytes of the character at @p. */
static size_t char_len(const struct sed *s, const char *p, size_t n)
{
    uint32_t wide;
    size_t len = s->utf8 && (unsigned char)*p >= 0x80 ? wide_decode(p, n, &wide) : 1;
    return len > 0 ? len : 1;
}

/* Replaces in s->result: the number of matches met, or -1. */
static int64_t replace(struct sed *s, const struct sed_subst *sub, struct regex_span *m)
{
    const char *line = sed_bytes(&s->space);
    size_t start = 0, last_end = 0, n = s->space.n;
    uint64_t count = 0;
    int r = 1;
    bool again = true;
    while (r == 1) {
        size_t at = (size_t)m->start, len = (size_t)m->end - at, end = (size_t)m->end;
        if (sed_add(s, &s->result, line + start, at - start) < 0)
            return -1;
        /* An empty match right behind another one does not count. */
        if ((len > 0 || count == 0 || at > last_end) && ++count >= sub->number) {
            s->replaced = true;
            if (add_replacement(s, sub->parts, m) < 0)
                return -1;
            again = sub->global;
        } else {
            if (len == 0 && at == n) {
                start = n;
                break;
            }
            if (len == 0)
                len = s->last_regex->bytewise ? 1 : char_len(s, line + at, n - at);
            if (sed_add(s, &s->result, line + at, len) < 0)
                return -1;
        }
        start = at + len;
        last_end = end;
        if (!again || start > n)
            break;
        r = sed_match(s, sub->regex, start, m, sub->max_group + 1);
    }
    if (r < 0 || sed_add(s, &s->result, line + start, n - start) < 0)
        return -1;
    return (int64_t)count;
}

int sed_substitute(struct sed *s, const struct sed_subst *sub)
{
    struct regex_span m[SED_GROUPS];
    int r = sed_match(s, sub->regex, 0, m, sub->max_group + 1);
    if (r <= 0)
        return r;
    s->result.at = s->result.n = 0;
    int64_t count = replace(s, sub, m);
    if (count < 0)
        return -1;
    s->result.chomped = s->space.chomped;
    struct sed_space was = s->space;
    s->space = s->result;
    s->result = was;
    if ((uint64_t)count < sub->number)
        return 0;
    if (sub->print && sed_put_line(s, s->out, sed_bytes(&s->space), s->space.n, s->space.chomped) < 0)
        return -1;
    return sub->out ? sed_put_line(s, sub->out, sed_bytes(&s->space), s->space.n, s->space.chomped) : 0;
}

/* ---- y ---- */

int sed_translate(struct sed *s, const struct sed_trans *t)
{
    char *p = sed_bytes(&s->space);
    size_t n = s->space.n;
    if (t->bytes_only) {
        for (size_t i = 0; i < n; i++)
            p[i] = (char)t->byte[(uint8_t)p[i]];
        return 0;
    }
    s->result.at = s->result.n = 0;
    for (size_t i = 0, len; i < n; i += len) {
        len = char_len(s, p + i, n - i);
        struct str to = str_of(p + i, len);
        /* A byte that is no character stands for any that begins with it. */
        for (size_t k = 0; k < t->n; k++) {
            if (t->pairs[k].from.n >= len && memcmp(t->pairs[k].from.p, p + i, len) == 0) {
                to = t->pairs[k].to;
                break;
            }
        }
        if (sed_add(s, &s->result, to.p, to.n) < 0 || cmd_poll(s->c) < 0)
            return -1;
    }
    s->result.chomped = s->space.chomped;
    struct sed_space was = s->space;
    s->space = s->result;
    s->result = was;
    return 0;
}
