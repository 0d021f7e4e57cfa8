/* SPDX-License-Identifier: Apache-2.0 */
#include "server/idempotency.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/map.h"
#include "base/mem.h"
#include "cas/hash.h"
#include "server/server_int.h"

#define LASTS (24 * 3600 * CLOCK_S)
#define HEX (2 * CAS_HASH_SIZE)
#define FILE_MAX (256u << 20) /* of the lines of one tenant: then a key is refused */
#define KEY_MAX 255u
#define FIELDS 5

struct idempotency {
    struct keys *of;
    char key[HEX + 1], request[HEX + 1];
    int64_t time; /* wall clock */
    unsigned status;
    char *answer; /* heap; NULL: being carried out */
};

/* Those of one tenant. */
struct keys {
    struct keys *next;
    struct sched_tenant *tenant;
    struct map map; /* by the key's hash */
    int fd;         /* of the file, at its end */
    uint64_t size;
};

/* ---- hashes ---- */

static void to_hex(struct cas_hash *h, char ret[HEX + 1])
{
    static const char digits[] = "0123456789abcdef";
    uint8_t sum[CAS_HASH_SIZE];
    cas_hash_end(h, sum);
    for (size_t i = 0; i < CAS_HASH_SIZE; i++) {
        ret[2 * i] = digits[sum[i] >> 4];
        ret[2 * i + 1] = digits[sum[i] & 15];
    }
    ret[HEX] = 0;
}

static void hash_key(const char *key, char ret[HEX + 1])
{
    struct cas_hash h;
    cas_hash_init(&h);
    cas_hash_add(&h, key, strlen(key));
    to_hex(&h, ret);
}

static void hash_request(struct request *r, char ret[HEX + 1])
{
    struct cas_hash h;
    cas_hash_init(&h);
    cas_hash_add(&h, r->method, strlen(r->method) + 1);
    cas_hash_add(&h, r->target.p, r->target.n);
    cas_hash_add(&h, "", 1);
    cas_hash_add(&h, r->body.p, r->body.n);
    to_hex(&h, ret);
}

/* ---- the file ---- */

static void forget(struct idempotency *k)
{
    map_del(&k->of->map, str_c(k->key));
    mem_free(k->answer);
    mem_free(k);
}

static void take_line(struct keys *ks, struct str line)
{
    struct str f[FIELDS];
    uint64_t time, status;
    for (int i = 0; i < FIELDS; i++) {
        ptrdiff_t sp = i + 1 < FIELDS ? str_find(line, ' ', 0) : (ptrdiff_t)line.n;
        if (sp < 0)
            return; /* what a process that was killed has left */
        f[i] = str_of(line.p, (size_t)sp);
        line = str_from(line, (size_t)sp + 1);
    }
    if (str_u64(f[0], &time) || f[1].n != HEX || f[2].n != HEX || str_u64(f[3], &status) ||
        (int64_t)time < clock_wall() - LASTS)
        return;
    struct idempotency *k = map_get(&ks->map, f[1]);
    if (k)
        forget(k);
    k = mem_zalloc(sizeof(*k));
    *k = (struct idempotency){.of = ks, .time = (int64_t)time, .status = (unsigned)status};
    memcpy(k->key, f[1].p, HEX);
    memcpy(k->request, f[2].p, HEX);
    k->answer = mem_dup(f[4].p, f[4].n);
    map_set(&ks->map, str_c(k->key), k);
}

static int put_line(const struct idempotency *k, int fd, uint64_t *size)
{
    BUF_AUTO struct buf b;
    buf_init(&b, LIMIT_REQUEST);
    buf_addf(&b, "%lld %s %s %u %s\n", (long long)k->time, k->key, k->request, k->status, k->answer);
    int r = b.err ? b.err : *size + b.n > FILE_MAX ? -EAGAIN : fd_write_all(fd, buf_str(&b));
    *size += r ? 0 : b.n;
    return r;
}

