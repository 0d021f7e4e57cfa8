/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/builtin/condition_int.h"

#include <errno.h>
#include <sys/stat.h>

#include "proc/proc.h"

/* ---- operators on files and numbers ---- */

static bool type_is(const struct vfs_stat *st, uint32_t type)
{
    return (st->mode & S_IFMT) == type;
}

static bool stat_test(const struct proc *p, char op, const struct vfs_stat *st)
{
    switch (op) {
    case 'b':
        return type_is(st, S_IFBLK);
    case 'c':
        return type_is(st, S_IFCHR);
    case 'd':
        return type_is(st, S_IFDIR);
    case 'f':
        return type_is(st, S_IFREG);
    case 'h':
    case 'L':
        return type_is(st, S_IFLNK);
    case 'p':
        return type_is(st, S_IFIFO);
    case 'S':
        return type_is(st, S_IFSOCK);
    case 'g':
        return (st->mode & S_ISGID) != 0;
    case 'k':
        return (st->mode & S_ISVTX) != 0;
    case 'u':
        return (st->mode & S_ISUID) != 0;
    case 's':
        return st->size > 0;
    case 'G':
        return st->gid == p->cred.gid;
    case 'O':
        return st->uid == p->cred.uid;
    case 'N':
        return st->mtime > st->atime;
    default:
        return true; /* -e, -a */
    }
}

bool condition_file(struct proc *p, char op, struct str path)
{
    struct vfs_stat st;
    if (path.n == 0)
        return false;
    if (op == 'r' || op == 'w' || op == 'x')
        return proc_access(p, path, op == 'r' ? R_OK : op == 'w' ? W_OK : X_OK) == 0;
    return proc_stat(p, path, op == 'h' || op == 'L' ? VFS_NOFOLLOW : 0, &st) == 0 && stat_test(p, op, &st);
}

bool condition_files(struct proc *p, char which, struct str a, struct str b)
{
    struct vfs_stat x, y;
    bool has_a = a.n > 0 && proc_stat(p, a, 0, &x) == 0;
    bool has_b = b.n > 0 && proc_stat(p, b, 0, &y) == 0;
    if (which == 'e')
        return has_a && has_b && x.dev == y.dev && x.ino == y.ino;
    if (which == 'n')
        return has_a && (!has_b || x.mtime > y.mtime);
    return has_b && (!has_a || x.mtime < y.mtime);
}

bool condition_tty(struct proc *p, struct str fd)
{
    int64_t n;
    return condition_int(fd, &n) && n >= 0 && n < LIMIT_FDS && proc_isatty(p, (int)n);
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* What loops compare: a few digits and nothing else. */
static bool short_int(struct str s, int64_t *ret)
{
    int64_t v = 0;
    if (s.n - 1 >= 18) /* also when it is empty */
        return false;
    for (size_t i = 0; i < s.n; i++) {
        unsigned d = (unsigned char)s.p[i] - '0';
        if (d > 9)
            return false;
        v = v * 10 + d;
    }
    *ret = v;
    return true;
}

bool condition_int(struct str s, int64_t *ret)
{
    if (short_int(s, ret))
        return true;
    size_t i = 0;
    while (i < s.n && is_space(s.p[i]))
        i++;
    bool neg = i < s.n && s.p[i] == '-';
    if (i < s.n && (s.p[i] == '-' || s.p[i] == '+'))
        i++;
    if (i == s.n || !is_digit(s.p[i]))
        return false;
    int64_t v = 0; /* counted downwards, so that the smallest number fits */
    for (; i < s.n && is_digit(s.p[i]); i++)
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_sub_overflow(v, s.p[i] - '0', &v))
            return false;
    while (i < s.n && is_space(s.p[i]))
        i++;
    if (i < s.n || (!neg && v == INT64_MIN))
        return false;
    *ret = neg ? v : -v;
    return true;
}

/* ---- operators ---- */

