/* SPDX-License-Identifier: Apache-2.0 */
#include "wasm/test/wasi_test.h"

/* path_*, fd_readdir and the files of frontal_sandbox_1. Values are those of Linux's manual pages. */

enum { CREAT = 1, DIRECTORY = 2, EXCL = 4, TRUNC = 8 };

#define P(s) text(g, s), sizeof(s) - 1

static int make(struct prog *g, const char *path, const char *content)
{
    int fd = open_at(g, path, CREAT | TRUNC, 7);
    if (!CHECK(fd >= 0))
        return fd;
    write_text(g, (uint32_t)fd, content);
    return CALL(g, fd_close, fd);
}

/* The file type of a path, or a negative errno. */
static int type_of(struct prog *g, uint32_t dir, uint32_t flags, const char *path)
{
    int r = CALL(g, path_filestat_get, dir, flags, text(g, path), strlen(path), 64);
    return r ? -r : g->mem[80];
}

static void names(struct prog *g)
{
    CHECK_INT(CALL(g, path_create_directory, 3, P("tmp/d")), 0);
    CHECK_INT(CALL(g, path_create_directory, 3, P("tmp/d")), E_EXIST);
    CHECK_INT(CALL(g, path_create_directory, 3, P("tmp/no/d")), E_NOENT);
    CHECK_INT(CALL(g, path_create_directory, 3, P("")), E_NOENT);
    CHECK_INT(CALL(g, path_create_directory, 3, P("usr/d")), E_ACCES);
    CHECK_INT(CALL(g, path_create_directory, 1, P("d")), E_NOTDIR);
    CHECK_INT(CALL(g, path_create_directory, 9, P("d")), E_BADF);
    CHECK_INT(make(g, "tmp/d/f", "hello"), 0);
    CHECK_INT(CALL(g, path_create_directory, 3, P("tmp/d/f/x")), E_NOTDIR);
    int d = open_at(g, "tmp/d", DIRECTORY, 5);
    CHECK(d >= 4);
    /* ".." and absolute paths are as POSIX has them. */
    CHECK_INT(type_of(g, (uint32_t)d, 0, "f"), 4);
    CHECK_INT(type_of(g, (uint32_t)d, 0, "../d/./f"), 4);
    CHECK_INT(type_of(g, (uint32_t)d, 0, "../../../../../etc/passwd"), 4);
    CHECK_INT(type_of(g, (uint32_t)d, 0, "/etc"), 3);
    CHECK_INT(type_of(g, 3, 0, "dev/null"), 2);
    CHECK_INT(type_of(g, 3, 0, "tmp/d/f/"), -E_NOTDIR);
    CHECK_INT(type_of(g, 3, 0, ""), -E_NOENT);
    CHECK_INT(type_of(g, 3, 2, "tmp"), -E_INVAL);
    /* Links. */
    CHECK_INT(CALL(g, path_symlink, P("f"), d, P("s")), 0);
    CHECK_INT(CALL(g, path_symlink, P("f"), d, P("s")), E_EXIST);
    CHECK_INT(CALL(g, path_symlink, P("loop"), d, P("loop")), 0);
    CHECK_INT(type_of(g, (uint32_t)d, 0, "s"), 7);
    CHECK_INT(type_of(g, (uint32_t)d, 1, "s"), 4);
    CHECK_INT(type_of(g, (uint32_t)d, 1, "loop"), -E_LOOP);
    CHECK_INT(CALL(g, path_readlink, d, P("s"), 64, 10, 80), 0);
    CHECK_INT(get32(g, 80), 1);
    CHECK_INT(g->mem[64], 'f');
    CHECK_INT(CALL(g, path_readlink, d, P("loop"), 64, 2, 80), 0);
    CHECK_INT(get32(g, 80), 2);
    CHECK_INT(CALL(g, path_readlink, d, P("f"), 64, 10, 80), E_INVAL);
    CHECK_INT(CALL(g, path_link, d, 0, P("f"), 3, P("tmp/hard")), 0);
    CHECK_INT(type_of(g, 3, 0, "tmp/hard"), 4);
    CHECK_INT(get64(g, 88), 2);
    CHECK_INT(CALL(g, path_link, d, 0, P("f"), 3, P("tmp/hard")), E_EXIST);
    CHECK_INT(CALL(g, path_link, d, 0, P("."), 3, P("tmp/hard2")), E_PERM);
    CHECK_INT(CALL(g, path_link, d, 0, P("s"), d, P("s2")), 0);
    CHECK_INT(type_of(g, (uint32_t)d, 0, "s2"), 7);
    CHECK_INT(CALL(g, path_link, d, 1, P("s"), d, P("f2")), 0);
    CHECK_INT(type_of(g, (uint32_t)d, 0, "f2"), 4);
    /* Times of a link and of what it leads to. */
    CHECK_INT(CALL(g, path_filestat_set_times, d, 0, P("s"), 5, 6, 5), 0);
    CHECK_INT(CALL(g, path_filestat_set_times, d, 1, P("s"), 7, 8, 5), 0);
    CHECK_INT(type_of(g, (uint32_t)d, 0, "s"), 7);
    CHECK_INT(get64(g, 112), 6);
    CHECK_INT(type_of(g, (uint32_t)d, 0, "f"), 4);
    CHECK_INT(get64(g, 112), 8);
    /* Moving and removing. */
    CHECK_INT(CALL(g, path_rename, d, P("f2"), 3, P("tmp/moved")), 0);
    CHECK_INT(type_of(g, (uint32_t)d, 0, "f2"), -E_NOENT);
    CHECK_INT(CALL(g, path_rename, d, P("f2"), 3, P("tmp/moved")), E_NOENT);
    CHECK_INT(CALL(g, path_rename, 3, P("tmp/d"), d, P("inside")), E_INVAL);
    CHECK_INT(CALL(g, path_rename, 3, P("tmp/moved"), 3, P("tmp/d")), E_ISDIR);
    CHECK_INT(CALL(g, path_unlink_file, 3, P("tmp/d")), E_ISDIR);
    CHECK_INT(CALL(g, path_remove_directory, 3, P("tmp/d")), E_NOTEMPTY);
    CHECK_INT(CALL(g, path_remove_directory, 3, P("tmp/hard")), E_NOTDIR);
    static const char *const files[] = {"f", "s", "s2", "loop"};
    for (int i = 0; i < 4; i++)
        CHECK_INT(CALL(g, path_unlink_file, d, text(g, files[i]), strlen(files[i])), 0);
    CHECK_INT(CALL(g, path_remove_directory, 3, P("tmp/d")), 0);
    CHECK_INT(type_of(g, (uint32_t)d, 0, "f"), -E_NOENT);
}

