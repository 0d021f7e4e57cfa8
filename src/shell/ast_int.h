/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * ast - the tree of a parsed command, and the parser that makes it.
 *
 * One unit (struct ast) is what the parser gives at a time: a complete command up to its newline, bodies of
 * here-documents included. Everything lies in the unit's arena. Fields marked "cache" are filled by the executor.
 */

#include "base/arena.h"
#include "base/str.h"

struct sym;
struct arith;
struct node;
struct word;
struct shell;
struct buf;
struct pattern;
struct parse_error;

struct ast {
    struct arena arena;
    uint32_t refs;
    struct node *root; /* NULL: only blank lines or comments */
};

/* Counts a unit. */
struct ast *ast_ref(struct ast *a);
/* Frees at zero. Accepts NULL. */
void ast_unref(struct ast *a);

/* ---- words ---- */

enum part_kind {
    PART_LIT, /* text that is subject to tilde, brace and pathname expansion as written; no quote or backslash left */
    PART_QUOTED,  /* text from '…', $'…' (decoded), \c, never special; an empty one keeps the field alive */
    PART_DQUOTE,  /* parts inside "…" (also $"…"); parts may be NULL for "" */
    PART_PARAM,   /* $x ${…} */
    PART_CMDSUB,  /* $(…) `…` */
    PART_ARITH,   /* $((…)) $[…] */
    PART_PROCSUB, /* <(…) >(…) */
};

struct part {
    enum part_kind kind;
    struct part *next;
    union {
        struct str text;
        struct part *parts;
        struct param *param;
        struct cmdsub *cmd;
        struct arith_part *arith;
    };
};

/* What a backslash keeps from being read once more in NAME[…] of an arithmetic expression. */
#define SUBSCRIPT_SPECIAL "[]$`\\~'\""

enum word_flags {
    WORD_LITERAL =
        1 << 0, /* one PART_LIT with nothing to expand at all (no ~ { * ? [ extglob): text can be used as it is */
    WORD_QUOTED = 1 << 1,  /* some part of it was quoted */
    WORD_BRACE = 1 << 2,   /* a PART_LIT holds '{' that may begin a brace expansion */
    WORD_TILDE = 1 << 3,   /* begins with '~', or (assignment) has one after ':' or '=' */
    WORD_GLOB = 1 << 4,    /* a PART_LIT holds * ? [ or an extglob opening */
    WORD_NOSPLIT = 1 << 5, /* only literals and double quotes without "$@"/"${a[@]}": gives exactly one field */
};

/* A place where a word's text, as bash keeps it, differs from what was read. */
struct word_edit {
    size_t from, to;          /* offsets into word.src */
    struct cmdsub *cs;        /* printed from its tree, or NULL: text */
    struct str text;          /* what $'…' stands for, nothing for a joined line */
    struct array_elem *elems; /* of the list in NAME=(…), else NULL */
    uint32_t n_elems;
    bool list;
};

/*
 * Inside PART_DQUOTE, in here-document bodies and in arithmetic expressions, plain text is PART_LIT too, but nothing in
 * it is special. Words of contexts that are neither split nor globbed (those, subscripts, offsets, case words are not
 * among them) have WORD_LITERAL whenever they are one PART_LIT, whatever it holds. An empty word of such a context has
 * parts == NULL.
 */
struct word {
    struct part *parts; /* NULL: the empty word of an empty expansion context (an unquoted nothing) */
    uint16_t flags;
    int line;
    struct str src;          /* as written; parts->text itself when WORD_LITERAL */
    struct word_edit *edits; /* sorted; how the text that bash shows differs from src */
    uint32_t n_edits;
    struct assign *assign; /* the word has the form NAME=…, NAME+=…, NAME[…]=…: used by declare, export, local … */
    struct word **braces; /* cache: result of brace expansion */
    uint32_t n_braces;
    struct arena *arena; /* the unit's, for caches of what hangs on this word; NULL: nothing may be cached */
};

