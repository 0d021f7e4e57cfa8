/* SPDX-License-Identifier: Apache-2.0 */

/* declare, typeset, local, export, readonly: one engine, which says what a name is and then gives it its value. */

#include "shell/builtin/declare_int.h"
#include "shell/builtin/target_int.h"

#include <errno.h>

#include "shell/exec_int.h"
#include "shell/shell_int.h"

struct decl {
    struct shell *sh;
    const char *who;     /* for messages */
    uint32_t set, clear; /* enum var_flags */
    bool local;          /* binds in the running function */
    bool global;         /* -g */
    bool inherit;        /* -I */
    bool print;          /* -p */
    bool plain;          /* export, readonly: a read-only variable is told of as in an assignment */
    bool functions, names_only;
};

/* One argument, taken apart. */
struct declared {
    struct str arg;       /* as given, for messages */
    struct str name, sub; /* sub.p NULL: no subscript */
    struct str value;
    bool has_value, append;
    bool written, key_done; /* stands in the script as NAME[…]; the key is not expanded again */
    struct assign *list;    /* NAME=(…) written in the command */
    struct exec_list values;
};

static int fail(const struct decl *d, struct str what, const char *why)
{
    sh_error(d->sh, "%s: %.*s: %s", d->who, (int)what.n, what.p, why);
    return 1;
}

static int bad_name(const struct decl *d, struct str arg)
{
    sh_error(d->sh, "%s: `%.*s': not a valid identifier", d->who, (int)arg.n, arg.p);
    return 1;
}

/* ---- taking an argument apart ---- */

/* Offset behind the subscript that begins at @open, or 0. With assoc_expand_once a key of an assignment ends at the
 * first
 * ']'; else it is taken as it would be read once more. */
static size_t subscript_end(struct decl *d, struct declared *t, size_t open)
{
    struct sym *s = sym_valid(t->name) ? sym_get(d->sh, t->name) : NULL;
    const struct var *v = s ? var_find(d->sh, s) : NULL;
    t->key_done = t->written && v && v->flags & VAR_ASSOC && sh_shopt(d->sh, SHOPT_ASSOC_EXPAND_ONCE);
    if (!t->key_done)
        return target_end(t->arg, open);
    ptrdiff_t close = str_find(t->arg, ']', open);
    return close < 0 ? 0 : (size_t)close + 1;
}

/* NAME, NAME[…], with =VALUE or +=VALUE behind. False: no such thing. */
static bool take_apart(struct decl *d, struct declared *t)
{
    struct str arg = t->arg;
    size_t n = 0;
    while (n < arg.n && !strchr("[=", arg.p[n]))
        n++;
    size_t end = n;
    t->append = t->list && t->list->append;
    if (!t->list && n < arg.n && arg.p[n] == '=' && n && arg.p[n - 1] == '+') {
        t->append = true;
        n--;
    }
    t->name = arena_str(&d->sh->scratch, str_of(arg.p, n));
    if (end < arg.n && arg.p[end] == '[') {
        end = subscript_end(d, t, n);
        if (!end)
            return false;
        t->sub = str_of(arg.p + n + 1, end - n - 2);
        if (end + 1 < arg.n && arg.p[end] == '+' && arg.p[end + 1] == '=') {
            t->append = true;
            end++;
        }
    }
    if (end < arg.n) {
        t->has_value = true;
        t->value = str_from(arg, end + 1);
    }
    return (end == arg.n || arg.p[end] == '=') && sym_valid(t->name);
}

/* ---- attributes ---- */

/* What two requests for case mean together, and what a new one takes away. */
static uint32_t case_flags(uint32_t set)
{
    const uint32_t all = VAR_LOWER | VAR_UPPER | VAR_CAPCASE;
    uint32_t want = set & all;
    return want & (want - 1) ? 0 : want;
}

