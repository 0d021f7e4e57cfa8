/* SPDX-License-Identifier: Apache-2.0 */

/*
 * frontal-sandbox shell: a prompt on a session. Lines are edited here by libedit (which this file alone includes); the
 * session's shell, in the worker, tells whether they are complete, completes words, and runs them.
 */

#include "cli/cli.h"

#include <errno.h>
#include <histedit.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/stat.h>
#include <wchar.h>

#include "base/mem.h"
#include "types/errtab.h"

#define HISTORY_LINES 1000

struct prompter {
    struct driver *d;
    EditLine *el; /* NULL when standard input is not a terminal */
    History *hist;
    struct buf command; /* lines of the command so far */
    struct buf prompt, prompt2;
    char *history_file;
    int status; /* of the last command */
};

/* libedit's callbacks and the signal handler get no argument of ours they could use. */
static struct prompter *the_prompter;
static sigjmp_buf interrupted;

static void on_interrupt(int sig)
{
    (void)sig;
    siglongjmp(interrupted, 1);
}

static char *show_prompt(EditLine *el)
{
    (void)el;
    return the_prompter->command.n ? the_prompter->prompt2.p : the_prompter->prompt.p;
}

/* ---- completion ---- */

static size_t common_prefix(struct str a, struct str b)
{
    size_t n = 0;
    while (n < a.n && n < b.n && a.p[n] == b.p[n])
        n++;
    return n;
}

static struct str first_line(struct str *rest)
{
    ptrdiff_t nl = str_find(*rest, '\n', 0);
    struct str line = str_of(rest->p, nl < 0 ? rest->n : (size_t)nl);
    *rest = str_from(*rest, line.n + 1);
    return line;
}

static unsigned char list_candidates(struct str all)
{
    putchar('\n');
    while (all.n) {
        struct str c = first_line(&all);
        printf("%.*s\n", (int)c.n, c.p);
    }
    return CC_REDISPLAY;
}

static unsigned char complete(EditLine *el, wint_t ch)
{
    (void)ch;
    const LineInfo *li = el_line(el);
    struct str line = str_of(li->buffer, (size_t)(li->cursor - li->buffer));
    struct wire_answer ans;
    if (driver_query(the_prompter->d, WIRE_QUERY_COMPLETE, line, &ans) || ans.text.n == 0 || ans.value > line.n)
        return CC_ERROR;
    struct str rest = ans.text, word = str_from(line, ans.value);
    struct str best = first_line(&rest);
    bool single = rest.n == 0;
    while (rest.n)
        best.n = common_prefix(best, first_line(&rest));
    if (!single && best.n <= word.n)
        return list_candidates(ans.text);
    el_deletestr(el, (int)word.n);
    MEM_AUTO char *text = mem_dup(best.p, best.n);
    bool failed = el_insertstr(el, text) != 0;
    if (single && best.n && best.p[best.n - 1] != '/')
        failed |= el_insertstr(el, " ") != 0;
    return failed ? CC_ERROR : CC_REFRESH;
}

/* ---- the editor ---- */

/* In the state directory, whether there is a session that is kept in it or not. */
static char *history_path(const char *state_dir)
{
    MEM_AUTO char *dir = state_where(state_dir);
    BUF_AUTO struct buf b;
    buf_init(&b, LIMIT_PATH);
    if (!dir)
        return NULL;
    buf_addf(&b, "%s/", dir);
    for (size_t i = 1; i < b.n; i++) {
        if (b.p[i] != '/')
            continue;
        b.p[i] = 0;
        (void)mkdir(b.p, 0700); /* what cannot be made shows when the file is written */
        b.p[i] = '/';
    }
    buf_addc(&b, "history");
    return b.err ? NULL : buf_take(&b);
}