/* Reads what there is and writes anew what still counts. */
static int load(struct keys *ks)
{
    BUF_AUTO struct buf path, tmp, text;
    buf_init(&path, LIMIT_PATH);
    buf_init(&tmp, LIMIT_PATH);
    buf_init(&text, FILE_MAX + LIMIT_REQUEST);
    buf_addf(&path, "%s/idempotency", sched_tenant_path(ks->tenant));
    buf_addf(&tmp, "%s.new", path.p);
    FD_AUTO int old = open(path.p, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    int r = old >= 0 ? fd_read_all(old, &text) : errno == ENOENT ? 0 : -errno;
    if (r)
        return r;
    for (struct str rest = buf_str(&text); rest.n;) {
        ptrdiff_t nl = str_find(rest, '\n', 0);
        if (nl < 0)
            break;
        take_line(ks, str_of(rest.p, (size_t)nl));
        rest = str_from(rest, (size_t)nl + 1);
    }
    FD_AUTO int fd = open(tmp.p, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    r = fd < 0 ? -errno : 0;
    struct map_iter it = {0};
    while (r == 0 && map_next(&ks->map, &it))
        r = put_line(it.val, fd, &ks->size);
    if (r == 0 && rename(tmp.p, path.p))
        r = -errno;
    if (r == 0)
        ks->fd = fd_steal(&fd);
    return r;
}

static void keys_free(struct keys *ks)
{
    struct map_iter it = {0};
    while (map_next(&ks->map, &it))
        forget(it.val);
    map_done(&ks->map);
    fd_close(&ks->fd);
    mem_free(ks);
}

static int keys_of(struct server *sv, struct sched_tenant *t, struct keys **ret)
{
    for (struct keys *ks = sv->keys; ks; ks = ks->next) {
        if (ks->tenant == t) {
            *ret = ks;
            return 0;
        }
    }
    struct keys *ks = mem_zalloc(sizeof(*ks));
    ks->tenant = t;
    ks->fd = -1;
    int r = load(ks);
    if (r) {
        keys_free(ks);
        return r;
    }
    ks->next = sv->keys;
    sv->keys = ks;
    *ret = ks;
    return 0;
}

void idempotency_free(struct server *sv)
{
    while (sv->keys) {
        struct keys *ks = sv->keys;
        sv->keys = ks->next;
        keys_free(ks);
    }
}

/* ---- a request ---- */

/* A key that was used before. */
static enum idempotency_state repeat(struct request *r, struct idempotency *k, struct str *ret_exec)
{
    char request[HEX + 1];
    hash_request(r, request);
    if (strcmp(request, k->request) != 0) {
        request_fail(r, API_CONFLICT, "Idempotency-Key", "the key was used for another request");
    } else if (!k->answer) {
        request_fail(r, API_CONFLICT, "Idempotency-Key", "the first request with this key is being carried out");
    } else if (k->status == 0) {
        *ret_exec = str_c(k->answer);
        return IDEMPOTENCY_EXEC;
    } else {
        request_reply_bytes(r, k->status, "application/json", str_c(k->answer));
    }
    return IDEMPOTENCY_ANSWERED;
}

enum idempotency_state idempotency_begin(struct request *r, struct str *ret_exec)
{
    const char *key = request_header(r, "Idempotency-Key");
    struct keys *ks;
    char hash[HEX + 1];
    if (!key)
        return IDEMPOTENCY_NONE;
    if (!*key || strlen(key) > KEY_MAX) {
        request_fail(r, API_INVALID_ARGUMENT, "Idempotency-Key", "a key has 1 to %u bytes", KEY_MAX);
        return IDEMPOTENCY_ANSWERED;
    }
    int e = keys_of(r->sv, r->tenant, &ks);
    if (e) {
        request_fail(r, API_INTERNAL, NULL, "the file of the keys: %s", errtab_text(e));
        return IDEMPOTENCY_ANSWERED;
    }
    hash_key(key, hash);
    struct idempotency *k = map_get(&ks->map, str_c(hash));
    if (k && (!k->answer || k->time >= clock_wall() - LASTS))
        return repeat(r, k, ret_exec);
    if (k)
        forget(k);
    k = mem_zalloc(sizeof(*k));
    k->of = ks;
    k->time = clock_wall();
    memcpy(k->key, hash, sizeof(hash));
    hash_request(r, k->request);
    map_set(&ks->map, str_c(k->key), k);
    r->key = k;
    return IDEMPOTENCY_NONE;
}

/* It has its answer, in the file too. */
static int settle(struct request *r, unsigned status, struct str answer)
{
    struct idempotency *k = r->key;
    while (answer.n && answer.p[answer.n - 1] == '\n')
        answer.n--;
    k->status = status;
    k->answer = mem_dup(answer.p, answer.n);
    int e = put_line(k, k->of->fd, &k->of->size);
    if (e)
        forget(k);
    r->key = NULL;
    return e;
}

int idempotency_exec(struct request *r, struct str id)
{
    return r->key ? settle(r, 0, id) : 0;
}

void idempotency_answered(struct request *r, unsigned status, struct str body)
{
    if (r->key && status >= 200 && status < 300)
        (void)settle(r, status, body); /* a repeat is carried out anew then, and told so by what there is already */
}

void idempotency_end(struct request *r)
{
    if (r->key)
        forget(r->key);
    r->key = NULL;
}
