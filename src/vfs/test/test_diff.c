/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Differences of trees of every relation (forks, loaded separately from one store, unrelated) against two references:
 * a walk of both trees that looks at everything, and `diff -rq` of the trees written out. And equal root hashes where,
 * and only where, there are no differences.
 */

#include "vfs/test/tree.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/mem.h"
#include "cas/store.h"
#include "vfs/image.h"

#define ROUNDS 120

static int64_t ticks;

static int64_t tick(void *arg)
{
    (void)arg;
    return ++ticks;
}

static struct vfs *new_tree(void)
{
    struct vfs *v = tree_new();
    vfs_set_clock(v, tick, NULL);
    return v;
}

static struct cas *open_store(char *dir)
{
    struct cas *c = NULL;
    CHECK(mkdtemp(dir) != NULL);
    CHECK_INT(cas_open(open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), CAS_WRITE | CAS_CREATE, &c, NULL), 0);
    return c;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *w)
{
    (void)st;
    (void)type;
    (void)w;
    return remove(path);
}

static void remove_all(const char *dir)
{
    nftw(dir, remove_one, 32, FTW_DEPTH | FTW_PHYS);
}

static struct cas_id root_of(struct vfs *v)
{
    struct vfs_canon *k = vfs_canon_new();
    struct cas_id id = {{0}};
    CHECK_INT(vfs_root_hash(v, k, &id), 0);
    vfs_canon_free(k);
    return id;
}

/* The tree stored and loaded again. */
static struct vfs *reload(struct vfs *v, struct cas *c)
{
    struct vfs_canon *k = vfs_canon_new(), *k2 = NULL;
    struct cas_id root, image;
    struct vfs_image_env env = {.quota = {UINT64_C(1) << 30, 1 << 20}};
    struct vfs *to = NULL;
    CHECK_INT(vfs_image_store(v, k, c, &root, &image), 0);
    CHECK_INT(vfs_image_load(c, &image, &env, &to, &k2, &root), 0);
    vfs_canon_free(k);
    vfs_canon_free(k2);
    if (to)
        vfs_set_clock(to, tick, NULL);
    return to;
}

/* ---- random histories ---- */

static const char *random_path(uint64_t *r, char out[64])
{
    unsigned depth = 1 + (unsigned)(test_rand(r) % 3);
    size_t n = 0;
    for (unsigned i = 0; i < depth; i++)
        n += (size_t)snprintf(out + n, 64 - n, "/%c", 'a' + (int)(test_rand(r) % 6));
    return out;
}

static void random_write(struct vfs *v, const char *path, uint64_t *r)
{
    struct vfs_handle *h = NULL;
    char text[200];
    struct vfs_stat st;
    int flags = test_rand(r) % 3 ? O_TRUNC : 0;
    if (vfs_stat(v, &tree_ctx, 0, str_c(path), 0, &st) == 0 && !S_ISREG(st.mode))
        return;
    if (vfs_open(v, &tree_ctx, 0, str_c(path), O_WRONLY | O_CREAT | flags, 0644, &h))
        return;
    /* Few texts, so that equal content comes about in different ways; at times in a page far on, or zeros. */
    size_t n = 1 + test_rand(r) % 3 * 90;
    memset(text, "xyz\0"[test_rand(r) % 4], n);
    uint64_t off = test_rand(r) % 8 ? 0 : test_rand(r) % 4 * 70000;
    CHECK(vfs_pwrite(h, text, n, off, NULL) == (ssize_t)n);
    if (test_rand(r) % 8 == 0)
        CHECK_INT(vfs_ftruncate(h, test_rand(r) % 3 * 65536), 0);
    vfs_close(h);
}

static void random_meta(struct vfs *v, const char *path, uint64_t *r)
{
    uint64_t ino = tree_ino(v, path);
    if (!ino)
        return;
    if (test_rand(r) % 2)
        vfs_chmod(v, &tree_root, ino, test_rand(r) % 2 ? 0755 : 0711);
    else
        vfs_chown(v, &tree_root, ino, (uint32_t)(test_rand(r) % 3), 0);
}