TEST(names_and_links)
{
    run_prog(names, "");
}

static void lengths(struct prog *g)
{
    memset(g->mem + 1024, 'x', 8192);
    CHECK_INT(CALL(g, path_create_directory, 3, 1024, 4096), E_NAMETOOLONG);
    CHECK_INT(CALL(g, path_create_directory, 3, 1024, 256), E_NAMETOOLONG);
    CHECK_INT(CALL(g, path_create_directory, 3, 1024, MEM_BYTES), E_FAULT);
    g->mem[1030] = 0;
    CHECK_INT(CALL(g, path_create_directory, 3, 1024, 10), E_INVAL);
}

TEST(lengths_of_paths)
{
    run_prog(lengths, "");
}

static void opens(struct prog *g)
{
    char buf[8];
    CHECK_INT(open_at(g, "tmp/f", 0, 7), -E_NOENT);
    CHECK_INT(open_at(g, "tmp/f", DIRECTORY, 7), -E_NOENT);
    CHECK_INT(make(g, "tmp/f", "hello"), 0);
    CHECK_INT(open_at(g, "tmp/f", CREAT | EXCL, 7), -E_EXIST);
    CHECK_INT(open_at(g, "tmp/f", DIRECTORY, 7), -E_NOTDIR);
    CHECK_INT(open_at(g, "tmp/f", 16, 7), -E_INVAL);
    CHECK_INT(open_at(g, "tmp", 0, 7), -E_ISDIR);
    CHECK_INT(open_at(g, "tmp", CREAT, 5), -E_ISDIR);
    int d = open_at(g, "tmp", 0, 5);
    CHECK(d >= 4);
    CHECK_INT(read_some(g, (uint32_t)d, buf, 8), -E_ISDIR);
    /* A wish for all rights is no wish to write to a directory. */
    CHECK(open_at(g, "tmp", DIRECTORY, 7) >= 4);
    CHECK_INT(open_at(g, "root", DIRECTORY, 7), -E_ACCES);
    CHECK_INT(open_at(g, "etc/passwd", 0, 7), -E_ACCES);
    CHECK(open_at(g, "etc/passwd", 0, 5) >= 4);
    int fd = open_at(g, "tmp/f", TRUNC, 7);
    CHECK_INT(read_some(g, (uint32_t)fd, buf, 8), 0);
    /* A last link is only followed when asked. */
    CHECK_INT(CALL(g, path_symlink, P("f"), 3, P("tmp/s")), 0);
    CHECK_INT(CALL(g, path_open, 3, 0, P("tmp/s"), 0, 2, 0, 0, 64), E_LOOP);
    CHECK_INT(CALL(g, path_open, 3, 1, P("tmp/s"), 0, 2, 0, 0, 64), 0);
    CHECK_INT(CALL(g, path_open, 3, 2, P("tmp/s"), 0, 2, 0, 0, 64), E_INVAL);
    CHECK_INT(CALL(g, path_open, 3, 1, P("tmp/s"), 0, 2, 0, 32, 64), E_INVAL);
    CHECK_INT(CALL(g, path_open, 3, 1, P("tmp/s"), 0, 2, 0, 0, MEM_BYTES - 3), E_FAULT);
    CHECK_INT(CALL(g, path_open, fd, 1, P("s"), 0, 2, 0, 0, 64), E_NOTDIR);
    /* Appending. */
    CHECK_INT(CALL(g, path_open, 3, 1, P("tmp/f"), 0, 1 << 6, 0, 1, 64), 0);
    uint32_t a = get32(g, 64);
    CHECK_INT(write_text(g, (uint32_t)fd, "12345"), 5);
    CHECK_INT(write_text(g, a, "67"), 2);
    CHECK_INT(type_of(g, 3, 0, "tmp/f"), 4);
    CHECK_INT(get64(g, 96), 7);
    /* Open files under /dev and /proc, reached from the preopen. */
    fd = open_at(g, "dev/stdout", 0, 2);
    CHECK(fd >= 4);
    CHECK_INT(write_text(g, (uint32_t)fd, "by name\n"), 8);
    CHECK_INT(type_of(g, 3, 1, "dev/fd/1"), 6);
    CHECK_INT(type_of(g, 3, 1, "proc/self/fd/1"), 6);
}

