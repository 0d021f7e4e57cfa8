/* SPDX-License-Identifier: Apache-2.0 */

/* The session's shell goes on from exec to exec. */

#include <errno.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/test/test.h"
#include "session/session.h"
#include "vfs/vfs.h"

static struct buf output;

static ssize_t take(void *arg, int stream, const void *p, size_t n)
{
    (void)arg;
    (void)stream;
    buf_add(&output, p, n);
    return (ssize_t)n;
}

static const struct session_host host = {.output = take};

static struct session *begin(void)
{
    struct session_config cfg = {.limits = limits_default()};
    struct session *s = NULL;
    struct err err = {0};
    struct vfs *tmpl = session_template(NULL);
    buf_init(&output, 1 << 20);
    CHECK_INT(session_new(tmpl, &cfg, &host, &s, &err), 0);
    vfs_free(tmpl); /* the session has a fork of it */
    return s;
}

/* Lets the exec or line run to its end: its status. */
static int finish(struct session *s)
{
    int64_t wake;
    while (!session_step(s, &wake)) {
        int64_t left = wake == INT64_MAX ? 0 : wake - clock_mono();
        if (left > 0)
            usleep((useconds_t)(left / 1000 + 1));
    }
    struct wire_result r;
    session_result(s, &r);
    return outcome_status(r.outcome);
}

static struct wire_exec text(const char *t)
{
    return (struct wire_exec){.kind = WIRE_EXEC_TEXT, .text = str_c(t), .keep = true};
}

static void check_exec(struct session *s, struct wire_exec e, int status, const char *want)
{
    struct err err = {0};
    buf_clear(&output);
    CHECK_INT(session_exec(s, &e, &err), 0);
    CHECK_INT(finish(s), status);
    CHECK_STR(buf_str(&output), str_c(want));
}

TEST(text_goes_on)
{
    struct session *s = begin();
    check_exec(s, text("x=1; f() { echo \"f $x\"; }; cd /tmp; shopt -s extglob"), 0, "");
    CHECK(session_shell_state(s).n > 0);
    check_exec(s, text("f; pwd; x=2; exit 3"), 3, "f 1\n/tmp\n");
    check_exec(s, text("echo $?; f; [[ aa == +(a) ]] && echo on"), 0, "3\nf 2\non\n");
    /* One that is not to be kept begins anew and changes nothing. */
    struct wire_exec e = text("echo ${x-unset} $PWD; x=9");
    e.keep = false;
    check_exec(s, e, 0, "unset /home/user\n");
    check_exec(s, text("echo $x"), 0, "2\n");
    session_free(s);
}

TEST(all_kinds_share_one_state)
{
    struct session *s = begin();
    struct err err = {0};
    check_exec(s, text("export x=1; y=2; cd /tmp"), 0, "");
    struct str env_argv[] = {STR("sh"), STR("-c"), STR("echo $x ${y-no} $PWD; x=9; cd /")};
    struct wire_exec argv = {.kind = WIRE_EXEC_ARGV, .argv = {env_argv, 3}, .keep = true};
    check_exec(s, argv, 0, "1 no /tmp\n");
    struct wire_exec script = {.kind = WIRE_EXEC_SCRIPT, .text = STR("echo $x ${y-no} $PWD; x=9"), .keep = true};
    check_exec(s, script, 0, "1 no /tmp\n");
    struct wire_exec in = {.kind = WIRE_EXEC_STDIN, .stdin_open = true, .keep = true};
    buf_clear(&output);
    CHECK_INT(session_exec(s, &in, &err), 0);
    CHECK_INT(session_input(s, STR("echo $x $y; y=3\n")), 16);
    session_input_end(s);
    CHECK_INT(finish(s), 0);
    CHECK_STR(buf_str(&output), STR("1 2\n"));
    struct wire_exec serve = {.kind = WIRE_EXEC_SERVE, .keep = true};
    check_exec(s, serve, 0, "");
    CHECK_INT(session_line(s, STR("echo $x $y; y=4; cd /usr; alias say=echo"), false), 0);
    CHECK_INT(finish(s), 0);
    CHECK_INT(session_line(s, STR("say alias; trap 'echo bye' EXIT"), false), 0);
    CHECK_INT(finish(s), 0);
    CHECK_STR(buf_str(&output), STR("1 3\nalias\n"));
    CHECK_INT(session_line(s, STR("z=lost; kill -9 $$"), false), 0);
    CHECK_INT(finish(s), 137);
    check_exec(s, text("echo $y $PWD ${z-not}; alias say; exit"), 0, "4 /usr not\nalias say='echo'\nbye\n");
    check_exec(s, serve, 0, "");
    CHECK_INT(session_line(s, STR("y=5; exit 4"), false), 0);
    CHECK_INT(finish(s), 4);
    check_exec(s, text("echo $y"), 0, "5\n");
    session_free(s);
}

TEST(what_kills_leaves_the_state)
{
    struct session *s = begin();
    struct err err = {0};
    check_exec(s, text("x=1"), 0, "");
    check_exec(s, text("x=2; kill -KILL $$"), 137, "");
    check_exec(s, text("echo $x"), 0, "1\n");
    struct wire_exec e = text("x=3; sleep 1000");
    int64_t wake;
    CHECK_INT(session_exec(s, &e, &err), 0);
    CHECK_INT(session_step(s, &wake), 0);
    session_kill(s, REASON_TIMEOUT);
    CHECK_INT(finish(s), 124);
    check_exec(s, text("echo $x"), 0, "1\n");
    session_free(s);
}

TEST(environment_is_for_one_exec)
{
    struct session *s = begin();
    struct str env[] = {STR("x=given"), STR("y=given")}, args[] = {STR("name"), STR("arg")};
    struct wire_exec e = text("echo $x $y $0 $1");
    e.env = (struct wire_list){env, 2};
    e.argv = (struct wire_list){args, 2};
    check_exec(s, text("x=mine; set -- a"), 0, "");
    check_exec(s, e, 0, "given given name arg\n");
    check_exec(s, text("echo $x ${y-no} $0 $1"), 0, "mine no bash a\n");
    session_free(s);
}

TEST(state_moves_to_another_session)
{
    struct session *s = begin(), *t;
    check_exec(s, text("x=1; f() { echo f; }"), 0, "");
    t = begin();
    CHECK_INT(session_set_shell_state(t, session_shell_state(s)), 0);
    check_exec(t, text("f; echo $x"), 0, "f\n1\n");
    CHECK_STR(session_shell_state(t), session_shell_state(s));
    CHECK_INT(session_set_shell_state(t, STR("nonsense")), -EBADMSG);
    check_exec(t, text("echo $x"), 0, "1\n");
    CHECK_INT(session_set_shell_state(t, STR("")), 0);
    check_exec(t, text("echo ${x-fresh}"), 0, "fresh\n");
    session_free(s);
    session_free(t);
}

TEST(a_state_that_is_too_large)
{
    struct session *s = begin();
    struct err err = {0};
    struct wire_result r;
    struct wire_exec e = text("printf -v x '%20000000s' a; y=2");
    check_exec(s, text("y=1"), 0, "");
    CHECK_INT(session_exec(s, &e, &err), 0);
    CHECK_INT(finish(s), 0);
    session_result(s, &r);
    CHECK(r.message.n > 0);
    check_exec(s, text("echo ${x-none} $y"), 0, "none 1\n");
    session_free(s);
}
