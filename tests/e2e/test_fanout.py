"""Events with many deliveries: stored with a note, from which the deliveries are made later."""

import collections
import json
import threading

import pytest

from harness import metric, metrics_page, wait_for
from receiver import Reply

MANY = 130  # More webhooks than get their deliveries in the transaction of the publish.


def make_hooks(api, count, tenant, **fields):
    """Paused webhooks: only whether their deliveries exist matters."""
    ids = []
    for number in range(count):
        hook = api.post("/v1/webhooks", {"url": f"http://127.0.0.1:9/{number}", "events": ["*"],
                                         "tenant_id": tenant, **fields}, expect=201)
        ids.append(hook["id"])
        if not fields.get("filter"):
            api.post(f"/v1/webhooks/{hook['id']}/pause")
    return ids


def publish(api, tenant, number=0, expect=202, **fields):
    return api.post("/v1/events", {"type": "a.b", "tenant_id": tenant, "data": {"n": number},
                                   **fields}, expect=expect)


def batch_of(count, tenant):
    return {"events": [{"type": "a.b", "tenant_id": tenant, "data": {"n": number}}
                       for number in range(count)]}


def wait_fanned_out(api):
    wait_for(lambda: metric(metrics_page(api), "postrider_fanout_remaining") == 0,
             "all deliveries to be made", deadline=300)


def webhooks_of(api, event_id):
    return [row["webhook_id"] for row in api.all(f"/v1/deliveries?event_id={event_id}")]


def counts(api, tenant):
    """{webhook: {event: deliveries}} of the tenant."""
    found = collections.defaultdict(collections.Counter)
    for row in api.all(f"/v1/deliveries?tenant_id={tenant}"):
        found[row["webhook_id"]][row["event_id"]] += 1
    return found


@pytest.fixture
def many(own_server):
    server = own_server("--set", "limits.webhooks_per_tenant=0").start()
    return server, server.api()


def test_an_event_to_many_webhooks_reaches_each_once(many):
    _, api = many
    hooks = make_hooks(api, MANY, "acme")
    body = {"type": "a.b", "tenant_id": "acme", "data": {}, "idempotency_key": "k"}
    answer = api.post("/v1/events", body, expect=202)
    assert answer["deliveries"] == MANY and answer["duplicate"] is False

    def repeat():
        again = api.request("POST", "/v1/events", body)
        assert again.status in (200, 409) and again.json["id"] == answer["id"]
        assert again.json.get("deliveries", MANY) == MANY
    repeat()
    wait_fanned_out(api)
    repeat()
    assert sorted(webhooks_of(api, answer["id"])) == sorted(hooks)
    detail = api.get(f"/v1/events/{answer['id']}")
    assert detail["fanout_remaining"] == 0
    assert api.get("/v1/events?matched=false")["data"] == []


def test_the_deliveries_are_sent(many, receiver):
    _, api = many
    for number in range(MANY):
        api.post("/v1/webhooks", {"url": receiver.url(f"/fan/{number}"), "events": ["a.*"],
                                  "tenant_id": "acme"}, expect=201)
    event = publish(api, "acme")["id"]
    wait_for(lambda: sum(receiver.count(f"/fan/{number}") for number in range(MANY)) >= MANY,
             "a request to each webhook")
    assert all(receiver.count(f"/fan/{number}") == 1 for number in range(MANY))
    assert {request.webhook_id for request in receiver.requests("/fan/0")} == {event}


def test_a_large_batch_survives_kill_9_while_others_publish(many):
    server, api = many
    hooks = make_hooks(api, MANY, "acme")
    small = make_hooks(api, 1, "other")
    batch = api.post("/v1/events/batch", batch_of(100, "acme"), expect=202)
    assert [item["deliveries"] for item in batch["results"]] == [MANY] * 100
    others = [publish(api, "other", number)["id"] for number in range(5)]
    server.kill()
    server.start()
    api = server.api()
    left = metric(metrics_page(api), "postrider_fanout_remaining")
    server.kill()
    server.start()
    api = server.api()
    wait_fanned_out(api)
    found = counts(api, "acme")
    ids = {item["id"] for item in batch["results"]}
    assert left > 0, "the first kill came too late"
    assert set(found) == set(hooks)
    assert all(set(of_hook) == ids and set(of_hook.values()) == {1} for of_hook in found.values())
    assert set(counts(api, "other")[small[0]]) == set(others)


def test_a_drain_leaves_the_notes_for_the_next_start(many):
    server, api = many
    hooks = make_hooks(api, MANY, "acme")
    event = api.post("/v1/events/batch", batch_of(100, "acme"), expect=202)["results"][99]["id"]
    server.stop()
    server.start()
    api = server.api()
    wait_fanned_out(api)
    assert sorted(webhooks_of(api, event)) == sorted(hooks)


def test_webhooks_created_later_get_nothing_and_deleted_ones_neither(many):
    server, api = many
    hooks = make_hooks(api, MANY, "acme")
    # Enough that the last event is not fanned out while webhooks change.
    batch = api.post("/v1/events/batch", batch_of(200, "acme"), expect=202)
    last = batch["results"][-1]["id"]
    gone = hooks[-1]
    api.delete(f"/v1/webhooks/{gone}")
    new = make_hooks(api, 1, "acme")
    before = api.get(f"/v1/events/{last}")["fanout_remaining"]
    wait_fanned_out(api)
    assert before > 0, "the webhooks changed too late"
    reached = webhooks_of(api, last)
    assert sorted(reached) == sorted(set(hooks) - {gone})
    assert not set(new) & set(reached)
    waiting = api.all(f"/v1/deliveries?webhook_id={gone}")
    assert {row["status"] for row in waiting} <= {"cancelled"}
    server.assert_alive()


