/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/pattern_int.h"

#include "base/num.h"
#include "shell/expand_int.h"

/* Deeper groups match nothing: the bound of the recursion here and when matching. */
#define GROUPS_MOST 200

struct compiler {
    struct arena *a;
    struct str pat;
    int flags;
    uint32_t depth;
    bool has_group, too_deep;
};

static uint32_t next_char(const struct compiler *c, size_t i, size_t *ret_len)
{
    if (!(c->flags & PATTERN_UTF8)) {
        *ret_len = 1;
        return (unsigned char)c->pat.p[i];
    }
    return uchar_get(c->pat.p + i, c->pat.n - i, ret_len);
}

static bool is_group(struct str pat, size_t i, int flags)
{
    return (flags & PATTERN_EXTGLOB) && i + 1 < pat.n && pat.p[i + 1] == '(' && memchr("?*+@!", pat.p[i], 5);
}

/* ---- sets ---- */

struct set_builder {
    struct pat_set *set;
    uint32_t cap;
};

static void set_range(struct compiler *c, struct set_builder *b, uint32_t lo, uint32_t hi)
{
    struct pat_set *s = b->set;
    for (uint32_t k = lo; k <= hi && k < 256; k++)
        s->low[k / 64] |= UINT64_C(1) << k % 64;
    if (hi < 256 || lo > hi)
        return;
    if (s->n_ranges == b->cap) {
        uint32_t cap = b->cap ? b->cap * 2 : 4;
        struct pat_range *v = arena_alloc(c->a, cap * sizeof(*v));
        if (s->n_ranges)
            memcpy(v, s->ranges, s->n_ranges * sizeof(*v));
        s->ranges = v;
        b->cap = cap;
    }
    s->ranges[s->n_ranges++] = (struct pat_range){NUM_MAX(lo, 256u), hi};
}

static void set_add_class(struct compiler *c, struct pat_set *s, enum uchar_class cls)
{
    if (cls == UCHAR_NONE)
        return;
    s->classes |= 1u << cls;
    if (c->flags & PATTERN_NOCASE)
        return; /* classes look at the character as it is, ranges at its lower case: set_has() keeps them apart */
    bool utf8 = (c->flags & PATTERN_UTF8) != 0;
    for (uint32_t k = 0; k < 256; k++)
        if (uchar_is(k, cls, utf8))
            s->low[k / 64] |= UINT64_C(1) << k % 64;
}

/* POSIX names of characters in [.name.]; letters stand for themselves. */
static uint32_t collating(struct str name, bool utf8)
{
    static const struct {
        const char *name;
        char c;
    } names[] = {
        {"NUL", 0},
        {"tab", '\t'},
        {"newline", '\n'},
        {"vertical-tab", '\v'},
        {"form-feed", '\f'},
        {"carriage-return", '\r'},
        {"space", ' '},
        {"exclamation-mark", '!'},
        {"quotation-mark", '"'},
        {"number-sign", '#'},
        {"dollar-sign", '$'},
        {"percent-sign", '%'},
        {"ampersand", '&'},
        {"apostrophe", '\''},
        {"left-parenthesis", '('},
        {"right-parenthesis", ')'},
        {"asterisk", '*'},
        {"plus-sign", '+'},
        {"comma", ','},
        {"hyphen", '-'},
        {"hyphen-minus", '-'},
        {"minus", '-'},
        {"dash", '-'},
        {"period", '.'},
        {"full-stop", '.'},
        {"slash", '/'},
        {"solidus", '/'},
        {"zero", '0'},
        {"one", '1'},
        {"two", '2'},
        {"three", '3'},
        {"four", '4'},
        {"five", '5'},
        {"six", '6'},
        {"seven", '7'},
        {"eight", '8'},
        {"nine", '9'},
        {"colon", ':'},
        {"semicolon", ';'},
        {"less-than-sign", '<'},
        {"equals-sign", '='},
        {"greater-than-sign", '>'},
        {"question-mark", '?'},
        {"commercial-at", '@'},
        {"left-square-bracket", '['},
        {"backslash", '\\'},
        {"reverse-solidus", '\\'},
        {"right-square-bracket", ']'},
        {"circumflex", '^'},
        {"circumflex-accent", '^'},
        {"underscore", '_'},
        {"low-line", '_'},
        {"grave-accent", '`'},
        {"left-brace", '{'},
        {"left-curly-bracket", '{'},
        {"vertical-line", '|'},
        {"right-brace", '}'},
        {"right-curly-bracket", '}'},
        {"tilde", '~'},
        {"DEL", 0x7f},
    };
    if (name.n) {
        size_t len = 1;
        uint32_t c = utf8 ? uchar_get(name.p, name.n, &len) : (unsigned char)name.p[0];
        if (len == name.n)
            return c;
    }
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (str_eqc(name, names[i].name))
            return (unsigned char)names[i].c;
    return UCHAR_BAD;
}

