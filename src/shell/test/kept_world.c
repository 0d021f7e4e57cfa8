/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/test/kept_world.h"

#include <errno.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/mem.h"
#include "proc/proc.h"
#include "shell/cmd/cmd.h"
#include "shell/shell_int.h"
#include "shell/start_int.h"

struct kept_world {
    struct vfs *tree;
    struct proc_set *ps;
    struct shell_world *shells;
    struct limits limits;
    struct buf *state; /* of the running shell */
    int saved;
};

struct kept_world *kept_world_new(void)
{
    struct kept_world *w = mem_zalloc(sizeof *w);
    struct vfs_quota quota = {64u << 20, 100000};
    size_t n;
    const struct cmd_def *const *all = cmd_all(&n);
    const char **names = mem_alloc((n + 1) * sizeof *names);
    for (size_t i = 0; i < n; i++)
        names[i] = all[i]->name;
    w->tree = vfs_new(&quota);
    ASSERT(proc_base_tree(w->tree, names, n, NULL, 0) == 0);
    mem_free(names);
    w->limits = limits_default();
    w->limits.memory = 256u << 20;
    w->limits.cpu_ms = 20000;
    w->ps = proc_set_new(w->tree, &w->limits, NULL);
    w->shells = shell_world_new(w->ps);
    ASSERT(w->shells && proc_provide(w->ps) == 0);
    return w;
}

void kept_world_free(struct kept_world *w)
{
    const char *what = NULL;
    ASSERT(proc_check(w->ps, &what) == 0 && vfs_check(w->tree, &what) == 0);
    proc_set_free(w->ps);
    shell_world_free(w->shells);
    vfs_free(w->tree);
    mem_free(w);
}

static ssize_t take(void *arg, const void *p, size_t n)
{
    buf_add(arg, p, n);
    return (ssize_t)n;
}

static void save(void *arg, struct shell *sh)
{
    struct kept_world *w = arg;
    buf_clear(w->state);
    w->saved = shell_save(sh, w->state);
}

static struct outcome idle_main(struct proc *p, void *arg)
{
    const struct shell_start *st = arg;
    struct shell *sh = shell_new(st->world, p);
    struct buf script BUF_AUTO;
    struct str text;
    buf_init(&script, LIMIT_SCRIPT);
    (void)start_prepare(sh, st, &script, &text);
    save(st->keep->arg, sh);
    shell_free(sh);
    return (struct outcome){.kind = OUTCOME_EXITED};
}

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

struct outcome kept_world_run(struct kept_world *w, const struct kept_run *run, struct buf *out, struct buf *state,
                              int *ret_saved)
{
    static const struct vfs_cred cred = {.uid = 0, .gid = 0};
    static char path[] = "PATH=/usr/bin:/bin", home[] = "HOME=/home/user", lang[] = "LC_ALL=C.UTF-8", bash[] = "bash",
                user[] = "USER=user", opt[] = "-c";
    char *env[] = {path, home, lang, user, NULL}, *argv[6] = {bash}, *words[3] = {NULL};
    struct shell_keep keep = {
        .state = run->state, .env = run->env, .exports_only = run->exports, .ended = save, .arg = w};
    struct shell_start start = {.world = w->shells, .argc = 1, .argv = argv, .envp = env};
    struct outcome o = {.kind = OUTCOME_LOST};
    const char *const given[] = {run->text, run->name, run->arg};
    if (run->text)
        argv[start.argc++] = opt;
    for (int i = 0; i < 3; i++)
        if (given[i])
            argv[start.argc++] = words[i] = mem_dup(given[i], strlen(given[i]));
    if (run->script) {
        start.has_script = true;
        start.script = str_c(run->script);
        start.script_name = "script";
    }
    if (!run->plain)
        start.keep = &keep;
    w->state = state;
    w->saved = -ECHILD;
    struct proc_file *sink = proc_file_sink(w->ps, false, take, out);
    struct proc *p = NULL;
    proc_begin(w->ps);
    int r = proc_start(w->ps, &cred, STR("/"), 022, proc_file_text(w->ps, str_c(run->input ? run->input : "")), sink,
                       proc_file_ref(sink), run->idle ? idle_main : shell_main, &start, &p);
    ASSERT(r == 0);
    if (run_set(w->ps, p)) {
        o = p->outcome;
        proc_forget(w->ps, p);
    }
    *ret_saved = w->saved;
    for (int i = 0; i < 3; i++)
        mem_free(words[i]);
    return o;
}
