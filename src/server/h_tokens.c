/* SPDX-License-Identifier: Apache-2.0 */

/* Session tokens: mint, list, revoke. */

#include <errno.h>

#include "base/clock.h"
#include "server/server_int.h"
#include "server/token.h"

#define TTL_MS (3600 * 1000u) /* unless the client says so */

struct body {
    struct wire_list capabilities;
    uint64_t ttl_ms;
    struct str name;
};

static void put_token(struct json_writer *w, const struct token *t)
{
    json_text(w, "id", str_c(t->is.id.text));
    json_text(w, "session_id", str_c(t->session));
    json_text_or_null(w, "name", str_c(t->is.name));
    json_begin(w, "capabilities", '[');
    for (int c = 0; c < APIKEY_CAPS; c++) {
        if (t->is.caps >> c & 1)
            json_text(w, NULL, str_c(apikey_cap_name((enum apikey_cap)c)));
    }
    json_end(w, ']');
    json_time(w, "created_at", t->is.created);
    json_time(w, "expires_at", t->end);
}

/* What it may: at most what the key may. */
static bool take_caps(struct request *r, const struct wire_list *names, uint32_t *ret)
{
    uint32_t caps = 0;
    for (uint32_t i = 0; i < names->n; i++) {
        uint32_t one;
        if (str_find(names->v[i], ',', 0) >= 0 || str_eqc(names->v[i], "all") || apikey_caps(names->v[i], &one)) {
            request_fail(r, API_INVALID_ARGUMENT, "capabilities", "there is no capability '%.*s'",
                         (int)(names->v[i].n < 60 ? names->v[i].n : 60), names->v[i].p);
            return false;
        }
        caps |= one;
    }
    if (!caps) {
        request_fail(r, API_INVALID_ARGUMENT, "capabilities", "field 'capabilities': a list of what the token may");
        return false;
    }
    for (int c = 0; c < APIKEY_CAPS; c++) {
        if ((caps >> c & 1) && !auth_allows(r, c))
            return false;
    }
    *ret = caps;
    return true;
}

void h_tokens_create(struct request *r)
{
    static const struct api_field f[] = {{"capabilities", API_TEXTS, offsetof(struct body, capabilities)},
                                         {"ttl_ms", API_NUMBER, offsetof(struct body, ttl_ms)},
                                         {"name", API_TEXT, offsetof(struct body, name)}};
    struct body q = {.ttl_ms = TTL_MS};
    struct token t = {.end = 0};
    char secret[APIKEY_SECRET_MAX];
    if (!request_decode(r, f, 3, &q))
        return;
    if (q.ttl_ms == 0 || q.ttl_ms > LIMIT_TOKEN_MS) {
        request_fail(r, API_INVALID_ARGUMENT, "ttl_ms", "field 'ttl_ms' is 1 to %llu",
                     (unsigned long long)LIMIT_TOKEN_MS);
        return;
    }
    if (!take_caps(r, &q.capabilities, &t.is.caps) || !request_session(r))
        return;
    if (!r->key_id) {
        request_fail(r, API_CONFLICT, NULL,
                     "this server has no keys, and asks nobody for one: frontal-sandbox keys create");
        return;
    }
    snprintf(t.session, sizeof(t.session), "%s", sched_session_id(r->session));
    snprintf(t.key, sizeof(t.key), "%s", r->key_id);
    snprintf(t.is.tenant, sizeof(t.is.tenant), "%s", sched_tenant_name(r->tenant));
    t.end = clock_wall() + (int64_t)q.ttl_ms * CLOCK_MS;
    int e = token_add(r->sv, &t, q.name, secret);
    if (e == -EINVAL) {
        request_fail(r, API_INVALID_ARGUMENT, "name", "field 'name' is at most 64 of A-Z a-z 0-9 . _ -");
    } else if (e == -E2BIG) {
        request_fail(r, API_LIMIT_EXCEEDED, NULL, "there are %u tokens that have not ended: revoke some", LIMIT_TOKENS);
    } else if (e) {
        request_fail_errno(r, e, "the file of tokens cannot be written");
    } else {
        struct answer *a = answer_begin(r);
        put_token(&a->w, &t);
        json_text(&a->w, "token", str_c(arena_printf(&r->arena, "%s.%s", t.is.id.text, secret)));
        answer_send(r, a, MHD_HTTP_CREATED);
    }
}

static void list_one(void *arg, const struct token *t)
{
    struct json_writer *w = arg;
    json_begin(w, NULL, '{');
    put_token(w, t);
    json_end(w, '}');
}

void h_tokens_list(struct request *r)
{
    if (!request_session(r))
        return;
    struct answer *a = answer_begin(r);
    json_begin(&a->w, "tokens", '[');
    token_each(r->sv, str_c(sched_session_id(r->session)), list_one, &a->w);
    json_end(&a->w, ']');
    answer_send(r, a, MHD_HTTP_OK);
}

void h_tokens_delete(struct request *r)
{
    if (!request_session(r))
        return;
    int e = token_revoke(r->sv, str_c(sched_session_id(r->session)), r->params[1]);
    if (e == -ENOENT)
        request_fail(r, API_NOT_FOUND, NULL, "the session has no token '%.60s'", r->params[1].p);
    else if (e)
        request_fail_errno(r, e, "the file of tokens cannot be written");
    else
        request_reply_bytes(r, MHD_HTTP_NO_CONTENT, NULL, STR(""));
}
