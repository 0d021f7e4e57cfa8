/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/builtin/target_int.h"

#include <errno.h>

#include "shell/expander_int.h"

int target_subscript(struct shell *sh, const struct var *v, struct str sub, struct str *ret_key, int64_t *ret_index)
{
    *ret_key = (struct str){0};
    *ret_index = 0;
    bool assoc = v && (v->flags & VAR_ASSOC);
    if (assoc && sh_shopt(sh, SHOPT_ASSOC_EXPAND_ONCE)) {
        *ret_key = arena_str(&sh->scratch, sub);
        return 0;
    }
    struct str text;
    int r = expand__subscript_text(sh, sub, assoc, &text);
    if (r < 0)
        return r;
    if (!assoc)
        return arith_eval_text(sh, text, ret_index);
    *ret_key = arena_str(&sh->scratch, text);
    return 0;
}

int target_parse(struct shell *sh, struct str text, struct target *ret)
{
    struct str name = text, sub = {0};
    bool elem = var_split_ref(text, &name, &sub);
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

int target_assign(struct shell *sh, const char *who, struct str text, struct str val)
{
    struct target t;
    int r = target_parse(sh, text, &t);
    if (r == -EINVAL)
        sh_error(sh, "%s: `%.*s': not a valid identifier", who, (int)text.n, text.p);
    return r < 0 ? r : target_set(sh, &t, val);
}
