/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * parse_int - what the files of the parser share: lex.c (input, tokens, aliases, here-documents), parse_word.c (quoting
 * and expansions), parse_param.c (${…}), parse_cmd.c and parse_comp.c (the grammar), parse_cond.c ([[ ]]).
 *
 * Model. The text of the unit being parsed lies in one buffer, `in`, which grows by whole lines when the parser reaches
 * its end; an alias is spliced into it. So a place is an offset, text once read can be read again (to try `((` as
 * arithmetic first), and a word's source is a slice. The grammar is a recursive descent with one token of look-ahead;
 * the caller of lex_peek() says in which position the token stands, because the shell's tokens depend on it.
 *
 * A failure is sticky: parse_fail() records the first, lex_peek() gives T_EOF from then on, and every loop ends.
 */

#include "base/buf.h"
#include "base/num.h"
#include "shell/ast_int.h"
#include "shell/shell_int.h"

enum tok_kind {
    T_EOF,
    T_NEWLINE,
    T_WORD,
    T_SEMI,
    T_DSEMI,
    T_SEMI_AMP,
    T_DSEMI_AMP,
    T_AMP,
    T_AND_AND,
    T_OR_OR,
    T_PIPE,
    T_PIPE_AMP,
    T_LPAREN,
    T_RPAREN,
    T_REDIR,
};

/* Where the token stands. */
enum lex_flags {
    LEX_CMD = 1 << 0,        /* a command may begin: aliases */
    LEX_ASSIGN = 1 << 1,     /* NAME[…]= and NAME=(…) are assignments */
    LEX_ASSIGN_ARG = 1 << 2, /* NAME=(…) is: an argument of declare and its kin */
    LEX_COND = 1 << 3,       /* in [[ ]]: < and > are operators, no numbers before them */
    LEX_PATTERN = 1 << 4,    /* extglob in any case */
    LEX_REGEX = 1 << 5,      /* right side of =~ */
    LEX_NO_ALIAS = 1 << 6,
    LEX_ALIAS = 1 << 8, /* aliases, though no command begins */
    LEX_ELEM =
        1 << 7, /* an element of NAME=(…): [ at its start holds a key; in ${x//…}: a / at its start is ordinary */
};

enum reserved {
    RES_NONE,
    RES_IF,
    RES_THEN,
    RES_ELSE,
    RES_ELIF,
    RES_FI,
    RES_CASE,
    RES_ESAC,
    RES_FOR,
    RES_SELECT,
    RES_WHILE,
    RES_UNTIL,
    RES_DO,
    RES_DONE,
    RES_IN,
    RES_FUNCTION,
    RES_TIME,
    RES_LBRACE,
    RES_RBRACE,
    RES_BANG,
    RES_COND,
    RES_COND_END,
    RES_COPROC,
};

struct token {
    enum tok_kind kind;
    enum redir_kind redir; /* of T_REDIR */
    enum reserved res;     /* what the word would be where a command begins */
    bool has_fd;           /* a number or {name} stands in front */
    bool strip;            /* <<- */
    int fd;
    int line;
    size_t start, end; /* offsets into in */
    struct str var;
    struct word *word;
};

struct alias_use { /* an alias whose text is being read */
    struct str name;
    size_t end; /* offset behind its text */
};

#define PARSE_ALIASES 64 /* aliases within aliases */

struct heredoc_ref { /* a here-document whose body is still to be read */
    struct redir *r;
    int line; /* of the operator */
    struct heredoc_ref *next;
};

struct parser {
    bool echo;        /* reads what the shell reads: set -v prints it */
    bool recorded;    /* what set -o history keeps */
    bool in_document; /* a line of a here-document is wanted */
    int body_line;    /* the text is a here-document's: substitutions in it count from its operator's line, as bash
                         expands them then; 0: it is not */
    struct shell *sh; /* NULL: default options, no symbols */
    struct str text;  /* given, not yet in `in` */
    const struct parse_input *input;
    struct buf more; /* what input->more gave; text may point into it */
    struct buf in;   /* the unit's text so far */
    size_t pos;
    int line; /* of pos */
    bool eof;
    bool end_line;   /* a last line without its newline gets one, as in bash */
    bool check_only; /* see parser_check_only() */
    bool one_word;   /* the text is a piece, not a script: lines do not end anything */
    struct ast *ast;
    struct arena *a;
    struct parse_error *err;
    int failed;      /* 0, or the negative errno that parser_next() will give */
    size_t fail_pos; /* where it failed; the rest of that line is skipped */
    uint32_t depth;

    struct token tok;
    bool have_tok;

    struct buf acc; /* literal text being collected */
    void **stack;   /* lists under construction */
    size_t n_stack, cap_stack;
    struct word_edit *edits; /* offsets into in */
    size_t n_edits, cap_edits;
    uint32_t in_word;

