/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/pattern_int.h"

#include "shell/expand_int.h"
#include "shell/shell_int.h"

/* ---- segments: runs of items of one character each ---- */

struct run {
    const struct pattern *p;
    struct str text;
    bool utf8;
};

static uint32_t char_at(const struct run *r, size_t pos, size_t *ret_len)
{
    if (!r->utf8) {
        *ret_len = 1;
        return (unsigned char)r->text.p[pos];
    }
    return uchar_get(r->text.p + pos, r->text.n - pos, ret_len);
}

/* Start of the character that ends before @pos > 0. */
static size_t step_back(const struct run *r, size_t pos)
{
    pos--;
    if (r->utf8)
        while (pos && ((unsigned char)r->text.p[pos] & 0xc0) == 0x80)
            pos--;
    return pos;
}

/* Items [i, end) at @pos: the place after them, or -1. */
static ptrdiff_t seg_at(const struct run *r, uint32_t i, uint32_t end, size_t pos)
{
    const struct pat_item *it = r->p->seq.items;
    for (; i < end; i++) {
        size_t len;
        if (pos >= r->text.n || !pattern__item(r->p, &it[i], char_at(r, pos, &len)))
            return -1;
        pos += len;
    }
    return (ptrdiff_t)pos;
}

/* Items [i, end) just before @pos and not before @least: their place, or -1. */
static ptrdiff_t seg_before(const struct run *r, uint32_t i, uint32_t end, size_t pos, size_t least)
{
    const struct pat_item *it = r->p->seq.items;
    while (end > i) {
        size_t len;
        if (pos <= least)
            return -1;
        pos = step_back(r, pos);
        if (!pattern__item(r->p, &it[--end], char_at(r, pos, &len)))
            return -1;
    }
    return (ptrdiff_t)pos;
}

/* First place >= @pos where items [i, end) match; *ret_end is the place after them. -1. */
static ptrdiff_t seg_find(const struct run *r, uint32_t i, uint32_t end, size_t pos, size_t *ret_end)
{
    const struct pat_item *first = &r->p->seq.items[i];
    bool fast = i < end && first->kind == PAT_CHAR && first->c < 0x80 && !(r->p->flags & PATTERN_NOCASE);
    for (;;) {
        if (fast) {
            const char *q = pos < r->text.n ? memchr(r->text.p + pos, (int)first->c, r->text.n - pos) : NULL;
            if (!q)
                return -1;
            pos = (size_t)(q - r->text.p);
        }
        ptrdiff_t e = seg_at(r, i, end, pos);
        if (e >= 0) {
            *ret_end = (size_t)e;
            return (ptrdiff_t)pos;
        }
        if (pos >= r->text.n)
            return -1;
        size_t len;
        (void)char_at(r, pos, &len);
        pos += len;
    }
}

/* Last place where items [i, end) match and end at or before @pos, not before @least; -1. */
static ptrdiff_t seg_find_last(const struct run *r, uint32_t i, uint32_t end, size_t pos, size_t least)
{
    for (;;) {
        ptrdiff_t s = seg_before(r, i, end, pos, least);
        if (s >= 0)
            return s;
        if (pos <= least)
            return -1;
        pos = step_back(r, pos);
    }
}

/* End of the segment that begins at item @i. */
static uint32_t seg_end(const struct pattern *p, uint32_t i)
{
    while (i < p->seq.n && p->seq.items[i].kind != PAT_STAR)
        i++;
    return i;
}

/* Start of the segment that ends before item @end. */
static uint32_t seg_start(const struct pattern *p, uint32_t end)
{
    while (end && p->seq.items[end - 1].kind != PAT_STAR)
        end--;
    return end;
}

/* Places the segments between the first and the last star as far left as they go from @pos on: the place after, or -1.
 */
static ptrdiff_t place_middle(const struct run *r, size_t pos)
{
    for (uint32_t i = r->p->first_star + 1; i <= r->p->last_star;) {
        uint32_t end = seg_end(r->p, i);
        if (seg_find(r, i, end, pos, &pos) < 0)
            return -1;
        i = end + 1;
    }
    return (ptrdiff_t)pos;
}

/* The same from the right: the place where they begin, or -1. */
static ptrdiff_t place_middle_back(const struct run *r, size_t pos)
{
    for (uint32_t end = r->p->last_star; end > r->p->first_star;) {
        uint32_t start = seg_start(r->p, end);
        ptrdiff_t s = seg_find_last(r, start, end, pos, 0);
        if (s < 0)
            return -1;
        pos = (size_t)s;
        end = start - 1;
    }
    return (ptrdiff_t)pos;
}

