"""Events from the application's own PostgreSQL transactions, mode `cursor`."""

import contextlib
import json
import random
import subprocess
import threading
import time

import psycopg2
import pytest

from harness import DEADLINE, ROOT, metric, metrics_page, wait_for
from outbox import (Outbox, PostgresServer, Proxy, configuration, source_of, stored, wait_state,
                    wait_stored)
from pgbouncer import PgBouncer


@pytest.fixture(scope="module")
def postgres():
    with PostgresServer() as server:
        yield server


@pytest.fixture
def outbox(postgres):
    return Outbox(postgres)


@pytest.fixture
def reading_server(own_server, tmp_path):
    """Starts a server that reads an address."""
    def make(address, name="own", **settings):
        directory = tmp_path / f"config-{name}"
        directory.mkdir()
        return own_server(*configuration(directory, address, **settings), name=name).start()
    return make


def numbers(start, count):
    return [str(number) for number in range(start, start + count)]


# ---------------------------------------------------------------- nothing lost, nothing twice


class Writer(threading.Thread):
    """Writes orders and their events, in short, long and rolled back transactions.

    An aggregate is locked by its transaction, as an application does, so its versions are committed
    in order. The table `orders` says which were."""

    def __init__(self, outbox, name, transactions):
        super().__init__(daemon=True)
        self.outbox = outbox
        self.label = name
        self.transactions = transactions
        self.random = random.Random(name)
        self.error = None

    def run(self):
        try:
            left = self.transactions
            connection = None
            while left > 0:
                try:
                    connection = connection or self.outbox.connect(autocommit=False)
                    self.write(connection)
                    left -= 1
                except psycopg2.Error:  # The database server was killed.
                    connection = None
        except Exception as error:  # Shown by the test.
            self.error = error

    def write(self, connection):
        chance = self.random.random()
        with connection.cursor() as cursor:
            # In one order, so that writers do not wait for each other in a circle.
            for aggregate in sorted(self.random.sample(range(1, 13), self.random.randint(1, 12))):
                cursor.execute("UPDATE aggregate SET version = version + 1 WHERE id = %s "
                               "RETURNING version", (aggregate,))
                order = f"{aggregate}:{cursor.fetchone()[0]}"
                cursor.execute("INSERT INTO orders VALUES (%s)", (order,))
                cursor.execute("SELECT postrider_emit('order.paid', %s, resource_id => %s)",
                               (json.dumps({"order": order}), order))
                if self.random.random() < 0.3:
                    connection.commit()
            if chance < 0.1:
                cursor.execute("SELECT pg_sleep(0.2)")
        if chance < 0.25:
            connection.rollback()
        else:
            connection.commit()


def test_every_committed_row_is_stored_once_through_kills(outbox, reading_server, postgres):
    outbox.run("CREATE TABLE aggregate AS SELECT n AS id, 0 AS version "
               "FROM generate_series(1, 12) n")
    server = reading_server(outbox.address, batch_max=100)
    writers = [Writer(outbox, name, 120) for name in "abcd"]
    for writer in writers:
        writer.start()
    # Ten thousand rows in all, with those of one large transaction in between.
    held = outbox.connect(autocommit=False)
    with held.cursor() as cursor:
        cursor.execute("INSERT INTO webhook_outbox (type, data, resource_id) SELECT 'order.paid', "
                       "'1', 'bulk:' || n FROM generate_series(1, 8000) n")
    for kill in range(10):
        api = server.api()
        before = source_of(api)["received"]
        wait_for(lambda: source_of(api)["received"] > before or not any(
            writer.is_alive() for writer in writers), "progress")
        server.kill()
        if kill == 3:
            held.commit()
            held.close()
        if kill == 6:
            postgres.kill()
            postgres.start()
        server.start()
    for writer in writers:
        writer.join(120)
        assert writer.error is None
    expected = [order for order, in outbox.run("SELECT id FROM orders")]
    expected += [f"bulk:{n}" for n in range(1, 8001)]
    assert len(expected) > 10_000
    found = wait_stored(server.api(), expected)
    versions = {}
    for order in found:
        aggregate, _, version = order.partition(":")
        assert int(version) == versions.get(aggregate, 0) + 1, f"{order} is out of order"
        versions[aggregate] = int(version)


