/* SPDX-License-Identifier: Apache-2.0 */

/* Sessions with real trees: what is needed and by whom, collecting, checking, and the way through a stream. */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/num.h"
#include "base/test/test.h"
#include "base/varint.h"
#include "snapshot/keep.h"
#include "snapshot/portable.h"
#include "snapshot/test/state_test.h"
#include "vfs/image.h"

static const struct vfs_cred root_cred = {.uid = 0};
static const struct vfs_ctx root_ctx = {.cred = &root_cred, .cwd = VFS_ROOT_INO, .umask = 022};

static void write_file(struct vfs *v, const char *path, size_t n, uint64_t seed)
{
    struct vfs_handle *h;
    char block[4096];
    CHECK_INT(vfs_open(v, &root_ctx, 0, str_c(path), O_WRONLY | O_CREAT | O_TRUNC, 0644, &h), 0);
    for (size_t at = 0; at < n; at += sizeof(block)) {
        for (size_t i = 0; i < sizeof(block); i++)
            block[i] = (char)test_rand(&seed);
        size_t k = NUM_MIN(n - at, sizeof(block));
        CHECK_INT(vfs_pwrite(h, block, k, at, NULL), k);
    }
    vfs_close(h);
}

/* A session of @n commands, each of which writes a file; the state of the last is in *ret. */
static void real_session(struct state *s, const char *name, int n, const char *config, struct trace_state *ret)
{
    struct state_session ses;
    struct trace *t;
    struct cas *c;
    struct err err = {0};
    const struct vfs_quota quota = {UINT64_MAX, UINT64_MAX};
    struct vfs *v = vfs_new(&quota);
    struct vfs_canon *k = vfs_canon_new();
    struct trace_event e = {.type = TRACE_CREATED};
    CHECK_INT(state_store(s, CAS_WRITE | CAS_CREATE, &c, &err), 0);
    CHECK_INT(state_session_create(s, str_c(name), &ses, &err), 0);
    CHECK_INT(trace_open(fd_steal(&ses.trace_fd), TRACE_APPEND | TRACE_NEW, &t, NULL, &err), 0);
    CHECK_INT(vfs_mkdir(v, &root_ctx, 0, STR("/work"), 0755), 0);
    CHECK_INT(vfs_image_store(v, k, c, &e.u.created.state.root, &e.u.created.state.image), 0);
    e.u.created.session = str_c(ses.id);
    e.u.created.config = str_c(config);
    CHECK_INT(trace_append(t, &e), 0);
    *ret = e.u.created.state;
    for (int i = 1; i <= n; i++) {
        char path[64], text[80];
        snprintf(path, sizeof(path), "/work/file-%d", i);
        snprintf(text, sizeof(text), "make %s", path);
        write_file(v, path, i == 2 ? 300000 : 20000, (uint64_t)i * 77);
        struct trace_event exec = {.type = TRACE_EXEC, .u.exec.text = str_c(text)};
        struct trace_event out = {.type = TRACE_OUTPUT, .u.output = {.stream = 1, .size = 9, .kept = 9}};
        struct trace_event end = {.type = TRACE_END};
        CHECK_INT(cas_put(c, str_c(path), &out.u.output.blob), 0);
        CHECK_INT(vfs_image_store(v, k, c, &end.u.end.state.root, &end.u.end.state.image), 0);
        CHECK_INT(trace_append(t, &exec), 0);
        CHECK_INT(trace_append(t, &out), 0);
        /* The content is named, but no blob of its own. */
        struct trace_event change = {.type = TRACE_CHANGE, .u.change = {.path = str_c(path)}};
        memset(change.u.change.after.b, i, sizeof(change.u.change.after.b));
        CHECK_INT(trace_append(t, &change), 0);
        CHECK_INT(trace_append(t, &end), 0);
        *ret = end.u.end.state;
    }
    CHECK_INT(cas_flush(c), 0);
    CHECK_INT(trace_flush(t), 0);
    trace_close(t);
    CHECK_INT(state_session_commit(s, &ses, &err), 0);
    state_session_close(&ses);
    vfs_canon_free(k);
    vfs_free(v);
    cas_close(c);
}

