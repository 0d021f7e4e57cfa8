# SPDX-License-Identifier: Apache-2.0
"""The server over loopback: what docs/api.md promises, and what becomes of commands when processes die."""
import hashlib
import json
import os
import signal
import socket
import subprocess
import threading
import time

from harness import BINARY, SLOW, case, main
from server_harness import Server, until


# ---- sessions ----

@case
def first_minute(t):
    with Server(t) as s:
        r = s.post('/v1/sessions', {'name': 'demo'})
        t.equal(r.status, 201)
        t.equal(r.json['state'], 'ready')
        r = s.post('/v1/sessions/demo/exec', {'command': 'echo hello; pwd'})
        t.equal((r.status, r.json['status'], r.json['exit_code']), (200, 'exited', 0))
        t.equal(r.json['stdout'], 'hello\n/home/user\n')
        t.equal(s.stop(), 0)


@case
def create_takes_settings(t):
    with Server(t) as s:
        r = s.post('/v1/sessions', {'env': {'A': 'x y', 'B': 'é'}, 'cwd': '/tmp', 'metadata': {'k': [1, 2]},
                                    'idle_timeout_ms': 5000, 'limits': {'memory': 1 << 27},
                                    'files': {'/tmp/a': {'text': 'one\n', 'mode': 0o755},
                                              '/tmp/d/b': {'base64': 'AP8='}}})
        t.equal(r.status, 201, r.body)
        i = r.json
        t.equal((i['env'], i['cwd'], i['metadata']), ({'A': 'x y', 'B': 'é'}, '/tmp', {'k': [1, 2]}))
        t.equal((i['idle_timeout_ms'], i['limits']['memory']), (5000, 1 << 27))
        e = s.exec(i['id'], 'echo "$A $B"; pwd; cat a; xxd -p d/b; test -x a && echo runs')
        t.equal(e['stdout'], 'x y é\n/tmp\none\n00ff\nruns\n')
        s.post('/v1/sessions/%s/sleep' % i['id'])
        t.equal(s.get('/v1/sessions/' + i['id']).json['state'], 'parked')
        again = s.get('/v1/sessions/' + i['id']).json
        for key in ('env', 'cwd', 'metadata', 'idle_timeout_ms', 'limits'):
            t.equal(again[key], i[key], key)
        t.equal(s.exec(i['id'], 'echo "$A"')['stdout'], 'x y\n')


@case
def list_show_patch_delete(t):
    with Server(t) as s:
        ids = [s.create(name='s%d' % i) for i in range(5)]
        t.equal([x['id'] for x in s.get('/v1/sessions').json['sessions']], sorted(ids))
        page = s.get('/v1/sessions?limit=2').json
        t.equal(len(page['sessions']), 2)
        rest = s.get('/v1/sessions?after=' + page['next']).json
        t.equal([x['id'] for x in page['sessions'] + rest['sessions']], sorted(ids))
        t.equal(rest['next'], None)
        r = s.ask('PATCH', '/v1/sessions/s1', {'metadata': {'a': 1}, 'idle_timeout_ms': 7000})
        t.equal((r.status, r.json['metadata'], r.json['idle_timeout_ms']), (200, {'a': 1}, 7000))
        t.equal(s.get('/v1/sessions/s1').json['metadata'], {'a': 1})
        t.equal(s.ask('DELETE', '/v1/sessions/s1').status, 204)
        t.equal(s.get('/v1/sessions/s1').status, 404)
        t.equal(s.ask('DELETE', '/v1/sessions/s1').status, 404)
        t.equal(s.post('/v1/sessions', {'name': 's2'}).status, 409)
        t.equal(s.post('/v1/sessions', {'name': 's1'}).status, 201)


@case
def delete_ends_what_runs(t):
    with Server(t) as s:
        i = s.create()
        e = s.exec(i, 'sleep 1000', wait_ms=0)
        got = []
        c = threading.Thread(target=lambda: got.append(s.exec_at(i, e['exec_id'], 60000)))
        c.start()
        t.equal(s.ask('DELETE', '/v1/sessions/' + i).status, 204)
        c.join()
        t.ok(got[0].status in (200, 404), got)
        t.ok(got[0].status == 404 or got[0].json['status'] == 'killed', got)


# ---- execs ----

