/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What a session is made with. User and limits lie in the CREATED of its log, as those of a session of the command line
 * do; what only the server knows (environment, directory, metadata, idle time) lies beside it in `settings`, as JSON.
 */

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "scheduler/scheduler_int.h"
#include "types/errtab.h"
#include "wire/api.h"
#include "wire/json_write.h"

#define IDLE_MS 60000u /* unless it says so */

static struct wire_list copy_list(struct arena *a, const struct wire_list *l)
{
    struct wire_list r = {arena_alloc(a, (l->n + 1) * sizeof(*l->v)), l->n};
    for (uint32_t i = 0; i < l->n; i++)
        r.v[i] = arena_str(a, l->v[i]);
    return r;
}

struct sched_settings sched__settings_copy(struct arena *a, const struct sched_settings *set)
{
    return (struct sched_settings){
        .user = arena_str(a, set->user),
        .cwd = arena_str(a, set->cwd),
        .env = copy_list(a, &set->env),
        .limits = set->limits,
        .idle_timeout_ms = set->idle_timeout_ms ? set->idle_timeout_ms : IDLE_MS,
        .metadata = arena_str(a, set->metadata),
        .policy = arena_str(a, set->policy),
        .mounts = set->mounts,
        .changed = set->changed,
    };
}

void sched__settings_set(struct sched_session *s, const struct sched_settings *set)
{
    s->settings = sched__settings_copy(&s->settings_arena, set);
    s->has_settings = true;
}

int sched__settings_open(const struct sched_settings *set, struct err *err)
{
    return set->mounts
               ? err_set(err, -EOPNOTSUPP,
                         "the session shows directories of the host, and the server opens none: use the command line")
               : 0;
}

int sched__settings_limits(struct buf *out, const char *prefix, const struct limits *l)
{
    buf_addf(out, "%smemory=%llu\n%soutput=%llu\n%sfiles=%llu\n%sinodes=%llu\n%sprocesses=%llu\n", prefix,
             (unsigned long long)l->memory, prefix, (unsigned long long)l->output, prefix, (unsigned long long)l->files,
             prefix, (unsigned long long)l->inodes, prefix, (unsigned long long)l->processes);
    return buf_addf(out, "%scpu=%llums\n%strace=%llu\n", prefix, (unsigned long long)l->cpu_ms, prefix,
                    (unsigned long long)l->trace);
}

int sched__settings_config(struct buf *out, const struct sched_settings *set)
{
    buf_addf(out, "user=%.*s\nmodules=set\n", set->user.n ? (int)set->user.n : 4, set->user.n ? set->user.p : "user");
    sched__settings_limits(out, "limit.", &set->limits);
    for (struct str rest = set->policy; rest.n;) {
        ptrdiff_t nl = str_find(rest, '\n', 0);
        size_t n = nl < 0 ? rest.n : (size_t)nl;
        buf_addf(out, "policy=%.*s\n", (int)n, rest.p);
        rest = str_from(rest, nl < 0 ? n : n + 1);
    }
    return out->err;
}

/* ---- the file ---- */

static int path_of(const struct state *state, const char *id, const char *suffix, struct buf *path)
{
    buf_init(path, LIMIT_PATH);
    return buf_addf(path, "%s/sessions/%s/settings%s", state_path(state), id, suffix);
}

static int encode(const struct sched_settings *set, struct buf *out, struct err *err)
{
    struct json_writer w = {.out = out};
    json_begin(&w, NULL, '{');
    json_text(&w, "cwd", set->cwd);
    json_begin(&w, "env", '[');
    for (uint32_t i = 0; i < set->env.n; i++)
        json_text(&w, NULL, set->env.v[i]);
    json_end(&w, ']');
    json_number(&w, "idle_timeout_ms", set->idle_timeout_ms);
    if (set->metadata.n)
        json_raw(&w, "metadata", set->metadata);
    if (set->changed) {
        BUF_AUTO struct buf limits;
        buf_init(&limits, 4096);
        sched__settings_limits(&limits, "", &set->limits);
        json_text(&w, "limits", buf_str(&limits));
        json_text(&w, "policy", set->policy);
    }
    json_end(&w, '}');
    if (out->err)
        return err_set(err, -E2BIG, "environment and metadata of the session together are over %u bytes",
                       LIMIT_SETTINGS);
    return 0;
}

int sched__settings_text(const struct sched_settings *set, struct buf *out, struct err *err)
{
    /* Most sessions have none of it. */
    bool plain = !set->changed && !set->cwd.n && !set->env.n && !set->metadata.n &&
                 (set->idle_timeout_ms == IDLE_MS || set->idle_timeout_ms == 0);
    return plain ? 0 : encode(set, out, err);
}

