/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Merges beside git's: texts beside `git merge-file`, trees beside `git merge-tree` (or `git merge` where that is
 * older). And what git has no rule for.
 */

#include "vfs/test/tree.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "snapshot/diff.h"
#include "snapshot/merge.h"
#include "snapshot/textdiff.h"
#include "vfs/image.h"

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

static void put_text(const char *dir, const char *name, struct str text)
{
    char path[200];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    FILE *f = fopen(path, "we");
    CHECK(f && fwrite(text.p ? text.p : "", 1, text.n, f) == text.n);
    CHECK(f && fclose(f) == 0);
}

static void get_text(const char *dir, const char *name, struct buf *out)
{
    char path[200];
    size_t n;
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    FILE *f = fopen(path, "re");
    CHECK(f != NULL);
    buf_clear(out);
    buf_reserve(out, 1 << 20);
    while (f && (n = fread(out->p + out->n, 1, (1 << 20) - 1 - out->n, f)) > 0)
        out->n += n;
    if (f)
        fclose(f);
}

/* Runs a shell command of the host in @dir: its exit status. */
static int host(const char *dir, const char *cmd)
{
    BUF_AUTO struct buf b = {0};
    buf_init(&b, 1 << 20);
    buf_addf(&b, "cd %s && %s", dir, cmd);
    int status = system(b.p);
    return status >= 0 && (status & 0x7f) == 0 ? status >> 8 & 0xff : -1;
}

static void need_git(void)
{
    if (system("git --version > /dev/null 2>&1") != 0)
        test_skip("git is not installed");
}

/* ---- texts ---- */

/* @text with some lines changed, removed and added. New lines are unlike all others, unless @kinds (> 0) says of how
 * many kinds they are. */
static void change_text(uint64_t *r, struct str text, int kinds, unsigned edits, struct buf *out)
{
    static unsigned fresh;
    struct str line[400];
    char *made[40];
    size_t n = 0, n_made = 0;
    while (text.n && n < 300) {
        const char *nl = memchr(text.p, '\n', text.n);
        size_t len = nl ? (size_t)(nl - text.p) + 1 : text.n;
        line[n++] = str_of(text.p, len);
        text = str_from(text, len);
    }
    for (unsigned i = 0; i < edits && n_made < 40; i++) {
        size_t at = test_rand(r) % (n + 1), count = 1 + test_rand(r) % 3;
        char l[40];
        snprintf(l, sizeof(l), "l%u\n", kinds ? (unsigned)(test_rand(r) % (uint64_t)kinds) : 100000 + fresh++);
        unsigned what = (unsigned)(test_rand(r) % 3);
        if (what == 0 || at + count > n) { /* add */
            memmove(&line[at + 1], &line[at], (n - at) * sizeof(*line));
            made[n_made] = mem_dup(l, strlen(l));
            line[at] = str_c(made[n_made++]);
            n++;
        } else if (what == 1) { /* remove */
            memmove(&line[at], &line[at + count], (n - at - count) * sizeof(*line));
            n -= count;
        } else { /* change */
            made[n_made] = mem_dup(l, strlen(l));
            line[at] = str_c(made[n_made++]);
        }
    }
    buf_clear(out);
    for (size_t i = 0; i < n; i++)
        buf_adds(out, line[i]);
    if (out->n && test_rand(r) % 12 == 0)
        buf_trunc(out, out->n - 1);
    for (size_t i = 0; i < n_made; i++)
        mem_free(made[i]);
}

static void random_text(uint64_t *r, int kinds, struct buf *out)
{
    unsigned n = (unsigned)(test_rand(r) % 40);
    buf_clear(out);
    for (unsigned i = 0; i < n; i++)
        buf_addf(out, "l%u\n", kinds ? (unsigned)(test_rand(r) % (uint64_t)kinds) : i);
}

struct figures {
    unsigned clean, conflict, other_clean, other_text;
};

