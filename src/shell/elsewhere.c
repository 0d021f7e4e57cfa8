/* SPDX-License-Identifier: Apache-2.0 */

/* Commands that are not here, and what would have them. */

#include <stdlib.h>

#include "shell/shell_int.h"

/* Programs that only the userland has, sorted: what userland/build makes when all of it works. */
static const char *const userland[] = {
    "awk", "b2sum", "base32", "base64", "basenc", "bc", "bsdcat", "bsdtar", "bunzip2", "bzcat", "bzip2",
    "bzip2recover", "chgrp", "cksum", "cmp", "comm", "coreutils", "csplit", "dc", "dd", "diff", "diff3", "dir",
    "dircolors", "expand", "expr", "factor", "file", "fmt", "fold", "funzip", "gawk", "git", "git-receive-pack",
    "git-upload-archive", "git-upload-pack", "groups", "gunzip", "gzip", "hostid", "install", "join", "jq", "less",
    "link", "logname", "lua", "lua5.4", "luac", "luac5.4", "lzcat", "lzma", "lzmainfo", "md5sum", "mkfifo", "mknod",
    "more", "nice", "nl", "nohup", "nproc", "numfmt", "od", "pager", "paste", "patch", "pathchk", "pr", "printenv",
    "ptx", "python", "python3", "python3.11", "sdiff", "sed", "sha1sum", "sha224sum", "sha256sum", "sha384sum",
    "sha512sum", "shred", "shuf", "split", "sqlite3", "sum", "sync", "tac", "tar", "tclsh", "tclsh8.6", "tree",
    "truncate", "tsort", "tty", "uncompress", "unexpand", "unlink", "unlzma", "unxz", "unzip", "unzstd", "vdir", "xz",
    "xzcat", "xzdec", "zcat", "zip", "zipinfo", "zstd", "zstdcat", "zstdmt",
};

/* What agents often ask for and only a whole Linux machine could run, sorted. */
static const char *const machine[] = {
    "apt", "apt-get", "aptitude", "bundle", "c++", "cargo", "cc", "clang", "clang++", "cmake", "composer", "curl",
    "dig", "docker", "dotnet", "dpkg", "ffmpeg", "g++", "gcc", "gdb", "gem", "go", "gradle", "java", "javac", "ld",
    "make", "mvn", "nmap", "node", "nodejs", "npm", "npx", "ping", "pip", "pip3", "podman", "psql", "redis-cli", "rpm",
    "rsync", "rustc", "scp", "sftp", "ssh", "strace", "su", "sudo", "systemctl", "telnet", "wget", "yarn",
};

static int by_name(const void *key, const void *element)
{
    const struct str *name = key;
    const char *const *known = element;
    return str_cmp(*name, str_c(*known));
}

#define KNOWN(list, name) (bsearch(&(name), list, sizeof(list) / sizeof(*(list)), sizeof(*(list)), by_name) != NULL)

const char *sh_elsewhere(struct str name)
{
    if (KNOWN(userland, name))
        return "is a program of the userland, which is not built here (scripts/setup userland, then userland/build)";
    if (KNOWN(machine, name))
        return "needs a whole Linux machine, and this version starts none";
    return NULL;
}
