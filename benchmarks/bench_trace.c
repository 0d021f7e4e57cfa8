/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Prints what a log costs, in nanoseconds of CPU, so that other work on the machine disturbs less: an append of an
 * event (EXEC, OUTPUT, CHANGE, END in turn, as of an ordinary command), the same flushed after each four, the hash of
 * as many bytes alone, and opening the log for append.
 *
 *   bench_trace EVENTS
 */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "cas/hash.h"
#include "trace/trace.h"

#define OPENS 1000

static struct trace_event events[4];

static void must(int r)
{
    if (r < 0) {
        fprintf(stderr, "bench_trace: %d\n", r);
        exit(1);
    }
}

static void make_events(void)
{
    static const struct trace_state state = {{{1}}, {{2}}, {{3}}};
    events[0] = (struct trace_event){.type = TRACE_EXEC, .u.exec = {.text = STR("grep -rn pattern src | head")}};
    events[0].u.exec.cwd = STR("/work/project");
    events[0].u.exec.wall = clock_wall();
    events[1] = (struct trace_event){.type = TRACE_OUTPUT, .u.output = {.stream = 1, .size = 80, .kept = 80}};
    events[1].u.output.data = STR("src/main.c:12: the pattern stands here\nsrc/other.c:7: and the pattern here too\n");
    events[1].u.output.digest.b[0] = 1;
    events[2] = (struct trace_event){.type = TRACE_CHANGE, .u.change = {.path = STR("/work/project/out.txt")}};
    events[2].u.change.after.b[0] = 1;
    events[3] = (struct trace_event){.type = TRACE_END, .u.end = {.cpu_us = 5000, .wall_us = 7000, .state = state}};
}

/* ns for each of @n events, flushed after each @each. */
static double append(struct trace *t, unsigned n, unsigned each)
{
    int64_t begin = clock_cpu();
    for (unsigned i = 0; i < n; i++) {
        struct trace_event *e = &events[i % 4];
        e->time = 0;
        must(trace_append(t, e));
        if (i % each == each - 1)
            must(trace_flush(t));
    }
    double ns = (double)(clock_cpu() - begin) / n;
    must(trace_flush(t));
    return ns;
}

static double hash(size_t bytes, unsigned n)
{
    static uint8_t data[4096], out[CAS_HASH_SIZE];
    int64_t begin = clock_cpu();
    for (unsigned i = 0; i < n; i++) {
        struct cas_hash h;
        cas_hash_init(&h);
        cas_hash_add(&h, data, 64); /* the chain value before, and the file's own */
        cas_hash_add(&h, data, bytes);
        cas_hash_end(&h, out);
    }
    return (double)(clock_cpu() - begin) / n;
}

static double open_it(int fd)
{
    int64_t begin = clock_cpu();
    for (int i = 0; i < OPENS; i++) {
        struct trace *t;
        must(trace_open(fcntl(fd, F_DUPFD_CLOEXEC, 0), TRACE_APPEND, &t, NULL, NULL));
        trace_close(t);
    }
    return (double)(clock_cpu() - begin) / OPENS;
}

int main(int argc, char **argv)
{
    unsigned n = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 200000;
    int fd = memfd_create("log", MFD_CLOEXEC);
    struct trace *t;
    struct trace_report report;
    make_events();
    must(trace_open(fcntl(fd, F_DUPFD_CLOEXEC, 0), TRACE_APPEND, &t, NULL, NULL));
    double flushed = append(t, n, 4);
    double buffered = append(t, n, n + 1);
    must(trace_verify(t, &report));
    size_t hashed = report.bytes / report.events - 36; /* all of an event but its chain value and the length after it */
    printf("%.0f %.0f %.0f %.0f\n", buffered, flushed, hash(hashed, n), open_it(fd));
    trace_close(t);
    close(fd);
    return 0;
}
