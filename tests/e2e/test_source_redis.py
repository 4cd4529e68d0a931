"""Events from a Redis stream, with a real redis-server: nothing lost, nothing stored twice."""

import json
import pathlib
import sys

import pytest

from harness import DEADLINE, metric, metrics_page, run_command, wait_for

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "servers"))

from proxy import Proxy  # noqa: E402
from redis_server import Redis  # noqa: E402

# What the guide tells to grant, for all streams.
PERMISSIONS = ("~* +xreadgroup +xautoclaim +xack +xgroup|create +xinfo|groups +xpending +xrange "
               "+xadd +xtrim +time +select")
PASSWORD = "canary-of-redis"


@pytest.fixture(scope="module")
def server_of_redis(tmp_path_factory):
    with Redis(tmp_path_factory.mktemp("redis"), tls=True,
               users={"app": f">{PASSWORD} {PERMISSIONS}"}) as server:
        yield server


@pytest.fixture
def store(server_of_redis):
    """A client of an empty Redis."""
    client = server_of_redis.client()
    client.flushall()
    yield client
    client.close()


@pytest.fixture
def proxy(server_of_redis):
    proxy = Proxy(server_of_redis.port).start()
    yield proxy
    proxy.stop()


@pytest.fixture
def with_source(own_server, tmp_path):
    """Creates a server with one source that reads the stream `events`."""
    def make(address, *settings, name="own"):
        lines = ["[[sources]]", 'name = "shop"', 'kind = "redis"', f'address = "{address}"',
                 'stream = "events"', *settings]
        file = tmp_path / f"{name}.toml"
        file.write_text("\n".join(lines) + "\n")
        return own_server("--config", str(file), name=name)
    return make


def source_of(server):
    found, = server.api().get("/v1/sources")["data"]
    return found


def wait_source(server, what, condition):
    def look():
        found = source_of(server)
        return found if condition(found) else None
    return wait_for(look, f"the source {what}")


def entry(number):
    return {"type": "a.b", "resource_id": str(number), "data": json.dumps({"n": number})}


def add(store, numbers, stream="events"):
    pipeline = store.pipeline(transaction=False)
    for number in numbers:
        pipeline.xadd(stream, entry(number))
    pipeline.execute()


def group_of(store, stream="events"):
    group, = store.xinfo_groups(stream)
    return group


def wait_drained(store, stream="events"):
    def is_drained():
        group = group_of(store, stream)
        return group["pending"] == 0 and group["lag"] == 0
    wait_for(is_drained, f"all entries of {stream} to be acknowledged", deadline=DEADLINE * 4)


def events_of(server):
    return server.api().all("/v1/events")


def wait_resource(server, number):
    wait_for(lambda: server.api().get(f"/v1/events?resource_id={number}")["data"],
             f"the event of entry {number}")


def test_ten_thousand_entries_are_stored_once_across_kills_of_both(
        with_source, server_of_redis, store, proxy):
    server = with_source(server_of_redis.address(port=proxy.port)).start()
    wait_source(server, "to be connected", lambda found: found["state"] == "connected")
    for cycle in range(10):
        before = group_of(store)["last-delivered-id"]
        add(store, range(cycle * 1_000, cycle * 1_000 + 1_000))
        if cycle in (2, 6):
            server_of_redis.restart()
        if cycle in (4, 8):
            proxy.cut()
        wait_for(lambda: group_of(store)["last-delivered-id"] != before, "the source to read")
        server.kill()
        server.start()
    wait_drained(store)
    ids = [id.decode() for id, _ in store.xrange("events")]
    assert len(ids) == 10_000
    assert sorted(event["idempotency_key"] for event in events_of(server)) == sorted(ids)
    assert not store.exists("events.rejected")


def test_the_trace_context_of_an_entry_is_kept(with_source, server_of_redis, store):
    server = with_source(server_of_redis.address()).start()
    trace_id = "0af7651916cd43dd8448eb211c80319c"
    store.xadd("events", {**entry(1), "traceparent": f"00-{trace_id}-b7ad6b7169203331-01"})
    store.xadd("events", {**entry(2), "traceparent": "garbage"})
    wait_resource(server, 2)
    shown = {event["resource_id"]: event["trace_id"] for event in events_of(server)}
    assert shown["1"] == trace_id != shown["2"]


def test_redis_can_come_late_hang_lose_its_data_and_be_paused(
        with_source, server_of_redis, store, proxy):
    proxy.refuse()
    server = with_source(server_of_redis.address(port=proxy.port)).start()
    found = wait_source(server, "to have a reason", lambda found: found["reason"])
    assert found["reason"].startswith("Could not connect to Redis at `127.0.0.1` port ")
    assert found["state"] != "connected"
    add(store, [1])
    proxy.resume()
    wait_resource(server, 1)

    proxy.hang()
    found = wait_source(server, "to notice the silence", lambda found: found["reason"])
    assert found["reason"] == "Redis did not answer in time."
    add(store, [2])
    proxy.resume()
    wait_resource(server, 2)

    server_of_redis.restart(keep_data=False)
    add(store, [3])
    wait_resource(server, 3)
    store.flushall()  # On the same connection.
    add(store, [4])
    wait_resource(server, 4)

    server.api().post("/v1/sources/shop/pause")
    assert source_of(server)["state"] == "paused"
    add(store, [5])
    server.api().post("/v1/sources/shop/resume")
    wait_resource(server, 5)
    wait_drained(store)
    found = wait_source(server, "to be connected", lambda found: found["state"] == "connected")
    assert found["stored"] == 5 and found["rejected"] == 0 and found["reconnects"] >= 2


