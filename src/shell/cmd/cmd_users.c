/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/users.h"

#include <errno.h>

#include "shell/cmd/cmd.h"

/* A file larger than this is read as if it ended there; Debian's have a few KiB. */
#define USERS_FILE_MAX (4u << 20)

struct users_db {
    bool loaded;
    struct user_entry *v;
    size_t n;
    size_t last; /* hit before: ls asks for the same one again and again */
};

struct cmd_users {
    struct users_db db[2]; /* users, groups */
};

/* The field that starts at *at, up to ':' or the end; *at goes behind it. */
static struct str field(struct str line, size_t *at)
{
    ptrdiff_t e = str_find(line, ':', *at);
    size_t end = e < 0 ? line.n : (size_t)e;
    struct str f = str_of(line.p + *at, end - *at);
    *at = end < line.n ? end + 1 : line.n;
    return f;
}

static void add_line(struct cmd *c, struct users_db *db, bool group, struct str line)
{
    size_t at = 0;
    uint64_t id = 0, gid = 0;
    struct str name = field(line, &at);
    field(line, &at);
    if (name.n == 0 || name.p[0] == '#' || str_u64(field(line, &at), &id) != 0 || id > UINT32_MAX)
        return;
    struct str fourth = field(line, &at);
    if (group)
        gid = id;
    else if (str_u64(fourth, &gid) != 0 || gid > UINT32_MAX)
        return;
    db->v[db->n++] = (struct user_entry){
        .name = arena_dup(c->keep, name.p, name.n),
        .id = (uint32_t)id,
        .gid = (uint32_t)gid,
        .members = group ? fourth : (struct str){NULL, 0},
    };
}

static void load(struct cmd *c, struct users_db *db, bool group)
{
    struct vfs_ctx ctx = cmd_ctx(c);
    struct vfs_handle *h;
    db->loaded = true;
    if (vfs_open(cmd_vfs(c), &ctx, 0, group ? STR("/etc/group") : STR("/etc/passwd"), O_RDONLY, 0, &h) < 0)
        return;
    uint64_t size = vfs_handle_size(h);
    if (size > USERS_FILE_MAX)
        size = USERS_FILE_MAX;
    char *text = arena_try(c->keep, size + 1);
    ssize_t n = text ? vfs_pread(h, text, size, 0) : -1;
    vfs_close(h);
    if (n <= 0)
        return;
    size_t lines = 1;
    for (ssize_t i = 0; i < n; i++)
        lines += text[i] == '\n';
    db->v = arena_try(c->keep, lines * sizeof *db->v);
    struct str all = str_of(text, (size_t)n);
    for (size_t at = 0; db->v && at < all.n;) {
        ptrdiff_t e = str_find(all, '\n', at);
        size_t end = e < 0 ? all.n : (size_t)e;
        add_line(c, db, group, str_of(all.p + at, end - at));
        at = end + 1;
    }
}

static struct users_db *users(struct cmd *c, bool group)
{
    if (!c->users)
        c->users = ARENA_NEW(c->keep, struct cmd_users);
    struct users_db *db = &c->users->db[group];
    if (!db->loaded)
        load(c, db, group);
    return db;
}

const struct user_entry *users_table(struct cmd *c, bool groups, size_t *ret_n)
{
    struct users_db *db = users(c, groups);
    *ret_n = db->n;
    return db->v;
}

static const char *name_of(struct cmd *c, bool group, uint32_t id)
{
    struct users_db *db = users(c, group);
    if (db->last < db->n && db->v[db->last].id == id)
        return db->v[db->last].name;
    for (size_t i = 0; i < db->n; i++)
        if (db->v[i].id == id) {
            db->last = i;
            return db->v[i].name;
        }
    return NULL;
}

static const struct user_entry *entry_of(struct cmd *c, bool group, const char *name)
{
    struct users_db *db = users(c, group);
    for (size_t i = 0; i < db->n; i++)
        if (strcmp(db->v[i].name, name) == 0)
            return &db->v[i];
    return NULL;
}

const char *cmd_user_name(struct cmd *c, uint32_t uid)
{
    return name_of(c, false, uid);
}

const char *cmd_group_name(struct cmd *c, uint32_t gid)
{
    return name_of(c, true, gid);
}

int cmd_user_id(struct cmd *c, const char *name, uint32_t *ret_uid, uint32_t *ret_gid)
{
    const struct user_entry *e = entry_of(c, false, name);
    if (!e)
        return -ENOENT;
    *ret_uid = e->id;
    if (ret_gid)
        *ret_gid = e->gid;
    return 0;
}

int cmd_group_id(struct cmd *c, const char *name, uint32_t *ret)
{
    const struct user_entry *e = entry_of(c, true, name);
    if (!e)
        return -ENOENT;
    *ret = e->id;
    return 0;
}

static bool is_member(struct str members, const char *name)
{
    for (size_t at = 0; at < members.n;) {
        ptrdiff_t e = str_find(members, ',', at);
        size_t end = e < 0 ? members.n : (size_t)e;
        if (str_eqc(str_of(members.p + at, end - at), name))
            return true;
        at = end + 1;
    }
    return false;
}

size_t users_group_list(struct cmd *c, const char *name, uint32_t gid, uint32_t *out, size_t cap)
{
    struct users_db *db = users(c, true);
    size_t n = 0;
    if (cap > 0)
        out[n++] = gid;
    for (size_t i = 0; i < db->n && n < cap; i++)
        if (db->v[i].id != gid && is_member(db->v[i].members, name))
            out[n++] = db->v[i].id;
    return n;
}
