/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/sed_int.h"

#include <errno.h>

#include "base/num.h"
#include "types/errtab.h"

/*
 * The input files as one stream of lines, or with -s and -i each as a stream of its own.
 *
 * Whether a line is the last may depend on the files that follow: then they are opened at once, which the messages
 * about missing ones and the command F show, in the real one as well.
 */

/* What is taken from a pipe at a time: what stdio takes, so that as much is left to the next reader. */
#define PIPE_BLOCK 4096u

/* ---- readers ---- */

/* Reads more behind what is there; the buffer is empty then. 1, 0 at the end, or -errno. */
static int fill(struct sed *s, struct sed_reader *r, bool one)
{
    if (r->eof || r->fd < 0)
        return 0;
    if (!r->buf)
        r->buf = cmd_block_get();
    r->pos = r->end = 0;
    ssize_t n;
    if (s->unbuffered) {
        /* No byte behind the line is taken. */
        const void *p;
        size_t have;
        n = proc_peek(s->c->p, r->fd, &p, &have);
        if (n == 0 && have > 0) {
            const char *e = memchr(p, s->delim, have);
            n = (ssize_t)(one ? NUM_MIN(have, 1) : NUM_MIN(e ? (size_t)(e - (const char *)p) + 1 : have, CMD_BLOCK));
            memcpy(r->buf, p, (size_t)n);
            proc_consume(s->c->p, r->fd, (size_t)n);
        }
    } else {
        n = proc_read(s->c->p, r->fd, r->buf, r->regular ? CMD_BLOCK : PIPE_BLOCK);
    }
    if (n < 0)
        return (int)n;
    r->end = (size_t)n;
    r->eof = n == 0;
    return n > 0;
}

int sed_reader_line(struct sed *s, struct sed_reader *r, struct sed_space *to, bool *ret_whole)
{
    bool any = false;
    *ret_whole = false;
    for (;;) {
        if (r->pos == r->end) {
            int k = fill(s, r, false);
            if (k < 0)
                return sed_fail(s, SED_PANIC, "read error on %s: %s", r->name, errtab_text(k));
            if (k == 0)
                return any;
        }
        const char *p = r->buf + r->pos, *e = memchr(p, s->delim, r->end - r->pos);
        size_t n = e ? (size_t)(e - p) : r->end - r->pos;
        if (sed_add(s, to, p, n) < 0)
            return -1;
        r->pos += n + (e != NULL);
        any = true;
        if (e) {
            *ret_whole = true;
            return 1;
        }
    }
}

/* Puts what was read and not taken back, where that can be done. */
static void give_back(struct sed *s, struct sed_reader *r)
{
    if (r->fd >= 0 && r->pos < r->end)
        (void)proc_lseek(s->c->p, r->fd, -(int64_t)(r->end - r->pos), SEEK_CUR);
    r->pos = r->end = 0;
}

static void reader_done(struct sed *s, struct sed_reader *r, bool close)
{
    cmd_block_put(r->buf);
    r->buf = NULL;
    if (close && r->fd > 2)
        proc_close(s->c->p, r->fd);
    r->fd = -1;
}

void sed_input_done(struct sed *s)
{
    give_back(s, &s->std_in);
    reader_done(s, &s->std_in, false);
    if (s->reading == &s->input)
        reader_done(s, &s->input, true);
    for (struct sed_reader *r = s->files_in; r; r = r->next)
        reader_done(s, r, true);
}

/* ---- files ---- */

int sed_close_input(struct sed *s)
{
    struct sed_reader *r = s->reading;
    if (!r)
        return 0;
    s->reading = NULL;
    if (r == &s->input)
        reader_done(s, r, true);
    return s->in_place ? sed_edit_end(s) : 0;
}

/* Opens the next file; one that cannot be opened leaves none open. 0 or -1. */
static int open_next(struct sed *s)
{
    const char *name = *s->files++;
    struct vfs_stat st;
    s->file_name = name;
    if (strcmp(name, "-") == 0 && !s->in_place) {
        s->reading = &s->std_in;
        s->std_in.eof = false;
        return 0;
    }
    int fd = cmd_open_safe(s->c, name, O_RDONLY, 0);
    if (fd < 0) {
        if (!s->c->p->must_end)
            cmd_err_raw(s->c, arena_printf(s->c->arena, "%s: can't read %s: %s\n", s->c->name, name, errtab_text(fd)));
        s->unreadable++;
        return s->c->p->must_end ? -1 : 0;
    }
    bool regular = proc_fstat(s->c->p, fd, &st) == 0 && S_ISREG(st.mode);
    s->input = (struct sed_reader){.name = name, .fd = fd, .regular = regular};
    s->reading = &s->input;
    return s->in_place ? sed_edit_begin(s, fd) : 0;
}

/* What a new file makes forgotten, when files are separate. */
static int begin_separate(struct sed *s)
{
    s->line_number = 0;
    s->hold.n = 0;
    for (size_t i = 0; i < s->n_cmds; i++) {
        const struct sed_addr *a = s->cmds[i].a1;
        s->cmds[i].range = a && a->kind == SED_ADDR_LINE && a->line == 0 ? SED_RANGE_ON : SED_RANGE_OFF;
    }
    for (struct sed_reader *r = s->files_in; r; r = r->next) {
        if (r->fd < 0 || proc_lseek(s->c->p, r->fd, 0, SEEK_SET) < 0)
            continue;
        r->pos = r->end = 0;
        r->eof = false;
    }
    s->reset_next = s->separate;
    return cmd_poll(s->c);
}

int sed_read_line(struct sed *s, bool append)
{
    if (s->n_appends > 0 && sed_put_appends(s) < 0)
        return -1;
    s->replaced = false;
    if (!append)
        s->space.at = s->space.n = 0;
    s->space.chomped = true;
    for (;;) {
        bool whole;
        int r = s->reading ? sed_reader_line(s, s->reading, &s->space, &whole) : 0;
        if (r < 0)
            return -1;
        if (r == 1) {
            s->space.chomped = whole;
            s->line_number++;
            return 1;
        }
        if (sed_close_input(s) < 0)
            return -1;
        if (!*s->files)
            return 0;
        if (s->reset_next && begin_separate(s) < 0)
            return -1;
        if (open_next(s) < 0)
            return -1;
    }
}

/* Whether more can be read from the open file: a directory gives an error later, and none here. */
static bool has_more(struct sed *s)
{
    struct sed_reader *r = s->reading;
    return r && (r->pos < r->end || fill(s, r, true) == 1);
}

int sed_is_last(struct sed *s)
{
    if (has_more(s))
        return 0;
    if (s->separate)
        return 1;
    for (;;) {
        if (cmd_poll(s->c) < 0 || sed_close_input(s) < 0)
            return -1;
        if (!*s->files)
            return 1;
        if (open_next(s) < 0)
            return -1;
        if (has_more(s))
            return 0;
    }
}
