"""Old things go, and are archived first: with ages of milliseconds instead of months."""

import datetime
import hashlib
import json
import os
import random
import re
import signal
import subprocess

from harness import integrity_check, run_command, wait_for
from receiver import Reply
from secrets_world import in_database
from world import SLOW

AGES = ("--retention-events-ms", "500", "--retention-dead-letters-ms", "500")


def archived_lines(directory):
    """Every line of every file that the manifest names, each file checked against it."""
    manifest = directory / "manifest.json"
    if not manifest.exists():
        return []
    listed = json.loads(manifest.read_text())
    assert listed["format"] == 1
    lines = []
    for entry in listed["files"]:
        data = (directory / entry["name"]).read_bytes()
        assert re.fullmatch(r"events-\d{8}T\d{6}Z-\d{6}\.jsonl\.zst", entry["name"])
        assert hashlib.sha256(data).hexdigest() == entry["sha256"]
        assert len(data) == entry["bytes"]
        text = subprocess.run(["zstd", "-dc"], input=data, capture_output=True, check=True).stdout
        found = [json.loads(line) for line in text.decode().splitlines()]
        assert len(found) == entry["lines"]
        times = [line["event"]["created_at"] for line in found]
        assert (min(times), max(times)) == (entry["first_at"], entry["last_at"])
        lines += found
    return lines


def archived_ids(directory):
    return {line["event"]["id"] for line in archived_lines(directory)}


def metric(api, name):
    text = api.request("GET", "/metrics").body.decode()
    found = re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)
    return float(found.group(1)) if found else 0


def test_old_events_go_and_what_waits_stays(own_server, make_world):
    server = own_server(*AGES).start()
    world = make_world(server)
    done = world.hook("done")
    waiting = world.hook("waiting", Reply(500), events=["held"], retry_config=SLOW)
    held = world.publish("held")["id"]
    gone = [world.publish()["id"] for _ in range(20)]
    wait_for(lambda: all(world.api.request("GET", f"/v1/events/{event}").status == 404
                         for event in gone), "old events to go")
    world.wait_status(held, waiting, "retrying")
    assert {item["id"] for item in world.api.all(f"/v1/events?tenant_id={world.tenant}")} == {held}
    listed = world.api.all(f"/v1/webhooks/{done.id}/deliveries")
    assert [item["event_id"] for item in listed] == [held], "found behind what is gone"
    wait_for(lambda: metric(world.api, 'webhook_retention_removed_total{kind="event"}') == 20,
             "all of them to be counted")
    # The numbers stay.
    total = world.api.get(f"/v1/stats?tenant_id={world.tenant}")["total"]
    assert total["published"] == 21

    fresh = world.publish()["id"]
    world.wait_requests(done, 22)
    assert fresh not in gone


def test_finished_operations_go_and_those_to_come_stay(own_server):
    api = own_server("--retention-operations-ms", "300").start().api()
    month = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=30)
    to_come = {"start_at": month.isoformat()}
    later = api.post("/v1/dlq/retry-batch", to_come, 202)["id"]
    done = [api.post("/v1/dlq/retry-batch", {}, 202)["id"] for _ in range(3)]
    cancelled = api.post("/v1/dlq/retry-batch", to_come, 202)["id"]
    api.post(f"/v1/operations/{cancelled}/cancel")
    wait_for(lambda: len(api.all("/v1/operations")) == 1, "finished operations to go")
    for operation in (*done, cancelled):
        assert api.request("GET", f"/v1/operations/{operation}").status == 404
    assert api.get(f"/v1/operations/{later}")["status"] == "scheduled"
    wait_for(lambda: metric(api, 'webhook_retention_removed_total{kind="operation"}') == 4,
             "all of them to be counted")


def test_a_dead_letter_goes_by_itself(own_server, make_world):
    server = own_server("--retention-dead-letters-ms", "500").start()
    world = make_world(server)
    hook = world.hook("dead", Reply(404))
    event = world.publish()["id"]
    wait_for(lambda: metric(world.api, 'webhook_retention_removed_total{kind="dead_letter"}') == 1,
             "the dead letter to go")
    assert world.api.get("/v1/dlq")["data"] == []
    assert world.api.get(f"/v1/events/{event}")["deliveries"] == []
    assert metric(world.api, f'webhook_dlq_size{{tenant_id="{world.tenant}"}}') == 0
    assert world.api.all(f"/v1/webhooks/{hook.id}/deliveries") == []


