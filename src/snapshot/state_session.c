/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A session's life: made out of sight and shown by one rename, locked while it is used, taken out of sight by one
 * rename and then removed.
 */

#include "snapshot/state_int.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/num.h"
#include "cas/store.h"
#include "types/errtab.h"

#define DESTROY_WAIT_MS 2000      /* a process that has answered may still wait for the disk */
#define LOCK_PAUSE (2 * CLOCK_MS) /* between two tries */

static void hidden_name(char ret[STATE_HIDDEN_MAX], const char *prefix, const char *id)
{
    snprintf(ret, STATE_HIDDEN_MAX, "%s%s", prefix, id);
}

/* ---- the lock ---- */

static void say_holder(int fd)
{
    char text[16];
    int n = snprintf(text, sizeof(text), "%d\n", (int)getpid());
    /* Only for messages: that it could not be written harms nobody. It is cut behind the text, not to nothing before:
     * after that ext4 writes the file to the disk when it is closed, and whoever closes it waits. */
    if (pwrite(fd, text, (size_t)n, 0) == n && ftruncate(fd, n))
        errno = 0;
}

static int held(int fd, const char *who, struct err *err)
{
    char text[16];
    uint64_t pid;
    ssize_t n = pread(fd, text, sizeof(text), 0);
    if (n > 1 && text[n - 1] == '\n' && str_u64(str_of(text, (size_t)n - 1), &pid) == 0)
        return err_set(err, -EBUSY, "session '%s' is in use by process %d: wait until it is done, or end it", who,
                       (int)NUM_MIN(pid, INT32_MAX));
    return err_set(err, -EBUSY, "session '%s' is in use by another process: wait until it is done", who);
}

/* Whether the file of @fd still is the lock of a session that is there: it may have been destroyed meanwhile. */
static bool still_there(struct state *s, const char *id, int dirfd, int fd)
{
    struct stat a, b, c;
    return fstat(dirfd, &a) == 0 && fstatat(s->sessions, id, &b, AT_SYMLINK_NOFOLLOW) == 0 && a.st_ino == b.st_ino &&
           fstat(fd, &a) == 0 && fstatat(dirfd, "lock", &c, AT_SYMLINK_NOFOLLOW) == 0 && a.st_ino == c.st_ino;
}

int state__own(int dirfd, const char *who, int wait_ms, int *ret, struct err *err)
{
    FD_AUTO int fd = state__open_file(dirfd, "lock", O_RDWR | O_CREAT);
    if (fd < 0)
        return err_set(err, fd, "the lock of session '%s': %s", who,
                       fd == -EBADMSG ? "not a regular file; remove it" : errtab_text(fd));
    int64_t until = clock_mono() + wait_ms * CLOCK_MS;
    while (flock(fd, LOCK_EX | LOCK_NB)) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return err_set(err, -errno, "the lock of session '%s': %s", who, errtab_text(errno));
        if (errno == EWOULDBLOCK && clock_mono() >= until)
            return held(fd, who, err);
        nanosleep(&(struct timespec){.tv_nsec = LOCK_PAUSE}, NULL);
    }
    say_holder(fd);
    *ret = fd_steal(&fd);
    return 0;
}

int state_session_in_use(struct state *s, const char *id)
{
    FD_AUTO int dir = state__open_dir(s->sessions, id);
    FD_AUTO int fd = dir < 0 ? dir : state__open_file(dir, "lock", O_RDONLY);
    if (fd < 0)
        return fd == -ENOENT ? 0 : fd;
    /* The kernel tells only those who try. It is held for no longer than it takes to close it. */
    while (flock(fd, LOCK_SH | LOCK_NB)) {
        if (errno != EINTR)
            return errno == EWOULDBLOCK ? 1 : -errno;
    }
    return 0;
}

/* ---- whether power may have been lost ---- */

/* An id of the machine's present run; "" when it cannot be had, which is like no other. It is the same for as long as
 * this process lives. */
static const char *boot_id(void)
{
    static _Thread_local char id[64];
    if (!id[0]) {
        FD_AUTO int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? -1 : read(fd, id, 63);
        id[n > 1 ? n - 1 : 0] = 0;
    }
    return id;
}

static bool same_boot(int dirfd)
{
    char then[64];
    const char *now = boot_id();
    return now[0] && state__target(dirfd, "boot", then, sizeof(then)) == 0 && strcmp(now, then) == 0;
}

static int note_boot(int dirfd)
{
    const char *now = boot_id();
    return now[0] ? state__point(dirfd, "boot", now) : 0;
}

