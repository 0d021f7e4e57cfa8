/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/shell_int.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "types/errtab.h"

/*
 * What a redirection replaces is kept as a counted open file, not as a high descriptor: the process shows no
 * descriptors that its script did not open, and nothing has to be closed in children.
 */
struct redir_saved {
    struct redir_saved *prev;
    int fd;
    bool cloexec;
    struct proc_file *file; /* NULL: was closed */
};

#define USER_FD_MIN 10 /* where {var}> begins to look for a free descriptor */

/* @closed: the descriptor was closed before; what is there now is the redirection's own file. */
static void save(struct shell *sh, struct redir_saved **saved, int fd, bool closed)
{
    if (!saved)
        return;
    for (const struct redir_saved *s = *saved; s; s = s->prev)
        if (s->fd == fd)
            return;
    struct redir_saved *s = ARENA_NEW(&sh->scratch, struct redir_saved);
    s->fd = fd;
    s->file = closed ? NULL : proc_get(sh->p, fd);
    if (s->file) {
        s->cloexec = sh->p->fds.v[fd].cloexec;
        proc_file_ref(s->file);
    }
    s->prev = *saved;
    *saved = s;
}

static void save_fd(struct shell *sh, struct redir_saved **saved, int fd)
{
    save(sh, saved, fd, false);
}

void redir_restore(struct shell *sh, struct redir_saved *s)
{
    for (; s; s = s->prev) {
        (void)proc_close(sh->p, s->fd);
        if (!s->file)
            continue;
        int fd = proc_install(sh->p, s->file, s->fd, s->cloexec);
        if (fd < 0)
            proc_file_unref(s->file);
    }
}

void redir_keep(struct shell *sh, struct redir_saved *s)
{
    (void)sh;
    for (; s; s = s->prev)
        proc_file_unref(s->file);
}

/* Moves descriptor @from to @to, which is saved first. */
static int move_fd(struct shell *sh, int from, int to, struct redir_saved **saved)
{
    save(sh, saved, to, from == to);
    if (from == to)
        return 0;
    int r = proc_dup2(sh->p, from, to, false);
    (void)proc_close(sh->p, from);
    return r < 0 ? r : 0;
}

static int default_fd(enum redir_kind k)
{
    return k == REDIR_IN || k == REDIR_RDWR || k == REDIR_DUP_IN || k == REDIR_HEREDOC || k == REDIR_HERESTR ? 0 : 1;
}

static int fail(struct shell *sh, int err, struct str name)
{
    sh_error(sh, "%.*s: %s", (int)name.n, name.p, errtab_text(err));
    return 1;
}

/* ---- opening ---- */

static int open_flags(enum redir_kind k)
{
    switch (k) {
    case REDIR_IN:
        return O_RDONLY;
    case REDIR_RDWR:
        return O_RDWR | O_CREAT;
    case REDIR_APPEND:
    case REDIR_BOTH_APPEND:
        return O_WRONLY | O_CREAT | O_APPEND;
    case REDIR_OUT:
    case REDIR_CLOBBER:
    case REDIR_BOTH:
    case REDIR_DUP_IN:
    case REDIR_DUP_OUT:
    case REDIR_HEREDOC:
    case REDIR_HERESTR:
        return O_WRONLY | O_CREAT | O_TRUNC;
    }
    return O_RDONLY;
}

static bool is_network(struct str name)
{
    return str_starts(name, STR("/dev/tcp/")) || str_starts(name, STR("/dev/udp/"));
}

/* With noclobber an existing regular file is not overwritten, one that appears in between neither (O_EXCL). */
static int open_noclobber(struct shell *sh, struct str name)
{
    struct vfs_stat st;
    struct vfs_ctx ctx = proc_ctx(sh->p);
    int r = vfs_stat(proc_set_vfs(sh->ps), &ctx, 0, name, 0, &st);
    if (r == 0 && S_ISREG(st.mode))
        return -EEXIST;
    int extra = r == 0 ? 0 : O_EXCL;
    return proc_open(sh->p, name, O_WRONLY | O_CREAT | O_TRUNC | extra, 0666);
}

