/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A directory of a session as a tar archive (pax where ustar does not do), made while it is sent. What a command
 * changes meanwhile is in it as it was or as it is; a file that became shorter is filled up with zeros. Names of one
 * file are files of their own, owners are root, and what is neither file, directory nor symlink is left out.
 */

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/num.h"
#include "server/server_int.h"

#define BLOCK LIMIT_MSG_DATA

struct todo {
    struct todo *next;
    struct str path, name; /* in the session; in the archive, "" for the root of it */
};

struct packing {
    struct request *r;
    struct archive *to;
    struct buf out; /* not sent yet */
    size_t given;
    struct buf listed; /* entries of the present directory that are not in the archive yet */
    size_t taken;
    struct buf after; /* the last of them */
    struct todo *todo, **tail, *dir;
    uint64_t entries;
    struct str path;      /* of the file or symlink that is read */
    struct wire_entry of; /* it */
    struct str name;      /* in the archive */
    uint64_t at, size;
    bool reading, asked, closed, failed;
    const char *type;
};

static void packing_free(void *p)
{
    struct packing *k = p;
    /* What it writes at its end goes nowhere, as nobody reads any more. */
    (void)archive_write_free(k->to);
    buf_done(&k->out);
    buf_done(&k->listed);
    buf_done(&k->after);
}

static la_ssize_t take(struct archive *a, void *arg, const void *p, size_t n)
{
    struct packing *k = arg;
    (void)a;
    return buf_add(&k->out, p, n) ? -1 : (la_ssize_t)n;
}

static void next(struct packing *k);

static struct str join(struct packing *k, struct str dir, struct str name)
{
    bool slash = dir.n && dir.p[dir.n - 1] != '/';
    char *p = arena_alloc(&k->r->arena, dir.n + name.n + 2);
    memcpy(p, dir.p ? dir.p : "", dir.n);
    if (slash)
        p[dir.n] = '/';
    memcpy(p + dir.n + slash, name.p, name.n);
    p[dir.n + slash + name.n] = 0;
    return str_of(p, dir.n + slash + name.n);
}

static void add_dir(struct packing *k, struct str path, struct str name)
{
    struct todo *t = arena_alloc(&k->r->arena, sizeof(*t));
    *t = (struct todo){NULL, path, name};
    *k->tail = t;
    k->tail = &t->next;
}

/* ---- what comes ---- */

static void put_header(struct packing *k, const struct wire_entry *e, struct str name, struct str target)
{
    struct archive_entry *h = archive_entry_new();
    if (!h) {
        k->failed = true;
        return;
    }
    archive_entry_set_pathname(h, name.p);
    archive_entry_set_mode(h, e->mode);
    archive_entry_set_mtime(h, (time_t)(e->mtime / CLOCK_S), 0);
    archive_entry_set_size(h, S_ISREG(e->mode) ? (la_int64_t)e->size : 0);
    archive_entry_set_uname(h, "root");
    archive_entry_set_gname(h, "root");
    if (S_ISLNK(e->mode))
        archive_entry_set_symlink(h, target.p);
    k->failed |= archive_write_header(k->to, h) != ARCHIVE_OK || ++k->entries > LIMIT_ARCHIVE_OUT;
    archive_entry_free(h);
}

static void came(struct packing *k)
{
    k->asked = false;
    next(k);
    if (!k->asked)
        request_go_on(k->r);
}

static void block_came(void *arg, const struct wire_reply *reply, int error, const char *text)
{
    struct packing *k = arg;
    size_t n = error || !reply ? 0 : (size_t)NUM_MIN((uint64_t)reply->data.n, k->size - k->at);
    (void)text;
    if (n && archive_write_data(k->to, reply->data.p, n) != (la_ssize_t)n)
        k->failed = true;
    k->at += n;
    /* One that is gone or shorter now: its end is filled up. */
    if (n == 0 || k->at == k->size) {
        k->reading = false;
        k->failed |= archive_write_finish_entry(k->to) != ARCHIVE_OK;
    }
    came(k);
}

