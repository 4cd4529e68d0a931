"""The dead letter queue: lists, age counts, filters and discarding."""

import json

from harness import metric, metrics_page, wait_for, wait_metric
from operations import count_dead_letters, make_dead_letters, start, wait_finished
from receiver import Reply

UNRESTRICTED = {"circuit_breaker_config": {"enabled": False}, "max_in_flight": 50}


def dlq_size(world):
    return metric(metrics_page(world.api), f'webhook_dlq_size{{tenant_id="{world.tenant}"}}')


def test_dead_letters_are_counted_by_age_for_the_same_filter(world):
    hook = world.hook("hook", Reply(404), **UNRESTRICTED)
    make_dead_letters(world, hook, 4, type="a.one")
    make_dead_letters(world, hook, 3, type="a.two", start=4)
    page = world.api.get(f"/v1/dlq?webhook_id={hook.id}&limit=2")
    assert len(page["data"]) == 2
    assert page["age_buckets"] == {"lt_1h": 7, "1h_24h": 0, "gt_24h": 0}
    assert page["age_buckets_complete"] is True
    page = world.api.get(f"/v1/dlq?tenant_id={world.tenant}&event_type=a.two&age=lt_1h")
    assert [item["event_type"] for item in page["data"]] == ["a.two"] * 3
    assert page["age_buckets"] == {"lt_1h": 3, "1h_24h": 0, "gt_24h": 0}
    page = world.api.get(f"/v1/dlq?webhook_id={hook.id}&age=1h_24h")
    assert page["data"] == []
    assert page["age_buckets"]["lt_1h"] == 7, "the counts ignore the age filter"
    page = world.api.get(f"/v1/dlq?webhook_id={hook.id}&failure_category=timeout")
    assert page["age_buckets"]["lt_1h"] == 0
    page = world.api.get(f"/v1/dlq?webhook_id={hook.id}&classification=recoverable")
    assert page["data"] == []


def test_discarded_dead_letters_are_cancelled_and_keep_their_history(world):
    hook = world.hook("hook", Reply(404), **UNRESTRICTED)
    kept = make_dead_letters(world, hook, 2, type="a.kept")
    gone = make_dead_letters(world, hook, 3, type="a.gone", start=2)
    operation = start(world.api, "DELETE", f"/v1/dlq?webhook_id={hook.id}&event_type=a.gone")
    assert operation["kind"] == "discard"
    done = wait_finished(world.api, operation)
    assert (done["status"], done["total"], done["done"]) == ("completed", 3, 3)
    for event_id in gone:
        delivery = world.delivery(event_id, hook)
        assert delivery["status"] == "cancelled"
        assert len(delivery["attempts"]) == 1
        assert delivery["dead_letter"]["reason"] == "permanent_client_error_404"
    assert {world.delivery(event_id, hook)["status"] for event_id in kept} == {"dead_letter"}
    assert count_dead_letters(world, hook) == 2
    assert len(world.requests(hook)) == 5, "nothing was sent"
    bad = world.api.request("DELETE", "/v1/dlq?colour=red")
    assert (bad.status, bad.json["code"]) == (400, "invalid_query")


def test_discarding_everything_requires_all_true(own_server, make_world):
    server = own_server().start()
    world = make_world(server)
    hook = world.hook("hook", Reply(404), **UNRESTRICTED)
    make_dead_letters(world, hook, 3)
    for query in ("", "?all=false", f"?all=true&webhook_id={hook.id}", "?all=yes"):
        refused = world.api.request("DELETE", f"/v1/dlq{query}")
        assert (refused.status, refused.json["code"]) == (400, "invalid_query"), query
        assert refused.json["errors"][0]["field"] == "all"
    refused = world.api.request("DELETE", "/v1/dlq?webhok_id=x")
    assert refused.json["errors"][0]["field"] == "webhok_id", "an unknown parameter is named first"
    assert count_dead_letters(world, hook) == 3
    done = wait_finished(world.api, start(world.api, "DELETE", "/v1/dlq?all=true"))
    assert (done["status"], done["total"], done["done"]) == ("completed", 3, 3)
    assert count_dead_letters(world, hook) == 0


