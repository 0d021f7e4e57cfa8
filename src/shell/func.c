/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/exec_int.h"

#include "base/mem.h"
#include "base/num.h"

/*
 * Functions, aliases and the command hash are maps that a clone shares. Each has a counter in the heap beside it; the
 * first change while it is above one makes a copy.
 */

/* ---- functions ---- */

struct func *func_ref(struct func *f)
{
    if (f)
        f->refs++;
    return f;
}

void func_unref(struct func *f)
{
    if (!f || --f->refs > 0)
        return;
    ast_unref(f->ast);
    mem_free((void *)(uintptr_t)f->name.p);
    mem_free((void *)(uintptr_t)f->file.p);
    mem_free(f);
}

struct func *func_find(const struct shell *sh, struct str name)
{
    return sh->funcs ? map_get(sh->funcs, name) : NULL;
}

void shell_lookup_changed(struct shell *sh)
{
    sh->lookup_stamp = ++sh->world->stamp;
}

/* A map with a counter of its own in the place of one that is shared, its values passed through @copy. */
static struct map *own_map(struct map **map, uint32_t **refs, void *(*copy)(void *val))
{
    if (*map && **refs == 1)
        return *map;
    struct map *m = mem_alloc(sizeof *m);
    uint32_t *r = mem_alloc(sizeof *r);
    map_init(m);
    *r = 1;
    struct map_iter it = {0};
    while (*map && map_next(*map, &it))
        map_set(m, it.key, copy(it.val));
    if (*map)
        --**refs;
    *map = m;
    *refs = r;
    return m;
}

static void drop_map(struct map **map, uint32_t **refs, void (*drop)(void *val))
{
    struct map_iter it = {0};
    if (*map && --**refs == 0) {
        while (map_next(*map, &it))
            drop(it.val);
        map_done(*map);
        mem_free(*map);
        mem_free(*refs);
    }
    *map = NULL;
    *refs = NULL;
}

static void *copy_func(void *val)
{
    return func_ref(val);
}

static void drop_func(void *val)
{
    func_unref(val);
}

static void *copy_text(void *val)
{
    return mem_dup(val, strlen(val));
}

static void *copy_hash(void *val)
{
    const struct hash_entry *e = val;
    struct hash_entry *c = mem_alloc(sizeof *c);
    c->path = mem_dup(e->path, strlen(e->path));
    c->hits = e->hits;
    return c;
}

static void drop_hash(void *val)
{
    struct hash_entry *e = val;
    if (!e)
        return;
    mem_free(e->path);
    mem_free(e);
}

struct map *shell_own_funcs(struct shell *sh)
{
    shell_lookup_changed(sh);
    return own_map(&sh->funcs, &sh->funcs_refs, copy_func);
}

struct map *shell_own_aliases(struct shell *sh)
{
    return own_map(&sh->aliases, &sh->aliases_refs, copy_text);
}

static struct map *own_hash(struct shell *sh)
{
    return own_map(&sh->hashed, &sh->hashed_refs, copy_hash);
}

void shell__share_maps(const struct shell *sh, struct shell *child)
{
    (void)sh;
    if (child->funcs)
        ++*child->funcs_refs;
    if (child->aliases)
        ++*child->aliases_refs;
    if (child->hashed)
        ++*child->hashed_refs;
}

void shell__drop_maps(struct shell *sh)
{
    drop_map(&sh->funcs, &sh->funcs_refs, drop_func);
    drop_map(&sh->aliases, &sh->aliases_refs, mem_free);
    drop_map(&sh->hashed, &sh->hashed_refs, drop_hash);
}

/* ---- the command hash ---- */

void exec_hash_set(struct shell *sh, struct str name, struct str path)
{
    struct hash_entry *e = mem_alloc(sizeof *e);
    e->path = mem_dup(path.p, path.n);
    e->hits = 0;
    drop_hash(map_set(own_hash(sh), name, e));
}

bool exec_hash_drop(struct shell *sh, struct str name)
{
    if (!sh->hashed || !map_get(sh->hashed, name))
        return false;
    drop_hash(map_del(own_hash(sh), name));
    return true;
}

void exec_hash_clear(struct shell *sh)
{
    drop_map(&sh->hashed, &sh->hashed_refs, drop_hash);
}

/* ---- positional parameters ---- */

struct posargs *posargs_new(const struct str *v, uint32_t n)
{
    size_t bytes = sizeof(struct posargs) + n * sizeof(struct str);
    for (uint32_t i = 0; i < n; i++)
        if (!num_add(bytes, v[i].n + 1, &bytes))
            return NULL;
    /* One block: the struct, the strs, the texts. */
    struct posargs *a = mem_try(bytes);
    if (!a)
        return NULL;
    a->refs = 1;
    a->n = n;
    a->v = (struct str *)(a + 1);
    char *p = (char *)(a->v + n);
    for (uint32_t i = 0; i < n; i++) {
        if (v[i].n)
            memcpy(p, v[i].p, v[i].n);
        p[v[i].n] = 0;
        a->v[i] = str_of(p, v[i].n);
        p += v[i].n + 1;
    }
    return a;
}

struct posargs *posargs_ref(struct posargs *a)
{
    if (a)
        a->refs++;
    return a;
}

void posargs_unref(struct posargs *a)
{
    if (a && --a->refs == 0)
        mem_free(a);
}

/* ---- names given at start ---- */

struct names *names_ref(struct names *n)
{
    if (n)
        n->refs++;
    return n;
}

void names_unref(struct names *n)
{
    if (!n || --n->refs > 0)
        return;
    mem_free(n->arg0);
    mem_free(n->script_name);
    mem_free(n->main_file);
    mem_free(n->exec_string);
    mem_free(n);
}
