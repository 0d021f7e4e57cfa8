/* SPDX-License-Identifier: Apache-2.0 */
#include "client/terminal.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define KEY_P 0x10 /* ^P */
#define KEY_Q 0x11 /* ^Q */

void terminal_set_raw(struct terminal *t)
{
    if (!t->raw && tcgetattr(STDIN_FILENO, &t->before))
        return;
    struct termios raw = t->before;
    cfmakeraw(&raw);
    t->raw = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
}

void terminal_restore(struct terminal *t)
{
    if (t->raw)
        (void)tcsetattr(STDIN_FILENO, TCSADRAIN, &t->before); /* one that has gone needs none */
    t->raw = false;
}

void terminal_size(uint16_t *ret_cols, uint16_t *ret_rows)
{
    struct winsize w = {0};
    (void)ioctl(STDIN_FILENO, TIOCGWINSZ, &w); /* what is no terminal has no size */
    *ret_cols = w.ws_col ? w.ws_col : 80;
    *ret_rows = w.ws_row ? w.ws_row : 24;
}

size_t terminal_keys(struct terminal *t, char *p, size_t n, bool *ret_leave)
{
    size_t out = 0, in = 0;
    if (t->held) {
        memmove(p + 1, p, n);
        p[0] = KEY_P;
        n++;
        t->held = false;
    }
    for (; in < n; in++) {
        if (p[in] == KEY_P && in + 1 == n) {
            t->held = true;
        } else if (p[in] == KEY_P && p[in + 1] == KEY_Q) {
            *ret_leave = true;
            return out;
        } else {
            p[out++] = p[in];
        }
    }
    return out;
}
