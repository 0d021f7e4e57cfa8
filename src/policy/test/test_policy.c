/* SPDX-License-Identifier: Apache-2.0 */
#include "base/test/test.h"

#include <errno.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "policy/policy.h"

/* The default with @text over it. */
static struct policy made(const char *text)
{
    struct policy p;
    struct err e = {0};
    policy_init(&p);
    if (!CHECK_INT(policy_parse(&p, str_c(text), &e), 0))
        CHECK_C(e.text, text);
    return p;
}

static void check_format(const char *text, const char *line)
{
    BUF_AUTO struct buf b;
    struct policy p = made(text);
    buf_init(&b, LIMIT_POLICY_TEXT);
    policy_format(&p, &b);
    if (!CHECK(strstr(b.p, line) != NULL))
        CHECK_C(b.p, line);
    policy_done(&p);
}

static void check_bad(const char *text, const char *says)
{
    struct policy p;
    struct err e = {0};
    BUF_AUTO struct buf before, after;
    buf_init(&before, LIMIT_POLICY_TEXT);
    buf_init(&after, LIMIT_POLICY_TEXT);
    policy_init(&p);
    policy_format(&p, &before);
    CHECK_INT(policy_parse(&p, str_c(text), &e), -EINVAL);
    if (!CHECK(strstr(e.text, says) != NULL))
        CHECK_C(e.text, says);
    policy_format(&p, &after);
    CHECK_STR(buf_str(&after), buf_str(&before));
    policy_done(&p);
}

TEST(the_default)
{
    struct policy p;
    policy_init(&p);
    CHECK(policy_verb(&p, "exec"));
    CHECK(policy_verb(&p, "keys"));
    CHECK(policy_command(&p, STR("git")));
    CHECK(policy_command(&p, STR("a name with * and blanks")));
    CHECK(!policy_command(&p, STR("")));
    CHECK(!policy_mount(&p, STR("/srv"), false));
    CHECK_INT(p.limits.memory, limits_default().memory);
    policy_done(&p);
}

TEST(canonical_text)
{
    check_format("network allow EXAMPLE.com:443", "network allow tcp:example.com:443\n");
    check_format("network allow udp:*", "network allow udp:*\n");
    check_format("network allow *:1-65535", "network allow tcp:*\n");
    check_format("network allow 10.1.2.3/8:80", "network allow tcp:10.0.0.0/8:80\n");
    check_format("network allow 10.1.2.3", "network allow tcp:10.1.2.3/32\n");
    check_format("network deny [2001:DB8::1/32]:53", "network deny tcp:[2001:db8::/32]:53\n");
    check_format("network allow 0.0.0.0/0", "network allow tcp:0.0.0.0/0\n");
    check_format("mount cow //srv///x/\n", "mount cow /srv/x\n");
    check_format("mount ro /", "mount ro /\n");
    check_format("# words\n\n  limit memory 2G  \r\n", "limit memory 2147483648\n");
    check_format("limit cpu 1.5s", "limit cpu 1500ms\n");
    check_format("command allow none", "command allow none\n");
    check_format("command allow b\ncommand allow a\ncommand allow b",
                 "command allow a\ncommand allow b\ncommand deny none\n");
    check_format("command deny git", "command allow *\ncommand deny git\n");
    check_format("modules set", "modules set\n");
}

TEST(what_is_no_rule)
{
    check_bad("verb fly", "'fly' is no verb (create, list,");
    check_bad("verb exec\nverb", "line 2: 'verb' has no value");
    check_bad("tier moon", "(isolate, vm)");
    check_bad("commands deny x", "'commands deny x' is no rule");
    check_bad("command deny /bin/git", "without its directory");
    check_bad("command deny a*b", "a star stands at the end");
    check_bad("command deny a b", "one program a rule");
    check_bad("mount rw /srv", "'ro PATH' or 'cow PATH'");
    check_bad("mount ro srv", "is absolute");
    check_bad("mount ro /srv/../etc", "no '.' and '..'");
    check_bad("network allow", "has no value");
    check_bad("network allow a:0", "1 to 65535");
    check_bad("network allow a:9-8", "1 to 65535");
    check_bad("network allow a:", "no port");
    check_bad("network allow tcp:", "names no host");
    check_bad("network allow http://a/", "1 to 65535");
    check_bad("network allow 300.1.1.1", "no name and no address");
    check_bad("network allow 10.0.0.0/33", "no name and no address");
    check_bad("network allow [::1", "colons without brackets");
    check_bad("network allow a..b", "no name and no address");
    check_bad("network allow *.", "no name and no address");
    check_bad("limit moons 3", "there is no limit 'moons'");
    check_bad("limit memory much", "is not a value");
    check_bad("limit memory", "NAME VALUE");
    check_bad("modules mine", "'own' or 'set'");
}

