/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * co_int - coroutines: a stack and a saved stack pointer.
 *
 * A coroutine's struct lies at the top of its own stack mapping, so making one from the pool allocates nothing. Below
 * the lowest usable byte is a guard. The pool is per thread and bounded; a coroutine may go back to another thread's
 * pool than it came from.
 *
 * The switch itself is co_switch_ARCH.c; what a sanitizer must be told is co_asan.c or co_plain.c. meson.build picks
 * one of each.
 */

#include "types/outcome.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct proc;

struct co {
    void *sp;               /* saved while it does not run */
    char *low;              /* lowest usable byte */
    size_t size;            /* usable bytes from low on */
    char *deepest;          /* lowest stack pointer seen at a switch or poll */
    void *fake;             /* the sanitizer's own stack */
    struct co *next, *prev; /* run queue, or pool */
    bool queued;
    bool big;
    uint32_t uses;
    struct proc *carrier; /* whose main runs here */
    struct proc *top;     /* innermost inline child, or carrier: who acts now */
    struct proc *active;  /* who called what it is parked in */
    struct outcome (*main)(struct proc *p, void *arg);
    void *arg;
};

/* A coroutine that will enter co__main() when first switched to; @big as in proc_fork(). NULL: the host has no memory.
 */
struct co *co__new(bool big);
/* Gives its stack back to the pool. It must not be running. */
void co__free(struct co *co);

/* Leaves @from and goes on in @to; returns when somebody switches to @from. */
void co__switch(struct co *from, struct co *to);
/* Leaves @from for good. */
void co__leave(struct co *from, struct co *to) __attribute__((noreturn));

/* First thing in a new coroutine: what co__switch() does when it comes back. */
void co__arrived(struct co *self);
/* Where a new coroutine begins (sched.c); never returns. */
void co__main(struct co *co) __attribute__((noreturn));

/* ---- co_switch_ARCH.c ---- */

/* Saves the callee-saved registers on the stack, its pointer in @save, and takes up @sp. */
void co__swap(void **save, void *sp);
/* Builds below @top (16-byte aligned) the frame that co__swap() takes up to call co__main(co); returns its stack
 * pointer. */
void *co__frame(void *top, struct co *co);

/* ---- co_asan.c or co_plain.c ---- */

/* Factor of stack sizes: a sanitizer's frames are larger. */
extern const size_t co__stack_factor;
/* Before a switch; @dying: @from never runs again. */
void co__tell_leave(struct co *from, const struct co *to, bool dying);
/* After a switch, on the stack of @self; @from is what was left (its bounds are learned here). */
void co__tell_arrive(struct co *self, struct co *from);
/* A stack is about to be used anew, or unmapped. */
void co__tell_reuse(const struct co *co);
