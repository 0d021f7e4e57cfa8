# SPDX-License-Identifier: Apache-2.0
"""Runs one script natively and in the sandbox, in trees that are alike and have one name. For tests/differ and tests/pipelines."""
import os
import re
import resource
import shutil
import signal
import subprocess
import time

import differ_tree

LIMIT = 300             # seconds of one run: who is not done then is stuck
OUTPUT = 32 << 20       # bytes of output, and
PROCESSOR = 5           # seconds of a native process: a script that wants more than these is not compared
VARIANTS = 8            # trees
NOBODY = 65534
ROOT = os.getuid() == 0
REFUSED = (b'is not implemented here', b'is a program of the userland')


class Outcome:
    def __init__(self, status, out, err, tree):
        self.status, self.out, self.err, self.tree = status, out, err, tree


def become_native():
    """In the child before bash: default signals, an ordinary user, and limits against what a script may do by accident."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_FSIZE, (OUTPUT, OUTPUT))
    resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR, PROCESSOR + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Place:
    """One worker's directories: the name both sides see, and where the sandbox's tree is copied out to."""

    def __init__(self, base, number, options):
        # Deep, so that a "cd .." too many stays inside.
        self.top = os.path.join(base, f'w{number}')
        self.dir = os.path.join(self.top, 'a', 'b', 'work')
        self.out = os.path.join(self.top, 'out')
        self.base, self.options = base, options
        os.makedirs(os.path.dirname(self.dir))
        if ROOT:
            for path in (os.path.dirname(self.dir), os.path.dirname(os.path.dirname(self.dir))):
                os.chown(path, NOBODY, NOBODY)

    def variant(self, index):
        return os.path.join(self.base, 'trees', str(index % VARIANTS))

    def env(self, script, path):
        # The locale belongs to the script: a comment in its first line.
        utf8 = script.startswith('# utf8')
        return {'PATH': path, 'HOME': self.dir, 'LC_ALL': 'C.UTF-8' if utf8 else 'C', 'TZ': 'UTC0',
                'SHELL': '/bin/sh'}

    def execute(self, argv, env, cwd, umask, **more):
        # Into files, whose size is limited.
        with open(os.path.join(self.top, 'stdout'), 'w+b') as out, open(os.path.join(self.top, 'stderr'), 'w+b') as err:
            p = subprocess.Popen(argv, env=env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True,
                                 umask=umask, **more)
            try:
                status = p.wait(timeout=LIMIT)
                status = status if status >= 0 else 128 - status
                # What the script has left running may still write.
                self.wait_group(p.pid)
            except subprocess.TimeoutExpired:
                status = 'timeout'
            try:
                os.killpg(p.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            p.wait()
            out.seek(0)
            err.seek(0)
            return status, out.read(), err.read()

    @staticmethod
    def wait_group(group):
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            try:
                os.killpg(group, 0)
            except ProcessLookupError:
                return
            time.sleep(0.002)
        raise subprocess.TimeoutExpired('group', LIMIT)

    def native(self, index, script):
        remove(self.dir)
        shutil.copytree(self.variant(index), self.dir, symlinks=True)
        who = {}
        if ROOT:
            who = {'user': NOBODY, 'group': NOBODY, 'extra_groups': []}
            for top, dirs, files in os.walk(self.dir):
                for name in ['.'] + files + [d for d in dirs if os.path.islink(os.path.join(top, d))]:
                    os.lchown(os.path.join(top, name), NOBODY, NOBODY)
        result = self.execute(['/bin/bash', '-c', '--', script, 'bash'], self.env(script, self.options.path), self.dir, 0o22,
                              preexec_fn=become_native, **who)
        return Outcome(*result, differ_tree.look(self.dir))

    def sandbox(self, index, script):
        remove(self.out)
        argv = [self.options.bin, 'run', '--quiet', '--user', str(NOBODY if ROOT else os.getuid())]
        for name, value in self.env(script, '/usr/bin:/bin').items():
            argv += ['--env', f'{name}={value}']
        argv += ['--mount', f'{self.variant(index)}:{self.dir}', '--workdir', self.dir, '--limit', f'cpu={6 * PROCESSOR}', '--limit', f'output={2 * OUTPUT}',
                 '--copy-out', f'{self.dir}:{self.out}', '-c', script, 'bash']
        # The umask of the host is for what is copied out; the session has its own, 022.
        result = self.execute(argv, self.options.host_env, '/', 0)
        return Outcome(*result, differ_tree.look(self.out) if os.path.isdir(self.out) else None)

    def differ(self, index, script):
        """The list of what differs, None when it cannot be told, and both outcomes."""
        if script[0] in '+-':
            return None, None, None     # run -c, like bash -c, takes options
        want = self.native(index, script)
        # Also when it is a process within the script that met its limit.
        if want.status in ('timeout', 128 + signal.SIGXFSZ, 128 + signal.SIGXCPU) or len(want.out) >= OUTPUT:
            return None, want, None
        got = self.sandbox(index, script)
        if self.options.no_userland and any(r in text for r in REFUSED for text in (got.out, got.err)):
            return None, want, got
        kinds = [k for k, a, b in (('status', want.status, got.status), ('tree', want.tree, got.tree)) if a != b]
        if want.out != got.out:
            kinds.append('order' if lines(want.out) == lines(got.out) else 'output')
        # The order of messages may be that of a directory.
        if self.options.stderr and lines(normal(want.err)) != lines(normal(got.err)):
            kinds.append('messages')
        return kinds, want, got

    def close(self):
        remove(self.top)


def normal(err):
    # Process numbers, and what natively has the path of the shell in front.
    err = re.sub(rb'(?m)^frontal-sandbox: .*\n', b'', err)  # hints, lines of our own behind bash's message
    return re.sub(rb'\(\d{3,}\)', b'(N)', err.replace(b'/bin/bash: ', b'bash: '))


def lines(data):
    return sorted(data.split(b'\n'))


def remove(path):
    """rm -rf, also of directories that a script made unreadable."""
    def open_up(function, name, _):
        os.chmod(os.path.dirname(name), 0o700)
        if os.path.isdir(name) and not os.path.islink(name):
            os.chmod(name, 0o700)
            shutil.rmtree(name, ignore_errors=True)
        elif os.path.lexists(name):
            os.unlink(name)
    if os.path.lexists(path):
        shutil.rmtree(path, onerror=open_up)


def commands_here(options):
    """The commands of the sandbox, without those of the userland when there is none."""
    text = subprocess.run([options.bin, 'tools'], env=options.host_env, stdout=subprocess.PIPE, check=True).stdout.decode()
    names, userland = set(), False
    for line in text.splitlines()[1:]:
        # A long name runs into the next column.
        name = line[:16].split()[0].removesuffix('userland')
        userland = userland or 'userland' in line[16:36]
        if not options.no_userland or 'builtin' in line[16:24]:
            names.add(name)
    return names, userland


def settle(options, base):
    """Makes the trees and the directory of native commands below base, and finds which commands both sides have."""
    os.chmod(base, 0o755)
    os.mkdir(os.path.join(base, 'trees'))
    for index in range(VARIANTS):
        differ_tree.make(os.path.join(base, 'trees', str(index)), index)
    search = (options.native_path + ':' if options.native_path else '') + '/usr/bin:/bin'
    options.host_env = {k: v for k, v in os.environ.items() if k in ('PATH', 'HOME', 'XDG_CACHE_HOME', 'FRONTAL_USERLAND')}
    if options.no_userland:
        options.host_env['FRONTAL_USERLAND'] = '/nonexistent'
    options.have, userland = commands_here(options)
    if not userland and not options.no_userland:
        options.no_userland = True
        options.have, _ = commands_here(options)
    native = {c for c in options.have if shutil.which(c, path=search)}
    # The reference for awk is gawk: that is what runs here.
    if 'awk' in native and b'GNU Awk' not in subprocess.run(['awk', '--version'], env={'PATH': search}, stdin=subprocess.DEVNULL,
                                                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout:
        native.discard('awk')
    options.have = native
    # Natively only these are found: a word that shrinking leaves over is no other program of the machine.
    options.path = os.path.join(base, 'bin')
    os.mkdir(options.path)
    for name in native:
        os.symlink(shutil.which(name, path=search), os.path.join(options.path, name))
