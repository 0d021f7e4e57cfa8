/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/exec_int.h"

#include "base/num.h"
#include "shell/trap_int.h"
#include "shell/uchar_int.h"

bool exec__leave_loop(struct shell *sh)
{
    if (sh->flow == FLOW_BREAK) {
        if (--sh->flow_n == 0)
            sh->flow = FLOW_NONE;
        return true;
    }
    if (sh->flow == FLOW_CONTINUE && --sh->flow_n == 0) {
        sh->flow = FLOW_NONE;
        return false;
    }
    return true;
}

int exec__if(struct shell *sh, struct node *n, int flags)
{
    sh->errexit_off++;
    int status = exec_node(sh, n->if_.cond, 0);
    sh->errexit_off--;
    if (sh->flow != FLOW_NONE)
        return status;
    if (status == 0)
        return exec_node(sh, n->if_.then, flags);
    return n->if_.other ? exec_node(sh, n->if_.other, flags) : (sh->last_status = 0);
}

int exec__while(struct shell *sh, struct node *n)
{
    bool until = n->kind == NODE_UNTIL;
    int status = 0;
    sh->loop_depth++;
    do {
        sh->errexit_off++;
        int c = exec_node(sh, n->loop.cond, 0);
        sh->errexit_off--;
        if (sh->flow != FLOW_NONE) {
            status = sh->flow == FLOW_BREAK || sh->flow == FLOW_CONTINUE ? 0 : c;
            if (exec__leave_loop(sh))
                break;
            continue;
        }
        if ((c == 0) == until)
            break;
        status = exec_node(sh, n->loop.body, 0);
        if (sh->flow != FLOW_NONE && exec__leave_loop(sh))
            break;
    } while (!sh_poll(sh));
    sh->loop_depth--;
    return sh->flow == FLOW_NONE ? (sh->last_status = status) : sh->last_status;
}

/* ---- for ---- */

static void for_header(const struct node *n, const char *word, struct buf *out)
{
    buf_addf(out, "%s %.*s", word, (int)n->for_.name.n, n->for_.name.p);
    if (!n->for_.has_in) {
        buf_addc(out, " in \"$@\"");
        return;
    }
    buf_addc(out, " in");
    for (uint32_t i = 0; i < n->for_.n_words; i++) {
        buf_putc(out, ' ');
        ast_print_word(out, n->for_.words[i]);
    }
}

void exec__command_text(const struct shell *sh, const struct node *n, struct buf *out)
{
    if (n->kind == NODE_FOR || n->kind == NODE_SELECT) {
        for_header(n, n->kind == NODE_FOR ? "for" : "select", out);
    } else if (n->kind == NODE_CASE) {
        buf_addc(out, "case ");
        ast_print_word(out, n->case_.word);
        buf_addc(out, " in ");
    } else if (n->kind == NODE_FOR_ARITH) {
        buf_addc(out, "((");
        if (sh->cur_expr)
            ast_print_word(out, sh->cur_expr);
        buf_addc(out, "))");
    } else {
        ast_print_oneline(out, n);
    }
}

static void trace_for(struct shell *sh, const struct node *n, const char *word)
{
    struct buf out BUF_AUTO;
    buf_init(&out, LIMIT_STRING);
    for_header(n, word, &out);
    exec__trace_text(sh, buf_str(&out));
}

/* The words that a for or select goes through. */
static int loop_words(struct shell *sh, struct node *n, struct fields *f)
{
    *f = (struct fields){0};
    if (n->for_.has_in)
        return expand_words(sh, n->for_.words, n->for_.n_words, f);
    /* Counted so that `shift` in the body frees nothing: the fields live in scratch. */
    for (uint32_t i = 0; sh->args && i < sh->args->n; i++)
        if (fields_add(sh, f, arena_str(&sh->scratch, sh->args->v[i])) < 0)
            return -1;
    return 0;
}

/* What begins a turn of a for loop: false when the turn is skipped or the loop must end (sh->flow). */
static bool for_turn(struct shell *sh, struct node *n, const char *word)
{
    sh->line = n->line;
    if (sh->traps && trap_run_debug(sh, n))
        return false;
    if (sh_opt(sh, OPT_XTRACE))
        trace_for(sh, n, word);
    return sh->flow == FLOW_NONE;
}

