#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is kept, as a user meets it: sessions, their traces, snapshots, forks, exports, and the store."""
import fcntl
import json
import os
import pty
import random
import re
import signal
import struct
import subprocess
import termios
import threading
import time

from harness import BINARY, case, main, run


def env(t, **more):
    e = {k: v for k, v in os.environ.items() if k not in ('NO_COLOR', 'XDG_STATE_HOME')}
    e.update(FRONTAL_SANDBOX_STATE=t.path('state'), TERM='xterm', **more)
    return e


def fs(t, line, stdin=b''):
    """Runs `frontal-sandbox LINE` in the case's own state directory."""
    words = line if isinstance(line, list) else line.split()
    return run(words[1:], verb=words[0], stdin=stdin, env=env(t))


def sh(t, name, text):
    return run(['--session', name, '-c', text], env=env(t))


def ok(t, line, stdin=b''):
    r = fs(t, line, stdin)
    t.equal((r.status, r.err), (0, b''), line)
    return r.out.decode('utf-8', 'replace')


def refused(t, line, *parts, status=125, stdin=b''):
    r = fs(t, line, stdin)
    t.equal(r.status, status, line)
    for p in parts:
        t.ok(p in r.err.decode(), '%s: %r in %r' % (line, p, r.err))


def objects(text):
    return [json.loads(line) for line in text.splitlines()]


