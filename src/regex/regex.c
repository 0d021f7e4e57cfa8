/* SPDX-License-Identifier: Apache-2.0 */
#include "regex/regex.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/num.h"
#include "regex/regex_int.h"
#include "types/limits.h"

static const char *const msg_memory = "Memory exhausted";

/* ---- dialects ---- */

#define COMMON_SYNTAX (RX_CLASSES | RX_DOT_NEWLINE | RX_DOT_NOT_NUL | RX_INTERVALS | RX_NO_EMPTY_RANGES)
#define BASIC_SYNTAX (COMMON_SYNTAX | RX_BK_PARENS | RX_BK_BRACES | RX_BK_VBAR | RX_BK_PLUS_QM | RX_INVALID_DUP)
#define EXTENDED_SYNTAX (COMMON_SYNTAX | RX_INDEP_ANCHORS | RX_INDEP_OPS | RX_INVALID_OPS | RX_UNMATCHED_PAREN_PLAIN)

/* As the RE_SYNTAX_* values of <regex.h> and what grep, sed, expr and find make of them. */
static unsigned syntax_of(unsigned flags)
{
    bool ere = flags & REGEX_ERE;
    switch ((enum regex_dialect)(flags >> 16)) {
    case REGEX_GREP:
        if (ere)
            return (EXTENDED_SYNTAX | RX_INVALID_INTERVAL_PLAIN | RX_NEWLINE_ALT | RX_EMPTY_OPS) &
                   ~(unsigned)(RX_INVALID_OPS | RX_DOT_NOT_NUL);
        return (BASIC_SYNTAX | RX_NEWLINE_ALT) & ~(unsigned)(RX_INVALID_DUP | RX_DOT_NOT_NUL);
    case REGEX_SED:
        return ere ? EXTENDED_SYNTAX & ~(unsigned)(RX_UNMATCHED_PAREN_PLAIN | RX_DOT_NOT_NUL)
                   : BASIC_SYNTAX & ~(unsigned)RX_DOT_NOT_NUL;
    case REGEX_EXPR:
        return BASIC_SYNTAX & ~(unsigned)(RX_INVALID_DUP | RX_NO_EMPTY_RANGES);
    case REGEX_FINDUTILS:
        return RX_BK_PARENS | RX_BK_VBAR | RX_DOT_NEWLINE;
    case REGEX_EMACS:
        return RX_BK_PARENS | RX_BK_VBAR;
    case REGEX_AWK:
        return RX_BK_IN_LISTS | RX_DOT_NOT_NUL | RX_NO_BACKREFS | RX_NO_EMPTY_RANGES | RX_DOT_NEWLINE |
               RX_INDEP_ANCHORS | RX_CLASSES | RX_UNMATCHED_PAREN_PLAIN | RX_NO_GNU_OPS;
    case REGEX_GNU_AWK:
        return (EXTENDED_SYNTAX | RX_BK_IN_LISTS | RX_INVALID_INTERVAL_PLAIN) &
               ~(unsigned)(RX_DOT_NOT_NUL | RX_INDEP_OPS | RX_INVALID_OPS);
    case REGEX_POSIX_AWK:
        return EXTENDED_SYNTAX | RX_BK_IN_LISTS | RX_NO_GNU_OPS | RX_INVALID_INTERVAL_PLAIN;
    case REGEX_MINIMAL_BASIC:
        return COMMON_SYNTAX | RX_LIMITED_OPS | RX_BK_PARENS | RX_BK_BRACES | RX_BK_VBAR;
    case REGEX_POSIX:
    default:
        return ere ? EXTENDED_SYNTAX : BASIC_SYNTAX;
    }
}

/* ---- plain strings ---- */

/* Whether every byte of the pattern stands for itself in every syntax, so that it can go into the trie. */
static bool is_plain(const struct rx_parse *p, struct str s, unsigned flags)
{
    bool literal = flags & REGEX_LITERAL;
    for (size_t i = 0; i < s.n;) {
        unsigned char c = (unsigned char)s.p[i];
        if (c >= 0x80) {
            uint32_t u;
            unsigned len = p->utf8 ? unicode_decode(s.p + i, s.n - i, &u) : 1;
            /* Letters beyond ASCII have cases that are not one byte apart. */
            if (len == 0 || (p->icase && p->utf8))
                return false;
            i += len;
            continue;
        }
        if (!literal && (c == '\n' || strchr("\\[*.^$+?{}()|", c)))
            return false;
        i++;
    }
    return true;
}

