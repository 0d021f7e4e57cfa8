/* SPDX-License-Identifier: Apache-2.0 */

/* frontal-sandbox replay: runs a session's log again, in a confined worker, and compares. */

#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "cli/view.h"
#include "session/replay.h"
#include "snapshot/portable.h"
#include "types/errtab.h"
#include "wire/json_object.h"

#define COMMAND_COLUMNS 100

struct options {
    struct cli_common common;
    struct cli_view view;
    const char *from_text;
    uint64_t from;
    bool quiet;
};

struct tally {
    uint64_t n[REPLAY_VERDICTS];
    int64_t recorded_us, replayed_us;
};

/* ---- what is shown ---- */

static void put_text(const struct options *o, struct buf *out, const struct wire_replayed *r)
{
    static const struct {
        const char *name;
        enum cli_style style;
    } verdicts[] = {{"equal", CLI_GREEN}, {"differs", CLI_RED}, {"left out", CLI_YELLOW}};
    if (r->verdict == REPLAY_EQUAL && o->quiet)
        return;
    buf_addf(out, "@%-6" PRIu64 " ", r->seq);
    cli_put(&o->view, out, verdicts[r->verdict].style, verdicts[r->verdict].name, 9);
    cli_put_guest(out, r->command, COMMAND_COLUMNS);
    buf_putc(out, '\n');
    if (r->verdict == REPLAY_LEFT_OUT)
        buf_addf(out, "      not run: %.*s\n", (int)r->what.n, r->what.p);
    if (r->verdict != REPLAY_DIFFERS)
        return;
    buf_addf(out, "      first difference: %.*s\n", (int)r->what.n, r->what.p);
    cli_put_side(out, "-", r->recorded);
    cli_put_side(out, "+", r->replayed);
    cli_put_side(out, " ", r->files);
}

static int put_json(struct buf *out, const struct wire_replayed *r)
{
    static const char *const names[] = {"equal", "differs", "left_out"};
    const struct json_member m[] = {
        JSON_NUMBER("seq", r->seq),
        JSON_TEXT("verdict", str_c(names[r->verdict])),
        JSON_TEXT("command", r->command),
        JSON_NUMBER("recorded_us", r->recorded_us),
        JSON_NUMBER("replayed_us", r->replayed_us),
        JSON_TEXT("what", r->what),
        JSON_TEXT("recorded", r->recorded),
        JSON_TEXT("replayed", r->replayed),
        JSON_TEXT("files", r->files),
    };
    /* What was different is only there when something was. */
    return json_object_line(out, m, r->verdict == REPLAY_EQUAL ? 5 : r->verdict == REPLAY_LEFT_OUT ? 6 : 9);
}

static int print_one(const struct options *o, const struct wire_replayed *r)
{
    BUF_AUTO struct buf out;
    buf_init(&out, SIZE_MAX / 2);
    if (!o->common.json)
        put_text(o, &out, r);
    else if (put_json(&out, r))
        return -ENOMEM;
    return cli_print(&out);
}

static int print_sum(const struct options *o, const struct tally *t)
{
    uint64_t all = t->n[REPLAY_EQUAL] + t->n[REPLAY_DIFFERS] + t->n[REPLAY_LEFT_OUT];
    BUF_AUTO struct buf out;
    buf_init(&out, 4096);
    if (o->common.json)
        return 0;
    buf_addf(&out, "%" PRIu64 " command%s: %" PRIu64 " equal, %" PRIu64 " different, %" PRIu64 " left out; ", all,
             all == 1 ? "" : "s", t->n[REPLAY_EQUAL], t->n[REPLAY_DIFFERS], t->n[REPLAY_LEFT_OUT]);
    buf_addc(&out, "recorded ");
    cli_put_duration(&out, (uint64_t)t->recorded_us);
    buf_addc(&out, ", replayed ");
    cli_put_duration(&out, (uint64_t)t->replayed_us);
    buf_putc(&out, '\n');
    return cli_print(&out);
}

/* ---- driving the worker ---- */

/* Takes a piece of a module that is to be compiled; of the last one, waits for the end: the worker does, too. */
static int compile(struct worker *w, struct modules *m, struct str body)
{
    int r = modules_take(m, &w->chan, body);
    while (r == 0 && modules_fd(m) >= 0) {
        struct pollfd p = {modules_fd(m), POLLIN, 0};
        int64_t ms = (modules_deadline(m) - clock_mono()) / CLOCK_MS + 1;
        (void)poll(&p, 1, ms < 0 ? 0 : (int)ms); /* however it ends, it is looked at */
        r = modules_turn(m, &w->chan);
    }
    return r;
}

static int receive(const struct options *o, struct worker *w, struct modules *m, struct tally *t, struct err *err)
{
    for (;;) {
        uint32_t type;
        struct str body;
        struct wire_replayed r;
        struct wire_reply rep;
        int got = chan_recv(&w->chan, true, &type, &body);
        if (got == -EINTR)
            continue;
        if (got != 1)
            return err_set(err, -EPIPE, "the worker ended in the middle of the replay");
        if (type == WIRE_READY)
            continue;
        if (type == WIRE_COMPILE) {
            got = compile(w, m, body);
            if (got)
                return err_set(err, got, "the worker ended in the middle of the replay");
            continue;
        }
        if (type == WIRE_REPLY && wire_get_reply(body, &rep) == 0)
            return rep.error ? err_set(err, rep.error, "%.*s", (int)rep.message.n, rep.message.p) : 0;
        if (type != WIRE_REPLAYED || wire_get_replayed(body, &r))
            return err_set(err, -EBADMSG, "the worker sent what no worker sends");
        t->n[r.verdict]++;
        t->recorded_us += r.verdict == REPLAY_LEFT_OUT ? 0 : r.recorded_us;
        t->replayed_us += r.replayed_us;
        got = print_one(o, &r);
        if (got)
            return err_set(err, got, "writing the answer");
    }
}

