/* SPDX-License-Identifier: Apache-2.0 */

/* What a tenant has used. */

#include "base/mem.h"
#include "server/server_int.h"

#define LIST_MOST 1000u

static void put_usage(struct json_writer *w, const struct sched_usage *u)
{
    json_number(w, "execs", u->execs);
    json_number(w, "execs_lost", u->execs_lost);
    json_number(w, "cpu_us", u->cpu_us);
    json_number(w, "memory_byte_seconds", u->memory_byte_seconds);
    json_number(w, "output_bytes", u->output_bytes);
}

struct listing {
    struct json_writer *w;
    char last[ID_MAX];
};

static void put_session(void *arg, const char *id, const struct sched_usage *u)
{
    struct listing *l = arg;
    json_begin(l->w, NULL, '{');
    json_text(l->w, "session_id", str_c(id));
    put_usage(l->w, u);
    json_number(l->w, "files_bytes", u->files_bytes);
    json_end(l->w, '}');
    snprintf(l->last, sizeof(l->last), "%s", id);
}

void h_usage(struct request *r)
{
    struct sched_usage all, gone;
    struct err err = {0};
    struct str after = request_query(r, "after");
    uint64_t most, stored;
    if (!request_query_number(r, "limit", 100, LIST_MOST, &most))
        return;
    int e = sched_stored(r->tenant, &stored, &err);
    if (e) {
        request_fail_errno(r, e, err.text);
        return;
    }
    struct answer *a = answer_begin(r);
    struct listing l = {.w = &a->w};
    sched_usage(r->tenant, &all, &gone);
    json_text(&a->w, "tenant", str_c(sched_tenant_name(r->tenant)));
    put_usage(&a->w, &all);
    json_number(&a->w, "stored_bytes", stored);
    json_begin(&a->w, "destroyed", '{');
    put_usage(&a->w, &gone);
    json_end(&a->w, '}');
    json_begin(&a->w, "sessions", '[');
    bool more = sched_usage_each(r->tenant, after.p ? after : STR(""), (uint32_t)most, put_session, &l);
    json_end(&a->w, ']');
    json_text_or_null(&a->w, "next", more ? str_c(l.last) : STR(""));
    answer_send(r, a, MHD_HTTP_OK);
}
