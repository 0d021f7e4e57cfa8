/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/exec_int.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "shell/job_int.h"
#include "shell/trap_int.h"
#include "types/errtab.h"

/* ---- PATH ---- */

/* Whether @path is a file that may be run: 0, -ENOENT, or -EACCES for one that exists but may not. */
static int executable(struct shell *sh, struct str path)
{
    struct vfs *v = proc_set_vfs(sh->ps);
    struct vfs_ctx ctx = proc_ctx(sh->p);
    struct vfs_stat st;
    uint64_t ino;
    if (vfs_lookup(v, &ctx, 0, path, 0, &ino) < 0 || vfs_stat_ino(v, ino, &st) < 0)
        return -ENOENT;
    if (S_ISDIR(st.mode))
        return -ENOENT;
    return vfs_access_ino(v, &sh->p->cred, ino, X_OK) < 0 ? -EACCES : 0;
}

/* Walks @path; the first file that may be run, else the first that exists (-EACCES), appended to @out. */
static int search(struct shell *sh, struct str name, const char *path, struct buf *out)
{
    size_t start = out->n;
    struct buf denied BUF_AUTO;
    buf_init(&denied, LIMIT_PATH * 2);
    for (const char *p = path;;) {
        const char *end = strchr(p, ':');
        size_t n = end ? (size_t)(end - p) : strlen(p);
        buf_trunc(out, start);
        if (n)
            buf_add(out, p, n);
        else
            buf_putc(out, '.');
        if (out->n > start && out->p[out->n - 1] != '/')
            buf_putc(out, '/');
        buf_adds(out, name);
        int r = out->err ? -ENOENT : executable(sh, str_from(buf_str(out), start));
        if (r == 0)
            return 0;
        if (r == -EACCES && !denied.n)
            buf_adds(&denied, str_from(buf_str(out), start));
        if (!end)
            break;
        p = end + 1;
    }
    buf_trunc(out, start);
    if (!denied.n)
        return -ENOENT;
    buf_adds(out, buf_str(&denied));
    return -EACCES;
}

static const char *hash_get(struct shell *sh, struct str name, bool count)
{
    struct hash_entry *e = sh->hashed ? map_get(sh->hashed, name) : NULL;
    if (!e)
        return NULL;
    if (sh_shopt(sh, SHOPT_CHECKHASH) && executable(sh, str_c(e->path)) < 0)
        return NULL;
    if (count)
        e->hits++;
    return e->path;
}

int exec_find_path(struct shell *sh, struct str name, const char *path, bool hash, struct buf *out)
{
    if (memchr(name.p, '/', name.n)) {
        int r = executable(sh, name);
        if (r == 0)
            buf_adds(out, name);
        return r;
    }
    const char *known = path ? NULL : hash_get(sh, name, false);
    if (known)
        return buf_addc(out, known);
    size_t start = out->n;
    struct str p = path ? str_c(path) : var_get(sh, "PATH");
    int r = search(sh, name, p.p ? p.p : "", out);
    if (r == 0 && hash && !path && sh_opt(sh, OPT_HASHALL))
        exec_hash_set(sh, name, str_from(buf_str(out), start));
    return r;
}

/* ---- running ---- */

static char **env_of(void *arg)
{
    struct shell *sh = arg;
    return var_environ(sh, &sh->scratch);
}

bool exec_hash_allowed(struct shell *sh, const char *who, struct str path)
{
    struct buf out BUF_AUTO;
    buf_init(&out, LIMIT_PATH * 2);
    if (!sh->restricted)
        return true;
    bool slash = memchr(path.p, '/', path.n) != NULL;
    if (!slash && exec_find_path(sh, path, NULL, false, &out) == 0)
        return true;
    sh_error(sh, "%s%.*s: %s", who, (int)path.n, path.p, slash ? "restricted" : "not found");
    return false;
}

static char **no_env(void *arg)
{
    static char *none[] = {NULL};
    (void)arg;
    return none;
}

static char **make_argv(struct shell *sh, int argc, const struct str *argv)
{
    char **v = arena_alloc(&sh->scratch, ((size_t)argc + 1) * sizeof *v);
    for (int i = 0; i < argc; i++)
        memcpy(&v[i], &argv[i].p, sizeof v[i]);
    v[argc] = NULL;
    return v;
}

static struct outcome exited(int code)
{
    return (struct outcome){.kind = OUTCOME_EXITED, .code = (uint8_t)code};
}

