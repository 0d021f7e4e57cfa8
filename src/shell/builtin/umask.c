/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/shell_int.h"

#define WHO_ALL 7u

static void print_symbolic(struct shell *sh, uint32_t mask)
{
    static const char who[] = "ugo";
    for (int i = 0; i < 3; i++) {
        uint32_t allowed = ~mask >> (6 - 3 * i) & 7;
        sh_printf(sh, "%s%c=%s%s%s", i ? "," : "", who[i], allowed & 4 ? "r" : "", allowed & 2 ? "w" : "",
                  allowed & 1 ? "x" : "");
    }
    sh_puts(sh, "\n");
}

static int set_octal(struct shell *sh, struct str text)
{
    uint32_t v = 0;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '7' || (v = v * 8 + (uint32_t)(text.p[i] - '0')) > 07777) {
            sh_error(sh, "umask: %s: octal number out of range", text.p);
            return 1;
        }
    }
    sh->p->umask = v & 0777;
    return 0;
}

static uint32_t who_bits(char c)
{
    return c == 'u' ? 4 : c == 'g' ? 2 : c == 'o' ? 1 : c == 'a' ? WHO_ALL : 0;
}

/* The bits of one class spread over the classes of @who. */
static uint32_t spread(uint32_t perm, uint32_t who)
{
    return (who & 4 ? perm << 6 : 0) | (who & 2 ? perm << 3 : 0) | (who & 1 ? perm : 0);
}

static bool perm_bits(char c, uint32_t allowed, uint32_t *perm)
{
    switch (c) {
    case 'r':
        *perm |= 4;
        return true;
    case 'w':
        *perm |= 2;
        return true;
    case 'x':
        *perm |= 1;
        return true;
    case 'X':
        *perm |= allowed & 0111 ? 1 : 0;
        return true;
    case 's':
    case 't':
        return true; /* no part of a mask */
    default:
        return false;
    }
}

static int bad(struct shell *sh, char c, const char *what)
{
    sh_error(sh, "umask: `%c': invalid symbolic mode %s", c ? c : ' ', what);
    return 1;
}

/* chmod(1)'s symbolic language, about what is allowed: the mask is its complement. */
static int set_symbolic(struct shell *sh, const char *s)
{
    uint32_t allowed = ~sh->p->umask & 0777;
    for (;;) {
        uint32_t who = 0;
        while (who_bits(*s))
            who |= who_bits(*s++);
        who = who ? who : WHO_ALL;
        if (*s != '+' && *s != '-' && *s != '=')
            return bad(sh, *s, "operator");
        while (*s == '+' || *s == '-' || *s == '=') {
            char op = *s++;
            uint32_t perm = 0;
            for (; *s && *s != ',' && *s != '+' && *s != '-' && *s != '='; s++)
                if (!perm_bits(*s, allowed, &perm))
                    return bad(sh, *s, "character");
            uint32_t bits = spread(perm, who);
            if (op == '+')
                allowed |= bits;
            else
                allowed = (allowed & ~(op == '-' ? bits : spread(7, who))) | (op == '=' ? bits : 0);
        }
        if (*s == 0)
            break;
        s++;
    }
    sh->p->umask = ~allowed & 0777;
    return 0;
}

static int builtin_umask(struct shell *sh, struct builtin_args *a)
{
    struct builtin_opt o = {0};
    bool symbolic = false, reusable = false;
    int c;
    while ((c = builtin_getopt(sh, a, "Sp", &o)) != -1) {
        if (c != 'S' && c != 'p')
            return 2;
        symbolic |= c == 'S';
        reusable |= c == 'p';
    }
    if (o.i < a->argc) {
        struct str mode = a->argv[o.i];
        int r = mode.n && mode.p[0] >= '0' && mode.p[0] <= '9' ? set_octal(sh, mode) : set_symbolic(sh, mode.p);
        if (r == 0 && symbolic)
            print_symbolic(sh, sh->p->umask);
        return r;
    }
    if (reusable)
        sh_puts(sh, symbolic ? "umask -S " : "umask ");
    if (symbolic)
        print_symbolic(sh, sh->p->umask);
    else
        sh_printf(sh, "%04o\n", sh->p->umask);
    return 0;
}

BUILTIN(umask, "umask", builtin_umask, BUILTIN_POSIX, "umask [-p] [-S] [mode]",
        "    Print or set the mask of permissions that new files do not get.\n"
        "\n"
        "    mode is octal, or symbolic as of chmod (what is allowed). Without it the mask is printed:\n"
        "      -p  in a form that can be used as input\n"
        "      -S  symbolically\n"
        "\n"
        "    The status is 0 unless mode or an option is wrong.\n");
