"""Retention: expired data is archived and removed. Ages are milliseconds here."""

import datetime
import hashlib
import json
import os
import random
import re
import signal
import subprocess

import pytest

from harness import metric, metrics_page, run_command, wait_for, wait_metric
from receiver import Reply
from secret_checks import bytes_on_disk, in_database, key_of
from stores import integrity_check
from world import SLOW

# The interval of the sweeps depends on the shortest age.
FREQUENT_SWEEPS = ("--retention-operations-ms", "500")
AGES = ("--retention-events-ms", "500", "--retention-dead-letters-ms", "500")


def archived_lines(directory):
    """Checks each archive file against the manifest. Returns the lines of all files."""
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


def test_expired_events_are_removed_and_waiting_deliveries_stay(own_server, make_world):
    server = own_server(*AGES).start()
    world = make_world(server)
    done = world.hook("done")
    waiting = world.hook("waiting", Reply(500), events=["held"], retry_config=SLOW)
    held = world.publish("held")["id"]
    gone = [world.publish()["id"] for _ in range(20)]
    wait_for(lambda: all(world.api.request("GET", f"/v1/events/{event}").status == 404
                         for event in gone), "expired events to be removed")
    world.wait_status(held, waiting, "retrying")
    assert {item["id"] for item in world.api.all(f"/v1/events?tenant_id={world.tenant}")} == {held}
    listed = world.api.all(f"/v1/webhooks/{done.id}/deliveries")
    assert [item["event_id"] for item in listed] == [held], "lists skip removed events"
    wait_metric(world.api, 'postrider_retention_removed_total{kind="event"}', lambda n: n == 20)
    # Statistics are kept.
    total = world.api.get(f"/v1/stats?tenant_id={world.tenant}")["total"]
    assert total["published"] == 21

    fresh = world.publish()["id"]
    requests = world.wait_requests(done, 22)
    assert requests[-1].header("webhook-id") == fresh, "later events are still delivered"


def test_finished_operations_are_removed_and_scheduled_ones_stay(own_server):
    api = own_server("--retention-operations-ms", "300").start().api()
    month = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=30)
    to_come = {"start_at": month.isoformat()}
    later = api.post("/v1/dlq/retry-batch", to_come, 202)["id"]
    done = [api.post("/v1/dlq/retry-batch", {}, 202)["id"] for _ in range(3)]
    cancelled = api.post("/v1/dlq/retry-batch", to_come, 202)["id"]
    api.post(f"/v1/operations/{cancelled}/cancel")
    wait_for(lambda: len(api.all("/v1/operations")) == 1, "finished operations to be removed")
    for operation in (*done, cancelled):
        assert api.request("GET", f"/v1/operations/{operation}").status == 404
    assert api.get(f"/v1/operations/{later}")["status"] == "scheduled"
    wait_metric(api, 'postrider_retention_removed_total{kind="operation"}', lambda n: n == 4)


def test_an_expired_dead_letter_is_removed_before_its_event(own_server, make_world):
    server = own_server("--retention-dead-letters-ms", "500").start()
    world = make_world(server)
    hook = world.hook("dead", Reply(404))
    event = world.publish()["id"]
    wait_metric(world.api, 'postrider_retention_removed_total{kind="dead_letter"}',
                lambda n: n == 1)
    assert world.api.get("/v1/dlq")["data"] == []
    assert world.api.get(f"/v1/events/{event}")["deliveries"] == []
    dlq_size = f'webhook_dlq_size{{tenant_id="{world.tenant}"}}'
    assert metric(metrics_page(world.api), dlq_size) == 0
    assert world.api.all(f"/v1/webhooks/{hook.id}/deliveries") == []


def test_removed_events_are_in_the_archive(own_server, make_world, tmp_path):
    archive = tmp_path / "archive"
    server = own_server(*AGES, "--archive", str(archive)).start()
    world = make_world(server)
    world.hook("hook", Reply(404, body=b"\xff no \n such thing"))
    data = {"text": "Grüße\n", "number": 10 ** 30}
    event = world.publish(data=data)["id"]
    wait_for(lambda: world.api.request("GET", f"/v1/events/{event}").status == 404, "its removal")
    lines = [line for line in archived_lines(archive) if line["event"]["id"] == event]
    delivered = [line for line in lines if line["deliveries"]]
    assert len(delivered) == 1, lines
    assert delivered[0]["event"]["data"] == data
    delivery = delivered[0]["deliveries"][0]
    assert delivery["status"] == "dead_letter"
    assert delivery["attempts"][0]["http_status"] == 404
    assert "such thing" in delivery["attempts"][0]["response_sample"]


