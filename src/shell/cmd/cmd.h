/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * cmd - what a C command is: one file in this folder with a CMD() entry, found through a linker section.
 *
 * A command's main gets a struct cmd and returns its exit status. It reads and writes through its process
 * (proc/proc.h), allocates from c->arena (freed when it ends) or from mem_try() with MEM_AUTO, and calls cmd_poll() in
 * every loop a guest can make long. When a call gives -EINTR, or cmd_poll() is non-zero, it frees what it holds and
 * returns; what it returns then does not matter.
 *
 * House rule: an option that is not implemented exactly is refused by name, before anything is read or written; it is
 * never ignored or approximated. The userland's tool of the same name then runs in the command's place, silently; where
 * there is none, the refusal is printed and the status is 2. In an option table such options are listed with
 * CMD_REFUSED, so that they are told apart from options that do not exist in the real tool, which give the real tool's
 * own message and status.
 *
 * Output is collected in c->out and written when 64 KiB are there, when the command ends, and, on a terminal, at each
 * newline. A message goes straight to standard error, after what is pending in c->out (as error(3) does), so that
 * `2>&1` keeps the order.
 */

#include <fcntl.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "proc/proc.h"

struct cmd;
struct spawn;

struct cmd_def {
    const char *name;
    int (*main)(struct cmd *c);
    const char *usage;    /* "Usage: cut OPTION... [FILE]...": the first line(s) of --help */
    const char *help;     /* the options it has, one a line; what --help prints after usage */
    uint8_t usage_status; /* exit status of the real tool for a wrong option: 1 or 2 */
};

struct cmd {
    struct proc *p;
    const struct cmd_def *def;
    const char *name; /* for messages: argv[0] as given, as GNU tools print it */
    int argc;
    char **argv; /* may be permuted by cmd_getopt() */
    struct arena *arena;
    struct arena *keep; /* for what is found once and kept (users, zones): c->arena may be reset meanwhile */
    struct buf out;     /* pending standard output: use cmd_write() and its kin, not buf_*() */
    bool out_tty;
    int out_err;                  /* sticky negative errno of writing standard output */
    bool out_reported;            /* the command itself told of out_err */
    bool utf8, utf8_known;        /* see cmd_utf8() */
    const struct exec_image *img; /* for the environment */
    /* option parser state */
    int optind; /* first operand after cmd_getopt() ended */
    const char *optarg;
    const char *opt_name; /* of the option last returned: "-x" or "--long" (in full) */
    char opt_short[3];
    int opt_pos;      /* inside a cluster of short options; 0: at a word's start */
    int opt_moved;    /* operands found before options, moved to argv[1…] */
    bool opt_no_try;  /* cmd_getopt() leaves "Try …" to the command */
    bool opt_by_tool; /* the userland's tool, if there is one, tells what is wrong with options */
    uint8_t opt_fail; /* enum cmd_opt_fail of cmd_opt.c: why cmd_getopt() gave -2 */
    bool written;     /* something went to a descriptor: too late for handing over */
    bool ask_table;   /* cmd_getopt() only notes its table: cmd_table() */
    bool hand_over;   /* the userland's tool takes over, because of: */
    char reason[160];
    const struct cmd_opt *table;
    /* made on first use, in keep */
    struct cmd_users *users;
    struct cmd_zone *zone;
};

/* Registers a command: CMD(cut, cmd_cut, 1, "Usage: …\n", "  -b, --bytes=LIST …\n"). */
#define CMD(name_, fn_, status_, usage_, help_) CMD_NAMED(#name_, name_, fn_, status_, usage_, help_)
/* The same for a name that is not an identifier ("["). */
#define CMD_NAMED(text_, id_, fn_, status_, usage_, help_)                                                             \
    static const struct cmd_def cmd_def_##id_ = {text_, fn_, usage_, help_, status_};                                  \
    static const struct cmd_def *const cmd_ptr_##id_ __attribute__((used, section("shell_cmds"))) = &cmd_def_##id_

/* The command called @name, or NULL. */
const struct cmd_def *cmd_find(struct str name);

/* All commands, sorted by name. */
const struct cmd_def *const *cmd_all(size_t *ret_n);

