/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/history_int.h"
#include "shell/var_special_int.h"

#include <errno.h>

#include "base/clock.h"
#include "base/mem.h"
#include "shell/array_int.h"
#include "shell/exec_int.h"
#include "shell/options_int.h"

/*
 * A dynamic variable's binding in the table holds attributes only (VAR_DYN); its value is made in sh->dyn, which
 * belongs to one shell, so that reading $RANDOM in a subshell does not make it copy the table.
 */

struct special_def {
    const char *name;
    enum sym_special id;
    uint32_t flags; /* of the binding of a dynamic one */
};

static const struct special_def specials[] = {
    {"RANDOM", SPECIAL_RANDOM, VAR_INTEGER},
    {"SRANDOM", SPECIAL_SRANDOM, VAR_INTEGER},
    {"SECONDS", SPECIAL_SECONDS, VAR_INTEGER},
    {"LINENO", SPECIAL_LINENO, 0},
    {"BASHPID", SPECIAL_BASHPID, VAR_INTEGER | VAR_NOASSIGN},
    {"EPOCHSECONDS", SPECIAL_EPOCHSECONDS, 0},
    {"EPOCHREALTIME", SPECIAL_EPOCHREALTIME, 0},
    {"BASH_COMMAND", SPECIAL_BASH_COMMAND, 0},
    {"BASH_SUBSHELL", SPECIAL_BASH_SUBSHELL, 0},
    {"BASH_ARGV0", SPECIAL_BASH_ARGV0, 0},
    {"HISTCMD", SPECIAL_HISTCMD, VAR_INTEGER},
    {"SHELLOPTS", SPECIAL_SHELLOPTS, VAR_READONLY},
    {"BASHOPTS", SPECIAL_BASHOPTS, VAR_READONLY},
    {"_", SPECIAL_UNDERSCORE, 0},
    {"FUNCNAME", SPECIAL_FUNCNAME, VAR_ARRAY | VAR_NOASSIGN},
    {"BASH_SOURCE", SPECIAL_BASH_SOURCE, VAR_ARRAY | VAR_NOASSIGN},
    {"BASH_LINENO", SPECIAL_BASH_LINENO, VAR_ARRAY | VAR_NOASSIGN | VAR_NOUNSET},
    {"PIPESTATUS", SPECIAL_PIPESTATUS, VAR_ARRAY},
    {"DIRSTACK", SPECIAL_DIRSTACK, VAR_ARRAY},
    {"GROUPS", SPECIAL_GROUPS, VAR_ARRAY | VAR_NOASSIGN},
    {"BASH_ARGC", SPECIAL_BASH_ARGC, VAR_ARRAY | VAR_NOASSIGN | VAR_NOUNSET},
    {"BASH_ARGV", SPECIAL_BASH_ARGV, VAR_ARRAY | VAR_NOASSIGN | VAR_NOUNSET},
    {"BASH_ALIASES", SPECIAL_BASH_ALIASES, VAR_ASSOC},
    {"BASH_CMDS", SPECIAL_BASH_CMDS, VAR_ASSOC},
    {"IFS", SPECIAL_IFS, 0},
    {"PATH", SPECIAL_PATH, 0},
    {"OPTIND", SPECIAL_OPTIND, 0},
    {"LANG", SPECIAL_LOCALE, 0},
    {"LC_ALL", SPECIAL_LOCALE, 0},
    {"LC_CTYPE", SPECIAL_LOCALE, 0},
    {"BASH_XTRACEFD", SPECIAL_XTRACEFD, 0},
    {"POSIXLY_CORRECT", SPECIAL_POSIXLY_CORRECT, 0},
    {"GLOBIGNORE", SPECIAL_GLOBIGNORE, 0},
    {"HISTSIZE", SPECIAL_HISTSIZE, 0},
};

void var__special_symbols(struct shell *sh)
{
    for (size_t i = 0; i < sizeof specials / sizeof specials[0]; i++) {
        struct sym *s = sym_get(sh, str_c(specials[i].name));
        if (s)
            s->special = (uint8_t)specials[i].id;
    }
}

