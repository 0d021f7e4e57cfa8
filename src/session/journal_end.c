/* SPDX-License-Identifier: Apache-2.0 */

/* The end of an exec: its state into the store, its changes and its end into the log. */

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/assert.h"
#include "base/err.h"
#include "base/mem.h"
#include "session/journal_int.h"
#include "types/errtab.h"
#include "vfs/vfs.h"

struct listing {
    struct journal *j;
    uint64_t n; /* changes seen */
};

static int put_change(void *arg, const struct vfs_change *c)
{
    struct listing *l = arg;
    struct trace_event e = {.type = TRACE_CHANGE,
                            .u.change = {.kind = (uint8_t)c->kind,
                                         .path = c->path,
                                         .mode_before = c->old_st.mode,
                                         .mode_after = c->new_st.mode,
                                         .size_before = S_ISREG(c->old_st.mode) ? c->old_st.size : 0,
                                         .size_after = S_ISREG(c->new_st.mode) ? c->new_st.size : 0}};
    if (l->n++ >= LIMIT_TRACE_CHANGES)
        return 0;
    int r = c->old_st.mode ? vfs_content_id(l->j->before, c->old_st.ino, &e.u.change.before) : 0;
    if (r == 0 && c->new_st.mode)
        r = vfs_content_id(session_tree(l->j->session), c->new_st.ino, &e.u.change.after);
    return r ? r : journal__append(l->j, &e);
}

/* The state as it is now, in the store. */
static int store_state(struct journal *j, struct trace_state *ret)
{
    struct str shell = session_shell_state(j->session);
    *ret = (struct trace_state){0};
    /* What the log's last state names is there, and is named. */
    int r = vfs_image_store_again(session_tree(j->session), session_canon(j->session), j->store, &j->state.image,
                                  &ret->root, &ret->image);
    if (r == 0 && shell.n)
        r = cas_put_unless(j->store, shell, &j->state.shell, &ret->shell);
    return r;
}

/* Blobs first: what the log names is there. And on the disk first when that counts, so that a disk which refuses blobs
 * leaves no END that names them. */
int journal__hand_over(struct journal *j)
{
    bool sync = j->durable || j->sync_this;
    int r = sync ? cas_sync(j->store) : cas_flush(j->store);
    if (r == 0)
        r = sync ? trace_sync(j->trace) : trace_flush(j->trace);
    j->unsynced = r == 0 && !sync;
    return r ? r : journal__release(j);
}

/* Nobody was told of what was appended from event @seq on. What of it is in the file nevertheless (the disk said no
 * when asked whether it has it) does not count: the state before it does. */
static void take_back(struct journal *j, uint64_t seq)
{
    trace_drop(j->trace);
    if (trace_count(j->trace) <= seq)
        return;
    struct trace_event e = {
        .type = TRACE_RESTORE,
        .u.restore = {.from = STR("recovery: the event before this one could not be made durable"), .state = j->state}};
    if (trace_append(j->trace, &e) || trace_flush(j->trace))
        trace_drop(j->trace);
}

static int put_decisions(struct journal *j, struct str text)
{
    struct wire_decision d;
    int r = 0;
    while (r == 0 && wire_next_decision(&text, &d)) {
        struct trace_event e = {
            .type = TRACE_DECISION,
            .u.decision = {.command = d.command, .depth = d.engine, .reason = d.reason, .rule = STR("default")}};
        r = journal__append(j, &e);
    }
    return r;
}

static int record(struct journal *j, struct wire_result *res)
{
    struct trace_event e = {.type = TRACE_END,
                            .u.end = {.outcome = res->outcome,
                                      .cpu_us = res->cpu_us,
                                      .wall_us = res->wall_us,
                                      .output_bytes = res->output_bytes,
                                      .memory_peak = res->memory_peak,
                                      .processes = res->processes,
                                      .files_bytes = res->files_bytes,
                                      .inodes = res->inodes,
                                      .next_pid = session_next_pid(j->session)}};
    struct listing l = {.j = j};
    journal__put_streams(j);
    int r = session_take_back(j->session);
    r = r ? r : j->error ? j->error : store_state(j, &e.u.end.state);
    if (r == 0)
        r = vfs_diff(j->before, session_tree(j->session), put_change, &l);
    if (r == 0 && res->outcome.kind == OUTCOME_KILLED && res->outcome.reason > REASON_SIGNAL) {
        struct trace_event limit = {.type = TRACE_LIMIT, .u.limit.reason = (uint8_t)res->outcome.reason};
        r = journal__append(j, &limit);
    }
    if (r == 0)
        r = put_decisions(j, res->decisions);
    e.u.end.changes = (uint32_t)(l.n < UINT32_MAX ? l.n : UINT32_MAX);
    e.u.end.replayable = !j->why_not;
    e.u.end.why_not = str_c(j->why_not ? j->why_not : "");
    uint64_t seq = trace_count(j->trace);
    if (r == 0)
        r = journal__append(j, &e);
    if (r == 0)
        r = journal__hand_over(j);
    if (r == 0) {
        j->state = e.u.end.state;
        j->next_pid = e.u.end.next_pid;
        memcpy(res->root, j->state.root.b, sizeof(res->root));
        res->seq = e.seq;
    } else {
        take_back(j, seq);
    }
    return r;
}

void journal_ended(struct journal *j, struct wire_result *res)
{
    if (!j->running)
        return;
    vfs_set_host_tape(session_tree(j->session), NULL);
    j->running = j->hidden = false;
    struct mem_account *acc = mem_use(NULL);
    int r = record(j, res);
    mem_use(acc);
    j->sync_this = false;
    vfs_free(j->before);
    j->before = NULL;
    if (r == 0)
        return;
    j->broken = r;
    (void)journal__release(j); /* nothing more will be named */
    res->error = r;
    snprintf(j->message, sizeof(j->message),
             "the command ran, but what it did cannot be kept: %s; the session is as it was before", errtab_text(r));
    res->message = str_c(j->message);
}

int journal_batch(struct journal *j, struct str requests, struct wire_reply *ret)
{
    bool alone = !j->running;
    int r = j->broken ? j->broken : alone ? journal_settle_touched(j) : 0;
    struct vfs *before = r ? NULL : vfs_fork(session_tree(j->session));
    if (r == 0 && !before)
        r = -ENOMEM;
    if (r) {
        *ret = (struct wire_reply){.error = r, .message = str_c(errtab_text(r))};
        return 0;
    }
    r = session_fs_batch(j->session, requests, ret);
    j->touched |= r == 0 && ret->error == 0;
    if (r == 0 && ret->error == 0 && alone) {
        int bad = journal_settle(j, "batch");
        if (bad == 0)
            ret->seq = trace_count(j->trace) - 1;
        else if ((r = session_put_back(j->session, before)) == 0)
            *ret = (struct wire_reply){.error = bad, .message = str_c(errtab_text(bad))};
        j->touched &= bad == 0;
    }
    vfs_free(before);
    return r;
}

int journal_settle_touched(struct journal *j)
{
    if (!j->touched)
        return 0;
    return j->broken ? j->broken : journal_settle(j, "files");
}

int journal_settle(struct journal *j, const char *what)
{
    struct trace_event e = {.type = TRACE_RESTORE, .u.restore.from = str_c(what)};
    uint64_t seq = trace_count(j->trace);
    int r = store_state(j, &e.u.restore.state);
    if (r == 0)
        r = trace_append(j->trace, &e);
    if (r == 0)
        r = journal__hand_over(j);
    if (r == 0) {
        j->state = e.u.restore.state;
        j->touched = false;
    } else {
        take_back(j, seq);
    }
    return r;
}
