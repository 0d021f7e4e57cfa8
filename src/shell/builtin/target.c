/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/builtin/target_int.h"

#include <errno.h>

#include "shell/expander_int.h"

int target_subscript(struct shell *sh, const struct var *v, struct str sub, struct str *ret_key, int64_t *ret_index)
{
    if (!v || !(v->flags & VAR_ASSOC) || !sh_shopt(sh, SHOPT_ASSOC_EXPAND_ONCE))
        return target_expand(sh, v, sub, ret_key, ret_index);
    *ret_key = arena_str(&sh->scratch, sub);
    *ret_index = 0;
    return 0;
}

int target_expand(struct shell *sh, const struct var *v, struct str sub, struct str *ret_key, int64_t *ret_index)
{
    *ret_key = (struct str){0};
    *ret_index = 0;
    bool assoc = v && (v->flags & VAR_ASSOC);
    struct str text;
    int r = expand__subscript_text(sh, sub, assoc, &text);
    if (r < 0)
        return r;
    if (!assoc)
        return arith_eval_text(sh, text, ret_index);
    *ret_key = arena_str(&sh->scratch, text);
    return 0;
}

/* The place behind the piece that begins at @i, such as a quoted text or a $( ), or 0. */
static size_t skip_piece(struct str s, size_t i)
{
    char c = s.p[i];
    if (c == '\\')
        return i + 2;
    bool paren = c == '$' && i + 1 < s.n && s.p[i + 1] == '(';
    char close = paren ? ')' : c == '$' && i + 1 < s.n && s.p[i + 1] == '{' ? '}' : c;
    if (close == '$' || !strchr("'\"`)}", close) || (close == c && !strchr("'\"`", c)))
        return i + 1;
    size_t depth = 0;
    for (i += close != c ? 2 : 1; i < s.n; i++) {
        if (s.p[i] == '\\' && c != '\'')
            i++;
        else if (paren && s.p[i] == '(')
            depth++;
        else if (s.p[i] == close && depth-- == 0)
            return i + 1;
    }
    return 0;
}

size_t target_end(struct str s, size_t i)
{
    size_t depth = 0;
    while (i && i < s.n) {
        if (s.p[i] == '[')
            depth++;
        else if (s.p[i] == ']' && --depth == 0)
            return i + 1;
        i = skip_piece(s, i);
    }
    return 0;
}

bool target_split(struct shell *sh, struct str text, bool written, struct str *ret_name, struct str *ret_sub)
{
    struct str name, sub;
    if (!var_split_ref(text, &name, &sub))
        return false;
    struct sym *s = sym_get(sh, name);
    const struct var *v = s && sh_shopt(sh, SHOPT_ASSOC_EXPAND_ONCE) ? var_find(sh, s) : NULL;
    bool once = v && (v->flags & VAR_ASSOC);
    if (once ? !written && memchr(sub.p, ']', sub.n) : target_end(text, name.n) != text.n)
        return false;
    *ret_name = name;
    *ret_sub = sub;
    return true;
}

int target_parse(struct shell *sh, struct str text, bool written, struct target *ret)
{
    struct str name = text, sub = {0};
    bool elem = target_split(sh, text, written, &name, &sub);
    if (!elem && !sym_valid(text))
        return -EINVAL;
    if (elem && sub.n == 0)
        return -EINVAL;
    struct target t = {.sym = sym_get(sh, name), .elem = elem};
    if (!t.sym) {
        sh_error(sh, "%.*s: too many variable names", (int)name.n, name.p);
        return -ENOMEM;
    }
    if (elem) {
        int r = target_subscript(sh, var_find(sh, t.sym), sub, &t.key, &t.index);
        if (r < 0)
            return r == -EINVAL ? -EBADMSG : r;
    }
    *ret = t;
    return 0;
}

int target_set(struct shell *sh, const struct target *t, struct str val)
{
    int r = t->elem ? var_set_elem(sh, t->sym, t->key, t->index, val, false) : var_set(sh, t->sym, val);
    if (r == -ENOMEM)
        sh_error(sh, "%s: cannot allocate memory", t->sym->name.p);
    return r;
}

int target_assign(struct shell *sh, const char *who, struct str text, bool written, struct str val)
{
    struct target t;
    int r = target_parse(sh, text, written, &t);
    if (r == -EINVAL)
        sh_error(sh, "%s: `%.*s': not a valid identifier", who, (int)text.n, text.p);
    return r < 0 ? r : target_set(sh, &t, val);
}
