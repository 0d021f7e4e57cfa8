/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/var_int.h"

#include <errno.h>

#include "base/assert.h"
#include "base/mem.h"
#include "base/num.h"
#include "shell/array_int.h"
#include "shell/builtin/target_int.h"
#include "shell/shell_int.h"
#include "shell/uchar_int.h"
#include "shell/var_special_int.h"

#define NAMEREF_DEPTH 8 /* bash's limit of one nameref leading to the next */

/* What makes an assignment more than storing text. */
#define VAR_SLOW                                                                                                       \
    (VAR_READONLY | VAR_INTEGER | VAR_LOWER | VAR_UPPER | VAR_CAPCASE | VAR_ARRAY | VAR_ASSOC | VAR_NAMEREF |          \
     VAR_DYN | VAR_NOASSIGN)

/* ---- symbols ---- */

bool sym_valid(struct str name)
{
    if (!name.n || (name.p[0] >= '0' && name.p[0] <= '9'))
        return false;
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'))
            return false;
    }
    return true;
}

struct sym *sym_get(struct shell *sh, struct str name)
{
    struct shell_world *w = sh->world;
    struct sym *s = map_get(&w->syms, name);
    if (s)
        return s;
    if (w->n_syms >= LIMIT_SYMBOLS)
        return NULL;
    if (w->n_syms == w->cap_syms) {
        uint32_t cap = w->cap_syms ? w->cap_syms * 2 : 256;
        w->sym_v = mem_realloc(w->sym_v, cap * sizeof *w->sym_v);
        w->cap_syms = cap;
    }
    s = ARENA_NEW(&w->arena, struct sym);
    s->name = arena_str(&w->arena, name);
    s->id = w->n_syms;
    w->sym_v[w->n_syms++] = s;
    map_set(&w->syms, s->name, s);
    return s;
}

/* ---- one variable ---- */

struct var *var__new(void)
{
    struct var *v = mem_zalloc(sizeof *v);
    v->refs = 1;
    return v;
}

struct var *var__ref(struct var *v)
{
    v->refs++;
    return v;
}

void var__clear(struct var *v)
{
    mem_free(v->p);
    arr_free(v->arr);
    assoc_free(v->assoc);
    v->p = NULL;
    v->n = v->cap = 0;
    v->arr = NULL;
    v->assoc = NULL;
    v->flags &= ~(uint32_t)(VAR_SET | VAR_NUM | VAR_ARRAY | VAR_ASSOC);
}

void var__unref(struct var *v)
{
    if (!v || --v->refs > 0)
        return;
    mem_free(v->p);
    if (v->arr)
        arr_free(v->arr);
    if (v->assoc)
        assoc_free(v->assoc);
    mem_free(v);
}

struct var *var__copy(const struct var *v)
{
    struct var *c = var__new();
    c->depth = v->depth;
    c->num = v->num;
    if ((v->p && var__store(c, str_of(v->p, v->n)) < 0) || (v->arr && !(c->arr = arr_copy(v->arr))) ||
        (v->assoc && !(c->assoc = assoc_copy(v->assoc)))) {
        var__unref(c);
        return NULL;
    }
    c->flags = v->flags;
    return c;
}

/* Room for @n bytes and a NUL; grows by half so that appending in a loop stays linear. */
static int reserve(struct var *v, size_t n)
{
    if (n < v->cap)
        return 0;
    if (n >= LIMIT_STRING)
        return -ENOMEM;
    size_t cap = n + 1;
    if (v->cap)
        cap = NUM_MAX(cap, v->cap + v->cap / 2);
    cap = (cap + 23) & ~(size_t)15;
    char *p = mem_try_realloc(v->p, cap);
    if (!p)
        return -ENOMEM;
    v->p = p;
    v->cap = cap;
    return 0;
}

