/* SPDX-License-Identifier: Apache-2.0 */
/* One rule of any kind but the network's: reading it, and comparing two. */
#include <errno.h>
#include <stdio.h>

#include "base/err.h"
#include "base/mem.h"
#include "policy/policy_int.h"

static const char *const verbs[] = {"create",  "list",     "show",     "update",   "destroy", "exec",
                                    "fs.read", "fs.write", "snapshot", "template", "restore", "fork",
                                    "merge",   "trace",    "replay",   "usage",    "keys",    NULL};

static const char *const tiers[] = {"isolate", "vm", NULL};

const char *const *policy_verbs(void)
{
    return verbs;
}

void policy__name(struct policy_rule *r, const char *text, size_t n)
{
    r->text = r->own = mem_dup(text, n);
    r->n = (uint32_t)n;
}

static bool one_of(const char *const *list, struct str value)
{
    for (; *list; list++)
        if (str_eqc(value, *list))
            return true;
    return false;
}

static int bad_word(struct err *err, const char *what, struct str value, const char *const *list)
{
    char all[192];
    size_t n = 0;
    for (all[0] = 0; *list && n < sizeof(all); list++)
        n += (size_t)snprintf(all + n, sizeof(all) - n, "%s%s", n ? ", " : "", *list);
    return err_set(err, -EINVAL, "'%.*s' is no %s (%s)", (int)(value.n < 64 ? value.n : 64), value.p, what, all);
}

/* A name of a program, or what it begins with and a star. */
static int check_command(struct str value, struct err *err)
{
    ptrdiff_t star = str_find(value, '*', 0);
    if (memchr(value.p, '/', value.n))
        return err_set(err, -EINVAL, "a program is named without its directory: '%.*s'", (int)value.n, value.p);
    if (memchr(value.p, ' ', value.n) || memchr(value.p, '\t', value.n))
        return err_set(err, -EINVAL, "one program a rule: '%.*s'", (int)value.n, value.p);
    if (star >= 0 && (size_t)star + 1 != value.n)
        return err_set(err, -EINVAL, "a star stands at the end of a name only: '%.*s'", (int)value.n, value.p);
    return 0;
}

/* "ro /path" or "cow /path", the path without "." and ".." and slashes that say nothing. */
static int read_mount(struct str value, struct policy_rule *ret, struct err *err)
{
    bool cow = str_starts(value, STR("cow "));
    if (!cow && !str_starts(value, STR("ro ")))
        return err_set(err, -EINVAL, "a mount is 'ro PATH' or 'cow PATH', not '%.*s'", (int)value.n, value.p);
    struct str path = policy__trim(str_from(value, cow ? 4 : 3));
    if (path.n == 0 || path.p[0] != '/')
        return err_set(err, -EINVAL, "the path of a mount is absolute: '%.*s'", (int)path.n, path.p);
    char *text = mem_alloc(value.n + 2);
    size_t head = (size_t)snprintf(text, value.n + 2, "%s ", cow ? "cow" : "ro"), n = head;
    for (size_t i = 0; i < path.n;) {
        size_t end = i + 1;
        while (end < path.n && path.p[end] != '/')
            end++;
        struct str part = str_of(path.p + i + 1, end - i - 1);
        if (str_eqc(part, ".") || str_eqc(part, "..")) {
            mem_free(text);
            return err_set(err, -EINVAL, "the path of a mount has no '.' and '..': '%.*s'", (int)path.n, path.p);
        }
        if (part.n) {
            memcpy(text + n, path.p + i, end - i);
            n += end - i;
        }
        i = end;
    }
    if (n == head)
        text[n++] = '/';
    text[n] = 0;
    *ret = (struct policy_rule){.own = text, .text = text, .n = (uint32_t)n, .path = (uint32_t)head, .cow = cow};
    return 0;
}

int policy__read(enum policy_kind kind, struct str value, struct policy_rule *ret, struct err *err)
{
    struct policy_rule r = {0};
    int bad = 0;
    if (value.n == 0)
        return err_set(err, -EINVAL, "'%s' has no value", policy_kind_name(kind));
    if (value.n > LIMIT_POLICY_RULE || memchr(value.p, 0, value.n) || memchr(value.p, '\n', value.n))
        return err_set(err, -EINVAL, "a rule is one line of at most %u bytes", LIMIT_POLICY_RULE);
    switch (kind) {
    case POLICY_VERB:
        bad = one_of(verbs, value) ? 0 : bad_word(err, "verb", value, verbs);
        break;
    case POLICY_TIER:
        bad = one_of(tiers, value) ? 0 : bad_word(err, "tier", value, tiers);
        break;
    case POLICY_COMMAND_ALLOW:
    case POLICY_COMMAND_DENY:
        bad = check_command(value, err);
        break;
    case POLICY_MOUNT:
        return read_mount(value, ret, err);
    case POLICY_NETWORK_ALLOW:
    case POLICY_NETWORK_DENY:
        return policy__read_network(value, ret, err);
    case POLICY_LIMIT:
    case POLICY_MODULES:
    case POLICY_KINDS:
        bad = err_set(err, -EINVAL, "'%s' is no list", policy_kind_name(kind));
        break;
    }
    if (bad)
        return bad;
    policy__name(&r, value.p, value.n);
    *ret = r;
    return 0;
}

static struct str text_of(const struct policy_rule *r)
{
    return str_of(r->text, r->n);
}

static bool command_covers(struct str a, struct str b)
{
    if (a.p[a.n - 1] == '*')
        return str_starts(b, str_of(a.p, a.n - 1));
    return str_eq(a, b);
}

/* Whether @path is @top or below it. */
static bool below(struct str top, struct str path)
{
    return top.n == 1 || (str_starts(path, top) && (path.n == top.n || path.p[top.n] == '/'));
}

bool policy__covers(enum policy_kind kind, const struct policy_rule *a, const struct policy_rule *b)
{
    switch (kind) {
    case POLICY_COMMAND_ALLOW:
    case POLICY_COMMAND_DENY:
        return command_covers(text_of(a), text_of(b));
    case POLICY_MOUNT:
        return (a->cow || !b->cow) && below(str_from(text_of(a), a->path), str_from(text_of(b), b->path));
    case POLICY_NETWORK_ALLOW:
    case POLICY_NETWORK_DENY:
        return policy__network_covers(a, b);
    case POLICY_VERB:
    case POLICY_TIER:
    case POLICY_LIMIT:
    case POLICY_MODULES:
    case POLICY_KINDS:
        break;
    }
    return str_eq(text_of(a), text_of(b));
}

bool policy__touch(enum policy_kind kind, const struct policy_rule *a, const struct policy_rule *b)
{
    if (kind == POLICY_NETWORK_ALLOW || kind == POLICY_NETWORK_DENY)
        return policy__network_touch(a, b);
    /* Of two sets of names that are prefixes, one holds the other or they have nothing in common. */
    return policy__covers(kind, a, b) || policy__covers(kind, b, a);
}
