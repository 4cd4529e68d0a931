"""GET /v1/stream: server-sent events about deliveries, circuits and alerts."""

import json
import socket
import urllib.parse

import pytest

from harness import ADMIN_KEY, DEADLINE, wait_for
from receiver import Reply
from test_circuit import BREAKER
from test_fanout import make_hooks, publish
from world import SLOW


class Stream:
    """A client of server-sent events over a raw socket, which also checks the framing."""

    def __init__(self, server, last_event_id=None, version="1.1", key=ADMIN_KEY,
                 receive_buffer=None, cookie=None, **query):
        words = urllib.parse.urlencode(query)
        self.socket = socket.socket()
        self.socket.settimeout(DEADLINE)
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.connect(("127.0.0.1", server.port))
        extra = f"Last-Event-ID: {last_event_id}\r\n" if last_event_id else ""
        caller = f"Cookie: {cookie}" if cookie else f"Authorization: Bearer {key}"
        self.socket.sendall(
            f"GET /v1/stream?{words} HTTP/{version}\r\nHost: postrider\r\n"
            f"{caller}\r\n{extra}\r\n".encode())
        self.file = self.socket.makefile("rb")
        status = self.file.readline()
        self.status = int(status.split()[1])
        self.headers = {}
        while True:
            line = self.file.readline().decode().strip()
            if not line:
                break
            name, value = line.split(": ", 1)
            self.headers[name.lower()] = value
        self.chunked = self.headers.get("transfer-encoding") == "chunked"
        self.text = b""
        self.ended = False

    def _more(self):
        if not self.chunked:
            piece = self.file.readline()
            self.ended = not piece
            self.text += piece
            return
        size = int(self.file.readline(), 16)
        self.text += self.file.read(size)
        assert self.file.read(2) == b"\r\n"
        self.ended = size == 0

    def next(self):
        """The next event as a dictionary; None at the end of the stream."""
        while b"\n\n" not in self.text:
            if self.ended:
                return None
            self._more()
        block, self.text = self.text.split(b"\n\n", 1)
        event = dict(line.split(": ", 1) for line in block.decode().splitlines())
        if "data" in event:
            event["data"] = json.loads(event["data"])
        return event

    def wait(self, kind):
        """The next event of that kind."""
        for _ in range(10_000):
            event = self.next()
            assert event is not None, f"the stream ended before a {kind}"
            if event.get("event") == kind:
                return event
        raise AssertionError(f"no {kind} among 10,000 events")

    def close(self):
        self.file.close()
        self.socket.close()


def test_deliveries_are_streamed_as_they_are_settled(server, world):
    hook = world.hook("hook", Reply(500), Reply(200),
                      retry_config={"base_delay_ms": 20, "max_attempts": 3})
    stream = Stream(server, tenant_id=world.tenant)
    assert stream.status == 200
    assert stream.headers["content-type"] == "text/event-stream"
    assert stream.headers["cache-control"] == "no-store"
    published = world.publish()

    first = stream.wait("delivery")["data"]
    assert first["event_id"] == published["id"]
    assert first["webhook_id"] == hook.id
    assert first["tenant_id"] == world.tenant
    assert first["status"] == "retrying"
    assert first["attempt"]["number"] == 1
    assert first["attempt"]["http_status"] == 500
    assert first["attempt"]["failure_category"] == "server_error"
    assert first["next_attempt_at"] is not None
    second = stream.wait("delivery")["data"]
    assert second["status"] == "succeeded"
    # A streamed change is already in the store.
    assert world.api.get(f"/v1/deliveries/{second['delivery_id']}")["status"] == "succeeded"
    stream.close()


def test_filters_narrow_the_stream(server, world):
    wanted = world.hook("wanted")
    world.hook("other")
    world.receiver.on(wanted.path, Reply(404), Reply())
    stream = Stream(server, webhook_id=wanted.id, event_type="b", status="succeeded")
    excluded = [world.publish(type)["id"] for type in ("b", "a")]  # By status and by type.
    for event_id in excluded:
        world.wait_done(event_id, wanted)
    expected = {world.publish("b")["id"] for _ in range(2)}
    seen = [stream.wait("delivery")["data"] for _ in range(2)]
    assert {(event["webhook_id"], event["event_type"], event["status"]) for event in seen} == {
        (wanted.id, "b", "succeeded")}
    assert {event["event_id"] for event in seen} == expected
    stream.close()


def test_new_deliveries_are_streamed_before_their_first_attempt(server, world):
    paused = world.hook("paused")
    world.api.post(f"/v1/webhooks/{paused.id}/pause")
    other = world.hook("other", events=["other.*"])
    stream = Stream(server, tenant_id=world.tenant, status="pending")
    of_other = Stream(server, webhook_id=other.id)
    published = world.publish("a.b")
    created = stream.wait("created")["data"]
    assert created.pop("at") and created == {
        "webhook_id": paused.id, "tenant_id": world.tenant, "event_type": "a.b", "count": 1}
    # A streamed delivery is already in the store.
    assert world.delivery(published["id"], paused)["status"] == "pending"
    world.publish("other.one")
    assert of_other.next() == {"retry": "2000"}
    assert of_other.wait("created")["data"]["event_type"] == "other.one"
    for each in (stream, of_other):
        each.close()


