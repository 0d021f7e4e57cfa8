/* SPDX-License-Identifier: Apache-2.0 */
#include "cas/digest.h"

#include <ctype.h>
#include <errno.h>

#include "shell/cmd/cmd.h"

/* md5sum and its like: the digests of files, and with -c a list of them compared with the files it names. */

static const struct cmd_opt opts[] = {
    {'b', "binary", CMD_NO_ARG},
    {'c', "check", CMD_NO_ARG},
    {256, "ignore-missing", CMD_NO_ARG},
    {257, "quiet", CMD_NO_ARG},
    {258, "status", CMD_NO_ARG},
    {259, "strict", CMD_NO_ARG},
    {260, "tag", CMD_NO_ARG},
    {'t', "text", CMD_NO_ARG},
    {'w', "warn", CMD_NO_ARG},
    {'z', "zero", CMD_NO_ARG},
    {0},
};

static const struct kind {
    const char *command, *tag;
    enum cas_digest_kind kind;
} kinds[] = {
    {"md5sum", "MD5", CAS_MD5},          {"sha1sum", "SHA1", CAS_SHA1},       {"sha224sum", "SHA224", CAS_SHA224},
    {"sha256sum", "SHA256", CAS_SHA256}, {"sha384sum", "SHA384", CAS_SHA384}, {"sha512sum", "SHA512", CAS_SHA512},
};

enum order { ORDER_UNKNOWN, ORDER_USUAL, ORDER_REVERSED };

struct digest {
    struct cmd *c;
    const struct kind *kind;
    size_t size;
    int binary; /* -1: not said */
    bool check, tag, zero;
    bool ignore_missing, quiet, status_only, strict, warn;
    /* Whether a list has one blank before names, as old BSD's had. It is the same all over. */
    enum order order;
};

#define HEX_MAX (2 * CAS_DIGEST_MAX + 1)

/* The digest of what is left of @fd, in hexadecimal digits: 0 or -errno. */
static int hash_fd(struct digest *d, int fd, char hex[HEX_MAX])
{
    static const char digits[] = "0123456789abcdef";
    struct cas_digest state;
    uint8_t out[CAS_DIGEST_MAX];
    const void *p;
    size_t n;
    int r;
    cas_digest_init(&state, d->kind->kind);
    while ((r = cmd_poll(d->c)) == 0 && (r = proc_peek(d->c->p, fd, &p, &n)) == 0 && n > 0) {
        cas_digest_add(&state, p, n);
        proc_consume(d->c->p, fd, n);
    }
    if (r < 0)
        return r;
    cas_digest_end(&state, out);
    for (size_t i = 0; i < d->size; i++) {
        hex[2 * i] = digits[out[i] >> 4];
        hex[2 * i + 1] = digits[out[i] & 15];
    }
    hex[2 * d->size] = 0;
    return 0;
}

/* The digest of a file: 1, 0 after a message, or -1: it is missing, and that is passed over. */
static int hash_file(struct digest *d, const char *name, char hex[HEX_MAX])
{
    int fd = cmd_open_input(d->c, name), r = fd;
    if (fd >= 0) {
        r = hash_fd(d, fd, hex);
        cmd_close_input(d->c, fd);
    } else if (r == -ENOENT && d->ignore_missing) {
        return -1;
    }
    if (r < 0)
        cmd_errno(d->c, r, "%s", cmd_quote(d->c, name, false));
    return r == 0;
}

/* ---- printing ---- */

static bool needs_escape(const char *name)
{
    return name[strcspn(name, "\\\n\r")] != 0;
}

static void put_name(struct cmd *c, const char *name, bool escape)
{
    for (; *name; name++) {
        if (escape && strchr("\\\n\r", *name)) {
            cmd_putc(c, '\\');
            cmd_putc(c, *name == '\n' ? 'n' : *name == '\r' ? 'r' : '\\');
        } else {
            cmd_putc(c, *name);
        }
    }
}

static int print_file(struct digest *d, const char *name)
{
    struct cmd *c = d->c;
    char hex[HEX_MAX];
    if (hash_file(d, name, hex) != 1)
        return 1;
    bool escape = !d->zero && needs_escape(name);
    if (escape)
        cmd_putc(c, '\\');
    if (d->tag) {
        cmd_puts(c, d->kind->tag);
        cmd_puts(c, " (");
        put_name(c, name, escape);
        cmd_puts(c, ") = ");
        cmd_puts(c, hex);
    } else {
        cmd_puts(c, hex);
        cmd_putc(c, ' ');
        cmd_putc(c, d->binary == 1 ? '*' : ' ');
        put_name(c, name, escape);
    }
    cmd_putc(c, d->zero ? 0 : '\n');
    return 0;
}

/* ---- checking ---- */

static bool is_white(char ch)
{
    return ch == ' ' || ch == '\t';
}

