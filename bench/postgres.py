#!/usr/bin/python3
"""Measures servers that share a PostgreSQL database: rates relative to wrk, what a delivery costs
the database, how long webhooks wait after a server was killed, and what idle servers cost.

Everything runs on this machine: PostgreSQL with its usual durability, the servers, the publishers
and the receiver. So a second server shows what sharing costs and not what it gains. All ids are
reconciled at the receiver and in the database.
"""

import argparse
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import run
from sources import TimingReceiver

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "servers"))
import postgres  # noqa: E402

WEBHOOKS = 16  # Enough that each of two servers works some.
CONNECTIONS = 64
SHARDS = 256
DEFAULT_LEASE_MS = 15_000
SHORT_LEASE_MS = 3_000
# As the guide recommends, for the memory of a small machine.
SETTINGS = {"shared_buffers": "256MB", "max_wal_size": "2GB"}


class Database:
    """One database of a PostgreSQL server, and what was done to it since `mark`."""

    def __init__(self, server):
        self.server = server
        self.name = f"bench_{time.monotonic_ns()}"
        self.address = server.make_database(self.name)
        self.before = None

    def sql(self, statement, *values):
        address = self.server.admin_address(self.name)
        with contextlib.closing(self.server.connect(address)) as connection:
            with connection.cursor() as cursor:
                cursor.execute(statement, values)
                return cursor.fetchall() if cursor.description else []

    def statements(self):
        """Also BEGIN and COMMIT. Of all roles but this script's.

        pg_stat_statements counts prepared BEGIN and COMMIT only when they run for the first time,
        so they are counted by the marks of the transactions that write.
        """
        counted = self.sql(
            "SELECT coalesce(sum(calls), 0) FROM pg_stat_statements s"
            "  JOIN pg_roles r ON r.oid = s.userid JOIN pg_database d ON d.oid = s.dbid"
            " WHERE rolname = %s AND datname = %s", postgres.USER, self.name)[0][0]
        transactions = self.sql("SELECT coalesce(sum(number), 0) FROM commit_mark")[0][0]
        return int(counted) + 2 * int(transactions)

    def log_bytes(self):
        return int(self.sql("SELECT pg_current_wal_lsn() - '0/0'")[0][0])

    def table_bytes(self):
        return int(self.sql("SELECT pg_database_size(current_database())")[0][0])

    def mark(self):
        self.before = (self.statements(), self.log_bytes(), self.table_bytes())

    def costs(self, count):
        """Of each of `count` deliveries."""
        now = (self.statements(), self.log_bytes(), self.table_bytes())
        names = ("statements", "log_bytes", "table_bytes")
        return {name: (after - before) / count
                for name, after, before in zip(names, now, self.before)}

    def waiting(self):
        return self.sql("SELECT count(*) FROM waiting")[0][0]

    def states(self):
        """The number of deliveries that have ended, by state."""
        return dict(self.sql("SELECT state, count(*) FROM delivery GROUP BY state"))


class Node:
    """A server with a data directory and a port of its own."""

    def __init__(self, directory, database, lease_ms):
        self.port = run.free_port()
        self.base = f"http://127.0.0.1:{self.port}"
        self.command = [
            run.BUILD / "postrider", "serve", "--data", directory, "--listen",
            f"127.0.0.1:{self.port}", "--allow-private-targets", "--allow-http", "--log-level",
            "error", "--set", f"cluster.lease_ms={lease_ms}"]
        self.environment = {**os.environ, "POSTRIDER_ADMIN_KEY": run.KEY,
                            "POSTRIDER_STORE": database.address}
        self.process = None

    def start(self):
        self.process = subprocess.Popen([str(word) for word in self.command],
                                        env=self.environment, stdout=subprocess.DEVNULL)
        run.wait_until(lambda: run.is_ready(self.base), 60, "the server is ready")

    def kill(self):
        self.process.kill()
        self.process.wait(20)

    def end(self):
        if self.process is None or self.process.poll() is not None:
            return
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.kill()


@contextlib.contextmanager
def cluster(server, directory, count, lease_ms=SHORT_LEASE_MS):
    """Yields a new database and `count` servers that share its webhooks."""
    database = Database(server)
    database.sql("CREATE EXTENSION pg_stat_statements")
    nodes = [Node(pathlib.Path(directory) / f"{database.name}-{number}", database, lease_ms)
             for number in range(count)]
    try:
        for node in nodes:
            node.start()
        wait_shared(nodes)
        yield database, nodes
    finally:
        for node in nodes:
            node.end()


def wait_shared(nodes):
    def shared():
        seen = json.loads(run.call("GET", f"{nodes[0].base}/v1/nodes"))["data"]
        shards = [node["shards"] for node in seen if not node["leaving"]]
        return (len(shards) == len(nodes) and sum(shards) == SHARDS
                and max(shards) - min(shards) <= 1)
    run.wait_until(shared, 120, "the servers share the webhooks")


def add_webhooks(base, receiver_port):
    """Each gets the events of one type, so that an event makes one delivery."""
    for number in range(WEBHOOKS):
        run.call("POST", f"{base}/v1/webhooks", {
            "url": f"http://127.0.0.1:{receiver_port}/hook{number}",
            "events": [f"bench.event{number}"], "max_in_flight": 64})


