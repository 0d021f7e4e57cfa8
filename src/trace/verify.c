/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "trace/trace_int.h"

int trace_verify(struct trace *t, struct trace_report *ret)
{
    struct trace_pos pos;
    struct trace_event e;
    struct err err = {0};
    int r;
    trace_begin(&pos);
    do
        r = trace_next(t, &pos, &e, &err);
    while (r == 1);
    *ret = (struct trace_report){.events = pos.seq, .bytes = pos.offset, .head = pos.chain, .bad_offset = pos.offset};
    memcpy(ret->what, err.text, sizeof(ret->what));
    int64_t torn = r == -EBADMSG ? trace_torn(t, &pos, &ret->hole) : 0;
    trace_pos_done(&pos);
    if (torn < 0)
        return (int)torn;
    ret->torn = (uint64_t)torn;
    return r;
}
