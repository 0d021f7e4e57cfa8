/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/expander_int.h"

#include "base/mem.h"
#include "shell/uchar_int.h"

/* The value of IFS: true when set. */
static bool ifs_value(struct shell *sh, struct expand_state *st, struct str *ret)
{
    if (!st->ifs_sym)
        st->ifs_sym = sym_get(sh, STR("IFS"));
    struct var *v = st->ifs_sym && st->ifs_sym->id < sh->vars->n ? sh->vars->v[st->ifs_sym->id] : NULL;
    if (v && (v->flags & (VAR_SET | VAR_ARRAY | VAR_ASSOC | VAR_NAMEREF)) == VAR_SET) {
        *ret = str_of(v->p, v->n);
        return true;
    }
    return st->ifs_sym && v && var_text(sh, st->ifs_sym, ret);
}

static void ifs_make(struct shell *sh, struct expand_state *st, struct str ifs, bool set)
{
    char *copy = mem_dup(ifs.p, ifs.n);
    char *old = (char *)(uintptr_t)st->ifs_now.p;
    mem_free(old);
    st->ifs_now = str_of(copy, ifs.n);
    st->ifs_made = true;
    st->ifs_set = set;
    st->ifs_wide = false;
    memset(st->ifs_class, IFS_NONE, sizeof(st->ifs_class));
    if (!set)
        ifs = STR(" \t\n");
    for (size_t i = 0; i < ifs.n;) {
        size_t len = 1;
        uint32_t c = sh->utf8 ? uchar_get(ifs.p + i, ifs.n - i, &len) : (unsigned char)ifs.p[i];
        unsigned char b = (unsigned char)ifs.p[i];
        if (i == 0) {
            memcpy(st->ifs_first_buf, ifs.p, len);
            st->ifs_first = str_of(st->ifs_first_buf, len);
        }
        if (len > 1 && c != UCHAR_BAD) {
            st->ifs_class[b] = IFS_LEAD;
            st->ifs_wide = true;
        } else {
            st->ifs_class[b] = b == ' ' || b == '\t' || b == '\n' ? IFS_SPACE : IFS_OTHER;
        }
        i += len;
    }
    if (!ifs.n)
        st->ifs_first = str_of("", 0);
}

void expand__ifs(struct shell *sh, struct expand_state *st)
{
    struct str now = {NULL, 0};
    bool set = ifs_value(sh, st, &now);
    if (st->ifs_made && set == st->ifs_set && str_eq(now, st->ifs_now))
        return;
    ifs_make(sh, st, now, set);
}

/* Length of the delimiter of several bytes at @i, or 0. */
static size_t wide_delimiter(const struct expand_state *st, struct str s, size_t i)
{
    size_t len;
    if (uchar_get(s.p + i, s.n - i, &len) == UCHAR_BAD)
        return 0;
    for (size_t k = 0; k + len <= st->ifs_now.n; k++)
        if (memcmp(st->ifs_now.p + k, s.p + i, len) == 0)
            return len;
    return 0;
}

/* A delimiter of class @cls: ends the field, or makes an empty one. */
static int delimiter(struct expander *x, enum ifs_class cls)
{
    if (x->have) {
        int r = expand__end_field(x);
        x->ws_ended = cls == IFS_SPACE;
        return r;
    }
    if (cls == IFS_SPACE) {
        x->ws_ended = x->ws_ended || x->list_start;
        return 0;
    }
    x->list_start = false;
    if (x->ws_ended) {
        x->ws_ended = false;
        return 0;
    }
    x->have = true;
    return expand__end_field(x);
}

int expand__put_split(struct expander *x, struct str s)
{
    if (!x->out)
        return s.n ? expand__put(x, s, false) : 0;
    struct expand_state *st = x->st;
    expand__ifs(x->sh, st);
    size_t from = 0;
    for (size_t i = 0; i < s.n;) {
        enum ifs_class cls = st->ifs_class[(unsigned char)s.p[i]];
        size_t len = 1;
        if (cls == IFS_LEAD) {
            len = wide_delimiter(st, s, i);
            cls = len ? IFS_OTHER : IFS_NONE;
            len = len ? len : 1;
        }
        if (cls != IFS_NONE) {
            int r = i > from ? expand__put(x, str_of(s.p + from, i - from), false) : 0;
            if (r == 0)
                r = delimiter(x, cls);
            if (r < 0)
                return r;
            from = i + len;
        }
        i += len;
    }
    return s.n > from ? expand__put(x, str_from(s, from), false) : 0;
}

int expand_split(struct shell *sh, struct str text, struct fields *out)
{
    struct expand_state *st = expand__state(sh);
    struct expander x = {.sh = sh, .st = st, .out = out, .start = st->buf.n, .first_mark = st->n_marks};
    /* No pathname expansion: what is split here is no command line. */
    uint32_t opts = sh->opts;
    sh->opts |= OPT_NOGLOB;
    int r = expand__put_split(&x, text);
    if (r == 0 && x.have)
        r = expand__end_field(&x);
    sh->opts = opts;
    buf_trunc(&st->buf, x.start);
    st->n_marks = x.first_mark;
    return r;
}
