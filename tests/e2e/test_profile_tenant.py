"""The tenant profile: exact delays, five attempts for every failure, manual retries."""

import json
import tomllib

import pytest

import odd_json
import profiles
import receiver_code
from harness import run_command
from receiver import Held, Reply


@pytest.fixture
def tenant(own_server, make_world):
    return make_world(own_server("--profile", "tenant", "--io-threads", "4").start())


def test_the_delay_is_30_seconds_times_two_to_the_attempt_minus_one_without_jitter(tenant):
    delays = profiles.planned_delays(tenant, [1, 2, 3, 4])
    profiles.check_delays(delays, {1: 30, 2: 60, 3: 120, 4: 240})


@pytest.mark.parametrize("status", [401, 404, 410, 429, 503])
def test_every_failure_is_retried_after_30_seconds(tenant, status):
    profiles.check_delays(profiles.planned_delays(tenant, [1], reply=Reply(status)), {1: 30})


def test_the_table_of_delays_30_s_5_min_20_min_1_h_is_the_preset_stepped(own_server, make_world):
    world = make_world(own_server("--profile", "tenant", "--io-threads", "4", "--set",
                                  "webhooks.retry.preset=stepped").start())
    delays = profiles.planned_delays(world, [1, 2, 3, 4])
    profiles.check_delays(delays, {1: 30, 2: 300, 3: 1200, 4: 3600})


def test_five_attempts_then_a_dead_letter_and_a_manual_retry_starts_the_attempts_again(tenant):
    delivery, hook = profiles.attempts_until_dead(tenant, Reply(500, body=b"broken"))
    assert delivery["attempt_count"] == 5
    letter, = tenant.api.get(f"/v1/dlq?webhook_id={hook.id}")["data"]
    assert letter["id"] == delivery["id"] and letter["http_status"] == 500
    assert delivery["attempts"][-1]["response_sample"] == "broken"
    assert delivery["attempts"][-1]["next_retry_at"] is None

    # The attempt budget restarts; the history is kept.
    tenant.receiver.on(hook.path, Held(Reply(500)))
    tenant.api.patch(f"/v1/webhooks/{hook.id}", {"retry_config": None})
    tenant.api.post(f"/v1/deliveries/{delivery['id']}/retry", {}, expect=202)
    tenant.wait_requests(hook, 6)
    tenant.receiver.release(hook.path)
    again = tenant.wait_status(delivery["event_id"], hook, "retrying")
    last = again["attempts"][-1]
    ended = profiles.seconds(last["executed_at"]) + last["duration_ms"] / 1000
    assert 29.9 <= profiles.seconds(last["next_retry_at"]) - ended <= 30.5
    assert (again["attempt_count"], again["attempts_total"]) == (1, 6)

    tenant.receiver.on(hook.path, Reply(200))
    tenant.api.post(f"/v1/deliveries/{delivery['id']}/retry", {}, expect=202)
    assert tenant.wait_done(delivery["event_id"], hook)["status"] == "succeeded"
    assert tenant.api.get(f"/v1/dlq?webhook_id={hook.id}")["data"] == []


def test_the_payload_has_id_event_data_and_timestamp_and_the_headers_of_the_design(tenant):
    hook = tenant.hook("signed", name="Blog", events=["post.created"])
    event = tenant.publish("post.created", {"title": "x"}, timestamp="2021-12-20T11:33:20Z")
    assert tenant.publish("post.updated", {"title": "y"})["deliveries"] == 0
    request, = tenant.wait_requests(hook, 1)
    delivery = tenant.wait_done(event["id"], hook)
    body = json.loads(request.body)
    assert list(body) == ["id", "event", "data", "timestamp"]
    assert body["id"] == delivery["id"] and body["event"] == "post.created"
    assert body["data"] == {"title": "x"}
    assert body["timestamp"] == delivery["attempts"][0]["executed_at"], "new Date().toISOString()"
    assert abs(profiles.seconds(body["timestamp"]) - request.unix_time) < 300
    assert request.header("x-webhook-event") == "post.created"
    assert request.header("x-webhook-delivery-id") == delivery["id"]
    assert profiles.names_with(request, "x-webhook-") == [
        "x-webhook-delivery-id", "x-webhook-event", "x-webhook-signature"]
    assert profiles.names_with(request, "webhook-") == []


def test_the_timestamp_is_the_attempts_and_each_attempt_is_signed_anew(tenant):
    hook = tenant.hook("again", Reply(500), Reply(200), retry_config=profiles.IMMEDIATE_RETRIES)
    event = tenant.publish("post.created", {"title": "x"}, timestamp="2021-12-20T11:33:20Z")["id"]
    delivery = tenant.wait_done(event, hook)
    first, second = tenant.requests(hook)
    assert [json.loads(request.body)["timestamp"] for request in (first, second)] == [
        attempt["executed_at"] for attempt in delivery["attempts"]]
    newest = delivery["request"]["body"]  # Omitted in the attempts that have the same.
    assert [attempt["request"].get("body", newest).encode() for attempt in delivery["attempts"]
            ] == [first.body, second.body]
    assert receiver_code.tenant_accepts(hook.secret, first, second)


def test_a_receiver_that_stringifies_the_parsed_body_verifies_with_the_secret_it_was_shown(tenant):
    signed = profiles.requests_with_shown_secrets(
        tenant, lambda: tenant.publish("post.created", {"text": "Grüße", "n": 1.50, "1": []}))
    profiles.check_receiver(receiver_code.tenant_accepts, signed)


def test_that_receiver_verifies_any_json(tenant):
    hook = tenant.hook("any", max_in_flight=50)
    for text in odd_json.TEXTS:
        body = f'{{"type": "post.created", "tenant_id": "{tenant.tenant}", "data": {text}}}'
        assert tenant.api.request("POST", "/v1/events", body.encode()).status == 202, text
    requests = tenant.wait_requests(hook, len(odd_json.TEXTS))
    assert receiver_code.tenant_accepts(hook.secret, *requests)


def test_a_webhook_may_override_attempts_and_timeout(tenant):
    created = tenant.hook("own", retry_config={"max_attempts": 2}, timeout_ms=5000).created
    assert created["retry_config"]["max_attempts"] == 2 and created["timeout_ms"] == 5000
    default = tenant.hook("default").created
    assert default["retry_config"]["max_attempts"] == 5 and default["timeout_ms"] == 10_000
    assert default["circuit_breaker_config"]["enabled"] is False


def test_event_types_and_the_alert_at_ten_dead_letters_an_hour_are_those_of_the_design():
    _, stdout, _ = run_command("serve", "--profile", "tenant", "--print-config")
    config = tomllib.loads(stdout)
    assert profiles.event_type_names(config) == [
        "post.created", "post.updated", "post.deleted", "user.created", "user.login",
        "payment.succeeded", "payment.failed"]
    assert config["alerts"]["dead_letters_per_hour"] == 10
