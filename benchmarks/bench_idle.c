/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Prints the resident bytes of one idle session, twice: as it is made, and after it ran a command and is idle again.
 * Both are what the process grew by, divided by the number of sessions, so what the sessions share counts as their part
 * of it.
 *
 *   bench_idle SESSIONS
 */

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "session/session.h"
#include "vfs/vfs.h"

static void must(int r, const struct err *err)
{
    if (r < 0) {
        fprintf(stderr, "bench_idle: %d: %s\n", r, err->text);
        exit(1);
    }
}

/* Bytes of this process that are in memory. */
static uint64_t resident(void)
{
    unsigned long long size, pages;
    FILE *f = fopen("/proc/self/statm", "re");
    if (!f || fscanf(f, "%llu %llu", &size, &pages) != 2) {
        perror("statm");
        exit(1);
    }
    fclose(f);
    return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static ssize_t drop_output(void *arg, int stream, const void *p, size_t n)
{
    (void)arg;
    (void)stream;
    (void)p;
    return (ssize_t)n;
}

static void nothing(void *arg)
{
    (void)arg;
}

static void run_one(struct session *s)
{
    struct err err = {0};
    struct wire_exec e = {.kind = WIRE_EXEC_TEXT, .text = STR("x=1; echo hi | cat")};
    struct wire_result result;
    int64_t wake;
    must(session_exec(s, &e, &err), &err);
    while (session_step(s, &wake) == 0)
        ;
    session_result(s, &result);
    if (result.outcome.kind != OUTCOME_EXITED || result.outcome.code != 0)
        must(-1, &err);
}

int main(int argc, char **argv)
{
    static const struct session_host host = {.output = drop_output, .want_input = nothing, .attend = nothing};
    struct session_config cfg = {.limits = limits_default()};
    struct err err = {0};
    uint64_t n = 0;
    if (argc != 2 || str_u64(str_c(argv[1]), &n) < 0 || n == 0 || n > 1000000) {
        fprintf(stderr, "usage: bench_idle SESSIONS\n");
        return 2;
    }
    struct session **all = mem_zalloc(n * sizeof(*all));
    struct vfs *tmpl = session_template(NULL);
    struct session *first;
    must(tmpl ? 0 : -1, &err);
    /* What a process makes once is made before the first figure is taken. */
    must(session_new(tmpl, &cfg, &host, &first, &err), &err);
    run_one(first);
    uint64_t before = resident();
    for (uint64_t i = 0; i < n; i++)
        must(session_new(tmpl, &cfg, &host, &all[i], &err), &err);
    uint64_t made = resident();
    for (uint64_t i = 0; i < n; i++)
        run_one(all[i]);
    uint64_t used = resident();
    printf("%llu %llu\n", (unsigned long long)((made - before) / n), (unsigned long long)((used - before) / n));
    for (uint64_t i = 0; i < n; i++)
        session_free(all[i]);
    session_free(first);
    vfs_free(tmpl);
    mem_free(all);
    return 0;
}
