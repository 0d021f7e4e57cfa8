/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/processes.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/num.h"
#include "shell/cmd/cmd.h"
#include "shell/cmd/system.h"

static int by_pid(const void *a, const void *b)
{
    const struct process *x = a, *y = b;
    return (x->pid > y->pid) - (x->pid < y->pid);
}

/* /proc/PID/stat: the name stands in brackets and may hold any byte, so the last bracket ends it. */
static bool read_stat(struct cmd *c, struct process *p)
{
    size_t n;
    const char *text = system_file(c, arena_printf(c->arena, "/proc/%d/stat", p->pid), &n);
    const char *open = text ? strchr(text, '(') : NULL, *close = text ? strrchr(text, ')') : NULL;
    if (!open || !close || close < open || !close[1])
        return false;
    p->comm = arena_dup(c->arena, open + 1, (size_t)(close - open - 1));
    unsigned long long utime = 0, stime = 0, start = 0, vsize = 0;
    long long rss = 0;
    int got = sscanf(close + 2, "%c %d %d %d %d %d %*s %*s %*s %*s %*s %llu %llu %*s %*s %d %d %d %*s %llu %llu %lld",
                     &p->state, &p->ppid, &p->pgid, &p->sid, &p->tty, &p->tpgid, &utime, &stime, &p->priority, &p->nice,
                     &p->threads, &start, &vsize, &rss);
    p->cpu = utime + stime;
    p->start = start;
    p->vsize = vsize;
    p->rss = rss > 0 ? (uint64_t)rss : 0;
    return got == 14;
}

static void read_args(struct cmd *c, struct process *p)
{
    size_t n;
    const char *text = system_file(c, arena_printf(c->arena, "/proc/%d/cmdline", p->pid), &n);
    if (!text || n == 0) {
        p->args = arena_printf(c->arena, p->state == 'Z' ? "[%s] <defunct>" : "[%s]", p->comm);
        return;
    }
    char *args = arena_dup(c->arena, text, n - (text[n - 1] == 0));
    for (size_t i = 0; i + 1 < n; i++)
        if (args[i] == 0)
            args[i] = ' ';
        else if ((unsigned char)args[i] < ' ' || args[i] == 0x7f)
            args[i] = '?';
    p->args = args;
}

struct pids {
    struct cmd *c;
    struct process *v;
    size_t n, cap;
};

static int add_pid(void *arg, const struct vfs_dirent *e)
{
    struct pids *l = arg;
    uint64_t pid;
    if (str_u64(e->name, &pid) < 0 || pid > INT32_MAX)
        return 0;
    if (l->n == l->cap) {
        size_t cap = l->cap ? 2 * l->cap : 32;
        struct process *v = arena_alloc(l->c->arena, cap * sizeof *v);
        if (l->n)
            memcpy(v, l->v, l->n * sizeof *v);
        l->v = v;
        l->cap = cap;
    }
    l->v[l->n++] = (struct process){.pid = (int)pid};
    return 0;
}

struct process *processes_read(struct cmd *c, size_t *ret_n)
{
    struct pids l = {.c = c};
    struct vfs_ctx ctx = cmd_ctx(c);
    uint64_t dir;
    *ret_n = 0;
    if (vfs_lookup(cmd_vfs(c), &ctx, 0, STR("/proc"), VFS_DIRECTORY, &dir) < 0 ||
        vfs_dir_each(cmd_vfs(c), dir, add_pid, &l) < 0)
        return NULL;
    size_t n = 0;
    for (size_t i = 0; i < l.n; i++) {
        struct process *p = &l.v[n];
        struct vfs_stat st;
        *p = (struct process){.pid = l.v[i].pid};
        if (proc_stat(c->p, str_c(arena_printf(c->arena, "/proc/%d", p->pid)), 0, &st) < 0 || !read_stat(c, p))
            continue;
        p->uid = st.uid;
        p->gid = st.gid;
        read_args(c, p);
        n++;
    }
    if (n)
        qsort(l.v, n, sizeof *l.v, by_pid);
    *ret_n = n;
    return l.v;
}

double processes_uptime(struct cmd *c)
{
    size_t n;
    const char *text = system_file(c, "/proc/uptime", &n);
    return text ? strtod(text, NULL) : 0;
}

int64_t processes_boot(struct cmd *c)
{
    size_t n;
    const char *text = system_file(c, "/proc/stat", &n), *at = text ? strstr(text, "\nbtime ") : NULL;
    return at ? strtoll(at + 7, NULL, 10) : 0;
}

uint64_t processes_meminfo(struct cmd *c, const char *key)
{
    size_t n, k = strlen(key);
    for (const char *at = system_file(c, "/proc/meminfo", &n); at && *at; at = strchr(at, '\n'), at += at != NULL)
        if (strncmp(at, key, k) == 0 && at[k] == ':')
            return strtoull(at + k + 1, NULL, 10);
    return 0;
}

const char *processes_tty(const struct process *p)
{
    return p->tty ? "pts/0" : "?";
}

int processes_pid_digits(struct cmd *c)
{
    const char *max = system_text(c, "pid_max");
    long v = max ? strtol(max, NULL, 10) - 1 : 0;
    int n = 0;
    for (; v > 0; v /= 10)
        n++;
    return NUM_MAX(n, 5);
}

int processes_usage(struct cmd *c)
{
    int status = cmd_usage_status(c);
    if (status != 0 && !c->hand_over)
        cmd_err_raw(c, arena_printf(c->arena, "\n%s\n%s", c->def->usage, c->def->help));
    return status;
}
