/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* tap - "ok N - what" lines. A program works in a directory of its own below /tmp and ends with done_testing(). */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int tap_n, tap_failed;

__attribute__((format(printf, 2, 3), unused)) static int ok(int good, const char *format, ...)
{
    int saved = errno;
    va_list ap;

    printf("%s %d - ", good ? "ok" : "not ok", ++tap_n);
    va_start(ap, format);
    vprintf(format, ap);
    va_end(ap);
    if (!good)
        printf(" # errno %d, %s", saved, strerror(saved));
    putchar('\n');
    fflush(stdout);
    tap_failed += !good;
    return good;
}

/* The call failed with this errno. */
#define fails(call, err) ok((errno = 0, (call)) == -1 && errno == (err), "%s fails with %s", #call, #err)
#define works(call) ok((errno = 0, (call)) == 0, "%s", #call)

__attribute__((unused)) static void own_directory(void)
{
    static char name[] = "/tmp/compat-XXXXXX";

    if (mkdtemp(name) == NULL || chdir(name) < 0) {
        printf("Bail out! no directory of our own: %s\n", strerror(errno));
        exit(1);
    }
}

__attribute__((unused)) static int done_testing(void)
{
    printf("1..%d\n", tap_n);
    return tap_failed != 0;
}
