/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * tr_int - the sets of tr: what tr_set.c reads from an argument and tr.c runs over.
 *
 * A set is a list of elements in order. All of them are runs of bytes, so a walk (struct tr_walk) can step over a
 * repeat of any length at once.
 */

#include "base/str.h"

struct cmd;

enum tr_kind { TR_CHAR, TR_RANGE, TR_CLASS, TR_EQUIV, TR_REPEAT };

struct tr_elem {
    enum tr_kind kind;
    uint8_t lo, hi;      /* CHAR and EQUIV: lo; RANGE: both; REPEAT: lo */
    uint64_t count;      /* bytes it stands for; of an endless repeat what fits */
    const uint8_t *list; /* CLASS: its bytes, ascending */
    bool upper, lower;   /* CLASS: [:upper:], [:lower:] */
    bool restricted;     /* CLASS: any other */
    bool endless;        /* REPEAT: [c*] */
};

struct tr_set {
    struct tr_elem *v;
    size_t n, cap;
    uint64_t length; /* bytes that all elements stand for */
    unsigned n_endless;
    bool has_class, has_restricted, has_equiv;
};

/* A place in a set. */
struct tr_walk {
    const struct tr_set *set;
    size_t i;    /* element */
    uint64_t at; /* inside it */
};

/* Reads the set @text; 0, or -1 after a message. */
int tr__parse(struct cmd *c, const char *text, struct tr_set *set);
/* Appends a repeat of @ch, @count times. */
void tr__add_repeat(struct cmd *c, struct tr_set *set, uint8_t ch, uint64_t count);

/* The element at the walk and the byte there: NULL at the end. */
const struct tr_elem *tr__get(struct tr_walk *w, uint8_t *ret);
/* Steps over @n bytes of the current element. */
void tr__step(struct tr_walk *w, uint64_t n);
/* Bytes left in the current element. */
uint64_t tr__left(const struct tr_walk *w);