int var__store(struct var *v, struct str val)
{
    /* Text borrowed from this very variable always fits, so nothing is freed under it. */
    int r = reserve(v, val.n);
    if (r < 0)
        return r;
    if (val.n)
        memmove(v->p, val.p, val.n);
    v->p[val.n] = 0;
    v->n = val.n;
    v->flags = (v->flags | VAR_SET) & ~(uint32_t)VAR_NUM;
    return 0;
}

/* ---- the table ---- */

struct vartab *vartab_ref(struct vartab *t)
{
    t->refs++;
    return t;
}

void vartab_unref(struct vartab *t)
{
    if (!t || --t->refs > 0)
        return;
    for (uint32_t i = 0; i < t->n; i++)
        if (t->v[i])
            var__unref(t->v[i]);
    mem_free(t->v);
    mem_free(t);
}

static struct vartab *table_copy(struct shell *sh, uint32_t n)
{
    struct vartab *old = sh->vars;
    struct vartab *t = mem_alloc(sizeof *t);
    t->refs = 1;
    t->n = n;
    t->v = mem_try((size_t)n * sizeof *t->v);
    if (!t->v) {
        mem_free(t);
        return NULL;
    }
    uint32_t have = old ? old->n : 0;
    for (uint32_t i = 0; i < have; i++) {
        t->v[i] = old->v[i];
        if (t->v[i])
            t->v[i]->refs++;
    }
    memset(t->v + have, 0, (n - have) * sizeof *t->v);
    vartab_unref(old);
    sh->vars = t;
    return t;
}

struct vartab *var__table(struct shell *sh, uint32_t id)
{
    struct vartab *t = sh->vars;
    if (t && id < t->n && t->refs == 1)
        return t;
    uint32_t n = t && t->n ? t->n : 64;
    while (n <= id)
        n *= 2;
    if (!t || t->refs > 1)
        return table_copy(sh, n);
    struct var **v = mem_try_realloc(t->v, (size_t)n * sizeof *v);
    if (!v)
        return NULL;
    memset(v + t->n, 0, (n - t->n) * sizeof *v);
    t->v = v;
    t->n = n;
    return t;
}

int var__swap(struct shell *sh, struct sym *s, struct var *v, struct var **ret_old)
{
    struct vartab *t = var__table(sh, s->id);
    if (!t)
        return -ENOMEM;
    *ret_old = t->v[s->id];
    t->v[s->id] = v;
    return 0;
}

static struct var *own_raw(struct shell *sh, struct sym *s)
{
    struct vartab *t = var__table(sh, s->id);
    if (!t)
        return NULL;
    struct var *v = t->v[s->id];
    if (!v)
        return t->v[s->id] = var__new();
    if (v->refs > 1) {
        struct var *c = var__copy(v);
        if (!c)
            return NULL;
        var__unref(v);
        t->v[s->id] = v = c;
    }
    return v;
}

struct var *var_own(struct shell *sh, struct sym *s)
{
    return own_raw(sh, s);
}

/* ---- namerefs ---- */

bool var_split_ref(struct str text, struct str *ret_name, struct str *ret_sub)
{
    ptrdiff_t open = str_find(text, '[', 0);
    if (open <= 0 || text.p[text.n - 1] != ']')
        return false;
    struct str name = str_of(text.p, (size_t)open);
    if (!sym_valid(name))
        return false;
    *ret_name = name;
    *ret_sub = str_of(text.p + open + 1, text.n - (size_t)open - 2);
    return true;
}

static struct var *raw(const struct shell *sh, const struct sym *s)
{
    return sh->vars && s->id < sh->vars->n ? sh->vars->v[s->id] : NULL;
}

/* The binding that a local nameref to its own name means: the one it hides. */
static struct var *hidden_binding(const struct shell *sh, const struct sym *s)
{
    for (struct frame *f = sh->frame; f; f = f->prev)
        for (uint32_t i = f->n_saved; i-- > 0;)
            if (f->saved[i].s == s)
                return f->saved[i].v;
    return NULL;
}

