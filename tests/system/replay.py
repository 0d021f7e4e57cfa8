#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A log runs again: every kind of command, the host behind mounts, and what is told when something differs."""
import json
import os
import pty
import shutil
import signal
import subprocess
import time

from harness import BINARY, case, main, read_until, run


def env(t):
    return dict(os.environ, FRONTAL_SANDBOX_STATE=t.path('state'))


def sh(t, text, *options, stdin=b''):
    return run(['--session', 's', *options, '-c', text], env=env(t), stdin=stdin)


def replay(t, *options, what='s', tmp=None):
    r = run([*options, '--json', what], verb='replay', env=dict(env(t), **({'TMPDIR': tmp} if tmp else {})))
    return r, [json.loads(line) for line in r.out.decode().splitlines()]


def all_equal(t, count):
    r, commands = replay(t)
    t.equal((r.status, r.err), (0, b''))
    t.equal(len(commands), count)
    for c in commands:
        t.equal(c['verdict'], 'equal', repr(c))


@case
def clocks_chance_and_numbers(t):
    sh(t, 'date +%s.%N; echo $RANDOM $$ $BASHPID $EPOCHREALTIME $SECONDS; mktemp; head -c 16 /dev/urandom | wc -c')
    sh(t, 'touch a b; sleep 0.05; touch c; ls -li --full-time; stat -c "%i %z %w" a; cd /tmp; ls')
    sh(t, 'sleep 0.02 & for i in 1 2 3 4 5; do echo $i; sleep 0.01; done; wait -n; echo $?; jobs')
    all_equal(t, 3)


@case
def a_shell_that_goes_on(t):
    sh(t, 'cd /tmp; x=5; f() { echo f $x $RANDOM; }; shopt -s extglob; alias a=b; trap "echo bye" EXIT')
    sh(t, 'f; pwd; trap; alias')
    sh(t, 'exit 7')
    sh(t, 'f; echo $?')
    run(['--session', 's', '--', 'ls', '-la', '/tmp'], env=env(t))
    run(['--session', 's', t.write('script.sh', 'echo $0 $1; cat', 0o755), 'one'], env=env(t), stdin=b'from the host\n')
    all_equal(t, 6)


@case
def input_in_pieces(t):
    p = subprocess.Popen([BINARY, 'run', '--session', 's', '-c', 'while read -r -t 5 l; do echo "[$l] $SECONDS"; done; cat | wc -c'],
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env(t))
    for piece in (b'a\nb', b'c\nd\n', b'\xff\x00\n' * 500):
        p.stdin.write(piece)
        p.stdin.flush()
        time.sleep(0.03)
    p.communicate()
    all_equal(t, 1)


@case
def limits_and_signals(t):
    t.equal(sh(t, 'i=0; while :; do i=$((i+1)); done', '--timeout', '100ms').status, 124)
    sh(t, 'x=x; while :; do x=$x$x; done', '--limit', 'memory=16M')
    sh(t, 'b(){ b|b& };b', '--limit', 'processes=20', '--timeout', '3s')
    sh(t, 'yes', '--limit', 'output=100000')
    p = subprocess.Popen([BINARY, 'run', '--session', 's', '-c', 'trap "echo got it; exit 3" INT; echo ready; while true; do sleep 0.01; done'],
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=env(t))
    p.stdout.readline()
    p.send_signal(signal.SIGINT)
    p.communicate()
    t.equal(p.returncode, 3)
    all_equal(t, 5)


@case
def output_that_nobody_reads(t):
    p = subprocess.Popen([BINARY, 'run', '--session', 's', '-c', 'yes hello; echo after >&2'], stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env(t))
    p.stdout.read(100)
    p.stdout.close()
    p.stderr.read()
    p.wait()
    sh(t, 'seq 200000')
    all_equal(t, 2)


