/* SPDX-License-Identifier: Apache-2.0 */
#include "proc/co_int.h"

#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>

const size_t co__stack_factor = 4;

void co__tell_leave(struct co *from, const struct co *to, bool dying)
{
    __sanitizer_start_switch_fiber(dying ? NULL : &from->fake, to->low, to->size);
}

void co__tell_arrive(struct co *self, struct co *from)
{
    const void *low = NULL;
    size_t size = 0;
    __sanitizer_finish_switch_fiber(self->fake, &low, &size);
    /* The bounds of a thread's own stack are known only by having left it. */
    from->low = (char *)(uintptr_t)low;
    from->size = size;
}

void co__tell_reuse(const struct co *co)
{
    /* Frames of a coroutine that was left for good never unpoisoned their red zones. */
    __asan_unpoison_memory_region(co->low, co->size);
}
