/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/num.h"
#include "shell/cmd/num.h"

/* dd: blocks from a file to another. Conversions of what is copied, and flags but fullblock, are left to the
 * userland. */

static const struct cmd_opt opts[] = {{0}};

enum status { STATUS_ALL, STATUS_NOXFER, STATUS_NONE };

struct dd {
    struct cmd *c;
    const char *in, *out; /* names; NULL: the standard ones */
    uint64_t ibs, obs, bs;
    uint64_t count, skip, seek;
    bool counted, full, notrunc, nocreat, excl;
    enum status level;
    /* what was done */
    uint64_t in_full, in_part, out_full, out_part, bytes;
    int64_t begin;
    char *block, *held; /* obs bytes, of which n_held wait for the rest, unless blocks go as they come */
    size_t n_held;
};

/* ---- the report ---- */

__extension__ typedef unsigned __int128 wide;

/* "1.1 kB": @n bytes in the largest unit of @base, to the nearest, halves to even. Bytes below @base: "". */
static const char *amount(uint64_t n, unsigned base, char out[32])
{
    static const char letters[] = "KMGTPE";
    wide unit = 1;
    int power = 0;
    out[0] = 0;
    while (power < 6 && n / unit >= base) {
        unit *= base;
        power++;
    }
    if (power == 0)
        return out;
    for (;;) {
        wide tenths = (wide)n * 10 / unit, rest = (wide)n * 10 % unit * 2;
        tenths += rest > unit || (rest == unit && tenths % 2);
        wide whole = n / unit, over = n % unit * 2;
        whole += over > unit || (over == unit && whole % 2);
        if (tenths >= 100 && whole >= base && power < 6) { /* rounding has filled the unit */
            unit *= base;
            power++;
            continue;
        }
        char letter = base == 1000 && power == 1 ? 'k' : letters[power - 1];
        const char *i = base == 1024 ? "i" : "";
        if (tenths < 100)
            snprintf(out, 32, "%u.%u %c%sB", (unsigned)(tenths / 10), (unsigned)(tenths % 10), letter, i);
        else
            snprintf(out, 32, "%u %c%sB", (unsigned)whole, letter, i);
        return out;
    }
}

static void report(struct dd *d)
{
    struct cmd *c = d->c;
    char si[32], iec[32], text[512], rate[48] = "Infinity B/s";
    if (d->level == STATUS_NONE || c->p->must_end)
        return;
    snprintf(text, sizeof text, "%llu+%llu records in\n%llu+%llu records out\n", (unsigned long long)d->in_full,
             (unsigned long long)d->in_part, (unsigned long long)d->out_full, (unsigned long long)d->out_part);
    cmd_err_raw(c, text);
    if (d->level == STATUS_NOXFER)
        return;
    double took = (double)(proc_now(c->p->ps) - d->begin) / CLOCK_S;
    if (took > 0) {
        static const char letters[] = "kMGTPE";
        double speed = (double)d->bytes / took / 1000;
        int power = 0;
        for (; speed >= 1000 && power < 5; power++)
            speed /= 1000;
        snprintf(rate, sizeof rate, speed < 99.95 ? "%.1f %cB/s" : "%.0f %cB/s", speed, letters[power]);
    }
    amount(d->bytes, 1000, si);
    amount(d->bytes, 1024, iec);
    const char *open = si[0] ? " (" : "", *comma = si[0] && iec[0] ? ", " : "", *close = si[0] ? ")" : "";
    snprintf(text, sizeof text, "%llu byte%s%s%s%s%s%s copied, %g s, %s\n", (unsigned long long)d->bytes,
             d->bytes == 1 ? "" : "s", open, si, comma, iec, close, took, rate);
    cmd_err_raw(c, text);
}

/* ---- copying ---- */

static const char *in_name(const struct dd *d)
{
    return cmd_quote(d->c, d->in ? d->in : "standard input", true);
}

static const char *out_name(const struct dd *d)
{
    return cmd_quote(d->c, d->out ? d->out : "standard output", true);
}

