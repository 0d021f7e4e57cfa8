/* SPDX-License-Identifier: Apache-2.0 */
#include "base/test/test.h"
#include "shell/test/shell_case.h"

TEST_LIMIT(expand_as_bash, 120)
{
    shell_case_check(TEST_CASES "/expand");
}
