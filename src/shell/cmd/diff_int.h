/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * diff - the differences of two files. Output is that of GNU diff 3.8, also where several sets of changes are equally
 * short.
 *
 *   diff.c         the command line
 *   diff_dir.c     which files are compared, and directories
 *   diff_text.c    two texts as classes of equal lines
 *   diff_lines.c   which lines changed: lines without a match, and Myers' algorithm for the rest
 *   diff_print.c   changes as normal, context and unified output
 *
 * Which lines count as changed follows GNU diff step by step, since each step chooses among equals: lines at both ends
 * that are the same are left out but for as many as context is shown; lines that have no match, or very many, are left
 * out of the search; the search (E. Myers, "An O(ND) Difference Algorithm and Its Variations", 1986, with its linear
 * space refinement) gives up minimality when it becomes expensive; last, changes slide to where they join others.
 *
 * Both texts are held in memory, charged to the session. Options not listed in diff.c go to the userland's diff.
 */

#include "shell/cmd/cmd.h"

enum diff_style { DIFF_NORMAL, DIFF_CONTEXT, DIFF_UNIFIED };
enum diff_space { DIFF_SPACE_COUNTS, DIFF_SPACE_TRAILING, DIFF_SPACE_AMOUNT, DIFF_SPACE_ALL }; /* what is ignored */
enum diff_status { DIFF_SAME, DIFF_DIFFER, DIFF_TROUBLE };

/* One file of a pair. */
struct diff_file {
    const char *name, *label; /* label: NULL, or what is printed for the name */
    struct vfs_stat st;
    bool absent; /* -N: taken for empty */
    int fd;      /* -1: closed */
    struct buf text;
    bool cut; /* the last line had no newline; the text has one */
    /* lines */
    size_t *at, n;    /* line i is text[at[i], at[i + 1]) */
    size_t first;     /* lines before it are the same in both files, and not searched */
    size_t count;     /* lines searched */
    uint32_t *cls;    /* of each line searched: equal lines have one class */
    uint8_t *changed; /* of each; changed[-1] and changed[count] are 0 */
    uint8_t *changed_mem;
};

/* Lines [line[f], line[f] + n[f]) of each file, of the whole files. */
struct diff_change {
    size_t line[2], n[2];
    bool ignored; /* -B: all blank */
};

struct diff {
    struct cmd *c;
    enum diff_style style;
    enum diff_space space;
    bool ignore_case, ignore_blank, brief, report_same, recursive, new_file, as_text, minimal, utf8;
    size_t context;
    const char *labels[2];
    const char *switches; /* the options, for the line in front of each file's differences */
    /* the pair */
    struct diff_file f[2];
    bool in_dir;
    struct diff_change *changes;
    size_t n_changes, cap_changes;
};

/* Compares two operands: the exit status. */
enum diff_status diff_operands(struct diff *d, const char *a, const char *b);

/* Reads both open files. 1: one is binary; 0; -1 after a message. */
int diff_read(struct diff *d);
/* Splits the texts into lines and classes: 0 or -1 after a message. */
int diff_classify(struct diff *d);
/* Fills f[].changed: 0 or -1. */
int diff_search(struct diff *d);
/* Makes d->changes: 0 or -1. */
int diff_list(struct diff *d);
/* Whether any change counts (all do without -B). */
bool diff_counts(const struct diff *d);
/* Prints d->changes. */
void diff_print(struct diff *d);
/* Frees what belongs to the pair. */
void diff_clear(struct diff *d);
/* "memory exhausted". Returns -1. */
int diff_no_memory(struct diff *d);
