/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/var_int.h"

#include <errno.h>

#include "base/mem.h"
#include "shell/shell_int.h"
#include "shell/var_special_int.h"

/*
 * Shallow binding: the table always holds what a name means now; a frame keeps what it replaced. A frame that a
 * subshell shares with its parent is copied before it changes (frame_own), so the parent's restores stay right.
 */

static void frame_free(struct frame *f)
{
    for (uint32_t i = 0; i < f->n_saved; i++)
        var__unref(f->saved[i].v);
    mem_free(f->saved);
    func_unref(f->func);
    mem_free(f->file);
    posargs_unref(f->args);
    mem_free(f);
}

struct frame *frame_ref(struct frame *f)
{
    if (f)
        f->refs++;
    return f;
}

void frame_unref(struct frame *f)
{
    while (f && --f->refs == 0) {
        struct frame *prev = f->prev;
        frame_free(f);
        f = prev;
    }
}

static struct frame *frame_copy(const struct frame *f)
{
    struct frame *c = mem_alloc(sizeof *c);
    *c = *f;
    c->refs = 1;
    if (f->func)
        func_ref(f->func);
    if (f->args)
        posargs_ref(f->args);
    c->file = f->file ? mem_dup(f->file, strlen(f->file)) : NULL;
    c->saved = NULL;
    c->cap_saved = f->n_saved;
    if (f->n_saved) {
        c->saved = mem_alloc(f->n_saved * sizeof *c->saved);
        memcpy(c->saved, f->saved, f->n_saved * sizeof *c->saved);
        for (uint32_t i = 0; i < f->n_saved; i++)
            if (c->saved[i].v)
                var__ref(c->saved[i].v);
    }
    frame_ref(c->prev);
    return c;
}

/* The frame at *at, made this shell's own together with all newer ones. */
static struct frame *frame_own(struct shell *sh, struct frame *target)
{
    struct frame **at = &sh->frame;
    for (;;) {
        struct frame *f = *at;
        if (f->refs > 1) {
            struct frame *c = frame_copy(f);
            *at = c;
            frame_unref(f);
            if (f == target)
                return c;
            f = c;
        } else if (f == target) {
            return f;
        }
        at = &f->prev;
    }
}

static void frame_save(struct frame *f, struct sym *s, struct var *v)
{
    if (f->n_saved == f->cap_saved) {
        uint32_t cap = f->cap_saved ? f->cap_saved * 2 : 4;
        f->saved = mem_realloc(f->saved, cap * sizeof *f->saved);
        f->cap_saved = cap;
    }
    f->saved[f->n_saved++] = (struct binding){s, v};
}

void var_push_frame(struct shell *sh, bool function)
{
    struct frame *f = mem_zalloc(sizeof *f);
    f->refs = 1;
    f->is_function = function;
    f->prev = sh->frame;
    f->depth = sh->func_depth;
    sh->frame = f;
}

void var_pop_frame(struct shell *sh)
{
    struct frame *f = sh->frame;
    if (f->refs > 1)
        f = frame_own(sh, f);
    for (uint32_t i = f->n_saved; i-- > 0;) {
        struct binding *b = &f->saved[i];
        struct var *now;
        if (var__swap(sh, b->s, b->v, &now) < 0)
            continue; /* memory is gone: the account's limit ends the shell */
        b->v = NULL;
        var__unref(now);
        if (b->s->special)
            var__special_changed(sh, b->s);
    }
    sh->frame = f->prev;
    f->prev = NULL;
    frame_free(f);
}

void var_keep_frame(struct shell *sh)
{
    struct frame *f = frame_own(sh, sh->frame);
    for (uint32_t i = 0; i < f->n_saved; i++) {
        struct var *v = var_own(sh, f->saved[i].s);
        if (v)
            v->flags &= ~(uint32_t)VAR_TEMP;
    }
    sh->frame = f->prev;
    f->prev = NULL;
    frame_free(f);
}

void var__keep_temp(struct shell *sh, struct sym *s)
{
    struct frame *f = sh->frame;
    if (!f || f->is_function || f->is_source)
        return;
    f = frame_own(sh, f);
    for (uint32_t i = 0; i < f->n_saved; i++) {
        if (f->saved[i].s != s)
            continue;
        var__unref(f->saved[i].v);
        memmove(&f->saved[i], &f->saved[i + 1], (f->n_saved - i - 1) * sizeof f->saved[0]);
        f->n_saved--;
        struct var *v = var_own(sh, s);
        if (v)
            v->flags &= ~(uint32_t)VAR_TEMP;
        return;
    }
}

/* Binds a fresh variable to @s and keeps the one before in @f. */
static int bind_new(struct shell *sh, struct frame *f, struct sym *s, struct var *v)
{
    struct var *old;
    if (var__swap(sh, s, v, &old) < 0) {
        var__unref(v);
        return -ENOMEM;
    }
    frame_save(f, s, old);
    return 0;
}

static struct frame *function_frame(const struct shell *sh)
{
    struct frame *f = sh->frame;
    while (f && !f->is_function)
        f = f->prev;
    return f;
}

static struct var *bound(const struct shell *sh, const struct sym *s)
{
    return sh->vars && s->id < sh->vars->n ? sh->vars->v[s->id] : NULL;
}

