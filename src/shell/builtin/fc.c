/* SPDX-License-Identifier: Apache-2.0 */
/* fc - lists the history, or runs something of it again. */
#include "shell/history_int.h"

#include <errno.h>
#include <fcntl.h>

#include "base/mem.h"
#include "base/num.h"
#include "shell/exec_int.h"
#include "shell/shell_int.h"
#include "shell/start_int.h"
#include "types/errtab.h"

enum { PLACE_INVALID = -1, PLACE_NOT_FOUND = -2 };

/* Index of the command before the one that runs fc, which is an entry, too, if it was added. */
static int64_t newest(struct shell *sh)
{
    const struct history *h = sh->history;
    int64_t n = h ? (int64_t)h->n : 0;
    n -= 1 + (sh_opt(sh, OPT_HISTORY) && h && h->added && !h->pushed);
    return n < 0 ? 0 : n;
}

/* The entry that @spec names (a number, one from the end, or the beginning of a command): its index, or PLACE_*. */
static int64_t find(struct shell *sh, struct str spec, bool listing, bool first)
{
    const struct history *h = sh->history;
    int64_t last = newest(sh), n;
    struct str digits = spec.n && spec.p[0] == '-' ? str_from(spec, 1) : spec;
    if (!h || !h->n)
        return PLACE_NOT_FOUND;
    if (digits.n && digits.p[0] >= '0' && digits.p[0] <= '9') {
        size_t k = 0;
        for (n = 0; k < digits.n && digits.p[k] >= '0' && digits.p[k] <= '9'; k++)
            n = NUM_MIN(n * 10 + (digits.p[k] - '0'), (int64_t)LIMIT_HISTORY * 1000);
        if (digits.n != spec.n && n > 0)
            return NUM_MAX(last + 1 - n, (int64_t)0);
        if (n == 0)
            return digits.n == spec.n ? last : listing ? (int64_t)h->n - 1 : PLACE_INVALID;
        n -= h->base;
        return n >= 0 && n <= last ? n : first ? 0 : last;
    }
    for (n = last; n >= 0; n--)
        if (str_starts(str_of(h->v[n].text, h->v[n].n), spec))
            return n;
    return PLACE_NOT_FOUND;
}

static int cannot(struct shell *sh, int64_t place)
{
    sh_error(sh, place == PLACE_INVALID ? "fc: history specification out of range" : "fc: no command found");
    return 1;
}

/* ---- fc -s ---- */

static struct str replaced(struct shell *sh, struct str s, struct str old, struct str new)
{
    struct buf b BUF_AUTO;
    buf_init(&b, LIMIT_SCRIPT);
    for (size_t i = 0; i < s.n;) {
        if (old.n && i + old.n <= s.n && !memcmp(s.p + i, old.p, old.n)) {
            buf_adds(&b, new);
            i += old.n;
        } else {
            buf_putc(&b, s.p[i++]);
        }
    }
    return arena_str(&sh->scratch, buf_str(&b));
}

static int again(struct shell *sh, struct builtin_args *a, int i)
{
    int first = i;
    while (i < a->argc && str_find(a->argv[i], '=', 0) >= 0)
        i++;
    int64_t at = i < a->argc ? find(sh, a->argv[i], false, true) : newest(sh);
    const struct history *h = sh->history;
    if (!h || !h->n || at < 0)
        return cannot(sh, PLACE_NOT_FOUND);
    struct str text = arena_str(&sh->scratch, str_of(h->v[at].text, h->v[at].n));
    for (int k = first; k < i; k++) {
        size_t eq = (size_t)str_find(a->argv[k], '=', 0);
        text = replaced(sh, text, str_of(a->argv[k].p, eq), str_from(a->argv[k], eq + 1));
    }
    sh_write_fd(sh, 2, text);
    sh_write_fd(sh, 2, STR("\n"));
    if (sh_opt(sh, OPT_HISTORY)) { /* what runs takes the place of fc itself */
        sh_history_drop_current(sh);
        (void)sh_history_offer(sh, text);
        sh_history_own(sh)->pushed = true;
    }
    return exec_text(sh, text, sh->line, "fc");
}

/* ---- listing and editing ---- */

static void put(struct shell *sh, struct buf *out, size_t i, bool numbers, bool listing)
{
    const struct history *h = sh->history;
    if (numbers)
        buf_addf(out, "%lld", (long long)(h->base + (int64_t)i));
    if (listing)
        buf_addc(out, sh_opt(sh, OPT_POSIX) ? "\t" : "\t ");
    buf_add(out, h->v[i].text, h->v[i].n);
    buf_putc(out, '\n');
}

