/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/trap_int.h"

#include <errno.h>

#include "base/mem.h"
#include "shell/shell_int.h"

/* Counted: a subshell shares its parent's until either changes one. */
struct traps {
    uint32_t refs;
    char *text[TRAP_COUNT]; /* NULL default; "" ignored */
};

static const char *const signals[] = {
    "EXIT", "HUP",  "INT",  "QUIT", "ILL",    "TRAP",   "ABRT",  "BUS",  "FPE",  "KILL", "USR1",
    "SEGV", "USR2", "PIPE", "ALRM", "TERM",   "STKFLT", "CHLD",  "CONT", "STOP", "TSTP", "TTIN",
    "TTOU", "URG",  "XCPU", "XFSZ", "VTALRM", "PROF",   "WINCH", "IO",   "PWR",  "SYS",
};
#define N_SIGNALS ((int)(sizeof signals / sizeof signals[0]))

static const char *const descriptions[] = {
    "",
    "Hangup",
    "Interrupt",
    "Quit",
    "Illegal instruction",
    "Trace/breakpoint trap",
    "Aborted",
    "Bus error",
    "Floating point exception",
    "Killed",
    "User defined signal 1",
    "Segmentation fault",
    "User defined signal 2",
    "Broken pipe",
    "Alarm clock",
    "Terminated",
    "Stack fault",
    "Child exited",
    "Continued",
    "Stopped (signal)",
    "Stopped",
    "Stopped (tty input)",
    "Stopped (tty output)",
    "Urgent I/O condition",
    "CPU time limit exceeded",
    "File size limit exceeded",
    "Virtual timer expired",
    "Profiling timer expired",
    "Window changed",
    "I/O possible",
    "Power failure",
    "Bad system call",
};

/* Names of real-time signals, made once. */
#define RT_MIN 34
#define RT_MAX 64
static char rt_names[RT_MAX - RT_MIN + 1][16];

__attribute__((constructor)) static void make_rt_names(void)
{
    for (int i = RT_MIN; i <= RT_MAX; i++) {
        int up = i - RT_MIN, down = RT_MAX - i;
        char *p = rt_names[up];
        if (up == 0 || down == 0)
            snprintf(p, sizeof rt_names[0], "RT%s", up ? "MAX" : "MIN");
        else if (up <= down)
            snprintf(p, sizeof rt_names[0], "RTMIN+%d", up);
        else
            snprintf(p, sizeof rt_names[0], "RTMAX-%d", down);
    }
}

/* The name without "SIG", or NULL. */
static const char *bare_name(int sig)
{
    if (sig >= 0 && sig < N_SIGNALS)
        return signals[sig];
    if (sig >= RT_MIN && sig <= RT_MAX)
        return rt_names[sig - RT_MIN];
    switch (sig) {
    case TRAP_DEBUG:
        return "DEBUG";
    case TRAP_ERR:
        return "ERR";
    case TRAP_RETURN:
        return "RETURN";
    default:
        return NULL;
    }
}

const char *trap_signal_name(int sig)
{
    static __thread char name[24];
    const char *bare = bare_name(sig);
    if (!bare)
        return NULL;
    if (sig == TRAP_EXIT || sig > RT_MAX)
        return bare;
    snprintf(name, sizeof name, "SIG%s", bare);
    return name;
}

const char *trap_signal_text(int sig)
{
    if (sig > 0 && sig < N_SIGNALS)
        return descriptions[sig];
    static __thread char text[32];
    snprintf(text, sizeof text, sig >= RT_MIN && sig <= RT_MAX ? "Real-time signal %d" : "Unknown signal %d",
             sig >= RT_MIN ? sig - RT_MIN : sig);
    return text;
}

static char upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

static bool same_name(struct str a, const char *b)
{
    if (strlen(b) != a.n)
        return false;
    for (size_t i = 0; i < a.n; i++)
        if (upper(a.p[i]) != b[i])
            return false;
    return true;
}

int trap_signal_number(struct str name)
{
    uint64_t n;
    if (str_u64(name, &n) == 0)
        return n < 65 && bare_name((int)n) ? (int)n : -1;
    struct str bare = name;
    bool sig = name.n > 3 && same_name(str_of(name.p, 3), "SIG");
    if (sig)
        bare = str_from(name, 3);
    for (int i = 0; i < TRAP_COUNT; i++) {
        const char *b = bare_name(i);
        bool pseudo = i == TRAP_EXIT || i > RT_MAX;
        if (b && same_name(pseudo ? name : bare, b))
            return i;
    }
    if (same_name(bare, "CLD"))
        return SIGCHLD;
    return same_name(bare, "POLL") ? SIGIO : -1;
}

/* ---- the table ---- */

struct traps *traps_ref(struct traps *t)
{
    if (t)
        t->refs++;
    return t;
}

void traps_unref(struct traps *t)
{
    if (!t || --t->refs > 0)
        return;
    for (int i = 0; i < TRAP_COUNT; i++)
        mem_free(t->text[i]);
    mem_free(t);
}

