/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * policy - what a session, or a key, may do, as data: read, compared, decided, explained.
 *
 * Model. A policy is a set of rules, one a line, and everything is refused that no rule grants:
 *
 *     verb exec                        which verbs of the API
 *     tier isolate                     which depths may run a command: isolate, vm
 *     command allow *                  which programs may start, by name; "py*": names that begin so
 *     command deny git                 a deny wins over every allow
 *     mount cow /srv/work              host directories, and what is below them: ro, or cow (which holds ro)
 *     network allow tcp:*.example.com:443
 *     network deny tcp:10.0.0.0/8      [tcp:|udp:]HOST[:PORT[-PORT]]; HOST: a name, *.SUFFIX, *, IPv4[/N], [IPv6[/N]]
 *     limit memory 512M                the most of each limit (types/limits.h)
 *     modules own                      whether WebAssembly modules of the session's own run: own, set
 *
 * A kind of rule that a text does not mention stays as it was before the text was read over it, so "command deny git"
 * over the default is the default without git. A kind that is mentioned is replaced by what the text says; `none` as
 * the value of a kind grants none of it.
 *
 * The rules of a network are read, compared and explained; no part of this program has a network, so nothing is ever
 * connected, whatever they say.
 *
 * Invariants:
 *   1. policy_parse(policy_format(p)) over any policy is equal to p, and policy_format() of that gives the same bytes.
 *   2. Deciding is: some allow covers what is asked for, and no deny touches it. Order does not matter.
 *   3. policy_within(a, b) is 0 only if everything that a allows, b allows. (It may refuse an a that only the sum of
 *      several rules of b covers.) It is transitive, and every policy is within itself.
 *   4. A failed call leaves the policy as it was.
 *
 * Threads: a policy that nobody changes may be asked by many.
 */

#include "base/str.h"
#include "types/limits.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct err;

enum policy_kind {
    POLICY_VERB,
    POLICY_TIER,
    POLICY_COMMAND_ALLOW,
    POLICY_COMMAND_DENY,
    POLICY_MOUNT,
    POLICY_NETWORK_ALLOW,
    POLICY_NETWORK_DENY,
    POLICY_LISTS, /* how many kinds are lists; those below are one value each */
    POLICY_LIMIT = POLICY_LISTS,
    POLICY_MODULES,
    POLICY_KINDS
};

struct policy_rule; /* private */

struct policy {
    struct {
        struct policy_rule *v; /* sorted by text, no two alike */
        uint32_t n;
    } list[POLICY_LISTS];
    struct limits limits;
    bool own_modules;
};

/* What a session gets that says nothing: all verbs, tier isolate, every command, no mount, no network, the default
 * limits, own modules. Allocates. */
void policy_init(struct policy *p);

/* Frees the rules. Accepts a zeroed struct. */
void policy_done(struct policy *p);

/* A copy of @from in @p, which held nothing. */
void policy_copy(struct policy *p, const struct policy *from);

/* Takes all rules of a list's kind away. */
void policy_clear(struct policy *p, enum policy_kind kind);

/* Adds one rule of @kind; @value is what stands behind the kind in its line ("git", "cow /srv", "memory 1G"). A rule
 * that is there already is no failure. -EINVAL with a sentence that says what is wrong and what would be right; -E2BIG:
 * LIMIT_POLICY_RULES. */
int policy_add(struct policy *p, enum policy_kind kind, struct str value, struct err *err)
    __attribute__((warn_unused_result));

/* The same for a whole line such as "command deny git", which replaces nothing; `none` adds nothing. */
int policy_add_line(struct policy *p, struct str line, struct err *err) __attribute__((warn_unused_result));

/* Reads a text of rules over @p. Empty lines and lines that begin with '#' say nothing. -EINVAL with the number of the
 * line; -E2BIG: LIMIT_POLICY_TEXT or LIMIT_POLICY_RULES. */
int policy_parse(struct policy *p, struct str text, struct err *err) __attribute__((warn_unused_result));

/* Appends the canonical text: every kind is mentioned. The buffer's sticky error tells of failure. */
void policy_format(const struct policy *p, struct buf *out);

/* Whether @a allows nothing that @b does not: 0, or -EPERM with the first rule of @a that goes beyond, and why. */
int policy_within(const struct policy *a, const struct policy *b, struct err *err) __attribute__((warn_unused_result));

/* ---- deciding ---- */

/* Whether @name may run as a program. It is the last component of the path that was executed. */
bool policy_command(const struct policy *p, struct str name);

/* Whether a verb of the API is granted. */
bool policy_verb(const struct policy *p, const char *verb);

/* Whether the host directory @path, absolute and canonical (realpath(3)), may be mounted so. */
bool policy_mount(const struct policy *p, struct str path, bool cow);

/* The answer to one question. Every text is empty when there is nothing to say. */
struct policy_answer {
    bool allowed;
    struct buf *rules;  /* given by the caller: the rules that decide it, a line each: those that refuse, else the one
                           that grants */
    struct buf *change; /* given by the caller: what to change so that this and nothing else is allowed, as far as
                           rules can say it; a line each, "add RULE" or "remove RULE" */
};

/* Decides and explains @ask, a line such as "command git", "verb exec", "tier vm", "mount cow /srv",
 * "network tcp:example.com:443", "limit memory 2G", "modules own". 0, or -EINVAL and a sentence. */
int policy_explain(const struct policy *p, struct str ask, struct policy_answer *ret, struct err *err)
    __attribute__((warn_unused_result));

/* The verbs there are, NULL at the end. */
const char *const *policy_verbs(void);

/* "verb", "command allow", …: how lines of the kind begin. */
const char *policy_kind_name(enum policy_kind kind);

/* Value @i (0, 1, …) of @kind as it stands in its line, or an empty str behind the last. Of a limit "NAME VALUE". It is
 * borrowed; that of a limit lies in @scratch. */
struct str policy_value(const struct policy *p, enum policy_kind kind, uint32_t i, char scratch[64]);
