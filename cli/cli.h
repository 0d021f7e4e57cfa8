/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * cli - the frontal-sandbox command: one file a verb, and what the verbs share.
 *
 * A verb parses its options, starts a worker (worker/worker.h), drives it over messages, and turns the result into an
 * exit status. The command line is the only part that touches the host for the user: it opens mounts, copies in and
 * out, and applies changes, always through descriptors opened before, never by a path that a guest chose.
 *
 * Exit statuses: the command's own; 124 timeout; 125 the sandbox failed or the command line is wrong; 126, 127 as
 * shells; 128+n signal n or a limit (137).
 */

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "cli/view.h"
#include "snapshot/state.h"
#include "types/limits.h"
#include "wire/wire.h"
#include "policy/policy.h"
#include "worker/modules.h"
#include "worker/worker.h"

#define CLI_FAILED 125

enum cli_diff { CLI_DIFF_NONE, CLI_DIFF_LIST, CLI_DIFF_TEXT };

struct cli_mount {
    const char *spec; /* as given, for messages */
    char *host, *guest;
    uint32_t flags; /* enum vfs_mount_flags */
    int fd;         /* O_PATH */
    bool is_dir;
};

struct cli_copy {
    char *from, *to;
};

struct cli_options {
    struct cli_mount mounts[LIMIT_MOUNTS];
    uint32_t n_mounts;
    struct cli_copy *copy_in, *copy_out;
    uint32_t n_copy_in, n_copy_out;
    enum cli_diff diff;
    bool apply, json, quiet;
    const char *json_file;
    struct str *env; /* the last n_secrets of them are secret */
    struct str *secrets;
    uint32_t n_env, n_secrets;
    const char *session, *state; /* kept under this name in this state directory */
    bool durable;
    const char *modules; /* "own" or "set"; NULL: own, or what the session was made with */
    bool without_mounts; /* of a session that exists: what it shows of the host is not opened */
    struct cli_limit_arg {
        struct str name, value;
    } * limit_args; /* --limit as given */
    uint32_t n_limit_args;
    struct arena arena; /* of texts that were not on the command line */
    const char *workdir, *user;
    const char *text; /* -c */
    bool argv_only;   /* -- COMMAND */
    bool interactive; /* the shell verb */
    int argc;         /* what is left */
    char **argv;
    struct limits limits;
    struct policy *policy; /* heap; NULL: none was given, everything is granted */
};

/* Whether modules of the user's own may run. */
bool cli_own_modules(const struct cli_options *o);

/* Parses options of run (or shell: @is_shell, no -c, no command) from argv[1]. 0; 1 after --help (printed); -EINVAL
 * after a message. */
int cli_parse(int argc, char **argv, bool is_shell, struct cli_options *o);
/* Frees and closes. */
void cli_options_done(struct cli_options *o);

/* Adds a mount from HOST:GUEST[:ro|cow], which outlives the options. -EINVAL after a message. */
int cli_add_mount(struct cli_options *o, const char *spec);
/* Reads a file of rules or JSON ("-": standard input) over @p. */
int cli_policy_read(const char *path, struct policy *p, struct err *err);
/* --policy FILE: over the default, or over what an option before gave. -EINVAL after a message. */
int cli_policy_set(struct cli_options *o, const char *path);
/* One rule of a policy that was kept with a session. -EINVAL. */
int cli_policy_line(struct cli_options *o, struct str rule);
/* Holds the options against their policy, once all are known: -EPERM names what is not granted and what would grant it.
 * Limits that nobody asked for become as much as is granted. */
int cli_policy_apply(struct cli_options *o, struct err *err);

/* The absolute path without symlinks; heap, NULL when there is none. */
char *cli_real_path(const char *path);

/* The userland's directory: FRONTAL_USERLAND, else the one that userland/build made in the user's cache, where
 * XDG_CACHE_HOME, HOME or, when there is none, /etc/passwd has it. -1: there is none. */
int cli_userland_open(void);

