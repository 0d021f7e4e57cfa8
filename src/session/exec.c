/* SPDX-License-Identifier: Apache-2.0 */

/* Starting an exec, letting it run, and telling how it ended. */

#include "session/session_int.h"

#include <errno.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/num.h"
#include "policy/policy.h"
#include "types/errtab.h"

/* ---- what the process set asks of us ---- */

/* Gives the terminal what was typed, and asks for more when it has all. */
static void type(struct session *s)
{
    struct session_run *r = s->run;
    if (!r || !r->tty || r->ended || s->tape.now == TAPE_REPLAYS)
        return;
    struct str rest = buf_str(&r->typed);
    size_t n = rest.n ? proc_tty_input(r->tty, rest.p, rest.n) : 0;
    if (n) {
        session__note(s, TRACE_IN_STDIN, 0, str_of(rest.p, n));
        memmove(r->typed.p, r->typed.p + n, rest.n - n);
        buf_trunc(&r->typed, rest.n - n);
    }
    if (r->typed.n)
        return;
    if (r->typed_end) {
        r->typed_end = false;
        r->asked = true; /* nothing more comes */
        proc_tty_hangup(r->tty);
        session__note(s, TRACE_IN_EOF, 0, STR(""));
    }
    if (!r->asked && s->host->want_input)
        s->host->want_input(s->host->arg);
    r->asked = true;
}

static void need_typed(void *arg)
{
    type(arg);
}

static void attend(void *arg)
{
    struct session *s = arg;
    (void)session__play_due(s);
    type(s);
    if (s->host->attend)
        s->host->attend(s->host->arg);
}

static void need_input(void *arg)
{
    struct session *s = arg;
    if (s->host->want_input && s->tape.now != TAPE_REPLAYS)
        s->host->want_input(s->host->arg);
}

static ssize_t put(struct session *s, int stream, const void *p, size_t n)
{
    if (s->run && s->run->closed[stream])
        return -EPIPE;
    ssize_t r = s->host->output(s->host->arg, stream, p, n);
    if (r != -EPIPE || s->tape.now == TAPE_NONE)
        return r;
    if (s->tape.now == TAPE_REPLAYS)
        return (ssize_t)n; /* it was taken when it was recorded */
    session_close_output(s, stream);
    return r;
}

static ssize_t put_out(void *arg, const void *p, size_t n)
{
    return put(arg, 1, p, n);
}

static ssize_t put_err(void *arg, const void *p, size_t n)
{
    return put(arg, 2, p, n);
}

/* ---- environment ---- */

static const char *default_path(const struct session *s)
{
    /* As Debian's /etc/profile has it. */
    return s->user.cred.uid == 0 ? "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
                                 : "/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games";
}

static char *pair(struct arena *a, const char *k, const char *v)
{
    return arena_printf(a, "%s=%s", k, v);
}

/* Sets an entry of "K=V" form, replacing one of the same name. */
static void env_set(char **env, uint32_t *n, char *kv)
{
    size_t len = (size_t)(strchr(kv, '=') - kv) + 1;
    for (uint32_t i = 0; i < *n; i++) {
        if (strncmp(env[i], kv, len) == 0) {
            env[i] = kv;
            return;
        }
    }
    env[(*n)++] = kv;
}

char **session__make_env(struct session *s, struct arena *a, const struct wire_list *extra, bool tty)
{
    const char *const pairs[][2] = {
        {"USER", s->user.name},    {"LOGNAME", s->user.name}, {"HOME", s->user.home}, {"SHELL", s->user.shell},
        {"PATH", default_path(s)}, {"LANG", "C.UTF-8"},       {"PWD", session__begins(s)},
    };
    size_t n_pairs = sizeof(pairs) / sizeof(pairs[0]);
    char **env = arena_alloc(a, (n_pairs + extra->n + 2) * sizeof(*env));
    uint32_t n = 0;
    for (size_t i = 0; i < n_pairs; i++)
        env[n++] = pair(a, pairs[i][0], pairs[i][1]);
    if (tty)
        env[n++] = pair(a, "TERM", "xterm-256color");
    for (uint32_t i = 0; i < extra->n; i++) {
        if (memchr(extra->v[i].p, '=', extra->v[i].n))
            env_set(env, &n, arena_dup(a, extra->v[i].p, extra->v[i].n));
    }
    env[n] = NULL;
    return env;
}

