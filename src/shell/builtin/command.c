/* SPDX-License-Identifier: Apache-2.0 */
/* command, builtin and type: by-passing and telling what a name means. */
#include "shell/exec_int.h"

#include <errno.h>
#include <fcntl.h>

#include "engine/engine.h"

/* ---- telling ---- */

enum tell {
    TELL_TEXT,  /* type, command -V */
    TELL_SHORT, /* command -v */
    TELL_WORD,  /* type -t */
    TELL_PATH,  /* type -p, -P: only programs */
};

struct query {
    enum tell tell;
    bool all;         /* type -a */
    bool no_func;     /* type -f */
    bool force_path;  /* type -P */
    const char *path; /* command -p */
    const char *who;
};

static bool quiet(const struct query *q)
{
    return q->tell == TELL_WORD || q->tell == TELL_PATH || q->tell == TELL_SHORT;
}

static void tell_word(struct shell *sh, const struct query *q, const char *word, struct str name, const char *text)
{
    if (q->tell == TELL_WORD)
        sh_printf(sh, "%s\n", word);
    else if (q->tell == TELL_SHORT)
        sh_printf(sh, "%s\n", name.p);
    else if (q->tell == TELL_TEXT)
        sh_printf(sh, "%s is %s\n", name.p, text);
}

static bool tell_alias(struct shell *sh, const struct query *q, struct str name)
{
    const char *text = sh->aliases && sh_shopt(sh, SHOPT_EXPAND_ALIASES) ? map_get(sh->aliases, name) : NULL;
    if (!text)
        return false;
    if (q->tell == TELL_SHORT) {
        struct buf out BUF_AUTO;
        buf_init(&out, LIMIT_STRING);
        quote_single(&out, str_c(text));
        sh_printf(sh, "alias %s=%s\n", name.p, out.p);
    } else if (q->tell == TELL_TEXT) {
        sh_printf(sh, "%s is aliased to `%s'\n", name.p, text);
    } else if (q->tell == TELL_WORD) {
        sh_puts(sh, "alias\n");
    }
    return true;
}

static bool tell_function(struct shell *sh, const struct query *q, struct str name)
{
    const struct func *f = func_find(sh, name);
    if (!f)
        return false;
    tell_word(sh, q, "function", name, "a function");
    if (q->tell == TELL_TEXT) {
        struct buf out BUF_AUTO;
        buf_init(&out, LIMIT_STRING);
        ast_print_function(&out, name, f->body);
        if (out.err)
            sh_error(sh, "%s: nested too deep to print", name.p);
        else
            sh_write(sh, buf_str(&out));
    }
    return true;
}

static bool tell_builtin(struct shell *sh, const struct query *q, struct str name)
{
    const struct builtin *b = builtin_find(sh, name);
    if (!b)
        return false;
    bool special = (b->flags & BUILTIN_SPECIAL) && sh_opt(sh, OPT_POSIX);
    tell_word(sh, q, "builtin", name, special ? "a special shell builtin" : "a shell builtin");
    return true;
}

/* Whether the file @ino stands for a tool of the userland. */
static bool is_tool(struct shell *sh, uint64_t ino)
{
    static const char magic[] = PROC_TOOL_MAGIC;
    char head[sizeof magic - 1];
    struct vfs_handle *h;
    if (vfs_open_ino(proc_set_vfs(sh->p->ps), ino, O_RDONLY, &h) < 0)
        return false;
    ssize_t n = vfs_pread(h, head, sizeof head, 0);
    vfs_close(h);
    return n == (ssize_t)sizeof head && memcmp(head, magic, sizeof head) == 0;
}

/* `type -a` alone also tells which depth runs a program that stands for one; bash has only one depth. */
static const char *depth_of(struct shell *sh, const struct query *q, const char *path)
{
    const struct engine_ops *ops;
    struct vfs_stat st;
    uint64_t ino;
    if (!q->all || q->tell != TELL_TEXT || proc_exec_probe(sh->p, str_c(path), &ops, &ino) < 0 ||
        proc_stat(sh->p, str_c(path), 0, &st) < 0 || st.ino != ino) /* else a script: what runs it is not what it is */
        return "";
    if (strcmp(ops->name, "builtin") != 0)
        return is_tool(sh, ino) ? " (userland)" : " (module of the session's own)";
    const char *base = strrchr(path, '/');
    bool tool = proc_has_tool(sh->p->ps, str_c(base ? base + 1 : path));
    return tool ? " (C command, else userland)" : " (C command)";
}

static void tell_file(struct shell *sh, const struct query *q, struct str name, const char *path, bool hashed)
{
    if (q->tell == TELL_WORD)
        sh_puts(sh, "file\n");
    else if (q->tell == TELL_TEXT)
        sh_printf(sh, hashed ? "%s is hashed (%s)%s\n" : "%s is %s%s\n", name.p, path, depth_of(sh, q, path));
    else
        sh_printf(sh, "%s\n", path);
}

/* With -a: in every directory of PATH. */
static bool tell_all_files(struct shell *sh, const struct query *q, struct str name)
{
    struct str path = q->path ? str_c(q->path) : var_get(sh, "PATH");
    bool found = false;
    const char *p = path.p;
    while (p && *p) {
        const char *end = strchr(p, ':');
        size_t n = end ? (size_t)(end - p) : strlen(p);
        struct buf out BUF_AUTO;
        buf_init(&out, LIMIT_PATH * 2);
        char *dir = arena_dup(&sh->scratch, p, n);
        if (exec_find_path(sh, name, dir, false, &out) == 0) {
            tell_file(sh, q, name, out.p, false);
            found = true;
        }
        p = end ? end + 1 : NULL;
    }
    return found;
}