static ptrdiff_t run_whole(const struct run *r)
{
    const struct pattern *p = r->p;
    uint32_t n = p->seq.n;
    ptrdiff_t pos = seg_at(r, 0, p->stars ? p->first_star : n, 0);
    if (pos < 0)
        return -1;
    if (!p->stars)
        return (size_t)pos == r->text.n ? pos : -1;
    ptrdiff_t tail = seg_before(r, p->last_star + 1, n, r->text.n, (size_t)pos);
    if (tail < 0)
        return -1;
    pos = place_middle(r, (size_t)pos);
    return pos >= 0 && pos <= tail ? (ptrdiff_t)r->text.n : -1;
}

/* The end of a match that begins at @start: the first or last possible, or -1. *ret_reached tells whether the part
 * before the first star matched. */
static ptrdiff_t run_from(const struct run *r, size_t start, bool longest, bool *ret_reached)
{
    const struct pattern *p = r->p;
    uint32_t n = p->seq.n;
    ptrdiff_t pos = seg_at(r, 0, p->stars ? p->first_star : n, start);
    *ret_reached = pos >= 0 && p->stars;
    if (pos < 0 || !p->stars)
        return pos;
    pos = place_middle(r, (size_t)pos);
    if (pos < 0)
        return -1;
    size_t end = 0;
    if (!longest)
        return seg_find(r, p->last_star + 1, n, (size_t)pos, &end) < 0 ? -1 : (ptrdiff_t)end;
    ptrdiff_t s = seg_find_last(r, p->last_star + 1, n, r->text.n, (size_t)pos);
    if (s < 0)
        return -1;
    return seg_at(r, p->last_star + 1, n, (size_t)s);
}

/* Length of the suffix. */
static ptrdiff_t run_suffix(const struct run *r, bool longest)
{
    const struct pattern *p = r->p;
    size_t n = r->text.n;
    ptrdiff_t pos = seg_before(r, p->stars ? p->last_star + 1 : 0, p->seq.n, n, 0);
    if (pos < 0)
        return -1;
    if (!p->stars)
        return (ptrdiff_t)n - pos;
    pos = place_middle_back(r, (size_t)pos);
    if (pos < 0)
        return -1;
    if (!longest) {
        pos = seg_find_last(r, 0, p->first_star, (size_t)pos, 0);
        return pos < 0 ? -1 : (ptrdiff_t)n - pos;
    }
    size_t end;
    ptrdiff_t s = seg_find(r, 0, p->first_star, 0, &end);
    return s < 0 || end > (size_t)pos ? -1 : (ptrdiff_t)n - s;
}

static ptrdiff_t run_literal(struct str lit, struct str text, enum pat_want want)
{
    bool yes;
    switch (want) {
    case PAT_WHOLE:
        yes = str_eq(lit, text);
        break;
    case PAT_PREFIX_SHORT:
    case PAT_PREFIX_LONG:
        yes = str_starts(text, lit);
        break;
    case PAT_SUFFIX_SHORT:
    case PAT_SUFFIX_LONG:
    default:
        yes = str_ends(text, lit);
        break;
    }
    return yes ? (ptrdiff_t)lit.n : -1;
}

ptrdiff_t pattern__run(const struct pattern *p, struct proc *proc, struct str text, enum pat_want want)
{
    if (p->literal)
        return run_literal(p->text, text, want);
    if (p->has_group || (p->flags & PATTERN_PATH))
        return pattern__run_ext(p, proc, text, want);
    struct run r = {p, text, (p->flags & PATTERN_UTF8) != 0};
    bool reached;
    switch (want) {
    case PAT_WHOLE:
        return run_whole(&r);
    case PAT_PREFIX_SHORT:
    case PAT_PREFIX_LONG:
        return run_from(&r, 0, want == PAT_PREFIX_LONG, &reached);
    case PAT_SUFFIX_SHORT:
    case PAT_SUFFIX_LONG:
        return run_suffix(&r, want == PAT_SUFFIX_LONG);
    }
    return -1;
}