def test_a_transaction_held_open_for_a_minute_delays_only_its_own_rows(outbox, reading_server):
    server = reading_server(outbox.address)
    api = server.api()
    end = time.monotonic() + 60
    with contextlib.closing(outbox.connect(autocommit=False)) as held:
        with held.cursor() as cursor:
            cursor.execute("SELECT postrider_emit('order.paid', '1', resource_id => 'late')")
        rows = 0
        while time.monotonic() < end:
            outbox.emit(10, start=rows)
            rows += 10
            wait_stored(api, numbers(0, rows))
            time.sleep(2)
        held.commit()
    assert wait_stored(api, [*numbers(0, rows), "late"])[-1] == "late"
    assert source_of(api)["stored"] == rows + 1 and source_of(api)["duplicates"] == 0


def test_a_large_table_is_drained_without_dead_rows(outbox, reading_server):
    rows = 1_000_000
    outbox.emit(rows)
    server = reading_server(outbox.address, batch_max=1000)
    api = server.api()
    wait_for(lambda: source_of(api)["stored"] == rows, f"{rows} events", 15 * DEADLINE)

    def is_empty():
        return outbox.run("SELECT count(*) FROM webhook_outbox") == [(0,)]
    wait_for(is_empty, "the bucket to be emptied")
    outbox.run("SELECT pg_stat_force_next_flush()")
    for table, live, dead in outbox.run(
            "SELECT relname, n_live_tup, n_dead_tup FROM pg_stat_user_tables "
            "WHERE relname LIKE 'webhook_outbox%'"):
        assert dead < 200, (table, live, dead)  # The cursor's one row is updated in its page.
    assert outbox.run("SELECT sum(n_tup_upd + n_tup_del) FROM pg_stat_user_tables WHERE "
                      "relname IN ('webhook_outbox_0', 'webhook_outbox_1', 'webhook_outbox_2')"
                      ) == [(0,)]
    assert outbox.run("SELECT pg_relation_size('webhook_outbox_cursor') <= 65536") == [(True,)]
    outbox.emit(10, start=rows)
    wait_for(lambda: source_of(api)["stored"] == rows + 10, "later rows")


# ---------------------------------------------------------------- servers that go away


def test_a_database_that_is_away_at_the_start_is_read_when_it_comes(tmp_path, reading_server):
    other = PostgresServer()
    try:
        server = reading_server(other.address())
        api = server.api()
        reason = wait_state(api, "reconnecting", "failing")["reason"]
        assert reason and "app-7d1f-password" not in reason
        assert api.request("GET", "/readyz").status == 200
        other.start()
        assert "does not exist" in wait_for(
            lambda: (source_of(api)["reason"] or "").find("postrider outbox init") > 0
            and source_of(api)["reason"], "the missing table to be named")
        late = Outbox(other)
        other.connect().cursor().execute(f'DROP DATABASE app WITH (FORCE)')
        other.connect().cursor().execute(f'ALTER DATABASE {late.name} RENAME TO app')
        late.address = other.address()
        late.emit(20)
        assert wait_stored(api, numbers(0, 20)) == numbers(0, 20)
        assert "app-7d1f-password" not in server.output()
    finally:
        other.close()


def test_a_cut_network_loses_nothing(outbox, postgres, reading_server):
    proxy = Proxy(postgres.port).start()
    try:
        server = reading_server(postgres.address(proxy.port, outbox.name))
        api = server.api()
        for step in range(3):
            outbox.emit(100, start=100 * step)
            proxy.cut()
        wait_stored(api, numbers(0, 300))
        proxy.refuse()
        wait_state(api, "reconnecting", "failing")
        outbox.emit(100, start=300)
        proxy.resume()
        assert wait_stored(api, numbers(0, 400)) == numbers(0, 400)
        assert source_of(api)["reconnects"] >= 1
    finally:
        proxy.stop()


