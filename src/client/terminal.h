/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * terminal - the one at standard input, whose keys go somewhere else: raw mode, its size, and the keys that are ours,
 * ^P ^Q.
 *
 * Threads: one.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <termios.h>

struct terminal {
    bool raw;
    bool held; /* ^P was read, and is not passed on before it is known what follows */
    struct termios before;
};

/* Sets raw mode (termios(3), cfmakeraw()), anew when it was set before; nothing when standard input is no terminal. */
void terminal_set_raw(struct terminal *t);
/* Sets what was before; nothing when that is so. */
void terminal_restore(struct terminal *t);
/* Columns and rows; 80 by 24 when nobody knows. */
void terminal_size(uint16_t *ret_cols, uint16_t *ret_rows);
/* Takes @n keys that were read, and leaves in @p (which has room for one more) those to pass on: their number. What is
 * behind ^P ^Q is dropped, and *ret_leave set. */
size_t terminal_keys(struct terminal *t, char *p, size_t n, bool *ret_leave);
