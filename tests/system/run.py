#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The run verb as a user meets it: forms, streams, statuses, the session's world."""
import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import termios
import time

from harness import BINARY, SLOW, case, main, read_until, run, sh


# ---- forms ----

@case
def text(t):
    r = sh('echo hi; echo err >&2')
    t.equal((r.status, r.out, r.err), (0, b'hi\n', b'err\n'))


@case
def text_with_name_and_arguments(t):
    r = run(['-c', 'echo "$0:$1:$2:$#"', 'name', 'a b', 'c'])
    t.equal(r.out, b'name:a b:c:2\n')


@case
def script_of_the_host(t):
    p = t.write('s.sh', 'echo "$1-$2"; exit 7\n')
    r = run([p, 'x', 'y'])
    t.equal((r.status, r.out), (7, b'x-y\n'))


@case
def script_messages_carry_name_and_line(t):
    p = t.write('s.sh', 'true\nnosuchcommand\n')
    r = run([p])
    t.equal(r.status, 127)
    t.equal(r.err, ('%s: line 2: nosuchcommand: command not found\n' % p).encode())


@case
def hints_behind_messages(t):
    # For who reads the session; a script that looks at its messages finds bash's alone.
    r = run(['-c', 'gerp x; sl; nosuchcommand; nosuch(){ :; }; nosch'])
    t.equal(r.err.splitlines()[1::2][:2], [b'frontal-sandbox: near names are: grep', b'frontal-sandbox: near names are: ls'])
    t.ok(b'nosuchcommand: command not found\nbash: line 1: nosch: command not found\n'
         b'frontal-sandbox: near names are: nosuch\n' in r.err, r.err)
    r = run(['-c', 'x=$(gerp 2>&1); echo "$x"; gerp 2>f; cat f; make 2>&1 | cat'])
    t.equal((r.out.count(b'\n'), r.err), (3, b''))
    p = t.write('s.sh', 'for i in 1\r\ndo\r\necho $i\r\ndone\r\n')
    r = run([p])
    t.equal((r.status, r.out), (2, b''))
    t.ok(b"near unexpected token `$'do\\r''\n" in r.err and b'\nfrontal-sandbox: lines end in a carriage return' in r.err, r.err)
    p = t.write('t.sh', 'nosuch\r\n')
    r = run([p])
    t.ok(b": $'nosuch\\r': command not found\nfrontal-sandbox: lines end in a carriage return" in r.err, r.err)


@case
def script_that_is_not_there(t):
    r = run([t.path('none.sh')])
    t.equal(r.status, 127)
    t.ok(b'No such file or directory' in r.err, r)


@case
def script_for_another_interpreter(t):
    p = t.write('s.py', '#!/usr/bin/env python3\nprint(1)\n')
    r = run([p])
    t.equal(r.status, 126)
    t.ok(b"'python3'" in r.err, r)


@case
def script_that_is_a_program(t):
    for data in (b'\x7fELF\x02\x01\x01\x00\x00echo no\n', b'ab\x00c\necho no\n'):
        p = t.write('program', data, 0o755)
        r = run([p])
        t.equal((r.status, r.out), (126, b''), data)  # as bash
        t.ok(b': cannot execute binary file' in r.err, r)
    t.equal(run([t.write('s.sh', b'echo yes\n: \x00\n')]).out, b'yes\n')


@case
def text_after_the_end_of_options(t):
    t.equal(run(['-c', '--', 'echo "$0:$1"', 'name', '-x']).out, b'name:-x\n')
    t.equal(run(['-c', '--', '-x']).status, 127)  # as bash: a command that is called so
    r = run(['-c', '--'])
    t.equal(r.status, 125)
    t.ok(b"option '-c' requires an argument" in r.err, r)


@case
def sh_scripts_are_posix(t):
    p = t.write('s.sh', '#!/bin/sh\nset -o | grep posix\n')
    t.ok(b'on' in run([p]).out)


