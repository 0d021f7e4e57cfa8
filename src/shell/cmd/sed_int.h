/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * sed - the stream editor. Behaviour and messages are those of GNU sed 4.9.
 *
 *   sed.c          the command line
 *   sed_parse.c    a script's commands and addresses, by sed_text.c (what stands between delimiters, and escapes)
 *   sed_regex.c    regular expressions, the last one used included
 *   sed_exec.c     the cycle: addresses and commands, with sed_subst.c for s and y
 *   sed_input.c    the files as one stream of lines; sed_output.c where text goes, and -i
 *
 * A script is read once into an array of commands; blocks and branches are indices into it. What it holds lives in
 * c->keep. The pattern and hold spaces are charged to the session and limited by LIMIT_LINE; a loop in a script polls
 * with each command.
 *
 * The tool of the userland takes over for what is not here (the e command and flag, --posix, --debug,
 * --follow-symlinks, lines that end in NUL with the flag M): scripts are read before input is.
 *
 * As the real one, sed does not flush standard output before it writes a message.
 */

#include "regex/regex.h"
#include "shell/cmd/cmd.h"

#define SED_GROUPS 10 /* \0 to \9 */

enum sed_status { SED_BAD_USAGE = 1, SED_BAD_INPUT = 2, SED_PANIC = 4 };

/* The pattern space, the hold space, and where s builds its result. */
struct sed_space {
    char *mem;
    size_t cap, at, n; /* mem[at, at + n) */
    bool chomped;      /* the last line read into it had its newline */
};

/* Where text goes. Each file that a script names is one of these, however often it is named. */
struct sed_out {
    const char *name;
    int fd;        /* 1 goes through cmd_write(), 2 is not buffered, -1: closed */
    char *pending; /* SED_OUT_BLOCK bytes, made on first use */
    size_t n;
    bool missing_newline; /* the last line written had none; it comes before the next */
    struct sed_out *next;
};

/* A file being read: for input, and for R. */
struct sed_reader {
    const char *name;
    int fd; /* -1: none */
    char *buf;
    size_t pos, end;
    bool eof, regular;
    struct sed_reader *next;
};

struct sed_regex {
    struct regex *re;
    struct str text; /* for compiling it again with groups */
    unsigned flags;
    bool no_groups;
    bool bytewise;          /* see sed_regex.c */
    char anchor;            /* the pattern is "^" or "$" and no more; else 0 */
    struct sed_regex *next; /* all, to be freed */
};

enum sed_addr_kind {
    SED_ADDR_ANY, /* the second address of `2,+0` */
    SED_ADDR_LINE,
    SED_ADDR_EVERY, /* FIRST~STEP */
    SED_ADDR_PLUS,  /* ,+N */
    SED_ADDR_UNTIL, /* ,~N: to a multiple of N */
    SED_ADDR_LAST,
    SED_ADDR_REGEX,
};

struct sed_addr {
    enum sed_addr_kind kind;
    uint64_t line, step;
    struct sed_regex *regex; /* NULL: the last one used */
};

/* How a part of a replacement changes letters: one of the first two, or-ed with one of the last two. */
enum sed_case { SED_AS_IS = 0, SED_UPPER = 1, SED_LOWER = 2, SED_UPPER_FIRST = 4, SED_LOWER_FIRST = 8 };
#define SED_FIRST (SED_UPPER_FIRST | SED_LOWER_FIRST)

/* A piece of a replacement: plain text, then a group. */
struct sed_part {
    struct str text;
    int group; /* -1: none */
    unsigned letters;
    struct sed_part *next;
};

struct sed_subst {
    struct sed_regex *regex;
    struct sed_part *parts;
    int max_group;
    bool global, print;
    uint64_t number; /* 0: not given */
    struct sed_out *out;
};

/* y: characters by their first byte, which is all there is to most. */
struct sed_trans {
    uint8_t byte[256];
    bool bytes_only; /* byte[] says it all */
    struct sed_pair {
        struct str from, to;
    } * pairs;
    size_t n;
};

enum sed_range { SED_RANGE_OFF, SED_RANGE_ON, SED_RANGE_OVER };

