// SPDX-License-Identifier: Apache-2.0
//! Settings, and modules from descriptors.

use crate::put_text;
use std::ffi::c_char;
use std::fs::File;
use std::os::fd::FromRawFd;
use wasmtime_c_api::wasmtime::{Collector, Config, Enabled, Engine, Module, PoolingAllocationConfig};
use wasmtime_c_api::{wasm_config_t, wasm_engine_t, wasmtime_module_t, wasmtime_pooling_allocation_config_t};

unsafe fn config<'a>(c: *mut wasm_config_t) -> &'a mut Config {
    unsafe { &mut *c.cast::<Config>() }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wtx_config_no_backtrace(c: *mut wasm_config_t) {
    unsafe { config(c) }.wasm_backtrace_max_frames(None);
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wtx_config_dense_image(c: *mut wasm_config_t, bytes: u64) {
    unsafe { config(c) }.memory_guaranteed_dense_image_size(bytes);
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wtx_config_null_collector(c: *mut wasm_config_t) {
    unsafe { config(c) }.collector(Collector::Null);
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wtx_pool_pagemap_scan(p: *mut wasmtime_pooling_allocation_config_t, on: bool) {
    let pool = unsafe { &mut *p.cast::<PoolingAllocationConfig>() };
    pool.pagemap_scan(if on { Enabled::Yes } else { Enabled::No });
}

#[unsafe(no_mangle)]
pub extern "C" fn wtx_pagemap_open() -> bool {
    PoolingAllocationConfig::is_pagemap_scan_available()
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wtx_engine_new(
    config: Box<wasm_config_t>,
    text: *mut c_char,
    text_n: usize,
) -> *mut wasm_engine_t {
    let config: Box<Config> = unsafe { Box::from_raw(Box::into_raw(config).cast()) };
    match Engine::new(&config) {
        Ok(e) => Box::into_raw(Box::new(e)).cast(),
        Err(e) => {
            unsafe { put_text(&format!("{e:#}"), text, text_n) };
            std::ptr::null_mut()
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wtx_module_from_fd(
    engine: *const wasm_engine_t,
    fd: i32,
    text: *mut c_char,
    text_n: usize,
) -> *mut wasmtime_module_t {
    let file = unsafe { File::from_raw_fd(fd) };
    let engine = unsafe { &*engine.cast::<Engine>() };
    let made = unsafe { Module::deserialize_open_file(engine, file) }
        .and_then(|m| m.initialize_copy_on_write_image().map(|()| m));
    match made {
        Ok(m) => Box::into_raw(Box::new(m)).cast(),
        Err(e) => {
            unsafe { put_text(&format!("{e:#}"), text, text_n) };
            std::ptr::null_mut()
        }
    }
}

#[cfg(feature = "compiler")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wtx_precompile(
    engine: *const wasm_engine_t,
    wasm: *const u8,
    wasm_n: usize,
    ret: &mut wasmtime_c_api::wasm_byte_vec_t,
    text: *mut c_char,
    text_n: usize,
) -> bool {
    let engine = unsafe { &*engine.cast::<Engine>() };
    let wasm = unsafe { std::slice::from_raw_parts(wasm, wasm_n) };
    match engine.precompile_module(wasm) {
        Ok(code) => {
            ret.set_buffer(code);
            true
        }
        Err(e) => {
            unsafe { put_text(&format!("{e:#}"), text, text_n) };
            false
        }
    }
}
