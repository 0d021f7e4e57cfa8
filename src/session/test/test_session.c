/* SPDX-License-Identifier: Apache-2.0 */

/* A session between commands: what it keeps of them. */

#include <malloc.h>
#include <stdio.h>

#include "base/err.h"
#include "base/test/test.h"
#include "session/session.h"
#include "vfs/vfs.h"

static size_t output_n;

static ssize_t take_output(void *arg, int stream, const void *p, size_t n)
{
    (void)arg;
    (void)stream;
    (void)p;
    output_n += n;
    return (ssize_t)n;
}

static const struct session_host host = {.output = take_output};

static bool run(struct session *s, const char *text)
{
    struct err err = {0};
    struct wire_exec e = {.kind = WIRE_EXEC_TEXT, .text = str_c(text), .stdin_open = true};
    struct wire_result result;
    int64_t wake;
    if (!CHECK_INT(session_exec(s, &e, &err), 0))
        return false;
    session_input(s, STR("a line\n"));
    session_input_end(s);
    while (session_step(s, &wake) == 0)
        ;
    session_result(s, &result);
    return CHECK_INT(result.outcome.kind, OUTCOME_EXITED) && CHECK_INT(result.outcome.code, 0);
}

/* Symbols, patterns, input and arguments of a command that ended go with it: the session may be idle for long. */
TEST(commands_leave_nothing)
{
    struct session_config cfg = {.limits = limits_default()};
    struct err err = {0};
    struct vfs *tmpl = session_template(NULL);
    struct session *s;
    if (!CHECK(tmpl) || !CHECK_INT(session_new(tmpl, &cfg, &host, &s, &err), 0))
        return;
    size_t before = 0;
    for (unsigned i = 0; i < 400; i++) {
        char text[200];
        snprintf(text, sizeof(text), "name_%u=1; f_%u() { cat; }; [[ x =~ ^x?.{%u}$ ]]; f_%u; (v%u=2; echo $v%u)", i, i,
                 i % 50, i, i, i);
        if (!run(s, text))
            break;
        if (i == 200)
            before = mallinfo2().uordblks;
    }
    size_t after = mallinfo2().uordblks;
    CHECK(after < before + 32768); /* what malloc itself keeps; a kept input is 64 KiB a command */
    CHECK_INT(output_n, 400 * strlen("a line\n2\n"));
    session_free(s);
    vfs_free(tmpl);
}
