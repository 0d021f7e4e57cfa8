/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Checking everything. Once through the store for blobs that are not what their names say, once through all that is
 * named for blobs that are missing; only when there are such, once more to find who needs them, session by session.
 */

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/num.h"
#include "snapshot/keep.h"
#include "snapshot/state_int.h"
#include "types/errtab.h"
#include "vfs/image.h"

#define READ_SIZE 65536u

struct checking {
    struct state *s;
    struct cas *c;
    const struct state_watch *w;
    struct map bad;  /* id -> its fault + 1 */
    struct map told; /* of `bad`: somebody needs it */
    struct map seen; /* ids looked at; of one session when they are told */
    uint64_t done;
    const struct state_ref *ref;
    char session[STATE_ID_MAX];
    bool tell;    /* the last pass */
    bool new_bad; /* this image led to a blob that was not told for the session yet */
};

static void found(struct checking *k, const struct state_finding *f)
{
    k->w->found(k->w->arg, f);
}

static struct str key(const struct cas_id *id)
{
    return str_of((const char *)id->b, sizeof(id->b));
}

static void set_bad(struct checking *k, const struct cas_id *id, enum state_fault fault)
{
    if (!map_get(&k->bad, key(id)))
        map_set(&k->bad, key(id), (void *)((uintptr_t)fault + 1));
}

static void bad_blob(void *arg, const struct cas_id *id, const char *what)
{
    struct checking *k = arg;
    if (id)
        set_bad(k, id, STATE_BLOB_DAMAGED);
    else
        found(k, &(struct state_finding){.fault = STATE_STORE, .text = what});
}

static void store_progress(void *arg, uint64_t done, uint64_t all)
{
    struct checking *k = arg;
    k->w->progress(k->w->arg, "store", done, all);
}

/* ---- what is named ---- */

/* 1 when it is looked at for the first time and is whole. */
static int look(void *arg, const struct cas_id *id)
{
    struct checking *k = arg;
    if (map_set(&k->seen, key(id), k))
        return 0;
    if (!k->tell)
        k->w->progress(k->w->arg, "sessions", ++k->done, 0);
    if (!k->tell && !cas_has(k->c, id))
        set_bad(k, id, STATE_BLOB_MISSING);
    void *fault = map_get(&k->bad, key(id));
    if (!fault)
        return 1;
    if (k->tell) {
        found(k, &(struct state_finding){
                     .fault = (enum state_fault)((uintptr_t)fault - 1), .id = id, .ref = k->ref, .text = ""});
        map_set(&k->told, key(id), k);
        k->new_bad = true;
    }
    return 0;
}

/* A blob of a tree that has its name and is no part of a tree, or went bad meanwhile. */
static void unreadable(void *arg, const struct cas_id *id, int error)
{
    (void)error;
    set_bad(arg, id, STATE_BLOB_DAMAGED);
}

static int find_files(struct checking *k, const struct cas_id *image);

static int check_ref(void *arg, const struct state_ref *ref, const struct cas_id *id)
{
    struct checking *k = arg;
    k->ref = ref;
    if (k->tell && strcmp(k->session, ref->session) != 0) {
        snprintf(k->session, sizeof(k->session), "%s", ref->session);
        map_done(&k->seen);
    }
    if (state__may_lack(ref->what) && !cas_has(k->c, id))
        return 0;
    if (strcmp(ref->what, "image") != 0)
        return NUM_MIN(look(k, id), 0);
    k->new_bad = false;
    int r = vfs_image_walk(k->c, id, look, unreadable, k);
    return r == 0 && k->new_bad ? find_files(k, id) : r;
}

static void bad_ref(void *arg, const struct state_ref *ref, const char *text)
{
    struct checking *k = arg;
    if (!k->tell)
        found(k,
              &(struct state_finding){.fault = ref->snapshot ? STATE_SNAPSHOT : STATE_LOG, .ref = ref, .text = text});
}

