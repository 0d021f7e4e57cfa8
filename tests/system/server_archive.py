# SPDX-License-Identifier: Apache-2.0
"""Archives: a directory out as tar, gzip, zstd and in again; and archives that mean harm."""
import gzip
import io
import os
import struct
import tarfile

from harness import case, main
from server_harness import Server


def tar(*members, form=tarfile.PAX_FORMAT):
    """Members: (name, bytes or None, fields of TarInfo)."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode='w', format=form) as f:
        for name, data, *more in members:
            info = tarfile.TarInfo(name)
            info.mtime = 1700000000
            for key, value in (more[0] if more else {}).items():
                setattr(info, key, value)
            if data is not None:
                info.size = len(data)
            f.addfile(info, io.BytesIO(data) if data is not None else None)
    return out.getvalue()


def names(body):
    with tarfile.open(fileobj=io.BytesIO(body)) as f:
        return {m.name: m for m in f.getmembers()}


@case
def out_and_in(t):
    long = 'l' * 120 + '/' + 'm' * 130
    with Server(t) as s:
        i = s.create()
        s.exec(i, 'mkdir -p d/e d/empty; echo one > d/a; head -c 200000 /dev/zero > d/e/big; ln -s ../a d/e/l; chmod 640 d/a; '
                  'mkfifo d/fifo; mkdir d/%s; echo x > d/%s; : > d/none; printf y > "d/\u00e4"' % (long[:120], long))
        for form, kind in (('tar', 'x-tar'), ('tar.gz', 'gzip'), ('tar.zst', 'zstd')):
            r = s.get('/v1/sessions/%s/archive/home/user/d?format=%s' % (i, form))
            t.equal((r.status, r.headers['Content-Type']), (200, 'application/' + kind))
            if form != 'tar.zst':
                got = names(r.body)
                t.equal(sorted(got), sorted(['a', 'e', 'e/big', 'e/l', 'empty', 'none', '\u00e4', long, long[:120]]))
                t.equal((got['e/l'].linkname, got['e/big'].size, oct(got['a'].mode)), ('../a', 200000, '0o640'))
            back = s.post('/v1/sessions/%s/archive/tmp/%s' % (i, form), r.body)
            t.equal((back.status, back.json.get('entries'), back.json.get('bytes')), (200, 9, 200000 + 7), back)
            look = 'cd %s; find . ! -type p | sort; cat a e/big d* l*/* | sha256sum; readlink e/l; stat -c "%%a %%U %%Y" a e/big'
            t.equal(s.exec(i, look % ('/tmp/' + form))['stdout'], s.exec(i, look % '~/d')['stdout'])
        one = s.get('/v1/sessions/%s/archive/home/user/d/a' % i)
        t.equal(sorted(names(one.body)), ['a'])
        t.equal(s.get('/v1/sessions/%s/archive/home/user/d?format=tar.gz' % i).body,
                s.get('/v1/sessions/%s/archive/home/user/d?format=tar.gz' % i).body, 'the same bytes')
        t.equal(s.get('/v1/sessions/%s/archive/none' % i).status, 404)
        t.equal(s.get('/v1/sessions/%s/archive/tmp?format=zip' % i).status, 400)
        t.equal(s.get('/v1/sessions/%s/archive/home/user/d/fifo' % i).status, 400)


@case
def in_place_of_what_is_there(t):
    with Server(t) as s:
        i = s.create()
        s.exec(i, 'mkdir t; echo old > t/f; ln -s /etc/passwd t/l; echo kept > t/k; mkdir t/dir')
        body = tar(('./', None, {'type': tarfile.DIRTYPE}), ('f', b'new'), ('l', b'a file now'), ('h', None, {'type': tarfile.LNKTYPE, 'linkname': 'f'}),
                   ('dir', None, {'type': tarfile.DIRTYPE}), ('dir/x', b'x'))
        r = s.post('/v1/sessions/%s/archive/home/user/t/' % i, gzip.compress(body))
        t.equal((r.status, r.json['path']), (200, '/home/user/t'), r)
        e = s.exec(i, 'cd t; cat f k l dir/x; stat -c %h f; head -c4 /etc/passwd')
        t.equal(e['stdout'], 'newkept\na file nowx2\nroot', e)
        last = s.get('/v1/sessions/%s/trace' % i).json['events']
        t.ok(any(x['seq'] == r.json['trace_seq'] and x['from'] == 'batch' for x in last if x['type'] == 'restore'))
        r = s.post('/v1/sessions/%s/archive/tmp/empty' % i, tar())
        t.equal((r.status, r.json['entries']), (200, 0), r)


@case
def what_means_harm_is_refused_whole(t):
    link = {'type': tarfile.SYMTYPE, 'linkname': '/etc'}
    bad = [
        (tar(('ok', b''), ('../x', b'')), 400, 'leads out'),
        (tar(('a/../../x', b'')), 400, 'leads out'),
        (tar(('/tmp/x', b'')), 400, 'leads out'),
        (tar(('d', None, link), ('d/passwd', b'x')), 400, ''),
        (tar(('ok', b''), ('h', None, {'type': tarfile.LNKTYPE, 'linkname': '../../etc/passwd'})), 400, 'leads out'),
        (tar(('h', None, {'type': tarfile.LNKTYPE, 'linkname': '/etc/passwd'})), 400, 'leads out'),
        (tar(('d', None, link), ('h', None, {'type': tarfile.LNKTYPE, 'linkname': 'd/passwd'})), 400, ''),
        (tar(('ok', b''), ('h', None, {'type': tarfile.LNKTYPE, 'linkname': 'none'})), 404, ''),
        (tar(('dev', None, {'type': tarfile.CHRTYPE, 'devmajor': 1, 'devminor': 3})), 400, 'device'),
        (tar(('blk', None, {'type': tarfile.BLKTYPE})), 400, 'device'),
        (tar(('p', None, {'type': tarfile.FIFOTYPE})), 400, 'device'),
        (tar(('f', b'x'), ('f/under', b'x')), 400, ''),
        (tar(('big', b'x' * 1000))[:700], 400, ''),
        (b'no archive at all', 400, 'no tar'),
        (b'\x1f\x8b\x08\x00' + os.urandom(100), 400, ''),
        (gzip.compress(b'x' * (70 << 20)), 400, 'no tar'),
        (gzip.compress(tar(('zeros', b'\0' * (65 << 20)))), 413, 'over'),
        (tar(('x' * 300, b'')), 400, ''),
        (tar(('/'.join(['y' * 200] * 30), b'')), 400, ''),
    ]
    head = bytearray(tar(('sparse', b'')))
    head[124:136] = b'\x80' + struct.pack('>Q', 1 << 50).rjust(11, b'\0')  # base 256: a size of a petabyte
    head[148:156] = b' ' * 8
    head[148:156] = b'%06o\0 ' % sum(head[:512])
    bad.append((bytes(head), 400, ''))
    with Server(t) as s:
        i = s.create()
        s.exec(i, 'ls /tmp')
        before = s.exec(i, 'find /tmp /etc ~ | sort; cat /etc/passwd')['stdout']
        for n, (body, status, text) in enumerate(bad):
            r = s.post('/v1/sessions/%s/archive/tmp/in' % i, body)
            t.ok(r.status == status and text in r.json['error']['message'], f'{n}: {r!r}')
        t.equal(s.exec(i, 'find /tmp /etc ~ | sort; cat /etc/passwd')['stdout'], before)
        c = s.connect()
        c.putrequest('POST', '/v1/sessions/%s/archive/tmp' % i)
        c.putheader('Content-Length', str((64 << 20) + 1))
        c.endheaders()
        t.equal(c.getresponse().status, 413)
        c.close()
        t.equal(s.post('/v1/sessions/none/archive/tmp', tar()).status, 404)
        # A link that leads out is only a link.
        r = s.post('/v1/sessions/%s/archive/tmp/in' % i, tar(('d', None, link)))
        t.equal((r.status, s.exec(i, 'readlink /tmp/in/d')['stdout']), (200, '/etc\n'))


main()
