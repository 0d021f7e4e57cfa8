# SPDX-License-Identifier: Apache-2.0
"""The verbs of the command line against a server: what they print is what they print here."""
import json
import os
import signal
import socket
import subprocess
import threading

from harness import BINARY, SLOW, case, main
from server_harness import Server, until


class Done:
    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err

    def __repr__(self):
        return 'status %r\n  stdout %r\n  stderr %r' % (self.status, self.out[:2000], self.err[:2000])


def url_of(server):
    return 'unix:' + server.unix if server.unix else 'http://%s:%d' % server.address


def environment(url, key=None):
    env = dict(os.environ)
    env.pop('FRONTAL_SANDBOX_STATE', None)
    env['FRONTAL_SANDBOX_URL'] = url
    env['FRONTAL_USERLAND'] = '/nonexistent'
    if key:
        env['FRONTAL_SANDBOX_KEY'] = key
    return env


def verb(server, *args, stdin=b'', key=None, url=None):
    p = subprocess.run([BINARY] + list(args), input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       env=environment(url_of(server) if url is None else url, key), timeout=120 * SLOW)
    return Done(p.returncode, p.stdout.decode(errors='surrogateescape'), p.stderr.decode(errors='surrogateescape'))


def start(server, *args, url=None):
    return subprocess.Popen([BINARY] + list(args), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, env=environment(url or url_of(server)))


class Cutter:
    """A way to the server that can be cut: after so many bytes of an answer each connection ends."""

    def __init__(self, server, after):
        self.server, self.after, self.cut = server, after, 0
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.url = 'http://127.0.0.1:%d' % self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                c, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(c,), daemon=True).start()

    def serve(self, c):
        s = socket.create_connection(self.server.address)
        threading.Thread(target=self.copy, args=(c, s, None), daemon=True).start()
        self.copy(s, c, self.after)

    def copy(self, a, b, most):
        n = 0
        try:
            while True:
                data = a.recv(4096)
                if not data:
                    break
                if most is not None and b'text/event-stream' in data:
                    n = 1  # only the stream of events is cut
                if n:
                    data = data[:most - n + 1]
                    n += len(data)
                b.sendall(data)
                if most is not None and n > most:
                    self.cut += 1
                    break
        except OSError:
            pass
        for s in (a, b):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


# ---- run ----

@case
def run_passes_streams_and_status(t):
    with Server(t, listen='unix:' + t.path('s')) as s:
        r = verb(s, 'run', '-c', 'cat; echo err >&2; exit 3', stdin=b'in\0\xff\n')
        t.equal((r.status, r.out.encode(errors='surrogateescape'), r.err), (3, b'in\0\xff\n', 'err\n'))
        r = verb(s, 'run', '--env', 'A=x y', '--workdir', '/tmp', '--', 'sh', '-c', 'echo "$A $0"; pwd', 'zero')
        t.equal((r.status, r.out), (0, 'x y zero\n/tmp\n'), r.err)
        r = verb(s, 'run', '-c', 'echo "$0 $1"', 'name', 'one')
        t.equal(r.out, 'name one\n', r.err)
        r = verb(s, 'run', stdin=b'echo from $((40 + 2))\n')
        t.equal((r.status, r.out), (0, 'from 42\n'), r.err)
        r = verb(s, 'run', t.write('script', 'echo "$# $1"; exit 7\n'), 'arg')
        t.equal((r.status, r.out), (7, '1 arg\n'), r.err)
        t.equal(verb(s, 'run', t.path('nothing')).status, 127)
        r = verb(s, 'run', '--timeout', '100ms', '-c', 'sleep 1000')
        t.equal(r.status, 124)
        t.ok('timeout limit' in r.err, r)
        t.equal(verb(s, 'run', '-c', 'kill -9 $$').status, 137)
        t.equal(s.get('/v1/sessions').json['sessions'], [], 'a session of one run stays')


