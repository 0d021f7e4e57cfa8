/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "base/mem.h"
#include "base/test/test.h"
#include "shell/array_int.h"
#include "shell/shell_int.h"
#include "shell/test/in_shell.h"

/* ---- arrays against a plain model ---- */

#define MODEL 300

static void check_arr(const struct arr *a, const bool *has, const int *val)
{
    size_t n = 0;
    for (int i = 0; i < MODEL; i++) {
        struct str s;
        bool got = arr_get(a, i, &s);
        CHECK_INT(got, has[i]);
        if (!got)
            continue;
        int64_t at, num;
        struct str same;
        arr_at(a, n, &at, &same);
        CHECK_INT(at, i);
        CHECK(str_i64(s, &num) == 0 && num == val[i]);
        CHECK_STR(same, s);
        n++;
    }
    CHECK_INT(arr_count(a), n);
}

TEST(indexed_arrays_follow_a_model)
{
    uint64_t seed = test_seed();
    for (int run = 0; run < 20; run++) {
        struct arr *a = arr_new();
        bool has[MODEL] = {false};
        int val[MODEL] = {0};
        for (int step = 0; step < 400; step++) {
            int i = (int)(test_rand(&seed) % MODEL), v = (int)(test_rand(&seed) % 1000);
            char text[16];
            struct str s = str_of(text, (size_t)snprintf(text, sizeof text, "%d", v));
            if (test_rand(&seed) % 3) {
                CHECK_INT(arr_set(a, i, s), 0);
                has[i] = true;
                val[i] = v;
            } else {
                arr_unset(a, i);
                has[i] = false;
            }
        }
        check_arr(a, has, val);
        struct arr *c = arr_copy(a);
        check_arr(c, has, val);
        arr_free(a);
        arr_free(c);
    }
}

TEST(arrays_fill_from_either_end)
{
    struct arr *a = arr_new();
    for (int64_t i = 100000; i-- > 0;)
        CHECK_INT(arr_set(a, i * 2, STR("x")), 0);
    CHECK_INT(arr_count(a), 100000);
    CHECK_INT(arr_max(a), 199998);
    CHECK_INT(arr_append(a, 0, STR("y")), 0);
    struct str s;
    CHECK(arr_get(a, 0, &s));
    CHECK_STR(s, STR("xy"));
    arr_free(a);
}

/* The order that bash 5.2 lists these keys in. */
TEST(associative_arrays_list_as_bash)
{
    static const char *const keys[] = {"1", "2", "3", "foo", "bar", "baz", "qux", "10", "11", "12"};
    static const char want[] = "3 2 1 qux foo bar baz 12 10 11 ";
    struct assoc *a = assoc_new(0);
    struct buf out BUF_AUTO;
    buf_init(&out, 1000);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        CHECK_INT(assoc_set(a, str_c(keys[i]), str_c(keys[i])), 0);
    struct str k, v;
    for (size_t pos = 0; assoc_at(a, pos, &k, &v); pos++)
        buf_addf(&out, "%s ", k.p);
    CHECK_C(out.p, want);
    for (int i = 0; i < 5000; i++) {
        char text[16];
        CHECK_INT(assoc_set(a, str_of(text, (size_t)snprintf(text, sizeof text, "k%d", i)), STR("v")), 0);
    }
    size_t n = 0;
    while (assoc_at(a, n, &k, &v))
        n++;
    CHECK_INT(n, 5010);
    assoc_unset(a, STR("k17"));
    CHECK(!assoc_get(a, STR("k17"), &v));
    CHECK(assoc_get(a, STR("k18"), &v));
    struct assoc *c = assoc_copy(a);
    CHECK_INT(assoc_count(c), 5009);
    assoc_free(a);
    assoc_free(c);
}

TEST(arrays_survive_failing_allocations)
{
    for (uint64_t n = 1; n < 12; n++) {
        struct arr *a = arr_new();
        struct assoc *m = assoc_new(0);
        CHECK_INT(arr_set(a, 1, STR("one")), 0);
        CHECK_INT(assoc_set(m, STR("k"), STR("v")), 0);
        mem_fail_after(n);
        for (int64_t i = 0; i < 10; i++) {
            (void)arr_set(a, i * 3, STR("z"));
            (void)arr_append(a, 1, STR("+"));
            (void)assoc_append(m, STR("k"), STR("w"));
        }
        mem_fail_after(0);
        struct str s;
        CHECK(arr_get(a, 1, &s) && str_starts(s, STR("one")));
        CHECK(assoc_get(m, STR("k"), &s) && str_starts(s, STR("v")));
        arr_free(a);
        assoc_free(m);
    }
}

/* ---- variables ---- */

static struct sym *sym(struct shell *sh, const char *name)
{
    return sym_get(sh, str_c(name));
}

