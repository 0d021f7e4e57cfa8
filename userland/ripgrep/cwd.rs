// SPDX-License-Identifier: Apache-2.0

//! The working directory. Rust's libc for WASI keeps one of its own, which begins as "/"; the host has the real one.

#[link(wasm_import_module = "frontal_sandbox_1")]
extern "C" {
    #[link_name = "getcwd"]
    fn host_getcwd(buf: *mut u8, buf_n: usize, ret_n: *mut usize) -> i32;
}

const ENOSYS: i32 = 52; // a plain WASI without our imports

/// To be called before anything opens a relative path. Rust's own paths on WASI are UTF-8, so the directory's must be too.
pub(crate) fn enter() -> std::io::Result<()> {
    let mut buf = [0u8; 4096];
    let mut n = 0;
    match unsafe { host_getcwd(buf.as_mut_ptr(), buf.len(), &mut n) } {
        0 => {}
        ENOSYS => return Ok(()),
        errno => return Err(std::io::Error::from_raw_os_error(errno)),
    }
    let dir = std::str::from_utf8(&buf[..n]).map_err(std::io::Error::other)?;
    std::env::set_current_dir(dir)
}
