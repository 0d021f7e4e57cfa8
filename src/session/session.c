/* SPDX-License-Identifier: Apache-2.0 */
#include "session/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/num.h"
#include "session/session_int.h"
#include "shell/cmd/cmd.h"
#include "types/errtab.h"

#define TEMPLATE_BYTES (64u << 20)
#define TEMPLATE_INODES 100000u

uint32_t session__providers(const struct session_config *cfg, struct vfs_image_provider *ret)
{
    ret[0] = (struct vfs_image_provider){.ops = proc_provider()};
    if (!cfg->userland || !cfg->userland->layer)
        return 1;
    ret[1] = (struct vfs_image_provider){cfg->userland->layer, cfg->userland->layer_arg};
    return 2;
}

static const struct vfs_cred root_cred = {0};
static const struct vfs_ctx root_ctx = {.cred = &root_cred, .cwd = VFS_ROOT_INO, .umask = 022};

/* /usr/DIR/NAME leads to the layer's, unless the tree has one. */
static int link_entry(struct vfs *v, const char *dir, struct str name)
{
    BUF_AUTO struct buf path, target;
    buf_init(&path, LIMIT_PATH);
    buf_init(&target, LIMIT_PATH);
    buf_addf(&path, "/usr/%s/%.*s", dir, (int)name.n, name.p);
    buf_addf(&target, "%s/%s/%.*s", SESSION_LAYER, dir, (int)name.n, name.p);
    if (path.err || target.err)
        return -ENAMETOOLONG;
    int r = vfs_symlink(v, &root_ctx, buf_str(&target), 0, buf_str(&path));
    return r == -EEXIST ? 0 : r;
}

static int by_name(const void *key, const void *element)
{
    const char *const *tool = element;
    return strcmp(key, *tool);
}

static bool is_tool(const struct session_userland *u, const char *name)
{
    return u->n_tools && bsearch(name, u->tools, u->n_tools, sizeof(*u->tools), by_name);
}

/* Below /usr/bin, /usr/lib and /usr/share are links to what the layer has there. Its bin has a file for each tool, and
 * so has /usr/bin: of some hundred names a few are left to link. */
static int link_layer(struct vfs *v, const struct session_userland *u)
{
    static const char *const dirs[] = {"bin", "lib", "share"};
    int r = 0;
    for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]) && r == 0; i++) {
        struct vfs_dirent e;
        char path[64], name[LIMIT_NAME + 1] = "";
        uint64_t dir;
        snprintf(path, sizeof(path), SESSION_LAYER "/%s", dirs[i]);
        if (vfs_lookup(v, &root_ctx, 0, str_c(path), VFS_DIRECTORY, &dir) < 0)
            continue;
        while (r == 0 && vfs_dir_next(v, dir, str_c(name), &e) == 1) {
            memcpy(name, e.name.p, e.name.n);
            name[e.name.n] = 0;
            if (i > 0 || !is_tool(u, name))
                r = link_entry(v, dirs[i], str_c(name));
        }
    }
    return r;
}

size_t session_commands(const char *names[SESSION_COMMANDS])
{
    size_t n;
    const struct cmd_def *const *defs = cmd_all(&n);
    ASSERT(n <= SESSION_COMMANDS);
    for (size_t i = 0; i < n; i++)
        names[i] = defs[i]->name;
    return n;
}

struct vfs *session_template(const struct session_userland *u)
{
    struct vfs_quota quota = {TEMPLATE_BYTES, TEMPLATE_INODES};
    struct vfs *v = vfs_new(&quota);
    if (!v)
        return NULL;
    const char *names[SESSION_COMMANDS];
    size_t n = session_commands(names);
    int e = proc_base_tree(v, names, n, u ? u->tools : NULL, u ? u->n_tools : 0);
    if (e == 0 && u && u->layer)
        e = vfs_provide(v, STR(SESSION_LAYER), u->layer, u->layer_arg);
    if (e == 0 && u && u->layer)
        e = link_layer(v, u);
    if (e) {
        vfs_free(v);
        return NULL;
    }
    return v;
}

