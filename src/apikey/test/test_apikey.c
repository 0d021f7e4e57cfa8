/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "base/test/test.h"
#include "apikey/apikey.h"

TEST(capabilities_by_name)
{
    uint32_t caps;
    BUF_AUTO struct buf b;
    buf_init(&b, 1000);
    CHECK_INT(apikey_caps(STR("exec,fs.read"), &caps), 0);
    CHECK_INT(caps, 1u << APIKEY_EXEC | 1u << APIKEY_FS_READ);
    apikey_put_caps(&b, caps);
    CHECK_STR(buf_str(&b), STR("exec,fs.read"));
    CHECK_INT(apikey_caps(STR("all"), &caps), 0);
    CHECK_INT(caps, APIKEY_ALL);
    const char *const bad[] = {"", "all,exec", "exec,", ",exec", "Exec", "exec fs.read"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        int r = apikey_caps(str_c(bad[i]), &caps);
        CHECK_INT(r, strcmp(bad[i], "exec,") == 0 ? 0 : -EINVAL); /* a comma at the end separates nothing */
    }
}

TEST(a_key_and_its_line)
{
    struct apikey k, got;
    char secret[APIKEY_SECRET_MAX];
    BUF_AUTO struct buf line, token;
    buf_init(&line, 1000);
    buf_init(&token, 1000);
    CHECK_INT(apikey_new(STR("acme"), STR("ci"), 1u << APIKEY_EXEC, &k, secret), 0);
    CHECK_INT(strlen(secret), 56);
    apikey_put(&line, &k);
    CHECK(!strstr(line.p, secret));
    CHECK_INT(apikey_get(str_of(line.p, line.n - 1), &got), 0);
    CHECK_C(got.id.text, k.id.text);
    CHECK_C(got.tenant, "acme");
    CHECK_C(got.name, "ci");
    CHECK_INT(got.caps, k.caps);
    CHECK_INT(got.created, k.created);
    buf_addf(&token, "%s.%s", k.id.text, secret);
    CHECK(apikey_matches(&got, buf_str(&token)));
    for (size_t i = 0; i < token.n; i++) {
        char c = token.p[i];
        token.p[i] = c == '0' ? '1' : '0';
        CHECK(!apikey_matches(&got, buf_str(&token)));
        token.p[i] = c;
        CHECK(!apikey_matches(&got, str_of(token.p, i)));
    }
}

TEST(lines_that_grant_nothing)
{
    struct apikey k, got;
    char secret[APIKEY_SECRET_MAX];
    BUF_AUTO struct buf line;
    buf_init(&line, 1000);
    CHECK_INT(apikey_new(STR("acme"), STR(""), APIKEY_ALL, &k, secret), 0);
    apikey_put(&line, &k);
    /* Cut anywhere but behind the creation time, it is none. */
    for (size_t n = 0; n < line.n - 22; n++)
        CHECK_INT(apikey_get(str_of(line.p, n), &got), -EINVAL);
    CHECK_INT(apikey_new(STR(""), STR(""), APIKEY_ALL, &k, secret), -EINVAL);
    CHECK_INT(apikey_new(STR("a/b"), STR(""), APIKEY_ALL, &k, secret), -EINVAL);
    CHECK_INT(apikey_new(STR(".."), STR(""), APIKEY_ALL, &k, secret), -EINVAL);
    CHECK_INT(apikey_new(STR("a"), STR("b c"), APIKEY_ALL, &k, secret), -EINVAL);
    CHECK_INT(apikey_new(STR("a"), STR(""), 0, &k, secret), -EINVAL);
}
