/* SPDX-License-Identifier: Apache-2.0 */

/* The first byte is a type, the rest a body. What decodes must encode to the same bytes (invariant 3). */

#include "base/assert.h"
#include "trace/trace.h"

/* The target (its name is libFuzzer's). */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int look(void *arg, const struct cas_id *id, const char *what)
{
    size_t *n = arg;
    *n += id->b[0] + strlen(what);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct str body = str_of((const char *)data + 1, size - 1);
    struct trace_event e;
    if (trace_decode((enum trace_type)(data[0] % (TRACE_TYPES + 1)), 1, body, &e))
        return 0;
    BUF_AUTO struct buf out;
    buf_init(&out, SIZE_MAX / 2);
    trace_encode(&out, &e);
    ASSERT(out.err == 0 && str_eq(buf_str(&out), body));
    size_t n = 0;
    trace_blobs(&e, look, &n);
    return 0;
}
