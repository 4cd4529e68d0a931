"""The exchange profile: swaps and payouts, long retries, a breaker that counts calls."""

import hashlib
import json
import re
import tomllib

import pytest

import profiles
import receiver_code
from harness import run_command
from receiver import Held, Reply

SWAP = "550e8400-e29b-41d4-a716-446655440000"
SLACK = 5  # Requests. A busy receiver records the first ones late.


@pytest.fixture
def exchange(own_server, make_world):
    return make_world(own_server("--profile", "exchange", "--io-threads", "4").start())


def test_the_delay_is_30_seconds_times_two_to_the_attempt_with_10_percent_jitter(exchange):
    numbers = [1, 2, 3, 4, 8, 11]
    delays = profiles.planned_delays(exchange, numbers)
    profiles.check_delays(delays, {number: 30 * 2 ** (number - 1) for number in numbers},
                         minus=0.1, plus=0.1)


def test_twelve_attempts_then_a_dead_letter_that_can_be_replayed(exchange):
    delivery, hook = profiles.attempts_until_dead(exchange)
    assert delivery["attempt_count"] == 12
    assert delivery["dead_letter"] == {"classification": "recoverable",
                                       "reason": "max_attempts_exceeded"}
    letters = exchange.api.get(f"/v1/dlq?webhook_id={hook.id}")["data"]
    assert [letter["id"] for letter in letters] == [delivery["id"]]

    exchange.receiver.on(hook.path, Reply(200))
    exchange.api.post(f"/v1/dlq/{delivery['id']}/retry", {}, expect=202)
    assert exchange.wait_status(delivery["event_id"], hook, "succeeded")["attempts_total"] == 13
    assert exchange.api.get(f"/v1/dlq?webhook_id={hook.id}")["data"] == []


def test_the_payload_has_id_type_created_at_and_data_and_the_headers_of_the_design(exchange):
    hook = exchange.hook("signed", resource_id=SWAP)
    data = {"swap_id": SWAP, "status": "completed", "base_amount": "0.5"}
    event = exchange.publish("swap.completed", data, resource_id=SWAP,
                             timestamp="2021-12-20T11:33:20Z")
    request, = exchange.wait_requests(hook, 1)

    assert json.loads(request.body) == {"id": event["id"], "type": "swap.completed",
                                        "created_at": 1640000000, "data": data}
    assert list(json.loads(request.body)) == ["id", "type", "created_at", "data"]
    stamp = request.header("x-webhook-timestamp")
    assert abs(int(stamp) - request.unix_time) < 300
    assert request.header("x-webhook-id") == event["id"]
    assert request.header("x-webhook-attempt") == "1"
    assert request.header("content-type") == "application/json"
    assert request.header("user-agent") == "ExchangePlatform-Webhooks/1.0"
    assert profiles.names_with(request, "x-webhook-") == [
        "x-webhook-attempt", "x-webhook-id", "x-webhook-signature", "x-webhook-timestamp"]
    assert profiles.names_with(request, "webhook-") == []


def test_a_receiver_verifies_the_hmac_of_timestamp_dot_body_with_the_secret_it_was_shown(exchange):
    signed = profiles.requests_with_shown_secrets(
        exchange, lambda: exchange.publish("swap.completed", {"text": "Grüße", "n": 1.50}))
    assert re.fullmatch("[0-9a-f]{64}", signed[0][0]), "32 random bytes in VARCHAR(64)"
    profiles.check_receiver(receiver_code.exchange_accepts, signed)


def test_a_webhook_registered_for_a_swap_gets_only_the_events_of_that_swap(exchange):
    hook = exchange.hook("one", resource_id=SWAP)
    assert exchange.publish("swap.failed", {}, resource_id="another")["deliveries"] == 0
    wanted = exchange.publish("swap.failed", {}, resource_id=SWAP)
    assert wanted["deliveries"] == 1
    exchange.wait_done(wanted["id"], hook)
    assert [request.header("x-webhook-id") for request in exchange.requests(hook)] == [
        wanted["id"]]