static void random_step(struct vfs *v, uint64_t *r)
{
    char path[64], other[64];
    random_path(r, path);
    random_path(r, other);
    switch (test_rand(r) % 14) {
    case 0:
    case 1:
    case 2:
        tree_mkdir(v, path);
        break;
    case 3:
        vfs_unlink(v, &tree_ctx, 0, str_c(path));
        break;
    case 4:
        vfs_rmdir(v, &tree_ctx, 0, str_c(path));
        break;
    case 5:
        vfs_symlink(v, &tree_ctx, str_c(test_rand(r) % 2 ? "t" : "u"), 0, str_c(path));
        break;
    case 6:
        vfs_link(v, &tree_ctx, 0, str_c(path), 0, str_c(other), 0);
        break;
    case 7:
        vfs_rename(v, &tree_ctx, 0, str_c(path), 0, str_c(other), test_rand(r) % 2 ? RENAME_EXCHANGE : 0);
        break;
    case 8:
        random_meta(v, path, r);
        break;
    case 9:
        vfs_mknod(v, &tree_ctx, 0, str_c(path), (test_rand(r) % 2 ? S_IFIFO : S_IFCHR) | 0644,
                  makedev(1, (unsigned)(test_rand(r) % 2)));
        break;
    default:
        random_write(v, path, r);
        break;
    }
}

static void history(struct vfs *v, uint64_t *r, unsigned steps)
{
    for (unsigned i = 0; i < steps; i++)
        random_step(v, r);
}

/* ---- the first reference: everything is looked at ---- */

static void content(struct vfs *v, uint64_t ino, struct buf *out)
{
    struct vfs_handle *h = NULL;
    const void *p;
    size_t n;
    CHECK_INT(vfs_open_ino(v, ino, O_RDONLY, &h), 0);
    for (uint64_t off = 0; h && vfs_peek(h, off, &p, &n) == 0 && n > 0; off += n)
        buf_add(out, p, n);
    vfs_close(h);
}

static bool content_same(struct vfs *a, uint64_t ia, struct vfs *b, uint64_t ib, const struct vfs_stat *st)
{
    BUF_AUTO struct buf x, y;
    buf_init(&x, 64 << 20);
    buf_init(&y, 64 << 20);
    if (S_ISREG(st->mode)) {
        content(a, ia, &x);
        content(b, ib, &y);
    }
    return str_eq(buf_str(&x), buf_str(&y));
}

static bool target_same(struct vfs *a, struct vfs *b, const char *path)
{
    BUF_AUTO struct buf x, y;
    buf_init(&x, 4096);
    buf_init(&y, 4096);
    CHECK_INT(vfs_readlink(a, &tree_ctx, 0, str_c(path), &x), 0);
    CHECK_INT(vfs_readlink(b, &tree_ctx, 0, str_c(path), &y), 0);
    return str_eq(buf_str(&x), buf_str(&y));
}

static void all_below(struct vfs *v, uint64_t dir, char mark, struct buf *path, struct buf *out)
{
    char name[LIMIT_NAME + 1] = "";
    struct vfs_dirent e;
    size_t base = path->n;
    while (vfs_dir_next(v, dir, str_c(name), &e) == 1) {
        memcpy(name, e.name.p, e.name.n);
        name[e.name.n] = 0;
        buf_trunc(path, base);
        buf_addf(path, "/%s", name);
        buf_addf(out, "%c %s\n", mark, path->p);
        if (e.type == S_IFDIR)
            all_below(v, e.ino, mark, path, out);
    }
    buf_trunc(path, base);
}

static void only_one(struct vfs *v, uint64_t ino, char mark, struct buf *path, struct buf *out)
{
    struct vfs_stat st;
    buf_addf(out, "%c %s\n", mark, path->p);
    if (vfs_stat_ino(v, ino, &st) == 0 && S_ISDIR(st.mode))
        all_below(v, ino, mark, path, out);
}

static void compare_dirs(struct vfs *a, uint64_t da, struct vfs *b, uint64_t db, struct buf *path, struct buf *out);

