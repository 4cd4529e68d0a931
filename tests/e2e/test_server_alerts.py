"""Alerts about the whole server, and about permanent failures: raised, resolved, kept across
restarts, and named in the audit log.

Windows are a few seconds long here. Tests of the engine, which control its clock, check the exact
limits.
"""

import signal
import tomllib

import pytest

from alert_api import active_alerts, alerts, settings, wait_alert, wait_resolved
from harness import DEADLINE, run_command, sign_in, wait_for
from receiver import OK, Reply
from test_alert_settings import NO_BREAKER, ONLY, STEADY
from world import SLOW

LONG = 86_400_000


@pytest.fixture
def alert_server(own_server, make_world):
    """Starts a server with only the alerts of these settings. Returns the server and a World."""
    def make(*arguments, **values):
        server = own_server(*settings(**{**ONLY, **values}), *arguments).start()
        return server, make_world(server)
    return make


def restart(server, world):
    server.kill()
    server.start()
    world.api = server.api()


def publish_dead(world, hook, count):
    """Publishes events that become dead letters, and waits until they are."""
    before = dead_letters(world, hook)
    world.publish_batch([{"type": "a.b", "data": n} for n in range(count)])
    wait_for(lambda: dead_letters(world, hook) == before + count, f"{count} dead letters")


def dead_letters(world, hook):
    return len(world.api.all(f"/v1/dlq?webhook_id={hook.id}"))


def audited(world, hook):
    return world.api.all(f"/v1/audit-log?action=webhook.dead_letter&subject={hook.id}")


# ---------------------------------------------------------------- dead letters of the server


def test_dead_letters_of_all_webhooks_together_raise_an_alert(alert_server):
    server, world = alert_server(total_dead_letters_per_hour=5, dead_letters_per_hour=1000,
                                 dead_letters_window_ms=20_000)
    hooks = [world.hook(label, Reply(404), **NO_BREAKER) for label in ("one", "two", "three")]
    world.publish()
    for hook in hooks:
        wait_for(lambda hook=hook: dead_letters(world, hook) == 1, "a dead letter")
    world.publish()
    raised = wait_alert(world.api, status="active")
    assert (raised["kind"], raised["severity"]) == ("total_dead_letters", "warning")
    assert (raised["count"], raised["limit"], raised["unit"]) == (6, 5, "count")
    assert raised["detail"] == "6 deliveries became dead letters within 20 s, more than 5."
    assert [raised[name] for name in ("webhook_id", "webhook_name", "webhook_url", "tenant_id")] \
        == [None] * 4
    assert active_alerts(world.api, "total_dead_letters") == 1
    restart(server, world)
    assert wait_alert(world.api, kind="total_dead_letters", status="active") == raised
    wait_resolved(world.api, raised, DEADLINE + 20)  # The window may begin at the restart.
    assert len(alerts(world.api, kind="total_dead_letters")) == 1


def test_dead_letters_before_a_restart_count(alert_server):
    server, world = alert_server(total_dead_letters_per_hour=5, dead_letters_window_ms=LONG)
    hook = world.hook("hook", Reply(404), **NO_BREAKER)
    publish_dead(world, hook, 4)
    restart(server, world)
    publish_dead(world, hook, 1)
    assert alerts(world.api, kind="total_dead_letters") == []
    publish_dead(world, hook, 1)
    assert wait_alert(world.api, kind="total_dead_letters", status="active")["count"] == 6


def test_a_share_of_dead_letters_raises_an_alert_if_there_are_enough_deliveries(alert_server):
    _, world = alert_server(dead_letter_percentage=10, deliveries_min=20,
                            dead_letters_window_ms=LONG)
    bad = world.hook("bad", Reply(404), events=["bad"], **NO_BREAKER)
    good = world.hook("good", events=["good"])
    for _ in range(3):
        world.publish("bad")
    for event in world.publish_numbered(16, "good"):
        world.wait_done(event, good)
    assert dead_letters(world, bad) == 3
    assert alerts(world.api, kind="dead_letter_share") == []
    world.publish("good")
    raised = wait_alert(world.api, status="active")
    assert (raised["kind"], raised["severity"]) == ("dead_letter_share", "warning")
    assert (raised["count"], raised["limit"], raised["unit"]) == (15, 10, "percent")
    assert "3 of 20 deliveries (15 %)" in raised["detail"]
    world.publish_numbered(10, "good")
    wait_resolved(world.api, raised)


# ---------------------------------------------------------------- failures and slow attempts


