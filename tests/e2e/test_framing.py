"""Raw bytes over a socket: HTTP framing, request smuggling, floods."""

import re
import socket

import pytest

from harness import ADMIN_KEY, DEADLINE

HEAD = (b"POST /v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + ADMIN_KEY.encode()
        + b"\r\nContent-Type: application/json\r\n")
BODY = b'{"type":"a.b","data":1}'
LENGTH = b"Content-Length: %d\r\n" % len(BODY)
CHUNKED = b"Transfer-Encoding: chunked\r\n"
CHUNKS = b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)


def exchange(server, data):
    """Sends the bytes, half-closes the connection and returns everything received."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=DEADLINE) as connection:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        received = b""
        while True:
            try:
                piece = connection.recv(65536)
            except ConnectionResetError:
                return received  # The server answered and closed before everything was sent.
            if not piece:
                return received
            received += piece


def statuses(received):
    return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d{3}) ", received)]


@pytest.mark.parametrize("request_bytes", [
    HEAD + LENGTH + b"\r\n" + BODY,
    HEAD + CHUNKED + b"\r\n" + CHUNKS,
    HEAD + CHUNKED + b"\r\n" + b"1\r\n{\r\n%x;ext=1\r\n%s\r\n0\r\nTrailer: x\r\n\r\n" % (
        len(BODY) - 1, BODY[1:]),
], ids=["length", "chunked", "extension-and-trailer"])
def test_well_framed_requests_are_accepted(server, request_bytes):
    assert statuses(exchange(server, request_bytes)) == [202]


SMUGGLED = {
    "length-and-chunked": HEAD + LENGTH + CHUNKED + b"\r\n" + CHUNKS,
    "chunked-and-length": HEAD + CHUNKED + b"Content-Length: 5\r\n\r\n" + CHUNKS,
    "two-lengths": HEAD + LENGTH + b"Content-Length: 5\r\n\r\n" + BODY,
    "the-same-length-twice": HEAD + LENGTH + LENGTH + b"\r\n" + BODY,
    "two-codings": HEAD + b"Transfer-Encoding: chunked, identity\r\n\r\n" + CHUNKS,
    "chunked-twice": HEAD + CHUNKED + CHUNKED + b"\r\n" + CHUNKS,
    "unknown-coding": HEAD + b"Transfer-Encoding: xchunked\r\n\r\n" + CHUNKS,
    "plus-length": HEAD + b"Content-Length: +%d\r\n\r\n" % len(BODY) + BODY,
    "negative-length": HEAD + b"Content-Length: -1\r\n\r\n" + BODY,
    "hex-length": HEAD + b"Content-Length: 0x17\r\n\r\n" + BODY,
    "list-length": HEAD + b"Content-Length: 23, 23\r\n\r\n" + BODY,
    "huge-length": HEAD + b"Content-Length: 99999999999999999999\r\n\r\n" + BODY,
    "chunked-in-1.0": HEAD.replace(b"HTTP/1.1", b"HTTP/1.0") + CHUNKED + b"\r\n" + CHUNKS,
    "space-before-colon": HEAD + b"Content-Length : 23\r\n\r\n" + BODY,
    "folded-header": HEAD + b"X-A: b\r\n c\r\n" + LENGTH + b"\r\n" + BODY,
    "no-host": HEAD.replace(b"Host: x\r\n", b"") + LENGTH + b"\r\n" + BODY,
    "two-hosts": HEAD + b"Host: y\r\n" + LENGTH + b"\r\n" + BODY,
    "bad-chunk-size": HEAD + CHUNKED + b"\r\nzz\r\n{}\r\n0\r\n\r\n",
    "chunk-size-overflow": HEAD + CHUNKED + b"\r\nFFFFFFFFFFFFFFFFF\r\n{}\r\n0\r\n\r\n",
    "chunk-without-end": HEAD + CHUNKED + b"\r\n2\r\n{}XX0\r\n\r\n",
    "nul-in-header": HEAD + b"X-A: a\x00b\r\n" + LENGTH + b"\r\n" + BODY,
    "no-http": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"x" * 100 + b"\r\n\r\n",
    "no-version": b"GET /healthz\r\n\r\n",
    "http-2-preface": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
}


@pytest.mark.parametrize("name", SMUGGLED)
def test_ambiguous_framing_is_refused_and_the_connection_closed(server, name):
    follow_up = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
    received = exchange(server, SMUGGLED[name] + follow_up)
    answered = statuses(received)
    assert len(answered) == 1, f"{name}: the next request must not be read: {received!r}"
    assert answered[0] in (400, 413, 501, 505), received
    assert b"application/problem+json" in received
    assert b"connection: close" in received.lower()


def test_headers_over_the_limit_are_refused(server):
    large = HEAD + b"".join(b"X-%d: %s\r\n" % (n, b"v" * 1000) for n in range(20)) + b"\r\n"
    received = exchange(server, large)
    assert statuses(received) == [431], received


def test_a_body_over_the_limit_is_refused_before_it_is_read(server):
    head = HEAD + b"Content-Length: 100000000\r\n\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=DEADLINE) as connection:
        connection.sendall(head)
        answer = connection.recv(65536)
    assert answer.startswith(b"HTTP/1.1 413 ")


def test_pipelined_requests_are_answered_in_order(server):
    one = b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Request-Id: n%d\r\n\r\n"
    received = exchange(server, b"".join(one % number for number in range(50)))
    assert statuses(received) == [200] * 50
    places = [received.lower().find(b"x-request-id: n%d\r\n" % number) for number in range(50)]
    assert places == sorted(places) and -1 not in places


def test_expect_100_continue_is_honoured(server):
    with socket.create_connection(("127.0.0.1", server.port), timeout=DEADLINE) as connection:
        connection.sendall(HEAD + LENGTH + b"Expect: 100-continue\r\n\r\n")
        assert connection.recv(65536).startswith(b"HTTP/1.1 100 ")
        connection.sendall(BODY)
        assert connection.recv(65536).startswith(b"HTTP/1.1 202 ")


@pytest.mark.parametrize("method", ["CONNECT", "TRACE"])
def test_connect_and_trace_are_refused(server, method):
    request = f"{method} /healthz HTTP/1.1\r\nHost: x\r\n\r\n".encode()
    assert statuses(exchange(server, request))[0] in (400, 405, 501)


def test_incomplete_requests_do_not_block_other_clients(server):
    idle = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(100)]
    for connection in idle:
        connection.sendall(HEAD[:40])
    assert server.api().request("GET", "/healthz").status == 200
    for connection in idle:
        connection.close()
    server.assert_alive()
