"""Finds COMMIT in what a client sends to PostgreSQL: as a simple query, or as an execution of a
statement, prepared or not."""

import struct

_START_REQUESTS = {80877103, 80877104}  # TLS and GSS encryption: the client starts again.


class FrontendMessages:
    """The messages of one connection, from its first byte on."""

    def __init__(self):
        self._buffer = bytearray()
        self._started = False
        self._statements = {}  # {name: text}
        self._portals = {}  # {name: text}

    def commits(self, data):
        """Takes the next bytes. Returns how many of the messages that end in them run COMMIT."""
        self._buffer += data
        count = 0
        while (message := self._next()) is not None:
            count += self._runs_commit(*message)
        return count

    def _next(self):
        """Removes one whole message and returns its type and body."""
        head = 1 if self._started else 0
        if len(self._buffer) < head + 4:
            return None
        kind = bytes(self._buffer[:head])
        size, = struct.unpack_from(">i", self._buffer, head)
        if len(self._buffer) < head + size:
            return None
        body = bytes(self._buffer[head + 4:head + size])
        del self._buffer[:head + size]
        if not self._started:
            self._started = struct.unpack_from(">i", body)[0] not in _START_REQUESTS
        return kind, body

    def _runs_commit(self, kind, body):
        if kind == b"Q":
            return _is_commit(_text(body, 0)[0])
        if kind == b"P":
            name, end = _text(body, 0)
            self._statements[name] = _text(body, end)[0]
        elif kind == b"B":
            portal, end = _text(body, 0)
            self._portals[portal] = self._statements.get(_text(body, end)[0], b"")
        elif kind == b"E":
            return _is_commit(self._portals.get(_text(body, 0)[0], b""))
        return False


def _text(body, start):
    """A text that ends with a zero byte, and where the next one begins."""
    end = body.index(b"\0", start)
    return body[start:end], end + 1


def _is_commit(statement):
    return statement.strip().rstrip(b";").upper() == b"COMMIT"
