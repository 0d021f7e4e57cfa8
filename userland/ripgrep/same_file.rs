// SPDX-License-Identifier: Apache-2.0

//! same-file's handles for WASI: a file is the same when its device and inode are, as fd_filestat_get tells them.
//! The standard library has both numbers too, but only for its nightly compilers.

use std::fs::File;
use std::hash::{Hash, Hasher};
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, FromRawFd};
use std::path::Path;

#[link(wasm_import_module = "wasi_snapshot_preview1")]
extern "C" {
    #[link_name = "fd_filestat_get"]
    fn host_filestat(fd: u32, stat: *mut [u64; 8]) -> i32;
}

#[derive(Debug)]
pub struct Handle {
    file: ManuallyDrop<File>,
    /// A standard stream stays open.
    closes: bool,
    dev: u64,
    ino: u64,
}

impl Drop for Handle {
    fn drop(&mut self) {
        if self.closes {
            unsafe { ManuallyDrop::drop(&mut self.file) }
        }
    }
}

impl Eq for Handle {}

impl PartialEq for Handle {
    fn eq(&self, other: &Handle) -> bool {
        (self.dev, self.ino) == (other.dev, other.ino)
    }
}

impl Hash for Handle {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.dev, self.ino).hash(state);
    }
}

impl Handle {
    fn new(file: File, closes: bool) -> io::Result<Handle> {
        let file = ManuallyDrop::new(file);
        let mut stat = [0; 8];
        let errno = unsafe { host_filestat(file.as_raw_fd() as u32, &mut stat) };
        let handle = Handle { file, closes, dev: stat[0], ino: stat[1] };
        if errno != 0 {
            return Err(io::Error::from_raw_os_error(errno));
        }
        Ok(handle)
    }

    pub fn from_path<P: AsRef<Path>>(path: P) -> io::Result<Handle> {
        Handle::new(File::open(path)?, true)
    }

    pub fn from_file(file: File) -> io::Result<Handle> {
        Handle::new(file, true)
    }

    pub fn stdin() -> io::Result<Handle> {
        Handle::new(unsafe { File::from_raw_fd(0) }, false)
    }

    pub fn stdout() -> io::Result<Handle> {
        Handle::new(unsafe { File::from_raw_fd(1) }, false)
    }

    pub fn stderr() -> io::Result<Handle> {
        Handle::new(unsafe { File::from_raw_fd(2) }, false)
    }

    pub fn as_file(&self) -> &File {
        &self.file
    }

    pub fn as_file_mut(&mut self) -> &mut File {
        &mut self.file
    }
}
