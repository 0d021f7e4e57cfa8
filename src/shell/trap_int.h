/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* trap - what exec, the trap and kill builtins and job messages share of traps and signal names. */

#include <stdbool.h>
#include <stdint.h>

struct shell;
struct traps;
struct node;

/* Counting of the table. Accept NULL. */
struct traps *traps_ref(struct traps *t);
/* See traps_ref(). */
void traps_unref(struct traps *t);
/* The action of @sig as it applies now: NULL default, "" ignored. */
const char *trap_get(const struct shell *sh, int sig);
/* The action that `trap -p` lists: in a subshell its parent's until one is set. */
const char *trap_listed(const struct shell *sh, int sig);
/* A function call (or, with @source, a sourced file) begins: DEBUG, RETURN and ERR traps that do not reach it are
 * hidden. What leave wants back. */
uint32_t trap_enter_function(struct shell *sh, bool traced, bool source);
/* See trap_enter_function(). */
void trap_leave_function(struct shell *sh, uint32_t before);
/* A child ended: the CHLD trap, if there is one, is due once more. */
void trap_child(struct shell *sh);
/* Runs the DEBUG trap before @n; with extdebug its status: not 0 skips the command, 2 returns from the function. */
int trap_run_debug(struct shell *sh, const struct node *n);
/* Ends the shell with last_status (flow EXIT), its EXIT trap run first. Once only. */
void trap_exit(struct shell *sh);
/* Whether a signal has come that ends the shell, and only its EXIT trap is still to run. */
bool trap_ending(const struct shell *sh);
/* Whether this shell itself has set a trap that is not just ignoring: then its last command must not take the process
 * over. */
bool trap_any(const struct shell *sh);
/* "Terminated", as shells describe a signal. */
const char *trap_signal_text(int sig);
