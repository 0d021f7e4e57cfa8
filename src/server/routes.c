/* SPDX-License-Identifier: Apache-2.0 */

/* The one table of routes, and those that are about the server itself. */

#include "confine/confine.h"
#include "apikey/apikey.h"
#include "server/server_int.h"

const struct route server_routes[] = {
    {"GET", "/", h_root, ROUTE_OPEN, "", 0, NULL},
    {"GET", "/openapi.json", h_openapi, ROUTE_OPEN, "", 0, NULL},
    {"GET", "/v1/health", h_health, ROUTE_OPEN, "", 0, NULL},
    {"POST", "/v1/sessions", h_sessions_create, APIKEY_SESSIONS_WRITE, "", LIMIT_REQUEST, NULL},
    {"GET", "/v1/sessions", h_sessions_list, APIKEY_SESSIONS_READ, "after limit state", 0, NULL},
    {"GET", "/v1/sessions/{}", h_sessions_show, APIKEY_SESSIONS_READ, "", 0, NULL},
    {"PATCH", "/v1/sessions/{}", h_sessions_patch, APIKEY_SESSIONS_WRITE, "", LIMIT_SETTINGS, NULL},
    {"DELETE", "/v1/sessions/{}", h_sessions_delete, APIKEY_SESSIONS_WRITE, "", 0, NULL},
    {"POST", "/v1/sessions/{}/sleep", h_sessions_sleep, APIKEY_SESSIONS_WRITE, "", 64, NULL},
    {"POST", "/v1/sessions/{}/wake", h_sessions_wake, APIKEY_SESSIONS_WRITE, "", 64, NULL},
    {"POST", "/v1/sessions/{}/explain", h_explain, APIKEY_SESSIONS_READ, "", 16384, NULL},
    {"POST", "/v1/sessions/{}/tokens", h_tokens_create, APIKEY_SESSIONS_WRITE, "", 4096, NULL},
    {"GET", "/v1/sessions/{}/tokens", h_tokens_list, APIKEY_SESSIONS_WRITE, "", 0, NULL},
    {"DELETE", "/v1/sessions/{}/tokens/{}", h_tokens_delete, APIKEY_SESSIONS_WRITE, "", 0, NULL},
    {"POST", "/v1/sessions/{}/exec", h_exec, APIKEY_EXEC, "", LIMIT_REQUEST, NULL},
    {"GET", "/v1/sessions/{}/execs", h_execs_list, APIKEY_SESSIONS_READ, "after limit", 0, NULL},
    {"GET", "/v1/sessions/{}/execs/{}", h_execs_show, APIKEY_SESSIONS_READ, "wait_ms output_limit", 0, NULL},
    {"GET", "/v1/sessions/{}/execs/{}/output", h_execs_output, APIKEY_SESSIONS_READ, "stream offset limit wait_ms", 0,
     NULL},
    {"GET", "/v1/sessions/{}/execs/{}/attach", h_attach, APIKEY_SESSIONS_READ, "framing stdout_offset stderr_offset", 0,
     NULL},
    {"POST", "/v1/sessions/{}/execs/{}/signal", h_execs_signal, APIKEY_EXEC, "", 4096, NULL},
    {"POST", "/v1/sessions/{}/execs/{}/stdin", h_execs_stdin, APIKEY_EXEC, "", LIMIT_REQUEST, NULL},
    {"POST", "/v1/sessions/{}/snapshots", h_snapshots_create, APIKEY_STATE, "", 4096, NULL},
    {"POST", "/v1/sessions/{}/restore", h_restore, APIKEY_STATE, "", 4096, NULL},
    {"POST", "/v1/sessions/{}/fork", h_fork, APIKEY_STATE, "", 4096, NULL},
    {"POST", "/v1/sessions/{}/merge", h_merge, APIKEY_STATE, "", 4096, NULL},
    {"GET", "/v1/sessions/{}/diff", h_diff, APIKEY_TRACE, "from to path text", 0, NULL},
    {"GET", "/v1/sessions/{}/trace", h_trace, APIKEY_TRACE, "from_seq limit", 0, NULL},
    {"GET", "/v1/snapshots", h_snapshots_list, APIKEY_STATE, "session", 0, NULL},
    {"GET", "/v1/snapshots/{}", h_snapshots_show, APIKEY_STATE, "", 0, NULL},
    {"DELETE", "/v1/snapshots/{}", h_snapshots_delete, APIKEY_STATE, "", 0, NULL},
    {"GET", "/v1/templates", h_templates_list, APIKEY_STATE, "", 0, NULL},
    {"PUT", "/v1/templates/{}", h_templates_put, APIKEY_STATE, "", 4096, NULL},
    {"GET", "/v1/templates/{}", h_templates_show, APIKEY_STATE, "", 0, NULL},
    {"DELETE", "/v1/templates/{}", h_templates_delete, APIKEY_STATE, "", 0, NULL},
    {"POST", "/v1/replays", h_replays, APIKEY_TRACE, "", 4096, NULL},
    {"GET", "/metrics", h_metrics, APIKEY_METRICS, "", 0, NULL},
    {"GET", "/v1/usage", h_usage, APIKEY_SESSIONS_READ, "after limit", 0, NULL},
    {"POST", "/v1/sessions/{}/fs", h_fs_batch, APIKEY_FS_WRITE, "", LIMIT_REQUEST, NULL},
    {"GET", "/v1/sessions/{}/fs/{*}", h_fs_get, APIKEY_FS_READ, "list stat depth glob", 0, NULL},
    {"HEAD", "/v1/sessions/{}/fs/{*}", h_fs_head, APIKEY_FS_READ, "", 0, NULL},
    {"PUT", "/v1/sessions/{}/fs/{*}", h_fs_put, APIKEY_FS_WRITE, "mode append", 0, h_fs_put_piece},
    {"DELETE", "/v1/sessions/{}/fs/{*}", h_fs_delete, APIKEY_FS_WRITE, "recursive", 0, NULL},
    {"GET", "/v1/sessions/{}/watch", h_watch, APIKEY_FS_READ, "path from_seq limit", 0, NULL},
    {"GET", "/v1/sessions/{}/archive/{*}", h_archive_get, APIKEY_FS_READ, "format", 0, NULL},
    {"POST", "/v1/sessions/{}/archive/{*}", h_archive_post, APIKEY_FS_WRITE, "", LIMIT_ARCHIVE, NULL},
};
const size_t server_n_routes = sizeof(server_routes) / sizeof(server_routes[0]);