/* Names the loop's variable: NULL after a message. A nameref as loop variable takes each word as its target. */
static int bind_word(struct shell *sh, struct node *n, struct str word)
{
    struct sym *s = n->for_.sym ? n->for_.sym : sym_get(sh, n->for_.name);
    if (!s)
        return -1;
    struct var *v = var_find_raw(sh, s);
    if (v && (v->flags & VAR_NAMEREF)) {
        if (!sym_valid(word)) {
            sh_error(sh, "`%.*s': not a valid identifier", (int)word.n, word.p);
            return -1;
        }
        v = var_own(sh, s);
        if (!v)
            return -1;
        v->flags &= ~(uint32_t)(VAR_NAMEREF | VAR_SET);
        int r = var_set(sh, s, word);
        v->flags |= VAR_NAMEREF;
        return r;
    }
    return var_set(sh, s, word);
}

int exec__for(struct shell *sh, struct node *n)
{
    struct arena_mark m = arena_mark(&sh->scratch);
    uint32_t procsubs = sh->n_procsub;
    struct fields f;
    int status = 0;
    sh->line = n->line;
    if (!sym_valid(n->for_.name)) {
        sh_error(sh, "`%.*s': not a valid identifier", (int)n->for_.name.n, n->for_.name.p);
        return sh_opt(sh, OPT_POSIX) ? (sh_fatal(sh, 2), 2) : exec__ended(sh, 1);
    }
    if (loop_words(sh, n, &f) < 0) {
        arena_reset(&sh->scratch, m);
        return sh->flow == FLOW_NONE ? exec__ended(sh, 1) : sh->last_status;
    }
    sh->loop_depth++;
    for (uint32_t i = 0; i < f.n; i++) {
        if (!for_turn(sh, n, "for")) {
            if (sh->flow != FLOW_NONE)
                break;
            continue;
        }
        if (bind_word(sh, n, f.v[i]) < 0) {
            status = sh_misused(sh, 1);
            break;
        }
        status = exec_node(sh, n->for_.body, 0);
        if ((sh->flow != FLOW_NONE && exec__leave_loop(sh)) || sh_poll(sh))
            break;
    }
    sh->loop_depth--;
    exec__close_procsubs(sh, procsubs);
    arena_reset(&sh->scratch, m);
    return sh->flow == FLOW_NONE ? (sh->last_status = status) : sh->last_status;
}

/* One of the three expressions: false after an error. An empty one is true. */
static bool for_expr(struct shell *sh, struct node *n, int i, int64_t *ret)
{
    const struct word *w[] = {n->for_arith.init, n->for_arith.cond, n->for_arith.step};
    *ret = 1;
    if (!w[i])
        return true;
    sh->line = n->line;
    sh->cur_expr = w[i];
    if (sh->traps && trap_run_debug(sh, n))
        return true;
    if (sh->flow != FLOW_NONE)
        return false;
    if (sh_opt(sh, OPT_XTRACE)) {
        struct str text;
        if (expand_str(sh, w[i], EXPAND_ARITH, &text) == 0)
            exec__trace_text(sh, str_c(arena_printf(&sh->scratch, "(( %.*s ))", (int)text.n, text.p)));
    }
    return arith_eval_word(sh, w[i], &n->for_arith.code[i], ret) >= 0;
}

int exec__for_arith(struct shell *sh, struct node *n)
{
    struct arena_mark m = arena_mark(&sh->scratch);
    const char *who = sh->arith_who;
    int status = 0;
    int64_t v;
    sh->arith_who = "((";
    bool ok = for_expr(sh, n, 0, &v);
    sh->loop_depth++;
    while (ok) {
        sh->arith_who = "((";
        if (!(ok = for_expr(sh, n, 1, &v)) || v == 0)
            break;
        sh->arith_who = who;
        status = exec_node(sh, n->for_arith.body, 0);
        if ((sh->flow != FLOW_NONE && exec__leave_loop(sh)) || sh_poll(sh))
            break;
        sh->arith_who = "((";
        ok = for_expr(sh, n, 2, &v);
        arena_reset(&sh->scratch, m);
    }
    sh->loop_depth--;
    sh->arith_who = who;
    arena_reset(&sh->scratch, m);
    if (sh->flow != FLOW_NONE)
        return sh->last_status;
    return ok ? (sh->last_status = status) : exec__ended(sh, 1);
}

