/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/policy.h"

#include <errno.h>
#include <stdio.h>

#include "base/assert.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/num.h"
#include "policy/policy_int.h"

static const char *const kind_names[POLICY_KINDS] = {
    [POLICY_VERB] = "verb",
    [POLICY_TIER] = "tier",
    [POLICY_COMMAND_ALLOW] = "command allow",
    [POLICY_COMMAND_DENY] = "command deny",
    [POLICY_MOUNT] = "mount",
    [POLICY_NETWORK_ALLOW] = "network allow",
    [POLICY_NETWORK_DENY] = "network deny",
    [POLICY_LIMIT] = "limit",
    [POLICY_MODULES] = "modules",
};

const char *policy_kind_name(enum policy_kind kind)
{
    return kind < POLICY_KINDS ? kind_names[kind] : "?";
}

struct str policy__trim(struct str s)
{
    while (s.n && (s.p[0] == ' ' || s.p[0] == '\t'))
        s = str_from(s, 1);
    while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t' || s.p[s.n - 1] == '\r'))
        s.n--;
    return s;
}

enum policy_kind policy__deny_of(enum policy_kind kind)
{
    if (kind == POLICY_COMMAND_ALLOW)
        return POLICY_COMMAND_DENY;
    return kind == POLICY_NETWORK_ALLOW ? POLICY_NETWORK_DENY : POLICY_KINDS;
}

void policy_init(struct policy *p)
{
    *p = (struct policy){.limits = limits_default(), .own_modules = true};
    for (const char *const *v = policy_verbs(); *v; v++)
        ASSERT(policy_add(p, POLICY_VERB, str_c(*v), NULL) == 0);
    ASSERT(policy_add(p, POLICY_TIER, STR("isolate"), NULL) == 0);
    ASSERT(policy_add(p, POLICY_COMMAND_ALLOW, STR("*"), NULL) == 0);
}

void policy_clear(struct policy *p, enum policy_kind kind)
{
    for (uint32_t i = 0; i < p->list[kind].n; i++)
        mem_free(p->list[kind].v[i].own);
    mem_free(p->list[kind].v);
    p->list[kind].v = NULL;
    p->list[kind].n = 0;
}

void policy_done(struct policy *p)
{
    for (unsigned k = 0; k < POLICY_LISTS; k++)
        policy_clear(p, k);
}

void policy_copy(struct policy *p, const struct policy *from)
{
    *p = *from;
    for (unsigned k = 0; k < POLICY_LISTS; k++) {
        uint32_t n = from->list[k].n;
        p->list[k].v = n ? mem_alloc(n * sizeof(*p->list[k].v)) : NULL;
        for (uint32_t i = 0; i < n; i++) {
            p->list[k].v[i] = from->list[k].v[i];
            policy__name(&p->list[k].v[i], from->list[k].v[i].text, from->list[k].v[i].n);
        }
    }
}

static int add_rule(struct policy *p, enum policy_kind kind, struct str value, struct err *err)
{
    struct policy_rule rule;
    uint32_t n = p->list[kind].n, at = 0;
    if (n >= LIMIT_POLICY_RULES)
        return err_set(err, -E2BIG, "more than %u rules of '%s'", LIMIT_POLICY_RULES, policy_kind_name(kind));
    int r = policy__read(kind, value, &rule, err);
    if (r < 0)
        return r;
    while (at < n && strcmp(p->list[kind].v[at].text, rule.text) < 0)
        at++;
    if (at < n && strcmp(p->list[kind].v[at].text, rule.text) == 0) {
        mem_free(rule.own);
        return 0;
    }
    struct policy_rule *v = p->list[kind].v = mem_realloc(p->list[kind].v, (n + 1) * sizeof(*v));
    memmove(v + at + 1, v + at, (n - at) * sizeof(*v));
    v[at] = rule;
    p->list[kind].n = n + 1;
    return 0;
}

static int set_limit(struct policy *p, struct str value, struct err *err)
{
    ptrdiff_t space = str_find(value, ' ', 0);
    if (space < 0)
        return err_set(err, -EINVAL, "a limit is NAME VALUE (names: %s)", limits_names());
    struct str name = str_of(value.p, (size_t)space);
    int r = limits_set(&p->limits, name, policy__trim(str_from(value, (size_t)space)));
    if (r == -ENOENT)
        return err_set(err, -EINVAL, "there is no limit '%.*s' (names: %s)", (int)(name.n < 64 ? name.n : 64), name.p,
                       limits_names());
    if (r < 0)
        return err_set(err, -EINVAL, "'%.*s' is not a value of a limit (sizes: 64M, numbers: 100, times: 10s)",
                       (int)(value.n < 96 ? value.n : 96), value.p);
    return 0;
}