void h_root(struct request *r)
{
    static const char page[] =
        "<!doctype html><html lang=en><meta charset=utf-8><title>Frontal Sandbox</title>"
        "<style>body{font:16px/1.5 system-ui,sans-serif;max-width:42em;margin:3em auto;padding:0 1em}"
        "pre{background:#f4f4f4;padding:.8em;overflow:auto}</style>"
        "<h1>Frontal Sandbox " FRONTAL_VERSION "</h1>"
        "<p>A Linux-like machine for an agent, behind an HTTP API:</p>"
        "<pre>curl -X POST localhost:7070/v1/sessions -d '{\"name\":\"demo\"}'\n"
        "curl -X POST localhost:7070/v1/sessions/demo/exec -d '{\"command\":\"echo hello; pwd\"}'</pre>"
        "<p><a href=/v1/health>/v1/health</a> says what is confined and what is not. "
        "<a href=/openapi.json>/openapi.json</a> describes every route (OpenAPI 3.1), "
        "<code>docs/api.md</code> of the distribution explains them.</p></html>\n";
    request_reply_bytes(r, MHD_HTTP_OK, "text/html; charset=utf-8", STR(page));
}

static void put_parts(struct json_writer *w, const char *key, uint64_t bits)
{
    json_begin(w, key, '[');
    for (int p = 0; p < CONFINE_PARTS; p++) {
        if (bits >> p & 1)
            json_text(w, NULL, str_c(confine_part_name((enum confine_part)p)));
    }
    json_end(w, ']');
}

void h_health(struct request *r)
{
    uint64_t applied, missing;
    struct str notes;
    struct sched_counts n;
    struct answer *a = answer_begin(r);
    bool known = sched_confinement(r->sv->sched, &applied, &missing, &notes);
    sched_counts(r->sv->sched, &n);
    json_text(&a->w, "status", r->sv->draining ? STR("draining") : STR("ok"));
    json_text(&a->w, "version", STR(FRONTAL_VERSION));
    json_begin(&a->w, "confinement", '{');
    if (known) {
        put_parts(&a->w, "applied", applied);
        put_parts(&a->w, "missing", missing);
        json_text(&a->w, "notes", notes);
    }
    json_end(&a->w, '}');
    json_begin(&a->w, "tiers", '[');
    json_text(&a->w, NULL, STR("isolate"));
    json_end(&a->w, ']');
    json_number(&a->w, "workers", n.workers);
    json_number(&a->w, "open_sessions", n.open_sessions);
    json_number(&a->w, "execs_running", n.execs_running);
    json_number(&a->w, "execs_waiting", n.execs_waiting);
    answer_send(r, a, MHD_HTTP_OK);
}
