/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

static int true_main(struct cmd *c)
{
    cmd_help_alone(c);
    return 0;
}

static int false_main(struct cmd *c)
{
    cmd_help_alone(c);
    return 1;
}

CMD_NAMED("true", true_, true_main, 1, "Usage: true [ignored command line arguments]\n",
          "Does nothing and succeeds.\n");
CMD_NAMED("false", false_, false_main, 1, "Usage: false [ignored command line arguments]\n",
          "Does nothing and fails.\n");
