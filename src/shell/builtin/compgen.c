/* SPDX-License-Identifier: Apache-2.0 */
/* compgen, complete, compopt: the first is real, as far as its words come from the shell and the tree; the line editor
 * has no programmable completion, so specifications are refused. */
#include "shell/builtin/compgen_int.h"

#include "base/mem.h"
#include "shell/shell_int.h"

#define OPTIONS "abcdefgjksuvo:A:G:W:P:S:X:F:C:"

struct request {
    uint32_t sources; /* bits of enum compgen_source */
    struct str glob, words, filter, prefix, suffix;
    bool has_glob, has_words, has_filter;
};

/* The source that a single letter names, or -1. */
static int letter_source(int c)
{
    static const char letters[] = "abcdefgjksuv";
    static const uint8_t sources[] = {GEN_ALIAS, GEN_BUILTIN, GEN_COMMAND, GEN_DIRECTORY, GEN_EXPORT, GEN_FILE,
                                      GEN_GROUP, GEN_JOB,     GEN_KEYWORD, GEN_SERVICE,   GEN_USER,   GEN_VARIABLE};
    const char *at = strchr(letters, c);
    return at ? sources[at - letters] : -1;
}

static int refuse(struct shell *sh, const char *what)
{
    sh_error(sh, "compgen: %s is not implemented here", what);
    return 2;
}

/* Adds a source to the request: 0, or a status after a message. */
static int want(struct shell *sh, struct request *r, int source, struct str name)
{
    if (source < 0) {
        sh_error(sh, "compgen: %s: invalid action name", name.n ? name.p : "");
        return 2;
    }
    if (!compgen_has((enum compgen_source)source))
        return refuse(sh, name.n ? name.p : "-s");
    r->sources |= 1u << source;
    return 0;
}

/* One option: 0, or the status to end with. */
static int option(struct shell *sh, struct request *r, int c, struct str arg)
{
    switch (c) {
    case 'A':
        return want(sh, r, compgen_source(arg), arg);
    case 'G':
        r->glob = arg;
        r->has_glob = true;
        return 0;
    case 'W':
        r->words = arg;
        r->has_words = true;
        return 0;
    case 'X':
        r->filter = arg;
        r->has_filter = true;
        return 0;
    case 'P':
        r->prefix = arg;
        return 0;
    case 'S':
        r->suffix = arg;
        return 0;
    case 'o':
    case 'F':
    case 'C': {
        char text[3] = {'-', (char)c, 0};
        return refuse(sh, text);
    }
    case '?':
        return 2;
    default:
        return want(sh, r, letter_source(c), (struct str){0});
    }
}

/* The words of -W: split by IFS outside quotes, then expanded, as the shell reads a list. */
static int word_list(struct shell *sh, struct str text, struct str word, struct fields *out)
{
    struct ast *a = mem_zalloc(sizeof(*a));
    struct array_elem *elems = NULL;
    uint32_t n = 0;
    struct parse_error err;
    a->refs = 1;
    arena_init(&a->arena);
    int r = parse_array_text(sh, a, text, &elems, &n, &err);
    if (r < 0)
        sh_error(sh, "compgen: %s", err.text);
    for (uint32_t i = 0; r == 0 && i < n; i++) {
        struct fields f = {0};
        struct word *w = elems[i].word;
        r = expand_words(sh, &w, 1, &f);
        for (uint32_t k = 0; k < f.n; k++) {
            if (str_starts(f.v[k], word))
                fields_add(sh, out, arena_str(&sh->scratch, f.v[k]));
        }
    }
    ast_unref(a);
    return r < 0 ? 1 : 0;
}

/* Whether -X removes @name: '&' in the pattern stands for the word, a leading '!' turns the sense round. */
static bool filtered(struct shell *sh, const struct request *r, struct str word, struct str name)
{
    struct str pat = r->filter;
    bool negate = pat.n && pat.p[0] == '!';
    struct buf out BUF_AUTO;
    buf_init(&out, LIMIT_STRING);
    if (!r->has_filter)
        return false;
    for (size_t i = negate; i < pat.n; i++) {
        if (pat.p[i] == '\\' && i + 1 < pat.n && pat.p[i + 1] == '&')
            buf_putc(&out, pat.p[++i]);
        else if (pat.p[i] == '&')
            buf_adds(&out, word);
        else
            buf_putc(&out, pat.p[i]);
    }
    return pattern_match(buf_str(&out), name, pattern_flags(sh)) != negate;
}

