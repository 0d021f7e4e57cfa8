/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* trace_test - events with random values and logs in memory files, for the tests of trace. */

#include "base/arena.h"
#include "base/err.h"
#include "trace/schema.h"
#include "trace/trace.h"

/* An event of the type with values that its fields can have; strings of at most @most bytes lie in @a. */
struct trace_event random_event(uint64_t *seed, struct arena *a, unsigned type, uint32_t most);
/* Whether all fields are equal. */
bool same_event(const struct trace_event *a, const struct trace_event *b);

/* A new descriptor of an empty file in memory that holds @bytes. */
int file_of(struct str bytes);
/* All bytes of the file, into @out. */
void bytes_of(int fd, struct buf *out);
/* Opens for append and checks that it worked; *ret_cut may be NULL. Keeps @fd. */
struct trace *open_again(int fd, uint64_t *ret_cut);
/* A log of @n random events, flushed; *ret_fd stays open for a look at its bytes. */
struct trace *log_of(uint64_t seed, unsigned n, uint32_t most, int *ret_fd);