static void scalars(struct shell *sh)
{
    struct sym *x = sym(sh, "x");
    struct str s;
    CHECK(sym(sh, "x") == x);
    CHECK(!var_text(sh, x, &s));
    CHECK_INT(var_set(sh, x, STR("abc")), 0);
    CHECK_INT(var_append(sh, x, STR("def")), 0);
    CHECK_STR(var_get(sh, "x"), STR("abcdef"));
    /* Text borrowed from the variable itself. */
    CHECK_INT(var_set(sh, x, str_from(var_get(sh, "x"), 2)), 0);
    CHECK_STR(var_get(sh, "x"), STR("cdef"));
    CHECK_INT(var_append(sh, x, var_get(sh, "x")), 0);
    CHECK_STR(var_get(sh, "x"), STR("cdefcdef"));
    CHECK_INT(var_set_int(sh, x, INT64_MIN), 0);
    CHECK_STR(var_get(sh, "x"), STR("-9223372036854775808"));
    const char *before = var_get(sh, "x").p;
    CHECK_INT(var_set_int(sh, x, 42), 0);
    CHECK(var_get(sh, "x").p == before);
    CHECK_INT(var_attr(sh, x, VAR_READONLY, 0), 0);
    CHECK_INT(var_set(sh, x, STR("no")), -EPERM);
    CHECK_INT(var_set_int(sh, x, 1), -EPERM);
    CHECK_INT(var_unset(sh, x), -EPERM);
    CHECK_STR(var_get(sh, "x"), STR("42"));
}

TEST(scalars_keep_text_and_number)
{
    in_shell(scalars);
}

static void scopes(struct shell *sh)
{
    struct sym *x = sym(sh, "x");
    CHECK_INT(var_set(sh, x, STR("global")), 0);
    CHECK_INT(var_local(sh, x, false), -EINVAL);
    sh->func_depth++;
    var_push_frame(sh, true);
    CHECK_INT(var_local(sh, x, false), 0);
    CHECK(var_get(sh, "x").p == NULL);
    CHECK_INT(var_set(sh, x, STR("outer")), 0);
    struct var *token = var_global_begin(sh, x);
    CHECK_STR(var_get(sh, "x"), STR("global"));
    CHECK_INT(var_set(sh, x, STR("changed")), 0);
    var_global_end(sh, x, token);
    CHECK_STR(var_get(sh, "x"), STR("outer"));
    sh->func_depth++;
    var_push_frame(sh, true);
    CHECK_INT(var_local(sh, x, true), 0);
    CHECK_STR(var_get(sh, "x"), STR("outer"));
    CHECK_INT(var_unset(sh, x), 0);
    CHECK(var_get(sh, "x").p == NULL);
    var_pop_frame(sh);
    sh->func_depth--;
    CHECK_STR(var_get(sh, "x"), STR("outer"));
    var_push_frame(sh, false);
    CHECK_INT(var_temp(sh, x, STR("temp"), false), 0);
    CHECK_STR(var_get(sh, "x"), STR("temp"));
    var_pop_frame(sh);
    CHECK_STR(var_get(sh, "x"), STR("outer"));
    var_pop_frame(sh);
    sh->func_depth--;
    CHECK_STR(var_get(sh, "x"), STR("changed"));
}

TEST(scopes_put_back_what_they_hid)
{
    in_shell(scopes);
}

static void namerefs(struct shell *sh)
{
    struct sym *r = sym(sh, "r");
    CHECK_INT(var_set(sh, r, STR("target")), 0);
    CHECK_INT(var_attr(sh, r, VAR_NAMEREF, 0), 0);
    CHECK_INT(var_set(sh, r, STR("value")), 0);
    CHECK_STR(var_get(sh, "target"), STR("value"));
    CHECK_STR(var_get(sh, "r"), STR("value"));
    CHECK(var_resolve(sh, r, NULL) == sym(sh, "target"));
    struct sym *e = sym(sh, "e");
    CHECK_INT(var_set_elem(sh, sym(sh, "a"), (struct str){0}, 3, STR("three"), false), 0);
    CHECK_INT(var_set(sh, e, STR("a[1+2]")), 0);
    CHECK_INT(var_attr(sh, e, VAR_NAMEREF, 0), 0);
    CHECK_STR(var_get(sh, "e"), STR("three"));
    CHECK_INT(var_set(sh, e, STR("3!")), 0);
    struct str s;
    CHECK(var_elem(sh, var_find(sh, sym(sh, "a")), (struct str){0}, 3, &s));
    CHECK_STR(s, STR("3!"));
}

TEST(namerefs_lead_to_variables_and_elements)
{
    in_shell(namerefs);
}

static void dynamic(struct shell *sh)
{
    CHECK_INT(var_set(sh, sym(sh, "RANDOM"), STR("42")), 0);
    CHECK_STR(var_get(sh, "RANDOM"), STR("17772")); /* bash 5.2 with the same seed */
    CHECK_STR(var_get(sh, "RANDOM"), STR("26794"));
    struct vartab *t = sh->vars;
    vartab_ref(t);
    (void)var_get(sh, "SECONDS");
    CHECK(sh->vars == t); /* reading does not unshare */
    vartab_unref(t);
    CHECK_INT(var_unset(sh, sym(sh, "RANDOM")), 0);
    CHECK_INT(var_set(sh, sym(sh, "RANDOM"), STR("7")), 0);
    CHECK_STR(var_get(sh, "RANDOM"), STR("7"));
}

TEST(dynamic_variables_are_made_when_read)
{
    in_shell(dynamic);
}
