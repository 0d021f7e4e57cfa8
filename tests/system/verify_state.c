/* SPDX-License-Identifier: Apache-2.0 */

/*
 * verify_state DIR: whether a state directory that nobody uses is as it should be. Every log verifies, every command in
 * it has one end, the store has no damage, and every lock is free. Says what is wrong and exits with 1.
 */

#include <inttypes.h>
#include <stdio.h>

#include "base/err.h"
#include "base/str.h"
#include "snapshot/state.h"

struct checking {
    struct state *s;
    int bad;
};

static void say(struct checking *c, const char *where, const char *what)
{
    printf("%s: %s\n", where, what);
    c->bad++;
}

/* Each EXEC has its END before the next, and what a command does stands between them. */
static void check_order(struct checking *c, struct trace *t, const char *id)
{
    struct trace_pos pos;
    struct trace_event e;
    struct err err = {0};
    const uint32_t inside =
        1u << TRACE_INPUT | 1u << TRACE_CLOCK | 1u << TRACE_OUTPUT | 1u << TRACE_CHANGE | 1u << TRACE_END;
    bool running = false;
    trace_begin(&pos);
    while (trace_next(t, &pos, &e, &err) == 1) {
        if (e.type == TRACE_EXEC && running)
            say(c, id, "a command has no end");
        if ((inside >> e.type & 1) && !running)
            say(c, id, "an event of a command is in none");
        running = e.type == TRACE_EXEC || (running && e.type != TRACE_END);
    }
    if (running)
        say(c, id, "the last command has no end");
    trace_pos_done(&pos);
}

static int check_session(void *arg, const char *id, const char *name)
{
    struct checking *c = arg;
    struct state_session ses;
    struct trace_report report;
    struct trace *t = NULL;
    struct err err = {0};
    (void)name;
    if (state_session_open(c->s, str_c(id), true, 0, &ses, &err)) {
        say(c, id, err.text);
        return 0;
    }
    int fd = ses.trace_fd;
    ses.trace_fd = -1;
    if (trace_open(fd, 0, &t, NULL, &err)) {
        say(c, id, err.text);
    } else {
        if (trace_verify(t, &report))
            say(c, id, report.what);
        check_order(c, t, id);
        trace_close(t);
    }
    state_session_close(&ses);
    return 0;
}

static void bad_blob(void *arg, const struct cas_id *id, const char *what)
{
    (void)id;
    say(arg, "store", what);
}

int main(int argc, char **argv)
{
    struct checking c = {0};
    struct err err = {0};
    struct cas *store = NULL;
    if (argc != 2 || state_open(argv[1], false, &c.s, &err) || state_store(c.s, 0, &store, &err)) {
        printf("%s\n", argc == 2 ? err.text : "usage: verify_state DIR");
        return 2;
    }
    if (state_session_each(c.s, check_session, &c) || cas_fsck(store, bad_blob, NULL, &c))
        say(&c, argv[1], "cannot be read");
    cas_close(store);
    state_close(c.s);
    return c.bad ? 1 : 0;
}
