/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/exec_int.h"

/* The first character of PS4 stands once for each level of eval, source, traps and command substitution. */
static void put_ps4(struct shell *sh, struct buf *out)
{
    struct str ps4 = var_get(sh, "PS4");
    struct buf text BUF_AUTO;
    buf_init(&text, LIMIT_STRING);
    if (!ps4.p)
        return;
    /* The expansion's own commands are not traced, and leave $? alone. */
    uint32_t opts = sh->opts;
    int status = sh->last_status;
    sh->opts &= ~(uint32_t)OPT_XTRACE;
    (void)expand_prompt(sh, ps4, &text);
    sh->opts |= opts & OPT_XTRACE;
    sh->last_status = status;
    if (!text.n)
        return;
    size_t first = 1;
    while (sh->utf8 && first < text.n && ((unsigned char)text.p[first] & 0xc0) == 0x80)
        first++;
    uint32_t level = sh->trace_level + sh->eval_depth + sh->source_depth;
    for (uint32_t i = 0; i < level && i < 100; i++)
        buf_add(out, text.p, first);
    buf_adds(out, buf_str(&text));
}

static void emit(struct shell *sh, struct buf *out)
{
    buf_putc(out, '\n');
    if (sh->out.n)
        (void)sh_flush(sh);
    sh_write_fd(sh, sh->xtrace_fd >= 0 && proc_get(sh->p, sh->xtrace_fd) ? sh->xtrace_fd : 2, buf_str(out));
}

void exec__trace_text(struct shell *sh, struct str text)
{
    struct buf out BUF_AUTO;
    buf_init(&out, LIMIT_STRING);
    put_ps4(sh, &out);
    buf_adds(&out, text);
    emit(sh, &out);
}

/* Whether a word needs quotes to be read back: bash's list of characters that mean something to the shell. */
static bool has_meta(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (strchr(" \t\n'\"\\|&;()<>!{}*[]?^$`", c))
            return true;
        if (c == '~' && (i == 0 || s.p[i - 1] == '=' || s.p[i - 1] == ':'))
            return true;
        if (c == '#' && i == 0)
            return true;
    }
    return false;
}

static bool has_control(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < ' ' || s.p[i] == 0x7f)
            return true;
    return false;
}

static void put_word(struct shell *sh, struct str s, struct buf *out)
{
    if (!s.n) {
        buf_addc(out, "''");
    } else if (has_meta(s)) {
        buf_putc(out, '\'');
        for (size_t i = 0; i < s.n; i++) {
            if (s.p[i] == '\'')
                buf_addc(out, "'\\'");
            buf_putc(out, s.p[i]);
        }
        buf_putc(out, '\'');
    } else if (has_control(s)) {
        quote_at_q(out, s, sh->utf8);
    } else {
        buf_adds(out, s);
    }
}

void exec__trace_words(struct shell *sh, const struct str *v, uint32_t n)
{
    struct buf out BUF_AUTO;
    buf_init(&out, LIMIT_STRING);
    put_ps4(sh, &out);
    for (uint32_t i = 0; i < n; i++) {
        if (i)
            buf_putc(&out, ' ');
        put_word(sh, v[i], &out);
    }
    emit(sh, &out);
}

void exec__trace_assign(struct shell *sh, struct str name, bool append, struct str val)
{
    struct buf out BUF_AUTO;
    buf_init(&out, LIMIT_STRING);
    put_ps4(sh, &out);
    buf_adds(&out, name);
    buf_addc(&out, append ? "+=" : "=");
    if (val.n)
        put_word(sh, val, &out);
    emit(sh, &out);
}