static int generate(struct shell *sh, const struct request *r, struct str word)
{
    struct fields f = {0};
    for (int s = 0; s < GEN_COUNT; s++) {
        if (r->sources & 1u << s)
            compgen_names(sh, (enum compgen_source)s, word, &f);
    }
    if (r->has_glob)
        (void)pathglob(sh, r->glob, &f);
    if (r->has_words && word_list(sh, r->words, word, &f) != 0)
        return 1;
    bool any = false;
    for (uint32_t i = 0; i < f.n; i++) {
        if (filtered(sh, r, word, f.v[i]))
            continue;
        sh_write(sh, r->prefix);
        sh_write(sh, f.v[i]);
        sh_write(sh, r->suffix);
        sh_puts(sh, "\n");
        any = true;
    }
    return any ? 0 : 1;
}

static int builtin_compgen(struct shell *sh, struct builtin_args *a)
{
    struct builtin_opt o = {0};
    struct request r = {0};
    int c;
    if (a->argc == 1)
        return 0;
    while ((c = builtin_getopt(sh, a, OPTIONS, &o)) != -1) {
        int status = option(sh, &r, c, o.arg);
        if (status)
            return status;
    }
    return generate(sh, &r, o.i < a->argc ? a->argv[o.i] : STR(""));
}

static int builtin_complete(struct shell *sh, struct builtin_args *a)
{
    struct builtin_opt o = {0};
    bool print = a->argc == 1, removes = false, defines = false;
    int c, status = 0;
    while ((c = builtin_getopt(sh, a, OPTIONS "prDEI", &o)) != -1) {
        if (c == '?')
            return 2;
        print |= c == 'p';
        removes |= c == 'r';
        defines |= c != 'p' && c != 'r';
    }
    if (!print && !removes && defines && o.i == a->argc)
        return builtin_usage(sh, builtin_find_any(STR("complete")));
    if (!print && !removes) {
        sh_error(sh, "complete: programmable completion is not implemented here");
        return 1;
    }
    /* There are no specifications, so there is nothing to print or to remove. */
    for (int i = o.i; print && i < a->argc; i++) {
        sh_error(sh, "complete: %s: no completion specification", a->argv[i].p);
        status = 1;
    }
    return status;
}

static int builtin_compopt(struct shell *sh, struct builtin_args *a)
{
    (void)a;
    sh_error(sh, "compopt: not currently executing completion function");
    return 1;
}

BUILTIN(compgen, "compgen", builtin_compgen, 0,
        "compgen [-abcdefgjksuv] [-o option] [-A action] [-G globpat] [-W wordlist] [-F function] [-C command] [-X "
        "filterpat] [-P prefix] [-S suffix] [word]",
        "    Print the names that begin with word.\n"
        "\n"
        "    -A  names of one kind: alias arrayvar builtin command directory disabled enabled export file function "
        "group helptopic\n"
        "        job keyword running setopt shopt signal stopped user variable; -abcdefgjkuv are short for some\n"
        "    -G  paths that a pattern matches\n"
        "    -W  words of a list\n"
        "    -X  leave out what a pattern matches (with a leading ! what it does not match)\n"
        "    -P  -S  text to put in front and behind\n"
        "\n"
        "    -o, -F, -C and the kinds binding, hostname and service are not implemented here.\n"
        "    The status is 0 when there was at least one name.\n");
BUILTIN(complete, "complete", builtin_complete, 0,
        "complete [-abcdefgjksuv] [-pr] [-DEI] [-o option] [-A action] [-G globpat] [-W wordlist] [-F function] [-C "
        "command] [-X filterpat] [-P prefix] [-S suffix] [name ...]",
        "    Say how the arguments of a command are completed.\n"
        "\n"
        "    Programmable completion is not implemented here: there are no specifications, and making one fails.\n");
BUILTIN(compopt, "compopt", builtin_compopt, 0, "compopt [-o|+o option] [-DEI] [name ...]",
        "    Change how the running completion works. There is never one here: the status is 1.\n");
