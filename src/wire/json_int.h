/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* json_int - the forms that every JSON object of the product shares. */

#include <jansson.h>

#include "base/buf.h"
#include "types/outcome.h"

/* Bytes as text under @key when they are UTF-8, else in base64 with @enc_key beside. 0 or -1. */
int json_put_bytes(json_t *o, const char *key, const char *enc_key, struct str s);
/* The bytes as text, or {"base64":…}: for lists. */
json_t *json_of_bytes(struct str s);
/* A number. One beyond 63 bits is given as text, never with another value. */
json_t *json_of_number(uint64_t v);
/* "sha256:" and the 32 bytes in hex. */
json_t *json_of_hash(const uint8_t *p);
/* Nanoseconds since 1970 as "2026-01-02T03:04:05.000000006Z". */
json_t *json_of_time(int64_t ns);
/* status, exit_code, signal and reason; of what never began when !@began. 0 or -1. */
int json_put_outcome(json_t *o, bool began, struct outcome outcome);
/* Appends @o (taken) on one line. 0 or -ENOMEM. */
int json_put_line(struct buf *out, json_t *o);