bool pattern__search(const struct pattern *p, struct proc *proc, struct str text, size_t from, size_t *ret_start,
                     size_t *ret_len)
{
    if (p->has_group || (p->flags & PATTERN_PATH))
        return pattern__search_ext(p, proc, text, from, ret_start, ret_len);
    if (p->literal) {
        if (from > text.n)
            return false;
        const char *q = p->text.n ? memmem(text.p + from, text.n - from, p->text.p, p->text.n) : text.p + from;
        if (!q)
            return false;
        *ret_start = (size_t)(q - text.p);
        *ret_len = p->text.n;
        return true;
    }
    struct run r = {p, text, (p->flags & PATTERN_UTF8) != 0};
    uint32_t head = p->stars ? p->first_star : p->seq.n;
    size_t pos = from;
    for (;;) {
        size_t e;
        bool reached;
        ptrdiff_t s = seg_find(&r, 0, head, pos, &e);
        if (s < 0)
            return false;
        /* What fails behind the first star fails for every later start too, so this runs once. */
        ptrdiff_t end = run_from(&r, (size_t)s, true, &reached);
        if (end < 0)
            return false;
        *ret_start = (size_t)s;
        *ret_len = (size_t)(end - s);
        return true;
    }
}

/* ---- the interface with pattern texts ---- */

int pattern__flags(struct str pat, struct str text, int flags)
{
    if (!(flags & PATTERN_UTF8) || (uchar_ascii(text) && uchar_ascii(pat)) || !uchar_valid(text) || !uchar_valid(pat))
        return flags & ~PATTERN_UTF8;
    return flags;
}

#define STACK_BYTES 2048

/* Compiles into @a, which begins on the caller's stack so that short patterns need no malloc, and runs. */
static ptrdiff_t compile_run(struct proc *proc, struct str pat, struct str text, int flags, enum pat_want want)
{
    _Alignas(16) char stack[STACK_BYTES];
    ARENA_AUTO struct arena a = {NULL, stack, stack + sizeof(stack)};
    return pattern__run(pattern__compile(&a, pat, pattern__flags(pat, text, flags)), proc, text, want);
}

bool pattern_match(struct str pat, struct str text, int flags)
{
    return compile_run(NULL, pat, text, flags, PAT_WHOLE) >= 0;
}

bool sh_match(struct shell *sh, struct str pat, struct str text, int flags)
{
    _Alignas(16) char stack[STACK_BYTES];
    ARENA_AUTO struct arena a = {NULL, stack, stack + sizeof(stack)};
    const struct pattern *p = pattern__compile(&a, pat, pattern__flags(pat, text, flags));
    return pattern__usable(sh, p) && pattern__run(p, sh->p, text, PAT_WHOLE) >= 0;
}

bool pattern__usable(struct shell *sh, const struct pattern *p)
{
    if (!p->too_deep)
        return true;
    sh_error(sh, "pattern is nested too deeply");
    if (sh->flow == FLOW_NONE)
        sh_abort(sh, 1);
    return false;
}

ptrdiff_t pattern_prefix(struct str pat, struct str text, int flags, bool longest)
{
    return compile_run(NULL, pat, text, flags, longest ? PAT_PREFIX_LONG : PAT_PREFIX_SHORT);
}

ptrdiff_t pattern_suffix(struct str pat, struct str text, int flags, bool longest)
{
    return compile_run(NULL, pat, text, flags, longest ? PAT_SUFFIX_LONG : PAT_SUFFIX_SHORT);
}

bool pattern_search(struct str pat, struct str text, size_t from, int flags, size_t *ret_start, size_t *ret_len)
{
    _Alignas(16) char stack[STACK_BYTES];
    ARENA_AUTO struct arena a = {NULL, stack, stack + sizeof(stack)};
    struct pattern *p = pattern__compile(&a, pat, pattern__flags(pat, text, flags));
    return pattern__search(p, NULL, text, from, ret_start, ret_len);
}

int pattern_flags(const struct shell *sh)
{
    int f = 0;
    if (sh_shopt(sh, SHOPT_EXTGLOB))
        f |= PATTERN_EXTGLOB;
    if (sh_shopt(sh, SHOPT_NOCASEMATCH))
        f |= PATTERN_NOCASE;
    if (sh->utf8)
        f |= PATTERN_UTF8;
    return f;
}

bool pattern_is_glob(struct str s, int flags)
{
    bool open = false; /* an unquoted '[' was seen */
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (c == '\\')
            i++;
        else if (c == '*' || c == '?' || (c == ']' && open))
            return true;
        else if (c == '[')
            open = true;
        else if (c == '/')
            open = false; /* a set does not reach over components */
        else if ((flags & PATTERN_EXTGLOB) && (c == '+' || c == '@' || c == '!') && i + 1 < s.n && s.p[i + 1] == '(')
            return true;
    }
    return false;
}
