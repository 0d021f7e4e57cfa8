/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/expander_int.h"

#include <errno.h>

#include "shell/uchar_int.h"

static void change_all(struct buf *b, struct str s, bool utf8, char letter)
{
    for (size_t i = 0; i < s.n;) {
        size_t len = 1;
        char out[4];
        uint32_t c = utf8 ? uchar_get(s.p + i, s.n - i, &len) : (unsigned char)s.p[i];
        bool letter_at = c != UCHAR_BAD && (c < 0x80 || utf8) && (letter != 'u' || i == 0);
        if (letter_at)
            buf_add(b, out, uchar_put(letter == 'L' ? unicode_lower(c) : unicode_upper(c), out));
        else
            buf_add(b, s.p + i, len);
        i += len;
    }
}

/* One text by a letter whose result depends on nothing but the text. */
static int transform_text(struct shell *sh, char letter, struct str *s)
{
    struct buf *b = &expand__state(sh)->buf;
    size_t start = b->n;
    if (letter == 'P') {
        /* The prompt may hold expansions of its own: it is built beside the buffer. */
        struct buf out BUF_AUTO;
        buf_init(&out, LIMIT_STRING);
        int r = expand_prompt(sh, *s, &out);
        if (r == 0 && out.err)
            r = expand__no_memory(sh);
        return r < 0 ? r : expand__copy(sh, buf_str(&out), s);
    }
    if (letter == 'E')
        parse_ansi_c(*s, b);
    else if (letter == 'U' || letter == 'u' || letter == 'L')
        change_all(b, *s, sh->utf8, letter);
    else
        quote_at_q(b, *s, sh->utf8);
    return expand__take(sh, start, s);
}

static int transform_list(struct shell *sh, char letter, struct value *v)
{
    struct str *out = v->n ? arena_try(&sh->scratch, v->n * sizeof(*out)) : NULL;
    if (v->n && !out)
        return expand__no_memory(sh);
    for (uint32_t i = 0; i < v->n; i++) {
        out[i] = v->v[i];
        int r = transform_text(sh, letter, &out[i]);
        if (r == 0)
            r = expand__poll(sh);
        if (r < 0)
            return r;
    }
    v->v = out;
    return 0;
}

/* ---- @a @A ---- */

static void put_flags(struct buf *b, uint32_t flags)
{
    static const struct {
        uint32_t flag;
        char letter;
    } letters[] = {
        {VAR_ARRAY, 'a'}, {VAR_ASSOC, 'A'},  {VAR_INTEGER, 'i'}, {VAR_NAMEREF, 'n'}, {VAR_READONLY, 'r'},
        {VAR_TRACE, 't'}, {VAR_EXPORT, 'x'}, {VAR_CAPCASE, 'c'}, {VAR_LOWER, 'l'},   {VAR_UPPER, 'u'},
    };
    for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++)
        if (flags & letters[i].flag)
            buf_putc(b, letters[i].letter);
}

static struct var *param_var(struct shell *sh, const struct param *p)
{
    return p->kind == PARAM_VAR && p->sym ? var_find(sh, p->sym) : NULL;
}

static int transform_flags(struct shell *sh, const struct param *p, struct value *v)
{
    const struct var *var = param_var(sh, p);
    struct buf *b = &expand__state(sh)->buf;
    size_t start = b->n;
    struct str flags;
    if (var)
        put_flags(b, var->flags);
    int r = expand__take(sh, start, &flags);
    if (r < 0)
        return r;
    if (!v->list || (var && !var_count(var))) {
        *v = (struct value){.set = true, .s = flags};
        return 0;
    }
    struct str *out = arena_try(&sh->scratch, (v->n + (size_t)1) * sizeof(*out));
    if (!out)
        return expand__no_memory(sh);
    for (uint32_t i = 0; i < v->n; i++)
        out[i] = flags;
    v->v = out;
    return 0;
}

/* "declare -x name=" or "name=", and the value quoted. */
static void put_assignment(struct shell *sh, struct buf *b, const struct sym *s, const struct var *var,
                           const struct value *v)
{
    const uint32_t shown = VAR_ARRAY | VAR_ASSOC | VAR_INTEGER | VAR_READONLY | VAR_TRACE | VAR_EXPORT | VAR_CAPCASE |
                           VAR_LOWER | VAR_UPPER;
    if (!v->set && !(var->flags & shown))
        return;
    if (var->flags & shown) {
        buf_addc(b, "declare -");
        put_flags(b, var->flags & shown);
        buf_putc(b, ' ');
    }
    buf_adds(b, s->name);
    if (v->set) {
        buf_putc(b, '=');
        quote_at_q(b, v->s, sh->utf8);
    }
}