/* Whether @s is a digest and nothing else. */
static bool is_digest(const struct digest *d, const char *s)
{
    size_t n = 0;
    while (isxdigit((unsigned char)s[n]))
        n++;
    return n == 2 * d->size && s[n] == 0;
}

/* Takes back what put_name() did, in place. False: it could not have written that. */
static bool unescape(char *s, size_t n)
{
    char *to = s;
    for (size_t i = 0; i < n; i++) {
        if (s[i] == 0)
            return false;
        if (s[i] != '\\') {
            *to++ = s[i];
            continue;
        }
        if (++i == n || !strchr("nr\\", s[i]) || s[i] == 0)
            return false;
        *to++ = s[i] == 'n' ? '\n' : s[i] == 'r' ? '\r' : '\\';
    }
    *to = 0;
    return true;
}

/* "NAME) = DIGEST" of --tag. */
static bool split_tagged(const struct digest *d, char *s, size_t n, bool escaped, char **hex, char **name)
{
    size_t close = n;
    while (close > 0 && s[close - 1] != ')')
        close--;
    if (close-- == 0)
        return false;
    s[close] = 0;
    *name = s;
    if (escaped && !unescape(s, close))
        return false;
    char *p = s + close + 1;
    while (is_white(*p))
        p++;
    if (*p++ != '=')
        return false;
    while (is_white(*p))
        p++;
    *hex = p;
    return is_digest(d, p);
}

/* Takes a line of a list apart; it has a NUL behind it. False: it is none. */
static bool split_line(struct digest *d, char *s, size_t n, char **hex, char **name)
{
    char *end = s + n;
    size_t digits = 2 * d->size, tag = strlen(d->kind->tag);
    while (is_white(*s))
        s++;
    bool escaped = *s == '\\';
    s += escaped;
    if (strncmp(s, d->kind->tag, tag) == 0) {
        s += tag;
        s += *s == ' ';
        return *s == '(' && split_tagged(d, s + 1, (size_t)(end - s) - 1, escaped, hex, name);
    }
    if ((size_t)(end - s) < digits + 2 + (*s == '\\'))
        return false;
    *hex = s;
    s += digits;
    if (!is_white(*s))
        return false;
    *s++ = 0;
    if (!is_digest(d, *hex))
        return false;
    if (end - s == 1 || (*s != ' ' && *s != '*')) {
        if (d->order == ORDER_USUAL)
            return false;
        d->order = ORDER_REVERSED;
    } else if (d->order != ORDER_REVERSED) {
        d->order = ORDER_USUAL;
        s++;
    }
    *name = s;
    return !escaped || unescape(s, (size_t)(end - s));
}

struct tally {
    uint64_t good, bad_lines, unreadable, differing, line;
    bool any;
};

static void put_verdict(struct digest *d, const char *name, const char *verdict)
{
    bool escape = strchr(name, '\n') != NULL;
    if (escape)
        cmd_putc(d->c, '\\');
    put_name(d->c, name, escape);
    cmd_puts(d->c, verdict);
}

static void check_line(struct digest *d, struct tally *t, const char *list, char *s, size_t n)
{
    char *hex, *name, found[HEX_MAX];
    if (!split_line(d, s, n, &hex, &name)) {
        t->bad_lines++;
        if (d->warn)
            cmd_err(d->c, "%s: %llu: improperly formatted %s checksum line", list, (unsigned long long)t->line,
                    d->kind->tag);
        return;
    }
    t->any = true;
    int r = hash_file(d, name, found);
    if (r == -1)
        return;
    if (r == 0) {
        t->unreadable++;
        if (!d->status_only)
            put_verdict(d, name, ": FAILED open or read\n");
        return;
    }
    bool same = strcasecmp(hex, found) == 0;
    t->good += same;
    t->differing += !same;
    if (!d->status_only && !(same && d->quiet))
        put_verdict(d, name, same ? ": OK\n" : ": FAILED\n");
}

static void warn_of(struct cmd *c, uint64_t n, const char *one, const char *many)
{
    if (n > 0)
        cmd_err(c, "WARNING: %llu %s", (unsigned long long)n, n == 1 ? one : many);
}

/* What is said of a list at its end, and whether all was well. */
static bool conclude(struct digest *d, const struct tally *t, const char *list)
{
    struct cmd *c = d->c;
    if (!t->any) {
        cmd_err(c, "%s: no properly formatted checksum lines found", list);
        return false;
    }
    if (!d->status_only) {
        warn_of(c, t->bad_lines, "line is improperly formatted", "lines are improperly formatted");
        warn_of(c, t->unreadable, "listed file could not be read", "listed files could not be read");
        warn_of(c, t->differing, "computed checksum did NOT match", "computed checksums did NOT match");
        if (d->ignore_missing && t->good == 0)
            cmd_err(c, "%s: no file was verified", list);
    }
    return t->good > 0 && t->differing == 0 && t->unreadable == 0 && !(d->strict && t->bad_lines > 0);
}