/* Whether a frame keeps a binding (or its absence) for @s. */
static bool is_hiding(const struct shell *sh, const struct sym *s)
{
    for (const struct frame *f = sh->frame; f; f = f->prev)
        for (uint32_t i = 0; i < f->n_saved; i++)
            if (f->saved[i].s == s)
                return true;
    return false;
}

struct sym *var_resolve(struct shell *sh, struct sym *s, struct str *ret_sub)
{
    struct sym *start = s;
    if (ret_sub)
        *ret_sub = (struct str){0};
    for (int depth = 0; depth < NAMEREF_DEPTH; depth++) {
        struct var *v = raw(sh, s);
        if (!v || !(v->flags & VAR_NAMEREF) || !(v->flags & VAR_SET))
            return s;
        struct str target = str_of(v->p, v->n), name, sub;
        bool element = var_split_ref(target, &name, &sub);
        if (element && ret_sub)
            *ret_sub = sub;
        struct sym *next = sym_get(sh, element ? name : target);
        if (!next || element)
            return next;
        if (next == start)
            break;
        s = next;
    }
    sh_error(sh, "warning: %s: circular name reference", start->name.p);
    return NULL;
}

/* ---- reading ---- */

struct var *var_find_raw(struct shell *sh, struct sym *s)
{
    struct var *v = raw(sh, s);
    return v && (v->flags & VAR_DYN) ? var__special_read(sh, s, v) : v;
}

static __attribute__((noinline)) struct var *find_slow(struct shell *sh, struct sym *s, struct var *v)
{
    if (v->flags & VAR_DYN)
        return var__special_read(sh, s, v);
    if (!(v->flags & VAR_SET))
        return v;
    if (str_eq(s->name, str_of(v->p, v->n))) {
        sh_error(sh, "warning: %s: circular name reference", s->name.p);
        return hidden_binding(sh, s);
    }
    s = var_resolve(sh, s, NULL);
    return s ? var_find_raw(sh, s) : NULL;
}

struct var *var_find(struct shell *sh, struct sym *s)
{
    struct vartab *t = sh->vars;
    struct var *v = s->id < t->n ? t->v[s->id] : NULL;
    if (!v || !(v->flags & (VAR_NAMEREF | VAR_DYN)))
        return v;
    return find_slow(sh, s, v);
}

static bool scalar_of(const struct var *v, struct str *ret)
{
    if (!v)
        return false;
    if (v->flags & VAR_ARRAY)
        return v->arr && arr_get(v->arr, 0, ret);
    if (v->flags & VAR_ASSOC)
        return v->assoc && assoc_get(v->assoc, STR("0"), ret);
    if (!(v->flags & VAR_SET))
        return false;
    *ret = str_of(v->p, v->n);
    return true;
}

static bool nameref_elem(struct shell *sh, struct sym *s, struct str sub, struct str *ret)
{
    struct var *v = var_find(sh, s);
    int64_t index = 0;
    struct str key;
    return v && !(v->flags & VAR_NAMEREF) && target_expand(sh, v, sub, &key, &index) == 0 &&
           var_elem(sh, v, key, index, ret);
}

bool var_text(struct shell *sh, struct sym *s, struct str *ret)
{
    struct vartab *t = sh->vars;
    struct var *v = s->id < t->n ? t->v[s->id] : NULL;
    if (!v)
        return false;
    if ((v->flags & (VAR_NAMEREF | VAR_DYN | VAR_ARRAY | VAR_ASSOC | VAR_SET)) == VAR_SET) {
        *ret = str_of(v->p, v->n);
        return true;
    }
    if ((v->flags & VAR_NAMEREF) && (v->flags & VAR_SET) && !str_eq(s->name, str_of(v->p, v->n))) {
        struct str sub;
        s = var_resolve(sh, s, &sub);
        if (!s || sub.n)
            return s && nameref_elem(sh, s, sub, ret);
    }
    return scalar_of(var_find(sh, s), ret);
}

