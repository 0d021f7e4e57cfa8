/* SPDX-License-Identifier: Apache-2.0 */
#include "proc/proc_int.h"

#include <sys/stat.h>

/*
 * /proc as a provider of the tree. A node's number holds all that it is: pid, kind and descriptor; the root has to
 * be 1.
 */

#define FD_BITS 10
#define KIND_BITS 6

_Static_assert(LIMIT_FDS <= 1 << FD_BITS, "a descriptor fits its field");
_Static_assert(PROCFS_PID_FD_LINK < 1 << KIND_BITS, "a kind fits its field");

struct entry {
    const char *name;
    enum procfs_kind dir, kind;
    uint32_t mode;
};

#define DIR_MODE (S_IFDIR | 0555)
#define FILE_MODE (S_IFREG | 0444)
#define LINK_MODE (S_IFLNK | 0777)

/* In byte order of names within a directory. */
static const struct entry entries[] = {
    {"cpuinfo", PROCFS_ROOT, PROCFS_CPUINFO, FILE_MODE},
    {"filesystems", PROCFS_ROOT, PROCFS_FILESYSTEMS, FILE_MODE},
    {"loadavg", PROCFS_ROOT, PROCFS_LOADAVG, FILE_MODE},
    {"meminfo", PROCFS_ROOT, PROCFS_MEMINFO, FILE_MODE},
    {"mounts", PROCFS_ROOT, PROCFS_MOUNTS_LINK, LINK_MODE},
    {"self", PROCFS_ROOT, PROCFS_SELF, LINK_MODE},
    {"stat", PROCFS_ROOT, PROCFS_STAT, FILE_MODE},
    {"sys", PROCFS_ROOT, PROCFS_SYS, DIR_MODE},
    {"uptime", PROCFS_ROOT, PROCFS_UPTIME, FILE_MODE},
    {"version", PROCFS_ROOT, PROCFS_VERSION, FILE_MODE},
    {"kernel", PROCFS_SYS, PROCFS_KERNEL, DIR_MODE},
    {"hostname", PROCFS_KERNEL, PROCFS_HOSTNAME, FILE_MODE},
    {"osrelease", PROCFS_KERNEL, PROCFS_OSRELEASE, FILE_MODE},
    {"ostype", PROCFS_KERNEL, PROCFS_OSTYPE, FILE_MODE},
    {"pid_max", PROCFS_KERNEL, PROCFS_PID_MAX, FILE_MODE},
    {"random", PROCFS_KERNEL, PROCFS_RANDOM, DIR_MODE},
    {"version", PROCFS_KERNEL, PROCFS_KVERSION, FILE_MODE},
    {"boot_id", PROCFS_RANDOM, PROCFS_BOOT_ID, FILE_MODE},
    {"uuid", PROCFS_RANDOM, PROCFS_UUID, FILE_MODE},
    {"cmdline", PROCFS_PID, PROCFS_PID_CMDLINE, FILE_MODE},
    {"comm", PROCFS_PID, PROCFS_PID_COMM, FILE_MODE},
    {"cwd", PROCFS_PID, PROCFS_PID_CWD, LINK_MODE},
    {"environ", PROCFS_PID, PROCFS_PID_ENVIRON, S_IFREG | 0400},
    {"exe", PROCFS_PID, PROCFS_PID_EXE, LINK_MODE},
    {"fd", PROCFS_PID, PROCFS_PID_FD, S_IFDIR | 0500},
    {"mounts", PROCFS_PID, PROCFS_PID_MOUNTS, FILE_MODE},
    {"root", PROCFS_PID, PROCFS_PID_ROOT, LINK_MODE},
    {"stat", PROCFS_PID, PROCFS_PID_STAT, FILE_MODE},
    {"status", PROCFS_PID, PROCFS_PID_STATUS, FILE_MODE},
};

#define N_ENTRIES (sizeof(entries) / sizeof(entries[0]))

static uint64_t make_id(int pid, enum procfs_kind kind, int fd)
{
    if (kind == PROCFS_ROOT)
        return 1;
    return (uint64_t)pid << (FD_BITS + KIND_BITS) | (uint64_t)kind << FD_BITS | (uint64_t)fd;
}

static void split_id(uint64_t id, int *pid, enum procfs_kind *kind, int *fd)
{
    *pid = (int)(id >> (FD_BITS + KIND_BITS));
    *kind = id == 1 ? PROCFS_ROOT : (enum procfs_kind)(id >> FD_BITS & ((1u << KIND_BITS) - 1));
    *fd = (int)(id & ((1u << FD_BITS) - 1));
}

int procfs__last_is_fd(const struct proc_set *ps, int *ret_pid, int *ret_fd)
{
    enum procfs_kind kind;
    if (!ps->procfs_last)
        return 0;
    split_id(ps->procfs_last, ret_pid, &kind, ret_fd);
    return kind == PROCFS_PID_FD_LINK;
}

/* A number as a directory of processes or descriptors names it: no sign, no leading zero. */
static int parse_number(struct str name, int max)
{
    uint64_t v;
    if (name.n > 1 && name.p[0] == '0')
        return -1;
    return str_u64(name, &v) == 0 && v <= (uint64_t)max ? (int)v : -1;
}

/* Linux shows the access an open file has as the link's bits. */
static uint32_t fd_mode(const struct proc_file *f)
{
    return S_IFLNK | 0100 | (f->readable ? 0400u : 0) | (f->writable ? 0200u : 0);
}

