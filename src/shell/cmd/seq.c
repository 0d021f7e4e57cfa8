/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>

#include "base/num.h"
#include "shell/builtin/printf_num_int.h"

/* Whole numbers in steps up to this are counted in decimal digits, as the real tool does. */
#define SEQ_STEP_MAX 200

/* Longest number that is formatted; a width beyond it is a case of memory exhausted. */
#define SEQ_TEXT_MAX (64u << 20)

static const struct cmd_opt opts[] = {
    {'f', "format", CMD_ARG},
    {'s', "separator", CMD_ARG},
    {'w', "equal-width", CMD_NO_ARG},
    {0},
};

/* An operand: its value and how it was written. */
struct seq_num {
    long double value;
    uint64_t width; /* characters, when it is decimal */
    int precision;  /* digits behind the point; INT_MAX: unknown */
};

/* A format around one conversion. */
struct seq_fmt {
    struct str prefix, suffix; /* with %% made % */
    struct printf_spec spec;
    char conv;
};

struct seq {
    struct cmd *c;
    struct seq_num first, step, last;
    const char *format, *separator;
    bool equal_width;
    struct seq_fmt fmt;
};

/* ---- operands ---- */

static bool to_long_double(const char *s, long double *ret)
{
    char *end;
    errno = 0;
    long double v = strtold(s, &end);
    bool zero = fpclassify(v) == FP_ZERO;
    if (end == s || *end || (errno == ERANGE && !zero))
        return false;
    *ret = v;
    return true;
}

/* Width and precision of a decimal operand with an exponent at @e. */
static void exponent(struct seq_num *n, const char *text, const char *point, size_t fraction, const char *e)
{
    long exp = strtol(e + 1, NULL, 10);
    exp = NUM_MAX(exp, -(long)INT_MAX);
    exp = NUM_MIN(exp, (long)INT_MAX);
    if (exp < 0)
        n->precision = (int)NUM_MIN((long)n->precision - exp, (long)INT_MAX);
    else
        n->precision -= (int)NUM_MIN((long)n->precision, exp);
    n->width -= strlen(text) - (size_t)(e - text);
    if (exp < 0) {
        if (!point || e == point + 1)
            n->width++;
        exp = -exp;
    } else {
        if (point && n->precision == 0 && fraction > 0)
            n->width--;
        exp -= (long)NUM_MIN(fraction, (size_t)exp);
    }
    n->width += (uint64_t)exp;
}

static bool scan(struct seq *q, const char *arg, struct seq_num *n)
{
    struct cmd *c = q->c;
    if (!to_long_double(arg, &n->value)) {
        cmd_usage_error(c, "invalid floating point argument: %s", cmd_quote_loc(c, arg));
        return false;
    }
    if (isnan(n->value)) {
        cmd_usage_error(c, "invalid %s argument: %s", cmd_quote_loc(c, "not-a-number"), cmd_quote_loc(c, arg));
        return false;
    }
    while (isspace((unsigned char)*arg) || *arg == '+')
        arg++;
    const char *point = strchr(arg, '.');
    n->width = 0;
    n->precision = !point && !strchr(arg, 'p') ? 0 : INT_MAX;
    if (arg[strcspn(arg, "xX")] || !isfinite(n->value))
        return true;
    size_t fraction = 0;
    n->width = strlen(arg);
    if (point) {
        fraction = strcspn(point + 1, "eE");
        n->precision = (int)NUM_MIN(fraction, (size_t)INT_MAX);
        if (fraction == 0)
            n->width--; /* "5." is printed as 5 */
        else if (point == arg || !isdigit((unsigned char)point[-1]))
            n->width++; /* ".5" as 0.5 */
    }
    size_t e = strcspn(arg, "eE");
    if (arg[e])
        exponent(n, arg, point, fraction, arg + e);
    return true;
}

/* ---- formats ---- */

/* A literal part: text up to a '%' that begins a conversion, with "%%" made "%"; *p is left at that '%' or the end. */
static struct str literal(struct cmd *c, const char **p)
{
    char *out = arena_alloc(c->arena, strlen(*p) + 1);
    size_t n = 0;
    const char *s = *p;
    for (; *s; s++) {
        if (*s == '%' && s[1] != '%')
            break;
        if (*s == '%')
            s++;
        out[n++] = *s;
    }
    *p = s;
    return str_of(out, n);
}

