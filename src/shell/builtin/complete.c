/* SPDX-License-Identifier: Apache-2.0 */
/* complete, compopt: the completion specifications of commands. */
#include "shell/builtin/compgen_int.h"

#include <errno.h>

#include "base/mem.h"
#include "shell/shell_int.h"

/* bash keeps those of -D, -E and -I under these names, which its messages show. */
static const char *const special_names[] = {"_DefaultCmD_", "_EmptycmD_", "_InitialWorD_"};
static const char special_letters[] = "DEI";

#define BUCKETS 512 /* of bash's table, whose order a list of all has */
#define COMPLETIONS_MOST 65536u

struct entry {
    char *name;
    struct compspec spec; /* heap texts */
};

struct completions {
    uint32_t refs, n, cap;
    struct entry *v; /* the newest last */
};

static struct str copy(struct str s)
{
    return s.p ? str_of(mem_dup(s.p, s.n), s.n) : s;
}

static void each_text(struct compspec *spec, struct str *ret[7])
{
    struct str *all[7] = {&spec->glob,   &spec->words,    &spec->prefix, &spec->suffix,
                          &spec->filter, &spec->function, &spec->command};
    memcpy(ret, all, sizeof(all));
}

static void own_texts(struct compspec *spec)
{
    struct str *t[7];
    each_text(spec, t);
    for (int i = 0; i < 7; i++)
        *t[i] = copy(*t[i]);
}

static void entry_done(struct entry *e)
{
    struct str *t[7];
    each_text(&e->spec, t);
    for (int i = 0; i < 7; i++)
        mem_free((void *)(uintptr_t)t[i]->p);
    mem_free(e->name);
}

struct completions *compgen_specs_ref(struct completions *c)
{
    if (c)
        c->refs++;
    return c;
}

void compgen_specs_unref(struct completions *c)
{
    if (!c || --c->refs)
        return;
    for (uint32_t i = 0; i < c->n; i++)
        entry_done(&c->v[i]);
    mem_free(c->v);
    mem_free(c);
}

/* The shell's own, made or copied when it must be. */
static struct completions *own(struct shell *sh)
{
    struct completions *c = sh->completions;
    if (c && c->refs == 1)
        return c;
    struct completions *n = mem_zalloc(sizeof(*n));
    n->refs = 1;
    n->n = n->cap = c ? c->n : 0;
    n->v = n->n ? mem_alloc(n->n * sizeof(*n->v)) : NULL;
    for (uint32_t i = 0; i < n->n; i++) {
        n->v[i].name = mem_dup(c->v[i].name, strlen(c->v[i].name));
        n->v[i].spec = c->v[i].spec;
        own_texts(&n->v[i].spec);
    }
    compgen_specs_unref(c);
    return sh->completions = n;
}

static int find(const struct completions *c, struct str name)
{
    for (uint32_t i = 0; c && i < c->n; i++)
        if (str_eqc(name, c->v[i].name))
            return (int)i;
    return -1;
}

static void take_out(struct shell *sh, int i)
{
    struct completions *c = own(sh);
    entry_done(&c->v[i]);
    memmove(c->v + i, c->v + i + 1, (c->n - (uint32_t)i - 1) * sizeof(*c->v));
    c->n--;
}

static void define(struct shell *sh, struct str name, const struct compspec *spec)
{
    struct completions *c = own(sh);
    int i = find(c, name);
    if (i < 0 && c->n >= COMPLETIONS_MOST)
        return;
    if (i < 0) {
        if (c->n == c->cap) {
            c->cap = c->cap ? c->cap * 2 : 8;
            c->v = mem_realloc(c->v, c->cap * sizeof(*c->v));
        }
        i = (int)c->n++;
    } else {
        entry_done(&c->v[i]);
    }
    c->v[i].name = mem_dup(name.n ? name.p : "", name.n);
    c->v[i].spec = *spec;
    own_texts(&c->v[i].spec);
}

