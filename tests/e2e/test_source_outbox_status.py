"""Events from a table whose application reads what became of each row: mode `status`."""

import hashlib
import hmac
import json
import uuid

import pytest

from harness import wait_for, wait_metric
from receiver import Held, Reply
from status_outbox import PostgresServer, Proxy, StatusOutbox, configuration
from pgbouncer import PgBouncer

# Retries at once, so that a test need not wait for the profile's seconds.
QUICK = {"schedule_ms": [1], "jitter": 0, "category_minimums": False, "max_attempts": 5}


@pytest.fixture(scope="module")
def postgres():
    with PostgresServer() as server:
        yield server


@pytest.fixture
def outbox(postgres):
    return StatusOutbox(postgres)


@pytest.fixture
def bank_server(own_server, tmp_path):
    """Makes a server of the profile `outbox` that reads a table."""
    def make(outbox, name="own", **settings):
        directory = tmp_path / f"config-{name}"
        directory.mkdir()
        return own_server("--profile", "outbox", *configuration(directory, outbox, **settings),
                          name=name)
    return make


@pytest.fixture
def bank(outbox, bank_server, make_world):
    """The server and the tenant that the rows belong to."""
    server = bank_server(outbox, tenant="bank", keep_delivered_seconds=0)
    world = make_world(server.start())
    world.tenant = "bank"
    world.server = server
    return world


def delivery_of(world, row_id):
    """The delivery of the latest event that a row became."""
    events = [event for event in world.api.all("/v1/events") if event["idempotency_key"] == row_id]
    newest = max(events, key=lambda event: event["created_at"])
    return world.api.get(f"/v1/events/{newest['id']}")["deliveries"][0]


# ---------------------------------------------------------------- every transition


def test_from_insert_to_delivered_or_failed(bank, outbox):
    payload = '{ "amount" : 1.50,\t"account":"a" }'
    scripts = {
        "delivered": [Reply(200)],
        "delivered later": [Reply(500), Reply(503), Reply(200)],
        "failed": [Reply(404)],
    }
    hooks, rows = {}, {}
    for name, script in scripts.items():
        kind = "transaction." + name.replace(" ", "_")
        hooks[name] = bank.hook(name.replace(" ", "-"), *script, events=[kind], retry_config=QUICK,
                                secret="shared secret")
        rows[name] = str(uuid.uuid4())
        outbox.insert(id=rows[name], event_type=kind)
    raw = str(uuid.uuid4())
    bank.hook("raw", events=["transaction.raw"], secret="shared secret")
    outbox.run("INSERT INTO webhook_outbox (id, event_type, payload) VALUES (%s, %s, %s)",
               (raw, "transaction.raw", payload))

    for row_id in [*rows.values(), raw]:
        outbox.wait(row_id, lambda row: row.status in ("delivered", "failed"), "a final status")
    assert outbox.transitions(rows["delivered"]) == [("pending", "delivered", 1)]
    later = outbox.transitions(rows["delivered later"])
    assert (later[0][0], later[-1][1:]) == ("pending", ("delivered", 3))
    failed = outbox.transitions(rows["failed"])
    assert (failed[0][0], failed[-1][1:]) == ("pending", ("failed", 5))
    allowed = {("pending", "delivered"), ("pending", "retrying"), ("retrying", "delivered"),
               ("retrying", "retrying"), ("retrying", "failed"), ("pending", "failed")}
    assert {(old, new) for old, new, _ in later + failed} <= allowed

    row = outbox.row(rows["delivered later"])
    assert row.delivered_at >= row.created_at and row.last_error is None
    row = outbox.row(rows["failed"])
    assert row.last_error == "The receiver answered with HTTP status 404."
    assert row.delivered_at is None and not row.is_under_way
    for name, hook in hooks.items():
        requests = bank.requests(hook)
        assert len(requests) == {"delivered": 1, "delivered later": 3, "failed": 5}[name]
        assert {request.header("x-webhook-id") for request in requests} == {rows[name]}
    request, = bank.receiver.requests(bank.path("raw"))
    assert request.body == payload.encode(), "byte for byte"
    assert request.header("x-webhook-id") == raw
    expected = hmac.new(b"shared secret", payload.encode(), hashlib.sha256).hexdigest()
    assert request.header("x-webhook-signature") == "sha256=" + expected


