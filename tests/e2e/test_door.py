"""Who may make the server hold what: bodies, connections and shares (P6, P11)."""

import contextlib
import datetime
import json
import socket
import threading

import pytest

from harness import ADMIN_KEY, DEADLINE, wait_for

MIB = 1 << 20


def connect(server, source="127.0.0.1"):
    return socket.create_connection(("127.0.0.1", server.port), timeout=DEADLINE,
                                    source_address=(source, 0))


def head(path="/v1/events", key=None, length=None, extra=b""):
    lines = [f"POST {path} HTTP/1.1".encode(), b"Host: localhost",
             b"Content-Type: application/json"]
    if key:
        lines.append(f"Authorization: Bearer {key}".encode())
    if length is not None:
        lines.append(b"Content-Length: %d" % length)
    return b"\r\n".join(lines) + b"\r\n" + extra + b"\r\n"


def read_answer(client):
    """Returns (status, head, body) of the next answer, or (0, b"", b"") at the end."""
    received = b""
    with contextlib.suppress(OSError):
        while b"\r\n\r\n" not in received:
            piece = client.recv(65536)
            if not piece:
                return 0, b"", b""
            received += piece
        top, _, body = received.partition(b"\r\n\r\n")
        length = next((int(line.split(b":")[1]) for line in top.split(b"\r\n")
                       if line.lower().startswith(b"content-length:")), 0)
        while len(body) < length:
            body += client.recv(65536)
        return int(top.split(b" ")[1]), top, body[:length]
    return 0, b"", b""


def tenant_key(api, tenant):
    return api.post("/v1/api-keys", {"scope": "tenant", "tenant_id": tenant, "name": tenant},
                    expect=201)["key"]


class Trickle:
    """Sends bodies slowly over many connections until it is closed."""

    def __init__(self, clients, piece):
        self.clients = clients
        self.piece = piece
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        while not self.stopped.wait(0.05):
            for client in self.clients:
                with contextlib.suppress(OSError):
                    client.setblocking(False)
                    client.send(self.piece)

    def close(self):
        self.stopped.set()
        self.thread.join()
        for client in self.clients:
            client.close()


def assert_served(server, publisher_key, count=30):
    """Publishes of another tenant and requests of the operator all succeed."""
    publisher = server.api(publisher_key)
    operator = server.api()
    large = {"type": "a.b", "data": "x" * 200_000}
    for number in range(count):
        body = large if number % 5 == 0 else {"type": "a.b", "data": number}
        answer = publisher.request("POST", "/v1/events", body)
        assert answer.status == 202, answer
        answer = operator.request("GET", "/v1/webhooks")
        assert answer.status == 200, answer
    batch = [{"type": "a.b", "tenant_id": "x", "data": "y" * 100_000} for _ in range(20)]
    assert operator.request("POST", "/v1/events/batch", {"events": batch}).status in (200, 202)
    publisher.close()
    operator.close()


# ---------------------------------------------------------------- bodies without a key

def test_bodies_without_a_key_are_refused_before_they_are_read(own_server):
    server = own_server().start()
    publisher = tenant_key(server.api(), "modest")
    clients = [connect(server) for _ in range(20)]
    for client in clients:
        client.sendall(head("/v1/events/batch", length=16 * MIB))
    for client in clients:
        status, top, body = read_answer(client)
        assert status == 401 and b"connection: close" in top.lower(), top
        assert json.loads(body)["code"] == "unauthorized"
        with contextlib.suppress(OSError):  # It may go on sending, for nothing.
            client.sendall(b" " * MIB)
    assert_served(server, publisher)
    for client in clients:
        client.close()


@pytest.mark.parametrize("key", [None, "prk_unknown", ADMIN_KEY + "x"])
def test_slow_bodies_without_a_key_hold_nothing(own_server, key):
    server = own_server().start()
    publisher = tenant_key(server.api(), "modest")
    clients = [connect(server) for _ in range(200)]
    for number, client in enumerate(clients):
        if number % 2:
            client.sendall(head("/v1/events/batch", key=key,
                                extra=b"Transfer-Encoding: chunked\r\n"))
        else:
            client.sendall(head("/v1/events/batch", key=key, length=16 * MIB) + b"{")
    trickle = Trickle(clients, b"10000\r\n" + b" " * 4096)
    try:
        assert_served(server, publisher)
    finally:
        trickle.close()


def test_slow_headers_do_not_keep_others_out(own_server):
    server = own_server().start()
    publisher = tenant_key(server.api(), "modest")
    clients = [connect(server) for _ in range(200)]
    for client in clients:
        client.sendall(b"POST /v1/events HTTP/1.1\r\nHost: localhost\r\n")
    trickle = Trickle(clients, b"X-A: b\r\n")
    try:
        assert_served(server, publisher)
    finally:
        trickle.close()