struct str var_get(struct shell *sh, const char *name)
{
    struct str r = {0};
    struct sym *s = map_get(&sh->world->syms, str_c(name));
    if (s && !var_text(sh, s, &r))
        r = (struct str){0};
    return r;
}

bool var_elem(struct shell *sh, const struct var *v, struct str key, int64_t index, struct str *ret)
{
    (void)sh;
    if (v->flags & VAR_ASSOC)
        return v->assoc && assoc_get(v->assoc, key, ret);
    if (v->flags & VAR_ARRAY) {
        if (index < 0 && v->arr && __builtin_add_overflow(index, arr_max(v->arr) + 1, &index))
            return false;
        return v->arr && index >= 0 && arr_get(v->arr, index, ret);
    }
    if ((index == 0 || index == -1) && (v->flags & VAR_SET)) {
        *ret = str_of(v->p, v->n);
        return true;
    }
    return false;
}

size_t var_count(const struct var *v)
{
    if (v->flags & VAR_ARRAY)
        return v->arr ? arr_count(v->arr) : 0;
    if (v->flags & VAR_ASSOC)
        return v->assoc ? assoc_count(v->assoc) : 0;
    return v->flags & VAR_SET ? 1 : 0;
}

bool var_next(const struct var *v, size_t *pos, struct str *ret_key, int64_t *ret_index, struct str *ret_val)
{
    size_t i = *pos;
    *ret_key = (struct str){0};
    *ret_index = 0;
    if (v->flags & VAR_ASSOC) {
        if (!v->assoc || !assoc_at(v->assoc, i, ret_key, ret_val))
            return false;
    } else if (v->flags & VAR_ARRAY) {
        if (!v->arr || i >= arr_count(v->arr))
            return false;
        arr_at(v->arr, i, ret_index, ret_val);
    } else {
        if (i > 0 || !(v->flags & VAR_SET))
            return false;
        *ret_val = str_of(v->p, v->n);
    }
    *pos = i + 1;
    return true;
}

int64_t var_max_index(const struct var *v)
{
    if (v->flags & VAR_ARRAY) {
        int64_t max = v->arr ? arr_max(v->arr) : -1;
        return max < INT64_MAX ? max + 1 : max;
    }
    return (int64_t)var_count(v);
}

/* ---- writing ---- */

int var__readonly(struct shell *sh, const struct sym *s)
{
    sh_error(sh, "%s: readonly variable", s->name.p);
    sh_reported(sh);
    return -EPERM;
}

/* declare -u, -l, -c. A changed character may be longer than the one before, never above 4 bytes. */
static int change_case(struct shell *sh, uint32_t flags, struct str val, struct str *ret)
{
    struct buf out BUF_AUTO;
    buf_init(&out, LIMIT_STRING);
    for (size_t i = 0, len; i < val.n; i += len) {
        bool upper = (flags & VAR_UPPER) || ((flags & VAR_CAPCASE) && i == 0);
        uint32_t c = sh->utf8 ? uchar_get(val.p + i, val.n - i, &len) : (len = 1, (uint8_t)val.p[i]);
        if (c == UCHAR_BAD || (!sh->utf8 && c >= 0x80)) {
            buf_add(&out, val.p + i, len);
            continue;
        }
        char text[4];
        buf_add(&out, text, uchar_put(upper ? unicode_upper(c) : unicode_lower(c), text));
    }
    char *p = out.err ? NULL : arena_try(&sh->scratch, out.n + 1);
    if (!p)
        return -ENOMEM;
    memcpy(p, out.p, out.n + 1);
    *ret = str_of(p, out.n);
    return 0;
}

