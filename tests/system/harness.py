# SPDX-License-Identifier: Apache-2.0
"""What the system tests share: a case registry, a scratch directory a case, and TAP on standard output.

    from harness import case, run, main

    @case
    def exit_status(t):
        t.equal(run(['-c', 'exit 3']).status, 3)

The program under test is $FRONTAL_SANDBOX, or the build directory's.
"""
import os
import select
import shutil
import subprocess
import sys
import tempfile
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
BINARY = os.environ.get('FRONTAL_SANDBOX') or os.path.join(HERE, '..', '..', 'build', 'frontal-sandbox')
SLOW = float(os.environ.get('FRONTAL_TEST_SLOW', '1'))
CASES = []


class Result:
    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err

    def __repr__(self):
        return 'status %r\n  stdout %r\n  stderr %r' % (self.status, self.out[:2000], self.err[:2000])


class Case:
    """One running case: its scratch directory and its failures."""

    def __init__(self, name):
        self.name = name
        self.dir = tempfile.mkdtemp(prefix='fsb-test-')
        self.failures = []

    def path(self, *parts):
        return os.path.join(self.dir, *parts)

    def write(self, name, data='', mode=0o644):
        p = self.path(name)
        os.makedirs(os.path.dirname(p), exist_ok=True)
        with open(p, 'wb') as f:
            f.write(data if isinstance(data, bytes) else data.encode())
        os.chmod(p, mode)
        return p

    def read(self, name):
        with open(self.path(name), 'rb') as f:
            return f.read()

    def fail(self, text):
        self.failures.append(text)

    def equal(self, got, want, what=''):
        if got != want:
            where = traceback.extract_stack()[-2]
            self.fail('line %d: %s got %r, want %r' % (where.lineno, what, got, want))
            return False
        return True

    def ok(self, cond, what=''):
        if not cond:
            where = traceback.extract_stack()[-2]
            self.fail('line %d: %s does not hold: %s' % (where.lineno, where.line, what))
        return bool(cond)


def case(fn):
    CASES.append(fn)
    return fn


def run(args, stdin=b'', timeout=60, verb='run', env=None, cwd=None):
    """Runs `frontal-sandbox run ARGS` and gives status, output and errors."""
    if isinstance(stdin, str):
        stdin = stdin.encode()
    p = subprocess.run([BINARY, verb] + list(args), input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       timeout=timeout * SLOW, env=env, cwd=cwd)
    return Result(p.returncode, p.stdout, p.stderr)


def sh(text, *options, **kw):
    """Runs a command text."""
    return run(list(options) + ['-c', text], **kw)


def read_until(fd, what):
    """Bytes of the terminal up to the first that end with @what (None: to the end)."""
    got = b''
    while what is None or not got.endswith(what):
        if not select.select([fd], [], [], 30 * SLOW)[0]:
            raise TimeoutError('the terminal is silent after %r' % got[-2000:])
        try:
            some = os.read(fd, 1 if what else 65536)
        except OSError:
            some = b''
        if not some:
            break
        got += some
    return got


def main():
    only = sys.argv[1:]
    chosen = [c for c in CASES if not only or c.__name__ in only]
    print('1..%d' % len(chosen))
    bad = 0
    for i, fn in enumerate(chosen, 1):
        t = Case(fn.__name__)
        try:
            fn(t)
        except subprocess.TimeoutExpired as e:
            t.fail('took longer than %s s: %s' % (e.timeout, e.cmd))
        except Exception:  # a broken case is a failed case, with its trace
            t.fail(traceback.format_exc())
        finally:
            subprocess.call(['chmod', '-R', 'u+rwx', t.dir], stderr=subprocess.DEVNULL)
            shutil.rmtree(t.dir, ignore_errors=True)
        print('%s %d - %s' % ('not ok' if t.failures else 'ok', i, t.name))
        for f in t.failures:
            print('\n'.join('# ' + line for line in f.splitlines()))
        sys.stdout.flush()
        bad += bool(t.failures)
    sys.exit(1 if bad else 0)
