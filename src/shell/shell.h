/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * shell - bash 5.2's language, run by processes of proc/ on the tree, without any host process.
 *
 * One shell_world per proc_set holds what all shells of a session share: the symbol table, the table of C commands and
 * the "builtin" engine that runs them. A struct shell is one shell: variables, functions, options, jobs. A subshell is
 * a clone of it in a child process; cloning is O(1), because tables are counted and copied on the first write.
 *
 * Text is parsed one complete command at a time (parse.c) into a tree in an arena of its own (ast_int.h), which is then
 * executed (exec.c) as often as loops and functions need, never re-read. Words keep their quoting as parts, arithmetic
 * is compiled on first use, variable names are symbols with an index, so that running a loop allocates nothing.
 *
 *   parse.c lex.c → ast → exec.c ──→ expand*.c  arith.c  pattern.c  pathglob.c      words to fields
 *                            ├────→ redir.c  job.c  trap.c  func.c                 what surrounds a command
 *                            ├────→ builtin/NAME.c                                 commands in the shell's own process
 *                            └────→ proc_exec → engine "builtin" → cmd/NAME.c      commands in a child process
 *
 * Invariants:
 *   1. Expansion, parsing and execution never end the host process or touch the host; what goes wrong is a message, a
 * status and a flow.
 *   2. After any command, arena marks, saved descriptors and local scopes are back to where they were before it.
 *   3. A tree is immutable but for caches; it lives while its unit is counted (running, or holding a function's body).
 *   4. The shell's process has no descriptor that bash would not have there; internal ones are above 9 and
 * close-on-exec.
 *
 * Threads: a world and its shells belong to one thread at a time.
 */

#include "base/str.h"
#include "types/outcome.h"

struct proc;
struct proc_set;
struct shell;
struct shell_world;
struct buf;

/* A world for @ps; registers the builtin engine there. NULL when memory is short. */
struct shell_world *shell_world_new(struct proc_set *ps) __attribute__((warn_unused_result));

/* Frees it; the set's processes have ended. Accepts NULL. */
void shell_world_free(struct shell_world *w);

/*
 * A shell that goes on where another one ended. Its state is bytes that shell_save() wrote: what differs from a fresh
 * shell so started, in an order of its own, so equal states have equal bytes, whatever led to them, and a shell that
 * nothing happened to has none. The form is records (tag, fields, each text with its length) behind a word that names
 * the version. Nothing of it is run: values go straight into variables, which is why readonly ones, any IFS, set -e,
 * aliases and functions that shadow builtins cannot get in the way, and hostile bytes stay bytes. Only bodies of
 * functions are source, which is parsed and kept, not run.
 *
 * Kept: working directory, umask, variables with attributes, functions, aliases, set -o and shopt, traps, builtins
 * switched off, positional parameters, $0, the directory stack, $?, PIPESTATUS, getopts' place, SECONDS if it was
 * assigned. Not kept: descriptors that `exec` opened, jobs and $!, the command hash, limits of ulimit, $_, RANDOM,
 * LINENO and lines of functions, set -n (nothing could follow it), functions nested too deep to be printed.
 *
 * How such a shell differs from one that ends:
 *   - startup files are read only when the state is empty;
 *   - at the end of its text it runs no EXIT trap: that is kept. What ends it before (exit, set -e, ${x:?}) and ^D run
 *     it, once; the state goes on without it;
 *   - set -e that ended it stays set, as all options do: each later text ends at its first failure, too;
 *   - its last command runs in a child like any other; `exec cmd` replaces it, and the state is as it was then;
 *   - `env` and arguments given with the start are for this start: they hide what the state has of that name, and only
 *     what the shell changes of them is kept.
 */
struct shell_keep {
    struct str state;  /* empty: a fresh shell; one that is not valid counts as empty; not needed once the shell runs */
    char **env;        /* entries of the environment for this start only, over envp and the state; may be NULL */
    bool exports_only; /* a program or script that such a shell runs: the directory, umask, ignored signals and what is
                          exported; nothing is kept of it */
    /* Called in the shell's process when it ends by itself (not by a signal or limit): shell_save() is possible now.
     * May be NULL. */
    void (*ended)(void *arg, struct shell *sh);
    void *arg;
};

/* How to run a shell. All is borrowed until its process ends. */
struct shell_start {
    struct shell_world *world;
    int argc;
    char **argv;     /* as bash's: argv[0], options, -c TEXT NAME ARG… or SCRIPT ARG… or nothing (standard input) */
    char **envp;     /* initial environment, NULL-terminated */
    bool has_script; /* text instead of the file named in argv: a script file of the host */
    struct str script;             /* its bytes */
    const char *script_name;       /* $0 and name in messages */
    bool posix;                    /* started as sh */
    const struct shell_keep *keep; /* NULL: begins and ends by itself */
};

/* Appends the state of @sh, a shell started with a shell_keep that runs no command now: 0, -EINVAL (it was not), -EFBIG
 * (LIMIT_SHELL_STATE), -ENOMEM. */
int shell_save(struct shell *sh, struct buf *out) __attribute__((warn_unused_result));

/* Whether @state is one: 0, -EBADMSG or -EFBIG. */
int shell_state_check(struct str state) __attribute__((warn_unused_result));

/* A process's main (proc_start): runs a shell as started by @arg, a struct shell_start *. */
struct outcome shell_main(struct proc *p, void *arg);

/* As shell_main(), for argv without shell syntax: finds argv[0] in PATH and runs it in this very process. Messages and
 * statuses 126, 127 as env(1) and shells give. */
struct outcome shell_main_argv(struct proc *p, void *arg);

/* ---- what there is, for those who list it ---- */

/* Whether the userland has no program for the C command @name, so that what the command refuses nobody does. */
bool shell_alone(struct str name);

/* Calls @fn for each program that is no C command: of the userland, whether that is built or not (@why NULL), and of a
 * whole machine (@why: the end of a sentence that its name begins). */
void shell_elsewhere_each(void (*fn)(void *arg, const char *name, const char *why), void *arg);

/* ---- a shell that stays: the interactive shell and persistent shells of the API ---- */

/* What such a shell asks of its owner. */
struct shell_driver {
    void *arg;
    /* Blocks the process (proc_block) until there is a command text: 1, or 0 to end the shell. The text stays valid
     * until done(). */
    int (*next)(void *arg, struct proc *p, struct str *ret_text);
    /* The text was run; @status is $?. @exited: the shell ends now (exit). */
    void (*done)(void *arg, struct proc *p, int status, bool exited);
};

struct shell_serve {
    struct shell_start start; /* argv without script: options only */
    const struct shell_driver *driver;
    bool interactive;    /* job control messages, aliases, prompts, errors do not end the shell */
    struct shell *shell; /* set while it runs */
};

/* A process's main: serves commands of a struct shell_serve * until next() says 0 or `exit` runs. SIGINT ends the
 * command, not the shell. */
struct outcome shell_serve_main(struct proc *p, void *arg);

enum shell_syntax { SHELL_COMPLETE, SHELL_INCOMPLETE, SHELL_BROKEN };
/* Whether @text is a whole command line, or needs more lines (open quote, here-document, compound command, trailing
 * backslash). */
enum shell_syntax shell_check_syntax(struct shell *sh, struct str text);

/* PS1 (or PS2 when @second) expanded with bash's prompt escapes, appended to @out. */
void shell_prompt(struct shell *sh, bool second, struct buf *out);

/* Completions of the last word of @line, one a line, each a whole replacement of the word from byte *ret_from on:
 * commands in command position, variables after $, paths elsewhere (a directory ends in '/'). */
void shell_complete(struct shell *sh, struct str line, size_t *ret_from, struct buf *out);
