/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/trees.h"

#include "base/fd.h"
#include "base/mem.h"
#include "snapshot/diff.h"
#include "types/errtab.h"
#include "vfs/image.h"
#include "wire/json_object.h"

int cli_tree_open(struct state *s, struct cas *c, const char *spec, struct cli_tree *ret, struct err *err)
{
    struct cli_tree t = {.v = NULL};
    int r = state_resolve(s, str_c(spec), &t.place, err);
    if (r)
        return r;
    r = state_tree(c, &t.place.state, &t.v, &t.canon, err);
    if (r) {
        state_place_done(&t.place);
        return err_wrap(err, r, "'%s'", spec);
    }
    *ret = t;
    return 0;
}

int cli_tree_usage(struct state *s, const struct trace_state *st, struct vfs_quota *ret, struct err *err)
{
    struct cas *c;
    struct vfs *v;
    struct vfs_canon *k;
    int r = state_store(s, 0, &c, err);
    if (r)
        return r;
    r = state_tree(c, st, &v, &k, err);
    if (r == 0) {
        vfs_usage(v, ret);
        vfs_canon_free(k);
        vfs_free(v);
    }
    cas_close(c);
    return r;
}

int cli_session_id(struct state *s, const char *who, char ret[STATE_ID_MAX], struct err *err)
{
    struct state_session ses;
    int r = state_session_open(s, str_c(who), false, 0, &ses, err);
    if (r)
        return r;
    state_session_close(&ses);
    memcpy(ret, ses.id, sizeof(ses.id));
    return 0;
}

void cli_tree_done(struct cli_tree *t)
{
    if (!t->v)
        return;
    vfs_canon_free(t->canon);
    vfs_free(t->v);
    state_place_done(&t->place);
    *t = (struct cli_tree){.v = NULL};
}

static struct wire_stat stat_of(const struct vfs_stat *st)
{
    return (struct wire_stat){st->mode, st->uid, st->gid, st->size, st->mtime};
}

int cli_trees_compare(struct vfs *a, struct vfs *b, const struct str *below, size_t n, bool text,
                      struct cli_changes *ret, struct err *err)
{
    struct snapshot_changes all;
    int r = snapshot_changes_get(a, b, below, n, &all);
    if (r)
        return err_set(err, r, "the trees cannot be compared: %s", errtab_text(r));
    *ret = (struct cli_changes){.cap = all.n};
    ret->v = mem_alloc((all.n + 1) * sizeof(*ret->v));
    for (size_t i = 0; i < all.n && r == 0; i++) {
        const struct vfs_change *c = &all.v[i];
        struct buf diff;
        buf_init(&diff, 4 * SNAPSHOT_TEXT_MAX);
        if (text && (r = snapshot_change_text(a, b, c, &diff)))
            err_set(err, r, "%s: %s", c->path.p, errtab_text(r));
        size_t len = diff.n;
        ret->v[ret->n++] = (struct cli_change){.kind = (uint8_t)c->kind,
                                               .content = c->content,
                                               .old_st = stat_of(&c->old_st),
                                               .new_st = stat_of(&c->new_st),
                                               .path = str_of(mem_dup(c->path.p, c->path.n), c->path.n),
                                               .diff = str_of(buf_take(&diff), len)};
    }
    snapshot_changes_done(&all);
    if (r)
        cli_changes_done(ret);
    return r;
}

void cli_changes_json(const struct cli_changes *c, struct buf *out)
{
    for (size_t i = 0; i < c->n; i++) {
        const struct cli_change *ch = &c->v[i];
        const struct json_member m[] = {
            JSON_TEXT("kind", str_c(cli_change_name(ch->kind))),
            JSON_TEXT("path", ch->path),
            JSON_BOOL("content", ch->content),
            JSON_NUMBER("mode_before", ch->old_st.mode),
            JSON_NUMBER("mode_after", ch->new_st.mode),
            JSON_NUMBER("size_before", ch->old_st.size),
            JSON_NUMBER("size_after", ch->new_st.size),
            JSON_TEXT("diff", ch->diff),
        };
        json_object_line(out, m, sizeof(m) / sizeof(m[0]) - (ch->diff.n == 0));
    }
}

int cli_put_back(struct state_session *ses, const char *from, const struct trace_state *state, uint64_t *ret_seq,
                 struct err *err)
{
    struct trace *t;
    struct trace_event e = {.type = TRACE_RESTORE, .u.restore = {str_c(from), *state}};
    int r = trace_open(fd_steal(&ses->trace_fd), TRACE_APPEND, &t, NULL, err);
    if (r)
        return r;
    r = state_settle(t, err);
    if (r >= 0) {
        r = trace_append(t, &e);
        if (r == 0)
            r = trace_sync(t);
        if (r) {
            trace_drop(t);
            err_set(err, r, "the log of the session: %s", errtab_text(r));
        }
    }
    trace_close(t);
    if (r == 0 && ret_seq)
        *ret_seq = e.seq;
    return r;
}
