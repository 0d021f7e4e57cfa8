/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* mode - chmod(1)'s mode language beyond cmd_mode_parse(): which bits a mode speaks of. */

#include <stdbool.h>
#include <stdint.h>

/* As cmd_mode_parse(); *ret_bits (may be NULL) are the bits that @text sets or clears whatever they were. */
int mode_apply(const char *text, uint32_t old, bool is_dir, uint32_t umask, uint32_t *ret, uint32_t *ret_bits);
