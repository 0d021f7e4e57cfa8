// SPDX-License-Identifier: Apache-2.0
//! Programs as calls that can be suspended, and the host functions that suspend them.

use crate::put_text;
use std::ffi::{CStr, c_char, c_void};
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use wasmtime_c_api::wasmtime::{
    AsContext, AsContextMut, Caller, Error, FuncType, InstancePre, Linker, Memory, PoolConcurrencyLimitError,
    ResourceLimiter, Result, Store, ThrownException, Trap, Val, ValType,
};
use wasmtime_c_api::{
    WasmtimeStoreContextMut, WasmtimeStoreData, wasm_engine_t, wasmtime_context_get_data, wasmtime_error_t,
    wasmtime_instance_pre_t, wasmtime_linker_t, wasmtime_store_new,
};

/// Most elements of a table: each is a word that the pool reserves.
const TABLE_MAX: usize = 100_000;

// ---- host functions ----

type HostFn = extern "C" fn(*mut c_void, *const c_void, *mut u64, bool) -> i32;

const DONE: i32 = 0;
const SUSPEND: i32 = 1; // anything else ends the program

/// What a host function ends a program with.
#[derive(Debug)]
struct Ended;

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the program has ended")
    }
}

impl std::error::Error for Ended {}

/// Pointers of C's, used by the one thread that there is.
#[derive(Clone, Copy)]
struct Host {
    call: HostFn,
    what: *const c_void,
}
unsafe impl Send for Host {}
unsafe impl Sync for Host {}

#[derive(Clone, Copy)]
struct Program(*mut c_void);
unsafe impl Send for Program {}
unsafe impl Sync for Program {}

const ARGS_MAX: usize = 12;

fn to_args(params: &[Val]) -> [u64; ARGS_MAX] {
    let mut args = [0; ARGS_MAX];
    for (a, p) in args.iter_mut().zip(params) {
        *a = match p {
            Val::I32(v) => u64::from(*v as u32),
            Val::I64(v) => *v as u64,
            _ => unreachable!("host functions take integers"),
        };
    }
    args
}

async fn host_call(host: Host, program: Program, params: &[Val], results: &mut [Val]) -> Result<()> {
    let mut args = to_args(params);
    let mut again = false;
    let answer = poll_fn(|_| {
        let (host, program) = (host, program);
        let r = (host.call)(program.0, host.what, args.as_mut_ptr(), again);
        again = true;
        if r == SUSPEND { Poll::Pending } else { Poll::Ready(r) }
    })
    .await;
    if answer != DONE {
        return Err(Error::new(Ended));
    }
    if let Some(r) = results.first_mut() {
        *r = Val::I32(args[0] as i32);
    }
    Ok(())
}

fn valtype(letter: char) -> ValType {
    if letter == 'I' { ValType::I64 } else { ValType::I32 }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wtx_linker_define(
    linker: *mut wasmtime_linker_t,
    module: *const c_char,
    name: *const c_char,
    params: *const c_char,
    returns: bool,
    call: HostFn,
    what: *const c_void,
) -> Option<Box<wasmtime_error_t>> {
    let linker = unsafe { &mut *linker.cast::<Linker<WasmtimeStoreData>>() };
    let [module, name, params] = [module, name, params].map(|s| unsafe { CStr::from_ptr(s) }.to_str().unwrap_or(""));
    assert!(params.len() <= ARGS_MAX);
    let results = returns.then_some(ValType::I32);
    let ty = FuncType::new(linker.engine(), params.chars().map(valtype), results);
    let host = Host { call, what };
    let made = linker.func_new_async(module, name, ty, move |caller: Caller<'_, WasmtimeStoreData>, params, results| {
        let program = Program(wasmtime_context_get_data(caller.as_context()));
        Box::new(host_call(host, program, params, results))
    });
    made.err().map(|e| Box::new(e.into()))
}

