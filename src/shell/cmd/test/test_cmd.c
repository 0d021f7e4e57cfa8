/* SPDX-License-Identifier: Apache-2.0 */
#include <locale.h>
#include <wchar.h>
#include <wctype.h>

#include "base/test/test.h"
#include "engine/engine.h"
#include "shell/cmd/cmd.h"
#include "shell/cmd/mode.h"
#include "shell/cmd/msort.h"
#include "shell/cmd/num.h"
#include "shell/cmd/quote.h"
#include "shell/cmd/test/cmd_world.h"
#include "shell/cmd/version.h"
#include "shell/cmd/wide.h"

/*
 * What the side-by-side cases of tests/cmd_compare cannot show: the parts that commands stand on, depth, limits, and
 * ends by force. Output of whole commands is compared there.
 */

/* Runs a command line whose words are apart by single blanks. */
static struct outcome run_in(struct cmd_world *w, const char *line, struct str in)
{
    char text[4096], *argv[64];
    int argc = 0;
    snprintf(text, sizeof text, "%s", line);
    for (char *p = text; p && argc < 63;) {
        argv[argc++] = p;
        p = strchr(p, ' ');
        if (p)
            *p++ = 0;
    }
    argv[argc] = NULL;
    return cmd_world_run(w, argc, argv, in);
}

static int run(struct cmd_world *w, const char *line)
{
    return outcome_status(run_in(w, line, STR("")));
}

/* ---- parts ---- */

TEST(wide_is_libc)
{
    if (!setlocale(LC_ALL, "C.UTF-8"))
        test_skip("no C.UTF-8 on this machine");
    unsigned wrong = 0;
    for (uint32_t ch = 1; ch <= 0x10ffff; ch++) {
        int want = iswprint(ch) ? wcwidth((wchar_t)ch) : -1;
        wrong += wide_width(ch) != want;
        wrong += wide_space(ch) != (iswspace(ch) != 0);
    }
    CHECK_INT(wrong, 0);
}

TEST(wide_decodes_as_libc)
{
    if (!setlocale(LC_ALL, "C.UTF-8"))
        test_skip("no C.UTF-8 on this machine");
    uint64_t seed = test_seed();
    for (int i = 0; i < 200000; i++) {
        char b[4];
        size_t n = 1 + test_rand(&seed) % 4;
        for (size_t k = 0; k < n; k++)
            b[k] = (char)(test_rand(&seed) % 3 ? 0x80 | test_rand(&seed) : test_rand(&seed));
        if (b[0] == 0)
            continue;
        mbstate_t st = {0};
        wchar_t want = 0;
        size_t r = mbrtowc(&want, b, n, &st);
        uint32_t got = 0;
        size_t len = wide_decode(b, n, &got);
        bool ok = r == (size_t)-1   ? len == 0 && !wide_partial(b, n)
                  : r == (size_t)-2 ? len == 0 && wide_partial(b, n)
                                    : len == r && got == (uint32_t)want;
        if (!CHECK(ok))
            break;
    }
}

TEST(mode_language)
{
    static const struct {
        const char *text;
        uint32_t old;
        bool dir;
        int want; /* -1: an error */
    } cases[] = {
        {"755", 0644, false, 0755},   {"u+x", 0644, false, 0744},
        {"+x", 0644, false, 0755},    {"=", 0777, false, 0},
        {"a=rX", 0600, false, 0444},  {"a=rX", 0700, false, 0555},
        {"g=u", 0640, false, 0660},   {"u+s,g+s", 0755, false, 06755},
        {"0755", 02777, true, 02755}, {"00755", 02777, true, 0755},
        {"+7", 0600, false, 0607},    {"o-r,o-w", 0666, false, 0660},
        {"8", 0, false, -1},          {"u+y", 0, false, -1},
        {"77777", 0, false, -1},      {"", 0, false, -1},
        {"u", 0, false, -1},          {"u+7", 0, false, -1},
        {"u+x,", 0, false, -1},       {"ug+rw-x", 0711, false, 0661},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t got = 0;
        int r = mode_apply(cases[i].text, cases[i].old, cases[i].dir, 022, &got, NULL);
        CHECK_INT(r < 0 ? -1 : (int)got, cases[i].want);
    }
}