int var__transform(struct shell *sh, const struct var *v, struct str val, struct str *ret)
{
    *ret = val;
    if (v->flags & VAR_INTEGER) {
        int64_t n;
        if (arith_eval_text(sh, val, &n) < 0)
            return sh_abort(sh, 1);
        char *p = arena_printf(&sh->scratch, "%lld", (long long)n);
        *ret = str_c(p);
    }
    if (v->flags & (VAR_LOWER | VAR_UPPER | VAR_CAPCASE))
        return change_case(sh, v->flags, *ret, ret);
    return 0;
}

static int bad_name(struct shell *sh, struct str name)
{
    const char *who = sh->arith_who;
    sh_error(sh, "%s%s`%.*s': not a valid identifier", who ? who : "", who ? ": " : "", (int)name.n,
             name.p ? name.p : "");
    sh_reported(sh);
    return -EINVAL;
}

bool var_refers_to(struct str target, struct str name)
{
    struct str sub;
    (void)var_split_ref(target, &target, &sub);
    return str_eq(target, name);
}

int var_check_self(struct shell *sh, struct sym *s, struct str target)
{
    if (!var_refers_to(target, s->name))
        return 0;
    if (sh->func_depth) {
        sh_error(sh, "warning: %s: circular name reference", s->name.p);
        return 0;
    }
    sh_error(sh, "%s: nameref variable self references not allowed", s->name.p);
    return -EINVAL;
}

/* A nameref that has no target yet takes @val as one. */
static int set_nameref(struct shell *sh, struct sym *s, struct var *v, struct str val)
{
    struct str name, sub;
    if (!sym_valid(val) && !var_split_ref(val, &name, &sub))
        return bad_name(sh, val);
    int r = var_check_self(sh, s, val);
    return r < 0 ? r : var__store(v, val);
}

/* The array whose elements an assignment to @s means, a message said and NULL when it is a reference to none: one to an
 * element, or with @named one that has no target yet. */
static struct sym *array_meant(struct shell *sh, struct sym *s, bool named)
{
    struct var *v = raw(sh, s);
    struct str sub;
    if (!v || !(v->flags & VAR_NAMEREF))
        return s;
    s = var_resolve(sh, s, &sub);
    v = s ? raw(sh, s) : NULL;
    if (s && sub.p) {
        (void)bad_name(sh, str_c(arena_printf(&sh->scratch, "%s[%.*s]", s->name.p, (int)sub.n, sub.p)));
        return NULL;
    }
    if (v && (v->flags & VAR_NAMEREF) && named) {
        (void)bad_name(sh, STR(""));
        return NULL;
    }
    return s;
}

/* Takes target and attribute from the nameref @s, since it becomes an array. */
static int no_nameref(struct shell *sh, struct sym *s)
{
    struct var *v = own_raw(sh, s);
    if (!v)
        return -ENOMEM;
    sh_error(sh, "warning: %s: removing nameref attribute", s->name.p);
    var__clear(v);
    v->flags &= ~(uint32_t)VAR_NAMEREF;
    return 0;
}

/* Where an assignment to the nameref @s (bound to @v) goes: 1 and *ret_s, *ret_sub; 0 when it gives the nameref its
 * target. */
static int assign_target(struct shell *sh, struct sym *s, struct var *v, struct sym **ret_s, struct str *ret_sub)
{
    if (!(v->flags & VAR_SET))
        return 0;
    struct sym *to = var_resolve(sh, s, ret_sub);
    if (!to)
        return -EINVAL;
    struct var *w = raw(sh, to);
    if (w && (w->flags & VAR_NAMEREF) && !(w->flags & VAR_SET) && to != s) {
        *ret_s = to;
        return 0;
    }
    *ret_s = to;
    return 1;
}

