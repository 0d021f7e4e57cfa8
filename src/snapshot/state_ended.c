/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Logs of sessions that were destroyed: ended/ID is the log, and its modification time is when that was. Nothing in the
 * store is kept for them: what was printed and is long, and files, go with the next gc.
 */

#include "snapshot/state_int.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/err.h"
#include "types/errtab.h"

int state__ended_keep(struct state *s, int dirfd, const char *id)
{
    if (renameat(dirfd, "trace", s->ended, id))
        return -errno;
    return utimensat(s->ended, id, NULL, AT_SYMLINK_NOFOLLOW) ? -errno : 0; /* now */
}

int state_ended_open(struct state *s, struct str who, int *ret_fd, int64_t *ret_time, struct err *err)
{
    struct id id;
    struct stat st;
    int fd = id_parse(ID_SESSION, who, &id) ? -ENOENT : state__open_file(s->ended, id.text, O_RDONLY);
    if (fd >= 0 && fstat(fd, &st) == 0) {
        *ret_fd = fd;
        *ret_time = (int64_t)st.st_mtim.tv_sec * CLOCK_S + st.st_mtim.tv_nsec;
        return 0;
    }
    return err_set(err, fd < 0 ? fd : -errno, "there is no session '%.*s'", (int)(who.n < 64 ? who.n : 64), who.p);
}

struct tidying {
    struct state *s;
    int64_t before;
};

static int tidy_one(void *arg, const char *name)
{
    const struct tidying *t = arg;
    struct stat st;
    if (fstatat(t->s->ended, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && (int64_t)st.st_mtim.tv_sec < t->before / CLOCK_S)
        state__remove(t->s->ended, name);
    return 0;
}

int state_ended_tidy(struct state *s, int64_t before)
{
    struct tidying t = {s, before};
    return state__each(s->ended, tidy_one, &t);
}
