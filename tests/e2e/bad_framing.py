"""Generates malformed and unusual HTTP requests from a seed and checks the answers."""

import json
import random
import re
import socket

from harness import ADMIN_KEY, DEADLINE

BODY = b'{"type":"sweep.framing","data":1}'
FOLLOW_UP = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
LINE = b"POST /v1/events HTTP/1.1\r\n"
HOST = b"Host: x\r\n"
COMMON = (b"Authorization: Bearer " + ADMIN_KEY.encode()
          + b"\r\nContent-Type: application/json\r\n")
LENGTH = b"Content-Length: %d\r\n" % len(BODY)
CHUNKED = b"Transfer-Encoding: chunked\r\n"
CHUNKS = b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)

# Headers beside a good Content-Length that make a request ambiguous or broken.
BROKEN_BESIDE_LENGTH = [
    b"Content-Length: %d\r\n" % len(BODY), b"Content-Length: 0\r\n", CHUNKED,
    b"Transfer-Encoding: identity\r\n", b"Transfer-Encoding:\r\n", b"Host: y\r\n",
    b"X A: b\r\n", b"X-A : b\r\n", b": b\r\n", b"X-A\r\n", b"X-A: a\x00b\r\n", b"X-A: b\r\n c\r\n",
    b"X-A: b\r\n\tc\r\n", b"X-A: b\n", b"X-A: \x01\r\n", b"X-A: \x7f\r\n", b"X\x00A: b\r\n",
    b"X(A): b\r\n", b"\x80: b\r\n", b"X-A: b\rX-B: c\r\n", b" X-A: b\r\n"]
BROKEN_LENGTHS = [
    b"+33", b"-1", b"-0", b"0x21", b"33, 33", b"33,34", b"33 33", b"3 3", b"", b"abc", b"33;",
    b"1e1", b"33.0", b"99999999999999999999", b"18446744073709551649", b"\xd9\xa3", b"'33'",
    b"33\x0b"]
BROKEN_CODINGS = [
    b"xchunked", b"chunked, identity", b"identity, chunked", b"gzip, chunked", b"chunked, chunked",
    b"chunked;q=1", b"chunked\x0b", b"\x0bchunked", b"'chunked'", b"chunk", b"deflate", b"chunked,"]
BROKEN_CHUNKS = [
    b"zz\r\n{}\r\n0\r\n\r\n", b"FFFFFFFFFFFFFFFFF\r\n{}\r\n0\r\n\r\n", b"2\r\n{}XX0\r\n\r\n",
    b"-2\r\n{}\r\n0\r\n\r\n", b"+2\r\n{}\r\n0\r\n\r\n", b"0x2\r\n{}\r\n0\r\n\r\n",
    b"2\r\n{}0\r\n\r\n", b"2 \x00\r\n{}\r\n0\r\n\r\n", b"\r\n", b"7fffffffffffffff\r\n{}"]
BROKEN_LINES = [
    b"POST http://x/v1/events HTTP/1.1\r\n", b"POST * HTTP/1.1\r\n", b"POST x:80 HTTP/1.1\r\n",
    b"POST /v1/events HTTP/1.2\r\n", b"POST /v1/events HTTP/2.0\r\n",
    b"POST /v1/events http/1.1\r\n", b"POST /v1/events\r\n",
    b"POST  /v1/events HTTP/1.1\r\n", b"POST /v1/ev ents HTTP/1.1\r\n",
    b"POST /v1/events HTTP/1.1 \r\n", b" POST /v1/events HTTP/1.1\r\n", b"POST\t/ HTTP/1.1\r\n",
    b"P(ST /v1/events HTTP/1.1\r\n", b"POST /v1/events#a HTTP/1.1\r\n", b"POST /\x00 HTTP/1.1\r\n",
    b"POST /v1/../v1/events HTTP/1.1\r\n", b"POST /v1/events HTTP/1.1\n", b"\x16\x03\x01\x02\r\n",
    b"POST /" + b"a" * 20_000 + b" HTTP/1.1\r\n", b"PRI * HTTP/2.0\r\n", b"POST \\v1 HTTP/1.1\r\n"]


def chunked(body, rng):
    """Encodes the body in random chunks, with extensions and trailers."""
    text = b""
    while body:
        size = rng.randint(1, len(body))
        extension = rng.choice((b"", b"", b";a=b", b';a="b c"'))
        text += b"%x%s\r\n%s\r\n" % (size, extension, body[:size])
        body = body[size:]
    return text + b"0\r\n" + rng.choice((b"", b"", b"Trailer-A: x\r\n")) + b"\r\n"