/* A literal pattern as a tree. */
static struct rx_ast *literal_tree(struct rx_parse *p, struct str s)
{
    struct rx_ast *head = NULL, *tail = NULL;
    for (size_t i = 0; i < s.n;) {
        uint32_t c = (unsigned char)s.p[i];
        unsigned len = p->utf8 ? unicode_decode(s.p + i, s.n - i, &c) : 1;
        struct rx_ast *t;
        if (len == 0) {
            t = rx__ast(p->a, RX_RAW);
            t->u.c = c;
            len = 1;
        } else {
            t = rx__char(p, c);
        }
        i += len;
        if (tail)
            tail->next = t;
        else
            head = t;
        tail = t;
    }
    if (!head)
        return rx__ast(p->a, RX_EMPTY);
    if (!head->next)
        return head;
    struct rx_ast *t = rx__ast(p->a, RX_CAT);
    t->child = head;
    t->depth = 2;
    return t;
}

static int by_bytes(const void *pa, const void *pb)
{
    return str_cmp(*(const struct str *)pa, *(const struct str *)pb);
}

/* The plain ones among the patterns (marked in @plain) as one node. */
static struct rx_ast *trie_tree(struct rx_parse *p, const struct str *patterns, const bool *plain, size_t n,
                                size_t n_plain)
{
    struct str *w = arena_alloc(p->a, n_plain * sizeof(*w));
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        if (!plain[i])
            continue;
        w[k] = patterns[i];
        if (p->icase) {
            char *up = arena_dup(p->a, patterns[i].p, patterns[i].n);
            for (size_t j = 0; j < patterns[i].n; j++)
                up[j] = up[j] >= 'a' && up[j] <= 'z' ? (char)(up[j] - 32) : up[j];
            w[k].p = up;
        }
        k++;
    }
    qsort(w, k, sizeof(*w), by_bytes);
    size_t u = 0;
    for (size_t i = 1; i < k; i++) {
        if (!str_eq(w[u], w[i]))
            w[++u] = w[i];
    }
    struct rx_ast *t = rx__ast(p->a, RX_TRIE);
    t->u.trie.words = w;
    t->u.trie.n = u + 1;
    t->u.trie.icase = p->icase;
    return t;
}

/* ---- compiling ---- */

struct input {
    const struct str *patterns;
    size_t n;
    size_t bad;
    unsigned flags;
    bool has_trie;
};

/* One tree over all patterns. */
static int parse_all(struct rx_parse *p, struct input *in, struct rx_ast **ret)
{
    size_t n_plain = 0;
    bool *plain = arena_zalloc(p->a, in->n + 1);
    for (size_t i = 0; in->n > 1 && i < in->n; i++) {
        plain[i] = is_plain(p, in->patterns[i], in->flags);
        n_plain += plain[i];
    }
    struct rx_ast *head = NULL, *tail = NULL;
    if (n_plain > 1) {
        head = tail = trie_tree(p, in->patterns, plain, in->n, n_plain);
        in->has_trie = true;
    }
    for (size_t i = 0; i < in->n; i++) {
        struct rx_ast *t;
        if (n_plain > 1 && plain[i])
            continue;
        if (in->flags & REGEX_LITERAL) {
            t = literal_tree(p, in->patterns[i]);
        } else {
            int r = rx__parse(p, in->patterns[i], &t);
            if (r < 0) {
                in->bad = i;
                return r;
            }
        }
        if (tail)
            tail->next = t;
        else
            head = t;
        tail = t;
    }
    if (head && head->next) {
        struct rx_ast *alt = rx__ast(p->a, RX_ALT);
        alt->child = head;
        head = alt;
    }
    if (!head) {
        /* No pattern matches nothing: an empty set. */
        head = rx__ast(p->a, RX_SET);
        head->u.set = ARENA_NEW(p->a, struct rx_set);
    }
    *ret = head;
    return 0;
}

/* Templates belong to one program; a tree that is compiled again starts anew. */
static void forget_templates(struct rx_ast *t)
{
    if (t->kind == RX_SET)
        t->u.set->tmpl = 0;
    for (struct rx_ast *c = t->child; c; c = c->next)
        forget_templates(c);
}

static int build(struct regex *re, const struct rx_parse *p, const struct input *in, struct rx_ast *t,
                 enum rx_wrap wrap)
{
    struct rx_prog *g = &re->prog;
    re->flags = in->flags;
    re->newline = in->flags & REGEX_NEWLINE;
    g->utf8 = p->utf8;
    g->has_backref = p->has_backref;
    g->n_groups = in->flags & REGEX_NOSUB ? 0 : p->n_groups;
    g->max_nodes = in->has_trie ? LIMIT_REGEX_LITERALS : LIMIT_REGEX_NODES;
    forget_templates(t);
    int r = rx__prog(g, t, wrap, p->a);
    if (r == 0 && re->nonempty)
        r = rx__prog_nonempty(g);
    if (r < 0)
        return r;
    /* A caret is also true behind a newline inside the text. */
    if (re->newline && wrap != RX_WRAP_LINE)
        g->anchored = false;
    rx__syms_init(&re->syms, g, re->newline, in->flags & REGEX_LINES);
    if (!in->has_trie || t->kind != RX_TRIE)
        rx__lit_init(&re->lit, t, p->icase, p->utf8);
    re->lit.exact = re->lit.exact && wrap == RX_WRAP_NONE;
    return 0;
}

