/* SPDX-License-Identifier: Apache-2.0 */

/* Recording and replay: whatever a script can see of time, chance and the world outside is the same again. */

#include <dirent.h>
#include <signal.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/test/test.h"
#include "session/test/replay.h"
#include "vfs/vfs.h"

#define CASE(name_, ...) CASE_(name_, __VA_ARGS__, .last = 0)
#define CASE_(name_, text_, ...)                                                                                       \
    {                                                                                                                  \
        .name = (name_), .text = STR_INIT(text_), __VA_ARGS__                                                          \
    }
#define STR_INIT(s)                                                                                                    \
    {                                                                                                                  \
        (s), sizeof(s) - 1                                                                                             \
    }

/* ---- clocks, chance, numbers ---- */

static const struct replay_case values[] = {
    CASE("date", "date +%s.%N; date; date -u +%c; printf '%(%s)T\\n' -1"),
    CASE("random", "echo $RANDOM $RANDOM $SRANDOM; (echo $RANDOM); RANDOM=5; echo $RANDOM $SRANDOM; shuf -i 1-9"),
    CASE("epoch", "for i in 1 2 3 4 5 6 7 8; do echo $EPOCHREALTIME $EPOCHSECONDS $SECONDS; done"),
    CASE("seconds", "SECONDS=7; sleep 0.02; echo $SECONDS; while [ $EPOCHREALTIME = $EPOCHREALTIME ]; do :; done; "
                    "echo $EPOCHREALTIME"),
    CASE("pids", "echo $$ $BASHPID $PPID; (echo $BASHPID); sleep 0 & echo $!; wait; exec bash -c 'echo $$'"),
    CASE("ps", "sleep 0.01 & ps; cat /proc/self/stat; cat /proc/$$/status; jobs -l; wait"),
    CASE("mktemp", "mktemp; mktemp -d; mktemp -u xx.XXXXXX; ls -l /tmp"),
    CASE("urandom", "head -c 100 /dev/urandom | od -An -tx1; read -N 5 x </dev/random; echo \"$x\" | od -c"),
    CASE("uuid", "cat /proc/sys/kernel/random/uuid /proc/sys/kernel/random/boot_id"),
    CASE("uptime", "cat /proc/uptime; sleep 0.03; cat /proc/uptime /proc/stat /proc/meminfo /proc/loadavg"),
    CASE("stamps", "echo a >a; sleep 0.01; echo b >>a; mkdir d; touch d/x; ln a b; ln -s a c; chmod 600 d/x; "
                   "ls -l --time-style=full-iso . d; stat a b d d/x; ls -lt; find . -newer a; touch -r a d/y"),
    CASE("times",
         "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done; times; time (i=0; while [ $i -lt 3000 ]; do "
         "i=$((i+1)); done); TIMEFORMAT='%R %U %S %P'; time sleep 0.01; time { seq 20000 | sort -r | tail -1; }"),
    CASE("pipes", "ls -l /proc/self/fd | sed 's/.*:..//'; readlink /proc/self/fd/0; stat -L -c %i /dev/fd/1 | cat"),
};

/* ---- races ---- */

static const struct replay_case races[] = {
    CASE("sleeps", "for i in 5 3 1 4 2; do { sleep 0.0$i; echo $i; } & done; wait; echo end"),
    CASE("loops and sleeps",
         "(for i in 1 2 3 4 5 6 7 8; do sleep 0.003; echo s$i; done) & "
         "(i=0; while [ $i -lt 20000 ]; do i=$((i+1)); [ $((i % 500)) = 0 ] && echo l$i; done) & wait"),
    CASE("two loops", "t() { while [ -e go ]; do n=$((n+1)); echo $1 >>log; done; echo $1 $n; }; : >go; t a & t b & "
                      "sleep 0.02; rm go; wait; uniq -c log | tail -3"),
    CASE("pipelines", "{ echo a; sleep 0.01; echo b; sleep 0.005; echo c; } | while read x; do echo $x $EPOCHREALTIME; "
                      "done | cat -n; seq 3 | { sleep 0.002; cat; }"),
    CASE("read -t",
         "read -t 0.01 x; echo $?; { sleep 0.02; echo late; } | { read -t 0.005 x; echo $?; read x; echo $x; "
         "}; read -t 0 x; echo $?"),
    CASE("wait -n", "sleep 0.01 & (exit 3) & wait -n; echo $?; { sleep 0.005; exit 5; } & wait -n; echo $?; wait"),
    CASE("kill",
         "trap 'echo got $EPOCHREALTIME' USR1; { sleep 0.005; kill -USR1 $$; } & i=0; while [ $i -lt 100000 ]; do "
         "i=$((i+1)); jobs -r | grep -q . || break; done; echo $i; sleep 1 & kill $!; wait $!; echo $?"),
    CASE("stop", "(while :; do n=$((n+1)); echo $n >n; done) & sleep 0.01; kill -STOP $!; cat n; sleep 0.01; cat n; "
                 "kill -CONT $!; sleep 0.005; kill $!; wait $!; echo $?; cat n"),
    CASE("coproc",
         "coproc { while read x; do sleep 0.001; echo \"<$x $EPOCHREALTIME>\"; done; }; for i in 1 2 3; do "
         "echo $i >&${COPROC[1]}; read -u ${COPROC[0]} y; echo $y; done; eval \"exec ${COPROC[1]}>&-\"; wait"),
    CASE("substitution", "diff <(sleep 0.003; date +%N) <(date +%N); cat <(echo $BASHPID) > >(cat -n); wait"),
    CASE("fifo", "mkfifo f; { sleep 0.002; date +%N >f; } & cat f; ls -l f"),
    CASE("tail -f",
         "echo 1 >log; { for i in 2 3 4; do sleep 0.15; echo $i >>log; done; } & tail --pid $! -f log; wait"),
    CASE("timeout", "timeout 0.01 sleep 5; echo $?; timeout -s INT 0.01 bash -c 'trap \"echo int\" INT; sleep 3; echo "
                    "$?'; echo $?"),
    CASE("left behind", "(sleep 0.05; echo late) & (while :; do :; done) & echo $!"),
    CASE("refused output",
         "seq 3000; echo err >&2; for i in 1 2 3; do echo $EPOCHREALTIME; date +%N >&2; done; seq 500 | "
         "cat & seq 500; wait",
         .refuses = true),
};

