/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/test/test.h"
#include "shell/builtin/condition_int.h"
#include "shell/builtin/duration_int.h"
#include "shell/builtin/escape_int.h"
#include "shell/builtin/printf_num_int.h"
#include "shell/shell_int.h"
#include "shell/test/shell_case.h"

/* Expected outputs were recorded from bash 5.2. */
TEST_LIMIT(builtins_as_bash, 120)
{
    shell_case_check(TEST_CASES "/builtin2");
}

TEST(builtins_are_sorted)
{
    size_t n;
    const struct builtin *const *v = builtin_all(&n);
    CHECK(n > 10);
    for (size_t i = 1; i < n; i++)
        CHECK(strcmp(v[i - 1]->name, v[i]->name) < 0);
    for (size_t i = 0; i < n; i++) {
        CHECK(builtin_find_any(str_c(v[i]->name)) == v[i]);
        CHECK(strncmp(v[i]->synopsis, v[i]->name, strlen(v[i]->name)) == 0);
        CHECK(v[i]->help[0] == 0 || v[i]->help[strlen(v[i]->help) - 1] == '\n');
    }
    CHECK(builtin_find_any(STR("no-such")) == NULL);
}

/* strtoimax(3) and bash's manual: a whole decimal number, blanks around it allowed. */
TEST(integers)
{
    int64_t v = 7;
    CHECK(condition_int(STR("9223372036854775807"), &v));
    CHECK_INT(v, INT64_MAX);
    CHECK(condition_int(STR("-9223372036854775808"), &v));
    CHECK_INT(v, INT64_MIN);
    CHECK(condition_int(STR(" \t+12\n "), &v));
    CHECK_INT(v, 12);
    CHECK(!condition_int(STR("9223372036854775808"), &v));
    CHECK(!condition_int(STR("-9223372036854775809"), &v));
    CHECK(!condition_int(STR(""), &v));
    CHECK(!condition_int(STR("-"), &v));
    CHECK(!condition_int(STR("+ 1"), &v));
    CHECK(!condition_int(STR("1 2"), &v));
    CHECK(!condition_int(STR("0x1"), &v));
    CHECK_INT(v, 12);
}

TEST(durations)
{
    int64_t v = 0;
    CHECK(duration_parse(STR("1.5"), &v));
    CHECK_INT(v, 3 * CLOCK_S / 2);
    CHECK(duration_parse(STR(".25"), &v));
    CHECK_INT(v, CLOCK_S / 4);
    CHECK(duration_parse(STR("0"), &v));
    CHECK_INT(v, 0);
    CHECK(duration_parse(STR("99999999999999999999"), &v));
    CHECK_INT(v, INT64_MAX);
    CHECK(duration_parse(STR("0.0000000019"), &v));
    CHECK_INT(v, 1);
    CHECK(!duration_parse(STR(""), &v));
    CHECK(!duration_parse(STR("."), &v));
    CHECK(!duration_parse(STR("-1"), &v));
    CHECK(!duration_parse(STR("1s"), &v));
}

static void check_escape(enum escape_kind kind, const char *in, struct str want, size_t len)
{
    struct escape e;
    CHECK_INT(escape_decode(kind, true, in, strlen(in), &e), len);
    CHECK_STR(str_of(e.text, e.n), want);
}

TEST(escapes)
{
    check_escape(ESCAPE_ECHO, "\\0101x", STR("A"), 5);
    check_escape(ESCAPE_ECHO, "\\101", STR("\\1"), 2);
    check_escape(ESCAPE_FORMAT, "\\0101", STR("\b"), 4);
    check_escape(ESCAPE_B, "\\101", STR("A"), 4);
    check_escape(ESCAPE_B, "\\u00e9", STR("\xc3\xa9"), 6);
    check_escape(ESCAPE_B, "\\U7fffffff", STR("\xfd\xbf\xbf\xbf\xbf\xbf"), 10);
    check_escape(ESCAPE_GNU_FORMAT, "\\E", STR("\\E"), 2);
    check_escape(ESCAPE_GNU_B, "\\u20ac", STR("\xe2\x82\xac"), 6);
    check_escape(ESCAPE_B, "\\", STR("\\"), 1);
}

/* Text of a float with the zeros that are only counted written out. */
static void float_text(const struct printf_num *f, struct buf *out)
{
    buf_add(out, f->prefix, f->prefix_n);
    buf_add(out, f->p, f->at);
    for (int64_t i = 0; i < f->more; i++)
        buf_putc(out, '0');
    buf_add(out, f->p + f->at, f->n - f->at);
}

/* Precisions beyond what the C library is asked for give what it would print. */
TEST(long_precisions)
{
    static const char convs[] = "feg";
    static char want[40000];
    for (const char *c = convs; *c; c++) {
        struct printf_spec s = {.prec = 17000, .alt = true};
        struct printf_num f = {0};
        struct buf got BUF_AUTO;
        char *heap MEM_AUTO = NULL;
        buf_init(&got, 1 << 20);
        CHECK(printf_num_float(&f, &s, *c, 0.1L, &heap));
        float_text(&f, &got);
        int n = snprintf(want, sizeof want, *c == 'f' ? "%#.17000Lf" : *c == 'e' ? "%#.17000Le" : "%#.17000Lg", 0.1L);
        CHECK_STR(buf_str(&got), str_of(want, (size_t)n));
    }
}
