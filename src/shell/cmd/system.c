/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/system.h"

#include "shell/cmd/cmd.h"

static const char *first_line(struct cmd *c, const char *path)
{
    char text[512];
    struct vfs_ctx ctx = cmd_ctx(c);
    struct vfs_handle *h;
    if (vfs_open(cmd_vfs(c), &ctx, 0, str_c(path), O_RDONLY, 0, &h) < 0)
        return NULL;
    ssize_t n = vfs_pread(h, text, sizeof text, 0);
    vfs_close(h);
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
