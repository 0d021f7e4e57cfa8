/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/script.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/num.h"
#include "cli/view.h"
#include "types/errtab.h"

static int read_file(const char *path, struct buf *out)
{
    FD_AUTO int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st)) {
        int e = errno;
        cli_error("%s: %s", path, errtab_text(e));
        return -e;
    }
    if (S_ISDIR(st.st_mode)) {
        cli_error("%s: %s", path, errtab_text(EISDIR));
        return -EISDIR;
    }
    int r = fd_read_all(fd, out);
    if (r)
        cli_error("%s: %s", path, errtab_text(r));
    return r;
}

/* The name of the program that a "#!" line asks for ("bash" of "#!/usr/bin/env bash"), or empty. */
static struct str interpreter(struct str text)
{
    if (!str_starts(text, STR("#!")))
        return str_of(NULL, 0);
    ptrdiff_t nl = str_find(text, '\n', 0);
    struct str line = str_of(text.p + 2, (nl < 0 ? text.n : (size_t)nl) - 2);
    struct str name = {0};
    for (int word = 0; word < 2; word++) {
        while (line.n && (*line.p == ' ' || *line.p == '\t'))
            line = str_from(line, 1);
        size_t n = 0;
        while (n < line.n && line.p[n] != ' ' && line.p[n] != '\t' && line.p[n] != '\r')
            n++;
        struct str path = str_of(line.p, n);
        line = str_from(line, n);
        size_t base = n;
        while (base && path.p[base - 1] != '/')
            base--;
        name = str_from(path, base);
        if (!str_eqc(name, "env"))
            break;
    }
    return name;
}

/* As bash takes a file for binary: a NUL in the first 80 bytes of its first line. */
static bool is_binary(struct str text)
{
    ptrdiff_t nl = str_find(text, '\n', 0);
    size_t first = nl < 0 ? text.n : (size_t)nl;
    return first && memchr(text.p, 0, NUM_MIN(first, (size_t)80));
}

/* Whether the shell can run it: 0, or -ENOEXEC after a message. */
static int check_script(const char *path, struct str text, bool *ret_posix)
{
    if (is_binary(text)) {
        cli_error("%s: cannot execute binary file", path);
        return -ENOEXEC;
    }
    struct str in = interpreter(text);
    *ret_posix = str_eqc(in, "sh") || str_eqc(in, "dash");
    if (in.n == 0 || *ret_posix || str_eqc(in, "bash"))
        return 0;
    cli_error(
        "%s: it asks for '%.*s', and run takes bash and sh scripts; mount its directory and run the command by name "
        "(run --mount DIR:/mnt -- COMMAND /mnt/%s)",
        path, (int)in.n, in.p, path);
    return -ENOEXEC;
}

int cli_script_read(const char *path, struct buf *out, bool *ret_posix)
{
    int r = read_file(path, out);
    return r ? r : check_script(path, buf_str(out), ret_posix);
}
