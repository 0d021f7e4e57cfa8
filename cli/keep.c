/* SPDX-License-Identifier: Apache-2.0 */

/* run and shell with --session: the session's place in the state directory, and what it was made with. */

#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "base/fd.h"
#include "base/mem.h"
#include "snapshot/state.h"
#include "types/errtab.h"
#include "vfs/vfs.h"

#define LOCK_WAIT_MS 5000 /* a worker that has answered still waits for the disk */

/* ---- the text of what a session was made with: KEY=VALUE lines, in CREATED ---- */

static void put_policy(struct buf *out, const struct policy *p)
{
    BUF_AUTO struct buf text;
    buf_init(&text, 4 * LIMIT_POLICY_TEXT);
    policy_format(p, &text);
    for (struct str rest = buf_str(&text); rest.n;) {
        size_t end = (size_t)str_find(rest, '\n', 0);
        buf_addf(out, "policy=%.*s\n", (int)end, rest.p);
        rest = str_from(rest, end + 1);
    }
}

static int put_config(struct buf *out, const struct cli_options *o)
{
    const struct limits *l = &o->limits;
    buf_addf(out, "user=%s\nmodules=%s\n", o->user ? o->user : "user", cli_own_modules(o) ? "own" : "set");
    buf_addf(out, "limit.memory=%llu\nlimit.output=%llu\nlimit.files=%llu\nlimit.inodes=%llu\nlimit.processes=%llu\n",
             (unsigned long long)l->memory, (unsigned long long)l->output, (unsigned long long)l->files,
             (unsigned long long)l->inodes, (unsigned long long)l->processes);
    if (o->policy)
        put_policy(out, o->policy);
    buf_addf(out, "limit.cpu=%llums\nlimit.trace=%llu\n", (unsigned long long)l->cpu_ms, (unsigned long long)l->trace);
    for (uint32_t i = 0; i < o->n_mounts; i++) {
        const struct cli_mount *m = &o->mounts[i];
        MEM_AUTO char *host = cli_real_path(m->host);
        if (!host || strchr(host, '\n') || strchr(m->guest, '\n') || strstr(host, ":/"))
            return -EINVAL;
        buf_addf(out, "mount=%s:%s:%s\n", host, m->guest, m->flags & VFS_MOUNT_RO ? "ro" : "cow");
    }
    return out->err;
}

char *cli_real_path(const char *path)
{
    char *p = realpath(path, NULL);
    char *copy = p ? mem_dup(p, strlen(p)) : NULL;
    free(p); /* of libc, not ours */
    return copy;
}

/* One line of the text into the options: what is given on the command line stands. */
static int take_line(struct cli_options *o, struct str key, struct str value)
{
    char *v = arena_dup(&o->arena, value.p, value.n);
    if (str_eqc(key, "user")) {
        o->user = v;
        return 0;
    }
    if (str_eqc(key, "modules")) {
        o->modules = v;
        return 0;
    }
    if (str_eqc(key, "policy"))
        return cli_policy_line(o, value);
    if (str_eqc(key, "mount"))
        return o->without_mounts ? 0 : cli_add_mount(o, v);
    if (str_starts(key, STR("limit.")))
        return limits_set(&o->limits, str_from(key, 6), value);
    return 0; /* of a newer version, and no matter of ours */
}

static int take_config(struct cli_options *o, struct str text)
{
    while (text.n) {
        ptrdiff_t nl = str_find(text, '\n', 0);
        struct str line = str_of(text.p, nl < 0 ? text.n : (size_t)nl);
        ptrdiff_t eq = str_find(line, '=', 0);
        if (eq > 0 && take_line(o, str_of(line.p, (size_t)eq), str_from(line, (size_t)eq + 1)))
            return -EINVAL;
        text = str_from(text, nl < 0 ? text.n : (size_t)nl + 1);
    }
    int r = 0;
    for (uint32_t i = 0; i < o->n_limit_args && r == 0; i++)
        r = limits_set(&o->limits, o->limit_args[i].name, o->limit_args[i].value);
    return r;
}

