"""The platform profile: short retry delays by category, a breaker over the last minute."""

import json
import re
import tomllib

import pytest

import profiles
import receiver_code
from harness import run_command
from receiver import Hang, Held, Reply

UUID4 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


@pytest.fixture
def platform(own_server, make_world):
    return make_world(own_server("--profile", "platform", "--io-threads", "4").start())


def test_the_delay_doubles_from_one_second_with_25_percent_jitter(platform):
    delays = profiles.planned_delays(platform, [1, 2, 3, 4])
    profiles.check_delays(delays, {1: 1, 2: 2, 3: 4, 4: 8}, minus=0.25, plus=0.25)


def test_a_rate_limit_waits_60_seconds_and_a_timeout_two_at_least(platform):
    limited = profiles.planned_delays(platform, [1], reply=Reply(429))
    profiles.check_delays(limited, {1: 60}, plus=0.25)
    hook = platform.hook("hangs", Hang(), timeout_ms=100)
    delivery = platform.wait_status(platform.publish()["id"], hook, "retrying")
    attempt = delivery["attempts"][0]
    assert attempt["failure_category"] == "timeout"
    waited = profiles.seconds(attempt["next_retry_at"]) - profiles.seconds(attempt["executed_at"])
    assert 2 <= waited < 4, "the attempt of 100 ms, then at least two seconds"


def test_five_attempts_then_a_recoverable_dead_letter(platform):
    delivery, _ = profiles.attempts_until_dead(platform)
    assert delivery["attempt_count"] == 5
    assert delivery["dead_letter"] == {"classification": "recoverable",
                                       "reason": "max_attempts_exceeded"}


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 413, 414, 415, 451])
def test_a_permanent_status_is_not_retried(platform, status):
    hook = platform.hook("permanent", Reply(status))
    delivery = platform.wait_done(platform.publish()["id"], hook)
    assert delivery["status"] == "dead_letter" and delivery["attempt_count"] == 1
    assert delivery["dead_letter"] == {"classification": "permanent",
                                       "reason": f"permanent_client_error_{status}"}


def test_the_request_has_the_whole_event_and_the_headers_of_the_design_in_every_attempt(platform):
    hook = platform.hook("signed", Reply(500), Held(Reply(200)),
                         headers={"X-Custom-Header": "value"},
                         retry_config=profiles.IMMEDIATE_RETRIES)
    event = platform.publish("user.created", {"user_id": 12345}, source="api-service",
                             priority="high")
    first, second = platform.wait_requests(hook, 2)
    stamp, _ = re.fullmatch(r"t=(\d+),v1=([0-9a-f]{64})",
                            first.header("x-webhook-signature")).groups()
    body = json.loads(first.body)
    assert body["id"] == event["id"] and body["event_type"] == "user.created"
    assert body["data"] == {"user_id": 12345} and body["source"] == "api-service"
    assert body["priority"] == "high" and body["timestamp"].endswith("Z")
    assert first.body == second.body
    assert list(body) == ["id", "event_type", "data", "timestamp", "idempotency_key", "source",
                          "priority", "sequence_number", "tenant_id"]

    delivery = platform.delivery(event["id"], hook)
    assert first.header("x-webhook-id") == hook.id
    assert first.header("x-webhook-event") == "user.created"
    assert first.header("x-webhook-delivery") == delivery["id"]
    assert [first.header("x-webhook-attempt"), second.header("x-webhook-attempt")] == ["1", "2"]
    assert abs(profiles.seconds(first.header("x-webhook-timestamp")) - int(stamp)) < 1
    assert UUID4.fullmatch(first.header("x-idempotency-key"))
    assert first.header("x-idempotency-key") == second.header("x-idempotency-key")
    assert body["idempotency_key"] == first.header("x-idempotency-key")
    assert first.header("user-agent") == "WebhookService/1.0"
    assert first.header("x-custom-header") == "value"
    platform.receiver.release(hook.path)


def test_a_receiver_verifies_t_and_v1_of_timestamp_dot_body_with_the_secret_it_was_shown(platform):
    signed = profiles.requests_with_shown_secrets(
        platform, lambda: platform.publish("user.created", {"text": "Grüße", "n": 1.50}))
    profiles.check_receiver(receiver_code.platform_accepts, signed)


