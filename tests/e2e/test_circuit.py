"""The circuit breaker, observed through the receiver and the API."""

import datetime

import pytest

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


def in_time(**offset):
    time = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(**offset)
    return time.strftime("%Y-%m-%dT%H:%M:%S.") + f"{time.microsecond // 1000:03}Z"


def circuit_detail(world, hook):
    return world.api.get(f"/v1/webhooks/{hook.id}/health")["circuit"]


def test_health_shows_what_the_circuit_counts(world):
    hook = world.hook("hook", Reply(500), Reply(200), Reply(500), max_in_flight=1,
                      retry_config=SLOW,
                      circuit_breaker_config={"window": "time", "window_size_ms": 3_600_000,
                                              "minimum_throughput": 1,
                                              "failure_count_threshold": 3,
                                              "half_open_max_calls": 1,
                                              "sleep_window_ms": 600_000})
    fresh = circuit_detail(world, hook)
    assert (fresh["calls_in_window"], fresh["failures_in_window"]) == (0, 0)
    assert fresh["error_percentage"] is None and fresh["opened_at"] is None
    for _ in range(3):
        world.publish()
    wait_for(lambda: circuit_detail(world, hook)["calls_in_window"] == 3, "three calls")
    counting = circuit_detail(world, hook)
    assert counting["failures_in_window"] == 2
    assert round(counting["error_percentage"], 3) == 66.667
    assert counting["state"] == "closed"
    assert (counting["times_opened"], counting["probes_used"]) == (0, 0)
    assert counting["next_probe_at"] is None

    world.publish()
    world.wait_circuit(hook, "open")
    opened = circuit_detail(world, hook)
    assert (opened["calls_in_window"], opened["failures_in_window"]) == (4, 3)
    assert (opened["error_percentage"], opened["times_opened"]) == (75, 1)
    assert opened["opened_at"] == opened["changed_at"]
    assert opened["next_probe_at"] == opened["open_until"] > opened["opened_at"]

    path = f"/v1/webhooks/{hook.id}/circuit-breaker"
    world.api.patch(path, {"action": "force_open", "duration_seconds": 1})
    world.wait_circuit(hook, "half_open")
    world.receiver.hold(hook.path)
    world.publish()
    wait_for(lambda: circuit_detail(world, hook)["probes_used"] == 1, "a probe")
    world.receiver.release(hook.path)
    assert circuit_detail(world, hook)["times_opened"] in (1, 2)  # The probe may have ended.


def test_a_delivery_shows_what_blocked_it_and_for_how_long(world):
    hook = opened(world, sleep_ms=600_000)
    event = world.publish()
    delivery = world.wait_blocked(event["id"], hook)
    assert len(delivery["blocked_by"]) == 1
    blocked = delivery["blocked_by"][0]
    assert (blocked["kind"], blocked["reason"], blocked["until"]) == ("circuit", "failures", None)
    assert blocked["from"] >= delivery["created_at"]  # It is due a moment after it was made.

    world.receiver.on(hook.path, Reply())
    path = f"/v1/webhooks/{hook.id}/circuit-breaker"
    world.api.patch(path, {"action": "reset"})
    delivery = world.wait_done(event["id"], hook)
    blocked = delivery["blocked_by"][0]
    closed_at = world.circuit(hook)["changed_at"]
    assert len(delivery["blocked_by"]) == 1
    assert blocked["until"] <= closed_at and blocked["duration_ms"] >= 0

    world.api.patch(path, {"action": "force_open"})
    world.api.post(f"/v1/deliveries/{delivery['id']}/retry", expect=202)
    world.wait_blocked(event["id"], hook)
    world.api.patch(path, {"action": "reset"})
    wait_for(lambda: world.delivery(event["id"], hook)["status"] == "succeeded", "the retry")
    periods = world.delivery(event["id"], hook)["blocked_by"]
    assert [period["reason"] for period in periods] == ["failures", "forced"]
    assert periods[0] == blocked
    # Those that opened the circuit waited for their retry, not for the circuit.
    first = world.api.get(f"/v1/webhooks/{hook.id}/deliveries?status=retrying")["data"][0]
    assert world.api.get(f"/v1/deliveries/{first['id']}")["blocked_by"] == []


