/* SPDX-License-Identifier: Apache-2.0 */
#include "base/test/test.h"
#include "shell/test/shell_case.h"

/* alias unalias let caller enable : true false compgen complete history help. */
TEST_LIMIT(builtins_as_bash, 120)
{
    shell_case_check(TEST_CASES "/builtin3");
}
