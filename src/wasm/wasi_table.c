/* SPDX-License-Identifier: Apache-2.0 */
#include "wasm/wasi_calls_int.h"

#include <string.h>

#define PREVIEW1_CALL(name, params, kind)                                                                              \
    {"wasi_snapshot_preview1", #name, params, strcmp(#name, "proc_exit") != 0, kind, wasi__##name},
#define HOST_CALL(name, params, kind) {"frontal_sandbox_1", #name, params, true, kind, wasi__host_##name},

const struct wasi_call wasi_calls[] = {WASI_PREVIEW1(PREVIEW1_CALL) WASI_HOST(HOST_CALL)};
const size_t wasi_n_calls = sizeof wasi_calls / sizeof *wasi_calls;