def test_a_reload_changes_the_retention_and_the_archive_directory(own_server, make_world,
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

    refused = tmp_path / "a file"
    refused.write_text("")
    reload(f'[retention]\nevents_days = 1\narchive_directory = "{refused}/archive"\n')
    assert "config.reload_refused" in server.output()
    assert world.api.get(f"/v1/events/{event}")["id"] == event

    archive = tmp_path / "archive"
    reload(f'[retention]\nevents_days = 1\narchive_directory = "{archive}"\n')
    assert "config.restart_needed" not in server.output()
    wait_for(lambda: world.api.request("GET", f"/v1/events/{event}").status == 404, "its removal")
    assert archived_ids(archive) == {event}
    assert world.api.get(f"/v1/events/{young}")["id"] == young


def test_a_failing_archive_stops_removal_until_it_works_again(own_server, make_world, tmp_path):
    archive = tmp_path / "archive"
    server = own_server(*AGES, "--archive", str(archive)).start()
    world = make_world(server)
    archive.rmdir()
    event = world.publish()["id"]
    wait_metric(world.api, "postrider_archive_failures_total", lambda n: n >= 2)
    assert world.api.get(f"/v1/events/{event}")["id"] == event
    assert world.api.request("GET", "/readyz").status == 200
    assert server.output().count("archive.failed") == 1, "logged once"
    archive.mkdir()
    wait_for(lambda: world.api.request("GET", f"/v1/events/{event}").status == 404, "its removal")
    assert event in archived_ids(archive)
    wait_for(lambda: "archive.recovered" in server.output(), "the recovery in the log")


def test_kill_9_during_archiving_loses_no_event(own_server, make_world, tmp_path):
    archive = tmp_path / "archive"
    server = own_server("--retention-events-ms", "150", "--archive", str(archive)).start()
    choose = random.Random(7)
    published = set()
    for _ in range(6):
        world = make_world(server)
        answer = world.publish_batch([{"type": "a.b", "data": {"n": n}} for n in range(300)])
        published |= {item["id"] for item in answer["results"]}
        # Kill the server during reading, archiving or removing.
        wanted = min(len(archived_ids(archive)) + choose.randrange(1, 300), len(published))
        wait_for(lambda: len(archived_ids(archive)) >= wanted, f"{wanted} archived events")
        server.kill()
        server.start()
    world = make_world(server)
    stored = {item["id"] for item in world.api.all("/v1/events")}
    assert stored | archived_ids(archive) == published
    wait_for(lambda: not world.api.get("/v1/events")["data"], "the removal of the rest")
    assert archived_ids(archive) == published
    server.stop()
    code, _, error = run_command("archive", "verify", str(archive))
    assert code == 0, error
    assert integrity_check(server.data) == "ok"


@pytest.mark.embedded_store("it is about the file of SQLite")
def test_the_database_file_shrinks_after_removal(own_server, make_world):
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
    wait_for(lambda: not api.get("/v1/events")["data"], "the removal of all events")

    def pages():
        done = subprocess.run(["sqlite3", "-readonly", str(database), "PRAGMA page_count"],
                              capture_output=True, text=True, check=False)
        return int(done.stdout) if done.returncode == 0 else None  # None while it is locked.
    wait_for(lambda: (count := pages()) is not None and count * 4096 < before / 5,
             "the file to shrink")
    server.stop()
    assert os.path.getsize(database) < before / 5
    assert integrity_check(server.data) == "ok"


@pytest.mark.parametrize("profile", ["exchange", "platform", "workspace"])
def test_a_profile_archives_below_the_data_directory(own_server, make_world, profile):
    server = own_server(*AGES, "--profile", profile).start()
    world = make_world(server)
    event = world.publish()["id"]
    wait_for(lambda: world.api.request("GET", f"/v1/events/{event}").status == 404, "its removal")
    assert event in archived_ids(server.data / "archive")
    code, _, error = run_command("archive", "verify", str(server.data / "archive"))
    assert code == 0, error


def shown_archive(tmp_path, *arguments):
    code, output, error = run_command("serve", "--print-config", "--json", "--data",
                                      str(tmp_path / "data"), *arguments)
    assert code == 0, error
    return json.loads(output)["settings"]["retention.archive_directory"]


def test_a_relative_archive_is_below_the_data_directory_unless_given_by_a_flag(tmp_path):
    data = tmp_path / "data"
    for profile in ("exchange", "platform", "workspace"):
        assert shown_archive(tmp_path, "--profile", profile) == {
            "value": str(data / "archive"), "origin": f"profile {profile}"}
    for profile in ("outbox", "tenant"):
        assert shown_archive(tmp_path, "--profile", profile)["value"] == ""
    file = tmp_path / "own.toml"
    file.write_text('[retention]\narchive_directory = "old/events"\n')
    own = shown_archive(tmp_path, "--config", str(file), "--profile", "platform")
    assert own["value"] == str(data / "old/events")
    file.write_text('[retention]\narchive_directory = ""\n')
    assert shown_archive(tmp_path, "--config", str(file), "--profile", "platform")["value"] == ""
    file.write_text('[retention]\narchive_directory = "/var/old"\n')
    assert shown_archive(tmp_path, "--config", str(file))["value"] == "/var/old"
    flag = shown_archive(tmp_path, "--profile", "platform", "--archive", "here")
    assert flag == {"value": "here", "origin": "flag --archive"}


def test_a_deleted_webhook_keeps_its_history_and_loses_its_secrets(own_server, make_world):
    server = own_server().start()
    world = make_world(server)
    hook = world.hook("hook", Reply(404), Reply(), secret="whsec_" + "ab" * 20)
    letter = world.wait_done(world.publish()["id"], hook)
    done = world.publish()["id"]
    delivery = world.wait_done(done, hook)
    world.api.delete(f"/v1/webhooks/{hook.id}")
    key = world.api.post("/v1/api-keys", {"scope": "tenant", "tenant_id": world.tenant},
                         expect=201)
    other = world.api.post("/v1/api-keys", {"scope": "tenant", "tenant_id": "other"}, expect=201)
    server.kill()
    server.start()
    world.api = server.api()
    assert world.api.request("GET", f"/v1/webhooks/{hook.id}").status == 404
    path = f"/v1/webhooks/{hook.id}/deliveries"
    for client in (world.api, server.api(key["key"])):
        assert {item["id"] for item in client.all(path)} == {letter["id"], delivery["id"]}
        assert len(client.all(f"/v1/deliveries?webhook_id={hook.id}")) == 2
        shown = client.get(f"/v1/deliveries/{delivery['id']}")
        assert shown["webhook_id"] == hook.id
        assert shown["attempts"][0]["http_status"] == 200
        assert shown["attempts"][0]["request"]["url"] == hook.created["url"]
        assert client.get(f"/v1/events/{done}")["deliveries"][0]["id"] == delivery["id"]
    assert server.api(other["key"]).request("GET", path).status == 404
    server.stop()
    assert in_database(server, "SELECT count(*) FROM webhook") == [(0,)]
    secret = hook.secret.encode()
    assert secret not in bytes_on_disk(server)
    assert key_of(hook.secret) not in bytes_on_disk(server)


def test_the_history_of_a_deleted_webhook_is_archived_and_removed_after_its_age(
        own_server, make_world, tmp_path):
    archive = tmp_path / "archive"
    server = own_server("--archive", str(archive), *FREQUENT_SWEEPS).start()
    world = make_world(server)
    kept, gone = world.hook("kept"), world.hook("gone", Reply(404), Reply())
    young = world.hook("young")
    ids = world.publish_numbered(3)
    for event in ids:
        for hook in (kept, gone, young):
            world.wait_done(event, hook)
    deliveries = world.api.all(f"/v1/webhooks/{gone.id}/deliveries")
    for hook in (gone, young):
        world.api.delete(f"/v1/webhooks/{hook.id}")
    server.stop()
    in_database(server, "UPDATE removed_webhook SET removed_at = removed_at - ?"
                " WHERE webhook_id = (SELECT webhook_id FROM removed_webhook ORDER BY 1 LIMIT 1)",
                90 * 86_400_000)
    server.start()
    world.api = server.api()
    path = f"/v1/webhooks/{gone.id}/deliveries"
    wait_for(lambda: world.api.request("GET", path).status == 404, "its history to be removed")
    for delivery in deliveries:
        assert world.api.request("GET", f"/v1/deliveries/{delivery['id']}").status == 404
    assert world.api.all(f"/v1/deliveries?webhook_id={gone.id}") == []
    for event in ids:
        left = world.api.get(f"/v1/events/{event}")["deliveries"]
        assert {each["webhook_id"] for each in left} == {kept.id, young.id}, "the others stay"
    assert world.api.get("/v1/dlq")["data"] == []
    archived = [each["id"] for line in archived_lines(archive) for each in line["deliveries"]]
    assert sorted(archived) == sorted(each["id"] for each in deliveries)
    wait_metric(world.api, 'postrider_retention_removed_total{kind="webhook"}', lambda n: n == 1)
    world.wait_done(world.publish()["id"], kept)
    server.stop()
    assert integrity_check(server.data) == "ok"


def test_removed_webhooks_are_kept_for_90_days_by_default(tmp_path):
    code, output, error = run_command("serve", "--print-config", "--json")
    assert code == 0, error
    assert json.loads(output)["settings"]["retention.removed_webhooks_days"]["value"] == 90
