/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The table behind wide.h: runs of code points, (first << 2 | class), class 0 does not print, else 1 + columns. */

#include <stddef.h>
#include <stdint.h>

extern const uint32_t wide__runs[];
extern const size_t wide__n_runs;
