"""The outbox profile: five attempts in half a minute, the raw payload as signed body."""

import pytest

import profiles
import receiver_code
from receiver import Held, Reply


@pytest.fixture
def outbox(own_server, make_world):
    return make_world(own_server("--profile", "outbox", "--io-threads", "4").start())


def test_the_delay_is_two_to_the_attempt_seconds_plus_up_to_one_second(outbox):
    delays = profiles.planned_delays(outbox, [1, 2, 3, 4])
    profiles.check_delays(delays, {1: 2, 2: 4, 3: 8, 4: 16}, extra=1.0)


@pytest.mark.parametrize("status", [400, 404, 410, 429, 500])
def test_every_failure_is_retried_after_the_same_delay(outbox, status):
    delays = profiles.planned_delays(outbox, [1], reply=Reply(status))
    profiles.check_delays(delays, {1: 2}, extra=1.0)


def test_a_delivery_has_failed_after_five_attempts(outbox):
    delivery, hook = profiles.attempts_until_dead(outbox, Reply(404))
    assert delivery["attempt_count"] == 5
    assert delivery["dead_letter"]["reason"] == "max_attempts_exceeded"
    assert outbox.api.get(f"/v1/webhooks/{hook.id}")["active"] is True


def test_the_status_goes_from_pending_over_retrying_to_delivered(outbox):
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


def test_the_request_is_the_payload_with_the_headers_id_timestamp_and_signature(outbox):
    hook = outbox.hook("signed")
    payload = b'{ "amount" : 1.50,\t"account":"a" }'
    event = outbox.api.request(
        "POST", "/v1/events", b'{"type": "transaction.created", "tenant_id": "%s", "data": %s}'
        % (outbox.tenant.encode(), payload)).json
    request, = outbox.wait_requests(hook, 1)
    assert request.body == payload, "byte for byte"
    assert request.header("x-webhook-id") == event["id"]
    assert abs(int(request.header("x-webhook-timestamp")) - request.unix_time) < 300
    assert request.header("content-type") == "application/json"
    assert profiles.names_with(request, "x-webhook-") == [
        "x-webhook-id", "x-webhook-signature", "x-webhook-timestamp"]
    assert profiles.names_with(request, "webhook-") == []


def test_a_receiver_verifies_the_hmac_of_the_raw_body_with_the_secret_it_was_shown(outbox):
    signed = profiles.requests_with_shown_secrets(
        outbox, lambda: outbox.publish("transaction.created", {"text": "Grüße", "n": 1.50}))
    profiles.check_receiver(receiver_code.outbox_accepts, signed)


def test_there_is_no_circuit_breaker_and_no_order(outbox):
    hook = profiles.open_circuit(outbox, [500] * 30)
    assert outbox.circuit(hook)["state"] == "closed"
    assert hook.created["circuit_breaker_config"]["enabled"] is False
    assert hook.created["ordering_guarantee"] == "none"
