/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/shell_int.h"

static int builtin_true(struct shell *sh, struct builtin_args *a)
{
    (void)sh;
    (void)a;
    return 0;
}

static int builtin_false(struct shell *sh, struct builtin_args *a)
{
    (void)sh;
    (void)a;
    return 1;
}

BUILTIN(colon, ":", builtin_true, BUILTIN_SPECIAL, ":",
        "    Do nothing.\n"
        "\n"
        "    Its words are expanded and its redirections are made. The status is 0.\n");
BUILTIN(true_, "true", builtin_true, BUILTIN_POSIX, "true",
        "    Do nothing, successfully.\n"
        "\n"
        "    The status is 0.\n");
BUILTIN(false_, "false", builtin_false, BUILTIN_POSIX, "false",
        "    Do nothing, unsuccessfully.\n"
        "\n"
        "    The status is 1.\n");