def test_a_high_failure_rate_of_the_server_raises_an_alert_until_it_falls(alert_server):
    server, world = alert_server(window_ms=2000, failure_ms=1000, total_failure_percentage=10,
                                 failure_percentage=100)
    hooks = [world.hook(label, Reply(500), retry_config=STEADY, **NO_BREAKER)
             for label in ("one", "two")]
    world.publish_numbered(10)
    raised = wait_alert(world.api, status="active")
    assert (raised["kind"], raised["severity"]) == ("total_failures", "warning")
    assert (raised["count"] > 10, raised["limit"], raised["unit"]) == (True, 10, "percent")
    assert raised["detail"].endswith("of the last 2 s failed. It has been more than 10 % for 1 s.")
    restart(server, world)
    assert wait_alert(world.api, kind="total_failures", status="active") == raised
    for hook in hooks:
        world.receiver.on(hook.path, OK)
    wait_resolved(world.api, raised)
    assert len(alerts(world.api, kind="total_failures")) == 1


def test_slow_receivers_raise_an_alert_until_they_are_fast(alert_server):
    _, world = alert_server(window_ms=3000, p99_ms=200)
    hook = world.hook("hook", Reply(200, delay=0.4), max_in_flight=20)
    world.publish_numbered(20)
    raised = wait_alert(world.api, status="active")
    assert (raised["kind"], raised["severity"]) == ("p99_high", "warning")
    assert (raised["count"] > 200, raised["limit"], raised["unit"]) == (True, 200, "ms")
    assert "took longer than 200 ms" in raised["detail"]
    world.receiver.on(hook.path, OK)
    wait_resolved(world.api, raised)


@pytest.mark.parametrize("profile, key, value", [
    ("exchange", "total_failure_percentage", 10), ("exchange", "total_dead_letters_per_hour", 100),
    ("exchange", "dead_letter_percentage", 1), ("exchange", "failure_ms", 600_000),
    ("workspace", "p99_ms", 30_000), ("tenant", "permanent_failures", True),
    ("platform", "permanent_failures", True), ("platform", "queue_depth", 10_000)])
def test_profiles_set_the_alerts_they_describe(profile, key, value):
    _, stdout, _ = run_command("serve", "--profile", profile, "--print-config")
    assert tomllib.loads(stdout)["alerts"][key] == value


# ---------------------------------------------------------------- permanent failures


def test_permanent_failures_of_an_hour_are_one_alert_that_counts(alert_server):
    server, world = alert_server(permanent_failures="true", dead_letters_per_hour=1000)
    fields = {"name": "Orders \"A\"", **NO_BREAKER}
    hook = world.hook("hook", Reply(404), **fields)
    exhausted = world.hook("exhausted", Reply(500), retry_config={"max_attempts": 1}, **NO_BREAKER)
    publish_dead(world, hook, 3)

    def counted(number, of):
        found = alerts(world.api, kind="permanent_failure", webhook_id=of.id)
        assert len(found) <= 1, found
        return found and found[0]["count"] == number and found[0]
    raised = wait_for(lambda: counted(3, hook), "the alert to count 3")
    assert (raised["status"], raised["severity"]) == ("active", "warning")
    assert (raised["limit"], raised["unit"], raised["tenant_id"]) == (0, "count", world.tenant)
    assert raised["webhook_name"] == "Orders \"A\""
    assert "3 deliveries" in raised["detail"] and "permanent_client_error_404" in raised["detail"]
    assert wait_for(lambda: counted(3, exhausted), "the other alert")["webhook_name"] is None

    restart(server, world)
    publish_dead(world, hook, 2)
    assert wait_for(lambda: counted(5, hook), "the alert to count 5")["id"] == raised["id"]
    world.api.delete(f"/v1/webhooks/{hook.id}")
    wait_resolved(world.api, raised)


def test_an_alert_about_permanent_failures_ends_and_the_next_failure_raises_another(alert_server):
    _, world = alert_server(permanent_failures="true", dead_letters_window_ms=3000)
    hook = world.hook("hook", Reply(404), **NO_BREAKER)
    world.publish()
    first = wait_alert(world.api, kind="permanent_failure")
    wait_resolved(world.api, first)
    world.publish()
    second = wait_alert(world.api, kind="permanent_failure", status="active")
    assert second["id"] != first["id"]
    assert (second["count"], second["webhook_id"]) == (1, hook.id)


def test_a_failure_that_is_retried_is_not_permanent(alert_server):
    _, world = alert_server(permanent_failures="true")
    hook = world.hook("hook", Reply(500), retry_config=SLOW, **NO_BREAKER)
    world.wait_status(world.publish()["id"], hook, "retrying")
    assert alerts(world.api) == []
    assert audited(world, hook) == []


