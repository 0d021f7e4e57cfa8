/* SPDX-License-Identifier: Apache-2.0 */

/* The state directory: names, locks, crashes, hostile entries, many sessions, deep forks. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/fd.h"
#include "base/test/test.h"
#include "snapshot/test/state_test.h"
#include "types/id.h"

static bool is_there(struct state *s, const char *who)
{
    struct state_session ses;
    if (state_session_open(s, str_c(who), false, 0, &ses, NULL))
        return false;
    state_session_close(&ses);
    return true;
}

static int append(void *arg, const char *id, const char *name)
{
    buf_addf(arg, "%s ", name[0] ? name : "-");
    return id[0] ? 0 : -EINVAL;
}

static void check_names(struct state *s, const char *want)
{
    BUF_AUTO struct buf got;
    buf_init(&got, 1u << 20);
    CHECK_INT(state_session_each(s, append, &got), 0);
    CHECK_C(got.p, want);
}

static bool same_state(const struct trace_state *a, const struct trace_state *b)
{
    return memcmp(a, b, sizeof(*a)) == 0;
}

/* ---- the directory ---- */

TEST(where_it_is)
{
    struct state_test t = state_test_new();
    struct state *s;
    struct err err = {0};
    char path[128];
    snprintf(path, sizeof(path), "%s/none", t.dir);
    CHECK_INT(state_open(path, false, &s, &err), -ENOENT);
    CHECK(strstr(err.text, "--state") != NULL);
    setenv("HOME", t.dir, 1);
    unsetenv("XDG_STATE_HOME");
    unsetenv("FRONTAL_SANDBOX_STATE");
    CHECK_INT(state_open(NULL, true, &s, &err), 0);
    snprintf(path, sizeof(path), "%s/.local/state/frontal-sandbox", t.dir);
    CHECK_C(state_path(s), path);
    state_close(s);
    setenv("XDG_STATE_HOME", t.dir, 1);
    CHECK_INT(state_open(NULL, true, &s, &err), 0);
    snprintf(path, sizeof(path), "%s/frontal-sandbox", t.dir);
    CHECK_C(state_path(s), path);
    state_close(s);
    setenv("FRONTAL_SANDBOX_STATE", t.path, 1);
    CHECK_INT(state_open(NULL, false, &s, &err), 0);
    CHECK_C(state_path(s), t.path);
    state_close(s);
    state_test_done(&t);
}

static void put_file(const char *dir, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    CHECK_INT(fd_write_all(fd, str_c(text)), 0);
    fd_close(&fd);
}

TEST(whose_it_is)
{
    struct state_test t = state_test_new();
    struct state *s;
    struct err err = {0};
    /* The scratch directory holds something else. */
    CHECK_INT(state_open(t.dir, true, &s, &err), -EINVAL);
    CHECK(strstr(err.text, "other things") != NULL);
    static const char *const bad[] = {"",
                                      "x",
                                      "frontal-sandbox state 0\n",
                                      "frontal-sandbox state 1",
                                      "frontal-sandbox state 1x\n",
                                      "frontal-sandbox state 2\n"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        put_file(t.path, "version", bad[i]);
        CHECK_INT(state_open(t.path, true, &s, &err), -EINVAL);
    }
    CHECK(strstr(err.text, "newer") != NULL);
    put_file(t.path, "version", "frontal-sandbox state 1\n");
    CHECK_INT(state_open(t.path, false, &s, &err), 0);
    state_close(s);
    state_test_done(&t);
}

/* ---- sessions ---- */

TEST(names)
{
    struct state_test t = state_test_new();
    struct state_session ses;
    struct err err;
    static const char *const bad[] = {".a",
                                      "-a",
                                      "a b",
                                      "a/b",
                                      "..",
                                      "a@1",
                                      "a:b",
                                      "sbx_a",
                                      "snap_a",
                                      "\xc3\xa4",
                                      "12345678901234567890123456789012345678901234567890123456789012345"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        CHECK_INT(state_session_create(t.s, str_c(bad[i]), &ses, &err), -EINVAL);
        CHECK_INT(state_session_open(t.s, str_c(bad[i]), false, 0, &ses, &err),
                  strcmp(bad[i], "") == 0 ? -ENOENT : -EINVAL);
    }
    CHECK_INT(state_session_create(t.s, STR("a\0b"), &ses, &err), -EINVAL);
    char id[STATE_ID_MAX];
    state_test_session(t.s, "A-z_0.9", id);
    state_test_session(t.s, "1234567890123456789012345678901234567890123456789012345678901234", id);
    check_names(t.s, "1234567890123456789012345678901234567890123456789012345678901234 A-z_0.9 ");
    state_test_done(&t);
}