@pytest.mark.parametrize("extra, status", [
    (b"", 401),
    (b"Authorization: Bearer prk_unknown\r\n", 401),
    (b"Authorization: Basic abc\r\n", 401),
    (f"Authorization: Bearer {ADMIN_KEY}\r\n".encode(), 100),
])
def test_a_client_that_expects_continue_gets_the_decision_first(server, extra, status):
    with connect(server) as client:
        client.sendall(head(length=9, extra=extra + b"Expect: 100-continue\r\n"))
        assert read_answer(client)[0] == status


def test_role_scope_and_suspension_are_decided_before_the_body(own_server):
    server = own_server().start()
    api = server.api()
    reader = api.post("/v1/api-keys", {"scope": "read", "name": "r"}, expect=201)["key"]
    viewer = api.post("/v1/api-keys", {"scope": "tenant", "tenant_id": "acme", "role": "viewer",
                                       "name": "v"}, expect=201)["key"]
    api.post("/v1/tenants", {"id": "closed"}, expect=201)
    closed = tenant_key(api, "closed")
    api.post("/v1/tenants/closed/suspend")
    for key, path in ((reader, "/v1/events"), (viewer, "/v1/webhooks"), (closed, "/v1/events")):
        with connect(server) as client:
            client.sendall(head(path, key=key, length=100_000))
            assert read_answer(client)[0] == 403, path


@pytest.mark.parametrize("path, key, length, status", [
    ("/v1/events", ADMIN_KEY, 15 * MIB, 413),       # One event is small; a batch is not.
    ("/v1/webhooks", ADMIN_KEY, 200_000, 413),
    ("/v1/sessions", None, 5_000, 413),             # Anybody may send this one.
    ("/v1/webhooks/x/pause", ADMIN_KEY, 200_000, 413),
    ("/healthz", None, 200_000, 405),
    ("/v1/nothing", None, 200_000, 404),
])
def test_the_limit_of_a_body_depends_on_the_route(server, path, key, length, status):
    with connect(server) as client:
        client.sendall(head(path, key=key, length=length))
        assert read_answer(client)[0] == status
    if status == 413:
        with connect(server) as client:
            client.sendall(head(path, key=key, extra=b"Transfer-Encoding: chunked\r\n"))
            client.sendall(b"%x\r\n" % length)
            assert read_answer(client)[0] == 413, "chunked"


def test_a_key_that_is_deleted_while_its_body_arrives_is_refused(server):
    api = server.api()
    created = api.post("/v1/api-keys", {"scope": "publish", "name": "p"}, expect=201)
    body = b'{"type":"a.b","data":1}'
    with connect(server) as client:
        client.sendall(head(key=created["key"], length=len(body),
                            extra=b"Expect: 100-continue\r\n"))
        assert read_answer(client)[0] == 100
        api.delete(f"/v1/api-keys/{created['id']}")
        client.sendall(body)
        assert read_answer(client)[0] == 401


# ---------------------------------------------------------------- bodies with a key

@pytest.mark.parametrize("enemies", [1, 3])
def test_large_slow_bodies_of_tenants_leave_room_for_the_others(own_server, enemies):
    server = own_server().start()
    api = server.api()
    publisher = tenant_key(api, "modest")
    clients = []
    answered = []
    for enemy in range(enemies):
        key = tenant_key(api, f"enemy-{enemy}")
        for _ in range(20):
            client = connect(server)
            client.sendall(head("/v1/events/batch", key=key, length=16 * MIB) + b"[")
            clients.append(client)
    for client in clients:
        client.settimeout(0.2)
        status, top, body = read_answer(client)
        if status:
            answered.append(status)
            assert status in (429, 503), body
            assert b"retry-after:" in top.lower()
            if status == 429:
                problem = json.loads(body)
                assert problem["code"] == "share_exceeded"
                assert "enant `enemy-" in problem["detail"]
    assert 429 in answered
    assert len(answered) >= len(clients) - 16, "at most 256 MiB may be announced"
    trickle = Trickle(clients, b" " * 65536)
    try:
        assert_served(server, publisher)
    finally:
        trickle.close()


# ---------------------------------------------------------------- connections

def test_idle_connections_of_one_address_leave_room_for_others_and_the_operator(own_server):
    server = own_server("--set", "api.connections_max=40").start()
    operator = server.api()
    publisher = tenant_key(operator, "modest")
    operator.close()
    held = [connect(server, "127.0.0.2") for _ in range(400)]
    with connect(server) as client:
        client.sendall(head(key=publisher, length=23) + b'{"type":"a.b","data":1}')
        assert read_answer(client)[0] == 202
    for source, key in (("127.0.0.1", ADMIN_KEY), ("127.0.0.2", ADMIN_KEY),
                        ("127.0.0.2", publisher)):
        with connect(server, source) as client:
            client.sendall(b"GET /v1/webhooks HTTP/1.1\r\nHost: localhost\r\n"
                           b"Authorization: Bearer " + key.encode() + b"\r\n\r\n")
            assert read_answer(client)[0] == 200, source
    with connect(server, "127.0.0.2") as client:
        client.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        status, _, body = read_answer(client)
        assert status == 503 and "address" in json.loads(body)["detail"]
    for client in held:
        client.close()


