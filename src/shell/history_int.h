/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * history - the commands that a shell read, as set -o history keeps them (bash(1), HISTORY and HISTORY EXPANSION).
 *
 * One list a shell, counted: a subshell sees its parent's and copies it before it changes it. Entries have numbers that
 * go on growing when the oldest are dropped (HISTSIZE). The lines of a command are one entry (cmdhist); what belongs to
 * the command that is being read is in `reading`.
 *
 * Only what a script, -c or a prompt gives is recorded, not eval or files that are sourced.
 *
 * Limits: LIMIT_HISTORY entries, LIMIT_HISTORY_BYTES of text; the oldest go.
 */

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct shell;

struct history_entry {
    char *text;
    size_t n;
    int64_t when; /* seconds since 1970; 0: nobody noted it */
};

struct history {
    uint32_t refs;
    struct history_entry *v;
    size_t n, cap, bytes;
    int64_t base;        /* number of v[0] */
    size_t fresh;        /* entries since the file was written or read: what `history -a` appends */
    size_t file_lines;   /* lines of the file that were read: `history -n` begins behind them */
    bool added;          /* the last line read was added */
    bool pushed;         /* history -s added the last entry */
    char *search;        /* of the last !?text? */
    char *old, *new;     /* of the last s/old/new/ */
    struct {
        int lines;       /* of the command so far */
        int comment;     /* number of the last one that is a comment; -2: none */
        bool saved;      /* the first was added */
        bool document;   /* a here-document was begun by the line before */
        int body;        /* lines of its body so far */
    } reading;
};

/* The shell's own list, made or copied when it must be. */
struct history *sh_history_own(struct shell *sh);
/* Counting. Accept NULL. */
struct history *sh_history_ref(struct history *h);
/* See sh_history_ref(). */
void sh_history_unref(struct history *h);

/* Adds an entry without asking HISTCONTROL and HISTIGNORE; copies. */
void sh_history_add(struct shell *sh, struct str text);
/* As sh_history_add(), if HISTCONTROL and HISTIGNORE let it: whether they did. */
bool sh_history_offer(struct shell *sh, struct str text);
/* Drops entries @from to @to (indices); false when the range is not there. */
bool sh_history_drop(struct shell *sh, size_t from, size_t to);
/* Drops all. */
void sh_history_clear(struct shell *sh);
/* Drops the entry of the line that is being run, if it was added as such: fc and history -p, -s do not show
 * themselves. */
void sh_history_drop_current(struct shell *sh);
/* HISTSIZE changed: drops what is too much. */
void sh_history_resize(struct shell *sh);

/* A line that the shell reads, without its newline: what it is after history expansion goes to @out, and is recorded.
 * @before: the command's lines so far (empty: this is its first); @document: a line of a here-document's body. False:
 * the line is not run. */
bool sh_history_take(struct shell *sh, struct str line, struct str before, bool document, struct buf *out);

/* `set -o history`: reads HISTFILE, unless lines were added. */
void sh_history_begin(struct shell *sh);
/* The end of the shell: writes HISTFILE. */
void sh_history_end(struct shell *sh);
/* Files. 0 or a negative errno. */
int sh_history_read(struct shell *sh, struct str path, bool only_new);
/* Writes all entries, or appends those that are new. */
int sh_history_write(struct shell *sh, struct str path, bool append);

enum history_result {
    HISTORY_FAILED = -1, /* *out is the message */
    HISTORY_SAME = 0,
    HISTORY_EXPANDED = 1,
    HISTORY_PRINT = 2, /* :p: shown, not run */
};
/* History expansion of @line (histexpand.c), begun inside quotes @quote (0: none), into @out. */
enum history_result sh_history_expand(struct shell *sh, struct str line, char quote, struct buf *out);
/* Whether @line holds a character that begins one. */
bool sh_history_wanted(struct shell *sh, struct str line);
/* The open quote at the end of @text (' " or `), or 0. */
char sh_history_quote(struct str text);
