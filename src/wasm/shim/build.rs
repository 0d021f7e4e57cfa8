// SPDX-License-Identifier: Apache-2.0
//! The C API's crate installs its headers, with the conf.h of its features, into a folder of its own. They are copied
//! to `<target>/<profile>/include`, with ours, where a build finds them.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn copy_headers(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let (src, dst) = { let e = entry?; (e.path(), to.join(e.file_name())) };
        if src.is_dir() {
            copy_headers(&src, &dst)?;
        } else if src.extension().is_some_and(|x| x == "h") {
            fs::copy(src, dst)?;
        }
    }
    Ok(())
}

fn main() {
    println!("cargo:rerun-if-changed=include");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let include = out.ancestors().nth(3).expect("OUT_DIR is <target>/<profile>/build/NAME/out").join("include");
    let api = env::var_os("DEP_WASMTIME_C_API_INCLUDE").expect("wasmtime-c-api-impl names its headers");
    for from in [Path::new(&api), Path::new("include")] {
        copy_headers(from, &include).expect("headers are copied");
    }
}
