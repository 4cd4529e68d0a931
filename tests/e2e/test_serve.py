"""The server process: listeners, reloads and shutdown."""

import json
import re
import resource
import signal
import socket
import time

import pytest

import stores
from harness import DEADLINE, Api, refuses_publishing, wait_for
from receiver import Hang

IO_THREADS = 3


def listening_sockets(port):
    """How many sockets listen on this port of 127.0.0.1."""
    listening = "0A"
    with open("/proc/net/tcp", encoding="ascii") as table:
        rows = [line.split() for line in table.readlines()[1:]]
    return sum(1 for row in rows
               if row[1] == f"0100007F:{port:04X}" and row[3] == listening)


def ask_often(port, times=24, **request):
    """Sends a request several times, each over a new connection. Returns the statuses."""
    statuses = []
    for _ in range(times):
        api = Api(port)
        statuses.append(api.request("GET", "/healthz", **request).status)
        api.close()
    return statuses


def reload(server, expected="config.reloaded"):
    seen = server.output().count("config.reload")
    server.signal(signal.SIGHUP)
    wait_for(lambda: server.output().count("config.reload") > seen, "an answer to SIGHUP")
    last = [line for line in server.output().splitlines() if "config.reload" in line][-1]
    assert expected in last


@pytest.fixture
def configured(own_server, tmp_path):
    """A server with a configuration file, and the file."""
    def make(text="", *arguments):
        file = tmp_path / "own.toml"
        file.write_text(text)
        return own_server("--config", str(file), *arguments).start(), file
    return make


def test_every_io_thread_has_a_listener(own_server):
    server = own_server("--io-threads", str(IO_THREADS)).start()
    assert listening_sockets(server.port) == IO_THREADS


def test_configured_event_types_are_added_at_the_start(configured):
    server, _ = configured("[[event_types]]\nname = \"order.created\"\n"
                           "description = \"An order was created.\"\n")
    types = server.api().all("/v1/event-types?system=false")
    assert [(each["name"], each["description"]) for each in types] == [
        ("order.created", "An order was created.")]


def test_a_reload_reaches_every_listener(configured):
    server, file = configured(f"io_threads = {IO_THREADS}\n")
    large = {"headers": {"X-Large": "x" * 3000}}
    assert set(ask_often(server.port, **large)) == {200}
    file.write_text(f"io_threads = {IO_THREADS}\n[api]\nheader_bytes_max = 2048\n")
    reload(server)
    assert set(ask_often(server.port, **large)) == {431}


def test_the_metrics_count_the_requests_of_every_listener(own_server):
    server = own_server("--io-threads", str(IO_THREADS)).start()
    ask_often(server.port, 30)
    api = server.api()
    scrapes = 0

    def counted():
        nonlocal scrapes
        text = api.request("GET", "/metrics").body.decode()
        found = re.findall(r"^postrider_http_requests_total(?:\{[^}]*\})? (\S+)$", text,
                           re.MULTILINE)
        assert found, text
        scrapes += 1
        return sum(float(value) for value in found) >= 30 + scrapes - 1
    wait_for(counted, "all requests on the metrics page")


def test_the_servers_own_listener_stays_blocked_after_a_reload(configured):
    server, _ = configured()
    reload(server)
    answer = server.api().request("POST", "/v1/webhooks", {
        "url": f"http://127.0.0.1:{server.port}/v1/events", "events": ["*"]})
    assert answer.status == 422 and "own listener" in answer.json["detail"]


def test_each_reload_is_compared_with_the_previous_one(configured):
    server, file = configured()
    for size in (1024, 2048, 4096):
        file.write_text(f"[events]\ndata_bytes_max = {size}\n")
        reload(server, 'changed="events.data_bytes_max"')
    reload(server, 'changed=""')


def test_a_reload_changes_the_log_level(configured):
    server, file = configured()
    file.write_text("[log]\nlevel = \"error\"\n[events]\ndata_bytes_max = 1024\n")
    server.signal(signal.SIGHUP)
    wait_for(lambda: server.api().request("POST", "/v1/events", {
        "type": "a.b", "data": "x" * 2000}).status == 413, "the reload")
    file.write_text("nonsense = 1\n")
    reload(server, "config.reload_refused")
    assert "config.reloaded" not in server.output(), "below the level error"


def test_retention_given_as_a_flag_is_kept_on_a_reload(configured):
    server, _ = configured("", "--retention-events-ms", "300")
    reload(server)
    api = server.api()
    event = api.post("/v1/events", {"type": "a.b", "data": 1}, expect=202)["id"]
    wait_for(lambda: api.request("GET", f"/v1/events/{event}").status == 404,
             "the removal of the event")


def test_the_descriptor_limit_is_raised_to_what_the_system_allows(own_server):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, 512), hard))
    try:
        server = own_server().start()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    with open(f"/proc/{server.process.pid}/limits", encoding="ascii") as limits:
        row = next(line.split() for line in limits if line.startswith("Max open files"))
    assert row[3] == row[4] and int(row[3]) > 512


def test_the_drain_deadline_is_kept(own_server, make_world):
    server = own_server("--drain-timeout", "1").start()
    world = make_world(server)
    hook = world.hook("hook", Hang(), timeout_ms=300_000)
    world.publish()
    world.wait_requests(hook, 1)
    began = time.monotonic()
    server.signal(signal.SIGTERM)
    assert server.wait() == 0
    assert 1 <= time.monotonic() - began < DEADLINE


def test_a_second_sigterm_ends_the_drain(own_server, make_world):
    server = own_server("--drain-timeout", "600").start()
    world = make_world(server)
    hook = world.hook("hook", Hang(), timeout_ms=300_000)
    world.publish()
    world.wait_requests(hook, 1)
    began = time.monotonic()
    server.signal(signal.SIGTERM)
    wait_for(lambda: refuses_publishing(server.api()), "the drain to begin")
    server.signal(signal.SIGTERM)
    assert server.wait() == 0
    assert time.monotonic() - began < DEADLINE


def test_an_idle_server_does_not_wait_for_its_drain_deadline(own_server):
    server = own_server("--drain-timeout", "600").start()
    began = time.monotonic()
    server.stop()
    assert time.monotonic() - began < DEADLINE


def test_an_incomplete_request_does_not_delay_shutdown(own_server):
    server = own_server("--set", "api.body_timeout_ms=600000").start()
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as client:
        client.sendall(b"POST /v1/events HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{")
        began = time.monotonic()
        server.stop()
        assert time.monotonic() - began < DEADLINE


def test_the_address_and_a_new_key_are_announced_once(own_server):
    server = own_server("--json")
    del server.environment["POSTRIDER_ADMIN_KEY"]
    server.launch()
    server.port = wait_for(server._find_port, "the server's address")
    announced = json.loads(server.stdout_file.read_text())
    assert announced["address"] == f"http://127.0.0.1:{server.port}"
    assert announced["data"] == stores.shown(server.data)
    wait_for(lambda: server.api(announced["admin_key"]).request(
        "GET", "/v1/webhooks").status == 200, "the new key to be accepted")
    server.stop()
    server.launch()
    wait_for(server._find_port, "the server's address")
    assert json.loads(server.stdout_file.read_text())["admin_key"] is None
