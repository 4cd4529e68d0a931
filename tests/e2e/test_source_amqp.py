"""Events from a RabbitMQ queue, with a real server: nothing lost, nothing stored twice."""

import contextlib
import gzip
import itertools
import json
import pathlib
import re
import subprocess
import sys

import pika
import pytest

from harness import DEADLINE, ROOT, run_command, wait_for

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "servers"))

from proxy import Proxy  # noqa: E402
from rabbitmq import APP_PASSWORD, RabbitMQ  # noqa: E402

_queues = itertools.count(1)


@pytest.fixture(scope="module")
def rabbitmq(tmp_path_factory):
    with RabbitMQ(tmp_path_factory.mktemp("rabbitmq"), tls=True) as server:
        yield server


@pytest.fixture
def queue():
    return f"events-{next(_queues)}"


@pytest.fixture
def proxy(rabbitmq):
    proxy = Proxy(rabbitmq.port).start()
    yield proxy
    proxy.stop()


@pytest.fixture
def with_source(own_server, tmp_path, queue):
    """Creates a server with one source that consumes the queue of the test."""
    def make(address, *settings, name="own"):
        lines = ["[[sources]]", 'name = "shop"', 'kind = "amqp"', f'address = "{address}"',
                 f'queue = "{queue}"', *settings]
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
    return wait_for(look, f"the source {what}", deadline=DEADLINE * 4)


def wait_connected(server):
    return wait_source(server, "to be connected", lambda found: found["state"] == "connected")


def publish(rabbitmq, queue, messages, vhost="/"):
    """Publishes (properties, body) in one transaction: all are on disk when it returns."""
    with contextlib.closing(rabbitmq.connection(vhost)) as connection:
        channel = connection.channel()
        channel.queue_declare(queue, passive=True)
        channel.tx_select()
        for properties, body in messages:
            channel.basic_publish("", queue, body, pika.BasicProperties(
                delivery_mode=2, **properties), mandatory=True)
        channel.tx_commit()


def numbered(numbers):
    for number in numbers:
        yield ({"type": "a.b", "message_id": f"m-{number}"}, json.dumps({"n": number}))


def count(rabbitmq, queue):
    with contextlib.closing(rabbitmq.connection()) as connection:
        return connection.channel().queue_declare(queue, passive=True).method.message_count


def read_all(rabbitmq, queue):
    """Takes all messages of a queue."""
    with contextlib.closing(rabbitmq.connection()) as connection:
        channel = connection.channel()
        found = iter(lambda: channel.basic_get(queue, auto_ack=True), (None, None, None))
        return [(properties, body) for _, properties, body in found]


def keys_of(server):
    return sorted(event["idempotency_key"] for event in server.api().all("/v1/events"))


def wait_key(server, key):
    wait_for(lambda: key in keys_of(server), f"the event {key}", deadline=DEADLINE * 4)


def test_ten_thousand_messages_are_stored_once_across_kills_of_both(
        with_source, rabbitmq, queue, proxy):
    server = with_source(rabbitmq.address(port=proxy.port, tls=False), "batch_max = 100").start()
    wait_connected(server)
    for cycle in range(10):
        publish(rabbitmq, queue, numbered(range(cycle * 1_000, cycle * 1_000 + 1_000)))
        wait_source(server, "to store", lambda found: found["stored"] > 0)
        if cycle == 5:
            rabbitmq.restart()
        if cycle in (3, 7):
            proxy.cut()
        server.kill()
        server.start()
    expected = sorted(f"m-{number}" for number in range(10_000))
    wait_source(server, "to be idle", lambda found: found["state"] == "connected"
                and found["lag"]["messages"] == 0)
    wait_for(lambda: len(keys_of(server)) >= 10_000, "10,000 events", deadline=DEADLINE * 4)
    assert keys_of(server) == expected
    server.stop()  # RabbitMQ would take back what was not acknowledged.
    assert count(rabbitmq, queue) == 0
    assert count(rabbitmq, f"{queue}.rejected") == 0


