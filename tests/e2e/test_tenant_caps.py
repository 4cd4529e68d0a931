"""Operators cap `timeout_ms` and `max_in_flight` of a tenant's webhooks (P5)."""

import pytest

from receiver import Hang, Held, Reply


@pytest.fixture
def tenant(world):
    """A registered tenant, a function that sets its limits, and its own admin key."""
    world.api.post("/v1/tenants", {"id": world.tenant}, expect=201)

    class Tenant:
        key = world.api.post("/v1/api-keys", {"scope": "tenant", "tenant_id": world.tenant,
                                              "role": "admin"}, expect=201)["key"]

        @staticmethod
        def limit(**limits):
            return world.api.put(f"/v1/tenants/{world.tenant}/limits", limits)
    yield Tenant
    world.api.delete(f"/v1/tenants/{world.tenant}?force=true")


def body(world, **fields):
    return {"url": world.receiver.url(world.path("hook")), "events": ["*"], **fields}


def assert_refused(answer, field, cap):
    assert answer.status == 422, answer
    error, = answer.json["errors"]
    assert error["field"] == field
    assert f"at most {cap}," in error["message"]


def test_a_request_above_a_cap_is_refused(world, tenant, server):
    tenant.limit(timeout_ms_max=5_000, max_in_flight_max=3)
    for key, fields in ((None, {"tenant_id": world.tenant}), (tenant.key, {})):
        api = server.api(key) if key else world.api
        made = api.post("/v1/webhooks", body(world, **fields), expect=201)
        assert (made["timeout_ms"], made["max_in_flight"]) == (5_000, 3), "defaults are lowered"
        for name, value, cap in (("timeout_ms", 5_001, 5_000), ("max_in_flight", 4, 3)):
            change = {name: value}
            path = f"/v1/webhooks/{made['id']}"
            assert_refused(api.request("POST", "/v1/webhooks", body(world, **fields, **change)),
                           name, cap)
            assert_refused(api.request("PATCH", path, change), name, cap)
            assert_refused(api.request("PUT", path, change), name, cap)
            api.patch(path, {name: cap})
        retry = {"retry_config": {"timeout_ms": 6_000}}
        assert_refused(api.request("PATCH", path, retry), "retry_config.timeout_ms", 5_000)
        api.delete(path)
        if key:
            api.close()


def test_a_tenant_cannot_change_its_caps(world, tenant, server):
    tenant.limit(max_in_flight_max=3)
    api = server.api(tenant.key)
    answer = api.request("PUT", f"/v1/tenants/{world.tenant}/limits", {"max_in_flight_max": 900})
    assert answer.status in (403, 404), answer
    api.close()


def test_caps_are_checked_and_audited(world, tenant):
    path = f"/v1/tenants/{world.tenant}/limits"
    for wrong in ({"timeout_ms_max": 9}, {"timeout_ms_max": 300_001}, {"max_in_flight_max": 0},
                  {"max_in_flight_max": 1_001}, {"max_in_flight_max": "3"}):
        assert world.api.request("PUT", path, wrong).status == 422, wrong
    tenant.limit(timeout_ms_max=700, max_in_flight_max=2)
    entry = world.api.get(f"/v1/audit-log?tenant_id={world.tenant}&limit=1")["data"][0]
    assert entry["action"] == "tenant.limits"
    assert entry["detail"] == {"timeout_ms_max": 700, "max_in_flight_max": 2}
    assert tenant.limit(timeout_ms_max=None)["timeout_ms_max"] is None


def test_a_cap_that_is_lowered_applies_to_webhooks_that_exist(world, tenant):
    hook = world.hook("hook", Held(Reply()), max_in_flight=10)
    tenant.limit(max_in_flight_max=2)
    events = world.publish_numbered(8)
    world.wait_requests(hook, 2)
    assert world.wait_blocked(events[-1], hook)["blocked"]["reason"] == "slots"
    assert len(world.requests(hook)) == 2
    assert world.api.get(f"/v1/webhooks/{hook.id}")["max_in_flight"] == 10, "it keeps its value"
    tenant.limit(max_in_flight_max=None)
    world.wait_requests(hook, 8)
    world.receiver.release(hook.path)
    for event in events:
        assert world.wait_done(event, hook)["status"] == "succeeded"


def test_the_timeout_of_an_attempt_stays_within_the_cap_also_when_it_grows(world, tenant):
    hook = world.hook("hook", Hang(), timeout_ms=400,
                      retry_config={"base_delay_ms": 10, "max_delay_ms": 10, "max_attempts": 3,
                                    "timeout_growth_factor": 3, "category_minimums": False},
                      circuit_breaker_config={"enabled": False})
    tenant.limit(timeout_ms_max=500)
    delivery = world.wait_done(world.publish()["id"], hook)
    assert delivery["status"] == "dead_letter"
    messages = [each["error_message"] for each in reversed(
        world.api.all(f"/v1/webhooks/{hook.id}/attempts"))]
    assert [message.split(" while")[0] for message in messages] == [
        "Timed out after 400 ms", "Timed out after 500 ms", "Timed out after 500 ms"]


def test_caps_survive_a_restart_and_have_defaults(own_server, make_world):
    server = own_server("--set", "limits.max_in_flight_max=2",
                        "--set", "limits.timeout_ms_max=60000").start()
    world = make_world(server)
    api = world.api
    assert_refused(api.request("POST", "/v1/webhooks", body(world, max_in_flight=3)),
                   "max_in_flight", 2)
    assert_refused(api.request("POST", "/v1/webhooks", body(world, timeout_ms=60_001)),
                   "timeout_ms", 60_000)
    api.post("/v1/tenants", {"id": world.tenant}, expect=201)
    api.put(f"/v1/tenants/{world.tenant}/limits", {"max_in_flight_max": 4})
    hook = world.hook("hook", Held(Reply()), max_in_flight=4)
    api.put(f"/v1/tenants/{world.tenant}/limits", {"max_in_flight_max": 3})
    server.kill()
    server.start()
    world.api = server.api()
    events = world.publish_numbered(6)
    world.wait_requests(hook, 3)
    world.wait_blocked(events[-1], hook)
    assert len(world.requests(hook)) == 3
    world.receiver.on(hook.path, Reply())
    world.receiver.release(hook.path)
    for event in events:
        assert world.wait_done(event, hook)["status"] == "succeeded"
