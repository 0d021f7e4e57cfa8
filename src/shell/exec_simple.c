/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/exec_int.h"

#include <errno.h>

#include "shell/job_int.h"
#include "shell/trap_int.h"
#include "types/errtab.h"

/* What a command name is (node->simple.found). */
enum found { FOUND_NOT_LOOKED, FOUND_FUNCTION, FOUND_BUILTIN, FOUND_PROGRAM };

/* Form of the arguments (node->simple.form). */
enum form {
    FORM_PLAIN,
    FORM_REFS,    /* some argument has the form NAME[…], and the builtin takes names of variables */
    FORM_DECLARE, /* NAME=… arguments are assignments: declare and its kin, also behind `command` and `builtin` */
};

struct command {
    enum found found;
    struct func *func;
    const struct builtin *builtin;
};

/* ---- lookup ---- */

static struct command look_up(struct shell *sh, struct str name, enum exec_find how)
{
    struct command c = {.found = FOUND_PROGRAM};
    if (how == FIND_EXTERNAL_ONLY)
        return c;
    c.builtin = builtin_find(sh, name);
    bool special = c.builtin && (c.builtin->flags & BUILTIN_SPECIAL) && sh_opt(sh, OPT_POSIX);
    if (how == FIND_ALL && !special && (c.func = func_find(sh, name)))
        c.found = FOUND_FUNCTION;
    else if (c.builtin)
        c.found = FOUND_BUILTIN;
    return c;
}

static bool literal_is(const struct word *w, const char *s)
{
    return (w->flags & WORD_LITERAL) && w->parts && str_eqc(w->parts->text, s);
}

/* NAME[…] as it stands in the script. */
static bool is_written_ref(const struct word *w)
{
    struct str name, sub;
    return w->src.n && w->src.p[w->src.n - 1] == ']' && var_split_ref(w->src, &name, &sub);
}

static bool any_written_ref(const struct node *n)
{
    for (uint32_t i = 1; i < n->simple.n_words; i++)
        if (is_written_ref(n->simple.words[i]))
            return true;
    return false;
}

static enum form form_of(struct shell *sh, const struct node *n)
{
    uint32_t i = 0;
    while (i < n->simple.n_words &&
           (literal_is(n->simple.words[i], "command") || literal_is(n->simple.words[i], "builtin")))
        i++;
    if (i == n->simple.n_words)
        return FORM_PLAIN;
    const struct word *w = n->simple.words[i];
    if (!(w->flags & WORD_LITERAL) || !w->parts)
        return FORM_PLAIN;
    const struct builtin *b = builtin_find(sh, w->parts->text);
    if (b && (b->flags & BUILTIN_ASSIGN))
        return FORM_DECLARE;
    return b && (b->flags & BUILTIN_REFS) && any_written_ref(n) ? FORM_REFS : FORM_PLAIN;
}

/* The command that the node's literal name means, from the cache while it holds. */
static struct command look_up_cached(struct shell *sh, struct node *n, struct str name)
{
    struct command c;
    if (n->simple.stamp == sh->lookup_stamp && n->simple.found) {
        c = (struct command){.found = (enum found)n->simple.found};
        if (c.found == FOUND_FUNCTION)
            c.func = func_find(sh, name);
        else
            c.builtin = n->simple.cache;
        return c;
    }
    c = look_up(sh, name, FIND_ALL);
    if (n->simple.words[0]->flags & WORD_LITERAL) {
        n->simple.stamp = sh->lookup_stamp;
        n->simple.found = (uint8_t)c.found;
        n->simple.cache = c.builtin;
    }
    return c;
}

/* ---- words ---- */

