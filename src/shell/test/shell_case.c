/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/test/shell_case.h"

#include <stdio.h>

#include "base/test/test.h"
#include "shell/test/one_session.h"

static bool read_file(const char *file, const char *ending, struct buf *out)
{
    char path[4096], block[4096];
    size_t n;
    snprintf(path, sizeof(path), "%s%s", file, ending);
    FILE *f = fopen(path, "re");
    CHECK(f != NULL);
    if (!f)
        return false;
    while ((n = fread(block, 1, sizeof(block), f)) > 0)
        buf_add(out, block, n);
    fclose(f);
    return true;
}

/* The next section of @text from *pos on: its name and body. */
static bool next_section(struct str text, size_t *pos, struct str *name, struct str *body)
{
    if (*pos >= text.n)
        return false;
    ptrdiff_t nl = str_find(text, '\n', *pos);
    size_t start = nl < 0 ? text.n : (size_t)nl + 1;
    *name = str_of(text.p + *pos + 4, start - *pos - 5);
    size_t end = start;
    while (end < text.n && !str_starts(str_from(text, end), STR("#-- "))) {
        nl = str_find(text, '\n', end);
        end = nl < 0 ? text.n : (size_t)nl + 1;
    }
    *body = str_of(text.p + start, end - start);
    *pos = end;
    return true;
}

/* Shows the first line that differs. */
static void show_difference(struct str name, struct str got, struct str want)
{
    size_t i = 0, line = 0;
    while (i < got.n && i < want.n && got.p[i] == want.p[i]) {
        if (got.p[i] == '\n')
            line = i + 1;
        i++;
    }
    struct str g = str_from(got, line), w = str_from(want, line);
    ptrdiff_t ge = str_find(g, '\n', 0), we = str_find(w, '\n', 0);
    printf("# %.*s\n#   ours: %.*s\n#   bash: %.*s\n", (int)name.n, name.p, ge < 0 ? (int)g.n : (int)ge, g.p,
           we < 0 ? (int)w.n : (int)we, w.p);
}

void shell_case_check(const char *file)
{
    struct buf scripts BUF_AUTO, wanted BUF_AUTO, out BUF_AUTO;
    buf_init(&scripts, 16u << 20);
    buf_init(&wanted, 16u << 20);
    buf_init(&out, 16u << 20);
    if (!read_file(file, ".sh", &scripts) || !read_file(file, ".out", &wanted))
        return;
    struct str name, script, want_name, want;
    for (size_t i = 0, k = 0; next_section(buf_str(&scripts), &i, &name, &script);) {
        CHECK(next_section(buf_str(&wanted), &k, &want_name, &want));
        CHECK_STR(want_name, name);
        buf_clear(&out);
        struct outcome o = one_session_run(script, 10000, &out);
        CHECK_INT(o.kind, OUTCOME_EXITED);
        if (!CHECK(str_eq(buf_str(&out), want)))
            show_difference(name, buf_str(&out), want);
    }
}