static void open_editor(struct prompter *p)
{
    HistEvent ev;
    p->el = el_init("frontal-sandbox", stdin, stdout, stderr);
    p->hist = history_init();
    if (!p->el || !p->hist)
        return;
    history(p->hist, &ev, H_SETSIZE, HISTORY_LINES);
    history(p->hist, &ev, H_SETUNIQUE, 1);
    p->history_file = history_path(p->d->opts->state);
    if (p->history_file)
        history(p->hist, &ev, H_LOAD, p->history_file);
    el_set(p->el, EL_PROMPT, show_prompt);
    el_set(p->el, EL_EDITOR, "emacs");
    el_set(p->el, EL_HIST, history, p->hist);
    /* Wide: of narrow names el_set() makes copies that nobody frees. */
    el_wset(p->el, EL_ADDFN, L"sandbox-complete", L"Complete a word", complete);
    el_set(p->el, EL_BIND, "^I", "sandbox-complete", NULL);
    el_set(p->el, EL_BIND, "^R", "em-inc-search-prev", NULL);
    el_set(p->el, EL_SIGNAL, 0);
}

static void close_editor(struct prompter *p)
{
    HistEvent ev;
    if (p->hist && p->history_file && history(p->hist, &ev, H_SAVE, p->history_file) < 0)
        cli_error("the history could not be written to %s: %s", p->history_file, errtab_text(errno));
    if (p->el)
        el_end(p->el);
    if (p->hist)
        history_end(p->hist);
    mem_free(p->history_file);
}

static void let_interrupt(bool on)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    (void)sigprocmask(on ? SIG_UNBLOCK : SIG_BLOCK, &set, NULL);
}

enum read_result { READ_LINE, READ_END, READ_INTERRUPTED };

static enum read_result edit_line(struct prompter *p)
{
    int n = 0;
    if (sigsetjmp(interrupted, 1)) {
        let_interrupt(false);
        el_reset(p->el);
        puts("^C");
        return READ_INTERRUPTED;
    }
    let_interrupt(true);
    const char *line = el_gets(p->el, &n);
    let_interrupt(false);
    if (!line || n <= 0)
        return READ_END;
    buf_add(&p->command, line, (size_t)n);
    return READ_LINE;
}

/* Without a terminal, lines are taken as they come, byte by byte so that the rest stays for the commands. */
static enum read_result plain_line(struct prompter *p)
{
    char c;
    ssize_t n;
    size_t before = p->command.n;
    while ((n = read(STDIN_FILENO, &c, 1)) == 1) {
        buf_putc(&p->command, c);
        if (c == '\n')
            return READ_LINE;
    }
    return p->command.n > before ? READ_LINE : READ_END;
}

/* Reads until the command is whole: READ_LINE with it in p->command. */
static enum read_result read_command(struct prompter *p)
{
    buf_clear(&p->command);
    for (;;) {
        enum read_result r = p->el ? edit_line(p) : plain_line(p);
        if (r == READ_INTERRUPTED) {
            buf_clear(&p->command);
            continue;
        }
        if (r == READ_END)
            return p->command.n ? READ_LINE : READ_END;
        if (p->command.err) {
            cli_error("the command is too long");
            buf_clear(&p->command);
            continue;
        }
        struct wire_answer ans;
        if (driver_query(p->d, WIRE_QUERY_SYNTAX, buf_str(&p->command), &ans))
            return READ_END;
        if (ans.value != 1) /* SHELL_INCOMPLETE */
            return READ_LINE;
    }
}

static void remember(struct prompter *p)
{
    HistEvent ev;
    bool blank = true;
    for (size_t i = 0; i < p->command.n; i++)
        blank &= p->command.p[i] == ' ' || p->command.p[i] == '\n' || p->command.p[i] == '\t';
    if (p->hist && !blank)
        history(p->hist, &ev, H_ENTER, p->command.p);
}

static void take_result(struct prompter *p, const struct wire_result *r)
{
    if (!r->error) { /* what was refused has no prompt of its own */
        buf_clear(&p->prompt);
        buf_clear(&p->prompt2);
        buf_adds(&p->prompt, r->prompt);
        buf_adds(&p->prompt2, r->prompt2);
    }
    if (r->error)
        cli_error("%.*s", (int)r->message.n, r->message.p);
    p->status = r->error ? CLI_FAILED : outcome_status(r->outcome);
}

