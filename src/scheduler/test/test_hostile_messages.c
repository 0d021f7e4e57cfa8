/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A worker that was taken over speaks to the scheduler. Each attack is sent while a command runs: the worker must be
 * ended, the command be lost, and the server go on, with a new worker for the next command of the same session.
 */

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/test/test.h"
#include "scheduler/scheduler.h"
#include "scheduler/test/fake_worker.h"

#define PATIENCE (60 * CLOCK_S)

static char dir[] = "/tmp/hostile-messages-XXXXXX";

/* ---- attacks ---- */

static void short_frame(struct chan *c)
{
    fake_raw(c, "abc", 3);
}

static void no_type(struct chan *c)
{
    fake_frame(c, 0, 0, c->to, STR(""));
}

static void unknown_type(struct chan *c)
{
    fake_frame(c, WIRE_TYPE_COUNT, 0, c->to, STR(""));
}

static void unknown_flags(struct chan *c)
{
    fake_frame(c, WIRE_OUTPUT, 0x80, c->to, STR("\1x"));
}

static void type_changes(struct chan *c)
{
    fake_frame(c, WIRE_OUTPUT, WIRE_MORE, c->to, STR("\1x"));
    fake_frame(c, WIRE_RESULT, 0, c->to, STR("x"));
}

static void session_changes(struct chan *c)
{
    fake_frame(c, WIRE_OUTPUT, WIRE_MORE, c->to, STR("\1x"));
    fake_frame(c, WIRE_OUTPUT, 0, c->to + 1, STR("x"));
}

static char block[CHAN_FRAME + 1];

static void oversized_frame(struct chan *c)
{
    fake_raw(c, block, sizeof(block));
}

static void oversized_message(struct chan *c)
{
    for (size_t i = 0; i <= WIRE_BODY_MAX / (64u << 10) + 1; i++)
        fake_frame(c, WIRE_OUTPUT, WIRE_MORE, c->to, str_of(block, 64u << 10));
}

/* A message that never ends and never grows. */
static void endless_empty(struct chan *c)
{
    for (int i = 0; i < 100000; i++)
        fake_frame(c, WIRE_OUTPUT, WIRE_MORE, c->to, STR(""));
}

/* One that grows by a byte a time: it ends when the worker does, and nobody waits for it meanwhile. */
static void endless_small(struct chan *c)
{
    for (int i = 0; i < 20000; i++)
        fake_frame(c, WIRE_OUTPUT, WIRE_MORE, c->to, STR("\1"));
    _exit(0);
}

static void not_its_session(struct chan *c)
{
    fake_frame(c, WIRE_OUTPUT, 0, c->to + 1, STR("\1x"));
}

static void no_such_session(struct chan *c)
{
    fake_frame(c, WIRE_OUTPUT, 0, UINT32_MAX, STR("\1x"));
}

static void ready_again(struct chan *c)
{
    const struct wire_ready r = {.version = WIRE_VERSION};
    wire_put_ready(chan_scratch(c), &r);
    (void)chan_send_scratch(c, WIRE_READY);
}

static void bad_stream(struct chan *c)
{
    const struct wire_output o = {.stream = 3, .data = STR("x")};
    wire_put_output(chan_scratch(c), &o);
    (void)chan_send_scratch(c, WIRE_OUTPUT);
}

static void empty_output(struct chan *c)
{
    fake_frame(c, WIRE_OUTPUT, 0, c->to, STR(""));
}

static void garbage_result(struct chan *c)
{
    memset(block, 0xff, 200);
    fake_frame(c, WIRE_RESULT, 0, c->to, str_of(block, 200));
}

static void positive_error(struct chan *c)
{
    const struct wire_result r = {.outcome = {.kind = OUTCOME_EXITED}, .error = 5};
    wire_put_result(chan_scratch(c), &r);
    (void)chan_send_scratch(c, WIRE_RESULT);
}

static void cut_result(struct chan *c)
{
    const struct wire_result r = {.outcome = {.kind = OUTCOME_EXITED}, .message = STR("text")};
    struct buf *b = chan_scratch(c);
    wire_put_result(b, &r);
    fake_frame(c, WIRE_RESULT, 0, c->to, str_of(b->p, b->n - 1));
}

static void unasked_reply(struct chan *c)
{
    const struct wire_reply r = {.error = 0};
    wire_put_reply(chan_scratch(c), &r);
    (void)chan_send_scratch(c, WIRE_REPLY);
}

static void want_with_a_body(struct chan *c)
{
    fake_frame(c, WIRE_WANT, 0, c->to, STR("x"));
}

static uint32_t a_type;

static void a_message_of_the_driver(struct chan *c)
{
    fake_frame(c, a_type, 0, c->to, STR("\0\0\0\0"));
}

static void an_end(struct chan *c)
{
    fake_raw(c, "", 0);
    (void)shutdown(c->fd, SHUT_RDWR);
}

static void a_crash(struct chan *c)
{
    (void)c;
    (void)raise(SIGKILL);
}

