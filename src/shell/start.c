/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/start_int.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/num.h"
#include "shell/builtin/cd_int.h"
#include "shell/exec_int.h"
#include "shell/history_int.h"
#include "shell/options_int.h"
#include "shell/state_int.h"
#include "types/errtab.h"

#if defined(__aarch64__)
#define HOST "aarch64"
#else
#define HOST "x86_64"
#endif

/* ---- files ---- */

int start_read_file(struct shell *sh, struct str path, struct buf *out)
{
    struct vfs_stat st;
    int fd = proc_open(sh->p, path, O_RDONLY, 0);
    if (fd < 0)
        return fd;
    int r = proc_fstat(sh->p, fd, &st);
    if (r == 0 && S_ISDIR(st.mode))
        r = -EISDIR;
    while (r == 0) {
        const void *p;
        size_t n;
        r = proc_peek(sh->p, fd, &p, &n);
        if (r < 0 || n == 0)
            break;
        r = buf_add(out, p, n);
        proc_consume(sh->p, fd, n);
    }
    (void)proc_close(sh->p, fd);
    return r < 0 ? r : 0;
}

void start_source_if(struct shell *sh, struct str path)
{
    struct buf text BUF_AUTO;
    buf_init(&text, LIMIT_SCRIPT);
    if (path.n && start_read_file(sh, path, &text) == 0)
        (void)exec_source(sh, buf_str(&text), path, NULL);
}

/* ---- variables ---- */

static struct sym *set_var(struct shell *sh, const char *name, const char *val, uint32_t flags)
{
    struct sym *s = sym_get(sh, str_c(name));
    if (!s)
        return NULL;
    if (val)
        (void)var_set(sh, s, str_c(val));
    if (flags)
        (void)var_attr(sh, s, flags, 0);
    return s;
}

static void set_number(struct shell *sh, const char *name, int64_t n, uint32_t flags)
{
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)n);
    set_var(sh, name, text, flags);
}

/* An exported function: BASH_FUNC_name%%=() { … }. Anything after the body makes it no function. */
static bool import_function(struct shell *sh, struct str name, struct str val)
{
    struct str prefix = STR("BASH_FUNC_"), suffix = STR("%%");
    if (!str_starts(name, prefix) || !str_ends(name, suffix) || name.n <= prefix.n + suffix.n ||
        !str_starts(val, STR("() {")))
        return false;
    struct str fn = str_of(name.p + prefix.n, name.n - prefix.n - suffix.n);
    char *text = arena_printf(&sh->scratch, "%.*s %.*s", (int)fn.n, fn.p, (int)val.n, val.p);
    struct parser *ps = parser_new(sh, str_c(text), NULL, 1);
    struct parse_error err;
    struct ast *a = NULL, *more = NULL;
    bool ok = ps && !memchr(fn.p, '/', fn.n) && parser_next(ps, &a, &err) == 1 && a->root &&
              a->root->kind == NODE_FUNC && str_eq(a->root->func.name, fn) && parser_next(ps, &more, &err) == 0;
    if (ok) {
        (void)exec_unit(sh, a);
        struct func *f = func_find(sh, fn);
        if (f)
            f->exported = true;
    } else {
        sh_error(sh, "error importing function definition for `%.*s'", (int)fn.n, fn.p);
    }
    ast_unref(a);
    ast_unref(more);
    parser_free(ps);
    return true;
}

static void import_options(struct shell *sh, struct str list, bool shopts)
{
    while (list.n) {
        ptrdiff_t colon = str_find(list, ':', 0);
        struct str name = str_of(list.p, colon < 0 ? list.n : (size_t)colon);
        const struct opt_def *o = options_find(name);
        int i = options_shopt_find(name);
        if (shopts && i >= 0)
            options_set_shopt(sh, i, true);
        else if (!shopts && o && o->bit != OPT_MONITOR)
            (void)options_set(sh, o->bit, true);
        list = str_from(list, name.n + 1);
    }
}

