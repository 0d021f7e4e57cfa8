/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Reading a shell's state. It comes from a store, so it is looked through as a whole before anything of it is applied,
 * and nothing in it is believed: what is applied is only what a script could have done, too, short of breaking
 * readonly.
 */

#include "shell/state_int.h"

#include <errno.h>

#include "base/mem.h"
#include "shell/array_int.h"
#include "shell/options_int.h"
#include "shell/trap_int.h"
#include "shell/var_special_int.h"

/* A record; what it has no field for is empty. */
struct record {
    uint8_t tag; /* enum state_tag, or none of them */
    struct str name, text, file;
    uint32_t flags; /* attributes; on */
    int64_t num;    /* number, or place of the name in the table it is from */
    uint32_t n;
    struct cursor list; /* the n elements */
};

/* ---- one record ---- */

static struct str get_text(struct cursor *c)
{
    struct str s = cursor_str(c);
    if (s.n && memchr(s.p, 0, s.n))
        c->bad = true;
    return s;
}

static uint32_t get_letters(struct cursor *c, const struct state_letter *l)
{
    struct str s = get_text(c);
    uint32_t flags = 0;
    for (size_t i = 0; i < s.n; i++, l++) {
        while (l->c && l->c != s.p[i])
            l++;
        if (!l->c) {
            c->bad = true;
            break;
        }
        flags |= l->flag;
    }
    return flags;
}

/* Elements of a list; arrays are walked as they will be applied, so that they ascend. */
static void get_list(struct cursor *c, struct record *r)
{
    int64_t last = -1;
    r->n = cursor_u32(c);
    r->list = *c;
    for (uint32_t i = 0; i < r->n && !c->bad; i++) {
        if (r->tag == STATE_PIPESTATUS) {
            cursor_u8(c);
            continue;
        }
        if (r->flags & VAR_ASSOC) {
            get_text(c);
        } else if (r->flags & VAR_ARRAY) {
            int64_t index = (int64_t)cursor_u64(c);
            c->bad |= index <= last;
            last = index;
        }
        get_text(c);
    }
}

static bool is_target(struct str s)
{
    struct str name, sub;
    return sym_valid(s) || (s.n && var_split_ref(s, &name, &sub));
}

static void get_var(struct cursor *c, struct record *r)
{
    r->flags = get_letters(c, shell__state_var_letters);
    bool assoc = r->flags & VAR_ASSOC, array = r->flags & VAR_ARRAY, ref = r->flags & VAR_NAMEREF;
    if (assoc + array + ref > 1) {
        c->bad = true;
    } else if (r->flags & VAR_DYN) {
        c->bad |= (r->flags & ~(STATE_DYN_FLAGS | VAR_DYN)) != 0;
    } else if (assoc || array) {
        get_list(c, r);
    } else if (r->flags & VAR_SET) {
        r->text = get_text(c);
        c->bad |= ref && !is_target(r->text);
    }
}

static int builtin_number(struct str name)
{
    size_t n;
    const struct builtin *const *all = builtin_all(&n);
    for (size_t i = 0; i < n; i++)
        if (str_eqc(name, all[i]->name))
            return (int)i;
    return -1;
}

/* Records that are a name out of a table of this build. */
static void get_known(struct cursor *c, struct record *r)
{
    size_t n;
    const struct opt_def *o = r->tag == STATE_OPT ? options_find(r->name) : NULL;
    if (r->tag == STATE_BUILTIN)
        r->num = builtin_number(r->name);
    else if (r->tag == STATE_SHOPT)
        r->num = options_shopt_find(r->name);
    else
        r->num = o ? o - options_all(&n) : -1;
    if (r->tag != STATE_BUILTIN) {
        r->flags = cursor_u8(c);
        c->bad |= r->flags > 1;
    }
    c->bad |= r->num < 0;
}

static void get_number(struct cursor *c, struct record *r)
{
    if (r->tag == STATE_SECONDS)
        r->num = (int64_t)cursor_u64(c);
    else
        r->num = r->tag == STATE_STATUS ? cursor_u8(c) : cursor_u32(c);
    c->bad |= r->tag == STATE_UMASK && r->num > 0777;
    /* So that no sum with the clock overflows. */
    c->bad |= r->num > INT64_MAX / 4 || r->num < INT64_MIN / 4;
}