static int convert_array(struct decl *d, struct sym *s, const struct declared *t)
{
    const struct var *v = var_find_raw(d->sh, s);
    uint32_t kind = v ? v->flags & (VAR_ARRAY | VAR_ASSOC) : 0;
    if (d->set & (VAR_ARRAY | VAR_ASSOC) && v && v->flags & VAR_NAMEREF && var_attr(d->sh, s, 0, VAR_NAMEREF) < 0)
        return 1;
    if (d->clear & kind && !t->has_value && !t->list)
        return fail(d, t->name, "cannot destroy array variables in this way");
    if (d->set & VAR_ASSOC && kind == VAR_ARRAY)
        return fail(d, t->name, "cannot convert indexed to associative array");
    if (d->set & VAR_ARRAY && kind == VAR_ASSOC)
        return fail(d, t->name, "cannot convert associative to indexed array");
    uint32_t want = d->set & (VAR_ARRAY | VAR_ASSOC);
    if (!want && (t->sub.p || t->list) && !kind)
        want = VAR_ARRAY;
    if (want && !kind)
        return var_make_array(d->sh, s, want, true) < 0;
    return 0;
}

static int set_attributes(struct decl *d, struct sym *s)
{
    const uint32_t cases = VAR_LOWER | VAR_UPPER | VAR_CAPCASE;
    uint32_t set = d->set & (VAR_INTEGER | VAR_TRACE | VAR_EXPORT);
    uint32_t clear = d->clear & (VAR_INTEGER | VAR_TRACE | VAR_EXPORT | cases);
    if (d->set & cases) {
        set |= case_flags(d->set);
        clear |= cases & ~set;
    }
    return set | clear ? var_attr(d->sh, s, set, clear) < 0 : 0;
}

/* ---- values ---- */

static int assign_element(struct decl *d, struct sym *s, const struct declared *t)
{
    const struct var *v = var_find_raw(d->sh, s);
    int64_t index = 0;
    struct str sub = arena_str(&d->sh->scratch, t->sub);
    if (v && v->flags & VAR_ASSOC) {
        if (!t->key_done && target_expand(d->sh, v, sub, &sub, &index) < 0)
            return 1;
        return var_set_elem(d->sh, s, sub, 0, t->value, t->append) < 0;
    }
    if (sub.n == 0)
        return fail(d, t->arg, "bad array subscript");
    if (arith_eval_text(d->sh, sub, &index))
        return 1;
    return var_set_elem(d->sh, s, sub, index, t->value, t->append) < 0;
}

static bool is_list_text(struct str v)
{
    return v.n >= 2 && v.p[0] == '(' && v.p[v.n - 1] == ')';
}

static int assign_value(struct decl *d, struct sym *s, const struct declared *t)
{
    struct shell *sh = d->sh;
    if (t->list)
        return exec_assign_list(sh, s, &t->values, t->append) < 0;
    if (!t->has_value)
        return 0;
    const struct var *v = var_find_raw(sh, s);
    bool whole = d->set & (VAR_ARRAY | VAR_ASSOC) && is_list_text(t->value); /* -a a[9]="(x)": once a size */
    if (t->sub.p && !whole)
        return assign_element(d, s, t);
    bool list = !d->plain || d->set & (VAR_ARRAY | VAR_ASSOC);
    if (list && v && v->flags & (VAR_ARRAY | VAR_ASSOC) && is_list_text(t->value))
        return exec_assign_array_text(sh, s, str_of(t->value.p + 1, t->value.n - 2), t->append) < 0;
    return (t->append ? var_append(sh, s, t->value) : var_set(sh, s, t->value)) < 0;
}

/* ---- name references ---- */

static int bad_target(const struct decl *d, struct str value)
{
    sh_error(d->sh, "%s: `%.*s': invalid variable name for name reference", d->who, (int)value.n, value.p);
    return 1;
}

static bool is_target(struct str value)
{
    struct str base, sub;
    return sym_valid(value) || var_split_ref(value, &base, &sub);
}