/* NAME=VALUE or NAME+=VALUE; p NULL: no memory. */
static struct str join_assign(struct shell *sh, const struct assign *as, struct str v)
{
    size_t head = as->name.n + as->append + 1u;
    char *p = arena_try(&sh->scratch, head + v.n + 1);
    if (!p)
        return (struct str){0};
    memcpy(p, as->name.p, as->name.n);
    memcpy(p + as->name.n, as->append ? "+=" : "=", head - as->name.n);
    if (v.n)
        memcpy(p + head, v.p, v.n);
    p[head + v.n] = 0;
    return str_of(p, head + v.n);
}

static void note_written(uint64_t *written, uint32_t i)
{
    if (i < 64)
        *written |= UINT64_C(1) << i;
}

/* What was written NAME[…] and is still one word is noted. */
static int expand_refs(struct shell *sh, struct node *n, struct fields *f, uint64_t *written)
{
    for (uint32_t i = 0; i < n->simple.n_words; i++) {
        struct word *w = n->simple.words[i];
        uint32_t before = f->n;
        if (expand_words(sh, &w, 1, f) < 0)
            return -EINVAL;
        if (f->n == before + 1 && is_written_ref(w))
            note_written(written, before);
    }
    return 0;
}

/* Whether the words before NAME=(…) in @f, or what NAME is, make it an associative array. */
static bool makes_assoc(struct shell *sh, const struct assign *as, const struct fields *f)
{
    const struct var *v = as->sym ? var_find(sh, as->sym) : NULL;
    for (uint32_t i = 1; i < f->n; i++)
        if (f->v[i].n > 1 && f->v[i].p[0] == '-' && memchr(f->v[i].p, 'A', f->v[i].n))
            return true;
    return v && (v->flags & VAR_ASSOC);
}

/* An argument of declare and its kin that is an assignment is one word, not split; a compound value stays a tree. */
static int expand_declare(struct shell *sh, struct node *n, struct fields *f, struct assign ***ret_assigns,
                          uint64_t *written)
{
    struct assign **assigns = NULL;
    uint32_t cap = 0;
    for (uint32_t i = 0; i < n->simple.n_words; i++) {
        struct word *w = n->simple.words[i];
        struct assign *as = w->assign;
        struct str s;
        if (!as) {
            if (expand_words(sh, &w, 1, f) < 0)
                return -EINVAL;
            continue;
        }
        if (!as->is_array && !as->subscript) {
            /* The value by itself, so that a tilde right behind the '=' is one. */
            struct str v;
            if (expand_str(sh, as->value, EXPAND_ASSIGN, &v) < 0)
                return -EINVAL;
            s = join_assign(sh, as, v);
            if (!s.p)
                return -ENOMEM;
        } else if (!as->is_array) {
            if (expand_str(sh, w, EXPAND_ASSIGN, &s) < 0)
                return -EINVAL;
            note_written(written, f->n);
        } else {
            s = arena_str(&sh->scratch, as->name);
        }
        if (fields_add(sh, f, s) < 0)
            return -ENOMEM;
        if (!as->is_array)
            continue;
        if (f->n > cap) {
            uint32_t want = f->n + n->simple.n_words;
            struct assign **p = arena_zalloc(&sh->scratch, want * sizeof *p);
            if (cap)
                memcpy(p, assigns, cap * sizeof *p);
            assigns = p;
            cap = want;
        }
        if (sh_opt(sh, OPT_XTRACE) && !(as = exec__trace_list(sh, as, makes_assoc(sh, as, f))))
            return -EINVAL;
        assigns[f->n - 1] = as;
    }
    if (assigns && cap < f->n) {
        struct assign **p = arena_zalloc(&sh->scratch, f->n * sizeof *p);
        memcpy(p, assigns, cap * sizeof *p);
        assigns = p;
    }
    *ret_assigns = assigns;
    return 0;
}

