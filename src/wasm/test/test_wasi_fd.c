/* SPDX-License-Identifier: Apache-2.0 */
#include "base/num.h"
#include "wasm/test/wasi_test.h"

/* fd_*: bytes, places, status, rights, the table. Values are those of the witx and of Linux's manual pages. */

enum { CREAT = 1, DIRECTORY = 2, EXCL = 4, TRUNC = 8 };
enum { SET, CUR, END };

#define RIGHT(n) (UINT64_C(1) << (n))

static void bytes(struct prog *g)
{
    char buf[64];
    int fd = open_at(g, "tmp/f", CREAT | EXCL, 7);
    CHECK_INT(fd, 4);
    CHECK_INT(write_text(g, 4, "0123456789"), 10);
    CHECK_INT(read_some(g, 4, buf, 8), 0);
    CHECK_INT(CALL(g, fd_seek, 4, 2, SET, 64), 0);
    CHECK_INT(get64(g, 64), 2);
    CHECK_INT(CALL(g, fd_tell, 4, 64), 0);
    CHECK_INT(get64(g, 64), 2);
    CHECK_STR(str_of(buf, (size_t)read_some(g, 4, buf, 3)), STR("234"));
    CHECK_INT(CALL(g, fd_seek, 4, (uint64_t)-1, END, 64), 0);
    CHECK_INT(get64(g, 64), 9);
    CHECK_INT(CALL(g, fd_seek, 4, (uint64_t)-10, CUR, 64), E_INVAL);
    CHECK_INT(CALL(g, fd_seek, 4, 0, 3, 64), E_INVAL);
    CHECK_INT(CALL(g, fd_seek, 4, 0, SET, MEM_BYTES - 7), E_FAULT);
    CHECK_INT(CALL(g, fd_seek, 9, 0, SET, 64), E_BADF);
    /* pread and pwrite do not move it. */
    set32(g, 100, 200);
    set32(g, 104, 4);
    memcpy(g->mem + 200, "abcd", 4);
    CHECK_INT(CALL(g, fd_pwrite, 4, 100, 1, 12, 64), 0);
    CHECK_INT(get32(g, 64), 4);
    CHECK_INT(CALL(g, fd_pread, 4, 100, 1, 8, 64), 0);
    CHECK_INT(get32(g, 64), 4);
    CHECK(memcmp(g->mem + 200, "89\0\0", 4) == 0);
    CHECK_INT(CALL(g, fd_pread, 4, 100, 1, UINT64_C(1) << 63, 64), E_INVAL);
    CHECK_INT(CALL(g, fd_tell, 4, 64), 0);
    CHECK_INT(get64(g, 64), 9);
    CHECK_INT(CALL(g, fd_close, 4), 0);
    CHECK_INT(CALL(g, fd_close, 4), E_BADF);
}

TEST(bytes_and_places)
{
    run_prog(bytes, "");
}

static void pieces(struct prog *g)
{
    char buf[64];
    int fd = open_at(g, "tmp/f", CREAT, 7);
    static const char *const parts[] = {"one", "", "two", "three"};
    for (uint32_t i = 0; i < 4; i++) {
        set32(g, 100 + 8 * i, text(g, parts[i]));
        set32(g, 104 + 8 * i, (uint32_t)strlen(parts[i]));
    }
    CHECK_INT(CALL(g, fd_write, fd, 100, 4, 64), 0);
    CHECK_INT(get32(g, 64), 11);
    CHECK_INT(CALL(g, fd_seek, fd, 0, SET, 64), 0);
    CHECK_STR(str_of(buf, (size_t)read_some(g, (uint32_t)fd, buf, 64)), STR("onetwothree"));
    /* A read over the list of its own pieces: as Linux, the list counts as it was. */
    CHECK_INT(CALL(g, fd_seek, fd, 0, SET, 64), 0);
    set32(g, 100, 108);
    set32(g, 104, 8);
    set32(g, 108, 300);
    set32(g, 112, 3);
    CHECK_INT(CALL(g, fd_read, fd, 100, 2, 64), 0);
    CHECK_INT(get32(g, 64), 11);
    CHECK(memcmp(g->mem + 108, "onetwoth", 8) == 0);
    CHECK(memcmp(g->mem + 300, "ree", 3) == 0);
    /* Many and too many. */
    for (uint32_t i = 0; i < 1024; i++) {
        set32(g, 8192 + 8 * i, 300);
        set32(g, 8196 + 8 * i, 1);
    }
    CHECK_INT(CALL(g, fd_write, fd, 8192, 1024, 64), 0);
    CHECK_INT(get32(g, 64), 1024);
    CHECK_INT(CALL(g, fd_write, fd, 8192, 1025, 64), E_INVAL);
    CHECK_INT(CALL(g, fd_write, fd, 8192, 0, 64), 0);
    CHECK_INT(get32(g, 64), 0);
    CHECK_INT(CALL(g, fd_write, 0, 8192, 0, 64), E_BADF);
}

