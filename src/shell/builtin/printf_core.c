/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/builtin/printf_int.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>

#include "base/buf.h"
#include "proc/proc.h"
#include "shell/builtin/escape_int.h"
#include "shell/builtin/printf_num_int.h"
#include "shell/uchar_int.h"
#include "types/limits.h"

#define FLOAT_STACK (128u << 10) /* what the C library may use of it for thousands of digits */

/* One run over the format and what it has come to. */
struct run {
    const struct printf_job *job;
    const struct str *args;
    uint32_t n_args, i; /* i: the next one */
    int status;
    bool stop;
    int64_t written; /* since the format began: %n */
    struct buf tmp;  /* %b %q %T */
};

#define ERROR(r, ...) ((r)->job->ops->error((r)->job->arg, __VA_ARGS__), (r)->status = 1)
#define NAME(r, s) ((r)->job->ops->name((r)->job->arg, (s)))

/* ---- output ---- */

static void put(struct run *r, const char *p, size_t n)
{
    if (n == 0 || r->stop)
        return;
    if (r->job->ops->write(r->job->arg, p, n) < 0)
        r->stop = true;
    r->written += (int64_t)n;
}

static void fill(struct run *r, char c, int64_t n)
{
    char piece[1024];
    if (n <= 0)
        return;
    memset(piece, c, n < (int64_t)sizeof piece ? (size_t)n : sizeof piece);
    while (n > 0 && !r->stop) {
        size_t k = n < (int64_t)sizeof piece ? (size_t)n : sizeof piece;
        put(r, piece, k);
        n -= (int64_t)k;
        if (proc_poll(r->job->p) < 0)
            r->stop = true;
    }
}

static void put_field(struct run *r, const struct printf_spec *s, const struct printf_num *f)
{
    int64_t len = (int64_t)f->prefix_n + f->zeros + (int64_t)f->n + f->more;
    int64_t pad = s->width > len ? s->width - len : 0;
    bool zero = s->zero && !s->minus && !f->no_zero;
    if (!zero && !s->minus)
        fill(r, ' ', pad);
    put(r, f->prefix, f->prefix_n);
    fill(r, '0', f->zeros + (zero ? pad : 0));
    put(r, f->p, f->at);
    fill(r, '0', f->more);
    put(r, f->p + f->at, f->n - f->at);
    if (s->minus)
        fill(r, ' ', pad);
}

static void put_text(struct run *r, const struct printf_spec *s, struct str t)
{
    if (s->prec >= 0 && (uint64_t)s->prec < t.n)
        t.n = (size_t)s->prec;
    int64_t pad = s->width > (int64_t)t.n ? s->width - (int64_t)t.n : 0;
    if (!s->minus)
        fill(r, ' ', pad);
    put(r, t.p, t.n);
    if (s->minus)
        fill(r, ' ', pad);
}

/* ---- arguments ---- */

static bool next_arg(struct run *r, struct str *ret)
{
    if (r->i >= r->n_args) {
        *ret = STR("");
        return false;
    }
    *ret = r->args[r->i++];
    return true;
}

/* The number of the character behind a quote: 'c. */
static bool char_value(struct run *r, struct str s, int64_t *ret)
{
    if (s.n == 0 || (*s.p != '\'' && *s.p != '"') || (s.n == 1 && r->job->gnu))
        return false;
    if (s.n == 1) {
        *ret = 0;
        return true;
    }
    size_t len = 1;
    uint32_t c = r->job->utf8 ? uchar_get(s.p + 1, s.n - 1, &len) : UCHAR_BAD;
    *ret = c == UCHAR_BAD ? (unsigned char)s.p[1] : (int64_t)c;
    if (r->job->warn_const && s.n > 1 + len)
        r->job->ops->error(r->job->arg, "warning: %s: character(s) following character constant have been ignored",
                           s.p + 1 + len);
    return true;
}

/* Tells what is wrong with the number @s, of which strtol(3) read up to @end. */
static void check_number(struct run *r, struct str s, const char *end, int err)
{
    if (r->job->gnu) {
        if (err)
            ERROR(r, "%s: %s", NAME(r, s), "Numerical result out of range");
        else if (end < s.p + s.n)
            ERROR(r, end == s.p ? "%s: expected a numeric value" : "%s: value not completely converted", NAME(r, s));
        return;
    }
    if (end < s.p + s.n) {
        const char *kind = "";
        if (s.n > 1 && s.p[0] == '0' && s.p[1] >= '0' && s.p[1] <= '9')
            kind = "octal ";
        else if (s.n > 1 && s.p[0] == '0' && s.p[1] == 'x')
            kind = "hex ";
        ERROR(r, "%s: invalid %snumber", s.p, kind);
    } else if (err) {
        r->job->ops->error(r->job->arg, "warning: %s: Numerical result out of range", s.p);
    }
}