/* @config NULL: that of its session. */
static void keep_snapshot(struct state *s, const char *spec, const char *name, const char *config)
{
    struct state_place p;
    struct state_snapshot snap = {.seq = 0};
    struct err err = {0};
    CHECK_INT(state_resolve(s, str_c(spec), &p, &err), 0);
    memcpy(snap.session, p.session, sizeof(snap.session));
    memcpy(snap.name, name, strlen(name));
    snap.seq = p.seq;
    snap.state = p.state;
    snap.config = config ? str_c(config) : buf_str(&p.config);
    CHECK_INT(state_snapshot_put(s, &snap, &err), 0);
    state_place_done(&p);
}

/* ---- checking ---- */

static void note(void *arg, const struct state_finding *f)
{
    static const char *const names[] = {"damaged", "missing", "store", "log", "snapshot", "file"};
    buf_addf(arg, "%s %s @%d %s %.*s\n", names[f->fault], f->ref ? f->ref->name : "-", f->ref ? (int)f->ref->seq : -1,
             f->ref ? f->ref->what : "", (int)f->path.n, f->path.n ? f->path.p : "");
}

static void no_progress(void *arg, const char *what, uint64_t done, uint64_t all)
{
    CHECK(arg && what && (all == 0 || done <= all));
}

static int fsck(struct state *s, struct buf *out)
{
    struct err err = {0};
    const struct state_watch w = {note, no_progress, out};
    buf_clear(out);
    return state_fsck(s, &w, &err);
}

static int gc(struct state *s, bool dry, uint64_t *blobs, struct err *err)
{
    uint64_t bytes;
    *blobs = 0;
    return state_gc(s, dry, NULL, NULL, blobs, &bytes, err);
}

TEST(collecting)
{
    struct state_test t = state_test_new();
    struct trace_state a, b;
    struct err err = {0};
    struct cas *c;
    uint64_t n, m;
    BUF_AUTO struct buf out;
    buf_init(&out, 1u << 20);
    real_session(t.s, "a", 3, "", &a);
    real_session(t.s, "b", 5, "", &b);
    CHECK_INT(fsck(t.s, &out), 0);
    CHECK_C(out.p, "");
    CHECK_INT(gc(t.s, false, &n, &err), 0);
    CHECK_INT(n, 0);
    /* What nothing names goes, but not while somebody is about to name it. */
    struct cas_id id_put;
    struct cas_gc *other;
    CHECK_INT(state_store(t.s, CAS_WRITE, &c, &err), 0);
    CHECK_INT(cas_put(c, STR("to be named"), &id_put), 0);
    CHECK_INT(cas_release(c), 0);
    CHECK_INT(gc(t.s, false, &n, &err), 0);
    CHECK_INT(n, 1);
    /* A session is not destroyed while it may be forked behind the back of gc. */
    CHECK_INT(cas_gc_begin(c, 0, &other, &err), 0);
    CHECK_INT(state_session_destroy(t.s, STR("a"), &err), -EBUSY);
    CHECK(strstr(err.text, "garbage collection") != NULL);
    cas_gc_abort(other);
    cas_close(c);
    CHECK_INT(fsck(t.s, &out), 0);
    CHECK_C(out.p, "");
    /* A fork holds what its origin had. */
    struct state_place p;
    char id[STATE_ID_MAX];
    CHECK_INT(state_resolve(t.s, STR("b@6"), &p, &err), 0);
    CHECK_INT(state_fork(t.s, &p, STR("f"), id, &err), 0);
    state_place_done(&p);
    CHECK_INT(state_session_destroy(t.s, STR("b"), &err), 0);
    CHECK_INT(gc(t.s, true, &n, &err), 0);
    CHECK(n > 0);
    CHECK_INT(gc(t.s, false, &m, &err), 0);
    CHECK_INT(m, n);
    CHECK_INT(gc(t.s, false, &n, &err), 0);
    CHECK_INT(n, 0);
    CHECK_INT(fsck(t.s, &out), 0);
    CHECK_C(out.p, "");
    state_test_done(&t);
}