def test_what_goes_is_in_the_archive(own_server, make_world, tmp_path):
    archive = tmp_path / "archive"
    server = own_server(*AGES, "--archive", str(archive)).start()
    world = make_world(server)
    world.hook("hook", Reply(404, body=b"\xff no \n such thing"))
    data = {"text": "Grüße\n", "number": 10 ** 30}
    event = world.publish(data=data)["id"]
    wait_for(lambda: world.api.request("GET", f"/v1/events/{event}").status == 404, "it to go")
    lines = [line for line in archived_lines(archive) if line["event"]["id"] == event]
    delivered = [line for line in lines if line["deliveries"]]
    assert len(delivered) == 1, lines
    assert delivered[0]["event"]["data"] == data
    delivery = delivered[0]["deliveries"][0]
    assert delivery["status"] == "dead_letter"
    assert delivery["attempts"][0]["http_status"] == 404
    assert "such thing" in delivery["attempts"][0]["response_sample"]


def test_a_reload_changes_how_long_things_are_kept_and_where_they_go(own_server, make_world,
                                                                     tmp_path):
    file = tmp_path / "own.toml"
    file.write_text("[retention]\nevents_days = 90\n")
    server = own_server("--config", str(file)).start()
    world = make_world(server)
    event = world.publish()["id"]
    server.stop()
    in_database(server, "UPDATE event SET created_at = created_at - ?", 2 * 86_400_000)
    server.start()
    world.api = server.api()
    assert world.api.get(f"/v1/events/{event}")["id"] == event
    young = world.publish()["id"]

    def reload(text):
        file.write_text(text)
        seen = server.output().count("config.reload")
        server.signal(signal.SIGHUP)
        wait_for(lambda: server.output().count("config.reload") > seen, "the reload")
        return server.output().splitlines()

    refused = tmp_path / "a file"
    refused.write_text("")
    reload(f'[retention]\nevents_days = 1\narchive_directory = "{refused}/archive"\n')
    assert "config.reload_refused" in server.output()
    assert world.api.get(f"/v1/events/{event}")["id"] == event

    archive = tmp_path / "archive"
    reload(f'[retention]\nevents_days = 1\narchive_directory = "{archive}"\n')
    assert "config.restart_needed" not in server.output()
    wait_for(lambda: world.api.request("GET", f"/v1/events/{event}").status == 404, "it to go")
    assert archived_ids(archive) == {event}
    assert world.api.get(f"/v1/events/{young}")["id"] == young


def test_a_failing_archive_stops_removal_until_it_is_healed(own_server, make_world, tmp_path):
    archive = tmp_path / "archive"
    server = own_server(*AGES, "--archive", str(archive)).start()
    world = make_world(server)
    archive.rmdir()
    event = world.publish()["id"]
    wait_for(lambda: metric(world.api, "webhook_archive_failures_total") >= 2, "it to be noticed")
    assert world.api.get(f"/v1/events/{event}")["id"] == event
    assert world.api.request("GET", "/readyz").status == 200
    assert server.output().count("archive.failed") == 1, "once, not again and again"
    archive.mkdir()
    wait_for(lambda: world.api.request("GET", f"/v1/events/{event}").status == 404, "it to go")
    assert event in archived_ids(archive)
    wait_for(lambda: "archive.recovered" in server.output(), "the good news in the log")


def test_kill_9_loses_nothing_between_store_and_archive(own_server, make_world, tmp_path):
    archive = tmp_path / "archive"
    server = own_server("--retention-events-ms", "150", "--archive", str(archive)).start()
    choose = random.Random(7)
    published = set()
    for _ in range(6):
        world = make_world(server)
        answer = world.publish_batch([{"type": "a.b", "data": {"n": n}} for n in range(300)])
        published |= {item["id"] for item in answer["results"]}
        # Somewhere in the middle of reading, archiving and removing.
        wanted = len(archived_ids(archive)) + choose.randrange(0, 300)
        wait_for(lambda: len(archived_ids(archive)) >= min(wanted, len(published)), "some to go")
        server.kill()
        server.start()
    world = make_world(server)
    stored = {item["id"] for item in world.api.all("/v1/events")}
    assert stored | archived_ids(archive) == published
    wait_for(lambda: not world.api.get("/v1/events")["data"], "the rest to go")
    assert archived_ids(archive) == published
    server.stop()
    code, _, error = run_command("archive", "verify", str(archive))
    assert code == 0, error
    assert integrity_check(server.data) == "ok"


def test_the_file_becomes_smaller(own_server, make_world):
    server = own_server().start()
    world = make_world(server)
    large = "x" * 10_000
    for _ in range(5):
        world.publish_batch([{"type": "a.b", "data": large} for _ in range(200)])
    server.stop()
    database = server.data / "postrider.db"
    before = os.path.getsize(database)
    assert before > 10_000_000
    server.arguments += AGES
    server.start()
    api = server.api()
    wait_for(lambda: not api.get("/v1/events")["data"], "everything to go")

    def pages():
        done = subprocess.run(["sqlite3", "-readonly", str(database), "PRAGMA page_count"],
                              capture_output=True, text=True, check=False)
        return int(done.stdout or 1_000_000)
    wait_for(lambda: pages() * 4096 < before / 5, "pages to be given back")
    server.stop()
    assert os.path.getsize(database) < before / 5
    assert integrity_check(server.data) == "ok"