/* A block of the output: 0, or 1 after a message. */
static int put_block(struct dd *d, const char *p, size_t n)
{
    struct cmd *c = d->c;
    size_t done = 0;
    c->written = true;
    while (done < n) {
        ssize_t w = proc_write(c->p, 1, p + done, n - done);
        if (w < 0) {
            d->bytes += done;
            d->out_part += done > 0;
            cmd_errno(c, (int)w, "error writing %s", out_name(d));
            return 1;
        }
        done += (size_t)w;
    }
    d->bytes += n;
    *(n == d->obs ? &d->out_full : &d->out_part) += 1;
    return 0;
}

/* What was read goes out as it is, or in blocks of the output's size. */
static int put(struct dd *d, const char *p, size_t n)
{
    if (!d->held)
        return put_block(d, p, n);
    while (n > 0) {
        size_t part = NUM_MIN(n, (size_t)d->obs - d->n_held);
        memcpy(d->held + d->n_held, p, part);
        d->n_held += part;
        p += part;
        n -= part;
        if (d->n_held == d->obs) {
            d->n_held = 0;
            if (put_block(d, d->held, (size_t)d->obs) != 0)
                return 1;
        }
    }
    return 0;
}

/* A block of the input: as a read gives it, or full. */
static ssize_t get(struct dd *d)
{
    struct cmd *c = d->c;
    size_t have = 0;
    do {
        ssize_t n = cmd_poll(c) < 0 ? -EINTR : proc_read(c->p, 0, d->block + have, (size_t)d->ibs - have);
        if (n <= 0)
            return n < 0 ? n : (ssize_t)have;
        have += (size_t)n;
    } while (d->full && have < d->ibs);
    return (ssize_t)have;
}

static int copy(struct dd *d)
{
    struct cmd *c = d->c;
    int r = 0;
    for (uint64_t i = 0; r == 0 && (!d->counted || i < d->count); i++) {
        ssize_t n = get(d);
        if (n == 0)
            break;
        if (n < 0) {
            cmd_errno(c, (int)n, "error reading %s", in_name(d));
            r = 1;
            break;
        }
        *((uint64_t)n == d->ibs ? &d->in_full : &d->in_part) += 1;
        r = put(d, d->block, (size_t)n);
    }
    if (d->n_held > 0 && !c->p->must_end && r == 0)
        r = put_block(d, d->held, d->n_held);
    return r;
}

/* Leaves out blocks of the input. */
static int skip_input(struct dd *d)
{
    struct cmd *c = d->c;
    struct vfs_stat st;
    uint64_t bytes, at;
    if (d->skip == 0)
        return 0;
    int64_t now = proc_lseek(c->p, 0, 0, SEEK_CUR);
    if (now >= 0 && proc_fstat(c->p, 0, &st) == 0 && S_ISREG(st.mode)) {
        bool fits = num_mul64(d->skip, d->ibs, &bytes) && num_add64((uint64_t)now, bytes, &at) && at <= st.size;
        (void)proc_lseek(c->p, 0, fits ? (int64_t)at : (int64_t)st.size, SEEK_SET);
        if (!fits)
            cmd_err(c, "%s: cannot skip to specified offset", cmd_quote(c, d->in ? d->in : "standard input", !d->in));
        return 0;
    }
    for (uint64_t i = 0; i < d->skip; i++) {
        ssize_t n = get(d);
        if (n < 0) {
            cmd_errno(c, (int)n, "error reading %s", in_name(d));
            return 1;
        }
        if (n == 0) {
            cmd_err(c, "%s: cannot skip to specified offset", cmd_quote(c, d->in ? d->in : "standard input", !d->in));
            break;
        }
    }
    return 0;
}

/* ---- files ---- */

