#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a guest can do to use up the machine ends by a limit, with its reason, and nothing else is harmed."""
import json
import time

from harness import SLOW, case, main, run


def killed(t, text, reason, *options, seconds=30):
    start = time.monotonic()
    r = run(['--json', '--limit', 'cpu=60s', '--timeout', '50s'] + list(options) + ['-c', text], timeout=90)
    took = time.monotonic() - start
    o = json.loads(r.out)
    t.equal((o['status'], o['exit_code'], o['reason']), ('killed', None, reason), text)
    t.equal(r.status, 124 if reason == 'timeout' else 137, text)
    t.ok(took < seconds * SLOW, 'took %.1f s' % took)
    return o


@case
def fork_bomb(t):
    killed(t, ':(){ :|:& };:; wait; sleep 30', 'processes', '--limit', 'processes=200')


@case
def fork_bomb_with_default_limits(t):
    killed(t, ':(){ :|:& };:; wait; sleep 30', 'processes')


@case
def endless_loop(t):
    killed(t, 'while :; do :; done', 'timeout', '--timeout', '300ms')
    killed(t, 'while :; do :; done', 'cpu', '--limit', 'cpu=300ms')


@case
def endless_loops_of_every_kind(t):
    for text in ('for ((;;)); do :; done', 'until false; do :; done',
                 'yes > /dev/null', 'cat /dev/zero > /dev/null', 'while :; do (:); done', 'while :; do x=$(echo); done',
                 'yes | while read -r x; do :; done', 'sleep 1000', 'read x < <(sleep 1000)',
                 'echo a | sed ":a;ba"', 'echo a | sed ":a;s/^/x/;ba"', 'yes | sed D | cat',
                 'trap "" INT TERM HUP; while :; do :; done', 'tail -f /etc/passwd'):
        killed(t, text, 'timeout', '--timeout', '400ms')


@case
def doubling_string(t):
    killed(t, 'x=x; while :; do x=$x$x; done', 'memory', '--limit', 'memory=64M')
    killed(t, 'a=(); while :; do a+=("${a[@]}" x); done', 'memory', '--limit', 'memory=64M')


@case
def growing_things(t):
    for text in ('i=0; while :; do a[i++]=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done', 'i=0; while :; do eval "v$((i++))=$i"; done',
                 'echo {1..100000000}', 'x=$(yes)', 'mapfile a < <(yes)', 'tr -d "\\n" < /dev/zero | sort', 'yes | sort',
                 'sed N < /dev/zero',
                 'echo aaaa | sed ":a;s/.*/&&/;ba"', 'yes | sed -n H', 'echo a | sed ":a;a x\n;ba"', 'echo a | sed ":a;G;H;ba"',
                 'printf "%900000000d" 1 > /tmp/x; x=$(cat /tmp/x)$(cat /tmp/x)'):
        r = run(['--json', '--limit', 'memory=64M', '--limit', 'files=64M', '--timeout', '20s', '-c', text], timeout=60)
        o = json.loads(r.out)
        t.ok(o['status'] == 'killed' and o['reason'] in ('memory', 'timeout') or o['exit_code'] not in (0, None), (text, o))


@case
def large_here_document(t):
    text = b'cat <<E | wc -c\n' + b'x' * 1000000 + b'\n$(head -c 1000000000 /dev/zero | tr "\\0" y)\nE\n'
    r = run(['--json', '--limit', 'memory=64M', '--timeout', '50s'], stdin=text, timeout=90)
    o = json.loads(r.out)
    t.equal((r.status, o['status'], o['reason']), (137, 'killed', 'memory'))


@case
def output(t):
    o = killed(t, 'yes', 'output', '--limit', 'output=1M')
    t.ok(o['stdout_bytes'] <= 1 << 20, o['stdout_bytes'])


@case
def files_are_an_error_and_lose_nothing(t):
    r = run(['--limit', 'files=1M', '-c', 'echo keep > k; head -c 5000000 /dev/zero > f; echo $?; cat k; rm f; echo again > f && cat f'])
    t.equal(r.out.splitlines()[-2:], [b'keep', b'again'], r)
    t.ok(b'Disk quota exceeded' in r.err or b'No space left' in r.err, r)


@case
def a_million_files(t):
    r = run(['--limit', 'inodes=2000', '-c', 'i=0; while : > f$i; do i=$((i+1)); done; echo $((i == 2000)); rm f1 && : > f1 && echo ok'])
    t.equal(r.out, b'1\nok\n', r)


@case
def recursion(t):
    for text in ('f() { f; }; f', 'f() { local x=1; f $x; }; f 1', 'eval "$(printf "(%.0s" {1..5000})"', 'x=x; ((x))',
                 'a=b; b=a; echo $((a))', 'alias a=b b=a; a', 'echo "$(printf "\\$(%.0s" {1..3000})"',
                 'f() { (f); }; f', 'f() { x=$(f); }; f', 'printf ". ./s" > s; . ./s', 'printf "bash ./s" > s; bash ./s'):
        r = run(['--timeout', '40s', '-c', text + '; echo "after"'], timeout=90)
        t.ok(r.status in (0, 1, 2, 137, 127, 124), (text, r.status))
        t.ok(b'unexpectedly' not in r.err, (text, r.err[-300:]))


@case
def patterns_that_blow_up(t):
    for text in ('echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa | grep -E "(a*)*(a*)*b"', '[[ aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa =~ ^(a+)+$b ]]',
                 'x=$(printf "a%.0s" {1..5000}); [[ $x == *a*a*a*a*a*a*a*a*a*a*b ]]', 'shopt -s extglob; x=$(printf "a%.0s" {1..200}); [[ $x == +(+(a))b ]]',
                 'echo x | grep -E "(((x{1,100}){1,100}){1,100})"', 'echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa | grep -P "^(a+)+$b"',
                 r'echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa | grep "\(a*\)*\(a*\)*\1\2b"'):
        start = time.monotonic()
        r = run(['--timeout', '20s', '-c', text], timeout=60)
        t.ok(time.monotonic() - start < 15 * SLOW, (text, time.monotonic() - start))
        t.ok(r.status in (0, 1, 2), (text, r))


@case
def session_stays_usable_after_a_limit(t):
    # The interactive shell of one session: a limit ends the command; the exec that follows in a new shell works.
    r = run(['--limit', 'memory=64M', '-c', '(x=x; while :; do x=$x$x; done); echo not reached'])
    t.equal(r.status, 137)
    t.equal(run(['-c', 'echo fine']).out, b'fine\n')


@case
def the_reason_is_printed_with_its_remedy(t):
    r = run(['--timeout', '200ms', '-c', 'sleep 10'])
    t.equal((r.status, r.err), (124, b'frontal-sandbox: killed: timeout limit (raise it with --timeout)\n'))
    r = run(['--limit', 'output=1K', '-c', 'yes'])
    t.ok(b'killed: output limit (raise it with --limit)' in r.err, r.err)


if __name__ == '__main__':
    main()