/* What the session in @k was made with. */
static int read_config(struct cli_keep *k, struct cli_options *o, struct err *err)
{
    struct trace *t = NULL;
    struct trace_pos pos;
    struct trace_event e;
    int fd = fcntl(k->ses.trace_fd, F_DUPFD_CLOEXEC, 3);
    if (fd < 0)
        return err_set(err, -errno, "cannot read the session's log: %s", errtab_text(errno));
    int r = trace_open(fd, 0, &t, NULL, err);
    if (r)
        return r;
    trace_begin(&pos);
    r = trace_next(t, &pos, &e, err);
    if (r == 1 && e.type == TRACE_CREATED)
        r = take_config(o, e.u.created.config)
                ? err_set(err, -EINVAL, "what the session was made with cannot be had again")
                : 0;
    else if (r >= 0)
        r = err_set(err, -EBADMSG, "the session's log does not begin with its creation");
    trace_pos_done(&pos);
    trace_close(t);
    return r;
}

/* ---- opening ---- */

static int refuse_changes(const struct cli_options *o, struct err *err)
{
    const char *what = o->n_mounts  ? "--mount"
                       : o->user    ? "--user"
                       : o->modules ? "--modules"
                       : o->policy  ? "--policy"
                                    : NULL;
    if (!what)
        return 0;
    return err_set(err, -EINVAL, "%s: session '%s' exists and has what it was made with (make another one, or fork it)",
                   what, o->session);
}

static void keep_init(struct cli_keep *k)
{
    *k = (struct cli_keep){.ses = {.trace_fd = -1, .lock_fd = -1}, .store_fd = -1};
    buf_init(&k->config, 1u << 20);
    buf_init(&k->over, LIMIT_TRACE_INLINE);
}

/* The last step of opening: the store; all is closed when this or what came before (@r) has failed. */
static int keep_store(struct cli_keep *k, int r, struct err *err)
{
    if (r == 0) {
        k->store_fd = state_store_fd(k->state);
        if (k->store_fd < 0)
            r = err_set(err, k->store_fd, "cannot open the store: %s", errtab_text(k->store_fd));
    }
    if (r)
        cli_keep_close(k);
    return r;
}

/* The session of that name, or a new one: *ret_fresh. Somebody may make it between the look and the making. */
static int find_or_make(struct state *s, struct str name, struct state_session *ret, bool *ret_fresh, struct err *err)
{
    int r;
    do {
        r = state_session_open(s, name, true, LOCK_WAIT_MS, ret, err);
        if (r != -ENOENT)
            return r;
        r = state_session_create(s, name, ret, err);
    } while (r == -EEXIST);
    *ret_fresh = r == 0;
    return r;
}

int cli_keep_open(struct cli_options *o, struct cli_keep *k, struct err *err)
{
    keep_init(k);
    int r = state_open(o->state, true, &k->state, err);
    if (r == 0)
        r = find_or_make(k->state, str_c(o->session), &k->ses, &k->fresh, err);
    if (k->fresh) {
        if (put_config(&k->config, o))
            r = err_set(err, -EINVAL,
                        "--mount: a host path with a line break or ':/' in it cannot be kept in a session");
    } else if (r == 0) {
        r = refuse_changes(o, err);
        if (r == 0)
            r = read_config(k, o, err);
        for (uint32_t i = 0; r == 0 && i < o->n_limit_args; i++) {
            const struct cli_limit_arg *a = &o->limit_args[i];
            if (buf_addf(&k->over, "%.*s=%.*s\n", (int)a->name.n, a->name.p, (int)a->value.n, a->value.p))
                r = err_set(err, -EINVAL, "--limit: too many");
        }
    }
    return keep_store(k, r, err);
}

int cli_keep_look(const char *state_dir, const char *who, struct cli_options *made, struct cli_keep *k, struct err *err)
{
    keep_init(k);
    int r = state_open(state_dir, false, &k->state, err);
    if (r == 0)
        r = state_session_open(k->state, str_c(who), false, 0, &k->ses, err);
    if (r == 0)
        r = read_config(k, made, err);
    return keep_store(k, r, err);
}

int cli_keep_commit(struct cli_keep *k, struct err *err)
{
    if (k->fresh)
        return state_session_commit(k->state, &k->ses, err);
    state_session_whole(k->state, &k->ses);
    return 0;
}

void cli_keep_close(struct cli_keep *k)
{
    fd_close(&k->store_fd);
    if (k->state && k->ses.fresh)
        state_session_drop(k->state, &k->ses);
    else
        state_session_close(&k->ses);
    state_close(k->state);
    k->state = NULL;
    buf_done(&k->config);
    buf_done(&k->over);
}
