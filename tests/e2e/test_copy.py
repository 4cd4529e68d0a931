"""`postrider copy`: a data directory becomes a PostgreSQL database, with everything in it."""

import contextlib
import datetime
import itertools
import json
import os
import subprocess

import psycopg2
import pytest

from harness import BINARY, DEADLINE, Server, run_command, wait_for
from outbox import PostgresServer
from receiver import Reply
from world import SLOW

pytestmark = pytest.mark.embedded_store("it starts both stores itself")

_databases = itertools.count(1)

LISTS = ("webhooks", "events", "deliveries", "attempts", "dlq", "alerts", "api-keys", "tenants",
         "event-types", "operations", "notification-channels")
# A text that PostgreSQL does not store as it is.
ODD = {"type": "odd.text", "data": {"text": "\u0000 é \U0001f600"}, "idempotency_key": "key-1"}


@pytest.fixture(scope="module")
def postgres():
    with PostgresServer() as server:
        yield server


class Database:
    """An empty database."""

    def __init__(self, server):
        name = f"copy_{next(_databases)}"
        server.make_database(name)
        self.address = server.address(database=name)
        self.environment = {"POSTRIDER_STORE": self.address}

    def connect(self):
        connection = psycopg2.connect(self.address)
        connection.autocommit = True
        return contextlib.closing(connection)

    def run(self, sql):
        with self.connect() as connection, connection.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchall() if cursor.description else None


@pytest.fixture
def database(postgres):
    return Database(postgres)


def copy(data, database, *arguments, environment=None):
    return run_command("copy", "--from", f"sqlite:{data}", *arguments, deadline=DEADLINE * 4,
                       environment={**database.environment, **(environment or {})})


def copied(data, database):
    """Copies and returns the number of rows by table."""
    code, stdout, stderr = copy(data, database, "--json")
    assert (code, stderr) == (0, ""), stderr
    report = json.loads(stdout)
    assert report["was_finished"] is False
    return {table["name"]: table["rows"] for table in report["tables"]}


def in_a_fixed_order(attempts):
    """Sorts those that began in the same millisecond. They are listed by delivery before a copy,
    and in the order in which they were recorded after it."""
    times = [attempt["executed_at"] for attempt in attempts]
    assert times == sorted(times, reverse=True)
    attempts.sort(key=lambda attempt: (attempt["executed_at"], attempt["id"]), reverse=True)


def everything(api):
    """All lists and all single objects of the API."""
    today = datetime.datetime.now(datetime.timezone.utc)
    days = [(today + datetime.timedelta(days=days)).strftime("%Y-%m-%d") for days in (-1, 1)]
    span = f"from={days[0]}&to={days[1]}&bucket=5m"
    seen = {name: api.all(f"/v1/{name}") for name in LISTS}
    in_a_fixed_order(seen["attempts"])
    for name in ("events", "deliveries", "webhooks", "tenants", "operations"):
        for item in seen[name]:
            path = f"/v1/{name}/{item['id']}"
            seen[path] = api.get(path)
    for hook in seen["webhooks"]:
        path = f"/v1/webhooks/{hook['id']}"
        for part in ("attempts", "deliveries", "circuit-breaker/history"):
            seen[f"{path}/{part}"] = api.all(f"{path}/{part}")
        in_a_fixed_order(seen[f"{path}/attempts"])
        for part in ("health", "secret"):
            seen[f"{path}/{part}"] = api.get(f"{path}/{part}")
        seen[f"{path} stats"] = api.get(f"/v1/stats?webhook_id={hook['id']}&{span}")
    for channel in seen["notification-channels"]:
        path = f"/v1/notification-channels/{channel['id']}/notifications"
        seen[path] = api.all(path)
    seen["stats"] = api.get(f"/v1/stats?{span}")
    return seen


def differences(before, after, place=""):
    """The places of values that differ, with both values. Time that passes does not count."""
    if isinstance(before, dict) and isinstance(after, dict):
        names = (before.keys() | after.keys()) - {"window_start", "last_used_at"}
        if "blocked_by" in place or "history" in place:
            names -= {"duration_ms"}  # The circuit is still open.
        return [each for name in sorted(names) for each in
                differences(before.get(name), after.get(name), f"{place}.{name}")]
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return [each for index, pair in enumerate(zip(before, after))
                for each in differences(*pair, f"{place}[{index}]")]
    return [] if before == after else [f"{place}: {before!r} is now {after!r}"]