static const struct {
    const char *what;
    void (*fn)(struct chan *c);
} attacks[] = {
    {"a frame that is too short", short_frame},
    {"a message without a type", no_type},
    {"a message of no type", unknown_type},
    {"flags that there are not", unknown_flags},
    {"another type inside a message", type_changes},
    {"another session inside a message", session_changes},
    {"a frame that is too long", oversized_frame},
    {"a message that is too long", oversized_message},
    {"a message that does not end", endless_empty},
    {"a message in small pieces, and no end", endless_small},
    {"a session that is not its own", not_its_session},
    {"a session that there is not", no_such_session},
    {"READY a second time", ready_again},
    {"output of a third stream", bad_stream},
    {"output without a stream", empty_output},
    {"a result that is none", garbage_result},
    {"a result with an error above zero", positive_error},
    {"a result that is cut", cut_result},
    {"a reply to nothing", unasked_reply},
    {"WANT with a body", want_with_a_body},
    {"an end in the middle", an_end},
    {"a crash", a_crash},
};

/* ---- the scheduler ---- */

struct bench {
    struct sched *s;
    struct sched_tenant *t;
    struct sched_session *session;
};

static void took(void *arg, struct sched_session *s, int error, const char *text)
{
    struct bench *b = arg;
    (void)text;
    if (CHECK_INT(error, 0))
        b->session = sched_ref(s);
}

static void turn(struct sched *s)
{
    struct pollfd p = {sched_fd(s), POLLIN, 0};
    (void)poll(&p, 1, 10);
    sched_turn(s);
}

static uint32_t patience_ms; /* of the watchdog; 0: as it is */

static void open_bench(struct bench *b)
{
    struct err err = {0};
    const struct sched_config cfg = {.state_dir = dir,
                                     .userland_fd = -1,
                                     .program = "/nonexistent",
                                     .workers = 1,
                                     .execs_waiting = 10,
                                     .output_memory = 1u << 20,
                                     .silent_ms = patience_ms,
                                     .kill_ms = patience_ms};
    const struct sched_settings set = {.idle_timeout_ms = 600000, .limits = limits_default()};
    *b = (struct bench){.s = NULL};
    if (!CHECK(mkdtemp(dir) != NULL) || !CHECK_INT(sched_new(&cfg, &b->s, &err), 0) ||
        !CHECK_INT(sched_tenant(b->s, "local", &b->t, &err), 0))
        return;
    sched_create(b->t, STR("x"), &set, took, b);
    for (int64_t until = clock_mono() + PATIENCE; !b->session && clock_mono() < until;)
        turn(b->s);
    CHECK(b->session != NULL);
}

static void close_bench(struct bench *b)
{
    char command[64];
    sched_unref(b->session);
    sched_free(b->s);
    snprintf(command, sizeof(command), "rm -rf %s", dir);
    CHECK_INT(system(command), 0);
}

/* Runs a command: how it ended, or -1. */
static int run(struct bench *b)
{
    struct err err = {0};
    struct sched_exec *e = NULL;
    struct sched_exec_info info = {.running = true};
    const struct sched_exec_request q = {.exec = {.kind = WIRE_EXEC_TEXT, .text = STR("true")}};
    if (!CHECK_INT(sched_exec(b->session, &q, NULL, &e, &err), 0))
        return -1;
    for (int64_t until = clock_mono() + PATIENCE; (info.running || info.waiting) && clock_mono() < until;) {
        turn(b->s);
        sched_exec_info(e, &info);
    }
    sched_exec_unref(e);
    return info.running || info.waiting ? -1 : (int)info.outcome.kind;
}

/* With the worker that is started next. The one before was ended by the attack before. */
static void attacked(struct bench *b, const char *what, void (*fn)(struct chan *c))
{
    struct sched_counts before, after;
    fake_attack = fn;
    if (!b->s)
        open_bench(b);
    sched_counts(b->s, &before);
    fprintf(stderr, "# %s\n", what);
    CHECK_INT(run(b), OUTCOME_LOST);
    sched_counts(b->s, &after);
    CHECK_INT(after.workers_lost, before.workers_lost + 1);
    CHECK_INT(after.execs_running, 0);
    CHECK_INT(after.open_sessions, 0);
}

static void recovered(struct bench *b)
{
    fake_attack = NULL;
    CHECK_INT(run(b), OUTCOME_EXITED);
    CHECK_INT(run(b), OUTCOME_EXITED);
}

TEST(hostile_messages_end_the_worker_and_not_the_server)
{
    struct bench b = {.s = NULL};
    for (size_t i = 0; i < sizeof(attacks) / sizeof(attacks[0]); i++)
        attacked(&b, attacks[i].what, attacks[i].fn);
    recovered(&b);
    close_bench(&b);
}

