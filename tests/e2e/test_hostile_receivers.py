"""Hostile receivers: every attempt ends, is recorded and uses bounded memory (P6)."""

import socket
import threading

import pytest

from harness import SLOWNESS
from world import SLOW

OK_HEAD = b"HTTP/1.1 200 OK\r\n"
EMPTY = OK_HEAD + b"Content-Length: 0\r\n\r\n"


def drip(data):
    """Yields one byte at a time: each read makes progress, but the response never ends."""
    for byte in data:
        yield bytes([byte])
        threading.Event().wait(0.05)


# name: (pieces to send, status, http_status, failure category)
HOSTILE = {
    "a long body": (lambda: [OK_HEAD + b"Content-Length: 10000000\r\n\r\n", b"x" * 10_000_000],
                    "succeeded", 200, None),
    "an endless chunked body": (
        lambda: [OK_HEAD + b"Transfer-Encoding: chunked\r\n\r\n",
                 *[b"2710\r\n" + b"x" * 10_000 + b"\r\n"] * 10_000],
        "succeeded", 200, None),
    "an endless body without a length": (
        lambda: [b"HTTP/1.1 500 No\r\n\r\n", *[b"x" * 10_000] * 10_000],
        "retrying", 500, "server_error"),
    "a head that drips": (lambda: drip(OK_HEAD + b"X-A: " + b"a" * 10_000),
                          "retrying", None, "timeout"),
    "a head without an end": (lambda: [OK_HEAD, *endless_headers()], "retrying", None, "protocol"),
    "a flood of interim answers": (
        lambda: [*[b"HTTP/1.1 100 Continue\r\n\r\n"] * 100_000, EMPTY],
        "retrying", None, "protocol"),
    "one interim answer": (lambda: [b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", EMPTY],
                           "succeeded", 200, None),
    "another protocol": (lambda: [b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"],
                         "retrying", None, "protocol"),
    "status 999": (lambda: [b"HTTP/1.1 999 No\r\nContent-Length: 0\r\n\r\n"],
                   "retrying", None, "protocol"),
    "status 2OO": (lambda: [b"HTTP/1.1 2OO OK\r\nContent-Length: 0\r\n\r\n"],
                   "retrying", None, "protocol"),
    "an endless chunk size": (
        lambda: [OK_HEAD + b"Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n"],
        "retrying", None, "protocol"),
}


def endless_headers():
    return (b"X-A: " + b"v" * 1000 + b"\r\n" for _ in range(100_000))


@pytest.fixture
def hostile_port():
    """A listener that answers every connection with the given pieces."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()

    def answer(connection, pieces):
        with connection:
            try:
                connection.recv(65536)
                for piece in pieces():
                    connection.sendall(piece)
                connection.recv(1)  # Returns when the server closes.
            except OSError:
                pass  # The server closed the connection, as it should.

    def serve(pieces):
        def accept():
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                threading.Thread(target=answer, args=(connection, pieces), daemon=True).start()
        threading.Thread(target=accept, daemon=True).start()
        return listener.getsockname()[1]
    yield serve
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()


def resident_bytes(server):
    with open(f"/proc/{server.process.pid}/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * 4096


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_receiver_ends_in_a_recorded_attempt(world, server, hostile_port, name):
    pieces, status, http_status, category = HOSTILE[name]
    before = resident_bytes(server)
    hook = world.hook(url=f"http://127.0.0.1:{hostile_port(pieces)}/", timeout_ms=1000,
                      retry_config=SLOW)
    event = world.publish()
    delivery = world.wait_status(event["id"], hook, "succeeded", "retrying", "dead_letter")
    attempt, = delivery["attempts"]
    assert (delivery["status"], attempt["http_status"], attempt["failure_category"]) == (
        status, http_status, category), attempt
    assert len(attempt["response_sample"].encode()) <= 1024
    assert attempt["duration_ms"] <= 5_000 * SLOWNESS
    if SLOWNESS == 1:  # Sanitizers keep freed memory.
        assert resident_bytes(server) - before < 8 * 1024 * 1024
