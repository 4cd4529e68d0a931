"""Suspended tenants: nothing is published or sent for them, and nothing is lost."""

import uuid

from contract import Contract, from_fragments
from harness import wait_for
from receiver import Held, Reply
from world import FAST, SLOW

OPERATIONS = Contract(from_fragments()).operations


def register(world):
    world.api.post("/v1/tenants", {"id": world.tenant}, expect=201)


def suspend(world, **body):
    return world.api.post(f"/v1/tenants/{world.tenant}/suspend", body or None)


def resume(world):
    return world.api.post(f"/v1/tenants/{world.tenant}/resume")


def blocked_reason(world, event_id, hook):
    delivery = world.delivery(event_id, hook)
    return delivery["blocked"] and delivery["blocked"]["reason"]


def refused(answer):
    assert answer.status == 403, answer
    assert answer.json["code"] == "tenant_suspended", answer
    return True


def test_suspension_is_shown_audited_and_idempotent(world):
    register(world)
    path = f"/v1/tenants/{world.tenant}"
    assert world.api.get(path)["suspended_at"] is None
    first = suspend(world, reason="unpaid")
    assert first["suspended_at"] and first["suspended_reason"] == "unpaid"
    assert suspend(world) == first == world.api.get(path)
    assert resume(world)["suspended_at"] is None
    assert resume(world) == world.api.get(path)
    actions = [entry["action"] for entry in
               world.api.all(f"/v1/audit-log?tenant_id={world.tenant}")]
    assert actions[:4] == ["tenant.resume"] * 2 + ["tenant.suspend"] * 2
    unknown = world.api.request("POST", f"/v1/tenants/{uuid.uuid4()}/suspend")
    assert unknown.status == 404, unknown


def test_nothing_is_published_or_sent_for_a_suspended_tenant(server, world):
    register(world)
    hook = world.hook()
    key = world.api.post("/v1/api-keys", {"scope": "tenant", "tenant_id": world.tenant},
                         expect=201)
    publisher = world.api.post("/v1/api-keys", {"scope": "publish"}, expect=201)
    before = world.publish(idempotency_key="once")["id"]
    world.wait_done(before, hook)
    suspend(world)
    event = {"type": "order.created", "data": {}, "tenant_id": world.tenant}
    clients = [world.api, server.api(key["key"]), server.api(publisher["key"])]
    for client in clients:
        refused(client.request("POST", "/v1/events", event))
        refused(client.request("POST", "/v1/events", {**event, "idempotency_key": "once"}))
        refused(client.request("POST", "/v1/events/batch", [event]))
    for client in clients[:2]:
        for action in ("test", "verify"):
            refused(client.request("POST", f"/v1/webhooks/{hook.id}/{action}"))
    other = {**event, "tenant_id": f"{world.tenant}-other"}
    refused(world.api.request("POST", "/v1/events/batch", [other, event]))
    assert world.api.all(f"/v1/events?tenant_id={other['tenant_id']}") == [], "all or nothing"
    mixed = world.api.post("/v1/events/batch?atomic=false", [event, other], expect=202)
    assert mixed["accepted"] == 1
    assert (mixed["results"][0]["status"], mixed["results"][0]["code"]) == \
        (403, "tenant_suspended")
    batch = next(each for each in OPERATIONS if each.id == "publishBatch")
    batch.check(world.api.request("POST", "/v1/events/batch?atomic=false", [event]))
    verified = world.api.request("POST", "/v1/webhooks", {
        "url": world.receiver.url(world.path("hook")), "events": ["*"],
        "tenant_id": world.tenant, "verify_url": True})
    refused(verified)
    assert len(clients[1].all("/v1/events")) == 1, "a tenant's key still reads"
    assert len(world.requests(hook)) == 1
    resume(world)
    again = world.publish(idempotency_key="once", expect=200)
    assert again["duplicate"] is True and again["id"] == before
    world.wait_done(world.publish()["id"], hook)
    for client in clients[1:]:
        client.close()


