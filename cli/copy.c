/* SPDX-License-Identifier: Apache-2.0 */

/* --copy-in and --copy-out. The host side always goes through descriptors and O_NOFOLLOW below the place the user
 * named. */

#include "cli/cli.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/mem.h"
#include "types/errtab.h"

#define DEPTH_MAX 256 /* directories below the one copied */

static int refused(const struct wire_reply *rep, struct str path, struct err *err)
{
    return err_set(err, rep->error, "%.*s: %.*s", (int)path.n, path.p, (int)rep->message.n, rep->message.p);
}

/* Sends a request and turns either failure into a message about @path. */
static int ask(struct driver *d, const struct wire_fs *q, struct wire_reply *rep, struct err *err)
{
    if (driver_fs(d, q, rep))
        return err_set(err, -EPIPE, "the worker is gone");
    return rep->error ? refused(rep, q->path, err) : 0;
}

static int64_t mtime_ns(const struct stat *st)
{
    return st->st_mtim.tv_sec * INT64_C(1000000000) + st->st_mtim.tv_nsec;
}

/* ---- in ---- */

/* Requests go as many to a message as fit, and messages are sent ahead of their replies, so that the host's files are
 * read while the worker makes others. */
struct copying_in {
    struct driver *d;
    char *block;     /* LIMIT_MSG_DATA bytes of a file */
    struct buf next; /* requests that are not sent */
    uint32_t ahead;  /* messages without a reply */
};

static int in_reply(struct copying_in *x, struct err *err)
{
    struct wire_reply rep;
    x->ahead--;
    if (driver_fs_reply(x->d, &rep))
        return err_set(err, -EPIPE, "the worker is gone");
    return rep.error ? refused(&rep, rep.data, err) : 0;
}

/* Sends what was gathered. What it gives may be the failure of an earlier message. */
static int in_send(struct copying_in *x, struct err *err)
{
    if (x->next.n == 0)
        return 0;
    int r = x->ahead == DRIVER_AHEAD ? in_reply(x, err) : 0;
    if (r)
        return r;
    if (x->next.err || driver_fs_send(x->d, buf_str(&x->next)))
        return err_set(err, -EPIPE, "the worker is gone");
    x->ahead++;
    buf_clear(&x->next);
    return 0;
}

static int in_ask(struct copying_in *x, const struct wire_fs *q, struct err *err)
{
    int r = x->next.n + q->data.n > LIMIT_MSG_DATA ? in_send(x, err) : 0;
    if (r == 0)
        wire_put_fs(&x->next, q);
    return r;
}

static int in_file(struct copying_in *x, int fd, const struct stat *st, struct str to, struct err *err)
{
    struct wire_fs q = {
        .op = WIRE_FS_PUT, .path = to, .mode = st->st_mode & 0777, .mtime = mtime_ns(st), .as_user = true};
    for (;;) {
        ssize_t n = read(fd, x->block, LIMIT_MSG_DATA);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_set(err, -errno, "reading: %s", errtab_text(errno));
        if (n == 0 && q.offset)
            return 0;
        q.data = str_of(x->block, (size_t)n);
        int r = in_ask(x, &q, err);
        if (r || n == 0)
            return r;
        q.offset += (uint64_t)n;
        /* All that it was said to have: most files need no second read to see their end. */
        if (q.offset == (uint64_t)st->st_size)
            return 0;
    }
}

static int in_link(struct copying_in *x, int dir, const char *name, struct str to, struct err *err)
{
    char target[LIMIT_PATH];
    ssize_t n = readlinkat(dir, name, target, sizeof(target));
    if (n < 0)
        return err_set(err, -errno, "%s: %s", name, errtab_text(errno));
    const struct wire_fs q = {.op = WIRE_FS_SYMLINK, .path = to, .data = str_of(target, (size_t)n), .as_user = true};
    return in_ask(x, &q, err);
}

static int in_any(struct copying_in *x, int dir, const char *name, int type, struct str to, int depth,
                  struct err *err);