/* Runs @def in @p: sets up a struct cmd, handles --help and --version, flushes at the end ("write error: …" and status
 * 1 when that fails, silently when the process must end). What is refused goes to the userland's tool of the same name,
 * if there is one, and so do --help and --version. 0 and *ret, or a negative errno when that tool never began. */
int cmd_run(const struct cmd_def *def, struct proc *p, const struct exec_image *img, struct outcome *ret);

/* ---- options ---- */

enum cmd_arg { CMD_NO_ARG, CMD_ARG, CMD_OPT_ARG };
#define CMD_REFUSED 0x100 /* or-ed into arg: exists in the real tool, not implemented here */

struct cmd_opt {
    int code;          /* what cmd_getopt() returns; for a short option its character */
    const char *lname; /* long name without "--", or NULL */
    int arg;           /* enum cmd_arg, or-ed with CMD_REFUSED */
};

/*
 * As getopt_long(3) of glibc: operands are permuted to the end (unless @posix_order: stop at the first operand), long
 * names may be abbreviated when unambiguous, "--" ends. @opts ends with code 0. A code below 256 that is a graphic
 * character is also a short option. Returns the code, -1 at the end, or -2 after an error: the message was printed as
 * the real tool prints it ("cut: invalid option -- 'x'", "Try 'cut --help' for more information.") or, for a refused
 * one, "cut: option '-x' is not implemented here"; the caller returns cmd_usage_status(c). --help and
 * --version are known to every table: they print and give -2 too, with status 0. The order of @opts is the order in
 * which an ambiguous abbreviation lists its possibilities.
 */
int cmd_getopt(struct cmd *c, const struct cmd_opt *opts, bool posix_order);

/* The table that @def gives to cmd_getopt(), or NULL: it reads its words itself, as cmd_table.c lists. A command calls
 * cmd_getopt() before anything that needs a process. */
const struct cmd_opt *cmd_table(const struct cmd_def *def);

#define CMD_ONE_DASH 0x200 /* or-ed into arg by cmd_options(): a word behind one dash ("-name") */

/* Calls @fn for each option of @def: those of its table, else those that its help names. What it gets is borrowed for
 * the call. */
void cmd_options(const struct cmd_def *def, void (*fn)(void *arg, const struct cmd_opt *o), void *arg);

/* Status after cmd_getopt() gave -2: 0 for --help and --version, 2 for an option not implemented here, else the tool's
 * own. */
int cmd_usage_status(const struct cmd *c);

/* For commands whose real tool looks at these only when they stand alone (true, false): when argv is just --help or
 * --version, prints and returns true. */
bool cmd_help_alone(struct cmd *c);

/* Index of @arg (or an unambiguous abbreviation of one) in @names (NULL-terminated); aliases have equal @vals. Returns
 * vals[i], or -2 after printing "NAME: invalid argument 'x' for '--opt'" with the list of valid ones and "Try …", as
 * the real tools do. */
int cmd_choice(struct cmd *c, const char *opt, const char *arg, const char *const *names, const int *vals);

/* "NAME: missing operand", or "NAME: extra operand 'x'" as the real tools print them; returns the usage status. */
int cmd_missing(struct cmd *c);
/* See cmd_missing(). */
int cmd_extra(struct cmd *c, const char *operand);

