/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "proc/proc.h"
#include "session/session.h"
#include "shell/shell.h"
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
    bool closed[3]; /* streams the client no longer reads */
    bool ended;
    bool serving;
    bool want_root;
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
};

struct session {
    struct vfs *tree, *start, *base;
    struct proc_set *ps; /* NULL until the first exec */
    struct shell_world *world;
    struct session_run *run; /* NULL until the first exec */
    struct session_user user;
    const struct session_host *host;
    struct limits limits;
    struct buf reply; /* data of the last fs reply */
    char *cwd;        /* heap */
    char *mounts;     /* canonical text of the mounts, for the root */
    struct proc_host proc_host;
};

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
/* Frees what the last exec used. */
void session__run_free(struct session *s);

/* Who may do all in the tree. */
extern const struct vfs_cred session__root_cred;
