/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* tail_int - what tail.c (the end of a file) and tail_follow.c (what comes later) share. */

#include "shell/cmd/cmd.h"

enum tail_follow { TAIL_NOT, TAIL_DESCRIPTOR, TAIL_NAME };

struct tail_file {
    const char *name;
    int fd; /* -1: not open */
    uint64_t dev, ino, size;
    int64_t mtime;
    uint32_t mode;
    int err; /* why it is not open; 0 */
    bool ignore, tailable;
    uint64_t unchanged; /* looks in a row without a change */
};

struct tail {
    struct cmd *c;
    bool bytes, from_start;
    uint64_t n;
    char delim;
    bool headers, header_done;
    enum tail_follow follow;
    bool retry;
    double interval; /* seconds */
    uint64_t max_unchanged;
    uint64_t *pids; /* writers: following ends with them */
    size_t n_pids;
    char *block;
    struct tail_file *files;
    size_t n_files;
};

/* The name for messages. */
static inline const char *tail_pretty(const struct tail_file *f)
{
    return f->name[0] == '-' && f->name[1] == 0 ? "standard input" : f->name;
}

/* Prints "==> name <==" when headers are on. */
void tail__header(struct tail *t, const struct tail_file *f);
/* Prints what is left of an open file: bytes, or a negative errno (the message was printed). */
int64_t tail__rest(struct tail *t, struct tail_file *f);
/* Remembers @fd and its status in @f. */
void tail__opened(struct tail *t, struct tail_file *f, int fd);
/* Follows the files until there is nothing to follow or the command must end; returns the exit status. */
int tail__forever(struct tail *t);