static void text_round(const char *dir, uint64_t *r, int kinds, struct figures *f)
{
    BUF_AUTO struct buf base = {0}, a = {0}, b = {0}, got = {0}, want = {0};
    struct buf *all[] = {&base, &a, &b, &got, &want};
    for (size_t i = 0; i < 5; i++)
        buf_init(all[i], 1 << 20);
    random_text(r, kinds, &base);
    change_text(r, buf_str(&base), kinds, (unsigned)(test_rand(r) % 5), &a);
    change_text(r, buf_str(&base), kinds, (unsigned)(test_rand(r) % 5), &b);
    if (test_rand(r) % 4 == 0) /* a change that both made */
        change_text(r, buf_str(&a), kinds, 1, &b);
    put_text(dir, "base", buf_str(&base));
    put_text(dir, "a", buf_str(&a));
    put_text(dir, "b", buf_str(&b));
    int git = host(dir, "git merge-file -p a base b > out 2> /dev/null");
    int our = textdiff_merge(buf_str(&base), buf_str(&a), buf_str(&b), &got);
    CHECK(git >= 0 && git < 128);
    CHECK(our >= 0);
    get_text(dir, "out", &want);
    f->clean += git == 0;
    f->conflict += git > 0;
    f->other_clean += (git == 0) != (our == 0);
    bool same = git != 0 || our != 0 || str_eq(buf_str(&got), buf_str(&want));
    f->other_text += !same;
    /* Where lines are unlike there is but one alignment. */
    if (kinds == 0 && (!CHECK_INT(our != 0, git != 0) || !CHECK(same))) {
        printf("# base:\n%s# a:\n%s# b:\n%s# git %d:\n%s# ours %d:\n%s", base.n ? base.p : "", a.n ? a.p : "",
               b.n ? b.p : "", git, want.n ? want.p : "", our, got.n ? got.p : "");
        exit(1);
    }
}

TEST_LIMIT(texts_beside_git, 300)
{
    need_git();
    char dir[] = "/tmp/test-merge-XXXXXX";
    CHECK(mkdtemp(dir) != NULL);
    uint64_t seed = test_seed();
    static const int kinds[] = {0, 40, 6};
    for (size_t k = 0; k < 3; k++) {
        struct figures f = {0};
        for (uint64_t i = 0; i < test_env("FRONTAL_MERGE_TEXTS", 200); i++) {
            uint64_t r = seed + i * 7919 + k + 1;
            text_round(dir, &r, kinds[k], &f);
        }
        printf("# kinds of lines %d: %u clean, %u conflicts; otherwise than git: %u clean or not, %u texts\n", kinds[k],
               f.clean, f.conflict, f.other_clean, f.other_text);
        CHECK(f.clean > 0 && f.conflict > 0);
    }
    remove_all(dir);
}

/* ---- trees ---- */

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

static struct vfs *fork_of(struct vfs *v)
{
    struct vfs *f = vfs_fork(v);
    vfs_set_clock(f, tick, NULL);
    return f;
}

static void write_text(struct vfs *v, const char *path, struct str text)
{
    struct vfs_handle *h = NULL;
    struct vfs_stat st;
    if (vfs_stat(v, &tree_ctx, 0, str_c(path), 0, &st) == 0 && !S_ISREG(st.mode))
        return;
    if (vfs_open(v, &tree_ctx, 0, str_c(path), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0644, &h) == 0 && text.n)
        CHECK(vfs_pwrite(h, text.p, text.n, 0, NULL) == (ssize_t)text.n);
    vfs_close(h);
}

static void random_path(uint64_t *r, char out[64])
{
    unsigned depth = 1 + (unsigned)(test_rand(r) % 3);
    size_t n = 0;
    for (unsigned i = 0; i < depth; i++)
        n += (size_t)snprintf(out + n, 64 - n, "/%c", 'a' + (int)(test_rand(r) % 3));
}

static void make_parents(struct vfs *v, const char *path)
{
    char up[64];
    for (size_t i = 1; path[i]; i++) {
        if (path[i] != '/')
            continue;
        snprintf(up, sizeof(up), "%.*s", (int)i, path);
        tree_mkdir(v, up);
    }
}