static uint32_t hidden_bit(int sig)
{
    return sig >= TRAP_DEBUG ? 1u << (sig - TRAP_DEBUG) : 0;
}

/* Whether a subshell keeps the trap as its own. */
static bool kept_in_subshell(const struct shell *sh, int sig, const char *text)
{
    if (sig == TRAP_ERR)
        return sh_opt(sh, OPT_ERRTRACE);
    if (sig == TRAP_DEBUG || sig == TRAP_RETURN)
        return sh_opt(sh, OPT_FUNCTRACE);
    return sig != TRAP_EXIT && !*text;
}

static struct traps *own(struct shell *sh)
{
    struct traps *old = sh->traps;
    if (old && old->refs == 1 && !sh->traps_reset)
        return old;
    struct traps *t = mem_zalloc(sizeof *t);
    t->refs = 1;
    for (int i = 0; old && i < TRAP_COUNT; i++) {
        const char *text = old->text[i];
        if (text && (!sh->traps_reset || kept_in_subshell(sh, i, text)))
            t->text[i] = mem_dup(text, strlen(text));
    }
    traps_unref(old);
    sh->traps = t;
    sh->traps_reset = false;
    return t;
}

const char *trap_get(const struct shell *sh, int sig)
{
    const char *text = sh->traps ? sh->traps->text[sig] : NULL;
    if (!text || (sh->traps_hidden & hidden_bit(sig)))
        return NULL;
    return sh->traps_reset && !kept_in_subshell(sh, sig, text) ? NULL : text;
}

const char *trap_listed(const struct shell *sh, int sig)
{
    const char *text = sh->traps ? sh->traps->text[sig] : NULL;
    if (!text && sig > 0 && sig <= RT_MAX && (sh->sig_ignored_at_start >> (sig - 1) & 1))
        return "";
    return text && !(sh->traps_hidden & hidden_bit(sig)) ? text : NULL;
}

/* Signals that end a shell, but not before its EXIT trap has run: while there is one they are caught. */
static const int fatal[] = {SIGHUP, SIGINT, SIGUSR1, SIGUSR2, SIGPIPE, SIGALRM, SIGTERM, SIGXCPU, SIGXFSZ, SIGVTALRM};
#define N_FATAL (sizeof fatal / sizeof fatal[0])

static bool waits_for_exit_trap(const struct shell *sh, int sig)
{
    const char *text = trap_get(sh, TRAP_EXIT);
    for (size_t i = 0; text && *text && i < N_FATAL; i++)
        if (fatal[i] == sig)
            return true;
    return false;
}

static void apply_signal(struct shell *sh, int sig, const char *text)
{
    enum proc_disposition d = PROC_SIG_DEFAULT;
    if (!text && !sh->interactive && waits_for_exit_trap(sh, sig))
        d = PROC_SIG_CATCH;
    /* The CHLD trap runs once for each child that ended: job.c counts them (trap_child). */
    if (text && sig != SIGCHLD)
        d = *text ? PROC_SIG_CATCH : PROC_SIG_IGNORE;
    else if (sh->interactive && (sig == SIGINT || sig == SIGTERM || sig == SIGQUIT))
        d = sig == SIGINT ? PROC_SIG_CATCH : PROC_SIG_IGNORE;
    (void)proc_sigaction(sh->p, sig, d);
}

int trap_set(struct shell *sh, int sig, const char *text)
{
    if (sig < 0 || sig >= TRAP_COUNT)
        return -EINVAL;
    bool real = sig > 0 && sig <= RT_MAX;
    if (real && (sh->sig_ignored_at_start >> (sig - 1) & 1) && !sh->interactive)
        return 0;
    if (!text && !sh->traps)
        return 0;
    if (!text && (sh->traps_hidden & hidden_bit(sig)))
        return 0;
    struct traps *t = own(sh);
    mem_free(t->text[sig]);
    t->text[sig] = text ? mem_dup(text, strlen(text)) : NULL;
    sh->traps_hidden &= ~hidden_bit(sig);
    if (real)
        apply_signal(sh, sig, text);
    for (size_t i = 0; sig == TRAP_EXIT && i < N_FATAL; i++)
        if (!t->text[fatal[i]] && !(sh->sig_ignored_at_start >> (fatal[i] - 1) & 1))
            apply_signal(sh, fatal[i], NULL);
    return 0;
}

uint32_t trap_enter_function(struct shell *sh, bool traced, bool source)
{
    uint32_t before = sh->traps_hidden;
    if (!sh->traps)
        return before;
    if (!traced && !sh_opt(sh, OPT_FUNCTRACE))
        sh->traps_hidden |= hidden_bit(TRAP_DEBUG) | (source ? 0 : hidden_bit(TRAP_RETURN));
    if (!source && !sh_opt(sh, OPT_ERRTRACE))
        sh->traps_hidden |= hidden_bit(TRAP_ERR);
    return before;
}

void trap_leave_function(struct shell *sh, uint32_t before)
{
    sh->traps_hidden &= before;
}

