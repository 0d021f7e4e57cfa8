# SPDX-License-Identifier: Apache-2.0
"""A command on a terminal of the session's own: over a WebSocket, over the other routes, and replayed."""
import re

from harness import case, main
from server_harness import Server, until
from ws_client import WebSocket


def path(session, exec_id, query=''):
    return '/v1/sessions/%s/execs/%s/attach%s' % (session, exec_id, query)


class Terminal:
    """A command with a terminal, as a person at it: types, and waits for what is shown."""

    def __init__(self, t, s, session, cols=80, rows=24, **body):
        self.t, self.s, self.session = t, s, session
        r = s.exec(session, tty={'cols': cols, 'rows': rows}, wait_ms=0, **body)
        self.id = r['exec_id']
        self.shown, self.seen = {1: b'', 2: b''}, 0
        self.attach()

    def attach(self):
        self.w = WebSocket(self.s, path(self.session, self.id, '?stdout_offset=%d' % len(self.shown[1])))
        self.ready = self.w.event('ready')

    def type(self, text):
        self.w.stdin(text.encode())

    def expect(self, text):
        """Waits until it is shown behind what was expected before; all that came until then."""
        want = text.encode()
        self.w.read_all(self.shown, stop=lambda g: want in g[1][self.seen:])
        at = self.shown[1].find(want, self.seen)
        self.t.ok(at >= 0, '%r in %r' % (text, self.shown[1][self.seen:]))
        got, self.seen = self.shown[1][self.seen:at + len(want)], at + len(want)
        return got.decode()

    def end(self):
        _, e = self.w.read_all(self.shown)
        return e['exec']


def replays(t, s, session):
    r = s.post('/v1/replays', {'session': session})
    t.equal((r.status, r.json['equal']), (200, True), r.body)


@case
def an_interactive_shell(t):
    with Server(t) as s:
        i = s.create()
        b = Terminal(t, s, i, cols=100, rows=30, argv=['bash', '--norc'], env={'PS1': '$ '})
        t.equal((b.ready['tty'], b.ready['stdin_open']), (True, True))
        b.expect('$ ')
        b.type('tty=$(stty size); echo "<$tty> $(tput cols) $LINES"; [ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo all\r')
        b.expect('\r\n<30 100> 100 30\r\nall\r\n$ ')
        b.type('echo wrold\x7f\x7f\x7f\x7forld\r')
        b.expect('echo wrold\b \b\b \b\b \b\b \borld\r\nworld\r\n$ ')
        b.type('for x in 1 2\r')
        b.expect('for x in 1 2\r\n> ')
        b.type('do echo "n $x"\r')
        b.expect('do echo "n $x"\r\n> ')
        b.type('done\r')
        b.expect('done\r\nn 1\r\nn 2\r\n$ ')
        b.type('cat\r')
        b.type('line\r')
        b.expect('line\r\nline\r\n')
        b.type('\x04')
        b.expect('$ ')
        b.type('(echo begun; sleep 1000)\r')
        b.expect('\r\nbegun\r\n')
        b.type('\x03')
        b.expect('^C\r\n$ ')
        b.type('echo $?\r')
        b.expect('\r\n130\r\n$ ')
        b.type('half a line\x03')
        b.expect('^C\r\n$ ')
        b.w.send({'type': 'resize', 'cols': 132, 'rows': 50})
        b.type('stty size\r')
        b.expect('\r\n50 132\r\n$ ')
        b.type('cd /tmp; X=kept; exit 7\r')
        b.expect('exit\r\n')
        e = b.end()
        t.equal((e['status'], e['exit_code']), ('exited', 7))
        replays(t, s, i)


@case
def keys_and_jobs(t):
    with Server(t) as s:
        i = s.create()
        b = Terminal(t, s, i, argv=['bash', '--norc'], env={'PS1': '$ '})
        b.expect('$ ')
        b.type('cat\r')
        b.expect('cat\r\n')
        b.type('x\r')
        b.expect('x\r\nx\r\n')
        b.type('\x1a')
        b.expect('^Z')
        b.expect('Stopped')
        b.expect('$ ')
        b.type('jobs\r')
        b.expect('Stopped')
        b.expect('$ ')
        b.type('fg\r')
        b.expect('cat\r\n')
        b.type('y\r')
        b.expect('y\r\ny\r\n')
        b.type('\x1c')
        b.expect('^\\')
        b.expect('$ ')
        b.type('exec 3</dev/tty; read -u 3 v; echo "<$v>"\r')
        b.expect('echo "<$v>"\r\n')
        b.type('from the terminal\r')
        b.expect('<from the terminal>\r\n')
        b.expect('$ ')
        b.type('\x04')
        b.expect('exit\r\n')
        t.equal(b.end()['exit_code'], 0)
        replays(t, s, i)


