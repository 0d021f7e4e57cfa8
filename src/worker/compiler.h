/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * compiler - the compile role, as its driver sees it: a process that makes machine code of one module and ends.
 *
 * It is the program frontal-sandbox-compile, which gives up its rights before it reads the first byte
 * (confine/confine.h): it has the module, a place for what it makes, a pipe for a message, memory and time within
 * LIMIT_COMPILE_*, and nothing else. It ends with its driver.
 *
 * Threads: one.
 */

#include "base/buf.h"
#include "types/limits.h"

#include <stdint.h>
#include <sys/types.h>

struct err;

struct compiler {
    pid_t pid;        /* 0: none runs */
    int pidfd;        /* readable when it has ended; -1 none */
    int code_fd;      /* what it makes */
    int text_fd;      /* what it says */
    int64_t deadline; /* clock_mono; then it is killed */
};

/* The path of the program: beside ours, or where a build directory has it. -ENOENT. */
int compiler_find(struct buf *path);

/* Starts it on the module in @module_fd (borrowed; from its first byte). -errno and @err. */
int compiler_start(struct compiler *c, const char *path, int module_fd, struct err *err);

/* Whether it has ended, or its time is over: compiler_take() does not wait then. */
bool compiler_ended(const struct compiler *c);

/* What came of one that has ended: a descriptor of what it made, which nobody can change any more, or a negative
 * errno and @err for a reader of the module's output: -ENOEXEC (not a module, or one that needs what is not there),
 * -EFBIG, -ENOMEM, -ETIMEDOUT, or -EIO. Nothing runs after. */
int compiler_take(struct compiler *c, struct err *err);

/* Ends it. Accepts one that does not run. */
void compiler_stop(struct compiler *c);
