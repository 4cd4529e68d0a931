"""The server's own shortage is not a receiver's failure: an attempt that cannot be made waits."""

import contextlib
import socket

import pytest

from alert_api import alerts, wait_alert, wait_resolved
from dns_stub import DnsStub
from faults import injected
from harness import metric, metrics_page, wait_for, wait_metric
from receiver import Reply

POSTPONED = "postrider_attempts_postponed_total"


def attempts_of(world, hook):
    return world.api.all(f"/v1/webhooks/{hook.id}/attempts")


def assert_no_failure(world, hook, attempts):
    """Every attempt succeeded, and the circuit has counted no failure."""
    assert [(each["status"], each["number"]) for each in attempts_of(world, hook)] == (
        [("succeeded", 1)] * attempts)
    assert world.circuit(hook)["state"] == "closed"
    assert world.api.get(f"/v1/webhooks/{hook.id}/health")["circuit"]["failures_in_window"] == 0


@contextlib.contextmanager
def clients(server, count):
    """So many connections of API clients that send nothing. Some may be refused."""
    sockets = []
    try:
        for _ in range(count):
            with contextlib.suppress(OSError):
                sockets.append(socket.create_connection(("127.0.0.1", server.port), timeout=1))
        yield
    finally:
        for each in sockets:
            each.close()


@pytest.mark.parametrize("files", [64, 256])
def test_with_few_descriptors_everything_is_delivered_at_the_first_attempt(
        own_server, make_world, files):
    server = own_server(wrapper=["prlimit", f"--nofile={files}:{files}"]).start()
    assert f"limits.fitted open_files={files} " in server.output()
    world = make_world(server)
    hooks = [world.hook(f"hook{number}", Reply(delay=0.05), max_in_flight=20)
             for number in range(40)]
    with clients(server, files):
        pass
    with clients(server, files // 8):
        ids = set(world.publish_numbered(10))
        for hook in hooks:
            wait_for(lambda hook=hook: {each.webhook_id for each in world.requests(hook)} == ids,
                     f"all events at {hook.path}")
    for hook in hooks:
        wait_for(lambda hook=hook: len(attempts_of(world, hook)) == 10, "the attempts")
        assert_no_failure(world, hook, 10)
    world.api.close()


def test_limits_that_are_set_are_fitted_too(own_server):
    server = own_server("--set", "engine.in_flight_max=50000", "--set", "api.connections_max=20",
                        wrapper=["prlimit", "--nofile=512:512"]).start()
    line, = [line for line in server.output().splitlines() if "limits.fitted" in line]
    assert "open_files=512 " in line and "connections_max=20 " in line
    assert "LimitNOFILE" in line


def test_with_too_few_descriptors_for_its_own_files_the_server_says_so(own_server):
    for files in (12, 16):
        server = own_server(name=f"files{files}",
                            wrapper=["prlimit", f"--nofile={files}:{files}"]).launch()
        assert server.wait() == 2
        assert "postrider: " in server.output()
        assert "terminate" not in server.output()


def test_enough_descriptors_need_no_warning(own_server):
    server = own_server(wrapper=["prlimit", "--nofile=64:"]).start()
    assert "limits.fitted" not in server.output(), "the soft limit is raised"


@pytest.mark.parametrize("fault", ["socket:error=EMFILE", "socket:error=ENFILE",
                                   "socket:error=ENOBUFS", "socket:error=ENOMEM"])
def test_without_a_free_descriptor_an_attempt_waits(own_server, make_world, tmp_path, fault):
    server = own_server().start()
    world = make_world(server)
    hook = world.hook("hook", retry_config={"max_attempts": 1},
                      circuit_breaker_config={"failure_count_threshold": 1,
                                              "minimum_throughput": 1})
    with injected(server, fault, tmp_path / "strace.log"):
        events = world.publish_numbered(3)
        raised = wait_alert(world.api, kind="server_resources_short")
        wait_metric(world.api, POSTPONED, lambda value: value >= 5)
        delivery = world.delivery(events[0], hook)
        assert (delivery["status"], delivery["attempt_count"]) == ("pending", 0)
        assert attempts_of(world, hook) == []
    assert raised["severity"] == "warning"
    assert "file descriptors" in raised["detail"]
    for event in events:
        delivery = world.wait_done(event, hook)
        assert (delivery["status"], delivery["attempts_total"]) == ("succeeded", 1)
    assert_no_failure(world, hook, 3)
    succeeded = 'postrider_delivery_states_total{state="succeeded"}'
    assert metric(metrics_page(world.api), succeeded) == 3
    wait_resolved(world.api, raised)


def test_without_a_free_local_port_only_that_receiver_waits(own_server, make_world, tmp_path):
    server = own_server().start()
    world = make_world(server)
    hook = world.hook("hook", retry_config={"max_attempts": 1})
    # Every other call, because the server then asks with a datagram socket for its own address.
    with injected(server, "connect:error=EADDRNOTAVAIL:when=1+2", tmp_path / "strace.log"):
        event = world.publish()["id"]
        wait_metric(world.api, POSTPONED, lambda value: value >= 2)
        assert attempts_of(world, hook) == []
    assert world.wait_done(event, hook)["attempts_total"] == 1
    assert_no_failure(world, hook, 1)


def test_without_an_own_address_of_the_family_an_attempt_fails(own_server, make_world, tmp_path):
    server = own_server().start()
    world = make_world(server)
    hook = world.hook("hook", retry_config={"max_attempts": 1})
    with injected(server, "connect:error=EADDRNOTAVAIL", tmp_path / "strace.log"):
        event = world.publish()["id"]
        assert world.wait_done(event, hook)["status"] == "dead_letter"
    assert attempts_of(world, hook)[0]["failure_category"] == "network"


def test_without_a_free_descriptor_a_name_is_looked_up_later(own_server, make_world, tmp_path):
    stub = DnsStub()
    stub.names["hook.test"] = "127.0.0.1"
    try:
        server = own_server("--set", f"dns.servers={stub.address}").start()
        world = make_world(server)
        url = f"http://hook.test:{world.receiver.port}{world.path('named')}"
        hook = world.hook("named", url=url, retry_config={"max_attempts": 1})
        with injected(server, "socket:error=EMFILE", tmp_path / "strace.log"):
            event = world.publish()["id"]
            wait_metric(world.api, POSTPONED, lambda value: value >= 2)
            assert attempts_of(world, hook) == []
        assert world.wait_done(event, hook)["attempts_total"] == 1
        assert_no_failure(world, hook, 1)
        assert alerts(world.api, kind="dns_failing") == []
    finally:
        stub.stop()


def test_a_listener_without_descriptors_accepts_again_later(own_server, tmp_path):
    server = own_server().start()
    api = server.api()
    failed = 'postrider_http_connections_total{result="failed"}'
    api.get("/v1/webhooks")
    with injected(server, "accept,accept4:error=EMFILE", tmp_path / "strace.log"):
        with clients(server, 2):
            wait_metric(api, failed, lambda value: value >= 3)
        calls = (tmp_path / "strace.log").read_text().count("accept")
        assert calls <= 100 * metric(metrics_page(api), failed), "it pauses between its tries"
    fresh = server.api()
    fresh.get("/v1/webhooks")
    fresh.close()
    api.close()
