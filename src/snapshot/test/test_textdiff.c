/* SPDX-License-Identifier: Apache-2.0 */

/* Unified diffs: known ones (as GNU diff -u prints their hunks), and the property that applying one to the old text
 * gives the new. */

#include <stdlib.h>

#include "base/mem.h"
#include "base/test/test.h"
#include "snapshot/textdiff.h"

static void check_diff(const char *a, const char *b, const char *want)
{
    BUF_AUTO struct buf out;
    buf_init(&out, 1u << 20);
    CHECK_INT(textdiff_unified(str_c(a), str_c(b), &out), 0);
    CHECK_C(out.p, want);
}

TEST(known_hunks)
{
    check_diff("a\nb\nc\n", "a\nb\nc\n", "");
    check_diff("", "x\n", "@@ -0,0 +1 @@\n+x\n");
    check_diff("x\n", "", "@@ -1 +0,0 @@\n-x\n");
    check_diff("a\nb\nc\n", "a\nX\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+X\n c\n");
    check_diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nX\n6\n7\n8\n9\n",
               "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+X\n 6\n 7\n 8\n");
    check_diff("a", "a\n", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n");
}

TEST(distant_changes_are_two_hunks)
{
    BUF_AUTO struct buf a = {0}, b = {0}, out = {0};
    buf_init(&a, 4096);
    buf_init(&b, 4096);
    buf_init(&out, 4096);
    for (int i = 0; i < 30; i++) {
        buf_addf(&a, "%d\n", i);
        buf_addf(&b, i == 3 || i == 25 ? "x%d\n" : "%d\n", i);
    }
    CHECK_INT(textdiff_unified(buf_str(&a), buf_str(&b), &out), 0);
    int hunks = 0;
    for (const char *p = out.p; (p = strstr(p, "@@ -")); p++)
        hunks++;
    CHECK_INT(hunks, 2);
}

static struct str line_of(struct str *s)
{
    const char *nl = memchr(s->p, '\n', s->n);
    struct str l = str_of(s->p, nl ? (size_t)(nl - s->p) + 1 : s->n);
    *s = str_from(*s, l.n);
    return l;
}

/* Applies a diff to @a; false when it does not fit. */
static bool patch(struct str a, struct str d, struct buf *out)
{
    size_t line = 1;
    while (d.n) {
        struct str head = line_of(&d);
        size_t start, count = 1, n_after, after = 1;
        char *end;
        if (!str_starts(head, STR("@@ -")))
            return false;
        start = strtoul(head.p + 4, &end, 10);
        if (*end == ',')
            count = strtoul(end + 1, &end, 10);
        n_after = strtoul(end + 2, &end, 10);
        if (*end == ',')
            after = strtoul(end + 1, &end, 10);
        (void)n_after;
        for (; line < start + (count == 0); line++)
            buf_adds(out, line_of(&a));
        while (count + after) {
            struct str l = line_of(&d), text = str_from(l, 1);
            char op = l.p[0];
            if (str_starts(d, STR("\\ No newline"))) {
                text.n--;
                (void)line_of(&d);
            }
            if (op != '+') {
                if (!str_eq(line_of(&a), text))
                    return false;
                line++;
                count--;
            }
            if (op != '-') {
                buf_adds(out, text);
                after--;
            }
        }
    }
    buf_adds(out, a);
    return true;
}

static void random_text(uint64_t *seed, struct buf *out, int lines, int kinds)
{
    for (int i = 0; i < lines; i++)
        buf_addf(out, "l%d\n", (int)(test_rand(seed) % (uint64_t)kinds));
    if (out->n && test_rand(seed) % 4 == 0)
        buf_trunc(out, out->n - 1);
}

TEST(a_diff_applied_to_the_old_text_gives_the_new)
{
    uint64_t seed = test_seed();
    for (int i = 0; i < 3000; i++) {
        BUF_AUTO struct buf a = {0}, b = {0}, d = {0}, got = {0};
        buf_init(&a, 1u << 20);
        buf_init(&b, 1u << 20);
        buf_init(&d, 1u << 20);
        buf_init(&got, 1u << 20);
        random_text(&seed, &a, (int)(test_rand(&seed) % 60), 1 + (int)(test_rand(&seed) % 12));
        random_text(&seed, &b, (int)(test_rand(&seed) % 60), 1 + (int)(test_rand(&seed) % 12));
        CHECK_INT(textdiff_unified(buf_str(&a), buf_str(&b), &d), 0);
        if (!CHECK(patch(buf_str(&a), buf_str(&d), &got)) || !CHECK_STR(buf_str(&got), buf_str(&b)))
            return;
    }
}

TEST(texts_with_nothing_in_common_are_bounded_in_time_and_memory)
{
    BUF_AUTO struct buf a = {0}, b = {0}, d = {0}, got = {0};
    buf_init(&a, 1u << 24);
    buf_init(&b, 1u << 24);
    buf_init(&d, 1u << 25);
    buf_init(&got, 1u << 24);
    for (int i = 0; i < 100000; i++) {
        buf_addf(&a, "a%d\n", i);
        buf_addf(&b, "b%d\n", i);
    }
    CHECK_INT(textdiff_unified(buf_str(&a), buf_str(&b), &d), 0);
    CHECK(patch(buf_str(&a), buf_str(&d), &got));
    CHECK(str_eq(buf_str(&got), buf_str(&b)));
}