/* Opens a redirection's file: a descriptor, or -1 after a message. */
static int open_target(struct shell *sh, enum redir_kind k, struct str name)
{
    if (is_network(name)) {
        sh_error(sh, "%.*s: the network is not available in this sandbox (start it with a network grant)", (int)name.n,
                 name.p);
        return -1;
    }
    if (sh->restricted && k != REDIR_IN) {
        sh_error(sh, "%.*s: restricted: cannot redirect output", (int)name.n, name.p);
        return -1;
    }
    bool careful = sh_opt(sh, OPT_NOCLOBBER) && (k == REDIR_OUT || k == REDIR_BOTH);
    int fd = careful ? open_noclobber(sh, name) : proc_open(sh->p, name, open_flags(k), 0666);
    if (fd == -EEXIST && careful)
        sh_error(sh, "%.*s: cannot overwrite existing file", (int)name.n, name.p);
    else if (fd < 0)
        fail(sh, fd, name);
    return fd < 0 ? -1 : fd;
}

static int open_text(struct shell *sh, const struct redir *r)
{
    struct str text;
    struct arena_mark m = arena_mark(&sh->scratch);
    if (expand_str(sh, r->target, r->kind == REDIR_HEREDOC ? EXPAND_HEREDOC : EXPAND_PLAIN, &text) < 0)
        return -1;
    if (r->kind == REDIR_HERESTR) {
        char *p = arena_try(&sh->scratch, text.n + 2);
        if (!p)
            return -1;
        memcpy(p, text.p, text.n);
        p[text.n] = '\n';
        text = str_of(p, text.n + 1);
    }
    struct proc_file *f = text.n < LIMIT_HEREDOC ? proc_file_text(sh->ps, text) : NULL;
    arena_reset(&sh->scratch, m);
    int fd = f ? proc_install(sh->p, f, 0, false) : -ENOMEM;
    if (f && fd < 0)
        proc_file_unref(f);
    if (fd < 0)
        sh_error(sh, "cannot create temp file for here-document: %s", errtab_text(fd));
    return fd < 0 ? -1 : fd;
}

/* ---- where it goes ---- */

/* {name}: the variable's value as a descriptor, or -1. */
static int var_fd(struct shell *sh, struct str name)
{
    struct str base, sub, val = {0};
    struct sym *s;
    int64_t n;
    if (var_split_ref(name, &base, &sub)) {
        struct var *v = (s = sym_get(sh, base)) ? var_find(sh, s) : NULL;
        int64_t index = 0;
        if (!v || (!(v->flags & VAR_ASSOC) && arith_eval_text(sh, sub, &index) < 0) ||
            !var_elem(sh, v, sub, index, &val))
            return -1;
    } else if (!(s = sym_get(sh, name)) || !var_text(sh, s, &val)) {
        return -1;
    }
    return str_i64(val, &n) == 0 && n >= 0 && n < LIMIT_FDS ? (int)n : -1;
}

static int set_var_fd(struct shell *sh, struct str name, int fd)
{
    char text[16];
    struct str base, sub, val = str_of(text, (size_t)snprintf(text, sizeof text, "%d", fd));
    struct sym *s;
    if (!var_split_ref(name, &base, &sub))
        return (s = sym_get(sh, name)) ? var_set(sh, s, val) : -ENOMEM;
    s = sym_get(sh, base);
    struct var *v = s ? var_find(sh, s) : NULL;
    int64_t index = 0;
    if (!s || (!(v && (v->flags & VAR_ASSOC)) && arith_eval_text(sh, sub, &index) < 0))
        return -EINVAL;
    return var_set_elem(sh, s, sub, index, val, false);
}

/* Gives an open descriptor its place: the redirection's number, or a free one that {var} gets. */
static int place(struct shell *sh, const struct redir *r, int fd, struct redir_saved **saved)
{
    if (!r->var.n) {
        int to = r->fd >= 0 ? r->fd : default_fd(r->kind);
        int e = move_fd(sh, fd, to, saved);
        return e < 0 ? fail(sh, e, str_c(arena_printf(&sh->scratch, "%d", to))) : 0;
    }
    int high = fd;
    if (fd < USER_FD_MIN) {
        high = proc_dup(sh->p, fd, USER_FD_MIN, false);
        (void)proc_close(sh->p, fd);
    }
    if (high < 0)
        return fail(sh, high, r->var);
    if (set_var_fd(sh, r->var, high) < 0) {
        sh_error(sh, "%.*s: cannot assign fd to variable", (int)r->var.n, r->var.p);
        (void)proc_close(sh->p, high);
        return 1;
    }
    /* It outlives the command unless varredir_close asks otherwise: then what was there before (nothing) comes back. */
    if (saved && sh_shopt(sh, SHOPT_VARREDIR_CLOSE)) {
        struct redir_saved *s = ARENA_NEW(&sh->scratch, struct redir_saved);
        s->fd = high;
        s->prev = *saved;
        *saved = s;
    }
    return 0;
}

