/* SPDX-License-Identifier: Apache-2.0 */

/* The shell that goes on from exec to exec. */

#include "session/session_int.h"

#include <errno.h>

#include "base/mem.h"

/* In the shell's process, whose account does not pay for what the session keeps. */
static void take(void *arg, struct shell *sh)
{
    struct session_run *r = arg;
    BUF_AUTO struct buf state;
    buf_init(&state, LIMIT_SHELL_STATE);
    r->keep_error = shell_save(sh, &state);
    struct mem_account *acc = mem_use(NULL);
    buf_clear(&r->kept);
    if (r->keep_error == 0)
        r->keep_error = buf_adds(&r->kept, buf_str(&state));
    mem_use(acc);
    r->has_kept = r->keep_error == 0;
}

void session__keep_start(struct session *s, const struct wire_exec *e, struct shell_start *st)
{
    struct session_run *r = s->run;
    uint32_t n = 0;
    char **env = arena_alloc(&r->arena, ((size_t)e->env.n + 1) * sizeof *env);
    for (uint32_t i = 0; i < e->env.n; i++)
        env[n++] = arena_dup(&r->arena, e->env.v[i].p, e->env.v[i].n);
    env[n] = NULL;
    bool child = e->kind == WIRE_EXEC_ARGV || e->kind == WIRE_EXEC_SCRIPT;
    r->keep = (struct shell_keep){
        .state = buf_str(&s->shell_state), .env = env, .exports_only = child, .ended = child ? NULL : take, .arg = r};
    st->envp = session__make_env(s, &r->arena, &(struct wire_list){0}, e->tty != 0);
    st->keep = &r->keep;
    buf_init(&r->kept, LIMIT_SHELL_STATE);
}

void session__keep_line(struct session *s)
{
    struct session_run *r = s->run;
    if (r->keep.ended && r->serve.shell)
        take(r, r->serve.shell);
}

void session__keep_commit(struct session *s)
{
    struct session_run *r = s->run;
    if (!r->has_kept)
        return;
    struct buf before = s->shell_state;
    s->shell_state = r->kept;
    r->kept = before;
    r->has_kept = false;
}

struct str session_shell_state(const struct session *s)
{
    return buf_str(&s->shell_state);
}

int session_set_shell_state(struct session *s, struct str state)
{
    BUF_AUTO struct buf copy;
    buf_init(&copy, LIMIT_SHELL_STATE);
    if (s->run && !s->run->ended)
        return -EBUSY;
    int r = shell_state_check(state);
    if (r == 0)
        r = buf_adds(&copy, state);
    if (r)
        return r;
    struct buf before = s->shell_state;
    s->shell_state = copy;
    copy = before;
    return 0;
}
