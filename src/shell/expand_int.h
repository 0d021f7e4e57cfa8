/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * expand - from words of the tree to fields: bash(1) EXPANSION, in its order.
 *
 * Results lie in the shell's scratch arena (sh->scratch) until the command's mark is reset, or borrow from the tree
 * when nothing had to be expanded. Every str is NUL-terminated. Failures are negative: the message was printed, and
 * sh->flow says whether the shell must end
 * (${x:?}, set -u in a script) or the command only fails.
 */

#include "base/str.h"

#include <stdbool.h>

struct shell;
struct word;
struct buf;
struct arena;
struct arith;
struct pattern;

struct fields {
    struct str *v;
    uint32_t n, cap;
};

/* All expansions, for command words, for-lists and array values. Appends to @out. */
int expand_words(struct shell *sh, struct word *const *words, uint32_t n, struct fields *out);

enum expand_mode {
    EXPAND_PLAIN,  /* no splitting, no globbing: case word, [[ ]] operand, here-string, redirect target in posix mode */
    EXPAND_ASSIGN, /* as PLAIN with tilde after ':' and '=' */
    EXPAND_HEREDOC, /* body of a here-document: double-quote rules but '"' is ordinary */
    EXPAND_PATTERN, /* result is a pattern: quoted characters are backslash-escaped */
    EXPAND_REGEX,   /* right side of =~: quoted characters are escaped for ERE */
    EXPAND_ARITH,   /* text of an arithmetic expression */
};

/* One string. @w may be NULL (empty). */
int expand_str(struct shell *sh, const struct word *w, enum expand_mode mode, struct str *ret);

/* Target of a redirection: one field, with pathname expansion outside posix mode; "ambiguous redirect" when not exactly
 * one. */
int expand_redir_target(struct shell *sh, const struct word *w, struct str *ret);

/* Splits by IFS as word splitting does. Appends to @out. */
int expand_split(struct shell *sh, struct str text, struct fields *out);

/* Appends a field. */
int fields_add(struct shell *sh, struct fields *f, struct str s);

/* Prompt escapes of PS1 (\u \w \$ …) and then the expansions that promptvars asks for. */
int expand_prompt(struct shell *sh, struct str ps, struct buf *out);
/* Appends the time @when, in seconds since 1970, as strftime(3) has it, in the zone of the variable TZ. */
void expand_time(struct shell *sh, const char *fmt, int64_t when, struct buf *out);

/* Tilde prefix of @s ("~", "~user", "~+", "~-"): the directory appended and the length of the prefix, or 0 when none
 * applies. */
size_t expand_tilde(struct shell *sh, struct str s, struct buf *out);

/* Frees sh->expand; for shell_free(). */
void expand_done(struct shell *sh);

/* ---- arithmetic: bash(1) ARITHMETIC EVALUATION, 64-bit, wrapping ---- */

/* Compiles the text into @a. Never fails: a syntax error is reported when it is evaluated, as bash does. */
struct arith *arith_compile(struct shell *sh, struct arena *a, struct str text);
/* Evaluates: 0 and *ret, or -EINVAL with bash's message printed (division by 0, syntax error in expression …). */
int arith_eval(struct shell *sh, const struct arith *code, int64_t *ret);
/* Text evaluated at once (values of integer variables, [[ -eq ]], let). */
int arith_eval_text(struct shell *sh, struct str text, int64_t *ret);
/* The word as an expression, compiled once into *cache (in the unit's arena) when it is literal. */
int arith_eval_word(struct shell *sh, const struct word *w, struct arith **cache, int64_t *ret);

/* ---- patterns: bash(1) Pattern Matching ---- */

enum pattern_flags {
    PATTERN_EXTGLOB = 1 << 0,
    PATTERN_NOCASE = 1 << 1,
    PATTERN_UTF8 = 1 << 2,
    PATTERN_PATH = 1 << 3, /* '/' is only matched by '/', leading '.' rules by the caller */
};

/* Whether all of @text matches @pat (backslash escapes; as EXPAND_PATTERN gives it). Time is bounded: no exponential
 * behaviour without extglob, and with it a memo bounds it. */
bool pattern_match(struct str pat, struct str text, int flags);
/* The same for texts that a guest chose: long matches poll the shell's process; when it must end the result is false.
 */
bool sh_match(struct shell *sh, struct str pat, struct str text, int flags);
/* Length of the shortest or longest prefix (suffix) of @text that matches, or -1. */
ptrdiff_t pattern_prefix(struct str pat, struct str text, int flags, bool longest);
/* See pattern_prefix(). */
ptrdiff_t pattern_suffix(struct str pat, struct str text, int flags, bool longest);
/* The leftmost longest match at or after @from: true, *ret_start and *ret_len. */
bool pattern_search(struct str pat, struct str text, size_t from, int flags, size_t *ret_start, size_t *ret_len);
/* Whether @s holds an unescaped * ? [ or (with extglob) an extglob opening. */
bool pattern_is_glob(struct str s, int flags);
/* The current flags from shopt and locale. */
int pattern_flags(const struct shell *sh);

/* Pathname expansion of @pat (as EXPAND_PATTERN gives it) by options and GLOBIGNORE; sorted. Appends matches to @out
 * and returns their number, 0 when nothing matches (the caller then keeps the word, or drops it with nullglob, or fails
 * with failglob). */
int pathglob(struct shell *sh, struct str pat, struct fields *out);

/* ---- quoting ---- */

/* As printf %q and ${x@Q} quote: backslashes or $'…' (%q); single quotes or $'…' (@Q). */
void quote_printf_q(struct buf *out, struct str s, bool utf8);
/* See quote_printf_q(). */
void quote_at_q(struct buf *out, struct str s, bool utf8);
/* Always '…' with '\'' inside (a lone quote is \'): what `trap -p` and `alias` print. */
void quote_single(struct buf *out, struct str s);
/* Whether some character of @s cannot be shown as it is, so that $'…' is needed. */
bool quote_needs_ansi(struct str s, bool utf8);
/* As `set` lists values and set -x shows words: as it is when nothing in it is special, else '…' or $'…'. */
void quote_set(struct buf *out, struct str s, bool utf8);
/* "…" as declare -p quotes values. */
void quote_declare(struct buf *out, struct str s, bool utf8);