struct sed_cmd {
    char name;
    bool negate;
    enum sed_range range;
    struct sed_addr *a1, *a2;
    size_t target;   /* { b t T: where to go on */
    struct str text; /* a i c: NULL p is nothing at all; r: the name */
    int number;      /* l q Q; -1: none */
    bool before;     /* r: 0r */
    struct sed_reader *in;
    struct sed_out *out;
    struct sed_subst *subst;
    struct sed_trans *trans;
};

/* What a, r and R have left for the end of the cycle. */
struct sed_append {
    struct str text;
    const char *file; /* NULL: text */
    char *owned;
};

/* Where in which script something is, for messages. */
struct sed_place {
    const char *file;   /* NULL: -e */
    unsigned long expr; /* number of the -e */
    uint64_t line;
};

struct sed_jump {
    struct str label;
    size_t cmd;
    struct sed_jump *next;
};

struct sed_block {
    size_t cmd;
    struct sed_place place;
    struct sed_block *next;
};

struct sed {
    struct cmd *c;
    /* options */
    bool quiet, separate, in_place, extended, unbuffered, sandbox, utf8;
    char delim; /* of lines: '\n' or 0 */
    int wrap;   /* of l */
    const char *suffix;
    /* the script */
    bool have_script;
    struct sed_cmd *cmds;
    size_t n_cmds, cap_cmds;
    unsigned long n_exprs;
    bool first_done; /* the first script, in which #n counts, was read */
    struct sed_place place;
    struct sed_jump *jumps, *labels;
    struct sed_block *blocks;
    struct buf pending; /* text of a, i or c that goes on in the next -e */
    bool pending_open;
    size_t pending_cmd;
    struct sed_regex *regexes, *last_regex;
    struct sed_out *files_out;
    struct sed_reader *files_in;
    /* input */
    char **files;
    struct sed_reader input, std_in;
    struct sed_reader *reading; /* &input, &std_in, or NULL: no file is open */
    const char *file_name;
    uint64_t line_number, unreadable;
    bool reset_next;
    struct vfs_stat in_place_st;
    /* output */
    struct sed_out std_out;          /* of lines, unless -i */
    struct sed_out dev_out, dev_err; /* what a script calls /dev/stdout and /dev/stderr */
    struct sed_out edited;           /* -i: the new file */
    const char *edited_name;
    struct sed_out *out;
    /* the cycle */
    struct sed_space space, hold, result;
    bool replaced;
    struct sed_append *appends;
    size_t n_appends, cap_appends;
    int status; /* of a failure; 0: none */
};