def publish_all(nodes, count, batch, directory):
    """Each server gets an equal part. Returns the acknowledged ids."""
    part = count // len(nodes)
    files = [pathlib.Path(directory) / f"ids-{node.port}" for node in nodes]
    publishers = [subprocess.Popen(
        [run.BUILD / "bench_publisher", str(node.port), run.KEY, str(part),
         str(CONNECTIONS // len(nodes)), str(batch), str(file), str(WEBHOOKS)],
        stdout=subprocess.DEVNULL) for node, file in zip(nodes, files)]
    if any(publisher.wait(300) != 0 for publisher in publishers):
        sys.exit("bench: a publisher failed")
    return [event_id for file in files for event_id in file.read_text().split()]


def measure_rate(server, directory, count, options):
    """`options`: the number of servers and the size of batches."""
    nodes_count, batch = options
    with run.start_receiver() as receiver, \
            cluster(server, directory, nodes_count, DEFAULT_LEASE_MS) as (database, nodes):
        receiver_port = int(receiver.stdout.readline())
        base = f"http://127.0.0.1:{receiver_port}"
        add_webhooks(nodes[0].base, receiver_port)
        database.mark()
        begun = time.monotonic()
        acknowledged = publish_all(nodes, count, batch, directory)
        run.wait_until(lambda: int(run.call("GET", f"{base}/count").split()[0]) >= count, 300,
                       "everything was delivered")
        delivered = time.monotonic() - begun
        run.wait_until(lambda: database.waiting() == 0, 60, "everything is recorded")
        costs = database.costs(count)
        seen = set(run.call("GET", f"{base}/ids").split())
        reconcile(count, acknowledged, seen, database.states())
    return {"nodes": nodes_count, "batch": batch, "rate": count / delivered, **costs}


def reconcile(count, acknowledged, seen, states):
    if len(acknowledged) != count or seen != set(acknowledged):
        sys.exit(f"bench: {len(acknowledged)} acknowledged of {count}, "
                 f"{len(set(acknowledged) - seen)} lost, {len(seen - set(acknowledged))} unknown")
    if states != {run.SUCCEEDED: count}:
        sys.exit(f"bench: not everything is recorded as succeeded: {states}")


def measure_takeover(server, directory, lease_ms, is_restarted=False):
    """The seconds from the kill of one of two servers until every webhook has got an event that was
    published after it."""
    with TimingReceiver() as receiver, cluster(server, directory, 2, lease_ms) as (_, nodes):
        add_webhooks(nodes[0].base, receiver.port)

        def publish(first):
            for number in range(WEBHOOKS):
                run.call("POST", f"{nodes[0].base}/v1/events", {
                    "type": f"bench.event{number}", "data": {"n": first + number}})

        publish(0)
        run.wait_until(lambda: len(receiver.arrivals) == WEBHOOKS, 60, "every webhook works")
        nodes[1].kill()
        killed = time.monotonic()
        publish(WEBHOOKS)
        if is_restarted:
            nodes[1].start()
        run.wait_until(lambda: len(receiver.arrivals) == 2 * WEBHOOKS, 120, "the takeover")
        return max(receiver.arrivals.values()) - killed


def measure_idle(server, directory, seconds):
    """Statements per second of three servers that have nothing to do."""
    with cluster(server, directory, 3, DEFAULT_LEASE_MS) as (database, _):
        database.mark()
        time.sleep(seconds)
        return database.costs(seconds)["statements"]


def measure(server, directory, arguments):
    rates = [measure_rate(server, directory, arguments.count, (nodes, batch))
             for nodes in (1, 2) for batch in (1, 100)]
    takeovers = [
        {"label": label, "seconds": [measure_takeover(server, directory, *how)
                                     for _ in range(arguments.rounds)]}
        for label, how in (
            (f"kill -9, lease of {DEFAULT_LEASE_MS // 1000} s", (DEFAULT_LEASE_MS,)),
            (f"kill -9, lease of {SHORT_LEASE_MS // 1000} s", (SHORT_LEASE_MS,)),
            (f"the same, started again, lease of {DEFAULT_LEASE_MS // 1000} s",
             (DEFAULT_LEASE_MS, True)))]
    return {"rates": rates, "takeovers": takeovers,
            "idle_statements": measure_idle(server, directory, 3 * arguments.seconds)}


def show(results):
    print(f"W: wrk straight to the receiver                {results['w']:10,.0f}/s")
    for row in results["rates"]:
        servers = "one server" if row["nodes"] == 1 else f"{row['nodes']} servers"
        print(f"PostgreSQL, {servers + ',':<12} batch of {row['batch']:<3}         "
              f"{row['rate']:10,.0f}/s   {row['ratio']:.3f} W   (per delivery "
              f"{row['statements']:.2f} statements, {row['log_bytes']:,.0f} bytes of the log, "
              f"{row['table_bytes']:,.0f} of tables)")
    for row in results["takeovers"]:
        times = ", ".join(f"{each:.1f} s" for each in row["seconds"])
        print(f"{row['label']:<46} {times}")
    print(f"three idle servers                             {results['idle_statements']:10.1f}"
          " statements/s")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20_000, help="events of each rate")
    parser.add_argument("--seconds", type=int, default=5,
                        help="how long wrk runs; idle servers are watched three times as long")
    parser.add_argument("--rounds", type=int, default=2, help="kills of each kind")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if arguments.count % 200 or min(arguments.count, arguments.seconds, arguments.rounds) < 1:
        parser.error("--count must be a multiple of 200, and all numbers positive")
    with tempfile.TemporaryDirectory(prefix="postrider-bench-") as directory, \
            postgres.PostgresServer(fsync=True, settings=SETTINGS) as server:
        w_before = run.measure_w(arguments.seconds, CONNECTIONS)
        results = measure(server, directory, arguments)
        w_after = run.measure_w(arguments.seconds, CONNECTIONS)
    results["w"] = (w_before + w_after) / 2
    for row in results["rates"]:
        row["ratio"] = row["rate"] / results["w"]
    if arguments.json:
        print(json.dumps(results))
    else:
        show(results)


if __name__ == "__main__":
    main()
