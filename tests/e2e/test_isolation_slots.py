"""Webhooks and tenants that hang do not take the slots of the others (P5)."""

import collections

import pytest

from harness import wait_for
from receiver import Reply
from silent import SilentReceiver

SLOTS = 400
THREADS = ("--io-threads", "4")
# Holds as many slots as it can, for as long as it can.
GREEDY = {"max_in_flight": 1000, "retry_config": {"timeout_ms": 300_000},
          "circuit_breaker_config": {"enabled": False}}


@pytest.fixture
def silent():
    receiver = SilentReceiver()
    yield receiver
    receiver.close()


@pytest.fixture
def start(own_server):
    def make(*settings, slots=SLOTS):
        flags = [flag for setting in (f"engine.in_flight_max={slots}", *settings)
                 for flag in ("--set", setting)]
        # Attempts that hang are not waited for at the end.
        return own_server(*THREADS, "--set", "drain_timeout_ms=100", *flags).start()
    return make


def publish(world, type, count):
    for begin in range(0, count, 100):
        world.publish_batch([{"type": type, "data": {"n": number}}
                             for number in range(begin, min(begin + 100, count))])


def hang(world, silent, webhooks=1, events=SLOTS, **fields):
    """Adds webhooks that hang, and events for them."""
    for number in range(webhooks):
        world.hook(f"silent-{number}", url=silent.url(f"/{number}"), events=["flood.*"], **fields)
    publish(world, "flood.event", events)


def expect_all(world, hook, count):
    publish(world, "probe.event", count)
    world.wait_requests(hook, count)
    assert sorted(world.numbers(hook)) == list(range(count))


def test_two_hostile_tenants_leave_room_for_a_third(start, make_world, silent):
    server = start()
    for _ in range(2):
        hang(make_world(server), silent, **GREEDY)
    wait_for(lambda: silent.count >= SLOTS // 4, "many attempts that hang")
    third = make_world(server)
    expect_all(third, third.hook("healthy"), 149)
    assert silent.count < SLOTS


def test_a_hostile_tenant_for_each_healthy_one(start, make_world, silent):
    server = start()
    healthy = []
    for _ in range(8):
        hang(make_world(server), silent, webhooks=2, events=100, **GREEDY)
        world = make_world(server)
        healthy.append((world, world.hook("healthy")))
    wait_for(lambda: silent.count >= SLOTS // 4, "many attempts that hang")
    for world, hook in healthy:
        publish(world, "probe.event", 50)
    for world, hook in healthy:
        world.wait_requests(hook, 50)


def test_hanging_webhooks_leave_room_for_one_of_the_same_tenant(start, make_world, silent):
    """With the default settings of a webhook."""
    world = make_world(start())
    healthy = world.hook("healthy", events=["probe.*"])
    hang(world, silent, webhooks=300, events=5)
    wait_for(lambda: silent.count >= SLOTS // 4, "many attempts that hang")
    expect_all(world, healthy, 200)


def test_half_of_the_webhooks_hang_in_many_tenants(start, make_world, silent):
    server = start()
    healthy = []
    for _ in range(10):
        world = make_world(server)
        healthy.append((world, world.hook("healthy", events=["*"])))
        hang(world, silent, webhooks=20, events=5)
    for world, hook in healthy:
        publish(world, "probe.event", 20)
    for world, hook in healthy:
        world.wait_requests(hook, 25)


@pytest.mark.parametrize("how", ["stop", "kill"])
def test_a_healthy_webhook_keeps_its_slot_over_a_restart(start, make_world, silent, how):
    server = start()
    world = make_world(server)
    healthy = world.hook("healthy", events=["probe.*"])
    expect_all(world, healthy, 10)
    hang(world, silent, webhooks=200, events=5)
    wait_for(lambda: silent.count >= SLOTS // 4, "many attempts that hang")
    before = silent.count
    getattr(server, how)()
    server.start()
    world.api.close()
    world.api = server.api()
    wait_for(lambda: silent.count >= before + SLOTS // 4, "attempts that hang after the restart")
    publish(world, "probe.event", 50)
    world.wait_requests(healthy, 60)


def test_a_silent_receiver_shrinks_to_one_request_at_a_time(start, make_world, silent):
    world = make_world(start())
    hook = world.hook("silent", url=silent.url(), events=["flood.*"], max_in_flight=50)
    publish(world, "flood.event", 100)

    def health():
        return world.api.get(f"/v1/webhooks/{hook.id}/health")
    assert health()["in_flight_limit"] == 50
    wait_for(lambda: health()["in_flight_limit"] == 1, "the limit to shrink")
    assert health()["in_flight"] == 50  # Those are not interrupted.
    assert health()["blocked"]["reason"] == "slots"


def test_a_receiver_that_answers_again_gets_its_requests_back(start, make_world):
    world = make_world(start())
    hook = world.hook("hook", max_in_flight=8)
    world.receiver.hold(hook.path)
    publish(world, "a.b", 40)

    def limit():
        return world.api.get(f"/v1/webhooks/{hook.id}/health")["in_flight_limit"]
    wait_for(lambda: limit() == 1, "the limit to shrink")
    world.receiver.release(hook.path)
    world.receiver.on(hook.path, Reply(200))
    world.wait_requests(hook, 40)
    wait_for(lambda: limit() == 8, "the limit to grow")


def test_every_webhook_gets_something_before_any_gets_everything(start, make_world):
    """100 healthy webhooks of one tenant, all with a backlog, share 64 slots."""
    world = make_world(start(slots=64))
    hooks = [world.hook(f"hook-{number}", Reply(200, delay=0.1)) for number in range(100)]
    events = 200
    publish(world, "a.b", events)

    def counts():
        found = collections.Counter(request.path for request in world.receiver.requests())
        return [found[hook.path] for hook in hooks]
    wait_for(lambda: min(now := counts()) > 0 or max(now) >= events, "requests to every webhook")
    assert min(counts()) > 0
    assert max(counts()) < events