/* ---- starting ---- */

static char **make_argv(struct arena *a, const struct wire_exec *e, int *ret_argc)
{
    uint32_t n = e->argv.n;
    char **v = arena_alloc(a, (n + 5) * sizeof(*v));
    int argc = 0;
    if (e->kind != WIRE_EXEC_ARGV)
        v[argc++] = arena_dup(a, e->posix ? "sh" : "bash", e->posix ? 2 : 4);
    if (e->kind == WIRE_EXEC_TEXT) {
        v[argc++] = arena_dup(a, "-c", 2);
        if (e->text.n && e->text.p[0] == '-')
            v[argc++] = arena_dup(a, "--", 2);
        v[argc++] = arena_dup(a, e->text.p, e->text.n);
    }
    for (uint32_t i = 0; i < n; i++)
        v[argc++] = arena_dup(a, e->argv.v[i].p, e->argv.v[i].n);
    v[argc] = NULL;
    *ret_argc = argc;
    return v;
}

static bool has_nul(struct str s)
{
    return s.n && memchr(s.p, 0, s.n) != NULL;
}

static int check(const struct wire_exec *e, struct err *err)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < e->argv.n; i++) {
        if (has_nul(e->argv.v[i]))
            return err_set(err, -EINVAL, "argument %u holds a NUL byte", i + 1);
        bytes += e->argv.v[i].n + 1;
    }
    for (uint32_t i = 0; i < e->env.n; i++) {
        if (has_nul(e->env.v[i]) || !e->env.v[i].n || e->env.v[i].p[0] == '=' ||
            !memchr(e->env.v[i].p, '=', e->env.v[i].n))
            return err_set(err, -EINVAL, "environment entry %u is not NAME=VALUE", i + 1);
        bytes += e->env.v[i].n + 1;
    }
    if (bytes > LIMIT_ARGS)
        return err_set(err, -E2BIG, "arguments and environment together are over %u bytes", LIMIT_ARGS);
    if (e->text.n > LIMIT_SCRIPT)
        return err_set(err, -EFBIG, "the script is over %u bytes", LIMIT_SCRIPT);
    if (e->kind == WIRE_EXEC_ARGV && e->argv.n == 0)
        return err_set(err, -EINVAL, "no command is given");
    if (e->cwd.n && (e->cwd.p[0] != '/' || has_nul(e->cwd) || e->cwd.n >= LIMIT_PATH))
        return err_set(err, -EINVAL, "the working directory is not an absolute path");
    if (e->kind == WIRE_EXEC_TEXT && has_nul(e->text))
        return err_set(err, -EINVAL, "the command text holds a NUL byte");
    return 0;
}

/* Each decision once, as one line of three texts apart by tabs. What does not fit any more is left out. */
static void decided(void *arg, struct str command, const char *engine, struct str reason)
{
    struct session *s = arg;
    char line[512];
    if (!s->run)
        return;
    int n = snprintf(line, sizeof line, "%.*s\t%s\t%.*s\n", (int)command.n, command.p, engine, (int)reason.n, reason.p);
    if (n <= 0 || (size_t)n >= sizeof line)
        return;
    struct buf *out = &s->run->decisions;
    struct str known = buf_str(out), it = str_of(line, (size_t)n);
    for (size_t at = 0; at < known.n;) {
        struct str rest = str_from(known, at);
        if (str_starts(rest, it))
            return;
        at += (size_t)str_find(rest, '\n', 0) + 1;
    }
    if (out->n + it.n <= out->max)
        (void)buf_adds(out, it);
}

