/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Command lines: the input's lines are words, the first names one of the commands below, and what follows an empty line
 * is standard input. All run in one small tree of their own. A crash, a hang or a broken tree is a finding.
 */

#include "shell/cmd/test/cmd_world.h"

#include "base/assert.h"

/* Prototype of libFuzzer's entry. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const allowed[] = {
    "base32",   "base64", "basename", "cat",      "chmod", "chown",  "cksum", "comm",  "cp",        "cut",
    "date",     "diff",   "dirname",  "du",       "env",   "expr",   "fold",  "head",  "id",        "join",
    "link",     "ln",     "ls",       "md5sum",   "mkdir", "mktemp", "mv",    "nproc", "od",        "paste",
    "printenv", "pwd",    "readlink", "realpath", "rm",    "rmdir",  "sed",   "seq",   "sha256sum", "sort",
    "split",    "stat",   "sum",      "tac",      "tail",  "tee",    "touch", "tr",    "truncate",  "uname",
    "unexpand", "uniq",   "unlink",   "wc",       "which", "xargs",
};

static bool is_allowed(const char *name)
{
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
        if (strcmp(allowed[i], name) == 0)
            return true;
    return false;
}

/* Following a file or counting to the end of numbers is no hang. */
static bool is_endless(char **argv)
{
    for (; *argv; argv++)
        if (argv[0][0] == '-' && (strchr(argv[0], 'f') || strchr(argv[0], 'F')))
            return true;
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct cmd_world w;
    static unsigned runs;
    char text[512], *argv[16];
    int argc = 0;
    size_t n = 0;
    if (size == 0 || size > 4096)
        return 0;
    while (n < size && n + 1 < sizeof text && argc < 15) {
        size_t from = n;
        while (n < size && n + 1 < sizeof text && data[n] != '\n')
            n++;
        memcpy(text + from, data + from, n - from);
        text[n] = 0;
        if (n == from)
            break;
        argv[argc++] = text + from;
        n++;
    }
    argv[argc] = NULL;
    if (argc == 0 || !is_allowed(argv[0]) ||
        ((strcmp(argv[0], "tail") == 0 || strcmp(argv[0], "seq") == 0) && is_endless(argv)))
        return 0;
    if (runs++ % 512 == 0) {
        if (w.v)
            cmd_world_done(&w);
        cmd_world_init(&w);
        proc_set_limits(w.ps)->cpu_ms = 2000;
        proc_set_limits(w.ps)->output = 1 << 20;
    }
    size_t in = n < size ? n + 1 : size;
    cmd_world_run(&w, argc, argv, in < size ? str_of((const char *)data + in, size - in) : STR("a b\nc\n"));
    const char *what = "";
    ASSERT(runs % 64 != 0 || vfs_check(w.v, &what) == 0);
    return 0;
}
