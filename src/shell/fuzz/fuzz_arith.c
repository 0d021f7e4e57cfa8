/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "shell/expand_int.h"
#include "shell/test/one_session.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* The input is an expression, given to let with some variables of each kind at hand. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct buf script BUF_AUTO, out BUF_AUTO;
    buf_init(&script, 1u << 20);
    buf_init(&out, 1u << 20);
    if (n > 4096 || memchr(data, 0, n))
        return 0;
    buf_addc(&script, "x=5 y=x z=1+ w=w; a=(1 2 3); declare -A m=([k]=7); declare -n r=x; declare -i i=1\nlet ");
    quote_single(&script, str_of((const char *)data, n));
    buf_addc(&script, "\necho $? $x ${a[@]}\n");
    (void)one_session_run(buf_str(&script), 1000, &out);
    return 0;
}