static void flags(const char **p, struct printf_spec *s)
{
    for (;; (*p)++) {
        switch (**p) {
        case '-':
            s->minus = true;
            break;
        case '+':
            s->plus = true;
            break;
        case ' ':
            s->space = true;
            break;
        case '#':
            s->alt = true;
            break;
        case '0':
            s->zero = true;
            break;
        case '\'': /* digits grouped by the locale: C has no grouping */
            break;
        default:
            return;
        }
    }
}

static int64_t digits(const char **p)
{
    int64_t v = 0;
    for (; isdigit((unsigned char)**p); (*p)++)
        v = v > INT_MAX ? v : v * 10 + (**p - '0');
    return v;
}

/* Reads -f: true, or false after a message. */
static bool format(struct seq *q)
{
    struct cmd *c = q->c;
    const char *text = q->format, *p = text;
    struct seq_fmt *f = &q->fmt;
    const char *quoted = cmd_quote_loc(c, text);
    f->prefix = literal(c, &p);
    if (!*p) {
        cmd_err(c, "format %s has no %% directive", quoted);
        return false;
    }
    p++;
    flags(&p, &f->spec);
    f->spec.width = digits(&p);
    f->spec.prec = -1;
    if (*p == '.') {
        p++;
        f->spec.prec = digits(&p);
    }
    if (*p == 'L')
        p++;
    if (!*p) {
        cmd_err(c, "format %s ends in %%", quoted);
        return false;
    }
    if (!strchr("efgaEFGA", *p)) {
        cmd_err(c, "format %s has unknown %%%c directive", quoted, *p);
        return false;
    }
    f->conv = *p++;
    f->suffix = literal(c, &p);
    if (*p) {
        cmd_err(c, "format %s has too many %% directives", quoted);
        return false;
    }
    return true;
}

/* The format without -f: as many digits behind the point as the operands have. */
static void default_format(struct seq *q)
{
    struct seq_fmt *f = &q->fmt;
    int prec = NUM_MAX(q->first.precision, q->step.precision);
    f->conv = 'f';
    f->spec.prec = prec;
    if (prec == INT_MAX || q->last.precision == INT_MAX) {
        f->conv = 'g';
        f->spec.prec = -1;
    } else if (q->equal_width) {
        uint64_t first = q->first.width + (uint64_t)(prec - q->first.precision);
        uint64_t last = q->last.width + (uint64_t)(prec - q->last.precision);
        if (q->last.precision && prec == 0)
            last--;
        if (q->last.precision == 0 && prec)
            last++;
        if (q->first.precision == 0 && prec)
            first++;
        uint64_t width = NUM_MAX(first, last);
        if (width <= INT_MAX) {
            f->spec.zero = true;
            f->spec.width = (int64_t)width;
        } else {
            f->conv = 'g';
            f->spec.prec = -1;
        }
    }
}

/* Appends @v as the format's conversion has it. */
static int put_number(struct seq *q, struct buf *out, long double v)
{
    const struct printf_spec *s = &q->fmt.spec;
    struct printf_num f = {.n = 0};
    MEM_AUTO char *heap = NULL;
    if (!printf_num_float(&f, s, q->fmt.conv, v, &heap))
        return -ENOMEM;
    int64_t pad = s->width - (int64_t)(f.prefix_n + f.n) - f.zeros - f.more;
    pad = NUM_MAX(pad, 0);
    if (pad + f.zeros + f.more > SEQ_TEXT_MAX)
        return -ENOMEM;
    int64_t left = s->minus ? 0 : pad, right = s->minus ? pad : 0;
    if (s->zero && !s->minus && !f.no_zero) {
        f.zeros += left;
        left = 0;
    }
    for (; left > 0; left--)
        buf_putc(out, ' ');
    buf_add(out, f.prefix, f.prefix_n);
    for (; f.zeros > 0; f.zeros--)
        buf_putc(out, '0');
    buf_add(out, f.p, f.at);
    for (; f.more > 0; f.more--)
        buf_putc(out, '0');
    buf_add(out, f.p + f.at, f.n - f.at);
    for (; right > 0; right--)
        buf_putc(out, ' ');
    return out->err;
}

/* ---- output ---- */

/*
 * Rounding may put the number after the last one just beyond it, though both look the same: "seq 0 0.000001 0.000003"
 * ends with 0.000003. Whether @x, printed, is the last operand and not what was printed before.
 */
