/* SPDX-License-Identifier: Apache-2.0 */

/*
 * run_shell - the shell on a fresh base tree in this very process, its standard descriptors on the host's: what tests
 * and benchmarks run until and beside the product's own command.
 *
 *   run_shell [--mount HOST:GUEST]… [--cwd DIR] [--env NAME=VALUE]… [--host-env] [--root] [--limit NAME=VALUE]…
 * [--argv0 NAME]
 *             [--script FILE] [--] BASH-ARGUMENTS
 *
 * What follows the options is bash's command line without its name: -c TEXT, a script's path in the tree, or nothing.
 * --script runs a file of the host instead, the rest being its arguments. --host-env passes the host's environment on.
 * The exit status is the shell's.
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "proc/proc.h"
#include "shell/cmd/cmd.h"
#include "shell/shell.h"

#define MOUNTS 16
#define ENVS 256

struct options {
    struct str mount_host[MOUNTS], mount_guest[MOUNTS];
    int n_mounts;
    char *env[ENVS + 8];
    int n_env;
    const char *cwd;
    char *argv0;
    bool root, host_env;
    const char *script;
    struct limits limits;
};

struct pump {
    struct proc_set *ps;
    struct proc_feed *feed;
    bool eof;
};

static void die(const char *what)
{
    fprintf(stderr, "run_shell: %s\n", what);
    exit(125);
}

static ssize_t write_out(void *arg, const void *p, size_t n)
{
    int fd = *(const int *)arg;
    ssize_t r = write(fd, p, n);
    if (r < 0)
        return errno == EAGAIN ? -EAGAIN : -EPIPE;
    return r;
}

/* Moves what the host's standard input has to the feed; blocks for it when @wait. */
static void pump_input(struct pump *u, bool wait, int timeout_ms)
{
    char data[16384];
    struct pollfd pfd = {.fd = 0, .events = POLLIN};
    size_t room = proc_feed_room(u->feed);
    if (u->eof || room == 0)
        return;
    if (poll(&pfd, 1, wait ? timeout_ms : 0) <= 0)
        return;
    ssize_t n = read(0, data, room < sizeof data ? room : sizeof data);
    if (n > 0) {
        proc_feed_push(u->feed, data, (size_t)n);
    } else {
        u->eof = true;
        proc_feed_eof(u->feed);
    }
}

static void split_pair(const char *arg, struct str *ret_host, struct str *ret_guest)
{
    const char *colon = strchr(arg, ':');
    if (!colon)
        die("--mount wants HOST:GUEST");
    *ret_host = str_of(arg, (size_t)(colon - arg));
    *ret_guest = str_c(colon + 1);
}

static void set_limit(struct limits *l, const char *arg)
{
    const char *eq = strchr(arg, '=');
    if (!eq || limits_set(l, str_of(arg, (size_t)(eq - arg)), str_c(eq + 1)) < 0)
        die("bad --limit");
}

static void read_host_file(const char *path, struct buf *out)
{
    char data[65536];
    ssize_t n;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        die("cannot read the script");
    while ((n = read(fd, data, sizeof data)) > 0)
        buf_add(out, data, (size_t)n);
    close(fd);
}

/* Index of the first argument that is the shell's. */
static int parse(int argc, char **argv, struct options *o)
{
    int i = 1;
    for (; i < argc; i++) {
        bool more = i + 1 < argc;
        if (!more && strcmp(argv[i], "--root") != 0 && strcmp(argv[i], "--host-env") != 0)
            break;
        if (!strcmp(argv[i], "--mount") && o->n_mounts < MOUNTS) {
            split_pair(argv[++i], &o->mount_host[o->n_mounts], &o->mount_guest[o->n_mounts]);
            o->n_mounts++;
        } else if (!strcmp(argv[i], "--env") && o->n_env < ENVS) {
            o->env[o->n_env++] = argv[++i];
        } else if (!strcmp(argv[i], "--cwd")) {
            o->cwd = argv[++i];
        } else if (!strcmp(argv[i], "--argv0")) {
            o->argv0 = argv[++i];
        } else if (!strcmp(argv[i], "--limit")) {
            set_limit(&o->limits, argv[++i]);
        } else if (!strcmp(argv[i], "--root")) {
            o->root = true;
        } else if (!strcmp(argv[i], "--host-env")) {
            o->host_env = true;
        } else if (!strcmp(argv[i], "--script")) {
            o->script = argv[++i];
        } else {
            break;
        }
    }
    return i < argc && !strcmp(argv[i], "--") ? i + 1 : i;
}

