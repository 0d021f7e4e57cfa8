/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* cas_test - a store in a directory of its own for a test. */

#include "cas/store.h"

struct cas_test {
    int dir;
    char path[64];
};

/* Makes the directory. */
struct cas_test cas_test_new(void);
/* Removes it. */
void cas_test_done(struct cas_test *t);
/* Removes the store, leaves the directory. */
void cas_test_wipe(struct cas_test *t);
/* Opens the store; fails the test when that fails. */
struct cas *cas_test_open(struct cas_test *t, int flags);
/* Whether cas_get() gives exactly this. */
bool cas_test_holds(struct cas *c, const struct cas_id *id, struct str want);
/* How many files of the packs have names that end so. */
int cas_test_files(struct cas_test *t, const char *end);
/* Checks the store: how many damages were reported, or a negative error. */
int cas_test_fsck(struct cas *c);