/* $_ of the next command. */
static void set_last_arg(struct shell *sh, struct str s)
{
    if (s.n >= sh->last_arg_cap) {
        size_t cap = (s.n + 64) & ~(size_t)63;
        char *p = mem_try(cap);
        if (!p)
            return;
        mem_free((void *)(uintptr_t)sh->last_arg.p);
        sh->last_arg.p = p;
        sh->last_arg_cap = cap;
    }
    char *p = (char *)(uintptr_t)sh->last_arg.p;
    if (s.n)
        memcpy(p, s.p, s.n);
    p[s.n] = 0;
    sh->last_arg.n = s.n;
}

/* ---- assignments in front ---- */

static int temp_assign(struct shell *sh, const struct assign *as)
{
    struct sym *s = as->sym ? as->sym : sym_get(sh, as->name);
    struct str val;
    if (!s)
        return -ENOMEM;
    if (as->subscript) {
        struct buf name BUF_AUTO;
        buf_init(&name, LIMIT_STRING);
        buf_adds(&name, as->name);
        buf_putc(&name, '[');
        ast_print_word(&name, as->subscript);
        sh_error(sh, "`%s]': not a valid identifier", name.p);
        return 0;
    }
    if (as->is_array) {
        val = str_c(arena_printf(&sh->scratch, "(%.*s)", (int)as->raw_list.n, as->raw_list.p));
    } else if (expand_str(sh, as->value, EXPAND_ASSIGN, &val) < 0) {
        return -EINVAL;
    }
    if (sh_opt(sh, OPT_XTRACE))
        exec__trace_assign(sh, as->name, as->append, val);
    return var_temp(sh, s, val, as->append);
}

/* The temporary environment of a command, in a frame of its own. A readonly variable is told and left; in posix mode it
 * ends the command. */
static int push_temps(struct shell *sh, const struct node *n)
{
    var_push_frame(sh, false);
    for (uint32_t i = 0; i < n->simple.n_assigns; i++) {
        int r = temp_assign(sh, n->simple.assigns[i]);
        if (r < 0 && (r != -EPERM || sh_opt(sh, OPT_POSIX) || sh->flow != FLOW_NONE)) {
            var_pop_frame(sh);
            return r;
        }
    }
    return 0;
}

/* Only assignments (and redirections, which are made and undone). */
static int assign_all(struct shell *sh, struct node *n)
{
    for (uint32_t i = 0; i < n->simple.n_assigns; i++) {
        int r = exec_assign(sh, n->simple.assigns[i]);
        if (r < 0) {
            if (sh->flow == FLOW_NONE)
                (void)(sh_opt(sh, OPT_POSIX) && !sh->soft_eval ? sh_fatal(sh, 1) : sh_abort(sh, 1));
            return 1;
        }
        if (sh->flow != FLOW_NONE)
            return sh->last_status;
    }
    return 0;
}

static int assign_only(struct shell *sh, struct node *n)
{
    sh->had_cmdsub = false;
    int status = assign_all(sh, n);
    if (sh->flow != FLOW_NONE)
        return status;
    if (sh->last_arg.n)
        set_last_arg(sh, STR(""));
    if (n->redirs) {
        struct redir_saved *saved = NULL;
        status = redir_apply(sh, n->redirs, &saved);
        if (status)
            return status;
        redir_restore(sh, saved);
    }
    return sh->had_cmdsub ? sh->last_cmdsub_status : 0;
}

/* ---- running ---- */

static int finish_builtin(struct shell *sh, const struct builtin *b, int status)
{
    int r = sh_flush(sh);
    if (r < 0 && !sh->p->must_end && !(sh->traps && trap_ending(sh))) {
        sh_error(sh, "%s: write error: %s", b->name, errtab_text(r));
        if (status == 0)
            status = 1;
    }
    return status;
}

static int call_builtin(struct shell *sh, const struct builtin *b, struct builtin_args *a)
{
    sh->arith_who = b->name;
    int status = b->fn(sh, a);
    if (sh->out.n || sh->out.err)
        status = finish_builtin(sh, b, status);
    sh->arith_who = NULL;
    return status;
}

