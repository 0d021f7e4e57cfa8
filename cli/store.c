/* SPDX-License-Identifier: Apache-2.0 */

/* frontal-sandbox store: checking and collecting what is kept. */

#include "cli/cli.h"

#include <inttypes.h>

#include "cli/view.h"
#include "snapshot/keep.h"
#include "types/errtab.h"
#include "wire/json_object.h"

/* ---- fsck ---- */

struct checking {
    bool json;
    struct cli_view view;
    struct cli_progress progress;
    struct buf out;
    uint64_t found;
};

static const char *fault_name(enum state_fault f)
{
    static const char *const names[] = {"damaged", "missing", "store", "log", "snapshot", "file"};
    return names[f];
}

/* "session build @12 image" */
static void put_ref(struct buf *out, const struct state_ref *ref)
{
    if (ref->snapshot)
        buf_addf(out, "snapshot %s", ref->snapshot);
    if (ref->session[0])
        buf_addf(out, "%ssession %s @%" PRIu64, ref->snapshot ? " of " : "", ref->name[0] ? ref->name : ref->session,
                 ref->seq);
}

static void found_json(struct checking *k, const struct state_finding *f)
{
    struct str none = {NULL, 0};
    const struct state_ref *ref = f->ref;
    const struct json_member m[] = {
        JSON_TEXT("fault", str_c(fault_name(f->fault))),
        {"blob", f->id ? JSON_AS_HASH : JSON_AS_NULL, {NULL, 0}, 0, f->id ? f->id->b : NULL},
        JSON_TEXT_OR_NULL("session", ref ? str_c(ref->session) : none),
        JSON_TEXT_OR_NULL("name", ref ? str_c(ref->name) : none),
        JSON_TEXT_OR_NULL("snapshot", ref ? str_c(ref->snapshot) : none),
        {"seq", ref && ref->session[0] ? JSON_AS_NUMBER : JSON_AS_NULL, {NULL, 0}, ref ? ref->seq : 0, NULL},
        JSON_TEXT_OR_NULL("kind", ref ? str_c(ref->what) : none),
        JSON_TEXT_OR_NULL("path", f->path),
        JSON_TEXT_OR_NULL("text", str_c(f->text)),
    };
    json_object_line(&k->out, m, sizeof(m) / sizeof(m[0]));
}

static void found_text(struct checking *k, const struct state_finding *f)
{
    cli_put(&k->view, &k->out, CLI_RED, fault_name(f->fault), 9);
    if (f->id) {
        buf_addc(&k->out, "sha256:");
        for (size_t i = 0; i < sizeof(f->id->b); i++)
            buf_addf(&k->out, "%02x", f->id->b[i]);
        buf_putc(&k->out, ' ');
    }
    if (f->path.n) {
        cli_put_guest(&k->out, f->path, 0);
        buf_addc(&k->out, " in ");
    }
    if (f->ref)
        put_ref(&k->out, f->ref);
    if (f->ref && f->id)
        buf_addf(&k->out, " (%s)", f->ref->what);
    else if (f->id)
        buf_addc(&k->out, "(nothing needs it: store gc removes it)");
    if (f->text[0]) {
        buf_addc(&k->out, f->ref ? ": " : "");
        cli_put_guest(&k->out, str_c(f->text), 0);
    }
    buf_putc(&k->out, '\n');
}

static void found(void *arg, const struct state_finding *f)
{
    struct checking *k = arg;
    cli_progress_end(&k->progress);
    k->found++;
    (k->json ? found_json : found_text)(k, f);
    (void)cli_print(&k->out);
}

static void progress(void *arg, const char *what, uint64_t done, uint64_t all)
{
    struct checking *k = arg;
    k->progress.what = what;
    cli_progress_show(&k->progress, done, all);
}

static int fsck(int argc, char **argv)
{
    struct cli_common c;
    int r = cli_options_read(&c, "store", argc, argv, NULL, 0, 0, "no argument after fsck");
    struct state *s = r ? NULL : cli_state_open(&c, false);
    if (!s)
        return r > 0 ? 0 : CLI_FAILED;
    struct checking k = {.json = c.json};
    struct err err = {0};
    buf_init(&k.out, 1u << 20);
    cli_view_init(&k.view);
    cli_progress_begin(&k.progress, "store");
    const struct state_watch w = {found, progress, &k};
    r = state_fsck(s, &w, &err);
    cli_progress_end(&k.progress);
    if (r == 0 && !k.json && k.found == 0) {
        buf_addc(&k.out, "everything is whole\n");
    } else if (r == 0 && !k.json) {
        cli_put_count(&k.out, k.found, "fault");
        buf_putc(&k.out, '\n');
    }
    if (r)
        cli_fail(&err);
    else
        r = cli_print(&k.out);
    buf_done(&k.out);
    state_close(s);
    return r ? CLI_FAILED : k.found ? 1 : 0;
}

