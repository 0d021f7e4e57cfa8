/* SPDX-License-Identifier: Apache-2.0 */
#include "proc/proc_int.h"

#include <sys/stat.h>

#define TICKS 100 /* USER_HZ: units of times in PID/stat */
#define MAX_DIRS 65536u

/* ---- names of what is open ---- */

/* Looking for the path of an inode: directories are visited breadth first. */
struct search {
    uint64_t want, dir;
    uint64_t *dirs;
    uint32_t n, cap;
    struct buf *name;
};

static int search_entry(void *arg, const struct vfs_dirent *e)
{
    struct search *s = arg;
    if (e->ino == s->want) {
        buf_adds(s->name, e->name);
        return 1;
    }
    if ((e->type & S_IFMT) != S_IFDIR || e->ino >= VFS_PROVIDED)
        return 0;
    if (s->n == s->cap) {
        uint32_t cap = s->cap ? 2 * s->cap : 64;
        if (cap > MAX_DIRS)
            return -ENAMETOOLONG;
        uint64_t *v = mem_try_realloc(s->dirs, cap * sizeof(*v));
        if (!v)
            return -ENOMEM;
        s->dirs = v;
        s->cap = cap;
    }
    s->dirs[s->n++] = e->ino;
    return 0;
}

/* Absolute path of @ino, appended: a file does not know its names, so the tree is searched for the first. -ENOENT when
 * it has none. */
static int path_of(struct vfs *v, uint64_t ino, struct buf *out)
{
    struct vfs_stat st;
    int r = vfs_stat_ino(v, ino, &st);
    if (r < 0)
        return r;
    if (S_ISDIR(st.mode))
        return vfs_dir_path(v, ino, out);
    struct buf name;
    buf_init(&name, LIMIT_NAME + 1);
    struct search s = {.want = ino, .name = &name};
    uint64_t dir = VFS_ROOT_INO;
    uint32_t i = 0;
    while ((r = vfs_dir_each(v, dir, search_entry, &s)) == 0 && i < s.n)
        dir = s.dirs[i++];
    if (r == 0)
        r = -ENOENT;
    if (r > 0) {
        r = vfs_dir_path(v, dir, out);
        if (r == 0 && out->p[out->n - 1] != '/')
            r = buf_putc(out, '/');
        if (r == 0)
            r = buf_adds(out, buf_str(&name));
    }
    buf_done(&name);
    mem_free(s.dirs);
    return r;
}

static int fd_text(const struct proc_file *f, struct buf *out)
{
    if (!f)
        return -ENOENT;
    if (f->h) {
        int r = path_of(f->ps->v, vfs_handle_ino(f->h), out);
        /* What has no name is shown by a text that leads nowhere, so that no open can create it. */
        if (r == -ENOENT)
            return buf_addf(out, "inode:[%llu] (deleted)", (unsigned long long)vfs_handle_ino(f->h));
        return r;
    }
    if (f->tty)
        return buf_addc(out, "/dev/tty");
    if (f->kind == FILE_PIPE)
        return buf_addf(out, "pipe:[%llu]", (unsigned long long)f->pipe->id);
    if (f->kind == FILE_TEXT)
        return buf_addc(out, "memfd:sh-thd (deleted)");
    return buf_addc(out, "pipe:[0]");
}

/* ---- the machine ---- */

static void meminfo(struct proc_set *ps, struct buf *out)
{
    uint64_t total = ps->limits.memory / 1024, used = proc_mem_used(ps) / 1024;
    uint64_t left = total > used ? total - used : 0;
    buf_addf(out, "MemTotal:       %8llu kB\nMemFree:        %8llu kB\nMemAvailable:   %8llu kB\n",
             (unsigned long long)total, (unsigned long long)left, (unsigned long long)left);
    buf_addc(out, "Buffers:               0 kB\nCached:                0 kB\nSwapCached:            0 kB\n"
                  "SwapTotal:             0 kB\nSwapFree:              0 kB\n");
}

static void count_states(const struct proc_set *ps, unsigned *ret_run, unsigned *ret_blocked)
{
    *ret_run = *ret_blocked = 0;
    for (const struct proc *p = ps->all; p; p = p->priv->all_next) {
        *ret_run += p->state == PROC_RUNNING || p->state == PROC_RUNNABLE;
        *ret_blocked += p->state == PROC_BLOCKED;
    }
}

static void uptime(struct proc_set *ps, struct buf *out)
{
    int64_t up = proc_now(ps) - ps->boot_mono, busy = proc_cpu(ps);
    int64_t idle = up > busy ? up - busy : 0;
    buf_addf(out, "%lld.%02lld %lld.%02lld\n", (long long)(up / CLOCK_S), (long long)(up % CLOCK_S / (10 * CLOCK_MS)),
             (long long)(idle / CLOCK_S), (long long)(idle % CLOCK_S / (10 * CLOCK_MS)));
}