enum param_op {
    OP_NONE,
    OP_DEFAULT,     /* -  */
    OP_ASSIGN,      /* =  */
    OP_ERROR,       /* ?  */
    OP_ALT,         /* +  */
    OP_LENGTH,      /* ${#x} */
    OP_PREFIX,      /* #  */
    OP_PREFIX_LONG, /* ## */
    OP_SUFFIX,      /* %  */
    OP_SUFFIX_LONG, /* %% */
    OP_SUBST,       /* /  first match */
    OP_SUBST_ALL,   /* // */
    OP_SUBST_HEAD,  /* /# */
    OP_SUBST_TAIL,  /* /% */
    OP_SUBSTRING,   /* :off:len */
    OP_UPPER1,
    OP_UPPER,
    OP_LOWER1,
    OP_LOWER,
    OP_TOGGLE1,
    OP_TOGGLE,    /* ^ ^^ , ,, ~ ~~ */
    OP_TRANSFORM, /* @Q @E @P @A @a @K @k @U @u @L */
    OP_NAMES,     /* ${!prefix*} ${!prefix@} */
    OP_KEYS,      /* ${!a[*]} ${!a[@]} */
    OP_BAD,       /* ${…} that is a "bad substitution" when it is expanded; source keeps its text */
};

enum param_kind {
    PARAM_VAR,     /* a name; sym is set */
    PARAM_POS,     /* $1 ${10}: pos */
    PARAM_SPECIAL, /* @ * # ? - $ ! 0 _ : ch */
};

struct param {
    enum param_kind kind;
    char ch;
    char all;      /* '@' or '*' when the subscript is [@] or [*]; for OP_NAMES/OP_KEYS which of both */
    bool colon;    /* :- := :? :+ */
    bool indirect; /* ${!x…} */
    bool braced;
    bool bad_form;  /* OP_BAD, or OP_TRANSFORM by no known letter, which is bad only with a value */
    bool unclosed;  /* OP_BAD between quotes, whose '[' has no ']' */
    bool quoted;    /* stands inside double quotes or a here-document */
    char transform; /* letter of OP_TRANSFORM; 0: none that is known */
    enum param_op op;
    uint32_t pos;
    struct str name;
    struct sym *sym;
    struct word *subscript;        /* of ${x[…]}, unexpanded; NULL without one or when `all` */
    struct word *arg;              /* word after the operator; pattern; offset expression */
    struct word *arg2;             /* replacement; length expression */
    struct str source;             /* text between the braces, for "bad substitution" and for printing */
    struct str around;             /* what a message shows: of a bad substitution the quoted text or value that it
                                      stands in, of an indirection its own name; may be empty */
    struct arith *arith1, *arith2; /* cache: compiled offset and length */
    struct arith *arith_sub;       /* cache: compiled subscript */
    struct pattern *pattern;       /* cache: compiled constant pattern */
};

struct cmdsub {
    struct ast *ast;   /* the commands, in the same arena as the unit around (refs not counted) */
    struct node *body; /* NULL: empty */
    bool backquote;
    char direction;    /* '<' or '>' for process substitution */
    struct str source; /* text between the parentheses */
    struct word *file; /* $(< file): its target, else NULL */
    struct parse_error
        *error; /* `…` whose text does not parse: printed when it runs (as "command substitution"), output empty */
    int line;
};

struct arith_part {
    struct word *expr;  /* text with expansions, as in double quotes */
    struct arith *code; /* cache, when expr is literal */
};

struct array_elem {
    struct word *key; /* [key]=value, or NULL */
    struct word *value;
    bool append;       /* [key]+=value */
    struct word *word; /* all of it, for printing */
};

struct assign {
    struct str name;
    struct sym *sym;
    struct word *subscript;   /* NAME[…]= */
    struct word *value;       /* of a scalar; NULL means empty */
    struct array_elem *elems; /* NAME=(…) */
    uint32_t n_elems;
    bool is_array;
    bool append;
    int line;
    struct arith *arith; /* cache for an integer variable or subscript */
    struct str raw_list; /* text between the parentheses of NAME=(…) */
    struct word *word;   /* all of it */
};

/* ---- redirections ---- */