@case
def argv_without_shell_syntax(t):
    r = run(['--', 'echo', '$HOME', '*', ';', 'a  b'])
    t.equal(r.out, b'$HOME * ; a  b\n')


@case
def argv_that_is_not_there(t):
    t.equal(run(['--', 'nosuchcommand']).status, 127)


@case
def argv_that_is_a_directory(t):
    t.equal(run(['--', '/tmp']).status, 126)


@case
def script_on_standard_input(t):
    r = run([], stdin='echo one\nread x\nthe line\necho "got $x"\n')
    t.equal((r.status, r.out), (0, b'one\ngot the line\n'))


# ---- streams ----

@case
def no_input_is_dev_null(t):
    look = 'stat -L -c "%F %t,%T" /dev/stdin; readlink /proc/self/fd/0; cat'
    with open(os.devnull, 'rb') as null:
        p = subprocess.run([BINARY, 'run', '-c', look], stdin=null, stdout=subprocess.PIPE, check=True)
    t.equal(p.stdout, b'character special file 1,3\n/dev/null\n')
    t.ok(sh(look, stdin='x').out.startswith(b'fifo'), 'input is a pipe')


@case
def input_passes_as_bytes(t):
    data = bytes(range(256)) * 1000
    t.ok(sh('cat', stdin=data).out == data, 'bytes differ')


@case
def input_larger_than_every_buffer(t):
    data = b'0123456789abcdef' * 500000
    t.equal(sh('wc -c', stdin=data).out, b'8000000\n')


@case
def output_larger_than_every_buffer(t):
    r = sh('yes | head -c 20000000')
    t.equal(len(r.out), 20000000)


@case
def order_of_output_and_errors(t):
    p = subprocess.run([BINARY, 'run', '-c', 'for i in 1 2 3; do echo o$i; echo e$i >&2; done'], stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT)
    t.equal(p.stdout, b'o1\ne1\no2\ne2\no3\ne3\n')


@case
def input_is_not_read_unless_wanted(t):
    r = subprocess.run('(%s run -c true; cat)' % BINARY, shell=True, input=b'still here\n', stdout=subprocess.PIPE)
    t.equal(r.stdout, b'still here\n')


@case
def closed_standard_input_is_its_end(t):
    r = subprocess.run('%s run -c "cat; echo end" <&-' % BINARY, shell=True, stdout=subprocess.PIPE)
    t.equal(r.stdout, b'end\n')


@case
def reader_that_goes_away(t):
    r = subprocess.run(['bash', '-c', '%s run -c "yes; echo \\$? >&2" | head -1; echo ${PIPESTATUS[0]}' % BINARY],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=30 * SLOW)
    t.equal(r.stdout, b'y\n0\n')
    t.equal(r.stderr, b'141\n')


@case
def background_process_does_not_hold_the_result(t):
    start = time.monotonic()
    r = sh('sleep 100 & echo done')
    t.equal((r.status, r.out), (0, b'done\n'))
    t.ok(time.monotonic() - start < 50, 'waited for the background process')


# ---- statuses ----

@case
def statuses(t):
    for text, want in (('exit 0', 0), ('exit 255', 255), ('false', 1), ('nosuch', 127), ('/etc/passwd', 126),
                       ('kill -TERM $$', 143), ('kill -9 $$', 137), ('if', 2), ('exit 256', 0)):
        t.equal(sh(text).status, want, text)


@case
def wrong_options_are_125_with_a_remedy(t):
    for args in (['--nosuch'], ['--mount', 'x'], ['--mount', '/nonexistent:/m'], ['--limit', 'nosuch=1', '-c', 'true'],
                 ['--limit', 'memory=banana', '-c', 'true'], ['--timeout', '-1', '-c', 'true'], ['--env', 'x', '-c', 'true'],
                 ['--diff=x', '-c', 'true'], ['--apply', '-c', 'true'], ['--user', 'nobodyhere', '-c', 'true'],
                 ['--workdir', '/nonexistent', '-c', 'true'], ['--copy-in', 'a', '-c', 'true'],
                 ['--copy-in', '/nonexistent:/x', '-c', 'true'], ['--copy-out', 'x', '-c', 'true']):
        r = run(args)
        t.equal(r.status, 125, args)
        t.ok(r.err.startswith(b'frontal-sandbox: '), (args, r))