/* ---- printing ---- */

static void put_name(struct shell *sh, struct buf *out, const char *name)
{
    for (int k = 0; k < 3; k++)
        if (!strcmp(name, special_names[k])) {
            buf_addf(out, "-%c", special_letters[k]);
            return;
        }
    if (!*name)
        buf_addc(out, "''");
    else
        quote_set(out, str_c(name), sh->utf8);
}

static void put_text(struct buf *out, const char *option, struct str text)
{
    if (!text.p)
        return;
    buf_addf(out, "%s ", option);
    quote_single(out, text);
    buf_putc(out, ' ');
}

static void print(struct shell *sh, const struct entry *e)
{
    const struct compspec *s = &e->spec;
    struct buf out BUF_AUTO;
    buf_init(&out, LIMIT_STRING);
    buf_addc(&out, "complete ");
    for (int i = 0; compgen_option_names[i]; i++)
        if (s->options & 1u << i)
            buf_addf(&out, "-o %s ", compgen_option_names[i]);
    for (const char *c = "abcdefgjksuv"; *c; c++)
        for (int k = 0; k < GEN_COUNT; k++)
            if (s->sources & 1u << k && compgen_source_letter((enum compgen_source)k) == *c)
                buf_addf(&out, "-%c ", *c);
    for (int k = 0; k < GEN_COUNT; k++)
        if (s->sources & 1u << k && !compgen_source_letter((enum compgen_source)k))
            buf_addf(&out, "-A %s ", compgen_source_name((enum compgen_source)k));
    put_text(&out, "-G", s->glob);
    put_text(&out, "-W", s->words);
    put_text(&out, "-P", s->prefix);
    put_text(&out, "-S", s->suffix);
    put_text(&out, "-X", s->filter);
    put_text(&out, "-C", s->command);
    if (s->function.p)
        buf_addf(&out, "-F %s ", s->function.p);
    put_name(sh, &out, e->name);
    buf_putc(&out, '\n');
    sh_write(sh, buf_str(&out));
}

static uint32_t bucket(const char *name)
{
    uint32_t h = 2166136261u; /* FNV-1 */
    for (; *name; name++)
        h = (h * 16777619u) ^ (unsigned char)*name;
    return h & (BUCKETS - 1);
}

static void print_all(struct shell *sh)
{
    const struct completions *c = sh->completions;
    for (uint32_t b = 0; c && c->n && b < BUCKETS; b++)
        for (uint32_t i = c->n; i-- > 0;)
            if (bucket(c->v[i].name) == b)
                print(sh, &c->v[i]);
}

/* ---- the builtins ---- */

static int none(struct shell *sh, const char *who, struct str name)
{
    sh_error(sh, "%s: %s: no completion specification", who, name.p);
    return 1;
}

/* What the names are for: -D, -E or -I instead of the operands. */
struct operands {
    struct str *v;
    int n;
    struct str special;
};

static struct operands operands_of(struct builtin_args *a, const struct builtin_opt *o, int special)
{
    struct operands names = {a->argv + (o->i ? o->i : 1), a->argc - (o->i ? o->i : 1), {0}};
    if (special >= 0) {
        names.special = str_c(special_names[special]);
        names.n = 1;
    }
    return names;
}

static struct str name_at(const struct operands *names, int i)
{
    return names->special.p ? names->special : names->v[i];
}

