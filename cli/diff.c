/* SPDX-License-Identifier: Apache-2.0 */

/* frontal-sandbox diff: what differs between two states. */

#include "cli/cli.h"

#include <errno.h>
#include <limits.h>

#include "base/mem.h"
#include "cli/trees.h"
#include "cli/view.h"

/* A path is that of the machine: nobody knows a directory that it could start from. */
static int check_paths(const struct str *paths, size_t n, struct err *err)
{
    for (size_t i = 0; i < n; i++)
        if (paths[i].n == 0 || paths[i].p[0] != '/')
            return err_set(err, -EINVAL, "'%s' does not begin with '/': paths are those of the sandbox", paths[i].p);
    return 0;
}

static int compare(struct state *s, const struct cli_common *c, bool text, struct cli_changes *ret, struct err *err)
{
    size_t n = (size_t)c->argc - 2;
    MEM_AUTO struct str *paths = mem_alloc((n + 1) * sizeof(*paths));
    for (size_t i = 0; i < n; i++)
        paths[i] = str_c(c->argv[i + 2]);
    struct cas *cas = NULL;
    struct cli_tree a = {.v = NULL}, b = {.v = NULL};
    int r = check_paths(paths, n, err);
    if (r == 0)
        r = state_store(s, 0, &cas, err);
    if (r == 0)
        r = cli_tree_open(s, cas, c->argv[0], &a, err);
    if (r == 0)
        r = cli_tree_open(s, cas, c->argv[1], &b, err);
    if (r == 0)
        r = cli_trees_compare(a.v, b.v, paths, n, text, ret, err);
    cli_tree_done(&a);
    cli_tree_done(&b);
    cas_close(cas);
    return r;
}

int cli_diff(int argc, char **argv)
{
    struct cli_common c;
    bool text = false;
    const struct cli_opt opts[] = {{"text", CLI_OPT_FLAG, &text}, {NULL, CLI_OPT_FLAG, NULL}};
    int r = cli_options_read(&c, "diff", argc, argv, opts, 2, INT_MAX, "two sessions, snapshots or SESSION@SEQ");
    struct state *s = r ? NULL : cli_state_open(&c, false);
    if (!s)
        return r > 0 ? 0 : CLI_FAILED;
    struct cli_changes changes = {0};
    struct err err = {0};
    BUF_AUTO struct buf out;
    buf_init(&out, SIZE_MAX);
    r = compare(s, &c, text, &changes, &err);
    if (r == 0 && c.json)
        cli_changes_json(&changes, &out);
    else if (r == 0)
        cli_changes_print(&changes, text, &out);
    bool differ = changes.n > 0;
    cli_changes_done(&changes);
    state_close(s);
    return r ? cli_fail(&err) : cli_print(&out) ? CLI_FAILED : differ;
}