TEST(opening)
{
    run_prog(opens, "by name\n");
}

static uint32_t mode_of(struct prog *g, const char *path)
{
    CHECK_INT(HCALL(g, stat, UINT32_MAX, text(g, path), strlen(path), 1, 64), 0);
    return get32(g, 112);
}

static void create_modes(struct prog *g)
{
    CHECK_INT(make(g, "tmp/a", ""), 0);
    CHECK_INT(mode_of(g, "/tmp/a"), 0100644);
    CHECK_INT(HCALL(g, create_mode, 0640), 0);
    CHECK(open_at(g, "tmp/a", 0, 7) > 0); /* makes nothing, so it stays */
    CHECK_INT(CALL(g, path_create_directory, 3, P("tmp/no/no")), E_NOENT);
    CHECK_INT(CALL(g, path_create_directory, 3, P("tmp/d")), 0); /* it held for the one before */
    CHECK_INT(mode_of(g, "/tmp/d"), 040755);
    CHECK_INT(HCALL(g, create_mode, 0700), 0);
    CHECK_INT(CALL(g, path_create_directory, 3, P("tmp/d2")), 0);
    CHECK_INT(mode_of(g, "/tmp/d2"), 040700);
    CHECK_INT(HCALL(g, create_mode, 0777), 0);
    CHECK_INT(HCALL(g, umask, 0, 64), 0);
    CHECK_INT(get32(g, 64), 022);
    CHECK_INT(make(g, "tmp/x", ""), 0);
    CHECK_INT(mode_of(g, "/tmp/x"), 0100777);
    CHECK_INT(HCALL(g, create_mode, 010000), E_INVAL);
    CHECK_INT(HCALL(g, mkfifo, 3, P("tmp/p")), 0);
    CHECK_INT(mode_of(g, "/tmp/p"), 010666);
    CHECK_INT(type_of(g, 3, 0, "tmp/p"), 6);
    CHECK_INT(HCALL(g, chmod, 3, P("tmp/x"), 0600), 0);
    CHECK_INT(mode_of(g, "/tmp/x"), 0100600);
    CHECK_INT(HCALL(g, chmod, 3, P("etc/passwd"), 0600), E_PERM);
    CHECK_INT(HCALL(g, chown, 3, P("tmp/x"), 0, 0, 0), E_PERM);
    CHECK_INT(HCALL(g, chown, 3, P("tmp/x"), 0, UINT32_MAX, UINT32_MAX), 0);
    CHECK_INT(HCALL(g, chown, 3, P("tmp/x"), 2, UINT32_MAX, UINT32_MAX), E_INVAL);
    int fd = open_at(g, "tmp/x", 0, 5);
    CHECK_INT(HCALL(g, fchmod, fd, 0644), 0);
    CHECK_INT(HCALL(g, fchown, fd, UINT32_MAX, 1000), 0);
    CHECK_INT(HCALL(g, fstat, fd, 64), 0);
    CHECK_INT(get32(g, 112), 0100644);
    CHECK_INT(get32(g, 116), 1000);
    CHECK_INT(HCALL(g, fstat, 3, 64), 0);
    CHECK_INT(get32(g, 112), 040755);
    CHECK_INT(HCALL(g, stat, 3, P("tmp"), 2, 64), E_INVAL);
    CHECK_INT(HCALL(g, access, 3, P("etc/passwd"), 4, 0), 0);
    CHECK_INT(HCALL(g, access, 3, P("etc/passwd"), 2, 2), E_ACCES);
    CHECK_INT(HCALL(g, access, 3, P("etc/none"), 0, 0), E_NOENT);
    CHECK_INT(HCALL(g, access, 3, P("etc/passwd"), 8, 0), E_INVAL);
    CHECK_INT(HCALL(g, access, 3, P("etc/passwd"), 4, 1), E_INVAL);
}

