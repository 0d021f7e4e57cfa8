/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Commands that are not here, and what would have them; hints behind messages.
 *
 * A hint is a line of its own behind bash's message, and goes to the reader of the session only: where the script sends
 * its messages elsewhere (2>&1 in a pipeline or $( ), 2>file), what arrives there is what bash writes.
 */

#include <stdarg.h>
#include <stdlib.h>

#include "base/num.h"
#include "shell/builtin/compgen_int.h"
#include "shell/shell_int.h"

/* Programs that only the userland has, sorted: what userland/build makes when all of it works. */
static const char *const userland[] = {
    "arch", "awk", "b2sum", "base32", "base64", "basenc", "bc", "bsdcat", "bsdtar", "bunzip2", "bzcat", "bzip2",
    "bzip2recover", "chgrp", "cksum", "cmp", "comm", "coreutils", "csplit", "dc", "dd", "diff", "diff3", "dir",
    "dircolors", "expand", "expr", "factor", "file", "fmt", "fold", "funzip", "gawk", "git", "git-receive-pack",
    "git-upload-archive", "git-upload-pack", "groups", "gunzip", "gzip", "hostid", "install", "join", "jq", "link",
    "logname", "lua", "lua5.4", "luac", "luac5.4", "lzcat", "lzma", "lzmainfo", "md5sum", "mkfifo", "mknod", "nice",
    "nl", "nohup", "numfmt", "od", "pager", "paste", "patch", "pathchk", "pip", "pip3", "pr", "printenv", "ptx",
    "python", "python3", "python3.11", "rg", "sdiff", "sed", "sha1sum", "sha224sum", "sha256sum", "sha384sum",
    "sha512sum", "shred", "shuf", "split", "sqlite3", "sum", "sync", "tac", "tar", "tclsh", "tclsh8.6", "tree",
    "truncate", "tsort", "tty", "uncompress", "unexpand", "unlink", "unlzma", "unxz", "unzip", "unzstd", "vdir", "xz",
    "xzcat", "xzdec", "zcat", "zip", "zipinfo", "zstd", "zstdcat", "zstdmt",
};

/* C commands that the userland has no program for, sorted: what they cannot do nobody does. */
static const char *const alone[] = {
    "arch", "bash", "clear", "df", "free", "getconf", "getent", "hd", "hexdump", "hostname", "locale", "man", "pgrep",
    "pidof", "pkill", "ps", "reset", "rev", "sh", "stty", "sudo", "timeout", "top", "tput", "uptime", "users", "w",
    "which", "who", "xxd",
};

/* Why a kind of programs is not here. */
enum kind { PACKAGES, JAVASCRIPT, SERVICES, CONTAINERS, NETWORK, MACHINE };

static const char *const why[] = {
    [PACKAGES] = "installs packages, and nothing can be installed here; the programs that there are lie in /usr/bin",
    [JAVASCRIPT] = "runs JavaScript, and this version has no engine for it",
    [SERVICES] = "talks to a service manager, and none runs in a session",
    [CONTAINERS] = "starts containers, which needs a kernel, and this version starts none",
    [NETWORK] = "needs a network, and a session has none",
    [MACHINE] = "needs a whole Linux machine, and this version starts none",
};

/* What agents often ask for and only a whole Linux machine could run, sorted. */
static const struct absent {
    const char *name;
    enum kind kind;
} machine[] = {
    {"apk", PACKAGES},       {"apt", PACKAGES},      {"apt-get", PACKAGES},
    {"aptitude", PACKAGES},  {"brew", PACKAGES},     {"bun", JAVASCRIPT},
    {"bundle", MACHINE},     {"c++", MACHINE},       {"cargo", MACHINE},
    {"cc", MACHINE},         {"clang", MACHINE},     {"clang++", MACHINE},
    {"cmake", MACHINE},      {"composer", MACHINE},  {"curl", NETWORK},
    {"deno", JAVASCRIPT},    {"dig", NETWORK},       {"dmesg", MACHINE},
    {"dnf", PACKAGES},       {"docker", CONTAINERS}, {"docker-compose", CONTAINERS},
    {"dotnet", MACHINE},     {"dpkg", PACKAGES},     {"ffmpeg", MACHINE},
    {"g++", MACHINE},        {"gcc", MACHINE},       {"gdb", MACHINE},
    {"gem", PACKAGES},       {"go", MACHINE},        {"gradle", MACHINE},
    {"host", NETWORK},       {"ifconfig", NETWORK},  {"ip", NETWORK},
    {"java", MACHINE},       {"javac", MACHINE},     {"journalctl", SERVICES},
    {"kubectl", CONTAINERS}, {"ld", MACHINE},        {"lsblk", MACHINE},
    {"lscpu", MACHINE},      {"make", MACHINE},      {"meson", MACHINE},
    {"mount", MACHINE},      {"mvn", MACHINE},       {"mysql", NETWORK},
    {"nc", NETWORK},         {"netcat", NETWORK},    {"netstat", NETWORK},
    {"ninja", MACHINE},      {"nmap", NETWORK},      {"node", JAVASCRIPT},
    {"nodejs", JAVASCRIPT},  {"npm", JAVASCRIPT},    {"npx", JAVASCRIPT},
    {"nslookup", NETWORK},   {"ping", NETWORK},      {"pnpm", JAVASCRIPT},
    {"podman", CONTAINERS},  {"psql", NETWORK},      {"redis-cli", NETWORK},
    {"route", NETWORK},      {"rpm", PACKAGES},      {"rsync", NETWORK},
    {"rustc", MACHINE},      {"scp", NETWORK},       {"service", SERVICES},
    {"sftp", NETWORK},       {"snap", PACKAGES},     {"ss", NETWORK},
    {"ssh", NETWORK},        {"strace", MACHINE},    {"su", MACHINE},
    {"systemctl", SERVICES}, {"telnet", NETWORK},    {"traceroute", NETWORK},
    {"umount", MACHINE},     {"wget", NETWORK},      {"yarn", JAVASCRIPT},
    {"yum", PACKAGES},
};