TEST(pieces_of_a_call)
{
    run_prog(pieces, "");
}

static void modes(struct prog *g)
{
    char buf[8];
    int rd, wr;
    CHECK_INT(write_text(g, (uint32_t)open_at(g, "tmp/f", CREAT, 7), "hello"), 5);
    rd = open_at(g, "tmp/f", 0, 5);
    wr = open_at(g, "tmp/f", 0, 6);
    CHECK_INT(write_text(g, (uint32_t)rd, "x"), -E_BADF);
    CHECK_INT(read_some(g, (uint32_t)wr, buf, 1), -E_BADF);
    CHECK_INT(CALL(g, fd_filestat_set_size, rd, 1), E_INVAL);
    CHECK_INT(CALL(g, fd_allocate, rd, 0, 10), E_BADF);
    CHECK_INT(CALL(g, fd_allocate, wr, 0, 10), 0);
    CHECK_INT(CALL(g, fd_allocate, wr, 0, 0), E_INVAL);
    CHECK_INT(CALL(g, fd_allocate, wr, UINT64_C(1) << 41, 1), E_FBIG);
    CHECK_INT(CALL(g, fd_filestat_get, wr, 64), 0);
    CHECK_INT(get64(g, 96), 10);
    CHECK_INT(g->mem[80], 4);
    CHECK_INT(get64(g, 88), 1);
    CHECK_INT(CALL(g, fd_filestat_set_size, wr, 3), 0);
    CHECK_INT(CALL(g, fd_filestat_set_size, wr, UINT64_C(1) << 63), E_INVAL);
    CHECK_INT(CALL(g, fd_filestat_set_size, wr, UINT64_C(1) << 41), E_FBIG);
    CHECK_INT(CALL(g, fd_filestat_set_times, wr, 1000000007, 2000000009, 5), 0);
    CHECK_INT(CALL(g, fd_filestat_get, rd, 64), 0);
    CHECK_INT(get64(g, 96), 3);
    CHECK_INT(get64(g, 104), 1000000007);
    CHECK_INT(get64(g, 112), 2000000009);
    CHECK_INT(CALL(g, fd_filestat_set_times, wr, 0, 0, 3), E_INVAL);
    CHECK_INT(CALL(g, fd_filestat_set_times, wr, 0, 0, 16), E_INVAL);
    CHECK_INT(CALL(g, fd_filestat_set_times, wr, UINT64_MAX, 0, 1), E_INVAL);
    CHECK_INT(CALL(g, fd_filestat_set_times, wr, 0, 0, 10), 0);
    CHECK_INT(CALL(g, fd_filestat_get, rd, 64), 0);
    CHECK(get64(g, 104) > UINT64_C(1000000000) * 1000000000);
    CHECK_INT(CALL(g, fd_sync, rd), 0);
    CHECK_INT(CALL(g, fd_datasync, wr), 0);
    CHECK_INT(CALL(g, fd_sync, 1), E_INVAL);
    CHECK_INT(CALL(g, fd_advise, rd, 0, 10, 4), 0);
    CHECK_INT(CALL(g, fd_advise, rd, 0, 10, 6), E_INVAL);
    CHECK_INT(CALL(g, fd_advise, 1, 0, 10, 0), E_SPIPE);
    CHECK_INT(CALL(g, fd_seek, 1, 0, CUR, 64), E_SPIPE);
    CHECK_INT(CALL(g, fd_pwrite, 1, 0, 0, 0, 64), E_SPIPE);
    CHECK_INT(CALL(g, fd_tell, 1, 64), E_SPIPE);
}

TEST(access_modes_size_and_times)
{
    run_prog(modes, "");
}