def test_the_idempotency_key_is_sha256_of_swap_type_and_time_and_a_repeat_is_409_then_200(exchange):
    hook = exchange.hook("slow", Held(Reply(200)))
    change = {"type": "swap.completed", "data": {"n": 1}, "tenant_id": exchange.tenant,
              "resource_id": SWAP, "timestamp": "2021-12-20T11:33:20Z"}
    first = exchange.api.post("/v1/events", change, expect=202)
    key = hashlib.sha256(f"{SWAP}.swap.completed.1640000000".encode()).hexdigest()
    assert exchange.api.get(f"/v1/events/{first['id']}")["idempotency_key"] == key

    exchange.wait_requests(hook, 1)
    busy = exchange.api.request("POST", "/v1/events", change)
    assert busy.status == 409 and busy.json["code"] == "duplicate_event"
    exchange.receiver.release(hook.path)
    exchange.wait_status(first["id"], hook, "succeeded")
    again = exchange.api.post("/v1/events", change, expect=200)
    assert again["id"] == first["id"] and again["duplicate"] is True
    other = exchange.api.request("POST", "/v1/events", {**change, "data": {"n": 2}})
    assert other.status == 422 and other.json["code"] == "idempotency_key_reused"
    later = {**change, "timestamp": "2021-12-20T11:33:21Z"}
    assert exchange.api.post("/v1/events", later, expect=202)["id"] != first["id"]


def test_the_circuit_opens_for_one_hour_when_half_of_the_last_ten_requests_failed(exchange):
    hook = profiles.open_circuit(exchange, [200] * 5 + [500] * 4)
    assert exchange.circuit(hook)["state"] == "closed", "nine calls are too few"
    exchange.receiver.on(hook.path, Reply(500))
    exchange.publish()
    circuit = exchange.wait_circuit(hook, "open")
    assert profiles.open_seconds(circuit) == 3600
    late = exchange.publish()["id"]
    blocked = exchange.wait_blocked(late, hook)
    assert blocked["blocked"]["reason"] == "circuit"
    assert len(exchange.requests(hook)) == 10, "an open circuit sends nothing"

    mostly_good = profiles.open_circuit(exchange, [200] * 6 + [500] * 4)
    assert exchange.circuit(mostly_good)["state"] == "closed"


def test_three_good_test_requests_close_the_circuit_and_a_failed_one_doubles_the_hour(exchange):
    hook = profiles.open_circuit(exchange, [500] * 10)
    exchange.wait_circuit(hook, "open")
    soon = {"circuit_breaker_config": {"sleep_window_ms": 10, "sleep_max_ms": 10}}
    exchange.receiver.on(hook.path, Held(Reply(500)))
    exchange.api.patch(f"/v1/webhooks/{hook.id}", soon)
    exchange.publish()
    exchange.wait_requests(hook, 11)
    exchange.api.patch(f"/v1/webhooks/{hook.id}", {"circuit_breaker_config": None})
    exchange.receiver.release(hook.path)
    circuit = exchange.wait_circuit(hook, "open")
    assert profiles.open_seconds(circuit) == 7200
    assert circuit["openings_in_row"] == 2

    exchange.receiver.on(hook.path, Reply(200))
    exchange.api.patch(f"/v1/webhooks/{hook.id}", soon)
    for state in ("half_open", "half_open", "closed"):
        probe = exchange.publish()["id"]
        assert exchange.wait_done(probe, hook)["status"] == "succeeded"
        assert exchange.wait_circuit(hook, state)
    assert len(exchange.requests(hook)) == 14, "ten calls, a failed probe, three good ones"


def test_a_webhook_gets_ten_requests_per_second_with_a_burst_of_100(exchange):
    hook = exchange.hook("limited", max_in_flight=50)
    exchange.publish_batch([{"type": "swap.created", "data": n} for n in range(115)])
    requests = exchange.wait_requests(hook, 115)
    times = sorted(request.started for request in requests)
    for count, at in enumerate(times, start=1):
        assert count <= 100 + 10 * (at - times[0]) + SLACK, (count, at - times[0])
    assert times[99] - times[0] < 5
    assert times[114] - times[0] >= (15 - SLACK) / 10


def test_event_types_timeouts_retention_and_alert_limits_are_those_of_the_design():
    _, stdout, _ = run_command("serve", "--profile", "exchange", "--print-config")
    config = tomllib.loads(stdout)
    assert profiles.event_type_names(config) == [
        "swap.created", "swap.pending", "swap.processing", "swap.completed", "swap.failed",
        "swap.expired", "payout.initiated", "payout.completed", "payout.failed"]
    assert config["engine"]["total_rate_limit"]["requests_per_second"] == 1000
    assert config["webhooks"]["retry"]["timeout_ms"] == 30_000
    assert config["webhooks"]["retry"]["max_delay_ms"] == 86_400_000
    assert config["webhooks"]["circuit_breaker"]["sleep_max_ms"] == 86_400_000
    assert config["retention"]["dead_letters_days"] == 30
    assert config["alerts"]["failure_percentage"] == 10
    assert config["alerts"]["dead_letters_per_hour"] == 100
