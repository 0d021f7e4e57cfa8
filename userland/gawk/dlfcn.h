/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* dlopen of gawk: its own extensions, which are linked into the program (extensions.c). */

#define RTLD_LAZY 1

/* The extension whose file is named by @path (NAME.so), or NULL. */
void *dlopen(const char *path, int flags);
/* "dl_load" or "plugin_is_GPL_compatible" of it, or NULL. */
void *dlsym(void *extension, const char *symbol);
/* Why dlopen() gave NULL. */
char *dlerror(void);