TEST(life_of_a_session)
{
    struct state_test t = state_test_new();
    struct state_session ses, other;
    struct err err = {0};
    char id[STATE_ID_MAX];
    CHECK_INT(state_session_open(t.s, STR("build"), false, 0, &ses, &err), -ENOENT);
    CHECK(strstr(err.text, "run --session") != NULL);
    CHECK_INT(state_session_create(t.s, STR("build"), &ses, &err), 0);
    CHECK(ses.fresh && ses.lock_fd >= 0 && ses.trace_fd >= 0);
    CHECK(!is_there(t.s, "build") && !is_there(t.s, ses.id));
    state_session_drop(t.s, &ses);
    state_test_session(t.s, "build", id);
    CHECK(is_there(t.s, "build") && is_there(t.s, id));
    CHECK_INT(state_session_create(t.s, STR("build"), &ses, &err), -EEXIST);
    CHECK_INT(state_session_open(t.s, STR("biuld"), false, 0, &ses, &err), -ENOENT);
    CHECK(strstr(err.text, "is it 'build'?") != NULL);
    CHECK_INT(state_session_open(t.s, STR("something-else"), false, 0, &ses, &err), -ENOENT);
    CHECK(strstr(err.text, "session list") != NULL);
    /* Another process was faster: it is its name. */
    CHECK_INT(state_session_create(t.s, STR("late"), &ses, &err), 0);
    state_test_session(t.s, "late", id);
    CHECK_INT(state_session_commit(t.s, &ses, &err), -EEXIST);
    state_session_drop(t.s, &ses);
    state_test_session(t.s, "", id);
    check_names(t.s, "build late - ");
    CHECK_INT(state_session_open(t.s, str_c(id), true, 0, &ses, &err), 0);
    CHECK_C(ses.name, "");
    CHECK_INT(state_session_destroy(t.s, str_c(id), &err), -EBUSY);
    state_session_close(&ses);
    CHECK_INT(state_session_rename(t.s, str_c(id), STR("late"), &err), -EEXIST);
    CHECK_INT(state_session_rename(t.s, str_c(id), STR("named"), &err), 0);
    CHECK_INT(state_session_rename(t.s, STR("named"), STR("named"), &err), 0);
    CHECK_INT(state_session_rename(t.s, STR("named"), STR("again"), &err), 0);
    CHECK_INT(state_session_open(t.s, str_c(id), true, 0, &ses, &err), 0);
    CHECK_C(ses.name, "again");
    /* A session may get another name while it is used. */
    CHECK_INT(state_session_rename(t.s, STR("again"), STR("more"), &err), 0);
    CHECK_INT(state_session_open(t.s, STR("again"), false, 0, &other, &err), -ENOENT);
    state_session_close(&ses);
    CHECK_INT(state_session_destroy(t.s, STR("build"), &err), 0);
    check_names(t.s, "late more ");
    state_test_session(t.s, "build", id);
    check_names(t.s, "build late more ");
    state_test_done(&t);
}

/* What a loss of power may leave of a session that was shown and not synced: its directory, and of its log so much. */
static void lose_log(struct state_test *t, const char *id, const char *how)
{
    char path[256];
    struct stat st;
    snprintf(path, sizeof(path), "%s/sessions/%s/trace", t->path, id);
    FD_AUTO int fd = open(path, O_RDWR | O_CLOEXEC);
    CHECK(fd >= 0 && fstat(fd, &st) == 0);
    off_t size = st.st_size;
    if (strcmp(how, "half") == 0) {
        CHECK_INT(ftruncate(fd, size / 2), 0);
    } else if (strcmp(how, "whole") != 0) {
        CHECK_INT(ftruncate(fd, 0), 0);
        if (strcmp(how, "zeros") == 0)
            CHECK_INT(ftruncate(fd, size), 0);
    }
    /* The machine was started anew. */
    snprintf(path, sizeof(path), "%s/sessions/%s/boot", t->path, id);
    CHECK_INT(unlink(path), 0);
    CHECK_INT(symlink("another", path), 0);
}