/* One entry NAME=VALUE: false when it is no variable of a shell. */
static bool import_entry(struct shell *sh, struct str name, struct str val)
{
    if (import_function(sh, name, val))
        return true;
    if (!sym_valid(name))
        return false;
    if (str_eq(name, STR("SHELLOPTS")) || str_eq(name, STR("BASHOPTS"))) {
        import_options(sh, val, name.p[0] == 'B');
        (void)var_attr(sh, sym_get(sh, name), VAR_EXPORT, 0);
        return true;
    }
    if (str_eq(name, STR("_")) || str_eq(name, STR("IFS")) || str_eq(name, STR("OPTIND")))
        return true;
    struct sym *s = sym_get(sh, name);
    struct var *v = s ? var_own(sh, s) : NULL;
    if (!v || (v->flags & VAR_DYN))
        return true;
    if (var_set(sh, s, val) == 0)
        (void)var_attr(sh, s, VAR_EXPORT | VAR_IMPORTED, 0);
    return true;
}

void start_import(struct shell *sh, char **envp)
{
    struct posargs *before = sh->env_extra;
    uint32_t n = 0, extra = before ? before->n : 0;
    while (envp && envp[n])
        n++;
    struct str *odd = arena_alloc(&sh->scratch, ((size_t)n + extra + 1) * sizeof *odd);
    for (uint32_t i = 0; i < extra; i++)
        odd[i] = before->v[i];
    for (uint32_t i = 0; i < n; i++) {
        struct str e = str_c(envp[i]);
        ptrdiff_t eq = str_find(e, '=', 0);
        if (eq <= 0 || !import_entry(sh, str_of(e.p, (size_t)eq), str_from(e, (size_t)eq + 1)))
            odd[extra++] = e;
    }
    sh->env_extra = extra ? posargs_new(odd, extra) : NULL;
    posargs_unref(before);
}

/* PWD is kept if it names the current directory (POSIX, cd), and pwd prints its logical form; else it is found by
 * walking up. */
static void set_pwd(struct shell *sh)
{
    struct vfs *v = proc_set_vfs(sh->ps);
    struct vfs_ctx ctx = proc_ctx(sh->p);
    struct str pwd = var_get(sh, "PWD");
    struct buf path BUF_AUTO;
    uint64_t ino;
    buf_init(&path, LIMIT_PATH);
    bool kept = pwd.n && pwd.p[0] == '/' && vfs_lookup(v, &ctx, 0, pwd, 0, &ino) == 0 && ino == ctx.cwd &&
                cd__clean(sh, pwd, &path);
    if (!kept) {
        buf_clear(&path);
        if (vfs_dir_path(v, ctx.cwd, &path) < 0)
            buf_clear(&path);
    }
    if (path.n) {
        mem_free((void *)(uintptr_t)sh->pwd.p);
        sh->pwd = str_of(mem_dup(path.p, path.n), path.n);
        set_var(sh, "PWD", kept ? pwd.p : path.p, VAR_EXPORT);
    }
    if (!var_get(sh, "OLDPWD").p)
        set_var(sh, "OLDPWD", NULL, VAR_EXPORT);
}

static void set_shlvl(struct shell *sh)
{
    int64_t n = 0;
    struct str old = var_get(sh, "SHLVL");
    if (old.n && str_i64(old, &n) < 0)
        n = 0;
    n = n < 0 || n >= 1000 ? 0 : n + 1;
    set_number(sh, "SHLVL", n ? n : 1, VAR_EXPORT);
}

/* The line of @path that begins the value of @key ("SHELL" of passwd, the host's name). */
static void first_line(struct shell *sh, const char *path, struct buf *out)
{
    if (start_read_file(sh, str_c(path), out) < 0)
        return;
    ptrdiff_t nl = str_find(buf_str(out), '\n', 0);
    if (nl >= 0)
        buf_trunc(out, (size_t)nl);
}

static void set_hostname(struct shell *sh)
{
    struct buf name BUF_AUTO;
    buf_init(&name, LIMIT_PATH);
    first_line(sh, "/etc/hostname", &name);
    set_var(sh, "HOSTNAME", name.n ? name.p : "sandbox", 0);
}

static void set_versinfo(struct shell *sh)
{
    static const char *const parts[] = {"5", "2", "15", "1", "release", HOST "-pc-linux-gnu"};
    struct sym *s = sym_get(sh, STR("BASH_VERSINFO"));
    for (int i = 0; s && i < 6; i++)
        (void)var_set_elem(sh, s, (struct str){0}, i, str_c(parts[i]), false);
    if (s)
        (void)var_attr(sh, s, VAR_READONLY, 0);
}