/* ---- from outside ---- */

#define LINES "one\ntwo words\n\nlast line that is longer than the others\nand one without an end"
#define LOOP "trap 'echo int $EPOCHREALTIME' INT; echo ready; i=0; while [ $i -lt 1000000 ]; do i=$((i+1)); "

static const struct replay_case outside[] = {
    CASE("stdin", "while IFS= read -r x; do echo \"$x\" $EPOCHREALTIME; done; echo \"$x\"", .in = LINES),
    CASE("stdin none", "cat; stat -L -c %F /dev/stdin; while read -t 0.01 x; do :; done; echo $? $EPOCHREALTIME"),
    CASE("stdin busy", "(i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done; echo $i) & cat; wait", .in = LINES),
    CASE("stdin timeout", "while read -t 0.002 -N 3 x || [ $? -gt 128 ]; do echo \"<$x>\"; n=$((n+1)); done; echo $n",
         .in = LINES),
    CASE("stdin refused", "cat; echo; date >&2", .in = LINES, .refuses = true),
    CASE("SIGINT loop", LOOP "done; echo not reached", .sig = SIGINT, .when = "ready", .limits.cpu_ms = 20000),
    CASE("SIGINT dies", "echo ready; while :; do i=$((i+1)); echo $i >i; done", .sig = SIGINT, .when = "ready"),
    CASE("SIGINT trap", LOOP "[ $i = 90000 ] && break; done; echo $i", .sig = SIGINT, .when = "ready"),
    CASE("SIGINT sleep", "trap 'echo int $SECONDS' INT; echo ready; sleep 0.2; echo $?; date +%N", .sig = SIGINT,
         .when = "ready"),
    CASE("SIGTERM all", "sleep 3 & (while :; do :; done) & echo ready; wait; echo $?", .sig = SIGTERM, .sig_all = true,
         .when = "ready"),
    CASE("SIGTERM in output", "trap 'echo term; exit 3' TERM; echo ready; while :; do echo x; done", .sig = SIGTERM,
         .when = "ready", .refuses = true),
    CASE("close",
         "trap 'echo pipe >&2' PIPE; echo ready; for i in 1 2 3 4 5 6 7 8 9; do echo $i; sleep 0.001; done; "
         "echo $? >&2",
         .close = 1, .when = "ready"),
    CASE("close yes", "yes ready; echo $? >&2", .close = 1, .when = "ready", .refuses = true),
    CASE("resize", "trap 'echo winch; tput cols 2>&1; n=1' WINCH; echo ready; while [ -z $n ]; do :; done",
         .resize = true, .when = "ready"),
    CASE("killed", "echo ready; (while :; do n=$((n+1)); echo $n >n; done) & sleep 9", .kill = REASON_SIGNAL,
         .when = "ready", .reason = REASON_SIGNAL),
    CASE("wall", "echo a; while :; do n=$((n+1)); echo $n >n; done", .limits.wall_ms = 30, .reason = REASON_TIMEOUT),
    CASE("wall idle", "echo a; sleep 100", .limits.wall_ms = 20, .reason = REASON_TIMEOUT),
    CASE("wall refused", "(while :; do n=$((n+1)); echo $n >n; done) & yes", .limits.wall_ms = 30, .refuses = true,
         .reason = REASON_TIMEOUT),
    CASE("cpu", "while :; do n=$((n+1)); echo $n >n; done", .limits.cpu_ms = 30, .reason = REASON_CPU),
    CASE("memory", "x=aaaaaaaa; while :; do x=$x$x; echo ${#x}; done", .limits.memory = 8 << 20,
         .reason = REASON_MEMORY),
    CASE("memory list", "while :; do a+=($RANDOM $i); i=$((i+1)); echo $i; done", .limits.memory = 4 << 20,
         .reason = REASON_MEMORY),
    CASE("memory children",
         "f() { local i; while :; do a+=(word $i); i=$((i+1)); [ $((i % 100)) = 0 ] && echo $1 $i; "
         "done; }; f a & f b & f c | cat & wait",
         .limits.memory = 4 << 20, .reason = REASON_MEMORY),
    CASE("memory text", "yes $RANDOM | tail -n +2 | sort", .limits.memory = 4 << 20, .reason = REASON_MEMORY),
    CASE("output", "yes", .limits.output = 100000, .reason = REASON_OUTPUT),
    CASE("output refused", "yes | cat -n", .limits.output = 10000, .reason = REASON_OUTPUT, .refuses = true),
    CASE("processes", "f() { f | f & }; f; sleep 5; date +%N", .limits.processes = 50),
    CASE("processes refused", "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 0.01 & done; echo $?; wait",
         .limits.processes = 6),
};