static int by_name(const void *key, const void *element)
{
    const struct str *name = key;
    const char *const *known = element;
    return str_cmp(*name, str_c(*known));
}

static int by_absent(const void *key, const void *element)
{
    const struct str *name = key;
    return str_cmp(*name, str_c(((const struct absent *)element)->name));
}

#define KNOWN(list, name) (bsearch(&(name), list, sizeof(list) / sizeof(*(list)), sizeof(*(list)), by_name) != NULL)

/* What would have the command @name, as the end of a sentence that it begins, or NULL: nothing that is known. */
static const char *elsewhere(struct str name)
{
    if (KNOWN(userland, name))
        return "is a program of the userland, which is not built here (scripts/setup userland, then userland/build)";
    const struct absent *a = bsearch(&name, machine, sizeof machine / sizeof *machine, sizeof *machine, by_absent);
    return a ? why[a->kind] : NULL;
}

/* ---- hints ---- */

__attribute__((format(printf, 2, 3))) static void hint(struct shell *sh, const char *fmt, ...)
{
    struct buf line BUF_AUTO;
    va_list ap;
    buf_init(&line, LIMIT_PATH);
    if (!proc_file_is_sink(proc_get(sh->p, 2)))
        return;
    buf_addc(&line, "frontal-sandbox: ");
    va_start(ap, fmt);
    buf_vaddf(&line, fmt, ap);
    va_end(ap);
    buf_putc(&line, '\n');
    sh_write_fd(sh, 2, buf_str(&line));
}

/* Whether one step makes @b of @a: a character more, less or another, or two that changed places. Names of two
 * characters are near only by the last, else everything would be. */
static bool is_near(struct str a, struct str b)
{
    size_t same = 0, n = NUM_MIN(a.n, b.n);
    while (same < n && a.p[same] == b.p[same])
        same++;
    struct str x = str_from(a, same), y = str_from(b, same);
    if (a.n == b.n && x.n >= 2 && x.p[0] == y.p[1] && x.p[1] == y.p[0] && str_eq(str_from(x, 2), str_from(y, 2)))
        return true;
    if (n < 3)
        return false;
    if (a.n == b.n)
        return x.n > 0 && str_eq(str_from(x, 1), str_from(y, 1));
    if (a.n + 1 == b.n)
        return str_eq(x, str_from(y, 1));
    return a.n == b.n + 1 && str_eq(str_from(x, 1), y);
}

#define NEAR_NAMES 3 /* more would not help */

static void hint_near(struct shell *sh, struct str name)
{
    struct fields all = {0}, near = {0};
    struct buf list BUF_AUTO;
    buf_init(&list, LIMIT_PATH);
    if (name.n < 2 || name.n > 64 || memchr(name.p, '/', name.n))
        return;
    compgen_names(sh, GEN_COMMAND, STR(""), &all);
    for (uint32_t i = 0; i < all.n && near.n < NEAR_NAMES; i++) {
        bool known = !is_near(name, all.v[i]);
        for (uint32_t k = 0; k < near.n && !known; k++)
            known = str_eq(near.v[k], all.v[i]);
        if (known || fields_add(sh, &near, all.v[i]) < 0)
            continue;
        buf_addc(&list, near.n > 1 ? ", " : "");
        buf_adds(&list, all.v[i]);
    }
    if (near.n)
        hint(sh, "near names are: %s", list.p);
}

void sh_hint_crlf(struct shell *sh)
{
    hint(sh, "lines end in a carriage return (CR LF) here; tr -d '\\r' <FILE >NEW removes them");
}

void sh_hint_command(struct shell *sh, struct str name)
{
    if (!proc_file_is_sink(proc_get(sh->p, 2)))
        return;
    const char *where = elsewhere(name);
    if (where)
        hint(sh, "%s %s", name.p, where);
    else if (name.n && name.p[name.n - 1] == '\r')
        sh_hint_crlf(sh);
    else
        hint_near(sh, name);
}

bool shell_alone(struct str name)
{
    return KNOWN(alone, name);
}

void shell_elsewhere_each(void (*fn)(void *arg, const char *name, const char *why), void *arg)
{
    for (size_t i = 0; i < sizeof userland / sizeof *userland; i++)
        fn(arg, userland[i], NULL);
    for (size_t i = 0; i < sizeof machine / sizeof *machine; i++)
        fn(arg, machine[i].name, why[machine[i].kind]);
}
