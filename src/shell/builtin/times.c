/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/shell_int.h"

#include "base/clock.h"

/* All time of the sandbox's own code is user time: the kernel's share cannot be told apart for one process of the
 * session. */
static void print_times(struct shell *sh, int64_t ns)
{
    int64_t ms = ns / CLOCK_MS;
    sh_printf(sh, "%lldm%lld.%03llds 0m0.000s\n", (long long)(ms / 60000), (long long)(ms / 1000 % 60),
              (long long)(ms % 1000));
}

static int builtin_times(struct shell *sh, struct builtin_args *a)
{
    (void)a;
    int64_t self, children;
    proc_times(sh->p, &self, &children);
    print_times(sh, self);
    print_times(sh, children);
    return 0;
}

BUILTIN(times, "times", builtin_times, BUILTIN_SPECIAL, "times",
        "    Print the user and system time that the shell and its children have used.\n"
        "\n"
        "    System time is part of the user time here. The status is always 0.\n");
