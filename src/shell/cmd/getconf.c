/* SPDX-License-Identifier: Apache-2.0 */
/* getconf and getent of glibc, for what can be said of a session. */
#include "shell/cmd/cmd.h"

#include <errno.h>
#include <limits.h>

#include "shell/cmd/processes.h"
#include "shell/cmd/system.h"
#include "types/errtab.h"
#include "types/limits.h"

#define PAGE 4096

/* Values of the machine: those of glibc on x86-64 Linux where they are of the C library or the processor, else the
 * session's own limits. NULL: nothing is said about it ("undefined"). */
struct value {
    const char *name, *text;
    unsigned long long n; /* when @text is NULL */
    bool undefined;
};

static const struct value values[] = {
    {"PATH", "/bin:/usr/bin", 0, false},
    {"CS_PATH", "/bin:/usr/bin", 0, false},
    {"GNU_LIBC_VERSION", "glibc 2.36", 0, false},
    {"GNU_LIBPTHREAD_VERSION", "NPTL 2.36", 0, false},
    {"INT_MIN", "-2147483648", 0, false},
    {"CHAR_MIN", "-128", 0, false},
    {"ARG_MAX", NULL, LIMIT_ARGS, false},
    {"PAGE_SIZE", NULL, PAGE, false},
    {"PAGESIZE", NULL, PAGE, false},
    {"LONG_BIT", NULL, 64, false},
    {"WORD_BIT", NULL, 32, false},
    {"CHAR_BIT", NULL, 8, false},
    {"CHAR_MAX", NULL, 127, false},
    {"UCHAR_MAX", NULL, 255, false},
    {"SHRT_MAX", NULL, SHRT_MAX, false},
    {"USHRT_MAX", NULL, USHRT_MAX, false},
    {"INT_MAX", NULL, INT_MAX, false},
    {"UINT_MAX", NULL, UINT_MAX, false},
    {"ULONG_MAX", NULL, ULONG_MAX, false},
    {"OPEN_MAX", NULL, LIMIT_FDS, false},
    {"CLK_TCK", NULL, PROCESS_TICKS, false},
    {"HOST_NAME_MAX", NULL, 64, false},
    {"LOGIN_NAME_MAX", NULL, 256, false},
    {"TTY_NAME_MAX", NULL, 32, false},
    {"_POSIX_VERSION", NULL, 200809, false},
    {"POSIX2_VERSION", NULL, 200809, false},
    {"_POSIX2_VERSION", NULL, 200809, false},
    {"_XOPEN_VERSION", NULL, 700, false},
    {"LINE_MAX", NULL, 2048, false},
    {"IOV_MAX", NULL, 1024, false},
    {"RE_DUP_MAX", NULL, 32767, false},
    {"NZERO", NULL, 20, false},
    {"BC_BASE_MAX", NULL, 99, false},
    {"BC_DIM_MAX", NULL, 2048, false},
    {"BC_SCALE_MAX", NULL, 99, false},
    {"BC_STRING_MAX", NULL, 1000, false},
    {"EXPR_NEST_MAX", NULL, 32, false},
    {"COLL_WEIGHTS_MAX", NULL, 255, false},
    {"TZNAME_MAX", NULL, 0, true},
    {"SYMLOOP_MAX", NULL, 0, true},
};

/* Of a path. */
static const struct value path_values[] = {
    {"NAME_MAX", NULL, LIMIT_NAME, false},
    {"PATH_MAX", NULL, LIMIT_PATH, false},
    {"PIPE_BUF", NULL, 4096, false},
};

static int usage(struct cmd *c)
{
    cmd_err_raw(c, "Usage: getconf [-v specification] variable_name [pathname]\n       getconf -a [pathname]\n");
    return 2;
}

static void print_value(struct cmd *c, const struct value *v)
{
    if (v->undefined)
        cmd_puts(c, "undefined\n");
    else if (v->text)
        cmd_printf(c, "%s\n", v->text);
    else
        cmd_printf(c, "%llu\n", v->n);
}

static int machine_value(struct cmd *c, const char *name)
{
    size_t n;
    unsigned long long v = 0;
    if (strcmp(name, "_NPROCESSORS_ONLN") == 0 || strcmp(name, "_NPROCESSORS_CONF") == 0)
        for (const char *at = system_file(c, "/proc/cpuinfo", &n); at && (at = strstr(at, "processor\t:")); at++)
            v++;
    else if (strcmp(name, "_PHYS_PAGES") == 0)
        v = processes_meminfo(c, "MemTotal") * 1024 / PAGE;
    else if (strcmp(name, "_AVPHYS_PAGES") == 0)
        v = processes_meminfo(c, "MemFree") * 1024 / PAGE;
    else
        return -1;
    cmd_printf(c, "%llu\n", v);
    return 0;
}

static int getconf_main(struct cmd *c)
{
    if (cmd_help_alone(c))
        return 0;
    if (c->argc > 1 && c->argv[1][0] == '-')
        return cmd_refuse(c, "option '%.2s' is not implemented here", c->argv[1]);
    if (c->argc < 2 || c->argc > 3)
        return usage(c);
    const char *name = c->argv[1];
    for (size_t i = 0; i < sizeof path_values / sizeof *path_values; i++) {
        struct vfs_stat st;
        if (strcmp(name, path_values[i].name) != 0)
            continue;
        if (c->argc != 3)
            return usage(c);
        int r = proc_stat(c->p, str_c(c->argv[2]), 0, &st);
        if (r < 0)
            return cmd_err(c, "pathconf: %s: %s", c->argv[2], errtab_text(r)), 3;
        return print_value(c, &path_values[i]), 0;
    }
    if (c->argc != 2)
        return usage(c);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (strcmp(name, values[i].name) == 0)
            return print_value(c, &values[i]), 0;
    if (machine_value(c, name) == 0)
        return 0;
    return cmd_refuse(c, "the variable '%s' is not implemented here", name);
}

