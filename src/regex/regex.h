/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * regex - POSIX basic and extended regular expressions with GNU's additions: the one matcher of grep, find, expr, sed,
 * awk and `[[ =~ ]]`.
 *
 * Model. A pattern becomes a tree, the tree a byte automaton (UTF-8 characters are sequences of byte ranges, so that
 * bytes that are no UTF-8 match neither `.` nor a bracket). Searching runs a deterministic automaton whose states are
 * made when first reached and kept in a bounded cache. The overall match is the leftmost, and of those the longest. The
 * end comes from a forward pass, the start from a backward pass, and the groups, when asked for, from a walk along the
 * states of the backward pass; it takes the choices that the GNU C library takes. Patterns with back-references use the
 * automaton to rule texts out and a search with a memory and a step limit to confirm. Where a word boundary meets bytes
 * that are not ASCII, the same automaton is run as sets of nodes, slower but with the same answer.
 *
 * Invariants:
 *   1. Time is O(text * nodes) and memory is bounded for every pattern without back-references; with them a call ends
 *      with -E2BIG after LIMIT_REGEX_STEPS steps. No result is ever a guess.
 *   2. A regex that was compiled does not change its meaning; only its cache changes.
 *   3. Matching does not recurse. Compiling recurses at most LIMIT_REGEX_DEPTH deep.
 *   4. spans[0] is the whole match; a group that took no part is {-1, -1}.
 *
 * Threads: one thread at a time uses a regex (its cache is written while matching).
 * Memory: mem_try (charged to the session); limits: LIMIT_REGEX_* in types/limits.h.
 * Rationale and figures: docs/internals/regex.md.
 */

#include "base/str.h"

#ifdef __cplusplus
extern "C" {
#endif

struct regex;

enum regex_flags {
    REGEX_ERE = 1 << 0,     /* extended syntax; without it basic syntax */
    REGEX_ICASE = 1 << 1,   /* letters match without regard to case */
    REGEX_NEWLINE = 1 << 2, /* ^ and $ also match beside a newline; . and [^x] do not match it (REG_NEWLINE) */
    REGEX_UTF8 = 1 << 3,    /* characters are UTF-8 (C.UTF-8); without it bytes (C locale) */
    REGEX_NOSUB = 1 << 4,   /* groups will not be asked for */
    REGEX_LITERAL = 1 << 5, /* the pattern is a plain string (grep -F) */
    REGEX_WORD = 1 << 6,    /* the match has no word character before or behind it (grep -w, with its retries) */
    REGEX_LINE = 1 << 7,    /* the match is the whole text or line (grep -x) */
    REGEX_LINES = 1 << 8,   /* for regex_find_line(): see there */
};

/* Whose syntax it is, where programs differ; goes into the flags as REGEX_DIALECT(d). */
enum regex_dialect {
    REGEX_POSIX,         /* regcomp(): `[[ =~ ]]` with REGEX_ERE; also sed's `ed`, `sed`, `posix-basic` in find */
    REGEX_GREP,          /* grep -G and -E: intervals that are not valid are plain text, a leading * or + too */
    REGEX_SED,           /* sed and sed -E */
    REGEX_EXPR,          /* expr STRING : REGEX */
    REGEX_FINDUTILS,     /* find's default */
    REGEX_EMACS,         /* find -regextype emacs */
    REGEX_AWK,           /* find -regextype awk */
    REGEX_GNU_AWK,       /* gawk, find -regextype gnu-awk */
    REGEX_POSIX_AWK,     /* find -regextype posix-awk */
    REGEX_MINIMAL_BASIC, /* find -regextype posix-minimal-basic */
};
#define REGEX_DIALECT(d) ((unsigned)(d) << 16)

enum regex_eflags {
    REGEX_NOTBOL = 1 << 0,   /* the text does not begin a line */
    REGEX_NOTEOL = 1 << 1,   /* the text does not end a line */
    REGEX_ANCHORED = 1 << 2, /* only a match that begins at @start counts (expr, find) */
};

/* Byte offsets into the text; {-1, -1} when the group took no part. */
struct regex_span {
    ptrdiff_t start, end;
};

/* Asked now and then (every few thousand steps) while matching; a non-zero result ends the call with it. */
struct regex_poll {
    int (*fn)(void *arg);
    void *arg;
};

/* GNU grep's own checks of patterns: what it tells without failing ("* at start of expression"). Given to
 * regex_compile_many() it also makes [:space:] without outer brackets an error, as grep does. @fn may be NULL. */
struct regex_warn {
    void (*fn)(void *arg, const char *text);
    void *arg;
};

/* Compiles one pattern. On failure *ret is untouched and *ret_msg (may be NULL) is static text, the one GNU's regcomp
 * gives: -EINVAL (syntax), -EFBIG (pattern or repeat count too big), -ENOMEM (automaton or memory). */
int regex_compile(struct str pattern, unsigned flags, struct regex **ret, const char **ret_msg)
    __attribute__((warn_unused_result));

/* Compiles @n patterns to one that matches where any of them does; each has groups and back-references of its own, and
 * groups are numbered through. @n may be 0: matches nothing. *ret_bad (may be NULL) is the index of the pattern that
 * failed. @warn may be NULL. Errors as regex_compile(). */
int regex_compile_many(const struct str *patterns, size_t n, unsigned flags, const struct regex_warn *warn,
                       struct regex **ret, const char **ret_msg, size_t *ret_bad) __attribute__((warn_unused_result));

/* Frees; accepts NULL. */
void regex_free(struct regex *re);

/* Number of groups, the whole match not counted (re_nsub). */
size_t regex_groups(const struct regex *re);

/* Sets or clears (NULL) the poll function; it is copied. */
void regex_set_poll(struct regex *re, const struct regex_poll *poll);

/* Searches @text from offset @start for the leftmost-longest match; what is before @start is context for ^, \< and \b.
 * Fills
 * @n_spans spans (0: only whether it matches): 1, 0 no match, -E2BIG (steps), -ENOMEM, or what the poll function gave.
 */
int regex_exec(struct regex *re, struct str text, size_t start, unsigned eflags, struct regex_span *spans,
               size_t n_spans) __attribute__((warn_unused_result));

/* As regex_exec() with start 0, no flags and no spans; the fastest form. */
int regex_test(struct regex *re, struct str text) __attribute__((warn_unused_result));

/* The first line of @buf at or after @from (the start of a line) that matches: 1 and the line without its @eol in
 * *ret_start and *ret_end (the last line may lack one), 0, or an error as regex_exec(). @eol is '\n' or 0, is the same
 * in every call with one regex, and the regex was compiled with REGEX_LINES. Each line is a text of its own. */
int regex_find_line(struct regex *re, struct str buf, size_t from, char eol, size_t *ret_start, size_t *ret_end)
    __attribute__((warn_unused_result));

#ifdef __cplusplus
}
#endif
