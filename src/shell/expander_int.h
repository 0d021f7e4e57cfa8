/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * expander_int - the machinery behind expand_int.h, shared by expand*.c, brace.c, tilde.c, prompt.c and arith_eval.c.
 *
 * One struct expander turns one word into fields, or into one string. Text is built at the end of the shell's one
 * buffer (sh->expand->buf); an expander begins where the buffer ends and takes away what it has put there when it is
 * done, so that nested expansions are a stack in it. Finished texts are copied once, into the scratch arena.
 *
 * In field mode each stretch of the field is known to be quoted or not (marks: offsets where that changes). Only when
 * the field holds an unquoted character of a pattern is the pattern text made from them.
 */

#include <errno.h>

#include "base/buf.h"
#include "shell/shell_int.h"

enum ifs_class { IFS_NONE, IFS_SPACE, IFS_OTHER, IFS_LEAD };

struct expand_state {
    struct shell *owner; /* a clone that copied the pointer sees that the state is not its own */
    struct buf buf;
    size_t *marks;
    size_t n_marks, cap_marks;
    struct sym *ifs_sym;
    struct str ifs_now; /* heap copy of the value that the fields below were made from; p NULL: unset or not made */
    bool ifs_made, ifs_set;
    struct str ifs_first; /* what "$*" puts between: the first character */
    char ifs_first_buf[4];
    uint8_t ifs_class[256];
    bool ifs_wide; /* some delimiter has several bytes: IFS_LEAD bytes may begin one */
};

/* How literal text of the word counts. */
enum expand_ctx {
    XP_TOP,   /* as written: not split */
    XP_ARG,   /* inside ${x:-…}: split as the result of an expansion */
    XP_QUOTE, /* inside "…" */
};

/* EXPAND_PATTERN and its like, and what only ${x/p/r} wants: quoted & and \ get a backslash. */
#define EXPAND_REPLACEMENT ((enum expand_mode)100)
/* As inside double quotes, but no here-document. */
#define EXPAND_QUOTED ((enum expand_mode)101)

struct expander {
    struct shell *sh;
    struct expand_state *st;
    struct fields *out; /* NULL: one string */
    enum expand_mode mode;
    size_t start; /* of the field in the buffer */
    size_t first_mark;
    bool quoted;     /* state at the end of the marks */
    bool have;       /* there is a field, though maybe an empty one */
    bool ws_ended;   /* the last field was ended by IFS white space: a delimiter that follows belongs to that */
    bool in_arg;     /* inside the word of an unquoted ${x-…} */
    bool list_start; /* a list without quotes begins the word: white space before its first delimiter swallows that (as
                        bash) */
    bool glob_char;  /* the field holds an unquoted pattern character */
    bool in_bracket; /* EXPAND_REGEX: inside [...] */
    uint32_t fields_done;    /* number of fields ended so far */
    const struct word *word; /* what is expanded, for messages */
};

/* ---- expand.c ---- */

/* The state of @sh, made on first use. */
struct expand_state *expand__state(struct shell *sh);

/* Parts in a context: 0 or an error. */
int expand__parts(struct expander *x, const struct part *p, enum expand_ctx ctx);
/* The word of an operator (may be NULL) inside ${…}, with tilde expansion. */
int expand__arg(struct expander *x, const struct word *w, enum expand_ctx ctx);
/* Adds text; unquoted text keeps its special characters but is not split. */
int expand__put(struct expander *x, struct str s, bool quoted);
/* Adds the result of an unquoted expansion: split in field mode. */
int expand__put_split(struct expander *x, struct str s);
/* Ends the field, which is kept even when it is empty. */
int expand__end_field(struct expander *x);
/* What was built since offset @start, taken off the buffer into scratch. -ENOMEM. */
int expand__take(struct shell *sh, size_t start, struct str *ret);
/* A copy in scratch; -ENOMEM after a message. */
int expand__copy(struct shell *sh, struct str s, struct str *ret);
/* "cannot allocate memory" and abort. */
int expand__no_memory(struct shell *sh);

/* The command is abandoned; status 1. -EINVAL. */
static inline int expand__discard(struct shell *sh)
{
    return sh->flow == FLOW_NONE ? sh_abort(sh, 1) : -EINVAL;
}

/* As expand__discard(), after an error that sh_reported() speaks of. -EINVAL. */
static inline int expand__refuse(struct shell *sh)
{
    sh_reported(sh);
    return expand__discard(sh);
}