def test_a_connection_pool_in_transaction_mode_is_enough(outbox, postgres, reading_server):
    with PgBouncer(postgres, outbox.name) as pool:
        server = reading_server(pool.address)
        api = server.api()
        outbox.emit(700)
        wait_stored(api, numbers(0, 700))
        for step in range(3):
            outbox.emit(1, start=700 + step)
            wait_stored(api, numbers(0, 701 + step))
        # Nothing that lasts longer than a transaction is left behind in the pool.
        assert outbox.run("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'") == [(0,)]
        assert outbox.run("SELECT pg_notification_queue_usage()") == [(0.0,)]
        server.stop()
        assert outbox.run("SELECT node FROM webhook_outbox_cursor") == [(None,)]


# ---------------------------------------------------------------- several nodes


def test_one_of_two_nodes_reads_and_the_other_takes_over(outbox, reading_server):
    first = reading_server(outbox.address, name="first")
    second = reading_server(outbox.address, name="second")
    wait_state(first.api(), "connected")
    wait_state(second.api(), "standby")
    outbox.emit(50)
    wait_stored(first.api(), numbers(0, 50))
    assert stored(second.api()) == []

    first.kill()
    outbox.emit(50, start=50)
    outbox.expire_lease()
    wait_stored(second.api(), numbers(50, 50))
    first.start()
    wait_state(first.api(), "standby")

    second.stop()  # Gives the lease back.
    outbox.emit(50, start=100)
    wait_stored(first.api(), numbers(0, 50) + numbers(100, 50))


# ---------------------------------------------------------------- rows that cannot become events


def test_bad_rows_are_kept_aside_and_do_not_stop_the_others(outbox, reading_server):
    server = reading_server(outbox.address)
    api = server.api()
    outbox.emit(5)
    repeated = "11111111-2222-3333-4444-555555555555"
    outbox.run(
        "INSERT INTO webhook_outbox (type, data, resource_id, priority) VALUES"
        " (NULL, '1', 'no type', NULL), ('not a type!', '1', 'bad type', NULL),"
        " ('order.paid', to_json(repeat('x', 400000)), 'too large', NULL),"
        " ('order.paid', '1', 'bad priority', 'urgent')")
    for data in ('{"a": 1}', '{"a": 1}', '{"a": 2}'):
        outbox.run("SELECT postrider_emit('order.paid', %s, resource_id => 'repeated', id => %s)",
                   (data, repeated))
    outbox.emit(5, start=5)
    wait_stored(api, [*numbers(0, 10), "repeated"])
    rejected = wait_for(lambda: len(outbox.rejected()) == 5 and outbox.rejected(), "five rows")
    assert [row["resource_id"] for row, _ in rejected] == [
        "no type", "bad type", "too large", "bad priority", "repeated"]
    assert len(rejected[2][0]["data"]) == 400_000
    reasons = [reason for _, reason in rejected]
    assert all(reason.endswith(".") for reason in reasons), reasons
    assert "type" in reasons[0] and "priority" in reasons[3], reasons
    source = source_of(api)
    assert (source["stored"], source["duplicates"], source["rejected"]) == (11, 1, 5)
    assert metric(metrics_page(api), 'postrider_source_messages_total{source="shop",'
                  'outcome="rejected"}') == 5


def test_debezium_columns_become_resource_and_ordering_key(postgres, reading_server):
    outbox = Outbox(postgres, columns="debezium")
    server = reading_server(outbox.address)
    outbox.run("INSERT INTO webhook_outbox (id, aggregatetype, aggregateid, type, payload) VALUES "
               "('11111111-2222-3333-4444-555555555555', 'order', '7', 'OrderPaid', '{\"a\":  1}')")
    wait_stored(server.api(), ["7"])
    event = server.api().all("/v1/events")[0]
    event = server.api().get(f"/v1/events/{event['id']}")
    assert event["type"] == "OrderPaid" and event["resource_id"] == "7"
    assert event["ordering_key"] == "7" and event["data"] == {"a": 1}
    assert event["idempotency_key"] == "11111111-2222-3333-4444-555555555555"