TEST(commands)
{
    struct policy p = made("command allow git\ncommand allow py*\ncommand deny python2*");
    CHECK(policy_command(&p, STR("git")));
    CHECK(!policy_command(&p, STR("git-upload-pack")));
    CHECK(policy_command(&p, STR("python3")));
    CHECK(policy_command(&p, STR("py")));
    CHECK(!policy_command(&p, STR("python2.7")));
    CHECK(!policy_command(&p, STR("ls")));
    policy_done(&p);
}

TEST(mounts)
{
    struct policy p = made("mount ro /srv\nmount cow /home/me/work");
    CHECK(policy_mount(&p, STR("/srv"), false));
    CHECK(policy_mount(&p, STR("/srv/x"), false));
    CHECK(!policy_mount(&p, STR("/srvx"), false));
    CHECK(!policy_mount(&p, STR("/srv"), true));
    CHECK(policy_mount(&p, STR("/home/me/work/a"), true));
    CHECK(policy_mount(&p, STR("/home/me/work/a"), false));
    CHECK(!policy_mount(&p, STR("/home/me"), false));
    CHECK(!policy_mount(&p, STR("srv"), false));
    policy_done(&p);
}

/* ---- explaining ---- */

static void check_ask(const char *text, const char *ask, bool allowed, const char *rules, const char *change)
{
    struct policy p = made(text);
    struct err e = {0};
    BUF_AUTO struct buf r, c;
    buf_init(&r, 65536);
    buf_init(&c, 65536);
    struct policy_answer a = {.rules = &r, .change = &c};
    CHECK_INT(policy_explain(&p, str_c(ask), &a, &e), 0);
    CHECK_C(e.text, "");
    CHECK_INT(a.allowed, allowed);
    CHECK_STR(buf_str(&r), str_c(rules));
    CHECK_STR(buf_str(&c), str_c(change));
    policy_done(&p);
}

TEST(explains)
{
    check_ask("", "command git", true, "command allow *\n", "");
    check_ask("command deny git", "command git", false, "command deny git\n", "remove command deny git\n");
    check_ask("command allow ls\ncommand deny gi*", "command git", false, "command deny gi*\n",
              "remove command deny gi*\nadd command allow git\n");
    check_ask("", "network example.com:443", false, "", "add network allow tcp:example.com:443\n");
    check_ask("network allow *.example.com:443", "network a.b.example.com:443", true,
              "network allow tcp:*.example.com:443\n", "");
    check_ask("network allow *.example.com:443", "network example.com:443", false, "",
              "add network allow tcp:example.com:443\n");
    check_ask("network allow *\nnetwork deny 10.0.0.0/8", "network 10.2.3.4:80", false, "network deny tcp:10.0.0.0/8\n",
              "remove network deny tcp:10.0.0.0/8\n");
    check_ask("network allow *", "network udp:1.1.1.1:53", false, "", "add network allow udp:1.1.1.1/32:53\n");
    check_ask("network allow [2001:db8::/32]", "network [2001:db8::7]:1", true, "network allow tcp:[2001:db8::/32]\n",
              "");
    check_ask("", "tier vm", false, "", "add tier vm\n");
    check_ask("", "mount cow /srv", false, "", "add mount cow /srv\n");
    check_ask("verb exec", "verb fork", false, "", "add verb fork\n");
    check_ask("limit memory 1G", "limit memory 1G", true, "limit memory 1073741824\n", "");
    check_ask("limit memory 1G", "limit memory 2G", false, "limit memory 1073741824\n",
              "add limit memory 2147483648\n");
    check_ask("modules set", "modules own", false, "modules set\n", "add modules own\n");
    check_ask("modules set", "modules set", true, "modules set\n", "");
}

TEST(a_question_that_is_none)
{
    static const char *const asks[] = {"", "git", "command", "command /bin/ls", "verb fly", "limit x 1", "network :"};
    for (size_t i = 0; i < sizeof(asks) / sizeof(asks[0]); i++) {
        struct policy p = made("");
        struct err e = {0};
        BUF_AUTO struct buf b;
        buf_init(&b, 4096);
        struct policy_answer a = {.rules = &b, .change = &b};
        CHECK_INT(policy_explain(&p, str_c(asks[i]), &a, &e), -EINVAL);
        CHECK(e.text[0]);
        CHECK_INT(b.n, 0);
        policy_done(&p);
    }
}

