/* SPDX-License-Identifier: Apache-2.0 */
#include "session/test/crash_test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/test/test.h"
#include "session/journal_int.h"
#include "vfs/vfs.h"

/* Each leaves another tree than all before it, and another shell. */
static const char *const script[CRASH_STEPS] = {
    "n=1; echo one > a; mkdir -p d/e",
    "n=2; printf '%300000s' x > big; cd d",
    "n=3; f() { echo f$n; }; echo two >> ../a",
    "n=4; for i in {1..60}; do echo $RANDOM > /dev/null; echo $i > e/f$i; done; f",
    "n=5; mv e g; rm g/f7; exit 3",
    "n=6; head -c 150000 ../big > ../part; printf yyy >> ../big",
    "n=7; cd ..; ln -s a link; chmod 600 a; false",
    "n=8; seq 20000 > numbers; seq 20000 | head -c 90000",
    "n=9; rm -r d/g; alias say=echo",
    "n=10; seq 20000 | sed s/9/x/ > numbers",
    "n=11; for i in {1..300}; do mkdir m$i; done",
    "n=12; rm -r m*; echo end > end",
};

static const char look[] =
    "echo $n $PWD; f 2> /dev/null; alias; find ~ | sort | wc; cat ~/{a,big,d/big,numbers,part} 2> /dev/null | wc";

bool crash_guest;
static struct buf output;

static ssize_t take(void *arg, int stream, const void *p, size_t n)
{
    (void)arg;
    (void)stream;
    buf_add(&output, p, n);
    return (ssize_t)n;
}

static const struct session_host host = {.output = take};

