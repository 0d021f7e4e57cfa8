# SPDX-License-Identifier: Apache-2.0
"""Policies of sessions, templates, and tokens: what each grants, and that nothing goes beyond it."""
import os
import signal
import subprocess

from harness import BINARY, SLOW, case, main
from server_harness import Server, until


def key(t, s, capabilities, *options):
    p = subprocess.run([BINARY, 'keys', 'create', '--state', s.state, '--capabilities', capabilities, *options],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60 * SLOW)
    t.equal((p.returncode, p.stderr), (0, b''))
    return bearer(p.stdout.decode().strip())


def bearer(text):
    return {'Authorization': 'Bearer ' + text}


def keyed(s, last):
    until(lambda: s.get('/v1/sessions').status == 401, 'a key is needed')
    until(lambda: s.get('/v1/sessions', headers=last).status == 200, 'the last key is known')


# ---- policies ----

@case
def a_policy_is_in_force_and_shown(t):
    with Server(t) as s:
        i = s.create(name='p', policy={'commands': {'deny': ['wc']}, 'limits': {'memory': '64M', 'processes': 20}})
        r = s.get('/v1/sessions/p').json
        t.equal((r['policy']['commands'], r['policy']['limits']['memory']), ({'allow': ['*'], 'deny': ['wc']}, 64 << 20))
        t.equal((r['limits']['memory'], r['limits']['processes']), (64 << 20, 20), 'as much as the policy grants')
        e = s.exec(i, 'wc -l < /etc/passwd')
        t.equal(e['exit_code'], 126)
        t.ok('command deny wc' in e['stderr'], e)
        t.equal(s.exec(i, 'cat /etc/hostname')['exit_code'], 0)
        a = s.post('/v1/sessions/p/explain', {'ask': 'command wc'}).json
        t.equal((a['allowed'], a['rules'], a['change']), (False, ['command deny wc'], ['remove command deny wc']))
        t.ok(s.post('/v1/sessions/p/explain', {'ask': 'command ls'}).json['allowed'])
        t.equal(s.post('/v1/sessions/p/explain', {'ask': 'paint it'}).status, 400)
        t.equal(s.post('/v1/sessions/p/explain', {}).status, 400)
        # It outlives the server, and forks have it.
        f = s.post('/v1/sessions/p/fork').json['sessions'][0]['id']
        s.stop(signal.SIGKILL)
    with Server(t) as s:
        for n in (i, f):
            t.equal(s.exec(n, 'wc -l < /etc/passwd')['exit_code'], 126)
            t.equal(s.get('/v1/sessions/' + n).json['policy']['commands']['deny'], ['wc'])
        t.ok(s.post('/v1/replays', {'session': i}).json['equal'])


@case
def what_is_wrong_is_named(t):
    with Server(t) as s:
        for policy, status, field in (({'paint': 1}, 400, 'policy.paint'), ({'verbs': 'x'}, 400, 'policy.verbs'),
                                      ({'verbs': ['fly']}, 400, 'policy.verbs[0]'), ([], 400, 'policy'),
                                      ({'commands': {'deny': ['a', 1]}}, 400, 'policy.commands.deny[1]'),
                                      ({'limits': {'memory': 'much'}}, 400, 'policy.limits.memory')):
            r = s.post('/v1/sessions', {'policy': policy})
            t.equal((r.status, r.json['error']['details'].get('field')), (status, field), r)
        r = s.post('/v1/sessions', {'policy': {'limits': {'memory': '64M'}}, 'limits': {'memory': 1 << 30}})
        t.equal((r.status, r.json['error']['details']['field']), (403, 'limits.memory'), r)
        r = s.post('/v1/sessions', {'limits': {'paint': 1}})
        t.equal((r.status, r.json['error']['details']['field']), (400, 'limits.paint'), r)
        t.equal(s.get('/v1/sessions').json['sessions'], [])


