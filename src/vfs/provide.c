/* SPDX-License-Identifier: Apache-2.0 */
#include "vfs/vfs_int.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/buf.h"

/*
 * An inode number of a provided node, from the top: bit 62, six bits of mount, sixteen of mode, forty of id. So a
 * number alone tells what the node is, and nothing has to be remembered for what was looked up once.
 */

#define ID_BITS 40
#define MODE_SHIFT ID_BITS
#define MOUNT_SHIFT (MODE_SHIFT + 16)
#define ID_MASK ((UINT64_C(1) << ID_BITS) - 1)
#define ROOT_ID 1
#define ROOT_MODE 0555
#define MOST_DEPTH 8 /* directories a provider may nest for its ".." to be found by looking */

static uint64_t id_of(uint64_t ino)
{
    return ino & ID_MASK;
}

static uint32_t mode_of(uint64_t ino)
{
    return (uint32_t)(ino >> MODE_SHIFT) & 0xffff;
}

static unsigned index_of(uint64_t ino)
{
    return (unsigned)(ino >> MOUNT_SHIFT) & (LIMIT_MOUNTS - 1);
}

/* The provider behind a number, or NULL: numbers come from callers. */
static const struct mount *provider(const struct vfs *v, uint64_t ino)
{
    unsigned i = index_of(ino);
    return v->mounts && i < v->mounts->n && v->mounts->m[i].ops ? &v->mounts->m[i] : NULL;
}

uint64_t vfs__provided_ino(uint64_t like, uint64_t id, uint32_t mode)
{
    if (id == 0 || id > ID_MASK)
        return 0;
    if (id == ROOT_ID)
        mode = S_IFDIR | ROOT_MODE; /* it has one number, whatever a provider's ".." says of it */
    return VFS_PROVIDED | (uint64_t)index_of(like) << MOUNT_SHIFT | (uint64_t)(mode & 0xffff) << MODE_SHIFT | id;
}

uint64_t vfs__provided_root(unsigned index)
{
    return vfs__provided_ino((uint64_t)index << MOUNT_SHIFT, ROOT_ID, S_IFDIR | ROOT_MODE);
}

bool vfs__provided_top(uint64_t ino)
{
    return id_of(ino) == ROOT_ID;
}

int vfs__provided_node(const struct vfs *v, uint64_t ino, struct node *tmp)
{
    const struct mount *m = provider(v, ino);
    if (!m)
        return -ESTALE;
    *tmp = (struct node){.refs = 1,
                         .mode = mode_of(ino),
                         .nlink = S_ISDIR(mode_of(ino)) ? 2 : 1,
                         .flags = vfs__provided_top(ino) ? NODE_TOP : 0,
                         .mount = (uint16_t)(index_of(ino) + 1)};
    tmp->atime = tmp->mtime = tmp->ctime = tmp->btime = m->time;
    if (m->ops->owner)
        m->ops->owner(m->arg, id_of(ino), &tmp->uid, &tmp->gid);
    struct str s;
    if (m->ops->bytes && !S_ISDIR(tmp->mode) && m->ops->bytes(m->arg, id_of(ino), &s) == 0)
        tmp->size = s.n;
    return 0;
}

int vfs__provided_child(const struct vfs *v, uint64_t dir, struct str name, uint64_t *ret_ino, uint32_t *ret_type)
{
    const struct mount *m = provider(v, dir);
    uint64_t id;
    uint32_t mode;
    if (!m)
        return -ESTALE;
    if (!S_ISDIR(mode_of(dir)))
        return -ENOTDIR;
    if (name.n > LIMIT_NAME)
        return -ENAMETOOLONG;
    int rc = m->ops->lookup(m->arg, id_of(dir), name, &id, &mode);
    if (rc < 0)
        return rc;
    uint64_t ino = vfs__provided_ino(dir, id, mode);
    if (ino == 0)
        return -EOVERFLOW;
    *ret_ino = ino;
    *ret_type = mode & S_IFMT;
    return 0;
}

/* The directory below @dir that holds @target, 0 when there is none. For providers that do not know "..". */
static uint64_t find_parent(const struct vfs *v, uint64_t dir, uint64_t target, int depth)
{
    char name[LIMIT_NAME + 1] = "";
    uint64_t ino;
    uint32_t mode;
    while (vfs__provided_next(v, dir, str_c(name), name, &ino, &mode) == 1) {
        if (id_of(ino) == id_of(target))
            return dir;
        uint64_t found = S_ISDIR(mode) && depth > 0 ? find_parent(v, ino, target, depth - 1) : 0;
        if (found)
            return found;
    }
    return 0;
}

int vfs__provided_parent(const struct vfs *v, uint64_t dir, uint64_t *ret)
{
    const struct mount *m = provider(v, dir);
    uint32_t type;
    if (!m)
        return -ESTALE;
    if (vfs__provided_top(dir)) {
        *ret = m->parent;
        return 0;
    }
    if (vfs__provided_child(v, dir, STR(".."), ret, &type) == 0)
        return 0;
    uint64_t found = find_parent(v, vfs__provided_root(index_of(dir)), dir, MOST_DEPTH);
    if (!found)
        return -ENOENT;
    *ret = found;
    return 0;
}

int vfs__provided_read(const struct vfs *v, uint64_t ino, struct buf *out)
{
    const struct mount *m = provider(v, ino);
    return m ? m->ops->read(m->arg, id_of(ino), out) : -ESTALE;
}

int vfs__provided_bytes(const struct vfs *v, uint64_t ino, struct str *ret)
{
    const struct mount *m = provider(v, ino);
    return !m ? -ESTALE : m->ops->bytes ? m->ops->bytes(m->arg, id_of(ino), ret) : -EOPNOTSUPP;
}

int vfs__provided_next(const struct vfs *v, uint64_t dir, struct str after, char *name, uint64_t *ret_ino,
                       uint32_t *ret_mode)
{
    const struct mount *m = provider(v, dir);
    char found[LIMIT_NAME + 1]; /* @after may lie in @name */
    uint64_t id;
    uint32_t mode;
    if (!m)
        return -ESTALE;
    if (!S_ISDIR(mode_of(dir)))
        return -ENOTDIR;
    int rc = m->ops->next(m->arg, id_of(dir), after, found, &id, &mode);
    if (rc <= 0)
        return rc;
    uint64_t ino = vfs__provided_ino(dir, id, mode);
    if (ino == 0)
        return -EOVERFLOW;
    found[LIMIT_NAME] = 0;
    memcpy(name, found, strlen(found) + 1);
    *ret_ino = ino;
    *ret_mode = mode;
    return 1;
}
