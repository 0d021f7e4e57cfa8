/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/options_int.h"

#include <errno.h>

#include "shell/history_int.h"
#include "shell/shell_int.h"

static const struct opt_def opts[] = {
    {"allexport", 'a', OPT_ALLEXPORT},
    {"braceexpand", 'B', OPT_BRACEEXPAND},
    {"emacs", 0, OPT_EMACS},
    {"errexit", 'e', OPT_ERREXIT},
    {"errtrace", 'E', OPT_ERRTRACE},
    {"functrace", 'T', OPT_FUNCTRACE},
    {"hashall", 'h', OPT_HASHALL},
    {"histexpand", 'H', OPT_HISTEXPAND},
    {"history", 0, OPT_HISTORY},
    {"ignoreeof", 0, OPT_IGNOREEOF},
    {"interactive-comments", 0, OPT_INTERACTIVE_COMMENTS},
    {"keyword", 'k', OPT_KEYWORD},
    {"monitor", 'm', OPT_MONITOR},
    {"noclobber", 'C', OPT_NOCLOBBER},
    {"noexec", 'n', OPT_NOEXEC},
    {"noglob", 'f', OPT_NOGLOB},
    {"nolog", 0, OPT_NOLOG},
    {"notify", 'b', OPT_NOTIFY},
    {"nounset", 'u', OPT_NOUNSET},
    {"onecmd", 't', OPT_ONECMD},
    {"physical", 'P', OPT_PHYSICAL},
    {"pipefail", 0, OPT_PIPEFAIL},
    {"posix", 0, OPT_POSIX},
    {"privileged", 'p', OPT_PRIVILEGED},
    {"verbose", 'v', OPT_VERBOSE},
    {"vi", 0, OPT_VI},
    {"xtrace", 'x', OPT_XTRACE},
};
#define N_OPTS (sizeof opts / sizeof opts[0])

static const char *const shopts[SHOPT_COUNT] = {
    "autocd",
    "assoc_expand_once",
    "cdable_vars",
    "cdspell",
    "checkhash",
    "checkjobs",
    "checkwinsize",
    "cmdhist",
    "compat31",
    "compat32",
    "compat40",
    "compat41",
    "compat42",
    "compat43",
    "compat44",
    "complete_fullquote",
    "direxpand",
    "dirspell",
    "dotglob",
    "execfail",
    "expand_aliases",
    "extdebug",
    "extglob",
    "extquote",
    "failglob",
    "force_fignore",
    "globasciiranges",
    "globskipdots",
    "globstar",
    "gnu_errfmt",
    "histappend",
    "histreedit",
    "histverify",
    "hostcomplete",
    "huponexit",
    "inherit_errexit",
    "interactive_comments",
    "lastpipe",
    "lithist",
    "localvar_inherit",
    "localvar_unset",
    "login_shell",
    "mailwarn",
    "no_empty_cmd_completion",
    "nocaseglob",
    "nocasematch",
    "noexpand_translation",
    "nullglob",
    "patsub_replacement",
    "progcomp",
    "progcomp_alias",
    "promptvars",
    "restricted_shell",
    "shift_verbose",
    "sourcepath",
    "varredir_close",
    "xpg_echo",
};

static const enum shopt_index on_at_start[] = {
    SHOPT_CHECKWINSIZE,       SHOPT_CMDHIST,       SHOPT_COMPLETE_FULLQUOTE,
    SHOPT_EXTQUOTE,           SHOPT_FORCE_FIGNORE, SHOPT_GLOBASCIIRANGES,
    SHOPT_GLOBSKIPDOTS,       SHOPT_HOSTCOMPLETE,  SHOPT_INTERACTIVE_COMMENTS,
    SHOPT_PATSUB_REPLACEMENT, SHOPT_PROGCOMP,      SHOPT_PROMPTVARS,
    SHOPT_SOURCEPATH,
};

const struct opt_def *options_all(size_t *ret_n)
{
    *ret_n = N_OPTS;
    return opts;
}

const struct opt_def *options_find(struct str name)
{
    for (size_t i = 0; i < N_OPTS; i++)
        if (str_eqc(name, opts[i].name))
            return &opts[i];
    return NULL;
}

const struct opt_def *options_letter(char c)
{
    for (size_t i = 0; c && i < N_OPTS; i++)
        if (opts[i].letter == c)
            return &opts[i];
    return NULL;
}

static void put_opt(struct shell *sh, uint32_t bit, bool on)
{
    sh->opts = on ? sh->opts | bit : sh->opts & ~bit;
}

