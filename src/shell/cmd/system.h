/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* system - what the tree says about the machine: the texts under /proc/sys/kernel. */

struct cmd;

/* The first line of /proc/sys/kernel/@name, in c->arena; NULL when it is not there. */
const char *system_text(struct cmd *c, const char *name);

/* The host name: of the kernel, else of /etc/hostname, else "localhost". */
const char *system_hostname(struct cmd *c);
