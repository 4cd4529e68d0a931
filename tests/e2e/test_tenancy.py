"""A tenant's key cannot see or change another tenant's data (P11)."""

import itertools
import re
import uuid

import pytest

from contract import Contract, from_fragments
from receiver import Reply
from world import SLOW

PATHS = [
    ("GET", "/v1/webhooks/{webhook}"), ("PUT", "/v1/webhooks/{webhook}"),
    ("PATCH", "/v1/webhooks/{webhook}"), ("DELETE", "/v1/webhooks/{webhook}"),
    ("GET", "/v1/webhooks/{webhook}/health"), ("PATCH", "/v1/webhooks/{webhook}/circuit-breaker"),
    ("POST", "/v1/webhooks/{webhook}/pause"), ("POST", "/v1/webhooks/{webhook}/resume"),
    ("GET", "/v1/webhooks/{webhook}/deliveries"), ("GET", "/v1/webhooks/{webhook}/attempts"),
    ("POST", "/v1/webhooks/{webhook}/deliveries/{waiting}/retry"),
    ("POST", "/v1/webhooks/{own}/deliveries/{waiting}/retry"),
    ("GET", "/v1/events/{event}"), ("GET", "/v1/deliveries/{waiting}"),
    ("POST", "/v1/deliveries/{waiting}/retry"), ("POST", "/v1/deliveries/{waiting}/cancel"),
    ("POST", "/v1/deliveries/{dead}/retry"), ("POST", "/v1/dlq/{dead}/retry"),
]
LISTS = ["/v1/webhooks", "/v1/events", "/v1/deliveries", "/v1/attempts", "/v1/dlq"]
ADMIN_ONLY = ["/v1/tenants", "/v1/audit-log", "/v1/audit-log/verify"]

OPERATIONS = Contract(from_fragments()).operations


def is_accepted(path, query):
    """Does the document have this query parameter for the list? An empty query is accepted."""
    operation = next(each for each in OPERATIONS if (each.method, each.path) == ("GET", path))
    parameters = {each["name"]: each for each in operation.parameters_in("query")}
    name, _, value = query.partition("=")
    pattern = parameters.get(name, {}).get("schema", {}).get("pattern", "")
    return not query or (name in parameters and re.search(pattern, value) is not None)


@pytest.fixture
def two_tenants(server, make_world):
    """One tenant with data of every kind, and a client with the key of another tenant."""
    theirs = make_world(server)
    mark = f"theirs-{uuid.uuid4()}"
    dying = theirs.hook("dying", Reply(404), name=mark, events=["order.dead"])
    waiting = theirs.hook("waiting", Reply(500), name=mark, events=["order.waiting"],
                          retry_config=SLOW, headers={"X-Mark": mark})
    dead = theirs.publish("order.dead", {"mark": mark})
    event = theirs.publish("order.waiting", {"mark": mark}, source=mark)
    ids = {"webhook": waiting.id, "event": event["id"],
           "dead": theirs.wait_done(dead["id"], dying)["id"],
           "waiting": theirs.wait_status(event["id"], waiting, "retrying")["id"]}
    mine = make_world(server)
    ids["own"] = mine.hook().id
    key = theirs.api.post("/v1/api-keys", {"scope": "tenant", "tenant_id": mine.tenant},
                          expect=201)
    client = server.api(key["key"])
    yield theirs, mine, client, ids, mark
    client.close()
    theirs.api.delete(f"/v1/api-keys/{key['id']}")
    theirs.clean()
    mine.clean()


def snapshot(theirs, ids):
    api = theirs.api
    return [api.get(f"/v1/webhooks/{ids['webhook']}"), api.get(f"/v1/deliveries/{ids['dead']}"),
            api.get(f"/v1/deliveries/{ids['waiting']}"),
            len(api.all(f"/v1/events?tenant_id={theirs.tenant}")),
            len(api.all(f"/v1/webhooks?tenant_id={theirs.tenant}")),
            len(api.all(f"/v1/audit-log?tenant_id={theirs.tenant}"))]


def test_ids_of_another_tenant_are_not_found(two_tenants):
    theirs, _, client, ids, mark = two_tenants
    before = snapshot(theirs, ids)
    body_of = {"PUT": {"name": "x"}, "PATCH": {"name": "x"}, "POST": None}
    for method, pattern in PATHS:
        path = pattern.format(**ids)
        body = {"action": "force_open"} if "circuit" in path else body_of.get(method)
        answer = client.request(method, path, body)
        assert answer.status == 404, f"{method} {path}: {answer}"
        assert answer.json["code"] == "not_found"
        assert mark.encode() not in answer.body and theirs.tenant.encode() not in answer.body
    assert snapshot(theirs, ids) == before


def test_lists_never_show_another_tenants_data(two_tenants):
    theirs, mine, client, ids, mark = two_tenants
    mine.publish("order.created", {"n": 1})
    filters = ["", f"tenant_id={theirs.tenant}", f"webhook_id={ids['webhook']}",
               f"event_id={ids['event']}", f"q={mark}"]
    for path, narrowed in itertools.product(LISTS, filters):
        answer = client.request("GET", f"{path}?limit=250&{narrowed}".rstrip("&"))
        assert answer.status == (200 if is_accepted(path, narrowed) else 400), (
            f"{path} {narrowed}: {answer}")
        for secret in (mark, theirs.tenant, ids["webhook"], ids["event"], ids["dead"]):
            assert secret.encode() not in answer.body, f"{path} {narrowed}: {answer}"
        if answer.status == 200 and narrowed:
            assert answer.json["data"] == [], f"{path} {narrowed}"
    assert [hook["id"] for hook in client.all("/v1/webhooks")] == [ids["own"]]
    assert {event["tenant_id"] for event in client.all("/v1/events")} == {mine.tenant}


def test_a_tenant_key_publishes_and_subscribes_only_for_its_tenant(two_tenants):
    theirs, mine, client, _, _ = two_tenants
    made = client.post("/v1/events", {"type": "order.waiting", "data": {"n": 7}}, expect=202)
    assert made["deliveries"] == 1
    [hook] = mine.hooks
    assert mine.wait_done(made["id"], hook)["tenant_id"] == mine.tenant
    for path, body in (("/v1/events", {"type": "a.b", "data": 1}),
                       ("/v1/webhooks", {"url": "https://example.com/", "events": ["*"]})):
        refused = client.request("POST", path, {**body, "tenant_id": theirs.tenant})
        assert refused.status == 422, refused
        assert refused.json["errors"][0]["field"] == "tenant_id"
    created = client.post("/v1/webhooks", {"url": "https://example.com/", "events": ["none"]},
                          expect=201)
    assert created["tenant_id"] == mine.tenant
    client.delete(f"/v1/webhooks/{created['id']}")


def test_a_tenant_key_is_refused_on_admin_routes(two_tenants):
    _, mine, client, _, _ = two_tenants
    for path in ADMIN_ONLY:
        assert client.request("GET", path).status == 403, path
    for path, body in (("/v1/sign-in-links", {}), ("/v1/tenants", {"id": "x"}),
                       ("/v1/portal-links", {"tenant_id": mine.tenant})):
        assert client.request("POST", path, body).status == 403, path
    assert client.request("POST", "/v1/api-keys", {"scope": "admin"}).status == 422