/* Text of [:name:], [=c=] or [.name.] whose inner '[' is at @i: true, *ret_name, *ret_next. False when it is not
 * closed. */
static bool bracket_name(struct str pat, size_t i, struct str *ret_name, size_t *ret_next)
{
    char kind = pat.p[i + 1];
    for (size_t j = i + 2; j + 1 < pat.n; j++)
        if (pat.p[j] == kind && pat.p[j + 1] == ']') {
            *ret_name = str_of(pat.p + i + 2, j - i - 2);
            *ret_next = j + 2;
            return true;
        }
    return false;
}

static bool at_bracket_name(struct str pat, size_t i, const char *kinds)
{
    return pat.p[i] == '[' && i + 1 < pat.n && strchr(kinds, pat.p[i + 1]) && pat.p[i + 1];
}

enum set_result { SET_OPEN, SET_OK, SET_NEVER };

/* One end of a range at *i: its character (UCHAR_BAD: an unknown name). */
static enum set_result set_char(const struct compiler *c, size_t *i, uint32_t *ret)
{
    size_t len;
    if (at_bracket_name(c->pat, *i, ".=")) {
        struct str name;
        if (!bracket_name(c->pat, *i, &name, i))
            return SET_OPEN;
        *ret = collating(name, (c->flags & PATTERN_UTF8) != 0);
        return SET_OK;
    }
    if (c->pat.p[*i] == '\\') {
        if (++*i >= c->pat.n)
            return SET_NEVER;
    }
    *ret = next_char(c, *i, &len);
    *i += len;
    return SET_OK;
}

static enum set_result set_member(struct compiler *c, struct set_builder *b, size_t *i)
{
    struct str pat = c->pat, name;
    uint32_t lo, hi;
    if (at_bracket_name(pat, *i, ":") && bracket_name(pat, *i, &name, i)) {
        set_add_class(c, b->set, uchar_class_find(name));
        return SET_OK;
    }
    enum set_result r = set_char(c, i, &lo);
    if (r != SET_OK)
        return r;
    hi = lo;
    if (*i + 1 < pat.n && pat.p[*i] == '-' && pat.p[*i + 1] != ']') {
        ++*i;
        r = set_char(c, i, &hi);
        if (r != SET_OK)
            return r;
    }
    if (lo == UCHAR_BAD || hi == UCHAR_BAD)
        return SET_OK;
    if (c->flags & PATTERN_NOCASE)
        set_range(c, b, pattern__fold(lo, c->flags), pattern__fold(hi, c->flags));
    else
        set_range(c, b, lo, hi);
    return SET_OK;
}

/* The bracket expression at @i: SET_OK, an item and the place after it; SET_OPEN when it has no end. */
static enum set_result compile_set(struct compiler *c, size_t i, struct pat_item *ret, size_t *ret_next)
{
    struct str pat = c->pat;
    struct set_builder b = {ARENA_NEW(c->a, struct pat_set), 0};
    i++;
    if (i < pat.n && (pat.p[i] == '!' || pat.p[i] == '^')) {
        b.set->negate = true;
        i++;
    }
    for (bool first = true; i < pat.n; first = false) {
        if (pat.p[i] == ']' && !first) {
            *ret = (struct pat_item){.kind = PAT_SET, .set = b.set};
            *ret_next = i + 1;
            return SET_OK;
        }
        enum set_result r = set_member(c, &b, &i);
        if (r != SET_OK)
            return r;
    }
    return SET_OPEN;
}

/* ---- groups ---- */