/* Why the policy does not let the program run, with the change that would; NULL when it does. */
static const char *refuses(void *arg, struct str name)
{
    struct session *s = arg;
    if (policy_command(s->policy, name))
        return NULL;
    BUF_AUTO struct buf ask, rules, change, text;
    buf_init(&ask, LIMIT_PATH);
    buf_init(&rules, LIMIT_POLICY_TEXT);
    buf_init(&change, LIMIT_POLICY_TEXT);
    buf_init(&text, 2 * LIMIT_POLICY_TEXT);
    struct policy_answer a = {.rules = &rules, .change = &change};
    buf_addf(&ask, "command %.*s", (int)name.n, name.p);
    if (policy_explain(s->policy, buf_str(&ask), &a, NULL) || a.allowed)
        buf_clear(&change); /* a name that no rule can hold */
    struct str rule = rules.n ? str_of(rules.p, (size_t)str_find(buf_str(&rules), '\n', 0)) : STR("no rule grants it");
    decided(s, name, "refused", rule);
    buf_addf(&text, "the policy of the session refuses %.*s (%.*s)", (int)name.n, name.p, (int)rule.n, rule.p);
    if (change.n)
        buf_addc(&text, "; it would be allowed by: ");
    for (size_t i = 0; i + 1 < change.n; i++) {
        if (change.p[i] == '\n')
            buf_addc(&text, ", ");
        else
            buf_putc(&text, change.p[i]);
    }
    mem_free(s->refusal);
    s->refusal = buf_take(&text);
    return s->refusal;
}

/* The process set and the shell's world, with the tape that was asked for. What a set that lived before has kept
 * (memory charged, numbers given, its boot) is no part of a tape: unless processes live, such an exec gets a new one.
 */
static int make_world(struct session *s, struct err *err)
{
    bool had = s->ps != NULL;
    int next_pid = had ? proc_next_pid(s->ps) : 0;
    s->tape.fresh = !s->world || (s->tape.next != TAPE_NONE && proc_count(s->ps) == 0);
    if (!s->tape.fresh)
        return session__tape_begin(s) ? err_set(err, -ENOMEM, "no memory for the session's tape") : 0;
    s->tape.resized = false;
    s->tape.inexact = NULL;
    s->proc_host = (struct proc_host){.arg = s, .attend = attend, .decided = decided};
    s->proc_host.refuses = s->policy ? refuses : NULL;
    if (had)
        proc_set_renew(s->ps, s->tree, &s->limits, &s->proc_host);
    else
        s->ps = proc_set_new(s->tree, &s->limits, &s->proc_host);
    shell_world_free(s->world);
    s->world = s->ps ? shell_world_new(s->ps) : NULL;
    const struct session_userland *u = s->userland;
    if (!s->world || (u && u->engine && proc_add_engine(s->ps, u->engine, u->engine_obj) < 0) ||
        session__tape_begin(s) || proc_provide(s->ps)) {
        session__tape_end(s);
        proc_set_free(s->ps);
        shell_world_free(s->world);
        s->ps = NULL;
        s->world = NULL;
        return err_set(err, -ENOMEM, "no memory for processes and the shell");
    }
    if (had && s->tape.begin->first_pid == 0)
        proc_set_next_pid(s->ps, next_pid);
    return 0;
}

static void fill_start(struct session *s, const struct wire_exec *e, struct session_run *r)
{
    struct shell_start *st = e->kind == WIRE_EXEC_SERVE ? &r->serve.start : &r->start;
    st->world = s->world;
    st->argv = make_argv(&r->arena, e, &st->argc);
    if (e->keep)
        session__keep_start(s, e, st);
    else
        st->envp = session__make_env(s, &r->arena, &e->env, e->tty != 0);
    st->posix = e->posix;
    if (e->kind == WIRE_EXEC_SCRIPT) {
        st->has_script = true;
        st->script = arena_str(&r->arena, e->text);
        st->script_name = st->argc > 1 ? st->argv[1] : "script";
    }
}

