"""The database of a cluster is away, read-only, full or behind a pool: publishing is refused
meanwhile, nothing is lost, and everything resumes (P1, P2, P6)."""

import contextlib
import time

import psycopg2
import pytest

from cluster import TAKEOVER_S, Cluster, ClusterPublisher, publish
from harness import refuses_publishing, wait_for
from oracle import Trace, check
from pgbouncer import PgBouncer
from receiver import Reply
from standby import Standby
from stores import PostgresServer


@pytest.fixture
def load(make_world):
    """Starts publishers on a cluster. The test ends with `finish`: nothing may be missing."""
    def make(cluster):
        return Load(cluster, make_world(cluster.nodes[0]))
    return make


class Load:
    def __init__(self, cluster, world):
        self.cluster = cluster
        self.world = world
        self.trace = Trace()
        self.hooks = [world.hook(f"load-{number}", events=[f"load.{number}"], max_in_flight=4)
                      for number in range(3)]
        self.strict = world.hook("strict", events=["load.strict"], ordering_guarantee="strict")
        types = ["load.0", "load.1", "load.2", "load.strict"]
        self.publishers = [ClusterPublisher(cluster.nodes, world.tenant, event_type, number, 0.02)
                           for number, event_type in enumerate(types)]

    def acked(self):
        return sum(len(publisher.acked) for publisher in self.publishers)

    def wait_progress(self, count=40):
        before = self.acked()
        wait_for(lambda: self.acked() >= before + count, "events to be acknowledged", TAKEOVER_S)

    def finish(self):
        for publisher, hook in zip(self.publishers, [*self.hooks, self.strict]):
            wanted = set(publisher.finish())

            def arrived(hook=hook, wanted=wanted):
                return wanted <= {request.webhook_id for request in self.world.requests(hook)
                                  if request.answered == 200}
            wait_for(arrived, f"every acknowledged event at {hook.path}", 2 * TAKEOVER_S)
        for hook in self.hooks:
            check(self.world.requests(hook), self.trace, max_in_flight=4)
        check(self.world.requests(self.strict), self.trace, max_in_flight=1, ordered=True)


def all_refuse(cluster):
    return all(refuses_publishing(node.api()) for node in cluster.nodes)


def test_while_the_database_is_away_publishing_is_refused_and_nothing_is_lost(make_cluster, load):
    cluster = make_cluster(settings={})
    running = load(cluster)
    running.wait_progress()
    begun = time.monotonic()
    with running.trace.fault("no database"):
        cluster.postgres.stop()
        wait_for(lambda: all_refuse(cluster), "publishing to be refused")
        for node in cluster.nodes:
            refused = node.api().request("POST", "/v1/events", {"type": "a.b", "data": 1})
            assert refused.status == 503 and int(refused.headers["retry-after"]) >= 1
            assert node.api().request("GET", "/readyz").status == 503
            assert node.api().request("GET", "/healthz").status == 200
            wait_for(lambda node=node: "cluster.turn_failed" in node.output(), "the log")
        cluster.postgres.start()
        cluster.wait_ready()
    for node in cluster.nodes:
        lines = node.output().count("cluster.turn_failed")
        assert lines <= 2 + (time.monotonic() - begun) / 10, "the log is filled"
    running.wait_progress()
    running.finish()
    cluster.stop()


def test_a_server_that_only_reads_refuses_publishes(tmp_path, make_world):
    """As when the address of the database leads to a standby for a while."""
    with contextlib.ExitStack() as ends:
        postgres = ends.enter_context(PostgresServer(settings={"max_connections": 100}))
        standby = ends.enter_context(Standby(postgres))
        cluster = Cluster(tmp_path, postgres)
        ends.callback(cluster.end)
        cluster.start()
        running = Load(cluster, make_world(cluster.nodes[0]))
        running.wait_progress()
        with running.trace.fault("read-only"):
            for node in cluster.nodes:
                node.proxy.server_port = standby.port
                node.proxy.cut()
            wait_for(lambda: all_refuse(cluster), "publishing to be refused")
            before = running.acked()
            for node in cluster.nodes:
                node.proxy.cut()  # What they connect to now is read-only too.
            wait_for(lambda: all_refuse(cluster), "publishing to be refused again")
            assert running.acked() == before
            for node in cluster.nodes:
                node.proxy.server_port = postgres.port
                node.proxy.cut()
            cluster.wait_ready()
        running.wait_progress()
        running.finish()
        cluster.stop()


