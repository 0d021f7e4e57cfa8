/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * proc - the processes of one session: what a kernel's process layer is to a machine.
 *
 * A struct proc_set holds the processes of a session, its tree, its limits and usage. A struct proc has a pid, a
 * parent, a process group, credentials, umask, cwd, a descriptor table, signal state, and an outcome once it ended. No
 * host process or thread stands behind it: its code runs on a coroutine (a small stack of its own) of the worker's
 * thread.
 *
 * Two ways to make one:
 *   proc_fork()         a child with a coroutine of its own, runnable beside its parent (pipeline stages, jobs,
 *                       subshells that must run beside something, and whatever may be stopped while its parent goes
 *                       on, as the foreground job of an interactive shell);
 *   proc_fork_inline()  a child that runs on the caller's coroutine until proc_end_inline(): the parent waits for it
 *                       anyway, so no stack and no switch is needed. So a foreground command costs far less than a
 *                       microsecond.
 *
 * Both copy descriptors, cwd, umask, credentials and ignored signals, as fork(2); proc_exec() then runs a program in
 * the child, as execve(2), but returns with its outcome.
 *
 * Scheduling is cooperative and deterministic: one process runs until it blocks (pipe empty or full, wait, sleep,
 * stream) or has used up its turn, which is counted in proc_poll() calls and pipe transfers, never in time. Runnable
 * processes go first in, first out. So the same input gives the same interleaving.
 *
 *          ┌────────── proc_wake ───────────┐
 *   fork → RUNNABLE → running → BLOCKED ────┘        running → ZOMBIE → (waited for) gone
 *                └──── turn over ───┘                STOPPED ↔ RUNNABLE by SIGSTOP/SIGTSTP and SIGCONT
 *
 * Signals have Linux numbers. A process may ignore or catch (proc_sigaction(); the shell's traps) a signal; else the
 * default of signal(7) applies. "Must end" (a fatal signal or a limit) is a state, not an unwinding by force: from
 * then on each blocking call returns -EINTR, proc_poll() is negative, and the code returns from where it is. A caught
 * signal makes blocking calls return -EINTR once and is fetched with proc_take_signal().
 *
 * Limits end the whole set's current command: proc_kill_all() with the reason; each process must end, and the outcome
 * of the first process (the command line's shell) is OUTCOME_KILLED with that reason.
 *
 * Invariants (proc_check() tests 1-4):
 *   1. Every process but the first has a living parent or init (pid 1, which reaps).
 *   2. A descriptor refers to a proc_file whose count is the number of descriptors and temporary holders of it.
 *   3. A BLOCKED process is on a wait queue or waits for its inline child; a RUNNABLE one is in the run queue once.
 *   4. The number of live processes is counted against limits.processes.
 *   5. No call here allocates in proportion to guest data, but for pipe buffers (LIMIT_PIPE each), text files and
 *      captures, which are charged to the set's account.
 *
 * What a process needs must not depend on its parent's being alive: any process may be ended at any time while its
 * children go on, and its code then returns (or, when an inline child goes on on its coroutine, is a zombie first and
 * returns later).
 *
 * Threads: a set belongs to one thread at a time. On other machines than x86-64, where compilers may keep the address
 * of a thread's variable over a call, a set with living processes stays on its thread.
 */

#include "base/mem.h"
#include "base/str.h"
#include "types/limits.h"
#include "types/outcome.h"
#include "vfs/vfs.h"

#include <signal.h>
#include <sys/types.h>

struct proc;
struct proc_set;
struct proc_file;
struct engine_ops;
struct exec_image;

/* ---- descriptors ---- */

#define PROC_FDS_INLINE 12

struct proc_fd {
    struct proc_file *file; /* NULL: closed */
    bool cloexec;
};

struct proc_fds {
    struct proc_fd *v; /* points to inline_v until it must grow */
    uint32_t n;        /* slots in use: highest descriptor ever open + 1 */
    struct proc_fd inline_v[PROC_FDS_INLINE];
};

/* ---- wait queues ---- */

struct proc_waiter {
    struct proc *p;
    struct proc_waiter *next, *prev;
    struct proc_waitq *q; /* NULL when not queued */
};

struct proc_waitq {
    struct proc_waiter *head, *tail;
};

/* ---- a process ---- */

enum proc_state { PROC_RUNNABLE, PROC_RUNNING, PROC_BLOCKED, PROC_STOPPED, PROC_ZOMBIE };

struct proc {
    struct proc_set *ps;
    int pid, ppid, pgid;
    enum proc_state state;
    bool inline_child;  /* runs on its parent's coroutine */
    bool must_end;      /* a fatal signal or a limit: unwind */
    uint8_t end_signal; /* the signal that ends it */
    enum outcome_reason end_reason;
    struct vfs_cred cred;
    uint32_t umask;
    struct vfs_handle *cwd; /* held directory */
    struct proc_fds fds;
    uint32_t fds_soft, fds_hard; /* RLIMIT_NOFILE: highest descriptor + 1 that it may get, and may let itself get */
    /* Signal sets: bit n-1 is signal n. */
    uint64_t sig_pending, sig_ignored, sig_caught, sig_blocked;
    struct outcome outcome;          /* valid when ZOMBIE */
    int64_t start_ns;                /* proc_now() */
    int64_t cpu_ns;                  /* used, children apart; brought up to date at switches: see proc_times() */
    int64_t child_cpu_ns;            /* of children that were waited for */
    const char *comm;                /* name for /proc and ps: static text, or proc_exec()'s own copy */
    char **argv;                     /* for /proc/PID/cmdline, borrowed while the process runs; may be NULL */
    const struct engine_ops *engine; /* what runs it, or NULL (a shell's own code) */
    void *engine_priv;
    struct proc *parent, *children, *sibling; /* family */
    struct proc_priv *priv;                   /* coroutine, queues: proc_int.h */
    void *user;                               /* the shell's struct, for its own use */
};

/* ---- the set ---- */

struct proc_usage {
    int64_t cpu_ns;
    uint64_t output_bytes;
    uint64_t memory_peak;
    uint64_t processes; /* started */
};

/* What a session gives its processes. All of it is borrowed and outlives the set. */
struct proc_host {
    void *arg;
    /* Called between turns, at most about once a millisecond while processes run: look for messages without blocking.
     * May feed, signal and wake, not run or free the set. When it is called does not change who runs next. May be
     * NULL. */
    void (*attend)(void *arg);
    int64_t attend_ns; /* nanoseconds between calls of it; 0: a millisecond */
    /* Random bytes; NULL: getrandom. */
    void (*entropy)(void *arg, void *p, size_t n);
    /* A program that is no C command begins: what runs, and why not the C command of that name (empty: there is none),
     * or that it is a file of the session's own. May be NULL. */
    void (*decided)(void *arg, struct str command, const char *engine, struct str reason);
    /* Why the program @name must not run, as a sentence that holds until the next call; NULL: it may. @name is a
     * command's or tool's own, however its file is called, or that of a file of the session's own. NULL: all may. */
    const char *(*refuses)(void *arg, struct str name);
};

/* A set on the tree @v (borrowed; the caller frees it after the set) with the memory account of its own. NULL when
 * memory is short. */
struct proc_set *proc_set_new(struct vfs *v, const struct limits *limits, const struct proc_host *host);

/* Ends and frees every process. Accepts NULL. */
void proc_set_free(struct proc_set *ps);
/* Makes it what proc_set_new() gives, in the same memory: for who needs a new set for each command. Cannot fail. */
void proc_set_renew(struct proc_set *ps, struct vfs *v, const struct limits *limits, const struct proc_host *host);

/* The tree, the account, limits and usage of a set. */
struct vfs *proc_set_vfs(struct proc_set *ps);
/* See proc_set_vfs(). */
struct mem_account *proc_set_mem(struct proc_set *ps);
/* Bytes charged to it now, as a process may know them: a tape repeats them. */
uint64_t proc_mem_used(struct proc_set *ps);
/* See proc_set_vfs(); may be changed between commands. */
struct limits *proc_set_limits(struct proc_set *ps);
/* See proc_set_vfs(). */
void proc_set_usage(struct proc_set *ps, struct proc_usage *ret);

/* Replaces the tree (restore); no process may be alive. Call proc_provide() after. */
void proc_set_use_vfs(struct proc_set *ps, struct vfs *v);

/* Registers an engine; @engine is its own pointer. At most 8. */
int proc_add_engine(struct proc_set *ps, const struct engine_ops *ops, void *engine);
/* The object @ops was registered with, or NULL. */
void *proc_engine(const struct proc_set *ps, const struct engine_ops *ops);

/* The first process of a command line: pgid = its pid, parent init. Runs @main(p, arg) on a coroutine when scheduled;
 * what main returns is its outcome. Descriptors 0-2 are given (each is one reference, taken also on failure; NULL:
 * closed). It stays a zombie until proc_forget() or the next proc_begin(). -EAGAIN, -ENOMEM, or an error of opening
 * @cwd. */
int proc_start(struct proc_set *ps, const struct vfs_cred *cred, struct str cwd, uint32_t umask, struct proc_file *in,
               struct proc_file *out, struct proc_file *errf, struct outcome (*main)(struct proc *p, void *arg),
               void *arg, struct proc **ret);

/* Forgets an ended process of proc_start(); p->outcome is valid until then. */
void proc_forget(struct proc_set *ps, struct proc *p);

/* Begins a command line: zeroes usage, clears hit limits, arms cpu and wall limits from the set's limits. */
void proc_begin(struct proc_set *ps);

/* Runs what is runnable. Returns when nothing is (or a tape runs and output must wait), or when @until (a process, may
 * be NULL) is a zombie: *ret_wake is the time of the next timer, or INT64_MAX. 1 when @until has ended, else 0. The
 * caller then waits for host events. */
int proc_run(struct proc_set *ps, struct proc *until, int64_t *ret_wake);

/* Number of live processes (zombies are not). */
uint32_t proc_count(const struct proc_set *ps);

/* Ends every process of the set with @reason (SIGKILL-like, cannot be caught). */
void proc_kill_all(struct proc_set *ps, enum outcome_reason reason);

/* Tests invariants 1-4: 0 or -EUCLEAN. */
int proc_check(struct proc_set *ps, const char **ret_what);

/* ---- life of a process ---- */

/* A child as fork(2) that runs @main on its own coroutine (stack: LIMIT_STACK, or LIMIT_SHELL_STACK when @big). It is
 * runnable at once, after the caller. -EAGAIN at the process limit (which also counts as the limit being hit when the
 * caller keeps on: see limits.processes in docs/limits.md), -ENOMEM. */
int proc_fork(struct proc *parent, bool big, struct outcome (*main)(struct proc *p, void *arg), void *arg,
              struct proc **ret);

/* A child that runs on the caller's coroutine: the caller acts as the child until proc_end_inline(). */
int proc_fork_inline(struct proc *parent, struct proc **ret);

/* Ends an inline child with @o (replaced by KILLED when it must_end) and frees it; yields the final outcome. */
struct outcome proc_end_inline(struct proc *child, struct outcome o);

/* Runs a program in @p, as execve(2): close-on-exec descriptors close, caught signals become default, "#!" is followed
 * (depth 4, ELOOP), an engine is found. @path is not searched in PATH. Returns 0 and its outcome; -ENOENT, -EACCES (no
 * permission or not a regular file), -EPERM (the host does not permit the program), -ENOEXEC (no engine claims it),
 * -E2BIG, -ELOOP if it never began. */
int proc_exec(struct proc *p, struct str path, int argc, char **argv, char **(*env)(void *), void *env_arg,
              struct outcome *ret);

/* Why the host did not permit the program that last got EPERM so; "" before the first. Borrowed until the next. */
const char *proc_refusal(const struct proc_set *ps);

/* Whether an engine runs the userland's tool @name. */
bool proc_has_tool(const struct proc_set *ps, struct str name);

/* Called in an engine's run() that finds it cannot do what @img asks, for @reason, and has neither read nor written
 * anything: the userland's tool @name takes the program over. Returns as run() does; -ENOENT: there is no such tool. */
int proc_hand_over(struct proc *p, const struct exec_image *img, struct str name, struct str reason,
                   struct outcome *ret);

/* Has @fn called at the point of no return of @p's next proc_exec(), once, or never when it does not come to that. It
 * may wake and note, not block. NULL: no more. */
void proc_on_exec(struct proc *p, void (*fn)(void *arg), void *arg);

/* What proc_exec() would do with @path: the engine that claims it (NULL and -ENOEXEC if none), for type -a, caches. */
int proc_exec_probe(struct proc *p, struct str path, const struct engine_ops **ret_ops, uint64_t *ret_ino);

/* Waits for a child (pid > 0), any child (-1), or a group (< -1). flags: WNOHANG, WUNTRACED, WCONTINUED of
 * <sys/wait.h>. Pid of the child and its outcome (an outcome of a stopped child has *ret_stopped set to the signal); 0
 * with WNOHANG; -ECHILD; -EINTR. */
int proc_wait(struct proc *p, int pid, int flags, struct outcome *ret, int *ret_stopped);

/* The child @pid, or NULL. */
struct proc *proc_child(struct proc *p, int pid);
/* Any live process of the set, or NULL. */
struct proc *proc_find(struct proc_set *ps, int pid);

/* kill(2): pid > 0, 0 (own group), -1 (all one may), < -1 (group). sig 0 only checks. ESRCH EPERM EINVAL. */
int proc_kill(struct proc *p, int pid, int sig);
/* The same from outside: to every process of the group, without a permission check. */
void proc_signal_group(struct proc_set *ps, int pgid, int sig);

/* setpgid(2) and the foreground group of the session's terminal. */
int proc_setpgid(struct proc *p, int pid, int pgid);
/* See proc_setpgid(). */
void proc_set_foreground(struct proc_set *ps, int pgid);
/* See proc_setpgid(). */
int proc_foreground(const struct proc_set *ps);

/* ---- polling, blocking, signals ---- */

/* Bytes of stack left to the caller, who acts as @p. Deep recursion that a guest chooses the depth of must look at it.
 */
size_t proc_stack_left(const struct proc *p);

/* times(2): CPU nanoseconds of @p up to now, and of its children waited for. Inline children's time goes to whoever
 * acts when the clock is read. */
void proc_times(struct proc *p, int64_t *ret_self, int64_t *ret_children);

/* The slow part of proc_poll(). */
int proc_poll_slow(struct proc *p);

/* Turn budget of the running process; only proc_poll() touches it. */
extern __thread int32_t proc_budget;

/* Cheap; call at each loop turn of anything a guest can make long. 0, or -EINTR when @p must end. May switch to other
 * processes. */
static inline int proc_poll(struct proc *p)
{
    if (__builtin_expect(--proc_budget > 0 && !p->must_end, 1))
        return 0;
    return proc_poll_slow(p);
}

/*
 * For an engine whose code runs where no switch may happen (WASM: the guest's frames are on the stack), and which can
 * have it stop there and go on later.
 *
 * proc_step() is called after each effect that others could see (a host call), and before the first: it counts as a
 * poll, and on a tape as a place. When it is true, the engine calls proc_step_slow() on the process's coroutine before
 * its code goes on: 0, or -EINTR when @p must end.
 */
bool proc_step(struct proc *p);
/* See proc_step(). Switches to others when @p's turn is over. */
int proc_step_slow(struct proc *p);
/* Called on the coroutine while such code computes, at times that only the clock knows: looks for the host's messages
 * and limits, and lets others go on whose timers are due or who have waited for long. 0, or -EINTR when @p must end. */
int proc_attend(struct proc *p);

/* Whether proc_poll() would return without switching now. */
static inline bool proc_has_turn(const struct proc *p)
{
    return proc_budget > 1 || p->must_end;
}

/* Lets other runnable processes have a turn. */
void proc_yield(struct proc *p);

/* Blocks until the queue is woken, @deadline (proc_now(); INT64_MAX none) passes (-ETIMEDOUT), or a signal comes
 * (-EINTR). Spurious wake-ups happen: callers test their condition in a loop. */
int proc_block(struct proc *p, struct proc_waitq *q, int64_t deadline);
/* Wakes all waiters. */
void proc_wake(struct proc_waitq *q);

/*
 * Waits for something that the host does for @p and that is no event of the session, until @ready, which is asked
 * first, and again after each proc_sink_ready(). While a tape runs this holds the whole set, as a full sink does: when
 * it comes must not decide what others do meanwhile. It counts as one place on the tape however it goes. A caught
 * signal does not end it: 0, or -EINTR when @p must end.
 */
int proc_await(struct proc *p, bool (*ready)(void *arg), void *arg);

/* Sleeps: 0, or -EINTR. */
int proc_sleep(struct proc *p, int64_t deadline);

/* Sets what @sig does in @p. */
enum proc_disposition { PROC_SIG_DEFAULT, PROC_SIG_IGNORE, PROC_SIG_CATCH };
/* EINVAL for SIGKILL, SIGSTOP and unknown numbers. */
int proc_sigaction(struct proc *p, int sig, enum proc_disposition d);

/* A caught signal that is pending: its number, which is then no longer pending; 0 if none. */
int proc_take_signal(struct proc *p);
/* Whether proc_take_signal() would give one; cheap. */
static inline bool proc_signal_pending(const struct proc *p)
{
    return (p->sig_pending & p->sig_caught & ~p->sig_blocked) != 0;
}

/* Makes @p end by @sig as if it were sent and not caught (what a command does on SIGPIPE). */
void proc_die(struct proc *p, int sig);

/* ---- files ---- */

/* The vfs context of a process (cwd, credentials, umask). */
struct vfs_ctx proc_ctx(const struct proc *p);

/* open(2) relative to the cwd; the lowest descriptor. /dev/stdin, /dev/fd/N, /proc/self/fd/N dup; FIFOs block as
 * fifo(7); devices work. */
int proc_open(struct proc *p, struct str path, int oflags, uint32_t mode);

/* The same relative to the directory @at (0: the cwd), for the lowest descriptor >= @min. Unless @may_wait, opening a
 * FIFO that might have to wait is -EAGAIN and nothing is changed. */
int proc_open_at(struct proc *p, uint64_t at, struct str path, int oflags, uint32_t mode, int min, bool may_wait);

/* Lowest free descriptor >= @min for @file (takes the reference on success): EMFILE. */
int proc_install(struct proc *p, struct proc_file *file, int min, bool cloexec);

/* pipe2(2): ret[0] reads, ret[1] writes. */
int proc_pipe(struct proc *p, int ret[2], bool cloexec);
/* The same with descriptors >= @min. */
int proc_pipe_from(struct proc *p, int min, int ret[2], bool cloexec);

/* read(2), write(2). Blocking (but O_NONBLOCK: EAGAIN). Both may switch to other processes. A read from a pipe, FIFO,
 * terminal or host stream gives what is there, at least one byte, and 0 only at the end; from a file, all that was
 * asked for up to its end. A write is whole unless it fails in the middle or a signal comes: then it is short. write:
 * EPIPE (SIGPIPE is raised first unless ignored, so with the default the process must_end), EDQUOT, EFBIG. Both: EINTR,
 * at once when @p must end. */
ssize_t proc_read(struct proc *p, int fd, void *buf, size_t n);
/* See proc_read(). */
ssize_t proc_write(struct proc *p, int fd, const void *buf, size_t n);

/* pread(2), pwrite(2): as the two above, from and to offset @off, which does not move the descriptor's. ESPIPE. */
ssize_t proc_pread(struct proc *p, int fd, void *buf, size_t n, uint64_t off);
/* See proc_pread(). */
ssize_t proc_pwrite(struct proc *p, int fd, const void *buf, size_t n, uint64_t off);

/* Whether proc_read() or proc_write() of @n bytes would return, be it with an error, without waiting and without
 * switching. Never so for output to the host. */
bool proc_ready(struct proc *p, int fd, bool write, size_t n);

/* Bytes that can be read without waiting, as ioctl(2) FIONREAD; 0 when none or not known. */
uint64_t proc_available(const struct proc *p, int fd);

/* Borrows input without copying: blocks until there is at least one byte; *ret_n is 0 at the end of input. The bytes
 * stay unread until proc_consume() takes some of them, and are borrowed until the next call on any descriptor or tree
 * or any block. */
int proc_peek(struct proc *p, int fd, const void **ret_p, size_t *ret_n);
/* Takes @n of the peeked bytes. */
void proc_consume(struct proc *p, int fd, size_t n);

/* lseek(2): ESPIPE for pipes and streams. */
int64_t proc_lseek(struct proc *p, int fd, int64_t off, int whence);

/* dup2(2) (old == new is fine), fcntl F_DUPFD at >= @min, close(2). EBADF EMFILE. */
int proc_dup2(struct proc *p, int old_fd, int new_fd, bool cloexec);
/* See proc_dup2(). */
int proc_dup(struct proc *p, int fd, int min, bool cloexec);
/* See proc_dup2(). */
int proc_close(struct proc *p, int fd);

/* The open file behind a descriptor, borrowed; NULL when closed. */
struct proc_file *proc_get(const struct proc *p, int fd);

/* fstat(2), isatty(3), O_* access mode and status flags, the vfs handle behind it (NULL for pipes and streams). */
int proc_fstat(struct proc *p, int fd, struct vfs_stat *ret);
/* See proc_fstat(). */
bool proc_isatty(const struct proc *p, int fd);
/* See proc_fstat(): O_RDONLY.. | O_APPEND, or -EBADF. */
int proc_fd_flags(const struct proc *p, int fd);
/* See proc_fstat(). */
struct vfs_handle *proc_fd_handle(const struct proc *p, int fd);
/* Sets O_APPEND and O_NONBLOCK of the open file to what @oflags says, as fcntl(2) F_SETFL: -EBADF. */
int proc_set_fd_flags(struct proc *p, int fd, int oflags);
/* The tree's inode behind a descriptor, also of devices and FIFOs; 0: none. */
uint64_t proc_fd_ino(const struct proc *p, int fd);
/* Sets close-on-exec. */
int proc_set_cloexec(struct proc *p, int fd, bool on);
/* ftruncate(2). */
int proc_ftruncate(struct proc *p, int fd, uint64_t size);

struct proc_pollfd {
    int fd;
    bool want_read, want_write;
    bool readable, writable, hangup, bad; /* results */
};
/* poll(2): number of ready entries, 0 at @deadline, -EINTR. */
int proc_poll_fds(struct proc *p, struct proc_pollfd *v, size_t n, int64_t deadline);

/* The look that proc_poll_fds() begins with: fills the results, never waits. */
int proc_look_fds(struct proc *p, struct proc_pollfd *v, size_t n);

/* stat(2) (flags: VFS_NOFOLLOW) and access(2) by path, as vfs_stat() and vfs_access(), but a path that leads to
 * /proc/PID/fd/N or /dev/std{in,out,err} gives the open file itself, as in Linux. */
int proc_stat(struct proc *p, struct str path, int flags, struct vfs_stat *ret);
/* See proc_stat(). */
int proc_access(struct proc *p, struct str path, int want);
/* The two relative to the directory @at (0: the cwd). */
int proc_stat_at(struct proc *p, uint64_t at, struct str path, int flags, struct vfs_stat *ret);
/* See proc_stat_at(). */
int proc_access_at(struct proc *p, uint64_t at, struct str path, int want);

/* chdir(2). */
int proc_chdir(struct proc *p, struct str path);
/* fchdir(2): to the directory with the inode @dir. ESTALE ENOTDIR EACCES. */
int proc_chdir_ino(struct proc *p, uint64_t dir);

/* ---- file objects for the host side ---- */

/* Reference counting of open file descriptions; unref closes at zero. Accepts NULL. */
struct proc_file *proc_file_ref(struct proc_file *f);
/* See proc_file_ref(). */
void proc_file_unref(struct proc_file *f);

/* A file over a vfs handle (taken). */
struct proc_file *proc_file_vfs(struct proc_set *ps, struct vfs_handle *h, int oflags);

/* An in-memory readable file holding a copy of @s (here-documents, here-strings): seekable, memory charged. NULL: over
 * the limit. */
struct proc_file *proc_file_text(struct proc_set *ps, struct str s);

/* /dev/null for reading, for a command that gets no input: the tree's when that is still the device (null(4)). NULL
 * when memory is short. */
struct proc_file *proc_file_null(struct proc_set *ps);

/* Input fed by the host: push bytes, then the end. @need (may be NULL) is called when a reader waits and nothing is
 * there. */
struct proc_feed;
/* See struct proc_feed. The feed lives as long as the set or until proc_feed_close(). NULL when memory is short. */
struct proc_file *proc_file_feed(struct proc_set *ps, bool tty, void (*need)(void *arg), void *arg,
                                 struct proc_feed **ret);
/* Bytes the feed takes now (it holds at most LIMIT_PIPE). */
size_t proc_feed_room(const struct proc_feed *f);
/* Appends min(n, room) bytes and returns how many. */
size_t proc_feed_push(struct proc_feed *f, const void *p, size_t n);
/* The end of input. */
void proc_feed_eof(struct proc_feed *f);
/* Whether a process waits for input now. */
bool proc_feed_wanted(const struct proc_feed *f);
/* Whether any descriptor still reads from it. */
bool proc_feed_has_readers(const struct proc_feed *f);
/* The host lets go of the feed: the end of input, and @f is gone. Accepts NULL. */
void proc_feed_close(struct proc_feed *f);

/* Output to the host: @write takes up to @n bytes and returns how many, or -EAGAIN to make the writer wait for
 * proc_sink_ready(), or -EPIPE. Bytes count against limits.output. */
struct proc_file *proc_file_sink(struct proc_set *ps, bool tty, ssize_t (*write)(void *arg, const void *p, size_t n),
                                 void *arg);
/* Whether @f, which may be NULL, is the host's own output. */
bool proc_file_is_sink(const struct proc_file *f);
/* Wakes writers that wait on sinks, and who is in proc_await(). */
void proc_sink_ready(struct proc_set *ps);

/*
 * A terminal of the session's own (the host's terminals are feeds and sinks with @tty set, whose line discipline is
 * elsewhere): what is typed is echoed, edited as a line or given at once, and turned into signals for the foreground
 * group; output gets its carriage returns. termios(3), of which the flags below are there: no flow control (IXON), no
 * parity, no speed.
 */
struct proc_tty;

enum proc_tty_flag {
    PROC_ICRNL = 1 << 0,
    PROC_INLCR = 1 << 1,
    PROC_IGNCR = 1 << 2,
    PROC_IUTF8 = 1 << 3,
    PROC_OPOST = 1 << 4,
    PROC_ONLCR = 1 << 5,
    PROC_ISIG = 1 << 6,
    PROC_ICANON = 1 << 7,
    PROC_ECHO = 1 << 8,
    PROC_ECHOE = 1 << 9,
    PROC_ECHOK = 1 << 10,
    PROC_ECHONL = 1 << 11,
    PROC_ECHOCTL = 1 << 12,
    PROC_ECHOKE = 1 << 13,
    PROC_IEXTEN = 1 << 14,
    PROC_NOFLSH = 1 << 15,
};

enum proc_cc {
    PROC_VINTR,
    PROC_VQUIT,
    PROC_VERASE,
    PROC_VKILL,
    PROC_VEOF,
    PROC_VEOL,
    PROC_VSUSP,
    PROC_VREPRINT,
    PROC_VWERASE,
    PROC_VLNEXT,
    PROC_VMIN,
    PROC_VTIME,
    PROC_CC
};

struct proc_termios {
    uint32_t flags; /* enum proc_tty_flag */
    uint8_t cc[PROC_CC]; /* 0: no character, but of MIN and TIME */
};

/* A terminal, open for reading and writing, that /dev/tty is from then on. @write is as of proc_file_sink(), @need as
 * of proc_file_feed(). It lives until proc_tty_close() and its last descriptor. NULL when memory is short. */
struct proc_file *proc_file_tty(struct proc_set *ps, ssize_t (*write)(void *arg, const void *p, size_t n),
                                void (*need)(void *arg), void *arg, struct proc_tty **ret);
/* Types: bytes taken. Fewer than @n when what was typed before is not read (LIMIT_TTY), or while the host does not take
 * what it echoes: try again in @need, after proc_sink_ready(), or when there is time. Called by the host, as an event.
 */
size_t proc_tty_input(struct proc_tty *t, const void *p, size_t n);
/* Sends what is echoed: whether all of it is out. */
bool proc_tty_quiet(struct proc_tty *t);
/* The end of input: what was typed can be read, then each read gives 0. */
void proc_tty_hangup(struct proc_tty *t);
/* The host lets go of it: hung up, and @t is gone. Accepts NULL. */
void proc_tty_close(struct proc_tty *t);
/* The terminal of the session's own behind a descriptor, borrowed; NULL when there is none. */
struct proc_tty *proc_terminal(const struct proc *p, int fd);
/* tcgetattr(3), tcsetattr(3). */
void proc_tty_get(const struct proc_tty *t, struct proc_termios *ret);
/* See proc_tty_get(). */
void proc_tty_set(struct proc_tty *t, const struct proc_termios *to);

/* Size of the session's terminal, if it has one (rows 0: none). Sends no SIGWINCH. */
void proc_set_winsize(struct proc_set *ps, uint16_t rows, uint16_t cols);
/* See proc_set_winsize(). */
void proc_winsize(const struct proc_set *ps, uint16_t *ret_rows, uint16_t *ret_cols);

/* ---- clocks and entropy of the session ---- */

/* The clock that everything in the set goes by, in nanoseconds: clock_mono, or what a tape says. Called by a process it
 * is a look and counted; the host's calls are not. */
int64_t proc_now(struct proc_set *ps);
/* Wall clock in nanoseconds. See proc_now(). */
int64_t proc_wall(struct proc_set *ps);
/* CPU nanoseconds that the command line has used so far. */
int64_t proc_cpu(const struct proc_set *ps);
/* Random bytes. */
void proc_entropy(struct proc_set *ps, void *p, size_t n);

/* The number the next process gets, if it is free. */
int proc_next_pid(const struct proc_set *ps);
/* See proc_next_pid(). */
void proc_set_next_pid(struct proc_set *ps, int pid);

/* ---- tapes ---- */

/*
 * A run depends on its input, on the clocks, on entropy, on pids, and on when something comes from outside. A tape
 * holds that: recorded, it makes the run repeatable to the last byte. Places in a run are named by the number of looks
 * at the clock before them (docs/internals/proc.md). What the host does to the set (feeding, signalling, killing) it
 * does in host.attend, in a feed's need, or between calls of proc_run(); it notes proc_looks() then, and in a replay
 * does the same at the same number. While a tape runs, a sink's -EAGAIN holds the whole set, not only the writer.
 */
enum proc_tape_mode { PROC_TAPE_RECORD, PROC_TAPE_REPLAY };

struct proc_tape {
    enum proc_tape_mode mode;
    int64_t wall, mono; /* the clocks at the begin: of now to record, of then to replay */
    void *arg;
    void (*entropy)(void *arg, void *p, size_t n);
    /* RECORD: @n bytes of changes of the clock, and what else a run meets by chance. */
    void (*changes)(void *arg, const void *p, size_t n);
    /* RECORD: a limit of time ends the command line now. A replay calls proc_kill_all() instead. */
    void (*limit)(void *arg, enum outcome_reason reason);
    /* REPLAY: the next of those bytes, borrowed until the next call; 0 when there are no more. */
    size_t (*more)(void *arg, const void **ret_p);
};

/* Begins a tape, before proc_begin(); looks are counted from 0. A set without processes boots anew. 0 or -ENOMEM. */
int proc_tape_begin(struct proc_set *ps, const struct proc_tape *tape);
/* REPLAY: host.attend is called at @look (UINT64_MAX: no more), or, when proc_run() returns at it, the host acts. */
void proc_tape_due(struct proc_set *ps, uint64_t look);
/* Ends it, if there is one: 0, or -EILSEQ when a replay was not what was recorded; it was then ended by
 * REASON_CRASH. */
int proc_tape_end(struct proc_set *ps);
/* Looks so far. */
uint64_t proc_looks(const struct proc_set *ps);
/* Has proc_run() return soon, in the middle of what runs; the next call goes on there. To be called by host.attend, for
 * hosts that have several sets on one thread. *ret_wake is then 0. */
void proc_pause(struct proc_set *ps);
/* Whether proc_run() has returned because output, or a process in proc_await(), must wait, or because of a pause. */
bool proc_held(const struct proc_set *ps);

/* ---- the base tree ---- */

/* What uname(2) says; the machine is proc_machine(). */
#define PROC_UTS_SYSNAME "Linux"
#define PROC_UTS_NODENAME "sandbox"
#define PROC_UTS_RELEASE "6.1.0-frontal"
#define PROC_UTS_VERSION "#1 SMP PREEMPT_DYNAMIC Frontal Sandbox " FRONTAL_VERSION
/* "x86_64" or "aarch64". */
const char *proc_machine(void);

/* Fills an empty tree with what every session has: /bin -> usr/bin and the like, /dev nodes,
 * /etc/{passwd,group,hostname,hosts,os-release,…}, /tmp (1777), /home/user (uid 1000), /root, /var, /usr/bin/NAME for
 * each command in @names (PROC_COMMAND_MAGIC) and each of @tools (PROC_TOOL_MAGIC) that is no command, an empty /proc.
 */
int proc_base_tree(struct vfs *v, const char *const *names, size_t n_names, const char *const *tools, size_t n_tools);

/* Provides /proc for the set's tree: self, PID/{cmdline,comm,status,stat,cwd,exe,fd,environ,maps?…} as far as scripts
 * read them, meminfo, cpuinfo, uptime, loadavg, version, mounts, filesystems,
 * sys/kernel/{hostname,ostype,osrelease,pid_max,random/uuid,random/boot_id}. */
int proc_provide(struct proc_set *ps);
/* What provides /proc, for a tree that is loaded with it (vfs/image.h). */
const struct vfs_provider *proc_provider(void);

/* Content of a /usr/bin file that stands for a C command: the magic, the name, a newline. The builtin engine claims it.
 */
#define PROC_COMMAND_MAGIC "\177FSC\n"
/* The same of a file that stands for a tool of the userland. */
#define PROC_TOOL_MAGIC "\177FSW\n"
/* The name in the first bytes of such a file, borrowed; empty for any other file. */
struct str proc_tool_name(struct str head);

/* ---- capture ---- */

/* What command substitution writes into: memory that grows up to @max bytes (then writers must end with REASON_MEMORY).
 */
struct proc_capture;
/* A capture and its write end (one reference, the caller's). NULL: memory is short. */
struct proc_file *proc_file_capture(struct proc_set *ps, size_t max, struct proc_capture **ret);
/* Blocks until no descriptor but the caller's own @own (taken and closed) refers to the write end: 0, -EINTR. */
int proc_capture_wait(struct proc *p, struct proc_capture *c, struct proc_file *own);
/* What was written, borrowed until proc_capture_free(). */
struct str proc_capture_text(const struct proc_capture *c);
/* Frees the capture once its write end is closed. Accepts NULL. */
void proc_capture_free(struct proc_capture *c);
