/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/sort_int.h"

#include <errno.h>

#include "base/num.h"

#define READ_MAX (1u << 20) /* bytes read at once */
#define LINE_COST 32        /* bytes a line needs beside its text: a record, and as much again to sort by comparison */
#define RUNS_AT_ONCE 64     /* merged together */
#define RUNS_MAX 256        /* so many become one: each has a descriptor */
#define BUDGET_MIN (1u << 20)
#define BUDGET_MAX (UINT64_C(3) << 30) /* offsets have 32 bits */

/* Bytes that a chunk may use: half of what the account has left, as others of the pipeline need some too. */
static size_t budget(const struct cmd *c)
{
    uint64_t limit = proc_set_limits(c->p->ps)->memory, used = proc_mem_used(c->p->ps);
    uint64_t left = limit > used ? (limit - used) / 2 : 0;
    return NUM_MAX(NUM_MIN(left, BUDGET_MAX), (uint64_t)BUDGET_MIN);
}

struct reader {
    struct sort *s;
    struct sort_chunk k;
    size_t budget;
    struct sort_input *runs;
    size_t n_runs, cap_runs;
};

/* Room for @want bytes and a delimiter behind the text. */
static int text_room(struct reader *r, size_t want)
{
    struct sort_chunk *k = &r->k;
    size_t need = k->text_n + want + 1;
    if (need <= k->text_cap)
        return 0;
    size_t cap = k->text_cap ? k->text_cap * 2 : need;
    cap = NUM_MAX(NUM_MIN(cap, r->budget), need);
    if (cap > UINT32_MAX)
        return -ENOMEM;
    char *t = mem_try_realloc(k->text, cap);
    if (!t)
        return -ENOMEM;
    k->text = t;
    k->text_cap = cap;
    return 0;
}

static int rec_room(struct sort_chunk *k)
{
    size_t cap = k->cap ? k->cap * 2 : 256;
    struct sort_rec *v = mem_try_realloc(k->v, cap * sizeof *v);
    if (!v)
        return -ENOMEM;
    k->v = v;
    k->cap = cap;
    return 0;
}

/* Makes records of the lines that are whole. */
static int scan(struct reader *r)
{
    struct sort_chunk *k = &r->k;
    const char *p = k->text + k->scanned, *end = k->text + k->text_n;
    for (const char *e; (e = memchr(p, r->s->delim, (size_t)(end - p))); p = e + 1) {
        if (k->n == k->cap && rec_room(k) < 0)
            return -ENOMEM;
        k->v[k->n++] = (struct sort_rec){0, (uint32_t)(p - k->text), (uint32_t)(e - p)};
    }
    k->scanned = (size_t)(p - k->text);
    return 0;
}

/* Puts the sorted lines out, of equal ones the first when -u. */
static void put_all(struct reader *r, struct sort_out *o)
{
    struct sort *s = r->s;
    const struct sort_chunk *k = &r->k;
    struct str last = {NULL, 0};
    for (size_t i = 0; i < k->n && cmd_poll(s->c) == 0; i++) {
        struct str line = str_of(k->text + k->v[i].off, k->v[i].n);
        if (i + 12 < k->n)
            __builtin_prefetch(k->text + k->v[i + 12].off);
        if (s->unique && last.p && sort__compare(s, last, line) == 0)
            continue;
        last = line;
        if (sort__put(o, line, true) < 0)
            break;
    }
}

static int out_of_memory(struct sort *s)
{
    return cmd_no_memory(s->c);
}

static int order(struct reader *r)
{
    int e = sort__order(r->s, &r->k);
    return e == -ENOMEM ? out_of_memory(r->s) : e < 0 ? 2 : 0;
}

