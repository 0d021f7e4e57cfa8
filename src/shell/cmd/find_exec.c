/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/find_int.h"

#include <errno.h>

/* Longest command line of the + form, and what is kept free for the environment's growth, as the real tool has them. */
#define BATCH_BYTES (128u << 10)
#define BATCH_HEADROOM 2048

/* ---- arguments ---- */

/* With -execdir no directory of PATH may depend on where find is. */
static bool check_path(struct find *f, const char *action)
{
    struct cmd *c = f->c;
    const char *path = cmd_getenv(c, "PATH");
    for (const char *p = path; p;) {
        const char *e = strchrnul(p, ':');
        size_t n = (size_t)(e - p);
        if (n == 0 || (n == 1 && *p == '.'))
            return find__bad(
                f,
                "The current directory is included in the PATH environment variable, which is insecure in "
                "combination with the %s action of find.  Please remove the current directory from your $PATH "
                "(that is, remove \".\", doubled colons, or leading or trailing colons)",
                action);
        if (*p != '/')
            return find__bad(f,
                             "The relative path %s is included in the PATH environment variable, which is insecure in "
                             "combination with the %s action of find.  Please remove that entry from $PATH",
                             cmd_quote_loc(c, arena_dup(c->arena, p, n)), action);
        p = *e ? e + 1 : NULL;
    }
    return true;
}

/* The + form: one "{}", alone, at the end. */
static bool check_plus(struct find *f, const struct find_exec *e, const char *brace, int braces)
{
    const char *suffix = e->dir ? "dir" : "";
    if (braces > 1)
        return find__bad(f, "Only one instance of {} is supported with -exec%s ... +", suffix);
    if (strcmp(brace, "{}") != 0)
        return find__bad(f, "In %s the %s must appear by itself, but you specified %s",
                         cmd_quote_loc(f->c, e->dir ? "-execdir ... {} +" : "-exec ... {} +"),
                         cmd_quote_loc(f->c, "{}"), cmd_quote_loc(f->c, brace));
    return true;
}

bool find__arg_exec(struct find_parse *ps, const char *arg)
{
    struct find *f = ps->f;
    struct find_exec *e = ARENA_NEW(f->c->keep, struct find_exec);
    const char *brace = NULL;
    int end = ps->i, braces = 0;
    bool just = false; /* the word before held "{}" */
    (void)arg;
    e->ask = ps->name[1] == 'o';
    e->dir = strstr(ps->name, "dir") != NULL;
    for (; end < ps->argc && strcmp(ps->argv[end], ";") != 0; end++) {
        if (!e->ask && just && strcmp(ps->argv[end], "+") == 0) {
            e->plus = true;
            break;
        }
        just = strstr(ps->argv[end], "{}") != NULL;
        if (just) {
            brace = ps->argv[end];
            braces++;
        }
    }
    if (end == ps->argc)
        return find__bad(f, "missing argument to `%s'", ps->name);
    if (end == ps->i)
        return find__bad(f, "invalid argument `%s' to `%s'", ps->argv[end], ps->name);
    if ((e->plus && !check_plus(f, e, brace, braces)) || (e->dir && !check_path(f, ps->name)))
        return false;
    e->argv = ps->argv + ps->i;
    e->argc = end - ps->i - e->plus;
    for (int i = 0; i < e->argc; i++)
        e->fixed += strlen(e->argv[i]) + 1;
    buf_init(&e->args, LIMIT_ARGS);
    f->any_dir_batch |= e->dir && e->plus;
    e->next = f->execs;
    f->execs = e;
    ps->i = end + 1;
    ps->t->exec = e;
    return true;
}

/* ---- running ---- */

/* Runs in the directory @cwd when it is not 0: the status, or why it could not be run. */
static int spawn_in(struct find *f, uint64_t cwd, int argc, char **argv, struct outcome *ret)
{
    struct cmd *c = f->c;
    struct vfs_handle *home = NULL;
    if (cwd == 0)
        return cmd_spawn(c, argc, argv, NULL, ret);
    int r = vfs_open_ino(f->v, cmd_ctx(c).cwd, O_PATH, &home); /* held, so that there is a way back */
    if (r < 0)
        return r;
    cmd_flush(c);
    r = proc_chdir_ino(c->p, cwd);
    if (r == 0) {
        r = cmd_spawn(c, argc, argv, NULL, ret);
        proc_chdir_ino(c->p, vfs_handle_ino(home));
    }
    vfs_close(home);
    return r;
}

