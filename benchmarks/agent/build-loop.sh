# SPDX-License-Identifier: Apache-2.0
# What make does, by hand: units are made when a source or a header that it includes is newer, then all are linked.
# Uses: sed sha256sum
set -e
mkdir -p out
headers_of() { # FILE: what it includes, and what that includes
    local name
    for name in $(sed -n 's/^#include "\(.*\)"$/\1/p' "$1"); do
        case " $seen " in *" $name "*) continue ;; esac
        seen+=" $name"
        [ -f "lib/include/$name" ] && headers_of "lib/include/$name"
    done
}
build() {
    local source object header stale made=0 kept=0
    for source in lib/src/*.c; do
        object=out/$(basename "$source" .c).o
        seen=
        headers_of "$source"
        stale=
        [ "$object" -nt "$source" ] || stale=1
        for header in $seen; do
            [ "$object" -nt "lib/include/$header" ] || stale=1
        done
        if [ -n "$stale" ]; then
            { echo "unit $source"; for header in $seen; do cat "lib/include/$header" 2>/dev/null || true; done; cat "$source"; } | sha256sum | cut -c1-64 >"$object"
            made=$((made + 1))
        else
            kept=$((kept + 1))
        fi
    done
    cat out/*.o | sha256sum | cut -c1-16 >out/program
    echo "made $made, kept $kept, program $(cat out/program)"
}
build
build
echo '#define MORE 1' >>lib/include/h3.h
touch -d '2 seconds' lib/include/h3.h
build
