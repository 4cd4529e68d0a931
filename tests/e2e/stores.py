"""The store of the tests' servers: files of their own, or databases of one PostgreSQL server.

POSTRIDER_TEST_STORE=postgres runs the tests on PostgreSQL. Each data directory then has a database,
which stays the same when its server is started again. Tests about the files themselves carry the
marker `embedded_store` with the reason and are not run; tests of what a crash may not lose carry
`durable_store`, and their PostgreSQL server calls fsync.
"""

import contextlib
import itertools
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

sys.path.insert(0, str(ROOT / "tests" / "servers"))

from postgres import PostgresServer  # noqa: E402

ON_POSTGRES = os.environ.get("POSTRIDER_TEST_STORE", "embedded") == "postgres"


class Databases:
    """The databases of this process's tests, on a PostgreSQL server that is started when the first
    one is needed."""

    def __init__(self, fsync):
        self._fsync = fsync
        self._numbers = itertools.count(1)
        self._names = {}  # {data directory: name}
        self._server = None

    @property
    def server(self):
        if self._server is None:
            # Several servers of one test are idle at the same time, each with all its connections.
            self._server = PostgresServer(self._fsync, {"max_connections": 200}).start()
        return self._server

    def name(self, data):
        data = str(data)
        if data not in self._names:
            name = f"store_{next(self._numbers)}"
            self.server.make_database(name)
            self._names[data] = name
        return self._names[data]

    def has(self, data):
        return str(data) in self._names

    def address(self, data):
        return self.server.address(database=self.name(data))

    def connect(self, data):
        """As the superuser."""
        return self.server.connect(self.server.admin_address(self.name(data)))

    def close(self):
        if self._server is not None:
            self._server.close()
            self._server = None


_fast = Databases(fsync=False)
_durable = Databases(fsync=True)
_new = [_fast]  # Where the databases of servers that are started from now on are made.


def use_durable(durable):
    _new[0] = _durable if durable else _fast


def close():
    for databases in (_fast, _durable):
        databases.close()


def _databases_of(data):
    return next((each for each in (_fast, _durable) if each.has(data)), _new[0])


def environment(data, given):
    """What a server on the data directory `data` gets besides the `given` environment."""
    if not ON_POSTGRES or "POSTRIDER_STORE" in given:
        return {}
    return {"POSTRIDER_STORE": _databases_of(data).address(data)}


def shown(data):
    """How a server on this data directory names its store: without a password."""
    if not ON_POSTGRES:
        return str(data)
    return re.sub(r":[^:@/]+@", ":***@", _databases_of(data).address(data))


def run_sql(data, sql, *values):
    """Runs SQL, with ? for each value, on the store of a stopped server. Returns selected rows."""
    if not ON_POSTGRES:
        with contextlib.closing(sqlite3.connect(pathlib.Path(data) / "postrider.db")) as database:
            with database:
                return database.execute(sql, values).fetchall()
    with contextlib.closing(_databases_of(data).connect(data)) as connection:
        with connection.cursor() as cursor:
            cursor.execute(sql.replace("?", "%s"), values)
            return cursor.fetchall() if cursor.description else []


def contents(data):
    """All bytes of the data directory and of the database's rows."""
    files = [file.read_bytes() for file in sorted(pathlib.Path(data).rglob("*")) if file.is_file()]
    return b"".join([*files, *(_row_bytes(data) if ON_POSTGRES else [])])


def _row_bytes(data):
    with contextlib.closing(_databases_of(data).connect(data)) as connection:
        with connection.cursor() as cursor:
            cursor.execute("SELECT relname FROM pg_class WHERE relkind = 'r'"
                           " AND relnamespace = 'public'::regnamespace")
            for (table,) in cursor.fetchall():
                cursor.execute(f'SELECT * FROM "{table}"')
                for row in cursor.fetchall():
                    for value in row:
                        yield value.tobytes() if isinstance(value, memoryview) else (
                            str(value).encode())


@contextlib.contextmanager
def away(data):
    """The database accepts no connections while the block runs."""
    databases = _databases_of(data)
    name = databases.name(data)
    with contextlib.closing(databases.server.connect()) as admin, admin.cursor() as cursor:
        cursor.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
        try:
            cursor.execute("SELECT pg_terminate_backend(pid, 20000) FROM pg_stat_activity"
                           " WHERE datname = %s", (name,))
            yield
        finally:
            cursor.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")


def integrity_of_killed(data, copy):
    """integrity_check of a server that was killed. The recovery of SQLite changes its files, so a
    copy is checked."""
    if not ON_POSTGRES:
        shutil.copytree(data, copy)
    return integrity_check(data if ON_POSTGRES else copy)


def integrity_check(data):
    """Checks the structure of a store. The files of SQLite must not be open. Returns "ok" or what
    is wrong."""
    if ON_POSTGRES:
        databases = _databases_of(data)
        done = subprocess.run(
            [*databases.server.command("pg_amcheck"), "--install-missing", "--heapallindexed",
             "--host", databases.server.root, "--port", str(databases.server.port),
             "--username", "postgres", databases.name(data)],
            capture_output=True, text=True, check=False, cwd="/")
        return "ok" if done.returncode == 0 else done.stdout + done.stderr
    files = sorted(pathlib.Path(data).glob("*.db"))
    assert files, f"no database in {data}: {sorted(os.listdir(data))}"
    done = subprocess.run(["sqlite3", str(files[0]), "PRAGMA integrity_check"],
                          capture_output=True, text=True, check=True)
    return done.stdout.strip()
