/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/shell_int.h"

#include "shell/builtin/condition_int.h"

/* What one call looks at. */
struct scan {
    struct shell *sh;
    struct str opts; /* without the leading ':' */
    bool silent;
    const struct str *v;
    uint32_t n;
    uint32_t ind; /* number of the next argument, from 1 */
    size_t pos;   /* inside a clustered argument; 0: at its start */
};

/* What the call found. */
struct found {
    char name;    /* '?' or ':' after an error */
    char text[2]; /* the option, for OPTARG */
    struct str optarg;
    bool has_optarg;
    bool end;
};

static uint32_t optind_of(struct shell *sh)
{
    int64_t n;
    struct str s = var_get(sh, "OPTIND");
    return s.p && condition_int(s, &n) && n > 0 ? (uint32_t)(n < UINT32_MAX ? n : UINT32_MAX) : 1;
}

/* Tells of a wrong option, as "NAME: WHAT -- c", unless OPTERR is 0. */
static void complain(const struct scan *sc, const char *what, char c)
{
    struct str s = var_get(sc->sh, "OPTERR");
    int64_t n;
    if (s.p && condition_int(s, &n) && n == 0)
        return;
    struct arena_mark m = arena_mark(&sc->sh->scratch);
    char *text = arena_printf(&sc->sh->scratch, "%.*s: %s -- %c\n", (int)sc->sh->arg0.n, sc->sh->arg0.p, what, c);
    sh_write_fd(sc->sh, 2, str_c(text));
    arena_reset(&sc->sh->scratch, m);
}

static void next_word(struct scan *sc)
{
    sc->ind++;
    sc->pos = 0;
}

/* Whether the word at the place begins options; moves behind "--". */
static bool at_options(struct scan *sc)
{
    if (sc->ind > sc->n) {
        sc->ind = sc->n + 1;
        return false;
    }
    struct str w = sc->v[sc->ind - 1];
    if (w.n < 2 || w.p[0] != '-')
        return false;
    if (str_eq(w, STR("--"))) {
        next_word(sc);
        return false;
    }
    return true;
}

/* The argument of option @c: the rest of the word, or the next one. */
static void take_argument(struct scan *sc, char c, struct found *f)
{
    if (sc->pos > 0) {
        f->optarg = str_from(sc->v[sc->ind - 1], sc->pos);
        f->has_optarg = true;
        next_word(sc);
    } else if (sc->ind <= sc->n) {
        f->optarg = sc->v[sc->ind - 1];
        f->has_optarg = true;
        next_word(sc);
    } else if (sc->silent) {
        f->name = ':';
        f->optarg = str_of(f->text, 1);
        f->has_optarg = true;
    } else {
        f->name = '?';
        complain(sc, "option requires an argument", c);
    }
}

static void scan_next(struct scan *sc, struct found *f)
{
    if (sc->pos == 0 || sc->ind > sc->n || sc->pos >= sc->v[sc->ind - 1].n) {
        sc->pos = 1;
        if (!at_options(sc)) {
            sc->pos = 0;
            f->name = '?';
            f->end = true;
            return;
        }
    }
    struct str w = sc->v[sc->ind - 1];
    char c = w.p[sc->pos++];
    f->name = f->text[0] = c;
    if (sc->pos >= w.n)
        next_word(sc);
    ptrdiff_t at = c == ':' ? -1 : str_find(sc->opts, c, 0);
    if (at < 0) {
        f->name = '?';
        if (sc->silent) {
            f->optarg = str_of(f->text, 1);
            f->has_optarg = true;
        } else {
            complain(sc, "illegal option", c);
        }
    } else if ((size_t)at + 1 < sc->opts.n && sc->opts.p[at + 1] == ':') {
        take_argument(sc, c, f);
    }
}

/* Unlike `unset`, this also takes away a readonly OPTARG, but not what a nameref of that name leads to. */
static void unset_optarg(struct shell *sh, struct sym *s)
{
    struct var *v = var_find_raw(sh, s);
    if (!v || (v->flags & VAR_NAMEREF))
        return;
    if (v->flags & VAR_READONLY)
        (void)var_attr(sh, s, 0, VAR_READONLY);
    (void)var_unset(sh, s);
}

static int store(struct shell *sh, const struct builtin_args *a, struct str name, const struct found *f)
{
    struct sym *arg_sym = sym_get(sh, STR("OPTARG"));
    if (!arg_sym)
        return 1;
    if (f->has_optarg)
        (void)var_set(sh, arg_sym, f->optarg);
    else
        unset_optarg(sh, arg_sym);
    if (!sym_valid(name)) {
        sh_error(sh, "%s: `%s': not a valid identifier", a->argv[0].p, name.p);
        return 1;
    }
    struct sym *s = sym_get(sh, name);
    return s && var_set(sh, s, str_of(&f->name, 1)) == 0 ? f->end : 2;
}

static int builtin_getopts(struct shell *sh, struct builtin_args *a)
{
    struct builtin_opt o = {0};
    if (builtin_getopt(sh, a, "", &o) != -1)
        return 2;
    if (a->argc - o.i < 2)
        return builtin_usage(sh, builtin_find_any(a->argv[0]));
    struct scan sc = {.sh = sh, .opts = a->argv[o.i], .ind = optind_of(sh)};
    struct sym *ind_sym = sym_get(sh, STR("OPTIND"));
    struct var *v = ind_sym ? var_find(sh, ind_sym) : NULL;
    if (v)
        sc.pos = v->place;
    struct found f = {0};
    struct posargs *held = NULL;
    if (a->argc - o.i > 2) {
        sc.v = a->argv + o.i + 2;
        sc.n = (uint32_t)(a->argc - o.i - 2);
    } else if (sh->args) {
        held = posargs_ref(sh->args);
        sc.v = held->v;
        sc.n = held->n;
    }
    if (sc.opts.n > 0 && sc.opts.p[0] == ':') {
        sc.silent = true;
        sc.opts = str_from(sc.opts, 1);
    }
    scan_next(&sc, &f);
    if (ind_sym && var_set_int(sh, ind_sym, sc.ind) == 0 && (v = var_own(sh, ind_sym)))
        v->place =
            (uint32_t)sc.pos; /* after the assignment, which begins a new scan; it comes and goes with local OPTIND */
    int status = store(sh, a, a->argv[o.i + 1], &f);
    posargs_unref(held);
    return status;
}

BUILTIN(getopts, "getopts", builtin_getopts, BUILTIN_POSIX, "getopts optstring name [arg ...]",
        "    Find the next option in the positional parameters, or in the arguments given, and put its letter into\n"
        "    the variable name, its argument into OPTARG, and the number of the next argument into OPTIND.\n"
        "\n"
        "    A letter of optstring with a colon behind it takes an argument. A wrong option puts ? into name and\n"
        "    prints a message unless OPTERR is 0. When optstring begins with a colon there are no messages: OPTARG\n"
        "    gets the wrong letter, and name is : when an argument is missing.\n"
        "\n"
        "    The status is 0 while options are found.\n");
