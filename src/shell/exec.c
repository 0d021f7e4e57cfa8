/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/exec_int.h"

#include <errno.h>

#include "base/mem.h"
#include "shell/trap_int.h"

#define STACK_RESERVE (64u << 10) /* what must be left before another level of functions, source or eval begins */

bool sh_poll(struct shell *sh)
{
    if (__builtin_expect(proc_poll(sh->p) < 0, 0)) {
        sh->flow = FLOW_KILLED;
        return true;
    }
    if (__builtin_expect(proc_signal_pending(sh->p) || sh->chld_pending, 0) && sh->flow == FLOW_NONE)
        trap_run_pending(sh);
    return sh->flow != FLOW_NONE;
}

void exec__failed(struct shell *sh, bool trap)
{
    int status = sh->last_status;
    if (sh->traps && trap)
        trap_run(sh, TRAP_ERR);
    if (sh->flow != FLOW_NONE)
        return;
    sh->last_status = status;
    if (sh_opt(sh, OPT_ERREXIT))
        trap_exit(sh);
}

void exec_set_pipestatus(struct shell *sh, const int *v, uint32_t n)
{
    if (n > sh->cap_pipestatus) {
        sh->pipestatus = mem_realloc(sh->pipestatus, n * sizeof *v);
        sh->cap_pipestatus = n;
    }
    if (n)
        memcpy(sh->pipestatus, v, n * sizeof *v);
    sh->n_pipestatus = n;
}

/* ---- lists ---- */

static int exec_and_or(struct shell *sh, struct node *n, int flags)
{
    sh->errexit_off++;
    int status = exec_node(sh, n->pair.left, 0);
    sh->errexit_off--;
    if (sh->flow != FLOW_NONE || (status == 0) != (n->kind == NODE_AND))
        return status;
    return exec_node(sh, n->pair.right, flags);
}

static int exec_seq(struct shell *sh, struct node *n, int flags)
{
    int status = 0;
    for (uint32_t i = 0; i < n->seq.n; i++) {
        status = exec_node(sh, n->seq.items[i], i + 1 == n->seq.n ? flags : 0);
        if (sh->flow != FLOW_NONE)
            break;
    }
    return status;
}

static int exec_arith(struct shell *sh, struct node *n)
{
    int64_t v = 0;
    sh->line = n->line;
    if (sh->traps && trap_run_debug(sh, n))
        return sh->last_status = 1;
    if (sh->flow != FLOW_NONE)
        return sh->last_status;
    if (sh_opt(sh, OPT_XTRACE)) {
        struct str text;
        if (expand_str(sh, n->arith.expr, EXPAND_ARITH, &text) == 0)
            exec__trace_text(sh, str_c(arena_printf(&sh->scratch, "(( %.*s ))", (int)text.n, text.p)));
    }
    const char *who = sh->arith_who;
    sh->arith_who = "((";
    int r = arith_eval_word(sh, n->arith.expr, &n->arith.code, &v);
    sh->arith_who = who;
    int status = r < 0 || v == 0;
    exec__one_status(sh, status);
    return exec__ended(sh, status);
}

static int exec_cond_node(struct shell *sh, struct node *n)
{
    sh->line = n->line;
    if (sh->traps && trap_run_debug(sh, n))
        return sh->last_status = 1;
    if (sh->flow != FLOW_NONE)
        return sh->last_status;
    const char *who = sh->arith_who;
    sh->arith_who = "[[";
    int status = exec_cond(sh, n->cond);
    sh->arith_who = who;
    exec__one_status(sh, status);
    return exec__ended(sh, status);
}

/* ---- functions ---- */

static const char *source_name(const struct shell *sh)
{
    for (const struct frame *f = sh->frame; f; f = f->prev)
        if (f->is_function || f->is_source)
            return f->file ? f->file : "";
    if (sh->main_file)
        return sh->main_file;
    return sh->dash_c ? "environment" : "main";
}