static void status(struct prog *g)
{
    /* Standard output of the test is a stream that is no terminal: programs take it for a socket. */
    CHECK_INT(CALL(g, fd_fdstat_get, 1, 64), 0);
    CHECK_INT(g->mem[64], 6);
    CHECK_INT(get64(g, 72) & (RIGHT(2) | RIGHT(5) | RIGHT(1)), 0);
    CHECK(get64(g, 72) & RIGHT(6));
    /* The preopen. */
    CHECK_INT(CALL(g, fd_fdstat_get, 3, 64), 0);
    CHECK_INT(g->mem[64], 3);
    CHECK(get64(g, 72) & RIGHT(13));
    CHECK(get64(g, 80) & RIGHT(1));
    /* /dev/null is no terminal: it says that it can seek. */
    int fd = open_at(g, "dev/null", 0, 7);
    CHECK_INT(CALL(g, fd_fdstat_get, fd, 64), 0);
    CHECK_INT(g->mem[64], 2);
    CHECK_INT(get64(g, 72) & (RIGHT(2) | RIGHT(5)), RIGHT(2) | RIGHT(5));
    CHECK_INT(CALL(g, fd_close, fd), 0);
    /* Flags. */
    fd = open_at(g, "tmp/f", CREAT, 7);
    CHECK_INT(CALL(g, fd_fdstat_set_flags, fd, 1 | 2 | 4), 0);
    CHECK_INT(CALL(g, fd_fdstat_get, fd, 64), 0);
    CHECK_INT(g->mem[64], 4);
    CHECK_INT(g->mem[66], 7);
    CHECK_INT(write_text(g, (uint32_t)fd, "ab"), 2);
    CHECK_INT(CALL(g, fd_seek, fd, 0, SET, 64), 0);
    CHECK_INT(write_text(g, (uint32_t)fd, "cd"), 2);
    CHECK_INT(CALL(g, fd_filestat_get, fd, 64), 0);
    CHECK_INT(get64(g, 96), 4);
    CHECK_INT(CALL(g, fd_fdstat_set_flags, fd, 0), 0);
    CHECK_INT(CALL(g, fd_seek, fd, 0, SET, 64), 0);
    CHECK_INT(write_text(g, (uint32_t)fd, "ef"), 2);
    CHECK_INT(CALL(g, fd_filestat_get, fd, 64), 0);
    CHECK_INT(get64(g, 96), 4);
    CHECK_INT(CALL(g, fd_fdstat_set_flags, fd, 32), E_INVAL);
    CHECK_INT(CALL(g, fd_fdstat_get, fd, MEM_BYTES - 23), E_FAULT);
}

TEST(descriptor_status)
{
    run_prog(status, "");
}

static void rights(struct prog *g)
{
    int fd = open_at(g, "tmp/f", CREAT, 7);
    CHECK_INT(CALL(g, fd_fdstat_get, fd, 64), 0);
    uint64_t has = get64(g, 72);
    CHECK_INT(CALL(g, fd_fdstat_set_rights, fd, has | RIGHT(13), 0), E_NOTCAPABLE);
    CHECK_INT(CALL(g, fd_fdstat_set_rights, fd, has & ~RIGHT(2), 0), 0);
    CHECK_INT(CALL(g, fd_seek, fd, 0, SET, 64), E_NOTCAPABLE);
    CHECK_INT(CALL(g, fd_fdstat_set_rights, fd, has, 0), E_NOTCAPABLE);
    CHECK_INT(write_text(g, (uint32_t)fd, "x"), 1);
    CHECK_INT(CALL(g, fd_fdstat_set_rights, fd, 0, 0), 0);
    CHECK_INT(write_text(g, (uint32_t)fd, "x"), -E_NOTCAPABLE);
    /* A copy has what its original had; the number alone has nothing. */
    CHECK_INT(HCALL(g, dup, fd, 0, 0, 64), 0);
    CHECK_INT(write_text(g, get32(g, 64), "x"), -E_NOTCAPABLE);
    CHECK_INT(CALL(g, fd_close, fd), 0);
    CHECK_INT(open_at(g, "tmp/f", 0, 7), fd);
    CHECK_INT(write_text(g, (uint32_t)fd, "x"), 1);
    /* What is opened through a directory has no more than that hands on. */
    int dir = open_at(g, "tmp", DIRECTORY, 7);
    CHECK_INT(CALL(g, fd_fdstat_get, dir, 64), 0);
    CHECK_INT(CALL(g, fd_fdstat_set_rights, dir, get64(g, 72), RIGHT(1)), 0);
    uint32_t p = text(g, "f");
    CHECK_INT(CALL(g, path_open, dir, 0, p, 1, 0, RIGHT(1) | RIGHT(6), 0, 0, 64), E_NOTCAPABLE);
    CHECK_INT(CALL(g, path_open, dir, 0, p, 1, 0, RIGHT(1), 0, 0, 64), 0);
    CHECK_INT(write_text(g, get32(g, 64), "x"), -E_NOTCAPABLE);
    /* An opener gets what it asks for. */
    fd = open_at(g, "tmp/f", 0, 1);
    CHECK_INT(CALL(g, fd_seek, fd, 0, SET, 64), E_NOTCAPABLE);
}

