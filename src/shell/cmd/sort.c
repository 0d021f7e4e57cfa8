/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/sort_int.h"

#include <ctype.h>
#include <errno.h>

#include "shell/cmd/num.h"

enum { OPT_CHECK = 256, OPT_SORT, OPT_FILES0, OPT_BATCH, OPT_PARALLEL, OPT_COMPRESS, OPT_RANDOM_SOURCE, OPT_DEBUG };

#define SORT_BATCH 16 /* files merged at once, as the real tool */

static const struct cmd_opt opts[] = {
    {'b', "ignore-leading-blanks", CMD_NO_ARG},
    {OPT_CHECK, "check", CMD_OPT_ARG},
    {OPT_COMPRESS, "compress-program", CMD_ARG | CMD_REFUSED},
    {OPT_DEBUG, "debug", CMD_NO_ARG | CMD_REFUSED},
    {'d', "dictionary-order", CMD_NO_ARG},
    {'f', "ignore-case", CMD_NO_ARG},
    {OPT_FILES0, "files0-from", CMD_ARG},
    {'g', "general-numeric-sort", CMD_NO_ARG},
    {'i', "ignore-nonprinting", CMD_NO_ARG},
    {'k', "key", CMD_ARG},
    {'m', "merge", CMD_NO_ARG},
    {'M', "month-sort", CMD_NO_ARG},
    {'n', "numeric-sort", CMD_NO_ARG},
    {'h', "human-numeric-sort", CMD_NO_ARG},
    {'V', "version-sort", CMD_NO_ARG},
    {'R', "random-sort", CMD_NO_ARG | CMD_REFUSED},
    {OPT_RANDOM_SOURCE, "random-source", CMD_ARG},
    {OPT_SORT, "sort", CMD_ARG},
    {'o', "output", CMD_ARG},
    {'r', "reverse", CMD_NO_ARG},
    {'s', "stable", CMD_NO_ARG},
    {OPT_BATCH, "batch-size", CMD_ARG},
    {'S', "buffer-size", CMD_ARG},
    {'t', "field-separator", CMD_ARG},
    {'T', "temporary-directory", CMD_ARG},
    {'u', "unique", CMD_NO_ARG},
    {'z', "zero-terminated", CMD_NO_ARG},
    {OPT_PARALLEL, "parallel", CMD_ARG},
    {'c', NULL, CMD_NO_ARG},
    {'C', NULL, CMD_NO_ARG},
    {'y', NULL, CMD_OPT_ARG},
    {0},
};

/* What is read from the command line beside struct sort. */
struct sort_args {
    struct sort_key global;
    char check; /* 'c', 'C' or 0 */
    bool merge;
    const char *files_from;
    char **files;
    size_t n_files;
};

/* ---- keys ---- */

enum blank_side { BLANK_START = 1, BLANK_END = 2 };

/* The letters of a key: where they end. */
static const char *ordering(const char *p, struct sort_key *k, int side)
{
    for (; *p; p++) {
        switch (*p) {
        case 'b':
            k->skip_start |= (side & BLANK_START) != 0;
            k->skip_end |= (side & BLANK_END) != 0;
            break;
        case 'd':
            k->ignore = SORT_DICTIONARY;
            break;
        case 'f':
            k->fold = true;
            break;
        case 'g':
            k->general = true;
            break;
        case 'h':
            k->human = true;
            break;
        case 'i': /* -d leaves out more */
            if (!k->ignore)
                k->ignore = SORT_PRINTING;
            break;
        case 'M':
            k->month = true;
            break;
        case 'n':
            k->numeric = true;
            break;
        case 'R':
            k->random = true;
            break;
        case 'r':
            k->reverse = true;
            break;
        case 'V':
            k->version = true;
            break;
        default:
            return p;
        }
    }
    return p;
}

