/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * shell_int - one shell's state, and what the files of this folder call of each other.
 *
 * Flow. exec_* return an exit status. What else may happen (break, return, exit, an error that abandons the command
 * line, the end of the process) is in sh->flow; every loop and list looks at it after each command and returns when it
 * is not FLOW_NONE. Whoever the flow is meant for clears it: loops BREAK and CONTINUE (counting flow_n down), function
 * calls and source RETURN, the top level ABORT, nobody EXIT and KILLED.
 */

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "proc/proc.h"
#include "shell/ast_int.h"
#include "shell/expand_int.h"
#include "shell/shell.h"
#include "shell/var_int.h"

enum flow {
    FLOW_NONE,
    FLOW_BREAK,
    FLOW_CONTINUE,
    FLOW_RETURN,
    FLOW_ABORT,  /* the current top-level command is abandoned (expansion error, interactive ^C); eval, source and
                    scripts go on with the next */
    FLOW_EXIT,   /* the shell ends with last_status */
    FLOW_KILLED, /* the process must end */
};

/* set -o options: one bit each. */
enum shell_opt {
    OPT_ALLEXPORT = 1 << 0,
    OPT_BRACEEXPAND = 1 << 1,
    OPT_EMACS = 1 << 2,
    OPT_ERREXIT = 1 << 3,
    OPT_ERRTRACE = 1 << 4,
    OPT_FUNCTRACE = 1 << 5,
    OPT_HASHALL = 1 << 6,
    OPT_HISTEXPAND = 1 << 7,
    OPT_HISTORY = 1 << 8,
    OPT_IGNOREEOF = 1 << 9,
    OPT_INTERACTIVE_COMMENTS = 1 << 10,
    OPT_KEYWORD = 1 << 11,
    OPT_MONITOR = 1 << 12,
    OPT_NOCLOBBER = 1 << 13,
    OPT_NOEXEC = 1 << 14,
    OPT_NOGLOB = 1 << 15,
    OPT_NOLOG = 1 << 16,
    OPT_NOTIFY = 1 << 17,
    OPT_NOUNSET = 1 << 18,
    OPT_ONECMD = 1 << 19,
    OPT_PHYSICAL = 1 << 20,
    OPT_PIPEFAIL = 1 << 21,
    OPT_POSIX = 1 << 22,
    OPT_PRIVILEGED = 1 << 23,
    OPT_VERBOSE = 1 << 24,
    OPT_VI = 1 << 25,
    OPT_XTRACE = 1 << 26,
};

/* shopt options: indices into sh->shopts (bit n of a uint64_t), in the order `shopt` lists them (sorted by name). */
enum shopt_index {
    SHOPT_AUTOCD,
    SHOPT_ASSOC_EXPAND_ONCE,
    SHOPT_CDABLE_VARS,
    SHOPT_CDSPELL,
    SHOPT_CHECKHASH,
    SHOPT_CHECKJOBS,
    SHOPT_CHECKWINSIZE,
    SHOPT_CMDHIST,
    SHOPT_COMPAT31,
    SHOPT_COMPAT32,
    SHOPT_COMPAT40,
    SHOPT_COMPAT41,
    SHOPT_COMPAT42,
    SHOPT_COMPAT43,
    SHOPT_COMPAT44,
    SHOPT_COMPLETE_FULLQUOTE,
    SHOPT_DIREXPAND,
    SHOPT_DIRSPELL,
    SHOPT_DOTGLOB,
    SHOPT_EXECFAIL,
    SHOPT_EXPAND_ALIASES,
    SHOPT_EXTDEBUG,
    SHOPT_EXTGLOB,
    SHOPT_EXTQUOTE,
    SHOPT_FAILGLOB,
    SHOPT_FORCE_FIGNORE,
    SHOPT_GLOBASCIIRANGES,
    SHOPT_GLOBSKIPDOTS,
    SHOPT_GLOBSTAR,
    SHOPT_GNU_ERRFMT,
    SHOPT_HISTAPPEND,
    SHOPT_HISTREEDIT,
    SHOPT_HISTVERIFY,
    SHOPT_HOSTCOMPLETE,
    SHOPT_HUPONEXIT,
    SHOPT_INHERIT_ERREXIT,
    SHOPT_INTERACTIVE_COMMENTS,
    SHOPT_LASTPIPE,
    SHOPT_LITHIST,
    SHOPT_LOCALVAR_INHERIT,
    SHOPT_LOCALVAR_UNSET,
    SHOPT_LOGIN_SHELL,
    SHOPT_MAILWARN,
    SHOPT_NO_EMPTY_CMD_COMPLETION,
    SHOPT_NOCASEGLOB,
    SHOPT_NOCASEMATCH,
    SHOPT_NOEXPAND_TRANSLATION,
    SHOPT_NULLGLOB,
    SHOPT_PATSUB_REPLACEMENT,
    SHOPT_PROGCOMP,
    SHOPT_PROGCOMP_ALIAS,
    SHOPT_PROMPTVARS,
    SHOPT_RESTRICTED_SHELL,
    SHOPT_SHIFT_VERBOSE,
    SHOPT_SOURCEPATH,
    SHOPT_VARREDIR_CLOSE,
    SHOPT_XPG_ECHO,
    SHOPT_COUNT,
};

