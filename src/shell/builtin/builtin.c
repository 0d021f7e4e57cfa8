/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/shell_int.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/mem.h"

/* ---- registry ---- */

/* The linker's section; the array's ends are made by the linker itself. Weak: a program may link no builtin at all. */
extern const struct builtin *const __start_shell_builtins[] __attribute__((weak, visibility("hidden")));
extern const struct builtin *const __stop_shell_builtins[] __attribute__((weak, visibility("hidden")));

static const struct builtin *builtin_sorted[BUILTIN_MAX];
static size_t builtin_count;

static int def_cmp(const void *a, const void *b)
{
    const struct builtin *const *x = a;
    const struct builtin *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

/* Sorted once before any thread but the first exists; later calls only read. */
__attribute__((constructor)) static void builtin_sort(void)
{
    for (const struct builtin *const *d = __start_shell_builtins; d < __stop_shell_builtins; d++)
        if (builtin_count < BUILTIN_MAX)
            builtin_sorted[builtin_count++] = *d;
    qsort(builtin_sorted, builtin_count, sizeof builtin_sorted[0], def_cmp);
}

const struct builtin *const *builtin_all(size_t *ret_n)
{
    *ret_n = builtin_count;
    return builtin_sorted;
}

/* Place in builtin_sorted, or -1. */
static int place_of(struct str name)
{
    size_t lo = 0, hi = builtin_count;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        int d = str_cmp(str_c(builtin_sorted[mid]->name), name);
        if (d == 0)
            return (int)mid;
        if (d < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return -1;
}

const struct builtin *builtin_find(struct shell *sh, struct str name)
{
    int i = place_of(name);
    if (i < 0 || (sh->builtins_off[i / 64] >> (i % 64) & 1))
        return NULL;
    return builtin_sorted[i];
}

const struct builtin *builtin_find_any(struct str name)
{
    int i = place_of(name);
    return i < 0 ? NULL : builtin_sorted[i];
}

void builtin_enable(struct shell *sh, const struct builtin *b, bool on)
{
    int i = place_of(str_c(b->name));
    uint64_t bit = UINT64_C(1) << (i % 64);
    if (on)
        sh->builtins_off[i / 64] &= ~bit;
    else
        sh->builtins_off[i / 64] |= bit;
    shell_lookup_changed(sh);
}

/* ---- output ---- */

#define OUT_PIECE 65536u /* what is collected before it is written */

/* Writes the first @n bytes of what is pending. The failure sticks in sh->out.err until the last flush tells the
 * executor. */
static void out_spill(struct shell *sh, size_t n)
{
    const char *p = sh->out.p;
    size_t left = n;
    while (left > 0 && sh->out.err == 0) {
        ssize_t w = proc_write(sh->p, 1, p, left);
        if (w < 0) {
            sh->out.err = (int)w;
        } else {
            p += w;
            left -= (size_t)w;
        }
    }
    memmove(sh->out.p, sh->out.p + n, sh->out.n - n);
    buf_trunc(&sh->out, sh->out.n - n);
}

void sh_write(struct shell *sh, struct str s)
{
    while (s.n > 0 && sh->out.err == 0) {
        size_t n = OUT_PIECE - sh->out.n;
        n = s.n < n ? s.n : n;
        buf_add(&sh->out, s.p, n);
        s = str_from(s, n);
        if (sh->out.n == OUT_PIECE)
            out_spill(sh, sh->out.n);
    }
}

void sh_puts(struct shell *sh, const char *s)
{
    sh_write(sh, str_c(s));
}

void sh_printf(struct shell *sh, const char *fmt, ...)
{
    char small[512];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(small, sizeof small, fmt, ap);
    va_end(ap);
    if (n < 0)
        return;
    if ((size_t)n < sizeof small) {
        sh_write(sh, str_of(small, (size_t)n));
        return;
    }
    char *big = mem_try((size_t)n + 1);
    if (!big) {
        sh->out.err = -ENOMEM;
        return;
    }
    va_start(ap, fmt);
    vsnprintf(big, (size_t)n + 1, fmt, ap);
    va_end(ap);
    sh_write(sh, str_of(big, (size_t)n));
    mem_free(big);
}

int sh_flush(struct shell *sh)
{
    if (sh->out.n == 0 && sh->out.err == 0)
        return 0;
    out_spill(sh, sh->out.n);
    int r = sh->out.err;
    buf_clear(&sh->out);
    return r;
}

void sh_flush_lines(struct shell *sh)
{
    const char *nl = sh->out.n > 0 ? memrchr(sh->out.p, '\n', sh->out.n) : NULL;
    if (nl)
        out_spill(sh, (size_t)(nl - sh->out.p) + 1);
}

/* ---- options, usage, help ---- */

int builtin_usage(struct shell *sh, const struct builtin *b)
{
    char text[512];
    int n = snprintf(text, sizeof text, "%s: usage: %s\n", b->name, b->synopsis);
    if (n > 0)
        sh_write_fd(sh, 2, str_of(text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1));
    return 2;
}

int builtin_help(struct shell *sh, const struct builtin *b)
{
    sh_printf(sh, "%s: %s\n", b->name, b->synopsis);
    sh_puts(sh, b->help);
    return 2;
}

bool builtin_written(const struct builtin_args *a, struct str s)
{
    for (int i = 0; a->written >> i && i < a->argc && i < 64; i++)
        if (a->argv[i].p == s.p)
            return a->written >> i & 1;
    return false;
}

int builtin_too_many(struct shell *sh, const struct builtin_args *a)
{
    sh_error(sh, "%s: too many arguments", a->argv[0].p);
    if (sh->dash_c)
        (void)sh_fatal(sh, 1);
    else
        (void)sh_abort(sh, 1);
    return 1;
}

/* After a wrong option: the usage of the builtin that @a calls. */
static int opt_fail(struct shell *sh, const struct builtin_args *a)
{
    const struct builtin *b = builtin_find_any(a->argv[0]);
    if (b)
        builtin_usage(sh, b);
    return '?';
}

/* Whether argument @s begins a cluster of options here. */
static bool is_cluster(struct str s, bool plus)
{
    return s.n > 1 && (s.p[0] == '-' || (plus && s.p[0] == '+'));
}

/* The argument of the option just found: the rest of the word or the next one. False when there is none. */
static bool opt_arg(struct builtin_args *a, struct builtin_opt *o)
{
    struct str w = a->argv[o->i];
    if ((size_t)o->pos < w.n) {
        o->arg = str_from(w, (size_t)o->pos);
    } else if (o->i + 1 < a->argc) {
        o->arg = a->argv[++o->i];
    } else {
        return false;
    }
    o->pos = 0;
    o->i++;
    return true;
}

int builtin_getopt(struct shell *sh, struct builtin_args *a, const char *opts, struct builtin_opt *o)
{
    bool plus = *opts == '+';
    opts += plus;
    if (o->i == 0)
        o->i = 1;
    if (o->pos == 0) {
        if (o->i >= a->argc || !is_cluster(a->argv[o->i], plus))
            return -1;
        struct str w = a->argv[o->i];
        if (str_eq(w, STR("--"))) {
            o->i++;
            return -1;
        }
        if (str_eq(w, STR("--help"))) {
            const struct builtin *b = builtin_find_any(a->argv[0]);
            if (b)
                builtin_help(sh, b);
            return '?';
        }
        o->pos = 1;
    }
    struct str w = a->argv[o->i];
    char c = w.p[o->pos++];
    int sign = w.p[0] == '+' ? 0x100 : 0;
    const char *def = c && c != ':' ? strchr(opts, c) : NULL;
    o->opt = (unsigned char)c | sign;
    o->arg = (struct str){0};
    if (!def) {
        sh_error(sh, "%s: %c%c: invalid option", a->argv[0].p, w.p[0], c);
        return opt_fail(sh, a);
    }
    if (def[1] == ':') {
        if (!opt_arg(a, o)) {
            sh_error(sh, "%s: -%c: option requires an argument", a->argv[0].p, c);
            return opt_fail(sh, a);
        }
    } else if ((size_t)o->pos >= w.n) {
        o->pos = 0;
        o->i++;
    }
    return o->opt;
}