/* Whether the command ended well; in the + form a failure is find's own. */
static bool run(struct find *f, const struct find_exec *e, uint64_t cwd, int argc, char **argv)
{
    struct outcome o;
    int r = spawn_in(f, cwd, argc, argv, &o);
    if (f->c->p->must_end) {
        f->stop = f->fatal = true;
        return false;
    }
    if (r < 0)
        cmd_errno(f->c, r, "%s", cmd_quote_loc(f->c, argv[0]));
    else if (o.kind != OUTCOME_EXITED)
        cmd_err(f->c, "%s terminated by signal %d", cmd_quote_loc(f->c, argv[0]),
                o.kind == OUTCOME_KILLED && o.signal ? o.signal : SIGKILL);
    bool good = r == 0;
    if (!good && e->plus)
        f->status = 1;
    return good;
}

/* Runs what waits. */
static void run_batch(struct find *f, struct find_exec *e)
{
    struct arena_mark m = arena_mark(f->c->arena);
    size_t n = (size_t)e->argc + (size_t)e->n_args;
    char **argv = arena_try(f->c->arena, (n + 1) * sizeof *argv);
    if (!argv || e->args.err) {
        f->status = cmd_no_memory(f->c);
        f->stop = f->fatal = true;
        return;
    }
    memcpy(argv, e->argv, (size_t)e->argc * sizeof *argv);
    char *p = e->args.p;
    for (size_t i = (size_t)e->argc; i < n; i++) {
        argv[i] = p;
        p += strlen(p) + 1;
    }
    argv[n] = NULL;
    run(f, e, e->cwd, (int)n, argv);
    buf_clear(&e->args);
    e->n_args = 0;
    arena_reset(f->c->arena, m);
}

void find__run_pending(struct find *f, bool all)
{
    /* The list is in the order from the last to the first; the real tool runs them from the first. */
    struct find_exec *first = NULL;
    for (struct find_exec *e = f->execs; e; e = e->next)
        if (e->n_args > 0 && (all || e->dir))
            first = e;
    while (first && !f->fatal) {
        struct find_exec *after = NULL;
        run_batch(f, first);
        for (struct find_exec *e = f->execs; e && e != first; e = e->next)
            if (e->n_args > 0 && (all || e->dir))
                after = e;
        first = after;
    }
}

void find__execs_done(struct find *f)
{
    for (struct find_exec *e = f->execs; e; e = e->next)
        buf_done(&e->args);
    mem_free(f->tests);
}

/* Longest command line. */
static size_t batch_limit(struct find *f)
{
    size_t env = 0;
    for (char **e = cmd_environ(f->c); *e; e++)
        env += strlen(*e) + 1;
    size_t most = env + BATCH_HEADROOM < LIMIT_ARGS ? LIMIT_ARGS - BATCH_HEADROOM - env : 1;
    return most < BATCH_BYTES ? most : BATCH_BYTES;
}

static void queue(struct find *f, struct find_exec *e, struct str name, uint64_t cwd)
{
    size_t more = name.n + 1;
    if (f->batch_bytes == 0)
        f->batch_bytes = batch_limit(f);
    if (e->n_args > 0 && e->fixed + e->args.n + more > f->batch_bytes)
        run_batch(f, e);
    if (e->fixed + more > f->batch_bytes) {
        cmd_err(f->c, "cannot fit single argument within argument list size limit");
        f->status = 1;
        f->stop = f->fatal = true;
        return;
    }
    buf_adds(&e->args, name);
    buf_putc(&e->args, 0);
    e->n_args++;
    e->cwd = cwd;
}

/* @word with each "{}" replaced, in the arena; NULL: no memory. */
static char *replace(struct find *f, char *word, struct str name)
{
    if (!strstr(word, "{}"))
        return word;
    BUF_AUTO struct buf b;
    buf_init(&b, LIMIT_ARGS);
    const char *p = word;
    for (const char *q; (q = strstr(p, "{}")); p = q + 2) {
        buf_add(&b, p, (size_t)(q - p));
        buf_adds(&b, name);
    }
    buf_addc(&b, p);
    char *r = b.err ? NULL : arena_try(f->c->arena, b.n + 1);
    if (r)
        memcpy(r, b.p, b.n + 1);
    return r;
}