/* "${a[@]@A}" gives the words before the value one by one: declare, -a, a=(…); and of "set -- …" all words. */
static int assignment_words(struct shell *sh, struct str s, struct value *v)
{
    struct fields f = {0};
    bool set = str_starts(s, STR("set -- "));
    int r = 0;
    if (set) {
        r = fields_add(sh, &f, STR("set"));
        if (r == 0)
            r = fields_add(sh, &f, STR("--"));
        for (uint32_t i = 0; r == 0 && i < v->n; i++) {
            struct buf *b = &expand__state(sh)->buf;
            size_t start = b->n;
            struct str one;
            quote_at_q(b, v->v[i], sh->utf8);
            r = expand__take(sh, start, &one);
            if (r == 0)
                r = fields_add(sh, &f, one);
        }
    }
    for (int k = 0; k < 2 && !set && r == 0; k++) {
        ptrdiff_t blank = str_find(s, ' ', 0);
        if (blank < 0)
            break;
        r = fields_add(sh, &f, str_of(s.p, (size_t)blank));
        s = str_from(s, (size_t)blank + 1);
    }
    if (!set && r == 0 && s.n)
        r = fields_add(sh, &f, s);
    v->v = f.v;
    v->n = f.n;
    return r;
}

static int transform_assign(struct shell *sh, const struct param *p, struct value *v)
{
    struct buf *b = &expand__state(sh)->buf;
    size_t start = b->n;
    if (p->kind == PARAM_SPECIAL && v->list && v->n) {
        buf_addc(b, "set --");
        for (uint32_t i = 0; i < v->n; i++) {
            buf_putc(b, ' ');
            quote_at_q(b, v->v[i], sh->utf8);
        }
    }
    struct var *var = param_var(sh, p);
    struct sym *s = var ? var_resolve(sh, p->sym, NULL) : NULL;
    if (s && v->list && (var->flags & (VAR_ARRAY | VAR_ASSOC))) {
        var_print_declare(sh, s, var, b);
        if (b->n > start && b->p[b->n - 1] == '\n')
            buf_trunc(b, b->n - 1);
    } else if (s) {
        struct value one = *v;
        if (v->list) {
            one.set = v->n > 0;
            one.s = v->n ? v->v[0] : STR("");
        }
        put_assignment(sh, b, s, var, &one);
    }
    struct value text = {.set = true};
    int r = expand__take(sh, start, &text.s);
    if (r == 0 && v->list && v->all == '@')
        r = assignment_words(sh, text.s, v);
    else
        *v = text;
    return r;
}

/* ---- @K @k ---- */

static void put_key(struct buf *b, struct str key, bool utf8)
{
    struct buf plain BUF_AUTO;
    buf_init(&plain, LIMIT_STRING);
    quote_set(&plain, key, utf8);
    if (key.n && str_eq(buf_str(&plain), key) && !str_eqc(key, "@"))
        buf_adds(b, key);
    else
        quote_declare(b, key, utf8);
}

static int transform_pairs(struct shell *sh, const struct var *var, char letter, struct value *v)
{
    struct buf *b = &expand__state(sh)->buf;
    size_t start = b->n, pos = 0;
    struct str key, val;
    int64_t index;
    char digits[24];
    bool assoc = (var->flags & VAR_ASSOC) != 0;
    struct fields f = {0};
    while (var_next(var, &pos, &key, &index, &val) && !b->err) {
        if (!assoc)
            key = str_of(digits, (size_t)snprintf(digits, sizeof(digits), "%lld", (long long)index));
        if (letter == 'k') {
            int r = expand__copy(sh, key, &key);
            if (r == 0)
                r = fields_add(sh, &f, key);
            if (r == 0)
                r = fields_add(sh, &f, val);
            if (r < 0)
                return r;
            continue;
        }
        if (b->n > start && !assoc)
            buf_putc(b, ' ');
        if (assoc)
            put_key(b, key, sh->utf8);
        else
            buf_adds(b, key);
        buf_putc(b, ' ');
        quote_declare(b, val, sh->utf8);
        if (assoc)
            buf_putc(b, ' ');
    }
    if (letter == 'k') {
        v->v = f.v;
        v->n = f.n;
        return 0;
    }
    *v = (struct value){.set = true};
    return expand__take(sh, start, &v->s);
}

int expand__transform(struct shell *sh, struct param *p, struct value *v)
{
    const struct var *var = param_var(sh, p);
    switch (p->transform) {
    case 'a':
        return transform_flags(sh, p, v);
    case 'A':
        return transform_assign(sh, p, v);
    case 'K':
    case 'k':
        if (v->list && var && (var->flags & (VAR_ARRAY | VAR_ASSOC)))
            return var_count(var) ? transform_pairs(sh, var, p->transform, v) : 0;
        break;
    default:
        break;
    }
    if (v->list)
        return transform_list(sh, p->transform, v);
    return v->set ? transform_text(sh, p->transform, &v->s) : 0;
}
