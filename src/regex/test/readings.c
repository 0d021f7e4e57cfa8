/* SPDX-License-Identifier: Apache-2.0 */
#include "regex/test/readings.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>

#include "regex/regex.h"

#define NODES 256
#define GROUPS 64
#define STEPS 2000000

enum kind { EMPTY, SET, ANCHOR, BACKREF, GROUP, REPEAT, CAT, ALT };

struct node {
    enum kind kind;
    bool set[256];
    char anchor; /* ^ $ ` ' */
    int n;       /* of a group or reference */
    int min, max;
    struct node *a, *b;
};

struct reading {
    const char *p; /* the pattern from here */
    unsigned flags, eflags;
    struct node nodes[NODES];
    size_t n_nodes;
    int n_groups;
    const char *text;
    size_t n, end;
    struct {
        size_t from, to;
        bool is_set;
    } cap[GROUPS];
    long steps;
};

/* ---- the pattern ---- */

static struct node *new_node(struct reading *r, enum kind kind, struct node *a, struct node *b)
{
    struct node *n = &r->nodes[r->n_nodes++ % NODES];
    *n = (struct node){.kind = kind, .a = a, .b = b};
    return n;
}

/* Takes @ere or, in a basic expression, the same behind a backslash. */
static bool take(struct reading *r, char ere)
{
    bool bre = !(r->flags & REGEX_ERE);
    if (bre ? r->p[0] != '\\' || r->p[1] != ere : r->p[0] != ere)
        return false;
    r->p += bre ? 2 : 1;
    return true;
}

static bool at_special(const struct reading *r, char ere)
{
    struct reading look = {.p = r->p, .flags = r->flags};
    return take(&look, ere);
}

static void add_byte(const struct reading *r, struct node *n, int c)
{
    n->set[c] = true;
    if (r->flags & REGEX_ICASE)
        n->set[tolower(c)] = n->set[toupper(c)] = true;
}

/* Behind '['. */
static void bracket(struct reading *r, struct node *n)
{
    bool not = *r->p == '^';
    r->p += not ;
    for (; *r->p != ']'; r->p++) {
        if (strncmp(r->p, "[:alpha:]", 9) == 0) {
            for (int c = 0; c < 128; c++)
                n->set[c] |= isalpha(c) != 0;
            r->p += 8;
        } else if (r->p[1] == '-') {
            for (int c = r->p[0]; c <= r->p[2]; c++)
                add_byte(r, n, c);
            r->p += 2;
        } else {
            add_byte(r, n, *r->p);
        }
    }
    r->p++;
    for (int c = 0; not &&c < 256; c++)
        n->set[c] = !n->set[c] && !(c == '\n' && r->flags & REGEX_NEWLINE);
}

static struct node *alternation(struct reading *r);

static struct node *atom(struct reading *r)
{
    if (take(r, '(')) {
        int number = ++r->n_groups;
        struct node *n = new_node(r, GROUP, alternation(r), NULL);
        n->n = number;
        take(r, ')');
        return n;
    }
    struct node *n = new_node(r, SET, NULL, NULL);
    char c = *r->p++;
    if (c == '^' || c == '$' || (c == '\\' && (*r->p == '`' || *r->p == '\''))) {
        n->kind = ANCHOR;
        n->anchor = c == '\\' ? *r->p++ : c;
    } else if (c == '\\') {
        n->kind = BACKREF;
        n->n = *r->p++ - '0';
    } else if (c == '[') {
        bracket(r, n);
    } else if (c == '.') {
        for (int i = 1; i < 256; i++)
            n->set[i] = i != '\n' || !(r->flags & REGEX_NEWLINE);
    } else {
        add_byte(r, n, (unsigned char)c);
    }
    return n;
}

static int number(struct reading *r, int none)
{
    if (!isdigit((unsigned char)*r->p))
        return none;
    int n = 0;
    while (isdigit((unsigned char)*r->p))
        n = n * 10 + *r->p++ - '0';
    return n;
}

/* The repetition behind @a, if there is one. */
static struct node *repeated(struct reading *r, struct node *a)
{
    int min = 0, max = INT_MAX;
    if (*r->p == '*') {
        r->p++;
    } else if (take(r, '+')) {
        min = 1;
    } else if (take(r, '?')) {
        max = 1;
    } else if (take(r, '{')) {
        min = number(r, 0);
        max = min;
        if (*r->p == ',') {
            r->p++;
            max = number(r, INT_MAX);
        }
        take(r, '}');
    } else {
        return a;
    }
    struct node *n = new_node(r, REPEAT, a, NULL);
    n->min = min;
    n->max = max;
    return n;
}

