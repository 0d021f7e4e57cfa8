/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Private to policy: one rule, and what its kinds can say of each other. */

#include "policy/policy.h"

enum policy_host { HOST_ANY, HOST_NAME, HOST_SUFFIX, HOST_IP4, HOST_IP6 };

struct policy_rule {
    char *own;        /* to be freed; NULL: text is borrowed */
    const char *text; /* the value in its canonical form */
    uint32_t n;       /* bytes of it */
    /* MOUNT: where the path begins in text, and whether it may be copied on write. */
    uint32_t path;
    bool cow;
    /* NETWORK */
    bool udp;
    enum policy_host host;
    uint32_t name, name_n; /* NAME, SUFFIX: where in text; the suffix with its dot */
    uint8_t addr[16];
    uint8_t bits;
    uint16_t lo, hi; /* ports */
};

/* Reads a value of @kind: 0 and a rule that owns its text, or -EINVAL. */
int policy__read(enum policy_kind kind, struct str value, struct policy_rule *ret, struct err *err);

/* A host, ports and protocol. See policy__read(). */
int policy__read_network(struct str value, struct policy_rule *ret, struct err *err);

/* Whether all that @b speaks of is also of @a. */
bool policy__covers(enum policy_kind kind, const struct policy_rule *a, const struct policy_rule *b);

/* Whether both may speak of the same thing. */
bool policy__touch(enum policy_kind kind, const struct policy_rule *a, const struct policy_rule *b);

/* See policy__covers(). */
bool policy__network_covers(const struct policy_rule *a, const struct policy_rule *b);
/* See policy__touch(). A name and an address may be the same host. */
bool policy__network_touch(const struct policy_rule *a, const struct policy_rule *b);

/* Gives the rule the text, copied. */
void policy__name(struct policy_rule *r, const char *text, size_t n);

/* The kind whose denials count against @kind, or POLICY_KINDS. */
enum policy_kind policy__deny_of(enum policy_kind kind);

/* @s without blanks at either end. */
struct str policy__trim(struct str s);
