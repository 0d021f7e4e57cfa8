/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include_next <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif
int mkstemp(char *template_);
int mkostemp(char *template_, int flags);
int mkstemps(char *template_, int suffix_n);
int mkostemps(char *template_, int suffix_n, int flags);
char *mkdtemp(char *template_);
char *mktemp(char *template_);
int system(const char *command);
char *realpath(const char *path, char *buf);
const char *getprogname(void);
void setprogname(const char *name);
int getloadavg(double *avg, int n);
#ifdef __cplusplus
}
#endif
