/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Snapshots: a file each, that a rename shows. Its session's directory leads to it by id and by name; what leads to no
 * snapshot of that session is nobody's, and a snapshot whose session is gone is gone too.
 */

#include "snapshot/state_int.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/mem.h"
#include "types/errtab.h"

#define HEADER "frontal-sandbox snapshot 1\nsum="
#define FILE_MAX (LIMIT_TRACE_EVENT + 4096u) /* the config lay in an event */

/* ---- the file ---- */

static void put_hex(struct buf *out, const char *key, const uint8_t b[CAS_HASH_SIZE])
{
    buf_addc(out, key);
    for (size_t i = 0; i < CAS_HASH_SIZE; i++)
        buf_addf(out, "%02x", b[i]);
    buf_putc(out, '\n');
}

static void hash_text(struct str text, uint8_t ret[CAS_HASH_SIZE])
{
    struct cas_hash h;
    cas_hash_init(&h);
    cas_hash_add(&h, text.p, text.n);
    cas_hash_end(&h, ret);
}

void state__snapshot_encode(struct buf *out, const struct state_snapshot *snap)
{
    BUF_AUTO struct buf body;
    uint8_t sum[CAS_HASH_SIZE];
    buf_init(&body, FILE_MAX);
    buf_addf(&body, "id=%s\nname=%s\nsession=%s\nseq=%" PRIu64 "\ntime=%" PRId64 "\n", snap->id, snap->name,
             snap->session, snap->seq, snap->time);
    buf_addf(&body, "bytes=%" PRIu64 "\nnew_bytes=%" PRIu64 "\n", snap->bytes, snap->new_bytes);
    put_hex(&body, "root=", snap->state.root.b);
    put_hex(&body, "image=", snap->state.image.b);
    put_hex(&body, "shell=", snap->state.shell.b);
    buf_putc(&body, '\n');
    buf_adds(&body, snap->config);
    hash_text(buf_str(&body), sum);
    put_hex(out, HEADER, sum);
    buf_adds(out, buf_str(&body));
    if (body.err)
        out->err = body.err;
}

/* The rest of the line that begins with @key; *bad when the next line is another. */
static struct str line(struct str *text, const char *key, bool *bad)
{
    struct str k = str_c(key);
    ptrdiff_t end = str_find(*text, '\n', k.n);
    if (*bad || end < 0 || !str_starts(*text, k)) {
        *bad = true;
        return str_of(NULL, 0);
    }
    struct str v = str_of(text->p + k.n, (size_t)end - k.n);
    *text = str_from(*text, (size_t)end + 1);
    return v;
}

static void get_text(struct str *text, const char *key, char *ret, size_t cap, bool *bad)
{
    struct str v = line(text, key, bad);
    if (v.n >= cap)
        *bad = true;
    else if (v.n)
        memcpy(ret, v.p, v.n);
}

static uint64_t get_number(struct str *text, const char *key, bool *bad)
{
    uint64_t v = 0;
    if (str_u64(line(text, key, bad), &v))
        *bad = true;
    return v;
}

static uint8_t digit(char c, bool *bad)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = c ? strchr(digits, c) : NULL;
    if (!at)
        *bad = true;
    return at ? (uint8_t)(at - digits) : 0;
}

static void get_hex(struct str *text, const char *key, uint8_t ret[CAS_HASH_SIZE], bool *bad)
{
    struct str v = line(text, key, bad);
    *bad |= v.n != 2 * (size_t)CAS_HASH_SIZE;
    for (size_t i = 0; !*bad && i < CAS_HASH_SIZE; i++)
        ret[i] = (uint8_t)(digit(v.p[2 * i], bad) << 4 | digit(v.p[2 * i + 1], bad));
}

