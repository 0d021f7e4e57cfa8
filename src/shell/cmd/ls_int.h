/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * ls_int - what the files of ls share.
 *
 *   ls.c        options
 *   ls_list.c   what is listed: operands, directories, recursion, order
 *   ls_print.c  long lines, columns, names
 *   ls_color.c  LS_COLORS
 */

#include "shell/cmd/cmd.h"
#include "shell/cmd/num.h"
#include "shell/cmd/quote.h"

enum ls_format { LS_LONG, LS_SINGLE, LS_COLUMNS, LS_ACROSS, LS_COMMAS };
enum ls_sort { LS_BY_NAME, LS_BY_NONE, LS_BY_TIME, LS_BY_SIZE, LS_BY_EXTENSION, LS_BY_VERSION, LS_BY_WIDTH };
enum ls_time { LS_MTIME, LS_CTIME, LS_ATIME, LS_BTIME };
enum ls_indicator { LS_NO_MARK, LS_SLASH, LS_FILE_TYPE, LS_CLASSIFY };
enum ls_ignore { LS_IGNORE_DEFAULT, LS_IGNORE_DOTS, LS_IGNORE_NONE }; /* hidden names; "." and ".."; nothing */
enum ls_deref { LS_DEREF_UNSET, LS_DEREF_NEVER, LS_DEREF_ARGS, LS_DEREF_ARG_DIRS, LS_DEREF_ALWAYS };

/* What has a colour. */
enum ls_color {
    COLOR_LEFT,
    COLOR_RIGHT,
    COLOR_END,
    COLOR_RESET,
    COLOR_NORM,
    COLOR_FILE,
    COLOR_DIR,
    COLOR_LINK,
    COLOR_FIFO,
    COLOR_SOCK,
    COLOR_BLK,
    COLOR_CHR,
    COLOR_MISSING,
    COLOR_ORPHAN,
    COLOR_EXEC,
    COLOR_DOOR,
    COLOR_SETUID,
    COLOR_SETGID,
    COLOR_STICKY,
    COLOR_OTHER_WRITABLE,
    COLOR_STICKY_OTHER_WRITABLE,
    COLOR_CAP,
    COLOR_MULTIHARDLINK,
    COLOR_CLR_TO_EOL,
    COLOR_N,
};

struct ls_ext {
    struct ls_ext *next;
    struct str suffix, seq;
};

/* A directory that waits to be listed. */
struct ls_pending {
    struct ls_pending *next;
    char *path;
    bool operand;
    bool leave; /* not a directory: all below the one called `path` were listed */
};

struct ls_pattern {
    struct ls_pattern *next;
    const char *text;
};

struct ls_file {
    const char *name, *target; /* target of a symlink, or NULL */
    const char *absolute;      /* unused but for operands: the path to look at */
    struct vfs_stat *st;       /* NULL: no status */
    uint64_t ino;
    uint32_t type;        /* S_IF* */
    uint32_t target_mode; /* when target_ok */
    uint32_t width;       /* columns of the quoted name; UINT32_MAX not known */
    bool target_ok, operand_dir;
    bool target_read; /* the status of the target was asked for */
    int8_t quoted;    /* -1 not known */
};

/* Widths of the columns of a long listing. */
struct ls_widths {
    int ino, blocks, nlink, owner, group, author, major, minor, size;
};

struct ls {
    struct cmd *c;
    enum ls_format format;
    enum ls_sort sort;
    enum ls_time time;
    enum ls_indicator indicator;
    enum ls_ignore ignore;
    enum ls_deref deref;
    bool reverse, recursive, immediate, inode, blocks, numeric, no_group, no_owner, author, dirs_first, hide_control;
    bool color, zero, some_quoted, align_quotes, printed;
    bool need_stat, need_type;
    struct num_human human, size_human;
    struct quote_opts quote, dir_quote;
    const char *time_old, *time_recent; /* formats */
    size_t line, tab;                   /* columns of a line (0: no end), of a tab */
    int64_t now;                        /* nanoseconds */
    char eol;
    struct ls_pattern *ignored, *hidden;
    /* the listing at hand */
    struct ls_file *files;
    size_t n, cap;
    struct ls_widths w;
    struct ls_pending *pending;
    uint64_t *active; /* directories that lead to the one at hand, by inode and device */
    size_t n_active, cap_active;
    struct buf scratch;
    int status;
    /* colours */
    struct str seq[COLOR_N];
    struct ls_ext *exts;
    bool color_target, used_color;
};

/* Reads LS_COLORS; may switch l->color off. */
void ls__color_init(struct ls *l);
/* True when the kind has a colour that is one. */
bool ls__colored(const struct ls *l, enum ls_color k);
/* Begins the colour of a name (or of its link's target): false when it has none. */
bool ls__color_begin(struct ls *l, const struct ls_file *f, bool target);
/* The colour of plain text, at the start of an entry. */
void ls__color_plain(struct ls *l);
/* What follows a name that ls__color_begin() coloured. @from, @len: columns on the line. */
void ls__color_end(struct ls *l, size_t from, size_t len);

/* Quotes the name of @f into l->scratch; learns its width. */
struct str ls__quote(struct ls *l, struct ls_file *f);
/* Columns of bytes. */
size_t ls__columns(const struct ls *l, struct str s);
/* Widens l->w for @f. */
void ls__measure(struct ls *l, const struct ls_file *f);
/* Prints l->files. */
void ls__print(struct ls *l);
/* Prints @path as a header, quoted. */
void ls__print_header(struct ls *l, const char *path);
/* The time that is shown and sorted by. */
int64_t ls__time(const struct ls *l, const struct vfs_stat *st);

/* Lists operands (at least one) and all that follows from them. */
void ls__run(struct ls *l, int n, char **operands);
