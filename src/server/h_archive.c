/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Unpacking an archive into a session, all of it or nothing. What is in it was named by somebody else than the client:
 * names that lead out of the directory are refused, those that are symlinks are not gone through (WIRE_FS_CLEAR), and
 * owners, devices and attributes are not taken. It is read in slices, so that others do not wait for a long one.
 */

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>

#include "base/clock.h"
#include "server/server_int.h"

#define SLICE (1u << 20) /* bytes that are unpacked in one go */

struct unpacking {
    struct request *r;
    struct archive *in;
    struct buf out; /* requests to the worker */
    struct str dir;
    uint64_t entries, bytes;
};

static void unpacking_free(void *p)
{
    struct unpacking *u = p;
    (void)archive_read_free(u->in);
    buf_done(&u->out);
}

/* ---- names ---- */

/* The path in the session of a name in the archive; .n is 0 for one that leads out, or is none. */
static struct str path_of(struct unpacking *u, struct str name)
{
    struct buf path = {0};
    struct str none = {NULL, 0};
    buf_init(&path, LIMIT_PATH);
    buf_adds(&path, u->dir);
    bool bad = name.n == 0 || name.p[0] == '/';
    while (name.n && !bad) {
        ptrdiff_t at = str_find(name, '/', 0);
        struct str part = str_of(name.p, at < 0 ? name.n : (size_t)at);
        name = str_from(name, at < 0 ? name.n : (size_t)at + 1);
        bad = str_eqc(part, "..");
        if (bad || part.n == 0 || str_eqc(part, "."))
            continue;
        if (path.p[path.n - 1] != '/')
            buf_putc(&path, '/');
        buf_adds(&path, part);
    }
    struct str ret = bad || path.err ? none : arena_str(&u->r->arena, buf_str(&path));
    buf_done(&path);
    return ret;
}

static void put(struct unpacking *u, const struct wire_fs *q)
{
    struct wire_fs all = *q;
    all.as_user = true;
    wire_put_fs(&u->out, &all);
}

static void put_clear(struct unpacking *u, struct str path, bool look)
{
    const struct wire_fs q = {.op = WIRE_FS_CLEAR, .path = path, .offset = u->dir.n, .length = look};
    put(u, &q);
}

/* ---- entries ---- */

static void fail_entry(struct unpacking *u, const char *name, const char *what)
{
    request_fail(u->r, API_INVALID_ARGUMENT, NULL, "the archive's '%.200s' %s; nothing was unpacked", name, what);
}

static bool put_file(struct unpacking *u, struct str path, struct archive_entry *e)
{
    struct wire_fs q = {.op = WIRE_FS_PUT,
                        .path = path,
                        .mode = archive_entry_perm(e),
                        .mtime = (int64_t)archive_entry_mtime(e) * CLOCK_S};
    char block[LIMIT_MSG_DATA / 2];
    bool first = true;
    for (;;) {
        la_ssize_t n = archive_read_data(u->in, block, sizeof(block));
        if (n < 0) {
            request_fail(u->r, API_INVALID_ARGUMENT, NULL, "the archive is damaged: %.200s",
                         archive_error_string(u->in));
            return false;
        }
        if (n == 0 && !first)
            return true;
        u->bytes += (uint64_t)n;
        if (u->bytes > LIMIT_ARCHIVE) {
            request_fail(u->r, API_TOO_LARGE, NULL, "what is in the archive is over %u bytes", LIMIT_ARCHIVE);
            return false;
        }
        q.data = str_of(block, (size_t)n);
        put(u, &q);
        q.offset += (uint64_t)n;
        first = false;
    }
}

static bool put_link(struct unpacking *u, struct str path, const char *name, const char *target)
{
    struct str old = path_of(u, str_c(target));
    if (old.n <= u->dir.n) {
        fail_entry(u, name, "is a link that leads out of the directory");
        return false;
    }
    put_clear(u, old, true);
    const struct wire_fs q = {.op = WIRE_FS_LINK, .path = old, .data = path};
    put(u, &q);
    return true;
}

