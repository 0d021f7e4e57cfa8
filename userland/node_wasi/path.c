/* SPDX-License-Identifier: Apache-2.0 */

/* Calls on paths: open, directories, links, rename, removal, status. */

static void opens(const char *what, const char *path, unsigned look, __wasi_oflags_t how, __wasi_rights_t rights)
{
    __wasi_fd_t fd = 0;
    __wasi_errno_t err = __wasi_path_open(ROOT, look, path, how, rights, rights, 0, &fd);

    say(what, err, "%s", "");
    if (err == 0)
        (void)!__wasi_fd_close(fd);
}

static void status(const char *what, unsigned look, const char *path)
{
    __wasi_filestat_t st = {0};
    __wasi_errno_t err = __wasi_path_filestat_get(ROOT, look, path, &st);

    say(what, err, "type %u links %llu times %d", st.filetype, st.filetype == __WASI_FILETYPE_DIRECTORY ? 0 : st.nlink,
        st.mtim == 7000000000u);
}

static void opening(void)
{
    const __wasi_rights_t r = __WASI_RIGHTS_FD_READ, w = __WASI_RIGHTS_FD_WRITE;
    static char name[262];

    opens("what is not there", "work/none", 1, 0, r);
    opens("no name", "", 1, 0, r);
    opens("below a file", "work/f/x", 1, 0, r);
    opens("a file with a slash", "work/f/", 1, 0, r);
    opens("create", "work/new", 1, __WASI_OFLAGS_CREAT, w);
    opens("create what is there", "work/new", 1, __WASI_OFLAGS_CREAT | __WASI_OFLAGS_EXCL, w);
    opens("a directory for reading", "work/d", 1, 0, r);
    opens("a directory for writing", "work/d", 1, 0, w);
    opens("a file as a directory", "work/f", 1, __WASI_OFLAGS_DIRECTORY, r);
    opens("through a link", "work/l", 1, 0, r);
    opens("a link itself", "work/l", 0, 0, r);
    opens("a link to nothing", "work/dangling", 1, 0, r);
    opens("create through a link to nothing", "work/dangling", 1, __WASI_OFLAGS_CREAT, w);
    opens("a loop of links", "work/loop", 1, 0, r);
    opens("an absolute path", "/work/f", 1, 0, r);
    opens("up and down again", "work/../work/f", 1, 0, r);
    opens("out of the root", "../work/f", 1, 0, r);
    memset(name, 'n', 255);
    memcpy(name, "work/", 5);
    opens("a name of 250 bytes that is not there", name, 1, 0, r);
    memset(name + 255, 'n', 6);
    opens("a name of 256 bytes", name, 1, 0, r);
    opens("truncate without writing", "work/f", 1, __WASI_OFLAGS_TRUNC, r);
    opens("create and directory", "work/x", 1, __WASI_OFLAGS_CREAT | __WASI_OFLAGS_DIRECTORY, r);
}

static void directories(void)
{
    SAY(__wasi_path_create_directory(ROOT, "work/m"));
    SAY(__wasi_path_create_directory(ROOT, "work/m"));
    SAY(__wasi_path_create_directory(ROOT, "work/m/"));
    SAY(__wasi_path_create_directory(ROOT, "work/none/m"));
    SAY(__wasi_path_create_directory(ROOT, "work/f/m"));
    SAY(__wasi_path_create_directory(ROOT, "work/m/n/"));
    SAY(__wasi_path_remove_directory(ROOT, "work/m"));
    SAY(__wasi_path_remove_directory(ROOT, "work/f"));
    SAY(__wasi_path_remove_directory(ROOT, "work/none"));
    SAY(__wasi_path_remove_directory(ROOT, "work/m/n"));
    SAY(__wasi_path_remove_directory(ROOT, "work/m/"));
    SAY(__wasi_path_create_directory(999, "work/m"));
    SAY(__wasi_path_create_directory(0, "work/m"));
}

