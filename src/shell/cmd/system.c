/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/system.h"

#include "shell/cmd/cmd.h"

#define FILE_MAX 65536u

/* What is read of @path into @text, or -errno. */
static ssize_t read_into(struct cmd *c, const char *path, char *text, size_t cap)
{
    struct vfs_ctx ctx = cmd_ctx(c);
    struct vfs_handle *h;
    int r = vfs_open(cmd_vfs(c), &ctx, 0, str_c(path), O_RDONLY, 0, &h);
    if (r < 0)
        return r;
    ssize_t n = vfs_pread(h, text, cap, 0);
    vfs_close(h);
    return n;
}

const char *system_file(struct cmd *c, const char *path, size_t *ret_n)
{
    char *block = cmd_block_get();
    ssize_t n = read_into(c, path, block, FILE_MAX);
    const char *text = n < 0 ? NULL : arena_dup(c->arena, block, (size_t)n);
    cmd_block_put(block);
    *ret_n = n < 0 ? 0 : (size_t)n;
    return text;
}

static const char *first_line(struct cmd *c, const char *path)
{
    char text[512];
    ssize_t n = read_into(c, path, text, sizeof text);
    if (n <= 0)
        return NULL;
    char *e = memchr(text, '\n', (size_t)n);
    return arena_dup(c->arena, text, e ? (size_t)(e - text) : (size_t)n);
}

const char *system_text(struct cmd *c, const char *name)
{
    return first_line(c, arena_printf(c->arena, "/proc/sys/kernel/%s", name));
}

const char *system_hostname(struct cmd *c)
{
    const char *name = system_text(c, "hostname");
    if (!name || !*name)
        name = first_line(c, "/etc/hostname");
    return name && *name ? name : "localhost";
}