static int replay(const struct options *o, struct cli_options *made, struct cli_keep *k, struct tally *t,
                  struct err *err)
{
    const struct worker_config cfg = {
        .userland_fd = cli_userland_open(),
        .own_modules = cli_own_modules(made),
        .memory_ceiling = 0,
        .kept = true,
        .store_fd = k->store_fd,
        .trace_fd = k->ses.trace_fd,
        .lock_fd = k->ses.trace_fd, /* nothing is written, so no lock is held */
    };
    BUF_AUTO struct buf policy;
    buf_init(&policy, 4 * LIMIT_POLICY_TEXT);
    if (made->policy)
        policy_format(made->policy, &policy);
    const struct wire_replay m = {.from = o->from,
                                  .user = str_c(made->user ? made->user : ""),
                                  .policy = buf_str(&policy),
                                  .limits = made->limits};
    struct worker w = {0};
    struct modules modules;
    modules_init(&modules);
    int r = worker_spawn(&cfg, &w, err), userland_fd = cfg.userland_fd;
    fd_close(&userland_fd);
    if (r)
        return r;
    w.kept = false; /* it has nothing to bring to the disk */
    wire_put_replay(chan_scratch(&w.chan), &m);
    r = chan_send_scratch(&w.chan, WIRE_REPLAY) ? err_set(err, -EPIPE, "the worker ended before the replay")
                                                : receive(o, &w, &modules, t, err);
    modules_done(&modules);
    (void)worker_end(&w);
    return r;
}

/* ---- an exported file: a session in a state directory of its own, for as long as this takes ---- */

static int import_file(const char *path, const char *dir, struct err *err)
{
    struct state *s = NULL;
    struct state_portable made;
    FD_AUTO int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_set(err, -errno, "'%s' is neither a session nor a file that can be read: %s", path,
                       errtab_text(errno));
    int r = state_open(dir, true, &s, err);
    if (r == 0)
        r = state_import(s, fd, STR("replayed"), true, NULL, NULL, &made, err);
    state_close(s);
    return r;
}

/* ---- the verb ---- */

static int look(const struct options *o, const char *dir, struct cli_options *made, struct cli_keep *k, struct err *err)
{
    const char *what = o->common.argv[0];
    struct stat st;
    bool file = strchr(what, '/') || (stat(what, &st) == 0 && S_ISREG(st.st_mode));
    if (!file)
        return cli_keep_look(o->common.state_dir, what, made, k, err);
    int r = import_file(what, dir, err);
    return r ? r : cli_keep_look(dir, "replayed", made, k, err);
}

/* A place behind the log's end would give a replay of nothing, which is equal. */
static int check_from(const struct options *o, const struct cli_keep *k, struct err *err)
{
    struct trace *t;
    struct trace_pos pos;
    int fd = fcntl(k->ses.trace_fd, F_DUPFD_CLOEXEC, 3);
    int r = fd < 0 ? err_set(err, -errno, "the log: %s", errtab_text(errno)) : trace_open(fd, 0, &t, NULL, err);
    if (r)
        return r;
    trace_begin(&pos);
    r = trace_tail(t, &pos, err);
    if (r == 0 && o->from >= pos.seq)
        r = err_set(err, -ENOENT, "--from: the log has no @%" PRIu64 ": its events are @0 to @%" PRIu64, o->from,
                    pos.seq - 1);
    trace_pos_done(&pos);
    trace_close(t);
    return r;
}

int cli_replay(int argc, char **argv)
{
    struct options o = {0};
    const struct cli_opt opts[] = {
        {"from", CLI_OPT_TEXT, &o.from_text}, {"quiet", CLI_OPT_FLAG, &o.quiet}, {NULL, CLI_OPT_FLAG, NULL}};
    struct cli_options made = {.limits = limits_default(), .without_mounts = true};
    struct cli_keep k;
    struct tally t = {0};
    struct err err = {0};
    int r = cli_options_read(&o.common, "replay", argc, argv, opts, 1, 1, "a session or an exported file");
    if (r)
        return r > 0 ? 0 : CLI_FAILED;
    if (o.from_text && str_u64(str_c(o.from_text + (*o.from_text == '@')), &o.from)) {
        cli_error("--from: '%s' is not a place in the log such as @12", o.from_text);
        return CLI_FAILED;
    }
    cli_view_init(&o.view);
    const char *tmp = getenv("TMPDIR");
    char dir[PATH_MAX];
    snprintf(dir, sizeof(dir), "%s/frontal-replay-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(dir)) {
        cli_error("cannot make a directory in '%s' (set TMPDIR): %s", tmp ? tmp : "/tmp", errtab_text(errno));
        return CLI_FAILED;
    }
    r = look(&o, dir, &made, &k, &err);
    if (r == 0) {
        r = o.from ? check_from(&o, &k, &err) : 0;
        if (r == 0)
            r = replay(&o, &made, &k, &t, &err);
        cli_keep_close(&k);
    }
    if (state_discard(dir) && r == 0)
        cli_error("warning: '%s' cannot be removed", dir);
    if (r)
        cli_error("%s", err.text);
    else
        r = print_sum(&o, &t);
    cli_options_done(&made);
    return r ? CLI_FAILED : t.n[REPLAY_DIFFERS] ? 1 : 0;
}
