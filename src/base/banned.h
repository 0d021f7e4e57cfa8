/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * banned - included by the compiler before every file of ours (see meson.build); names that must not be used, and
 * why: unbounded copies, hidden state, patterns that can exhaust memory. tools/check-symbols finds the calls that a
 * word list cannot (malloc outside base, glob, wordexp, system, fork outside worker).
 */

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifndef __cplusplus
/* Some are macros of the C library; a poisoned macro would warn. */
#undef alloca
#undef sprintf
#undef vsprintf
#pragma GCC poison strcpy strcat strncpy strncat sprintf vsprintf strtok atoi atol atof gets
#pragma GCC poison gmtime localtime asctime mktemp tmpnam alloca
#pragma GCC poison popen
#ifndef FRONTAL_ALLOW_REGCOMP /* a test that compares with the C library's matcher is compiled with it */
#pragma GCC poison regcomp regexec
#endif
#endif