/* What explain says to change makes it allowed. */
static void follow(struct policy *p, struct str change)
{
    while (change.n) {
        size_t end = (size_t)str_find(change, '\n', 0);
        struct str line = str_of(change.p, end);
        bool add = str_starts(line, STR("add "));
        line = str_from(line, add ? 4 : 7);
        for (unsigned k = 0; k < POLICY_KINDS; k++) {
            struct str name = str_c(policy_kind_name(k)), value = str_from(line, name.n + 1);
            char scratch[64];
            if (!str_starts(line, name) || line.p[name.n] != ' ')
                continue;
            if (add) {
                CHECK_INT(policy_add(p, k, value, NULL), 0);
                continue;
            }
            struct policy next;
            policy_copy(&next, p);
            policy_clear(&next, k);
            for (uint32_t i = 0; i < p->list[k].n; i++)
                if (!str_eq(policy_value(p, k, i, scratch), value))
                    CHECK_INT(policy_add(&next, k, policy_value(p, k, i, scratch), NULL), 0);
            policy_done(p);
            *p = next;
        }
        change = str_from(change, end + 1);
    }
}

/* ---- comparing ---- */

static void check_within(const char *a, const char *b, const char *says)
{
    struct policy pa = made(a), pb = made(b);
    struct err e = {0};
    CHECK_INT(policy_within(&pa, &pb, &e), *says ? -EPERM : 0);
    if (!CHECK(strstr(e.text, says) != NULL))
        CHECK_C(e.text, says);
    policy_done(&pa);
    policy_done(&pb);
}

TEST(within)
{
    check_within("", "", "");
    check_within("verb exec", "", "");
    check_within("", "verb exec", "'verb create' is more than is granted");
    check_within("command allow git", "command allow g*", "");
    check_within("command allow g*", "command allow git", "'command allow g*' is more");
    check_within("", "command deny git", "add that too");
    check_within("command deny g*", "command deny git", "");
    check_within("command allow ls", "command deny git", "");
    check_within("mount ro /srv/x", "mount cow /srv", "");
    check_within("mount cow /srv/x", "mount ro /srv", "'mount cow /srv/x' is more");
    check_within("network allow a.b.c:80", "network allow *.c:1-100", "");
    check_within("network allow a.b.c", "network allow *.c:1-100", "is more");
    check_within("network allow 10.1.0.0/16", "network allow 10.0.0.0/8", "");
    check_within("network allow 10.0.0.0/8", "network allow 10.1.0.0/16", "is more");
    /* A name may turn out to be an address that is denied. */
    check_within("network allow a.b", "network allow *\nnetwork deny 10.0.0.0/8", "add that too");
    check_within("network allow a.b\nnetwork deny 10.0.0.0/8", "network allow *\nnetwork deny 10.0.0.0/8", "");
    check_within("network allow a.b:80", "network allow *\nnetwork deny 10.0.0.0/8:22", "");
    check_within("limit memory 1G", "limit memory 2G", "");
    check_within("limit memory 2G", "limit memory 1G", "'limit memory 2147483648' is more");
    check_within("modules own", "modules set", "'modules own' is more");
}

/* ---- random policies ---- */

static const char *const pool[] = {"verb exec",
                                   "verb fork",
                                   "verb trace",
                                   "verb none",
                                   "tier isolate",
                                   "tier vm",
                                   "command allow *",
                                   "command allow g*",
                                   "command allow git",
                                   "command allow ls",
                                   "command deny git",
                                   "command deny gi*",
                                   "command deny none",
                                   "mount ro /a",
                                   "mount cow /a",
                                   "mount cow /a/b",
                                   "mount ro /",
                                   "network allow *",
                                   "network allow *.x.org",
                                   "network allow a.x.org:80",
                                   "network allow 10.0.0.0/8",
                                   "network allow 10.1.0.0/16:80",
                                   "network allow udp:*",
                                   "network allow [fd00::/8]:1-1000",
                                   "network deny 10.1.0.0/16",
                                   "network deny a.x.org:80-90",
                                   "network deny *.x.org",
                                   "network deny [fd00::/16]",
                                   "limit memory 1M",
                                   "limit memory 1G",
                                   "limit processes 3",
                                   "modules set",
                                   "modules own"};
static const char *const asks[] = {"verb exec",
                                   "verb fork",
                                   "verb keys",
                                   "tier isolate",
                                   "tier vm",
                                   "command git",
                                   "command gitk",
                                   "command ls",
                                   "command x",
                                   "mount ro /a",
                                   "mount cow /a/b/c",
                                   "mount ro /z",
                                   "network a.x.org:80",
                                   "network a.x.org:443",
                                   "network b.x.org:80",
                                   "network other:80",
                                   "network 10.1.2.3:80",
                                   "network 10.2.2.3:81",
                                   "network udp:10.1.2.3:80",
                                   "network [fd00::1]:7",
                                   "network [fd01::1]:7",
                                   "limit memory 1M",
                                   "limit memory 2M",
                                   "limit processes 4",
                                   "modules own"};

