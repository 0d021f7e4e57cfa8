/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The interactive shell: its process waits here between command lines, so cwd, variables and jobs stay, and answers
 * questions (is this line complete? what could this word become?) on its own coroutine, where the parser and the tree
 * may be used.
 */

#include "session/session_int.h"

#include <errno.h>

#include "base/mem.h"

static void answer(struct session_run *r)
{
    buf_clear(&r->answer);
    r->answer_value = 0;
    struct shell *sh = r->serve.shell;
    if (r->query.kind == WIRE_QUERY_SYNTAX) {
        r->answer_value = (uint32_t)shell_check_syntax(sh, r->query.text);
    } else {
        size_t from = 0;
        shell_complete(sh, r->query.text, &from, &r->answer);
        r->answer_value = (uint32_t)from;
    }
    r->query_given = false;
}

static void make_prompts(struct session_run *r)
{
    buf_clear(&r->prompt);
    buf_clear(&r->prompt2);
    shell_prompt(r->serve.shell, false, &r->prompt);
    shell_prompt(r->serve.shell, true, &r->prompt2);
}

/* shell_driver.next: blocks until there is a line. A signal that comes meanwhile (^C at the prompt) is no reason to
 * end. */
static int next_line(void *arg, struct proc *p, struct str *ret_text)
{
    struct session *s = arg;
    struct session_run *r = s->run;
    if (!r->shell_idle) {
        make_prompts(r);
        r->shell_idle = true;
        r->line_done = true;
    }
    while (!r->line_given && !r->line_end) {
        if (p->must_end)
            return 0;
        if (r->query_given)
            answer(r);
        else
            (void)proc_block(p, &r->wait, INT64_MAX); /* every outcome leads back to the conditions above */
        while (proc_signal_pending(p))
            (void)proc_take_signal(p);
    }
    if (!r->line_given)
        return 0;
    r->line_given = false;
    r->shell_idle = false;
    *ret_text = buf_str(&r->line);
    return 1;
}

static void line_done(void *arg, struct proc *p, int status, bool exited)
{
    struct session *s = arg;
    (void)p;
    s->run->line_status = status;
    s->run->shell_exited = exited;
    session__keep_line(s);
}

void session__serve_init(struct session *s)
{
    struct session_run *r = s->run;
    r->driver = (struct shell_driver){.arg = s, .next = next_line, .done = line_done};
    r->serve.driver = &r->driver;
}

int session_line(struct session *s, struct str line, bool end)
{
    struct session_run *r = s->run;
    if (!r || r->ended || !r->serving)
        return -ESRCH;
    if (!r->shell_idle || r->line_given)
        return -EBUSY;
    buf_clear(&r->line);
    if (buf_adds(&r->line, line))
        return r->line.err;
    s->tape.fresh = false;
    int e = session__tape_begin(s);
    if (e)
        return e;
    r->line_end = end;
    r->start_ns = proc_now(s->ps);
    if (!end) {
        r->line_given = true;
        proc_begin(s->ps);
    }
    proc_wake(&r->wait);
    return 0;
}

int session_query(struct session *s, const struct wire_query *q, struct wire_answer *ret)
{
    struct session_run *r = s->run;
    if (!r || r->ended || !r->serving)
        return -ESRCH;
    if (!r->shell_idle || r->line_given)
        return -EBUSY;
    if (proc_count(s->ps) > 1)
        session__inexact(s, "a question was answered while other processes ran");
    r->query = *q;
    r->query_given = true;
    proc_wake(&r->wait);
    int64_t wake;
    if (proc_run(s->ps, r->main, &wake) || r->query_given)
        return -EBUSY;
    *ret = (struct wire_answer){r->answer_value, buf_str(&r->answer)};
    return 0;
}