static void machine_stat(struct proc_set *ps, struct buf *out)
{
    unsigned run, blocked;
    count_states(ps, &run, &blocked);
    long long busy = (long long)(proc_cpu(ps) / (CLOCK_S / TICKS));
    long long up = (long long)((proc_now(ps) - ps->boot_mono) / (CLOCK_S / TICKS));
    long long idle = up > busy ? up - busy : 0;
    buf_addf(out, "cpu  %lld 0 0 %lld 0 0 0 0 0 0\ncpu0 %lld 0 0 %lld 0 0 0 0 0 0\n", busy, idle, busy, idle);
    buf_addf(out, "btime %lld\nprocesses %llu\nprocs_running %u\nprocs_blocked 0\n",
             (long long)(ps->boot_wall / CLOCK_S), (unsigned long long)ps->usage.processes, run);
}

static void uuid(struct proc_set *ps, struct buf *out)
{
    char text[37];
    set__uuid(ps, text);
    buf_addf(out, "%s\n", text);
}

/* ---- a process ---- */

static char state_letter(const struct proc *p)
{
    switch (p->state) {
    case PROC_RUNNABLE:
    case PROC_RUNNING:
        return 'R';
    case PROC_STOPPED:
        return 'T';
    case PROC_ZOMBIE:
        return 'Z';
    case PROC_BLOCKED:
        break;
    }
    return p->priv->stopped ? 'T' : 'S';
}

static int cmdline(const struct proc *p, struct buf *out)
{
    if (p->argv) {
        for (char **a = p->argv; *a; a++)
            buf_add(out, *a, strlen(*a) + 1);
    } else if (p->priv->cmdline) {
        buf_add(out, p->priv->cmdline->bytes, p->priv->cmdline->n);
    }
    return out->err;
}

/* The environment a program was started with. A process that runs none has its own in variables that only it knows. */
static int environ_text(const struct proc *p, struct buf *out)
{
    if (!p->priv->env)
        return -EACCES;
    char **env = p->priv->env(p->priv->env_arg);
    for (; env && *env; env++)
        buf_add(out, *env, strlen(*env) + 1);
    return out->err;
}

/* proc(5): the fields this machine has no figure for are 0. */
static void pid_stat(const struct proc_set *ps, const struct proc *p, struct buf *out)
{
    const int64_t tick = CLOCK_S / TICKS;
    unsigned n_threads = p->state == PROC_ZOMBIE ? 0 : 1;
    buf_addf(out, "%d (%s) %c %d %d 1 %d %d 0 0 0 0 0 ", p->pid, p->comm, state_letter(p), p->ppid, p->pgid,
             ps->rows ? 136 << 8 : 0, ps->rows ? ps->foreground : -1);
    buf_addf(out, "%lld 0 %lld 0 20 0 %u 0 %lld ", (long long)(p->cpu_ns / tick), (long long)(p->child_cpu_ns / tick),
             n_threads, (long long)((p->start_ns > ps->boot_mono ? p->start_ns - ps->boot_mono : 0) / tick));
    buf_addc(out, "0 0 18446744073709551615 0 0 0 0 0 ");
    buf_addf(out, "%llu %llu %llu %llu 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 %d\n",
             (unsigned long long)(p->sig_pending & 0x7fffffff), (unsigned long long)(p->sig_blocked & 0x7fffffff),
             (unsigned long long)(p->sig_ignored & 0x7fffffff), (unsigned long long)(p->sig_caught & 0x7fffffff),
             p->state == PROC_ZOMBIE ? outcome_status(p->outcome) : 0);
}

static const char *state_name(char letter)
{
    return letter == 'R' ? "running" : letter == 'T' ? "stopped" : letter == 'Z' ? "zombie" : "sleeping";
}

static void pid_status(const struct proc *p, struct buf *out)
{
    char s = state_letter(p);
    buf_addf(out, "Name:\t%s\nUmask:\t%04o\nState:\t%c (%s)\nTgid:\t%d\nNgid:\t0\nPid:\t%d\nPPid:\t%d\nTracerPid:\t0\n",
             p->comm, p->umask, s, state_name(s), p->pid, p->pid, p->ppid);
    unsigned u = p->cred.uid, g = p->cred.gid;
    buf_addf(out, "Uid:\t%u\t%u\t%u\t%u\nGid:\t%u\t%u\t%u\t%u\nFDSize:\t%u\nGroups:\t", u, u, u, u, g, g, g, g,
             p->priv->fd_cap);
    for (uint32_t i = 0; i < p->cred.n_groups; i++)
        buf_addf(out, "%u ", p->cred.groups[i]);
    buf_addf(out,
             "\nThreads:\t1\nSigPnd:\t%016llx\nShdPnd:\t%016x\nSigBlk:\t%016llx\nSigIgn:\t%016llx\nSigCgt:\t%016llx\n",
             (unsigned long long)p->sig_pending, 0u, (unsigned long long)p->sig_blocked,
             (unsigned long long)p->sig_ignored, (unsigned long long)p->sig_caught);
    buf_addc(out, "NoNewPrivs:\t1\nCpus_allowed:\t1\nCpus_allowed_list:\t0\n");
}