static int exec_define(struct shell *sh, struct node *n)
{
    struct str name = n->func.name;
    sh->line = n->line;
    struct func *old = func_find(sh, name);
    if (old && old->readonly) {
        sh_error(sh, "%.*s: readonly function", (int)name.n, name.p);
        return exec__ended(sh, 1);
    }
    if (sh_opt(sh, OPT_POSIX)) {
        const struct builtin *b = builtin_find_any(name);
        const char *why = !sym_valid(name)                         ? "not a valid identifier"
                          : b && (b->flags & BUILTIN_SPECIAL) != 0 ? "is a special builtin"
                                                                   : NULL;
        if (why) {
            sh_error(sh, "`%.*s': %s", (int)name.n, name.p, why);
            return sh_fatal(sh, 2), 2;
        }
    }
    struct func *f = mem_zalloc(sizeof *f);
    const char *file = source_name(sh);
    f->refs = 1;
    f->name = str_of(mem_dup(name.p, name.n), name.n);
    f->body = n->func.body;
    f->ast = ast_ref(n->func.ast);
    f->file = str_of(mem_dup(file, strlen(file)), strlen(file));
    f->line = n->line;
    if (old) {
        f->exported = old->exported;
        f->traced = old->traced;
    }
    func_unref(map_set(shell_own_funcs(sh), name, f));
    return sh->last_status = 0;
}

static bool too_deep(struct shell *sh, uint32_t depth, const char *who, const char *kind)
{
    if (depth < LIMIT_RECURSION && proc_stack_left(sh->p) >= STACK_RESERVE)
        return false;
    sh_error(sh, "%s: maximum %s nesting level exceeded (%u)", who, kind, depth);
    return true;
}

static bool over_funcnest(struct shell *sh, const struct func *f)
{
    int64_t most;
    struct str t = var_get(sh, "FUNCNEST");
    if (!t.n || str_i64(t, &most) < 0 || most <= 0 || (int64_t)sh->func_depth < most)
        return false;
    sh_error(sh, "%s: maximum function nesting level exceeded (%lld)", f->name.p, (long long)most);
    return true;
}

static int function_body(struct shell *sh, struct func *f)
{
    if (sh->traps && trap_run_debug(sh, f->body) == 2)
        return 0;
    int status = sh->flow == FLOW_NONE ? exec_node(sh, f->body, 0) : sh->last_status;
    if (sh->flow == FLOW_RETURN) {
        sh->flow = FLOW_NONE;
        status = sh->last_status;
    }
    if (sh->traps) {
        sh->line = f->body->line; /* where it began */
        trap_run(sh, TRAP_RETURN);
    }
    return sh->flow == FLOW_NONE ? status : sh->last_status;
}

int exec_function(struct shell *sh, struct func *f, int argc, struct str *argv)
{
    if (over_funcnest(sh, f) || too_deep(sh, sh->func_depth, f->name.p, "function")) {
        sh_abort(sh, 1);
        return 1;
    }
    struct posargs *args = posargs_new(argv + 1, (uint32_t)argc - 1);
    if (!args)
        return 1;
    sh->func_depth++;
    var_push_frame(sh, true);
    struct frame *fr = sh->frame;
    fr->func = func_ref(f);
    fr->file = mem_dup(f->file.p, f->file.n);
    fr->call_line = sh->line;
    fr->args = sh->args;
    sh->args = args;
    uint32_t loops = sh->loop_depth, hidden = trap_enter_function(sh, f->traced, false), sources = sh->source_depth;
    const char *who = sh->arith_who;
    int line = sh->line;
    struct ast *unit = sh->unit;
    sh->loop_depth = 0;
    sh->arith_who = NULL;
    sh->unit = f->ast;
    sh->line = f->body->line;
    int status = function_body(sh, f);
    sh->unit = unit;
    sh->line = line;
    sh->arith_who = who;
    sh->loop_depth = loops;
    sh->source_depth = sources;
    trap_leave_function(sh, hidden);
    fr = sh->frame;
    posargs_unref(sh->args);
    sh->args = posargs_ref(fr->args);
    if (fr->opts_saved)
        sh->opts = fr->opts;
    sh->func_depth--;
    var_pop_frame(sh);
    return sh->last_status = status;
}

/* ---- nodes ---- */

