"""Every setting under [alerts] has an effect: its alert is raised and resolved.

The windows are one second long here. Tests of the engine, which control its clock, check the exact
limits.
"""

import signal

import pytest

from alert_api import active_alerts, alerts, settings, wait_alert, wait_resolved
from dns_stub import DnsStub
from harness import run_command, wait_for, wait_metric
from receiver import OK, Reply
from world import SLOW

NO_BREAKER = {"circuit_breaker_config": {"enabled": False}}
# With ten events: fifty attempts per second for twenty seconds.
STEADY = {"base_delay_ms": 200, "max_delay_ms": 200, "max_attempts": 100}
PER_SECOND = {"window_ms": 1000, "failure_ms": 1000}
# No alerts about the server but those that a test switches on.
ONLY = {"permanent_failures": "false", "dead_letter_percentage": 0, "total_failure_percentage": 0,
        "total_dead_letters_per_hour": 0, "p99_ms": 0, "success_percentage": 0}


@pytest.fixture
def alert_server(own_server, make_world):
    """Starts a server with these alert settings. Returns the server and a World."""
    def make(*arguments, **values):
        server = own_server(*settings(**values), *arguments).start()
        return server, make_world(server)
    return make


def test_a_failing_webhook_raises_an_alert_until_it_succeeds(alert_server):
    _, world = alert_server(**{**ONLY, **PER_SECOND}, failure_percentage=50)
    hook = world.hook("hook", Reply(500), retry_config=STEADY, **NO_BREAKER)
    good = world.hook("good", events=["order.created"])
    world.publish_numbered(10)
    raised = wait_alert(world.api, status="active")
    assert (raised["kind"], raised["severity"]) == ("webhook_failing", "warning")
    assert (raised["webhook_id"], raised["tenant_id"]) == (hook.id, world.tenant)
    assert raised["detail"].endswith("It has been more than 50 % for 1 s.")
    assert hook.id in raised["detail"] and world.receiver.url(hook.path) in raised["detail"]
    assert (raised["count"] > 50, raised["limit"], raised["unit"]) == (True, 50, "percent")
    assert raised["webhook_url"] == world.receiver.url(hook.path)
    assert active_alerts(world.api, "webhook_failing") == 1
    world.receiver.on(hook.path, OK)
    wait_resolved(world.api, raised)
    assert alerts(world.api, webhook_id=good.id) == []


def test_a_low_overall_success_rate_raises_a_server_alert(alert_server):
    _, world = alert_server(**{**ONLY, **PER_SECOND, "success_percentage": 90},
                            failure_percentage=100)
    hook = world.hook("hook", Reply(500), retry_config=STEADY, **NO_BREAKER)
    world.publish_numbered(10)
    raised = wait_alert(world.api, status="active")
    assert (raised["kind"], raised["severity"]) == ("success_low", "warning")
    assert (raised["webhook_id"], raised["tenant_id"]) == (None, None)
    assert raised["detail"].endswith("of the last 1 s succeeded, fewer than 90 %.")
    assert (raised["count"] < 90, raised["limit"], raised["unit"]) == (True, 90, "percent")
    assert (raised["webhook_name"], raised["webhook_url"]) == (None, None)
    world.receiver.on(hook.path, OK)
    wait_resolved(world.api, raised)


def test_a_circuit_that_stays_open_raises_a_second_alert(alert_server):
    server, world = alert_server(circuit_open_ms=1500)
    hook = world.hook("hook", Reply(500), retry_config=SLOW, circuit_breaker_config={
        "failure_count_threshold": 1, "minimum_throughput": 1, "sleep_window_ms": 600_000})
    world.publish()
    opened = wait_alert(world.api, kind="circuit_opened", status="active")
    raised = wait_alert(world.api, kind="circuit_stays_open", status="active")
    assert (raised["severity"], raised["webhook_id"]) == ("critical", hook.id)
    assert raised["raised_at"] > opened["raised_at"]
    assert (raised["count"] > 1500, raised["limit"], raised["unit"]) == (True, 1500, "ms")
    server.kill()
    server.start()
    world.api = server.api()
    assert wait_alert(world.api, kind="circuit_stays_open", status="active") == raised
    world.api.patch(f"/v1/webhooks/{hook.id}/circuit-breaker", {"action": "reset"})
    wait_resolved(world.api, raised)
    assert len(alerts(world.api, kind="circuit_stays_open")) == 1


def test_too_many_dead_letters_of_a_tenant_raise_an_alert_until_they_are_fewer(alert_server):
    _, world = alert_server(dead_letters_waiting=2)
    hook = world.hook("hook", Reply(404), **NO_BREAKER)
    for event in world.publish_numbered(2):
        world.wait_done(event, hook)
    world.publish()
    raised = wait_alert(world.api, kind="dead_letters_waiting", status="active")
    assert (raised["webhook_id"], raised["tenant_id"]) == (None, world.tenant)
    assert raised["detail"] == "There are 3 dead letters, more than 2."
    assert (raised["count"], raised["limit"], raised["unit"]) == (3, 2, "count")
    assert alerts(world.api, tenant_id=world.tenant, kind="dead_letters_waiting") == [raised]
    world.receiver.on(hook.path, OK)
    dead = world.api.get("/v1/dlq?limit=1")["data"][0]["id"]
    world.api.post(f"/v1/dlq/{dead}/retry", expect=202)
    wait_resolved(world.api, raised)