void state_session_whole(struct state *s, struct state_session *ses)
{
    FD_AUTO int dir = ses->recheck && ses->lock_fd >= 0 ? state__open_dir(s->sessions, ses->id) : -1;
    if (dir >= 0 && note_boot(dir) == 0)
        ses->recheck = false;
}

/* ---- making ---- */

static int check_free(struct state *s, struct str name, struct err *err)
{
    char text[STATE_NAME_MAX + 1] = "", owner[STATE_ID_MAX];
    if (name.n == 0)
        return 0;
    int r = state__check_name(name, err);
    if (r)
        return r;
    memcpy(text, name.p, name.n);
    if (state__name_owner(s, text, owner) == 0)
        return err_set(err, -EEXIST, "there is a session '%s' already (%s): choose another name, or destroy it first",
                       text, owner);
    return 0;
}

static int fill_new(struct state *s, struct state_session *ses)
{
    FD_AUTO int dir = mkdirat(s->sessions, ses->dir, 0700) ? -errno : state__open_dir(s->sessions, ses->dir);
    int r = dir < 0 ? dir : state__own(dir, ses->id, 0, &ses->lock_fd, NULL);
    if (r == 0 && mkdirat(dir, "snapshots", 0700))
        r = -errno;
    if (r == 0) {
        ses->trace_fd = state__open_file(dir, "trace", O_RDWR | O_CREAT | O_EXCL);
        r = NUM_MIN(ses->trace_fd, 0);
    }
    return r ? r : note_boot(dir);
}

int state_session_create(struct state *s, struct str name, struct state_session *ret, struct err *err)
{
    /* With the lock of names, so that nobody who tidies up finds it before it has its own. */
    FD_AUTO int lock = -1;
    struct state_session ses = {.trace_fd = -1, .lock_fd = -1, .fresh = true};
    int r = state__lock(s, &lock, err);
    if (r == 0)
        r = check_free(s, name, err);
    if (r)
        return r;
    memcpy(ses.id, id_new(ID_SESSION).text, sizeof(ses.id));
    if (name.n)
        memcpy(ses.name, name.p, name.n);
    hidden_name(ses.dir, STATE_NEW, ses.id);
    r = fill_new(s, &ses);
    if (r) {
        state_session_close(&ses);
        state__remove(s->sessions, ses.dir);
        return err_set(err, r, "'%s/sessions': %s", s->path, errtab_text(r));
    }
    *ret = ses;
    return 0;
}

int state_session_call(struct state *s, struct state_session *ses, struct str name, struct err *err)
{
    int r = check_free(s, name, err);
    if (r)
        return r;
    memcpy(ses->name, name.p, name.n);
    ses->name[name.n] = 0;
    return 0;
}

void state_session_renew(struct state_session *ses)
{
    memcpy(ses->id, id_new(ID_SESSION).text, sizeof(ses->id));
}

static int sync_file(int dirfd, const char *name)
{
    FD_AUTO int fd = state__open_file(dirfd, name, O_RDONLY);
    return fd == -ENOENT ? 0 : fd < 0 ? fd : fdatasync(fd) ? -errno : 0;
}

/* What is in a session's directory, and that it is in it. */
static int sync_dir(int dir)
{
    int r = sync_file(dir, "trace");
    r = r ? r : sync_file(dir, "settings");
    return r ? r : fsync(dir) ? -errno : 0;
}

static int sync_names(struct state *s)
{
    return fsync(s->names) || fsync(s->sessions) || fsync(s->root) ? -errno : 0;
}

/* All that is to be in the directory before it is shown. */
static int fill_rest(const struct state_session *ses, int dir, struct str settings)
{
    int r = ses->name[0] ? state__point(dir, "name", ses->name) : 0;
    return r == 0 && settings.n ? state__write(dir, "settings", settings, false) : r;
}

static int show(struct state *s, struct state_session *ses, struct str settings, bool sync, struct err *err)
{
    FD_AUTO int lock = -1;
    int r = state__lock(s, &lock, err);
    if (r == 0)
        r = check_free(s, str_c(ses->name), err);
    if (r)
        return r;
    FD_AUTO int dir = state__open_dir(s->sessions, ses->dir);
    r = dir < 0 ? dir : fill_rest(ses, dir, settings);
    /* The name leads to nobody until the rename, and then to a whole session. */
    if (r == 0 && sync)
        r = sync_dir(dir);
    if (r == 0 && ses->name[0])
        r = state__point(s->names, ses->name, ses->id);
    if (r == 0 && renameat(s->sessions, ses->dir, s->sessions, ses->id))
        r = -errno;
    if (r == 0 && sync)
        r = sync_names(s);
    if (r)
        return err_set(err, r, "'%s/sessions/%s': %s", s->path, ses->id, errtab_text(r));
    memcpy(ses->dir, ses->id, sizeof(ses->id));
    ses->fresh = false;
    return 0;
}

