# SPDX-License-Identifier: Apache-2.0
"""The workers of a running server, looked at from outside: what each is confined by, and what it has of others."""
import os
import subprocess

from harness import BINARY, case, main
from server_harness import Server, until


def status(pid):
    with open('/proc/%d/status' % pid) as f:
        return dict(line.rstrip('\n').split(':\t', 1) for line in f if ':\t' in line)


def namespaces(pid):
    return {n: os.readlink('/proc/%d/ns/%s' % (pid, n)) for n in ('mnt', 'pid', 'net', 'ipc', 'uts', 'user')}


def descriptors(pid):
    return {int(n): os.readlink('/proc/%d/fd/%s' % (pid, n)) for n in os.listdir('/proc/%d/fd' % pid)}


def key(t, tenant):
    return subprocess.run([BINARY, 'keys', 'create', '--state', t.path('state'), '--tenant', tenant],
                          stdout=subprocess.PIPE, check=True).stdout.decode().strip()


def two_tenants(t, s, keys):
    """A session that runs a command in a worker of each: {tenant: (pid, session id)}."""
    found = {}
    for tenant, k in keys.items():
        head = {'Authorization': 'Bearer ' + k}
        before = set(s.workers())
        i = s.post('/v1/sessions', {'name': 'x'}, headers=head).json['id']
        s.post('/v1/sessions/x/exec', {'command': 'echo %s > secret; sleep 1000' % tenant, 'wait_ms': 0}, headers=head)
        until(lambda: s.get('/v1/sessions/x', headers=head).json['state'] == 'running', 'the command')
        found[tenant] = (set(s.workers()) - before, i)
    return {n: (pids.pop(), i) for n, (pids, i) in found.items() if len(pids) == 1}


@case
def tenants_share_nothing(t):
    keys = {n: key(t, n) for n in ('one', 'two')}
    with Server(t, '--workers', '1') as s:
        found = two_tenants(t, s, keys)
        t.equal(sorted(found), ['one', 'two'])
        missing = s.get('/v1/health').json['confinement']['missing']
        server = namespaces(s.process.pid)
        ns = {n: namespaces(pid) for n, (pid, _) in found.items()}
        for part, name in (('mount_ns', 'mnt'), ('pid_ns', 'pid'), ('net_ns', 'net'), ('ipc_ns', 'ipc'),
                           ('uts_ns', 'uts')):
            if part not in missing:
                t.equal(len({server[name], ns['one'][name], ns['two'][name]}), 3, name)
        if os.geteuid():  # root keeps its own, without a capability
            t.equal(len({server['user'], ns['one']['user'], ns['two']['user']}), 3)
        for n, (pid, session) in found.items():
            other = 'two' if n == 'one' else 'one'
            st = status(pid)
            t.equal((st['Seccomp'], st['NoNewPrivs'], st['Threads']), ('2', '1', '1'), n)
            t.equal({st[c].strip('0') for c in ('CapInh', 'CapPrm', 'CapEff', 'CapAmb')}, {''}, n)
            with open('/proc/%d/environ' % pid, 'rb') as f:
                t.ok(not f.read().strip(b'\0'), 'its environment holds something')
            with open('/proc/%d/limits' % pid) as f:
                limits = f.read()
            for what in ('Max core file size', 'Max processes', 'Max locked memory', 'Max msgqueue size'):
                line = [x for x in limits.splitlines() if x.startswith(what)][0]
                t.equal(line[len(what):].split()[:2], ['0', '0'], what)
            # Standard error, its socket, its tenant's store, and log and lock of its own session.
            names = descriptors(pid).values()
            t.ok(not [x for x in names if '/tenants/%s' % other in x or '/keys' in x], (n, names))
            # What lies in the store has a path from the store's own mount, when it has one.
            own = ('/packs', '/lock') if 'own_mounts' not in missing else (s.state,)
            t.ok(all(x == '/' or session in x or x.startswith(own) for x in names
                     if x.startswith('/') and not x.startswith(('/dev/null', '/memfd:'))), (n, names))
            t.equal(len([x for x in names if x.startswith('socket:')]), 1, names)
        for k in keys.values():
            s.ask('DELETE', '/v1/sessions/x', headers={'Authorization': 'Bearer ' + k})


@case
def health_names_every_part(t):
    with Server(t) as s:
        s.create()  # then a worker has said what it has
        c = s.get('/v1/health').json['confinement']
        t.ok({'no_new_privs', 'seccomp', 'rlimits', 'no_capabilities'} <= set(c['applied']), c)
        t.ok('landlock' in c['applied'] or {'empty_root', 'own_mounts'} <= set(c['applied']), c)
        for part in c['missing']:
            t.ok(part in c['notes'], 'no remedy for ' + part)


main()
