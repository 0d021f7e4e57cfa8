/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* wasi-libc marks two of these as deprecated, "not defined on WASI". Here they are. */
#define tmpnam wasilibc_tmpnam
#define tmpfile wasilibc_tmpfile
#include_next <stdio.h>
#undef tmpnam
#undef tmpfile

#define L_tmpnam 20
#define L_ctermid 20
#define P_tmpdir "/tmp"

#ifdef __cplusplus
extern "C" {
#endif
FILE *popen(const char *command, const char *mode);
int pclose(FILE *f);
FILE *tmpfile(void);
char *tmpnam(char *buf);
char *tempnam(const char *dir, const char *prefix);
char *ctermid(char *buf);
void flockfile(FILE *f);
int ftrylockfile(FILE *f);
void funlockfile(FILE *f);
#ifdef __cplusplus
}
#endif