/* End of the bracket expression at @i for the search of a group's end, or @i + 1 when it is none. */
static size_t skip_bracket(struct str pat, size_t i)
{
    size_t j = i + 1;
    if (j < pat.n && (pat.p[j] == '!' || pat.p[j] == '^'))
        j++;
    for (bool first = true; j < pat.n; first = false) {
        struct str name;
        if (pat.p[j] == ']' && !first)
            return j + 1;
        if (at_bracket_name(pat, j, ":=.") && bracket_name(pat, j, &name, &j))
            continue;
        j += pat.p[j] == '\\' ? 2 : 1;
    }
    return i + 1;
}

/* Place of the '|' or ')' that ends the alternative that begins at @i; pat.n when there is none. */
static size_t alt_end(struct str pat, size_t i)
{
    size_t depth = 0;
    while (i < pat.n) {
        char ch = pat.p[i];
        if (ch == '\\') {
            i += 2;
        } else if (ch == '[') {
            i = skip_bracket(pat, i);
        } else if (is_group(pat, i, PATTERN_EXTGLOB)) {
            depth++;
            i += 2;
        } else if (ch == '(') {
            depth++;
            i++;
        } else if (ch == ')' && depth) {
            depth--;
            i++;
        } else if (depth == 0 && (ch == ')' || ch == '|')) {
            return i;
        } else {
            i++;
        }
    }
    return pat.n;
}

static struct pat_seq compile_seq(struct compiler *c, size_t from, size_t to);

/* The group at @i: false when it has no end. */
static bool compile_group(struct compiler *c, size_t i, struct pat_item *ret, size_t *ret_next)
{
    uint32_t n = 0;
    size_t end = i + 2;
    for (;; end++) {
        end = alt_end(c->pat, end);
        if (end >= c->pat.n)
            return false;
        n++;
        if (c->pat.p[end] == ')')
            break;
    }
    *ret_next = end + 1;
    if (c->depth >= GROUPS_MOST) {
        *ret = (struct pat_item){.kind = PAT_NEVER};
        c->too_deep = true;
        return true;
    }
    struct pat_seq *alts = arena_alloc(c->a, n * sizeof(*alts));
    c->depth++;
    size_t start = i + 2;
    for (uint32_t k = 0; k < n; k++) {
        size_t stop = alt_end(c->pat, start);
        alts[k] = compile_seq(c, start, stop);
        start = stop + 1;
    }
    c->depth--;
    c->has_group = true;
    *ret = (struct pat_item){.kind = PAT_GROUP, .op = c->pat.p[i], .alts = alts, .n_alts = n};
    return true;
}

/* ---- sequences ---- */

static struct pat_item compile_char(struct compiler *c, size_t *i)
{
    size_t len;
    if (c->pat.p[*i] == '\\' && *i + 1 < c->pat.n)
        ++*i;
    uint32_t ch = next_char(c, *i, &len);
    *i += len;
    if (c->flags & PATTERN_NOCASE)
        ch = pattern__fold(ch, c->flags);
    return (struct pat_item){.kind = PAT_CHAR, .c = ch};
}

static struct pat_item compile_item(struct compiler *c, size_t *i)
{
    struct pat_item it;
    size_t next;
    char ch = c->pat.p[*i];
    if (is_group(c->pat, *i, c->flags) && compile_group(c, *i, &it, &next)) {
        *i = next;
        return it;
    }
    if (ch == '*' || ch == '?') {
        ++*i;
        return (struct pat_item){.kind = ch == '*' ? PAT_STAR : PAT_ANY};
    }
    if (ch == '[') {
        switch (compile_set(c, *i, &it, &next)) {
        case SET_OK:
            *i = next;
            return it;
        case SET_NEVER:
            *i = c->pat.n;
            return (struct pat_item){.kind = PAT_NEVER};
        case SET_OPEN:
            break;
        }
    }
    return compile_char(c, i);
}

