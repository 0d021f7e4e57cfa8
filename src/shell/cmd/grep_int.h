/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What the files of grep share. */

#include "regex/pcre.h"
#include "regex/regex.h"
#include "shell/cmd/cmd.h"

enum grep_matcher { GREP_BASIC, GREP_EXTENDED, GREP_FIXED, GREP_PERL };
enum grep_list { GREP_LIST_NONE, GREP_LIST_MATCHING, GREP_LIST_NONMATCHING };
enum grep_binary { GREP_BINARY, GREP_TEXT, GREP_WITHOUT_MATCH };
enum grep_dirs { GREP_DIR_READ, GREP_DIR_RECURSE, GREP_DIR_SKIP };
enum grep_devices { GREP_DEV_COMMAND_LINE, GREP_DEV_READ, GREP_DEV_SKIP };

/* --include and --exclude patterns, in the order given. */
struct grep_globs {
    struct grep_glob {
        const char *pattern;
        bool include;
    } * v;
    size_t n, cap;
};

/* One pattern, and where it came from. */
struct grep_pattern {
    struct str text;
    const char *file; /* NULL: the command line */
    size_t line;
};

struct grep_colors {
    bool on, reverse; /* rv */
    bool keep_rest;   /* ne: no \33[K */
    const char *selected_match, *context_match, *file, *line, *byte, *sep, *selected_line, *context_line;
};

struct grep {
    struct cmd *c;
    /* what to look for */
    enum grep_matcher matcher;
    bool matcher_given;
    bool icase, words, lines, invert;
    struct grep_pattern *patterns;
    size_t n_patterns, cap_patterns;
    bool patterns_given; /* -e or -f */
    char eol;
    struct regex *re;
    struct regex_pcre *pcre;
    /* what to print */
    bool count, only_matching, quiet, no_messages, line_numbers, byte_offsets, align, null_names, line_buffered;
    int with_filename; /* -1: -h, 1: -H, 0: as operands say */
    enum grep_list list;
    enum grep_binary binary;
    int64_t max_count;
    int64_t before, after, context; /* -1: not given */
    const char *group_sep;          /* NULL: none */
    const char *label;
    struct grep_colors color;
    /* where to look */
    enum grep_dirs dirs;
    enum grep_devices devices;
    bool follow_all; /* -R */
    bool omit_dot;   /* no operands: names without "./" */
    struct grep_globs files, dirs_excluded;
    /* state over all files */
    bool utf8;
    bool out_quiet, first_only; /* no line is printed; one match is enough */
    bool names;                 /* file names in front of lines */
    bool error;                 /* something went wrong: status 2 */
    bool stop;                  /* all that was asked for is done */
    bool used;                  /* a group of lines was printed before */
    struct vfs_stat out_st;
    bool out_regular;
    /* state of one file (grep_scan.c) */
    const char *file;
    char *buf;
    size_t cap;
};

/* A file being read: a descriptor, or a handle of the tree. */
struct grep_input {
    int fd; /* -1: h */
    struct vfs_handle *h;
    uint64_t off; /* next byte of h */
    bool regular;
    uint64_t size;
};

/* Searches one input named g->file: whether lines were selected. A fatal error sets g->stop and g->error. */
bool grep_scan(struct grep *g, struct grep_input *in);

/* Frees what grep_scan() keeps. */
void grep_scan_done(struct grep *g);

/* The match of @line at or after @from: 1, 0, or -1 after a message (g->stop is set). */
int grep_match(struct grep *g, struct str line, size_t from, struct regex_span *ret);

/* Searches one operand; "-" is standard input. True when lines were selected. */
bool grep_operand(struct grep *g, const char *name);

/* Adds a pattern to @gl. */
void grep_glob_add(struct grep *g, struct grep_globs *gl, const char *pattern, bool include);
/* --exclude-from: 0 or -errno. */
int grep_glob_file(struct grep *g, const char *name);

/* "NAME: FILE: TEXT" unless -s; the status will be 2. */
void grep_file_error(struct grep *g, int err);

/* Sets up g->color from GREP_COLOR and GREP_COLORS. */
void grep_colors(struct grep *g);

/* Prints the selected (@sep ':') or context (@sep '-') line @line, its end included, which begins at byte @off of the
 * file and is line @number. False when it is not text. */
bool grep_print_line(struct grep *g, struct str line, uint64_t off, uint64_t number, char sep, int width);
/* Prints the group separator. */
void grep_print_group(struct grep *g);
/* Prints the file's name in its color. */
void grep_print_name(struct grep *g);
/* The name, and what separates it from a count. */
void grep_print_count(struct grep *g, int64_t n);
