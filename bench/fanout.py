#!/usr/bin/python3
"""Measures how long other publishers wait while one publish becomes very many deliveries.

One tenant has many webhooks and publishes one batch. Until all its deliveries are made, two
publishers of another tenant publish one event after the other. The results are their waits and the
memory of the server.
"""

import argparse
import concurrent.futures
import http.client
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time

import run

CLIENTS = 8
NEVER = "http://127.0.0.1:9/"  # All webhooks are paused: nothing is sent.


class Client:
    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)

    def call(self, method, path, body=None):
        headers = {"Authorization": f"Bearer {run.KEY}", "Content-Type": "application/json"}
        self.connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = self.connection.getresponse()
        text = answer.read().decode()
        if answer.status >= 300:
            sys.exit(f"bench: {path} answered {answer.status}: {text}")
        return text


def add_webhooks(port, count, tenant):
    client = Client(port)
    for _ in range(count):
        made = client.call("POST", "/v1/webhooks",
                           {"url": NEVER, "events": ["*"], "tenant_id": tenant})
        client.call("POST", f"/v1/webhooks/{json.loads(made)['id']}/pause")


class Neighbour(threading.Thread):
    """Publishes one event after the other and records how long each took."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.client = Client(port)
        self.waits = []
        self.stopping = False

    def run(self):
        while not self.stopping:
            begun = time.monotonic()
            self.client.call("POST", "/v1/events",
                             {"type": "a.b", "tenant_id": "neighbour", "data": {}})
            self.waits.append(time.monotonic() - begun)
            time.sleep(0.005)


def remaining(client):
    text = client.call("GET", "/metrics")
    return float(re.search(r"^postrider_fanout_remaining (\S+)$", text, re.M).group(1))


def peak_mb(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status).group(1)) // 1024


def measure(server, port, arguments):
    share = -(-arguments.webhooks // CLIENTS)
    with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(lambda _: add_webhooks(port, share, "giant"), range(CLIENTS)))
    add_webhooks(port, 1, "neighbour")
    before = peak_mb(server.pid)
    neighbours = [Neighbour(port) for _ in range(2)]
    for neighbour in neighbours:
        neighbour.start()
    client = Client(port)
    begun = time.monotonic()
    client.call("POST", "/v1/events/batch", {"events": [
        {"type": "a.b", "tenant_id": "giant", "data": {"number": number, "filler": "x" * 960}}
        for number in range(arguments.events)]})
    acknowledged = time.monotonic() - begun
    run.wait_until(lambda: remaining(client) == 0, 280, "all deliveries were made")
    made = time.monotonic() - begun
    for neighbour in neighbours:
        neighbour.stopping = True
        neighbour.join()
    waits = sorted(wait for neighbour in neighbours for wait in neighbour.waits)
    return {"deliveries": share * CLIENTS * arguments.events, "acknowledged_s": acknowledged,
            "made_s": made, "publishes": len(waits), "longest_ms": 1000 * waits[-1],
            "p99_ms": 1000 * waits[len(waits) * 99 // 100],
            "p50_ms": 1000 * waits[len(waits) // 2],
            "peak_before_mb": before, "peak_mb": peak_mb(server.pid)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--webhooks", type=int, default=5_000)
    parser.add_argument("--events", type=int, default=200, help="in the one batch")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    port = run.free_port()
    with tempfile.TemporaryDirectory(prefix="postrider-bench-") as directory:
        serve = [run.BUILD / "postrider", "serve", "--data", pathlib.Path(directory) / "data",
                 "--listen", f"127.0.0.1:{port}", "--allow-private-targets", "--allow-http",
                 "--log-level", "error", "--set", "limits.webhooks_per_tenant=0",
                 "--set", "drain_timeout_ms=100"]
        environment = {**os.environ, "POSTRIDER_ADMIN_KEY": run.KEY}
        with run.Child(serve, env=environment, stdout=subprocess.DEVNULL) as server:
            base = f"http://127.0.0.1:{port}"
            run.wait_until(lambda: run.is_ready(base), 10, "the server is ready")
            row = measure(server, port, arguments)
    if arguments.json:
        print(json.dumps(row))
        return
    print(f"{row['deliveries']:,} deliveries acknowledged after {row['acknowledged_s']:.2f} s, "
          f"made after {row['made_s']:.1f} s; memory {row['peak_before_mb']} MB before, "
          f"{row['peak_mb']} MB at its peak")
    print(f"other publishers meanwhile: {row['publishes']} publishes, p50 {row['p50_ms']:.1f} ms, "
          f"p99 {row['p99_ms']:.1f} ms, longest {row['longest_ms']:.0f} ms")


if __name__ == "__main__":
    main()