def test_a_row_is_retrying_until_its_next_attempt(bank, outbox):
    hook = bank.hook("slow", Reply(500), Held(Reply(200)),
                     retry_config={"schedule_ms": [600_000], "jitter": 0})
    row_id = outbox.insert()
    row = outbox.wait_status(row_id, "retrying")
    assert (row.attempts, row.is_later, row.is_under_way) == (1, True, True)
    assert row.last_error == "The receiver answered with HTTP status 500."
    # Setting it to pending by hand does not send it twice at once.
    outbox.update(row_id, "status = 'pending', next_attempt_at = now()")
    bank.api.post(f"/v1/deliveries/{delivery_of(bank, row_id)['id']}/retry", expect=202)
    bank.wait_requests(hook, 2)
    bank.receiver.release(hook.path)
    row = outbox.wait_status(row_id, "delivered")
    assert (row.attempts, row.last_error) == (2, None)
    assert len(bank.requests(hook)) == 2
    assert [e["idempotency_key"] for e in bank.api.all("/v1/events")] == [row_id]


# ---------------------------------------------------------------- the rules


def test_a_row_for_several_webhooks_follows_all_of_them(bank, outbox):
    bank.hook("good", events=["fan.*"])
    bank.hook("bad", Reply(500), events=["fan.mixed"], retry_config=QUICK)
    held = bank.hook("held", Held(Reply(200)), events=["fan.held"])
    mixed = outbox.insert(event_type="fan.mixed")
    waits = outbox.insert(event_type="fan.held")
    row = outbox.wait_status(mixed, "failed")
    assert (row.attempts, row.delivered_at) == (5, None)
    bank.wait_requests(held, 1)
    outbox.wait(waits, lambda row: row.attempts == 1, "the first webhook's delivery")
    assert outbox.row(waits).status == "pending"
    bank.receiver.release(held.path)
    outbox.wait_status(waits, "delivered")


def test_a_row_without_a_subscriber_is_delivered_with_a_note(bank, outbox):
    row = outbox.wait_status(outbox.insert(event_type="nobody.cares"), "delivered")
    assert row.last_error == "No webhook is subscribed to this event."
    assert (row.attempts, row.is_under_way) == (0, False) and row.delivered_at is not None


def test_what_happens_to_deliveries_and_webhooks_is_written_back(bank, outbox):
    slow = {"schedule_ms": [600_000], "jitter": 0}
    hook = bank.hook("gone", Reply(500), events=["gone"], retry_config=slow)
    off = bank.hook("off", events=["off"])
    bank.hook("cancelled", Reply(500), events=["cancelled"], retry_config=slow)
    bank.api.post(f"/v1/webhooks/{off.id}/pause", expect=200)
    removed = outbox.insert(event_type="gone")
    waiting = outbox.insert(event_type="off")
    cancelled = outbox.insert(event_type="cancelled")
    outbox.wait_status(removed, "retrying")
    outbox.wait_status(cancelled, "retrying")
    bank.api.delete(f"/v1/webhooks/{hook.id}")
    bank.api.post(f"/v1/deliveries/{delivery_of(bank, cancelled)['id']}/cancel")
    outbox.wait_status(removed, "failed")
    row = outbox.wait_status(cancelled, "failed")
    assert row.last_error == "The receiver answered with HTTP status 500."
    # A paused webhook keeps its rows waiting, and removing it ends them.
    row = outbox.wait(waiting, lambda row: row.is_under_way, "the row to be handed over")
    assert (row.status, row.attempts) == ("pending", 0)
    bank.api.delete(f"/v1/webhooks/{off.id}")
    row = outbox.wait_status(waiting, "failed")
    assert row.last_error == "The webhook was removed."