/* Prints the help of a verb (NULL: of the whole) on standard output. */
void cli_help(const char *verb);
/* The help of a verb about kept state (help_state.c), or NULL. */
const char *cli_help_state(const char *verb);

/* ---- a server instead of this machine (remote.c) ---- */

/* Keeps the words of the command line, and says whether the verb (argv[1]) is to be done by a server. */
bool cli_remote_wanted(int argc, char **argv);
/* Becomes the program that does it there; --server URL leads here, too. */
void cli_remote(void) __attribute__((noreturn));
/* attach and execs, which are there against a server only. */
int cli_only_remote(int argc, char **argv);
/* This program's path into @self, and that of program @name beside it into @ret: 0, or -errno when there is none. */
int cli_beside(const char *name, struct buf *self, struct buf *ret);

/* ---- sessions that are kept (keep.c) ---- */

struct cli_keep {
    struct state *state;
    struct state_session ses;
    int store_fd;
    bool fresh;
    struct buf config; /* what it is made with */
    struct buf over;   /* limits given now for a session that exists */
};
/* Finds or makes the session of --session and takes it; what it was made with goes into the options. Close it after
 * success. */
int cli_keep_open(struct cli_options *o, struct cli_keep *k, struct err *err);
/* A session to look at: @made gets what it was made with (without its mounts when made->without_mounts). Close it after
 * success. */
int cli_keep_look(const char *state_dir, const char *who, struct cli_options *made, struct cli_keep *k,
                  struct err *err);
/* A new session is in its log now: it gets its name. -EEXIST: another has it since. */
int cli_keep_commit(struct cli_keep *k, struct err *err);
/* Closes; the worker has its own descriptors. */
void cli_keep_close(struct cli_keep *k);

/* ---- driving a worker (driver.c) ---- */

struct cli_stream { /* what becomes of standard output or error */
    int fd;         /* where it goes, or -1: kept in `kept` */
    bool closed;    /* its reader is gone; the worker was told */
    bool failed;    /* it could not be written, and not because its reader left */
    struct buf kept;
    uint64_t total;
};

struct driver {
    struct worker worker;
    const struct cli_options *opts;
    struct modules modules;       /* of the user's own, that the session wants compiled */
    struct cli_keep keep;         /* with --session */
    struct cli_stream streams[3]; /* 1 and 2 */
    int sigfd;
    bool interactive; /* shell: ^Z is forwarded */
    bool want_input, input_ended;
    uint32_t window;  /* the size that the session was told last */
    int interrupts;   /* SIGINT or SIGTERM received */
    int64_t started;  /* clock_wall when the session began: what the host changed later it did meanwhile */
    int64_t deadline; /* clock_mono; when a worker that does not answer is killed */
    bool killed_late; /* the deadline was used */
    bool gone;        /* the worker's socket closed */
    bool ready_seen;
    struct str out_rest; /* output received and not written yet (borrowed from the channel) */
    int out_stream;
};

/* Starts a worker with the options' mounts and creates the session, or goes on with the one of --session (whose mounts
 * and limits go into the options). */
int driver_start(struct driver *d, struct cli_options *o, struct err *err);
/* Ends it; *ret_status (may be NULL) is its wait status or -1. */
void driver_end(struct driver *d, int *ret_status);
/* Size of the terminal that one of the standard streams is: rows << 16 | columns, or 0. */
uint32_t driver_window(void);
/* Tells the session of the terminal's size when it is another than it was told last. */
void driver_resize(struct driver *d);
/* Runs an exec (or goes on with one, @e NULL) to its RESULT. The result's strings are copied into @text. Never fails: a
 * worker that is gone gives OUTCOME_LOST, one killed after its deadline OUTCOME_KILLED by timeout. */
void driver_exec(struct driver *d, const struct wire_exec *e, struct wire_result *ret, struct buf *text);
/* Waits for the RESULT of what was sent already. */
void driver_wait(struct driver *d, struct wire_result *ret, struct buf *text);
/* A request and its REPLY; the reply's strings are borrowed until the next call. -EPIPE when the worker is gone. */
int driver_fs(struct driver *d, const struct wire_fs *q, struct wire_reply *ret);
/* The two halves of driver_fs(), for messages of one or more encoded requests. Their replies come in the same order. At
 * most DRIVER_AHEAD messages may be without one, or both ends may wait for room in the socket. -EPIPE. */
