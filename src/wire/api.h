/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * api - JSON bodies of API requests into structs, by tables of fields.
 *
 * A table says which members an object may have and where in a struct each goes. A member that is not in the table is
 * an error that names it, never ignored; so is one of another type. What is absent leaves the struct as it was, so a
 * caller sets defaults first.
 *
 * Threads: pure functions.
 */

#include "base/arena.h"
#include "base/str.h"
#include "wire/wire.h"

#include <stddef.h>

enum api_kind {
    API_TEXT,   /* struct str, not NULL when given */
    API_NUMBER, /* uint64_t, from 0 */
    API_FLAG,   /* bool */
    API_TEXTS,  /* struct wire_list: an array of strings; .v is not NULL when given */
    API_PAIRS,  /* struct wire_list of NAME=VALUE: an object of strings */
    API_VALUE,  /* struct str: any JSON value, compact */
};

struct api_field {
    const char *name;
    enum api_kind kind;
    size_t at; /* offsetof */
};

/* What is wrong with a body. */
struct api_problem {
    char field[64]; /* "" when it is none */
    char text[192];
};

/* The object in @body (empty: {}) into @ret; strings lie in @a. 0, or -EINVAL with *why. */
int api_decode(struct str body, const struct api_field *fields, size_t n, struct arena *a, void *ret,
               struct api_problem *why) __attribute__((warn_unused_result));

/* Bytes of base64 (RFC 4648; padded or not; line breaks are not allowed) into the arena: 0 or -EINVAL. */
int api_base64(struct str text, struct arena *a, struct str *ret) __attribute__((warn_unused_result));

/* Keys and values of a JSON object: an even number of texts, each value compact. 0 or -EINVAL. */
int api_members(struct str json, struct arena *a, struct wire_list *ret) __attribute__((warn_unused_result));

/* Each element of a JSON array, compact, as a list: 0 or -EINVAL. */
int api_elements(struct str json, struct arena *a, struct wire_list *ret) __attribute__((warn_unused_result));
