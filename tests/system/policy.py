#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Policies: what they refuse in run, in sessions that are kept, and what explain says of it."""
import json
import os

from harness import case, main, run, sh


def policy(t, text):
    path = t.path('policy')
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text)
    return path


def explain(t, text, *ask):
    return run(['explain', '--policy', policy(t, text), *ask], verb='policy')


@case
def a_denied_command_says_which_rule_and_what_would_allow_it(t):
    p = policy(t, 'command deny wc\n')
    r = sh('echo a | wc -l; echo $?; ls /etc/passwd', '--policy', p)
    t.equal(r.out, b'126\n/etc/passwd\n')
    t.ok(b'the policy of the session refuses wc (command deny wc); it would be allowed by: remove command deny wc' in r.err, r)
    o = json.loads(run(['--json', '--policy', p, '-c', 'wc']).out)
    t.equal(o['exit_code'], 126)
    t.equal(o['decisions'], [{'command': 'wc', 'engine': 'refused', 'reason': 'command deny wc'}])


@case
def other_names_and_ways_of_the_same_program(t):
    p = policy(t, 'command deny wc\n')
    r = sh('ln -s /usr/bin/wc x; ./x -l < /etc/passwd; cp /usr/bin/wc y; ./y -l < /etc/passwd; '
           'ls | xargs wc; find . -name x -exec wc {} +; env wc; command wc; exec wc', '--policy', p)
    t.equal((r.out, r.status), (b'', 126), r)
    t.ok(r.err.count(b'Operation not permitted') >= 7, r.err)


@case
def only_what_is_allowed(t):
    p = policy(t, '# a few\ncommand allow ls\ncommand allow wc\n')
    r = sh('ls /etc/passwd | wc -l; type cd; cat /etc/passwd; echo $?', '--policy', p)
    t.equal(r.out, b'1\ncd is a shell builtin\n126\n')
    t.ok(b'(no rule grants it); it would be allowed by: add command allow cat' in r.err, r.err)


@case
def mounts_limits_and_tiers(t):
    os.makedirs(t.path('work/in'))
    p = policy(t, 'mount cow %s\nlimit memory 64M\n' % t.path('work'))
    t.equal(sh('ls /w', '--policy', p, '--mount', t.path('work') + ':/w').out, b'in\n')
    t.equal(sh('ls /w | wc -l', '--policy', p, '--mount', t.path('work/in') + ':/w:ro').out, b'0\n')
    for options, says in ((['--mount', t.path('.') + ':/w'], b'it would by: add mount cow /'),
                          (['--mount', '/etc:/w:ro'], b'it would by: add mount ro /etc'),
                          (['--limit', 'memory=65M'], b'it would by: add limit memory 68157440')):
        r = sh('true', '--policy', p, *options)
        t.equal((r.status, r.out), (125, b''), options)
        t.ok(says in r.err, r.err)
    # What nobody asked for is lowered.
    r = run(['--json', '--policy', p, '-c', 'x=x; while :; do x=$x$x; done'])
    t.equal(json.loads(r.out)['reason'], 'memory')
    for text, says in (('tier none', b"'tier isolate'"), ('verb fork', b"'verb exec'")):
        r = sh('true', '--policy', policy(t, text))
        t.equal(r.status, 125)
        t.ok(says in r.err, r.err)


@case
def a_link_leads_out_of_what_may_be_mounted(t):
    os.makedirs(t.path('work'))
    os.symlink('/etc', t.path('work/out'))
    r = sh('ls /w', '--policy', policy(t, 'mount ro %s' % t.path('work')), '--mount', t.path('work/out') + ':/w:ro')
    t.equal(r.status, 125)
    t.ok(b'add mount ro /etc' in r.err, r.err)


@case
def a_session_keeps_its_policy(t):
    keep = ['--state', t.path('state'), '--session', 's']
    p = policy(t, 'command deny wc\nlimit memory 64M\n')
    t.equal(sh('wc; echo $?', *keep, '--policy', p).out, b'126\n')
    t.equal(sh('wc; echo $?', *keep).out, b'126\n')
    t.equal(sh('true', *keep, '--policy', p).status, 125)
    t.equal(sh('true', *keep, '--limit', 'memory=65M').status, 125)
    t.equal(sh('true', *keep, '--limit', 'memory=63M').status, 0)
    t.equal(run(['s', 'other', '--state', t.path('state')], verb='fork').status, 0)
    t.equal(sh('wc; echo $?', '--state', t.path('state'), '--session', 'other').out, b'126\n')
    r = run(['s', '--state', t.path('state')], verb='replay')
    t.equal(r.status, 0, r)
    t.ok(b'3 equal, 0 different' in r.out, r.out)


@case
def json_is_the_same(t):
    text = run(['show', '--json'], verb='policy').out
    o = json.loads(text)
    o['commands']['deny'] = ['wc']
    o['limits']['memory'] = '64M'
    p = policy(t, json.dumps(o))
    t.equal(sh('wc; echo $?', '--policy', p).out, b'126\n')
    again = json.loads(run(['show', '--json', '--policy', p], verb='policy').out)
    t.equal(again['commands'], {'allow': ['*'], 'deny': ['wc']})
    t.equal(again['limits']['memory'], 64 << 20)
    plain = policy(t, run(['show', '--policy', p], verb='policy').out.decode())
    t.equal(json.loads(run(['show', '--json', '--policy', plain], verb='policy').out), again)


@case
def what_is_wrong_is_named(t):
    for text, says in (('command deny /bin/ls', b'line 1: a program is named without its directory'),
                       ('verb exec\n\nnetwork allow x:0', b'line 3: \'x:0\' has ports'),
                       ('{"commands":{"deny":["a","b c"]}}', b'commands.deny[1]: one program a rule'),
                       ('{"commands":', b'line 1, column'), ('{"verb":[]}', b'verb: there is no such field'),
                       ('# ' + 'x' * (256 << 10), b'at most 262144 bytes')):
        p = policy(t, text)
        for r in (run(['check', '--policy', p], verb='policy'), sh('true', '--policy', p)):
            t.equal((r.status, r.out), (125, b''), text[:40])
            t.ok(says in r.err, r.err)
    t.equal(run(['check', '--policy', '-'], b'command deny ls\n', verb='policy').status, 0)
    for args in ([], ['shown'], ['show', 'x'], ['explain'], ['explain', 'ls'], ['--nothing'], ['show', '--policy', t.path('none')]):
        r = run(args, verb='policy')
        t.equal((r.status, r.out), (125, b''), args)
        t.ok(r.err, args)


@case
def explains(t):
    r = explain(t, 'command deny git', 'command', 'git')
    t.equal((r.status, r.out), (1, b'command git: refused\n  by: command deny git\n  to grant it: remove command deny git\n'))
    r = explain(t, 'network allow *.example.com:443', 'network', 'a.example.com:443')
    t.equal(r.status, 0)
    t.ok(b'this version has no network' in r.out, r.out)
    r = explain(t, '', '--json', 'mount', 'cow', '/srv/"x"')
    o = json.loads(r.out)
    t.equal((o['allowed'], o['change'], r.status), (False, ['add mount cow /srv/"x"'], 1))


@case
def a_policy_that_cannot_be_read(t):
    p = policy(t, '')
    os.chmod(p, 0)
    if os.access(p, os.R_OK):
        os.unlink(p)
    r = sh('true', '--policy', p)
    t.equal((r.status, r.out), (125, b''), r)


main()
