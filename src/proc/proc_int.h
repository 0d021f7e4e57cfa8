/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * proc_int - what the files of this folder share.
 *
 * A process acts on a coroutine (co_int.h): a forked one on its own, an inline child on its parent's. co->top is who
 * acts there now. Only the scheduler (sched.c) switches, and every switch is between two coroutines or a coroutine and
 * proc_run() (ps->main_co).
 *
 * Ghosts. A forked process may be ended by a signal while an inline child still acts on its coroutine, and that child
 * lives on (it caught or ignored the signal, or was not meant). Then the process is a zombie at once, as its parent
 * must see, and its code, which has nothing left to do but return, does so when the child gives the coroutine back.
 * priv->code_running says that its main has not returned; a ghost that was waited for is `detached`: no process any
 * more, only freed when its main returns.
 */

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "proc/co_int.h"
#include "proc/proc.h"

#include <errno.h>

#define PID_MAX 4194304
#define PID_FIRST 2
#define TURN 1024                 /* proc_poll() calls and KiB moved in one turn */
#define ATTEND_NS CLOCK_MS        /* between calls of host.attend() */
#define SLICE_MAX (10 * CLOCK_MS) /* with a tape: a turn that takes longer was held up by the host */
#define EAGAIN_MAX 64             /* refused forks of a command line before it is ended */
#define ENGINES_MAX 8
#define SPARE_BUFS 4 /* pipe buffers kept while processes live */
#define SPARE_PROCS 32
#define SIG_BIT(sig) (UINT64_C(1) << ((sig)-1))

struct cwd { /* a held directory, shared by the processes that have it */
    uint32_t refs;
    struct vfs_handle *h;
};

struct cmdline { /* argv of a forked process's parent, for /proc/PID/cmdline */
    uint32_t refs;
    size_t n;
    char bytes[];
};

struct proc_priv {
    struct co *co;
    struct proc *all_next, *all_prev;
    struct proc_waiter waiter;
    struct proc_waitq child_q; /* woken when a child ends, stops or goes on */
    int64_t deadline;
    uint64_t timer_seq;
    uint32_t timer_i; /* 1 + index in ps->timers; 0: none */
    int wait_result;
    struct proc *inline_child; /* acts on this process's coroutine while it lives */
    struct proc *inline_parent;
    struct cwd *cwd;
    struct cmdline *cmdline;
    void *engine_obj;
    char **(*env)(void *); /* environment of the running program, for /proc */
    void *env_arg;
    uint64_t exe_ino; /* 0: none */
    void (*on_exec)(void *arg); /* proc_on_exec() */
    void *on_exec_arg;
    uint32_t fd_cap;
    uint8_t stop_signal;
    bool first; /* made by proc_start(); stays a zombie until proc_forget() */
    bool code_running, detached;
    bool ghost_due; /* becomes a ghost at the next switch */
    bool stopped;
    bool ready_on_cont;            /* became runnable while stopped */
    bool report_stop, report_cont; /* not yet seen by proc_wait() */
    bool interrupt;                /* a caught signal came: the next blocking call is -EINTR */
    char comm[16];
};

struct proc_node {
    struct proc p;
    struct proc_priv priv;
};

struct file_sink {
    ssize_t (*write)(void *arg, const void *p, size_t n);
    void *arg;
    struct proc_tty *tty; /* of a terminal: its echo goes out before; else NULL */
};

struct pipe;
struct tape;

enum file_kind {
    FILE_VFS,
    FILE_PIPE,
    FILE_TEXT,
    FILE_SINK,
    FILE_CAPTURE,
    FILE_TTY,
    FILE_TERMINAL,
    FILE_NULL,
    FILE_ZERO,
    FILE_FULL,
    FILE_RANDOM,
};

struct proc_file {
    uint32_t refs;
    uint32_t seen; /* scratch of proc_check() */
    enum file_kind kind;
    bool tty, readable, writable;
    int oflags;
    struct proc_set *ps;
    struct proc_file *next, *prev; /* all of the set */
    uint64_t off;
    struct vfs_handle *h; /* FILE_VFS, devices and FIFOs of the tree; else NULL */
    struct pipe *pipe;    /* FILE_PIPE: pipes, FIFOs, feeds */
    union {
        struct {
            char *p;
            size_t n;
        } text;                /* FILE_TEXT */
        struct file_sink sink; /* FILE_SINK */
        struct proc_capture *capture;
        struct {
            struct proc_file *in, *out;
        } term;               /* FILE_TTY: the terminal's feed and sink */
        struct proc_tty *tty; /* FILE_TERMINAL */
        struct {
            char *p; /* RANDOM_PEEK bytes, made on the first peek */
            uint32_t pos, n;
        } rnd; /* FILE_RANDOM */
    } u;
};

