/* SPDX-License-Identifier: Apache-2.0 */

/* Completion of a word at the prompt: commands in command position, variables after '$', paths elsewhere. */

#include "shell/shell_int.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/mem.h"

#define CANDIDATES_MAX 5000

struct candidates {
    struct shell *sh;
    struct arena arena;
    struct str *v;
    size_t n, cap;
    struct str prefix; /* what a name must begin with */
    struct str lead;   /* what is put in front of it: "$", "dir/" as typed */
};

static bool special(char c)
{
    return strchr(" \t\n\"'\\$`!*?[]#&;<>|(){}~", c) != NULL;
}

/* Adds lead + name + tail, with what is special to the shell escaped. */
static void add(struct candidates *c, struct str name, const char *tail)
{
    if (c->n == CANDIDATES_MAX || !str_starts(name, c->prefix))
        return;
    if (c->n == c->cap) {
        c->cap = c->cap ? 2 * c->cap : 64;
        c->v = mem_realloc(c->v, c->cap * sizeof(*c->v));
    }
    BUF_AUTO struct buf b;
    buf_init(&b, 4 * LIMIT_PATH);
    buf_adds(&b, c->lead);
    for (size_t i = 0; i < name.n; i++) {
        if (special(name.p[i]))
            buf_putc(&b, '\\');
        buf_putc(&b, name.p[i]);
    }
    buf_addc(&b, tail);
    if (!b.err && !memchr(b.p, '\n', b.n))
        c->v[c->n++] = arena_str(&c->arena, buf_str(&b));
}

/* ---- where and what ---- */

/* Where the last word of @line begins; *ret_first: nothing but assignments stands before it in its command. */
static size_t word_start(struct str line, bool *ret_first)
{
    size_t start = 0;
    char quote = 0;
    bool first = true, in_word = false, assignment = false;
    for (size_t i = 0; i < line.n; i++) {
        char ch = line.p[i];
        if (quote) {
            quote = ch == quote ? 0 : quote;
            continue;
        }
        if (ch == '\\') {
            if (!in_word)
                start = i;
            in_word = true;
            i++;
            continue;
        }
        bool blank = ch == ' ' || ch == '\t' || ch == '\n';
        if (!blank && !strchr(";|&()<>", ch)) {
            if (!in_word) {
                start = i;
                assignment = false;
            }
            in_word = true;
            assignment |= ch == '=' && i > start;
            quote = ch == '"' || ch == '\'' ? ch : 0;
            continue;
        }
        if (in_word && !assignment)
            first = parse_is_reserved(str_of(line.p + start, i - start));
        if (!blank)
            first = ch != '<' && ch != '>';
        in_word = false;
        start = i + 1;
    }
    *ret_first = first;
    return in_word ? start : line.n;
}

/* The word as the shell would read it, quotes and backslashes removed. */
static struct str unquote(struct arena *a, struct str w)
{
    char *p = arena_alloc(a, w.n + 1);
    size_t n = 0;
    char quote = 0;
    for (size_t i = 0; i < w.n; i++) {
        char c = w.p[i];
        if (quote && c == quote)
            quote = 0;
        else if (!quote && (c == '"' || c == '\''))
            quote = c;
        else if (c == '\\' && quote != '\'' && i + 1 < w.n)
            p[n++] = w.p[++i];
        else
            p[n++] = c;
    }
    p[n] = 0;
    return str_of(p, n);
}

/* ---- sources of names ---- */

static void add_variable(void *arg, struct sym *s, struct var *v)
{
    (void)v;
    add(arg, s->name, "");
}

static int add_program(void *arg, const struct vfs_dirent *e)
{
    struct candidates *c = arg;
    if (!S_ISDIR(e->type))
        add(c, e->name, "");
    return c->n == CANDIDATES_MAX;
}

static void add_path_programs(struct candidates *c)
{
    struct str path = var_get(c->sh, "PATH");
    struct vfs *v = proc_set_vfs(c->sh->ps);
    struct vfs_ctx ctx = proc_ctx(c->sh->p);
    while (path.n) {
        ptrdiff_t colon = str_find(path, ':', 0);
        struct str dir = str_of(path.p, colon < 0 ? path.n : (size_t)colon);
        uint64_t ino;
        if (dir.n && vfs_lookup(v, &ctx, 0, dir, VFS_DIRECTORY, &ino) == 0)
            (void)vfs_dir_each(v, ino, add_program, c); /* what cannot be listed has no candidates */
        path = colon < 0 ? str_of(NULL, 0) : str_from(path, (size_t)colon + 1);
    }
}