void trap_exit(struct shell *sh)
{
    /* Here and now, not when all is unwound: the trap sees the locals and redirections of where the shell ended. */
    if (sh->traps && !sh->exit_trap_done && trap_get(sh, TRAP_EXIT) && sh->flow != FLOW_KILLED && !sh->p->must_end) {
        enum flow flow = sh->flow;
        sh->exit_trap_done = true;
        sh->flow = FLOW_NONE;
        trap_run(sh, TRAP_EXIT);
        if (sh->flow == FLOW_NONE)
            sh->flow = flow;
    }
    if (sh->flow != FLOW_KILLED)
        sh->flow = FLOW_EXIT;
}

bool trap_any(const struct shell *sh)
{
    for (int sig = 0; sh->traps && !sh->traps_reset && sig < TRAP_COUNT; sig++)
        if (sh->traps->text[sig] && *sh->traps->text[sig])
            return true;
    return false;
}

/* ---- running ---- */

/* A trap's commands run with $? and PIPESTATUS as they are, and leave both so. `exit` and `return` in them go through.
 */
static void run_text(struct shell *sh, int sig, const char *text, int line)
{
    int status = sh->last_status, before = sh->trap_running, old_line = sh->line;
    uint32_t busy = sh->traps_busy;
    uint32_t n = sh->n_pipestatus;
    struct arena_mark m = arena_mark(&sh->scratch);
    int *ps = arena_alloc(&sh->scratch, n * sizeof *ps + 1);
    if (n)
        memcpy(ps, sh->pipestatus, n * sizeof *ps);
    size_t len = strlen(text);
    struct str copy = arena_str(&sh->scratch, str_of(text, len)); /* the commands may change the trap */
    const struct node *node = sh->cur_node;
    sh->trap_running = sig + 1;
    sh->traps_busy |= hidden_bit(sig);
    sh->trap_status = status;
    exec_text(sh, copy, line, "trap");
    if (sig == TRAP_DEBUG)
        sh->debug_status = sh->last_status;
    sh->trap_running = before;
    sh->traps_busy = busy;
    sh->cur_node = node;
    if (sh->flow == FLOW_NONE || sh->flow == FLOW_ABORT) {
        if (sh->flow == FLOW_ABORT)
            sh->flow = FLOW_NONE;
        sh->last_status = status;
        sh->line = old_line;
        exec_set_pipestatus(sh, ps, n);
    }
    arena_reset(&sh->scratch, m);
}

void trap_child(struct shell *sh)
{
    const char *text = sh->traps ? trap_get(sh, SIGCHLD) : NULL;
    if (text && *text && sh->chld_pending < UINT16_MAX)
        sh->chld_pending++;
}

bool trap_ending(const struct shell *sh)
{
    for (size_t i = 0; proc_signal_pending(sh->p) && i < N_FATAL; i++)
        if ((sh->p->sig_pending >> (fatal[i] - 1) & 1) && !trap_get(sh, fatal[i]) && waits_for_exit_trap(sh, fatal[i]))
            return true;
    return false;
}

void trap_run_pending(struct shell *sh)
{
    int sig;
    while (sh->chld_pending && sh->flow == FLOW_NONE && sh->trap_running != SIGCHLD + 1) {
        const char *text = trap_get(sh, SIGCHLD);
        sh->chld_pending--;
        if (text && *text)
            run_text(sh, SIGCHLD, text, 1);
    }
    while (sh->flow == FLOW_NONE && (sig = proc_take_signal(sh->p)) > 0) {
        const char *text = trap_get(sh, sig);
        if (text && *text) {
            run_text(sh, sig, text, 1);
        } else if (sh->interactive && sig == SIGINT) {
            sh->last_status = 130;
            sh->flow = FLOW_ABORT;
        } else if (!text && waits_for_exit_trap(sh, sig)) {
            sh->end_signal = sig;
            trap_exit(sh);
        }
    }
}

void trap_run(struct shell *sh, int pseudo)
{
    const char *text = trap_get(sh, pseudo);
    uint32_t busy = hidden_bit(pseudo);
    /* What a DEBUG trap calls is not traced. */
    if (pseudo == TRAP_RETURN)
        busy |= hidden_bit(TRAP_DEBUG);
    if (!text || !*text || sh->trap_running == pseudo + 1 || (sh->traps_busy & busy) || sh->flow == FLOW_KILLED)
        return;
    run_text(sh, pseudo, text, pseudo == TRAP_EXIT ? 1 : sh->line);
}

int trap_run_debug(struct shell *sh, const struct node *n)
{
    const char *text = trap_get(sh, TRAP_DEBUG);
    if (!text || !*text || (sh->traps_busy & hidden_bit(TRAP_DEBUG)))
        return 0;
    int status = sh->last_status, result;
    if (!sh->trap_running)
        sh->cur_node = n;
    run_text(sh, TRAP_DEBUG, text, sh->line);
    result = sh->debug_status;
    sh->last_status = sh->flow == FLOW_NONE ? status : sh->last_status;
    return sh_shopt(sh, SHOPT_EXTDEBUG) ? result : 0;
}