void var__special_bind(struct shell *sh)
{
    for (size_t i = 0; i < sizeof specials / sizeof specials[0]; i++) {
        if (specials[i].id >= SPECIAL_DYN_COUNT)
            continue;
        struct sym *s = sym_get(sh, str_c(specials[i].name));
        struct var *v = s ? var_own(sh, s) : NULL;
        /* Arrays other than FUNCNAME are listed as set. */
        bool set = (specials[i].flags & (VAR_ARRAY | VAR_ASSOC)) && specials[i].id != SPECIAL_FUNCNAME;
        if (v)
            v->flags = VAR_DYN | specials[i].flags | (set ? VAR_SET : 0u);
    }
}

void var__special_done(struct shell *sh)
{
    for (int i = 0; sh->dyn && i < SPECIAL_DYN_COUNT; i++)
        var__unref(sh->dyn[i]);
    mem_free(sh->dyn);
    sh->dyn = NULL;
}

/* ---- numbers ---- */

/* The "minimal standard" generator of Park and Miller by Schrage's method, and the fold to 15 bits that bash 5.1 and
 * later use: the same seed gives the same numbers. */
static uint32_t next_random(struct shell *sh)
{
    uint32_t r;
    do {
        int64_t last = sh->rng ? sh->rng : 123459876;
        int64_t h = last / 127773, t = 16807 * (last - 127773 * h) - 2836 * h;
        sh->rng = (uint32_t)(t < 0 ? t + 0x7fffffff : t);
        r = ((sh->rng >> 16) ^ (sh->rng & 65535)) & 32767;
    } while (r == sh->rng_last);
    return sh->rng_last = r;
}

static int64_t wall_seconds(const struct shell *sh)
{
    return proc_wall(sh->ps) / CLOCK_S;
}

static bool read_number(struct shell *sh, enum sym_special id, int64_t *ret)
{
    uint32_t word = 0;
    if (id == SPECIAL_RANDOM) {
        *ret = next_random(sh);
    } else if (id == SPECIAL_SRANDOM) {
        proc_entropy(sh->ps, &word, sizeof word);
        *ret = word;
    } else if (id == SPECIAL_SECONDS) {
        *ret = wall_seconds(sh) - sh->start_wall + sh->seconds_base;
    } else if (id == SPECIAL_LINENO) {
        *ret = sh->line;
    } else if (id == SPECIAL_BASHPID) {
        *ret = sh->p->pid;
    } else if (id == SPECIAL_EPOCHSECONDS) {
        *ret = wall_seconds(sh);
    } else if (id == SPECIAL_BASH_SUBSHELL) {
        *ret = sh->subshell_depth;
    } else if (id == SPECIAL_HISTCMD) {
        *ret = sh->history && sh_opt(sh, OPT_HISTORY) ? sh->history->base + (int64_t)sh->history->n - 1 : 0;
    } else {
        return false;
    }
    return true;
}

/* ---- texts ---- */

static int read_text(struct shell *sh, enum sym_special id, struct buf *out)
{
    if (id == SPECIAL_EPOCHREALTIME) {
        int64_t ns = proc_wall(sh->ps);
        return buf_addf(out, "%lld.%06lld", (long long)(ns / CLOCK_S), (long long)(ns % CLOCK_S / CLOCK_US));
    }
    if (id == SPECIAL_BASH_COMMAND) {
        if (sh->cur_node)
            exec__command_text(sh, sh->cur_node, out);
        return out->err;
    }
    if (id == SPECIAL_BASH_ARGV0)
        return buf_adds(out, sh->arg0);
    if (id == SPECIAL_UNDERSCORE)
        return buf_adds(out, sh->last_arg);
    if (id == SPECIAL_SHELLOPTS)
        options_list(sh, out);
    else
        options_list_shopt(sh, out);
    return out->err;
}

