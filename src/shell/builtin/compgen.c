/* SPDX-License-Identifier: Apache-2.0 */
/* compgen: the words that a completion specification gives. */
#include "shell/builtin/compgen_int.h"

#include <errno.h>

#include "base/mem.h"
#include "shell/exec_int.h"
#include "shell/shell_int.h"

const char *const compgen_option_names[] = {"bashdefault", "default", "dirnames", "filenames", "noquote",
                                            "nosort",      "nospace", "plusdirs", NULL};

static const char letters[] = "abcdefgjksuv";
static const uint8_t letter_sources[] = {GEN_ALIAS, GEN_BUILTIN, GEN_COMMAND, GEN_DIRECTORY, GEN_EXPORT, GEN_FILE,
                                         GEN_GROUP, GEN_JOB,     GEN_KEYWORD, GEN_SERVICE,   GEN_USER,   GEN_VARIABLE};

char compgen_source_letter(enum compgen_source s)
{
    for (size_t i = 0; letters[i]; i++)
        if (letter_sources[i] == s)
            return letters[i];
    return 0;
}

uint32_t compgen_option(struct str name)
{
    for (int i = 0; compgen_option_names[i]; i++)
        if (str_eqc(name, compgen_option_names[i]))
            return 1u << i;
    return 0;
}

/* ---- options ---- */

static int bad_name(struct shell *sh, const char *who, struct str name, const char *what)
{
    sh_error(sh, "%s: %s: invalid %s name", who, name.n ? name.p : "", what);
    return 2;
}

/* A name that a call can begin with. */
static bool is_command_word(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (strchr(" \t\n'\"\\|&;()<>$`", s.p[i]))
            return false;
    return s.n > 0;
}

int compgen_take(struct shell *sh, const char *who, struct compspec *spec, int c, struct str arg)
{
    int source;
    switch (c) {
    case 'A':
        if ((source = compgen_source(arg)) < 0)
            return bad_name(sh, who, arg, "action");
        spec->sources |= 1u << source;
        return 0;
    case 'o':
        spec->options |= compgen_option(arg);
        return compgen_option(arg) ? 0 : bad_name(sh, who, arg, "option");
    case 'F':
        spec->function = arg;
        if (is_command_word(arg))
            return 0;
        sh_error(sh, "%s: `%s': not a valid identifier", who, arg.p);
        return 2;
    case 'C':
        spec->command = arg;
        return 0;
    case 'G':
        spec->glob = arg;
        return 0;
    case 'W':
        spec->words = arg;
        return 0;
    case 'X':
        spec->filter = arg;
        return 0;
    case 'P':
        spec->prefix = arg;
        return 0;
    case 'S':
        spec->suffix = arg;
        return 0;
    case '?':
        return 2;
    default:
        spec->sources |= 1u << letter_sources[strchr(letters, c) - letters];
        return 0;
    }
}

/* ---- words ---- */

/* @text as it would stand between the parentheses of an array: what IFS has besides blanks separates, blanks that it
 * has not do not. */
static void by_ifs(struct shell *sh, struct str text, struct buf *out)
{
    struct str ifs = var_get(sh, "IFS");
    char quote = 0;
    if (!ifs.p)
        ifs = STR(" \t\n");
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        bool separates = memchr(ifs.p, c, ifs.n) != NULL;
        if (c == '\\' && quote != '\'' && i + 1 < text.n) {
            buf_putc(out, c);
            c = text.p[++i];
        } else if (quote) {
            quote = c == quote ? 0 : quote;
        } else if (strchr("'\"`", c)) {
            quote = c;
        } else if (separates) {
            c = '\n';
        } else if (strchr(" \t\n&;|<>()", c)) {
            buf_putc(out, '\\');
        }
        buf_putc(out, c);
    }
}

/* The words of -W: split by IFS outside quotes, then expanded but not matched with files. */
static int word_list(struct shell *sh, struct str text, struct str word, struct fields *out)
{
    struct ast *a = mem_zalloc(sizeof(*a));
    struct array_elem *elems = NULL;
    uint32_t n = 0;
    struct parse_error err;
    struct buf list BUF_AUTO;
    buf_init(&list, LIMIT_STRING);
    if (str_eqc(var_get(sh, "IFS"), " \t\n"))
        buf_adds(&list, text);
    else
        by_ifs(sh, text, &list);
    a->refs = 1;
    arena_init(&a->arena);
    int r = parse_array_text(sh, a, buf_str(&list), &elems, &n, &err);
    if (r < 0)
        sh_error(sh, "compgen: %s", err.text);
    uint32_t noglob = sh->opts & OPT_NOGLOB;
    sh->opts |= OPT_NOGLOB;
    for (uint32_t i = 0; r == 0 && i < n; i++) {
        struct fields f = {0};
        struct word *w = elems[i].word;
        r = expand_words(sh, &w, 1, &f);
        for (uint32_t k = 0; k < f.n; k++) {
            if (str_starts(f.v[k], word))
                (void)fields_add(sh, out, arena_str(&sh->scratch, f.v[k]));
        }
    }
    sh->opts = (sh->opts & ~(uint32_t)OPT_NOGLOB) | noglob;
    ast_unref(a);
    return r < 0 ? 1 : 0;
}