TEST(shown_before_it_is_on_the_disk)
{
    static const char *const hows[] = {"none", "half", "zeros", "whole"};
    struct state_test t = state_test_new();
    struct state_session ses;
    struct err err = {0};
    struct trace *tr;
    char ids[4][STATE_ID_MAX];
    for (size_t i = 0; i < 4; i++) {
        struct trace_event e = {.type = TRACE_CREATED,
                                .u.created = {.session = STR("sbx_x"), .state = state_test_state(1)}};
        CHECK_INT(state_session_create(t.s, STR(""), &ses, &err), 0);
        char made[STATE_ID_MAX];
        memcpy(made, ses.id, sizeof(made));
        state_session_renew(&ses);
        CHECK(strcmp(made, ses.id) != 0);
        CHECK_INT(state_session_call(t.s, &ses, str_c(hows[i]), &err), 0);
        CHECK_INT(trace_open(fd_steal(&ses.trace_fd), TRACE_APPEND | TRACE_NEW, &tr, NULL, &err), 0);
        CHECK_INT(trace_append(tr, &e), 0);
        CHECK_INT(trace_flush(tr), 0);
        trace_close(tr);
        CHECK(!is_there(t.s, hows[i]));
        CHECK_INT(state_session_show(t.s, &ses, STR("{}"), &err), 0);
        CHECK(is_there(t.s, hows[i]) && is_there(t.s, ses.id) && !is_there(t.s, made));
        memcpy(ids[i], ses.id, sizeof(ids[i]));
        state_session_close(&ses);
    }
    CHECK_INT(state_session_sync(t.s, (const char(*)[STATE_ID_MAX])ids, 4), 0);
    for (size_t i = 0; i < 4; i++)
        lose_log(&t, ids[i], hows[i]);
    for (size_t i = 0; i < 3; i++) {
        CHECK_INT(state_session_open(t.s, str_c(hows[i]), true, 0, &ses, &err), -ENOENT);
        CHECK(strstr(err.text, "lost power") != NULL);
    }
    CHECK(is_there(t.s, "whole"));
    CHECK_INT(state_tidy(t.s, &err), 0);
    check_names(t.s, "whole ");
    /* One that was there before is damaged, and stays. */
    char id[STATE_ID_MAX];
    state_test_session(t.s, "old", id);
    state_test_exec(t.s, "old", 2, true);
    char path[256];
    snprintf(path, sizeof(path), "%s/sessions/%s/trace", t.path, id);
    FD_AUTO int fd = open(path, O_RDWR | O_CLOEXEC);
    CHECK_INT(pwrite(fd, "x", 1, 100), 1);
    lose_log(&t, id, "whole");
    CHECK_INT(state_tidy(t.s, &err), 0);
    check_names(t.s, "old whole ");
    state_test_done(&t);
}

TEST(lock_between_processes)
{
    struct state_test t = state_test_new();
    struct state_session ses;
    struct err err = {0};
    char id[STATE_ID_MAX], byte = 0, said[32];
    int to[2], from[2];
    state_test_session(t.s, "s", id);
    CHECK(pipe2(to, O_CLOEXEC) == 0 && pipe2(from, O_CLOEXEC) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        int r = state_session_open(t.s, STR("s"), true, 0, &ses, NULL);
        _exit(r || write(from[1], &byte, 1) != 1 || read(to[0], &byte, 1) != 1);
    }
    CHECK_INT(read(from[0], &byte, 1), 1);
    CHECK_INT(state_session_open(t.s, STR("s"), true, 0, &ses, &err), -EBUSY);
    snprintf(said, sizeof(said), "process %d:", (int)pid);
    CHECK(strstr(err.text, said) != NULL);
    CHECK_INT(state_session_open(t.s, STR("s"), true, 20, &ses, &err), -EBUSY);
    /* Reading needs no lock. */
    CHECK(is_there(t.s, "s"));
    CHECK_INT(kill(pid, SIGKILL), 0);
    CHECK_INT(waitpid(pid, NULL, 0), pid);
    CHECK_INT(state_session_open(t.s, STR("s"), true, 0, &ses, &err), 0);
    state_session_close(&ses);
    state_test_done(&t);
}

/* ---- snapshots ---- */

static int count(void *arg, const struct state_snapshot *snap)
{
    buf_addf(arg, "%s ", snap->name[0] ? snap->name : "-");
    return 0;
}

static void check_snapshots(struct state *s, const char *session, const char *want)
{
    BUF_AUTO struct buf got;
    buf_init(&got, 1u << 20);
    CHECK_INT(state_snapshot_each(s, str_c(session), count, &got), 0);
    CHECK_C(got.p, want);
}

static int put(struct state *s, const char *session, const char *name, uint8_t n, char *ret_id, struct err *err)
{
    struct state_snapshot snap = {.seq = n, .time = n, .bytes = 10, .state = state_test_state(n)};
    memcpy(snap.session, session, sizeof(snap.session));
    memcpy(snap.name, name, strlen(name));
    snap.config = STR("cwd=/work\n\nx=1");
    int r = state_snapshot_put(s, &snap, err);
    if (ret_id)
        memcpy(ret_id, snap.id, STATE_ID_MAX);
    return r;
}

