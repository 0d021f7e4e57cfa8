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
        if (!k) {
            request_fail(r, API_UNAUTHENTICATED, NULL,
                         "a key is needed: Authorization: Bearer KEY (frontal-sandbox keys create makes one)");
            return false;
        }
        r->caps = k->caps;
        tenant = k->tenant;
    }
    e = sched_tenant(r->sv->sched, tenant, &r->tenant, &err);
    if (e)
        request_fail_errno(r, e, err.text);
    return e == 0;
}

bool auth_allows(struct request *r, int cap)
{
    if (cap < 0 || r->caps >> cap & 1)
        return true;
    request_fail(r, API_PERMISSION_DENIED, NULL,
                 "the key has not the capability '%s': keys create --capabilities makes one that has",
                 apikey_cap_name((enum apikey_cap)cap));
    return false;
}
