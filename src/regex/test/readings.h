/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * readings - whether a pattern with back-references can match just this part of a text, by trying every way to read it.
 *
 * It knows what test_random.c writes (single bytes; no words, no UTF-8) and where POSIX leaves a choice it takes all of
 * them: a repetition may go round once more for nothing, and a group keeps what an earlier round gave it. So "no" means
 * that no reading whatever gives the match.
 */

#include <stdbool.h>
#include <stddef.h>

/* 1, 0, or -1: it would take too long to say. @flags and @eflags are regex.h's. */
int readings_match(const char *pattern, unsigned flags, const char *text, unsigned eflags, size_t start, size_t end);