/* The first bytes of a file that no engine claims. */
static size_t file_head(struct shell *sh, struct str path, char *out, size_t n)
{
    struct vfs_ctx ctx = proc_ctx(sh->p);
    struct vfs_handle *h;
    if (vfs_open(proc_set_vfs(sh->ps), &ctx, 0, path, O_RDONLY, 0, &h) < 0)
        return 0;
    ssize_t got = vfs_pread(h, out, n, 0);
    vfs_close(h);
    return got > 0 ? (size_t)got : 0;
}

/* As bash asks, of a file that no engine ran: a byte 0 in its first line, or a mark of machine code. A program of the
 * userland that could not be loaded is no script either. */
static bool is_binary(const char *p, size_t n)
{
    if (n > 0 && *p == '\177')
        return true;
    const char *nl = memchr(p, '\n', n);
    return memchr(p, 0, nl ? (size_t)(nl - p) : n) != NULL;
}

/* A file without "#!" that no engine claims is a script of this shell's language (POSIX, 2.9.1.1). */
static struct outcome run_script(struct shell *sh, struct str path, int argc, char **argv)
{
    char **v = arena_alloc(&sh->scratch, ((size_t)argc + 3) * sizeof *v);
    static char name[] = "bash";
    v[0] = name;
    memcpy(&v[1], &path.p, sizeof v[1]);
    for (int i = 1; i < argc; i++)
        v[i + 1] = argv[i];
    v[argc + 1] = NULL;
    struct shell_start start = {.world = sh->world, .argc = argc + 1, .argv = v, .envp = env_of(sh)};
    start.posix = sh_opt(sh, OPT_POSIX);
    return shell_main(sh->p, &start);
}

/* The interpreter named in "#!". */
static struct str interpreter(const char *head, size_t n)
{
    struct str s = str_of(head, n);
    if (!str_starts(s, STR("#!")))
        return (struct str){0};
    s = str_from(s, 2);
    while (s.n && (*s.p == ' ' || *s.p == '\t'))
        s = str_from(s, 1);
    size_t k = 0;
    while (k < s.n && s.p[k] != ' ' && s.p[k] != '\t' && s.p[k] != '\n')
        k++;
    return str_of(s.p, k);
}

/* A failed start, told as bash tells it: the status. */
static int cannot_run(struct shell *sh, struct str name, struct str path, int err)
{
    struct vfs_ctx ctx = proc_ctx(sh->p);
    struct vfs_stat st;
    char head[128];
    size_t n = file_head(sh, path, head, sizeof head);
    struct str interp = interpreter(head, n);
    int r = vfs_stat(proc_set_vfs(sh->ps), &ctx, 0, path, 0, &st);
    const char *p = path.p;
    if (r == 0 && S_ISDIR(st.mode)) {
        sh_error(sh, "%s: Is a directory", p);
    } else if (err == -ENOEXEC) {
        sh_error(sh, "%s: cannot execute binary file: %s", p, errtab_text(ENOEXEC));
    } else if (err == -ENOENT && r == 0) {
        sh_error(sh, "%s: cannot execute: required file not found", p);
        if (interp.n && interp.p[interp.n - 1] == '\r')
            sh_hint_crlf(sh);
        return 127;
    } else if (err == -EACCES && interp.n && executable(sh, path) == 0) {
        struct buf out BUF_AUTO;
        buf_init(&out, LIMIT_STRING);
        buf_addf(&out, "%s: %s: %.*s: bad interpreter: %s\n", sh->script_name, p, (int)interp.n, interp.p,
                 errtab_text(err));
        sh_write_fd(sh, 2, buf_str(&out));
    } else {
        sh_errno(sh, err, "%.*s", (int)name.n, p);
        if (err == -ENOENT)
            return 127;
        if (err == -EPERM && *proc_refusal(sh->ps)) {
            struct buf line BUF_AUTO;
            buf_init(&line, LIMIT_STRING);
            buf_addf(&line, "frontal-sandbox: %s\n", proc_refusal(sh->ps));
            sh_write_fd(sh, 2, buf_str(&line));
        }
    }
    return 126;
}

