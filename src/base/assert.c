/* SPDX-License-Identifier: Apache-2.0 */
#include "base/assert.h"

#include <stdio.h>
#include <stdlib.h>

void assert_fail(const char *file, int line, const char *what)
{
    fprintf(stderr, "frontal-sandbox: %s:%d: broken: %s\n", file, line, what);
    abort();
}