TEST(rights_are_only_given_up)
{
    run_prog(rights, "");
}

static void preopen(struct prog *g)
{
    char buf[4];
    CHECK_INT(CALL(g, fd_prestat_get, 3, 64), 0);
    CHECK_INT(get32(g, 64), 0);
    CHECK_INT(get32(g, 68), 1);
    CHECK_INT(CALL(g, fd_prestat_get, 4, 64), E_BADF);
    CHECK_INT(CALL(g, fd_prestat_get, 1, 64), E_BADF);
    CHECK_INT(CALL(g, fd_prestat_dir_name, 3, 64, 1), 0);
    CHECK_INT(g->mem[64], '/');
    CHECK_INT(CALL(g, fd_prestat_dir_name, 3, 64, 0), E_NAMETOOLONG);
    CHECK_INT(read_some(g, 3, buf, 4), -E_ISDIR);
    CHECK_INT(write_text(g, 3, "x"), -E_BADF);
    /* Its number is nobody else's, and what the process has there is hidden. */
    int real = proc_dup2(g->w.p, 1, 3, false);
    CHECK_INT(real, 3);
    CHECK_INT(write_text(g, 3, "x"), -E_BADF);
    CHECK_INT(CALL(g, fd_renumber, 1, 3), E_NOTSUP);
    CHECK_INT(HCALL(g, dup2, 1, 3, 0), E_NOTSUP);
    CHECK_INT(HCALL(g, dup, 3, 0, 0, 64), 0);
    CHECK_INT(get32(g, 64), 4);
    CHECK_INT(CALL(g, fd_fdstat_get, 4, 64), 0);
    CHECK_INT(g->mem[64], 3);
    CHECK_INT(CALL(g, fd_close, 3), 0);
    CHECK_INT(CALL(g, fd_close, 3), E_BADF);
    CHECK_INT(CALL(g, fd_prestat_get, 3, 64), E_BADF);
    CHECK_INT(open_at(g, "tmp", 0, 7), -E_BADF);
    CHECK(proc_get(g->w.p, 3) != NULL);
    CHECK_INT(CALL(g, path_open, 4, 1, text(g, "tmp"), 3, 0, 2, 0, 0, 64), 0);
}

TEST(the_preopen)
{
    run_prog(preopen, "");
}

static void renumber(struct prog *g)
{
    int a = open_at(g, "tmp/a", CREAT, 7), b = open_at(g, "tmp/b", CREAT, 7);
    CHECK_INT(CALL(g, fd_renumber, a, 9), E_BADF);
    CHECK_INT(CALL(g, fd_renumber, 9, a), E_BADF);
    CHECK_INT(CALL(g, fd_renumber, a, a), 0);
    CHECK_INT(CALL(g, fd_renumber, a, b), 0);
    CHECK_INT(CALL(g, fd_close, a), E_BADF);
    CHECK_INT(write_text(g, (uint32_t)b, "in a"), 4);
    CHECK_INT(CALL(g, path_filestat_get, 3, 0, text(g, "tmp/a"), 5, 64), 0);
    CHECK_INT(get64(g, 96), 4);
    /* Descriptors below 3 are found again when they are free. */
    CHECK_INT(CALL(g, fd_close, 0), 0);
    CHECK_INT(HCALL(g, dup, b, 0, 0, 64), 0);
    CHECK_INT(get32(g, 64), 0);
    CHECK_INT(HCALL(g, dup, b, 0, 1, 64), 0);
    CHECK_INT(get32(g, 64), 4);
    CHECK_INT(HCALL(g, cloexec, 4, UINT32_MAX, 64), 0);
    CHECK_INT(get32(g, 64), 1);
    CHECK_INT(HCALL(g, cloexec, 4, 0, 64), 0);
    CHECK_INT(get32(g, 64), 1);
    CHECK_INT(HCALL(g, cloexec, 4, UINT32_MAX, 64), 0);
    CHECK_INT(get32(g, 64), 0);
    CHECK_INT(HCALL(g, cloexec, 4, 2, 64), E_INVAL);
    CHECK_INT(HCALL(g, dup, b, 1024, 0, 64), E_INVAL);
    CHECK_INT(HCALL(g, dup2, b, 1024, 0), E_BADF);
    CHECK_INT(HCALL(g, dup2, b, 1023, 1), 0);
    CHECK_INT(HCALL(g, dup, b, 1023, 0, 64), E_MFILE);
    CHECK_INT(HCALL(g, dup2, b, b, 0), 0);
    CHECK_INT(HCALL(g, dup2, 99, 99, 0), E_BADF);
    CHECK_INT(HCALL(g, isatty, b), E_NOTTY);
    CHECK_INT(HCALL(g, tty_size, b, 64), E_NOTTY);
    CHECK_INT(HCALL(g, isatty, 77), E_BADF);
}

