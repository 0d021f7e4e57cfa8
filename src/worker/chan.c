/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/chan.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "base/fd.h"
#include "base/mem.h"

#define FRAMES_AT_ONCE 256 /* of a message that is not whole */

void chan_init(struct chan *c, int fd)
{
    *c = (struct chan){.fd = fd};
    for (int i = 0; i < CHAN_FDS; i++)
        c->came[i] = -1;
    buf_init(&c->body, WIRE_BODY_MAX);
    buf_init(&c->out, WIRE_BODY_MAX);
    c->frame = mem_alloc(CHAN_FRAME);
}

static void drop_fds(struct chan *c)
{
    for (int i = 0; i < CHAN_FDS; i++)
        fd_close(&c->came[i]);
}

void chan_done(struct chan *c)
{
    if (!c->frame)
        return;
    fd_close(&c->fd);
    drop_fds(c);
    buf_done(&c->body);
    buf_done(&c->out);
    mem_free(c->frame);
    *c = (struct chan){.fd = -1};
    for (int i = 0; i < CHAN_FDS; i++)
        c->came[i] = -1;
}

static uint32_t get_u32(const char *p)
{
    const uint8_t *b = (const uint8_t *)p;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static void set_u32(char *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (char)(v >> (8 * i));
}

/* Takes one received frame: 1 and *ret_body when the message is whole, 0 when more frames follow. A message of one
 * frame stays where it was received. */
static int take_frame(struct chan *c, size_t n, struct str *ret_body)
{
    if (n < WIRE_HEADER)
        return -EBADMSG;
    uint32_t type = get_u32(c->frame), flags = get_u32(c->frame + 4), session = get_u32(c->frame + 8);
    /* A message of frames with nothing in them would never end, and never be too long. */
    if (type == 0 || type >= WIRE_TYPE_COUNT || (flags & ~WIRE_MORE) || ((flags & WIRE_MORE) && n == WIRE_HEADER) ||
        (c->type && (c->type != type || c->from != session)))
        return -EBADMSG;
    c->from = session;
    if (!c->type && !(flags & WIRE_MORE)) {
        c->type = type;
        *ret_body = str_of(c->frame + WIRE_HEADER, n - WIRE_HEADER);
        return 1;
    }
    if (!c->type)
        buf_clear(&c->body);
    c->type = type;
    int e = buf_add(&c->body, c->frame + WIRE_HEADER, n - WIRE_HEADER);
    if (e)
        return e == -EFBIG ? -EBADMSG : e;
    *ret_body = buf_str(&c->body);
    return flags & WIRE_MORE ? 0 : 1;
}

/* Aligned as the kernel's header wants it. */
union ctl {
    struct cmsghdr head;
    char room[CMSG_SPACE(CHAN_FDS * sizeof(int))];
};

/* As recv(2) with @flags; descriptors that come along are kept. */
static ssize_t recv_frame(struct chan *c, int flags)
{
    if (!c->takes_fds)
        return recv(c->fd, c->frame, CHAN_FRAME, flags);
    union ctl ctl;
    struct iovec v = {c->frame, CHAN_FRAME};
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = &ctl, .msg_controllen = sizeof(ctl)};
    ssize_t n = recvmsg(c->fd, &m, flags | MSG_CMSG_CLOEXEC);
    const struct cmsghdr *h = n >= 0 ? CMSG_FIRSTHDR(&m) : NULL;
    if (h && h->cmsg_level == SOL_SOCKET && h->cmsg_type == SCM_RIGHTS && h->cmsg_len >= CMSG_LEN(sizeof(int))) {
        size_t came = (h->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        drop_fds(c);
        memcpy(c->came, CMSG_DATA(h), (came < CHAN_FDS ? came : CHAN_FDS) * sizeof(int));
    }
    return n;
}

int chan_recv(struct chan *c, bool wait, uint32_t *ret_type, struct str *ret_body)
{
    drop_fds(c);
    for (int frames = 0;; frames++) {
        if (!wait && frames == FRAMES_AT_ONCE)
            return 0; /* the socket is still readable: others have their turn first */
        ssize_t n = recv_frame(c, MSG_TRUNC | (wait ? 0 : MSG_DONTWAIT));
        if (n < 0 && errno == EAGAIN)
            return 0;
        if (n < 0)
            return errno == EINTR && !wait ? 0 : errno == EINTR ? -EINTR : -EPIPE;
        if (n == 0)
            return -EPIPE;
        struct str body;
        int r = (size_t)n > CHAN_FRAME ? -EBADMSG : take_frame(c, (size_t)n, &body);
        if (r == 0)
            continue;
        if (r > 0) {
            *ret_type = c->type;
            *ret_body = body;
        }
        c->type = 0;
        return r;
    }
}

int chan_wait(struct chan *c, bool read, bool write, int timeout_ms)
{
    struct pollfd p = {c->fd, (short)((read ? POLLIN : 0) | (write ? POLLOUT : 0)), 0};
    int r = poll(&p, 1, timeout_ms);
    if (r < 0)
        return -EINTR;
    return r == 0 ? -ETIMEDOUT : 0;
}

static void put_header(char head[WIRE_HEADER], uint32_t type, uint32_t flags, uint32_t session)
{
    set_u32(head, type);
    set_u32(head + 4, flags);
    set_u32(head + 8, session);
}

/* sendmsg(2) of the @n pieces at @v as one frame, with descriptors. */
static int send_pieces(struct chan *c, struct iovec *v, size_t n, const int *fds, int n_fds)
{
    struct msghdr m = {.msg_iov = v, .msg_iovlen = n};
    union ctl ctl = {.head = {.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
    if (n_fds > 0) {
        ctl.head.cmsg_len = CMSG_LEN((size_t)n_fds * sizeof(int));
        memcpy(CMSG_DATA(&ctl.head), fds, (size_t)n_fds * sizeof(int));
        m.msg_control = &ctl;
        m.msg_controllen = CMSG_SPACE((size_t)n_fds * sizeof(int));
    }
    ssize_t r;
    do
        r = sendmsg(c->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (r < 0 && errno == EINTR);
    if (r >= 0)
        return 0;
    return errno == EAGAIN || errno == ENOBUFS ? -EAGAIN : -EPIPE;
}

/* @fd: sent along, or -1. */
static int send_frame(struct chan *c, uint32_t type, uint32_t flags, struct str part, int fd)
{
    char head[WIRE_HEADER];
    put_header(head, type, flags, c->to);
    struct iovec v[2] = {{head, sizeof(head)}, {(void *)(uintptr_t)part.p, part.n}};
    return send_pieces(c, v, part.n ? 2 : 1, &fd, fd >= 0);
}

int chan_frame(struct buf *out, uint32_t type, uint32_t session, bool more, struct str part)
{
    char head[WIRE_HEADER];
    put_header(head, type, more ? WIRE_MORE : 0, session);
    buf_add(out, head, sizeof(head));
    return buf_adds(out, part);
}

int chan_try_frame(struct chan *c, struct str frame, const int *fds, int n_fds)
{
    struct iovec v = {(void *)(uintptr_t)frame.p, frame.n};
    return send_pieces(c, &v, 1, fds, n_fds);
}

/* The same, waiting while the socket is full. */
static int send_frame_waiting(struct chan *c, uint32_t type, uint32_t flags, struct str part, int fd)
{
    int r;
    while ((r = send_frame(c, type, flags, part, fd)) == -EAGAIN)
        (void)chan_wait(c, false, true, -1); /* every outcome leads to another try */
    return r;
}

int chan_send(struct chan *c, uint32_t type, struct str body)
{
    const size_t most = CHAN_FRAME - WIRE_HEADER;
    do {
        struct str part = str_of(body.p, body.n < most ? body.n : most);
        body = str_from(body, part.n);
        int r = send_frame_waiting(c, type, body.n ? WIRE_MORE : 0, part, -1);
        if (r)
            return r;
    } while (body.n);
    return 0;
}

int chan_try_send(struct chan *c, uint32_t type, struct str head, struct str rest)
{
    char frame_head[WIRE_HEADER];
    if (head.n > CHAN_FRAME - WIRE_HEADER || rest.n > CHAN_FRAME - WIRE_HEADER - head.n)
        return -EMSGSIZE;
    put_header(frame_head, type, 0, c->to);
    struct iovec v[3] = {
        {frame_head, sizeof(frame_head)}, {(void *)(uintptr_t)head.p, head.n}, {(void *)(uintptr_t)rest.p, rest.n}};
    return send_pieces(c, v, rest.n ? 3 : 2, NULL, 0);
}

int chan_send_fd(struct chan *c, uint32_t type, int fd)
{
    if (c->out.err || c->out.n > CHAN_FRAME - WIRE_HEADER)
        return c->out.err ? c->out.err : -EMSGSIZE;
    return send_frame_waiting(c, type, 0, buf_str(&c->out), fd);
}

int chan_send_fds(struct chan *c, uint32_t type, const int *fds, int n)
{
    char head[WIRE_HEADER];
    put_header(head, type, 0, c->to);
    struct iovec v = {head, sizeof(head)};
    int r;
    while ((r = send_pieces(c, &v, 1, fds, n)) == -EAGAIN)
        (void)chan_wait(c, false, true, -1); /* every outcome leads to another try */
    return r;
}

int chan_take_fd(struct chan *c)
{
    for (int i = 0; i < CHAN_FDS; i++) {
        if (c->came[i] >= 0)
            return fd_steal(&c->came[i]);
    }
    return -1;
}

struct buf *chan_scratch(struct chan *c)
{
    buf_clear(&c->out);
    return &c->out;
}

int chan_send_scratch(struct chan *c, uint32_t type)
{
    if (c->out.err)
        return c->out.err;
    return chan_send(c, type, buf_str(&c->out));
}
