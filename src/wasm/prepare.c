/* SPDX-License-Identifier: Apache-2.0 */
#include "wasm/wasm_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"

/* The first bytes of a file of the host, as text: 0 or -errno. */
static int head_of(const char *path, char *buf, size_t n)
{
    FD_AUTO int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    ssize_t r = fd < 0 ? -1 : read(fd, buf, n - 1);
    if (r < 0)
        return -errno;
    buf[r] = 0;
    return 0;
}

/* Whether the cgroup of this process may not swap (cgroup v2). */
static bool cgroup_never_swaps(void)
{
    char line[512], path[sizeof(line) + 64], max[16];
    if (head_of("/proc/self/cgroup", line, sizeof(line)))
        return false;
    const char *at = strstr(line, "0::");
    if (!at)
        return false;
    snprintf(path, sizeof(path), "/sys/fs/cgroup%.*s/memory.swap.max", (int)strcspn(at + 3, "\n"), at + 3);
    return head_of(path, max, sizeof(max)) == 0 && strcmp(max, "0\n") == 0;
}

static bool swaps(void)
{
    /* A heading, then a line for each area. */
    char text[512];
    if (head_of("/proc/swaps", text, sizeof(text)))
        return true;
    const char *second = strchr(text, '\n');
    return second && second[1] && !cgroup_never_swaps();
}

bool wasm_built(void)
{
    return true;
}

int wasm_prepare(void)
{
    if (swaps())
        return -EBUSY;
    /* Wasmtime keeps the descriptor to itself. It gets the lowest free number, as this one does before it. */
    int lowest = (int)syscall(SYS_openat, AT_FDCWD, "/", O_PATH | O_CLOEXEC);
    if (lowest < 0)
        return -errno;
    int fd = lowest;
    fd_close(&lowest);
    if (!wtx_pagemap_open())
        return -EOPNOTSUPP;
    return fcntl(fd, F_GETFD) < 0 ? -EOPNOTSUPP : fd;
}
