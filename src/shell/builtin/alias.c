/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/shell_int.h"

#include "base/mem.h"

/* bash(1) ALIASES: no /, $, `, =, quotes or shell metacharacters in a name. */
static bool name_valid(struct str name)
{
    for (size_t i = 0; i < name.n; i++) {
        if (strchr("/$`='\"\\ \t\n&;|<>()", name.p[i]))
            return false;
    }
    return name.n > 0;
}

static void print_alias(struct shell *sh, struct str name, const char *text)
{
    struct buf out BUF_AUTO;
    buf_init(&out, LIMIT_STRING);
    buf_addc(&out, name.p[0] == '-' ? "alias -- " : "alias ");
    buf_adds(&out, name);
    buf_putc(&out, '=');
    quote_single(&out, str_c(text));
    buf_putc(&out, '\n');
    sh_write(sh, buf_str(&out));
}

static int by_name(const void *a, const void *b)
{
    const struct str *x = a, *y = b;
    return str_cmp(*x, *y);
}

static void print_all(struct shell *sh)
{
    size_t n = 0, count = sh->aliases ? map_count(sh->aliases) : 0;
    if (!count)
        return;
    struct str *v = arena_alloc(&sh->scratch, count * sizeof(*v));
    struct map_iter it = {0};
    while (map_next(sh->aliases, &it))
        v[n++] = it.key;
    qsort(v, n, sizeof(*v), by_name);
    for (size_t i = 0; i < n; i++)
        print_alias(sh, v[i], map_get(sh->aliases, v[i]));
}

static bool define(struct shell *sh, struct str name, struct str text)
{
    if (!name_valid(name)) {
        sh_error(sh, "alias: `%.*s': invalid alias name", (int)name.n, name.p);
        return false;
    }
    mem_free(map_set(shell_own_aliases(sh), name, mem_dup(text.p, text.n)));
    shell_lookup_changed(sh);
    return true;
}

static int builtin_alias(struct shell *sh, struct builtin_args *a)
{
    struct builtin_opt o = {0};
    bool all = a->argc == 1;
    int c, status = 0;
    while ((c = builtin_getopt(sh, a, "p", &o)) != -1) {
        if (c == '?')
            return 2;
        all = true;
    }
    if (all)
        print_all(sh);
    for (int i = o.i ? o.i : 1; i < a->argc; i++) {
        struct str w = a->argv[i];
        ptrdiff_t eq = str_find(w, '=', 0);
        const char *text = eq > 0 || !sh->aliases ? NULL : map_get(sh->aliases, w);
        if (eq > 0) {
            status |= !define(sh, str_of(w.p, (size_t)eq), str_from(w, (size_t)eq + 1));
        } else if (text) {
            print_alias(sh, w, text);
        } else {
            sh_error(sh, "alias: %s: not found", w.p);
            status = 1;
        }
    }
    return status;
}

static void remove_all(struct shell *sh)
{
    struct map *m = shell_own_aliases(sh);
    struct map_iter it = {0};
    while (map_next(m, &it))
        mem_free(map_del(m, it.key));
    shell_lookup_changed(sh);
}

static int builtin_unalias(struct shell *sh, struct builtin_args *a)
{
    struct builtin_opt o = {0};
    int c, status = 0;
    bool all = false;
    while ((c = builtin_getopt(sh, a, "a", &o)) != -1) {
        if (c == '?')
            return 2;
        all = true;
    }
    if (all) {
        remove_all(sh);
        return 0;
    }
    if (o.i == a->argc)
        return builtin_usage(sh, builtin_find_any(STR("unalias")));
    for (int i = o.i; i < a->argc; i++) {
        if (!sh->aliases || !map_get(sh->aliases, a->argv[i])) {
            sh_error(sh, "unalias: %s: not found", a->argv[i].p);
            status = 1;
            continue;
        }
        mem_free(map_del(shell_own_aliases(sh), a->argv[i]));
        shell_lookup_changed(sh);
    }
    return status;
}

BUILTIN(alias, "alias", builtin_alias, BUILTIN_POSIX, "alias [-p] [name[=value] ... ]",
        "    Define aliases, or print them in a form that can be read back.\n"
        "\n"
        "    A value that ends in a blank makes the next word be looked up too.\n"
        "\n"
        "    -p  print all aliases\n"
        "\n"
        "    The status is 0 unless a name without a value is no alias.\n");
BUILTIN(unalias, "unalias", builtin_unalias, BUILTIN_POSIX, "unalias [-a] name [name ...]",
        "    Remove aliases.\n"
        "\n"
        "    -a  remove all\n"
        "\n"
        "    The status is 0 unless a name is no alias.\n");