static void remove_tree(struct vfs *v, const char *path)
{
    struct vfs_dirent e;
    char below[200];
    uint64_t ino = tree_ino(v, path);
    if (!ino)
        return;
    while (vfs_dir_next(v, ino, STR(""), &e) == 1) {
        snprintf(below, sizeof(below), "%s/%.*s", path, (int)e.name.n, e.name.p);
        remove_tree(v, below);
    }
    if (vfs_rmdir(v, &tree_ctx, 0, str_c(path)) == -ENOTDIR)
        vfs_unlink(v, &tree_ctx, 0, str_c(path));
}

/* Takes away what git does not know: empty directories. Whether @path is there after. */
static bool prune(struct vfs *v, const char *path)
{
    struct vfs_dirent e;
    char below[200], name[LIMIT_NAME + 1] = "";
    uint64_t ino = tree_ino(v, *path ? path : "/");
    bool any = false;
    if (!S_ISDIR(tree_stat(v, *path ? path : "/").mode))
        return true;
    while (vfs_dir_next(v, ino, str_c(name), &e) == 1) {
        snprintf(name, sizeof(name), "%.*s", (int)e.name.n, e.name.p);
        snprintf(below, sizeof(below), "%s/%s", path, name);
        any |= prune(v, below);
    }
    if (!any && *path)
        vfs_rmdir(v, &tree_ctx, 0, str_c(path));
    return any;
}

/* No two are alike: git cannot be told everywhere not to look for renames. */
static void random_file(struct vfs *v, const char *path, uint64_t *r)
{
    static unsigned fresh;
    BUF_AUTO struct buf text = {0};
    buf_init(&text, 1 << 20);
    unsigned n = (unsigned)(test_rand(r) % 30);
    for (unsigned i = 0; i < n; i++)
        buf_addf(&text, "of a file %u\n", fresh++);
    if (test_rand(r) % 10 == 0)
        buf_add(&text, "\0", 1);
    write_text(v, path, buf_str(&text));
}

static void random_edit(struct vfs *v, uint64_t *r)
{
    BUF_AUTO struct buf text = {0}, made = {0};
    char path[64], other[64];
    buf_init(&text, 1 << 20);
    buf_init(&made, 1 << 20);
    random_path(r, path);
    random_path(r, other);
    uint64_t ino = tree_ino(v, path);
    bool file = ino && S_ISREG(tree_stat(v, path).mode);
    switch (test_rand(r) % 12) {
    case 0:
        if (test_rand(r) % 2) /* it gives way to a directory */
            remove_tree(v, path);
        make_parents(v, path);
        random_file(v, path, r);
        break;
    case 1:
        remove_tree(v, path);
        break;
    case 2:
        remove_tree(v, path);
        make_parents(v, other);
        random_file(v, other, r);
        break;
    case 3:
        remove_tree(v, path);
        make_parents(v, path);
        snprintf(other, sizeof(other), "%s.%d", path, (int)(test_rand(r) % 2));
        vfs_symlink(v, &tree_ctx, str_c(other), 0, str_c(path));
        break;
    case 4:
        if (file)
            vfs_chmod(v, &tree_root, ino, test_rand(r) % 2 ? 0755 : 0644);
        break;
    case 5:
        vfs_unlink(v, &tree_ctx, 0, str_c(path));
        make_parents(v, path);
        random_file(v, path, r);
        break;
    default:
        if (!file || snapshot_read_text(v, str_c(path), &text))
            break;
        change_text(r, buf_str(&text), 0, 1 + (unsigned)(test_rand(r) % 2), &made);
        write_text(v, path, buf_str(&made));
        break;
    }
}

static void edit(struct vfs *v, uint64_t *r, unsigned edits)
{
    for (unsigned i = 0; i < edits; i++)
        random_edit(v, r);
    prune(v, "");
}

struct three {
    struct vfs *base, *ours, *theirs;
};

