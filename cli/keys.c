/* SPDX-License-Identifier: Apache-2.0 */

/* frontal-sandbox keys create|list|revoke: the keys of a server, in the file `keys` of its state directory. */

#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/fd.h"
#include "cli/view.h"
#include "apikey/apikey.h"
#include "types/errtab.h"
#include "wire/json_object.h"

#define FILE_MAX (16u << 20)

struct keyfile {
    struct state *state;
    struct buf path, tmp, text;
    int lock;
};

static void keyfile_close(struct keyfile *f)
{
    buf_done(&f->path);
    buf_done(&f->tmp);
    buf_done(&f->text);
    fd_close(&f->lock);
    state_close(f->state);
}

static int read_all(const char *path, struct buf *out)
{
    FD_AUTO int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    return fd >= 0 ? fd_read_all(fd, out) : errno == ENOENT ? 0 : -errno;
}

/* Opens it, and with @write keeps others from changing it. */
static int keyfile_open(struct keyfile *f, const struct cli_common *c, bool write, struct err *err)
{
    *f = (struct keyfile){.lock = -1};
    buf_init(&f->path, LIMIT_PATH);
    buf_init(&f->tmp, LIMIT_PATH);
    buf_init(&f->text, FILE_MAX);
    int r = state_open(c->state_dir, write, &f->state, err);
    if (r)
        return r;
    buf_addf(&f->path, "%s/keys", state_path(f->state));
    buf_addf(&f->tmp, "%s/keys.new", state_path(f->state));
    if (write) {
        f->lock = open(state_path(f->state), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (f->lock < 0 || flock(f->lock, LOCK_EX))
            return err_set(err, -errno, "%s: %s", state_path(f->state), errtab_text(errno));
    }
    r = read_all(f->path.p, &f->text);
    return r ? err_set(err, r, "%s: %s", f->path.p, errtab_text(r)) : 0;
}

static int keyfile_write(struct keyfile *f, struct str text, struct err *err)
{
    FD_AUTO int fd = open(f->tmp.p, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    int r = fd < 0 ? -errno : fd_write_all(fd, text);
    if (r == 0 && (fsync(fd) || rename(f->tmp.p, f->path.p)))
        r = -errno;
    return r ? err_set(err, r, "%s: %s", f->path.p, errtab_text(r)) : 0;
}

static bool next_line(struct str *rest, struct str *line)
{
    if (rest->n == 0)
        return false;
    ptrdiff_t nl = str_find(*rest, '\n', 0);
    *line = str_of(rest->p, nl < 0 ? rest->n : (size_t)nl);
    *rest = str_from(*rest, nl < 0 ? rest->n : (size_t)nl + 1);
    return true;
}

static void put_key(struct buf *out, const struct apikey *k, const char *token, bool json)
{
    BUF_AUTO struct buf caps;
    buf_init(&caps, 1024);
    apikey_put_caps(&caps, k->caps);
    if (json) {
        const struct json_member m[] = {JSON_TEXT("id", str_c(k->id.text)),     JSON_TEXT("tenant", str_c(k->tenant)),
                                        JSON_TEXT("capabilities", buf_str(&caps)), JSON_TIME("created", k->created),
                                        JSON_TEXT_OR_NULL("name", str_c(k->name)), JSON_TEXT("key", str_c(token))};
        json_object_line(out, m, token ? 6 : 5);
    } else if (token) {
        buf_addf(out, "%s\n", token);
    } else {
        buf_addf(out, "%s  %-16s %-12s %s\n", k->id.text, k->tenant, k->name[0] ? k->name : "-", caps.p);
    }
}

static int finish(struct keyfile *f, struct buf *out, int r, const struct err *err)
{
    keyfile_close(f);
    r = r ? cli_fail(err) : cli_print(out) ? CLI_FAILED : 0;
    buf_done(out);
    return r;
}

static int create(int argc, char **argv)
{
    struct cli_common c;
    const char *tenant = "local", *name = "", *caps_text = "all";
    const struct cli_opt opts[] = {{"tenant", CLI_OPT_TEXT, &tenant},
                                   {"name", CLI_OPT_TEXT, &name},
                                   {"capabilities", CLI_OPT_TEXT, &caps_text},
                                   {NULL, CLI_OPT_FLAG, NULL}};
    int r = cli_options_read(&c, "keys", argc, argv, opts, 0, 0, "no operands after create");
    if (r)
        return r > 0 ? 0 : CLI_FAILED;
    struct keyfile f;
    struct apikey k;
    struct err err = {0};
    char secret[APIKEY_SECRET_MAX], token[ID_MAX + APIKEY_SECRET_MAX + 2];
    uint32_t caps;
    struct buf out;
    buf_init(&out, 8192);
    r = keyfile_open(&f, &c, true, &err);
    if (r == 0 && apikey_caps(str_c(caps_text), &caps))
        r = err_set(&err, -EINVAL,
                    "--capabilities: all, or some of sessions.read, sessions.write, exec, fs.read, fs.write, state, "
                    "trace, metrics, between commas");
    if (r == 0 && apikey_new(str_c(tenant), str_c(name), caps, &k, secret))
        r = err_set(&err, -EINVAL, "--tenant and --name take 1 to 64 of A-Z a-z 0-9 . _ -");
    if (r == 0) {
        apikey_put(&f.text, &k);
        r = f.text.err ? err_set(&err, f.text.err, "there are too many keys")
                       : keyfile_write(&f, buf_str(&f.text), &err);
    }
    if (r == 0) {
        snprintf(token, sizeof(token), "%s.%s", k.id.text, secret);
        put_key(&out, &k, token, c.json);
    }
    return finish(&f, &out, r, &err);
}

static int list(int argc, char **argv)
{
    struct cli_common c;
    int r = cli_options_read(&c, "keys", argc, argv, NULL, 0, 0, "no operands after list");
    if (r)
        return r > 0 ? 0 : CLI_FAILED;
    struct keyfile f;
    struct apikey k;
    struct err err = {0};
    struct buf out;
    buf_init(&out, FILE_MAX);
    r = keyfile_open(&f, &c, false, &err);
    for (struct str rest = buf_str(&f.text), line; r == 0 && next_line(&rest, &line);) {
        if (apikey_get(line, &k) == 0)
            put_key(&out, &k, NULL, c.json);
    }
    return finish(&f, &out, r, &err);
}

static int revoke_key(int argc, char **argv)
{
    struct cli_common c;
    int r = cli_options_read(&c, "keys", argc, argv, NULL, 1, 1, "the id of a key after revoke");
    if (r)
        return r > 0 ? 0 : CLI_FAILED;
    struct keyfile f;
    struct apikey k;
    struct err err = {0};
    bool found = false;
    struct buf out;
    BUF_AUTO struct buf left;
    buf_init(&out, 8192);
    buf_init(&left, FILE_MAX);
    r = keyfile_open(&f, &c, true, &err);
    for (struct str rest = buf_str(&f.text), line; r == 0 && next_line(&rest, &line);) {
        if (apikey_get(line, &k) == 0 && strcmp(k.id.text, c.argv[0]) == 0) {
            found = true;
            continue;
        }
        buf_adds(&left, line);
        buf_putc(&left, '\n');
    }
    if (r == 0 && !found)
        r = err_set(&err, -ENOENT, "there is no key '%.60s' (see keys list)", c.argv[0]);
    if (r == 0)
        r = left.err ? err_set(&err, left.err, "no memory") : keyfile_write(&f, buf_str(&left), &err);
    if (r == 0 && c.json) {
        const struct json_member m[] = {JSON_TEXT("id", str_c(c.argv[0])), JSON_BOOL("revoked", true)};
        json_object_line(&out, m, 2);
    }
    return finish(&f, &out, r, &err);
}

int cli_keys(int argc, char **argv)
{
    static const struct cli_sub subs[] = {{"create", create}, {"list", list}, {"revoke", revoke_key}, {NULL, NULL}};
    return cli_sub_verb("keys", subs, argc, argv);
}
