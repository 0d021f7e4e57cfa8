/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <stdarg.h>

#include "shell/builtin/condition_int.h"

__attribute__((format(printf, 2, 3))) static void error(void *arg, const char *fmt, ...)
{
    struct cmd *c = arg;
    struct buf text BUF_AUTO;
    va_list ap;
    buf_init(&text, LIMIT_STRING);
    va_start(ap, fmt);
    buf_vaddf(&text, fmt, ap);
    va_end(ap);
    cmd_err(c, "%s", text.p);
}

static const char *name(void *arg, struct str s)
{
    return cmd_quote_loc(arg, s.p);
}

static const struct condition_ops test_cmd_ops = {.error = error, .name = name};

static int run(struct cmd *c, int n, bool bracket)
{
    struct str *v = arena_alloc(c->arena, (size_t)(n + 1) * sizeof *v);
    for (int i = 0; i < n + bracket; i++)
        v[i] = str_c(c->argv[i + 1]);
    struct condition cond = {.ops = &test_cmd_ops, .arg = c, .p = c->p, .gnu = true, .bracket = bracket};
    return condition_run(&cond, v, n);
}

static int test_main(struct cmd *c)
{
    return run(c, c->argc > 1 ? c->argc - 1 : 0, false);
}

/* Only [ looks at --help and --version, and only without its closing bracket. */
static int bracket_main(struct cmd *c)
{
    if (c->argc < 2 || strcmp(c->argv[c->argc - 1], "]") != 0) {
        if (cmd_help_alone(c))
            return 0;
        cmd_err(c, "missing %s", cmd_quote_loc(c, "]"));
        return 2;
    }
    return run(c, c->argc - 2, true);
}

#define TEST_USAGE "Usage: test EXPRESSION\n  or:  test\n  or:  [ EXPRESSION ]\n  or:  [ ]\n  or:  [ OPTION\n"
#define TEST_HELP                                                                                                      \
    "Succeeds when EXPRESSION is true.\n\n"                                                                            \
    "Files:    -b -c -d -e -f -g -G -h -k -L -N -O -p -r -s -S -u -w -x FILE, -t FD; A -ef B, A -nt B, A -ot B\n"      \
    "Strings:  -n S, -z S, S, A = B, A == B, A != B\n"                                                                 \
    "Integers: A -eq B, -ne, -lt, -le, -gt, -ge; -l STRING is a length\n"                                              \
    "Together: ! E, ( E ), E -a E, E -o E\n\n"                                                                         \
    "      --help     display this help and exit ([ only)\n"                                                           \
    "      --version  output version information and exit ([ only)\n"

CMD(test, test_main, 2, TEST_USAGE, TEST_HELP);
CMD_NAMED("[", bracket, bracket_main, 2, TEST_USAGE, TEST_HELP);