void start_environment(struct shell *sh, const struct shell_start *st)
{
    set_var(sh, "IFS", " \t\n", 0);
    set_var(sh, "PS4", "+ ", 0);
    start_import(sh, st->envp);
    set_pwd(sh);
    set_shlvl(sh);
    set_var(sh, "OPTIND", "1", VAR_INTEGER);
    set_var(sh, "OPTERR", "1", 0);
    set_number(sh, "UID", sh->p->cred.uid, VAR_INTEGER | VAR_READONLY);
    set_number(sh, "EUID", sh->p->cred.uid, VAR_INTEGER | VAR_READONLY);
    set_number(sh, "PPID", sh->p->ppid, VAR_INTEGER | VAR_READONLY);
    set_var(sh, "BASH", st->posix ? "/usr/bin/sh" : "/usr/bin/bash", 0);
    set_var(sh, "BASH_VERSION", "5.2.15(1)-release", 0);
    set_var(sh, "HOSTTYPE", HOST, 0);
    set_var(sh, "MACHTYPE", HOST "-pc-linux-gnu", 0);
    set_var(sh, "OSTYPE", "linux-gnu", 0);
    set_var(sh, "BASH_LOADABLES_PATH",
            "/usr/local/lib/bash:/usr/lib/bash:/opt/local/lib/bash:/usr/pkg/lib/bash:/opt/pkg/lib/bash:.", 0);
    set_versinfo(sh);
    set_hostname(sh);
    if (!var_get(sh, "PATH").p)
        set_var(sh, "PATH", EXEC_DEFAULT_PATH, 0);
    if (!var_get(sh, "TERM").p)
        set_var(sh, "TERM", "dumb", 0);
    if (!var_get(sh, "SHELL").p)
        set_var(sh, "SHELL", "/bin/bash", 0);
    for (int s = 1; s <= 64; s++)
        if (sh->p->sig_ignored >> (s - 1) & 1)
            sh->sig_ignored_at_start |= UINT64_C(1) << (s - 1);
}

/* ---- argv ---- */

struct args {
    struct shell *sh;
    const struct shell_start *st;
    int i;        /* next word of argv */
    bool command; /* -c */
    bool norc, noprofile, restricted;
    const char *rcfile;
    bool end; /* nothing is to be run; sh->last_status is set */
};

static void put_usage(struct buf *out)
{
    buf_addc(out, "Usage:\tbash [GNU long option] [option] ...\n\tbash [GNU long option] [option] script-file ...\n"
                  "GNU long options:\n\t--debug\n\t--debugger\n\t--dump-po-strings\n\t--dump-strings\n\t--help\n"
                  "\t--init-file\n\t--login\n\t--noediting\n\t--noprofile\n\t--norc\n\t--posix\n"
                  "\t--pretty-print\n\t--rcfile\n\t--restricted\n\t--verbose\n\t--version\n"
                  "Shell options:\n\t-ilrsD or -c command or -O shopt_option\t\t(invocation only)\n"
                  "\t-abefhkmnptuvxBCEHPT or -o option\n");
}

static void tell(struct args *a, int fd, struct buf *text, int status)
{
    sh_write_fd(a->sh, fd, buf_str(text));
    a->sh->last_status = status;
    a->end = true;
}

static void fail(struct args *a, bool usage, const char *fmt, const char *what)
{
    struct buf out BUF_AUTO;
    buf_init(&out, LIMIT_STRING);
    buf_addf(&out, "%s: ", a->st->argc ? a->st->argv[0] : "bash");
    buf_addc(&out, what);
    buf_addf(&out, "%s\n", fmt);
    if (usage)
        put_usage(&out);
    tell(a, 2, &out, 2);
}

