
/// For WASI: whether standard input is what ripgrep reads when no path is given, which is a file or a pipe. Streams
/// of the session and pipes have the type of a socket.
#[cfg(target_os = "wasi")]
fn wasi_is_readable_stdin() -> bool {
    #[link(wasm_import_module = "wasi_snapshot_preview1")]
    extern "C" {
        #[link_name = "fd_fdstat_get"]
        fn host_fdstat(fd: u32, stat: *mut [u64; 3]) -> i32;
    }
    const REGULAR_FILE: u8 = 4;
    const SOCKET_STREAM: u8 = 6;
    let mut stat = [0; 3];
    unsafe { host_fdstat(0, &mut stat) == 0 && matches!(stat[0] as u8, REGULAR_FILE | SOCKET_STREAM) }
}
