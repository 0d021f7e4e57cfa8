/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * json_trace - the JSON form of the events of a log; docs/internals/trace.md has the fields of each.
 *
 * Bytes that are not UTF-8 are given in base64, never replaced: "…_encoding":"base64" beside the field, and
 * {"base64":…} in a list.
 */

struct buf;
struct trace_event;

/* Appends one object on one line (no newline). 0 or -ENOMEM. */
int json_trace_event(struct buf *out, const struct trace_event *e);