static int builtin_complete(struct shell *sh, struct builtin_args *a)
{
    struct builtin_opt o = {0};
    struct compspec spec = {0};
    bool shows = a->argc == 1, removes = false, defines = false;
    int c, status = 0, special = -1;
    while ((c = builtin_getopt(sh, a, COMPGEN_OPTIONS "prDEI", &o)) != -1) {
        const char *at = c != '?' ? strchr(special_letters, c) : NULL;
        shows |= c == 'p';
        removes |= c == 'r';
        defines |= !at && c != 'p' && c != 'r';
        if (at && (special < 0 || at - special_letters < special))
            special = (int)(at - special_letters);
        if (!at && c != 'p' && c != 'r' && (status = compgen_take(sh, "complete", &spec, c, o.arg)) != 0)
            return status;
    }
    struct operands names = operands_of(a, &o, special);
    if (removes && !sh->completions) /* bash has no table yet, and no message then */
        return 0;
    if (!names.n && removes) {
        while (sh->completions->n)
            take_out(sh, (int)sh->completions->n - 1);
        return 0;
    }
    if (!names.n && (shows || !defines)) {
        print_all(sh);
        return 0;
    }
    if (!names.n)
        return builtin_usage(sh, builtin_find_any(STR("complete")));
    for (int i = 0; i < names.n; i++) {
        struct str name = name_at(&names, i);
        int at = find(sh->completions, name);
        if (!removes && !shows)
            define(sh, name, &spec);
        else if (at < 0)
            status = none(sh, "complete", name);
        else if (removes)
            take_out(sh, at);
        else
            print(sh, &sh->completions->v[at]);
    }
    return status;
}

static void print_options(struct shell *sh, const struct entry *e)
{
    struct buf out BUF_AUTO;
    buf_init(&out, LIMIT_STRING);
    buf_addc(&out, "compopt ");
    for (int i = 0; compgen_option_names[i]; i++)
        buf_addf(&out, "%co %s ", e->spec.options & 1u << i ? '-' : '+', compgen_option_names[i]);
    put_name(sh, &out, e->name);
    buf_putc(&out, '\n');
    sh_write(sh, buf_str(&out));
}

static int builtin_compopt(struct shell *sh, struct builtin_args *a)
{
    struct builtin_opt o = {0};
    uint32_t on = 0, off = 0;
    int c, status = 0, special = -1;
    while ((c = builtin_getopt(sh, a, "+o:DEI", &o)) != -1) {
        if (c == '?')
            return 2;
        const char *at = strchr(special_letters, c & 0xff);
        uint32_t bit = at ? 1 : compgen_option(o.arg);
        if (!bit) {
            sh_error(sh, "compopt: %s: invalid option name", o.arg.p);
            return 2;
        }
        if (at)
            special = (int)(at - special_letters);
        else if (c & 0x100)
            off |= bit;
        else
            on |= bit;
    }
    struct operands names = operands_of(a, &o, special);
    if (!names.n) {
        sh_error(sh, "compopt: not currently executing completion function");
        return 1;
    }
    for (int i = 0; i < names.n; i++) {
        int at = find(sh->completions, name_at(&names, i));
        if (at < 0) {
            status = none(sh, "compopt", name_at(&names, i));
        } else if (!on && !off) {
            print_options(sh, &sh->completions->v[at]);
        } else {
            struct compspec *spec = &own(sh)->v[at].spec;
            spec->options = (spec->options | on) & ~off;
        }
    }
    return status;
}

BUILTIN(complete, "complete", builtin_complete, 0,
        "complete [-abcdefgjksuv] [-pr] [-DEI] [-o option] [-A action] [-G globpat] [-W wordlist] [-F function] [-C "
        "command] [-X filterpat] [-P prefix] [-S suffix] [name ...]",
        "    Say how the arguments of a command are completed. The options are those of compgen.\n"
        "\n"
        "      -p  show the specifications, as commands\n"
        "      -r  remove them\n"
        "      -D  for commands that have none\n"
        "      -E  for an empty line\n"
        "      -I  for the first word\n"
        "\n"
        "    They are kept and shown; the line editor here completes names and paths by itself, without asking them.\n"
        "    The status is 0 unless an option is wrong or a name has no specification.\n");
BUILTIN(compopt, "compopt", builtin_compopt, 0, "compopt [-o|+o option] [-DEI] [name ...]",
        "    Change the options of specifications, or show them.\n"
        "\n"
        "    Without a name the completion that runs would be meant, of which there is none here: the status is 1.\n");