@case
def exec_forms(t):
    with Server(t) as s:
        i = s.create()
        t.equal(s.exec(i, argv=['printf', '%s|', 'a b', '*'])['stdout'], 'a b|*|')
        t.equal(s.exec(i, argv=['cat'], stdin='in\n')['stdout'], 'in\n')
        t.equal(s.exec(i, argv=['xxd', '-p'], stdin='AP8=', stdin_encoding='base64')['stdout'], '00ff\n')
        t.equal(s.exec(i, 'cat; echo end')['stdout'], 'end\n', 'stdin is at its end')
        t.equal(s.exec(i, 'echo $V', env={'V': 'one'})['stdout'], 'one\n')
        t.equal(s.exec(i, 'echo "[$V]"')['stdout'], '[]\n', 'env is for one exec')
        e = s.exec(i, 'printf "a\\377b"')
        t.equal((e['stdout'], e['stdout_encoding']), ('Yf9i', 'base64'))
        e = s.exec(i, 'exit 7')
        t.equal((e['status'], e['exit_code'], e['signal'], e['reason']), ('exited', 7, None, None))
        e = s.exec(i, 'kill -TERM $$')
        t.equal((e['status'], e['exit_code'], e['signal'], e['reason']), ('killed', None, 15, 'signal'))


@case
def shells_go_on_or_begin_anew(t):
    with Server(t) as s:
        i = s.create()
        s.exec(i, 'X=1; f() { echo "f $X"; }; cd /tmp; set -u')
        t.equal(s.exec(i, 'f; pwd; echo $-')['stdout'].split('\n')[:2], ['f 1', '/tmp'])
        e = s.exec(i, 'echo "${X-none}"; pwd', shell='fresh')
        t.equal(e['stdout'], 'none\n/home/user\n')
        t.equal(s.exec(i, 'pwd', shell='fresh', cwd='/usr')['stdout'], '/usr\n')
        t.equal(s.exec(i, 'pwd', shell='fresh')['stdout'], '/home/user\n')
        r = s.post('/v1/sessions/%s/exec' % i, {'command': 'pwd', 'shell': 'fresh', 'cwd': '/nowhere'})
        t.equal((r.status, r.json['error']['code']), (404, 'not_found'))


@case
def execs_of_a_session_run_in_order(t):
    with Server(t) as s:
        i = s.create()
        ids = [s.exec(i, 'echo %d >> log; sleep 0.05' % n, wait_ms=0)['exec_id'] for n in range(10)]
        for e in ids:
            t.equal(s.exec_at(i, e, 60000).json['exit_code'], 0)
        t.equal(s.exec(i, 'cat log')['stdout'], ''.join('%d\n' % n for n in range(10)))


@case
def sessions_run_beside_each_other(t):
    with Server(t, '--workers', '1') as s:
        busy, other = s.create(), s.create()
        e = s.exec(busy, 'while :; do :; done', wait_ms=0)
        for n in range(20):
            t.equal(s.exec(other, 'echo %d' % n)['stdout'], '%d\n' % n)
        t.equal(s.exec_at(busy, e['exec_id']).json['status'], 'running')
        t.equal(s.post('/v1/sessions/%s/execs/%s/signal' % (busy, e['exec_id']), {'signal': 'KILL'}).status, 204)
        done = s.exec_at(busy, e['exec_id'], 60000).json
        t.equal((done['status'], done['signal']), ('killed', 9))


@case
def wait_and_poll(t):
    with Server(t) as s:
        i = s.create()
        e = s.exec(i, 'read line; echo got $line', stdin_open=True, wait_ms=0)
        t.equal((e['status'], e['exit_code']), ('running', None))
        path = '/v1/sessions/%s/execs/%s' % (i, e['exec_id'])
        t.equal(s.exec_at(i, e['exec_id'], 50).json['status'], 'running')
        t.equal(s.post(path + '/stdin', {'data': 'one\n'}).status, 204)
        done = s.exec_at(i, e['exec_id'], 60000).json
        t.equal((done['stdout'], done['exit_code']), ('got one\n', 0))
        t.equal(s.post(path + '/stdin', {'data': 'x'}).status, 409)
        t.equal(s.post(path + '/signal').status, 409)


@case
def stdin_in_pieces_and_its_end(t):
    with Server(t) as s:
        i = s.create()
        e = s.exec(i, argv=['cat'], stdin='first\n', stdin_open=True, wait_ms=0)
        path = '/v1/sessions/%s/execs/%s/stdin' % (i, e['exec_id'])
        block = 'x' * 100000 + '\n'
        for _ in range(5):
            t.equal(s.post(path, {'data': block}).status, 204)
        t.equal(s.post(path, {'data': 'bGFzdA==', 'encoding': 'base64', 'close': True}).status, 204)
        done = s.exec_at(i, e['exec_id'], 60000).json
        t.equal(done['stdout'], 'first\n' + 5 * block + 'last')


