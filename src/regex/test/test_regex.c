/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Tables: syntax in each dialect, error texts (those of GNU's regcomp and of grep 3.8 on Debian 12), matches and groups
 * (glibc's regexec, POSIX where glibc is at odds with itself), lines, and what happens at the limits.
 */

#include <errno.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/test/test.h"
#include "regex/pcre.h"
#include "regex/regex.h"
#include "regex/unicode.h"
#include "types/limits.h"

#define BRE 0u
#define ERE ((unsigned)REGEX_ERE)
#define GREP REGEX_DIALECT(REGEX_GREP)
#define EGREP (REGEX_DIALECT(REGEX_GREP) | REGEX_ERE)
#define U8 ((unsigned)REGEX_UTF8)

/* "0-3 1-2 -" for the whole match and its groups, "no", or the error text. */
static const char *result(const char *pattern, unsigned flags, const char *text, unsigned eflags)
{
    static char out[256];
    struct regex *re = NULL;
    const char *msg = NULL;
    struct regex_span s[10];
    if (regex_compile(str_c(pattern), flags, &re, &msg) < 0)
        return msg;
    int r = regex_exec(re, str_c(text), 0, eflags, s, 10);
    int t = regex_exec(re, str_c(text), 0, eflags, NULL, 0);
    size_t n = 0;
    if (r != t)
        n = (size_t)snprintf(out, sizeof(out), "test %d exec %d", t, r);
    else if (r < 0)
        n = (size_t)snprintf(out, sizeof(out), "error %d", r);
    else if (r == 0)
        n = (size_t)snprintf(out, sizeof(out), "no");
    for (size_t i = 0; r == 1 && t == 1 && i <= regex_groups(re); i++) {
        if (s[i].start < 0)
            n += (size_t)snprintf(out + n, sizeof(out) - n, "%s-", i ? " " : "");
        else
            n += (size_t)snprintf(out + n, sizeof(out) - n, "%s%td-%td", i ? " " : "", s[i].start, s[i].end);
    }
    out[n] = 0;
    regex_free(re);
    return out;
}

struct row {
    const char *pattern;
    unsigned flags;
    const char *text;
    const char *want;
};

static void check_rows(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *got = result(rows[i].pattern, rows[i].flags, rows[i].text, 0);
        if (!CHECK_C(got, rows[i].want))
            printf("# pattern '%s' flags %x text '%s'\n", rows[i].pattern, rows[i].flags, rows[i].text);
    }
}

#define CHECK_ROWS(rows) check_rows(rows, sizeof(rows) / sizeof((rows)[0]))

TEST(syntax)
{
    static const struct row rows[] = {
        {"\\(^a\\)", BRE, "ba", "no"},
        {"a\\|^b", BRE, "b", "0-1"},
        {"*a", BRE, "x*a", "1-3"},
        {"\\(*a\\)", BRE, "*a", "0-2 0-2"},
        {"a\\|*b", BRE, "*b", "0-2"},
        {"^*a", BRE, "*a", "0-2"},
        {"a^b", BRE, "a^b", "0-3"},
        {"a$b", BRE, "a$b", "0-3"},
        {"a\\{2\\}", BRE, "aaa", "0-2"},
        {"a{2}", BRE, "a{2}", "0-4"},
        {"a\\+", BRE, "aaa", "0-3"},
        {"a+", BRE, "a+", "0-2"},
        {"a\\?b", BRE, "ab", "0-2"},
        {"\\(a\\)\\1", BRE, "aa", "0-2 0-1"},
        {"a**", BRE, "aa", "Invalid preceding regular expression"},
        {"a**", GREP, "aa", "0-2"},
        {"a**", ERE, "aa", "0-2"},
        {"a|*b", ERE, "b", "Invalid preceding regular expression"},
        {"*a", ERE, "a", "Invalid preceding regular expression"},
        {"*a", EGREP, "*a", "1-2"},
        {"{1}a", EGREP, "a", "0-1"},
        {"a{1", EGREP, "a{1", "0-3"},
        {"a{1", ERE, "a{1", "Unmatched \\{"},
        {"a{1a}", ERE, "", "Invalid content of \\{\\}"},
        {"a{2,1}", ERE, "", "Invalid content of \\{\\}"},
        {"a{}", EGREP, "", "Invalid content of \\{\\}"},
        {"a{,2}", ERE, "aaa", "0-2"},
        {"a{32768}", ERE, "", "Regular expression too big"},
        {"()", ERE, "a", "0-0 0-0"},
        {"(|a)", ERE, "a", "0-1 0-1"},
        {"a||b", ERE, "b", "0-1"},
        {"a)", ERE, "a)", "0-2"},
        {"(a", ERE, "", "Unmatched ( or \\("},
        {"\\(a", BRE, "", "Unmatched ( or \\("},
        {"a\\)", BRE, "", "Unmatched ) or \\)"},
        {"a)", REGEX_DIALECT(REGEX_SED) | ERE, "", "Unmatched ) or \\)"},
        {"\\1", BRE, "", "Invalid back reference"},
        {"(a)|\\1", ERE, "a", "Invalid back reference"},
        {"a\\", BRE, "", "Trailing backslash"},
        {"[", BRE, "", "Invalid regular expression"},
        {"[a", BRE, "", "Unmatched [, [^, [:, [., or [="},
        {"[[:alpha", BRE, "", "Unmatched [, [^, [:, [., or [="},
        {"[[:foo:]]", BRE, "", "Invalid character class name"},
        {"[[.hyphen.]]", BRE, "", "Invalid collation character"},
        {"[z-a]", BRE, "", "Invalid range end"},
        {"[z-a]", REGEX_DIALECT(REGEX_EXPR), "m", "no"},
        {"[a-c-e]", BRE, "", "Invalid range end"},
        {"[_-z]", REGEX_ICASE, "", "Invalid range end"},
        {"[]a]*", BRE, "a]b", "0-2"},
        {"[^]a]", BRE, "]ab", "2-3"},
        {"[a-]", BRE, "-", "0-1"},
        {"[---]", BRE, "-", "0-1"},
        {"[[.-.]]", BRE, "-", "0-1"},
        {"[[=a=]b]*", BRE, "ab", "0-2"},
        {"[\\n]", BRE, "\\", "0-1"},
        {"[\\]]", REGEX_DIALECT(REGEX_GNU_AWK) | ERE, "]", "0-1"},
        {"a.b", REGEX_DIALECT(REGEX_EMACS), "a\nb", "no"},
        {"a.b", REGEX_DIALECT(REGEX_FINDUTILS), "a\nb", "0-3"},
        {"[[:alpha:]]", REGEX_DIALECT(REGEX_EMACS), ":]", "0-2"},
        {"a+", REGEX_DIALECT(REGEX_EMACS), "aa", "0-2"},
        {"\\(a\\|b\\)+", REGEX_DIALECT(REGEX_EMACS), "ab", "0-2 1-2"},
        {"a\\+", REGEX_DIALECT(REGEX_MINIMAL_BASIC), "a+", "0-2"},
        {"a{2}", REGEX_DIALECT(REGEX_AWK), "a{2}", "0-4"},
        {"a{2}", REGEX_DIALECT(REGEX_POSIX_AWK), "aa", "0-2"},
        {"\\w", REGEX_DIALECT(REGEX_POSIX_AWK), "aw", "1-2"},
        {"a\nb", GREP, "b", "0-1"},
        {"a\nb", BRE, "b", "no"},
    };
    CHECK_ROWS(rows);
}

TEST(matching)
{
    static const struct row rows[] = {
        {"b|abc|ab", ERE, "xabcd", "1-4"},
        {"(a*)(ab)*(b*)", ERE, "abb", "0-3 0-1 - 1-3"},
        {"(a|ab)(c|bcd)(d*)", ERE, "abcd", "0-4 0-1 1-4 4-4"},
        {"(abc|a|bc){0,2}", ERE, "abc", "0-3 1-3"},
        {"((a?))*", ERE, "aa", "0-2 1-2 1-2"},
        {"(a*)*", ERE, "b", "0-0 0-0"},
        {"(a)|b", ERE, "b", "0-1 -"},
        {"^abc$", ERE, "abc", "0-3"},
        {"^b", ERE, "a\nb", "no"},
        {"^b", ERE | REGEX_NEWLINE, "a\nb", "2-3"},
        {"a$", ERE | REGEX_NEWLINE, "a\nb", "0-1"},
        {"a.b", ERE | REGEX_NEWLINE, "a\nb", "no"},
        {"a[^x]b", ERE | REGEX_NEWLINE, "a\nb", "no"},
        {"a\\Wb", ERE | REGEX_NEWLINE, "a\nb", "0-3"},
        {"\\`b", ERE | REGEX_NEWLINE, "a\nb", "no"},
        {"\\bfoo\\b", ERE, "xfoo foo", "5-8"},
        {"\\<a", ERE, "ba a", "3-4"},
        {"a\\>", ERE, "ab a", "3-4"},
        {"\\Ba", ERE, "a ba", "3-4"},
        {"b*\\B", ERE, "Ab", "1-1"},
        {"(^a)+", ERE, "aa", "0-1 0-1"},
        {"\\w+", ERE, "--a_1--", "2-5"},
        {"a", REGEX_ICASE, "bA", "1-2"},
        {"[^a]", REGEX_ICASE, "Ab", "1-2"},
        {"[[:upper:]]", REGEX_ICASE, "a", "0-1"},
        {"(a)\\1", ERE | REGEX_ICASE, "aA", "0-2 0-1"},
        {"^(.*)\\1$", ERE, "abcabc", "0-6 0-3"},
        {"(a*)\\1", ERE, "aaaaa", "0-4 0-2"},
        {"\\(a\\)*\\1", BRE, "b", "no"},
    };
    CHECK_ROWS(rows);
}

TEST(utf8)
{
    static const struct row rows[] = {
        {"^.$", ERE | U8, "é", "0-2"},
        {"^..$", ERE, "é", "0-2"},
        {"^.$", ERE | U8, "\xc3", "no"},
        {"[^a]", ERE | U8, "\xff", "no"},
        {"[à-ö]+", ERE | U8, "éa", "0-2"},
        {"\xc3\xa9", ERE | U8 | REGEX_ICASE, "É", "0-2"},
        {"s", U8 | REGEX_ICASE, "ſ", "0-2"},
        {"σ", U8 | REGEX_ICASE, "ς", "0-2"},
        {"k", U8 | REGEX_ICASE, "\xe2\x84\xaa", "no"},
        {"\\bé\\b", ERE | U8, "aé é", "4-6"},
        {"\\w+", ERE | U8, "-éaß-", "1-6"},
        {"\\<b", ERE | U8, "éb", "no"},
        {"[[:alpha:]]+", ERE | U8, "1éÉz2", "1-6"},
        {"\xc3", ERE | U8, "é", "no"},
        {"\xc3", ERE | U8, "a\xc3z", "1-2"},
        {"\xa9", ERE | U8, "é", "no"},
        {".", ERE | U8, "\xf0\x9f\x98\x80", "0-4"},
        {".", ERE | U8, "\xed\xa0\x80", "no"},
        {"[^\n]", ERE | U8, "\xe0\x80\x80", "no"},
        {"\\W", ERE | U8, "é€", "2-5"},
    };
    CHECK_ROWS(rows);
}

TEST(flags)
{
    CHECK_C(result("^a", ERE, "a", REGEX_NOTBOL), "no");
    CHECK_C(result("a$", ERE, "a", REGEX_NOTEOL), "no");
    CHECK_C(result("\\`a", ERE, "a", REGEX_NOTBOL), "0-1");
    CHECK_C(result("b", ERE, "ab", REGEX_ANCHORED), "no");
    CHECK_C(result("a", ERE | REGEX_WORD, "ba a", 0), "3-4");
    CHECK_C(result("a|aa", ERE | REGEX_WORD, "aaa aa", 0), "4-6");
    CHECK_C(result("ab?", ERE | REGEX_WORD, "abc a", 0), "4-5");
    CHECK_C(result("x*", ERE | REGEX_WORD, "abc", 0), "no");
    CHECK_C(result("x*", ERE | REGEX_WORD, "a  b", 0), "2-2");
    CHECK_C(result("[ b]*", ERE | REGEX_WORD, " ba", 0), "no");
    CHECK_C(result("a|ab", ERE | REGEX_LINE, "ab", 0), "0-2");
    CHECK_C(result("a", ERE | REGEX_LINE, "ab", 0), "no");
    CHECK_C(result("a.*(", REGEX_LITERAL, "xa.*(", 0), "1-5");
    CHECK_C(result("A.", REGEX_LITERAL | REGEX_ICASE, "xa.", 0), "1-3");
    CHECK_C(result("", REGEX_LITERAL, "x", 0), "0-0");
    struct regex *re = NULL;
    struct regex_span s[1];
    CHECK_INT(regex_compile(STR("^b|\\<c"), ERE, &re, NULL), 0);
    CHECK_INT(regex_exec(re, STR("abc"), 1, 0, s, 1), 0);
    CHECK_INT(regex_exec(re, STR("ab c"), 1, 0, s, 1), 1);
    CHECK_INT(s[0].start, 3);
    regex_free(re);
}

/* ---- lines ---- */

static void check_lines(const char *pattern, unsigned flags, const char *text, char eol, const char *want)
{
    struct regex *re = NULL;
    struct buf out BUF_AUTO;
    buf_init(&out, 1000);
    if (!CHECK_INT(regex_compile(str_c(pattern), flags | REGEX_LINES, &re, NULL), 0))
        return;
    struct str buf = str_c(text);
    size_t from = 0, s, e;
    int r;
    while ((r = regex_find_line(re, buf, from, eol, &s, &e)) == 1) {
        buf_addf(&out, "%zu-%zu ", s, e);
        from = e + 1;
    }
    CHECK_INT(r, 0);
    if (!CHECK_C(out.p, want))
        printf("# pattern '%s'\n", pattern);
    regex_free(re);
}

TEST(lines)
{
    check_lines("b", ERE, "a\nb\ncb\nd", '\n', "2-3 4-6 ");
    check_lines("[bd]", ERE, "a\nb\ncb\nd", '\n', "2-3 4-6 7-8 ");
    check_lines("^c?$", ERE, "a\n\nc", '\n', "2-2 3-4 ");
    check_lines("", ERE, "a\n\nb\n", '\n', "0-1 2-2 3-4 ");
    check_lines("a.b", ERE, "a\nb\naxb\n", '\n', "4-7 ");
    check_lines("a[^x]*b", ERE, "a\nb\nacb", '\n', "4-7 ");
    check_lines("^a|b$", ERE, "xa\nab\nxb\n", '\n', "3-5 6-8 ");
    check_lines("(.)\\1", ERE, "ab\nbb\nba\nccc", '\n', "3-5 9-12 ");
    check_lines("\\bé\\b", ERE | U8, "éa\né\naé é\n", '\n', "4-6 7-13 ");
    check_lines("a", ERE | REGEX_WORD, "ab\na b\nba\n", '\n', "3-6 ");
    check_lines("x*", ERE | REGEX_WORD, "ab\n\nx\n", '\n', "3-3 4-5 ");
    check_lines("ab|b", ERE | REGEX_LINE, "ab\nabb\nb", '\n', "0-2 7-8 ");
    check_lines("\n", REGEX_LITERAL, "a\nb", 'x', "0-3 ");
}

TEST(many)
{
    struct str p[] = {STR("foo"), STR("bar"), STR("fo"), STR("b[aeiou]z"), STR("(x)\\1"), STR("(y)z\\1")};
    struct regex *re = NULL;
    struct regex_span s[4];
    CHECK_INT(regex_compile_many(p, 6, EGREP, NULL, &re, NULL, NULL), 0);
    CHECK_INT(regex_exec(re, STR("a foo"), 0, 0, s, 1), 1);
    CHECK_INT(s[0].start, 2);
    CHECK_INT(s[0].end, 5);
    CHECK_INT(regex_test(re, STR("yzy")), 1);
    CHECK_INT(regex_test(re, STR("yzx")), 0);
    CHECK_INT(regex_test(re, STR("xx")), 1);
    CHECK_INT(regex_test(re, STR("biz")), 1);
    regex_free(re);
    re = NULL;
    CHECK_INT(regex_compile_many(p, 0, EGREP, NULL, &re, NULL, NULL), 0);
    CHECK_INT(regex_test(re, STR("")), 0);
    regex_free(re);
    re = NULL;
    size_t bad = 9;
    const char *msg = NULL;
    struct str q[] = {STR("a"), STR("(")};
    CHECK_INT(regex_compile_many(q, 2, EGREP, NULL, &re, &msg, &bad), -EINVAL);
    CHECK_INT(bad, 1);
    CHECK(re == NULL);
}

TEST(many_icase)
{
    struct str p[] = {STR("Sift"), STR("sat"), STR("x-1")};
    struct regex *re = NULL;
    CHECK_INT(regex_compile_many(p, 3, REGEX_LITERAL | REGEX_ICASE | U8, NULL, &re, NULL, NULL), 0);
    CHECK_INT(regex_test(re, STR("SIFT")), 1);
    CHECK_INT(regex_test(re, STR("\xc5\xbf\xc4\xb1"
                                 "ft")),
              1);
    CHECK_INT(regex_test(re, STR("X-1")), 1);
    CHECK_INT(regex_test(re, STR("sit")), 0);
    regex_free(re);
}

/* ---- limits ---- */

TEST(long_groups)
{
    struct buf b BUF_AUTO;
    buf_init(&b, 1u << 22);
    for (int i = 0; i < 100000; i++)
        buf_addc(&b, "ab,");
    buf_addc(&b, "z");
    struct regex *re = NULL;
    struct regex_span s[4];
    CHECK_INT(regex_compile(STR("((a)b,)*(z)"), ERE, &re, NULL), 0);
    CHECK_INT(regex_exec(re, buf_str(&b), 0, 0, s, 4), 1);
    CHECK_INT(s[0].start, 0);
    CHECK_INT(s[0].end, 300001);
    CHECK_INT(s[1].start, 299997);
    CHECK_INT(s[2].end, 299998);
    CHECK_INT(s[3].start, 300000);
    regex_free(re);
}

/* The automaton of the first pattern has thousands of states, so the cache is emptied many times. */
TEST(small_cache)
{
    struct regex *re = NULL, *simple = NULL;
    struct buf b BUF_AUTO;
    buf_init(&b, 1u << 22);
    uint64_t seed = 42;
    CHECK_INT(regex_compile(STR("(a|b)*a(a|b){14}c"), ERE, &re, NULL), 0);
    CHECK_INT(regex_compile(STR("a[ab]{14}c"), ERE, &simple, NULL), 0);
    for (int i = 0; i < 400000; i++)
        buf_putc(&b, test_rand(&seed) >> 62 & 1 ? 'a' : 'b');
    struct regex_span s[1], t[1];
    CHECK_INT(regex_exec(re, buf_str(&b), 0, 0, s, 1), 0);
    b.p[b.n - 16] = 'a';
    b.p[b.n - 1] = 'c';
    CHECK_INT(regex_exec(re, buf_str(&b), 0, 0, s, 1), 1);
    CHECK_INT(regex_exec(simple, buf_str(&b), 0, 0, t, 1), 1);
    CHECK_INT(s[0].start, 0);
    CHECK_INT(s[0].end, (int64_t)b.n);
    CHECK_INT(t[0].start, (int64_t)b.n - 16);
    regex_free(re);
    regex_free(simple);
}

TEST_LIMIT(limits, 300)
{
    CHECK_C(result("(x{1000}){1000}", ERE, "", 0), "Memory exhausted");
    CHECK_C(result("x{1}{2}{3}{4}{5}{6}{7}{8}{9}{10}", ERE, "", 0), "Memory exhausted");
    struct buf b BUF_AUTO;
    buf_init(&b, 1u << 20);
    for (int i = 0; i < 300; i++)
        buf_putc(&b, '(');
    buf_addc(&b, "a");
    for (int i = 0; i < 300; i++)
        buf_putc(&b, ')');
    CHECK_C(result(b.p, ERE, "", 0), "Regular expression too big");
    buf_clear(&b);
    for (int i = 0; i < 66000; i++)
        buf_putc(&b, 'a');
    CHECK_C(result(b.p, ERE, "", 0), "Regular expression too big");
    /* Ends by count, and soon. */
    b.p[4000] = 0;
    CHECK_C(result("^(a*)(a*)(a*)(a*)(a*)\\1\\2\\3\\4\\5b", ERE,
                   "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                   "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab",
                   0),
            "error -7");
    CHECK_C(result("(a*)*b", ERE, b.p, 0), "no");
    CHECK_C(result("(a|aa)+$", ERE, b.p, 0), "0-4000 3999-4000");
}

static int stop_poll(void *arg)
{
    int *left = arg;
    return --*left <= 0 ? -EINTR : 0;
}

TEST(poll)
{
    struct buf b BUF_AUTO;
    buf_init(&b, 1u << 22);
    for (int i = 0; i < 1000000; i++)
        buf_putc(&b, 'a');
    struct regex *re = NULL;
    CHECK_INT(regex_compile(STR("a*b"), ERE, &re, NULL), 0);
    int left = 3;
    struct regex_poll poll = {stop_poll, &left};
    regex_set_poll(re, &poll);
    struct regex_span s[1];
    CHECK_INT(regex_exec(re, buf_str(&b), 0, 0, s, 1), 0); /* the letter b is nowhere: known without reading on */
    b.p[b.n - 1] = 'b';
    CHECK_INT(regex_exec(re, buf_str(&b), 0, 0, s, 1), -EINTR);
    regex_set_poll(re, NULL);
    CHECK_INT(regex_exec(re, buf_str(&b), 0, 0, s, 1), 1);
    regex_free(re);
}

/* The n-th allocation fails: an error, nothing leaked (ASan tells), and the regex still works. */
TEST(no_memory)
{
    static const char *const patterns[] = {"(a|b)*\\bc[é-ü]+x", "(a*)\\1b", "x*"};
    for (size_t k = 0; k < 3; k++) {
        unsigned flags = ERE | U8 | (k == 2 ? REGEX_WORD : 0);
        for (uint64_t n = 1; n < 400; n++) {
            struct regex *re = NULL;
            const char *msg = NULL;
            mem_fail_after(n);
            int r = regex_compile(str_c(patterns[k]), flags, &re, &msg);
            if (r == 0) {
                struct regex_span s[4];
                r = regex_exec(re, STR("aab cabcüx aab x"), 0, 0, s, 4);
                CHECK(r >= 0 || r == -ENOMEM);
            } else {
                CHECK_INT(r, -ENOMEM);
                CHECK_C(msg, "Memory exhausted");
            }
            mem_fail_after(0);
            regex_free(re);
        }
    }
}

TEST(pcre)
{
    struct regex_pcre *re = NULL;
    char msg[REGEX_PCRE_MSG];
    struct regex_span s[3];
    CHECK_INT(regex_pcre_compile(STR("(?<=a)(b+?)(c)?"), U8, &re, msg), 0);
    CHECK_INT(regex_pcre_exec(re, STR("xabbc"), 0, 0, s, 3), 1);
    CHECK_INT(s[0].start, 2);
    CHECK_INT(s[1].end, 3);
    CHECK_INT(s[2].start, -1);
    CHECK_INT(regex_pcre_groups(re), 2);
    regex_pcre_free(re);
    CHECK_INT(regex_pcre_compile(STR("a("), 0, &re, msg), -EINVAL);
    CHECK_C(msg, "missing closing parenthesis");
    CHECK_INT(regex_pcre_compile(STR("(a+)+$"), 0, &re, msg), 0);
    CHECK_INT(regex_pcre_exec(re, STR("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"), 0, 0, s, 1), -E2BIG);
    regex_pcre_free(re);
    CHECK_INT(regex_pcre_compile(STR("b"), U8 | REGEX_WORD, &re, msg), 0);
    CHECK_INT(regex_pcre_exec(re,
                              STR("\xff"
                                  "ab b"),
                              0, 0, s, 1),
              1);
    CHECK_INT(s[0].start, 4);
    regex_pcre_free(re);
}
