"""The C++ outbox helper: the example writes an order and its event in one transaction."""

import contextlib
import os
import subprocess
import sys

import psycopg2
import pytest

from consumer import build_consumer
from harness import DEADLINE, ROOT, run_command

sys.path.insert(0, str(ROOT / "tests" / "servers"))
from postgres import PostgresServer  # noqa: E402


@pytest.fixture(scope="module")
def address():
    """A database with an outbox and the table of the example."""
    with PostgresServer() as server:
        code, _, stderr = run_command("outbox", "init", "--dsn", server.address(), "--apply")
        assert code == 0, stderr
        query(server.address(), "CREATE TABLE orders (id text PRIMARY KEY, total numeric NOT NULL)")
        yield server.address()


@pytest.fixture(scope="session")
def program(tmp_path_factory, installation):
    build = tmp_path_factory.mktemp("shop")
    build_consumer(ROOT / "examples" / "outbox" / "cpp", build, installation)
    return build / "shop"


def query(address, sql):
    with contextlib.closing(psycopg2.connect(address)) as connection:
        connection.autocommit = True
        with connection.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchall() if cursor.description else None


def place(program, address, *arguments):
    """Runs the example. Returns its exit code and output."""
    done = subprocess.run([str(program), *arguments], capture_output=True, text=True, check=False,
                          env={**os.environ, "DATABASE_URL": address}, timeout=DEADLINE)
    return done.returncode, done.stdout + done.stderr


def test_the_order_and_its_event_exist_together_or_not_at_all(program, address):
    order = "7 \"north\" 'Grüße'"
    code, printed = place(program, address, order, "12.50")
    assert code == 0 and printed.startswith("committed "), printed
    event_id = printed.split()[1]
    code, printed = place(program, address, "8", "1", "fail")
    assert code == 0 and printed.startswith("rolled back "), printed
    code, printed = place(program, address, order, "1")
    assert code == 1 and "duplicate key" in printed

    assert query(address, "SELECT id, total::text FROM orders") == [(order, "12.50")]
    assert query(address, "SELECT id::text, type, data->>'order', data->>'total', resource_id,"
                          " ordering_key, source, tenant_id, priority, metadata,"
                          " now() - created_at BETWEEN '0' AND '1 hour' FROM webhook_outbox") == [
        (event_id, "order.placed", order, "12.50", order, order, "shop", None, None, None, True)]