static int run_command(struct shell *sh, struct node *n, struct command *c, struct builtin_args *a, int flags)
{
    if (c->found == FOUND_FUNCTION)
        return exec_function(sh, c->func, a->argc, a->argv);
    if (c->found == FOUND_BUILTIN)
        return call_builtin(sh, c->builtin, a);
    return exec__program(sh, n, a->argc, a->argv, flags, NULL);
}

int exec__redirs(struct shell *sh, const struct node *n, struct redir_saved **ret_saved)
{
    if (!n->simple.n_assigns)
        return redir_apply(sh, n->redirs, ret_saved);
    var_swap_temps(sh);
    int status = redir_apply(sh, n->redirs, ret_saved);
    var_swap_temps(sh);
    return status;
}

/* In posix mode an error of a special builtin ends a shell that is not interactive. */
static bool is_strict(const struct shell *sh, const struct command *c)
{
    return c->found == FOUND_BUILTIN && (c->builtin->flags & BUILTIN_SPECIAL) && sh_opt(sh, OPT_POSIX);
}

/* A function or builtin with its redirections around it. */
static int run_inside(struct shell *sh, struct node *n, struct command *c, struct builtin_args *a)
{
    struct redir_saved *saved = NULL;
    if (!n->redirs)
        return run_command(sh, n, c, a, 0);
    int status = exec__redirs(sh, n, &saved);
    if (status) {
        if (is_strict(sh, c))
            (void)sh_fatal(sh, status);
        return status;
    }
    sh->keep_redirs = false;
    status = run_command(sh, n, c, a, 0);
    if (sh->keep_redirs)
        redir_keep(sh, saved);
    else
        redir_restore(sh, saved);
    sh->keep_redirs = false;
    return status;
}

static int run_with_temps(struct shell *sh, struct node *n, struct command *c, struct builtin_args *a, int flags)
{
    if (push_temps(sh, n) < 0) {
        if (sh->flow == FLOW_NONE) { /* a readonly variable in posix mode */
            sh->line_only = !is_strict(sh, c);
            (void)(sh->line_only ? sh_abort(sh, 1) : sh_fatal(sh, 1));
        }
        return 1;
    }
    if (sh_opt(sh, OPT_XTRACE))
        exec__trace_words(sh, a->argv, (uint32_t)a->argc);
    int status = c->found == FOUND_PROGRAM ? run_command(sh, n, c, a, flags) : run_inside(sh, n, c, a);
    if (is_strict(sh, c))
        var_keep_frame(sh);
    else
        var_pop_frame(sh);
    return status;
}

/* The words are expanded: @a has at least one. */
static int run_words(struct shell *sh, struct node *n, struct builtin_args *a, int flags)
{
    struct command c = look_up_cached(sh, n, a->argv[0]);
    int status;
    if (flags & EXEC_IN_PIPE)
        sh->subshell_depth++;
    if (sh_opt(sh, OPT_XTRACE) && !n->simple.n_assigns)
        exec__trace_words(sh, a->argv, (uint32_t)a->argc);
    if (n->simple.n_assigns)
        status = run_with_temps(sh, n, &c, a, flags);
    else if (c.found == FOUND_PROGRAM)
        status = run_command(sh, n, &c, a, flags);
    else
        status = run_inside(sh, n, &c, a);
    bool usage = status == 2 && is_strict(sh, &c) && !(c.builtin->flags & BUILTIN_TEXT);
    if (usage && !sh->errexit_off && sh->flow == FLOW_NONE)
        (void)sh_fatal(sh, 2);
    return status;
}

