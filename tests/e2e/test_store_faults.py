"""A store that fails, a disk that is full, and a server killed at a system call (P1, P12).

strace attaches to the running server and makes its system calls fail or kill it. The store of
PostgreSQL fails because its database refuses connections.
"""

import http.client
import signal

import pytest

from faults import failing_store, injected
from harness import refuses_publishing, wait_for
from stores import ON_POSTGRES, integrity_check, integrity_of_killed

OF_SQLITE = pytest.mark.embedded_store("the fault is in a system call of SQLite")
FAULTS = ["fdatasync,fsync:error=EIO", pytest.param("pwrite64:error=ENOSPC", marks=OF_SQLITE),
          pytest.param("pwrite64:error=EIO", marks=OF_SQLITE)]


def stored_events(world):
    return {item["id"] for item in world.api.all(f"/v1/events?tenant_id={world.tenant}")}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_failing_disk_stops_acknowledging_and_recovers(own_server, make_world, tmp_path, fault):
    server = own_server().start()
    world = make_world(server)
    hook = world.hook()
    acked = set(world.publish_numbered(10))
    world.wait_requests(hook, 10)

    with failing_store(server, tmp_path / "strace.log", fault):
        wait_for(lambda: refuses_publishing(world.api), "publishing to be refused")
        answer = world.api.request("POST", "/v1/events", {"type": "a.b", "data": 1})
        assert answer.status == 503, answer
        assert int(answer.headers["retry-after"]) >= 1
        assert world.api.request("GET", "/readyz").status == 503
        assert world.api.request("GET", "/healthz").status == 200
    wait_for(lambda: world.api.request("GET", "/readyz").status == 200, "recovery")
    acked |= set(world.publish_numbered(10, start=10))
    wait_for(lambda: acked <= {request.webhook_id for request in world.requests(hook)},
             "every acknowledged event")
    assert "store.failed" in server.output(), "the failure is logged"

    server.kill()
    assert integrity_of_killed(server.data, tmp_path / "copy") == "ok"
    server.start()
    world.api = server.api()
    assert acked <= stored_events(world)


def test_an_attempt_that_ends_while_the_disk_fails_is_recorded_later_and_not_repeated(
        own_server, make_world, tmp_path):
    server = own_server().start()
    world = make_world(server)
    hook = world.hook()
    world.receiver.hold(hook.path)
    event = world.publish()
    world.wait_requests(hook, 1)
    with failing_store(server, tmp_path / "strace.log", FAULTS[0]):
        world.receiver.release(hook.path)
        wait_for(lambda: world.api.request("GET", "/readyz").status == 503, "the store to fail")
    delivery = world.wait_done(event["id"], hook)
    assert (delivery["status"], delivery["attempt_count"]) == ("succeeded", 1)
    assert len(world.requests(hook)) == 1


@pytest.mark.parametrize("fault", FAULTS[:2])
def test_five_store_failures_in_a_row_raise_an_alert_that_is_visible_and_stored_later(
        own_server, make_world, tmp_path, fault):  # P12
    server = own_server().start()
    world = make_world(server)
    with failing_store(server, tmp_path / "strace.log", fault):
        wait_for(lambda: refuses_publishing(world.api), "publishing to be refused")
        wait_for(lambda: "alert.raised kind=store_failing" in server.output(),
                 "the alert in the log")
        for query in ("kind=store_failing", "status=active", "limit=1"):
            alert, = world.api.get(f"/v1/alerts?{query}")["data"]
            assert (alert["kind"], alert["status"]) == ("store_failing", "active")
        if not ON_POSTGRES:  # Which cannot be read either.
            assert world.api.get("/v1/alerts?status=resolved")["data"] == []
            assert world.api.get("/v1/alerts?kind=queue_deep")["data"] == []
    wait_for(lambda: world.api.request("GET", "/readyz").status == 200, "recovery")
    resolved = "/v1/alerts?status=resolved&kind=store_failing"
    seen = alert["id"]
    alert, = wait_for(lambda: world.api.get(resolved)["data"], "the resolved alert")
    assert (alert["id"], alert["severity"]) == (seen, "critical")
    assert alert["webhook_id"] is None
    assert "5 times in a row" in alert["detail"]
    world.api.close()
    server.kill()
    server.start()
    world.api = server.api()
    alert, = world.api.get("/v1/alerts?kind=store_failing")["data"]
    assert (alert["id"], alert["status"]) == (seen, "resolved"), "it is stored"


def publish_until_killed(world):
    """Publishes until the server is killed. Returns the ids that were acknowledged."""
    acked = []
    try:
        for number in range(200):
            acked += world.publish_numbered(1, start=number)
    except (OSError, http.client.HTTPException):
        return acked
    raise AssertionError("the injected fault did not kill the server")


@OF_SQLITE
def test_a_kill_at_any_system_call_of_the_store_loses_nothing(own_server, make_world, tmp_path):
    server = own_server().start()
    world = make_world(server)
    hook = world.hook()
    acked = set()
    for call, place in [(call, place) for place in (1, 2, 3, 4, 7, 12, 25)
                        for call in ("pwrite64", "fdatasync")]:
        log = tmp_path / f"{call}-{place}.log"
        with injected(server, f"{call}:signal=SIGKILL:when={place}", log):
            acked |= set(publish_until_killed(world))
            assert server.wait() == -signal.SIGKILL
        server.start()
        world.api = server.api()
        assert acked <= stored_events(world), f"killed at {call} number {place}"
    wait_for(lambda: acked <= {request.webhook_id for request in world.requests(hook)},
             "every acknowledged event")
    server.stop()
    assert integrity_check(server.data) == "ok"
