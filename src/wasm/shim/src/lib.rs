// SPDX-License-Identifier: Apache-2.0
//! Wasmtime's whole C API, and what it lacks (prefix `wtx_`, described in include/wtx.h).
//!
//! The casts are sound because the C API's wrappers hold exactly one field, which the assertions below check.

pub use wasmtime_c_api::*;

mod call;
mod settings;

use wasmtime_c_api::wasmtime::{
    Config, Engine, InstancePre, Linker, Module, PoolingAllocationConfig,
};

const _: () = assert!(size_of::<wasm_config_t>() == size_of::<Config>());
const _: () = assert!(size_of::<wasmtime_pooling_allocation_config_t>() == size_of::<PoolingAllocationConfig>());
const _: () = assert!(size_of::<wasm_engine_t>() == size_of::<Engine>());
const _: () = assert!(size_of::<wasmtime_module_t>() == size_of::<Module>());
const _: () = assert!(size_of::<wasmtime_linker_t>() == size_of::<Linker<WasmtimeStoreData>>());
const _: () = assert!(size_of::<wasmtime_instance_pre_t>() == size_of::<InstancePre<WasmtimeStoreData>>());

/// Copies a message into a C buffer, cut to fit, with its NUL.
unsafe fn put_text(text: &str, to: *mut std::ffi::c_char, n: usize) {
    if n == 0 {
        return;
    }
    let len = text.floor_char_boundary(n - 1);
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), to.cast::<u8>(), len);
        *to.add(len) = 0;
    }
}
