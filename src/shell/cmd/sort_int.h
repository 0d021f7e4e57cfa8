/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * sort_int - what the files of sort share: keys and their order (sort_key.c, sort_number.c), the sorting of lines in
 * memory (sort_order.c), reading, temporary runs and merging (sort_merge.c), options (sort.c).
 *
 * Lines are ordered in stages: one for each key, then (unless -s, or -u with keys) the whole line, then the order of
 * input. A stage gives for a line 64-bit words that order as its text or number does, so that most comparisons are of
 * integers: the text of a key is its bytes, eight a word; a number is sign, count of digits and first digits. Lines are
 * sorted by radix over those words, in place; lines that are equal in all of them go on to the next word or stage. What
 * no word can tell apart (long numbers, -V, -d) is compared, by merging.
 *
 * What does not fit in half the memory that is left is written, sorted, to a nameless file of the tree, and the runs
 * are merged.
 */

#include "base/buf.h"
#include "shell/cmd/cmd.h"

enum sort_ignore { SORT_ALL, SORT_DICTIONARY, SORT_PRINTING };

struct sort_key {
    size_t sword, schar; /* start: fields to skip, then characters; SIZE_MAX: the line's start */
    size_t eword, echar; /* end; SIZE_MAX: the line's end */
    bool skip_start, skip_end;
    enum sort_ignore ignore;
    bool fold, numeric, general, human, month, version, random, reverse;
};

enum sort_kind {
    SORT_TEXT,    /* words are all there is to it */
    SORT_WORD,    /* one word tells all */
    SORT_NUMBER,  /* one word; sort__word_tells() knows whether it tells all */
    SORT_COMPARE, /* one word, which does not tell all */
};

struct sort_stage {
    const struct sort_key *key; /* NULL: the whole line */
    enum sort_kind kind;
    bool reverse;
};

struct sort {
    struct cmd *c;
    struct sort_key *keys;
    size_t n_keys, cap_keys;
    struct sort_stage *stages;
    size_t n_stages;
    int tab; /* -1: fields are parted by where blanks begin */
    char delim;
    bool unique, stable, reverse;
    size_t batch;        /* files merged at once */
    const char *outfile; /* NULL: standard output */
    uint64_t written;    /* bytes put out */
    struct buf copy[2];  /* keys made fit for comparison */
    int status;
};

/* ---- sort_key.c ---- */

/* Fills in keys from the global options, and the stages. 0, or -1 after a message. */
int sort__plan(struct sort *s, const struct sort_key *global);
/* The word of a stage at @depth bytes of its text (0 for other kinds than text), ascending whatever the direction. */
uint64_t sort__word(struct sort *s, const struct sort_stage *st, struct str line, size_t depth);
/* Bytes of the stage's text. */
size_t sort__length(const struct sort *s, const struct sort_stage *st, struct str line);
/* Compares from a stage on. */
int sort__compare_from(struct sort *s, size_t stage, struct str a, struct str b);
/* By all there is but the order of input. */
static inline int sort__compare(struct sort *s, struct str a, struct str b)
{
    return sort__compare_from(s, 0, a, b);
}
/* Whether a byte parts fields. */
static inline bool sort__blank(char ch)
{
    return ch == ' ' || ch == '\t' || ch == '\n';
}

/* ---- sort_number.c ---- */

/* As decimal fractions of any length, blanks in front skipped. */
int sort__compare_number(struct str a, struct str b);
/* -n as a word. */
uint64_t sort__number_word(struct str s);
/* First by the unit behind the number (none, K, M …; with @fold in either case), then as numbers. */
int sort__compare_human(struct str a, struct str b, bool fold);
/* -h as a word. */
uint64_t sort__human_word(struct str s, bool fold);
/* As strtold(3) reads them: what is no number, NaN, numbers. */
int sort__compare_general(struct str a, struct str b);
/* -g as a word. */
uint64_t sort__general_word(struct str s);
/* Whether equal words of -n, -h or -g mean equal numbers. */
bool sort__word_tells(const struct sort_key *k, uint64_t word);
/* 1-12, or 0. */
int sort__month(struct str s);

/* ---- sort_order.c ---- */

struct sort_rec {
    uint64_t word;
    uint32_t off, n; /* the line in the chunk's text; its delimiter is behind it */
};

/* Lines in memory. */
struct sort_chunk {
    char *text;
    size_t text_n, text_cap;
    size_t scanned; /* bytes in front that are whole lines */
    struct sort_rec *v;
    size_t n, cap;
};

/* Sorts. -EINTR, -ENOMEM. */
int sort__order(struct sort *s, struct sort_chunk *k);

/* ---- sort_merge.c ---- */

/* Where sorted lines go: the output, or a run. */
struct sort_out {
    struct sort *s;
    int fd;       /* 1: the command's output */
    struct buf b; /* of a run: what is not written yet */
    int err;
};

/* A file to merge. */
struct sort_input {
    const char *name; /* NULL: a run */
    int fd;           /* of a run */
};

/* Begins a run: 0, or a status after a message. */
int sort__run_begin(struct sort *s, struct sort_out *o);
/* Ends it and yields it to be merged: 0, or a status after a message. */
int sort__run_end(struct sort_out *o, struct sort_input *ret);
/* Begins the output: what -o names is emptied. */
void sort__out_begin(struct sort *s, struct sort_out *o);
/* Adds a line; @delimited: the delimiter is behind it in memory. 0 or the sticky error. */
int sort__put(struct sort_out *o, struct str line, bool delimited);
/* Merges @n inputs into a run, all at once; status. *ret may be one of @v. */
int sort__merge_run(struct sort *s, struct sort_input *v, size_t n, struct sort_input *ret);
/* Merges @n inputs into the output, in rounds of s->batch at most; closes runs. Status. */
int sort__merge(struct sort *s, struct sort_input *v, size_t n);
/* "WHAT: FILE: ERROR" (a NULL file is the output), and status 2. */
int sort__fail(struct sort *s, const char *what, const char *file, int err);

/* ---- sort_chunk.c ---- */

/* Sorts what the files hold: status. */
int sort__files(struct sort *s, char **files, size_t n);
