"""A store that lost its newest transactions is not opened silently."""

import json
import os
import shutil
import sqlite3

import pytest

from harness import Server, run_command

pytestmark = pytest.mark.embedded_store("it replaces and truncates the files of SQLite")


def database(server):
    return server.data / "postrider.db"


def log(server):
    return server.data / "postrider.db-wal"


def index(server):
    return server.data / "postrider.db-shm"


def refusal(server):
    """Starts the server, which must refuse. Returns what it says."""
    server.launch()
    assert server.wait() == 2, server.output()
    said = server.stderr_file.read_text()
    assert said.startswith("postrider: ") and "--accept-data-loss" in said, said
    assert "backup" in said
    return said


def start_with(server, *arguments):
    usual, server.arguments = server.arguments, [*server.arguments, *arguments]
    server.start()
    server.arguments = usual
    return server.api()


def assert_accepted(server, events):
    """Starts with --accept-data-loss. The loss must be logged, audited and an alert."""
    api = start_with(server, "--accept-data-loss")
    assert len(api.all("/v1/events")) == events
    assert "store.data_loss_accepted" in server.stderr_file.read_text()
    entry = api.get("/v1/audit-log?action=store.data_loss_accepted")["data"][0]
    assert entry["actor"] == "system" and entry["detail"]["found"]
    alert = api.get("/v1/alerts?kind=store_data_lost&status=active")["data"][0]
    assert alert["severity"] == "critical" and "--accept-data-loss" in alert["detail"]
    assert api.post("/v1/events", {"type": "a.b", "data": 1}, expect=202)
    server.kill()
    server.start()  # Accepted once is enough.
    alerts = server.api().get("/v1/alerts?kind=store_data_lost")["data"]
    assert [alert["status"] for alert in alerts] == ["resolved"]
    assert len(server.api().all("/v1/events")) == events + 1


@pytest.fixture
def killed(own_server, make_world):
    """A server that was killed while two of its five events were only in the log."""
    server = own_server().start()
    world = make_world(server)
    world.publish_numbered(3)
    server.stop()
    server.start()
    world.api = server.api()
    world.publish_numbered(2)
    server.kill()
    return server


def remove_log(server):
    log(server).unlink()


def remove_log_and_index(server):
    log(server).unlink()
    index(server).unlink()


def empty_log(server):
    os.truncate(log(server), 0)


