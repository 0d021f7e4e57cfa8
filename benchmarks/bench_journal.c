/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What recording costs a session, in CPU time of the one thread that does everything, so that other work on the machine
 * disturbs less. Three sessions that are equal take turns with the same commands, in batches:
 *
 *   plain    without a journal
 *   log      with EXEC, OUTPUT and END of each command appended to a log and flushed, as the journal does, but without
 *            tape, tree and store
 *   journal  through the journal: all of it
 *
 *   bench_journal DIR COMMANDS short|write|script
 *
 * short: each command is an exec of its own and changes nothing; write: each writes a small file; script: each exec is
 * one script of 100 such commands. Prints "PLAIN LOG JOURNAL", ns for each exec (medians of the batches), and then for
 * each type of event of the journal's log a line "TYPE COUNT BYTES", of which BYTES is without output.
 */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "session/journal.h"
#include "vfs/vfs.h"

#define BATCH 20
#define MOST_BATCHES 4096
#define SIDES 3

enum side { PLAIN, LOG, JOURNAL };

static uint64_t printed; /* bytes, by the command that ran last */

static void must(int r, const struct err *err)
{
    if (r < 0) {
        fprintf(stderr, "bench_journal: %d: %s\n", r, err->text);
        exit(1);
    }
}

static ssize_t drop_output(void *arg, int stream, const void *p, size_t n)
{
    (void)arg, (void)stream, (void)p;
    printed += n;
    return (ssize_t)n;
}

static void nothing(void *arg)
{
    (void)arg;
}

/* ---- the commands ---- */

static const char *const commands[] = {
    "echo a:b:c | cut -d: -f2",
    "basename /usr/share/doc/file.txt .txt",
    "echo line one | grep -c line",
    "printf '%s\\n' z y x | sort",
};
#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static const char script[] = "for i in {1..25}; do\n"
                             "    echo a:b$i:c | cut -d: -f2\n"
                             "    basename /usr/share/doc/file$i.txt .txt\n"
                             "    echo line $i | grep -c line\n"
                             "    printf '%s\\n' z$i y$i x | sort\n"
                             "done\n";

static void put_command(const char *kind, unsigned i, char *ret, size_t cap)
{
    if (strcmp(kind, "script") == 0)
        snprintf(ret, cap, "%s", script);
    else if (strcmp(kind, "write") == 0)
        snprintf(ret, cap, "%s > /tmp/out%u", commands[i % N_COMMANDS], i % 50);
    else
        snprintf(ret, cap, "%s", commands[i % N_COMMANDS]);
}

/* ---- the sides ---- */

static struct session *plain, *logged;
static struct trace *log_;
static struct journal *journal;

static int at(int dir, const char *name, int flags)
{
    int fd = openat(dir, name, flags | O_CLOEXEC, 0600);
    if (fd < 0) {
        perror(name);
        exit(1);
    }
    return fd;
}

static void set_up(int dir, const struct session_host *host)
{
    struct session_config sc = {.limits = limits_default()};
    struct err err = {0};
    struct vfs *tmpl = session_template(NULL);
    must(tmpl ? 0 : -1, &err);
    must(session_new(tmpl, &sc, host, &plain, &err), &err);
    must(session_new(tmpl, &sc, host, &logged, &err), &err);
    must(trace_open(at(dir, "log", O_RDWR | O_CREAT | O_EXCL), TRACE_APPEND | TRACE_NEW, &log_, NULL, &err), &err);
    must(mkdirat(dir, "store", 0700), &err);
    const struct journal_config jc = {.store_fd = at(dir, "store", O_RDONLY | O_DIRECTORY),
                                      .trace_fd = at(dir, "trace", O_RDWR | O_CREAT | O_EXCL),
                                      .fresh = true,
                                      .id = STR("sbx_0123456789abcdefghjkmnpqrs"),
                                      .config = STR("user=user\n"),
                                      .limits = STR("")};
    must(journal_open(&jc, tmpl, &sc, host, &journal, &err), &err);
    vfs_free(tmpl);
}

static void run(struct session *s, struct wire_result *ret)
{
    int64_t wake;
    while (session_step(s, &wake) == 0)
        ;
    session_result(s, ret);
}

