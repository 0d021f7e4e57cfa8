/* SPDX-License-Identifier: Apache-2.0 */
#include "wasm/wasm_int.h"

#include <errno.h>

#include "wasm/wasi.h"

int wasm__define(wasmtime_linker_t *l, wtx_host_fn fn, struct err *err)
{
    for (size_t i = 0; i < wasi_n_calls; i++) {
        const struct wasi_call *c = &wasi_calls[i];
        wasmtime_error_t *e = wtx_linker_define(l, c->module, c->name, c->params, c->returns, fn, c);
        if (e) {
            wasmtime_error_delete(e);
            return err_set(err, -EINVAL, "%s.%s cannot be defined", c->module, c->name);
        }
    }
    return 0;
}
