#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The userland's programs in a session: alone, together with the C commands, and where they meet limits. Where there is no
userland, what is tested is that everything else says so."""
import json
import os
import time

from harness import case, main, run, sh

BIN = '/usr/lib/frontal/bin'
TOOLS = run(['--json'], verb='tools')
HAVE = {t['name']: t for t in map(json.loads, TOOLS.out.splitlines()) if 'userland' in t['depths']}


def needs(*names):
    """A case that needs these tools, and is left out without them."""
    def wrap(fn):
        return case(fn) if all(n in HAVE for n in names) else fn
    return wrap


def prints(t, text, want, *options, status=0):
    r = sh(text, *options)
    t.equal((r.status, r.out, r.err), (status, want.encode(), b''), text)


@case
def tools_are_listed(t):
    t.equal(TOOLS.status, 0)
    rows = [json.loads(line) for line in TOOLS.out.splitlines()]
    t.ok({'cut', 'sort', 'bash'} <= {r['name'] for r in rows})
    t.ok(all(r['version'] and r['licence'] and r['source'] for r in rows), rows)
    t.equal([r['name'] for r in rows], sorted(r['name'] for r in rows))
    r = run([], verb='tools')
    t.ok(b'COMMAND' in r.out)
    t.equal(b'not built' in r.err, not HAVE)
    t.equal(run(['--nothing'], verb='tools').status, 125)


@case
def options_are_listed(t):
    rows = [json.loads(line) for line in run(['--options', '--json'], verb='tools').out.splitlines()]
    names = [r['command'] for r in rows]
    t.equal(names, sorted(names))
    t.ok(any(r['command'] == 'cat' and r['option'] == '-n, --number' and r['by'] == 'builtin' for r in rows))
    t.ok(any(r['command'] == 'find' and r['option'] == '-name' for r in rows))
    t.ok(any(r['command'] == 'docker' and r['by'] == 'machine' and r['why'] for r in rows))
    for r in rows if HAVE else []:
        if r['option'] and r['by'] != 'builtin':
            t.equal(r['by'], 'userland' if r['command'] in HAVE else 'nobody', r['command'])
    t.equal(run(['--options', '--nothing'], verb='tools').status, 125)


@case
def each_tool_is_known_when_it_is_not_there(t):
    env = dict(os.environ, FRONTAL_USERLAND=t.path('none'))
    only = [n for n, row in HAVE.items() if row['depths'] == ['userland'] and n != 'python3-plain']
    r = sh(' '.join(f'{n};' for n in only), env=env)
    t.equal(r.err.count(b'is a program of the userland'), len(only), r.err)


@case
def without_a_userland(t):
    env = dict(os.environ, FRONTAL_USERLAND=t.path('none'))
    t.equal(sh('echo a:b | cut -d: -f2', env=env).out, b'b\n')
    r = sh('git --version', env=env)
    t.equal((r.status, r.out), (127, b''))
    t.ok(b'git: command not found\nfrontal-sandbox: git is a program of the userland' in r.err, r.err)
    t.ok(b'userland/build' in r.err)
    t.equal(sh('nosuch', env=env).err.count(b'\n'), 1)
    r = sh('make', env=env)
    t.ok(b'make: command not found\nfrontal-sandbox: make needs a whole Linux machine' in r.err, r.err)
    r = run([], verb='tools', env=env)
    t.equal(r.status, 0)
    t.ok(b'userland/build' in r.err)


@case
def another_home_has_the_same_userland(t):
    env = {k: v for k, v in os.environ.items() if k not in ('FRONTAL_USERLAND', 'XDG_CACHE_HOME')}
    same = run(['--json'], verb='tools', env=env)
    t.equal(run(['--json'], verb='tools', env=dict(env, HOME=t.path('none'))).out, same.out)
    del env['HOME']
    t.equal(run(['--json'], verb='tools', env=env).out, same.out)


@needs('gawk')
def gawk_has_its_extensions(t):
    prints(t, 'gawk \'@load "ordchr"; BEGIN { print ord("A"), chr(66) }\'', '65 B\n')
    prints(t, "echo a > f; gawk -i inplace '{ print $0 \"x\" }' f; cat f", 'ax\n')
    prints(t, 'gawk \'@load "filefuncs"; BEGIN { chdir("/usr"); print stat("bin", s), s["type"] }\'', '0 directory\n')
    t.equal(sh('gawk -l nosuch "BEGIN {}"').status, 2)


@needs('diff3', 'sdiff')
def diff3_and_sdiff_run_diff(t):
    files = 'printf "1\\n2\\n3\\n" > a; printf "1\\nx\\n3\\n" > b; printf "1\\n2\\n3\\n4\\n" > c; '
    prints(t, files + 'diff3 -m b a c', '1\nx\n3\n4\n')
    t.equal(sh(files + 'sdiff -s a b').out.split(), [b'2', b'|', b'x'])


@needs('git')
def git_init_add_commit_log(t):
    r = sh('git init -q p && cd p && echo hi > a && git add a && git commit -qm x && git log --oneline')
    t.equal((r.status, r.err), (0, b''))
    t.ok(r.out.endswith(b' x\n') and len(r.out) == 10, r.out)


@needs('git')
def git_branches_and_merges(t):
    r = sh('''export HOME=/tmp; git config --global user.name a; git config --global user.email a@b
        git config --global init.defaultBranch main; git init -q p; cd p
        seq 9 > f; git add f; git commit -qm one; git checkout -qb side; sed -i s/2/two/ f; git commit -qam two
        git checkout -q main; sed -i s/8/eight/ f; git commit -qam three; git merge -q --no-edit side; cat f; echo dirty >> f
        git stash -q; git status --short; git stash pop -q; git status --short; git checkout -q f; git gc -q; git fsck --no-dangling
        cd ..; git clone -q p q; cd q; git log --oneline | wc -l''')
    t.equal((r.status, r.out), (0, b'Auto-merging f\n1\ntwo\n3\n4\n5\n6\n7\neight\n9\n M f\n4\n'), r.err)


@needs('python3', 'sqlite3', 'jq')
def python_sqlite_jq(t):
    prints(t, 'python3 -c "import json,re,sqlite3; print(json.dumps({1:2}))"; sqlite3 :memory: "select 1"; '
           'jq -cn "[1,2]|add"', '{"1": 2}\n1\n3\n')


@needs('jq')
def jq_has_its_builtins_and_modules(t):
    # The first program of a jq is bound to definitions that were parsed when it was built; those of modules are not.
    prints(t, '''mkdir m; echo 'def f: map(.+1); def g: f|add;' > m/m.jq; echo '[5]' > m/d.json; echo 'def own: 9;' > .jq
        jq -L m -cn 'import "m" as m; import "d" as $d; [1,2]|m::g, $d, own'; jq -L m -n 'include "m"; [1,2]|g'
        jq -cn '[limit(3;repeat(1))], ("aXb"|[match("x";"i").offset]), ([3,1,2]|sort_by(-.)), (try error("e") catch .)'
        echo '{"a":[1,{"b":2}]}' > j; jq -c 'paths' j; jq -n 'builtins|length' ''',
           '5\n[[5]]\n9\n5\n[1,1,1]\n[1]\n[3,2,1]\n"e"\n["a"]\n["a",0]\n["a",1]\n["a",1,"b"]\n217\n')
    r = sh("jq -n 'nosuch'")
    t.ok(r.status == 3 and b'nosuch/0 is not defined' in r.err, r)


@needs('python3')
def python_runs_programs(t):
    prints(t, '''python3 - <<'END'
import subprocess
print(subprocess.run(["cut", "-d:", "-f2"], input="a:b", text=True, capture_output=True).stdout)
print(subprocess.run("exit 3", shell=True).returncode)
END''', 'b\n\n3\n')
    r = sh('python3 -c "import sys; sys.exit(5)"')
    t.equal(r.status, 5)
    r = sh('python3 -c "1/0"')
    t.ok(r.status == 1 and b'ZeroDivisionError' in r.err, r)
    r = sh('python3 -c "import os; os.fork()"')
    t.ok(r.status == 1 and b'OSError' in r.err, r)


@needs('sed', 'tar', 'gzip')
def tools_and_commands_together(t):
    prints(t, '''mkdir s; for i in 1 2 3; do echo "foo $i" > s/$i.c; done; echo bar > s/4.c
        find . -name "*.c" -exec grep -l foo {} + | sort | xargs sed -i s/foo/bar/g; cat s/*.c
        tar czf - s | gzip -t && tar czf - s | tar tzf - | sort''',
           'bar 1\nbar 2\nbar 3\nbar\ns/\ns/1.c\ns/2.c\ns/3.c\ns/4.c\n')


@needs('sort', 'cp')
def what_a_command_refuses_goes_to_the_tool(t):
    prints(t, 'echo 1 > a; echo 2 > b; cp -b a b; cat b b~', '1\n2\n')
    r = run(['--json', '-c', 'echo a | sort --debug; gawk 1 /dev/null; cut -c1 /dev/null'])
    o = json.loads(r.out)
    t.equal([(d['command'], d['engine'], d.get('reason')) for d in o['decisions']][:1],
            [('sort', 'wasm', "option '--debug' is not implemented here")])
    r = sh('type -a sort')
    t.ok(r.out.startswith(b'sort is /usr/bin/sort (C command, else userland)\n'), r.out)


@needs('echo', 'cat', 'true', 'false')
def status_arguments_environment_and_streams(t):
    prints(t, BIN + '/echo a "b c" ""', 'a b c \n')
    prints(t, BIN + '/false', '', status=1)
    prints(t, 'X=1 %s/printenv X; echo in | %s/cat; %s/cat < /dev/null' % (BIN, BIN, BIN), '1\nin\n')
    prints(t, 'cd /tmp; %s/pwd; (cd /; %s/pwd)' % (BIN, BIN), '/tmp\n/\n')
    r = sh('%s/cat nothing; echo $?' % BIN)
    t.equal((r.out, r.err), (b'1\n', b'cat: nothing: No such file or directory\n'))
    prints(t, '%s/yes | head -n 2; echo ${PIPESTATUS[*]}' % BIN, 'y\ny\n141 0\n')


@needs('cat', 'sort', 'tr', 'wc')
def pipelines_of_both_kinds(t):
    prints(t, 'seq 200000 | %s/cat | sort -r | %s/sort -n | tr 0-9 a-j | %s/tr a-j 0-9 | %s/cat | cat | %s/wc -l'
           % ((BIN,) * 5), '200000\n')


@needs('gawk')
def endless_loops_end(t):
    begin = time.monotonic()
    r = run(['--json', '--timeout', '300ms', '-c', "gawk 'BEGIN { while (1); }'"])
    o = json.loads(r.out)
    t.equal((r.status, o['status'], o['reason']), (124, 'killed', 'timeout'))
    t.ok(time.monotonic() - begin < 30)
    r = run(['--json', '--limit', 'cpu=200ms', '-c', "gawk 'BEGIN { while (1); }'"])
    t.equal(json.loads(r.out)['reason'], 'cpu')


@needs('python3')
def memory_has_a_limit(t):
    r = run(['--limit', 'memory=128M', '-c', "python3 -c 'x = bytearray(1 << 30)'"])
    t.ok(r.status != 0 and (b'MemoryError' in r.err or r.status == 137), r)
    prints(t, "python3 -c 'print(len(bytearray(50 << 20)))'", '52428800\n')


@needs('echo')
def the_layer_is_read_only(t):
    r = sh('echo x > %s/echo; rm -f %s/echo; %s/echo still' % (BIN, BIN, BIN),
           '--user', 'root')
    t.equal((r.status, r.out), (0, b'still\n'))
    t.ok(b'Permission denied' in r.err and b'not permitted' in r.err, r)


@needs('date')
def sessions_that_are_kept_replay(t):
    env = dict(os.environ, FRONTAL_SANDBOX_STATE=t.path('state'))
    for text in ("%s/date +%%N; %s/shuf -i 1-1000 | %s/sort -n | tail -n 1" % (BIN, BIN, BIN), 'cat /proc/uptime | %s/wc -c' % BIN):
        t.equal(run(['--session', 's', '-c', text], env=env).status, 0)
    r = run(['s', '--json'], verb='replay', env=env)
    t.equal(r.status, 0, r)


@needs('python3')
def many_programs_sleep_at_once(t):
    # More than a session has slots for by default (256), which a higher limit of processes brings.
    r = run(['--limit', 'processes=700', '--limit', 'memory=8G', '-c',
             'for i in {1..300}; do { python3 -c "import time; time.sleep(3)" && echo slept; } & done; wait'])
    t.equal((r.status, r.out.count(b'slept'), r.err), (0, 300, b''))


if __name__ == '__main__':
    main()
