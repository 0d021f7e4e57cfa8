#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mounts, copying in and out, --diff and --apply."""
import json
import os
import stat
import subprocess

from harness import BINARY, case, main, run, sh


@case
def cow_reads_the_host_and_keeps_writes(t):
    t.write('d/a', 'host\n')
    r = sh('cat /m/a; echo session > /m/a; echo new > /m/b; cat /m/a /m/b; ls /m', '--mount', t.path('d') + ':/m')
    t.equal((r.status, r.out), (0, b'host\nsession\nnew\na\nb\n'))
    t.equal((t.read('d/a'), os.listdir(t.path('d'))), (b'host\n', ['a']))


@case
def ro_refuses_writes(t):
    t.write('d/a', 'host\n')
    r = sh('cat /m/a; echo x > /m/a; rm /m/a; mkdir /m/d; mv /m/a /m/b; chmod 600 /m/a; touch /m/a', '--mount', t.path('d') + ':/m:ro')
    t.equal(r.out, b'host\n')
    t.equal(r.err.count(b'Read-only file system'), 6, r)
    t.equal(t.read('d/a'), b'host\n')


@case
def a_single_file(t):
    p = t.write('f', 'text\n')
    t.equal(sh('cat /x/y/f; echo more >> /x/y/f; cat /x/y/f', '--mount', p + ':/x/y/f').out, b'text\ntext\nmore\n')
    t.equal(t.read('f'), b'text\n')


@case
def owner_is_the_sessions_user(t):
    t.write('d/a')
    t.equal(sh('stat -c "%U %G" /m/a; touch /m/new && stat -c %U /m/new', '--mount', t.path('d') + ':/m').out,
            b'user user\nuser\n')


@case
def symlinks_stay_inside(t):
    secret = t.write('secret', 'secret\n')
    t.write('d/a', 'a\n')
    os.symlink(secret, t.path('d/abs'))
    os.symlink('../secret', t.path('d/up'))
    os.symlink('/etc/hostname', t.path('d/etc'))
    os.symlink('a', t.path('d/ok'))
    os.symlink('..', t.path('d/updir'))
    r = sh('cd /m; cat abs up etc ok; cat updir/secret; ls updir/', '--mount', t.path('d') + ':/m')
    t.ok(b'secret\n' not in r.out.replace(b'/secret', b''), r)
    t.ok(b'sandbox\na\n' in r.out, r)


@case
def several_mounts_and_nesting(t):
    t.write('a/x', 'ax\n')
    t.write('b/y', 'by\n')
    r = sh('cat /m/x /m/inner/y; ls /m', '--mount', t.path('a') + ':/m', '--mount', t.path('b') + ':/m/inner')
    t.equal(r.out, b'ax\nby\ninner\nx\n', r)


@case
def names_and_contents_are_bytes(t):
    name = os.path.join(t.dir.encode(), b'd', b'\xff\n x')
    os.mkdir(t.path('d'))
    with open(name, 'wb') as f:
        f.write(b'\0\xff')
    r = sh("cd /m; for f in *; do printf '%q\\n' \"$f\"; od -An -tx1 \"$f\" 2>/dev/null || wc -c < \"$f\"; done",
           '--mount', t.path('d') + ':/m')
    t.ok(b"$'\\377\\n x'" in r.out, r)


@case
def special_files_of_the_host_are_harmless(t):
    os.mkdir(t.path('d'))
    os.mkfifo(t.path('d/fifo'))
    r = sh('test -p /m/fifo && echo fifo; ls /m', '--mount', t.path('d') + ':/m', '--timeout', '20s')
    t.equal((r.status, r.out), (0, b'fifo\nfifo\n'), r)


@case
def copy_in(t):
    t.write('d/a', 'A', 0o755)
    t.write('d/sub/b', b'\0B')
    os.symlink('a', t.path('d/link'))
    r = sh('cd /in/here; cat a sub/b; readlink link; stat -c "%a %U" a', '--copy-in', t.path('d') + ':/in/here')
    t.equal(r.out, b'A\0Ba\n755 user\n')
    big = t.write('big', os.urandom(1 << 20))
    t.equal(sh('wc -c < /big', '--copy-in', big + ':/big').out, b'1048576\n')