TEST(modes_and_owners)
{
    run_prog(create_modes, "");
}

static struct str cwd(struct prog *g)
{
    CHECK_INT(HCALL(g, getcwd, 64, 100, 200), 0);
    return str_of((char *)g->mem + 64, get32(g, 200));
}

static struct str real(struct prog *g, const char *path)
{
    int r = HCALL(g, realpath, text(g, path), strlen(path), 64, 100, 200);
    static char err[16];
    if (r == 0)
        return str_of((char *)g->mem + 64, get32(g, 200));
    (void)snprintf(err, sizeof err, "%d", r);
    return str_c(err);
}

static void places(struct prog *g)
{
    CHECK_STR(cwd(g), STR("/home/user"));
    CHECK_INT(HCALL(g, getcwd, 64, 9, 200), E_RANGE);
    CHECK_INT(HCALL(g, chdir, P("/tmp")), 0);
    CHECK_STR(cwd(g), STR("/tmp"));
    CHECK_INT(HCALL(g, chdir, P("none")), E_NOENT);
    CHECK_INT(make(g, "tmp/f", ""), 0);
    CHECK_INT(HCALL(g, chdir, P("f")), E_NOTDIR);
    CHECK_INT(HCALL(g, access, UINT32_MAX, P("f"), 0, 0), 0);
    CHECK_INT(HCALL(g, fchdir, 3), 0);
    CHECK_STR(cwd(g), STR("/"));
    int d = open_at(g, "etc", DIRECTORY, 4);
    CHECK(d >= 4);
    CHECK_INT(HCALL(g, fchdir, d), 0);
    CHECK_STR(cwd(g), STR("/etc"));
    CHECK_INT(HCALL(g, fchdir, 1), E_NOTDIR);
    CHECK_STR(real(g, "passwd"), STR("/etc/passwd"));
    CHECK_STR(real(g, "../bin/cat"), STR("/usr/bin/cat"));
    CHECK_STR(real(g, "/bin"), STR("/usr/bin"));
    CHECK_STR(real(g, "/"), STR("/"));
    CHECK_STR(real(g, "//tmp/../tmp/."), STR("/tmp"));
    CHECK_STR(real(g, "none"), STR("44"));
    CHECK_STR(real(g, "passwd/"), STR("54"));
    CHECK_INT(CALL(g, path_symlink, P("../etc/./passwd"), 3, P("tmp/l")), 0);
    CHECK_INT(CALL(g, path_symlink, P("l"), 3, P("tmp/l2")), 0);
    CHECK_INT(CALL(g, path_symlink, P("l3"), 3, P("tmp/l3")), 0);
    CHECK_STR(real(g, "/tmp/l2"), STR("/etc/passwd"));
    CHECK_STR(real(g, "/tmp/l3"), STR("32"));
    CHECK_INT(HCALL(g, realpath, P("/etc"), 64, 3, 200), E_RANGE);
    CHECK_INT(HCALL(g, statfs, P("/"), 64), 0);
    CHECK_INT(get64(g, 64), 4096);
    CHECK(get64(g, 72) > get64(g, 80));
    CHECK_INT(get64(g, 104), 255);
    CHECK_INT(HCALL(g, hostname, 64, 100, 200), 0);
    CHECK_STR(str_of((char *)g->mem + 64, get32(g, 200)), STR("sandbox"));
    CHECK_INT(HCALL(g, random_seed, 64), 0);
    /* A directory that is gone. */
    CHECK_INT(CALL(g, path_create_directory, 3, P("tmp/gone")), 0);
    CHECK_INT(HCALL(g, chdir, P("/tmp/gone")), 0);
    CHECK_INT(CALL(g, path_remove_directory, 3, P("tmp/gone")), 0);
    CHECK_INT(HCALL(g, getcwd, 64, 100, 200), E_NOENT);
}

