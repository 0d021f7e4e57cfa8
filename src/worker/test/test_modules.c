/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The driver's side of compiling modules: what a worker may send, what the compile role does with its limits, and
 * descriptors on a channel. The cache, and all of it together, is in tests/system/modules.py.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <poll.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/test/test.h"
#include "worker/chan.h"
#include "worker/modules.h"

/* (module (func (export "_start"))) */
static const char small[] = "\0asm\1\0\0\0\1\4\1\x60\0\0\3\2\1\0\7\12\1\6_start\0\0\12\4\1\2\0\13";
#define SMALL str_of(small, sizeof(small) - 1)

static void pair(struct chan *a, struct chan *b)
{
    int sv[2];
    CHECK_INT(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv), 0);
    chan_init(a, sv[0]);
    chan_init(b, sv[1]);
}

static int memfd_of(struct str s)
{
    int fd = memfd_create("test", MFD_CLOEXEC);
    CHECK(fd >= 0);
    CHECK_INT(fd_write_all(fd, s), 0);
    return fd;
}

static int open_fds(void)
{
    int n = 0;
    for (int fd = 0; fd < 1024; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

/* ---- descriptors on a channel ---- */

static void send_number(struct chan *c, uint32_t v, int fd)
{
    wire_put_number(chan_scratch(c), v);
    CHECK_INT(chan_send_fd(c, WIRE_SIGNAL, fd), 0);
}

static void receive_number(struct chan *c, uint32_t want)
{
    uint32_t type, v = 0;
    struct str body;
    CHECK_INT(chan_recv(c, true, &type, &body), 1);
    CHECK_INT(type, WIRE_SIGNAL);
    CHECK_INT(wire_get_number(body, &v), 0);
    CHECK_INT(v, want);
}

TEST(a_descriptor_comes_with_its_message)
{
    struct chan a, b;
    char got[8] = "";
    int before = open_fds();
    FD_AUTO int sent = memfd_of(STR("hello"));
    pair(&a, &b);
    b.takes_fds = true;
    send_number(&a, 1, sent);
    send_number(&a, 2, -1);
    send_number(&a, 3, sent);
    send_number(&a, 4, sent);
    receive_number(&b, 1);
    FD_AUTO int fd = chan_take_fd(&b);
    CHECK(fd >= 0 && fd != sent);
    CHECK_INT(pread(fd, got, sizeof(got), 0), 5);
    CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    CHECK_INT(chan_take_fd(&b), -1);
    receive_number(&b, 2);
    CHECK_INT(chan_take_fd(&b), -1);
    receive_number(&b, 3); /* not taken: closed */
    receive_number(&b, 4);
    chan_done(&a);
    chan_done(&b);
    CHECK_INT(open_fds(), before + 2);
}

TEST(who_takes_none_gets_none)
{
    struct chan a, b;
    FD_AUTO int sent = memfd_of(STR("hello"));
    pair(&a, &b);
    int before = open_fds();
    send_number(&a, 1, sent);
    receive_number(&b, 1);
    CHECK_INT(chan_take_fd(&b), -1);
    CHECK_INT(open_fds(), before);
    chan_done(&a);
    chan_done(&b);
}

/* ---- the compile role ---- */

static const char *compiler(void)
{
    const char *path = getenv("COMPILER");
    CHECK(path != NULL);
    return path ? path : "";
}

/* What comes of @module, waiting for it. */
static int compile(struct str module, struct err *err)
{
    struct compiler c;
    FD_AUTO int fd = memfd_of(module);
    CHECK_INT(compiler_start(&c, compiler(), fd, err), 0);
    while (!compiler_ended(&c)) {
        struct pollfd p = {c.pidfd, POLLIN, 0};
        CHECK_INT(poll(&p, 1, -1), 1);
    }
    int code = compiler_take(&c, err);
    CHECK_INT(c.pid, 0);
    CHECK_INT(waitpid(-1, NULL, WNOHANG), -1);
    return code;
}

TEST(makes_code_that_nobody_can_change)
{
    struct err err = {0};
    char magic[4];
    int before = open_fds();
    FD_AUTO int code = compile(SMALL, &err);
    if (!CHECK(code >= 0))
        fprintf(stderr, "# %s\n", err.text);
    CHECK_INT(pread(code, magic, sizeof(magic), 0), 4);
    CHECK(memcmp(magic, "\177ELF", 4) == 0);
    CHECK(pwrite(code, "x", 1, 0) < 0);
    CHECK(ftruncate(code, 0) < 0);
    CHECK_INT(open_fds(), before + 1);
}

TEST(says_why_it_makes_none)
{
    struct err err;
    CHECK_INT(compile(STR("hello"), &err), -ENOEXEC);
    CHECK(strcmp(err.text, "the module cannot be compiled: not a WebAssembly module") == 0);
    CHECK_INT(compile(STR(""), &err), -ENOEXEC);
    CHECK_INT(compile(str_of(small, sizeof(small) - 2), &err), -ENOEXEC);
    CHECK(strstr(err.text, "unexpected end") != NULL);
    /* An import's name is in the message, and cannot do anything to a terminal there. */
    static const char name[] = "\0asm\1\0\0\0\1\4\1\x60\0\0\2\x0a\1\3\33[2\2\33c\7\0";
    CHECK_INT(compile(str_of(name, sizeof(name) - 1), &err), -ENOEXEC);
    CHECK(!memchr(err.text, '\33', strlen(err.text)));
}

TEST(does_not_outlive_its_time)
{
    struct compiler c;
    struct err err;
    int before = open_fds();
    FD_AUTO int fd = memfd_of(SMALL);
    CHECK_INT(compiler_start(&c, compiler(), fd, &err), 0);
    CHECK(c.deadline > clock_mono());
    CHECK_INT(kill(c.pid, SIGSTOP), 0);
    c.deadline = clock_mono();
    CHECK(compiler_ended(&c));
    CHECK_INT(compiler_take(&c, &err), -ETIMEDOUT);
    CHECK_INT(waitpid(-1, NULL, WNOHANG), -1);
    CHECK_INT(compiler_start(&c, compiler(), fd, &err), 0);
    compiler_stop(&c);
    compiler_stop(&c);
    CHECK_INT(waitpid(-1, NULL, WNOHANG), -1);
    CHECK_INT(open_fds(), before + 1);
}

TEST(without_its_program)
{
    struct compiler c;
    struct err err;
    FD_AUTO int fd = memfd_of(SMALL);
    CHECK_INT(compiler_start(&c, "/nowhere/compiler", fd, &err), 0);
    while (!compiler_ended(&c))
        ;
    CHECK_INT(compiler_take(&c, &err), -EIO);
}

/* ---- what a worker may send ---- */

static int take(struct modules *m, struct chan *c, struct wire_compile q)
{
    BUF_AUTO struct buf b;
    buf_init(&b, WIRE_BODY_MAX);
    wire_put_compile(&b, &q);
    return modules_take(m, c, buf_str(&b));
}

TEST(pieces_must_follow_one_another)
{
    struct chan a, b;
    struct modules m;
    const struct str s = SMALL;
    const struct wire_compile first = {.id = 1, .size = s.n, .data = str_of(s.p, 10)};
    const struct wire_compile wrong[] = {
        {.id = 1, .size = s.n, .offset = 11, .data = str_from(s, 11)},     /* a gap */
        {.id = 1, .size = s.n, .offset = 9, .data = str_from(s, 9)},       /* again */
        {.id = 2, .size = s.n, .offset = 10, .data = str_from(s, 10)},     /* another's */
        {.id = 1, .size = s.n + 1, .offset = 10, .data = str_from(s, 10)}, /* has grown */
        {.id = 1, .size = s.n, .offset = 10},                              /* nothing */
    };
    pair(&a, &b);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        modules_init(&m);
        CHECK_INT(take(&m, &a, wrong[i]), -EBADMSG);
        CHECK_INT(take(&m, &a, first), 0);
        CHECK_INT(take(&m, &a, wrong[i]), -EBADMSG);
        modules_done(&m);
    }
    modules_init(&m);
    CHECK_INT(modules_take(&m, &a, STR("x")), -EBADMSG);
    CHECK_INT(modules_fd(&m), -1);
    CHECK_INT(modules_deadline(&m), INT64_MAX);
    CHECK_INT(modules_turn(&m, &a), 0);
    /* Taken back in the middle, and nothing of it is left. */
    int before = open_fds();
    CHECK_INT(take(&m, &a, first), 0);
    CHECK_INT(open_fds(), before + 1);
    CHECK_INT(take(&m, &a, (struct wire_compile){.id = 1}), 0);
    CHECK_INT(open_fds(), before);
    CHECK_INT(take(&m, &a, wrong[0]), -EBADMSG);
    modules_done(&m);
    chan_done(&a);
    chan_done(&b);
}