static int is_last(struct seq *q, long double x, struct str before, struct buf *text)
{
    long double v;
    int r = put_number(q, text, x);
    if (r < 0)
        return r;
    if (!to_long_double(text->p, &v) || v < q->last.value || v > q->last.value)
        return 0;
    return !str_eq(buf_str(text), before);
}

static int count_exact(struct seq *q)
{
    struct cmd *c = q->c;
    struct buf text, next;
    long double first = q->first.value, step = q->step.value, last = q->last.value, x = first;
    int r = 0;
    if (step < 0 ? first < last : last < first)
        return 0;
    buf_init(&text, SEQ_TEXT_MAX + (1u << 20));
    buf_init(&next, SEQ_TEXT_MAX + (1u << 20));
    bool extra = false;
    for (long double i = 1; cmd_poll(c) == 0; i++) {
        buf_clear(&text);
        r = put_number(q, &text, x);
        if (r < 0)
            break;
        cmd_write(c, q->fmt.prefix.p, q->fmt.prefix.n);
        cmd_write(c, text.p, text.n);
        if (cmd_write(c, q->fmt.suffix.p, q->fmt.suffix.n) < 0 || extra)
            break;
        x = first + i * step;
        if (step < 0 ? x < last : last < x) {
            buf_clear(&next);
            r = is_last(q, x, buf_str(&text), &next);
            if (r <= 0)
                break;
            extra = true;
        }
        cmd_puts(c, q->separator);
    }
    buf_done(&text);
    buf_done(&next);
    if (r < 0)
        return cmd_no_memory(c);
    cmd_putc(c, '\n');
    return 0;
}

/* Adds @step to the decimal number in [p, end); the number may grow to the left. Returns its first digit. */
static char *add_step(char *p, char *end, unsigned step)
{
    for (char *d = end; step > 0;) {
        if (d == p) {
            *--p = '0';
            end = p;
        }
        d--;
        step += (unsigned)(*d - '0');
        *d = (char)('0' + step % 10);
        step /= 10;
    }
    return p;
}

static const char *skip_zeros(const char *s)
{
    while (*s == '0' && s[1])
        s++;
    return s;
}

/* Order of two decimal numbers without leading zeros. */
static int digits_cmp(const char *a, size_t an, const char *b, size_t bn)
{
    return an != bn ? (an < bn ? -1 : 1) : memcmp(a, b, an);
}

/* Bytes that are copied for a number, however many digits it has: a length that is known makes it one instruction. */
#define SEQ_COPY 32u
/* Numbers of so many digits are counted in 64 bits. */
#define SEQ_SHORT 18u

/* How many numbers there are from @a to @b, when both are short; UINT64_MAX: they must be compared one by one. */
static uint64_t how_many(const char *a, size_t an, const char *b, size_t bn, unsigned step)
{
    if (!b || an > SEQ_SHORT || bn > SEQ_SHORT)
        return UINT64_MAX;
    return (strtoull(b, NULL, 10) - strtoull(a, NULL, 10)) / step + 1;
}

/* From @a to @b (NULL: without end), both of digits only. */
static int count_digits(struct seq *q, const char *a, const char *b, unsigned step)
{
    struct cmd *c = q->c;
    char block[8192];
    a = skip_zeros(a);
    size_t an = strlen(a), bn = 0, cap = an + 32, used = 0;
    if (b) {
        b = skip_zeros(b);
        bn = strlen(b);
        cap = NUM_MAX(an, bn) + 32;
        if (digits_cmp(a, an, b, bn) > 0)
            return 0;
    }
    char *room = arena_try(c->arena, cap + SEQ_COPY);
    if (!room)
        return cmd_no_memory(c);
    char *end = room + cap, *p = end - an, sep = q->separator[0];
    uint64_t left = how_many(a, an, b, bn, step);
    bool counted = left != UINT64_MAX;
    memcpy(p, a, an);
    memset(end, 0, SEQ_COPY);
    for (bool more = true; more && cmd_poll(c) == 0;) {
        size_t n = (size_t)(end - p);
        if (used + NUM_MAX(n, SEQ_COPY) + 1 > sizeof block) {
            if (cmd_write(c, block, used) < 0)
                return 0;
            used = 0;
        }
        if (n <= SEQ_COPY) {
            memcpy(block + used, p, SEQ_COPY);
            used += n;
        } else if (n + 1 > sizeof block) {
            if (cmd_write(c, p, n) < 0)
                return 0;
        } else {
            memcpy(block + used, p, n);
            used += n;
        }
        p = add_step(p, end, step);
        if (p - room < 8) /* only without an end: a number of so many digits is never reached */
            break;
        more = counted ? --left > 0 : !b || digits_cmp(p, (size_t)(end - p), b, bn) <= 0;
        block[used++] = more ? sep : '\n';
    }
    cmd_write(c, block, used);
    return 0;
}