struct pipe_dst { /* where a blocked reader wants bytes: a writer puts them there without the buffer between */
    char *p;
    size_t n, got;
};

struct pipe {
    struct proc_set *ps;
    uint32_t refs;
    uint32_t readers, writers; /* open ends */
    uint32_t r_opens, w_opens; /* opened so far: a FIFO's open waits for a change */
    char *buf;                 /* LIMIT_PIPE bytes, a ring; NULL until written */
    uint32_t head, n;
    struct pipe_dst *dst;
    struct proc_waitq rq, wq, oq;
    uint64_t id;            /* inode number for fstat */
    uint64_t ino;           /* of a FIFO in the tree; 0: anonymous */
    struct pipe *next;      /* FIFOs of the set */
    struct proc_feed *feed; /* its writer is the host */
};

struct proc_feed {
    struct proc_set *ps;
    struct proc_feed *next;
    struct pipe *pipe;
    void (*need)(void *arg);
    void *arg;
    bool eof;
};

struct proc_set {
    struct vfs *v;
    struct limits limits;
    struct proc_host host;
    const char *refusal; /* the host's, of the program it last refused */
    struct mem_account acc;
    struct mem_account *host_acc; /* current outside proc_run() */

    struct proc_node init; /* pid 1: parent of orphans, reaps at once */
    struct proc *all;      /* newest first, without init */
    uint32_t n_procs;      /* in `all`, zombies counted: what limits.processes bounds */
    uint32_t n_live;       /* those that are no zombies */
    uint32_t n_co;         /* coroutines */
    int next_pid;
    bool pid_wrapped;
    int foreground;
    struct proc_node *spare; /* chained by p.sibling */
    uint32_t n_spare;

    struct co main_co;  /* proc_run()'s own stack */
    struct co *running; /* NULL: proc_run() itself, or outside it */
    struct co *dead;    /* ended; freed after the next switch */
    struct co *rq_head, *rq_tail;
    struct proc *until; /* proc_run() waits for it */
    bool in_run;
    bool ghosts_due;      /* some process has ghost_due */
    bool to_main;         /* the next switch goes to proc_run() */
    struct co *visitor;   /* has gone to proc_run() for host.attend(), and goes on after */
    struct co *held;      /* waits for room in a sink while a tape runs, and with it everything */
    bool held_ready;      /* there may be room now */
    bool pause;           /* the host wants proc_run() to return; what runs is then held, and ready */
    struct proc **timers; /* heap by (deadline, seq) */
    uint32_t n_timers, cap_timers;
    uint64_t timer_seq;
    int64_t slice_start, last_attend, attend_ns;

    struct tape *tape; /* records or replays; NULL: neither */
    uint64_t looks;    /* at the clock, and what else is counted with them (tape.c) */
    int64_t raw;       /* what the true clock said at the last look */
    bool due;          /* a replay wants host.attend() called at this look */

    struct proc_usage usage;
    int64_t busy_ns;   /* sum of the turns of all processes */
    int64_t cpu_in;    /* clock_cpu() when proc_run() began */
    int64_t cpu_check; /* clock_mono() before which the CPU limit cannot have been met */
    int64_t wall_deadline;
    enum outcome_reason killed; /* a limit ended the command line */
    uint32_t n_eagain;

    struct proc_file *files;
    struct pipe *fifos;
    struct proc_feed *feeds;
    struct proc_file *tty_in, *tty_out; /* not counted: cleared when they go */
    struct proc_tty *terminal;          /* the same */
    struct proc_waitq sink_q, poll_q, sleep_q;
    char *bufs[SPARE_BUFS];
    uint32_t n_bufs;
    uint64_t next_pipe_id;
    uint16_t rows, cols;

    struct {
        const struct engine_ops *ops;
        void *engine;
    } engines[ENGINES_MAX];
    uint32_t n_engines;
    uint64_t procfs_last; /* id that the provider's lookup gave last */
    int64_t boot_wall, boot_mono;
    char boot_id[37]; /* empty: nobody has asked for it */
};

