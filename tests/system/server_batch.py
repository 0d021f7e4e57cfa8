# SPDX-License-Identifier: Apache-2.0
"""Batches of operations on files: all of them or none, one entry of the log; and lists with depth and glob."""
import signal

from harness import case, main
from server_harness import Server, until


def batch(s, session, *operations):
    return s.post('/v1/sessions/%s/fs' % session, {'operations': list(operations)})


def events(s, i):
    return s.get('/v1/sessions/%s/trace' % i).json['events']


@case
def each_operation(t):
    with Server(t) as s:
        i = s.create()
        r = batch(s, i,
                  {'op': 'write', 'path': '/tmp/d/a', 'text': 'one\n', 'mode': '0600'},
                  {'op': 'write', 'path': '/tmp/d/a', 'text': 'two\n', 'append': True},
                  {'op': 'edit', 'path': '/tmp/d/a', 'old': 'one', 'new': 'three'},
                  {'op': 'mkdir', 'path': '/tmp/d/sub/deep', 'mode': '0700'},
                  {'op': 'copy', 'path': '/tmp/d/a', 'to': '/tmp/d/sub/deep/a'},
                  {'op': 'symlink', 'path': '/tmp/d/sub/l', 'target': 'deep/a'},
                  {'op': 'copy', 'path': '/tmp/d/sub', 'to': '/tmp/d/copy', 'recursive': True},
                  {'op': 'link', 'path': '/tmp/d/a', 'to': '/tmp/d/b'},
                  {'op': 'move', 'path': '/tmp/d/sub', 'to': '/tmp/d/moved'},
                  {'op': 'write', 'path': '/tmp/d/bin', 'base64': '/wA='},
                  {'op': 'truncate', 'path': '/tmp/d/bin', 'size': 1},
                  {'op': 'chmod', 'path': '/tmp/d/bin', 'mode': '4711'},
                  {'op': 'remove', 'path': '/tmp/d/moved', 'recursive': True})
        t.equal((r.status, r.json['applied']), (200, 13), r)
        e = s.exec(i, 'cd /tmp/d; cat a copy/l; stat -c "%n %a %h %U %F" * copy/*; readlink copy/l')
        t.equal(e['stdout'], 'three\ntwo\nthree\ntwo\n'
                'a 600 2 user regular file\nb 600 2 user regular file\nbin 4711 1 user regular file\n'
                'copy 755 3 user directory\n'
                'copy/deep 700 2 user directory\ncopy/l 777 1 user symbolic link\ndeep/a\n')
        t.equal(s.get('/v1/sessions/%s/fs/tmp/d/bin' % i).body, b'\xff')


@case
def all_or_none(t):
    with Server(t) as s:
        i = s.create()
        batch(s, i, {'op': 'write', 'path': '/tmp/f', 'text': 'aXbXc XX'})
        before = s.get('/v1/sessions/%s/fs/tmp?list&depth=9' % i).json
        bad = [
            ({'op': 'edit', 'path': '/tmp/f', 'old': 'X', 'new': ''}, 409, 'occurs 4 times'),
            ({'op': 'edit', 'path': '/tmp/f', 'old': 'Q', 'new': ''}, 409, 'occurs 0 times'),
            ({'op': 'edit', 'path': '/tmp/none', 'old': 'Q', 'new': ''}, 404, '/tmp/none'),
            ({'op': 'move', 'path': '/tmp/none', 'to': '/tmp/x'}, 404, '/tmp/none'),
            ({'op': 'remove', 'path': '/tmp/n'}, 409, 'not empty'),
            ({'op': 'copy', 'path': '/tmp/n', 'to': '/tmp/x'}, 400, 'directory'),
            ({'op': 'copy', 'path': '/tmp', 'to': '/tmp/n/x', 'recursive': True}, 400, 'Invalid'),
            ({'op': 'link', 'path': '/tmp/f', 'to': '/tmp/n/new'}, 409, 'exists'),
            ({'op': 'truncate', 'path': '/tmp', 'size': 1}, 400, 'directory'),
        ]
        for op, status, text in bad:
            r = batch(s, i, {'op': 'write', 'path': '/tmp/n/new', 'text': 'n'}, {'op': 'remove', 'path': '/tmp/f'},
                      {'op': 'write', 'path': '/tmp/f', 'text': 'aXbXc XX'}, op,
                      {'op': 'write', 'path': '/tmp/later', 'text': ''})
            t.equal((r.status, r.json['error']['details']), (status, {'field': 'operations[3]'}), r)
            t.ok(text in r.json['error']['message'], r)
        t.equal(s.get('/v1/sessions/%s/fs/tmp?list&depth=9' % i).json, before)
        t.equal([e['type'] for e in events(s, i)], ['created', 'restore'])


@case
def with_processes_and_a_small_quota(t):
    """Processes that live have files open: what fails leaves these, too."""
    with Server(t) as s:
        i = s.create(limits={'files': 1 << 20})
        e = s.exec(i, 'exec 5>/tmp/open; echo first >&5; while read -r x; do echo "$x" >&5; done; cat /tmp/open',
                   stdin_open=True, wait_ms=0)
        until(lambda: s.get('/v1/sessions/%s/fs/tmp/open' % i).body == b'first\n')
        big = 'x' * (600 << 10)
        r = batch(s, i, {'op': 'write', 'path': '/tmp/a', 'text': big}, {'op': 'write', 'path': '/tmp/b', 'text': big})
        t.equal(r.status, 429, r)
        t.equal(s.get('/v1/sessions/%s/fs/tmp/a' % i).status, 404)
        r = batch(s, i, {'op': 'edit', 'path': '/tmp/open', 'old': 'first', 'new': 'other'},
                  {'op': 'write', 'path': '/tmp/a', 'text': big}, {'op': 'write', 'path': '/tmp/a', 'text': ''})
        t.equal((r.status, r.json['trace_seq']), (200, None), r)
        path = '/v1/sessions/%s/execs/%s' % (i, e['exec_id'])
        s.post(path + '/stdin', {'data': 'second\n', 'close': True})
        t.equal(s.exec_at(i, e['exec_id'], 60000).json['stdout'], 'other\nsecond\n')