/* Pseudo-signals of trap, after the real ones. */
enum { TRAP_EXIT = 0, TRAP_DEBUG = 65, TRAP_ERR = 66, TRAP_RETURN = 67, TRAP_COUNT = 68 };

struct posargs { /* positional parameters, counted */
    uint32_t refs;
    uint32_t n;
    struct str *v; /* $1 … */
};

struct func { /* a function, counted */
    uint32_t refs;
    struct str name;
    struct node *body;
    struct ast *ast;
    bool exported, readonly, traced;
    struct str file; /* where it was defined, for BASH_SOURCE */
    int line;
};

struct binding { /* what a frame hides: @v (one reference; NULL: nothing) was bound to @s */
    struct sym *s;
    struct var *v;
};

/* A function call, `source`, or temporary environment; newest first. Counted, because a subshell sees its parent's
 * frames; it copies one before it changes it, and never pops one that it did not push. */
struct frame {
    uint32_t refs;
    struct frame *prev;
    bool is_function; /* else a `source` (is_source) or a temporary environment only */
    bool is_source;
    bool opts_saved;
    struct func *func;    /* counted */
    char *file;           /* BASH_SOURCE of what runs in it; heap */
    int call_line;        /* line it was called from */
    struct posargs *args; /* what to put back; counted; NULL: nothing */
    struct binding *saved;
    uint32_t n_saved, cap_saved;
    uint32_t depth; /* function depth inside */
    uint32_t opts;  /* for `local -` */
};

struct hash_entry { /* of the command hash */
    char *path;
    uint32_t hits;
};

/* Strings given at start, which clones share: they outlive the caller's argv. */
struct names {
    uint32_t refs;
    char *arg0, *script_name, *main_file, *exec_string;
};

/* Counting. Accept NULL. */
struct names *names_ref(struct names *n);
/* See names_ref(). */
void names_unref(struct names *n);

struct known; /* job.c */
struct builtin_args;
struct traps; /* trap.c */
struct job;
struct path_entry;
struct shell_kept; /* state_int.h */
struct history;    /* history_int.h */
struct completions; /* builtin/complete.c */

/* What the shells of one proc_set share. */
struct shell_world {
    struct proc_set *ps;
    uint32_t n_shells;
    struct arena arena; /* symbols */
    struct map syms;
    struct sym **sym_v; /* by id */
    uint32_t n_syms, cap_syms;
    uint64_t stamp;              /* source of lookup stamps: each value is given out once */
    struct regex_cache *regexes; /* exec_cond.c: patterns of =~ used last */
};

struct shell {
    struct shell_world *world;
    struct proc *p; /* the process that is this shell */
    struct proc_set *ps;
    struct arena scratch; /* results of expansion; marks are taken per command */

