"""Shared limits hold across all io threads, and one webhook can use them fully (P7)."""

import pytest

from harness import wait_for

THREADS = ("--io-threads", "4")


def start_times(world, hooks):
    return sorted(request.started for hook in hooks for request in world.requests(hook))


def assert_rate(times, per_second, burst):
    """Checks that no interval has more requests than the burst plus the tokens of its length.

    Allows some slack, because requests arrive later than they are sent.
    """
    slack = 0.4
    for first in range(len(times)):
        for last in range(first, len(times)):
            allowed = burst + (times[last] - times[first] + slack) * per_second
            assert last - first + 1 <= allowed, (first, last, times)


def total_requests(world, hooks):
    return sum(world.receiver.count(hook.path) for hook in hooks)


def wait_total(world, hooks, count):
    wait_for(lambda: total_requests(world, hooks) >= count, f"{count} requests")


@pytest.fixture
def limited_world(own_server, make_world):
    def make(*settings):
        flags = [flag for setting in settings for flag in ("--set", setting)]
        return make_world(own_server(*THREADS, *flags).start())
    return make


def test_the_total_rate_and_its_burst_hold_over_all_threads(limited_world):
    world = limited_world("engine.total_rate_limit.requests_per_second=4",
                    "engine.total_rate_limit.burst=2")
    hooks = [world.hook(f"hook-{number}") for number in range(8)]
    world.publish()
    wait_total(world, hooks, 8)
    times = start_times(world, hooks)
    assert_rate(times, 4, 2)
    assert times[-1] - times[0] < 5  # Six tokens after the burst: 1.5 s.
    assert [world.receiver.count(hook.path) for hook in hooks] == [1] * 8


def test_one_webhook_may_use_the_whole_total_rate(limited_world):
    world = limited_world("engine.total_rate_limit.requests_per_second=10",
                    "engine.total_rate_limit.burst=1")
    hook = world.hook("hook", max_in_flight=50)
    world.publish_batch([{"type": "a.b", "data": {"n": number}} for number in range(21)])
    world.wait_requests(hook, 21)
    times = start_times(world, [hook])
    assert_rate(times, 10, 1)
    assert times[-1] - times[0] < 5  # 2 s; a quarter of the rate would take 8 s.


def test_a_tenants_webhooks_share_its_rate_and_one_may_use_all_of_it(limited_world):
    world = limited_world("engine.tenant_rate_limit.requests_per_minute=300",
                    "engine.tenant_rate_limit.burst=1")
    hook = world.hook("only")
    world.publish_batch([{"type": "a.b", "data": {"n": number}} for number in range(8)])
    world.wait_requests(hook, 8)
    times = start_times(world, [hook])
    assert_rate(times, 5, 1)
    assert times[-1] - times[0] < 4  # 1.4 s; a quarter of the rate would take 5.6 s.

    others = [world.hook(f"other-{number}", tenant_id=f"{world.tenant}-other")
              for number in range(6)]
    world.publish(tenant_id=f"{world.tenant}-other")
    wait_total(world, others, 6)
    assert_rate(start_times(world, others), 5, 1)


def test_in_flight_max_holds_over_all_threads(limited_world):
    world = limited_world("engine.in_flight_max=2", "engine.first_attempt_reserve_percentage=0",
                    "engine.tenant_in_flight_max=2")
    hooks = [world.hook(f"hook-{number}") for number in range(8)]
    for hook in hooks:
        world.receiver.hold(hook.path)
    world.publish()
    released = set()
    while len(released) < 8:
        wait_total(world, hooks, min(len(released) + 2, 8))
        in_flight = [hook for hook in hooks if hook.path not in released
                     and world.receiver.count(hook.path) > 0]
        assert len(in_flight) <= 2
        # A slot released on one thread wakes webhooks on the others.
        world.receiver.release(in_flight[0].path)
        released.add(in_flight[0].path)
        wait_for(lambda: world.requests(in_flight[0])[0].ended, "the answer")


def test_tenant_in_flight_max_limits_one_tenant(limited_world):
    world = limited_world("engine.tenant_in_flight_max=3")
    hooks = [world.hook(f"hook-{number}") for number in range(8)]
    other = world.hook("other", tenant_id=f"{world.tenant}-other")
    for hook in hooks:
        world.receiver.hold(hook.path)
    world.publish()
    wait_total(world, hooks, 3)
    world.publish(tenant_id=f"{world.tenant}-other")
    world.wait_requests(other, 1)  # A fourth request would have arrived before this one.
    assert total_requests(world, hooks) == 3
    for hook in hooks:
        world.receiver.release(hook.path)
    wait_total(world, hooks, 8)


def test_a_busy_webhook_does_not_starve_webhooks_of_other_threads(limited_world):
    world = limited_world("engine.in_flight_max=1", "engine.tenant_in_flight_max=1")
    busy = world.hook("busy", events=["busy.*"])
    for start in range(0, 2000, 1000):
        world.publish_batch([{"type": "busy.a", "data": {"n": number}}
                             for number in range(start, start + 1000)])
    world.wait_requests(busy, 50)
    others = [world.hook(f"other-{number}", events=["other.*"]) for number in range(6)]
    world.publish("other.a")
    wait_total(world, others, 6)
    assert world.receiver.count(busy.path) < 2000