@case
def copy_in_many(t):
    """Requests share messages and go ahead of their replies: all arrive, in order, and the first that is refused is named."""
    for i in range(300):
        t.write(f'd/s{i % 7}/f{i}', bytes([65 + i % 26]) * (i * 401 % 9000 if i % 50 else 140000))
    r = sh('true', '--copy-in', t.path('d') + ':/in', '--copy-out', '/in:' + t.path('out'))
    t.equal((r.status, r.err), (0, b''))
    t.equal(subprocess.run(['diff', '-r', t.path('d'), t.path('out')], capture_output=True).stdout, b'')
    r = sh('true', '--copy-in', t.path('d') + ':/in', '--limit', 'files=400K')
    t.equal((r.status, b'--copy-in' in r.err and b'/in/s' in r.err, b'quota' in r.err.lower()), (125, True, True), r)
    os.mkfifo(t.path('d/fifo'))
    r = sh('true', '--copy-in', t.path('d') + ':/in')
    t.equal((r.status, b'fifo: only files' in r.err), (125, True), r)


@case
def copy_out(t):
    r = sh('mkdir -p o/s; echo a > o/a; chmod 755 o/a; ln -s a o/l; head -c 200000 /dev/zero > o/s/z; exit 3',
           '--copy-out', '/home/user/o:' + t.path('out'))
    t.equal(r.status, 3)
    t.equal((t.read('out/a'), os.readlink(t.path('out/l')), len(t.read('out/s/z'))), (b'a\n', 'a', 200000))
    t.equal(stat.S_IMODE(os.stat(t.path('out/a')).st_mode), 0o755)


@case
def copy_out_into_a_directory_and_of_nothing(t):
    os.mkdir(t.path('o'))
    t.equal(sh('echo x > f', '--copy-out', '/home/user/f:' + t.path('o')).status, 0)
    t.equal(t.read('o/f'), b'x\n')
    r = sh('true', '--copy-out', '/nonexistent:' + t.path('o'))
    t.equal(r.status, 125)
    t.ok(b'No such file or directory' in r.err, r)


@case
def copy_out_does_not_follow_a_planted_link(t):
    t.write('victim', 'v')
    os.mkdir(t.path('o'))
    os.symlink(t.path('victim'), t.path('o/f'))
    r = sh('echo evil > f', '--copy-out', '/home/user/f:' + t.path('o/f'))
    t.equal(r.status, 125)
    t.equal(t.read('victim'), b'v')


@case
def diff_lists_changes(t):
    t.write('d/mod', '1\n')
    t.write('d/gone', 'x')
    t.write('d/mode', 'x')
    t.write('d/same', 'x')
    r = sh('cd /m; echo 2 > mod; rm gone; chmod 600 mode; mkdir -p n/e; echo n > n/e/w; cat same >/dev/null; touch same',
           '--diff', '--mount', t.path('d') + ':/m')
    t.equal(r.out, b'D /m/gone\nM /m/mod\nm /m/mode (mode 0644 -> 0600)\nA /m/n/\nA /m/n/e/\nA /m/n/e/w\nm /m/same (time)\n')


@case
def diff_as_text_is_a_patch(t):
    t.write('d/f', ''.join('%d\n' % i for i in range(30)))
    t.write('e/f', t.read('d/f'))
    r = sh("cd /m; sort -rn f | sort -n > g; { head -5 g; echo new; tail -n +7 g; echo end; } > f; rm g; printf x > nonl",
           '--diff=text', '--mount', t.path('d') + ':/m')
    p = subprocess.run(['patch', '-p2', '-d', t.path('e')], input=r.out, stdout=subprocess.PIPE)
    t.equal(p.returncode, 0, p.stdout)
    t.equal(t.read('e/f'), (''.join('%d\n' % i for i in range(5)) + 'new\n' + ''.join('%d\n' % i for i in range(6, 30)) + 'end\n').encode())
    t.equal(t.read('e/nonl'), b'x')


@case
def copy_in_is_no_change(t):
    p = t.write('f', 'x')
    t.equal(sh('true', '--diff', '--copy-in', p + ':/tmp/f').out, b'')


@case
def diff_in_json(t):
    o = json.loads(run(['--json', '--diff=text', '-c', 'echo a > f']).out)
    t.equal([(c['kind'], c['path']) for c in o['changes']], [('added', '/home/user/f')])
    t.ok('+a' in o['changes'][0]['diff'])