@case
def help_and_version(t):
    for args in (['--help'], ['run', '--help'], ['shell', '--help'], ['doctor', '--help']):
        p = subprocess.run([BINARY] + args, stdout=subprocess.PIPE)
        t.equal(p.returncode, 0)
        t.ok(p.stdout.startswith(b'Usage: frontal-sandbox'), args)
    p = subprocess.run([BINARY, '--version'], stdout=subprocess.PIPE)
    t.ok(p.stdout.startswith(b'frontal-sandbox '))
    t.equal(subprocess.run([BINARY], stderr=subprocess.PIPE).returncode, 125)
    t.equal(subprocess.run([BINARY, 'nosuch'], stderr=subprocess.PIPE).returncode, 125)


# ---- json ----

@case
def json_of_an_exit(t):
    r = run(['--json', '-c', 'echo out; echo err >&2; exit 3'])
    o = json.loads(r.out)
    t.equal(r.status, 3)
    t.equal([o[k] for k in ('status', 'exit_code', 'reason', 'tier', 'stdout', 'stderr')],
            ['exited', 3, None, 'isolate', 'out\n', 'err\n'])
    t.ok(o['root'].startswith('sha256:') and len(o['root']) == 71)
    t.ok(o['usage']['wall_us'] > 0 and o['usage']['output_bytes'] == 8, o['usage'])


@case
def json_tells_statuses_apart(t):
    o = json.loads(run(['--json', '-c', 'exit 124']).out)
    t.equal((o['status'], o['exit_code'], o['reason']), ('exited', 124, None))
    o = json.loads(run(['--json', '--timeout', '200ms', '-c', 'sleep 100']).out)
    t.equal((o['status'], o['exit_code'], o['reason']), ('killed', None, 'timeout'))
    o = json.loads(run(['--json', '-c', 'exit 137']).out)
    t.equal((o['status'], o['exit_code']), ('exited', 137))
    o = json.loads(run(['--json', '-c', 'kill -9 $$']).out)
    t.equal((o['status'], o['signal'], o['reason']), ('killed', 9, 'signal'))
    r = run(['--json', '--user', 'nobodyhere', '-c', 'true'])
    o = json.loads(r.out)
    t.equal((r.status, o['status'], o['error']['code']), (125, 'error', 'invalid_argument'))


@case
def json_of_what_never_ran(t):
    script = t.write('s.py', '#!/usr/bin/env python3\n')
    for words, status, code, errno, text in (
            (['--no-such', '-c', 'true'], 125, 'invalid_argument', 'EINVAL', "unrecognized option '--no-such'"),
            (['--s', 'x'], 125, 'invalid_argument', 'EINVAL', "option '--s' is ambiguous"),
            (['-q'], 125, 'invalid_argument', 'EINVAL', "invalid option -- 'q'"),
            (['--apply=x'], 125, 'invalid_argument', 'EINVAL', "option '--apply=x' doesn't allow an argument"),
            (['--mount'], 125, 'invalid_argument', 'EINVAL', "option '--mount' requires an argument"),
            (['--mount', t.path('none') + ':/x', '-c', 'true'], 125, 'invalid_argument', 'EINVAL', 'No such file or directory'),
            (['--durable', '-c', 'true'], 125, 'invalid_argument', 'EINVAL', '--durable'),
            (['--session', 'a b', '-c', 'true'], 125, 'invalid_argument', 'EINVAL', 'cannot be a name'),
            ([t.path('none.sh')], 127, 'not_found', 'ENOENT', 'No such file or directory'),
            ([t.dir], 126, 'invalid_argument', 'EISDIR', 'Is a directory'),
            ([script], 126, 'unsupported', 'ENOEXEC', "'python3'")):
        r = run(['--json'] + words, env=dict(os.environ, FRONTAL_SANDBOX_STATE=t.path('state')))
        t.equal((r.status, r.out.count(b'\n')), (status, 1), (words, r))
        o = json.loads(r.out)
        t.equal((o['status'], o['exit_code'], o['error']['code'], o['error']['errno']), ('error', None, code, errno), words)
        t.ok(text in o['error']['message'] and text.encode() in r.err, (words, r))
    # Where --json stands does not matter, and a file gets the object too.
    t.equal(json.loads(run(['--no-such', '--json', '-c', 'true']).out)['status'], 'error')
    t.equal(run(['--json=' + t.path('r.json'), t.path('none.sh')]).out, b'')
    t.equal(json.loads(t.read('r.json'))['error']['errno'], 'ENOENT')


