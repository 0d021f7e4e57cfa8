/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/shell_int.h"

#include <errno.h>
#include <stdarg.h>

#include "shell/builtin/condition_int.h"
#include "shell/builtin/target_int.h"
#include "shell/options_int.h"

struct call {
    struct shell *sh;
    const char *who; /* "test" or "[" */
};

__attribute__((format(printf, 2, 3))) static void error(void *arg, const char *fmt, ...)
{
    struct call *call = arg;
    struct buf text BUF_AUTO;
    va_list ap;
    buf_init(&text, LIMIT_STRING);
    va_start(ap, fmt);
    buf_vaddf(&text, fmt, ap);
    va_end(ap);
    sh_error(call->sh, "%s: %s", call->who, text.p);
}

/* A positional parameter's number: [ -v 1 ]. */
static int positional_set(const struct shell *sh, struct str name)
{
    uint64_t n;
    if (str_u64(name, &n) < 0)
        return 0;
    return n == 0 || (sh->args && n <= sh->args->n);
}

static int element_set(struct shell *sh, struct str name, struct str sub, bool done)
{
    struct str key, text;
    int64_t index;
    struct sym *s = sym_get(sh, name);
    struct var *v = s ? var_find(sh, s) : NULL;
    if (!v)
        return 0;
    if (!(v->flags & VAR_ASSOC) && (str_eq(sub, STR("@")) || str_eq(sub, STR("*"))))
        return var_count(v) > 0;
    int r = 0;
    key = sub;
    index = 0;
    if (!done)
        r = target_subscript(sh, v, sub, &key, &index);
    else if (!(v->flags & VAR_ASSOC))
        r = arith_eval_text(sh, sub, &index);
    if (r < 0)
        return sh->flow == FLOW_NONE ? sh_abort(sh, 1) : r;
    if (index < 0 && index + var_max_index(v) < 0) {
        sh_error(sh, "%.*s: bad array subscript", (int)name.n, name.p);
        return 0;
    }
    return var_elem(sh, v, key, index, &text);
}

int condition_is_set(struct shell *sh, struct str name, bool done)
{
    struct str base, sub, text;
    if (name.n > 0 && name.p[0] >= '0' && name.p[0] <= '9')
        return positional_set(sh, name);
    if (var_split_ref(name, &base, &sub) && (done || target_end(name, base.n) == name.n))
        return element_set(sh, base, arena_str(&sh->scratch, sub), done);
    if (!sym_valid(name))
        return 0;
    struct sym *s = sym_get(sh, name);
    return s && var_text(sh, s, &text);
}

static int shell_test(void *arg, char op, struct str s)
{
    struct call *call = arg;
    struct shell *sh = call->sh;
    if (op == 'o') {
        const struct opt_def *d = options_find(s);
        return d && sh_opt(sh, d->bit);
    }
    if (op == 'v')
        return condition_is_set(sh, s, false);
    struct sym *sym = sym_valid(s) ? sym_get(sh, s) : NULL;
    struct var *v = sym ? var_find_raw(sh, sym) : NULL;
    return v && (v->flags & VAR_NAMEREF) && (v->flags & VAR_SET);
}

int condition_unary(struct shell *sh, struct str op, struct str s)
{
    struct call call = {sh, "["};
    char c = op.p[1];
    switch (c) {
    case 'n':
        return s.n > 0;
    case 'z':
        return s.n == 0;
    case 't':
        return condition_tty(sh->p, s);
    case 'v':
    case 'o':
    case 'R':
        return shell_test(&call, c, s);
    default:
        return condition_file(sh->p, c, s);
    }
}

static const struct condition_ops test_ops = {.error = error, .shell_test = shell_test};

static int builtin_test(struct shell *sh, struct builtin_args *a)
{
    struct call call = {sh, a->argv[0].p};
    struct condition c = {.ops = &test_ops, .arg = &call, .p = sh->p};
    int argc = a->argc - 1;
    if (str_eq(a->argv[0], STR("["))) {
        if (argc == 0 || !str_eq(a->argv[argc], STR("]"))) {
            sh_error(sh, "[: missing `]'");
            return 2;
        }
        argc--;
        c.bracket = true;
    }
    return condition_run(&c, a->argv + 1, argc);
}

#define TEST_HELP                                                                                                      \
    "    The status is 0 when the expression is true, 1 when it is false or missing, 2 when it is wrong.\n"            \
    "\n"                                                                                                               \
    "    Files:     -a -b -c -d -e -f -g -h -k -p -r -s -t -u -w -x -G -L -N -O -S FILE; A -nt B, A -ot B, A -ef B\n"  \
    "    Strings:   -z S, -n S, S, A = B, A == B, A != B, A < B, A > B\n"                                              \
    "    Integers:  A -eq B, -ne, -lt, -le, -gt, -ge\n"                                                                \
    "    The shell: -v VARIABLE is set, -R VARIABLE is a name reference, -o OPTION is on\n"                            \
    "    Together:  ! E, ( E ), E -a E, E -o E\n"

BUILTIN(test, "test", builtin_test, 0, "test [expr]", "    Evaluate a conditional expression.\n\n" TEST_HELP);
BUILTIN(bracket, "[", builtin_test, 0, "[ arg... ]",
        "    Evaluate a conditional expression; the last argument is ].\n\n" TEST_HELP);