static int check_reference(struct decl *d, struct str value, struct str name)
{
    struct str base = value, sub;
    if (var_split_ref(value, &base, &sub) && target_end(value, base.n) != value.n)
        base = value;
    if (var_refers_to(value, name) && !d->sh->func_depth)
        return fail(d, name, "nameref variable self references not allowed");
    if (var_refers_to(value, name))
        sh_error(d->sh, "%s: warning: %.*s: circular name reference", d->who, (int)name.n, name.p);
    return sym_valid(base) ? 0 : bad_target(d, value);
}

/* The value of a new reference. With -i it is evaluated first, and what comes out need not be a name. */
static int assign_reference(struct decl *d, struct sym *s, const struct declared *t, bool is_new)
{
    struct shell *sh = d->sh;
    struct str text;
    if ((t->append ? var_append(sh, s, t->value) : var_set(sh, s, t->value)) < 0)
        return 1;
    if (!var_text(sh, s, &text) || !is_target(text)) {
        if (is_new)
            (void)var_unset(sh, s);
        return 1;
    }
    return 0;
}

static int make_reference(struct decl *d, struct sym *s, const struct declared *t)
{
    struct shell *sh = d->sh;
    if (t->list && (var_make_array(sh, s, VAR_ARRAY, false) < 0 || exec_assign_list(sh, s, &t->values, t->append) < 0))
        return 1;
    if (t->has_value && !t->value.n)
        return bad_name(d, t->value);
    if (t->has_value && !t->append && check_reference(d, t->value, t->name))
        return 1;
    const struct var *v = var_find_raw(sh, s);
    if (v && v->flags & (VAR_ARRAY | VAR_ASSOC))
        return fail(d, t->name, "reference variable cannot be an array");
    bool is_new = !v || !(v->flags & VAR_SET);
    bool named = v && v->flags & VAR_SET && !t->has_value && !(v->flags & (VAR_NAMEREF | VAR_DYN));
    if (named && check_reference(d, str_of(v->p, v->n), t->name))
        return 1;
    struct str whole = t->value;
    if (t->append && v && v->flags & VAR_SET)
        whole = str_c(arena_printf(&sh->scratch, "%s%.*s", v->p, (int)t->value.n, t->value.p));
    if (t->has_value && var_check_self(sh, s, whole) < 0)
        return 1;
    if (var_attr(sh, s, 0, VAR_NAMEREF | VAR_INTEGER) < 0 || set_attributes(d, s))
        return 1;
    if (t->has_value && assign_reference(d, s, t, is_new))
        return 1;
    return var_attr(sh, s, VAR_NAMEREF, 0) < 0;
}

/* ---- one variable ---- */

static bool is_readonly(const struct var *v)
{
    return v && v->flags & VAR_READONLY;
}

static int refuse_readonly(struct decl *d, struct str name)
{
    if (!d->plain)
        return fail(d, name, "readonly variable");
    sh_error(d->sh, "%s: readonly variable", name.p);
    sh_reported(d->sh);
    return sh_misused(d->sh, 1);
}

/* A reference that names nothing yet is given what is no name; outside of functions it is gone then. */
static int refuse_target(struct decl *d, struct sym *s, struct str value)
{
    if (d->local)
        return bad_target(d, value);
    (void)var_unset(d->sh, s);
    return bad_name(d, value);
}

