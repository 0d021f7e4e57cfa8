/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Any pattern on any text. Input: one byte of flags, one of dialect and eflags, a pattern, a NUL, the text. The search
 * must end, say the same with and without groups, and give spans inside the text.
 */

#include <stdlib.h>

#include "base/assert.h"
#include "base/mem.h"
#include "regex/regex.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void search(struct regex *re, struct str text, unsigned eflags)
{
    struct regex_span s[12];
    int t = regex_exec(re, text, 0, eflags, NULL, 0);
    int r = regex_exec(re, text, 0, eflags, s, 12);
    if (t < 0 || r < 0)
        return;
    ASSERT(t == r);
    for (size_t i = 0; r == 1 && i < 12; i++) {
        ASSERT(s[i].start >= -1 && s[i].end <= (ptrdiff_t)text.n);
        ASSERT(s[i].end == -1 || (s[i].start >= 0 && s[i].start <= s[i].end));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3 || size > 400)
        return 0;
    const char *p = (const char *)data + 2;
    const char *nul = memchr(p, 0, size - 2);
    struct str pattern = str_of(p, nul ? (size_t)(nul - p) : size - 2);
    struct str text = nul ? str_of(nul + 1, size - 3 - pattern.n) : STR("");
    struct mem_account acc = {.limit = 256u << 20};
    struct mem_account *old = mem_use(&acc);
    struct regex *re = NULL;
    const char *msg = NULL;
    unsigned flags = data[0] | REGEX_DIALECT(data[1] % 10) | REGEX_LINES;
    if (regex_compile(pattern, flags, &re, &msg) == 0) {
        search(re, text, data[1] >> 5);
        size_t from = 0, b, e;
        while (from <= text.n && regex_find_line(re, text, from, '\n', &b, &e) == 1) {
            ASSERT(b >= from && b <= e && e <= text.n);
            from = e + 1;
        }
        regex_free(re);
    } else {
        ASSERT(msg != NULL);
    }
    mem_use(old);
    return 0;
}
