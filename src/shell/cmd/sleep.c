/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <errno.h>
#include <math.h>

#include "base/clock.h"
#include "shell/cmd/num.h"

static const struct cmd_opt opts[] = {{0}};

static int sleep_main(struct cmd *c)
{
    double total = 0, v;
    bool ok = true;
    if (cmd_getopt(c, opts, false) == -2)
        return cmd_usage_status(c);
    if (c->optind == c->argc)
        return cmd_missing(c);
    for (int i = c->optind; i < c->argc; i++) {
        if (cmd_interval(c->argv[i], &v)) {
            total += v;
        } else {
            cmd_err(c, "invalid time interval %s", cmd_quote_loc(c, c->argv[i]));
            ok = false;
        }
    }
    if (!ok) {
        cmd_try_help(c);
        return 1;
    }
    double ns = ceil(total * 1e9);
    int64_t now = proc_now(c->p->ps);
    int64_t until = ns >= (double)(INT64_MAX - now) ? INT64_MAX : now + (int64_t)ns;
    int r;
    do {
        r = proc_sleep(c->p, until);
    } while (r == -EINTR && !c->p->must_end);
    return 0;
}

CMD(sleep, sleep_main, 1, "Usage: sleep NUMBER[SUFFIX]...\n",
    "Waits for the sum of the times. SUFFIX is s (seconds, the default), m, h or d; NUMBER may have a fraction or be\n"
    "'infinity'.\n");
