# SPDX-License-Identifier: Apache-2.0
"""The server's snapshots, forks, merges, differences, traces and replays over loopback."""
import json
import threading

from harness import case, main
from server_harness import Server, until


@case
def snapshot_and_restore(t):
    with Server(t) as s:
        i = s.create(name='a')
        s.exec(i, 'echo one > f; X=1; cd /tmp')
        r = s.post('/v1/sessions/a/snapshots', {'name': 'first'})
        t.equal(r.status, 201, r)
        snap = r.json
        t.equal((snap['name'], snap['session']), ('first', i))
        s.exec(i, 'echo two > ~/f; X=2; cd /')
        t.equal(s.post('/v1/sessions/a/restore', {'snapshot': 'first'}).status, 200)
        e = s.exec(i, 'cat ~/f; echo $X; pwd')
        t.equal(e['stdout'], 'one\n1\n/tmp\n')
        t.equal(s.post('/v1/sessions/a/restore', {'snapshot': snap['id']}).json['root'], snap['root'])
        seq = s.exec(i, 'echo three > ~/f')['trace_seq']
        s.exec(i, 'rm ~/f')
        t.equal(s.post('/v1/sessions/a/restore', {'seq': seq}).status, 200)
        t.equal(s.exec(i, 'cat ~/f')['stdout'], 'three\n')
        t.equal([x['id'] for x in s.get('/v1/snapshots?session=a').json['snapshots']], [snap['id']])
        t.equal(s.get('/v1/snapshots/' + snap['id']).json, snap)
        t.equal(s.post('/v1/sessions/a/snapshots', {'name': 'first'}).status, 409)
        t.equal(s.ask('DELETE', '/v1/snapshots/' + snap['id']).status, 204)
        t.equal(s.get('/v1/snapshots/' + snap['id']).status, 404)
        t.equal(s.post('/v1/sessions/a/restore', {'snapshot': 'first'}).status, 404)
        t.equal(s.post('/v1/sessions/a/restore', {}).status, 400)
        t.equal(s.post('/v1/sessions/a/restore', {'snapshot': '--help'}).status, 400)


@case
def files_put_are_part_of_what_is_kept(t):
    with Server(t) as s:
        i = s.create()
        s.ask('PUT', '/v1/sessions/%s/fs/tmp/f' % i, b'put')
        f = s.post('/v1/sessions/%s/fork' % i).json['sessions'][0]['id']
        t.equal(s.exec(f, 'cat /tmp/f')['stdout'], 'put')
        s.ask('PUT', '/v1/sessions/%s/fs/tmp/g' % i, b'later')
        snap = s.post('/v1/sessions/%s/snapshots' % i).json
        s.exec(i, 'rm /tmp/f /tmp/g')
        s.post('/v1/sessions/%s/restore' % i, {'snapshot': snap['id']})
        t.equal(s.exec(i, 'cat /tmp/f /tmp/g')['stdout'], 'putlater')
        t.equal(s.get('/v1/sessions/%s/fs/tmp/g' % f).status, 404)


@case
def forks(t):
    with Server(t) as s:
        i = s.create(name='o', env={'E': 'env'}, metadata={'m': 1})
        seq = s.exec(i, 'echo base > f; X=7; f() { echo fn; }')['trace_seq']
        s.exec(i, 'echo more > g')
        r = s.post('/v1/sessions/o/fork', {'count': 3, 'name': 'try'})
        t.equal(r.status, 201, r)
        names = [x['name'] for x in r.json['sessions']]
        t.equal(names, ['try-1', 'try-2', 'try-3'])
        t.ok('entropy' in r.json['reset'], r.json)
        for n in names:
            t.equal(s.exec(n, 'cat f g; echo $X; f; echo $E; echo %s > f' % n)['stdout'], 'base\nmore\n7\nfn\nenv\n')
        t.equal(s.exec(i, 'cat f')['stdout'], 'base\n')
        t.equal(s.get('/v1/sessions/try-1').json['metadata'], {'m': 1})
        r = s.post('/v1/sessions/o/fork', {'seq': seq})
        t.equal(s.exec(r.json['sessions'][0]['id'], 'ls')['stdout'], 'f\n')
        randoms = {s.exec(n, 'head -c 16 /dev/urandom | xxd -p; echo $RANDOM')['stdout'] for n in names}
        t.equal(len(randoms), 3, 'each fork has entropy of its own')
        t.equal(s.post('/v1/sessions/o/fork', {'name': 'o'}).status, 409)
        t.equal(s.post('/v1/sessions/o/fork', {'count': 0}).status, 400)
        t.equal(s.post('/v1/sessions/o/fork', {'seq': 10 ** 9}).status, 404)
        # From what runs: the state before it.
        e = s.exec(i, 'echo half > h; sleep 1000', wait_ms=0)
        r = s.post('/v1/sessions/o/fork')
        t.equal(s.exec(r.json['sessions'][0]['id'], 'ls')['stdout'], 'f\ng\n')
        s.post('/v1/sessions/o/execs/%s/signal' % e['exec_id'], {'signal': 'KILL'})