    struct vartab *vars;
    struct map *funcs; /* name → struct func *; shared with clones until written (funcs_refs) */
    uint32_t *funcs_refs;
    struct map *aliases; /* name → heap string; likewise */
    uint32_t *aliases_refs;
    struct map *hashed; /* command hash: name → struct hash_entry *; likewise */
    uint32_t *hashed_refs;
    uint64_t lookup_stamp;         /* changes whenever a command name may mean something else: func, alias, enable */
    struct traps *traps;           /* NULL: none set */
    uint64_t sig_ignored_at_start; /* cannot be trapped in a non-interactive shell */
    int trap_running;              /* number of the trap that runs now, + 1; 0 none */
    bool exit_trap_done;
    int end_signal;        /* the signal that this shell dies of once its EXIT trap has run; 0: none */
    uint32_t traps_busy;   /* DEBUG, ERR, RETURN traps whose commands run now, like traps_hidden */
    uint32_t chld_pending; /* runs of the CHLD trap that are due */
    int trap_status;       /* $? when the running trap began: what `exit` without a number gives */
    int debug_status;      /* of the commands of the DEBUG trap, for extdebug */

    bool traps_reset;      /* a subshell: traps are only listed, but for ignored and traced ones */
    uint32_t traps_hidden; /* trap.c: DEBUG, ERR, RETURN traps that do not reach the running function */

    struct posargs *args;
    struct posargs *main_args; /* at start, for BASH_ARGV */
    bool args_asked, listing;  /* BASH_ARGV was read by name; all variables are being listed */
    struct str arg0;           /* $0 */
    char *arg0_heap;           /* BASH_ARGV0 assigned */
    struct names *names;       /* counted: what the following strings are part of */
    const char *main_file;     /* script file that the shell runs; NULL: -c or standard input */
    struct posargs *env_extra; /* entries of the environment that are no variables, for children */
    bool plain_errors;         /* messages without "line N" (argv without shell syntax) */
    struct frame *frame;
    uint32_t func_depth, source_depth, eval_depth, loop_depth, subshell_depth;
    uint32_t trace_level; /* levels of set -x that clones inherit: command substitutions */

    uint32_t opts;   /* enum shell_opt */
    uint64_t shopts; /* bit SHOPT_* */
    bool interactive, login, posix_started, reading_stdin, dash_c;
    bool restricted;     /* set -r: see sh_restricted() */
    bool utf8;           /* LC_ALL / LC_CTYPE / LANG say UTF-8 */
    bool is_subshell;    /* forked: `exit` leaves only it */
    bool stdin_given;    /* a subshell whose standard input is a pipe or redirected: its & commands keep it */
    bool jobs_inherited; /* sh->jobs are the parent's, to be listed only */
    bool shlvl_less;     /* what runs replaces this shell: SHLVL of its environment is one less */

    enum flow flow;
    uint32_t flow_n;         /* levels left for break and continue */
    int last_status;         /* $? */
    int errexit_off;         /* > 0: in a context where set -e does not apply */
    int line;                /* of the command that runs: LINENO */
    int line_base;           /* first line of the running function, where bash counts from it */
    const char *script_name; /* for messages: "bash", "./x.sh" */
    const char *parse_what;  /* for syntax errors: "-c", "eval" …; NULL: none */
    int last_bg_pid;         /* $! ; 0 none */
    int *pipestatus;         /* PIPESTATUS */
    uint32_t n_pipestatus;
    uint32_t cap_pipestatus;
    int last_cmdsub_status; /* for `x=$(false)` */
    bool had_cmdsub;
    const struct node *oneshot;  /* the command after which a -c shell has nothing to do */
    struct ast *unit;            /* what runs: children that live on count it */
    const struct word *cur_expr; /* of for (( )), which BASH_COMMAND shows */
    const struct node *cur_node; /* BASH_COMMAND */
    struct str last_arg;         /* $_ , heap */
    size_t last_arg_cap;
    struct str env_path; /* path of the program that runs: `_` in its environment; scratch */
    uint32_t ifs_gen;    /* changes whenever IFS may have changed */
    int root_pid;        /* $$ */
    bool keep_redirs;    /* `exec` without a command: its redirections stay */
    bool by_command;     /* `command` runs the builtin: its errors do not end a shell in posix mode */
    bool line_only;      /* FLOW_ABORT gives up the line and no more, also in posix mode */
    bool soft_eval;      /* the text that runs is of an eval that `command` ran, likewise */
    bool exec_done;      /* `exec cmd` or a last command ran in this very process: exec_outcome is how it ended */
    struct outcome exec_outcome;
    struct var **dyn;         /* values of dynamic variables, made when read (var_special.c) */
    struct buf out;           /* standard output of the running builtin */
    uint64_t builtins_off[2]; /* builtins that `enable -n` switched off: bits by their place in builtin_all() */

