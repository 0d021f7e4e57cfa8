/* SPDX-License-Identifier: Apache-2.0 */
#include "server/exec_form.h"

#include <signal.h>

#include "base/num.h"
#include "types/errtab.h"

const char *exec_form_status(const struct sched_exec_info *e)
{
    if (e->running || e->waiting)
        return "running";
    return e->result && e->result->error ? "refused" : outcome_kind_name(e->outcome.kind);
}

int exec_form_signal(struct str name)
{
    static const struct {
        const char *name;
        int sig;
    } all[] = {{"HUP", SIGHUP},   {"INT", SIGINT},   {"QUIT", SIGQUIT}, {"KILL", SIGKILL}, {"USR1", SIGUSR1},
               {"USR2", SIGUSR2}, {"TERM", SIGTERM}, {"CONT", SIGCONT}, {"STOP", SIGSTOP}, {"TSTP", SIGTSTP},
               {"WINCH", SIGWINCH}};
    if (str_starts(name, STR("SIG")))
        name = str_from(name, 3);
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (str_eqc(name, all[i].name))
            return all[i].sig;
    }
    return 0;
}

/* Cut at the last whole character, when it is text at all. */
static struct str cut(struct str s, uint64_t limit)
{
    if (s.n <= limit)
        return s;
    s.n = (size_t)limit;
    for (size_t back = 0; back < 4 && back < s.n; back++) {
        if (((uint8_t)s.p[s.n - back] & 0xc0) != 0x80)
            return str_of(s.p, s.n - back);
    }
    return s;
}

static void put_outcome(struct json_writer *w, const struct sched_exec_info *e, bool began)
{
    bool exited = began && e->outcome.kind == OUTCOME_EXITED, killed = began && e->outcome.kind == OUTCOME_KILLED;
    if (exited)
        json_number(w, "exit_code", e->outcome.code);
    else
        json_none(w, "exit_code");
    if (killed && e->outcome.signal)
        json_number(w, "signal", e->outcome.signal);
    else
        json_none(w, "signal");
    json_text_or_null(w, "reason", str_c(began ? outcome_reason_name(e->outcome.reason) : ""));
}

static void put_output(struct json_writer *w, const struct sched_exec_info *e, uint64_t limit)
{
    static const char *const names[] = {NULL, "stdout", "stderr"};
    static const char *const sizes[] = {NULL, "stdout_bytes", "stderr_bytes"};
    bool truncated = false;
    for (int i = 1; i <= 2 && limit; i++) {
        struct str s = cut(e->out[i], limit);
        json_text(w, names[i], s);
        truncated |= s.n < e->total[i];
    }
    for (int i = 1; i <= 2; i++)
        json_number(w, sizes[i], e->total[i]);
    if (limit)
        json_bool(w, "truncated", truncated);
}

static void put_decisions(struct json_writer *w, struct str text)
{
    struct wire_decision d;
    json_begin(w, "decisions", '[');
    while (wire_next_decision(&text, &d)) {
        json_begin(w, NULL, '{');
        json_text(w, "command", d.command);
        json_text(w, "engine", d.engine);
        json_text_or_null(w, "reason", d.reason);
        json_end(w, '}');
    }
    json_end(w, ']');
}

static void put_result(struct json_writer *w, const struct wire_result *r)
{
    json_sha256(w, "root", r->root);
    json_number(w, "trace_seq", r->seq);
    json_begin(w, "usage", '{');
    json_number(w, "cpu_us", r->cpu_us);
    json_number(w, "wall_us", r->wall_us);
    json_number(w, "output_bytes", r->output_bytes);
    json_number(w, "memory_peak", r->memory_peak);
    json_number(w, "processes", r->processes);
    json_number(w, "files_bytes", r->files_bytes);
    json_number(w, "inodes", r->inodes);
    json_end(w, '}');
    if (r->decisions.n)
        put_decisions(w, r->decisions);
    if (r->message.n)
        json_text(w, "note", r->message);
}

static void put_time(struct json_writer *w, const char *key, int64_t t)
{
    if (t)
        json_time(w, key, t);
    else
        json_none(w, key);
}

void exec_form_put(struct json_writer *w, struct sched_session *s, const struct sched_exec_info *e,
                   uint64_t output_limit)
{
    bool ended = !e->running && !e->waiting, refused = e->result && e->result->error;
    json_text(w, "exec_id", str_c(e->id));
    json_text(w, "session_id", str_c(sched_session_id(s)));
    json_text(w, "status", str_c(exec_form_status(e)));
    put_outcome(w, e, ended && !refused);
    put_output(w, e, output_limit);
    json_text(w, "tier", STR("isolate"));
    json_none(w, "promotion");
    if (e->result && !refused)
        put_result(w, e->result);
    if (refused) {
        json_begin(w, "error", '{');
        json_text(w, "code", str_c(api_code_name(errtab_api(e->result->error))));
        json_text(w, "message", e->result->message);
        json_end(w, '}');
    }
    put_time(w, "created_at", e->created);
    put_time(w, "started_at", e->started);
    put_time(w, "ended_at", e->ended);
}

size_t exec_form_whole(struct str piece, bool more)
{
    size_t whole = piece.n;
    while (whole && piece.n - whole < 4 && more && !json_is_utf8(str_of(piece.p, whole)))
        whole--;
    return whole && json_is_utf8(str_of(piece.p, whole)) ? whole : piece.n;
}
