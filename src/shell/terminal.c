/* SPDX-License-Identifier: Apache-2.0 */

/* An interactive shell whose command lines are typed at the terminal of its standard input: prompts, and lines that go
 * on. Editing a line is the terminal's own (canonical mode). */

#include "shell/shell.h"

#include <errno.h>

#include "base/mem.h"
#include "shell/shell_int.h"
#include "shell/start_int.h"

struct terminal {
    struct shell *sh;
    struct buf line;
};

static void prompt(struct shell *sh, bool second)
{
    BUF_AUTO struct buf out;
    buf_init(&out, LIMIT_STRING);
    shell_prompt(sh, second, &out);
    sh_write_fd(sh, 2, buf_str(&out));
}

/* The rest of a line, its newline too: 1, 0 at the end of input, or an error. */
static int read_line(struct shell *sh, struct buf *out)
{
    for (;;) {
        const void *p;
        size_t n;
        int r = proc_peek(sh->p, 0, &p, &n);
        if (r < 0 || n == 0)
            return r < 0 ? r : 0;
        const char *nl = memchr(p, '\n', n);
        size_t take = nl ? (size_t)(nl - (const char *)p) + 1 : n;
        if (buf_add(out, p, take))
            return -ENOMEM;
        proc_consume(sh->p, 0, take);
        if (nl)
            return 1;
    }
}

/* shell_driver.next. ^C gives up what was typed so far. */
static int next_line(void *arg, struct proc *p, struct str *ret_text)
{
    struct terminal *t = arg;
    struct shell *sh = t->sh;
    buf_clear(&t->line);
    prompt(sh, false);
    for (;;) {
        int r = read_line(sh, &t->line);
        if (p->must_end)
            return 0;
        if (r == -EINTR) {
            bool interrupted = false;
            while (proc_signal_pending(p))
                interrupted |= proc_take_signal(p) == SIGINT;
            if (!interrupted)
                continue;
            buf_clear(&t->line);
            sh_write_fd(sh, 2, STR("\n"));
            prompt(sh, false);
            continue;
        }
        if (r <= 0 && t->line.n == 0) {
            sh_write_fd(sh, 2, sh->login ? STR("logout\n") : STR("exit\n"));
            return 0;
        }
        *ret_text = buf_str(&t->line);
        if (r <= 0 || shell_check_syntax(sh, *ret_text) != SHELL_INCOMPLETE)
            return 1;
        prompt(sh, true);
    }
}

static void line_done(void *arg, struct proc *p, int status, bool exited)
{
    (void)arg, (void)p, (void)status, (void)exited;
}

void shell__terminal_run(struct shell *sh)
{
    struct terminal t = {.sh = sh};
    const struct shell_driver d = {.arg = &t, .next = next_line, .done = line_done};
    buf_init(&t.line, LIMIT_SCRIPT);
    shell__serve_signals(sh);
    shell__serve_lines(sh, &d);
    buf_done(&t.line);
}