/* ---- select ---- */

static size_t digits(size_t n)
{
    size_t d = 1;
    for (; n >= 10; n /= 10)
        d++;
    return d;
}

static void menu_item(struct shell *sh, struct buf *out, struct str s, size_t i, size_t width)
{
    (void)sh;
    buf_addf(out, "%*zu) ", (int)width, i + 1);
    buf_adds(out, s);
}

/* Moves from column @from to column @to with tabs and blanks, as a terminal's 8-column stops allow. */
static void indent_to(struct buf *out, size_t from, size_t to)
{
    while (from < to) {
        if (to / 8 > from / 8) {
            buf_putc(out, '\t');
            from += 8 - from % 8;
        } else {
            buf_putc(out, ' ');
            from++;
        }
    }
}

/* The menu in columns, down then across, as wide as COLUMNS allows; one column when all items are wide. */
static void print_menu(struct shell *sh, const struct fields *f)
{
    struct buf out BUF_AUTO;
    buf_init(&out, LIMIT_STRING);
    uint64_t screen = 80;
    struct str columns = var_get(sh, "COLUMNS");
    if (columns.n && (str_u64(columns, &screen) < 0 || screen == 0))
        screen = 80;
    size_t widest = 0, num = digits(f->n);
    for (uint32_t i = 0; i < f->n; i++)
        widest = NUM_MAX(widest, uchar_count(f->v[i], sh->utf8));
    size_t width = widest + num + 2 + 2, cols = NUM_MAX(screen / width, 1);
    size_t rows = (f->n + cols - 1) / cols;
    cols = rows ? (f->n + rows - 1) / rows : 1;
    if (rows == 1) {
        rows = f->n;
        cols = 1;
    }
    size_t first = digits(rows);
    for (size_t r = 0; r < rows; r++) {
        size_t pos = 0;
        for (size_t i = r; i < f->n; i += rows) {
            size_t w = i < rows ? first : num;
            menu_item(sh, &out, f->v[i], i, w);
            size_t used = w + 2 + uchar_count(f->v[i], sh->utf8);
            if (i + rows >= f->n)
                break;
            indent_to(&out, pos + used, pos + width);
            pos += width;
        }
        buf_putc(&out, '\n');
    }
    sh_write_fd(sh, 2, buf_str(&out));
}

/* A line of standard input without its newline into @out: false at its end. */
static bool read_line(struct shell *sh, struct buf *out)
{
    for (;;) {
        const void *p;
        size_t n;
        if (proc_peek(sh->p, 0, &p, &n) < 0 || n == 0)
            return false;
        const char *end = memchr(p, '\n', n);
        size_t take = end ? (size_t)(end - (const char *)p) : n;
        buf_add(out, p, take);
        proc_consume(sh->p, 0, end ? take + 1 : take);
        if (end)
            return true;
    }
}

/* Asks until there is a line: 1 and the chosen word (empty when the number is none of them), 0 at the end of input. */
static int ask(struct shell *sh, const struct fields *f, bool menu, struct str *ret)
{
    struct buf line BUF_AUTO;
    buf_init(&line, LIMIT_STRING);
    for (;;) {
        if (menu)
            print_menu(sh, f);
        struct buf prompt BUF_AUTO;
        buf_init(&prompt, LIMIT_STRING);
        struct str ps3 = var_get(sh, "PS3");
        if (!ps3.p)
            buf_addc(&prompt, "#? ");
        else
            (void)expand_prompt(sh, ps3, &prompt);
        sh_write_fd(sh, 2, buf_str(&prompt));
        buf_clear(&line);
        if (!read_line(sh, &line) || line.err) {
            sh_write_fd(sh, 1, STR("\n"));
            return 0;
        }
        menu = true;
        if (line.n)
            break;
        if (sh_poll(sh))
            return 0;
    }
    uint64_t k;
    (void)var_set_name(sh, "REPLY", buf_str(&line));
    struct str t = buf_str(&line);
    while (t.n && (t.p[0] == ' ' || t.p[0] == '\t'))
        t = str_from(t, 1);
    while (t.n && (t.p[t.n - 1] == ' ' || t.p[t.n - 1] == '\t'))
        t.n--;
    *ret = str_u64(t, &k) == 0 && k >= 1 && k <= f->n ? f->v[k - 1] : STR("");
    return 1;
}

