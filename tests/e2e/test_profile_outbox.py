"""The outbox profile: five attempts in half a minute, the raw payload as signed body."""

import pytest

import profiles
from receiver import Held, Reply


@pytest.fixture
def outbox(own_server, make_world):
    return make_world(own_server("--profile", "outbox", "--io-threads", "4").start())


def test_delays_double_from_two_seconds_plus_up_to_one_second(outbox):
    delays = profiles.planned_delays(outbox, [1, 2, 3, 4])
    profiles.check_delays(delays, {1: 2, 2: 4, 3: 8, 4: 16}, extra=1.0)


@pytest.mark.parametrize("status", [400, 404, 410, 429, 500])
def test_every_failure_is_retried_with_the_same_delay(outbox, status):
    delays = profiles.planned_delays(outbox, [1], reply=Reply(status))
    profiles.check_delays(delays, {1: 2}, extra=1.0)


def test_five_attempts_lead_to_a_dead_letter(outbox):
    delivery, hook = profiles.attempts_until_dead(outbox, Reply(404))
    assert delivery["attempt_count"] == 5
    assert delivery["dead_letter"]["reason"] == "max_attempts_exceeded"
    assert outbox.api.get(f"/v1/webhooks/{hook.id}")["active"] is True


def test_a_delivery_is_in_flight_then_retrying_then_succeeded(outbox):
    hook = outbox.hook("states", Held(Reply(500)), Held(Reply(200)),
                       retry_config={"schedule_ms": [3000], "jitter": 0})
    event = outbox.publish()["id"]
    outbox.wait_requests(hook, 1)
    assert outbox.delivery(event, hook)["status"] == "in_flight"
    outbox.receiver.release(hook.path)
    outbox.wait_status(event, hook, "retrying")
    outbox.wait_requests(hook, 2)
    outbox.receiver.release(hook.path)
    delivery = outbox.wait_done(event, hook)
    assert delivery["status"] == "succeeded"
    assert [attempt["status"] for attempt in delivery["attempts"]] == ["failed", "succeeded"]


def test_the_body_is_the_payload_and_only_the_payload_is_signed(outbox):
    hook = outbox.hook("signed", secret=profiles.SECRET)
    payload = b'{ "amount" : 1.50,\t"account":"a" }'
    event = outbox.api.request(
        "POST", "/v1/events", b'{"type": "transaction.created", "tenant_id": "%s", "data": %s}'
        % (outbox.tenant.encode(), payload)).json
    request, = outbox.wait_requests(hook, 1)
    assert request.body == payload, "byte for byte"
    assert request.header("x-webhook-signature") == (
        "sha256=" + profiles.hmac_hex(profiles.SECRET, payload))
    assert request.header("x-webhook-id") == event["id"]
    assert abs(int(request.header("x-webhook-timestamp")) - request.unix_time) < 300
    assert request.header("content-type") == "application/json"
    assert profiles.names_with(request, "x-webhook-") == [
        "x-webhook-id", "x-webhook-signature", "x-webhook-timestamp"]
    assert profiles.names_with(request, "webhook-") == []


def test_the_circuit_breaker_is_disabled(outbox):
    hook = profiles.open_circuit(outbox, [500] * 30)
    assert outbox.circuit(hook)["state"] == "closed"
    assert hook.created["circuit_breaker_config"]["enabled"] is False
    assert hook.created["ordering_guarantee"] == "none"