static void long_option(struct args *a, const char *name)
{
    struct shell *sh = a->sh;
    struct buf out BUF_AUTO;
    buf_init(&out, LIMIT_STRING);
    if (!strcmp(name, "posix")) {
        (void)options_set(sh, OPT_POSIX, true);
    } else if (!strcmp(name, "login")) {
        sh->login = true;
    } else if (!strcmp(name, "norc")) {
        a->norc = true;
    } else if (!strcmp(name, "noprofile")) {
        a->noprofile = true;
    } else if (!strcmp(name, "verbose")) {
        (void)options_set(sh, OPT_VERBOSE, true);
    } else if (!strcmp(name, "noediting") || !strcmp(name, "debug")) {
        return; /* there is no line editing, and no debug build, to switch */
    } else if (!strcmp(name, "rcfile") || !strcmp(name, "init-file")) {
        if (a->i < a->st->argc)
            a->rcfile = a->st->argv[a->i++];
        else
            fail(a, false, ": option requires an argument", name);
    } else if (!strcmp(name, "version")) {
        buf_addc(&out, "Frontal Sandbox shell, version 5.2.15(1)-release (" HOST
                       "-pc-linux-gnu), compatible with GNU bash\n");
        tell(a, 1, &out, 0);
    } else if (!strcmp(name, "help")) {
        put_usage(&out);
        tell(a, 1, &out, 0);
    } else if (!strcmp(name, "restricted")) {
        a->restricted = true;
    } else if (!strcmp(name, "debugger") || !strcmp(name, "dump-strings") || !strcmp(name, "dump-po-strings") ||
               !strcmp(name, "pretty-print")) {
        fail(a, false, ": option is not implemented here", name - 2);
    } else {
        fail(a, true, ": invalid option", name - 2);
    }
}

static void list_settings(struct args *a, bool on, bool shopts)
{
    struct buf out BUF_AUTO;
    size_t n;
    const struct opt_def *o = options_all(&n);
    buf_init(&out, LIMIT_STRING);
    for (int i = 0; shopts && i < SHOPT_COUNT; i++) {
        bool set = sh_shopt(a->sh, (enum shopt_index)i);
        if (on)
            buf_addf(&out, "%-15s\t%s\n", options_shopt_name(i), set ? "on" : "off");
        else
            buf_addf(&out, "shopt -%c %s\n", set ? 's' : 'u', options_shopt_name(i));
    }
    for (size_t i = 0; !shopts && i < n; i++) {
        bool set = sh_opt(a->sh, o[i].bit);
        if (on)
            buf_addf(&out, "%-15s\t%s\n", o[i].name, set ? "on" : "off");
        else
            buf_addf(&out, "set %co %s\n", set ? '-' : '+', o[i].name);
    }
    sh_write_fd(a->sh, 1, buf_str(&out));
}

static void named_option(struct args *a, bool on, bool shopts)
{
    if (a->i >= a->st->argc) {
        list_settings(a, on, shopts);
        return;
    }
    const char *name = a->st->argv[a->i++];
    const struct opt_def *o = options_find(str_c(name));
    int i = options_shopt_find(str_c(name));
    if (shopts && i >= 0)
        options_set_shopt(a->sh, i, on);
    else if (!shopts && o)
        (void)options_set(a->sh, o->bit, on);
    else
        fail(a, false, shopts ? ": invalid shell option name" : ": invalid option name",
             arena_printf(&a->sh->scratch, shopts ? "line 0: %s" : "line 0: bash: %s", name));
}

static void letters(struct args *a, const char *word)
{
    bool on = word[0] == '-';
    for (const char *c = word + 1; *c && !a->end; c++) {
        const struct opt_def *o = options_letter(*c);
        char text[3] = {word[0], *c, 0};
        if (*c == 'c' && on)
            a->command = true;
        else if (*c == 's' && on)
            a->sh->reading_stdin = true;
        else if (*c == 'i' && on)
            a->sh->interactive = true;
        else if (*c == 'l' && on)
            a->sh->login = true;
        else if (*c == 'o' || *c == 'O')
            named_option(a, on, *c == 'O');
        else if (*c == 'r')
            a->restricted = on;
        else if (*c == 'D')
            fail(a, false, ": option is not implemented here", text);
        else if (o)
            (void)options_set(a->sh, o->bit, on);
        else
            fail(a, true, ": invalid option", text);
    }
}

static void parse_argv(struct args *a)
{
    while (a->i < a->st->argc && !a->end) {
        const char *w = a->st->argv[a->i];
        if ((w[0] != '-' && w[0] != '+') || !w[1])
            break;
        a->i++;
        if (!strcmp(w, "--"))
            return;
        if (w[0] == '-' && w[1] == '-')
            long_option(a, w + 2);
        else
            letters(a, w);
    }
    /* A lone "-" ends the options and is dropped. */
    if (a->i < a->st->argc && !strcmp(a->st->argv[a->i], "-"))
        a->i++;
}

/* ---- what is run ---- */