/* Flips bytes in the packs, one after the other, until a file is hit. */
TEST(checking)
{
    struct state_test t = state_test_new();
    struct trace_state a;
    struct err err = {0};
    uint64_t n;
    BUF_AUTO struct buf out;
    buf_init(&out, 1u << 20);
    real_session(t.s, "a", 3, "", &a);
    char cmd[300];
    /* The longest file takes most of the pack, so its middle is content. */
    snprintf(cmd, sizeof(cmd),
             "cd %s/store && f=$(find . -type f -size +100k | head -1) && printf X | dd of=$f bs=1 conv=notrunc "
             "seek=$(($(stat -c %%s $f) / 2)) 2>/dev/null",
             t.path);
    CHECK_INT(system(cmd), 0);
    CHECK_INT(fsck(t.s, &out), 0);
    CHECK(strstr(out.p, "damaged a @") != NULL);
    CHECK(strstr(out.p, "/work/file-") != NULL);
    if (!strstr(out.p, "/work/file-"))
        CHECK_C(out.p, "");
    /* A log that is damaged might name anything. */
    char id[STATE_ID_MAX];
    state_test_session(t.s, "bad", id);
    snprintf(cmd, sizeof(cmd), "printf X | dd of=%s/sessions/%s/trace bs=1 seek=60 conv=notrunc 2>/dev/null", t.path,
             id);
    CHECK_INT(system(cmd), 0);
    CHECK_INT(fsck(t.s, &out), 0);
    CHECK(strstr(out.p, "log bad @") != NULL);
    CHECK_INT(gc(t.s, false, &n, &err), -EBADMSG);
    CHECK_INT(state_session_destroy(t.s, STR("bad"), &err), 0);
    CHECK_INT(state_session_destroy(t.s, STR("a"), &err), 0);
    CHECK_INT(gc(t.s, false, &n, &err), 0);
    CHECK_INT(fsck(t.s, &out), 0);
    CHECK_C(out.p, "");
    state_test_done(&t);
}

/* What is named and not there. */
TEST(missing)
{
    struct state_test t = state_test_new();
    struct err err = {0};
    struct cas *c;
    char id[STATE_ID_MAX];
    uint64_t n;
    BUF_AUTO struct buf out;
    buf_init(&out, 1u << 20);
    CHECK_INT(state_store(t.s, CAS_WRITE | CAS_CREATE, &c, &err), 0);
    cas_close(c);
    state_test_session(t.s, "s", id);
    CHECK_INT(fsck(t.s, &out), 0);
    CHECK_C(out.p, "missing s @0 image \nfile s @0 image /\nmissing s @0 shell \n");
    CHECK_INT(gc(t.s, false, &n, &err), -EBADMSG);
    state_test_done(&t);
}

/* ---- through a stream ---- */

static int memory_file(void)
{
    int fd = memfd_create("export", MFD_CLOEXEC);
    CHECK(fd >= 0);
    return fd;
}

static int import(struct state *s, int fd, const char *name, bool mounts, struct state_portable *rep, struct err *err)
{
    CHECK_INT(lseek(fd, 0, SEEK_SET), 0);
    return state_import(s, fd, str_c(name), mounts, NULL, NULL, rep, err);
}

static int count(void *arg, const char *id, const char *name)
{
    CHECK(id[0] && name);
    ++*(int *)arg;
    return 0;
}

static int sessions(struct state *s)
{
    int n = 0;
    CHECK_INT(state_session_each(s, count, &n), 0);
    return n;
}

