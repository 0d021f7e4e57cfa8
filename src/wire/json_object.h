/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * json_object - objects of a few members, for answers that no struct of wire stands behind.
 *
 *   const struct json_member m[] = {JSON_TEXT("name", str_c(name)), JSON_NUMBER("events", n)};
 *   json_object_line(&out, m, 2);
 *
 * Bytes that are not UTF-8 are given in base64 with "…_encoding":"base64" beside them, never replaced.
 */

#include "base/str.h"

struct buf;

enum json_as { JSON_AS_NULL, JSON_AS_TEXT, JSON_AS_NUMBER, JSON_AS_BOOL, JSON_AS_TIME, JSON_AS_HASH, JSON_AS_LIST };

struct json_member {
    const char *key;
    enum json_as as;
    struct str text; /* LIST: JSON values, one a line */
    uint64_t number; /* BOOL, TIME (ns since 1970) too */
    const uint8_t *hash;
};

#define JSON_TEXT(k, v)                                                                                                \
    {                                                                                                                  \
        (k), JSON_AS_TEXT, (v), 0, NULL                                                                                \
    }
#define JSON_NUMBER(k, v)                                                                                              \
    {                                                                                                                  \
        (k), JSON_AS_NUMBER, {NULL, 0}, (uint64_t)(v), NULL                                                            \
    }
#define JSON_BOOL(k, v)                                                                                                \
    {                                                                                                                  \
        (k), JSON_AS_BOOL, {NULL, 0}, (v), NULL                                                                        \
    }
#define JSON_TIME(k, v)                                                                                                \
    {                                                                                                                  \
        (k), JSON_AS_TIME, {NULL, 0}, (uint64_t)(v), NULL                                                              \
    }
#define JSON_HASH(k, v)                                                                                                \
    {                                                                                                                  \
        (k), JSON_AS_HASH, {NULL, 0}, 0, (v)                                                                           \
    }
#define JSON_LIST(k, v)                                                                                                \
    {                                                                                                                  \
        (k), JSON_AS_LIST, (v), 0, NULL                                                                                \
    }
/* Empty text: null. */
#define JSON_TEXT_OR_NULL(k, v)                                                                                        \
    {                                                                                                                  \
        (k), (v).n ? JSON_AS_TEXT : JSON_AS_NULL, (v), 0, NULL                                                         \
    }

/* Appends one object on one line, its newline too. 0 or -ENOMEM. */
int json_object_line(struct buf *out, const struct json_member *m, size_t n);
