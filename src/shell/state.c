/* SPDX-License-Identifier: Apache-2.0 */

/* Writing a shell's state: all that differs from the fresh shell it began as. */

#include "shell/state_int.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/num.h"
#include "shell/array_int.h"
#include "shell/options_int.h"
#include "shell/start_int.h"
#include "shell/trap_int.h"
#include "shell/var_special_int.h"

const struct state_letter shell__state_var_letters[] = {
    {'a', VAR_ARRAY},
    {'A', VAR_ASSOC},
    {'c', VAR_CAPCASE},
    {'d', VAR_DYN},
    {'i', VAR_INTEGER},
    {'l', VAR_LOWER},
    {'n', VAR_NAMEREF},
    {'s', VAR_SET},
    {'r', VAR_READONLY},
    {'t', VAR_TRACE},
    {'u', VAR_UPPER},
    {'x', VAR_EXPORT},
    {0, 0},
};

const struct state_letter shell__state_func_letters[] = {
    {'r', STATE_FUNC_READONLY}, {'t', STATE_FUNC_TRACED}, {'x', STATE_FUNC_EXPORTED}, {0, 0}};

/* ---- fields ---- */

static void put_u8(struct buf *b, uint8_t v)
{
    buf_add(b, &v, 1);
}

static void put_u32(struct buf *b, uint32_t v)
{
    uint8_t x[4] = {(uint8_t)v, (uint8_t)(v >> 8), (uint8_t)(v >> 16), (uint8_t)(v >> 24)};
    buf_add(b, x, sizeof x);
}

static void put_u64(struct buf *b, uint64_t v)
{
    put_u32(b, (uint32_t)v);
    put_u32(b, (uint32_t)(v >> 32));
}

/* A text of a shell holds no NUL; should one have got in, it ends there, as it does for every program that gets it. */
static void put_str(struct buf *b, struct str s)
{
    const char *nul = s.n ? memchr(s.p, 0, s.n) : NULL;
    size_t n = nul ? (size_t)(nul - s.p) : s.n;
    if (n > LIMIT_SHELL_STATE) {
        b->err = b->err ? b->err : -EFBIG;
        return;
    }
    put_u32(b, (uint32_t)n);
    buf_add(b, s.p, n);
}

static void put_strs(struct buf *b, enum state_tag tag, const struct str *v, uint32_t n)
{
    if (!n)
        return;
    put_u8(b, (uint8_t)tag);
    put_u32(b, n);
    for (uint32_t i = 0; i < n; i++)
        put_str(b, v[i]);
}

static void put_letters(struct buf *b, const struct state_letter *l, uint32_t flags)
{
    char text[16];
    size_t n = 0;
    for (; l->c; l++)
        if (flags & l->flag)
            text[n++] = l->c;
    put_str(b, str_of(text, n));
}

/* ---- variables ---- */

static uint32_t attributes(const struct var *v)
{
    uint32_t all = 0;
    for (const struct state_letter *l = shell__state_var_letters; l->c; l++)
        all |= l->flag;
    return v->flags & (v->flags & VAR_DYN ? VAR_DYN | STATE_DYN_FLAGS : all);
}

static bool same_elems(const struct var *a, const struct var *b)
{
    size_t at_a = 0, at_b = 0;
    struct str key_a, key_b, val_a, val_b;
    int64_t i, k;
    if (var_count(a) != var_count(b))
        return false;
    while (var_next(a, &at_a, &key_a, &i, &val_a) && var_next(b, &at_b, &key_b, &k, &val_b))
        if (i != k || !str_eq(key_a, key_b) || !str_eq(val_a, val_b))
            return false;
    return true;
}

static bool same(const struct var *a, const struct var *b)
{
    if (a == b || !a || !b)
        return a == b;
    return attributes(a) == attributes(b) && a->place == b->place && ((a->flags & VAR_DYN) || same_elems(a, b));
}

static struct var *bound(const struct vartab *t, uint32_t id)
{
    return id < t->n ? t->v[id] : NULL;
}

