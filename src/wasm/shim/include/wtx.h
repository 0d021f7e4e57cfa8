/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * wtx - what Wasmtime's C API lacks: some settings, and a program as one call that can be suspended anywhere.
 *
 * A host function of wtx_linker_define() is a C callback that answers at once, ends the program, or suspends it. A
 * suspended program's wtx_call_poll() gives WTX_PENDING; what it waits for is the embedder's to know. When it is polled
 * again, the callback is asked again, with @again set, until it does not answer WTX_SUSPEND.
 *
 * Everything here is used by one thread.
 */

#include <wasmtime.h>

/* Backtraces of traps off: they cost time at each trap, and proc_exit is one. */
void wtx_config_no_backtrace(wasm_config_t *);
/* Bytes up to which a memory image may be larger than its data, and still be mapped copy-on-write. */
void wtx_config_dense_image(wasm_config_t *, uint64_t bytes);
/* The null collector: enough for exceptions of short-lived programs, and its heap is bounded. */
void wtx_config_null_collector(wasm_config_t *);
/* Reset the slots of the pool by a scan of what was written (Linux 6.7), if @on. */
void wtx_pool_pagemap_scan(wasmtime_pooling_allocation_config_t *, bool on);
/* Opens /proc/self/pagemap for that scan, for this process, if it is not open: whether the scan works here. */
bool wtx_pagemap_open(void);

/* An engine (takes the settings). NULL and a message of at most @text_n bytes with its NUL. */
wasm_engine_t *wtx_engine_new(wasm_config_t *, char *text, size_t text_n);
/* A module from a precompiled file (takes the descriptor), mapped, with its memory image. NULL and a message of at most
 * @text_n bytes with its NUL. */
wasmtime_module_t *wtx_module_from_fd(const wasm_engine_t *, int fd, char *text, size_t text_n);
/* Only in the library with the compiler: the precompiled form of @wasm, which the caller frees. No code is made
 * executable on the way. False and a message of at most @text_n bytes with its NUL. */
bool wtx_precompile(const wasm_engine_t *, const uint8_t *wasm, size_t wasm_n, wasm_byte_vec_t *ret, char *text,
                    size_t text_n);

enum { WTX_DONE, WTX_SUSPEND, WTX_END };
/* @program is what wtx_call_new() was given, @args have an i32 zero-extended, and args[0] takes the result. */
typedef int32_t (*wtx_host_fn)(void *program, const void *call, uint64_t *args, bool again);
/* Defines a function: @params has one letter each, i for i32, I for i64; @returns: an i32. NULL or an error. */
wasmtime_error_t *wtx_linker_define(wasmtime_linker_t *, const char *module, const char *name, const char *params,
                                    bool returns, wtx_host_fn fn, const void *call);

/* A program: its store, instance and the call of _start. */
typedef struct wtx_call wtx_call_t;
struct wtx_hooks {
    void *program;
    /* Before a memory grows from @now to @want bytes (at first from 0): whether it may. */
    bool (*grow)(void *program, size_t now, size_t want);
    /* The instance is there, and with it the memory that it exports, if any. */
    void (*began)(void *program, wasmtime_context_t *ctx, const wasmtime_memory_t *memory);
};
/* Nothing runs before the first poll. @hooks is copied. */
wtx_call_t *wtx_call_new(const wasm_engine_t *, const wasmtime_instance_pre_t *, const struct wtx_hooks *hooks);
enum { WTX_PENDING, WTX_RETURNED, WTX_TRAPPED, WTX_THREW, WTX_ENDED, WTX_FULL, WTX_FAILED };
/* Goes on until it ends, is suspended, or an epoch has passed (also WTX_PENDING). WTX_TRAPPED: *ret_trap is a
 * wasmtime_trap_code_t. WTX_ENDED: a host function said WTX_END. WTX_FULL: no slot of the pool is free. WTX_FAILED: it
 * did not begin. */
int32_t wtx_call_poll(wtx_call_t *, uint8_t *ret_trap);
/* Why it trapped or failed: a message of at most @n bytes with its NUL. */
void wtx_call_message(const wtx_call_t *, char *text, size_t n);
/* Ends it wherever it is, and gives its slot back. Accepts NULL. */
void wtx_call_delete(wtx_call_t *);
