/* SPDX-License-Identifier: Apache-2.0 */
#include "proc/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/buf.h"

/* What a Debian 12 machine has that scripts look at, and nothing that would claim to be more than it is. */

struct dir_def {
    const char *path;
    uint32_t mode, uid;
};

static const struct dir_def dirs[] = {
    {"/usr", 0755, 0},
    {"/usr/bin", 0755, 0},
    {"/usr/sbin", 0755, 0},
    {"/usr/lib", 0755, 0},
    {"/usr/lib/frontal", 0755, 0}, /* the userland's own files, where there is one */
    {"/usr/lib64", 0755, 0},
    {"/usr/share", 0755, 0},
    {"/usr/local", 0755, 0},
    {"/usr/local/bin", 0755, 0},
    {"/usr/local/sbin", 0755, 0},
    {"/usr/local/lib", 0755, 0},
    {"/usr/local/share", 0755, 0},
    {"/usr/include", 0755, 0},
    {"/etc", 0755, 0},
    {"/etc/profile.d", 0755, 0},
    {"/etc/skel", 0755, 0},
    {"/boot", 0755, 0},
    {"/dev", 0755, 0},
    {"/dev/shm", 01777, 0},
    {"/home", 0755, 0},
    {"/home/user", 0755, 1000},
    {"/media", 0755, 0},
    {"/mnt", 0755, 0},
    {"/opt", 0755, 0},
    {"/proc", 0555, 0},
    {"/root", 0700, 0},
    {"/run", 0755, 0},
    {"/run/lock", 01777, 0},
    {"/srv", 0755, 0},
    {"/sys", 0555, 0},
    {"/tmp", 01777, 0},
    {"/var", 0755, 0},
    {"/var/backups", 0755, 0},
    {"/var/cache", 0755, 0},
    {"/var/lib", 0755, 0},
    {"/var/log", 0755, 0},
    {"/var/mail", 0755, 0},
    {"/var/opt", 0755, 0},
    {"/var/spool", 0755, 0},
    {"/var/tmp", 01777, 0},
};

struct link_def {
    const char *path, *target;
};

static const struct link_def links[] = {
    {"/bin", "usr/bin"},
    {"/sbin", "usr/sbin"},
    {"/lib", "usr/lib"},
    {"/lib64", "usr/lib64"},
    {"/dev/fd", "/proc/self/fd"},
    {"/dev/stdin", "/proc/self/fd/0"},
    {"/dev/stdout", "/proc/self/fd/1"},
    {"/dev/stderr", "/proc/self/fd/2"},
    {"/etc/mtab", "../proc/self/mounts"},
    {"/etc/os-release", "../usr/lib/os-release"},
    {"/var/lock", "/run/lock"},
    {"/var/run", "/run"},
};

struct dev_def {
    const char *path;
    uint32_t mode, major, minor;
};

static const struct dev_def devs[] = {
    {"/dev/null", 0666, 1, 3},   {"/dev/zero", 0666, 1, 5},    {"/dev/full", 0666, 1, 7},
    {"/dev/random", 0666, 1, 8}, {"/dev/urandom", 0666, 1, 9}, {"/dev/tty", 0666, 5, 0},
};

struct file_def {
    const char *path, *text;
    uint32_t mode;
};

static const struct file_def files[] = {
    {"/etc/passwd",
     "root:x:0:0:root:/root:/bin/bash\n"
     "daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n"
     "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
     "user:x:1000:1000:user:/home/user:/bin/bash\n",
     0644},
    {"/etc/group", "root:x:0:\ndaemon:x:1:\ntty:x:5:\nstaff:x:50:\nusers:x:100:\nnogroup:x:65534:\nuser:x:1000:\n",
     0644},
    {"/etc/shadow", "root:*:19000:0:99999:7:::\nuser:*:19000:0:99999:7:::\n", 0640},
    {"/etc/hostname", PROC_UTS_NODENAME "\n", 0644},
    /* What git makes an address of for those who have set none. */
    {"/etc/mailname", PROC_UTS_NODENAME ".localdomain\n", 0644},
    {"/etc/hosts",
     "127.0.0.1\tlocalhost\n127.0.1.1\t" PROC_UTS_NODENAME "\n::1\tlocalhost ip6-localhost ip6-loopback\n", 0644},
    {"/etc/resolv.conf", "", 0644},
    {"/etc/debian_version", "12.0\n", 0644},
    {"/etc/issue", "Frontal Sandbox " FRONTAL_VERSION " \\n \\l\n\n", 0644},
    {"/etc/shells", "# /etc/shells: valid login shells\n/bin/sh\n/usr/bin/sh\n/bin/bash\n/usr/bin/bash\n", 0644},
    {"/etc/nsswitch.conf", "passwd:         files\ngroup:          files\nhosts:          files\n", 0644},
    {"/etc/bash.bashrc",
     "# Read by interactive shells.\n"
     "PS1='\\u@\\h:\\w\\$ '\n",
     0644},
    {"/etc/profile",
     "if [ \"$(id -u)\" -eq 0 ]; then\n"
     "  PATH=\"/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\"\n"
     "else\n"
     "  PATH=\"/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games\"\n"
     "fi\n"
     "export PATH\n"
     "for i in /etc/profile.d/*.sh; do\n"
     "  if [ -r \"$i\" ]; then\n"
     "    . \"$i\"\n"
     "  fi\n"
     "done\n"
     "unset i\n",
     0644},
    {"/usr/lib/os-release",
     "PRETTY_NAME=\"Frontal Sandbox " FRONTAL_VERSION " (Debian 12 userland)\"\n"
     "NAME=\"Frontal Sandbox\"\n"
     "VERSION_ID=\"12\"\n"
     "VERSION=\"12 (bookworm)\"\n"
     "VERSION_CODENAME=bookworm\n"
     "ID=debian\n",
     0644},
};