static int open_as(struct dd *d, const char *name, int oflags, int fd)
{
    struct cmd *c = d->c;
    int got = cmd_open_safe(c, name, oflags, 0666);
    if (got < 0) {
        cmd_errno(c, got, "failed to open %s", cmd_quote(c, name, true));
        return 1;
    }
    proc_dup2(c->p, got, fd, false);
    proc_close(c->p, got);
    return 0;
}

/* 0, or 1 after a message. */
static int open_files(struct dd *d)
{
    struct cmd *c = d->c;
    if (d->in && open_as(d, d->in, O_RDONLY, 0) != 0)
        return 1;
    if (!d->out)
        return 0;
    uint64_t start;
    int flags = (d->nocreat ? 0 : O_CREAT) | (d->excl ? O_EXCL : 0) | (d->seek || d->notrunc ? 0 : O_TRUNC);
    if (!num_mul64(d->seek, d->obs, &start) || start > INT64_MAX) {
        cmd_err(c, "offset too large: cannot truncate to a length of seek=%llu (%llu-byte) blocks",
                (unsigned long long)d->seek, (unsigned long long)d->obs);
        return 1;
    }
    if (open_as(d, d->out, O_WRONLY | flags, 1) != 0)
        return 1;
    if (d->seek == 0)
        return 0;
    struct vfs_stat st;
    bool regular = proc_fstat(c->p, 1, &st) == 0 && S_ISREG(st.mode);
    int r = regular && !d->notrunc ? proc_ftruncate(c->p, 1, start) : 0;
    if (r < 0) {
        cmd_errno(c, r, "failed to truncate to %llu bytes in output file %s", (unsigned long long)start, out_name(d));
        return 1;
    }
    int64_t at = proc_lseek(c->p, 1, (int64_t)start, SEEK_SET);
    if (at >= 0)
        return 0;
    cmd_errno(c, (int)at, "%s: cannot seek", out_name(d));
    report(d);
    return 1;
}

/* ---- operands ---- */

/* The value of "NAME=VALUE" when @word is one of @name. */
static const char *value_of(const char *word, const char *name)
{
    size_t n = strlen(name);
    return strncmp(word, name, n) == 0 && word[n] == '=' ? word + n + 1 : NULL;
}

/* A number of blocks or bytes: 0, 1 after a message, 2 refused. */
static int number(struct dd *d, const char *text, uint64_t min, uint64_t *ret)
{
    struct cmd *c = d->c;
    size_t n = strlen(text);
    uint64_t v = 0;
    /* Products, and bytes where blocks are meant. */
    bool product = isdigit((unsigned char)text[0]) && strpbrk(text, "xX");
    if (product || (n > 1 && text[n - 1] == 'B' && strchr("0123456789B", text[n - 2])))
        return cmd_refuse(c, "a number like %s is not implemented here", cmd_quote_loc(c, text));
    enum num_status st = num_u64(text, "bcEGkKMPTwYZ0", &v);
    bool large = st == NUM_OVERFLOW || v > INT64_MAX;
    if (st == NUM_BAD || st == NUM_SUFFIX || large || v < min) {
        cmd_errno(c, large ? -EOVERFLOW : 0, "invalid number: %s", cmd_quote_loc(c, text));
        return 1;
    }
    *ret = v;
    return 0;
}

static int set_status(struct dd *d, const char *text)
{
    static const char *const names[] = {"none", "noxfer", NULL};
    if (strcmp(text, "progress") == 0)
        return cmd_refuse(d->c, "status=progress is not implemented here");
    for (int i = 0; names[i]; i++)
        if (strcmp(text, names[i]) == 0) {
            d->level = i == 0 ? STATUS_NONE : STATUS_NOXFER;
            return 0;
        }
    return cmd_usage_error(d->c, "invalid status level: %s", cmd_quote_loc(d->c, text));
}