@case
def verbs_and_tiers_hold_for_routes(t):
    with Server(t) as s:
        i = s.create(policy={'verbs': ['show', 'exec', 'fs.read', 'update']})
        s.exec(i, 'echo a > f')
        path = '/v1/sessions/%s' % i
        t.equal(s.get(path + '/fs/home/user/f').body, b'a\n')
        for method, sub, body in (('PUT', '/fs/tmp/x', b''), ('POST', '/fs', b'{"operations":[]}'), ('DELETE', '/fs/tmp', None),
                                  ('POST', '/archive/tmp', b''), ('POST', '/snapshots', b'{}'), ('POST', '/fork', b'{}'),
                                  ('POST', '/restore', b'{"seq":0}'), ('GET', '/trace', None), ('GET', '/diff', None),
                                  ('POST', '/merge', b'{}'), ('DELETE', '', None)):
            r = s.ask(method, path + sub, body)
            t.equal(r.status, 403, (method, sub, r))
            t.ok('would be allowed by: add verb ' in r.json['error']['message'], r)
        r = s.post('/v1/sessions/%s/exec' % s.create(policy={'tiers': []}), {'command': 'true'})
        t.equal(r.status, 403, r)
        t.ok('tier isolate' in r.json['error']['message'], r)


@case
def patch_narrows_unless_the_key_may_widen(t):
    with Server(t) as s:
        some, all_ = key(t, s, 'sessions.read,sessions.write,exec,state,trace'), key(t, s, 'all')
        keyed(s, all_)
        r = s.post('/v1/sessions', {'name': 'n'}, headers=some)
        path = '/v1/sessions/n'

        def patch(body, by, status=200):
            r = s.ask('PATCH', path, body, headers=by)
            t.equal(r.status, status, (body, r))
            return r.json

        def run(command, name='n'):
            return s.post('/v1/sessions/%s/exec' % name, {'command': command}, headers=some).json
        before = run('wc -l < /etc/passwd; cd /tmp; X=1')
        t.equal(before['exit_code'], 0)
        got = patch({'policy': {'commands': {'deny': ['wc']}}, 'limits': {'memory': 32 << 20}, 'metadata': {'k': 1}}, some)
        t.equal((got['policy']['commands']['deny'], got['limits']['memory'], got['metadata']), (['wc'], 32 << 20, {'k': 1}))
        t.equal(run('wc -l < /etc/passwd')['exit_code'], 126)
        t.equal(run('pwd; echo $X')['stdout'], '/tmp\n1\n', 'the shell goes on')
        fork = s.post(path + '/fork', {'name': 'f'}, headers=some).json['sessions'][0]['id']
        t.equal(run('wc -l < /etc/passwd', 'f')['exit_code'], 126, 'a fork has what holds now')
        e = patch({'policy': {'commands': {'deny': []}}}, some, 403)
        t.ok("capability 'policy'" in e['error']['message'] and e['error']['details'] == {'field': 'policy'}, e)
        patch({'policy': {'commands': {'deny': ['wc', 'ls']}}}, some)
        patch({'policy': {'mounts': ['ro /srv']}}, some, 403)
        patch({'limits': {'memory': 1 << 40}}, some, 403)
        patch({'policy': {'commands': {'deny': []}}, 'limits': {'memory': 64 << 20}}, all_)
        t.equal(run('wc -l < /etc/passwd')['exit_code'], 0)
        # What ran under another policy than the first is left out of a replay, and the record says why.
        verdicts = s.post('/v1/replays', {'session': 'n'}, headers=some).json['commands']
        t.equal([v['verdict'] for v in verdicts], ['equal', 'left_out', 'left_out', 'left_out'], verdicts)
        e = s.post(path + '/exec', {'command': 'sleep 1000', 'wait_ms': 0}, headers=some).json
        patch({'policy': {'commands': {'deny': ['wc']}}}, some, 409)
        patch({'metadata': {}}, some)
        s.post(path + '/execs/%s/signal' % e['exec_id'], {'signal': 'KILL'}, headers=some)
        t.ok(fork)
    with Server(t) as s:
        t.equal(s.get(path, headers=all_).json['limits']['memory'], 64 << 20)