static int declare_bound(struct decl *d, struct sym *s, struct declared *t)
{
    struct shell *sh = d->sh;
    const struct var *v = var_find_raw(sh, s);
    /* A reference that names nothing may stop being one. */
    bool named = v && (v->flags & VAR_SET || !(v->flags & VAR_NAMEREF));
    bool changes = t->has_value || t->list || d->clear & VAR_READONLY || (named && d->clear & VAR_NAMEREF);
    if (is_readonly(v) && (changes || (named && d->set & VAR_NAMEREF)))
        return refuse_readonly(d, d->clear & VAR_READONLY ? s->name : t->name);
    if (d->clear & VAR_NAMEREF && v && v->flags & VAR_NAMEREF) {
        /* A value is still for what is referred to. */
        struct sym *real = t->has_value ? var_resolve(sh, s, NULL) : s;
        if (!real || var_attr(sh, s, 0, VAR_NAMEREF) < 0)
            return 1;
        s = real;
    }
    if (!named && v && t->has_value && !(d->set & VAR_NAMEREF) && !is_target(t->value))
        return refuse_target(d, s, t->value);
    int status;
    if (d->set & VAR_NAMEREF)
        status = make_reference(d, s, t);
    else if ((status = convert_array(d, s, t)) == 0 && (status = set_attributes(d, s)) == 0)
        status = assign_value(d, s, t);
    if (status == 0 && d->set & VAR_READONLY)
        status = var_attr(sh, s, VAR_READONLY, 0) < 0;
    if (status == 0 && !var_find_raw(sh, s))
        status = var_own(sh, s) == NULL;
    return status;
}

static bool assoc_wanted(struct decl *d, struct sym *s)
{
    const struct var *v = var_find_raw(d->sh, s);
    if (d->set & VAR_ASSOC)
        return true;
    return !(d->set & VAR_ARRAY) && !d->local && v && v->flags & VAR_ASSOC;
}

static int bind_local(struct decl *d, struct sym *s, const struct declared *t)
{
    const struct var *v = var_find_raw(d->sh, s);
    if (is_readonly(v) && !(v->flags & VAR_LOCAL && v->depth == d->sh->func_depth))
        return fail(d, t->name, "readonly variable");
    return var_local(d->sh, s, d->inherit || sh_shopt(d->sh, SHOPT_LOCALVAR_INHERIT)) < 0;
}

/* The variable that a declaration of @s is about. What is made local follows only the references of this call. */
static struct sym *followed(struct decl *d, struct sym *s, struct str *ret_sub)
{
    struct shell *sh = d->sh;
    const struct var *v = var_find_raw(sh, s);
    *ret_sub = (struct str){0};
    if (!v || !(v->flags & VAR_NAMEREF) || (d->set | d->clear) & VAR_NAMEREF)
        return s;
    if (d->local && !(v->flags & VAR_LOCAL && v->depth == sh->func_depth))
        return s;
    struct sym *real = var_resolve(sh, s, ret_sub);
    return real ? real : s;
}

static struct sym *followed_globally(struct decl *d, struct sym *s, struct str *ret_sub)
{
    struct var *token = var_global_begin(d->sh, s);
    struct sym *real = followed(d, s, ret_sub);
    var_global_end(d->sh, s, token);
    return real;
}

/* declare REF[1]=x makes an array of what is a reference. */
static int end_reference(struct decl *d, struct sym *s)
{
    sh_error(d->sh, "warning: %s: removing nameref attribute", s->name.p);
    return var_unset(d->sh, s) < 0;
}