static int set_sub(struct shell *sh, struct sym *s, struct str sub, struct str val, bool append)
{
    int64_t index = 0;
    struct str key;
    const struct var *v = raw(sh, s);
    int r = 0;
    if (v && (v->flags & VAR_NAMEREF) && !sh->func_depth)
        r = no_nameref(sh, s);
    if (r == 0 && (str_eq(sub, STR("@")) || str_eq(sub, STR("*"))) && !(v && v->flags & VAR_ASSOC)) {
        sh_error(sh, "%s[%s]: bad array subscript", s->name.p, sub.p[0] == '@' ? "@" : "*");
        return -EINVAL;
    }
    if (r == 0)
        r = target_expand(sh, var_find(sh, s), sub, &key, &index);
    return r < 0 ? r : var_set_elem(sh, s, key, index, val, append);
}

/* The binding a nameref to its own name hides is what is assigned: `local -n x=x`. */
static int set_hidden(struct shell *sh, struct sym *s, struct str val, bool append)
{
    const struct var *v = hidden_binding(sh, s);
    sh_error(sh, "warning: %s: circular name reference", s->name.p);
    if (!is_hiding(sh, s) || (v && (v->flags & VAR_NAMEREF)))
        return -EINVAL;
    struct var *token = var_global_begin(sh, s);
    int r = append ? var_append(sh, s, val) : var_set(sh, s, val);
    var_global_end(sh, s, token);
    return r;
}

static int set_slow(struct shell *sh, struct sym *s, struct str val, bool append)
{
    struct var *v = raw(sh, s);
    if (v && (v->flags & VAR_NAMEREF)) {
        struct str sub = {0};
        struct sym *to = s;
        if ((v->flags & VAR_SET) && str_eq(s->name, str_of(v->p, v->n)))
            return set_hidden(sh, s, val, append);
        int r = assign_target(sh, s, v, &to, &sub);
        if (r < 0)
            return r;
        if (r == 0) {
            v = own_raw(sh, to);
            return v ? set_nameref(sh, to, v, val) : -ENOMEM;
        }
        if (sub.p)
            return set_sub(sh, to, sub, val, append);
        s = to;
        v = raw(sh, s);
    }
    if (v && (v->flags & VAR_READONLY))
        return var__readonly(sh, s);
    if (v && (v->flags & VAR_NOASSIGN))
        return 0;
    if (v && (v->flags & VAR_DYN)) {
        int r = var__special_write(sh, s, v, val);
        if (r != 0)
            return r < 0 ? r : 0;
    }
    if (v && (v->flags & VAR_ARRAY))
        return var_set_elem(sh, s, (struct str){0}, 0, val, append);
    if (v && (v->flags & VAR_ASSOC))
        return var_set_elem(sh, s, STR("0"), 0, val, append);
    v = own_raw(sh, s);
    if (!v)
        return -ENOMEM;
    if (append && (v->flags & VAR_SET)) {
        if (v->flags & VAR_INTEGER) {
            val = str_c(arena_printf(&sh->scratch, "(%.*s)+(%.*s)", v->n ? (int)v->n : 1, v->n ? v->p : "0", (int)val.n,
                                     val.p));
        } else {
            char *p = arena_try(&sh->scratch, v->n + val.n + 1);
            if (!p)
                return -ENOMEM;
            memcpy(p, v->p, v->n);
            memcpy(p + v->n, val.p, val.n);
            p[v->n + val.n] = 0;
            val = str_of(p, v->n + val.n);
        }
    }
    int r = var__transform(sh, v, val, &val);
    if (r < 0)
        return r;
    r = var__store(v, val);
    if (r < 0)
        return r;
    if (sh_opt(sh, OPT_ALLEXPORT))
        v->flags |= VAR_EXPORT;
    v->place = 0;
    if (s->special)
        var__special_changed(sh, s);
    return 0;
}

/* The binding when it may be written in place without more ado, else NULL. */
static inline struct var *plain(struct shell *sh, const struct sym *s)
{
    struct vartab *t = sh->vars;
    if (s->id >= t->n || t->refs != 1 || s->special || (sh->opts & OPT_ALLEXPORT))
        return NULL;
    struct var *v = t->v[s->id];
    return v && v->refs == 1 && !(v->flags & VAR_SLOW) ? v : NULL;
}

