"""The circuit breaker, observed through the receiver and the API."""

from harness import wait_for
from receiver import Reply
from world import SLOW

# Opens after four failures. Each test sets the sleep time.
BREAKER = {"window": "count", "window_calls": 4, "minimum_throughput": 4,
           "error_threshold_percentage": 50, "half_open_max_calls": 1,
           "half_open_success_percentage": 100}
# Short delays, and enough attempts for the whole test.
RETRY = {"base_delay_ms": 20, "max_delay_ms": 40, "max_attempts": 100}


def opened(world, sleep_ms, **breaker):
    """Creates a webhook and opens its circuit with four failures."""
    hook = world.hook("hook", Reply(500), max_in_flight=1, retry_config=SLOW,
                      circuit_breaker_config={**BREAKER, "sleep_window_ms": sleep_ms,
                                              "sleep_max_ms": max(sleep_ms, 1_800_000), **breaker})
    for _ in range(4):
        world.publish()
    world.wait_circuit(hook, "open")
    return hook


def test_an_open_circuit_sends_nothing(world):
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


def test_a_reset_resumes_deliveries(world):
    hook = opened(world, sleep_ms=600_000)
    late = world.publish()
    world.wait_blocked(late["id"], hook)
    world.receiver.on(hook.path, Reply())
    world.api.patch(f"/v1/webhooks/{hook.id}/circuit-breaker", {"action": "reset"})
    assert world.wait_done(late["id"], hook)["status"] == "succeeded"
    assert world.circuit(hook)["state"] == "closed"
    # The failed deliveries still wait for their retry. A blocked delivery makes no attempt.
    assert len(world.requests(hook)) == 5


def test_the_circuit_closes_when_the_receiver_recovers(world):
    hook = world.hook("hook", Reply(500), max_in_flight=1, retry_config=RETRY,
                      circuit_breaker_config={**BREAKER, "sleep_window_ms": 200})
    events = [world.publish() for _ in range(6)]
    world.wait_circuit(hook, "open")
    world.receiver.on(hook.path, Reply())
    for event in events:
        assert world.wait_done(event["id"], hook)["status"] == "succeeded"
    circuit = world.circuit(hook)
    assert (circuit["state"], circuit["openings_in_row"]) == ("closed", 0)


def test_a_failed_probe_reopens_the_circuit_for_longer(world):
    hook = world.hook("hook", Reply(500), max_in_flight=1, retry_config=RETRY,
                      circuit_breaker_config={**BREAKER, "sleep_window_ms": 100,
                                              "sleep_multiplier": 3, "sleep_max_ms": 3_600_000})
    world.publish()
    # After 100, 300 and 900 ms: one probe and no other request.
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
    # Requests in flight when the circuit opened still finish.
    wait_for(lambda: all(request.ended for request in world.requests(hook)),
             "requests in flight to end")
    world.receiver.clear()
    world.receiver.hold(hook.path)
    world.receiver.on(hook.path, Reply())
    world.wait_requests(hook, 2)
    world.wait_circuit(hook, "half_open")
    control = world.hook("control")
    world.publish()
    world.wait_requests(control, 1)  # A third probe would have arrived before this request.
    assert len(world.requests(hook)) == 2
    world.receiver.release(hook.path)
    world.wait_circuit(hook, "closed")
    wait_for(lambda: len({request.webhook_id for request in world.requests(hook)}) == 21,
             "all events")


def test_the_circuit_can_be_forced_open_and_reset(world):
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


def test_a_circuit_forced_closed_stays_closed_despite_failures(world):
    hook = world.hook("hook", Reply(500), max_in_flight=1, retry_config=SLOW,
                      circuit_breaker_config={**BREAKER, "sleep_window_ms": 600_000})
    world.api.patch(f"/v1/webhooks/{hook.id}/circuit-breaker", {"action": "force_close"})
    for _ in range(10):
        world.publish()
    world.wait_requests(hook, 10)
    assert world.circuit(hook)["state"] == "closed"


def test_a_forced_opening_ends_after_its_duration(world):
    hook = world.hook()
    world.api.patch(f"/v1/webhooks/{hook.id}/circuit-breaker",
                    {"action": "force_open", "duration_seconds": 1})
    event = world.publish()
    world.wait_blocked(event["id"], hook)
    assert world.wait_done(event["id"], hook)["status"] == "succeeded"


def test_open_and_forced_states_end_even_if_nothing_is_sent(world):
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