/* Charges what follows to the set, from calls that the host makes outside proc_run(). */
static inline struct mem_account *set__use(struct proc_set *ps)
{
    return mem_use(&ps->acc);
}

/* ---- set.c ---- */

/* Ends the command line when its memory is used up. */
void set__check_memory(struct proc_set *ps);
/* Ends it when its time is. A replay has this from its tape. @raw is clock_mono(). */
void set__check_time(struct proc_set *ps, int64_t raw);
/* Sets the time the machine came up, and with a tape (on which it takes entropy) the name of this boot. */
void set__boot(struct proc_set *ps);
/* The name of this boot. */
const char *set__boot_id(struct proc_set *ps);
/* A fresh random UUID (RFC 9562 version 4) as text. */
void set__uuid(struct proc_set *ps, char out[37]);
/* CPU nanoseconds of the command line so far, as the thread's clock has it. */
int64_t set__cpu(const struct proc_set *ps);
/* Frees what is only kept to be quick: called when no process is left. */
void set__trim(struct proc_set *ps);
/* Runs a host callback's surroundings: the host's account in, the set's out. */
struct mem_account *set__host_begin(struct proc_set *ps);
/* See set__host_begin(). */
void set__host_end(struct mem_account *before);

/* ---- tape.c ---- */

/* set__look() while there is a tape. */
int64_t tape__look(struct proc_set *ps);
/* The clock as it was at the last look, and the wall clock at @now. */
int64_t tape__now(const struct proc_set *ps);
/* See tape__now(). */
int64_t tape__wall(const struct proc_set *ps, int64_t now);
/* Random bytes. */
void tape__entropy(struct proc_set *ps, void *p, size_t n);
/* @v, which may differ from run to run, as it was when it was recorded. */
uint64_t tape__value(struct proc_set *ps, uint64_t v);
/* Whether a tape is replayed, and whether this run has turned out to be another. */
bool tape__replays(const struct proc_set *ps);
/* See tape__replays(). */
bool tape__lost(const struct proc_set *ps);
/* Tells that a limit of time has ended the command line. */
void tape__limit(struct proc_set *ps, enum outcome_reason reason);
/* Counts a place outside the scheduler where events may come, and in a replay lets in those that came there. */
void tape__place(struct proc_set *ps);
/* Counts a place after which events may come while a process computes; a replay is then due at it. */
void tape__step(struct proc_set *ps);
/* RECORD: the turn of who runs ends after the last step; a replay ends it there. */
void tape__turn_over(struct proc_set *ps);
/* Lets in what came before the next byte of output, and tells how many of @n bytes go out before the next event. */
size_t tape__gate(struct proc_set *ps, size_t n);

/* A counted look at the clock (clock_mono): what guests see and scheduling goes by. */
static inline int64_t set__look(struct proc_set *ps)
{
    ps->looks++;
    if (__builtin_expect(ps->tape != NULL, 0))
        return tape__look(ps);
    return ps->raw = clock_mono();
}

/* The same clock for the host's side, which does not count. */
static inline int64_t set__peek(const struct proc_set *ps)
{
    return ps->tape ? tape__now(ps) : clock_mono();
}

/* ---- sched.c ---- */

/* Has the host called, from the running coroutine, which then goes on. */
void sched__let_in(struct proc_set *ps);
/* Leaves everything as it is until proc_sink_ready(), or until who runs must end. */
void sched__hold(struct proc_set *ps);
/* Makes @p, which is parked or new, runnable (or runnable once continued). */
void sched__ready(struct proc *p);
/* Takes a BLOCKED process off what it waits for; its blocking call returns @result. */
void sched__unblock(struct proc *p, int result);
/* Leaves the running coroutine until sched__ready() of @p, who acts on it. The state is set by the caller. */
void sched__park(struct proc *p);
/* Takes a runnable coroutine out of the run queue. */
void sched__unqueue(struct proc_set *ps, struct co *co);
/* Parks @p as long as it is stopped and need not end. */
void sched__park_stopped(struct proc *p);
/* Charges the time since the last switch to who acts. */
void sched__account(struct proc_set *ps, int64_t now);
/* Who acts now, or NULL. */
static inline struct proc *sched__current(const struct proc_set *ps)
{
    return ps->running ? ps->running->top : NULL;
}