static int64_t next_int(struct run *r, bool is_signed)
{
    struct str s;
    int64_t v;
    char *end;
    if (!next_arg(r, &s))
        return 0;
    if (char_value(r, s, &v))
        return v;
    errno = 0;
    v = is_signed ? strtoimax(s.p, &end, 0) : (int64_t)strtoumax(s.p, &end, 0);
    check_number(r, s, end, errno);
    return v;
}

static long double next_float(struct run *r)
{
    struct str s;
    int64_t v;
    char *end;
    if (!next_arg(r, &s))
        return 0;
    if (char_value(r, s, &v))
        return (long double)v;
    errno = 0;
    long double d = strtold(s.p, &end);
    check_number(r, s, end, errno);
    return d;
}

/* Width or precision given as `*`. */
static bool star(struct run *r, bool width, int64_t *ret)
{
    struct str s = r->i < r->n_args ? r->args[r->i] : STR("");
    bool had = r->i < r->n_args;
    int64_t v = next_int(r, true);
    if (v >= INT_MIN && v <= INT_MAX) {
        *ret = v;
    } else if (!r->job->gnu) {
        struct str next = r->i < r->n_args ? r->args[r->i] : STR("");
        if (had)
            r->job->ops->error(r->job->arg, "warning: %s: Numerical result out of range", next.p);
        *ret = v < 0 ? INT_MIN : INT_MAX;
    } else if (!width && v < 0) {
        *ret = -1;
    } else {
        ERROR(r, width ? "invalid field width: %s" : "invalid precision: %s", NAME(r, s));
        r->stop = true;
        return false;
    }
    return true;
}

/* ---- conversions ---- */

static void convert_text(struct run *r, const struct printf_spec *s, char conv)
{
    struct str arg;
    bool had = next_arg(r, &arg);
    if (conv == 'c') {
        struct printf_spec one = *s;
        one.prec = 1;
        put_text(r, &one, str_of(arg.n ? arg.p : "", 1));
        return;
    }
    if (conv == 's') {
        put_text(r, s, arg);
        return;
    }
    struct printf_spec spec = *s;
    if (conv == 'Q') {
        if (s->prec >= 0 && (uint64_t)s->prec < arg.n)
            arg.n = (size_t)s->prec;
        spec.prec = -1;
    }
    buf_clear(&r->tmp);
    if (had || !r->job->gnu)
        r->job->ops->quote(r->job->arg, &r->tmp, arg);
    if (r->tmp.err) {
        ERROR(r, "%s", "memory exhausted");
        r->stop = true;
        return;
    }
    put_text(r, &spec, buf_str(&r->tmp));
}

/* Tells of a fault; GNU's printf ends then. */
static void escape_fault(struct run *r, const struct escape *e)
{
    if (r->job->gnu) {
        if (e->fault == ESCAPE_BAD_NAME)
            ERROR(r, "invalid universal character name \\%c%0*x", e->letter, e->letter == 'u' ? 4 : 8, e->code);
        else
            ERROR(r, "%s", "missing hexadecimal number in escape");
        r->stop = true;
    } else if (e->fault == ESCAPE_NO_HEX) {
        r->job->ops->error(r->job->arg, "%s", "missing hex digit for \\x");
    } else {
        r->job->ops->error(r->job->arg, "missing unicode digit for \\%c", e->letter);
    }
}

