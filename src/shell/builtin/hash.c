/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/shell_int.h"

#include <errno.h>

#include "shell/array_int.h"

struct hash_opts {
    bool list, reset, drop, tell;
    struct str path; /* -p */
};

static int list_all(struct shell *sh, bool reusable)
{
    struct map_iter it = {0};
    struct str name, path;
    struct assoc *order = assoc_new(HASH_BUCKETS);
    bool any = false;
    while (order && sh->hashed && map_next(sh->hashed, &it))
        (void)assoc_set(order, it.key, STR(""));
    for (size_t i = 0; order && assoc_at(order, i, &name, &path); i++) {
        const struct hash_entry *e = map_get(sh->hashed, name);
        if (!any && !reusable)
            sh_puts(sh, "hits\tcommand\n");
        any = true;
        if (reusable)
            sh_printf(sh, "builtin hash -p %s %s\n", e->path, name.p);
        else
            sh_printf(sh, "%4u\t%s\n", e->hits, e->path);
    }
    assoc_free(order);
    if (!any && !reusable && !sh_opt(sh, OPT_POSIX))
        sh_puts(sh, "hash: hash table empty\n");
    return 0;
}

static int not_found(struct shell *sh, struct str name)
{
    sh_error(sh, "hash: %s: not found", name.p);
    return 1;
}

static int one(struct shell *sh, const struct hash_opts *h, struct str name, bool several)
{
    if (h->tell) {
        const struct hash_entry *e = sh->hashed ? map_get(sh->hashed, name) : NULL;
        if (!e)
            return not_found(sh, name);
        if (h->list)
            sh_printf(sh, "builtin hash -p %s %s\n", e->path, name.p);
        else if (several)
            sh_printf(sh, "%s\t%s\n", name.p, e->path);
        else
            sh_printf(sh, "%s\n", e->path);
        return 0;
    }
    if (h->path.p) {
        exec_hash_set(sh, name, h->path);
        return 0;
    }
    if (h->drop)
        return exec_hash_drop(sh, name) ? 0 : not_found(sh, name);
    if (memchr(name.p, '/', name.n) || func_find(sh, name) || builtin_find(sh, name))
        return 0;
    struct buf out BUF_AUTO;
    buf_init(&out, LIMIT_PATH * 2);
    (void)exec_hash_drop(sh, name);
    return exec_find_path(sh, name, NULL, true, &out) < 0 ? not_found(sh, name) : 0;
}

static int builtin_hash(struct shell *sh, struct builtin_args *a)
{
    struct builtin_opt o = {0};
    struct hash_opts h = {0};
    int c, status = 0;
    if (!sh_opt(sh, OPT_HASHALL)) {
        sh_error(sh, "hash: hashing disabled");
        return 1;
    }
    while ((c = builtin_getopt(sh, a, "dlp:rt", &o)) != -1) {
        h.drop |= c == 'd';
        h.list |= c == 'l';
        h.reset |= c == 'r';
        h.tell |= c == 't';
        if (c == 'p')
            h.path = o.arg;
        if (c == '?')
            return 2;
    }
    int n = a->argc - o.i;
    if (h.path.p && !exec_hash_allowed(sh, "hash: ", h.path))
        return 1;
    if (h.reset)
        exec_hash_clear(sh);
    if (n == 0 && (h.tell || h.drop)) {
        sh_error(sh, "hash: -%c: option requires an argument", h.tell ? 't' : 'd');
        return 1;
    }
    if (n == 0)
        return h.reset ? 0 : list_all(sh, h.list);
    for (int i = o.i; i < a->argc; i++)
        status |= one(sh, &h, a->argv[i], n > 1);
    return status;
}

BUILTIN(hash, "hash", builtin_hash, BUILTIN_POSIX, "hash [-lr] [-p pathname] [-dt] [name ...]",
        "    Remember or print where programs were found in PATH.\n"
        "\n"
        "      -d           forget each name\n"
        "      -l           print in a form that can be used as input\n"
        "      -p pathname  remember pathname for each name\n"
        "      -r           forget all\n"
        "      -t           print the path of each name\n"
        "\n"
        "    The status is 0 unless a name is not found or an option is wrong.\n");