static int exec_kind(struct shell *sh, struct node *n, int flags)
{
    switch (n->kind) {
    case NODE_SIMPLE:
        return exec__simple(sh, n, flags);
    case NODE_PIPE:
        return exec__pipe(sh, n, flags);
    case NODE_AND:
    case NODE_OR:
        return exec_and_or(sh, n, flags);
    case NODE_SEQ:
        return exec_seq(sh, n, flags);
    case NODE_BG:
        return exec__background(sh, n);
    case NODE_GROUP:
        return exec_node(sh, n->body, flags);
    case NODE_SUBSHELL:
        return exec__subshell(sh, n, flags);
    case NODE_IF:
        return exec__if(sh, n, flags);
    case NODE_WHILE:
    case NODE_UNTIL:
        return exec__while(sh, n);
    case NODE_FOR:
        return exec__for(sh, n);
    case NODE_FOR_ARITH:
        return exec__for_arith(sh, n);
    case NODE_SELECT:
        return exec__select(sh, n);
    case NODE_CASE:
        return exec__case(sh, n, flags);
    case NODE_FUNC:
        return exec_define(sh, n);
    case NODE_COND:
        return exec_cond_node(sh, n);
    case NODE_ARITH:
        return exec_arith(sh, n);
    case NODE_COPROC:
        return exec__coproc(sh, n);
    }
    return 0;
}

/* A compound command with redirections of its own; a simple command and a subshell see to theirs. */
static int exec_redirected(struct shell *sh, struct node *n, int flags)
{
    struct arena_mark m = arena_mark(&sh->scratch);
    struct redir_saved *saved = NULL;
    uint32_t procsubs = sh->n_procsub;
    sh->line = n->line;
    int status = redir_apply(sh, n->redirs, &saved);
    if (status) {
        exec__one_status(sh, status);
        status = exec__ended(sh, status);
    } else {
        bool given = sh->stdin_given;
        sh->stdin_given |= exec__redirects_stdin(n);
        status = exec_kind(sh, n, flags & ~EXEC_NO_FORK);
        sh->stdin_given = given;
        redir_restore(sh, saved);
    }
    exec__close_procsubs(sh, procsubs);
    arena_reset(&sh->scratch, m);
    return status;
}

int exec_node(struct shell *sh, struct node *n, int flags)
{
    if (!n)
        return sh->last_status = 0;
    if (__builtin_expect(sh_opt(sh, OPT_NOEXEC), 0) && !sh->interactive)
        return sh->last_status;
    if (n->kind == NODE_SIMPLE)
        return exec__simple(sh, n, flags);
    if (n->redirs && n->kind != NODE_SUBSHELL)
        return exec_redirected(sh, n, flags);
    return exec_kind(sh, n, flags);
}

/* ---- texts ---- */

/* Runs a unit. The last simple command of a -c text may take the process over, when no trap is waiting for its end. */
static int run_unit(struct shell *sh, struct ast *a, bool last)
{
    struct ast *before = sh->unit;
    if (!a->root)
        return sh->last_status;
    sh->unit = a;
    sh->oneshot = last && !sh->traps && !sh->kept ? a->root : NULL;
    while (sh->oneshot && sh->oneshot->kind != NODE_SIMPLE) {
        const struct node *n = sh->oneshot;
        if (n->kind == NODE_SEQ && n->seq.n)
            sh->oneshot = n->seq.items[n->seq.n - 1];
        else
            sh->oneshot = n->kind == NODE_AND || n->kind == NODE_OR ? n->pair.right : NULL;
    }
    int status = exec_node(sh, a->root, 0);
    sh->unit = before;
    return status;
}

int exec_unit(struct shell *sh, struct ast *a)
{
    return run_unit(sh, a, false);
}

static bool is_blank(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] != ' ' && s.p[i] != '\t' && s.p[i] != '\n')
            return false;
    return true;
}

