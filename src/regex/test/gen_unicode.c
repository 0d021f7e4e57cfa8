/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Prints unicode_tab.c from the C library's C.UTF-8 locale. Not part of the build's product: run it by hand when the
 * reference C library changes (gen_unicode > src/regex/unicode_tab.c); test_unicode tells when that is due.
 */

#include <locale.h>
#include <stdio.h>
#include <wchar.h>
#include <wctype.h>

#define LAST 0x10ffffu

typedef int (*pred)(wint_t);

static int gap(wint_t c)
{
    return iswprint(c) && !iswgraph(c);
}

static void ranges(const char *name, pred fn)
{
    printf("\nconst struct unicode_range unicode__%s[] = {", name);
    unsigned n = 0;
    for (unsigned c = 0; c <= LAST; c++) {
        if (!fn(c))
            continue;
        unsigned lo = c;
        while (c < LAST && fn(c + 1))
            c++;
        printf("%s{0x%x, 0x%x},", n % 5 ? " " : "\n    ", lo, c);
        n++;
    }
    printf("\n};\nconst size_t unicode__n_%s = sizeof(unicode__%s) / sizeof(unicode__%s[0]);\n", name, name, name);
}

static void mapping(const char *name, wint_t (*fn)(wint_t))
{
    printf("\nconst struct unicode_map unicode__to_%s[] = {", name);
    unsigned n = 0;
    for (unsigned c = 0; c <= LAST; c++) {
        int delta = (int)fn(c) - (int)c;
        if (!delta)
            continue;
        unsigned step = (int)fn(c + 1) - (int)(c + 1) == delta ? 1 : 2;
        unsigned hi = c;
        /* With a step of 2 the characters between must map to themselves, or the table would not be in order. */
        while (hi + step <= LAST && (int)fn(hi + step) - (int)(hi + step) == delta &&
               (step == 1 || fn(hi + 1) == hi + 1))
            hi += step;
        printf("%s{0x%x, 0x%x, %d, %u},", n % 3 ? " " : "\n    ", c, hi, delta, step);
        n++;
        c = hi;
    }
    printf("\n};\nconst size_t unicode__n_to_%s = sizeof(unicode__to_%s) / sizeof(unicode__to_%s[0]);\n", name, name,
           name);
}

/* See unicode__widths. */
static void widths(void)
{
    printf("\nconst uint32_t unicode__widths[] = {");
    unsigned before = 4, n = 0;
    for (unsigned c = 0; c <= LAST + 1; c++) {
        unsigned k = c <= LAST && iswprint(c) ? 1 + (unsigned)wcwidth((wchar_t)c) : 0;
        if (k == before)
            continue;
        before = k;
        printf("%s0x%x,", n % 12 ? " " : "\n    ", c << 2 | k);
        n++;
    }
    printf("\n};\nconst size_t unicode__n_widths = sizeof(unicode__widths) / sizeof(unicode__widths[0]);\n");
}

int main(void)
{
    if (!setlocale(LC_ALL, "C.UTF-8"))
        return 1;
    printf("/* SPDX-License-Identifier: Apache-2.0 */\n\n/* Printed by test/gen_unicode.c; see there. */\n\n/* "
           "clang-format off */\n\n"
           "#include \"regex/unicode_int.h\"\n");
    ranges("alpha", iswalpha);
    ranges("upper", iswupper);
    ranges("lower", iswlower);
    ranges("punct", iswpunct);
    ranges("space", iswspace);
    ranges("blank", iswblank);
    ranges("cntrl", iswcntrl);
    ranges("gap", gap);
    mapping("upper", towupper);
    mapping("lower", towlower);
    widths();
    return 0;
}
