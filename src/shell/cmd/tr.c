/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/tr_int.h"

#include <ctype.h>
#include <errno.h>

#include "base/num.h"
#include "shell/cmd/cmd.h"

static const struct cmd_opt opts[] = {
    {'c', "complement", CMD_NO_ARG},
    {'C', NULL, CMD_NO_ARG},
    {'d', "delete", CMD_NO_ARG},
    {'s', "squeeze-repeats", CMD_NO_ARG},
    {'t', "truncate-set1", CMD_NO_ARG},
    {'A', NULL, CMD_NO_ARG}, /* "all bytes", of old: they always are */
    {0},
};

struct tr {
    struct cmd *c;
    bool complement, delete, squeeze, truncate, translate;
    struct tr_set s1, s2;
    uint8_t map[256];
    bool drop[256], once[256]; /* delete; squeeze */
};

/* The bytes of a set, or all others. */
static void members(const struct tr_set *set, bool complement, bool in[256])
{
    struct tr_walk w = {.set = set};
    uint8_t ch;
    for (int i = 0; i < 256; i++)
        in[i] = complement;
    for (const struct tr_elem *e; (e = tr__get(&w, &ch)); tr__step(&w, e->kind == TR_REPEAT ? tr__left(&w) : 1))
        in[ch] = !complement;
}

static int fail(struct tr *t, const char *text)
{
    cmd_err(t->c, "%s", text);
    return -1;
}

/* ---- checks, in the order of the real tool's ---- */

/* [:upper:] and [:lower:] of string2 must stand where string1 has one; each such pair counts as one byte. */
static int check_case(struct tr *t)
{
    struct tr_walk a = {.set = &t->s1}, b = {.set = &t->s2};
    uint8_t x, y;
    if (t->complement || !t->s2.has_class)
        return 0;
    for (;;) {
        const struct tr_elem *e = tr__get(&a, &x), *f = tr__get(&b, &y);
        if (!f)
            return 0;
        if (f->kind == TR_CLASS && b.at == 0) {
            if (!e || a.at != 0 || !(e->upper || e->lower))
                return fail(t, "misaligned [:upper:] and/or [:lower:] construct");
            t->s1.length -= e->count - 1;
            t->s2.length -= f->count - 1;
            tr__step(&a, e->count);
            tr__step(&b, f->count);
            continue;
        }
        if (!e)
            return 0;
        uint64_t n = e->kind == TR_REPEAT && f->kind == TR_REPEAT ? NUM_MIN(tr__left(&a), tr__left(&b)) : 1;
        tr__step(&a, n);
        tr__step(&b, n);
    }
}

/* Repeats string2's last byte up to the length of string1. */
static int extend(struct tr *t)
{
    const struct tr_elem *last = &t->s2.v[t->s2.n - 1];
    if (last->kind == TR_CLASS)
        return fail(t, "when translating with string1 longer than string2,\nthe latter string must not end with a "
                       "character class");
    tr__add_repeat(t->c, &t->s2, last->kind == TR_RANGE ? last->hi : last->lo, t->s1.length - t->s2.length);
    return 0;
}

/* Whether a set is the same byte all over. */
static bool homogeneous(const struct tr_set *set)
{
    struct tr_walk w = {.set = set};
    uint8_t ch, first = 0;
    bool any = false;
    for (const struct tr_elem *e; (e = tr__get(&w, &ch)); tr__step(&w, e->kind == TR_REPEAT ? tr__left(&w) : 1)) {
        if (any && ch != first)
            return false;
        any = true;
        first = ch;
    }
    return true;
}

/* Gives a [c*] the length that string1 asks for. */
static void size_endless(struct tr *t)
{
    for (size_t i = 0; i < t->s2.n; i++)
        if (t->s2.v[i].endless && t->s1.length > t->s2.length) {
            t->s2.v[i].count = t->s1.length - t->s2.length;
            t->s2.length = t->s1.length;
        }
}

static int check(struct tr *t, bool has_s2)
{
    if (t->complement) {
        bool in[256];
        members(&t->s1, true, in);
        t->s1.length = 0;
        for (int i = 0; i < 256; i++)
            t->s1.length += in[i];
    }
    if (t->s1.n_endless > 0)
        return fail(t, "the [c*] repeat construct may not appear in string1");
    if (!has_s2)
        return 0;
    if (t->s2.n_endless == 1)
        size_endless(t);
    if (t->s2.n_endless > 1)
        return fail(t, "only one [c*] repeat construct may appear in string2");
    if (!t->translate)
        return t->s2.n_endless ? fail(t, "the [c*] construct may appear in string2 only when translating") : 0;
    if (t->s2.has_equiv)
        return fail(t, "[=c=] expressions may not appear in string2 when translating");
    if (t->s2.has_restricted)
        return fail(t,
                    "when translating, the only character classes that may appear in\nstring2 are 'upper' and 'lower'");
    if (check_case(t) < 0)
        return -1;
    if (t->s1.length > t->s2.length && !t->truncate) {
        if (t->s2.length == 0)
            return fail(t, "when not truncating set1, string2 must be non-empty");
        if (extend(t) < 0)
            return -1;
    }
    if (t->complement && t->s1.has_class && !(t->s2.length == t->s1.length && homogeneous(&t->s2)))
        return fail(t, "when translating with complemented character classes,\nstring2 must map all characters in the "
                       "domain to one");
    return 0;
}

