"""Alerts: raised once, resolved when the cause ends, kept across restarts."""

import time

import pytest

import alert_api
from harness import sign_in, wait_for
from receiver import OK, Reply
from secret_checks import in_database
from world import SLOW

BREAKER = {"failure_count_threshold": 2, "minimum_throughput": 1, "sleep_window_ms": 1000,
           "half_open_max_calls": 1}


def alerts(world, **query):
    return alert_api.alerts(world.api, **query)


def wait_alert(world, **query):
    return alert_api.wait_alert(world.api, **query)


def test_an_opened_circuit_raises_an_alert_until_it_recovers(world):
    hook = world.hook("hook", Reply(503), retry_config={"base_delay_ms": 50, "max_delay_ms": 100},
                      circuit_breaker_config=BREAKER)
    world.publish()
    raised = wait_alert(world, webhook_id=hook.id, status="active")
    assert raised["id"].startswith("alt_")
    assert raised["kind"] == "circuit_opened"
    assert (raised["count"], raised["limit"], raised["unit"]) == (2, 2, "count")
    assert raised["webhook_url"] == world.receiver.url(hook.path)
    assert raised["severity"] == "warning"
    assert raised["tenant_id"] == world.tenant
    assert raised["resolved_at"] is None

    world.receiver.on(hook.path, OK)
    resolved = wait_alert(world, webhook_id=hook.id, status="resolved")
    assert resolved["id"] == raised["id"]
    assert resolved["resolved_at"] >= raised["raised_at"]
    assert alerts(world, webhook_id=hook.id, status="active") == []


def test_resetting_the_circuit_resolves_the_alert(world):
    hook = world.hook("hook", Reply(503), retry_config=SLOW,
                      circuit_breaker_config={**BREAKER, "sleep_window_ms": 600_000})
    world.publish_numbered(2)
    wait_alert(world, webhook_id=hook.id, status="active", kind="circuit_opened")
    world.api.patch(f"/v1/webhooks/{hook.id}/circuit-breaker", {"action": "reset"})
    wait_alert(world, webhook_id=hook.id, status="resolved", kind="circuit_opened")


def test_a_disabled_webhook_raises_an_alert_until_it_is_enabled(world):
    hook = world.hook("hook", Reply(410))
    world.publish()
    raised = wait_alert(world, webhook_id=hook.id, kind="webhook_disabled", status="active")
    assert raised["severity"] == "critical"
    world.api.patch(f"/v1/webhooks/{hook.id}", {"active": True})
    wait_alert(world, webhook_id=hook.id, kind="webhook_disabled", status="resolved")


def test_more_than_ten_dead_letters_in_an_hour_raise_an_alert(world):
    hook = world.hook("hook", Reply(404), circuit_breaker_config={"enabled": False})
    for event in world.publish_numbered(10):
        world.wait_done(event, hook)
    assert alerts(world, webhook_id=hook.id, kind="dead_letters") == []
    world.publish()
    raised = wait_alert(world, webhook_id=hook.id, kind="dead_letters", status="active")
    assert (raised["count"], raised["limit"], raised["unit"]) == (11, 10, "count")
    assert raised["detail"].endswith(
        ": 11 deliveries became dead letters within 60 minutes, more than 10.")


def test_deleting_a_webhook_resolves_its_alerts(world):
    hook = world.hook("hook", Reply(410))
    world.publish()
    wait_alert(world, webhook_id=hook.id, status="active")
    world.api.delete(f"/v1/webhooks/{hook.id}")
    wait_alert(world, webhook_id=hook.id, status="resolved")
    wait_for(lambda: not alerts(world, webhook_id=hook.id, status="active"), "all to be resolved")


def test_an_old_secret_raises_an_alert_until_it_is_rotated(own_server, make_world):
    server = own_server().start()
    world = make_world(server)
    hook = world.hook()
    server.stop()
    ninety_days_ms = 90 * 24 * 3600 * 1000
    in_database(server, "UPDATE webhook SET secret_set_at = ?",
                time.time() * 1000 // 1 - ninety_days_ms - 1000)
    server.start()
    world.api = server.api()
    raised = wait_alert(world, kind="secret_old", status="active")
    assert raised["webhook_id"] == hook.id
    assert raised["severity"] == "info"
    assert (raised["count"], raised["limit"], raised["unit"]) == (90, 90, "days")

    server.kill()  # A restart does not raise it again.
    server.start()
    world.api = server.api()
    world.api.post(f"/v1/webhooks/{hook.id}/secret/rotate")
    wait_alert(world, kind="secret_old", status="resolved")
    assert len(alerts(world)) == 1


def test_alerts_survive_a_restart_and_are_resolved_after_it(own_server, make_world):
    server = own_server().start()
    world = make_world(server)
    hook = world.hook("hook", Reply(503), retry_config={"base_delay_ms": 50, "max_delay_ms": 100},
                      circuit_breaker_config=BREAKER)
    world.publish()
    raised = wait_alert(world, status="active", kind="circuit_opened")
    server.kill()
    world.receiver.on(hook.path, OK)
    server.start()
    world.api = server.api()
    resolved = wait_alert(world, status="resolved", kind="circuit_opened")
    assert resolved["id"] == raised["id"]


def test_lists_are_filtered_and_paged(world):
    first = world.hook("first", Reply(410))
    second = world.hook("second", Reply(410))
    world.publish()
    for hook in (first, second):
        wait_alert(world, webhook_id=hook.id, kind="webhook_disabled")
        wait_alert(world, webhook_id=hook.id, kind="permanent_failure")
    mine = alerts(world, tenant_id=world.tenant, kind="webhook_disabled")
    assert len(mine) == 2
    query = f"/v1/alerts?tenant_id={world.tenant}&kind=webhook_disabled&limit=1"
    page = world.api.get(query)
    rest = world.api.get(query + "&cursor=" + page["next_cursor"])
    assert page["data"] + rest["data"] == mine
    assert rest["next_cursor"] is None
    assert alerts(world, tenant_id=world.tenant, kind="dns_failing,store_failing") == []


@pytest.mark.parametrize("query", ["status=open", "kind=nothing", "webhook_id=x", "limit=0",
                                   "colour=red", "cursor=x"])
def test_a_bad_query_is_refused(world, query):
    world.api.get(f"/v1/alerts?{query}", expect=400)


def test_a_tenant_sees_only_its_own_alerts(world):
    hook = world.hook("hook", Reply(410))
    world.publish()
    wait_alert(world, webhook_id=hook.id, kind="webhook_disabled")
    for tenant, seen in ((world.tenant, 1), (world.tenant + "-other", 0)):
        link = world.api.post("/v1/portal-links", {"tenant_id": tenant}, expect=201)
        theirs = sign_in(world.api.port, {"token": link["token"]})
        assert len(theirs.all("/v1/alerts?kind=webhook_disabled")) == seen
        assert all(alert["webhook_id"] == hook.id for alert in theirs.all("/v1/alerts"))
        assert theirs.all(f"/v1/alerts?tenant_id={world.tenant}") == theirs.all("/v1/alerts")
        assert theirs.request("GET", f"/v1/webhooks/{hook.id}").status == (200 if seen else 404)
        secret = theirs.request("GET", f"/v1/webhooks/{hook.id}/secret")
        assert secret.status == (200 if seen else 404), secret
        # The tenant's own webhook is disabled; another tenant's does not exist for it.
        test = theirs.request("POST", f"/v1/webhooks/{hook.id}/test")
        assert test.status == (409 if seen else 404), test
        assert theirs.request("POST", "/v1/secrets/rotate-key").status == 403
        theirs.close()
