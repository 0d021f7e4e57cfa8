/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * users - the tree's /etc/passwd and /etc/group, read once a command. cmd.h has the common look-ups; these are what
 * id and whoami need beyond them.
 */

#include "base/str.h"

struct cmd;

struct user_entry {
    const char *name;
    uint32_t id, gid;   /* uid and primary gid of a user; of a group both are the gid */
    struct str members; /* of a group: "a,b,c" */
};

/* The table of users or (when @groups) groups, in the file's order; in c->keep. */
const struct user_entry *users_table(struct cmd *c, bool groups, size_t *ret_n);

/* Groups of the user @name as getgrouplist(3) gives them, @gid first: at most @cap into @out, returns how many. */
size_t users_group_list(struct cmd *c, const char *name, uint32_t gid, uint32_t *out, size_t cap);