@case
def json_to_a_file_lets_streams_pass(t):
    r = run(['--json=' + t.path('r.json'), '-c', 'echo hi'])
    t.equal(r.out, b'hi\n')
    t.equal(json.loads(t.read('r.json'))['exit_code'], 0)


@case
def json_of_bytes_that_are_not_text(t):
    o = json.loads(run(['--json', '-c', r"printf '\377\376'"]).out)
    t.equal((o['stdout'], o['stdout_encoding']), ('//4=', 'base64'))


@case
def root_names_the_state(t):
    def root(text):
        return json.loads(run(['--json', '-c', text]).out)['root']
    a = root('echo 1 > a; echo 2 > b')
    t.equal(a, root('echo 2 > b; echo 0 > a; echo 1 > a; touch c; rm c'))
    t.ok(a != root('echo 1 > a; echo 3 > b'), 'another content, the same root')
    t.ok(a != root('echo 1 > a; echo 2 > b; chmod 600 b'), 'another mode, the same root')


# ---- the session's world ----

@case
def default_user_and_place(t):
    r = sh('id -un; id -u; pwd; echo $HOME $USER $LANG $SHELL; echo $PATH; umask')
    t.equal(r.out, b'user\n1000\n/home/user\n/home/user user C.UTF-8 /bin/bash\n'
                   b'/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games\n0022\n')


@case
def no_host_environment(t):
    env = dict(os.environ, SECRET_OF_THE_HOST='x')
    t.ok(b'SECRET' not in sh('env; export -p; cat /proc/self/environ /proc/1/environ 2>/dev/null', env=env).out)


@case
def environment_given(t):
    r = run(['--env', 'A=1', '--env', 'B=x y', '--env', 'HOME=/tmp', '-c', 'echo $A "$B" $HOME; env | grep -c "^A="'])
    t.equal(r.out, b'1 x y /tmp\n1\n')


@case
def user_and_workdir(t):
    t.equal(sh('id -u; pwd', '--user', 'root', '--workdir', '/tmp').out, b'0\n/tmp\n')
    t.equal(sh('pwd; echo $PWD; env pwd', '--workdir', '/usr/bin//').out, b'/usr/bin\n' * 3)
    t.equal(sh('pwd; echo $PWD', '--workdir', '/').out, b'/\n/\n')
    t.equal(sh('id -u', '--user', '4321').out, b'4321\n')


@case
def user_is_not_root(t):
    r = sh('echo x > /etc/passwd; cat /root/x; mkdir /new')
    t.equal(r.err.count(b'Permission denied'), 3, r)


