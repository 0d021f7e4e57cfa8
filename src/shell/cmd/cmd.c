/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <strings.h>

#include "base/num.h"
#include "engine/engine.h"
#include "types/errtab.h"

/* ---- registry ---- */

/* The linker's section; the array's ends are made by the linker itself. Weak: a program may link no command at all. */
extern const struct cmd_def *const __start_shell_cmds[] __attribute__((weak, visibility("hidden")));
extern const struct cmd_def *const __stop_shell_cmds[] __attribute__((weak, visibility("hidden")));

#define CMD_MAX 256

static const struct cmd_def *cmd_sorted[CMD_MAX];
static size_t cmd_count;

static int def_cmp(const void *a, const void *b)
{
    const struct cmd_def *const *x = a;
    const struct cmd_def *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

/* Sorted once before any thread but the first exists; later calls only read. */
__attribute__((constructor)) static void cmd_sort(void)
{
    for (const struct cmd_def *const *d = __start_shell_cmds; d < __stop_shell_cmds && cmd_count < CMD_MAX; d++)
        cmd_sorted[cmd_count++] = *d;
    qsort(cmd_sorted, cmd_count, sizeof cmd_sorted[0], def_cmp);
}

const struct cmd_def *const *cmd_all(size_t *ret_n)
{
    *ret_n = cmd_count;
    return cmd_sorted;
}

const struct cmd_def *cmd_find(struct str name)
{
    size_t lo = 0, hi = cmd_count;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        int d = str_cmp(str_c(cmd_sorted[mid]->name), name);
        if (d == 0)
            return cmd_sorted[mid];
        if (d < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return NULL;
}

/* ---- blocks ---- */

/*
 * Blocks live in a small store per thread, so that a short command allocates nothing. They are charged to no account: a
 * process holds a few at most, and processes are limited.
 */
#define BLOCK_KEEP 8
static __thread char *block_store[BLOCK_KEEP];
static __thread unsigned block_kept;

char *cmd_block_get(void)
{
    if (block_kept > 0)
        return block_store[--block_kept];
    struct mem_account *acc = mem_use(NULL);
    char *b = mem_alloc(CMD_BLOCK + 16);
    mem_use(acc);
    return b;
}

void cmd_block_put(char *block)
{
    if (!block)
        return;
    if (block_kept < BLOCK_KEEP) {
        block_store[block_kept++] = block;
        return;
    }
    struct mem_account *acc = mem_use(NULL);
    mem_free(block);
    mem_use(acc);
}

/* ---- output ---- */

/* Writes all of it to descriptor 1: 0 or the sticky error. */
static int out_all(struct cmd *c, const char *p, size_t n)
{
    c->written |= n > 0;
    while (n > 0 && c->out_err == 0) {
        ssize_t w = proc_write(c->p, 1, p, n);
        if (w < 0) {
            c->out_err = (int)w;
        } else {
            p += w;
            n -= (size_t)w;
        }
    }
    return c->out_err;
}

int cmd_flush(struct cmd *c)
{
    size_t n = c->out.n;
    c->out.n = 0;
    return n > 0 ? out_all(c, c->out.p, n) : c->out_err;
}

/* Room for at least one more byte in c->out, which is a block. */
static int out_room(struct cmd *c)
{
    if (c->out.cap == 0) {
        c->out.p = cmd_block_get();
        c->out.cap = CMD_BLOCK + 16;
        c->out.max = CMD_BLOCK;
        c->out.n = 0;
    } else if (c->out.n == CMD_BLOCK) {
        cmd_flush(c);
    }
    return c->out_err;
}

int cmd_write(struct cmd *c, const void *p, size_t n)
{
    const char *s = p;
    if (n == 0 || c->out_err != 0)
        return c->out_err;
    if (out_room(c) != 0)
        return c->out_err;
    if (n > CMD_BLOCK - c->out.n) {
        cmd_flush(c);
        if (n >= CMD_BLOCK)
            return out_all(c, s, n);
    }
    memcpy(c->out.p + c->out.n, s, n);
    c->out.n += n;
    if (c->out_tty && memchr(s, '\n', n))
        return cmd_flush(c);
    return c->out_err;
}

int cmd_puts(struct cmd *c, const char *s)
{
    return cmd_write(c, s, strlen(s));
}

int cmd_putc(struct cmd *c, char ch)
{
    if (c->out_err != 0 || out_room(c) != 0)
        return c->out_err;
    c->out.p[c->out.n++] = ch;
    if (ch == '\n' && c->out_tty)
        return cmd_flush(c);
    return 0;
}

int cmd_printf(struct cmd *c, const char *fmt, ...)
{
    char small[512];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(small, sizeof small, fmt, ap);
    va_end(ap);
    if (n < 0)
        return c->out_err;
    if ((size_t)n < sizeof small)
        return cmd_write(c, small, (size_t)n);
    struct arena_mark m = arena_mark(c->arena);
    char *big = arena_alloc(c->arena, (size_t)n + 1);
    va_start(ap, fmt);
    vsnprintf(big, (size_t)n + 1, fmt, ap);
    va_end(ap);
    cmd_write(c, big, (size_t)n);
    arena_reset(c->arena, m);
    return c->out_err;
}

/* ---- messages ---- */

/* Descriptor 2; a message that cannot be written is lost, as stdio's are. */
static void err_all(struct cmd *c, const char *p, size_t n)
{
    c->written |= n > 0;
    while (n > 0) {
        ssize_t w = proc_write(c->p, 2, p, n);
        if (w <= 0)
            return;
        p += w;
        n -= (size_t)w;
    }
}

void cmd_err_raw(struct cmd *c, const char *text)
{
    err_all(c, text, strlen(text));
}

/* "NAME: text[: strerror]\n" in one write. */
__attribute__((format(printf, 3, 0))) static void message(struct cmd *c, int err, const char *fmt, va_list ap)
{
    char small[512];
    cmd_flush(c);
    struct arena_mark m = arena_mark(c->arena);
    va_list again;
    va_copy(again, ap);
    int head = snprintf(small, sizeof small, "%s: ", c->name);
    size_t at = NUM_MIN((size_t)head, sizeof small - 1);
    int body = vsnprintf(small + at, sizeof small - at, fmt, ap);
    const char *tail = err ? errtab_text(err) : "";
    size_t need = (size_t)head + (size_t)(body < 0 ? 0 : body) + strlen(tail) + 4;
    char *p = small;
    size_t cap = sizeof small;
    if (need > cap) {
        cap = need;
        p = arena_alloc(c->arena, cap);
        snprintf(p, cap, "%s: ", c->name);
        vsnprintf(p + head, cap - (size_t)head, fmt, again);
    }
    va_end(again);
    size_t n = strlen(p);
    n += (size_t)snprintf(p + n, cap - n, "%s%s\n", err ? ": " : "", tail);
    err_all(c, p, n);
    arena_reset(c->arena, m);
}

void cmd_err(struct cmd *c, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    message(c, 0, fmt, ap);
    va_end(ap);
}

void cmd_errno(struct cmd *c, int err, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (err != -EINTR || !c->p->must_end)
        message(c, err, fmt, ap);
    va_end(ap);
}

void cmd_try_help(struct cmd *c)
{
    char text[256];
    int n = snprintf(text, sizeof text, "Try '%.200s --help' for more information.\n", c->name);
    err_all(c, text, (size_t)n);
}

int cmd_usage_error(struct cmd *c, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    message(c, 0, fmt, ap);
    va_end(ap);
    cmd_try_help(c);
    return c->def->usage_status;
}

bool cmd_can_hand_over(const struct cmd *c)
{
    return !c->written && c->out.n == 0 && proc_has_tool(c->p->ps, str_c(c->def->name));
}

int cmd_refuse(struct cmd *c, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (c->hand_over || !cmd_can_hand_over(c)) {
        if (!c->hand_over)
            message(c, 0, fmt, ap);
    } else {
        c->hand_over = true;
        vsnprintf(c->reason, sizeof c->reason, fmt, ap);
    }
    va_end(ap);
    return 2;
}

int cmd_no_memory(struct cmd *c)
{
    cmd_err(c, "memory exhausted");
    return c->def->usage_status;
}

int cmd_missing(struct cmd *c)
{
    return cmd_usage_error(c, "missing operand");
}

int cmd_extra(struct cmd *c, const char *operand)
{
    return cmd_usage_error(c, "extra operand %s", cmd_quote_loc(c, operand));
}

/* ---- running ---- */

/* What is pending goes out; a failure is the command's, unless it must end anyway. */
static int run_end(struct cmd *c, int status)
{
    if (c->p->must_end)
        return status;
    cmd_flush(c);
    if (c->out_err == 0 || c->p->must_end)
        return status;
    if (!c->out_reported)
        cmd_errno(c, c->out_err, "write error");
    return c->def->usage_status;
}

#define ARGV_SMALL 32

int cmd_run(const struct cmd_def *def, struct proc *p, const struct exec_image *img, struct outcome *ret)
{
    struct arena arena, keep;
    char *small[ARGV_SMALL], **given MEM_AUTO = NULL;
    size_t n = (size_t)img->argc + 1;
    arena_init(&arena);
    arena_init(&keep);
    if (n > ARGV_SMALL)
        given = mem_alloc(n * sizeof *given);
    memcpy(given ? given : small, img->argv, n * sizeof *given);
    struct cmd c = {
        .p = p,
        .def = def,
        .name = img->argc > 0 ? img->argv[0] : def->name,
        .argc = img->argc,
        .argv = img->argv,
        .arena = &arena,
        .keep = &keep,
        .img = img,
        .optind = 1,
    };
    c.out.p = (char *)(uintptr_t) "";
    c.out_tty = proc_isatty(p, 1);
    int status = def->main(&c);
    if (!c.hand_over)
        status = run_end(&c, status);
    if (c.out.cap)
        cmd_block_put(c.out.p);
    arena_done(&arena);
    arena_done(&keep);
    if (c.hand_over) {
        /* The tool sees the arguments as they were before cmd_getopt() permuted them. */
        struct exec_image as_given = *img;
        as_given.argv = given ? given : small;
        return proc_hand_over(p, &as_given, str_c(def->name), str_c(c.reason), ret);
    }
    *ret = (struct outcome){.kind = OUTCOME_EXITED, .code = (uint8_t)status};
    return 0;
}

/* ---- input ---- */

int cmd_open_input(struct cmd *c, const char *name)
{
    if (name[0] == '-' && name[1] == 0)
        return 0;
    return cmd_open_safe(c, name, O_RDONLY, 0);
}

int cmd_open_safe(struct cmd *c, const char *name, int oflags, uint32_t mode)
{
    int fd = proc_open(c->p, str_c(name), oflags, mode);
    if (fd < 0 || fd > 2)
        return fd;
    /* A closed standard descriptor must not become the operand's: output meant for it would go there. */
    int high = proc_dup(c->p, fd, 3, false);
    proc_close(c->p, fd);
    return high;
}

void cmd_close_input(struct cmd *c, int fd)
{
    if (fd > 0)
        proc_close(c->p, fd);
}

int cmd_read_all(struct cmd *c, int fd, struct buf *out)
{
    for (;;) {
        int r = buf_reserve(out, CMD_BLOCK);
        size_t want = r == 0 ? CMD_BLOCK : out->cap > out->n + 1 ? out->cap - out->n - 1 : 0;
        if (want == 0)
            return r;
        out->err = 0;
        ssize_t n = proc_read(c->p, fd, out->p + out->n, NUM_MIN(want, out->max - out->n));
        if (n <= 0)
            return (int)n;
        out->n += (size_t)n;
        out->p[out->n] = 0;
        r = cmd_poll(c);
        if (r < 0)
            return r;
    }
}

bool cmd_ask(struct cmd *c, const char *fmt, ...)
{
    char ch, first = 0;
    va_list ap;
    cmd_flush(c);
    va_start(ap, fmt);
    struct buf b;
    buf_init(&b, 1u << 20);
    buf_vaddf(&b, fmt, ap);
    va_end(ap);
    err_all(c, b.p, b.n);
    buf_done(&b);
    while (proc_read(c->p, 0, &ch, 1) == 1 && ch != '\n')
        if (!first)
            first = ch;
    return first == 'y' || first == 'Y';
}

/* ---- environment ---- */

char **cmd_environ(struct cmd *c)
{
    static char *none[1];
    char **e = c->img->env ? c->img->env(c->img->env_arg) : NULL;
    return e ? e : none;
}

const char *cmd_getenv(struct cmd *c, const char *name)
{
    size_t n = strlen(name);
    for (char **e = cmd_environ(c); *e; e++)
        if (strncmp(*e, name, n) == 0 && (*e)[n] == '=')
            return *e + n + 1;
    return NULL;
}

bool cmd_utf8(struct cmd *c)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    if (c->utf8_known)
        return c->utf8;
    c->utf8_known = true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *v = cmd_getenv(c, names[i]);
        if (!v || !*v)
            continue;
        /* The only locales there are: C, POSIX and C.UTF-8. Others are as not installed, which leaves C. */
        c->utf8 = strcasecmp(v, "C.UTF-8") == 0 || strcasecmp(v, "C.utf8") == 0;
        break;
    }
    return c->utf8;
}