@case
def apply_writes_back(t):
    t.write('d/mod', '1\n', 0o640)
    t.write('d/gone/deep/x', 'x')
    t.write('d/mode', 'x')
    t.write('d/tofile/x', 'x')
    r = sh('cd /m; echo 2 > mod; rm -r gone tofile; echo f > tofile; chmod 755 mode; mkdir -p n/e; echo n > n/e/w; ln -s mod l; mv mode moved;'
           'echo outside > /tmp/x', '--apply', '--mount', t.path('d') + ':/m')
    t.equal(r.status, 0, r)
    t.ok(b'A /m/n/e/w\n' in r.out, r)
    got = sorted(os.path.relpath(os.path.join(p, n), t.path('d')) for p, dn, fn in os.walk(t.path('d')) for n in dn + fn)
    t.equal(got, ['l', 'mod', 'moved', 'n', 'n/e', 'n/e/w', 'tofile'])
    t.equal((t.read('d/mod'), t.read('d/tofile'), t.read('d/n/e/w'), os.readlink(t.path('d/l'))), (b'2\n', b'f\n', b'n\n', 'mod'))
    t.equal(stat.S_IMODE(os.stat(t.path('d/mod')).st_mode), 0o640)
    t.equal(stat.S_IMODE(os.stat(t.path('d/moved')).st_mode), 0o755)


@case
def apply_only_after_success(t):
    t.write('d/f', '1')
    r = sh('echo 2 > /m/f; exit 1', '--apply', '--mount', t.path('d') + ':/m')
    t.equal((r.status, t.read('d/f')), (1, b'1'))
    t.ok(b'nothing was applied' in r.err)


@case
def apply_refuses_when_the_host_changed(t):
    t.write('d/f', '1')
    t.write('d/other', 'o')
    p = subprocess.Popen([BINARY, 'run', '--apply', '--mount', t.path('d') + ':/m', '-c',
                          'echo 2 > /m/f; rm /m/other; echo ready; read x'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    p.stdout.readline()
    t.write('d/f', 'changed on the host')
    out, err = p.communicate(b'\n')
    t.equal((p.returncode, t.read('d/f'), t.read('d/other')), (125, b'changed on the host', b'o'))
    t.ok(b'nothing was applied' in err, err)


@case
def apply_never_leaves_the_mount(t):
    t.write('victim/f', 'v')
    t.write('d/sub/f', '1')
    p = subprocess.Popen([BINARY, 'run', '--apply', '--mount', t.path('d') + ':/m', '-c',
                          'echo evil > /m/sub/f; echo evil > /m/sub/new; echo ready; read x'], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    p.stdout.readline()
    os.rename(t.path('d/sub'), t.path('d/old'))
    os.symlink(t.path('victim'), t.path('d/sub'))
    p.communicate(b'\n')
    t.equal(p.returncode, 125)
    t.equal((t.read('victim/f'), os.listdir(t.path('victim'))), (b'v', ['f']))


@case
def apply_drops_setuid(t):
    t.write('d/f', 'x')
    t.equal(sh('chmod 4755 /m/f', '--apply', '--mount', t.path('d') + ':/m').status, 0)
    t.equal(stat.S_IMODE(os.stat(t.path('d/f')).st_mode), 0o755)


@case
def apply_of_a_mounted_file(t):
    p = t.write('f', '1\n')
    t.equal(sh('echo 2 > /f', '--apply', '--mount', p + ':/f').status, 0)
    t.equal(t.read('f'), b'2\n')


@case
def unreadable_host_files_are_an_error_on_them_only(t):
    if os.geteuid() == 0:
        return
    t.write('d/a', 'a', 0)
    t.write('d/b', 'b\n')
    r = sh('cat /m/a /m/b', '--mount', t.path('d') + ':/m')
    t.equal((r.status, r.out), (1, b'b\n'))


@case
def mounts_are_listed(t):
    os.mkdir(t.path('with blank'))
    t.write('file', 'x')
    mounts = ['--mount', t.path('with blank') + ':/m/with blank:ro', '--mount', t.path('file') + ':/etc/conf']
    r = run(mounts + ['-c', 'tail -n 2 /proc/mounts; df -a --output=source,target | tail -n 2; df --output=target /etc/conf; df | wc -l'])
    t.equal(r.out.decode().splitlines(),
            ['host /m/with\\040blank host ro,relatime 0 0', 'host /etc/conf host rw,relatime 0 0',
             'host           /m/with blank', 'host           /etc/conf', 'Mounted on', '/etc/conf', '2'], r)


if __name__ == '__main__':
    main()