TEST(working_directory_and_real_paths)
{
    run_prog(places, "");
}

/* ---- fd_readdir ---- */

#define DIRBUF 4096u

struct listing {
    char names[4096];
    uint64_t cookies[300]; /* after each */
    uint32_t n;
};

/* Reads on from @cookie with a buffer of @len bytes, once; names that are cut off do not count. True at the end. */
static bool list_once(struct prog *g, uint32_t fd, uint64_t cookie, uint32_t len, struct listing *l)
{
    CHECK_INT(CALL(g, fd_readdir, fd, DIRBUF, len, cookie, 64), 0);
    uint32_t used = get32(g, 64), at = 0;
    while (at + 24 <= used) {
        uint32_t n = get32(g, DIRBUF + at + 16);
        if (at + 24 + n > used)
            break;
        size_t have = strlen(l->names);
        (void)snprintf(l->names + have, sizeof l->names - have, "%.*s ", (int)n, g->mem + DIRBUF + at + 24);
        if (l->n < 300)
            l->cookies[l->n++] = get64(g, DIRBUF + at);
        at += 24 + n;
    }
    return used < len;
}

/* All entries, the way wasi-libc does it. */
static void list_all(struct prog *g, uint32_t fd, uint32_t len, struct listing *l)
{
    uint64_t cookie = 0;
    *l = (struct listing){0};
    for (;;) {
        uint32_t before = l->n;
        bool end = list_once(g, fd, cookie, len, l);
        if (end || !CHECK(l->n > before))
            return;
        cookie = l->cookies[l->n - 1];
    }
}

