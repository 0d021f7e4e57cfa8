# SPDX-License-Identifier: Apache-2.0
# What recipes may use. Variables: $src (unpacked source, Debian's patches applied), $work, $prefix (headers and
# libraries of the recipes in `needs`), $out (the artefact). The working directory is $work/build, except in
# recipe_edit, where it is $src.
# shellcheck shell=bash

recipe_environment() {
    llvm=/usr/lib/llvm-14/bin
    prefix=$work/prefix
    out=$work/out
    make_jobs=$(nproc)
    export CC=$sdk/bin/wcc CPP="$sdk/bin/wcc -E" LD=$llvm/wasm-ld
    export AR=$llvm/llvm-ar RANLIB=$llvm/llvm-ranlib NM=$llvm/llvm-nm OBJDUMP=$llvm/llvm-objdump STRIP=true
    export CFLAGS="-O2 -g0 -Wno-everything" CPPFLAGS="-I$prefix/include" LDFLAGS="-L$prefix/lib"
    # Only what recipes made: the host's libraries are of another machine.
    export PKG_CONFIG="pkg-config --define-prefix" PKG_CONFIG_LIBDIR=$prefix/lib/pkgconfig PKG_CONFIG_PATH=
    export LC_ALL=C.UTF-8 TZ=UTC SOURCE_DATE_EPOCH=1700000000 CONFIG_SITE=/dev/null
    unset MAKEFLAGS CDPATH
}

# native COMMAND...: with the compiler of this machine, for tools that the build itself runs.
native() {
    env -u CC -u CPP -u LD -u AR -u RANLIB -u NM -u STRIP -u OBJDUMP -u CFLAGS -u CPPFLAGS -u LDFLAGS \
        -u WCC_STACK "$@"
}

# edit FILE REASON SED-EXPRESSION...: changes a file of the source. Fails when nothing changes, as after an update.
edit() {
    local file=$1 reason=$2 e args=()
    shift 2
    for e; do args+=(-e "$e"); done
    sed "${args[@]}" "$file" >"$work/edited"
    if cmp -s "$file" "$work/edited"; then
        echo "edit of $file found nothing to change: $reason"
        return 1
    fi
    cat "$work/edited" >"$file"
    printf '%s\t%s\n' "$file" "$reason" >>"$out/edits.tsv"
    rm "$work/edited"
}

# append FILE REASON: puts our own code (standard input) at the end of a file of the source.
append() {
    { echo && cat; } >>"$1"
    printf '%s\t%s\n' "$1" "$2" >>"$out/edits.tsv"
}

# configure_gnu ARGUMENT...: autoconf's configure, out of the tree. What it learns about the compiler and the C library
# goes into one cache for all recipes with this layer: 4 instead of 28 seconds for a package with gnulib. Only answers
# about functions, headers and types are kept; those about programs, libraries and the environment are the package's, as
# are those about libraries that some recipes have and others have not.
configure_gnu() {
    local shared=$sdk/configure.cache own=$work/configure.cache f
    # Older packages do not know the machine's name yet; Debian has the newest list.
    while read -r f; do
        "$f" wasm32-wasi >/dev/null 2>&1 || cp /usr/share/misc/config.sub "$f"
    done < <(find "$src" -name config.sub)
    cat "$shared" >"$own" 2>/dev/null || true
    FORCE_UNSAFE_CONFIGURE=1 "$src/configure" --host=wasm32-wasi --build=x86_64-pc-linux-gnu --prefix=/usr \
        --disable-nls --disable-dependency-tracking --cache-file="$own" "$@"
    exec 7>"$sdk/configure.lock"
    flock 7
    touch "$shared"
    awk -F= '/^(ac_cv_(func|have|header|member|sizeof|type|c|sys|working)_|gl_cv_(func|header|type|c|sys|have)_)/ &&
        !/^ac_cv_(func|have_decl|header)_(bz|curses|deflate|expat|gmp|gz|inflate|libxml|lz|magic|mpfr|ncurses|onig|openssl)/ &&
        !/^ac_cv_(func|have_decl|header)_(pcre|readline|sqlite|term|zlib|zstd|ZSTD|tget)/ && !seen[$1]++' \
        "$own" "$shared" >"$shared.new"
    mv "$shared.new" "$shared"
    exec 7>&-
}

# make_gnu ARGUMENT...: make, with neither manuals nor a new run of autotools, which Debian's patches would set off.
make_gnu() {
    make -j"$make_jobs" MAKEINFO=true HELP2MAN=true AUTOMAKE=: ACLOCAL=: AUTOCONF=: AUTOHEADER=: "$@"
}