TEST(snapshots)
{
    struct state_test t = state_test_new();
    struct state_snapshot snap;
    struct err err = {0};
    char a[STATE_ID_MAX], b[STATE_ID_MAX], id[STATE_ID_MAX];
    struct trace_state want = state_test_state(3);
    state_test_session(t.s, "a", a);
    state_test_session(t.s, "b", b);
    CHECK_INT(put(t.s, a, "clean", 3, id, &err), 0);
    CHECK_INT(put(t.s, a, "", 2, NULL, &err), 0);
    CHECK_INT(put(t.s, b, "other", 1, NULL, &err), 0);
    CHECK_INT(put(t.s, a, "clean", 4, NULL, &err), -EEXIST);
    CHECK_INT(put(t.s, a, "bad name", 4, NULL, &err), -EINVAL);
    check_snapshots(t.s, "", "other - clean ");
    check_snapshots(t.s, a, "- clean ");
    CHECK_INT(state_snapshot_get(t.s, str_c(a), STR("clean"), &snap, &err), 0);
    CHECK(same_state(&snap.state, &want));
    CHECK_INT(snap.seq, 3);
    CHECK_INT(snap.bytes, 10);
    CHECK_STR(snap.config, STR("cwd=/work\n\nx=1"));
    CHECK_C(snap.id, id);
    state_snapshot_done(&snap);
    CHECK_INT(state_snapshot_get(t.s, STR(""), str_c(id), &snap, &err), 0);
    state_snapshot_done(&snap);
    CHECK_INT(state_snapshot_get(t.s, str_c(b), str_c(id), &snap, &err), -ENOENT);
    CHECK_INT(state_snapshot_get(t.s, str_c(b), STR("clean"), &snap, &err), -ENOENT);
    CHECK_INT(state_snapshot_get(t.s, STR(""), STR("clean"), &snap, &err), 0);
    state_snapshot_done(&snap);
    CHECK_INT(put(t.s, b, "clean", 4, NULL, &err), 0);
    CHECK_INT(state_snapshot_get(t.s, STR(""), STR("clean"), &snap, &err), -EEXIST);
    CHECK(strstr(err.text, "SESSION:clean") != NULL);
    CHECK_INT(state_snapshot_delete(t.s, str_c(a), STR("clean"), &err), 0);
    CHECK_INT(state_snapshot_delete(t.s, str_c(a), STR("clean"), &err), -ENOENT);
    CHECK_INT(put(t.s, a, "clean", 5, NULL, &err), 0);
    CHECK_INT(state_session_destroy(t.s, STR("a"), &err), 0);
    check_snapshots(t.s, "", "other clean ");
    state_test_done(&t);
}

/* ---- places ---- */

static void check_place(struct state *s, const char *spec, uint64_t seq, uint8_t n)
{
    struct state_place p;
    struct err err = {0};
    struct trace_state want = state_test_state(n);
    int r = state_resolve(s, str_c(spec), &p, &err);
    CHECK_C(err.text, "");
    if (!CHECK_INT(r, 0))
        return;
    CHECK_INT(p.seq, seq);
    CHECK(same_state(&p.state, &want));
    CHECK(str_starts(buf_str(&p.config), STR("user=user\n")) || str_starts(buf_str(&p.config), STR("cwd=")));
    state_place_done(&p);
}

TEST(places)
{
    struct state_test t = state_test_new();
    struct state_place p;
    struct err err = {0};
    char id[STATE_ID_MAX], spec[80];
    state_test_session(t.s, "s", id); /* 0 */
    check_place(t.s, "s", 0, 1);
    state_test_exec(t.s, "s", 10, true); /* 1 2 3 */
    state_test_exec(t.s, "s", 20, true); /* 4 5 6 */
    check_place(t.s, "s", 6, 20);
    check_place(t.s, id, 6, 20);
    check_place(t.s, "s@0", 0, 1);
    for (int i = 1; i <= 6; i++) {
        snprintf(spec, sizeof(spec), "s@%d", i);
        check_place(t.s, spec, i <= 3 ? 3 : 6, i <= 3 ? 10 : 20);
    }
    CHECK_INT(state_resolve(t.s, STR("s@7"), &p, &err), -ENOENT);
    CHECK(strstr(err.text, "@0 to @6") != NULL);
    CHECK_INT(state_resolve(t.s, STR("s@"), &p, &err), -EINVAL);
    CHECK_INT(state_resolve(t.s, STR("s@-1"), &p, &err), -EINVAL);
    CHECK_INT(state_resolve(t.s, STR("@1"), &p, &err), -EINVAL);
    state_test_exec(t.s, "s", 30, false); /* 7 8, its process was killed */
    check_place(t.s, "s", 6, 20);
    CHECK_INT(state_resolve(t.s, STR("s@8"), &p, &err), -ENOENT);
    CHECK(strstr(err.text, "has not ended") != NULL);
    CHECK_INT(put(t.s, id, "kept", 40, NULL, &err), 0);
    check_place(t.s, "s:kept", 40, 40);
    check_place(t.s, "kept", 40, 40);
    CHECK_INT(state_resolve(t.s, STR("s:none"), &p, &err), -ENOENT);
    CHECK_INT(state_resolve(t.s, STR("none:kept"), &p, &err), -ENOENT);
    CHECK_INT(state_resolve(t.s, STR("none"), &p, &err), -ENOENT);
    /* A fork tells its origin, whose lost command is ended first. */
    CHECK_INT(state_resolve(t.s, STR("s@3"), &p, &err), 0);
    char forked[STATE_ID_MAX];
    CHECK_INT(state_fork(t.s, &p, STR("f"), forked, &err), 0);
    state_place_done(&p);
    check_place(t.s, "f", 0, 10);
    check_place(t.s, "s@8", 9, 20);
    check_place(t.s, "s@10", 9, 20);
    check_place(t.s, "s", 9, 20);
    state_test_done(&t);
}