TEST(numbers)
{
    uint64_t v = 0;
    int64_t s = 0;
    CHECK_INT(num_u64("12", "", &v), NUM_OK);
    CHECK_INT(v, 12);
    CHECK_INT(num_u64("2K", "K", &v), NUM_OK);
    CHECK_INT(v, 2048);
    CHECK_INT(num_u64("2kB", "k0", &v), NUM_OK);
    CHECK_INT(v, 2000);
    CHECK_INT(num_u64("2MiB", "M0", &v), NUM_OK);
    CHECK_INT(v, 2 << 20);
    CHECK_INT(num_u64("K", "K", &v), NUM_OK);
    CHECK_INT(v, 1024);
    CHECK_INT(num_u64("", "K", &v), NUM_BAD);
    CHECK_INT(num_u64("-1", "", &v), NUM_BAD);
    CHECK_INT(num_u64("1x", "K", &v), NUM_SUFFIX);
    CHECK_INT(num_u64("18446744073709551615", "", &v), NUM_OK);
    CHECK_INT(num_u64("18446744073709551616", "", &v), NUM_OVERFLOW);
    CHECK(v == UINT64_MAX);
    CHECK_INT(num_u64("99999999999999999999999999999K", "K", &v), NUM_OVERFLOW);
    CHECK_INT(num_i64("-9223372036854775808", "", &s), NUM_OK);
    CHECK(s == INT64_MIN);
    CHECK_INT(num_i64("-9223372036854775809", "", &s), NUM_OVERFLOW);
}

TEST(sizes_for_people)
{
    static const struct {
        uint64_t n;
        const char *want; /* as ls -h of coreutils 9.1 */
    } cases[] = {
        {0, "0"},
        {1, "1"},
        {1023, "1023"},
        {1024, "1.0K"},
        {1025, "1.1K"},
        {9984, "9.8K"},
        {10189, "10K"},
        {10240, "10K"},
        {10241, "11K"},
        {1023 * 1024, "1023K"},
        {1023 * 1024 + 1, "1.0M"},
        {1048576, "1.0M"},
        {UINT64_C(1) << 40, "1.0T"},
        {UINT64_MAX, "16E"},
    };
    struct num_human h = {.block = 1, .scale = true, .suffix = true, .base1024 = true};
    char text[NUM_TEXT];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_C(num_human_text(cases[i].n, 1, &h, text), cases[i].want);
}

TEST(quoting)
{
    static const struct {
        const char *in, *shell, *c;
    } cases[] = {
        {"a", "a", "\"a\""},
        {"", "''", "\"\""},
        {"a b", "'a b'", "\"a b\""},
        {"it's", "\"it's\"", "\"it's\""},
        {"a'b\"c", "'a'\\''b\"c'", "\"a'b\\\"c\""},
        {"a\nb", "'a'$'\\n''b'", "\"a\\nb\""},
        {"\xc3\xa9", "\xc3\xa9", "\"\xc3\xa9\""},
        {"\x80", "''$'\\200'", "\"\\200\""},
        {"~a", "'~a'", "\"~a\""},
        {"a~", "a~", "\"a~\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct quote_opts o = {.style = QUOTE_SHELL_ESCAPE, .utf8 = true};
        struct buf b;
        buf_init(&b, 1 << 20);
        quote_add(&b, str_c(cases[i].in), &o);
        CHECK_STR(buf_str(&b), str_c(cases[i].shell));
        buf_clear(&b);
        o.style = QUOTE_C;
        quote_add(&b, str_c(cases[i].in), &o);
        CHECK_STR(buf_str(&b), str_c(cases[i].c));
        buf_done(&b);
    }
}

TEST(versions)
{
    /* In the order of the manual's examples: each before the next. */
    static const char *const names[] = {"",   ".",  "..",  ".a",    "a~",     "a",
                                        "a1", "a2", "a10", "b-1.9", "b-1.10", "b-1.10.tar.gz"};
    size_t n = sizeof names / sizeof *names;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            int d = version_cmp(str_c(names[i]), str_c(names[k]));
            if (!CHECK((d > 0) - (d < 0) == (i > k) - (i < k)))
                fprintf(stderr, "# %s %s\n", names[i], names[k]);
        }
}

static int by_byte(const void *a, const void *b, void *arg)
{
    (void)arg;
    return *(const uint8_t *)a - *(const uint8_t *)b;
}

