/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * array - the containers of array variables.
 *
 * struct arr: an indexed array as a sorted run of (index, text) with a gap, so that filling it upwards, downwards or in
 * the middle moves nothing; a run without holes is looked up without a search. struct assoc: chained buckets that grow
 * as bash's do (1024, four times at two entries a bucket), newest first, so that listing goes in bash's order.
 *
 * Texts are guest-sized: mem_try, and -ENOMEM changes nothing.
 */

#include "base/str.h"

struct arr;
struct assoc;

/* An empty array, or NULL. */
struct arr *arr_new(void);
/* Frees it with its texts. Accepts NULL. */
void arr_free(struct arr *a);
/* A copy, or NULL when memory is short. */
struct arr *arr_copy(const struct arr *a);
/* Number of elements. */
size_t arr_count(const struct arr *a);
/* Largest index, or -1. */
int64_t arr_max(const struct arr *a);
/* The element at @index: true and *ret, borrowed until the next change. */
bool arr_get(const struct arr *a, int64_t index, struct str *ret);
/* The element at place @pos in order of indices (0 .. count - 1). */
void arr_at(const struct arr *a, size_t pos, int64_t *ret_index, struct str *ret);
/* Sets an element (copied; @val may be one of the array's own texts): 0 or -ENOMEM. */
int arr_set(struct arr *a, int64_t index, struct str val);
/* Appends to an element's text. */
int arr_append(struct arr *a, int64_t index, struct str val);
/* Removes an element if it is there. */
void arr_unset(struct arr *a, int64_t index);

/* Buckets of bash's own tables of programs and aliases, whose order scripts see. */
#define HASH_BUCKETS 256u
#define ALIAS_BUCKETS 64u

/* An empty map, or NULL. The number of @buckets (a power of two; 0: what bash's arrays have) tells the order. */
struct assoc *assoc_new(uint32_t buckets);
/* Frees it with its texts. Accepts NULL. */
void assoc_free(struct assoc *a);
/* A copy, or NULL when memory is short. */
struct assoc *assoc_copy(const struct assoc *a);
/* Number of entries. */
size_t assoc_count(const struct assoc *a);
/* The value of @key: true and *ret, borrowed until the next change. */
bool assoc_get(const struct assoc *a, struct str key, struct str *ret);
/* Sets (copies): 0 or -ENOMEM. */
int assoc_set(struct assoc *a, struct str key, struct str val);
/* Appends to a value. */
int assoc_append(struct assoc *a, struct str key, struct str val);
/* Removes a key if it is there. */
void assoc_unset(struct assoc *a, struct str key);
/* An empty map whose buckets are as many as @n entries bring about, or NULL. */
struct assoc *assoc_sized(size_t n);
/* Whether it has just those buckets: then adding the entries as they are listed to an assoc_sized() lists them so
 * again.
 */
bool assoc_settled(const struct assoc *a);
/* Adds an entry behind all others of its bucket: 0, -EEXIST or -ENOMEM. */
int assoc_add_last(struct assoc *a, struct str key, struct str val);
/* The @pos-th entry in bash's order; stepping from 0 upwards costs O(1) each. False at the end. */
bool assoc_at(struct assoc *a, size_t pos, struct str *ret_key, struct str *ret);
