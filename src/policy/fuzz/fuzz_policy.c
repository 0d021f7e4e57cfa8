/* SPDX-License-Identifier: Apache-2.0 */

/* A policy's text, a NUL, a question. What is read must read again from its canonical text; what explain says to be
 * allowed needs no change, and what is not has one. */

#include <stdint.h>

#include "base/assert.h"
#include "base/buf.h"
#include "policy/policy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str all = str_of((const char *)data, size);
    ptrdiff_t nul = str_find(all, 0, 0);
    struct str text = nul < 0 ? all : str_of(all.p, (size_t)nul),
               ask = nul < 0 ? STR("") : str_from(all, (size_t)nul + 1);
    struct policy p, q;
    BUF_AUTO struct buf one, two;
    buf_init(&one, 64u << 20);
    buf_init(&two, 64u << 20);
    policy_init(&p);
    policy_init(&q);
    bool read = policy_parse(&p, text, NULL) == 0;
    policy_format(&p, &one);
    if (read && one.n <= LIMIT_POLICY_TEXT) {
        ASSERT(policy_parse(&q, buf_str(&one), NULL) == 0);
        policy_format(&q, &two);
        ASSERT(str_eq(buf_str(&one), buf_str(&two)));
        ASSERT(policy_within(&p, &q, NULL) == 0 && policy_within(&q, &p, NULL) == 0);
    }
    buf_clear(&one);
    buf_clear(&two);
    struct policy_answer a = {.rules = &one, .change = &two};
    if (policy_explain(&p, ask, &a, NULL) == 0)
        ASSERT(a.allowed == (two.n == 0));
    policy_done(&p);
    policy_done(&q);
    return 0;
}