static int run_simple(struct shell *sh, struct node *n, int flags)
{
    struct fields f = {0};
    struct builtin_args a = {.node = n};
    int r;
    if (n->simple.stamp != sh->lookup_stamp)
        n->simple.form = (uint8_t)form_of(sh, n);
    sh->had_cmdsub = false;
    if (n->simple.form == FORM_DECLARE)
        r = expand_declare(sh, n, &f, &a.assigns, &a.written);
    else if (n->simple.form == FORM_REFS)
        r = expand_refs(sh, n, &f, &a.written);
    else
        r = expand_words(sh, n->simple.words, n->simple.n_words, &f);
    if (r < 0 || sh->flow != FLOW_NONE)
        return sh->flow == FLOW_NONE ? 1 : sh->last_status;
    if (f.n == 0) {
        bool had = sh->had_cmdsub;
        int sub = sh->last_cmdsub_status;
        int status = assign_only(sh, n);
        return status == 0 && had && !sh->had_cmdsub ? sub : status;
    }
    a.argc = (int)f.n;
    a.argv = f.v;
    int status = run_words(sh, n, &a, flags);
    set_last_arg(sh, f.v[f.n - 1]);
    return status;
}

int exec__simple(struct shell *sh, struct node *n, int flags)
{
    if (sh_poll(sh))
        return sh->last_status;
    if (__builtin_expect(sh->jobs != NULL, 0) && !sh->jobs_inherited)
        job_reap(sh);
    struct arena_mark m = arena_mark(&sh->scratch);
    uint32_t procsubs = sh->n_procsub;
    const char *who = sh->arith_who;
    sh->line = n->line;
    sh->arith_who = NULL;
    if (__builtin_expect(n == sh->oneshot, 0) && !sh->traps && !sh->is_subshell && !sh->func_depth)
        flags |= EXEC_NO_FORK;
    if (!sh->trap_running)
        sh->cur_node = n;
    int status;
    bool trapped = sh->traps && trap_get(sh, TRAP_ERR);
    if (sh->traps && trap_run_debug(sh, n))
        status = sh->last_status = 1;
    else if (sh->flow != FLOW_NONE)
        status = sh->last_status;
    else
        status = n->simple.n_words ? run_simple(sh, n, flags) : assign_only(sh, n);
    sh->arith_who = who;
    if (sh->n_procsub != procsubs)
        exec__close_procsubs(sh, procsubs);
    arena_reset(&sh->scratch, m);
    if (sh->flow == FLOW_EXIT || sh->flow == FLOW_KILLED || sh->flow == FLOW_ABORT)
        return sh->last_status;
    exec__one_status(sh, status);
    sh->last_status = status;
    if (status != 0 && !sh->errexit_off && sh->flow == FLOW_NONE)
        exec__failed(sh, trapped);
    return sh->last_status;
}

static int run_named(struct shell *sh, struct builtin_args *a, enum exec_find how, bool default_path)
{
    struct command c = look_up(sh, a->argv[0], how);
    const char *who = sh->arith_who;
    int status;
    if (how == FIND_BUILTIN_ONLY && c.found != FOUND_BUILTIN)
        return -ENOENT;
    if (c.found == FOUND_FUNCTION)
        status = exec_function(sh, c.func, a->argc, a->argv);
    else if (c.found == FOUND_BUILTIN)
        status = call_builtin(sh, c.builtin, a);
    else
        status = exec__program(sh, NULL, a->argc, a->argv, 0, default_path ? EXEC_DEFAULT_PATH : NULL);
    sh->arith_who = who;
    return status;
}

int exec_argv(struct shell *sh, int argc, struct str *argv, enum exec_find how, bool default_path)
{
    struct builtin_args a = {.argc = argc, .argv = argv};
    return run_named(sh, &a, how, default_path);
}

int exec_argv_node(struct shell *sh, struct builtin_args *a, int from, enum exec_find how, bool default_path)
{
    struct builtin_args rest = {.argc = a->argc - from, .argv = a->argv + from, .node = a->node};
    if (a->assigns)
        rest.assigns = a->assigns + from;
    rest.written = from < 64 ? a->written >> from : 0;
    return run_named(sh, &rest, how, default_path);
}