int state_session_commit(struct state *s, struct state_session *ses, struct err *err)
{
    return show(s, ses, STR(""), true, err);
}

int state_session_show(struct state *s, struct state_session *ses, struct str settings, struct err *err)
{
    return show(s, ses, settings, false, err);
}

int state_session_sync(struct state *s, const char (*ids)[STATE_ID_MAX], size_t n)
{
    int first = 0;
    for (size_t i = 0; i < n; i++) {
        FD_AUTO int dir = state__open_dir(s->sessions, ids[i]);
        int r = dir == -ENOENT ? 0 : dir < 0 ? dir : sync_dir(dir); /* destroyed meanwhile */
        first = first ? first : r;
    }
    int r = sync_names(s);
    return first ? first : r;
}

void state_session_drop(struct state *s, struct state_session *ses)
{
    if (ses->fresh)
        state__remove(s->sessions, ses->dir);
    state_session_close(ses);
}

/* ---- using ---- */

static int open_trace(struct state *s, int dirfd, const char *id, int oflags, int *ret, struct err *err)
{
    int fd = state__open_file(dirfd, "trace", oflags);
    if (fd < 0)
        return err_set(err, fd == -ENOENT ? -EBADMSG : fd, "'%s/sessions/%s/trace': %s", s->path, id,
                       fd == -EBADMSG ? "not a regular file" : errtab_text(fd));
    *ret = fd;
    return 0;
}

/* Whether the file of @size bytes holds nothing but zeros, as blocks that were never written do. */
static bool only_zeros(int fd, uint64_t size)
{
    char block[4096];
    ssize_t n = size > sizeof(block) ? -1 : pread(fd, block, sizeof(block), 0);
    for (ssize_t i = 0; i < n; i++) {
        if (block[i])
            return false;
    }
    return n >= 0;
}

/* A session that was shown and not synced when power was lost may have a log without a whole begin, and nothing else:
 * then it was not made. What is damaged in another way is damage. */
static bool never_made(int trace_fd)
{
    struct stat st;
    struct trace *t;
    struct trace_report rep;
    if (fstat(trace_fd, &st))
        return false;
    if (only_zeros(trace_fd, (uint64_t)st.st_size))
        return true;
    int fd = fcntl(trace_fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0 || trace_open(fd, 0, &t, NULL, NULL))
        return false;
    bool none = trace_verify(t, &rep) == -EBADMSG && rep.events == 0 && rep.torn > 0;
    trace_close(t);
    return none;
}

int state_session_open(struct state *s, struct str who, bool own, int wait_ms, struct state_session *ret,
                       struct err *err)
{
    struct state_session ses = {.trace_fd = -1, .lock_fd = -1};
    int r = state__find(s, who, ses.id, ses.name, err);
    if (r)
        return r;
    const char *name = ses.name[0] ? ses.name : ses.id;
    FD_AUTO int dir = state__open_dir(s->sessions, ses.id);
    if (dir < 0)
        return err_set(err, dir, "'%s/sessions/%s': %s", s->path, ses.id, errtab_text(dir));
    if (own)
        r = state__own(dir, name, wait_ms, &ses.lock_fd, err);
    if (r == 0 && own && !still_there(s, ses.id, dir, ses.lock_fd))
        r = err_set(err, -ENOENT, "session '%s' was destroyed meanwhile", name);
    if (r == 0)
        r = open_trace(s, dir, ses.id, own ? O_RDWR : O_RDONLY, &ses.trace_fd, err);
    memcpy(ses.dir, ses.id, sizeof(ses.id));
    ses.recheck = r == 0 && !same_boot(dir);
    if (ses.recheck && never_made(ses.trace_fd))
        r = err_set(err, -ENOENT, "session '%s' was not on the disk yet when the machine lost power", name);
    if (r) {
        state_session_close(&ses);
        return r;
    }
    *ret = ses;
    return 0;
}

void state_session_close(struct state_session *ses)
{
    fd_close(&ses->trace_fd);
    fd_close(&ses->lock_fd);
}

