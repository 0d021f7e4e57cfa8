/* SPDX-License-Identifier: Apache-2.0 */
#include "base/test/test.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

/* The linker puts every TEST's pointer between these. */
extern const struct test_case *const __start_test_cases[];
extern const struct test_case *const __stop_test_cases[];

/* Shared with the child that runs a test: what it found outlives it, however it ends. */
struct report {
    unsigned failed;
    bool skipped;
    char why[200];
};

static struct report *report;
static bool no_fork;

#define SKIP_STATUS 77

bool test_check(int ok, const char *file, int line, const char *what)
{
    if (!ok) {
        report->failed++;
        fprintf(stderr, "# %s:%d: failed: %s\n", file, line, what);
    }
    return ok;
}

bool test_check_int(int64_t a, int64_t b, const char *file, int line, const char *sa, const char *sb)
{
    if (a == b)
        return true;
    report->failed++;
    fprintf(stderr, "# %s:%d: failed: %s == %s (%lld, %lld)\n", file, line, sa, sb, (long long)a, (long long)b);
    return false;
}

/* Prints bytes so that a difference can be seen: control bytes and anything beyond ASCII as \xNN. */
static void print_bytes(const char *label, struct str s)
{
    fprintf(stderr, "#   %s %zu: \"", label, s.n);
    for (size_t i = 0; i < s.n && i < 4000; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (c == '\n')
            fputs("\\n", stderr);
        else if (c < 32 || c >= 127 || c == '\\')
            fprintf(stderr, "\\x%02x", c);
        else
            fputc(c, stderr);
    }
    fputs(s.n > 4000 ? "\"…\n" : "\"\n", stderr);
}

bool test_check_str(struct str got, struct str want, const char *file, int line, const char *what)
{
    if (str_eq(got, want))
        return true;
    report->failed++;
    fprintf(stderr, "# %s:%d: failed: %s\n", file, line, what);
    print_bytes("got ", got);
    print_bytes("want", want);
    return false;
}

unsigned test_failed(void)
{
    return report->failed;
}

void test_skip(const char *why)
{
    report->skipped = true;
    snprintf(report->why, sizeof(report->why), "%s", why);
    fflush(NULL);
    _exit(SKIP_STATUS);
}

uint64_t test_env(const char *name, uint64_t dflt)
{
    uint64_t v;
    const char *s = getenv(name);
    return s && str_u64(str_c(s), &v) == 0 ? v : dflt;
}

uint64_t test_seed(void)
{
    uint64_t seed = test_env("FRONTAL_SEED", 0);
    if (!seed && (getrandom(&seed, sizeof(seed), 0) != (ssize_t)sizeof(seed) || !seed))
        seed = 1;
    fprintf(stderr, "# FRONTAL_SEED=%llu\n", (unsigned long long)seed);
    return seed;
}

uint64_t test_rand(uint64_t *state)
{
    uint64_t x = *state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return x * UINT64_C(0x2545f4914f6cdd1d);
}

/* Waits until the child ends: its wait status, or -1 when the limit passed and it was killed. */
static int wait_child(pid_t pid, int timeout_s)
{
    int status = 0, r = 0;
    int pidfd = pidfd_open(pid, 0);
    if (pidfd >= 0) {
        struct pollfd pf = {.fd = pidfd, .events = POLLIN};
        do
            r = poll(&pf, 1, timeout_s * 1000);
        while (r < 0 && errno == EINTR);
        close(pidfd);
        if (r == 0)
            kill(-pid, SIGKILL);
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    kill(-pid, SIGKILL); /* what the test left running */
    return pidfd >= 0 && r == 0 ? -1 : status;
}

/* Runs one test in a child of its own and says how it went: true for passed or skipped. */
static bool run_forked(const struct test_case *t, char *ret_note, size_t n_note)
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        setpgid(0, 0);
        /* Standard output is the report's; what a test prints goes beside it. */
        dup2(STDERR_FILENO, STDOUT_FILENO);
        t->fn();
        exit(report->failed ? 1 : 0);
    }
    if (pid < 0) {
        snprintf(ret_note, n_note, "fork: errno %d", errno);
        return false;
    }
    setpgid(pid, pid); /* in both, so that it is so before either goes on */
    int status = wait_child(pid, t->timeout_s * (int)test_env("FRONTAL_TEST_SLOW", 1));
    if (status == -1)
        snprintf(ret_note, n_note, "over its limit of %d s", t->timeout_s);
    else if (WIFSIGNALED(status))
        snprintf(ret_note, n_note, "signal %d", WTERMSIG(status));
    else if (WEXITSTATUS(status) == SKIP_STATUS && report->skipped)
        return true;
    else if (WEXITSTATUS(status))
        snprintf(ret_note, n_note, "%u failed, exit status %d", report->failed, WEXITSTATUS(status));
    else
        return report->failed == 0;
    return false;
}

static bool run_one(const struct test_case *t, unsigned number)
{
    char note[200] = "";
    bool ok;
    *report = (struct report){0};
    if (no_fork) {
        t->fn();
        ok = report->failed == 0;
    } else {
        ok = run_forked(t, note, sizeof(note));
    }
    if (report->skipped && ok)
        printf("ok %u - %s # SKIP %s\n", number, t->name, report->why);
    else
        printf("%s %u - %s\n", ok ? "ok" : "not ok", number, t->name);
    if (note[0])
        printf("# %s: %s\n", t->name, note);
    fflush(stdout);
    return ok;
}

/* Whether @t is among the names and prefixes of the command line. */
static bool wanted(const struct test_case *t, int argc, char **argv)
{
    bool any = false;
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '-')
            continue;
        any = true;
        if (str_starts(str_c(t->name), str_c(argv[i])))
            return true;
    }
    return !any;
}

int main(int argc, char **argv)
{
    bool list = false, all_ok = true;
    unsigned n = 0;
    for (int i = 1; i < argc; i++) {
        if (str_eqc(str_c(argv[i]), "--list")) {
            list = true;
        } else if (str_eqc(str_c(argv[i]), "--no-fork")) {
            no_fork = true;
        } else if (argv[i][0] == '-') {
            fprintf(stderr, "usage: %s [--list] [--no-fork] [NAME-OR-PREFIX]...\n", argv[0]);
            return 2;
        }
    }
    report = mmap(NULL, sizeof(*report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (report == MAP_FAILED)
        return 2;
    for (const struct test_case *const *t = __start_test_cases; t < __stop_test_cases; t++)
        n += wanted(*t, argc, argv);
    if (!list)
        printf("1..%u\n", n);
    n = 0;
    for (const struct test_case *const *t = __start_test_cases; t < __stop_test_cases; t++) {
        if (!wanted(*t, argc, argv))
            continue;
        if (list)
            puts((*t)->name);
        else
            all_ok = run_one(*t, ++n) && all_ok;
    }
    return all_ok ? 0 : 1;
}
