# SPDX-License-Identifier: Apache-2.0
"""A real server on a free port of the loopback address, and a client for it."""
import http.client
import json
import os
import signal
import socket
import subprocess
import threading
import time

from harness import BINARY, SLOW


class Reply:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return '%d %r' % (self.status, self.body[:1000])


class Server:
    """Started with a state directory of the case; stopped by its process's id."""

    def __init__(self, t, *options, listen='127.0.0.1:0', state=None):
        self.t = t
        self.state = state or t.path('state')
        self.log = open(t.path('server.log'), 'ab', buffering=0)
        self.listen = listen
        env = dict(os.environ)
        env['FRONTAL_USERLAND'] = '/nonexistent'  # CI has none, and what it shows must not depend on it
        self.process = subprocess.Popen([BINARY, 'serve', '--listen', listen, '--state', self.state] + list(options),
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                        env=env)
        line = b''
        while b'listening on ' not in line:
            line = self.process.stderr.readline()
            if not line:
                raise RuntimeError('the server did not start: status %r' % self.process.wait())
            self.log.write(line)
        address = line.split(b'listening on ')[1].strip().decode()
        self.unix = address[5:] if address.startswith('unix:') else None
        if not self.unix:
            host, port = address.split('://')[1].rsplit(':', 1)
            self.address = (host.strip('[]'), int(port))
        self._drain_stderr()

    def _drain_stderr(self):
        def copy():
            for line in self.process.stderr:
                self.log.write(line)
        self.copier = threading.Thread(target=copy, daemon=True)
        self.copier.start()

    def connect(self, timeout=60):
        if self.unix:
            c = http.client.HTTPConnection('localhost', timeout=timeout * SLOW)
            c.sock = socket.socket(socket.AF_UNIX)
            c.sock.connect(self.unix)
            return c
        return http.client.HTTPConnection(*self.address, timeout=timeout * SLOW)

    def ask(self, method, path, body=None, headers=None, connection=None):
        c = connection or self.connect()
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
        if isinstance(body, str):
            body = body.encode()
        c.request(method, path, body=body, headers=headers or {})
        r = c.getresponse()
        reply = Reply(r.status, r.headers, r.read())
        if not connection:
            c.close()
        return reply

    def get(self, path, **kw):
        return self.ask('GET', path, **kw)

    def post(self, path, body=None, **kw):
        return self.ask('POST', path, {} if body is None else body, **kw)

    def create(self, **body):
        r = self.post('/v1/sessions', body)
        if r.status != 201:
            raise RuntimeError('create: %r' % r)
        return r.json['id']

    def exec(self, session, command=None, **body):
        if command is not None:
            body['command'] = command
        r = self.post('/v1/sessions/%s/exec' % session, body)
        if r.status != 200:
            raise RuntimeError('exec: %r' % r)
        return r.json

    def exec_at(self, session, exec_id, wait_ms=0):
        return self.get('/v1/sessions/%s/execs/%s?wait_ms=%d' % (session, exec_id, wait_ms))

    def workers(self):
        """Process ids of its workers."""
        with open('/proc/%d/task/%d/children' % (self.process.pid, self.process.pid)) as f:
            return [int(p) for p in f.read().split()]

    def stop(self, sig=signal.SIGTERM, timeout=60):
        if self.process.poll() is None:
            self.process.send_signal(sig)
        return self.process.wait(timeout * SLOW)

    def __enter__(self):
        return self

    def __exit__(self, *why):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.copier.join()
        self.log.close()


def until(fn, what='it', timeout=30):
    """Waits until fn() is true: for what another process does in its own time."""
    end = time.monotonic() + timeout * SLOW
    while time.monotonic() < end:
        got = fn()
        if got:
            return got
        time.sleep(0.01)
    raise TimeoutError('%s did not come about' % what)