enum binary {
    BIN_NONE,
    BIN_EQ,
    BIN_NE,
    BIN_LT,
    BIN_GT, /* = == != < > of strings */
    BIN_INT_EQ,
    BIN_INT_NE,
    BIN_INT_LT,
    BIN_INT_LE,
    BIN_INT_GT,
    BIN_INT_GE,
    BIN_NEWER,
    BIN_OLDER,
    BIN_SAME,
};

static enum binary binary_long(const char *p)
{
    if (p[1] == 'e')
        return p[2] == 'q' ? BIN_INT_EQ : p[2] == 'f' ? BIN_SAME : BIN_NONE;
    if (p[1] == 'n')
        return p[2] == 'e' ? BIN_INT_NE : p[2] == 't' ? BIN_NEWER : BIN_NONE;
    if (p[1] == 'l')
        return p[2] == 't' ? BIN_INT_LT : p[2] == 'e' ? BIN_INT_LE : BIN_NONE;
    if (p[1] == 'g')
        return p[2] == 't' ? BIN_INT_GT : p[2] == 'e' ? BIN_INT_GE : BIN_NONE;
    return p[1] == 'o' && p[2] == 't' ? BIN_OLDER : BIN_NONE;
}

static enum binary binary_of(const struct condition *c, struct str s)
{
    if (s.n == 3 && s.p[0] == '-')
        return binary_long(s.p);
    if (s.n == 2 && s.p[1] == '=')
        return s.p[0] == '=' ? BIN_EQ : s.p[0] == '!' ? BIN_NE : BIN_NONE;
    if (s.n != 1)
        return BIN_NONE;
    if (s.p[0] == '=')
        return BIN_EQ;
    if (c->gnu)
        return BIN_NONE;
    return s.p[0] == '<' ? BIN_LT : s.p[0] == '>' ? BIN_GT : BIN_NONE;
}

static bool is_op(struct str s, char c)
{
    return s.n == 2 && s.p[0] == '-' && s.p[1] == c;
}

bool condition_is_unary(struct str op)
{
    return op.n == 2 && op.p[0] == '-' && op.p[1] && strchr("abcdefghknoprstuvwxzGLNORS", op.p[1]);
}

static bool is_unary(const struct condition *c, struct str op)
{
    return condition_is_unary(op) && !(c->gnu && strchr("aovR", op.p[1]));
}

/* ---- the parser ---- */

struct parser {
    const struct condition *c;
    const struct str *v;
    int n, i;
    bool failed;
    int depth;
};

static bool set_failed(struct parser *ps)
{
    ps->failed = true;
    return false;
}

#define FAIL(ps, ...) (((ps)->failed ? (void)0 : (ps)->c->ops->error((ps)->c->arg, __VA_ARGS__)), set_failed(ps))
#define NAME(ps, s) ((ps)->c->ops->name((ps)->c->arg, (s)))

static bool fail_end(struct parser *ps)
{
    if (ps->c->gnu)
        return FAIL(ps, "missing argument after %s", NAME(ps, ps->v[ps->n - 1]));
    return FAIL(ps, "%s", "argument expected");
}

static bool fail_unary(struct parser *ps, struct str op)
{
    if (ps->c->gnu)
        return FAIL(ps, "%s: unary operator expected", NAME(ps, op));
    return FAIL(ps, "%s: unary operator expected", op.p);
}

static bool fail_binary(struct parser *ps, struct str op)
{
    if (ps->c->gnu)
        return FAIL(ps, "%s: binary operator expected", NAME(ps, op));
    return FAIL(ps, "%s: binary operator expected", op.p);
}