static void target_came(void *arg, const struct wire_reply *reply, int error, const char *text)
{
    struct packing *k = arg;
    (void)text;
    if (!error && reply && reply->data.n)
        put_header(k, &k->of, k->name, arena_str(&k->r->arena, reply->data));
    came(k);
}

static void list_came(void *arg, const struct wire_reply *reply, int error, const char *text)
{
    struct packing *k = arg;
    (void)text;
    buf_clear(&k->listed);
    k->taken = 0;
    if (error || !reply || reply->data.n == 0)
        k->dir = NULL; /* all of it was listed, or it is gone */
    else if (buf_adds(&k->listed, reply->data))
        k->failed = true;
    came(k);
}

/* ---- what is next ---- */

static void ask(struct packing *k, const struct wire_fs *q, sched_replied *fn)
{
    k->asked = true;
    h_fs_send(k->r, q, fn, k);
}

/* One entry of the present directory. */
static void put_entry(struct packing *k, const struct wire_entry *e)
{
    struct str path = join(k, k->dir->path, e->name), name = join(k, k->dir->name, e->name);
    k->of = *e;
    k->name = name;
    k->path = path;
    if (S_ISDIR(e->mode)) {
        put_header(k, e, join(k, name, STR("/")), STR(""));
        add_dir(k, path, name);
    } else if (S_ISLNK(e->mode)) {
        const struct wire_fs q = {.op = WIRE_FS_READLINK, .path = path};
        ask(k, &q, target_came);
    } else if (S_ISREG(e->mode)) {
        put_header(k, e, name, STR(""));
        k->reading = e->size > 0;
        k->at = 0;
        k->size = e->size;
    }
}

static void next_of_dir(struct packing *k)
{
    struct wire_entry e;
    struct str rest = str_from(buf_str(&k->listed), k->taken);
    size_t before = rest.n;
    int more = wire_get_entry(&rest, &e);
    if (more == 1) {
        k->taken += before - rest.n;
        buf_clear(&k->after);
        buf_adds(&k->after, e.name);
        put_entry(k, &e);
        return;
    }
    k->failed |= more < 0;
    const struct wire_fs q = {.op = WIRE_FS_ENTRIES, .path = k->dir->path, .data = buf_str(&k->after)};
    ask(k, &q, list_came);
}

/* Goes on until there is something to send, or to wait for. */
static void next(struct packing *k)
{
    while (!k->failed && !k->asked && !k->closed && k->given == k->out.n) {
        if (k->reading) {
            const struct wire_fs q = {.op = WIRE_FS_READ,
                                      .path = k->path,
                                      .offset = k->at,
                                      .length = (uint32_t)NUM_MIN(k->size - k->at, BLOCK)};
            ask(k, &q, block_came);
        } else if (k->dir) {
            next_of_dir(k);
        } else if (k->todo) {
            k->dir = k->todo;
            k->todo = k->dir->next;
            if (!k->todo)
                k->tail = &k->todo;
            buf_clear(&k->after);
            buf_clear(&k->listed);
            k->taken = 0;
        } else {
            k->closed = true;
            k->failed |= archive_write_close(k->to) != ARCHIVE_OK;
        }
    }
}

static ssize_t read_archive(void *cls, uint64_t pos, char *to, size_t max)
{
    struct packing *k = cls;
    (void)pos;
    if (k->given == k->out.n) {
        k->given = 0;
        buf_clear(&k->out);
        if (!k->asked)
            next(k);
    }
    struct str rest = str_from(buf_str(&k->out), k->given);
    if (k->failed || k->out.err || k->r->sv->abandoned)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (rest.n == 0 && k->closed)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (rest.n == 0) {
        k->r->suspended = true;
        MHD_suspend_connection(k->r->c);
        return 0;
    }
    size_t n = NUM_MIN(rest.n, max);
    memcpy(to, rest.p, n);
    k->given += n;
    return (ssize_t)n;
}