/* The words of conv=, of which those about the files are here. */
static int set_conv(struct dd *d, const char *text)
{
    for (;;) {
        struct str word = str_of(text, strcspn(text, ","));
        if (str_eqc(word, "notrunc"))
            d->notrunc = true;
        else if (str_eqc(word, "nocreat"))
            d->nocreat = true;
        else if (str_eqc(word, "excl"))
            d->excl = true;
        else if (!str_eqc(word, "fsync") && !str_eqc(word, "fdatasync"))
            return cmd_refuse(d->c, "conv=%s is not implemented here", text);
        if (!text[word.n])
            return 0;
        text += word.n + 1;
    }
}

/* One operand: 0, 1 after a message, 2 refused. */
static int operand(struct dd *d, const char *word)
{
    struct cmd *c = d->c;
    const char *v;
    if ((v = value_of(word, "if")))
        return d->in = v, 0;
    if ((v = value_of(word, "of")))
        return d->out = v, 0;
    if ((v = value_of(word, "bs")))
        return number(d, v, 1, &d->bs);
    if ((v = value_of(word, "ibs")))
        return number(d, v, 1, &d->ibs);
    if ((v = value_of(word, "obs")))
        return number(d, v, 1, &d->obs);
    if ((v = value_of(word, "count")))
        return d->counted = true, number(d, v, 0, &d->count);
    if ((v = value_of(word, "skip")) || (v = value_of(word, "iseek")))
        return number(d, v, 0, &d->skip);
    if ((v = value_of(word, "seek")) || (v = value_of(word, "oseek")))
        return number(d, v, 0, &d->seek);
    if ((v = value_of(word, "status")))
        return set_status(d, v);
    if ((v = value_of(word, "conv")))
        return set_conv(d, v);
    if ((v = value_of(word, "iflag")) && strcmp(v, "fullblock") == 0)
        return d->full = true, 0;
    if (v || value_of(word, "oflag") || value_of(word, "cbs"))
        return cmd_refuse(c, "%s is not implemented here", word);
    return cmd_usage_error(c, "unrecognized operand %s", cmd_quote_loc(c, word));
}

static int run(struct dd *d)
{
    struct cmd *c = d->c;
    if (d->ibs > LIMIT_LINE || d->obs > LIMIT_LINE)
        return cmd_refuse(c, "a block of such a size is not implemented here");
    char *block MEM_AUTO = mem_try((size_t)d->ibs), *held MEM_AUTO = NULL;
    if (d->bs == 0)
        held = mem_try((size_t)d->obs);
    if (!block || (d->bs == 0 && !held))
        return cmd_no_memory(c);
    d->block = block;
    d->held = held;
    if (open_files(d) != 0)
        return 1;
    d->begin = proc_now(c->p->ps);
    int status = skip_input(d);
    if (status == 0)
        status = copy(d);
    report(d);
    return status;
}

static int dd_main(struct cmd *c)
{
    struct dd d = {.c = c, .ibs = 512, .obs = 512};
    if (cmd_getopt(c, opts, false) == -2)
        return cmd_usage_status(c);
    for (int i = c->optind; i < c->argc; i++) {
        int r = operand(&d, c->argv[i]);
        if (r != 0)
            return r;
    }
    if (d.bs)
        d.ibs = d.obs = d.bs;
    if (d.nocreat && d.excl)
        return cmd_refuse(c, "conv=excl,nocreat is not implemented here");
    if (!d.out && d.seek)
        return cmd_refuse(c, "seek= on standard output is not implemented here");
    return run(&d);
}

CMD(dd, dd_main, 1, "Usage: dd [OPERAND]...\n",
    "Copies blocks from standard input to standard output.\n"
    "  bs=BYTES       at once; each block goes out as it came in\n"
    "  conv=WORDS     notrunc, nocreat, excl (about the file of of=), fsync, fdatasync\n"
    "  count=N        N blocks of the input at most\n"
    "  ibs=BYTES, obs=BYTES  read, write so many at once, not 512\n"
    "  if=FILE, of=FILE      from, to FILE\n"
    "  iflag=fullblock       blocks of the input are full\n"
    "  seek=N, skip=N        N blocks of the output, the input, are left out\n"
    "  status=LEVEL   none (nothing is told), noxfer (no bytes and times)\n");
