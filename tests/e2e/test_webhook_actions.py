"""Actions on webhooks and deliveries: pause, retry, cancel, change, delete, list."""

import pytest

from harness import wait_for, wait_metric
from receiver import Held, Reply
from world import FAST, SLOW


def test_a_paused_webhook_holds_its_deliveries_until_it_is_resumed(world):
    hook = world.hook()
    control = world.hook("control")
    paused = world.api.post(f"/v1/webhooks/{hook.id}/pause")
    assert paused["paused"] is True
    ids = world.publish_numbered(5)
    world.wait_requests(control, 5)
    blocked = world.wait_blocked(ids[0], hook)
    assert blocked["blocked"]["reason"] == "paused"
    assert world.requests(hook) == []

    assert world.api.post(f"/v1/webhooks/{hook.id}/resume")["paused"] is False
    for event_id in ids:
        assert world.wait_done(event_id, hook)["status"] == "succeeded"
    assert sorted(world.numbers(hook)) == [0, 1, 2, 3, 4]


def test_a_manually_retried_dead_letter_keeps_its_history(world):
    hook = world.hook("hook", Reply(404), Reply(), retry_config=FAST)
    event = world.publish()
    dead = world.wait_done(event["id"], hook)
    assert dead["status"] == "dead_letter"
    listed = world.api.all(f"/v1/deliveries?status=dead_letter&webhook_id={hook.id}")
    assert [item["id"] for item in listed] == [dead["id"]]

    revived = world.api.post(f"/v1/deliveries/{dead['id']}/retry", expect=202)
    assert revived["delivery_id"] == dead["id"]
    alive = world.wait_status(event["id"], hook, "succeeded")
    assert alive["id"] == dead["id"]
    assert [attempt["http_status"] for attempt in alive["attempts"]] == [404, 200]
    assert [attempt["number"] for attempt in alive["attempts"]] == [1, 2]
    assert alive["attempts"][1]["trigger"] == "manual"
    assert {request.webhook_id for request in world.requests(hook)} == {event["id"]}


def test_the_dead_letter_queue_lists_dead_letters_and_retries_them(world):
    hook = world.hook("hook", Reply(404), Reply())
    bad, good = world.publish_numbered(2)
    for event_id in (bad, good):
        world.wait_done(event_id, hook)
    letters = world.api.all(f"/v1/dlq?webhook_id={hook.id}")
    assert len(letters) == 1
    letter = letters[0]
    assert letter["dead_letter"]["reason"] == "permanent_client_error_404"
    world.api.post(f"/v1/dlq/{letter['id']}/retry", expect=202)
    wait_for(lambda: world.api.all(f"/v1/dlq?webhook_id={hook.id}") == [], "an empty queue")
    refused = world.api.request("POST", f"/v1/dlq/{letter['id']}/retry")
    assert refused.status == 409, refused


def test_a_manual_retry_starts_a_new_attempt_budget(world):
    hook = world.hook("hook", Reply(500), retry_config={**FAST, "max_attempts": 2})
    event = world.publish()
    dead = world.wait_done(event["id"], hook)
    assert dead["attempt_count"] == 2
    world.api.post(f"/v1/webhooks/{hook.id}/deliveries/{dead['id']}/retry", {"priority": "high"},
                   expect=202)
    world.wait_requests(hook, 4)
    again = world.wait_status(event["id"], hook, "dead_letter")
    assert (again["attempt_count"], again["attempts_total"]) == (2, 4)


def test_a_manual_retry_sends_a_waiting_delivery_immediately(world):
    hook = world.hook("hook", Reply(500), Reply(), retry_config=SLOW)
    event = world.publish()
    waiting = world.wait_status(event["id"], hook, "retrying")
    world.api.post(f"/v1/deliveries/{waiting['id']}/retry", expect=202)
    delivery = world.wait_done(event["id"], hook)
    assert (delivery["status"], delivery["attempts_total"]) == ("succeeded", 2)