static void get_record(struct cursor *c, struct record *r)
{
    *r = (struct record){.tag = cursor_u8(c)};
    switch (r->tag) {
    case STATE_UMASK:
    case STATE_SECONDS:
    case STATE_GETOPTS:
    case STATE_STATUS:
        get_number(c, r);
        break;
    case STATE_CWD:
    case STATE_ARG0:
        r->text = get_text(c);
        break;
    case STATE_DIRSTACK:
    case STATE_ARGS:
    case STATE_PIPESTATUS:
        get_list(c, r);
        break;
    case STATE_UNSET:
    case STATE_VAR:
        r->name = get_text(c);
        c->bad |= !sym_valid(r->name);
        if (r->tag == STATE_VAR)
            get_var(c, r);
        break;
    case STATE_FUNC:
        r->name = get_text(c);
        r->flags = get_letters(c, shell__state_func_letters);
        r->file = get_text(c);
        r->text = get_text(c);
        c->bad |= !r->name.n;
        break;
    case STATE_ALIAS:
        r->name = get_text(c);
        r->text = get_text(c);
        break;
    case STATE_TRAP:
        r->num = cursor_u8(c);
        r->text = get_text(c);
        c->bad |= r->num >= TRAP_COUNT || !trap_signal_name((int)r->num);
        break;
    case STATE_BUILTIN:
    case STATE_OPT:
    case STATE_SHOPT:
        r->name = get_text(c);
        get_known(c, r);
        break;
    default:
        c->bad = true;
    }
}

/* Whether @b may follow @a. */
static bool ascends(const struct record *a, const struct record *b)
{
    if (a->tag != b->tag)
        return a->tag < b->tag;
    switch (a->tag) {
    case STATE_UNSET:
    case STATE_VAR:
    case STATE_FUNC:
    case STATE_ALIAS:
        return str_cmp(a->name, b->name) < 0;
    case STATE_TRAP:
    case STATE_BUILTIN:
    case STATE_OPT:
    case STATE_SHOPT:
        return a->num < b->num;
    default:
        return false;
    }
}

static struct cursor records(struct str state)
{
    return cursor_of(state.p + strlen(STATE_MAGIC), state.n - strlen(STATE_MAGIC));
}

int shell_state_check(struct str state)
{
    struct record last = {0}, r;
    if (state.n > LIMIT_SHELL_STATE)
        return -EFBIG;
    if (!state.n)
        return 0;
    if (!str_starts(state, STR(STATE_MAGIC)))
        return -EBADMSG;
    struct cursor c = records(state);
    while (!c.bad && c.p < c.end) {
        get_record(&c, &r);
        c.bad |= !ascends(&last, &r);
        last = r;
    }
    return c.bad ? -EBADMSG : 0;
}

/* ---- applying ---- */

struct applied {
    struct shell *sh;
    struct str lost; /* the working directory that is not there any more */
    bool exports_only;
    bool pipestatus;
};

static bool ended(const struct shell *sh)
{
    return proc_poll(sh->p) < 0;
}

static struct var *bound(const struct shell *sh, const struct sym *s)
{
    return s->id < sh->vars->n ? sh->vars->v[s->id] : NULL;
}

/* Options have records of their own: what POSIXLY_CORRECT and GLOBIGNORE switch is not switched again. */
static void bind(struct shell *sh, struct sym *s, struct var *v)
{
    struct var *old = NULL;
    if (var__swap(sh, s, v, &old) < 0)
        old = v;
    var__unref(old);
    if (s->special && s->special != SPECIAL_POSIXLY_CORRECT && s->special != SPECIAL_GLOBIGNORE)
        var__special_changed(sh, s);
}

static int fill_assoc(struct shell *sh, struct var *v, struct record *r)
{
    v->assoc = assoc_sized(r->n);
    if (!v->assoc)
        return -ENOMEM;
    for (uint32_t i = 0; i < r->n; i++) {
        struct str key = cursor_str(&r->list), val = cursor_str(&r->list);
        if (ended(sh))
            return -EINTR;
        int e = assoc_add_last(v->assoc, key, val);
        if (e < 0 && e != -EEXIST)
            return e;
    }
    return 0;
}

static int fill_arr(struct shell *sh, struct var *v, struct record *r)
{
    v->arr = arr_new();
    if (!v->arr)
        return -ENOMEM;
    for (uint32_t i = 0; i < r->n; i++) {
        int64_t index = (int64_t)cursor_u64(&r->list);
        if (ended(sh))
            return -EINTR;
        int e = arr_set(v->arr, index, cursor_str(&r->list));
        if (e < 0)
            return e;
    }
    return 0;
}

static struct var *make_var(struct shell *sh, struct record *r)
{
    struct var *v = var__new();
    int e = 0;
    if (r->flags & VAR_ASSOC)
        e = fill_assoc(sh, v, r);
    else if (r->flags & VAR_ARRAY)
        e = fill_arr(sh, v, r);
    else if (r->flags & VAR_SET)
        e = var__store(v, r->text);
    if (e < 0) {
        var__unref(v);
        return NULL;
    }
    v->flags = r->flags;
    return v;
}

