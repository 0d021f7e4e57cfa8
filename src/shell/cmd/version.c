/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/version.h"

static bool is_digit(char ch)
{
    return ch >= '0' && ch <= '9';
}

static bool is_alpha(char ch)
{
    return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z');
}

/* Rank of the character at @i among those that are not digits: '~', the end, digits, letters, the rest. */
static int rank(struct str s, size_t i)
{
    if (i >= s.n)
        return -1;
    char ch = s.p[i];
    if (is_digit(ch))
        return 0;
    if (is_alpha(ch))
        return ch;
    return ch == '~' ? -2 : (unsigned char)ch + 256;
}

/* One pass: text parts by rank, number parts by value. */
static int pass(struct str a, struct str b)
{
    size_t i = 0, k = 0;
    while (i < a.n || k < b.n) {
        while ((i < a.n && !is_digit(a.p[i])) || (k < b.n && !is_digit(b.p[k]))) {
            int d = rank(a, i) - rank(b, k);
            if (d != 0)
                return d;
            i++;
            k++;
        }
        while (i < a.n && a.p[i] == '0')
            i++;
        while (k < b.n && b.p[k] == '0')
            k++;
        int first = 0;
        while (i < a.n && k < b.n && is_digit(a.p[i]) && is_digit(b.p[k])) {
            if (first == 0)
                first = a.p[i] - b.p[k];
            i++;
            k++;
        }
        if (i < a.n && is_digit(a.p[i]))
            return 1;
        if (k < b.n && is_digit(b.p[k]))
            return -1;
        if (first != 0)
            return first;
    }
    return 0;
}

/* Length without the longest run of suffixes (a dot, a letter or '~', then letters, digits and '~') at the end; all of
 * it may be suffixes. */
static size_t stem(struct str s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n;) {
        while (i + 1 < s.n && s.p[i] == '.' && (is_alpha(s.p[i + 1]) || s.p[i + 1] == '~'))
            for (i += 2; i < s.n && (is_alpha(s.p[i]) || is_digit(s.p[i]) || s.p[i] == '~'); i++)
                ;
        if (i < s.n)
            n = ++i;
    }
    return n;
}

/* "." before "..", both before other hidden names, those before the rest: *ret is set when that decides. */
static bool dots(struct str a, struct str b, int *ret)
{
    bool da = a.p[0] == '.', db = b.p[0] == '.';
    if (da != db) {
        *ret = da ? -1 : 1;
        return true;
    }
    if (!da)
        return false;
    int ra = a.n == 1 ? 0 : a.n == 2 && a.p[1] == '.' ? 1 : 2;
    int rb = b.n == 1 ? 0 : b.n == 2 && b.p[1] == '.' ? 1 : 2;
    *ret = ra - rb;
    return ra != 2 || rb != 2;
}

int version_cmp(struct str a, struct str b)
{
    int r;
    if (a.n == 0 || b.n == 0)
        return (a.n > 0) - (b.n > 0);
    if (dots(a, b, &r))
        return r;
    size_t na = stem(a), nb = stem(b);
    r = pass(str_of(a.p, na), str_of(b.p, nb));
    return r != 0 || (na == a.n && nb == b.n) ? r : pass(a, b);
}
