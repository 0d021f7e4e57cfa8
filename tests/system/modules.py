#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Modules of the user's own: WASI programs that are files of a session. How they run, what the cache of compiled ones is worth,
and what hostile ones, or those that end in the middle, leave behind. Modules are put together here byte by byte, so that the
broken ones are broken where it is meant."""
import json
import os
import resource
import shutil
import signal
import subprocess
import time

from harness import BINARY, SLOW, case, main, run

COMPILER = os.path.join(os.path.dirname(os.path.realpath(BINARY)), 'src', 'wasm', 'frontal-sandbox-compile')
TEST_USERLAND = os.path.join(os.path.dirname(COMPILER), 'test', 'modules')


# ---- modules ----

def leb(n):
    out = b''
    while True:
        n, low = n >> 7, n & 0x7f
        out += bytes([low | (0x80 if n else 0)])
        if not n:
            return out


def vec(items):
    return leb(len(items)) + b''.join(items)


def section(number, items):
    body = vec(items)
    return bytes([number]) + leb(len(body)) + body if items else b''


def name(text):
    return leb(len(text)) + text.encode()


VOID = b'\x60\0\0'
WASI = 'wasi_snapshot_preview1'


def module(codes=(b'\0\x0b',), types=(VOID,), imports=(), tables=(), memories=(), start=None, data=(), export='_start'):
    """One whose functions all are of the first type and whose last is exported."""
    exports = [name(export) + b'\0' + leb(len(imports) + len(codes) - 1)]
    if memories:
        exports.append(name('memory') + b'\2\0')
    start = b'' if start is None else bytes([8]) + leb(len(leb(start))) + leb(start)
    return (b'\0asm\1\0\0\0' + section(1, types) + section(2, imports) + section(3, [b'\0'] * len(codes)) +
            section(4, tables) + section(5, memories) + section(7, exports) + start +
            section(10, [leb(len(c)) + c for c in codes]) + section(11, data))


def says(text, status=0):
    """Writes @text and exits."""
    i32s = lambda n: b'\x60' + vec([b'\x7f'] * n)
    types = (VOID, i32s(4) + b'\1\x7f', i32s(1) + b'\0')
    imports = (name(WASI) + name('fd_write') + b'\0\1', name(WASI) + name('proc_exit') + b'\0\2')
    code = b'\0' + b'\x41\1\x41\0\x41\1\x41\x08\x10\0\x1a' + b'\x41' + leb(status) + b'\x10\1\x0b'
    iov = (16).to_bytes(4, 'little') + len(text).to_bytes(4, 'little')
    data = [b'\0\x41\0\x0b' + vec([bytes([b]) for b in iov]), b'\0\x41\x10\x0b' + leb(len(text)) + text.encode()]
    return module([code], types, imports, memories=[b'\0\1'], data=data)


def slow(size=100000):
    """Takes its compiler many seconds: one function, whose variables are all changed on every path and all live."""
    steps = []
    for i in range(size):
        x, y, z = leb(i % 200), leb((i * 7 + 3) % 200), leb((i * 13 + 11) % 200)
        steps.append(b'\x20' + x + b'\x20' + y + b'\x6a\x20' + z + b'\x73\x22' + x + b'\x04\x40\x20' + y + b'\x21' + z + b'\x0b')
    return module([b'\1' + leb(200) + b'\x7f' + b''.join(steps) + b'\x0b'])


# What wasi-libc's start would do: its arguments a line each, then its input, and their number as status.
ECHO = """
#define IMPORT(name) __attribute__((import_module("wasi_snapshot_preview1"), import_name(name)))
struct piece { const void *p; unsigned n; };
IMPORT("fd_write") unsigned fd_write(unsigned, const struct piece *, unsigned, unsigned *);
IMPORT("fd_read") unsigned fd_read(unsigned, struct piece *, unsigned, unsigned *);
IMPORT("args_sizes_get") unsigned args_sizes_get(unsigned *, unsigned *);
IMPORT("args_get") unsigned args_get(char **, char *);
IMPORT("proc_exit") void proc_exit(unsigned) __attribute__((noreturn));
static char block[65536], *args[64], text[4096];
static void put(const void *p, unsigned n) { struct piece v = {p, n}; unsigned k; fd_write(1, &v, 1, &k); }
void _start(void)
{
    unsigned n, bytes, len;
    args_sizes_get(&n, &bytes);
    args_get(args, text);
    for (unsigned i = 1; i < n; i++) {
        for (len = 0; args[i][len]; len++)
            ;
        put(args[i], len);
        put("\\n", 1);
    }
    for (;;) {
        struct piece v = {block, sizeof block};
        unsigned k = 0;
        if (fd_read(0, &v, 1, &k) || !k)
            break;
        put(block, k);
    }
    proc_exit(n - 1);
}
"""


class Place:
    """A directory of modules, mounted at /w, and a cache and a state directory of the case's own."""

    def __init__(self, t, **modules):
        self.dir = os.path.dirname(t.write('w/nothing'))
        self.env = dict(os.environ, XDG_CACHE_HOME=t.path('cache'), FRONTAL_USERLAND=t.path('none'))
        self.cache = t.path('cache', 'frontal-sandbox', 'modules')
        for k, v in modules.items():
            t.write('w/%s.wasm' % k, v, 0o755)

    def options(self, *more):
        return ['--mount', self.dir + ':/w', '--workdir', '/w', *more]

    def run(self, *command, options=(), **kw):
        return run(self.options(*options, '--', *command), env=self.env, **kw)

    def sh(self, text, *options, **kw):
        return run(self.options(*options, '-c', text), env=self.env, **kw)

    def kept(self):
        """Names and inodes of what is in the cache: a file that was made again has another."""
        return sorted((f, os.stat(os.path.join(self.cache, f)).st_ino) for f in os.listdir(self.cache))


