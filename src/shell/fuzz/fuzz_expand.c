/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "shell/test/one_session.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* The input is the words of a command; what it runs is confined to a session that is thrown away. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct buf script BUF_AUTO, out BUF_AUTO;
    buf_init(&script, 1u << 20);
    buf_init(&out, 1u << 20);
    if (n > 4096)
        return 0;
    buf_addc(
        &script,
        "shopt -s extglob; x='a b' y=x z=; a=(1 '2 3' ''); declare -A m=([k]=7); declare -n r=x; set -- p 'q r' ''\n"
        "mkdir d; : > d/f; : > .h; printf '<%s>' ");
    buf_add(&script, data, n);
    (void)one_session_run(buf_str(&script), 1000, &out);
    return 0;
}
