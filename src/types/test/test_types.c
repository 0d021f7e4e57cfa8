/* SPDX-License-Identifier: Apache-2.0 */
#include "base/test/test.h"

#include <errno.h>
#include <limits.h>
#include <locale.h>

#include "types/errtab.h"
#include "types/id.h"
#include "types/limits.h"
#include "types/outcome.h"

/* ---- errtab: the C library is the reference ---- */

TEST(errtab_equals_strerror)
{
    for (int e = 1; e < 134; e++) {
        const char *name = strerrorname_np(e);
        if (!name) {
            CHECK_C(errtab_name(e), "E?");
            continue;
        }
        CHECK_C(errtab_text(e), strerror(e));
        CHECK_C(errtab_text(-e), strerror(e));
        CHECK_C(errtab_name(e), name);
        CHECK_C(errtab_name(-e), name);
    }
    CHECK_C(errtab_text(0), "Success");
}

TEST(errtab_survives_any_number)
{
    static const int odd[] = {INT_MIN, INT_MIN + 1, INT_MAX, -1000, 1000, 41, -41, 58};
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        CHECK_C(errtab_name(odd[i]), "E?");
        CHECK_C(errtab_text(odd[i]), "Unknown error");
        CHECK_INT(errtab_api(odd[i]), API_INTERNAL);
    }
}

TEST(errtab_maps_to_the_api)
{
    static const struct {
        int err;
        const char *name;
        int http;
    } t[] = {
        {0, "ok", 200},
        {-EINVAL, "invalid_argument", 400},
        {-EKEYREJECTED, "unauthenticated", 401},
        {EACCES, "permission_denied", 403},
        {-ENOENT, "not_found", 404},
        {-EEXIST, "conflict", 409},
        {-EFBIG, "too_large", 413},
        {-EDQUOT, "limit_exceeded", 429},
        {-ENOSYS, "unsupported", 422},
        {-EIO, "internal", 500},
        {-EAGAIN, "unavailable", 503},
    };
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        CHECK_C(api_code_name(errtab_api(t[i].err)), t[i].name);
        CHECK_INT(api_code_http(errtab_api(t[i].err)), t[i].http);
    }
}

/* ---- outcome ---- */

TEST(outcome_statuses)
{
    CHECK_INT(outcome_status((struct outcome){.kind = OUTCOME_EXITED, .code = 7}), 7);
    CHECK_INT(outcome_status((struct outcome){.kind = OUTCOME_KILLED, .signal = 15, .reason = REASON_SIGNAL}), 143);
    CHECK_INT(outcome_status((struct outcome){.kind = OUTCOME_KILLED, .signal = 9, .reason = REASON_TIMEOUT}), 124);
    CHECK_INT(outcome_status((struct outcome){.kind = OUTCOME_KILLED, .reason = REASON_MEMORY}), 137);
    CHECK_INT(outcome_status((struct outcome){.kind = OUTCOME_LOST, .code = 3}), 125);
    CHECK_C(outcome_kind_name(OUTCOME_EXITED), "exited");
    CHECK_C(outcome_kind_name(OUTCOME_KILLED), "killed");
    CHECK_C(outcome_kind_name(OUTCOME_LOST), "lost");
}

TEST(outcome_reasons_have_names_of_their_own)
{
    CHECK_C(outcome_reason_name(REASON_NONE), "");
    for (int a = REASON_SIGNAL; a <= REASON_CRASH; a++) {
        CHECK(outcome_reason_name((enum outcome_reason)a)[0] != 0);
        for (int b = REASON_SIGNAL; b < a; b++)
            CHECK(strcmp(outcome_reason_name((enum outcome_reason)a), outcome_reason_name((enum outcome_reason)b)));
    }
}

/* ---- id ---- */

TEST(id_round_trip)
{
    static const char *const prefix[] = {"sbx_", "exec_", "snap_", "key_"};
    for (int k = ID_SESSION; k <= ID_KEY; k++) {
        struct id a = id_new((enum id_kind)k), b = id_new((enum id_kind)k), back;
        CHECK(str_starts(str_c(a.text), str_c(prefix[k])));
        CHECK_INT(strlen(a.text), strlen(prefix[k]) + 26);
        CHECK(strcmp(a.text, b.text) != 0);
        CHECK(memcmp(a.text, b.text, strlen(prefix[k]) + 7) <= 0); /* sortable by time */
        CHECK_INT(id_parse((enum id_kind)k, str_c(a.text), &back), 0);
        CHECK_C(back.text, a.text);
        CHECK_INT(id_parse((enum id_kind)((k + 1) % 4), str_c(a.text), &back), -EINVAL);
    }
}

