/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* duration - seconds with a fraction, as read -t takes them. */

#include "base/str.h"

/* "1", "0.25", ".5" into nanoseconds; a number too large becomes the largest. False when @s is none. */
bool duration_parse(struct str s, int64_t *ret);
