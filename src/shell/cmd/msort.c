/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/msort.h"

#include <string.h>

/* Runs up to this length are sorted by insertion. */
#define SMALL 8

static void insertion(void **v, size_t n, msort_cmp cmp, void *arg)
{
    for (size_t i = 1; i < n; i++) {
        void *x = v[i];
        size_t k = i;
        for (; k > 0 && cmp(v[k - 1], x, arg) > 0; k--)
            v[k] = v[k - 1];
        v[k] = x;
    }
}

/* Merges from[lo..mid) and from[mid..hi) to @to. */
static void merge(void **from, void **to, size_t lo, size_t mid, size_t hi, msort_cmp cmp, void *arg)
{
    if (mid >= hi || cmp(from[mid - 1], from[mid], arg) <= 0) {
        memcpy(to + lo, from + lo, (hi - lo) * sizeof *to);
        return;
    }
    size_t a = lo, b = mid, k = lo;
    while (a < mid && b < hi)
        to[k++] = cmp(from[a], from[b], arg) <= 0 ? from[a++] : from[b++];
    memcpy(to + k, from + a, (mid - a) * sizeof *to);
    k += mid - a;
    memcpy(to + k, from + b, (hi - b) * sizeof *to);
}

void msort(void **v, size_t n, msort_cmp cmp, void *arg, void **tmp)
{
    void **from = v, **to = tmp;
    for (size_t lo = 0; lo < n; lo += SMALL)
        insertion(v + lo, n - lo < SMALL ? n - lo : SMALL, cmp, arg);
    for (size_t width = SMALL; width < n; width *= 2) {
        for (size_t lo = 0; lo < n; lo += 2 * width) {
            size_t mid = lo + width < n ? lo + width : n, hi = lo + 2 * width < n ? lo + 2 * width : n;
            merge(from, to, lo, mid, hi, cmp, arg);
        }
        void **t = from;
        from = to;
        to = t;
    }
    if (from != v)
        memcpy(v, from, n * sizeof *v);
}