/* ---- arrays ---- */

static int push_int(struct arr *a, int64_t i, int64_t val)
{
    char text[24];
    int n = snprintf(text, sizeof text, "%lld", (long long)val);
    return arr_set(a, i, str_of(text, (size_t)n));
}

/* FUNCNAME, BASH_SOURCE and BASH_LINENO run in parallel over calls and sourced files, newest first. */
static void read_stack(struct shell *sh, enum sym_special id, struct arr *a)
{
    int64_t i = 0;
    for (const struct frame *f = sh->frame; f; f = f->prev) {
        if (!f->is_function && !f->is_source)
            continue;
        if (id == SPECIAL_FUNCNAME)
            (void)arr_set(a, i, f->is_function ? f->func->name : STR("source"));
        else if (id == SPECIAL_BASH_SOURCE)
            (void)arr_set(a, i, str_c(f->file));
        else
            (void)push_int(a, i, f->call_line);
        i++;
    }
    if (!sh->main_file)
        return;
    if (id == SPECIAL_FUNCNAME)
        (void)arr_set(a, i, STR("main"));
    else if (id == SPECIAL_BASH_SOURCE)
        (void)arr_set(a, i, str_c(sh->main_file));
    else
        (void)push_int(a, i, 0);
}

static int64_t push_args(struct arr *a, bool counts, int64_t at, const struct posargs *p)
{
    uint32_t n = p ? p->n : 0;
    if (counts)
        return push_int(a, at, n), at + 1;
    for (uint32_t i = n; i-- > 0;)
        (void)arr_set(a, at++, p->v[i]);
    return at;
}

static void read_args(struct shell *sh, enum sym_special id, struct arr *a)
{
    const struct posargs *p = sh->main_args;
    /* bash does not fill them until they are asked for by name. */
    sh->args_asked = sh->args_asked || !sh->listing || sh_shopt(sh, SHOPT_EXTDEBUG);
    if (!p || !sh->args_asked || (!sh->main_file && !sh_shopt(sh, SHOPT_EXTDEBUG)))
        return;
    bool counts = id == SPECIAL_BASH_ARGC;
    int64_t at = 0;
    const struct posargs *of = sh->args;
    for (const struct frame *f = sh_shopt(sh, SHOPT_EXTDEBUG) ? sh->frame : NULL; f; f = f->prev) {
        if (!f->is_function)
            continue;
        at = push_args(a, counts, at, of);
        of = f->args;
    }
    (void)push_args(a, counts, at, p);
}

static void read_array(struct shell *sh, enum sym_special id, struct arr *a)
{
    if (id == SPECIAL_PIPESTATUS) {
        for (uint32_t i = 0; i < sh->n_pipestatus; i++)
            (void)push_int(a, i, sh->pipestatus[i]);
    } else if (id == SPECIAL_GROUPS) {
        const struct vfs_cred *c = &sh->p->cred;
        (void)push_int(a, 0, c->gid);
        int64_t n = 1;
        for (uint32_t i = 0; i < c->n_groups; i++)
            if (c->groups[i] != c->gid)
                (void)push_int(a, n++, c->groups[i]);
    } else if (id == SPECIAL_DIRSTACK) {
        (void)arr_set(a, 0, sh->pwd);
        for (uint32_t i = 0; i < sh->n_dirstack; i++)
            (void)arr_set(a, (int64_t)i + 1, sh->dirstack[i]);
    } else if (id == SPECIAL_BASH_ARGC || id == SPECIAL_BASH_ARGV) {
        read_args(sh, id, a);
    } else {
        read_stack(sh, id, a);
    }
}

static void read_assoc(struct shell *sh, enum sym_special id, struct assoc *a)
{
    const struct map *m = id == SPECIAL_BASH_ALIASES ? sh->aliases : sh->hashed;
    struct map_iter it = {0};
    while (m && map_next(m, &it)) {
        const char *text = it.val;
        if (id == SPECIAL_BASH_CMDS)
            text = ((const struct hash_entry *)it.val)->path;
        (void)assoc_set(a, it.key, str_c(text));
    }
}

