/* SPDX-License-Identifier: Apache-2.0 */

/*
 * frontal-sandbox-compile - WebAssembly to a precompiled file of this machine's code, which workers map.
 *
 * What it writes runs only with the same Wasmtime and settings: --version prints a key of both, which belongs into the
 * name of a cache. The code is for the baseline of the machine's kind, so that the file can be used on another of it.
 */

#include "wasm/wasm_int.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "confine/confine.h"
#include "types/limits.h"

#define ME "frontal-sandbox-compile"
#define FILE_MAX_BYTES (512ll << 20)

enum { FINE = 0, FAILED = 1, USAGE = 2 };

static const char usage[] =
    "usage: " ME " IN.wasm OUT.cwasm\n"
    "       " ME " --confined <IN.wasm >OUT.cwasm\n"
    "       " ME " --version | --key | --help\n"
    "Compiles a WebAssembly module (or its text, .wat) for frontal-sandbox. With --confined it first gives up all "
    "rights\n"
    "but to read the module (no text) from one file and to write the code into another; so frontal-sandbox calls it.\n";

static int fail(const char *what, const char *why)
{
    fprintf(stderr, ME ": %s: %s\n", what, why);
    return FAILED;
}

/* The message of @e, which is freed. */
static int fail_error(const char *what, wasmtime_error_t *e)
{
    wasm_byte_vec_t v;
    wasmtime_error_message(e, &v);
    fprintf(stderr, ME ": %s: %.*s\n", what, (int)v.size, v.data);
    wasm_byte_vec_delete(&v);
    wasmtime_error_delete(e);
    return FAILED;
}

static int read_fd(int fd, wasm_byte_vec_t *ret)
{
    struct stat st;
    if (fstat(fd, &st))
        return -errno;
    if (st.st_size > FILE_MAX_BYTES)
        return -EFBIG;
    wasm_byte_vec_new_uninitialized(ret, (size_t)st.st_size);
    for (size_t n = 0; n < ret->size;) {
        ssize_t r = read(fd, ret->data + n, ret->size - n);
        if (r <= 0)
            return r < 0 ? -errno : -EIO;
        n += (size_t)r;
    }
    return 0;
}

static int read_all(const char *path, wasm_byte_vec_t *ret)
{
    FD_AUTO int fd = open(path, O_RDONLY | O_CLOEXEC);
    return fd < 0 ? -errno : read_fd(fd, ret);
}

/* As a whole or not at all, and no file that is mapped somewhere is ever changed. */
static int write_all(const char *path, const wasm_byte_vec_t *v)
{
    size_t n = strlen(path) + 32;
    MEM_AUTO char *tmp = mem_alloc(n);
    snprintf(tmp, n, "%s.%ld.tmp", path, (long)getpid());
    FD_AUTO int fd = open(tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0)
        return -errno;
    int r = fd_write_all(fd, str_of(v->data, v->size));
    if (r == 0 && (fsync(fd) || rename(tmp, path)))
        r = -errno;
    if (r < 0)
        (void)unlink(tmp);
    return r;
}

/* @confined: in one thread, and without what programs of a session have no use or room for. */
static wasm_engine_t *new_engine(bool confined, char *text, size_t n)
{
    wasm_config_t *c = wasm__settings();
    if (confined) {
        wasmtime_config_parallel_compilation_set(c, false);
        wasmtime_config_wasm_memory64_set(c, false);
        wasmtime_config_wasm_multi_memory_set(c, false);
    }
    wasmtime_config_cranelift_opt_level_set(c, WASMTIME_OPT_LEVEL_SPEED);
    wasmtime_error_t *e = wasmtime_config_target_set(c, WASM_TARGET);
    if (e) {
        wasmtime_error_delete(e);
        snprintf(text, n, "no compiler for " WASM_TARGET);
        wasm_config_delete(c);
        return NULL;
    }
    return wtx_engine_new(c, text, n);
}

