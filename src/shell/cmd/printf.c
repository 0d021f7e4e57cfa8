/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <stdarg.h>

#include "shell/builtin/printf_int.h"
#include "shell/cmd/quote.h"

static int write_out(void *arg, const char *p, size_t n)
{
    return cmd_write(arg, p, n);
}

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

static void quote(void *arg, struct buf *out, struct str s)
{
    quote_add(out, s, &(struct quote_opts){.style = QUOTE_SHELL_ESCAPE, .utf8 = cmd_utf8(arg)});
}

static const struct printf_ops printf_cmd_ops = {.write = write_out, .error = error, .name = name, .quote = quote};

static int printf_main(struct cmd *c)
{
    int i = 1;
    if (cmd_help_alone(c))
        return 0;
    if (i < c->argc && strcmp(c->argv[i], "--") == 0)
        i++;
    if (i >= c->argc)
        return cmd_missing(c);
    uint32_t n = (uint32_t)(c->argc - i - 1);
    struct str *args = arena_alloc(c->arena, (n + 1) * sizeof *args);
    for (uint32_t k = 0; k < n; k++)
        args[k] = str_c(c->argv[(uint32_t)i + 1 + k]);
    struct printf_job job = {
        .ops = &printf_cmd_ops,
        .arg = c,
        .p = c->p,
        .gnu = true,
        .utf8 = cmd_utf8(c),
        .warn_const = !cmd_getenv(c, "POSIXLY_CORRECT"),
    };
    return printf_run(&job, str_c(c->argv[i]), args, n);
}

CMD(printf, printf_main, 1, "Usage: printf FORMAT [ARGUMENT]...\n  or:  printf OPTION\n",
    "Prints the ARGUMENTs as FORMAT says, as printf(3) of C does, reusing it while arguments are left.\n\n"
    "      --help     display this help and exit\n"
    "      --version  output version information and exit\n\n"
    "FORMAT may hold \\\" \\\\ \\a \\b \\c (no more output) \\e \\f \\n \\r \\t \\v \\NNN (octal) \\xHH \\uHHHH "
    "\\UHHHHHHHH, "
    "and %%,\n%b (decode backslash sequences), %q (quote for a shell) and C's conversions diouxXfeEFgGaAcs.\n");
