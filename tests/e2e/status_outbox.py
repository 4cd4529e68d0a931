"""An application that reads the status of its webhooks in its own table."""

import contextlib
import itertools
import json
import sys

from harness import ROOT, run_command, wait_for

sys.path.insert(0, str(ROOT / "tests" / "servers"))
from postgres import PostgresServer  # noqa: E402, F401
from proxy import Proxy  # noqa: E402, F401

_schemas = itertools.count(1)

FINAL = ("delivered", "failed")
# What happened to the status, in order. The trigger runs in the transaction that changes it.
HISTORY = """
CREATE TABLE history (n bigserial, id text, old text, new text, attempts int);
CREATE FUNCTION remember() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO history (id, old, new, attempts)
  VALUES (NEW.id, OLD.status, NEW.status, NEW.attempts);
  RETURN NULL;
END $$;
CREATE TRIGGER remember AFTER UPDATE ON webhook_outbox FOR EACH ROW
  WHEN (OLD.status <> NEW.status OR OLD.attempts <> NEW.attempts) EXECUTE FUNCTION remember()
"""


class Row:
    """A row of the outbox as the application sees it."""

    def __init__(self, columns, values):
        self.__dict__.update(zip(columns, values))

    def __repr__(self):
        return str(self.__dict__)


class StatusOutbox:
    """A schema of its own in the database of the application."""

    def __init__(self, server):
        self.server = server
        self.schema = f"bank_{next(_schemas)}"
        self.address = server.address()
        self.run(f"CREATE SCHEMA {self.schema}")
        code, _, stderr = run_command("outbox", "init", "--mode", "status", "--dsn", self.address,
                                      "--table", f"{self.schema}.webhook_outbox", "--apply")
        assert code == 0, stderr
        self.run(HISTORY)

    def connect(self, autocommit=True):
        connection = self.server.connect(self.address, autocommit)
        with connection.cursor() as cursor:
            cursor.execute(f"SET search_path = {self.schema}")
        return connection

    def run(self, sql, values=None):
        with contextlib.closing(self.connect()) as connection, connection.cursor() as cursor:
            cursor.execute(sql, values)
            return cursor.fetchall() if cursor.description else None

    def insert(self, payload=None, **columns):
        """Returns the id of the new row."""
        values = {"event_type": "transaction.created",
                  "payload": json.dumps({} if payload is None else payload), **columns}
        names = ", ".join(values)
        marks = ", ".join(["%s"] * len(values))
        (row_id,), = self.run(f"INSERT INTO webhook_outbox ({names}) VALUES ({marks}) RETURNING id",
                              tuple(values.values()))
        return row_id

    def update(self, row_id, change):
        self.run(f"UPDATE webhook_outbox SET {change} WHERE id = %s", (row_id,))

    def row(self, row_id):
        with contextlib.closing(self.connect()) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT status, attempts, last_error, next_attempt_at, delivered_at, "
                           "next_attempt_at > now() AS is_later, created_at, "
                           "postrider_handed_over_at IS NOT NULL AS is_under_way, "
                           "postrider_generation AS generation "
                           "FROM webhook_outbox WHERE id = %s", (row_id,))
            found = cursor.fetchone()
            return Row([column.name for column in cursor.description], found) if found else None

    def wait(self, row_id, condition, what):
        def look():
            row = self.row(row_id)
            return row if row and condition(row) else None
        return wait_for(look, f"{what}: {self.row(row_id)}")

    def wait_status(self, row_id, *statuses):
        return self.wait(row_id, lambda row: row.status in statuses, f"status {statuses}")

    def transitions(self, row_id):
        return [(old, new, attempts) for old, new, attempts in self.run(
            "SELECT old, new, attempts FROM history WHERE id = %s ORDER BY n", (row_id,))]

    def counts(self):
        return dict(self.run("SELECT status, count(*) FROM webhook_outbox GROUP BY status"))


def configuration(directory, outbox, address=None, **settings):
    """Writes a file with the source `bank`. Returns the arguments that use it."""
    lines = ["[[sources]]", 'name = "bank"', 'kind = "outbox"', 'mode = "status"',
             f"address = {json.dumps(address or outbox.address)}",
             f'table = "{outbox.schema}.webhook_outbox"']
    lines += [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
    file = directory / "sources.toml"
    file.write_text("\n".join(lines) + "\n")
    return ["--config", str(file)]
