/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/shell_int.h"

#include "shell/builtin/escape_int.h"

/* Writes @s with its escapes decoded; false after \c. */
static bool write_escaped(struct shell *sh, struct str s)
{
    struct escape e;
    for (size_t i = 0; i < s.n;) {
        ptrdiff_t next = str_find(s, '\\', i);
        size_t to = next < 0 ? s.n : (size_t)next;
        sh_write(sh, str_of(s.p + i, to - i));
        if (to == s.n)
            break;
        i = to + escape_decode(ESCAPE_ECHO, sh->utf8, s.p + to, s.n - to, &e);
        sh_write(sh, str_of(e.text, e.n));
        if (e.stop)
            return false;
    }
    return true;
}

/* Whether @s is a cluster of echo's options; sets what they say. A word with any other letter is text. */
static bool take_options(struct str s, bool *newline, bool *escapes)
{
    if (s.n < 2 || s.p[0] != '-')
        return false;
    for (size_t i = 1; i < s.n; i++)
        if (s.p[i] != 'n' && s.p[i] != 'e' && s.p[i] != 'E')
            return false;
    for (size_t i = 1; i < s.n; i++) {
        if (s.p[i] == 'n')
            *newline = false;
        else
            *escapes = s.p[i] == 'e';
    }
    return true;
}

static int builtin_echo(struct shell *sh, struct builtin_args *a)
{
    bool newline = true, escapes = sh_shopt(sh, SHOPT_XPG_ECHO);
    int i = 1;
    if (!(escapes && sh_opt(sh, OPT_POSIX)))
        while (i < a->argc && take_options(a->argv[i], &newline, &escapes))
            i++;
    for (; i < a->argc; i++) {
        if (!escapes)
            sh_write(sh, a->argv[i]);
        else if (!write_escaped(sh, a->argv[i]))
            return 0;
        if (i + 1 < a->argc)
            sh_write(sh, STR(" "));
    }
    if (newline)
        sh_write(sh, STR("\n"));
    return 0;
}

BUILTIN(echo, "echo", builtin_echo, 0, "echo [-neE] [arg ...]",
        "    Print the arguments, with a blank between them and a newline at the end.\n"
        "\n"
        "      -n    no newline at the end\n"
        "      -e    decode backslash sequences: \\a \\b \\c \\e \\E \\f \\n \\r \\t \\v \\\\ \\0nnn \\xHH \\uHHHH "
        "\\UHHHHHHHH\n"
        "      -E    take backslashes as they are (the default unless xpg_echo is set)\n"
        "\n"
        "    The status is 0 unless writing fails.\n");
