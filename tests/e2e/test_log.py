"""The log: text and JSON have the same fields and no secrets."""

import json
import re
import signal

from harness import ADMIN_KEY, wait_for
from receiver import Close, Reply

SECRET = "whsec_" + "Y2FuYXJ5" * 4


def lines(server):
    return server.stderr_file.read_text().splitlines()


def attempts_logged(server, count):
    return wait_for(lambda: len([line for line in lines(server) if "delivery.attempted" in line])
                    >= count, f"{count} attempts in the log")


def deliver_and_fail(world):
    """Publishes an event with a canary. One delivery succeeds, the other becomes a dead letter."""
    good = world.hook("good", secret=SECRET, headers={"X-Token": "canary-header"})
    bad = world.hook("bad", Close(), Reply(404), retry_config={"base_delay_ms": 10,
                                                               "max_delay_ms": 10})
    event = world.publish(data={"password": "canary-payload"})["id"]
    world.wait_status(event, good, "succeeded")
    world.wait_status(event, bad, "dead_letter")
    return event


def text_fields(line):
    """Parses `time level=x name key=value key="value"` into the fields of the JSON line."""
    stamp, level, name, *_ = line.split(" ")
    fields = re.findall(r' (\w+)=(?:"((?:[^"\\]|\\.)*)"|(\S*))', line)[1:]
    return {"time": stamp, "level": level.removeprefix("level="), "message": name,
            **{key: re.sub(r"\\(.)", r"\1", quoted) or bare for key, quoted, bare in fields}}


def shape(fields):
    """The field names of a line, and the values that are the same in every run."""
    return sorted(fields), {key: str(fields[key]) for key in
                            ("level", "message", "type", "attempt", "trigger", "state",
                             "http_status", "failure") if key in fields}


def test_json_lines_have_the_same_fields_as_text_lines(own_server, make_world):
    shapes = []
    for name in ("text", "json"):
        server = own_server("--set", f"log.format={name}", name=name).start()
        event = deliver_and_fail(make_world(server))
        attempts_logged(server, 3)
        server.stop()
        read = text_fields if name == "text" else json.loads
        parsed = [read(line) for line in lines(server)]
        assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", item["time"])
                   for item in parsed)
        attempted = [item for item in parsed if item["message"] == "delivery.attempted"]
        assert {item["event"] for item in attempted} == {event}
        shapes.append(sorted(shape(item) for item in attempted))
        assert {item["message"] for item in parsed} >= {"secrets.plain", "server.draining"}
        for canary in ("canary", SECRET, ADMIN_KEY):
            assert canary not in server.stderr_file.read_text()
    assert shapes[0] == shapes[1]
    assert [type(item["attempt"]) for item in attempted] == [int] * 3
    assert all(isinstance(item["duration_ms"], float) for item in attempted)
    assert any("error" in item for item in attempted)


def test_the_format_changes_on_a_reload(own_server, tmp_path):
    file = tmp_path / "own.toml"
    file.write_text("")
    server = own_server("--config", str(file)).start()
    file.write_text("[log]\nformat = \"json\"\n")
    server.signal(signal.SIGHUP)
    wait_for(lambda: lines(server) and lines(server)[-1].startswith("{"), "a line of JSON")
    last = json.loads(lines(server)[-1])
    assert (last["message"], last["changed"]) == ("config.reloaded", "log.format")
    assert lines(server)[0].startswith("20")


def test_a_drain_writes_its_last_lines(own_server, make_world):
    server = own_server().start()
    world = make_world(server)
    hook = world.hook("hook", Reply(delay=1.0))
    world.publish_numbered(3)
    world.wait_requests(hook, 3)
    server.stop()
    attempted = [line for line in lines(server) if "delivery.attempted" in line]
    assert len(attempted) == 3 and all("http_status=200" in line for line in attempted)
