/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Children of git without fork. run-command.c calls these in the places where it forked; recipes/git has the edits.
 *
 * A command is spawned, which is what a fork that execs comes to. An "async" of git is a fork that goes on in git's own
 * code, with its memory; of the five, four only move bytes between descriptors, and one feeds a filter:
 *
 *   demultiplexers (fetch-pack, send-pack)   a child `git frontal-async demux NAME`: reads descriptor 0, writes 1
 *   multiplexers (receive-pack)              a child `git frontal-async mux`: the same way round
 *   the filter of convert.c                  runs at once and to its end, its output in a file without a name. It has
 *                                            all of its input already, so nothing can wait for anything.
 *
 * Which one it is stands in async.frontal, which the edits add.
 */
struct async;
struct child_process;

/*
 * Runs @argv ([0] is the shell, for a file that is neither a module nor has a `#!` line) with @env: pid, or -1 with
 * errno. @pipes are its standard input, output and error as in start_command(): -1 where the parent's is kept. With
 * ret_cd_failed true the error is that of changing to cmd->dir.
 */
int frontal_spawn(const struct child_process *cmd, const char *const *argv, char **env, const int pipes[3],
                  int *ret_cd_failed);

enum { FRONTAL_ASYNC_FAILED = 0 };

/* 0 when it cannot be begun (said already), a pid, or, when it has run to its end, -1 for success and -2 for failure. */
int frontal_start_async(struct async *async, int proc_in, int *fdout);

int cmd_frontal_async(int argc, const char **argv, const char *prefix);
int cmd_sh_i18n__envsubst(int argc, const char **argv, const char *prefix);
