# SPDX-License-Identifier: Apache-2.0
"""A WebSocket on a command: framing and its limits, streams, resuming, slow readers, and what may not be."""
import json
import struct
import subprocess
import threading

from harness import BINARY, case, main
from server_harness import Server, until
from ws_client import CLOSE, PING, TEXT, BINARY as BYTES, Refused, WebSocket, frame


def path(session, exec_id, query=''):
    return '/v1/sessions/%s/execs/%s/attach%s' % (session, exec_id, query)


def start(s, session, command, **body):
    return s.exec(session, command, wait_ms=0, **body)['exec_id']


def attach(s, session, exec_id, query='', **kw):
    w = WebSocket(s, path(session, exec_id, query), **kw)
    return w, w.event('ready')


def refused(s, where, **kw):
    try:
        WebSocket(s, where, **kw)
    except Refused as e:
        return e
    raise AssertionError('it was not refused')


# ---- the streams ----

@case
def output_input_and_the_end(t):
    with Server(t) as s:
        i = s.create()
        e = start(s, i, 'read a; echo "got $a"; echo wrong >&2; cat; exit 3', stdin_open=True)
        w, ready = attach(s, i, e)
        t.equal((ready['stdin_open'], ready['stdin_offset'], ready['exec']['exec_id']), (True, 0, e))
        t.equal(ready['exec']['status'], 'running')
        w.stdin(b'one\n')
        got, _ = w.read_all(stop=lambda g: g[1] == b'got one\n' and g[2] == b'wrong\n')
        w.send({'type': 'stdin', 'data': 'zwei é\n'})
        w.send({'type': 'stdin', 'data': '/wA=', 'encoding': 'base64'})
        w.send({'type': 'stdin_close'})
        got, end = w.read_all(got)
        t.equal(got, {1: b'got one\nzwei \xc3\xa9\n\xff\0', 2: b'wrong\n'})
        t.equal((end['exec']['status'], end['exec']['exit_code']), ('exited', 3))
        t.equal(dict(s.exec_at(i, e).json, **end['exec']), s.exec_at(i, e).json)
        t.equal(w.closed, 1000)
        # What has ended is told again, from any byte.
        w, ready = attach(s, i, e, '?stdout_offset=4&stderr_offset=6')
        t.equal((ready['stdin_open'], ready['exec']['status']), (False, 'exited'))
        got, end = w.read_all({1: b'got ', 2: b'wrong\n'})
        t.equal(got[1], b'got one\nzwei \xc3\xa9\n\xff\0')
        t.equal(end['exec']['exit_code'], 3)


@case
def output_as_text(t):
    with Server(t) as s:
        i = s.create()
        e = start(s, i, r"printf 'é\377'; for x in $(seq 3000); do printf 'äöü€😀'; done")
        w, _ = attach(s, i, e, '?framing=text')
        got, end = w.read_all()
        t.equal(got[1], 'é'.encode() + b'\xff' + 'äöü€😀'.encode() * 3000)
        t.equal(end['exec']['exit_code'], 0)


@case
def resume_at_every_byte(t):
    with Server(t) as s:
        i = s.create()
        e = start(s, i, 'printf abcdefghij; printf ABCDEFGHIJ >&2; read x; printf klm; printf KLM >&2', stdin_open=True)
        streams = {1: b'', 2: b''}
        want = {1: b'abcdefghij', 2: b'ABCDEFGHIJ'}
        w, _ = attach(s, i, e)
        w.read_all(stop=lambda g: g == want)
        w.drop()
        for n in range(11):
            w, _ = attach(s, i, e, '?stdout_offset=%d&stderr_offset=%d' % (n, 10 - n))
            got, _ = w.read_all({1: want[1][:n], 2: want[2][:10 - n]}, stop=lambda g: g == want)
            t.equal(got, want)
            w.drop()
        # A connection that breaks takes nothing from the command, and the next goes on where it was.
        for n in range(len(want[1]) + 4):
            w, _ = attach(s, i, e, '?stdout_offset=%d&stderr_offset=%d' % (len(streams[1]), len(streams[2])))
            if n == 10:
                w.stdin(b'\n')
            more = lambda g: len(g[1]) > n or n >= 13
            if n < 13:
                w.read_all(streams, stop=more)
                streams[1] = streams[1][:n + 1]
                w.drop()
            else:
                _, end = w.read_all(streams)
                t.equal(end['exec']['exit_code'], 0)
        t.equal(streams, {1: b'abcdefghijklm', 2: b'ABCDEFGHIJKLM'})
        r = refused(s, path(i, e, '?stdout_offset=14'))
        t.equal((r.status, json.loads(r.body)['error']['details']['field']), (400, 'stdout_offset'))