@case
def timeouts_and_signals_reach_all(t):
    with Server(t) as s:
        i = s.create()
        e = s.exec(i, '(sleep 1000; echo no) & sleep 1000 | cat', timeout_ms=200)
        t.equal((e['status'], e['reason'], e['exit_code']), ('killed', 'timeout', None))
        t.equal(s.exec(i, 'ps 2>/dev/null | grep -c sleep; echo alive')['stdout'].split()[-1], 'alive')
        e = s.exec(i, 'trap "echo caught; exit 4" TERM; echo ready; while :; do sleep 0.01; done', wait_ms=0)
        until(lambda: s.exec_at(i, e['exec_id']).json['stdout'] == 'ready\n')
        s.post('/v1/sessions/%s/execs/%s/signal' % (i, e['exec_id']))
        done = s.exec_at(i, e['exec_id'], 60000).json
        t.equal((done['stdout'], done['exit_code']), ('ready\ncaught\n', 4))
        first = s.exec(i, 'sleep 1000', wait_ms=0)
        second = s.exec(i, 'echo never', wait_ms=0)
        s.post('/v1/sessions/%s/execs/%s/signal' % (i, second['exec_id']), {'signal': 'KILL'})
        done = s.exec_at(i, second['exec_id'], 60000).json
        t.equal((done['status'], done['stdout']), ('killed', ''))
        s.post('/v1/sessions/%s/execs/%s/signal' % (i, first['exec_id']), {'signal': 'SIGKILL'})
        t.equal(s.exec_at(i, first['exec_id'], 60000).json['status'], 'killed')


@case
def a_limit_says_so(t):
    with Server(t) as s:
        i = s.create(limits={'memory': 32 << 20})
        e = s.exec(i, 'x=a; while :; do x=$x$x; done')
        t.equal((e['status'], e['reason'], e['exit_code']), ('killed', 'memory', None))
        t.equal(s.exec(i, 'echo on')['stdout'], 'on\n')


@case
def output_is_cut_in_sight(t):
    with Server(t) as s:
        i = s.create()
        e = s.exec(i, 'seq 100000', output_limit=1000)
        size = sum(len('%d\n' % n) for n in range(1, 100001))
        t.equal((len(e['stdout']), e['stdout_bytes'], e['truncated']), (1000, size, True))
        path = '/v1/sessions/%s/execs/%s/output' % (i, e['exec_id'])
        got = b''
        while True:
            r = s.get('%s?offset=%d&limit=50000' % (path, len(got)))
            t.equal(r.headers['Output-Offset'], str(len(got)))
            got += r.body
            if r.headers['Output-End'] == 'true':
                break
        t.equal(hashlib.sha256(got).hexdigest(),
                hashlib.sha256(b''.join(b'%d\n' % n for n in range(1, 100001))).hexdigest())
        e = s.exec(i, 'head -c 40000000 /dev/zero | tr "\\0" x', output_limit=10)
        t.equal((e['stdout_bytes'], e['truncated'], e['exit_code']), (40000000, True, 0))
        e = s.exec(i, 'printf "aé"', output_limit=2)
        t.equal((e['stdout'], e['truncated']), ('a', True), 'no character is cut in two')


@case
def slow_readers_and_lost_clients_stop_nothing(t):
    with Server(t) as s:
        i = s.create()
        e = s.exec(i, 'read x; seq 200000; echo done > mark', stdin_open=True, wait_ms=0)
        path = '/v1/sessions/%s/execs/%s' % (i, e['exec_id'])
        slow = []
        for _ in range(3):
            c = socket.create_connection(s.address)
            c.sendall(('GET %s/output HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n' % path).encode())
            slow.append(c)  # and reads nothing
        gone = s.connect()
        gone.request('GET', path + '?wait_ms=60000')
        gone.sock.close()
        s.post(path + '/stdin', {'data': '\n', 'close': True})
        t.equal(s.exec_at(i, e['exec_id'], 60000).json['exit_code'], 0)
        t.equal(s.exec(i, 'cat mark')['stdout'], 'done\n')
        for c in slow:
            c.close()


def events(r):
    """(name, id, data) of each event of a stream that has ended."""
    for block in r.read().decode().split('\n\n'):
        fields = dict(line.split(': ', 1) for line in block.split('\n') if line and not line.startswith(':'))
        if fields:
            yield fields['event'], fields['id'], json.loads(fields['data'])


@case
def events_follow_and_resume(t):
    with Server(t) as s:
        i = s.create()
        e = s.exec(i, 'for i in $(seq 50); do echo out $i; echo err $i >&2; done; exit 3', wait_ms=0)
        path = '/v1/sessions/%s/execs/%s/output' % (i, e['exec_id'])
        c = s.connect()
        c.request('GET', path, headers={'Accept': 'text/event-stream'})
        r = c.getresponse()
        t.equal(r.headers['Content-Type'], 'text/event-stream')
        all_ = list(events(r))
        t.equal([x[0] for x in all_[:-1]], ['output'] * (len(all_) - 1))
        t.equal((all_[-1][0], all_[-1][2]['exit_code']), ('exit', 3))
        for name, word in (('stdout', 'out'), ('stderr', 'err')):
            text = ''.join(x[2]['data'] for x in all_[:-1] if x[2]['stream'] == name)
            t.equal(text, ''.join('%s %d\n' % (word, n) for n in range(1, 51)))
        middle = all_[0]
        c = s.connect()
        c.request('GET', path, headers={'Accept': 'text/event-stream', 'Last-Event-ID': middle[1]})
        rest = list(events(c.getresponse()))
        t.equal(rest[-1], all_[-1])
        for name in ('stdout', 'stderr'):
            t.equal(*(''.join(x[2]['data'] for x in list_ if x[0] == 'output' and x[2]['stream'] == name)
                      for list_ in (rest, all_[1:])))