/* ---- the tables ---- */

/* Bytes that are not in string1, in order, become string2. */
static void map_complement(struct tr *t)
{
    struct tr_walk b = {.set = &t->s2};
    bool in[256];
    uint8_t y;
    members(&t->s1, false, in);
    for (int i = 0; i < 256; i++) {
        if (in[i])
            continue;
        if (!tr__get(&b, &y))
            return;
        t->map[i] = y;
        tr__step(&b, 1);
    }
}

static void map_case(struct tr *t, const struct tr_elem *e, const struct tr_elem *f)
{
    for (int i = 0; i < 128; i++) {
        if (e->lower && f->upper && islower(i))
            t->map[i] = (uint8_t)toupper(i);
        if (e->upper && f->lower && isupper(i))
            t->map[i] = (uint8_t)tolower(i);
    }
}

static void map_pairs(struct tr *t)
{
    struct tr_walk a = {.set = &t->s1}, b = {.set = &t->s2};
    uint8_t x, y;
    for (;;) {
        const struct tr_elem *e = tr__get(&a, &x), *f = tr__get(&b, &y);
        if (!e || !f)
            return;
        uint64_t n = 1;
        if (f->kind == TR_CLASS) { /* check_case() has seen that both are cases */
            map_case(t, e, f);
            tr__step(&a, e->count);
            tr__step(&b, f->count);
            continue;
        }
        t->map[x] = y;
        if (e->kind == TR_REPEAT && f->kind == TR_REPEAT)
            n = NUM_MIN(tr__left(&a), tr__left(&b));
        tr__step(&a, n);
        tr__step(&b, n);
    }
}

static void tables(struct tr *t, bool has_s2)
{
    for (int i = 0; i < 256; i++)
        t->map[i] = (uint8_t)i;
    if (t->delete)
        members(&t->s1, t->complement, t->drop);
    if (t->translate && t->complement)
        map_complement(t);
    else if (t->translate)
        map_pairs(t);
    if (t->squeeze)
        members(has_s2 ? &t->s2 : &t->s1, t->complement && !has_s2, t->once);
}

/* ---- the stream ---- */

typedef uint8_t tr_vec __attribute__((vector_size(16)));

/* When the map only moves the bytes of one range by one distance ("a-z" to "A-Z"), that range and distance. */
static bool map_is_shift(const struct tr *t, uint8_t *ret_low, uint8_t *ret_count, uint8_t *ret_by)
{
    int low = 0, high = 255;
    while (low < 256 && t->map[low] == low)
        low++;
    if (low == 256)
        return false;
    while (t->map[high] == high)
        high--;
    for (int i = low; i <= high; i++)
        if ((uint8_t)(t->map[i] - i) != (uint8_t)(t->map[low] - low))
            return false;
    *ret_low = (uint8_t)low;
    *ret_count = (uint8_t)(high - low);
    *ret_by = (uint8_t)(t->map[low] - low);
    return true;
}

static void map_bytes(const struct tr *t, uint8_t *p, size_t n)
{
    uint8_t low, count, by, map[256];
    if (n >= sizeof(tr_vec) && map_is_shift(t, &low, &count, &by)) {
        for (; n >= sizeof(tr_vec); n -= sizeof(tr_vec), p += sizeof(tr_vec)) {
            tr_vec v;
            memcpy(&v, p, sizeof v);
            v += (tr_vec)(v - low <= count) & by;
            memcpy(p, &v, sizeof v);
        }
    }
    memcpy(map, t->map, sizeof map); /* a copy that what is written cannot be part of */
    for (size_t i = 0; i < n; i++)
        p[i] = map[p[i]];
}

static size_t delete_bytes(const struct tr *t, uint8_t *p, size_t n)
{
    size_t to = 0;
    bool drop[256];
    memcpy(drop, t->drop, sizeof drop);
    for (size_t i = 0; i < n; i++) {
        uint8_t ch = p[i];
        p[to] = ch;
        to += !drop[ch];
    }
    return to;
}

/* The byte that is squeezed when it is the only one, else -1. */
static int only_byte(const bool once[256])
{
    int only = -1;
    for (int i = 0; i < 256; i++) {
        if (once[i] && only >= 0)
            return -1;
        if (once[i])
            only = i;
    }
    return only;
}

/* How many bytes from p[0] on certainly stay, as they differ from the one before or are not @only (if that is no less
 * than 0): p[-1] is there. */