static void convert_b(struct run *r, const struct printf_spec *s)
{
    struct str arg;
    struct escape e;
    bool stop = false;
    next_arg(r, &arg);
    buf_clear(&r->tmp);
    for (size_t i = 0; i < arg.n && !stop && !r->stop;) {
        ptrdiff_t next = str_find(arg, '\\', i);
        size_t to = next < 0 ? arg.n : (size_t)next;
        buf_add(&r->tmp, arg.p + i, to - i);
        if (to == arg.n)
            break;
        i = to + escape_decode(r->job->gnu ? ESCAPE_GNU_B : ESCAPE_B, r->job->utf8, arg.p + to, arg.n - to, &e);
        if (e.fault != ESCAPE_OK)
            escape_fault(r, &e);
        if (e.fault == ESCAPE_OK || !r->job->gnu)
            buf_add(&r->tmp, e.text, e.n);
        stop = e.stop;
    }
    if (r->tmp.err) {
        ERROR(r, "%s", "memory exhausted");
        r->stop = true;
        return;
    }
    bool ended = r->stop; /* a fault: what came before it still goes out */
    r->stop = false;
    put_text(r, s, buf_str(&r->tmp));
    r->stop |= ended | stop;
}

/* %(fmt)T at @p, which is its '('. Returns the length of "(fmt)T", or 0 after a warning: then it is plain text. */
static size_t convert_time(struct run *r, const struct printf_spec *s, struct str f)
{
    size_t i = 1;
    for (int depth = 1; i < f.n && depth > 0; i++)
        depth += (f.p[i] == '(') - (f.p[i] == ')');
    if (i >= f.n || f.p[i] != 'T') {
        r->job->ops->error(r->job->arg, "warning: `%c': invalid time format specification", i < f.n ? f.p[i] : ' ');
        return 0;
    }
    struct str fmt = str_of(f.p + 1, i - 2);
    int64_t secs = r->i < r->n_args ? next_int(r, true) : -1;
    buf_clear(&r->tmp);
    r->job->ops->time(r->job->arg, &r->tmp, fmt.n ? fmt : STR("%X"), secs);
    put_text(r, s, buf_str(&r->tmp));
    return i + 1;
}

static void convert_number(struct run *r, const struct printf_spec *s, char conv)
{
    struct printf_num f = {0};
    if (strchr("diouxX", conv)) {
        bool is_signed = conv == 'd' || conv == 'i';
        printf_num_int(&f, s, conv, next_int(r, is_signed));
    } else {
        char *heap MEM_AUTO = NULL;
        if (proc_stack_left(r->job->p) < FLOAT_STACK) {
            ERROR(r, "%s", "the stack is too deep for a floating point conversion");
            r->stop = true;
            return;
        }
        if (!printf_num_float(&f, s, conv, next_float(r), &heap)) {
            ERROR(r, "%s", "memory exhausted");
            r->stop = true;
            return;
        }
        put_field(r, s, &f);
        return;
    }
    put_field(r, s, &f);
}

static void convert_count(struct run *r)
{
    struct str name;
    if (next_arg(r, &name) && !r->job->ops->count(r->job->arg, name, r->written)) {
        r->status = 1;
        r->stop = true;
    }
}

/* ---- the format ---- */

#define TOO_MUCH INT_MAX /* a width or precision written like this is beyond what printf(3) takes */

/* Digits or `*` at f.p[*i]. False: the run is over. */
static bool number_at(struct run *r, struct str f, size_t *i, bool width, int64_t *ret)
{
    if (*i < f.n && f.p[*i] == '*') {
        (*i)++;
        return star(r, width, ret);
    }
    int64_t v = 0;
    while (*i < f.n && f.p[*i] >= '0' && f.p[*i] <= '9') {
        if (v < TOO_MUCH)
            v = v * 10 + (f.p[*i] - '0');
        (*i)++;
    }
    *ret = v;
    return true;
}

/* Flags, width, precision and modifiers at the start of @f (behind the '%'): their length, or -1 when the run is over.
 */
static ptrdiff_t parse_spec(struct run *r, struct str f, struct printf_spec *s)
{
    size_t i = 0;
    *s = (struct printf_spec){.prec = -1};
    for (; i < f.n && f.p[i]; i++) {
        char c = f.p[i];
        if (c == '-')
            s->minus = true;
        else if (c == '+')
            s->plus = true;
        else if (c == ' ')
            s->space = true;
        else if (c == '#')
            s->alt = true;
        else if (c == '0')
            s->zero = true;
        else if (c == '\'')
            s->group = true;
        else if (c == 'I' && r->job->gnu)
            s->other_digits = true;
        else
            break;
    }
    if (!number_at(r, f, &i, true, &s->width))
        return -1;
    if (s->width < 0) {
        s->minus = true;
        s->width = -s->width;
    }
    if (i < f.n && f.p[i] == '.') {
        i++;
        s->has_prec = true;
        if (!number_at(r, f, &i, false, &s->prec))
            return -1;
        if (s->prec < 0)
            s->prec = -1;
    }
    s->plain = i == 0;
    while (i < f.n && f.p[i] && strchr("hjlLtz", f.p[i]))
        i++;
    return (ptrdiff_t)i;
}

