"""Several servers on one PostgreSQL database, and publishers that use all of them."""

import collections
import concurrent.futures
import contextlib
import http.client
import itertools
import pathlib
import random
import re
import sys
import threading

from harness import DEADLINE, ROOT, SLOWNESS, Server, wait_for

sys.path.insert(0, str(ROOT / "tests" / "servers"))

from proxy import Proxy  # noqa: E402

SHARDS = 256
LEASE_MS = int(3000 * SLOWNESS)
# A lease that has ended is taken within this time.
TAKEOVER_S = LEASE_MS / 1000 * 4 + DEADLINE

_databases = itertools.count(1)


def shard_of(webhook_id):
    """The number of the shard: FNV-1a of the id's 16 bytes."""
    number = 0
    for digit in webhook_id.partition("_")[2]:
        number = number * 32 + "0123456789abcdefghjkmnpqrstvwxyz".index(digit)
    digest = 14695981039346656037
    for byte in number.to_bytes(16, "big"):
        digest = (digest ^ byte) * 1099511628211 % 2 ** 64
    return digest % SHARDS


class Node(Server):
    """A server of a cluster, with a proxy of its own between it and the database."""

    def __init__(self, directory, address, proxy, arguments=()):
        # `address` takes a port: that of the proxy.
        self.name = pathlib.Path(directory).name
        super().__init__(directory, ["--allow-private-targets", "--allow-http",
                                     "--set", f"cluster.lease_ms={LEASE_MS}",
                                     "--set", f"cluster.address={self.name}", *arguments],
                         {"POSTRIDER_STORE": address(proxy.port)})
        self.proxy = proxy
        self.pool = ""

    def is_ready(self):
        with contextlib.closing(self.api(timeout=5)) as client:
            with contextlib.suppress(OSError, http.client.HTTPException):
                return client.request("GET", "/readyz").status == 200
        return False

    def end(self):
        """Kills it, whatever state it is in."""
        self.kill()
        self.proxy.stop()


class Cluster:
    """`postgres` is a PostgresServer. Each node has a directory below `directory`."""

    def __init__(self, directory, postgres, arguments=()):
        self.directory = directory
        self.postgres = postgres
        self.arguments = list(arguments)
        self.database = f"cluster_{next(_databases)}"
        postgres.make_database(self.database)
        self.nodes = []

    def address(self, port):
        return self.postgres.address(port, self.database)

    def add(self, *arguments):
        """A node that is not started yet."""
        directory = self.directory / f"node-{len(self.nodes)}"
        directory.mkdir(parents=True)
        proxy = Proxy(self.postgres.port, reads_messages=True).start()
        self.nodes.append(Node(directory, self.address, proxy, [*self.arguments, *arguments]))
        return self.nodes[-1]

    def start(self, count=3):
        """Starts `count` nodes and waits until they share the work."""
        nodes = [self.add() for _ in range(count)]
        nodes[0].start()  # It migrates the database.
        in_parallel(Server.start, nodes[1:])
        self.wait_shared()
        return self

    def running(self):
        return [node for node in self.nodes if node.process is not None]

    def wait_ready(self):
        """Waits until all nodes accept publishes."""
        wait_for(lambda: all(node.is_ready() for node in self.nodes), "all nodes", TAKEOVER_S)

    def leases(self, pool=""):
        """{shard: name of the node}, as the database has it. Leases that have ended are left out,
        and so are those of a node that was started again since."""
        return dict(self.sql(
            "WITH clock AS (SELECT steady - wall + extract(epoch FROM clock_timestamp()) * 1000"
            "                      AS now FROM lease_clock),"
            " latest AS (SELECT DISTINCT ON (address) id, address FROM node"
            "             ORDER BY address, joined_at DESC)"
            " SELECT shard, address FROM shard_lease s JOIN latest n ON n.id = s.owner, clock"
            "  WHERE s.pool = %s AND s.expires_at > now", (pool,)))

    def held(self, node):
        """The number of shards that it holds."""
        return collections.Counter(self.leases(node.pool).values())[node.name]

    def wait_shared(self, *nodes):
        """Waits until these nodes (default: the running ones) hold all shards in equal parts."""
        nodes = nodes or self.running()

        def shared():
            held = [self.held(node) for node in nodes]
            return sum(held) == SHARDS and max(held) - min(held) <= 1
        wait_for(shared, "the nodes to share the shards", TAKEOVER_S)

    def owner(self, hook):
        """The node of the default pool that has the lease of a webhook."""
        name = self.leases().get(shard_of(hook.id))
        return next((node for node in self.nodes if node.name == name), None)

    def latest_sender(self, hook):
        """The node that made the latest attempt."""
        found = [(when, node) for node in self.nodes
                 for when in re.findall(rf"^(\S+) .*delivery\.attempted .*\b{hook.id}\b",
                                        node.output(), re.MULTILINE)]
        return max(found, key=lambda each: each[0])[1] if found else None

    def hook_of(self, world, node, label, /, *script, **fields):
        """Creates webhooks until `node` works one, and returns that one. Deletes the others."""
        for number in range(60):
            hook = world.hook(f"{label}-{number}", *script, **fields)
            if self.owner(hook) is node:
                return hook
            world.api.delete(f"/v1/webhooks/{hook.id}")
        raise AssertionError(f"none of 60 webhooks is worked by {node.name}")

    def sql(self, statement, values=None):
        """As the superuser, directly."""
        address = self.postgres.admin_address(self.database)
        with contextlib.closing(self.postgres.connect(address)) as connection:
            with connection.cursor() as cursor:
                cursor.execute(statement, values)
                return cursor.fetchall() if cursor.description else []

    def stop(self):
        """Each node must drain and exit with 0."""
        in_parallel(Server.stop, self.nodes)

    def end(self):
        for node in self.nodes:
            node.end()