int state__snapshot_decode(struct str text, struct state_snapshot *ret)
{
    struct state_snapshot snap = {0};
    uint8_t sum[CAS_HASH_SIZE] = {0}, is[CAS_HASH_SIZE];
    bool bad = false;
    struct id id;
    get_hex(&text, HEADER, sum, &bad);
    hash_text(text, is);
    bad |= memcmp(sum, is, sizeof(sum)) != 0;
    get_text(&text, "id=", snap.id, sizeof(snap.id), &bad);
    get_text(&text, "name=", snap.name, sizeof(snap.name), &bad);
    get_text(&text, "session=", snap.session, sizeof(snap.session), &bad);
    snap.seq = get_number(&text, "seq=", &bad);
    if (str_i64(line(&text, "time=", &bad), &snap.time))
        bad = true;
    snap.bytes = get_number(&text, "bytes=", &bad);
    snap.new_bytes = get_number(&text, "new_bytes=", &bad);
    get_hex(&text, "root=", snap.state.root.b, &bad);
    get_hex(&text, "image=", snap.state.image.b, &bad);
    get_hex(&text, "shell=", snap.state.shell.b, &bad);
    bad |= line(&text, "", &bad).n != 0;
    if (bad || id_parse(ID_SNAPSHOT, str_c(snap.id), &id) || id_parse(ID_SESSION, str_c(snap.session), &id) ||
        (snap.name[0] && state__check_name(str_c(snap.name), NULL)))
        return -EBADMSG;
    snap.config = str_of(mem_dup(text.p, text.n), text.n);
    *ret = snap;
    return 0;
}

int state__snapshot_read(struct state *s, const char *id, struct state_snapshot *ret)
{
    BUF_AUTO struct buf text;
    buf_init(&text, FILE_MAX);
    int r = state__read(s->snapshots, id, &text);
    if (r == 0)
        r = state__snapshot_decode(buf_str(&text), ret);
    if (r == 0 && strcmp(ret->id, id) != 0) {
        state_snapshot_done(ret);
        r = -EBADMSG;
    }
    return r == -EFBIG ? -EBADMSG : r;
}

void state_snapshot_done(struct state_snapshot *snap)
{
    mem_free((void *)(uintptr_t)snap->config.p);
    *snap = (struct state_snapshot){0};
}

/* ---- from names ---- */

static int links_of(struct state *s, const char *session)
{
    FD_AUTO int dir = state__open_dir(s->sessions, session);
    return dir < 0 ? dir : state__open_dir(dir, "snapshots");
}

/* The snapshot that @link of @session leads to, if it is one of that session. */
static int read_link(struct state *s, const char *session, const char *link, struct state_snapshot *ret)
{
    char target[STATE_ID_MAX];
    struct id id;
    FD_AUTO int links = links_of(s, session);
    int r = links < 0 ? links : state__target(links, link, target, sizeof(target));
    if (r == 0 && id_parse(ID_SNAPSHOT, str_c(target), &id))
        r = -EBADMSG;
    if (r == 0)
        r = state__snapshot_read(s, target, ret);
    if (r == 0 && strcmp(ret->session, session) != 0) {
        state_snapshot_done(ret);
        r = -ENOENT;
    }
    return r;
}

static int no_snapshot(struct str session, struct str who, int r, struct err *err)
{
    if (r == -EBADMSG)
        return err_set(err, r, "snapshot '%.*s' is damaged: frontal-sandbox store fsck says more", (int)who.n, who.p);
    if (r != -ENOENT)
        return err_set(err, r, "snapshot '%.*s': %s", (int)who.n, who.p, errtab_text(r));
    if (session.n)
        return err_set(err, r,
                       "there is no snapshot '%.*s' of that session: frontal-sandbox snapshot list %.*s shows its",
                       (int)who.n, who.p, (int)session.n, session.p);
    return err_set(err, r, "there is no snapshot '%.*s': frontal-sandbox snapshot list shows those there are",
                   (int)who.n, who.p);
}

struct by_name {
    struct str name;
    struct state_snapshot found; /* id empty: none */
    int n;
};

static int match_name(void *arg, const struct state_snapshot *snap)
{
    struct by_name *b = arg;
    if (!str_eqc(b->name, snap->name))
        return 0;
    if (b->n++ == 0) {
        b->found = *snap;
        b->found.config = str_of(mem_dup(snap->config.p, snap->config.n), snap->config.n);
    }
    return 0;
}

