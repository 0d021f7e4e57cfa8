/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* start - from argv and environment to a shell that is ready: options, variables, the script's text. */

#include "base/str.h"

struct shell;
struct shell_driver;
struct shell_start;
struct buf;

enum start_mode {
    START_END,   /* nothing to run: last_status is set */
    START_TEXT,  /* -c or a script */
    START_STDIN, /* commands from standard input */
};

/* Prepares @sh by @st. A script is read into @script; the text to run is *ret_text. */
enum start_mode start_prepare(struct shell *sh, const struct shell_start *st, struct buf *script, struct str *ret_text);
/* Only the variables: environment, PWD, SHLVL, PATH … */
void start_environment(struct shell *sh, const struct shell_start *st);
/* More of it: variables and functions from entries NAME=VALUE; the list may be NULL. */
void start_import(struct shell *sh, char **envp);
/* Reads a file of the tree: 0, -EISDIR, -EFBIG, or open(2)'s errors. */
int start_read_file(struct shell *sh, struct str path, struct buf *out);
/* A profile or rc file, if it is there. */
void start_source_if(struct shell *sh, struct str path);

/* ---- shells that take line after line (serve.c, terminal.c) ---- */

/* What an interactive shell does about signals: SIGINT ends a command, others are ignored. */
void shell__serve_signals(struct shell *sh);
/* Runs what the driver gives until it says 0 or the shell ends. */
void shell__serve_lines(struct shell *sh, const struct shell_driver *d);
/* The same with lines that are typed at the terminal of standard input, after prompts. */
void shell__terminal_run(struct shell *sh);
