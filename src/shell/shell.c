/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/shell.h"

#include <errno.h>
#include <fcntl.h>

#include "base/clock.h"
#include "base/num.h"
#include "base/mem.h"
#include "shell/builtin/compgen_int.h"
#include "shell/engine_builtin_int.h"
#include "shell/exec_int.h"
#include "shell/history_int.h"
#include "shell/job_int.h"
#include "shell/options_int.h"
#include "shell/start_int.h"
#include "shell/state_int.h"
#include "shell/trap_int.h"
#include "shell/var_special_int.h"
#include "types/errtab.h"

/* ---- the world ---- */

struct shell_world *shell_world_new(struct proc_set *ps)
{
    struct shell_world *w = mem_try_zalloc(sizeof *w);
    if (!w)
        return NULL;
    w->ps = ps;
    arena_init(&w->arena);
    map_init(&w->syms);
    if (proc_add_engine(ps, &engine_builtin, w) < 0) {
        mem_free(w);
        return NULL;
    }
    return w;
}

/* Symbols and patterns are of use to living shells only; a session that waits for its next command holds none. */
static void world_clear(struct shell_world *w)
{
    exec_regex_free(w);
    map_done(&w->syms);
    mem_free(w->sym_v);
    w->sym_v = NULL;
    w->n_syms = w->cap_syms = 0;
    arena_done(&w->arena);
}

void shell_world_free(struct shell_world *w)
{
    if (!w)
        return;
    world_clear(w);
    mem_free(w);
}

/* ---- one shell ---- */

struct shell *shell_new(struct shell_world *w, struct proc *p)
{
    struct shell *sh = mem_zalloc(sizeof *sh);
    sh->world = w;
    w->n_shells++;
    sh->p = p;
    sh->ps = w->ps;
    sh->root_pid = p->pid;
    sh->xtrace_fd = -1;
    sh->vars = mem_zalloc(sizeof *sh->vars);
    sh->vars->refs = 1;
    sh->pipestatus = mem_zalloc(sizeof *sh->pipestatus);
    sh->cap_pipestatus = 1;
    buf_init(&sh->out, LIMIT_STRING);
    arena_init(&sh->scratch);
    options_init(sh);
    shell_lookup_changed(sh);
    var__special_symbols(sh);
    var__special_bind(sh);
    uint32_t seed;
    proc_entropy(w->ps, &seed, sizeof seed);
    sh->rng = seed & 0x7fffffff;
    sh->start_wall = proc_wall(w->ps) / CLOCK_S;
    return sh;
}

static struct str dup_str(struct str s)
{
    return s.p ? str_of(mem_dup(s.p, s.n), s.n) : s;
}

static void free_str(struct str s)
{
    mem_free((void *)(uintptr_t)s.p);
}

void shell__reset_signals(const struct shell *sh, struct proc *child)
{
    static const int own[] = {SIGINT, SIGTERM, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        const char *text = trap_get(sh, own[i]);
        bool stays = (text && !*text) || (sh->sig_ignored_at_start >> (own[i] - 1) & 1);
        (void)proc_sigaction(child, own[i], stays ? PROC_SIG_IGNORE : PROC_SIG_DEFAULT);
    }
}

struct shell *shell_clone(struct shell *sh, struct proc *child)
{
    struct shell *c = mem_alloc(sizeof *c);
    *c = *sh;
    c->world->n_shells++;
    c->p = child;
    if (sh->interactive && child != sh->p)
        shell__reset_signals(sh, child);
    arena_init(&c->scratch);
    buf_init(&c->out, LIMIT_STRING);
    c->expand = NULL;
    c->vars = vartab_ref(sh->vars);
    shell__share_maps(sh, c);
    c->traps = traps_ref(sh->traps);
    c->traps_reset = sh->traps != NULL;
    c->trap_running = 0;
    c->chld_pending = 0;
    c->traps_busy = 0;
    c->end_signal = 0;
    c->exit_trap_done = false;
    c->args = posargs_ref(sh->args);
    c->main_args = posargs_ref(sh->main_args);
    c->env_extra = posargs_ref(sh->env_extra);
    c->names = names_ref(sh->names);
    c->frame = frame_ref(sh->frame);
    if (sh->arg0_heap) {
        c->arg0_heap = mem_dup(sh->arg0.p, sh->arg0.n);
        c->arg0.p = c->script_name = c->arg0_heap;
    }
    c->pipestatus = mem_alloc(NUM_MAX(sh->n_pipestatus, 1u) * sizeof *c->pipestatus);
    c->cap_pipestatus = NUM_MAX(sh->n_pipestatus, 1u);
    memcpy(c->pipestatus, sh->pipestatus, sh->n_pipestatus * sizeof *c->pipestatus);
    c->last_arg = dup_str(sh->last_arg);
    c->last_arg_cap = c->last_arg.p ? c->last_arg.n + 1 : 0;
    c->pwd = dup_str(sh->pwd);
    c->dirstack = NULL;
    if (sh->n_dirstack) {
        c->dirstack = mem_alloc(sh->n_dirstack * sizeof *c->dirstack);
        for (uint32_t i = 0; i < sh->n_dirstack; i++)
            c->dirstack[i] = dup_str(sh->dirstack[i]);
    }
    c->jobs = NULL;
    c->jobs_inherited = false;
    c->known = NULL;
    c->n_known = c->cap_known = 0;
    c->dyn = NULL;
    c->procsub_fds = NULL;
    c->n_procsub = 0;
    c->history = sh_history_ref(sh->history);
    c->completions = compgen_specs_ref(sh->completions);
    c->kept = NULL;
    c->opts &= ~(uint32_t)OPT_MONITOR;
    c->flow = FLOW_NONE;
    c->is_subshell = true;
    c->interactive = false;
    c->exec_done = false;
    c->rng_last = 0;
    c->rng = sh->rng * 1103515245u + (uint32_t)child->pid; /* each subshell has numbers of its own */
    return c;
}