def test_a_paused_source_reads_nothing_until_it_is_resumed(outbox, reading_server):
    server = reading_server(outbox.address)
    api = server.api()
    wait_state(api, "connected")
    api.post("/v1/sources/shop/pause")
    wait_state(api, "paused")
    outbox.emit(10)
    api.post("/v1/sources/shop/resume")
    wait_stored(api, numbers(0, 10))


# ---------------------------------------------------------------- roles


def test_roles_with_the_privileges_of_the_guide_are_enough(outbox, postgres, reading_server):
    page = (ROOT / "docs" / "guide" / "source-outbox.md").read_text()
    grants = page.partition("## Privileges")[2].partition("```sql\n")[2].partition("```")[0]
    with contextlib.closing(postgres.connect()) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE ROLE writer LOGIN PASSWORD 'w'; CREATE ROLE postrider LOGIN "
                       "PASSWORD 'p'")
    outbox.run(grants.replace(" TO app", " TO writer"))
    writer = postgres.address(database=outbox.name, user="writer", password="w")
    with contextlib.closing(postgres.connect(writer)) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT postrider_emit('order.paid', '1', resource_id => 'a')")
        cursor.execute("SELECT postrider_emit('not a type!', '1')")
        with pytest.raises(psycopg2.Error):
            cursor.execute("SELECT data FROM webhook_outbox")
    outbox.run("UPDATE webhook_outbox_bucket SET since = 'epoch'")
    server = reading_server(postgres.address(database=outbox.name, user="postrider", password="p"))
    wait_stored(server.api(), ["a"])
    wait_for(lambda: len(outbox.rejected()) == 1, "the rejected row")
    wait_for(lambda: outbox.run("SELECT count(*) FROM webhook_outbox") == [(0,)],
             "the bucket to be emptied")


# ---------------------------------------------------------------- another database cluster


def test_a_restored_dump_is_noticed_and_adopted(outbox, reading_server, tmp_path):
    server = reading_server(outbox.address, name="before")
    outbox.emit(30)
    wait_stored(server.api(), numbers(0, 30))
    server.stop()
    outbox.emit(10, start=30)
    dump = subprocess.run(["pg_dump", outbox.address], check=True, capture_output=True).stdout

    other = PostgresServer(own_cluster=True, settings={"max_prepared_transactions": 5})
    # Transactions whose numbers have more than 32 bits.
    subprocess.run([*other.command("pg_resetwal"), "-e", "7", "-D", other.data], check=True,
                   capture_output=True, cwd="/")
    with other:
        address = other.make_database("restored")
        subprocess.run(["psql", "-q", "-v", "ON_ERROR_STOP=1", address], input=dump, check=True,
                       stdout=subprocess.DEVNULL)
        server = reading_server(address, name="after")
        api = server.api()
        reason = wait_state(api, "reconnecting", "failing")["reason"]
        assert "another database cluster" in reason and "SELECT webhook_outbox_adopt()" in reason
        assert stored(api) == []
        with contextlib.closing(other.connect(address)) as connection:
            with connection.cursor() as cursor:
                cursor.execute("SELECT webhook_outbox_adopt()")
                assert cursor.fetchone() == (10,)
                cursor.execute("INSERT INTO webhook_outbox (type, data, resource_id) "
                               "VALUES ('order.paid', '1', 'new')")
        assert wait_stored(api, [*numbers(30, 10), "new"]) == [*numbers(30, 10), "new"]
        check_prepared_transaction(other, address, api)


def check_prepared_transaction(postgres, address, api):
    """A prepared transaction is read after its commit."""
    before = stored(api)
    with contextlib.closing(postgres.connect(address)) as connection:
        cursor = connection.cursor()
        cursor.execute("BEGIN")
        cursor.execute("SELECT postrider_emit('order.paid', '1', resource_id => 'prepared')")
        cursor.execute("PREPARE TRANSACTION 'outbox'")
        cursor.execute("SELECT postrider_emit('order.paid', '1', resource_id => 'other')")
        wait_stored(api, [*before, "other"])
        cursor.execute("COMMIT PREPARED 'outbox'")
        wait_stored(api, [*before, "other", "prepared"])
