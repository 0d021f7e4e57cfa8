/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/shell_int.h"

#include <errno.h>

#include "types/errtab.h"

struct enable_flags {
    bool all, off, special;
};

static void list(struct shell *sh, const struct enable_flags *f)
{
    size_t n;
    const struct builtin *const *v = builtin_all(&n);
    for (size_t i = 0; i < n; i++) {
        bool on = builtin_find(sh, str_c(v[i]->name)) != NULL;
        if ((f->special && !(v[i]->flags & BUILTIN_SPECIAL)) || (!f->all && on == f->off))
            continue;
        sh_printf(sh, "enable %s%s\n", on ? "" : "-n ", v[i]->name);
    }
}

static bool file_here(struct shell *sh, struct str path)
{
    struct vfs_ctx ctx = proc_ctx(sh->p);
    struct vfs_stat st;
    return vfs_stat(proc_set_vfs(sh->ps), &ctx, 0, path, 0, &st) == 0;
}

static int builtin_enable_cmd(struct shell *sh, struct builtin_args *a)
{
    struct builtin_opt o = {0};
    struct enable_flags f = {0};
    bool print = false, unload = false;
    struct str load = {0};
    int c, status = 0;
    while ((c = builtin_getopt(sh, a, "adnpsf:", &o)) != -1) {
        if (c == '?')
            return 2;
        f.all |= c == 'a';
        f.off |= c == 'n';
        f.special |= c == 's';
        print |= c == 'p';
        unload |= c == 'd';
        if (c == 'f')
            load = o.arg;
    }
    if ((load.p || unload) && sh_restricted(sh, "enable", NULL))
        return 1;
    if (load.p && o.i < a->argc) {
        sh_error(sh, "enable: cannot open shared object %s: %s: cannot open shared object file: %s", load.p, load.p,
                 errtab_text(file_here(sh, load) ? ENOEXEC : ENOENT));
        return 1;
    }
    if (print || o.i == a->argc) {
        list(sh, &f);
        return 0;
    }
    for (int i = o.i; i < a->argc; i++) {
        const struct builtin *b = builtin_find_any(a->argv[i]);
        if (!b)
            sh_error(sh, "enable: %s: not a shell builtin", a->argv[i].p);
        else if (unload)
            sh_error(sh, "enable: %s: not dynamically loaded", a->argv[i].p);
        else
            builtin_enable(sh, b, !f.off);
        if (!b || unload)
            status = 1;
    }
    return status;
}

BUILTIN(enable, "enable", builtin_enable_cmd, 0, "enable [-a] [-dnps] [-f filename] [name ...]",
        "    Switch builtins on and off, or list them.\n"
        "\n"
        "    A program of the tree is found under the name of a builtin that is off.\n"
        "\n"
        "    -a  list all, those that are off too\n"
        "    -n  switch off; without names, list those that are off\n"
        "    -p  list\n"
        "    -s  list POSIX special builtins only\n"
        "\n"
        "    There are no builtins in files here: -f and -d fail.\n"
        "    The status is 0 unless a name is no builtin.\n");