def audit_entries(api):
    return list(reversed(api.all("/v1/audit-log")))


@pytest.fixture
def full(own_server, make_world):
    """A server with deliveries in every state, and its world. All requests have been made."""
    server = own_server().start()
    world = make_world(server)
    world.api.post("/v1/tenants", {"id": world.tenant, "name": "Täst", "metadata": {"a": "b"}},
                   expect=201)
    world.channel = world.api.post("/v1/notification-channels", {
        "name": "people", "kind": "webhook", "group_window_ms": 600_000,
        "target": {"url": world.receiver.url(world.path("people"))}}, expect=201)
    world.good = world.hook("good", metadata={"team": "a"}, headers={"X-One": "1"})
    off = {"enabled": False}
    world.retrying = world.hook("retrying", Reply(500, body=b"later \x00\xff"), retry_config=SLOW,
                                circuit_breaker_config=off)
    world.dead = world.hook("dead", Reply(404), circuit_breaker_config=off)
    world.open = world.hook("open", Reply(500), retry_config=SLOW, circuit_breaker_config={
        "minimum_throughput": 3, "sleep_window_ms": 600_000, "sleep_max_ms": 1_800_000})
    world.paused = world.hook("paused")
    world.strict = world.hook("strict", ordering_guarantee="strict")
    world.by_type = world.hook("by-type", ordering_guarantee="per_event_type")
    for hook in (world.paused, world.strict, world.by_type):
        world.api.post(f"/v1/webhooks/{hook.id}/pause", {})
    world.api.post("/v1/event-types", {"name": "order.created", "description": "an order"},
                   expect=201)
    events = world.publish_numbered(30, resource_id="r-1")
    events += world.publish_numbered(5, type="order.paid", start=30)
    world.publish(**ODD)
    for event in events:
        world.wait_done(event, world.good)
        world.wait_status(event, world.dead, "dead_letter")
        world.wait_status(event, world.retrying, "retrying")
    world.wait_circuit(world.open, "open")
    return server, world


def test_everything_is_as_it_was_before(full, own_server, database):
    server, world = full
    key = world.api.post("/v1/api-keys", {"name": "reader", "scope": "admin"}, expect=201)
    cancelled = world.publish("order.created", {"n": 99})["id"]
    world.api.post(f"/v1/deliveries/{world.delivery(cancelled, world.paused)['id']}/cancel", {},
                   expect=200)
    removed = world.hook("removed")
    world.wait_done(world.publish("order.created", {"n": 100})["id"], removed)
    world.api.delete(f"/v1/webhooks/{removed.id}")
    operation = world.api.post("/v1/dlq/retry-batch",
                               {"filter": {"webhook_ids": [world.dead.id]}}, expect=202)
    wait_for(lambda: world.api.get(f"/v1/operations/{operation['id']}")["status"] == "completed",
             "the operation")
    wait_for(lambda: not world.api.all("/v1/deliveries?status=pending&webhook_id="
                                       f"{world.dead.id}"), "the dead letters")
    later = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=30)
    world.api.post("/v1/dlq/retry-batch", {"start_at": later.isoformat(),
                                           "filter": {"tenant_id": world.tenant}}, expect=202)
    server.stop()
    server.start()
    world.api = server.api()
    before = everything(world.api)
    assert all(before[name] for name in LISTS), "a list is empty"
    assert before[f"/v1/notification-channels/{world.channel['id']}/notifications"]
    log = audit_entries(world.api)
    server.stop()

    rows = copied(server.data, database)
    assert rows["event"] == len(before["events"]) and rows["audit_entry"] >= len(log)
    assert rows["waiting"] + rows["delivery"] >= len(before["deliveries"])

    other = own_server(name="other", environment=database.environment).start()
    api = other.api()
    assert differences(before, everything(api)) == []
    assert audit_entries(api)[:len(log)] == log
    assert api.get("/v1/audit-log/verify")["holds"] is True
    assert other.api(key["key"]).get("/v1/webhooks")["data"]

    world.api = api
    assert world.publish(**ODD, expect=200)["duplicate"] is True
    for hook in (world.paused, world.strict, world.by_type):
        api.post(f"/v1/webhooks/{hook.id}/resume", {})
    expected = [n for n in range(35)]
    wait_for(lambda: len(numbers_of(world, world.strict)) >= 37, "the backlog in order")
    assert numbers_of(world, world.strict)[:35] == expected
    wait_for(lambda: len(numbers_of(world, world.by_type)) >= 37, "the backlog by type")
    by_type = numbers_of(world, world.by_type)
    for first, last in ((0, 30), (30, 35)):
        assert [n for n in by_type if first <= n < last] == expected[first:last]
    wait_for(lambda: set(expected) <= set(numbers_of(world, world.paused)), "the paused backlog")
    new = world.publish("order.created", {"n": 200})["id"]
    assert api.all("/v1/events")[0]["id"] == new, "sequences continue"


