"""Order (P4), limits (P7) and priority, observed at the receiver."""

import json

from harness import wait_for
from receiver import Reply
from world import FAST, SLOW


def number_of(request):
    return json.loads(request.body)["data"]["n"]


def failing(numbers, times):
    """A reply function: 500 for the first `times` requests of each event in `numbers`, then 200."""
    left = {number: times for number in numbers}

    def reply(request):
        number = number_of(request)
        if left.get(number, 0) > 0:
            left[number] -= 1
            return Reply(500)
        return Reply()
    return reply


def wait_succeeded(world, hook, ids):
    for event_id in ids:
        assert world.wait_done(event_id, hook)["status"] == "succeeded"


def test_strict_order_sends_one_at_a_time_in_publish_order_through_failures(world):
    hook = world.hook("hook", failing([2, 5], times=2), ordering_guarantee="strict",
                      max_in_flight=10, retry_config=FAST)
    ids = world.publish_numbered(8)
    wait_succeeded(world, hook, ids)
    assert world.numbers(hook) == [0, 1, 2, 2, 2, 3, 4, 5, 5, 5, 6, 7]
    assert world.receiver.peak(hook.path) == 1


def test_strict_order_continues_after_a_dead_letter(world):
    hook = world.hook("hook", lambda request: Reply(404 if number_of(request) == 0 else 200),
                      ordering_guarantee="strict")
    ids = world.publish_numbered(3)
    wait_succeeded(world, hook, ids[1:])
    assert world.numbers(hook) == [0, 1, 2]
    assert world.delivery(ids[0], hook)["status"] == "dead_letter"


def test_strict_order_holds_for_a_batch_larger_than_the_window(world):
    hook = world.hook("hook", failing([0, 7, 300], times=1), ordering_guarantee="strict",
                      retry_config=FAST)
    world.publish_batch([{"type": "a.b", "data": {"n": number}} for number in range(400)])
    wait_for(lambda: len(world.requests(hook)) >= 403, "403 requests")
    want = sorted([*range(400), 0, 7, 300])
    assert world.numbers(hook) == want
    assert world.receiver.peak(hook.path) == 1


def test_per_event_type_order_holds_within_a_type_and_only_there(world):
    stuck = {"stuck": True}

    def reply(request):
        held = request.header("x-webhook-event") == "a.held" and stuck["stuck"]
        return Reply(500) if held else Reply()
    hook = world.hook("hook", reply, ordering_guarantee="per_event_type", max_in_flight=10,
                      retry_config={**FAST, "max_attempts": 100},
                      circuit_breaker_config={"enabled": False})
    held = world.publish_numbered(3, type="a.held", start=100)
    free = world.publish_numbered(5, type="b.free")
    wait_succeeded(world, hook, free)
    numbers = world.numbers(hook)
    assert [number for number in numbers if number < 100] == [0, 1, 2, 3, 4]
    assert {number for number in numbers if number >= 100} <= {100}

    stuck["stuck"] = False
    wait_succeeded(world, hook, held)
    numbers = [number for number in world.numbers(hook) if number >= 100]
    assert numbers == sorted(numbers) and set(numbers) == {100, 101, 102}


def test_without_ordering_a_failing_event_does_not_delay_others(world):
    hook = world.hook("hook", lambda request: Reply(500 if number_of(request) == 0 else 200),
                      retry_config=SLOW, max_in_flight=1)
    ids = world.publish_numbered(6)
    wait_succeeded(world, hook, ids[1:])
    assert world.delivery(ids[0], hook)["status"] == "retrying"


def test_max_in_flight_limits_open_requests(world):
    hook = world.hook(max_in_flight=3)
    world.receiver.hold(hook.path)
    control = world.hook("control")
    world.publish_numbered(12)
    world.wait_requests(control, 12)
    world.wait_requests(hook, 3)
    assert len(world.requests(hook)) == 3
    world.receiver.release(hook.path)
    world.wait_requests(hook, 12)
    assert world.receiver.peak(hook.path) == 3


def test_the_rate_limit_holds_in_every_interval(world):
    rate, burst, count = 20, 2, 24
    hook = world.hook(max_in_flight=50,
                      rate_limit={"requests_per_second": rate, "burst": burst})
    world.publish_batch([{"type": "a.b", "data": {"n": number}} for number in range(count)])
    times = [request.started for request in world.wait_requests(hook, count)]
    # Scheduling may bring two requests closer together on arrival than when they were sent.
    slack = 0.1
    for first in range(count):
        for last in range(first + 1, count):
            allowed = burst + rate * (times[last] - times[first] + slack)
            assert last - first + 1 <= allowed + 1, (first, last, times)
    assert times[-1] - times[0] >= (count - burst) / rate - slack


def test_a_rate_limited_delivery_waits_and_does_not_fail(world):
    hook = world.hook(rate_limit={"requests_per_minute": 1, "burst": 1})
    first, second = world.publish_numbered(2)
    assert world.wait_done(first, hook)["status"] == "succeeded"
    blocked = world.wait_blocked(second, hook)
    assert blocked["blocked"]["reason"] == "rate"
    assert blocked["attempt_count"] == 0
    assert len(world.requests(hook)) == 1


def test_high_priority_overtakes_low_without_starving_it(world):
    hook = world.hook(max_in_flight=1)
    world.receiver.hold(hook.path)
    world.publish(data={"n": 0})
    world.wait_requests(hook, 1)
    world.publish_numbered(16, start=1000, priority="low")
    world.publish_numbered(16, start=1, priority="high")
    world.receiver.release(hook.path)
    world.wait_requests(hook, 33)
    order = world.numbers(hook)[1:]
    highs = [place for place, number in enumerate(order) if number < 1000]
    lows = [place for place, number in enumerate(order) if number >= 1000]
    # The ratio is 8:1 while both wait: at most three low ones come before the last high one.
    assert highs[-1] <= 18, order
    assert lows[0] < highs[-1], f"low priority starved: {order}"
