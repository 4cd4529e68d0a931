"""What a circuit counts and shows survives a restart and kill -9."""

import datetime
import time

import pytest

from receiver import Reply
from world import SLOW

HOUR = 3_600_000
# Opens at the fifth failure within an hour.
FIVE_FAILURES = {"window": "time", "window_size_ms": HOUR, "minimum_throughput": 1,
                 "failure_count_threshold": 5, "sleep_window_ms": HOUR}
# Opens when half of at least ten calls have failed.
HALF = {"minimum_throughput": 10, "error_threshold_percentage": 50, "failure_count_threshold": 0,
        "sleep_window_ms": HOUR}


def restart(server, world, how):
    """Ends the server with SIGTERM (`stop`) or SIGKILL (`kill`) and starts it again."""
    getattr(server, how)()
    server.start()
    world.api.close()
    world.api = server.api()


def circuit_detail(world, hook):
    return world.api.get(f"/v1/webhooks/{hook.id}/health")["circuit"]


def attempt(world, hook, count, status):
    """Makes `count` first attempts, one after the other, and waits until they are stored."""
    world.receiver.on(hook.path, Reply(status))
    for _ in range(count):
        event = world.publish()
        wanted = ("succeeded",) if status == 200 else ("retrying",)
        world.wait_status(event["id"], hook, *wanted)


def make_hook(world, breaker, **fields):
    return world.hook("hook", Reply(500), max_in_flight=1, retry_config=SLOW,
                      circuit_breaker_config=breaker, **fields)


@pytest.mark.parametrize("how", ["kill", "stop"])
@pytest.mark.parametrize("window", [
    {"window": "time", "window_size_ms": HOUR}, {"window": "count", "window_calls": 50}])
def test_four_failures_a_restart_and_one_more_open_a_five_failure_circuit(
        own_server, make_world, how, window):
    server = own_server().start()
    world = make_world(server)
    hook = make_hook(world, {**FIVE_FAILURES, **window})
    attempt(world, hook, 4, 500)
    restart(server, world, how)
    detail = circuit_detail(world, hook)
    assert detail["state"] == "closed"
    assert (detail["calls_in_window"], detail["failures_in_window"]) == (4, 4)
    attempt(world, hook, 1, 500)
    assert world.wait_circuit(hook, "open")["openings_in_row"] == 1


def test_successes_before_a_kill_count_in_a_percentage(own_server, make_world):
    server = own_server().start()
    world = make_world(server)
    hook = make_hook(world, {**HALF, "window": "time", "window_size_ms": HOUR})
    attempt(world, hook, 12, 200)
    restart(server, world, "kill")
    # Without the twelve successes the circuit would open at the tenth failure.
    attempt(world, hook, 11, 500)
    detail = circuit_detail(world, hook)
    assert detail["state"] == "closed"
    assert (detail["calls_in_window"], detail["failures_in_window"]) == (23, 11)
    attempt(world, hook, 1, 500)
    world.wait_circuit(hook, "open")


def test_calls_before_a_reset_do_not_count_after_a_kill(own_server, make_world):
    server = own_server().start()
    world = make_world(server)
    hook = make_hook(world, FIVE_FAILURES)
    attempt(world, hook, 4, 500)
    world.api.patch(f"/v1/webhooks/{hook.id}/circuit-breaker", {"action": "reset"})
    time.sleep(0.005)  # An attempt of the same millisecond counts as one before the reset.
    # The reset is stored at the latest with the attempts after it.
    attempt(world, hook, 3, 500)
    restart(server, world, "kill")
    assert circuit_detail(world, hook)["calls_in_window"] == 3
    attempt(world, hook, 1, 500)
    assert world.circuit(hook)["state"] == "closed"


def test_used_probes_stay_used_after_a_kill(own_server, make_world):
    server = own_server().start()
    world = make_world(server)
    hook = make_hook(world, {**FIVE_FAILURES, "sleep_window_ms": 200, "half_open_max_calls": 3,
                             "half_open_success_percentage": 100})
    attempt(world, hook, 5, 500)
    world.wait_circuit(hook, "half_open")
    attempt(world, hook, 2, 200)
    restart(server, world, "kill")
    detail = circuit_detail(world, hook)
    assert (detail["state"], detail["probes_used"]) == ("half_open", 2)
    attempt(world, hook, 1, 200)
    assert world.wait_circuit(hook, "closed")


def test_an_open_circuit_keeps_its_details_after_a_kill(own_server, make_world):
    server = own_server().start()
    world = make_world(server)
    hook = make_hook(world, FIVE_FAILURES)
    attempt(world, hook, 5, 500)
    world.wait_circuit(hook, "open")
    before = circuit_detail(world, hook)
    assert (before["calls_in_window"], before["failures_in_window"]) == (5, 5)
    assert (before["error_percentage"], before["times_opened"]) == (100, 1)
    assert before["opened_at"] == before["changed_at"]
    assert before["next_probe_at"] == before["open_until"] is not None
    event = world.publish()
    world.wait_blocked(event["id"], hook)
    restart(server, world, "kill")
    assert circuit_detail(world, hook) == before
    delivery = world.wait_blocked(event["id"], hook)
    assert [item["until"] for item in delivery["blocked_by"]] == [None]
    assert delivery["blocked_by"][0]["from"] == delivery["created_at"]


@pytest.mark.parametrize("how", ["kill", "stop"])
def test_a_circuit_opened_by_its_configuration_stays_open_after_a_restart(own_server, make_world,
                                                                          how):
    server = own_server().start()
    world = make_world(server)
    until = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=2)
    until = until.strftime("%Y-%m-%dT%H:%M:%S.000Z")
    hook = world.hook()
    world.api.patch(f"/v1/webhooks/{hook.id}",
                    {"circuit_breaker_config": {"force_open_until": until}})
    restart(server, world, how)
    circuit = world.circuit(hook)
    assert (circuit["state"], circuit["forced"], circuit["forced_until"]) == ("open", "open", until)
    world.api.patch(f"/v1/webhooks/{hook.id}/circuit-breaker", {"action": "reset"})
    event = world.publish()
    assert world.wait_done(event["id"], hook)["status"] == "succeeded"
    restart(server, world, how)
    assert world.circuit(hook)["state"] == "closed"
    config = world.api.get(f"/v1/webhooks/{hook.id}")["circuit_breaker_config"]
    assert config["force_open_until"] is None
