/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Everything stands on the C library's allocator: it knows the size of each block (malloc_usable_size), so no block
 * carries a header of ours, and the sanitizers see every allocation. */

static _Thread_local struct mem_account *cur;
static _Thread_local uint64_t fail_in; /* mem_fail_after() */

struct mem_account *mem_use(struct mem_account *acc)
{
    struct mem_account *before = cur;
    cur = acc;
    return before;
}

struct mem_account *mem_current(void)
{
    return cur;
}

static __attribute__((noreturn, cold)) void out_of_memory(size_t n)
{
    fprintf(stderr, "frontal-sandbox: the host has no memory for %zu bytes\n", n);
    abort();
}

static __attribute__((cold, noinline)) void limit_met(struct mem_account *a, bool refused)
{
    bool again = a->hit;
    a->hit = true;
    if (a->alarm && !again)
        *a->alarm = 0;
    if (a->met && (refused || !again))
        a->met(a, refused);
}

/* Whether the account meets its limit by having been charged. */
static inline bool over(const struct mem_account *a)
{
    if (__builtin_expect(a->by_number, 0))
        return a->calls == a->due && !a->due_refused;
    return a->limit && a->used > a->limit;
}

static inline void charge_bytes(struct mem_account *a, size_t n)
{
    a->calls++;
    a->used += n;
    if (a->used > a->peak)
        a->peak = a->used;
    if (over(a))
        limit_met(a, false);
}

static inline void charge(void *p)
{
    if (cur)
        charge_bytes(cur, malloc_usable_size(p));
}

static inline void give_back(size_t n)
{
    struct mem_account *a = cur;
    if (a)
        a->used = a->used > n ? a->used - n : 0;
}

/* Whether @n more bytes fit. */
static inline bool fits(const struct mem_account *a, size_t n)
{
    if (!a || !a->limit)
        return true;
    return a->by_number ? a->calls + 1 != a->due || !a->due_refused
                        : a->used <= a->limit && n <= a->limit - a->used;
}

/* Whether @n more bytes may be had; the test aid counts here. */
static inline bool may_have(size_t n)
{
    if (__builtin_expect(fail_in != 0, 0) && --fail_in == 0)
        return false;
    if (fits(cur, n))
        return true;
    limit_met(cur, true);
    return false;
}

void *mem_alloc(size_t n)
{
    void *p = malloc(n);
    if (__builtin_expect(!p, 0))
        out_of_memory(n);
    charge(p);
    return p;
}

void *mem_zalloc(size_t n)
{
    void *p = calloc(1, n);
    if (__builtin_expect(!p, 0))
        out_of_memory(n);
    charge(p);
    return p;
}

void *mem_realloc(void *p, size_t n)
{
    size_t before = cur && p ? malloc_usable_size(p) : 0;
    /* realloc(p, 0) frees; a caller that shrinks to nothing still owns a block. */
    void *q = realloc(p, n ? n : 1);
    if (__builtin_expect(!q, 0))
        out_of_memory(n);
    give_back(before);
    charge(q);
    return q;
}

char *mem_dup(const char *p, size_t n)
{
    char *q = mem_alloc(n + 1);
    if (n)
        memcpy(q, p, n);
    q[n] = 0;
    return q;
}

void *mem_try(size_t n)
{
    if (!may_have(n))
        return NULL;
    void *p = malloc(n);
    if (p)
        charge(p);
    return p;
}

void *mem_try_zalloc(size_t n)
{
    if (!may_have(n))
        return NULL;
    void *p = calloc(1, n);
    if (p)
        charge(p);
    return p;
}

void *mem_try_realloc(void *p, size_t n)
{
    size_t before = cur && p ? malloc_usable_size(p) : 0;
    if (!may_have(n > before ? n - before : 0))
        return NULL;
    void *q = realloc(p, n ? n : 1);
    if (!q)
        return NULL;
    give_back(before);
    charge(q);
    return q;
}

void mem_free(void *p)
{
    if (!p)
        return;
    if (cur)
        give_back(malloc_usable_size(p));
    free(p);
}

bool mem_charge(size_t n)
{
    struct mem_account *a = cur;
    if (fits(a, n)) {
        if (a)
            charge_bytes(a, n);
        return true;
    }
    if (a->met)
        a->met(a, true);
    return false;
}

void mem_uncharge(size_t n)
{
    give_back(n);
}

void mem_fail_after(uint64_t n)
{
    fail_in = n;
}