enum redir_kind {
    REDIR_IN,
    REDIR_OUT,
    REDIR_APPEND,
    REDIR_CLOBBER,
    REDIR_RDWR, /* < > >> >| <> */
    REDIR_DUP_IN,
    REDIR_DUP_OUT, /* <& >& (target may be N, N-, -) */
    REDIR_BOTH,
    REDIR_BOTH_APPEND, /* &> (also >& word) &>> */
    REDIR_HEREDOC,
    REDIR_HERESTR, /* << <<- <<< */
};

struct redir {
    struct redir *next;
    enum redir_kind kind;
    int fd;              /* -1: the operator's default */
    struct str var;      /* {var}> : name without braces, else empty */
    struct word *target; /* file, descriptor or here-string; of a here-document its body */
    struct str delim;    /* of a here-document, quotes removed */
    struct str heredoc;  /* of a here-document, its body's text, for printing */
    bool from_dup;       /* REDIR_BOTH that was written >&word; REDIR_DUP_* keep -1 in fd when none was written */
    bool delim_quoted;   /* body is not expanded */
    bool strip_tabs;
    int line;
};

/* ---- commands ---- */

enum node_kind {
    NODE_SIMPLE,
    NODE_PIPE,
    NODE_AND,
    NODE_OR,
    NODE_SEQ,
    NODE_BG,
    NODE_GROUP,
    NODE_SUBSHELL,
    NODE_IF,
    NODE_WHILE,
    NODE_UNTIL,
    NODE_FOR,
    NODE_FOR_ARITH,
    NODE_SELECT,
    NODE_CASE,
    NODE_FUNC,
    NODE_COND,
    NODE_ARITH,
    NODE_COPROC,
};

enum case_end { CASE_BREAK, CASE_FALL, CASE_NEXT }; /* ;; ;& ;;& */

struct case_clause {
    struct word **patterns;
    uint32_t n_patterns;
    struct node *body; /* NULL: empty */
    enum case_end end;
};

enum cond_kind { COND_AND, COND_OR, COND_NOT, COND_UNARY, COND_BINARY, COND_WORD, COND_GROUP };

struct cond {
    enum cond_kind kind;
    char op[4];                /* "-f", "==", "=~", "<", "-ef" … */
    struct cond *left, *right; /* NOT and GROUP: left */
    struct word *a, *b;
};

struct node {
    enum node_kind kind;
    int line;
    bool newline_after;   /* an item of a SEQ that ended with a newline, not with ';' */
    struct redir *redirs; /* in order */
    union {
        struct {
            struct word **words;
            uint32_t n_words;
            struct assign **assigns;
            uint32_t n_assigns;
            /* cache of exec_simple.c: what the literal name meant at @stamp, and the form of the arguments */
            const void *cache;
            uint64_t stamp;
            uint8_t found, form;
        } simple;
        struct {
            struct node **cmds;
            uint32_t n;
            bool negate;   /* odd number of ! */
            bool *err_too; /* per command but the last: |& */
            bool timed, time_posix;
        } pipe; /* n may be 0 for a lone "time" or "!" */
        struct {
            struct node *left, *right;
        } pair; /* AND, OR */
        struct {
            struct node **items;
            uint32_t n;
        } seq;
        struct node *body; /* BG, GROUP, SUBSHELL */
        struct {
            struct node *cond, *then, *other; /* other: NULL, or the else part (an elif is an IF node) */
            bool is_elif;
        } if_;
        struct {
            struct node *cond, *body;
        } loop; /* WHILE, UNTIL */
        struct {
            struct str name;
            struct sym *sym;
            struct word **words;
            uint32_t n_words;
            bool has_in; /* without "in": "$@" */
            struct node *body;
        } for_; /* FOR, SELECT */
        struct {
            struct word *init, *cond, *step; /* as in double quotes; NULL when empty */
            struct arith *code[3];           /* cache */
            struct node *body;
        } for_arith;
        struct {
            struct word *word;
            struct case_clause *clauses;
            uint32_t n;
        } case_;
        struct {
            struct str name;
            struct node *body; /* a compound command; its redirs belong to the function */
            bool keyword;      /* written with `function` */
            struct ast *ast;   /* the unit around: the function counts it */
        } func;
        struct cond *cond;
        struct {
            struct word *expr;
            struct arith *code; /* cache */
        } arith;
        struct {
            struct str name; /* COPROC when not given */
            struct node *body;
        } coproc;
    };
};

