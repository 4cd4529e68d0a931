"""What survives a stop, a crash and a restart (P1, P2, P10)."""

import signal

import pytest

from harness import refuses_publishing, wait_for
from receiver import Hang, Reply
from world import SLOW

pytestmark = pytest.mark.durable_store


def test_sigterm_finishes_attempts_in_flight_and_exits_with_0(own_server, make_world):
    server = own_server().start()
    world = make_world(server)
    hook = world.hook()
    world.receiver.hold(hook.path)
    event = world.publish()
    world.wait_requests(hook, 1)

    server.signal(signal.SIGTERM)
    wait_for(lambda: refuses_publishing(server.api()), "publishing to be refused")
    refused = server.api().request("POST", "/v1/events", {"type": "late.event", "data": 1})
    assert refused.status == 503, refused  # A refusal, not a closed connection.
    assert server.api().request("GET", "/readyz").status == 503
    world.receiver.release(hook.path)
    assert server.wait() == 0

    server.start()
    world.api = server.api()
    delivery = world.delivery(event["id"], hook)
    assert (delivery["status"], delivery["attempt_count"]) == ("succeeded", 1)
    assert len(world.requests(hook)) == 1
    assert world.api.all("/v1/events?event_type=late.event") == []


def test_a_drain_that_cannot_finish_ends_at_its_deadline_and_loses_nothing(own_server, make_world):
    server = own_server("--drain-timeout", "1").start()
    world = make_world(server)
    hook = world.hook("hook", Hang(), Reply(), timeout_ms=300_000)
    event = world.publish()
    world.wait_requests(hook, 1)
    server.signal(signal.SIGTERM)
    assert server.wait() == 0

    server.start()
    world.api = server.api()
    assert world.wait_done(event["id"], hook)["status"] == "succeeded"
    requests = world.requests(hook)
    assert len(requests) == 2
    assert {request.webhook_id for request in requests} == {event["id"]}


def test_a_backlog_of_two_thousand_survives_a_restart_and_is_sent_once(own_server, make_world):
    server = own_server().start()
    world = make_world(server)
    hook = world.hook(max_in_flight=50)
    ordered = world.hook("ordered", events=["a.first"], ordering_guarantee="strict")
    for each in (hook, ordered):
        world.api.post(f"/v1/webhooks/{each.id}/pause")
    for start in range(0, 2000, 500):
        world.publish_batch([{"type": "a.first" if number < 200 else "a.rest",
                              "data": {"n": number}} for number in range(start, start + 500)])
    server.stop()
    server.start()
    world.api = server.api()
    assert world.api.get(f"/v1/webhooks/{hook.id}")["paused"] is True
    for each in (hook, ordered):
        world.api.post(f"/v1/webhooks/{each.id}/resume")
    world.wait_requests(hook, 2000)
    world.wait_requests(ordered, 200)
    assert sorted(world.numbers(hook)) == list(range(2000))
    assert world.numbers(ordered) == list(range(200))
    assert world.receiver.peak(hook.path) <= 50


def test_retries_and_an_open_circuit_survive_a_restart(own_server, make_world):
    server = own_server().start()
    world = make_world(server)
    hook = world.hook("hook", Reply(500), max_in_flight=1, retry_config=SLOW,
                      circuit_breaker_config={"window": "count", "window_calls": 2,
                                              "minimum_throughput": 2, "sleep_window_ms": 600_000})
    events = [world.publish() for _ in range(2)]
    before = world.wait_circuit(hook, "open")
    planned = [world.wait_status(event["id"], hook, "retrying")["next_attempt_at"]
               for event in events]
    server.kill()
    server.start()
    world.api = server.api()
    after = world.circuit(hook)
    assert (after["state"], after["open_until"]) == ("open", before["open_until"])
    assert [world.delivery(event["id"], hook)["next_attempt_at"] for event in events] == planned
    late = world.publish()
    assert world.wait_blocked(late["id"], hook)["blocked"]["reason"] == "circuit"
    assert len(world.requests(hook)) == 2


def test_an_idempotency_key_survives_kill_9(own_server, make_world):
    server = own_server().start()
    world = make_world(server)
    first = world.publish(data=1, idempotency_key="k")
    server.kill()
    server.start()
    world.api = server.api()
    again = world.publish(data=1, idempotency_key="k", expect=200)
    assert (again["id"], again["duplicate"]) == (first["id"], True)
    other = world.publish(data=2, idempotency_key="k", expect=422)
    assert other["code"] == "idempotency_key_reused"


def test_the_first_start_without_a_key_prints_a_working_key_once(own_server):
    server = own_server()
    del server.environment["POSTRIDER_ADMIN_KEY"]
    server.start()

    def works(key):
        return server.api(key=key).request("GET", "/v1/webhooks").status == 200
    words = server.stdout_file.read_text().replace('"', " ").split()
    keys = {word for word in words if len(word) >= 32 and works(word)}
    assert len(keys) == 1, server.stdout_file.read_text()
    key = keys.pop()
    server.stop()
    server.start()
    assert key not in server.stdout_file.read_text() + server.stderr_file.read_text()
    assert works(key)


def test_cancelling_the_backlog_of_a_deleted_webhook_resumes_after_a_crash(own_server, make_world):
    server = own_server().start()
    world = make_world(server)
    hook = world.hook()
    world.api.post(f"/v1/webhooks/{hook.id}/pause")
    for _ in range(5):
        world.publish_batch([{"type": "a.b", "data": number} for number in range(1000)])
    world.api.delete(f"/v1/webhooks/{hook.id}")
    server.kill()  # The deletion is durable; most deliveries are cancelled after it.

    server.start()
    world.api = server.api()
    waiting = f"/v1/deliveries?webhook_id={hook.id}&status=pending&limit=1"
    wait_for(lambda: world.api.get(waiting)["data"] == [], "all to be cancelled")
    assert len(world.api.all(f"/v1/deliveries?webhook_id={hook.id}&status=cancelled")) == 5000
    assert world.requests(hook) == []
