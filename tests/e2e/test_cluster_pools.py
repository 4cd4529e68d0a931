"""A tenant that is bound to a pool is worked only by the nodes of that pool."""

import pytest

from cluster import TAKEOVER_S, ClusterPublisher, publish
from harness import wait_for
from oracle import Trace, check


@pytest.fixture
def pools(make_cluster, make_world):
    """Two nodes of the default pool and one of the pool `big`, and a world of a bound tenant."""
    cluster = make_cluster(2)
    big = cluster.add("--set", "cluster.pool=big")
    big.pool = "big"
    big.start()
    cluster.wait_shared(big)
    world = make_world(cluster.nodes[0])
    world.api.post("/v1/tenants", {"id": world.tenant, "pool": "big"}, expect=201)
    return cluster, big, world


def test_a_bound_tenant_is_worked_by_its_pool_alone(pools, make_world):
    cluster, big, world = pools
    free = make_world(cluster.nodes[1])
    # Those that a node hears of together with the binding rest for the longest timeout, too.
    bound_hooks = [world.hook(f"hook-{number}", timeout_ms=1000) for number in range(10)]
    free_hooks = [free.hook(f"hook-{number}") for number in range(10)]
    for number in range(6):
        for each in (world, free):
            publish(cluster.nodes[number % 3].api(), each, data={"n": number})
    for each, hooks in ((world, bound_hooks), (free, free_hooks)):
        for hook in hooks:
            each.wait_requests(hook, 6)
            assert sorted(each.numbers(hook)) == list(range(6))
    wait_for(lambda: all(cluster.latest_sender(hook) for hook in bound_hooks + free_hooks),
             "the log of the attempts")
    assert {cluster.latest_sender(hook) for hook in bound_hooks} == {big}
    assert {cluster.latest_sender(hook) for hook in free_hooks} == set(cluster.nodes[:2])


def test_without_a_node_of_its_pool_a_tenant_waits_and_loses_nothing(pools, make_world):
    cluster, big, world = pools
    hook = world.hook(timeout_ms=1000)
    control = make_world(cluster.nodes[1])
    other = control.hook(timeout_ms=1000)
    big.kill()
    for number in range(5):
        publish(cluster.nodes[number % 2].api(), world, data={"n": number})
    control.wait_done(control.publish()["id"], other)
    assert world.requests(hook) == []
    big.start()
    world.wait_requests(hook, 5)
    assert sorted(world.numbers(hook)) == list(range(5))


def test_a_server_that_starts_after_the_binding_waits_for_attempts_of_the_others(
        make_cluster, make_world):
    cluster = make_cluster(2)
    world, control = make_world(cluster.nodes[0]), make_world(cluster.nodes[1])
    hook = world.hook(timeout_ms=12_000, ordering_guarantee="strict")
    other = control.hook(timeout_ms=1000)
    world.receiver.hold(hook.path)
    world.publish(data={"n": 0})
    world.wait_requests(hook, 1)
    for each in (world, control):
        each.api.post("/v1/tenants", {"id": each.tenant, "pool": "big"}, expect=201)
    cluster.sql("UPDATE registered_tenant SET created_at = 0 WHERE id = %s", [control.tenant])
    big = cluster.add("--set", "cluster.pool=big")
    big.pool = "big"
    big.start()
    cluster.wait_shared(big)
    world.publish(data={"n": 1})
    control.wait_done(control.publish()["id"], other)  # By then `big` has taken all shards.
    assert world.numbers(hook) == [0]
    world.receiver.release(hook.path)
    wait_for(lambda: len(world.requests(hook)) >= 2, "the next event", TAKEOVER_S)
    assert world.numbers(hook) == [0, 1]
    check(world.requests(hook), Trace(), max_in_flight=1, ordered=True)


def test_operations_on_a_bound_tenant_can_be_asked_of_any_node(pools):
    cluster, _, world = pools
    hook = world.hook(timeout_ms=1000)
    world.wait_done(world.publish()["id"], hook)  # It may rest at first.
    for node in cluster.nodes:
        answer = node.api().post(f"/v1/webhooks/{hook.id}/test")
        assert answer["attempt"]["status"] == "succeeded"
        node.api().patch(f"/v1/webhooks/{hook.id}/circuit-breaker", {"action": "force_open"})
        world.wait_circuit(hook, "open")
        node.api().patch(f"/v1/webhooks/{hook.id}/circuit-breaker", {"action": "reset"})
        world.wait_circuit(hook, "closed")


def test_a_tenant_moves_when_it_is_bound_and_back_when_it_is_unbound(make_cluster, make_world):
    cluster = make_cluster(2)
    big = cluster.add("--set", "cluster.pool=big")
    big.pool = "big"
    big.start()
    cluster.wait_shared(big)
    world = make_world(cluster.nodes[0])
    # The new pool waits until no attempt of the old one can be in flight.
    hooks = [world.hook(f"hook-{number}", timeout_ms=1000, ordering_guarantee="strict")
             for number in range(4)]
    publisher = ClusterPublisher(cluster.nodes, world.tenant, "a.b", pause_s=0.1)

    def wait_sent_by(nodes):
        """Waits until each webhook's latest attempt is one of these nodes'."""
        wait_for(lambda: all(cluster.latest_sender(hook) in nodes for hook in hooks),
                 "the move of the tenant", TAKEOVER_S)
    wait_sent_by(cluster.nodes[:2])
    world.api.post("/v1/tenants", {"id": world.tenant, "pool": "big"}, expect=201)
    wait_sent_by([big])
    # No request of the API changes the pool of a tenant.
    cluster.sql("UPDATE registered_tenant SET pool = NULL")
    wait_sent_by(cluster.nodes[:2])
    acked = set(publisher.finish())
    for hook in hooks:
        wait_for(lambda hook=hook: acked <= {each.webhook_id for each in world.requests(hook)},
                 f"every event at {hook.path}", TAKEOVER_S)
        check(world.requests(hook), Trace(), max_in_flight=1, ordered=True)
