/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Any bytes behind the word that begins a state: refused, or a shell begins with them and has a state that is valid.
 * That state, begun with again, is the same to the byte.
 */

#include <stdint.h>
#include <stdio.h>

#include "base/assert.h"
#include "shell/shell.h"
#include "shell/state_int.h"
#include "shell/test/kept_world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void begin(struct str state, struct buf *out, struct buf *saved)
{
    int r;
    struct kept_world *w = kept_world_new();
    struct outcome o = kept_world_run(w, &(struct kept_run){.idle = true, .state = state}, out, saved, &r);
    ASSERT(o.kind == OUTCOME_EXITED && r == 0);
    kept_world_free(w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf in BUF_AUTO, out BUF_AUTO, first BUF_AUTO, second BUF_AUTO;
    buf_init(&in, 1 << 20);
    buf_init(&out, 1 << 20);
    buf_init(&first, LIMIT_SHELL_STATE);
    buf_init(&second, LIMIT_SHELL_STATE);
    buf_addc(&in, STATE_MAGIC);
    if (buf_add(&in, data, size) < 0 || shell_state_check(buf_str(&in)) < 0)
        return 0;
    begin(buf_str(&in), &out, &first);
    if (out.n)
        fprintf(stderr, "%.*s\n", (int)out.n, out.p);
    ASSERT(out.n == 0 && shell_state_check(buf_str(&first)) == 0);
    begin(buf_str(&first), &out, &second);
    ASSERT(str_eq(buf_str(&second), buf_str(&first)));
    return 0;
}