static bool tell_program(struct shell *sh, const struct query *q, struct str name)
{
    struct buf out BUF_AUTO;
    buf_init(&out, LIMIT_PATH * 2);
    bool slash = memchr(name.p, '/', name.n) != NULL;
    if (q->all && !slash)
        return tell_all_files(sh, q, name);
    struct hash_entry *e = sh->hashed && !slash && !q->path ? map_get(sh->hashed, name) : NULL;
    if (e) {
        tell_file(sh, q, name, e->path, q->tell == TELL_TEXT);
        return true;
    }
    if (exec_find_path(sh, name, q->path, false, &out) < 0)
        return false;
    tell_file(sh, q, name, out.p, false);
    return true;
}

/* What is no program: alias, keyword, function, builtin. With @all all of them. */
static bool tell_shell(struct shell *sh, const struct query *q, struct str name)
{
    bool found = tell_alias(sh, q, name);
    if (parse_is_reserved(name) && (!found || q->all)) {
        tell_word(sh, q, "keyword", name, "a shell keyword");
        found = true;
    }
    if ((!found || q->all) && !q->no_func)
        found |= tell_function(sh, q, name);
    if (!found || q->all)
        found |= tell_builtin(sh, q, name);
    return found;
}

/* With -p a name that is no program gives nothing, and no failure. */
static bool tell(struct shell *sh, const struct query *q, struct str name)
{
    bool found = !q->force_path && tell_shell(sh, q, name);
    if (!found || q->all)
        found |= tell_program(sh, q, name);
    if (!found && !quiet(q))
        sh_error(sh, "%s: %s: not found", q->who, name.p);
    return found;
}

static int builtin_type(struct shell *sh, struct builtin_args *a)
{
    struct builtin_opt o = {0};
    struct query q = {.who = "type"};
    int c, status = 0;
    while ((c = builtin_getopt(sh, a, "afptP", &o)) != -1) {
        if (c == 'a')
            q.all = true;
        else if (c == 'f')
            q.no_func = true;
        else if (c == 't')
            q.tell = TELL_WORD;
        else if (c == 'p' || c == 'P')
            q.tell = TELL_PATH;
        else
            return 2;
        q.force_path |= c == 'P';
    }
    for (int i = o.i; i < a->argc; i++)
        if (!tell(sh, &q, a->argv[i]))
            status = 1;
    return status;
}

BUILTIN(type, "type", builtin_type, 0, "type [-afptP] name [name ...]",
        "    Tell how each name would be interpreted as a command.\n"
        "\n"
        "      -a  all of its meanings, programs in every directory of PATH included\n"
        "      -f  without looking at functions\n"
        "      -P  its path in PATH, even if it is also something else\n"
        "      -p  its path, if it is a program\n"
        "      -t  one word: alias, keyword, function, builtin or file\n"
        "\n"
        "    The status is 0 if all names were found.\n");

/* ---- command, builtin ---- */

static int builtin_command(struct shell *sh, struct builtin_args *a)
{
    struct builtin_opt o = {0};
    struct query q = {.who = "command"};
    bool asked = false, standard = false;
    int c;
    while ((c = builtin_getopt(sh, a, "pvV", &o)) != -1) {
        if (c == 'p') {
            if (sh_restricted(sh, "command", "-p"))
                return 1;
            standard = true;
        } else if (c == 'v' || c == 'V') {
            asked = true;
            q.tell = c == 'v' ? TELL_SHORT : TELL_TEXT;
        } else {
            return 2;
        }
    }
    if (!asked && o.i >= a->argc)
        return 0;
    if (!asked) {
        bool before = sh->by_command;
        sh->by_command = true;
        int status = exec_argv_node(sh, a, o.i, FIND_NO_FUNC, standard);
        sh->by_command = before;
        return status;
    }
    if (standard)
        q.path = EXEC_DEFAULT_PATH;
    bool any = false;
    for (int i = o.i; i < a->argc; i++)
        any |= tell(sh, &q, a->argv[i]);
    return any || o.i >= a->argc ? 0 : 1;
}

BUILTIN(command, "command", builtin_command, BUILTIN_POSIX, "command [-pVv] command [arg ...]",
        "    Run a command by-passing functions, or tell about it.\n"
        "\n"
        "      -p  with a PATH that finds the standard programs\n"
        "      -v  print the word or path that would be run\n"
        "      -V  the same in words\n"
        "\n"
        "    The status is that of the command, or whether any name was found.\n");

static int builtin_builtin(struct shell *sh, struct builtin_args *a)
{
    struct builtin_opt o = {0};
    if (builtin_getopt(sh, a, "", &o) != -1)
        return 2;
    if (o.i >= a->argc)
        return 0;
    int r = exec_argv_node(sh, a, o.i, FIND_BUILTIN_ONLY, false);
    if (r != -ENOENT)
        return r;
    sh_error(sh, "builtin: %s: not a shell builtin", a->argv[o.i].p);
    return 1;
}

BUILTIN(builtin, "builtin", builtin_builtin, 0, "builtin [shell-builtin [arg ...]]",
        "    Run a builtin even if a function has its name.\n"
        "\n"
        "    The status is the builtin's, or 1 when there is no such builtin.\n");