TEST(there_and_back)
{
    struct state_test t = state_test_new(), u = state_test_new();
    struct trace_state a;
    struct state_place p;
    struct state_portable out, in;
    struct err err = {0};
    uint64_t n;
    BUF_AUTO struct buf text;
    buf_init(&text, 1u << 20);
    FD_AUTO int fd = memory_file(), again = memory_file();
    real_session(t.s, "a", 4, "user=user\n", &a);
    keep_snapshot(t.s, "a@4", "early", NULL);
    CHECK_INT(state_export(t.s, STR("a"), fd, NULL, NULL, &out, &err), 0);
    CHECK_INT(out.events, 17);
    CHECK_INT(out.snapshots, 1);
    CHECK_INT(import(u.s, fd, "", false, &in, &err), 0);
    CHECK_C(err.text, "");
    CHECK_C(in.name, "a");
    CHECK(strcmp(in.id, out.id) != 0);
    CHECK_INT(in.blobs, out.blobs);
    CHECK_INT(in.bytes, out.bytes);
    CHECK_INT(state_resolve(u.s, STR("a"), &p, &err), 0);
    CHECK(memcmp(&p.state, &a, sizeof(a)) == 0);
    CHECK_STR(buf_str(&p.config), STR("user=user\n"));
    state_place_done(&p);
    CHECK_INT(state_resolve(u.s, STR("a:early"), &p, &err), 0);
    CHECK_INT(p.seq, 4);
    state_place_done(&p);
    CHECK_INT(state_resolve(u.s, STR("a@6"), &p, &err), 0);
    state_place_done(&p);
    CHECK_INT(fsck(u.s, &text), 0);
    CHECK_C(text.p, "");
    CHECK_INT(gc(u.s, false, &n, &err), 0);
    CHECK_INT(n, 0);
    /* The name is taken now; another will do, and it can go on from here. */
    CHECK_INT(import(u.s, fd, "", false, &in, &err), -EEXIST);
    CHECK_INT(import(u.s, fd, "other", false, &in, &err), 0);
    CHECK_INT(state_export(u.s, STR("other"), again, NULL, NULL, &out, &err), 0);
    CHECK_INT(out.events, 18);
    CHECK_INT(import(t.s, again, "third", false, &in, &err), 0);
    CHECK_INT(sessions(t.s), 2);
    CHECK_INT(sessions(u.s), 2);
    state_test_done(&t);
    state_test_done(&u);
}

/* What is exported from session a has mounts: it is imported when they are asked for, and only then. */
static void check_asked_for(struct state_test *t, struct state_portable *rep)
{
    struct err err = {0};
    FD_AUTO int fd = memory_file();
    CHECK_INT(state_export(t->s, STR("a"), fd, NULL, NULL, rep, &err), 0);
    struct state_portable in;
    CHECK_INT(import(t->s, fd, "b", false, &in, &err), -EPERM);
    CHECK(strstr(err.text, "--mounts") != NULL);
    CHECK_INT(sessions(t->s), 1);
    CHECK_INT(import(t->s, fd, "b", true, &in, &err), 0);
    CHECK_INT(sessions(t->s), 2);
}

TEST(mounts_are_asked_for)
{
    struct state_test t = state_test_new();
    struct trace_state a;
    struct state_portable rep;
    real_session(t.s, "a", 1, "user=user\nmount=/etc:/etc:ro\n", &a);
    check_asked_for(&t, &rep);
    state_test_done(&t);
}

/* A snapshot is forked with its own configuration, which need not be its session's in a file that somebody made. */
TEST(mounts_in_a_snapshot)
{
    struct state_test t = state_test_new();
    struct trace_state a;
    struct state_portable rep;
    real_session(t.s, "a", 1, "user=user\n", &a);
    keep_snapshot(t.s, "a", "plain", NULL);
    keep_snapshot(t.s, "a", "hostile", "user=user\nmount=/etc:/etc:ro\n");
    check_asked_for(&t, &rep);
    CHECK_INT(rep.snapshots, 2);
    state_test_done(&t);
}

static void put_num(struct buf *b, uint64_t v)
{
    uint8_t bytes[VARINT_MOST];
    buf_add(b, bytes, (size_t)(varint_put(bytes, v) - bytes));
}

/* A page of the table of nodes: @slots copies of @each. */
static void put_page(struct cas *c, int level, unsigned slots, struct str each, struct cas_id *ret)
{
    BUF_AUTO struct buf b;
    buf_init(&b, LIMIT_CAS_BLOB);
    buf_putc(&b, 'R');
    buf_putc(&b, (char)level);
    for (unsigned shift = 0; shift < 32; shift += 8)
        buf_putc(&b, (char)((slots < 32 ? (1u << slots) - 1 : UINT32_MAX) >> shift));
    for (unsigned i = 0; i < slots; i++)
        buf_adds(&b, each);
    CHECK_INT(cas_put(c, buf_str(&b), ret), 0);
}

