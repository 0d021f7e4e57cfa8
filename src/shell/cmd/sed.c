/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/sed_int.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/num.h"
#include "types/errtab.h"

/* The command line of sed. */

enum { O_DEBUG = 256, O_POSIX, O_SANDBOX, O_FOLLOW };

static const struct cmd_opt opts[] = {
    {'b', "binary", CMD_NO_ARG},
    {'r', "regexp-extended", CMD_NO_ARG},
    {O_DEBUG, "debug", CMD_NO_ARG | CMD_REFUSED},
    {'e', "expression", CMD_ARG},
    {'f', "file", CMD_ARG},
    {'i', "in-place", CMD_OPT_ARG},
    {'l', "line-length", CMD_ARG},
    {'z', "null-data", CMD_NO_ARG},
    {'z', "zero-terminated", CMD_NO_ARG},
    {'n', "quiet", CMD_NO_ARG},
    {O_POSIX, "posix", CMD_NO_ARG | CMD_REFUSED},
    {'n', "silent", CMD_NO_ARG},
    {O_SANDBOX, "sandbox", CMD_NO_ARG},
    {'s', "separate", CMD_NO_ARG},
    {'u', "unbuffered", CMD_NO_ARG},
    {O_FOLLOW, "follow-symlinks", CMD_NO_ARG | CMD_REFUSED},
    {'E', NULL, CMD_NO_ARG},
    {0},
};

int sed_fail(struct sed *s, enum sed_status status, const char *fmt, ...)
{
    BUF_AUTO struct buf b;
    va_list ap;
    buf_init(&b, LIMIT_STRING);
    s->status = (int)status;
    if (s->c->p->must_end)
        return -1;
    buf_addf(&b, "%s: ", s->c->name);
    va_start(ap, fmt);
    buf_vaddf(&b, fmt, ap);
    va_end(ap);
    buf_putc(&b, '\n');
    if (!b.err)
        cmd_err_raw(s->c, b.p);
    return -1;
}

int sed_no_memory(struct sed *s)
{
    return sed_fail(s, SED_PANIC, "memory exhausted");
}

/* ---- scripts of the command line ---- */

static int script_file(struct sed *s, const char *name)
{
    BUF_AUTO struct buf b;
    buf_init(&b, LIMIT_SCRIPT);
    bool std_in = strcmp(name, "-") == 0 || strcmp(name, "/dev/stdin") == 0;
    int fd = std_in ? 0 : cmd_open_safe(s->c, name, O_RDONLY, 0);
    if (fd < 0)
        return sed_fail(s, SED_PANIC, "couldn't open file %s: %s", name, errtab_text(fd));
    int r = cmd_read_all(s->c, fd, &b);
    cmd_close_input(s->c, fd);
    if (r < 0)
        return sed_fail(s, SED_PANIC, "read error on %s: %s", name, errtab_text(r));
    /* The tool could not read it again. */
    s->c->written |= std_in;
    return sed_parse(s, arena_str(s->c->keep, buf_str(&b)), name);
}

/* 0 or -1. */
static int option(struct sed *s, int code)
{
    const char *arg = s->c->optarg;
    switch (code) {
    case 'n':
        s->quiet = true;
        return 0;
    case 'e':
        return sed_parse(s, str_c(arg), NULL);
    case 'f':
        return script_file(s, arg);
    case 'z':
        s->delim = 0;
        return 0;
    case 'i':
        s->separate = s->in_place = true;
        s->suffix = arg;
        return 0;
    case 'l':
        s->wrap = (int)strtol(arg, NULL, 10);
        return 0;
    case 'E':
    case 'r':
        s->extended = true;
        return 0;
    case 's':
        s->separate = true;
        return 0;
    case 'u':
        s->unbuffered = true;
        return 0;
    case O_SANDBOX:
        s->sandbox = true;
        return 0;
    default: /* b: files are bytes anyway */
        return 0;
    }
}

static void usage(struct sed *s)
{
    s->status = SED_BAD_USAGE;
    if (cmd_can_hand_over(s->c)) {
        cmd_refuse(s->c, "the usage is the tool's own");
        return;
    }
    cmd_err_raw(s->c, s->c->def->usage);
    cmd_err_raw(s->c, s->c->def->help);
}

