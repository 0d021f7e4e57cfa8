/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <errno.h>
#include <limits.h>

#include "base/clock.h"
#include "shell/cmd/dateparse.h"
#include "shell/cmd/zone.h"

#define DATE_DEFAULT "%a %b %e %H:%M:%S %Z %Y"
#define DATE_RFC_EMAIL "%a, %d %b %Y %H:%M:%S %z"

/* The clock's and the tree's times have nanoseconds. */
#define DATE_RESOLUTION 1

static const struct cmd_opt opts[] = {
    {'d', "date", CMD_ARG},
    {256, "debug", CMD_NO_ARG | CMD_REFUSED},
    {'f', "file", CMD_ARG},
    {'I', "iso-8601", CMD_OPT_ARG},
    {'r', "reference", CMD_ARG},
    {257, "resolution", CMD_NO_ARG},
    {'R', "rfc-email", CMD_NO_ARG},
    {'R', "rfc-822", CMD_NO_ARG},
    {'R', "rfc-2822", CMD_NO_ARG},
    {258, "rfc-3339", CMD_ARG},
    {'s', "set", CMD_ARG | CMD_REFUSED},
    {'u', "utc", CMD_NO_ARG},
    {'u', "uct", CMD_NO_ARG},
    {'u', "universal", CMD_NO_ARG},
    {0},
};

enum { SPEC_HOURS, SPEC_MINUTES, SPEC_DATE, SPEC_SECONDS, SPEC_NS };

struct date {
    struct cmd *c;
    const char *text, *batch, *reference, *format;
    bool resolution;
};

static struct dateparse_time clock_now(struct cmd *c)
{
    int64_t now = proc_wall(c->p->ps), ns = now % CLOCK_S;
    ns = ns < 0 ? ns + CLOCK_S : ns;
    return (struct dateparse_time){(now - ns) / CLOCK_S, (uint32_t)ns};
}

/* Whether a year fits a struct tm, which is where the real tool's range ends: in UTC as well as in the zone. */
static bool in_range(struct cmd *c, int64_t s, struct cmd_time *ret)
{
    const int64_t lo = (int64_t)INT_MIN + 1900, hi = (int64_t)INT_MAX + 1900;
    struct cmd_time utc;
    cmd_localtime(c, s, true, &utc);
    cmd_localtime(c, s, false, ret);
    return utc.year >= lo && utc.year <= hi && ret->year >= lo && ret->year <= hi;
}

/* Prints @t as the format has it; status. */
static int show(struct date *d, struct dateparse_time t)
{
    struct cmd *c = d->c;
    struct cmd_time tm;
    struct buf b;
    if (!in_range(c, t.s, &tm)) {
        cmd_err(c, "time %s is out of range", cmd_quote_loc(c, arena_printf(c->arena, "%lld", (long long)t.s)));
        return 1;
    }
    buf_init(&b, LIMIT_STRING);
    cmd_strftime(c, &b, d->format, &tm, t.s, t.ns);
    buf_putc(&b, '\n');
    int status = b.err ? cmd_no_memory(c) : 0;
    if (status == 0)
        cmd_write(c, b.p, b.n);
    buf_done(&b);
    return status;
}

/* Reads @text and shows it; status. */
static int show_text(struct date *d, const char *text)
{
    struct dateparse_time t;
    if (dateparse_time(d->c, text, clock_now(d->c), &t) < 0) {
        cmd_err(d->c, "invalid date %s", cmd_quote_loc(d->c, text));
        return 1;
    }
    return show(d, t);
}

/* -f */
static int batch(struct date *d)
{
    struct cmd *c = d->c;
    struct cmd_lines l;
    struct str line;
    int fd = cmd_open_input(c, d->batch), status = 0;
    if (fd < 0) {
        cmd_errno(c, fd, "%s", cmd_quote(c, d->batch, false));
        return 1;
    }
    cmd_lines_init(&l, c, fd, '\n');
    int r;
    while ((r = cmd_lines_next(&l, &line, NULL)) > 0 && c->out_err == 0) {
        struct arena_mark mark = arena_mark(c->arena);
        status |= show_text(d, arena_dup(c->arena, line.p, line.n));
        arena_reset(c->arena, mark);
    }
    cmd_lines_done(&l);
    cmd_close_input(c, fd);
    if (r == -ENOMEM)
        status = cmd_no_memory(c);
    return status;
}

static int file_time(struct date *d)
{
    struct cmd *c = d->c;
    struct vfs_stat st;
    int r = proc_stat(c->p, str_c(d->reference), 0, &st);
    if (r < 0) {
        cmd_errno(c, r, "%s", cmd_quote(c, d->reference, false));
        return 1;
    }
    int64_t ns = st.mtime % CLOCK_S;
    ns = ns < 0 ? ns + CLOCK_S : ns;
    return show(d, (struct dateparse_time){(st.mtime - ns) / CLOCK_S, (uint32_t)ns});
}

/* Whether an operand has the form MMDDhhmm[[CC]YY][.ss], which sets the clock. */
static bool is_setting(const char *s)
{
    size_t n = strspn(s, "0123456789");
    if (n != 8 && n != 10 && n != 12)
        return false;
    return !s[n] || (s[n] == '.' && strspn(s + n + 1, "0123456789") == 2 && !s[n + 3]);
}