/* "NAME: TEXT" on standard error, with nothing flushed before it; the status is @status from then on. Returns -1. */
int sed_fail(struct sed *s, enum sed_status status, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* sed_fail() when memory is short. */
int sed_no_memory(struct sed *s);

/* ---- scripts ---- */

/* Reads a script (kept in c->keep) of an -e (@file NULL) or an -f. 0, or -1 after a message or sed_refuse(). */
int sed_parse(struct sed *s, struct str text, const char *file);
/* After the last script: what only the whole shows. As sed_parse(). */
int sed_parse_end(struct sed *s);
/* A message about the script at @place: "-e expression #1, char 3: TEXT" or "file F line 2: TEXT". Returns -1. */
int sed_script_error(struct sed *s, const struct sed_place *place, size_t pos, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* A script being read. */
struct sed_parse {
    struct sed *s;
    const char *p;
    size_t n, pos;
    struct sed_place place;
};
#define SED_END (-1)

/* The next byte, or SED_END. */
int sed_next(struct sed_parse *ps);
/* Gives back what sed_next() gave. */
void sed_back(struct sed_parse *ps, int ch);
/* The next byte that is no blank. */
int sed_next_nonblank(struct sed_parse *ps);
/* sed_script_error() where the script is. */
int sed_parse_error(struct sed_parse *ps, const char *text);

/* What escapes stand for differs with what a text is. */
enum sed_text { SED_TEXT_PLAIN, SED_TEXT_REPLACEMENT, SED_TEXT_REGEX };

/* Reads up to the delimiter @delim, in c->keep: 1, 0 when it does not come, -1 after a message. */
int sed_delimited(struct sed_parse *ps, int delim, bool regex, struct str *ret);
/* Escapes such as \t and \x41 to what they stand for, in place: 0 and the new @text->n, or -1 after a message. */
int sed_unescape(struct sed_parse *ps, struct str *text, enum sed_text kind);
/* Makes sub->parts and sub->max_group of a replacement: 0 or -1. */
int sed_replacement(struct sed_parse *ps, struct str text, struct sed_subst *sub);
/* The text of a, i and c from @first on, or (@fresh false) what another -e began: 0 or -1. */
int sed_read_text(struct sed_parse *ps, int first, bool fresh);
/* The two strings of y: 0 or -1. */
int sed_translation(struct sed_parse *ps, struct sed_trans **ret);

/* ---- regular expressions ---- */

/* Compiles @text (escapes not yet replaced) for a command that uses the groups up to @needed - 1 (@needed 0: only
 * whether it matches). *ret is NULL for the empty one. 0 or -1. */
int sed_regex(struct sed_parse *ps, struct str text, unsigned flags, int needed, struct sed_regex **ret);
/* Looks for @re (NULL: the last one used) in the pattern space from @start on: 1 and @n spans, 0, -1 after a message.
 */
int sed_match(struct sed *s, struct sed_regex *re, size_t start, struct regex_span *spans, int n);
/* Frees all. */
void sed_regex_done(struct sed *s);

/* ---- input ---- */

/* Reads the next line into the pattern space, or (@append) behind it: 1, 0 at the end, -1 after a message. */
int sed_read_line(struct sed *s, bool append);
/* Whether the current line is the last: 1, 0, -1. May open the next files. */
int sed_is_last(struct sed *s);
/* The next line of @r with its delimiter, if it has one, behind @to: 1, 0, -1. */
int sed_reader_line(struct sed *s, struct sed_reader *r, struct sed_space *to, bool *ret_whole);
/* Ends the current file; with -i, the new one takes its place. 0 or -1. */
int sed_close_input(struct sed *s);
/* Frees readers, and leaves standard input where the last line taken from it ended. */
void sed_input_done(struct sed *s);

/* ---- output ---- */

#define SED_OUT_BLOCK 4096u

/* Writes bytes: 0, -1 after a message. */
int sed_put(struct sed *s, struct sed_out *o, const char *p, size_t n);
/* A line and its end (@whole), or without. */
int sed_put_line(struct sed *s, struct sed_out *o, const char *p, size_t n, bool whole);
/* The newline that the last line lacked. */
int sed_put_missing(struct sed *s, struct sed_out *o);
/* Writes what is pending. */
int sed_flush(struct sed *s, struct sed_out *o);
/* sed_flush() with -u. */
int sed_flush_unbuffered(struct sed *s, struct sed_out *o);
/* A file's bytes, none when it cannot be opened. */
int sed_put_file(struct sed *s, struct sed_out *o, const char *name);
/* What the cycle has put off: 0 or -1. */
int sed_put_appends(struct sed *s);
/* The file that w or R names, opened when it is new: 0 or -1. R's that cannot be opened has fd -1. */
int sed_file_out(struct sed_parse *ps, const char *name, struct sed_out **ret);
/* See sed_file_out(). */
int sed_file_in(struct sed_parse *ps, const char *name, struct sed_reader **ret);
/* -i: begins and ends the new file. 0 or -1. */
int sed_edit_begin(struct sed *s, int fd);
/* See sed_edit_begin(). */
int sed_edit_end(struct sed *s);
/* Writes and closes all files; a new file of -i that did not take its place goes. */
void sed_output_done(struct sed *s);

/* ---- running ---- */

/* Runs the script over all input; the exit status. */
int sed_run(struct sed *s);
/* s and y on the pattern space: 0 or -1. */
int sed_substitute(struct sed *s, const struct sed_subst *sub);
/* See sed_substitute(). */
int sed_translate(struct sed *s, const struct sed_trans *t);

/* Appends to a space: 0, -1 after a message. */
int sed_add(struct sed *s, struct sed_space *to, const char *p, size_t n);

/* The bytes of a space; never NULL. */
static inline char *sed_bytes(const struct sed_space *sp)
{
    static char none[1];
    return sp->mem ? sp->mem + sp->at : none;
}
