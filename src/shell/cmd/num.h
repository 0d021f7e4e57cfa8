/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * num - numbers of command lines ("10", "4K", "2MiB", "0.5s") and sizes for people ("1.5K"), as GNU tools read and
 * write them.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cmd;

enum num_status {
    NUM_OK,
    NUM_BAD,      /* not a number */
    NUM_SUFFIX,   /* a number and something that is no suffix of @suffixes */
    NUM_OVERFLOW, /* too large: the value is UINT64_MAX (or INT64_MIN/MAX) */
};

/*
 * A decimal number with leading blanks and '+' allowed. @suffixes lists the letters that may follow ("bcEGkKMPTwYZ0";
 * '0' allows the second letters "B" for powers of 1000 and "iB"); NULL: none. A suffix alone counts as one of it. *ret
 * is set on OK and OVERFLOW.
 */
enum num_status num_u64(const char *s, const char *suffixes, uint64_t *ret);
/* The same in the base that a C constant of this form has ("010", "0x1f"); *ret is set on SUFFIX, too. */
enum num_status num_u64_any(const char *s, const char *suffixes, uint64_t *ret);
/* As num_u64() with a sign. */
enum num_status num_i64(const char *s, const char *suffixes, int64_t *ret);

/* The decimal number of an option, from @min to @max, as GNU's xdectoumax() reads it: true and *ret; or false after
 * "NAME: WHAT: 'TEXT'", with what is wrong behind it when it is a number. */
bool num_option(struct cmd *c, const char *text, const char *suffixes, uint64_t min, uint64_t max, const char *what,
                uint64_t *ret);
/* The same of a number with a sign. */
bool num_option_signed(struct cmd *c, const char *text, const char *suffixes, int64_t min, int64_t max,
                       const char *what, int64_t *ret);

/* How block counts and sizes are shown. */
struct num_human {
    uint64_t block; /* unit of the output when not @scale */
    bool scale;     /* pick the unit that fits: -h, --si */
    bool suffix;    /* print the unit's letter */
    bool base1024;
    bool b; /* print "B" ("iB") after it */
};

/* Reads a --block-size value: NUM_OK or what is wrong with it (a block size of 0 is NUM_BAD). */
enum num_status num_block_size(const char *spec, struct num_human *ret);

/* The default block size: @env_name (such as "DU_BLOCK_SIZE"), BLOCK_SIZE, BLOCKSIZE, POSIXLY_CORRECT of the
 * environment, else 1024. */
void num_block_env(struct cmd *c, const char *env_name, struct num_human *ret);

/* Prints "du: invalid --block-size argument 'x'" and the like; returns 1. */
int num_block_error(struct cmd *c, enum num_status st, const char *opt, const char *arg);

#define NUM_TEXT 48
/* @n units of @unit bytes as @h says, rounded up; returns @out. */
const char *num_human_text(uint64_t n, uint64_t unit, const struct num_human *h, char out[NUM_TEXT]);

/* @v in decimal at the end of @out; returns its first digit. */
char *num_u64_text(uint64_t v, char out[24]);

/* Seconds of "1.5m" as sleep and timeout read it: false if it is none. */
bool cmd_interval(const char *text, double *ret);
