/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/builtin/compgen_int.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "shell/options_int.h"
#include "shell/shell_int.h"
#include "shell/start_int.h"

static const char *const source_names[GEN_COUNT] = {
    "alias",   "arrayvar", "binding",  "builtin", "command",   "directory", "disabled", "enabled",
    "export",  "file",     "function", "group",   "helptopic", "hostname",  "job",      "keyword",
    "running", "service",  "setopt",   "shopt",   "signal",    "stopped",   "user",     "variable",
};

int compgen_source(struct str name)
{
    for (int i = 0; i < GEN_COUNT; i++) {
        if (str_eqc(name, source_names[i]))
            return i;
    }
    return -1;
}

bool compgen_has(enum compgen_source s)
{
    return s != GEN_BINDING;
}

const char *compgen_source_name(enum compgen_source s)
{
    return source_names[s];
}

struct gen {
    struct shell *sh;
    struct str word; /* what names begin with */
    struct str dir;  /* of file names: what stands before the last '/', that included */
    struct fields *out;
    enum compgen_source source;
};

static void add(struct gen *g, struct str name)
{
    if (str_starts(name, g->word))
        fields_add(g->sh, g->out, arena_str(&g->sh->scratch, name));
}

static int by_bytes(const void *a, const void *b)
{
    const struct str *x = a, *y = b;
    return str_cmp(*x, *y);
}

static void sort_from(struct gen *g, uint32_t from)
{
    if (g->out->n > from + 1)
        qsort(g->out->v + from, g->out->n - from, sizeof(*g->out->v), by_bytes);
}

/* ---- names of the shell ---- */

static void add_map(struct gen *g, const struct map *m)
{
    uint32_t from = g->out->n;
    struct map_iter it = {0};
    while (m && map_next(m, &it))
        add(g, it.key);
    sort_from(g, from);
}

static void add_builtins(struct gen *g)
{
    size_t n;
    const struct builtin *const *v = builtin_all(&n);
    for (size_t i = 0; i < n; i++) {
        bool on = builtin_find(g->sh, str_c(v[i]->name)) != NULL;
        if (g->source != (on ? GEN_DISABLED : GEN_ENABLED) && (on || g->source != GEN_COMMAND))
            add(g, str_c(v[i]->name));
    }
}