/* Its standard input, output and error: 0 or -ENOMEM. A file that was made is taken by proc_start(). */
static int open_streams(struct session *s, const struct wire_exec *e, struct session_run *r, struct proc_file *ret[3])
{
    if (e->tty == WIRE_TTY) {
        ret[0] = proc_file_tty(s->ps, put_out, need_typed, s, &r->tty);
        if (!ret[0])
            return -ENOMEM;
        ret[1] = proc_file_ref(ret[0]);
        ret[2] = proc_file_ref(ret[0]);
        r->typed_end = !e->stdin_open;
        return 0;
    }
    bool fed = e->stdin_open || (e->tty & 1) || e->kind == WIRE_EXEC_SERVE;
    ret[0] = fed ? proc_file_feed(s->ps, (e->tty & 1) != 0, need_input, s, &r->feed) : proc_file_null(s->ps);
    ret[1] = proc_file_sink(s->ps, (e->tty & 2) != 0, put_out, s);
    ret[2] = proc_file_sink(s->ps, (e->tty & 4) != 0, put_err, s);
    if (!ret[0] || !ret[1] || !ret[2])
        return -ENOMEM;
    if (fed && !e->stdin_open)
        proc_feed_eof(r->feed);
    return 0;
}

static int start_main(struct session *s, const struct wire_exec *e, struct session_run *r)
{
    struct proc_file *io[3];
    struct outcome (*body)(struct proc *, void *) = shell_main;
    void *arg = &r->start;
    if (e->kind == WIRE_EXEC_ARGV)
        body = shell_main_argv;
    if (e->kind == WIRE_EXEC_SERVE) {
        body = shell_serve_main;
        arg = &r->serve;
        session__serve_init(s);
        r->serve.interactive = true;
    }
    int rc = open_streams(s, e, r, io);
    if (rc)
        return rc;
    proc_set_winsize(s->ps, e->rows, e->cols);
    proc_begin(s->ps);
    return proc_start(s->ps, &s->user.cred, str_c(session__begins(s)), 022, io[0], io[1], io[2], body, arg,
                      &r->main);
}

int session_exec(struct session *s, const struct wire_exec *e, struct err *err)
{
    if (s->run && !s->run->ended)
        return err_set(err, -EBUSY, "a command is running in this session");
    int r = check(e, err);
    if (r == 0 && e->atomic && s->ps && proc_count(s->ps) > 0)
        r = err_set(err, -EBUSY,
                    "a process of an earlier command is alive, and what it changes could not be told from what an "
                    "atomic command does");
    if (r == 0)
        r = make_world(s, err);
    if (r == 0 && !s->run && session_mark_base(s)) /* what was copied in before the first command is no change of it */
        r = err_set(err, -ENOMEM, "no memory for the session's tree");
    if (r) {
        session__tape_end(s);
        return r;
    }
    mem_free(s->exec_cwd);
    s->exec_cwd = e->cwd.n && !e->keep ? mem_dup(e->cwd.p, e->cwd.n) : NULL;
    session__run_free(s);
    struct session_run *run = mem_zalloc(sizeof(*run));
    buf_init(&run->line, LIMIT_SCRIPT);
    buf_init(&run->answer, LIMIT_MSG_DATA);
    buf_init(&run->prompt, LIMIT_PATH);
    buf_init(&run->prompt2, LIMIT_PATH);
    buf_init(&run->decisions, LIMIT_DECISIONS);
    buf_init(&run->typed, LIMIT_MSG_DATA);
    s->run = run;
    run->serving = e->kind == WIRE_EXEC_SERVE;
    run->want_root = e->want_root;
    run->start_ns = proc_now(s->ps);
    fill_start(s, e, run);
    run->before = e->atomic ? vfs_fork(s->tree) : NULL;
    r = e->atomic && !run->before ? -ENOMEM : start_main(s, e, run);
    if (r) {
        session__run_close(run);
        session__tape_end(s);
        session__run_free(s);
        return err_set(err, r, "cannot start in '%s': %s", session__begins(s), errtab_text(r));
    }
    run->main_pid = run->main->pid;
    proc_set_foreground(s->ps, run->main->pgid);
    return 0;
}