/* ---- reading ---- */

static struct var *value_of(struct shell *sh, enum sym_special id, uint32_t flags)
{
    if (!sh->dyn)
        sh->dyn = mem_zalloc(SPECIAL_DYN_COUNT * sizeof *sh->dyn);
    struct var *v = sh->dyn[id];
    if (v && v->refs > 1) {
        var__unref(v);
        v = sh->dyn[id] = NULL;
    }
    if (!v)
        v = sh->dyn[id] = var__new();
    v->flags = (flags & ~(uint32_t)VAR_DYN) | (v->flags & VAR_SET);
    return v;
}

static bool has_elements(const struct shell *sh, enum sym_special id)
{
    return id != SPECIAL_FUNCNAME || sh->func_depth > 0;
}

struct var *var__special_read(struct shell *sh, struct sym *s, struct var *bound)
{
    enum sym_special id = s->special;
    struct var *v = value_of(sh, id, bound->flags);
    int64_t num;
    if (v->flags & VAR_ARRAY) {
        arr_free(v->arr);
        v->arr = arr_new();
        v->flags &= ~(uint32_t)VAR_SET;
        if (v->arr && has_elements(sh, id)) {
            read_array(sh, id, v->arr);
            v->flags |= VAR_SET;
        }
    } else if (v->flags & VAR_ASSOC) {
        assoc_free(v->assoc);
        v->assoc = assoc_new(id == SPECIAL_BASH_ALIASES ? ALIAS_BUCKETS : HASH_BUCKETS);
        v->flags |= VAR_SET;
        if (v->assoc)
            read_assoc(sh, id, v->assoc);
    } else if (read_number(sh, id, &num)) {
        char text[24];
        int n = snprintf(text, sizeof text, "%lld", (long long)num);
        if (var__store(v, str_of(text, (size_t)n)) == 0) {
            v->num = num;
            v->flags |= VAR_NUM;
        }
    } else {
        struct buf out BUF_AUTO;
        buf_init(&out, LIMIT_STRING);
        if (read_text(sh, id, &out) == 0)
            (void)var__store(v, buf_str(&out));
    }
    return v;
}

/* Those whose value is there without having been asked for; the others are listed without one, as bash does. */
bool var__special_listed(const struct sym *s)
{
    static const enum sym_special listed[] = {
        SPECIAL_SHELLOPTS,   SPECIAL_BASHOPTS,  SPECIAL_UNDERSCORE, SPECIAL_BASH_SOURCE,
        SPECIAL_BASH_LINENO, SPECIAL_BASH_ARGC, SPECIAL_BASH_ARGV,  SPECIAL_PIPESTATUS,
    };
    for (size_t i = 0; i < sizeof listed / sizeof listed[0]; i++)
        if (listed[i] == s->special)
            return true;
    return false;
}

/* ---- writing ---- */

static int set_arg0(struct shell *sh, struct str val)
{
    char *p = mem_try(val.n + 1);
    if (!p)
        return -ENOMEM;
    memcpy(p, val.p, val.n);
    p[val.n] = 0;
    mem_free(sh->arg0_heap);
    sh->arg0_heap = p;
    sh->arg0 = str_of(p, val.n);
    sh->script_name = p;
    return 1;
}

int var__special_write(struct shell *sh, struct sym *s, struct var *bound, struct str val)
{
    (void)bound;
    enum sym_special id = s->special;
    int64_t n;
    if (id == SPECIAL_RANDOM || id == SPECIAL_SECONDS) {
        if (arith_eval_text(sh, val, &n) < 0)
            return sh_abort(sh, 1);
        if (id == SPECIAL_RANDOM) {
            sh->rng = (uint32_t)n;
            sh->rng_last = 0;
        } else {
            sh->seconds_base = n;
            sh->start_wall = wall_seconds(sh);
        }
        return 1;
    }
    if (id == SPECIAL_LINENO) {
        if (str_i64(val, &n) == 0 && n >= 0 && n < INT32_MAX)
            sh->line = (int)n;
        return 1;
    }
    if (id == SPECIAL_BASH_ARGV0)
        return set_arg0(sh, val);
    /* The others take an assignment and go on with their own value. */
    return 1;
}

