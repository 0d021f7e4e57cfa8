/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/test/in_shell.h"

#include "base/mem.h"
#include "base/test/test.h"
#include "shell/cmd/cmd.h"
#include "shell/shell_int.h"
#include "shell/start_int.h"

struct job_of_test {
    struct shell_world *w;
    void (*fn)(struct shell *sh);
};

static ssize_t drop(void *arg, const void *p, size_t n)
{
    (void)arg;
    (void)p;
    return (ssize_t)n;
}

static struct outcome test_main(struct proc *p, void *arg)
{
    static char path[] = "PATH=/usr/bin:/bin", lang[] = "LC_ALL=C.UTF-8", name[] = "bash";
    static char *env[] = {path, lang, NULL}, *argv[] = {name, NULL};
    struct job_of_test *j = arg;
    struct shell_start st = {.world = j->w, .argc = 1, .argv = argv, .envp = env};
    struct shell *sh = shell_new(j->w, p);
    struct buf script BUF_AUTO;
    struct str text;
    buf_init(&script, LIMIT_SCRIPT);
    (void)start_prepare(sh, &st, &script, &text);
    j->fn(sh);
    struct outcome o = shell_finish(sh);
    shell_free(sh);
    return o;
}

void in_shell(void (*fn)(struct shell *sh))
{
    static const struct vfs_cred cred = {.uid = 1000, .gid = 1000};
    struct limits limits = limits_default();
    struct vfs *v = vfs_new(&(struct vfs_quota){64u << 20, 100000});
    size_t n;
    const struct cmd_def *const *cmds = cmd_all(&n);
    const char **names = mem_alloc((n + 1) * sizeof *names);
    for (size_t i = 0; i < n; i++)
        names[i] = cmds[i]->name;
    CHECK_INT(proc_base_tree(v, names, n, NULL, 0), 0);
    mem_free(names);
    struct proc_set *ps = proc_set_new(v, &limits, NULL);
    struct job_of_test j = {shell_world_new(ps), fn};
    struct proc_file *sink = proc_file_sink(ps, false, drop, NULL);
    struct proc *p;
    int64_t wake;
    proc_begin(ps);
    CHECK_INT(proc_start(ps, &cred, STR("/home/user"), 022, proc_file_text(ps, STR("")), sink, proc_file_ref(sink),
                         test_main, &j, &p),
              0);
    for (int turns = 0; !proc_run(ps, p, &wake) && turns < 10000; turns++)
        usleep(1000);
    CHECK_INT(p->outcome.kind, OUTCOME_EXITED);
    const char *what = NULL;
    CHECK_INT(proc_check(ps, &what), 0);
    CHECK_INT(vfs_check(v, &what), 0);
    proc_set_free(ps);
    shell_world_free(j.w);
    vfs_free(v);
}
