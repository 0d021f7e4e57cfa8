/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/exec_int.h"

#include <errno.h>

#include "base/mem.h"
#include "base/num.h"

/* ---- elements ---- */

/* One value of NAME=(…) with its words expanded; what it means is decided when it is assigned. */
struct value {
    struct str key; /* between the brackets, expanded */
    struct str text;
    bool has_key;
    bool append;
    const struct word *word; /* as it is written, for messages */
};

struct values {
    struct value *v;
    size_t n, cap;
};

static int add_value(struct shell *sh, struct values *l, struct value v)
{
    if (l->n == l->cap) {
        size_t cap = l->cap ? l->cap * 2 : 8, bytes;
        if (!num_mul(cap, sizeof v, &bytes))
            return -ENOMEM;
        struct value *p = arena_try(&sh->scratch, bytes);
        if (!p)
            return -ENOMEM;
        if (l->n)
            memcpy(p, l->v, l->n * sizeof v);
        l->v = p;
        l->cap = cap;
    }
    l->v[l->n++] = v;
    return 0;
}

/* Everything is expanded before anything is assigned, so a=("${a[@]}" x) sees the old elements. */
static int expand_elem(struct shell *sh, const struct array_elem *e, bool assoc, bool pairs, struct values *l)
{
    if (e->key && !pairs) {
        struct value v = {.has_key = true, .append = e->append, .word = e->word};
        if (expand_str(sh, e->key, assoc ? EXPAND_PLAIN : EXPAND_ARITH, &v.key) < 0 ||
            expand_str(sh, e->value, EXPAND_ASSIGN, &v.text) < 0)
            return -EINVAL;
        return add_value(sh, l, v);
    }
    if (assoc) {
        /* One word each, neither split nor matched against file names. */
        struct value v = {0};
        return expand_str(sh, e->word, EXPAND_PLAIN, &v.text) < 0 ? -EINVAL : add_value(sh, l, v);
    }
    struct fields f = {0};
    struct word *const w = e->value;
    if (expand_words(sh, &w, 1, &f) < 0)
        return -EINVAL;
    for (uint32_t i = 0; i < f.n; i++)
        if (add_value(sh, l, (struct value){.text = f.v[i]}) < 0)
            return -ENOMEM;
    return 0;
}

static int assign_indexed(struct shell *sh, struct sym *s, const struct values *l, int64_t next)
{
    for (size_t i = 0; i < l->n; i++) {
        const struct value *v = &l->v[i];
        if (v->has_key) {
            int64_t index;
            if (!v->key.n) {
                sh_error(sh, "[]=%.*s: bad array subscript", (int)v->text.n, v->text.p);
                sh_reported(sh);
                continue;
            }
            if (arith_eval_text(sh, v->key, &index) < 0)
                return sh_abort(sh, 1);
            if (index < 0) {
                const struct var *var = var_find_raw(sh, s);
                index += var ? var_max_index(var) : 0;
                if (index < 0) {
                    sh_error(sh, "[%.*s]=%.*s: bad array subscript", (int)v->key.n, v->key.p, (int)v->text.n,
                             v->text.p);
                    sh_reported(sh);
                    continue;
                }
            }
            next = index;
        }
        int r = var_set_elem(sh, s, (struct str){0}, next, v->text, v->append);
        if (r < 0)
            return r;
        if (__builtin_add_overflow(next, 1, &next))
            return -ERANGE;
    }
    return 0;
}

static int assign_assoc(struct shell *sh, struct sym *s, const struct values *l)
{
    for (size_t i = 0; i < l->n; i++) {
        const struct value *v = &l->v[i];
        struct str key = v->key, val = v->text;
        if (!v->has_key && l->v[0].has_key) {
            sh_error(sh, "%s: %.*s: must use subscript when assigning associative array", s->name.p, (int)val.n, val.p);
            sh_reported(sh);
            continue;
        }
        if (!v->has_key) {
            key = v->text;
            val = i + 1 < l->n ? l->v[++i].text : STR("");
        }
        if (!key.n) {
            struct buf shown BUF_AUTO;
            buf_init(&shown, LIMIT_STRING);
            if (v->has_key)
                ast_print_word(&shown, v->word);
            sh_error(sh, "%.*s: bad array subscript", (int)shown.n, shown.n ? shown.p : "");
            sh_reported(sh);
            continue;
        }
        int r = var_set_elem(sh, s, key, 0, val, v->append);
        if (r < 0)
            return r;
    }
    return 0;
}