/* A count at @p: where it ends, or NULL after the message @what (NULL: none). */
static const char *count(struct sort *s, const char *p, size_t *ret, const char *what)
{
    const char *q = p;
    size_t v = 0;
    bool fits = true;
    while (isspace((unsigned char)*q))
        q++;
    if (*q == '+')
        q++;
    if (!isdigit((unsigned char)*q)) {
        if (what)
            cmd_err(s->c, "%s: invalid count at start of %s", what, cmd_quote_loc(s->c, p));
        return NULL;
    }
    for (; isdigit((unsigned char)*q); q++)
        fits = fits && !__builtin_mul_overflow(v, 10, &v) && !__builtin_add_overflow(v, (size_t)(*q - '0'), &v);
    *ret = fits ? v : SIZE_MAX;
    return q;
}

static int bad_key(struct sort *s, const char *what, const char *spec)
{
    cmd_err(s->c, "%s: invalid field specification %s", what, cmd_quote_loc(s->c, spec));
    return -1;
}

static void add_key(struct sort *s, const struct sort_key *k)
{
    if (s->n_keys == s->cap_keys) {
        size_t cap = s->cap_keys ? s->cap_keys * 2 : 4;
        struct sort_key *v = arena_alloc(s->c->arena, cap * sizeof *v);
        if (s->n_keys > 0)
            memcpy(v, s->keys, s->n_keys * sizeof *v);
        s->keys = v;
        s->cap_keys = cap;
    }
    s->keys[s->n_keys++] = *k;
}

/* -k: "F[.C][OPTS][,F[.C][OPTS]]". 0, or -1 after a message. */
static int key(struct sort *s, const char *spec)
{
    struct sort_key k = {.eword = SIZE_MAX};
    const char *p = count(s, spec, &k.sword, "invalid number at field start");
    if (!p)
        return -1;
    if (k.sword-- == 0)
        return bad_key(s, "field number is zero", spec);
    if (*p == '.') {
        p = count(s, p + 1, &k.schar, "invalid number after '.'");
        if (!p)
            return -1;
        if (k.schar-- == 0)
            return bad_key(s, "character offset is zero", spec);
    }
    if (k.sword == 0 && k.schar == 0)
        k.sword = SIZE_MAX;
    p = ordering(p, &k, BLANK_START);
    if (*p == ',') {
        p = count(s, p + 1, &k.eword, "invalid number after ','");
        if (!p)
            return -1;
        if (k.eword-- == 0)
            return bad_key(s, "field number is zero", spec);
        if (*p == '.') {
            p = count(s, p + 1, &k.echar, "invalid number after '.'");
            if (!p)
                return -1;
        }
        p = ordering(p, &k, BLANK_END);
    }
    if (*p)
        return bad_key(s, "stray character in field spec", spec);
    add_key(s, &k);
    return 0;
}

/* The form of old, "+F[.C][OPTS] [-F[.C][OPTS]]", that counts from 0: 1 when @arg (and the word that follows) was one,
 * 0, or -1 after a message. */
static int old_key(struct sort *s, const char *arg)
{
    struct cmd *c = s->c;
    struct sort_key k = {.eword = SIZE_MAX};
    const char *p = count(s, arg + 1, &k.sword, NULL);
    if (p && *p == '.')
        p = count(s, p + 1, &k.schar, NULL);
    if (k.sword == 0 && k.schar == 0)
        k.sword = SIZE_MAX;
    if (!p || *ordering(p, &k, BLANK_START))
        return 0;
    const char *next = c->optind < c->argc ? c->argv[c->optind] : "";
    if (next[0] == '-' && isdigit((unsigned char)next[1])) {
        c->optind++;
        p = count(s, next + 1, &k.eword, "invalid number after '-'");
        if (p && *p == '.')
            p = count(s, p + 1, &k.echar, "invalid number after '.'");
        if (!p)
            return -1;
        if (k.echar == 0 && k.eword > 0)
            k.eword--;
        if (*ordering(p, &k, BLANK_END))
            return bad_key(s, "stray character in field spec", next);
    }
    add_key(s, &k);
    return 1;
}

