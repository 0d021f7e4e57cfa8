/* SPDX-License-Identifier: Apache-2.0 */

/* Answers. */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/log.h"
#include "base/mem.h"
#include "server/idempotency.h"
#include "server/server_int.h"
#include "types/id.h"

#define ANSWER_MAX (256u << 20)

struct answer *answer_begin(struct request *r)
{
    struct answer *a = arena_alloc(&r->arena, sizeof(*a));
    buf_init(&a->buf, ANSWER_MAX);
    a->w = (struct json_writer){.out = &a->buf};
    json_begin(&a->w, NULL, '{');
    return a;
}

void request_reply(struct request *r, struct MHD_Response *response, unsigned status)
{
    if (r->response || !response) {
        if (response)
            MHD_destroy_response(response);
        return;
    }
    r->response = response;
    r->status = status;
    if (!r->suspended)
        return;
    r->suspended = false;
    r->sv->resumed = true;
    MHD_resume_connection(r->c);
}

void request_go_on(struct request *r)
{
    if (!r->suspended)
        return;
    r->suspended = false;
    r->sv->resumed = true;
    MHD_resume_connection(r->c);
}

static void free_bytes(void *p)
{
    mem_free(p);
}

void answer_send(struct request *r, struct answer *a, unsigned status)
{
    json_end(&a->w, '}');
    buf_putc(&a->buf, '\n');
    if (a->buf.err) {
        buf_done(&a->buf);
        request_fail(r, API_TOO_LARGE, NULL, "the answer would be over %u bytes: ask for less", ANSWER_MAX);
        return;
    }
    idempotency_answered(r, status, buf_str(&a->buf));
    size_t n = a->buf.n;
    char *p = buf_take(&a->buf);
    struct MHD_Response *resp = MHD_create_response_from_buffer_with_free_callback(n, p, free_bytes);
    if (resp)
        (void)MHD_add_response_header(resp, MHD_HTTP_HEADER_CONTENT_TYPE, "application/json");
    request_reply(r, resp, status);
}

void request_reply_bytes(struct request *r, unsigned status, const char *type, struct str bytes)
{
    idempotency_answered(r, status, bytes);
    struct MHD_Response *resp =
        MHD_create_response_from_buffer(bytes.n, (void *)(uintptr_t)(bytes.n ? bytes.p : ""), MHD_RESPMEM_MUST_COPY);
    if (resp && type)
        (void)MHD_add_response_header(resp, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    request_reply(r, resp, status);
}

/* Where the server keeps its state is nobody's business but its owner's, who has the log. */
static void put_message(struct request *r, struct json_writer *w, const char *text)
{
    struct sched_tenant *t;
    BUF_AUTO struct buf b;
    buf_init(&b, 64u << 10);
    const char *path = sched_tenant(r->sv->sched, "local", &t, NULL) ? NULL : sched_tenant_path(t), *at;
    while (path && (at = strstr(text, path)) != NULL) {
        buf_add(&b, text, (size_t)(at - text));
        buf_addc(&b, "(state)");
        text = at + strlen(path);
    }
    buf_addc(&b, text);
    json_text(w, "message", buf_str(&b));
}

static void fail(struct request *r, unsigned status, enum api_code code, const char *field, const char *text)
{
    struct id id;
    BUF_AUTO struct buf b;
    buf_init(&b, 64u << 10);
    struct json_writer w = {.out = &b};
    json_begin(&w, NULL, '{');
    json_begin(&w, "error", '{');
    json_text(&w, "code", str_c(api_code_name(code)));
    put_message(r, &w, text);
    json_begin(&w, "details", '{');
    if (field)
        json_text(&w, "field", str_c(field));
    if (status >= 500) {
        char quoted[300];
        id = id_new(ID_EXEC); /* time and entropy: a name for the line in the log */
        json_text(&w, "log_id", str_c(id.text + 5));
        log_event(LOG_ERROR, "failed", "id=%s status=%u text=%s", id.text + 5, status,
                  log_quote(quoted, sizeof(quoted), str_c(text)));
    }
    json_end(&w, '}');
    json_end(&w, '}');
    json_end(&w, '}');
    buf_putc(&b, '\n');
    struct MHD_Response *resp = MHD_create_response_from_buffer(b.n, b.p, MHD_RESPMEM_MUST_COPY);
    if (resp) {
        (void)MHD_add_response_header(resp, MHD_HTTP_HEADER_CONTENT_TYPE, "application/json");
        if (status == MHD_HTTP_TOO_MANY_REQUESTS || status == MHD_HTTP_SERVICE_UNAVAILABLE)
            (void)MHD_add_response_header(resp, MHD_HTTP_HEADER_RETRY_AFTER, "1");
        if (status == MHD_HTTP_UNAUTHORIZED)
            (void)MHD_add_response_header(resp, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
    }
    request_reply(r, resp, status);
}

void request_fail(struct request *r, enum api_code code, const char *field, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    fail(r, (unsigned)api_code_http(code), code, field, text);
}

void request_fail_as(struct request *r, unsigned status, enum api_code code, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    fail(r, status, code, NULL, text);
}

void request_fail_errno(struct request *r, int error, const char *text)
{
    enum api_code code = errtab_api(error);
    if (error == -EAGAIN)
        code = API_LIMIT_EXCEEDED; /* too much waits: the client may come again */
    else if (error == -EBADMSG || error == -EMFILE || error == -ENOMEM)
        code = API_INTERNAL; /* a log that is damaged, or what the server lacks: no fault of the client */
    fail(r, (unsigned)api_code_http(code), code, NULL, text && *text ? text : errtab_text(error));
}
