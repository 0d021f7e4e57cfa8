/* SPDX-License-Identifier: Apache-2.0 */
/* eval, . and source. */
#include "shell/shell_int.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/num.h"
#include "shell/start_int.h"
#include "types/errtab.h"

static int builtin_eval(struct shell *sh, struct builtin_args *a)
{
    struct builtin_opt o = {0};
    if (builtin_getopt(sh, a, "", &o) != -1)
        return sh_misused(sh, 2);
    size_t n = 0;
    for (int i = o.i; i < a->argc; i++)
        if (!num_add(n, a->argv[i].n + 1, &n))
            return 1;
    char *text = arena_try(&sh->scratch, n + 1), *p = text;
    if (!text)
        return 1;
    for (int i = o.i; i < a->argc; i++) {
        memcpy(p, a->argv[i].p, a->argv[i].n);
        p += a->argv[i].n;
        if (i + 1 < a->argc)
            *p++ = ' ';
    }
    *p = 0;
    if (p == text)
        return 0;
    return exec_text(sh, str_of(text, (size_t)(p - text)), sh->line, "eval");
}

BUILTIN(eval, "eval", builtin_eval, BUILTIN_SPECIAL | BUILTIN_TEXT, "eval [arg ...]",
        "    Join the arguments with blanks and run the result as commands of this shell.\n"
        "\n"
        "    The status is that of the commands, or 0 when there are none.\n");

/* PATH is searched for a name without a slash (readable is enough), then the current directory outside posix mode. */
static struct str find_file(struct shell *sh, struct str name)
{
    if (memchr(name.p, '/', name.n) || !sh_shopt(sh, SHOPT_SOURCEPATH))
        return name;
    struct vfs *v = proc_set_vfs(sh->ps);
    struct vfs_ctx ctx = proc_ctx(sh->p);
    struct str path = var_get(sh, "PATH");
    const char *p = path.p;
    while (p && *p) {
        const char *end = strchr(p, ':');
        size_t n = end ? (size_t)(end - p) : strlen(p);
        struct str full = str_c(arena_printf(&sh->scratch, "%.*s%s%s", (int)n, p, n ? "/" : "./", name.p));
        struct vfs_stat st;
        if (vfs_stat(v, &ctx, 0, full, 0, &st) == 0 && !S_ISDIR(st.mode) && vfs_access(v, &ctx, 0, full, R_OK, 0) == 0)
            return full;
        p = end ? end + 1 : NULL;
    }
    return sh_opt(sh, OPT_POSIX) ? (struct str){0} : name;
}

static int cannot_read(struct shell *sh, const char *who, struct str name, int err)
{
    if (err == -EISDIR)
        sh_error(sh, "%s: %s: is a directory", who, name.p);
    else if (!name.p)
        sh_error(sh, "%s: %s: file not found", who, errtab_text(err));
    else
        sh_errno(sh, err, "%s", name.p);
    return sh_misused(sh, 1);
}

static int builtin_source(struct shell *sh, struct builtin_args *a)
{
    const char *who = a->argv[0].p;
    struct builtin_opt o = {0};
    if (builtin_getopt(sh, a, "", &o) != -1)
        return sh_misused(sh, 2);
    if (o.i >= a->argc) {
        sh_error(sh, "%s: filename argument required", who);
        return sh_misused(sh, builtin_usage(sh, builtin_find_any(a->argv[0])));
    }
    struct str name = a->argv[o.i];
    if (memchr(name.p, '/', name.n) && sh_restricted(sh, who, name.p))
        return 1;
    struct str file = find_file(sh, name);
    if (!file.p) {
        sh_error(sh, "%s: %s: file not found", who, name.p);
        return sh_misused(sh, 1);
    }
    struct buf text BUF_AUTO;
    buf_init(&text, LIMIT_SCRIPT);
    int r = start_read_file(sh, file, &text);
    if (r < 0)
        return cannot_read(sh, who, file, r);
    struct posargs args = {.refs = 1, .n = (uint32_t)(a->argc - o.i - 1), .v = a->argv + o.i + 1};
    return exec_source(sh, buf_str(&text), file, args.n ? &args : NULL);
}

#define SOURCE_HELP                                                                                                    \
    "    Run the commands of a file in this shell. A name without a slash is looked for in PATH, then here.\n"         \
    "    Arguments become the positional parameters while the file runs.\n"                                            \
    "\n"                                                                                                               \
    "    The status is that of the last command, or 1 when the file cannot be read.\n"

BUILTIN(source, "source", builtin_source, BUILTIN_SPECIAL | BUILTIN_TEXT, "source filename [arguments]", SOURCE_HELP);
BUILTIN(dot, ".", builtin_source, BUILTIN_SPECIAL | BUILTIN_TEXT, ". filename [arguments]", SOURCE_HELP);
