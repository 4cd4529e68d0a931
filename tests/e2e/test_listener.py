"""The API's listener: TLS, trusted proxies and limits."""

import http.client
import json
import signal
import socket
import ssl
import subprocess

import pytest

from harness import ADMIN_KEY, run_command, wait_for


def make_certificate(directory, name):
    """Creates a self-signed certificate for 127.0.0.1. Returns (certificate file, key file)."""
    directory.mkdir(exist_ok=True)
    certificate, key = directory / f"{name}.pem", directory / f"{name}.key"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-days", "2", "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1",
         "-keyout", key, "-out", certificate], check=True, capture_output=True)
    return certificate, key


def trusting(certificate, **options):
    context = ssl.create_default_context(cafile=certificate)
    for name, value in options.items():
        setattr(context, name, value)
    return context


def ask(port, context, method="GET", path="/readyz", body=None, headers=None):
    connection = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=20)
    sent = {"Authorization": f"Bearer {ADMIN_KEY}", **(headers or {})}
    connection.request(method, path, body=body, headers=sent)
    response = connection.getresponse()
    answer = response.status, response.read()
    connection.close()
    return answer


def keep_alive(port, context):
    """A connection that fails instead of reconnecting when the server closes it."""
    connection = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=20)
    connection.connect()
    connection.auto_open = False
    return connection


def get_health(connection):
    connection.request("GET", "/healthz")
    response = connection.getresponse()
    response.read()
    return response.status


@pytest.fixture
def tls_server(own_server, tmp_path):
    certificate, key = make_certificate(tmp_path / "tls", "one")
    server = own_server("--set", f"tls.certificate={certificate}", "--set", f"tls.key={key}")
    server.launch()
    server.port = wait_for(server._find_port, "the server's address")
    wait_for(lambda: ask(server.port, trusting(certificate))[0] == 200, "readiness")
    server.certificate, server.key = certificate, key
    return server


def test_the_api_speaks_tls(tls_server):
    assert f"https://127.0.0.1:{tls_server.port}/" in tls_server.stdout_file.read_text()
    context = trusting(tls_server.certificate)
    body = json.dumps({"type": "a.b", "data": "x" * 100_000}).encode()
    status, answer = ask(tls_server.port, context, "POST", "/v1/events", body,
                         {"Content-Type": "application/json"})
    assert status == 202, answer
    event = json.loads(answer)["id"]
    status, answer = ask(tls_server.port, context, "GET", f"/v1/events/{event}")
    assert status == 200 and len(answer) > 100_000

    connection = keep_alive(tls_server.port, context)
    for _ in range(3):
        assert get_health(connection) == 200
    connection.close()


def test_a_refused_body_over_tls_still_gets_its_answer(tls_server):
    context = trusting(tls_server.certificate)
    with socket.create_connection(("127.0.0.1", tls_server.port)) as plain, \
            context.wrap_socket(plain, server_hostname="127.0.0.1") as client:
        client.sendall(b"POST /v1/events HTTP/1.1\r\nHost: x\r\nContent-Length: 999999999\r\n\r\n")
        assert b"413" in client.recv(4096)
    with socket.create_connection(("127.0.0.1", tls_server.port)) as plain, \
            context.wrap_socket(plain, server_hostname="127.0.0.1") as client:
        client.sendall(b"POST /v1/events HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n"
                       b"Expect: 100-continue\r\n\r\n")
        assert b"401" in client.recv(4096)


def test_old_tls_versions_and_plain_http_are_refused(tls_server):
    old = trusting(tls_server.certificate)
    old.set_ciphers("ALL:@SECLEVEL=0")
    old.minimum_version = ssl.TLSVersion.TLSv1
    old.maximum_version = ssl.TLSVersion.TLSv1_1
    with pytest.raises(ssl.SSLError):
        ask(tls_server.port, old)
    with socket.create_connection(("127.0.0.1", tls_server.port), timeout=20) as plain:
        plain.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"200" not in plain.recv(4096)
    assert ask(tls_server.port, trusting(tls_server.certificate))[0] == 200


def test_sighup_loads_a_renewed_certificate(tls_server, tmp_path):
    kept = keep_alive(tls_server.port, trusting(tls_server.certificate))
    assert get_health(kept) == 200

    old = tls_server.certificate.read_bytes()
    certificate, key = make_certificate(tmp_path / "new", "two")
    tls_server.certificate.write_bytes(certificate.read_bytes())
    tls_server.signal(signal.SIGHUP)  # The key does not match: nothing changes.
    wait_for(lambda: "config.reload_refused" in tls_server.output(), "the refusal")
    (tmp_path / "old.pem").write_bytes(old)
    assert ask(tls_server.port, trusting(tmp_path / "old.pem"))[0] == 200

    tls_server.key.write_bytes(key.read_bytes())
    tls_server.signal(signal.SIGHUP)
    wait_for(lambda: "config.reloaded" in tls_server.output(), "the reload")
    assert ask(tls_server.port, trusting(certificate))[0] == 200
    with pytest.raises(ssl.SSLError):
        ask(tls_server.port, trusting(tmp_path / "old.pem"))
    assert get_health(kept) == 200, "a connection from before the reload stays open"
    kept.close()