static int lookup(void *arg, uint64_t id, struct str name, uint64_t *ret_id, uint32_t *ret_mode)
{
    struct proc_set *ps = arg;
    enum procfs_kind kind;
    int pid, fd;
    split_id(id, &pid, &kind, &fd);
    struct proc *p = pid ? life__find(ps, pid) : NULL;
    if (pid && !p)
        return -ENOENT;
    for (size_t i = 0; i < N_ENTRIES; i++)
        if (entries[i].dir == kind && str_eqc(name, entries[i].name)) {
            if (entries[i].kind == PROCFS_SELF && !sched__current(ps))
                return -ENOENT;
            *ret_id = ps->procfs_last = make_id(pid, entries[i].kind, 0);
            *ret_mode = entries[i].mode;
            return 0;
        }
    if (kind == PROCFS_ROOT) {
        int n = parse_number(name, PID_MAX);
        if (n > 0 && life__find(ps, n)) {
            *ret_id = ps->procfs_last = make_id(n, PROCFS_PID, 0);
            *ret_mode = DIR_MODE;
            return 0;
        }
    } else if (kind == PROCFS_PID_FD) {
        int n = parse_number(name, LIMIT_FDS - 1);
        const struct proc_file *f = n >= 0 ? proc_get(p, n) : NULL;
        if (f) {
            *ret_id = ps->procfs_last = make_id(pid, PROCFS_PID_FD_LINK, n);
            *ret_mode = fd_mode(f);
            return 0;
        }
    }
    return -ENOENT;
}

/* The smallest name after @after seen so far. */
struct best {
    struct str after;
    char name[32];
    bool any;
    uint64_t id;
    uint32_t mode;
};

static void offer(struct best *b, const char *name, uint64_t id, uint32_t mode)
{
    struct str s = str_c(name);
    if ((b->after.n && str_cmp(s, b->after) <= 0) || (b->any && str_cmp(s, str_c(b->name)) >= 0))
        return;
    memcpy(b->name, name, s.n + 1);
    b->any = true;
    b->id = id;
    b->mode = mode;
}

static void offer_number(struct best *b, int n, uint64_t id, uint32_t mode)
{
    char text[16];
    snprintf(text, sizeof(text), "%d", n);
    offer(b, text, id, mode);
}

static int next(void *arg, uint64_t id, struct str after, char *name, uint64_t *ret_id, uint32_t *ret_mode)
{
    struct proc_set *ps = arg;
    struct best b = {.after = after};
    enum procfs_kind kind;
    int pid, fd;
    split_id(id, &pid, &kind, &fd);
    struct proc *p = pid ? life__find(ps, pid) : NULL;
    if (pid && !p)
        return 0;
    for (size_t i = 0; i < N_ENTRIES; i++)
        if (entries[i].dir == kind && (entries[i].kind != PROCFS_SELF || sched__current(ps)))
            offer(&b, entries[i].name, make_id(pid, entries[i].kind, 0), entries[i].mode);
    if (kind == PROCFS_ROOT) {
        offer_number(&b, 1, make_id(1, PROCFS_PID, 0), DIR_MODE);
        for (const struct proc *q = ps->all; q; q = q->priv->all_next)
            offer_number(&b, q->pid, make_id(q->pid, PROCFS_PID, 0), DIR_MODE);
    } else if (kind == PROCFS_PID_FD) {
        for (uint32_t i = 0; i < p->fds.n; i++)
            if (p->fds.v[i].file)
                offer_number(&b, (int)i, make_id(pid, PROCFS_PID_FD_LINK, (int)i), fd_mode(p->fds.v[i].file));
    }
    if (!b.any)
        return 0;
    memcpy(name, b.name, strlen(b.name) + 1);
    *ret_id = b.id;
    *ret_mode = b.mode;
    return 1;
}

static int read_node(void *arg, uint64_t id, struct buf *out)
{
    struct proc_set *ps = arg;
    enum procfs_kind kind;
    int pid, fd;
    split_id(id, &pid, &kind, &fd);
    struct proc *p = pid ? life__find(ps, pid) : NULL;
    if (pid && !p)
        return -ENOENT;
    return procfs__text(ps, kind, p, fd, out);
}

static void owner(void *arg, uint64_t id, uint32_t *ret_uid, uint32_t *ret_gid)
{
    enum procfs_kind kind;
    int pid, fd;
    split_id(id, &pid, &kind, &fd);
    const struct proc *p = pid ? life__find(arg, pid) : NULL;
    *ret_uid = p ? p->cred.uid : 0;
    *ret_gid = p ? p->cred.gid : 0;
}

static const struct vfs_provider ops = {.lookup = lookup, .next = next, .read = read_node, .owner = owner};

const struct vfs_provider *proc_provider(void)
{
    return &ops;
}

int proc_provide(struct proc_set *ps)
{
    /* A tree forked from one that was provided for another set keeps the mount and needs only its own set. */
    struct vfs_cred root = {0};
    struct vfs_ctx ctx = {.cred = &root, .cwd = VFS_ROOT_INO};
    uint64_t ino;
    int r = vfs_lookup(ps->v, &ctx, 0, STR("/proc"), VFS_DIRECTORY, &ino);
    if (r < 0)
        return r;
    if (ino < VFS_PROVIDED)
        return vfs_provide(ps->v, STR("/proc"), &ops, ps);
    vfs_set_provider_arg(ps->v, &ops, ps);
    return 0;
}
