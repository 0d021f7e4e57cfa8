/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/engine_builtin_int.h"

#include <errno.h>

#include "engine/engine.h"
#include "proc/proc.h"
#include "shell/cmd/cmd.h"

const struct cmd_def *engine_builtin_command(struct str head)
{
    if (!str_starts(head, STR(PROC_COMMAND_MAGIC)))
        return NULL;
    struct str name = str_from(head, sizeof(PROC_COMMAND_MAGIC) - 1);
    ptrdiff_t nl = str_find(name, '\n', 0);
    return nl < 0 ? NULL : cmd_find(str_of(name.p, (size_t)nl));
}

static int claims(void *engine, const struct exec_image *img)
{
    (void)engine;
    if (!str_starts(img->head, STR(PROC_COMMAND_MAGIC)))
        return 0;
    return engine_builtin_command(img->head) ? 1 : -ENOEXEC;
}

static int run(void *engine, struct proc *p, const struct exec_image *img, struct outcome *ret)
{
    (void)engine;
    const struct cmd_def *def = engine_builtin_command(img->head);
    if (!def)
        return -ENOEXEC;
    return cmd_run(def, p, img, ret);
}

const struct engine_ops engine_builtin = {.name = "builtin", .tier = "isolate", .claims = claims, .run = run};

struct shell_world *engine_builtin_world(struct proc_set *ps)
{
    return proc_engine(ps, &engine_builtin);
}
