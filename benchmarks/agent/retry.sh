# SPDX-License-Identifier: Apache-2.0
# Steps that fail now and then are tried again, with a lock, a log and cleaning up.
# Uses:
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"; echo cleaned' EXIT
lock() { mkdir "$work/lock" 2>/dev/null; }
unlock() { rmdir "$work/lock"; }
step() { # NAME FAILURES
    local n
    n=$(cat "$work/$1" 2>/dev/null || echo 0)
    echo $((n + 1)) >"$work/$1"
    [ "$n" -ge "$2" ]
}
retry() { # TIMES COMMAND...
    local max=$1 try=1
    shift
    while ! "$@"; do
        echo "$(printf '%03d' "$try") $* failed" >>"$work/log"
        [ "$try" -lt "$max" ] || return 1
        try=$((try + 1))
        sleep 0
    done
}
for i in 1 2 3 4 5 6 7 8 9 10; do
    lock || { echo locked; exit 1; }
    if retry 5 step "download$i" $((i % 7)); then
        echo "download$i: $(cat "$work/download$i") tries"
    else
        echo "download$i: given up"
    fi
    unlock
done
sort "$work/log" | uniq -c | sort -k1,1nr -k2 | head -5
wc -l <"$work/log"
if timeout 5 bash -c 'exit 3'; then echo no; else echo "status $?"; fi
pids=
for i in 1 2 3; do (exit "$i") & pids+=" $!"; done
for pid in $pids; do wait "$pid"; echo "child $?"; done