def test_rabbitmq_can_come_late_hang_and_lose_the_queue(with_source, rabbitmq, queue, proxy):
    proxy.refuse()
    server = with_source(
        rabbitmq.address(port=proxy.port, tls=False, path="/?heartbeat=1")).start()
    found = wait_source(server, "to have a reason", lambda found: found["reason"])
    assert found["reason"] == f"RabbitMQ at 127.0.0.1:{proxy.port} refuses connections."
    proxy.resume()
    wait_connected(server)
    publish(rabbitmq, queue, numbered([1]))
    wait_key(server, "m-1")

    proxy.hang()
    found = wait_source(server, "to notice the silence", lambda found: found["reason"])
    assert "silent for 2 s" in found["reason"] or "does not answer" in found["reason"]
    publish(rabbitmq, queue, numbered([2]))
    proxy.resume()
    wait_key(server, "m-2")
    wait_connected(server)

    rabbitmq.delete(queue)
    wait_source(server, "to connect again", lambda found: found["reconnects"] >= 2
                and found["state"] == "connected")
    publish(rabbitmq, queue, numbered([3]))
    wait_key(server, "m-3")
    found = source_of(server)
    assert (found["stored"], found["rejected"]) == (3, 0)


# Messages that can never become events, and a part of the reason.
BAD = [
    ({"type": "a.b"}, b"not JSON", "not JSON"),
    ({"type": "a.b"}, b"", "has no data"),
    ({"type": "a.b"}, b'"\xff\xfe"', ""),
    ({}, b"1", "type"),
    ({"type": "a b"}, b"1", "type"),
    ({"type": "a.b", "headers": {"tenant_id": "x" * 1_000}}, b"1", "tenant"),
    ({"type": "a.b", "content_encoding": "gzip"}, gzip.compress(b"1"),
     "The content encoding `gzip` is not supported."),
    ({"type": "a.b"}, json.dumps("x" * 300_000).encode(), ""),
    ({"type": "a.b"}, b"x" * 10_000_000, ""),
    ({"type": "a.b", "message_id": "once", "expiration": "3600000", "user_id": "guest"}, b"2",
     "idempotency"),
]
ODD_HEADERS = {"table": {"a": [1, {"b": None}]}, "flag": True, "big": 2**62, "text": "ä\n\"",
               "resource_id": "r-1", "ordering_key": "o-1",
               "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}


def test_bad_messages_are_parked_with_a_reason_and_the_others_are_stored(
        with_source, rabbitmq, queue):
    server = with_source(rabbitmq.address(tls=False)).start()
    wait_connected(server)
    once = ({"type": "a.b", "message_id": "once"}, b"1")
    last = ({"type": "a.b", "message_id": "last", "priority": 9, "timestamp": 1_800_000_000,
             "headers": ODD_HEADERS, "content_encoding": "utf-8"}, b'{"n": 1.50}')
    publish(rabbitmq, queue, [once, once, *((properties, body) for properties, body, _ in BAD),
                              last])
    wait_key(server, "last")
    found = wait_source(server, "to be done", lambda found: found["rejected"] == len(BAD))
    assert (found["stored"], found["duplicates"]) == (2, 1)
    event, = server.api().get("/v1/events?resource_id=r-1")["data"]
    assert (event["type"], event["priority"], event["ordering_key"]) == ("a.b", "high", "o-1")
    assert event["timestamp"] == "2027-01-15T08:00:00.000Z"
    assert event["trace_id"] == "0af7651916cd43dd8448eb211c80319c"
    wait_for(lambda: count(rabbitmq, f"{queue}.rejected") == len(BAD), "the parked messages")
    for (sent, body, reason), (properties, kept) in zip(
            BAD, read_all(rabbitmq, f"{queue}.rejected")):
        assert reason in properties.headers["x-postrider-reason"], (body[:20], properties)
        assert kept == body
        assert properties.delivery_mode == 2
        assert properties.headers["x-postrider-queue"] == queue
        assert properties.type == sent.get("type")
    assert properties.expiration is None and properties.user_id is None
    assert properties.headers["x-postrider-expiration"] == "3600000"
    # A corrected message can be moved back.
    properties.message_id = "twice"
    with contextlib.closing(rabbitmq.connection()) as connection:
        connection.channel().basic_publish("", queue, kept, properties)
    wait_key(server, "twice")


def test_tls_a_user_a_vhost_and_envelopes(own_server, tmp_path, rabbitmq, receiver):
    file = tmp_path / "shop.toml"
    file.write_text("\n".join([
        "[[sources]]", 'name = "queue"', 'kind = "amqp"', 'address_env = "QUEUE_ADDRESS"',
        f'ca_file = "{rabbitmq.authority.certificate}"', 'queue = "orders"', "envelope = true",
        'key_prefix = "shop-"', "[sources.fields]", 'type = ["type", "routing_key"]']) + "\n")
    address = {"QUEUE_ADDRESS": rabbitmq.address(
        login=f"app:{APP_PASSWORD}", path="/shop%2Feu?heartbeat=20")}
    server = own_server("--config", str(file), environment=address).start()
    server.api().post("/v1/webhooks", {"url": receiver.url("/amqp"), "events": ["*"]}, expect=201)
    wait_connected(server)
    publish(rabbitmq, "orders", [
        ({}, json.dumps({"type": "order.paid", "idempotency_key": "7", "data": {"n": 1}})),
        ({"message_id": "m-1"}, json.dumps({"data": {"n": 2}}))], vhost="shop/eu")
    wait_for(lambda: receiver.count("/amqp") == 2, "two deliveries")
    assert keys_of(server) == ["shop-7", "shop-m-1"]
    assert {event["type"] for event in server.api().all("/v1/events")} == {"order.paid", "orders"}
    server.stop()
    _, printed, _ = run_command("serve", "--config", str(file), "--print-config",
                                environment=address)
    assert 'queue = "orders"' in printed
    assert APP_PASSWORD not in printed + server.output()


def test_a_malformed_address_ends_the_start_with_a_sentence(tmp_path):
    (tmp_path / "shop.toml").write_text(
        '[[sources]]\nname = "shop"\nkind = "amqp"\nqueue = "events"\n'
        'address = "amqp://app:canary@mq.internal/a/b"\n')
    code, printed, errors = run_command("serve", "--config", "shop.toml", "--listen",
                                        "127.0.0.1:0", directory=tmp_path)
    assert code != 0
    assert ("The source shop cannot be used. The address of RabbitMQ has a vhost that is not "
            "percent-encoded; write %2f for a slash.") in errors
    assert "canary" not in printed + errors


def test_two_nodes_share_a_queue_and_one_takes_over_from_the_other(with_source, rabbitmq, queue):
    rabbitmq.declare_quorum(queue)
    nodes = [with_source(rabbitmq.address(tls=False), "prefetch = 100", "batch_max = 50",
                         name=name).start() for name in ("a", "b")]
    for node in nodes:
        wait_connected(node)
    publish(rabbitmq, queue, numbered(range(2_000)))
    wait_for(lambda: sum(source_of(node)["stored"] for node in nodes) >= 2_000,
             "both nodes to store all", deadline=DEADLINE * 4)
    keys = [keys_of(node) for node in nodes]
    assert len(keys[0]) + len(keys[1]) == len({*keys[0], *keys[1]}) == 2_000
    assert all(keys), "one node did nothing"

    before = source_of(nodes[0])["stored"]
    publish(rabbitmq, queue, numbered(range(2_000, 4_000)))
    wait_source(nodes[0], "to go on", lambda found: found["stored"] > before)
    nodes[0].kill()
    wait_source(nodes[1], "to be idle", lambda found: found["lag"]["messages"] == 0)
    nodes[0].start()
    expected = {f"m-{number}" for number in range(4_000)}
    wait_for(lambda: {*keys_of(nodes[0]), *keys_of(nodes[1])} == expected, "all events",
             deadline=DEADLINE * 4)
    # What the killed node had stored and not acknowledged is in both stores: at most one batch.
    assert len(keys_of(nodes[0])) + len(keys_of(nodes[1])) <= 4_000 + 50


def test_the_example_of_the_guide_works(own_server, tmp_path, rabbitmq):
    page = (ROOT / "docs" / "guide" / "source-amqp.md").read_text()
    configuration, program = (re.search(rf"^```{language}\n(.*?)^```", page, re.M | re.S).group(1)
                              for language in ("toml", "python"))
    address = rabbitmq.address(tls=False)
    assert 'address = "amqp://guest:guest@127.0.0.1:5672"' in configuration
    (tmp_path / "shop.toml").write_text(
        configuration.replace("amqp://guest:guest@127.0.0.1:5672", address))
    server = own_server("--config", str(tmp_path / "shop.toml")).start()
    wait_connected(server)
    subprocess.run(["/usr/bin/python3", "-c", program, address], check=True)
    wait_source(server, "to store", lambda found: found["stored"] == 1)
    event, = server.api().get("/v1/events?tenant_id=acme")["data"]
    assert (event["type"], event["priority"], event["resource_id"]) == (
        "order.paid", "high", "order-7")