def built(fn):
    """A case that needs WebAssembly, and is left out of a build without."""
    return case(fn) if os.path.exists(COMPILER) else fn


def a_build_without(t):
    r = Place(t, hi=says('hi\n')).run('./hi.wasm')
    t.equal((r.status, r.out), (126, b''))
    t.ok(b'built without WebAssembly' in r.err, r)


if not os.path.exists(COMPILER):
    case(a_build_without)


# ---- how they run ----

@built
def arguments_input_and_status(t):
    p = Place(t)
    t.write('echo.c', ECHO)
    subprocess.run(['clang-14', '--target=wasm32', '-O1', '-nostdlib', '-Wl,--no-entry', '-Wl,--export=_start', t.path('echo.c'),
                    '-o', p.dir + '/echo.wasm'], check=True)
    r = p.run('./echo.wasm', 'a', 'b c', stdin='in\n' * 50000)
    t.equal((r.status, r.err), (2, b''))
    t.equal(r.out, b'a\nb c\n' + b'in\n' * 50000)
    r = p.sh('seq 3 | ./echo.wasm x | ./echo.wasm y | ./echo.wasm z; cp echo.wasm e; PATH=/w e q </dev/null')
    t.equal((r.status, r.out, r.err), (1, b'z\ny\nx\n1\n2\n3\nq\n', b''))


@built
def the_result_names_them(t):
    p = Place(t, hi=says('hi\n', 3))
    r = json.loads(p.run('./hi.wasm', options=['--json']).out)
    t.equal((r['exit_code'], r['stdout']), (3, 'hi\n'))
    t.equal(r['decisions'], [{'command': 'hi.wasm', 'engine': 'wasm', 'reason': "a module of the session's own"}])
    t.equal(p.sh('type -a ./hi.wasm').out, b"./hi.wasm is ./hi.wasm (module of the session's own)\n")


@built
def both_import_modules(t):
    code = b'\0\x41\0\x10\0\x1a\x41\0\x10\1\x1a\x0b'
    p = Place(t, both=module([code], types=[VOID, b'\x60\1\x7f\1\x7f'], memories=[b'\0\1'], imports=[
        name(WASI) + name('fd_close') + b'\0\1', name('frontal_sandbox_1') + name('random_seed') + b'\0\1']))
    r = p.run('./both.wasm')
    t.equal((r.status, r.out, r.err), (0, b'', b''))


@built
def one_file_after_another_under_one_name(t):
    p = Place(t, a=says('a\n'), b=says('b\n'))
    r = p.sh('cp a.wasm x; ./x; cp b.wasm x; ./x; cp a.wasm x; ./x')
    t.equal((r.status, r.out, r.err), (0, b'a\nb\na\n', b''))
    t.equal(len(p.kept()), 2)


@built
def more_than_stay_mapped(t):
    p = Place(t)
    for i in range(40):
        t.write('w/m%d.wasm' % i, says('%d\n' % i), 0o755)
    r = p.sh('for n in 1 2; do for i in {0..39}; do ./m$i.wasm; done; done')
    t.equal((r.status, r.out, r.err), (0, ''.join('%d\n' % i for i in range(40)).encode() * 2, b''))


