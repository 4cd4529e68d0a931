#!/usr/bin/python3
"""Compares the delivery rate of Postrider with wrk in one run and reconciles all event ids.

W is the rate at which `wrk` posts 1 KiB requests directly to the receiver. Then the same receiver
is registered as a webhook and events are published. The time is measured until all of them have
been delivered. Afterwards the store must have recorded all of them as succeeded. The result is the
ratio to W.
"""

import argparse
import json
import os
import pathlib
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "servers"))

from program import free_port  # noqa: E402

BUILD = ROOT / "build" / "release"
KEY = "bench-admin-key-0123456789abcdef"
WRK_SCRIPT = """
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.body = '{"type":"bench.event","data":{"filler":"' .. string.rep("x", 960) .. '"}}'
"""


def call(method, url, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, method=method)
    request.add_header("Authorization", f"Bearer {KEY}")
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.read().decode()


def wait_until(condition, seconds, what):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return
        time.sleep(0.02)
    sys.exit(f"bench: timed out after {seconds} s waiting until {what}")


class Child:
    """A child process that is terminated at the end of the block."""

    def __init__(self, command, **options):
        self.process = subprocess.Popen([str(part) for part in command], **options)

    def __enter__(self):
        return self.process

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()


def start_receiver():
    return Child([BUILD / "bench_receiver", "0"], stdout=subprocess.PIPE, text=True)


def measure_w(seconds, connections):
    with start_receiver() as receiver, tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        port = int(receiver.stdout.readline())
        script.write(WRK_SCRIPT)
        script.flush()
        out = subprocess.run(
            ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "-s", script.name,
             f"http://127.0.0.1:{port}/"], capture_output=True, text=True, check=True).stdout
        return float(re.search(r"Requests/sec:\s+([\d.]+)", out).group(1))


def is_ready(base):
    try:
        call("GET", f"{base}/readyz")
        return True
    except OSError:
        return False


SUCCEEDED = 2  # DeliveryState::succeeded, as stored.


def recorded(database):
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
        sql = "SELECT state, count(*) FROM delivery GROUP BY state"
        return dict(connection.execute(sql).fetchall())


def measure_postrider(count, connections, batch, directory, webhooks):
    port = free_port()
    base = f"http://127.0.0.1:{port}"
    data = pathlib.Path(directory) / f"data-{batch}"
    ids_file = pathlib.Path(directory) / f"ids-{batch}"
    serve = [BUILD / "postrider", "serve", "--data", data, "--listen", f"127.0.0.1:{port}",
             "--allow-private-targets", "--allow-http", "--log-level", "warn"]
    environment = {**os.environ, "POSTRIDER_ADMIN_KEY": KEY}
    with start_receiver() as receiver, \
            Child(serve, env=environment, stdout=subprocess.DEVNULL) as server:
        receiver_port = int(receiver.stdout.readline())
        wait_until(lambda: is_ready(base), 10, "the server is ready")
        for number in range(webhooks):
            call("POST", f"{base}/v1/webhooks",
                 {"url": f"http://127.0.0.1:{receiver_port}/hook{number}", "events": ["*"],
                  "max_in_flight": 64})
        begun = time.monotonic()
        subprocess.run([BUILD / "bench_publisher", str(port), KEY, str(count), str(connections),
                        str(batch), ids_file], check=True, stdout=subprocess.DEVNULL)
        published = time.monotonic() - begun

        def arrived():
            return int(call("GET", f"http://127.0.0.1:{receiver_port}/count").split()[0])

        wait_until(lambda: arrived() >= count * webhooks, 120, "everything was delivered")
        delivered = time.monotonic() - begun
        seen = set(call("GET", f"http://127.0.0.1:{receiver_port}/ids").split())
        status = pathlib.Path(f"/proc/{server.pid}/status").read_text()
        rss = int(re.search(r"VmRSS:\s+(\d+)", status).group(1))
    acknowledged = ids_file.read_text().split()
    lost = set(acknowledged) - seen
    unknown = seen - set(acknowledged)
    if len(acknowledged) != count or lost or unknown:
        sys.exit(f"bench: {len(acknowledged)} acknowledged of {count}, {len(lost)} lost, "
                 f"{len(unknown)} unknown")
    states = recorded(data / "postrider.db")
    if states != {SUCCEEDED: count * webhooks}:
        sys.exit(f"bench: not everything is recorded as succeeded: {states}")
    return {"published": published, "delivered": delivered, "rate": count * webhooks / delivered,
            "rss_mib": rss / 1024}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000, help="events to publish")
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--seconds", type=int, default=5, help="how long wrk runs")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="postrider-bench-") as directory:
        w_before = measure_w(arguments.seconds, arguments.connections)
        results = []
        for batch in (1, 100):
            result = measure_postrider(arguments.count, arguments.connections, batch, directory, 1)
            results.append({"batch": batch, **result})
        w_after = measure_w(arguments.seconds, arguments.connections)
    w = (w_before + w_after) / 2  # The machine's speed varies, so use the mean.
    rows = [{"ratio": result["rate"] / w, **result} for result in results]
    if arguments.json:
        print(json.dumps({"w": w, "w_before": w_before, "w_after": w_after, "rows": rows}))
        return
    print(f"W: wrk straight to the receiver      {w:10,.0f}/s"
          f"   ({w_before:,.0f}/s before, {w_after:,.0f}/s after)")
    for row in rows:
        print(f"publish to delivered, batch of {row['batch']:<3}   {row['rate']:10,.0f}/s"
              f"   {row['ratio']:.3f} W   (published in {row['published']:.1f} s,"
              f" all {arguments.count:,} ids reconciled, resident {row['rss_mib']:.0f} MiB)")


if __name__ == "__main__":
    main()
