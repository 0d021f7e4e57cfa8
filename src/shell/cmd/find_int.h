/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * find_int - what the files of find share.
 *
 *   find.c         leading options, start points, the end
 *   find_walk.c    goes over the tree, knows the current entry
 *   find_parse.c   the expression: words to items, items to a program
 *   find_arg.c     options, and the table of primaries
 *   find_match.c   name, path, regex tests
 *   find_test.c    the other tests
 *   find_time.c    tests of times
 *   find_out.c     where output goes, -print, -ls
 *   find_printf.c  -printf
 *   find_exec.c    -exec and its kin, -delete
 *
 * An expression becomes an array of tests, each with the test that follows when it is true and when it is false:
 * evaluating needs no stack, however long or nested the expression was.
 *
 * The names of a directory are read at once when it is entered, so that what a command makes in it while it is walked
 * is not found, as in the real tool. They come in byte order. What a test wants to know is asked for when it asks: the
 * type is known from the directory, the status is read for tests that need it. The inode from the listing is used as
 * long as nothing in the tree changed, else the name is looked up again.
 */

#include "regex/regex.h"
#include "shell/cmd/cmd.h"
#include "vfs/vfs.h"

struct find;
struct find_test;
struct pattern;

/* What must be known before a test can run; when it cannot be had the test is false. */
enum find_need { NEED_NAME, NEED_TYPE, NEED_STAT };

enum find_cmp { CMP_EQ, CMP_MORE, CMP_LESS };

enum find_clock { CLOCK_A, CLOCK_B, CLOCK_C, CLOCK_M };

struct find_time {
    int64_t s;
    int32_t ns; /* 0 … 999999999 */
};

/* A place other than standard output where output goes: standard error, or a file of -fprint. */
struct find_sink {
    struct find_sink *next;
    const char *name;
    int fd;
    uint64_t dev, ino;
    bool tty, failed;
    struct buf b;
};

/* A regex, so that it is freed. */
struct find_regex {
    struct find_regex *next;
    struct regex *re;
};

/* A pattern for bytes and one for UTF-8; which one fits depends on the text. */
struct find_glob {
    struct str text;
    int flags;
    struct pattern *bytes, *utf8;
};

/* A command of -exec. */
struct find_exec {
    struct find_exec *next;
    char **argv; /* as given, less the "{}" of the + form */
    int argc;
    bool plus, dir, ask;
    /* the + form: */
    size_t fixed;    /* bytes of argv, NULs counted */
    struct buf args; /* what waits, a NUL after each */
    int n_args;
    uint64_t cwd; /* where it runs, with `dir` */
};

/* What stands between '%' and the letter. */
struct find_field {
    bool minus, plus, space, zero, alt, dot;
    int width, prec; /* prec counts when dot */
};

/* A piece of a -printf format. */
struct find_seg {
    struct find_seg *next;
    char kind; /* the directive's letter; 0: text */
    char aux;  /* of %A %B %C %T */
    struct str text;
    struct find_field field;
};

struct find_test {
    bool (*fn)(struct find *f, const struct find_test *t);
    int need;        /* enum find_need */
    int32_t yes, no; /* the next test; -1: the end */
    union {
        struct {
            uint64_t n, unit;
            int cmp; /* enum find_cmp */
        } num;
        struct {
            struct find_time at;
            int cmp, window, clock;
        } time;
        struct {
            uint32_t file, dir;
            char kind; /* '-', '/' or 0 */
        } perm;
        struct {
            uint64_t dev, ino;
        } same;
        struct {
            struct find_sink *sink; /* NULL: standard output */
            struct find_seg *segs;
        } out;
        const struct find_glob *glob;
        struct regex *regex;
        struct find_exec *exec;
        uint32_t id, types;
        int access;
    };
};

/* A directory that is being read. */
struct find_level {
    uint64_t ino, dev, gen;
    size_t path_n;   /* length of its path, without the '/' that follows */
    size_t from, at; /* its entries in f->names: the first, the next */
    int8_t search;   /* whether names can be looked up in it: 0 not known, 1, or -1 */
    /* the entry that it is, for after its entries */
    size_t name_at;
    uint64_t parent;
    struct vfs_stat st;
    bool have_stat;
};

struct find {
    struct cmd *c;
    struct vfs *v;
    /* global options */
    bool follow, follow_args, one_fs, post, post_given, warn, posix, ignore_race, days;
    bool deletes, prunes, any_stat;
    unsigned depth_min, depth_max;
    struct find_time start, day; /* day: what -mtime counts from */
    unsigned dialect;            /* of -regex: flags of regex_compile() */
    /* the expression */
    struct find_test *tests;
    int32_t n_tests, first;
    struct find_sink *sinks;
    struct find_exec *execs;
    struct find_regex *regexes;
    bool any_dir_batch;
    size_t batch_bytes; /* of a command line; 0: not known yet */
    int status;
    bool stop, fatal; /* stop: -quit, something fatal, or the process must end */
    bool shown;       /* -help, -version */
    /* the current entry */
    struct buf path;
    size_t start_n;  /* bytes of the start point */
    size_t name_at;  /* of its name in path; start points are named by the whole path */
    uint64_t parent; /* directory that holds the name; 0: the cwd and the whole path */
    uint64_t ino;
    uint32_t type; /* S_IF*; 0: not known */
    unsigned depth;
    bool have_stat, prune;
    int err; /* why there is no status; told already */
    struct vfs_stat st;
    /* the walk */
    struct find_level *levels;
    size_t n_levels, cap_levels;
    struct buf names;
    uint64_t root_dev;
    unsigned last_level;
    /* -ls: columns grow */
    int w_ino, w_blocks, w_nlink, w_owner, w_group, w_size, w_major, w_minor;
};

