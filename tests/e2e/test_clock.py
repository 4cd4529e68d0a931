"""Jumps of the wall clock neither delay deliveries nor bring them forward (P9)."""

import datetime

import pytest

from receiver import Reply
from secret_checks import in_database
from shifted_clock import ShiftedClock
from stores import ON_POSTGRES

DAY_MS = 24 * 3600 * 1000
SOON = {"base_delay_ms": 3_000, "max_delay_ms": 3_000}


def set_back_a_day(server):
    """Changes the store of a stopped server as if the clock had been a day ahead until now."""
    waiting, latest = ("waiting", "webhook_stats") if ON_POSTGRES else ("delivery", "lane")
    in_database(server, f"UPDATE {waiting} SET due = due + {DAY_MS}")
    in_database(server, f"UPDATE {latest} SET last_failure_at = last_failure_at + {DAY_MS}")


def test_a_retry_keeps_its_delay_if_the_clock_was_set_back(own_server, make_world):
    server = own_server().start()
    world = make_world(server)
    hook = world.hook("hook", Reply(500), Reply(), retry_config=SOON)
    event = world.publish(data={})["id"]
    world.wait_status(event, hook, "retrying")
    server.stop()
    set_back_a_day(server)
    server.start()
    world.api = server.api()
    assert world.wait_done(event, hook)["status"] == "succeeded"
    assert "clock.set_back webhooks=1" in server.output()


def test_a_first_attempt_is_not_delayed_if_the_clock_was_set_back(own_server, make_world):
    server = own_server().start()
    world = make_world(server)
    hook = world.hook("hook")
    world.api.post(f"/v1/webhooks/{hook.id}/pause")
    event = world.publish(data={})["id"]
    server.stop()
    set_back_a_day(server)
    server.start()
    world.api = server.api()
    world.api.post(f"/v1/webhooks/{hook.id}/resume")
    assert world.wait_done(event, hook)["status"] == "succeeded"


HOUR_MS = 3_600_000
# A fixed delay, longer than a busy machine takes to send a request.
EVERY_SECOND = {"base_delay_ms": 1_000, "max_delay_ms": 1_000, "backoff_multiplier": 1,
                "jitter": 0, "max_attempts": 50}
NO_CIRCUIT = {"enabled": False}


def duration(requests):
    return requests[-1].started - requests[0].started


@pytest.mark.parametrize("jumps", [[-HOUR_MS], [HOUR_MS], [-HOUR_MS, 2 * HOUR_MS, -DAY_MS]])
def test_retries_keep_their_pace_when_the_clock_is_set(own_server, make_world, tmp_path, jumps):
    clock = ShiftedClock(tmp_path)
    server = own_server(environment=clock.environment).start()
    world = make_world(server)
    hook = world.hook("hook", Reply(500), retry_config=EVERY_SECOND,
                      circuit_breaker_config=NO_CIRCUIT)
    late = world.hook("late", Reply(500), retry_config={"base_delay_ms": HOUR_MS // 2,
                                                        "max_delay_ms": HOUR_MS})
    world.publish()
    before = world.wait_requests(hook, 5)[:5]
    for jump in jumps:
        clock.shift(jump)
        world.wait_requests(hook, len(world.requests(hook)) + 1)
    first = len(world.requests(hook)) - 1
    after = world.wait_requests(hook, first + 5)[first:first + 5]
    assert duration(before) / 1.5 < duration(after) < duration(before) * 1.5
    assert len(world.requests(late)) == 1, "nothing is sent early"


@pytest.mark.parametrize("jump", [-HOUR_MS, HOUR_MS])
def test_a_circuit_probes_in_time_when_the_clock_is_set(own_server, make_world, tmp_path, jump):
    clock = ShiftedClock(tmp_path)
    server = own_server(environment=clock.environment).start()
    world = make_world(server)
    hook = world.hook("hook", Reply(500), Reply(), retry_config=EVERY_SECOND,
                      circuit_breaker_config={"failure_count_threshold": 1,
                                              "minimum_throughput": 1, "half_open_max_calls": 1,
                                              "sleep_window_ms": 5_000})
    event = world.publish()["id"]
    world.wait_circuit(hook, "open")
    clock.shift(jump)
    assert world.wait_done(event, hook)["status"] == "succeeded"


def test_requests_are_signed_with_the_time_of_the_wall_clock(own_server, make_world, tmp_path):
    clock = ShiftedClock(tmp_path)
    server = own_server(environment=clock.environment).start()
    world = make_world(server)
    hook = world.hook("hook")
    clock.shift(-DAY_MS)
    world.publish()
    request, = world.wait_requests(hook, 1)
    day_ago = datetime.datetime.fromtimestamp(request.unix_time) - datetime.timedelta(days=1)
    signed_at = datetime.datetime.fromtimestamp(int(request.header("webhook-timestamp")))
    assert abs(signed_at - day_ago) < datetime.timedelta(hours=1)


def test_retries_keep_their_pace_after_a_restart_with_the_clock_set_back(
        own_server, make_world, tmp_path):
    clock = ShiftedClock(tmp_path)
    server = own_server(environment=clock.environment).start()
    world = make_world(server)
    hook = world.hook("hook", Reply(500), Reply(500), Reply(500), Reply(),
                      retry_config=EVERY_SECOND, circuit_breaker_config=NO_CIRCUIT)
    event = world.publish()["id"]
    world.wait_requests(hook, 1)
    clock.shift(-HOUR_MS)
    world.wait_requests(hook, 2)
    server.kill()
    clock.shift(-DAY_MS)
    server.start()
    world.api = server.api()
    assert world.wait_done(event, hook)["status"] == "succeeded"