/* What @s means to the shells that go on: what the start put over it does not count, unless it was changed. */
static struct var *lasting(struct shell *sh, const struct sym *s)
{
    const struct shell_kept *k = sh->kept;
    struct var *v = bound(sh->vars, s->id);
    const struct var *given = k->given ? bound(k->given, s->id) : NULL;
    return given && same(v, given) ? bound(k->under, s->id) : v;
}

static void put_assoc(struct buf *b, const struct var *v)
{
    struct assoc *tidy = NULL;
    struct str key, val;
    size_t n = v->assoc ? assoc_count(v->assoc) : 0;
    if (n && !assoc_settled(v->assoc)) {
        tidy = assoc_sized(n);
        for (size_t i = 0; tidy && i < n && assoc_at(v->assoc, i, &key, &val); i++)
            if (assoc_add_last(tidy, key, val) < 0)
                b->err = -ENOMEM;
        if (!tidy)
            b->err = -ENOMEM;
    }
    put_u32(b, (uint32_t)n);
    for (size_t i = 0; i < n && !b->err && assoc_at(tidy ? tidy : v->assoc, i, &key, &val); i++) {
        put_str(b, key);
        put_str(b, val);
    }
    assoc_free(tidy);
}

static void put_arr(struct buf *b, const struct var *v)
{
    size_t n = v->arr ? arr_count(v->arr) : 0;
    put_u32(b, (uint32_t)n);
    for (size_t i = 0; i < n && !b->err; i++) {
        int64_t index;
        struct str val;
        arr_at(v->arr, i, &index, &val);
        put_u64(b, (uint64_t)index);
        put_str(b, val);
    }
}

static void put_var(struct shell *sh, struct buf *b, const struct sym *s, const struct var *v, struct str cwd)
{
    struct str val = str_of(v->p, v->n);
    /* PWD that follows the working directory goes on doing so. */
    if (str_eq(s->name, STR("PWD")) && str_eq(val, sh->pwd))
        val = cwd;
    put_u8(b, STATE_VAR);
    put_str(b, s->name);
    put_letters(b, shell__state_var_letters, attributes(v));
    if (v->flags & VAR_DYN)
        return;
    if (v->flags & VAR_ASSOC)
        put_assoc(b, v);
    else if (v->flags & VAR_ARRAY)
        put_arr(b, v);
    else if (v->flags & VAR_SET)
        put_str(b, val);
}

static int by_name(const void *a, const void *b)
{
    const struct sym *const *x = a;
    const struct sym *const *y = b;
    return str_cmp((*x)->name, (*y)->name);
}

static void put_vars(struct shell *sh, struct buf *b, struct str cwd)
{
    const struct shell_kept *k = sh->kept;
    uint32_t ids = NUM_MAX(sh->vars->n, k->vars->n);
    ids = NUM_MIN(ids, sh->world->n_syms);
    struct sym **v = mem_try(((size_t)ids + 1) * sizeof *v);
    size_t n = 0;
    if (!v)
        b->err = -ENOMEM;
    for (uint32_t i = 0; v && i < ids; i++) {
        struct sym *s = sh->world->sym_v[i];
        if (sym_valid(s->name) && !same(lasting(sh, s), bound(k->vars, i)))
            v[n++] = s;
    }
    if (n)
        qsort(v, n, sizeof *v, by_name);
    for (size_t i = 0; i < n; i++) {
        if (lasting(sh, v[i]))
            continue;
        put_u8(b, STATE_UNSET);
        put_str(b, v[i]->name);
    }
    for (size_t i = 0; i < n; i++) {
        const struct var *var = lasting(sh, v[i]);
        if (var)
            put_var(sh, b, v[i], var, cwd);
    }
    mem_free(v);
    struct sym *s = sym_get(sh, STR("OPTIND"));
    const struct var *place = s ? lasting(sh, s) : NULL;
    if (place && place->place) {
        put_u8(b, STATE_GETOPTS);
        put_u32(b, place->place);
    }
}

/* ---- functions, aliases ---- */

