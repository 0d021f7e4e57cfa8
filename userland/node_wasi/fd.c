/* SPDX-License-Identifier: Apache-2.0 */

/* Calls on descriptors: reading, writing, offsets, sizes, times, flags, rights, renumbering. */

static unsigned char bytes[64];
static __wasi_iovec_t in = {bytes, sizeof(bytes)};
static __wasi_ciovec_t out = {(const unsigned char *)"0123456789", 10};

static void stat_line(const char *what, __wasi_fd_t fd)
{
    __wasi_filestat_t st = {0};
    __wasi_errno_t err = __wasi_fd_filestat_get(fd, &st);

    say(what, err, "type %u size %llu links %llu times %d", st.filetype,
        st.filetype == __WASI_FILETYPE_DIRECTORY ? 0 : st.size, st.filetype == __WASI_FILETYPE_DIRECTORY ? 0 : st.nlink,
        st.mtim == 5000000000u);
}

static void a_file(void)
{
    __wasi_fd_t fd = open_at(ROOT, "work/f", __WASI_OFLAGS_CREAT | __WASI_OFLAGS_TRUNC, FILE_RIGHTS, 0);
    __wasi_size_t n = 0;
    __wasi_filesize_t at = 0;
    __wasi_errno_t err;

    err = __wasi_fd_write(fd, &out, 1, &n);
    say("write ten", err, "%zu", n);
    err = __wasi_fd_tell(fd, &at);
    say("tell", err, "%llu", at);
    err = __wasi_fd_seek(fd, -3, __WASI_WHENCE_CUR, &at);
    say("seek back three", err, "%llu", at);
    err = __wasi_fd_read(fd, &in, 1, &n);
    say("read the rest", err, "%zu %.3s", n, bytes);
    err = __wasi_fd_read(fd, &in, 1, &n);
    say("read at the end", err, "%zu", n);
    err = __wasi_fd_seek(fd, 5, __WASI_WHENCE_END, &at);
    say("seek behind the end", err, "%llu", at);
    err = __wasi_fd_seek(fd, -20, __WASI_WHENCE_CUR, &at);
    say("seek before the beginning", err, "%llu", at);
    err = __wasi_fd_seek(fd, 0, 7, &at);
    say("seek from nowhere", err, "%llu", at);
    err = __wasi_fd_pread(fd, &in, 1, 4, &n);
    say("pread at 4", err, "%zu %.6s", n, bytes);
    err = __wasi_fd_pread(fd, &in, 1, (__wasi_filesize_t)-1, &n);
    say("pread at -1", err, "%zu", n);
    err = __wasi_fd_pwrite(fd, &out, 1, 20, &n);
    say("pwrite at 20", err, "%zu", n);
    stat_line("size with a hole", fd);
    err = __wasi_fd_read(fd, &in, 0, &n);
    say("read into no pieces", err, "%zu", n);
    err = __wasi_fd_write(fd, &out, 0, &n);
    say("write of no pieces", err, "%zu", n);
    SAY(__wasi_fd_filestat_set_size(fd, 4));
    stat_line("cut", fd);
    SAY(__wasi_fd_filestat_set_size(fd, (__wasi_filesize_t)-1));
    SAY(__wasi_fd_allocate(fd, 0, 100));
    stat_line("allocated", fd);
    SAY(__wasi_fd_allocate(fd, 0, 0));
    SAY(__wasi_fd_advise(fd, 0, 10, __WASI_ADVICE_WILLNEED));
    SAY(__wasi_fd_advise(fd, 0, 10, 99));
    SAY(__wasi_fd_sync(fd));
    SAY(__wasi_fd_datasync(fd));
    SAY(__wasi_fd_filestat_set_times(fd, 3000000000u, 5000000000u, __WASI_FSTFLAGS_ATIM | __WASI_FSTFLAGS_MTIM));
    stat_line("times", fd);
    SAY(__wasi_fd_filestat_set_times(fd, 0, 0, __WASI_FSTFLAGS_MTIM | __WASI_FSTFLAGS_MTIM_NOW));
    SAY(__wasi_fd_filestat_set_times(fd, 0, 0, 0x100));
    SAY(__wasi_fd_close(fd));
    SAY(__wasi_fd_close(fd));
}

