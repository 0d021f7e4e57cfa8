/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* opendirat() of wasi-libc clashes with gnulib's own of the same name: theirs gets another name, as nobody calls it. */
#define opendirat wasilibc_opendirat
#include_next <dirent.h>
#undef opendirat
#define opendirat gnulib_opendirat

/* WASI counts pipes among its stream sockets; sockets there are none. */
#ifndef DT_SOCK
#define DT_SOCK 249
#endif
#undef DT_WHT
#define DT_WHT 14

#ifdef __cplusplus
extern "C" {
#endif
int alphasort(const struct dirent **a, const struct dirent **b);
int scandir(const char *path, struct dirent ***ret, int (*keep)(const struct dirent *),
            int (*compare)(const struct dirent **, const struct dirent **));
#ifdef __cplusplus
}
#endif