/* ---- files ---- */

struct finding_files {
    struct checking *k;
    struct vfs *v;
    struct buf path;
    char *block;
    int depth;
};

static bool is_damage(int r)
{
    return r == -EIO || r == -EBADMSG || r == -EUCLEAN;
}

static void tell_file(struct finding_files *f, int r)
{
    found(f->k, &(struct state_finding){
                    .fault = STATE_FILE, .ref = f->k->ref, .text = errtab_text(r), .path = buf_str(&f->path)});
}

static int read_file(struct finding_files *f, uint64_t ino)
{
    struct vfs_handle *h;
    uint64_t off = 0;
    ssize_t n;
    int r = vfs_open_ino(f->v, ino, O_RDONLY, &h);
    if (r)
        return r;
    while ((n = vfs_pread(h, f->block, READ_SIZE, off)) > 0)
        off += (uint64_t)n;
    vfs_close(h);
    return (int)n;
}

static int visit_dir(struct finding_files *f, uint64_t ino);

static int visit(void *arg, const struct vfs_dirent *e)
{
    struct finding_files *f = arg;
    size_t n = f->path.n;
    int r = 0;
    buf_putc(&f->path, '/');
    buf_adds(&f->path, e->name);
    if (S_ISDIR(e->type) && e->ino < VFS_PROVIDED)
        r = f->depth < LIMIT_DEPTH ? visit_dir(f, e->ino) : 0;
    else if (S_ISREG(e->type) && e->ino < VFS_PROVIDED)
        r = read_file(f, e->ino);
    if (is_damage(r))
        tell_file(f, r);
    buf_trunc(&f->path, n);
    return 0;
}

static int visit_dir(struct finding_files *f, uint64_t ino)
{
    f->depth++;
    int r = vfs_dir_each(f->v, ino, visit, f);
    f->depth--;
    return r;
}

/* Says which files of an image cannot be read. */
static int find_files(struct checking *k, const struct cas_id *image)
{
    struct finding_files f = {.k = k};
    struct vfs_canon *canon;
    int r = state__load(k->c, image, &f.v, &canon, NULL);
    buf_init(&f.path, 16u << 20);
    if (r == 0) {
        f.block = mem_alloc(READ_SIZE);
        r = visit_dir(&f, VFS_ROOT_INO);
        vfs_canon_free(canon);
        vfs_free(f.v);
        mem_free(f.block);
    }
    if (is_damage(r)) {
        buf_putc(&f.path, '/');
        tell_file(&f, r);
    }
    buf_done(&f.path);
    return r == -ENOMEM ? r : 0;
}

/* ---- all ---- */

/* What nobody needs is damaged all the same. */
static void tell_rest(struct checking *k)
{
    struct map_iter it = {0};
    while (map_next(&k->bad, &it)) {
        struct cas_id id;
        if (map_get(&k->told, it.key))
            continue;
        memcpy(id.b, it.key.p, sizeof(id.b));
        found(k, &(struct state_finding){.fault = (enum state_fault)((uintptr_t)it.val - 1), .id = &id, .text = ""});
    }
}

int state_fsck(struct state *s, const struct state_watch *w, struct err *err)
{
    struct checking k = {.s = s, .w = w};
    int r = state_store(s, 0, &k.c, err);
    if (r)
        return r;
    r = cas_fsck(k.c, bad_blob, store_progress, &k);
    if (r == 0)
        r = state_refs(s, check_ref, bad_ref, &k);
    if (r == 0 && map_count(&k.bad) > 0) {
        map_done(&k.seen);
        k.tell = true;
        r = state_refs(s, check_ref, bad_ref, &k);
        tell_rest(&k);
    }
    if (r)
        err_set(err, r, "the check ended early: %s", errtab_text(r));
    map_done(&k.bad);
    map_done(&k.told);
    map_done(&k.seen);
    cas_close(k.c);
    return r;
}
