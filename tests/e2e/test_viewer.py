"""Tenant keys with the role `viewer` read their tenant's data and change nothing."""

import json

import pytest

from cli import Cli
from contract import Contract, from_fragments
from receiver import Reply
from world import SLOW

OPERATIONS = Contract(from_fragments()).operations


@pytest.fixture
def viewer(server, world):
    made = world.api.post("/v1/api-keys", {"scope": "tenant", "tenant_id": world.tenant,
                                           "role": "viewer"}, expect=201)
    assert made["role"] == "viewer"
    client = server.api(made["key"])
    yield client
    client.close()


def snapshot(world):
    paths = ("webhooks", "events", "deliveries", "operations", "audit-log")
    return [world.api.all(f"/v1/{path}?tenant_id={world.tenant}") for path in paths]


def filled(path, ids):
    for name, value in ids.items():
        path = path.replace("{" + name + "}", value)
    return path


def test_a_viewer_changes_nothing_on_any_route(world, viewer):
    hook = world.hook("hook", Reply(500), retry_config=SLOW)
    event = world.publish()["id"]
    delivery = world.wait_status(event, hook, "retrying")
    by_noun = {"webhooks": hook.id, "events": event, "deliveries": delivery["id"],
               "tenants": world.tenant}
    before = snapshot(world)
    changes = [each for each in OPERATIONS if each.method != "GET"
               and each.path.startswith("/v1/") and each.path != "/v1/sessions"]
    assert len(changes) > 25
    for operation in changes:
        noun = operation.path.split("/")[2]
        ids = {"id": by_noun.get(noun, "x"), "delivery_id": delivery["id"], "name": "x"}
        examples = operation.body_examples
        body = next(iter(examples.values())) if examples else None
        answer = viewer.request(operation.method, filled(operation.path, ids), body)
        assert answer.status == 403, f"{operation.id}: {answer}"
        assert answer.json["code"] == "insufficient_scope"
    assert "`viewer`" in viewer.request("DELETE", f"/v1/webhooks/{hook.id}").json["detail"]
    assert snapshot(world) == before


def test_a_viewer_reads_its_tenants_data_without_secrets(server, world, viewer):
    hook = world.hook()
    event = world.publish()["id"]
    done = world.wait_done(event, hook)
    for path in ("/v1/webhooks", f"/v1/webhooks/{hook.id}", f"/v1/webhooks/{hook.id}/health",
                 f"/v1/webhooks/{hook.id}/deliveries", "/v1/events", f"/v1/events/{event}",
                 "/v1/deliveries", f"/v1/deliveries/{done['id']}", "/v1/dlq", "/v1/stats",
                 "/v1/alerts", "/v1/operations", "/v1/event-types"):
        answer = viewer.request("GET", path)
        assert answer.status == 200, f"{path}: {answer}"
        assert hook.secret.encode() not in answer.body, path
    for path in (f"/v1/webhooks/{hook.id}/secret", "/v1/api-keys", "/v1/audit-log",
                 f"/v1/tenants/{world.tenant}"):
        assert viewer.request("GET", path).status == 403, path


def test_the_role_survives_a_restart_and_is_listed_and_audited(own_server):
    server = own_server().start()
    cli = Cli(server.port)
    key = cli.json("keys", "create", "--tenant", "acme", "--role", "viewer")
    assert (key["scope"], key["role"]) == ("tenant", "viewer")
    plain = cli.json("keys", "create", "--tenant", "acme")
    assert plain["role"] == "admin"
    server.kill()
    server.start()
    api = server.api()
    roles = {each["id"]: each["role"] for each in api.all("/v1/api-keys")}
    assert (roles[key["id"]], roles[plain["id"]]) == ("viewer", "admin")
    cli = Cli(server.port)
    assert "ROLE" in cli.text("keys", "list")
    listed = cli.json("keys", "list")
    assert {each["role"] for each in listed["data"]} == {"viewer", "admin", None}
    entry = api.all(f"/v1/audit-log?subject={key['id']}")[0]
    detail = entry["detail"]
    assert (json.loads(detail) if isinstance(detail, str) else detail)["role"] == "viewer"
    viewer = server.api(key["key"])
    event = {"type": "a.b", "data": 1}
    assert viewer.request("POST", "/v1/events", event).status == 403
    assert viewer.get("/v1/events")["data"] == []
    viewer.close()
    api.close()


def test_a_portal_link_with_the_role_viewer_opens_a_session_that_reads(server, world):
    hook = world.hook()
    link = world.api.post("/v1/portal-links", {"tenant_id": world.tenant, "role": "viewer"},
                          expect=201)
    portal = server.sign_in({"token": link["token"]})
    assert (link["role"], portal.get("/v1/sessions")["role"]) == ("viewer", "viewer")
    assert [each["id"] for each in portal.all("/v1/webhooks")] == [hook.id]
    assert portal.request("PATCH", f"/v1/webhooks/{hook.id}", {"name": "x"}).status == 403
    portal.close()


@pytest.mark.parametrize("body", [{"scope": "read", "role": "viewer"},
                                  {"scope": "tenant", "tenant_id": "t", "role": "owner"}])
def test_a_role_needs_a_tenants_key_and_a_known_name(api, body):
    refused = api.request("POST", "/v1/api-keys", body)
    assert refused.status == 422, refused
    assert refused.json["errors"][0]["field"] == "role"
