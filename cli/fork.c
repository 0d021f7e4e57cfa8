/* SPDX-License-Identifier: Apache-2.0 */

/* frontal-sandbox fork: new sessions that begin where one is. */

#include "cli/cli.h"

#include <errno.h>
#include <inttypes.h>

#include "cas/store.h"
#include "cli/view.h"
#include "snapshot/state.h"
#include "types/errtab.h"
#include "wire/json_object.h"

#define FORKS_MOST 100000

/* What a fork does not share with its origin. */
static const char *const reset[] = {"ids", "entropy", "clock", "streams", "jobs"};
#define RESET (sizeof(reset) / sizeof(reset[0]))

static int is_taken(struct state *s, const char *name, struct err *err)
{
    struct state_session ses;
    if (state_session_open(s, str_c(name), false, 0, &ses, NULL))
        return 0;
    state_session_close(&ses);
    return err_set(err, -EEXIST, "there is a session '%s' already (%s): choose another name, or destroy it first", name,
                   ses.id);
}

static void nth_name(char *ret, size_t cap, const char *name, uint64_t i, bool many)
{
    if (many)
        snprintf(ret, cap, "%s-%" PRIu64, name, i);
    else
        snprintf(ret, cap, "%s", name);
}

/* All or none: what was made is taken back when one fails. */
static int fork_all(struct state *s, struct cas *store, const struct state_place *from, const char *name,
                    uint64_t count, bool many, int (*made)(void *arg, const char *name, const char *id), void *arg,
                    struct err *err)
{
    char one[2 * STATE_NAME_MAX], id[STATE_ID_MAX];
    struct cli_progress p;
    uint64_t n = 0;
    int r = 0;
    if (count > FORKS_MOST)
        return err_set(err, -EINVAL, "--count: at most %d at a time", FORKS_MOST);
    for (uint64_t i = 1; i <= count && r == 0; i++) {
        nth_name(one, sizeof(one), name, i, many);
        r = is_taken(s, one, err);
    }
    cli_progress_begin(&p, "forks");
    for (; n < count && r == 0; n++) {
        nth_name(one, sizeof(one), name, n + 1, many);
        r = state_fork(s, from, str_c(one), id, err);
        if (r)
            break;
        r = made(arg, one, id);
        cli_progress_show(&p, n + 1, count);
    }
    cli_progress_end(&p);
    if (r)
        (void)cas_release(store); /* destroying one waits for a gc, which may wait for us */
    for (; r && n > 0; n--) {
        nth_name(one, sizeof(one), name, n, many);
        (void)state_session_destroy(s, str_c(one), NULL);
    }
    return r;
}

struct reply {
    bool json;
    struct cli_view view;
    const struct state_place *from;
    struct buf out;
};

static int add_reply(void *arg, const char *name, const char *id)
{
    struct reply *p = arg;
    if (p->json) {
        BUF_AUTO struct buf list;
        buf_init(&list, 1024);
        for (size_t i = 0; i < RESET; i++)
            buf_addf(&list, "\"%s\"\n", reset[i]);
        const struct json_member m[] = {
            JSON_TEXT("name", str_c(name)),
            JSON_TEXT("id", str_c(id)),
            JSON_TEXT("from", str_c(p->from->session)),
            JSON_NUMBER("seq", p->from->seq),
            JSON_TEXT_OR_NULL("snapshot", str_c(p->from->snapshot)),
            JSON_HASH("root", p->from->state.root.b),
            JSON_LIST("reset", buf_str(&list)),
        };
        return json_object_line(&p->out, m, sizeof(m) / sizeof(m[0]));
    }
    cli_put(&p->view, &p->out, CLI_BOLD, name, 24);
    buf_putc(&p->out, ' ');
    cli_put(&p->view, &p->out, CLI_DIM, id, 0);
    buf_addf(&p->out, "\n");
    return p->out.err;
}

static void end_reply(struct reply *p)
{
    if (p->json)
        return;
    buf_addf(&p->out, "from %s@%" PRIu64 " ", p->from->session, p->from->seq);
    cli_put_hash(&p->view, &p->out, &p->from->state.root);
    buf_addc(&p->out, "\nbegun anew:");
    for (size_t i = 0; i < RESET; i++)
        buf_addf(&p->out, " %s%s", reset[i], i + 1 < RESET ? "," : "\n");
}

int cli_fork(int argc, char **argv)
{
    struct cli_common c;
    uint64_t count = 0;
    const struct cli_opt opts[] = {{"count", CLI_OPT_COUNT, &count}, {NULL, CLI_OPT_FLAG, NULL}};
    int r = cli_options_read(&c, "fork", argc, argv, opts, 2, 2, "a session and the name of the new one");
    struct state *s = r ? NULL : cli_state_open(&c, false);
    if (!s)
        return r > 0 ? 0 : CLI_FAILED;
    struct state_place from;
    struct err err = {0};
    struct reply p = {.json = c.json, .from = &from};
    buf_init(&p.out, 256u << 20);
    cli_view_init(&p.view);
    /* Until they have logs, nothing but their origin names what they need, and it may be destroyed. */
    struct cas *store = NULL;
    r = state_store(s, CAS_WRITE | CAS_CREATE, &store, &err);
    if (r == 0 && (r = cas_hold(store)) != 0)
        err_set(&err, r, "the store: %s", errtab_text(r));
    if (r == 0)
        r = state_resolve(s, str_c(c.argv[0]), &from, &err);
    if (r == 0) {
        r = fork_all(s, store, &from, c.argv[1], count ? count : 1, count > 0, add_reply, &p, &err);
        end_reply(&p);
        state_place_done(&from);
    }
    if (r)
        cli_fail(&err);
    else
        r = cli_print(&p.out);
    buf_done(&p.out);
    cas_close(store);
    state_close(s);
    return r ? CLI_FAILED : 0;
}
