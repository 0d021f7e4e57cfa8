/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* server_int - what the files of the server share. */

#include <microhttpd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "scheduler/scheduler.h"
#include "server/server.h"
#include "types/errtab.h"
#include "types/id.h"
#include "wire/api.h"
#include "wire/json_write.h"

#define PARAMS 3
#define ROUTE_OPEN (-1)

/* What the loop polls beside libmicrohttpd and the scheduler. */
struct server_source {
    void (*ready)(void *arg, uint32_t events);
    void *arg;
};

struct server {
    const struct server_config *cfg;
    struct sched *sched;
    struct MHD_Daemon *daemon;
    int listen_fd, signals;
    int connections; /* the epoll set of libmicrohttpd, its own */
    int epoll;       /* ours: what server_poll() was told, signals among it */
    struct server_source signal_source;
    bool is_unix, has_keys;
    bool made_path; /* of a Unix socket: it is removed at the end */
    bool resumed;        /* a connection was resumed: libmicrohttpd has something to do */
    bool draining, quit; /* told to end; told twice */
    int64_t drain_until;
    char address[160];
    int64_t watchdog, tell_next; /* how often, and when next, the service manager wants to hear; 0: never */
    struct request *requests; /* that are not answered */
    uint32_t n_requests;
    bool abandoned; /* nothing is waited for any more: streams end */
    uint64_t answered[6]; /* by class of status */
    struct keys *keys;    /* idempotency.c */
    struct auth *auth;    /* auth.c */
    struct tokens *tokens; /* token.c */
};

struct request;
struct attached;
struct auth;
struct keys;
struct tokens;
struct idempotency;

/* A route: its path has {} for a parameter and may end in {*} for all that is left. */
struct route {
    const char *method, *path;
    void (*handle)(struct request *r); /* answers now or later */
    int cap;           /* enum apikey_cap, or ROUTE_OPEN: whoever asks */
    const char *query;                 /* names of parameters it takes, between blanks */
    size_t body_max;                   /* 0: no body */
    /* Takes the body in pieces, when it is not gathered: bytes taken; fewer hold the connection up until
     * request_go_on(). */
    size_t (*piece)(struct request *r, struct str s);
};

struct request {
    struct request *next, **at;
    struct server *sv;
    struct MHD_Connection *c;
    const struct route *route;
    const char *method;
    struct str target;        /* path as it came, for the log */
    struct str params[PARAMS]; /* decoded */
    struct arena arena;
    struct buf body;
    bool dispatched, too_large;
    bool suspended;   /* the connection, until request_reply() or request_go_on() */
    bool streaming;   /* its answer has begun, and comes in pieces */
    bool http11;
    struct attached *attached; /* its connection is a WebSocket now (h_attach.c) */
    struct MHD_Response *response;
    unsigned status;
    int64_t began;
    struct sched_tenant *tenant;
    uint32_t caps;                 /* of the key */
    const char *key_id;            /* NULL: the server has no keys */
    const char *only;              /* id of the one session that a token reaches; NULL: it is a key */
    struct sched_session *session; /* of {}: a reference */
    struct sched_exec *exec;       /* a reference */
    struct sched_watch *watch;
    struct sched_timer *timer;
    struct idempotency *key; /* of a request that is not answered yet */
    void *state;             /* of the handler; freed by: */
    void (*state_free)(void *state);
};

/* ---- the loop (http.c) ---- */

/* Polls @fd for @events of epoll(7); @src stays where it is until server_poll_end(). 0 or a negative errno. */
int server_poll(struct server *sv, int fd, struct server_source *src, uint32_t events);
/* Other events. */
void server_poll_change(struct server *sv, int fd, struct server_source *src, uint32_t events);
/* No more. */
void server_poll_end(struct server *sv, int fd);

/* ---- answers (reply.c) ---- */

