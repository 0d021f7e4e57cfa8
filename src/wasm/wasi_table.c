/* SPDX-License-Identifier: Apache-2.0 */
#include "wasm/wasi_calls_int.h"

#define PREVIEW1(name, params, kind) {"wasi_snapshot_preview1", #name, params, true, kind, wasi__##name},
#define PREVIEW1_VOID(name, params, kind) {"wasi_snapshot_preview1", #name, params, false, kind, wasi__##name},
#define HOST(name, params, kind) {"frontal_sandbox_1", #name, params, true, kind, wasi__host_##name},

const struct wasi_call wasi_calls[] = {WASI_PREVIEW1(PREVIEW1) WASI_PREVIEW1_VOID(PREVIEW1_VOID) WASI_HOST(HOST)};
const size_t wasi_n_calls = sizeof wasi_calls / sizeof *wasi_calls;
