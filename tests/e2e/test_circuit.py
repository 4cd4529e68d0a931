"""The circuit breaker as receiver and API see it."""

from harness import wait_for
from receiver import Reply
from world import SLOW

# Opens after four failures; each test says how long it sleeps.
BREAKER = {"window": "count", "window_calls": 4, "minimum_throughput": 4,
           "error_threshold_percentage": 50, "half_open_max_calls": 1,
           "half_open_success_percentage": 100}
# Failed deliveries come back soon enough to watch, and often enough not to run out.
RETRY = {"base_delay_ms": 20, "max_delay_ms": 40, "max_attempts": 100}


def opened(world, sleep_ms, **breaker):
    """A webhook whose circuit has just opened on four failures, and the events it failed."""
    hook = world.hook("hook", Reply(500), max_in_flight=1, retry_config=SLOW,
                      circuit_breaker_config={**BREAKER, "sleep_window_ms": sleep_ms,
                                              "sleep_max_ms": max(sleep_ms, 1_800_000), **breaker})
    for _ in range(4):
        world.publish()
    world.wait_circuit(hook, "open")
    return hook


def test_the_circuit_opens_and_nothing_more_is_sent(world):
    hook = opened(world, sleep_ms=600_000)
    control = world.hook("control")
    late = [world.publish() for _ in range(3)]
    world.wait_requests(control, 3)

    delivery = world.wait_blocked(late[0]["id"], hook)
    assert delivery["blocked"]["reason"] == "circuit"
    assert delivery["blocked"]["until"] is not None
    assert delivery["attempt_count"] == 0
    assert len(world.requests(hook)) == 4
    health = world.api.get(f"/v1/webhooks/{hook.id}/health")
    assert health["circuit"]["state"] == "open"


def test_reset_lets_everything_go_on(world):
    hook = opened(world, sleep_ms=600_000)
    late = world.publish()
    world.wait_blocked(late["id"], hook)
    world.receiver.on(hook.path, Reply())
    world.api.patch(f"/v1/webhooks/{hook.id}/circuit-breaker", {"action": "reset"})
    assert world.wait_done(late["id"], hook)["status"] == "succeeded"
    assert world.circuit(hook)["state"] == "closed"
    # What had failed is retried when its own time comes; a blocked try is not an attempt.
    assert len(world.requests(hook)) == 5


def test_it_recovers_by_itself_once_the_receiver_does(world):
    hook = world.hook("hook", Reply(500), max_in_flight=1, retry_config=RETRY,
                      circuit_breaker_config={**BREAKER, "sleep_window_ms": 200})
    events = [world.publish() for _ in range(6)]
    world.wait_circuit(hook, "open")
    world.receiver.on(hook.path, Reply())
    for event in events:
        assert world.wait_done(event["id"], hook)["status"] == "succeeded"
    circuit = world.circuit(hook)
    assert (circuit["state"], circuit["openings_in_row"]) == ("closed", 0)


def test_a_failed_probe_opens_it_again_for_longer(world):
    hook = world.hook("hook", Reply(500), max_in_flight=1, retry_config=RETRY,
                      circuit_breaker_config={**BREAKER, "sleep_window_ms": 100,
                                              "sleep_multiplier": 3, "sleep_max_ms": 3_600_000})
    world.publish()
    # 100, 300, 900 ms: one probe each time, and no other request.
    wait_for(lambda: world.circuit(hook)["openings_in_row"] >= 3, "three openings in a row")
    requests = world.requests(hook)
    assert len(requests) in (6, 7)  # Four that opened it, then a probe per further opening.
    gaps = [b.started - a.started for a, b in zip(requests[3:], requests[4:])]
    assert gaps[0] >= 0.095 and gaps[1] >= 0.295, gaps
    assert world.receiver.peak(hook.path) == 1


def test_half_open_sends_no_more_probes_than_allowed(world):
    hook = world.hook("hook", Reply(500), max_in_flight=10, retry_config=RETRY,
                      circuit_breaker_config={**BREAKER, "half_open_max_calls": 2,
                                              "sleep_window_ms": 300})
    for _ in range(20):
        world.publish()
    world.wait_circuit(hook, "open")
    # Requests that were in flight when it opened still end.
    wait_for(lambda: all(request.ended for request in world.requests(hook)), "all in flight to end")
    world.receiver.forget()
    world.receiver.hold(hook.path)
    world.receiver.on(hook.path, Reply())
    world.wait_requests(hook, 2)
    world.wait_circuit(hook, "half_open")
    assert len(world.requests(hook)) == 2
    world.receiver.release(hook.path)
    world.wait_circuit(hook, "closed")
    wait_for(lambda: len({request.webhook_id for request in world.requests(hook)}) == 20,
             "all twenty events")


def test_a_person_can_force_it_open_and_closed(world):
    hook = world.hook()
    control = world.hook("control")
    circuit = f"/v1/webhooks/{hook.id}/circuit-breaker"
    world.api.patch(circuit, {"action": "force_open", "duration_seconds": 3600})
    assert world.circuit(hook)["state"] == "open"
    event = world.publish()
    world.wait_requests(control, 1)
    assert world.wait_blocked(event["id"], hook)["blocked"]["reason"] == "circuit"
    assert world.requests(hook) == []

    world.api.patch(circuit, {"action": "reset"})
    assert world.wait_done(event["id"], hook)["status"] == "succeeded"


def test_forced_closed_it_sends_however_much_fails(world):
    hook = world.hook("hook", Reply(500), max_in_flight=1, retry_config=SLOW,
                      circuit_breaker_config={**BREAKER, "sleep_window_ms": 600_000})
    world.api.patch(f"/v1/webhooks/{hook.id}/circuit-breaker", {"action": "force_close"})
    for _ in range(10):
        world.publish()
    world.wait_requests(hook, 10)
    assert world.circuit(hook)["state"] == "closed"


def test_a_forced_opening_ends_by_itself(world):
    hook = world.hook()
    world.api.patch(f"/v1/webhooks/{hook.id}/circuit-breaker",
                    {"action": "force_open", "duration_seconds": 1})
    event = world.publish()
    world.wait_blocked(event["id"], hook)
    assert world.wait_done(event["id"], hook)["status"] == "succeeded"


def test_its_sleep_and_a_persons_hold_end_also_when_nothing_is_sent(world):
    hook = opened(world, sleep_ms=300)
    for delivery in world.api.get(f"/v1/webhooks/{hook.id}/deliveries")["data"]:
        world.api.post(f"/v1/deliveries/{delivery['id']}/cancel")
    world.wait_circuit(hook, "half_open")
    assert world.circuit(hook)["open_until"] is None
    idle = world.hook("idle")
    for action, then in (("force_open", "half_open"), ("force_close", "closed")):
        world.api.patch(f"/v1/webhooks/{idle.id}/circuit-breaker",
                        {"action": action, "duration_seconds": 1})
        assert world.circuit(idle)["forced"] is not None
        wait_for(lambda: world.circuit(idle)["forced"] is None, f"the end of {action}")
        assert world.circuit(idle)["state"] == then


def test_a_disabled_breaker_never_opens(world):
    hook = world.hook("hook", Reply(500), max_in_flight=1, retry_config=SLOW,
                      circuit_breaker_config={**BREAKER, "enabled": False})
    for _ in range(12):
        world.publish()
    world.wait_requests(hook, 12)
    assert world.circuit(hook)["state"] == "closed"
