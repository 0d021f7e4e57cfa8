/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What a tenant and its sessions have used. The sums are those of the ENDs in the sessions' logs, which are written
 * once and before anybody is answered: so nothing is counted twice or not at all, whatever process dies. To be had
 * without reading all logs they are kept in the tenant's file `usage`, each with the number of the last event that is
 * in it:
 *
 *   open ID                               an exec is about to begin: the log may be ahead of the sums
 *   ID SEQ EXECS LOST CPU_US BYTE_S REST OUTPUT FILES    the sums up to event SEQ
 *   gone ID SEQ …                         the same of a session that is being removed; if it is there nevertheless, it
 *                                         is not gone
 *   - 0 EXECS …                           of all sessions that are gone
 *
 * The last line of a session counts. When the server starts, logs of sessions that were open are read from SEQ on, the
 * file is written anew, and so it is when it has grown. A log that others have appended to (the command line) is
 * caught up with when its session is opened or removed.
 */

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/num.h"
#include "scheduler/scheduler_int.h"
#include "types/errtab.h"

#define FIELDS 8u
#define FILE_MAX (1u << 30) /* bytes that are read at the start */
#define GROWTH (4u << 20)   /* bytes that are appended before it is written anew, at least */

struct usage_entry {
    struct sched_usage sum;
    uint64_t seq;  /* of the last event that is in it; with open_exec: of the END that it will get */
    uint32_t rest; /* of memory, in byte-microseconds below a byte-second */
    bool open, gone;
    char id[STATE_ID_MAX];
};

struct usage {
    struct sched_tenant *tenant;
    struct map entries; /* by id */
    struct usage_entry total; /* of those that are gone */
    int fd;
    uint64_t written, appended; /* bytes of the file when it was made, and since */
};

/* ---- sums ---- */

static void add_memory(struct usage_entry *e, uint64_t peak, uint64_t wall_us)
{
    __extension__ typedef unsigned __int128 wide;
    wide v = (wide)peak * wall_us + e->rest;
    wide s = v / 1000000u + e->sum.memory_byte_seconds;
    e->sum.memory_byte_seconds = s > UINT64_MAX ? UINT64_MAX : (uint64_t)s;
    e->rest = (uint32_t)(v % 1000000u);
}

static void add_sums(struct sched_usage *to, const struct sched_usage *s)
{
    to->execs += s->execs;
    to->execs_lost += s->execs_lost;
    to->cpu_us += s->cpu_us;
    to->memory_byte_seconds += s->memory_byte_seconds;
    to->output_bytes += s->output_bytes;
    to->files_bytes += s->files_bytes;
}

static struct usage_entry *entry_of(struct usage *u, struct str id)
{
    struct usage_entry *e = map_get(&u->entries, id);
    if (!e) {
        e = mem_zalloc(sizeof(*e));
        memcpy(e->id, id.p, NUM_MIN(id.n, sizeof(e->id) - 1));
        map_set(&u->entries, id, e);
    }
    return e;
}

static void forget(struct usage *u, struct usage_entry *e)
{
    map_del(&u->entries, str_c(e->id));
    mem_free(e);
}

/* It is gone, and counts among those. */
static void bury(struct usage *u, struct usage_entry *e)
{
    e->sum.files_bytes = 0;
    add_sums(&u->total.sum, &e->sum);
    add_memory(&u->total, e->rest, 1);
    forget(u, e);
}

/* ---- from the log ---- */

static void add_end(struct usage_entry *e, const struct trace_end *x)
{
    e->sum.execs++;
    e->sum.execs_lost += x->outcome.kind == OUTCOME_LOST;
    e->sum.cpu_us += x->cpu_us;
    e->sum.output_bytes += x->output_bytes;
    add_memory(e, x->memory_peak, x->wall_us);
}

