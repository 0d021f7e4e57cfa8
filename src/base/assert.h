/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * ASSERT stays in release builds and ends the process with file, line and text. It is for what only a fault of this
 * program can break; a guest must never be able to trip one.
 */

/* Prints and aborts. */
void assert_fail(const char *file, int line, const char *what) __attribute__((noreturn, cold));

#define ASSERT(x) ((x) ? (void)0 : assert_fail(__FILE__, __LINE__, #x))
#define UNREACHABLE() assert_fail(__FILE__, __LINE__, "unreachable")