static struct node *alternation(struct reading *r)
{
    struct node *cat = new_node(r, EMPTY, NULL, NULL);
    while (*r->p && !at_special(r, '|') && !at_special(r, ')'))
        cat = new_node(r, CAT, cat, repeated(r, atom(r)));
    if (take(r, '|'))
        cat = new_node(r, ALT, cat, alternation(r));
    return cat;
}

/* ---- matching ---- */

/* What is left to match behind a node. */
struct rest {
    int (*go)(struct reading *r, size_t at, const struct rest *self);
    const struct node *n;
    size_t from;
    int round;
    bool idle; /* the round before took nothing */
    const struct rest *next;
};

static int match(struct reading *r, const struct node *n, size_t at, const struct rest *rest);

static int then(struct reading *r, size_t at, const struct rest *rest)
{
    return rest->go(r, at, rest);
}

static int the_end(struct reading *r, size_t at, const struct rest *self)
{
    (void)self;
    return at == r->end;
}

static int second(struct reading *r, size_t at, const struct rest *self)
{
    return match(r, self->n->b, at, self->next);
}

static int close_group(struct reading *r, size_t at, const struct rest *self)
{
    int n = self->n->n % GROUPS;
    __typeof__(r->cap[0]) before = r->cap[n];
    r->cap[n].from = self->from;
    r->cap[n].to = at;
    r->cap[n].is_set = true;
    int found = then(r, at, self->next);
    r->cap[n] = before;
    return found;
}

/* One more round, or none. Of rounds that take nothing one in a row is enough, but for those that must be. */
static int next_round(struct reading *r, size_t at, const struct rest *self)
{
    bool idle = self->round > 0 && at == self->from;
    bool enough = self->round >= self->n->min;
    int found = enough ? then(r, at, self->next) : 0;
    if (found || self->round >= self->n->max || (enough && idle && self->idle))
        return found;
    struct rest again = *self;
    again.round++;
    again.from = at;
    again.idle = idle;
    return match(r, self->n->a, at, &again);
}

static bool anchor_holds(const struct reading *r, char kind, size_t at)
{
    bool lines = r->flags & REGEX_NEWLINE;
    switch (kind) {
    case '^':
        return (at == 0 && !(r->eflags & REGEX_NOTBOL)) || (lines && at > 0 && r->text[at - 1] == '\n');
    case '$':
        return (at == r->n && !(r->eflags & REGEX_NOTEOL)) || (lines && r->text[at] == '\n');
    case '`':
        return at == 0;
    default:
        return at == r->n;
    }
}

static bool same_bytes(const struct reading *r, const char *a, const char *b, size_t n)
{
    return r->flags & REGEX_ICASE ? strncasecmp(a, b, n) == 0 : memcmp(a, b, n) == 0;
}

static int reference(struct reading *r, const struct node *n, size_t at, const struct rest *rest)
{
    if (!r->cap[n->n].is_set)
        return 0;
    size_t len = r->cap[n->n].to - r->cap[n->n].from;
    if (len > r->n - at || !same_bytes(r, r->text + at, r->text + r->cap[n->n].from, len))
        return 0;
    return then(r, at + len, rest);
}

static int match(struct reading *r, const struct node *n, size_t at, const struct rest *rest)
{
    if (++r->steps > STEPS)
        return -1;
    switch (n->kind) {
    case SET:
        return at < r->n && n->set[(unsigned char)r->text[at]] ? then(r, at + 1, rest) : 0;
    case ANCHOR:
        return anchor_holds(r, n->anchor, at) ? then(r, at, rest) : 0;
    case BACKREF:
        return reference(r, n, at, rest);
    case GROUP:
        return match(r, n->a, at, &(struct rest){.go = close_group, .n = n, .from = at, .next = rest});
    case REPEAT:
        return next_round(r, at, &(struct rest){.go = next_round, .n = n, .from = at, .next = rest});
    case CAT:
        return match(r, n->a, at, &(struct rest){.go = second, .n = n, .next = rest});
    case ALT: {
        int found = match(r, n->a, at, rest);
        return found ? found : match(r, n->b, at, rest);
    }
    case EMPTY:
    default:
        return then(r, at, rest);
    }
}

int readings_match(const char *pattern, unsigned flags, const char *text, unsigned eflags, size_t start, size_t end)
{
    static struct reading r;
    r = (struct reading){.p = pattern, .flags = flags, .eflags = eflags, .text = text, .n = strlen(text), .end = end};
    const struct node *n = alternation(&r);
    return r.n_nodes > NODES ? -1 : match(&r, n, start, &(struct rest){.go = the_end});
}
