/* SPDX-License-Identifier: Apache-2.0 */

/* frontal-sandbox import: a session from a file that export wrote. */

#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "cli/view.h"
#include "snapshot/portable.h"
#include "types/errtab.h"
#include "wire/json_object.h"

struct reading {
    struct cli_progress p;
    uint64_t size; /* 0: nobody knows */
};

static void progress(void *arg, uint64_t done)
{
    struct reading *rd = arg;
    cli_progress_show(&rd->p, rd->size ? done : done >> 10, rd->size);
}

int cli_import(int argc, char **argv)
{
    struct cli_common c;
    const char *name = "";
    bool mounts = false;
    const struct cli_opt opts[] = {
        {"name", CLI_OPT_TEXT, &name}, {"mounts", CLI_OPT_FLAG, &mounts}, {NULL, CLI_OPT_FLAG, NULL}};
    int r = cli_options_read(&c, "import", argc, argv, opts, 1, 1, "one file");
    if (r)
        return r > 0 ? 0 : CLI_FAILED;
    FD_AUTO int fd = strcmp(c.argv[0], "-") == 0 ? 0 : open(c.argv[0], O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st)) {
        cli_error("import: '%s': %s", c.argv[0], errtab_text(errno));
        return CLI_FAILED;
    }
    struct state *s = cli_state_open(&c, true);
    if (!s)
        return CLI_FAILED;
    struct reading rd = {.size = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0};
    struct state_portable rep;
    struct cli_view v;
    struct err err = {0};
    BUF_AUTO struct buf out;
    buf_init(&out, 4096);
    cli_view_init(&v);
    cli_progress_begin(&rd.p, rd.size ? "import" : "KiB read");
    r = state_import(s, fd, str_c(name), mounts, progress, &rd, &rep, &err);
    cli_progress_end(&rd.p);
    state_close(s);
    if (r) {
        cli_error("import: %s", err.text);
        return r == -EBADMSG ? 1 : CLI_FAILED;
    }
    if (c.json) {
        const struct json_member m[] = {
            JSON_TEXT("id", str_c(rep.id)),      JSON_TEXT_OR_NULL("name", str_c(rep.name)),
            JSON_NUMBER("bytes", rep.bytes),     JSON_NUMBER("blobs", rep.blobs),
            JSON_NUMBER("events", rep.events),   JSON_NUMBER("snapshots", rep.snapshots),
            JSON_HASH("root", rep.state.root.b),
        };
        json_object_line(&out, m, sizeof(m) / sizeof(m[0]));
    } else {
        buf_addf(&out, "%s %s: ", rep.name[0] ? rep.name : "-", rep.id);
        cli_put_count(&out, rep.events, "event");
        buf_addc(&out, ", ");
        cli_put_count(&out, rep.snapshots, "snapshot");
        buf_addc(&out, ", ");
        cli_put_hash(&v, &out, &rep.state.root);
        buf_putc(&out, '\n');
    }
    return cli_print(&out) ? CLI_FAILED : 0;
}