/* An EXEC with no pid of its own goes on with those of the command before it, and so does what comes after it. */
TEST(a_lost_command_is_ended_once)
{
    struct state_test t = state_test_new();
    struct state_session ses;
    struct trace *tr;
    struct trace_pos pos;
    struct trace_event last = {.type = TRACE_END, .u.end = {.state = state_test_state(10), .next_pid = 12}};
    struct trace_event lost = {.type = TRACE_EXEC, .u.exec.text = STR("true")}, e;
    struct err err = {0};
    char id[STATE_ID_MAX];
    state_test_session(t.s, "s", id);
    state_test_exec(t.s, "s", 10, false);
    CHECK_INT(state_session_open(t.s, STR("s"), true, 0, &ses, &err), 0);
    CHECK_INT(trace_open(fd_steal(&ses.trace_fd), TRACE_APPEND, &tr, NULL, &err), 0);
    CHECK_INT(trace_append(tr, &last), 0);
    CHECK_INT(trace_append(tr, &lost), 0);
    CHECK_INT(trace_flush(tr), 0);
    CHECK_INT(state_settle(tr, &err), 1);
    uint64_t n = trace_count(tr);
    CHECK_INT(state_settle(tr, &err), 0);
    CHECK_INT(trace_count(tr), n);
    trace_begin(&pos);
    CHECK_INT(trace_tail(tr, &pos, &err), 0);
    CHECK_INT(trace_prev(tr, &pos, &e, &err), 1);
    CHECK_INT(e.type, TRACE_END);
    CHECK_INT(e.u.end.outcome.kind, OUTCOME_LOST);
    CHECK_INT(e.u.end.next_pid, 12);
    CHECK(memcmp(&e.u.end.state, &last.u.end.state, sizeof(last.u.end.state)) == 0);
    trace_pos_done(&pos);
    trace_close(tr);
    state_session_close(&ses);
    state_test_done(&t);
}

/* What was before the damage can be had. */
TEST(places_before_damage)
{
    struct state_test t = state_test_new();
    struct state_place p;
    struct err err = {0};
    struct stat st;
    char id[STATE_ID_MAX], path[200], c;
    state_test_session(t.s, "s", id);
    state_test_exec(t.s, "s", 10, true); /* 1 2 3 */
    state_test_exec(t.s, "s", 20, true); /* 4 5 6 */
    snprintf(path, sizeof(path), "%s/sessions/%s/trace", t.path, id);
    CHECK_INT(stat(path, &st), 0);
    state_test_exec(t.s, "s", 30, true); /* 7 8 9 */
    state_test_exec(t.s, "s", 40, true); /* 10 11 12 */
    FD_AUTO int fd = open(path, O_RDWR | O_CLOEXEC);
    CHECK_INT(pread(fd, &c, 1, st.st_size + 40), 1);
    c ^= 1;
    CHECK_INT(pwrite(fd, &c, 1, st.st_size + 40), 1);
    check_place(t.s, "s@0", 0, 1);
    check_place(t.s, "s@2", 3, 10);
    check_place(t.s, "s@3", 3, 10);
    check_place(t.s, "s@5", 6, 20);
    check_place(t.s, "s@6", 6, 20);
    CHECK_INT(state_resolve(t.s, STR("s@7"), &p, &err), -EBADMSG);
    CHECK(strstr(err.text, "--verify") != NULL);
    check_place(t.s, "s@11", 12, 40);
    state_test_done(&t);
}

/* ---- crashes ---- */

struct crash {
    struct state_test t;
    int kind;
};