static int mount_one(struct session *s, const struct session_config *cfg, const struct session_mount *m,
                     struct err *err)
{
    if (m->guest.n == 0 || m->guest.p[0] != '/')
        return err_set(err, -EINVAL, "mount path '%.*s' is not absolute", (int)m->guest.n, m->guest.p);
    int e = vfs_mount_host(s->tree, m->guest, m->fd, (int)m->flags, cfg->host_uid, cfg->host_gid, s->user.cred.uid,
                           s->user.cred.gid);
    if (e)
        return err_set(err, e, "cannot mount at '%.*s': %s", (int)m->guest.n, m->guest.p, errtab_text(e));
    return 0;
}

static int mount_all(struct session *s, const struct session_config *cfg, struct err *err)
{
    uint32_t i = 0;
    int e = 0;
    for (; i < cfg->n_mounts && e == 0; i++)
        e = mount_one(s, cfg, &cfg->mounts[i], err);
    for (; i < cfg->n_mounts; i++) {
        int fd = cfg->mounts[i].fd;
        fd_close(&fd);
    }
    return e;
}

/* The directory an exec begins in: the one asked for, else the user's home, else "/". */
static int choose_cwd(struct session *s, struct str asked, struct err *err)
{
    struct vfs_ctx ctx = {&s->user.cred, VFS_ROOT_INO, 022};
    uint64_t ino;
    if (asked.n) {
        int e = vfs_lookup(s->tree, &ctx, 0, asked, VFS_DIRECTORY, &ino);
        if (e)
            return err_set(err, e, "working directory '%.*s': %s", (int)asked.n, asked.p, errtab_text(e));
        BUF_AUTO struct buf path;
        buf_init(&path, LIMIT_PATH);
        /* As getcwd(3) would name it: it becomes PWD. */
        while (asked.n > 1 && asked.p[asked.n - 1] == '/')
            asked.n--;
        e = asked.p[0] == '/' ? buf_adds(&path, asked) : vfs_dir_path(s->tree, ino, &path);
        if (e)
            return err_set(err, e, "working directory '%.*s': %s", (int)asked.n, asked.p, errtab_text(e));
        s->cwd = buf_take(&path);
        return 0;
    }
    bool home = vfs_lookup(s->tree, &ctx, 0, str_c(s->user.home), VFS_DIRECTORY, &ino) == 0;
    s->cwd = home ? mem_dup(s->user.home, strlen(s->user.home)) : mem_dup("/", 1);
    return 0;
}

int session_quota(struct vfs *tmpl, const struct limits *limits, struct vfs_quota *ret)
{
    vfs_usage(tmpl, ret);
    return num_add64(ret->bytes, limits->files, &ret->bytes) && num_add64(ret->inodes, limits->inodes, &ret->inodes)
               ? 0
               : -ENOMEM;
}

static int set_up(struct session *s, struct vfs *tmpl, const struct session_config *cfg, struct err *err)
{
    struct vfs_quota quota;
    s->tree = cfg->tree ? cfg->tree : vfs_fork(tmpl);
    s->canon = cfg->canon ? cfg->canon : vfs_canon_new();
    if (!s->tree || session_quota(tmpl, &cfg->limits, &quota))
        return err_set(err, -ENOMEM, "no memory for the session's tree");
    vfs_set_quota(s->tree, &quota);
    struct str who = cfg->user.n ? cfg->user : STR("user");
    int e = session__find_user(s->tree, who, &s->user);
    if (e)
        return err_set(err, -EINVAL, "unknown user '%.*s' (the session has those of its own /etc/passwd, and numbers)",
                       (int)who.n, who.p);
    if (cfg->tree)
        vfs_image_own_mounts(s->tree, s->user.cred.uid, s->user.cred.gid);
    else
        e = mount_all(s, cfg, err);
    if (e)
        return e;
    if (!s->canon || session_mark_base(s))
        return err_set(err, -ENOMEM, "no memory for the session's tree");
    return 0;
}