static int by_key(const void *a, const void *b)
{
    const struct map_iter *x = a, *y = b;
    return str_cmp(x->key, y->key);
}

/* The entries of a map sorted by their keys, to be freed; NULL when there are none or memory is short. */
static struct map_iter *sorted(const struct map *m, size_t *ret_n, struct buf *b)
{
    struct map_iter it = {0};
    size_t n = 0, most = m ? map_count(m) : 0;
    struct map_iter *v = most ? mem_try(most * sizeof *v) : NULL;
    if (most && !v)
        b->err = -ENOMEM;
    while (v && n < most && map_next(m, &it))
        v[n++] = it;
    if (n)
        qsort(v, n, sizeof *v, by_key);
    *ret_n = n;
    return v;
}

static void put_func(struct buf *b, const struct func *f)
{
    BUF_AUTO struct buf body;
    buf_init(&body, LIMIT_SHELL_STATE);
    ast_print_source(&body, f->body);
    if (body.err) {
        b->err = body.err == -EFBIG ? -EFBIG : b->err; /* nested too deep: it cannot be told */
        return;
    }
    uint32_t flags = (f->readonly ? STATE_FUNC_READONLY : 0u) | (f->traced ? STATE_FUNC_TRACED : 0u) |
                     (f->exported ? STATE_FUNC_EXPORTED : 0u);
    /* What bash calls the file of a function that no file defined depends on how the shell was started. */
    bool filed = !str_eqc(f->file, "environment") && !str_eqc(f->file, "main");
    put_u8(b, STATE_FUNC);
    put_str(b, f->name);
    put_letters(b, shell__state_func_letters, flags);
    put_str(b, filed ? f->file : STR(""));
    put_str(b, buf_str(&body));
}

static void put_names(struct shell *sh, struct buf *b)
{
    size_t n;
    struct map_iter *v = sorted(sh->funcs, &n, b);
    for (size_t i = 0; i < n; i++)
        put_func(b, v[i].val);
    mem_free(v);
    v = sorted(sh->aliases, &n, b);
    for (size_t i = 0; i < n; i++) {
        put_u8(b, STATE_ALIAS);
        put_str(b, v[i].key);
        put_str(b, str_c(v[i].val));
    }
    mem_free(v);
    const struct builtin *const *all = builtin_all(&n);
    for (size_t i = 0; i < n; i++) {
        if (builtin_find(sh, str_c(all[i]->name)))
            continue;
        put_u8(b, STATE_BUILTIN);
        put_str(b, str_c(all[i]->name));
    }
}

/* ---- traps, options ---- */

static void put_traps(struct shell *sh, struct buf *b)
{
    for (int sig = 0; sig < TRAP_COUNT; sig++) {
        const char *text = trap_get(sh, sig);
        if (!text || (sig == TRAP_EXIT && sh->exit_trap_done))
            continue;
        put_u8(b, STATE_TRAP);
        put_u8(b, (uint8_t)sig);
        put_str(b, str_c(text));
    }
}

static void put_switch(struct buf *b, enum state_tag tag, const char *name, bool on)
{
    put_u8(b, (uint8_t)tag);
    put_str(b, str_c(name));
    put_u8(b, on);
}

static void put_options(struct shell *sh, struct buf *b)
{
    const struct shell_kept *k = sh->kept;
    size_t n;
    const struct opt_def *o = options_all(&n);
    for (size_t i = 0; i < n; i++)
        if (((sh->opts ^ k->opts) & o[i].bit) && o[i].bit != OPT_NOEXEC)
            put_switch(b, STATE_OPT, o[i].name, sh_opt(sh, o[i].bit));
    for (int i = 0; i < SHOPT_COUNT; i++)
        if ((sh->shopts ^ k->shopts) >> i & 1)
            put_switch(b, STATE_SHOPT, options_shopt_name(i), sh_shopt(sh, (enum shopt_index)i));
}

