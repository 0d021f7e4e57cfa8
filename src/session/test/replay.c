/* SPDX-License-Identifier: Apache-2.0 */
#include "session/test/replay.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/test/test.h"
#include "vfs/vfs.h"

static uint64_t rnd_state;

static size_t rnd(size_t n)
{
    if (!rnd_state)
        rnd_state = test_seed();
    return (size_t)test_rand(&rnd_state) % n;
}

/* ---- recordings ---- */

static void on_event(void *arg, const struct session_event *e)
{
    struct recording *r = arg;
    if (r->n_events == r->cap_events) {
        r->cap_events = r->cap_events ? 2 * r->cap_events : 8;
        r->events = mem_realloc(r->events, r->cap_events * sizeof(*r->events));
    }
    r->events[r->n_events] = *e;
    r->events[r->n_events++].data = str_of(mem_dup(e->data.p, e->data.n), e->data.n);
}

static void on_clock(void *arg, const void *p, size_t n)
{
    struct recording *r = arg;
    buf_add(&r->clock, p, n);
}

static void on_inexact(void *arg, const char *why)
{
    struct recording *r = arg;
    r->inexact = why;
}

struct session_tape recording_tape(struct recording *r)
{
    return (struct session_tape){
        .arg = r, .begin = r->begin, .event = on_event, .clock = on_clock, .inexact = on_inexact};
}

static int get_event(void *arg, struct session_event *ret)
{
    struct recording *r = arg;
    if (r->next_event == r->n_events)
        return 0;
    *ret = r->events[r->next_event++];
    return 1;
}

/* In parts of any size. */
static size_t get_clock(void *arg, const void **ret_p)
{
    struct recording *r = arg;
    size_t n = 1 + rnd(100);
    n = NUM_MIN(n, r->clock.n - r->n_clock);
    *ret_p = r->clock.p + r->n_clock;
    r->n_clock += n;
    return n;
}

struct session_playback recording_playback(struct recording *r)
{
    r->n_clock = 0;
    r->next_event = 0;
    return (struct session_playback){.arg = r, .begin = r->begin, .event = get_event, .clock = get_clock};
}

void recording_init(struct recording *r, uint64_t *state)
{
    *r = (struct recording){.begin = {.wall = clock_wall(), .mono = clock_mono()}};
    r->begin.first_pid = (int32_t)(2 + test_rand(state) % 30000);
    for (size_t i = 0; i < sizeof(r->begin.seed); i++)
        r->begin.seed[i] = (uint8_t)test_rand(state);
    buf_init(&r->clock, 64u << 20);
}

void recording_done(struct recording *r)
{
    for (uint32_t i = 0; i < r->n_events; i++)
        mem_free((void *)(uintptr_t)r->events[i].data.p);
    mem_free(r->events);
    buf_done(&r->clock);
}

/* ---- running ---- */

struct run {
    const struct replay_case *c;
    struct session *s;
    struct vfs *tree; /* as it was before */
    bool live;        /* things come from outside */
    size_t fed;       /* bytes of input given */
    bool poked;       /* the case's event has happened */
    bool blocked;     /* output was refused */
    struct buf log;   /* output, with "<1>" where stream 1 goes on, "<2>" for 2 */
    int stream;
    struct wire_result res;
    int32_t next_pid;
};

static ssize_t output(void *arg, int stream, const void *p, size_t n)
{
    struct run *r = arg;
    if (r->c->refuses && rnd(3) == 0) {
        r->blocked = true;
        return -EAGAIN;
    }
    if (r->c->refuses)
        n = 1 + rnd(n);
    if (stream != r->stream)
        buf_adds(&r->log, stream == 1 ? STR("<1>") : STR("<2>"));
    r->stream = stream;
    buf_add(&r->log, p, n);
    return (ssize_t)n;
}

static void feed(struct run *r)
{
    size_t n = strlen(r->c->in);
    if (r->fed > n)
        return;
    if (r->fed == n) {
        session_input_end(r->s);
        r->fed++;
        return;
    }
    size_t k = 1 + rnd(7);
    k = NUM_MIN(k, n - r->fed);
    r->fed += session_input(r->s, str_of(r->c->in + r->fed, k));
}

