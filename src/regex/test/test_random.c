/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Random patterns and texts, matched by us and by the C library side by side: whether they compile, with which error
 * text, the match, and every group.
 */

#include <locale.h>

#include "base/buf.h"
#include "base/test/test.h"
#include "regex/test/host.h"
#include "regex/test/readings.h"
#include "regex/regex.h"

#define DEPTH 3 /* of groups */

struct gen {
    uint64_t seed;
    struct buf b;
    bool ere, utf8, words, backrefs;
    bool icase, newline;
    int groups;
};

static unsigned pick(struct gen *g, unsigned n)
{
    return (unsigned)(test_rand(&g->seed) >> 33) % n;
}

static void group_text(struct gen *g, const char *ere, const char *bre)
{
    buf_addc(&g->b, g->ere ? ere : bre);
}

static void alternation(struct gen *g, int depth);

static void atom(struct gen *g, int depth)
{
    static const char *const plain[] = {"a", "b", "c", "a", "b", ".", "[ab]", "[^a]", "[b-c]", "[[:alpha:]]"};
    static const char *const wide[] = {"é", "É", "[é]", "[^é]", "[aé]", "ß", "[[:lower:]]", "σ"};
    static const char *const anchors[] = {"\\<", "\\>", "\\b", "\\>"}; /* \B: "b*\B" does not find 1-1 in "Ab" */
    static const char *const extra[] = {"\\w", "\\W", "\\s", "\\S", " ", "_", "[[:space:]]", "[^[:alnum:]]"};
    unsigned k = pick(g, 100);
    if (k < 22 && depth > 0) {
        group_text(g, "(", "\\(");
        alternation(g, depth - 1);
        group_text(g, ")", "\\)");
        g->groups++;
    } else if (k < 26 && g->words && depth == DEPTH) {
        buf_addc(&g->b, anchors[pick(g, 4)]);
    } else if (k < 36 && g->utf8) {
        buf_addc(&g->b, wide[pick(g, 8)]);
    } else if (k < 40 && g->words) {
        buf_addc(&g->b, extra[pick(g, 8)]);
    } else if (k < 50 && g->backrefs && g->groups > 0) {
        buf_addf(&g->b, "\\%u", 1 + pick(g, (unsigned)g->groups));
    } else {
        buf_addc(&g->b, plain[pick(g, 10)]);
    }
}

static void repeat(struct gen *g)
{
    switch (pick(g, 12)) {
    case 0:
    case 1:
    case 2:
        buf_addc(&g->b, "*");
        break;
    case 3:
        group_text(g, "+", "\\+");
        break;
    case 4:
        group_text(g, "?", "\\?");
        break;
    case 5: {
        static const char *const counts[] = {"2", "1,2", "0,2", "1,", "2,", "0,1", ",2", "0", "1,3", "3"};
        group_text(g, "{", "\\{");
        buf_addc(&g->b, counts[pick(g, 10)]);
        group_text(g, "}", "\\}");
        break;
    }
    default:
        break;
    }
}

/* Anchors only outside of groups: the C library gets them wrong inside repeated ones ("(^a)+" does not match "a"). */
static void alternation(struct gen *g, int depth)
{
    for (;;) {
        if (depth == DEPTH && pick(g, 4) == 0)
            buf_addc(&g->b, pick(g, 6) ? "^" : "\\`");
        for (unsigned n = pick(g, 4); n > 0; n--) {
            atom(g, depth);
            repeat(g);
        }
        if (depth == DEPTH && pick(g, 4) == 0)
            buf_addc(&g->b, pick(g, 6) ? "$" : "\\'");
        if (pick(g, 3) != 0)
            break;
        group_text(g, "|", "\\|");
    }
}

/* Left out is what the C library gets wrong: a newline without REG_NEWLINE is a line's end to ^ in some places, and
 * folding a text to another length (long s) or with bytes that are no UTF-8 loses matches. */
static void make_text(struct gen *g, struct buf *out)
{
    static const char *const piece[] = {"a", "b", "c", "a", "b", "ab", "A", "B", "c", " ", "_"};
    static const char *const wide[] = {"é", "É", "ς", "σ", "\xc3", "ſ"};
    for (unsigned n = pick(g, 9); n > 0; n--) {
        unsigned k = pick(g, 20);
        if (k == 0 && g->newline)
            buf_addc(out, "\n");
        else if (k < 8 && g->utf8)
            buf_addc(out, wide[pick(g, g->icase ? 4 : 6)]);
        else
            buf_addc(out, piece[pick(g, g->words ? 11 : 9)]);
    }
}

struct tally {
    unsigned done, bad, skipped;
    unsigned wrong;     /* matches of the C library that no reading of the pattern gives */
    unsigned undecided; /* the same, but trying all readings would take too long */
};

