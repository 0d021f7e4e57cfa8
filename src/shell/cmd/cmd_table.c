/* SPDX-License-Identifier: Apache-2.0 */
/* The options of a command, for those who list them: its own table, as it gives it to cmd_getopt(), or its help. */
#include "shell/cmd/cmd.h"

#include <stdlib.h>

#include "base/num.h"
#include "engine/engine.h"

/* Commands that read their words themselves: what they take is in their help. Sorted. */
static const char *const by_hand[] = {
    "[",      "bash", "clear", "echo", "false", "find", "getconf", "getent", "hostname", "kill",  "less", "more",
    "printf", "ps",   "reset", "sh",   "stty",  "sudo", "test",    "tput",   "true",     "which", "xxd",
};

static int by_name(const void *key, const void *element)
{
    return strcmp(key, *(const char *const *)element);
}

/* Runs @def until it asks for its first option, which it does before anything else. */
static const struct cmd_opt *ask(const struct cmd_def *def)
{
    char *argv[] = {(char *)(uintptr_t)def->name, NULL};
    struct arena arena, keep;
    struct proc p = {0};
    const struct exec_image img = {.argc = 1, .argv = argv};
    arena_init(&arena);
    arena_init(&keep);
    struct cmd c = {
        .p = &p,
        .def = def,
        .name = def->name,
        .argc = 1,
        .argv = argv,
        .arena = &arena,
        .keep = &keep,
        .img = &img,
        .optind = 1,
        .ask_table = true,
        .utf8_known = true,
    };
    (void)def->main(&c);
    arena_done(&arena);
    arena_done(&keep);
    return c.table;
}

const struct cmd_opt *cmd_table(const struct cmd_def *def)
{
    if (bsearch(def->name, by_hand, sizeof by_hand / sizeof *by_hand, sizeof *by_hand, by_name))
        return NULL;
    return ask(def);
}

static bool word_char(char ch)
{
    return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') || ch == '-' || ch == '_';
}

/* Where the word that begins at @i ends. */
static size_t word_end(const char *line, size_t n, size_t i)
{
    while (i < n && word_char(line[i]))
        i++;
    return i;
}

/* Behind an option: the next one, after further words of its argument ("-exec COMMAND ;"). Two blanks end the column.
 */
static size_t next_option(const char *line, size_t n, size_t i)
{
    while (i + 1 < n && line[i] == ' ' && line[i + 1] != ' ') {
        if (line[++i] == '-')
            return i;
        i += strcspn(line + i, " \n");
    }
    return n;
}

struct found {
    void (*fn)(void *arg, const struct cmd_opt *o);
    void *arg;
    int code, kind; /* a short option that may have a long name; 0: none */
};

static void give_short(struct found *f)
{
    if (f->code)
        f->fn(f->arg, &(struct cmd_opt){f->code, NULL, f->kind});
    f->code = 0;
}

/* The options that the column on the left of a line of help names: "-x, --long=ARG", "-x ARG", "-name ARG -name". A
 * long name belongs to the short one before it. */
static void help_line(const char *line, size_t n, void (*fn)(void *arg, const struct cmd_opt *o), void *arg)
{
    struct found f = {fn, arg, 0, 0};
    const char *heading = line[0] == ' ' ? NULL : strstr(line, ":  -");
    size_t i = heading && heading < line + n ? (size_t)(heading - line) + 3 : strspn(line, " ");
    while (i < n && line[i] == '-') {
        char name[64] = "";
        bool is_long = line[i + 1] == '-';
        size_t k = i + 1 + is_long, end = word_end(line, n, k), len = NUM_MIN(end - k, sizeof name - 1);
        memcpy(name, line + k, len);
        bool optional = end < n && line[end] == '[';
        bool word = end + 1 < n && line[end] == ' ' && line[end + 1] != ' ' && line[end + 1] != '-';
        int kind = optional ? CMD_OPT_ARG : word || (end < n && line[end] == '=') ? CMD_ARG : CMD_NO_ARG;
        end += word;
        end += strcspn(line + end, " ,\n");
        if (is_long || len > 1) {
            fn(arg, &(struct cmd_opt){f.code && is_long ? f.code : 256, name, is_long ? kind : kind | CMD_ONE_DASH});
            f.code = is_long ? 0 : f.code;
        } else {
            give_short(&f);
            f.code = len ? (unsigned char)name[0] : 0;
            f.kind = kind;
        }
        end += end < n && line[end] == ',';
        i = next_option(line, n, end);
    }
    give_short(&f);
}

void cmd_options(const struct cmd_def *def, void (*fn)(void *arg, const struct cmd_opt *o), void *arg)
{
    const struct cmd_opt *t = cmd_table(def);
    for (; t && t->code != 0; t++)
        fn(arg, t);
    if (cmd_table(def))
        return;
    for (const char *line = def->help; *line;) {
        size_t n = strcspn(line, "\n");
        help_line(line, n, fn, arg);
        line += n + (line[n] == '\n');
    }
}