int crash_open(struct crash *c, struct crash_told *told, bool durable, bool recheck, struct journal **ret)
{
    const struct session_config sc = {.limits = limits_default()};
    struct err err = {0};
    mkdirat(c->dir, "store", 0700);
    if (!told->made) {
        unlinkat(c->dir, "trace", 0);
        /* A tree remembers what of it is stored, and not where. */
        vfs_free(c->tmpl);
        c->tmpl = session_template(NULL);
    }
    struct journal_config cfg = {
        .lock_fd = -1,
        .fresh = !told->made, .durable = durable, .recheck = recheck, .id = STR("sbx_test"), .config = STR("")};
    cfg.store_fd = openat(c->dir, "store", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    cfg.trace_fd = openat(c->dir, "trace", O_RDWR | O_CLOEXEC | (told->made ? 0 : O_CREAT), 0600);
    if (cfg.store_fd < 0 || cfg.trace_fd < 0) {
        int e = errno;
        close(cfg.store_fd);
        close(cfg.trace_fd);
        return -e;
    }
    int r = journal_open(&cfg, c->tmpl, &sc, &host, ret, &err);
    if (r && getenv("CRASH_TEST_SAY"))
        fprintf(stderr, "# open: %s\n", err.text);
    told->made |= r == 0;
    return r;
}

/* Runs a command to its end: 0, or the error it was answered with. */
static int exec(struct journal *j, const char *text)
{
    const struct wire_exec e = {.kind = WIRE_EXEC_TEXT, .text = str_c(text), .keep = true};
    struct wire_result res;
    struct err err;
    int64_t wake;
    buf_clear(&output);
    int r = journal_exec(j, &e, &err);
    if (r)
        return r;
    crash_guest = true;
    while (!session_step(journal_session(j), &wake))
        ;
    crash_guest = false;
    session_result(journal_session(j), &res);
    journal_ended(j, &res);
    return res.error;
}

int crash_place(const struct crash *c, struct journal *j)
{
    for (int i = 0; i <= CRASH_STEPS; i++) {
        if (cas_id_cmp(&j->state.root, &c->root[i]) == 0)
            return i;
    }
    return cas_id_cmp(&j->state.root, &c->made) == 0 ? 0 : -1;
}

/* One command. What is answered with an error must leave the session as it was; who opens it sees that. */
static int step(struct crash *c, struct journal *j, struct crash_told *told, bool durable)
{
    int at = crash_place(c, j);
    if (!CHECK(told->refused ? at == told->done : at >= told->done))
        return -EBADMSG;
    /* What was not answered when the process died may be there. */
    told->done = at;
    if (at == CRASH_STEPS)
        return 1;
    int r = exec(j, script[at]);
    if (r == 0) {
        told->refused = 0;
        told->done = at + 1;
        if (durable || (at % 5 == 4 && journal_sync(j) == 0))
            told->on_disk = at + 1;
    } else {
        told->refused++;
    }
    return r;
}

void crash_run(struct crash *c, struct crash_told *told, bool durable, int patience)
{
    for (int r = 0, failed = 0; r != 1 && failed <= patience;) {
        struct journal *j = NULL;
        r = crash_open(c, told, durable, false, &j);
        for (int i = 0; r == 0 && i < 4; i++)
            r = step(c, j, told, durable);
        failed += r < 0;
        journal_close(j);
    }
}

static void count_bad(void *arg, const struct cas_id *id, const char *what)
{
    (void)id;
    (void)what;
    ++*(int *)arg;
}

/* No exec is without an end, and one end only. */
static void check_log(struct journal *j)
{
    struct trace_report report;
    struct trace_pos pos;
    struct trace_event e;
    bool running = false;
    if (!CHECK_INT(trace_verify(j->trace, &report), 0))
        fprintf(stderr, "# %s\n", report.what);
    trace_begin(&pos);
    while (trace_next(j->trace, &pos, &e, NULL) == 1) {
        if (e.type == TRACE_EXEC)
            CHECK(!running);
        if (e.type == TRACE_END)
            CHECK(running);
        if (e.type == TRACE_INPUT || e.type == TRACE_OUTPUT || e.type == TRACE_CLOCK || e.type == TRACE_CHANGE)
            CHECK(running);
        running = (running || e.type == TRACE_EXEC) && e.type != TRACE_END;
    }
    CHECK(!running);
    trace_pos_done(&pos);
}

int crash_check(struct crash *c, struct crash_told *told, int least, int most, bool recheck, bool strict)
{
    struct journal *j = NULL;
    struct crash_told mine = {.made = true};
    if (!told->made) /* it was killed before it was answered that there is one */
        return 0;
    if (!CHECK_INT(crash_open(c, &mine, false, recheck, &j), 0))
        return -1;
    int at = crash_place(c, j), bad = 0;
    if (!CHECK(at >= least && at <= most))
        fprintf(stderr, "# is at %d, should be at %d to %d\n", at, least, most);
    check_log(j);
    if (at >= 0) {
        CHECK_INT(exec(j, look), 0);
        CHECK_STR(buf_str(&output), str_c(c->seen[at]));
    }
    CHECK_INT(cas_fsck(j->store, count_bad, NULL, &bad), 0);
    CHECK(bad == 0 || !strict);
    if (at >= 0 && at < CRASH_STEPS) {
        CHECK_INT(exec(j, script[at]), 0);
        CHECK_INT(crash_place(c, j), at + 1);
    }
    journal_close(j);
    return at;
}

static void remove_all(int dir)
{
    DIR *d = fdopendir(dir);
    ASSERT(d);
    for (struct dirent *e; (e = readdir(d));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (unlinkat(dirfd(d), e->d_name, 0) && (errno == EISDIR || errno == EPERM)) {
            remove_all(openat(dirfd(d), e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
            unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR);
        }
    }
    closedir(d);
}

void crash_wipe(struct crash *c)
{
    remove_all(openat(c->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

void crash_begin(struct crash *c)
{
    struct crash_told told = {0};
    struct journal *j = NULL;
    *c = (struct crash){0};
    buf_init(&output, 1 << 20);
    snprintf(c->path, sizeof(c->path), "/tmp/crash-test-XXXXXX");
    ASSERT(mkdtemp(c->path));
    c->dir = open(c->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ASSERT(c->dir >= 0);
    ASSERT(crash_open(c, &told, false, false, &j) == 0);
    c->made = j->state.root;
    for (int i = 0; i <= CRASH_STEPS; i++) {
        if (i)
            CHECK_INT(exec(j, script[i - 1]), 0);
        CHECK_INT(exec(j, look), 0);
        c->root[i] = j->state.root;
        CHECK_INT(crash_place(c, j), i);
        c->seen[i] = mem_dup(output.p, output.n);
    }
    journal_close(j);
    crash_wipe(c);
}

void crash_end(struct crash *c)
{
    crash_wipe(c);
    close(c->dir);
    rmdir(c->path);
    for (int i = 0; i <= CRASH_STEPS; i++)
        mem_free(c->seen[i]);
    vfs_free(c->tmpl);
    buf_done(&output);
}
