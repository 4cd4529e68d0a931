"""Sends generated bad requests to a server and checks every answer.

    tests/e2e/sweep.py [--seed N] [--requests N] [--first N] [--threads N]

Starts its own server, sends the requests and prints each request with a wrong answer as a curl
command. Request N of a seed is always the same except for the ids of existing resources.
"""

import argparse
import dataclasses
import itertools
import pathlib
import shlex
import socket
import sys
import tempfile
import threading
import time

from bad_requests import RequestGenerator
from contract import Contract, check_problem, from_fragments
from harness import ADMIN_KEY, DEADLINE, Answer
from receiver import Receiver
from resources import Resources, start_server

CANARY = "whsec_Q2FuYXJ5Q2FuYXJ5Q2FuYXJ5Q2FuYXJ5"  # The secret of every webhook; never shown.
ANSWER_SECONDS_MAX = 2 * DEADLINE  # Allows for a stalled disk.
THOROUGH_EVERY = 10  # Validating the schema of every answer would be too slow.
NOWHERE = "http://127.0.0.1:9/"  # Nothing listens here; attempts fail immediately.


class LiveValues:
    """Valid paths, bodies and cursors of the running server."""

    key = ADMIN_KEY

    def __init__(self, resources, contract):
        self.numbers = itertools.count()
        self.pool = {}
        for operation in contract.operations:
            if operation.parameters_in("path"):
                self.pool[operation.id] = [resources.path(operation) for _ in range(3)]
        for _ in range(3):
            resources.event({"tenant_id": "acme"})
            resources.webhook(secret=CANARY, events=["never.happens"])
        self.cursors = [resources.api.get(f"/v1/{kind}?limit=1")["next_cursor"]
                        for kind in ("events", "deliveries", "webhooks")]

    def path(self, operation, rng):
        return rng.choice(self.pool.get(operation.id) or [operation.path])

    def body(self, value, rng):
        for item in value.get("events", [value]) if isinstance(value, dict) else value:
            if isinstance(item, dict) and "idempotency_key" in item:
                item["idempotency_key"] += f"-{next(self.numbers)}"
        if isinstance(value, dict) and "url" in value:
            value["url"] = NOWHERE
        return value

    def cursor(self, rng):
        cursor = rng.choice(self.cursors)
        place = rng.randrange(len(cursor))
        other = rng.choice("AZaz09-_")
        return cursor if rng.random() < 0.5 else cursor[:place] + other + cursor[place + 1:]


class Client:
    """One keep-alive connection that sends requests unchanged. Single-threaded."""

    def __init__(self, port):
        self.port = port
        self.socket = None
        self.rest = b""

    def send(self, request):
        if self.socket is None:
            self.socket = socket.create_connection(("127.0.0.1", self.port),
                                                   timeout=ANSWER_SECONDS_MAX + DEADLINE)
            self.rest = b""
        self.socket.sendall(to_bytes(request))
        answer = self.read(request.method == "HEAD")
        if answer.headers.get("connection") == "close":
            self.close()
        return answer

    def read(self, headless=False):
        while b"\r\n\r\n" not in self.rest:
            self.more()
        head, _, self.rest = self.rest.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {}
        for line in lines:
            name, _, value = line.partition(": ")
            headers[name.lower()] = value
        length = 0 if headless else int(headers.get("content-length", "0"))
        while len(self.rest) < length:
            self.more()
        body, self.rest = self.rest[:length], self.rest[length:]
        if headers.get("content-type") == "text/event-stream":
            self.close()  # The stream is endless.
        return Answer(int(first.split(" ")[1]), headers, body)

    def more(self):
        piece = self.socket.recv(65536)
        if not piece:
            raise ConnectionError("the server closed the connection without an answer")
        self.rest += piece

    def close(self):
        if self.socket:
            self.socket.close()
        self.socket = None


def to_bytes(request):
    lines = [f"{request.method} {request.target} HTTP/1.1", "Host: sweep"]
    lines += [f"{name}: {value}" for name, value in request.headers]
    if request.body or request.method in ("POST", "PUT", "PATCH"):
        lines.append(f"Content-Length: {len(request.body)}")
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + request.body


