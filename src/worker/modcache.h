/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * modcache - precompiled modules of the user's own, kept in a directory of the host, for every session of this user.
 *
 * A file holds machine code that workers map and run, and nobody can look into it and say that it is good. So what
 * counts is who could have written it: directory and file must be ours alone, else they are as if they were not there.
 * A file ends with the SHA-256 of its name and content, so that one that is damaged, cut off or renamed is none, too.
 *
 * Files are made under another name and renamed, and never changed. When there are more than LIMIT_MODULE_CACHE bytes,
 * those that were not asked for for longest go; who has one mapped keeps it.
 *
 * Threads: none shared; several processes may use one directory at once.
 */

#include "base/str.h"

#define MODCACHE_NAME 65 /* bytes of a name: 64 hexadecimal digits and a NUL */

/* ${XDG_CACHE_HOME:-~/.cache}/frontal-sandbox/modules, made if need be: a descriptor, or a negative errno (-EPERM:
 * others may write there). */
int modcache_open(void);

/* A descriptor of the file, for reading, or a negative errno: -ENOENT, -EBADMSG (there was one, and it is removed). */
int modcache_get(int dir, const char name[MODCACHE_NAME]);

/* Puts what is in @fd (borrowed) there: a descriptor of the new file, for reading, or a negative errno. */
int modcache_put(int dir, const char name[MODCACHE_NAME], int fd);