/* -ok: asks, and runs with standard input closed. */
static bool run_asked(struct find *f, const struct find_exec *e, uint64_t cwd, int argc, char **argv)
{
    struct cmd *c = f->c;
    if (!cmd_ask(c, "< %s ... %s > ? ", argv[0], f->path.p))
        return false;
    int kept = proc_dup(c->p, 0, 10, true);
    proc_close(c->p, 0);
    bool r = run(f, e, cwd, argc, argv);
    if (kept >= 0) {
        proc_dup2(c->p, kept, 0, false);
        proc_close(c->p, kept);
    }
    return r;
}

static bool run_one(struct find *f, const struct find_exec *e, struct str name, uint64_t cwd)
{
    struct arena_mark m = arena_mark(f->c->arena);
    char **argv = arena_try(f->c->arena, ((size_t)e->argc + 1) * sizeof *argv);
    bool ok = argv != NULL;
    for (int i = 0; i < e->argc && ok; i++) {
        argv[i] = replace(f, e->argv[i], name);
        ok = argv[i] != NULL;
    }
    if (!ok) {
        f->status = cmd_no_memory(f->c);
        f->stop = f->fatal = true;
        return false;
    }
    argv[e->argc] = NULL;
    bool r = e->ask ? run_asked(f, e, cwd, e->argc, argv) : run(f, e, cwd, e->argc, argv);
    arena_reset(f->c->arena, m);
    return r;
}

/* Where -execdir runs for the current entry: the directory that holds it. */
static int dir_of(struct find *f, uint64_t *ret)
{
    struct vfs_ctx ctx = cmd_ctx(f->c);
    uint64_t dir = f->parent;
    if (dir == 0) {
        struct str s = buf_str(&f->path);
        while (s.n > 1 && s.p[s.n - 1] == '/')
            s.n--;
        while (s.n > 0 && s.p[s.n - 1] != '/')
            s.n--;
        int r = vfs_lookup(f->v, &ctx, 0, s.n ? s : STR("."), VFS_DIRECTORY, &dir);
        if (r < 0)
            return r;
    }
    *ret = dir;
    return vfs_access_ino(f->v, &f->c->p->cred, dir, X_OK);
}

bool find__t_exec(struct find *f, const struct find_test *t)
{
    struct find_exec *e = t->exec;
    struct str name = buf_str(&f->path);
    struct arena_mark m = arena_mark(f->c->arena);
    uint64_t cwd = 0;
    if (e->dir) {
        struct str base = find__base(f);
        bool slash = base.p + base.n < f->path.p + f->path.n;
        const char *text =
            str_eqc(base, "/") ? "/" : arena_printf(f->c->arena, "./%.*s%s", (int)base.n, base.p, slash ? "/" : "");
        int r = dir_of(f, &cwd);
        name = str_c(text);
        if (r < 0) {
            cmd_errno(f->c, r, "Failed to save working directory in order to run a command on %s",
                      cmd_quote_loc(f->c, arena_dup(f->c->arena, base.p, base.n)));
            f->status = 1;
            f->stop = f->fatal = true;
            return false;
        }
    }
    bool r = true;
    if (e->plus)
        queue(f, e, name, cwd);
    else
        r = run_one(f, e, name, cwd);
    arena_reset(f->c->arena, m);
    return r;
}

/* ---- -delete ---- */

bool find__arg_delete(struct find_parse *ps, const char *arg)
{
    (void)arg;
    ps->f->post = true;
    ps->f->deletes = true;
    return true;
}

bool find__t_delete(struct find *f, const struct find_test *t)
{
    struct vfs_ctx ctx = cmd_ctx(f->c);
    struct str name = find__ref(f);
    (void)t;
    if (str_eqc(name, "."))
        return true;
    bool dir = f->type == S_IFDIR;
    int r = dir ? vfs_rmdir(f->v, &ctx, f->parent, name) : vfs_unlink(f->v, &ctx, f->parent, name);
    if (!dir && r == -EISDIR)
        r = vfs_rmdir(f->v, &ctx, f->parent, name);
    if (r == 0 || (r == -ENOENT && f->ignore_race))
        return true;
    struct arena_mark m = arena_mark(f->c->arena);
    cmd_errno(f->c, r, "cannot delete %s", cmd_quote_loc(f->c, f->path.p));
    arena_reset(f->c->arena, m);
    f->status = 1;
    return false;
}
