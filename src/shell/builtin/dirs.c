/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/shell_int.h"

#include <errno.h>

#include "base/mem.h"
#include "shell/builtin/cd_int.h"
#include "shell/builtin/condition_int.h"

/*
 * The stack that is shown is the working directory and then sh->dirstack. Indices here are places in what is shown, so
 * 0 is the working directory and place n is sh->dirstack[n - 1].
 */

struct request {
    struct shell *sh;
    struct builtin_args *a;
    const char *who;
    bool no_cd;                          /* -n */
    bool clear, is_long, lines, numbers; /* dirs -c -l -p -v */
    bool has_index;
    bool from_end; /* -N */
    int64_t index;
    struct str text; /* of the index, as given */
    int i;           /* next argument */
};

/* ---- the stack ---- */

static struct str copy(struct str s)
{
    return str_of(mem_dup(s.p, s.n), s.n);
}

static void drop(struct str s)
{
    char *p = (char *)(uintptr_t)s.p;
    mem_free(p);
}

/* Puts a copy of @s at place @at of sh->dirstack. */
static int stack_insert(struct shell *sh, uint32_t at, struct str s)
{
    struct str *v = mem_try_realloc(sh->dirstack, (sh->n_dirstack + 1) * sizeof *v);
    char *text = v ? mem_try(s.n + 1) : NULL;
    if (v)
        sh->dirstack = v;
    if (!text)
        return -ENOMEM;
    if (s.n)
        memcpy(text, s.p, s.n);
    text[s.n] = 0;
    memmove(v + at + 1, v + at, (sh->n_dirstack - at) * sizeof *v);
    v[at] = str_of(text, s.n);
    sh->n_dirstack++;
    return 0;
}

static void stack_remove(struct shell *sh, uint32_t at)
{
    drop(sh->dirstack[at]);
    sh->n_dirstack--;
    memmove(sh->dirstack + at, sh->dirstack + at + 1, (sh->n_dirstack - at) * sizeof *sh->dirstack);
}

static void stack_clear(struct shell *sh)
{
    while (sh->n_dirstack > 0)
        stack_remove(sh, sh->n_dirstack - 1);
}

/* ---- printing ---- */

/* With $HOME as "~". */
static void print_dir(struct shell *sh, struct str dir, bool is_long)
{
    struct str home = var_get(sh, "HOME");
    if (!is_long && home.n > 1 && str_starts(dir, home) && (dir.n == home.n || dir.p[home.n] == '/')) {
        sh_puts(sh, "~");
        dir = str_from(dir, home.n);
    }
    sh_write(sh, dir);
}

static struct str place(const struct shell *sh, uint32_t i)
{
    return i == 0 ? sh->pwd : sh->dirstack[i - 1];
}

static int print_stack(struct shell *sh)
{
    for (uint32_t i = 0; i <= sh->n_dirstack; i++) {
        if (i > 0)
            sh_puts(sh, " ");
        print_dir(sh, place(sh, i), false);
    }
    sh_puts(sh, "\n");
    return 0;
}

/* ---- arguments ---- */

static int usage(const struct request *r, struct str s, const char *what)
{
    sh_error(r->sh, "%s: %s: %s", r->who, s.p, what);
    return builtin_usage(r->sh, builtin_find_any(r->a->argv[0]));
}

/* +N or -N: 0, or the status to end with. */
static int take_index(struct request *r, struct str s)
{
    if (s.n < 2 || s.p[1] < '0' || s.p[1] > '9' || !condition_int(str_from(s, 1), &r->index))
        return usage(r, s, "invalid number");
    r->has_index = true;
    r->from_end = s.p[0] == '-';
    r->text = s;
    return 0;
}

/* Options that stand alone each, and indices, up to the first other word or "--". @letters: the options there are;
 * @operand: a word may follow. 0, or the status. */
