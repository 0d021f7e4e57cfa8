/* SPDX-License-Identifier: Apache-2.0 */

/* frontal-sandbox restore: a session goes on from a state it had. */

#include "cli/cli.h"

#include <errno.h>
#include <inttypes.h>

#include "base/fd.h"
#include "cli/trees.h"
#include "cli/view.h"
#include "snapshot/state.h"
#include "types/errtab.h"
#include "vfs/image.h"
#include "wire/json_object.h"

static int restore(struct state *s, const char *who, const char *what, struct state_place *p, struct err *err)
{
    struct state_session ses;
    char from[64];
    BUF_AUTO struct buf spec;
    buf_init(&spec, 4096);
    buf_addf(&spec, "%s%s%s", who, what[0] == '@' ? "" : ":", what);
    if (strpbrk(who, "@:"))
        return err_set(err, -EINVAL, "'%s' is no name of a session: say it as restore SESSION %s", who, what);
    /* The lock first: @SEQ of a command that still runs has no state. */
    int r = state_session_open(s, str_c(who), true, CLI_LOCK_WAIT_MS, &ses, err);
    if (r)
        return r;
    r = spec.err ? err_set(err, spec.err, "the names are too long") : state_resolve(s, buf_str(&spec), p, err);
    if (r == 0) {
        if (p->snapshot[0])
            snprintf(from, sizeof(from), "snapshot %s", p->snapshot);
        else
            snprintf(from, sizeof(from), "@%" PRIu64, p->seq);
        /* One that cannot be loaded would take the place of one that can. */
        struct vfs_quota used;
        r = cli_tree_usage(s, &p->state, &used, err);
        if (r == 0)
            r = cli_put_back(&ses, from, &p->state, NULL, err);
        if (r)
            state_place_done(p);
    }
    state_session_close(&ses);
    return r;
}

int cli_restore(int argc, char **argv)
{
    struct cli_common c;
    int r = cli_options_read(&c, "restore", argc, argv, NULL, 2, 2, "a session and a snapshot or @SEQ");
    struct state *s = r ? NULL : cli_state_open(&c, false);
    if (!s)
        return r > 0 ? 0 : CLI_FAILED;
    struct state_place p;
    struct err err = {0};
    struct cli_view v;
    BUF_AUTO struct buf out;
    buf_init(&out, 4096);
    cli_view_init(&v);
    r = restore(s, c.argv[0], c.argv[1], &p, &err);
    if (r == 0 && c.json) {
        const struct json_member m[] = {
            JSON_TEXT("session", str_c(p.session)),
            JSON_NUMBER("seq", p.seq),
            JSON_TEXT_OR_NULL("snapshot", str_c(p.snapshot)),
            JSON_HASH("root", p.state.root.b),
        };
        json_object_line(&out, m, sizeof(m) / sizeof(m[0]));
    } else if (r == 0) {
        buf_addf(&out, "%s is back at @%" PRIu64 " ", c.argv[0], p.seq);
        cli_put_hash(&v, &out, &p.state.root);
        buf_putc(&out, '\n');
    }
    if (r == 0)
        state_place_done(&p);
    state_close(s);
    return r ? cli_fail(&err) : cli_print(&out) ? CLI_FAILED : 0;
}
