/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/xargs_int.h"

#include <errno.h>
#include <stdarg.h>

#include "shell/cmd/quote.h"

/* Exit statuses of the real tool. */
enum {
    XARGS_CHILD_FAILED = 123,
    XARGS_CHILD_255 = 124,
    XARGS_CHILD_KILLED = 125,
    XARGS_CANNOT = 126,
    XARGS_NOT_FOUND = 127
};

/*
 * Ends the run. What the status is follows how the real tool leaves: by exit(3) with @status, whose handler waits for
 * the children left; when a child has failed by then, 123 wins, unless the stop itself came while it waited at the end.
 */
static void stop(struct xargs *x, int status)
{
    if (x->failed && !x->at_end)
        return;
    x->failed = true;
    x->stopped = status;
    x->late = x->at_end;
}

void xargs__fail(struct xargs *x, const char *fmt, ...)
{
    va_list ap;
    struct buf text;
    buf_init(&text, 1u << 20);
    va_start(ap, fmt);
    buf_vaddf(&text, fmt, ap);
    va_end(ap);
    cmd_err(x->c, "%s", text.p);
    buf_done(&text);
    stop(x, 1);
}

/* ---- the end of a child ---- */

static void child_ended(struct xargs *x, int err, struct outcome o)
{
    const char *name = x->name;
    struct cmd *c = x->c;
    if (err < 0) {
        if (!x->failed) /* the real tool starts no more, and so finds it once */
            cmd_errno(c, err, "%s", name);
        stop(x, err == -ENOENT ? XARGS_NOT_FOUND : XARGS_CANNOT);
        return;
    }
    if (o.kind == OUTCOME_EXITED && o.code == 0)
        return;
    if (o.kind != OUTCOME_EXITED) {
        cmd_err(c, "%s: terminated by signal %d", name, o.kind == OUTCOME_KILLED ? o.signal : SIGKILL);
        stop(x, XARGS_CHILD_KILLED);
    } else if (o.code == 255) {
        cmd_err(c, "%s: exited with status 255; aborting", name);
        stop(x, XARGS_CHILD_255);
    } else {
        x->child_error = XARGS_CHILD_FAILED;
    }
}

static bool wait_one(struct xargs *x)
{
    size_t i;
    struct outcome o;
    if (cmd_spawn_wait(x->c, x->children, x->n_children, &i, &o) < 0) {
        x->running = 0;
        stop(x, 1);
        return false;
    }
    x->running--;
    child_ended(x, x->children[i].err, o);
    return true;
}

/* Looks at the child that ended last, when they run one after the other. */
static void settle(struct xargs *x)
{
    if (x->pending)
        child_ended(x, 0, x->last);
    x->pending = false;
}

int xargs__finish(struct xargs *x)
{
    int before = x->child_error;
    bool stopped = x->failed;
    x->at_end = true;
    settle(x);
    while (x->running > 0 && !x->late && wait_one(x))
        ;
    if (x->failed)
        return x->child_error && !x->late ? x->child_error : x->stopped;
    if (x->no_input && !stopped && before == x->child_error) {
        cmd_errno(x->c, EBADF, "error closing file");
        return 1;
    }
    return x->child_error;
}

/* ---- running ---- */

/* The environment with the slot's number in it: NULL without --process-slot-var. */
static char **slot_env(struct xargs *x, size_t slot)
{
    struct cmd *c = x->c;
    if (!x->slot_var)
        return NULL;
    char **old = cmd_environ(c);
    size_t n = 0, k = 0, len = strlen(x->slot_var);
    while (old[n])
        n++;
    char **v = arena_alloc(c->arena, (n + 2) * sizeof *v);
    for (size_t i = 0; i < n; i++)
        if (strncmp(old[i], x->slot_var, len) != 0 || old[i][len] != '=')
            v[k++] = old[i];
    v[k++] = arena_printf(c->arena, "%s=%zu", x->slot_var, slot);
    v[k] = NULL;
    return v;
}

/* A free place among the children; it may have to be waited for. False to stop. */
static bool free_slot(struct xargs *x, size_t *ret)
{
    while (x->running >= x->procs_max)
        if (!wait_one(x))
            return false;
    size_t i = 0;
    while (i < x->n_children && x->children[i].pid)
        i++;
    if (i == x->cap_children) {
        x->cap_children = x->cap_children ? x->cap_children * 2 : 8;
        x->children = mem_realloc(x->children, x->cap_children * sizeof *x->children);
    }
    if (i == x->n_children)
        x->children[x->n_children++] = (struct cmd_child){0};
    *ret = i;
    return !x->failed;
}

