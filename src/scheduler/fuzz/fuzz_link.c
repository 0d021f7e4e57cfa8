/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What a worker sends, byte for byte, to the true scheduler while a command runs. The input is a row of frames: a byte
 * of length and as many bytes. Of an even length they are a frame as they are; of an odd one, a body of the type that
 * the first byte says, for the session that runs.
 */

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/err.h"
#include "base/fd.h"
#include "scheduler/scheduler.h"
#include "worker/worker.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The worker: the other end of its socket, which the fuzz target holds itself. */
static struct chan worker;

int worker_spawn(const struct worker_config *cfg, struct worker *ret, struct err *err)
{
    int sv[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv))
        return err_set(err, -errno, "socketpair");
    chan_done(&worker);
    chan_init(&worker, sv[1]);
    ret->pid = INT32_MAX; /* no process has that number: ending it is no call too many */
    ret->kept = cfg->kept;
    chan_init(&ret->chan, sv[0]);
    return 0;
}

int worker_end(struct worker *w)
{
    chan_done(&w->chan);
    w->pid = 0;
    return -1;
}

static char dir[] = "/tmp/fuzz-link-XXXXXX";
static struct sched *sched;
static struct sched_session *session;

static void took(void *arg, struct sched_session *s, int error, const char *text)
{
    (void)arg, (void)text;
    if (error == 0)
        session = sched_ref(s);
}

static void clean(void)
{
    char command[64];
    snprintf(command, sizeof(command), "rm -rf %s", dir);
    (void)!system(command);
}

/* Takes what the scheduler has sent and answers a CREATE, until @want has come. */
static bool answer_until(uint32_t want)
{
    uint32_t type;
    struct str body;
    for (int i = 0; i < 200; i++) {
        struct pollfd p[] = {{sched_fd(sched), POLLIN, 0}, {worker.fd, POLLIN, 0}};
        (void)poll(p, worker.fd >= 0 ? 2 : 1, 50); /* a session is made by the thread for the disk */
        sched_turn(sched);
        while (chan_recv(&worker, false, &type, &body) == 1) {
            const struct wire_reply r = {.error = 0};
            worker.to = worker.from;
            if (type == want)
                return true;
            if (type != WIRE_CREATE)
                continue;
            wire_put_reply(chan_scratch(&worker), &r);
            (void)chan_send_scratch(&worker, WIRE_REPLY);
        }
        if (want == 0 && session)
            return true;
    }
    return false;
}

static void set_up(void)
{
    struct err err = {0};
    struct sched_tenant *t;
    const struct sched_config cfg = {.state_dir = dir,
                                     .userland_fd = -1,
                                     .program = "/nonexistent",
                                     .workers = 1,
                                     .execs_waiting = 10,
                                     .output_memory = 1u << 20};
    const struct sched_settings set = {.idle_timeout_ms = 600000, .limits = limits_default()};
    ASSERT(mkdtemp(dir));
    (void)atexit(clean);
    ASSERT(sched_new(&cfg, &sched, &err) == 0 && sched_tenant(sched, "local", &t, &err) == 0);
    sched_create(t, STR("x"), &set, took, NULL);
    ASSERT(answer_until(0));
}

static void send_frames(const uint8_t *p, size_t n)
{
    while (n > 1) {
        size_t len = p[0] < n - 1 ? p[0] : n - 1;
        uint8_t frame[300] = {0};
        if (p[0] % 2 == 0) {
            (void)send(worker.fd, p + 1, len, MSG_NOSIGNAL | MSG_DONTWAIT);
        } else if (len) {
            frame[0] = p[1] % (WIRE_TYPE_COUNT + 1);
            frame[4] = p[1] > 200;
            memcpy(frame + 8, &worker.to, 4);
            memcpy(frame + WIRE_HEADER, p + 2, len - 1);
            (void)send(worker.fd, frame, WIRE_HEADER + len - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
        }
        p += 1 + len;
        n -= 1 + len;
        sched_turn(sched);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err = {0};
    struct sched_exec *e = NULL;
    struct sched_exec_info info;
    struct sched_counts counts;
    const struct sched_exec_request q = {.exec = {.kind = WIRE_EXEC_TEXT, .text = STR("true")}};
    if (!sched)
        set_up();
    ASSERT(sched_exec(session, &q, NULL, &e, &err) == 0);
    ASSERT(answer_until(WIRE_EXEC));
    send_frames(data, size);
    (void)shutdown(worker.fd, SHUT_RDWR);
    for (int i = 0; i < 4; i++)
        sched_turn(sched);
    /* Whatever it was, the command has an end, and nothing of the worker is left. */
    sched_exec_info(e, &info);
    ASSERT(!info.running && !info.waiting);
    sched_exec_unref(e);
    sched_counts(sched, &counts);
    ASSERT(counts.execs_running == 0 && counts.open_sessions == 0 && counts.workers == 0);
    return 0;
}
