# SPDX-License-Identifier: Apache-2.0
# What the benchmarks share; they source it. scripts/bench sets FRONTAL (our binary), BUILD, SHORT (1: only see that it works) and
# WORK (a directory for their data, kept between runs).
set -eu
export LC_ALL=C

# report CLAIM OURS PEER UNIT TARGET DIRECTION: one result. DIRECTION le: ours/peer must be at most TARGET; ge: peer/ours (how many
# times faster) must be at least TARGET; abs: ours itself must be at most TARGET and PEER is '-'.
report() { printf 'RESULT\t%s\t%s\t%s\t%s\t%s\t%s\n' "$@"; }

# seconds COMMAND: the times of some runs of one shell-free command line, in seconds, one a line. OUTPUT: what its output goes to,
# null (if not set) or pipe.
seconds() {
    local json runs warmup
    json=$(mktemp)
    if [ "$SHORT" = 1 ]; then runs=2 warmup=0; else runs=$RUNS warmup=1; fi
    hyperfine -N --style none --warmup "$warmup" --runs "$runs" --output "${OUTPUT:-null}" --export-json "$json" -- "$1" >/dev/null
    python3 -c 'import json,sys
for t in json.load(open(sys.argv[1]))["results"][0]["times"]: print(t)' "$json"
    rm -f "$json"
}

median() { sort -g | awk '{ a[NR] = $1 } END { print NR % 2 ? a[(NR + 1) / 2] : (a[NR / 2] + a[NR / 2 + 1]) / 2 }'; }

# compare CLAIM TARGET DIRECTION OURS PEER [RUNS]: both commands in turn, three rounds; the medians are compared.
compare() {
    local ours peer round
    RUNS=${6:-10}
    ours=$(mktemp) peer=$(mktemp)
    for round in 1 2 3; do
        seconds "$4" >>"$ours"
        seconds "$5" >>"$peer"
        [ "$SHORT" = 1 ] && break
    done
    report "$1" "$(median <"$ours")" "$(median <"$peer")" s "$2" "$3"
    rm -f "$ours" "$peer"
}

# same WHAT OURS PEER: a benchmark of a wrong result is worth nothing; both commands must print the same.
same() {
    if ! cmp -s <(eval "$2") <(eval "$3"); then
        echo "$1: the two sides do not print the same" >&2
        return 1
    fi
}

# took COMMAND…: the seconds of one run, for what needs preparing before each; what it prints is dropped.
took() {
    local t=$EPOCHREALTIME
    "$@" >/dev/null
    awk "BEGIN { printf \"%.6f\\n\", $EPOCHREALTIME - $t }"
}

# have PROGRAM: whether it is installed.
have() { command -v "$1" >/dev/null; }

# times ROUNDS: 1 when only to see that it works.
times() { if [ "$SHORT" = 1 ]; then echo 1; else echo "$1"; fi; }

# text_tree DIR DIRS EACH: directories of files of 1 to 7 KiB, 4 KiB on average, of words and numbers.
text_tree() {
    [ -f "$1/.made" ] && return
    rm -rf "$1"
    python3 - "$@" <<'END'
import os, random, sys
random.seed(1)
words = [f"word{i}" for i in range(500)]
for d in range(int(sys.argv[2])):
    os.makedirs(f"{sys.argv[1]}/d{d}")
    for f in range(int(sys.argv[3])):
        text = ""
        size = random.randint(1024, 7168)
        while len(text) < size:
            text += " ".join(random.choices(words, k=8)) + f" {random.getrandbits(48):x}\n"
        with open(f"{sys.argv[1]}/d{d}/f{f}", "w") as out:
            out.write(text[:size])
open(f"{sys.argv[1]}/.made", "w").close()
END
}

# npm_peer NAME VERSION: sets peer to a directory that has the package below node_modules, from npm into the cache the first time.
# Fails, after saying why, where it cannot be had.
npm_peer() {
    local log
    peer=${XDG_CACHE_HOME:-$HOME/.cache}/frontal-sandbox/peers/$1-$2
    [ ! -d "$peer/node_modules/$1" ] || return 0
    if ! have npm || ! have node; then
        echo "$1 is left out: it comes from npm, which is not installed" >&2
        return 1
    fi
    rm -rf "$peer.new"
    mkdir -p "$peer.new"
    log=$peer.new/log
    if ! npm install --silent --no-audit --no-fund --prefix "$peer.new" "$1@$2" >"$log" 2>&1; then
        echo "$1 is left out: npm could not get it: $(tail -n 3 "$log")" >&2
        return 1
    fi
    rm -rf "$peer"
    mv "$peer.new" "$peer"
}

# us NS, s NS: in microseconds, in seconds.
us() { awk "BEGIN { print $1 / 1000 }"; }
s() { awk "BEGIN { print $1 / 1e9 }"; }

# loop N COMMAND: a script for bash and ours that runs a command line N times and prints when it began, when it ended, and N.
loop() {
    printf 's=$EPOCHREALTIME; i=0; while [ $i -lt %d ]; do %s || exit; i=$((i+1)); done >/dev/null </dev/null; ' "$1" "$2"
    printf 'echo "$s $EPOCHREALTIME %d"\n' "$1"
}

# one: the seconds of one turn of a loop().
one() { awk '{ printf "%.9f\n", ($2 - $1) / $3 }'; }

# each CLAIM TARGET N OURS PEER [OPTION…]: OURS N times in one session (OPTIONs are of run), PEER N times in one bash that forks and
# execs; medians of five rounds in turn. TARGET: how many times faster one must be.
each() {
    local claim=$1 target=$2 n=$3 ours peer round
    local script_ours script_peer
    [ "$SHORT" = 1 ] && n=3
    script_ours=$(loop "$n" "$4") script_peer=$(loop "$n" "$5")
    shift 5
    ours=$(mktemp) peer=$(mktemp)
    for round in $(seq "$(times 5)"); do
        "$FRONTAL" run "$@" -c "$script_ours" | one >>"$ours"
        bash -c "$script_peer" | one >>"$peer"
    done
    if [ ! -s "$ours" ] || [ ! -s "$peer" ]; then
        echo "$claim: the command fails" >&2
        return 1
    fi
    report "$claim" "$(median <"$ours")" "$(median <"$peer")" s "$target" ge
    rm -f "$ours" "$peer"
}

# userland: leaves out a benchmark that needs the userland where there is none (status 77).
userland() {
    "$FRONTAL" run --quiet -c 'test -x /usr/lib/frontal/bin/echo' && return
    echo "the userland is not built: userland/build" >&2
    exit 77
}
