"""Reads the metrics page and its documentation, and makes a server show every metric."""

import contextlib
import re
import sys

from harness import ROOT, Server, metrics_page, wait_for
from receiver import Hang, Reply
from world import FAST, SLOW, World

sys.path.insert(0, str(ROOT / "tests" / "servers"))

from redis_server import Redis  # noqa: E402

CIRCUIT = {"window": "count", "window_calls": 4, "minimum_throughput": 2,
           "error_threshold_percentage": 50, "sleep_window_ms": 600_000, "sleep_max_ms": 600_000}

SAMPLE = re.compile(r'^(\w+)(?:\{(.*)\})? (\S+)$', re.MULTILINE)


# The section about metrics that only a server on a database has.
SHARED = "Servers that share a store"


def documented(shared=False):
    """{name: (type, labels)} of the tables in docs/metrics.md. `shared`: with a store that several
    servers can share."""
    page = (ROOT / "docs" / "metrics.md").read_text()
    assert f"\n## {SHARED}\n" in page
    if not shared:
        page = re.sub(rf"^## {SHARED}\n.*?(?=^## )", "", page, flags=re.MULTILINE | re.DOTALL)
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| (.+?) \| .+ \|$", page, re.MULTILINE)
    table = {name: (kind, frozenset(re.findall(r"`(\w+)`", labels))) for name, kind, labels in rows}
    assert len(table) == len(rows), "a metric is documented twice"
    return table


def shown(page):
    """{name: (type, {labels of each series})} of a metrics page."""
    types = dict(re.findall(r"^# TYPE (\S+) (\S+)$", page, re.MULTILINE))
    found = {name: (kind, set()) for name, kind in types.items()}
    for sample, labels, _ in SAMPLE.findall(page):
        names = set(re.findall(r'(\w+)="', labels))
        family = re.sub(r"_(bucket|sum|count)$", "", sample)
        if types.get(family) != "histogram":
            family = sample
        found[family][1].add(frozenset(names - {"le"} if sample.endswith("_bucket") else names))
    return found


def series_of(page, name):
    """{labels as a frozenset of pairs: value} of one name."""
    found = {}
    for labels, value in re.findall(rf"^{name}(?:\{{(.*)\}})? (\S+)$", page, re.MULTILINE):
        found[frozenset(re.findall(r'(\w+)="([^"]*)"', labels))] = float(value)
    return found


def sum_of(page, name, **labels):
    wanted = set(labels.items())
    return sum(value for key, value in series_of(page, name).items() if wanted <= key)


def wait_sum(world, count, name, **labels):
    wait_for(lambda: sum_of(metrics_page(world.api), name, **labels) == count,
             f"{name} {labels} to be {count}")


def provoke_everything(world):
    """Two successes, one of them after a retry; failures; a timeout; two dead letters; an open
    circuit; a rate limit."""
    plain = world.hook("plain", events=["plain"])
    retried = world.hook("retried", Reply(500), Reply(), events=["retried"], retry_config=FAST)
    hanging = world.hook("hanging", Hang(), events=["hanging"], timeout_ms=1000,
                         retry_config={"max_attempts": 1})
    refused = world.hook("refused", Reply(404), events=["refused"])
    broken = world.hook("broken", Reply(500), events=["broken"], max_in_flight=1,
                        retry_config=SLOW, circuit_breaker_config=CIRCUIT)
    limited = world.hook("limited", events=["limited"],
                         rate_limit={"requests_per_minute": 1, "burst": 1})
    world.publish("limited")
    world.wait_requests(limited, 1)
    world.wait_blocked(world.publish("limited")["id"], limited)
    for _ in range(2):
        world.publish("broken")
    world.wait_circuit(broken, "open")
    for hook, state in ((plain, "succeeded"), (retried, "succeeded"), (hanging, "dead_letter"),
                        (refused, "dead_letter")):
        event = world.publish(hook.path.rsplit("/", 1)[1])["id"]
        assert world.wait_done(event, hook)["status"] == state
    wait_sum(world, 2, "webhook_dlq_size", tenant_id=world.tenant)
    return broken, limited


SOURCES = """[[sources]]
name = "shop"
kind = "redis"
address = "{address}"
stream = "events"

[[sources]]
name = "bank"
kind = "outbox"
mode = "status"
address = "postgresql://127.0.0.1:9/none"
"""


@contextlib.contextmanager
def server_with_sources(directory, receiver):
    """Yields a server with a source of each kind of metric, and a World on it. The second source is
    away."""
    with Redis() as redis:
        (directory / "sources.toml").write_text(SOURCES.format(address=redis.address()))
        server = Server(directory, ["--allow-private-targets", "--allow-http",
                                    "--config", str(directory / "sources.toml")]).start()
        try:
            world = World(server.api(), receiver, "acme")
            wait_for(lambda: "postrider_source_lag_messages{" in metrics_page(world.api),
                     "the source to be connected")
            yield server, world
            world.clean()
            server.stop()
        finally:
            server.kill()


def metrics_in(expression):
    """The names of metrics in an expression of PromQL."""
    bare = re.sub(r'"[^"]*"', "", expression)
    bare = re.sub(r"\{[^}]*\}|\[[^]]*\]", "", bare)
    bare = re.sub(r"\b(by|without|on|ignoring)\s*\([^)]*\)", "", bare)
    names = set(re.findall(r"\b(?:up|(?:webhook|postrider|process)[_:][\w:]+)\b", bare))
    return {re.sub(r"^((?:webhook|postrider)_\w+)_(bucket|sum|count)$", r"\1", name)
            for name in names}