static void links(void)
{
    unsigned char text[16];
    __wasi_size_t n = 0;
    __wasi_errno_t err;

    SAY(__wasi_path_symlink("some/where", ROOT, "work/s"));
    SAY(__wasi_path_symlink("some/where", ROOT, "work/s"));
    SAY(__wasi_path_symlink("x", ROOT, "work/none/s"));
    SAY(__wasi_path_symlink("", ROOT, "work/empty"));
    err = __wasi_path_readlink(ROOT, "work/s", text, sizeof(text), &n);
    say("readlink", err, "%zu %.10s", n, text);
    err = __wasi_path_readlink(ROOT, "work/s", text, 4, &n);
    say("readlink into four bytes", err, "%zu %.4s", n, text);
    SAY(__wasi_path_readlink(ROOT, "work/f", text, sizeof(text), &n));
    SAY(__wasi_path_readlink(ROOT, "work/none", text, sizeof(text), &n));
    SAY(__wasi_path_link(ROOT, 0, "work/f", ROOT, "work/h"));
    status("a hard link", 0, "work/h");
    SAY(__wasi_path_link(ROOT, 0, "work/f", ROOT, "work/h"));
    SAY(__wasi_path_link(ROOT, 0, "work/none", ROOT, "work/h2"));
    SAY(__wasi_path_link(ROOT, 0, "work/d", ROOT, "work/h2"));
    SAY(__wasi_path_link(ROOT, 0, "work/f", ROOT, "work/none/h2"));
    SAY(__wasi_path_link(ROOT, 0, "work/f", ROOT, "work/h3/"));
    SAY(__wasi_path_unlink_file(ROOT, "work/h"));
    SAY(__wasi_path_unlink_file(ROOT, "work/h"));
    SAY(__wasi_path_unlink_file(ROOT, "work/d"));
    SAY(__wasi_path_unlink_file(ROOT, "work/f/"));
    SAY(__wasi_path_unlink_file(ROOT, "work/s"));
}

static void renaming(void)
{
    SAY(__wasi_path_rename(ROOT, "work/new", ROOT, "work/newer"));
    SAY(__wasi_path_rename(ROOT, "work/new", ROOT, "work/newer"));
    SAY(__wasi_path_rename(ROOT, "work/newer", ROOT, "work/newer"));
    SAY(__wasi_path_rename(ROOT, "work/newer", ROOT, "work/d"));
    SAY(__wasi_path_rename(ROOT, "work/d", ROOT, "work/newer"));
    SAY(__wasi_path_rename(ROOT, "work/d", ROOT, "work/d/below"));
    SAY(__wasi_path_rename(ROOT, "work/d", ROOT, "work/e"));
    SAY(__wasi_path_rename(ROOT, "work/e", ROOT, "work/d/"));
    SAY(__wasi_path_rename(ROOT, "work/newer", ROOT, "work/none/x"));
    SAY(__wasi_path_rename(ROOT, "work/newer", ROOT, "work/file/"));
    SAY(__wasi_path_rename(ROOT, "work/newer", 999, "work/x"));
}

static void statuses(void)
{
    const __wasi_fstflags_t m = __WASI_FSTFLAGS_MTIM;

    status("a file", 1, "work/f");
    status("a directory", 1, "work/d");
    status("a link", 0, "work/l");
    status("what a link leads to", 1, "work/l");
    status("nothing", 1, "work/none");
    status("no name", 1, "");
    status("a loop", 1, "work/loop");
    status("a loop itself", 0, "work/loop");
    SAY(__wasi_path_filestat_set_times(ROOT, 1, "work/l", 0, 7000000000u, m));
    status("after its time was set", 1, "work/f");
    status("the link", 0, "work/l");
    SAY(__wasi_path_filestat_set_times(ROOT, 0, "work/l", 0, 7000000000u, m));
    status("the link, after its own time was set", 0, "work/l");
    SAY(__wasi_path_filestat_set_times(ROOT, 1, "work/none", 0, 0, m));
    SAY(__wasi_path_filestat_set_times(ROOT, 1, "work/f", 0, 0, m | __WASI_FSTFLAGS_MTIM_NOW));
}

int main(void)
{
    opening();
    directories();
    links();
    renaming();
    statuses();
    puts("end");
    return 0;
}