def test_a_large_fan_out_is_streamed_as_a_few_events(own_server):
    server = own_server("--set", "limits.webhooks_per_tenant=0").start()
    api = server.api()
    hooks = make_hooks(api, 300, "acme")
    stream = Stream(server, tenant_id="acme", webhook_id=hooks[0])
    assert publish(api, "acme")["deliveries"] == 300
    events = []
    while sum(event["count"] for event in events) < 300:
        events.append(stream.wait("created")["data"])
    assert sum(event["count"] for event in events) == 300
    assert {event["webhook_id"] for event in events} == {None}
    assert len(events) < 30
    stream.close()
    api.close()


def test_circuit_changes_and_alerts_are_streamed(server, world):
    hook = world.hook("hook", Reply(500), max_in_flight=1, retry_config=SLOW,
                      circuit_breaker_config={**BREAKER, "sleep_window_ms": 600_000,
                                              "sleep_max_ms": 600_000})
    stream = Stream(server, tenant_id=world.tenant)
    for _ in range(4):
        world.publish()
    seen = {}
    while not {"circuit", "alert"} <= set(seen):
        event = stream.next()
        seen[event.get("event")] = event
    assert seen["circuit"]["data"]["webhook_id"] == hook.id
    assert (seen["circuit"]["data"]["from"], seen["circuit"]["data"]["to"]) == ("closed", "open")
    assert seen["alert"]["data"]["kind"] == "circuit_opened"
    stream.close()


def test_a_resumed_stream_misses_nothing(server, world):
    world.hook()
    stream = Stream(server, tenant_id=world.tenant)
    first = world.publish()["id"]
    place = stream.wait("delivery")
    assert place["data"]["event_id"] == first
    stream.close()
    meanwhile = [world.publish()["id"] for _ in range(3)]
    again = Stream(server, last_event_id=place["id"], tenant_id=world.tenant)
    seen = {again.wait("delivery")["data"]["event_id"] for _ in range(3)}
    assert seen == set(meanwhile)
    again.close()


def test_resuming_from_an_unknown_event_id_starts_with_a_reset(server, world):
    world.hook()
    stream = Stream(server, last_event_id="1234abcd-17", tenant_id=world.tenant)
    assert stream.next().get("retry") == "2000"
    assert stream.next()["event"] == "reset"
    world.publish()
    assert stream.next()["event"] == "created"
    stream.close()


def test_an_http_1_0_client_reads_until_the_end_of_the_connection(server, world):
    world.hook()
    stream = Stream(server, version="1.0", tenant_id=world.tenant)
    assert not stream.chunked
    assert stream.headers["connection"] == "close"
    world.publish()
    stream.wait("delivery")
    stream.close()


def test_a_draining_server_ends_its_streams(own_server):
    server = own_server().start()
    streams = [Stream(server), Stream(server, version="1.0")]
    for stream in streams:
        assert stream.next() == {"retry": "2000"}
    server.stop()
    for stream in streams:
        assert stream.next()["event"] == "end"
        assert stream.next() is None
        stream.close()


def test_the_number_of_streams_is_limited_and_closed_ones_are_released(own_server):
    server = own_server().start()
    streams = [Stream(server) for _ in range(256)]
    refused = Stream(server)
    assert refused.status == 503
    assert refused.headers["content-type"] == "application/problem+json"
    assert int(refused.headers["retry-after"]) >= 1
    refused.close()
    for stream in streams:
        stream.close()
    wait_for(lambda: Stream(server).status == 200, "a free stream")


def test_a_client_that_stops_reading_is_dropped(own_server, make_world):
    server = own_server().start()
    world = make_world(server)
    world.hook("hook", max_in_flight=100)
    stuck = Stream(server, receive_buffer=4096, tenant_id=world.tenant)
    kind = "a." + "b" * 100  # Long, so that fewer events fill the kernel's buffers.
    for _ in range(8):
        world.publish_batch([{"type": kind, "data": 0} for _ in range(1000)])
    wait_for(lambda: world.api.get("/v1/stats")["total"]["attempts"] == 8000, "all attempts",
             deadline=4 * DEADLINE)
    received = 0
    last = None
    try:
        for event in iter(stuck.next, None):
            last = event.get("event", last)
            received += last == "delivery"
    except (AssertionError, ValueError):
        assert stuck.file.read(1) == b"", "invalid framing within the stream"
        last = "cut"  # On a slow machine the write timeout came first.
    assert last in ("dropped", "cut")
    assert received < 8000
    stuck.close()


def test_the_stream_requires_a_key(server):
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=DEADLINE)
    connection.sendall(b"GET /v1/stream HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    assert connection.makefile("rb").readline().startswith(b"HTTP/1.1 401")
    connection.close()


def test_a_tenant_key_streams_only_its_tenants_events(server, make_world):
    mine, others = make_world(server), make_world(server)
    mine.hook()
    others.hook()
    key = mine.api.post("/v1/api-keys", {"scope": "tenant", "tenant_id": mine.tenant},
                        expect=201)["key"]
    stream = Stream(server, key=key)
    foreign = Stream(server, key=key, tenant_id=others.tenant)
    # The other tenant's delivery is settled before each of the own ones is published.
    for _ in range(2):
        others.wait_done(others.publish()["id"], others.hooks[0])
        expected = mine.publish()["id"]
        assert stream.wait("delivery")["data"]["event_id"] == expected
    foreign.socket.settimeout(0.5)
    assert foreign.next() == {"retry": "2000"}
    with pytest.raises(TimeoutError):
        foreign.next()
    numbers = server.api(key=key).get("/v1/stats")["total"]
    assert numbers["published"] == 2
    for each in (stream, foreign):
        each.close()
    mine.clean()
    others.clean()
