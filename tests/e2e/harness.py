"""Runs the real server: its process, its data directory and a client of its HTTP API."""

import contextlib
import http.client
import json
import os
import pathlib
import re
import signal
import subprocess
import time

import stores
from log_lines import check_log

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.environ.get("POSTRIDER_BINARY") or str(ROOT / "build" / "release" / "postrider")
ADMIN_KEY = "pk_test_0123456789abcdefghijklmnopqrstuvwxyz"

# Deadlines are generous, so that a busy machine does not fail a test. A passing test does not wait
# for them. Sanitized servers get more.
SLOWNESS = float(os.environ.get("POSTRIDER_TEST_SLOWNESS", "1"))
DEADLINE = 20.0 * SLOWNESS

# The server closes connections that have been idle for longer than this.
IDLE_SECONDS_MAX = 30.0

SANITIZER_REPORT = re.compile(
    r"ERROR: AddressSanitizer|WARNING: ThreadSanitizer|runtime error:|LeakSanitizer|assertion",
    re.IGNORECASE)


def wait_for(condition, what, deadline=DEADLINE):
    """Polls until `condition()` is true and returns its value; fails naming `what` otherwise."""
    end = time.monotonic() + deadline
    pause = 0.002
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"waited {deadline:.0f} s for {what}; last seen: {value!r}")
        time.sleep(pause)
        pause = min(pause * 1.5, 0.05)


def metrics_page(api):
    return api.request("GET", "/metrics").body.decode()


def metric(page, series):
    """The value of one series (`name` or `name{label="value"}`) on a metrics page."""
    found = re.search(rf"^{re.escape(series)} (\S+)$", page, re.MULTILINE)
    if not found:
        raise KeyError(f"{series} is not on the metrics page")
    return float(found.group(1))


def wait_metric(api, series, condition):
    """Polls until the series exists and its value satisfies `condition`."""
    def satisfied():
        with contextlib.suppress(KeyError):
            return condition(metric(metrics_page(api), series))
        return False
    wait_for(satisfied, f"{series} to have the expected value")


class Answer:
    """One HTTP answer of the server."""

    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers  # {lower-case name: value}
        self.body = body

    @property
    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"<{self.status} {self.body[:600]!r}>"


class Api:
    """A keep-alive client of the native API. One thread."""

    def __init__(self, port, key=ADMIN_KEY, timeout=DEADLINE):
        self.port = port
        self.key = key
        self.timeout = timeout
        self.headers = {}  # Sent with every request.
        self._connection = None
        self._used_at = 0.0

    def request(self, method, path, body=None, headers=None):
        """Bytes in `body` are sent unchanged; any other value is sent as JSON."""
        sent = {"Authorization": f"Bearer {self.key}"} if self.key else dict(self.headers)
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        if body is not None:
            sent["Content-Type"] = "application/json"
        sent.update(headers or {})
        try:
            return self._once(method, path, body, sent)
        except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
            self.close()
            if method != "GET":
                raise
            return self._once(method, path, body, sent)

    def _once(self, method, path, body, headers):
        if time.monotonic() - self._used_at > IDLE_SECONDS_MAX:
            self.close()
        self._used_at = time.monotonic()
        if self._connection is None:
            self._connection = http.client.HTTPConnection(
                "127.0.0.1", self.port, timeout=self.timeout)
        try:
            self._connection.request(method, path, body=body, headers=headers)
            response = self._connection.getresponse()
            read = response.read()
        except Exception:
            self.close()
            raise
        if response.will_close:
            self.close()
        named = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, named, read)

    def close(self):
        if self._connection:
            self._connection.close()
        self._connection = None

    def _expect(self, wanted, method, path, body=None, headers=None):
        answer = self.request(method, path, body, headers)
        assert answer.status == wanted, f"{method} {path}: {answer!r}"
        return answer.json if answer.body else None

    def get(self, path, expect=200):
        return self._expect(expect, "GET", path)

    def post(self, path, body=None, expect=200, headers=None):
        return self._expect(expect, "POST", path, body, headers)

    def put(self, path, body, expect=200):
        return self._expect(expect, "PUT", path, body)

    def patch(self, path, body, expect=200, headers=None):
        return self._expect(expect, "PATCH", path, body, headers)

    def delete(self, path, expect=204):
        return self._expect(expect, "DELETE", path)

    def all(self, path):
        """Returns all items of a list by following its pages."""
        items = []
        cursor = ""
        separator = "&" if "?" in path else "?"
        for _ in range(1000):
            page = self.get(f"{path}{separator}limit=250{cursor}")
            items += page["data"]
            if not page.get("next_cursor"):
                return items
            cursor = f"&cursor={page['next_cursor']}"
        raise AssertionError(f"{path} has more than 1000 pages")


