/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* One byte in wasi-libc, "just a placeholder": nothing in its library looks into it. */
typedef struct {
    unsigned long __bits[2];
} sigset_t;
#define __wasilibc___typedef_sigset_t_h