static void apply_var(struct applied *a, struct record *r)
{
    struct shell *sh = a->sh;
    struct sym *s = sym_get(sh, r->name);
    struct var *old = s ? bound(sh, s) : NULL;
    if (!s || (old && (old->flags & VAR_NOUNSET) && !(r->flags & VAR_DYN)))
        return;
    if (a->exports_only) {
        bool passed = (r->flags & VAR_EXPORT) && (r->flags & VAR_SET) &&
                      !(r->flags & (VAR_ARRAY | VAR_ASSOC | VAR_NAMEREF | VAR_DYN));
        r->flags = VAR_SET | VAR_EXPORT;
        if (!passed && old && (old->flags & VAR_EXPORT) && !(old->flags & VAR_DYN))
            bind(sh, s, NULL);
        if (!passed)
            return;
    }
    if (r->flags & VAR_DYN) {
        struct var *v = old && (old->flags & VAR_DYN) ? var_own(sh, s) : NULL;
        if (v)
            v->flags = (v->flags & ~STATE_DYN_FLAGS) | (r->flags & STATE_DYN_FLAGS);
        return;
    }
    struct var *v = make_var(sh, r);
    if (v)
        bind(sh, s, v);
}

static void apply_unset(const struct applied *a, const struct record *r)
{
    struct sym *s = sym_get(a->sh, r->name);
    const struct var *old = s ? bound(a->sh, s) : NULL;
    if (old && !(old->flags & VAR_NOUNSET) && (!a->exports_only || (old->flags & VAR_EXPORT)))
        bind(a->sh, s, NULL);
}

static void set_pwd(struct shell *sh, struct str path)
{
    mem_free((void *)(uintptr_t)sh->pwd.p);
    sh->pwd = str_of(mem_dup(path.p, path.n), path.n);
}

static void apply_cwd(struct applied *a, struct str path)
{
    if (path.n && path.p[0] == '/' && path.n < LIMIT_PATH && proc_chdir(a->sh->p, path) == 0)
        set_pwd(a->sh, path);
    else
        a->lost = path;
}

/* Where the directory is gone, PWD names the one the shell is in instead. */
static void mend_pwd(const struct applied *a)
{
    struct sym *s = sym_get(a->sh, STR("PWD"));
    const struct var *old = s ? bound(a->sh, s) : NULL;
    if (!a->lost.n || !old || !(old->flags & VAR_SET) || !old->p || !str_eq(str_of(old->p, old->n), a->lost))
        return;
    struct var *v = var_own(a->sh, s);
    if (v)
        (void)var__store(v, a->sh->pwd);
}

/* The function is built here, not by running its definition: its name may be one that no definition can have now. */
static void apply_func(const struct applied *a, const struct record *r)
{
    struct shell *sh = a->sh;
    if (a->exports_only && !(r->flags & STATE_FUNC_EXPORTED))
        return;
    BUF_AUTO struct buf text;
    buf_init(&text, LIMIT_SHELL_STATE + 16);
    buf_addc(&text, "f () ");
    buf_adds(&text, r->text);
    buf_putc(&text, '\n');
    struct parse_error err;
    uint64_t shopts = sh->shopts;
    uint32_t opts = sh->opts;
    sh->opts &= ~(uint32_t)OPT_VERBOSE;
    sh->shopts |= UINT64_C(1) << SHOPT_EXTGLOB; /* it may have been on: without it the text has no such group */
    struct parser *ps = text.err ? NULL : parser_new(sh, buf_str(&text), NULL, 1);
    struct ast *def = NULL, *more = NULL;
    if (ps)
        parser_check_only(ps); /* no warnings */
    if (ps && parser_next(ps, &def, &err) == 1 && def->root && def->root->kind == NODE_FUNC &&
        parser_next(ps, &more, &err) == 0) {
        struct func *f = mem_zalloc(sizeof *f);
        struct str file = r->file.n ? r->file : sh->dash_c ? STR("environment") : STR("main");
        f->refs = 1;
        f->name = str_of(mem_dup(r->name.p, r->name.n), r->name.n);
        f->file = str_of(mem_dup(file.p, file.n), file.n);
        f->body = def->root->func.body;
        f->ast = ast_ref(def->root->func.ast);
        f->line = def->root->line;
        f->readonly = r->flags & STATE_FUNC_READONLY;
        f->traced = r->flags & STATE_FUNC_TRACED;
        f->exported = r->flags & STATE_FUNC_EXPORTED;
        func_unref(map_set(shell_own_funcs(sh), r->name, f));
    }
    ast_unref(def);
    ast_unref(more);
    parser_free(ps);
    sh->shopts = shopts;
    sh->opts = opts;
}

static void apply_args(struct shell *sh, struct record *r)
{
    struct str *v = mem_try(((size_t)r->n + 1) * sizeof *v);
    for (uint32_t i = 0; v && i < r->n; i++)
        v[i] = cursor_str(&r->list);
    struct posargs *args = v ? posargs_new(v, r->n) : NULL;
    mem_free(v);
    if (sh->kept->has_args || !args) {
        sh->kept->args_under = args;
        return;
    }
    posargs_unref(sh->args);
    sh->args = args;
}