def test_event_types_are_names_or_patterns_in_every_list(world):
    hook = world.hook("hook", Reply(404), **UNRESTRICTED)
    make_dead_letters(world, hook, 2, type="a.one")
    make_dead_letters(world, hook, 1, type="a.b.two", start=2)
    make_dead_letters(world, hook, 1, type="ab.three", start=3)
    paths = ["/v1/dlq", "/v1/deliveries", f"/v1/webhooks/{hook.id}/deliveries", "/v1/events"]
    for path in paths:
        def types(query, path=path):
            found = world.api.all(f"{path}?tenant_id={world.tenant}&event_type={query}")
            return sorted(item.get("event_type") or item["type"] for item in found)
        assert types("a.*") == ["a.b.two", "a.one", "a.one"], path
        assert types("a.b.*,ab.three") == ["a.b.two", "ab.three"], path
        assert len(types("*")) == 4 and types("nothing.*") == [], path
    for path in [*paths, "/v1/stream"]:
        for bad in ("a%20b", "a*", "", "a.*,%2e"):
            refused = world.api.request("GET", f"{path}?event_type={bad}")
            assert refused.status == 400, (path, bad)
            assert refused.json["errors"][0]["field"] == "event_type"
            assert "order.*" in refused.json["detail"] or not bad
    refused = world.api.request("DELETE", "/v1/dlq?event_type=a%20b")
    assert (refused.status, refused.json["errors"][0]["field"]) == (400, "event_type")
    done = wait_finished(world.api, start(world.api, "DELETE",
                                      f"/v1/dlq?webhook_id={hook.id}&event_type=a.*"))
    assert done["done"] == 3


def test_the_queue_size_metric_follows_every_change_and_a_restart(own_server, make_world):
    server = own_server().start()
    world = make_world(server)
    hook = world.hook("hook", Reply(404), **UNRESTRICTED)
    make_dead_letters(world, hook, 6)
    assert dlq_size(world) == 6
    server.stop()
    world.api = server.start().api()
    wait_metric(world.api, f'webhook_dlq_size{{tenant_id="{world.tenant}"}}',
                lambda size: size == 6)  # PostgreSQL is counted after the start.
    letter = world.api.get(f"/v1/dlq?webhook_id={hook.id}&limit=1")["data"][0]
    world.receiver.on(hook.path, Reply())
    world.api.post(f"/v1/dlq/{letter['id']}/retry", expect=202)
    wait_for(lambda: dlq_size(world) == 5, "one less after a retry")
    start(world.api, "DELETE", f"/v1/dlq?webhook_id={hook.id}")
    wait_for(lambda: dlq_size(world) == 0, "none after discarding")
    assert json.loads(world.api.request("GET", "/v1/dlq").body)["data"] == []


def test_delivery_lists_can_be_filtered_by_every_field(world):
    hook = world.hook("hook", lambda request: Reply(
        {"a.gone": 404, "a.fine": 200}[request.header("x-webhook-event")]), **UNRESTRICTED)
    gone = world.publish("a.gone")["id"]
    fine = world.publish("a.fine")["id"]
    for event_id in (gone, fine):
        world.wait_done(event_id, hook)

    def found(query):
        return [item["event_id"] for item in world.api.all(
            f"/v1/deliveries?tenant_id={world.tenant}&{query}")]
    assert found(f"webhook_id={hook.id}") == [fine, gone]
    assert found("failure_category=client_error") == [gone]
    assert found("classification=permanent") == [gone]
    assert found("classification=recoverable") == []
    assert found("status=succeeded&event_type=a.fine") == [fine]
    assert found("from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z") == []
    assert found("from=2020-01-01T00:00:00Z") == [fine, gone]
    refused = world.api.request("GET", "/v1/deliveries?status=in_flight")
    assert refused.status == 400
    assert "pending" in refused.json["detail"]


def test_events_without_a_matching_webhook_can_be_listed(world):
    lonely = world.publish("a.lonely")["id"]
    hook = world.hook(events=["a.wanted"])
    wanted = world.publish("a.wanted")["id"]
    world.wait_done(wanted, hook)

    def found(query):
        return [item["id"] for item in world.api.all(f"/v1/events?tenant_id={world.tenant}{query}")]
    assert found("") == [wanted, lonely]
    assert found("&matched=false") == [lonely]
    assert found("&matched=true") == [wanted]
    assert found("&matched=false&event_type=a.wanted") == []
    assert world.api.request("GET", "/v1/events?matched=perhaps").status == 400
