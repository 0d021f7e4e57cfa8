/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* block - a NULL-terminated array of strings as the host wants it: the strings one after another, each ended by NUL. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct block {
    char *text;
    size_t n;
};

/* 0, or -1 with errno. @v may be NULL: no strings. */
static inline int block_init(struct block *b, char *const v[])
{
    char *at;

    b->n = 0;
    for (size_t i = 0; v != NULL && v[i] != NULL; i++)
        b->n += strlen(v[i]) + 1;
    b->text = at = malloc(b->n + 1);
    if (at == NULL) {
        errno = ENOMEM;
        return -1;
    }
    for (size_t i = 0; v != NULL && v[i] != NULL; i++)
        at = stpcpy(at, v[i]) + 1;
    return 0;
}

static inline void block_done(struct block *b)
{
    free(b->text);
}
