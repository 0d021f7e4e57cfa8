/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * json_policy - a policy (policy/policy.h) as JSON:
 *
 *   {"verbs": ["exec"], "tiers": ["isolate"], "commands": {"allow": ["*"], "deny": ["git"]},
 *    "mounts": ["cow /srv/work"], "network": {"allow": ["tcp:example.com:443"], "deny": []},
 *    "limits": {"memory": "512M", "processes": 100}, "modules": "own"}
 *
 * Every field may be missing and stays as it was; an array replaces what was of its kind. Limits are texts as --limit
 * takes them, or numbers: bytes, counts, and of cpu milliseconds.
 */

#include "base/str.h"

struct buf;
struct err;
struct policy;

/* Reads @text over @p. -EINVAL with the field: "commands.deny[1]: …", "verb: there is no such field (…)", or the line
 * of a syntax error; @p is then as it was. */
int json_policy_read(struct str text, struct policy *p, struct err *err) __attribute__((warn_unused_result));

/* Appends all of it as one object on one line, its newline too. 0 or -ENOMEM. */
int json_policy_write(struct buf *out, const struct policy *p);
