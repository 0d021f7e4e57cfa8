/* SPDX-License-Identifier: Apache-2.0 */
#include "wasm/wasm_int.h"

#include <stdio.h>

/* Pages of a module's memory up to here are mapped from its file, not copied, however sparse its data is. */
#define DENSE_IMAGE (UINT64_C(64) << 20)

/* Deep enough for CPython's own limit on recursion to come first, with as much again for the host's functions. */
#define WASM_STACK (1u << 20)
#define FIBER_STACK (2u << 20)

wasm_config_t *wasm__settings(void)
{
    wasm_config_t *c = wasm_config_new();
    wasmtime_config_epoch_interruption_set(c, true);
    wasmtime_config_wasm_exceptions_set(c, true);
    wtx_config_null_collector(c);
    wasmtime_config_memory_init_cow_set(c, true);
    wtx_config_dense_image(c, DENSE_IMAGE);
    wasmtime_config_wasm_relaxed_simd_deterministic_set(c, true);
    wasmtime_config_native_unwind_info_set(c, false);
    wasmtime_config_max_wasm_stack_set(c, WASM_STACK);
    wasmtime_config_async_stack_size_set(c, FIBER_STACK);
    wtx_config_no_backtrace(c);
    return c;
}

const char *wasm_key(void)
{
    /* Changed together with what stands above, when that changes the code that is made. */
    static const char text[] = "epoch exceptions gc-null cow dense64 relaxed-deterministic no-unwind signals 4GiB";
    static char key[48];
    if (!key[0])
        snprintf(key, sizeof(key), WASMTIME_VERSION "-%016llx",
                 (unsigned long long)str_hash(str_of(text, sizeof(text) - 1), 0));
    return key;
}
