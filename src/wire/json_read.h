/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * json_read - a JSON text read as a tree, for who takes answers of an API: a member that is not known is passed over,
 * unlike in api.h, because the one who answers may be newer.
 *
 *   struct json_tree *t;
 *   if (json_tree_new(text, &t) == 0)
 *       name = json_tree_text(t, "error.code");
 *
 * A path names members between dots; "" is the value itself. What is not there, or is of another kind, gives the
 * default of the function. Everything borrowed lives until json_tree_free() of the tree that it came from.
 *
 * Threads: none shared.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct arena;
struct buf;
struct json_tree; /* a tree, or a value in one */

/* Reads one value. -EINVAL: it is no JSON (RFC 8259), or nests deeper than Jansson goes (2048). */
int json_tree_new(struct str text, struct json_tree **ret) __attribute__((warn_unused_result));
/* Frees what json_tree_new() gave. */
void json_tree_free(struct json_tree *t);

/* The value at a path, borrowed, or NULL. */
const struct json_tree *json_tree_at(const struct json_tree *t, const char *path);
/* The text there, or .p NULL. */
struct str json_tree_text(const struct json_tree *t, const char *path);
/* The bytes there, taken out of base64 (into @a) when "KEY_encoding" beside it says so; .p NULL: none, or no base64. */
struct str json_tree_bytes(const struct json_tree *t, const char *path, struct arena *a);
/* The whole number there, or @def. */
uint64_t json_tree_number(const struct json_tree *t, const char *path, uint64_t def);
/* Whether it is true. */
bool json_tree_flag(const struct json_tree *t, const char *path);
/* Whether it is there and not null. */
bool json_tree_has(const struct json_tree *t, const char *path);
/* Elements of a list; 0 of anything else. */
size_t json_tree_count(const struct json_tree *t, const char *path);
/* Element @i of the list, or NULL. */
const struct json_tree *json_tree_element(const struct json_tree *t, const char *path, size_t i);
/* Appends the value on one line, with its newline, members in their order. 0 or -ENOMEM. */
int json_tree_line(const struct json_tree *t, struct buf *out);
