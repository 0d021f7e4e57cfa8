/* SPDX-License-Identifier: Apache-2.0 */

/*
 * jq's builtins are a program of some hundred definitions that it parses at each start: 20 ms as WebAssembly, all that
 * `jq .` takes. The module is a snapshot (wizer) of one that has parsed them. Included by src/builtin.c, once.
 *
 * The definitions are consumed by the program that they are bound to, so they serve one: for modules that the program
 * imports they are parsed, as ever.
 */
#include "jq.h"

#ifdef __wasm__
static block prepared;
static int have_prepared;

void __wasm_call_ctors(void);
void __wasm_call_dtors(void);
void __wasilibc_initialize_environ(void);
void compat_sync_cwd(void);
int __main_void(void);

__attribute__((export_name("wizer.initialize"))) void frontal_initialize(void)
{
    __wasm_call_ctors();
    prepared = parse_builtins(jq_init());
    have_prepared = 1;
}

__attribute__((export_name("wizer.resume"))) void frontal_resume(void)
{
    __wasilibc_initialize_environ();
    compat_sync_cwd();
    int status = __main_void();
    __wasm_call_dtors();
    _Exit(status);
}

static block builtin_definitions(jq_state *jq)
{
    if (!have_prepared)
        return parse_builtins(jq);
    have_prepared = 0;
    return prepared;
}
#else
#define builtin_definitions parse_builtins
#endif
