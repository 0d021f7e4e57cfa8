/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * glob - which paths below a directory a client means: segments apart by '/', in each of which `*` is any bytes, `?`
 * one byte and `[…]` one of a set (`[!…]` none of it, with ranges; a backslash takes the next byte as it is), as in
 * glob(7); `**` as a segment is any number of segments. A leading dot is like any other byte. The time is at most the
 * product of the lengths.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* Whether all of @path, which is relative, is what @glob says. */
bool glob_matches(struct str glob, struct str path);
/* How many levels of directories have paths that can match; LIMIT_DEPTH when there is a `**`. */
uint64_t glob_depth(struct str glob);