static int exe(const struct proc_set *ps, const struct proc *p, struct buf *out)
{
    return p->priv->exe_ino ? path_of(ps->v, p->priv->exe_ino, out) : -ENOENT;
}

static int cwd(const struct proc_set *ps, const struct proc *p, struct buf *out)
{
    if (!p->cwd)
        return -ENOENT;
    int r = vfs_dir_path(ps->v, vfs_handle_ino(p->cwd), out);
    return r == -ENOENT ? buf_addc(out, "(deleted)") : r;
}

/* Blanks and backslashes of a path are octal, so that each line has six words. */
static int mount_line(void *arg, const struct vfs_mount *m)
{
    struct buf *out = arg;
    buf_addc(out, "host ");
    for (size_t i = 0; i < m->path.n; i++) {
        char c = m->path.p[i];
        if (c == ' ' || c == '\t' || c == '\n' || c == '\\')
            buf_addf(out, "\\%03o", (unsigned)c);
        else
            buf_putc(out, c);
    }
    return buf_addf(out, " host %s,relatime 0 0\n", m->read_only ? "ro" : "rw");
}

static int mounts_text(struct proc_set *ps, struct buf *out)
{
    buf_addc(out, "frontal / frontal rw,relatime 0 0\nproc /proc proc rw,nosuid,nodev,noexec,relatime 0 0\n");
    (void)vfs_mount_each(ps->v, mount_line, out); /* what failed is in out->err */
    return out->err;
}

static int process_text(struct proc_set *ps, enum procfs_kind kind, struct proc *p, int fd, struct buf *out)
{
    if (kind == PROCFS_PID_CMDLINE)
        return cmdline(p, out);
    if (kind == PROCFS_PID_COMM)
        return buf_addf(out, "%s\n", p->comm);
    if (kind == PROCFS_PID_CWD)
        return cwd(ps, p, out);
    if (kind == PROCFS_PID_ENVIRON)
        return environ_text(p, out);
    if (kind == PROCFS_PID_EXE)
        return exe(ps, p, out);
    if (kind == PROCFS_PID_ROOT)
        return buf_putc(out, '/');
    if (kind == PROCFS_PID_FD_LINK)
        return fd_text(proc_get(p, fd), out);
    if (kind == PROCFS_PID_MOUNTS)
        return mounts_text(ps, out);
    if (kind == PROCFS_PID_STAT)
        pid_stat(ps, p, out);
    else
        pid_status(p, out);
    return out->err;
}

int procfs__text(struct proc_set *ps, enum procfs_kind kind, struct proc *p, int fd, struct buf *out)
{
    if (p)
        return process_text(ps, kind, p, fd, out);
    unsigned run, blocked;
    const struct proc *me = sched__current(ps);
    if (kind == PROCFS_SELF)
        return me ? buf_addf(out, "%d", me->pid) : -ENOENT;
    if (kind == PROCFS_CPUINFO)
        buf_addf(out, "processor\t: 0\nvendor_id\t: Frontal\nmodel name\t: Frontal Sandbox (%s)\n\n", proc_machine());
    else if (kind == PROCFS_FILESYSTEMS)
        buf_addc(out, "nodev\tfrontal\nnodev\thost\nnodev\tproc\n");
    else if (kind == PROCFS_MEMINFO)
        meminfo(ps, out);
    else if (kind == PROCFS_MOUNTS_LINK)
        buf_addc(out, "self/mounts");
    else if (kind == PROCFS_STAT)
        machine_stat(ps, out);
    else if (kind == PROCFS_UPTIME)
        uptime(ps, out);
    else if (kind == PROCFS_VERSION)
        buf_addc(out, PROC_UTS_SYSNAME " version " PROC_UTS_RELEASE " (frontal@sandbox) " PROC_UTS_VERSION "\n");
    else if (kind == PROCFS_HOSTNAME)
        buf_addc(out, PROC_UTS_NODENAME "\n");
    else if (kind == PROCFS_OSRELEASE)
        buf_addc(out, PROC_UTS_RELEASE "\n");
    else if (kind == PROCFS_OSTYPE)
        buf_addc(out, PROC_UTS_SYSNAME "\n");
    else if (kind == PROCFS_KVERSION)
        buf_addc(out, PROC_UTS_VERSION "\n");
    else if (kind == PROCFS_PID_MAX)
        buf_addf(out, "%d\n", PID_MAX);
    else if (kind == PROCFS_BOOT_ID)
        buf_addf(out, "%s\n", set__boot_id(ps));
    else if (kind == PROCFS_UUID)
        uuid(ps, out);
    else if (kind == PROCFS_LOADAVG) {
        count_states(ps, &run, &blocked);
        buf_addf(out, "0.00 0.00 0.00 %u/%u %d\n", run, ps->n_procs, ps->next_pid - 1);
    } else {
        return -EISDIR;
    }
    return out->err;
}
