/* SPDX-License-Identifier: Apache-2.0 */

/* The table of options: which depth runs a command with an option. */

#include <stdio.h>
#include <stdlib.h>

#include "base/assert.h"
#include "session/session.h"
#include "shell/cmd/cmd.h"
#include "shell/shell.h"

#define ROWS_MAX 512

struct other {
    const char *name, *why;
};

struct rows {
    void (*fn)(void *arg, const struct session_option *o);
    void *arg;
    const struct cmd_def *def;
    struct other others[ROWS_MAX];
    size_t n_others;
};

static void add_other(void *arg, const char *name, const char *why)
{
    struct rows *r = arg;
    ASSERT(r->n_others < ROWS_MAX);
    r->others[r->n_others++] = (struct other){name, why};
}

static int by_name(const void *a, const void *b)
{
    const struct other *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static void option(void *arg, const struct cmd_opt *o)
{
    static const char *const arguments[] = {[CMD_NO_ARG] = "none", [CMD_ARG] = "required", [CMD_OPT_ARG] = "optional"};
    const struct rows *r = arg;
    char name[128];
    bool is_short = o->code > ' ' && o->code < 127;
    int n = is_short ? snprintf(name, sizeof name, "-%c%s", o->code, o->lname ? ", " : "") : 0;
    snprintf(name + n, sizeof name - (size_t)n, "%s%s", o->lname ? o->arg & CMD_ONE_DASH ? "-" : "--" : "",
             o->lname ? o->lname : "");
    if (!name[0])
        return; /* a code of the command's own, without a name */
    const char *refused = shell_alone(str_c(r->def->name)) ? "nobody" : "userland";
    r->fn(r->arg, &(struct session_option){r->def->name, name, arguments[o->arg & 3],
                                           o->arg & CMD_REFUSED ? refused : "builtin", NULL});
}

static void other(const struct rows *r, const struct other *o)
{
    r->fn(r->arg, &(struct session_option){o->name, NULL, NULL, o->why ? "machine" : "userland", o->why});
}

void session_options(void (*fn)(void *arg, const struct session_option *o), void *arg)
{
    struct rows r = {.fn = fn, .arg = arg};
    size_t n, k = 0;
    const struct cmd_def *const *defs = cmd_all(&n);
    shell_elsewhere_each(add_other, &r);
    qsort(r.others, r.n_others, sizeof *r.others, by_name);
    for (size_t i = 0; i < n; i++) {
        for (; k < r.n_others && strcmp(r.others[k].name, defs[i]->name) < 0; k++)
            other(&r, &r.others[k]);
        r.def = defs[i];
        fn(arg, &(struct session_option){defs[i]->name, NULL, NULL, "builtin", NULL});
        cmd_options(defs[i], option, &r);
        /* A command that has come into the shell since the list was written. */
        k += k < r.n_others && strcmp(r.others[k].name, defs[i]->name) == 0;
    }
    for (; k < r.n_others; k++)
        other(&r, &r.others[k]);
}
