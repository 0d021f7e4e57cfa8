/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

void cmd_random_letters(struct cmd *c, char *p, size_t n)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    uint8_t bytes[64];
    size_t have = 0;
    while (n > 0) {
        if (have == 0) {
            proc_entropy(c->p->ps, bytes, sizeof bytes);
            have = sizeof bytes;
        }
        uint8_t b = bytes[--have];
        if (b < 4 * 62) {
            *p++ = letters[b % 62];
            n--;
        }
    }
}