static bool put_entry(struct unpacking *u, struct archive_entry *e)
{
    const char *name = archive_entry_pathname(e), *hard = archive_entry_hardlink(e), *sym = archive_entry_symlink(e);
    struct str path = name ? path_of(u, str_c(name)) : str_of(NULL, 0);
    if (!path.n) {
        fail_entry(u, name ? name : "", "has a name that leads out of the directory, or is none");
        return false;
    }
    if (path.n == u->dir.n)
        return true; /* the directory itself */
    put_clear(u, path, false);
    if (hard)
        return put_link(u, path, name, hard);
    struct wire_fs q = {.path = path, .mode = archive_entry_perm(e)};
    switch (archive_entry_filetype(e)) {
    case AE_IFREG:
        return put_file(u, path, e);
    case AE_IFDIR:
        q.op = WIRE_FS_MKDIR;
        break;
    case AE_IFLNK:
        q.op = WIRE_FS_SYMLINK;
        q.data = str_c(sym ? sym : "");
        break;
    default:
        fail_entry(u, name, "is a device, a FIFO or a socket, which are not unpacked");
        return false;
    }
    put(u, &q);
    return true;
}

/* ---- all of it ---- */

static void carried_out(void *arg, const struct wire_reply *reply, int error, const char *text)
{
    struct unpacking *u = arg;
    if (error) {
        h_fs_fail(u->r, reply && reply->data.n ? reply->data : u->dir, error, text);
        return;
    }
    struct answer *a = answer_begin(u->r);
    json_text(&a->w, "path", u->dir);
    json_number(&a->w, "entries", u->entries);
    json_number(&a->w, "bytes", u->bytes);
    if (reply->seq)
        json_number(&a->w, "trace_seq", reply->seq);
    else
        json_none(&a->w, "trace_seq");
    answer_send(u->r, a, MHD_HTTP_OK);
}

/* Reads on: true when all of it was read; false after an answer, or with *ret_more when a slice is done. */
static bool read_slice(struct unpacking *u, bool *ret_more)
{
    struct archive_entry *e;
    uint64_t until = u->bytes + SLICE, entries = u->entries + SLICE / 1024;
    int r = ARCHIVE_EOF;
    *ret_more = false;
    /* A warning is a name that the locale does not have: it is taken byte by byte. */
    while (u->bytes < until && u->entries < entries &&
           ((r = archive_read_next_header(u->in, &e)) == ARCHIVE_OK || r == ARCHIVE_WARN)) {
        if (++u->entries > LIMIT_ARCHIVE_ENTRIES || u->out.err) {
            request_fail(u->r, API_TOO_LARGE, NULL, "the archive has more than %u entries, or their names are too long",
                         LIMIT_ARCHIVE_ENTRIES);
            return false;
        }
        if (!put_entry(u, e))
            return false;
    }
    if (u->bytes >= until || u->entries >= entries) {
        *ret_more = true;
        return false;
    }
    if (r == ARCHIVE_EOF)
        return true;
    request_fail(u->r, API_INVALID_ARGUMENT, NULL, "the body is no tar archive (plain, gzip or zstd): %.200s",
                 archive_error_string(u->in));
    return false;
}

static void on_slice(void *arg)
{
    struct unpacking *u = arg;
    bool more;
    sched_timer_cancel(u->r->sv->sched, u->r->timer);
    u->r->timer = NULL;
    if (read_slice(u, &more)) {
        if (u->out.err)
            request_fail_errno(u->r, -E2BIG, "what is in the archive is too large");
        else
            sched_fs(u->r->session, buf_str(&u->out), carried_out, u);
        buf_done(&u->out);
    } else if (more) {
        u->r->timer = sched_timer(u->r->sv->sched, clock_mono(), on_slice, u);
    }
}

void h_archive_post(struct request *r)
{
    struct unpacking *u = arena_zalloc(&r->arena, sizeof(*u));
    const struct wire_fs all = {.op = WIRE_FS_BATCH};
    if (!request_session(r))
        return;
    *u = (struct unpacking){.r = r, .in = archive_read_new(), .dir = h_fs_path(r)};
    while (u->dir.n > 1 && u->dir.p[u->dir.n - 1] == '/')
        u->dir.n--;
    buf_init(&u->out, WIRE_BODY_MAX);
    r->state = u;
    r->state_free = unpacking_free;
    wire_put_fs(&u->out, &all);
    const struct wire_fs dir = {.op = WIRE_FS_MKDIR, .path = u->dir, .mode = 0755};
    put(u, &dir);
    if (!u->in || archive_read_support_format_tar(u->in) || archive_read_support_filter_gzip(u->in) ||
        archive_read_support_filter_zstd(u->in))
        request_fail_errno(r, -ENOMEM, "");
    else if (archive_read_open_memory(u->in, r->body.p, r->body.n))
        request_fail(r, API_INVALID_ARGUMENT, NULL, "the body is no tar archive (plain, gzip or zstd): %.200s",
                     archive_error_string(u->in));
    else
        on_slice(u);
}
