/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* policy - what the routes do with the policies of sessions (policy/policy.h). */

#include "policy/policy.h"
#include "server/server_int.h"

/* The policy in force in *ret, which the caller frees by policy_done(): without one of its own, what the default grants
 * with the session's limits. */
void policy_of_settings(const struct sched_settings *set, struct policy *ret);
/* It as the member "policy". */
void policy_put(struct json_writer *w, const struct sched_settings *set);
/* Reads JSON over @p; false after an answer that names the field. */
bool policy_take(struct request *r, struct str json, struct policy *p);
/* Reads the members of "limits" (.p NULL: none) over @limits; each is at most @most's unless @may_widen. False after an
 * answer. */
bool policy_take_limits(struct request *r, struct str json, const struct limits *most, bool may_widen,
                        struct limits *limits);
/* No limit is above the policy's. */
void policy_cap_limits(const struct policy *p, struct limits *l);
/* Whether the key may grant more than there is. */
bool policy_may_widen(const struct request *r);
/* Whether the session's policy grants @ask ("verb exec"); false after an answer with the smallest change. */
bool policy_allows(struct request *r, const char *ask);
/* The verb of policies that a route of a session is; NULL: it is asked for none. */
const char *policy_verb_of(const struct route *route);