def test_wrong_certificate_files_are_named(tmp_path):
    one, one_key = make_certificate(tmp_path / "tls", "one")
    _, two_key = make_certificate(tmp_path / "tls", "two")
    rubbish = tmp_path / "rubbish.pem"
    rubbish.write_text("rubbish")
    for certificate, key, named in [("absent.pem", one_key, "absent.pem"),
                                    (one, "absent.key", "absent.key"),
                                    (rubbish, one_key, "rubbish.pem"),
                                    (one, two_key, "two.key")]:
        code, _, stderr = run_command(
            "serve", "--listen", "127.0.0.1:0", "--set", f"tls.certificate={certificate}", "--set",
            f"tls.key={key}", directory=tmp_path)
        assert code == 2 and named in stderr, stderr
        assert len(stderr.strip().splitlines()) == 1


# ------------------------------------------------------------ limits

def raw(port, data=b"", deadline=20):
    """Sends these bytes and returns everything received until the server closes."""
    with socket.create_connection(("127.0.0.1", port), timeout=deadline) as client:
        client.sendall(data)
        answer = b""
        while chunk := client.recv(65536):
            answer += chunk
        return answer


def test_a_slow_request_is_answered_408(own_server):
    server = own_server("--set", "api.header_timeout_ms=300",
                        "--set", "api.body_timeout_ms=300").start()
    slow_header = raw(server.port, b"GET /healthz HTTP/1.1\r\nHost:")
    assert slow_header.startswith(b"HTTP/1.1 408 ") and b'"request_timeout"' in slow_header
    slow_body = raw(server.port, b"POST /v1/events HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n"
                                 b"Authorization: Bearer " + ADMIN_KEY.encode() + b"\r\n\r\n{")
    assert slow_body.startswith(b"HTTP/1.1 408 ")
    assert raw(server.port) == b"", "an idle connection is closed without an answer"


def test_size_limits_are_named(own_server):
    server = own_server("--set", "api.body_bytes_max=2048",
                        "--set", "api.header_bytes_max=2048").start()
    api = server.api()
    large = api.request("POST", "/v1/events", {"type": "a.b", "data": "x" * 3000})
    assert large.status == 413 and "2048" in large.json["detail"]
    assert api.request("GET", "/healthz", headers={"X-Large": "x" * 3000}).status == 431
    assert api.request("GET", "/healthz").status == 200


def test_connections_over_the_limit_of_an_address_are_refused(own_server):
    server = own_server("--set", "api.connections_per_address_max=3", "--io-threads", "2").start()

    def connect():
        client = socket.create_connection(("127.0.0.1", server.port), timeout=20)
        client.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        return client, client.recv(4096).split(b"\r\n")[0]

    def open_three():
        clients = [connect() for _ in range(3)]
        if all(line == b"HTTP/1.1 200 OK" for _, line in clients):
            return clients
        for client, _ in clients:
            client.close()
        return None
    # The harness's own connection may still be open.
    held = wait_for(open_three, "three connections")
    extra, line = connect()
    assert line == b"HTTP/1.1 503 Service Unavailable"
    extra.close()
    for client, _ in held:
        client.close()
    for client, _ in wait_for(open_three, "three connections again"):
        client.close()


def test_each_key_has_its_own_request_rate(own_server):
    server = own_server("--set", "api.rate_limit.requests_per_second=1",
                        "--set", "api.rate_limit.burst=3").start()
    api = server.api()
    other = server.api(api.post("/v1/api-keys", {"scope": "read"}, expect=201)["key"])
    answers = [api.request("GET", "/v1/webhooks") for _ in range(5)]
    assert [answer.status for answer in answers[:2]] == [200] * 2, "the burst is three requests"
    refused = [answer for answer in answers if answer.status == 429]
    assert refused
    assert other.request("GET", "/v1/webhooks").status == 200, "another key has its own tokens"
    assert refused[0].headers["content-type"] == "application/problem+json"
    assert refused[0].json["code"] == "rate_limited"
    assert int(refused[0].headers["retry-after"]) == 1
    for _ in range(10):
        assert api.request("GET", "/readyz").status == 200, "probes are not counted"
    wait_for(lambda: api.request("GET", "/v1/webhooks").status == 200, "the next token")


def test_unauthenticated_requests_are_limited_by_their_real_address(own_server):
    arguments = ["--set", "api.unauthenticated_rate_limit.requests_per_second=1",
                 "--set", "api.unauthenticated_rate_limit.burst=2"]
    server = own_server(*arguments).start()
    guesser = server.api(key="wrong")

    def guess(api, address=None):
        headers = {"X-Forwarded-For": address} if address else {}
        return api.request("GET", "/v1/webhooks", headers=headers).status
    # No proxy is trusted, so the header is ignored.
    assert [guess(guesser, f"203.0.113.{n}") for n in range(4)] == [401, 401, 429, 429]
    assert server.api().request("GET", "/v1/webhooks").status == 200, "a valid key is not limited"

    trusting_server = own_server(*arguments, "--set", "api.trusted_proxies=127.0.0.0/8",
                                 name="proxied").start()
    proxied = trusting_server.api(key="wrong")
    assert [guess(proxied, f"203.0.113.{n}") for n in range(4)] == [401] * 4
    assert [guess(proxied, f"9.9.9.{n}, 198.51.100.1") for n in range(4)] == [401, 401, 429, 429]
