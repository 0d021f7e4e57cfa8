/* SPDX-License-Identifier: Apache-2.0 */
#include "base/test/test.h"

#include <errno.h>

#include "base/buf.h"
#include "base/err.h"
#include "policy/policy.h"
#include "wire/json_policy.h"

static void check_text(const char *json, const char *line)
{
    struct policy p, again;
    struct err e = {0};
    BUF_AUTO struct buf text, out, twice;
    buf_init(&text, LIMIT_POLICY_TEXT);
    buf_init(&out, LIMIT_POLICY_TEXT);
    buf_init(&twice, LIMIT_POLICY_TEXT);
    policy_init(&p);
    policy_init(&again);
    CHECK_INT(json_policy_read(str_c(json), &p, &e), 0);
    CHECK_C(e.text, "");
    policy_format(&p, &text);
    if (!CHECK(strstr(text.p, line) != NULL))
        CHECK_C(text.p, line);
    /* What is written reads as the same. */
    CHECK_INT(json_policy_write(&out, &p), 0);
    CHECK_INT(json_policy_read(buf_str(&out), &again, &e), 0);
    policy_format(&again, &twice);
    CHECK_STR(buf_str(&twice), buf_str(&text));
    policy_done(&p);
    policy_done(&again);
}

TEST(json_policy_reads)
{
    check_text("{}", "command allow *\ncommand deny none\n");
    check_text("{\"commands\":{\"deny\":[\"git\",\"g*\"]}}", "command allow *\ncommand deny g*\ncommand deny git\n");
    check_text("{\"verbs\":[]}", "verb none\n");
    check_text("{\"network\":{\"allow\":[\"[::1]:80\"]}}", "network allow tcp:[::1/128]:80\n");
    check_text("{\"mounts\":[\"ro /a\\u00e9\"]}", "mount ro /a\xc3\xa9\n");
    check_text("{\"limits\":{\"memory\":\"1G\",\"cpu\":1500,\"processes\":3}}", "limit memory 1073741824\n");
    check_text("{\"limits\":{\"cpu\":1500}}", "limit cpu 1500ms\n");
    check_text("{\"limits\":{\"cpu\":\"2s\"}}", "limit cpu 2000ms\n");
    check_text("{\"modules\":\"set\"}", "modules set\n");
}

static void check_bad(const char *json, const char *says)
{
    struct policy p;
    struct err e = {0};
    BUF_AUTO struct buf before, after;
    buf_init(&before, LIMIT_POLICY_TEXT);
    buf_init(&after, LIMIT_POLICY_TEXT);
    policy_init(&p);
    policy_format(&p, &before);
    CHECK_INT(json_policy_read(str_c(json), &p, &e), -EINVAL);
    if (!CHECK(strstr(e.text, says) != NULL))
        CHECK_C(e.text, says);
    policy_format(&p, &after);
    CHECK_STR(buf_str(&after), buf_str(&before));
    policy_done(&p);
}

TEST(json_policy_names_the_field)
{
    check_bad("{\"verb\":[]}", "verb: there is no such field (verbs,");
    check_bad("{\"commands\":{\"denied\":[]}}", "commands.denied: there is no such field (allow, deny)");
    check_bad("{\"commands\":{\"deny\":[\"git\",\"/bin/git\"]}}", "commands.deny[1]: a program is named without");
    check_bad("{\"commands\":[]}", "commands: an object with allow and deny");
    check_bad("{\"verbs\":\"exec\"}", "verbs: an array of strings");
    check_bad("{\"verbs\":[1]}", "verbs[0]: a string");
    check_bad("{\"tiers\":[\"moon\"]}", "tiers[0]: 'moon' is no tier");
    check_bad("{\"limits\":{\"moons\":1}}", "limits.moons: there is no limit 'moons'");
    check_bad("{\"limits\":{\"memory\":-1}}", "limits.memory: a text");
    check_bad("{\"limits\":3}", "limits: an object");
    check_bad("{\"modules\":1}", "modules: 'own' or 'set'");
    check_bad("{\"verbs\":[\"exec\"],\"verbs\":[]}", "duplicate");
    check_bad("[]", "a policy is an object");
    check_bad("{", "line 1, column");
    check_bad("{\"verbs\":[\"exec\\u0000\"]}", "");
}
