"""The command line gives its API key to a Postrider server only."""

import http.server
import os
import subprocess
import threading

import pytest

from cli import Cli
from harness import ADMIN_KEY, BINARY, run_command

CANARY = "prk_canary_that_no_stranger_may_see"


class Stranger:
    """An HTTP server that is not Postrider. Records the requests."""

    def __init__(self, status=200, body=b'{"status":"ok","version":"1.0"}', headers=()):
        requests = self.requests = []

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self):
                length = int(self.headers.get("Content-Length", 0))
                requests.append((self.command, self.path, dict(self.headers),
                                 self.rfile.read(length)))
                self.send_response(status)
                for name, value in headers:
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = answer

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_port
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def saw_a_key(self):
        return any(CANARY in str(request) or "Authorization" in request[2]
                   for request in self.requests)


@pytest.fixture
def stranger():
    made = []

    def make(*arguments, **options):
        made.append(Stranger(*arguments, **options))
        return made[-1]
    yield make
    for each in made:
        each.close()


def test_the_url_of_an_update_is_the_webhooks_and_not_the_servers(world, server, stranger):
    hook = world.hook()
    foreign = stranger()
    url = f"http://127.0.0.1:{foreign.port}/hooks"
    cli = Cli(server.port)
    assert cli.json("webhooks", "update", hook.id, "--url", url)["url"] == url
    assert world.api.get(f"/v1/webhooks/{hook.id}")["url"] == url
    assert foreign.requests == [], "nothing was sent to it"


@pytest.mark.parametrize("arguments", [["http://127.0.0.1:9/a"], ["--url", "http://127.0.0.1:9/a"]],
                         ids=["positional", "flag"])
def test_a_webhook_is_created_with_a_url_in_either_place(world, server, arguments):
    made = Cli(server.port).json("webhooks", "create", *arguments, "--tenant", world.tenant)
    assert made["url"] == "http://127.0.0.1:9/a"


def test_a_webhook_without_or_with_two_urls_is_a_usage_error(server):
    cli = Cli(server.port)
    assert "--url" in cli.refused("webhooks", "create", code=2)
    cli.refused("webhooks", "create", "http://127.0.0.1:9/a", "--url", "http://127.0.0.1:9/b",
                code=2)


COMMANDS = [
    ["send", "--type", "a.b", "--data", "1"],
    ["webhooks", "list"],
    ["webhooks", "create", "https://example.com/a"],
    ["webhooks", "update", "whk_x", "--url", "https://example.com/a"],
    ["events", "list"], ["deliveries", "list"], ["dlq", "list"], ["operations", "list"],
    ["keys", "list"], ["nodes"], ["doctor"],
]


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_a_stranger_gets_no_key_and_its_answer_is_an_error(stranger, arguments, tmp_path):
    foreign = stranger()
    code, stdout, stderr = run_command(
        *arguments, "--server", f"http://127.0.0.1:{foreign.port}", directory=tmp_path,
        environment={"POSTRIDER_KEY": CANARY, "POSTRIDER_ADMIN_KEY": CANARY})
    assert code == 1 and "is not a Postrider server" in stdout + stderr, (stdout, stderr)
    assert foreign.requests and not foreign.saw_a_key()
    assert CANARY not in stdout + stderr


@pytest.mark.parametrize("status, body, headers", [
    (200, b"<html>hello</html>", ()), (404, b"", ()), (200, b"", ()), (200, b"[]", ()),
    (200, b'{"service":"other"}', ()), (500, b"oops", ()),
    (302, b"", (("Location", "http://127.0.0.1:1/"),)), (401, b"{}", (("WWW-Authenticate", "x"),)),
], ids=["html", "404", "empty", "array", "other", "500", "redirect", "401"])
def test_whatever_a_stranger_answers_is_an_error(stranger, status, body, headers):
    foreign = stranger(status, body, headers)
    code, stdout, stderr = run_command("keys", "list", "--server",
                                       f"http://127.0.0.1:{foreign.port}", "--key", CANARY)
    assert code == 1 and stdout == "" and "is not a Postrider server" in stderr
    assert [request[1] for request in foreign.requests] == ["/healthz"]
    assert not foreign.saw_a_key()


def test_a_redirect_is_not_followed(stranger):
    target = stranger(body=b'{"service":"postrider"}')
    foreign = stranger(302, b"", (("Location", f"http://127.0.0.1:{target.port}/healthz"),))
    run_command("keys", "list", "--server", f"http://127.0.0.1:{foreign.port}", "--key", CANARY)
    assert target.requests == []


def test_proxies_of_the_environment_are_not_used(server, stranger):
    proxy = stranger(body=b'{"service":"postrider"}')
    environment = {name: f"http://127.0.0.1:{proxy.port}"
                   for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY")}
    code, _, stderr = run_command("keys", "list", "--server", f"http://127.0.0.1:{server.port}",
                                  "--key", ADMIN_KEY, environment=environment)
    assert (code, stderr) == (0, "") and proxy.requests == []


@pytest.mark.parametrize("url", ["http://hooks.example.com", "http://10.255.255.1:8080",
                                 "http://localhost.example.com", "http://[fd00::1]"])
def test_plain_http_to_another_machine_needs_insecure(url):
    code, _, stderr = run_command("keys", "list", "--server", url, "--key", CANARY)
    assert code == 2 and "--insecure" in stderr and CANARY not in stderr
    code, _, stderr = run_command("keys", "list", environment={"POSTRIDER_SERVER": url})
    assert code == 2 and "--insecure" in stderr


@pytest.mark.parametrize("url", ["http://user:secret-canary@127.0.0.1", "http://2130706433",
                                 "http://0x7f000001", "http://127.1", "http://127.0.0.1%2e"])
def test_an_odd_server_url_is_refused_even_with_insecure(url):
    code, _, stderr = run_command("keys", "list", "--server", url, "--insecure")
    assert code == 2 and "Invalid server URL" in stderr and "canary" not in stderr


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "LOCALHOST", "localhost."])
def test_loopback_needs_no_insecure(server, host):
    code, _, stderr = run_command("keys", "list", "--server", f"http://{host}:{server.port}")
    assert (code, stderr) == (0, "")


def test_the_old_names_are_refused_with_the_new_ones(server):
    url = f"http://127.0.0.1:{server.port}"
    code, _, stderr = run_command("keys", "list", environment={"POSTRIDER_URL": url})
    assert code == 2 and "POSTRIDER_SERVER" in stderr
    code, _, stderr = run_command("keys", "list", "--url", url)
    assert code == 2 and "--server" in stderr
    code, _, stderr = run_command("keys", "list", environment={"POSTRIDER_URL": "http://x.example",
                                                               "POSTRIDER_SERVER": url})
    assert (code, stderr) == (0, "")


@pytest.mark.parametrize("flag", [["--key", CANARY], [f"--key={CANARY}"]], ids=["space", "equals"])
def test_a_key_among_the_arguments_is_hidden_from_other_users(flag):
    """The command waits for standard input after it has read its arguments."""
    process = subprocess.Popen([BINARY, "send", "--type", "a.b", "--data", "-", "--server",
                                "http://127.0.0.1:1", *flag], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        shown = b""
        while b"*" not in shown and process.poll() is None:
            with open(f"/proc/{process.pid}/cmdline", "rb") as file:
                shown = file.read()
        assert process.poll() is None
        assert CANARY.encode() not in shown
    finally:
        output = process.communicate(b"1")
    assert CANARY.encode() not in b"".join(output)
    assert os.path.basename(BINARY) in shown.decode()