int var_local(struct shell *sh, struct sym *s, bool inherit)
{
    struct frame *f = function_frame(sh);
    if (!f)
        return -EINVAL;
    struct var *old = bound(sh, s);
    if (old && (old->flags & VAR_LOCAL) && old->depth == f->depth)
        return 0;
    if (old && (old->flags & VAR_READONLY) && !(old->flags & VAR_LOCAL))
        return var__readonly(sh, s);
    f = frame_own(sh, f);
    /* A variable of the call's temporary environment becomes the local one with its value and export. */
    bool temp = old && (old->flags & VAR_TEMP) && old->depth == f->depth;
    struct var *v = NULL;
    if (old && (inherit || temp) && !(old->flags & VAR_DYN))
        v = var__copy(old);
    if (!v)
        v = var__new();
    if (old)
        v->flags |= old->flags & VAR_EXPORT; /* what was exported stays so under the same name */
    if (inherit)
        v->flags &= ~(uint32_t)VAR_NAMEREF;
    v->flags &= ~(uint32_t)(VAR_TEMP | VAR_READONLY);
    v->flags |= VAR_LOCAL;
    v->depth = f->depth;
    return bind_new(sh, f, s, v);
}

int var_temp(struct shell *sh, struct sym *s, struct str val, bool append)
{
    struct frame *f = sh->frame;
    struct var *old = bound(sh, s);
    if (old && (old->flags & VAR_NAMEREF)) {
        if (!(s = var_resolve(sh, s, NULL)))
            return -EINVAL;
        old = bound(sh, s);
    }
    if (old && (old->flags & VAR_READONLY))
        return var__readonly(sh, s);
    f = frame_own(sh, f);
    struct var *v = var__new();
    v->flags = VAR_EXPORT | VAR_TEMP;
    v->depth = sh->func_depth + 1;
    if (old)
        v->flags |= old->flags & (VAR_INTEGER | VAR_LOWER | VAR_UPPER | VAR_CAPCASE);
    struct str before;
    if (append && old && var_text(sh, s, &before))
        var__store(v, before);
    int r = bind_new(sh, f, s, v);
    if (r < 0)
        return r;
    r = append ? var_append(sh, s, val) : var_set(sh, s, val);
    if (s->special)
        var__special_changed(sh, s);
    return r;
}

/* Where the outermost binding of @s is kept: in the oldest frame that hides one, its first entry; NULL: the table. */
static struct binding *outermost(struct shell *sh, const struct sym *s)
{
    struct frame *holder = NULL;
    for (struct frame *f = sh->frame; f; f = f->prev)
        for (uint32_t i = 0; i < f->n_saved; i++)
            if (f->saved[i].s == s) {
                holder = f;
                break;
            }
    if (!holder)
        return NULL;
    holder = frame_own(sh, holder);
    for (uint32_t i = 0; i < holder->n_saved; i++)
        if (holder->saved[i].s == s)
            return &holder->saved[i];
    return NULL;
}

struct var *var_global_begin(struct shell *sh, struct sym *s)
{
    struct binding *b = outermost(sh, s);
    struct var *now = NULL;
    if (b && var__swap(sh, s, b->v, &now) == 0)
        b->v = NULL;
    return now;
}

void var_global_end(struct shell *sh, struct sym *s, struct var *token)
{
    struct binding *b = outermost(sh, s);
    if (b)
        (void)var__swap(sh, s, token, &b->v);
    else
        var__unref(token);
}

/* ---- unset ---- */

static int cannot_unset(struct shell *sh, const struct sym *s, const char *why)
{
    sh_error(sh, "%s: cannot unset%s", s->name.p, why);
    return -EPERM;
}

/* The newest binding that a frame keeps for @s; it is the one that an unset of a caller's local reveals. */
static struct binding *newest_saved(struct shell *sh, const struct sym *s)
{
    for (struct frame *f = sh->frame; f; f = f->prev)
        for (uint32_t i = f->n_saved; i-- > 0;)
            if (f->saved[i].s == s) {
                f = frame_own(sh, f);
                return &f->saved[i];
            }
    return NULL;
}

/* The frame's entry goes too: when it is popped there is nothing to put back. The order of the others stays. */
static void reveal(struct shell *sh, struct sym *s)
{
    struct binding *b = newest_saved(sh, s);
    struct var *old = NULL;
    if (var__swap(sh, s, b ? b->v : NULL, &old) < 0)
        return;
    var__unref(old);
    if (!b)
        return;
    for (struct frame *f = sh->frame; f; f = f->prev)
        if (f->n_saved && b >= f->saved && b < f->saved + f->n_saved) {
            size_t i = (size_t)(b - f->saved);
            memmove(b, b + 1, (f->n_saved - i - 1) * sizeof *b);
            f->n_saved--;
            return;
        }
}

int var_unset(struct shell *sh, struct sym *s)
{
    struct var *v = bound(sh, s);
    if (!v)
        return 0;
    if (v->flags & VAR_READONLY)
        return cannot_unset(sh, s, ": readonly variable");
    if (v->flags & VAR_NOUNSET)
        return cannot_unset(sh, s, "");
    bool here = (v->flags & VAR_LOCAL) && v->depth == sh->func_depth;
    if (here || ((v->flags & VAR_LOCAL) && sh_shopt(sh, SHOPT_LOCALVAR_UNSET))) {
        /* A local of the running function stays local, without value and attributes. */
        struct var *gone = var__new(), *old = NULL;
        gone->flags = VAR_LOCAL;
        gone->depth = v->depth;
        if (var__swap(sh, s, gone, &old) < 0) {
            var__unref(gone);
            return -ENOMEM;
        }
        var__unref(old);
    } else if (v->flags & (VAR_LOCAL | VAR_TEMP)) {
        reveal(sh, s);
    } else {
        struct var *old = NULL;
        if (var__swap(sh, s, NULL, &old) < 0)
            return -ENOMEM;
        var__unref(old);
    }
    if (s->special)
        var__special_changed(sh, s);
    return 0;
}
