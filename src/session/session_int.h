/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "proc/proc.h"
#include "session/session.h"
#include "shell/shell.h"
#include "vfs/image.h"
#include "vfs/vfs.h"

struct session_user {
    struct vfs_cred cred;
    char *name, *home, *shell; /* heap */
};

/* What an exec needs while it runs; freed when the next begins, so that an idle session holds nothing of it. */
struct session_run {
    struct arena arena; /* argv, environment, script */
    struct shell_start start;
    struct shell_serve serve;
    struct shell_driver driver;
    struct proc *main;
    int main_pid;
    struct proc_feed *feed;
    struct proc_tty *tty;  /* in its place, for a terminal of the session's own */
    struct buf typed;      /* what its line discipline has not taken */
    bool typed_end, asked; /* the end comes after it; the owner was asked for more */
    bool closed[3]; /* streams the client no longer reads */
    bool ended;
    bool serving;
    bool want_root;
    struct vfs *before; /* of an atomic exec: the tree it began with */
    int64_t start_ns, end_ns;
    struct outcome outcome;
    /* the serving shell */
    struct proc_waitq wait;
    struct buf line; /* the command line given */
    bool line_given, line_end, line_done, query_given, shell_idle, shell_exited;
    int line_status;
    struct wire_query query;
    struct buf answer;
    uint32_t answer_value;
    struct buf prompt, prompt2;
    struct buf decisions; /* of wire_result */
    /* a shell that goes on (keep.c) */
    struct shell_keep keep;
    struct buf kept; /* its state as it ended */
    bool has_kept;
    int keep_error; /* why there is none */
};

enum tape_mode { TAPE_NONE, TAPE_RECORDS, TAPE_REPLAYS };

#define SIGNAL_ALL 0x100u /* bit of a signal event's value: to the whole exec */

struct tape_state {
    enum tape_mode next, now; /* of the next exec or line, and of the one that runs */
    struct session_tape rec;
    struct session_playback play;
    const struct session_begin *begin; /* of the one of these that counts */
    struct session_event due;          /* the next event of a replay */
    bool have_due;
    bool resized;        /* the terminal, between two lines */
    bool fresh;          /* the exec began with a new process set */
    const char *wrong;   /* how the replay differs; NULL: it does not */
    const char *inexact; /* why the next line cannot be replayed exactly */
    uint64_t blocks;     /* of entropy made */
    uint8_t block[32];
    uint32_t block_left;
};

struct session {
    struct vfs *tree, *base;
    struct vfs_canon *canon; /* what is known of the tree's hashes */
    struct proc_set *ps;     /* NULL until the first exec */
    struct shell_world *world;
    struct session_run *run; /* NULL until the first exec */
    struct session_user user;
    const struct session_host *host;
    struct limits limits;
    struct buf reply; /* data of the last fs reply */
    struct buf shell_state;
    char *cwd;        /* where an exec begins: heap */
    char *exec_cwd;   /* where the present one began, when it asked for that: heap, or NULL */
    const struct session_userland *userland;
    const struct policy *policy;
    char *refusal; /* heap: what its policy last refused, or NULL */
    struct proc_host proc_host;
    struct tape_state tape;
    uint64_t copied_bytes, copied_entries; /* by the file calls of one batch */
};

/* Who provides directories in a tree that is loaded: at most SESSION_PROVIDERS of them into @ret; their number. */
#define SESSION_PROVIDERS 2
uint32_t session__providers(const struct session_config *cfg, struct vfs_image_provider *ret);

/* Finds @who (name or number) in the tree's passwd and group files: 0, -ENOENT, -ENOMEM. */
int session__find_user(struct vfs *v, struct str who, struct session_user *ret);
/* Frees what session__find_user() gave. */
void session__user_done(struct session_user *u);
/* Reads a whole small file of the tree as root, at most @max bytes. */
int session__read_file(struct vfs *v, struct str path, struct buf *out);
/* Makes the shell_driver of run->serve, and drives it. */
void session__serve_init(struct session *s);

/* Lets go of the input of an exec. Its process set must still be there. */
void session__run_close(struct session_run *r);

/* The directory in which the present exec began, or the next will. */
static inline const char *session__begins(const struct session *s)
{
    return s->exec_cwd ? s->exec_cwd : s->cwd;
}

/* Whether an exec has not ended. */
static inline bool session__alive(const struct session *s)
{
    return s->run && !s->run->ended;
}

/* ---- exec.c: what comes from outside, carried out ---- */

/* Bytes taken. */
size_t session__put_input(struct session *s, struct str data);
/* The end of input. */
void session__put_eof(struct session *s);
/* See session_signal(). */
void session__send(struct session *s, int sig, bool all);
/* See session_resize(). */
void session__set_size(struct session *s, uint16_t rows, uint16_t cols);
/* See session_close_output(). */
void session__close(struct session *s, int stream);

/* ---- fs.c, fs_copy.c, fs_batch.c ---- */

/* Gives what was made the owner that @q asks for. */
int session__fs_own(struct session *s, const struct wire_fs *q, uint64_t ino);
/* Makes the missing directories above the last component of its path. */
int session__fs_parents(struct session *s, const struct wire_fs *q);
/* WIRE_FS_COPY. -EISDIR (a directory, and not with what is in it), -EEXIST (a directory is there), -EINVAL (into
 * itself), -EFBIG: LIMIT_COPY_BYTES, LIMIT_COPY_ENTRIES. */
int session__fs_copy(struct session *s, const struct wire_fs *q);
/* WIRE_FS_EDIT. -ENOMSG with a sentence in the reply; -EFBIG: LIMIT_EDIT. */
int session__fs_edit(struct session *s, const struct wire_fs *q);

/* ---- tape.c ---- */

/* Begins what session_record() or session_replay() asked for: 0 or -ENOMEM. */
int session__tape_begin(struct session *s);
/* Ends it. */
void session__tape_end(struct session *s);
/* Records an event, if a tape records. */
void session__note(struct session *s, enum trace_input_kind kind, uint32_t value, struct str data);
/* What is recorded, or will be next, cannot be replayed exactly. @why is static text. */
void session__inexact(struct session *s, const char *why);
/* Carries out the events that are due: whether there were any. */
bool session__play_due(struct session *s);
/* The replay has turned out to be different. @what is static text. */
void session__wrong(struct session *s, const char *what);
/* The environment of an exec: the session's, and @extra over it. */
char **session__make_env(struct session *s, struct arena *a, const struct wire_list *extra, bool tty);
/* Has @st begin with the session's shell state, as @e asks. */
void session__keep_start(struct session *s, const struct wire_exec *e, struct shell_start *st);
/* The serving shell is between two lines: takes its state. */
void session__keep_line(struct session *s);
/* The exec or line has ended well: what was taken becomes the session's shell state. */
void session__keep_commit(struct session *s);

/* Frees what the last exec used. */
void session__run_free(struct session *s);

/* Who may do all in the tree. */
extern const struct vfs_cred session__root_cred;