def numbers_of(world, hook):
    """The `n` of the requests that have one, in order of arrival."""
    bodies = [json.loads(request.body)["data"] for request in world.requests(hook)]
    return [data["n"] if "n" in data else -1 for data in bodies]


class Gate:
    """Stops the copy at a row of a table, until it is opened."""

    def __init__(self, database, table, condition):
        self.database = database
        self.table = table
        self.connection = psycopg2.connect(database.address)
        self.connection.autocommit = True
        self.execute("SELECT pg_advisory_lock(77)")
        self.execute(f"""
            CREATE FUNCTION wait_at_gate() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN PERFORM pg_advisory_xact_lock_shared(77); RETURN NEW; END $$;
            CREATE TRIGGER gate BEFORE INSERT ON {table} FOR EACH ROW WHEN ({condition})
            EXECUTE FUNCTION wait_at_gate()""")

    def execute(self, sql):
        with self.connection.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchall() if cursor.description else None

    def is_reached(self):
        return self.execute("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = 77"
                            " AND NOT granted")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.execute("SELECT pg_terminate_backend(pid, 5000) FROM pg_locks"
                     " WHERE locktype = 'advisory' AND objid = 77 AND NOT granted")
        self.execute("SELECT pg_advisory_unlock(77)")
        self.execute(f"DROP TRIGGER gate ON {self.table}")
        self.execute("DROP FUNCTION wait_at_gate")
        wait_for(lambda: not self.execute(
            "SELECT 1 FROM pg_stat_activity WHERE datname = current_database()"
            " AND pid <> pg_backend_pid()"), "the database to notice that the copy was killed")
        self.connection.close()