/* ---- running ---- */

static bool line_ended(struct session *s)
{
    struct session_run *r = s->run;
    if (!r->serving || !r->line_done || proc_held(s->ps))
        return false;
    r->line_done = false;
    buf_clear(&r->decisions);
    return true;
}

static void main_ended(struct session *s)
{
    struct session_run *r = s->run;
    r->outcome = r->main->outcome;
    /* A command that met the memory limit in its last step, between two looks at it, did not end well by itself. */
    if (r->outcome.kind == OUTCOME_EXITED && proc_set_mem(s->ps)->hit)
        r->outcome = (struct outcome){.kind = OUTCOME_KILLED, .signal = SIGKILL, .reason = REASON_MEMORY};
    r->ended = true;
    r->shell_exited = true;
    proc_forget(s->ps, r->main);
    r->main = NULL;
}

int session_step(struct session *s, int64_t *ret_wake)
{
    struct session_run *r = s->run;
    *ret_wake = INT64_MAX;
    if (!session__alive(s))
        return 0;
    bool ended, line = false;
    type(s);
    do {
        (void)session__play_due(s);
        ended = proc_run(s->ps, r->main, ret_wake);
        line = !ended && line_ended(s);
        /* What the owner waited for when it was recorded has come in a replay. */
    } while (!ended && !line && s->tape.now == TAPE_REPLAYS && !proc_held(s->ps));
    if (!ended && !line)
        return 0;
    if (ended && r->tty && !proc_tty_quiet(r->tty))
        return 0; /* what was typed at last is still to be shown: session_output_ready() leads here again */
    if (ended)
        main_ended(s);
    else
        r->outcome = (struct outcome){.kind = OUTCOME_EXITED, .code = (uint8_t)r->line_status};
    if (r->outcome.kind == OUTCOME_EXITED && !(r->before && r->outcome.code))
        session__keep_commit(s);
    r->end_ns = proc_now(s->ps);
    session__tape_end(s);
    if (ended) {
        /* Only the answer is still asked for, and the session may be idle for a long time. */
        session__run_close(r);
        arena_done(&r->arena);
        buf_done(&r->line);
    }
    return 1;
}

void session_pause(struct session *s)
{
    if (s->ps)
        proc_pause(s->ps);
}

void session_result(struct session *s, struct wire_result *ret)
{
    *ret = (struct wire_result){.outcome = {.kind = OUTCOME_LOST}};
    struct session_run *r = s->run;
    if (!r || !s->ps)
        return;
    struct proc_usage u;
    struct vfs_quota used;
    proc_set_usage(s->ps, &u);
    vfs_usage(s->tree, &used);
    ret->outcome = r->outcome;
    ret->cpu_us = (uint64_t)(u.cpu_ns / CLOCK_US);
    ret->wall_us = (uint64_t)((r->end_ns - r->start_ns) / CLOCK_US);
    ret->output_bytes = u.output_bytes;
    ret->memory_peak = u.memory_peak;
    ret->processes = u.processes;
    ret->files_bytes = used.bytes;
    ret->inodes = used.inodes;
    ret->prompt = buf_str(&r->prompt);
    ret->prompt2 = buf_str(&r->prompt2);
    ret->exited = r->shell_exited;
    ret->decisions = buf_str(&r->decisions);
    if (r->keep_error)
        ret->message = STR("the shell's state could not be kept");
    if (r->want_root && session_root(s, ret->root))
        memset(ret->root, 0, sizeof(ret->root));
}

/* ---- what comes from outside ---- */