static int in_dir(struct copying_in *x, int fd, const struct stat *st, struct str to, int depth, struct err *err)
{
    const struct wire_fs q = {.op = WIRE_FS_MKDIR, .path = to, .mode = st->st_mode & 0777, .as_user = true};
    int r = in_ask(x, &q, err);
    if (r)
        return r;
    if (depth > DEPTH_MAX)
        return err_set(err, -ELOOP, "%.*s: more than %d directories deep", (int)to.n, to.p, DEPTH_MAX);
    DIR *list = fdopendir(dup(fd));
    if (!list)
        return err_set(err, -errno, "%.*s: %s", (int)to.n, to.p, errtab_text(errno));
    BUF_AUTO struct buf path;
    buf_init(&path, LIMIT_PATH);
    struct dirent *e;
    while (r == 0 && (e = readdir(list))) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        buf_clear(&path);
        buf_adds(&path, to);
        if (!str_ends(to, STR("/")))
            buf_putc(&path, '/');
        buf_addc(&path, e->d_name);
        r = path.err ? err_set(err, -ENAMETOOLONG, "%s: %s", e->d_name, errtab_text(ENAMETOOLONG))
                     : in_any(x, fd, e->d_name, e->d_type, buf_str(&path), depth + 1, err);
    }
    closedir(list);
    return r;
}

/* @type is what the directory says of the name; DT_UNKNOWN is looked at first. Of the place that the user named
 * (@depth 0) a symbolic link is followed. */
static int in_any(struct copying_in *x, int dir, const char *name, int type, struct str to, int depth,
                  struct err *err)
{
    struct stat st;
    bool plain = type == DT_REG || type == DT_DIR;
    if (!plain && fstatat(dir, name, &st, depth ? AT_SYMLINK_NOFOLLOW : 0))
        return err_set(err, -errno, "%s: %s", name, errtab_text(errno));
    if (!plain && S_ISLNK(st.st_mode))
        return in_link(x, dir, name, to, err);
    if (!plain && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
        return err_set(err, -EINVAL, "%s: only files, directories and symbolic links can be copied in", name);
    FD_AUTO int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | (depth ? O_NOFOLLOW : 0));
    if (fd < 0 || fstat(fd, &st))
        return err_set(err, -errno, "%s: %s", name, errtab_text(errno));
    if (S_ISDIR(st.st_mode))
        return in_dir(x, fd, &st, to, depth, err);
    if (!S_ISREG(st.st_mode))
        return err_set(err, -EINVAL, "%s: it was exchanged for something else meanwhile", name);
    return in_file(x, fd, &st, to, err);
}

int cli_copy_in(struct driver *d, const struct cli_copy *c, struct err *err)
{
    MEM_AUTO char *block = mem_alloc(LIMIT_MSG_DATA);
    struct copying_in x = {.d = d, .block = block};
    buf_init(&x.next, WIRE_BODY_MAX);
    int r = in_any(&x, AT_FDCWD, c->from, DT_UNKNOWN, str_c(c->to), 0, err);
    if (r == 0)
        r = in_send(&x, err);
    while (x.ahead) {
        /* The first failure is told; what follows from it is not. */
        int late = in_reply(&x, r ? NULL : err);
        r = r ? r : late;
    }
    buf_done(&x.next);
    return r ? err_wrap(err, r, "--copy-in %s", c->from) : 0;
}

/* ---- out ---- */

static int out_file(struct driver *d, struct str from, const struct wire_stat *st, int dir, const char *name,
                    struct err *err)
{
    FD_AUTO int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, st->mode & 0777);
    if (fd < 0)
        return err_set(err, -errno, "%s: %s", name, errtab_text(errno));
    struct wire_fs q = {.op = WIRE_FS_READ, .path = from, .length = LIMIT_MSG_DATA};
    struct wire_reply rep;
    for (;;) {
        int r = ask(d, &q, &rep, err);
        if (r)
            return r;
        if (rep.data.n == 0)
            break;
        r = fd_write_all(fd, rep.data);
        if (r)
            return err_set(err, r, "%s: %s", name, errtab_text(r));
        q.offset += rep.data.n;
    }
    const struct timespec t[2] = {{0, UTIME_OMIT}, {st->mtime / 1000000000, st->mtime % 1000000000}};
    (void)futimens(fd, t); /* the bytes are what was asked for */
    return 0;
}

static int out_link(struct driver *d, struct str from, int dir, const char *name, struct err *err)
{
    const struct wire_fs q = {.op = WIRE_FS_READLINK, .path = from};
    struct wire_reply rep;
    int r = ask(d, &q, &rep, err);
    if (r)
        return r;
    MEM_AUTO char *target = mem_dup(rep.data.p, rep.data.n);
    if (symlinkat(target, dir, name))
        return err_set(err, -errno, "%s: %s", name, errtab_text(errno));
    return 0;
}

static int out_any(struct driver *d, struct str from, int dir, const char *name, int depth, struct err *err);

