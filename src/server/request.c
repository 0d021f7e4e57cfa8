/* SPDX-License-Identifier: Apache-2.0 */

/* What came: the route, its parameters and its body. */

#include <errno.h>

#include "apikey/apikey.h"
#include "base/mem.h"
#include "server/policy.h"

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Percent-decoding (RFC 3986, 2.1). False: not such, or a NUL byte, which no path and no name has. */
static bool decode(struct request *r, struct str s, struct str *ret)
{
    char *p = arena_alloc(&r->arena, s.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (c == '%') {
            int a = i + 2 < s.n ? hex(s.p[i + 1]) : -1, b = i + 2 < s.n ? hex(s.p[i + 2]) : -1;
            if (a < 0 || b < 0)
                return false;
            c = (char)(a << 4 | b);
            i += 2;
        }
        if (c == 0)
            return false;
        p[n++] = c;
    }
    p[n] = 0;
    *ret = str_of(p, n);
    return true;
}

/* The next segment of a path, without its slash. */
static struct str segment(struct str *path)
{
    ptrdiff_t at = str_find(*path, '/', 0);
    struct str s = at < 0 ? *path : str_of(path->p, (size_t)at);
    *path = at < 0 ? str_of(path->p + path->n, 0) : str_from(*path, (size_t)at + 1);
    return s;
}

/* Whether @path is the route's; its parameters, not decoded, go into @params. */
static bool matches(const struct route *route, struct str path, struct str *params)
{
    struct str want = str_c(route->path);
    int n = 0;
    while (want.n) {
        struct str w = segment(&want);
        if (str_eqc(w, "{*}")) {
            params[n] = path;
            return true;
        }
        if (path.n == 0 && w.n)
            return false;
        bool last = str_find(path, '/', 0) < 0;
        struct str p = segment(&path);
        if (str_eqc(w, "{}")) {
            if (p.n == 0)
                return false;
            params[n++] = p;
        } else if (!str_eq(w, p)) {
            return false;
        }
        if (want.n && last && !str_eqc(want, "{*}"))
            return false;
    }
    return path.n == 0;
}

/* Which methods a path has, for Allow. */
static void method_not_allowed(struct request *r, struct str path)
{
    char allow[64] = "";
    struct str params[PARAMS];
    for (size_t i = 0; i < server_n_routes; i++) {
        if (matches(&server_routes[i], path, params))
            snprintf(allow + strlen(allow), sizeof(allow) - strlen(allow), "%s%s", *allow ? ", " : "",
                     server_routes[i].method);
    }
    if (!*allow) {
        request_fail(r, API_NOT_FOUND, NULL, "there is no route '%.*s'", (int)(path.n < 200 ? path.n : 200), path.p);
        return;
    }
    request_fail_as(r, MHD_HTTP_METHOD_NOT_ALLOWED, API_INVALID_ARGUMENT, "this path takes %s", allow);
    if (r->response)
        (void)MHD_add_response_header(r->response, MHD_HTTP_HEADER_ALLOW, allow);
}

/* Where it stands in @words; -1: it is none of them. */
static int known_word(const char *words, const char *key)
{
    size_t n = strlen(key);
    if (n == 0 || strchr(key, ' '))
        return -1; /* neither is a word, and the first would be found everywhere */
    for (const char *p = words; p && (p = strstr(p, key)) != NULL; p += n) {
        if ((p == words || p[-1] == ' ') && (p[n] == ' ' || p[n] == 0))
            return (int)(p - words);
    }
    return -1;
}

struct checking {
    struct request *r;
    uint64_t seen; /* by where the word begins: no route has so many letters of them */
};