/* GNU integers have any number of digits: blanks, a sign, leading zeros and trailing blanks are cut off. */
static bool gnu_int(struct parser *ps, struct str s, struct str *ret_digits, bool *ret_neg)
{
    size_t i = 0, end = s.n;
    while (i < end && is_space(s.p[i]))
        i++;
    while (end > i && (s.p[end - 1] == ' ' || s.p[end - 1] == '\t'))
        end--;
    bool neg = i < end && s.p[i] == '-';
    if (i < end && (s.p[i] == '-' || s.p[i] == '+'))
        i++;
    size_t from = i;
    while (i < end && is_digit(s.p[i]))
        i++;
    if (i == from || i < end)
        return FAIL(ps, "invalid integer %s", NAME(ps, s));
    while (from + 1 < end && s.p[from] == '0')
        from++;
    *ret_digits = str_of(s.p + from, end - from);
    *ret_neg = neg && !(ret_digits->n == 1 && *ret_digits->p == '0');
    return true;
}

static int gnu_compare(struct parser *ps, struct str a, struct str b)
{
    struct str x, y;
    bool nx, ny;
    if (!gnu_int(ps, a, &x, &nx) || !gnu_int(ps, b, &y, &ny))
        return 0;
    if (nx != ny)
        return nx ? -1 : 1;
    int d = x.n != y.n ? (x.n < y.n ? -1 : 1) : str_cmp(x, y);
    return nx ? -d : d;
}

static int compare_ints(struct parser *ps, struct str a, struct str b)
{
    int64_t x, y;
    if (ps->c->gnu)
        return gnu_compare(ps, a, b);
    bool ok = condition_int(a, &x);
    if (!ok || !condition_int(b, &y)) {
        FAIL(ps, "%s: integer expression expected", ok ? b.p : a.p);
        return 0;
    }
    return (x > y) - (x < y);
}

/* GNU: the length of @s, where an integer is wanted: -l STRING. */
static struct str length_text(struct str s, char text[24])
{
    char *end = text + 24, *p = end;
    size_t n = s.n;
    do {
        *--p = (char)('0' + n % 10);
        n /= 10;
    } while (n);
    return str_of(p, (size_t)(end - p));
}

static bool is_int_op(enum binary op)
{
    return op >= BIN_INT_EQ && op <= BIN_INT_GE;
}

static bool apply_binary(struct parser *ps, enum binary op, struct str a, struct str b)
{
    int d = is_int_op(op) ? compare_ints(ps, a, b) : 0;
    switch (op) {
    case BIN_EQ:
        return str_eq(a, b);
    case BIN_NE:
        return !str_eq(a, b);
    case BIN_LT:
        return str_cmp(a, b) < 0;
    case BIN_GT:
        return str_cmp(a, b) > 0;
    case BIN_INT_EQ:
        return d == 0;
    case BIN_INT_NE:
        return d != 0;
    case BIN_INT_LT:
        return d < 0;
    case BIN_INT_LE:
        return d <= 0;
    case BIN_INT_GT:
        return d > 0;
    case BIN_INT_GE:
        return d >= 0;
    case BIN_NEWER:
    case BIN_OLDER:
    case BIN_SAME:
        return condition_files(ps->c->p, op == BIN_NEWER ? 'n' : op == BIN_OLDER ? 'o' : 'e', a, b);
    case BIN_NONE:
        break;
    }
    return false;
}

/* A binary expression at the place, GNU's -l before either operand included; how many arguments it takes, 0 when there
 * is none here. */
static int binary_at(const struct parser *ps, bool *ret_left, bool *ret_right)
{
    int left = ps->n - ps->i;
    const struct str *v = ps->v + ps->i;
    *ret_left = ps->c->gnu && left >= 4 && is_op(v[0], 'l') && binary_of(ps->c, v[2]) != BIN_NONE;
    int at = *ret_left ? 2 : 1;
    if (left < at + 2)
        return 0;
    enum binary op = binary_of(ps->c, v[at]);
    if (op == BIN_NONE)
        return 0;
    *ret_right = ps->c->gnu && is_int_op(op) && left >= at + 3 && is_op(v[at + 1], 'l');
    return at + 2 + *ret_right;
}

