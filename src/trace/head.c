/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The head of the file: magic, format, and a salt that makes the chain values of this file no guest's to compute. Else
 * a guest could print bytes that look like events; they lie in an event of the log, and when that one is torn at the
 * right place they would be the last whole ones.
 */

#include <errno.h>
#include <sys/auxv.h>

#include "base/clock.h"
#include "trace/trace_int.h"

#define SALT_AT 16
#define SALT 16
#define HASHED (SALT_AT + SALT)

/* Magic, format 1, zero. */
static const char begin[SALT_AT] = "FRTRACE\n\1\0\0\0\0\0\0";

void trace_head_make(char ret[TRACE_FILE_HEAD], struct cas_id *ret_genesis)
{
    /* What the kernel gave the process at its begin asks for no system call that a confined one may lack; clocks and an
     * address tell apart the logs of one process and of those it forked. */
    const void *random = (const void *)getauxval(AT_RANDOM);
    int64_t now[] = {clock_wall(), clock_mono(), clock_cpu(), (int64_t)(intptr_t)ret_genesis};
    uint8_t salt[CAS_HASH_SIZE];
    struct cas_hash h;
    cas_hash_init(&h);
    cas_hash_add(&h, now, sizeof(now));
    if (random)
        cas_hash_add(&h, random, 16);
    cas_hash_end(&h, salt);
    memcpy(ret, begin, SALT_AT);
    memcpy(ret + SALT_AT, salt, SALT);
    cas_hash_init(&h);
    cas_hash_add(&h, ret, HASHED);
    cas_hash_end(&h, ret_genesis->b);
    memcpy(ret + HASHED, ret_genesis->b, sizeof(ret_genesis->b));
}

int trace_head_check(struct str s, struct cas_id *ret_genesis)
{
    if (memcmp(s.p, begin, s.n < SALT_AT ? s.n : SALT_AT) != 0)
        return -EBADMSG;
    if (s.n < TRACE_FILE_HEAD)
        return 0;
    struct cas_hash h;
    struct cas_id genesis;
    cas_hash_init(&h);
    cas_hash_add(&h, s.p, HASHED);
    cas_hash_end(&h, genesis.b);
    if (memcmp(s.p + HASHED, genesis.b, sizeof(genesis.b)) != 0)
        return -EBADMSG;
    *ret_genesis = genesis;
    return 1;
}
