/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* wasi-libc names the values but has no functions. */
typedef struct {
    unsigned char opaque[256];
} __attribute__((aligned(16))) jmp_buf[1];
typedef jmp_buf sigjmp_buf;

#ifdef COMPAT_NO_SETJMP
/*
 * For programs that only guard a call that cannot fail here: a module without exceptions needs no second memory from
 * the engine. longjmp() aborts.
 */
#include <stdlib.h>
#define setjmp(env) ((void)(env), 0)
#define longjmp(env, val) abort()
#else
#ifdef __cplusplus
extern "C" {
#endif
int setjmp(jmp_buf env) __attribute__((returns_twice));
_Noreturn void longjmp(jmp_buf env, int val);
#ifdef __cplusplus
}
#endif
#endif

/* No signal is ever delivered asynchronously, so there is no mask to keep. */
#define _setjmp(env) setjmp(env)
#define _longjmp(env, val) longjmp(env, val)
#define sigsetjmp(env, save) setjmp(env)
#define siglongjmp(env, val) longjmp(env, val)
