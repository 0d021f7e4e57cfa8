/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* script - a script file of the host, as `run` takes it. */

#include <stdbool.h>

struct buf;

/* Reads it, and looks whether the shell can run it. *ret_posix: it asks for sh. 0; -ENOENT and its like, or -ENOEXEC,
 * after a message. */
int cli_script_read(const char *path, struct buf *out, bool *ret_posix);