def test_when_all_connections_are_taken_nodes_wait_and_recover(make_cluster, load):
    cluster = make_cluster(settings={"max_connections": 60})
    running = load(cluster)
    running.wait_progress()
    with running.trace.fault("no connection is left"), contextlib.ExitStack() as taken:
        for node in cluster.nodes:
            node.proxy.refuse()
        own = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'app'"
        wait_for(lambda: cluster.sql(own) == [(0,)], "the connections of the nodes to end")
        with contextlib.suppress(psycopg2.OperationalError):
            while True:
                taken.enter_context(contextlib.closing(
                    psycopg2.connect(cluster.address(cluster.postgres.port))))
        for node in cluster.nodes:
            node.proxy.resume()
        for node in cluster.nodes:
            wait_for(lambda node=node: "too many clients" in node.output()
                     or "remaining connection slots" in node.output(), "the reason in the log")
        assert all_refuse(cluster)
        taken.close()
        cluster.wait_ready()
    running.wait_progress()
    running.finish()
    cluster.stop()


def test_no_acknowledged_event_is_lost_when_a_synchronous_standby_takes_over(
        tmp_path, make_world):
    # What survives is what the other machine has, so neither needs to wait for its disk.
    with PostgresServer(settings={"max_connections": 100}) as primary:
        standby = Standby(primary)
        with contextlib.closing(standby), PairedCluster(tmp_path, primary, standby) as cluster:
            standby.start()
            standby.make_synchronous()
            cluster.start()
            running = Load(cluster, make_world(cluster.nodes[0]))
            running.wait_progress()
            with running.trace.fault("failover"):
                primary.kill()
                wait_for(lambda: all_refuse(cluster), "publishing to be refused")
                standby.promote()
                cluster.wait_ready()
            running.wait_progress()
            running.finish()
            cluster.stop()


class PairedCluster(Cluster):
    """Its nodes know the primary and the standby, and connect to the one that accepts writes."""

    def __init__(self, directory, primary, standby):
        super().__init__(directory, primary)
        self.standby = standby

    def address(self, port):
        head, _, path = self.postgres.address(port, self.database).rpartition("/")
        return f"{head},127.0.0.1:{self.standby.port}/{path}?target_session_attrs=read-write"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()


def test_behind_a_pool_in_transaction_mode_nodes_find_each_others_work(tmp_path, make_world):
    with PostgresServer(fsync=True) as postgres, contextlib.ExitStack() as ends:
        cluster = PooledCluster(tmp_path, postgres)
        ends.callback(cluster.end)
        cluster.pool = ends.enter_context(PgBouncer(postgres, cluster.database, pool_size=20))
        cluster.start()
        world = make_world(cluster.nodes[0])
        hooks = [world.hook(f"hook-{number}", Reply()) for number in range(6)]
        for number in range(30):
            publish(cluster.nodes[number % 3].api(), world, data={"n": number})
        for hook in hooks:
            world.wait_requests(hook, 30)
            assert sorted(world.numbers(hook)) == list(range(30))
        late = world.hook("late", events=["late.type"])
        assert publish(cluster.nodes[2].api(), world, "late.type")["deliveries"] == 7
        world.wait_requests(late, 1)
        running = Load(cluster, world)
        running.wait_progress()
        with running.trace.fault("kill -9"):
            cluster.nodes[1].kill()
            running.wait_progress()
            cluster.nodes[1].start()
        running.finish()
        cluster.stop()


class PooledCluster(Cluster):
    """Its nodes connect to a pool, without the proxies between them."""

    pool = None

    def address(self, _):
        return self.pool.address