int driver_fs_send(struct driver *d, struct str requests);
/* See driver_fs_send(). */
int driver_fs_reply(struct driver *d, struct wire_reply *ret);
#define DRIVER_AHEAD 4u
/* The changes below @prefix, one call of @fn each. */
int driver_diff(struct driver *d, bool text, struct str prefix, int (*fn)(void *arg, const struct wire_change *c),
                void *arg, struct err *err);
/* A query to the serving shell. */
int driver_query(struct driver *d, enum wire_query_kind kind, struct str text, struct wire_answer *ret);

/* ---- copying and applying ---- */

/* Copies a host file or directory into the tree, before the command. */
int cli_copy_in(struct driver *d, const struct cli_copy *c, struct err *err);
/* Copies from the tree to the host, after it. */
int cli_copy_out(struct driver *d, const struct cli_copy *c, struct err *err);

/* Changes kept for --diff and --apply. */
struct cli_change {
    uint8_t kind;
    bool content;
    struct wire_stat old_st, new_st;
    struct str path, diff; /* heap */
};
struct cli_changes {
    struct cli_change *v;
    size_t n, cap;
};
/* Gathers all changes since the copy-in. */
int cli_changes_get(struct driver *d, bool text, struct cli_changes *ret, struct err *err);
/* Frees. */
void cli_changes_done(struct cli_changes *c);
/* Prints them: a letter and a path a line, or unified diffs. */
void cli_changes_print(const struct cli_changes *c, bool text, struct buf *out);
/* "added" … */
const char *cli_change_name(uint8_t kind);

/* Writes the changes below the copy-on-write mounts back to the host: checks first that the host still is as the
 * session saw it and that everything can be applied, then writes. *ret_n is how many were applied. */
int cli_apply(struct driver *d, const struct cli_options *o, const struct cli_changes *c, size_t *ret_n,
              struct err *err);

/* Lists changes, copies out and applies: what the options ask for after the command that ended as @r. The changes
 * listed are kept in @c. 0, or CLI_FAILED after a message. */
int cli_follow_up(struct driver *d, const struct cli_options *o, const struct wire_result *r, struct cli_changes *c);

/* ---- verbs ---- */

/* frontal-sandbox run. */
int cli_run(int argc, char **argv);
/* frontal-sandbox shell. */
int cli_shell(int argc, char **argv);
/* frontal-sandbox session list|show|rename|destroy. */
int cli_session(int argc, char **argv);
/* frontal-sandbox trace. */
int cli_trace(int argc, char **argv);
/* frontal-sandbox snapshot [list|delete]. */
int cli_snapshot(int argc, char **argv);
/* frontal-sandbox restore. */
int cli_restore(int argc, char **argv);
/* frontal-sandbox fork. */
int cli_fork(int argc, char **argv);
/* frontal-sandbox diff. */
int cli_diff(int argc, char **argv);
/* frontal-sandbox merge. */
int cli_merge(int argc, char **argv);
/* frontal-sandbox policy. */
int cli_policy(int argc, char **argv);
/* frontal-sandbox export. */
int cli_export(int argc, char **argv);
/* frontal-sandbox import. */
int cli_import(int argc, char **argv);
/* frontal-sandbox store fsck|gc|stat. */
int cli_store(int argc, char **argv);
/* frontal-sandbox replay. */
int cli_replay(int argc, char **argv);
/* frontal-sandbox doctor. */
int cli_doctor(int argc, char **argv);
/* frontal-sandbox keys create|list|revoke. */
int cli_keys(int argc, char **argv);
/* frontal-sandbox serve. */
int cli_serve(int argc, char **argv);
/* See cli_run(). */
int cli_tools(int argc, char **argv);
