/* SPDX-License-Identifier: Apache-2.0 */
#include "base/assert.h"
#include "shell/expand_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Input: a byte of flags, the pattern, a newline, the text. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n < 1 || n > 512)
        return 0;
    int flags = data[0] & (PATTERN_EXTGLOB | PATTERN_NOCASE | PATTERN_UTF8 | PATTERN_PATH);
    struct str all = str_of((const char *)data + 1, n - 1);
    ptrdiff_t nl = str_find(all, '\n', 0);
    struct str pat = nl < 0 ? all : str_of(all.p, (size_t)nl), text = nl < 0 ? STR("") : str_from(all, (size_t)nl + 1);
    size_t at, len;
    bool whole = pattern_match(pat, text, flags);
    ptrdiff_t short_p = pattern_prefix(pat, text, flags, false), long_p = pattern_prefix(pat, text, flags, true);
    ptrdiff_t short_s = pattern_suffix(pat, text, flags, false), long_s = pattern_suffix(pat, text, flags, true);
    ASSERT((short_p < 0) == (long_p < 0) && short_p <= long_p && long_p <= (ptrdiff_t)text.n);
    ASSERT((short_s < 0) == (long_s < 0) && short_s <= long_s && long_s <= (ptrdiff_t)text.n);
    ASSERT(!whole || (long_p == (ptrdiff_t)text.n && long_s == (ptrdiff_t)text.n));
    bool found = pattern_search(pat, text, 0, flags, &at, &len);
    ASSERT(!found || at + len <= text.n);
    ASSERT(found || (short_p < 0 && short_s < 0) || text.n == 0 || (flags & PATTERN_PATH));
    ASSERT(long_p < 0 || (found && at == 0 && len == (size_t)long_p));
    (void)pattern_is_glob(pat, flags);
    return 0;
}