@case
def run_keeps_a_session(t):
    with Server(t) as s:
        t.equal(verb(s, 'run', '--session', 'kept', '-c', 'cd /tmp; V=5; echo a > f').status, 0)
        r = verb(s, 'run', '--session', 'kept', '-c', 'pwd; echo $V; cat f')
        t.equal(r.out, '/tmp\n5\na\n', r.err)
        r = verb(s, 'run', '--session', 'kept', stdin=b'echo $V\n')
        t.equal(r.out, '5\n', r.err)
        r = verb(s, 'run', '--session', 'kept', '--limit', 'memory=64M', '-c', 'true')
        t.equal(r.status, 125)
        t.ok('for a new one' in r.err, r)
        r = verb(s, 'run', '--limit', 'memory=64M', '--limit', 'cpu=5s', '--session', 'small', '-c', 'true')
        t.equal(r.status, 0, r.err)
        got = s.get('/v1/sessions/small').json['limits']
        t.equal((got['memory'], got['cpu_ms']), (64 << 20, 5000))
        r = verb(s, 'run', '--session', 'kept', '--json', '-c', 'echo out; echo err >&2; exit 2')
        j = json.loads(r.out)
        t.equal((r.status, j['status'], j['exit_code'], j['stdout'], j['stderr']), (2, 'exited', 2, 'out\n', 'err\n'))
        r = verb(s, 'run', '--mount', '/tmp:/mnt', '-c', 'true')
        t.equal(r.status, 125)
        t.ok('--mount' in r.err, r)


@case
def run_streams_both_ways(t):
    with Server(t) as s:
        p = start(s, 'run', '-c', 'echo ready; while read x; do echo "got $x"; done')
        t.equal(p.stdout.readline(), b'ready\n')
        for word in (b'one', b'two'):
            p.stdin.write(word + b'\n')
            p.stdin.flush()
            t.equal(p.stdout.readline(), b'got ' + word + b'\n')
        p.stdin.close()
        t.equal(p.wait(), 0)
        data = bytes(range(256)) * 4096
        r = verb(s, 'run', '-c', 'sha256sum; echo done', stdin=data * 8)
        t.ok(r.out.endswith('done\n') and r.status == 0, r)
        r = subprocess.run([BINARY, 'run', '-c', 'cat'], input=data, stdout=subprocess.PIPE,
                           env=environment(url_of(s)))
        t.ok(r.stdout == data, 'the bytes that came back differ')


@case
def interrupt_reaches_the_command(t):
    with Server(t) as s:
        p = start(s, 'run', '-c', 'trap "echo caught; exit 9" INT; echo ready; sleep 1000 & wait')
        t.equal(p.stdout.readline(), b'ready\n')
        p.send_signal(signal.SIGINT)
        t.equal((p.stdout.read(), p.wait()), (b'caught\n', 9))
        p = start(s, 'run', '-c', 'trap "" INT TERM; echo ready; while :; do sleep 1000; done')
        t.equal(p.stdout.readline(), b'ready\n')
        for _ in range(3):
            p.send_signal(signal.SIGINT)
        until(lambda: p.poll() is not None or p.send_signal(signal.SIGTERM), 'the end of the command')
        t.equal(p.wait(), 137)


@case
def cut_connections_lose_nothing(t):
    want = ''.join('line %d\n' % i for i in range(1, 30001))
    with Server(t) as s:
        # An event has up to 64 KiB of output, so that each connection brings one at least.
        for after in (90001, 150007):
            cutter = Cutter(s, after)
            r = verb(s, 'run', '--session', 'cut', '-c',
                     'seq -f "line %.0f" 30000; exit 4', url=cutter.url)
            t.equal((r.status, r.out == want), (4, True), (after, r.status, r.err, len(r.out)))
            t.ok(cutter.cut > 0, 'nothing was cut')
            cutter.listener.close()
        t.equal(len(s.get('/v1/sessions/cut/execs').json['execs']), 2, 'commands that ran')


@case
def output_beyond_what_is_kept_is_told(t):
    with Server(t) as s:
        p = subprocess.run([BINARY, 'run', '-c', 'head -c 17000000 /dev/zero'], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, env=environment(url_of(s)))
        t.equal(p.returncode, 125)
        t.equal(len(p.stdout), 16 << 20)
        t.ok(b'were not kept' in p.stderr, p.stderr)


# ---- the others ----