static void check_all(const struct replay_case *c, size_t n)
{
    struct vfs *tmpl = session_template(NULL);
    for (size_t i = 0; i < n; i++)
        replay_check(tmpl, &c[i]);
    vfs_free(tmpl);
}

TEST(values)
{
    check_all(values, sizeof(values) / sizeof(values[0]));
}

TEST(races)
{
    for (int i = 0; i < 3; i++)
        check_all(races, sizeof(races) / sizeof(races[0]));
}

TEST_LIMIT(outside, 180)
{
    for (int i = 0; i < 5; i++)
        check_all(outside, sizeof(outside) / sizeof(outside[0]));
}

/* ---- what a replay is not ---- */

static void drop_event(struct recording *r)
{
    mem_free((void *)(uintptr_t)r->events[--r->n_events].data.p);
}

static void cut_clock(struct recording *r)
{
    r->clock.n /= 2;
}

static void no_clock(struct recording *r)
{
    r->clock.n = 0;
}

static void other_event(struct recording *r)
{
    r->events[r->n_events - 1].look += 12345678;
}

static void early_event(struct recording *r)
{
    r->events[r->n_events - 1].look = 1;
}

TEST(divergence)
{
    static const struct replay_case loop = CASE("loop", LOOP "done", .sig = SIGTERM, .when = "ready");
    static const struct replay_case idle = CASE("idle", "echo ready; sleep 100", .sig = SIGTERM, .when = "ready");
    static const struct replay_case sleeps = CASE("sleeps", "for i in 1 2 3 4 5; do sleep 0.003; done");
    struct vfs *tmpl = session_template(NULL);
    for (int i = 0; i < 2; i++) {
        const struct replay_case *c = i ? &loop : &idle;
        replay_check_spoiled(tmpl, c, drop_event);
        replay_check_spoiled(tmpl, c, other_event);
        replay_check_spoiled(tmpl, c, early_event);
        replay_check_spoiled(tmpl, c, cut_clock);
        replay_check_spoiled(tmpl, c, no_clock);
    }
    replay_check_spoiled(tmpl, &sleeps, cut_clock);
    vfs_free(tmpl);
}

/* ---- every case of the shell's tests ---- */

static void read_file(const char *path, struct buf *out)
{
    char block[4096];
    size_t n;
    FILE *f = fopen(path, "re");
    if (!CHECK(f != NULL))
        return;
    while ((n = fread(block, 1, sizeof(block), f)) > 0)
        buf_add(out, block, n);
    fclose(f);
}

static bool is_header(struct str line)
{
    return str_starts(line, STR("### ")) || str_starts(line, STR("#-- "));
}

static void check_file(struct vfs *tmpl, const char *path)
{
    struct buf text BUF_AUTO;
    buf_init(&text, 16u << 20);
    read_file(path, &text);
    struct str all = buf_str(&text);
    size_t pos = 0, n = 0;
    while (pos < all.n) {
        size_t start = pos;
        do {
            ptrdiff_t nl = str_find(all, '\n', pos);
            pos = nl < 0 ? all.n : (size_t)nl + 1;
        } while (pos < all.n && !is_header(str_from(all, pos)));
        const struct replay_case c = {.name = path, .text = str_of(all.p + start, pos - start)};
        replay_check(tmpl, &c);
        n++;
    }
    CHECK(n > 0);
}

static void check_folder(const char *folder)
{
    struct vfs *tmpl = session_template(NULL);
    DIR *d = opendir(folder);
    CHECK(d != NULL);
    for (struct dirent *e; d && (e = readdir(d));) {
        char path[4096];
        snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
        if (str_ends(str_c(path), STR(".sh")))
            check_file(tmpl, path);
    }
    if (d)
        closedir(d);
    vfs_free(tmpl);
}

TEST_LIMIT(shell_cases, 600)
{
    check_folder(SHELL_CASES);
}

TEST_LIMIT(bash_cases, 600)
{
    check_folder(BASH_CASES);
}
