/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Loss of power. Every write to store and log is recorded; then the disk is made of what was synced, and of the pages
 * that were not any choice: for each, what it was after any number of the writes to it. So later writes are there and
 * earlier ones are not, files that nobody synced the directory of are gone, and logs name blobs that are not there.
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/test/test.h"
#include "session/test/crash_test.h"

enum { MAX_FILES = 100, MAX_WRITES = 20000, MAX_BYTES = 64 << 20, PAGE = 4096 };

struct write {
    int file;
    uint64_t off, n, data; /* place in the file, bytes, place in record.bytes */
};

struct file {
    char path[120];
    bool gone, named; /* its directory was synced since it was made */
    uint32_t synced;  /* writes before this one are on the disk */
};

/* In memory that outlives the process which writes. */
static struct record {
    uint64_t calls, stop; /* the process is killed at this call; 0: never */
    uint32_t n_files, n_writes;
    uint64_t n_bytes;
    struct file files[MAX_FILES];
    struct write writes[MAX_WRITES];
    char bytes[MAX_BYTES];
} * record;

static void call(void)
{
    if (record && record->stop && ++record->calls == record->stop)
        raise(SIGKILL);
}

static struct file *find(const char *path)
{
    for (uint32_t i = 0; i < record->n_files; i++) {
        if (!record->files[i].gone && strcmp(record->files[i].path, path) == 0)
            return &record->files[i];
    }
    return NULL;
}

static bool path_of(int fd, char ret[120])
{
    char link[40];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, ret, 119);
    ret[n > 0 ? n : 0] = 0;
    return record && record->stop && n > 0 && str_starts(str_c(ret), STR("/tmp/crash-test-"));
}

static void path_at(int dir, const char *name, char ret[120])
{
    char above[120];
    ret[0] = 0;
    if (path_of(dir, above) && strlen(above) + strlen(name) < 118)
        snprintf(ret, 120, "%.*s/%.*s", 80, above, 38, name);
}

int __real_openat64(int dir, const char *name, int flags, mode_t mode);
int __wrap_openat64(int dir, const char *name, int flags, mode_t mode);

int __wrap_openat64(int dir, const char *name, int flags, mode_t mode)
{
    char path[120];
    call();
    int fd = __real_openat64(dir, name, flags, mode);
    if (fd < 0 || !(flags & O_CREAT) || !path_of(fd, path) || find(path))
        return fd;
    ASSERT(record->n_files < MAX_FILES);
    struct file *f = &record->files[record->n_files++];
    *f = (struct file){.synced = record->n_writes};
    memcpy(f->path, path, sizeof(path));
    f->named = strcmp(name, "trace") == 0; /* state_session_commit() has seen to that */
    return fd;
}

ssize_t __real_pwrite64(int fd, const void *p, size_t n, off_t off);
ssize_t __wrap_pwrite64(int fd, const void *p, size_t n, off_t off);

ssize_t __wrap_pwrite64(int fd, const void *p, size_t n, off_t off)
{
    char path[120];
    call();
    ssize_t r = __real_pwrite64(fd, p, n, off);
    struct file *f = r > 0 && path_of(fd, path) ? find(path) : NULL;
    if (f) {
        ASSERT(record->n_writes < MAX_WRITES && record->n_bytes + (uint64_t)r <= MAX_BYTES);
        struct write w = {(int)(f - record->files), (uint64_t)off, (uint64_t)r, record->n_bytes};
        memcpy(record->bytes + record->n_bytes, p, (size_t)r);
        record->n_bytes += (uint64_t)r;
        record->writes[record->n_writes++] = w;
    }
    return r;
}

ssize_t __wrap_pwritev64(int fd, const struct iovec *v, int n, off_t off);

ssize_t __wrap_pwritev64(int fd, const struct iovec *v, int n, off_t off)
{
    while (n > 1 && v->iov_len == 0) {
        v++;
        n--;
    }
    return __wrap_pwrite64(fd, v->iov_base, v->iov_len, off);
}

int __real_ftruncate64(int fd, off_t n);
int __wrap_ftruncate64(int fd, off_t n);

int __wrap_ftruncate64(int fd, off_t n)
{
    char path[120];
    call();
    struct file *f = path_of(fd, path) ? find(path) : NULL;
    for (uint32_t i = 0; f && i < record->n_writes; i++) {
        struct write *w = &record->writes[i];
        if (w->file == f - record->files)
            w->n = w->off >= (uint64_t)n ? 0 : NUM_MIN(w->n, (uint64_t)n - w->off);
    }
    return __real_ftruncate64(fd, n);
}

int __wrap_fdatasync(int fd);

/* Nothing waits for a disk that is not there. */
int __wrap_fdatasync(int fd)
{
    char path[120];
    call();
    struct file *f = path_of(fd, path) ? find(path) : NULL;
    if (f)
        f->synced = record->n_writes;
    return 0;
}

int __wrap_fsync(int fd);

int __wrap_fsync(int fd)
{
    char path[120];
    (void)__wrap_fdatasync(fd);
    size_t n = path_of(fd, path) ? strlen(path) : 0;
    for (uint32_t i = 0; n && i < record->n_files; i++) {
        struct file *f = &record->files[i];
        if (strncmp(f->path, path, n) == 0 && f->path[n] == '/' && !strchr(f->path + n + 1, '/'))
            f->named = true;
    }
    return 0;
}

int __real_unlinkat(int dir, const char *name, int flags);
int __wrap_unlinkat(int dir, const char *name, int flags);

int __wrap_unlinkat(int dir, const char *name, int flags)
{
    char path[120];
    call();
    path_at(dir, name, path);
    struct file *f = path[0] ? find(path) : NULL;
    if (f)
        f->gone = true;
    return __real_unlinkat(dir, name, flags);
}