static int get_anywhere(struct state *s, struct str who, struct state_snapshot *ret, struct err *err)
{
    struct by_name b = {.name = who};
    int r = state_snapshot_each(s, str_of(NULL, 0), match_name, &b);
    if (r == 0 && b.n == 1) {
        *ret = b.found;
        return 0;
    }
    if (b.n)
        state_snapshot_done(&b.found);
    if (r == 0 && b.n > 1)
        return err_set(err, -EEXIST, "several sessions have a snapshot '%.*s': say SESSION:%.*s", (int)who.n, who.p,
                       (int)who.n, who.p);
    return no_snapshot(str_of(NULL, 0), who, r ? r : -ENOENT, err);
}

int state_snapshot_get(struct state *s, struct str session, struct str who, struct state_snapshot *ret, struct err *err)
{
    char link[STATE_NAME_MAX + 1] = "", of[STATE_ID_MAX] = "";
    struct id id;
    int r;
    if (session.n >= sizeof(of))
        return no_snapshot(session, who, -ENOENT, err);
    if (session.n)
        memcpy(of, session.p, session.n);
    if (id_parse(ID_SNAPSHOT, who, &id) == 0) {
        struct state_snapshot snap;
        r = state__snapshot_read(s, id.text, &snap);
        if (r == 0 && (!state__snapshot_stays(s, &snap) || (of[0] && strcmp(of, snap.session) != 0))) {
            state_snapshot_done(&snap);
            r = -ENOENT;
        }
        if (r)
            return no_snapshot(session, who, r, err);
        *ret = snap;
        return 0;
    }
    r = state__check_name(who, err);
    if (r)
        return r;
    if (!of[0])
        return get_anywhere(s, who, ret, err);
    memcpy(link, who.p, who.n);
    r = id_parse(ID_SESSION, session, &id) ? -ENOENT : read_link(s, of, link, ret);
    return r ? no_snapshot(session, who, r, err) : 0;
}

/* ---- writing ---- */

static int put(struct state *s, const struct state_snapshot *snap, const char *hidden)
{
    BUF_AUTO struct buf text;
    buf_init(&text, FILE_MAX);
    state__snapshot_encode(&text, snap);
    FD_AUTO int links = text.err ? -1 : links_of(s, snap->session);
    int r = text.err ? text.err : links < 0 ? links : state__write(s->snapshots, hidden, buf_str(&text), true);
    if (r == 0)
        r = state__point(links, snap->id, snap->id);
    if (r == 0 && snap->name[0])
        r = state__point(links, snap->name, snap->id);
    return r ? r : renameat(s->snapshots, hidden, s->snapshots, snap->id) ? -errno : 0;
}

int state_snapshot_put(struct state *s, struct state_snapshot *snap, struct err *err)
{
    FD_AUTO int lock = -1;
    struct state_snapshot other;
    char hidden[STATE_HIDDEN_MAX];
    int r = snap->name[0] ? state__check_name(str_c(snap->name), err) : 0;
    if (r == 0)
        r = state__lock(s, &lock, err);
    if (r)
        return r;
    if (!state__has(s, snap->session))
        return err_set(err, -ENOENT, "session '%s' is gone", snap->session);
    if (snap->name[0] && read_link(s, snap->session, snap->name, &other) == 0) {
        state_snapshot_done(&other);
        return err_set(err, -EEXIST,
                       "the session has a snapshot '%s' already: choose another name, or delete it first with "
                       "frontal-sandbox snapshot delete",
                       snap->name);
    }
    memcpy(snap->id, id_new(ID_SNAPSHOT).text, sizeof(snap->id));
    if (snap->time == 0)
        snap->time = clock_wall();
    snprintf(hidden, sizeof(hidden), STATE_NEW "%s", snap->id);
    r = put(s, snap, hidden);
    if (r)
        state__remove(s->snapshots, hidden);
    return r ? err_set(err, r, "'%s/snapshots': %s", s->path, errtab_text(r)) : 0;
}

