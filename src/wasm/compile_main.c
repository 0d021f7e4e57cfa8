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
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"

#define ME "frontal-sandbox-compile"
#define FILE_MAX_BYTES (512ll << 20)

enum { FINE = 0, FAILED = 1, USAGE = 2 };

static const char usage[] = "usage: " ME " IN.wasm OUT.cwasm\n"
                            "       " ME " --version | --key | --help\n"
                            "Compiles a WebAssembly module (or its text, .wat) for frontal-sandbox.\n";

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

static int read_all(const char *path, wasm_byte_vec_t *ret)
{
    FD_AUTO int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st))
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

static wasm_engine_t *new_engine(char *text, size_t n)
{
    wasm_config_t *c = wasm__settings();
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
    wasm_byte_vec_t code = {0};
    wasmtime_module_t *m = NULL;
    wasmtime_error_t *e = wasmtime_module_new(engine, (const uint8_t *)wasm->data, wasm->size, &m);
    if (!e)
        e = wasmtime_module_serialize(m, &code);
    if (m)
        wasmtime_module_delete(m);
    if (e)
        return fail_error(in, e);
    int r = write_all(out, &code);
    wasm_byte_vec_delete(&code);
    return r < 0 ? fail(out, strerror(-r)) : FINE;
}

static int compile(const char *in, const char *out)
{
    char text[300];
    wasm_engine_t *engine = new_engine(text, sizeof(text));
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

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        printf(ME " " FRONTAL_VERSION " (%s " WASM_TARGET ")\n", wasm__key());
        return FINE;
    }
    if (argc == 2 && strcmp(argv[1], "--key") == 0) {
        printf("%s-" WASM_TARGET "\n", wasm__key());
        return FINE;
    }
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
