# SPDX-License-Identifier: Apache-2.0
"""What GET /v1/usage counts: each command once, whatever process dies."""
import os
import signal
import subprocess

from harness import BINARY, case, main
from server_harness import Server, until

SUMS = ('execs', 'execs_lost', 'cpu_us', 'memory_byte_seconds', 'output_bytes')


def usage(s):
    r = s.get('/v1/usage?limit=1000')
    assert r.status == 200, r
    return r.json


def sums(u):
    return {k: u[k] for k in SUMS}


class Expected:
    """The sums of what execs said of themselves."""

    def __init__(self):
        self.execs = self.cpu = self.output = self.memory = 0

    def add(self, e):
        u = e['usage']
        self.execs += 1
        self.cpu += u['cpu_us']
        self.output += u['output_bytes']
        self.memory += u['memory_peak'] * u['wall_us']
        return e

    def check(self, t, u, lost=0):
        t.equal((u['execs'], u['execs_lost'], u['cpu_us'], u['output_bytes']),
                (self.execs + lost, lost, self.cpu, self.output))
        # Each session keeps what is less than a byte-second.
        t.ok(abs(u['memory_byte_seconds'] - self.memory / 1e6) <= 1 + len(u.get('sessions', [])), u)


@case
def each_command_once_over_deaths(t):
    want = Expected()
    with Server(t) as s:
        t.equal(sums(usage(s)), dict.fromkeys(SUMS, 0))
        a, b = s.create(name='a'), s.create()
        want.add(s.exec(a, 'echo one; echo two >&2'))
        want.add(s.exec(a, 'i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done'))
        want.add(s.exec(b, 'head -c 5000 /dev/zero'))
        want.add(s.exec(b, 'exit 3'))
        u = usage(s)
        want.check(t, u)
        t.equal([i['session_id'] for i in u['sessions']], sorted([a, b]))
        t.equal([i['execs'] for i in u['sessions']], [2, 2])
        t.equal((u['tenant'], u['next'], u['destroyed']['execs']), ('local', None, 0))
        t.ok(u['stored_bytes'] > 0 and u['sessions'][0]['files_bytes'] > 0)
        page = s.get('/v1/usage?limit=1').json
        t.equal([i['session_id'] for i in page['sessions']], [min(a, b)])
        page = s.get('/v1/usage?limit=1&after=' + page['next']).json
        t.equal(([i['session_id'] for i in page['sessions']], page['next']), ([max(a, b)], None))
        for w in s.workers():
            os.kill(w, signal.SIGKILL)
        # What is sent before its death is known is lost.
        until(lambda: s.get('/v1/health').json['workers'] == 0)
        want.add(s.exec(a, 'echo after the worker'))
        want.check(t, usage(s))
        s.stop(signal.SIGKILL)
    with Server(t) as s:
        want.check(t, usage(s))
        want.add(s.exec(a, 'echo after the server'))
        want.check(t, usage(s))
        before = sums(usage(s))
        t.equal(s.stop(), 0)
    with Server(t) as s:
        t.equal(sums(usage(s)), before)
        text = s.get('/metrics').body.decode()
        t.ok('frontal_sandbox_usage_execs_total{tenant="local"} %d\n' % want.execs in text, text)
        t.ok('frontal_sandbox_usage_cpu_microseconds_total{tenant="local"} %d\n' % want.cpu in text, text)


@case
def a_lost_command_counts_once(t):
    want = Expected()
    with Server(t) as s:
        i = s.create()
        want.add(s.exec(i, 'echo first'))
        e = s.post('/v1/sessions/%s/exec' % i, {'command': 'echo shown; sleep 1000', 'wait_ms': 0}).json
        until(lambda: b'shown' in s.get('/v1/sessions/%s/execs/%s/output' % (i, e['exec_id'])).body)
        for w in s.workers():
            os.kill(w, signal.SIGKILL)
        t.equal(s.exec_at(i, e['exec_id'], 60000).json['status'], 'lost')
        want.add(s.exec(i, 'echo second'))
        want.check(t, usage(s), lost=1)
        e = s.post('/v1/sessions/%s/exec' % i, {'command': 'echo shown; sleep 1000', 'wait_ms': 0}).json
        until(lambda: b'shown' in s.get('/v1/sessions/%s/execs/%s/output' % (i, e['exec_id'])).body)
        workers = s.workers()
        s.stop(signal.SIGKILL)
        until(lambda: not any(os.path.exists('/proc/%d' % w) for w in workers))
    with Server(t) as s:
        want.check(t, usage(s), lost=1)
        want.add(s.exec(i, 'echo third'))
        want.check(t, usage(s), lost=2)
        s.stop(signal.SIGKILL)
    with Server(t) as s:
        want.check(t, usage(s), lost=2)


@case
def what_is_destroyed_was_used(t):
    want = Expected()
    with Server(t) as s:
        a, b = s.create(), s.create()
        want.add(s.exec(a, 'echo a'))
        want.add(s.exec(b, 'echo b'))
        fork = s.post('/v1/sessions/%s/fork' % a).json['sessions'][0]['id']
        want.add(s.exec(fork, 'echo of the fork'))
        t.equal(s.ask('DELETE', '/v1/sessions/' + a).status, 204)
        u = usage(s)
        want.check(t, u)
        t.equal((u['destroyed']['execs'], [i['session_id'] for i in u['sessions']]), (1, sorted([b, fork])))
        s.stop(signal.SIGKILL)
    with Server(t) as s:
        u = usage(s)
        want.check(t, u)
        t.equal(u['destroyed']['execs'], 1)
        t.equal(s.ask('DELETE', '/v1/sessions/' + b).status, 204)
        t.equal(s.ask('DELETE', '/v1/sessions/' + fork).status, 204)
        t.equal(s.stop(), 0)
    with Server(t) as s:
        u = usage(s)
        want.check(t, u)
        t.equal((u['destroyed']['execs'], u['sessions']), (3, []))


@case
def a_line_that_was_cut_is_none(t):
    want = Expected()
    with Server(t) as s:
        i = s.create()
        want.add(s.exec(i, 'echo x'))
        s.post('/v1/sessions/%s/sleep' % i)
        s.stop(signal.SIGKILL)
    with open(s.state + '/usage', 'ab') as f:
        f.write(b'%s 99 99 99' % i.encode())
    with Server(t) as s:
        want.check(t, usage(s))


@case
def the_command_line_runs_in_it_too(t):
    with Server(t) as s:
        i = s.create(name='both')
        s.exec(i, 'echo server')
        s.post('/v1/sessions/both/sleep')
        r = subprocess.run([BINARY, 'run', '--state', s.state, '--session', 'both', '-c', 'echo line'],
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           env={**os.environ, 'FRONTAL_USERLAND': '/nonexistent'})
        t.equal((r.returncode, r.stdout), (0, b'line\n'))
        t.equal(usage(s)['execs'], 1)
        # The process behind `run` may have the session for moments after it has answered.
        until(lambda: s.post('/v1/sessions/both/exec', {'command': 'echo again'}).status == 200)
        t.equal(usage(s)['execs'], 3)


main()
