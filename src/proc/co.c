/* SPDX-License-Identifier: Apache-2.0 */
#include "proc/co_int.h"

#include <sys/mman.h>

#include "base/assert.h"
#include "types/limits.h"

#define GUARD                                                                                                          \
    16384u /* one page would do for code built with stack probes; linked libraries may have frames without them */
#define KEEP 65536u /* bytes of a pooled stack that stay resident */
#define POOL 64u    /* stacks of a size that a thread keeps */
#define FULL_TRIM                                                                                                      \
    64u /* uses after which the whole stack is given back, deep or not: a deep frame may have gone unseen */

/* Indexed by co->big. */
static _Thread_local struct co *pool[2];
static _Thread_local uint32_t pool_n[2];
/* What the running coroutine switched away from; read right after the switch, on the same thread. */
static _Thread_local struct co *left;

static size_t stack_bytes(bool big)
{
    return (big ? LIMIT_SHELL_STACK : LIMIT_STACK) * co__stack_factor;
}

static struct co *map_stack(bool big)
{
    size_t n = stack_bytes(big);
    char *base =
        mmap(NULL, GUARD + n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (base == MAP_FAILED)
        return NULL;
    if (mprotect(base, GUARD, PROT_NONE) != 0) {
        munmap(base, GUARD + n);
        return NULL;
    }
    size_t head = (sizeof(struct co) + 63) & ~(size_t)63;
    struct co *co = (struct co *)(void *)(base + GUARD + n - head);
    *co = (struct co){.low = base + GUARD, .size = n - head, .big = big};
    return co;
}

struct co *co__new(bool big)
{
    struct co *co = pool[big];
    if (co) {
        pool[big] = co->next;
        pool_n[big]--;
        co__tell_reuse(co);
    } else {
        co = map_stack(big);
        if (!co)
            return NULL;
    }
    co->next = co->prev = NULL;
    co->queued = false;
    co->fake = NULL;
    co->sp = co__frame(co->low + co->size, co);
    co->deepest = co->sp;
    return co;
}

void co__free(struct co *co)
{
    bool big = co->big;
    if (pool_n[big] >= POOL) {
        co__tell_reuse(co);
        munmap(co->low - GUARD, GUARD + stack_bytes(big));
        return;
    }
    char *keep = co->low + co->size - KEEP;
    if (co->deepest < keep || ++co->uses % FULL_TRIM == 0)
        madvise(co->low, (size_t)(keep - co->low) & ~(size_t)4095, MADV_DONTNEED);
    co->next = pool[big];
    pool[big] = co;
    pool_n[big]++;
}

/* Not inlined: the address of a thread's variable must not be kept over the switch, which may end on another thread. */
__attribute__((noinline)) void co__arrived(struct co *self)
{
    co__tell_arrive(self, left);
}

static __attribute__((noinline)) void leaving(struct co *from)
{
    left = from;
}

void co__switch(struct co *from, struct co *to)
{
    char *here = __builtin_frame_address(0);
    if (here < from->deepest)
        from->deepest = here;
    leaving(from);
    co__tell_leave(from, to, false);
    co__swap(&from->sp, to->sp);
    co__arrived(from);
}

void co__leave(struct co *from, struct co *to)
{
    leaving(from);
    co__tell_leave(from, to, true);
    co__swap(&from->sp, to->sp);
    UNREACHABLE();
}
