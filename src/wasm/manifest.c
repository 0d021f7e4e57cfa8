/* SPDX-License-Identifier: Apache-2.0 */
#include "wasm/wasm.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/mem.h"
#include "types/limits.h"

#define COLUMNS 5

int wasm_userland_open(int dir_fd, const char *name)
{
    struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
    if (dir_fd < 0)
        return -ENOENT;
    FD_AUTO int fd = (int)syscall(SYS_openat2, dir_fd, name, &how, sizeof(how));
    struct stat st;
    if (fd < 0 || fstat(fd, &st))
        return -errno;
    return S_ISREG(st.st_mode) ? fd_steal(&fd) : -EBADMSG;
}

/* The manifest's text with a NUL, one block; NULL and an error. */
static int read_text(int dir_fd, char **ret, size_t *ret_n)
{
    FD_AUTO int fd = wasm_userland_open(dir_fd, "manifest.tsv");
    if (fd < 0)
        return fd;
    size_t n = 0;
    MEM_AUTO char *text = mem_alloc(LIMIT_MANIFEST + 1);
    for (;;) {
        ssize_t r = read(fd, text + n, LIMIT_MANIFEST + 1 - n);
        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            return -errno;
        if (r == 0)
            break;
        n += (size_t)r;
        if (n > LIMIT_MANIFEST)
            return -EBADMSG;
    }
    text[n] = 0;
    *ret = text;
    *ret_n = n;
    text = NULL;
    return 0;
}

static bool plain_name(const char *s)
{
    return *s && *s != '.' && !strchr(s, '/') && strlen(s) <= LIMIT_NAME - sizeof(".cwasm");
}

/* Cuts a line at its tabs. */
static int take_line(char *line, struct wasm_tool *t)
{
    const char *col[COLUMNS];
    int n = 0;
    for (char *s = line; s; n++) {
        char *tab = strchr(s, '\t');
        if (n == COLUMNS)
            return -EBADMSG;
        if (tab)
            *tab++ = 0;
        col[n] = s;
        s = tab;
    }
    if (n != COLUMNS || !plain_name(col[0]) || !plain_name(col[1]))
        return -EBADMSG;
    *t = (struct wasm_tool){col[0], col[1], col[2], col[3], col[4]};
    return 0;
}

static int by_name(const void *a, const void *b)
{
    const struct wasm_tool *x = a, *y = b;
    return strcmp(x->name, y->name);
}

/* Fills @v, which has room for a tool a line, and says how many there are. */
static int take_lines(char *text, struct wasm_tool *v, size_t *ret_n, struct err *err)
{
    size_t n = 0;
    int number = 0;
    for (char *line = text, *next; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        number++;
        if (*line == '#' || !*line)
            continue;
        if (take_line(line, &v[n]) < 0)
            return err_set(err, -EBADMSG, "manifest.tsv, line %d: not name, module, version, licence, source", number);
        n++;
    }
    qsort(v, n, sizeof(*v), by_name);
    for (size_t i = 1; i < n; i++)
        if (strcmp(v[i - 1].name, v[i].name) == 0)
            return err_set(err, -EBADMSG, "manifest.tsv: %s stands there twice", v[i].name);
    *ret_n = n;
    return 0;
}

int wasm_tools_read(int dir_fd, struct wasm_tool **ret, size_t *ret_n, struct err *err)
{
    char *text = NULL;
    size_t n = 0, lines = 1;
    int r = read_text(dir_fd, &text, &n);
    if (r < 0)
        return err_set(err, r, r == -ENOENT ? "there is no userland" : "the userland's manifest.tsv cannot be read");
    for (size_t i = 0; i < n; i++)
        lines += text[i] == '\n';
    /* One block: the texts lie behind the tools. */
    struct wasm_tool *v = mem_alloc(lines * sizeof(*v) + n + 1);
    char *copy = (char *)(v + lines);
    memcpy(copy, text, n + 1);
    mem_free(text);
    r = strlen(copy) == n ? take_lines(copy, v, ret_n, err) : err_set(err, -EBADMSG, "manifest.tsv holds a NUL");
    if (r < 0)
        mem_free(v);
    else
        *ret = v;
    return r;
}

void wasm_tools_free(struct wasm_tool *v)
{
    mem_free(v);
}
