"""Test events: sent once and immediately; the answer contains the attempt."""

import json

import pytest

from receiver import Close, Hang, Reply
from secret_checks import signature, signatures
from world import FAST, SLOW


def send_test(world, hook, body=None, expect=200):
    return world.api.post(f"/v1/webhooks/{hook.id}/test", body, expect=expect)


def test_a_test_event_is_sent_immediately_and_its_attempt_returned(world):
    hook = world.hook("hook", Reply(201, body=b"thanks"))
    other = world.hook("other")
    answer = send_test(world, hook)
    assert answer["attempt"]["status"] == "succeeded"
    assert answer["attempt"]["http_status"] == 201
    assert answer["attempt"]["trigger"] == "test"
    assert answer["attempt"]["response_sample"] == "thanks"
    request, = world.requests(hook)
    assert json.loads(request.body)["type"] == "postrider.test"
    assert request.webhook_id == answer["event_id"]
    assert signatures(request) == [signature(hook.secret, request)]
    assert world.requests(other) == []

    delivery = world.api.get(f"/v1/deliveries/{answer['delivery_id']}")
    assert delivery["status"] == "succeeded"
    assert delivery["priority"] == "high"
    assert delivery["trigger"] == "test"
    assert answer["attempt"]["request"].pop("body") == delivery["request"]["body"]
    assert delivery["request"]["body"] == request.body.decode()
    assert delivery["attempts"] == [answer["attempt"]]


def test_type_and_data_can_be_chosen(world):
    hook = world.hook(events=["swap.created"])
    send_test(world, hook, b'{"event_type": "order.paid", "data": {"n" : 1.50}}')
    request, = world.requests(hook)
    assert json.loads(request.body)["type"] == "order.paid"
    assert b'{"n" : 1.50}' in request.body


@pytest.mark.parametrize("reply, category", [
    (Reply(503), "server_error"), (Reply(404), "client_error"), (Close(), "network"),
], ids=["503", "404", "closed"])
def test_a_failed_test_event_is_cancelled_and_not_dead_lettered(world, reply, category):
    hook = world.hook("hook", reply, retry_config=FAST)
    answer = send_test(world, hook)
    assert answer["attempt"]["status"] == "failed"
    assert answer["attempt"]["failure_category"] == category
    assert answer["attempt"]["next_retry_at"] is None
    delivery = world.api.get(f"/v1/deliveries/{answer['delivery_id']}")
    assert delivery["status"] == "cancelled"
    assert delivery["dead_letter"] is None
    assert world.api.get(f"/v1/dlq?tenant_id={world.tenant}")["data"] == []
    # A retry of the test event would have been sent before this event is finished.
    world.wait_done(world.publish()["id"], hook)
    assert world.api.get(f"/v1/deliveries/{answer['delivery_id']}")["attempt_count"] == 1


def test_testing_a_blocked_webhook_is_a_conflict_with_the_reason(world):
    hook = world.hook("hook", retry_config=SLOW)
    world.api.post(f"/v1/webhooks/{hook.id}/pause")
    assert send_test(world, hook, expect=409)["code"] == "webhook_paused"
    world.api.post(f"/v1/webhooks/{hook.id}/resume")

    world.api.patch(f"/v1/webhooks/{hook.id}/circuit-breaker",
                    {"action": "force_open", "duration_seconds": 3600})
    refused = send_test(world, hook, expect=409)
    assert refused["code"] == "circuit_open"
    assert " until " in refused["detail"]
    world.api.patch(f"/v1/webhooks/{hook.id}/circuit-breaker", {"action": "reset"})

    world.api.patch(f"/v1/webhooks/{hook.id}", {"active": False})
    assert send_test(world, hook, expect=409)["code"] == "webhook_inactive"
    assert world.requests(hook) == []


def test_a_test_event_that_is_not_sent_in_time_is_answered_with_its_ids(world):
    hook = world.hook("hook", rate_limit={"requests_per_minute": 1, "burst": 1}, timeout_ms=1000)
    send_test(world, hook)
    answer = send_test(world, hook, expect=202)  # The next token comes too late.
    assert answer["attempt"] is None
    delivery = world.api.get(f"/v1/deliveries/{answer['delivery_id']}")
    assert delivery["event_id"] == answer["event_id"]
    assert delivery["status"] == "pending"


def test_a_hanging_receiver_is_reported_as_a_timeout(world):
    hook = world.hook("hook", Hang(), timeout_ms=1000)
    assert send_test(world, hook)["attempt"]["failure_category"] == "timeout"


@pytest.mark.parametrize("body, field", [
    ({"event_type": "no spaces"}, "event_type"),
    ({"event_type": 1}, "event_type"),
    ({"type": "order.paid"}, "type"),
])
def test_an_invalid_test_request_is_refused_with_the_field(world, body, field):
    hook = world.hook()
    assert send_test(world, hook, body, expect=422)["errors"][0]["field"] == field
    assert world.requests(hook) == []


def test_an_unknown_webhook_cannot_be_tested(world):
    world.api.post("/v1/webhooks/whk_00000000000000000000000000/test", expect=404)
