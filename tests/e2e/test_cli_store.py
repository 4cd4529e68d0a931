"""`postrider backup` and `postrider migrate`, which work on the data directory."""

import json
import os
import sqlite3
import stat
import threading

import pytest
from harness import Server, run_command

pytestmark = pytest.mark.embedded_store("the commands copy and migrate the files of SQLite")


def backup(server, target, *arguments):
    return run_command("backup", "--data", str(server.data), "--to", str(target), *arguments)


def events_in(file):
    with sqlite3.connect(file) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return database.execute("SELECT count(*) FROM event").fetchone()[0]


def test_a_backup_made_under_load_is_consistent_and_can_be_served(own_server, make_world,
                                                                  tmp_path):
    server = own_server().start()
    world = make_world(server)
    world.publish_numbered(20)
    stop = threading.Event()
    published = []

    def keep_publishing():
        api = server.api()
        while not stop.is_set():
            published.append(api.post("/v1/events", {"type": "a.b", "data": {}}, expect=202)["id"])
        api.close()

    publisher = threading.Thread(target=keep_publishing)
    publisher.start()
    try:
        copies = [tmp_path / f"copy-{number}.db" for number in range(3)]
        for copy in copies:
            code, stdout, stderr = backup(server, copy, "--json")
            assert (code, stderr) == (0, "") and json.loads(stdout)["bytes"] > 0
    finally:
        stop.set()
        publisher.join()
    counts = [events_in(copy) for copy in copies]
    assert counts[2] > 20, "events were published during the backups"
    assert 20 <= counts[0] <= counts[1] <= counts[2] <= 20 + len(published)
    assert stat.S_IMODE(copies[0].stat().st_mode) == 0o600, "the copy contains all secrets"
    assert not list(tmp_path.glob("*.partial*")) and not list(tmp_path.glob("copy*-*al"))
    server.assert_alive()

    restored = Server(tmp_path / "restored")
    restored.data.mkdir(parents=True, mode=0o700)
    os.rename(copies[2], restored.data / "postrider.db")
    restored.start()
    assert len(restored.api().all("/v1/events")) == counts[2]
    restored.stop()


def test_a_backup_of_a_killed_server_includes_its_write_ahead_log(own_server, make_world, tmp_path):
    server = own_server().start()
    make_world(server).publish_numbered(3)
    server.kill()  # The events are still in the write-ahead log.
    copy = tmp_path / "copy.db"
    assert backup(server, copy)[0] == 0
    assert events_in(copy) == 3
    server.start()
    assert len(server.api().all("/v1/events")) == 3


def test_a_backup_overwrites_a_file_only_with_force(own_server, tmp_path):
    server = own_server().start()
    target = tmp_path / "precious"
    target.write_text("precious")
    code, _, stderr = backup(server, target)
    assert code == 1 and "--force" in stderr and target.read_text() == "precious"
    assert backup(server, target, "--force")[0] == 0
    assert events_in(target) == 0


def test_a_failed_backup_leaves_no_files(own_server, tmp_path):
    server = own_server().start()
    code, _, stderr = backup(server, tmp_path / "no" / "such" / "folder")
    assert code == 1 and "no/such/folder" in stderr
    code, _, stderr = run_command("backup", "--data", str(tmp_path), "--to", str(tmp_path / "x"))
    assert code == 2 and "no store" in stderr
    assert not (tmp_path / "x").exists() and not list(tmp_path.glob("*.partial*"))


def migrate(data, *arguments):
    return run_command("migrate", "--data", str(data), *arguments)


def test_migrate_reports_the_version_and_refuses_a_store_in_use(own_server):
    server = own_server().start()
    newest = json.loads(migrate(server.data, "--check", "--json")[1])["to"]
    assert newest >= 1
    code, _, stderr = migrate(server.data)
    assert code == 2 and "already used" in stderr, "a running server's store is left alone"
    server.stop()
    code, stdout, _ = migrate(server.data)
    assert (code, stdout) == (0, f"The schema is up to date (version {newest}).\n")


def test_an_old_schema_is_reported_and_upgraded(tmp_path):
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    sqlite3.connect(data / "postrider.db").close()
    (data / "postrider.db").touch()
    code, stdout, _ = migrate(data, "--check", "--json")
    newest = json.loads(stdout)["to"]
    assert (code, json.loads(stdout)) == (1, {"from": 0, "to": newest, "up_to_date": False})
    code, stdout, _ = migrate(data)
    assert (code, stdout) == (0, f"The schema was upgraded from version 0 to {newest}.\n")
    assert migrate(data, "--check")[0] == 0


def test_a_store_of_a_newer_version_is_refused(own_server):
    server = own_server().start()
    server.stop()
    with sqlite3.connect(server.data / "postrider.db") as database:
        database.execute("PRAGMA user_version = 9999")
    code, _, stderr = migrate(server.data)
    assert code == 2 and "newer" in stderr
    assert migrate(server.data, "--check")[0] == 2


def test_migrate_refuses_a_directory_without_a_store(tmp_path):
    code, _, stderr = migrate(tmp_path)
    assert code == 2 and "no store" in stderr and os.listdir(tmp_path) == []


@pytest.mark.parametrize("command", [["migrate"], ["migrate", "--check"], ["backup", "--to", "x"]])
def test_a_file_that_is_not_a_database_gets_one_sentence_and_exit_code_2(tmp_path, command):
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    (data / "postrider.db").write_bytes(b"This is not a database. " * 100)
    code, stdout, stderr = run_command(*command, "--data", str(data), directory=tmp_path)
    assert (code, stdout, stderr.count("\n")) == (2, "", 1), stderr
    assert not (tmp_path / "x").exists()
    assert run_command("serve", "--data", str(data), "--listen", "127.0.0.1:0")[0] == 2