def test_a_row_can_be_armed_again(bank, outbox):
    hook = bank.hook("again", Reply(500), Reply(200), Reply(200),
                     retry_config={**QUICK, "max_attempts": 1})
    row_id = outbox.insert({"n": 1})
    assert outbox.wait_status(row_id, "failed").generation == 1
    outbox.run("UPDATE webhook_outbox SET status = 'pending', payload = '{\"n\": 2}'")
    assert outbox.wait_status(row_id, "delivered").generation == 2
    outbox.update(row_id, "status = 'pending'")
    row = outbox.wait(row_id, lambda row: row.generation == 3, "the third sending")
    assert (row.status, row.attempts) == ("delivered", 1)
    requests = bank.requests(hook)
    assert [json.loads(request.body) for request in requests] == [{"n": 1}, {"n": 2}, {"n": 2}]
    assert {request.header("x-webhook-id") for request in requests} == {row_id}


def test_a_manual_retry_brings_the_row_back(bank, outbox):
    hook = bank.hook("revived", Reply(500), Held(Reply(200)),
                     retry_config={**QUICK, "max_attempts": 1})
    row_id = outbox.insert()
    outbox.wait_status(row_id, "failed")
    bank.api.post(f"/v1/deliveries/{delivery_of(bank, row_id)['id']}/retry", expect=202)
    row = outbox.wait_status(row_id, "retrying")
    assert (row.attempts, row.is_under_way) == (1, True)
    bank.wait_requests(hook, 2)
    bank.receiver.release(hook.path)
    assert outbox.wait_status(row_id, "delivered").attempts == 2
    assert [(old, new) for old, new, _ in outbox.transitions(row_id)] == [
        ("pending", "failed"), ("failed", "retrying"), ("retrying", "delivered")]


def test_a_future_row_is_sent_later_and_a_deleted_one_breaks_nothing(bank, outbox):
    hook = bank.hook("deleted", Held(Reply(200)), events=["deleted"])
    bank.hook("later", events=["later"])
    deleted = outbox.insert(event_type="deleted")
    future = outbox.insert(event_type="later", next_attempt_at="2999-01-01")
    bank.wait_requests(hook, 1)
    outbox.run("DELETE FROM webhook_outbox WHERE id = %s", (deleted,))
    bank.receiver.release(hook.path)
    wait_metric(bank.api, 'postrider_source_rows_total{source="bank",outcome="missing"}',
                lambda value: value == 1)
    assert outbox.row(future).status == "pending" and not outbox.row(future).is_under_way
    outbox.update(future, "next_attempt_at = now()")
    outbox.wait_status(future, "delivered")
    assert outbox.row(deleted) is None


def test_a_row_that_cannot_become_an_event_is_failed_with_the_reason(bank, outbox):
    bank.hook()
    bad_type = outbox.insert(event_type="no type!")
    large = outbox.insert({"text": "x" * 2_000_000})
    no_type = outbox.insert(event_type=None)
    good = outbox.insert()
    assert "type" in outbox.wait_status(bad_type, "failed").last_error
    assert outbox.wait_status(large, "failed").last_error
    assert outbox.wait_status(no_type, "failed").last_error
    outbox.wait_status(good, "delivered")
    outbox.update(bad_type, "event_type = 'good.type', status = 'pending'")
    assert outbox.wait_status(bad_type, "delivered").last_error is None


def test_a_status_that_the_application_sets_meanwhile_is_kept(bank, outbox):
    hook = bank.hook("kept", Held(Reply(200)))
    row_id = outbox.insert()
    bank.wait_requests(hook, 1)
    outbox.wait(row_id, lambda row: row.is_under_way, "the row to be handed over")
    outbox.update(row_id, "status = 'cancelled'")
    bank.receiver.release(hook.path)
    row = outbox.wait(row_id, lambda row: row.generation == 1, "the end of the delivery")
    assert (row.status, row.attempts) == ("cancelled", 1)