static int set_modules(struct policy *p, struct str value, struct err *err)
{
    if (!str_eqc(value, "own") && !str_eqc(value, "set"))
        return err_set(err, -EINVAL, "'modules' is 'own' or 'set', not '%.*s'", (int)(value.n < 64 ? value.n : 64),
                       value.p);
    p->own_modules = value.p[0] == 'o';
    return 0;
}

int policy_add(struct policy *p, enum policy_kind kind, struct str value, struct err *err)
{
    value = policy__trim(value);
    if (kind == POLICY_LIMIT)
        return set_limit(p, value, err);
    return kind == POLICY_MODULES ? set_modules(p, value, err) : add_rule(p, kind, value, err);
}

/* The kind that a line begins with, and what stands behind it. */
static int line_kind(struct str line, enum policy_kind *ret_kind, struct str *ret_value, struct err *err)
{
    for (unsigned k = 0; k < POLICY_KINDS; k++) {
        struct str name = str_c(kind_names[k]);
        if (!str_starts(line, name) || (line.n > name.n && line.p[name.n] != ' ' && line.p[name.n] != '\t'))
            continue;
        *ret_value = policy__trim(str_from(line, name.n));
        *ret_kind = k;
        return 0;
    }
    return err_set(err, -EINVAL,
                   "'%.*s' is no rule (verb, tier, command allow|deny, mount ro|cow, network allow|deny, limit, "
                   "modules)",
                   (int)NUM_MIN(line.n, 64u), line.p);
}

int policy_add_line(struct policy *p, struct str line, struct err *err)
{
    enum policy_kind kind;
    struct str value;
    int r = line_kind(policy__trim(line), &kind, &value, err);
    if (r < 0 || (kind < POLICY_LISTS && str_eqc(value, "none")))
        return r;
    return policy_add(p, kind, value, err);
}

/* One line over @p; @seen: which lists this text has mentioned. */
static int read_line(struct policy *p, struct str line, uint32_t *seen, struct err *err)
{
    enum policy_kind kind;
    struct str value;
    int r = line_kind(line, &kind, &value, err);
    if (r < 0)
        return r;
    if (kind < POLICY_LISTS && !(*seen & 1u << kind))
        policy_clear(p, kind);
    *seen |= 1u << kind;
    return policy_add_line(p, line, err);
}

int policy_parse(struct policy *p, struct str text, struct err *err)
{
    struct policy next;
    uint32_t seen = 0;
    int r = 0;
    if (text.n > LIMIT_POLICY_TEXT)
        return err_set(err, -E2BIG, "a policy has at most %u bytes", LIMIT_POLICY_TEXT);
    policy_copy(&next, p);
    for (unsigned number = 1; text.n && r == 0; number++) {
        ptrdiff_t nl = str_find(text, '\n', 0);
        struct str line = policy__trim(nl < 0 ? text : str_of(text.p, (size_t)nl));
        text = nl < 0 ? STR("") : str_from(text, (size_t)nl + 1);
        if (line.n == 0 || line.p[0] == '#')
            continue;
        r = read_line(&next, line, &seen, err);
        if (r < 0)
            err_wrap(err, r, "line %u", number);
    }
    if (r < 0) {
        policy_done(&next);
        return r;
    }
    policy_done(p);
    *p = next;
    return 0;
}

struct str policy_value(const struct policy *p, enum policy_kind kind, uint32_t i, char scratch[64])
{
    uint64_t v;
    char number[32];
    if (kind < POLICY_LISTS)
        return i < p->list[kind].n ? str_of(p->list[kind].v[i].text, p->list[kind].v[i].n) : STR("");
    if (kind == POLICY_MODULES)
        return i == 0 ? str_c(p->own_modules ? "own" : "set") : STR("");
    const char *name = limits_at(&p->limits, i, &v);
    if (!name)
        return STR("");
    limits_text(&p->limits, i, number);
    return str_of(scratch, (size_t)snprintf(scratch, 64, "%s %s", name, number));
}

void policy_format(const struct policy *p, struct buf *out)
{
    char scratch[64];
    for (unsigned k = 0; k < POLICY_KINDS; k++) {
        struct str v = policy_value(p, k, 0, scratch);
        if (v.n == 0)
            buf_addf(out, "%s none\n", kind_names[k]);
        for (uint32_t i = 0; v.n; v = policy_value(p, k, ++i, scratch))
            buf_addf(out, "%s %.*s\n", kind_names[k], (int)v.n, v.p);
    }
}