static int check_list(struct digest *d, const char *name)
{
    struct cmd *c = d->c;
    struct cmd_lines lines;
    struct str line;
    struct tally t = {0};
    bool input = strcmp(name, "-") == 0;
    const char *list = cmd_quote(c, input ? "standard input" : name, false);
    int r, fd = cmd_open_input(c, name);
    if (fd < 0) {
        cmd_errno(c, fd, "%s", list);
        return 1;
    }
    d->order = ORDER_UNKNOWN;
    cmd_lines_init(&lines, c, fd, '\n');
    while ((r = cmd_lines_next(&lines, &line, NULL)) == 1 && c->out_err == 0) {
        t.line++;
        if (line.n > 0 && line.p[0] == '#')
            continue;
        if (line.n > 0 && line.p[line.n - 1] == '\r')
            line.n--;
        if (line.n == 0)
            continue;
        struct arena_mark mark = arena_mark(c->arena);
        check_line(d, &t, list, arena_dup(c->arena, line.p, line.n), line.n);
        arena_reset(c->arena, mark);
    }
    cmd_lines_done(&lines);
    cmd_close_input(c, fd);
    if (c->p->must_end)
        return 1;
    if (r < 0) {
        cmd_err(c, "%s: read error", list);
        return 1;
    }
    return !conclude(d, &t, list);
}

/* ---- options ---- */

static const char *misused(const struct digest *d)
{
    if (d->tag && d->binary == 0)
        return "--tag does not support --text mode";
    if (d->zero && d->check)
        return "the --zero option is not supported when verifying checksums";
    if (d->tag && d->check)
        return "the --tag option is meaningless when verifying checksums";
    if (d->binary >= 0 && d->check)
        return "the --binary and --text options are meaningless when verifying checksums";
    if (d->check)
        return NULL;
    if (d->ignore_missing)
        return "the --ignore-missing option is meaningful only when verifying checksums";
    if (d->status_only)
        return "the --status option is meaningful only when verifying checksums";
    if (d->warn)
        return "the --warn option is meaningful only when verifying checksums";
    if (d->quiet)
        return "the --quiet option is meaningful only when verifying checksums";
    if (d->strict)
        return "the --strict option is meaningful only when verifying checksums";
    return NULL;
}

static void option(struct digest *d, int o)
{
    d->check |= o == 'c';
    d->tag |= o == 260;
    d->zero |= o == 'z';
    d->ignore_missing |= o == 256;
    d->strict |= o == 259;
    if (o == 'b' || o == 't')
        d->binary = o == 'b';
    /* Of these three the last one holds. */
    if (o == 'w' || o == 257 || o == 258) {
        d->warn = o == 'w';
        d->quiet = o == 257;
        d->status_only = o == 258;
    }
}

static int digest_main(struct cmd *c)
{
    struct digest d = {.c = c, .kind = kinds, .binary = -1};
    while (strcmp(d.kind->command, c->def->name) != 0)
        d.kind++;
    d.size = cas_digest_size(d.kind->kind);
    for (int o; (o = cmd_getopt(c, opts, false)) != -1;) {
        if (o == -2)
            return cmd_usage_status(c);
        option(&d, o);
    }
    const char *wrong = misused(&d);
    if (wrong)
        return cmd_usage_error(c, "%s", wrong);
    int status = 0;
    if (c->optind == c->argc)
        status = d.check ? check_list(&d, "-") : print_file(&d, "-");
    for (int i = c->optind; i < c->argc && c->out_err == 0 && !c->p->must_end; i++) {
        struct arena_mark mark = arena_mark(c->arena);
        status |= d.check ? check_list(&d, c->argv[i]) : print_file(&d, c->argv[i]);
        arena_reset(c->arena, mark);
    }
    return status;
}

#define DIGEST(name, text)                                                                                             \
    CMD(name, digest_main, 1, "Usage: " #name " [OPTION]... [FILE]...\n",                                              \
        "Prints or checks " text " digests.\n"                                                                         \
        "  -b, --binary          '*' before names\n"                                                                   \
        "  -c, --check           read digests from the FILEs and check them\n"                                         \
        "      --tag             as BSD prints them\n"                                                                 \
        "  -t, --text            ' ' before names\n"                                                                   \
        "  -z, --zero            NUL behind each line, and no escapes in names\n"                                      \
        "      --ignore-missing  with -c, pass over files that are missing\n"                                          \
        "      --quiet           with -c, no OK\n"                                                                     \
        "      --status          with -c, nothing but the status\n"                                                    \
        "      --strict          with -c, a malformed line is a failure\n"                                             \
        "  -w, --warn            with -c, tell of malformed lines\n")

DIGEST(md5sum, "MD5");
DIGEST(sha1sum, "SHA-1");
DIGEST(sha224sum, "SHA-224");
DIGEST(sha256sum, "SHA-256");
DIGEST(sha384sum, "SHA-384");
DIGEST(sha512sum, "SHA-512");
