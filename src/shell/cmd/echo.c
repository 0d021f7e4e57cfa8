/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include "shell/builtin/escape_int.h"

/* Whether @s is a cluster of options; sets what they say. A word with any other letter is text. */
static bool take_options(const char *s, bool *newline, bool *escapes)
{
    if (s[0] != '-' || s[1] == 0 || strspn(s + 1, "neE") != strlen(s + 1))
        return false;
    for (s++; *s; s++) {
        if (*s == 'n')
            *newline = false;
        else
            *escapes = *s == 'e';
    }
    return true;
}

/* Writes @s with its escapes decoded; false after \c. */
static bool write_escaped(struct cmd *c, struct str s)
{
    struct escape e;
    for (size_t i = 0; i < s.n;) {
        ptrdiff_t next = str_find(s, '\\', i);
        size_t to = next < 0 ? s.n : (size_t)next;
        cmd_write(c, s.p + i, to - i);
        if (to == s.n)
            break;
        i = to + escape_decode(ESCAPE_GNU_ECHO, false, s.p + to, s.n - to, &e);
        cmd_write(c, e.text, e.n);
        if (e.stop)
            return false;
    }
    return true;
}

static int echo_main(struct cmd *c)
{
    /* POSIX: no options but a first -n, and escapes always. */
    bool posix = cmd_getenv(c, "POSIXLY_CORRECT") != NULL;
    bool newline = true, escapes = posix;
    int i = 1;
    if (!posix && cmd_help_alone(c))
        return 0;
    if (!posix || (c->argc > 1 && strcmp(c->argv[1], "-n") == 0))
        while (i < c->argc && take_options(c->argv[i], &newline, &escapes))
            i++;
    escapes |= posix;
    for (; i < c->argc; i++) {
        if (!escapes)
            cmd_puts(c, c->argv[i]);
        else if (!write_escaped(c, str_c(c->argv[i])))
            return 0;
        if (i + 1 < c->argc)
            cmd_putc(c, ' ');
    }
    if (newline)
        cmd_putc(c, '\n');
    return 0;
}

CMD(echo, echo_main, 1, "Usage: echo [SHORT-OPTION]... [STRING]...\n  or:  echo LONG-OPTION\n",
    "Writes the STRINGs to standard output, with blanks between and a newline behind.\n\n"
    "  -n             no newline\n"
    "  -e             decode backslash sequences\n"
    "  -E             take backslashes as they are (default)\n"
    "      --help     display this help and exit\n"
    "      --version  output version information and exit\n\n"
    "With -e: \\\\ \\a \\b \\c (no more output) \\e \\f \\n \\r \\t \\v \\0NNN (octal) \\xHH (hexadecimal).\n");
