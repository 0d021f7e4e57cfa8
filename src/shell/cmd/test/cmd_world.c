/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/test/cmd_world.h"

#include <errno.h>
#include <time.h>

#include "base/clock.h"
#include "base/fd.h"
#include "engine/engine.h"
#include "shell/cmd/cmd.h"

/* ---- the engine of C commands, as the shell has it ---- */

static const struct cmd_def *command_of(const struct exec_image *img)
{
    struct str magic = STR(PROC_COMMAND_MAGIC);
    if (!str_starts(img->head, magic))
        return NULL;
    ptrdiff_t e = str_find(img->head, '\n', magic.n);
    return e < 0 ? NULL : cmd_find(str_of(img->head.p + magic.n, (size_t)e - magic.n));
}

static int claims(void *engine, const struct exec_image *img)
{
    (void)engine;
    return command_of(img) != NULL;
}

static int run(void *engine, struct proc *p, const struct exec_image *img, struct outcome *ret)
{
    (void)engine;
    return cmd_run(command_of(img), p, img, ret);
}

static const struct engine_ops ops = {.name = "builtin", .tier = "isolate", .claims = claims, .run = run};

/* ---- the world ---- */

void cmd_world_init(struct cmd_world *w)
{
    static char *env[] = {(char *)(uintptr_t) "PATH=/usr/bin:/bin", (char *)(uintptr_t) "LC_ALL=C.UTF-8",
                          (char *)(uintptr_t) "HOME=/home/user", NULL};
    struct vfs_quota q = {.bytes = UINT64_C(1) << 32, .inodes = 1000000};
    struct limits l = limits_default();
    size_t n;
    const struct cmd_def *const *defs = cmd_all(&n);
    const char *names[256];
    for (size_t i = 0; i < n; i++)
        names[i] = defs[i]->name;
    *w = (struct cmd_world){.cwd = "/home/user", .env = env, .uid = 1000};
    buf_init(&w->out, 1u << 30);
    buf_init(&w->err, 1u << 30);
    w->v = vfs_new(&q);
    proc_base_tree(w->v, names, n, NULL, 0);
    w->ps = proc_set_new(w->v, &l, NULL);
    proc_provide(w->ps);
    proc_add_engine(w->ps, &ops, NULL);
}

void cmd_world_done(struct cmd_world *w)
{
    proc_set_free(w->ps);
    vfs_free(w->v);
    buf_done(&w->out);
    buf_done(&w->err);
}

static ssize_t take_out(void *arg, const void *p, size_t n)
{
    struct cmd_world *w = arg;
    if (w->closed)
        return -EPIPE;
    if (w->to_host)
        return fd_write_all(1, str_of(p, n)) < 0 ? -EPIPE : (ssize_t)n;
    buf_add(&w->out, p, n);
    return (ssize_t)n;
}

static ssize_t take_err(void *arg, const void *p, size_t n)
{
    struct cmd_world *w = arg;
    if (w->to_host)
        return fd_write_all(2, str_of(p, n)) < 0 ? -EPIPE : (ssize_t)n;
    buf_add(&w->err, p, n);
    return (ssize_t)n;
}

struct start {
    struct cmd_world *w;
    int argc;
    char **argv;
};

static char **env_of(void *arg)
{
    return ((struct cmd_world *)arg)->env;
}

static struct outcome start_main(struct proc *p, void *arg)
{
    struct start *s = arg;
    struct outcome o = {.kind = OUTCOME_EXITED, .code = 127};
    char path[512];
    if (strchr(s->argv[0], '/'))
        snprintf(path, sizeof path, "%s", s->argv[0]);
    else
        snprintf(path, sizeof path, "/usr/bin/%s", s->argv[0]);
    int r = proc_exec(p, str_c(path), s->argc, s->argv, env_of, s->w, &o);
    if (r < 0)
        fprintf(stderr, "# exec %s: %d\n", path, r);
    return o;
}

struct outcome cmd_world_run(struct cmd_world *w, int argc, char **argv, struct str in)
{
    struct start s = {w, argc, argv};
    struct vfs_cred cred = {.uid = w->uid, .gid = w->uid};
    struct proc *p;
    int64_t wake;
    buf_clear(&w->out);
    buf_clear(&w->err);
    proc_begin(w->ps);
    struct proc_feed *feed = NULL;
    struct proc_file *fin;
    if (in.n <= LIMIT_PIPE) { /* as a pipe, which is what a real tool beside it has */
        fin = proc_file_feed(w->ps, false, NULL, NULL, &feed);
        proc_feed_push(feed, in.p, in.n);
        proc_feed_eof(feed);
    } else {
        fin = proc_file_text(w->ps, in);
    }
    struct proc_file *out = proc_file_sink(w->ps, false, take_out, w), *err = proc_file_sink(w->ps, false, take_err, w);
    if (proc_start(w->ps, &cred, str_c(w->cwd), 022, fin, out, err, start_main, &s, &p) < 0)
        return (struct outcome){.kind = OUTCOME_LOST};
    while (!proc_run(w->ps, p, &wake)) {
        int64_t ns = wake - clock_mono();
        if (wake == INT64_MAX)
            return (struct outcome){.kind = OUTCOME_LOST};
        if (ns > 0) {
            struct timespec ts = {ns / CLOCK_S, ns % CLOCK_S};
            nanosleep(&ts, NULL);
        }
    }
    struct outcome o = p->outcome;
    proc_forget(w->ps, p);
    return o;
}