def broken(rng):
    """One request that must be refused and whose connection must be closed."""
    choice = rng.randrange(6)
    if choice == 0:
        beside = rng.choice(BROKEN_BESIDE_LENGTH)
        return LINE + HOST + COMMON + LENGTH + beside + b"\r\n" + BODY
    if choice == 1:
        return LINE + HOST + COMMON + b"Content-Length: %s\r\n\r\n" % rng.choice(
            BROKEN_LENGTHS) + BODY
    if choice == 2:
        return LINE + HOST + COMMON + b"Transfer-Encoding: %s\r\n\r\n" % rng.choice(
            BROKEN_CODINGS) + CHUNKS
    if choice == 3:
        return LINE + HOST + COMMON + CHUNKED + b"\r\n" + rng.choice(BROKEN_CHUNKS)
    if choice == 4:
        return rng.choice(BROKEN_LINES) + HOST + COMMON + LENGTH + b"\r\n" + BODY
    return rng.choice((
        LINE + COMMON + LENGTH + b"\r\n" + BODY,  # No Host.
        LINE.replace(b"1.1", b"1.0") + HOST + COMMON + CHUNKED + b"\r\n" + CHUNKS,
        LINE + HOST + COMMON + b"".join(b"X-%d: v\r\n" % n for n in range(300)) + b"\r\n",
        LINE + HOST + COMMON + b"Content-Length: 100000000\r\n\r\n"))


def whole(rng):
    """Unusual but valid requests, and the expected number of answers."""
    choice = rng.randrange(4)
    if choice == 0:
        return LINE + HOST + COMMON + CHUNKED + b"\r\n" + chunked(BODY, rng), 1
    if choice == 1:
        count = rng.choice((2, 10, 100))
        return FOLLOW_UP * count, count
    if choice == 2:
        length = LENGTH.replace(b": ", rng.choice((b":", b": ", b":\t ", b":   ")))
        return LINE + HOST + COMMON.replace(b"Authorization", b"aUTHORIZATION") + length + (
            b"\r\n" + BODY), 1
    return LINE + HOST + COMMON + b"transfer-encoding: Chunked\r\n\r\n" + CHUNKS, 1


def exchange(port, pieces):
    """Sends the pieces, half-closes the connection and returns everything received."""
    with socket.create_connection(("127.0.0.1", port), timeout=DEADLINE) as connection:
        received = b""
        try:
            for piece in pieces:
                connection.sendall(piece)
            connection.shutdown(socket.SHUT_WR)
            while piece := connection.recv(65536):
                received += piece
        except (ConnectionResetError, BrokenPipeError):
            pass  # The server answered and closed before everything was sent.
        return received


def statuses(received):
    return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d{3}) ", received)]


def cut(data, rng):
    """The same bytes in several pieces."""
    places = sorted(rng.randrange(len(data)) for _ in range(rng.choice((0, 1, 3))))
    return [data[start:end] for start, end in zip([0, *places], [*places, len(data)])]


def check_framing(port, seed, number):
    """Sends request `number` of a seed. Fails if the answer is wrong."""
    rng = random.Random(f"{seed}/framing/{number}")
    choice = rng.randrange(4)
    if choice == 0:
        data, count = whole(rng)
        received = exchange(port, cut(data + FOLLOW_UP, rng))
        answered = statuses(received)
        fine = len(answered) == count + 1 and set(answered) <= {200, 202}
    elif choice == 1:
        data, count = whole(rng)
        data = data[:rng.randrange(len(data))]
        received = exchange(port, cut(data, rng) if data else [])
        answered = statuses(received)
        fine = len(answered) <= count and set(answered) <= {200, 202}
    else:
        data = broken(rng)
        received = exchange(port, cut(data + FOLLOW_UP, rng))
        answered = statuses(received)
        fine = refused_and_closed(received, answered)
    details = f"{answered} to {data[:600]!r}: {received[:400]!r}"
    assert fine, f"framing {number} of seed {seed}: {details}"


def refused_and_closed(received, answered):
    """Is there exactly one answer, a problem document with `Connection: close`?"""
    if len(answered) != 1 or not 400 <= answered[0] < 500:
        return False
    head, _, body = received.partition(b"\r\n\r\n")
    problem = json.loads(body)
    return (b"\r\nconnection: close" in head.lower() and problem["status"] == answered[0]
            and b"application/problem+json" in head)
