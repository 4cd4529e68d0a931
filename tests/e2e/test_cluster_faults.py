"""Three nodes and their database fail again and again: no event is lost, limits and order hold, and
a request is made twice only where something had failed (P1–P4, P7, P8)."""

import random
import signal

from cluster import TAKEOVER_S, ClusterPublisher
from harness import wait_for
from oracle import Trace, check
from proxy import Commit
from receiver import OK, Reply

ROUNDS = 20
RATE = (10, 5)  # Per second, burst.


class Storm:
    """The load, the faults and the judgement of one test."""

    def __init__(self, cluster, world, seed):
        self.cluster = cluster
        self.world = world
        self.choose = random.Random(seed)
        self.trace = Trace()
        slow = Reply(delay=0.02)
        # {event type: (webhook, what the oracle checks)}
        self.hooks = {
            "strict": (self._hook("strict", slow, ordering_guarantee="strict"),
                       {"max_in_flight": 1, "ordered": True}),
            "typed": (self._hook("typed", OK, ordering_guarantee="per_event_type"),
                      {"ordered": True}),
            "few": (self._hook("few", slow, max_in_flight=2), {"max_in_flight": 2}),
            "rated": (self._hook("rated", OK, rate_limit={
                "requests_per_second": RATE[0], "burst": RATE[1]}), {"rate": RATE}),
            "flaky": (self._hook("flaky", *[Reply(500), OK] * 5000, retry_config={
                "base_delay_ms": 50, "max_delay_ms": 200, "max_attempts": 50}), {})}
        self.publishers = [ClusterPublisher(cluster.nodes, world.tenant, event_type, number,
                                            pause_s=0.1 if event_type == "rated" else 0.03)
                           for number, event_type in enumerate(self.hooks)]

    def _hook(self, label, *script, **fields):
        return self.world.hook(label, *script, events=[label],
                               circuit_breaker_config={"enabled": False}, **fields)

    def _others(self, node):
        return [each for each in self.cluster.nodes if each is not node]

    def wait_progress(self, count=10):
        """Waits until each publisher had some more events acknowledged."""
        before = [len(publisher.acked) for publisher in self.publishers]
        wait_for(lambda: all(len(publisher.acked) >= seen + count
                             for publisher, seen in zip(self.publishers, before)),
                 "events to be acknowledged", TAKEOVER_S)

    # ------------------------------------------------------------ faults

    def kill(self, node):
        with self.trace.fault(f"kill -9 of {node.name}"):
            node.kill()
        self.wait_progress(3)
        node.start()

    def pause(self, node):
        """Beyond the end of its leases."""
        with self.trace.fault(f"pause of {node.name}"):
            node.signal(signal.SIGSTOP)
        self.cluster.wait_shared(*self._others(node))
        self.wait_progress(3)
        node.signal(signal.SIGCONT)
        wait_for(node.is_ready, f"{node.name} after its pause")
        wait_for(lambda: self.cluster.held(node) > 0, f"{node.name} to work again", TAKEOVER_S)

    def crash_database(self, _):
        with self.trace.fault("crash of the database"):
            self.cluster.postgres.crash()
            self.cluster.postgres.start()
            self.cluster.wait_ready()

    def cut_commit(self, node):
        how = self.choose.choice(list(Commit))
        with self.trace.fault(f"{node.name} is cut at a COMMIT ({how.name})"):
            done = node.proxy.cut_at_commit(how, self.choose.randint(1, 20))
            wait_for(done.is_set, "a COMMIT", TAKEOVER_S)
            wait_for(node.is_ready, f"{node.name} to connect again", TAKEOVER_S)

    def hang(self, node):
        """The network swallows everything between a node and the database for a lease."""
        with self.trace.fault(f"{node.name} cannot reach the database"):
            node.proxy.hang()
            self.cluster.wait_shared(*self._others(node))
            node.proxy.cut()
            node.proxy.resume()
            wait_for(node.is_ready, f"{node.name} to connect again", TAKEOVER_S)

    def restart(self, node):
        """In order: nothing is ambiguous."""
        node.stop()
        self.wait_progress(3)
        node.start()

    # ------------------------------------------------------------ judgement

    def finish(self):
        acked = {publisher.event_type: publisher.finish() for publisher in self.publishers}
        self.world.api = self.cluster.nodes[0].api()
        for event_type, (hook, _) in self.hooks.items():
            wanted = set(acked[event_type])
            assert len(wanted) == len(acked[event_type]), "an id was acknowledged twice"

            def missing(hook=hook, wanted=wanted):
                return wanted - {request.webhook_id for request in self.world.requests(hook)
                                 if request.answered == 200}
            wait_for(lambda: not missing(), f"every acknowledged event at {hook.path}",
                     6 * TAKEOVER_S)
        waiting = f"/v1/deliveries?tenant_id={self.world.tenant}&limit=1&status="
        wait_for(lambda: not any(self.world.api.get(waiting + status)["data"]
                                 for status in ("pending", "retrying")), "the record", TAKEOVER_S)
        assert self.world.api.get(waiting + "dead_letter")["data"] == []
        stored = self.world.api.all(f"/v1/events?tenant_id={self.world.tenant}")
        keys = [event["idempotency_key"] for event in stored]
        assert len(set(keys)) == len(keys), "an event was stored twice (P3)"
        for hook, limits in self.hooks.values():
            check(self.world.requests(hook), self.trace, **limits)