static bool take_binary(struct parser *ps, int n, bool left, bool right)
{
    char text_a[24], text_b[24];
    const struct str *v = ps->v + ps->i;
    enum binary op = binary_of(ps->c, v[left ? 2 : 1]);
    struct str a = left ? v[1] : v[0], b = v[n - 1];
    ps->i += n;
    if (is_int_op(op) && left)
        a = length_text(a, text_a);
    if (is_int_op(op) && right)
        b = length_text(b, text_b);
    return apply_binary(ps, op, a, b);
}

/* A unary operator and its operand; both are there, but -t of bash may stand alone. */
static bool take_unary(struct parser *ps)
{
    char op = ps->v[ps->i].p[1];
    struct str s = ps->v[ps->i + 1];
    int64_t fd;
    ps->i += 2;
    if (op == 'n' || op == 'z')
        return (s.n == 0) == (op == 'z');
    if (op == 't' && ps->c->gnu) {
        struct str digits;
        bool neg;
        return gnu_int(ps, s, &digits, &neg) && !neg && digits.n < 10 && condition_tty(ps->c->p, digits);
    }
    if (op == 't') {
        if (condition_int(s, &fd))
            return condition_tty(ps->c->p, s);
        ps->i--;
        return proc_isatty(ps->c->p, 1);
    }
    if (op == 'v' || op == 'R' || op == 'o') {
        int r = ps->c->ops->shell_test(ps->c->arg, op, s);
        if (r < 0)
            ps->failed = true;
        return r > 0;
    }
    return condition_file(ps->c->p, op, s);
}

static bool parse_or(struct parser *ps);
static bool by_count(struct parser *ps, int n);

/* '(' … ')' of bash: any expression, then the parenthesis. */
static bool parse_group(struct parser *ps)
{
    ps->i++;
    bool value = parse_or(ps);
    if (ps->failed)
        return false;
    if (ps->i >= ps->n && !ps->c->bracket)
        return FAIL(ps, "%s", "`)' expected");
    struct str s = ps->v[ps->i];
    if (ps->i >= ps->n || !str_eq(s, STR(")")))
        return FAIL(ps, "`)' expected, found %s", s.p);
    ps->i++;
    return value;
}

/* The same of GNU: up to three arguments before the next ')' are taken as a test of their own. */
static bool gnu_group(struct parser *ps)
{
    ps->i++;
    if (ps->i >= ps->n)
        return fail_end(ps);
    int n = 1;
    while (n < 4 && ps->i + n < ps->n && !str_eq(ps->v[ps->i + n], STR(")")))
        n++;
    if (n == 4)
        n = ps->n - ps->i;
    bool value = by_count(ps, n);
    if (ps->failed)
        return false;
    if (ps->i >= ps->n && !ps->c->bracket)
        return FAIL(ps, "%s expected", NAME(ps, STR(")")));
    struct str s = ps->v[ps->i];
    if (ps->i >= ps->n || !str_eq(s, STR(")")))
        return FAIL(ps, "%s expected, found %s", ps->c->ops->name(ps->c->arg, STR(")")), NAME(ps, s));
    ps->i++;
    return value;
}

static bool parse_term(struct parser *ps)
{
    bool negate = false, left = false, right = false, value;
    while (ps->i < ps->n && str_eq(ps->v[ps->i], STR("!"))) {
        ps->i++;
        negate = !negate;
    }
    if (ps->i >= ps->n)
        return fail_end(ps);
    struct str s = ps->v[ps->i];
    int more = ps->n - ps->i, n;
    if (str_eq(s, STR("("))) {
        if (ps->depth >= LIMIT_NESTING)
            return FAIL(ps, "%s", "too many parentheses");
        ps->depth++;
        value = ps->c->gnu ? gnu_group(ps) : parse_group(ps);
        ps->depth--;
    } else if ((n = binary_at(ps, &left, &right)) > 0) {
        value = take_binary(ps, n, left, right);
    } else if (more >= 2 && is_unary(ps->c, s)) {
        value = take_unary(ps);
    } else if (ps->c->gnu && s.n == 2 && s.p[0] == '-') {
        return is_unary(ps->c, s) ? fail_end(ps) : fail_unary(ps, s);
    } else {
        value = s.n > 0;
        ps->i++;
    }
    return value != negate;
}