/* A tree of 32,768 files of 64 KiB in four blobs: each page stands in all places of the one above. */
static void huge_tree(struct cas *c, struct trace_state *ret)
{
    BUF_AUTO struct buf node, image;
    struct cas_id page;
    char content[VFS_PAGE];
    memset(content, 'x', sizeof(content));
    buf_init(&node, 1u << 20);
    buf_init(&image, 1u << 20);
    buf_putc(&node, 0);
    put_num(&node, S_IFREG | 0644);
    for (int i = 0; i < 3; i++) /* links, uid, gid */
        buf_putc(&node, 1);
    buf_putc(&node, 0);
    buf_putc(&node, 1); /* parent */
    put_num(&node, VFS_PAGE);
    for (int i = 0; i < 4; i++) /* times */
        buf_putc(&node, 0);
    buf_putc(&node, 1); /* content is here */
    put_num(&node, VFS_PAGE);
    put_num(&node, VFS_PAGE);
    buf_add(&node, content, sizeof(content));
    buf_putc(&node, 0); /* directories that name it */
    put_page(c, 0, 32, buf_str(&node), &page);
    put_page(c, 1, 32, str_of((const char *)page.b, sizeof(page.b)), &page);
    put_page(c, 2, 32, str_of((const char *)page.b, sizeof(page.b)), &page);
    *ret = (struct trace_state){.shell = {{0}}};
    memset(&ret->root, 7, sizeof(ret->root));
    buf_putc(&image, 'I');
    buf_putc(&image, 1);
    buf_add(&image, ret->root.b, sizeof(ret->root.b));
    for (int i = 0; i < 4; i++) /* next inode, bytes, inodes, directories */
        put_num(&image, 1u << 20);
    buf_putc(&image, 0);
    buf_putc(&image, 3);
    buf_add(&image, page.b, sizeof(page.b));
    buf_putc(&image, 0);
    buf_putc(&image, 0);
    CHECK_INT(cas_put(c, buf_str(&image), &ret->image), 0);
    CHECK_INT(cas_flush(c), 0);
}

TEST_LIMIT(a_tree_that_takes_too_much, 120)
{
    struct state_test t = state_test_new();
    struct trace_state a, huge;
    struct state_session ses;
    struct state_portable rep;
    struct trace *tr;
    struct cas *c;
    struct stat st;
    struct err err = {0};
    FD_AUTO int fd = memory_file();
    real_session(t.s, "a", 1, "", &a);
    CHECK_INT(state_store(t.s, CAS_WRITE | CAS_CREATE, &c, &err), 0);
    huge_tree(c, &huge);
    cas_close(c);
    CHECK_INT(state_session_open(t.s, STR("a"), true, 0, &ses, &err), 0);
    CHECK_INT(trace_open(fd_steal(&ses.trace_fd), TRACE_APPEND, &tr, NULL, &err), 0);
    struct trace_event e = {.type = TRACE_RESTORE, .u.restore = {STR("@0"), huge}};
    CHECK_INT(trace_append(tr, &e), 0);
    CHECK_INT(trace_flush(tr), 0);
    trace_close(tr);
    state_session_close(&ses);
    CHECK_INT(state_export(t.s, STR("a"), fd, NULL, NULL, &rep, &err), 0);
    CHECK_C(err.text, "");
    CHECK_INT(fstat(fd, &st), 0);
    CHECK(st.st_size < 4 << 20);
    CHECK_INT(import(t.s, fd, "b", false, &rep, &err), -EFBIG);
    CHECK(strstr(err.text, "1024 MiB of memory") != NULL);
    CHECK_INT(sessions(t.s), 1);
    state_test_done(&t);
}