@case
def a_background_process_does_not_hold_the_reply(t):
    with Server(t) as s:
        i = s.create()
        e = s.exec(i, 'sleep 0.3 && echo late > mark & echo now')
        t.equal((e['status'], e['stdout']), ('exited', 'now\n'))
        s.exec(i, 'sleep 0.6')
        t.equal(s.exec(i, 'cat mark')['stdout'], 'late\n')


# ---- keys of requests ----

def keyed(key):
    return {'Idempotency-Key': key}


@case
def a_repeated_request_runs_nothing_twice(t):
    with Server(t) as s:
        body = {'name': 'once', 'env': {'A': 'b'}}
        r = s.post('/v1/sessions', body, headers=keyed('c'))
        again = s.post('/v1/sessions', body, headers=keyed('c'))
        t.equal((r.status, again.status, again.json), (201, 201, r.json))
        i = r.json['id']
        path = '/v1/sessions/%s/exec' % i
        run = {'command': 'echo x >> log; wc -l < log'}
        a = s.post(path, run, headers=keyed('e'))
        b = s.post(path, run, headers=keyed('e'))
        t.equal((a.json['stdout'], b.json['exec_id'], b.json['stdout']), ('1\n', a.json['exec_id'], '1\n'))
        t.equal(s.post(path, {'command': 'other'}, headers=keyed('e')).status, 409)
        t.equal(s.post(path, run, headers=keyed('e2')).json['stdout'], '2\n')
        # While it runs, repeats wait for the same one.
        slow = {'command': 'sleep 0.3; echo y >> slow; wc -l < slow'}
        got = []
        threads = [threading.Thread(target=lambda: got.append(s.post(path, slow, headers=keyed('s')).json))
                   for _ in range(5)]
        for x in threads:
            x.start()
        for x in threads:
            x.join()
        t.equal({g['stdout'] for g in got}, {'1\n'})
        t.equal(len({g['exec_id'] for g in got}), 1)
        f = s.post('/v1/sessions/%s/fork' % i, {'count': 2}, headers=keyed('f'))
        t.equal(s.post('/v1/sessions/%s/fork' % i, {'count': 2}, headers=keyed('f')).json, f.json)
        t.equal(s.post(path, {'command': 1}, headers=keyed('bad')).status, 400)
        t.equal(s.post(path, run, headers=keyed('bad')).json['stdout'], '3\n', 'a failed request uses up no key')
        t.equal(s.post(path, run, headers=keyed('x' * 256)).status, 400)
        lost = s.post(path, {'command': 'echo z >> lost; sleep 1000', 'wait_ms': 0}, headers=keyed('l')).json
        until(lambda: s.get('/v1/sessions/%s/fs/home/user/lost' % i).status == 200)
        s.stop(signal.SIGKILL)
    with Server(t) as s:
        r = until(lambda: (lambda r: r if r.status != 409 else None)(
            s.post(path, {'command': 'echo z >> lost; sleep 1000', 'wait_ms': 0}, headers=keyed('l'))))
        t.equal((r.json['status'], r.json['exec_id']), ('lost', lost['exec_id']))
        b = s.post(path, run, headers=keyed('e'))
        t.equal((b.json['exec_id'], b.json['stdout']), (a.json['exec_id'], '1\n'))
        t.equal(s.post('/v1/sessions', body, headers=keyed('c')).json['id'], i)
        t.equal(s.exec(i, 'wc -l < log; ls lost 2>/dev/null')['stdout'], '3\n', 'lost has changed nothing')


@case
def a_key_whose_exec_never_began_begins_it(t):
    with Server(t) as s:
        i = s.create()
        e = s.exec(i, 'sleep 1000', wait_ms=0)
        path = '/v1/sessions/%s/exec' % i
        w = s.post(path, {'command': 'echo ran', 'wait_ms': 0}, headers=keyed('w')).json
        t.equal(s.exec_at(i, w['exec_id']).json['started_at'], None)
        s.stop(signal.SIGKILL)
    with Server(t) as s:
        r = until(lambda: (lambda r: r if r.status != 409 else None)(
            s.post(path, {'command': 'echo ran', 'wait_ms': 0}, headers=keyed('w'))))
        t.equal(r.json['exec_id'], w['exec_id'])
        t.equal(s.exec_at(i, w['exec_id'], 60000).json['stdout'], 'ran\n')
        t.equal(s.exec_at(i, e['exec_id']).json['status'], 'lost')