def test_a_cancelled_delivery_is_never_sent_again(world):
    hook = world.hook("hook", Reply(500), Reply(), retry_config=SLOW, max_in_flight=1)
    event = world.publish()
    waiting = world.wait_status(event["id"], hook, "retrying")
    cancelled = world.api.post(f"/v1/deliveries/{waiting['id']}/cancel")
    assert cancelled["status"] == "cancelled"
    refused = world.api.request("POST", f"/v1/deliveries/{waiting['id']}/cancel")
    assert (refused.status, refused.json["code"]) == (409, "conflict")
    later = world.publish()
    assert world.wait_done(later["id"], hook)["status"] == "succeeded"
    assert len(world.requests(hook)) == 2
    assert world.delivery(event["id"], hook)["status"] == "cancelled"


def test_a_delivery_cancelled_in_flight_succeeds_if_the_receiver_accepts_it(world):
    hook = world.hook("hook", Held(Reply()))
    event = world.publish()
    world.wait_requests(hook, 1)
    delivery = world.delivery(event["id"], hook)
    assert world.api.post(f"/v1/deliveries/{delivery['id']}/cancel")["status"] == "cancelled"
    world.receiver.release(hook.path)
    wait_for(lambda: world.delivery(event["id"], hook)["status"] == "succeeded",
             "the delivery to succeed")
    assert world.delivery(event["id"], hook)["attempts"][0]["status"] == "succeeded"


def test_a_delivery_cancelled_in_flight_stays_cancelled_if_it_fails(world):
    hook = world.hook("hook", Held(Reply(500)), retry_config=FAST)
    event = world.publish()
    world.wait_requests(hook, 1)
    delivery = world.delivery(event["id"], hook)
    world.api.post(f"/v1/deliveries/{delivery['id']}/cancel")
    world.receiver.release(hook.path)
    wait_for(lambda: world.delivery(event["id"], hook)["attempts"], "the attempt to be recorded")
    assert world.delivery(event["id"], hook)["status"] == "cancelled"


def test_deleting_a_webhook_cancels_its_waiting_deliveries(world):
    hook = world.hook("hook", Reply(500), retry_config=SLOW)
    event = world.publish()
    waiting = world.wait_status(event["id"], hook, "retrying")
    world.api.delete(f"/v1/webhooks/{hook.id}")
    world.api.get(f"/v1/webhooks/{hook.id}", expect=404)
    read = world.api.get(f"/v1/deliveries/{waiting['id']}")
    assert read["status"] == "cancelled"
    assert len(read["attempts"]) == 1, "the attempts are kept"
    assert world.publish()["deliveries"] == 0


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_put_and_patch_merge(world, method):
    hook = world.hook(name="first", max_in_flight=7, retry_config={"max_attempts": 3})
    answer = world.api.request(method, f"/v1/webhooks/{hook.id}",
                               {"name": "second", "retry_config": {"base_delay_ms": 1234}})
    assert answer.status == 200, answer
    read = world.api.get(f"/v1/webhooks/{hook.id}")
    assert (read["name"], read["max_in_flight"]) == ("second", 7)
    retry = read["retry_config"]
    assert (retry["max_attempts"], retry["base_delay_ms"]) == (3, 1234)
    assert read["updated_at"] >= read["created_at"] == hook.created["created_at"]


def test_a_changed_url_is_used_for_the_next_attempt(world):
    hook = world.hook("old", Reply(500), retry_config={**FAST, "max_attempts": 50},
                      circuit_breaker_config={"enabled": False})
    event = world.publish()
    world.wait_requests(hook, 1)
    new = world.path("new")
    world.api.patch(f"/v1/webhooks/{hook.id}", {"url": world.receiver.url(new)})
    assert world.wait_done(event["id"], hook)["status"] == "succeeded"
    assert world.receiver.count(new) == 1


def test_an_inactive_webhook_gets_no_new_deliveries(world):
    hook = world.hook()
    world.api.patch(f"/v1/webhooks/{hook.id}", {"active": False})
    missed = world.publish()
    assert missed["deliveries"] == 0
    world.api.patch(f"/v1/webhooks/{hook.id}", {"active": True})
    event = world.publish()
    world.wait_done(event["id"], hook)
    assert [request.webhook_id for request in world.requests(hook)] == [event["id"]]