/* Runs what a parser gives, command by command. With @last the text's last command may take the process over. */
static int run_parser(struct shell *sh, struct parser *ps, bool eval, bool oneshot)
{
    struct parse_error err;
    struct ast *a;
    int r, status = 0;
    while ((r = parser_next(ps, &a, &err)) != 0) {
        if (r == -EINVAL) {
            sh_syntax_error(sh, &err);
            if (parser_has_crlf(ps))
                sh_hint_crlf(sh);
            if (!err.keep_status || eval)
                sh->last_status = err.discard ? 1 : 2;
            status = sh->last_status;
            if (err.discard && !eval && !sh->is_subshell && !sh_opt(sh, OPT_POSIX))
                continue;
            if (err.fatal || (sh_opt(sh, OPT_POSIX) && !sh->interactive && eval && !sh->soft_eval))
                sh->flow = FLOW_EXIT;
            break;
        }
        if (r < 0) {
            if (r == -EINTR)
                sh_poll(sh);
            break;
        }
        bool last = oneshot && is_blank(parser_rest(ps));
        status = run_unit(sh, a, last);
        ast_unref(a);
        if (sh->flow == FLOW_ABORT) {
            /* The line is given up; what follows in the text runs on. In a subshell nothing does. */
            bool soft = sh->soft_eval || sh->line_only;
            sh->line_only = false;
            if (sh->is_subshell || (sh_opt(sh, OPT_POSIX) && !sh->interactive && !soft)) {
                sh->flow = FLOW_EXIT;
                break;
            }
            sh->flow = FLOW_NONE;
            status = sh->last_status;
        }
        if (sh->flow != FLOW_NONE || sh_poll(sh))
            break;
    }
    return sh->flow == FLOW_NONE ? status : sh->last_status;
}

int exec_script(struct shell *sh, struct parser *ps)
{
    parser_record(ps);
    int status = run_parser(sh, ps, false, sh->dash_c);
    return sh->flow == FLOW_NONE ? (sh->last_status = status) : sh->last_status;
}

int exec_text(struct shell *sh, struct str text, int line, const char *what)
{
    if (too_deep(sh, sh->eval_depth, what ? what : "eval", "eval"))
        return sh_abort(sh, 1), 1;
    struct parser *ps = parser_new(sh, text, NULL, line);
    if (!ps)
        return sh->last_status = 1;
    const char *before = sh->parse_what;
    sh->parse_what = what;
    sh->eval_depth++;
    bool soft = sh->soft_eval, by_command = sh->by_command;
    sh->soft_eval = by_command;
    sh->by_command = false;
    int status = run_parser(sh, ps, true, false);
    sh->by_command = by_command;
    sh->soft_eval = soft;
    sh->eval_depth--;
    sh->parse_what = before;
    parser_free(ps);
    return sh->last_status = status;
}

int exec_source(struct shell *sh, struct str text, struct str name, const struct posargs *args)
{
    if (too_deep(sh, sh->source_depth, name.p, "source"))
        return sh_abort(sh, 1), 1;
    struct parser *ps = parser_new(sh, text, NULL, 1);
    if (!ps)
        return sh->last_status = 1;
    var_push_frame(sh, false);
    struct frame *f = sh->frame;
    f->is_source = true;
    f->file = mem_dup(name.p, name.n);
    f->call_line = sh->line;
    struct posargs *old = sh->args;
    if (args) {
        struct posargs *mine = posargs_new(args->v, args->n);
        sh->args = mine ? mine : posargs_ref(old);
    }
    const struct posargs *given = sh->args;
    const char *what = sh->parse_what;
    uint32_t hidden = trap_enter_function(sh, false, true);
    int line = sh->line;
    sh->parse_what = NULL;
    sh->source_depth++;
    int status = run_parser(sh, ps, false, false);
    if (sh->flow == FLOW_RETURN) {
        sh->flow = FLOW_NONE;
        status = sh->last_status;
    }
    sh->source_depth--;
    sh->parse_what = what;
    sh->line = line;
    /* Arguments given to `source` go away, unless the file set others (set -- …), which bash keeps. */
    if (args && sh->args == given) {
        posargs_unref(sh->args);
        sh->args = old;
    } else if (args) {
        posargs_unref(old);
    }
    var_pop_frame(sh);
    parser_free(ps);
    if (sh->traps)
        trap_run(sh, TRAP_RETURN); /* belongs to who asked for the file */
    trap_leave_function(sh, hidden);
    return sh->flow == FLOW_NONE ? (sh->last_status = status) : sh->last_status;
}
