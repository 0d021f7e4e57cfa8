/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * exec - what the files of the executor share.
 *
 *   exec.c         nodes, lists, groups, functions, texts
 *   exec_loop.c    if while until for select case
 *   exec_cond.c    [[ ]]
 *   exec_assign.c  assignments
 *   exec_simple.c  simple commands: words, lookup, builtins
 *   exec_program.c programs of the tree: PATH, the hash, running one
 *   exec_child.c   subshells, $( ), process substitution, & and coproc
 *   exec_pipe.c    pipelines, time
 *   exec_trace.c   set -x
 */

#include "shell/shell_int.h"

/* What `command -p` searches, and PATH's value in a shell that was given none. */
#define EXEC_DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* What a failed command sets off: the ERR trap (@trap: it was set when the command began) and set -e, unless they do
 * not apply here. */
void exec__failed(struct shell *sh, bool trap);

/* Sets $? and, when the command failed, does what that sets off. Returns the status. */
static inline int exec__ended(struct shell *sh, int status)
{
    sh->last_status = status;
    if (__builtin_expect(status != 0 && !sh->errexit_off && sh->flow == FLOW_NONE, 0))
        exec__failed(sh, true);
    return sh->last_status;
}

/* PIPESTATUS of a command that is no pipeline. */
static inline void exec__one_status(struct shell *sh, int status)
{
    sh->pipestatus[0] = status;
    sh->n_pipestatus = 1;
}

/* A loop's turn ended with sh->flow set: true when the loop ends too. */
bool exec__leave_loop(struct shell *sh);

/* See the list above; each sets $?. */
int exec__simple(struct shell *sh, struct node *n, int flags);
/* See exec__simple(). */
int exec__pipe(struct shell *sh, struct node *n, int flags);
/* See exec__simple(). */
int exec__if(struct shell *sh, struct node *n, int flags);
/* See exec__simple(). */
int exec__while(struct shell *sh, struct node *n);
/* See exec__simple(). */
int exec__for(struct shell *sh, struct node *n);
/* See exec__simple(). */
int exec__for_arith(struct shell *sh, struct node *n);
/* See exec__simple(). */
int exec__select(struct shell *sh, struct node *n);
/* See exec__simple(). */
int exec__case(struct shell *sh, struct node *n, int flags);
/* See exec__simple(). */
int exec__subshell(struct shell *sh, struct node *n, int flags);
/* See exec__simple(). */
int exec__background(struct shell *sh, struct node *n);
/* A pipeline followed by &. */
int exec__pipe_async(struct shell *sh, struct node *n);
/* See exec__simple(). */
int exec__coproc(struct shell *sh, struct node *n);

/* With enum exec_flags, for exec__fork() only: the first process of a background job. */
#define EXEC_ASYNC (1 << 8)
/* Likewise, also for exec__run_inline(): standard input will be a pipe. */
#define EXEC_STDIN (1 << 9)

/* A child that runs beside the shell; its main frees this. */
struct child_start {
    struct shell *sh; /* the clone, owned */
    struct node *node;
    struct ast *unit; /* counted, so that the tree outlives the parent's line */
    int flags;
    bool null_stdin; /* a job without job control reads nothing */
};

/* Whether a redirection of the node is of standard input. */
bool exec__redirects_stdin(const struct node *n);
/* A close-on-exec pipe whose ends are none of the standard descriptors, which may be closed: 0 or a negative errno. */
int exec__make_pipe(struct shell *sh, int ret[2]);
/* Starts @node in a child: its process, whose descriptors the caller may still change. A negative errno after a
 * message. */
int exec__fork(struct shell *sh, struct node *node, int flags, struct proc **ret);
/* Runs @n in the inline child @child with a clone of @sh to its end: how it ended. */
struct outcome exec__run_inline(struct shell *sh, struct proc *child, struct node *n, int flags);
/* Waits for one child: its outcome; KILLED by its own end when this shell must end. */
struct outcome exec__wait(struct shell *sh, int pid);
/* "fork: retry: Resource temporarily unavailable"; returns the status. */
int exec__cannot_fork(struct shell *sh, int err);
/* checkwinsize: LINES and COLUMNS follow the terminal, which as in bash is standard error's. */
void exec__check_window(struct shell *sh);
/* The status of a foreground child, and the line that bash prints when a signal ended it. */
int exec__child_status(struct shell *sh, int pid, struct outcome o, const struct node *n);
/* Whether running one more child on this coroutine's stack is out of the question. */
bool exec__stack_low(const struct shell *sh);

/* The text of BASH_COMMAND for @n: of a compound command its head. */
void exec__command_text(const struct shell *sh, const struct node *n, struct buf *out);
/* Runs argv as a program, not a function or builtin; @n (may be NULL) has its redirections and text. @path: standard
 * PATH (command -p) or NULL. */
int exec__program(struct shell *sh, const struct node *n, int argc, struct str *argv, int flags, const char *path);
/* The redirections of the simple command @n, which do not see the assignments in front of it. See redir_apply(). */
int exec__redirs(struct shell *sh, const struct node *n, struct redir_saved **ret_saved);
/* Replaces this process: as `exec` does. Returns a status when it could not, else with sh->exec_done. */
int exec__replace(struct shell *sh, int argc, struct str *argv, struct str arg0, bool clear_env);
/* Closes the process substitutions opened since there were @n. */
void exec__close_procsubs(struct shell *sh, uint32_t n);

/* ---- set -x (exec_trace.c) ---- */

/* "+ word word": a simple command as it runs. */
void exec__trace_words(struct shell *sh, const struct str *v, uint32_t n);
/* "+ NAME=value". */
void exec__trace_assign(struct shell *sh, struct str name, bool append, struct str val);
/* A line of fixed text, such as "for i in a b" or "(( x ))". */
void exec__trace_text(struct shell *sh, struct str text);
/* "+ NAME=('a' 'b')" of a list that is an argument of declare and its kin. Returns the assignment with the values that
 * its words gave, quoted, in scratch; NULL when one could not be expanded. */
struct assign *exec__trace_list(struct shell *sh, const struct assign *as, bool assoc);

/* Undoes in a child what an interactive shell does with signals for itself. */
void shell__reset_signals(const struct shell *sh, struct proc *child);
/* For shell.c. */
void shell__share_maps(const struct shell *sh, struct shell *child);
/* See shell__share_maps(). */
void shell__drop_maps(struct shell *sh);