/* A writer for the JSON answer; @max bytes at most. */
struct answer {
    struct buf buf;
    struct json_writer w;
};
/* Begins it. */
struct answer *answer_begin(struct request *r);
/* Sends it, with a newline. */
void answer_send(struct request *r, struct answer *a, unsigned status);
/* Sends @response (taken) with @status. */
void request_reply(struct request *r, struct MHD_Response *response, unsigned status);
/* Sends bytes (copied). */
void request_reply_bytes(struct request *r, unsigned status, const char *type, struct str bytes);
/* Sends an error of the API; @field may be NULL. */
void request_fail(struct request *r, enum api_code code, const char *field, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* The same with a status of HTTP that the table does not have for the code (412, 405). */
void request_fail_as(struct request *r, unsigned status, enum api_code code, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* The error a negative errno stands for. */
void request_fail_errno(struct request *r, int error, const char *text);
/* A connection that a handler holds up by taking less of a body goes on. */
void request_go_on(struct request *r);

/* ---- who asks (auth.c) ---- */

/* Reads the file of keys, if it may have changed: 0 or an error. */
int auth_look(struct server *sv);
/* Frees. */
void auth_free(struct server *sv);
/* Sets r->tenant and r->caps; false after an answer. */
bool auth_check(struct request *r);
/* Whether the key has the capability, and a token reaches the route; false after an answer. */
bool auth_allows(struct request *r, int cap);

/* ---- what came (request.c) ---- */

/* The route of the request into @r, or an answer that says why there is none. */
bool request_route(struct request *r, const char *url);
/* A parameter of the query: decoded; .p is NULL when it was not given. */
struct str request_query(struct request *r, const char *name);
/* A number of the query, @def when it is not given; false after an answer. */
bool request_query_number(struct request *r, const char *name, uint64_t def, uint64_t max, uint64_t *ret);
/* Permission bits as an octal number of at most 4 digits; none is 0. */
bool request_octal(struct str s, uint32_t *ret);
/* A header, or NULL. */
const char *request_header(struct request *r, const char *name);
/* Finds r->session by the first parameter; false after an answer. */
bool request_session(struct request *r);
/* Whether names and values can be an environment; false after an answer. */
bool request_env(struct request *r, const struct wire_list *env);
/* The body by a table of fields; false after an answer. */
bool request_decode(struct request *r, const struct api_field *fields, size_t n, void *ret);

/* ---- files (h_files.c) ---- */

/* The path within the session: "/" and what the route has as its last parameter. */
struct str h_fs_path(struct request *r);
/* Sends one request to the session's worker. */
void h_fs_send(struct request *r, const struct wire_fs *q, sched_replied *fn, void *arg);
/* The error that a reply about @path means. */
void h_fs_fail(struct request *r, struct str path, int error, const char *text);

/* ---- handlers ---- */

extern const struct route server_routes[];
extern const size_t server_n_routes;

void h_root(struct request *r);
void h_openapi(struct request *r);
void h_health(struct request *r);
void h_sessions_create(struct request *r);
void h_sessions_list(struct request *r);
void h_sessions_show(struct request *r);
void h_sessions_patch(struct request *r);
void h_sessions_delete(struct request *r);
void h_sessions_sleep(struct request *r);
void h_sessions_wake(struct request *r);
void h_explain(struct request *r);
void h_tokens_create(struct request *r);
void h_tokens_list(struct request *r);
void h_tokens_delete(struct request *r);
void h_exec(struct request *r);
void h_execs_list(struct request *r);
void h_execs_show(struct request *r);
void h_execs_output(struct request *r);
void h_attach(struct request *r);
/* The server ends: a WebSocket is closed, and its connection given back. */
void h_attach_abandon(struct request *r);
void h_execs_signal(struct request *r);
void h_execs_stdin(struct request *r);
void h_snapshots_create(struct request *r);
void h_snapshots_list(struct request *r);
void h_snapshots_show(struct request *r);
void h_snapshots_delete(struct request *r);
void h_templates_put(struct request *r);
void h_templates_show(struct request *r);
void h_templates_delete(struct request *r);
void h_templates_list(struct request *r);
void h_restore(struct request *r);
void h_fork(struct request *r);
void h_merge(struct request *r);
void h_diff(struct request *r);
void h_trace(struct request *r);
void h_watch(struct request *r);
void h_replays(struct request *r);
void h_metrics(struct request *r);
void h_usage(struct request *r);
void h_fs_get(struct request *r);
void h_fs_head(struct request *r);
void h_fs_put(struct request *r);
size_t h_fs_put_piece(struct request *r, struct str s);
void h_fs_delete(struct request *r);
void h_fs_batch(struct request *r);
void h_archive_get(struct request *r);
void h_archive_post(struct request *r);