def test_an_ordered_webhook_gets_later_events_after_the_ones_being_fanned_out(many, receiver):
    _, api = many
    make_hooks(api, MANY, "acme", events=["a.b"])
    path = "/ordered"
    api.post("/v1/webhooks", {"url": receiver.url(path), "events": ["*"], "tenant_id": "acme",
                              "ordering_guarantee": "strict"}, expect=201)
    assert api.post("/v1/events/batch", batch_of(60, "acme"),
                    expect=202)["results"][0]["deliveries"] == MANY + 1
    for number in range(60, 64):  # Small events to the ordered webhook only.
        assert publish(api, "acme", number, type="only.ordered")["deliveries"] == 1
    wait_for(lambda: receiver.count(path) >= 64, "all events", deadline=200)
    sent = [json.loads(request.body)["data"]["n"] for request in receiver.requests(path)]
    assert sent == list(range(64))


def test_filters_choose_among_many_webhooks_per_event(many):
    _, api = many
    hooks = {}
    for parity in (0, 1):
        for number in range(MANY):
            hook = api.post("/v1/webhooks", {
                "url": f"http://127.0.0.1:9/{number}", "events": ["*"], "tenant_id": "acme",
                "filter": {"data": {"n": list(range(parity, 40, 2))}}}, expect=201)
            hooks.setdefault(parity, []).append(hook["id"])
    batch = api.post("/v1/events/batch", batch_of(20, "acme"), expect=202)
    assert {item["deliveries"] for item in batch["results"]} == {MANY}
    wait_fanned_out(api)
    for number in (0, 1, 18, 19):
        reached = webhooks_of(api, batch["results"][number]["id"])
        assert sorted(reached) == sorted(hooks[number % 2])


def test_a_replay_during_the_fan_out_makes_nothing_twice(many):
    _, api = many
    hooks = make_hooks(api, MANY, "acme")
    batch = api.post("/v1/events/batch", batch_of(150, "acme"), expect=202)
    operation = api.post(f"/v1/webhooks/{hooks[-1]}/replay",
                         {"since": "2020-01-01T00:00:00Z"}, expect=202)
    wait_fanned_out(api)
    wait_for(lambda: api.get(f"/v1/operations/{operation['id']}")["requeue_finished_at"],
             "the end of the replay")
    of_hook = counts(api, "acme")[hooks[-1]]
    assert set(of_hook) == {item["id"] for item in batch["results"]}
    assert set(of_hook.values()) == {1}


def test_other_publishers_are_answered_during_a_fan_out(many, receiver):
    """Counts, not times: while deliveries are still to be made, others publish and are served."""
    server, api = many
    make_hooks(api, MANY, "giant")
    receiver.on("/small", Reply())
    api.post("/v1/webhooks", {"url": receiver.url("/small"), "events": ["*"],
                              "tenant_id": "small"}, expect=201)
    answered = []
    stop = threading.Event()

    def publish_until_stopped():
        client = server.api()
        while not stop.is_set():
            publish(client, "small", len(answered))
            answered.append(True)
        client.close()

    thread = threading.Thread(target=publish_until_stopped)
    thread.start()
    try:
        api.post("/v1/events/batch", batch_of(1_000, "giant"), expect=202)
        before = len(answered)
        wait_for(lambda: len(answered) >= before + 20, "others to be answered")
        left = metric(metrics_page(api), "postrider_fanout_remaining")
    finally:
        stop.set()
        thread.join()
    assert left > 0, "the fan-out was over before"
    wait_for(lambda: receiver.count("/small") >= len(answered), "the events of the other tenant")


def test_the_default_quota_of_webhooks_holds_unless_a_tenant_has_its_own(own_server):
    server = own_server("--set", "limits.webhooks_per_tenant=3").start()
    api = server.api()
    refused = {"url": "http://127.0.0.1:9/", "events": ["*"]}
    for tenant in ({}, {"tenant_id": "acme"}):
        for _ in range(3):
            api.post("/v1/webhooks", {**refused, **tenant}, expect=201)
        answer = api.request("POST", "/v1/webhooks", {**refused, **tenant})
        assert answer.status == 429 and answer.json["code"] == "webhook_quota_exceeded"
        assert "limits.webhooks_per_tenant" in answer.json["detail"]
    api.post("/v1/tenants", {"id": "acme"}, expect=201)
    api.put("/v1/tenants/acme/limits", {"webhooks_max": 4})
    hook = api.post("/v1/webhooks", {**refused, "tenant_id": "acme"}, expect=201)
    assert api.request("POST", "/v1/webhooks", {**refused, "tenant_id": "acme"}).status == 429
    api.put("/v1/tenants/acme/limits", {"webhooks_max": None})
    assert api.request("POST", "/v1/webhooks", {**refused, "tenant_id": "acme"}).status == 429
    api.patch(f"/v1/webhooks/{hook['id']}", {"name": "still editable"})
    server.stop()
    server.start()
    api = server.api()
    assert api.request("POST", "/v1/webhooks", {**refused, "tenant_id": "acme"}).status == 429
