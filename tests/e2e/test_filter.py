"""Payload filters: a webhook gets only events whose content matches."""

import pytest


def big_orders():
    return {"data": {"amount": [{"numeric": [">", 100]}], "currency": ["BTC", "ETH"]}}


def test_only_events_that_match_reach_the_receiver(world):
    picky = world.hook("picky", filter=big_orders())
    everything = world.hook("everything")
    assert picky.created["filter"] == big_orders()
    small = world.publish(data={"amount": 100, "currency": "BTC"})
    other = world.publish(data={"amount": 500, "currency": "USD"})
    large = world.publish(data={"amount": 100.01, "currency": "ETH"})
    assert [event["deliveries"] for event in (small, other, large)] == [1, 1, 2]
    world.wait_done(large["id"], picky)
    world.wait_requests(everything, 3)
    assert [request.webhook_id for request in world.requests(picky)] == [large["id"]]
    found = world.api.get(f"/v1/webhooks/{picky.id}/deliveries")["data"]
    assert [delivery["event_id"] for delivery in found] == [large["id"]]


def test_a_filter_can_be_changed_and_removed(world):
    hook = world.hook(filter={"type": ["order.paid"]})
    assert world.publish("order.created")["deliveries"] == 0
    path = f"/v1/webhooks/{hook.id}"
    world.api.patch(path, {"filter": {"type": [{"prefix": "order."}]}})
    assert world.publish("order.created")["deliveries"] == 1
    assert world.api.patch(path, {"name": "same filter"})["filter"] == {
        "type": [{"prefix": "order."}]}
    assert world.publish("swap.created")["deliveries"] == 0
    assert world.api.patch(path, {"filter": None})["filter"] is None
    assert world.publish("swap.created")["deliveries"] == 1


@pytest.mark.parametrize("pattern, data, wanted", [
    ({"$or": [{"a": [1]}, {"b": [{"exists": False}]}]}, {"a": 2, "b": 3}, 0),
    ({"$or": [{"a": [1]}, {"b": [{"exists": False}]}]}, {"a": 2}, 1),
    ({"tags": ["new"]}, {"tags": ["old", "new"]}, 1),
    ({"items": {"sku": ["x"], "n": [2]}},
     {"items": [{"sku": "x", "n": 1}, {"sku": "y", "n": 2}]}, 0),
    ({"file": [{"suffix": {"equals-ignore-case": ".PNG"}}]}, {"file": "cat.png"}, 1),
    ({"file": [{"wildcard": "*/lib/*.so"}]}, {"file": "/usr/lib/x.so"}, 1),
    ({"state": [{"anything-but": {"prefix": "init"}}]}, {"state": "initializing"}, 0),
    ({"ip": [{"cidr": "10.0.0.0/8"}]}, {"ip": "10.255.1.2"}, 1),
    ({"n": [9007199254740993]}, {"n": 9007199254740992}, 0),
    ({"name": [{"equals-ignore-case": "ÄRGER"}]}, {"name": "ärger"}, 1),
])
def test_filter_rules_match_as_documented(world, pattern, data, wanted):
    world.hook(filter={"data": pattern})
    assert world.publish(data=data)["deliveries"] == wanted


def test_other_fields_of_the_event_can_be_filtered(world):
    world.hook(filter={"source": ["shop"], "metadata": {"region": ["eu"]},
                       "resource_id": [{"exists": False}]})
    assert world.publish(source="shop", metadata={"region": "eu"})["deliveries"] == 1
    assert world.publish(source="shop", metadata={"region": "us"})["deliveries"] == 0
    assert world.publish(metadata={"region": "eu"})["deliveries"] == 0
    assert world.publish(source="shop", metadata={"region": "eu"}, resource_id="r")[
        "deliveries"] == 0


@pytest.mark.parametrize("pattern, field", [
    (5, "filter"),
    ({}, "filter"),
    ({"amount": [1]}, "filter.amount"),
    ({"data": {"amount": [{"numeric": [">"]}]}}, "filter.data.amount[0].numeric"),
    ({"data": {"a": {"b": "x"}}}, "filter.data.a.b"),
    ({"data": {"a": [{"wildcard": "a**"}]}}, "filter.data.a[0].wildcard"),
    ({"data": {"a": ["x" * 8192]}}, "filter"),
])
def test_an_invalid_filter_is_refused_with_its_path(world, pattern, field):
    answer = world.api.post("/v1/webhooks", {
        "url": "https://example.com/", "events": ["*"], "filter": pattern}, expect=422)
    assert [error["field"] for error in answer["errors"]] == [field]
    hook = world.hook(filter=big_orders())
    changed = world.api.patch(f"/v1/webhooks/{hook.id}", {"filter": pattern}, expect=422)
    assert [error["field"] for error in changed["errors"]] == [field]
    assert world.api.get(f"/v1/webhooks/{hook.id}")["filter"] == big_orders()


def test_a_filter_survives_kill_9(own_server, make_world):
    server = own_server().start()
    world = make_world(server)
    hook = world.hook(filter=big_orders())
    server.kill()
    server.start()
    world.api = server.api()
    assert world.api.get(f"/v1/webhooks/{hook.id}")["filter"] == big_orders()
    assert world.publish(data={"amount": 1, "currency": "BTC"})["deliveries"] == 0
    event = world.publish(data={"amount": 101, "currency": "BTC"})
    assert event["deliveries"] == 1
    assert world.wait_done(event["id"], hook)["status"] == "succeeded"
