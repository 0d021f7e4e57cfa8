/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/sort_int.h"

#include <errno.h>

#include "base/num.h"

#define SOURCE_BLOCK 32768u /* bytes of a source's buffer */

int sort__fail(struct sort *s, const char *what, const char *file, int err)
{
    struct cmd *c = s->c;
    cmd_errno(c, err, "%s: %s", what, cmd_quote(c, file ? file : "standard output", false));
    return 2;
}

/* ---- where lines go ---- */

int sort__run_begin(struct sort *s, struct sort_out *o)
{
    struct proc *p = s->c->p;
    struct vfs_ctx ctx = cmd_ctx(s->c);
    struct vfs_handle *h;
    int r = vfs_open_anon(cmd_vfs(s->c), &ctx, 0600, &h);
    if (r == 0) {
        struct proc_file *f = proc_file_vfs(p->ps, h, O_RDWR);
        r = proc_install(p, f, 3, true);
        if (r < 0)
            proc_file_unref(f);
    }
    if (r < 0) {
        cmd_errno(s->c, r, "cannot create temporary file");
        return 2;
    }
    *o = (struct sort_out){.s = s, .fd = r};
    buf_init(&o->b, CMD_BLOCK);
    return 0;
}

void sort__out_begin(struct sort *s, struct sort_out *o)
{
    *o = (struct sort_out){.s = s, .fd = 1};
    struct vfs_stat st;
    if (s->outfile && proc_fstat(s->c->p, 1, &st) == 0 && S_ISREG(st.mode))
        o->err = proc_ftruncate(s->c->p, 1, 0);
}

static int run_flush(struct sort_out *o)
{
    const char *p = o->b.p;
    for (size_t n = o->b.n; n > 0 && o->err == 0;) {
        ssize_t w = proc_write(o->s->c->p, o->fd, p, n);
        if (w < 0) {
            o->err = (int)w;
        } else {
            p += w;
            n -= (size_t)w;
        }
    }
    buf_trunc(&o->b, 0);
    return o->err;
}

int sort__run_end(struct sort_out *o, struct sort_input *ret)
{
    int r = run_flush(o);
    buf_done(&o->b);
    if (r == 0)
        r = (int)NUM_MIN(proc_lseek(o->s->c->p, o->fd, 0, SEEK_SET), (int64_t)0);
    if (r < 0) {
        proc_close(o->s->c->p, o->fd);
        return sort__fail(o->s, "write failed", "temporary file", r);
    }
    *ret = (struct sort_input){.fd = o->fd};
    return 0;
}

int sort__put(struct sort_out *o, struct str line, bool delimited)
{
    struct sort *s = o->s;
    if (o->fd == 1) {
        s->written += line.n + 1;
        if (delimited)
            return cmd_write(s->c, line.p, line.n + 1);
        cmd_write(s->c, line.p, line.n);
        return cmd_putc(s->c, s->delim);
    }
    while (line.n > CMD_BLOCK - o->b.n) {
        size_t n = CMD_BLOCK - o->b.n;
        buf_add(&o->b, line.p, n);
        line = str_from(line, n);
        if (run_flush(o) < 0)
            return o->err;
    }
    buf_adds(&o->b, line);
    if (o->b.n == CMD_BLOCK && run_flush(o) < 0)
        return o->err;
    buf_putc(&o->b, s->delim);
    return o->b.err ? (o->err = o->b.err) : o->err;
}

/* ---- merging ---- */

/* An input with its next line. */
struct source {
    struct cmd_lines l;
    const char *name;
    size_t index; /* of equal lines, the one of the earlier input comes first */
    struct str line;
    uint64_t word;
};

struct merge {
    struct sort *s;
    struct source *v;
    struct source **heap;
    size_t n; /* sources with a line: those in the heap */
};

static bool before(struct merge *m, const struct source *a, const struct source *b)
{
    if (a->word != b->word)
        return a->word < b->word;
    int r = sort__compare(m->s, a->line, b->line);
    return r ? r < 0 : a->index < b->index;
}

/* Puts heap[i] where it belongs below. */
static void sift(struct merge *m, size_t i)
{
    struct source *x = m->heap[i];
    for (;;) {
        size_t k = 2 * i + 1;
        if (k >= m->n)
            break;
        if (k + 1 < m->n && before(m, m->heap[k + 1], m->heap[k]))
            k++;
        if (!before(m, m->heap[k], x))
            break;
        m->heap[i] = m->heap[k];
        i = k;
    }
    m->heap[i] = x;
}

/* The next line of a source: 1, 0 at its end, or a negative errno. */
static int advance(struct merge *m, struct source *x)
{
    struct sort *s = m->s;
    int r = cmd_lines_next(&x->l, &x->line, NULL);
    if (r > 0) {
        x->word = sort__word(s, &s->stages[0], x->line, 0);
        if (s->stages[0].reverse)
            x->word = ~x->word;
    }
    return r;
}

static int source_failed(struct sort *s, const struct source *x, int err)
{
    if (err == -ENOMEM)
        return cmd_no_memory(s->c);
    return sort__fail(s, "read failed", x->name ? x->name : "temporary file", err);
}

