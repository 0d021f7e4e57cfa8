/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The "builtin" engine: runs the C commands of cmd/. It claims a file of the tree that begins with PROC_COMMAND_MAGIC
 * and the name of a command; its object is the shell_world, so that `bash` and `sh`, which are commands too, find the
 * session's shells.
 */

#include "base/str.h"

struct cmd_def;
struct engine_ops;
struct proc_set;
struct shell_world;

extern const struct engine_ops engine_builtin;

/* The command that a file beginning with @head stands for, or NULL. */
const struct cmd_def *engine_builtin_command(struct str head);

/* The world whose engine is registered in @ps. */
struct shell_world *engine_builtin_world(struct proc_set *ps);
