/* SPDX-License-Identifier: Apache-2.0 */
/* locale of glibc, for the locales that there are: C, C.UTF-8 and POSIX. */
#include "shell/cmd/cmd.h"

static const struct cmd_opt opts[] = {
    {'a', "all-locales", CMD_NO_ARG},
    {'m', "charmaps", CMD_NO_ARG | CMD_REFUSED},
    {'c', "category-name", CMD_NO_ARG | CMD_REFUSED},
    {'k', "keyword-name", CMD_NO_ARG},
    {'v', "verbose", CMD_NO_ARG | CMD_REFUSED},
    {'V', NULL, CMD_NO_ARG | CMD_REFUSED},
    {0},
};

static const char *const categories[] = {
    "LC_CTYPE", "LC_NUMERIC", "LC_TIME",    "LC_COLLATE",   "LC_MONETARY",    "LC_MESSAGES",
    "LC_PAPER", "LC_NAME",    "LC_ADDRESS", "LC_TELEPHONE", "LC_MEASUREMENT", "LC_IDENTIFICATION",
};

static const char *value(struct cmd *c, const char *name)
{
    const char *v = cmd_getenv(c, name);
    return v ? v : "";
}

/* A value of LC_ALL stands for each category, what a category has is its own, and what LANG gives it is in quotes. */
static int print_all(struct cmd *c)
{
    const char *all = value(c, "LC_ALL"), *lang = value(c, "LANG");
    cmd_printf(c, "LANG=%s\nLANGUAGE=%s\n", lang, value(c, "LANGUAGE"));
    for (size_t i = 0; i < sizeof categories / sizeof *categories; i++) {
        const char *own = value(c, categories[i]);
        if (!*all && *own)
            cmd_printf(c, "%s=%s\n", categories[i], own);
        else
            cmd_printf(c, "%s=\"%s\"\n", categories[i], *all ? all : *lang ? lang : "POSIX");
    }
    cmd_printf(c, "LC_ALL=%s\n", all);
    return 0;
}

/* What is the same in all of them. */
static const struct {
    const char *name, *text;
} keywords[] = {
    {"decimal_point", "."}, {"thousands_sep", ""}, {"yesexpr", "^[yY]"},
    {"noexpr", "^[nN]"},    {"yesstr", ""},        {"nostr", ""},
    {"d_fmt", "%m/%d/%y"},  {"t_fmt", "%H:%M:%S"}, {"d_t_fmt", "%a %b %e %H:%M:%S %Y"},
};

static int print_keyword(struct cmd *c, const char *name, bool with_name)
{
    if (strcmp(name, "charmap") == 0) {
        cmd_printf(c, with_name ? "charmap=\"%s\"\n" : "%s\n", cmd_utf8(c) ? "UTF-8" : "ANSI_X3.4-1968");
        return 0;
    }
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (strcmp(name, keywords[i].name) == 0) {
            if (with_name)
                cmd_printf(c, "%s=\"%s\"\n", name, keywords[i].text);
            else
                cmd_printf(c, "%s\n", keywords[i].text);
            return 0;
        }
    return cmd_refuse(c, "'%s' is not implemented here", name);
}

static int locale_main(struct cmd *c)
{
    bool list = false, names = false;
    int o, status = 0;
    while ((o = cmd_getopt(c, opts, false)) >= 0) {
        list = list || o == 'a';
        names = names || o == 'k';
    }
    if (o == -2)
        return cmd_usage_status(c);
    if (list) {
        cmd_puts(c, "C\nC.utf8\nPOSIX\n");
        return 0;
    }
    if (c->optind == c->argc)
        return names ? 0 : print_all(c);
    for (int i = c->optind; i < c->argc && status == 0; i++)
        status = print_keyword(c, c->argv[i], names);
    return status;
}

CMD(locale, locale_main, 1, "Usage: locale [OPTION]... [NAME]...\n",
    "  -a, --all-locales   the locales that there are\n  -k, --keyword-name  names before values\n");
