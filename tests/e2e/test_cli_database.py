"""`postrider migrate`, `backup` and `doctor` with the store in a PostgreSQL database."""

import contextlib
import itertools
import json

import psycopg2
import pytest

from cli import Cli
from harness import run_command
from outbox import PostgresServer

pytestmark = pytest.mark.embedded_store("it starts the database itself")

_databases = itertools.count(1)


@pytest.fixture(scope="module")
def postgres():
    with PostgresServer() as server:
        yield server


@pytest.fixture
def store(postgres):
    """The environment of servers with an empty database."""
    name = f"maintained_{next(_databases)}"
    postgres.make_database(name)
    return {"POSTRIDER_STORE": postgres.address(database=name)}


def change_version(store, change):
    with contextlib.closing(psycopg2.connect(store["POSTRIDER_STORE"])) as connection:
        with connection, connection.cursor() as cursor:
            cursor.execute(f"UPDATE postrider_schema SET version = version + {change}")


def migrate(store, *arguments):
    return run_command("migrate", *arguments, environment=store)


def test_migrate_reports_and_applies_the_version_of_the_database(store, tmp_path):
    code, stdout, _ = migrate(store, "--check", "--json")
    newest = json.loads(stdout)["to"]
    assert (code, json.loads(stdout)) == (1, {"from": 0, "to": newest, "up_to_date": False})
    code, stdout, stderr = run_command("migrate", "--store", store["POSTRIDER_STORE"],
                                       "--data", str(tmp_path / "none"))
    assert (code, stderr) == (0, "")
    assert stdout == f"The schema was upgraded from version 0 to {newest}.\n"
    assert migrate(store) == (0, f"The schema is up to date (version {newest}).\n", "")
    assert migrate(store, "--check")[0] == 0


def test_migrate_refuses_a_database_in_use_and_one_of_a_newer_version(own_server, store):
    server = own_server(environment=store).start()
    assert migrate(store)[0] == 0, "there is nothing to migrate"
    change_version(store, -1)
    assert migrate(store, "--check")[0] == 1
    code, stdout, stderr = migrate(store)
    assert (code, stdout) == (2, "") and "already used" in stderr and "Stop all servers" in stderr
    server.kill()
    change_version(store, 2)
    for arguments in ([], ["--check"]):
        code, stdout, stderr = migrate(store, *arguments)
        assert (code, stdout) == (2, "") and "newer version" in stderr


def test_a_database_that_cannot_be_reached_is_one_sentence_without_the_password(store):
    wrong = {"POSTRIDER_STORE": store["POSTRIDER_STORE"].replace("@", "-canary@")}
    code, stdout, stderr = migrate(wrong)
    assert (code, stdout) == (1, "") and "canary" not in stderr and stderr.count("\n") == 1
    for command in (["migrate"], ["doctor"], ["backup", "--to", "x"]):
        code, _, stderr = run_command(*command, environment={"POSTRIDER_STORE": "mysql://canary"})
        assert code == 2 and "postgres://" in stderr and "canary" not in stderr


def test_backup_names_the_tool_for_databases(store, tmp_path):
    code, stdout, stderr = run_command("backup", "--data", str(tmp_path), "--to",
                                       str(tmp_path / "x"), environment=store)
    assert (code, stdout) == (2, "")
    assert "pg_dump" in stderr and "docs/guide/postgresql.md" in stderr
    assert list(tmp_path.iterdir()) == []


def doctor(server, store, *arguments, code=0):
    cli = Cli(server.port)
    cli.environment.update(store)
    done, stdout, stderr = cli.run("doctor", "--json", *arguments)
    assert done == code, (done, stdout, stderr)
    return {item["check"]: item for item in json.loads(stdout)}


def test_doctor_passes_on_a_healthy_server_with_a_database(own_server, store):
    server = own_server(environment=store).start()
    found = doctor(server, store, "--data", str(server.data))
    for check in ("reachable", "version", "ready", "clock", "key", "data directory", "database"):
        assert found[check]["status"] == "ok", found[check]
    assert "disk" not in found and "store" not in found
    assert "schema version" in found["database"]["message"]
    assert "app-" not in found["database"]["message"], "the password is shown"
    deep = doctor(server, store, "--deep")
    assert deep["store"]["status"] == "warn" and "pg_amcheck" in deep["store"]["advice"]


def test_doctor_finds_a_database_that_cannot_be_used(own_server, store):
    server = own_server(environment=store).start()
    change_version(store, -1)
    assert doctor(server, store)["database"]["status"] == "warn"
    change_version(store, 2)
    assert "newer" in doctor(server, store, code=1)["database"]["message"]
    away = {"POSTRIDER_STORE": "postgres://127.0.0.1:1/p"}
    assert "127.0.0.1" in doctor(server, away, code=1)["database"]["message"]