@case
def input_is_taken_once(t):
    with Server(t) as s:
        i = s.create()
        e = start(s, i, 'cat', stdin='0123', stdin_open=True)
        w, ready = attach(s, i, e)
        t.equal(ready['stdin_offset'], 4)
        w.stdin(b'4567', at=4)
        t.equal(w.event('stdin')['offset'], 8)
        w.drop()
        # It does not know what has come, and sends all of it again.
        w, ready = attach(s, i, e)
        t.equal(ready['stdin_offset'], 8)
        w.stdin(b'23456789', at=2)
        t.equal(w.event('stdin')['offset'], 10)
        w.stdin(b'89', at=8)
        w.send({'type': 'stdin', 'data': '9ab', 'offset': 9})
        t.equal(w.event('stdin')['offset'], 12)
        w.send({'type': 'stdin_close'})
        t.equal(s.exec_at(i, e, 60000).json['stdout'], '0123456789ab')
        e = start(s, i, 'cat', stdin_open=True)
        w, _ = attach(s, i, e)
        w.stdin(b'x', at=1)
        t.equal(w.event('error')['code'], 'invalid_argument')
        t.equal(w.message(), None)
        t.equal(w.closed, 1008)


@case
def a_slow_reader_holds_nothing_up(t):
    with Server(t) as s:
        i = s.create()
        n = 6000000
        e = start(s, i, 'head -c %d /dev/zero; echo done >&2' % n)
        w, _ = attach(s, i, e, buffer=4096)
        t.equal(s.exec_at(i, e, 60000).json['status'], 'exited')
        t.equal(s.exec(i, 'echo next')['stdout'], 'next\n')
        got, end = w.read_all()
        t.equal((len(got[1]), got[2], end['exec']['exit_code']), (n, b'done\n', 0))


