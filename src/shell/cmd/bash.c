/* SPDX-License-Identifier: Apache-2.0 */

/* bash and sh as programs: a shell of its own, with its own state, in the process that was started for it. */

#include "engine/engine.h"
#include "shell/cmd/cmd.h"
#include "shell/engine_builtin_int.h"
#include "shell/shell.h"

static int run_shell(struct cmd *c, bool posix)
{
    struct shell_start st = {
        .world = engine_builtin_world(c->p->ps),
        .argc = c->argc,
        .argv = c->argv,
        .envp = cmd_environ(c),
        .posix = posix,
    };
    return outcome_status(shell_main(c->p, &st));
}

static int cmd_bash(struct cmd *c)
{
    return run_shell(c, false);
}

static int cmd_sh(struct cmd *c)
{
    return run_shell(c, true);
}

CMD(bash, cmd_bash, 2, "", "");
CMD(sh, cmd_sh, 2, "", "");