static size_t without_repeats(const uint8_t *p, size_t n, int only)
{
    typedef uint64_t half __attribute__((vector_size(16)));
    size_t i = 0;
    for (; n - i >= sizeof(tr_vec); i += sizeof(tr_vec)) {
        tr_vec v, before;
        memcpy(&v, p + i, sizeof v);
        memcpy(&before, p + i - 1, sizeof before);
        tr_vec same = (tr_vec)(v == before);
        if (only >= 0)
            same &= (tr_vec)(v == (uint8_t)only);
        if (((half)same)[0] | ((half)same)[1])
            break;
    }
    for (const uint8_t *left = p - 1; i < n && (p[i] != left[i] || (only >= 0 && p[i] != only));)
        i++;
    return i;
}

static size_t squeeze_bytes(const struct tr *t, uint8_t *p, size_t n, int *last)
{
    size_t to = 0, i = 0;
    bool once[256];
    memcpy(once, t->once, sizeof once);
    int before = *last, only = only_byte(once);
    while (i < n) {
        /* Bytes that are no repeats go as they are; then a few one by one. */
        size_t run = i > 0 ? without_repeats(p + i, n - i, only) : 0;
        if (run > 0) {
            if (to != i)
                memmove(p + to, p + i, run);
            to += run;
            i += run;
            before = p[to - 1];
        }
        for (size_t end = NUM_MIN(n, i + 16); i < end; i++) {
            uint8_t ch = p[i];
            if (ch == before && once[ch])
                continue;
            before = p[to++] = ch;
        }
    }
    *last = before;
    return to;
}

/* Changes a block in place; *last is the byte before it (-1: none), for squeezing. Returns what is left of it. */
static size_t change(const struct tr *t, uint8_t *p, size_t n, int *last)
{
    if (t->delete)
        n = delete_bytes(t, p, n);
    if (t->translate)
        map_bytes(t, p, n);
    return t->squeeze ? squeeze_bytes(t, p, n, last) : n;
}

static int run(struct tr *t)
{
    struct cmd *c = t->c;
    char *block = cmd_block_get();
    int last = -1;
    ssize_t n = 0;
    while (cmd_poll(c) == 0 && (n = proc_read(c->p, 0, block, CMD_BLOCK)) > 0) {
        cmd_write(c, block, change(t, (uint8_t *)block, (size_t)n, &last));
        if (cmd_flush(c) < 0)
            break;
    }
    cmd_block_put(block);
    if (n < 0)
        cmd_errno(c, (int)n, "read error");
    return n < 0;
}

/* Whether the number of operands fits: 0, or the status after a message. */
static int check_count(struct tr *t, int n)
{
    struct cmd *c = t->c;
    char **v = c->argv + c->optind;
    int least = 1 + (t->delete == t->squeeze), most = 1 + (!t->delete || t->squeeze);
    if (n < least) {
        if (n == 0)
            return cmd_missing(c);
        cmd_err(c, "missing operand after %s", cmd_quote_loc(c, v[n - 1]));
        cmd_err_raw(c, t->squeeze ? "Two strings must be given when both deleting and squeezing repeats.\n"
                                  : "Two strings must be given when translating.\n");
        cmd_try_help(c);
        return 1;
    }
    if (n > most) {
        cmd_err(c, "extra operand %s", cmd_quote_loc(c, v[most]));
        if (n == 2)
            cmd_err_raw(c, "Only one string may be given when deleting without squeezing repeats.\n");
        cmd_try_help(c);
        return 1;
    }
    return 0;
}

static int tr_main(struct cmd *c)
{
    struct tr t = {.c = c};
    for (int o; (o = cmd_getopt(c, opts, true)) != -1;) {
        if (o == -2)
            return cmd_usage_status(c);
        t.complement |= o == 'c' || o == 'C';
        t.delete |= o == 'd';
        t.squeeze |= o == 's';
        t.truncate |= o == 't';
    }
    int n = c->argc - c->optind, r = check_count(&t, n);
    if (r != 0)
        return r;
    bool has_s2 = n == 2;
    t.translate = has_s2 && !t.delete;
    if (tr__parse(c, c->argv[c->optind], &t.s1) < 0 || (has_s2 && tr__parse(c, c->argv[c->optind + 1], &t.s2) < 0) ||
        check(&t, has_s2) < 0)
        return 1;
    tables(&t, has_s2);
    return run(&t);
}

CMD(tr, tr_main, 1, "Usage: tr [OPTION]... STRING1 [STRING2]\n",
    "  -c, -C, --complement   use the complement of STRING1\n"
    "  -d, --delete           delete the bytes of STRING1\n"
    "  -s, --squeeze-repeats  one byte for several equal ones in a row that are in the last STRING\n"
    "  -t, --truncate-set1    cut STRING1 to the length of STRING2\n"
    "A STRING is bytes, \\NNN, \\\\ \\a \\b \\f \\n \\r \\t \\v, A-B, [C*], [C*N], [:CLASS:] and [=C=].\n");