/* Every type that only the other end sends, or that was not asked for. */
TEST(hostile_messages_of_the_wrong_end)
{
    static const uint32_t its_own[] = {WIRE_READY, WIRE_OUTPUT, WIRE_RESULT, WIRE_REPLY, WIRE_WANT};
    struct bench b = {.s = NULL};
    char what[64];
    for (a_type = 1; a_type < WIRE_TYPE_COUNT; a_type++) {
        bool own = false;
        for (size_t i = 0; i < sizeof(its_own) / sizeof(its_own[0]); i++)
            own |= its_own[i] == a_type;
        snprintf(what, sizeof(what), "message %u of the driver", a_type);
        if (!own)
            attacked(&b, what, a_message_of_the_driver);
    }
    recovered(&b);
    close_bench(&b);
}

/* It stands still: what is sent stays where it is. */
static void deaf(struct chan *c)
{
    (void)c;
    for (;;)
        (void)pause();
}

/* It reads, and does nothing of what it reads. */
static void unwilling(struct chan *c)
{
    uint32_t type;
    struct str body;
    while (chan_recv(c, true, &type, &body) == 1)
        continue;
    _exit(0);
}

/* Runs a command that must be ended by the watchdog once it was told something. */
static void watched(struct bench *b, void (*fn)(struct chan *c), int sig, uint64_t timeout_ms)
{
    struct err err = {0};
    struct sched_exec *e = NULL;
    struct sched_exec_info info = {.running = true};
    const struct sched_exec_request q = {.exec = {.kind = WIRE_EXEC_TEXT, .text = STR("true")},
                                         .timeout_ms = timeout_ms};
    struct sched_counts before, after;
    fake_attack = fn;
    if (!b->s)
        open_bench(b);
    sched_counts(b->s, &before);
    if (!CHECK_INT(sched_exec(b->session, &q, NULL, &e, &err), 0))
        return;
    for (int64_t until = clock_mono() + PATIENCE; (info.running || info.waiting) && clock_mono() < until;) {
        turn(b->s);
        sched_exec_info(e, &info);
        if (sig && info.running) {
            CHECK_INT(sched_signal(e, sig), 0);
            sig = 0;
        }
    }
    CHECK(!info.running && !info.waiting);
    CHECK_INT(info.outcome.kind, OUTCOME_LOST);
    sched_exec_unref(e);
    sched_counts(b->s, &after);
    CHECK_INT(after.workers_lost, before.workers_lost + 1);
}

TEST(hostile_silence_is_ended)
{
    struct bench b = {.s = NULL};
    patience_ms = 1500; /* a worker that is well reads at once, on whatever machine */
    watched(&b, deaf, 0, 10);
    watched(&b, unwilling, SIGKILL, 0);
    close_bench(&b);
}

/* Descriptors that nobody asked for: the message is taken, they are closed by the kernel. */
static void descriptors(struct chan *c)
{
    int fds[200];
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(fds))];
    } ctl = {.head = {.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(fds))}};
    uint32_t frame[4] = {WIRE_WANT, 0, c->to, 0};
    struct iovec v = {frame, 12};
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = &ctl, .msg_controllen = sizeof(ctl)};
    for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
        fds[i] = 2;
    memcpy(CMSG_DATA(&ctl.head), fds, sizeof(fds));
    for (int i = 0; i < 20; i++)
        (void)sendmsg(c->fd, &m, MSG_NOSIGNAL);
    fake_result(c);
}

/* How many of this process's descriptors are the file that the worker sends; sessions made in advance come and go. */
static int kept_fds(void)
{
    int n = 0;
    struct stat sent, st;
    if (fstat(2, &sent))
        return -1;
    for (int fd = 0; fd < 4096; fd++)
        n += fstat(fd, &st) == 0 && st.st_dev == sent.st_dev && st.st_ino == sent.st_ino;
    return n;
}

TEST(hostile_descriptors_are_not_kept)
{
    struct bench b = {.s = NULL};
    fake_attack = descriptors;
    open_bench(&b);
    CHECK_INT(run(&b), OUTCOME_EXITED);
    int before = kept_fds();
    for (int i = 0; i < 3; i++)
        CHECK_INT(run(&b), OUTCOME_EXITED);
    CHECK_INT(kept_fds(), before);
    close_bench(&b);
}

/* Messages at random, the same ones each time. Some are right by chance: then the command may end in any way, but it
 * ends when its worker does. */
static uint64_t seed;

static void random_messages(struct chan *c)
{
    for (int i = 0; i < 200; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        uint32_t type = (uint32_t)(seed >> 33) % 40, n = (uint32_t)(seed >> 40) % 100;
        for (uint32_t k = 0; k < n; k++)
            block[k] = (char)((seed >> (k % 50)) * (k + 1));
        fake_frame(c, type, (seed >> 20) % 8 == 0, (seed >> 24) % 4 ? c->to : (uint32_t)(seed >> 30), str_of(block, n));
    }
    _exit(0);
}

TEST(hostile_messages_at_random)
{
    struct bench b = {.s = NULL};
    fake_attack = random_messages;
    open_bench(&b);
    for (seed = 1; seed <= 100; seed++)
        CHECK(run(&b) >= 0);
    struct sched_counts n;
    sched_counts(b.s, &n);
    CHECK_INT(n.execs_running, 0);
    recovered(&b);
    close_bench(&b);
}