static struct three random_three(uint64_t *r)
{
    struct three t = {.base = new_tree()};
    char path[64];
    for (int i = 0; i < 10; i++) {
        random_path(r, path);
        make_parents(t.base, path);
        random_file(t.base, path, r);
    }
    prune(t.base, "");
    t.ours = fork_of(t.base);
    edit(t.ours, r, 1 + (unsigned)(test_rand(r) % 8));
    t.theirs = fork_of(t.base);
    edit(t.theirs, r, 1 + (unsigned)(test_rand(r) % 8));
    return t;
}

static void free_three(struct three *t)
{
    vfs_free(t->base);
    vfs_free(t->ours);
    vfs_free(t->theirs);
}

static void add_conflict(void *arg, const struct snapshot_conflict *c)
{
    buf_addf(arg, "%s\n", c->path.p + (c->path.n > 1));
}

/* 0 and the tree, or 1 and the conflicts. */
static int merge_of(const struct three *t, struct vfs **ret, struct buf *conflicts)
{
    struct err err = {0};
    int r = snapshot_merge(t->base, t->ours, t->theirs, add_conflict, conflicts, ret, &err);
    CHECK(r >= 0);
    if (r < 0)
        printf("# %s\n", err.text);
    return r;
}

/* Writes a tree as a commit for git fast-import. */
static void import_dir(struct vfs *v, uint64_t dir, struct buf *path, struct buf *out)
{
    char name[LIMIT_NAME + 1] = "";
    struct vfs_dirent e;
    size_t base = path->n;
    while (vfs_dir_next(v, dir, str_c(name), &e) == 1) {
        snprintf(name, sizeof(name), "%.*s", (int)e.name.n, e.name.p);
        buf_trunc(path, base);
        buf_addf(path, "/%s", name);
        BUF_AUTO struct buf text = {0};
        buf_init(&text, 1 << 22);
        struct vfs_stat st;
        CHECK_INT(vfs_stat_ino(v, e.ino, &st), 0);
        if (S_ISDIR(st.mode)) {
            import_dir(v, e.ino, path, out);
            continue;
        }
        if (S_ISLNK(st.mode))
            CHECK_INT(vfs_readlink(v, &tree_ctx, 0, buf_str(path), &text), 0);
        else
            CHECK_INT(snapshot_read_text(v, buf_str(path), &text), 0);
        buf_addf(out, "M %s inline %s\ndata %zu\n",
                 S_ISLNK(st.mode) ? "120000"
                 : st.mode & 0100 ? "100755"
                                  : "100644",
                 path->p + 1, text.n);
        buf_adds(out, buf_str(&text));
        buf_putc(out, '\n');
    }
    buf_trunc(path, base);
}

static void import(struct vfs *v, char what, uint64_t i, bool child, struct buf *out)
{
    BUF_AUTO struct buf path = {0};
    buf_init(&path, 4096);
    buf_addf(out, "commit refs/heads/%c%llu\ncommitter t <t@t> 1 +0000\ndata 0\n", what, (unsigned long long)i);
    if (child)
        buf_addf(out, "from refs/heads/b%llu\n", (unsigned long long)i);
    buf_addc(out, "deleteall\n");
    import_dir(v, VFS_ROOT_INO, &path, out);
    buf_putc(out, '\n');
}

/* The next line of @s without its newline, cut off. */
static struct str line_of(struct str *s)
{
    const char *nl = s->n ? memchr(s->p, '\n', s->n) : NULL;
    struct str l = str_of(s->p, nl ? (size_t)(nl - s->p) : s->n);
    *s = str_from(*s, nl ? l.n + 1 : s->n);
    return l;
}

static int by_line(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorts lines and leaves each once. */
static void sort_lines(struct buf *b)
{
    char *line[1000], *save, *text = mem_dup(b->p ? b->p : "", b->n);
    size_t n = 0;
    for (char *p = strtok_r(text, "\n", &save); p && n < 1000; p = strtok_r(NULL, "\n", &save))
        line[n++] = p;
    qsort(line, n, sizeof(*line), by_line);
    buf_clear(b);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || strcmp(line[i], line[i - 1]) != 0)
            buf_addf(b, "%s\n", line[i]);
    mem_free(text);
}