# ---------------------------------------------------------------- Authorization

@pytest.mark.parametrize("lines", [
    [f"Bearer {ADMIN_KEY}", f"Bearer {ADMIN_KEY}"],
    [f"Bearer {ADMIN_KEY}", "Bearer other"],
    ["Bearer other", f"Bearer {ADMIN_KEY}"],
    [f"Bearer {ADMIN_KEY}", "Basic abc"],
    [f"Bearer {ADMIN_KEY}, Bearer other"],
    [f"Bearer {ADMIN_KEY},Bearer {ADMIN_KEY}"],
    [f"Bearer {ADMIN_KEY} other"],
])
def test_more_than_one_key_is_refused(server, lines):
    request = b"GET /v1/webhooks HTTP/1.1\r\nHost: localhost\r\n"
    request += b"".join(f"Authorization: {line}\r\n".encode() for line in lines)
    with connect(server) as client:
        client.sendall(request + b"\r\n")
        assert read_answer(client)[0] == (400 if len(lines) > 1 else 401)


# ---------------------------------------------------------------- shares

def test_streams_of_one_tenant_leave_room_for_others_and_the_operator(own_server):
    server = own_server().start()
    api = server.api()
    keys = {name: tenant_key(api, name) for name in ("greedy", "modest")}

    def stream(key):
        client = connect(server)
        client.sendall(b"GET /v1/stream HTTP/1.1\r\nHost: localhost\r\n"
                       b"Authorization: Bearer " + key.encode() + b"\r\n\r\n")
        return client, read_answer(client)
    opened = []
    for _ in range(100):
        client, (status, top, body) = stream(keys["greedy"])
        opened.append(client)
        if status != 200:
            break
    assert status == 429 and b"retry-after" in top.lower()
    assert json.loads(body)["code"] == "share_exceeded"
    assert "greedy" in json.loads(body)["detail"]
    assert len(opened) == 65, "a quarter of 256, and the refused one"
    for key in (keys["modest"], ADMIN_KEY):
        client, (status, _, _) = stream(key)
        opened.append(client)
        assert status == 200
    for client in opened:
        client.close()
    wait_for(lambda: stream(keys["greedy"])[1][0] == 200, "a free stream")


def test_test_sends_of_one_tenant_leave_room_for_others(own_server, make_world):
    world = make_world(own_server().start())
    api = world.api
    hooks = {}
    for tenant in ("greedy", "modest"):
        hook = world.hook(tenant, tenant_id=tenant)
        hooks[tenant] = (hook, tenant_key(api, tenant))
    greedy, key = hooks["greedy"]
    world.receiver.hold(greedy.path)
    clients = [connect_server(world, key, greedy) for _ in range(20)]
    statuses = []
    for client in clients:
        client.settimeout(1)
        statuses.append(read_answer(client)[0])
    assert statuses.count(429) == 12 and statuses.count(0) == 8, statuses
    modest, key = hooks["modest"]
    for each in (key, ADMIN_KEY):
        with connect_server(world, each, modest) as client:
            assert read_answer(client)[0] == 200
    world.receiver.release(greedy.path)
    for client in clients:
        client.close()


def connect_server(world, key, hook):
    client = socket.create_connection(("127.0.0.1", world.api.port), timeout=DEADLINE)
    client.sendall(head(f"/v1/webhooks/{hook.id}/test", key=key, length=2) + b"{}")
    return client


def test_operations_of_one_tenant_leave_room_for_others_and_the_operator(own_server):
    server = own_server().start()
    api = server.api()
    tomorrow = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=1)
    later = {"start_at": tomorrow.strftime("%Y-%m-%dT%H:%M:%SZ")}
    greedy = server.api(tenant_key(api, "greedy"))
    modest = server.api(tenant_key(api, "modest"))
    for _ in range(25):
        greedy.post("/v1/dlq/retry-batch", later, expect=202)
    refused = greedy.request("POST", "/v1/dlq/retry-batch", later)
    assert refused.status == 409 and "tenant `greedy`" in refused.json["detail"], refused
    modest.post("/v1/dlq/retry-batch", later, expect=202)
    api.post("/v1/dlq/retry-batch", later, expect=202)
    api.post("/v1/dlq/retry-batch", {**later, "filter": {"tenant_id": "greedy"}}, expect=202)
    server.kill()
    server.start()
    refused = server.api(greedy.key).request("POST", "/v1/dlq/retry-batch", later)
    assert refused.status == 409, "after a restart"
