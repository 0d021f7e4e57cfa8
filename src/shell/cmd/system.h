/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* system - what the tree says about the machine: texts of /proc and /etc. */

#include <stddef.h>

struct cmd;

/* A whole file of a few KiB (at most 64, the rest is left out), ended by NUL, in c->arena; NULL when it cannot be read.
 */
const char *system_file(struct cmd *c, const char *path, size_t *ret_n);

/* The first line of /proc/sys/kernel/@name, in c->arena; NULL when it is not there. */
const char *system_text(struct cmd *c, const char *name);

/* The host name: of the kernel, else of /etc/hostname, else "localhost". */
const char *system_hostname(struct cmd *c);