def to_curl(request, port):
    words = ["curl", "-i", "-X", request.method, f"http://127.0.0.1:{port}{request.target}"]
    for name, value in request.headers:
        words += ["-H", f"{name}: {value}"]
    command = " ".join(map(shlex.quote, words))
    if request.body:
        text = request.body[:4000].decode("latin-1").encode("unicode_escape").decode()
        command += " --data-binary $'" + text.replace("'", "\\'") + "'"
    return command


def check_answer(request, answer, thoroughly):
    """Fails if the answer is not allowed for this request."""
    assert answer.status in request.allowed, f"answered {answer.status}"
    assert answer.headers.get("x-request-id"), "no X-Request-Id"
    assert CANARY.encode() not in answer.body, "a secret was shown"
    if request.method == "HEAD":
        return
    if request.operation is not None:
        request.operation.check(answer, thoroughly)
    elif answer.status >= 400:
        check_problem(answer)


@dataclasses.dataclass
class Report:
    sent: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    statuses: dict = dataclasses.field(default_factory=dict)
    failures: list = dataclasses.field(default_factory=list)


class Sweep:
    """Sends requests first, first + 1, … over several connections and checks the answers."""

    def __init__(self, server, generator, threads=4):
        self.server = server
        self.generator = generator
        self.threads = threads
        self.report = Report()
        self._lock = threading.Lock()

    def run(self, first, count):
        numbers = iter(range(first, first + count))
        started = time.monotonic()
        workers = [threading.Thread(target=self._work, args=(numbers,))
                   for _ in range(self.threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        self.report.seconds += time.monotonic() - started
        return self.report

    def _work(self, numbers):
        client = Client(self.server.port)
        while len(self.report.failures) < 20:
            with self._lock:
                number = next(numbers, None)
            if number is None:
                break
            self._one(client, number)
        client.close()

    def _one(self, client, number):
        request = self.generator.generate(number)
        started = time.monotonic()
        answer = None
        try:
            answer = client.send(request)
            check_answer(request, answer, thoroughly=number % THOROUGH_EVERY == 0)
            took = time.monotonic() - started
            assert took < ANSWER_SECONDS_MAX, f"took {took:.1f} s"
        except (AssertionError, OSError, ValueError, KeyError) as problem:
            client.close()
            self._fail(number, request, f"{problem}\n  {answer!r}")
        else:
            self._count(answer.status, took)
            if "location" in answer.headers:
                self._delete_created(client, answer.headers["location"])

    def _delete_created(self, client, target):
        """Deletes a created resource. Thousands of webhooks would slow down the sweep."""
        request = self.generator.deletion(target)
        try:
            answer = client.send(request)
        except (OSError, ValueError) as problem:
            client.close()
            self._fail(-1, request, str(problem))
            return
        # Another request may have deleted it already, or given the tenant a webhook.
        if answer.status not in (204, 404, 409):
            self._fail(-1, request, f"{answer!r}")

    def _count(self, status, took):
        with self._lock:
            self.report.sent += 1
            self.report.slowest = max(self.report.slowest, took)
            self.report.statuses[status] = self.report.statuses.get(status, 0) + 1

    def _fail(self, number, request, problem):
        text = (f"request {number} of seed {self.generator.seed} ({request.why}): {problem}\n"
                f"  {to_curl(request, self.server.port)}")
        with self._lock:
            self.report.failures.append(text)


def prepare(server, receiver, seed):
    contract = Contract(from_fragments())
    live = LiveValues(Resources(server, receiver), contract)
    return RequestGenerator(contract, live, seed)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--first", type=int, default=0, help="the first request's number")
    parser.add_argument("--threads", type=int, default=4)
    options = parser.parse_args()
    receiver = Receiver().start()
    with tempfile.TemporaryDirectory() as directory:
        server = start_server(pathlib.Path(directory))
        sweep = Sweep(server, prepare(server, receiver, options.seed), options.threads)
        report = sweep.run(options.first, options.requests)
        server.stop()
    print(*report.failures, sep="\n\n")
    print(f"{report.sent} answers in {report.seconds:.1f} s, slowest {report.slowest:.3f} s, "
          f"{dict(sorted(report.statuses.items()))}; {len(report.failures)} wrong")
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
