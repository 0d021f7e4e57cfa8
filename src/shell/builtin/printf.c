/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/shell_int.h"

#include <errno.h>
#include <stdarg.h>

#include "base/clock.h"
#include "engine/engine.h"
#include "shell/builtin/printf_int.h"
#include "shell/builtin/target_int.h"
#include "shell/cmd/cmd.h"

struct print {
    struct shell *sh;
    const char *who; /* argv[0] */
    struct buf text; /* of -v */
};

static int write_out(void *arg, const char *p, size_t n)
{
    struct print *pr = arg;
    sh_write(pr->sh, str_of(p, n));
    return pr->sh->out.err;
}

static int write_text(void *arg, const char *p, size_t n)
{
    struct print *pr = arg;
    return buf_add(&pr->text, p, n);
}

__attribute__((format(printf, 2, 3))) static void error(void *arg, const char *fmt, ...)
{
    struct print *pr = arg;
    struct buf text BUF_AUTO;
    va_list ap;
    buf_init(&text, LIMIT_STRING);
    va_start(ap, fmt);
    buf_vaddf(&text, fmt, ap);
    va_end(ap);
    sh_error(pr->sh, "%s: %s", pr->who, text.p);
}

static const char *plain_name(void *arg, struct str s)
{
    (void)arg;
    return s.p;
}

static void quote(void *arg, struct buf *out, struct str s)
{
    struct print *pr = arg;
    if (s.n == 0)
        buf_addc(out, "''");
    else
        quote_printf_q(out, s, pr->sh->utf8);
}

static bool count(void *arg, struct str name, int64_t n)
{
    struct print *pr = arg;
    struct sym *s = sym_valid(name) ? sym_get(pr->sh, name) : NULL;
    if (!s) {
        sh_error(pr->sh, "%s: `%s': not a valid identifier", pr->who, name.p);
        return false;
    }
    return var_set_int(pr->sh, s, n) == 0;
}

/* ---- %(fmt)T ---- */

/*
 * The C library's strftime(3), which bash calls, lacks some of date(1)'s conversions; it prints them as they are. So a
 * '%' before one of them is doubled.
 */
static void libc_format(struct buf *out, struct str fmt)
{
    for (size_t i = 0; i < fmt.n;) {
        if (fmt.p[i] != '%') {
            buf_putc(out, fmt.p[i++]);
            continue;
        }
        size_t j = i + 1;
        while (j < fmt.n && fmt.p[j] && strchr("_-0^#+", fmt.p[j]))
            j++;
        while (j < fmt.n && fmt.p[j] >= '0' && fmt.p[j] <= '9')
            j++;
        if (j < fmt.n && (fmt.p[j] == 'E' || fmt.p[j] == 'O'))
            j++;
        if (j >= fmt.n || fmt.p[j] == 'N' || fmt.p[j] == 'q' || fmt.p[j] == ':')
            buf_putc(out, '%');
        j = j < fmt.n ? j + 1 : j;
        buf_add(out, fmt.p + i, j - i);
        i = j;
    }
}

/* The only variable that the time conversions look at. */
static char **zone_env(void *arg)
{
    struct shell *sh = arg;
    char **env = arena_alloc(&sh->scratch, 2 * sizeof *env);
    struct sym *s = sym_get(sh, STR("TZ"));
    struct var *v = s ? var_find(sh, s) : NULL;
    bool exported = v && (v->flags & VAR_EXPORT) && (v->flags & VAR_SET);
    env[0] = exported ? arena_printf(&sh->scratch, "TZ=%s", v->p ? v->p : "") : NULL;
    env[1] = NULL;
    return env;
}

static void time_text(void *arg, struct buf *out, struct str fmt, int64_t secs)
{
    const int64_t most = INT64_C(67767976233529199); /* localtime(3) fails where the year passes 2^31 */
    struct print *pr = arg;
    struct shell *sh = pr->sh;
    struct buf libc BUF_AUTO;
    struct cmd_time t;
    struct arena_mark m = arena_mark(&sh->scratch);
    struct exec_image img = {.env = zone_env, .env_arg = sh};
    struct cmd c = {.p = sh->p, .name = pr->who, .arena = &sh->scratch, .keep = &sh->scratch, .img = &img};
    if (secs == -1)
        secs = proc_wall(sh->ps) / CLOCK_S;
    else if (secs == -2)
        secs = sh->start_wall;
    else if (secs > most || secs < -most)
        secs = 0;
    buf_init(&libc, LIMIT_STRING);
    libc_format(&libc, fmt);
    cmd_localtime(&c, secs, false, &t);
    cmd_strftime(&c, out, libc.p, &t, secs, 0);
    arena_reset(&sh->scratch, m);
}

/* ---- the builtin ---- */

static const struct printf_ops ops_out = {write_out, error, plain_name, quote, time_text, count};
static const struct printf_ops ops_text = {write_text, error, plain_name, quote, time_text, count};

/* printf -v: what was printed becomes the value, also after an error in the format. */
static int print_into(struct print *pr, struct printf_job *job, const struct target *t, const struct builtin_args *a,
                      int i)
{
    job->ops = &ops_text;
    buf_init(&pr->text, LIMIT_STRING);
    int status = printf_run(job, a->argv[i], a->argv + i + 1, (uint32_t)(a->argc - i - 1));
    if (pr->text.err) {
        sh_error(pr->sh, "%s: the text is too long for a variable", pr->who);
        status = 1;
    } else if (target_set(pr->sh, t, buf_str(&pr->text)) < 0) {
        status = 1;
    }
    buf_done(&pr->text);
    return status;
}

static int builtin_printf(struct shell *sh, struct builtin_args *a)
{
    struct builtin_opt o = {0};
    struct target target;
    bool into = false;
    int c;
    while ((c = builtin_getopt(sh, a, "v:", &o)) != -1) {
        if (c != 'v')
            return 2;
        int r = target_parse(sh, o.arg, builtin_written(a, o.arg), &target);
        if (r == -EINVAL)
            sh_error(sh, "%s: `%s': not a valid identifier", a->argv[0].p, o.arg.p);
        if (r < 0)
            return 2;
        into = true;
    }
    if (o.i >= a->argc)
        return builtin_usage(sh, builtin_find_any(a->argv[0]));
    struct print pr = {.sh = sh, .who = a->argv[0].p};
    struct printf_job job = {.ops = &ops_out, .arg = &pr, .p = sh->p, .utf8 = sh->utf8};
    if (into)
        return print_into(&pr, &job, &target, a, o.i);
    return printf_run(&job, a->argv[o.i], a->argv + o.i + 1, (uint32_t)(a->argc - o.i - 1));
}

BUILTIN(printf, "printf", builtin_printf, BUILTIN_REFS, "printf [-v var] format [arguments]",
        "    Print the arguments as the format says, reusing it while arguments are left.\n"
        "\n"
        "      -v var    assign the text to var (or to an array element) instead of printing it\n"
        "\n"
        "    Besides the conversions of printf(3) there are %b (decode backslash sequences), %q (quote for the\n"
        "    shell), %Q (the same, with the precision applied before), and %(fmt)T (a time as strftime(3) prints\n"
        "    it; the argument is in seconds since 1970, -1 or none is the present, -2 the start of the shell).\n"
        "\n"
        "    The status is 0 unless an option or an argument is wrong, or writing or assigning fails.\n");