/* What git says about a case: "= I STATUS", then its tree and the paths in conflict. What it moves out of the way gets
 * "~" and a name behind. */
static struct str git_case(struct str *all, int *ret_status, struct buf *conflicts)
{
    struct str head = line_of(all), tree = line_of(all);
    char *end;
    CHECK(str_starts(head, STR("= ")));
    (void)strtoull(head.p + 2, &end, 10);
    *ret_status = (int)strtol(end, NULL, 10);
    while (all->n && !str_starts(*all, STR("= "))) {
        struct str l = line_of(all);
        const char *moved = l.n ? memchr(l.p, '~', l.n) : NULL;
        if (l.n)
            buf_addf(conflicts, "%.*s\n", moved ? (int)(moved - l.p) : (int)l.n, l.p);
    }
    sort_lines(conflicts);
    return tree;
}

static const char git_script[] =
    "for i in $(seq 0 $((%llu - 1))); do"
    " git -c merge.renames=false -c merge.directoryRenames=false merge-tree --write-tree --name-only --no-messages"
    " o$i t$i > one; s=$?; echo \"= $i $s\"; cat one; done > said;"
    " git for-each-ref --format='%%(refname:lstrip=2) %%(tree)' 'refs/heads/m*' > trees";

TEST_LIMIT(trees_beside_git, 600)
{
    need_git();
    char dir[] = "/tmp/test-merge-XXXXXX", cmd[1000];
    CHECK(mkdtemp(dir) != NULL);
    CHECK_INT(host(dir, "git init -q ."), 0);
    if (host(dir, "git merge-tree --write-tree -h 2>&1 | grep -q write-tree") != 0)
        test_skip("git merge-tree --write-tree is not there");
    uint64_t seed = test_seed(), n = test_env("FRONTAL_MERGE_TREES", 200);
    BUF_AUTO struct buf stream = {0}, ours = {0}, said = {0}, trees = {0}, git = {0}, our = {0};
    struct buf *all[] = {&stream, &ours, &said, &trees, &git, &our};
    for (size_t i = 0; i < 6; i++)
        buf_init(all[i], 256 << 20);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t r = seed + i * 7919 + 1;
        struct three t = random_three(&r);
        struct vfs *m = NULL;
        import(t.base, 'b', i, false, &stream);
        import(t.ours, 'o', i, true, &stream);
        import(t.theirs, 't', i, true, &stream);
        buf_clear(&our);
        int status = merge_of(&t, &m, &our);
        sort_lines(&our);
        buf_addf(&ours, "= %llu %d\n%s", (unsigned long long)i, status, our.n ? our.p : "");
        if (status == 0) {
            tree_check(m);
            import(m, 'm', i, false, &stream);
        }
        vfs_free(m);
        free_three(&t);
    }
    put_text(dir, "stream", buf_str(&stream));
    CHECK_INT(host(dir, "git fast-import --quiet < stream"), 0);
    snprintf(cmd, sizeof(cmd), git_script, (unsigned long long)n);
    CHECK_INT(host(dir, cmd), 0);
    get_text(dir, "said", &said);
    get_text(dir, "trees", &trees);
    struct str rest = buf_str(&said), our_rest = buf_str(&ours);
    unsigned clean = 0;
    for (uint64_t i = 0; i < n; i++) {
        int git_status = -1;
        buf_clear(&git);
        struct str tree = git_case(&rest, &git_status, &git);
        struct str head = line_of(&our_rest);
        buf_clear(&our);
        while (our_rest.n && !str_starts(our_rest, STR("= "))) {
            struct str l = line_of(&our_rest);
            buf_addf(&our, "%.*s\n", (int)l.n, l.p);
        }
        bool ok = CHECK_INT(head.p[head.n - 1] - '0', git_status);
        ok &= CHECK_STR(buf_str(&our), buf_str(&git));
        snprintf(cmd, sizeof(cmd), "m%llu %.*s\n", (unsigned long long)i, (int)tree.n, tree.p);
        ok &= git_status != 0 || CHECK(strstr(trees.p, cmd) != NULL);
        clean += git_status == 0;
        if (!ok) {
            printf("# case %llu in %s\n", (unsigned long long)i, dir);
            return;
        }
    }
    printf("# %u of %llu are clean\n", clean, (unsigned long long)n);
    CHECK(clean > n / 10 && clean < n);
    remove_all(dir);
}

