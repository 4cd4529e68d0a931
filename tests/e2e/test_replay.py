"""Replay: sends past events to a webhook, including those it missed."""

import datetime
import json

from harness import wait_for
from operations import make_dead_letters, start, wait_finished
from receiver import Reply

UNRESTRICTED = {"circuit_breaker_config": {"enabled": False}, "max_in_flight": 50}
LONG_AGO = "2020-01-01T00:00:00Z"


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def replay(world, hook, **fields):
    operation = start(world.api, "POST", f"/v1/webhooks/{hook.id}/replay",
                      {"since": LONG_AGO, **fields})
    assert operation["kind"] == "replay"
    return operation


def test_events_missed_while_inactive_are_replayed_in_order(world):
    hook = world.hook(ordering_guarantee="strict")
    world.publish_numbered(2)
    world.wait_requests(hook, 2)
    world.api.patch(f"/v1/webhooks/{hook.id}", {"active": False})
    missed = world.publish_numbered(5, start=2)
    refused = world.api.request("POST", f"/v1/webhooks/{hook.id}/replay", {"since": LONG_AGO})
    assert (refused.status, refused.json["code"]) == (409, "webhook_inactive")
    world.api.patch(f"/v1/webhooks/{hook.id}", {"active": True})
    done = wait_finished(world.api, replay(world, hook))
    assert (done["status"], done["total"], done["done"], done["skipped"]) == ("completed", 5, 5, 0)
    world.wait_requests(hook, 7)
    assert world.numbers(hook) == list(range(7)), "in publish order and without duplicates"
    for event_id in missed:
        delivery = world.wait_done(event_id, hook)
        assert (delivery["status"], delivery["trigger"]) == ("succeeded", "replay")
        assert delivery["attempts"][0]["trigger"] == "replay"
    found = world.api.all(f"/v1/webhooks/{hook.id}/deliveries")
    assert [item["event_id"] for item in found][:5] == missed[::-1]
    assert world.api.all(f"/v1/events?tenant_id={world.tenant}&matched=false") == []
    again = wait_finished(world.api, replay(world, hook))
    assert (again["status"], again["total"], again["done"], again["skipped"]) == (
        "completed", 0, 0, 0)


def test_events_published_before_the_webhook_was_created_are_replayed(world):
    first = world.publish("a.one", {"n": 1})["id"]
    world.publish("b.two", {"n": 2})
    hook = world.hook(events=["a.*"])
    done = wait_finished(world.api, replay(world, hook))
    assert (done["total"], done["done"], done["skipped"]) == (1, 1, 0)
    request = world.wait_requests(hook, 1)[0]
    assert json.loads(request.body)["id"] == first
    assert world.wait_done(first, hook)["status"] == "succeeded"


def test_dead_letters_are_replayed_and_successes_only_on_request(world):
    hook = world.hook("hook", lambda request: Reply(
        404 if request.header("x-webhook-event") == "a.bad" else 200), **UNRESTRICTED)
    good = world.publish("a.good")["id"]
    world.wait_done(good, hook)
    make_dead_letters(world, hook, 3, type="a.bad")
    world.receiver.on(hook.path, Reply())
    done = wait_finished(world.api, replay(world, hook))
    assert (done["total"], done["done"], done["skipped"]) == (3, 3, 0)
    world.wait_requests(hook, 7)
    assert wait_finished(world.api, replay(world, hook, status=["succeeded"],
                                       event_types=["a.good"]))["done"] == 1
    requests = world.wait_requests(hook, 8)
    assert requests[-1].webhook_id == requests[0].webhook_id, "the same event again"
    wait_for(lambda: world.delivery(good, hook)["attempts_total"] == 2, "the second attempt")


def test_test_events_are_not_replayed(world):
    hook = world.hook("hook", Reply(503), **UNRESTRICTED)
    other = world.hook("other", **UNRESTRICTED)
    world.api.post(f"/v1/webhooks/{hook.id}/test", {"event_type": "order.refunded"})
    world.receiver.on(hook.path, Reply())
    for each in (hook, other):
        done = wait_finished(world.api, replay(world, each))
        assert (done["total"], done["done"]) == (0, 0)
    real = world.publish("order.paid")["id"]
    for each in (hook, other):
        world.wait_done(real, each)
    assert (len(world.requests(hook)), len(world.requests(other))) == (2, 1)


def a_moment_later():
    """Waits until the clock has advanced and returns the time."""
    before = now()
    wait_for(lambda: now() > before, "the clock to advance")
    return now()


def test_only_events_within_the_time_range_are_replayed(world):
    world.publish("a.early", {"n": 1})
    since = a_moment_later()
    world.publish("a.middle", {"n": 2})
    until = a_moment_later()
    a_moment_later()
    world.publish("a.late", {"n": 3})
    hook = world.hook()
    done = wait_finished(world.api, replay(world, hook, since=since, until=until))
    assert (done["total"], done["done"]) == (1, 1)
    world.wait_requests(hook, 1)
    assert world.numbers(hook) == [2]


def seconds_between(first, later):
    first, later = (datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
                    for text in (first, later))
    return (later - first).total_seconds()


