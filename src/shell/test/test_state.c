/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A shell goes on from the state of another as if it were the same: script A, then B in a shell from A's state, print
 * what A and B print in one shell - ours, and the machine's bash when it is the one we follow.
 */

#include <errno.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/test/test.h"
#include "types/limits.h"
#include "shell/shell.h"
#include "shell/test/kept_world.h"

struct texts {
    struct buf out, first, second;
};

static void texts_init(struct texts *t)
{
    buf_init(&t->out, 1 << 20);
    buf_init(&t->first, LIMIT_SHELL_STATE);
    buf_init(&t->second, LIMIT_SHELL_STATE);
}

static void texts_done(struct texts *t)
{
    buf_done(&t->out);
    buf_done(&t->first);
    buf_done(&t->second);
}

static struct outcome run(struct kept_world *w, const char *text, struct str state, struct buf *out, struct buf *saved)
{
    int r;
    struct outcome o = kept_world_run(w, &(struct kept_run){.text = text, .state = state}, out, saved, &r);
    CHECK_INT(r, 0);
    return o;
}

/* A state that a shell starts with and does nothing to is its state again. */
static void check_stays(struct kept_world *w, struct texts *t, const char *name)
{
    CHECK_INT(shell_state_check(buf_str(&t->first)), 0);
    size_t before = t->out.n;
    int r;
    (void)kept_world_run(w, &(struct kept_run){.idle = true, .state = buf_str(&t->first)}, &t->out, &t->second, &r);
    if (!CHECK_INT(r, 0) || !CHECK_STR(buf_str(&t->second), buf_str(&t->first)) || !CHECK_INT(t->out.n, before))
        printf("# in %s\n", name);
}

static void read_file(const char *dir, const char *name, struct buf *out)
{
    char path[4096], block[4096];
    size_t n;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "re");
    if (!CHECK(f != NULL))
        return;
    while ((n = fread(block, 1, sizeof block, f)) > 0)
        buf_add(out, block, n);
    fclose(f);
}

/* Takes what stands before the first line that begins with @mark off @text, and that line, which is *ret_line. */
static struct str cut(struct str *text, struct str mark, struct str *ret_line)
{
    size_t i = 0, end;
    ptrdiff_t nl;
    while (i < text->n && !str_starts(str_from(*text, i), mark)) {
        nl = str_find(*text, '\n', i);
        i = nl < 0 ? text->n : (size_t)nl + 1;
    }
    nl = str_find(*text, '\n', i);
    end = nl < 0 ? text->n : (size_t)nl + 1;
    struct str before = str_of(text->p, i);
    *ret_line = str_of(text->p + i, end - i);
    *text = str_from(*text, end);
    return before;
}

static char *joined(struct str a, struct str b, struct str c)
{
    BUF_AUTO struct buf t;
    buf_init(&t, 1 << 20);
    buf_adds(&t, a);
    buf_adds(&t, b);
    buf_adds(&t, c);
    return buf_take(&t);
}

/* The second script is not where it would be: numbers of lines in messages do not count. */
static void drop_lines(struct str s, struct buf *out)
{
    struct str word = STR(": line ");
    buf_init(out, 1 << 20);
    for (size_t i = 0; i < s.n; i++) {
        buf_putc(out, s.p[i]);
        if (!str_starts(str_from(s, i), word))
            continue;
        for (i += word.n; i < s.n && s.p[i] >= '0' && s.p[i] <= '9'; i++)
            ;
    }
}

/* Says where two outputs part. */
static void check_same(const char *who, struct str got_text, struct str want_text)
{
    BUF_AUTO struct buf got_buf, want_buf;
    drop_lines(got_text, &got_buf);
    drop_lines(want_text, &want_buf);
    struct str got = buf_str(&got_buf), want = buf_str(&want_buf);
    size_t i = 0, line = 0;
    for (; i < got.n && i < want.n && got.p[i] == want.p[i]; i++)
        line = got.p[i] == '\n' ? i + 1 : line;
    if (!CHECK(str_eq(got, want)))
        printf("#   %s\n#   got:  %.*s\n#   want: %.*s\n", who, (int)strcspn(got.p + line, "\n"), got.p + line,
               (int)strcspn(want.p + line, "\n"), want.p + line);
}

