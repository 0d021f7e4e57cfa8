/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/test/test.h"
#include "trace/test/trace_test.h"
#include "trace/trace_int.h"

static void check_masked(const struct str *secrets, uint32_t n, struct str text, struct str want)
{
    struct trace t = {0};
    char copy[256];
    CHECK_INT(trace_mask(&t, secrets, n), 0);
    memcpy(copy, text.p, text.n);
    trace_mask_apply(&t.masks, text, copy);
    CHECK_STR(str_of(copy, text.n), want);
    trace_mask_done(&t.masks);
}

TEST(masks)
{
    const struct str s[] = {STR("abcd"), STR("cdefgh"), STR("aaaa")};
    check_masked(s, 3, STR("xabcdx"), STR("x****x"));
    check_masked(s, 3, STR("abcdefgh!"), STR("********!"));
    check_masked(s, 3, STR("abcabcdabc"), STR("abc****abc"));
    check_masked(s, 3, STR("aaaaaaab"), STR("*******b"));
    check_masked(s, 3, STR("abc"), STR("abc"));
    check_masked(s, 3, STR("K=abcd\0L=abcd\0"), STR("K=****\0L=****\0"));
    check_masked(s, 1, STR("cdefgh"), STR("cdefgh"));
}

/* Beside the plain way, with a small alphabet, so that much overlaps. */
TEST(masks_at_random)
{
    uint64_t seed = test_seed();
    for (int round = 0; round < 20000; round++) {
        char text[48], want[48], secret[3][12];
        struct str s[3];
        for (size_t i = 0; i < sizeof(text); i++)
            want[i] = text[i] = (char)('a' + test_rand(&seed) % 2);
        for (size_t k = 0; k < 3; k++) {
            s[k] = str_of(secret[k], 4 + test_rand(&seed) % 8);
            for (size_t i = 0; i < s[k].n; i++)
                secret[k][i] = (char)('a' + test_rand(&seed) % 2);
            for (size_t i = 0; i + s[k].n <= sizeof(text); i++) {
                if (memcmp(text + i, s[k].p, s[k].n) == 0)
                    memset(want + i, '*', s[k].n);
            }
        }
        check_masked(s, 3, str_of(text, sizeof(text)), str_of(want, sizeof(want)));
    }
}

TEST(short_values_are_refused)
{
    struct trace t = {0};
    const struct str s[] = {STR("long enough"), STR("abc")};
    CHECK_INT(trace_mask(&t, s, 2), -EINVAL);
    CHECK_INT(t.masks.n, 0);
    CHECK_INT(trace_mask(&t, s, 1), 0);
    CHECK_INT(trace_mask(&t, s, 1), 0);
    CHECK_INT(t.masks.n, 2);
    mem_fail_after(2);
    CHECK_INT(trace_mask(&t, s, 1), -ENOMEM);
    mem_fail_after(0);
    CHECK_INT(t.masks.n, 2);
    trace_mask_done(&t.masks);
}

/* In every string of every type. */
TEST(no_secret_reaches_the_file)
{
    const struct str secret = STR("hunter2-hunter2");
    int fd = file_of(STR(""));
    struct trace *t = open_again(fd, NULL);
    CHECK_INT(trace_mask(t, &secret, 1), 0);
    for (unsigned type = 1; type < TRACE_TYPES; type++) {
        struct trace_event e = {.type = (enum trace_type)type};
        struct str text = STR("A=hunter2-hunter2\0B=xhunter2-hunter2x");
        uint32_t n = 0;
        const struct trace_field *f = trace_fields(type, &n, NULL);
        for (uint32_t i = 0; i < n; i++) {
            if (f[i].kind == TRACE_STR)
                memcpy((char *)&e + f[i].offset, &text, sizeof(text));
        }
        CHECK_INT(trace_append(t, &e), 0);
    }
    CHECK_INT(trace_flush(t), 0);
    BUF_AUTO struct buf b;
    bytes_of(fd, &b);
    CHECK(memmem(b.p, b.n, "hunter", 6) == NULL);
    CHECK(memmem(b.p, b.n, "B=x***************x", 19) != NULL);
    struct trace_report report;
    CHECK_INT(trace_verify(t, &report), 0);
    trace_close(t);
    fd_close(&fd);
}