/* ---- -F and -C ---- */

static const char *const line_names[] = {"COMP_LINE", "COMP_POINT", "COMP_TYPE", "COMP_KEY"};

/* There is no command line: what bash tells functions and commands then. */
static void bind_line(struct shell *sh, bool on)
{
    for (size_t i = 0; i < sizeof(line_names) / sizeof(line_names[0]); i++) {
        struct sym *s = sym_get(sh, str_c(line_names[i]));
        if (!s)
            continue;
        if (!on)
            (void)var_unset(sh, s);
        else if (var_set(sh, s, i ? STR("0") : STR("")) == 0)
            (void)var_attr(sh, s, VAR_EXPORT, 0);
    }
}

static void unset(struct shell *sh, const char *name)
{
    struct sym *s = sym_get(sh, str_c(name));
    if (s)
        (void)var_unset(sh, s);
}

/* Appends what COMPREPLY holds: the status of the function. */
static int from_function(struct shell *sh, struct str name, struct str word, struct fields *out)
{
    struct func *f = func_find(sh, name);
    struct sym *words = sym_get(sh, STR("COMP_WORDS")), *at = sym_get(sh, STR("COMP_CWORD"));
    struct sym *reply = sym_get(sh, STR("COMPREPLY"));
    if (!f || !words || !at || !reply) {
        struct buf line BUF_AUTO;
        buf_init(&line, LIMIT_STRING);
        const char *file = sh->main_file ? sh->main_file : sh->script_name;
        buf_addf(&line, "%s: line %d: completion: function `%s' not found\n", file, sh->line, name.p);
        sh_write_fd(sh, 2, buf_str(&line));
        return 1;
    }
    struct str v[4] = {name, STR("compgen"), word, STR("")};
    bind_line(sh, true);
    (void)var_make_array(sh, words, VAR_ARRAY, false);
    (void)var_set(sh, at, STR("-1"));
    int status = exec_function(sh, f, 4, v);
    size_t pos = 0;
    struct str key, val;
    int64_t index;
    const struct var *r = var_find(sh, reply);
    if (r && !(r->flags & (VAR_ARRAY | VAR_ASSOC)) && (r->flags & VAR_SET)) {
        (void)fields_add(sh, out, arena_str(&sh->scratch, var_get(sh, "COMPREPLY")));
    } else if (r && status != 124) { /* which asks to begin again, for a command line */
        while (var_next(r, &pos, &key, &index, &val))
            (void)fields_add(sh, out, arena_str(&sh->scratch, val));
    }
    bind_line(sh, false);
    unset(sh, "COMP_WORDS");
    unset(sh, "COMP_CWORD");
    unset(sh, "COMPREPLY");
    return status;
}

/* Appends the lines that the command prints. */
static void from_command(struct shell *sh, struct str command, struct str word, struct fields *out)
{
    struct buf text BUF_AUTO;
    buf_init(&text, LIMIT_STRING);
    buf_addc(&text, "\"$(");
    buf_adds(&text, command);
    buf_addc(&text, " compgen ");
    quote_single(&text, word);
    buf_addc(&text, " '')\"");
    struct ast *a = mem_zalloc(sizeof(*a));
    struct word *w;
    struct parse_error err;
    struct str printed;
    a->refs = 1;
    arena_init(&a->arena);
    bind_line(sh, true);
    if (parse_word_text(sh, a, buf_str(&text), &w, &err) < 0)
        sh_error(sh, "compgen: %s", err.text);
    else if (expand_str(sh, w, EXPAND_PLAIN, &printed) == 0)
        while (printed.n) {
            ptrdiff_t nl = str_find(printed, '\n', 0);
            struct str line = nl < 0 ? printed : str_of(printed.p, (size_t)nl);
            if (line.n)
                (void)fields_add(sh, out, arena_str(&sh->scratch, line));
            printed = nl < 0 ? (struct str){0} : str_from(printed, (size_t)nl + 1);
        }
    bind_line(sh, false);
    ast_unref(a);
}

/* ---- all of it ---- */

