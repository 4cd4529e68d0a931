"""Shared limits hold across all io threads, and one webhook can use them fully (P7)."""

import signal
import tomllib

import pytest

from harness import metric, metrics_page, run_command, wait_for
from receiver import Receiver, Reply

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
    busy = world.hook("busy", Reply(delay=0.005), events=["busy.*"])  # All take some seconds.
    for start in range(0, 2000, 1000):
        world.publish_batch([{"type": "busy.a", "data": {"n": number}}
                             for number in range(start, start + 1000)])
    world.wait_requests(busy, 50)
    others = [world.hook(f"other-{number}", events=["other.*"]) for number in range(6)]
    world.publish("other.a")
    wait_total(world, others, 6)
    assert world.receiver.count(busy.path) < 2000


# ---------------------------------------------------------------- requests to one host

def peak_of(requests, lasting=None):
    """The highest number of requests that ran at the same time.

    `lasting`: how long each ran at least. For requests to several receivers: their threads may
    note the end of a request after the beginning of the next one.
    """
    changes = [(request.started, 1) for request in requests]
    changes += [(request.started + lasting if lasting else request.ended, -1)
                for request in requests if lasting or request.ended]
    running = peak = 0
    for _, change in sorted(changes):
        running += change
        peak = max(peak, running)
    return peak


@pytest.fixture
def second_receiver():
    receiver = Receiver().start()
    yield receiver
    receiver.stop()


def test_the_limit_of_a_host_holds_over_webhooks_tenants_ports_and_threads(
        limited_world, second_receiver):
    world = limited_world("limits.per_host_in_flight=3")
    receivers = [world.receiver, second_receiver]
    tenants = [f"{world.tenant}-{number}" for number in range(4)]
    for number in range(12):
        path, receiver = world.path(f"hook-{number}"), receivers[number % 2]
        receiver.on(path, Reply(delay=0.05))
        world.api.post("/v1/webhooks", {"url": receiver.url(path), "events": ["*"],
                                        "tenant_id": tenants[number % 4]}, expect=201)
    world.api.post("/v1/events/batch", {"events": [
        {"type": "a.b", "data": number, "tenant_id": tenants[number % 4],
         "priority": ("high", "normal", "low")[number % 3]} for number in range(60)]}, expect=202)

    def requests():
        return [request for receiver in receivers for request in receiver.requests()
                if request.path.startswith(f"/{world.tenant}/")]
    wait_for(lambda: len(requests()) >= 180 and all(each.ended for each in requests()),
             "60 events for 3 webhooks each")
    assert len(requests()) == 180
    assert peak_of(requests(), lasting=0.05) == 3


def test_a_full_host_blocks_only_its_own_webhooks_and_the_next_one_is_woken(limited_world):
    world = limited_world("limits.per_host_in_flight=1")
    held = world.hook("held", events=["held"])
    world.receiver.hold(held.path)
    world.publish("held")
    world.wait_requests(held, 1)
    waiting = [world.hook(f"waiting-{number}", events=["waiting"]) for number in range(6)]
    event = world.publish("waiting")["id"]
    for hook in waiting:
        assert world.wait_blocked(event, hook)["blocked"]["reason"] == "slots"

    # A name is another host than the address it stands for. Its spelling does not matter.
    named = [world.hook(f"named-{number}", events=["named"], url=world.receiver.url(
        world.path(f"named-{number}")).replace("127.0.0.1", name))
        for number, name in enumerate(("localhost", "LOCALHOST."))]
    for hook in named:
        world.receiver.on(hook.path, Reply(delay=0.05))
    for _ in range(5):
        world.publish("named")
    wait_total(world, named, 10)
    assert peak_of([each for hook in named for each in world.requests(hook)]) == 1
    assert total_requests(world, waiting) == 0

    world.receiver.release(held.path)
    wait_total(world, waiting, 6)
    for hook in waiting:
        assert world.wait_done(event, hook)["status"] == "succeeded"


def test_a_moved_or_deleted_webhook_returns_the_slot_of_the_old_host(limited_world):
    world = limited_world("limits.per_host_in_flight=2")
    moved = world.hook("moved", events=["first"])
    deleted = world.hook("deleted", events=["first"])
    for hook in (moved, deleted):
        world.receiver.hold(hook.path)
    world.publish("first")
    wait_total(world, [moved, deleted], 2)
    waiting = [world.hook(f"waiting-{number}", events=["second"]) for number in range(3)]
    event = world.publish("second")["id"]
    world.api.patch(f"/v1/webhooks/{moved.id}",
                    {"url": world.receiver.url("/elsewhere").replace("127.0.0.1", "localhost")})
    world.api.delete(f"/v1/webhooks/{deleted.id}")
    world.publish("first")
    wait_for(lambda: world.receiver.count("/elsewhere") == 1, "a request to the new host")
    assert total_requests(world, waiting) == 0, "both slots of the old host are still taken"
    for hook in (moved, deleted):
        world.receiver.release(hook.path)
    for hook in waiting:
        assert world.wait_done(event, hook)["status"] == "succeeded"


def test_a_full_host_costs_no_token_and_survives_a_crash(own_server, make_world):
    server = own_server("--set", "limits.per_host_in_flight=1").start()
    world = make_world(server)
    held = world.hook("held", events=["held"])
    world.receiver.hold(held.path)
    world.publish("held")
    world.wait_requests(held, 1)
    limited = world.hook("limited", events=["limited"],
                         rate_limit={"requests_per_minute": 1, "burst": 2})
    for _ in range(2):
        world.wait_blocked(world.publish("limited")["id"], limited)
    tokens = f'webhook_rate_limit_tokens_available{{webhook_id="{limited.id}"}}'
    assert metric(metrics_page(world.api), tokens) == 2

    server.signal(signal.SIGKILL)
    server.wait()
    world.api.close()
    server.start()
    world.api = server.api()
    world.receiver.release(held.path)
    world.wait_requests(held, 2)


def test_the_platform_profile_sends_five_requests_to_a_host(own_server, make_world):
    world = make_world(own_server("--profile", "platform", *THREADS).start())
    hooks = [world.hook(f"hook-{number}") for number in range(8)]
    for hook in hooks:
        world.receiver.hold(hook.path)
    for _ in range(2):
        world.publish()
    wait_total(world, hooks, 5)
    for hook in hooks:
        world.receiver.release(hook.path)
    wait_total(world, hooks, 16)
    assert peak_of([each for hook in hooks for each in world.requests(hook)]) == 5


def test_without_a_setting_hosts_are_not_limited():
    _, stdout, _ = run_command("serve", "--print-config")
    assert tomllib.loads(stdout)["limits"]["per_host_in_flight"] == 0
    status, _, stderr = run_command("serve", "--print-config", "--set",
                                    "limits.per_host_in_flight=-1")
    assert status != 0 and "limits.per_host_in_flight" in stderr


# ---------------------------------------------------------------- the workspace profile

@pytest.mark.parametrize("webhooks", [1, 5])
def test_one_workspace_has_fifty_requests_in_flight(own_server, make_world, webhooks):
    world = make_world(own_server("--profile", "workspace", *THREADS).start())
    hooks = [world.hook(f"hook-{number}") for number in range(webhooks)]
    for hook in hooks:
        world.receiver.hold(hook.path)
    world.publish_batch([{"type": "a.b", "data": number} for number in range(120 // webhooks)])
    wait_total(world, hooks, 50)
    for hook in hooks:
        world.receiver.release(hook.path)
    wait_total(world, hooks, 120)
    assert peak_of([each for hook in hooks for each in world.requests(hook)]) == 50