static int build_all(struct regex *re, const struct rx_parse *p, const struct input *in, struct rx_ast *t)
{
    if (in->flags & REGEX_LINE)
        return build(re, p, in, t, RX_WRAP_LINE);
    if (!(in->flags & REGEX_WORD))
        return build(re, p, in, t, RX_WRAP_NONE);
    int r = build(re, p, in, t, RX_WRAP_WORD);
    if (r < 0 || !rx__nullable(t))
        return r;
    re->word_plain = mem_try_zalloc(sizeof(struct regex));
    re->word_nonempty = mem_try_zalloc(sizeof(struct regex));
    if (!re->word_plain || !re->word_nonempty)
        return -ENOMEM;
    re->word_nonempty->nonempty = true;
    r = build(re->word_plain, p, in, t, RX_WRAP_NONE);
    return r < 0 ? r : build(re->word_nonempty, p, in, t, RX_WRAP_WORD);
}

int regex_compile_many(const struct str *patterns, size_t n, unsigned flags, const struct regex_warn *warn,
                       struct regex **ret, const char **ret_msg, size_t *ret_bad)
{
    struct arena a ARENA_AUTO;
    arena_init(&a);
    struct rx_parse p = {
        .a = &a, .syntax = syntax_of(flags), .icase = flags & REGEX_ICASE, .utf8 = flags & REGEX_UTF8, .warn = warn};
    if (flags & REGEX_NEWLINE)
        p.syntax = (p.syntax & ~(unsigned)RX_DOT_NEWLINE) | RX_HAT_NOT_NEWLINE;
    struct input in = {.patterns = patterns, .n = n, .flags = flags};
    struct rx_ast *tree;
    int r = parse_all(&p, &in, &tree);
    struct regex *re = NULL;
    if (r == 0) {
        re = mem_try_zalloc(sizeof(*re));
        r = re ? build_all(re, &p, &in, tree) : -ENOMEM;
        if (r < 0)
            p.msg = msg_memory;
    }
    if (r < 0) {
        regex_free(re);
        if (ret_msg)
            *ret_msg = p.msg;
        if (ret_bad)
            *ret_bad = in.bad;
        return r;
    }
    *ret = re;
    return 0;
}

int regex_compile(struct str pattern, unsigned flags, struct regex **ret, const char **ret_msg)
{
    return regex_compile_many(&pattern, 1, flags, NULL, ret, ret_msg, NULL);
}

void regex_free(struct regex *re)
{
    if (!re)
        return;
    regex_free(re->word_plain);
    regex_free(re->word_nonempty);
    if (re->ready) {
        rx__dfa_done(&re->fwd);
        rx__dfa_done(&re->lines);
        rx__dfa_done(&re->longest);
        rx__dfa_done(&re->back);
        rx__scratch_done(&re->scratch);
        rx__preds_done(&re->preds);
    }
    mem_free(re->track);
    mem_free(re->stamp);
    rx__prog_done(&re->prog);
    mem_free(re);
}

size_t regex_groups(const struct regex *re)
{
    return re->prog.n_groups;
}

void regex_set_poll(struct regex *re, const struct regex_poll *poll)
{
    re->poll = poll ? *poll : (struct regex_poll){0};
    if (re->word_plain)
        regex_set_poll(re->word_plain, poll);
    if (re->word_nonempty)
        regex_set_poll(re->word_nonempty, poll);
}

int rx__ready(struct regex *re)
{
    if (re->ready)
        return 0;
    int r = rx__scratch_init(&re->scratch, &re->prog);
    if (r < 0)
        return r;
    /* Forward and longest, or longest and back, are busy at one time. */
    rx__dfa_init(&re->fwd, RX_FWD, &re->prog, &re->syms, &re->scratch, LIMIT_REGEX_CACHE / 4);
    rx__dfa_init(&re->lines, RX_LINES, &re->prog, &re->syms, &re->scratch, LIMIT_REGEX_CACHE / 4);
    rx__dfa_init(&re->longest, RX_LONGEST, &re->prog, &re->syms, &re->scratch, LIMIT_REGEX_CACHE / 4);
    rx__dfa_init(&re->back, RX_BACK, &re->prog, &re->syms, &re->scratch, LIMIT_REGEX_CACHE / 4);
    re->ready = true;
    return 0;
}
