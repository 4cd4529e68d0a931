"""`postrider outbox init`: the SQL of an outbox, printed or applied."""

import contextlib
import json
import subprocess
import sys

import psycopg2
import pytest

from harness import ROOT, run_command

sys.path.insert(0, str(ROOT / "tests" / "servers"))
from postgres import PASSWORD, PostgresServer  # noqa: E402


@pytest.fixture(scope="module")
def postgres():
    with PostgresServer() as server:
        yield server


def init(*arguments):
    return run_command("outbox", "init", *arguments)


def values(address, sql):
    with contextlib.closing(psycopg2.connect(address)) as connection:
        connection.autocommit = True
        with connection.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchall()


@pytest.mark.parametrize("columns", ["native", "debezium"])
def test_the_printed_sql_makes_an_outbox(postgres, columns):
    address = postgres.make_database(f"printed_{columns}")
    code, sql, stderr = init("--columns", columns)
    assert (code, stderr) == (0, "")
    for _ in range(2):  # It can be run again.
        subprocess.run(["psql", "-q", "-v", "ON_ERROR_STOP=1", address], input=sql, text=True,
                       check=True)
    values(address, "SELECT postrider_emit('order.paid', '{\"id\": 7}', resource_id => '7')")
    payload = {"native": "data", "debezium": "payload"}[columns]
    aggregate = {"native": "resource_id", "debezium": "aggregateid"}[columns]
    assert values(address, f"SELECT {payload}::text, {aggregate}, type FROM webhook_outbox") == [
        ('{"id": 7}', "7", "order.paid")]


def test_the_sql_is_applied_by_an_ordinary_role(postgres):
    address = postgres.make_database("applied")
    values(address, "CREATE SCHEMA app; SELECT 1")
    for _ in range(2):
        code, stdout, stderr = init("--dsn", address, "--table", "app.events", "--apply")
        assert (code, stdout, stderr) == (0, "The outbox app.events is ready.\n", "")
    values(address, "SELECT app.events_emit('a.b', '1')")
    code, stdout, _ = init("--dsn", address, "--table", "app.events", "--apply", "--json")
    assert (code, json.loads(stdout)["applied"]) == (0, True)
    assert values(address, "SELECT count(*) FROM app.events") == [(1,)]


def test_an_outbox_works_whatever_the_search_path_of_the_writer_is(postgres):
    address = postgres.make_database("elsewhere")
    values(address, "CREATE SCHEMA app; SELECT 1")
    assert init("--dsn", address, "--table", "app.events", "--apply")[0] == 0
    values(address, "SET search_path = pg_catalog; "
                    "INSERT INTO app.events (type, data) VALUES ('a.b', '1'); "
                    "SELECT app.events_emit('a.b', '1'), app.events_adopt()")
    assert values(address, "SELECT count(*) FROM app.events") == [(2,)]


def test_errors_say_what_is_wrong_without_the_password(postgres):
    address = postgres.make_database("errors")
    assert init("--apply")[0] == 2
    code, _, stderr = init("--table", "a;b")
    assert code == 2 and "`schema.table`" in stderr
    code, _, stderr = init("--mode", "nonsense")
    assert code == 2
    values(address, "CREATE TABLE webhook_outbox (id int); SELECT 1")
    code, _, stderr = init("--dsn", address, "--apply")
    assert code == 2 and "was not made for the mode cursor" in stderr
    wrong = postgres.address(database="errors", password=PASSWORD + "-wrong")
    code, _, stderr = init("--dsn", wrong, "--apply")
    assert code == 1 and "password authentication failed" in stderr and PASSWORD not in stderr
    code, _, stderr = init("--dsn", f"postgres://app:{PASSWORD}@127.0.0.1:1/app", "--apply")
    assert code == 1 and PASSWORD not in stderr
    code, _, stderr = init("--dsn", f"{PASSWORD} nonsense", "--apply")
    assert code == 2 and PASSWORD not in stderr
