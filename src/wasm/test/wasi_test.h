/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What the tests of wasi share: a program without code. The test calls the host's functions as the guest would, on a
 * memory of its own, and in the way of the engine: first without waiting, then, when that is answered with WASI_BLOCK,
 * with.
 */

#include "engine/engine.h"
#include "proc/test/proc_test.h"
#include "wasm/wasi.h"

#define MEM_BYTES 65536u
#define PREVIEW1 "wasi_snapshot_preview1"
#define HOST "frontal_sandbox_1"

/* Errno values of WASI as the witx numbers them; written anew here, so that the table is compared with something. */
enum {
    E_2BIG = 1,
    E_ACCES = 2,
    E_AGAIN = 6,
    E_BADF = 8,
    E_CHILD = 12,
    E_EXIST = 20,
    E_FAULT = 21,
    E_FBIG = 22,
    E_INVAL = 28,
    E_ISDIR = 31,
    E_LOOP = 32,
    E_MFILE = 33,
    E_NAMETOOLONG = 37,
    E_NODEV = 43,
    E_NOENT = 44,
    E_NOEXEC = 45,
    E_NOMEM = 48,
    E_NOTDIR = 54,
    E_NOTEMPTY = 55,
    E_NOTSOCK = 57,
    E_NOTSUP = 58,
    E_NOTTY = 59,
    E_PERM = 63,
    E_PIPE = 64,
    E_RANGE = 68,
    E_SPIPE = 70,
    E_SRCH = 71,
    E_NOTCAPABLE = 76,
};

struct prog {
    struct wasi w;
    struct exec_image img;
    uint32_t top;     /* where the next string goes */
    unsigned blocked; /* calls that had to be made twice */
    unsigned refreshed;
    uint8_t mem[MEM_BYTES];
};

/* The entry of a function; the test ends when there is none. */
const struct wasi_call *find_call(const char *module, const char *name);
/* Begins a program with two arguments and one variable. */
void prog_init(struct prog *g, struct proc *p);
/* Ends it. */
void prog_done(struct prog *g);
/* Puts a C string (without NUL) into memory: its place. */
uint32_t text(struct prog *g, const char *s);
/* Room for @n bytes, aligned. */
uint32_t room(struct prog *g, uint32_t n);
/* Reads and writes memory. */
uint32_t get32(const struct prog *g, uint32_t at);
/* See get32(). */
uint64_t get64(const struct prog *g, uint32_t at);
/* See get32(). */
void set32(struct prog *g, uint32_t at, uint32_t v);
/* See get32(). */
void set64(struct prog *g, uint32_t at, uint64_t v);
/* Calls a function as the engine does. */
int call_v(struct prog *g, const char *module, const char *name, const uint64_t *args, size_t n);
#define CALL(g, name, ...)                                                                                             \
    call_v((g), PREVIEW1, #name, (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / 8)
#define HCALL(g, name, ...)                                                                                            \
    call_v((g), HOST, #name, (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / 8)

/* path_open of @path from the preopen with oflags @o and the rights to read (1), write (2) and all others (4): the
 * descriptor, or a negative errno of WASI. */
int open_at(struct prog *g, const char *path, uint32_t o, unsigned rights);
/* fd_write of a C string, fd_read into @buf: bytes, or a negative errno of WASI. */
int write_text(struct prog *g, uint32_t fd, const char *s);
/* See write_text(). */
int read_some(struct prog *g, uint32_t fd, void *buf, uint32_t n);

/* Runs @main(g) as a process to its end: the outcome. What it wrote must be @want. */
struct outcome run_prog(void (*main)(struct prog *g), const char *want);
