# SPDX-License-Identifier: Apache-2.0
"""The server as a service: TLS, its settings file, and what it says to a service manager."""
import http.client
import os
import signal
import socket
import ssl
import subprocess
import warnings

from harness import BINARY, SLOW, case, main
from server_harness import Server, until


def certificate(t, name, authority=None):
    """A key and a certificate for 127.0.0.1, made now; its own authority unless another's name is given."""
    key, cert = t.path(name + '.key'), t.path(name + '.pem')
    cmd = ['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2',
           '-subj', '/CN=' + name, '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', cert]
    subprocess.run(cmd, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.chmod(key, 0o600)
    return cert, key


def replace(source, target):
    """As a program that renews certificates does it."""
    with open(source, 'rb') as f:
        data = f.read()
    with open(target + '.new', 'wb') as f:
        os.chmod(target + '.new', 0o600)
        f.write(data)
    os.rename(target + '.new', target)


def secure(server, ca):
    return http.client.HTTPSConnection(*server.address, timeout=60 * SLOW, context=ssl.create_default_context(cafile=ca))


def client(url, *args, ca=None):
    env = dict(os.environ, FRONTAL_SANDBOX_URL=url)
    return subprocess.run([BINARY] + list(args) + (['--ca', ca] if ca else []), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env=env, timeout=60 * SLOW)


def refused(*options, env=None):
    """A server that must not start: its message."""
    p = subprocess.run([BINARY, 'serve'] + list(options), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, timeout=60 * SLOW, env=env)
    return p.returncode, p.stderr.decode()


# ---- TLS ----

@case
def tls_serves_and_reloads(t):
    cert, key = certificate(t, 'one')
    cert2, key2 = certificate(t, 'two')
    with Server(t, '--tls-cert', cert, '--tls-key', key) as s:
        url = 'https://127.0.0.1:%d' % s.address[1]
        first = cert + '.first'
        replace(cert, first)
        c = secure(s, first)
        r = s.ask('POST', '/v1/sessions', {'name': 'x'}, connection=c)
        t.equal(r.status, 201)
        t.ok(c.sock.version() in ('TLSv1.2', 'TLSv1.3'), c.sock.version())
        big = 'y' * 3000000
        t.ok(s.ask('PUT', '/v1/sessions/x/fs/tmp/big', big, connection=c).status in (200, 201))
        t.equal(s.ask('GET', '/v1/sessions/x/fs/tmp/big', connection=c).body, big.encode())
        r = subprocess.run([BINARY, 'run', '--server', url, '--ca', first, '-c', 'echo by tls'], stdout=subprocess.PIPE)
        t.equal(r.stdout, b'by tls\n')
        # One that is not believed, and one who speaks no TLS.
        r = client(url, 'session', 'list', ca=cert2)
        t.equal(r.returncode, 125)
        t.ok(b'not believed' in r.stderr and b'--ca' in r.stderr, r.stderr)
        plain = http.client.HTTPConnection(*s.address, timeout=60 * SLOW)
        try:
            plain.request('GET', '/v1/health')
            t.fail('answered without TLS: %d' % plain.getresponse().status)
        except (http.client.HTTPException, OSError):
            pass
        old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
        old.set_ciphers('DEFAULT@SECLEVEL=0')
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
        try:
            with socket.create_connection(s.address) as raw:
                old.wrap_socket(raw)
            t.fail('TLS 1.1 was taken')
        except ssl.SSLError as e:
            t.ok('NO_PROTOCOLS' not in str(e), e)  # it was offered
        # A new certificate for new connections; the open one goes on.
        replace(cert2, cert)
        replace(key2, key)
        s.process.send_signal(signal.SIGHUP)

        def taken():
            try:
                return s.ask('GET', '/v1/health', connection=secure(s, cert2)).status == 200
            except ssl.SSLError:
                return False
        until(taken, 'the new certificate')
        t.equal(s.ask('GET', '/v1/sessions/x', connection=c).status, 200)
        # What cannot be used changes nothing.
        replace(key2, first + '.spare')
        with open(cert, 'w') as f:
            f.write('no certificate\n')
        s.process.send_signal(signal.SIGHUP)
        until(lambda: b'no certificates' in t.read('server.log'), 'the message')
        t.equal(s.ask('GET', '/v1/health', connection=secure(s, cert2)).status, 200)
        t.equal(s.stop(), 0)


@case
def tls_refuses_what_is_not_safe(t):
    cert, key = certificate(t, 'one')
    other, other_key = certificate(t, 'two')
    os.chmod(key, 0o644)
    at = ['--listen', '127.0.0.1:0', '--state', t.path('state')]
    status, text = refused('--tls-cert', cert, '--tls-key', key, *at)
    t.equal(status, 125)
    t.ok('can be read or written by others' in text and 'chmod 600' in text, text)
    status, text = refused('--tls-cert', cert, '--tls-key', other_key, *at)
    t.ok(status == 125 and 'is not that of the certificate' in text, text)
    status, text = refused('--tls-cert', cert, *at)
    t.ok(status == 125 and 'go together' in text, text)
    status, text = refused('--tls-cert', t.path('nothing'), '--tls-key', other_key, *at)
    t.ok(status == 125 and 'No such file' in text, text)


# ---- settings ----

@case
def config_sets_every_option(t):
    cert, key = certificate(t, 'one')
    sock = t.path('sock')
    conf = t.write('conf', '# of a test\nlisten = unix:%s\n\nstate=%s\nworkers = 1\ndrain = 5s\nquiet = true\n' %
                   (sock, t.path('elsewhere')))
    p = subprocess.Popen([BINARY, 'serve', '--config', conf], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    t.equal(p.stderr.readline().decode(), 'frontal-sandbox: listening on unix:%s\n' % sock)
    t.equal(client('unix:' + sock, 'run', '--session', 'x', '-c', 'true').returncode, 0)
    t.ok(os.path.isdir(t.path('elsewhere', 'sessions')), 'the state is not where it was told')
    p.terminate()
    t.equal(p.wait(60 * SLOW), 0)
    t.ok(b'method=' not in p.stderr.read(), 'it was not quiet')
    p.stderr.close()
    # An option goes over the file.
    with Server(t, '--config', t.write('conf2', 'tls-cert = %s\ntls-key = %s\nlisten = 127.0.0.1:1\n' % (cert, key))) as s:
        t.equal(s.ask('GET', '/v1/health', connection=secure(s, cert)).status, 200)


@case
def config_errors_name_line_and_field(t):
    for text, want in (('# x\nlisten = 127.0.0.1:0\nworkrs = 4\n', "conf:3: 'workrs' is no setting; there are: listen"),
                       ('workers = many\n', "conf:1: 'workers' takes a number above zero"),
                       ('quiet = maybe\n', "conf:1: 'quiet' takes true or false"),
                       ('listen\n', "conf:1: 'listen' is not followed by '= VALUE'"),
                       ('\nlisten =\n', "conf:2: 'listen' has no value"),
                       ('drain = soon\n', "--drain: 'soon' is no duration"),
                       ('a\0b = 1\n', 'conf:1: a NUL byte')):
        status, got = refused('--config', t.write('conf', text), '--state', t.path('state'))
        t.equal(status, 125, text)
        t.ok(want in got, (text, got))
    t.ok('No such file' in refused('--config', t.path('nothing'))[1])


# ---- a service manager ----

@case
def manager_is_told(t):
    """sd_notify(3): READY when it answers, WATCHDOG, RELOADING, STOPPING."""
    path = t.path('notify')
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as n:
        n.bind(path)
        n.settimeout(60 * SLOW)
        os.environ.update(NOTIFY_SOCKET=path, WATCHDOG_USEC='200000')
        try:
            s = Server(t)
        finally:
            del os.environ['NOTIFY_SOCKET'], os.environ['WATCHDOG_USEC']
        with s:
            t.equal(n.recv(4096), b'READY=1')
            t.equal(s.get('/v1/health').status, 200)
            t.equal([n.recv(4096) for _ in range(3)], [b'WATCHDOG=1'] * 3)
            s.process.send_signal(signal.SIGHUP)
            got = []
            while b'READY=1' not in got:
                got.append(n.recv(4096))
            t.ok(any(g.startswith(b'RELOADING=1\nMONOTONIC_USEC=') for g in got), got)
            s.process.terminate()
            while got[-1] != b'STOPPING=1':
                got.append(n.recv(4096))
            t.equal(s.stop(), 0)


def passed(t, sock, *options, count=1):
    """A server to which a socket is passed as sd_listen_fds(3) has it."""
    script = 'export LISTEN_PID=$$ LISTEN_FDS=%d; exec "$@" 3<&%d' % (count, sock.fileno())
    return subprocess.Popen(['sh', '-c', script, 'sh', BINARY, 'serve', '--state', t.path('state')] + list(options),
                            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, pass_fds=[sock.fileno()])


@case
def manager_passes_a_socket(t):
    path = t.path('sock')
    with socket.socket(socket.AF_UNIX) as l:
        l.bind(path)
        l.listen()
        for _ in range(2):  # the socket stays when the server goes
            p = passed(t, l)
            t.equal(p.stderr.readline().decode(), 'frontal-sandbox: listening on unix:%s\n' % path)
            t.equal(client('unix:' + path, 'run', '-c', 'exit 5').returncode, 5)
            p.terminate()
            t.equal(p.wait(60 * SLOW), 0)
            p.stderr.close()
        t.ok(os.path.exists(path), 'the manager\'s socket was removed')
        for options, count, want in ((['--listen', '127.0.0.1:0'], 1, b'one of them'), ([], 2, b'2 sockets')):
            p = passed(t, l, *options, count=count)
            text = p.communicate(timeout=60 * SLOW)[1]
            t.ok(p.returncode == 125 and want in text, text)
    # Without keys a passed socket must not reach beyond the machine either.
    with socket.socket() as l:
        l.bind(('0.0.0.0', 0))
        l.listen()
        p = passed(t, l)
        text = p.communicate(timeout=60 * SLOW)[1]
        t.ok(p.returncode == 125 and b'there are no keys' in text, text)
    with socket.socket() as l:
        p = passed(t, l)
        text = p.communicate(timeout=60 * SLOW)[1]
        t.ok(p.returncode == 125 and b'no socket that listens' in text, text)


main()
