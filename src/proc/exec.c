/* SPDX-License-Identifier: Apache-2.0 */
#include "proc/proc_int.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/num.h"
#include "engine/engine.h"

#define SCRIPT_DEPTH 4 /* "#!" followed, as Linux (ELOOP beyond) */

/* One program to run: what was asked for, and what "#!" made of it. */
struct image {
    struct exec_image img;
    char head[ENGINE_HEAD + 1];
    char **argv; /* own, NULL: the caller's */
};

/* Opens @path for execution: its inode, and its first bytes in @im. */
static int load_head(struct proc *p, struct str path, struct image *im)
{
    struct vfs *v = p->ps->v;
    struct vfs_ctx ctx = proc_ctx(p);
    struct vfs_stat st;
    struct vfs_handle *h;
    uint64_t ino;
    int r = vfs_lookup(v, &ctx, 0, path, 0, &ino);
    if (r < 0)
        return r;
    r = vfs_stat_ino(v, ino, &st);
    if (r < 0)
        return r;
    if (!S_ISREG(st.mode))
        return -EACCES;
    r = vfs_access_ino(v, &p->cred, ino, X_OK);
    if (r < 0)
        return r;
    r = vfs_open_ino(v, ino, O_RDONLY, &h);
    if (r < 0)
        return r;
    ssize_t n = vfs_pread(h, im->head, ENGINE_HEAD, 0);
    vfs_close(h);
    if (n < 0)
        return (int)n;
    im->head[n] = 0;
    im->img.ino = ino;
    im->img.path = path;
    im->img.head = str_of(im->head, (size_t)n);
    return 0;
}

static bool blank(char c)
{
    return c == ' ' || c == '\t';
}

/*
 * The "#!" line in im->head, cut up in place as Linux's binfmt_script does: interpreter, and the rest as one argument
 * (NULL if none) without blanks around it. -ENOEXEC when the line names nothing or does not fit.
 */
static int script_line(struct image *im, char **ret_interp, char **ret_arg)
{
    char *s = im->head + 2, *end = im->head + im->img.head.n;
    char *nl = memchr(s, '\n', (size_t)(end - s));
    if (nl)
        end = nl;
    while (s < end && blank(*s))
        s++;
    char *stop = s;
    while (stop < end && !blank(*stop) && *stop)
        stop++;
    if (stop == s || (!nl && stop == end && im->img.head.n == ENGINE_HEAD))
        return -ENOEXEC;
    while (end > stop && blank(end[-1]))
        end--;
    *end = 0;
    char *arg = stop;
    while (arg < end && blank(*arg))
        arg++;
    *stop = 0;
    *ret_interp = s;
    *ret_arg = *arg && arg < end ? arg : NULL;
    return 0;
}

/* Puts interpreter, its argument and the script's path before argv[1…]. @keep gets copies of the texts from im->head,
 * which is reused. */
static int script_argv(struct image *im, const char *interp, const char *arg, struct str path, char **keep)
{
    size_t n_extra = arg ? 3 : 2;
    size_t argc = (size_t)im->img.argc, rest = argc ? argc - 1 : 0;
    size_t li = strlen(interp) + 1, la = arg ? strlen(arg) + 1 : 0;
    char *text = mem_alloc(li + la + path.n + 1);
    char **argv = mem_alloc((n_extra + rest + 1) * sizeof(char *));
    memcpy(text, interp, li);
    argv[0] = text;
    if (arg) {
        memcpy(text + li, arg, la);
        argv[1] = text + li;
    }
    memcpy(text + li + la, path.p, path.n);
    text[li + la + path.n] = 0;
    argv[n_extra - 1] = text + li + la;
    for (size_t i = 0; i < rest; i++)
        argv[n_extra + i] = im->img.argv[i + 1];
    argv[n_extra + rest] = NULL;
    mem_free(im->argv);
    im->argv = im->img.argv = argv;
    im->img.argc = (int)(n_extra + rest);
    im->img.path = str_of(text, li - 1);
    *keep = text;
    return 0;
}

/* The engine that claims the image: index, or -ENOEXEC and the like. */
static int find_engine(const struct proc_set *ps, const struct exec_image *img)
{
    for (uint32_t i = 0; i < ps->n_engines; i++) {
        int r = ps->engines[i].ops->claims(ps->engines[i].engine, img);
        if (r < 0)
            return r;
        if (r)
            return (int)i;
    }
    return -ENOEXEC;
}