void shell_free(struct shell *sh)
{
    if (!sh)
        return;
    while (sh->frame && sh->frame->refs == 1 && !sh->is_subshell)
        var_pop_frame(sh);
    frame_unref(sh->frame);
    vartab_unref(sh->vars);
    shell__drop_maps(sh);
    traps_unref(sh->traps);
    posargs_unref(sh->args);
    posargs_unref(sh->main_args);
    posargs_unref(sh->env_extra);
    names_unref(sh->names);
    mem_free(sh->arg0_heap);
    mem_free(sh->pipestatus);
    free_str(sh->last_arg);
    free_str(sh->pwd);
    for (uint32_t i = 0; i < sh->n_dirstack; i++)
        free_str(sh->dirstack[i]);
    mem_free(sh->dirstack);
    mem_free(sh->procsub_fds);
    job_drop_all(sh);
    sh_history_unref(sh->history);
    compgen_specs_unref(sh->completions);
    shell__kept_free(sh);
    var__special_done(sh);
    buf_done(&sh->out);
    expand_done(sh);
    arena_done(&sh->scratch);
    struct shell_world *w = sh->world;
    mem_free(sh);
    if (--w->n_shells == 0)
        world_clear(w);
}

struct outcome shell_finish(struct shell *sh)
{
    bool goes_on = sh->kept && sh->flow == FLOW_NONE; /* its text is over, but not the shell */
    if (sh->exec_done)
        return sh->exec_outcome;
    if (sh->flow != FLOW_KILLED && sh->traps && !sh->p->must_end) {
        int status = sh->last_status;
        sh->flow = FLOW_NONE;
        trap_run_pending(sh); /* a signal that came during the last command */
        if (sh->flow == FLOW_NONE)
            sh->last_status = status;
        sh->flow = FLOW_NONE;
        if (!goes_on)
            trap_exit(sh);
    }
    if (sh->exec_done)
        return sh->exec_outcome;
    if (sh->out.n)
        (void)sh_flush(sh);
    if (!sh->p->must_end)
        sh_history_end(sh);
    exec__close_procsubs(sh, 0);
    if (sh->end_signal)
        proc_die(sh->p, sh->end_signal);
    return (struct outcome){.kind = OUTCOME_EXITED, .code = (uint8_t)(sh->last_status & 255)};
}

/* ---- reading a script from standard input ---- */

/* One line, and not a byte more: what follows belongs to the commands. */
static int more_stdin(void *arg, struct buf *out, bool continuation)
{
    struct shell *sh = arg;
    (void)continuation;
    for (;;) {
        const void *p;
        size_t n;
        int r = proc_peek(sh->p, 0, &p, &n);
        if (r == -EINTR && !sh->p->must_end) {
            if (sh_poll(sh))
                return -EINTR;
            continue;
        }
        if (r == -EINTR)
            return r;
        if (r < 0 || n == 0)
            return out->n > 0;
        const char *nl = memchr(p, '\n', n);
        size_t take = nl ? (size_t)(nl - (const char *)p) + 1 : n;
        if (buf_add(out, p, take) < 0)
            return -ENOMEM;
        proc_consume(sh->p, 0, take);
        if (nl)
            return 1;
    }
}

static void run_stdin(struct shell *sh)
{
    struct parse_input in = {more_stdin, sh};
    struct parser *ps = parser_new(sh, (struct str){0}, &in, 1);
    if (ps)
        (void)exec_script(sh, ps);
    parser_free(ps);
}

/* ---- main ---- */

static void run_text(struct shell *sh, struct str text)
{
    struct parser *ps = parser_new(sh, text, NULL, 1);
    if (ps)
        (void)exec_script(sh, ps);
    parser_free(ps);
}

struct outcome shell_main(struct proc *p, void *arg)
{
    const struct shell_start *st = arg;
    struct shell *sh = shell_new(st->world, p);
    if (st->argc > 0) {
        p->argv = st->argv;
        p->comm = st->posix ? "sh" : "bash";
    }
    struct buf script BUF_AUTO;
    struct str text = {0};
    buf_init(&script, LIMIT_SCRIPT);
    enum start_mode mode = start_prepare(sh, st, &script, &text);
    if (mode == START_TEXT)
        run_text(sh, text);
    else if (mode == START_STDIN && sh->interactive && proc_isatty(p, 0))
        shell__terminal_run(sh);
    else if (mode == START_STDIN)
        run_stdin(sh);
    struct outcome o = shell_finish(sh);
    shell__state_end(sh, o);
    shell_free(sh);
    p->argv = NULL;
    return o;
}

struct outcome shell_main_argv(struct proc *p, void *arg)
{
    const struct shell_start *st = arg;
    struct shell *sh = shell_new(st->world, p);
    start_environment(sh, st);
    (void)shell__state_begin(sh, st->keep); /* exports only: there is nothing to go on with */
    sh->script_name = "frontal-sandbox";
    struct str *v = arena_alloc(&sh->scratch, (size_t)st->argc * sizeof *v + 1);
    for (int i = 0; i < st->argc; i++)
        v[i] = str_c(st->argv[i]);
    sh->plain_errors = true;
    if (st->argc > 0)
        sh->last_status = exec__program(sh, NULL, st->argc, v, EXEC_NO_FORK, NULL);
    struct outcome o = shell_finish(sh);
    shell_free(sh);
    return o;
}
