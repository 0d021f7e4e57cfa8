/* SPDX-License-Identifier: Apache-2.0 */
#include "proc/co_int.h"

#include "proc/proc.h"

/*
 * AAPCS64 leaves x19-x28, the frame pointer x29, the link register x30, the low halves of v8-v15 and fpcr to the
 * callee. The hint is "bti c" (nothing on older cores).
 */
__asm__(".text\n"
        ".p2align 4\n"
        ".globl co__swap\n"
        ".hidden co__swap\n"
        ".type co__swap, %function\n"
        "co__swap:\n"
        "    .cfi_startproc\n"
        "    hint #34\n"
        "    sub sp, sp, #176\n"
        "    stp x19, x20, [sp, #0]\n"
        "    stp x21, x22, [sp, #16]\n"
        "    stp x23, x24, [sp, #32]\n"
        "    stp x25, x26, [sp, #48]\n"
        "    stp x27, x28, [sp, #64]\n"
        "    stp x29, x30, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n"
        "    stp d10, d11, [sp, #112]\n"
        "    stp d12, d13, [sp, #128]\n"
        "    stp d14, d15, [sp, #144]\n"
        "    mrs x9, fpcr\n"
        "    str x9, [sp, #160]\n"
        "    mov x9, sp\n"
        "    str x9, [x0]\n"
        "    mov sp, x1\n"
        "    ldr x9, [sp, #160]\n"
        "    msr fpcr, x9\n"
        "    ldp d14, d15, [sp, #144]\n"
        "    ldp d12, d13, [sp, #128]\n"
        "    ldp d10, d11, [sp, #112]\n"
        "    ldp d8, d9, [sp, #96]\n"
        "    ldp x29, x30, [sp, #80]\n"
        "    ldp x27, x28, [sp, #64]\n"
        "    ldp x25, x26, [sp, #48]\n"
        "    ldp x23, x24, [sp, #32]\n"
        "    ldp x21, x22, [sp, #16]\n"
        "    ldp x19, x20, [sp, #0]\n"
        "    add sp, sp, #176\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size co__swap, . - co__swap\n"
        ".p2align 4\n"
        ".type co_start, %function\n"
        "co_start:\n"
        "    .cfi_startproc\n"
        "    .cfi_undefined x30\n" /* the outermost frame: unwinders stop here */
        "    hint #34\n"
        "    mov x0, x19\n"
        "    mov x29, xzr\n"
        "    mov x30, xzr\n"
        "    bl co__main\n"
        "    brk #1\n"
        "    .cfi_endproc\n"
        ".size co_start, . - co_start\n");

extern const char co_start[] __attribute__((visibility("hidden")));

void *co__frame(void *top, struct co *co)
{
    uint64_t *f = (uint64_t *)top - 22;
    for (int i = 0; i < 22; i++)
        f[i] = 0;
    f[0] = (uint64_t)(uintptr_t)co;        /* x19 */
    f[11] = (uint64_t)(uintptr_t)co_start; /* x30 */
    return f;
}

const char *proc_machine(void)
{
    return "aarch64";
}
