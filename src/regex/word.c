/* SPDX-License-Identifier: Apache-2.0 */
#include "regex/regex_int.h"

/*
 * GNU grep's -w for patterns that match the empty string. At each start grep tries the longest match, then shorter
 * ones, but a shorter one must not be empty. So an empty match counts only where the pattern can match nothing else.
 * Two searches find the leftmost of both kinds: one for matches of at least a byte between non-words, and one over the
 * places where an empty one would do.
 */

static bool between_words(struct regex *re, struct str t, size_t p, unsigned eflags)
{
    enum rx_ctx l = rx__left(re, t, p, eflags), r = rx__right(re, t, p, eflags);
    return l != RX_WORD && r != RX_WORD && l != RX_MID && r != RX_MID;
}

int rx__word(struct regex *re, struct str t, size_t start, unsigned eflags, struct regex_span *spans, size_t n)
{
    struct regex_span found[1] = {{-1, -1}};
    struct regex_span *out = n > 0 ? spans : found;
    int hit = regex_exec(re->word_nonempty, t, start, eflags, out, n > 0 ? n : 1);
    if (hit < 0)
        return hit;
    size_t limit = hit ? (size_t)out[0].start : t.n + 1;
    for (size_t p = start; p < limit; p++) {
        if (!between_words(re, t, p, eflags))
            continue;
        struct regex_span all[1];
        int r = regex_exec(re->word_plain, t, p, eflags | REGEX_ANCHORED, all, 1);
        if (r < 0)
            return r;
        if (r > 0 && all[0].start == all[0].end)
            return n > 0 ? regex_exec(re->word_plain, t, p, eflags | REGEX_ANCHORED, spans, n) : 1;
        if (eflags & REGEX_ANCHORED)
            break;
    }
    return hit;
}