/* &> and >&: standard output and error to one file. */
static int redirect_both(struct shell *sh, enum redir_kind k, struct str name, struct redir_saved **saved)
{
    int fd = open_target(sh, k, name);
    if (fd < 0)
        return 1;
    int e = move_fd(sh, fd, 1, saved);
    if (e == 0) {
        save_fd(sh, saved, 2);
        e = proc_dup2(sh->p, 1, 2, false);
    }
    return e < 0 ? fail(sh, e, name) : 0;
}

static int close_target(struct shell *sh, const struct redir *r, struct redir_saved **saved)
{
    int fd = r->fd >= 0 ? r->fd : default_fd(r->kind);
    if (r->var.n) {
        fd = var_fd(sh, r->var);
        if (fd < 0) {
            sh_error(sh, "%.*s: ambiguous redirect", (int)r->var.n, r->var.p);
            return 1;
        }
        (void)proc_close(sh->p, fd);
        return 0;
    }
    save_fd(sh, saved, fd);
    (void)proc_close(sh->p, fd);
    return 0;
}

/* The word as it was written, without the dash of a move. */
static int bad_source(struct shell *sh, const struct redir *r)
{
    struct buf text BUF_AUTO;
    buf_init(&text, LIMIT_STRING);
    ast_print_word(&text, r->target);
    if (text.n && text.p[text.n - 1] == '-')
        buf_trunc(&text, text.n - 1);
    return fail(sh, -EBADF, buf_str(&text));
}

/* N>&M, N>&M-, N>&-, and >&word, which is &>word. */
static int redirect_dup(struct shell *sh, const struct redir *r, struct str t, struct redir_saved **saved)
{
    if (str_eq(t, STR("-")))
        return close_target(sh, r, saved);
    bool move = t.n > 1 && t.p[t.n - 1] == '-';
    uint64_t from;
    if (str_u64(move ? str_of(t.p, t.n - 1) : t, &from) != 0) {
        if (r->kind == REDIR_DUP_OUT && !r->var.n && (r->fd < 0 || r->fd == 1))
            return redirect_both(sh, REDIR_BOTH, t, saved);
        sh_error(sh, "%.*s: ambiguous redirect", (int)t.n, t.p);
        return 1;
    }
    if (from >= LIMIT_FDS || !proc_get(sh->p, (int)from))
        return bad_source(sh, r);
    int to = r->fd >= 0 ? r->fd : default_fd(r->kind);
    if (r->var.n) {
        int fd = proc_dup(sh->p, (int)from, USER_FD_MIN, false);
        if (fd < 0)
            return fail(sh, fd, t);
        int e = place(sh, r, fd, saved);
        if (e == 0 && move)
            (void)proc_close(sh->p, (int)from);
        return e;
    }
    if ((int)from != to) {
        save_fd(sh, saved, to);
        int e = proc_dup2(sh->p, (int)from, to, false);
        if (e < 0)
            return fail(sh, e, t);
    }
    if (move && (int)from != to) {
        save_fd(sh, saved, (int)from);
        (void)proc_close(sh->p, (int)from);
    }
    return 0;
}

static int apply_one(struct shell *sh, const struct redir *r, struct redir_saved **saved)
{
    struct str t;
    if (r->line)
        sh->line = r->line;
    if (r->fd >= LIMIT_FDS)
        return fail(sh, -EBADF, str_c(arena_printf(&sh->scratch, "%d", r->fd)));
    if (r->kind == REDIR_HEREDOC || r->kind == REDIR_HERESTR) {
        int fd = open_text(sh, r);
        return fd < 0 ? 1 : place(sh, r, fd, saved);
    }
    if (expand_redir_target(sh, r->target, &t) < 0)
        return 1;
    if (r->kind == REDIR_DUP_IN || r->kind == REDIR_DUP_OUT)
        return redirect_dup(sh, r, t, saved);
    if (r->kind == REDIR_BOTH || r->kind == REDIR_BOTH_APPEND)
        return redirect_both(sh, r->kind, t, saved);
    int fd = open_target(sh, r->kind, t);
    return fd < 0 ? 1 : place(sh, r, fd, saved);
}

int redir_apply(struct shell *sh, const struct redir *r, struct redir_saved **ret_saved)
{
    struct redir_saved *saved = NULL;
    int line = sh->line;
    for (; r; r = r->next) {
        int status = apply_one(sh, r, ret_saved ? &saved : NULL);
        if (status) {
            redir_restore(sh, saved);
            return status;
        }
    }
    sh->line = line;
    if (ret_saved)
        *ret_saved = saved;
    return 0;
}