@case
def files_scripts_look_for(t):
    r = sh('. /etc/os-release; echo $ID; grep -c . /etc/passwd >/dev/null && test -c /dev/null -a -d /tmp -a -r /proc/self/status && echo ok;'
           'echo x > /dev/null; head -c 4 /dev/zero | wc -c; head -c 4 /dev/urandom | wc -c; echo to-err > /dev/stderr;'
           'echo in | cat /dev/stdin; cat < /dev/fd/0 < /etc/hostname; test -w /tmp && stat -c %a /tmp')
    t.equal(r.out, b'debian\nok\n4\n4\nin\nsandbox\n1777\n')
    t.equal(r.err, b'to-err\n')


@case
def host_files_are_not_there(t):
    p = t.write('secret', 'x')
    t.equal(sh('cat %s; ls %s' % (p, t.dir)).out, b'')
    t.equal(sh('cat /etc/shadow /etc/hostname').out, b'sandbox\n')


# ---- signals ----

def interrupted(text, sig, args=()):
    p = subprocess.Popen([BINARY, 'run'] + list(args) + ['-c', text], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    p.stdout.readline()
    p.send_signal(sig)
    out, err = p.communicate(timeout=30 * SLOW)
    return p.returncode, out, err


@case
def interrupt_reaches_the_whole_command(t):
    t.equal(interrupted('echo ready; sleep 1000 | cat; echo not here', signal.SIGINT)[:2], (130, b''))
    t.equal(interrupted('echo ready; while :; do :; done', signal.SIGTERM)[:2], (143, b''))


@case
def interrupt_can_be_trapped(t):
    t.equal(interrupted('trap "echo caught; exit 9" INT; echo ready; sleep 1000', signal.SIGINT)[:2], (9, b'caught\n'))


@case
def worker_ends_with_its_driver(t):
    p = subprocess.Popen([BINARY, 'run', '-c', 'echo ready; while :; do :; done'], stdout=subprocess.PIPE)
    p.stdout.readline()
    kids = subprocess.run(['ps', '-o', 'pid=', '--ppid', str(p.pid)], stdout=subprocess.PIPE).stdout.split()
    t.ok(len(kids) == 1, kids)
    p.kill()
    p.wait()
    for _ in range(100):
        if not os.path.exists('/proc/%d' % int(kids[0])):
            return
        time.sleep(0.05)
    t.fail('the worker is still there')


# ---- a terminal ----

def set_size(fd, rows, cols):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack('HHHH', rows, cols, 0, 0))