/* ---- life.c ---- */

/* Ends @p: its descriptors close, its children go to init, its parent is told. It is a zombie, or freed if nobody
 * waits. */
void life__end(struct proc *p, struct outcome o);
/* @p's main has returned with @o. */
void life__main_returned(struct proc *p, struct outcome o);
/* What @o becomes for a process that must end. */
struct outcome life__final(const struct proc *p, struct outcome o);
/* Makes the ghosts that are due. Not done while signals are being sent: ending a process may free others. */
void life__make_ghosts(struct proc_set *ps);
/* Forgets a zombie. */
void life__reap(struct proc *p);
/* By pid, zombies too; NULL. */
struct proc *life__find(struct proc_set *ps, int pid);
/* Frees a struct proc for good or keeps it for the next. */
void life__free_node(struct proc *p);

/* ---- signal.c ---- */

/* @p must end; the first cause stays. */
void signal__must_end(struct proc *p, int sig, enum outcome_reason reason);
/* Sends @sig, permission checked before. */
void signal__send(struct proc *p, int sig);
/* SIGCHLD to a parent, which only matters when it is caught. */
void signal__child(struct proc *parent);
/* Whether nobody outside a process group could continue it (an orphaned group). */
bool signal__orphaned(const struct proc_set *ps, int pgid);
/* Stops being stopped. */
void signal__continue(struct proc *p);

/* ---- fds.c ---- */

/* The child's table gets the parent's open descriptors. */
void fds__copy(struct proc *child, const struct proc *parent);
/* Closes all; the table is empty after. */
void fds__close_all(struct proc *p);
/* Closes those marked close-on-exec. */
void fds__close_exec(struct proc *p);
/* Lowest free descriptor >= @min: -EMFILE, -EINVAL. Nothing is changed. */
int fds__lowest(const struct proc *p, int min);

/* ---- file.c ---- */

/* A file of a kind with one reference; NULL when memory is short. */
struct proc_file *file__new(struct proc_set *ps, enum file_kind kind, int oflags);
/* Frees a file whose last reference went. */
void file__destroy(struct proc_file *f);
/* fstat(2) of an open file; @cred owns what has no inode. */
int file__stat(struct proc_file *f, const struct vfs_cred *cred, struct vfs_stat *ret);
/* Random bytes of FILE_RANDOM to peek at. */
int file__random_peek(struct proc_file *f, const void **ret_p, size_t *ret_n);

/* ---- magic.c ---- */

/* Whether @path from @at has the form of such a link, so that it is worth to look before the file itself is tried. */
bool magic__likely(uint64_t at, struct str path);
/* When @path leads to /proc/PID/fd/N: 1 and the file (borrowed); else 0. A symlink in the last component is followed
 * unless @nofollow. */
int magic__find(struct proc *p, uint64_t at, struct str path, bool nofollow, struct proc_file **ret);
/* open(2) of such a link: a new open of what it names, or the same open description where there is no such thing. */
int magic__open(struct proc *p, struct proc_file *f, int oflags, struct proc_file **ret);

/* ---- pipe.c ---- */

/* An anonymous pipe with one reference and no ends; NULL when memory is short. */
struct pipe *pipe__new(struct proc_set *ps);
/* Drops a reference; frees at zero. */
void pipe__unref(struct pipe *pp);
/* A file on @pp with the access of @oflags: counts as an open end. NULL when memory is short; takes no reference of the
 * caller's. */
struct proc_file *pipe__file(struct pipe *pp, int oflags);
/* A file of it goes. */
void pipe__close_end(struct proc_file *f);
/* open(2) of a FIFO: blocks as fifo(7) says. Takes @h on success. */
int pipe__open_fifo(struct proc *p, struct vfs_handle *h, int oflags, struct proc_file **ret);
/* See proc_read(). */
ssize_t pipe__read(struct proc *p, struct proc_file *f, char *buf, size_t n);
/* See proc_write(). */
ssize_t pipe__write(struct proc *p, struct proc_file *f, const char *buf, size_t n);
/* See proc_peek(). */
int pipe__peek(struct proc *p, struct proc_file *f, const void **ret_p, size_t *ret_n);
/* Gives what it can to a waiting reader or the ring: bytes taken, or -ENOMEM. @whole: all or nothing. */
ssize_t pipe__push(struct pipe *pp, const char *src, size_t n, bool whole);
/* See proc_consume(). */
void pipe__consume(struct pipe *pp, size_t n);
/* Something became readable or writable: those in proc_poll_fds() look again. */
static inline void poll__notify(struct proc_set *ps)
{
    if (__builtin_expect(ps->poll_q.head != NULL, 0))
        proc_wake(&ps->poll_q);
}

