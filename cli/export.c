/* SPDX-License-Identifier: Apache-2.0 */

/* frontal-sandbox export: a session into one file, which is there when it is whole. */

#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>

#include "base/fd.h"
#include "cli/view.h"
#include "snapshot/portable.h"
#include "types/errtab.h"
#include "wire/json_object.h"

static void progress(void *arg, uint64_t done)
{
    cli_progress_show(arg, done >> 10, 0);
}

static int write_to(struct state *s, const char *who, int fd, struct state_portable *ret, struct err *err)
{
    struct cli_progress p;
    cli_progress_begin(&p, "KiB written");
    int r = state_export(s, str_c(who), fd, progress, &p, ret, err);
    cli_progress_end(&p);
    return r;
}

/* Under another name beside it, then renamed. */
static int write_file(struct state *s, const char *who, const char *path, struct state_portable *ret, struct err *err)
{
    BUF_AUTO struct buf tmp;
    buf_init(&tmp, LIMIT_PATH);
    buf_addf(&tmp, "%s.%d.part", path, (int)getpid());
    if (tmp.err)
        return err_set(err, -ENAMETOOLONG, "'%.100s…': %s", path, errtab_text(ENAMETOOLONG));
    FD_AUTO int fd = open(tmp.p, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_set(err, -errno, "'%s': %s", tmp.p, errtab_text(errno));
    int r = write_to(s, who, fd, ret, err);
    if (r == 0 && (fsync(fd) || rename(tmp.p, path)))
        r = err_set(err, -errno, "'%s': %s", path, errtab_text(errno));
    if (r)
        unlink(tmp.p);
    return r;
}

int cli_export(int argc, char **argv)
{
    struct cli_common c;
    int r = cli_options_read(&c, "export", argc, argv, NULL, 2, 2, "a session and a file");
    struct state *s = r ? NULL : cli_state_open(&c, false);
    if (!s)
        return r > 0 ? 0 : CLI_FAILED;
    bool to_stdout = strcmp(c.argv[1], "-") == 0;
    struct state_portable rep;
    struct err err = {0};
    BUF_AUTO struct buf out;
    buf_init(&out, 4096);
    if (to_stdout && (isatty(1) || c.json))
        r = err_set(&err, -EINVAL,
                    c.json ? "--json and '-' both want standard output: name a file"
                           : "standard output is a terminal: name a file, or pipe it");
    else if (to_stdout)
        r = write_to(s, c.argv[0], 1, &rep, &err);
    else
        r = write_file(s, c.argv[0], c.argv[1], &rep, &err);
    if (r == 0 && c.json) {
        const struct json_member m[] = {
            JSON_TEXT("session", str_c(rep.id)),     JSON_TEXT_OR_NULL("name", str_c(rep.name)),
            JSON_TEXT("file", str_c(c.argv[1])),     JSON_NUMBER("bytes", rep.bytes),
            JSON_NUMBER("blobs", rep.blobs),         JSON_NUMBER("events", rep.events),
            JSON_NUMBER("snapshots", rep.snapshots), JSON_HASH("root", rep.state.root.b),
        };
        json_object_line(&out, m, sizeof(m) / sizeof(m[0]));
    } else if (r == 0 && !to_stdout) {
        buf_addf(&out, "%s: ", c.argv[1]);
        cli_put_count(&out, rep.events, "event");
        buf_addc(&out, ", ");
        cli_put_count(&out, rep.snapshots, "snapshot");
        buf_addc(&out, ", ");
        cli_put_count(&out, rep.blobs, "blob");
        buf_addc(&out, ", ");
        cli_put_size(&out, rep.bytes);
        buf_putc(&out, '\n');
    }
    state_close(s);
    return r ? cli_fail(&err) : cli_print(&out) ? CLI_FAILED : 0;
}
