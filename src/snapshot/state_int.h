/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * state_int - what the files of the state directory share.
 *
 * Nothing below the directory is followed or waited for: directories are opened with O_NOFOLLOW, files with O_NONBLOCK
 * too, and only a regular file is read. A name or id is checked before it becomes part of a path, so a path below the
 * directory never holds '/' or "..".
 */

#include "snapshot/state.h"

#include "types/id.h"

struct state {
    char *path;
    int root, sessions, names, snapshots, templates, ended; /* directories */
};

/* What begins with these is not visible: being made, or on its way out. */
#define STATE_NEW ".new-"
#define STATE_GONE ".gone-"

/* The lock of every change of names, held for moments: close the descriptor to give it back. */
int state__lock(struct state *s, int *ret, struct err *err);

/* Calls @fn for each entry but "." and "..", until it returns non-zero. */
int state__each(int dirfd, int (*fn)(void *arg, const char *name), void *arg);
/* Removes what is there, directories with all they hold; what is missing is no error. */
int state__remove(int dirfd, const char *name);
/* Opens a directory of ours: -ENOTDIR, -ELOOP, … */
int state__open_dir(int dirfd, const char *name);
/* Opens a regular file of ours; anything else is -EBADMSG. */
int state__open_file(int dirfd, const char *name, int oflags);
/* All of a regular file: -EFBIG when it is longer than @out may be. */
int state__read(int dirfd, const char *name, struct buf *out);
/* A new file with this content (and on the disk, when @sync). */
int state__write(int dirfd, const char *name, struct str text, bool sync);
/* Target of a symlink of less than @cap bytes, NUL-terminated: -ENOENT, or -EBADMSG when it is something else. */
int state__target(int dirfd, const char *name, char *ret, size_t cap);
/* Makes the symlink, in place of what is there, in one step. With the lock of names. */
int state__point(int dirfd, const char *name, const char *target);

/* Whether it can be the name of a session or snapshot; else -EINVAL with the rule. */
int state__check_name(struct str name, struct err *err);
/* Whether there is a session of this id. */
bool state__has(struct state *s, const char *id);
/* Id and name ("" when it has none) of the session that @who names. -ENOENT with what there is. */
int state__find(struct state *s, struct str who, char ret_id[STATE_ID_MAX], char ret_name[STATE_NAME_MAX + 1],
                struct err *err);
/* The session that has this name: 0 or -ENOENT. What else may be at its place is nobody's. */
int state__name_owner(struct state *s, const char *name, char ret_id[STATE_ID_MAX]);

/* Takes the lock of the session whose directory is @dirfd; @who is its name in messages. */
int state__own(int dirfd, const char *who, int wait_ms, int *ret, struct err *err);
/* The text of a snapshot's file, appended to @out (its sticky error tells of failure). */
void state__snapshot_encode(struct buf *out, const struct state_snapshot *snap);
/* The other way: 0, or -EBADMSG for what is no whole one. */
int state__snapshot_decode(struct str text, struct state_snapshot *ret);
/* A snapshot by its id, whether its session is there or not: -ENOENT, or -EBADMSG for what is no whole one. */
int state__snapshot_read(struct state *s, const char *id, struct state_snapshot *ret);
/* Whether it counts: its session is there, or a template leads to it. */
bool state__snapshot_stays(struct state *s, const struct state_snapshot *snap);
/* Moves the log of a session that is destroyed, whose directory is @dirfd, to where it is kept. */
int state__ended_keep(struct state *s, int dirfd, const char *id);
/* Removes the snapshots of @session, whose directory (hidden already) is @dirfd. */
void state__snapshots_forget(struct state *s, int dirfd, const char *session);
/* Removes what was half made of snapshots, and those whose session is gone. */
int state__snapshots_tidy(struct state *s);
/* Opens a session's log to read. */
int state__trace(struct state *s, const char *id, struct trace **ret, struct err *err);
/* The tree of an image; *ret_root (may be NULL) is the root hash it claims to have. */
int state__load(struct cas *c, const struct cas_id *image, struct vfs **ret, struct vfs_canon **ret_canon,
                struct cas_id *ret_root);
/* Whether a name of trace_blobs() may lead to nothing: that of a file's content does, where the image holds the content
 * itself (a few bytes) or by pages (a long file). It is kept where it is a blob. */
static inline bool state__may_lack(const char *what)
{
    return strcmp(what, "content") == 0;
}