static void add_keywords(struct gen *g)
{
    static const char *const words[] = {"if",     "then",  "else",  "elif", "fi",   "case",  "esac",     "for",
                                        "select", "while", "until", "do",   "done", "in",    "function", "time",
                                        "{",      "}",     "!",     "[[",   "]]",   "coproc"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        add(g, str_c(words[i]));
}

static void add_variable(void *arg, struct sym *s, struct var *v)
{
    struct gen *g = arg;
    bool array = (v->flags & (VAR_ARRAY | VAR_ASSOC)) != 0;
    bool set = (v->flags & VAR_SET) || array || (v->flags & VAR_DYN);
    if (set && (g->source != GEN_ARRAY || array) && (g->source != GEN_EXPORT || (v->flags & VAR_EXPORT)))
        add(g, s->name);
}

static void add_options(struct gen *g)
{
    size_t n;
    const struct opt_def *v = options_all(&n);
    for (size_t i = 0; g->source == GEN_SETOPT && i < n; i++)
        add(g, str_c(v[i].name));
    for (int i = 0; g->source == GEN_SHOPT && i < SHOPT_COUNT; i++)
        add(g, str_c(options_shopt_name(i)));
}

static void add_signals(struct gen *g)
{
    for (int i = 0; i < TRAP_COUNT; i++) {
        const char *name = trap_signal_name(i);
        if (name)
            add(g, str_c(name));
    }
}

static void add_jobs(struct gen *g)
{
    for (const struct job *j = g->sh->jobs; j; j = j->next) {
        bool wanted =
            g->source == GEN_JOB || (g->source == GEN_RUNNING ? j->state == JOB_RUNNING : j->state == JOB_STOPPED);
        struct str text = str_c(j->text);
        ptrdiff_t blank = str_find(text, ' ', 0);
        if (wanted)
            add(g, blank > 0 ? str_of(text.p, (size_t)blank) : text);
    }
}

/* ---- names of the tree ---- */

/* Names of /etc/hosts, or of the file that HOSTFILE names. */
static void add_hosts(struct gen *g)
{
    struct str path = var_get(g->sh, "HOSTFILE");
    struct buf text BUF_AUTO;
    buf_init(&text, LIMIT_STRING);
    if (start_read_file(g->sh, path.n ? arena_str(&g->sh->scratch, path) : STR("/etc/hosts"), &text) < 0)
        return;
    bool comment = false;
    for (size_t i = 0, n; i < text.n; i += n ? n : 1) {
        for (n = 0; i + n < text.n && !strchr(" \t\n", text.p[i + n]);)
            n++;
        comment = text.p[i] != '\n' && (comment || text.p[i] == '#');
        if (n && !comment && !(text.p[i] >= '0' && text.p[i] <= '9') && !memchr(text.p + i, ':', n))
            add(g, str_of(text.p + i, n));
    }
}

/* The first field of each line of /etc/passwd, /etc/group or /etc/services. */
static void add_accounts(struct gen *g)
{
    struct vfs_ctx ctx = proc_ctx(g->sh->p);
    struct vfs_handle *h;
    const char *path = g->source == GEN_USER      ? "/etc/passwd"
                       : g->source == GEN_SERVICE ? "/etc/services"
                                                  : "/etc/group";
    if (vfs_open(proc_set_vfs(g->sh->ps), &ctx, 0, str_c(path), O_RDONLY, 0, &h) < 0)
        return;
    struct buf text BUF_AUTO;
    buf_init(&text, LIMIT_STRING);
    char block[4096];
    ssize_t n;
    while ((n = vfs_pread(h, block, sizeof(block), text.n)) > 0 && buf_add(&text, block, (size_t)n) == 0)
        ;
    vfs_close(h);
    struct str rest = buf_str(&text);
    while (rest.n) {
        ptrdiff_t nl = str_find(rest, '\n', 0);
        struct str line = nl < 0 ? rest : str_of(rest.p, (size_t)nl);
        size_t end = 0;
        while (end < line.n && !strchr(g->source == GEN_SERVICE ? " \t#" : ":", line.p[end]))
            end++;
        if (end && end < line.n)
            add(g, str_of(line.p, end));
        rest = str_from(rest, line.n + 1);
    }
}

static bool is_directory(struct gen *g, struct str path)
{
    struct vfs_ctx ctx = proc_ctx(g->sh->p);
    struct vfs_stat st;
    return vfs_stat(proc_set_vfs(g->sh->ps), &ctx, 0, path, 0, &st) == 0 && S_ISDIR(st.mode);
}

static int add_entry(void *arg, const struct vfs_dirent *e)
{
    struct gen *g = arg;
    struct str base = str_from(g->word, g->dir.n);
    if (!str_starts(e->name, base) || (e->name.p[0] == '.' && !base.n))
        return 0;
    struct str path = str_c(
        arena_printf(&g->sh->scratch, "%.*s%.*s", (int)g->dir.n, g->dir.p ? g->dir.p : "", (int)e->name.n, e->name.p));
    fields_add(g->sh, g->out, path);
    return 0;
}

static void add_files(struct gen *g)
{
    size_t slash = g->word.n;
    while (slash && g->word.p[slash - 1] != '/')
        slash--;
    g->dir = str_of(g->word.p, slash);
    uint32_t from = g->out->n;
    struct vfs *v = proc_set_vfs(g->sh->ps);
    struct vfs_ctx ctx = proc_ctx(g->sh->p);
    uint64_t ino;
    if (vfs_lookup(v, &ctx, 0, slash ? g->dir : STR("."), VFS_DIRECTORY, &ino) < 0 ||
        vfs_access_ino(v, ctx.cred, ino, R_OK) < 0 || vfs_dir_each(v, ino, add_entry, g) < 0)
        return;
    uint32_t kept = from;
    for (uint32_t i = from; i < g->out->n; i++) {
        if (g->source == GEN_FILE || is_directory(g, g->out->v[i]))
            g->out->v[kept++] = g->out->v[i];
    }
    g->out->n = kept;
    sort_from(g, from);
}

struct program_dir {
    struct gen *g;
    uint64_t ino;
};

static int add_program(void *arg, const struct vfs_dirent *e)
{
    struct program_dir *d = arg;
    if (!S_ISDIR(e->type))
        add(d->g, e->name);
    return 0;
}

static void add_programs(struct gen *g)
{
    struct str path = var_get(g->sh, "PATH");
    struct vfs *v = proc_set_vfs(g->sh->ps);
    struct vfs_ctx ctx = proc_ctx(g->sh->p);
    while (path.n) {
        ptrdiff_t colon = str_find(path, ':', 0);
        struct str dir = str_of(path.p, colon < 0 ? path.n : (size_t)colon);
        struct program_dir d = {.g = g};
        if (vfs_lookup(v, &ctx, 0, dir.n ? dir : STR("."), VFS_DIRECTORY, &d.ino) == 0)
            (void)vfs_dir_each(v, d.ino, add_program, &d); /* what cannot be listed has no candidates */
        path = colon < 0 ? str_of(NULL, 0) : str_from(path, (size_t)colon + 1);
    }
}

static void add_commands(struct gen *g)
{
    add_map(g, g->sh->aliases);
    add_keywords(g);
    add_map(g, g->sh->funcs);
    add_builtins(g);
    add_programs(g);
}

void compgen_names(struct shell *sh, enum compgen_source s, struct str word, struct fields *out)
{
    struct gen g = {.sh = sh, .word = word, .out = out, .source = s};
    switch (s) {
    case GEN_ALIAS:
        add_map(&g, sh->aliases);
        break;
    case GEN_FUNCTION:
        add_map(&g, sh->funcs);
        break;
    case GEN_ARRAY:
    case GEN_EXPORT:
    case GEN_VARIABLE:
        var_each(sh, add_variable, &g);
        break;
    case GEN_BUILTIN:
    case GEN_DISABLED:
    case GEN_ENABLED:
    case GEN_HELP:
        add_builtins(&g);
        break;
    case GEN_COMMAND:
        add_commands(&g);
        break;
    case GEN_KEYWORD:
        add_keywords(&g);
        break;
    case GEN_DIRECTORY:
    case GEN_FILE:
        add_files(&g);
        break;
    case GEN_SETOPT:
    case GEN_SHOPT:
        add_options(&g);
        break;
    case GEN_SIGNAL:
        add_signals(&g);
        break;
    case GEN_JOB:
    case GEN_RUNNING:
    case GEN_STOPPED:
        add_jobs(&g);
        break;
    case GEN_USER:
    case GEN_GROUP:
    case GEN_SERVICE:
        add_accounts(&g);
        break;
    case GEN_HOST:
        add_hosts(&g);
        break;
    case GEN_BINDING:
    case GEN_COUNT:
        break;
    }
}