def kill_copy_at(data, database, table, condition):
    """Starts a copy and kills it when it adds the row."""
    with Gate(database, table, condition) as gate:
        process = subprocess.Popen([BINARY, "copy", "--from", f"sqlite:{data}"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                   env={**os.environ, **database.environment})
        try:
            wait_for(lambda: gate.is_reached() or process.poll() is not None, "the row")
            assert process.poll() is None, process.stderr.read()
        finally:
            process.kill()
            process.communicate()


def test_a_copy_that_is_killed_at_any_time_continues(own_server, make_world, database):
    server = own_server().start()
    world = make_world(server)
    hook = world.hook("many")
    world.api.post(f"/v1/webhooks/{hook.id}/pause", {})
    for start in range(0, 9_000, 500):
        world.publish_batch([{"type": "a.b", "data": {"n": n}} for n in range(start, start + 500)])
    server.kill()  # The newest transactions are in the log only.

    code, _, stderr = copy(server.data, database, "--verify-only")  # Makes the tables.
    assert code == 2 and "not complete" in stderr
    kill_copy_at(server.data, database, "webhook", "true")
    kill_copy_at(server.data, database, "waiting", "NEW.sequence = 10")
    kill_copy_at(server.data, database, "waiting", "NEW.sequence = 8900")
    stored = database.run("SELECT rows FROM copy_progress WHERE name = 'waiting'")[0][0]
    assert 0 < stored < 9_000, "the copy did not get far"
    kill_copy_at(server.data, database, "event", "NEW.sequence = 5000")

    other = own_server(name="early", environment=database.environment).launch()
    assert other.wait() == 2
    assert "unfinished copy" in other.output() and "postrider copy" in other.output()

    rows = copied(server.data, database)
    assert (rows["event"], rows["waiting"], rows["webhook"]) == (9_000, 9_000, 1)
    code, stdout, _ = copy(server.data, database)
    assert code == 0 and "already been copied" in stdout

    world.api = own_server(name="other", environment=database.environment).start().api()
    assert len(world.api.all("/v1/deliveries?status=pending")) == 9_000
    world.api.post(f"/v1/webhooks/{hook.id}/resume", {})
    wait_for(lambda: len(set(world.numbers(hook))) == 9_000, "every event", DEADLINE * 4)


def test_stores_that_a_server_uses_are_refused(own_server, database):
    server = own_server().start()
    code, _, stderr = copy(server.data, database)
    assert code == 2 and "already used" in stderr
    server.stop()

    other = own_server(name="other", environment=database.environment).start()
    code, _, stderr = copy(server.data, database)
    assert code == 2 and "already used" in stderr
    other.stop()
    code, _, stderr = copy(server.data, database)
    assert code == 2 and "not empty" in stderr and "Use an empty database" in stderr


def test_a_changed_row_is_found(own_server, make_world, database):
    server = own_server().start()
    make_world(server).publish_numbered(3)
    server.stop()
    copied(server.data, database)
    code, stdout, _ = copy(server.data, database, "--verify-only")
    assert code == 0 and "are equal" in stdout
    database.run("UPDATE event SET data = '{}' WHERE sequence = 2")
    code, _, stderr = copy(server.data, database, "--verify-only")
    assert code == 1 and "table event" in stderr


def test_after_a_copy_only_the_database_is_used(own_server, make_world, database):
    server = own_server().start()
    make_world(server).publish_numbered(3)
    server.stop()
    copied(server.data, database)
    mark = server.data / "copied-to"
    assert server.launch().wait() == 2
    assert str(mark) in server.output() and "POSTRIDER_STORE" in server.output()
    assert "***@" in server.output() and database.address not in server.output()

    other = own_server(name="other", environment=database.environment).start()
    make_world(other).publish_numbered(1)
    other.stop()
    code, _, stderr = copy(server.data, database, "--verify-only")
    assert code == 2 and "A server has used the database" in stderr
    assert "mpty the database" not in stderr, "that would delete what was acknowledged since"
    code, stdout, _ = copy(server.data, database)
    assert code == 0 and "already been copied" in stdout

    mark.unlink()
    assert len(server.start().api().all("/v1/events")) == 3


def test_encrypted_secrets_need_their_key(own_server, make_world, database):
    key = {"POSTRIDER_SECRETS_KEY": "ab" * 32}
    server = own_server(environment=key).start()
    world = make_world(server)
    hook = world.hook()
    world.wait_done(world.publish("a.b")["id"], hook)
    server.stop()
    code, _, stderr = copy(server.data, database)
    assert code == 2 and "no key is configured" in stderr
    code, _, stderr = copy(server.data, database,
                           environment={"POSTRIDER_SECRETS_KEY": "cd" * 32})
    assert code == 2 and "key" in stderr
    code, _, stderr = copy(server.data, database, environment=key)
    assert code == 0, stderr
    assert not database.run("SELECT 1 FROM webhook WHERE sealed = 0")
    other = own_server(name="other", environment={**database.environment, **key}).start()
    secret = other.api().get(f"/v1/webhooks/{hook.id}/secret")
    assert secret["secret"] == hook.secret


def test_a_fan_out_that_is_not_finished_continues(own_server, make_world, database):
    server = own_server().start()
    world = make_world(server)
    hooks = [world.hook("fan") for _ in range(400)]
    world.publish_batch([{"type": "a.b", "data": n} for n in range(30)])
    server.kill()
    rows = copied(server.data, database)
    assert rows["fanout"] > 0, "all deliveries were made before the server was killed"
    world.api = own_server(name="other", environment=database.environment).start().api()
    wait_for(lambda: world.receiver.count(hooks[0].path) >= 30 * 400, "every delivery",
             DEADLINE * 4)


@pytest.mark.parametrize("arguments, message", [
    (["--from", "/var/lib/postrider", "--to", "postgres://h/d"], "--from requires sqlite:DIR"),
    (["--from", "sqlite:/nowhere"], "--to or POSTRIDER_STORE"),
    (["--from", "sqlite:/nowhere", "--to", "mysql://h/d"], "--to"),
    (["--from", "sqlite:/nowhere", "--to", "postgres://h/d"], "no store in /nowhere"),
])
def test_wrong_arguments_are_explained(arguments, message):
    code, stdout, stderr = run_command("copy", *arguments)
    assert (code, stdout) == (2, "") and message in stderr, stderr