int exec_expand_list(struct shell *sh, struct array_elem *elems, uint32_t n, bool assoc, struct exec_list *ret)
{
    struct values l = {0};
    bool pairs = assoc && n && !elems[0].key; /* keys and values in turn, whatever they look like */
    for (uint32_t i = 0; i < n; i++) {
        int r = expand_elem(sh, &elems[i], assoc, pairs, &l);
        if (r < 0)
            return r;
    }
    *ret = (struct exec_list){l.v, l.n};
    return 0;
}

int exec_assign_list(struct shell *sh, struct sym *s, const struct exec_list *list, bool append)
{
    const struct values l = {list->v, list->n, list->n};
    const struct var *v = var_find_raw(sh, s);
    bool assoc = v && (v->flags & VAR_ASSOC);
    int r = var_make_array(sh, s, assoc ? VAR_ASSOC : VAR_ARRAY, append);
    if (r < 0)
        return r;
    v = var_find_raw(sh, s);
    if (!v || (v->flags & (VAR_NOASSIGN | VAR_DYN)))
        return 0;
    if (var_attr(sh, s, VAR_SET | (sh_opt(sh, OPT_ALLEXPORT) ? VAR_EXPORT : 0u), 0) < 0)
        return -ENOMEM;
    if (assoc)
        return assign_assoc(sh, s, &l);
    v = var_find_raw(sh, s);
    return assign_indexed(sh, s, &l, v ? var_max_index(v) : 0);
}

int exec_assign_array(struct shell *sh, struct sym *s, struct array_elem *elems, uint32_t n, bool append)
{
    struct exec_list l;
    const struct var *v = var_find_raw(sh, s);
    if (v && (v->flags & VAR_NAMEREF)) {
        struct str sub;
        struct sym *real = var_resolve(sh, s, &sub);
        if (!real)
            return -EINVAL;
        if (!sub.p) /* a reference to an element: var_make_array() says what is wrong */
            s = real;
        v = var_find_raw(sh, s);
    }
    int r = exec_expand_list(sh, elems, n, v && (v->flags & VAR_ASSOC), &l);
    return r < 0 ? r : exec_assign_list(sh, s, &l, append);
}

int exec_assign_array_text(struct shell *sh, struct sym *s, struct str text, bool append)
{
    struct ast *a = mem_zalloc(sizeof *a);
    struct array_elem *elems;
    uint32_t n;
    struct parse_error err;
    a->refs = 1;
    arena_init(&a->arena);
    int r = parse_array_text(sh, a, text, &elems, &n, &err);
    if (r < 0)
        sh_syntax_error(sh, &err);
    else
        r = exec_assign_array(sh, s, elems, n, append);
    ast_unref(a);
    return r;
}

/* ---- set -x ---- */

static struct word *quoted_word(struct shell *sh, struct str text)
{
    struct word *w = arena_zalloc(&sh->scratch, sizeof *w);
    struct part *p = arena_zalloc(&sh->scratch, sizeof *p);
    *p = (struct part){.kind = PART_QUOTED, .text = text};
    *w = (struct word){.parts = p, .flags = WORD_QUOTED | WORD_NOSPLIT, .src = text};
    return w;
}

struct assign *exec__trace_list(struct shell *sh, const struct assign *as, bool assoc)
{
    struct exec_list l;
    struct buf out BUF_AUTO;
    buf_init(&out, LIMIT_STRING);
    if (exec_expand_list(sh, as->elems, as->n_elems, assoc, &l) < 0)
        return NULL;
    struct assign *done = arena_zalloc(&sh->scratch, sizeof *done);
    const struct value *v = l.v;
    *done = *as;
    done->n_elems = (uint32_t)l.n;
    done->elems = arena_zalloc(&sh->scratch, (l.n + 1) * sizeof *done->elems);
    buf_adds(&out, as->name);
    buf_addc(&out, as->append ? "+=(" : "=(");
    for (size_t i = 0; i < l.n; i++) {
        struct array_elem *e = &done->elems[i];
        e->value = e->word = quoted_word(sh, v[i].text);
        e->append = v[i].append;
        if (i)
            buf_putc(&out, ' ');
        if (v[i].has_key) {
            e->key = quoted_word(sh, v[i].key);
            buf_putc(&out, '[');
            quote_single(&out, v[i].key);
            buf_addc(&out, e->append ? "]+=" : "]=");
        }
        quote_single(&out, v[i].text);
    }
    buf_putc(&out, ')');
    exec__trace_text(sh, buf_str(&out));
    return done;
}

