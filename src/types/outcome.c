/* SPDX-License-Identifier: Apache-2.0 */
#include "types/outcome.h"

int outcome_status(struct outcome o)
{
    switch (o.kind) {
    case OUTCOME_EXITED:
        return o.code;
    case OUTCOME_KILLED:
        if (o.reason == REASON_TIMEOUT)
            return 124;
        /* Signals end at 64; 128 + 9 is what a shell shows for a process that a limit killed. */
        return 128 + (o.signal ? o.signal & 127 : 9);
    case OUTCOME_LOST:
        return 125;
    }
    return 125;
}

const char *outcome_kind_name(enum outcome_kind k)
{
    switch (k) {
    case OUTCOME_EXITED:
        return "exited";
    case OUTCOME_KILLED:
        return "killed";
    case OUTCOME_LOST:
        return "lost";
    }
    return "lost";
}

const char *outcome_reason_name(enum outcome_reason r)
{
    switch (r) {
    case REASON_NONE:
        return "";
    case REASON_SIGNAL:
        return "signal";
    case REASON_TIMEOUT:
        return "timeout";
    case REASON_CPU:
        return "cpu";
    case REASON_MEMORY:
        return "memory";
    case REASON_OUTPUT:
        return "output";
    case REASON_FILES:
        return "files";
    case REASON_INODES:
        return "inodes";
    case REASON_PROCESSES:
        return "processes";
    case REASON_CRASH:
        return "crash";
    }
    return "";
}
