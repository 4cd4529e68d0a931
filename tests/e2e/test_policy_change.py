"""A changed retry policy applies to deliveries that already wait."""

import datetime

from harness import wait_for
from receiver import Reply
from world import SLOW

SOON = {"base_delay_ms": 300, "max_delay_ms": 300}


def change(world, hook, **retry_config):
    world.api.patch(f"/v1/webhooks/{hook.id}", {"retry_config": retry_config})


def failed_once(world, hook, count=1):
    """Publishes `count` events and waits until each has failed once."""
    ids = world.publish_numbered(count)
    world.wait_requests(hook, count)
    for event_id in ids:
        world.wait_status(event_id, hook, "retrying")
    return ids


def due_in(delivery):
    due = datetime.datetime.fromisoformat(delivery["next_attempt_at"].replace("Z", "+00:00"))
    return (due - datetime.datetime.now(datetime.timezone.utc)).total_seconds()


def test_a_shorter_schedule_brings_the_next_attempt_forward(world):
    hook = world.hook("hook", Reply(500), Reply(), retry_config=SLOW)
    event = failed_once(world, hook)[0]
    assert due_in(world.delivery(event, hook)) > 500
    change(world, hook, **SOON)
    delivery = world.wait_done(event, hook)
    assert (delivery["status"], delivery["attempt_count"]) == ("succeeded", 2)


def test_a_longer_schedule_does_not_delay_waiting_deliveries(world):
    hook = world.hook("hook", Reply(500), retry_config=SLOW)
    event = failed_once(world, hook)[0]
    before = world.delivery(event, hook)["next_attempt_at"]
    change(world, hook, base_delay_ms=3_000_000)
    # The lane has applied the change before it handles a later event.
    failed_once(world, hook)
    assert world.delivery(event, hook)["next_attempt_at"] == before


def test_a_lower_attempt_limit_dead_letters_a_waiting_delivery(world):
    hook = world.hook("hook", Reply(500), retry_config=SLOW)
    event = failed_once(world, hook)[0]
    change(world, hook, max_attempts=1)
    delivery = world.wait_done(event, hook)
    assert (delivery["status"], delivery["attempt_count"]) == ("dead_letter", 1)
    assert delivery["dead_letter"]["reason"] == "max_attempts_exceeded"
    assert delivery["dead_letter"]["classification"] == "recoverable"
    assert len(world.requests(hook)) == 1
    letters = world.api.get(f"/v1/dlq?webhook_id={hook.id}")["data"]
    assert [letter["id"] for letter in letters] == [delivery["id"]]


def test_with_strict_order_the_next_delivery_follows_the_dead_letter(world):
    hook = world.hook("hook", Reply(500), Reply(), ordering_guarantee="strict", retry_config=SLOW)
    first = failed_once(world, hook)[0]
    second = world.publish(data={"n": 1})["id"]
    change(world, hook, max_attempts=1)
    assert world.wait_done(first, hook)["status"] == "dead_letter"
    assert world.wait_done(second, hook)["status"] == "succeeded"


def test_deliveries_waiting_in_the_store_are_brought_forward(world):
    hook = world.hook("hook", *[Reply(500)] * 700, Reply(), max_in_flight=50, retry_config=SLOW,
                      circuit_breaker_config={"enabled": False})
    world.publish_batch([{"type": "a.b", "data": {"n": number}} for number in range(700)])
    world.wait_requests(hook, 700)
    change(world, hook, **SOON)
    world.wait_requests(hook, 1400)
    waiting = f"/v1/webhooks/{hook.id}/deliveries?status=retrying"
    wait_for(lambda: not world.api.get(waiting)["data"], "all deliveries to succeed")


def test_bringing_deliveries_forward_resumes_after_a_crash(own_server, make_world):
    server = own_server()
    server.start()
    world = make_world(server)
    hook = world.hook("hook", *[Reply(500)] * 3, Reply(), retry_config=SLOW)
    ids = failed_once(world, hook, 3)
    change(world, hook, **SOON)
    server.kill()
    server.start()
    world.api = server.api()
    for event in ids:
        assert world.wait_done(event, hook)["status"] == "succeeded"