/* Whether coreutils takes conversion @c with these flags (C11 7.21.6.1 leaves the others undefined). */
static bool gnu_allows(const struct printf_spec *s, char c)
{
    if (c == 'q' || c == 'b')
        return s->plain;
    if (s->group && !strchr("dfFgGiu", c))
        return false;
    if (s->other_digits && !strchr("dfFgGiu", c))
        return false;
    if (s->alt && strchr("cdisu", c))
        return false;
    if (s->zero && strchr("cs", c))
        return false;
    return !(s->has_prec && c == 'c');
}

static bool is_conversion(const struct run *r, const struct printf_spec *s, char c)
{
    if (c == 0 || !strchr(r->job->gnu ? "diouxXfeEFgGaAcsqb" : "diouxXfeEFgGaAcsqbQn", c))
        return false;
    return !r->job->gnu || gnu_allows(s, c);
}

/* The conversion at @f, which is its '%': its length. */
static size_t convert(struct run *r, struct str f)
{
    struct printf_spec s;
    if (f.n > 1 && f.p[1] == '%') {
        put(r, "%", 1);
        return 2;
    }
    ptrdiff_t n = parse_spec(r, str_from(f, 1), &s);
    if (n < 0)
        return f.n;
    size_t at = (size_t)n + 1;
    char c = at < f.n ? f.p[at] : 0;
    if (c == '(' && r->job->ops->time) {
        size_t len = convert_time(r, &s, str_from(f, at));
        if (len == 0)
            put(r, f.p, at + 1);
        return len == 0 ? at + 1 : at + len;
    }
    if (!is_conversion(r, &s, c)) {
        if (r->job->gnu)
            ERROR(r, "%.*s: invalid conversion specification", (int)(c ? at + 1 : at), f.p);
        else if (c == 0)
            ERROR(r, "`%s': missing format character", f.p);
        else
            ERROR(r, "`%c': invalid format character", c);
        r->stop = true;
        return f.n;
    }
    if (s.width >= TOO_MUCH || s.prec >= TOO_MUCH) {
        struct str arg;
        next_arg(r, &arg);
        if (r->job->gnu)
            ERROR(r, "%s", "write error");
        else
            ERROR(r, "`%.*s': field width or precision too large", at < 100 ? (int)at + 1 : 100, f.p);
    } else if (c == 'b') {
        convert_b(r, &s);
    } else if (c == 'n') {
        convert_count(r);
    } else if (strchr("csqQ", c)) {
        convert_text(r, &s, c);
    } else {
        convert_number(r, &s, c);
    }
    return at + 1;
}

/* The format once. */
static void pass(struct run *r, struct str fmt)
{
    struct escape e;
    size_t i = 0;
    r->written = 0;
    while (i < fmt.n && !r->stop) {
        size_t from = i;
        while (i < fmt.n && fmt.p[i] != '%' && fmt.p[i] != '\\')
            i++;
        put(r, fmt.p + from, i - from);
        if (i == fmt.n)
            break;
        if (fmt.p[i] == '%') {
            i += convert(r, str_from(fmt, i));
            continue;
        }
        i += escape_decode(r->job->gnu ? ESCAPE_GNU_FORMAT : ESCAPE_FORMAT, r->job->utf8, fmt.p + i, fmt.n - i, &e);
        if (e.fault != ESCAPE_OK)
            escape_fault(r, &e);
        put(r, e.text, e.n);
        r->stop |= e.stop;
    }
}

int printf_run(const struct printf_job *job, struct str fmt, const struct str *args, uint32_t n_args)
{
    struct run r = {.job = job, .args = args, .n_args = n_args};
    buf_init(&r.tmp, LIMIT_STRING);
    uint32_t before;
    do {
        before = r.i;
        pass(&r, fmt);
        if (proc_poll(job->p) < 0)
            break;
    } while (r.i > before && r.i < n_args && !r.stop);
    if (job->gnu && !r.stop && r.i < n_args)
        job->ops->error(job->arg, "warning: ignoring excess arguments, starting with %s",
                        job->ops->name(job->arg, args[r.i]));
    buf_done(&r.tmp);
    return r.status;
}