/* @want: what bash printed; empty: the case is not for bash. */
static void check_case(struct str first, struct str second, struct str tail, struct str want)
{
    struct kept_world *w = kept_world_new();
    struct texts t;
    BUF_AUTO struct buf whole;
    int r;
    texts_init(&t);
    buf_init(&whole, 1 << 20);
    MEM_AUTO char *a = joined(first, STR(""), STR("")), *b = joined(second, tail, STR("")),
                  *all = joined(first, second, tail);
    (void)kept_world_run(w, &(struct kept_run){.text = all, .plain = true}, &whole, &t.second, &r);
    kept_world_free(w);
    w = kept_world_new();
    run(w, a, (struct str){0}, &t.out, &t.first);
    check_stays(w, &t, a);
    struct outcome o = run(w, b, buf_str(&t.first), &t.out, &t.second);
    CHECK_INT(o.kind, OUTCOME_EXITED);
    check_same(a, buf_str(&t.out), buf_str(&whole));
    if (want.n)
        check_same("bash", buf_str(&t.out), want);
    kept_world_free(w);
    texts_done(&t);
}

TEST_LIMIT(goes_on_as_one_shell, 300)
{
    BUF_AUTO struct buf cases, wanted, tail;
    buf_init(&cases, 1 << 20);
    buf_init(&wanted, 1 << 20);
    buf_init(&tail, 1 << 20);
    read_file(TEST_CASES, "state.sh", &cases);
    read_file(TEST_CASES, "state.out", &wanted);
    read_file(TEST_CASES, "state.tail", &tail);
    struct str rest = buf_str(&cases), out = buf_str(&wanted);
    struct str mark = STR("#-- "), name, want_name, next, line;
    (void)cut(&rest, mark, &name); /* nothing */
    (void)cut(&out, mark, &want_name);
    while (name.n) {
        struct str text = cut(&rest, mark, &next), first = cut(&text, STR("#==\n"), &line);
        CHECK_STR(want_name, name);
        struct str want = cut(&out, mark, &want_name);
        check_case(first, text, buf_str(&tail), str_starts(name, STR("#-- ours")) ? STR("") : want);
        name = next;
    }
}

/* Whatever the scripts beside bash do to a shell. */
TEST_LIMIT(scripts_of_all_kinds, 300)
{
    static const char *const files[] = {"basics.sh", "exec.sh", "redir.sh", "traps.sh"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        BUF_AUTO struct buf cases;
        buf_init(&cases, 1 << 20);
        read_file(TEST_SCRIPTS, files[i], &cases);
        struct str rest = buf_str(&cases), mark = STR("### "), name, next;
        (void)cut(&rest, mark, &name);
        for (; name.n; name = next) {
            struct str text = cut(&rest, mark, &next);
            struct kept_world *w = kept_world_new();
            struct texts t;
            int r;
            texts_init(&t);
            MEM_AUTO char *script = joined(text, STR(""), STR(""));
            (void)kept_world_run(w, &(struct kept_run){.text = script}, &t.out, &t.first, &r);
            if (r == 0)
                check_stays(w, &t, script);
            kept_world_free(w);
            texts_done(&t);
        }
    }
}

TEST(fresh_shells_have_no_state)
{
    static const char *const texts[] = {
        "",
        ":",
        "true; x=1; unset x",
        "cd /tmp; cd /; unset OLDPWD; export OLDPWD",
        "(x=1; cd /tmp; false) || true",
        "f() { :; }; unset -f f",
        "alias a=b; unalias a",
        "set -e; set +e",
        "trap x EXIT INT; trap - EXIT INT",
        "echo $RANDOM $SECONDS $BASHPID >/dev/null",
        "ls / >/dev/null",
        "a=(1 2); unset a",
        "set -- a b; set --",
        "pushd /tmp >/dev/null; popd >/dev/null; unset OLDPWD; export OLDPWD",
        "umask 077; umask 22",
        "shopt -s extglob; shopt -u extglob",
        "true & wait",
    };
    struct kept_world *w = kept_world_new();
    struct texts t;
    texts_init(&t);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        run(w, texts[i], (struct str){0}, &t.out, &t.first);
        if (!CHECK_INT(t.first.n, 0))
            printf("# in %s\n", texts[i]);
    }
    texts_done(&t);
    kept_world_free(w);
}

