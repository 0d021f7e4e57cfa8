/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/file_type.h"

#include <sys/stat.h>

#include "vfs/vfs.h"

const char *file_type_text(const struct vfs_stat *st)
{
    switch (st->mode & S_IFMT) {
    case S_IFREG:
        return st->size == 0 ? "regular empty file" : "regular file";
    case S_IFDIR:
        return "directory";
    case S_IFLNK:
        return "symbolic link";
    case S_IFIFO:
        return "fifo";
    case S_IFSOCK:
        return "socket";
    case S_IFCHR:
        return "character special file";
    case S_IFBLK:
        return "block special file";
    default:
        return "weird file";
    }
}
