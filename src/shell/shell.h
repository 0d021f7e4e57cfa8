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
struct shell_world;
struct buf;

/* A world for @ps; registers the builtin engine there. NULL when memory is short. */
struct shell_world *shell_world_new(struct proc_set *ps) __attribute__((warn_unused_result));

/* Frees it; the set's processes have ended. Accepts NULL. */
void shell_world_free(struct shell_world *w);

/* How to run a shell. All is borrowed until its process ends. */
struct shell_start {
    struct shell_world *world;
    int argc;
    char **argv;     /* as bash's: argv[0], options, -c TEXT NAME ARG… or SCRIPT ARG… or nothing (standard input) */
    char **envp;     /* initial environment, NULL-terminated */
    bool has_script; /* text instead of the file named in argv: a script file of the host */
    struct str script;       /* its bytes */
    const char *script_name; /* $0 and name in messages */
    bool posix;              /* started as sh */
};

/* A process's main (proc_start): runs a shell as started by @arg, a struct shell_start *. */
struct outcome shell_main(struct proc *p, void *arg);

/* As shell_main(), for argv without shell syntax: finds argv[0] in PATH and runs it in this very process. Messages and
 * statuses 126, 127 as env(1) and shells give. */
struct outcome shell_main_argv(struct proc *p, void *arg);

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
