/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "base/buf.h"
#include "base/test/test.h"
#include "shell/ast_int.h"
#include "shell/test/shell_case.h"

TEST_LIMIT(parse_and_print_as_bash, 240)
{
    shell_case_check(TEST_CASES "/parse");
}

/* ---- the parser by itself, without a shell ---- */

/* Prints each unit of @text on one line, or the error. */
static void check_line(const char *text, const char *want)
{
    struct buf out BUF_AUTO;
    buf_init(&out, 1u << 20);
    struct parser *ps = parser_new(NULL, str_c(text), NULL, 1);
    struct parse_error err;
    struct ast *a;
    int r;
    while ((r = parser_next(ps, &a, &err)) != 0) {
        if (out.n)
            buf_addc(&out, " | ");
        if (r < 0) {
            buf_addf(&out, "%d: %s", err.line, err.text);
            continue;
        }
        ast_print_oneline(&out, a->root);
        ast_unref(a);
    }
    parser_free(ps);
    CHECK_C(out.p, want);
}

TEST(parse_units)
{
    check_line("", "");
    check_line("\n# c\n\n", "");
    check_line("a\nb;c\n", "a | b; c");
    check_line("a\\\nb", "ab");
    check_line("if a\nthen b\nfi\nc", "if a; then\n    b;\nfi | c");
    check_line("{ a\nb; }", "{ a; b; }");
}

TEST(parse_goes_on_behind_an_error)
{
    check_line("a\n)\nb", "a | 2: syntax error near unexpected token `)' | b");
    check_line(">\nb", "1: syntax error near unexpected token `newline' | b");
    check_line("a=(1 | 2); c\nb", "1: syntax error near unexpected token `|' | b");
    check_line("x 'a", "1: unexpected EOF while looking for matching `''");
    check_line("if a", "2: syntax error: unexpected end of file");
    check_line("cat <<A\nb", "cat <<A\nb\nA\n");
}

struct feed {
    const char *const *lines;
    int i, asked_inside;
};

static int more(void *arg, struct buf *out, bool continuation)
{
    struct feed *f = arg;
    f->asked_inside += continuation;
    if (!f->lines[f->i])
        return 0;
    buf_addc(out, f->lines[f->i++]);
    return 1;
}

TEST(parse_asks_for_lines_only_when_it_needs_them)
{
    static const char *const lines[] = {"a\n", "if b; then\n", "c\n", "fi\n", "d <<E\n", "x\n", "E\n", NULL};
    struct feed f = {.lines = lines};
    struct parse_input in = {more, &f};
    struct parser *ps = parser_new(NULL, (struct str){0}, &in, 1);
    struct parse_error err;
    struct ast *a;
    CHECK_INT(parser_next(ps, &a, &err), 1);
    CHECK_INT(f.i, 1);
    CHECK_INT(f.asked_inside, 0);
    ast_unref(a);
    CHECK_INT(parser_next(ps, &a, &err), 1);
    CHECK_INT(f.i, 4);
    CHECK_INT(f.asked_inside, 2);
    CHECK_INT(a->root->line, 2);
    ast_unref(a);
    CHECK_INT(parser_next(ps, &a, &err), 1);
    CHECK_INT(f.i, 7);
    CHECK_INT(parser_rest(ps).n, 0);
    ast_unref(a);
    CHECK_INT(parser_next(ps, &a, &err), 0);
    parser_free(ps);
}

TEST(parse_word_flags)
{
    static const struct {
        const char *text;
        int flags;
    } cases[] = {
        {"abc", WORD_LITERAL | WORD_NOSPLIT},
        {"[", WORD_LITERAL | WORD_NOSPLIT},
        {"a{b", WORD_LITERAL | WORD_NOSPLIT},
        {"{}", WORD_LITERAL | WORD_NOSPLIT},
        {"a*", WORD_GLOB},
        {"[a]", WORD_GLOB},
        {"{a,b}", WORD_BRACE},
        {"{1..3}", WORD_BRACE},
        {"'a*'", WORD_QUOTED | WORD_NOSPLIT},
        {"\"$x\"", WORD_QUOTED | WORD_NOSPLIT},
        {"\"$@\"", WORD_QUOTED},
        {"\"${a[@]}\"", WORD_QUOTED},
        {"$x", 0},
        {"~", WORD_TILDE | WORD_NOSPLIT},
        {"a=~", WORD_TILDE | WORD_NOSPLIT},
        {"a\\*", WORD_QUOTED | WORD_NOSPLIT},
        {"''", WORD_QUOTED | WORD_NOSPLIT},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct parser *ps = parser_new(NULL, str_c(cases[i].text), NULL, 1);
        struct parse_error err;
        struct ast *a;
        CHECK_INT(parser_next(ps, &a, &err), 1);
        const struct word *w = a->root->simple.n_words ? a->root->simple.words[0] : a->root->simple.assigns[0]->word;
        if (!CHECK_INT(w->flags, cases[i].flags))
            CHECK_C(cases[i].text, "flags");
        ast_unref(a);
        parser_free(ps);
    }
}

TEST(parse_depth_is_bounded)
{
    static const char *const opens[] = {"(",    "$(",  "\"${x-", "((",   "$((", "[[ (",
                                        "`\\`", "if ", "a=(",    "${x-", "{ ",  "$(("};
    for (size_t i = 0; i < sizeof(opens) / sizeof(opens[0]); i++) {
        struct buf text BUF_AUTO;
        buf_init(&text, 1u << 24);
        for (int k = 0; k < 100000; k++)
            buf_addc(&text, opens[i]);
        struct parser *ps = parser_new(NULL, buf_str(&text), NULL, 1);
        struct parse_error err;
        struct ast *a = NULL;
        int r = parser_next(ps, &a, &err);
        CHECK(r == -EINVAL || r == 1);
        if (r == 1)
            ast_unref(a);
        parser_free(ps);
    }
}

TEST(parse_retries_are_not_exponential)
{
    struct buf text BUF_AUTO;
    buf_init(&text, 1u << 20);
    for (int i = 0; i < 300; i++)
        buf_addc(&text, i % 2 ? "$((a); " : "x=( $((b); ");
    struct parser *ps = parser_new(NULL, buf_str(&text), NULL, 1);
    struct parse_error err;
    struct ast *a;
    CHECK_INT(parser_next(ps, &a, &err), -EINVAL);
    parser_free(ps);
}

TEST(parse_ansi_c_strings)
{
    struct buf out BUF_AUTO;
    buf_init(&out, 100);
    parse_ansi_c(STR("a\\n\\x41\\101\\u20ac\\cA\\q\\\\"), &out);
    CHECK_STR(buf_str(&out), STR("a\nAA\xe2\x82\xac\001\\q\\"));
    buf_clear(&out);
    parse_ansi_c(STR("a\\0b"), &out);
    CHECK_STR(buf_str(&out), STR("a"));
}
