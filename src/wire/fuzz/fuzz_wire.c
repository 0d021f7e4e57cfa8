/* SPDX-License-Identifier: Apache-2.0 */

/* The first byte picks a message type, the rest is a body. What decodes must encode to the same bytes (invariant 1). */

#include <stdint.h>

#include "base/assert.h"
#include "wire/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TRY(name, get, put)                                                                                            \
    do {                                                                                                               \
        struct wire_##name m;                                                                                          \
        if ((get) == 0)                                                                                                \
            (put);                                                                                                     \
        else                                                                                                           \
            decoded = false;                                                                                           \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct str body = str_of((const char *)data + 1, size - 1);
    ARENA_AUTO struct arena a = {0};
    BUF_AUTO struct buf out;
    buf_init(&out, WIRE_BODY_MAX);
    bool decoded = true;
    switch (data[0] % 13) {
    case 0:
        TRY(ready, wire_get_ready(body, &m), wire_put_ready(&out, &m));
        break;
    case 1:
        TRY(create, wire_get_create(body, &a, &m), wire_put_create(&out, &m));
        break;
    case 2:
        TRY(exec, wire_get_exec(body, &a, &m), wire_put_exec(&out, &m));
        break;
    case 3:
        TRY(output, wire_get_output(body, &m), wire_put_output(&out, &m));
        break;
    case 4:
        TRY(result, wire_get_result(body, &m), wire_put_result(&out, &m));
        break;
    case 5:
        TRY(query, wire_get_query(body, &m), wire_put_query(&out, &m));
        break;
    case 6:
        TRY(answer, wire_get_answer(body, &m), wire_put_answer(&out, &m));
        break;
    case 7:
        for (struct str rest = body; decoded && rest.n;)
            TRY(fs, wire_get_fs(&rest, &m), wire_put_fs(&out, &m));
        break;
    case 8:
        TRY(reply, wire_get_reply(body, &m), wire_put_reply(&out, &m));
        break;
    case 9:
        TRY(diff, wire_get_diff(body, &m), wire_put_diff(&out, &m));
        break;
    case 10:
        TRY(compile, wire_get_compile(body, &m), wire_put_compile(&out, &m));
        break;
    case 11:
        TRY(compiled, wire_get_compiled(body, &m), wire_put_compiled(&out, &m));
        break;
    default:
        TRY(change, wire_get_change(body, &m), wire_put_change(&out, &m));
        break;
    }
    if (decoded)
        ASSERT(str_eq(buf_str(&out), body));
    return 0;
}
