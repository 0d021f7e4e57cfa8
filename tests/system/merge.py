#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""diff and merge: what differs between states of sessions, and what a fork changed done to its origin."""
import json

from harness import case, main, run


class Kept:
    """Sessions in a state directory of the case."""

    def __init__(self, t):
        self.state = ['--state', t.path('state')]

    def sh(self, session, text, *options):
        return run(self.state + ['--session', session] + list(options) + ['-c', text])

    def verb(self, verb, *args):
        return run(self.state + list(args), verb=verb)

    def fork(self, t, origin, name):
        t.equal(self.verb('fork', origin, name).status, 0)


def two(t):
    """A session `build` with a few files, and its fork `try`."""
    k = Kept(t)
    t.equal(k.sh('build', 'mkdir p empty; seq 1 9 > p/n; echo a > a; ln -s a l').status, 0)
    k.fork(t, 'build', 'try')
    return k


@case
def diff_of_moments(t):
    k = two(t)
    r = k.verb('diff', 'build', 'try')
    t.equal((r.status, r.out), (0, b''))
    r = k.verb('diff', 'build@0', 'build')
    t.equal((r.status, r.out), (1, b'A /home/user/a\nA /home/user/empty/\nA /home/user/l\nA /home/user/p/\n'
                                   b'A /home/user/p/n\n'))
    k.sh('try', 'rm a; echo ten >> p/n; chmod 700 empty; ln -sf b l')
    r = k.verb('diff', 'build', 'try')
    t.equal((r.status, r.out), (1, b'D /home/user/a\nm /home/user/empty/ (mode 0755 -> 0700)\nM /home/user/l\n'
                                   b'M /home/user/p/n\n'))
    r = k.verb('diff', 'try', 'build', '/home/user/p', '/home/user/a')
    t.equal((r.status, r.out), (1, b'A /home/user/a\nM /home/user/p/n\n'))
    r = k.verb('diff', 'try', 'build', '/home/user/pp')
    t.equal((r.status, r.out), (0, b''))


@case
def diff_as_text_and_json(t):
    k = two(t)
    k.sh('try', 'echo ten >> p/n; printf "\\0" > a')
    r = k.verb('diff', '--text', 'build', 'try')
    t.equal((r.status, r.out), (1, b'Binary or large files a/home/user/a and b/home/user/a differ\n'
                                   b'--- a/home/user/p/n\n+++ b/home/user/p/n\n@@ -7,3 +7,4 @@\n 7\n 8\n 9\n+ten\n'))
    r = k.verb('diff', '--json', '--text', 'build', 'try', '/home/user/p')
    o = json.loads(r.out)
    t.equal((r.status, o['kind'], o['path'], o['size_before'], o['size_after']),
            (1, 'modified', '/home/user/p/n', 18, 22))
    t.ok('+ten\n' in o['diff'])


@case
def diff_of_snapshots(t):
    k = two(t)
    t.equal(k.verb('snapshot', '--name', 'clean', 'build').status, 0)
    k.sh('build', 'echo b > b')
    r = k.verb('diff', 'build:clean', 'build')
    t.equal((r.status, r.out), (1, b'A /home/user/b\n'))


@case
def diff_refuses(t):
    k = two(t)
    for args in [['build'], ['build', 'nosuch'], ['build', 'try', 'relative'], ['build@99', 'try'],
                 ['--no', 'build', 'try']]:
        r = k.verb('diff', *args)
        t.equal((r.status, r.out), (125, b''), repr(args))
        t.ok(r.err.startswith(b'frontal-sandbox: '), r.err)


@case
def merges_what_both_changed(t):
    k = two(t)
    k.sh('try', '(echo zero; cat p/n) > p/t; mv p/t p/n; echo new > p/new; rmdir empty')
    k.sh('build', 'echo ten >> p/n; echo b > b; x=1')
    want = b'D /home/user/empty/\nM /home/user/p/n\nA /home/user/p/new\n'
    r = k.verb('merge', '--dry-run', 'try', 'build')
    t.equal((r.status, r.out), (0, want))
    t.equal(k.sh('build', 'cat p/n').out, b'1\n2\n3\n4\n5\n6\n7\n8\n9\nten\n')
    r = k.verb('merge', 'try', 'build')
    t.equal(r.status, 0, r.err)
    t.ok(r.out.startswith(want + b'build is at @'), r.out)
    r = k.sh('build', 'cat p/n p/new b; ls -d empty')
    t.equal(r.out, b'zero\n1\n2\n3\n4\n5\n6\n7\n8\n9\nten\nnew\nb\n')
    # The fork is as it was, and a second merge finds nothing.
    t.equal(k.sh('try', 'cat p/n').out, b'zero\n1\n2\n3\n4\n5\n6\n7\n8\n9\n')
    r = k.verb('merge', '--json', 'try', 'build')
    o = json.loads(r.out)
    t.equal((r.status, o['merged'], o['changes'], o['conflicts']), (0, True, [], []))


@case
def a_conflict_changes_nothing(t):
    k = two(t)
    k.sh('try', 'echo try > a; echo new > new; echo 10 >> p/n')
    k.sh('build', 'echo build > a; rm -r p; echo x > p')
    before = json.loads(k.verb('merge', '--dry-run', '--json', 'try', 'build').out)
    r = k.verb('merge', 'try', 'build')
    t.equal(r.status, 1)
    t.equal([line.split(b':')[0] for line in r.out.splitlines()],
            [b'C /home/user/a', b'C /home/user/p', b'C /home/user/p/n'])
    t.ok(b'3 conflicts: nothing was merged' in r.err)
    t.equal([c['path'] for c in before['conflicts']], ['/home/user/a', '/home/user/p', '/home/user/p/n'])
    t.equal(k.sh('build', 'cat a p; ls new 2> /dev/null').out, b'build\nx\n')


@case
def merge_is_an_event(t):
    k = two(t)
    k.sh('try', 'echo new > new')
    r = k.verb('merge', '--json', 'try', 'build')
    o = json.loads(r.out)
    events = [json.loads(line) for line in k.verb('trace', '--json', 'build').out.splitlines()]
    e = [e for e in events if e['type'] == 'restore'][-1]
    t.equal((e['seq'], e['from']), (o['seq'], 'merge ' + o['from']))
    t.equal(k.verb('trace', '--verify', 'build').status, 0)
    # It is taken back as any state.
    t.equal(k.verb('restore', 'build', '@%d' % (o['seq'] - 1)).status, 0)
    t.equal(k.sh('build', 'ls').out, b'a\nempty\nl\np\n')


@case
def merge_refuses(t):
    k = two(t)
    for args in [['try'], ['try', 'build@0'], ['build', 'build'], ['nosuch', 'build'], ['try', 'nosuch']]:
        r = k.verb('merge', *args)
        t.equal((r.status, r.out), (125, b''), repr(args))
        t.ok(r.err.startswith(b'frontal-sandbox: '), r.err)


main()