static int take_arguments(struct request *r, const char *letters, bool operand)
{
    struct builtin_args *a = r->a;
    if (r->i < a->argc && str_eq(a->argv[r->i], STR("--help")))
        return builtin_help(r->sh, builtin_find_any(a->argv[0]));
    for (; r->i < a->argc; r->i++) {
        struct str s = a->argv[r->i];
        if (s.n < 2 || (s.p[0] != '-' && s.p[0] != '+'))
            return 0;
        if (str_eq(s, STR("--"))) {
            /* bash's dirs and popd look no further; pushd takes a directory. */
            r->i = operand ? r->i + 1 : a->argc;
            return 0;
        }
        if (s.n == 2 && s.p[0] == '-' && strchr(letters, s.p[1])) {
            r->no_cd |= s.p[1] == 'n';
            r->clear |= s.p[1] == 'c';
            r->is_long |= s.p[1] == 'l';
            r->lines |= s.p[1] == 'p' || s.p[1] == 'v';
            r->numbers |= s.p[1] == 'v';
            continue;
        }
        int status = take_index(r, s);
        if (status != 0 || operand)
            return status;
    }
    return 0;
}

static int empty(const struct request *r)
{
    sh_error(r->sh, "%s: directory stack empty", r->who);
    return 1;
}

/* The place that the index means; false after a message. */
static bool find_place(const struct request *r, bool signs, uint32_t *ret)
{
    if (r->index > r->sh->n_dirstack) {
        if (r->sh->n_dirstack == 0)
            empty(r);
        else
            sh_error(r->sh, "%s: %s: directory stack index out of range", r->who, r->text.p + !signs);
        return false;
    }
    *ret = r->from_end ? r->sh->n_dirstack - (uint32_t)r->index : (uint32_t)r->index;
    return true;
}

/* ---- dirs ---- */

static void print_entry(const struct request *r, uint32_t i)
{
    if (r->numbers)
        sh_printf(r->sh, "%2u  ", i);
    print_dir(r->sh, place(r->sh, i), r->is_long);
}

static int builtin_dirs(struct shell *sh, struct builtin_args *a)
{
    struct request r = {.sh = sh, .a = a, .who = a->argv[0].p, .i = 1};
    uint32_t at;
    int status = take_arguments(&r, "clpv", false);
    if (status != 0)
        return status;
    if (r.i < a->argc)
        return usage(&r, a->argv[r.i], "invalid option");
    if (r.clear) {
        stack_clear(sh);
        return 0;
    }
    if (r.has_index) {
        if (!find_place(&r, false, &at))
            return 1;
        print_entry(&r, at);
        sh_puts(sh, "\n");
        return 0;
    }
    for (uint32_t i = 0; i <= sh->n_dirstack; i++) {
        print_entry(&r, i);
        sh_puts(sh, r.lines || i == sh->n_dirstack ? "\n" : " ");
    }
    return 0;
}

/* ---- pushd ---- */

/* Turns the stack until place @at comes first; what was first goes behind the last. */
static void rotate(struct shell *sh, uint32_t at, struct str old)
{
    uint32_t n = sh->n_dirstack;
    if (n == 0)
        return;
    struct str *turned = arena_alloc(&sh->scratch, n * sizeof *turned);
    /* Places at+1 … n, then the old working directory, then 1 … at-1. */
    for (uint32_t i = 0; i < n; i++) {
        uint32_t from = (at + 1 + i) % (n + 1);
        turned[i] = from == 0 ? copy(old) : sh->dirstack[from - 1];
    }
    if (at > 0)
        drop(sh->dirstack[at - 1]);
    memcpy(sh->dirstack, turned, n * sizeof *turned);
}

static int pushd_rotate(const struct request *r, uint32_t at)
{
    struct shell *sh = r->sh;
    struct str old = arena_str(&sh->scratch, sh->pwd);
    if (!r->no_cd) {
        int status = cd__change(sh, r->who, arena_str(&sh->scratch, place(sh, at)));
        if (status != 0)
            return status;
    }
    rotate(sh, at, old);
    return r->no_cd ? 0 : print_stack(sh);
}

