/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Who asks: a key, or without keys whoever reaches a loopback address. The file of keys is looked at again about once a
 * second, so a key that is revoked is refused soon after. A server that has had keys never goes on without.
 */

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "apikey/apikey.h"
#include "server/server_int.h"
#include "server/token.h"

#define LOOK_EVERY CLOCK_S
#define FILE_MAX (16u << 20)

struct auth {
    struct apikey *v;
    size_t n, cap;
    int64_t looked; /* clock_mono */
    struct timespec mtime;
    ino_t ino;
};

static void take_keys(struct auth *a, struct str text)
{
    a->n = 0;
    while (text.n) {
        ptrdiff_t nl = str_find(text, '\n', 0);
        size_t n = nl < 0 ? text.n : (size_t)nl;
        if (a->n == a->cap) {
            a->cap = a->cap ? 2 * a->cap : 16;
            a->v = mem_realloc(a->v, a->cap * sizeof(*a->v));
        }
        if (apikey_get(str_of(text.p, n), &a->v[a->n]) == 0)
            a->n++;
        text = str_from(text, n + 1);
    }
}

int auth_look(struct server *sv)
{
    struct auth *a = sv->auth;
    struct sched_tenant *t;
    struct stat st;
    int64_t now = clock_mono();
    if (a && now - a->looked < LOOK_EVERY)
        return 0;
    if (!a)
        a = sv->auth = mem_zalloc(sizeof(*a));
    a->looked = now;
    BUF_AUTO struct buf path, text;
    buf_init(&path, LIMIT_PATH);
    buf_init(&text, FILE_MAX);
    int r = sched_tenant(sv->sched, "local", &t, NULL);
    if (r)
        return r;
    buf_addf(&path, "%s/keys", sched_tenant_path(t));
    FD_AUTO int fd = open(path.p, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) {
        a->n = 0;
        a->ino = 0;
        return errno == ENOENT ? 0 : -errno;
    }
    if (fstat(fd, &st))
        return -errno;
    if (st.st_ino == a->ino && st.st_mtim.tv_sec == a->mtime.tv_sec && st.st_mtim.tv_nsec == a->mtime.tv_nsec)
        return 0;
    r = fd_read_all(fd, &text);
    if (r)
        return r;
    take_keys(a, buf_str(&text));
    a->ino = st.st_ino;
    a->mtime = st.st_mtim;
    sv->has_keys |= a->n > 0;
    return 0;
}

void auth_free(struct server *sv)
{
    if (sv->auth)
        mem_free(sv->auth->v);
    mem_free(sv->auth);
    sv->auth = NULL;
}

/* A browser sends requests for any page it shows; without keys nothing else tells these from the user's own. */
static bool is_own_site(const char *host)
{
    static const char *const own[] = {"localhost", "127.0.0.1", "[::1]"};
    const char *at = strstr(host, "://");
    host = at ? at + 3 : host;
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        size_t n = strlen(own[i]);
        if (strncmp(host, own[i], n) == 0 && (host[n] == 0 || host[n] == ':' || host[n] == '/'))
            return true;
    }
    return false;
}

static bool without_keys(struct request *r)
{
    const char *host = request_header(r, MHD_HTTP_HEADER_HOST), *origin = request_header(r, MHD_HTTP_HEADER_ORIGIN);
    r->caps = APIKEY_ALL;
    if ((!origin || is_own_site(origin)) && (r->sv->is_unix || !host || is_own_site(host)))
        return true;
    request_fail(r, API_PERMISSION_DENIED, NULL,
                 "a server without keys answers requests to localhost only, and none of another site's pages");
    return false;
}

/* A key by its id, for tokens that were minted from it. */
static const struct apikey *key_of(const struct auth *a, const char *id)
{
    for (size_t i = 0; i < a->n; i++) {
        if (strcmp(a->v[i].id.text, id) == 0)
            return &a->v[i];
    }
    return NULL;
}

/* What a token that was sent grants: the name of its tenant, or NULL. */
static const char *take_token(struct request *r)
{
    const char *text = request_header(r, MHD_HTTP_HEADER_AUTHORIZATION);
    const struct token *t = text && strncmp(text, "Bearer ", 7) == 0 ? token_find(r->sv, str_c(text + 7)) : NULL;
    const struct apikey *from = t ? key_of(r->sv->auth, t->key) : NULL;
    if (!from || strcmp(from->tenant, t->is.tenant) != 0)
        return NULL;
    r->caps = t->is.caps & from->caps;
    r->only = arena_str(&r->arena, str_c(t->session)).p;
    r->key_id = from->id.text;
    return from->tenant;
}

static const struct apikey *find_key(struct request *r)
{
    const char *text = request_header(r, MHD_HTTP_HEADER_AUTHORIZATION);
    const struct auth *a = r->sv->auth;
    if (!text || strncmp(text, "Bearer ", 7) != 0)
        return NULL;
    for (size_t i = 0; i < a->n; i++) {
        if (apikey_matches(&a->v[i], str_c(text + 7)))
            return &a->v[i];
    }
    return NULL;
}

bool auth_check(struct request *r)
{
    struct err err = {0};
    int e = auth_look(r->sv);
    const char *tenant = "local";
    if (e) {
        request_fail(r, API_INTERNAL, NULL, "the file of keys: %s", errtab_text(e));
        return false;
    }
    if (!r->sv->has_keys) {
        if (!without_keys(r))
            return false;
    } else if (r->route->cap != ROUTE_OPEN) {
        const struct apikey *k = find_key(r);
        const char *of_token = k ? NULL : take_token(r);
        if (!k && !of_token) {
            request_fail(r, API_UNAUTHENTICATED, NULL,
                         "a key is needed: Authorization: Bearer KEY (frontal-sandbox keys create makes one)");
            return false;
        }
        if (k) {
            r->caps = k->caps;
            r->key_id = k->id.text;
        }
        tenant = k ? k->tenant : of_token;
    }
    e = sched_tenant(r->sv->sched, tenant, &r->tenant, &err);
    if (e)
        request_fail_errno(r, e, err.text);
    return e == 0;
}

/* Routes of a session that make or change others, or keys to it. */
static bool leads_out(const struct route *route)
{
    static const char *const all[] = {"/v1/sessions/{}/fork", "/v1/sessions/{}/merge", "/v1/sessions/{}/tokens",
                                      "/v1/sessions/{}/tokens/{}"};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (strcmp(route->path, all[i]) == 0)
            return true;
    }
    return strncmp(route->path, "/v1/sessions/{}", 15) != 0;
}

bool auth_allows(struct request *r, int cap)
{
    bool has = cap < 0 || r->caps >> cap & 1;
    if (has && (!r->only || cap < 0 || !leads_out(r->route)))
        return true;
    if (r->only) {
        request_fail(r, API_PERMISSION_DENIED, NULL,
                     "the token is for session %s, and %s: a key with the capability '%s' may do this", r->only,
                     has ? "this goes beyond it" : "has not the capability that is needed",
                     apikey_cap_name((enum apikey_cap)cap));
        return false;
    }
    request_fail(r, API_PERMISSION_DENIED, NULL,
                 "the key has not the capability '%s': keys create --capabilities makes one that has",
                 apikey_cap_name((enum apikey_cap)cap));
    return false;
}