# make_target TARGET...: some targets only, after the headers that automake makes before "all" alone.
make_target() {
    printf 'include Makefile\nbuilt-sources: $(BUILT_SOURCES)\n' >built-sources.mk
    make_gnu -f built-sources.mk built-sources
    make_gnu "$@"
}

# compile OUT SOURCE... [-- FLAG...]: a program without a build system, one object at a time, then the link.
compile() {
    local target=$1 s o objects=() sources=() flags=()
    shift
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        sources+=("$1")
        shift
    done
    [ $# -eq 0 ] || shift
    flags=("$@")
    for s in "${sources[@]}"; do
        o=$work/build/$(tr / _ <<<"${s%.c}").o
        # shellcheck disable=SC2086
        "$CC" $CFLAGS $CPPFLAGS "${flags[@]}" -c "$src/$s" -o "$o" &
        objects+=("$o")
        [ $(jobs -p | wc -l) -lt "$make_jobs" ] || wait -n
    done
    local p
    for p in $(jobs -p); do wait "$p"; done
    # shellcheck disable=SC2086
    "$CC" $LDFLAGS "${objects[@]}" -o "$target" $LIBS
}
LIBS=

# module NAME FILE COMMAND...: puts a module into the artefact and names the commands that are it.
module() {
    local name=$1 file=$2 c
    shift 2
    [ "$(head -c 4 "$file" | od -An -tx1 | tr -d ' ')" = 0061736d ] || {
        echo "$file is no WebAssembly module"
        return 1
    }
    cp "$file" "$out/modules/$name.wasm"
    for c; do printf '%s\t%s\n' "$c" "$name" >>"$out/commands.tsv"; done
}

# library FILE... and header [-d SUBDIRECTORY] FILE...: for other recipes.
library() {
    mkdir -p "$out/lib/pkgconfig"
    local f
    for f; do
        case $f in
        *.pc) cp "$f" "$out/lib/pkgconfig/" ;;
        *) cp "$f" "$out/lib/" ;;
        esac
    done
}

header() {
    local dir=$out/include
    if [ "$1" = -d ]; then
        dir=$dir/$2
        shift 2
    fi
    mkdir -p "$dir"
    cp "$@" "$dir/"
}

# pc NAME VERSION LIBS: a pkg-config file, for a library whose own build makes none.
pc() {
    mkdir -p "$out/lib/pkgconfig"
    printf '%s\n' 'prefix=/usr' 'libdir=${prefix}/lib' 'includedir=${prefix}/include' "Name: $1" "Description: $1" \
        "Version: $2" "Libs: -L\${libdir} $3" 'Cflags: -I${includedir}' >"$out/lib/pkgconfig/$1.pc"
}

# manual FILE...: manual pages in section order of their names. data FILE... DIRECTORY: files below /usr.
manual() {
    local f section
    for f; do
        [ -e "$f" ] || continue
        section=${f##*.}
        mkdir -p "$out/root/usr/share/man/man${section%%[a-z]*}"
        cp "$f" "$out/root/usr/share/man/man${section%%[a-z]*}/"
    done
}

data() {
    local dir="$out/root/usr/${*: -1}"
    mkdir -p "$dir"
    cp -R "${@:1:$#-1}" "$dir/"
}

# The last steps of every recipe: the licence text, and the modules through binaryen, which also turns the exceptions
# of clang-14 into the form that engines take by now.
finish_artefact() {
    local m
    mkdir -p "$out/root/usr/share/doc/$name"
    cp "$src/${licence_file-debian/copyright}" "$out/root/usr/share/doc/$name/copyright"
    if grep -q 'function signature mismatch' "$work.log"; then
        # Only the build's own: configure's probes declare functions as they like, in directories named conftest.
        if grep 'function signature mismatch' "$work.log" | grep -v conftest; then
            echo "a call and its function differ in type: it would trap"
            return 1
        fi
    fi
    touch "$out/commands.tsv" "$out/edits.tsv"
    for m in "$out"/modules/*.wasm; do
        [ -e "$m" ] || continue
        "$wasm_opt" --all-features --disable-compact-imports --translate-to-exnref -O2 "$m" -o "$m.opt"
        mv "$m.opt" "$m"
    done
    printf '%s\n' "${check-}" >"$out/check"
    echo "$built_source" >"$out/source"
}