/* Whether what the owner sends counts: to an exec that runs, and that is no replay. */
static bool lets_in(const struct session *s)
{
    return session__alive(s) && s->tape.now != TAPE_REPLAYS;
}

/* Whether there is anybody for input: not with /dev/null instead. */
static bool reads(const struct session *s)
{
    return lets_in(s) && (s->run->feed || s->run->tty);
}

size_t session_input_room(const struct session *s)
{
    if (!lets_in(s))
        return 0;
    if (s->run->tty)
        return s->run->typed_end ? 0 : s->run->typed.max - s->run->typed.n;
    return s->run->feed ? proc_feed_room(s->run->feed) : 0;
}

size_t session__put_input(struct session *s, struct str data)
{
    if (s->run->tty)
        return proc_tty_input(s->run->tty, data.p, data.n);
    return proc_feed_push(s->run->feed, data.p, data.n);
}

void session__put_eof(struct session *s)
{
    if (s->run->tty)
        proc_tty_hangup(s->run->tty);
    else
        proc_feed_eof(s->run->feed);
}

size_t session_input(struct session *s, struct str data)
{
    if (lets_in(s) && s->run->tty) {
        data.n = NUM_MIN(data.n, session_input_room(s));
        if (buf_adds(&s->run->typed, data))
            return 0;
        s->run->asked = false;
        type(s);
        return data.n;
    }
    size_t n = reads(s) ? session__put_input(s, data) : 0;
    if (n)
        session__note(s, TRACE_IN_STDIN, 0, str_of(data.p, n));
    return n;
}

void session_input_end(struct session *s)
{
    if (!reads(s))
        return;
    if (s->run->tty) {
        s->run->typed_end = true;
        type(s);
        return;
    }
    session__put_eof(s);
    session__note(s, TRACE_IN_EOF, 0, STR(""));
}

void session__close(struct session *s, int stream)
{
    if (stream == 1 || stream == 2)
        s->run->closed[stream] = true;
    proc_sink_ready(s->ps);
}

void session_close_output(struct session *s, int stream)
{
    if (!s->run || s->tape.now == TAPE_REPLAYS || (stream != 1 && stream != 2))
        return;
    if (!s->run->closed[stream])
        session__note(s, TRACE_IN_CLOSE, (uint32_t)stream, STR(""));
    session__close(s, stream);
}

void session_output_ready(struct session *s)
{
    if (!s->ps)
        return;
    proc_sink_ready(s->ps);
    type(s);
}

void session__send(struct session *s, int sig, bool all)
{
    proc_signal_group(s->ps, proc_foreground(s->ps), sig);
    if (all && proc_foreground(s->ps) != s->run->main->pgid)
        proc_signal_group(s->ps, s->run->main->pgid, sig);
}

void session_signal(struct session *s, int sig, bool all)
{
    if (!lets_in(s) || sig < 1 || sig > 64)
        return;
    session__note(s, TRACE_IN_SIGNAL, (uint32_t)sig | (all ? SIGNAL_ALL : 0), STR(""));
    session__send(s, sig, all);
}

void session_kill(struct session *s, enum outcome_reason reason)
{
    if (!session__alive(s))
        return;
    if (s->tape.now == TAPE_REPLAYS)
        session__wrong(s, "its owner stopped it");
    session__note(s, TRACE_IN_KILL, reason, STR(""));
    proc_kill_all(s->ps, reason);
}

void session__set_size(struct session *s, uint16_t rows, uint16_t cols)
{
    proc_set_winsize(s->ps, rows, cols);
    proc_signal_group(s->ps, proc_foreground(s->ps), SIGWINCH);
}

void session_resize(struct session *s, uint16_t rows, uint16_t cols)
{
    if (!s->ps || s->tape.now == TAPE_REPLAYS)
        return;
    session__note(s, TRACE_IN_RESIZE, (uint32_t)rows << 16 | cols, STR(""));
    session__set_size(s, rows, cols);
}
