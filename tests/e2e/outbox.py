"""An application with an outbox in PostgreSQL, for tests of the sources of kind `outbox`."""

import contextlib
import itertools
import json
import sys

import psycopg2

from harness import ROOT, run_command, wait_for

sys.path.insert(0, str(ROOT / "tests" / "servers"))
from postgres import PostgresServer  # noqa: E402, F401
from proxy import Proxy  # noqa: E402, F401

_databases = itertools.count(1)


class Outbox:
    """A database of its own with a business table and an outbox."""

    def __init__(self, server, columns="native"):
        self.server = server
        self.name = f"shop_{next(_databases)}"
        self.address = server.make_database(self.name)
        code, _, stderr = run_command("outbox", "init", "--dsn", self.address, "--apply",
                                      "--columns", columns)
        assert code == 0, stderr
        self.run("CREATE TABLE orders (id text PRIMARY KEY)")

    def connect(self, autocommit=True):
        return self.server.connect(self.address, autocommit)

    def run(self, sql, values=None):
        with contextlib.closing(self.connect()) as connection, connection.cursor() as cursor:
            cursor.execute(sql, values)
            return cursor.fetchall() if cursor.description else None

    def emit(self, count, start=0):
        """Rows with the resources start, start + 1, …, in one transaction."""
        self.run("INSERT INTO webhook_outbox (type, data, resource_id) SELECT 'order.paid',"
                 " json_build_object('n', n), n FROM generate_series(%s, %s) n",
                 (start, start + count - 1))

    def rejected(self):
        return self.run("SELECT row, reason FROM webhook_outbox_rejected ORDER BY position")

    def expire_lease(self):
        """What passing time does."""
        self.run("UPDATE webhook_outbox_cursor SET lease_until = 'epoch'")


def configuration(directory, address, name="shop", **settings):
    """Writes a file with one source. Returns the arguments that use it."""
    lines = ["[[sources]]", f'name = "{name}"', 'kind = "outbox"',
             f"address = {json.dumps(address)}"]
    lines += [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
    file = directory / "sources.toml"
    file.write_text("\n".join(lines) + "\n")
    return ["--config", str(file)]


def source_of(api, name="shop"):
    return next(item for item in api.get("/v1/sources")["data"] if item["name"] == name)


def wait_state(api, *states):
    def look():
        source = source_of(api)
        return source if source["state"] in states else None
    return wait_for(look, f"the source to be {' or '.join(states)}")


def stored(api):
    """The resource of every event, in the order in which they were stored."""
    return [event["resource_id"] for event in reversed(api.all("/v1/events"))]


def wait_stored(api, expected):
    """Waits until exactly these resources are stored. Returns them in order."""
    wait_for(lambda: len(api.all("/v1/events")) >= len(expected), f"{len(expected)} events")
    found = stored(api)
    assert sorted(found) == sorted(expected)
    return found