static void compare_one(struct vfs *a, uint64_t ia, struct vfs *b, uint64_t ib, struct buf *path, struct buf *out)
{
    struct vfs_stat x, y;
    CHECK_INT(vfs_stat_ino(a, ia, &x), 0);
    CHECK_INT(vfs_stat_ino(b, ib, &y), 0);
    if ((x.mode & S_IFMT) != (y.mode & S_IFMT)) {
        only_one(a, ia, 'D', path, out);
        only_one(b, ib, 'A', path, out);
        return;
    }
    bool same = x.rdev == y.rdev && (S_ISDIR(x.mode) || x.size == y.size) && content_same(a, ia, b, ib, &x);
    if (same && S_ISLNK(x.mode))
        same = target_same(a, b, path->p);
    if (!same)
        buf_addf(out, "M %s\n", path->p);
    else if (x.mode != y.mode || x.uid != y.uid || x.gid != y.gid)
        buf_addf(out, "m %s\n", path->p);
    else if (!S_ISDIR(x.mode) && x.mtime != y.mtime)
        buf_addf(out, "t %s\n", path->p);
    if (S_ISDIR(x.mode))
        compare_dirs(a, ia, b, ib, path, out);
}

static void compare_dirs(struct vfs *a, uint64_t da, struct vfs *b, uint64_t db, struct buf *path, struct buf *out)
{
    char name[LIMIT_NAME + 1] = "";
    size_t base = path->n;
    for (;;) {
        struct vfs_dirent x, y;
        int ra = vfs_dir_next(a, da, str_c(name), &x), rb = vfs_dir_next(b, db, str_c(name), &y);
        if (ra != 1 && rb != 1)
            break;
        int order = ra != 1 ? 1 : rb != 1 ? -1 : str_cmp(x.name, y.name);
        struct str next = order <= 0 ? x.name : y.name;
        memcpy(name, next.p, next.n);
        name[next.n] = 0;
        buf_trunc(path, base);
        buf_addf(path, "/%s", name);
        if (order < 0)
            only_one(a, x.ino, 'D', path, out);
        else if (order > 0)
            only_one(b, y.ino, 'A', path, out);
        else
            compare_one(a, x.ino, b, y.ino, path, out);
    }
    buf_trunc(path, base);
}

struct told {
    struct buf text;
    unsigned links; /* names of which only the hard links changed */
    unsigned other; /* that the root hash sees */
};

static int add_told(void *arg, const struct vfs_change *c)
{
    struct told *t = arg;
    const struct vfs_stat *x = &c->old_st, *y = &c->new_st;
    char kind = "ADMm"[c->kind];
    if (c->kind == VFS_META && x->mode == y->mode && x->uid == y->uid && x->gid == y->gid)
        kind = x->mtime == y->mtime ? 'l' : 't';
    t->links += kind == 'l';
    t->other += kind != 't';
    if (kind != 'l')
        buf_addf(&t->text, "%c %.*s\n", kind, (int)c->path.n, c->path.p);
    return 0;
}

static struct told diff_of(struct vfs *a, struct vfs *b)
{
    struct told t = {.links = 0};
    buf_init(&t.text, 1 << 24);
    CHECK_INT(vfs_diff(a, b, add_told, &t), 0);
    return t;
}

/* ---- the second: the host's diff ---- */

static void write_out(struct vfs *v, uint64_t dir, struct buf *path)
{
    char name[LIMIT_NAME + 1] = "";
    struct vfs_dirent e;
    size_t base = path->n;
    mkdir(path->p, 0755);
    while (vfs_dir_next(v, dir, str_c(name), &e) == 1) {
        memcpy(name, e.name.p, e.name.n);
        name[e.name.n] = 0;
        buf_trunc(path, base);
        buf_addf(path, "/%s", name);
        if (e.type == S_IFDIR) {
            write_out(v, e.ino, path);
        } else if (e.type == S_IFLNK) {
            BUF_AUTO struct buf t;
            buf_init(&t, 4096);
            CHECK_INT(vfs_readlink(v, &tree_ctx, dir, str_c(name), &t), 0);
            CHECK_INT(symlink(t.p, path->p), 0);
        } else if (e.type == S_IFREG) {
            BUF_AUTO struct buf t;
            buf_init(&t, 64 << 20);
            content(v, e.ino, &t);
            FILE *f = fopen(path->p, "w");
            CHECK(f && fwrite(t.p ? t.p : "", 1, t.n, f) == t.n && fclose(f) == 0);
        }
    }
    buf_trunc(path, base);
}

