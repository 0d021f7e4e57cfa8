# SPDX-License-Identifier: Apache-2.0
"""A WebSocket client (RFC 6455) that can also do wrong, in Python's standard library only."""
import base64
import hashlib
import json
import os
import socket
import struct

from harness import SLOW

GUID = b'258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10


class Refused(Exception):
    def __init__(self, status, headers, body):
        super().__init__('%d %r' % (status, body[:300]))
        self.status, self.headers, self.body = status, headers, body


def frame(opcode, data=b'', fin=True, mask=True, rsv=0):
    head = bytes([(0x80 if fin else 0) | rsv << 4 | opcode])
    n = len(data)
    bit = 0x80 if mask else 0
    if n < 126:
        head += bytes([bit | n])
    elif n < 65536:
        head += bytes([bit | 126]) + struct.pack('>H', n)
    else:
        head += bytes([bit | 127]) + struct.pack('>Q', n)
    if not mask:
        return head + data
    key = os.urandom(4)
    pad = key * (n // 4 + 1)
    return head + key + (int.from_bytes(data, 'big') ^ int.from_bytes(pad[:n], 'big')).to_bytes(n, 'big')


class WebSocket:
    """Connects and shakes hands; Refused when the server does not. What came is read message by message."""

    def __init__(self, server, path, headers=None, raw=None, buffer=None, after=b''):
        self.sock = socket.socket(socket.AF_UNIX if server.unix else socket.AF_INET)
        if buffer:
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        self.sock.settimeout(60 * SLOW)
        self.sock.connect(server.unix if server.unix else server.address)
        key = base64.b64encode(os.urandom(16))
        h = {'Host': 'localhost', 'Connection': 'keep-alive, Upgrade', 'Upgrade': 'WebSocket',
             'Sec-WebSocket-Version': '13', 'Sec-WebSocket-Key': key.decode()}
        h.update(headers or {})
        request = raw or ('GET %s HTTP/1.1\r\n' % path).encode()
        request += b''.join(('%s: %s\r\n' % (k, v)).encode() for k, v in h.items() if v is not None) + b'\r\n'
        self.sock.sendall(request + after)
        self.data = b''
        self.closed = None  # the code of the server's close frame: 0 when it has none
        while b'\r\n\r\n' not in self.data:
            got = self.sock.recv(65536)
            if not got:
                raise Refused(0, {}, self.data)
            self.data += got
        head, self.data = self.data.split(b'\r\n\r\n', 1)
        lines = head.decode().split('\r\n')
        self.status = int(lines[0].split()[1])
        self.headers = {k.strip().lower(): v.strip() for k, v in (line.split(':', 1) for line in lines[1:])}
        if self.status != 101:
            while len(self.data) < int(self.headers.get('content-length', 0)):
                self.data += self.sock.recv(65536)
            self.sock.close()
            raise Refused(self.status, self.headers, self.data)
        want = base64.b64encode(hashlib.sha1(key + GUID).digest()).decode()
        if self.headers.get('sec-websocket-accept') != want and not headers:
            raise ValueError('the answer of the handshake is wrong: %r' % self.headers)
        self.pongs = []
        self.parts = None

    # ---- out ----

    def send_raw(self, data):
        self.sock.sendall(data)

    def send(self, data, **kw):
        if isinstance(data, dict):
            data = json.dumps(data)
        if isinstance(data, str):
            self.sock.sendall(frame(TEXT, data.encode(), **kw))
        else:
            self.sock.sendall(frame(BINARY, data, **kw))

    def stdin(self, data, at=None):
        self.send(b'\0' + data if at is None else b'\3' + struct.pack('>Q', at) + data)

    def close(self, code=1000):
        self.sock.sendall(frame(CLOSE, struct.pack('>H', code)))

    def drop(self):
        """Without a word, as a machine that loses its network does."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
        self.sock.close()

    # ---- in ----

    def _need(self, n):
        while len(self.data) < n:
            got = self.sock.recv(65536)
            if not got:
                raise EOFError
            self.data += got

    def frame(self):
        """(opcode, fin, payload) of the next frame; EOFError at the end of the stream."""
        self._need(2)
        first, second = self.data[0], self.data[1]
        n, at = second & 0x7f, 2
        if second & 0x80:
            raise ValueError('a server must not mask')
        if n == 126:
            self._need(4)
            n, at = struct.unpack('>H', self.data[2:4])[0], 4
        elif n == 127:
            self._need(10)
            n, at = struct.unpack('>Q', self.data[2:10])[0], 10
        self._need(at + n)
        payload, self.data = self.data[at:at + n], self.data[at + n:]
        return first & 15, bool(first & 0x80), payload

    def message(self):
        """The next message: bytes, or a dict of a text; None at the end. Pings are answered."""
        while True:
            try:
                opcode, fin, payload = self.frame()
            except (EOFError, ConnectionResetError):
                return None
            if opcode == PING:
                self.sock.sendall(frame(PONG, payload))
            elif opcode == PONG:
                self.pongs.append(payload)
            elif opcode == CLOSE:
                self.closed = struct.unpack('>H', payload[:2])[0] if len(payload) >= 2 else 0
                self.reason = payload[2:].decode()
                try:
                    self.sock.sendall(frame(CLOSE, payload[:2]))
                except OSError:
                    pass  # it has gone already
            elif opcode == TEXT and fin:
                return json.loads(payload.decode())
            elif opcode == BINARY and fin:
                return payload
            else:
                raise ValueError('an unexpected frame: %d %r' % (opcode, fin))

    def event(self, kind):
        """The next text message of that type; others between are dropped."""
        while True:
            m = self.message()
            if m is None:
                raise EOFError('no event %r: closed with %r' % (kind, self.closed))
            if isinstance(m, dict) and m['type'] == kind:
                return m

    def read_all(self, streams=None, stop=None):
        """Output until the end, or until stop(streams) is true: ({1: bytes, 2: bytes}, the exit event or None)."""
        streams = streams if streams is not None else {1: b'', 2: b''}
        end = None
        while not (stop and stop(streams)):
            m = self.message()
            if m is None:
                break
            if isinstance(m, bytes):
                at = struct.unpack('>Q', m[1:9])[0]
                if at != len(streams[m[0]]):
                    raise ValueError('stream %d goes on at %d, not at %d' % (m[0], at, len(streams[m[0]])))
                streams[m[0]] += m[9:]
            elif m['type'] == 'output':
                which = {'stdout': 1, 'stderr': 2}[m['stream']]
                data = m['data'].encode() if 'data_encoding' not in m else base64.b64decode(m['data'])
                if m['offset'] != len(streams[which]):
                    raise ValueError('%s goes on at %d' % (m['stream'], m['offset']))
                streams[which] += data
            elif m['type'] == 'exit':
                end = m
        return streams, end