static void show(const char *what, const char *pattern, const char *text, unsigned flags, unsigned eflags)
{
    char q[512], r[512];
    size_t n = 0;
    for (const char *s = pattern; *s && n < 500; s++)
        n += (size_t)snprintf(q + n, 512 - n, *s < 32 ? "\\x%02x" : "%c", (unsigned char)*s);
    q[n] = 0;
    n = 0;
    for (const char *s = text; *s && n < 500; s++)
        n += (size_t)snprintf(r + n, 512 - n, *s >= 0 && *s < 32 ? "\\x%02x" : "%c", (unsigned char)*s);
    r[n] = 0;
    printf("# %s: pattern '%s' text '%s' flags %x eflags %x\n", what, q, r, flags, eflags);
}

/* The parts of the text that come before @ours, or begin there and are longer, and that some reading gives: false when
 * there is one. All parts when @found is not set. */
static bool none_is_better(const char *pattern, unsigned flags, const struct host_text *t, bool found,
                           const struct regex_span *ours)
{
    size_t n = strlen(t->text);
    for (size_t i = 0; i <= (found ? (size_t)ours->start : n); i++) {
        for (size_t k = found && i == (size_t)ours->start ? (size_t)ours->end + 1 : i; k <= n; k++) {
            if (readings_match(pattern, flags, t->text, t->eflags, i, k) == 1) {
                printf("#   better: %zu-%zu\n", i, k);
                return false;
            }
        }
    }
    return true;
}

/*
 * Checks one search of a pattern with back-references. There the C library is no reference: it misses matches, and
 * about one of its answers to 20,000 patterns is a match that there is not. So every reading of the pattern is tried:
 * ours must be the leftmost, longest part of the text that one gives; and what the C library finds and is better must
 * be one that none gives.
 */
static bool is_best(struct regex *re, const char *pattern, unsigned flags, const struct host_text *t,
                    struct tally *tally)
{
    struct regex_span ours[HOST_SPANS] = {0};
    int a = regex_exec(re, str_c(t->text), 0, t->eflags, ours, HOST_SPANS);
    int b = regex_exec(re, str_c(t->text), 0, t->eflags, NULL, 0);
    size_t start = (size_t)ours[0].start, end = (size_t)ours[0].end;
    if (a < 0 || a != b || (a == 1 && readings_match(pattern, flags, t->text, t->eflags, start, end) == 0) ||
        !none_is_better(pattern, flags, t, a == 1, ours)) {
        show("ours is not the best match", pattern, t->text, flags, t->eflags);
        printf("#   ours %d and %d, %zu-%zu\n", a, b, start, end);
        return false;
    }
    if (t->found == 1) {
        struct regex_span theirs = t->spans[0];
        if (a == 0 || theirs.start < ours[0].start || (theirs.start == ours[0].start && theirs.end > ours[0].end)) {
            bool decided =
                readings_match(pattern, flags, t->text, t->eflags, (size_t)theirs.start, (size_t)theirs.end) == 0;
            tally->wrong += decided;
            tally->undecided += !decided;
        }
    }
    return true;
}

/*
 * Whether the pattern asks for an edge of a word in UTF-8. The C library then sometimes gives groups that are no
 * reading of the pattern, though the match as a whole is right: of " σÉςébς" it gives group 1 of
 * "σ*\\b(([ab]*[^é]+(b*)*)*[ab]*.*)*" as what begins between σ and É, where no word has an edge. About one pattern in
 * 10,000.
 */
static bool edges_in_utf8(const char *pattern, unsigned flags)
{
    return flags & REGEX_UTF8 &&
           (strstr(pattern, "\\b") || strstr(pattern, "\\B") || strstr(pattern, "\\<") || strstr(pattern, "\\>"));
}

/* Compares one search; false when the results differ. */
static bool same(struct regex *re, const char *pattern, unsigned flags, const struct host_text *t)
{
    struct regex_span ours[HOST_SPANS];
    int a = regex_exec(re, str_c(t->text), 0, t->eflags, ours, HOST_SPANS);
    int b = regex_exec(re, str_c(t->text), 0, t->eflags, NULL, 0);
    if (t->found < 0)
        return a >= 0 && a == b;
    if (a != t->found || b != t->found) {
        show(t->found ? "they match" : "they do not match", pattern, t->text, flags, t->eflags);
        printf("#   ours %d and %d\n", a, b);
        return false;
    }
    for (size_t i = 0; a == 1 && i < HOST_SPANS; i++) {
        if (i > 0 && edges_in_utf8(pattern, flags))
            return true;
        if (ours[i].start != t->spans[i].start || ours[i].end != t->spans[i].end) {
            show("groups", pattern, t->text, flags, t->eflags);
            printf("#   group %zu: ours %td-%td theirs %td-%td\n", i, ours[i].start, ours[i].end, t->spans[i].start,
                   t->spans[i].end);
            return false;
        }
    }
    return true;
}