static void change(void *arg)
{
    struct crash *c = arg;
    char id[STATE_ID_MAX];
    struct state_place p;
    struct state_snapshot snap;
    if (c->kind == 0) {
        state_test_session(c->t.s, "new", id);
    } else if (c->kind == 1) {
        (void)state_session_rename(c->t.s, STR("old"), STR("new"), NULL);
    } else if (c->kind == 2) {
        (void)state_session_destroy(c->t.s, STR("old"), NULL);
    } else if (c->kind == 3 && state_resolve(c->t.s, STR("old"), &p, NULL) == 0) {
        if (state_fork(c->t.s, &p, STR("new"), id, NULL))
            _exit(1);
        state_place_done(&p);
    } else if (c->kind == 4 && state_snapshot_get(c->t.s, STR(""), STR("first"), &snap, NULL) == 0) {
        memcpy(snap.name, "second", 7);
        snap.seq++; /* else their order is that of random ids */
        if (state_snapshot_put(c->t.s, &snap, NULL))
            _exit(1);
        state_snapshot_done(&snap);
    } else if (c->kind == 5) {
        (void)state_snapshot_delete(c->t.s, STR(""), STR("first"), NULL);
    }
}

static void names_of(struct state *s, struct buf *out)
{
    CHECK_INT(state_session_each(s, append, out), 0);
    buf_putc(out, '|');
    CHECK_INT(state_snapshot_each(s, STR(""), count, out), 0);
}

static int check_whole(void *arg, const char *id, const char *name)
{
    struct state *s = arg;
    struct state_session ses;
    struct state_place p;
    struct err err = {0};
    CHECK_INT(state_resolve(s, str_c(id), &p, &err), 0);
    CHECK_C(err.text, "");
    state_place_done(&p);
    if (!CHECK_INT(state_session_open(s, str_c(id), true, 0, &ses, &err), 0))
        return -EIO;
    CHECK_C(ses.name, name);
    state_session_close(&ses);
    return 0;
}

static int entries(const char *dir, const char *sub)
{
    char cmd[160];
    int n = -1;
    snprintf(cmd, sizeof(cmd), "exit $(ls -A %s/%s | wc -l)", dir, sub);
    n = system(cmd);
    return WEXITSTATUS(n);
}

/* Kills each kind of change before each of its system calls: what is there after is what was there before, or what the
 * change makes, and the change can be made then. */
TEST_LIMIT(killed_at_any_step, 600)
{
    static const char *const before[] = {"old |first ", "old |first ", "old |first ",
                                         "old |first ", "old |first ", "old |first "};
    static const char *const after[] = {"new old |first ", "new |first ",        "|",
                                        "new old |first ", "old |first second ", "old |"};
    for (int kind = 0; kind < 6; kind++) {
        long calls = 1;
        for (long at = 1; at <= calls + 1; at++) {
            struct crash c = {state_test_new(), kind};
            char id[STATE_ID_MAX];
            state_test_session(c.t.s, "old", id);
            CHECK_INT(put(c.t.s, id, "first", 9, NULL, NULL), 0);
            long n = state_test_watch(change, &c, at > calls ? 0 : at);
            if (n < 0)
                test_skip("processes cannot be watched here");
            if (at == calls && n == at)
                calls++;
            BUF_AUTO struct buf got;
            buf_init(&got, 4096);
            names_of(c.t.s, &got);
            bool changed = strcmp(got.p, after[kind]) == 0;
            if (!changed)
                CHECK_C(got.p, before[kind]);
            CHECK_INT(state_session_each(c.t.s, check_whole, c.t.s), 0);
            if (!changed)
                change(&c);
            buf_clear(&got);
            names_of(c.t.s, &got);
            CHECK_C(got.p, after[kind]);
            CHECK_INT(state_tidy(c.t.s, NULL), 0);
            int sessions = kind == 2 ? 0 : kind == 0 || kind == 3 ? 2 : 1;
            CHECK_INT(entries(c.t.path, "sessions"), sessions);
            CHECK_INT(entries(c.t.path, "names"), sessions);
            CHECK_INT(entries(c.t.path, "snapshots"), kind == 2 || kind == 5 ? 0 : kind == 4 ? 2 : 1);
            state_test_done(&c.t);
        }
    }
}

/* ---- hostile entries ---- */

static void shell(const char *dir, const char *text)
{
    char cmd[512];
    snprintf(cmd, sizeof(cmd), "cd %s && %s", dir, text);
    CHECK_INT(system(cmd), 0);
}

