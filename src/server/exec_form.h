/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* exec_form - the JSON form of an exec. */

#include "scheduler/scheduler.h"
#include "wire/json_write.h"

/* The members of an exec into the open object of @w; at most @output_limit bytes of each stream (0: no output). */
void exec_form_put(struct json_writer *w, struct sched_session *s, const struct sched_exec_info *e,
                   uint64_t output_limit);
/* "running", "exited", "killed", "lost", "refused". */
const char *exec_form_status(const struct sched_exec_info *e);

/* The number of a signal that a client may send, by its name with or without SIG; 0: there is none of that name. */
int exec_form_signal(struct str name);

/* How many bytes of a piece of output to give at one time, so that no character is cut in two when it is text: its
 * size, or a little less when there is @more behind it. */
size_t exec_form_whole(struct str piece, bool more);
