"""The tenant profile: exact delays, five attempts for every failure, manual retries."""

import json
import tomllib

import pytest

import profiles
from harness import run_command
from receiver import Held, Reply


@pytest.fixture
def tenant(own_server, make_world):
    return make_world(own_server("--profile", "tenant", "--io-threads", "4").start())


def test_delays_double_from_30_seconds_without_jitter(tenant):
    delays = profiles.planned_delays(tenant, [1, 2, 3, 4])
    profiles.check_delays(delays, {1: 30, 2: 60, 3: 120, 4: 240})


@pytest.mark.parametrize("status", [401, 404, 410, 429, 503])
def test_every_failure_is_retried(tenant, status):
    profiles.check_delays(profiles.planned_delays(tenant, [1], reply=Reply(status)), {1: 30})


def test_the_stepped_preset_replaces_the_schedule(own_server, make_world):
    world = make_world(own_server("--profile", "tenant", "--io-threads", "4", "--set",
                                  "webhooks.retry.preset=stepped").start())
    delays = profiles.planned_delays(world, [1, 2, 3, 4])
    profiles.check_delays(delays, {1: 30, 2: 300, 3: 1200, 4: 3600})


def test_five_attempts_lead_to_a_dead_letter_that_can_be_retried(tenant):
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
    assert again["attempt_count"] == 6

    tenant.receiver.on(hook.path, Reply(200))
    tenant.api.post(f"/v1/deliveries/{delivery['id']}/retry", {}, expect=202)
    assert tenant.wait_done(delivery["event_id"], hook)["status"] == "succeeded"
    assert tenant.api.get(f"/v1/dlq?webhook_id={hook.id}")["data"] == []


def test_body_headers_and_signature_follow_the_profile(tenant):
    hook = tenant.hook("signed", secret=profiles.SECRET, name="Blog", events=["post.created"])
    event = tenant.publish("post.created", {"title": "x"})
    assert tenant.publish("post.updated", {"title": "y"})["deliveries"] == 0
    request, = tenant.wait_requests(hook, 1)
    delivery = tenant.delivery(event["id"], hook)
    body = json.loads(request.body)
    assert list(body) == ["id", "event", "data", "timestamp"]
    assert body["id"] == delivery["id"] and body["event"] == "post.created"
    assert body["data"] == {"title": "x"}
    assert abs(profiles.seconds(body["timestamp"]) - request.unix_time) < 300
    assert request.header("x-webhook-signature") == (
        "sha256=" + profiles.hmac_hex(profiles.SECRET, request.body))
    assert request.header("x-webhook-event") == "post.created"
    assert request.header("x-webhook-delivery-id") == delivery["id"]
    assert profiles.names_with(request, "x-webhook-") == [
        "x-webhook-delivery-id", "x-webhook-event", "x-webhook-signature"]
    assert profiles.names_with(request, "webhook-") == []


def test_a_webhook_may_have_its_own_attempts_and_timeout(tenant):
    created = tenant.hook("own", retry_config={"max_attempts": 2}, timeout_ms=5000).created
    assert created["retry_config"]["max_attempts"] == 2 and created["timeout_ms"] == 5000
    default = tenant.hook("default").created
    assert default["retry_config"]["max_attempts"] == 5 and default["timeout_ms"] == 10_000
    assert default["circuit_breaker_config"]["enabled"] is False


def test_other_settings_of_the_profile():
    _, stdout, _ = run_command("serve", "--profile", "tenant", "--print-config")
    config = tomllib.loads(stdout)
    assert profiles.event_type_names(config) == [
        "post.created", "post.updated", "post.deleted", "user.created", "user.login",
        "payment.succeeded", "payment.failed"]
    assert config["alerts"]["dead_letters_per_hour"] == 10