TEST(equal_states_have_equal_bytes)
{
    static const char *const pairs[][2] = {
        {"x=1; y=2; f() { echo; }", "y=2; f() { echo 1; }\n\n\nx=0; f() {\necho; }; x=1"},
        {"declare -A m=([b]=1 [a]=2)", "declare -A m; m[a]=0 m[b]=1 m[a]=2"},
        {"alias b=1 a=2", "alias a=1; alias b=1; alias a=2"},
        {"a=(1 2 3)", "a[2]=3; a[0]=1; a[1]=2"},
        {"trap x INT; trap y EXIT", "trap y EXIT; trap z INT; trap x INT"},
    };
    struct kept_world *w = kept_world_new();
    struct texts t;
    texts_init(&t);
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        run(w, pairs[i][0], (struct str){0}, &t.out, &t.first);
        run(w, pairs[i][1], (struct str){0}, &t.out, &t.second);
        CHECK_STR(buf_str(&t.second), buf_str(&t.first));
    }
    texts_done(&t);
    kept_world_free(w);
}

/* What a big associative array lists is what it listed, also when it lost most of what made its table grow. */
TEST(order_of_associative_arrays)
{
    static const char *const texts[] = {
        "declare -A m; for ((i=0; i<300; i++)); do m[k$i]=$i; done",
        "declare -A m; for ((i=0; i<5000; i++)); do m[$i]=; done; for ((i=60; i<5000; i++)); do unset m[$i]; done",
        "declare -A m; for ((i=0; i<5000; i++)); do m[$i]=; done",
    };
    struct kept_world *w = kept_world_new();
    struct texts t;
    texts_init(&t);
    for (size_t i = 0; i < 3; i++) {
        run(w, texts[i], (struct str){0}, &t.out, &t.first);
        check_stays(w, &t, texts[i]);
    }
    texts_done(&t);
    kept_world_free(w);
}

struct step {
    const char *text, *want;
    int status;
};

/* Runs texts one after the other in one shell that goes on. */
static void walk(const struct step *v, size_t n)
{
    struct kept_world *w = kept_world_new();
    struct texts t;
    texts_init(&t);
    for (size_t i = 0; i < n; i++) {
        buf_clear(&t.out);
        struct outcome o = run(w, v[i].text, buf_str(&t.first), &t.out, &t.second);
        if (!CHECK_STR(buf_str(&t.out), str_c(v[i].want)) || !CHECK_INT(outcome_status(o), v[i].status))
            printf("# in %s\n", v[i].text);
        struct buf swap = t.first;
        t.first = t.second;
        t.second = swap;
    }
    texts_done(&t);
    kept_world_free(w);
}
#define WALK(...)                                                                                                      \
    do {                                                                                                               \
        static const struct step steps[] = {__VA_ARGS__};                                                              \
        walk(steps, sizeof steps / sizeof steps[0]);                                                                   \
    } while (0)

TEST(exit_leaves_the_state)
{
    WALK({"x=1; cd /tmp; exit 3; x=2", "", 3}, {"echo $x $PWD $?", "1 /tmp 3\n", 0});
    WALK({"f() { local x=l; exit 4; }; x=g; f", "", 4}, {"echo $x", "g\n", 0});
}

TEST(exit_trap)
{
    WALK({"trap 'echo bye' EXIT; x=1", "", 0}, {"trap -p; exit 2", "trap -- 'echo bye' EXIT\nbye\n", 2},
         {"trap -p; echo $x", "1\n", 0});
    WALK({"trap 'echo bye; y=$x' EXIT; x=1; set -e", "", 0}, {"false; echo no", "bye\n", 1},
         {"trap -p; echo $y $-", "1 ehBc\n", 0});
    WALK({"trap 'echo bye' EXIT; (exit 3)", "", 3}, {"echo $?", "3\n", 0});
}