/* Every flipped byte and every cut is found, and leaves nothing. */
TEST_LIMIT(damaged_streams, 600)
{
    struct state_test t = state_test_new(), u = state_test_new();
    struct trace_state a;
    struct state_portable rep;
    struct err err = {0};
    struct stat st;
    uint64_t seed = test_seed();
    FD_AUTO int fd = memory_file();
    real_session(t.s, "a", 2, "", &a);
    keep_snapshot(t.s, "a", "x", NULL);
    CHECK_INT(state_export(t.s, STR("a"), fd, NULL, NULL, &rep, &err), 0);
    CHECK_INT(fstat(fd, &st), 0);
    for (int i = 0; i < 300; i++) {
        /* The heads of records are near the begin and the end. */
        uint64_t span = i % 3 == 0 ? 400 : (uint64_t)st.st_size;
        off_t at = (off_t)(test_rand(&seed) % span);
        char c, x;
        if (i % 3 == 1)
            at = st.st_size - 1 - at % 4000;
        CHECK_INT(pread(fd, &c, 1, at), 1);
        x = (char)(c ^ (1 << (test_rand(&seed) % 8)));
        CHECK_INT(pwrite(fd, &x, 1, at), 1);
        CHECK_INT(import(u.s, fd, "", true, &rep, &err), -EBADMSG);
        CHECK_INT(pwrite(fd, &c, 1, at), 1);
    }
    CHECK_INT(sessions(u.s), 0);
    for (int i = 0; i < 60; i++) {
        FD_AUTO int cut = memory_file();
        size_t n = i == 0 ? (size_t)st.st_size - 1 : (size_t)(test_rand(&seed) % (uint64_t)st.st_size);
        void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
        CHECK_INT(fd_write_all(cut, str_of(p, n)), 0);
        munmap(p, (size_t)st.st_size);
        CHECK_INT(import(u.s, cut, "", true, &rep, &err), -EBADMSG);
    }
    char more = 0;
    CHECK_INT(pwrite(fd, &more, 1, st.st_size), 1);
    CHECK_INT(import(u.s, fd, "", true, &rep, &err), -EBADMSG);
    CHECK_INT(sessions(u.s), 0);
    CHECK_INT(ftruncate(fd, st.st_size), 0);
    CHECK_INT(import(u.s, fd, "", true, &rep, &err), 0);
    CHECK_INT(sessions(u.s), 1);
    state_test_done(&t);
    state_test_done(&u);
}

/* A stream whose end is right, but that lacks a blob which the store happens to have. */
TEST(blobs_must_come_along)
{
    struct state_test t = state_test_new();
    struct trace_state a;
    struct state_portable rep;
    struct err err = {0};
    struct stat st;
    FD_AUTO int fd = memory_file(), less = memory_file();
    real_session(t.s, "a", 2, "", &a);
    CHECK_INT(state_export(t.s, STR("a"), fd, NULL, NULL, &rep, &err), 0);
    CHECK_INT(fstat(fd, &st), 0);
    const uint8_t *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
    size_t at = sizeof(STATE_PORTABLE_MAGIC) - 1, blobs = 0;
    struct cas_hash h;
    uint8_t sum[CAS_HASH_SIZE];
    cas_hash_init(&h);
    cas_hash_add(&h, p, at);
    CHECK_INT(fd_write_all(less, str_of((const char *)p, at)), 0);
    while (p[at] != 'E') {
        size_t n = 9;
        for (int i = 0; i < 8; i++)
            n += (size_t)p[at + 1 + (size_t)i] << (8 * i);
        if (p[at] != 'B' || blobs++ != 4) {
            cas_hash_add(&h, p + at, n);
            CHECK_INT(fd_write_all(less, str_of((const char *)p + at, n)), 0);
        }
        at += n;
    }
    cas_hash_end(&h, sum);
    CHECK_INT(fd_write_all(less, str_of((const char *)p + at, 9)), 0);
    CHECK_INT(fd_write_all(less, str_of((const char *)sum, sizeof(sum))), 0);
    munmap((void *)(uintptr_t)p, (size_t)st.st_size);
    CHECK_INT(import(t.s, less, "b", true, &rep, &err), -EBADMSG);
    CHECK(strstr(err.text, "not in the file") != NULL);
    CHECK_INT(sessions(t.s), 1);
    state_test_done(&t);
}