/* ---- stream.c ---- */

/* Asks the host for input of a feed. */
void feed__need(struct proc_feed *f);
/* Frees a feed and its end of the pipe. */
void feed__free(struct proc_feed *f);
/* See proc_write(). */
ssize_t capture__write(struct proc *p, struct proc_capture *c, const char *buf, size_t n);
/* The write end has gone. */
void capture__closed(struct proc_capture *c);
/* See proc_write(). */
ssize_t sink__write(struct proc *p, struct proc_file *f, const char *buf, size_t n);
/* Job control of reads from a terminal: 0, -EINTR (stopped by SIGTTIN, or must end) or -EIO. */
int stream__may_read(struct proc *p, const struct proc_file *f);

/* ---- tty.c ---- */

/* Another open of the set's terminal. */
int tty__open(struct proc_set *ps, int oflags, struct proc_file **ret);
/* A file of it goes. */
void tty__unref(struct proc_tty *t);
/* See proc_read(). */
ssize_t tty__read(struct proc *p, struct proc_file *f, char *buf, size_t n);
/* See proc_write(). */
ssize_t tty__write(struct proc *p, struct proc_file *f, const char *buf, size_t n);
/* See proc_peek(). */
int tty__peek(struct proc *p, struct proc_file *f, const void **ret_p, size_t *ret_n);
/* See proc_consume(). */
void tty__consume(struct proc_tty *t, size_t n);
/* Bytes that the next read could give. */
uint32_t tty__available(const struct proc_tty *t);
/* Whether a read would return at once. */
bool tty__readable(const struct proc_tty *t);
/* See proc_look_fds(). */
void tty__look(const struct proc_tty *t, struct proc_pollfd *e);
/* Asks the host for input when there is none. */
void tty__need(struct proc_tty *t);
/* Sends what is echoed, in the surroundings of the host: whether all of it is out. */
bool tty__flush(struct proc_tty *t);

/* ---- procfs.c ---- */

/* Nodes of /proc; 0 is the root. Those from PROCFS_PID on belong to a process. */
enum procfs_kind {
    PROCFS_ROOT,
    PROCFS_SELF,
    PROCFS_CPUINFO,
    PROCFS_FILESYSTEMS,
    PROCFS_LOADAVG,
    PROCFS_MEMINFO,
    PROCFS_MOUNTS_LINK,
    PROCFS_STAT,
    PROCFS_SYS,
    PROCFS_UPTIME,
    PROCFS_VERSION,
    PROCFS_KERNEL,
    PROCFS_HOSTNAME,
    PROCFS_OSRELEASE,
    PROCFS_OSTYPE,
    PROCFS_PID_MAX,
    PROCFS_RANDOM,
    PROCFS_KVERSION,
    PROCFS_BOOT_ID,
    PROCFS_UUID,
    PROCFS_PID,
    PROCFS_PID_CMDLINE,
    PROCFS_PID_COMM,
    PROCFS_PID_CWD,
    PROCFS_PID_ENVIRON,
    PROCFS_PID_EXE,
    PROCFS_PID_FD,
    PROCFS_PID_MOUNTS,
    PROCFS_PID_ROOT,
    PROCFS_PID_STAT,
    PROCFS_PID_STATUS,
    PROCFS_PID_FD_LINK,
};

/* The process and descriptor of /proc/PID/fd/N, if that is what the provider was last asked for (ps->procfs_last): 1,
 * else 0. */
int procfs__last_is_fd(const struct proc_set *ps, int *ret_pid, int *ret_fd);

/* ---- procfs_text.c ---- */

/* Content of a file of /proc, or target of a link, appended to @out. @p is its process (NULL for those of none), @fd of
 * a PROCFS_PID_FD_LINK. */
int procfs__text(struct proc_set *ps, enum procfs_kind kind, struct proc *p, int fd, struct buf *out);