/* Runs @argv beside the others: 0, or why it did not begin. */
static int run_beside(struct xargs *x, int argc, char **argv)
{
    size_t slot;
    if (!free_slot(x, &slot))
        return 0;
    for (;;) {
        int r = cmd_spawn_start(x->c, argc, argv, slot_env(x, slot), &x->children[slot]);
        if (r == 0)
            x->running++;
        else
            x->children[slot].pid = 0;
        /* Too many processes: as the real tool, wait for one of ours to end. */
        if (r != -EAGAIN || x->running == 0)
            return r;
        if (!wait_one(x))
            return 0;
    }
}

static int run_alone(struct xargs *x, int argc, char **argv)
{
    struct outcome o;
    int r = cmd_spawn(x->c, argc, argv, slot_env(x, 0), &o);
    if (r < 0)
        return r;
    x->pending = true;
    x->last = o;
    return 0;
}

/* Runs the first @n arguments of the command line. */
static int run_some(struct xargs *x, uint64_t n)
{
    struct cmd *c = x->c;
    char **argv = arena_alloc(c->arena, (n + 1) * sizeof *argv), *p = x->text.p;
    for (uint64_t i = 0; i < n; i++) {
        argv[i] = p;
        p += strlen(p) + 1;
    }
    argv[n] = NULL;
    if (x->verbose) {
        struct buf line;
        buf_init(&line, LIMIT_STRING);
        const struct quote_opts quoting = {QUOTE_SHELL_ESCAPE, cmd_utf8(c), NULL};
        for (uint64_t i = 0; i < n; i++) {
            if (i)
                buf_putc(&line, ' ');
            quote_add(&line, str_c(argv[i]), &quoting);
        }
        buf_putc(&line, '\n');
        cmd_err_raw(c, line.p);
        buf_done(&line);
    }
    return x->procs_max == 1 ? run_alone(x, (int)n, argv) : run_beside(x, (int)n, argv);
}

void xargs__run(struct xargs *x)
{
    uint64_t n = x->args;
    struct arena_mark mark = arena_mark(x->c->arena);
    settle(x);
    if (x->failed)
        return;
    x->runs++;
    int r = run_some(x, n);
    arena_reset(x->c->arena, mark);
    if (r < 0) {
        if (r == -E2BIG) /* only with -s beyond the default and very short arguments */
            xargs__fail(x, "argument list too long");
        else if (r == -EAGAIN || r == -ENOMEM)
            xargs__fail(x, "cannot fork: Resource temporarily unavailable");
        else
            child_ended(x, r, (struct outcome){.kind = OUTCOME_EXITED});
    }
    x->args = x->initial_args;
    buf_trunc(&x->text, x->initial_chars);
}

void xargs__run_if_possible(struct xargs *x)
{
    if (!x->replace && !x->in_initial && x->args != x->initial_args && !x->exit_if_long)
        xargs__run(x);
}

/* ---- the command line ---- */

static bool full(const struct xargs *x)
{
    bool by_count = !x->in_initial && x->args_per_run && x->args - x->initial_args == x->args_per_run;
    return by_count || x->args == x->args_most;
}

void xargs__push(struct xargs *x, const char *arg, size_t n)
{
    if (x->text.n + n + 1 > x->chars_max) {
        if (x->in_initial || x->args == x->initial_args) {
            xargs__fail(x, "cannot fit single argument within argument list size limit");
            return;
        }
        if (x->replace || (x->exit_if_long && (x->lines_per_run || x->args_per_run))) {
            xargs__fail(x, "argument list too long");
            return;
        }
        xargs__run(x);
    }
    if (!x->failed && full(x))
        xargs__run(x);
    if (x->failed)
        return;
    buf_add(&x->text, arg, n);
    buf_putc(&x->text, 0);
    x->args++;
    if (full(x))
        xargs__run(x);
}

void xargs__insert(struct xargs *x, const char *arg)
{
    struct buf b;
    size_t len = strlen(x->replace);
    size_t left = x->chars_max - 1;
    buf_init(&b, LIMIT_ARGS);
    do {
        const char *hit = strstr(arg, x->replace);
        size_t n = hit ? (size_t)(hit - arg) : strlen(arg);
        if (left <= n)
            break;
        left -= n;
        buf_add(&b, arg, n);
        arg += n;
        if (hit) {
            if (left <= x->word.n)
                break;
            left -= x->word.n;
            buf_adds(&b, buf_str(&x->word));
            arg += len;
        }
    } while (*arg && cmd_poll(x->c) == 0);
    if (*arg)
        xargs__fail(x, "command too long");
    else
        xargs__push(x, b.p, strlen(b.p)); /* it ends at a NUL of the input */
    buf_done(&b);
}