@case
def create_from(t):
    with Server(t) as s:
        i = s.create(name='o')
        s.exec(i, 'echo base > f')
        snap = s.post('/v1/sessions/o/snapshots', {'name': 'n'}).json['id']
        s.exec(i, 'echo later > f')
        for spec, text in ((snap, 'base\n'), ('o', 'later\n'), ('o:n', 'base\n')):
            r = s.post('/v1/sessions', {'from': spec, 'env': {'A': spec}, 'files': {'/tmp/x': {'text': 'x'}}})
            t.equal(r.status, 201, r)
            t.equal(s.exec(r.json['id'], 'cat f /tmp/x; echo; echo $A')['stdout'], text + 'x\n' + spec + '\n')
        t.equal(s.post('/v1/sessions', {'from': 'none'}).status, 404)
        t.equal(s.post('/v1/sessions', {'from': snap, 'user': 'root'}).status, 400)


@case
def merge_takes_all_or_nothing(t):
    with Server(t) as s:
        i = s.create(name='o')
        s.exec(i, 'printf "a\\nb\\nc\\n" > f')
        f = s.post('/v1/sessions/o/fork', {'name': 'w'}).json['sessions'][0]['id']
        s.exec(f, 'echo new > g; sed -i s/a/A/ f 2>/dev/null || printf "A\\nb\\nc\\n" > f')
        s.exec(i, 'printf "a\\nb\\nC\\n" > f')
        r = s.post('/v1/sessions/w/merge', {'into': 'o', 'dry_run': True})
        t.equal((r.status, r.json['dry_run']), (200, True))
        r = s.post('/v1/sessions/w/merge', {'into': 'o'})
        t.equal((r.status, r.json['merged'], r.json['conflicts']), (200, True, []), r)
        t.equal(s.exec(i, 'cat f g')['stdout'], 'A\nb\nC\nnew\n')
        s.exec(i, 'echo mine > f')
        s.exec(f, 'echo theirs > f')
        r = s.post('/v1/sessions/w/merge', {'into': 'o'})
        t.equal((r.status, r.json['merged'], [c['path'] for c in r.json['conflicts']]),
                (200, False, ['/home/user/f']), r)
        t.equal(s.exec(i, 'cat f')['stdout'], 'mine\n')
        t.equal([c['path'] for c in s.post('/v1/sessions/w/merge').json['conflicts']], ['/home/user/f'])


@case
def differences(t):
    with Server(t) as s:
        i = s.create(name='a')
        one = s.exec(i, 'echo one > f; mkdir d')['trace_seq']
        s.exec(i, 'echo two > f; echo x > d/g')
        changes = s.get('/v1/sessions/a/diff').json['changes']
        t.equal(sorted(c['path'] for c in changes), ['/home/user/d', '/home/user/d/g', '/home/user/f'])
        changes = s.get('/v1/sessions/a/diff?from=%d&text' % one).json['changes']
        t.equal([(c['path'], c['kind']) for c in changes if c['kind'] != 'meta'],
                [('/home/user/d/g', 'added'), ('/home/user/f', 'modified')])
        t.ok('-one' in changes[-1]['diff'] and '+two' in changes[-1]['diff'], changes[-1])
        t.equal(s.get('/v1/sessions/a/diff?from=a&to=a').json['changes'], [])
        t.equal([c['path'] for c in s.get('/v1/sessions/a/diff?path=/home/user/d').json['changes']],
                ['/home/user/d', '/home/user/d/g'])
        t.equal(s.get('/v1/sessions/a/diff?from=none').status, 404)
        t.equal(s.get('/v1/sessions/a/diff?from=--help').status, 400)


