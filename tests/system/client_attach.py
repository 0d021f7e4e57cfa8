# SPDX-License-Identifier: Apache-2.0
"""frontal-sandbox attach: a terminal on a session of a server, over connections that break, and as a pipe."""
import fcntl
import os
import pty
import re
import signal
import socket
import struct
import subprocess
import termios
import threading

from harness import BINARY, SLOW, case, main, read_until
from server_harness import Server, until

LEAVE = b'\x10\x11'


def url_of(server):
    return 'http://%s:%d' % server.address


def environment(url):
    env = {k: v for k, v in os.environ.items() if not k.startswith('FRONTAL_SANDBOX_')}
    return dict(env, FRONTAL_SANDBOX_URL=url, FRONTAL_USERLAND='/nonexistent')


class Terminal:
    """attach on a terminal, its standard error in a file."""

    def __init__(self, t, url, *words, cols=80, rows=24):
        self.t, self.errors = t, t.path('errors')
        self.fd, other = pty.openpty()
        self.size(cols, rows)
        self.modes = termios.tcgetattr(self.fd)
        with open(self.errors, 'wb') as errors:
            self.p = subprocess.Popen([BINARY, 'attach'] + list(words), stdin=other, stdout=other, stderr=errors,
                                      env=environment(url), start_new_session=True,
                                      preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        self.other = other  # kept: a terminal that nobody has open forgets its modes

    def size(self, cols, rows):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack('HHHH', rows, cols, 0, 0))

    def type(self, data):
        os.write(self.fd, data)

    def expect(self, what):
        return read_until(self.fd, what)

    def said(self):
        with open(self.errors) as f:
            return f.read()

    def end(self):
        """The exit status; the terminal has its modes back."""
        status = self.p.wait(timeout=60 * SLOW)
        self.t.equal(termios.tcgetattr(self.fd), self.modes, 'the modes of the terminal')
        os.close(self.fd)
        os.close(self.other)
        return status