# ---- files ----

@case
def files_round_trip(t):
    with Server(t) as s:
        i = s.create()
        base = '/v1/sessions/%s/fs/' % i
        for size in (0, 1, 4096, 65536, 65537, 3000000):
            data = os.urandom(size)
            r = s.ask('PUT', base + 'tmp/d/f', data)
            t.equal((r.status, r.json['written']), (200, size))
            t.equal(r.headers['ETag'], '"%s"' % hashlib.sha256(data).hexdigest())
            got = s.get(base + 'tmp/d/f')
            t.equal((got.status, got.body == data, got.headers['ETag']), (200, True, r.headers['ETag']), size)
            head = s.ask('HEAD', base + 'tmp/d/f')
            t.equal((head.status, head.headers['Content-Length'], head.body), (200, str(size), b''))
        t.equal(s.exec(i, 'wc -c < /tmp/d/f; xxd -p -l 16 /tmp/d/f')['stdout'], '%d\n%s\n' % (size, data[:16].hex()))
        t.equal(s.ask('DELETE', base + 'tmp/d').status, 409)
        t.equal(s.ask('DELETE', base + 'tmp/d?recursive').status, 204)
        t.equal(s.get(base + 'tmp/d/f').status, 404)


@case
def ranges_and_conditions(t):
    with Server(t) as s:
        i = s.create()
        p = '/v1/sessions/%s/fs/tmp/f' % i
        data = bytes(range(256)) * 1000
        tag = s.ask('PUT', p, data).headers['ETag']
        for text, a, b in (('0-9', 0, 10), ('100000-100099', 100000, 100100), ('-5', 255995, 256000),
                           ('255990-', 255990, 256000), ('255990-999999', 255990, 256000)):
            r = s.get(p, headers={'Range': 'bytes=' + text})
            t.equal((r.status, r.body), (206, data[a:b]), text)
            t.equal(r.headers['Content-Range'], 'bytes %d-%d/256000' % (a, b - 1))
        t.equal(s.get(p, headers={'Range': 'bytes=256000-'}).status, 416)
        t.equal(s.get(p, headers={'If-None-Match': tag}).status, 304)
        t.equal(s.get(p, headers={'If-Match': '"%s"' % ('0' * 64)}).status, 412)
        t.equal(s.ask('PUT', p, b'new', headers={'If-Match': '"%s"' % ('0' * 64)}).status, 412)
        t.equal(s.ask('PUT', p, b'new', headers={'If-None-Match': '*'}).status, 412)
        t.equal(s.get(p).headers['ETag'], tag)
        t.equal(s.ask('PUT', p, b'new', headers={'If-Match': tag}).status, 200)
        t.equal(s.ask('PUT', p + '2', b'x', headers={'If-None-Match': '*'}).status, 200)
        t.equal(s.ask('PUT', p + '2?append', b'y').status, 200)
        t.equal(s.ask('PUT', p + '3?mode=0751', b'').status, 200)
        t.equal(s.exec(i, 'cat /tmp/f /tmp/f2; stat -c %a:%U /tmp/f3')['stdout'], 'newxy751:user\n')


@case
def lists_and_status(t):
    with Server(t) as s:
        i = s.create()
        s.exec(i, 'mkdir -p /tmp/d/e/g; printf abc > /tmp/d/f; ln -s f /tmp/d/l; ln -s / /tmp/d/e/p; touch "/tmp/d/a b%é"')
        p = '/v1/sessions/%s/fs/tmp/d' % i
        t.equal([(e['path'], e['type']) for e in s.get(p + '?list').json['entries']],
                [('a b%é', 'file'), ('e', 'directory'), ('f', 'file'), ('l', 'symlink')])
        t.equal([e['path'] for e in s.get(p + '?list&depth=3').json['entries']],
                ['a b%é', 'e', 'f', 'l', 'e/g', 'e/p'])
        t.equal(s.get(p + '/l?stat').json['type'], 'symlink')
        t.equal(s.get(p + '/l').body, b'abc')
        t.equal(s.get(p + '/f?stat').json['size'], 3)
        t.equal(s.get(p + '/a%20b%25%C3%A9').status, 200)
        t.equal(s.get(p + '/none?stat').status, 404)
        t.equal(s.get(p).status, 400)
        t.equal(s.get(p + '/a%zz').status, 400)
        t.equal(s.get(p + '/a%00b').status, 400)
        names = s.get('/v1/sessions/%s/fs/?list' % i).json['entries']
        t.ok({'tmp', 'home', 'usr'} <= {e['path'] for e in names}, names)
        s.exec(i, 'mkdir /tmp/many; cd /tmp/many; for i in $(seq 5000); do : > "file-with-a-long-name-$i"; done')
        t.equal(len(s.get('/v1/sessions/%s/fs/tmp/many?list' % i).json['entries']), 5000)


