/* SPDX-License-Identifier: Apache-2.0 */

/* Several file calls as one: all of them, or none. */

#include "session/session_int.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "types/errtab.h"

/* ---- edit ---- */

static int read_whole(struct session *s, const struct wire_fs *q, struct vfs_handle **ret, char **ret_text,
                      size_t *ret_n)
{
    struct vfs_ctx ctx = {&session__root_cred, VFS_ROOT_INO, 0};
    struct vfs_stat st;
    struct vfs_handle *h;
    int e = vfs_open(s->tree, &ctx, 0, q->path, O_RDWR | O_NONBLOCK, 0, &h);
    if (e)
        return e;
    e = vfs_stat_ino(s->tree, vfs_handle_ino(h), &st);
    if (e == 0 && !S_ISREG(st.mode))
        e = -EINVAL;
    if (e == 0 && st.size > LIMIT_EDIT)
        e = -EFBIG;
    char *text = e ? NULL : mem_alloc((size_t)st.size + 1);
    ssize_t n = 0;
    for (size_t at = 0; e == 0 && at < st.size; at += (size_t)n) {
        n = vfs_pread(h, text + at, (size_t)st.size - at, at);
        if (n <= 0)
            e = n < 0 ? (int)n : -EIO;
    }
    if (e) {
        mem_free(text);
        vfs_close(h);
        return e;
    }
    *ret = h;
    *ret_text = text;
    *ret_n = (size_t)st.size;
    return 0;
}

static int write_whole(struct session *s, const struct wire_fs *q, struct vfs_handle *h, struct str text, size_t at)
{
    struct buf *b = &(struct buf){0};
    buf_init(b, SIZE_MAX / 2);
    buf_adds(b, q->text);
    buf_adds(b, str_from(text, at + q->data.n));
    ssize_t put = b->err ? -ENOMEM : b->n ? vfs_pwrite(h, b->p, b->n, at, NULL) : 0;
    int e = put < 0 ? (int)put : (size_t)put < b->n ? -EDQUOT : vfs_ftruncate(h, at + b->n);
    buf_done(b);
    return e ? e : vfs_utimens(s->tree, &session__root_cred, vfs_handle_ino(h), q->mtime, q->mtime);
}

int session__fs_edit(struct session *s, const struct wire_fs *q)
{
    struct vfs_handle *h;
    char *p;
    size_t n, count = 0, found = 0;
    if (q->data.n == 0)
        return -EINVAL;
    int e = read_whole(s, q, &h, &p, &n);
    if (e)
        return e;
    /* One that overlaps another is one more place that could be meant. */
    for (const char *at = p; (at = memmem(at, n - (size_t)(at - p), q->data.p, q->data.n)) != NULL; at++) {
        if (count++ == 0)
            found = (size_t)(at - p);
    }
    if (count == 1) {
        e = write_whole(s, q, h, str_of(p, n), found);
    } else {
        e = -ENOMSG;
        buf_addf(&s->reply, "the text to be replaced occurs %zu times, and has to occur once", count);
    }
    vfs_close(h);
    mem_free(p);
    return e;
}

/* ---- batch ---- */

/* -EBADMSG: what came does not decode. */
static int carry_out(struct session *s, struct str requests, struct wire_reply *ret)
{
    s->copied_entries = s->copied_bytes = 0;
    *ret = (struct wire_reply){0};
    for (uint32_t i = 0; requests.n; i++) {
        struct wire_fs q;
        if (wire_get_fs(&requests, &q) || q.op == WIRE_FS_BATCH)
            return -EBADMSG;
        session_fs(s, &q, ret);
        ret->index = i;
        if (ret->error) {
            ret->data = q.path;
            return 0;
        }
    }
    return 0;
}

int session_fs_batch(struct session *s, struct str requests, struct wire_reply *ret)
{
    struct vfs *tree = s->tree;
    struct vfs_quota quota, most = {UINT64_MAX / 2, UINT64_MAX / 2};
    *ret = (struct wire_reply){.error = -ENOMEM, .message = str_c(errtab_text(-ENOMEM))};
    /* First on a copy, which costs nothing. */
    s->tree = vfs_fork(tree);
    int e = s->tree ? carry_out(s, requests, ret) : 0;
    vfs_free(s->tree);
    s->tree = tree;
    if (e || ret->error)
        return e;
    /* What succeeded there does so here. Only the quota could say otherwise, for files that are open and have no name
     * count here; it was asked. */
    vfs_get_quota(tree, &quota);
    vfs_set_quota(tree, &most);
    e = carry_out(s, requests, ret);
    vfs_set_quota(tree, &quota);
    return e ? e : ret->error ? -EIO : 0;
}