/* Runs @path in sh->p to its end. False after a message, with the status in *ret. */
static bool run_path(struct shell *sh, struct str path, int argc, char **argv, bool clear_env, struct outcome *ret)
{
    struct outcome o;
    struct str shown = path;
    sh->env_path = path;
    int r = proc_exec(sh->p, path, argc, argv, clear_env ? no_env : env_of, sh, &o);
    if (r == -ENOEXEC) {
        char head[128];
        size_t n = file_head(sh, path, head, sizeof head);
        if (!is_binary(head, n)) {
            *ret = run_script(sh, path, argc, argv);
            return true;
        }
    }
    if (r == -EINTR) {
        *ret = exited(0); /* replaced by how the process had to end */
        return true;
    }
    if (r < 0) {
        *ret = exited(cannot_run(sh, shown, path, r));
        return false;
    }
    *ret = o;
    return true;
}

/* `command_not_found_handle`, if the user has one, runs in the child with the whole command line. */
static struct outcome not_found(struct shell *sh, int argc, struct str *argv)
{
    struct func *f = func_find(sh, STR("command_not_found_handle"));
    if (!f) {
        sh_error(sh, "%s: command not found", sh_shown(sh, argv[0]));
        sh_hint_command(sh, argv[0]);
        return exited(127);
    }
    struct str *v = arena_alloc(&sh->scratch, ((size_t)argc + 1) * sizeof *v);
    v[0] = f->name;
    memcpy(v + 1, argv, (size_t)argc * sizeof *v);
    struct shell *csh = shell_clone(sh, sh->p);
    (void)exec_function(csh, f, argc + 1, v);
    struct outcome o = shell_finish(csh);
    shell_free(csh);
    return o;
}

struct program {
    const struct node *node;
    int argc;
    struct str *argv;
    struct str path; /* empty: not found */
};

/* In the child: redirections, then the program. */
static struct outcome in_child(struct shell *sh, const struct program *g)
{
    if (g->node && g->node->redirs) {
        int status = exec__redirs(sh, g->node, NULL);
        if (status)
            return exited(status);
    }
    if (!g->path.n)
        return not_found(sh, g->argc, g->argv);
    struct outcome o;
    (void)run_path(sh, g->path, g->argc, make_argv(sh, g->argc, g->argv), false, &o);
    return o;
}

/* Where the name leads; empty when nowhere. The hash learns it in the shell itself, not in the child. */
static struct str locate(struct shell *sh, struct str name, const char *path)
{
    if (!name.n || memchr(name.p, '/', name.n))
        return name;
    const char *known = path ? NULL : hash_get(sh, name, true);
    if (known)
        return arena_str(&sh->scratch, str_c(known));
    struct buf out BUF_AUTO;
    buf_init(&out, LIMIT_PATH * 2);
    int r = exec_find_path(sh, name, path, true, &out);
    if (r == 0 && !path)
        (void)hash_get(sh, name, true);
    return r == -ENOENT ? (struct str){0} : arena_str(&sh->scratch, buf_str(&out));
}

/* A redirection whose expansion changes the shell would be seen after the command; bash makes it in the child, where it
 * is lost. */
static bool part_changes(const struct part *p)
{
    for (; p; p = p->next) {
        if (p->kind == PART_ARITH)
            return true;
        if (p->kind == PART_DQUOTE && part_changes(p->parts))
            return true;
        if (p->kind == PART_PARAM && (p->param->op != OP_NONE || p->param->subscript))
            return true;
    }
    return false;
}

static bool redirs_change(const struct node *n)
{
    for (const struct redir *r = n ? n->redirs : NULL; r; r = r->next)
        if (r->var.n || (r->target && part_changes(r->target->parts)))
            return true;
    return false;
}

static int run_inline(struct shell *sh, const struct program *g)
{
    struct proc *parent = sh->p, *child;
    /* What runs beside gets its turn, as it would while a kernel starts a program. */
    proc_yield(parent);
    int r = proc_fork_inline(parent, &child);
    if (r < 0)
        return exec__cannot_fork(sh, r);
    struct outcome o;
    if (redirs_change(g->node)) {
        struct shell *csh = shell_clone(sh, child);
        o = in_child(csh, g);
        shell_free(csh);
    } else {
        if (sh->interactive)
            shell__reset_signals(sh, child);
        sh->p = child;
        o = in_child(sh, g);
        sh->p = parent;
    }
    int pid = child->pid;
    o = proc_end_inline(child, o);
    return exec__child_status(sh, pid, o, g->node);
}

/* ---- on a stack of its own ---- */

