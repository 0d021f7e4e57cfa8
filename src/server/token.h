/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * token - session tokens: minted from a key, for one session, with fewer rights and an end.
 *
 * Model. A token is sent as a key is. What is kept is a line of the file `tokens` beside `keys`: its session, the key
 * that it was minted from, when it ends, and a key's line (apikey/apikey.h), which has the hash of its secret:
 *
 *   SESSION KEY END-NS key_… SHA-256 TENANT CAPABILITY,… CREATED-NS NAME
 *
 * Invariants:
 *   1. A token grants what it says, and what the key that it was minted from still does: it ends with its key.
 *   2. It is answered when its line is on the disk; one that was revoked is not there any more when that is answered.
 *   3. It reaches one session: other routes, and requests that make, change or read another session, are 403.
 *
 * Threads: one. Only a server writes the file.
 */

#include "apikey/apikey.h"

struct err;
struct server;
struct tokens;

struct token {
    char session[ID_MAX], key[ID_MAX];
    int64_t end; /* wall clock, ns */
    struct apikey is;
};

/* Reads the file: 0 or an error. */
int token_open(struct server *sv) __attribute__((warn_unused_result));
/* Accepts none. */
void token_close(struct server *sv);
/* The token that @text is, if it has not ended; borrowed until the next call that changes them. */
const struct token *token_find(const struct server *sv, struct str text);
/* Makes one (session, key, end, tenant and caps of @t are set): 0 and the secret, which is @t->is.id and what belongs
 * behind its '.'. -E2BIG: LIMIT_TOKENS; -EINVAL: the name. */
int token_add(struct server *sv, struct token *t, struct str name, char secret[APIKEY_SECRET_MAX])
    __attribute__((warn_unused_result));
/* Ends it: 0, -ENOENT when the session has no such. */
int token_revoke(struct server *sv, struct str session, struct str id) __attribute__((warn_unused_result));
/* Calls @fn for each of the session that has not ended, oldest first. */
void token_each(const struct server *sv, struct str session, void (*fn)(void *arg, const struct token *t), void *arg);