static void put_status(const struct shell *sh, struct buf *b)
{
    uint8_t status = (uint8_t)sh->last_status;
    if (status) {
        put_u8(b, STATE_STATUS);
        put_u8(b, status);
    }
    if (sh->n_pipestatus == 0 || (sh->n_pipestatus == 1 && (uint8_t)sh->pipestatus[0] == status))
        return;
    put_u8(b, STATE_PIPESTATUS);
    put_u32(b, sh->n_pipestatus);
    for (uint32_t i = 0; i < sh->n_pipestatus; i++)
        put_u8(b, (uint8_t)sh->pipestatus[i]);
}

/* ---- the rest ---- */

/* The working directory: by the name the shell has for it while that leads there, else by the tree's; when it was
 * removed the old name stays, and may lead somewhere later. */
static void find_cwd(struct shell *sh, struct buf *out)
{
    struct vfs *v = proc_set_vfs(sh->ps);
    struct vfs_ctx ctx = proc_ctx(sh->p);
    uint64_t ino;
    bool leads = vfs_lookup(v, &ctx, 0, sh->pwd, 0, &ino) == 0 && ino == ctx.cwd;
    if (leads || vfs_dir_path(v, ctx.cwd, out) < 0) {
        buf_clear(out);
        buf_adds(out, sh->pwd);
    }
}

static bool same_args(const struct posargs *a, const struct posargs *b)
{
    uint32_t n = a ? a->n : 0;
    if (n != (b ? b->n : 0))
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (!str_eq(a->v[i], b->v[i]))
            return false;
    return true;
}

static void put_args(const struct shell *sh, struct buf *b)
{
    const struct shell_kept *k = sh->kept;
    const struct posargs *args = k->has_args && same_args(sh->args, sh->main_args) ? k->args_under : sh->args;
    if (args)
        put_strs(b, STATE_ARGS, args->v, args->n);
    struct str arg0 = str_eqc(sh->arg0, sh->names->arg0) ? str_c(k->arg0_under) : sh->arg0;
    if (arg0.p) {
        put_u8(b, STATE_ARG0);
        put_str(b, arg0);
    }
}

static bool seconds_zero(const struct shell *sh, int64_t *ret)
{
    return !__builtin_sub_overflow(sh->start_wall, sh->seconds_base, ret);
}

static void put_process(struct shell *sh, struct buf *b, struct str cwd)
{
    const struct shell_kept *k = sh->kept;
    int64_t zero;
    if (sh->p->umask != k->umask) {
        put_u8(b, STATE_UMASK);
        put_u32(b, sh->p->umask);
    }
    if (!str_eq(cwd, k->pwd)) {
        put_u8(b, STATE_CWD);
        put_str(b, cwd);
    }
    put_strs(b, STATE_DIRSTACK, sh->dirstack, sh->n_dirstack);
    put_args(sh, b);
    if (seconds_zero(sh, &zero) && zero != k->zero) {
        put_u8(b, STATE_SECONDS);
        put_u64(b, (uint64_t)zero);
    }
}

int shell_save(struct shell *sh, struct buf *out)
{
    BUF_AUTO struct buf b, cwd;
    buf_init(&b, LIMIT_SHELL_STATE);
    buf_init(&cwd, LIMIT_PATH);
    if (!sh->kept)
        return -EINVAL;
    find_cwd(sh, &cwd);
    buf_addc(&b, STATE_MAGIC);
    put_process(sh, &b, buf_str(&cwd));
    put_vars(sh, &b, buf_str(&cwd));
    put_names(sh, &b);
    put_traps(sh, &b);
    put_options(sh, &b);
    put_status(sh, &b);
    if (b.err || cwd.err)
        return b.err ? b.err : cwd.err;
    return b.n > strlen(STATE_MAGIC) ? buf_adds(out, buf_str(&b)) : 0;
}

/* ---- beginning and end ---- */

/* Whether an entry of the start's environment goes over what the shell has of that name. */
static bool may_hide(struct str name, const struct var *old)
{
    static const char *const own[] = {"IFS", "OPTIND", "PWD"}; /* nobody's environment sets them */
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (str_eqc(name, own[i]))
            return false;
    return !old || !(old->flags & (VAR_READONLY | VAR_DYN));
}