/* Prints "NAME: TEXT" and "Try 'NAME --help' for more information."; returns the tool's usage status. */
int cmd_usage_error(struct cmd *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Whether the userland's tool of this name could still run in the command's place. */
bool cmd_can_hand_over(const struct cmd *c);

/* Refuses what the command cannot do exactly ("sort: KEY type 'g' is not implemented here"), before it has read or
 * written anything: the tool takes over, or it is printed. Returns 2. */
int cmd_refuse(struct cmd *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- output and messages ---- */

/* Appends to standard output. Errors stick in c->out_err; returns it, so that long loops can stop early. May block: @p
 * must be the command's own memory, not bytes borrowed from proc_peek() or vfs_peek(). */
int cmd_write(struct cmd *c, const void *p, size_t n);
/* See cmd_write(). */
int cmd_puts(struct cmd *c, const char *s);
/* See cmd_write(). */
int cmd_putc(struct cmd *c, char ch);
/* See cmd_write(). */
int cmd_printf(struct cmd *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Writes what is pending: 0 or the sticky error. */
int cmd_flush(struct cmd *c);

/* "NAME: text\n" on standard error. */
void cmd_err(struct cmd *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "NAME: text: STRERROR\n". */
void cmd_errno(struct cmd *c, int err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* A name quoted as GNU tools' quotef and (when @always) quoteaf do: a plain name as it is, else 'a b', 'it'\''s' and
 * 'a'$'\n''b'. In c->arena. */
const char *cmd_quote(struct cmd *c, const char *s, bool always);
/* As GNU tools' quote(): in ‘typographic’ quotes when the locale is UTF-8, else in 'plain' ones, with C escapes. In
 * c->arena. */
const char *cmd_quote_loc(struct cmd *c, const char *s);
/* Text as it is on standard error, after nothing and with nothing added. */
void cmd_err_raw(struct cmd *c, const char *text);
/* "Try 'NAME --help' for more information." on standard error. */
void cmd_try_help(struct cmd *c);
/* "memory exhausted" and the tool's usage status. */
int cmd_no_memory(struct cmd *c);

/* ---- input ---- */

/* Non-zero when the command must end. Call in every long loop. */
static inline int cmd_poll(struct cmd *c)
{
    return proc_poll(c->p);
}

/* Opens an operand for reading: "-" is standard input (descriptor 0, which cmd_close_input leaves open). Descriptor or
 * -errno, nothing printed. */
int cmd_open_input(struct cmd *c, const char *name);
/* open(2) as an operand: never descriptor 0-2, even when those are closed. Descriptor or -errno. */
int cmd_open_safe(struct cmd *c, const char *name, int oflags, uint32_t mode);
/* Closes unless it is 0. */
void cmd_close_input(struct cmd *c, int fd);

/*
 * Lines (or records) of a descriptor. They are read in blocks of 64 KiB into memory of the reader's own, so a line
 * stays valid over writes and other descriptors' reads. More may have been read than the lines that were taken.
 */
struct cmd_lines {
    struct cmd *c;
    int fd;
    char delim; /* '\n' or 0 */
    bool eof;
    char *buf; /* cap bytes; what lies in [pos, end) is read and not yet taken */
    size_t pos, end, cap;
};

/* Starts reading lines from @fd. Allocates nothing. */
void cmd_lines_init(struct cmd_lines *l, struct cmd *c, int fd, char delim);
/* The next line, its delimiter left out; *ret_delim (may be NULL) tells whether it had one. 1, 0 at the end, or -errno
 * (-EINTR: end; -ENOMEM: a line too long). Borrowed until the next call on @l. */
int cmd_lines_next(struct cmd_lines *l, struct str *ret, bool *ret_delim);
/* Frees the buffer. Accepts a zeroed struct. The descriptor stays where the last block ended. */
void cmd_lines_done(struct cmd_lines *l);

/* A block of CMD_BLOCK bytes from a small per-thread store, for input buffers of a command's life; never NULL. */
#define CMD_BLOCK 65536u
char *cmd_block_get(void);
/* Gives a block back; accepts NULL. */
void cmd_block_put(char *block);

/* The whole rest of a descriptor into @out (limit: its own): 0 or -errno. */
int cmd_read_all(struct cmd *c, int fd, struct buf *out);

/* The tree, and who asks: what vfs_* calls want. */
static inline struct vfs *cmd_vfs(const struct cmd *c)
{
    return proc_set_vfs(c->p->ps);
}
/* See cmd_vfs(). */
static inline struct vfs_ctx cmd_ctx(const struct cmd *c)
{
    return proc_ctx(c->p);
}

/* Flushes standard output, prints @fmt on standard error and reads a line of standard input: whether it says yes
 * (begins with y or Y). */
bool cmd_ask(struct cmd *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- environment, children, users, time ---- */

/* Value of an environment variable, or NULL. */
const char *cmd_getenv(struct cmd *c, const char *name);
/* The whole environment. */
char **cmd_environ(struct cmd *c);

/* Runs a program as a child and waits (env, xargs, find -exec): found in PATH as execvp(3) does. @env NULL is the
 * command's own. Returns its outcome's status as a shell gives it, *ret (may be NULL) the outcome itself; or a negative
 * errno when it could not be run (-ENOENT, -EACCES, …). Flushes c->out first. */
int cmd_spawn(struct cmd *c, int argc, char **argv, char **env, struct outcome *ret);
/* Becomes a program, as execvp(3): runs it in the command's own process. 0 and its outcome, or a negative errno when it
 * never began. Flushes c->out first. */
int cmd_exec(struct cmd *c, int argc, char **argv, char **env, struct outcome *ret);

/* A child that runs beside the command. */
struct cmd_child {
    int pid; /* 0: none */
    int err; /* after it was waited for: negative errno when it could not be run */
    struct spawn *spawn;
};
/* Starts a program as cmd_spawn(), without waiting. 0 and *ret, or a negative errno when there is no child. */
int cmd_spawn_start(struct cmd *c, int argc, char **argv, char **env, struct cmd_child *ret);
/* Waits for the first of the children in @v to end: 0, its index and outcome, and its pid is then 0. -EINTR or -ECHILD:
 * all of @v is given up. */
int cmd_spawn_wait(struct cmd *c, struct cmd_child *v, size_t n, size_t *ret_i, struct outcome *ret);
/* Waits for @child, no longer than to @deadline (proc_now(); INT64_MAX: none). 0 and its outcome; -ETIMEDOUT; -EINTR
 * when a caught signal is pending. SIGCHLD is caught from then on, and taken here. -EINTR when the command must end,
 * and -ECHILD: the child is given up. */
int cmd_spawn_wait_until(struct cmd *c, struct cmd_child *child, int64_t deadline, struct outcome *ret);

/* Name of a uid or gid from /etc/passwd and /etc/group of the tree (kept in c->keep), or NULL; and back (-ENOENT). */
const char *cmd_user_name(struct cmd *c, uint32_t uid);
/* See cmd_user_name(). */
const char *cmd_group_name(struct cmd *c, uint32_t gid);
/* See cmd_user_name(). */
int cmd_user_id(struct cmd *c, const char *name, uint32_t *ret_uid, uint32_t *ret_gid);
/* See cmd_user_name(). */
int cmd_group_id(struct cmd *c, const char *name, uint32_t *ret);

/* Fills @p with @n letters and digits, each as likely as the others: for names of temporary files. */
void cmd_random_letters(struct cmd *c, char *p, size_t n);

/* Whether names and patterns are UTF-8 (LC_ALL, LC_CTYPE, LANG). */
bool cmd_utf8(struct cmd *c);

/* The session's time zone is TZ or UTC (POSIX TZ strings; zoneinfo names when /usr/share/zoneinfo is in the tree):
 * broken-down local time, offset in seconds and abbreviation. */
struct cmd_time {
    int64_t year;
    int mon, mday, hour, min, sec, wday, yday; /* mon 0-11, as struct tm */
    int32_t gmtoff;
    bool dst;         /* out only */
    uint8_t want_dst; /* for cmd_mktime(): 0 whichever holds, 1 standard time, 2 daylight saving time, as tm_isdst -1,
                         0, 1 */
    const char *zone; /* in c->keep */
};
/* See struct cmd_time. */
void cmd_localtime(struct cmd *c, int64_t unix_s, bool utc, struct cmd_time *ret);
/* Inverse, normalising as mktime(3): -EOVERFLOW. */
int cmd_mktime(struct cmd *c, struct cmd_time *t, bool utc, int64_t *ret);
/* strftime(3) of the C locale with GNU's flags (%-d %_H %^a %N %:z %s …), appended to @out. */
void cmd_strftime(struct cmd *c, struct buf *out, const char *fmt, const struct cmd_time *t, int64_t unix_s,
                  uint32_t ns);

/* Permission text "-rw-r--r--" of a mode into 11 bytes. */
void cmd_mode_text(uint32_t mode, char out[11]);
/* A chmod(1) mode ("755", "u+x,go=r") applied to @old: 0 or -EINVAL. @umask applies to clauses without who. */
int cmd_mode_parse(const char *text, uint32_t old, bool is_dir, uint32_t umask, uint32_t *ret);