/* ---- what git has no rule for ---- */

static struct three three_of(struct vfs *base)
{
    return (struct three){base, fork_of(base), fork_of(base)};
}

/* Merges, checks the conflicts (or that there is none), and gives the tree, or NULL. */
static struct vfs *check_merge(const struct three *t, const char *want)
{
    BUF_AUTO struct buf got = {0}, before = {0}, after = {0};
    buf_init(&got, 1 << 20);
    struct vfs *m = NULL;
    before = tree_dump(t->ours);
    int r = merge_of(t, &m, &got);
    CHECK_STR(buf_str(&got), str_c(want));
    CHECK_INT(r, *want ? 1 : 0);
    after = tree_dump(t->ours);
    CHECK_STR(buf_str(&after), buf_str(&before));
    if (m)
        tree_check(m);
    return m;
}

static struct vfs *small_tree(void)
{
    struct vfs *v = new_tree();
    tree_mkdir(v, "/d");
    tree_write(v, "/d/f", "1\n2\n3\n4\n5\n");
    tree_write(v, "/g", "g\n");
    tree_mkdir(v, "/empty");
    return v;
}

TEST(status)
{
    struct three t = three_of(small_tree());
    vfs_chmod(t.ours, &tree_root, tree_ino(t.ours, "/d/f"), 0600);
    vfs_chown(t.theirs, &tree_root, tree_ino(t.theirs, "/d/f"), 7, 8);
    tree_write(t.theirs, "/d/f", "1\n2\n3\n4\nfive\n");
    vfs_utimens(t.ours, &tree_root, tree_ino(t.ours, "/g"), INT64_MIN, 5000);
    vfs_utimens(t.theirs, &tree_root, tree_ino(t.theirs, "/g"), INT64_MIN, 4000);
    vfs_chmod(t.theirs, &tree_root, tree_ino(t.theirs, "/d"), 0700);
    struct vfs *m = check_merge(&t, "");
    struct vfs_stat st = tree_stat(m, "/d/f");
    CHECK_INT(st.mode & 07777, 0600);
    CHECK_INT(st.uid, 7);
    CHECK_INT(st.gid, 8);
    CHECK_C(tree_read(m, "/d/f"), "1\n2\n3\n4\nfive\n");
    CHECK_INT(tree_stat(m, "/g").mtime, 5000);
    CHECK_INT(tree_stat(m, "/d").mode & 07777, 0700);
    vfs_free(m);
    /* Differently by both. */
    vfs_chmod(t.theirs, &tree_root, tree_ino(t.theirs, "/d/f"), 0640);
    vfs_chmod(t.ours, &tree_root, tree_ino(t.ours, "/d"), 0711);
    vfs_chown(t.theirs, &tree_root, tree_ino(t.theirs, "/empty"), 1, 0);
    vfs_chown(t.ours, &tree_root, tree_ino(t.ours, "/empty"), 2, 0);
    CHECK(check_merge(&t, "d\nd/f\nempty\n") == NULL);
    free_three(&t);
}

TEST(removal_of_what_only_its_time_changed)
{
    struct three t = three_of(small_tree());
    tree_write(t.ours, "/g", "g\n");
    vfs_unlink(t.theirs, &tree_ctx, 0, STR("/g"));
    vfs_unlink(t.ours, &tree_ctx, 0, STR("/d/f"));
    tree_write(t.theirs, "/d/f", "1\n2\n3\n4\n5\n");
    struct vfs *m = check_merge(&t, "");
    CHECK_INT(tree_ino(m, "/g"), 0);
    CHECK_INT(tree_ino(m, "/d/f"), 0);
    vfs_free(m);
    free_three(&t);
}

