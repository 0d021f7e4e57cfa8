/* SPDX-License-Identifier: Apache-2.0 */
#include "cas/test/cas_test.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/assert.h"
#include "base/err.h"
#include "base/test/test.h"

struct cas_test cas_test_new(void)
{
    struct cas_test t;
    snprintf(t.path, sizeof(t.path), "/tmp/cas-test-XXXXXX");
    ASSERT(mkdtemp(t.path));
    t.dir = open(t.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ASSERT(t.dir >= 0);
    return t;
}

static void remove_all(int dir)
{
    DIR *d = fdopendir(dir);
    ASSERT(d);
    for (struct dirent *e; (e = readdir(d));) {
        if (e->d_name[0] == '.')
            continue;
        if (e->d_type == DT_DIR) {
            remove_all(openat(dirfd(d), e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
            unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR);
        } else {
            unlinkat(dirfd(d), e->d_name, 0);
        }
    }
    closedir(d);
}

void cas_test_wipe(struct cas_test *t)
{
    remove_all(openat(t->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

void cas_test_done(struct cas_test *t)
{
    cas_test_wipe(t);
    close(t->dir);
    rmdir(t->path);
}

struct cas *cas_test_open(struct cas_test *t, int flags)
{
    struct cas *c = NULL;
    struct err err;
    if (!CHECK_INT(cas_open(openat(t->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), flags, &c, &err), 0)) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    return c;
}

bool cas_test_holds(struct cas *c, const struct cas_id *id, struct str want)
{
    BUF_AUTO struct buf out;
    buf_init(&out, LIMIT_CAS_BLOB + 1);
    buf_add(&out, "x", 1);
    int r = cas_get(c, id, &out);
    return r == 0 && str_eq(str_from(buf_str(&out), 1), want);
}

int cas_test_files(struct cas_test *t, const char *end)
{
    int n = 0;
    DIR *d = fdopendir(openat(t->dir, "packs", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT(d);
    for (struct dirent *e; (e = readdir(d));)
        n += str_ends(str_c(e->d_name), str_c(end));
    closedir(d);
    return n;
}

static void count_bad(void *arg, const struct cas_id *id, const char *what)
{
    (void)id;
    if (getenv("CAS_TEST_SAY"))
        fprintf(stderr, "# %s\n", what);
    ++*(int *)arg;
}

int cas_test_fsck(struct cas *c)
{
    int n = 0;
    int r = cas_fsck(c, count_bad, NULL, &n);
    return r < 0 ? r : n;
}
