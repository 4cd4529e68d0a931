#!/usr/bin/python3
"""Measures how long events wait for healthy webhooks while other webhooks hang.

Every case starts a server, some healthy webhooks and some that accept connections and never answer.
The latency of an event is the time from before its publish to its arrival at a healthy webhook. The
result is the ratio of the 99th percentile to that of the quiet case, in which nothing hangs.
"""

import argparse
import http.client
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import time

import run

HEALTHY = 10  # Webhooks, one per healthy tenant unless the case says otherwise.
GREEDY = {"max_in_flight": 1000, "retry_config": {"timeout_ms": 300_000},
          "circuit_breaker_config": {"enabled": False}}


class Case:
    def __init__(self, name, hanging=0, tenants=1, same_tenant=False, settings=None):
        self.name = name
        self.hanging = hanging          # Webhooks that hang, in all tenants together.
        self.tenants = tenants          # The tenants that they belong to.
        self.same_tenant = same_tenant  # These are the tenants of the healthy webhooks.
        self.settings = settings or {}


def cases(many):
    return [
        Case("nothing hangs"),
        Case("10 % of the webhooks hang, in one tenant", 1, same_tenant=True),
        Case("50 % of the webhooks hang, in one tenant", HEALTHY, same_tenant=True),
        Case("50 % of the webhooks hang, in many tenants", HEALTHY, HEALTHY, same_tenant=True),
        Case("600 webhooks hang, in one tenant", 600, same_tenant=True),
        Case("two hostile tenants", 6, 2, settings=GREEDY),
        Case("a hostile tenant for each healthy one", HEALTHY, HEALTHY, settings=GREEDY),
        Case(f"{many:,} webhooks hang", many, max(many // 900, 1), same_tenant=True),
    ]


class Receiver(threading.Thread):
    """Answers POSTs with 200 and records the latency of each event."""

    def __init__(self):
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.port = self.listener.getsockname()[1]
        self.latencies = []

    def run(self):
        while True:
            connection, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        stream = connection.makefile("rb")
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while stream.readline():
            length = 0
            while (line := stream.readline()) not in (b"\r\n", b""):
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            body = json.loads(stream.read(length))
            now = time.monotonic()
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            self.latencies.append(now - body["data"]["at"])


class Silent(threading.Thread):
    def __init__(self):
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=4096)
        self.port = self.listener.getsockname()[1]
        self.held = []

    def run(self):
        while True:
            self.held.append(self.listener.accept()[0])


class Client:
    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)

    def post(self, path, body):
        headers = {"Authorization": f"Bearer {run.KEY}", "Content-Type": "application/json"}
        self.connection.request("POST", path, json.dumps(body), headers)
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status >= 300:
            sys.exit(f"bench: {path} answered {answer.status}: {text.decode()}")


def tenants_of(case):
    """The tenants of the healthy webhooks and those of the hanging ones."""
    if not case.same_tenant:
        return ([f"healthy-{number}" for number in range(HEALTHY)],
                [f"hostile-{number}" for number in range(case.tenants)])
    shared = [f"tenant-{number}" for number in range(case.tenants)]
    return shared[:HEALTHY], shared


def set_up(case, client, receiver, silent):
    healthy, hostile = tenants_of(case)
    for number in range(HEALTHY):
        client.post("/v1/webhooks", {"url": f"http://127.0.0.1:{receiver.port}/{number}",
                                     "tenant_id": healthy[number % len(healthy)],
                                     "events": [f"probe.n{number}"]})
    for number in range(case.hanging):
        client.post("/v1/webhooks", {"url": f"http://127.0.0.1:{silent.port}/{number}",
                                     "tenant_id": hostile[number % len(hostile)],
                                     "events": ["flood.*"], **case.settings})
    events = 2000 if case.settings else 10
    for tenant in hostile if case.hanging else []:
        for begin in range(0, events, 100):
            client.post("/v1/events/batch", {"events": [
                {"type": "flood.event", "tenant_id": tenant, "data": {}}
                for _ in range(min(100, events - begin))]})
    return healthy


def probe(client, healthy, count, rate):
    begun = time.monotonic()
    for number in range(count):
        pause = begun + number / rate - time.monotonic()
        if pause > 0:
            time.sleep(pause)
        webhook = number % HEALTHY
        client.post("/v1/events", {"type": f"probe.n{webhook}",
                                   "tenant_id": healthy[webhook % len(healthy)],
                                   "data": {"at": time.monotonic()}})


def measure(case, count, rate, directory):
    receiver, silent = Receiver(), Silent()
    receiver.start()
    silent.start()
    port = run.free_port()
    data = pathlib.Path(directory) / case.name.replace(" ", "-").replace("%", "percent")
    serve = [run.BUILD / "postrider", "serve", "--data", data, "--listen", f"127.0.0.1:{port}",
             "--allow-private-targets", "--allow-http", "--log-level", "error",
             "--set", "drain_timeout_ms=100"]
    environment = {**os.environ, "POSTRIDER_ADMIN_KEY": run.KEY}
    with run.Child(serve, env=environment, stdout=subprocess.DEVNULL):
        run.wait_until(lambda: run.is_ready(f"http://127.0.0.1:{port}"), 10, "the server is ready")
        client = Client(port)
        healthy = set_up(case, client, receiver, silent)
        time.sleep(3)  # Until the first attempts are known to hang.
        probe(client, healthy, HEALTHY * 5, rate)  # Opens the connections.
        run.wait_until(lambda: len(receiver.latencies) >= HEALTHY * 5, 60, "the webhooks are warm")
        receiver.latencies.clear()
        probe(client, healthy, count, rate)
        run.wait_until(lambda: len(receiver.latencies) >= count, 120, "everything was delivered")
    latencies = sorted(receiver.latencies)
    return {"case": case.name, "events": len(latencies), "hanging": len(silent.held),
            "p50_ms": 1000 * latencies[len(latencies) // 2],
            "p99_ms": 1000 * latencies[len(latencies) * 99 // 100]}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=5_000, help="events per case")
    parser.add_argument("--rate", type=float, default=250, help="events per second")
    parser.add_argument("--many", type=int, default=10_000, help="hanging webhooks, last case")
    parser.add_argument("--build", type=pathlib.Path, help="the directory of the server")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if arguments.build:
        run.BUILD = arguments.build
    rows = []
    with tempfile.TemporaryDirectory(prefix="postrider-bench-") as directory:
        for case in cases(arguments.many):
            rows.append(measure(case, arguments.count, arguments.rate, directory))
            rows[-1]["ratio"] = rows[-1]["p99_ms"] / rows[0]["p99_ms"]
            if not arguments.json:
                row = rows[-1]
                print(f"{row['case']:<45} p50 {row['p50_ms']:7.2f} ms   p99 {row['p99_ms']:7.2f} ms"
                      f"   {row['ratio']:5.2f} x quiet   ({row['hanging']} requests hung)",
                      flush=True)
    if arguments.json:
        print(json.dumps({"rows": rows}))


if __name__ == "__main__":
    main()