TEST(errexit_stays_set)
{
    WALK({"set -e; x=1; false; x=2", "", 1}, {"echo $x; false; echo no", "1\n", 1},
         {"set +e; false; echo $x", "1\n", 0});
    WALK({"set -u; echo $nosuch", "bash: line 1: nosuch: unbound variable\n", 127},
         {"echo ${a-b} $?; set +u; echo $nosuch", "b 127\n\n", 0});
}

TEST(noexec_is_for_one_text)
{
    WALK({"x=1; set -n; x=2", "", 0}, {"echo $x", "1\n", 0});
}

TEST(exec_replaces_the_shell)
{
    WALK({"x=1; exec echo gone; x=2", "gone\n", 0}, {"echo $x", "1\n", 0});
    WALK({"x=1; exec nosuch; x=2", "bash: line 1: exec: nosuch: not found\n", 127}, {"echo $x $?", "1 127\n", 0});
}

TEST(a_signal_leaves_no_state)
{
    struct kept_world *w = kept_world_new();
    struct texts t;
    int r;
    texts_init(&t);
    struct outcome o = kept_world_run(w, &(struct kept_run){.text = "x=1; kill -TERM $$; x=2"}, &t.out, &t.first, &r);
    CHECK_INT(outcome_status(o), 143);
    CHECK_INT(r, -ECHILD);
    o = kept_world_run(w, &(struct kept_run){.text = "trap 'echo bye' EXIT; kill -TERM $$; x=2"}, &t.out, &t.first, &r);
    CHECK_INT(outcome_status(o), 143);
    CHECK_INT(r, -ECHILD);
    /* The last command is a child, whose end is not the shell's. */
    o = kept_world_run(w, &(struct kept_run){.text = "x=1; bash -c 'kill -9 $$'"}, &t.out, &t.first, &r);
    CHECK_INT(outcome_status(o), 137);
    CHECK_INT(r, 0);
    CHECK(t.first.n > 0);
    texts_done(&t);
    kept_world_free(w);
}

TEST(a_removed_directory)
{
    WALK({"mkdir -p /tmp/a/b; cd /tmp/a/b; x=1", "", 0}, {"rmdir /tmp/a/b; echo $PWD", "/tmp/a/b\n", 0},
         {"pwd; echo $PWD $OLDPWD $x", "/\n/ / 1\n", 0});
    WALK({"mkdir -p /tmp/c; cd /tmp/c; mv /tmp/c /tmp/d; x=1", "", 0}, {"pwd; echo $PWD", "/tmp/d\n/tmp/d\n", 0});
    WALK({"mkdir -p /tmp/e; ln -s e /tmp/l; cd /tmp/l", "", 0}, {"pwd; pwd -P", "/tmp/l\n/tmp/e\n", 0});
}

TEST(what_the_start_gives_is_for_that_start)
{
    static char foo[] = "FOO=given", bar[] = "BAR=given", ro[] = "RO=given", ifs[] = "IFS=g", again[] = "FOO=given",
                odd[] = "odd.name=x", pwd[] = "PWD=/usr";
    char *env[] = {foo, bar, ro, ifs, again, odd, pwd, NULL};
    struct kept_world *w = kept_world_new();
    struct texts t;
    int r;
    texts_init(&t);
    run(w, "FOO=mine; set -- a b; BASH_ARGV0=zero; readonly RO=mine", (struct str){0}, &t.out, &t.first);
    struct kept_run second = {
        .text = "echo $FOO $BAR $RO $0 $@ $PWD; declare -p FOO; x=1; env | grep odd", .name = "name", .arg = "arg"};
    second.env = env;
    second.state = buf_str(&t.first);
    (void)kept_world_run(w, &second, &t.out, &t.second, &r);
    CHECK_STR(buf_str(&t.out), STR("given given mine name arg /\ndeclare -x FOO=\"given\"\nodd.name=x\n"));
    buf_clear(&t.out);
    run(w, "echo $FOO $BAR- $0 $@ $x", buf_str(&t.second), &t.out, &t.first);
    CHECK_STR(buf_str(&t.out), STR("mine - zero a b 1\n"));
    /* What is changed of it stays. */
    second.text = "FOO=changed; shift; unset BAR";
    (void)kept_world_run(w, &second, &t.out, &t.second, &r);
    buf_clear(&t.out);
    run(w, "echo $FOO $BAR- $0 $# $@", buf_str(&t.second), &t.out, &t.first);
    CHECK_STR(buf_str(&t.out), STR("changed - zero 0\n"));
    texts_done(&t);
    kept_world_free(w);
}