int var__special_write_elem(struct shell *sh, struct sym *s, struct str key, int64_t index, struct str val, bool append)
{
    (void)append;
    enum sym_special id = s->special;
    if (id == SPECIAL_BASH_ALIASES) {
        char *old = map_set(shell_own_aliases(sh), key, mem_dup(val.p, val.n));
        mem_free(old);
        shell_lookup_changed(sh);
    } else if (id == SPECIAL_BASH_CMDS) {
        if (exec_hash_allowed(sh, "", val))
            exec_hash_set(sh, key, val);
    } else if (id == SPECIAL_DIRSTACK && index > 0 && (uint64_t)index <= sh->n_dirstack) {
        struct str *d = &sh->dirstack[index - 1];
        char *p = mem_dup(val.p, val.n);
        mem_free((void *)(uintptr_t)d->p);
        *d = str_of(p, val.n);
    }
    return 1;
}

int var__special_unset_elem(struct shell *sh, struct sym *s, struct str key, int64_t index)
{
    (void)index;
    enum sym_special id = s->special;
    if (id == SPECIAL_BASH_ALIASES) {
        char *old = map_del(shell_own_aliases(sh), key);
        mem_free(old);
        shell_lookup_changed(sh);
    } else if (id == SPECIAL_BASH_CMDS) {
        exec_hash_drop(sh, key);
    }
    return 0;
}

/* ---- what follows from a change of an ordinary one ---- */

static void locale_changed(struct shell *sh)
{
    struct str l = var_get(sh, "LC_ALL");
    if (!l.n)
        l = var_get(sh, "LC_CTYPE");
    if (!l.n)
        l = var_get(sh, "LANG");
    static const char *const names[] = {"UTF-8", "utf8", "utf-8", "UTF8"};
    sh->utf8 = false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (l.n && strstr(l.p, names[i]))
            sh->utf8 = true;
}

static void xtracefd_changed(struct shell *sh)
{
    int64_t fd;
    struct str t = var_get(sh, "BASH_XTRACEFD");
    bool good = t.n && str_i64(t, &fd) == 0 && fd >= 0 && fd < LIMIT_FDS && proc_get(sh->p, (int)fd);
    sh->xtrace_fd = good ? (int)fd : -1;
    if (t.n && !good && sh->unit) /* not while a state is begun with, whose descriptors are not here */
        sh_error(sh, "BASH_XTRACEFD: %s: invalid value for trace file descriptor", t.p);
}

void var__special_changed(struct shell *sh, struct sym *s)
{
    enum sym_special id = s->special;
    if (id == SPECIAL_IFS) {
        sh->ifs_gen++;
    } else if (id == SPECIAL_PATH) {
        exec_hash_clear(sh);
    } else if (id == SPECIAL_LOCALE) {
        locale_changed(sh);
    } else if (id == SPECIAL_XTRACEFD) {
        xtracefd_changed(sh);
    } else if (id == SPECIAL_POSIXLY_CORRECT) {
        options_set_posix(sh, var_get(sh, "POSIXLY_CORRECT").p != NULL);
    } else if (id == SPECIAL_HISTSIZE) {
        sh_history_resize(sh);
    } else if (id == SPECIAL_GLOBIGNORE) {
        uint64_t bit = UINT64_C(1) << SHOPT_DOTGLOB;
        struct str ignore = var_get(sh, "GLOBIGNORE");
        if (!ignore.p || ignore.n) /* an empty value changes nothing */
            sh->shopts = ignore.n ? sh->shopts | bit : sh->shopts & ~bit;
    }
}