@case
def sessions_that_the_server_does_not_open(t):
    with Server(t) as s:
        state = ['--state', s.state]
        os.mkdir(t.path('d'))
        p = subprocess.run([BINARY, 'run', '--session', 'm', '--mount', t.path('d') + ':/mnt', *state, '-c', 'echo x > /mnt/f'],
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        t.equal(p.returncode, 0, p.stdout)
        t.equal(s.post('/v1/sessions/m/exec', {'command': ':'}).status, 422)
        t.equal([s.get('/v1/sessions/m' + x).status for x in ('', '/trace', '/diff')], [200] * 3)
        t.equal(s.post('/v1/sessions/m/fork').status, 422)
        t.equal(s.ask('DELETE', '/v1/sessions/m').status, 204)
        # A log that is damaged names no policy; it can be looked at and removed.
        i = s.create(name='bad')
        s.exec(i, 'echo a > f')
        t.equal(s.post('/v1/sessions/bad/sleep').status, 200)
        s.stop()
    with open('%s/sessions/%s/trace' % (s.state, i), 'r+b') as f:
        f.seek(60)
        f.write(b'\xff' * 20)
    with Server(t) as s:
        t.ok(s.post('/v1/sessions/bad/exec', {'command': ':'}).status >= 400)
        t.equal(s.ask('DELETE', '/v1/sessions/bad').status, 204)


# ---- templates ----

@case
def a_template_keeps_its_snapshot(t):
    with Server(t) as s:
        i = s.create(name='o')
        s.exec(i, 'echo base > f')
        snap = s.post('/v1/sessions/o/snapshots', {'name': 'n'}).json['id']
        r = s.ask('PUT', '/v1/templates/base', {'snapshot': 'n'})
        t.equal((r.status, r.json), (200, {'name': 'base', 'snapshot': snap}), r)
        s.exec(i, 'echo later > f')
        t.equal(s.exec(s.post('/v1/sessions', {'from': 'base'}).json['id'], 'cat f')['stdout'], 'base\n')
        r = s.ask('DELETE', '/v1/snapshots/' + snap)
        t.equal(r.status, 409, r)
        t.ok("'base'" in r.json['error']['message'], r)
        t.equal(s.ask('DELETE', '/v1/sessions/o').status, 204)
        t.equal([x['id'] for x in s.get('/v1/snapshots').json['snapshots']], [snap])
        s.stop()
        for argv in (['store', 'gc'], ['store', 'fsck']):
            p = subprocess.run([BINARY, *argv, '--state', s.state], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            t.equal(p.returncode, 0, p.stdout)
    with Server(t) as s:
        t.equal(s.exec(s.post('/v1/sessions', {'from': 'base', 'name': 'c'}).json['id'], 'cat f')['stdout'], 'base\n')
        # A template hides a session of its name.
        s.create(name='base')
        t.equal(s.exec(s.post('/v1/sessions', {'from': 'base'}).json['id'], 'cat f')['stdout'], 'base\n')
        other = s.post('/v1/sessions/c/snapshots').json['id']
        t.equal(s.ask('PUT', '/v1/templates/base', {'snapshot': other}).json['snapshot'], other)
        t.equal(s.get('/v1/snapshots').json['snapshots'][0]['id'], other, 'the first one has nobody that keeps it')
        t.equal(s.ask('PUT', '/v1/templates/.x', {'snapshot': other}).status, 400)
        t.equal(s.ask('PUT', '/v1/templates/b', {'snapshot': 'none'}).status, 404)
        t.equal(s.ask('PUT', '/v1/templates/b', {}).status, 400)
        t.equal([x['name'] for x in s.get('/v1/templates').json['templates']], ['base'])
        t.equal((s.ask('DELETE', '/v1/templates/base').status, s.get('/v1/templates/base').status), (204, 404))
        t.equal(s.ask('DELETE', '/v1/snapshots/' + other).status, 204)


# ---- tokens ----

@case
def a_token_reaches_one_session_with_what_it_says(t):
    with Server(t) as s:
        all_ = key(t, s, 'all')
        keyed(s, all_)
        for name in ('a', 'b'):
            s.post('/v1/sessions', {'name': name}, headers=all_)
        s.post('/v1/sessions/b/snapshots', {'name': 'n'}, headers=all_)
        snap = s.get('/v1/snapshots', headers=all_).json['snapshots'][0]['id']
        r = s.post('/v1/sessions/a/tokens', {'capabilities': ['exec', 'fs.read', 'trace', 'state', 'sessions.write'], 'name': 'x'}, headers=all_)
        t.equal(r.status, 201, r)
        tok = bearer(r.json['token'])
        t.equal(s.post('/v1/sessions/a/exec', {'command': 'echo hi'}, headers=tok).json['stdout'], 'hi\n')
        t.equal(s.get('/v1/sessions/a/fs/tmp?list', headers=tok).status, 200)
        t.equal(s.get('/v1/sessions/a/diff?from=0', headers=tok).status, 200)
        for method, path, body, named in (
                ('PUT', '/v1/sessions/a/fs/tmp/x', b'', 'fs.write'), ('GET', '/v1/sessions/a', None, 'sessions.read'),
                ('GET', '/v1/sessions', None, 'sessions.read'), ('POST', '/v1/sessions', b'{}', 'sessions.write'),
                ('POST', '/v1/sessions/b/exec', b'{"command":"id"}', 'exec'), ('GET', '/v1/sessions/b/fs/tmp?list', None, 'fs.read'),
                ('POST', '/v1/sessions/none/exec', b'{"command":"id"}', 'exec'),
                ('POST', '/v1/sessions/a/fork', b'{}', 'state'), ('POST', '/v1/sessions/a/merge', b'{"into":"b"}', 'state'),
                ('GET', '/v1/snapshots', None, 'state'), ('GET', '/v1/snapshots/' + snap, None, 'state'),
                ('PUT', '/v1/templates/t', b'{}', 'state'), ('POST', '/v1/replays', b'{"session":"b"}', 'trace'),
                ('GET', '/metrics', None, 'metrics'), ('POST', '/v1/sessions/a/tokens', b'{"capabilities":["exec"]}', 'sessions.write'),
                ('GET', '/v1/sessions/a/tokens', None, 'sessions.write')):
            r = s.ask(method, path, body, headers=tok)
            t.equal((r.status, "'%s'" % named in r.json['error']['message']), (403, True), (method, path, r))
        for method, path, body in (('GET', '/v1/sessions/a/diff?from=b', None), ('GET', '/v1/sessions/a/diff?to=' + snap, None),
                                   ('POST', '/v1/sessions/a/restore', {'snapshot': snap}),
                                   ('PATCH', '/v1/sessions/a', {'policy': {'mounts': ['ro /srv']}})):
            t.equal(s.ask(method, path, body, headers=tok).status, 403, (method, path, body))
        t.equal(s.post('/v1/sessions/a/restore', {'snapshot': 'b:n'}, headers=tok).status, 400, 'that is no name')
        t.equal(s.get('/v1/health', headers=tok).status, 200)


@case
def a_token_ends(t):
    with Server(t) as s:
        some = key(t, s, 'sessions.write,exec')
        other = key(t, s, 'all')
        keyed(s, other)
        s.post('/v1/sessions', {'name': 'a'}, headers=some)

        def mint(body, by=some):
            return s.post('/v1/sessions/a/tokens', body, headers=by)

        def works(token):
            return s.post('/v1/sessions/a/exec', {'command': ':'}, headers=bearer(token)).status
        r = mint({'capabilities': ['fs.read']})
        t.equal((r.status, 'fs.read' in r.json['error']['message']), (403, True), 'at most what the key has')
        for body in ({}, {'capabilities': []}, {'capabilities': ['all']}, {'capabilities': ['exec'], 'ttl_ms': 0},
                     {'capabilities': ['exec'], 'ttl_ms': 10 ** 12}, {'capabilities': ['exec'], 'name': '/'}):
            t.equal(mint(body).status, 400, body)
        first, second, third = (mint({'capabilities': ['exec']}).json for _ in range(3))
        short = mint({'capabilities': ['exec'], 'ttl_ms': 1}).json['token']
        until(lambda: works(short) == 401, 'the end of a token')
        t.equal([works(x['token']) for x in (first, second, third)], [200] * 3)
        t.equal(works(first['token'][:-1] + ('0' if first['token'][-1] != '0' else '1')), 401)
        with open(s.state + '/tokens') as f:
            text = f.read()
        t.ok(first['id'] in text and first['token'].split('.')[1] not in text, 'the hash is kept')
        t.equal(s.ask('DELETE', '/v1/sessions/a/tokens/' + first['id'], headers=some).status, 204)
        t.equal((works(first['token']), works(second['token'])), (401, 200))
        t.equal([x['id'] for x in s.get('/v1/sessions/a/tokens', headers=some).json['tokens']], [second['id'], third['id']])
        s.stop(signal.SIGKILL)
    with Server(t) as s:
        t.equal((works(first['token']), works(second['token'])), (401, 200), 'after a restart')
        # With the key that it was minted from, it ends.
        some_id = some['Authorization'].split()[1].split('.')[0]
        p = subprocess.run([BINARY, 'keys', 'revoke', some_id, '--state', s.state], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        t.equal(p.returncode, 0, p.stderr)
        until(lambda: works(second['token']) == 401, 'the end of its key')


# ---- sessions that were deleted ----

@case
def a_log_stays_until_its_retention_ends(t):
    with Server(t) as s:
        i = s.create(name='gone')
        s.exec(i, 'echo hi > f')
        events = s.get('/v1/sessions/gone/trace').json
        t.equal(s.ask('DELETE', '/v1/sessions/gone').status, 204)
        t.equal((s.get('/v1/sessions/gone').status, s.get('/v1/sessions/gone/trace').status), (404, 404), 'the name is free')
        t.equal(s.get('/v1/sessions/%s/trace' % i).json, events)
        r = s.get('/v1/sessions/%s/trace' % i, headers={'Accept': 'text/event-stream'})
        t.equal((r.status, r.body.count(b'id: ')), (200, len(events['events'])), 'and the stream ends')
        r = s.get('/v1/sessions/' + i).json
        t.equal((r['id'], r['state'], r['reason']), (i, 'ended', 'destroyed'))
        t.equal([s.post('/v1/sessions/%s/exec' % i, {'command': ':'}).status, s.ask('DELETE', '/v1/sessions/' + i).status], [404, 404])
        t.equal(s.get('/v1/sessions').json['sessions'], [])
        os.utime('%s/ended/%s' % (s.state, i), (1, 1))  # it was long ago
        s.stop()
    with Server(t) as s:
        t.equal((s.get('/v1/sessions/' + i).status, s.get('/v1/sessions/%s/trace' % i).status), (404, 404))
        s.stop()
    with Server(t, '--trace-retention', '0') as s:
        i = s.create()
        s.ask('DELETE', '/v1/sessions/' + i)
        t.equal(s.get('/v1/sessions/%s/trace' % i).status, 404)


# ---- small rules ----

@case
def repeats_origins_and_messages(t):
    with Server(t) as s:
        i = s.create(name='o')
        r = s.get('/v1/sessions?limit=1&limit=2')
        t.equal((r.status, r.json['error']['details']), (400, {'field': 'limit'}))
        t.equal(s.get('/v1/sessions/o/fs/tmp?list&list').status, 400)
        for path in ('/v1/sessions/none', '/v1/sessions/sbx_' + '0' * 26, '/v1/sessions/o/diff?from=none', '/v1/snapshots/snap_' + '0' * 26):
            r = s.get(path)
            t.equal(r.status, 404, r)
            t.ok(s.state not in r.body.decode(), r)
        s.exec(i, 'echo a > f')
        s.post('/v1/sessions/o/fork', {'name': 'w'})
        s.exec('w', 'echo b > g')
        r = s.post('/v1/sessions/w/merge')
        t.equal((r.status, r.json['merged']), (200, True), r)
        t.equal(s.exec(i, 'cat g')['stdout'], 'b\n')
        t.equal(s.post('/v1/sessions/o/merge').status, 400, 'it came from nobody')
        snap = s.post('/v1/sessions/o/snapshots').json['id']
        s.post('/v1/sessions', {'from': snap, 'name': 'v'})
        s.exec('v', 'echo c > h')
        t.ok(s.post('/v1/sessions/v/merge').json['merged'])
        t.equal(s.exec(i, 'cat h')['stdout'], 'c\n')


main()