TEST(hostile_names)
{
    struct state_test t = state_test_new();
    struct state_session ses;
    struct err err = {0};
    char id[STATE_ID_MAX];
    state_test_session(t.s, "good", id);
    shell(t.path, "mkdir names/dir && mkfifo names/fifo && echo x > names/file && ln -s /etc names/abs && "
                  "ln -s ../../.. names/up && ln -s sbx_00000000000000000000000000 names/none && "
                  "ln -s names/good names/loop && ln -s / sessions/sbx_00000000000000000000000001 && "
                  "ln -s sbx_00000000000000000000000001 names/out && mkdir 'names/bad name' sessions/junk && "
                  "echo x > sessions/sbx_00000000000000000000000002");
    static const char *const bad[] = {"dir",
                                      "fifo",
                                      "file",
                                      "abs",
                                      "up",
                                      "none",
                                      "loop",
                                      "out",
                                      "sbx_00000000000000000000000001",
                                      "sbx_00000000000000000000000002"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK_INT(state_session_open(t.s, str_c(bad[i]), true, 0, &ses, &err), -ENOENT);
    check_names(t.s, "good ");
    /* Their places can be taken. */
    for (size_t i = 0; i < 8; i++) {
        state_test_session(t.s, bad[i], id);
        CHECK(is_there(t.s, bad[i]));
    }
    CHECK_INT(access("/etc/passwd", R_OK), 0);
    state_test_done(&t);
}

TEST(hostile_files)
{
    static const char *const what[] = {"ln -s /etc/passwd", "mkfifo", "mkdir", "ln -s /dev/zero", "ln -s none"};
    struct state_test t = state_test_new();
    struct state_session ses;
    struct state_place p;
    struct err err = {0};
    char id[STATE_ID_MAX], cmd[200];
    for (size_t i = 0; i < sizeof(what) / sizeof(what[0]); i++) {
        state_test_session(t.s, "s", id);
        snprintf(cmd, sizeof(cmd), "rm sessions/%s/lock && %s sessions/%s/lock", id, what[i], id);
        shell(t.path, cmd);
        CHECK_INT(state_session_open(t.s, STR("s"), true, 0, &ses, &err), -EBADMSG);
        snprintf(cmd, sizeof(cmd), "rm -r sessions/%s/lock sessions/%s/trace && %s sessions/%s/trace", id, id, what[i],
                 id);
        shell(t.path, cmd);
        CHECK_INT(state_session_open(t.s, STR("s"), true, 0, &ses, &err), -EBADMSG);
        CHECK_INT(state_session_open(t.s, STR("s"), false, 0, &ses, &err), -EBADMSG);
        CHECK_INT(state_resolve(t.s, STR("s"), &p, &err), -EBADMSG);
        snprintf(cmd, sizeof(cmd), "rm -r sessions/%s/snapshots && %s sessions/%s/snapshots", id, what[i], id);
        shell(t.path, cmd);
        if (strcmp(what[i], "mkdir") != 0)
            CHECK(put(t.s, id, "x", 1, NULL, &err) < 0);
        CHECK_INT(state_session_destroy(t.s, STR("s"), &err), 0);
        CHECK(!is_there(t.s, "s"));
    }
    /* A log that is empty or of something else. */
    state_test_session(t.s, "s", id);
    snprintf(cmd, sizeof(cmd), ": > sessions/%s/trace", id);
    shell(t.path, cmd);
    CHECK_INT(state_resolve(t.s, STR("s"), &p, &err), -EBADMSG);
    snprintf(cmd, sizeof(cmd), "head -c 100000 /dev/urandom > sessions/%s/trace", id);
    shell(t.path, cmd);
    CHECK_INT(state_resolve(t.s, STR("s"), &p, &err), -EBADMSG);
    state_test_done(&t);
}

TEST(hostile_directories)
{
    static const char *const what[] = {"ln -s /tmp", "mkfifo", "touch", "ln -s none"};
    static const char *const parts[] = {"store", "sessions", "names", "snapshots"};
    struct state_test t = state_test_new();
    struct state *s;
    struct err err = {0};
    char cmd[200];
    for (size_t i = 0; i < sizeof(what) / sizeof(what[0]); i++) {
        for (size_t j = 0; j < sizeof(parts) / sizeof(parts[0]); j++) {
            snprintf(cmd, sizeof(cmd), "rmdir %s && %s %s", parts[j], what[i], parts[j]);
            shell(t.path, cmd);
            CHECK(state_open(t.path, true, &s, &err) < 0);
            CHECK(strstr(err.text, "not a directory") != NULL);
            snprintf(cmd, sizeof(cmd), "rm %s && mkdir %s", parts[j], parts[j]);
            shell(t.path, cmd);
        }
        snprintf(cmd, sizeof(cmd), "rm version && %s version", what[i]);
        shell(t.path, cmd);
        CHECK_INT(state_open(t.path, true, &s, &err), -EINVAL);
        shell(t.path, "rm -r version && echo frontal-sandbox state 1 > version");
    }
    state_test_done(&t);
}

TEST(hostile_snapshots)
{
    struct state_test t = state_test_new();
    struct state_snapshot snap;
    struct err err = {0};
    char id[STATE_ID_MAX], keep[STATE_ID_MAX], cmd[300];
    state_test_session(t.s, "s", id);
    CHECK_INT(put(t.s, id, "keep", 1, keep, &err), 0);
    /* Each bit of a snapshot's file counts. */
    char path[200];
    snprintf(path, sizeof(path), "%s/snapshots/%s", t.path, keep);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    struct stat st;
    CHECK(fstat(fd, &st) == 0);
    for (off_t i = 0; i < st.st_size; i++) {
        char c, x;
        CHECK_INT(pread(fd, &c, 1, i), 1);
        x = c ^ 4;
        CHECK_INT(pwrite(fd, &x, 1, i), 1);
        CHECK_INT(state_snapshot_get(t.s, str_c(id), STR("keep"), &snap, &err), -EBADMSG);
        CHECK_INT(pwrite(fd, &c, 1, i), 1);
    }
    fd_close(&fd);
    CHECK_INT(state_snapshot_get(t.s, str_c(id), STR("keep"), &snap, &err), 0);
    state_snapshot_done(&snap);
    /* Links that lead elsewhere, and entries that are none. */
    snprintf(cmd, sizeof(cmd),
             "cd sessions/%s/snapshots && ln -s ../../../version a && ln -s /etc/passwd b && mkfifo c && mkdir d && "
             "ln -s snap_00000000000000000000000000 e",
             id);
    shell(t.path, cmd);
    shell(t.path, "cd snapshots && mkdir snap_00000000000000000000000000 && mkfifo snap_00000000000000000000000001 && "
                  "ln -s /dev/zero snap_00000000000000000000000002 && head -c 999999 /dev/zero > "
                  "snap_00000000000000000000000003 && touch x");
    static const char *const bad[] = {"a", "b", "c", "d", "e"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        CHECK(state_snapshot_get(t.s, str_c(id), str_c(bad[i]), &snap, &err) < 0);
        CHECK_INT(put(t.s, id, bad[i], 2, NULL, &err), 0);
    }
    for (char n = '0'; n < '4'; n++) {
        char which[] = "snap_00000000000000000000000000";
        which[sizeof(which) - 2] = n;
        CHECK_INT(state_snapshot_get(t.s, STR(""), str_c(which), &snap, &err), -EBADMSG);
    }
    BUF_AUTO struct buf got;
    buf_init(&got, 4096);
    CHECK_INT(state_snapshot_each(t.s, STR(""), count, &got), 0);
    CHECK_INT(got.n, 15); /* keep and the five, "-" for none */
    state_test_done(&t);
}

/* ---- many ---- */

struct asking {
    struct state *s;
    const char *who;
};

/* Calls that get memory from the kernel come in between. */
static bool about(long a, long b)
{
    return labs(a - b) <= 4;
}

static void open_one(void *arg)
{
    struct asking *a = arg;
    struct state_session ses;
    if (state_session_open(a->s, str_c(a->who), true, 0, &ses, NULL))
        _exit(1);
    state_session_close(&ses);
}

static void fork_one(void *arg)
{
    struct asking *a = arg;
    struct state_place p;
    char id[STATE_ID_MAX];
    if (state_resolve(a->s, str_c(a->who), &p, NULL) || state_fork(a->s, &p, STR("probe"), id, NULL))
        _exit(1);
    state_place_done(&p);
}

/* A chain of forks: what opening and forking ask of the kernel is the same at its begin and at its end. */
TEST_LIMIT(ten_thousand_forks_deep, 600)
{
    struct state_test t = state_test_new();
    struct err err = {0};
    uint64_t n = test_env("FRONTAL_STATE_FORKS", 10000);
    char first[STATE_ID_MAX], id[STATE_ID_MAX];
    state_test_session(t.s, "first", first);
    state_test_exec(t.s, "first", 5, true);
    struct asking by_name = {t.s, "first"}, by_id = {t.s, first};
    long named = state_test_watch(open_one, &by_name, 0), with_id = state_test_watch(open_one, &by_id, 0);
    if (named < 0)
        test_skip("processes cannot be watched here");
    long forked = 0;
    memcpy(id, first, sizeof(id));
    for (uint64_t i = 1; i <= n; i++) {
        struct state_place p;
        char name[32];
        snprintf(name, sizeof(name), "fork-%d", (int)i);
        if (state_resolve(t.s, str_c(id), &p, &err) || state_fork(t.s, &p, str_c(name), id, &err)) {
            CHECK_C(err.text, "");
            break;
        }
        state_place_done(&p);
        if (i == 1) {
            struct asking one = {t.s, id};
            forked = state_test_watch(fork_one, &one, 0);
            CHECK_INT(state_session_destroy(t.s, STR("probe"), &err), 0);
        }
    }
    CHECK(about(state_test_watch(open_one, &by_name, 0), named));
    CHECK(about(state_test_watch(open_one, &by_id, 0), with_id));
    by_name.who = id;
    CHECK(about(state_test_watch(open_one, &by_name, 0), with_id));
    CHECK(about(state_test_watch(fork_one, &by_name, 0), forked));
    check_place(t.s, "probe", 0, 5);
    state_test_done(&t);
}