TEST(msort_is_stable)
{
    uint64_t seed = test_seed();
    static uint8_t keys[3000];
    static void *v[3000], *tmp[3000];
    for (int round = 0; round < 200; round++) {
        size_t n = test_rand(&seed) % 3000;
        for (size_t i = 0; i < n; i++) {
            keys[i] = (uint8_t)(test_rand(&seed) % 50);
            v[i] = &keys[i];
        }
        msort(v, n, by_byte, NULL, tmp);
        for (size_t i = 1; i < n; i++) {
            const uint8_t *a = v[i - 1], *b = v[i];
            if (!CHECK(*a < *b || (*a == *b && a < b)))
                return;
        }
    }
}

/* ---- commands ---- */

TEST(every_command_has_help)
{
    struct cmd_world w;
    size_t n;
    const struct cmd_def *const *defs = cmd_all(&n);
    cmd_world_init(&w);
    CHECK(n > 30);
    for (size_t i = 0; i < n; i++) {
        if (strcmp(defs[i]->name, "echo") == 0 || strcmp(defs[i]->name, "test") == 0 ||
            strcmp(defs[i]->name, "bash") == 0 || strcmp(defs[i]->name, "sh") == 0 ||
            strcmp(defs[i]->name, "which") == 0 || strcmp(defs[i]->name, "[") == 0)
            continue;
        char line[64];
        snprintf(line, sizeof line, "%s --help", defs[i]->name);
        int st = run(&w, line);
        if (!CHECK(st == 0 || strcmp(defs[i]->name, "false") == 0) || !CHECK(w.out.n > 0) || !CHECK_INT(w.err.n, 0))
            fprintf(stderr, "# %s\n", line);
    }
    cmd_world_done(&w);
}

/* A chain of @depth directories "d/d/d…" below the home, made step by step; its inode is that of the last. */
static void make_chain(struct cmd_world *w, unsigned depth)
{
    struct vfs_cred cred = {.uid = 1000, .gid = 1000};
    struct vfs_ctx ctx = {.cred = &cred, .umask = 022};
    uint64_t at = 0;
    vfs_lookup(w->v, &ctx, 0, STR("/home/user"), 0, &at);
    for (unsigned i = 0; i < depth; i++) {
        CHECK_INT(vfs_mkdir(w->v, &ctx, at, STR("d"), 0777), 0);
        CHECK_INT(vfs_lookup(w->v, &ctx, at, STR("d"), 0, &at), 0);
    }
    struct vfs_handle *h;
    CHECK_INT(vfs_open(w->v, &ctx, at, STR("leaf"), O_CREAT | O_WRONLY, 0666, &h), 0);
    vfs_pwrite(h, "x", 1, 0, NULL);
    vfs_close(h);
}

TEST(deep_trees)
{
    /* Deeper than any path can name, at the tree's own limit. */
    struct cmd_world w;
    cmd_world_init(&w);
    make_chain(&w, LIMIT_DEPTH - 10);
    CHECK_INT(run(&w, "chmod -R u+x d"), 0);
    CHECK_INT(run(&w, "chown -R 1000 d"), 0);
    CHECK_INT(run(&w, "cp -r d copy"), 0);
    CHECK_INT(run(&w, "cp -a copy copy2"), 0);
    CHECK_INT(run(&w, "rm -r d"), 0);
    CHECK_INT(run(&w, "mv copy /tmp/moved"), 0);
    CHECK_INT(run(&w, "rm -rf /tmp/moved copy2"), 0);
    CHECK_INT(run(&w, "ls -A"), 0);
    CHECK_STR(buf_str(&w.out), STR(""));
    const char *what = "";
    CHECK_INT(vfs_check(w.v, &what), 0);
    cmd_world_done(&w);
}

TEST(long_lines)
{
    struct cmd_world w;
    struct buf in;
    cmd_world_init(&w);
    buf_init(&in, 1u << 28);
    for (int i = 0; i < 300000; i++)
        buf_addc(&in, "abcdefghi:");
    buf_addc(&in, "\nend");
    CHECK_INT(outcome_status(run_in(&w, "cut -d: -f300000", buf_str(&in))), 0);
    CHECK_STR(buf_str(&w.out), STR("abcdefghi\nend\n"));
    CHECK_INT(outcome_status(run_in(&w, "uniq", buf_str(&in))), 0);
    CHECK_INT(w.out.n, in.n + 1);
    CHECK_INT(outcome_status(run_in(&w, "tail -n1", buf_str(&in))), 0);
    CHECK_STR(buf_str(&w.out), STR("end"));
    CHECK_INT(outcome_status(run_in(&w, "head -n1", buf_str(&in))), 0);
    CHECK_INT(w.out.n, 3000001);
    buf_done(&in);
    cmd_world_done(&w);
}