/* The module's bytes, made of text if it is that. */
static int load(const char *path, wasm_byte_vec_t *ret)
{
    int r = read_all(path, ret);
    if (r < 0)
        return fail(path, strerror(-r));
    if (ret->size >= 4 && memcmp(ret->data, "\0asm", 4) == 0)
        return FINE;
    wasm_byte_vec_t text = *ret;
    wasmtime_error_t *e = wasmtime_wat2wasm(text.data, text.size, ret);
    wasm_byte_vec_delete(&text);
    return e ? fail_error(path, e) : FINE;
}

static int compile_bytes(wasm_engine_t *engine, const char *in, const wasm_byte_vec_t *wasm, const char *out)
{
    char text[300];
    wasm_byte_vec_t code = {0};
    if (!wtx_precompile(engine, (const uint8_t *)wasm->data, wasm->size, &code, text, sizeof(text)))
        return fail(in, text);
    int r = write_all(out, &code);
    wasm_byte_vec_delete(&code);
    return r < 0 ? fail(out, strerror(-r)) : FINE;
}

static int compile(const char *in, const char *out)
{
    char text[300];
    wasm_engine_t *engine = new_engine(false, text, sizeof(text));
    if (!engine)
        return fail("Wasmtime", text);
    wasm_byte_vec_t wasm = {0};
    int r = load(in, &wasm);
    if (r == FINE) {
        r = compile_bytes(engine, in, &wasm, out);
        wasm_byte_vec_delete(&wasm);
    }
    wasm_engine_delete(engine);
    return r;
}

/* ---- the compile role: what is wrong is said without our name, because a message of the program is made of it ---- */

static int confined_fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    return FAILED;
}

static int confine(void)
{
    struct confine_report report;
    const struct confine_config cfg = {.compiles = true, .memory_ceiling = MEM_LEAK_CHECK ? 0 : LIMIT_COMPILE_MEMORY};
    struct err err;
    confine_unshare(&report);
    if (confine_self(&cfg, &report, &err))
        return confined_fail(err.text);
    /* Who asked may have ended before its end was to end us: then nobody reads what is wrong. */
    struct pollfd p = {STDERR_FILENO, 0, 0};
    return poll(&p, 1, 0) == 1 && (p.revents & POLLERR) ? FAILED : FINE;
}

static int confined_compile(void)
{
    char text[LIMIT_COMPILE_TEXT];
    int r = confine();
    if (r != FINE)
        return r;
    wasm_byte_vec_t wasm = {0}, code = {0};
    r = read_fd(STDIN_FILENO, &wasm);
    if (r < 0)
        return confined_fail(strerror(-r));
    if (wasm.size < 4 || memcmp(wasm.data, "\0asm", 4) != 0)
        return confined_fail("not a WebAssembly module");
    wasm_engine_t *engine = new_engine(true, text, sizeof(text));
    if (!engine || !wtx_precompile(engine, (const uint8_t *)wasm.data, wasm.size, &code, text, sizeof(text)))
        return confined_fail(text);
    r = fd_write_all(STDOUT_FILENO, str_of(code.data, code.size));
    return r < 0 ? confined_fail(strerror(-r)) : FINE; /* the process ends: nothing is freed */
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        printf(ME " " FRONTAL_VERSION " (%s " WASM_TARGET ")\n", wasm_key());
        return FINE;
    }
    if (argc == 2 && strcmp(argv[1], "--key") == 0) {
        printf("%s-" WASM_TARGET "\n", wasm_key());
        return FINE;
    }
    if (argc == 2 && strcmp(argv[1], "--confined") == 0)
        _exit(confined_compile()); /* nothing of what runs at an end is needed, or allowed */
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        fputs(usage, stdout);
        return FINE;
    }
    if (argc != 3 || argv[1][0] == '-') {
        fputs(usage, stderr);
        return USAGE;
    }
    return compile(argv[1], argv[2]);
}