/* All names of a directory, gathered because each request reuses the reply's memory. */
static int list_names(struct driver *d, struct str from, struct buf *names, struct err *err)
{
    struct wire_fs q = {.op = WIRE_FS_LIST, .path = from};
    struct wire_reply rep;
    char last[LIMIT_NAME + 1];
    for (;;) {
        int r = ask(d, &q, &rep, err);
        if (r || rep.data.n == 0)
            return r;
        if (rep.data.p[rep.data.n - 1] != 0 || buf_adds(names, rep.data))
            return err_set(err, -EBADMSG, "%.*s: the list of names is too long or broken", (int)from.n, from.p);
        size_t start = rep.data.n - 1;
        while (start && rep.data.p[start - 1])
            start--;
        size_t n = rep.data.n - 1 - start;
        if (n == 0 || n > LIMIT_NAME)
            return err_set(err, -EBADMSG, "%.*s: a broken name", (int)from.n, from.p);
        memcpy(last, rep.data.p + start, n);
        q.data = str_of(last, n);
    }
}

/* A name that came from the worker is one component, whatever it says. */
static bool name_ok(const char *n)
{
    return *n && strcmp(n, ".") != 0 && strcmp(n, "..") != 0 && !strchr(n, '/');
}

static int out_dir(struct driver *d, struct str from, const struct wire_stat *st, int dir, const char *name, int depth,
                   struct err *err)
{
    if (depth > DEPTH_MAX)
        return err_set(err, -ELOOP, "%.*s: more than %d directories deep", (int)from.n, from.p, DEPTH_MAX);
    if (mkdirat(dir, name, (st->mode & 0777) | 0700) && errno != EEXIST)
        return err_set(err, -errno, "%s: %s", name, errtab_text(errno));
    FD_AUTO int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (depth ? O_NOFOLLOW : 0));
    if (fd < 0)
        return err_set(err, -errno, "%s: %s", name, errtab_text(errno));
    BUF_AUTO struct buf names;
    BUF_AUTO struct buf path;
    buf_init(&names, 256u << 20);
    buf_init(&path, LIMIT_PATH + LIMIT_NAME);
    int r = list_names(d, from, &names, err);
    for (size_t i = 0; r == 0 && i < names.n; i += strlen(names.p + i) + 1) {
        if (!name_ok(names.p + i))
            return err_set(err, -EBADMSG, "%.*s: a broken name", (int)from.n, from.p);
        buf_clear(&path);
        buf_addf(&path, "%.*s/%s", (int)from.n, from.p, names.p + i);
        r = out_any(d, buf_str(&path), fd, names.p + i, depth + 1, err);
    }
    return r;
}

static int out_any(struct driver *d, struct str from, int dir, const char *name, int depth, struct err *err)
{
    const struct wire_fs q = {.op = WIRE_FS_STAT, .path = from};
    struct wire_reply rep;
    int r = ask(d, &q, &rep, err);
    if (r)
        return r;
    struct wire_stat st = rep.st;
    if (S_ISDIR(st.mode))
        return out_dir(d, from, &st, dir, name, depth, err);
    if (S_ISLNK(st.mode))
        return out_link(d, from, dir, name, err);
    if (S_ISREG(st.mode))
        return out_file(d, from, &st, dir, name, err);
    return err_set(err, -EINVAL, "%.*s: only files, directories and symbolic links can be copied out", (int)from.n,
                   from.p);
}

/* An existing directory takes the source under its own name, as cp(1) does. */
static char *destination(const struct cli_copy *c)
{
    struct stat st;
    struct str from = str_c(c->from);
    while (from.n > 1 && from.p[from.n - 1] == '/')
        from.n--;
    size_t base = from.n;
    while (base && from.p[base - 1] != '/')
        base--;
    if (stat(c->to, &st) || !S_ISDIR(st.st_mode) || base == from.n)
        return mem_dup(c->to, strlen(c->to));
    BUF_AUTO struct buf b;
    buf_init(&b, 2 * LIMIT_PATH);
    buf_addf(&b, "%s/%.*s", c->to, (int)(from.n - base), from.p + base);
    return buf_take(&b);
}

int cli_copy_out(struct driver *d, const struct cli_copy *c, struct err *err)
{
    MEM_AUTO char *to = destination(c);
    int r = out_any(d, str_c(c->from), AT_FDCWD, to, 0, err);
    return r ? err_wrap(err, r, "--copy-out %s", c->from) : 0;
}