TEST(memory_limit)
{
    /* A line without end meets the account's limit: a message or an end by force, never more. */
    struct cmd_world w;
    struct buf in;
    cmd_world_init(&w);
    struct limits *l = proc_set_limits(w.ps);
    l->memory = 8 << 20;
    proc_set_mem(w.ps)->limit = l->memory;
    buf_init(&in, 1u << 28);
    for (int i = 0; i < 600000; i++)
        buf_addc(&in, "0123456789abcdefghij");
    struct vfs_cred cred = {.uid = 1000, .gid = 1000};
    struct vfs_ctx ctx = {.cred = &cred, .umask = 022};
    struct vfs_handle *h;
    CHECK_INT(vfs_open(w.v, &ctx, 0, STR("/tmp/big"), O_CREAT | O_WRONLY, 0666, &h), 0);
    CHECK_INT(vfs_pwrite(h, in.p, in.n, 0, NULL), in.n);
    vfs_close(h);
    buf_done(&in);
    CHECK(run(&w, "cut -d: -f1 /tmp/big") != 0);
    CHECK(run(&w, "uniq /tmp/big") != 0);
    CHECK(run(&w, "head -n -1 /tmp/big") != 0);
    CHECK(run(&w, "tail -n 5 /tmp/big") == 0); /* from the end of a file: nothing is kept */
    cmd_world_done(&w);
}

TEST(yes_ends_with_its_reader)
{
    struct cmd_world w;
    cmd_world_init(&w);
    CHECK_INT(run(&w, "xargs -a /dev/null -r true"), 0);
    w.closed = true;
    struct outcome o = run_in(&w, "yes", STR(""));
    CHECK_INT(o.kind, OUTCOME_KILLED);
    CHECK_INT(o.signal, SIGPIPE);
    cmd_world_done(&w);
}

TEST(blocks_are_given_back)
{
    struct cmd_world w;
    cmd_world_init(&w);
    for (int i = 0; i < 3000; i++)
        CHECK_INT(run(&w, i % 2 ? "basename a/b.c .c" : "cat /etc/passwd"), 0);
    CHECK(proc_set_mem(w.ps)->used < 4u << 20);
    cmd_world_done(&w);
}

/* ---- handing over ---- */

/* A userland of one tool, sort, that prints its arguments. */
static int tool_claims(void *engine, const struct exec_image *img)
{
    (void)engine;
    return str_eq(img->head, STR(PROC_TOOL_MAGIC "sort\n"));
}

static int tool_run(void *engine, struct proc *p, const struct exec_image *img, struct outcome *ret)
{
    (void)engine;
    for (int i = 0; i < img->argc; i++) {
        proc_write(p, 1, img->argv[i], strlen(img->argv[i]));
        proc_write(p, 1, " ", 1);
    }
    *ret = (struct outcome){.kind = OUTCOME_EXITED, .code = 7};
    return 0;
}

static const struct engine_ops tool_ops = {.name = "wasm", .tier = "isolate", .claims = tool_claims, .run = tool_run};

TEST(what_is_refused_goes_to_the_tool)
{
    struct cmd_world w;
    cmd_world_init(&w);
    CHECK_INT(run(&w, "sort a --debug -r b"), 2);
    CHECK_STR(buf_str(&w.err), STR("sort: option '--debug' is not implemented here\n"));
    CHECK_INT(proc_add_engine(w.ps, &tool_ops, NULL), 0);
    CHECK(proc_has_tool(w.ps, STR("sort")) && !proc_has_tool(w.ps, STR("cut")));
    CHECK_INT(run(&w, "sort a --debug -r b"), 7);
    CHECK_STR(buf_str(&w.out), STR("sort a --debug -r b "));
    CHECK_STR(buf_str(&w.err), STR(""));
    CHECK_INT(run(&w, "sort --version"), 7);
    CHECK_INT(run(&w, "sort -r -- --debug"), 2); /* no such file: the C command's own */
    CHECK_STR(buf_str(&w.out), STR(""));
    CHECK_INT(run(&w, "cp -b a b"), 2); /* there is no such tool */
    CHECK_INT(run(&w, "cut --help"), 0);
    cmd_world_done(&w);
}
