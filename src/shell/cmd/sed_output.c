/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/sed_int.h"

#include <errno.h>

#include "base/num.h"
#include "types/errtab.h"

/* Where text goes: standard output, the files of w, and the new files of -i. */

/* ---- bytes ---- */

static int write_all(struct sed *s, struct sed_out *o, const char *p, size_t n)
{
    s->c->written = true;
    while (n > 0) {
        ssize_t w = proc_write(s->c->p, o->fd, p, n);
        if (w < 0)
            return sed_fail(s, SED_PANIC, "couldn't write %zu item%s to %s: %s", n, n == 1 ? "" : "s", o->name,
                            errtab_text((int)w));
        p += w;
        n -= (size_t)w;
    }
    return 0;
}

int sed_flush(struct sed *s, struct sed_out *o)
{
    size_t n = o->n;
    if (o->fd == 1)
        return cmd_flush(s->c) < 0 ? -1 : 0;
    o->n = 0;
    return n > 0 ? write_all(s, o, o->pending, n) : 0;
}

int sed_flush_unbuffered(struct sed *s, struct sed_out *o)
{
    return s->unbuffered ? sed_flush(s, o) : 0;
}

int sed_put(struct sed *s, struct sed_out *o, const char *p, size_t n)
{
    if (o->fd == 1)
        return cmd_write(s->c, p, n) < 0 ? -1 : 0;
    if (o->fd == 2)
        return write_all(s, o, p, n);
    if (!o->pending && !(o->pending = mem_try(SED_OUT_BLOCK)))
        return sed_no_memory(s);
    if (n > SED_OUT_BLOCK - o->n && sed_flush(s, o) < 0)
        return -1;
    if (n > SED_OUT_BLOCK)
        return write_all(s, o, p, n);
    memcpy(o->pending + o->n, p, n);
    o->n += n;
    return 0;
}

int sed_put_missing(struct sed *s, struct sed_out *o)
{
    if (!o->missing_newline)
        return 0;
    o->missing_newline = false;
    return sed_put(s, o, &s->delim, 1);
}

int sed_put_line(struct sed *s, struct sed_out *o, const char *p, size_t n, bool whole)
{
    if (sed_put_missing(s, o) < 0 || (n > 0 && sed_put(s, o, p, n) < 0))
        return -1;
    if (!whole)
        o->missing_newline = true;
    else if (sed_put(s, o, &s->delim, 1) < 0)
        return -1;
    return sed_flush_unbuffered(s, o);
}

int sed_put_file(struct sed *s, struct sed_out *o, const char *name)
{
    int fd = cmd_open_safe(s->c, name, O_RDONLY, 0), r = 0;
    if (fd < 0)
        return s->c->p->must_end ? -1 : 0;
    char *block = cmd_block_get();
    for (;;) {
        ssize_t n = proc_read(s->c->p, fd, block, CMD_BLOCK);
        if (n < 0)
            r = sed_fail(s, SED_PANIC, "read error on %s: %s", name, errtab_text((int)n));
        if (n <= 0)
            break;
        r = sed_put(s, o, block, (size_t)n);
        if (r < 0 || cmd_poll(s->c) < 0) {
            r = -1;
            break;
        }
    }
    cmd_block_put(block);
    proc_close(s->c->p, fd);
    return r;
}

int sed_put_appends(struct sed *s)
{
    int r = sed_put_missing(s, s->out);
    for (size_t i = 0; i < s->n_appends; i++) {
        struct sed_append *a = &s->appends[i];
        if (r == 0)
            r = a->file ? sed_put_file(s, s->out, a->file) : sed_put(s, s->out, a->text.p, a->text.n);
        mem_free(a->owned);
    }
    s->n_appends = 0;
    return r < 0 ? r : sed_flush_unbuffered(s, s->out);
}

/* ---- files that a script names ---- */

int sed_file_out(struct sed_parse *ps, const char *name, struct sed_out **ret)
{
    struct sed *s = ps->s;
    if (strcmp(name, "/dev/stdin") == 0) {
        cmd_refuse(s->c, "writing to /dev/stdin is not implemented here");
        s->status = SED_BAD_USAGE;
        return -1;
    }
    *ret = strcmp(name, "/dev/stdout") == 0 ? &s->dev_out : strcmp(name, "/dev/stderr") == 0 ? &s->dev_err : NULL;
    for (struct sed_out *o = s->files_out; o && !*ret; o = o->next)
        if (strcmp(o->name, name) == 0)
            *ret = o;
    if (*ret)
        return 0;
    int fd = cmd_open_safe(s->c, name, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd < 0)
        return sed_fail(s, SED_PANIC, "couldn't open file %s: %s", name, errtab_text(fd));
    struct sed_out *o = ARENA_NEW(s->c->keep, struct sed_out);
    *o = (struct sed_out){.name = name, .fd = fd, .next = s->files_out};
    s->files_out = *ret = o;
    return 0;
}