/* Whether -X removes @name: '&' in the pattern stands for the word, a leading '!' turns the sense round. */
static bool filtered(struct shell *sh, const struct compspec *spec, struct str word, struct str name)
{
    struct str pat = spec->filter;
    bool negate = pat.n && pat.p[0] == '!';
    struct buf out BUF_AUTO;
    buf_init(&out, LIMIT_STRING);
    if (!pat.n)
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

/* Those that bash asks last, in its order; the others come by name. */
static const uint8_t last_sources[] = {GEN_COMMAND, GEN_FILE, GEN_USER, GEN_GROUP, GEN_SERVICE, GEN_DIRECTORY};

static void from_sources(struct shell *sh, uint32_t sources, struct str word, struct fields *out)
{
    uint32_t last = 0;
    for (size_t i = 0; i < sizeof(last_sources); i++)
        last |= 1u << last_sources[i];
    for (int s = 0; s < GEN_COUNT; s++)
        if (sources & ~last & 1u << s)
            compgen_names(sh, (enum compgen_source)s, word, out);
    for (size_t i = 0; i < sizeof(last_sources); i++)
        if (sources & 1u << last_sources[i])
            compgen_names(sh, (enum compgen_source)last_sources[i], word, out);
}

static int generate(struct shell *sh, const struct compspec *spec, struct str word)
{
    struct fields f = {0}, more = {0};
    from_sources(sh, spec->sources, word, &f);
    if (spec->glob.p)
        (void)pathglob(sh, spec->glob, &f);
    if (spec->words.p && word_list(sh, spec->words, word, &f) != 0)
        return 1;
    if (spec->function.p)
        (void)from_function(sh, spec->function, word, &f);
    if (spec->command.p)
        from_command(sh, spec->command, word, &f);
    bool any = false;
    for (uint32_t i = 0; i < f.n; i++) {
        if (filtered(sh, spec, word, f.v[i]))
            continue;
        sh_write(sh, spec->prefix);
        sh_write(sh, f.v[i]);
        sh_write(sh, spec->suffix);
        sh_puts(sh, "\n");
        any = true;
    }
    if ((!any && spec->options & COMP_DIRNAMES) || spec->options & COMP_PLUSDIRS)
        compgen_names(sh, GEN_DIRECTORY, word, &more);
    if (!any && !more.n && spec->options & COMP_DEFAULT)
        compgen_names(sh, GEN_FILE, word, &more);
    for (uint32_t i = 0; i < more.n; i++) {
        sh_write(sh, more.v[i]);
        sh_puts(sh, "\n");
    }
    return any || more.n ? 0 : 1;
}

static int builtin_compgen(struct shell *sh, struct builtin_args *a)
{
    struct builtin_opt o = {0};
    struct compspec spec = {0};
    int c;
    if (a->argc == 1)
        return 0;
    while ((c = builtin_getopt(sh, a, COMPGEN_OPTIONS, &o)) != -1) {
        int status = compgen_take(sh, "compgen", &spec, c, o.arg);
        if (status)
            return status;
    }
    for (int s = 0; s < GEN_COUNT; s++)
        if (spec.sources & 1u << s && !compgen_has((enum compgen_source)s)) {
            sh_error(sh, "compgen: %s is not implemented here", compgen_source_name((enum compgen_source)s));
            return 2;
        }
    if (spec.function.p)
        sh_error(sh, "compgen: warning: -F option may not work as you expect");
    if (spec.command.p)
        sh_error(sh, "compgen: warning: -C option may not work as you expect");
    return generate(sh, &spec, o.i < a->argc ? a->argv[o.i] : STR(""));
}

BUILTIN(compgen, "compgen", builtin_compgen, 0,
        "compgen [-abcdefgjksuv] [-o option] [-A action] [-G globpat] [-W wordlist] [-F function] [-C command] [-X "
        "filterpat] [-P prefix] [-S suffix] [word]",
        "    Print the names that begin with word.\n"
        "\n"
        "    -A  names of one kind: alias arrayvar builtin command directory disabled enabled export file function "
        "group helptopic\n"
        "        hostname job keyword running service setopt shopt signal stopped user variable; -abcdefgjksuv are\n"
        "        short for some\n"
        "    -C  lines that a command prints\n"
        "    -F  what a function leaves in COMPREPLY\n"
        "    -G  paths that a pattern matches\n"
        "    -W  words of a list\n"
        "    -X  leave out what a pattern matches (with a leading ! what it does not match)\n"
        "    -P  -S  text to put in front and behind\n"
        "    -o  what else: dirnames or default, if there is nothing; plusdirs\n"
        "\n"
        "    The kind binding is not implemented here. The status is 0 when there was at least one name.\n");
