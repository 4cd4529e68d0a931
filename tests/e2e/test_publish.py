"""Publishing: idempotency (P3), batches, optional fields."""

import threading

import pytest

from harness import wait_for
from receiver import Reply
from world import SLOW


def test_the_same_key_and_body_after_delivery_answers_with_the_first_event(world):
    hook = world.hook()
    first = world.publish(data={"a": 1}, idempotency_key="k")
    world.wait_done(first["id"], hook)
    again = world.publish(data={"a": 1}, idempotency_key="k", expect=200)
    assert again == {"id": first["id"], "deliveries": 1, "duplicate": True}
    assert len(world.requests(hook)) == 1


def test_the_same_key_and_body_while_it_is_being_delivered_answers_with_the_first_event(world):
    world.hook("hook", Reply(500), retry_config=SLOW)
    first = world.publish(data={"a": 1}, idempotency_key="k")
    again = world.publish(data={"a": 1}, idempotency_key="k", expect=200)
    assert again == {"id": first["id"], "deliveries": 1, "duplicate": True}


def test_the_same_key_with_another_body_is_refused(world):
    hook = world.hook()
    first = world.publish(data={"a": 1}, idempotency_key="k")
    answer = world.publish(data={"a": 2}, idempotency_key="k", expect=422)
    assert answer["code"] == "idempotency_key_reused"
    world.wait_done(first["id"], hook)
    assert len(world.requests(hook)) == 1


def test_idempotency_keys_are_separate_for_each_tenant(world, make_world, server):
    other = make_world(server)
    first = world.publish(idempotency_key="k")
    second = other.publish(idempotency_key="k")
    assert first["id"] != second["id"] and second["duplicate"] is False


def test_the_idempotency_key_header_works_like_the_field(world):
    hook = world.hook()
    body = {"type": "a.b", "data": 1, "tenant_id": world.tenant}
    header = {"Idempotency-Key": "from-the-header"}
    first = world.api.post("/v1/events", body, expect=202, headers=header)
    world.wait_done(first["id"], hook)
    again = world.api.post("/v1/events", body, expect=200, headers=header)
    assert (again["id"], again["duplicate"]) == (first["id"], True)
    assert world.requests(hook)[0].header("x-idempotency-key") == "from-the-header"


def test_one_of_twenty_concurrent_publishes_with_one_key_is_accepted(world, server):
    hook = world.hook()
    answers = []
    start = threading.Barrier(20)

    def publish():
        api = server.api()
        start.wait()
        answers.append(api.request("POST", "/v1/events", {
            "type": "a.b", "data": {"a": 1}, "tenant_id": world.tenant, "idempotency_key": "k"}))
        api.close()
    threads = [threading.Thread(target=publish) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    statuses = sorted(answer.status for answer in answers)
    assert len(statuses) == 20, "a request got no answer"
    assert statuses.count(202) == 1 and statuses.count(200) == 19, statuses
    winner = next(answer.json["id"] for answer in answers if answer.status == 202)
    world.wait_done(winner, hook)
    assert [request.webhook_id for request in world.requests(hook)] == [winner]


def test_a_batch_of_a_thousand_is_delivered(world):
    hook = world.hook(max_in_flight=50)
    answer = world.publish_batch([{"type": "a.b", "data": {"n": n}} for n in range(1000)])
    ids = [item["id"] for item in answer["results"]]
    assert answer["accepted"] == 1000
    assert len(set(ids)) == 1000
    wait_for(lambda: world.receiver.count(hook.path) >= 1000, "a thousand requests")
    assert {request.webhook_id for request in world.requests(hook)} == set(ids)
    assert sorted(world.numbers(hook)) == list(range(1000))


def test_a_batch_is_all_or_nothing(world):
    hook = world.hook()
    bad = world.publish_batch([{"type": "a.b", "data": 1}, {"type": "", "data": 2}], expect=422)
    assert [error["field"] for error in bad["errors"]] == ["events[1].type"]
    good = world.publish(data={"n": 7})
    world.wait_done(good["id"], hook)
    assert world.numbers(hook) == [7]


def test_a_batch_may_be_accepted_item_by_item(world):
    hook = world.hook()
    answer = world.publish_batch(
        [{"type": "a.b", "data": {"n": 1}}, {"type": "", "data": 2},
         {"type": "a.b", "data": {"n": 3}}], query="?atomic=false")
    assert answer["accepted"] == 2
    assert [item["status"] for item in answer["results"]] == [202, 422, 202]
    assert answer["results"][1]["errors"][0]["field"] == "events[1].type"
    world.wait_requests(hook, 2)
    assert sorted(world.numbers(hook)) == [1, 3]


def test_an_empty_batch_and_one_of_more_than_a_thousand_are_refused(world):
    for count in (0, 1001):
        answer = world.api.request("POST", "/v1/events/batch", {
            "events": [{"type": "a.b", "data": 1}] * count})
        assert answer.status == 422, answer
        assert "1000" in answer.body.decode() or "1,000" in answer.body.decode()


@pytest.mark.parametrize("field, value", [
    ("timestamp", "2026-01-31T23:59:59.123Z"), ("resource_id", "r-1"), ("source", "shop"),
    ("metadata", {"b": 1, "a": [2]}), ("priority", "low"), ("ordering_key", "o-1"),
])
def test_optional_fields_of_an_event_are_stored(world, field, value):
    event = world.publish(**{field: value})
    assert world.api.get(f"/v1/events/{event['id']}")[field] == value