@built
def many_at_once(t):
    p = Place(t, a=says('a\n'), b=says('b\n'))
    r = p.sh('for i in {1..20}; do ./a.wasm & ./b.wasm & done; wait')
    t.equal((r.status, sorted(r.out.split()), r.err), (0, [b'a'] * 20 + [b'b'] * 20, b''))
    t.equal(len(p.kept()), 2)


@built
def ended_by_limits(t):
    p = Place(t, loop=module([b'\0\x03\x40\x0c\0\x0b\x0b']), grow=module(
        [b'\0\x03\x40\x41\x80\x08\x40\0\x41\x7f\x47\x0d\0\x0b\0\x0b'], memories=[b'\0\1']))
    t.equal(p.run('./loop.wasm', options=['--timeout', '300ms']).status, 124)
    t.equal(p.sh('./loop.wasm & sleep 0.2; kill -9 $!; wait $!; echo $?').out, b'137\n')
    t.equal(p.run('./grow.wasm', options=['--limit', 'memory=64M']).status, 132)  # it is told no, and traps


@built
def without_permission_or_too_large(t):
    p = Place(t, hi=says('hi\n'))
    os.chmod(p.dir + '/hi.wasm', 0o644)
    r = p.run('./hi.wasm')
    t.equal((r.status, r.out), (126, b''))
    t.ok(b'Permission denied' in r.err, r)
    t.write('w/huge.wasm', says('x'), 0o755)
    os.truncate(p.dir + '/huge.wasm', (64 << 20) + 1)
    r = p.run('./huge.wasm')
    t.equal((r.status, r.out), (126, b''))
    t.ok(b'too large' in r.err, r)
    t.ok(not os.path.exists(p.cache))


# ---- hostile ones ----

