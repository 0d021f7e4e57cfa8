/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/var_int.h"

#include <stdlib.h>

#include "base/mem.h"
#include "shell/shell_int.h"
#include "shell/var_special_int.h"

/* ---- environment ---- */

struct env_list {
    char **v;
    size_t n, cap;
    struct arena *a;
};

static void env_add(struct env_list *l, const char *entry)
{
    if (l->n + 1 >= l->cap) {
        size_t cap = l->cap ? l->cap * 2 : 32;
        char **v = arena_alloc(l->a, cap * sizeof *v);
        if (l->n)
            memcpy(v, l->v, l->n * sizeof *v);
        l->v = v;
        l->cap = cap;
    }
    /* Whoever runs gets char **, as main() does; nobody writes to the strings. */
    memcpy(&l->v[l->n++], &entry, sizeof entry);
}

static void env_pair(struct env_list *l, struct str name, struct str val)
{
    char *p = arena_try(l->a, name.n + val.n + 2);
    if (!p)
        return; /* the account's limit is hit: the shell ends */
    memcpy(p, name.p, name.n);
    p[name.n] = '=';
    if (val.n)
        memcpy(p + name.n + 1, val.p, val.n);
    p[name.n + 1 + val.n] = 0;
    env_add(l, p);
}

static void env_functions(struct shell *sh, struct env_list *l)
{
    struct map_iter it = {0};
    while (sh->funcs && map_next(sh->funcs, &it)) {
        const struct func *f = it.val;
        if (!f->exported)
            continue;
        struct buf text BUF_AUTO;
        buf_init(&text, LIMIT_STRING);
        buf_addc(&text, "() ");
        ast_print_node(&text, f->body, 0);
        char *name = arena_printf(l->a, "BASH_FUNC_%s%%%%", f->name.p);
        env_pair(l, str_c(name), buf_str(&text));
    }
}

/* SHLVL for what replaces the shell instead of running below it. */
static struct str one_less(struct arena *a, struct str val)
{
    int64_t n;
    if (str_i64(val, &n) < 0 || n <= INT64_MIN)
        return val;
    return str_c(arena_printf(a, "%lld", (long long)(n > 0 ? n - 1 : 0)));
}

char **var_environ(struct shell *sh, struct arena *a)
{
    struct env_list l = {.a = a};
    struct vartab *t = sh->vars;
    for (uint32_t i = 0; i < t->n; i++) {
        struct var *v = t->v[i];
        if (!v || !(v->flags & VAR_EXPORT) || (v->flags & (VAR_ARRAY | VAR_ASSOC)))
            continue;
        struct sym *s = sh->world->sym_v[i];
        if (v->flags & VAR_DYN)
            v = var__special_read(sh, s, v);
        if (!v || !(v->flags & VAR_SET))
            continue;
        struct str val = str_of(v->p, v->n);
        if (sh->shlvl_less && str_eq(s->name, STR("SHLVL")))
            val = one_less(a, val);
        env_pair(&l, s->name, val);
    }
    env_functions(sh, &l);
    for (uint32_t i = 0; sh->env_extra && i < sh->env_extra->n; i++)
        env_add(&l, sh->env_extra->v[i].p);
    if (sh->env_path.n)
        env_pair(&l, STR("_"), sh->env_path);
    env_add(&l, NULL);
    return l.v;
}

/* ---- listing ---- */

static int by_name(const void *a, const void *b)
{
    const struct sym *const *x = a;
    const struct sym *const *y = b;
    return str_cmp((*x)->name, (*y)->name);
}

void var_each(struct shell *sh, void (*fn)(void *arg, struct sym *s, struct var *v), void *arg)
{
    struct vartab *t = vartab_ref(sh->vars); /* @fn may write: then it gets a table of its own */
    /* Not in scratch: what @fn puts there is to stay. */
    struct sym **v = mem_try((t->n + 1) * sizeof *v);
    size_t n = 0;
    for (uint32_t i = 0; v && i < t->n; i++)
        if (t->v[i])
            v[n++] = sh->world->sym_v[i];
    if (v)
        qsort(v, n, sizeof *v, by_name);
    for (size_t i = 0; i < n; i++) {
        struct var *var = t->v[v[i]->id];
        if ((var->flags & VAR_DYN) && var__special_listed(v[i])) {
            sh->listing = true;
            var = var__special_read(sh, v[i], var);
            sh->listing = false;
        }
        fn(arg, v[i], var);
    }
    mem_free(v);
    vartab_unref(t);
}

static void print_flags(struct var *v, struct buf *out)
{
    static const struct {
        uint32_t flag;
        char c;
    } letters[] = {{VAR_ARRAY, 'a'}, {VAR_ASSOC, 'A'},  {VAR_INTEGER, 'i'}, {VAR_NAMEREF, 'n'}, {VAR_READONLY, 'r'},
                   {VAR_TRACE, 't'}, {VAR_EXPORT, 'x'}, {VAR_CAPCASE, 'c'}, {VAR_LOWER, 'l'},   {VAR_UPPER, 'u'}};
    size_t before = out->n;
    for (size_t i = 0; i < sizeof letters / sizeof letters[0]; i++)
        if (v->flags & letters[i].flag)
            buf_putc(out, letters[i].c);
    if (out->n == before)
        buf_putc(out, '-');
}

bool var_plain_text(struct str k)
{
    if (!k.n || (k.n == 1 && (k.p[0] == '@' || k.p[0] == '*')))
        return false;
    for (size_t i = 0; i < k.n; i++) {
        unsigned char c = (unsigned char)k.p[i];
        if (c <= ' ' || c == 0x7f || strchr("'\"\\|&;()<>!{}*[]?^$`", c))
            return false;
        if ((c == '~' && (i == 0 || k.p[i - 1] == '=' || k.p[i - 1] == ':')) || (c == '#' && i == 0))
            return false;
    }
    return true;
}

void var_print_elems(struct shell *sh, const struct var *v, struct buf *out)
{
    size_t pos = 0, n = 0;
    struct str key, val;
    int64_t index;
    buf_putc(out, '(');
    while (var_next(v, &pos, &key, &index, &val)) {
        if (n++ && !(v->flags & VAR_ASSOC))
            buf_putc(out, ' ');
        buf_putc(out, '[');
        if (!(v->flags & VAR_ASSOC))
            buf_addi(out, index);
        else if (var_plain_text(key))
            buf_adds(out, key);
        else
            quote_declare(out, key, sh->utf8);
        buf_addc(out, "]=");
        quote_declare(out, val, sh->utf8);
        if (v->flags & VAR_ASSOC)
            buf_putc(out, ' ');
    }
    buf_putc(out, ')');
}

void var_print_declare(struct shell *sh, struct sym *s, struct var *v, struct buf *out)
{
    buf_addc(out, "declare -");
    print_flags(v, out);
    buf_putc(out, ' ');
    buf_adds(out, s->name);
    if (v->flags & (VAR_ARRAY | VAR_ASSOC)) {
        if ((v->flags & VAR_SET) || var_count(v)) {
            buf_putc(out, '=');
            var_print_elems(sh, v, out);
        }
    } else if (v->flags & VAR_SET) {
        buf_putc(out, '=');
        quote_declare(out, str_of(v->p, v->n), sh->utf8);
    }
}