int exec__select(struct shell *sh, struct node *n)
{
    struct arena_mark m = arena_mark(&sh->scratch);
    struct fields f;
    int status = 0;
    sh->line = n->line;
    if (!sym_valid(n->for_.name)) {
        sh_error(sh, "`%.*s': not a valid identifier", (int)n->for_.name.n, n->for_.name.p);
        return exec__ended(sh, 1);
    }
    if (sh->traps && trap_run_debug(sh, n))
        return 0;
    if (loop_words(sh, n, &f) < 0 || f.n == 0) {
        arena_reset(&sh->scratch, m);
        return sh->flow == FLOW_NONE ? (sh->last_status = 0) : sh->last_status;
    }
    if (sh_opt(sh, OPT_XTRACE))
        trace_for(sh, n, "select");
    bool menu = true;
    sh->loop_depth++;
    for (;;) {
        struct str word;
        if (ask(sh, &f, menu, &word) == 0) {
            status = 1;
            break;
        }
        if (bind_word(sh, n, word) < 0) {
            status = 1;
            break;
        }
        status = exec_node(sh, n->for_.body, 0);
        if ((sh->flow != FLOW_NONE && exec__leave_loop(sh)) || sh_poll(sh))
            break;
        /* The menu comes again when the body emptied REPLY. */
        menu = var_get(sh, "REPLY").n == 0;
    }
    sh->loop_depth--;
    arena_reset(&sh->scratch, m);
    return sh->flow == FLOW_NONE ? (sh->last_status = status) : sh->last_status;
}

/* ---- case ---- */

static int clause_matches(struct shell *sh, const struct case_clause *c, struct str text, int flags)
{
    for (uint32_t i = 0; i < c->n_patterns; i++) {
        const struct word *w = c->patterns[i];
        struct str pat;
        if ((w->flags & WORD_LITERAL) && !(flags & PATTERN_NOCASE)) {
            if (w->parts && str_eq(w->parts->text, text))
                return 1;
            continue;
        }
        if (expand_str(sh, w, EXPAND_PATTERN, &pat) < 0)
            return -1;
        if (sh_match(sh, pat, text, flags))
            return 1;
    }
    return 0;
}

static void trace_case(struct shell *sh, const struct node *n)
{
    struct buf out BUF_AUTO;
    buf_init(&out, LIMIT_STRING);
    buf_addc(&out, "case ");
    ast_print_word(&out, n->case_.word);
    buf_addc(&out, " in");
    exec__trace_text(sh, buf_str(&out));
}

int exec__case(struct shell *sh, struct node *n, int flags)
{
    struct arena_mark m = arena_mark(&sh->scratch);
    struct str text;
    int status = 0;
    sh->line = n->line;
    if (sh->traps && trap_run_debug(sh, n))
        return sh->last_status = 1;
    if (sh_opt(sh, OPT_XTRACE))
        trace_case(sh, n);
    if (sh->flow != FLOW_NONE)
        return sh->last_status;
    if (expand_str(sh, n->case_.word, EXPAND_PLAIN, &text) < 0) {
        arena_reset(&sh->scratch, m);
        return sh->flow == FLOW_NONE ? exec__ended(sh, 1) : sh->last_status;
    }
    int pflags = pattern_flags(sh) & ~PATTERN_NOCASE;
    if (sh_shopt(sh, SHOPT_NOCASEMATCH))
        pflags |= PATTERN_NOCASE;
    bool falls = false;
    for (uint32_t i = 0; i < n->case_.n; i++) {
        const struct case_clause *c = &n->case_.clauses[i];
        int hit = falls ? 1 : clause_matches(sh, c, text, pflags);
        if (hit < 0) {
            status = 1;
            break;
        }
        if (!hit)
            continue;
        bool last = c->end == CASE_BREAK || i + 1 == n->case_.n;
        status = exec_node(sh, c->body, last ? flags : 0);
        falls = c->end == CASE_FALL;
        if (c->end == CASE_BREAK || sh->flow != FLOW_NONE)
            break;
    }
    arena_reset(&sh->scratch, m);
    return sh->flow == FLOW_NONE ? (sh->last_status = status) : sh->last_status;
}
