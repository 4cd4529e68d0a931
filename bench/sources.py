#!/usr/bin/python3
"""Measures sources of events: rate relative to wrk, latency, and the load on the source's server.

The rate is measured from the first message written to the last webhook delivered, and all of them
are reconciled. Messages of Redis and RabbitMQ are written before the server is started, because
writing them costs the machine more than reading them. The latency is measured at a low rate, from
the end of the COMMIT (or its like) to the arrival at the receiver. The kinds of sources are in
source_servers.py.
"""

import argparse
import asyncio
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

import run
from source_servers import KINDS

LATENCY_RATE = 200


class TimingReceiver:
    """Records when each message arrives. For low rates."""

    def __init__(self):
        self.arrivals = {}
        self.port = None
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)

    async def handle(self, reader, writer):
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(int(line.split(b":")[1]) for line in head.lower().split(b"\r\n")
                              if line.startswith(b"content-length:"))
                body = await reader.readexactly(length)
                self.arrivals.setdefault(json.loads(body)["data"]["n"], time.monotonic())
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
        writer.close()

    def __enter__(self):
        self.thread.start()
        start = asyncio.start_server(self.handle, "127.0.0.1", 0)
        server = asyncio.run_coroutine_threadsafe(start, self.loop).result(10)
        self.port = server.sockets[0].getsockname()[1]
        return self

    def __exit__(self, *_):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(10)


@contextlib.contextmanager
def serving(data, source=None):
    """Runs Postrider, with one source if it is given. Yields its address."""
    port = run.free_port()
    base = f"http://127.0.0.1:{port}"
    serve = [run.BUILD / "postrider", "serve", "--data", data, "--listen", f"127.0.0.1:{port}",
             "--allow-private-targets", "--allow-http", "--log-level", "warn"]
    if source:
        file = data.with_suffix(".toml")
        lines = [f"{name} = {json.dumps(value)}" for name, value in source.items()]
        file.write_text("\n".join(["[[sources]]", *lines]) + "\n")
        serve += ["--config", file]
    environment = {**os.environ, "POSTRIDER_ADMIN_KEY": run.KEY}
    with run.Child(serve, env=environment, stdout=subprocess.DEVNULL):
        run.wait_until(lambda: run.is_ready(base), 10, "the server is ready")
        yield base


def make_store(directory, receiver_port):
    """Returns a data directory with one webhook."""
    data = pathlib.Path(directory) / f"data-{receiver_port}"
    with serving(data) as base:
        run.call("POST", f"{base}/v1/webhooks", {
            "url": f"http://127.0.0.1:{receiver_port}/hook", "events": ["*"],
            "max_in_flight": 64})
    return data


def wait_connected(base):
    run.wait_until(lambda: source_state(base)["state"] == "connected", 10,
                   "the source is connected")


def source_state(base):
    return json.loads(run.call("GET", f"{base}/v1/sources"))["data"][0]


def measure_rate(bench, count, directory):
    source = bench.source()
    with run.start_receiver() as receiver:
        receiver_port = int(receiver.stdout.readline())
        data = make_store(directory, receiver_port)
        begun = time.monotonic()
        if bench.writes_first:
            bench.write_all(count)
            written = time.monotonic() - begun
            begun = time.monotonic()
        with serving(data, source) as base:
            if not bench.writes_first:
                wait_connected(base)
                bench.start_counting()
                begun = time.monotonic()
                bench.write_all(count)
                written = time.monotonic() - begun

            def arrived():
                answer = run.call("GET", f"http://127.0.0.1:{receiver_port}/count")
                return int(answer.split()[1])
            run.wait_until(lambda: arrived() >= count, 300, "everything was delivered")
            delivered = time.monotonic() - begun
            statements = bench.statements()
            state = source_state(base)
    if state["stored"] != count or state["rejected"] or state["duplicates"]:
        sys.exit(f"bench: {count} messages became {state}")
    return {"rate": count / delivered, "written": written,
            "statements": None if statements is None else statements / count}


def measure_latency(bench, count, directory):
    source = bench.source()
    commits = {}
    with TimingReceiver() as receiver:
        data = make_store(directory, receiver.port)
        with serving(data, source) as base, bench.writer() as write:
            wait_connected(base)
            begun = time.monotonic()
            for number in range(count):
                time.sleep(max(0, begun + number / LATENCY_RATE - time.monotonic()))
                write(number)
                commits[number] = time.monotonic()
            run.wait_until(lambda: len(receiver.arrivals) == count, 60, "everything was delivered")
    waits = sorted(1000 * (receiver.arrivals[number] - commits[number]) for number in commits)
    return {"p50_ms": waits[count // 2], "p99_ms": waits[count * 99 // 100]}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000, help="messages of the rate")
    parser.add_argument("--seconds", type=int, default=5, help="how long wrk runs")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory(prefix="postrider-bench-") as directory:
        w_before = run.measure_w(arguments.seconds, 64)
        for kind in KINDS:
            with contextlib.closing(kind()) as bench:
                rows.append({"source": bench.label,
                             **measure_rate(bench, arguments.count, directory),
                             **measure_latency(bench, 10 * LATENCY_RATE, directory)})
        w_after = run.measure_w(arguments.seconds, 64)
    w = (w_before + w_after) / 2
    for row in rows:
        row["ratio"] = row["rate"] / w
    if arguments.json:
        print(json.dumps({"w": w, "rows": rows}))
        return
    print(f"W: wrk straight to the receiver      {w:10,.0f}/s")
    for row in rows:
        statements = row["statements"]
        counted = "" if statements is None else f", {statements:.4f} statements per event"
        print(f"{row['source']:<8} written to delivered         {row['rate']:10,.0f}/s"
              f"   {row['ratio']:.3f} W   (written in {row['written']:.1f} s{counted})")
        print(f"{row['source']:<8} commit to receiver at {LATENCY_RATE}/s     "
              f"p50 {row['p50_ms']:.1f} ms   p99 {row['p99_ms']:.1f} ms")


if __name__ == "__main__":
    main()