static bool all_digits(const char *s)
{
    return *s && s[strspn(s, "0123456789")] == 0;
}

/* Decimal text of a whole number that is not negative. */
static const char *whole(struct seq *q, long double v)
{
    struct seq_fmt keep = q->fmt;
    struct buf b;
    buf_init(&b, 1u << 20);
    q->fmt = (struct seq_fmt){.conv = 'f'};
    int r = put_number(q, &b, v);
    q->fmt = keep;
    const char *s = r < 0 ? "-" : arena_dup(q->c->arena, b.p, b.n);
    buf_done(&b);
    return s;
}

static int run(struct seq *q)
{
    char **v = q->c->argv + q->c->optind;
    int n = q->c->argc - q->c->optind;
    bool plain = !q->equal_width && !q->format && strlen(q->separator) == 1;
    struct seq_num one = {1, 1, 0};
    q->first = q->step = one;
    if (q->format && !format(q))
        return 1;
    if (plain && all_digits(v[0]) && (n == 1 || all_digits(v[n - 1])) && (n < 3 || all_digits(v[1]))) {
        uint64_t step = n == 3 ? strtoull(v[1], NULL, 10) : 1;
        if (step > 0 && step <= SEQ_STEP_MAX)
            return count_digits(q, n == 1 ? "1" : v[0], v[n - 1], (unsigned)step);
    }
    if (!scan(q, v[n - 1], &q->last) || (n > 1 && !scan(q, v[0], &q->first)))
        return 1;
    if (n > 2) {
        if (!scan(q, v[1], &q->step))
            return 1;
        if (fpclassify(q->step.value) == FP_ZERO)
            return cmd_usage_error(q->c, "invalid Zero increment value: %s", cmd_quote_loc(q->c, v[1]));
    }
    if (plain && q->first.precision == 0 && q->step.precision == 0 && q->last.precision == 0 &&
        isfinite(q->first.value) && !(q->first.value < 0) && !(q->last.value < 0) && q->step.value > 0 &&
        q->step.value <= SEQ_STEP_MAX) {
        const char *a = whole(q, q->first.value), *b = isinf(q->last.value) ? NULL : whole(q, q->last.value);
        if (*a != '-' && (!b || *b != '-'))
            return count_digits(q, a, b, (unsigned)q->step.value);
    }
    if (!q->format)
        default_format(q);
    return count_exact(q);
}

static int seq_main(struct cmd *c)
{
    struct seq q = {.c = c, .separator = "\n"};
    for (int o;;) {
        /* A word such as -5 or -.5 is an operand, and options end there. */
        if (c->opt_pos == 0 && c->optind < c->argc) {
            const char *w = c->argv[c->optind];
            if (w[0] == '-' && (w[1] == '.' || isdigit((unsigned char)w[1])))
                break;
        }
        o = cmd_getopt(c, opts, true);
        if (o == -1)
            break;
        if (o == -2)
            return cmd_usage_status(c);
        if (o == 'f')
            q.format = c->optarg;
        else if (o == 's')
            q.separator = c->optarg;
        else
            q.equal_width = true;
    }
    int n = c->argc - c->optind;
    if (n < 1)
        return cmd_missing(c);
    if (n > 3)
        return cmd_extra(c, c->argv[c->optind + 3]);
    if (q.format && q.equal_width)
        return cmd_usage_error(c, "format string may not be specified when printing equal width strings");
    return run(&q);
}

CMD(seq, seq_main, 1,
    "Usage: seq [OPTION]... LAST\n  or:  seq [OPTION]... FIRST LAST\n  or:  seq [OPTION]... FIRST INCREMENT LAST\n",
    "  -f, --format=FORMAT      a printf format with one of %e %f %g %a for a number\n"
    "  -s, --separator=STRING   what stands between numbers (a newline)\n"
    "  -w, --equal-width        zeros in front, so that all have one width\n"
    "FIRST and INCREMENT are 1 unless given.\n");