/* ---- gc ---- */

static void gc_progress(void *arg, uint64_t done)
{
    cli_progress_show(arg, done, 0);
}

static int gc(int argc, char **argv)
{
    struct cli_common c;
    bool dry = false;
    const struct cli_opt opts[] = {{"dry-run", CLI_OPT_FLAG, &dry}, {NULL, CLI_OPT_FLAG, NULL}};
    int r = cli_options_read(&c, "store", argc, argv, opts, 0, 0, "no argument after gc");
    struct state *s = r ? NULL : cli_state_open(&c, false);
    if (!s)
        return r > 0 ? 0 : CLI_FAILED;
    struct cli_progress p;
    struct err err = {0};
    uint64_t blobs = 0, bytes = 0;
    BUF_AUTO struct buf out;
    buf_init(&out, 4096);
    cli_progress_begin(&p, "names looked at");
    r = state_gc(s, dry, gc_progress, &p, &blobs, &bytes, &err);
    cli_progress_end(&p);
    if (r == 0 && c.json) {
        const struct json_member m[] = {JSON_NUMBER("blobs", blobs), JSON_NUMBER("bytes", bytes),
                                        JSON_BOOL("dry_run", dry)};
        json_object_line(&out, m, sizeof(m) / sizeof(m[0]));
    } else if (r == 0) {
        buf_addc(&out, dry ? "would remove " : "removed ");
        cli_put_count(&out, blobs, "blob");
        buf_addc(&out, ", ");
        cli_put_size(&out, bytes);
        buf_putc(&out, '\n');
    }
    state_close(s);
    return r ? cli_fail(&err) : cli_print(&out) ? CLI_FAILED : 0;
}

/* ---- stat ---- */

static int count_session(void *arg, const char *id, const char *name)
{
    (void)id, (void)name;
    ++*(uint64_t *)arg;
    return 0;
}

static int count_snapshot(void *arg, const struct state_snapshot *snap)
{
    (void)snap;
    ++*(uint64_t *)arg;
    return 0;
}

static int stat_store(int argc, char **argv)
{
    struct cli_common c;
    int r = cli_options_read(&c, "store", argc, argv, NULL, 0, 0, "no argument after stat");
    struct state *s = r ? NULL : cli_state_open(&c, false);
    if (!s)
        return r > 0 ? 0 : CLI_FAILED;
    struct cas *store = NULL;
    struct cas_stat st = {0};
    struct err err = {0};
    uint64_t sessions = 0, snapshots = 0;
    BUF_AUTO struct buf out;
    buf_init(&out, 8192);
    r = state_store(s, 0, &store, &err);
    if (r == 0 && (r = cas_stat(store, &st)) != 0)
        err_set(&err, r, "the store: %s", errtab_text(r));
    if (r == 0)
        r = state_session_each(s, count_session, &sessions);
    if (r == 0)
        r = state_snapshot_each(s, str_of(NULL, 0), count_snapshot, &snapshots);
    if (r && !err.code)
        err_set(&err, r, "%s: %s", state_path(s), errtab_text(r));
    if (r == 0 && c.json) {
        const struct json_member m[] = {
            JSON_TEXT("state", str_c(state_path(s))),
            JSON_NUMBER("sessions", sessions),
            JSON_NUMBER("snapshots", snapshots),
            JSON_NUMBER("blobs", st.blobs),
            JSON_NUMBER("packs", st.packs),
            JSON_NUMBER("bytes", st.bytes),
            JSON_NUMBER("stored_bytes", st.stored_bytes),
        };
        json_object_line(&out, m, sizeof(m) / sizeof(m[0]));
    } else if (r == 0) {
        buf_addf(&out, "state       %s\nsessions    %" PRIu64 "\nsnapshots   %" PRIu64 "\nblobs       %" PRIu64 ", ",
                 state_path(s), sessions, snapshots, st.blobs);
        cli_put_size(&out, st.bytes);
        buf_addf(&out, "\non disk     ");
        cli_put_size(&out, st.stored_bytes);
        buf_addc(&out, " in ");
        cli_put_count(&out, st.packs, "pack");
        buf_putc(&out, '\n');
    }
    cas_close(store);
    state_close(s);
    return r ? cli_fail(&err) : cli_print(&out) ? CLI_FAILED : 0;
}

int cli_store(int argc, char **argv)
{
    static const struct cli_sub subs[] = {{"fsck", fsck}, {"gc", gc}, {"stat", stat_store}, {NULL, NULL}};
    return cli_sub_verb("store", subs, argc, argv);
}