// ---- programs ----

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Hooks {
    program: *mut c_void,
    grow: extern "C" fn(*mut c_void, usize, usize) -> bool,
    began: extern "C" fn(*mut c_void, WasmtimeStoreContextMut<'_>, Option<&Memory>),
}
unsafe impl Send for Hooks {}
unsafe impl Sync for Hooks {}

struct Limiter(Hooks);

impl ResourceLimiter for Limiter {
    fn memory_growing(&mut self, now: usize, want: usize, max: Option<usize>) -> Result<bool> {
        Ok(max.is_none_or(|m| want <= m) && (self.0.grow)(self.0.program, now, want))
    }
    fn table_growing(&mut self, _now: usize, want: usize, _max: Option<usize>) -> Result<bool> {
        Ok(want <= TABLE_MAX)
    }
}

type Data = WasmtimeStoreData;

pub struct Call {
    // Dropped in this order: the future borrows the store.
    future: Option<Pin<Box<dyn Future<Output = Result<()>>>>>,
    store: *mut Store<Data>,
    error: Option<Error>,
}

impl Drop for Call {
    fn drop(&mut self) {
        self.future = None;
        drop(unsafe { Box::from_raw(self.store) });
    }
}

async fn start(pre: &InstancePre<Data>, store: &mut Store<Data>, hooks: Hooks) -> Result<()> {
    let instance = pre.instantiate_async(&mut *store).await?;
    let memory = instance.get_memory(&mut *store, "memory");
    (hooks.began)(hooks.program, store.as_context_mut(), memory.as_ref());
    let func = instance.get_typed_func::<(), ()>(&mut *store, "_start")?;
    func.call_async(&mut *store, ()).await
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wtx_call_new(
    engine: *const wasm_engine_t,
    pre: *const wasmtime_instance_pre_t,
    hooks: *const Hooks,
) -> *mut Call {
    let hooks = unsafe { *hooks };
    let store: *mut Store<Data> = Box::into_raw(wasmtime_store_new(unsafe { &*engine }, hooks.program, None)).cast();
    let inner = unsafe { &mut *store };
    inner.set_epoch_deadline(1);
    inner.epoch_deadline_async_yield_and_update(1);
    let mut limiter = Limiter(hooks);
    inner.limiter(move |_| {
        // The closure owns it, and the store keeps the closure where it is as long as it is used.
        let p: *mut Limiter = &mut limiter;
        unsafe { &mut *p }
    });
    let pre = unsafe { &*pre.cast::<InstancePre<Data>>() };
    let future = Some(Box::pin(start(pre, inner, hooks)) as Pin<Box<dyn Future<Output = Result<()>>>>);
    Box::into_raw(Box::new(Call { future, store, error: None }))
}

const PENDING: i32 = 0;
const RETURNED: i32 = 1;
const TRAPPED: i32 = 2;
const THREW: i32 = 3;
const ENDED: i32 = 4;
const FULL: i32 = 5;
const FAILED: i32 = 6;

fn kind_of(e: &Error, trap: &mut u8) -> i32 {
    if let Some(t) = e.downcast_ref::<Trap>() {
        *trap = *t as u8;
        TRAPPED
    } else if e.is::<Ended>() {
        ENDED
    } else if e.is::<ThrownException>() {
        THREW
    } else if e.is::<PoolConcurrencyLimitError>() {
        FULL
    } else {
        FAILED
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wtx_call_poll(call: *mut Call, trap: *mut u8) -> i32 {
    let call = unsafe { &mut *call };
    let Some(future) = &mut call.future else { return FAILED };
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Pending => PENDING,
        Poll::Ready(Ok(())) => RETURNED,
        Poll::Ready(Err(e)) => {
            let kind = kind_of(&e, unsafe { &mut *trap });
            call.error = Some(e);
            kind
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wtx_call_message(call: *const Call, text: *mut c_char, n: usize) {
    let message = unsafe { &*call }.error.as_ref().map(|e| format!("{e:#}"));
    unsafe { put_text(&message.unwrap_or_default(), text, n) };
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wtx_call_delete(call: *mut Call) {
    if !call.is_null() {
        drop(unsafe { Box::from_raw(call) });
    }
}
