"""Another node takes a webhook over: its circuit, rate, order and waiting deliveries stay as they
are (P2, P4, P7)."""

import signal
import time

import pytest

from cluster import TAKEOVER_S, publish, shard_of
from harness import wait_for
from oracle import Trace, check
from receiver import Reply
from test_circuit_restart import FIVE_FAILURES
from world import SLOW


@pytest.fixture
def pair(make_cluster, make_world):
    """Two nodes, and a world that talks to the second one."""
    made = make_cluster(2)
    return made, make_world(made.nodes[1])


def fail(world, hook, count):
    world.receiver.on(hook.path, Reply(500))
    for _ in range(count):
        world.wait_status(world.publish()["id"], hook, "retrying")


def end(node, how):
    {"killed": node.kill, "stopped": node.stop}[how]()


@pytest.mark.parametrize("how", ["killed", "stopped"])
def test_four_failures_before_a_takeover_and_one_after_open_a_five_failure_circuit(pair, how):
    cluster, world = pair
    hook = cluster.hook_of(world, cluster.nodes[0], "hook", max_in_flight=1, retry_config=SLOW,
                           circuit_breaker_config=FIVE_FAILURES)
    fail(world, hook, 4)
    end(cluster.nodes[0], how)
    cluster.wait_shared(cluster.nodes[1])
    assert world.circuit(hook)["state"] == "closed"
    fail(world, hook, 1)
    assert world.wait_circuit(hook, "open")["openings_in_row"] == 1


def test_an_open_circuit_stays_open_after_a_takeover(pair):
    cluster, world = pair
    hook = cluster.hook_of(world, cluster.nodes[0], "hook", max_in_flight=1, retry_config=SLOW,
                           circuit_breaker_config=FIVE_FAILURES)
    fail(world, hook, 5)
    before = world.wait_circuit(hook, "open")
    sent = len(world.requests(hook))
    cluster.nodes[0].kill()
    cluster.wait_shared(cluster.nodes[1])
    late = world.publish()
    assert world.wait_blocked(late["id"], hook)["blocked"]["reason"] == "circuit"
    after = world.circuit(hook)
    assert (after["state"], after["open_until"]) == ("open", before["open_until"])
    assert len(world.requests(hook)) == sent


def test_a_rate_limit_holds_over_takeovers(pair):
    cluster, world = pair
    rate = (10, 5)
    hook = cluster.hook_of(world, cluster.nodes[0], "hook",
                           rate_limit={"requests_per_second": rate[0], "burst": rate[1]})
    trace = Trace()
    first = len(world.requests(hook))
    world.publish_batch([{"type": "a.b", "data": {"n": number}} for number in range(100)])
    world.wait_requests(hook, first + 10)
    with trace.fault("kill -9"):
        cluster.nodes[0].kill()
        cluster.wait_shared(cluster.nodes[1])
    cluster.nodes[0].start()
    cluster.wait_shared()
    wait_for(lambda: set(range(100)) <= set(world.numbers(hook)), "all events", TAKEOVER_S)
    check(world.requests(hook)[first:], trace, rate=rate)


def test_strict_order_holds_over_a_kill_and_a_takeover(pair):
    cluster, world = pair
    hook = cluster.hook_of(world, cluster.nodes[0], "hook", ordering_guarantee="strict")
    first = len(world.requests(hook))
    world.publish_batch([{"type": "a.b", "data": {"n": number}} for number in range(300)])
    world.wait_requests(hook, first + 100)
    cluster.nodes[0].kill()
    world.wait_requests(hook, first + 200)
    cluster.nodes[0].start()
    cluster.wait_shared()
    wait_for(lambda: world.numbers(hook)[-1] == 299, "the last event", TAKEOVER_S)
    numbers = world.numbers(hook)[first:]
    assert numbers == sorted(numbers), "out of order"
    assert set(numbers) == set(range(300))
    # Only the delivery that was in flight at the kill is sent twice.
    assert len(numbers) <= 301


def test_retries_that_wait_are_made_by_the_next_owner_in_time(pair):
    cluster, world = pair
    hook = cluster.hook_of(world, cluster.nodes[0], "hook", Reply(500), retry_config=SLOW)
    event = world.publish()
    planned = world.wait_status(event["id"], hook, "retrying")["next_attempt_at"]
    cluster.nodes[0].kill()
    cluster.wait_shared(cluster.nodes[1])
    assert world.delivery(event["id"], hook)["next_attempt_at"] == planned
    world.receiver.on(hook.path, Reply())
    delivery = world.delivery(event["id"], hook)
    world.api.post(f"/v1/deliveries/{delivery['id']}/retry", expect=202)
    assert world.wait_done(event["id"], hook)["status"] == "succeeded"


def test_a_node_that_stops_gives_its_webhooks_away_before_it_ends(pair):
    """Nobody waits for a lease to end, and no delivery is made twice."""
    cluster, world = pair
    hook = cluster.hook_of(world, cluster.nodes[0], "hook", max_in_flight=5)
    first = len(world.requests(hook))
    world.publish_batch([{"type": "a.b", "data": {"n": number}} for number in range(500)])
    world.wait_requests(hook, first + 50)
    cluster.nodes[0].stop()
    wait_for(lambda: len(world.requests(hook)) >= first + 500, "all events")
    check(world.requests(hook)[first:], Trace(), max_in_flight=5)
    assert sorted(world.numbers(hook)[first:]) == list(range(500))


def two_hooks_of_one_shard(cluster, world, node):
    """Each gets the events of the type that is its path's last part."""
    seen = {}
    for number in range(1000):
        hook = world.hook(f"{number}", events=[f"only.{number}"], timeout_ms=60_000)
        other = seen.setdefault(shard_of(hook.id), (hook, number))
        if other[0] is not hook and cluster.owner(hook) is node:
            return other, (hook, number)
    raise AssertionError("no two webhooks have the same shard")


def test_nobody_waits_for_a_hanging_receiver_while_its_node_stops(make_cluster, make_world):
    """The node keeps the shard until the request has ended, and works its other webhooks."""
    cluster = make_cluster(2, arguments=["--set", "drain_timeout_ms=200000"])
    world = make_world(cluster.nodes[1])
    leaving = cluster.nodes[0]
    (slow, slow_number), (quick, number) = two_hooks_of_one_shard(cluster, world, leaving)
    world.receiver.hold(slow.path)
    event = world.publish(f"only.{slow_number}")
    request, = world.wait_requests(slow, 1)
    wait_for(lambda: time.monotonic() - request.started > 1, "the request to take long")
    leaving.signal(signal.SIGTERM)
    wait_for(lambda: cluster.held(leaving) <= 1, "the other shards to be handed over", TAKEOVER_S)
    for count in range(1, 6):
        world.publish(f"only.{number}")
        world.wait_requests(quick, count)
    assert leaving.process.poll() is None, "it waits for the request"
    world.receiver.release(slow.path)
    assert world.wait_done(event["id"], slow)["status"] == "succeeded"
    assert leaving.wait() == 0
    cluster.nodes[1].stop()
    assert (len(world.requests(slow)), len(world.requests(quick))) == (1, 5)


def test_one_node_is_enough(pair):
    cluster, world = pair
    hooks = [world.hook(f"hook-{number}") for number in range(8)]
    cluster.nodes[0].kill()
    event = publish(cluster.nodes[1].api(), world)
    for hook in hooks:
        wait_for(lambda hook=hook: len(world.requests(hook)) == 1, f"the event at {hook.path}",
                 TAKEOVER_S)
        assert world.wait_done(event["id"], hook)["status"] == "succeeded"