static void put_shopt(struct shell *sh, enum shopt_index i, bool on)
{
    uint64_t bit = UINT64_C(1) << i;
    sh->shopts = on ? sh->shopts | bit : sh->shopts & ~bit;
}

void options_set_posix(struct shell *sh, bool on)
{
    put_opt(sh, OPT_POSIX, on);
    put_shopt(sh, SHOPT_EXPAND_ALIASES, on || sh->interactive);
    put_shopt(sh, SHOPT_SHIFT_VERBOSE, on);
    if (on)
        put_shopt(sh, SHOPT_INHERIT_ERREXIT, true);
    shell_lookup_changed(sh);
}

int options_set(struct shell *sh, uint32_t bit, bool on)
{
    if (bit == OPT_POSIX) {
        /* As a variable it is what bash's children see of it. */
        struct sym *s = sym_get(sh, STR("POSIXLY_CORRECT"));
        if (s && on && !var_get(sh, "POSIXLY_CORRECT").p)
            (void)var_set(sh, s, STR("y"));
        else if (s && !on)
            (void)var_unset(sh, s);
        options_set_posix(sh, on);
        return 0;
    }
    put_opt(sh, bit, on);
    if (bit == OPT_HISTORY && on)
        sh_history_begin(sh);
    if (bit == OPT_INTERACTIVE_COMMENTS)
        put_shopt(sh, SHOPT_INTERACTIVE_COMMENTS, on);
    else if (on && (bit == OPT_EMACS || bit == OPT_VI))
        put_opt(sh, bit == OPT_EMACS ? OPT_VI : OPT_EMACS, false);
    return 0;
}

void options_restrict(struct shell *sh)
{
    static const char *const names[] = {"PATH", "SHELL", "ENV", "BASH_ENV", "HISTFILE"};
    for (size_t i = 0; !sh->restricted && i < sizeof names / sizeof names[0]; i++) {
        struct sym *s = sym_get(sh, str_c(names[i]));
        if (s)
            (void)var_attr(sh, s, VAR_READONLY, 0);
    }
    sh->restricted = true;
}

void options_list(struct shell *sh, struct buf *out)
{
    size_t start = out->n;
    for (size_t i = 0; i < N_OPTS; i++) {
        if (!sh_opt(sh, opts[i].bit))
            continue;
        if (out->n > start)
            buf_putc(out, ':');
        buf_addc(out, opts[i].name);
    }
}

void options_flags(const struct shell *sh, struct buf *out)
{
    static const char order[] = "abefhikmnprtuvxBCEHPT";
    for (const char *c = order; *c; c++) {
        const struct opt_def *o = options_letter(*c);
        if (o ? sh_opt(sh, o->bit) : *c == 'i' ? sh->interactive : sh->restricted)
            buf_putc(out, *c);
    }
    if (sh->dash_c)
        buf_putc(out, 'c');
    if (sh->reading_stdin)
        buf_putc(out, 's');
}

const char *options_shopt_name(int i)
{
    return shopts[i];
}

int options_shopt_find(struct str name)
{
    for (int i = 0; i < SHOPT_COUNT; i++)
        if (str_eqc(name, shopts[i]))
            return i;
    return -1;
}

void options_set_shopt(struct shell *sh, int i, bool on)
{
    if (i == SHOPT_LOGIN_SHELL || i == SHOPT_RESTRICTED_SHELL)
        return;
    put_shopt(sh, (enum shopt_index)i, on);
    if (i >= SHOPT_COMPAT31 && i <= SHOPT_COMPAT44 && on)
        for (int k = SHOPT_COMPAT31; k <= SHOPT_COMPAT44; k++)
            put_shopt(sh, (enum shopt_index)k, k == i);
    else if (i == SHOPT_INTERACTIVE_COMMENTS)
        put_opt(sh, OPT_INTERACTIVE_COMMENTS, on);
    else if (i == SHOPT_EXTDEBUG)
        put_opt(sh, OPT_ERRTRACE | OPT_FUNCTRACE, on);
}

void options_list_shopt(struct shell *sh, struct buf *out)
{
    size_t start = out->n;
    for (int i = 0; i < SHOPT_COUNT; i++) {
        if (!sh_shopt(sh, (enum shopt_index)i))
            continue;
        if (out->n > start)
            buf_putc(out, ':');
        buf_addc(out, shopts[i]);
    }
}

void options_init(struct shell *sh)
{
    sh->opts = OPT_BRACEEXPAND | OPT_HASHALL | OPT_INTERACTIVE_COMMENTS;
    sh->shopts = 0;
    for (size_t i = 0; i < sizeof on_at_start / sizeof on_at_start[0]; i++)
        put_shopt(sh, on_at_start[i], true);
}
