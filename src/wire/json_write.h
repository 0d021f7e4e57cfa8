/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * json_write - JSON (RFC 8259) written straight into a buffer: for answers that are made many thousand times a second.
 *
 *   struct json_writer w = {.out = &buf};
 *   json_begin(&w, NULL, '{');  json_text(&w, "name", s);  json_number(&w, "seq", 3);  json_end(&w, '}');
 *
 * Bytes that are not UTF-8 (RFC 3629) are given in base64 with "KEY_encoding":"base64" beside them, never replaced. The
 * key is NULL in a list. Failure is the buffer's sticky error.
 *
 * Threads: one a writer.
 */

#include "base/buf.h"

struct json_writer {
    struct buf *out;
    bool more; /* something stands before: a comma is due */
};

/* Opens an object ('{') or a list ('['). */
void json_begin(struct json_writer *w, const char *key, char kind);
/* Closes it ('}' or ']'). */
void json_end(struct json_writer *w, char kind);
/* A string, or base64 with its note (in a list: an object {"base64":…}). */
void json_text(struct json_writer *w, const char *key, struct str s);
/* A string, or null when it is empty. */
void json_text_or_null(struct json_writer *w, const char *key, struct str s);
/* A number. One beyond 2^53 is given as it is: RFC 8259 has no bound. */
void json_number(struct json_writer *w, const char *key, uint64_t v);
/* true or false. */
void json_bool(struct json_writer *w, const char *key, bool v);
/* null. */
void json_none(struct json_writer *w, const char *key);
/* Nanoseconds since 1970 as "2026-01-02T03:04:05.678Z". */
void json_time(struct json_writer *w, const char *key, int64_t ns);
/* "sha256:" and 32 bytes in hex. */
void json_sha256(struct json_writer *w, const char *key, const uint8_t *p);
/* @s is a JSON value already. */
void json_raw(struct json_writer *w, const char *key, struct str s);

/* Whether the bytes are UTF-8. */
bool json_is_utf8(struct str s);
/* Appends base64 (RFC 4648, padded). */
void json_put_base64(struct buf *out, struct str s);