int __real_renameat(int d1, const char *from, int d2, const char *to);
int __wrap_renameat(int d1, const char *from, int d2, const char *to);

int __wrap_renameat(int d1, const char *from, int d2, const char *to)
{
    char a[120], b[120];
    call();
    path_at(d1, from, a);
    path_at(d2, to, b);
    struct file *f = a[0] ? find(a) : NULL, *old = b[0] ? find(b) : NULL;
    if (old)
        old->gone = true;
    if (f)
        memcpy(f->path, b, sizeof(b));
    return __real_renameat(d1, from, d2, to);
}

/* ---- what is on the disk ---- */

enum style { PREFIX, PAGES, ALL_OR_NONE, STYLES };

static uint64_t lay(struct buf *out, const struct write *w, uint64_t from, uint64_t to)
{
    from = NUM_MAX(from, w->off);
    to = NUM_MIN(to, w->off + w->n);
    if (from >= to)
        return 0;
    while (out->n < to)
        buf_putc(out, 0);
    memcpy(out->p + from, record->bytes + w->data + (from - w->off), to - from);
    return 1;
}

static uint32_t hits(uint32_t from, int file, uint64_t page)
{
    uint32_t n = 0;
    for (uint32_t i = from; i < record->n_writes; i++) {
        const struct write *w = &record->writes[i];
        n += w->file == file && w->n && w->off < (page + 1) * PAGE && w->off + w->n > page * PAGE;
    }
    return n;
}

static void make_file(int file, enum style style, uint64_t *seed)
{
    struct file *f = &record->files[file];
    BUF_AUTO struct buf out;
    buf_init(&out, 64 << 20);
    uint64_t end = 0;
    uint32_t last = f->synced + (uint32_t)(test_rand(seed) % (record->n_writes - f->synced + 1));
    for (uint32_t i = 0; i < record->n_writes; i++) {
        const struct write *w = &record->writes[i];
        if (w->file != file)
            continue;
        end = NUM_MAX(end, w->off + w->n);
        if (i < f->synced || (style == PREFIX && i < last))
            lay(&out, w, 0, UINT64_MAX);
    }
    for (uint64_t page = 0; style != PREFIX && page * PAGE < end; page++) {
        uint32_t n = hits(f->synced, file, page), keep = n;
        if (n)
            keep = style == PAGES ? (uint32_t)(test_rand(seed) % (n + 1)) : test_rand(seed) % 2 ? n : 0;
        for (uint32_t i = f->synced; i < record->n_writes && keep; i++) {
            if (record->writes[i].file == file)
                keep -= (uint32_t)lay(&out, &record->writes[i], page * PAGE, (page + 1) * PAGE);
        }
    }
    int fd = open(f->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    CHECK(fd >= 0);
    CHECK_INT(write(fd, out.p ? out.p : "", out.n), out.n);
    close(fd);
}

static void lose_power(uint64_t *seed)
{
    enum style style = (enum style)(test_rand(seed) % STYLES);
    record->stop = 0;
    for (uint32_t i = 0; i < record->n_files; i++) {
        const struct file *f = &record->files[i];
        if (!f->gone && !f->named && test_rand(seed) % 2)
            unlink(f->path);
        else if (!f->gone)
            make_file((int)i, style, seed);
    }
}

static bool run_until(struct crash *c, struct crash_told *told, uint64_t stop, bool durable)
{
    int status;
    record->calls = 0;
    record->stop = stop;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        crash_run(c, told, durable, 0);
        _exit(0);
    }
    waitpid(pid, &status, 0);
    CHECK_INT(status, WIFSIGNALED(status) ? SIGKILL : 0);
    return WIFSIGNALED(status);
}

/* @first commands that are durable or not, and @then others in a process that goes on. */
static void lose(uint64_t rounds, bool first, bool then)
{
    struct crash c;
    uint64_t seed = test_seed(), acknowledged = 0, lost = 0, back = 0;
    struct crash_told *told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    record = mmap(NULL, sizeof(*record), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(told != MAP_FAILED && record != MAP_FAILED);
    crash_begin(&c);
    for (uint64_t i = 0; i < rounds; i++) {
        unsigned bad = test_failed();
        memset(told, 0, sizeof(*told));
        record->n_files = record->n_writes = 0;
        record->n_bytes = 0;
        run_until(&c, told, 10 + test_rand(&seed) % 70, first);
        run_until(&c, told, 10 + test_rand(&seed) % 70, then);
        lose_power(&seed);
        int kept = told->on_disk, at = crash_check(&c, told, kept, told->done + 1, true, false);
        acknowledged += (uint64_t)kept;
        lost += at < kept ? (uint64_t)(kept - at) : 0;
        back += at < told->done ? (uint64_t)(told->done - at) : 0;
        /* What was decided stays so. */
        if (told->made && at >= 0 && at < CRASH_STEPS)
            crash_check(&c, told, at + 1, at + 1, false, false);
        if (test_failed() != bad)
            fprintf(stderr, "# round %llu\n", (unsigned long long)i);
        crash_wipe(&c);
    }
    printf("# %llu durable commands, %llu lost; %llu others went back\n", (unsigned long long)acknowledged,
           (unsigned long long)lost, (unsigned long long)back);
    CHECK_INT(lost, 0);
    crash_end(&c);
}

TEST_LIMIT(power_is_lost, 300)
{
    lose(test_env("FRONTAL_POWER", 300), false, false);
}

TEST_LIMIT(power_is_lost_by_a_durable_session, 300)
{
    lose(test_env("FRONTAL_POWER", 300), true, true);
}

TEST_LIMIT(what_is_durable_stands_on_what_is_not, 300)
{
    lose(test_env("FRONTAL_POWER", 300), false, true);
}
