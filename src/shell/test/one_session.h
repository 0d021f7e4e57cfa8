/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* one_session - runs a script in a session of its own: what the tests and fuzz targets of the shell stand on. */

#include "base/buf.h"
#include "types/outcome.h"

/* Runs `bash -c @script bash` as root in a fresh session, locale C.UTF-8, cwd and HOME /home/user; what it prints
 * (output and error) is appended to @out. @cpu_ms bounds it. LOST when it waits for ever. */
struct outcome one_session_run(struct str script, uint64_t cpu_ms, struct buf *out);
