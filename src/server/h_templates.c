/* SPDX-License-Identifier: Apache-2.0 */

/* Templates: names for snapshots, from which sessions begin. */

#include "server/server_int.h"

static void put_template(struct json_writer *w, const char *name, const char *snapshot)
{
    json_text(w, "name", str_c(name));
    json_text(w, "snapshot", str_c(snapshot));
}

static void reply_template(struct request *r)
{
    char id[ID_MAX];
    struct err err = {0};
    int e = sched_template_get(r->tenant, r->params[0], id, &err);
    if (e) {
        request_fail_errno(r, e, err.text);
        return;
    }
    struct answer *a = answer_begin(r);
    put_template(&a->w, r->params[0].p, id);
    answer_send(r, a, MHD_HTTP_OK);
}

void h_templates_put(struct request *r)
{
    struct body {
        struct str snapshot;
    } q = {{NULL, 0}};
    static const struct api_field f[] = {{"snapshot", API_TEXT, offsetof(struct body, snapshot)}};
    struct err err = {0};
    if (!request_decode(r, f, 1, &q))
        return;
    if (!q.snapshot.n) {
        request_fail(r, API_INVALID_ARGUMENT, "snapshot", "field 'snapshot' names the snapshot that it is to be");
        return;
    }
    int e = sched_template_put(r->tenant, r->params[0], q.snapshot, &err);
    if (e)
        request_fail_errno(r, e, err.text);
    else
        reply_template(r);
}

void h_templates_show(struct request *r)
{
    reply_template(r);
}

void h_templates_delete(struct request *r)
{
    struct err err = {0};
    int e = sched_template_delete(r->tenant, r->params[0], &err);
    if (e)
        request_fail_errno(r, e, err.text);
    else
        request_reply_bytes(r, MHD_HTTP_NO_CONTENT, NULL, STR(""));
}

static int list_one(void *arg, const char *name, const char *snapshot)
{
    struct json_writer *w = arg;
    json_begin(w, NULL, '{');
    put_template(w, name, snapshot);
    json_end(w, '}');
    return 0;
}

void h_templates_list(struct request *r)
{
    struct answer *a = answer_begin(r);
    json_begin(&a->w, "templates", '[');
    int e = sched_template_each(r->tenant, list_one, &a->w);
    json_end(&a->w, ']');
    if (e == 0) {
        answer_send(r, a, MHD_HTTP_OK);
        return;
    }
    buf_done(&a->buf);
    request_fail_errno(r, e, "");
}