/* Follows "#!" until an engine claims the image: its index. @keep: SCRIPT_DEPTH texts to free after the run. */
static int resolve(struct proc *p, struct image *im, struct str path, char **keep)
{
    for (int depth = 0;; depth++) {
        char *interp, *arg;
        int r = load_head(p, path, im);
        if (r < 0)
            return r;
        if (!str_starts(im->img.head, STR("#!")))
            return find_engine(p->ps, &im->img);
        if (depth == SCRIPT_DEPTH)
            return -ELOOP;
        r = script_line(im, &interp, &arg);
        if (r < 0)
            return r;
        r = script_argv(im, interp, arg, path, &keep[depth]);
        if (r < 0)
            return r;
        path = im->img.path;
    }
}

static void free_keep(char **keep, struct image *im)
{
    for (int i = 0; i < SCRIPT_DEPTH; i++)
        mem_free(keep[i]);
    mem_free(im->argv);
}

/* Bytes of argv against LIMIT_ARGS, each with its pointer, as Linux counts. */
static int check_args(int argc, char **argv)
{
    size_t sum = 0;
    for (int i = 0; i < argc; i++) {
        sum += strlen(argv[i]) + 1 + sizeof(char *);
        if (sum > LIMIT_ARGS)
            return -E2BIG;
    }
    return 0;
}

static struct str last_component(struct str path)
{
    const char *slash = path.n ? memrchr(path.p, '/', path.n) : NULL;
    return slash ? str_from(path, (size_t)(slash - path.p) + 1) : path;
}

/* The name in /proc/PID/comm: the last component of the path, 15 bytes, of a script its own. */
static void set_comm(struct proc *p, struct str path)
{
    struct str name = last_component(path);
    size_t n = NUM_MIN(name.n, sizeof(p->priv->comm) - 1);
    memcpy(p->priv->comm, name.p, n);
    p->priv->comm[n] = 0;
    p->comm = p->priv->comm;
}

/* The point of no return of execve(2). */
static void become(struct proc *p, const struct image *im, struct str path, uint32_t engine)
{
    struct proc_priv *pr = p->priv;
    fds__close_exec(p);
    for (int s = 1; s <= 64 && p->sig_caught; s++)
        if (p->sig_caught & SIG_BIT(s))
            (void)proc_sigaction(p, s, PROC_SIG_DEFAULT);
    set_comm(p, path);
    p->argv = im->img.argv;
    if (pr->cmdline && --pr->cmdline->refs == 0)
        mem_free(pr->cmdline);
    pr->cmdline = NULL;
    pr->exe_ino = im->img.ino;
    pr->env = im->img.env;
    pr->env_arg = im->img.env_arg;
    p->engine = p->ps->engines[engine].ops;
    p->engine_priv = NULL;
    pr->engine_obj = p->ps->engines[engine].engine;
    if (pr->on_exec)
        pr->on_exec(pr->on_exec_arg);
    pr->on_exec = NULL;
}

/* The line behind @magic, or an empty str when @head does not begin with it. */
static struct str name_behind(struct str head, struct str magic)
{
    if (!str_starts(head, magic))
        return STR("");
    struct str name = str_from(head, magic.n);
    ptrdiff_t nl = str_find(name, '\n', 0);
    return nl < 0 ? name : str_of(name.p, (size_t)nl);
}

struct str proc_tool_name(struct str head)
{
    return name_behind(head, STR(PROC_TOOL_MAGIC));
}

/* What is run: a command or a tool by its own name, whatever its file is called; of other files the name. */
static struct str program_name(const struct image *im)
{
    struct str name = proc_tool_name(im->img.head);
    if (!name.n)
        name = name_behind(im->img.head, STR(PROC_COMMAND_MAGIC));
    return name.n ? name : last_component(im->img.path);
}

static bool permitted(struct proc_set *ps, const struct image *im)
{
    const char *why = ps->host.refuses ? ps->host.refuses(ps->host.arg, program_name(im)) : NULL;
    if (why)
        ps->refusal = why;
    return !why;
}

const char *proc_refusal(const struct proc_set *ps)
{
    return ps->refusal ? ps->refusal : "";
}

