/* SPDX-License-Identifier: Apache-2.0 */

/* --diff: what the command changed. */

#include "cli/cli.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "vfs/vfs.h"

static int keep(void *arg, const struct wire_change *c)
{
    struct cli_changes *all = arg;
    if (all->n == all->cap) {
        all->cap = all->cap ? 2 * all->cap : 64;
        all->v = mem_realloc(all->v, all->cap * sizeof(*all->v));
    }
    all->v[all->n++] = (struct cli_change){
        .kind = c->kind,
        .content = c->content,
        .old_st = c->old_st,
        .new_st = c->new_st,
        .path = str_of(mem_dup(c->path.p, c->path.n), c->path.n),
        .diff = str_of(mem_dup(c->diff.p, c->diff.n), c->diff.n),
    };
    return 0;
}

int cli_changes_get(struct driver *d, bool text, struct cli_changes *ret, struct err *err)
{
    *ret = (struct cli_changes){0};
    return driver_diff(d, text, str_of(NULL, 0), keep, ret, err);
}

void cli_changes_done(struct cli_changes *c)
{
    for (size_t i = 0; i < c->n; i++) {
        mem_free((void *)(uintptr_t)c->v[i].path.p);
        mem_free((void *)(uintptr_t)c->v[i].diff.p);
    }
    mem_free(c->v);
    *c = (struct cli_changes){0};
}

const char *cli_change_name(uint8_t kind)
{
    switch ((enum vfs_change_kind)kind) {
    case VFS_ADDED:
        return "added";
    case VFS_REMOVED:
        return "removed";
    case VFS_MODIFIED:
        return "modified";
    case VFS_META:
        return "meta";
    }
    return "unknown";
}

void cli_changes_print(const struct cli_changes *c, bool text, struct buf *out)
{
    static const char letters[] = "ADMm";
    for (size_t i = 0; i < c->n; i++) {
        const struct cli_change *ch = &c->v[i];
        if (text && ch->diff.n) {
            buf_adds(out, ch->diff);
            continue;
        }
        buf_putc(out, ch->kind < 4 ? letters[ch->kind] : '?');
        buf_putc(out, ' ');
        cli_put_path(out, ch->path);
        if (S_ISDIR(ch->new_st.mode | (ch->new_st.mode ? 0 : ch->old_st.mode)))
            buf_putc(out, '/');
        if (ch->kind == VFS_META && ch->old_st.mode != ch->new_st.mode)
            buf_addf(out, " (mode %04o -> %04o)", ch->old_st.mode & 07777, ch->new_st.mode & 07777);
        else if (ch->kind == VFS_META && ch->old_st.uid == ch->new_st.uid && ch->old_st.gid == ch->new_st.gid)
            buf_addc(out, ch->old_st.mtime == ch->new_st.mtime ? " (links)" : " (time)");
        else if (ch->kind == VFS_META)
            buf_addf(out, " (owner %u:%u -> %u:%u)", ch->old_st.uid, ch->old_st.gid, ch->new_st.uid, ch->new_st.gid);
        buf_putc(out, '\n');
    }
}