def test_a_row_with_a_url_goes_to_exactly_that_url(bank, outbox):
    everything = bank.hook("everything")
    url = bank.receiver.url("/direct")
    first = outbox.insert(webhook_url=url, secret="own secret")
    second = outbox.insert(webhook_url=url, secret="own secret")
    other = outbox.insert(webhook_url=bank.receiver.url("/direct"), secret="another secret")
    refused = outbox.insert(webhook_url="ftp://example.com/hook")
    for row_id in (first, second, other):
        outbox.wait_status(row_id, "delivered")
    assert "url" in outbox.wait_status(refused, "failed").last_error
    requests = {request.header("x-webhook-id"): request
                for request in bank.receiver.requests("/direct")}
    assert set(requests) == {first, second, other}
    signature = hmac.new(b"own secret", requests[first].body, hashlib.sha256).hexdigest()
    assert requests[first].header("x-webhook-signature") == "sha256=" + signature
    assert bank.requests(everything) == []
    targets = [hook for hook in bank.api.all("/v1/webhooks?tenant_id=bank")
               if hook["name"] == "Rows of bank"]
    assert len(targets) == 2 and all(hook["events"] == [] for hook in targets)
    # Nothing else reaches them.
    event = bank.publish()["id"]
    bank.wait_done(event, everything)
    assert len(bank.receiver.requests("/direct")) == 3


def test_old_delivered_rows_are_removed(outbox, bank_server, make_world):
    outbox.run("INSERT INTO webhook_outbox (event_type, payload, status, delivered_at) SELECT 'a', "
               "'1', 'delivered', now() - interval '2 hours' FROM generate_series(1, 1200)")
    kept = outbox.insert()
    make_world(bank_server(outbox, keep_delivered_seconds=3600).start())
    outbox.wait_status(kept, "delivered")
    wait_for(lambda: outbox.counts() == {"delivered": 1}, "the removal of old rows")
    assert outbox.row(kept) is not None


# ---------------------------------------------------------------- failures


def totals(world):
    return [event["idempotency_key"] for event in world.api.all("/v1/events")]


def fill(outbox, count, start=0):
    outbox.run("INSERT INTO webhook_outbox (event_type, payload) SELECT 'bulk', "
               "json_build_object('n', n) FROM generate_series(%s, %s) n",
               (start, start + count - 1))


def test_kills_of_the_server_and_of_the_database_lose_no_row_and_no_status(
        outbox, bank_server, make_world, postgres):
    count = 10_000
    server = bank_server(outbox, tenant="bank", batch_max=100).start()
    world = make_world(server)
    world.tenant = "bank"
    hook = world.hook("bulk", retry_config=QUICK, max_in_flight=50)
    fill(outbox, count)
    for kill in range(10):
        target = (kill + 1) * count // 12
        wait_for(lambda: outbox.counts().get("delivered", 0) >= target, f"{target} rows")
        if kill == 3:
            postgres.kill()
            postgres.start()
        if kill == 6:
            postgres.restart()
        server.kill()
        server.start()
    world.api = server.api()
    wait_for(lambda: outbox.counts() == {"delivered": count}, "all rows to be delivered")
    keys = totals(world)
    assert len(keys) == len(set(keys)) == count
    received = {request.header("x-webhook-id") for request in world.requests(hook)}
    assert received == set(keys)
    assert outbox.run("SELECT count(*) FROM webhook_outbox WHERE attempts < 1 OR delivered_at IS "
                      "NULL OR postrider_handed_over_at IS NOT NULL "
                      "OR postrider_generation <> 1") == [(0,)]


def test_a_kill_between_the_attempt_and_the_write_back_loses_nothing(
        outbox, bank_server, make_world):
    server = bank_server(outbox, tenant="bank").start()
    world = make_world(server)
    world.tenant = "bank"
    hook = world.hook("settled", Reply(404), retry_config={**QUICK, "max_attempts": 1})
    # While the application holds the row, its status cannot be written.
    row_id = outbox.insert()
    connection = outbox.connect(autocommit=False)
    wait_for(lambda: outbox.row(row_id).is_under_way or outbox.row(row_id).status == "failed",
             "the row to be handed over")
    outbox.wait_status(row_id, "failed")
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM webhook_outbox WHERE id = %s FOR UPDATE", (row_id,))
        world.api.post(f"/v1/deliveries/{delivery_of(world, row_id)['id']}/retry", expect=202)
        world.wait_requests(hook, 2)
        wait_for(lambda: delivery_of(world, row_id)["status"] == "dead_letter", "the dead letter")
        server.kill()
    connection.rollback()
    connection.close()
    assert outbox.row(row_id).attempts == 1
    server.start()
    row = outbox.wait(row_id, lambda row: row.attempts == 2, "the second attempt")
    assert (row.status, row.is_under_way) == ("failed", False)


