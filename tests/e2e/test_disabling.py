"""A webhook is disabled after five days of failures and can be enabled again."""

import time

from harness import wait_for
from receiver import OK, Reply
from secret_checks import in_database
from world import SLOW

FIVE_DAYS_MS = 5 * 24 * 3600 * 1000


def state(world, hook):
    return world.api.get(f"/v1/webhooks/{hook.id}")


def restart_with_failures_since(server, world, ago_ms):
    """Restarts the server as if the first failure had been `ago_ms` ago."""
    server.stop()
    assert len(in_database(server, "SELECT 1 FROM circuit WHERE failing_since IS NOT NULL")) == 1
    in_database(server, "UPDATE circuit SET failing_since = ?", time.time() * 1000 // 1 - ago_ms)
    server.start()
    world.api = server.api()


def fail_once(world, hook):
    event = world.publish()
    wait_for(lambda: world.delivery(event["id"], hook)["attempts"], "an attempt")


def test_five_days_of_failures_disable_a_webhook(own_server, make_world):
    server = own_server().start()
    world = make_world(server)
    hook = world.hook("hook", Reply(503), retry_config=SLOW)
    fail_once(world, hook)
    restart_with_failures_since(server, world, FIVE_DAYS_MS - 600_000)
    fail_once(world, hook)
    assert state(world, hook)["active"] is True

    restart_with_failures_since(server, world, FIVE_DAYS_MS)
    fail_once(world, hook)
    wait_for(lambda: not state(world, hook)["active"], "the webhook to be disabled")
    disabled = state(world, hook)
    assert disabled["disabled_reason"].startswith("Every attempt has failed since ")
    assert disabled["disabled_at"] is not None
    assert world.publish()["deliveries"] == 0
    alert, = world.api.get("/v1/alerts?status=active&kind=webhook_disabled")["data"]
    assert alert["webhook_id"] == hook.id
    assert alert["detail"].endswith(": " + disabled["disabled_reason"])

    # Enabling it clears the reason, restarts the five days and offers a replay.
    answer = world.api.patch(f"/v1/webhooks/{hook.id}", {"active": True})
    assert answer["disabled_reason"] is None
    assert answer["disabled_at"] is None
    assert answer["replay"] == {"since": disabled["disabled_at"],
                                "path": f"/v1/webhooks/{hook.id}/replay"}
    assert "replay" not in state(world, hook)
    for _ in range(2):  # The second publish needs an active webhook.
        fail_once(world, hook)
    assert state(world, hook)["active"] is True


def test_a_success_restarts_the_five_days(own_server, make_world):
    server = own_server().start()
    world = make_world(server)
    hook = world.hook("hook", Reply(503), retry_config=SLOW)
    fail_once(world, hook)
    world.receiver.on(hook.path, OK)
    event = world.publish()
    assert world.wait_done(event["id"], hook)["status"] == "succeeded"
    server.stop()
    assert in_database(server, "SELECT failing_since FROM circuit") == [(None,)]


def test_a_410_answer_disables_the_webhook_immediately(world):
    hook = world.hook("hook", Reply(410))
    world.publish()
    wait_for(lambda: not state(world, hook)["active"], "the webhook to be disabled")
    disabled = state(world, hook)
    assert disabled["disabled_reason"] == "The receiver answered 410 Gone."
    answer = world.api.patch(f"/v1/webhooks/{hook.id}", {"active": True})
    assert answer["replay"]["since"] == disabled["disabled_at"]


def test_disabling_by_request_sets_no_reason_and_raises_no_alert(world):
    hook = world.hook()
    off = world.api.patch(f"/v1/webhooks/{hook.id}", {"active": False})
    assert off["disabled_reason"] is None
    assert off["disabled_at"] == off["updated_at"]
    again = world.api.patch(f"/v1/webhooks/{hook.id}", {"active": False, "name": "x"})
    assert again["disabled_at"] == off["disabled_at"]
    assert world.api.get("/v1/alerts?kind=webhook_disabled&webhook_id=" + hook.id)["data"] == []


def test_disabled_at_cannot_be_set_by_a_client(world):
    problem = world.api.patch(f"/v1/webhooks/{world.hook().id}",
                              {"disabled_at": "2026-01-01T00:00:00Z"}, expect=422)
    assert problem["errors"][0]["field"] == "disabled_at"
