/* SPDX-License-Identifier: Apache-2.0 */
/* Decides, compares and explains. */
#include <errno.h>
#include <inttypes.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "policy/policy_int.h"

/* The first rule of @kind that covers @r, or NULL. */
static const struct policy_rule *covering(const struct policy *p, enum policy_kind kind, const struct policy_rule *r)
{
    for (uint32_t i = 0; i < p->list[kind].n; i++)
        if (policy__covers(kind, &p->list[kind].v[i], r))
            return &p->list[kind].v[i];
    return NULL;
}

/* The first rule at or after *@i that denies some of @r, or NULL. */
static const struct policy_rule *denying(const struct policy *p, enum policy_kind deny, const struct policy_rule *r,
                                         uint32_t *i)
{
    for (; deny < POLICY_LISTS && *i < p->list[deny].n; (*i)++)
        if (policy__touch(deny, &p->list[deny].v[*i], r))
            return &p->list[deny].v[*i];
    return NULL;
}

static bool allowed(const struct policy *p, enum policy_kind kind, const struct policy_rule *r)
{
    uint32_t i = 0;
    return covering(p, kind, r) && !denying(p, policy__deny_of(kind), r, &i);
}

bool policy_command(const struct policy *p, struct str name)
{
    /* A star in a file's name is a letter like any other: covering, unlike touching, takes it so. */
    struct policy_rule r = {.text = name.p, .n = (uint32_t)name.n};
    if (name.n == 0 || name.n > LIMIT_NAME)
        return false;
    return !covering(p, POLICY_COMMAND_DENY, &r) && covering(p, POLICY_COMMAND_ALLOW, &r);
}

bool policy_verb(const struct policy *p, const char *verb)
{
    struct policy_rule r = {.text = verb, .n = (uint32_t)strlen(verb)};
    return covering(p, POLICY_VERB, &r) != NULL;
}

bool policy_mount(const struct policy *p, struct str path, bool cow)
{
    struct policy_rule r = {.text = path.p, .n = (uint32_t)path.n, .cow = cow};
    return path.n && path.p[0] == '/' && covering(p, POLICY_MOUNT, &r) != NULL;
}

/* One list of @a within that of @b. */
static int list_within(const struct policy *a, const struct policy *b, enum policy_kind kind, struct err *err)
{
    enum policy_kind deny = policy__deny_of(kind);
    const char *name = policy_kind_name(kind);
    for (uint32_t i = 0; i < a->list[kind].n; i++) {
        const struct policy_rule *r = &a->list[kind].v[i], *d;
        if (!covering(b, kind, r))
            return err_set(err, -EPERM, "'%s %.100s' is more than is granted; it would need '%s %.100s'", name, r->text,
                           name, r->text);
        for (uint32_t k = 0; (d = denying(b, deny, r, &k)); k++)
            if (!covering(a, deny, d))
                return err_set(err, -EPERM, "'%s %.80s' is more than is granted, which has '%s %.80s'; add that too",
                               name, r->text, policy_kind_name(deny), d->text);
    }
    return 0;
}

int policy_within(const struct policy *a, const struct policy *b, struct err *err)
{
    static const enum policy_kind kinds[] = {POLICY_VERB, POLICY_TIER, POLICY_COMMAND_ALLOW, POLICY_MOUNT,
                                             POLICY_NETWORK_ALLOW};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        int r = list_within(a, b, kinds[i], err);
        if (r < 0)
            return r;
    }
    uint64_t va, vb;
    const char *name;
    for (size_t i = 0; (name = limits_at(&a->limits, i, &va)); i++) {
        char text_a[32], text_b[32];
        limits_at(&b->limits, i, &vb);
        if (va <= vb)
            continue;
        limits_text(&a->limits, i, text_a);
        limits_text(&b->limits, i, text_b);
        return err_set(err, -EPERM, "'limit %s %s' is more than is granted, which is %s", name, text_a, text_b);
    }
    if (a->own_modules && !b->own_modules)
        return err_set(err, -EPERM, "'modules own' is more than is granted, which is 'set'");
    return 0;
}