/* Adds the events behind @e->seq, from the last one backwards. What was imported was used elsewhere. */
static int add_log(struct usage_entry *e, struct trace *t, bool owned)
{
    const uint32_t types = 1u << TRACE_EXEC | 1u << TRACE_END | 1u << TRACE_RESTORE;
    struct trace_pos pos;
    struct trace_event ev;
    bool first = true;
    trace_begin(&pos);
    int r = trace_tail(t, &pos, NULL);
    uint64_t end = pos.seq, seq = e->seq;
    while (r == 0 && (r = trace_last(t, &pos, types, &ev, NULL)) == 1) {
        r = 0;
        if (ev.seq <= e->seq || (ev.type == TRACE_RESTORE && str_starts(ev.u.restore.from, STR("import "))))
            break;
        seq = NUM_MAX(seq, ev.seq);
        if (first && ev.type == TRACE_EXEC && owned) { /* who opens the session now gives it an END that says so */
            e->sum.execs++;
            e->sum.execs_lost++;
            seq = end;
        } else if (first && ev.type == TRACE_EXEC) {
            seq = e->seq; /* it has no END yet: what is before it counts, and it when it has */
        }
        if (ev.type == TRACE_END) {
            if (first)
                e->sum.files_bytes = ev.u.end.files_bytes;
            add_end(e, &ev.u.end);
        }
        first = false;
    }
    trace_pos_done(&pos);
    e->seq = seq;
    return NUM_MIN(r, 0);
}

/* ---- the file ---- */

static void put_entry(struct buf *b, const char *word, const char *id, const struct usage_entry *e)
{
    const struct sched_usage *s = &e->sum;
    const uint64_t v[FIELDS] = {e->seq,  s->execs,        s->execs_lost,  s->cpu_us, s->memory_byte_seconds,
                                e->rest, s->output_bytes, s->files_bytes};
    buf_addf(b, "%s%s", word, id);
    for (size_t i = 0; i < FIELDS; i++)
        buf_addf(b, " %llu", (unsigned long long)v[i]);
    buf_putc(b, '\n');
}

static struct str word_of(struct str *line)
{
    ptrdiff_t sp = str_find(*line, ' ', 0);
    struct str w = str_of(line->p, sp < 0 ? line->n : (size_t)sp);
    *line = str_from(*line, sp < 0 ? line->n : (size_t)sp + 1);
    return w;
}

static bool take_numbers(struct usage_entry *e, struct str line)
{
    uint64_t v[FIELDS];
    for (size_t i = 0; i < FIELDS; i++) {
        if (str_u64(word_of(&line), &v[i]))
            return false;
    }
    if (line.n || v[5] >= 1000000)
        return false;
    e->seq = v[0];
    e->rest = (uint32_t)v[5];
    e->sum = (struct sched_usage){.execs = v[1],
                                  .execs_lost = v[2],
                                  .cpu_us = v[3],
                                  .memory_byte_seconds = v[4],
                                  .output_bytes = v[6],
                                  .files_bytes = v[7]};
    return true;
}

/* What is no whole line is what a process that was killed has left. */
static void take_line(struct usage *u, struct str line)
{
    struct usage_entry read = {.seq = 0};
    struct str w = word_of(&line);
    struct id id;
    bool open = str_eqc(w, "open"), gone = str_eqc(w, "gone");
    if (str_eqc(w, "-")) {
        if (take_numbers(&read, line))
            u->total = read;
        return;
    }
    if (open || gone)
        w = word_of(&line);
    if (id_parse(ID_SESSION, w, &id))
        return;
    if (open) {
        entry_of(u, w)->open = true;
    } else if (take_numbers(&read, line)) {
        struct usage_entry *e = entry_of(u, w);
        e->sum = read.sum;
        e->seq = read.seq;
        e->rest = read.rest;
        e->open = false;
        e->gone = gone;
    }
}

static int path_of(const struct usage *u, const char *suffix, struct buf *path)
{
    buf_init(path, LIMIT_PATH);
    return buf_addf(path, "%s/usage%s", state_path(u->tenant->state), suffix);
}