#define N_TEXTS 8

static void one_pattern(struct gen *g, struct tally *t)
{
    buf_clear(&g->b);
    g->groups = 0;
    g->icase = pick(g, 4) == 0;
    g->newline = pick(g, 4) == 0;
    alternation(g, DEPTH);
    if (g->b.n > 60)
        return;
    unsigned flags = (g->ere ? REGEX_ERE : 0) | (g->utf8 ? REGEX_UTF8 : 0) | (g->icase ? REGEX_ICASE : 0) |
                     (g->newline ? REGEX_NEWLINE : 0);
    struct buf text[N_TEXTS];
    struct host_text ht[N_TEXTS];
    for (int i = 0; i < N_TEXTS; i++) {
        buf_init(&text[i], 1000);
        make_text(g, &text[i]);
        ht[i] = (struct host_text){.text = text[i].p, .eflags = pick(g, 6) == 0 ? pick(g, 4) : 0};
    }
    struct regex *re = NULL;
    const char *msg = "";
    char host_msg[128];
    int a = regex_compile(buf_str(&g->b), flags, &re, &msg);
    int b = host_search(g->b.p, flags, ht, N_TEXTS, host_msg);
    t->done++;
    t->skipped += b < 0;
    if (b >= 0 && ((a == 0) != (b == 0) || strcmp(msg, host_msg) != 0)) {
        show("compile", g->b.p, "", flags, 0);
        printf("#   ours %s theirs %s\n", a ? msg : "fine", host_msg);
        t->bad++;
    }
    for (int i = 0; a == 0 && b == 0 && i < N_TEXTS; i++) {
        t->skipped += ht[i].found < 0;
        if (!(g->backrefs ? is_best(re, g->b.p, flags, &ht[i], t) : same(re, g->b.p, flags, &ht[i]))) {
            t->bad++;
            break;
        }
    }
    for (int i = 0; i < N_TEXTS; i++)
        buf_done(&text[i]);
    regex_free(re);
}

static void run(bool utf8, bool words, bool backrefs, uint64_t n)
{
    setlocale(LC_ALL, utf8 ? "C.UTF-8" : "C");
    struct gen g = {.seed = test_seed(), .utf8 = utf8, .words = words, .backrefs = backrefs};
    struct tally t = {0};
    buf_init(&g.b, 4096);
    for (uint64_t i = 0; i < n && t.bad < 20; i++) {
        g.ere = pick(&g, 2);
        one_pattern(&g, &t);
    }
    buf_done(&g.b);
    printf("# %u patterns, %u differ, %u results the C library did not give", t.done, t.bad, t.skipped);
    if (backrefs)
        printf(", %u it gave are no matches, %u undecided", t.wrong, t.undecided);
    printf("\n");
    CHECK_INT(t.bad, 0);
}

/* Patterns to try. Sanitizers make the fork that each takes twenty times dearer. */
static uint64_t count(uint64_t n)
{
    return test_env("FRONTAL_REGEX_RANDOM", test_env("FRONTAL_SANITIZED", 0) ? n / 20 : n);
}

TEST_LIMIT(random_bytes, 300)
{
    run(false, false, false, count(20000));
}

TEST_LIMIT(random_bytes_words, 300)
{
    run(false, true, false, count(20000));
}

TEST_LIMIT(random_utf8, 300)
{
    run(true, false, false, count(10000));
}

TEST_LIMIT(random_utf8_words, 300)
{
    run(true, true, false, count(10000));
}

TEST_LIMIT(random_backrefs, 300)
{
    run(false, false, true, count(10000));
}

/* What the C library (2.36) gets wrong with back-references: a match that no reading of the pattern gives, here of a
 * loop that goes on with what the group was in another round. */
TEST(matches_that_there_are_not)
{
    static const struct {
        const char *pattern, *text;
        size_t start, end;       /* the match */
        size_t wrong_s, wrong_e; /* theirs */
    } cases[] = {
        {"([ab]?|)*(\\1(|[^a]\\1)(c+(){0,2})+)*\\'", "aBacabcc", 4, 8, 0, 8},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct regex *re;
        const char *msg;
        struct regex_span got[1];
        CHECK_INT(regex_compile(str_c(cases[i].pattern), REGEX_ERE, &re, &msg), 0);
        CHECK_INT(regex_exec(re, str_c(cases[i].text), 0, 0, got, 1), 1);
        CHECK_INT(got[0].start, cases[i].start);
        CHECK_INT(got[0].end, cases[i].end);
        CHECK_INT(readings_match(cases[i].pattern, REGEX_ERE, cases[i].text, 0, cases[i].start, cases[i].end), 1);
        CHECK_INT(readings_match(cases[i].pattern, REGEX_ERE, cases[i].text, 0, cases[i].wrong_s, cases[i].wrong_e), 0);
        regex_free(re);
    }
}
