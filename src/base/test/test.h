/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * test - the harness every test program links. A TEST registers itself through a linker section; main() runs each
 * in a process of its own with a time limit and prints TAP. A failed CHECK prints file, line and values and goes on; a
 * test with a failed CHECK, a signal or a timeout is "not ok".
 *
 *   TEST(buf_grows) { struct buf b; …; CHECK_INT(b.n, 3); }
 *
 * Options: a name or prefix… runs only those; --list; --no-fork runs in this process (for a debugger).
 */

#include "base/str.h"

struct test_case {
    const char *name;
    void (*fn)(void);
    int timeout_s;
};

/* Defines and registers a test with a limit of 60 seconds. */
#define TEST(name) TEST_LIMIT(name, 60)
#define TEST_LIMIT(name_, secs)                                                                                        \
    static void test_fn_##name_(void);                                                                                 \
    static const struct test_case test_case_##name_ = {#name_, test_fn_##name_, secs};                                 \
    static const struct test_case *const test_ptr_##name_ __attribute__((used, section("test_cases"))) =               \
        &test_case_##name_;                                                                                            \
    static void test_fn_##name_(void)

#define CHECK(x) test_check((x) ? 1 : 0, __FILE__, __LINE__, #x)
#define CHECK_INT(a, b) test_check_int((int64_t)(a), (int64_t)(b), __FILE__, __LINE__, #a, #b)
#define CHECK_STR(a, b) test_check_str((a), (b), __FILE__, __LINE__, #a)
#define CHECK_C(a, b) test_check_str(str_c(a), str_c(b), __FILE__, __LINE__, #a)

/* Records a result; used through the macros above. Each returns whether it held. */
bool test_check(int ok, const char *file, int line, const char *what);
/* See test_check(). */
bool test_check_int(int64_t a, int64_t b, const char *file, int line, const char *sa, const char *sb);
/* See test_check(). */
bool test_check_str(struct str got, struct str want, const char *file, int line, const char *what);

/* How many checks of the running test have failed. */
unsigned test_failed(void);

/* Ends the running test as skipped, with a reason; it does not count as passed. */
void test_skip(const char *why) __attribute__((noreturn));

/* Seed of random tests: FRONTAL_SEED from the environment, else a fresh one, printed. */
uint64_t test_seed(void);

/* The number in the environment variable @name, else @dflt: lets CI and by-hand runs differ in length. */
uint64_t test_env(const char *name, uint64_t dflt);

/* Next pseudo-random number (xorshift64*); @state is not 0. */
uint64_t test_rand(uint64_t *state);