static struct pat_seq compile_seq(struct compiler *c, size_t from, size_t to)
{
    /* Items are at most as many as bytes; the memory that is too much lives as short as the arena. */
    struct str whole = c->pat;
    struct pat_item *items = arena_alloc(c->a, (to - from + 1) * sizeof(*items));
    uint32_t n = 0;
    c->pat = str_of(whole.p, to);
    for (size_t i = from; i < to;) {
        struct pat_item it = compile_item(c, &i);
        if (it.kind == PAT_STAR && n && items[n - 1].kind == PAT_STAR)
            continue;
        items[n++] = it;
    }
    c->pat = whole;
    return (struct pat_seq){items, n};
}

static void find_stars(struct pattern *p)
{
    bool plain = !(p->flags & PATTERN_NOCASE);
    bool star = false;
    for (uint32_t i = 0; i < p->seq.n; i++) {
        const struct pat_item *it = &p->seq.items[i];
        if (star && it->kind == PAT_GROUP && strchr("@+!", it->op))
            p->odd = true;
        star = it->kind == PAT_STAR || (star && it->kind == PAT_ANY);
        if (it->kind == PAT_STAR) {
            if (!p->stars++)
                p->first_star = i;
            p->last_star = i;
        }
        if (it->kind != PAT_CHAR)
            plain = false;
    }
    p->literal = plain;
}

struct pattern *pattern__compile(struct arena *a, struct str pat, int flags)
{
    struct compiler c = {.a = a, .pat = pat, .flags = flags};
    struct pattern *p = ARENA_NEW(a, struct pattern);
    p->flags = flags;
    p->source = pat;
    p->seq = compile_seq(&c, 0, pat.n);
    p->has_group = c.has_group;
    p->too_deep = c.too_deep;
    find_stars(p);
    if (p->literal) {
        char *text = arena_alloc(a, pat.n + 1);
        size_t n = 0;
        for (uint32_t i = 0; i < p->seq.n; i++)
            if (flags & PATTERN_UTF8)
                n += uchar_put(p->seq.items[i].c, text + n);
            else
                text[n++] = (char)p->seq.items[i].c;
        text[n] = 0;
        p->text = str_of(text, n);
    }
    return p;
}

static bool class_has(const struct pat_set *s, uint32_t c, bool utf8)
{
    for (uint32_t cls = 0; s->classes >> cls; cls++)
        if ((s->classes >> cls & 1) && uchar_is(c, (enum uchar_class)cls, utf8))
            return true;
    return false;
}

static bool set_has(const struct pat_set *s, uint32_t c, int flags)
{
    uint32_t orig = c;
    if (flags & PATTERN_NOCASE)
        c = pattern__fold(c, flags);
    if (c < 256 && (s->low[c / 64] >> c % 64 & 1))
        return true;
    for (uint32_t i = 0; i < s->n_ranges; i++)
        if (c - s->ranges[i].lo <= s->ranges[i].hi - s->ranges[i].lo)
            return true;
    return s->classes && (orig >= 256 || (flags & PATTERN_NOCASE)) && class_has(s, orig, (flags & PATTERN_UTF8) != 0);
}

bool pattern__item(const struct pattern *p, const struct pat_item *it, uint32_t c)
{
    switch (it->kind) {
    case PAT_CHAR:
        return c == it->c || ((p->flags & PATTERN_NOCASE) && pattern__fold(c, p->flags) == it->c);
    case PAT_ANY:
        return c != '/' || !(p->flags & PATTERN_PATH);
    case PAT_SET:
        return set_has(it->set, c, p->flags) != it->set->negate;
    case PAT_STAR:
    case PAT_GROUP:
    case PAT_NEVER:
        break;
    }
    return false;
}

static bool seq_starts_dot(const struct pat_seq *s)
{
    if (!s->n)
        return false;
    const struct pat_item *it = &s->items[0];
    if (it->kind == PAT_CHAR)
        return it->c == '.';
    if (it->kind != PAT_GROUP || it->op == '!')
        return false;
    bool empty = it->op == '?' || it->op == '*';
    for (uint32_t i = 0; i < it->n_alts; i++) {
        if (seq_starts_dot(&it->alts[i]))
            return true;
        empty = empty || !it->alts[i].n;
    }
    struct pat_seq rest = {s->items + 1, s->n - 1};
    return empty && seq_starts_dot(&rest);
}

bool pattern__starts_dot(const struct pattern *p)
{
    return seq_starts_dot(&p->seq);
}