def sign_in(port, credentials):
    """Opens a session with `{"key": …}` or `{"token": …}`. Returns a client that has it."""
    client = Api(port, key=None)
    answer = client.request("POST", "/v1/sessions", credentials)
    assert answer.status == 201, answer
    client.headers = {"Cookie": answer.headers["set-cookie"].partition(";")[0],
                      "X-CSRF-Token": answer.json["csrf_token"]}
    return client


class Server:
    """One `postrider serve` process with its own directory."""

    def __init__(self, directory, arguments=("--allow-private-targets", "--allow-http"),
                 environment=None, wrapper=()):
        self.directory = pathlib.Path(directory)
        self.data = self.directory / "data"
        self.arguments = list(arguments)
        self.environment = {**os.environ, "POSTRIDER_ADMIN_KEY": ADMIN_KEY, **(environment or {})}
        self.wrapper = list(wrapper)  # A command that executes the server, such as prlimit.
        self.listen = "127.0.0.1:0"
        self.process = None
        self.port = None
        self.runs = 0

    # ------------------------------------------------------------ start and stop

    def launch(self):
        """Starts the process without waiting until it is ready."""
        assert self.process is None
        self.runs += 1
        command = [*self.wrapper, BINARY, "serve", "--data", str(self.data),
                   "--listen", self.listen, *self.arguments]
        environment = {**self.environment, **stores.environment(self.data, self.environment)}
        with self.stdout_file.open("wb") as stdout, self.stderr_file.open("wb") as stderr:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stdout,
                                            stderr=stderr, env=environment, cwd=self.directory)
        return self

    def start(self):
        self.launch()
        self.port = wait_for(self._find_port, f"the server's address in {self.stdout_file}")
        wait_for(self._is_ready, "readiness")
        return self

    def api(self, key=ADMIN_KEY, timeout=DEADLINE):
        return Api(self.port, key, timeout)

    def sign_in(self, credentials):
        return sign_in(self.port, credentials)

    def signal(self, number):
        os.kill(self.process.pid, number)

    def wait(self, deadline=DEADLINE * 2):
        """Waits for the process to end and returns its exit code."""
        try:
            code = self.process.wait(deadline)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"the server did not exit within {deadline:.0f} s") from None
        self.process = None
        return code

    def stop(self):
        """Sends SIGTERM. The server must drain and exit with 0."""
        if self.process is None:
            return
        self.signal(signal.SIGTERM)
        code = self.wait()
        assert code == 0, f"exit code {code} after SIGTERM; output:\n{self.output()}"
        assert not SANITIZER_REPORT.search(self.output()), self.output()
        check_log(self.stderr_file.read_text(errors="replace"))

    def kill(self):
        """Sends SIGKILL."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def assert_alive(self):
        assert self.process.poll() is None, f"the server died:\n{self.output()}"

    # ------------------------------------------------------------ output

    @property
    def stdout_file(self):
        return self.directory / f"stdout.{self.runs}"

    @property
    def stderr_file(self):
        return self.directory / f"stderr.{self.runs}"

    def output(self):
        """Everything that all runs have written to stdout and stderr."""
        files = sorted(self.directory.glob("stdout.*")) + sorted(self.directory.glob("stderr.*"))
        return "".join(file.read_text(errors="replace") for file in files)

    def _find_port(self):
        self.assert_alive()
        printed = self.stdout_file.read_text(errors="replace")
        found = re.search(r"(?:127\.0\.0\.1|0\.0\.0\.0):(\d+)", printed)
        return int(found.group(1)) if found else None

    def _is_ready(self):
        self.assert_alive()
        with contextlib.suppress(OSError):
            return Api(self.port, timeout=5).request("GET", "/readyz").status == 200
        return False


def refuses_publishing(api):
    """Publishes once. Returns whether it was refused, by a 503 or by a closed connection."""
    try:
        answer = api.request("POST", "/v1/events", {"type": "probe.event", "data": 1})
    except (OSError, http.client.HTTPException):
        return True
    if answer.status == 503:
        assert answer.headers["content-type"] == "application/problem+json"
        assert int(answer.headers["retry-after"]) >= 1
        return True
    assert answer.status == 202, answer
    return False


def run_command(*arguments, environment=None, directory=None, deadline=DEADLINE, stdin=None):
    """Runs the binary until it exits. Returns (exit code, stdout, stderr)."""
    done = subprocess.run([BINARY, *arguments], capture_output=True, timeout=deadline, check=False,
                          text=True, cwd=directory, input=stdin,
                          env={**os.environ, "POSTRIDER_ADMIN_KEY": ADMIN_KEY,
                               **(environment or {})})
    return done.returncode, done.stdout, done.stderr
