/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/shell_int.h"

#include <errno.h>
#include <stdarg.h>

#include "shell/trap_int.h"
#include "types/errtab.h"

/* The name before a message: the file whose code runs, or $0. */
static const char *error_name(const struct shell *sh)
{
    if (!sh->interactive) {
        for (const struct frame *f = sh->frame; f; f = f->prev)
            if ((f->is_function || f->is_source) && f->file && *f->file)
                return f->file;
        if (sh->main_file)
            return sh->main_file;
    }
    return sh->script_name ? sh->script_name : "bash";
}

static void put_prefix(const struct shell *sh, struct buf *out, const char *what)
{
    const char *name = error_name(sh);
    if (sh_shopt(sh, SHOPT_GNU_ERRFMT) && !sh->interactive) {
        buf_addf(out, "%s:%s%s%d: ", name, what ? what : "", what ? ": " : "", sh->line);
        return;
    }
    buf_addf(out, "%s: ", name);
    if (what)
        buf_addf(out, "%s: ", what);
    if (!sh->interactive && !sh->plain_errors && sh->line > 0)
        buf_addf(out, "line %d: ", sh->line);
}

void sh_write_fd(struct shell *sh, int fd, struct str s)
{
    while (s.n) {
        ssize_t n = proc_write(sh->p, fd, s.p, s.n);
        if (n <= 0)
            return; /* nowhere left to say so */
        s = str_from(s, (size_t)n);
    }
}

__attribute__((format(printf, 3, 0))) static void error_v(struct shell *sh, int err, const char *fmt, va_list ap)
{
    struct buf out BUF_AUTO;
    buf_init(&out, LIMIT_STRING);
    put_prefix(sh, &out, NULL);
    buf_vaddf(&out, fmt, ap);
    if (err)
        buf_addf(&out, ": %s", errtab_text(err));
    buf_putc(&out, '\n');
    if (sh->out.n)
        sh_flush_lines(sh);
    sh_write_fd(sh, 2, buf_str(&out));
}

const char *sh_shown(struct shell *sh, struct str s)
{
    struct buf out BUF_AUTO;
    buf_init(&out, LIMIT_STRING);
    if (!quote_needs_ansi(s, sh->utf8))
        return arena_str(&sh->scratch, s).p;
    quote_at_q(&out, s, sh->utf8);
    return arena_str(&sh->scratch, buf_str(&out)).p;
}

void sh_error(struct shell *sh, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    error_v(sh, 0, fmt, ap);
    va_end(ap);
}

void sh_errno(struct shell *sh, int err, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    error_v(sh, err, fmt, ap);
    va_end(ap);
}

void sh_syntax_error(struct shell *sh, const struct parse_error *e)
{
    struct buf out BUF_AUTO;
    int line = sh->line;
    buf_init(&out, LIMIT_STRING);
    sh->line = e->line;
    if (e->text[0]) {
        put_prefix(sh, &out, sh->parse_what);
        buf_addf(&out, "%s\n", e->text);
    }
    if (e->source[0]) {
        sh->line = e->second ? e->second_line : e->line;
        put_prefix(sh, &out, sh->parse_what);
        if (e->second)
            buf_addf(&out, "%s\n", e->source);
        else
            buf_addf(&out, "%s`%s'\n", e->source_syntax ? "syntax error: " : "", e->source);
    }
    sh->line = line;
    if (sh->out.n)
        sh_flush_lines(sh);
    sh_write_fd(sh, 2, buf_str(&out));
}

int sh_abort(struct shell *sh, int status)
{
    sh->last_status = status;
    if (sh->flow == FLOW_NONE)
        sh->flow = FLOW_ABORT;
    return -EINVAL;
}

bool sh_restricted(struct shell *sh, const char *who, const char *what)
{
    if (sh->restricted)
        sh_error(sh, "%s: %s%srestricted", who, what ? what : "", what ? ": " : "");
    return sh->restricted;
}

int sh_misused(struct shell *sh, int status)
{
    if (sh_opt(sh, OPT_POSIX) && !sh->by_command && sh->flow == FLOW_NONE)
        (void)sh_fatal(sh, status);
    return status;
}

void sh_reported(struct shell *sh)
{
    if (sh_opt(sh, OPT_ERREXIT) && sh->flow == FLOW_NONE)
        (void)sh_fatal(sh, 1);
}

int sh_fatal(struct shell *sh, int status)
{
    sh->last_status = status;
    if (sh->flow != FLOW_NONE && sh->flow != FLOW_ABORT)
        return -EINVAL;
    if (sh->interactive)
        sh->flow = FLOW_ABORT;
    else
        trap_exit(sh);
    return -EINVAL;
}
