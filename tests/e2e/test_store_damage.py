"""Damaged pages are found: by `postrider doctor --deep` and by the background check."""

import json
import sqlite3
import subprocess

import pytest

from cli import Cli
from harness import run_command, wait_for

pytestmark = pytest.mark.embedded_store("it overwrites pages of SQLite")

PAGE = 4096
FAST_CHECK = ("--set", "store_check.rows_per_second=1000000")


def leaves(server, name):
    """The leaf pages of a table or an index. The server must be stopped."""
    with sqlite3.connect(server.data / "postrider.db") as database:
        pages = [row[0] for row in database.execute(
            "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf'", [name])]
    database.close()
    assert len(pages) > 2, name
    return pages


def overwrite(server, page, content=bytes(PAGE)):
    with (server.data / "postrider.db").open("r+b") as file:
        file.seek((page - 1) * PAGE)
        before = file.read(PAGE)
        file.seek((page - 1) * PAGE)
        file.write(content)
    return before


def deep(server):
    """Runs `doctor --deep`. Returns the exit code and the findings about the store."""
    port = server.port if server.process else 1
    code, stdout, _ = run_command(
        "doctor", "--deep", "--data", str(server.data), "--json",
        environment={"POSTRIDER_SERVER": f"http://127.0.0.1:{port}"})
    return code, [item for item in json.loads(stdout) if item["check"] == "store"]


@pytest.fixture
def stopped(own_server, make_world):
    """A stopped server with 2,000 events."""
    server = own_server(*FAST_CHECK).start()
    world = make_world(server)
    for _ in range(4):
        world.publish_batch([{"type": "a.b", "data": {"x": "y" * 50}}] * 500)
    server.stop()
    return server


def test_doctor_deep_accepts_a_sound_store_stopped_and_running(stopped):
    code, found = deep(stopped)
    assert code == 0 and [item["status"] for item in found] == ["ok"], found
    stopped.start()
    code, found = deep(stopped)
    assert code == 0 and [item["status"] for item in found] == ["ok"], found
    stopped.kill()
    assert deep(stopped)[0] == 0, "a killed server's store is sound too"


def test_doctor_deep_shows_its_progress(stopped):
    code, shown = Cli(1).on_terminal("doctor", "--deep", "--data", str(stopped.data))
    assert code == 0, shown
    assert "check  [" in shown and "100 %" in shown and "event" in shown


@pytest.mark.parametrize("name", ["event", "sqlite_autoindex_event_1"])
def test_doctor_deep_names_a_damaged_table(stopped, name):
    overwrite(stopped, leaves(stopped, name)[1])
    code, found = deep(stopped)
    assert code == 1 and {item["status"] for item in found} == {"fail"}
    assert any("event" in item["message"] for item in found), found
    assert "backup" in found[-1]["advice"]


def test_doctor_deep_notices_an_altered_audit_log(stopped):
    with sqlite3.connect(stopped.data / "postrider.db") as database:
        database.execute("UPDATE audit_entry SET detail = '{}x' WHERE sequence = 1")
    database.close()
    if deep(stopped)[0] == 0:
        pytest.fail("the altered entry was not noticed")


def test_doctor_deep_without_a_store_fails(tmp_path):
    code, stdout, _ = run_command("doctor", "--deep", "--data", str(tmp_path), "--json",
                                  environment={"POSTRIDER_SERVER": "http://127.0.0.1:1"})
    assert code == 1 and "no store" in json.loads(stdout)[-1]["message"]


@pytest.mark.parametrize("name", ["event", "sqlite_autoindex_event_1"])
def test_the_background_check_raises_an_alert_that_names_the_table(stopped, name):
    damaged = leaves(stopped, name)[1]
    stopped.start()
    api = stopped.api()
    wait_for(lambda: "store.checked" in stopped.output(), "a complete check")
    assert api.get("/v1/alerts?kind=store_corrupt")["data"] == []
    before = overwrite(stopped, damaged)
    alert = wait_for(lambda: api.get("/v1/alerts?kind=store_corrupt&status=active")["data"],
                     "the alert")[0]
    assert alert["severity"] == "critical" and name in alert["detail"], alert
    assert alert["webhook_id"] is None and alert["tenant_id"] is None
    page = api.request("GET", "/metrics").body.decode()
    assert 'postrider_alerts_active{kind="store_corrupt"} 1' in page
    overwrite(stopped, damaged, before)
    wait_for(lambda: api.get("/v1/alerts?kind=store_corrupt&status=resolved")["data"],
             "a complete check without damage")


def test_the_background_check_can_be_switched_off(own_server):
    server = own_server("--set", "store_check.rows_per_second=0").start()
    server.stop()
    assert "store.checked" not in server.output()
    assert subprocess.run(["sqlite3", str(server.data / "postrider.db"), "SELECT 1"], check=True,
                          capture_output=True).stdout == b"1\n"