@case
def more_input_than_is_queued_waits(t):
    with Server(t) as s:
        i = s.create()
        n = 12 << 20
        e = start(s, i, 'until [ -e go ]; do sleep .05; done; wc -c', stdin_open=True)
        w, _ = attach(s, i, e)

        def feed():
            for _ in range(n // 65535 + 1):
                w.send_raw(frame(BYTES, b'\0' + b'x' * 65535))
            w.send({'type': 'stdin_close'})
        f = threading.Thread(target=feed)
        f.start()
        until(lambda: attach(s, i, e)[1]['stdin_offset'] > (8 << 20) - 131072, 'a full queue')
        t.equal(s.ask('PUT', '/v1/sessions/%s/fs/home/user/go' % i, b'').status, 200)
        got, end = w.read_all()
        f.join()
        t.equal(got[1], b'%d\n' % (65535 * (n // 65535 + 1)))


@case
def signals_and_what_is_wrong_but_does_not_end_it(t):
    with Server(t) as s:
        i = s.create()
        e = start(s, i, 'trap "echo int" INT; echo ready; while :; do sleep 1; done')
        w, ready = attach(s, i, e)
        t.equal(ready['stdin_open'], False)
        got, _ = w.read_all(stop=lambda g: g[1] == b'ready\n')
        for wrong in ('{"type":"signal","signal":"NONE"}', '{"type":"signal"}', '{"type":"stdin","data":"x"}', '{}',
                      '{"type":"resize","cols":0,"rows":5}', '{"type":"resize","cols":70000,"rows":5}', '{"a":1}',
                      '{"type":"stdin_close"}', '{"type":"stdin","data":"*","encoding":"base64"}',
                      '{"type":"stdin_close","data":""}', '{"type":5}', '{"type":"resize","cols":1,"rows":1,"x":1}'):
            w.send(wrong)
            t.ok(w.event('error')['code'] in ('invalid_argument', 'conflict'), wrong)
        w.send({'type': 'signal', 'signal': 'INT'})
        w.read_all(got, stop=lambda g: g[1] == b'ready\nint\n')
        w.send({'type': 'signal', 'signal': 'SIGKILL'})
        got, end = w.read_all(got)
        t.equal((end['exec']['status'], end['exec']['signal']), ('killed', 9))


@case
def one_that_waits_for_its_turn(t):
    with Server(t) as s:
        i = s.create()
        first = start(s, i, 'read x', stdin_open=True)
        second = start(s, i, 'echo second; cat', stdin_open=True)
        w, _ = attach(s, i, second)
        w.stdin(b'early\n')
        w.send({'type': 'stdin_close'})
        a, _ = attach(s, i, first)
        a.stdin(b'\n')
        got, end = w.read_all()
        t.equal(got[1], b'second\nearly\n')


@case
def many_on_one_command(t):
    with Server(t) as s:
        i = s.create()
        e = start(s, i, 'read x; seq 5000', stdin_open=True)
        all = [attach(s, i, e, '?framing=' + f)[0] for f in ('binary', 'text') * 5]
        all[0].stdin(b'\n')
        want = b''.join(b'%d\n' % n for n in range(1, 5001))
        for w in all:
            got, end = w.read_all()
            t.equal(got[1], want)
            t.equal(end['exec']['exit_code'], 0)


@case
def who_leaves_stops_nothing(t):
    with Server(t) as s:
        i = s.create()
        e = start(s, i, 'read x; echo "$x"', stdin_open=True)
        w, _ = attach(s, i, e)
        w.close()
        t.equal(w.message(), None)
        t.equal(w.closed, 1000)
        w, _ = attach(s, i, e)
        w.drop()
        t.equal(s.exec_at(i, e).json['status'], 'running')
        s.post('/v1/sessions/%s/execs/%s/stdin' % (i, e), {'data': 'still\n'})
        t.equal(s.exec_at(i, e, 60000).json['stdout'], 'still\n')


@case
def the_session_is_deleted(t):
    with Server(t) as s:
        i = s.create()
        e = start(s, i, 'sleep 1000')
        w, _ = attach(s, i, e)
        t.equal(s.ask('DELETE', '/v1/sessions/' + i).status, 204)
        _, end = w.read_all()
        t.equal(end['exec']['status'], 'killed')
        t.equal(w.closed, 1000)


@case
def the_server_ends(t):
    with Server(t, '--drain', '0s') as s:
        i = s.create()
        w, _ = attach(s, i, start(s, i, 'sleep 1000'))
        t.equal(s.stop(), 0)
        t.equal(w.message(), None)
        t.equal(w.closed, 1001)


# ---- frames ----

@case
def frames_right_and_wrong(t):
    with Server(t) as s:
        i = s.create()
        e = start(s, i, 'cat', stdin_open=True)
        w, _ = attach(s, i, e)
        got = {1: b'', 2: b''}
        w.send_raw(frame(BYTES, b'\0a', fin=False) + frame(PING, b'between') + frame(0, b'b', fin=False) + frame(0, b'c'))
        w.read_all(got, stop=lambda g: g[1] == b'abc')
        t.equal(w.pongs, [b'between'])
        for one in frame(BYTES, b'\0byte by byte'):
            w.send_raw(bytes([one]))
        w.read_all(got, stop=lambda g: g[1] == b'abcbyte by byte')
        long = b'\0' + b'y' * 262143
        w.send_raw(frame(BYTES, long))
        w.read_all(got, stop=lambda g: len(g[1]) == 15 + 262143)
        w.send_raw(frame(TEXT, b'{"type":"stdin",') + b'')
        t.equal(w.message(), None)
        t.equal(w.closed, 1007)
        bad = [(frame(BYTES, b'\0x', mask=False), 1002), (frame(TEXT, b'{}\xff'), 1007), (frame(TEXT, b'\xc3'), 1007),
               (frame(BYTES, b'\0x', rsv=4), 1002), (frame(3, b''), 1002), (frame(0, b'x'), 1002), (frame(BYTES, b''), 1003),
               (frame(BYTES, b'\1x'), 1003), (frame(BYTES, b'\3' + b'1234567'), 1003), (frame(TEXT, b'[]'), 1007),
               (frame(BYTES, long + b'z'), 1009), (frame(BYTES, long, fin=False) + frame(0, b'zz'), 1009),
               (frame(PING, b'x' * 126), 0), (frame(PING, b'', fin=False), 0), (b'\x82\xfe\0\5', 0),
               (frame(CLOSE, struct.pack('>H', 1005)), 1002), (frame(CLOSE, b'\3'), 0), (frame(CLOSE), 0),
               (frame(CLOSE, struct.pack('>H', 4321) + b'bye'), 4321)]
        for data, code in bad:
            w, _ = attach(s, i, e, '?stdout_offset=%d' % len(got[1]))
            w.send_raw(data)
            t.equal(w.message(), None, data[:20])
            t.equal(w.closed, code, data[:20])
        t.equal(s.exec_at(i, e).json['status'], 'running')
        # What comes with the request is the first frame.
        w = WebSocket(s, path(i, e, '?stdout_offset=%d' % len(got[1])), after=frame(BYTES, b'\0early'))
        t.equal(w.message()['type'], 'ready')
        t.equal(w.message()[9:], b'early')


@case
def handshakes(t):
    with Server(t) as s:
        i = s.create()
        e = start(s, i, 'sleep 1000')
        t.equal(s.get(path(i, e)).status, 426)
        for headers, status in (({'Upgrade': None}, 426), ({'Upgrade': 'h2c'}, 426), ({'Connection': 'keep-alive'}, 426),
                                ({'Sec-WebSocket-Version': '8'}, 426), ({'Sec-WebSocket-Version': None}, 426),
                                ({'Sec-WebSocket-Key': None}, 400), ({'Sec-WebSocket-Key': 'short'}, 400),
                                ({'Sec-WebSocket-Key': 'x' * 24}, 400), ({'Origin': 'http://evil.example'}, 403),
                                ({'Host': 'evil.example'}, 403)):
            r = refused(s, path(i, e), headers=headers)
            t.equal(r.status, status, headers)
            if status == 426:
                t.equal((r.headers['sec-websocket-version'], r.headers['upgrade'].lower()), ('13', 'websocket'))
        t.equal(refused(s, path(i, e), raw=b'GET %s HTTP/1.0\r\n' % path(i, e).encode()).status, 426)
        t.equal(refused(s, path(i, 'exec_none')).status, 404)
        t.equal(refused(s, path('none', e)).status, 404)
        for query in ('?framing=both', '?stdout_offset=x', '?stderr_offset=-1', '?offset=1'):
            t.equal(refused(s, path(i, e, query)).status, 400, query)
        w = WebSocket(s, path(i, e), headers={'Origin': 'http://localhost:3000', 'Sec-WebSocket-Protocol': 'a',
                                              'Sec-WebSocket-Extensions': 'permessage-deflate'})
        t.equal([h for h in w.headers if h.startswith('sec-')], ['sec-websocket-accept'])


@case
def keys(t):
    state = t.path('keyed')
    run = lambda caps: subprocess.run([BINARY, 'keys', 'create', '--tenant', 'a', '--capabilities', caps, '--state', state],
                                      capture_output=True, text=True, check=True).stdout.strip()
    full, reader, none = run('all'), run('sessions.read'), run('fs.read')
    with Server(t, state=state) as s:
        auth = lambda k: {'Authorization': 'Bearer ' + k}
        i = s.post('/v1/sessions', headers=auth(full)).json['id']
        e = s.post('/v1/sessions/%s/exec' % i, {'command': 'cat', 'stdin_open': True, 'wait_ms': 0},
                   headers=auth(full)).json['exec_id']
        t.equal(refused(s, path(i, e)).status, 401)
        t.equal(refused(s, path(i, e), headers=auth(none)).status, 403)
        w = WebSocket(s, path(i, e), headers=auth(reader))
        w.event('ready')
        w.stdin(b'no')
        t.equal(w.event('error')['code'], 'permission_denied')
        f = WebSocket(s, path(i, e), headers=auth(full))
        f.stdin(b'yes')
        got, _ = w.read_all(stop=lambda g: g[1] == b'yes')
        t.equal(got[1], b'yes')


@case
def over_a_unix_socket(t):
    with Server(t, listen='unix:' + t.path('s')) as s:
        i = s.create()
        w, _ = attach(s, i, start(s, i, 'echo hello'))
        t.equal(w.read_all()[0][1], b'hello\n')


if __name__ == '__main__':
    main()