def test_sequence_numbers_increase_and_stay_the_same_in_a_retry(own_server, make_world):
    server = own_server("--profile", "platform").start()
    world = make_world(server)
    hook = world.hook("hook", Reply(500),
                      retry_config={**profiles.IMMEDIATE_RETRIES, "max_attempts": 1})
    events = [world.publish()["id"] for _ in range(3)]
    for event in events:
        world.wait_done(event, hook)

    def numbers():
        return {body["id"]: body["sequence_number"]
                for body in (json.loads(request.body) for request in world.requests(hook))}
    first = numbers()
    assert [first[event] for event in events] == sorted(first.values())
    assert len(set(first.values())) == 3 and min(first.values()) >= 1

    world.receiver.on(hook.path, Reply(200))
    server.kill()  # Retries read the events from the store, not from memory.
    server.start()
    world.api = server.api()
    late = world.hook("late")
    for event in events:
        delivery = world.delivery(event, hook)
        world.api.post(f"/v1/deliveries/{delivery['id']}/retry", expect=202)
        world.wait_status(event, hook, "succeeded")
    assert numbers() == first
    newest = world.publish()["id"]
    world.wait_done(newest, hook)
    assert numbers()[newest] > max(first.values())
    request, = world.wait_requests(late, 1)
    assert json.loads(request.body)["sequence_number"] == numbers()[newest]


def test_an_idempotency_key_publishes_once_and_a_payload_over_256_kib_is_refused(platform):
    hook = platform.hook("once")
    first = platform.publish(idempotency_key="k-1")
    platform.wait_status(first["id"], hook, "succeeded")
    assert platform.publish(idempotency_key="k-1", expect=200)["duplicate"] is True
    assert len(platform.requests(hook)) == 1
    large = platform.api.request("POST", "/v1/events", {"type": "a.b", "data": "x" * 262_144})
    assert large.status == 413 and "262144" in large.json["detail"]


def test_the_circuit_opens_for_30_seconds_at_50_percent_of_ten_calls_in_a_minute(platform):
    hook = profiles.open_circuit(platform, [200] * 5 + [500] * 4, rate_limit={
        "requests_per_second": 1000, "burst": 1000})
    assert platform.circuit(hook)["state"] == "closed"
    platform.receiver.on(hook.path, Reply(500))
    last = platform.publish()["id"]
    circuit = platform.wait_circuit(hook, "open")
    assert profiles.open_seconds(circuit) == 30
    late = platform.publish()["id"]
    assert platform.wait_blocked(late, hook)["blocked"]["reason"] == "circuit"
    assert platform.delivery(late, hook)["attempt_count"] == 0, "blocked is not an attempt"
    assert platform.delivery(last, hook)["attempt_count"] == 1

    soon = {"circuit_breaker_config": {"sleep_window_ms": 10, "sleep_max_ms": 10}}
    platform.receiver.on(hook.path, Held(Reply(500)), Held(Reply(500)))
    platform.api.patch(f"/v1/webhooks/{hook.id}", {**soon, "max_in_flight": 5})
    platform.publish()
    platform.wait_requests(hook, 12)
    platform.api.patch(f"/v1/webhooks/{hook.id}", {"circuit_breaker_config": None})
    platform.receiver.release(hook.path)  # Two of three probes failed.
    circuit = platform.wait_circuit(hook, "open")
    assert profiles.open_seconds(circuit) == 30, "every opening is as long as the first"


def test_a_webhook_gets_100_requests_per_minute_with_a_burst_of_20(platform):
    hook = platform.hook("limited", max_in_flight=50)
    platform.publish_batch([{"type": "a.b", "data": n} for n in range(25)])
    times = [request.started for request in platform.wait_requests(hook, 22)][:22]
    assert times[20] - times[0] >= 0.3
    assert times[21] - times[0] >= 0.9
    assert times[19] - times[0] < times[20] - times[0]
    waiting = platform.api.get(f"/v1/webhooks/{hook.id}/deliveries?status=pending")["data"]
    assert waiting and {each["blocked"]["reason"] for each in waiting} == {"rate"}


def test_webhook_defaults_tenant_rate_retention_and_alert_limits_are_those_of_the_design(platform):
    created = platform.hook("shown").created
    assert created["retry_config"]["preset"] == "balanced"
    assert created["rate_limit"] == {"requests_per_minute": 100, "burst": 20}
    assert created["max_in_flight"] == 5 and created["ordering_guarantee"] == "none"
    assert created["timeout_ms"] == 30_000
    breaker = created["circuit_breaker_config"]
    assert (breaker["window_size_ms"], breaker["minimum_throughput"]) == (60_000, 10)
    assert (breaker["half_open_max_calls"], breaker["half_open_success_percentage"]) == (3, 50)
    _, stdout, _ = run_command("serve", "--profile", "platform", "--print-config")
    config = tomllib.loads(stdout)
    assert config["engine"]["tenant_rate_limit"]["requests_per_minute"] == 1000
    assert config["idempotency"]["window_ms"] == 86_400_000
    assert config["retention"]["events_days"] == 90
    assert config["alerts"]["circuit_open_ms"] == 3_600_000
    assert config["alerts"]["dead_letters_waiting"] == 1000
    assert config["alerts"]["success_percentage"] == 90
    assert config["alerts"]["pool_percentage"] == 80