# ---- errors, limits, who may ask ----

@case
def errors_name_the_field(t):
    with Server(t) as s:
        i = s.create()
        e = '/v1/sessions/%s/exec' % i
        for body, field in (({'command': 'x', 'bogus': 1}, 'bogus'), ({'command': 1}, 'command'),
                            ({'command': 'x', 'argv': ['y']}, 'command'), ({}, 'command'), ({'argv': []}, 'argv'),
                            ({'argv': ['a', 1]}, 'argv'), ({'command': 'x', 'wait_ms': -1}, 'wait_ms'),
                            ({'command': 'x', 'wait_ms': 10 ** 9}, 'wait_ms'),
                            ({'command': 'x', 'env': {'A=B': 'c'}}, 'env'), ({'command': 'x', 'shell': 'z'}, 'shell'),
                            ({'command': 'x', 'cwd': '/tmp'}, 'cwd'),
                            ({'command': 'x', 'stdin': '*', 'stdin_encoding': 'base64'}, 'stdin')):
            r = s.post(e, body)
            t.equal((r.status, r.json['error']['details'].get('field')), (400, field), body)
        for text in ('{', '[]', '"x"', '{"command":"a","command":"b"}', '\xff'):
            t.equal(s.ask('POST', e, text.encode('latin-1')).status, 400, text)
        for body, field in (({'command': 'x', 'tier': 'vm'}, 'tier'),):
            r = s.post(e, body)
            t.equal((r.status, r.json['error']['code'], r.json['error']['details']['field']),
                    (422, 'unsupported', field))
        t.equal(s.get('/v1/none').status, 404)
        r = s.ask('PUT', '/v1/sessions')
        t.equal((r.status, sorted(r.headers['Allow'].split(', '))), (405, ['GET', 'POST']))
        t.equal(s.get('/v1/sessions?bogus=1').status, 400)
        t.equal(s.post('/v1/sessions/none/exec', {'command': 'x'}).status, 404)
        t.equal(s.exec_at(i, 'exec_' + '0' * 26).status, 404)
        t.equal(s.post('/v1/sessions', {'name': 'sbx_x'}).status, 400)
        t.equal(s.post('/v1/sessions', {'user': 'nobody-such'}).status, 400)
        t.equal(s.exec(i, 'echo fine')['stdout'], 'fine\n')


@case
def sizes_are_bounded(t):
    with Server(t) as s:
        i = s.create()
        c = s.connect()
        c.putrequest('POST', '/v1/sessions/%s/exec' % i)
        c.putheader('Content-Length', str(1 << 40))
        c.endheaders()
        t.equal(c.getresponse().status, 413)
        c = s.connect()
        c.putrequest('GET', '/v1/health')
        c.putheader('X', 'y' * 100000)
        c.endheaders()
        t.equal(c.getresponse().status, 431)
        body = b'{"command":"' + b'x' * (17 << 20) + b'"}'
        c = s.connect()
        c.putrequest('POST', '/v1/sessions/%s/exec' % i)
        c.putheader('Transfer-Encoding', 'chunked')
        c.endheaders()
        for at in range(0, len(body), 1 << 20):
            part = body[at:at + (1 << 20)]
            c.send(b'%x\r\n%s\r\n' % (len(part), part))
        c.send(b'0\r\n\r\n')
        t.equal(c.getresponse().status, 413)
        t.equal(s.exec(i, ': ' + 'x' * 3000000 + '; echo long')['stdout'], 'long\n')


@case
def who_may_ask_without_keys(t):
    with Server(t) as s:
        t.equal(s.get('/v1/health', headers={'Origin': 'https://evil.example'}).status, 403)
        t.equal(s.get('/v1/health', headers={'Origin': 'http://localhost:7070'}).status, 200)
        t.equal(s.get('/v1/health', headers={'Host': 'rebound.example'}).status, 403)
        t.equal(s.get('/v1/health').status, 200)
    p = subprocess.run([BINARY, 'serve', '--listen', '0.0.0.0:0', '--state', t.path('other')], stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, timeout=60 * SLOW)
    t.equal(p.returncode, 125)
    t.ok(b'127.0.0.1' in p.stderr, p.stderr)
    with Server(t, listen='unix:' + t.path('socket'), state=t.path('u')) as s:
        t.equal(os.stat(t.path('socket')).st_mode & 0o777, 0o700)
        i = s.create()
        t.equal(s.exec(i, 'echo by unix')['stdout'], 'by unix\n')


