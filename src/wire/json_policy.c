/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/json_policy.h"

#include <errno.h>
#include <inttypes.h>

#include "base/err.h"
#include "policy/policy.h"
#include "wire/json_int.h"

static const struct {
    const char *outer, *inner; /* inner NULL: the array is the field itself */
    enum policy_kind kind;
} lists[] = {{"verbs", NULL, POLICY_VERB},
             {"tiers", NULL, POLICY_TIER},
             {"commands", "allow", POLICY_COMMAND_ALLOW},
             {"commands", "deny", POLICY_COMMAND_DENY},
             {"mounts", NULL, POLICY_MOUNT},
             {"network", "allow", POLICY_NETWORK_ALLOW},
             {"network", "deny", POLICY_NETWORK_DENY}};
#define N_LISTS (sizeof(lists) / sizeof(lists[0]))

/* "commands.deny" of list @i. */
static const char *field(size_t i, char text[64])
{
    snprintf(text, 64, "%s%s%s", lists[i].outer, lists[i].inner ? "." : "", lists[i].inner ? lists[i].inner : "");
    return text;
}

static int read_list(json_t *v, size_t i, struct policy *p, struct err *err)
{
    char name[64];
    json_t *one;
    size_t k;
    if (!json_is_array(v))
        return err_set(err, -EINVAL, "%s: an array of strings is wanted", field(i, name));
    policy_clear(p, lists[i].kind);
    json_array_foreach(v, k, one)
    {
        if (!json_is_string(one))
            return err_set(err, -EINVAL, "%s[%zu]: a string is wanted", field(i, name), k);
        struct str value = str_of(json_string_value(one), json_string_length(one));
        int r = policy_add(p, lists[i].kind, value, err);
        if (r < 0)
            return err_wrap(err, r, "%s[%zu]", field(i, name), k);
    }
    return 0;
}

static int no_such_field(struct err *err, const char *in, const char *key, const char *fields)
{
    return err_set(err, -EINVAL, "%s%s%.64s: there is no such field (%s)", in, *in ? "." : "", key, fields);
}

/* {"allow": […], "deny": […]} under @outer. */
static int read_pair(json_t *v, const char *outer, struct policy *p, struct err *err)
{
    const char *key;
    json_t *one;
    if (!json_is_object(v))
        return err_set(err, -EINVAL, "%s: an object with allow and deny is wanted", outer);
    json_object_foreach(v, key, one)
    {
        size_t i = 0;
        while (i < N_LISTS &&
               !(lists[i].inner && strcmp(lists[i].outer, outer) == 0 && strcmp(lists[i].inner, key) == 0))
            i++;
        int r = i == N_LISTS ? no_such_field(err, outer, key, "allow, deny") : read_list(one, i, p, err);
        if (r < 0)
            return r;
    }
    return 0;
}

static int read_limits(json_t *v, struct policy *p, struct err *err)
{
    const char *key;
    json_t *one;
    if (!json_is_object(v))
        return err_set(err, -EINVAL, "limits: an object is wanted");
    json_object_foreach(v, key, one)
    {
        BUF_AUTO struct buf line;
        buf_init(&line, LIMIT_POLICY_RULE);
        if (json_is_string(one))
            buf_addf(&line, "%s %s", key, json_string_value(one));
        else if (json_is_integer(one) && json_integer_value(one) >= 0)
            buf_addf(&line, "%s %" JSON_INTEGER_FORMAT "%s", key, json_integer_value(one),
                     strcmp(key, "cpu") == 0 ? "ms" : "");
        else
            return err_set(err, -EINVAL, "limits.%.64s: a text such as \"64M\" or a number is wanted", key);
        int r = policy_add(p, POLICY_LIMIT, buf_str(&line), err);
        if (r < 0)
            return err_wrap(err, r, "limits.%.64s", key);
    }
    return 0;
}

static int read_field(const char *key, json_t *v, struct policy *p, struct err *err)
{
    if (strcmp(key, "commands") == 0 || strcmp(key, "network") == 0)
        return read_pair(v, key, p, err);
    if (strcmp(key, "limits") == 0)
        return read_limits(v, p, err);
    if (strcmp(key, "modules") == 0) {
        int r = json_is_string(v) ? policy_add(p, POLICY_MODULES, str_c(json_string_value(v)), err)
                                  : err_set(err, -EINVAL, "'own' or 'set' is wanted");
        return r < 0 ? err_wrap(err, r, "modules") : 0;
    }
    for (size_t i = 0; i < N_LISTS; i++)
        if (!lists[i].inner && strcmp(lists[i].outer, key) == 0)
            return read_list(v, i, p, err);
    return no_such_field(err, "", key, "verbs, tiers, commands, mounts, network, limits, modules");
}

int json_policy_read(struct str text, struct policy *p, struct err *err)
{
    json_error_t e;
    const char *key;
    json_t *one;
    if (text.n > LIMIT_POLICY_TEXT)
        return err_set(err, -E2BIG, "a policy has at most %u bytes", LIMIT_POLICY_TEXT);
    json_t *o = json_loadb(text.p, text.n, JSON_REJECT_DUPLICATES, &e);
    if (!o)
        return err_set(err, -EINVAL, "line %d, column %d: %s", e.line, e.column, e.text);
    struct policy next;
    policy_copy(&next, p);
    int r = json_is_object(o) ? 0 : err_set(err, -EINVAL, "a policy is an object");
    json_object_foreach(o, key, one)
    {
        if (r == 0)
            r = read_field(key, one, &next, err);
    }
    json_decref(o);
    policy_done(r < 0 ? &next : p);
    if (r == 0)
        *p = next;
    return r;
}

/* The texts of a kind. */
static json_t *list_of(const struct policy *p, enum policy_kind kind)
{
    char scratch[64];
    json_t *a = json_array();
    struct str v;
    for (uint32_t i = 0; (v = policy_value(p, kind, i, scratch)).n; i++)
        if (json_array_append_new(a, json_of_bytes(v)))
            break;
    return a;
}

int json_policy_write(struct buf *out, const struct policy *p)
{
    json_t *o = json_object(), *limits = json_object();
    const char *name;
    uint64_t v;
    int bad = 0;
    for (size_t i = 0; i < N_LISTS; i++) {
        json_t *to = o;
        if (lists[i].inner) {
            to = json_object_get(o, lists[i].outer);
            if (!to) {
                bad |= json_object_set_new(o, lists[i].outer, json_object());
                to = json_object_get(o, lists[i].outer);
            }
        }
        bad |= json_object_set_new(to, lists[i].inner ? lists[i].inner : lists[i].outer, list_of(p, lists[i].kind));
    }
    for (size_t i = 0; (name = limits_at(&p->limits, i, &v)); i++)
        bad |= json_object_set_new(limits, name, json_of_number(v));
    bad |= json_object_set_new(o, "limits", limits);
    bad |= json_object_set_new(o, "modules", json_string(p->own_modules ? "own" : "set"));
    if (bad) {
        json_decref(o);
        return -ENOMEM;
    }
    int r = json_put_line(out, o);
    return r ? r : buf_putc(out, '\n');
}