/* ---- options ---- */

static int tab(struct sort *s, const char *arg)
{
    struct cmd *c = s->c;
    int t = (unsigned char)arg[0];
    if (!t) {
        cmd_err(c, "empty tab");
        return -1;
    }
    if (arg[1]) {
        if (strcmp(arg, "\\0") != 0) {
            cmd_err(c, "multi-character tab %s", cmd_quote_loc(c, arg));
            return -1;
        }
        t = 0;
    }
    if (s->tab >= 0 && s->tab != t) {
        cmd_err(c, "incompatible tabs");
        return -1;
    }
    s->tab = t;
    return 0;
}

/* -S: how much memory is used does not change the result, so only its form is looked at. */
static int buffer_size(struct sort *s, const char *arg)
{
    uint64_t v;
    enum num_status st = num_u64(arg, "EgGkKmMPtTYZ", &v);
    size_t digits = strspn(arg, "0123456789");
    if (st == NUM_SUFFIX && digits > 0 && (strcmp(arg + digits, "b") == 0 || strcmp(arg + digits, "%") == 0))
        return 0;
    if (st == NUM_OK)
        return 0;
    num_block_error(s->c, st, s->c->opt_name, arg);
    return -1;
}

static int batch_size(struct sort *s, const char *arg)
{
    struct cmd *c = s->c;
    uint64_t v;
    const uint64_t most = LIMIT_FDS - 3;
    enum num_status st = num_u64(arg, NULL, &v);
    if (st == NUM_BAD || st == NUM_SUFFIX) {
        num_block_error(c, st, "--batch-size", arg);
        return -1;
    }
    if (v < 2) {
        cmd_err(c, "invalid --batch-size argument %s", cmd_quote_loc(c, arg));
        cmd_err(c, "minimum --batch-size argument is %s", cmd_quote_loc(c, "2"));
        return -1;
    }
    if (v > most) {
        cmd_err(c, "--batch-size argument %s too large", cmd_quote_loc(c, arg));
        cmd_err(c, "maximum --batch-size argument with current rlimit is %llu", (unsigned long long)most);
        return -1;
    }
    s->batch = (size_t)v;
    return 0;
}

/* --parallel: the order does not depend on it. */
static int parallel(struct sort *s, const char *arg)
{
    uint64_t v;
    enum num_status st = num_u64(arg, NULL, &v);
    if (st == NUM_BAD || st == NUM_SUFFIX) {
        num_block_error(s->c, st, "--parallel", arg);
        return -1;
    }
    if (v == 0) {
        cmd_err(s->c, "number in parallel must be nonzero");
        return -1;
    }
    return 0;
}

static int incompatible(struct sort *s, char a, char b)
{
    cmd_err(s->c, "options '-%c%c' are incompatible", a, b);
    return -1;
}

static int set_check(struct sort *s, struct sort_args *a, char how)
{
    if (a->check && a->check != how)
        return incompatible(s, 'c', 'C');
    a->check = how;
    return 0;
}