/* ---- the beginning ---- */

static bool open_archive(struct packing *k, struct str format)
{
    k->to = archive_write_new();
    int r = k->to ? archive_write_set_format_pax_restricted(k->to) : ARCHIVE_FATAL;
    k->type = "application/x-tar";
    if (r == ARCHIVE_OK && str_eqc(format, "tar.gz")) {
        r = archive_write_add_filter_gzip(k->to);
        k->type = "application/gzip";
        /* The same directory gives the same bytes. */
        if (r == ARCHIVE_OK)
            r = archive_write_set_filter_option(k->to, "gzip", "timestamp", NULL);
    } else if (r == ARCHIVE_OK && str_eqc(format, "tar.zst")) {
        r = archive_write_add_filter_zstd(k->to);
        k->type = "application/zstd";
    }
    if (r == ARCHIVE_OK)
        r = archive_write_set_options(k->to, "hdrcharset=BINARY");
    /* A frame is not followed by zeros that would fill up a tape's block. */
    if (r == ARCHIVE_OK)
        r = archive_write_set_bytes_in_last_block(k->to, 1);
    if (r == ARCHIVE_OK)
        r = archive_write_open(k->to, k, NULL, take, NULL);
    return r == ARCHIVE_OK;
}

static void stat_came(void *arg, const struct wire_reply *reply, int error, const char *text)
{
    struct packing *k = arg;
    struct request *r = k->r;
    if (error || !reply) {
        h_fs_fail(r, k->path, error, text);
        return;
    }
    if (S_ISDIR(reply->st.mode)) {
        add_dir(k, k->path, STR(""));
    } else if (S_ISREG(reply->st.mode)) {
        size_t base = k->path.n;
        while (k->path.p[base - 1] != '/')
            base--;
        const struct wire_entry e = {.mode = reply->st.mode, .size = reply->st.size, .mtime = reply->st.mtime};
        k->size = e.size;
        k->reading = e.size > 0;
        put_header(k, &e, str_from(k->path, base), STR(""));
    } else {
        request_fail(r, API_INVALID_ARGUMENT, "path", "neither a directory nor a file");
        return;
    }
    struct MHD_Response *resp = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, read_archive, k, NULL);
    if (resp)
        (void)MHD_add_response_header(resp, MHD_HTTP_HEADER_CONTENT_TYPE, k->type);
    r->streaming = true;
    request_reply(r, resp, MHD_HTTP_OK);
}

void h_archive_get(struct request *r)
{
    struct packing *k = arena_zalloc(&r->arena, sizeof(*k));
    struct str format = request_query(r, "format");
    if (format.p && !str_eqc(format, "tar") && !str_eqc(format, "tar.gz") && !str_eqc(format, "tar.zst")) {
        request_fail(r, API_INVALID_ARGUMENT, "format", "'format' is tar, tar.gz or tar.zst");
        return;
    }
    if (!request_session(r))
        return;
    k->r = r;
    k->path = h_fs_path(r);
    while (k->path.n > 1 && k->path.p[k->path.n - 1] == '/')
        k->path = arena_str(&r->arena, str_of(k->path.p, k->path.n - 1));
    k->tail = &k->todo;
    buf_init(&k->out, 16u << 20); /* a block that does not shrink, and what the filter held back */
    buf_init(&k->listed, LIMIT_MSG_DATA);
    buf_init(&k->after, LIMIT_NAME + 1);
    r->state = k;
    r->state_free = packing_free;
    if (!open_archive(k, format)) {
        request_fail_errno(r, -ENOMEM, "");
        return;
    }
    const struct wire_fs q = {.op = WIRE_FS_LOOK, .path = k->path};
    h_fs_send(r, &q, stat_came, k);
}
