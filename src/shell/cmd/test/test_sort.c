/* SPDX-License-Identifier: Apache-2.0 */
#include "base/test/test.h"
#include "shell/cmd/cmd.h"
#include "shell/cmd/sort_int.h"
#include "shell/cmd/test/cmd_world.h"

/*
 * What tests/cmd_compare cannot show of sort: that words order as comparison does, and that little memory changes
 * nothing.
 */

static uint64_t seed = 88172645463325252;

static uint32_t rnd(uint32_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed >> 33) % n;
}

/* ---- words ---- */

/* A number of some form; most are close to another one. */
static struct str number(char *p, size_t n)
{
    static const char *const units[] = {"", "", "K", "M", "G", "x", "k"};
    unsigned a = rnd(12), b = rnd(4);
    const char *minus = rnd(2) ? "-" : "", *unit = units[rnd(7)];
    int len;
    switch (rnd(6)) {
    case 0:
        len = snprintf(p, n, "%s%u%s", minus, a, unit);
        break;
    case 1:
        len = snprintf(p, n, "%s%u.%u%s", minus, a, b, unit);
        break;
    case 2:
        len = snprintf(p, n, "%s.%05u", minus, a);
        break;
    case 3:
        len = snprintf(p, n, "%s%u1234567890123%u%s", minus, a, b, unit);
        break;
    case 4:
        len = snprintf(p, n, "%s%u000000000000000.%u", minus, a, b);
        break;
    default:
        len = snprintf(p, n, "%s%u.00000000000000%u", minus, a, b);
        break;
    }
    return str_of(p, (size_t)len);
}

static int sign(int v)
{
    return (v > 0) - (v < 0);
}

/* Of two numbers: words that differ order as they do; equal words that tell all mean equal numbers. */
static bool agrees(const struct sort_key *k, uint64_t a, uint64_t b, int want)
{
    if (a != b)
        return want == (a < b ? -1 : 1);
    return !sort__word_tells(k, a) || want == 0;
}

TEST(words_order_as_comparison)
{
    char x[64], y[64];
    const struct sort_key n = {.numeric = true}, h = {.human = true}, g = {.general = true};
    unsigned wrong = 0;
    for (int i = 0; i < 200000; i++) {
        struct str a = number(x, sizeof x), b = number(y, sizeof y);
        wrong += !agrees(&n, sort__number_word(a), sort__number_word(b), sign(sort__compare_number(a, b)));
        int by_unit = sign(sort__compare_human(a, b, false));
        wrong += !agrees(&h, sort__human_word(a, false), sort__human_word(b, false), by_unit);
        wrong += !agrees(&g, sort__general_word(a), sort__general_word(b), sign(sort__compare_general(a, b)));
    }
    CHECK_INT(wrong, 0);
}

/* ---- little memory ---- */

#define LINES 200000u

/* A file of many lines, some of them equal; the sum of its bytes. */
static uint64_t make_file(struct cmd_world *w, const char *path)
{
    static const struct vfs_cred root = {0};
    struct vfs_ctx ctx = {.cred = &root, .cwd = VFS_ROOT_INO, .umask = 022};
    struct vfs_handle *h;
    struct buf b;
    uint64_t sum = 0;
    buf_init(&b, 64u << 20);
    for (unsigned i = 0; i < LINES; i++)
        buf_addf(&b, "%u common text %u\n", rnd(1000), rnd(LINES));
    for (size_t i = 0; i < b.n; i++)
        sum += (unsigned char)b.p[i];
    CHECK_INT(vfs_open(w->v, &ctx, 0, str_c(path), O_WRONLY | O_CREAT, 0644, &h), 0);
    CHECK_INT(vfs_pwrite(h, b.p, b.n, 0, NULL), (long long)b.n);
    vfs_close(h);
    buf_done(&b);
    return sum;
}

/* Whether w->out holds LINES lines in order whose bytes have the sum @sum. */
static bool is_sorted(const struct cmd_world *w, uint64_t sum)
{
    struct str last = STR("");
    unsigned n = 0;
    for (size_t at = 0; at < w->out.n; n++) {
        const char *e = memchr(w->out.p + at, '\n', w->out.n - at);
        struct str line = str_of(w->out.p + at, (size_t)(e - w->out.p) - at);
        if (str_cmp(last, line) > 0)
            return false;
        last = line;
        at += line.n + 1;
    }
    for (size_t i = 0; i < w->out.n; i++)
        sum -= (unsigned char)w->out.p[i];
    return n == LINES && sum == 0;
}

TEST(little_memory_makes_runs)
{
    struct cmd_world w;
    char *argv[] = {(char *)(uintptr_t) "sort", (char *)(uintptr_t) "/f", NULL};
    cmd_world_init(&w);
    uint64_t sum = make_file(&w, "/f");
    proc_set_limits(w.ps)->memory = 6u << 20;
    struct outcome o = cmd_world_run(&w, 2, argv, STR(""));
    CHECK_INT(outcome_status(o), 0);
    CHECK_C(w.err.p, "");
    CHECK(is_sorted(&w, sum));
    cmd_world_done(&w);
}

TEST(runs_keep_equal_lines_in_order)
{
    struct cmd_world w;
    char *argv[] = {(char *)(uintptr_t) "sort", (char *)(uintptr_t) "-s", (char *)(uintptr_t) "-k1,1n",
                    (char *)(uintptr_t) "/f", NULL};
    cmd_world_init(&w);
    make_file(&w, "/f");
    struct outcome o = cmd_world_run(&w, 4, argv, STR(""));
    CHECK_INT(outcome_status(o), 0);
    struct buf want = w.out;
    buf_init(&w.out, 1u << 30);
    proc_set_limits(w.ps)->memory = 6u << 20;
    o = cmd_world_run(&w, 4, argv, STR(""));
    CHECK_INT(outcome_status(o), 0);
    CHECK(str_eq(buf_str(&want), buf_str(&w.out)));
    buf_done(&want);
    cmd_world_done(&w);
}