/* Sends a line (or the end of input) and waits: false when the shell has ended. */
static bool run_line(struct prompter *p, bool end)
{
    struct wire_result res;
    BUF_AUTO struct buf text;
    buf_init(&text, WIRE_BODY_MAX);
    driver_resize(p->d); /* it may have changed at the prompt, where the line editor took the signal */
    struct buf *b = chan_scratch(&p->d->worker.chan);
    buf_putc(b, end ? 1 : 0);
    buf_adds(b, buf_str(&p->command));
    if (chan_send_scratch(&p->d->worker.chan, WIRE_LINE))
        p->d->gone = true;
    driver_wait(p->d, &res, &text);
    take_result(p, &res);
    if (p->d->gone)
        cli_error("the worker ended unexpectedly");
    else if (res.outcome.kind == OUTCOME_KILLED && res.outcome.reason > REASON_SIGNAL)
        cli_error("killed: %s limit; the session ends", outcome_reason_name(res.outcome.reason));
    return !p->d->gone && !res.exited;
}

static void loop(struct prompter *p)
{
    for (;;) {
        if (read_command(p) == READ_END) {
            buf_clear(&p->command);
            if (p->el)
                puts("exit");
            (void)run_line(p, true); /* its result is the status */
            return;
        }
        remember(p);
        if (!run_line(p, false))
            return;
    }
}

static int serve(struct driver *d)
{
    struct prompter p = {.d = d};
    struct wire_result res;
    BUF_AUTO struct buf text;
    buf_init(&text, WIRE_BODY_MAX);
    buf_init(&p.command, LIMIT_SCRIPT);
    buf_init(&p.prompt, LIMIT_PATH);
    buf_init(&p.prompt2, LIMIT_PATH);
    struct wire_exec e = {.kind = WIRE_EXEC_SERVE,
                          .stdin_open = true,
                          .env = {d->opts->env, d->opts->n_env},
                          .n_secrets = d->opts->n_secrets,
                          .keep = d->opts->session != NULL};
    for (int fd = 0; fd <= 2; fd++)
        e.tty |= (uint8_t)(isatty(fd) << fd);
    uint32_t window = driver_window();
    e.rows = (uint16_t)(window >> 16);
    e.cols = (uint16_t)window;
    driver_exec(d, &e, &res, &text);
    take_result(&p, &res);
    if (!d->gone && !res.error && !res.exited) {
        the_prompter = &p;
        (void)signal(SIGINT, on_interrupt);
        if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
            open_editor(&p);
        loop(&p);
        close_editor(&p);
    }
    buf_done(&p.command);
    buf_done(&p.prompt);
    buf_done(&p.prompt2);
    return p.status;
}

int cli_shell(int argc, char **argv)
{
    struct cli_options o;
    int r = cli_parse(argc, argv, true, &o);
    int status = r > 0 ? 0 : CLI_FAILED;
    if (r == 0) {
        struct driver d;
        struct err err = {0};
        r = driver_start(&d, &o, &err);
        for (uint32_t i = 0; r == 0 && i < o.n_copy_in; i++)
            r = cli_copy_in(&d, &o.copy_in[i], &err);
        if (r)
            cli_error("%s", err.text);
        else
            status = serve(&d);
        if (r == 0 && !d.gone) {
            /* Leaving the session is the consent, whatever its last command gave. */
            const struct wire_result left = {.outcome = {.kind = OUTCOME_EXITED}};
            struct cli_changes changes = {0};
            int failed = cli_follow_up(&d, &o, &left, &changes);
            status = failed ? failed : status;
            cli_changes_done(&changes);
        }
        driver_end(&d, NULL);
    }
    cli_options_done(&o);
    return status;
}