static void keep_names(struct shell *sh, const char *arg0, const char *file, const char *command)
{
    struct names *n = mem_zalloc(sizeof *n);
    n->refs = 1;
    n->arg0 = mem_dup(arg0, strlen(arg0));
    n->script_name = mem_dup(arg0, strlen(arg0));
    if (file)
        n->main_file = mem_dup(file, strlen(file));
    if (command)
        n->exec_string = mem_dup(command, strlen(command));
    names_unref(sh->names);
    sh->names = n;
    sh->arg0 = str_c(n->arg0);
    sh->script_name = n->script_name;
    sh->main_file = n->main_file;
    sh->exec_string = str_c(n->exec_string);
}

static void take_args(struct args *a)
{
    int n = a->st->argc - a->i;
    struct str *v = arena_alloc(&a->sh->scratch, ((size_t)n + 1) * sizeof *v);
    for (int k = 0; k < n; k++)
        v[k] = str_c(a->st->argv[a->i + k]);
    a->sh->args = posargs_new(v, (uint32_t)n);
    a->sh->main_args = posargs_ref(a->sh->args);
}

/* A script's path: as given, or found in PATH when it has no slash and is not here. */
static int read_script(struct args *a, const char *file, struct buf *script)
{
    struct shell *sh = a->sh;
    int r = start_read_file(sh, str_c(file), script);
    if (r == -ENOENT && !strchr(file, '/')) {
        struct buf path BUF_AUTO;
        buf_init(&path, LIMIT_PATH * 2);
        if (exec_find_path(sh, str_c(file), NULL, false, &path) == 0)
            r = start_read_file(sh, buf_str(&path), script);
    }
    return r;
}

static enum start_mode open_script(struct args *a, const char *file, struct buf *script)
{
    struct shell *sh = a->sh;
    int r = read_script(a, file, script);
    const char *nl = r == 0 && script->n ? memchr(script->p, '\n', script->n) : NULL;
    size_t first = nl ? (size_t)(nl - script->p) : script->n;
    const char *why = NULL;
    if (r == -EISDIR)
        why = "Is a directory";
    else if (r == 0 && script->n && memchr(script->p, 0, NUM_MIN(first, (size_t)80)))
        why = "cannot execute binary file";
    struct buf out BUF_AUTO;
    buf_init(&out, LIMIT_STRING);
    if (why) {
        buf_addf(&out, "%s: %s: %s\n", file, file, why);
        sh->last_status = 126;
    } else if (r < 0) {
        buf_addf(&out, "%s: %s: %s\n", a->st->argv[0], file, errtab_text(r));
        sh->last_status = r == -ENOENT ? 127 : 126;
    }
    sh_write_fd(sh, 2, buf_str(&out));
    return out.n ? START_END : START_TEXT;
}

static enum start_mode choose(struct args *a, struct buf *script, struct str *ret_text)
{
    struct shell *sh = a->sh;
    const struct shell_start *st = a->st;
    const char *arg0 = st->argc ? st->argv[0] : "bash";
    if (st->has_script) {
        if (a->i < st->argc)
            arg0 = st->argv[a->i++];
        arg0 = st->script_name ? st->script_name : arg0;
        keep_names(sh, arg0, arg0, NULL);
        *ret_text = st->script;
        take_args(a);
        return START_TEXT;
    }
    if (a->command) {
        if (a->i >= st->argc) {
            fail(a, false, ": option requires an argument", "-c");
            return START_END;
        }
        const char *text = st->argv[a->i++];
        if (a->i < st->argc)
            arg0 = st->argv[a->i++];
        keep_names(sh, arg0, NULL, text);
        sh->dash_c = true;
        sh->parse_what = "-c";
        set_var(sh, "BASH_EXECUTION_STRING", text, 0);
        *ret_text = sh->exec_string;
        take_args(a);
        return START_TEXT;
    }
    if (a->i < st->argc && !sh->reading_stdin) {
        const char *file = st->argv[a->i++];
        keep_names(sh, arg0, NULL, NULL);
        if (open_script(a, file, script) == START_END)
            return START_END;
        keep_names(sh, file, file, NULL);
        *ret_text = buf_str(script);
        take_args(a);
        return START_TEXT;
    }
    keep_names(sh, arg0, NULL, NULL);
    sh->reading_stdin = true;
    take_args(a);
    return START_STDIN;
}