def key_of(t, s, *options):
    p = subprocess.run([BINARY, 'keys', 'create', '--state', s.state] + list(options), stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, timeout=60 * SLOW)
    t.equal((p.returncode, p.stderr), (0, b''))
    return p.stdout.decode().strip()


def bearer(key):
    return {'Authorization': 'Bearer ' + key}


@case
def keys_tenants_and_capabilities(t):
    with Server(t) as s:
        i = s.create(name='mine')
        all_ = key_of(t, s)
        until(lambda: s.get('/v1/sessions').status == 401, 'a key is needed')
        t.equal(s.get('/v1/sessions', headers=bearer(all_)).json['sessions'][0]['id'], i)
        t.equal(s.get('/v1/sessions', headers=bearer(all_[:-1])).status, 401)
        t.equal(s.get('/v1/sessions', headers=bearer('x')).status, 401)
        t.equal(s.get('/v1/health').status, 200)
        few = key_of(t, s, '--capabilities', 'sessions.read,exec')
        other = key_of(t, s, '--tenant', 'acme', '--name', 'ci')
        until(lambda: s.get('/v1/sessions', headers=bearer(other)).status == 200, 'the new keys are known')
        path = '/v1/sessions/mine'
        t.equal(s.post(path + '/exec', {'command': 'echo x'}, headers=bearer(few)).json['stdout'], 'x\n')
        r = s.ask('PUT', path + '/fs/tmp/f', b'x', headers=bearer(few))
        t.equal((r.status, 'fs.write' in r.json['error']['message']), (403, True), r)
        t.equal(s.ask('DELETE', path, headers=bearer(few)).status, 403)
        # Another tenant sees nothing of it, and may use the same name.
        t.equal(s.get('/v1/sessions', headers=bearer(other)).json['sessions'], [])
        t.equal(s.get(path, headers=bearer(other)).status, 404)
        t.equal(s.get('/v1/sessions/' + i, headers=bearer(other)).status, 404)
        t.equal(s.post('/v1/sessions', {'name': 'mine'}, headers=bearer(other)).status, 201)
        e = s.post(path + '/exec', {'command': 'echo theirs > f; cat f'}, headers=bearer(other)).json
        t.equal(e['stdout'], 'theirs\n')
        t.equal(s.post(path + '/exec', {'command': 'cat f'}, headers=bearer(all_)).json['exit_code'], 1)
        listed = subprocess.run([BINARY, 'keys', 'list', '--json', '--state', s.state], stdout=subprocess.PIPE,
                                timeout=60 * SLOW).stdout
        t.equal([json.loads(x)['tenant'] for x in listed.splitlines()], ['local', 'local', 'acme'])
        t.ok(all_.split('.')[1].encode() not in listed + open(os.path.join(s.state, 'keys'), 'rb').read())
        for key in (all_, few, other):
            subprocess.run([BINARY, 'keys', 'revoke', key.split('.')[0], '--state', s.state], check=True,
                           timeout=60 * SLOW)
        until(lambda: s.get('/v1/sessions', headers=bearer(all_)).status == 401, 'it is revoked')
        t.equal(s.get('/v1/sessions').status, 401, 'without any key left it is not open')
    key_of(t, s)
    with Server(t, listen='0.0.0.0:0') as s:
        t.equal(s.get('/v1/sessions').status, 401)


@case
def health_says_what_holds(t):
    with Server(t) as s:
        h = until(lambda: (lambda j: j if j['confinement'] else None)(s.get('/v1/health').json))
        t.ok({'no_new_privs', 'seccomp'} <= set(h['confinement']['applied']), h)
        t.equal(h['status'], 'ok')
        r = s.get('/')
        t.ok(r.status == 200 and b'Frontal Sandbox' in r.body, r)


# ---- when processes die ----

@case
def a_dead_worker_gives_lost(t):
    with Server(t, '--workers', '1') as s:
        i, other = s.create(), s.create()
        s.exec(i, 'echo kept > f; X=1')
        s.exec(other, 'Y=2')
        e = s.exec(i, 'echo begun; echo half > g; sleep 1000', wait_ms=0)
        until(lambda: s.exec_at(i, e['exec_id']).json['stdout'] == 'begun\n')
        behind = s.exec(i, 'cat f; echo $X; ls g 2>/dev/null; echo went on', wait_ms=0)
        for pid in s.workers():
            os.kill(pid, signal.SIGKILL)
        done = s.exec_at(i, e['exec_id'], 60000).json
        t.equal((done['status'], done['exit_code'], done['reason']), ('lost', None, 'crash'))
        t.equal(done['stdout'], 'begun\n')
        done = s.exec_at(i, behind['exec_id'], 60000).json
        t.equal((done['status'], done['stdout']), ('exited', 'kept\n1\nwent on\n'))
        t.equal(s.exec(other, 'echo $Y')['stdout'], '2\n')
        t.equal(s.get('/v1/health').json['status'], 'ok')


