/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/ask.h"

#include <errno.h>

#include "base/fd.h"
#include "base/mem.h"
#include "proc/proc.h"
#include "worker/chan.h"

/* ---- to the driver ---- */

static int send_piece(struct ask *a, bool wait)
{
    struct str rest = str_from(a->module, a->sent);
    struct wire_compile m = {.id = a->id,
                             .size = a->module.n,
                             .offset = a->sent,
                             .data = str_of(rest.p, rest.n < LIMIT_MSG_DATA ? rest.n : LIMIT_MSG_DATA)};
    if (a->take_back)
        m = (struct wire_compile){.id = a->id};
    struct buf *b = chan_scratch(a->chan);
    wire_put_compile(b, &m);
    int r = b->err;
    if (r == 0)
        r = wait ? chan_send(a->chan, WIRE_COMPILE, buf_str(b))
                 : chan_try_send(a->chan, WIRE_COMPILE, buf_str(b), (struct str){0});
    if (r == 0 && a->take_back)
        a->take_back = false;
    else if (r == 0)
        a->sent += m.data.n;
    return r;
}

static int push(struct ask *a, bool wait)
{
    int r = 0;
    while (r == 0 && (a->take_back || (a->asker && a->sent < a->module.n)))
        r = send_piece(a, wait);
    return r;
}

int ask_push(struct ask *a)
{
    return push(a, false);
}

/* ---- from it ---- */

int ask_answer(struct ask *a, struct str body)
{
    struct wire_compiled m;
    FD_AUTO int fd = chan_take_fd(a->chan);
    if (wire_get_compiled(body, &m) || (m.error == 0) != (fd >= 0))
        return -EBADMSG;
    if (!a->asker || a->answered || m.id != a->id)
        return 0; /* it was taken back, and the two messages have crossed */
    a->answered = true;
    a->fd = fd_steal(&fd);
    if (m.error)
        (void)err_set(&a->why, m.error, "%.*s", (int)m.message.n, m.message.p);
    return 0;
}

/* Nothing but answers comes while a replay runs. */
static void wait_alone(struct ask *a)
{
    uint32_t type;
    struct str body;
    int r = push(a, true);
    while (r == 0 && !a->answered) {
        r = chan_recv(a->chan, true, &type, &body);
        if (r == 1)
            r = type == WIRE_COMPILED ? ask_answer(a, body) : -EBADMSG;
        else if (r == -EINTR)
            r = 0;
    }
    if (a->answered)
        return;
    a->answered = true;
    (void)err_set(&a->why, r, "nobody is there to compile it");
}

/* ---- the process ---- */

struct asking {
    struct ask *ask;
    struct str module;
};

static void begin(struct ask *a, const struct asking *q)
{
    struct mem_account *before = mem_use(NULL); /* the channel's buffers are no session's */
    a->asker = q;
    a->id++;
    a->module = q->module;
    a->sent = 0;
    a->take_back = false; /* asking for the next is as good */
    a->answered = false;
    a->fd = -1;
    if (a->alone)
        wait_alone(a);
    else
        (void)ask_push(a); /* what it does not take now goes later, and a broken socket ends the worker */
    mem_use(before);
}

static bool answered(void *arg)
{
    struct asking *q = arg;
    if (!q->ask->asker)
        begin(q->ask, q);
    return q->ask->asker == q && q->ask->answered;
}

int ask_compile(void *arg, struct proc *p, struct str wasm, struct err *err)
{
    struct ask *a = arg;
    struct asking q = {a, wasm};
    int r = proc_await(p, answered, &q);
    if (a->asker != &q)
        return r;
    a->asker = NULL;
    a->take_back = !a->answered;
    FD_AUTO int fd = fd_steal(&a->fd);
    proc_sink_ready(p->ps); /* who waits for its turn */
    if (r < 0)
        return r;
    if (fd < 0)
        return err_set(err, a->why.code == -EINTR ? -EIO : a->why.code, "%s", a->why.text);
    return fd_steal(&fd);
}