/* ---- the walk ---- */

/* Makes the buffers. */
void find__walk_start(struct find *f);
/* Goes over @path and all below it. */
void find__walk(struct find *f, const char *path);
/* Frees what walking took. */
void find__walk_done(struct find *f);
/* Status of the current entry into f->st, links followed as -L and -H say. False after a message. */
bool find__stat(struct find *f);
/* Status through a link or (when not @follow) of the link; a link that leads nowhere is itself. 0 or -errno. */
int find__stat_as(struct find *f, bool follow, struct vfs_stat *ret);
/* The same for a file that an argument names; links are followed with -L and -H. */
int find__stat_arg(struct find *f, const char *name, struct vfs_stat *ret);
/* Whether links are followed for the current entry. */
static inline bool find__follows(const struct find *f)
{
    return f->follow || (f->follow_args && f->depth == 0);
}
/* How vfs calls name the current entry: (f->parent, this). */
static inline struct str find__ref(const struct find *f)
{
    return f->parent ? str_from(buf_str(&f->path), f->name_at) : buf_str(&f->path);
}
/* The last component: trailing slashes left out, "/" for the root. */
struct str find__base(const struct find *f);
/* "find: ‘PATH’: strerror" of the current entry, and status 1. */
void find__error(struct find *f, int err);

/* ---- the expression ---- */

/* Words argv[i…] become f->tests; false when there was a message, and f->status is set. */
bool find__parse(struct find *f, int i);
/* Runs the expression on the current entry. */
void find__eval(struct find *f);

struct find_parse {
    struct find *f;
    char **argv;
    int argc, i;            /* i: the next word */
    const char *name;       /* the primary that is parsed, as given */
    const char *first_test; /* first word that is no option, or NULL */
    struct find_test *t;    /* what it becomes */
};

enum find_kind { FIND_OPTION, FIND_POSITION, FIND_TEST, FIND_ACTION, FIND_REFUSED, FIND_HELP };

typedef bool find_arg_fn(struct find_parse *ps, const char *arg);
typedef bool find_test_fn(struct find *f, const struct find_test *t);

struct find_primary {
    const char *name;
    enum find_kind kind;
    bool arg;           /* takes one */
    bool none;          /* becomes no test */
    find_arg_fn *parse; /* may be NULL; false: failed, f->status is set or the argument is not valid */
    find_test_fn *fn;
    int need;
};

/* The primary called @name (less its '-'), or NULL. */
const struct find_primary *find__primary(const char *name);

/* A failed parse whose message is out. */
bool find__fail(struct find *f, int status);
/* Prints and is find__fail(f, 1). */
bool find__bad(struct find *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* What primaries do with their arguments: `parse` of struct find_primary. */
find_arg_fn find__arg_name, find__arg_iname, find__arg_path, find__arg_ipath, find__arg_lname, find__arg_ilname;
/* See above. */
find_arg_fn find__arg_regex, find__arg_iregex, find__arg_regextype;
/* See above. */
find_arg_fn find__arg_minutes, find__arg_days, find__arg_daystart, find__arg_newer, find__newer_xy;
/* See above. */
find_arg_fn find__arg_type, find__arg_size, find__arg_num, find__arg_perm, find__arg_user, find__arg_group;
/* See above. */
find_arg_fn find__arg_same, find__arg_access, find__arg_file, find__arg_printf, find__arg_fprintf, find__arg_exec;
/* See above. */
find_arg_fn find__arg_delete;

/* What they do with an entry: `fn` of struct find_test. */
find_test_fn find__t_name, find__t_path, find__t_lname, find__t_regex, find__t_type, find__t_xtype, find__t_size;
/* See above. */
find_test_fn find__t_links, find__t_inum, find__t_uid, find__t_gid, find__t_user, find__t_group, find__t_nouser;
/* See above. */
find_test_fn find__t_nogroup, find__t_perm, find__t_same, find__t_empty, find__t_access, find__t_true, find__t_false;
/* See above. */
find_test_fn find__t_prune, find__t_quit, find__t_time, find__t_newer, find__t_print, find__t_print0, find__t_printf;
/* See above. */
find_test_fn find__t_ls, find__t_exec, find__t_delete;

/* Frees. */
void find__regexes_done(struct find *f);

/* ---- numbers and times ---- */

/* A number with '+' or '-' in front: false when it is none. */
bool find__number(const char *arg, uint64_t *ret, int *ret_cmp);
/* Nanoseconds since 1970 as seconds and a rest. */
struct find_time find__time_of(int64_t ns);
/* One of the four times of a status; false, and *ret untouched, when it is not known. */
bool find__clock(const struct vfs_stat *st, int clock, struct find_time *ret);

/* ---- output ---- */

/* Bytes to @sink, or standard output when NULL. */
void find__write(struct find *f, struct find_sink *sink, const void *p, size_t n);
/* A name: on a terminal, what does not print becomes '?'. */
void find__write_name(struct find *f, struct find_sink *sink, struct str s);
/* The file @name, opened for -fprint and its kin: false after a message. */
bool find__sink(struct find *f, const char *name, struct find_sink **ret);
/* Writes what waits in all sinks, and frees them. */
void find__sinks_done(struct find *f);

/* ---- commands ---- */

/* Runs what waits for -execdir … +; and, when @all, for -exec … + too. */
void find__run_pending(struct find *f, bool all);
/* Frees. */
void find__execs_done(struct find *f);