static void apply_arg0(struct shell *sh, struct str name)
{
    char *p = mem_dup(name.p, name.n);
    if (sh->kept->has_arg0) {
        sh->kept->arg0_under = p;
        return;
    }
    sh->arg0_heap = p;
    sh->arg0 = str_of(p, name.n);
    sh->script_name = p;
}

static void apply_dirstack(struct shell *sh, struct record *r)
{
    if (!r->n)
        return;
    sh->dirstack = mem_try(r->n * sizeof *sh->dirstack);
    for (; sh->dirstack && sh->n_dirstack < r->n; sh->n_dirstack++) {
        struct str s = cursor_str(&r->list);
        sh->dirstack[sh->n_dirstack] = str_of(mem_dup(s.p, s.n), s.n);
    }
}

static void apply_pipestatus(struct applied *a, struct record *r)
{
    int *v = mem_try((r->n + 1) * sizeof *v);
    for (uint32_t i = 0; v && i < r->n; i++)
        v[i] = cursor_u8(&r->list);
    if (v && r->n)
        exec_set_pipestatus(a->sh, v, r->n);
    a->pipestatus = v && r->n;
    mem_free(v);
}

/* What only the shell itself sees. */
static void apply_own(struct applied *a, struct record *r)
{
    struct shell *sh = a->sh;
    uint64_t bit;
    switch (r->tag) {
    case STATE_DIRSTACK:
        apply_dirstack(sh, r);
        break;
    case STATE_ARGS:
        apply_args(sh, r);
        break;
    case STATE_ARG0:
        apply_arg0(sh, r->text);
        break;
    case STATE_SECONDS:
        sh->start_wall = r->num;
        sh->seconds_base = 0;
        break;
    case STATE_GETOPTS: {
        struct sym *s = sym_get(sh, STR("OPTIND"));
        struct var *v = s && bound(sh, s) ? var_own(sh, s) : NULL;
        if (v)
            v->place = (uint32_t)r->num;
        break;
    }
    case STATE_ALIAS: {
        char *old = map_set(shell_own_aliases(sh), r->name, mem_dup(r->text.p, r->text.n));
        mem_free(old);
        shell_lookup_changed(sh);
        break;
    }
    case STATE_BUILTIN:
        builtin_enable(sh, builtin_find_any(r->name), false);
        break;
    case STATE_OPT:
        bit = options_find(r->name)->bit;
        if (bit != OPT_NOEXEC)
            sh->opts = r->flags ? sh->opts | (uint32_t)bit : sh->opts & ~(uint32_t)bit;
        break;
    case STATE_SHOPT:
        bit = UINT64_C(1) << r->num;
        if (r->num != SHOPT_LOGIN_SHELL && r->num != SHOPT_RESTRICTED_SHELL)
            sh->shopts = r->flags ? sh->shopts | bit : sh->shopts & ~bit;
        break;
    case STATE_STATUS:
        sh->last_status = (int)r->num;
        break;
    case STATE_PIPESTATUS:
        apply_pipestatus(a, r);
        break;
    default:
        break;
    }
}

static void apply(struct applied *a, struct record *r)
{
    struct shell *sh = a->sh;
    switch (r->tag) {
    case STATE_UMASK:
        sh->p->umask = (uint32_t)r->num;
        break;
    case STATE_CWD:
        apply_cwd(a, r->text);
        break;
    case STATE_UNSET:
        apply_unset(a, r);
        break;
    case STATE_VAR:
        apply_var(a, r);
        break;
    case STATE_FUNC:
        apply_func(a, r);
        break;
    case STATE_TRAP:
        if (!a->exports_only || (r->num > 0 && r->num < TRAP_DEBUG && !r->text.n))
            (void)trap_set(sh, (int)r->num, r->text.n ? arena_str(&sh->scratch, r->text).p : "");
        break;
    default:
        if (!a->exports_only)
            apply_own(a, r);
    }
}

void shell__state_apply(struct shell *sh, struct str state, bool exports_only)
{
    struct applied a = {.sh = sh, .exports_only = exports_only};
    struct arena_mark m = arena_mark(&sh->scratch);
    struct cursor c = records(state);
    struct record r;
    while (c.p < c.end && !c.bad) {
        if (ended(sh)) {
            sh->flow = FLOW_KILLED;
            break;
        }
        get_record(&c, &r);
        apply(&a, &r);
    }
    mend_pwd(&a);
    if (!exports_only && !a.pipestatus) {
        sh->pipestatus[0] = sh->last_status;
        sh->n_pipestatus = 1;
    }
    arena_reset(&sh->scratch, m);
}