@case
def sessions(t):
    with Server(t) as s:
        t.equal(verb(s, 'session', 'list').out, '')
        a = s.create(name='a')
        r = verb(s, 'session', 'list')
        t.equal(r.out.split()[:3], ['a', a, 'ready'], r)
        t.equal(json.loads(verb(s, 'session', 'list', '--json').out)['id'], a)
        t.equal(json.loads(verb(s, 'session', 'show', '--json', 'a').out)['id'], a)
        t.ok('id          ' + a in verb(s, 'session', 'show', 'a').out)
        r = verb(s, 'session', 'rename', '--json', 'a', 'b')
        t.equal(json.loads(r.out), {'id': a, 'name': 'b'}, r.err)
        s.create(name='c')
        r = verb(s, 'session', 'rename', 'b', 'c')
        t.equal(r.status, 125)
        t.equal(verb(s, 'run', '--session', 'b', '-c', 'exit 6').status, 6)
        r = verb(s, 'execs', 'b')
        t.ok('exit 6' in r.out, r)
        t.equal(json.loads(verb(s, 'execs', '--json', 'b').out)['exit_code'], 6)
        r = verb(s, 'session', 'destroy', '--json', 'b', 'nothing', 'c')
        t.equal((r.status, len(r.out.splitlines())), (125, 2))
        t.ok("'nothing'" in r.err, r)
        t.equal(s.get('/v1/sessions').json['sessions'], [])