def test_a_deep_queue_raises_an_alert_whether_it_waits_in_memory_or_in_the_store(alert_server):
    server, world = alert_server(queue_depth=300)
    hook = world.hook("hook")
    world.api.post(f"/v1/webhooks/{hook.id}/pause")
    # More than fit into memory: those that wait only in the store are counted too.
    world.publish_batch([{"type": "a.b", "data": n} for n in range(300)])
    world.publish()
    raised = wait_alert(world.api, kind="queue_deep", status="active")
    assert (raised["severity"], raised["webhook_id"]) == ("critical", None)
    assert raised["detail"] == "301 deliveries are waiting, more than 300."
    assert (raised["count"], raised["limit"], raised["unit"]) == (301, 300, "count")
    server.kill()  # The count is restored from the store.
    server.start()
    world.api = server.api()
    wait_metric(world.api, "postrider_deliveries_waiting", lambda count: count == 301)
    assert wait_alert(world.api, kind="queue_deep") == raised
    world.api.post(f"/v1/webhooks/{hook.id}/resume")
    wait_resolved(world.api, raised)
    wait_metric(world.api, "postrider_deliveries_waiting", lambda count: count == 0)


def test_deleting_a_webhook_resolves_the_alert_about_its_queue(alert_server):
    _, world = alert_server(queue_depth=3)
    hook = world.hook("hook")
    world.api.post(f"/v1/webhooks/{hook.id}/pause")
    world.publish_numbered(4)
    raised = wait_alert(world.api, kind="queue_deep", status="active")
    world.api.delete(f"/v1/webhooks/{hook.id}")
    wait_resolved(world.api, raised)


def test_a_busy_connection_pool_raises_an_alert(alert_server):
    _, world = alert_server("--set", "engine.in_flight_max=4", "--set", "io_threads=1",
                            "--set", "engine.tenant_in_flight_max=4", pool_percentage=50)
    hook = world.hook("hook")
    world.receiver.hold(hook.path)
    world.publish_numbered(2)
    world.wait_requests(hook, 2)
    world.publish()
    raised = wait_alert(world.api, kind="pool_busy", status="active")
    assert raised["severity"] == "warning"
    assert raised["detail"] == "3 of 4 requests are in flight, more than 50 %."
    assert (raised["count"], raised["limit"], raised["unit"]) == (75, 50, "percent")
    world.receiver.release(hook.path)
    wait_resolved(world.api, raised)


def test_an_unresolvable_host_name_raises_an_alert_until_it_resolves(alert_server, receiver):
    stub = DnsStub()
    _, world = alert_server("--set", f"dns.servers={stub.address}", **ONLY)
    port = receiver.url("/").split(":")[2].strip("/")
    hook = world.hook(url=f"http://hook.example:{port}{world.path('hook')}", retry_config=SLOW,
                      **NO_BREAKER)
    for event in world.publish_numbered(3):
        world.wait_status(event, hook, "retrying")
    raised = wait_alert(world.api, status="active")
    assert (raised["kind"], raised["webhook_id"]) == ("dns_failing", hook.id)
    assert (raised["count"], raised["limit"], raised["unit"]) == (100, 80, "percent")
    assert set(stub.questions) == {"hook.example"}

    stub.names["hook.example"] = "127.0.0.1"

    attempted = []  # The negative DNS answer is cached for three seconds.

    def delivered():
        attempted.append(world.publish()["id"])
        status = world.wait_status(attempted[-1], hook, "retrying", "succeeded")["status"]
        return status == "succeeded"
    wait_for(delivered, "the name to be resolved again")
    # As many successes as there were failures.
    world.publish_batch([{"type": "a.b", "data": 1} for _ in attempted])
    wait_resolved(world.api, raised)
    stub.stop()


def test_a_reload_changes_the_alert_limits(own_server, make_world, tmp_path):
    file = tmp_path / "own.toml"
    file.write_text("[alerts]\nqueue_depth = 100\n")
    server = own_server("--config", str(file)).start()
    world = make_world(server)
    hook = world.hook("hook", Reply(404), **NO_BREAKER)
    for event in world.publish_numbered(2):
        world.wait_done(event, hook)
    paused = world.hook("paused", events=["later"])
    world.api.post(f"/v1/webhooks/{paused.id}/pause")
    world.publish("later")
    file.write_text("[alerts]\nqueue_depth = 0\ndead_letters_per_hour = 1\n")
    server.signal(signal.SIGHUP)
    raised = wait_alert(world.api, kind="queue_deep", status="active")
    of_webhook = wait_alert(world.api, kind="dead_letters", status="active")
    file.write_text("")
    server.signal(signal.SIGHUP)
    wait_resolved(world.api, raised)
    wait_resolved(world.api, of_webhook)


def test_a_percentage_over_100_is_refused(tmp_path):
    code, _, error = run_command("serve", "--set", "alerts.pool_percentage=101",
                                 directory=tmp_path)
    assert code == 2
    assert "alerts.pool_percentage must be a number from 0 to 100, not 101" in error