@case
def trace_in_three_forms(t):
    with Server(t) as s:
        i = s.create(name='a')
        e = s.exec(i, 'echo hello')
        events = s.get('/v1/sessions/a/trace').json
        t.equal(events['events'][0]['type'], 'created')
        types = [x['type'] for x in events['events']]
        t.ok({'exec', 'output', 'end'} <= set(types), types)
        run = [x for x in events['events'] if x['type'] == 'exec'][0]
        t.equal((run['text'], run['key']), ('echo hello', e['exec_id']))
        t.equal(events['next_seq'], len(types))
        page = s.get('/v1/sessions/a/trace?from_seq=1&limit=2').json
        t.equal([x['seq'] for x in page['events']], [1, 2])
        lines = s.get('/v1/sessions/a/trace', headers={'Accept': 'application/x-ndjson'}).body.splitlines()
        t.equal([json.loads(x) for x in lines], events['events'])
        c = s.connect()
        c.request('GET', '/v1/sessions/a/trace?from_seq=%d' % len(types), headers={'Accept': 'text/event-stream'})
        r = c.getresponse()
        s.exec(i, 'echo again')
        got = b''
        while b'"type":"end"' not in got:
            got += r.read1()
        t.ok(b'echo again' in got, got)
        c.close()


@case
def replay_proves_equality(t):
    with Server(t) as s:
        i = s.create(name='a', cwd='/tmp')
        s.exec(i, 'echo $RANDOM > f; date >> f; X=1', )
        s.exec(i, argv=['cat'], stdin='in\n')
        s.exec(i, 'pwd; cat /tmp/f', shell='fresh', cwd='/usr')
        s.exec(i, 'sleep 1000', timeout_ms=100)
        s.ask('PUT', '/v1/sessions/a/fs/tmp/put', b'x')
        s.exec(i, 'cat /tmp/put; echo $X')
        r = s.post('/v1/replays', {'session': 'a'})
        t.equal((r.status, r.json['equal']), (200, True), r)
        t.equal([c['verdict'] for c in r.json['commands']], ['equal'] * 5)
        t.equal(s.post('/v1/replays', {'session': 'none'}).status, 404)
        t.equal(s.post('/v1/replays', {'session': '/etc/passwd'}).status, 404)


@case
def what_runs_is_not_put_back(t):
    with Server(t) as s:
        i = s.create(name='a')
        s.exec(i, 'echo 1 > f')
        e = s.exec(i, 'sleep 1000', wait_ms=0)
        t.equal(s.post('/v1/sessions/a/restore', {'seq': 0}).status, 409)
        t.equal(s.post('/v1/sessions/a/snapshots').status, 409)
        s.post('/v1/sessions/a/execs/%s/signal' % e['exec_id'], {'signal': 'KILL'})
        s.exec_at(i, e['exec_id'], 60000)
        # Commands that come while a verb has the session wait for it.
        done = []
        threads = [threading.Thread(target=lambda: done.append(s.post('/v1/sessions/a/snapshots').status))]
        threads += [threading.Thread(target=lambda: done.append(s.exec(i, 'cat f')['stdout'])) for _ in range(5)]
        for x in threads:
            x.start()
        for x in threads:
            x.join()
        t.equal(done.count('1\n'), 5, done)
        t.ok(done.count(201) + done.count(409) == 1, done)


@case
def metrics_count(t):
    with Server(t) as s:
        i = s.create()
        s.exec(i, 'echo x')
        text = s.get('/metrics').body.decode()
        t.ok('frontal_sandbox_sessions_created_total 1\n' in text, text)
        t.ok('frontal_sandbox_execs_ended_total 1\n' in text, text)
        t.ok('frontal_sandbox_exec_output_bytes_total 2\n' in text, text)
        until(lambda: 'frontal_sandbox_execs_running 0\n' in s.get('/metrics').body.decode())


main()
