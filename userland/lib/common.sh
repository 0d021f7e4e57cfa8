# SPDX-License-Identifier: Apache-2.0
# Sourced by userland/build and lib/run-recipe: places, messages, versions.
# shellcheck shell=bash

userland=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/frontal-sandbox/userland
binaryen_version=132.0.0
wizer_version=10.0.0
# Of the recipes in Rust; rustup has it.
rust_version=1.95.0
# Raised when the functions of lib/recipe.sh change what recipes make.
recipe_api=1

say() {
    [ -n "${quiet-}" ] || echo "userland: $*" >&2
}

die() {
    echo "userland: $*" >&2
    exit 1
}

# Rust of that version, with the standard library for WASI: whether it is there; cargo of it.
rust_cargo() {
    "${CARGO_HOME:-$HOME/.cargo}/bin/rustup" run "$rust_version" cargo "$@"
}

rust_target() {
    [ -x "${CARGO_HOME:-$HOME/.cargo}/bin/rustup" ] && [ -d "$("${CARGO_HOME:-$HOME/.cargo}/bin/rustup" run "$rust_version" \
        rustc --print sysroot 2>/dev/null)/lib/rustlib/wasm32-wasip1" ]
}

# The layer's key: everything that all modules depend on. Its tests and its text are not part of it.
compat_key() {
    {
        (cd "$userland" && find compat bin/wcc -type f ! -path 'compat/test/*' ! -name '*.md' -print0 | LC_ALL=C sort -z |
            xargs -0 sha256sum)
        dpkg-query -W -f '${Package} ${Version}\n' clang-14 lld-14 llvm-14 wasi-libc libclang-rt-14-dev-wasm32
        echo "binaryen $binaryen_version api $recipe_api"
    } | sha256sum | cut -c1-16
}
