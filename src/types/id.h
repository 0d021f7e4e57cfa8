/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * id - typed identifiers: a prefix and 26 characters of Crockford base32, sortable by time (as ULID): 48 bits of
 * milliseconds, 80 bits of entropy.
 */

#include "base/str.h"

#define ID_MAX 40

enum id_kind { ID_SESSION, ID_EXEC, ID_SNAPSHOT, ID_KEY };

struct id {
    char text[ID_MAX]; /* "sbx_01J…", NUL-terminated */
};

/* A new id from the wall clock and the kernel's entropy. */
struct id id_new(enum id_kind kind);

/* Milliseconds since 1970 when it was made. */
uint64_t id_ms(const struct id *id);

/* Checks form and kind: 0 or -EINVAL. */
int id_parse(enum id_kind kind, struct str text, struct id *ret) __attribute__((warn_unused_result));
