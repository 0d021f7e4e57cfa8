/* SPDX-License-Identifier: Apache-2.0 */
#include "server/token.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "server/server_int.h"

struct tokens {
    struct token *v;
    size_t n, cap;
};

#define FILE_MAX (64u << 20)

static int path_of(struct server *sv, const char *suffix, struct buf *path)
{
    struct sched_tenant *t;
    buf_init(path, LIMIT_PATH);
    int r = sched_tenant(sv->sched, "local", &t, NULL);
    return r ? r : buf_addf(path, "%s/tokens%s", sched_tenant_path(t), suffix);
}

/* ---- lines ---- */

static void put_line(struct buf *out, const struct token *t)
{
    buf_addf(out, "%s %s %lld ", t->session, t->key, (long long)t->end);
    apikey_put(out, &t->is);
}

static struct str word(struct str *line)
{
    ptrdiff_t at = str_find(*line, ' ', 0);
    struct str w = str_of(line->p, at < 0 ? line->n : (size_t)at);
    *line = str_from(*line, at < 0 ? line->n : (size_t)at + 1);
    return w;
}

static int get_line(struct str line, struct token *ret)
{
    struct id session, key;
    struct str s = word(&line), k = word(&line), end = word(&line);
    if (id_parse(ID_SESSION, s, &session) || id_parse(ID_KEY, k, &key) || str_i64(end, &ret->end) ||
        apikey_get(line, &ret->is))
        return -EINVAL;
    memcpy(ret->session, session.text, sizeof(ret->session));
    memcpy(ret->key, key.text, sizeof(ret->key));
    return 0;
}

/* ---- the file ---- */

static struct token *add(struct tokens *l)
{
    if (l->n == l->cap) {
        l->cap = l->cap ? 2 * l->cap : 16;
        l->v = mem_realloc(l->v, l->cap * sizeof(*l->v));
    }
    return &l->v[l->n++];
}

static void drop_ended(struct tokens *l)
{
    size_t n = 0;
    int64_t now = clock_wall();
    for (size_t i = 0; i < l->n; i++) {
        if (l->v[i].end > now)
            l->v[n++] = l->v[i];
    }
    l->n = n;
}

/* All of them, in place of the file before. */
static int save(struct server *sv)
{
    BUF_AUTO struct buf text, path, tmp;
    buf_init(&text, FILE_MAX);
    int r = path_of(sv, "", &path), r_tmp = path_of(sv, ".new", &tmp);
    r = r ? r : r_tmp;
    for (size_t i = 0; i < sv->tokens->n; i++)
        put_line(&text, &sv->tokens->v[i]);
    r = r ? r : text.err;
    FD_AUTO int fd = r ? -1 : open(tmp.p, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (r == 0 && fd < 0)
        r = -errno;
    r = r ? r : fd_write_all(fd, buf_str(&text));
    if (r == 0 && fsync(fd))
        r = -errno;
    if (r == 0 && rename(tmp.p, path.p))
        r = -errno;
    return r;
}

int token_open(struct server *sv)
{
    BUF_AUTO struct buf path, text;
    buf_init(&text, FILE_MAX);
    sv->tokens = mem_zalloc(sizeof(*sv->tokens));
    int r = path_of(sv, "", &path);
    FD_AUTO int fd = r ? -1 : open(path.p, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (r == 0 && fd < 0)
        return errno == ENOENT ? 0 : -errno;
    r = r ? r : fd_read_all(fd, &text);
    struct str rest = buf_str(&text);
    while (r == 0 && rest.n) {
        ptrdiff_t nl = str_find(rest, '\n', 0);
        size_t n = nl < 0 ? rest.n : (size_t)nl;
        struct token t;
        if (get_line(str_of(rest.p, n), &t) == 0) /* one that does not parse grants nothing */
            *add(sv->tokens) = t;
        rest = str_from(rest, nl < 0 ? n : n + 1);
    }
    drop_ended(sv->tokens);
    return r;
}

void token_close(struct server *sv)
{
    if (sv->tokens)
        mem_free(sv->tokens->v);
    mem_free(sv->tokens);
    sv->tokens = NULL;
}

/* ---- what there is ---- */

const struct token *token_find(const struct server *sv, struct str text)
{
    int64_t now = clock_wall();
    for (size_t i = 0; i < sv->tokens->n; i++) {
        const struct token *t = &sv->tokens->v[i];
        if (t->end > now && apikey_matches(&t->is, text))
            return t;
    }
    return NULL;
}

static size_t of_tenant(const struct tokens *l, const char *tenant)
{
    size_t n = 0;
    for (size_t i = 0; i < l->n; i++)
        n += strcmp(l->v[i].is.tenant, tenant) == 0;
    return n;
}

int token_add(struct server *sv, struct token *t, struct str name, char secret[APIKEY_SECRET_MAX])
{
    struct apikey k;
    drop_ended(sv->tokens);
    if (of_tenant(sv->tokens, t->is.tenant) >= LIMIT_TOKENS)
        return -E2BIG;
    int r = apikey_new(str_c(t->is.tenant), name, t->is.caps, &k, secret);
    if (r)
        return r;
    t->is = k;
    *add(sv->tokens) = *t;
    r = save(sv);
    if (r)
        sv->tokens->n--;
    return r;
}

int token_revoke(struct server *sv, struct str session, struct str id)
{
    struct tokens *l = sv->tokens;
    drop_ended(l);
    for (size_t i = 0; i < l->n; i++) {
        if (!str_eqc(session, l->v[i].session) || !str_eqc(id, l->v[i].is.id.text))
            continue;
        memmove(&l->v[i], &l->v[i + 1], (l->n - i - 1) * sizeof(*l->v));
        l->n--;
        return save(sv);
    }
    return -ENOENT;
}

void token_each(const struct server *sv, struct str session, void (*fn)(void *arg, const struct token *t), void *arg)
{
    int64_t now = clock_wall();
    for (size_t i = 0; i < sv->tokens->n; i++) {
        const struct token *t = &sv->tokens->v[i];
        if (t->end > now && str_eqc(session, t->session))
            fn(arg, t);
    }
}
