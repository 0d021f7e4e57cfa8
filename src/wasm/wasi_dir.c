/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/num.h"
#include "wasm/wasi_int.h"

/*
 * fd_readdir. A cookie names the place after an entry: 1 after ".", 2 after "..", and from 3 on the place after the
 * name that the descriptor's table has at cookie - 3. Reading goes on with the first name behind that one in byte
 * order, so that entries which come and go elsewhere move nothing, and an entry that is gone still marks its place. A
 * table grows by what is read, and is emptied when reading begins again at 0 (rewinddir(3) ends the life of what
 * telldir(3) gave). Reading the same entries again finds their cookies again.
 */

#define FIRST_NAME 3
#define HEAD 24         /* bytes of a dirent before its name */
#define POLL_EVERY 256u /* entries between looks whether the process must end */
#define BIG 65536u      /* bytes of a buffer that so many entries may fit into that reading them is done in turns */

struct wasi_dir {
    char *names; /* each with its length before it */
    size_t names_n, names_cap;
    size_t *at; /* of the length */
    uint32_t n, cap;
};

void wasi__dir_free(struct wasi_dir *d)
{
    if (!d)
        return;
    mem_free(d->names);
    mem_free(d->at);
    mem_free(d);
}

static struct str name_at(const struct wasi_dir *d, uint32_t i)
{
    const char *p = d->names + d->at[i];
    return str_of(p + 1, (uint8_t)*p);
}

static int grow(struct wasi_dir *d, size_t n)
{
    if (d->names_cap - d->names_n < n) {
        size_t cap = NUM_MAX(2 * d->names_cap, d->names_n + NUM_MAX(n, (size_t)512));
        char *p = mem_try_realloc(d->names, cap);
        if (!p)
            return WASI_NOMEM;
        d->names = p;
        d->names_cap = cap;
    }
    if (d->n == d->cap) {
        uint32_t cap = d->cap ? 2 * d->cap : 32;
        size_t *v = cap > d->cap ? mem_try_realloc(d->at, cap * sizeof *v) : NULL;
        if (!v)
            return WASI_NOMEM;
        d->at = v;
        d->cap = cap;
    }
    return 0;
}

/* The cookie of the place after @name, which follows the place @after. */
static int cookie_of(struct wasi_dir *d, uint64_t after, struct str name, uint64_t *ret)
{
    uint64_t next = after - (FIRST_NAME - 1);
    if (next < d->n && str_eq(name_at(d, (uint32_t)next), name)) {
        *ret = next + FIRST_NAME;
        return 0;
    }
    TRY(grow(d, name.n + 1));
    d->at[d->n++] = d->names_n;
    d->names[d->names_n++] = (char)(uint8_t)name.n;
    memcpy(d->names + d->names_n, name.p, name.n);
    d->names_n += name.n;
    *ret = (uint64_t)d->n - 1 + FIRST_NAME;
    return 0;
}

/* The entry behind @place: 1, 0 at the end, or an errno as a negative number. */
static int next_entry(struct wasi *w, struct wasi_dir *d, uint64_t dir, uint64_t place, struct vfs_dirent *ret)
{
    struct vfs *v = proc_set_vfs(w->p->ps);
    if (place >= FIRST_NAME - 1) {
        struct str after = place < FIRST_NAME ? STR("") : name_at(d, (uint32_t)(place - FIRST_NAME));
        int r = vfs_dir_next(v, dir, after, ret);
        return r == -ESTALE || r == -ENOENT ? 0 : r; /* the directory itself is gone */
    }
    *ret = (struct vfs_dirent){.name = place ? STR("..") : STR("."), .ino = dir, .type = S_IFDIR};
    if (place && vfs_dir_parent(v, dir, &ret->ino) < 0)
        ret->ino = dir;
    return 1;
}

/* As much of a dirent as fits: bytes written. */
static uint32_t put_entry(struct wasi *w, uint64_t at, uint32_t room, const struct vfs_dirent *e, uint64_t cookie)
{
    uint8_t head[HEAD] = {0};
    uint32_t namlen = (uint32_t)e->name.n;
    memcpy(head, &cookie, 8);
    memcpy(head + 8, &e->ino, 8);
    memcpy(head + 16, &namlen, 4);
    head[20] = wasi__filetype(e->type);
    uint32_t n = NUM_MIN(room, (uint32_t)HEAD), k = NUM_MIN(room - n, namlen);
    wasi_put(w, at, head, n);
    wasi_put(w, at + n, e->name.p, k);
    return n + k;
}

/* The directory of @fd and its table. */
static int table_of(struct wasi *w, uint32_t fd, uint64_t cookie, uint64_t *ret_ino, struct wasi_dir **ret)
{
    struct vfs *v = proc_set_vfs(w->p->ps);
    struct wasi_fd *e;
    struct vfs_stat st;
    TRY(wasi__dirfd(w, fd, RIGHT_FD_READDIR, ret_ino));
    int r = wasi__fstat(w, fd, &st);
    if (r < 0)
        return wasi__errno(r);
    if (!S_ISDIR(st.mode))
        return WASI_NOTDIR;
    if (fd != PREOPEN && (proc_fd_flags(w->p, (int)fd) & O_PATH))
        return WASI_BADF;
    r = fd == PREOPEN && !cookie ? vfs_dir_enter(v, &w->p->cred, *ret_ino) : 0;
    if (r < 0)
        return wasi__errno(r);
    TRY(wasi__make_entry(w, fd, &e));
    if (!e->dir)
        e->dir = mem_try_zalloc(sizeof *e->dir);
    if (!e->dir)
        return WASI_NOMEM;
    if (!cookie)
        e->dir->n = (uint32_t)(e->dir->names_n = 0);
    else if (cookie >= FIRST_NAME && cookie - FIRST_NAME >= e->dir->n)
        return WASI_INVAL; /* never given */
    *ret = e->dir;
    return 0;
}

int wasi__fd_readdir(struct wasi *w, const uint64_t *args)
{
    uint32_t buf = ARG32(1), len = ARG32(2), ret = ARG32(4), used = 0, turns = 0;
    uint64_t place = args[3], dir;
    struct wasi_dir *d = NULL;
    TRY(wasi__turn(w));
    if (!wasi_in(w, buf, len) || !wasi_in(w, ret, 4)) {
        int r = wasi__fd(w, ARG32(0), RIGHT_FD_READDIR);
        return r ? r : WASI_FAULT;
    }
    if (len > BIG && !w->may_block)
        return WASI_BLOCK;
    TRY(table_of(w, ARG32(0), place, &dir, &d));
    while (used < len) {
        struct vfs_dirent e;
        uint64_t cookie = place + 1;
        if (w->may_block && ++turns % POLL_EVERY == 0)
            TRY(wasi__turn(w));
        int r = next_entry(w, d, dir, place, &e);
        if (r < 0)
            return wasi__result(w, r);
        if (r == 0)
            break;
        if (place >= FIRST_NAME - 1)
            TRY(cookie_of(d, place, e.name, &cookie));
        used += put_entry(w, (uint64_t)buf + used, len - used, &e, cookie);
        place = cookie;
    }
    wasi_put32(w, ret, used); /* less than the buffer: the end */
    return 0;
}