static void directories(struct prog *g)
{
    static struct listing l, again;
    CHECK_INT(CALL(g, path_create_directory, 3, P("tmp/d")), 0);
    static const char *const files[] = {"tmp/d/b", "tmp/d/d", "tmp/d/f", "tmp/d/h"};
    for (int i = 0; i < 4; i++)
        CHECK_INT(make(g, files[i], ""), 0);
    uint32_t d = (uint32_t)open_at(g, "tmp/d", DIRECTORY, 5);
    list_all(g, d, 4096, &l);
    CHECK_C(l.names, ". .. b d f h ");
    CHECK_INT(g->mem[DIRBUF + 20], 3);
    CHECK_INT(g->mem[DIRBUF + 2 * 24 + 3 + 20], 4);
    CHECK_INT(type_of(g, 3, 0, "tmp/d"), 3);
    CHECK_INT(get64(g, 72), get64(g, DIRBUF + 8));
    list_all(g, d, 26, &again);
    CHECK_C(again.names, ". .. b d f h ");
    /* Places stay what they are while entries come and go. */
    list_all(g, d, 4096, &l);
    CHECK_INT(CALL(g, path_unlink_file, 3, P("tmp/d/d")), 0);
    CHECK_INT(make(g, "tmp/d/c", ""), 0);
    CHECK_INT(make(g, "tmp/d/e", ""), 0);
    CHECK_INT(make(g, "tmp/d/a", ""), 0);
    again = (struct listing){0};
    list_once(g, d, l.cookies[2], 4096, &again); /* after b */
    CHECK_C(again.names, "c e f h ");
    again = (struct listing){0};
    list_once(g, d, l.cookies[3], 4096, &again); /* after d, which is gone */
    CHECK_C(again.names, "e f h ");
    again = (struct listing){0};
    list_once(g, d, l.cookies[4], 4096, &again);
    CHECK_C(again.names, "h ");
    again = (struct listing){0};
    list_once(g, d, l.cookies[1], 4096, &again);
    CHECK_C(again.names, "a b c e f h ");
    /* Strange ones. */
    CHECK_INT(CALL(g, fd_readdir, d, DIRBUF, 100, 1000, 64), E_INVAL);
    CHECK_INT(CALL(g, fd_readdir, d, DIRBUF, 100, UINT64_MAX, 64), E_INVAL);
    CHECK_INT(CALL(g, fd_readdir, d, DIRBUF, 0, 0, 64), 0);
    CHECK_INT(get32(g, 64), 0);
    CHECK_INT(CALL(g, fd_readdir, 1, DIRBUF, 100, 0, 64), E_NOTDIR);
    CHECK_INT(CALL(g, fd_readdir, open_at(g, "tmp/d/a", 0, 7), DIRBUF, 100, 0, 64), E_NOTDIR);
    CHECK_INT(CALL(g, fd_readdir, open_at(g, "tmp/d", DIRECTORY, 4), DIRBUF, 100, 0, 64), E_BADF);
    CHECK_INT(CALL(g, fd_readdir, 99, DIRBUF, 100, 0, 64), E_BADF);
    CHECK_INT(CALL(g, fd_readdir, d, DIRBUF, MEM_BYTES, 0, 64), E_FAULT);
    /* The preopen and /proc. */
    list_all(g, 3, 100, &l);
    CHECK(strstr(l.names, " usr ") != NULL);
    list_all(g, (uint32_t)open_at(g, "proc/self", DIRECTORY, 5), 100, &l);
    CHECK(strstr(l.names, " cmdline ") != NULL);
    /* A directory that is gone has nothing in it. */
    CHECK_INT(CALL(g, path_create_directory, 3, P("tmp/e")), 0);
    d = (uint32_t)open_at(g, "tmp/e", DIRECTORY, 5);
    CHECK_INT(CALL(g, path_remove_directory, 3, P("tmp/e")), 0);
    list_all(g, d, 100, &l);
    CHECK_C(l.names, ". .. ");
}

TEST(reading_directories)
{
    run_prog(directories, "");
}

/* Deletes everything while reading, as rm -r does, with more entries than a buffer holds. */
static void remove_while_reading(struct prog *g)
{
    static struct listing l;
    char name[32];
    CHECK_INT(CALL(g, path_create_directory, 3, P("tmp/d")), 0);
    for (int i = 0; i < 250; i++) {
        (void)snprintf(name, sizeof name, "tmp/d/%d", i * 7919 % 1000);
        CHECK_INT(make(g, name, ""), 0);
    }
    uint32_t d = (uint32_t)open_at(g, "tmp/d", DIRECTORY, 5), removed = 0;
    uint64_t cookie = 0;
    bool end;
    do {
        l = (struct listing){0};
        end = list_once(g, d, cookie, 300, &l);
        if (l.n)
            cookie = l.cookies[l.n - 1];
        char *at = l.names, *word;
        while ((word = strsep(&at, " ")) && *word)
            if (*word != '.') {
                CHECK_INT(CALL(g, path_unlink_file, d, text(g, word), strlen(word)), 0);
                removed++;
            }
    } while (!end && !test_failed());
    CHECK_INT(removed, 250);
    CHECK_INT(CALL(g, path_remove_directory, 3, P("tmp/d")), 0);
}

TEST(removing_while_reading)
{
    run_prog(remove_while_reading, "");
}