int var_set(struct shell *sh, struct sym *s, struct str val)
{
    struct var *v = plain(sh, s);
    return v ? var__store(v, val) : set_slow(sh, s, val, false);
}

int var_append(struct shell *sh, struct sym *s, struct str val)
{
    struct var *v = plain(sh, s);
    size_t n;
    if (!v || (v->cap && val.p >= v->p && val.p < v->p + v->cap))
        return set_slow(sh, s, val, true);
    if (!(v->flags & VAR_SET))
        return var__store(v, val);
    if (!num_add(v->n, val.n, &n) || reserve(v, n) < 0)
        return -ENOMEM;
    if (val.n)
        memcpy(v->p + v->n, val.p, val.n);
    v->p[n] = 0;
    v->n = n;
    v->flags &= ~(uint32_t)VAR_NUM;
    return 0;
}

/* Decimal text of @val, ending before @end; its start. */
static char *decimal(int64_t val, char *end)
{
    uint64_t u = val < 0 ? 0 - (uint64_t)val : (uint64_t)val;
    do {
        *--end = (char)('0' + u % 10);
        u /= 10;
    } while (u);
    if (val < 0)
        *--end = '-';
    return end;
}

int var_set_int(struct shell *sh, struct sym *s, int64_t val)
{
    char text[24];
    char *end = text + sizeof text, *p = decimal(val, end);
    size_t n = (size_t)(end - p);
    struct var *v = plain(sh, s);
    if (v && n < v->cap) {
        memcpy(v->p, p, n);
        v->p[n] = 0;
        v->n = n;
        v->num = val;
        v->flags |= VAR_SET | VAR_NUM;
        return 0;
    }
    int r = var_set(sh, s, str_of(p, n));
    v = r == 0 ? plain(sh, s) : NULL;
    if (v) {
        v->num = val;
        v->flags |= VAR_NUM;
    }
    return r;
}

int var_set_name(struct shell *sh, const char *name, struct str val)
{
    struct sym *s = sym_get(sh, str_c(name));
    return s ? var_set(sh, s, val) : -ENOMEM;
}

int var_attr(struct shell *sh, struct sym *s, uint32_t set, uint32_t clear)
{
    struct var *v = own_raw(sh, s);
    if (!v)
        return -ENOMEM;
    v->flags = (v->flags & ~clear) | set;
    if ((v->flags & VAR_TEMP) && (set & (VAR_EXPORT | VAR_READONLY)))
        var__keep_temp(sh, s);
    return 0;
}

int var_make_array(struct shell *sh, struct sym *s, uint32_t flag, bool keep)
{
    s = array_meant(sh, s, false);
    struct var *v = s ? own_raw(sh, s) : NULL;
    if (!v)
        return s ? -ENOMEM : -EINVAL;
    if (v->flags & VAR_NAMEREF && no_nameref(sh, s) < 0)
        return -ENOMEM;
    if (v->flags & VAR_READONLY)
        return var__readonly(sh, s);
    if (v->flags & VAR_NOASSIGN)
        return 0;
    uint32_t other = flag == VAR_ARRAY ? VAR_ASSOC : VAR_ARRAY;
    if (v->flags & other) {
        sh_error(sh,
                 flag == VAR_ARRAY ? "%s: cannot convert associative to indexed array"
                                   : "%s: cannot convert indexed to associative array",
                 s->name.p);
        return -EINVAL;
    }
    if ((v->flags & flag) && keep)
        return 0;
    struct arr *arr = flag == VAR_ARRAY ? arr_new() : NULL;
    struct assoc *assoc = flag == VAR_ASSOC ? assoc_new(0) : NULL;
    if (!arr && !assoc)
        return -ENOMEM;
    /* A scalar that becomes an array by += or declare -a is its element 0. */
    int r = 0;
    if (keep && (v->flags & VAR_SET) && v->p)
        r = arr ? arr_set(arr, 0, str_of(v->p, v->n)) : assoc_set(assoc, STR("0"), str_of(v->p, v->n));
    if (r < 0) {
        arr_free(arr);
        assoc_free(assoc);
        return r;
    }
    bool was_set = keep && (v->flags & VAR_SET);
    var__clear(v);
    v->arr = arr;
    v->assoc = assoc;
    v->flags |= flag | (was_set ? VAR_SET : 0);
    return 0;
}