/* Something comes from outside, or not. */
static void poke(void *arg)
{
    struct run *r = arg;
    const struct replay_case *c = r->c;
    if (!r->live)
        return;
    if (c->in && rnd(3) == 0)
        feed(r);
    if (!c->when || r->poked || !r->log.n || !memmem(r->log.p, r->log.n, c->when, strlen(c->when)))
        return;
    if (rnd(4) != 0)
        return;
    r->poked = true;
    if (c->resize)
        session_resize(r->s, 44, 132);
    if (c->sig)
        session_signal(r->s, c->sig, c->sig_all);
    if (c->close)
        session_close_output(r->s, c->close);
    if (c->kill)
        session_kill(r->s, c->kill);
}

static struct limits limits_of(const struct replay_case *c)
{
    struct limits l = limits_default(), w = c->limits;
    l.wall_ms = w.wall_ms ? w.wall_ms : 60000;
    l.cpu_ms = w.cpu_ms ? w.cpu_ms : l.cpu_ms;
    l.memory = w.memory ? w.memory : l.memory;
    l.output = w.output ? w.output : l.output;
    l.processes = w.processes ? w.processes : l.processes;
    return l;
}

static void pause_until(int64_t wake)
{
    int64_t ns = wake == INT64_MAX ? CLOCK_MS : wake - clock_mono();
    if (ns <= 0)
        return;
    struct timespec ts = {0, (long)NUM_MIN(ns, CLOCK_MS / 2)};
    nanosleep(&ts, NULL);
}

static void run(struct vfs *tmpl, const struct replay_case *c, struct recording *rec, bool live, struct run *r)
{
    *r = (struct run){.c = c, .live = live};
    buf_init(&r->log, 64u << 20);
    const struct session_host host = {.arg = r, .output = output, .want_input = poke, .attend = poke};
    const struct session_config cfg = {.limits = limits_of(c)};
    struct str name = STR("bash");
    const struct wire_exec e = {
        .kind = WIRE_EXEC_TEXT, .text = c->text, .argv = {&name, 1}, .stdin_open = c->in != NULL};
    struct err err = {0};
    struct session *s;
    if (!CHECK_INT(session_new(tmpl, &cfg, &host, &s, &err), 0))
        return;
    r->s = s;
    r->tree = vfs_fork(session_tree(s)); /* the passwd file has been read, and its access time moved */
    if (live) {
        const struct session_tape tape = recording_tape(rec);
        session_record(s, &tape);
    } else {
        const struct session_playback play = recording_playback(rec);
        session_replay(s, &play);
    }
    CHECK_INT(session_exec(s, &e, &err), 0);
    CHECK(session_fresh(s));
    int64_t wake;
    while (!session_step(s, &wake)) {
        CHECK(live || r->blocked);
        poke(r);
        if (live && !r->blocked)
            pause_until(wake);
        if (r->blocked)
            session_output_ready(s);
        r->blocked = false;
    }
    session_result(s, &r->res);
    r->next_pid = session_next_pid(s);
}

static void run_done(struct run *r)
{
    session_free(r->s);
    vfs_free(r->tree);
    buf_done(&r->log);
}

/* ---- comparing ---- */

static bool same_node(struct str path, const struct vfs_stat *a, const struct vfs_stat *b)
{
    bool same = a->ino == b->ino && a->mode == b->mode && a->nlink == b->nlink && a->uid == b->uid &&
                a->gid == b->gid && a->rdev == b->rdev && a->size == b->size && a->blocks == b->blocks &&
                a->atime == b->atime && a->mtime == b->mtime && a->ctime == b->ctime && a->btime == b->btime;
    if (!CHECK(same))
        fprintf(stderr, "# inode of %.*s differs\n", (int)path.n, path.p);
    return same;
}