def lines_typed(t, wait):
    """Lines at the prompt of `shell`, each after its prompt (@wait) or all before the first; then the log runs again."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execve(BINARY, [BINARY, 'shell', '--session', 's'], env(t))
    said = b''
    for line in (b'cd /tmp; v=1\n', b'sleep 0.05 &\n', b'echo $v $!; ls -la\n', b'wait; jobs\n', b'exit 4\n'):
        if wait:
            said += read_until(fd, b'$ ')
        os.write(fd, line)
    said += read_until(fd, None)
    t.equal(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 4, repr(said[-3000:]))
    r, commands = replay(t)
    t.equal((r.status, r.err), (0, b''))
    t.ok(len(commands) >= 6)
    t.equal([c for c in commands if c['verdict'] == 'differs'], [])


@case
def lines_at_a_prompt(t):
    lines_typed(t, True)


@case
def lines_typed_ahead(t):
    lines_typed(t, False)


@case
def the_host_behind_mounts(t):
    t.write('m/a', 'one\n')
    t.write('m/sub/b', 'two\n')
    t.write('m/big', b'0123456789\n' * 50000)
    os.symlink('sub/b', t.path('m/l'))
    sh(t, 'ls -la; cat a l nothing; grep -rc 5 .; find . | sort', '--mount', t.path('m') + ':/w', '--workdir', '/w')
    sh(t, 'cd /w/sub; mkdir ../d e; echo more >> b; cp -r . ../copy; rm ../a; wc ../big; stat -c "%n %h %s" ../big .')
    shutil.rmtree(t.path('m'))
    os.mkdir(t.path('m'))
    sh(t, 'cat ../big; ls ..; cat b')
    all_equal(t, 3)


@case
def forks_and_states_put_back(t):
    sh(t, 'echo 1 > f; x=1')
    sh(t, 'echo 2 > f; x=2')
    t.equal(run(['s', '@2'], verb='restore', env=env(t)).status, 0)
    t.equal(sh(t, 'cat f; echo $x').out, b'1\n1\n')
    t.equal(run(['s', 'other'], verb='fork', env=env(t)).status, 0)
    run(['--session', 'other', '-c', 'cat f; echo $RANDOM; x=3'], env=env(t))
    all_equal(t, 3)
    r, commands = replay(t, what='other')
    t.equal((r.status, [c['verdict'] for c in commands]), (0, ['equal']))


@case
def from_a_place(t):
    sh(t, 'echo one')
    sh(t, 'echo two')
    events = len(run(['s', '--json'], verb='trace', env=env(t)).out.splitlines())
    r, commands = replay(t, '--from', '@%d' % (events - 1))
    t.equal(r.status, 0)
    for place in ('@%d' % events, '9999999'):
        r, commands = replay(t, '--from', place)
        t.equal((r.status, commands), (125, []))
        t.ok(b'its events are @0 to @%d' % (events - 1) in r.err, r)


@case
def an_exported_file(t):
    sh(t, 'echo $RANDOM > f; cat f')
    t.equal(run(['s', t.path('s.fsb')], verb='export', env=env(t)).status, 0)
    shutil.rmtree(t.path('state'))
    # A place of its own: others may replay meanwhile.
    os.mkdir(t.path('tmp'))
    r, commands = replay(t, what=t.path('s.fsb'), tmp=t.path('tmp'))
    t.equal((r.status, [c['verdict'] for c in commands]), (0, ['equal']))
    t.equal(os.listdir(t.path('tmp')), [])


@case
def what_cannot_be_replayed_is_said(t):
    run(['--session', 's', '--secret', 'TOKEN=abcdefgh', '-c', 'echo $TOKEN'], env=env(t))
    p = subprocess.Popen([BINARY, 'run', '--session', 's', '-c', 'echo begun; sleep 100'], stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, env=env(t), start_new_session=True)
    p.stdout.readline()
    os.killpg(p.pid, signal.SIGKILL)
    p.wait()
    sh(t, 'echo on')
    r, commands = replay(t)
    t.equal((r.status, [c['verdict'] for c in commands]), (0, ['left_out', 'left_out', 'equal']))
    t.ok('secret' in commands[0]['what'] and 'lost' in commands[1]['what'], repr(commands))


if __name__ == '__main__':
    main()