static int declare_variable(struct decl *d, struct str arg, struct assign *list, bool written)
{
    struct shell *sh = d->sh;
    struct declared t = {.arg = arg, .list = list, .written = written};
    if (!take_apart(d, &t))
        return bad_name(d, arg);
    if (d->plain && t.sub.p)
        return bad_name(d, str_of(arg.p, (size_t)(t.sub.p + t.sub.n + 1 - arg.p)));
    struct sym *s = sym_get(sh, t.name);
    if (!s)
        return fail(d, t.name, "too many variable names");
    if (t.sub.p && d->set & VAR_NAMEREF)
        return fail(d, str_of(arg.p, (size_t)(t.sub.p + t.sub.n + 1 - arg.p)), "reference variable cannot be an array");
    const struct var *v = var_find_raw(sh, s);
    if (t.sub.p && t.has_value && !d->local && v && v->flags & VAR_NAMEREF && end_reference(d, s))
        return 1;
    struct str sub;
    s = d->global && sh->func_depth ? followed_globally(d, s, &sub) : followed(d, s, &sub);
    v = var_find_raw(sh, s);
    if (sub.p && t.has_value && v && v->flags & VAR_NAMEREF && end_reference(d, s))
        return 1;
    if (sub.p && d->plain) { /* as in bash the status says nothing of it */
        (void)bad_name(d, str_c(arena_printf(&sh->scratch, "%s[%.*s]", s->name.p, (int)sub.n, sub.p)));
        return 0;
    }
    t.sub = sub.n ? sub : t.sub;
    if (list && exec_expand_list(sh, list->elems, list->n_elems, assoc_wanted(d, s), &t.values) < 0)
        return 1;
    if (d->local)
        return bind_local(d, s, &t) || declare_bound(d, s, &t);
    if (!d->global || sh->func_depth == 0)
        return declare_bound(d, s, &t);
    struct var *token = var_global_begin(sh, s);
    int status = declare_bound(d, s, &t);
    var_global_end(sh, s, token);
    return status;
}

/* ---- functions ---- */

static int declare_function(struct decl *d, struct str name)
{
    struct func *f = func_find(d->sh, name);
    bool attributes = (d->set | d->clear) != 0; /* those that a function cannot have change nothing */
    if (f && d->plain && (d->set & VAR_EXPORT) && strpbrk(f->name.p, "=/")) /* the environment could not name it */
        return fail(d, name, "cannot export");
    if ((!f || !d->plain) && str_find(name, '=', 0) > 0) {
        sh_error(d->sh, "%s: cannot use `-f' to make functions", d->who);
        return 1;
    }
    if (!f) {
        if (attributes || d->print)
            sh_error(d->sh, "%s: %.*s: not %s", d->who, (int)name.n, name.p, d->print ? "found" : "a function");
        return 1;
    }
    if (attributes && !d->print) {
        if (d->clear & VAR_READONLY && f->readonly)
            return fail(d, name, "readonly function");
        f->exported = (f->exported || d->set & VAR_EXPORT) && !(d->clear & VAR_EXPORT);
        f->traced = (f->traced || d->set & VAR_TRACE) && !(d->clear & VAR_TRACE);
        f->readonly = f->readonly || d->set & VAR_READONLY;
    } else if (d->names_only && !d->print) {
        sh_puts(d->sh, f->name.p);
        if (sh_shopt(d->sh, SHOPT_EXTDEBUG))
            sh_printf(d->sh, " %d %.*s", f->line, (int)f->file.n, f->file.p);
        sh_puts(d->sh, "\n");
    } else {
        declare_print_function(d->sh, f, d->names_only, d->print);
    }
    return 0;
}

/* ---- printing ---- */

static int print_variable(struct decl *d, struct str name)
{
    struct shell *sh = d->sh;
    struct sym *s = sym_valid(name) ? sym_get(sh, name) : NULL;
    struct var *v = s ? var_find_raw(sh, s) : NULL;
    if (!v || (d->local && !(v->flags & VAR_LOCAL)))
        return fail(d, name, "not found");
    BUF_AUTO struct buf b;
    buf_init(&b, LIMIT_STRING);
    var_print_declare(sh, s, v, &b);
    if (b.n && b.p[b.n - 1] != '\n')
        buf_putc(&b, '\n');
    sh_write(sh, buf_str(&b));
    return 0;
}

/* ---- the builtins ---- */

static uint32_t flag_of(int c)
{
    switch (c) {
    case 'a':
        return VAR_ARRAY;
    case 'A':
        return VAR_ASSOC;
    case 'i':
        return VAR_INTEGER;
    case 'l':
        return VAR_LOWER;
    case 'u':
        return VAR_UPPER;
    case 'c':
        return VAR_CAPCASE;
    case 'n':
        return VAR_NAMEREF;
    case 'r':
        return VAR_READONLY;
    case 't':
        return VAR_TRACE;
    case 'x':
        return VAR_EXPORT;
    default:
        return 0;
    }
}