@case
def raw_silent_and_settings(t):
    with Server(t) as s:
        i = s.create()
        b = Terminal(t, s, i, command='read -s -p "Password: " p; echo; echo "<$p>"; read -n 1 k; echo "<$k>"; '
                                      'old=$(stty -g); stty raw -echo; dd bs=1 count=2 2>/dev/null | xxd -p; '
                                      'stty "$old"; stty; stty -a; read line; echo "<$line>"')
        b.expect('Password: ')
        b.type('secret\r')
        b.expect('\r\n<secret>\r\n')
        t.ok(b'secret\r\n<' not in b.shown[1], 'it was not shown')
        b.type('k')
        b.expect('k<k>\r\n')
        b.type('\r\x03')
        b.expect('0d03\n')
        got = b.expect('-extproc\r\n')
        t.ok('intr = ^C; quit = ^\\; erase = ^?; kill = ^U; eof = ^D;' in got, got)
        t.ok(' isig icanon iexten echo echoe echok ' in got.replace('\r\n', ' '), got)
        b.type('last\r')
        b.expect('last\r\n<last>\r\n')
        t.equal(b.end()['exit_code'], 0)
        replays(t, s, i)


@case
def without_a_websocket(t):
    with Server(t) as s:
        i = s.create()
        e = s.exec(i, 'echo "$(stty size)"; read x; echo "<$x>"; trap "echo int" INT; sleep 1000; cat',
                   tty={'cols': 40, 'rows': 10}, wait_ms=0)['exec_id']
        where = '/v1/sessions/%s/execs/%s' % (i, e)
        got = lambda: s.get(where + '/output').body
        until(lambda: got() == b'10 40\r\n', 'the size')
        t.equal(s.post(where + '/stdin', {'data': 'typed\r'}).status, 204)
        until(lambda: got().endswith(b'typed\r\n<typed>\r\n'), 'the line')
        t.equal(s.post(where + '/stdin', {'data': '\x03'}).status, 204)
        until(lambda: got().endswith(b'^Cint\r\n'), 'the signal')
        t.equal(s.post(where + '/stdin', {'data': 'more\r', 'close': True}).status, 204)
        r = s.exec_at(i, e, 60000).json
        t.equal((r['status'], r['exit_code'], r['stdout'].split('\r\n')[-3:]), ('exited', 0, ['more', 'more', '']))
        t.equal(r['stderr'], '')
        # A terminal of the usual size, whose input is there from the begin.
        r = s.exec(i, 'stty size; read a; read b; echo "$a-$b"', stdin='1\n2\n', tty={})
        t.equal(sorted(r['stdout'].split('\r\n')), ['', '1', '1-2', '2', '24 80'])
        for tty in (True, 5, [], {'cols': 0}, {'cols': 70000, 'rows': 5}, {'cols': 'x'}, {'width': 5}):
            r = s.post('/v1/sessions/%s/exec' % i, {'command': ':', 'tty': tty})
            t.equal((r.status, r.json['error']['details']), (400, {'field': 'tty'}), tty)
        t.equal(s.exec(i, '[ -t 0 ] || echo none', tty=None)['stdout'], 'none\n')
        replays(t, s, i)


@case
def a_connection_that_breaks_at_every_key(t):
    with Server(t) as s:
        i = s.create()
        b = Terminal(t, s, i, argv=['bash', '--norc'], env={'PS1': '$ '})
        b.expect('$ ')
        for n, key in enumerate('echo seen\r'):
            b.w.stdin(key.encode(), at=n)
            b.w.event('stdin')
            b.w.drop()
            b.attach()
            t.equal(b.ready['stdin_offset'], n + 1)
        b.expect('echo seen\r\nseen\r\n$ ')
        b.type('exit\r')
        t.equal(b.end()['exit_code'], 0)
        t.equal(b.shown[1], b'$ echo seen\r\nseen\r\n$ exit\r\nexit\r\n')


@case
def a_paste_that_is_longer_than_a_line(t):
    with Server(t) as s:
        i = s.create()
        b = Terminal(t, s, i, command='stty -echo; echo ready; until [ -e go ]; do sleep .05; done; head -n 20001 | tail -n 1')
        b.expect('ready\r\n')
        for k in range(20):
            b.type(''.join('line %d of a long paste\r' % n for n in range(k * 1000, k * 1000 + 1000)))
        b.type('the end\r')
        s.ask('PUT', '/v1/sessions/%s/fs/home/user/go' % i, b'')
        b.expect('the end\r\n')
        t.equal(b.end()['exit_code'], 0)
        replays(t, s, i)


@case
def more_is_shown_than_is_kept(t):
    with Server(t) as s:
        i = s.create()
        e = s.exec(i, 'head -c 20000000 /dev/zero; echo; echo the end', tty={}, wait_ms=60000)
        t.equal((e['status'], e['truncated'], e['stdout_bytes']), ('exited', True, 20000011))
        where = '/v1/sessions/%s/execs/%s/output' % (i, e['exec_id'])
        r = s.get(where)
        begin = int(r.headers['Output-Offset'])
        t.ok(begin > 0 and begin + len(r.body) == 20000011, r.headers)
        t.ok(r.body.endswith(b'\0\r\nthe end\r\n'))
        t.equal((r.headers['Output-Total'], r.headers['Output-Truncated'], r.headers['Output-End']),
                ('20000011', 'true', 'true'))


if __name__ == '__main__':
    main()