/* Writes the lines that are whole to a run. */
static int spill(struct reader *r)
{
    struct sort_chunk *k = &r->k;
    struct sort_out o;
    if (r->n_runs == r->cap_runs) {
        r->cap_runs = r->cap_runs ? r->cap_runs * 2 : 16;
        r->runs = mem_realloc(r->runs, r->cap_runs * sizeof *r->runs);
    }
    int st = order(r);
    if (st == 0)
        st = sort__run_begin(r->s, &o);
    if (st)
        return st;
    put_all(r, &o);
    st = sort__run_end(&o, &r->runs[r->n_runs]);
    if (st)
        return st;
    if (++r->n_runs == RUNS_MAX) {
        st = sort__merge_run(r->s, r->runs, r->n_runs, &r->runs[0]);
        if (st)
            return st;
        r->n_runs = 1;
    }
    memmove(k->text, k->text + k->scanned, k->text_n - k->scanned);
    k->text_n -= k->scanned;
    k->scanned = k->n = 0;
    return 0;
}

/* Bytes to read next: all of a regular file at first, so that it needs no growing. */
static size_t first_read(struct reader *r, int fd)
{
    struct vfs_stat st;
    if (proc_fstat(r->s->c->p, fd, &st) < 0 || !S_ISREG(st.mode))
        return CMD_BLOCK;
    return (size_t)NUM_MIN(st.size + 1, (uint64_t)r->budget);
}

static int read_file(struct reader *r, int fd, const char *name)
{
    struct sort *s = r->s;
    struct sort_chunk *k = &r->k;
    size_t want = first_read(r, fd);
    for (;;) {
        if (text_room(r, want) < 0)
            return out_of_memory(s);
        ssize_t n = proc_read(s->c->p, fd, k->text + k->text_n, NUM_MIN(k->text_cap - k->text_n - 1, (size_t)READ_MAX));
        if (n < 0)
            return sort__fail(s, "read failed", name, (int)n);
        if (n == 0 && k->text_n > k->scanned) { /* the last line lacks its delimiter */
            k->text[k->text_n++] = s->delim;
            n = -1;
        }
        k->text_n += n > 0 ? (size_t)n : 0;
        if (scan(r) < 0)
            return out_of_memory(s);
        if (n <= 0 || cmd_poll(s->c) < 0)
            return 0;
        if (k->n > 0 && k->text_n + k->n * LINE_COST > r->budget) {
            int st = spill(r);
            if (st)
                return st;
        }
        want = k->text_cap - k->text_n > CMD_BLOCK ? CMD_BLOCK : k->text_cap > CMD_BLOCK ? CMD_BLOCK : 1;
    }
}

static int read_all(struct reader *r, char **files, size_t n)
{
    struct cmd *c = r->s->c;
    for (size_t i = 0; i < n && !c->p->must_end; i++) {
        struct vfs_stat sb;
        int fd = cmd_open_input(c, files[i]);
        if (fd < 0)
            return sort__fail(r->s, "open failed", files[i], fd);
        int e = proc_fstat(c->p, fd, &sb);
        int st = e < 0 ? sort__fail(r->s, "stat failed", files[i], e) : read_file(r, fd, files[i]);
        cmd_close_input(c, fd);
        if (st)
            return st;
    }
    return 0;
}

int sort__files(struct sort *s, char **files, size_t n)
{
    struct reader r = {.s = s, .budget = budget(s->c)};
    int st = read_all(&r, files, n);
    if (st == 0 && r.n_runs == 0) {
        st = order(&r);
        if (st == 0) {
            struct sort_out o;
            sort__out_begin(s, &o);
            put_all(&r, &o);
        }
    } else if (st == 0) {
        if (r.k.n > 0)
            st = spill(&r);
        mem_free(r.k.text);
        mem_free(r.k.v);
        r.k = (struct sort_chunk){0};
        s->batch = NUM_MAX(s->batch, (size_t)RUNS_AT_ONCE);
        if (st == 0)
            st = sort__merge(s, r.runs, r.n_runs);
    }
    mem_free(r.k.text);
    mem_free(r.k.v);
    mem_free(r.runs);
    return st;
}
