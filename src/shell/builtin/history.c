/* SPDX-License-Identifier: Apache-2.0 */
/* history, and bind, which belongs to line editing. */
#include "shell/history_int.h"

#include <errno.h>

#include "base/num.h"
#include "shell/shell_int.h"
#include "types/errtab.h"

static int out_of_range(struct shell *sh, struct str what)
{
    sh_error(sh, "history: %s: history position out of range", what.p);
    return 1;
}

static void put_entry(struct shell *sh, const struct history *h, size_t i)
{
    struct str format = var_get(sh, "HISTTIMEFORMAT");
    struct buf when BUF_AUTO;
    buf_init(&when, 4096);
    if (format.n && !h->v[i].when)
        buf_addc(&when, "??");
    else if (format.n)
        expand_time(sh, arena_str(&sh->scratch, format).p, h->v[i].when, &when);
    sh_printf(sh, "%5lld  %s", (long long)(h->base + (int64_t)i), when.n ? when.p : "");
    sh_write(sh, str_of(h->v[i].text, h->v[i].n));
    sh_puts(sh, "\n");
}

static int list(struct shell *sh, struct builtin_args *a, int i)
{
    struct history *h = sh_history_ref(sh->history);
    int64_t limit = INT64_MAX;
    if (i < a->argc && str_i64(a->argv[i], &limit) < 0) {
        sh_error(sh, "history: %s: numeric argument required", a->argv[i].p);
        sh_history_unref(h);
        return 1;
    }
    if (i + 1 < a->argc) {
        sh_history_unref(h);
        return builtin_too_many(sh, a);
    }
    size_t n = h ? h->n : 0, max = limit == INT64_MIN ? n : (size_t)(limit < 0 ? -limit : limit);
    for (size_t k = n - NUM_MIN(n, max); k < n; k++)
        put_entry(sh, h, k);
    sh_history_unref(h);
    return 0;
}

/* A position as it is displayed, or from the end when it is negative: its index, or -1. */
static int64_t position(const struct history *h, struct str text)
{
    int64_t n;
    if (!h || str_i64(text, &n) < 0)
        return -1;
    n = n < 0 ? n + (int64_t)h->n : n > 0 ? n - h->base : n;
    return n >= 0 && n < (int64_t)h->n ? n : -1;
}

static int delete_entries(struct shell *sh, struct str what)
{
    const struct history *h = sh->history;
    ptrdiff_t dash = what.n > 1 ? str_find(what, '-', 1) : -1;
    int64_t n;
    if (dash < 0) {
        int64_t at = str_i64(what, &n) == 0 && n != 0 ? position(h, what) : -1;
        return at < 0 || !sh_history_drop(sh, (size_t)at, (size_t)at) ? out_of_range(sh, what) : 0;
    }
    struct str first = arena_str(&sh->scratch, str_of(what.p, (size_t)dash));
    struct str second = str_from(what, (size_t)dash + 1);
    if (str_i64(first, &n) < 0 || str_i64(second, &n) < 0)
        return out_of_range(sh, what);
    int64_t from = position(h, first), to = position(h, second);
    if (from < 0 || to < 0)
        return out_of_range(sh, from < 0 ? first : second);
    return from <= to && sh_history_drop(sh, (size_t)from, (size_t)to) ? 0 : 1;
}

static int expand_arguments(struct shell *sh, struct builtin_args *a, int i)
{
    int status = 0;
    if (i < a->argc)
        sh_history_drop_current(sh);
    for (; i < a->argc; i++) {
        struct buf out BUF_AUTO;
        buf_init(&out, LIMIT_SCRIPT);
        if (sh_history_expand(sh, a->argv[i], 0, &out) == HISTORY_FAILED) {
            sh_error(sh, "history: %s: history expansion failed", a->argv[i].p);
            status = 1;
            continue;
        }
        sh_write(sh, buf_str(&out));
        sh_puts(sh, "\n");
    }
    return status;
}

static int store_arguments(struct shell *sh, struct builtin_args *a, int i)
{
    struct buf text BUF_AUTO;
    buf_init(&text, LIMIT_SCRIPT);
    if (i >= a->argc)
        return 0;
    for (int k = i; k < a->argc; k++) {
        if (k > i)
            buf_putc(&text, ' ');
        buf_adds(&text, a->argv[k]);
    }
    if (sh_opt(sh, OPT_HISTORY))
        sh_history_drop_current(sh);
    (void)sh_history_offer(sh, buf_str(&text));
    sh_history_own(sh)->pushed = true;
    return 0;
}

static int with_file(struct shell *sh, int c, struct builtin_args *a, int i)
{
    struct str path = i < a->argc ? a->argv[i] : arena_str(&sh->scratch, var_get(sh, "HISTFILE"));
    int r = 0;
    if (!path.n) {
        if (i < a->argc)
            sh_error(sh, "history: empty filename");
        return 1;
    }
    if (c == 'a')
        r = sh->history && sh->history->fresh ? sh_history_write(sh, path, true) : 0;
    else if (c == 'w')
        r = sh_history_write(sh, path, false);
    else
        r = sh_history_read(sh, path, c == 'n');
    return r < 0;
}

static int builtin_history(struct shell *sh, struct builtin_args *a)
{
    struct builtin_opt o = {0};
    struct str range = {0};
    int c, file = 0, files = 0;
    bool clear = false, print = false, store = false;
    while ((c = builtin_getopt(sh, a, "acd:npsrw", &o)) != -1) {
        if (c == '?')
            return 2;
        if (c == 'c')
            clear = true;
        else if (c == 'd')
            range = o.arg;
        else if (c == 'p')
            print = true;
        else if (c == 's')
            store = true;
        else if (c != file) {
            file = c;
            files++;
        }
    }
    int i = o.i ? o.i : 1;
    if (files > 1) {
        sh_error(sh, "history: cannot use more than one of -anrw");
        return 1;
    }
    if (clear) {
        sh_history_clear(sh);
        if (i >= a->argc && !file)
            return 0;
    }
    if (store)
        return store_arguments(sh, a, i);
    if (print)
        return expand_arguments(sh, a, i);
    if (range.p)
        return delete_entries(sh, range);
    return file ? with_file(sh, file, a, i) : list(sh, a, i);
}

static int builtin_bind(struct shell *sh, struct builtin_args *a)
{
    (void)a;
    sh_error(sh, "bind: key bindings cannot be changed in this shell");
    return 1;
}

BUILTIN(history, "history", builtin_history, 0,
        "history [-c] [-d offset] [n] or history -anrw [filename] or history -ps arg [arg...]",
        "    Show the commands that were read, the last n of them, or change the list.\n"
        "\n"
        "      -c         forget all\n"
        "      -d OFFSET  forget one, or a range FIRST-LAST; negative ones count from the end\n"
        "      -a         append those of this shell to the file\n"
        "      -n         read the lines of the file that were not read yet\n"
        "      -r         read the file\n"
        "      -w         write the file\n"
        "      -p         print the arguments after history expansion\n"
        "      -s         make the arguments an entry\n"
        "\n"
        "    The file is HISTFILE. Commands are recorded with set -o history. The status is 0 unless an option is\n"
        "    wrong or the file fails.\n");
BUILTIN(bind, "bind", builtin_bind, 0,
        "bind [-lpsvPSVX] [-m keymap] [-f filename] [-q name] [-u name] [-r keyseq] [-x keyseq:shell-command] "
        "[keyseq:readline-function or readline-command]",
        "    Change the keys of the line editor.\n"
        "\n"
        "    They are fixed here: the status is always 1.\n");