/* One option: 0; -1 after a message (status 2); -3 after one of cmd_choice() (status 1). */
static int option(struct sort *s, struct sort_args *a, int o)
{
    static const char *const sorts[] = {"general-numeric", "human-numeric", "month", "numeric",
                                        "random",          "version",       NULL};
    static const int sort_vals[] = {'g', 'h', 'M', 'n', 'R', 'V'};
    static const char *const checks[] = {"quiet", "silent", "diagnose-first", NULL};
    static const int check_vals[] = {'C', 'C', 'c'};
    struct cmd *c = s->c;
    char letter[2] = {(char)o, 0};
    int k;
    switch (o) {
    case OPT_CHECK:
        k = c->optarg ? cmd_choice(c, "--check", c->optarg, checks, check_vals) : 'c';
        return k < 0 ? -3 : set_check(s, a, (char)k);
    case 'c':
    case 'C':
        return set_check(s, a, (char)o);
    case OPT_SORT:
        k = cmd_choice(c, "--sort", c->optarg, sorts, sort_vals);
        if (k < 0)
            return -3;
        letter[0] = (char)k;
        ordering(letter, &a->global, BLANK_START | BLANK_END);
        return 0;
    case OPT_FILES0:
        a->files_from = c->optarg;
        return 0;
    case OPT_BATCH:
        return batch_size(s, c->optarg);
    case OPT_PARALLEL:
        return parallel(s, c->optarg);
    case 'S':
        return buffer_size(s, c->optarg);
    case 'k':
        return key(s, c->optarg);
    case 't':
        return tab(s, c->optarg);
    case 'o':
        if (s->outfile && strcmp(s->outfile, c->optarg) != 0) {
            cmd_err(c, "multiple output files specified");
            return -1;
        }
        s->outfile = c->optarg;
        return 0;
    case 'm':
        a->merge = true;
        return 0;
    case 's':
        s->stable = true;
        return 0;
    case 'u':
        s->unique = true;
        return 0;
    case 'z':
        s->delim = 0;
        return 0;
    case 'T':
    case 'y':
    case OPT_RANDOM_SOURCE: /* for -R alone */
        return 0;
    default:
        ordering(letter, &a->global, BLANK_START | BLANK_END);
        return 0;
    }
}

/* Options and operands in one pass, as "+1 -2" among them needs: 0, or the status to end with; -1 when all is done. */
static int arguments(struct sort *s, struct sort_args *a)
{
    struct cmd *c = s->c;
    bool posix = cmd_getenv(c, "POSIXLY_CORRECT") != NULL;
    a->files = arena_alloc(c->arena, ((size_t)c->argc + 1) * sizeof *a->files);
    for (bool options = true; options || c->optind < c->argc;) {
        int before = c->optind, o = -1, r = 0;
        if (options)
            o = cmd_getopt(c, opts, true);
        if (o == -2)
            return cmd_usage_status(c) ? cmd_usage_status(c) : -1;
        if (o != -1) {
            r = option(s, a, o);
            if (r < 0)
                return r == -3 ? 1 : 2;
            continue;
        }
        options = options && c->optind == before; /* "--" was passed */
        if (c->optind >= c->argc)
            break;
        char *arg = c->argv[c->optind++];
        if (options && *arg == '+')
            r = old_key(s, arg);
        if (r < 0)
            return 2;
        if (r == 0)
            a->files[a->n_files++] = arg;
        options = options && !(posix && a->n_files > 0);
    }
    return 0;
}

/* ---- --files0-from ---- */

static int files_from(struct sort *s, struct sort_args *a)
{
    struct cmd *c = s->c;
    const char *name = a->files_from;
    bool in = strcmp(name, "-") == 0;
    if (a->n_files > 0) {
        cmd_err(c, "extra operand %s", cmd_quote(c, a->files[0], true));
        cmd_err_raw(c, "file operands cannot be combined with --files0-from\n");
        cmd_try_help(c);
        return 2;
    }
    int fd = cmd_open_input(c, name);
    if (fd < 0)
        return sort__fail(s, "open failed", name, fd);
    struct buf all;
    buf_init(&all, LIMIT_STRING);
    int r = cmd_read_all(c, fd, &all), st = 0;
    cmd_close_input(c, fd);
    size_t n = 0;
    for (size_t i = 0; i < all.n; i++)
        n += all.p[i] == 0;
    char *text = r == 0 ? arena_try(c->keep, all.n + 1) : NULL;
    a->files = text ? arena_try(c->keep, (n + 2) * sizeof *a->files) : NULL;
    if (r < 0 && r != -EFBIG && r != -ENOMEM) {
        cmd_err(c, "%s: read error", cmd_quote(c, name, false));
        st = 2;
    } else if (!a->files) {
        st = cmd_no_memory(c);
    } else {
        memcpy(text, all.p, all.n);
        text[all.n] = 0;
        for (char *p = text; p < text + all.n && st == 0; p += strlen(p) + 1) {
            a->files[a->n_files++] = p;
            if (in && strcmp(p, "-") == 0) {
                cmd_err(c, "when reading file names from stdin, no file name of %s allowed", cmd_quote(c, p, true));
                st = 2;
            } else if (*p == 0) {
                cmd_err(c, "%s:%zu: invalid zero-length file name", cmd_quote(c, name, false), a->n_files);
                st = 2;
            }
        }
    }
    buf_done(&all);
    if (st == 0 && a->n_files == 0) {
        cmd_err(c, "no input from %s", cmd_quote(c, name, true));
        st = 2;
    }
    return st;
}

