/* SPDX-License-Identifier: Apache-2.0 */
#include "proc/co_int.h"

#include "proc/proc.h"

/*
 * The System V ABI leaves rbx, rbp, r12-r15, the control bits of mxcsr and the x87 control word to the callee; nothing
 * else lives over a call. No system call is made: the signal mask is the thread's. endbr64 marks the entries for
 * indirect branch tracking; the shadow stack is not in use.
 */
__asm__(".text\n"
        ".p2align 4\n"
        ".globl co__swap\n"
        ".hidden co__swap\n"
        ".type co__swap, @function\n"
        "co__swap:\n"
        "    .cfi_startproc\n"
        "    endbr64\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    subq $8, %rsp\n"
        "    stmxcsr (%rsp)\n"
        "    fnstcw 4(%rsp)\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    ldmxcsr (%rsp)\n"
        "    fldcw 4(%rsp)\n"
        "    addq $8, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size co__swap, . - co__swap\n"
        ".p2align 4\n"
        ".type co_start, @function\n"
        "co_start:\n"
        "    .cfi_startproc\n"
        "    .cfi_undefined rip\n" /* the outermost frame: unwinders stop here */
        "    endbr64\n"
        "    movq %r12, %rdi\n"
        "    xorl %ebp, %ebp\n"
        "    call co__main\n"
        "    ud2\n"
        "    .cfi_endproc\n"
        ".size co_start, . - co_start\n");

extern const char co_start[] __attribute__((visibility("hidden")));

void *co__frame(void *top, struct co *co)
{
    /* Lowest word first: mxcsr and control word as after process start, r15 r14 r13 r12 rbx rbp, return address. */
    uint64_t *f = (uint64_t *)top - 8;
    f[0] = UINT64_C(0x037f00001f80);
    f[1] = f[2] = f[3] = 0;
    f[4] = (uint64_t)(uintptr_t)co;
    f[5] = f[6] = 0;
    f[7] = (uint64_t)(uintptr_t)co_start;
    return f;
}

const char *proc_machine(void)
{
    return "x86_64";
}
