/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* client_int - what the verbs of frontal-sandbox-client share. */

#include "base/err.h"
#include "cli/view.h"
#include "client/client.h"
#include "wire/json_read.h"
#include "wire/json_write.h"

#define CLIENT_FAILED 125

/* ---- options (options.c) ---- */

struct client_verb {
    struct client *client;
    struct cli_view view;
    bool json;
    int argc; /* operands */
    char **argv;
};

/* What --server and --ca say; NULL: nothing. */
struct client_where {
    const char *url, *ca;
};
/* The client of --server or FRONTAL_SANDBOX_URL, with the key of FRONTAL_SANDBOX_KEY; NULL after a message. */
struct client *client_of(const struct client_where *w);
/* As cli_options_read() does for local verbs: --server, --ca, --json, --help and @opts. 0, or -EINVAL after a
 * message. */
int client_options_read(struct client_verb *v, const char *verb, int argc, char **argv, const struct cli_opt *opts,
                        int min, int max, const char *what);
/* Shows the help of the verb, which is the local program's. */
_Noreturn void client_help(const char *verb);
/* Says what a server has said, so that it cannot act on a terminal. */
void client_say(struct str text);
/* Says what went wrong; CLIENT_FAILED. */
int client_fail(const struct err *err);

/* ---- requests (options.c) ---- */

/* Appends bytes percent-encoded (RFC 3986, 2.1); slashes stay when @path. */
void client_put_encoded(struct buf *out, struct str s, bool path);
/* "/v1/sessions/WHO" and what @rest says, into @out; its text. */
const char *client_session_path(struct buf *out, const char *who, const char *rest);
/* Asks, and reads the answer as JSON: 0 with *ret (to be freed; NULL for an answer without a body), or an error. @body
 * NULL: none. POST and PATCH are sent once unless @key, which becomes their Idempotency-Key. */
int client_json(struct client *c, const char *method, const char *path, const struct buf *body, const char *key,
                struct json_tree **ret, struct err *err);
/* A new key for a request that may be repeated. */
void client_new_key(char *ret, size_t cap);
/* Prints each element of the list as a line of JSON: 0 or -1. */
int client_print_lines(const struct json_tree *t, const char *list);
/* RFC 3339 as nanoseconds since 1970; 0 when it is none. */
int64_t client_time(struct str s);
/* A time of an answer as cli_put_time() has it. */
void client_put_time(const struct cli_view *v, struct buf *out, struct str time);
/* "sha256:…" as cli_put_hash() has it. */
void client_put_hash(const struct cli_view *v, struct buf *out, struct str hash);

/* ---- execs (run.c) ---- */

/* Begins the exec that @body asks for, once: 0 with its id, or an error. */
int client_begin_exec(struct client *c, const char *session, const struct buf *body, char *id, size_t cap,
                      struct err *err);
enum client_notes { CLIENT_NO_NOTES, CLIENT_NOTES, CLIENT_NOTES_OF_RUN }; /* of run: they name its options */
/* Says what is to be said about how an exec, an object of the API, ended: the exit status. */
int client_explain(const struct json_tree *exec, enum client_notes notes);

/* ---- verbs ---- */

/* run. */
int client_run(int argc, char **argv);
/* attach. */
int client_attach(int argc, char **argv);
/* session list|show|rename|destroy. */
int client_session(int argc, char **argv);
/* execs. */
int client_execs(int argc, char **argv);
/* snapshot [list|delete]. */
int client_snapshot(int argc, char **argv);
/* restore. */
int client_restore(int argc, char **argv);
/* fork. */
int client_fork(int argc, char **argv);
/* diff. */
int client_diff(int argc, char **argv);
/* merge. */
int client_merge(int argc, char **argv);
/* trace. */
int client_trace(int argc, char **argv);
/* replay. */
int client_replay(int argc, char **argv);
