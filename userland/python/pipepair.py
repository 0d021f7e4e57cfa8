# SPDX-License-Identifier: Apache-2.0
"""The two ends that an event loop wakes itself with: a pipe, with as much of a socket's face as the loop uses."""
import os


class _End:
    def __init__(self, fd):
        self._fd = fd

    def fileno(self):
        return self._fd

    def setblocking(self, flag):
        os.set_blocking(self._fd, flag)

    def recv(self, n):
        return os.read(self._fd, n)

    def send(self, data):
        return os.write(self._fd, data)

    def close(self):
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)


def pair():
    reader, writer = os.pipe()
    return _End(reader), _End(writer)