static struct policy any(uint64_t *state)
{
    struct policy p;
    BUF_AUTO struct buf b;
    buf_init(&b, LIMIT_POLICY_TEXT);
    for (uint64_t n = test_rand(state) % 12; n; n--)
        buf_addf(&b, "%s\n", pool[test_rand(state) % (sizeof(pool) / sizeof(pool[0]))]);
    policy_init(&p);
    CHECK_INT(policy_parse(&p, buf_str(&b), NULL), 0);
    return p;
}

static bool allows(const struct policy *p, const char *ask, struct buf *change)
{
    struct policy_answer a = {.rules = change, .change = change};
    BUF_AUTO struct buf rules;
    buf_init(&rules, 65536);
    a.rules = &rules;
    buf_clear(change);
    CHECK_INT(policy_explain(p, str_c(ask), &a, NULL), 0);
    CHECK_INT(a.allowed, change->n == 0);
    return a.allowed;
}

TEST(random_policies_are_ordered_as_they_allow)
{
    uint64_t state = test_seed();
    unsigned within = 0;
    BUF_AUTO struct buf change;
    buf_init(&change, 65536);
    for (int round = 0; round < 3000; round++) {
        struct policy a = any(&state), b = any(&state), c = any(&state);
        CHECK_INT(policy_within(&a, &a, NULL), 0);
        bool in = policy_within(&a, &b, NULL) == 0;
        within += in;
        if (in && policy_within(&b, &c, NULL) == 0)
            CHECK_INT(policy_within(&a, &c, NULL), 0);
        for (size_t i = 0; i < sizeof(asks) / sizeof(asks[0]); i++) {
            bool yes = allows(&a, asks[i], &change);
            if (in && yes)
                CHECK(allows(&b, asks[i], &change));
        }
        policy_done(&a);
        policy_done(&b);
        policy_done(&c);
    }
    CHECK(within > 30);
}

TEST(the_change_that_is_told_allows_it)
{
    uint64_t state = test_seed();
    BUF_AUTO struct buf change;
    buf_init(&change, 65536);
    for (int round = 0; round < 1000; round++) {
        struct policy p = any(&state);
        const char *ask = asks[test_rand(&state) % (sizeof(asks) / sizeof(asks[0]))];
        if (!allows(&p, ask, &change)) {
            struct str text = buf_str(&change);
            char *copy = buf_take(&change);
            follow(&p, str_of(copy, text.n));
            mem_free(copy);
            CHECK(allows(&p, ask, &change));
        }
        policy_done(&p);
    }
}

TEST(text_and_back)
{
    uint64_t state = test_seed();
    for (int round = 0; round < 1000; round++) {
        struct policy p = any(&state), q;
        BUF_AUTO struct buf one, two;
        buf_init(&one, LIMIT_POLICY_TEXT);
        buf_init(&two, LIMIT_POLICY_TEXT);
        policy_format(&p, &one);
        q = any(&state);
        CHECK_INT(policy_parse(&q, buf_str(&one), NULL), 0);
        policy_format(&q, &two);
        CHECK_STR(buf_str(&two), buf_str(&one));
        CHECK_INT(policy_within(&p, &q, NULL), 0);
        CHECK_INT(policy_within(&q, &p, NULL), 0);
        policy_done(&p);
        policy_done(&q);
    }
}

TEST(limits_of_a_policy)
{
    struct policy p;
    struct err e = {0};
    BUF_AUTO struct buf b;
    buf_init(&b, 4u << 20);
    policy_init(&p);
    for (unsigned i = 0; i <= LIMIT_POLICY_RULES; i++)
        buf_addf(&b, "command deny c%u\n", i);
    CHECK_INT(policy_parse(&p, buf_str(&b), &e), -E2BIG);
    CHECK_INT(p.list[POLICY_COMMAND_DENY].n, 0);
    while (b.n <= LIMIT_POLICY_TEXT)
        buf_addc(&b, "# words that mean nothing\n");
    CHECK_INT(policy_parse(&p, buf_str(&b), &e), -E2BIG);
    buf_clear(&b);
    buf_addc(&b, "command deny ");
    for (unsigned i = 0; i <= LIMIT_POLICY_RULE; i++)
        buf_putc(&b, 'a');
    CHECK_INT(policy_parse(&p, buf_str(&b), &e), -EINVAL);
    policy_done(&p);
}
