"""Tenants: registration, quotas and deletion."""

import concurrent.futures
import uuid

from receiver import Reply
from world import SLOW


def make_tenant(api):
    return api.post("/v1/tenants", {"id": f"tenant-{uuid.uuid4()}"}, expect=201)["id"]


def event(tenant):
    return {"type": "order.created", "data": 1, "tenant_id": tenant}


def test_a_tenant_survives_a_restart_with_its_limits(own_server):
    server = own_server().start()
    api = server.api()
    body = {"id": "acme", "name": "Acme", "metadata": {"plan": "gold"}, "pool": "blue"}
    made = api.post("/v1/tenants", body, expect=201)
    assert api.request("POST", "/v1/tenants", body).json["code"] == "tenant_exists"
    api.put("/v1/tenants/acme/limits", {"webhooks_max": 7, "timeout_ms_max": 5_000})
    api.put("/v1/tenants/acme/limits", {"max_in_flight_max": 3})
    api.close()
    server.kill()
    server.start()
    api = server.api()
    limits = {"webhooks_max": 7, "events_per_minute": None, "timeout_ms_max": 5_000,
              "max_in_flight_max": 3}
    assert api.get("/v1/tenants/acme") == {**made, "limits": limits}
    assert api.get("/v1/tenants/acme/limits") == limits
    api.delete("/v1/tenants/acme")
    assert api.get("/v1/tenants")["data"] == []
    api.close()


def test_the_webhook_quota_holds_for_concurrent_requests(server, api):
    tenant = make_tenant(api)
    api.put(f"/v1/tenants/{tenant}/limits", {"webhooks_max": 5})
    body = {"url": "https://example.com/", "events": ["*"], "tenant_id": tenant}

    def create(_):
        client = server.api()
        answer = client.request("POST", "/v1/webhooks", body)
        client.close()
        return answer

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(create, range(24)))
    assert sorted(answer.status for answer in answers) == [201] * 5 + [429] * 19
    refused = next(answer for answer in answers if answer.status == 429)
    assert refused.json["code"] == "webhook_quota_exceeded"
    assert int(refused.headers["retry-after"]) > 0
    assert len(api.all(f"/v1/webhooks?tenant_id={tenant}")) == 5
    api.delete(f"/v1/tenants/{tenant}?force=true")


def test_exceeding_the_event_quota_answers_429_with_retry_after(api):
    tenant = make_tenant(api)
    api.put(f"/v1/tenants/{tenant}/limits", {"events_per_minute": 3})
    api.post("/v1/events", event(tenant), expect=202)
    batch = api.request("POST", "/v1/events/batch", [event(tenant)] * 3)
    assert batch.status == 429, batch
    assert batch.json["code"] == "event_quota_exceeded"
    assert 1 <= int(batch.headers["retry-after"]) <= 20
    api.post("/v1/events/batch", [event(tenant)] * 2, expect=202)
    assert api.request("POST", "/v1/events", event(tenant)).status == 429
    assert len(api.all(f"/v1/events?tenant_id={tenant}")) == 3
    too_many = api.request("POST", "/v1/events/batch", [event(tenant)] * 4)
    assert too_many.status == 422, too_many
    assert too_many.json["code"] == "batch_exceeds_quota"
    api.put(f"/v1/tenants/{tenant}/limits", {"events_per_minute": None})
    api.post("/v1/events/batch", [event(tenant)] * 10, expect=202)
    api.delete(f"/v1/tenants/{tenant}")


def test_force_deleting_a_tenant_deletes_its_webhooks_and_cancels_deliveries(world):
    api = world.api
    api.post("/v1/tenants", {"id": world.tenant}, expect=201)
    hook = world.hook("hook", Reply(500), retry_config=SLOW)
    published = world.publish()
    waiting = world.wait_status(published["id"], hook, "retrying")
    key = api.post("/v1/api-keys", {"scope": "tenant", "tenant_id": world.tenant}, expect=201)
    refused = api.request("DELETE", f"/v1/tenants/{world.tenant}")
    assert refused.status == 409, refused
    assert refused.json["code"] == "tenant_has_webhooks"

    api.delete(f"/v1/tenants/{world.tenant}?force=true")
    assert api.request("GET", f"/v1/webhooks/{hook.id}").status == 404
    assert api.get(f"/v1/deliveries/{waiting['id']}")["status"] == "cancelled"
    assert api.request("GET", f"/v1/api-keys/{key['id']}").status == 404
    assert world.publish()["deliveries"] == 0
    assert len(world.requests(hook)) == 1
