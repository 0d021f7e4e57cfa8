/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * view - how the verbs about kept state read options and show things.
 *
 * Colours, relative times and widths are for a terminal only; what goes to a file or pipe is the same each time.
 * NO_COLOR takes the colours away.
 */

#include "base/buf.h"
#include "base/err.h"
#include "cas/store.h"

struct state;

/* How long a verb waits for a session: a process that has answered may still wait for the disk. */
#define CLI_LOCK_WAIT_MS 2000

/* ---- options ---- */

enum cli_opt_kind { CLI_OPT_FLAG, CLI_OPT_TEXT, CLI_OPT_COUNT };

struct cli_opt {
    const char *name;
    enum cli_opt_kind kind;
    void *to; /* bool, const char *, uint64_t (> 0) */
};

/* Reads options of @common and @own (each ended by a NULL name; @own may be NULL) and leaves optind (getopt(3)) behind
 * them: 0, or -EINVAL after a message. What stands behind the option that sets *help or *leave (may be NULL) is not
 * looked at. */
int cli_opts_parse(const char *verb, int argc, char **argv, const struct cli_opt *common, const struct cli_opt *own,
                   const bool *help, const char *const *leave);
/* What follows the options, of which there must be @min to @max (@what names them); not looked at when @r, the result
 * of the parse, is an error. @r; -EINVAL after a message. */
int cli_operands(const char *verb, int r, int argc, char **argv, int min, int max, const char *what, int *ret_argc,
                 char ***ret_argv);
/* An argument of --env: 0, or -EINVAL after a message. */
int cli_check_env(const char *kv);
/* An argument of --timeout: 0 with milliseconds (> 0), or -EINVAL after a message. */
int cli_take_timeout(const char *text, uint64_t *ret_ms);

/* What every such verb is given. */
struct cli_common {
    const char *state_dir;
    bool json;
    int argc; /* operands */
    char **argv;
};

/* Parses @opts (ended by a NULL name), --state, --server (then the program becomes the client), --json and --help. @min
 * to @max operands are demanded; @what names them. 0; 1 after --help; -EINVAL after a message. */
int cli_options_read(struct cli_common *c, const char *verb, int argc, char **argv, const struct cli_opt *opts, int min,
                     int max, const char *what);
/* Parses the options of a verb (argv[0]) without state and operands: --json and --help. 0; 1 after --help; -EINVAL
 * after a message. */
int cli_json_only(int argc, char **argv, bool *ret_json);
/* Calls the function of argv[1] among @subs (ended by a NULL name): its exit status. */
struct cli_sub {
    const char *name;
    int (*fn)(int argc, char **argv);
};
/* See struct cli_sub. */
int cli_sub_verb(const char *verb, const struct cli_sub *subs, int argc, char **argv);
/* The message of @err, and CLI_FAILED. */
int cli_fail(const struct err *err);
/* Opens the state directory, or says why not. NULL: failed. */
struct state *cli_state_open(const struct cli_common *c, bool create);

/* ---- messages ---- */

/* "frontal-sandbox: text" on standard error. */
void cli_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The text that it printed last, for those who read the result and not standard error; "" before the first. */
const char *cli_last_error(void);

/* ---- output ---- */

enum cli_style { CLI_PLAIN, CLI_BOLD, CLI_DIM, CLI_RED, CLI_GREEN, CLI_YELLOW, CLI_BLUE };

struct cli_view {
    bool terminal, colour;
    unsigned width; /* columns of the terminal; 0: as wide as it gets */
    int64_t now;
};
/* Looks at standard output. */
void cli_view_init(struct cli_view *v);
/* Appends @text in a style, padded with blanks to @columns (negative: on the left). */
void cli_put(const struct cli_view *v, struct buf *out, enum cli_style style, const char *text, int columns);
/* Columns that text takes on a terminal. */
unsigned cli_columns(struct str text);
/* Appends bytes of a guest so that they cannot act on a terminal: what is no printable UTF-8 is escaped, a newline is
 * ↵. At most @columns wide (0: no bound), then it ends in …. */
void cli_put_guest(struct buf *out, struct str text, unsigned columns);
/* Appends a path; one with bytes that would disturb a line or a terminal as $'…'. */
void cli_put_path(struct buf *out, struct str p);
/* "12 s ago" on a terminal, else "2026-01-02T03:04:05Z". */
void cli_put_time(const struct cli_view *v, struct buf *out, int64_t t);
/* "1.5 MiB". */
void cli_put_size(struct buf *out, uint64_t bytes);
/* "1 event", "2 events". */
void cli_put_count(struct buf *out, uint64_t n, const char *what);
/* "12 ms", "1.5 s", "3 min 4 s". */
void cli_put_duration(struct buf *out, uint64_t us);
/* "sha256:…" in full, or its first 12 digits on a terminal. */
void cli_put_hash(const struct cli_view *v, struct buf *out, const struct cas_id *id);
/* Prints and empties @out: 0, or -1 after a message when standard output fails. */
int cli_print(struct buf *out);

/* ---- progress ---- */

/* On standard error when it is a terminal and the work lasts longer than half a second. */
struct cli_progress {
    const char *what;
    int64_t begun, drawn;
    bool terminal;
};
/* Begins. */
void cli_progress_begin(struct cli_progress *p, const char *what);
/* @done of @all (0: nobody knows). */
void cli_progress_show(struct cli_progress *p, uint64_t done, uint64_t all);
/* Takes the line away. */
void cli_progress_end(struct cli_progress *p);
/* One side of outputs that differ: its lines, each behind @mark. */
void cli_put_side(struct buf *out, const char *mark, struct str text);
/* A word of a command as a person would type it, in quotes where a shell needs them. */
void cli_put_word(struct buf *out, struct str w);