/* The shell ends (unless it is interactive): unset variables with set -u, ${x:?}. -EINVAL. */
static inline int expand__exit(struct shell *sh)
{
    return sh_fatal(sh, sh->dash_c && !sh_opt(sh, OPT_ERREXIT) ? 127 : 1);
}

/* For loops whose length a guest chooses: -EINTR when the process must end. */
int expand__poll(struct shell *sh);

/* Text with $ ` and quotes expanded as between [ and ] of a subscript (as a string when @assoc). */
int expand__subscript_text(struct shell *sh, struct str text, bool assoc, struct str *ret);
/* The same for one in an arithmetic expression, whose text was expanded and has backslashes for what is not to be
 * expanded again. */
int expand__arith_subscript(struct shell *sh, struct str text, bool assoc, struct str *ret);
/* Text expanded as inside double quotes; @ret in scratch. */
int expand__dquoted_text(struct shell *sh, struct str text, struct str *ret);

/* ---- arith_eval.c ---- */

/* Whether the stack has no room for another level of evaluation. */
bool arith__stack_low(const struct shell *sh);

/* ---- expand_split.c ---- */

/* Brings the classes of IFS up to date. */
void expand__ifs(struct shell *sh, struct expand_state *st);

/* ---- expand_param.c ---- */

/* A value: one text, or several. */
struct value {
    bool list;
    bool set;
    char all;     /* '@' or '*' of a list */
    bool args;    /* the positional parameters */
    bool changed; /* an operator was applied */
    bool trimmed; /* that was # or % */
    struct str s;
    struct str *v;
    uint32_t n;
};

/* A parameter in a context. */
int expand__param(struct expander *x, struct param *p, enum expand_ctx ctx);
/* Whether @p is "$@" or all of an array, of which there is no element. */
bool expand__no_elements(struct shell *sh, struct param *p);
/* Adds a value. */
int expand__emit(struct expander *x, const struct value *v, bool quoted);
/* Elements of @v joined by what @all asks for; in scratch. */
int expand__join(struct shell *sh, const struct value *v, struct str *ret);
/* The subscript of @p for the variable @v: 0, -EINVAL after a message. */
int expand__subscript(struct shell *sh, struct param *p, const struct var *v, struct str *ret_key, int64_t *ret_index);
/* The name of @p as messages show it. */
struct str expand__name(struct shell *sh, const struct param *p);

/* ---- expand_ops.c, expand_transform.c: operators. They change @v in place. ---- */

/* ${x:offset:length}. */
int expand__substring(struct shell *sh, struct param *p, struct value *v);
/* ${x#p} ${x%p}. */
int expand__trim(struct shell *sh, struct param *p, struct value *v);
/* ${x/p/r}. */
int expand__subst(struct shell *sh, struct param *p, struct value *v);
/* ${x^p} and its like. */
int expand__case(struct shell *sh, struct param *p, struct value *v);
/* ${x@Q} and its like. */
int expand__transform(struct shell *sh, struct param *p, struct value *v);

/* ---- brace.c ---- */

/* '@' or '*' when @v is a reference to all of an array, else 0. */
static inline char expand__list_ref(const struct var *v)
{
    const uint32_t need = VAR_NAMEREF | VAR_SET;
    if (!v || (v->flags & need) != need || v->n < 4 || v->p[v->n - 1] != ']' || v->p[v->n - 3] != '[')
        return 0;
    char c = v->p[v->n - 2];
    return c == '@' || c == '*' ? c : 0;
}

/* Whether brace expansion changes the word; *ret is the array of texts it gives, in scratch. A text holds other parts
 * than literal ones as BRACE_PART and a 4-byte index into *ret_parts. -ENOMEM after a message. */
#define BRACE_PART '\001'
int expand__braces(struct shell *sh, const struct word *w, struct str **ret, uint32_t *ret_n,
                   const struct part ***ret_parts);

/* ---- tilde.c ---- */

enum { PASSWD_NAME = 0, PASSWD_HOME = 5 };
/* A field of the line of /etc/passwd (the tree's) for @user, or (empty) for the process's uid: appended, 0 or -ENOENT.
 */
int expand__passwd(struct shell *sh, struct str user, int field, struct buf *out);

/* Adds a literal text with its tilde prefixes expanded: at its start when @start, after ':' when @colons, after the
 * first '=' when
 * @equals (then colons count only behind it). @whole: nothing follows @s in its word. @split: what is no prefix is
 * split. */
int expand__put_tilde(struct expander *x, struct str s, bool start, bool colons, bool equals, bool whole, bool split);