TEST(id_refuses_other_forms)
{
    static const char *const bad[] = {
        "",
        "sbx_",
        "sbx_01J0000000000000000000000",   /* short */
        "sbx_01J000000000000000000000000", /* long */
        "sbx_01I00000000000000000000000",  /* I, U and small letters are no digits */
        "sbx_01j00000000000000000000000",
        "sbx_01J0000000000000000000000U",
        "sbx_01J0000000000000000000000/",
        "sbx_81J00000000000000000000000", /* more than 128 bits */
        "SBX_01J00000000000000000000000",
    };
    struct id id = {"untouched"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK_INT(id_parse(ID_SESSION, str_c(bad[i]), &id), -EINVAL);
    CHECK_INT(id_parse(ID_SESSION, STR("sbx_01J0000000000000000000000\0"), &id), -EINVAL);
    CHECK_C(id.text, "untouched");
    CHECK_INT(id_parse(ID_SESSION, STR("sbx_01J00000000000000000000000"), &id), 0);
}

/* ---- limits ---- */

TEST(limits_durations)
{
    static const struct {
        const char *text;
        int r;
        uint64_t ms;
    } t[] = {
        {"10s", 0, 10000},
        {"3", 0, 3000},
        {"200ms", 0, 200},
        {"1.5m", 0, 90000},
        {"2h", 0, 7200000},
        {"1d", 0, 86400000},
        {"0", 0, 0},
        {".5", 0, 500},
        {"5.", 0, 5000},
        {"0.0001", 0, 1}, /* some time is not none */
        {"0.5ms", 0, 1},
        {"0.333s", 0, 333},
        {"", -EINVAL, 0},
        {".", -EINVAL, 0},
        {"s", -EINVAL, 0},
        {"-1", -EINVAL, 0},
        {"1 s", -EINVAL, 0},
        {"1w", -EINVAL, 0},
        {"1e3", -EINVAL, 0},
        {"1.5.5", -EINVAL, 0},
        {"18446744073709551615ms", 0, UINT64_MAX},
        {"18446744073709551616ms", -ERANGE, 0},
        {"18446744073709551615", -ERANGE, 0},
        {"18446744073709551615.9ms", -ERANGE, 0},
        {"0.00000000000000000000000000000000000000000001", 0, 1},
    };
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        uint64_t v = 42;
        CHECK_INT(limits_duration(str_c(t[i].text), &v), t[i].r);
        if (!CHECK_INT(v, t[i].r ? 42 : t[i].ms))
            CHECK_C(t[i].text, "");
    }
}

TEST(limits_sizes)
{
    static const struct {
        const char *text;
        int r;
        uint64_t n;
    } t[] = {
        {"0", 0, 0},
        {"1000", 0, 1000},
        {"64M", 0, 64u << 20},
        {"1K", 0, 1024},
        {"3G", 0, UINT64_C(3) << 30},
        {"2T", 0, UINT64_C(2) << 40},
        {"16777215T", 0, UINT64_C(16777215) << 40},
        {"16777216T", -ERANGE, 0},
        {"18446744073709551616", -ERANGE, 0},
        {"", -EINVAL, 0},
        {"M", -EINVAL, 0},
        {"1m", -EINVAL, 0},
        {"1MB", -EINVAL, 0},
        {"1.5M", -EINVAL, 0},
        {"-1", -EINVAL, 0},
        {"1X", -EINVAL, 0},
    };
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        uint64_t v = 42;
        CHECK_INT(limits_size(str_c(t[i].text), &v), t[i].r);
        CHECK_INT(v, t[i].r ? 42 : t[i].n);
    }
    uint64_t v = 42;
    CHECK_INT(limits_size(STR("1\0"), &v), -EINVAL);
}

TEST(limits_set_by_name)
{
    struct limits l = limits_default();
    CHECK_INT(l.memory, 512u << 20);
    CHECK_INT(l.processes, 512);
    CHECK_INT(l.wall_ms, 0);
    CHECK_INT(limits_set(&l, STR("memory"), STR("64M")), 0);
    CHECK_INT(l.memory, 64u << 20);
    CHECK_INT(limits_set(&l, STR("output"), STR("1K")), 0);
    CHECK_INT(l.output, 1024);
    CHECK_INT(limits_set(&l, STR("files"), STR("1G")), 0);
    CHECK_INT(l.files, 1u << 30);
    CHECK_INT(limits_set(&l, STR("inodes"), STR("1000")), 0);
    CHECK_INT(l.inodes, 1000);
    CHECK_INT(limits_set(&l, STR("processes"), STR("9")), 0);
    CHECK_INT(l.processes, 9);
    CHECK_INT(limits_set(&l, STR("cpu"), STR("1.5s")), 0);
    CHECK_INT(l.cpu_ms, 1500);
    CHECK_INT(limits_set(&l, STR("trace"), STR("10M")), 0);
    CHECK_INT(l.trace, 10u << 20);
    struct limits before = l;
    CHECK_INT(limits_set(&l, STR("processes"), STR("1K")), -EINVAL);
    CHECK_INT(limits_set(&l, STR("wall"), STR("1")), -ENOENT);
    CHECK_INT(limits_set(&l, STR("mem"), STR("1")), -ENOENT);
    CHECK_INT(limits_set(&l, STR("memory"), STR("18446744073709551616")), -ERANGE);
    CHECK(memcmp(&l, &before, sizeof(l)) == 0);
}

TEST(limits_names_are_all_taken)
{
    struct str names = str_c(limits_names());
    int n = 0;
    for (size_t from = 0; from < names.n; n++) {
        ptrdiff_t end = str_find(names, ',', from);
        struct str one = str_of(names.p + from, (end < 0 ? names.n : (size_t)end) - from);
        struct limits l = limits_default();
        CHECK_INT(limits_set(&l, one, STR("1")), 0);
        from += one.n + 2;
    }
    CHECK_INT(n, 7);
}