class Way:
    """A way to the server that can be cut, and closed."""

    def __init__(self, server, most=None):
        self.server, self.most, self.cuts = server, most, 0
        self.open, self.pairs = True, []
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.url = 'http://127.0.0.1:%d' % self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            c, _ = self.listener.accept()
            if not self.open:
                c.close()
                continue
            s = socket.create_connection(self.server.address)
            self.pairs.append((c, s))
            for a, b in ((c, s), (s, c)):
                threading.Thread(target=self._copy, args=(a, b), daemon=True).start()

    def _copy(self, a, b):
        n = 0
        try:
            while True:
                data = a.recv(4096)
                if not data:
                    break
                n += len(data)
                if self.most and n > self.most:
                    b.sendall(data[:len(data) // 2])  # in the middle of a frame
                    self.cuts += 1
                    break
                b.sendall(data)
        except OSError:
            pass
        self._shut(a, b)

    def _shut(self, *sockets):
        for s in sockets:
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut(self):
        for pair in self.pairs:
            self._shut(*pair)
        self.pairs = []


def pipe(server, *words, data=b'', url=None):
    return subprocess.run([BINARY, 'attach'] + list(words), input=data, capture_output=True,
                          env=environment(url or url_of(server)), timeout=60 * SLOW)


def begin(s, session, command, **body):
    return s.exec(session, command, wait_ms=0, **body)['exec_id']


# ---- a terminal ----

@case
def a_shell_its_size_and_its_status(t):
    with Server(t) as s:
        s.create(name='demo')
        a = Terminal(t, url_of(s), 'demo', cols=100, rows=30)
        a.expect(b'$ ')
        a.type(b'stty size; [ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo a terminal\r')
        a.expect(b'\r\n30 100\r\na terminal\r\n')
        a.size(70, 20)
        # The size travels by itself: until it has come the shell says the other.
        a.type(b'until [ "$(stty size)" = "20 70" ]; do sleep .05; done; stty size\r')
        a.expect(b'\r\n20 70\r\n')
        a.expect(b'$ ')
        a.type(b'sleep 1000\r')
        a.expect(b'sleep 1000\r\n')
        a.type(b'\x03')
        a.expect(b'^C\r\n')
        a.expect(b'$ ')
        a.type(b'echo "<$?>"; exit 7\r')
        a.expect(b'\r\n<130>\r\nexit\r\n')
        t.equal((a.end(), a.said()), (7, ''))


@case
def a_command_that_is_killed(t):
    with Server(t) as s:
        i = s.create()
        e = begin(s, i, 'echo ready; kill -TERM $$; sleep 1000', tty={})
        a = Terminal(t, url_of(s), i, '--exec', e)
        a.expect(b'ready\r\n')
        t.equal(a.end(), 143)


@case
def left_and_come_back_to(t):
    with Server(t) as s:
        s.create(name='demo')
        a = Terminal(t, url_of(s), 'demo')
        a.expect(b'$ ')
        a.type(b'X=kept; cd /tmp; read -n 2 two; printf "<%q>\\n" "$two"\r')
        a.expect(b'"$two"\r\n')
        a.type(b'\x10x')  # the first of the two keys alone is a key
        a.expect(b"<$'\\020x'>\r\n")
        a.expect(b'$ ')
        # What was typed before the keys arrives, what it prints meanwhile is there later.
        a.type(b'echo begun; until [ -e go ]; do sleep .05; done; echo more\r' + LEAVE)
        t.equal(a.end(), 0)
        m = re.fullmatch(r'\s*frontal-sandbox: (exec_\w+) goes on; to attach again: frontal-sandbox attach '
                         r'--server (\S+) --exec (\S+) demo\n', a.said())
        t.ok(m and m[1] == m[3] and m[2] == url_of(s), a.said())
        where = '/v1/sessions/demo/execs/' + m[1]
        t.equal(s.ask('PUT', '/v1/sessions/demo/fs/tmp/go', b'').status, 200)
        until(lambda: b'\nmore\r\n' in s.get(where + '/output').body, 'the output')
        shown = s.get(where + '/output').body
        b = Terminal(t, url_of(s), 'demo', '--exec', m[1])
        t.ok(shown.startswith(b.expect(b'\nbegun\r\nmore\r\n')), shown)
        b.expect(b'$ ')
        b.type(b'echo "$X $PWD"; exit 3\r')
        b.expect(b'\r\nkept /tmp\r\nexit\r\n')
        t.equal((b.end(), b.said()), (3, ''))


@case
def signals_leave_it(t):
    with Server(t) as s:
        i = s.create()
        e = begin(s, i, 'trap "echo int" INT; echo ready; read x; echo "<$x>"; while :; do sleep .05; done', tty={})
        for sig in (signal.SIGTERM, signal.SIGHUP):
            a = Terminal(t, url_of(s), i, '--exec', e)
            a.expect(b'ready\r\n')
            a.p.send_signal(sig)
            t.equal(a.end(), 128 + sig)
            t.ok('--exec ' + e in a.said(), a.said())
        t.equal(s.exec_at(i, e).json['status'], 'running')
        a = Terminal(t, url_of(s), i, '--exec', e)
        a.expect(b'ready\r\n')
        a.type(b'x\r')
        a.expect(b'<x>\r\n')
        a.p.send_signal(signal.SIGINT)
        a.expect(b'int\r\n')
        a.type(LEAVE)
        t.equal(a.end(), 0)


# ---- connections that break ----

@case
def cut_in_the_middle(t):
    with Server(t) as s:
        s.create(name='demo')
        way = Way(s)
        a = Terminal(t, way.url, 'demo')
        got = a.expect(b'$ ')
        a.type(b'echo one\r')
        got += a.expect(b'\r\none\r\n')
        way.cut()
        a.type(b'echo two\r')
        got += a.expect(b'\r\ntwo\r\n')
        # For a while nobody is there; what is typed meanwhile is not lost.
        way.open = False
        way.cut()
        until(lambda: a.said().count('cut: trying again') == 2, 'the note')
        a.type(b'echo three; exit 4\r')
        way.open = True
        got += a.expect(b'\r\nthree\r\nexit\r\n')
        t.equal(a.end(), 4)
        t.equal(a.said().count('connected again'), 2, a.said())
        e = s.get('/v1/sessions/demo/execs').json['execs'][-1]['exec_id']
        t.equal(got, s.get('/v1/sessions/demo/execs/%s/output' % e).body)


@case
def cut_again_and_again(t):
    with Server(t) as s:
        i = s.create()
        data = b''.join(b'line %d\n' % n for n in range(25000))
        e = begin(s, i, 'echo err >&2; cat', stdin_open=True)
        way = Way(s, most=60000)
        r = pipe(s, i, '--exec', e, data=data, url=way.url)
        t.equal((r.returncode, len(r.stdout), r.stdout == data), (0, len(data), True), r.stderr)
        t.equal(r.stderr.count(b'err\n'), 1)
        t.ok(way.cuts >= 4, way.cuts)


@case
def left_without_a_connection(t):
    with Server(t) as s:
        s.create(name='demo')
        way = Way(s)
        a = Terminal(t, way.url, 'demo')
        a.expect(b'$ ')
        way.open = False
        way.cut()
        until(lambda: 'cut: trying again' in a.said(), 'the note')
        a.type(b'typed' + LEAVE)
        t.equal(a.end(), 0)
        t.ok('the last 5 bytes of input may not have arrived' in a.said() and 'goes on' in a.said(), a.said())


@case
def over_a_unix_socket(t):
    with Server(t, listen='unix:' + t.path('s')) as s:
        i = s.create()
        a = Terminal(t, 'unix:' + s.unix, i)
        a.expect(b'$ ')
        a.type(b'exit 6\r')
        a.expect(b'exit\r\n')
        t.equal((a.end(), a.said()), (6, ''))


@case
def over_tls(t):
    cert, key = t.path('cert'), t.path('key')
    subprocess.run(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days',
                    '2', '-subj', '/CN=one', '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', cert],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.chmod(key, 0o600)
    with Server(t, '--tls-cert', cert, '--tls-key', key) as s:
        url = 'https://127.0.0.1:%d' % s.address[1]
        subprocess.run([BINARY, 'run', '--ca', cert, '--session', 'demo', '-c', ':'], env=environment(url), check=True)
        a = Terminal(t, url, 'demo', '--ca', cert)
        a.expect(b'$ ')
        a.type(b'head -c 300000 /dev/zero | tr "\\0" x; echo; echo the end\r')
        got = b''
        while b'\r\nthe end\r\n' not in got:
            got += os.read(a.fd, 65536)
        t.ok(b'\r\n' + b'x' * 300000 + b'\r\nthe end\r\n' in got, len(got))
        a.type(LEAVE)
        t.equal(a.end(), 0)
        t.ok(' --ca %s --exec ' % cert in a.said(), a.said())


# ---- no terminal ----

@case
def as_a_pipe(t):
    with Server(t) as s:
        s.create(name='demo')
        r = pipe(s, 'demo', data=b'[ -t 0 ] || echo "no terminal"; echo err >&2; cat; exit 5\nthe rest\n')
        t.equal((r.returncode, r.stdout, r.stderr), (5, b'no terminal\nthe rest\n', b'err\n'))
        e = begin(s, 'demo', 'wc -c', stdin_open=True)
        r = pipe(s, 'demo', '--exec', e, data=b'x' * 1000000)
        t.equal((r.returncode, r.stdout.split(), r.stderr), (0, [b'1000000'], b''))
        # It ends, and does not read what is given to it.
        e = begin(s, 'demo', 'echo done; exit 2', stdin_open=True)
        r = pipe(s, 'demo', '--exec', e, data=b'x' * 1000000)
        t.equal((r.returncode, r.stdout, r.stderr), (2, b'done\n', b''))
        e = begin(s, 'demo', 'read x; echo "$x"')
        r = pipe(s, 'demo', '--exec', e, data=b'nobody reads it')
        t.equal((r.returncode, r.stdout, r.stderr), (0, b'\n', b''))


@case
def what_is_wrong_is_told(t):
    with Server(t) as s:
        i = s.create()
        for words, text in ((['none'], b'none'), ([i, '--exec', 'exec_none'], b'no exec'), ([], b'takes one session'),
                            ([i, '--json'], b'--json'), (['--wrong', i], b'--wrong')):
            r = pipe(s, *words)
            t.equal((r.returncode, r.stdout), (125, b''), words)
            t.ok(text in r.stderr and b' on; ' not in r.stderr, r)
        r = pipe(s, '--help')
        t.ok(r.returncode == 0 and b'Usage: frontal-sandbox attach' in r.stdout, r)
        env = environment('')
        r = subprocess.run([BINARY, 'attach', i], stdin=subprocess.DEVNULL, capture_output=True, env=env)
        t.ok(r.returncode == 125 and b'--server URL' in r.stderr and b'frontal-sandbox serve' in r.stderr, r)
        r = subprocess.run([BINARY, 'execs', '--help'], capture_output=True, env=env)
        t.ok(r.returncode == 0 and b'Usage: frontal-sandbox execs' in r.stdout, r)
        s.stop()
        r = pipe(s, i, '--exec', 'exec_x')
        t.ok(r.returncode == 125 and b'no server answers' in r.stderr and b' on; ' not in r.stderr, r)


if __name__ == '__main__':
    main()