static int pushd_dir(const struct request *r, struct str dir)
{
    struct shell *sh = r->sh;
    struct str old = arena_str(&sh->scratch, sh->pwd);
    if (!r->no_cd) {
        int status = cd__change(sh, r->who, dir);
        if (status != 0)
            return status;
    }
    if (stack_insert(sh, 0, r->no_cd ? dir : old) < 0) {
        sh_error(sh, "%s: cannot allocate memory", r->who);
        return 1;
    }
    return print_stack(sh);
}

static int builtin_pushd(struct shell *sh, struct builtin_args *a)
{
    struct request r = {.sh = sh, .a = a, .who = a->argv[0].p, .i = 1};
    uint32_t at;
    if (sh_restricted(sh, r.who, NULL))
        return 1;
    int status = take_arguments(&r, "n", true);
    if (status != 0)
        return status;
    if (r.has_index) /* what stands behind it is ignored, as in bash */
        return find_place(&r, true, &at) ? pushd_rotate(&r, at) : 1;
    int words = a->argc - r.i;
    if (words > 1) {
        sh_error(sh, "%s: too many arguments", r.who);
        return 1;
    }
    if (words == 0 && sh->n_dirstack == 0) {
        if (r.no_cd)
            return 0;
        sh_error(sh, "%s: no other directory", r.who);
        return 1;
    }
    if (words == 1)
        return pushd_dir(&r, a->argv[r.i]);
    /* The two at the top change places. */
    struct str old = arena_str(&sh->scratch, sh->pwd);
    if (r.no_cd)
        return 0;
    status = cd__change(sh, r.who, arena_str(&sh->scratch, sh->dirstack[0]));
    if (status != 0)
        return status;
    drop(sh->dirstack[0]);
    sh->dirstack[0] = copy(old);
    return print_stack(sh);
}

/* ---- popd ---- */

static int builtin_popd(struct shell *sh, struct builtin_args *a)
{
    struct request r = {.sh = sh, .a = a, .who = a->argv[0].p, .i = 1};
    uint32_t at = 0;
    if (sh_restricted(sh, r.who, NULL))
        return 1;
    int status = take_arguments(&r, "n", false);
    if (status != 0)
        return status;
    if (r.i < a->argc)
        return usage(&r, a->argv[r.i], "invalid argument");
    if (sh->n_dirstack == 0)
        return empty(&r);
    if (r.has_index && !find_place(&r, true, &at))
        return 1;
    if (at == 0 && !r.no_cd) {
        status = cd__change(sh, r.who, arena_str(&sh->scratch, sh->dirstack[0]));
        if (status != 0)
            return status;
    }
    stack_remove(sh, at > 0 ? at - 1 : 0);
    return print_stack(sh);
}

#define STACK_HELP "    +N counts from the left of what dirs shows, -N from its right, both from zero.\n\n"

BUILTIN(dirs, "dirs", builtin_dirs, 0, "dirs [-clpv] [+N] [-N]",
        "    Print the directory stack: the working directory, then what pushd has put there.\n"
        "\n"
        "      -c    forget all but the working directory\n"
        "      -l    with the home directory's full name instead of ~\n"
        "      -p    one a line\n"
        "      -v    one a line, with its place before it\n"
        "      +N -N only that entry\n"
        "\n" STACK_HELP "    The status is 0 unless an option or index is wrong.\n");
BUILTIN(
    pushd, "pushd", builtin_pushd, 0, "pushd [-n] [+N | -N | dir]",
    "    Change to dir and put the directory before it on the stack. Without dir, change places with the one below.\n"
    "    With an index, turn the stack until that entry comes first, and change there.\n"
    "\n"
    "      -n    do not change the directory, only the stack\n"
    "\n" STACK_HELP "    The status is 0 unless an argument is wrong or the directory cannot be changed.\n");
BUILTIN(
    popd, "popd", builtin_popd, 0, "popd [-n] [+N | -N]",
    "    Remove the working directory from the stack and change to the one below, or remove the entry at an index.\n"
    "\n"
    "      -n    do not change the directory, only the stack\n"
    "\n" STACK_HELP
    "    The status is 0 unless an argument is wrong, the stack is empty or the directory cannot be changed.\n");