def test_twenty_rounds_of_faults_lose_nothing_and_keep_every_limit(make_cluster, make_world):
    cluster = make_cluster(settings={})
    seed = random.randrange(1_000_000)
    print(f"seed {seed}")
    storm = Storm(cluster, make_world(cluster.nodes[0]), seed)
    faults = [storm.kill, storm.pause, storm.crash_database, storm.cut_commit, storm.cut_commit,
              storm.hang, storm.restart]
    plan = [faults[number % len(faults)] for number in range(ROUNDS)]
    storm.choose.shuffle(plan)
    for fault in plan:
        storm.wait_progress()
        fault(storm.choose.choice(cluster.nodes))
    storm.finish()
    cluster.stop()


def test_a_rolling_restart_of_every_node_repeats_nothing(make_cluster, make_world):
    cluster = make_cluster()
    storm = Storm(cluster, make_world(cluster.nodes[0]), seed=1)
    for node in cluster.nodes:
        storm.wait_progress()
        storm.restart(node)
    storm.finish()
    assert storm.trace.faults == []
    cluster.stop()


def test_a_kill_while_an_event_is_fanned_out_to_a_thousand_webhooks(make_cluster, receiver):
    cluster = make_cluster(arguments=["--set", "limits.webhooks_per_tenant=0"])
    api = cluster.nodes[0].api()
    paths = [f"/thousand/{number}" for number in range(1000)]
    for path in paths:
        api.post("/v1/webhooks", {"url": receiver.url(path), "events": ["a.*"],
                                  "tenant_id": "acme"}, expect=201)
    event = cluster.nodes[1].api().post("/v1/events", {
        "type": "a.b", "tenant_id": "acme", "data": {"n": 0}}, expect=202)
    assert event["deliveries"] == 1000
    wait_for(lambda: receiver.count() >= 100, "the first requests")
    cluster.nodes[1].kill()
    wait_for(lambda: {request.path for request in receiver.requests()} >= set(paths),
             "a request to each webhook", TAKEOVER_S)
    found = cluster.nodes[2].api().all(f"/v1/deliveries?event_id={event['id']}")
    assert len({item["webhook_id"] for item in found}) == len(found) == 1000
    cluster.nodes[1].start()
    cluster.stop()


def test_a_paused_owner_sends_nothing_when_it_wakes_up(make_cluster, make_world):
    """Its lease has ended meanwhile, and its successor works the webhook."""
    cluster = make_cluster(2)
    first, second = cluster.nodes
    world = make_world(second)
    hook = cluster.hook_of(world, first, "strict", ordering_guarantee="strict")
    before = len(world.requests(hook))
    world.receiver.hold(hook.path)
    world.publish_numbered(50)
    world.wait_requests(hook, before + 1)
    first.signal(signal.SIGSTOP)
    world.receiver.release(hook.path)
    world.wait_requests(hook, before + 51)
    first.signal(signal.SIGCONT)
    wait_for(first.is_ready, "the paused node")
    wait_for(lambda: cluster.held(first) > 0, "the paused node to work again", TAKEOVER_S)
    world.wait_done(world.publish(data={"n": 50})["id"], hook)
    # Only the request that was in flight when the node was paused is repeated.
    assert world.numbers(hook)[before:] == [0, *range(51)]
    cluster.stop()