static int by_line(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sort_lines(struct buf *b)
{
    char *line[20000];
    size_t n = 0;
    BUF_AUTO struct buf out;
    buf_init(&out, 1 << 24);
    for (char *save, *p = strtok_r(b->p, "\n", &save); p && n < 20000; p = strtok_r(NULL, "\n", &save))
        line[n++] = p;
    qsort(line, n, sizeof(*line), by_line);
    for (size_t i = 0; i < n; i++)
        buf_addf(&out, "%s\n", line[i]);
    buf_clear(b);
    buf_adds(b, buf_str(&out));
}

/* What `diff -rq` says, as "+ path", "- path" for the top of what only one side has, "~ path" for what differs. */
static void host_diff(const char *top, struct buf *out)
{
    char cmd[400], line[1000], p[400], q[400];
    snprintf(cmd, sizeof(cmd), "cd %s && LC_ALL=C diff -rq --no-dereference a b > said; test $? -lt 2", top);
    CHECK_INT(system(cmd), 0);
    snprintf(cmd, sizeof(cmd), "%s/said", top);
    FILE *f = fopen(cmd, "re");
    while (f && fgets(line, sizeof(line), f)) {
        size_t n = strcspn(line, ":\n");
        if (sscanf(line, "Only in %399[^:]: %399s", p, q) == 2)
            buf_addf(out, "%c %s/%s\n", line[8] == 'a' ? '-' : '+', p + 1, q);
        else if (sscanf(line, "Files a%399s and", p) == 1 || sscanf(line, "Symbolic links a%399s and", p) == 1 ||
                 sscanf(line, "File a%399s is a", p) == 1)
            buf_addf(out, "~ %s\n", p);
        else
            CHECK_STR(str_of(line, n), STR("a known line"));
    }
    CHECK(f && fclose(f) == 0);
}

struct brief {
    struct buf out;
    char skip[256]; /* what lies below this is known by its top */
    char last[256]; /* the name removed last */
};

static bool special(const struct vfs_stat *st)
{
    return st->mode && !S_ISREG(st->mode) && !S_ISDIR(st->mode) && !S_ISLNK(st->mode);
}

static bool below(struct str path, const char *dir)
{
    size_t n = strlen(dir);
    return n && path.n > n && memcmp(path.p, dir, n) == 0 && path.p[n] == '/';
}

/* The same of vfs_diff(). Special files were not written out. */
static int add_brief(void *arg, const struct vfs_change *c)
{
    struct brief *b = arg;
    if (special(&c->old_st) || special(&c->new_st) || c->kind == VFS_META || below(c->path, b->skip))
        return 0;
    char path[256];
    snprintf(path, sizeof(path), "%.*s", (int)c->path.n, c->path.p);
    bool retyped = c->kind == VFS_ADDED && strcmp(path, b->last) == 0;
    if (retyped) /* told as removed: it is the same path that differs */
        buf_trunc(&b->out, b->out.n - strlen(path) - 3);
    buf_addf(&b->out, "%c %s\n", retyped ? '~' : "+-~"[c->kind], path);
    if (c->kind != VFS_MODIFIED)
        memcpy(b->skip, path, sizeof(path));
    if (c->kind == VFS_REMOVED)
        memcpy(b->last, path, sizeof(path));
    return 0;
}

static void check_beside_host(struct vfs *a, struct vfs *b, const char *top)
{
    BUF_AUTO struct buf path, want;
    struct brief brief = {.skip = ""};
    buf_init(&path, 4096);
    buf_init(&want, 1 << 24);
    buf_init(&brief.out, 1 << 24);
    for (int i = 0; i < 2; i++) {
        buf_clear(&path);
        buf_addf(&path, "%s/%c", top, "ab"[i]);
        remove_all(path.p);
        write_out(i ? b : a, VFS_ROOT_INO, &path);
    }
    host_diff(top, &want);
    CHECK_INT(vfs_diff(a, b, add_brief, &brief), 0);
    if (want.n)
        sort_lines(&want);
    if (brief.out.n)
        sort_lines(&brief.out);
    CHECK_STR(buf_str(&brief.out), buf_str(&want));
    buf_done(&brief.out);
}

static void check_pair(struct vfs *a, struct vfs *b, const char *top)
{
    BUF_AUTO struct buf path, want;
    buf_init(&path, 4096);
    buf_init(&want, 1 << 24);
    struct told t = diff_of(a, b);
    compare_dirs(a, VFS_ROOT_INO, b, VFS_ROOT_INO, &path, &want);
    CHECK_STR(buf_str(&t.text), buf_str(&want));
    struct cas_id ra = root_of(a), rb = root_of(b);
    CHECK_INT(t.other == 0, cas_id_cmp(&ra, &rb) == 0);
    buf_done(&t.text);
    if (top)
        check_beside_host(a, b, top);
}

TEST_LIMIT(random_pairs, 600)
{
    uint64_t seed = test_seed();
    char store[] = "/tmp/test-diff-store-XXXXXX", top[] = "/tmp/test-diff-XXXXXX";
    struct cas *c = open_store(store);
    CHECK(mkdtemp(top) != NULL);
    uint64_t rounds = test_env("FRONTAL_DIFF_ROUNDS", ROUNDS);
    for (uint64_t i = 0; i < rounds; i++) {
        uint64_t r = seed * 1000003 + i + 1;
        struct vfs *base = new_tree(), *far = new_tree();
        history(base, &r, 30 + (unsigned)(test_rand(&r) % 120));
        history(far, &r, 30 + (unsigned)(test_rand(&r) % 120));
        struct vfs *near = vfs_fork(base);
        history(near, &r, (unsigned)(test_rand(&r) % 30));
        struct vfs *base2 = reload(base, c), *near2 = reload(near, c), *far2 = reload(far, c);
        /* Loaded, and changed after. */
        struct vfs *later = reload(near, c);
        history(later, &r, (unsigned)(test_rand(&r) % 10));
        check_pair(base, near, i % 4 == 0 ? top : NULL);
        check_pair(base2, near2, NULL);
        check_pair(near2, base, NULL);
        check_pair(base2, later, i % 4 == 1 ? top : NULL);
        check_pair(near, later, NULL);
        check_pair(base, far, i % 4 == 2 ? top : NULL);
        check_pair(far2, near2, i % 4 == 3 ? top : NULL);
        check_pair(base, base2, NULL);
        tree_check(later);
        struct vfs *all[] = {base, far, near, base2, near2, far2, later};
        for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
            vfs_free(all[k]);
    }
    cas_close(c);
    remove_all(store);
    remove_all(top);
}

/* ---- one tree by many ways ---- */

struct spec {
    char path[64];
    char kind; /* d f l h(ard link to the one before) */
    uint64_t seed;
};

static void make(struct vfs *v, const struct spec *s, const char *at, const struct spec *before)
{
    uint64_t r = s->seed;
    if (s->kind == 'd')
        tree_mkdir(v, at);
    else if (s->kind == 'l')
        vfs_symlink(v, &tree_ctx, str_c(s->seed % 2 ? "t" : "u"), 0, str_c(at));
    else if (s->kind == 'h')
        CHECK_INT(vfs_link(v, &tree_ctx, 0, str_c(before->path), 0, str_c(at), 0), 0);
    else
        random_write(v, at, &r);
}

/* Makes the tree of @spec in an order and by detours that @r decides. Directories lie before what they hold. */
static struct vfs *by_some_way(const struct spec *spec, size_t n, uint64_t *r)
{
    struct vfs *v = new_tree();
    tree_mkdir(v, "/detour");
    bool done[64] = {false};
    for (size_t left = n; left > 0;) {
        size_t i = test_rand(r) % n;
        char up[64];
        snprintf(up, sizeof(up), "%s", spec[i].path);
        *strrchr(up, '/') = 0;
        if (done[i] || (*up && !tree_ino(v, up)) || (spec[i].kind == 'h' && !done[i - 1]))
            continue;
        switch (test_rand(r) % 4) {
        case 0: /* something else was there */
            tree_write(v, spec[i].path, "other");
            vfs_unlink(v, &tree_ctx, 0, str_c(spec[i].path));
            make(v, &spec[i], spec[i].path, &spec[i - (i > 0)]);
            break;
        case 1: /* it came from elsewhere */
            make(v, &spec[i], "/detour/x", &spec[i - (i > 0)]);
            CHECK_INT(vfs_rename(v, &tree_ctx, 0, STR("/detour/x"), 0, str_c(spec[i].path), 0), 0);
            break;
        default:
            make(v, &spec[i], spec[i].path, &spec[i - (i > 0)]);
            break;
        }
        done[i] = true;
        left--;
    }
    CHECK_INT(vfs_rmdir(v, &tree_ctx, 0, STR("/detour")), 0);
    return v;
}

TEST_LIMIT(same_tree_by_other_ways, 300)
{
    uint64_t seed = test_seed();
    for (uint64_t round = 0; round < 60; round++) {
        uint64_t r = seed * 77 + round + 1;
        struct spec spec[40];
        size_t n = 0;
        while (n < 40) {
            struct spec s = {.kind = "ddfffl"[test_rand(&r) % 6], .seed = test_rand(&r) | 1};
            random_path(&r, s.path);
            size_t up = (size_t)(strrchr(s.path, '/') - s.path);
            bool ok = up == 0, taken = false;
            for (size_t i = 0; i < n; i++) {
                taken |= strcmp(spec[i].path, s.path) == 0;
                ok |= spec[i].kind == 'd' && strlen(spec[i].path) == up && memcmp(spec[i].path, s.path, up) == 0;
            }
            if (taken || !ok) {
                if (test_rand(&r) % 40 == 0)
                    break;
                continue;
            }
            if (n > 0 && spec[n - 1].kind == 'f' && test_rand(&r) % 3 == 0)
                s.kind = 'h';
            spec[n++] = s;
        }
        struct vfs *a = by_some_way(spec, n, &r), *b = by_some_way(spec, n, &r);
        struct told t = diff_of(a, b);
        CHECK_INT(t.other, 0);
        struct cas_id ra = root_of(a), rb = root_of(b);
        CHECK_INT(cas_id_cmp(&ra, &rb), 0);
        buf_done(&t.text);
        vfs_free(a);
        vfs_free(b);
    }
}

/* Only the hard links differ. */
TEST(links_are_seen)
{
    struct vfs *v[3];
    for (int i = 0; i < 3; i++) {
        v[i] = new_tree();
        ticks = 1000;
        tree_mkdir(v[i], "/d");
        tree_write(v[i], "/d/p", "same");
        tree_write(v[i], "/s", "same");
        vfs_link(v[i], &tree_ctx, 0, str_c(i ? "/s" : "/d/p"), 0, STR("/q"), 0);
        vfs_link(v[i], &tree_ctx, 0, str_c(i ? "/d/p" : "/s"), 0, STR("/d/r"), 0);
    }
    struct told t = diff_of(v[0], v[1]);
    CHECK(t.links > 0);
    CHECK_INT(t.other, t.links);
    buf_done(&t.text);
    t = diff_of(v[1], v[2]);
    CHECK_INT(t.other, 0);
    buf_done(&t.text);
    for (int i = 0; i < 3; i++)
        vfs_free(v[i]);
}

/* ---- mounts whose host is not there ---- */

static void put_host(const char *top, const char *name)
{
    char path[100];
    snprintf(path, sizeof(path), "%s/%s", top, name);
    FILE *f = fopen(path, "we");
    CHECK(f && fputs("of the host", f) > 0 && fclose(f) == 0);
}

static void check_told(struct vfs *a, struct vfs *b, const char *want)
{
    struct told t = diff_of(a, b);
    CHECK_STR(buf_str(&t.text), str_c(want));
    buf_done(&t.text);
}

TEST(mounts_without_hosts)
{
    char store[] = "/tmp/test-diff-store-XXXXXX", top[] = "/tmp/test-diff-XXXXXX";
    struct cas *c = open_store(store);
    CHECK(mkdtemp(top) != NULL);
    char sub[100];
    snprintf(sub, sizeof(sub), "%s/sub", top);
    CHECK_INT(mkdir(sub, 0755), 0);
    put_host(top, "changed");
    put_host(top, "kept");
    put_host(top, "sub/deep");
    struct vfs *v = new_tree();
    int fd = open(top, O_PATH | O_DIRECTORY | O_CLOEXEC);
    CHECK_INT(vfs_mount_host(v, STR("/m"), fd, VFS_MOUNT_COW, 0, 0, 0, 0), 0);
    struct vfs *bare = vfs_fork(v);
    struct vfs *seen = vfs_fork(v);
    CHECK_C(tree_read(seen, "/m/kept"), "of the host");
    CHECK_C(tree_read(seen, "/m/sub/deep"), "of the host");
    struct vfs *wrote = vfs_fork(seen);
    tree_write(wrote, "/m/changed", "by the session");
    tree_write(wrote, "/m/new", "new");
    tree_write(wrote, "/m/sub/deep", "by the session");
    static const char exact[] = "M /m/changed\nA /m/new\nM /m/sub/deep\n";
    check_told(bare, wrote, exact);
    struct vfs *bare2 = reload(bare, c), *seen2 = reload(seen, c), *wrote2 = reload(wrote, c);
    check_told(bare2, seen2, "");
    check_told(seen, seen2, "");
    check_told(seen2, wrote2, exact);
    check_told(wrote2, wrote, "");
    /* The names of /m were not seen when `bare` was stored. */
    struct vfs *unseen = new_tree(), *unseen_wrote = NULL;
    CHECK_INT(vfs_mount_host(unseen, STR("/m"), open(top, O_PATH | O_DIRECTORY | O_CLOEXEC), VFS_MOUNT_COW, 0, 0, 0, 0),
              0);
    struct vfs *unseen2 = reload(unseen, c);
    unseen_wrote = vfs_fork(unseen);
    tree_write(unseen_wrote, "/m/sub/new", "new");
    struct vfs *unseen_wrote2 = reload(unseen_wrote, c);
    check_told(unseen2, unseen_wrote2, "A /m/sub/new\n");
    check_told(unseen_wrote2, unseen2, "D /m/sub/new\n");
    struct vfs *all[] = {v, bare, seen, wrote, bare2, seen2, wrote2, unseen, unseen2, unseen_wrote, unseen_wrote2};
    for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
        vfs_free(all[k]);
    cas_close(c);
    remove_all(store);
    remove_all(top);
}

/* ---- what it costs ---- */

static uint64_t fetched;

int __real_cas_get(struct cas *c, const struct cas_id *id, struct buf *out);
int __wrap_cas_get(struct cas *c, const struct cas_id *id, struct buf *out);

int __wrap_cas_get(struct cas *c, const struct cas_id *id, struct buf *out)
{
    fetched++;
    return __real_cas_get(c, id, out);
}

TEST(loaded_trees_load_what_differs)
{
    char store[] = "/tmp/test-diff-store-XXXXXX", path[64];
    struct cas *c = open_store(store);
    struct vfs *v = new_tree();
    BUF_AUTO struct buf big;
    buf_init(&big, 1 << 20);
    for (int i = 0; i < 300000; i++)
        buf_putc(&big, (char)('a' + i % 26));
    for (int d = 0; d < 50; d++) {
        snprintf(path, sizeof(path), "/d%d", d);
        tree_mkdir(v, path);
        for (int f = 0; f < 100; f++) {
            snprintf(path, sizeof(path), "/d%d/f%d", d, f);
            tree_write(v, path,
                       f % 2 ? "one text" : "one that is longer than what is kept within a node, so that it is a blob");
        }
    }
    tree_write(v, "/big", big.p);
    struct vfs *w = vfs_fork(v);
    vfs_set_clock(w, tick, NULL);
    tree_write(w, "/d7/f8", "another text");
    tree_write(w, "/d9/new", "new");
    struct vfs_handle *h = tree_open(w, "/big", O_WRONLY);
    CHECK_INT(vfs_pwrite(h, "!", 1, 200000, NULL), 1);
    vfs_close(h);
    struct vfs *v2 = reload(v, c), *w2 = reload(w, c);
    fetched = 0;
    struct told t = diff_of(v2, w2);
    CHECK_STR(buf_str(&t.text), STR("M /big\nM /d7/f8\nA /d9/new\n"));
    buf_done(&t.text);
    CHECK(fetched > 0 && fetched < 60);
    printf("# %llu blobs\n", (unsigned long long)fetched);
    /* Content of long files is known by its names. */
    fetched = 0;
    struct vfs *u = new_tree();
    tree_write(u, "/big", big.p);
    struct vfs *u2 = reload(u, c);
    t = diff_of(u2, v2);
    CHECK(str_starts(buf_str(&t.text), STR("t /big\nA /d0\n")));
    buf_done(&t.text);
    struct vfs *all[] = {v, w, v2, w2, u, u2};
    for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
        vfs_free(all[k]);
    cas_close(c);
    remove_all(store);
}