/* ---- the parser ---- */

struct parse_error {
    int line;
    bool incomplete;    /* the input ended inside a construct */
    bool discard;       /* in NAME=(…): status 1, and a script goes on with the next line */
    bool fatal;         /* ends the shell, whatever gave it the text */
    bool keep_status;   /* in [[ ]]: $? of a script is what it was before */
    bool second;        /* source is a message of its own, for second_line */
    int second_line;
    bool source_syntax; /* the second line, too, begins with "syntax error: " */
    char text[400];     /* "syntax error near unexpected token `)'"; empty: there is no message */
    char source[400];   /* the offending line, without newline; empty when bash shows none */
};

struct parse_input {
    /* Appends more text (at least one line) to @out: 1, 0 at the end of input, or -EINTR. NULL when text is all there
     * is. */
    int (*more)(void *arg, struct buf *out, bool continuation);
    void *more_arg;
};

struct parser;

/* A parser over @text (borrowed) and then @input (may be NULL). Reads aliases and options (extglob, posix,
 * expand_aliases …) of @sh as they are when each command is parsed. @line is the number of the first line. */
struct parser *parser_new(struct shell *sh, struct str text, const struct parse_input *input, int line);

/* Only asks whether the text is whole: no warnings, and a here-document that the end of the input ends is an error,
 * incomplete. */
void parser_check_only(struct parser *ps);

/* Frees. Accepts NULL. */
void parser_free(struct parser *ps);

/* The next complete command: 1 and a unit with one reference; 0 at the end; -EINVAL after a syntax error (*ret_err
 * filled; the parser is at the start of the next line); -EINTR; -ENOMEM. */
int parser_next(struct parser *ps, struct ast **ret, struct parse_error *ret_err);

/* The lines that it takes are what set -o history records. */
void parser_record(struct parser *ps);

/* Whether lines of the text given so far end in CR LF. */
bool parser_has_crlf(const struct parser *ps);

/* The unread rest of the text given so far (what `more` delivered included): for shells that read standard input, which
 * give it back. */
struct str parser_rest(const struct parser *ps);

/* Parses @text as the inside of double quotes (a here-document's body, PS1, ${x@P}) into a word in @a's arena: 0 or
 * -EINVAL. */
int parse_dquoted(struct shell *sh, struct ast *a, struct str text, struct word **ret, struct parse_error *ret_err);

/* Parses @text as one word as it would stand in a command (array elements given as text): 0 or -EINVAL. */
int parse_word_text(struct shell *sh, struct ast *a, struct str text, struct word **ret, struct parse_error *ret_err);

/* Parses the text between the parentheses of a compound array assignment given at run time (declare "a=(x y)"). */
int parse_array_text(struct shell *sh, struct ast *a, struct str text, struct array_elem **ret, uint32_t *ret_n,
                     struct parse_error *ret_err);

/* A decoded $'…' (also echo -e's and printf %b's relatives use their own rules). Appends to @out. */
void parse_ansi_c(struct str text, struct buf *out);

/* Whether @w is a reserved word. */
bool parse_is_reserved(struct str w);

/* ---- printing back, as bash prints functions, jobs, BASH_COMMAND and set -x ---- */

/* All append. A tree that is nested too deep for the stack sets out->err (-ENOMEM), and what was appended is not whole.
 */

/* The text of a command on one line or several as bash's `declare -f`, `type` and `jobs` show it. */
void ast_print_node(struct buf *out, const struct node *n, int indent);
/* "name () \n{ …\n}" as declare -f prints it. */
void ast_print_function(struct buf *out, struct str name, const struct node *body);
/* A function's body as text that means the same when it is parsed with extglob on and without aliases. */
void ast_print_source(struct buf *out, const struct node *body);
/* A word in source form. */
void ast_print_word(struct buf *out, const struct word *w);
/* A command in the form of jobs: lists in one line, bodies of compound commands indented. */
void ast_print_oneline(struct buf *out, const struct node *n);
/* The same for BASH_COMMAND and the DEBUG trap: of for, select and case only the line that begins them. */
void ast_print_head(struct buf *out, const struct node *n);
