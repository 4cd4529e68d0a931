"""Runs a demo: a server, three webhooks with a healthy, a flaky and a dead receiver, sample events.

All data is in a temporary directory that is deleted at the end. Ctrl-C drains the server and exits
with 0.

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
Postrider is running. Sign in (the link works once, for an hour):
  {link}
Admin key:
  {key}

Publish an event:
  curl -s http://127.0.0.1:{port}/v1/events -H 'Authorization: Bearer {key}' \\
    -H 'Content-Type: application/json' -d '{{"type":"order.paid","data":{{"order":17}}}}'
List its deliveries:
  curl -s 'http://127.0.0.1:{port}/v1/deliveries?limit=5' -H 'Authorization: Bearer {key}'

Sample events go to three webhooks. One receiver is healthy, one fails half of the time, and one is
dead: its first deliveries become dead letters (/v1/dlq), then its circuit opens.
Log: {log}
Press Ctrl-C to stop."""


class DemoError(Exception):
    """An error with a message for the user."""


class Child:
    """A child process in its own session, so that Ctrl-C reaches only this script."""

    def __init__(self, command, log, environment=None):
        self.log = pathlib.Path(log)
        with self.log.open("wb") as sink:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=sink, stderr=subprocess.STDOUT,
                env={**os.environ, **(environment or {})}, start_new_session=True)

    def port(self, stop):
        """Returns the port that the process prints."""
        for _ in range(START_SECONDS_MAX * 20):
            found = re.search(r"127\.0\.0\.1:(\d+)", self.log.read_text(errors="replace"))
            if found:
                return int(found.group(1))
            self.check()
            stop.wait(0.05)
        raise DemoError(f"{self.process.args[0]} did not print its port; see {self.log}")

    def check(self):
        if self.process.poll() is not None:
            sys.stderr.write(self.log.read_text(errors="replace")[-4000:])
            raise DemoError(f"{' '.join(self.process.args[:2])} exited unexpectedly "
                            f"(exit code {self.process.returncode}); its last output is above.")

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
        raise DemoError(f"{path} answered {error.code}: {error.read().decode()}") from None


def check_port(port):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise DemoError(f"Port {port} cannot be used ({error.strerror}). "
                            f"Choose another one, for example: PORT={port + 1} make run") from None


def unused_port():
    with socket.socket() as gone:
        gone.bind(("127.0.0.1", 0))
        return gone.getsockname()[1]


# Short retries, so that results appear soon. Retries to the flaky receiver usually succeed, and its
# circuit never opens. The first deliveries to the dead one become dead letters, then its circuit
# opens.
POLICIES = {
    "healthy": {},
    "flaky": {"retry_config": {"preset": "quick", "base_delay_ms": 500, "max_attempts": 4},
              "circuit_breaker_config": {"enabled": False}},
    "dead": {"retry_config": {"preset": "quick", "base_delay_ms": 500, "max_attempts": 2},
             "circuit_breaker_config": {"minimum_throughput": 20}},
}


def register(port, key, ports):
    """Fills the catalogue of event types and creates one webhook per receiver."""
    for type, data in SAMPLES:
        call(port, key, "/v1/event-types", {"name": type, "example": data})
    for name, target in ports.items():
        call(port, key, "/v1/webhooks", {"url": f"http://127.0.0.1:{target}/{name}",
                                         "events": ["*"], "name": name, **POLICIES[name]})


def publish_samples(port, key, server, stop):
    """Publishes a sample event every half second until `stop` is set."""
    for type, data in itertools.cycle(SAMPLES):
        if stop.wait(EVENT_EVERY_SECONDS):
            return
        server.check()
        call(port, key, "/v1/events", {"type": type, "data": data})


@contextlib.contextmanager
def own_terminal_group():
    """Makes the terminal send Ctrl-C only to this process: `make`, the parent, would fail."""
    if not sys.stdin.isatty() or os.tcgetpgrp(0) != os.getpgrp():
        yield
        return
    former = os.getpgrp()
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # Otherwise tcsetpgrp would stop this process.
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
                                     "dead": unused_port()})
        link = call(options.port, key, "/v1/sign-in-links", {"expires_in_seconds": 3600})
        print(WELCOME.format(port=options.port, key=key, log=server.log, link=link["url"]),
              flush=True)
        publish_samples(options.port, key, server, stop)
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
        except (DemoError, OSError) as error:
            if stop.is_set():
                return 0  # Stopped during the start.
            print(f"make run: {error}", file=sys.stderr)
            return 1


if __name__ == "__main__":
    sys.exit(main())
