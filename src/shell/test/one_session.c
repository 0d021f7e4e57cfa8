/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/test/one_session.h"

#include <errno.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/mem.h"
#include "proc/proc.h"
#include "shell/cmd/cmd.h"
#include "shell/shell.h"

static ssize_t take(void *arg, const void *p, size_t n)
{
    struct buf *out = arg;
    buf_add(out, p, n);
    return (ssize_t)n;
}

/* Runs the set until @p has ended; a set that waits for nothing is stuck. */
static bool run_set(struct proc_set *ps, struct proc *p)
{
    int64_t wake;
    while (!proc_run(ps, p, &wake)) {
        if (wake == INT64_MAX)
            return false;
        int64_t left = wake - clock_mono();
        if (left > 0)
            usleep((useconds_t)(left / 1000 + 1));
    }
    return true;
}

static struct vfs *base_tree(void)
{
    struct vfs_quota quota = {64u << 20, 100000};
    struct vfs *v = vfs_new(&quota);
    size_t n;
    const struct cmd_def *const *all = cmd_all(&n);
    const char **names = mem_alloc((n + 1) * sizeof(*names));
    for (size_t i = 0; i < n; i++)
        names[i] = all[i]->name;
    ASSERT(proc_base_tree(v, names, n, NULL, 0) == 0);
    mem_free(names);
    return v;
}

struct outcome one_session_run(struct str script, uint64_t cpu_ms, struct buf *out)
{
    static const struct vfs_cred cred = {.uid = 0, .gid = 0};
    static char path[] = "PATH=/usr/bin:/bin", home[] = "HOME=/home/user", lc[] = "LC_ALL=C.UTF-8",
                user[] = "USER=user";
    static char name[] = "bash", opt[] = "-c";
    char *env[] = {path, home, lc, user, NULL};
    struct limits limits = limits_default();
    struct outcome o = {.kind = OUTCOME_LOST};
    limits.cpu_ms = cpu_ms;
    limits.memory = 256u << 20;
    struct vfs *v = base_tree();
    struct proc_set *ps = proc_set_new(v, &limits, NULL);
    struct shell_world *w = shell_world_new(ps);
    char *text = mem_dup(script.p, script.n);
    char *argv[] = {name, opt, text, name, NULL};
    struct shell_start start = {.world = w, .argc = 4, .argv = argv, .envp = env};
    struct proc_file *sink = proc_file_sink(ps, false, take, out);
    struct proc *p = NULL;
    proc_provide(ps);
    proc_begin(ps);
    int r = proc_start(ps, &cred, STR("/home/user"), 022, proc_file_text(ps, STR("")), sink, proc_file_ref(sink),
                       shell_main, &start, &p);
    ASSERT(r == 0);
    if (run_set(ps, p))
        o = p->outcome;
    proc_set_free(ps);
    shell_world_free(w);
    vfs_free(v);
    mem_free(text);
    return o;
}