def test_lists_page_through_everything_once(world):
    hook = world.hook()
    ids = world.publish_numbered(7)
    for event_id in ids:
        world.wait_done(event_id, hook)

    seen, cursor = [], ""
    for _ in range(4):
        page = world.api.get(f"/v1/webhooks/{hook.id}/deliveries?limit=2{cursor}")
        seen += [item["event_id"] for item in page["data"]]
        cursor = f"&cursor={page['next_cursor']}"
    assert page["next_cursor"] is None
    assert seen == ids[::-1], "newest first, each once"

    offset = world.api.get(f"/v1/webhooks/{hook.id}/deliveries?limit=3&offset=5")
    assert [item["event_id"] for item in offset["data"]] == ids[1::-1]
    events = world.api.all(f"/v1/events?tenant_id={world.tenant}")
    assert [item["id"] for item in events] == ids[::-1]


def test_deliveries_are_found_by_status_and_type(world):
    hook = world.hook("hook", lambda request: Reply(
        404 if request.header("x-webhook-event") == "a.bad" else 200))
    good = world.publish("a.good")["id"]
    bad = world.publish("a.bad")["id"]
    for event_id in (good, bad):
        world.wait_done(event_id, hook)

    def found(query):
        path = f"/v1/webhooks/{hook.id}/deliveries?{query}"
        return [item["event_id"] for item in world.api.all(path)]
    assert found("status=succeeded") == [good]
    assert found("status=dead_letter") == [bad]
    assert found("status=succeeded,dead_letter") == [bad, good]
    assert found("event_type=a.good") == [good]
    assert found("status=cancelled") == []


def test_webhooks_are_found_by_tenant_activity_type_and_text(world):
    swaps = world.hook("a", events=["swap.*"], name="Swap team")
    orders = world.hook("b", events=["order.paid"], active=False)

    def found(query):
        path = f"/v1/webhooks?tenant_id={world.tenant}&{query}"
        return {item["id"] for item in world.api.all(path)}
    assert found("q=http") == {swaps.id, orders.id}
    assert found("active=true") == {swaps.id}
    assert found("active=false") == {orders.id}
    assert found("event_type=swap.created") == {swaps.id}
    assert found("q=team") == {swaps.id}
    assert world.api.all("/v1/webhooks?tenant_id=nobody") == []


def test_health_summarizes_recent_attempts_and_deliveries(world):
    hook = world.hook("hook", Reply(404), Reply())
    first, second = world.publish_numbered(2)
    for event_id in (first, second):
        world.wait_done(event_id, hook)

    def settled():
        health = world.api.get(f"/v1/webhooks/{hook.id}/health")
        return health if health["recent"]["attempts"] == 2 else None
    health = wait_for(settled, "two attempts")
    assert health["recent"]["success_rate"] == 0.5
    assert health["recent"]["failures_by_category"] == {"client_error": 1}
    assert health["deliveries"] == {"pending": 0, "retrying": 0, "dead_letter": 1}
    assert health["circuit"]["state"] == "closed"


def test_metrics_are_prometheus_text_and_count_deliveries(own_server, make_world):
    world = make_world(own_server().start())  # Few tenants: none shares the label `other`.
    hook = world.hook("hook", Reply(), Reply(404), max_in_flight=1)
    for event_id in world.publish_numbered(2):
        world.wait_done(event_id, hook)
    for status, failure in (("success", "none"), ("failure", "client_error")):
        series = (f'webhook_deliveries_total{{event_type="order.created",'
                  f'failure_category="{failure}",status="{status}",tenant_id="{world.tenant}"}}')
        wait_metric(world.api, series, lambda count: count == 1)
    answer = world.api.request("GET", "/metrics")
    assert answer.status == 200
    assert answer.headers["content-type"].startswith("text/plain")
    for line in answer.body.decode().splitlines():
        assert line.startswith("#") or len(line.rsplit(" ", 1)) == 2, line