def halve_log(server):
    os.truncate(log(server), log(server).stat().st_size // 2)
    index(server).unlink()


def cut_one_byte(server):
    os.truncate(log(server), log(server).stat().st_size - 1)
    index(server).unlink()


def zero_log(server):
    log(server).write_bytes(bytes(log(server).stat().st_size))
    index(server).unlink()


def flip_one_bit(server):
    content = bytearray(log(server).read_bytes())
    content[len(content) // 2] ^= 1
    log(server).write_bytes(content)
    index(server).unlink()


@pytest.mark.parametrize("harm", [remove_log, remove_log_and_index, empty_log, halve_log,
                                  cut_one_byte, zero_log, flip_one_bit])
def test_a_log_that_lost_transactions_is_refused(killed, harm):
    harm(killed)
    assert "lost its newest transactions" in refusal(killed)
    refusal(killed)  # Nothing was changed by the first refusal.
    api = start_with(killed, "--accept-data-loss")
    assert 3 <= len(api.all("/v1/events")) <= 5


def test_accepted_data_loss_is_logged_audited_and_an_alert(killed):
    remove_log(killed)
    refusal(killed)
    assert_accepted(killed, events=3)


@pytest.mark.parametrize("orderly", [True, False], ids=["stopped", "killed"])
@pytest.mark.parametrize("word", ["missing", "empty"])
def test_a_missing_or_empty_database_is_refused(killed, orderly, word):
    if orderly:
        killed.start()
        killed.stop()
    if word == "missing":
        database(killed).unlink()
    else:
        os.truncate(database(killed), 0)
    assert f"is {word}" in refusal(killed)
    assert_accepted(killed, events=0)


def test_only_the_marker_is_left(killed):
    for file in (database, log, index):
        file(killed).unlink()
    assert "is missing" in refusal(killed)


@pytest.mark.parametrize("with_log", [False, True], ids=["alone", "under-a-newer-log"])
def test_an_older_copy_of_the_database_is_refused(killed, tmp_path, with_log):
    killed.start()
    killed.stop()
    shutil.copy(database(killed), tmp_path / "old.db")
    for _ in range(2):
        killed.start()
        killed.api().post("/v1/events", {"type": "a.b", "data": 1}, expect=202)
        if with_log:
            killed.kill()
        else:
            killed.stop()
    shutil.copy(tmp_path / "old.db", database(killed))
    assert "older copy" in refusal(killed)
    assert_accepted(killed, events=5)


def test_an_older_log_is_refused(killed, tmp_path):
    killed.start()
    api = killed.api()
    api.post("/v1/events", {"type": "a.b", "data": 1}, expect=202)
    shutil.copy(log(killed), tmp_path / "old-log")
    api.post("/v1/events", {"type": "a.b", "data": 1}, expect=202)
    killed.kill()
    shutil.copy(tmp_path / "old-log", log(killed))
    index(killed).unlink()
    assert "lost its newest transactions" in refusal(killed)


def test_the_database_of_another_server_is_refused(killed, own_server):
    other = own_server(name="other").start()
    other.stop()
    log(killed).unlink()
    index(killed).unlink()
    shutil.copy(database(other), database(killed))
    assert "another database" in refusal(killed)


def test_a_lost_change_of_a_webhook_is_noticed_too(own_server, make_world):
    server = own_server().start()
    world = make_world(server)
    hook = world.hook()
    server.stop()
    server.start()
    server.api().patch(f"/v1/webhooks/{hook.id}", {"name": "changed"})
    server.kill()
    log(server).unlink()
    assert "lost its newest transactions" in refusal(server)
    start_with(server, "--accept-data-loss")


def test_migrate_and_doctor_notice_the_loss_and_backup_still_works(killed, tmp_path):
    remove_log(killed)
    code, _, stderr = run_command("migrate", "--data", str(killed.data))
    assert code == 2 and "lost its newest transactions" in stderr
    code, stdout, _ = run_command("doctor", "--deep", "--data", str(killed.data), "--json",
                                  environment={"POSTRIDER_SERVER": "http://127.0.0.1:1"})
    store = [item for item in json.loads(stdout) if item["check"] == "store"]
    assert code == 1 and "lost its newest transactions" in store[0]["message"]
    code, _, _ = run_command("backup", "--data", str(killed.data), "--to", str(tmp_path / "copy"))
    assert code == 0


# ---------------------------------------------------------------- ordinary starts

def test_a_log_that_another_program_checkpointed_is_no_loss(killed):
    with sqlite3.connect(database(killed)) as shell:
        assert shell.execute("SELECT count(*) FROM event").fetchone() == (5,)
        shell.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    shell.close()
    log(killed).unlink(missing_ok=True)
    killed.start()
    assert len(killed.api().all("/v1/events")) == 5


def test_a_directory_without_a_marker_is_one_of_an_older_version(killed):
    (killed.data / "marker").unlink()
    killed.start()
    assert len(killed.api().all("/v1/events")) == 5
    assert (killed.data / "marker").stat().st_mode & 0o777 == 0o600
    killed.kill()
    killed.start()


def test_a_copy_of_a_stopped_directory_can_be_served(killed, tmp_path):
    killed.start()
    killed.stop()
    copy = Server(tmp_path / "copy")
    shutil.copytree(killed.data, copy.data)
    copy.start()
    assert len(copy.api().all("/v1/events")) == 5
    copy.stop()


def test_many_kills_and_restarts_are_never_refused(own_server, make_world):
    server = own_server().start()
    world = make_world(server)
    for number in range(6):
        world.publish_numbered(number * 20)
        server.kill()
        server.start()
        world.api = server.api()
    assert len(world.api.all("/v1/events")) == sum(number * 20 for number in range(6))
    assert world.api.get("/v1/alerts")["data"] == []


def test_a_backup_restored_in_place_is_recognised_and_audited(killed, tmp_path):
    copy = tmp_path / "copy.db"
    assert run_command("backup", "--data", str(killed.data), "--to", str(copy))[0] == 0
    killed.start()
    killed.api().post("/v1/events", {"type": "a.b", "data": 1}, expect=202)
    killed.kill()
    shutil.copy(copy, database(killed))
    said = refusal(killed)  # The old log does not belong to it.
    assert "restored backup" in said and "Delete" in said
    log(killed).unlink()
    index(killed).unlink()
    killed.start()
    api = killed.api()
    assert len(api.all("/v1/events")) == 5
    assert len(api.get("/v1/audit-log?action=store.restored")["data"]) == 1
    assert api.get("/v1/alerts?kind=store_data_lost")["data"] == []
    killed.kill()
    killed.start()
    assert len(killed.api().get("/v1/audit-log?action=store.restored")["data"]) == 1
