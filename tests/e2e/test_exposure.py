"""What the server shows to whom: links, metrics, addresses and files (P11)."""

import http.client
import os
import re
import socket
import stat
import subprocess

import pytest

from dns_stub import DnsStub
from harness import ADMIN_KEY, BINARY, DEADLINE, Server, metric, run_command, wait_for
from world import FAST


def get(port, path, host="127.0.0.1", key=None, headers=None):
    """One request with a Host of its own. Returns (status, body)."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=DEADLINE)
    sent = {"Host": host, **({"Authorization": f"Bearer {key}"} if key else {}), **(headers or {})}
    connection.request("GET", path, headers=sent)
    response = connection.getresponse()
    body = response.read().decode()
    connection.close()
    return response.status, body


def make_link(api, host=None, headers=None):
    sent = {**({"Host": host} if host else {}), **(headers or {})}
    return api.request("POST", "/v1/portal-links", {"tenant_id": "acme"}, headers=sent)


@pytest.fixture
def bare_server(tmp_path):
    """Starts a server with these settings only, on all addresses unless `listen` is another."""
    servers = []

    def start(*arguments, listen="0.0.0.0:0"):
        servers.append(Server(tmp_path, arguments))
        servers[-1].listen = listen
        return servers[-1].start()
    yield start
    for server in servers:
        server.stop()


# ---------------------------------------------------------------- portal links

@pytest.mark.parametrize("host", ["localhost:9000", "127.0.0.1", "[::1]:80", "LOCALHOST"])
def test_a_link_of_a_loopback_server_has_the_host_that_was_asked(server, host):
    answer = make_link(server.api(), host)
    assert answer.status == 201
    assert answer.json["url"].startswith(f"http://{host}/#token=")


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "192.0.2.1",
                                  "evil.example:80", "127.0.0.1.nip.io"])
def test_a_link_is_not_made_for_another_host(server, host):
    answer = make_link(server.api(), host, {"X-Forwarded-Host": "127.0.0.1"})
    assert (answer.status, answer.json["code"]) == (421, "unknown_host")
    assert "public_url" in answer.json["detail"]


def test_forwarded_headers_do_not_change_a_link(server):
    answer = make_link(server.api(), headers={
        "X-Forwarded-Proto": "https", "X-Forwarded-Host": "evil.example",
        "Forwarded": "host=evil.example;proto=https"})
    assert answer.json["url"].startswith(f"http://127.0.0.1:{server.port}/#")


def test_the_public_url_is_used_whatever_the_host(own_server):
    server = own_server("--set", "public_url=https://hooks.example.com/").start()
    for host in (None, "evil.example", "internal-name:8080"):
        answer = make_link(server.api(), host)
        assert answer.json["url"].startswith("https://hooks.example.com/#token=prp_")


@pytest.mark.parametrize("url", ["hooks.example.com", "ftp://hooks.example.com", "https://",
                                 "https://user@hooks.example.com", "javascript:alert(1)",
                                 "https://a.example/?x=1", "https://a.example/#x", "https:///a"])
def test_a_public_url_that_is_none_is_refused(tmp_path, url):
    code, _, stderr = run_command("serve", "--data", str(tmp_path / "data"),
                                  "--set", f"public_url={url}")
    assert code == 2 and "public_url must be" in stderr, stderr


def test_a_server_on_all_addresses_makes_links_for_addresses_but_for_no_name(bare_server):
    api = bare_server().api()
    assert make_link(api, "192.0.2.7:8080").json["url"].startswith("http://192.0.2.7:8080/#")
    assert make_link(api, "hooks.example.com").status == 421


# ---------------------------------------------------------------- metrics

def test_metrics_need_a_key_unless_the_client_is_on_this_machine(own_server):
    server = own_server("--set", "api.trusted_proxies=127.0.0.1").start()
    assert get(server.port, "/metrics")[0] == 200
    assert get(server.port, "/metrics", host="localhost")[0] == 200
    assert get(server.port, "/metrics", host="evil.example")[0] == 401, "DNS rebinding"
    assert get(server.port, "/metrics", headers={"X-Forwarded-For": "192.0.2.1"})[0] == 401
    assert get(server.port, "/metrics", key="prk_unknown")[0] == 401
    assert get(server.port, "/metrics", host="evil.example", key=ADMIN_KEY)[0] == 200


def test_metrics_on_all_addresses_need_a_key_with_scope_read_or_admin(bare_server):
    server = bare_server()
    api = server.api()
    keys = {scope: api.post("/v1/api-keys", {"scope": scope, "name": scope}, expect=201)["key"]
            for scope in ("read", "publish")}
    tenant = api.post("/v1/api-keys", {"scope": "tenant", "tenant_id": "acme", "name": "t"},
                      expect=201)["key"]
    statuses = [get(server.port, "/metrics", key=key)[0]
                for key in (None, ADMIN_KEY, keys["read"], keys["publish"], tenant)]
    assert statuses == [401, 200, 200, 403, 403]
    assert get(server.port, "/healthz")[0] == 200


def test_metrics_open_can_be_switched_off(own_server):
    server = own_server("--set", "metrics.open=false").start()
    assert get(server.port, "/metrics")[0] == 401


def test_metrics_can_have_a_listener_of_their_own(bare_server):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = bare_server("--set", f"metrics_listen=127.0.0.1:{port}")
    status, page = get(port, "/metrics")
    assert status == 200 and metric(page, "postrider_http_connections_open") >= 0
    assert get(port, "/healthz")[0] == 200 and get(port, "/readyz")[0] == 200
    for path in ("/", "/v1/webhooks", "/openapi.json"):
        assert get(port, path, key=ADMIN_KEY)[0] == 404, path
    assert get(server.port, "/metrics")[0] == 401


def test_a_metrics_address_that_is_none_is_refused(tmp_path):
    code, _, stderr = run_command("serve", "--data", str(tmp_path / "data"),
                                  "--set", "metrics_listen=nowhere")
    assert code == 2 and "nowhere" in stderr


# ---------------------------------------------------------------- internal addresses

@pytest.fixture
def dns():
    stub = DnsStub()
    yield stub
    stub.stop()


def shown_to(api, hook, event_id):
    """Everything that this key sees of the failed attempt."""
    listed = api.get(f"/v1/webhooks/{hook}/attempts")["data"]
    delivery = api.get(f"/v1/deliveries?event_id={event_id}")["data"][0]
    full = api.get(f"/v1/deliveries/{delivery['id']}")
    texts = [str(listed), str(delivery), str(full), str(api.get("/v1/attempts")),
             str(api.get("/v1/alerts")), str(api.get(f"/v1/webhooks/{hook}/health"))]
    test = api.request("POST", f"/v1/webhooks/{hook}/test", {})
    texts.append(test.body.decode())
    verify = api.request("POST", f"/v1/webhooks/{hook}/verify")
    texts.append(verify.body.decode())
    return " ".join(texts)


@pytest.mark.parametrize("address, settings", [
    ("10.11.12.13", ("--allow-http",)),                             # Refused by the policy.
    ("127.0.0.77", ("--allow-http", "--allow-private-targets")),    # No connection.
])
def test_a_tenant_does_not_see_which_internal_address_a_name_resolved_to(
        bare_server, dns, address, settings):
    dns.names["intern.example"] = address
    server = bare_server(*settings, "--set", f"dns.servers={dns.address}", listen="127.0.0.1:0")
    operator = server.api()
    tenant = server.api(operator.post(
        "/v1/api-keys", {"scope": "tenant", "tenant_id": "acme", "name": "t"}, expect=201)["key"])
    hook = tenant.post("/v1/webhooks", {
        "url": "http://intern.example:8443/", "events": ["*"],
        "retry_config": {**FAST, "max_attempts": 1}}, expect=201)["id"]
    event = tenant.post("/v1/events", {"type": "a.b", "data": 1}, expect=202)["id"]
    wait_for(lambda: tenant.get(f"/v1/webhooks/{hook}/attempts")["data"], "an attempt")
    seen = shown_to(tenant, hook, event)
    assert address not in seen, re.search(f".{{80}}{re.escape(address)}.{{40}}", seen).group(0)
    assert "10.0.0.0/8" not in seen and "127.0.0.0/8" not in seen
    assert address in str(operator.get(f"/v1/webhooks/{hook}/attempts"))
    server.kill()
    server.start()
    assert address not in str(server.api(tenant.key).get("/v1/attempts")), "after a restart"


def test_a_tenant_does_not_see_the_internal_address_of_its_receiver(own_server, make_world):
    world = make_world(own_server().start())
    hook = world.hook(tenant_id="acme")
    key = world.api.post("/v1/api-keys", {"scope": "tenant", "tenant_id": "acme", "name": "t"},
                         expect=201)["key"]
    world.publish(tenant_id="acme")
    world.wait_requests(hook, 1)

    def attempts(api):
        return api.get(f"/v1/webhooks/{hook.id}/attempts")["data"]
    wait_for(lambda: attempts(world.api), "the attempt")
    tenant = type(world.api)(world.api.port, key)
    assert attempts(world.api)[0]["remote_ip"] == "127.0.0.1"
    assert attempts(tenant)[0]["remote_ip"] is None


# ---------------------------------------------------------------- files

def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_an_open_data_directory_is_closed_with_a_sentence(own_server):
    server = own_server()
    server.data.mkdir(mode=0o755)
    server.data.chmod(0o755)
    server.start()
    assert mode(server.data) == 0o700
    assert "was open to other users" in server.stderr_file.read_text() + \
        server.stdout_file.read_text()
    server.stop()
    for file in server.data.iterdir():
        assert mode(file) == 0o600, file
        file.chmod(0o644)
    server.data.chmod(0o777)
    server.start()
    assert mode(server.data) == 0o700
    assert all(mode(file) == 0o600 for file in server.data.iterdir() if file.is_file())
    server.stop()
    server.start()
    assert "was open to other users" not in server.stderr_file.read_text()


def test_a_data_directory_of_somebody_else_that_is_open_is_refused():
    # Root may change every directory, so it becomes somebody else for this.
    prefix = [] if os.geteuid() else ["setpriv", "--reuid", "65534", "--clear-groups"]
    done = subprocess.run([*prefix, BINARY, "serve", "--data", "/usr", "--listen", "127.0.0.1:0"],
                          capture_output=True, text=True, timeout=DEADLINE, check=False)
    assert done.returncode == 2, done
    assert "chmod 700 /usr" in done.stderr and "Other users" in done.stderr, done.stderr


@pytest.mark.embedded_store("the command copies the files of SQLite")
def test_a_backup_is_private(own_server, tmp_path):
    server = own_server().start()
    backup = tmp_path / "backup.db"
    os.umask(0o022)
    code, _, stderr = run_command("backup", "--data", str(server.data), "--to", str(backup))
    assert code == 0, stderr
    assert mode(backup) == 0o600