/* bash(1), INVOCATION. */
static void run_startup_files(struct args *a)
{
    struct shell *sh = a->sh;
    struct str home = var_get(sh, "HOME");
    if (sh->login)
        sh->shopts |= UINT64_C(1) << SHOPT_LOGIN_SHELL;
    if (sh->login && !a->noprofile) {
        static const char *const names[] = {"/.bash_profile", "/.bash_login", "/.profile"};
        start_source_if(sh, STR("/etc/profile"));
        for (int i = 0; i < 3 && home.n; i++) {
            struct str path = str_c(arena_printf(&sh->scratch, "%.*s%s", (int)home.n, home.p, names[i]));
            struct vfs_ctx ctx = proc_ctx(sh->p);
            if (vfs_access(proc_set_vfs(sh->ps), &ctx, 0, path, R_OK, 0) == 0) {
                start_source_if(sh, path);
                break;
            }
        }
    } else if (sh->interactive && !a->norc) {
        start_source_if(sh, STR("/etc/bash.bashrc"));
        if (a->rcfile)
            start_source_if(sh, str_c(a->rcfile));
        else if (home.n)
            start_source_if(sh, str_c(arena_printf(&sh->scratch, "%.*s/.bashrc", (int)home.n, home.p)));
    } else if (!sh->interactive && !sh->posix_started) {
        struct str file = var_get(sh, "BASH_ENV");
        struct buf path BUF_AUTO;
        buf_init(&path, LIMIT_PATH);
        if (file.n && expand_prompt(sh, arena_str(&sh->scratch, file), &path) == 0)
            start_source_if(sh, buf_str(&path));
    }
}

static void set_prompts(struct shell *sh)
{
    if (!sh->interactive)
        return;
    options_set_shopt(sh, SHOPT_EXPAND_ALIASES, true);
    (void)options_set(sh, OPT_HISTEXPAND | OPT_HISTORY, true);
    sh_history_begin(sh);
    if (!var_get(sh, "PS1").p)
        set_var(sh, "PS1", "\\s-\\v\\$ ", 0);
    if (!var_get(sh, "PS2").p)
        set_var(sh, "PS2", "> ", 0);
}

/* What $_ is before the first command: the path by which the shell was started, as the one that did has it. */
static void set_last_arg(struct shell *sh, const struct shell_start *st)
{
    struct str s = str_c(st->argc ? st->argv[0] : "bash");
    for (char **e = st->envp; e && *e; e++)
        if (strncmp(*e, "_=", 2) == 0)
            s = str_c(*e + 2);
    mem_free((void *)(uintptr_t)sh->last_arg.p);
    sh->last_arg = str_of(mem_dup(s.p, s.n), s.n);
    sh->last_arg_cap = s.n + 1;
}

enum start_mode start_prepare(struct shell *sh, const struct shell_start *st, struct buf *script, struct str *ret_text)
{
    struct args a = {.sh = sh, .st = st, .i = st->argc ? 1 : 0};
    sh->script_name = st->argc ? st->argv[0] : "bash";
    sh->posix_started = st->posix;
    sh->login = st->argc && st->argv[0][0] == '-';
    start_environment(sh, st);
    parse_argv(&a);
    if (a.end)
        return START_END;
    enum start_mode mode = choose(&a, script, ret_text);
    if (a.end || mode == START_END)
        return START_END;
    /* bash(1), INVOCATION: without a script, and with a terminal for input and errors. */
    if (mode == START_STDIN && proc_isatty(sh->p, 0) && proc_isatty(sh->p, 2))
        sh->interactive = true;
    if (mode == START_STDIN && sh->interactive && proc_isatty(sh->p, 0))
        (void)options_set(sh, OPT_MONITOR, true);
    set_prompts(sh);
    set_last_arg(sh, st);
    if (st->posix && st->keep)
        (void)options_set(sh, OPT_POSIX, true); /* a state is told from it: see shell_keep */
    bool goes_on = shell__state_begin(sh, st->keep);
    if (!goes_on)
        run_startup_files(&a);
    if (st->posix && !st->keep)
        (void)options_set(sh, OPT_POSIX, true);
    if (a.restricted)
        options_restrict(sh);
    arena_done(&sh->scratch);
    if (sh->flow == FLOW_NONE && !goes_on)
        sh->last_status = 0;
    return sh->flow == FLOW_NONE ? mode : START_END;
}