def publish(api, world, type="order.created", expect=202, **fields):
    """Publishes to the node of a client. (World.publish: to the first node.)"""
    body = {"type": type, "tenant_id": world.tenant, "data": {"n": 0}, **fields}
    return api.post("/v1/events", body, expect=expect)


def in_parallel(action, items):
    with concurrent.futures.ThreadPoolExecutor(max(len(items), 1)) as pool:
        return list(pool.map(action, items))


class ClusterPublisher(threading.Thread):
    """Publishes events with the numbers 0, 1, 2, … one after the other, each to a node chosen at
    random. Repeats a publish, with the same key, until it is acknowledged."""

    def __init__(self, nodes, tenant, event_type, seed=0, pause_s=0.01):
        super().__init__(daemon=True)
        self.nodes = nodes
        self.tenant = tenant
        self.event_type = event_type
        self.acked = []  # The id of the event with each number.
        self.answers = collections.Counter()  # By status; "none" if there was no answer.
        self.stopping = threading.Event()
        self._random = random.Random(seed)
        self._pause_s = pause_s
        self._clients = {}  # {node: client}
        self.start()

    def run(self):
        while not self.stopping.is_set():
            event_id = self._publish(len(self.acked))
            if event_id:
                self.acked.append(event_id)
            self.stopping.wait(self._pause_s)

    def _publish(self, number):
        """Returns the id of the event, or None if the test is over."""
        body = {"type": self.event_type, "tenant_id": self.tenant, "data": {"n": number},
                "idempotency_key": f"{self.event_type}-{number}"}
        while not self.stopping.is_set():
            node = self._random.choice(self.nodes)
            try:
                answer = self._client(node).request("POST", "/v1/events", body)
            except (OSError, http.client.HTTPException):
                self.answers["none"] += 1
                self._clients.pop(node, None)
                self.stopping.wait(0.02)
                continue
            self.answers[answer.status] += 1
            if answer.status in (200, 202):
                return answer.json["id"]
            if answer.status == 503:
                assert int(answer.headers["retry-after"]) >= 1
            self.stopping.wait(0.02)
        return None

    def _client(self, node):
        client = self._clients.get(node)
        if client is None or client.port != node.port:
            client = self._clients[node] = node.api(timeout=2.0 * SLOWNESS)
        return client

    def finish(self):
        """Ends it. Returns the acknowledged events."""
        self.stopping.set()
        self.join(DEADLINE)
        assert not self.is_alive()
        assert set(self.answers) <= {200, 202, 503, "none"}, self.answers
        return self.acked
