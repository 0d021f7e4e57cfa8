/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Hostile images: the input is cut into blobs, which a store in memory gives out under whatever name is asked for; then
 * the tree is walked, read and changed.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/buf.h"
#include "vfs/image.h"
#include "vfs/vfs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t *input;
static size_t input_n, at;

/* Any name leads to the next piece: two bytes of length, then the bytes. */
int cas_get(struct cas *c, const struct cas_id *id, struct buf *out)
{
    (void)c;
    (void)id;
    if (at + 2 > input_n)
        return -ENOENT;
    size_t n = input[at] | (size_t)input[at + 1] << 8;
    at += 2;
    n = n < input_n - at ? n : input_n - at;
    int rc = buf_add(out, input + at, n);
    at += n;
    return rc;
}

int cas_put(struct cas *c, struct str data, struct cas_id *ret)
{
    (void)c;
    (void)data;
    *ret = (struct cas_id){{1}};
    return 0;
}

int cas_put_unless(struct cas *c, struct str data, const struct cas_id *named, struct cas_id *ret)
{
    (void)named;
    return cas_put(c, data, ret);
}

int cas_id_cmp(const struct cas_id *a, const struct cas_id *b)
{
    return memcmp(a->b, b->b, sizeof(a->b));
}

static void use(struct vfs *v, const char *path)
{
    static const struct vfs_cred root;
    const struct vfs_ctx ctx = {&root, VFS_ROOT_INO, 022};
    struct vfs_handle *h;
    struct vfs_stat st;
    char text[300];
    (void)vfs_stat(v, &ctx, 0, str_c(path), VFS_NOFOLLOW, &st);
    if (vfs_open(v, &ctx, 0, str_c(path), O_RDONLY, 0, &h) == 0) {
        (void)vfs_pread(h, text, sizeof(text), 60000);
        vfs_close(h);
    }
}

static int see(void *arg, const struct vfs_dirent *e)
{
    char path[LIMIT_NAME + 2];
    int n = snprintf(path, sizeof(path), "/%.*s", (int)e->name.n, e->name.p);
    if (n > 0)
        use(arg, path);
    return 0;
}

static int known(void *arg, const struct cas_id *id)
{
    (void)id;
    return --*(int *)arg > 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vfs_image_env env = {.quota = {1 << 20, 1000}};
    struct cas_id image = {{0}}, root;
    struct vfs *v;
    struct vfs_canon *k;
    int budget = 200;
    input = data;
    input_n = size;
    at = 0;
    (void)vfs_image_walk(NULL, &image, known, NULL, &budget);
    at = 0;
    if (vfs_image_load(NULL, &image, &env, &v, &k, &root))
        return 0;
    (void)vfs_dir_each(v, VFS_ROOT_INO, see, v);
    use(v, "/a");
    use(v, "/a/b");
    vfs_canon_free(k);
    vfs_free(v);
    return 0;
}