/* The commands go through the editor, and are run as they come back, each shown before. */
static int edit(struct shell *sh, struct str text, struct str editor)
{
    char *path = arena_printf(&sh->scratch, "/tmp/bash-fc.%d", sh->p->pid);
    int fd = proc_open(sh->p, str_c(path), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0) {
        sh_errno(sh, fd, "fc: %s: cannot open temp file", path);
        return 1;
    }
    sh_write_fd(sh, fd, text);
    (void)proc_close(sh->p, fd);
    const char *tool = "${FCEDIT:-${EDITOR:-$(command -v editor || echo vi)}}";
    if (sh_opt(sh, OPT_POSIX))
        tool = "${FCEDIT:-ed}";
    const char *command = editor.p ? editor.p : tool;
    int status = exec_text(sh, str_c(arena_printf(&sh->scratch, "%s %s", command, path)), sh->line, "fc");
    struct buf back BUF_AUTO;
    buf_init(&back, LIMIT_SCRIPT);
    int r = status || sh->flow != FLOW_NONE ? 0 : start_read_file(sh, str_c(path), &back);
    struct vfs_ctx ctx = proc_ctx(sh->p);
    (void)vfs_unlink(proc_set_vfs(sh->ps), &ctx, 0, str_c(path)); /* the editor may have taken it away */
    if (status || r < 0 || sh->flow != FLOW_NONE)
        return 1;
    sh_write_fd(sh, 2, buf_str(&back));
    for (struct str rest = buf_str(&back); rest.n && sh_opt(sh, OPT_HISTORY);) {
        ptrdiff_t nl = str_find(rest, '\n', 0);
        struct str line = nl < 0 ? rest : str_of(rest.p, (size_t)nl);
        if (line.n)
            (void)sh_history_offer(sh, line);
        sh_history_own(sh)->pushed = true;
        rest = str_from(rest, NUM_MIN(line.n + 1, rest.n));
    }
    return exec_text(sh, buf_str(&back), sh->line, "fc");
}

/* A number, also a negative one, is no option. */
static bool is_number(struct str s)
{
    int64_t n;
    return s.n && str_i64(s.p[0] == '-' ? str_from(s, 1) : s, &n) == 0;
}

static int builtin_fc(struct shell *sh, struct builtin_args *a)
{
    struct builtin_opt o = {0};
    struct str editor = {0};
    bool listing = false, numbers = true, reverse = false, run = false;
    int c = 0, i = 1;
    while (!(i < a->argc && !o.pos && is_number(a->argv[i])) && (c = builtin_getopt(sh, a, "e:lnrs", &o)) != -1) {
        if (c == '?')
            return 2;
        listing |= c == 'l';
        numbers &= c != 'n';
        reverse |= c == 'r';
        run |= c == 's';
        if (c == 'e')
            editor = o.arg;
        i = o.i;
    }
    i = o.i ? o.i : 1;
    if (run || (editor.p && str_eqc(editor, "-")))
        return again(sh, a, i);
    const struct history *h = sh->history;
    if (!h || !h->n)
        return 0;
    int64_t last = newest(sh), from, to;
    if (i < a->argc) {
        from = find(sh, a->argv[i], listing, true);
        to = i + 1 < a->argc ? find(sh, a->argv[i + 1], listing, false)
             : listing       ? from == (int64_t)h->n - 1 ? from : last
                             : from;
    } else {
        to = last;
        from = listing ? NUM_MAX(to - 15, (int64_t)0) : to;
    }
    if (from < 0 || to < 0)
        return cannot(sh, from < 0 ? from : to);
    struct buf out BUF_AUTO;
    buf_init(&out, LIMIT_SCRIPT);
    if (from > to) {
        int64_t swap = from;
        from = to;
        to = swap;
        reverse = true;
    }
    if (!listing)
        sh_history_drop_current(sh);
    to = NUM_MIN(to, (int64_t)sh->history->n - 1);
    for (int64_t k = reverse ? to : from; reverse ? k >= from : k <= to; k += reverse ? -1 : 1)
        put(sh, &out, (size_t)k, numbers && listing, listing);
    if (!listing)
        return edit(sh, buf_str(&out), editor);
    sh_write(sh, buf_str(&out));
    return 0;
}

BUILTIN(fc, "fc", builtin_fc, BUILTIN_POSIX | BUILTIN_TEXT,
        "fc [-e ename] [-lnr] [first] [last] or fc -s [pat=rep] [command]",
        "    List commands of the history, or run some again.\n"
        "\n"
        "      -l        list them: by default the last 16\n"
        "      -n        without numbers\n"
        "      -r        the newest first\n"
        "      -e NAME   the editor that they go through before they are run: else FCEDIT, EDITOR\n"
        "      -s        run the last one, or the one that begins with COMMAND, at once, with REP for each PAT\n"
        "\n"
        "    FIRST and LAST are numbers, negative ones from the end, or the beginning of a command.\n"
        "    The status is that of what is run; listing fails when there is no such command.\n");