static void same_dirs(struct vfs *a, struct vfs *b, uint64_t dir, uint64_t dev, struct buf *path)
{
    char after[LIMIT_NAME + 1];
    struct vfs_dirent x, y;
    size_t n = 0;
    for (;;) {
        int r = vfs_dir_next(a, dir, str_of(after, n), &x), q = vfs_dir_next(b, dir, str_of(after, n), &y);
        if (!CHECK_INT(r, q) || r != 1)
            return;
        n = x.name.n;
        memcpy(after, x.name.p, n);
        if (!CHECK_STR(x.name, y.name))
            return;
        struct vfs_stat st, su;
        size_t len = path->n;
        buf_putc(path, '/');
        buf_add(path, after, n);
        uint64_t ino = x.ino;
        if (vfs_stat_ino(a, ino, &st) == 0 && vfs_stat_ino(b, y.ino, &su) == 0 && st.dev == dev &&
            same_node(buf_str(path), &st, &su) && S_ISDIR(st.mode))
            same_dirs(a, b, ino, dev, path);
        path->n = len;
    }
}

static int on_change(void *arg, const struct vfs_change *c)
{
    (void)arg;
    fprintf(stderr, "# %.*s differs\n", (int)c->path.n, c->path.p);
    return 1;
}

void replay_same_trees(struct vfs *a, struct vfs *b)
{
    struct vfs_stat root;
    struct buf path BUF_AUTO;
    buf_init(&path, LIMIT_PATH * 4);
    CHECK_INT(vfs_diff(a, b, on_change, NULL), 0);
    CHECK_INT(vfs_stat_ino(a, VFS_ROOT_INO, &root), 0);
    same_dirs(a, b, VFS_ROOT_INO, root.dev, &path);
}

static void same_runs(struct run *a, struct run *b)
{
    CHECK_STR(buf_str(&b->log), buf_str(&a->log));
    CHECK_INT(b->res.outcome.kind, a->res.outcome.kind);
    CHECK_INT(b->res.outcome.code, a->res.outcome.code);
    CHECK_INT(b->res.outcome.signal, a->res.outcome.signal);
    CHECK_INT(b->res.outcome.reason, a->res.outcome.reason);
    CHECK_INT(b->res.output_bytes, a->res.output_bytes);
    CHECK_INT(b->res.processes, a->res.processes);
    CHECK_INT(b->res.files_bytes, a->res.files_bytes);
    CHECK_INT(b->res.inodes, a->res.inodes);
    CHECK_INT(b->next_pid, a->next_pid);
    replay_same_trees(session_tree(a->s), session_tree(b->s));
}

void replay_check(struct vfs *tmpl, const struct replay_case *c)
{
    struct recording rec;
    struct run first, again;
    (void)rnd(1);
    recording_init(&rec, &rnd_state);
    run(tmpl, c, &rec, true, &first);
    if (c->reason)
        CHECK_INT(first.res.outcome.reason, c->reason);
    CHECK(!c->when || first.poked);
    CHECK(!rec.inexact);
    run(first.tree, c, &rec, false, &again);
    const char *what = "";
    bool ok = CHECK_INT(session_replayed(again.s, &what), 0);
    same_runs(&first, &again);
    if (!ok)
        fprintf(stderr, "# case %s: %s\n# text: %.*s\n", c->name, what, (int)NUM_MIN(c->text.n, (size_t)2000),
                c->text.p);
    run_done(&first);
    run_done(&again);
    recording_done(&rec);
}

void replay_check_spoiled(struct vfs *tmpl, const struct replay_case *c, void (*spoil)(struct recording *r))
{
    struct recording rec;
    struct run first, again;
    (void)rnd(1);
    recording_init(&rec, &rnd_state);
    run(tmpl, c, &rec, true, &first);
    spoil(&rec);
    run(first.tree, c, &rec, false, &again);
    const char *what = "";
    CHECK_INT(session_replayed(again.s, &what), -EILSEQ);
    CHECK(*what);
    run_done(&first);
    run_done(&again);
    recording_done(&rec);
}