/* Opens the inputs and reads their first lines; status. */
static int sources_open(struct merge *m, struct sort_input *v, size_t n)
{
    struct sort *s = m->s;
    for (size_t i = 0; i < n; i++) {
        struct source *x = &m->v[i];
        int fd = v[i].name ? cmd_open_input(s->c, v[i].name) : v[i].fd;
        if (fd < 0)
            return sort__fail(s, "open failed", v[i].name, fd);
        x->name = v[i].name;
        x->index = i;
        cmd_lines_init(&x->l, s->c, fd, s->delim);
        x->l.buf = mem_try(SOURCE_BLOCK);
        if (!x->l.buf)
            return cmd_no_memory(s->c);
        x->l.cap = SOURCE_BLOCK;
        v[i].fd = -1; /* the source's from now on */
    }
    for (size_t i = 0; i < n; i++) {
        int r = advance(m, &m->v[i]);
        if (r < 0)
            return source_failed(s, &m->v[i], r);
        if (r > 0)
            m->heap[m->n++] = &m->v[i];
    }
    for (size_t i = m->n / 2; i-- > 0;)
        sift(m, i);
    return 0;
}

/* Takes line after line; status. */
static int merge_lines(struct merge *m, struct sort_out *o)
{
    struct sort *s = m->s;
    struct buf last;
    bool have = false;
    int st = 0;
    buf_init(&last, LIMIT_LINE);
    while (m->n > 0 && st == 0 && cmd_poll(s->c) == 0) {
        struct source *x = m->heap[0];
        bool repeated = s->unique && have && sort__compare(s, buf_str(&last), x->line) == 0;
        if (!repeated && sort__put(o, x->line, false) < 0)
            break;
        if (s->unique && !repeated) {
            buf_clear(&last);
            if (buf_adds(&last, x->line) < 0)
                st = cmd_no_memory(s->c);
            have = true;
        }
        int r = advance(m, x);
        if (r < 0)
            st = source_failed(s, x, r);
        else if (r == 0)
            m->heap[0] = m->heap[--m->n];
        if (m->n > 0)
            sift(m, 0);
    }
    buf_done(&last);
    return st;
}

/* Merges @n inputs into @o; status. */
static int merge_some(struct sort *s, struct sort_input *v, size_t n, struct sort_out *o)
{
    struct merge m = {.s = s};
    m.v = mem_try_zalloc((n + 1) * sizeof *m.v);
    m.heap = mem_try_zalloc((n + 1) * sizeof(void *));
    int st = m.v && m.heap ? sources_open(&m, v, n) : cmd_no_memory(s->c);
    if (st == 0)
        st = merge_lines(&m, o);
    for (size_t i = 0; m.v && i < n; i++)
        if (m.v[i].l.c) {
            cmd_lines_done(&m.v[i].l);
            cmd_close_input(s->c, m.v[i].l.fd);
        }
    mem_free(m.v);
    mem_free(m.heap);
    return st;
}

int sort__merge_run(struct sort *s, struct sort_input *v, size_t n, struct sort_input *ret)
{
    struct sort_out o;
    struct sort_input run;
    int st = sort__run_begin(s, &o);
    if (st)
        return st;
    st = merge_some(s, v, n, &o);
    int end = sort__run_end(&o, &run);
    if (end == 0 && st)
        proc_close(s->c->p, run.fd);
    if (st || end)
        return st ? st : end;
    *ret = run;
    return 0;
}

/*
 * One round that makes fewer inputs of many. In which groups they go matters only for input that is not sorted; it is
 * as in the real tool: full groups, then, when what is left does not fit into the last group of results, as few more as
 * make it fit.
 */
static int merge_round(struct sort *s, struct sort_input *v, size_t *n)
{
    size_t in = 0, out = 0;
    int st = 0;
    for (; st == 0 && *n - in >= s->batch; out++) {
        st = sort__merge_run(s, v + in, s->batch, &v[out]);
        in += s->batch;
    }
    size_t left = *n - in, room = s->batch - out % s->batch;
    if (st == 0 && room < left) {
        size_t k = left - room + 1;
        st = sort__merge_run(s, v + in, k, &v[out++]);
        in += k;
    }
    if (st)
        return st;
    memmove(v + out, v + in, (*n - in) * sizeof *v);
    *n -= in - out;
    return 0;
}

/* An input that is also the output is read to its end first. */
static int save_input(struct sort *s, struct sort_input *in, const struct vfs_stat *out)
{
    struct vfs_stat st;
    if (!in->name)
        return 0;
    int r = strcmp(in->name, "-") == 0 ? proc_fstat(s->c->p, 0, &st) : proc_stat(s->c->p, str_c(in->name), 0, &st);
    if (r < 0 || st.dev != out->dev || st.ino != out->ino)
        return 0;
    return sort__merge_run(s, in, 1, in);
}

int sort__merge(struct sort *s, struct sort_input *v, size_t n)
{
    struct vfs_stat out;
    struct sort_out o;
    size_t all = n;
    int st = 0;
    for (size_t i = 0; i < all; i++)
        if (v[i].name)
            v[i].fd = -1;
    while (st == 0 && n > s->batch)
        st = merge_round(s, v, &n);
    if (st == 0 && proc_fstat(s->c->p, 1, &out) == 0 && S_ISREG(out.mode))
        for (size_t i = 0; i < n && st == 0; i++)
            st = save_input(s, &v[i], &out);
    if (st == 0) {
        sort__out_begin(s, &o);
        st = merge_some(s, v, n, &o);
    }
    return st;
}