    struct job *jobs; /* job.c */
    int next_job;
    struct known *known; /* job.c: children known by number */
    uint32_t n_known, cap_known;
    uint32_t rng; /* RANDOM */
    uint32_t rng_last;
    int64_t start_wall; /* SECONDS counts from here */
    int64_t seconds_base;
    struct str exec_string; /* BASH_EXECUTION_STRING */
    struct str *dirstack;   /* pushd; heap strings (mem_dup), newest first, without the cwd */
    uint32_t n_dirstack;
    struct str pwd; /* logical cwd, heap */
    int xtrace_fd;  /* BASH_XTRACEFD or -1 */
    int coproc_pid;
    uint32_t n_procsub; /* process substitutions open in the running command */
    int *procsub_fds;
    struct history *history; /* counted; NULL: none yet */
    struct completions *completions; /* counted; NULL: none */
    struct shell_kept *kept; /* the shell goes on elsewhere: what it began with; NULL: it does not */
    const char *arith_who; /* "((", "let", "[[", "declare" …: what messages of arithmetic begin with; NULL: nothing */
    uint32_t arith_depth;  /* nested evaluations of variables' values */
    struct expand_state *expand; /* expand.c's buffers; made on first use, a clone's is its own */
};

static inline bool sh_opt(const struct shell *sh, uint32_t bit)
{
    return (sh->opts & bit) != 0;
}

static inline bool sh_shopt(const struct shell *sh, enum shopt_index i)
{
    return (sh->shopts >> i & 1) != 0;
}

/* Call at every command and loop turn: true when the shell must unwind (flow is set to KILLED), else runs pending traps
 * first. */
bool sh_poll(struct shell *sh);

/* ---- commands that are not here (elsewhere.c) ---- */

/* After "@name: command not found": a line of what would have it, of names that are near, or of a carriage return in
 * it. */
void sh_hint_command(struct shell *sh, struct str name);
/* After the message of a text that does not parse or of an interpreter that is not there, when lines of the text end
 * in CR LF. */
void sh_hint_crlf(struct shell *sh);

/* ---- messages (error.c) ---- */

