/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes: the parser ends, without a fault, with units or an error. What it accepted is printed, and the print,
 * parsed again, must be accepted and give the same print but for the layout: so printing loses nothing that the parser
 * sees.
 */
#include <errno.h>

#include "base/assert.h"
#include "base/buf.h"
#include "base/mem.h"
#include "shell/ast_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Parses @text as the body of a group and prints it: false when it is not accepted. */
static bool reprint(struct str text, struct buf *out)
{
    struct parse_error err;
    struct ast *a = NULL;
    struct parser *ps = parser_new(NULL, text, NULL, 1);
    int r = parser_next(ps, &a, &err);
    bool group = r == 1 && a->root && a->root->kind == NODE_GROUP;
    if (group)
        ast_print_function(out, STR("f"), a->root);
    if (r == 1)
        ast_unref(a);
    parser_free(ps);
    return group;
}

/* The text between the name and the end, to be parsed again. */
static struct str body(const struct buf *b)
{
    return str_from(buf_str(b), sizeof("f () \n") - 1);
}

/* Whether both hold the same but for blanks, newlines and semicolons: behind a here-document the layout of a list
 * changes. */
static bool same(struct str a, struct str b)
{
    size_t i = 0, k = 0;
    for (;;) {
        while (i < a.n && strchr(" ;\n", a.p[i]))
            i++;
        while (k < b.n && strchr(" ;\n", b.p[k]))
            k++;
        if (i == a.n || k == b.n)
            return i == a.n && k == b.n;
        if (a.p[i++] != b.p[k++])
            return false;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* bash prints "coproc cmd" as "coproc COPROC cmd", which means something else, and |& as 2>&1; we print what it
     * prints. */
    if (size > 4096 || memmem(data, size, "coproc", 6) || memmem(data, size, "|&", 2))
        return 0;
    struct buf in BUF_AUTO, one BUF_AUTO, two BUF_AUTO;
    buf_init(&in, SIZE_MAX / 2);
    buf_init(&one, SIZE_MAX / 2);
    buf_init(&two, SIZE_MAX / 2);
    buf_addc(&in, "{\n");
    buf_add(&in, data, size);
    buf_addc(&in, "\n}\n");
    if (!reprint(buf_str(&in), &one))
        return 0;
    /* A delimiter may hold a newline, and then nothing ends its body. */
    if (memmem(one.p, one.n, "<<'", 3) || memmem(one.p, one.n, "<<-'", 4))
        return 0;
    bool again = reprint(body(&one), &two);
    ASSERT(again);
    ASSERT(same(buf_str(&one), buf_str(&two)));
    return 0;
}
