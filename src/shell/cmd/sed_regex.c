/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/sed_int.h"

#include <errno.h>

/* Regular expressions of scripts. */

static int poll_cmd(void *arg)
{
    return cmd_poll(arg);
}

/* 0, or a negative errno and a message that is not yet told; -EBADMSG for what only GNU's second look at a pattern
 * finds, which is "[:space:]" without outer brackets. */
static int compile(struct sed *s, struct sed_regex *re, const char **ret_msg)
{
    const struct regex_warn strict = {NULL, NULL};
    unsigned flags = re->flags | (re->no_groups ? REGEX_NOSUB : 0);
    struct regex *made = NULL;
    const char *msg;
    int r = regex_compile_many(&re->text, 1, flags, &strict, &made, ret_msg, NULL);
    if (r == -EINVAL) {
        r = regex_compile_many(&re->text, 1, flags, NULL, &made, &msg, NULL);
        regex_free(made);
        if (r == 0)
            return -EBADMSG;
        *ret_msg = msg;
    }
    if (r < 0)
        return r;
    regex_set_poll(made, &(struct regex_poll){poll_cmd, s->c});
    regex_free(re->re);
    re->re = made;
    return 0;
}

/* Tells what compile() gave. */
static int compile_failed(struct sed *s, const struct sed_place *place, size_t pos, int err, const char *msg)
{
    if (err == -EBADMSG)
        return sed_fail(s, SED_PANIC, "%s", msg);
    if ((err == -EFBIG || err == -ENOMEM) && cmd_can_hand_over(s->c)) {
        cmd_refuse(s->c, "a regular expression is beyond the limits here");
        s->status = SED_BAD_USAGE;
        return -1;
    }
    return sed_script_error(s, place, pos, "%s", msg);
}

/* Whether a bracket expression that begins at @p is a list of ASCII characters; where it ends. */
static const char *ascii_list(const char *p, const char *end)
{
    const char *first = ++p;
    if (p < end && *p == ']')
        p++;
    for (; p < end && *p != ']'; p++) {
        bool range = *p == '-' && p > first && p + 1 < end && p[1] != ']';
        bool named = *p == '[' && p + 1 < end && p[1] && strchr(":=.", p[1]);
        if ((unsigned char)*p >= 0x80 || range || named || (*p == '^' && p == first))
            return NULL;
    }
    return p < end ? p : NULL;
}

/*
 * Whether the C library's matcher, which GNU sed uses, takes text for bytes although it is UTF-8: it does so for
 * patterns of plain characters, lists of ASCII characters and periods. Such a pattern can match the empty string inside
 * a character.
 */
static bool is_bytewise(const struct sed_regex *re)
{
    const char *end = re->text.p + re->text.n;
    if (re->flags & REGEX_ICASE)
        return false;
    for (const char *p = re->text.p; p < end; p++) {
        if (*p == '\\' && p + 1 < end) {
            p++;
            if (*p && strchr("wWsSbB<>", *p))
                return false;
        } else if (*p == '[' && !(p = ascii_list(p, end))) {
            return false;
        }
    }
    return true;
}

static int check_groups(struct sed *s, const struct sed_place *place, size_t pos, const struct sed_regex *re,
                        int needed)
{
    if (needed > 1 && regex_groups(re->re) < (size_t)needed - 1)
        return sed_script_error(s, place, pos, "invalid reference \\%d on `s' command's RHS", needed - 1);
    return 0;
}

int sed_regex(struct sed_parse *ps, struct str text, unsigned flags, int needed, struct sed_regex **ret)
{
    struct sed *s = ps->s;
    const char *msg = "";
    *ret = NULL;
    if (text.n == 0)
        return flags ? sed_parse_error(ps, "cannot specify modifiers on empty regexp") : 0;
    if (sed_unescape(ps, &text, SED_TEXT_REGEX) < 0)
        return -1;
    if ((flags & REGEX_NEWLINE) && !s->delim) {
        cmd_refuse(s->c, "the flag M with -z is not implemented here");
        s->status = SED_BAD_USAGE;
        return -1;
    }
    struct sed_regex *re = ARENA_NEW(s->c->keep, struct sed_regex);
    re->text = text;
    re->flags = REGEX_DIALECT(REGEX_SED) | flags | (s->extended ? REGEX_ERE : 0) | (s->utf8 ? REGEX_UTF8 : 0);
    re->no_groups = needed == 0;
    re->bytewise = is_bytewise(re);
    if (text.n == 1 && !(flags & REGEX_NEWLINE) && (text.p[0] == '^' || text.p[0] == '$'))
        re->anchor = text.p[0];
    re->next = s->regexes;
    s->regexes = re;
    int r = compile(s, re, &msg);
    if (r < 0)
        return compile_failed(s, &ps->place, ps->pos, r, msg);
    *ret = re;
    return check_groups(s, &ps->place, ps->pos, re, needed);
}

int sed_match(struct sed *s, struct sed_regex *re, size_t start, struct regex_span *spans, int n)
{
    const char *msg = "";
    if (!re)
        re = s->last_regex;
    if (!re)
        return sed_script_error(s, &s->place, 0, "no previous regular expression");
    s->last_regex = re;
    if (re->no_groups && n > 0) {
        re->no_groups = false;
        int r = compile(s, re, &msg);
        if (r < 0)
            return compile_failed(s, &s->place, 0, r, msg);
        if (check_groups(s, &s->place, 0, re, n) < 0)
            return -1;
    }
    struct str text = str_of(sed_bytes(&s->space), s->space.n);
    if (re->anchor) {
        /* Often used to put something in front or behind. */
        ptrdiff_t at = re->anchor == '^' ? 0 : (ptrdiff_t)text.n;
        for (int i = 0; i < n; i++)
            spans[i] = i == 0 ? (struct regex_span){at, at} : (struct regex_span){-1, -1};
        return re->anchor == '$' || start == 0;
    }
    int r = n == 0 && start == 0 ? regex_test(re->re, text) : regex_exec(re->re, text, start, 0, spans, (size_t)n);
    if (r >= 0)
        return r;
    if (r == -ENOMEM)
        return sed_no_memory(s);
    if (r == -E2BIG)
        return sed_fail(s, SED_PANIC, "exceeded the limit on back-reference matching");
    s->status = SED_PANIC;
    return -1;
}

void sed_regex_done(struct sed *s)
{
    for (struct sed_regex *re = s->regexes; re; re = re->next)
        regex_free(re->re);
}