int state_snapshot_delete(struct state *s, struct str session, struct str who, struct err *err)
{
    FD_AUTO int lock = -1, links = -1;
    struct state_snapshot snap;
    int r = state__lock(s, &lock, err);
    if (r == 0)
        r = state_snapshot_get(s, session, who, &snap, err);
    if (r)
        return r;
    char name[STATE_NAME_MAX + 1];
    if (state_template_of(s, snap.id, name)) {
        err_set(err, -EBUSY, "the template '%s' is snapshot '%s': remove the template first", name, snap.id);
        state_snapshot_done(&snap);
        return -EBUSY;
    }
    r = state__remove(s->snapshots, snap.id);
    links = links_of(s, snap.session);
    if (r == 0 && links >= 0) {
        /* They lead nowhere now; gc has nothing to do with them, the next of that name takes its place. */
        state__remove(links, snap.id);
        if (snap.name[0])
            state__remove(links, snap.name);
    }
    state_snapshot_done(&snap);
    return r ? err_set(err, r, "'%s/snapshots': %s", s->path, errtab_text(r)) : 0;
}

/* ---- all of them ---- */

struct listed {
    char id[STATE_ID_MAX];
    int64_t time;
    uint64_t seq;
};

struct listing {
    struct state *s;
    const char *session; /* or NULL */
    struct listed *v;
    size_t n, cap;
};

static int list(void *arg, const char *name)
{
    struct listing *l = arg;
    struct state_snapshot snap;
    struct id id;
    if (id_parse(ID_SNAPSHOT, str_c(name), &id) || state__snapshot_read(l->s, name, &snap))
        return 0;
    if (l->session ? strcmp(snap.session, l->session) == 0 : state__snapshot_stays(l->s, &snap)) {
        if (l->n == l->cap) {
            l->cap = l->cap ? 2 * l->cap : 64;
            l->v = mem_realloc(l->v, l->cap * sizeof(*l->v));
        }
        struct listed *e = &l->v[l->n++];
        *e = (struct listed){.time = snap.time, .seq = snap.seq};
        memcpy(e->id, snap.id, sizeof(e->id));
    }
    state_snapshot_done(&snap);
    return 0;
}

static int order(const void *a, const void *b)
{
    const struct listed *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    if (x->seq != y->seq)
        return x->seq < y->seq ? -1 : 1;
    return strcmp(x->id, y->id);
}

int state_snapshot_each(struct state *s, struct str session, int (*fn)(void *arg, const struct state_snapshot *snap),
                        void *arg)
{
    struct listing l = {.s = s};
    struct id id;
    FD_AUTO int links = -1;
    if (session.n) {
        if (id_parse(ID_SESSION, session, &id))
            return -EINVAL;
        l.session = id.text;
        links = links_of(s, id.text);
        if (links < 0)
            return links;
    }
    int r = state__each(session.n ? links : s->snapshots, list, &l);
    if (l.n)
        qsort(l.v, l.n, sizeof(*l.v), order);
    for (size_t i = 0; r == 0 && i < l.n; i++) {
        struct state_snapshot snap;
        /* One that went away since it was listed is left out. */
        if (state__snapshot_read(s, l.v[i].id, &snap))
            continue;
        r = fn(arg, &snap);
        state_snapshot_done(&snap);
    }
    mem_free(l.v);
    return r;
}

/* ---- what is left over ---- */

struct forgetting {
    struct state *s;
    const char *session; /* NULL: whichever is gone */
};

static int forget(void *arg, const char *name)
{
    const struct forgetting *f = arg;
    struct state_snapshot snap;
    struct id id;
    if (str_starts(str_c(name), STR(STATE_NEW)) && !f->session)
        state__remove(f->s->snapshots, name);
    if (id_parse(ID_SNAPSHOT, str_c(name), &id) || state__snapshot_read(f->s, name, &snap))
        return 0;
    if (f->session ? strcmp(snap.session, f->session) == 0 && !state_template_of(f->s, snap.id, NULL)
                   : !state__snapshot_stays(f->s, &snap))
        state__remove(f->s->snapshots, name);
    state_snapshot_done(&snap);
    return 0;
}

void state__snapshots_forget(struct state *s, int dirfd, const char *session)
{
    struct forgetting f = {s, session};
    FD_AUTO int links = state__open_dir(dirfd, "snapshots");
    if (links >= 0)
        state__each(links, forget, &f);
}

int state__snapshots_tidy(struct state *s)
{
    struct forgetting f = {s, NULL};
    return state__each(s->snapshots, forget, &f);
}