def test_the_rate_limit_counts_only_matching_events(world):
    wanted = [{"type": "a.b", "data": {"keep": True, "n": number}} for number in range(6)]
    for _ in range(5):
        world.publish_batch([{"type": "foreign.b", "data": 0}] * 100)  # Excluded by type.
        world.publish_batch([{"type": "a.b", "data": {"keep": False}}] * 100)  # By content.
    world.publish_batch(wanted)
    world.publish_batch([{"type": "a.c", "data": {"keep": False}}] * 300)
    hook = world.hook(events=["a.*"], filter={"data": {"keep": [True]}}, **UNRESTRICTED)
    operation = replay(world, hook, rate_limit={"requests_per_second": 4})

    def counted():
        found = world.api.get(f"/v1/operations/{operation['id']}")
        return found if found["total"] is not None else None
    running = wait_for(counted, "the total")
    assert (running["status"], running["total"]) == ("running", 6)
    # Six events at four per second: 1.5 s.
    assert seconds_between(running["started_at"], running["eta"]) < 4
    done = wait_finished(world.api, operation)
    assert (done["total"], done["done"], done["skipped"], done["failed"]) == (6, 6, 0, 0)
    assert 1.2 < seconds_between(done["started_at"], done["finished_at"]) < 6
    world.wait_requests(hook, 6)
    arrivals = sorted(request.started for request in world.requests(hook))
    assert arrivals[-1] - arrivals[0] > 1, "at most four per second"
    assert sorted(world.numbers(hook)) == list(range(6))


def test_event_types_are_names_or_patterns(world):
    for type in ("a", "a.b", "a.b.c", "ab.c", "z"):
        world.publish(type)
    hook = world.hook()
    for types, count in [(["a.*"], 2), (["a", "ab.*"], 2), (["*"], 1)]:
        done = wait_finished(world.api, replay(world, hook, event_types=types))
        assert (done["total"], done["done"]) == (count, count), types
        assert done["filter"]["event_types"] == types
    world.wait_requests(hook, 5)


def test_a_replay_to_a_webhook_without_tenant_has_no_tenant(server, world):
    hook = server.api().post("/v1/webhooks", {"url": world.receiver.url(world.path("bare")),
                                              "events": [f"bare.{world.tenant}"]}, expect=201)
    world.api.post("/v1/events", {"type": f"bare.{world.tenant}", "data": 1}, expect=202)
    operation = start(world.api, "POST", f"/v1/webhooks/{hook['id']}/replay",
                      {"since": LONG_AGO, "status": ["succeeded", "dead_letter"]})
    assert operation["tenant_id"] is None
    assert "tenant_id" not in operation["filter"]
    found = wait_finished(world.api, operation)
    assert (found["status"], found["tenant_id"]) == ("completed", None)
    assert "tenant_id" not in found["filter"]
    world.api.delete(f"/v1/webhooks/{hook['id']}")


def test_a_repeated_publish_answers_with_the_first_event_while_a_replay_is_delivered(world):
    first = world.publish(idempotency_key="once")
    assert world.publish(idempotency_key="once", expect=200)["duplicate"] is True
    hook = world.hook()
    world.receiver.hold(hook.path)
    replay(world, hook)
    world.wait_requests(hook, 1)
    assert world.publish(idempotency_key="once", expect=200)["id"] == first["id"]
    world.receiver.release(hook.path)
    world.wait_done(first["id"], hook)
    answer = world.publish(idempotency_key="once", expect=200)
    assert answer["deliveries"] == 0, "the first answer is repeated"


def test_kill_9_during_a_replay_loses_no_event(own_server, make_world):
    server = own_server().start()
    world = make_world(server)
    world.publish_batch([{"type": "a.b", "data": {"n": number}} for number in range(90)])
    hook = world.hook(**UNRESTRICTED)
    operation = replay(world, hook, rate_limit={"requests_per_second": 60})
    wait_for(lambda: world.api.get(f"/v1/operations/{operation['id']}")["done"] > 5,
             "some progress")
    server.kill()
    world.api = server.start().api()
    done = wait_finished(world.api, operation)
    assert (done["status"], done["done"] + done["skipped"]) == ("completed", 90)
    wait_for(lambda: set(world.numbers(hook)) == set(range(90)), "all events")
    found = world.api.all(f"/v1/webhooks/{hook.id}/deliveries")
    assert len(found) == len({item["event_id"] for item in found}) == 90, "one delivery per event"


def test_a_replay_fails_with_a_reason_if_its_webhook_is_deleted(world):
    world.publish_batch([{"type": "a.b", "data": number} for number in range(30)])
    hook = world.hook(**UNRESTRICTED)
    operation = replay(world, hook, rate_limit={"requests_per_second": 10})
    world.wait_requests(hook, 1)
    world.api.delete(f"/v1/webhooks/{hook.id}")
    done = wait_finished(world.api, operation)
    assert (done["status"], done["error"]) == ("failed", "The webhook has been deleted.")
    assert 0 < done["done"] < 30


def test_an_invalid_replay_is_refused_with_the_field(world):
    hook = world.hook()
    for body, field in [
            ({}, "since"),
            ({"since": None}, "since"),
            ({"since": "yesterday"}, "since"),
            ({"since": LONG_AGO, "until": LONG_AGO}, "until"),
            ({"since": LONG_AGO, "status": ["pending"]}, "status"),
            ({"since": LONG_AGO, "status": "dead_letter"}, "status"),
            ({"since": LONG_AGO, "event_types": [1]}, "event_types"),
            ({"since": LONG_AGO, "event_types": ["a b"]}, "event_types"),
            ({"since": LONG_AGO, "event_types": ["a*"]}, "event_types"),
            ({"since": LONG_AGO, "event_types": [""]}, "event_types"),
            ({"since": LONG_AGO, "repeat_every_seconds": 60}, "repeat_every_seconds")]:
        answer = world.api.request("POST", f"/v1/webhooks/{hook.id}/replay", body)
        assert answer.status == 422, (body, answer)
        assert field in [error["field"] for error in answer.json["errors"]], answer
    assert world.api.request("POST", "/v1/webhooks/whk_nobody/replay",
                             {"since": LONG_AGO}).status == 404