@built
def refused_with_a_reason(t):
    whole = says('hi\n')
    cases = {
        'garbage': (b'\0asm' + b'\xff\x13' * 50, b'unknown binary version'),
        'only_magic': (b'\0asm', b'unexpected end'),
        'cut': (whole[:len(whole) // 2], b'unexpected end'),
        'text': (b'\0asm(module)', b'unknown binary version'),
        'type_error': (module([b'\0\x41\0\x0b']), b'cannot be compiled'),
        'two_memories': (module(memories=[b'\0\1'] * 2), b'multiple memories'),
        'memory64': (module(memories=[b'\4\1']), b'memory64'),
        'shared': (module(memories=[b'\3\1\1']), b'threads'),
        'big_table': (module(tables=[b'\x70\0' + leb(20000)]), b'exceeds the limit'),
        'tables': (module(tables=[b'\x70\0\1'] * 3), b'exceeds the per-instance limit'),
        'no_start': (module(export='begin'), b'_start'),
        'import_': (module(imports=[name('env') + name('launch') + b'\0\0']), b'env::launch'),
        'wasi_import': (module(imports=[name(WASI) + name('sock_launch') + b'\0\0']), b'sock_launch'),
        'wrong_type': (module(imports=[name(WASI) + name('fd_write') + b'\0\0']), b'fd_write'),
    }
    p = Place(t, **{k: v for k, (v, _) in cases.items()})
    for k, (_, why) in cases.items():
        r = p.run('./%s.wasm' % k)
        t.equal((r.status, r.out), (126, b''), k)
        t.ok(why in r.err and r.err.startswith(b'%s.wasm: ' % k.encode()) or r.err.startswith(b'./%s.wasm: ' % k.encode()), (k, r))
        t.ok(why in r.err, (k, r))


@built
def a_start_function_that_traps(t):
    r = Place(t, m=module([b'\0\0\x0b', b'\0\x0b'], start=0)).run('./m.wasm')
    t.equal((r.status, r.err), (132, b'm.wasm: unreachable code reached (trap)\n'))


@built
def a_start_function_that_does_not_end(t):
    r = Place(t, m=module([b'\0\x03\x40\x0c\0\x0b\x0b', b'\0\x0b'], start=0)).run('./m.wasm', options=['--timeout', '300ms'])
    t.equal(r.status, 124)


@built
def a_module_that_takes_its_compiler_too_long(t):
    p = Place(t, slow=slow())
    r = subprocess.run([BINARY, 'run', *p.options('-c', './slow.wasm; echo $?')], env=p.env, capture_output=True,
                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (2, 2)))
    t.equal(r.stdout, b'126\n')
    t.ok(b'takes too long to compile' in r.stderr, r.stderr)


# ---- ends in the middle ----

def compilers_of(driver):
    """The processes that @driver has compiling."""
    found = []
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open('/proc/%s/stat' % pid) as f:
                parent = int(f.read().rsplit(') ', 1)[1].split()[1])
            with open('/proc/%s/cmdline' % pid, 'rb') as f:
                if parent == driver and b'frontal-sandbox-compile' in f.read():
                    found.append(int(pid))
        except OSError:
            pass
    return found


def within(seconds, question):
    """Whether @question comes true in time; what it gave last."""
    end = time.monotonic() + seconds * SLOW
    while not (got := question()) and time.monotonic() < end:
        time.sleep(0.02)
    return got


def start(p, *args):
    return subprocess.Popen([BINARY, *args], env=p.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@built
def the_driver_is_killed(t):
    p = Place(t, slow=slow())
    with start(p, 'run', *p.options('--', './slow.wasm')) as d:
        one = within(30, lambda: compilers_of(d.pid))
        t.equal(len(one), 1)
        d.kill()
        d.wait()
        t.ok(within(30, lambda: not os.path.exists('/proc/%d' % one[0])))


@built
def the_command_is_killed(t):
    p = Place(t, slow=slow(), hi=says('hi\n'))
    with start(p, 'run', *p.options('-c', './slow.wasm & sleep 1; kill -9 $!; wait $!; echo $?; ./hi.wasm; sleep 60')) as d:
        t.ok(within(30, lambda: compilers_of(d.pid)))
        t.equal(d.stdout.read(7), b'137\nhi\n')
        t.equal(within(30, lambda: not compilers_of(d.pid)), True)
        d.send_signal(signal.SIGTERM)
        d.wait()
    r = p.run('./slow.wasm', options=['--timeout', '1s'])
    t.equal(r.status, 124)


# ---- the cache ----

@built
def compiled_once(t):
    p = Place(t, hi=says('hi\n'))
    t.equal(p.run('./hi.wasm').out, b'hi\n')
    kept = p.kept()
    t.equal(len(kept), 1)
    st = os.stat(os.path.join(p.cache, kept[0][0]))
    t.equal((st.st_mode & 0o777, os.stat(p.cache).st_mode & 0o777), (0o600, 0o700))
    t.equal(p.sh('./hi.wasm; ./hi.wasm').out, b'hi\nhi\n')
    t.equal(p.kept(), kept)


@built
def what_is_damaged_or_not_ours_is_made_again(t):
    p = Place(t, hi=says('hi\n'))
    p.run('./hi.wasm')

    def spoilt(how):
        before = p.kept()
        path = os.path.join(p.cache, before[0][0])
        os.link(path, t.path('hold'))  # so that its inode is not used again
        os.rename(t.path('hold'), t.path('held'))
        how(path)
        r = p.run('./hi.wasm')
        t.equal((r.status, r.out, r.err), (0, b'hi\n', b''))
        t.ok([f for f, _ in p.kept()] == [f for f, _ in before] and p.kept() != before, (how, before, p.kept()))
        os.unlink(t.path('held'))

    def flip(path):
        with open(path, 'rb') as f:
            code = bytearray(f.read())
        code[len(code) // 2] ^= 1
        os.unlink(path)
        with open(path, 'wb') as f:
            f.write(code)
        os.chmod(path, 0o600)

    def copy(path, mode, size=None):
        with open(path, 'rb') as f:
            code = f.read(size)
        os.unlink(path)
        with open(path, 'wb') as f:
            f.write(code)
        os.chmod(path, mode)

    spoilt(flip)
    spoilt(lambda path: copy(path, 0o600, 5000))
    spoilt(lambda path: copy(path, 0o600, 0))
    spoilt(lambda path: copy(path, 0o622))

    def link(path):
        os.rename(path, t.path('elsewhere'))
        os.symlink(t.path('elsewhere'), path)
    spoilt(link)


@built
def a_directory_that_others_may_write(t):
    p = Place(t, hi=says('hi\n'))
    p.run('./hi.wasm')
    os.chmod(p.cache, 0o777)
    for f, _ in p.kept():
        os.unlink(os.path.join(p.cache, f))
    t.equal(p.run('./hi.wasm').out, b'hi\n')
    t.equal(p.kept(), [])
    env = {k: v for k, v in p.env.items() if k not in ('XDG_CACHE_HOME', 'HOME')}
    t.equal(run(p.options('--', './hi.wasm'), env=env).out, b'hi\n')


@built
def the_oldest_go_when_it_is_full(t):
    p = Place(t, hi=says('hi\n'), ho=says('ho\n'))
    p.run('./hi.wasm')
    for n, age in (('old', 300), ('older', 600)):
        path = os.path.join(p.cache, n)
        with open(path, 'wb') as f:
            f.truncate(600 << 20)
        os.utime(path, (time.time() - age,) * 2)
    p.run('./ho.wasm')
    names = [f for f, _ in p.kept()]
    t.ok('older' not in names and 'old' in names and len(names) == 3, names)


# ---- policy ----

@built
def only_the_set(t):
    p = Place(t, hi=says('hi\n'))
    r = p.run('./hi.wasm', options=['--modules', 'set'])
    t.equal((r.status, r.out), (126, b''))
    t.ok(b'--modules own' in r.err, r)
    t.ok(not os.path.exists(p.cache))
    t.equal(p.run('true', options=['--modules', 'some']).status, 125)


def filters_of(driver):
    """How many seccomp programs the worker of @driver has."""
    with open('/proc/%d/task/%d/children' % (driver, driver)) as f:
        worker = f.read().split()[0]
    with open('/proc/%s/status' % worker) as f:
        return int(dict(line.split(':', 1) for line in f)['Seccomp_filters'])


@built
def the_set_is_sealed(t):
    p = Place(t)
    p.env['FRONTAL_USERLAND'] = TEST_USERLAND
    for modules, want in (('set', 2), ('own', 1)):
        with start(p, 'run', '--modules', modules, '-c', 'hello; loop') as d:
            t.equal(d.stdout.read(6), b'hello\n')
            t.equal(filters_of(d.pid), want, modules)
            d.kill()


@built
def a_session_that_is_kept_has_it(t):
    p = Place(t, hi=says('hi\n'))
    keep = ['--state', t.path('state'), '--session']
    t.equal(p.run('./hi.wasm', options=keep + ['a']).out, b'hi\n')
    r = run(['--modules', 'set', *keep, 'a', '--', 'true'], env=p.env)
    t.equal(r.status, 125)
    t.ok(b'--modules' in r.err, r)
    t.equal(p.run('./hi.wasm', options=['--modules', 'set', *keep, 'b']).status, 126)
    r = run([*keep, 'b', '-c', '/w/hi.wasm'], env=p.env)
    t.equal(r.status, 126)
    t.ok(b'--modules own' in r.err, r)


@built
def doctor_says_what_is_missing(t):
    p = Place(t)
    alone = shutil.copy(BINARY, t.path('frontal-sandbox'))
    p.env['FRONTAL_USERLAND'] = t.path('nothing')
    for binary, compiler in ((BINARY, 'ok'), (alone, 'degraded')):
        r = subprocess.run([binary, 'doctor', '--json'], env=p.env, stdout=subprocess.PIPE, check=False)
        checks = {c['name']: c for c in json.loads(r.stdout)['checks']}
        t.equal(checks['compiler']['state'], compiler)
        t.equal(bool(checks['compiler']['remedy']), compiler != 'ok')
        t.equal(checks['userland']['state'], 'degraded')
        t.ok('userland/build' in checks['userland']['remedy'], checks['userland'])


@built
def replay(t):
    p = Place(t, hi=says('hi\n'), bad=b'\0asm....', slow=slow(), less=slow(20000))
    keep = ['--state', t.path('state'), '--session', 's']
    p.sh('./hi.wasm; ./bad.wasm; ./hi.wasm & (sleep 0.01; echo b) & ./hi.wasm; wait; date +%N', *keep)
    run([*keep, '-c', 'cd /w; for i in 1 2 3; do ./hi.wasm | cat; done; echo $RANDOM'], env=p.env)
    run([*keep, '--timeout', '1s', '-c', 'cd /w; (sleep 0.3; echo x) & ./slow.wasm; echo never'], env=p.env)
    run([*keep, '-c', 'cd /w; ./hi.wasm; ./less.wasm & sleep 0.3; kill -9 $!; wait $!; echo $?'], env=p.env)
    for options in ([], ['--from', '@9']):
        r = run(['--state', t.path('state'), *options, 's'], verb='replay', env=p.env)
        t.equal(r.status, 0, r)
        t.ok(b' 0 different, 0 left out' in r.out, r)


if __name__ == '__main__':
    main()
