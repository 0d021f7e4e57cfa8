/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/shell_int.h"

#include <errno.h>

#include "shell/builtin/target_int.h"

static int cannot(struct shell *sh, struct str name, const char *what)
{
    sh_error(sh, "unset: %s: cannot unset: readonly %s", name.p, what);
    return 1;
}

static int unset_function(struct shell *sh, struct str name)
{
    struct func *f = func_find(sh, name);
    if (!f)
        return 0;
    if (f->readonly)
        return cannot(sh, name, "function");
    func_unref(map_del(shell_own_funcs(sh), name));
    shell_lookup_changed(sh);
    return 0;
}

/* Up to bash 5.1 all of an array was meant by NAME[@]. */
static bool all_is_array(struct shell *sh)
{
    struct str level = var_get(sh, "BASH_COMPAT");
    int n = 0;
    for (size_t i = 0; i < level.n && n < 100; i++)
        if (level.p[i] != '.')
            n = n * 10 + level.p[i] - '0';
    return n > 0 && n <= 51;
}

/* @done: the subscript is the key or index, and not expanded again. */
static int unset_element(struct shell *sh, struct str name, struct str sub, bool done)
{
    struct sym *s = sym_get(sh, arena_str(&sh->scratch, name));
    struct var *v = s ? var_find(sh, s) : NULL;
    int64_t index = 0;
    if (!v)
        return 0;
    if (v->flags & VAR_READONLY)
        return cannot(sh, s->name, "variable");
    bool all = sub.n == 1 && (sub.p[0] == '@' || sub.p[0] == '*');
    if (all && v->flags & (VAR_ARRAY | VAR_ASSOC) && all_is_array(sh))
        return var_unset(sh, s) < 0;
    if (all && v->flags & VAR_ARRAY)
        return var_make_array(sh, s, VAR_ARRAY, false) < 0 || var_attr(sh, s, VAR_SET, 0) < 0;
    struct str key = arena_str(&sh->scratch, sub);
    if (!done ? target_subscript(sh, v, sub, &key, &index) < 0
              : !(v->flags & VAR_ASSOC) && arith_eval_text(sh, key, &index) < 0)
        return 1;
    if (!(v->flags & (VAR_ARRAY | VAR_ASSOC))) {
        if (index != 0) {
            sh_error(sh, "unset: %s: not an array variable", s->name.p);
            return 1;
        }
        return var_unset(sh, s) < 0;
    }
    if (v->flags & VAR_ASSOC && !key.n) {
        sh_error(sh, "unset: [%.*s]: bad array subscript", (int)sub.n, sub.p);
        return 1;
    }
    if (v->flags & VAR_ARRAY && index < 0 && index + var_max_index(v) < 0) {
        sh_error(sh, "unset: [%.*s]: bad array subscript", (int)sub.n, sub.p);
        return 1;
    }
    return var_unset_elem(sh, s, key, index) < 0;
}

/* Whether there is a variable to take: with -n the reference itself counts. */
static int unset_variable(struct shell *sh, struct str name, bool written, bool reference, bool *ret_found)
{
    struct str base, sub;
    *ret_found = true;
    if (written ? var_split_ref(name, &base, &sub) : target_split(sh, name, false, &base, &sub))
        return unset_element(sh, base, sub, written);
    if (!sym_valid(name)) {
        *ret_found = false;
        return 0;
    }
    struct sym *s = sym_get(sh, name);
    struct var *v = s ? var_find_raw(sh, s) : NULL;
    if (v && v->flags & VAR_NAMEREF && !reference) {
        struct sym *real = var_resolve(sh, s, &sub);
        if (!real)
            return 1;
        if (sub.n)
            return unset_element(sh, real->name, sub, false);
        s = real;
        v = var_find_raw(sh, s);
    }
    *ret_found = v != NULL;
    if (!v || (reference && !(v->flags & VAR_NAMEREF)))
        return 0;
    if (v->flags & VAR_READONLY)
        return cannot(sh, s->name, "variable");
    if (reference && var_attr(sh, s, 0, VAR_NAMEREF) < 0)
        return 1;
    return var_unset(sh, s) < 0;
}

static int builtin_unset(struct shell *sh, struct builtin_args *a)
{
    struct builtin_opt o = {0};
    bool functions = false, variables = false, reference = false;
    int c, status = 0;
    while ((c = builtin_getopt(sh, a, "fvn", &o)) != -1) {
        if (c == '?')
            return 2;
        functions |= c == 'f';
        variables |= c == 'v';
        reference |= c == 'n';
    }
    if (functions && variables) {
        sh_error(sh, "unset: cannot simultaneously unset a function and a variable");
        return 1;
    }
    for (int i = o.i; i && i < a->argc; i++) {
        bool found = false;
        if (!functions)
            status |= unset_variable(sh, a->argv[i], builtin_written(a, a->argv[i]), reference, &found);
        if (functions || (!found && !variables && !reference))
            status |= unset_function(sh, a->argv[i]);
    }
    return status;
}

BUILTIN(
    unset, "unset", builtin_unset, BUILTIN_SPECIAL | BUILTIN_REFS, "unset [-f] [-v] [-n] [name ...]",
    "    Remove variables, array elements or functions.\n"
    "\n"
    "      -f  functions only\n"
    "      -v  variables only\n"
    "      -n  a name reference itself, not what it names\n"
    "\n"
    "    Without an option a name that is no variable is taken for a function. The status is 0 unless an option is\n"
    "    wrong or something is read-only.\n");