static struct vartab *empty_table(uint32_t n)
{
    struct vartab *t = mem_zalloc(sizeof *t);
    t->refs = 1;
    t->n = n;
    t->v = mem_zalloc(n * sizeof *t->v);
    return t;
}

/* What the start gives for itself goes over the state. It is bound anew: arrays, namerefs and attributes of the state
 * have no say in an environment. What it hides is kept for shell_save(). */
static void put_over(struct shell *sh, char **env)
{
    uint32_t n = 0, n_v = 0;
    while (env && env[n])
        n++;
    if (!n)
        return;
    char **v = arena_alloc(&sh->scratch, ((size_t)n + 1) * sizeof *v);
    struct sym **syms = arena_alloc(&sh->scratch, (size_t)n * sizeof *syms);
    struct vartab *under = empty_table(sh->world->n_syms + n), *given = empty_table(sh->world->n_syms + n);
    for (uint32_t i = 0; i < n; i++) {
        struct str e = str_c(env[i]);
        ptrdiff_t eq = str_find(e, '=', 0);
        struct str name = str_of(e.p, eq > 0 ? (size_t)eq : 0);
        struct sym *s = sym_valid(name) ? sym_get(sh, name) : NULL;
        struct var *old = s ? bound(sh->vars, s->id) : NULL;
        if (!may_hide(name, old))
            continue;
        if (old && var__swap(sh, s, NULL, &old) == 0)
            under->v[s->id] = old;
        syms[n_v] = s;
        v[n_v++] = env[i];
    }
    v[n_v] = NULL;
    start_import(sh, v);
    for (uint32_t i = 0; i < n_v; i++) {
        struct var *now = syms[i] ? bound(sh->vars, syms[i]->id) : NULL;
        if (now && !given->v[syms[i]->id])
            given->v[syms[i]->id] = var__ref(now);
    }
    if (sh->kept) {
        sh->kept->given = given;
        sh->kept->under = under;
    } else {
        vartab_unref(given);
        vartab_unref(under);
    }
}

static struct shell_kept *note_fresh(struct shell *sh, const struct shell_keep *keep)
{
    struct shell_kept *k = mem_zalloc(sizeof *k);
    k->keep = keep;
    k->vars = vartab_ref(sh->vars);
    k->opts = sh->opts;
    k->shopts = sh->shopts;
    k->umask = sh->p->umask;
    k->pwd = str_of(mem_dup(sh->pwd.p, sh->pwd.n), sh->pwd.n);
    k->zero = sh->start_wall - sh->seconds_base;
    k->has_args = sh->main_args && sh->main_args->n;
    k->has_arg0 = !str_eqc(sh->arg0, "bash") && !str_eqc(sh->arg0, "sh");
    return k;
}

bool shell__state_begin(struct shell *sh, const struct shell_keep *keep)
{
    if (!keep)
        return false;
    if (!keep->exports_only)
        sh->kept = note_fresh(sh, keep);
    bool goes_on = keep->state.n && shell_state_check(keep->state) == 0;
    if (goes_on)
        shell__state_apply(sh, keep->state, keep->exports_only);
    put_over(sh, keep->env);
    return goes_on && !keep->exports_only;
}

void shell__state_end(struct shell *sh, struct outcome o)
{
    bool itself = o.kind == OUTCOME_EXITED && sh->flow != FLOW_KILLED && !sh->p->must_end && !sh->end_signal;
    if (sh->kept && sh->kept->keep->ended && itself)
        sh->kept->keep->ended(sh->kept->keep->arg, sh);
}

void shell__kept_free(struct shell *sh)
{
    struct shell_kept *k = sh->kept;
    if (!k)
        return;
    vartab_unref(k->given);
    vartab_unref(k->under);
    vartab_unref(k->vars);
    mem_free((void *)(uintptr_t)k->pwd.p);
    posargs_unref(k->args_under);
    mem_free(k->arg0_under);
    mem_free(k);
    sh->kept = NULL;
}