static enum MHD_Result check_query(void *arg, enum MHD_ValueKind kind, const char *key, const char *value)
{
    struct checking *c = arg;
    int at = known_word(c->r->route->query, key);
    (void)kind, (void)value;
    if (at < 0)
        request_fail(c->r, API_INVALID_ARGUMENT, key, "there is no query parameter '%.60s' here", key);
    else if (c->seen >> (at & 63) & 1)
        request_fail(c->r, API_INVALID_ARGUMENT, key, "the query parameter '%.60s' is given twice", key);
    else
        c->seen |= UINT64_C(1) << (at & 63);
    return c->r->response ? MHD_NO : MHD_YES;
}

bool request_route(struct request *r, const char *url)
{
    struct str raw[PARAMS] = {{NULL, 0}}, path = str_c(url);
    for (size_t i = 0; i < server_n_routes && !r->route; i++) {
        if (strcmp(server_routes[i].method, r->method) == 0 && matches(&server_routes[i], path, raw))
            r->route = &server_routes[i];
    }
    if (!r->route) {
        method_not_allowed(r, path);
        return false;
    }
    for (int i = 0; i < PARAMS && raw[i].p; i++) {
        if (!decode(r, raw[i], &r->params[i])) {
            request_fail(r, API_INVALID_ARGUMENT, "path", "the path is not percent-encoded as RFC 3986 has it");
            return false;
        }
    }
    struct checking c = {r, 0};
    (void)MHD_get_connection_values(r->c, MHD_GET_ARGUMENT_KIND, check_query, &c);
    return r->response == NULL;
}

struct str request_query(struct request *r, const char *name)
{
    const char *v = NULL;
    size_t n = 0;
    struct str s = {NULL, 0};
    if (!MHD_lookup_connection_value_n(r->c, MHD_GET_ARGUMENT_KIND, name, strlen(name), &v, &n))
        return s;
    if (!v)
        return STR("");
    return decode(r, str_of(v, n), &s) ? s : STR("%");
}

bool request_query_number(struct request *r, const char *name, uint64_t def, uint64_t max, uint64_t *ret)
{
    struct str s = request_query(r, name);
    *ret = def;
    if (!s.p)
        return true;
    if (str_u64(s, ret) == 0 && *ret <= max)
        return true;
    request_fail(r, API_INVALID_ARGUMENT, name, "'%s' is a whole number of at most %llu", name,
                 (unsigned long long)max);
    return false;
}

bool request_octal(struct str s, uint32_t *ret)
{
    uint32_t bits = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '7' || s.n > 4)
            return false;
        bits = bits << 3 | (uint32_t)(s.p[i] - '0');
    }
    *ret = bits;
    return true;
}

const char *request_header(struct request *r, const char *name)
{
    return MHD_lookup_connection_value(r->c, MHD_HEADER_KIND, name);
}

bool request_session(struct request *r)
{
    struct err err = {0};
    int e = sched_find(r->tenant, r->params[0], &r->session, &err);
    if (r->only && (e || strcmp(sched_session_id(r->session), r->only) != 0)) {
        request_fail(r, API_PERMISSION_DENIED, NULL,
                     "the token is for session %s: a key with the capability '%s' reaches others", r->only,
                     apikey_cap_name((enum apikey_cap)r->route->cap));
        return false;
    }
    if (e == 0) {
        char ask[64];
        const char *verb = policy_verb_of(r->route);
        snprintf(ask, sizeof(ask), "verb %s", verb ? verb : "");
        bool changes = strcmp(r->route->method, "PATCH") == 0 && policy_may_widen(r);
        return !verb || changes || policy_allows(r, ask);
    }
    request_fail_errno(r, e == -EINVAL ? -ENOENT : e, err.text);
    return false;
}

bool request_decode(struct request *r, const struct api_field *fields, size_t n, void *ret)
{
    struct api_problem why = {"", ""};
    if (api_decode(buf_str(&r->body), fields, n, &r->arena, ret, &why) == 0)
        return true;
    if (why.field[0])
        request_fail(r, API_INVALID_ARGUMENT, why.field, "field '%s': %s", why.field, why.text);
    else
        request_fail(r, API_INVALID_ARGUMENT, NULL, "the body: %s", why.text);
    return false;
}