/* In place of the one before. */
static int write_anew(struct usage *u)
{
    BUF_AUTO struct buf path, tmp, text;
    buf_init(&text, FILE_MAX);
    int r = path_of(u, "", &path), r_tmp = path_of(u, ".new", &tmp);
    put_entry(&text, "", "-", &u->total);
    struct map_iter it = {0};
    while (map_next(&u->entries, &it)) {
        const struct usage_entry *e = it.val;
        put_entry(&text, e->gone ? "gone " : "", e->id, e);
        if (e->open)
            buf_addf(&text, "open %s\n", e->id);
    }
    r = r ? r : r_tmp ? r_tmp : text.err;
    FD_AUTO int fd = r ? -1 : open(tmp.p, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (r == 0)
        r = fd < 0 ? -errno : fd_write_all(fd, buf_str(&text));
    if (r == 0 && rename(tmp.p, path.p))
        r = -errno;
    if (r)
        return r;
    fd_close(&u->fd);
    u->fd = fd_steal(&fd);
    u->written = text.n;
    u->appended = 0;
    return 0;
}

static void append(struct usage *u, struct buf *line)
{
    int r = line->err ? line->err : fd_write_all(u->fd, buf_str(line));
    u->appended += line->n;
    if (r == 0 && u->appended > NUM_MAX(u->written, (uint64_t)GROWTH))
        r = write_anew(u);
    if (r) /* the logs still say it; the sums are behind until the session is opened again */
        log_event(LOG_ERROR, "usage", "tenant=%s error=%s", u->tenant->name, errtab_name(r));
}

static void append_entry(struct usage *u, const char *word, const struct usage_entry *e)
{
    BUF_AUTO struct buf b;
    buf_init(&b, 512);
    put_entry(&b, word, e->id, e);
    append(u, &b);
}

/* ---- what happens to a session ---- */

/* Reads what is behind in its log. */
static void catch_up(struct usage *u, struct usage_entry *e)
{
    struct state_session ses;
    struct trace *t;
    if (state_session_open(u->tenant->state, str_c(e->id), false, 0, &ses, NULL))
        return;
    if (trace_open(fd_steal(&ses.trace_fd), 0, &t, NULL, NULL) == 0) {
        (void)add_log(e, t, false); /* a log that cannot be read is told to who opens the session */
        trace_close(t);
    }
    state_session_close(&ses);
}

void sched__usage_opens(struct sched_session *s)
{
    struct trace *t;
    int fd = fcntl(s->made.trace_fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0 || trace_open(fd, 0, &t, NULL, NULL))
        return;
    (void)add_log(entry_of(s->tenant->usage, str_c(s->id)), t, true);
    trace_close(t);
}

void sched__usage_begins(struct sched_session *s)
{
    struct usage_entry *e = entry_of(s->tenant->usage, str_c(s->id));
    if (e->open)
        return;
    BUF_AUTO struct buf b;
    buf_init(&b, 64);
    e->open = true;
    buf_addf(&b, "open %s\n", s->id);
    append(s->tenant->usage, &b);
}

void sched__usage_ended(struct sched_session *s, const struct wire_result *r)
{
    struct usage_entry *e = entry_of(s->tenant->usage, str_c(s->id));
    if (r->error || r->seq <= e->seq)
        return; /* it never began, or is in the sums */
    const struct trace_end x = {.outcome = r->outcome,
                                .cpu_us = r->cpu_us,
                                .wall_us = r->wall_us,
                                .memory_peak = r->memory_peak,
                                .output_bytes = r->output_bytes};
    add_end(e, &x);
    e->sum.files_bytes = r->files_bytes;
    e->seq = r->seq;
}

void sched__usage_closed(struct sched_session *s)
{
    struct usage_entry *e = map_get(&s->tenant->usage->entries, str_c(s->id));
    if (!e || !e->open)
        return;
    e->open = false;
    append_entry(s->tenant->usage, "", e);
}

void sched__usage_goes(struct sched_session *s)
{
    struct usage_entry *e = entry_of(s->tenant->usage, str_c(s->id));
    catch_up(s->tenant->usage, e);
    append_entry(s->tenant->usage, "gone ", e);
}

void sched__usage_went(struct sched_session *s, bool gone)
{
    struct usage_entry *e = map_get(&s->tenant->usage->entries, str_c(s->id));
    if (e && gone)
        bury(s->tenant->usage, e);
    else if (e)
        append_entry(s->tenant->usage, "", e);
    if (e && !gone)
        e->open = false;
}

/* ---- begin and end ---- */

static int read_file(struct usage *u)
{
    BUF_AUTO struct buf path, text;
    buf_init(&text, FILE_MAX);
    int r = path_of(u, "", &path);
    FD_AUTO int fd = r ? -1 : open(path.p, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (r == 0 && fd < 0)
        return errno == ENOENT ? 0 : -errno;
    r = r ? r : fd_read_all(fd, &text);
    for (struct str rest = buf_str(&text); r == 0 && rest.n;) {
        ptrdiff_t nl = str_find(rest, '\n', 0);
        if (nl < 0)
            break;
        take_line(u, str_of(rest.p, (size_t)nl));
        rest = str_from(rest, (size_t)nl + 1);
    }
    return r;
}

int sched__usage_new(struct sched_tenant *t, struct err *err)
{
    struct usage *u = t->usage = mem_zalloc(sizeof(*u));
    u->tenant = t;
    u->fd = -1;
    int r = read_file(u);
    struct map_iter it = {0};
    while (r == 0 && map_next(&u->entries, &it)) {
        struct usage_entry *e = it.val;
        if (!state_session_is(t->state, e->id)) {
            bury(u, e);
            continue;
        }
        if (e->open || e->gone)
            catch_up(u, e);
        e->open = e->gone = false;
    }
    r = r ? r : write_anew(u);
    return r ? err_set(err, r, "'%s/usage': %s", state_path(t->state), errtab_text(r)) : 0;
}

void sched__usage_free(struct sched_tenant *t)
{
    struct usage *u = t->usage;
    struct map_iter it = {0};
    if (!u)
        return;
    while (map_next(&u->entries, &it))
        mem_free(it.val);
    map_done(&u->entries);
    fd_close(&u->fd);
    mem_free(u);
    t->usage = NULL;
}

int sched__usage_fd(const struct sched_tenant *t)
{
    return fcntl(t->usage->fd, F_DUPFD_CLOEXEC, 0);
}

/* ---- what is asked ---- */

void sched_usage(struct sched_tenant *t, struct sched_usage *ret_all, struct sched_usage *ret_gone)
{
    struct map_iter it = {0};
    *ret_gone = *ret_all = t->usage->total.sum;
    while (map_next(&t->usage->entries, &it))
        add_sums(ret_all, &((const struct usage_entry *)it.val)->sum);
}

/* The place in the sorted @v for @id. */
static uint32_t place_in(struct usage_entry *const *v, uint32_t n, const char *id)
{
    uint32_t lo = 0;
    while (lo < n) {
        uint32_t mid = lo + (n - lo) / 2;
        if (strcmp(v[mid]->id, id) < 0)
            lo = mid + 1;
        else
            n = mid;
    }
    return lo;
}

bool sched_usage_each(struct sched_tenant *t, struct str after, uint32_t most,
                      void (*fn)(void *arg, const char *id, const struct sched_usage *u), void *arg)
{
    struct map_iter it = {0};
    uint32_t n = 0, cap = most + 1;
    MEM_AUTO struct usage_entry **v = mem_alloc(cap * sizeof(*v));
    while (map_next(&t->usage->entries, &it)) {
        struct usage_entry *e = it.val;
        if (str_cmp(str_c(e->id), after) <= 0)
            continue;
        uint32_t at = place_in(v, n, e->id);
        if (at == cap)
            continue; /* behind all that are told */
        n = NUM_MIN(n + 1, cap);
        memmove(v + at + 1, v + at, (n - 1 - at) * sizeof(struct usage_entry *));
        v[at] = e;
    }
    for (uint32_t i = 0; i < n && i < most; i++)
        fn(arg, v[i]->id, &v[i]->sum);
    return n > most;
}

int sched_stored(struct sched_tenant *t, uint64_t *ret, struct err *err)
{
    struct cas_stat st;
    int r = t->store ? 0 : state_store(t->state, 0, &t->store, err);
    if (r == -ENOENT) { /* made with the first session */
        *ret = 0;
        return 0;
    }
    if (r)
        return r;
    r = cas_stat(t->store, &st);
    if (r)
        return err_set(err, r, "the store: %s", errtab_text(r));
    *ret = st.stored_bytes;
    return 0;
}

struct sched_tenant *sched_tenant_next(struct sched *s, struct sched_tenant *t)
{
    return t ? t->next : s->tenants;
}
