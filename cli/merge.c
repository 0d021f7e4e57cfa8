/* SPDX-License-Identifier: Apache-2.0 */

/* frontal-sandbox merge: what a fork changed is done to the session it came from. */

#include "cli/cli.h"

#include <errno.h>
#include <inttypes.h>

#include "base/mem.h"
#include "cli/trees.h"
#include "cli/view.h"
#include "snapshot/merge.h"
#include "types/errtab.h"
#include "vfs/image.h"
#include "wire/json_object.h"

struct merging {
    struct state *s;
    struct cas *c;
    struct cli_tree base, ours, theirs;
    struct vfs *merged;
    struct trace_state state; /* after it */
    uint64_t seq;             /* of the event that says so, or of ours when nothing was done */
    struct cli_changes changes;
    struct buf text, json; /* of conflicts: lines, and objects */
    size_t conflicts;
    bool dry;
};

static void add_conflict(void *arg, const struct snapshot_conflict *c)
{
    struct merging *m = arg;
    const struct json_member members[] = {JSON_TEXT("path", c->path), JSON_TEXT("what", str_c(c->what))};
    json_object_line(&m->json, members, sizeof(members) / sizeof(members[0]));
    buf_addc(&m->text, "C ");
    cli_put_guest(&m->text, c->path, 0);
    buf_addf(&m->text, ": %s\n", c->what);
    m->conflicts++;
}

static int open_trees(struct merging *m, const char *fork, const char *origin, struct err *err)
{
    char began[STATE_ID_MAX + 8];
    int r = cli_tree_open(m->s, m->c, origin, &m->ours, err);
    if (r == 0)
        r = cli_tree_open(m->s, m->c, fork, &m->theirs, err);
    if (r == 0 && strcmp(m->ours.place.session, m->theirs.place.session) == 0)
        r = err_set(err, -EINVAL, "'%s' is a state of '%s' itself: there is nothing to merge", fork, origin);
    if (r)
        return r;
    snprintf(began, sizeof(began), "%s@0", m->theirs.place.session);
    return cli_tree_open(m->s, m->c, began, &m->base, err);
}

/* The merged tree becomes the state of the session. */
static int commit(struct merging *m, struct state_session *ses, struct err *err)
{
    char from[STATE_ID_MAX + 32];
    m->state = m->ours.place.state;
    int r = vfs_image_store(m->merged, m->ours.canon, m->c, &m->state.root, &m->state.image);
    if (r == 0)
        r = cas_sync(m->c);
    if (r)
        return err_set(err, r, "the merged tree cannot be stored: %s", errtab_text(r));
    snprintf(from, sizeof(from), "merge %s@%" PRIu64, m->theirs.place.session, m->theirs.place.seq);
    return cli_put_back(ses, from, &m->state, &m->seq, err);
}

/* 0, 1 when there are conflicts, or an error. */
static int merge(struct merging *m, struct state_session *ses, const char *fork, struct err *err)
{
    int r = state_store(m->s, m->dry ? 0 : CAS_WRITE, &m->c, err);
    /* What is taken from the fork only the fork names, and it may be destroyed. */
    if (r == 0 && !m->dry && (r = cas_hold(m->c)) != 0)
        err_set(err, r, "the store: %s", errtab_text(r));
    if (r == 0)
        r = open_trees(m, fork, ses->id, err);
    if (r == 0)
        r = snapshot_merge(m->base.v, m->ours.v, m->theirs.v, add_conflict, m, &m->merged, err);
    if (r == 0)
        r = cli_trees_compare(m->ours.v, m->merged, NULL, 0, false, &m->changes, err);
    if (r == 0) {
        m->seq = m->ours.place.seq;
        m->state = m->ours.place.state;
        if (m->changes.n > 0 && !m->dry)
            r = commit(m, ses, err);
    }
    return r;
}

static void answer_json(const struct merging *m, const struct state_session *ses, int r, struct buf *out)
{
    BUF_AUTO struct buf changes, from;
    buf_init(&changes, SIZE_MAX);
    buf_init(&from, 256);
    cli_changes_json(&m->changes, &changes);
    buf_addf(&from, "%s@%" PRIu64, m->theirs.place.session, m->theirs.place.seq);
    const struct json_member members[] = {
        JSON_TEXT("session", str_c(ses->id)),
        JSON_TEXT("from", buf_str(&from)),
        JSON_BOOL("merged", r == 0 && !m->dry),
        JSON_BOOL("dry_run", m->dry),
        JSON_LIST("changes", buf_str(&changes)),
        JSON_LIST("conflicts", buf_str(&m->json)),
        JSON_NUMBER("seq", m->seq),
        JSON_HASH("root", m->state.root.b),
    };
    /* With conflicts, and in a dry run, there is no state that would be new. */
    json_object_line(out, members, sizeof(members) / sizeof(members[0]) - (r || m->dry ? 2 : 0));
}

static void answer(const struct merging *m, char **argv, int r, struct buf *out)
{
    struct cli_view v;
    cli_view_init(&v);
    if (r) {
        buf_adds(out, buf_str(&m->text));
        return;
    }
    cli_changes_print(&m->changes, false, out);
    if (m->changes.n == 0)
        buf_addf(out, "%s has all of it already\n", argv[1]);
    else if (!m->dry) {
        buf_addf(out, "%s is at @%" PRIu64 " ", argv[1], m->seq);
        cli_put_hash(&v, out, &m->state.root);
        buf_putc(out, '\n');
    }
}

static void done(struct merging *m)
{
    vfs_free(m->merged);
    cli_tree_done(&m->base);
    cli_tree_done(&m->ours);
    cli_tree_done(&m->theirs);
    cas_close(m->c);
    cli_changes_done(&m->changes);
    buf_done(&m->text);
    buf_done(&m->json);
    state_close(m->s);
}

int cli_merge(int argc, char **argv)
{
    struct cli_common c;
    struct merging m = {.c = NULL};
    const struct cli_opt opts[] = {{"dry-run", CLI_OPT_FLAG, &m.dry}, {NULL, CLI_OPT_FLAG, NULL}};
    int r = cli_options_read(&c, "merge", argc, argv, opts, 2, 2, "a fork and the session it is merged into");
    m.s = r ? NULL : cli_state_open(&c, false);
    if (!m.s)
        return r > 0 ? 0 : CLI_FAILED;
    buf_init(&m.text, SIZE_MAX);
    buf_init(&m.json, SIZE_MAX);
    struct err err = {0};
    struct state_session ses;
    BUF_AUTO struct buf out;
    buf_init(&out, SIZE_MAX);
    if (strpbrk(c.argv[1], "@:"))
        r = err_set(&err, -EINVAL, "'%s' is no name of a session: what a merge changes is a session as it is now",
                    c.argv[1]);
    if (r == 0)
        r = state_session_open(m.s, str_c(c.argv[1]), !m.dry, CLI_LOCK_WAIT_MS, &ses, &err);
    if (r == 0) {
        r = merge(&m, &ses, c.argv[0], &err);
        if (r >= 0 && c.json)
            answer_json(&m, &ses, r, &out);
        else if (r >= 0)
            answer(&m, c.argv, r, &out);
        state_session_close(&ses);
    }
    if (r < 0)
        r = cli_fail(&err);
    else if (cli_print(&out))
        r = CLI_FAILED;
    else if (r)
        cli_error("%zu conflict%s: nothing was merged", m.conflicts, m.conflicts == 1 ? "" : "s");
    done(&m);
    return r;
}