struct program_start {
    struct shell *sh; /* the clone */
    struct program g; /* in its scratch */
    struct ast *unit;
};

static struct outcome program_main(struct proc *p, void *arg)
{
    struct program_start *s = arg;
    (void)p;
    struct outcome o = in_child(s->sh, &s->g);
    shell_free(s->sh);
    ast_unref(s->unit);
    mem_free(s);
    return o;
}

static int run_forked(struct shell *sh, const struct program *g)
{
    struct proc *child;
    struct program_start *s = mem_zalloc(sizeof *s);
    int r = proc_fork(sh->p, true, program_main, s, &child);
    if (r < 0) {
        mem_free(s);
        return exec__cannot_fork(sh, r);
    }
    struct shell *csh = s->sh = shell_clone(sh, child);
    s->unit = sh->unit ? ast_ref(sh->unit) : NULL;
    s->g = *g;
    s->g.argv = arena_alloc(&csh->scratch, (size_t)g->argc * sizeof *g->argv);
    for (int i = 0; i < g->argc; i++)
        s->g.argv[i] = arena_str(&csh->scratch, g->argv[i]);
    s->g.path = arena_str(&csh->scratch, g->path);
    int pid = child->pid;
    if (sh_opt(sh, OPT_MONITOR))
        return job_foreground(sh, &pid, 1, g->node);
    struct outcome o = exec__wait(sh, pid);
    return exec__child_status(sh, pid, o, g->node);
}

int exec__program(struct shell *sh, const struct node *n, int argc, struct str *argv, int flags, const char *path)
{
    if (sh->restricted && memchr(argv[0].p, '/', argv[0].n)) {
        sh_error(sh, "%s: restricted: cannot specify `/' in command names", argv[0].p);
        return 1;
    }
    struct program g = {.node = n, .argc = argc, .argv = argv, .path = locate(sh, argv[0], path)};
    if (!argv[0].n)
        g.path = (struct str){0};
    if ((flags & EXEC_NO_FORK) && g.path.n && !trap_any(sh)) {
        sh->shlvl_less = !(flags & EXEC_IN_PIPE);
        sh->exec_outcome = in_child(sh, &g);
        sh->exec_done = true;
        sh->flow = FLOW_EXIT;
        return sh->last_status = outcome_status(sh->exec_outcome);
    }
    if (sh_opt(sh, OPT_MONITOR) || exec__stack_low(sh))
        return run_forked(sh, &g);
    return run_inline(sh, &g);
}

int exec__replace(struct shell *sh, int argc, struct str *argv, struct str arg0, bool clear_env)
{
    struct outcome o;
    struct str path = locate(sh, argv[0], NULL);
    struct vfs_ctx ctx = proc_ctx(sh->p);
    struct vfs_stat st;
    if (!path.n) {
        bool dir = vfs_stat(proc_set_vfs(sh->ps), &ctx, 0, argv[0], 0, &st) == 0 && S_ISDIR(st.mode);
        sh_error(sh, dir ? "exec: %s: cannot execute: %s" : "exec: %s: not found", argv[0].p, errtab_text(-EISDIR));
        return dir ? 126 : 127;
    }
    if (path.p[0] != '/') {
        struct str name = str_starts(path, STR("./")) ? str_from(path, 2) : path;
        path = str_c(arena_printf(&sh->scratch, "%.*s/%s", (int)sh->pwd.n, sh->pwd.p, name.p));
    }
    if (vfs_stat(proc_set_vfs(sh->ps), &ctx, 0, path, 0, &st) == -ENOENT) {
        sh_error(sh, "%s: %s", path.p, errtab_text(ENOENT));
        return 127;
    }
    char **v = make_argv(sh, argc, argv);
    sh->shlvl_less = true;
    if (arg0.p)
        memcpy(&v[0], &arg0.p, sizeof v[0]);
    if (!run_path(sh, path, argc, v, clear_env, &o)) {
        if (o.code == 127) /* told whole */
            return o.code;
        int r = executable(sh, path) < 0 ? -EACCES : -ENOEXEC;
        if (S_ISDIR(st.mode))
            r = -EISDIR;
        sh_error(sh, "exec: %s: cannot execute: %s", path.p, errtab_text(r));
        return o.code;
    }
    sh->exec_outcome = o;
    sh->exec_done = true;
    sh->flow = FLOW_EXIT;
    return outcome_status(o);
}