/* The host hears of each tool that runs for itself, and of programs that are files of the session's own; of commands it
 * does not, they are the rule. */
static void tell_program(struct proc *p, const struct image *im)
{
    struct str name = program_name(im), reason = STR("");
    if (!p->ps->host.decided || str_starts(im->img.head, STR(PROC_COMMAND_MAGIC)))
        return;
    if (proc_tool_name(im->img.head).n == 0) {
        /* The report has a line for each, with tabs. */
        if (memchr(name.p, '\t', name.n) || memchr(name.p, '\n', name.n))
            name = STR("?");
        reason = STR("a module of the session's own");
    }
    p->ps->host.decided(p->ps->host.arg, name, p->engine->name, reason);
}

int proc_exec(struct proc *p, struct str path, int argc, char **argv, char **(*env)(void *), void *env_arg,
              struct outcome *ret)
{
    char *keep[SCRIPT_DEPTH] = {NULL};
    struct image im;
    if (p->must_end)
        return -EINTR;
    int r = check_args(argc, argv);
    if (r < 0)
        return r;
    im.img = (struct exec_image){.argc = argc, .argv = argv, .env = env, .env_arg = env_arg};
    im.argv = NULL;
    r = resolve(p, &im, path, keep);
    if (r >= 0 && !permitted(p->ps, &im))
        r = -EPERM;
    if (r >= 0) {
        struct outcome o = {.kind = OUTCOME_LOST};
        become(p, &im, path, (uint32_t)r);
        tell_program(p, &im);
        r = p->must_end ? 0 : p->engine->run(p->priv->engine_obj, p, &im.img, &o);
        p->engine = NULL;
        p->argv = NULL;
        p->priv->env = NULL;
        if (r >= 0) {
            *ret = life__final(p, o);
            r = 0;
        }
    }
    free_keep(keep, &im);
    return r;
}

/* The image that the file of the tool @name would be. @head has room for ENGINE_HEAD bytes. -ENAMETOOLONG. */
static int tool_image(struct exec_image *img, struct str name, char *head)
{
    struct str magic = STR(PROC_TOOL_MAGIC);
    if (name.n + magic.n + 1 > ENGINE_HEAD)
        return -ENAMETOOLONG;
    memcpy(head, magic.p, magic.n);
    memcpy(head + magic.n, name.p, name.n);
    head[magic.n + name.n] = '\n';
    img->head = str_of(head, magic.n + name.n + 1);
    return 0;
}

static int find_tool(const struct proc_set *ps, struct exec_image *img, struct str name, char *head)
{
    int r = tool_image(img, name, head);
    return r < 0 ? r : find_engine(ps, img);
}

bool proc_has_tool(const struct proc_set *ps, struct str name)
{
    char head[ENGINE_HEAD];
    struct exec_image img = {0};
    return find_tool(ps, &img, name, head) >= 0;
}

int proc_hand_over(struct proc *p, const struct exec_image *img, struct str name, struct str reason,
                   struct outcome *ret)
{
    char head[ENGINE_HEAD];
    struct exec_image tool = *img;
    int r = find_tool(p->ps, &tool, name, head);
    if (r < 0)
        return -ENOENT;
    p->engine = p->ps->engines[r].ops;
    p->priv->engine_obj = p->ps->engines[r].engine;
    if (p->ps->host.decided)
        p->ps->host.decided(p->ps->host.arg, name, p->engine->name, reason);
    return p->engine->run(p->priv->engine_obj, p, &tool, ret);
}

void proc_on_exec(struct proc *p, void (*fn)(void *arg), void *arg)
{
    p->priv->on_exec = fn;
    p->priv->on_exec_arg = arg;
}

int proc_exec_probe(struct proc *p, struct str path, const struct engine_ops **ret_ops, uint64_t *ret_ino)
{
    char *keep[SCRIPT_DEPTH] = {NULL};
    char *argv[] = {NULL};
    struct image im;
    im.img = (struct exec_image){.argv = argv};
    im.argv = NULL;
    struct image *i = &im;
    int r = resolve(p, i, path, keep);
    free_keep(keep, i);
    if (ret_ops)
        *ret_ops = r >= 0 ? p->ps->engines[r].ops : NULL;
    if (r < 0)
        return r;
    if (ret_ino)
        *ret_ino = i->img.ino;
    return 0;
}