CMD(getconf, getconf_main, 2, "Usage: getconf VARIABLE [PATH]\n", "Values of the machine and of a path.\n");

/* ---- getent ---- */

#define TRY "Try `getent --help' or `getent --usage' for more information.\n"

/* The line of a file whose @field (counted from 0, parts are set apart by @sep) is @key; NULL: none. */
static struct str find_line(struct str text, char sep, unsigned field, struct str key)
{
    while (text.n) {
        struct str line =
            str_of(text.p, (size_t)(memchr(text.p, '\n', text.n) ? (const char *)memchr(text.p, '\n', text.n) - text.p
                                                                 : (ptrdiff_t)text.n));
        struct str rest = line;
        for (unsigned i = 0; i <= field; i++) {
            const char *at = memchr(rest.p, sep, rest.n);
            struct str part = str_of(rest.p, at ? (size_t)(at - rest.p) : rest.n);
            if (i == field && str_eq(part, key) && line.p[0] != '#')
                return line;
            if (!at)
                break;
            rest = str_from(rest, part.n + 1);
        }
        text = str_from(text, line.n + (line.n < text.n));
    }
    return (struct str){0};
}

static int print_accounts(struct cmd *c, const char *path)
{
    size_t n;
    const char *text = system_file(c, path, &n);
    int status = 0;
    if (!text)
        return c->argc > 2 ? 2 : 0;
    if (c->argc == 2)
        cmd_write(c, text, n);
    for (int i = 2; i < c->argc; i++) {
        struct str key = str_c(c->argv[i]), line = find_line(str_of(text, n), ':', 0, key);
        uint64_t id;
        if (!line.n && str_u64(key, &id) == 0)
            line = find_line(str_of(text, n), ':', 2, key);
        if (line.n) {
            cmd_write(c, line.p, line.n);
            cmd_putc(c, '\n');
        } else {
            status = 2;
        }
    }
    return status;
}

static const char blanks[] = " \t";

/* A line of /etc/hosts as getent prints it: the address in 15 columns, then the names; false when @key, if there is
 * one, is none of its words. */
static bool print_host(struct cmd *c, struct str line, const char *key)
{
    char *text = arena_dup(c->arena, line.p, line.n), *save = NULL, *words[33];
    size_t n = 0;
    text[strcspn(text, "#")] = 0;
    for (char *w = strtok_r(text, blanks, &save); w && n < 32; w = strtok_r(NULL, blanks, &save))
        words[n++] = w;
    bool hit = key == NULL;
    for (size_t i = 0; i < n && !hit; i++)
        hit = strcmp(words[i], key) == 0;
    if (n < 2 || !hit)
        return false;
    cmd_printf(c, "%-15s", words[0]);
    for (size_t i = 1; i < n; i++)
        cmd_printf(c, " %s", words[i]);
    cmd_putc(c, '\n');
    return true;
}

static int print_hosts(struct cmd *c)
{
    size_t n;
    const char *text = system_file(c, "/etc/hosts", &n);
    int status = 0;
    for (int i = c->argc == 2 ? 1 : 2; i < c->argc; i++) {
        bool any = false;
        struct str rest = str_of(text ? text : "", n);
        while (rest.n && !(any && c->argc > 2)) {
            const char *end = memchr(rest.p, '\n', rest.n);
            size_t len = end ? (size_t)(end - rest.p) : rest.n;
            any = print_host(c, str_of(rest.p, len), c->argc == 2 ? NULL : c->argv[i]) || any;
            rest = str_from(rest, len + (end != NULL));
        }
        status = any || c->argc == 2 ? status : 2;
    }
    return status;
}

static int getent_main(struct cmd *c)
{
    static const char *const others[] = {"ahosts",  "ahostsv4",   "ahostsv6", "aliases",  "ethers",
                                         "gshadow", "initgroups", "netgroup", "networks", "protocols",
                                         "rpc",     "services",   "shadow"};
    if (cmd_help_alone(c))
        return 0;
    if (c->argc > 1 && c->argv[1][0] == '-')
        return cmd_refuse(c, "option '%s' is not implemented here", c->argv[1]);
    if (c->argc < 2) {
        cmd_err(c, "wrong number of arguments");
        cmd_puts(c, TRY);
        return 1;
    }
    const char *base = c->argv[1];
    if (strcmp(base, "passwd") == 0)
        return print_accounts(c, "/etc/passwd");
    if (strcmp(base, "group") == 0)
        return print_accounts(c, "/etc/group");
    if (strcmp(base, "hosts") == 0)
        return print_hosts(c);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(base, others[i]) == 0)
            return cmd_refuse(c, "the database '%s' is not implemented here", base);
    cmd_err_raw(c, arena_printf(c->arena, "Unknown database: %s\n", base));
    cmd_puts(c, TRY);
    return 1;
}

CMD(getent, getent_main, 1, "Usage: getent DATABASE [KEY]...\n", "Entries of passwd, group and hosts.\n");