@pytest.mark.parametrize("create", [True, False], ids=["create", "patch"])
def test_the_configuration_opens_the_circuit_until_a_time(world, create):
    until = in_time(hours=1)
    config = {"circuit_breaker_config": {"force_open_until": until}}
    hook = world.hook(**(config if create else {}))
    if create:
        assert hook.created["circuit"]["state"] == "open"
    else:
        world.api.patch(f"/v1/webhooks/{hook.id}", config)
    circuit = world.wait_circuit(hook, "open")
    assert (circuit["forced"], circuit["forced_until"]) == ("open", until)
    shown = world.api.get(f"/v1/webhooks/{hook.id}")
    assert shown["circuit_breaker_config"]["force_open_until"] == until
    assert shown["circuit_breaker_config"]["preset"] == "standard"
    event = world.publish()
    assert world.wait_blocked(event["id"], hook)["blocked_by"][0]["reason"] == "forced"

    # Other changes keep it; null ends it.
    world.api.put(f"/v1/webhooks/{hook.id}",
                  {"circuit_breaker_config": shown["circuit_breaker_config"], "name": "same"})
    assert world.circuit(hook)["forced_until"] == until
    world.api.patch(f"/v1/webhooks/{hook.id}",
                    {"circuit_breaker_config": {"force_open_until": None}})
    assert world.wait_done(event["id"], hook)["status"] == "succeeded"
    assert world.circuit(hook)["state"] == "closed"


@pytest.mark.parametrize("action", ["reset", "force_close"])
def test_an_action_ends_an_opening_by_the_configuration(world, action):
    hook = world.hook(circuit_breaker_config={"force_open_until": in_time(hours=1)})
    event = world.publish()
    world.wait_blocked(event["id"], hook)
    world.api.patch(f"/v1/webhooks/{hook.id}/circuit-breaker", {"action": action})
    assert world.wait_done(event["id"], hook)["status"] == "succeeded"
    config = world.api.get(f"/v1/webhooks/{hook.id}")["circuit_breaker_config"]
    assert config["force_open_until"] is None


def test_an_opening_by_the_configuration_ends_at_its_time(world):
    hook = world.hook(circuit_breaker_config={"force_open_until": in_time(seconds=2)})
    event = world.publish()
    assert world.wait_done(event["id"], hook)["status"] == "succeeded"
    # A stored time that is over does not prevent other changes.
    config = world.api.get(f"/v1/webhooks/{hook.id}")["circuit_breaker_config"]
    world.api.patch(f"/v1/webhooks/{hook.id}", {"circuit_breaker_config": config})


@pytest.mark.parametrize("value", ["2020-01-01T00:00:00Z", "soon", 5, True])
def test_an_opening_must_end_in_the_future(world, value):
    hook = world.hook()
    problem = world.api.patch(f"/v1/webhooks/{hook.id}",
                              {"circuit_breaker_config": {"force_open_until": value}}, expect=422)
    assert problem["errors"][0]["field"] == "circuit_breaker_config.force_open_until"


def test_a_longer_sleep_raises_the_longest_sleep(world):
    hook = world.hook(circuit_breaker_config={"sleep_window_ms": 7_200_000})
    assert hook.created["circuit_breaker_config"]["sleep_max_ms"] == 7_200_000
    path = f"/v1/webhooks/{hook.id}"
    changed = world.api.patch(path, {"circuit_breaker_config": {"sleep_window_ms": 9_000_000}})
    assert changed["circuit_breaker_config"]["sleep_max_ms"] == 9_000_000
    world.api.patch(path, {"circuit_breaker_config": {"sleep_window_ms": 9_000_000,
                                                      "sleep_max_ms": 8_000_000}}, expect=422)
    world.api.patch(path, {"circuit_breaker_config": {"sleep_max_ms": 8_000_000}}, expect=422)
    assert world.api.get(path)["circuit_breaker_config"] == changed["circuit_breaker_config"]