/* ---- what is done ---- */

/* -c and -C */
static int check(struct sort *s, const char *name, bool tell)
{
    struct cmd *c = s->c;
    struct cmd_lines l;
    struct buf last;
    struct str line;
    uint64_t n = 0;
    int r, st = 0, fd = cmd_open_input(c, name);
    if (fd < 0)
        return sort__fail(s, "open failed", name, fd);
    buf_init(&last, LIMIT_LINE);
    cmd_lines_init(&l, c, fd, s->delim);
    while ((r = cmd_lines_next(&l, &line, NULL)) > 0) {
        int d = n++ > 0 ? sort__compare(s, buf_str(&last), line) : -1;
        if (d > 0 || (d == 0 && s->unique)) {
            st = 1;
            break;
        }
        buf_clear(&last);
        r = buf_adds(&last, line);
        if (r < 0)
            break;
    }
    if (st == 1 && tell) {
        struct buf text;
        buf_init(&text, LIMIT_LINE);
        buf_addf(&text, "%s: %s:%llu: disorder: ", c->name, name, (unsigned long long)n);
        buf_adds(&text, line);
        buf_putc(&text, s->delim);
        for (size_t at = 0; at < text.n;) {
            ssize_t w = proc_write(c->p, 2, text.p + at, text.n - at);
            if (w <= 0)
                break;
            at += (size_t)w;
        }
        buf_done(&text);
    }
    buf_done(&last);
    cmd_lines_done(&l);
    cmd_close_input(c, fd);
    if (r == -ENOMEM || r == -EFBIG)
        return cmd_no_memory(c);
    return r < 0 ? sort__fail(s, "read failed", name, r) : st;
}

/* Every file must be readable and the output writable before anything is done. */
static int open_all(struct sort *s, char **files, size_t n)
{
    struct cmd *c = s->c;
    for (size_t i = 0; i < n; i++) {
        int r = strcmp(files[i], "-") == 0 ? 0 : proc_access(c->p, str_c(files[i]), R_OK);
        if (r < 0)
            return sort__fail(s, "cannot read", files[i], r);
    }
    if (!s->outfile)
        return 0;
    int fd = cmd_open_safe(c, s->outfile, O_WRONLY | O_CREAT, 0666);
    if (fd < 0)
        return sort__fail(s, "open failed", s->outfile, fd);
    int r = proc_dup2(c->p, fd, 1, false);
    proc_close(c->p, fd);
    if (r < 0)
        return sort__fail(s, "open failed", s->outfile, r);
    c->out_tty = proc_isatty(c->p, 1);
    return 0;
}

/* Tells of an output that failed, as the real tool does: on the way, or with its last block of 4096 bytes. */
static int out_status(struct sort *s, int st)
{
    struct cmd *c = s->c;
    cmd_flush(c);
    if (c->out_err == 0 || c->p->must_end)
        return st;
    sort__fail(s, s->written > 4096 ? "write failed" : "fflush failed", s->outfile, c->out_err);
    cmd_err(c, "write error");
    c->out_reported = true;
    return 2;
}