def on_terminal(t, words, columns=80, **more):
    """What a terminal of so many columns is sent."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execve(BINARY, [BINARY] + words, env(t, **more))
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack('HHHH', 24, columns, 0, 0))
    out = b''
    while True:
        try:
            got = os.read(fd, 65536)
        except OSError:
            break
        if not got:
            break
        out += got
    os.waitpid(pid, 0)
    os.close(fd)
    return out.decode('utf-8', 'replace')


def make(t, name='build'):
    t.equal(sh(t, name, 'mkdir /tmp/w; seq 1000 > /tmp/w/a; echo x > /tmp/w/b; echo made').out, b'made\n')
    t.equal(sh(t, name, 'rm /tmp/w/b; echo more >> /tmp/w/a; echo oops >&2; exit 3').status, 3)


# ---- sessions ----

@case
def nothing_there(t):
    refused(t, 'session list', 'there is no state directory', 'run --session', '--state')
    os.makedirs(t.path('other', 'x'))
    refused(t, ['session', 'list', '--state', t.path('other')], 'other things')
    make(t)
    refused(t, 'trace biuld', "is it 'build'?")
    refused(t, 'trace no-such-thing', 'session list')


@case
def usage(t):
    for line in ('session', 'session lst', 'session show', 'trace', 'trace a b', 'fork a', 'fork a b --count 0',
                 'snapshot', 'restore a', 'store', 'store fsk', 'export a', 'import', 'trace a --no-such-option'):
        refused(t, line, '--help')
    for verb in ('session', 'trace', 'snapshot', 'restore', 'fork', 'export', 'import', 'store'):
        t.ok(ok(t, verb + ' --help').startswith('Usage: frontal-sandbox ' + verb))
        t.ok('  ' + verb in ok(t, 'help'), verb)


@case
def list_show_rename_destroy(t):
    make(t)
    make(t, 'other')
    t.equal([o['name'] for o in objects(ok(t, 'session list --json'))], ['build', 'other'])
    o = json.loads(ok(t, 'session show build --json'))
    t.equal((o['name'], o['from'], o['snapshots']), ('build', None, []))
    t.ok(o['files_bytes'] > 3000 and o['root'].startswith('sha256:'), o)
    ok(t, 'session rename build made')
    refused(t, 'session rename made other', 'already')
    refused(t, ['session', 'rename', 'made', 'a b'], 'cannot be a name')
    t.equal(json.loads(ok(t, 'session show made --json'))['id'], o['id'])
    ok(t, 'session destroy made ' + json.loads(ok(t, 'session show other --json'))['id'])
    t.equal(ok(t, 'session list'), '')
    refused(t, 'session show made', 'there is no session')


@case
def in_use(t):
    make(t)
    p = subprocess.Popen([BINARY, 'run', '--session', 'build', '-c', 'echo on; sleep 1000'], env=env(t), stdout=subprocess.PIPE)
    t.equal(p.stdout.readline(), b'on\n')
    for line in ('snapshot build', 'restore build @0', 'session destroy build'):
        refused(t, line, "session 'build' is in use by process ")
    ok(t, 'store gc')
    # Looking needs no lock, and a fork begins with what was acknowledged.
    t.ok('running' in ok(t, 'trace build'))
    ok(t, 'fork build try')
    t.equal(sh(t, 'try', 'ls /tmp/w').out, b'a\n')
    p.send_signal(signal.SIGKILL)
    p.wait()
    p.stdout.close()


@case
def two_first_runs(t):
    # Both have looked and found no such session before either can make it.
    make(t, 'other')
    for i in range(5):
        names = os.open(t.path('state', 'names'), os.O_RDONLY)
        fcntl.flock(names, fcntl.LOCK_EX)
        runs = [subprocess.Popen([BINARY, 'run', '--session', 'new%d' % i, '-c', 'echo %s >> /tmp/f; wc -l < /tmp/f' % who],
                                 env=env(t), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                for who in ('one', 'two')]
        time.sleep(0.3)
        os.close(names)
        got = [p.communicate() for p in runs]
        t.equal([p.returncode for p in runs], [0, 0], got)
        t.equal(sorted(out for out, err in got), [b'1\n', b'2\n'])
        t.equal(sh(t, 'new%d' % i, 'sort /tmp/f').out, b'one\ntwo\n')
    # Nothing half made is left.
    t.equal([d for d in os.listdir(t.path('state', 'sessions')) if d.startswith('.')], [])


# ---- trace ----

@case
def trace_lines(t):
    make(t)
    lines = ok(t, 'trace build').splitlines()
    t.equal(len(lines), 3)
    t.ok(re.match(r'@0 +\S+Z  created$', lines[0]), lines[0])
    t.ok(re.match(r'@1 +20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ  ok .* \+3 +mkdir /tmp/w; seq', lines[1]), lines[1])
    t.ok(re.match('@\\d+ .*  exit 3 .* \u22121 ~1 +rm /tmp/w/b', lines[2]), lines[2])
    unfolded = ok(t, 'trace build --files --output')
    for part in ('| made\n', '! oops\n', '+ /tmp/w/\n', '~ /tmp/w/a  ', '\u2212 /tmp/w/b\n'):
        t.ok(part in unfolded, part)
    events = objects(ok(t, 'trace build --json'))
    t.equal([e['seq'] for e in events], list(range(len(events))))
    t.equal([e['exit_code'] for e in events if e['type'] == 'end'], [0, 3])


@case
def trace_on_a_terminal(t):
    make(t)
    sh(t, 'build', 'echo "\033]0;evil\007"; : ' + 'x' * 300)
    out = on_terminal(t, ['trace', 'build', '--output'], 70)
    t.ok('\033[32m' in out and ' ago' in out or 'now' in out, out)
    t.ok('\033]0' not in out and '\007' not in out, 'a guest acts on the terminal')
    bare = re.sub('\033\\[[0-9;]*m', '', out)
    t.ok(max(len(line) for line in bare.splitlines() if line.startswith('@')) <= 70, bare)
    t.ok('\u2026' in bare)
    t.ok('\033[' not in on_terminal(t, ['trace', 'build'], NO_COLOR='1'))
    t.ok('\033' not in ok(t, 'trace build --output'))


@case
def trace_follow(t):
    make(t)
    p = subprocess.Popen([BINARY, 'trace', '--follow', 'build'], env=env(t), stdout=subprocess.PIPE)
    for _ in range(3):
        p.stdout.readline()
    sh(t, 'build', 'echo followed')
    t.ok(b'echo followed' in p.stdout.readline())
    ok(t, 'session destroy build')
    t.equal((p.stdout.read(), p.wait(60)), (b'', 0))
    p.stdout.close()


@case
def trace_verify(t):
    make(t)
    for i in range(6):
        sh(t, 'build', 'echo %d' % i)
    t.ok(ok(t, 'trace --verify build').startswith('whole: '))
    path = t.path('state', 'sessions', json.loads(ok(t, 'session show build --json'))['id'], 'trace')
    data = t.read(path)
    # A process was killed while it wrote.
    with open(path, 'r+b') as f:
        f.truncate(len(data) - 1)
    r = ok(t, 'trace --verify build')
    o = json.loads(ok(t, 'trace --verify --json build'))
    t.equal((o['ok'], o['error']), (True, None))
    t.equal(o['torn_bytes'], len(data) - 1 - o['bytes'])
    torn = '\ntorn tail, will be cut by the next run: %d bytes that '
    t.ok(r.startswith('whole: ') and torn % o['torn_bytes'] + 'a process did not write' in r, r)
    with open(path, 'wb') as f:
        f.write(data)
    t.ok('torn' not in ok(t, 'trace --verify build'))
    # Power was lost: a sector is not there, and whole events are behind it. Only then it is cut there.
    hole = bytearray(data)
    at = (data.index(b'rm /tmp/w/b') // 512 + 1) * 512
    hole[at:at + 512] = bytes(512)
    with open(path, 'wb') as f:
        f.write(hole)
    r = fs(t, 'trace --verify build')
    t.equal(r.status, 1)
    t.ok(r.out.startswith(b'damaged: '), r)
    boot = os.path.join(os.path.dirname(path), 'boot')
    was = os.readlink(boot)
    os.unlink(boot)
    os.symlink('another', boot)
    r = ok(t, 'trace --verify build')
    o = json.loads(ok(t, 'trace --verify --json build'))
    t.equal((o['ok'], o['bytes'] + o['torn_bytes']), (True, len(data)))
    t.ok(o['bytes'] <= at and torn % o['torn_bytes'] + 'were not on the disk' in r, r)
    # The next run does what was said.
    t.equal(sh(t, 'build', 'true').status, 0)
    t.ok('torn' not in ok(t, 'trace --verify build'))
    now = t.read(path)
    t.equal(now[:o['bytes']], data[:o['bytes']])
    t.ok(now[o['bytes']:o['bytes'] + 100] != hole[o['bytes']:o['bytes'] + 100])
    os.unlink(boot)
    os.symlink(was, boot)
    with open(path, 'wb') as f:
        f.write(data)
    with open(path, 'r+b') as f:
        at = data.index(b'rm /tmp/w/b')  # of the second command
        f.seek(at)
        f.write(bytes([data[at] ^ 1]))
    r = fs(t, 'trace --verify build')
    t.equal(r.status, 1)
    t.ok(r.out.startswith(b'damaged: '), r)
    m = re.search(rb'frontal-sandbox (fork build@\d+) NEW', r.out)
    if t.ok(m, r):
        ok(t, m.group(1).decode() + ' saved')
        t.equal(sh(t, 'saved', 'ls /tmp/w').out, b'a\nb\n')
    t.equal(json.loads(fs(t, 'trace --verify --json build').out)['ok'], False)
    r = fs(t, 'store fsck')
    t.equal(r.status, 1)
    t.ok(b'log      session build @' in r.out, r)
    refused(t, 'store gc', "session 'build' is damaged", 'fsck')


# ---- snapshots, restore, fork ----

@case
def snapshot_and_restore(t):
    make(t)
    o = json.loads(ok(t, 'snapshot build --name clean --json'))
    t.equal((o['name'], o['new_bytes']), ('clean', 0))
    refused(t, 'snapshot build --name clean', 'already')
    sh(t, 'build', 'rm -r /tmp/w')
    t.equal(sh(t, 'build', 'ls /tmp').out, b'')
    t.equal(json.loads(ok(t, 'restore build clean --json'))['root'], o['root'])
    t.equal(sh(t, 'build', 'ls /tmp/w').out, b'a\n')
    ok(t, 'restore build @1')
    t.equal(sh(t, 'build', 'ls /tmp/w').out, b'a\nb\n')
    ok(t, 'restore build @0')
    t.equal(sh(t, 'build', 'ls /tmp').out, b'')
    refused(t, 'restore build @9999', '@0 to @')
    refused(t, 'restore build nothing', 'snapshot list')
    refused(t, 'restore build @x', 'number of an event')
    t.equal([s['id'] for s in objects(ok(t, 'snapshot list build --json'))], [o['id']])
    ok(t, 'snapshot delete build clean')
    t.equal(ok(t, 'snapshot list'), '')
    refused(t, 'restore build clean', 'there is no snapshot')
    t.ok('restored from snapshot ' + o['id'] in ok(t, 'trace build'))


@case
def forks(t):
    make(t)
    replies = objects(ok(t, 'fork build@1 try --count 3 --json'))
    t.equal([r['name'] for r in replies], ['try-1', 'try-2', 'try-3'])
    t.equal(replies[0]['reset'], ['ids', 'entropy', 'clock', 'streams', 'jobs'])
    t.equal(len({r['id'] for r in replies}), 3)
    sh(t, 'try-1', 'echo one > /tmp/w/one')
    t.equal(sh(t, 'try-1', 'ls /tmp/w').out, b'a\nb\none\n')
    t.equal(sh(t, 'try-2', 'ls /tmp/w').out, b'a\nb\n')
    t.equal(sh(t, 'build', 'ls /tmp/w').out, b'a\n')
    t.ok('forked to ' + replies[2]['id'] in ok(t, 'trace build'))
    # All or none.
    refused(t, 'fork build try --count 5', "'try-1' already")
    t.equal(len(objects(ok(t, 'session list --json'))), 4)
    ok(t, 'snapshot build --name s')
    ok(t, 'fork build:s again')
    t.equal(sh(t, 'again', 'ls /tmp/w').out, b'a\n')


def lose(t):
    """A command whose processes are killed."""
    p = subprocess.Popen([BINARY, 'run', '--session', 'build', '-c', 'echo on; sleep 1000'], env=env(t),
                         stdout=subprocess.PIPE, start_new_session=True)
    t.equal(p.stdout.readline(), b'on\n')
    os.killpg(p.pid, signal.SIGKILL)
    p.wait()
    p.stdout.close()


@case
def lost_command(t):
    make(t)
    lose(t)
    # Nobody has opened the session since, so its log has no end of it yet.
    last = r'@\d+ .*  lost  .*echo on; sleep 1000$'
    for _ in range(100):  # the worker may take a moment to be gone
        line = ok(t, 'trace build').splitlines()[-1]
        if re.match(last, line):
            break
        time.sleep(0.05)
    t.ok(re.match(last, line), line)
    ok(t, 'restore build @1')
    lost = [line for line in ok(t, 'trace build').splitlines() if ' lost ' in line]
    t.ok(len(lost) == 1 and re.match(last, lost[0]), lost)
    t.ok(ok(t, 'trace --verify build').startswith('whole: '))
    t.equal(sh(t, 'build', 'ls /tmp/w').out, b'a\nb\n')
    # Whoever opens the session next says the same of it.
    lose(t)
    t.equal(sh(t, 'build', 'true').status, 0)
    ends = [e for e in objects(ok(t, 'trace --json build')) if e['type'] == 'end' and e['status'] == 'lost']
    t.equal([(e['reason'], e['why_not']) for e in ends], [('crash', 'the process that ran it is gone')] * 2)
    t.ok(all(e['next_pid'] > 0 for e in ends), ends)


@case
def log_limit(t):
    """At its limit a session refuses to begin a command, says what helps, and that helps."""
    t.equal(run(['--session', 'l', '--limit', 'trace=6K', '-c', 'n=0'], env=env(t)).status, 0)
    for i in range(100):
        r = sh(t, 'l', 'echo $((++n)) > /tmp/n')
        if r.status:
            break
    t.ok(1 < i < 99, i)
    t.equal(r.status, 125)
    t.ok(b'its limit is 6144: raise it (--limit trace=SIZE), or fork the session' in r.err, r)
    o = json.loads(run(['--session', 'l', '--json', '-c', 'true'], env=env(t)).out)
    t.equal((o['status'], o['error']['code'], o['error']['errno']), ('error', 'limit_exceeded', 'EDQUOT'))
    t.equal(fs(t, 'replay l --quiet').status, 0)
    ok(t, 'snapshot l --name full')
    # A fork has the state, the limit, and a log of its own.
    ok(t, 'fork l next')
    t.equal(sh(t, 'next', 'echo $n; cat /tmp/n').out, b'%d\n%d\n' % (i, i))
    t.equal(run(['--session', 'l', '--limit', 'trace=1M', '-c', 'echo $n; cat /tmp/n'], env=env(t)).out, b'%d\n%d\n' % (i, i))
    t.equal(sh(t, 'l', 'true').status, 125)
    # At a prompt, lines are refused and the shell ends in order.
    r = fs(t, 'shell --session next', stdin=b'echo line >> /tmp/lines\n' * 100 + b'exit\n')
    t.ok(b'its limit is 6144' in r.err, r)
    lines = run(['--session', 'next', '--limit', 'trace=1M', '-c', 'wc -l < /tmp/lines'], env=env(t)).out
    t.ok(0 < int(lines) < 100, lines)
    t.ok(ok(t, 'trace next --verify').startswith('whole: '))


# ---- export and import ----

@case
def export_and_import(t):
    make(t)
    ok(t, 'snapshot build --name kept')
    out = t.path('build.fsb')
    o = json.loads(ok(t, ['export', 'build', out, '--json']))
    t.equal((o['bytes'], os.listdir(t.dir).count('build.fsb')), (os.path.getsize(out), 1))
    t.equal([f for f in os.listdir(t.dir) if f.endswith('.part')], [])
    piped = subprocess.run([BINARY, 'export', 'build', '-'], env=env(t), stdout=subprocess.PIPE).stdout
    t.ok(piped == t.read(out), 'the stream is another than the file')
    refused(t, ['import', out], "'build' already")
    i = json.loads(ok(t, ['import', out, '--name', 'copy', '--json']))
    t.equal(i['root'], o['root'])
    t.equal(sh(t, 'copy', 'wc -l /tmp/w/a').out, b'1001 /tmp/w/a\n')
    ok(t, 'restore copy kept')
    ok(t, 'restore copy @1')
    t.equal(sh(t, 'copy', 'ls /tmp/w').out, b'a\nb\n')
    t.equal(ok(t, ['import', '-', '--name', 'third', '--state', t.path('elsewhere')], stdin=piped)[:5], 'third')
    t.equal(ok(t, 'store fsck'), 'everything is whole\n')


@case
def one_is_no_plural(t):
    sh(t, 'one', 'true')
    ok(t, 'snapshot one --name s')
    out = ok(t, ['export', 'one', t.path('x')])
    t.ok(re.search(r'\d events, 1 snapshot, \d+ blobs, ', out), out)
    t.ok(' 1 snapshot, ' in ok(t, ['import', t.path('x'), '--name', 'two']))
    t.ok(re.search(r' in (1 pack|[2-9] packs)$', ok(t, 'store stat'), re.M))
    ok(t, 'fork one three')
    t.ok('\nwhole: 1 event, ' in '\n' + ok(t, 'trace --verify three'))


@case
def damaged_import(t):
    make(t)
    out = t.path('x')
    ok(t, ['export', 'build', out])
    data = t.read(out)
    for bad in (b'', data[:-1], data + b'x', data[:100], data[:200] + bytes([data[200] ^ 1]) + data[201:], b'x' * 1000):
        refused(t, 'import - --name bad', status=1, stdin=bad)
    refused(t, ['import', t.path('none')], 'No such file')
    t.equal([o['name'] for o in objects(ok(t, 'session list --json'))], ['build'])
    t.equal(sorted(os.listdir(t.path('state', 'names'))), ['build'])
    t.equal(len(os.listdir(t.path('state', 'sessions'))), 1)


@case
def mounts_do_not_come_along(t):
    t.write('secret/file', 'host\n')
    run(['--session', 'm', '--mount', t.path('secret') + ':/m', '-c', 'cat /m/file'], env=env(t))
    ok(t, ['export', 'm', t.path('m.fsb')])
    refused(t, ['import', t.path('m.fsb'), '--name', 'n'], '--mounts')
    ok(t, ['import', t.path('m.fsb'), '--name', 'n', '--mounts'])
    t.equal(sh(t, 'n', 'cat /m/file').out, b'host\n')


# ---- store ----

@case
def store_gc_frees(t):
    make(t)
    sh(t, 'big', 'head -c 2000000 /dev/urandom > /tmp/big')
    before = json.loads(ok(t, 'store stat --json'))
    t.equal(before['sessions'], 2)
    ok(t, 'session destroy big')
    would = json.loads(ok(t, 'store gc --dry-run --json'))
    t.ok(would['blobs'] > 20 and would['bytes'] > 1900000, would)
    ok(t, 'store gc')
    after = json.loads(ok(t, 'store stat --json'))
    t.ok(after['stored_bytes'] < before['stored_bytes'] - 1900000, (before, after))
    t.equal(ok(t, 'store fsck'), 'everything is whole\n')
    t.equal(sh(t, 'build', 'wc -l < /tmp/w/a').out, b'1001\n')


class Live:
    """A session in which lines are run one after the other, while others do something else."""

    def __init__(self, t, name):
        self.p = subprocess.Popen([BINARY, 'shell', '--session', name], env=env(t), stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE)

    def ask(self, line):
        self.p.stdin.write(line.encode() + b'; echo "($?)"\n')
        self.p.stdin.flush()
        out = b''
        while not out.endswith(b')\n'):
            got = self.p.stdout.readline()
            if not got:
                break
            out += got
        return out

    def end(self):
        self.p.stdin.close()
        self.p.stdout.close()
        return self.p.wait()


@case
def gc_beside_a_session(t):
    """gc frees what is garbage while a session runs, which goes on as if nothing had been."""
    live = Live(t, 'live')
    t.equal(live.ask('head -c 300000 /dev/urandom > /tmp/a; cp /tmp/a /tmp/b'), b'(0)\n')
    for i in range(4):
        sh(t, 'big', 'head -c 2000000 /dev/urandom > /tmp/big')
        before = json.loads(ok(t, 'store stat --json'))
        ok(t, 'session destroy big')
        o = json.loads(ok(t, 'store gc --json'))
        t.ok(o['bytes'] > 1900000, o)
        after = json.loads(ok(t, 'store stat --json'))
        t.ok(after['stored_bytes'] < before['stored_bytes'] - 1900000, (before, after))
        # What it has and has not looked at since, what is there already, and what is new.
        t.equal(live.ask('[ "$(xxd -p /tmp/a)" = "$(xxd -p /tmp/b)" ] && cat /tmp/a > /tmp/c%d &&'
                         ' [ "$(xxd -p /tmp/a)" = "$(xxd -p /tmp/c%d)" ]' % (i, i)), b'(0)\n')
        t.equal(live.ask('head -c 100000 /dev/urandom > /tmp/new%d' % i), b'(0)\n')
        t.equal(ok(t, 'store fsck'), 'everything is whole\n')
        ok(t, 'fork live fork%d' % i)
        t.equal(sh(t, 'fork%d' % i, '[ "$(xxd -p /tmp/a)" = "$(xxd -p /tmp/c%d)" ] && ls /tmp | wc -l' % i).out,
                b'%d\n' % (4 + 2 * i))
    t.equal(live.end(), 0)
    t.equal(sh(t, 'live', '[ "$(xxd -p /tmp/a)" = "$(xxd -p /tmp/c3)" ] && ls /tmp | wc -l').out, b'10\n')
    ok(t, 'restore live @0')
    t.equal(sh(t, 'live', 'ls /tmp').out, b'')
    t.equal(ok(t, 'store fsck'), 'everything is whole\n')


@case
def gc_never_rests(t):
    """Sessions are made, written to, forked, put back and destroyed while gc runs and is killed all the time."""
    over = threading.Event()
    failed = []

    def collect():
        while not over.is_set():
            p = subprocess.Popen([BINARY, 'store', 'gc', '--json'], env=env(t), stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE)
            if random.random() < 0.4:
                time.sleep(random.random() / 50)
                p.kill()
            out, err = p.communicate()
            if p.returncode not in (0, -signal.SIGKILL) and b'has been writing' not in err:
                failed.append(err)

    def work(name):
        for i in range(12):
            for line in ('fork %s %s-f' % (name, name), 'restore %s-f @0' % name, 'session destroy %s-f' % name):
                r = sh(t, name, 'cat /tmp/n 2>/dev/null > /tmp/was; head -c 9000 /dev/urandom > /tmp/r%d; '
                                'echo %d > /tmp/n; cat /tmp/r* /tmp/s 2>/dev/null > /tmp/all; seq 3000 > /tmp/s' % (i, i))
                if r.status or r.err:
                    failed.append(r)
                r = fs(t, line)
                if r.status or r.err:
                    failed.append(r)

    make(t)
    workers = [threading.Thread(target=work, args=(n,)) for n in ('one', 'two')]
    collector = threading.Thread(target=collect)
    for w in workers + [collector]:
        w.start()
    for w in workers:
        w.join()
    over.set()
    collector.join()
    t.equal(failed, [])
    ok(t, 'store gc')
    t.equal(ok(t, 'store fsck'), 'everything is whole\n')
    for name in ('one', 'two'):
        t.equal(sh(t, name, 'cat /tmp/n; [ "$(cat /tmp/r* /tmp/s | xxd -p)" = "$(xxd -p /tmp/all)" ] && ls /tmp/r* | wc -l').out, b'11\n12\n')
    t.equal(sh(t, 'build', 'wc -l < /tmp/w/a').out, b'1001\n')


@case
def store_fsck_names_files(t):
    sh(t, 'big', 'mkdir /tmp/d; head -c 2000000 /dev/urandom > /tmp/d/big')
    packs = []
    for folder, _, names in os.walk(t.path('state', 'store')):
        packs += [os.path.join(folder, n) for n in names]
    pack = max(packs, key=os.path.getsize)
    with open(pack, 'r+b') as f:
        f.seek(os.path.getsize(pack) // 2)
        b = f.read(1)
        f.seek(-1, 1)
        f.write(bytes([b[0] ^ 1]))
    r = fs(t, 'store fsck')
    t.equal(r.status, 1)
    t.ok(b'damaged  sha256:' in r.out and b'session big @' in r.out, r)
    t.ok(b'file     /tmp/d/big in session big @' in r.out, r)
    found = objects(fs(t, 'store fsck --json').out.decode())
    t.ok({'damaged', 'file'} <= {f['fault'] for f in found}, found)


if __name__ == '__main__':
    main()