/* ---- explaining ---- */

/* The kind that @ask is about: allow rules stand for both kinds of command and network. */
static enum policy_kind ask_kind(struct str ask, struct str *ret_value)
{
    static const struct {
        const char *word;
        enum policy_kind kind;
    } words[] = {{"verb ", POLICY_VERB},      {"tier ", POLICY_TIER},   {"command ", POLICY_COMMAND_ALLOW},
                 {"mount ", POLICY_MOUNT},    {"limit ", POLICY_LIMIT}, {"network ", POLICY_NETWORK_ALLOW},
                 {"modules ", POLICY_MODULES}};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (!str_starts(ask, str_c(words[i].word)))
            continue;
        *ret_value = policy__trim(str_from(ask, strlen(words[i].word)));
        return words[i].kind;
    }
    return POLICY_KINDS;
}

static void explain_list(const struct policy *p, enum policy_kind kind, const struct policy_rule *r,
                         struct policy_answer *ret)
{
    enum policy_kind deny = policy__deny_of(kind);
    const struct policy_rule *grant = covering(p, kind, r), *d;
    const char *name = policy_kind_name(kind);
    ret->allowed = allowed(p, kind, r);
    for (uint32_t i = 0; (d = denying(p, deny, r, &i)); i++) {
        buf_addf(ret->rules, "%s %s\n", policy_kind_name(deny), d->text);
        buf_addf(ret->change, "remove %s %s\n", policy_kind_name(deny), d->text);
    }
    if (ret->allowed)
        buf_addf(ret->rules, "%s %s\n", name, grant->text);
    if (!grant)
        buf_addf(ret->change, "add %s %s\n", name, r->text);
}

static int explain_limit(const struct policy *p, struct str value, struct policy_answer *ret, struct err *err)
{
    struct policy wish = {.limits = p->limits};
    uint64_t want, have;
    const char *name;
    int r = policy_add(&wish, POLICY_LIMIT, value, err);
    if (r < 0)
        return r;
    ret->allowed = true;
    for (size_t i = 0; (name = limits_at(&wish.limits, i, &want)); i++) {
        char text[32];
        limits_at(&p->limits, i, &have);
        if (!str_starts(value, str_c(name)) || value.p[strlen(name)] != ' ')
            continue;
        ret->allowed = want <= have;
        limits_text(&p->limits, i, text);
        buf_addf(ret->rules, "limit %s %s\n", name, text);
        limits_text(&wish.limits, i, text);
        if (!ret->allowed)
            buf_addf(ret->change, "add limit %s %s\n", name, text);
    }
    return 0;
}

int policy_explain(const struct policy *p, struct str ask, struct policy_answer *ret, struct err *err)
{
    struct str value;
    struct policy_rule rule;
    enum policy_kind kind = ask_kind(policy__trim(ask), &value);
    if (kind == POLICY_KINDS)
        return err_set(err, -EINVAL,
                       "'%.*s' is no question: ask 'verb', 'tier', 'command', 'mount ro|cow', 'network', 'limit' or "
                       "'modules' and a value",
                       (int)(ask.n < 64 ? ask.n : 64), ask.p);
    if (kind == POLICY_LIMIT)
        return explain_limit(p, value, ret, err);
    if (kind == POLICY_MODULES) {
        struct policy wish = {0};
        int r = policy_add(&wish, kind, value, err);
        if (r < 0)
            return r;
        ret->allowed = p->own_modules || !wish.own_modules;
        buf_addf(ret->rules, "modules %s\n", p->own_modules ? "own" : "set");
        if (!ret->allowed)
            buf_addc(ret->change, "add modules own\n");
        return 0;
    }
    int r = policy__read(kind, value, &rule, err);
    if (r < 0)
        return r;
    explain_list(p, kind, &rule, ret);
    mem_free(rule.own);
    return 0;
}