# Entries that can never become events, and a part of the reason.
BAD = [
    ({"type": "a.b"}, "has no data"),
    ({"type": "a.b", "data": "not JSON"}, "not JSON"),
    ({"type": "a.b", "data": b'"\xff\xfe"'}, "not JSON"),
    ({"type": b"\xff", "data": "1"}, "UTF-8"),
    ({"data": "1"}, "type"),
    ({"type": "a b", "data": "1"}, "type"),
    ({"type": "a.b", "data": "1", "priority": "urgent"}, "priority"),
    ({"type": "a.b", "data": json.dumps("x" * 300_000)}, ""),
    ({"type": "a.b", "data": b"x" * 20_000_000}, "16 MiB"),
    ({"type": "a.b", "data": "2", "idempotency_key": "once"}, "idempotency"),
]


def test_bad_entries_are_parked_with_a_reason_and_the_others_are_stored(
        with_source, server_of_redis, store):
    once = {"type": "a.b", "data": "1", "idempotency_key": "once"}
    for fields in (entry(1), once, once, *(fields for fields, _ in BAD),
                   {**{f"f{number}": "" for number in range(5_000)}, **entry(2)}):
        store.xadd("events", fields)
    server = with_source(server_of_redis.address()).start()
    wait_resource(server, 2)
    wait_drained(store)
    ids = {id: fields for id, fields in store.xrange("events")}
    parked = [fields for _, fields in store.xrange("events.rejected")]
    assert len(parked) == len(BAD)
    for (fields, reason), found in zip(BAD, parked):
        assert reason in found[b"rejected_reason"].decode()
        original = ids[found[b"rejected_id"]]
        if "16 MiB" not in reason:
            assert {name: value for name, value in found.items()
                    if not name.startswith(b"rejected_")} == original
    found = source_of(server)
    assert (found["stored"], found["duplicates"], found["rejected"]) == (3, 1, len(BAD))
    page = metrics_page(server.api())
    assert metric(page, 'postrider_source_messages_total{source="shop",outcome="rejected"}') \
        == len(BAD)


def test_the_workspace_profile_with_tls_a_user_and_one_json_field(
        own_server, tmp_path, server_of_redis, store, receiver):
    file = tmp_path / "workspace.toml"
    file.write_text("\n".join([
        'profile = "workspace"', "[[sources]]", 'name = "queue"', 'kind = "redis"',
        'address_env = "QUEUE_ADDRESS"', f'ca_file = "{server_of_redis.authority.certificate}"',
        'json_field = "event"', "trim = true"]) + "\n")
    address = {"QUEUE_ADDRESS": server_of_redis.tls_address(login=f"app:{PASSWORD}", database=2)}
    server = own_server("--config", str(file), environment=address).start()
    server.api().post("/v1/webhooks", {"url": receiver.url("/redis"), "events": ["*"]}, expect=201)
    store = server_of_redis.client(database=2)
    for number in range(3):
        store.xadd("queues:webhooks", {"event": json.dumps(
            {"type": "config.deployed", "data": {"n": number}})})
    wait_for(lambda: receiver.count("/redis") == 3, "three deliveries")
    assert {request.body for request in receiver.requests("/redis")} == {
        b'{"data": {"n": %d}, "event_type": "config.deployed"}' % number for number in range(3)}
    assert group_of(store, "queues:webhooks")["name"] == b"worker-webhooks"
    wait_for(lambda: store.xlen("queues:webhooks") == 1, "the stream to be trimmed")
    server.stop()
    _, printed, _ = run_command("serve", "--config", str(file), "--print-config",
                                environment=address)
    assert "queues:webhooks" in printed
    assert PASSWORD not in printed + server.output()


def test_two_nodes_share_a_stream_and_one_takes_over_from_the_other(
        with_source, server_of_redis, store):
    nodes = [with_source(server_of_redis.address(), "claim_after_ms = 1000", "batch_max = 50",
                         name=name).start() for name in ("a", "b")]
    for node in nodes:
        wait_source(node, "to be connected", lambda found: found["state"] == "connected")
    add(store, range(2_000))
    wait_drained(store)
    keys = [[event["idempotency_key"] for event in events_of(node)] for node in nodes]
    assert len(set(keys[0]) | set(keys[1])) == len(keys[0]) + len(keys[1]) == 2_000
    assert all(keys), "one node did nothing"

    # A node that has received entries and dies.
    add(store, range(2_000, 4_000))
    store.xreadgroup("postrider", "died", {"events": ">"}, count=10)
    nodes[0].kill()
    wait_drained(store)
    nodes[0].start()
    keys = [[event["idempotency_key"] for event in events_of(node)] for node in nodes]
    assert len(set(keys[0]) | set(keys[1])) == 4_000
    # What the killed node had stored and not acknowledged is in both stores: at most one batch.
    assert len(keys[0]) + len(keys[1]) <= 4_000 + 50
