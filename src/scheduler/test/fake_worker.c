/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/test/fake_worker.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "worker/worker.h"

void (*fake_attack)(struct chan *c);

void fake_raw(struct chan *c, const void *p, size_t n)
{
    while (send(c->fd, p, n, MSG_NOSIGNAL) < 0 && errno == EINTR)
        continue;
}

void fake_frame(struct chan *c, uint32_t type, uint32_t flags, uint32_t session, struct str body)
{
    uint32_t head[3] = {type, flags, session};
    BUF_AUTO struct buf b;
    buf_init(&b, 1u << 20);
    buf_add(&b, head, sizeof(head)); /* little-endian, as the machines that there are */
    buf_adds(&b, body);
    fake_raw(c, b.p, b.n);
}

void fake_result(struct chan *c)
{
    const struct wire_result r = {.outcome = {.kind = OUTCOME_EXITED}};
    wire_put_result(chan_scratch(c), &r);
    (void)chan_send_scratch(c, WIRE_RESULT);
}

static void reply(struct chan *c)
{
    const struct wire_reply r = {.error = 0};
    wire_put_reply(chan_scratch(c), &r);
    (void)chan_send_scratch(c, WIRE_REPLY);
}

static void play(int sock)
{
    struct chan c;
    uint32_t type;
    struct str body;
    const struct wire_ready ready = {.version = WIRE_VERSION};
    chan_init(&c, sock);
    wire_put_ready(chan_scratch(&c), &ready);
    (void)chan_send_scratch(&c, WIRE_READY);
    while (chan_recv(&c, true, &type, &body) == 1) {
        c.to = c.from;
        if (type == WIRE_CREATE || type == WIRE_PARK)
            reply(&c);
        else if (type == WIRE_EXEC)
            (fake_attack ? fake_attack : fake_result)(&c);
    }
    _exit(0);
}

int worker_spawn(const struct worker_config *cfg, struct worker *ret, struct err *err)
{
    int sv[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv))
        return err_set(err, -errno, "socketpair");
    pid_t pid = fork();
    if (pid == 0) {
        fd_close(&sv[0]);
        play(sv[1]);
    }
    fd_close(&sv[1]);
    if (pid < 0)
        return err_set(err, -errno, "fork");
    ret->pid = pid;
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