def test_alerts_show_the_url_without_its_query(alert_server):
    server, world = alert_server(permanent_failures="true")
    world.receiver.on(world.path("hook") + "?token=hunter2", Reply(404))
    url = world.receiver.url(world.path("hook"))
    hook = world.hook(url=url + "?token=hunter2", **NO_BREAKER)
    world.publish()
    raised = wait_alert(world.api, webhook_id=hook.id)
    assert raised["webhook_url"] == url
    assert f"{hook.id} at {url}: " in raised["detail"]
    assert "hunter2" not in str(raised)
    assert "hunter2" not in server.output()


def test_a_tenant_sees_neither_alerts_of_the_server_nor_of_others(alert_server):
    _, world = alert_server(permanent_failures="true", total_dead_letters_per_hour=1,
                            dead_letters_waiting=1)
    hook = world.hook("hook", Reply(404), **NO_BREAKER)
    publish_dead(world, hook, 2)
    wait_alert(world.api, kind="total_dead_letters", status="active")
    wait_alert(world.api, kind="dead_letters_waiting", status="active")
    wait_alert(world.api, kind="permanent_failure", status="active")
    for tenant, seen in ((world.tenant, {"dead_letters_waiting", "permanent_failure"}),
                         (world.tenant + "-other", set())):
        link = world.api.post("/v1/portal-links", {"tenant_id": tenant}, expect=201)
        theirs = sign_in(world.api.port, {"token": link["token"]})
        assert {alert["kind"] for alert in theirs.all("/v1/alerts")} == seen
        theirs.close()


def test_a_reload_switches_the_alerts_on_and_off(own_server, make_world, tmp_path):
    file = tmp_path / "own.toml"
    off = "[alerts]\ntotal_dead_letters_per_hour = 0\npermanent_failures = false\n"
    file.write_text(off)
    server = own_server("--config", str(file)).start()
    world = make_world(server)
    hook = world.hook("hook", Reply(404), **NO_BREAKER)
    publish_dead(world, hook, 3)
    assert alerts(world.api, kind="total_dead_letters,permanent_failure") == []
    file.write_text("[alerts]\ntotal_dead_letters_per_hour = 1\n")
    server.signal(signal.SIGHUP)
    total = wait_alert(world.api, kind="total_dead_letters", status="active")
    world.publish()
    permanent = wait_alert(world.api, kind="permanent_failure", status="active")
    assert permanent["count"] == 1
    file.write_text(off)
    server.signal(signal.SIGHUP)
    wait_resolved(world.api, total)
    wait_resolved(world.api, permanent)


# ---------------------------------------------------------------- the audit log


def test_every_dead_letter_stands_in_the_audit_log(alert_server):
    server, world = alert_server()
    hook = world.hook("hook", Reply(404), **NO_BREAKER)
    refused = world.hook("refused", events=["refused.event"], url="http://127.0.0.1:1/",
                         retry_config={"max_attempts": 1}, **NO_BREAKER)
    publish_dead(world, hook, 30)
    world.publish("refused.event")
    wait_for(lambda: audited(world, refused), "the entry")

    def all_counted():
        found = audited(world, hook)
        return sum(entry["detail"]["count"] for entry in found) == 31 and found
    entries = wait_for(all_counted, "31 dead letters in the audit log")
    assert len(entries) < 31, "several in one entry"
    dead = {item["id"]: item for item in world.api.all(f"/v1/dlq?webhook_id={hook.id}")}
    for entry in entries:
        detail = entry["detail"]
        assert (entry["actor"], entry["tenant_id"]) == ("system", world.tenant)
        assert set(detail["delivery_ids"]) <= set(dead)
        assert len(detail["delivery_ids"]) == min(detail["count"], 20)
        assert detail["last_delivery_id"] in dead
        assert (detail["reason"], detail["http_status"]) == ("permanent_client_error_404", 404)
        assert detail["attempts"] == 1
    [entry] = audited(world, refused)
    assert entry["detail"]["event_type"] == "refused.event"
    assert entry["detail"]["reason"] == "max_attempts_exceeded"
    assert entry["detail"]["http_status"] is None
    assert entry["detail"]["error"]
    restart(server, world)
    assert audited(world, hook) == entries
    assert world.api.get("/v1/audit-log/verify")["holds"] is True


def test_a_revived_delivery_that_dies_again_is_logged_again(alert_server):
    _, world = alert_server()
    hook = world.hook("hook", Reply(404), **NO_BREAKER)
    dead = world.wait_done(world.publish()["id"], hook)
    assert len(audited(world, hook)) == 1
    world.api.post(f"/v1/deliveries/{dead['id']}/retry", expect=202)
    entries = wait_for(lambda: len(audited(world, hook)) == 2 and audited(world, hook), "two")
    assert [entry["detail"]["attempts"] for entry in entries] == [2, 1]
    assert {entry["detail"]["last_delivery_id"] for entry in entries} == {dead["id"]}
