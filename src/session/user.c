/* SPDX-License-Identifier: Apache-2.0 */

/* Users of a session come from the tree's own /etc/passwd and /etc/group, never from the host's. */

#include "session/session_int.h"

#include <errno.h>
#include <fcntl.h>

#include "base/mem.h"

const struct vfs_cred session__root_cred = {0};

int session__read_file(struct vfs *v, struct str path, struct buf *out)
{
    struct vfs_ctx ctx = {&session__root_cred, VFS_ROOT_INO, 022};
    struct vfs_handle *h;
    int e = vfs_open(v, &ctx, 0, path, O_RDONLY, 0, &h);
    if (e)
        return e;
    char block[4096];
    uint64_t off = 0;
    ssize_t n;
    while ((n = vfs_pread(h, block, sizeof(block), off)) > 0) {
        off += (uint64_t)n;
        if (buf_add(out, block, (size_t)n))
            break;
    }
    vfs_close(h);
    return n < 0 ? (int)n : out->err;
}

/* Cuts the text up to @sep off the front of *s. */
static struct str cut(struct str *s, char sep)
{
    ptrdiff_t i = str_find(*s, sep, 0);
    struct str head = i < 0 ? *s : str_of(s->p, (size_t)i);
    *s = i < 0 ? str_of(s->p + s->n, 0) : str_from(*s, (size_t)i + 1);
    return head;
}

static bool id_of(struct str s, uint32_t *ret)
{
    uint64_t v;
    if (str_u64(s, &v) || v >= UINT32_MAX)
        return false;
    *ret = (uint32_t)v;
    return true;
}

static bool user_from_line(struct str line, struct str who, struct session_user *u)
{
    struct str name = cut(&line, ':');
    cut(&line, ':');
    struct str uid_text = cut(&line, ':');
    uint32_t uid, gid;
    if (!id_of(uid_text, &uid) || !id_of(cut(&line, ':'), &gid))
        return false;
    if (!str_eq(name, who) && !str_eq(uid_text, who))
        return false;
    cut(&line, ':');
    struct str home = cut(&line, ':');
    u->cred.uid = uid;
    u->cred.gid = gid;
    u->name = mem_dup(name.p, name.n);
    u->home = mem_dup(home.p, home.n);
    u->shell = mem_dup(line.p, line.n);
    return true;
}

static void add_groups(struct str text, struct session_user *u)
{
    struct str name = str_c(u->name);
    while (text.n && u->cred.n_groups < LIMIT_GROUPS) {
        struct str line = cut(&text, '\n');
        cut(&line, ':');
        cut(&line, ':');
        uint32_t gid;
        if (!id_of(cut(&line, ':'), &gid) || gid == u->cred.gid)
            continue;
        bool in = false;
        while (line.n && !in)
            in = str_eq(cut(&line, ','), name);
        if (in)
            u->cred.groups[u->cred.n_groups++] = gid;
    }
}

int session__find_user(struct vfs *v, struct str who, struct session_user *ret)
{
    BUF_AUTO struct buf b;
    buf_init(&b, 1u << 20);
    int e = session__read_file(v, STR("/etc/passwd"), &b);
    if (e)
        return e;
    struct session_user u = {0};
    struct str text = buf_str(&b);
    bool found = false;
    while (text.n && !found)
        found = user_from_line(cut(&text, '\n'), who, &u);
    if (!found) {
        uint32_t uid;
        if (!id_of(who, &uid))
            return -ENOENT;
        /* A number without an entry is a user without a name, as with su and docker -u. */
        u = (struct session_user){.cred = {.uid = uid, .gid = uid},
                                  .name = mem_dup(who.p, who.n),
                                  .home = mem_dup("/", 1),
                                  .shell = mem_dup("/bin/sh", 7)};
    }
    buf_clear(&b);
    if (session__read_file(v, STR("/etc/group"), &b) == 0)
        add_groups(buf_str(&b), &u);
    *ret = u;
    return 0;
}

void session__user_done(struct session_user *u)
{
    mem_free(u->name);
    mem_free(u->home);
    mem_free(u->shell);
    *u = (struct session_user){0};
}