/* Who builds the tree: root, without a umask. */
static const struct vfs_cred root_cred = {0};
static const struct vfs_ctx root_ctx = {.cred = &root_cred, .cwd = VFS_ROOT_INO, .umask = 0};

static int make_dir(struct vfs *v, const struct dir_def *d)
{
    uint64_t ino;
    int r = vfs_mkdir(v, &root_ctx, 0, str_c(d->path), d->mode);
    if (r == 0)
        r = vfs_lookup(v, &root_ctx, 0, str_c(d->path), 0, &ino);
    if (r == 0 && (d->mode & 07000))
        r = vfs_chmod(v, &root_cred, ino, d->mode);
    if (r == 0 && d->uid)
        r = vfs_chown(v, &root_cred, ino, d->uid, d->uid);
    return r;
}

/* @path is from the directory @at. */
static int make_file(struct vfs *v, uint64_t at, struct str path, struct str text, uint32_t mode)
{
    struct vfs_handle *h;
    int r = vfs_open(v, &root_ctx, at, path, O_WRONLY | O_CREAT | O_EXCL, mode, &h);
    if (r < 0)
        return r;
    ssize_t n = vfs_pwrite(h, text.p, text.n, 0, NULL);
    vfs_close(h);
    return n < 0 ? (int)n : (size_t)n == text.n ? 0 : -EDQUOT;
}

/* Files in /usr/bin, each of @magic, its name and a newline; what is there stays. There may be some hundred, and every
 * worker makes them at its start. */
static int make_commands(struct vfs *v, struct str magic, const char *const *names, size_t n)
{
    char text[sizeof(PROC_TOOL_MAGIC) + LIMIT_NAME + 1];
    uint64_t bin;
    int r = vfs_lookup(v, &root_ctx, 0, STR("/usr/bin"), VFS_DIRECTORY, &bin);
    memcpy(text, magic.p, magic.n);
    for (size_t i = 0; i < n && r == 0; i++) {
        struct str name = str_c(names[i]);
        if (name.n > LIMIT_NAME)
            return -ENAMETOOLONG;
        memcpy(text + magic.n, name.p, name.n);
        text[magic.n + name.n] = '\n';
        r = make_file(v, bin, name, str_of(text, magic.n + name.n + 1), 0755);
        r = r == -EEXIST ? 0 : r;
    }
    return r;
}

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

int proc_base_tree(struct vfs *v, const char *const *names, size_t n_names, const char *const *tools, size_t n_tools)
{
    int r = 0;
    for (size_t i = 0; i < COUNT(dirs) && r == 0; i++)
        r = make_dir(v, &dirs[i]);
    for (size_t i = 0; i < COUNT(links) && r == 0; i++)
        r = vfs_symlink(v, &root_ctx, str_c(links[i].target), 0, str_c(links[i].path));
    for (size_t i = 0; i < COUNT(devs) && r == 0; i++)
        r = vfs_mknod(v, &root_ctx, 0, str_c(devs[i].path), S_IFCHR | devs[i].mode,
                      makedev(devs[i].major, devs[i].minor));
    for (size_t i = 0; i < COUNT(files) && r == 0; i++)
        r = make_file(v, 0, str_c(files[i].path), str_c(files[i].text), files[i].mode);
    if (r == 0)
        r = make_commands(v, STR(PROC_COMMAND_MAGIC), names, n_names);
    if (r == 0)
        r = make_commands(v, STR(PROC_TOOL_MAGIC), tools, n_tools);
    return r;
}