def test_two_nodes_share_a_table_without_sending_a_row_twice(outbox, bank_server, make_world):
    count = 3000
    servers = [bank_server(outbox, name=name, tenant="bank", batch_max=20)
               for name in ("first", "second")]
    worlds = []
    for server in servers:
        worlds.append(make_world(server.start()))
        worlds[-1].tenant = "bank"
    hooks = [world.hook(f"node{number}") for number, world in enumerate(worlds)]
    fill(outbox, count)
    wait_for(lambda: outbox.counts().get("delivered", 0) > count // 4, "a part of the rows")
    servers[0].kill()
    servers[0].start()
    worlds[0].api = servers[0].api()
    wait_for(lambda: outbox.counts() == {"delivered": count}, "all rows to be final")
    by_node = [totals(world) for world in worlds]
    assert all(by_node), "both nodes take rows"
    assert len(by_node[0]) + len(by_node[1]) == count
    assert not set(by_node[0]) & set(by_node[1])
    for hook, world, keys in zip(hooks, worlds, by_node):
        assert {request.header("x-webhook-id") for request in world.requests(hook)} == set(keys)


def follow(outbox, server, make_world, count, disturb):
    """Delivers `count` rows, calls `disturb` after each quarter, and checks every row."""
    world = make_world(server.start())
    world.tenant = "bank"
    hook = world.hook("bulk", retry_config=QUICK, max_in_flight=20)
    fill(outbox, count)
    for quarter in range(1, 4):
        wait_for(lambda: outbox.counts().get("delivered", 0) >= quarter * count // 4,
                 f"{quarter} quarters of the rows")
        disturb()
    wait_for(lambda: outbox.counts() == {"delivered": count}, "all rows to be delivered")
    keys = totals(world)
    assert len(keys) == len(set(keys)) == count
    assert {request.header("x-webhook-id") for request in world.requests(hook)} == set(keys)
    assert outbox.run("SELECT count(*) FROM webhook_outbox WHERE delivered_at IS NULL "
                      "OR postrider_handed_over_at IS NOT NULL") == [(0,)]


def test_a_cut_network_loses_no_row_and_no_status(outbox, postgres, bank_server, make_world):
    proxy = Proxy(postgres.port).start()
    try:
        server = bank_server(outbox, address=postgres.address(proxy.port), tenant="bank",
                             batch_max=20)
        follow(outbox, server, make_world, 2000, proxy.cut)
        proxy.refuse()
        late = outbox.insert(event_type="bulk")
        wait_for(lambda: server.api().get("/v1/sources")["data"][0]["state"] in (
            "reconnecting", "failing"), "the source to be cut off")
        proxy.resume()
        outbox.wait_status(late, "delivered")
    finally:
        proxy.stop()


def test_a_connection_pool_in_transaction_mode_is_enough(
        outbox, postgres, bank_server, make_world):
    with PgBouncer(postgres, "app") as pool:
        server = bank_server(outbox, address=pool.address, tenant="bank", batch_max=20)
        follow(outbox, server, make_world, 1000, lambda: None)
        assert outbox.run("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'") == [(0,)]


def test_a_database_that_is_away_at_start_is_read_when_it_comes(postgres, bank_server, make_world):
    outbox = StatusOutbox(postgres)
    row_id = outbox.insert()
    postgres.stop()
    try:
        server = bank_server(outbox, tenant="bank").start()
        world = make_world(server)
        wait_for(lambda: world.api.get("/v1/sources")["data"][0]["state"] in (
            "starting", "reconnecting", "failing"), "the source to wait")
    finally:
        postgres.start()
    outbox.wait_status(row_id, "delivered")
