/* SPDX-License-Identifier: Apache-2.0 */

/*
 * cmd_host [-C HOSTDIR] [-u UID] [-e K=V]… COMMAND [ARG…] [";;" COMMAND [ARG…]]…
 *
 * Runs commands of ours on this machine's standard streams, with HOSTDIR mounted copy-on-write at the same path and as
 * the working directory: what tests/cmd_compare runs beside the real tools. The exit status is the last command's.
 */

#include <fcntl.h>
#include <unistd.h>

#include "shell/cmd/test/cmd_world.h"

static struct str read_in(struct buf *b)
{
    char text[65536];
    ssize_t n;
    buf_init(b, SIZE_MAX / 2);
    if (!isatty(0))
        while ((n = read(0, text, sizeof text)) > 0)
            buf_add(b, text, (size_t)n);
    return buf_str(b);
}

int main(int argc, char **argv)
{
    struct cmd_world w;
    char *env[64];
    int n_env = 0, i = 1;
    cmd_world_init(&w);
    w.to_host = true;
    for (; i + 1 < argc && argv[i][0] == '-'; i += 2) {
        if (argv[i][1] == 'C') {
            int fd = open(argv[i + 1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
            w.cwd = argv[i + 1];
            if (fd < 0 || vfs_mount_host(w.v, str_c(w.cwd), fd, VFS_MOUNT_COW, getuid(), getgid(), w.uid, w.uid) < 0)
                return 125;
        } else if (argv[i][1] == 'u') {
            w.uid = (uint32_t)strtoul(argv[i + 1], NULL, 10);
        } else if (n_env < 48) {
            env[n_env++] = argv[i + 1];
        }
    }
    for (char **e = w.env; *e; e++)
        env[n_env++] = *e;
    env[n_env] = NULL;
    w.env = env;
    struct buf in;
    struct str text = read_in(&in);
    struct outcome o = {.kind = OUTCOME_LOST};
    while (i < argc) {
        int n = 0;
        while (i + n < argc && strcmp(argv[i + n], ";;") != 0)
            n++;
        char *after = argv[i + n];
        argv[i + n] = NULL;
        o = cmd_world_run(&w, n, argv + i, text);
        argv[i + n] = after;
        i += n + 1;
    }
    buf_done(&in);
    cmd_world_done(&w);
    return outcome_status(o);
}