static void modes(void)
{
    __wasi_fd_t r =
        open_at(ROOT, "work/f", 0, __WASI_RIGHTS_FD_READ | __WASI_RIGHTS_FD_SEEK | __WASI_RIGHTS_FD_TELL, 0);
    __wasi_fd_t w = open_at(ROOT, "work/f", 0, __WASI_RIGHTS_FD_WRITE | __WASI_RIGHTS_FD_FDSTAT_SET_FLAGS, 0);
    __wasi_fd_t a = open_at(ROOT, "work/f", 0, FILE_RIGHTS, __WASI_FDFLAGS_APPEND);
    __wasi_size_t n = 0;
    __wasi_filesize_t at = 0;
    __wasi_fdstat_t st = {0};
    __wasi_errno_t err;

    err = __wasi_fd_write(r, &out, 1, &n);
    say("write to what is open for reading", err, "%zu", n);
    err = __wasi_fd_read(w, &in, 1, &n);
    say("read of what is open for writing", err, "%zu", n);
    err = __wasi_fd_seek(w, 0, __WASI_WHENCE_SET, &at);
    say("seek without the right", err, "%llu", at);
    SAY(__wasi_fd_filestat_set_size(r, 1));
    err = __wasi_fd_fdstat_get(r, &st);
    say("fdstat", err, "type %u flags %u read %d write %d", st.fs_filetype, st.fs_flags,
        (st.fs_rights_base & __WASI_RIGHTS_FD_READ) != 0, (st.fs_rights_base & __WASI_RIGHTS_FD_WRITE) != 0);
    SAY(__wasi_fd_fdstat_set_rights(r, __WASI_RIGHTS_FD_READ, 0));
    SAY(__wasi_fd_fdstat_set_rights(r, __WASI_RIGHTS_FD_READ | __WASI_RIGHTS_FD_SEEK, 0));
    err = __wasi_fd_seek(r, 0, __WASI_WHENCE_SET, &at);
    say("seek after the right was given up", err, "%llu", at);
    err = __wasi_fd_write(a, &out, 1, &n);
    say("append", err, "%zu", n);
    err = __wasi_fd_fdstat_get(a, &st);
    say("fdstat of append", err, "flags %u", st.fs_flags);
    SAY(__wasi_fd_fdstat_set_flags(w, __WASI_FDFLAGS_APPEND));
    err = __wasi_fd_write(w, &out, 1, &n);
    say("append by flag", err, "%zu", n);
    stat_line("appended", a);
    SAY(__wasi_fd_renumber(w, a));
    stat_line("renumbered", a);
    SAY(__wasi_fd_renumber(999, a));
    SAY(__wasi_fd_renumber(a, 999));
    SAY(__wasi_fd_close(w));
    SAY(__wasi_fd_close(r));
}

static void no_descriptor(void)
{
    __wasi_size_t n;
    __wasi_filesize_t at;
    __wasi_fdstat_t st;
    __wasi_prestat_t pre = {0};
    unsigned char name[4];
    __wasi_errno_t err;

    SAY(__wasi_fd_read(999, &in, 1, &n));
    SAY(__wasi_fd_write(999, &out, 1, &n));
    SAY(__wasi_fd_pread(999, &in, 1, 0, &n));
    SAY(__wasi_fd_pwrite(999, &out, 1, 0, &n));
    SAY(__wasi_fd_seek(999, 0, 0, &at));
    SAY(__wasi_fd_tell(999, &at));
    SAY(__wasi_fd_fdstat_get(999, &st));
    SAY(__wasi_fd_fdstat_set_flags(999, 0));
    SAY(__wasi_fd_sync(999));
    SAY(__wasi_fd_close(999));
    err = __wasi_fd_prestat_get(ROOT, &pre);
    say("prestat", err, "tag %u length %zu", pre.tag, pre.u.dir.pr_name_len);
    SAY(__wasi_fd_prestat_get(0, &pre));
    SAY(__wasi_fd_prestat_get(999, &pre));
    SAY(__wasi_fd_prestat_dir_name(ROOT, name, 0));
    SAY(__wasi_fd_prestat_dir_name(ROOT, name, 1));
}

static void a_directory(void)
{
    __wasi_fd_t d = open_at(ROOT, "work", __WASI_OFLAGS_DIRECTORY, DIR_RIGHTS, 0);
    __wasi_size_t n = 0;
    __wasi_filesize_t at = 0;

    SAY(__wasi_fd_read(d, &in, 1, &n));
    SAY(__wasi_fd_write(d, &out, 1, &n));
    SAY(__wasi_fd_seek(d, 0, __WASI_WHENCE_SET, &at));
    SAY(__wasi_fd_filestat_set_size(d, 0));
    SAY(__wasi_fd_allocate(d, 0, 1));
    SAY(__wasi_fd_sync(d));
    stat_line("stat of a directory", d);
    SAY(__wasi_fd_close(d));
}

int main(void)
{
    a_file();
    modes();
    no_descriptor();
    a_directory();
    puts("end");
    return 0;
}