static struct vfs *make_tree(const struct options *o)
{
    struct vfs *v = vfs_new(&(struct vfs_quota){o->limits.files, o->limits.inodes});
    size_t n;
    const struct cmd_def *const *cmds = cmd_all(&n);
    const char **names = mem_alloc((n + 1) * sizeof *names);
    for (size_t i = 0; i < n; i++)
        names[i] = cmds[i]->name;
    if (!v || proc_base_tree(v, names, n, NULL, 0) < 0)
        die("cannot make the tree");
    mem_free(names);
    for (int i = 0; i < o->n_mounts; i++) {
        char *host = mem_dup(o->mount_host[i].p, o->mount_host[i].n);
        int fd = open(host, O_PATH | O_CLOEXEC);
        uint32_t uid = o->root ? 0 : 1000;
        if (fd < 0 || vfs_mount_host(v, o->mount_guest[i], fd, VFS_MOUNT_COW, getuid(), getgid(), uid, uid) < 0)
            die("cannot mount");
        mem_free(host);
    }
    return v;
}

static char **make_env(struct options *o)
{
    static char home[] = "HOME=/home/user", root_home[] = "HOME=/root", lang[] = "LANG=C.UTF-8",
                path[] = "PATH=/usr/local/bin:/usr/bin:/bin";
    bool has_home = false, has_path = false, has_lang = false;
    for (char **e = environ; o->host_env && *e && o->n_env < ENVS; e++)
        if (strncmp(*e, "PATH=", 5) != 0 || strchr(*e + 5, '.'))
            o->env[o->n_env++] = *e;
    for (int i = 0; i < o->n_env; i++) {
        has_home |= !strncmp(o->env[i], "HOME=", 5);
        has_path |= !strncmp(o->env[i], "PATH=", 5);
        has_lang |= !strncmp(o->env[i], "LANG=", 5) || !strncmp(o->env[i], "LC_ALL=", 7);
    }
    if (!has_home)
        o->env[o->n_env++] = o->root ? root_home : home;
    if (!has_path)
        o->env[o->n_env++] = path;
    if (!has_lang)
        o->env[o->n_env++] = lang;
    o->env[o->n_env] = NULL;
    return o->env;
}

/* Runs the process to its end, feeding standard input meanwhile. */
static struct outcome run(struct pump *u, struct proc *p)
{
    int64_t wake;
    while (!proc_run(u->ps, p, &wake)) {
        int64_t left = wake == INT64_MAX ? 1000 : (wake - clock_mono()) / CLOCK_MS + 1;
        if (left < 0)
            left = 0;
        if (left > 1000)
            left = 1000;
        if (proc_feed_wanted(u->feed) && !u->eof)
            pump_input(u, true, (int)left);
        else if (left)
            poll(NULL, 0, (int)left);
        proc_sink_ready(u->ps);
    }
    return p->outcome;
}

int main(int argc, char **argv)
{
    static char name[] = "bash";
    static int out_fd = 1, err_fd = 2;
    struct options o = {.argv0 = name, .limits = limits_default()};
    int first = parse(argc, argv, &o);
    signal(SIGPIPE, SIG_IGN);
    struct vfs *v = make_tree(&o);
    struct proc_set *ps = proc_set_new(v, &o.limits, NULL);
    struct shell_world *w = ps ? shell_world_new(ps) : NULL;
    if (!w || proc_provide(ps) < 0)
        die("cannot make the session");
    struct pump u = {.ps = ps};
    struct proc_file *in = proc_file_feed(ps, false, NULL, NULL, &u.feed);
    struct proc_file *out = proc_file_sink(ps, false, write_out, &out_fd);
    struct proc_file *err = proc_file_sink(ps, false, write_out, &err_fd);
    uint32_t uid = o.root ? 0 : 1000;
    struct vfs_cred cred = {.uid = uid, .gid = uid};
    argv[first - 1] = o.argv0;
    struct shell_start st = {.world = w, .argc = argc - first + 1, .argv = argv + first - 1, .envp = make_env(&o)};
    struct buf script;
    buf_init(&script, LIMIT_SCRIPT);
    if (o.script) {
        read_host_file(o.script, &script);
        st.has_script = true;
        st.script = buf_str(&script);
        st.script_name = o.script;
    }
    struct proc *p;
    struct str cwd = str_c(o.cwd ? o.cwd : o.root ? "/root" : "/home/user");
    proc_begin(ps);
    if (proc_start(ps, &cred, cwd, 022, in, out, err, shell_main, &st, &p) < 0)
        die("cannot start");
    struct outcome r = run(&u, p);
    int64_t wake;
    proc_run(ps, NULL, &wake); /* what the shell left behind and can finish now, does: no output is lost */
    if (r.kind == OUTCOME_KILLED && r.reason > REASON_SIGNAL)
        fprintf(stderr, "run_shell: killed: %s\n", outcome_reason_name(r.reason));
    int status = outcome_status(r);
    buf_done(&script);
    proc_set_free(ps);
    shell_world_free(w);
    vfs_free(v);
    return status;
}
