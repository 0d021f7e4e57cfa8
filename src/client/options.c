/* SPDX-License-Identifier: Apache-2.0 */

/* Options, paths and answers of the verbs against a server. */

#include "client/client_int.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "types/errtab.h"

void client_say(struct str text)
{
    BUF_AUTO struct buf safe;
    buf_init(&safe, 64u << 10);
    cli_put_guest(&safe, text, 0);
    cli_error("%s", safe.err || !safe.n ? "the server's message cannot be shown" : safe.p);
}

int client_fail(const struct err *err)
{
    client_say(str_c(err->text));
    return CLIENT_FAILED;
}

void client_help(const char *verb)
{
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
    static const char suffix[] = "-client";
    size_t end = n < 0 ? 0 : (size_t)n;
    path[end] = 0;
    if (end > sizeof(suffix) && strcmp(path + end - (sizeof(suffix) - 1), suffix) == 0)
        path[end - (sizeof(suffix) - 1)] = 0;
    (void)unsetenv("FRONTAL_SANDBOX_URL");
    execl(path, "frontal-sandbox", "help", verb, (char *)NULL);
    cli_error("%s: %s", path, errtab_text(errno));
    exit(CLIENT_FAILED);
}

struct client *client_of(const struct client_where *w)
{
    const char *ca = w->ca ? w->ca : getenv("FRONTAL_SANDBOX_CA");
    const struct client_config cfg = {
        .url = w->url ? w->url : getenv("FRONTAL_SANDBOX_URL"),
        .key = getenv("FRONTAL_SANDBOX_KEY"),
        .ca = ca && *ca ? ca : NULL,
    };
    struct client *c = NULL;
    struct err err = {0};
    if (!cfg.url || !*cfg.url) {
        cli_error("say which server: --server URL, or FRONTAL_SANDBOX_URL (frontal-sandbox serve starts one)");
        return NULL;
    }
    if (client_new(&cfg, &c, &err)) {
        client_fail(&err);
        return NULL;
    }
    return c;
}

int client_options_read(struct client_verb *v, const char *verb, int argc, char **argv, const struct cli_opt *opts,
                        int min, int max, const char *what)
{
    struct client_where where = {NULL, NULL};
    bool help = false;
    *v = (struct client_verb){.client = NULL};
    const struct cli_opt common[] = {{"server", CLI_OPT_TEXT, &where.url},
                                     {"ca", CLI_OPT_TEXT, &where.ca},
                                     {"json", CLI_OPT_FLAG, &v->json},
                                     {"help", CLI_OPT_FLAG, &help},
                                     {NULL, CLI_OPT_FLAG, NULL}};
    int r = cli_opts_parse(verb, argc, argv, common, opts, &help, NULL);
    if (help)
        client_help(verb);
    r = cli_operands(verb, r, argc, argv, min, max, what, &v->argc, &v->argv);
    if (r)
        return r;
    cli_view_init(&v->view);
    v->client = client_of(&where);
    return v->client ? 0 : -EINVAL;
}

void client_put_encoded(struct buf *out, struct str s, bool path)
{
    for (size_t i = 0; i < s.n; i++) {
        uint8_t c = (uint8_t)s.p[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                     c == '_' || c == '.' || c == '~' || (path && c == '/');
        if (plain)
            buf_putc(out, (char)c);
        else
            buf_addf(out, "%%%02X", c);
    }
}

const char *client_session_path(struct buf *out, const char *who, const char *rest)
{
    buf_clear(out);
    buf_addc(out, "/v1/sessions/");
    client_put_encoded(out, str_c(who), false);
    buf_addc(out, rest);
    return out->err ? "" : out->p;
}

void client_new_key(char *ret, size_t cap)
{
    uint8_t raw[16];
    if (getrandom(raw, sizeof(raw), 0) != (ssize_t)sizeof(raw))
        abort(); /* a buffer of at most 256 bytes is filled whole (getrandom(2)) */
    size_t n = 0;
    for (size_t i = 0; i < sizeof(raw) && n + 3 <= cap; i++)
        n += (size_t)snprintf(ret + n, cap - n, "%02x", raw[i]);
}

int client_json(struct client *c, const char *method, const char *path, const struct buf *body, const char *key,
                struct json_tree **ret, struct err *err)
{
    char header[80];
    struct client_answer answer;
    snprintf(header, sizeof(header), "Idempotency-Key: %s", key ? key : "");
    const struct client_request q = {
        .method = method,
        .path = path,
        .body = body ? buf_str(body) : str_of(NULL, 0),
        .header = key ? header : NULL,
        .repeat = key || strcmp(method, "GET") == 0,
    };
    *ret = NULL;
    if (body && body->err)
        return err_set(err, body->err, "the request is too large");
    int r = client_ask(c, &q, &answer, err);
    if (r == 0 && answer.body.n && json_tree_new(buf_str(&answer.body), ret))
        r = err_set(err, -EPROTO, "%s sent what is no JSON", client_url(c));
    buf_done(&answer.body);
    return r;
}

int client_print_lines(const struct json_tree *t, const char *list)
{
    BUF_AUTO struct buf out;
    buf_init(&out, SIZE_MAX / 2);
    for (size_t i = 0; i < json_tree_count(t, list); i++) {
        (void)json_tree_line(json_tree_element(t, list, i), &out); /* the buffer keeps its error */
        if (out.n > 65536 && cli_print(&out))
            return -1;
    }
    return cli_print(&out);
}

int64_t client_time(struct str s)
{
    struct tm tm = {0};
    char text[40];
    int64_t ns = 0, digit = CLOCK_S / 10;
    snprintf(text, sizeof(text), "%.*s", (int)(s.n < 39 ? s.n : 39), s.n ? s.p : "");
    const char *p = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
    if (!p)
        return 0;
    if (*p == '.') {
        for (p++; *p >= '0' && *p <= '9'; p++, digit /= 10)
            ns += (*p - '0') * digit;
    }
    return timegm(&tm) * CLOCK_S + ns;
}

void client_put_time(const struct cli_view *v, struct buf *out, struct str time)
{
    int64_t t = client_time(time);
    if (t)
        cli_put_time(v, out, t);
    else
        buf_putc(out, '-');
}

void client_put_hash(const struct cli_view *v, struct buf *out, struct str hash)
{
    bool cut = v->terminal && hash.n > 19;
    cli_put_guest(out, cut ? str_of(hash.p, 19) : hash.n ? hash : STR("-"), 0);
    if (cut)
        buf_addc(out, "…");
}
