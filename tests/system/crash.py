#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sessions whose processes are killed at any moment, by the built program: what was acknowledged is there, what was not
is there wholly or not at all, and the session goes on. The bulk of the kills is in src/session/test/test_crash.c.

FRONTAL_SEED repeats a run, FRONTAL_CRASH_KILLS makes it longer.
"""
import os
import random
import signal
import subprocess
import time

from harness import BINARY, SLOW, case, main, run

SEED = int(os.environ.get('FRONTAL_SEED') or random.SystemRandom().randrange(1 << 32))
KILLS = int(os.environ.get('FRONTAL_CRASH_KILLS', '500'))
VERIFY = os.environ.get('FRONTAL_VERIFY_STATE')


class Model:
    """What a session should be: its files (name to size and a letter), place, variable, and counter."""

    def __init__(self):
        self.files, self.cwd, self.var, self.n = {}, '/home/user', '', 0

    def copy(self):
        m = Model()
        m.files, m.cwd, m.var, m.n = dict(self.files), self.cwd, self.var, self.n
        return m

    def look(self):
        lines = ['%d %s %s' % (self.n, self.cwd, self.var)]
        lines += ['%s %d' % (name, len(self.files[name])) for name in sorted(self.files)]
        return '\n'.join(lines) + '\n'


LOOK = 'echo "$n $PWD $v"; for p in ~/w/*; do [[ -e $p ]] && echo "${p##*/} $(wc -c < $p)"; done; :'


def random_command(rng, m):
    """A command and the model after it."""
    m = m.copy()
    m.n += 1
    text = ['n=%d' % m.n, 'mkdir -p ~/w']
    for _ in range(rng.randrange(1, 4)):
        what = rng.randrange(6)
        name = 'f%d' % rng.randrange(8)
        size = rng.choice((3, 100, 5000, 70000, 300000))
        if what == 0:
            m.files[name] = 'x' * size
            text.append('printf %%%ds x > ~/w/%s' % (size, name))
        elif what == 1:
            m.files[name] = m.files.get(name, '') + 'y' * 7
            text.append('printf yyyyyyy >> ~/w/%s' % name)
        elif what == 2 and m.files:
            old = rng.choice(sorted(m.files))
            m.files['r%d' % m.n] = m.files.pop(old)
            text.append('mv ~/w/%s ~/w/r%d' % (old, m.n))
        elif what == 3 and m.files:
            old = rng.choice(sorted(m.files))
            del m.files[old]
            text.append('rm ~/w/%s' % old)
        elif what == 4:
            m.cwd = rng.choice(('/tmp', '/home/user', '/usr', '/home/user/w'))
            text.append('cd ' + m.cwd)
        else:
            m.var = 'v%d' % rng.randrange(1000)
            text.append('f() { v=%s; }; f' % m.var)
    return '; '.join(text + ['echo done-%d' % m.n, '(exit %d)' % (m.n % 3)]), m


def children(pid):
    try:
        with open('/proc/%d/task/%d/children' % (pid, pid)) as f:
            return [int(x) for x in f.read().split()]
    except OSError:
        return []


def kill(pid, sig=signal.SIGKILL):
    try:
        os.kill(pid, sig)
    except ProcessLookupError:
        pass


def spawn(state, name, text, *options):
    return subprocess.Popen([BINARY, 'run', '--state', state, '--session', name] + list(options) + ['-c', text],
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            start_new_session=True)


def keep(state, name, text, *options):
    return run(['--state', state, '--session', name] + list(options) + ['-c', text])


def strike(rng, p):
    """Kills a part of what runs."""
    victim = rng.choice(('worker', 'cli', 'group'))
    if victim == 'group':
        try:
            os.killpg(p.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    elif victim == 'cli':
        kill(p.pid)
    else:
        for kid in children(p.pid):
            kill(kid)


def verify(t, state):
    """The store is undamaged, no log is broken, no command in one is without its end, nothing is left lying about."""
    if VERIFY:
        v = subprocess.run([VERIFY, state], stdout=subprocess.PIPE)
        t.equal(v.returncode, 0, v.stdout.decode())
    packs = os.path.join(state, 'store', 'packs')
    left = [f for f in os.listdir(packs) if f.endswith('.tmp')]
    t.ok(len(left) <= 1, left)
    return len(os.listdir(packs))


def settle(t, state, name, before, after):
    """Opens the session: it is @before or @after; gives which."""
    r = keep(state, name, LOOK)
    got = r.out.decode()
    if got == after.look():
        return after
    t.equal((r.status, got), (0, before.look()), r.err)
    return before


def collect(rng, state):
    """Begins to collect what nothing needs, beside everything else; now and then it is killed."""
    p = subprocess.Popen([BINARY, 'store', 'gc', '--state', state], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                         stderr=subprocess.PIPE, start_new_session=True)
    if rng.randrange(3) == 0:
        time.sleep(rng.random() * 0.02)
        kill(p.pid)
    return p


def kill_at_random(t, durable):
    rng = random.Random(SEED + durable)
    state, m, kills, acknowledged, lost = t.path('state'), Model(), 0, 0, 0
    options = ['--durable'] if durable else []
    keep(state, 's', 'n=0')
    longest = 0.03
    while kills < KILLS // 2 and not t.failures:
        text, then = random_command(rng, m)
        start = time.monotonic()
        gc = collect(rng, state) if rng.randrange(3) == 0 else None
        p = spawn(state, 's', text, *options)
        if rng.randrange(4):
            time.sleep(rng.random() * longest)
            strike(rng, p)
        out = p.communicate(timeout=60 * SLOW)[0]
        if gc:
            said = gc.communicate(timeout=60 * SLOW)[1]
            t.ok(gc.returncode in (0, -signal.SIGKILL), said)
        if p.returncode == then.n % 3 and out.decode() == 'done-%d\n' % then.n:
            acknowledged += 1
            longest = max(longest * 0.9, time.monotonic() - start)
            if rng.randrange(4) == 0 and settle(t, state, 's', m, then) is not then:
                lost += 1
            m = then
        else:
            kills += 1
            m = settle(t, state, 's', m, then)
    t.ok(verify(t, state) < 40, 'files pile up')
    print('# FRONTAL_SEED=%d: %d kills, %d acknowledged, %d lost' % (SEED, kills, acknowledged, lost))
    t.equal(lost, 0)


@case
def killed_at_random(t):
    kill_at_random(t, False)


@case
def killed_at_random_durable(t):
    kill_at_random(t, True)


@case
def command_whose_client_is_killed_is_lost(t):
    state = t.path('state')
    keep(state, 's', 'n=1; echo one > a')
    p = spawn(state, 's', 'echo two > a; n=2; echo ready; while :; do :; done')
    p.stdout.readline()
    kill(p.pid)
    p.communicate()
    t.equal(keep(state, 's', 'echo $n; cat a').out, b'1\none\n')
    verify(t, state)


# ---- a disk that is full ----

FULL = r'''
mount -t tmpfs -o size=1m none "$1" || exit 77
run() { "$2" run --state "$1/state" --session s -c "$3"; }
run "$1" "$2" 'n=1; echo kept > a' || exit 1
head -c 900k /dev/zero > "$1/filler" 2> /dev/null
i=0
while [ $i -lt 60 ] && run "$1" "$2" "n=$((i + 2)); head -c 20000 /dev/urandom > f$i"; do i=$((i + 1)); done
[ $i -lt 60 ] || exit 2
echo "full after $i"
run "$1" "$2" 'head -c 100000 /dev/urandom > big' && exit 3
rm "$1/filler"
run "$1" "$2" 'echo $n; cat a; ls -d f* big 2> /dev/null | wc -l; n=on' || exit 4
run "$1" "$2" 'echo $n' || exit 5
'''


@case
def disk_is_full(t):
    here = t.path('disk')
    os.mkdir(here)
    p = subprocess.run(['unshare', '-m', 'sh', '-c', FULL, 'sh', here, BINARY], stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, timeout=120 * SLOW)
    lines = p.stdout.decode().splitlines()
    if not lines and (p.returncode == 77 or b'unshare' in p.stderr):
        print('# no file system can be mounted here')
        return
    t.equal(p.returncode, 0, p.stderr)
    done = int(lines[0].split()[-1])
    t.equal(lines[1:], [str(done + 1), 'kept', str(done), 'on'])
    t.ok(b'No space left' in p.stderr or b'cannot be kept' in p.stderr, p.stderr)


# ---- several at once ----

@case
def two_in_one_session_take_turns(t):
    state = t.path('state')
    keep(state, 's', 'n=0')
    many = [spawn(state, 's', 'n=$((n + 1)); echo $n >> all') for _ in range(4)]
    for p in many:
        err = p.communicate(timeout=60 * SLOW)[1]
        t.equal((p.returncode, err), (0, b''))
    t.equal(keep(state, 's', 'cat all').out, b'1\n2\n3\n4\n')


@case
def session_in_use_names_its_user(t):
    state = t.path('state')
    keep(state, 's', ':')
    p = spawn(state, 's', 'echo ready; sleep 1000')
    p.stdout.readline()
    r = keep(state, 's', ':')
    t.equal(r.status, 125)
    t.ok(b"session 's' is in use by process" in r.err, r)
    os.killpg(p.pid, signal.SIGKILL)
    p.communicate()
    t.equal(keep(state, 's', 'echo free').out, b'free\n')


@case
def stopped_worker_holds_its_session(t):
    state = t.path('state')
    keep(state, 's', 'n=1')
    p = spawn(state, 's', 'n=2; echo ready; while :; do :; done')
    p.stdout.readline()
    workers = children(p.pid)
    for kid in workers:
        kill(kid, signal.SIGSTOP)
    kill(p.pid)
    p.wait()
    r = keep(state, 's', ':')
    t.equal(r.status, 125)
    t.ok(b'in use' in r.err, r)
    for kid in workers:
        kill(kid)
    t.equal(keep(state, 's', 'echo $n').out, b'1\n')


@case
def many_sessions_in_one_directory(t):
    state, rng, each = t.path('state'), random.Random(SEED), 50
    loop = ('i=1; while [ $i -le %d ]; do "$0" run --state "$1" --session $2 -c '
            '"n=$i; head -c 2000 /dev/urandom > f$i; echo $i" || exit; i=$((i + 1)); done' % each)
    keep(state, 's0', ':')
    many = [subprocess.Popen(['sh', '-c', loop, BINARY, state, 's%d' % k], stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
            for k in range(8)]
    time.sleep(rng.random())
    for p in many[:3]:
        os.killpg(p.pid, signal.SIGKILL)
    for k, p in enumerate(many):
        out, err = p.communicate(timeout=200 * SLOW)
        acknowledged = int((out.split() or [b'0'])[-1])
        t.equal(err, b'')
        if k >= 3:
            t.equal(acknowledged, each)
        r = keep(state, 's%d' % k, 'echo ${n-0} $(ls -d f* 2> /dev/null | wc -l)')
        n, files = (int(x) for x in r.out.split())
        t.equal(n, files)
        # A line is printed before the command is acknowledged; the last one may not have been.
        t.ok(n >= acknowledged - 1 and (k < 3 or n == each), (k, n, acknowledged))
    verify(t, state)


if __name__ == '__main__':
    main()