static int parse_options(struct decl *d, struct builtin_args *a, const char *letters, int *ret_i)
{
    struct builtin_opt o = {0};
    int c;
    while ((c = builtin_getopt(d->sh, a, letters, &o)) != -1) {
        if (c == '?')
            return 2;
        int letter = c & 0xff;
        if (c & 0x100)
            d->clear |= flag_of(letter);
        else
            d->set |= flag_of(letter);
        d->global |= letter == 'g';
        d->inherit |= letter == 'I';
        d->print |= letter == 'p';
        d->functions |= letter == 'f' || letter == 'F';
        d->names_only |= letter == 'F';
    }
    *ret_i = o.i ? o.i : 1;
    return 0;
}

/* set -x shows what export and readonly assign on a line of its own. */
static void trace(struct decl *d, struct str arg)
{
    ptrdiff_t eq = str_find(arg, '=', 0);
    if (eq <= 0)
        return;
    bool append = arg.p[eq - 1] == '+';
    exec__trace_assign(d->sh, str_of(arg.p, (size_t)eq - append), append, str_from(arg, (size_t)eq + 1));
}

static int run(struct decl *d, struct builtin_args *a, int i)
{
    int status = 0;
    for (; i < a->argc && d->sh->flow == FLOW_NONE; i++) {
        struct assign *list = a->assigns && a->assigns[i] && a->assigns[i]->is_array ? a->assigns[i] : NULL;
        if (d->functions) {
            status |= declare_function(d, a->argv[i]);
        } else if (d->print) {
            status |= print_variable(d, a->argv[i]);
        } else {
            if (d->plain && !list && sh_opt(d->sh, OPT_XTRACE))
                trace(d, a->argv[i]);
            status |= declare_variable(d, a->argv[i], list, builtin_written(a, a->argv[i]));
        }
    }
    return status;
}

static int builtin_declare(struct shell *sh, struct builtin_args *a)
{
    struct decl d = {.sh = sh, .who = a->argv[0].p};
    int i, status = parse_options(&d, a, "+aAfFgiIlnprtuxc", &i);
    if (status)
        return status;
    if (i == a->argc) {
        if (d.functions)
            declare_list_functions(sh, d.names_only, d.set & VAR_EXPORT, d.set & VAR_READONLY, d.set & VAR_TRACE);
        else if (d.print || d.set || d.clear)
            declare_list(sh, d.set, false, NULL);
        else
            declare_list_all(sh);
        return 0;
    }
    d.local = sh->func_depth > 0 && !d.global && !d.functions && !d.print;
    return run(&d, a, i);
}

static int builtin_local(struct shell *sh, struct builtin_args *a)
{
    struct decl d = {.sh = sh, .who = a->argv[0].p, .local = true};
    int i, status;
    if (sh->func_depth == 0) {
        sh_error(sh, "local: can only be used in a function");
        return 1;
    }
    status = parse_options(&d, a, "+aAfFgiIlnprtuxc", &i);
    if (status)
        return status;
    if (i == a->argc) {
        declare_list(sh, d.set, true, NULL);
        return 0;
    }
    if (i + 1 == a->argc && str_eqc(a->argv[i], "-")) {
        struct frame *f = sh->frame;
        while (f && !f->is_function)
            f = f->prev;
        if (f && !f->opts_saved) {
            f->opts = sh->opts;
            f->opts_saved = true;
        }
        return 0;
    }
    return run(&d, a, i);
}

