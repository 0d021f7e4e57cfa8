/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* msort - a stable merge sort of pointers. qsort(3) would take memory of its own, unlimited and uncounted. */

#include <stddef.h>

typedef int (*msort_cmp)(const void *a, const void *b, void *arg);

/* Sorts v[0..n) by @cmp(a, b, arg); @tmp holds n pointers. */
void msort(void **v, size_t n, msort_cmp cmp, void *arg, void **tmp);