int sed_file_in(struct sed_parse *ps, const char *name, struct sed_reader **ret)
{
    struct sed *s = ps->s;
    if (strcmp(name, "/dev/stdout") == 0 || strcmp(name, "/dev/stderr") == 0) {
        cmd_refuse(s->c, "reading from %s is not implemented here", name);
        s->status = SED_BAD_USAGE;
        return -1;
    }
    *ret = strcmp(name, "/dev/stdin") == 0 ? &s->std_in : NULL;
    for (struct sed_reader *r = s->files_in; r && !*ret; r = r->next)
        if (strcmp(r->name, name) == 0)
            *ret = r;
    if (*ret)
        return 0;
    struct sed_reader *r = ARENA_NEW(s->c->keep, struct sed_reader);
    *r = (struct sed_reader){.name = name, .fd = cmd_open_safe(s->c, name, O_RDONLY, 0), .next = s->files_in};
    s->files_in = *ret = r;
    return s->c->p->must_end ? -1 : 0;
}

/* ---- -i ---- */

#define EDIT_TRIES 100

int sed_edit_begin(struct sed *s, int fd)
{
    struct cmd *c = s->c;
    const char *slash = strrchr(s->file_name, '/');
    if (proc_isatty(c->p, fd))
        return sed_fail(s, SED_PANIC, "couldn't edit %s: is a terminal", s->file_name);
    if (proc_fstat(c->p, fd, &s->in_place_st) < 0 || !S_ISREG(s->in_place_st.mode))
        return sed_fail(s, SED_PANIC, "couldn't edit %s: not a regular file", s->file_name);
    const char *dir = slash ? arena_dup(c->arena, s->file_name, (size_t)(slash - s->file_name)) : ".";
    char *name = arena_printf(c->arena, "%s/sedXXXXXX", dir);
    int new = -EEXIST;
    for (int i = 0; i < EDIT_TRIES && new == -EEXIST; i++) {
        cmd_random_letters(c, name + strlen(name) - 6, 6);
        new = cmd_open_safe(c, name, O_RDWR | O_CREAT | O_EXCL, 0600);
    }
    if (new < 0)
        return sed_fail(s, SED_PANIC, "couldn't open temporary file %s: %s", name, errtab_text(new));
    s->edited = (struct sed_out){.name = name, .fd = new, .pending = s->edited.pending};
    s->edited_name = name;
    s->out = &s->edited;
    return 0;
}

/* The name of the old file: * in the suffix stands for the name, and a suffix without one follows it. */
static const char *backup_name(struct sed *s)
{
    BUF_AUTO struct buf b;
    buf_init(&b, LIMIT_LINE);
    if (!strchr(s->suffix, '*'))
        buf_addc(&b, s->file_name);
    for (const char *p = s->suffix; *p; p++) {
        if (*p == '*')
            buf_addc(&b, s->file_name);
        else
            buf_putc(&b, *p);
    }
    return b.err ? NULL : arena_dup(s->c->arena, b.p, b.n);
}

static int rename_to(struct sed *s, const char *from, const char *to)
{
    struct vfs_ctx ctx = cmd_ctx(s->c);
    int r = vfs_rename(cmd_vfs(s->c), &ctx, 0, str_c(from), 0, str_c(to), 0);
    return r < 0 ? sed_fail(s, SED_PANIC, "cannot rename %s: %s", from, errtab_text(r)) : 0;
}

int sed_edit_end(struct sed *s)
{
    struct vfs *v = cmd_vfs(s->c);
    struct vfs_ctx ctx = cmd_ctx(s->c);
    uint64_t ino = proc_fd_ino(s->c->p, s->edited.fd);
    if (sed_flush(s, &s->edited) < 0)
        return -1;
    /* Who owned the old file owns the new one, where that is allowed; failing is no error. */
    if (vfs_chown(v, ctx.cred, ino, s->in_place_st.uid, s->in_place_st.gid) < 0)
        (void)vfs_chown(v, ctx.cred, ino, UINT32_MAX, s->in_place_st.gid);
    (void)vfs_chmod(v, ctx.cred, ino, s->in_place_st.mode & 07777);
    proc_close(s->c->p, s->edited.fd);
    s->edited.fd = -1;
    if (s->suffix) {
        const char *backup = backup_name(s);
        if (!backup)
            return sed_no_memory(s);
        if (rename_to(s, s->file_name, backup) < 0)
            return -1;
    }
    if (rename_to(s, s->edited_name, s->file_name) < 0)
        return -1;
    s->edited_name = NULL;
    s->out = &s->std_out;
    return 0;
}

void sed_output_done(struct sed *s)
{
    for (struct sed_out *o = s->files_out; o; o = o->next) {
        (void)sed_flush(s, o);
        mem_free(o->pending);
        proc_close(s->c->p, o->fd);
    }
    if (s->edited.fd > 2)
        proc_close(s->c->p, s->edited.fd);
    if (s->edited_name) {
        struct vfs_ctx ctx = cmd_ctx(s->c);
        (void)vfs_unlink(cmd_vfs(s->c), &ctx, 0, str_c(s->edited_name));
    }
    mem_free(s->edited.pending);
}
