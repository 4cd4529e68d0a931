"""A server to look at: three receivers (good, moody, dead), three webhooks, a trickle of events.

Everything lives in a temporary directory and is gone when it ends. Ctrl-C drains the server and
exits 0.

    tools/demo.py [--binary build/release/postrider] [--port 8080]
"""

import argparse
import contextlib
import itertools
import json
import os
import pathlib
import re
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import urllib.error
import urllib.request

START_SECONDS_MAX = 20
DRAIN_SECONDS_MAX = 40  # The server's own deadline is 30.
EVENT_EVERY_SECONDS = 0.5

SAMPLES = [
    ("order.created", {"order": 1001, "total": "24.90", "currency": "EUR"}),
    ("order.paid", {"order": 1001, "method": "card"}),
    ("order.shipped", {"order": 1001, "carrier": "post"}),
    ("swap.completed", {"swap": "sw_7", "from": "BTC", "to": "ETH", "amount": "0.25"}),
    ("user.signed_up", {"user": "ada", "plan": "free"}),
]

WELCOME = """\
Postrider is running: http://127.0.0.1:{port}/#key={key}
Admin key:            {key}

Publish an event:
  curl -s http://127.0.0.1:{port}/v1/events -H 'Authorization: Bearer {key}' \\
    -H 'Content-Type: application/json' -d '{{"type":"order.paid","data":{{"order":17}}}}'
See what became of it:
  curl -s 'http://127.0.0.1:{port}/v1/deliveries?limit=5' -H 'Authorization: Bearer {key}'

Sample events go to three webhooks: one receiver is healthy, one fails half the time, one is dead
and soon has dead letters at /v1/dlq, then an open circuit.
Log: {log}
Ctrl-C stops everything."""


class Trouble(Exception):
    """A sentence for the person in front of the screen."""


class Child:
    """A process of ours, in a session of its own so that Ctrl-C reaches only this script."""

    def __init__(self, command, log, environment=None):
        self.log = pathlib.Path(log)
        with self.log.open("wb") as sink:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=sink, stderr=subprocess.STDOUT,
                env={**os.environ, **(environment or {})}, start_new_session=True)

    def port(self, stop):
        """The port it says it listens on."""
        for _ in range(START_SECONDS_MAX * 20):
            found = re.search(r"127\.0\.0\.1:(\d+)", self.log.read_text(errors="replace"))
            if found:
                return int(found.group(1))
            self.check()
            stop.wait(0.05)
        raise Trouble(f"{self.process.args[0]} did not say where it listens; see {self.log}")

    def check(self):
        if self.process.poll() is not None:
            sys.stderr.write(self.log.read_text(errors="replace")[-4000:])
            raise Trouble(f"{' '.join(self.process.args[:2])} ended by itself "
                          f"(exit code {self.process.returncode}); its last words are above.")

    def end(self, seconds):
        if self.process.poll() is None:
            self.process.terminate()
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()


def call(port, key, path, body):
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}", data=json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {key}", "Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        raise Trouble(f"{path} answered {error.code}: {error.read().decode()}") from None


def check_port(port):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise Trouble(f"Port {port} cannot be used ({error.strerror}); "
                          f"choose another one, such as: PORT={port + 1} make run") from None


def dead_port():
    with socket.socket() as gone:
        gone.bind(("127.0.0.1", 0))
        return gone.getsockname()[1]


# Short retries, so that there is soon something to see: the flaky receiver's are rarely in vain and
# never blocked; the dead one's first events become dead letters, then its circuit opens.
POLICIES = {
    "healthy": {},
    "flaky": {"retry_config": {"preset": "quick", "base_delay_ms": 500, "max_attempts": 4},
              "circuit_breaker_config": {"enabled": False}},
    "dead": {"retry_config": {"preset": "quick", "base_delay_ms": 500, "max_attempts": 2},
             "circuit_breaker_config": {"minimum_throughput": 20}},
}


def register(port, key, ports):
    """One webhook per receiver."""
    for name, target in ports.items():
        call(port, key, "/v1/webhooks", {"url": f"http://127.0.0.1:{target}/{name}",
                                         "events": ["*"], "name": name, **POLICIES[name]})


def trickle(port, key, server, stop):
    """Publishes a sample event now and then until told to stop."""
    for type, data in itertools.cycle(SAMPLES):
        if stop.wait(EVENT_EVERY_SECONDS):
            return
        server.check()
        call(port, key, "/v1/events", {"type": type, "data": data})


@contextlib.contextmanager
def own_terminal_group():
    """Ctrl-C for us alone: make, our parent, would answer it by failing."""
    if not sys.stdin.isatty() or os.tcgetpgrp(0) != os.getpgrp():
        yield
        return
    former = os.getpgrp()
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # Or changing the group would stop us.
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpgrp())
    try:
        yield
    finally:
        os.tcsetpgrp(0, former)


def demo(options, directory, stop):
    children = []

    def start(name, *arguments, environment=None):
        children.append(Child([options.binary, *arguments], directory / f"{name}.log", environment))
        return children[-1]

    key = "pk_demo_" + secrets.token_hex(16)
    check_port(options.port)
    try:
        healthy = start("healthy", "listen", "--port", "0")
        flaky = start("flaky", "listen", "--port", "0", "--fail-rate", "0.5", "--delay", "100")
        server = start("server", "serve", "--data", str(directory / "data"),
                       "--listen", f"127.0.0.1:{options.port}",
                       "--allow-private-targets", "--allow-http",
                       environment={"POSTRIDER_ADMIN_KEY": key})
        server.port(stop)
        register(options.port, key, {"healthy": healthy.port(stop), "flaky": flaky.port(stop),
                                     "dead": dead_port()})
        print(WELCOME.format(port=options.port, key=key, log=server.log), flush=True)
        trickle(options.port, key, server, stop)
        print("\nDraining …", flush=True)
        return server.end(DRAIN_SECONDS_MAX)
    finally:
        for child in reversed(children):
            child.end(5)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", default="build/release/postrider")
    parser.add_argument("--port", type=int, default=8080)
    options = parser.parse_args()

    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: stop.set())
    with own_terminal_group(), tempfile.TemporaryDirectory(prefix="postrider-demo-") as directory:
        try:
            return demo(options, pathlib.Path(directory), stop)
        except (Trouble, OSError) as trouble:
            if stop.is_set():
                return 0  # Stopped while it was still starting.
            print(f"make run: {trouble}", file=sys.stderr)
            return 1


if __name__ == "__main__":
    sys.exit(main())