/* The array that an element assignment to @s changes; a scalar becomes an indexed one. */
static int own_array(struct shell *sh, struct sym *s, struct var **ret)
{
    struct var *v = own_raw(sh, s);
    if (!v)
        return -ENOMEM;
    if (v->flags & VAR_READONLY)
        return var__readonly(sh, s);
    if (!(v->flags & (VAR_ARRAY | VAR_ASSOC))) {
        int r = var_make_array(sh, s, VAR_ARRAY, true);
        if (r < 0)
            return r;
    }
    *ret = v;
    return 0;
}

int var_set_elem(struct shell *sh, struct sym *s, struct str key, int64_t index, struct str val, bool append)
{
    s = array_meant(sh, s, true);
    if (!s)
        return -EINVAL;
    struct var *v = raw(sh, s);
    if (v && (v->flags & VAR_NOASSIGN))
        return 0;
    if (v && (v->flags & VAR_DYN)) {
        int r = var__special_write_elem(sh, s, key, index, val, append);
        if (r != 0)
            return r < 0 ? r : 0;
    }
    int r = own_array(sh, s, &v);
    if (r < 0)
        return r;
    int64_t given = index;
    if ((v->flags & VAR_ARRAY) && index < 0 && (index += arr_max(v->arr) + 1) < 0) {
        sh_error(sh, "%s[%lld]: bad array subscript", s->name.p, (long long)given);
        sh_reported(sh);
        return -ERANGE;
    }
    struct str old;
    if (append && (v->flags & VAR_INTEGER) && var_elem(sh, v, key, index, &old)) {
        val = str_c(arena_printf(&sh->scratch, "(%.*s)+(%.*s)", old.n ? (int)old.n : 1, old.n ? old.p : "0", (int)val.n,
                                 val.p));
        append = false;
    }
    r = var__transform(sh, v, val, &val);
    if (r < 0)
        return r;
    if (v->flags & VAR_ASSOC)
        r = append ? assoc_append(v->assoc, key, val) : assoc_set(v->assoc, key, val);
    else
        r = append ? arr_append(v->arr, index, val) : arr_set(v->arr, index, val);
    if (r < 0)
        return r;
    v->flags |= VAR_SET | (sh_opt(sh, OPT_ALLEXPORT) ? VAR_EXPORT : 0);
    return 0;
}

int var_unset_elem(struct shell *sh, struct sym *s, struct str key, int64_t index)
{
    struct var *v = raw(sh, s);
    if (v && (v->flags & VAR_NAMEREF) && !(s = var_resolve(sh, s, NULL)))
        return -EINVAL;
    v = raw(sh, s);
    if (!v)
        return 0;
    if (v->flags & VAR_READONLY) {
        sh_error(sh, "%s: cannot unset: readonly variable", s->name.p);
        return -EPERM;
    }
    if (v->flags & VAR_DYN)
        return var__special_unset_elem(sh, s, key, index);
    v = own_raw(sh, s);
    if (!v)
        return -ENOMEM;
    if (v->flags & VAR_ASSOC) {
        assoc_unset(v->assoc, key);
    } else if (v->flags & VAR_ARRAY) {
        if (index < 0)
            index += arr_max(v->arr) + 1;
        if (index < 0)
            return -ERANGE;
        arr_unset(v->arr, index);
    }
    return 0;
}