def test_deliveries_are_held_and_sent_in_order_after_the_resume(world, make_world, server):
    register(world)
    neighbour = make_world(server)
    free = neighbour.hook()
    hook = world.hook("hook", Held(Reply(500)), Reply(), ordering_guarantee="strict",
                      retry_config=FAST)
    paused = world.hook("paused")
    world.api.post(f"/v1/webhooks/{paused.id}/pause")
    ids = world.publish_numbered(5)
    world.wait_requests(hook, 1)
    suspend(world)
    world.receiver.release(hook.path)
    world.wait_status(ids[0], hook, "retrying")
    added = world.hook("added")
    world.api.post(f"/v1/webhooks/{added.id}/replay", {"since": "2020-01-01T00:00:00Z"}, 202)
    replayed = f"/v1/webhooks/{added.id}/deliveries"
    wait_for(lambda: len(world.api.all(replayed)) == 5, "the replayed deliveries")
    for webhook in (hook, paused, added):
        assert blocked_reason(world, ids[4], webhook) == "suspended"
    health = world.api.get(f"/v1/webhooks/{hook.id}/health")
    assert health["blocked"]["reason"] == "suspended"
    assert (health["deliveries"]["pending"], health["deliveries"]["retrying"]) == (4, 1)
    # A neighbour's deliveries pass while these, and the retry that is due, wait.
    for number in range(3):
        neighbour.wait_done(neighbour.publish(data={"n": number})["id"], free)
    assert (len(world.requests(hook)), world.requests(added)) == (1, [])

    resume(world)
    for event_id in ids:
        assert world.wait_done(event_id, hook)["status"] == "succeeded"
        assert world.wait_done(event_id, added)["status"] == "succeeded"
    assert world.numbers(hook) == [0, 0, 1, 2, 3, 4]
    assert blocked_reason(world, ids[0], paused) == "paused", "its own pause is independent"
    assert world.requests(paused) == []


def test_an_attempt_in_flight_ends_and_its_retry_waits_for_the_resume(world):
    register(world)
    hook = world.hook("hook", Held(Reply(500)), Reply(), retry_config=FAST)
    event_id = world.publish()["id"]
    world.wait_requests(hook, 1)
    suspend(world)
    world.receiver.release(hook.path)
    held = world.wait_status(event_id, hook, "retrying")
    assert held["attempt_count"] == 1
    assert world.wait_blocked(event_id, hook)["blocked"]["reason"] == "suspended"
    assert len(world.requests(hook)) == 1
    resume(world)
    done = world.wait_done(event_id, hook)
    assert (done["status"], done["attempt_count"]) == ("succeeded", 2)


def test_a_suspension_survives_kill_9(own_server, make_world):
    server = own_server().start()
    world = make_world(server)
    register(world)
    hook = world.hook("hook", Reply(500), Reply(), retry_config=FAST)
    control = world.hook("control", tenant_id=f"{world.tenant}-other")
    world.api.post(f"/v1/webhooks/{hook.id}/pause")
    ids = world.publish_numbered(20)
    suspend(world)
    world.api.post(f"/v1/webhooks/{hook.id}/resume")
    for _ in range(2):
        server.kill()
        server.start()
        world.api = server.api()
        assert world.api.get(f"/v1/tenants/{world.tenant}")["suspended_at"]
        other = world.api.post("/v1/events", {"type": "a.b", "data": {},
                                              "tenant_id": f"{world.tenant}-other"}, 202)
        world.wait_done(other["id"], control)
        assert blocked_reason(world, ids[0], hook) == "suspended"
        assert world.requests(hook) == []
        refused(world.api.request("POST", "/v1/events", {"type": "a.b", "data": 1,
                                                         "tenant_id": world.tenant}))
    resume(world)
    for event_id in ids:
        assert world.wait_done(event_id, hook)["status"] == "succeeded"


def test_deleting_a_suspended_tenant_frees_its_id(world):
    register(world)
    suspend(world)
    world.api.delete(f"/v1/tenants/{world.tenant}")
    hook = world.hook()
    assert world.wait_done(world.publish()["id"], hook)["status"] == "succeeded"


def test_the_portal_of_a_suspended_tenant_is_closed(server, world):
    register(world)
    hook = world.hook("hook", Reply(500), retry_config=SLOW)
    anyone = server.api(key=None)

    def token():
        link = world.api.post("/v1/portal-links", {"tenant_id": world.tenant}, expect=201)
        return {"token": link["token"]}

    portal = server.sign_in(token())
    unused = token()
    assert [each["id"] for each in portal.all("/v1/webhooks")] == [hook.id]
    suspend(world)
    for method, path in (("GET", "/v1/webhooks"), ("GET", f"/v1/webhooks/{hook.id}"),
                         ("GET", "/v1/stream"), ("DELETE", f"/v1/webhooks/{hook.id}")):
        refused(portal.request(method, path))
    refused(world.api.request("POST", "/v1/portal-links", {"tenant_id": world.tenant}))
    refused(anyone.request("POST", "/v1/sessions", unused))
    resume(world)
    assert [each["id"] for each in portal.all("/v1/webhooks")] == [hook.id]
    assert anyone.post("/v1/sessions", unused, expect=201)["tenant_id"] == world.tenant
    portal.close()
    anyone.close()