static void add_commands(struct candidates *c)
{
    size_t n;
    const struct builtin *const *b = builtin_all(&n);
    for (size_t i = 0; i < n; i++)
        add(c, str_c(b[i]->name), "");
    const struct map *maps[] = {c->sh->funcs, c->sh->aliases};
    for (size_t i = 0; i < 2; i++) {
        struct map_iter it = {0};
        while (maps[i] && map_next(maps[i], &it))
            add(c, it.key, "");
    }
    static const char *const words[] = {"if", "then", "else", "elif", "fi",       "for",    "while", "until",
                                        "do", "done", "case", "esac", "function", "select", "time",  "coproc"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        add(c, str_c(words[i]), "");
    add_path_programs(c);
}

struct listing {
    struct candidates *c;
    struct str dir;
};

static bool is_dir(struct listing *l, const struct vfs_dirent *e)
{
    if (!S_ISLNK(e->type))
        return S_ISDIR(e->type);
    struct candidates *c = l->c;
    struct vfs_ctx ctx = proc_ctx(c->sh->p);
    struct vfs_stat st;
    struct str path = str_c(arena_printf(&c->arena, "%.*s%.*s", (int)l->dir.n, l->dir.p, (int)e->name.n, e->name.p));
    return vfs_stat(proc_set_vfs(c->sh->ps), &ctx, 0, path, 0, &st) == 0 && S_ISDIR(st.mode);
}

static int add_entry(void *arg, const struct vfs_dirent *e)
{
    struct listing *l = arg;
    bool hidden = e->name.p[0] == '.' && (l->c->prefix.n == 0 || l->c->prefix.p[0] != '.');
    if (!hidden && str_starts(e->name, l->c->prefix))
        add(l->c, e->name, is_dir(l, e) ? "/" : "");
    return l->c->n == CANDIDATES_MAX;
}

static void add_paths(struct candidates *c, struct str word)
{
    struct str plain = unquote(&c->arena, word);
    size_t base = plain.n, typed = word.n;
    while (base && plain.p[base - 1] != '/')
        base--;
    while (typed && word.p[typed - 1] != '/')
        typed--;
    BUF_AUTO struct buf dir;
    buf_init(&dir, LIMIT_PATH);
    size_t tilde = expand_tilde(c->sh, str_of(plain.p, base), &dir);
    buf_add(&dir, plain.p + tilde, base - tilde);
    struct vfs *v = proc_set_vfs(c->sh->ps);
    struct vfs_ctx ctx = proc_ctx(c->sh->p);
    uint64_t ino;
    if (dir.err || vfs_lookup(v, &ctx, 0, dir.n ? buf_str(&dir) : STR("."), VFS_DIRECTORY, &ino))
        return;
    c->prefix = str_from(plain, base);
    c->lead = str_of(word.p, typed);
    struct listing l = {c, buf_str(&dir)};
    (void)vfs_dir_each(v, ino, add_entry, &l); /* what cannot be listed has no candidates */
}

static int by_bytes(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static void print(struct candidates *c, struct buf *out)
{
    if (c->n)
        qsort(c->v, c->n, sizeof(*c->v), by_bytes);
    for (size_t i = 0; i < c->n; i++) {
        if (i && str_eq(c->v[i], c->v[i - 1]))
            continue;
        if (out->n + c->v[i].n + 1 > out->max)
            break;
        if (out->n)
            buf_putc(out, '\n');
        buf_adds(out, c->v[i]);
    }
}

void shell_complete(struct shell *sh, struct str line, size_t *ret_from, struct buf *out)
{
    bool first;
    size_t start = word_start(line, &first);
    struct str word = str_from(line, start);
    struct candidates c = {.sh = sh, .prefix = word};
    if (str_starts(word, STR("$"))) {
        bool brace = str_starts(word, STR("${"));
        c.lead = str_of(word.p, brace ? 2 : 1);
        c.prefix = str_from(word, c.lead.n);
        var_each(sh, add_variable, &c);
    } else if (first && str_find(word, '/', 0) < 0 && !str_starts(word, STR("~"))) {
        add_commands(&c);
    } else {
        add_paths(&c, word);
    }
    *ret_from = start;
    print(&c, out);
    mem_free(c.v);
    arena_done(&c.arena);
}
