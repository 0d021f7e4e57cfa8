/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/builtin/declare_int.h"

#include <stdlib.h>

#include "base/mem.h"
#include "shell/shell_int.h"

/* ---- variables ---- */

static void put_value(struct buf *out, struct str v, bool utf8)
{
    if (v.n == 0)
        return;
    if (var_plain_text(v))
        buf_adds(out, v);
    else
        quote_at_q(out, v, utf8);
}

static void put_assignment(void *arg, struct sym *s, struct var *v)
{
    struct shell *sh = arg;
    if (!(v->flags & VAR_SET))
        return;
    BUF_AUTO struct buf b;
    buf_init(&b, LIMIT_STRING);
    buf_adds(&b, s->name);
    buf_putc(&b, '=');
    if (v->flags & (VAR_ARRAY | VAR_ASSOC)) {
        var_print_elems(sh, v, &b);
    } else {
        struct var *now = v->flags & VAR_NAMEREF ? v : var_find(sh, s);
        if (now)
            put_value(&b, str_of(now->p, now->n), sh->utf8);
    }
    buf_putc(&b, '\n');
    sh_write(sh, buf_str(&b));
}

struct filter {
    struct shell *sh;
    uint32_t flags;
    bool local_only;
    const char *posix_word;
};

/* "declare -FLAGS NAME…" as posix mode shows it: of the flags there is only the one of an array. */
static void put_posix(struct shell *sh, const char *word, const struct var *v, struct str text)
{
    const char *array = v->flags & VAR_ARRAY ? " -a" : v->flags & VAR_ASSOC ? " -A" : "";
    ptrdiff_t space = str_find(text, ' ', sizeof "declare");
    text = str_from(text, space < 0 ? 0 : (size_t)space);
    sh_printf(sh, "%s%s%.*s", word, array, (int)text.n, text.p);
}

static void put_declared(void *arg, struct sym *s, struct var *v)
{
    const struct filter *f = arg;
    struct shell *sh = f->sh;
    if ((v->flags & f->flags) != f->flags)
        return;
    if (f->local_only && (!(v->flags & VAR_LOCAL) || v->depth != sh->func_depth))
        return;
    BUF_AUTO struct buf b;
    buf_init(&b, LIMIT_STRING);
    var_print_declare(sh, s, v, &b);
    if (b.n && b.p[b.n - 1] != '\n')
        buf_putc(&b, '\n');
    if (f->posix_word && sh_opt(sh, OPT_POSIX))
        put_posix(sh, f->posix_word, v, buf_str(&b));
    else
        sh_write(sh, buf_str(&b));
}

void declare_list(struct shell *sh, uint32_t flags, bool local_only, const char *posix_word)
{
    struct filter f = {sh, flags, local_only, posix_word};
    var_each(sh, put_declared, &f);
}

/* ---- functions ---- */

void declare_print_function(struct shell *sh, const struct func *f, bool names_only, bool attributes)
{
    char flags[8];
    snprintf(flags, sizeof(flags), "%s%s%s", f->readonly ? "r" : "", f->traced ? "t" : "", f->exported ? "x" : "");
    if (!names_only) {
        BUF_AUTO struct buf b;
        buf_init(&b, LIMIT_STRING);
        ast_print_function(&b, f->name, f->body);
        if (b.n && b.p[b.n - 1] != '\n')
            buf_putc(&b, '\n');
        if (b.err)
            sh_error(sh, "%s: nested too deep to print", f->name.p);
        else
            sh_write(sh, buf_str(&b));
    }
    if (names_only || (attributes && *flags))
        sh_printf(sh, "declare -f%s %s\n", flags, f->name.p);
}

static int by_name(const void *a, const void *b)
{
    struct func *const *x = a;
    struct func *const *y = b;
    return str_cmp((*x)->name, (*y)->name);
}

void declare_list_functions(struct shell *sh, bool names_only, bool exported, bool readonly, bool traced)
{
    struct map_iter it = {0};
    size_t n = 0, count = sh->funcs ? map_count(sh->funcs) : 0;
    MEM_AUTO struct func **v = mem_try((count + 1) * sizeof(*v));
    if (!v)
        return;
    while (count && map_next(sh->funcs, &it))
        v[n++] = it.val;
    qsort(v, n, sizeof(*v), by_name);
    for (size_t i = 0; i < n; i++)
        if ((!exported || v[i]->exported) && (!readonly || v[i]->readonly) && (!traced || v[i]->traced))
            declare_print_function(sh, v[i], names_only, true);
}

void declare_list_all(struct shell *sh)
{
    var_each(sh, put_assignment, sh);
    if (!sh_opt(sh, OPT_POSIX))
        declare_list_functions(sh, false, false, false, false);
}