TEST(another_type_of_what_only_its_time_changed)
{
    struct three t = three_of(small_tree());
    tree_write(t.ours, "/g", "g\n");
    vfs_unlink(t.theirs, &tree_ctx, 0, STR("/g"));
    vfs_symlink(t.theirs, &tree_ctx, STR("d"), 0, STR("/g"));
    vfs_unlink(t.ours, &tree_ctx, 0, STR("/d/f"));
    vfs_symlink(t.ours, &tree_ctx, STR("g"), 0, STR("/d/f"));
    tree_write(t.theirs, "/d/f", "1\n2\n3\n4\n5\n");
    struct vfs *m = check_merge(&t, "");
    CHECK(S_ISLNK(tree_stat(m, "/g").mode));
    CHECK(S_ISLNK(tree_stat(m, "/d/f").mode));
    vfs_free(m);
    /* Not of what was written. */
    tree_write(t.ours, "/g", "h\n");
    CHECK(check_merge(&t, "g\n") == NULL);
    free_three(&t);
}

TEST(directories)
{
    struct three t = three_of(small_tree());
    vfs_rmdir(t.theirs, &tree_ctx, 0, STR("/empty"));
    tree_mkdir(t.theirs, "/new");
    tree_mkdir(t.ours, "/new");
    /* Removed there, and here something came into it; and the other way round. */
    remove_tree(t.theirs, "/d");
    tree_write(t.ours, "/d/h", "h");
    tree_mkdir(t.theirs, "/e");
    struct vfs *m = check_merge(&t, "");
    CHECK_INT(tree_ino(m, "/empty"), 0);
    CHECK(tree_ino(m, "/new") && tree_ino(m, "/e"));
    CHECK_INT(tree_ino(m, "/d/f"), 0);
    CHECK_C(tree_read(m, "/d/h"), "h");
    vfs_free(m);
    struct three back = {t.base, t.theirs, t.ours};
    m = check_merge(&back, "");
    CHECK_INT(tree_ino(m, "/d/f"), 0);
    CHECK_C(tree_read(m, "/d/h"), "h");
    vfs_free(m);
    /* Its mode changed, and removed. */
    vfs_chmod(t.ours, &tree_root, tree_ino(t.ours, "/empty"), 0700);
    CHECK(check_merge(&t, "empty\n") == NULL);
    free_three(&t);
}

TEST(nothing_lands_behind_a_symlink)
{
    struct three t = three_of(small_tree());
    remove_tree(t.ours, "/d");
    tree_mkdir(t.ours, "/else");
    vfs_symlink(t.ours, &tree_ctx, STR("else"), 0, STR("/d"));
    tree_write(t.theirs, "/d/new", "new");
    CHECK(check_merge(&t, "d\n") == NULL);
    free_three(&t);
}

TEST(special_files)
{
    struct three t = three_of(small_tree());
    vfs_mknod(t.theirs, &tree_ctx, 0, STR("/fifo"), S_IFIFO | 0640, 0);
    vfs_mknod(t.theirs, &tree_ctx, 0, STR("/null"), S_IFCHR | 0600, makedev(1, 3));
    vfs_mknod(t.ours, &tree_ctx, 0, STR("/null"), S_IFCHR | 0600, makedev(1, 3));
    struct vfs *m = check_merge(&t, "");
    CHECK_INT(tree_stat(m, "/fifo").mode & ~022u, S_IFIFO | 0640);
    CHECK_INT(tree_stat(m, "/null").rdev, makedev(1, 3));
    vfs_free(m);
    vfs_mknod(t.ours, &tree_ctx, 0, STR("/fifo"), S_IFSOCK | 0640, 0);
    vfs_unlink(t.ours, &tree_ctx, 0, STR("/null"));
    vfs_mknod(t.ours, &tree_ctx, 0, STR("/null"), S_IFCHR | 0600, makedev(1, 5));
    CHECK(check_merge(&t, "fifo\nnull\n") == NULL);
    free_three(&t);
}