int sched__settings_save(struct sched_session *s, struct err *err)
{
    BUF_AUTO struct buf text, path, tmp;
    buf_init(&text, LIMIT_SETTINGS);
    int r = path_of(s->tenant->state, s->id, "", &path);
    int r_tmp = path_of(s->tenant->state, s->id, ".new", &tmp);
    r = r ? r : r_tmp;
    if (r == 0)
        r = encode(&s->settings, &text, err);
    if (r)
        return r;
    FD_AUTO int fd = open(tmp.p, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    r = fd < 0 ? -errno : fd_write_all(fd, buf_str(&text));
    if (r == 0 && rename(tmp.p, path.p))
        r = -errno;
    return r ? err_set(err, r, "the settings of session '%s': %s", s->id, errtab_text(r)) : 0;
}

static int read_file(const char *path, struct buf *out)
{
    FD_AUTO int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    return fd >= 0 ? fd_read_all(fd, out) : errno == ENOENT ? 0 : -errno;
}

struct in_file {
    struct sched_settings set;
    struct str limits, policy; /* when they are not those of CREATED */
};

static int take_changed(struct in_file *f)
{
    for (struct str rest = f->limits; rest.n;) {
        ptrdiff_t nl = str_find(rest, '\n', 0), eq = str_find(rest, '=', 0);
        size_t n = nl < 0 ? rest.n : (size_t)nl;
        if (eq < 0 || (size_t)eq >= n ||
            limits_set(&f->set.limits, str_of(rest.p, (size_t)eq), str_of(rest.p + eq + 1, n - (size_t)eq - 1)))
            return -EBADMSG;
        rest = str_from(rest, nl < 0 ? n : n + 1);
    }
    if (f->policy.p)
        f->set.policy = f->policy;
    f->set.changed = f->limits.p != NULL;
    return 0;
}

static int take_file(const struct state *state, const char *id, struct sched_settings *set, struct arena *a,
                     struct err *err)
{
    static const struct api_field fields[] = {
        {"cwd", API_TEXT, offsetof(struct in_file, set.cwd)},
        {"env", API_TEXTS, offsetof(struct in_file, set.env)},
        {"idle_timeout_ms", API_NUMBER, offsetof(struct in_file, set.idle_timeout_ms)},
        {"metadata", API_VALUE, offsetof(struct in_file, set.metadata)},
        {"limits", API_TEXT, offsetof(struct in_file, limits)},
        {"policy", API_TEXT, offsetof(struct in_file, policy)},
    };
    BUF_AUTO struct buf path, text;
    struct api_problem why = {"", ""};
    struct in_file f = {.set = *set};
    buf_init(&text, LIMIT_SETTINGS);
    int r = path_of(state, id, "", &path);
    r = r ? r : read_file(path.p, &text);
    if (r == 0)
        r = api_decode(buf_str(&text), fields, sizeof(fields) / sizeof(fields[0]), a, &f, &why);
    if (r == 0)
        r = take_changed(&f);
    if (r == 0)
        *set = f.set;
    return r ? err_set(err, r == -EINVAL ? -EBADMSG : r, "'%s': %s", path.p, r == -EINVAL ? why.text : errtab_text(r))
             : 0;
}

int sched__settings_changes(struct state *state, const char *id, struct sched_settings *set, struct arena *a,
                            struct err *err)
{
    struct sched_settings now = {.limits = limits_default()};
    int r = take_file(state, id, &now, a, err);
    set->changed = r == 0 && now.changed;
    if (set->changed) {
        set->limits = now.limits;
        set->policy = now.policy;
    }
    return r;
}

/* One line of CREATED's text. */
static int take_line(struct sched_settings *set, struct arena *a, struct str key, struct str value, struct err *err)
{
    if (str_eqc(key, "user"))
        set->user = arena_str(a, value);
    else if (str_eqc(key, "mount"))
        set->mounts = true;
    else if (str_eqc(key, "policy")) /* a line for each rule */
        set->policy = str_c(arena_printf(a, "%.*s%.*s\n", (int)set->policy.n, set->policy.n ? set->policy.p : "",
                                         (int)value.n, value.p));
    else if (str_starts(key, STR("limit.")) && limits_set(&set->limits, str_from(key, 6), value))
        return err_set(err, -EBADMSG, "the session's log has a limit that is none");
    return 0;
}

int sched__settings_created(struct sched_settings *set, struct arena *a, struct str text, struct err *err)
{
    int r = 0;
    while (text.n && r == 0) {
        ptrdiff_t nl = str_find(text, '\n', 0);
        struct str line = str_of(text.p, nl < 0 ? text.n : (size_t)nl);
        ptrdiff_t eq = str_find(line, '=', 0);
        if (eq > 0)
            r = take_line(set, a, str_of(line.p, (size_t)eq), str_from(line, (size_t)eq + 1), err);
        text = str_from(text, nl < 0 ? text.n : (size_t)nl + 1);
    }
    return r;
}

int sched__created(struct sched_session *s, int (*use)(void *arg, const struct trace_created *c, struct err *err),
                   void *arg, struct err *err)
{
    struct state_session ses;
    struct trace *t = NULL;
    struct trace_pos pos;
    struct trace_event e;
    int r = state_session_open(s->tenant->state, str_c(s->id), false, 0, &ses, err);
    if (r)
        return r;
    r = trace_open(fd_steal(&ses.trace_fd), 0, &t, NULL, err);
    state_session_close(&ses);
    if (r)
        return r;
    trace_begin(&pos);
    r = trace_next(t, &pos, &e, err);
    if (r == 1 && e.type == TRACE_CREATED)
        r = use(arg, &e.u.created, err);
    else if (r >= 0)
        r = err_set(err, -EBADMSG, "the session's log does not begin with its creation");
    trace_pos_done(&pos);
    trace_close(t);
    return r;
}

struct taking {
    struct sched_settings *set;
    struct arena *a;
};

static int take_config(void *arg, const struct trace_created *c, struct err *err)
{
    struct taking *t = arg;
    return sched__settings_created(t->set, t->a, c->config, err);
}

int sched__settings_load(struct sched_session *s, struct err *err)
{
    if (s->has_settings)
        return 0;
    ARENA_AUTO struct arena a = {0};
    struct sched_settings set = {.limits = limits_default()};
    int r = sched__created(s, take_config, &(struct taking){&set, &a}, err);
    if (r == 0)
        r = take_file(s->tenant->state, s->id, &set, &a, err);
    if (r == 0)
        sched__settings_set(s, &set);
    return r;
}