/* "NAME: line N: text\n" on standard error, as bash prefixes them (interactive shells: "bash: text"). */
void sh_error(struct shell *sh, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Writes to a descriptor, all of it; what cannot be written is dropped (messages, traces). */
void sh_write_fd(struct shell *sh, int fd, struct str s);
/* @s as messages show file names: $'…' when a character of it cannot be shown, else @s itself. Scratch. */
const char *sh_shown(struct shell *sh, struct str s);
/* With a strerror text behind. */
void sh_errno(struct shell *sh, int err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* A parse error, one or two lines as bash prints it; @what is "" or the -c / eval / source context bash names. */
void sh_syntax_error(struct shell *sh, const struct parse_error *e);
/* After the message of an error that bash counts as a failure under set -e wherever it is met, in conditions and
 * behind || too (bad substitution, a bad subscript, a readonly variable; not those of arithmetic): the shell ends then.
 */
void sh_reported(struct shell *sh);
/* An expansion error that abandons the current top-level command, but not the script (division by 0, bad substitution,
 * failglob, assignment to a readonly variable): flow ABORT and status @status (bash: 1). Returns -EINVAL. */
int sh_abort(struct shell *sh, int status);
/* An expansion error that ends a shell that is not interactive (${x?…}, set -u): flow EXIT, or ABORT in an interactive
 * one. Returns -EINVAL. */
int sh_fatal(struct shell *sh, int status);
/* An error of a special builtin: in posix mode it ends a shell that is not interactive, unless `command` runs it.
 * Returns @status. */
int sh_misused(struct shell *sh, int status);
/* In a restricted shell (bash(1) RESTRICTED SHELL): true after the message that builtin @who, or @what of it (may be
 * NULL), is. */
bool sh_restricted(struct shell *sh, const char *who, const char *what);

/* ---- execution (exec.c) ---- */

enum exec_flags {
    EXEC_NO_FORK = 1 << 0, /* last command of this process: it may run here instead of in a child */
    EXEC_IN_PIPE = 1 << 1,
};

/* Runs a command; its status, also in sh->last_status. @n NULL: 0. */
int exec_node(struct shell *sh, struct node *n, int flags);
/* Runs a parsed unit, which the caller holds. */
int exec_unit(struct shell *sh, struct ast *a);
/* Runs a whole script from @ps at top level. */
int exec_script(struct shell *sh, struct parser *ps);
/* Parses and runs text: eval, trap actions, -c, PROMPT_COMMAND. */
int exec_text(struct shell *sh, struct str text, int line, const char *what);
/* Runs a file's text: source, scripts, standard input. */
int exec_source(struct shell *sh, struct str text, struct str name, const struct posargs *args);
/* Captures the output of commands: $(…). 0 and *ret in scratch (trailing newlines kept), status in last_cmdsub_status.
 */
int exec_capture(struct shell *sh, struct cmdsub *cs, struct str *ret);
/* Starts a process substitution: the /dev/fd/N name. */
int exec_procsub(struct shell *sh, struct cmdsub *cs, struct str *ret);
/* Runs argv as a simple command with functions and builtins allowed as @how says (command, builtin, exec, env of
 * xargs). */
enum exec_find { FIND_ALL, FIND_NO_FUNC, FIND_BUILTIN_ONLY, FIND_EXTERNAL_ONLY };
int exec_argv(struct shell *sh, int argc, struct str *argv, enum exec_find how, bool default_path);
/* The words of @a from number @from on, with the trees of compound assignments among them (`command declare a=(…)`). */
int exec_argv_node(struct shell *sh, struct builtin_args *a, int from, enum exec_find how, bool default_path);
/* Looks @name up in PATH (or @path when not NULL): the full path appended to @out: 0 or -ENOENT / -EACCES. Uses and
 * fills the hash when @hash. */
int exec_find_path(struct shell *sh, struct str name, const char *path, bool hash, struct buf *out);
/* The command hash: what PATH led to before. A clone shares it until it changes. */
void exec_hash_set(struct shell *sh, struct str name, struct str path);
/* Whether the hash may lead to @path: in a restricted shell that must be a name that PATH finds; a message that begins
 * with @who says so. */
bool exec_hash_allowed(struct shell *sh, const char *who, struct str path);
/* See exec_hash_set(): true when @name was there. */
bool exec_hash_drop(struct shell *sh, struct str name);
/* See exec_hash_set(): forgets everything (PATH changed, hash -r). */
void exec_hash_clear(struct shell *sh);
/* The values of NAME=(…) with their words expanded, in scratch: `local a=("${a[@]}")` expands before it declares. */
struct exec_list {
    void *v;
    size_t n;
};
/* Expands: 0, or a negative errno after a message. */
int exec_expand_list(struct shell *sh, struct array_elem *elems, uint32_t n, bool assoc, struct exec_list *ret);
/* Assigns what was expanded to @s itself (namerefs are not followed). */
int exec_assign_list(struct shell *sh, struct sym *s, const struct exec_list *l, bool append);
/* An assignment NAME=…, NAME[…]=… or NAME=(…) in the current scope, its words expanded: 0, or a negative errno after a
 * message. */
int exec_assign(struct shell *sh, struct assign *as);
/* The same with the target given (declare and its kin, once attributes are set): a compound value for the variable @s.
 */
int exec_assign_array(struct shell *sh, struct sym *s, struct array_elem *elems, uint32_t n, bool append);
/* NAME=(…) given as text: declare "a=(x y)". */
int exec_assign_array_text(struct shell *sh, struct sym *s, struct str text, bool append);
/* Calls a function. */
int exec_function(struct shell *sh, struct func *f, int argc, struct str *argv);
/* Sets PIPESTATUS. */
void exec_set_pipestatus(struct shell *sh, const int *v, uint32_t n);
/* Frees the patterns a world keeps for [[ =~ ]]. */
void exec_regex_free(struct shell_world *w);
/* Evaluates [[ … ]]: 0 true, 1 false, 2 error. */
int exec_cond(struct shell *sh, const struct cond *c);

/* ---- redirections (redir.c) ---- */

struct redir_saved;
/* Applies in order: 0, or a status > 0 after a message. With @ret_saved the old state can be put back; NULL:
 * permanently (exec, children). */
int redir_apply(struct shell *sh, const struct redir *r, struct redir_saved **ret_saved);
/* Makes what redir_apply() did permanent: drops the old state. Accepts NULL. */
void redir_keep(struct shell *sh, struct redir_saved *s);
/* Puts back what redir_apply() replaced. Accepts NULL. */
void redir_restore(struct shell *sh, struct redir_saved *s);

/* ---- clones (shell.c) ---- */

/* A clone for a subshell that will run in @child. */
struct shell *shell_clone(struct shell *sh, struct proc *child);
/* A fresh shell for @p, with options' and variables' defaults only. */
struct shell *shell_new(struct shell_world *w, struct proc *p);
/* Frees a shell. Accepts NULL. */
void shell_free(struct shell *sh);
/* Runs the EXIT trap, flushes, and gives the outcome of the process. */
struct outcome shell_finish(struct shell *sh);
/* Tells that names of commands may mean something else now (a builtin was enabled, a function defined): drops what
 * loops have cached. */
void shell_lookup_changed(struct shell *sh);
/* Functions table to change. */
struct map *shell_own_funcs(struct shell *sh);
/* Aliases table to change. */
struct map *shell_own_aliases(struct shell *sh);
/* The function called @name, or NULL. */
struct func *func_find(const struct shell *sh, struct str name);
/* Counting. Accept NULL. */
struct func *func_ref(struct func *f);
/* See func_ref(). */
void func_unref(struct func *f);
/* Positional parameters; each str is copied. */
struct posargs *posargs_new(const struct str *v, uint32_t n);
/* See posargs_new(). */
struct posargs *posargs_ref(struct posargs *a);
/* See posargs_new(). */
void posargs_unref(struct posargs *a);

/* ---- traps (trap.c) ---- */

/* Sets (text), ignores ("") or resets (NULL) a trap; copies. */
int trap_set(struct shell *sh, int sig, const char *text);
/* Number of a signal or pseudo-signal by name ("INT", "SIGINT", "2", "EXIT", "ERR"), or -1. */
int trap_signal_number(struct str name);
/* "SIGINT", "EXIT" … */
const char *trap_signal_name(int sig);
/* Runs traps of caught signals that are pending. */
void trap_run_pending(struct shell *sh);
/* Runs the ERR, DEBUG, RETURN or EXIT trap if it is set and applies here. */
void trap_run(struct shell *sh, int pseudo);

/* ---- jobs (job.c) ---- */

enum job_state { JOB_RUNNING, JOB_STOPPED, JOB_DONE };
struct job {
    struct job *next;
    int id; /* %N */
    int pgid;
    int *pids;
    int *statuses; /* wait-style shell statuses; -1 while running */
    uint32_t n;
    enum job_state state;
    bool background, notified, disowned, nohup;
    bool waited; /* its status was given out by `wait` */
    int seq;     /* grows with each start and stop: the newest is the current job */
    struct outcome *outcomes;
    char **texts; /* of each process */
    char *text;
    int stop_signal;
};

/* Adds a job of running processes. */
struct job *job_add(struct shell *sh, const int *pids, uint32_t n, int pgid, const struct node *node, bool background);
/* Waits for a job to end or stop: its status. */
int job_wait(struct shell *sh, struct job *j);
/* Collects children that ended meanwhile, without blocking. */
void job_reap(struct shell *sh);
/* Finds by "%1", "%%", "%+", "%-", "%name", "%?text" or a pid; NULL and a message with @who. */
struct job *job_find(struct shell *sh, struct str spec, const char *who);
/* Status of a child that is no job (its pid was $!): remembered after it ended. -ECHILD. */
int job_wait_pid(struct shell *sh, int pid, int *ret_status);
/* One line of `jobs`, and the messages of interactive shells. */
void job_print(struct shell *sh, const struct job *j, int style, struct buf *out);
/* Drops a job. */
void job_remove(struct shell *sh, struct job *j);

/* ---- builtins (builtin/NAME.c) ---- */

enum builtin_flags {
    BUILTIN_SPECIAL = 1 << 0, /* POSIX special builtin */
    BUILTIN_ASSIGN = 1 << 1,  /* arguments of the form NAME=(…) are assignments: declare, local, export … */
    BUILTIN_POSIX = 1 << 2,   /* found before PATH in posix mode */
    BUILTIN_TEXT = 1 << 3,    /* gives the status of commands it runs */
    BUILTIN_REFS = 1 << 4,    /* takes names of variables, also NAME[…] */
};

struct builtin_args {
    int argc;
    struct str *argv;        /* expanded; NUL-terminated each */
    struct assign **assigns; /* argc entries or NULL: the tree of an argument that is an array assignment (then argv[i]
                                is its NAME) */
    uint64_t written; /* bit i: argv[i] stands in the script as NAME[…], so what was expanded is the subscript alone */
    struct node *node;
};

struct builtin {
    const char *name;
    int (*fn)(struct shell *sh, struct builtin_args *a); /* status */
    int flags;
    const char *synopsis; /* "cd [-L|[-P [-e]] [-@]] [dir]" */
    const char *help;     /* what `help NAME` prints below "NAME: SYNOPSIS": whole lines, each begun with four blanks */
};

#define BUILTIN(id_, text_, fn_, flags_, synopsis_, help_)                                                             \
    static const struct builtin builtin_def_##id_ = {text_, fn_, flags_, synopsis_, help_};                            \
    static const struct builtin *const builtin_ptr_##id_ __attribute__((used, section("shell_builtins"))) =            \
        &builtin_def_##id_

/* The enabled builtin called @name, or NULL. */
const struct builtin *builtin_find(struct shell *sh, struct str name);
/* All builtins sorted by name. */
const struct builtin *const *builtin_all(size_t *ret_n);
#define BUILTIN_MAX 128 /* entries of builtin_all(); a bit each in sh->builtins_off */
/* The builtin called @name, enabled or not, or NULL. */
const struct builtin *builtin_find_any(struct str name);
/* Switches a builtin on or off in this shell, and tells shell_lookup_changed(). */
void builtin_enable(struct shell *sh, const struct builtin *b, bool on);
/* "NAME: too many arguments" of shift, break, exit …: abandons the line, and all of a -c text, as bash does; returns
 * 1. */
int builtin_too_many(struct shell *sh, const struct builtin_args *a);
/* "NAME: SYNOPSIS" and the help text on standard output, as --help gives it; returns 2. */
int builtin_help(struct shell *sh, const struct builtin *b);
/* Whether @s, an argument of @a, stands in the script as NAME[…]. */
bool builtin_written(const struct builtin_args *a, struct str s);
/* Prints to the builtin's standard output (sh->out, flushed by the executor when the builtin ends; "write error" and
 * status 1 on failure). */
void sh_puts(struct shell *sh, const char *s);
/* See sh_puts(). */
void sh_write(struct shell *sh, struct str s);
/* See sh_puts(). */
void sh_printf(struct shell *sh, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Writes sh->out to descriptor 1: 0 or a negative errno. */
int sh_flush(struct shell *sh);
/* Writes the whole lines in sh->out before a message goes out, as bash's line-buffered standard output does; a failure
 * is told by the next sh_flush(). */
void sh_flush_lines(struct shell *sh);
/* "NAME: usage: SYNOPSIS": prints and returns 2. */
int builtin_usage(struct shell *sh, const struct builtin *b);

struct builtin_opt { /* bash's internal_getopt */
    int i;           /* next argument */
    int pos;
    int opt; /* the option character found */
    struct str arg;
};
/* Next option of "ab:c" in @a: the character, -1 at the end (o->i is the first operand), '?' after a message ("-x:
 * invalid option" and the usage line). A '+' first in @opts allows +x options (returned with bit 0x100). */
int builtin_getopt(struct shell *sh, struct builtin_args *a, const char *opts, struct builtin_opt *o);