TEST(several_names)
{
    struct three t = {.base = small_tree()};
    vfs_link(t.base, &tree_ctx, 0, STR("/g"), 0, STR("/g2"), 0);
    t = three_of(t.base);
    /* Written by one name, a third name, and a file of its own in place of a name. */
    tree_write(t.theirs, "/g", "new\n");
    vfs_link(t.theirs, &tree_ctx, 0, STR("/d/f"), 0, STR("/d/f2"), 0);
    struct vfs *m = check_merge(&t, "");
    CHECK_C(tree_read(m, "/g2"), "new\n");
    CHECK_INT(tree_ino(m, "/g"), tree_ino(m, "/g2"));
    CHECK_INT(tree_ino(m, "/d/f"), tree_ino(m, "/d/f2"));
    vfs_free(m);
    vfs_unlink(t.theirs, &tree_ctx, 0, STR("/g2"));
    tree_write(t.theirs, "/g2", "own\n");
    tree_write(t.ours, "/d/f", "1\n2\n3\n4\nfive\n");
    m = check_merge(&t, "");
    CHECK_C(tree_read(m, "/g"), "new\n");
    CHECK_C(tree_read(m, "/g2"), "own\n");
    CHECK_C(tree_read(m, "/d/f"), "1\n2\n3\n4\nfive\n");
    CHECK_C(tree_read(m, "/d/f2"), "1\n2\n3\n4\n5\n");
    vfs_free(m);
    free_three(&t);
}

/* ---- what holds of all trees ---- */

static void random_links(struct vfs *v, uint64_t *r)
{
    char path[64], other[64];
    for (int i = 0; i < 6; i++) {
        random_path(r, path);
        random_path(r, other);
        uint64_t ino = tree_ino(v, path);
        switch (test_rand(r) % 6) {
        case 0:
            vfs_link(v, &tree_ctx, 0, str_c(path), 0, str_c(other), 0);
            break;
        case 1:
            vfs_rename(v, &tree_ctx, 0, str_c(path), 0, str_c(other), 0);
            break;
        case 2:
            vfs_mknod(v, &tree_ctx, 0, str_c(path), S_IFIFO | 0644, 0);
            break;
        case 3:
            tree_mkdir(v, path);
            break;
        case 4:
            if (ino)
                vfs_chown(v, &tree_root, ino, (uint32_t)(test_rand(r) % 2), 0);
            break;
        default:
            if (ino && S_ISREG(tree_stat(v, path).mode))
                tree_write(v, path, test_rand(r) % 2 ? "x\n" : "y\n");
            break;
        }
    }
}

static struct cas_id root_of(struct vfs *v)
{
    struct vfs_canon *k = vfs_canon_new();
    struct cas_id id = {{0}};
    CHECK_INT(vfs_root_hash(v, k, &id), 0);
    vfs_canon_free(k);
    return id;
}

static void check_gives(struct vfs *base, struct vfs *ours, struct vfs *theirs, struct vfs *want)
{
    struct three t = {base, ours, theirs};
    struct vfs *m = check_merge(&t, "");
    if (!m)
        return;
    struct cas_id a = root_of(m), b = root_of(want);
    CHECK_INT(cas_id_cmp(&a, &b), 0);
    vfs_free(m);
}

TEST_LIMIT(one_side_only_gives_that_side, 300)
{
    uint64_t seed = test_seed();
    for (uint64_t i = 0; i < 300; i++) {
        uint64_t r = seed + i * 104729 + 1;
        struct three t = random_three(&r);
        random_links(t.base, &r);
        vfs_free(t.theirs);
        t.theirs = fork_of(t.base);
        for (int k = 0; k < 3; k++) {
            random_links(t.theirs, &r);
            random_edit(t.theirs, &r);
        }
        check_gives(t.base, t.base, t.theirs, t.theirs);
        check_gives(t.base, t.theirs, t.base, t.theirs);
        check_gives(t.base, t.theirs, t.theirs, t.theirs);
        free_three(&t);
    }
}