static bool parse_and(struct parser *ps)
{
    bool value = parse_term(ps);
    while (!ps->failed && ps->i < ps->n && is_op(ps->v[ps->i], 'a')) {
        ps->i++;
        bool more = parse_term(ps);
        value = value && more;
    }
    return value;
}

static bool parse_or(struct parser *ps)
{
    bool value = parse_and(ps);
    while (!ps->failed && ps->i < ps->n && is_op(ps->v[ps->i], 'o')) {
        ps->i++;
        bool more = parse_and(ps);
        value = value || more;
    }
    return value;
}

/* ---- by number of arguments (POSIX) ---- */

static bool one_arg(struct parser *ps)
{
    return ps->v[ps->i++].n > 0;
}

static bool two_args(struct parser *ps)
{
    struct str s = ps->v[ps->i];
    if (str_eq(s, STR("!"))) {
        ps->i++;
        return !one_arg(ps);
    }
    if (is_unary(ps->c, s)) {
        int end = ps->i + 2;
        bool value = take_unary(ps);
        ps->i = end;
        return value;
    }
    if (ps->c->gnu && !(s.n == 2 && s.p[0] == '-'))
        return fail_end(ps);
    return fail_unary(ps, s);
}

static bool three_args(struct parser *ps)
{
    const struct str *v = ps->v + ps->i;
    enum binary op = binary_of(ps->c, v[1]);
    if (op != BIN_NONE) {
        ps->i += 3;
        return apply_binary(ps, op, v[0], v[2]);
    }
    if (!ps->c->gnu && (is_op(v[1], 'a') || is_op(v[1], 'o'))) {
        ps->i += 3;
        return is_op(v[1], 'a') ? v[0].n > 0 && v[2].n > 0 : v[0].n > 0 || v[2].n > 0;
    }
    if (str_eq(v[0], STR("!"))) {
        ps->i++;
        return !two_args(ps);
    }
    if (str_eq(v[0], STR("(")) && str_eq(v[2], STR(")"))) {
        ps->i++;
        bool value = one_arg(ps);
        ps->i++;
        return value;
    }
    if (ps->c->gnu && (is_op(v[1], 'a') || is_op(v[1], 'o')))
        return parse_or(ps);
    return fail_binary(ps, v[1]);
}

/* The next @n arguments as a test of their own. */
static bool by_count(struct parser *ps, int n)
{
    const struct str *v = ps->v + ps->i;
    if (n == 1)
        return one_arg(ps);
    if (n == 2)
        return two_args(ps);
    if (n == 3)
        return three_args(ps);
    if (n == 4 && str_eq(v[0], STR("!"))) {
        ps->i++;
        return !three_args(ps);
    }
    if (n == 4 && str_eq(v[0], STR("(")) && str_eq(v[3], STR(")"))) {
        ps->i++;
        bool value = two_args(ps);
        ps->i++;
        return value;
    }
    return parse_or(ps);
}

int condition_run(const struct condition *c, const struct str *argv, int argc)
{
    if (argc == 0)
        return 1;
    struct parser ps = {.c = c, .v = argv, .n = argc};
    bool value = by_count(&ps, argc);
    if (!ps.failed && ps.i < ps.n) {
        struct str s = argv[ps.i];
        if (c->gnu)
            FAIL(&ps, "extra argument %s", NAME(&ps, s));
        else if (s.n > 0 && s.p[0] == '-')
            FAIL(&ps, "syntax error: `%s' unexpected", s.p);
        else
            FAIL(&ps, "%s", "too many arguments");
    }
    return ps.failed ? 2 : !value;
}