@case
def a_killed_server_loses_no_answer(t):
    with Server(t) as s:
        i = s.create(name='n')
        a = s.exec(i, 'echo one; echo err >&2; X=7; seq 100000 > /tmp/f; seq 30000')
        e = s.exec(i, 'echo half; sleep 1000', wait_ms=0)
        until(lambda: s.exec_at(i, e['exec_id']).json['stdout'] == 'half\n')
        s.stop(signal.SIGKILL)
    with Server(t) as s:
        path = '/v1/sessions/n/execs/'
        r = until(lambda: (lambda r: r if r.status != 409 else None)(s.get(path + a['exec_id'])))
        t.equal(r.status, 200, r)
        got = r.json
        for key in ('status', 'exit_code', 'stdout', 'stderr', 'stdout_bytes', 'stderr_bytes', 'root', 'exec_id'):
            t.equal(got[key], a[key], key)
        out = s.get(path + a['exec_id'] + '/output?offset=4')
        t.equal(out.body, ''.join('%d\n' % n for n in range(1, 30001)).encode())
        lost = s.get(path + e['exec_id']).json
        t.equal((lost['status'], lost['exit_code'], lost['stdout']), ('lost', None, 'half\n'))
        t.equal([x['exec_id'] for x in s.get(path[:-1]).json['execs']], [a['exec_id'], e['exec_id']])
        t.equal(s.exec(i, 'echo $X; tail -1 /tmp/f')['stdout'], '7\n100000\n')


@case
def the_command_line_sees_the_same_sessions(t):
    with Server(t) as s:
        i = s.create(name='shared')
        s.exec(i, 'echo from the server > f; X=server')
        s.post('/v1/sessions/shared/sleep')
        p = subprocess.run([BINARY, 'run', '--state', s.state, '--session', 'shared', '-c', 'cat f; echo $X; X=cli'],
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60 * SLOW)
        t.equal((p.returncode, p.stdout, p.stderr), (0, b'from the server\nserver\n', b''))
        r = until(lambda: (lambda r: r if r.status == 200 else None)(
            s.post('/v1/sessions/shared/exec', {'command': 'echo $X'})))
        t.equal(r.json['stdout'], 'cli\n')


@case
def the_policy_of_a_session_holds(t):
    policy = t.write('policy', 'command deny seq\n')
    p = subprocess.run([BINARY, 'run', '--state', t.path('state'), '--session', 'p', '--policy', policy, '-c',
                        'echo made; seq 1'], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       timeout=60 * SLOW)
    t.equal(p.stdout, b'made\n')
    with Server(t) as s:
        for _ in range(2):
            r = until(lambda: (lambda r: r if r.status == 200 else None)(
                s.post('/v1/sessions/p/exec', {'command': 'echo on; seq 1'})))
            t.ok(r.json['stdout'] == 'on\n' and r.json['exit_code'] != 0, r)
            s.post('/v1/sessions/p/sleep')
        f = s.post('/v1/sessions/p/fork').json['sessions'][0]['id']
        t.equal(s.exec(f, 'seq 1')['stdout'], '')


@case
def a_drain_finishes_what_runs(t):
    with Server(t) as s:
        i = s.create()
        got = []
        c = threading.Thread(target=lambda: got.append(s.exec(i, 'sleep 0.5; echo finished > f')))
        c.start()
        # What runs was asked for by a connection that is there: one that comes later finds nobody.
        until(lambda: s.get('/v1/health').json['execs_running'] == 1)
        t.equal(s.stop(), 0)
        c.join()
        t.equal([e['exit_code'] for e in got], [0])
    with Server(t) as s:
        t.equal(s.exec(i, 'cat f')['stdout'], 'finished\n')


@case
def many_sessions_more_than_a_worker_holds(t):
    with Server(t, '--workers', '1') as s:
        c = s.connect()
        ids = []
        for n in range(300):
            r = s.ask('POST', '/v1/sessions', {}, connection=c)
            while r.status == 429: # they come faster than others can be parked
                time.sleep(int(r.headers['Retry-After']))
                r = s.ask('POST', '/v1/sessions', {}, connection=c)
            t.equal(r.status, 201, r)
            ids.append(r.json['id'])
            s.ask('POST', '/v1/sessions/%s/exec' % ids[-1], {'command': 'N=%d' % n}, connection=c)
        for n in range(0, 300, 17):
            r = s.ask('POST', '/v1/sessions/%s/exec' % ids[n], {'command': 'echo $N'}, connection=c)
            t.equal(r.json['stdout'], '%d\n' % n)
        t.ok(s.get('/v1/health').json['open_sessions'] <= 256)


main()
