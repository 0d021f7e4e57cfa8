/* SPDX-License-Identifier: Apache-2.0 */

/* The tables against the C library's C.UTF-8. */

#include <locale.h>
#include <wchar.h>
#include <wctype.h>

#include "base/test/test.h"
#include "regex/unicode.h"

TEST(classes)
{
    static const char *const names[UNICODE_N_CLASSES] = {"alpha", "digit", "alnum", "upper", "lower", "space",
                                                         "blank", "punct", "print", "graph", "cntrl", "xdigit"};
    if (!setlocale(LC_ALL, "C.UTF-8"))
        test_skip("no C.UTF-8");
    for (unsigned k = 0; k < UNICODE_N_CLASSES; k++) {
        enum unicode_class cls;
        CHECK_INT(unicode_class_find(str_c(names[k]), &cls), 0);
        wctype_t t = wctype(names[k]);
        unsigned bad = 0;
        for (uint32_t c = 0; c <= UNICODE_MAX; c++)
            bad += (iswctype(c, t) != 0) != unicode_is(cls, c);
        if (!CHECK_INT(bad, 0))
            printf("# class %s\n", names[k]);
    }
}

TEST(cases)
{
    if (!setlocale(LC_ALL, "C.UTF-8"))
        test_skip("no C.UTF-8");
    unsigned bad = 0;
    for (uint32_t c = 0; c <= UNICODE_MAX; c++)
        bad += towupper(c) != unicode_upper(c) || towlower(c) != unicode_lower(c);
    CHECK_INT(bad, 0);
}

TEST(widths)
{
    if (!setlocale(LC_ALL, "C.UTF-8"))
        test_skip("no C.UTF-8");
    unsigned bad = 0;
    for (uint32_t c = 0; c <= UNICODE_MAX; c++)
        bad += unicode_width(c) != (iswprint(c) ? wcwidth((wchar_t)c) : -1);
    CHECK_INT(bad, 0);
    CHECK_INT(unicode_width(UNICODE_MAX + 1), -1);
}

TEST(coding)
{
    for (uint32_t c = 0; c <= UNICODE_MAX; c++) {
        char b[4];
        uint32_t d = 0;
        if (c >= 0xd800 && c < 0xe000)
            continue;
        unsigned n = unicode_encode(c, b);
        if (unicode_decode(b, n, &d) != n || d != c || unicode_decode_back(b, b + n, &d) != n || d != c) {
            CHECK_INT(c, d);
            break;
        }
        if (n > 1 && unicode_decode(b, n - 1, &d) != 0)
            CHECK_INT(c, -1);
    }
    uint32_t d;
    CHECK_INT(unicode_decode("\xc0\x80", 2, &d), 0);
    CHECK_INT(unicode_decode("\xed\xa0\x80", 3, &d), 0);
    CHECK_INT(unicode_decode("\xf4\x90\x80\x80", 4, &d), 0);
    CHECK_INT(unicode_decode("\x80", 1, &d), 0);
}