@case
def states(t):
    """What a server says is what the local verbs say of the same state directory."""
    with Server(t) as s:
        def local(*args):
            p = subprocess.run([BINARY] + list(args) + ['--state', s.state], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
            return Done(p.returncode, p.stdout.decode(), p.stderr.decode())

        t.equal(verb(s, 'run', '--session', 'o', '-c', 'echo 1 > f; mkdir d; echo x > "$(printf "d/a\\nb")"').status, 0)
        r = verb(s, 'snapshot', '--name', 'clean', 'o')
        t.equal(r.status, 0, r.err)
        s.post('/v1/sessions/o/sleep')
        t.equal(verb(s, 'snapshot', 'list', 'o').out, local('snapshot', 'list', 'o').out)
        t.equal(verb(s, 'snapshot', 'list', '--json').out, local('snapshot', 'list', '--json').out)
        r = verb(s, 'fork', 'o:clean', 'fork')
        t.equal((r.status, r.out.split()[0]), (0, 'fork'), r)
        t.ok('begun anew: ids, entropy, clock, streams, jobs' in r.out, r)
        t.equal(verb(s, 'fork', '--count', '2', 'o@0', 'old').status, 0)
        t.equal(verb(s, 'run', '--session', 'old-2', '-c', 'ls').out, '')
        t.equal(verb(s, 'run', '--session', 'fork', '-c', 'echo 2 > f; rm -r d; chmod 600 f').status, 0)
        s.post('/v1/sessions/fork/sleep')
        for options in ([], ['--text'], ['--json']):
            got, want = verb(s, 'diff', *options, 'o', 'fork'), local('diff', *options, 'o', 'fork')
            t.equal((got.status, got.out), (want.status, want.out), (options, got.err))
        got = verb(s, 'diff', 'o', 'fork', '/home')
        t.equal(got.out, local('diff', 'o', 'fork', '/home').out)
        t.equal(verb(s, 'diff', 'o', 'o').status, 0)
        r = verb(s, 'merge', '--dry-run', 'fork', 'o')
        t.equal((r.status, r.out), (0, local('merge', '--dry-run', 'fork', 'o').out), r.err)
        t.equal(verb(s, 'run', '--session', 'o', '-c', 'echo 3 > f').status, 0)
        r = verb(s, 'merge', 'fork', 'o')
        t.equal((r.status, r.out[:2]), (1, 'C '), r)
        t.ok('1 conflict: nothing was merged' in r.err, r)
        r = verb(s, 'restore', 'o', 'clean')
        t.ok(r.out.startswith('o is back at @'), r)
        t.equal(verb(s, 'run', '--session', 'o', '-c', 'cat f').out, '1\n')
        r = verb(s, 'merge', 'fork', 'o')
        t.equal(r.status, 0, r)
        s.post('/v1/sessions/o/sleep')
        t.equal(verb(s, 'trace', 'o').out, local('trace', 'o').out)
        t.equal(verb(s, 'trace', '--json', 'o').out, local('trace', '--json', 'o').out)
        r = verb(s, 'replay', '--json', 'fork')
        t.equal([json.loads(x)['verdict'] for x in r.out.splitlines()], ['equal'], r.err)
        r = verb(s, 'replay', 'fork')
        t.ok('1 command: 1 equal, 0 different' in r.out and r.status == 0, r)
        t.equal(verb(s, 'snapshot', 'delete', 'o', 'clean').status, 0)
        t.equal(verb(s, 'snapshot', 'list', 'o').out, '')
        r = verb(s, 'snapshot', 'delete', 'o', 'clean')
        t.equal(r.status, 125)
        t.ok("no snapshot 'clean'" in r.err, r)


@case
def trace_follows_through_cuts(t):
    with Server(t) as s:
        s.create(name='x')
        cutter = Cutter(s, 3000)
        p = start(s, 'trace', '--follow', '--json', 'x', url=cutter.url)
        for i in range(5):
            s.exec('x', 'echo %d' % i)
        s.get('/v1/sessions/x/trace')
        want = [e['seq'] for e in s.get('/v1/sessions/x/trace').json['events']]
        got = [json.loads(p.stdout.readline())['seq'] for _ in want]
        t.equal(got, want)
        t.ok(cutter.cut > 0, 'nothing was cut')
        s.ask('DELETE', '/v1/sessions/x')
        t.equal(p.wait(60 * SLOW), 0)
        p.stdout.close()
        cutter.listener.close()


# ---- errors ----

@case
def errors_say_what_helps(t):
    with Server(t) as s:
        for args, text in ((['session', 'show', 'nothing'], "no session 'nothing'"),
                           (['store', 'gc'], 'no form for a server'),
                           (['session', 'list', 'more'], 'no argument after list'),
                           (['restore', 'nothing', '@x'], 'no number of an event')):
            r = verb(s, *args)
            t.equal(r.status, 125, args)
            t.ok(text in r.err, (args, r))
        r = verb(s, 'session', 'list', url='http://127.0.0.1:1')
        t.ok('no server answers' in r.err and r.status == 125, r)
        r = verb(s, 'session', 'list', url='gopher://x')
        t.ok('no URL of a server' in r.err and r.status == 125, r)
        r = verb(s, 'trace', '--help')
        t.ok(r.out.startswith('Usage: frontal-sandbox trace') and r.status == 0, r)
        # The option is as good as the variable, and goes over it.
        r = verb(s, 'session', 'list', '--server', url_of(s), url='http://127.0.0.1:1')
        t.equal((r.status, r.err), (0, ''))
    r = verb(s, 'execs', 'x', url='')
    t.ok('say which server' in r.err and r.status == 125, r)


@case
def a_server_cannot_act_on_the_terminal(t):
    """One that answers with control characters in its message."""
    with socket.create_server(('127.0.0.1', 0)) as l:
        def serve():
            c, _ = l.accept()
            c.recv(65536)
            body = json.dumps({'error': {'code': 'not_found', 'message': 'no \x1b[2J\u009b2J\r\n\u202e'}}).encode()
            c.sendall(b'HTTP/1.1 404 Not Found\r\nContent-Length: %d\r\nConnection: close\r\n\r\n' % len(body) + body)
            c.close()
        threading.Thread(target=serve, daemon=True).start()
        r = verb(None, 'session', 'show', 'x', url='http://127.0.0.1:%d' % l.getsockname()[1])
        t.equal(r.status, 125)
        t.ok(r.err.isprintable() or r.err[:-1].isprintable(), r.err)
        t.ok('\\x1b[2J' in r.err, r.err)


@case
def keys(t):
    key = subprocess.run([BINARY, 'keys', 'create', '--state', t.path('state'), '--capabilities', 'sessions.read'],
                         stdout=subprocess.PIPE, check=True).stdout.decode().strip()
    with Server(t) as s:
        r = verb(s, 'session', 'list')
        t.equal(r.status, 125)
        t.ok('FRONTAL_SANDBOX_KEY' in r.err, r)
        t.equal(verb(s, 'session', 'list', key=key).status, 0)
        r = verb(s, 'run', '-c', 'true', key=key)
        t.equal(r.status, 125)
        t.ok('sessions.write' in r.err, r)


main()