/* export and readonly: the flag is @flag unless -n takes it away. */
static int mark(struct shell *sh, struct builtin_args *a, uint32_t flag, const char *letters)
{
    struct decl d = {.sh = sh, .who = a->argv[0].p, .plain = true};
    struct builtin_opt o = {0};
    bool off = false;
    int c;
    while ((c = builtin_getopt(sh, a, letters, &o)) != -1) {
        if (c == '?')
            return 2;
        off |= c == 'n';
        d.print |= c == 'p';
        d.functions |= c == 'f';
        d.set |= flag_of(c) & (VAR_ARRAY | VAR_ASSOC);
    }
    if (o.i == a->argc || o.i == 0) {
        if (d.functions)
            declare_list_functions(sh, false, flag == VAR_EXPORT, flag == VAR_READONLY, false);
        else
            declare_list(sh, flag | d.set, false, a->argv[0].p);
        return 0;
    }
    d.print = false;
    if (off)
        d.clear |= flag;
    else
        d.set |= flag;
    return run(&d, a, o.i);
}

static int builtin_export(struct shell *sh, struct builtin_args *a)
{
    return mark(sh, a, VAR_EXPORT, "aAfnp");
}

static int builtin_readonly(struct shell *sh, struct builtin_args *a)
{
    return mark(sh, a, VAR_READONLY, "aAfnp");
}

#define DECLARE_HELP                                                                                                   \
    "    Give variables attributes and values, or show them.\n"                                                        \
    "\n"                                                                                                               \
    "      -f, -F  functions: their text, or only their names\n"                                                       \
    "      -g      in a function, the global variable\n"                                                               \
    "      -I      a local variable begins with the value and attributes of the outer one\n"                           \
    "      -p      show\n"                                                                                             \
    "      -a, -A  indexed array, associative array\n"                                                                 \
    "      -i      integer: assigned texts are evaluated\n"                                                            \
    "      -l, -u, -c  lower case, upper case, capitalised when assigned\n"                                            \
    "      -n      a reference to the variable that its value names\n"                                                 \
    "      -r, -t, -x  read-only, traced, exported\n"                                                                  \
    "\n"                                                                                                               \
    "    With + instead of - an attribute is taken away. In a function names are made local, as with local.\n"         \
    "\n"                                                                                                               \
    "    The status is 0 unless an option is wrong or a variable cannot be assigned.\n"

BUILTIN(declare, "declare", builtin_declare, BUILTIN_ASSIGN,
        "declare [-aAfFgiIlnrtux] [name[=value] ...] or declare -p [-aAfFilnrtux] [name ...]", DECLARE_HELP);
BUILTIN(typeset, "typeset", builtin_declare, BUILTIN_ASSIGN,
        "typeset [-aAfFgiIlnrtux] name[=value] ... or typeset -p [-aAfFilnrtux] [name ...]", DECLARE_HELP);
BUILTIN(local, "local", builtin_local, BUILTIN_ASSIGN, "local [option] name[=value] ...",
        "    Declare variables that only this function and what it calls can see.\n"
        "\n"
        "    The options are those of declare; the name - makes the shell's options local.\n"
        "\n"
        "    The status is 0 unless used outside a function, or a variable cannot be assigned.\n");
BUILTIN(export, "export", builtin_export, BUILTIN_SPECIAL | BUILTIN_ASSIGN,
        "export [-fn] [name[=value] ...] or export -p",
        "    Pass variables on to the commands that are run.\n"
        "\n"
        "      -f  functions\n"
        "      -n  no longer\n"
        "      -p  show what is exported\n"
        "\n"
        "    The status is 0 unless an option or a name is wrong.\n");
BUILTIN(readonly, "readonly", builtin_readonly, BUILTIN_SPECIAL | BUILTIN_ASSIGN,
        "readonly [-aAf] [name[=value] ...] or readonly -p",
        "    Make variables unchangeable.\n"
        "\n"
        "      -a, -A  arrays, associative arrays\n"
        "      -f      functions\n"
        "      -p      show what is read-only\n"
        "\n"
        "    The status is 0 unless an option or a name is wrong.\n");
