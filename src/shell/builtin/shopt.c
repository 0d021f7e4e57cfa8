/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/shell_int.h"

#include "shell/options_int.h"

struct request {
    struct shell *sh;
    bool set, unset, quiet, reusable, set_o;
};

/* What shopt knows, of its own options or (-o) of those of set. */
static int count(const struct request *r)
{
    size_t n = SHOPT_COUNT;
    if (r->set_o)
        (void)options_all(&n);
    return (int)n;
}

static const char *name_of(const struct request *r, int i)
{
    size_t n;
    return r->set_o ? options_all(&n)[i].name : options_shopt_name(i);
}

static bool is_on(const struct request *r, int i)
{
    size_t n;
    return r->set_o ? sh_opt(r->sh, options_all(&n)[i].bit) : sh_shopt(r->sh, (enum shopt_index)i);
}

static int find(const struct request *r, struct str name)
{
    if (!r->set_o)
        return options_shopt_find(name);
    for (int i = 0; i < count(r); i++)
        if (str_eqc(name, name_of(r, i)))
            return i;
    return -1;
}

static void print(const struct request *r, int i)
{
    bool on = is_on(r, i);
    if (r->quiet)
        return;
    if (r->reusable && r->set_o)
        sh_printf(r->sh, "set %co %s\n", on ? '-' : '+', name_of(r, i));
    else if (r->reusable)
        sh_printf(r->sh, "shopt -%c %s\n", on ? 's' : 'u', name_of(r, i));
    else
        sh_printf(r->sh, "%-15s\t%s\n", name_of(r, i), on ? "on" : "off");
}

static int one(const struct request *r, struct str name)
{
    size_t n;
    int i = find(r, name);
    if (i < 0) {
        sh_error(r->sh, "shopt: %s: invalid %s name", name.p, r->set_o ? "option" : "shell option");
        return 1;
    }
    if (!r->set && !r->unset) {
        print(r, i);
        return is_on(r, i) ? 0 : 1;
    }
    if (r->set_o)
        return options_set(r->sh, options_all(&n)[i].bit, r->set) ? 1 : 0;
    options_set_shopt(r->sh, i, r->set);
    return 0;
}

static int builtin_shopt(struct shell *sh, struct builtin_args *a)
{
    struct builtin_opt o = {0};
    struct request r = {.sh = sh};
    int c, status = 0;
    while ((c = builtin_getopt(sh, a, "psuoq", &o)) != -1) {
        if (c == '?')
            return 2;
        r.set |= c == 's';
        r.unset |= c == 'u';
        r.quiet |= c == 'q';
        r.reusable |= c == 'p';
        r.set_o |= c == 'o';
    }
    if (r.set && r.unset) {
        sh_error(sh, "shopt: cannot set and unset shell options simultaneously");
        return 1;
    }
    if (o.i && o.i < a->argc) {
        for (int i = o.i; i < a->argc; i++)
            status |= one(&r, a->argv[i]);
        return status;
    }
    for (int i = 0; i < count(&r); i++)
        if ((!r.set || is_on(&r, i)) && (!r.unset || !is_on(&r, i)))
            print(&r, i);
    return 0;
}

BUILTIN(shopt, "shopt", builtin_shopt, 0, "shopt [-pqsu] [-o] [optname ...]",
        "    Show and switch the options that are not of set.\n"
        "\n"
        "      -s, -u  switch on, off; without names, list those that are\n"
        "      -p      list as commands\n"
        "      -q      print nothing, the status tells\n"
        "      -o      the options of set -o instead\n"
        "\n"
        "    The status is 0 if all options named are on (or could be switched).\n");
