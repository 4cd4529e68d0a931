"""The circuit also opens after several timeouts in a row, however few calls there are."""

import pytest

from harness import run_command, wait_for
from receiver import Hang, Reply
from test_circuit_restart import circuit_detail, restart
from world import SLOW

QUICK = {**SLOW, "timeout_ms": 100}
FIELD = "consecutive_failure_threshold"


def time_out(world, hook, count):
    """Makes `count` first attempts that time out, one after the other."""
    world.receiver.on(hook.path, Hang())
    for _ in range(count):
        event = world.publish()
        world.wait_status(event["id"], hook, "retrying")


def make_hook(world, **breaker):
    fields = {"circuit_breaker_config": breaker} if breaker else {}
    return world.hook("hook", max_in_flight=1, retry_config=QUICK, **fields)


def test_five_timeouts_in_a_row_open_the_circuit(world):
    hook = make_hook(world)
    assert hook.created["circuit_breaker_config"][FIELD] == 5
    time_out(world, hook, 4)
    detail = circuit_detail(world, hook)
    assert (detail["state"], detail["timeouts_in_row"]) == ("closed", 4)
    time_out(world, hook, 1)
    world.wait_circuit(hook, "open")

    def alert():
        return [alert for alert in world.api.get("/v1/alerts")["data"]
                if alert["webhook_id"] == hook.id and alert["kind"] == "circuit_opened"]
    assert "5 attempts in a row timed out" in wait_for(alert, "the alert")[0]["detail"]


def test_an_answer_ends_the_row(world):
    hook = make_hook(world)
    time_out(world, hook, 4)
    world.receiver.on(hook.path, Reply(500))
    event = world.publish()
    world.wait_status(event["id"], hook, "retrying")
    assert circuit_detail(world, hook)["timeouts_in_row"] == 0
    time_out(world, hook, 4)
    assert circuit_detail(world, hook)["state"] == "closed"


def test_zero_switches_it_off_and_patch_changes_it(world):
    hook = make_hook(world, **{FIELD: 0})
    time_out(world, hook, 6)
    assert circuit_detail(world, hook)["state"] == "closed"
    changed = world.api.patch(f"/v1/webhooks/{hook.id}", {"circuit_breaker_config": {FIELD: 7}})
    assert changed["circuit_breaker_config"][FIELD] == 7
    time_out(world, hook, 1)
    world.wait_circuit(hook, "open")
    reset = world.api.patch(f"/v1/webhooks/{hook.id}", {"circuit_breaker_config": {FIELD: None}})
    assert reset["circuit_breaker_config"][FIELD] == 5
    for invalid in (-1, 1001, 1.5, "5"):
        world.api.patch(f"/v1/webhooks/{hook.id}", {"circuit_breaker_config": {FIELD: invalid}},
                        expect=422)


@pytest.mark.parametrize("how", ["kill", "stop"])
def test_timeouts_before_a_restart_count(own_server, make_world, how):
    server = own_server().start()
    world = make_world(server)
    # The window is much shorter than the time between the calls.
    hook = make_hook(world, window_size_ms=100)
    time_out(world, hook, 3)
    restart(server, world, how)
    assert circuit_detail(world, hook)["timeouts_in_row"] == 3
    time_out(world, hook, 2)
    world.wait_circuit(hook, "open")


def test_a_setting_is_the_default_of_new_webhooks(own_server, make_world):
    server = own_server("--set", f"webhooks.circuit_breaker.{FIELD}=2").start()
    world = make_world(server)
    hook = make_hook(world)
    assert hook.created["circuit_breaker_config"][FIELD] == 2
    time_out(world, hook, 2)
    world.wait_circuit(hook, "open")


@pytest.mark.parametrize("profile", ["exchange", "platform", "workspace"])
def test_profiles_with_their_own_rule_do_not_use_it(profile):
    _, stdout, _ = run_command("serve", "--profile", profile, "--print-config")
    assert f"{FIELD} = 0" in stdout