/* Reads the options and the script: 0 or -1. */
static int command_line(struct sed *s)
{
    struct cmd *c = s->c;
    int code;
    c->opt_no_try = c->opt_by_tool = true;
    while ((code = cmd_getopt(c, opts, false)) != -1) {
        if (code == -2) {
            s->status = cmd_usage_status(c);
            if (s->status == SED_BAD_USAGE && !c->hand_over)
                usage(s);
            return -1;
        }
        if (option(s, code) < 0)
            return -1;
    }
    if (!s->have_script && c->optind == c->argc) {
        usage(s);
        return -1;
    }
    if (!s->have_script && sed_parse(s, str_c(c->argv[c->optind++]), NULL) < 0)
        return -1;
    return sed_parse_end(s);
}

static int run(struct sed *s)
{
    static char dash[] = "-";
    static char *const std_in[] = {dash, NULL};
    struct cmd *c = s->c;
    if (cmd_getenv(c, "POSIXLY_CORRECT"))
        return cmd_refuse(c, "POSIXLY_CORRECT is not implemented here");
    if (command_line(s) < 0)
        return s->status;
    s->files = c->argv + c->optind;
    if (!*s->files) {
        if (s->in_place)
            return sed_fail(s, SED_PANIC, "no input files"), s->status;
        s->files = (char **)(uintptr_t)std_in;
    }
    return sed_run(s);
}

static int sed_main(struct cmd *c)
{
    struct vfs_stat st;
    struct sed s = {
        .c = c,
        .utf8 = cmd_utf8(c),
        .delim = '\n',
        .wrap = 70,
        .reset_next = true,
        .std_in = {.name = "stdin", .fd = 0},
        .std_out = {.name = "stdout", .fd = 1},
        .dev_out = {.name = "stdout", .fd = 1},
        .dev_err = {.name = "stderr", .fd = 2},
        .edited = {.fd = -1},
        .hold = {.chomped = true},
    };
    const char *cols = cmd_getenv(c, "COLS");
    long width = cols ? strtol(cols, NULL, 10) : 0;
    if (width > 1)
        s.wrap = (int)width - 1;
    s.std_in.regular = proc_fstat(c->p, 0, &st) == 0 && S_ISREG(st.mode);
    s.out = &s.std_out;
    buf_init(&s.pending, LIMIT_SCRIPT);
    int status = run(&s);
    sed_output_done(&s);
    sed_input_done(&s);
    sed_regex_done(&s);
    for (size_t i = 0; i < s.n_appends; i++)
        mem_free(s.appends[i].owned);
    mem_free(s.appends);
    mem_free(s.space.mem);
    mem_free(s.hold.mem);
    mem_free(s.result.mem);
    buf_done(&s.pending);
    if (!c->hand_over && !c->p->must_end && cmd_flush(c) < 0 && !c->p->must_end) {
        c->out_reported = true;
        sed_fail(&s, SED_PANIC, "couldn't flush stdout: %s", errtab_text(c->out_err));
        status = SED_PANIC;
    }
    return status;
}

CMD(sed, sed_main, 1, "Usage: sed [OPTION]... {script-only-if-no-other-script} [input-file]...\n",
    "  -b, --binary                does nothing: files are bytes\n"
    "  -e, --expression=SCRIPT     commands to run\n"
    "  -E, -r, --regexp-extended   extended regular expressions\n"
    "  -f, --file=FILE             commands to run, from FILE\n"
    "  -i, --in-place[=SUFFIX]     edits files in place; keeps the old ones with SUFFIX\n"
    "  -l, --line-length=N         columns of the command l\n"
    "  -n, --quiet, --silent       prints only what commands print\n"
    "  -s, --separate              files are separate streams\n"
    "      --sandbox               refuses the commands e, r and w\n"
    "  -u, --unbuffered            takes and gives line by line\n"
    "  -z, --null-data, --zero-terminated  lines end in NUL\n");