static int run(struct sort *s, struct sort_args *a)
{
    static char in[] = "-";
    static char *in_v[] = {in};
    struct cmd *c = s->c;
    if (a->n_files == 0) {
        a->files = in_v;
        a->n_files = 1;
    }
    if (a->check) {
        if (a->n_files > 1) {
            cmd_err(c, "extra operand %s not allowed with -%c", cmd_quote(c, a->files[1], true), a->check);
            return 2;
        }
        if (s->outfile) {
            incompatible(s, a->check, 'o');
            return 2;
        }
        return check(s, a->files[0], a->check == 'c');
    }
    int st = open_all(s, a->files, a->n_files);
    if (st)
        return st;
    if (!a->merge) {
        st = sort__files(s, a->files, a->n_files);
    } else {
        struct sort_input *v = mem_try_zalloc(a->n_files * sizeof *v);
        for (size_t i = 0; v && i < a->n_files; i++)
            v[i].name = a->files[i];
        st = v ? sort__merge(s, v, a->n_files) : cmd_no_memory(c);
        mem_free(v);
    }
    return out_status(s, st);
}

static int sort_main(struct cmd *c)
{
    struct sort s = {.c = c, .tab = -1, .delim = '\n', .batch = SORT_BATCH};
    struct sort_args a = {0};
    int st = arguments(&s, &a);
    if (st)
        return st < 0 ? 0 : st;
    if (a.files_from)
        st = files_from(&s, &a);
    if (st == 0 && sort__plan(&s, &a.global) < 0)
        st = 2;
    if (st)
        return st;
    buf_init(&s.copy[0], LIMIT_LINE);
    buf_init(&s.copy[1], LIMIT_LINE);
    st = run(&s, &a);
    buf_done(&s.copy[0]);
    buf_done(&s.copy[1]);
    return st;
}

CMD(sort, sort_main, 2, "Usage: sort [OPTION]... [FILE]...\n  or:  sort [OPTION]... --files0-from=F\n",
    "Order, for all or as letters of a key:\n"
    "  -b, --ignore-leading-blanks  blanks in front of keys do not count\n"
    "  -d, --dictionary-order      only blanks, letters and digits count\n"
    "  -f, --ignore-case           lower case is as upper case\n"
    "  -g, --general-numeric-sort  by the value of a floating point number\n"
    "  -i, --ignore-nonprinting    only printable characters count\n"
    "  -M, --month-sort            unknown, JAN to DEC\n"
    "  -h, --human-numeric-sort    numbers such as 2K, 1G\n"
    "  -n, --numeric-sort          by the value of a decimal number\n"
    "  -r, --reverse               the other way round\n"
    "      --sort=WORD             general-numeric -g, human-numeric -h, month -M, numeric -n, version -V\n"
    "  -V, --version-sort          numbers inside of text by their value\n"
    "Other:\n"
    "      --batch-size=N          merge at most N files at once\n"
    "  -c, --check, --check=diagnose-first  only see whether the input is sorted, and tell where not\n"
    "  -C, --check=quiet, --check=silent    the same without telling\n"
    "      --files0-from=F         the FILEs are the names in F, each ended by NUL; '-' is standard input\n"
    "  -k, --key=F[.C][OPTS][,F[.C][OPTS]]  sort by the part from field F, character C on\n"
    "  -m, --merge                 the FILEs are sorted already\n"
    "  -o, --output=FILE           write to FILE\n"
    "  -s, --stable                lines with equal keys stay as they are\n"
    "  -t, --field-separator=SEP   fields end with SEP, not where blanks begin\n"
    "  -u, --unique                of equal lines the first; with -c, no equal lines\n"
    "  -z, --zero-terminated       lines end with NUL\n"
    "  -S SIZE, -T DIR, --parallel=N  accepted; they change no result\n");