TEST(programs_see_what_is_exported)
{
    struct kept_world *w = kept_world_new();
    struct texts t;
    int r;
    texts_init(&t);
    run(w,
        "x=1; export y=2 z; cd /tmp; set -eu; trap 'echo bye' EXIT; trap '' INT; f() { echo f; }; export -f f; g() { "
        ":; "
        "}; umask 77; HOME=/x; export -n PATH; declare -a HOME2; alias ls=no; set -- p; IFS=:",
        (struct str){0}, &t.out, &t.first);
    struct kept_run script = {
        .script = "echo \"$- $# ${x-} $y $PWD $HOME\"; f; trap -p; type g 2>/dev/null; umask; set -- a b; echo \"$*\"",
        .state = buf_str(&t.first),
        .exports = true};
    (void)kept_world_run(w, &script, &t.out, &t.second, &r);
    CHECK_STR(buf_str(&t.out), STR("hB 0  2 /tmp /x\nf\ntrap -- '' SIGINT\n0077\na b\n"));
    texts_done(&t);
    kept_world_free(w);
}

TEST(seconds_go_on)
{
    WALK({"SECONDS=100000", "", 0}, {"((SECONDS >= 100000 && SECONDS < 110000)) && echo yes", "yes\n", 0});
}

TEST(standard_input)
{
    struct kept_world *w = kept_world_new();
    struct texts t;
    int r;
    texts_init(&t);
    (void)kept_world_run(w, &(struct kept_run){.input = "x=1\ncd /tmp\ncat\nrest"}, &t.out, &t.first, &r);
    (void)kept_world_run(w, &(struct kept_run){.input = "echo $x $PWD\n", .state = buf_str(&t.first)}, &t.out,
                         &t.second, &r);
    CHECK_STR(buf_str(&t.out), STR("rest1 /tmp\n"));
    CHECK_STR(buf_str(&t.second), buf_str(&t.first));
    texts_done(&t);
    kept_world_free(w);
}

/* Each byte of a state changed, and each length: refused, or a shell like any other. */
TEST_LIMIT(hostile_states, 300)
{
    struct kept_world *w = kept_world_new();
    struct texts t;
    BUF_AUTO struct buf bad;
    buf_init(&bad, LIMIT_SHELL_STATE);
    texts_init(&t);
    run(w,
        "x=1; declare -A m=([a]=b); declare -a l=([5]=c); f() { echo; }; alias q=w; trap y INT; set -- p; set -e; "
        "pushd /tmp >/dev/null; declare -n r=x; BASH_ARGV0=z; umask 7; enable -n echo; shopt -s extglob; unset HOME; "
        "SECONDS=9; getopts ab o -ab; true | false || :",
        (struct str){0}, &t.out, &t.first);
    for (size_t i = 0; i < t.first.n; i++) {
        CHECK(i == 0 || shell_state_check(str_of(t.first.p, i)) <= 0);
        for (int k = 0; k < 3; k++) {
            static const char flips[] = {1, 0x20, (char)0xff};
            buf_clear(&bad);
            buf_adds(&bad, buf_str(&t.first));
            bad.p[i] = (char)(bad.p[i] ^ flips[k]);
            if (shell_state_check(buf_str(&bad)))
                continue;
            int r;
            (void)kept_world_run(w, &(struct kept_run){.text = "set; declare -f", .state = buf_str(&bad)}, &t.out,
                                 &t.second, &r);
            CHECK_INT(shell_state_check(buf_str(&t.second)), 0);
            buf_clear(&t.out);
        }
    }
    texts_done(&t);
    kept_world_free(w);
}
