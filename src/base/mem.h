/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * mem - the three allocators, and the account that guest memory is charged to.
 *
 * mem_alloc() and friends are for bookkeeping of bounded size: they abort the process when the
 * host has no memory. mem_try() and friends are for anything whose size a guest or a peer chooses:
 * they return NULL. Arenas (arena.h) stand on mem_alloc().
 *
 * A thread may have a current account (mem_use()). Everything allocated while it is current is
 * charged to it, everything freed is given back. When an account would pass its limit,
 *   - mem_try() returns NULL and sets account->hit;
 *   - mem_alloc() still succeeds, and sets account->hit. Code that runs for a guest looks at `hit`
 *     (proc_poll() does) at every command and loop turn, and unwinds. So code whose single allocations
 *     are small needs no error path, and the overshoot is bounded by what is allocated between polls.
 *
 * Block sizes are the C library's and differ a little from run to run. Who has to repeat a run notes when the limit was
 * met (`met`), counted in allocations, and has the account meet it then (`by_number`).
 *
 * Invariants:
 *   1. account->used is the sum of the usable sizes of what was charged and not given back; memory
 *      freed under another account than it was charged to makes it drift, never wrap (it saturates at 0).
 *   2. A failed call changes nothing.
 *
 * Threads: the current account is per thread. An account is used by one thread at a time.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mem_account {
    uint64_t used;  /* bytes */
    uint64_t limit; /* bytes; 0 is no limit */
    uint64_t peak;  /* bytes */
    bool hit;       /* the limit was met; cleared by its owner only */
    int32_t
        *alarm; /* set to 0 when it is first met, so that who counts down to a look at `hit` looks at once; or NULL */
    uint64_t calls; /* allocations that were charged */
    /* Told when the limit is first met by what was charged (@refused false), and each time something is refused; may
     * be NULL. */
    void (*met)(struct mem_account *acc, bool refused);
    void *met_arg;
    bool by_number;   /* the limit is met at allocation number @due, whatever is used */
    bool due_refused; /* that one is refused; else it is charged */
    uint64_t due;     /* 0: never */
};

/* Makes @acc (NULL: none) this thread's current account, and returns the one before. */
struct mem_account *mem_use(struct mem_account *acc);

/* The current account, or NULL. */
struct mem_account *mem_current(void);

/* @n bytes, uninitialised; aborts on host OOM. n == 0 gives a valid pointer. */
void *mem_alloc(size_t n) __attribute__((malloc, warn_unused_result, returns_nonnull));

/* As mem_alloc(), zeroed. */
void *mem_zalloc(size_t n) __attribute__((malloc, warn_unused_result, returns_nonnull));

/* Resizes (p may be NULL); aborts on host OOM. Takes @p. */
void *mem_realloc(void *p, size_t n) __attribute__((warn_unused_result, returns_nonnull));

/* A NUL-terminated copy of @n bytes; aborts on host OOM. */
char *mem_dup(const char *p, size_t n) __attribute__((malloc, warn_unused_result, returns_nonnull));

/* @n bytes, or NULL when the account's limit or the host's memory does not allow it. */
void *mem_try(size_t n) __attribute__((malloc, warn_unused_result));

/* As mem_try(), zeroed. */
void *mem_try_zalloc(size_t n) __attribute__((malloc, warn_unused_result));

/* Resizes, or NULL and @p stays as it was. */
void *mem_try_realloc(void *p, size_t n) __attribute__((warn_unused_result));

/* Frees; accepts NULL. */
void mem_free(void *p);

/* Charges @n bytes that are had elsewhere (a program's linear memory) as one allocation: false, and nothing is charged,
 * when the limit does not allow it. Unlike mem_try() this does not set account->hit: who asked may go on with what it
 * has. */
bool mem_charge(size_t n) __attribute__((warn_unused_result));
/* Gives back @n bytes that were charged so. */
void mem_uncharge(size_t n);

/* Test aid: the @n-th following mem_try* call of this thread fails (1 = the next); 0 switches it off. */
void mem_fail_after(uint64_t n);

/* Cleanup helper for __attribute__((cleanup(mem_cleanup))) on pointers of any type. */
static inline void mem_cleanup(void *pp)
{
    mem_free(*(void **)pp);
}
#define MEM_AUTO __attribute__((cleanup(mem_cleanup)))

/* Whether this build looks for leaks: then a process frees at its end what it would else leave to the kernel. */
#ifdef FRONTAL_SANITIZE
#define MEM_LEAK_CHECK 1
#else
#define MEM_LEAK_CHECK 0
#endif
