# SPDX-License-Identifier: Apache-2.0
"""Watching files by server-sent events; atomic and durable commands."""
import json
import signal

from harness import case, main
from server_harness import Server, until


class Watch:
    """A client of the stream, an event at a time."""

    def __init__(self, s, session, query='', headers=None):
        self.c = s.connect()
        self.c.request('GET', '/v1/sessions/%s/watch?%s' % (session, query), headers=headers or {})
        self.r = self.c.getresponse()
        assert self.r.headers['Content-Type'] == 'text/event-stream', self.r.read()
        assert self.next()[1] == 'ready'

    def next(self):
        """(id, kind, data), or None at the end."""
        got = {}
        for line in self.r:
            line = line.decode().rstrip('\n')
            if line.startswith(':'):
                continue
            if not line and got:
                return int(got['id']), got['event'], json.loads(got['data'])
            key, _, value = line.partition(': ')
            got[key] = value
        return None

    def close(self):
        self.r.close()
        self.c.close()


def told(event):
    return event[2]['from'].split(' ')[0], sorted((c['kind'], c['path']) for c in event[2]['changes'] if c['path'] != '/home/user')


@case
def changes_of_all_kinds_as_they_come(t):
    with Server(t) as s:
        i = s.create()
        s.exec(i, 'echo before > ~/old')
        w = Watch(s, i)
        e = s.exec(i, 'echo a > ~/a; rm ~/old')
        got = w.next()
        t.equal(told(got), ('exec', [('added', '/home/user/a'), ('removed', '/home/user/old')]))
        t.equal((got[0], got[2]['trace_seq'], got[2]['exec_id']), (e['trace_seq'], e['trace_seq'], e['exec_id']))
        s.exec(i, 'cat ~/a')  # changes nothing, and is not told
        s.post('/v1/sessions/%s/fs' % i, {'operations': [{'op': 'write', 'path': '/home/user/b', 'text': 'b'},
                                                        {'op': 'edit', 'path': '/home/user/a', 'old': 'a', 'new': 'A'}]})
        t.equal(told(w.next()), ('batch', [('added', '/home/user/b'), ('modified', '/home/user/a')]))
        s.ask('PUT', '/v1/sessions/%s/fs/home/user/c' % i, b'c')
        t.equal(told(w.next()), ('files', [('added', '/home/user/c')]))
        s.post('/v1/sessions/%s/restore' % i, {'seq': e['trace_seq']})
        kind, changes = told(w.next())
        t.equal(changes, [('modified', '/home/user/a'), ('removed', '/home/user/b'), ('removed', '/home/user/c')], kind)
        w.close()


@case
def nothing_is_lost_between_two_calls(t):
    with Server(t) as s:
        i = s.create()
        w = Watch(s, i, 'path=/home/user/d')
        s.exec(i, 'mkdir ~/d; echo 1 > ~/d/1; echo x > ~/dx')
        first = w.next()
        t.equal(told(first), ('exec', [('added', '/home/user/d'), ('added', '/home/user/d/1')]))
        w.close()
        for n in range(2, 6):
            s.exec(i, 'echo %d > ~/d/%d; echo %d > ~/dx' % (n, n, n))
        s.exec(i, 'echo no > ~/dx')
        s.ask('PUT', '/v1/sessions/%s/fs/home/user/d/put' % i, b'p')
        s.stop(signal.SIGTERM)
    with Server(t) as s:
        w = Watch(s, i, 'path=/home/user/d/', {'Last-Event-ID': str(first[0])})
        seen = [told(w.next())[1] for _ in range(5)]
        t.equal(seen, [[('added', '/home/user/d/%d' % n)] for n in range(2, 6)] + [[('added', '/home/user/d/put')]])
        w.close()
        w = Watch(s, i, 'from_seq=0&limit=2')
        t.equal([w.next()[0] > 0, told(w.next())[1][0], w.next()], [True, ('added', '/home/user/d/2'), None])
        w.close()
        t.equal(s.get('/v1/sessions/%s/watch?path=x' % i).status, 400)
        t.equal(s.get('/v1/sessions/none/watch').status, 404)
        w = Watch(s, i)
        s.ask('DELETE', '/v1/sessions/%s' % i)
        try:
            t.equal(w.next(), None, 'the stream of a session that is gone ends')
        except Exception as e:  # it is cut, as there is no end to be told
            t.ok('IncompleteRead' in repr(e) or isinstance(e, OSError), e)
        w.close()


@case
def atomic_is_all_or_nothing(t):
    with Server(t) as s:
        i = s.create()
        root = s.exec(i, 'echo one > ~/f; X=1')['root']
        e = s.exec(i, 'echo two > ~/f; mkdir ~/d; X=2; cd /tmp; sleep 1000 & false', atomic=True)
        t.equal((e['status'], e['exit_code'], e['root']), ('exited', 1, root))
        e = s.exec(i, 'cat ~/f; echo $X; pwd; ls ~; jobs')
        t.equal(e['stdout'], 'one\n1\n/home/user\nf\n')
        e = s.exec(i, 'echo three > ~/f; X=3; kill -9 $$', atomic=True)
        t.equal((e['status'], e['root']), ('killed', root))
        e = s.exec(i, 'echo three > ~/f; sleep 1000', atomic=True, timeout_ms=200)
        t.equal((e['reason'], e['root']), ('timeout', root))
        e = s.exec(i, 'echo four > ~/f; X=4', atomic=True)
        t.ok(e['root'] != root)
        t.equal(s.exec(i, 'cat ~/f; echo $X')['stdout'], 'four\n4\n')
        changes = [x['path'] for x in s.get('/v1/sessions/%s/trace' % i).json['events'] if x['type'] == 'change']
        t.equal(changes.count('/home/user/f'), 2, 'what was taken back is no change')
        r = s.post('/v1/replays', {'session': i})
        t.ok(r.json['equal'], r)
        pid = s.exec(i, 'sleep 1000 & echo $!')['stdout']
        r = s.post('/v1/sessions/%s/exec' % i, {'command': 'true', 'atomic': True})
        t.equal(r.status, 409, r)
        s.exec(i, 'kill %s; sleep 0.01' % pid.strip())  # which gives it a turn to end in
        t.equal(s.exec(i, 'true', atomic=True)['exit_code'], 0)
        t.equal(s.post('/v1/sessions/%s/exec' % i, {'command': 'true', 'atomic': 'yes'}).status, 400)
        e = s.exec(i, 'echo five > ~/f; sleep 1000', atomic=True, wait_ms=0)
        until(lambda: s.get('/v1/sessions/%s/fs/home/user/f' % i).body == b'five\n')
        s.stop(signal.SIGKILL)
    with Server(t) as s:
        t.equal(s.exec(i, 'cat ~/f')['stdout'], 'four\n')


@case
def durable_waits_for_the_disk(t):
    """That it is on the disk cannot be seen from here; that the log says so, and that it is answered, can."""
    with Server(t) as s:
        i = s.create()
        s.exec(i, 'echo a > f')
        e = s.exec(i, 'echo b > f', durable=True)
        t.equal(e['exit_code'], 0)
        s.exec(i, 'echo c > f')
        flags = [x['flags'] for x in s.get('/v1/sessions/%s/trace' % i).json['events'] if x['type'] == 'exec']
        t.equal(['durable' in f for f in flags], [False, True, False], flags)


main()