@case
def one_entry_that_survives(t):
    with Server(t) as s:
        i = s.create()
        s.exec(i, 'echo one > ~/f')
        r = batch(s, i, {'op': 'edit', 'path': '/home/user/f', 'old': 'one', 'new': 'two'},
                  {'op': 'write', 'path': '/home/user/g', 'text': 'g'})
        seq = r.json['trace_seq']
        last = events(s, i)[-1]
        t.equal((last['seq'], last['type'], last['from']), (seq, 'restore', 'batch'), last)
        changes = s.get('/v1/sessions/%s/diff?from=%d&to=%d' % (i, seq - 1, seq)).json['changes']
        t.equal(sorted(c['path'] for c in changes if c['path'] != '/home/user'), ['/home/user/f', '/home/user/g'])
        s.stop(signal.SIGKILL)
    with Server(t) as s:
        t.equal(s.exec(i, 'cat ~/f ~/g')['stdout'], 'two\ng')


@case
def what_is_wrong_is_named(t):
    with Server(t) as s:
        i = s.create()
        for op, field in (({'op': 'paint'}, '.op'), ('x', '.op'), ({'path': '/x'}, '.op'), ({'op': 'mkdir'}, '.path'),
                          ({'op': 'mkdir', 'path': 'x'}, '.path'), ({'op': 'mkdir', 'path': '/x', 'to': '/y'}, '.to'),
                          ({'op': 'move', 'path': '/x'}, '.to'), ({'op': 'chmod', 'path': '/x', 'mode': '9'}, '.mode'),
                          ({'op': 'write', 'path': '/x'}, '.text'), ({'op': 'edit', 'path': '/x', 'old': '', 'new': ''}, '.old'),
                          ({'op': 'truncate', 'path': '/x'}, '.size'), ({'op': 'symlink', 'path': '/x', 'target': ''}, '.target'),
                          ({'op': 'write', 'path': '/x', 'base64': '?'}, '.base64')):
            r = batch(s, i, {'op': 'mkdir', 'path': '/tmp/made'}, op)
            t.equal((r.status, r.json['error']['details']), (400, {'field': 'operations[1]' + field}), (op, r))
        t.equal(s.get('/v1/sessions/%s/fs/tmp/made?stat' % i).status, 404)
        t.equal(s.post('/v1/sessions/%s/fs' % i, {}).status, 400)
        t.equal(batch(s, i, *[{'op': 'remove', 'path': '/x'}] * 1001).status, 413)
        t.equal((batch(s, i).status, batch(s, 'none').status), (200, 404))


@case
def lists_with_depth_and_glob(t):
    with Server(t) as s:
        i = s.create()
        names = ['a.txt', 'b.md', 'd/a.txt', 'd/[x]', 'd/e/a.txt', 'd/e/f/a.txt', '.h/a.txt']
        batch(s, i, *({'op': 'write', 'path': '/tmp/' + n, 'text': ''} for n in names))

        def listed(query):
            r = s.get('/v1/sessions/%s/fs/tmp?list&%s' % (i, query))
            return sorted(e['path'] for e in r.json['entries']) if r.status == 200 else r.status
        t.equal(listed('depth=1'), ['.h', 'a.txt', 'b.md', 'd'])
        t.equal(listed('depth=2'), ['.h', '.h/a.txt', 'a.txt', 'b.md', 'd', 'd/[x]', 'd/a.txt', 'd/e'])
        for glob, want in (('*.txt', ['a.txt']), ('*/*.txt', ['.h/a.txt', 'd/a.txt']), ('?.*', ['a.txt', 'b.md']),
                           ('**/a.txt', ['.h/a.txt', 'a.txt', 'd/a.txt', 'd/e/a.txt', 'd/e/f/a.txt']),
                           ('d/**/a.txt', ['d/a.txt', 'd/e/a.txt', 'd/e/f/a.txt']), ('**/f/**', ['d/e/f', 'd/e/f/a.txt']),
                           ('d/%5B%5B%5Dx%5D', ['d/[x]']), ('d/%5C%5Bx%5D', ['d/[x]']), ('%5Ba-c%5D.txt', ['a.txt']),
                           ('%5B!a%5D.*', ['b.md']), ('d/**/e/**/f', ['d/e/f']), ('none', []),
                           ('d/*/*/a*t', ['d/e/f/a.txt'])):
            t.equal(listed('glob=' + glob), want, glob)
        t.equal(listed('glob=**/a.txt&depth=2'), ['.h/a.txt', 'a.txt', 'd/a.txt'])
        star = 'glob=' + '*a' * 200 + 'b'
        t.equal(listed(star), [], 'time that is not exponential')
        t.equal(s.get('/v1/sessions/%s/fs/tmp/a.txt?depth=1' % i).status, 400)
        t.equal(s.get('/v1/sessions/%s/fs/tmp/a.txt?glob=x' % i).status, 400)


main()