TEST(renumber_and_dup)
{
    run_prog(renumber, "");
}

static void fills(struct prog *g)
{
    int n = 0, fd;
    while ((fd = open_at(g, "tmp/f", CREAT, 7)) >= 0)
        n++;
    CHECK_INT(fd, -E_MFILE);
    CHECK_INT(n, 1020);
    CHECK_INT(HCALL(g, pipe, 0, 64), E_MFILE);
    CHECK_INT(CALL(g, fd_close, 1000), 0);
    CHECK_INT(HCALL(g, pipe, 0, 64), E_MFILE);
    CHECK_INT(open_at(g, "tmp/f", 0, 7), 1000);
}

TEST(a_full_table)
{
    run_prog(fills, "");
}

/* ---- random calls on the table, against a model: what number leads to which file ---- */

#define FILES 6
#define NUMBERS 24

/* Which file @fd leads to: each has its number as its size. */
static int file_of(struct prog *g, uint32_t fd)
{
    int r = CALL(g, fd_filestat_get, fd, 64);
    if (r) {
        CHECK_INT(r, E_BADF);
        return -1;
    }
    return (int)get64(g, 96);
}

static int lowest(const int *file, int min)
{
    while (min < NUMBERS && (min == 3 || file[min] >= 0))
        min++;
    return min;
}

static void step(struct prog *g, int *file, uint64_t *seed)
{
    uint32_t a = (uint32_t)(test_rand(seed) % (NUMBERS / 2)), b = (uint32_t)(test_rand(seed) % (NUMBERS / 2));
    int k = (int)(test_rand(seed) % FILES), r, to;
    char name[16];
    if (a == 3 || b == 3)
        return;
    bool open_a = file[a] >= 0, open_b = file[b] >= 0;
    switch (test_rand(seed) % 5) {
    case 0:
        (void)snprintf(name, sizeof name, "tmp/%d", k);
        to = lowest(file, 4);
        if (to >= NUMBERS)
            return;
        CHECK_INT(open_at(g, name, 0, 7), to);
        file[to] = k;
        return;
    case 1:
        CHECK_INT(CALL(g, fd_close, a), open_a ? 0 : E_BADF);
        file[a] = -1;
        return;
    case 2:
        to = lowest(file, (int)b);
        if (to >= NUMBERS)
            return;
        r = HCALL(g, dup, a, b, 0, 64);
        CHECK_INT(r, open_a ? 0 : E_BADF);
        if (r == 0) {
            CHECK_INT(get32(g, 64), to);
            file[to] = file[a];
        }
        return;
    case 3:
        CHECK_INT(HCALL(g, dup2, a, b, 0), open_a ? 0 : E_BADF);
        if (open_a)
            file[b] = file[a];
        return;
    default:
        CHECK_INT(CALL(g, fd_renumber, a, b), open_a && open_b ? 0 : E_BADF);
        if (open_a && open_b && a != b) {
            file[b] = file[a];
            file[a] = -1;
        }
    }
}

static void random_table(struct prog *g)
{
    uint64_t seed = test_seed();
    int file[NUMBERS];
    for (uint32_t i = 0; i < NUMBERS; i++)
        file[i] = -1;
    for (int k = 0; k < FILES; k++) {
        char name[16];
        (void)snprintf(name, sizeof name, "tmp/%d", k);
        int fd = open_at(g, name, CREAT, 7);
        CHECK_INT(CALL(g, fd_filestat_set_size, fd, k), 0);
        CHECK_INT(CALL(g, fd_close, fd), 0);
    }
    for (uint32_t i = 0; i < 3; i++)
        CHECK_INT(CALL(g, fd_close, i), 0);
    for (int n = 0; n < 20000 && !test_failed(); n++) {
        step(g, file, &seed);
        uint32_t fd = (uint32_t)(test_rand(&seed) % NUMBERS);
        if (fd != 3)
            CHECK_INT(file_of(g, fd), file[fd]);
    }
}

TEST(random_descriptors)
{
    run_prog(random_table, "");
}