def on_terminal(argv, resize=None):
    """What a program prints on a terminal of 33 by 77; when it prints "ready", the terminal becomes @resize."""
    fd, other = pty.openpty()
    set_size(fd, 33, 77)
    env = {k: v for k, v in os.environ.items() if k not in ('COLUMNS', 'LINES')}
    p = subprocess.Popen(argv, stdin=other, stdout=other, stderr=other, env=env, start_new_session=True,
                         preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
    os.close(other)
    out = b''
    try:
        while True:
            out += os.read(fd, 4096)
            if resize and b'ready' in out:
                set_size(fd, *resize)
                resize = None
    except OSError:  # the last one has closed the terminal
        pass
    p.wait(timeout=30 * SLOW)
    os.close(fd)
    return out.replace(b'\r', b'')


@case
def window_size_as_in_bash(t):
    for text in ('echo $COLUMNS; /bin/true; echo $COLUMNS $LINES', 'x=$(/bin/true; echo a$COLUMNS); echo $x $COLUMNS',
                 '(/bin/true; echo a$COLUMNS); echo $COLUMNS', 'true | true; echo $COLUMNS', '/bin/true & wait; echo $COLUMNS',
                 'shopt -u checkwinsize; /bin/true; echo $COLUMNS', 'exec 2> /dev/null; /bin/true; echo $COLUMNS',
                 'readonly COLUMNS=5; /bin/true; echo $COLUMNS $LINES', 'f() { local COLUMNS=9; /bin/true; echo $COLUMNS; }; f; echo $COLUMNS'):
        t.equal(on_terminal([BINARY, 'run', '-c', text]), on_terminal(['bash', '-c', text]), text)
    names = 'mkdir d; cd d; for i in {1..30}; do : > name-$i; done; ls'
    t.equal(on_terminal([BINARY, 'run', '-c', names]), on_terminal(['bash', '-c', 'cd %s; %s' % (t.dir, names)]))


@case
def a_resize_reaches_the_session(t):
    text = 'trap "echo winch" WINCH; echo ready; until [[ $COLUMNS == 100 ]]; do sleep 0.1; done; echo $LINES; exit'
    t.equal(on_terminal([BINARY, 'run', '-c', text], (40, 100)), b'ready\nwinch\n40\n')


@case
def killed_worker_is_lost_and_said_so(t):
    p = subprocess.Popen([BINARY, 'run', '--json', '-c', 'while :; do :; done'], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    kids = []
    while not kids:
        time.sleep(0.02)
        kids = subprocess.run(['ps', '-o', 'pid=', '--ppid', str(p.pid)], stdout=subprocess.PIPE).stdout.split()
    time.sleep(0.1)
    os.kill(int(kids[0]), signal.SIGKILL)
    out, err = p.communicate(timeout=30 * SLOW)
    o = json.loads(out)
    t.equal((p.returncode, o['status'], o['exit_code'], o['root']), (125, 'lost', None, None))
    t.ok(b'ended unexpectedly' in err, err)


# ---- a prompt ----

@case
def signals_reach_children_of_a_prompt(t):
    """The shell at a prompt ignores some signals; what it starts does not (bash does the same, asked by hand)."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execve(BINARY, [BINARY, 'shell'], dict(os.environ, XDG_STATE_HOME=t.path('state'), TERM='dumb'))
    read_until(fd, b'$ ')

    def type_line(text, key=None):
        os.write(fd, text + b'\n')
        if key:
            read_until(fd, b'begun\r\n')
            os.write(fd, key)
        return read_until(fd, b'$ ')

    for signal_name, status in ((b'TERM', 143), (b'QUIT', 131), (b'INT', 130)):
        type_line(b'sleep 1000 &')
        said = type_line(b'kill -' + signal_name + b' %%; wait %%; echo "it is $?"')
        t.ok(b'it is %d\r\n' % status in said, said)
    said = type_line(b'(trap; kill -TERM $BASHPID; echo not ended); echo "it is $?"')
    t.ok(b'it is 143\r\n' in said and b'not ended\r\n' not in said, said)
    type_line(b'echo begun; sleep 1000', b'\x03')
    t.ok(b'it is 130\r\n' in type_line(b'echo "it is $?"'))
    type_line(b'echo begun; sleep 1000', b'\x1a')
    t.ok(b'Stopped' in type_line(b'jobs'))
    type_line(b'kill %%; fg 2>&1 | cat')
    # The shell itself is not ended by any of them.
    said = type_line(b'kill -TERM $$; kill -QUIT $$; echo "here still"')
    t.ok(b'here still\r\n' in said, said)
    os.write(fd, b'exit 5\n')
    read_until(fd, None)
    t.equal(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 5)
    os.close(fd)


@case
def history_lies_in_the_state_directory(t):
    # Of --state, else of the environment.
    for words, where in ((['--session', 's', '--state', t.path('one')], 'one'), ([], 'two')):
        pid, fd = pty.fork()
        if pid == 0:
            os.execve(BINARY, [BINARY, 'shell'] + words, dict(os.environ, FRONTAL_SANDBOX_STATE=t.path('two'), TERM='dumb'))
        for line in (b'echo typed in ' + where.encode(), b'exit'):
            read_until(fd, b'$ ')
            os.write(fd, line + b'\n')
        read_until(fd, None)
        os.waitpid(pid, 0)
        os.close(fd)
        t.ok('typed\\040in\\040' + where in t.read(where + '/history').decode(), t.read(where + '/history'))


if __name__ == '__main__':
    main()