    struct heredoc_ref *heredocs, **heredocs_tail;
    uint32_t subs; /* open $( */
    bool unclosed; /* the last ${ that failed has a '[' without ']' */

    struct alias_use uses[PARSE_ALIASES];
    uint32_t n_uses;
    size_t alias_next; /* the word that begins at or after this is looked up too; SIZE_MAX none */

    size_t *memo; /* offsets, sorted, where (( is two subshells, or =( begins a scalar */
    size_t n_memo, cap_memo;
};

/* ---- failures ---- */

/* Records the first failure with its line; the second line of the message is the source line around @at (SIZE_MAX:
 * none). */
void parse_fail(struct parser *ps, int line, size_t at, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* "unexpected EOF while looking for matching `C'"; the input was incomplete. */
void parse_fail_eof(struct parser *ps, int line, char c);
/* Something else is tried: the failure did not happen, and here-documents queued since @tail was the queue's end were
 * not asked for. */
void parse_forget_failure(struct parser *ps, struct heredoc_ref **tail);
/* "syntax error near unexpected token `…'", or the end-of-file form. */
void parse_unexpected(struct parser *ps, const struct token *t);
/* Text of a token as messages show it. Borrowed. */
struct str parse_token_text(const struct parser *ps, const struct token *t);

/* Tells the bad substitutions among @parts, not those of nested texts, that they stand in @text. */
void parse_tell_around(struct parser *ps, struct part *parts, struct str text);

/* Enters a nested construct: false (and a failure) when too deep. Leave with ps->depth--. */
bool parse_enter(struct parser *ps);

/* ---- input (lex.c) ---- */

/* Appends the next line to `in`: false at the end of input. */
bool lex_fill(struct parser *ps);

/* The byte at the position plus @ahead, or -1 at the end of input. */
static inline int lex_at(struct parser *ps, size_t ahead)
{
    while (ps->pos + ahead >= ps->in.n) {
        if (!lex_fill(ps))
            return -1;
    }
    return (unsigned char)ps->in.p[ps->pos + ahead];
}

/* Steps over @n bytes, none of them a newline. */
static inline void lex_skip(struct parser *ps, size_t n)
{
    ps->pos += n;
}

/* Steps over a newline. */
static inline void lex_newline(struct parser *ps)
{
    ps->pos++;
    ps->line++;
}

/* Takes the joined lines (backslash, newline) at the position plus @ahead out of the text; the byte that is there then.
 */
int lex_join(struct parser *ps, size_t ahead);

/* The byte at the position plus @ahead after joined lines, which end there; look at the nearer ones first. */
static inline int lex_look(struct parser *ps, size_t ahead)
{
    int c = lex_at(ps, ahead);
    return c == '\\' && lex_at(ps, ahead + 1) == '\n' ? lex_join(ps, ahead) : c;
}

/* The byte at the position, joined lines taken out. */
static inline int lex_cur(struct parser *ps)
{
    return lex_look(ps, 0);
}

/* Length of the identifier at the position, joined lines taken out; 0 when there is none. */
size_t lex_ident(struct parser *ps);

/* Makes a parser over a piece of text in @parent's unit (backquotes, here-document bodies). End with parse_sub_done().
 */
void parse_sub_init(struct parser *sub, const struct parser *parent, struct str text, int line,
                    struct parse_error *err);
/* A parser with nothing in it. */
void parse_init(struct parser *ps, struct shell *sh, struct str text, int line);
/* Frees what a parser holds. */
void parse_done(struct parser *ps);

/* ---- tokens (lex.c) ---- */

/* The next token, which stays; @flags count only when it was not looked at yet. */
struct token *lex_peek(struct parser *ps, int flags);
/* Takes the token last peeked. */
void lex_take(struct parser *ps);
/* Gives the token back, to be read anew in another position. */
void lex_unread(struct parser *ps);
/* Takes newlines; the next token is peeked with @flags. */
struct token *lex_newlines(struct parser *ps, int flags);
/* Whether extglob is on. */
bool lex_extglob(const struct parser *ps);
/* Reads the bodies of the here-documents that wait. */
void lex_heredocs(struct parser *ps);
/* Warns that bodies of @left are missing where a command substitution ends. */
void lex_warn_heredocs(struct parser *ps, const struct heredoc_ref *left);
/* Queues a here-document. */
void lex_want_heredoc(struct parser *ps, struct redir *r);
/* Notes that the text of the word from @from to the position reads otherwise. */
void lex_edit(struct parser *ps, size_t from, struct cmdsub *cs, struct str text);
/* The reserved word that @s is. */
enum reserved lex_reserved(struct str s);

/* ---- words (parse_word.c) ---- */

enum word_ctx {
    CTX_WORD,          /* ends at a metacharacter */
    CTX_REGEX,         /* right side of =~ */
    CTX_BRACE,         /* ends at } */
    CTX_SLASH,         /* ends at } or / */
    CTX_SUBSCRIPT,     /* ends at ] */
    CTX_TEXT,          /* ends with the text */
    CTX_DQUOTE,        /* from here on as in double quotes: ends at " */
    CTX_DQUOTE_INNER,  /* "…" in ${…} in double quotes, where a backslash quotes any character: ends at " */
    CTX_BRACE_DQ,      /* ends at } */
    CTX_HEREDOC,       /* ends with the text */
    CTX_ARITH,         /* ends at an unbalanced ) */
    CTX_ARITH_BRACKET, /* ends at an unbalanced ] */
    CTX_ARITH_FOR,     /* ends at ; or an unbalanced ) */
    CTX_OFFSET,        /* ends at : or } */
};

/* Reads a word in @ctx from the position up to (not over) what ends it; @quoted: inside double quotes. NULL after a
 * failure. @lex are lex_flags. */
struct word *parse_word(struct parser *ps, enum word_ctx ctx, bool quoted, int lex);
/* As parse_word(), when an empty one may be told by NULL: *ret is NULL then. False after a failure. */
bool parse_word_opt(struct parser *ps, enum word_ctx ctx, bool quoted, struct word **ret);
/* At a '$' or '`': the part, or NULL when it stands for itself (nothing is consumed) or after a failure. */
struct part *parse_dollar(struct parser *ps, bool quoted);
/* Text from "$((" on: arithmetic in *ret, or false when it is not (the position is back). */
bool parse_arith_try(struct parser *ps, struct word **ret);
/* The part of ${…}; the position is behind "${". */
struct part *parse_param_braced(struct parser *ps, bool quoted, int line);
/* Remembers that what begins at @at is not what it looks like, so that nested ones are tried twice and not once for
 * every level above. */
void parse_memo_add(struct parser *ps, size_t at);
/* See parse_memo_add(). */
bool parse_memo_has(const struct parser *ps, size_t at);
/* A new parameter of a name. */
struct param *parse_param_name(struct parser *ps, struct str name);
/* The commands between "(" (already read) and ")" as a cmdsub. */
struct cmdsub *parse_cmdsub_body(struct parser *ps, int line);
/* Elements of NAME=(…); the position is behind "(". False after a failure. */
bool parse_array_elems(struct parser *ps, struct array_elem **ret, uint32_t *ret_n);
/* Looks whether @w has the form of an assignment, and fills w->assign. */
void parse_word_assign(struct parser *ps, struct word *w);
/* Length of the identifier at the start of @s, 0 when none. */
size_t parse_ident(struct str s);
/* Steps over a balanced piece of text that ends at @close, without parsing it. False at the end of input (failure
 * recorded). */
bool parse_skip_matched(struct parser *ps, char close, int line);

/* Sets the flags of a word from its parts for a context without splitting and globbing. */
void parse_word_simple_flags(struct word *w);

/* ---- lists under construction ---- */

/* Pushes onto the shared stack. */
void parse_push(struct parser *ps, void *p);
/* The pointers pushed since @mark as an array in the arena (NULL when none); pops them. */
void **parse_pop(struct parser *ps, size_t mark, uint32_t *ret_n);

/* ---- grammar ---- */

/* A list of commands up to a token that cannot begin one. NULL: empty, or a failure. */
struct node *parse_list(struct parser *ps);
/* One line: a list up to a newline or the end. */
struct node *parse__line(struct parser *ps);
/* A command of a pipeline. */
struct node *parse_command(struct parser *ps);
/* A pipeline without its ! and time. */
struct node *parse_and_or(struct parser *ps);
/* A compound command that begins with the peeked token, or NULL when it does not begin one. Redirections included. */
struct node *parse_compound(struct parser *ps);
/* Whether the peeked token begins a compound command. */
bool parse_at_compound(const struct token *t);
/* The redirections that follow. */
bool parse_redirs(struct parser *ps, struct redir **ret);
/* A redirection; the peeked token is T_REDIR. Appends at *tail and moves it. */
bool parse_redir(struct parser *ps, struct redir ***tail);
/* A simple command; @first (may be NULL) is a word of it that was taken already. */
struct node *parse_simple(struct parser *ps, struct word *first, int line);
/* Body of a function; "name ()" or "function name" was read. */
struct node *parse_function(struct parser *ps, struct str name, bool keyword, int line);
/* The inside of [[ ]]; "[[" was taken. */
struct node *parse_cond(struct parser *ps, int line);
/* A node. */
struct node *parse_node(struct parser *ps, enum node_kind kind, int line);
