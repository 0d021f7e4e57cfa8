/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Prints wide_table.c from the C library's C.UTF-8 locale. Each entry is the first code point of a run, shifted left by
 * two, and its class: 0 does not print, 1 + columns otherwise.
 */

#include <locale.h>
#include <stdio.h>
#include <wchar.h>
#include <wctype.h>

static unsigned class_of(unsigned ch)
{
    if (ch > 0x10ffff || !iswprint(ch))
        return 0;
    return 1 + (unsigned)wcwidth((wchar_t)ch);
}

int main(void)
{
    if (!setlocale(LC_ALL, "C.UTF-8"))
        return 1;
    puts("/* SPDX-License-Identifier: Apache-2.0 */\n#include \"shell/cmd/wide_int.h\"\n");
    puts("/* Made by test/gen_wide.c; see there. */\nconst uint32_t wide__runs[] = {");
    unsigned prev = 99, col = 0, n = 0;
    for (unsigned ch = 0; ch <= 0x110000; ch++) {
        unsigned k = class_of(ch);
        if (k == prev)
            continue;
        prev = k;
        n++;
        col += (unsigned)printf("%s0x%x,", col == 0 ? "    " : " ", ch << 2 | k);
        if (col > 108) {
            putchar('\n');
            col = 0;
        }
    }
    printf("%s};\nconst size_t wide__n_runs = %u;\n", col ? "\n" : "", n);
    return 0;
}