int state__trace(struct state *s, const char *id, struct trace **ret, struct err *err)
{
    int fd = -1;
    FD_AUTO int dir = state__open_dir(s->sessions, id);
    if (dir < 0)
        return err_set(err, dir, "'%s/sessions/%s': %s", s->path, id, errtab_text(dir));
    int r = open_trace(s, dir, id, O_RDONLY, &fd, err);
    return r ? r : trace_open(fd, 0, ret, NULL, err);
}

/* ---- ending ---- */

static int hide(struct state *s, const char *id, char hidden[STATE_HIDDEN_MAX], struct err *err)
{
    hidden_name(hidden, STATE_GONE, id);
    int r = state__remove(s->sessions, hidden);
    if (r == 0 && renameat(s->sessions, id, s->sessions, hidden))
        r = -errno;
    return r ? err_set(err, r, "'%s/sessions/%s': %s", s->path, id, errtab_text(r)) : 0;
}

static int destroy(struct state *s, struct str who, bool keep_log, struct err *err)
{
    FD_AUTO int names = -1, own = -1, dir = -1;
    struct cas *store = NULL;
    char id[STATE_ID_MAX], name[STATE_NAME_MAX + 1], hidden[STATE_HIDDEN_MAX];
    int r = state__find(s, who, id, name, err);
    if (r)
        return r;
    dir = state__open_dir(s->sessions, id);
    r = dir < 0 ? err_set(err, dir, "'%s/sessions/%s': %s", s->path, id, errtab_text(dir))
                : state__own(dir, name[0] ? name : id, DESTROY_WAIT_MS, &own, err);
    /* A fork of it that is being made needs what it names, and gc may have looked for that fork already. */
    if (r == 0)
        r = state_store(s, CAS_CREATE, &store, err);
    if (r == 0)
        r = cas_bar_gc(store, CAS_GC_WAIT_MS, err);
    /* The session's lock first: nobody waits for it with the lock of names in hand. */
    if (r == 0)
        r = state__lock(s, &names, err);
    if (r == 0 && !still_there(s, id, dir, own))
        r = err_set(err, -ENOENT, "session '%s' was destroyed meanwhile", name[0] ? name : id);
    if (r == 0)
        r = state__find(s, str_c(id), id, name, err); /* its name now */
    if (r == 0)
        r = hide(s, id, hidden, err);
    cas_close(store);
    if (r)
        return r;
    /* It is gone; what fails from here on is left to gc. */
    if (keep_log)
        (void)state__ended_keep(s, dir, id);
    state__snapshots_forget(s, dir, id);
    if (name[0])
        state__remove(s->names, name);
    state__remove(s->sessions, hidden);
    return 0;
}

int state_session_destroy(struct state *s, struct str who, struct err *err)
{
    return destroy(s, who, false, err);
}

int state_session_end(struct state *s, struct str who, struct err *err)
{
    return destroy(s, who, true, err);
}

/* ---- tidying up ---- */

static int tidy_session(void *arg, const char *name)
{
    struct state *s = arg;
    FD_AUTO int dir = -1, own = -1;
    struct id id;
    if (id_parse(ID_SESSION, str_c(name), &id) == 0) {
        /* Power was lost before it was made: who makes one now has its lock. */
        dir = state__open_dir(s->sessions, name);
        FD_AUTO int log = dir < 0 || same_boot(dir) ? -1 : state__open_file(dir, "trace", O_RDONLY);
        if (log < 0 || !never_made(log) || state__own(dir, name, 0, &own, NULL))
            return 0;
    } else if (str_starts(str_c(name), STR(STATE_NEW))) {
        dir = state__open_dir(s->sessions, name);
        if (dir >= 0 && state__own(dir, name, 0, &own, NULL) == -EBUSY)
            return 0; /* somebody is making it */
    } else if (!str_starts(str_c(name), STR(STATE_GONE))) {
        return 0;
    }
    state__remove(s->sessions, name);
    return 0;
}

static int tidy_name(void *arg, const char *name)
{
    struct state *s = arg;
    char id[STATE_ID_MAX];
    if (state__name_owner(s, name, id) == -ENOENT)
        state__remove(s->names, name);
    return 0;
}

int state_tidy(struct state *s, struct err *err)
{
    FD_AUTO int lock = -1;
    int r = state__lock(s, &lock, err);
    if (r)
        return r;
    r = state__each(s->sessions, tidy_session, s);
    if (r == 0)
        r = state__each(s->names, tidy_name, s);
    if (r == 0)
        r = state__snapshots_tidy(s);
    return r ? err_set(err, r, "'%s': %s", s->path, errtab_text(r)) : 0;
}