static void run_logged(const struct wire_exec *e, struct wire_result *ret, struct err *err)
{
    printed = 0;
    must(session_exec(logged, e, err), err);
    struct trace_event ev = {.type = TRACE_EXEC, .u.exec = {.text = e->text, .cwd = session_cwd(logged)}};
    must(trace_append(log_, &ev), err);
    must(trace_flush(log_), err);
    run(logged, ret);
    ev = (struct trace_event){.type = TRACE_OUTPUT,
                              .u.output = {.stream = 1, .size = printed, .kept = 10, .data = STR("the output")}};
    struct cas_hash h;
    cas_hash_init(&h);
    cas_hash_add(&h, ev.u.output.data.p, ev.u.output.data.n);
    cas_hash_end(&h, ev.u.output.digest.b);
    if (printed)
        must(trace_append(log_, &ev), err);
    ev = (struct trace_event){.type = TRACE_END, .u.end = {.cpu_us = ret->cpu_us, .wall_us = ret->wall_us}};
    must(trace_append(log_, &ev), err);
    must(trace_flush(log_), err);
}

static int64_t batch(enum side side, const char *kind, unsigned n)
{
    struct err err = {0};
    struct wire_result res;
    int64_t t = clock_cpu();
    for (unsigned i = 0; i < n; i++) {
        char text[512];
        put_command(kind, i, text, sizeof(text));
        struct wire_exec e = {.kind = WIRE_EXEC_TEXT, .text = str_c(text), .keep = true};
        if (side == PLAIN) {
            must(session_exec(plain, &e, &err), &err);
            run(plain, &res);
        } else if (side == LOG) {
            run_logged(&e, &res, &err);
        } else {
            must(journal_exec(journal, &e, &err), &err);
            run(journal_session(journal), &res);
            journal_ended(journal, &res);
            must(res.error, &err);
        }
        if (res.outcome.kind != OUTCOME_EXITED || res.outcome.code != 0)
            must(-1, &err);
    }
    return (clock_cpu() - t) / n;
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* ---- what the log has ---- */

static void say_events(int dir)
{
    uint64_t count[TRACE_TYPES] = {0}, size[TRACE_TYPES] = {0};
    struct trace *t;
    struct trace_pos pos;
    struct trace_event e;
    struct err err = {0};
    must(trace_open(at(dir, "trace", O_RDONLY), 0, &t, NULL, &err), &err);
    trace_begin(&pos);
    for (uint64_t before = pos.offset; trace_next(t, &pos, &e, &err) == 1; before = pos.offset) {
        count[e.type]++;
        size[e.type] += pos.offset - before - (e.type == TRACE_OUTPUT ? e.u.output.data.n : 0);
    }
    must(-err.code ? -1 : 0, &err);
    for (unsigned i = 0; i < TRACE_TYPES; i++)
        if (count[i])
            printf("%s %llu %llu\n", trace_type_name(i), (unsigned long long)count[i], (unsigned long long)size[i]);
    trace_pos_done(&pos);
    trace_close(t);
}

int main(int argc, char **argv)
{
    static const struct session_host host = {.output = drop_output, .want_input = nothing, .attend = nothing};
    static int64_t ns[SIDES][MOST_BATCHES];
    uint64_t n = 0;
    if (argc != 4 || str_u64(str_c(argv[2]), &n) < 0 || n == 0 || n > (uint64_t)BATCH * MOST_BATCHES) {
        fprintf(stderr, "usage: bench_journal DIR COMMANDS short|write|script\n");
        return 2;
    }
    if (mkdir(argv[1], 0700))
        perror(argv[1]);
    int dir = at(AT_FDCWD, argv[1], O_RDONLY | O_DIRECTORY);
    set_up(dir, &host);
    unsigned each = strcmp(argv[3], "script") == 0 ? 1 : BATCH, batches = (unsigned)((n + each - 1) / each);
    for (int side = 0; side < SIDES; side++) /* what a process makes once is made before the first figure is taken */
        (void)batch((enum side)side, argv[3], each);
    for (unsigned i = 0; i < batches; i++)
        for (int side = 0; side < SIDES; side++)
            ns[side][i] = batch((enum side)side, argv[3], each);
    for (int side = 0; side < SIDES; side++) {
        qsort(ns[side], batches, sizeof(ns[side][0]), by_value);
        printf("%lld%c", (long long)ns[side][batches / 2], side + 1 < SIDES ? ' ' : '\n');
    }
    journal_close(journal);
    trace_close(log_);
    session_free(plain);
    session_free(logged);
    say_events(dir);
    close(dir);
    return 0;
}