static int operand(struct date *d, bool by_option)
{
    struct cmd *c = d->c;
    if (c->optind + 1 < c->argc)
        return cmd_extra(c, c->argv[c->optind + 1]);
    const char *arg = c->argv[c->optind];
    if (*arg == '+') {
        if (d->format) {
            cmd_err(c, "multiple output formats specified");
            return 1;
        }
        d->format = arg + 1;
        return 0;
    }
    if (by_option)
        return cmd_usage_error(c,
                               "the argument %s lacks a leading '+';\n"
                               "when using an option to specify date(s), any non-option\n"
                               "argument must be a format string beginning with '+'",
                               cmd_quote_loc(c, arg));
    if (is_setting(arg))
        return cmd_refuse(c, "setting the date is not implemented here");
    cmd_err(c, "invalid date %s", cmd_quote_loc(c, arg));
    return 1;
}

/* The format of -I or --rfc-3339; NULL after a message. */
static const char *iso(struct cmd *c, bool rfc)
{
    static const char *const names[] = {"hours", "minutes", "date", "seconds", "ns", NULL};
    static const int vals[] = {SPEC_HOURS, SPEC_MINUTES, SPEC_DATE, SPEC_SECONDS, SPEC_NS};
    static const char *const iso_formats[] = {"%Y-%m-%dT%H%:z", "%Y-%m-%dT%H:%M%:z", "%Y-%m-%d", "%Y-%m-%dT%H:%M:%S%:z",
                                              "%Y-%m-%dT%H:%M:%S,%N%:z"};
    static const char *const rfc_formats[] = {NULL, NULL, "%Y-%m-%d", "%Y-%m-%d %H:%M:%S%:z",
                                              "%Y-%m-%d %H:%M:%S.%N%:z"};
    if (!c->optarg)
        return iso_formats[SPEC_DATE];
    int k = cmd_choice(c, rfc ? "--rfc-3339" : "--iso-8601", c->optarg, rfc ? names + 2 : names, rfc ? vals + 2 : vals);
    return k < 0 ? NULL : rfc ? rfc_formats[k] : iso_formats[k];
}

/* 0, -1 when all is done, or the status to end with. */
static int options(struct date *d)
{
    struct cmd *c = d->c;
    for (int o; (o = cmd_getopt(c, opts, false)) != -1;) {
        const char *format = NULL;
        switch (o) {
        case -2:
            return cmd_usage_status(c) ? cmd_usage_status(c) : -1;
        case 'd':
            d->text = c->optarg;
            break;
        case 'f':
            d->batch = c->optarg;
            break;
        case 'r':
            d->reference = c->optarg;
            break;
        case 257:
            d->resolution = true;
            break;
        case 'u':
            zone_use(c, zone_load(c, "UTC0"));
            break;
        case 'R':
            format = DATE_RFC_EMAIL;
            break;
        default:
            format = iso(c, o == 258);
            if (!format)
                return 1;
            break;
        }
        if (format && d->format) {
            cmd_err(c, "multiple output formats specified");
            return 1;
        }
        if (format)
            d->format = format;
    }
    return 0;
}

/* "%-N" is as many digits as the clock has: "%9N". */
static const char *with_resolution(struct cmd *c, const char *format)
{
    char *copy = NULL;
    for (const char *f = format; *f; f++) {
        if (f[0] != '%')
            continue;
        if (f[1] == '-' && f[2] == 'N') {
            if (!copy)
                copy = arena_dup(c->arena, format, strlen(format));
            copy[f + 1 - format] = '9';
            f += 2;
        } else if (f[1] == '%') {
            f++;
        }
    }
    return copy ? copy : format;
}

static int date_main(struct cmd *c)
{
    struct date d = {.c = c};
    int r = options(&d);
    if (r != 0)
        return r < 0 ? 0 : r;
    int sources = (d.text != NULL) + (d.batch != NULL) + (d.reference != NULL) + d.resolution;
    if (sources > 1)
        return cmd_usage_error(c, "the options to specify dates for printing are mutually exclusive");
    if (c->optind < c->argc) {
        r = operand(&d, sources > 0);
        if (r != 0)
            return r;
    }
    if (!d.format)
        d.format = d.resolution ? "%s.%N" : DATE_DEFAULT;
    d.format = with_resolution(c, d.format);
    if (d.text)
        return show_text(&d, d.text);
    if (d.batch)
        return batch(&d);
    if (d.reference)
        return file_time(&d);
    return show(&d, d.resolution ? (struct dateparse_time){0, DATE_RESOLUTION} : clock_now(c));
}

CMD(date, date_main, 1, "Usage: date [OPTION]... [+FORMAT]\n",
    "Prints the time of the clock, or another, as FORMAT says (see strftime(3); also %N nanoseconds, %:z, %::z, and "
    "the flags -_0+^#).\n"
    "  -d, --date=STRING         the time that STRING describes, such as 'next friday 10:00', '3 days ago', '@86400'\n"
    "  -f, --file=DATEFILE       as -d for each line of DATEFILE; '-' is standard input\n"
    "  -I[FMT], --iso-8601[=FMT]  ISO 8601: FMT is date (the default), hours, minutes, seconds or ns\n"
    "      --resolution          the resolution of the clock\n"
    "  -R, --rfc-email           as RFC 5322 has it: Mon, 14 Aug 2006 02:34:56 -0600\n"
    "      --rfc-3339=FMT        as RFC 3339 has it: FMT is date, seconds or ns\n"
    "  -r, --reference=FILE      the time FILE was last changed\n"
    "  -u, --utc, --universal    Coordinated Universal Time\n");