int session_new(struct vfs *tmpl, const struct session_config *cfg, const struct session_host *host,
                struct session **ret, struct err *err)
{
    struct session *s = mem_zalloc(sizeof(*s));
    s->host = host;
    s->limits = cfg->limits;
    s->userland = cfg->userland;
    s->policy = cfg->policy;
    buf_init(&s->reply, LIMIT_MSG_DATA);
    buf_init(&s->shell_state, LIMIT_SHELL_STATE);
    int e = set_up(s, tmpl, cfg, err);
    /* In a session that goes on the directory is looked at when an exec begins, as part of what is recorded. */
    if (e == 0 && cfg->tree && cfg->cwd.n && cfg->cwd.p[0] == '/')
        s->cwd = mem_dup(cfg->cwd.p, cfg->cwd.n);
    else if (e == 0)
        e = choose_cwd(s, cfg->cwd, err);
    if (e) {
        session_free(s);
        return e;
    }
    *ret = s;
    return 0;
}

int session_mark_base(struct session *s)
{
    struct vfs *base = vfs_fork(s->tree);
    if (!base)
        return -ENOMEM;
    vfs_free(s->base);
    s->base = base;
    return 0;
}

int session_put_back(struct session *s, struct vfs *before)
{
    struct vfs *was = s->tree, *now = vfs_fork(before);
    if (!now)
        return -ENOMEM;
    if (s->run)
        session__run_close(s->run);
    if (s->ps) {
        int next = proc_next_pid(s->ps);
        proc_set_renew(s->ps, now, &s->limits, &s->proc_host);
        proc_set_next_pid(s->ps, next);
    }
    shell_world_free(s->world); /* the next command makes one */
    s->world = NULL;
    s->tree = now;
    vfs_free(was);
    return 0;
}

int session_take_back(struct session *s)
{
    struct session_run *r = s->run;
    int e = 0;
    if (!r || !r->ended || !r->before)
        return 0;
    if (r->outcome.kind != OUTCOME_EXITED || r->outcome.code)
        e = session_put_back(s, r->before);
    vfs_free(r->before);
    r->before = NULL;
    return e;
}

struct vfs_canon *session_canon(struct session *s)
{
    return s->canon;
}

const struct limits *session_limits(const struct session *s)
{
    return &s->limits;
}

struct str session_cwd(const struct session *s)
{
    return str_c(session__begins(s));
}

struct vfs *session_tree(struct session *s)
{
    return s->tree;
}

void session__run_close(struct session_run *r)
{
    proc_feed_close(r->feed);
    r->feed = NULL;
    proc_tty_close(r->tty);
    r->tty = NULL;
    buf_done(&r->typed);
}

/* The last record of how an exec ended is freed with what it used. */
void session__run_free(struct session *s)
{
    struct session_run *r = s->run;
    if (!r)
        return;
    arena_done(&r->arena);
    buf_done(&r->line);
    buf_done(&r->answer);
    buf_done(&r->prompt);
    buf_done(&r->prompt2);
    buf_done(&r->decisions);
    buf_done(&r->kept);
    vfs_free(r->before);
    mem_free(r);
    s->run = NULL;
}

void session_free(struct session *s)
{
    if (!s)
        return;
    if (s->run)
        session__run_close(s->run);
    proc_set_free(s->ps);
    shell_world_free(s->world);
    session__run_free(s);
    vfs_free(s->base);
    vfs_canon_free(s->canon);
    vfs_free(s->tree);
    session__user_done(&s->user);
    buf_done(&s->reply);
    buf_done(&s->shell_state);
    mem_free(s->cwd);
    mem_free(s->refusal);
    mem_free(s->exec_cwd);
    mem_free(s);
}