/* ---- one assignment ---- */

/* The text of a subscript as a key or number. */
static int subscript(struct shell *sh, const struct assign *as, const struct var *v, struct str *ret_key,
                     int64_t *ret_index)
{
    bool assoc = v && (v->flags & VAR_ASSOC);
    *ret_index = 0;
    if (expand_str(sh, as->subscript, assoc ? EXPAND_PLAIN : EXPAND_ARITH, ret_key) < 0)
        return -EINVAL;
    if (!ret_key->n) {
        struct buf shown BUF_AUTO;
        buf_init(&shown, LIMIT_STRING);
        ast_print_word(&shown, as->word);
        ptrdiff_t end = str_find(buf_str(&shown), ']', 0);
        sh_error(sh, "%.*s: bad array subscript", end < 0 ? (int)shown.n : (int)end + 1, shown.n ? shown.p : "");
        sh_reported(sh);
        return -EINVAL;
    }
    if (assoc)
        return 0;
    if (str_eq(*ret_key, STR("@")) || str_eq(*ret_key, STR("*"))) {
        sh_error(sh, "%.*s[%s]: bad array subscript", (int)as->name.n, as->name.p, ret_key->p);
        sh_reported(sh);
        return -EINVAL;
    }
    return arith_eval_text(sh, *ret_key, ret_index);
}

static void trace_elem(struct shell *sh, const struct assign *as, struct str sub, struct str val)
{
    char *name = arena_printf(&sh->scratch, "%.*s[%.*s]", (int)as->name.n, as->name.p, (int)sub.n, sub.p);
    exec__trace_assign(sh, str_c(name), as->append, val);
}

static int assign_elem(struct shell *sh, struct assign *as, struct sym *s)
{
    struct str key, val;
    int64_t index;
    struct var *v = var_find(sh, s);
    if (subscript(sh, as, v, &key, &index) < 0 || expand_str(sh, as->value, EXPAND_ASSIGN, &val) < 0)
        return -EINVAL;
    if (sh_opt(sh, OPT_XTRACE))
        trace_elem(sh, as, key, val);
    return var_set_elem(sh, s, key, index, val, as->append);
}

static int assign_list(struct shell *sh, struct assign *as, struct sym *s)
{
    if (sh_opt(sh, OPT_XTRACE)) {
        struct buf out BUF_AUTO;
        buf_init(&out, LIMIT_STRING);
        ast_print_word(&out, as->word);
        exec__trace_text(sh, buf_str(&out));
    }
    if (as->subscript) {
        struct buf sub BUF_AUTO;
        buf_init(&sub, LIMIT_STRING);
        ast_print_word(&sub, as->subscript);
        sh_error(sh, "%.*s[%.*s]: cannot assign list to array member", (int)as->name.n, as->name.p, (int)sub.n, sub.p);
        return -EINVAL;
    }
    return exec_assign_array(sh, s, as->elems, as->n_elems, as->append);
}

/* x=$((…)) stores the number without making text of it first. */
static bool assign_number(struct shell *sh, struct assign *as, struct sym *s, int *ret)
{
    const struct part *p = as->value ? as->value->parts : NULL;
    if (!p || p->kind != PART_ARITH || p->next || as->append || sh_opt(sh, OPT_XTRACE))
        return false;
    int64_t n;
    *ret = arith_eval_word(sh, p->arith->expr, &p->arith->code, &n);
    if (*ret < 0)
        *ret = sh_abort(sh, 1);
    else
        *ret = var_set_int(sh, s, n);
    return true;
}

int exec_assign(struct shell *sh, struct assign *as)
{
    struct sym *s = as->sym ? as->sym : sym_get(sh, as->name);
    struct str val;
    int r;
    if (!s) {
        sh_error(sh, "%.*s: too many variable names", (int)as->name.n, as->name.p);
        return -ENOMEM;
    }
    if (as->is_array)
        return assign_list(sh, as, s);
    if (as->subscript)
        return assign_elem(sh, as, s);
    if (assign_number(sh, as, s, &r))
        return r;
    if (expand_str(sh, as->value, EXPAND_ASSIGN, &val) < 0)
        return -EINVAL;
    if (sh_opt(sh, OPT_XTRACE))
        exec__trace_assign(sh, as->name, as->append, val);
    return as->append ? var_append(sh, s, val) : var_set(sh, s, val);
}
