"""The log: both forms have the same fields, levels are as documented, and no secrets appear."""

import http.client
import json
import re
import signal

import pytest

import stores
from harness import ADMIN_KEY, refuses_publishing, run_command, wait_for
from log_lines import check_documented, parse, parse_json
from receiver import Close, Hang, Reply
from test_circuit import BREAKER
from world import SLOW

SECRET = "whsec_" + "Y2FuYXJ5" * 4


def lines(server):
    return server.stderr_file.read_text().splitlines()


def records(server, name=None):
    """All lines, or those of one event, as dictionaries."""
    return [record for record in map(parse, lines(server))
            if name is None or record["message"] == name]


def wait_records(server, name, count=1):
    wait_for(lambda: len(records(server, name)) >= count, f"{count} lines {name}")
    return records(server, name)


def deliver_and_fail(world):
    """Publishes an event with a canary. One delivery succeeds, the other becomes a dead letter."""
    good = world.hook("good", secret=SECRET, headers={"X-Token": "canary-header"})
    bad = world.hook("bad", Close(), Reply(404), retry_config={"base_delay_ms": 10,
                                                               "max_delay_ms": 10})
    event = world.publish(data={"password": "canary-payload"})["id"]
    world.wait_status(event, good, "succeeded")
    world.wait_status(event, bad, "dead_letter")
    return event


def open_and_close_a_circuit(world):
    hook = world.hook("broken", Reply(500), max_in_flight=1, retry_config=SLOW, events=["broken"],
                      circuit_breaker_config={**BREAKER, "sleep_window_ms": 600_000})
    for _ in range(4):
        world.publish("broken")
    world.wait_circuit(hook, "open")
    world.api.patch(f"/v1/webhooks/{hook.id}/circuit-breaker", {"action": "reset"})
    world.wait_circuit(hook, "closed")


def use_everything(server, world, file):
    """Causes as many events as one quick test can. Returns the id of a published event."""
    event = deliver_and_fail(world)
    open_and_close_a_circuit(world)
    for headers in ({}, {"Authorization": "Bearer canary-wrong-key"}):
        server.api(None).request("GET", "/v1/webhooks?canary=canary-query", headers=headers)
    server.api(None).request("GET", "/canary-path")
    world.api.post("/v1/dlq/retry-batch", {"filter": {"tenant_id": world.tenant}}, expect=202)
    wait_records(server, "operation.ended")
    file.write_text("io_threads = 9\n[events]\ndata_bytes_max = 1024\n")
    server.signal(signal.SIGHUP)
    wait_records(server, "config.reloaded")
    file.write_text("nonsense = \"a \\\"quoted\\\" word\"\n")
    server.signal(signal.SIGHUP)
    wait_records(server, "config.reload_refused")
    return event


def shapes(server):
    """The levels, fields and types of the fields of each event."""
    found = {}
    for record in records(server):
        fields = tuple(sorted((key, type(value).__name__) for key, value in record.items()))
        found.setdefault(record["message"], set()).add((record["level"], fields))
    return found


def test_both_forms_have_the_same_fields(own_server, make_world, tmp_path):
    seen = []
    for name in ("text", "json"):
        file = tmp_path / f"{name}.toml"
        file.write_text("")
        server = own_server("--config", str(file), "--set", f"log.format={name}", "--set",
                            "log.level=debug", name=name).start()
        event = use_everything(server, make_world(server), file)
        attempts = wait_records(server, "delivery.attempted", 7)
        server.stop()
        assert [record["event"] for record in attempts].count(event) >= 3
        assert {line.startswith("{") for line in lines(server)} == {name == "json"}
        for canary in ("canary", SECRET, ADMIN_KEY):
            assert canary not in server.output()
        seen.append(shapes(server))
    text, as_json = seen
    assert set(text) == set(as_json) >= {
        "server.started", "server.ready", "server.stopping", "server.stopped", "secrets.plain",
        "api.request", "delivery.attempted", "delivery.dead_letter", "circuit.opened",
        "circuit.closed", "alert.raised", "alert.resolved", "operation.ended", "config.reloaded",
        "config.restart_needed", "config.reload_refused"}
    # Requests and attempts have optional fields, and how many there are depends on timing.
    for name in set(text) - {"api.request", "delivery.attempted"}:
        assert text[name] == as_json[name], name
    for name in ("api.request", "delivery.attempted"):
        assert text[name] & as_json[name], name


def test_levels(own_server, make_world):
    server = own_server("--set", "log.format=json").start()
    world = make_world(server)
    deliver_and_fail(world)
    open_and_close_a_circuit(world)
    wait_records(server, "circuit.closed")
    server.stop()
    levels = {record["message"]: record["level"] for record in records(server)}
    assert {name: levels[name] for name in (
        "delivery.attempted", "delivery.dead_letter", "circuit.opened", "circuit.closed",
        "alert.raised", "alert.resolved", "server.stopping", "server.stopped")} == {
            "delivery.attempted": "info", "delivery.dead_letter": "warning",
            "circuit.opened": "warning", "circuit.closed": "info", "alert.raised": "warning",
            "alert.resolved": "info", "server.stopping": "info", "server.stopped": "info"}
    failed = [record for record in records(server, "delivery.attempted")
              if record["failure"] != "none"]
    assert failed and {record["level"] for record in failed} == {"info"}
    assert all(record["http_status"] or record["error"] for record in failed)


# ---------------------------------------------------------------- start and stop

def test_the_life_of_a_server(own_server):
    server = own_server("--set", "log.format=json").start()
    pid = server.process.pid
    server.stop()
    life = [record for record in records(server) if record["message"].startswith("server.")]
    assert [record["message"] for record in life] == [
        "server.started", "server.ready", "server.stopping", "server.stopped"]
    started, ready, stopping, stopped = life
    version = run_command("version")[1].split()[1]
    assert (started["version"], started["pid"], started["data"]) == (
        version, pid, stores.shown(server.data))
    assert ready["address"] == f"http://127.0.0.1:{server.port}"
    assert (stopping["signal"], stopping["deadline_ms"]) == ("SIGTERM", 30_000)
    assert 0 <= stopped["duration_ms"] <= stopped["uptime_ms"]
    assert 0 <= ready["duration_ms"] <= stopped["uptime_ms"]


def test_a_drain_that_is_cut_short_is_a_warning(own_server, make_world):
    server = own_server().start()
    world = make_world(server)
    world.publish()
    hook = world.hook("hook", Hang())
    world.publish()
    world.wait_requests(hook, 1)
    server.signal(signal.SIGINT)
    wait_for(lambda: refuses_publishing(world.api), "the drain")
    server.signal(signal.SIGINT)
    assert server.wait() == 0
    cut = records(server, "server.drain_cut_short")
    assert [(record["level"], record["reason"]) for record in cut] == [
        ("warning", "second_signal")]
    assert records(server, "server.stopping")[0]["signal"] == "SIGINT"
    assert records(server)[-1]["message"] == "server.stopped"


def test_a_drain_writes_its_last_lines(own_server, make_world):
    server = own_server().start()
    world = make_world(server)
    hook = world.hook("hook", Reply(delay=1.0))
    world.publish_numbered(3)
    world.wait_requests(hook, 3)
    server.stop()
    attempted = records(server, "delivery.attempted")
    assert [record["http_status"] for record in attempted] == [200] * 3
    assert not records(server, "server.drain_cut_short")


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


# ---------------------------------------------------------------- nothing but JSON

def test_the_banner_is_json(own_server):
    server = own_server("--set", "log.format=json", name="first")
    del server.environment["POSTRIDER_ADMIN_KEY"]
    server.launch()
    server.port = wait_for(server._find_port, "the server's address")
    first = [parse_json(line) for line in wait_for(
        lambda: server.stdout_file.read_text().splitlines(), "the banner")]
    assert [record["message"] for record in first] == ["server.banner"]
    check_documented(first[0])
    api = server.api(first[0]["admin_key"])
    assert api.request("GET", "/v1/webhooks").status == 200
    token = re.fullmatch(r"http://127\.0\.0\.1:\d+/#token=(\w+)", first[0]["sign_in_url"])
    assert server.sign_in({"token": token.group(1)}).get("/v1/sessions")["scope"] == "admin"
    server.stop()
    assert first[0]["admin_key"] not in server.stderr_file.read_text()
    server.start()
    again = parse_json(server.stdout_file.read_text())
    assert (again["admin_key"], again["sign_in_url"]) == (None, None)


def broken_file(tmp_path, text):
    file = tmp_path / "own.toml"
    file.write_text(text)
    return ["--config", str(file)]


REFUSALS = {
    "a bad value of a flag": ["--set", "log.format=json", "--set", "io_threads=many"],
    "an unknown setting": ["--set", "log.format=json", "--set", "nonsense=1"],
    "an unknown flag": ["--set", "log.format=json", "--nonsense"],
    "a flag without a value": ["--set=log.format=json", "--data"],
    "a file that is missing": ["--set", "log.format=json", "--config", "/no/such/file.toml"],
    "a file that is not TOML": "[log]\nformat = \"json\"\n[[[\n",
    "a bad setting before the format": "io_threads = \"many\"\n[log]\nformat = \"json\"\n",
    "a quote in a value": "[log]\nformat = \"json\"\nlevel = 'a \"b\" \\ c'\n",
    "a certificate that is missing": "[log]\nformat = \"json\"\n[tls]\ncertificate = \"/no\"\n"
                                     "key = \"/no\"\n",
    "an address that is not this machine's": ["--set", "log.format=json", "--listen",
                                              "192.0.2.1:1"],
}


@pytest.mark.parametrize("name", REFUSALS)
def test_a_refusal_to_start_is_json(tmp_path, name):
    given = REFUSALS[name]
    arguments = broken_file(tmp_path, given) if isinstance(given, str) else given
    code, stdout, stderr = run_command("serve", *arguments, directory=tmp_path)
    assert (code, stdout) == (2, "")
    output = [parse_json(line) for line in stderr.splitlines()]
    for record in output:
        check_documented(record)
    assert output[-1]["message"] == "server.start_failed"
    if isinstance(given, list):  # The same words as for a person.
        plain = run_command("serve", *[word.replace("json", "text") for word in arguments],
                            directory=tmp_path)[2]
        assert plain.replace("\n", " ").strip().endswith(output[-1]["reason"])


def test_the_environment_decides_how_wrong_arguments_are_reported(tmp_path):
    for form, begins in (("json", "{"), ("text", "postrider: ")):
        code, _, stderr = run_command("serve", "--nonsense", directory=tmp_path,
                                      environment={"POSTRIDER_LOG_FORMAT": form})
        assert code == 2 and stderr.startswith(begins)


@pytest.mark.embedded_store("the lock is on the data directory")
def test_two_servers_on_one_directory(own_server, tmp_path):
    server = own_server().start()
    code, stdout, stderr = run_command("serve", "--data", str(server.data), "--listen",
                                       "127.0.0.1:0", "--set", "log.format=json")
    assert (code, stdout) == (2, "")
    assert [parse_json(line)["message"] for line in stderr.splitlines()] == [
        "server.start_failed"]


# ---------------------------------------------------------------- requests

@pytest.fixture
def logged(own_server):
    """A server, and a function that sends a request and returns its answer and its log line."""
    server = own_server("--set", "log.format=json", "--set", "log.level=debug").start()

    def send(method, path, body=None, key=ADMIN_KEY, **headers):
        api = server.api(key)
        answer = api.request(method, path, body,
                             {name.replace("_", "-"): text for name, text in headers.items()})
        api.close()
        sent = answer.headers["x-request-id"]
        found = wait_for(lambda: [record for record in records(server, "api.request")
                                  if record["request_id"] == sent], f"the line of {sent}")
        return answer, found[-1]
    return server, send


def test_the_request_id_of_an_answer_leads_to_a_line(logged):
    _, send = logged
    answer, line = send("GET", "/v1/webhooks?limit=3")
    assert {key: line[key] for key in ("level", "method", "route", "status", "request_bytes",
                                       "response_bytes", "remote_ip")} == {
        "level": "info", "method": "GET", "route": "/v1/webhooks", "status": 200,
        "request_bytes": 0, "response_bytes": len(answer.body), "remote_ip": "127.0.0.1"}
    assert line["duration_ms"] > 0 and line["key_id"].startswith("key_")
    assert "tenant" not in line and "cut_off" not in line
    _, line = send("GET", "/v1/events/evt_nothing", X_Request_Id="mine")
    assert (line["request_id"], line["route"], line["status"]) == ("mine", "/v1/events/{id}", 404)


def test_hostile_text_cannot_forge_fields(logged, own_server):
    _, send = logged
    hostile = 'a"_status=200_\\"level=error{}=='
    answer, line = send("GET", "/v1/nothing", X_Request_Id=hostile)
    assert answer.headers["x-request-id"] == line["request_id"] == hostile
    assert (line["status"], line["route"], line["level"]) == (404, "none", "info")
    text_server = own_server(name="text").start()
    text_server.api().request("GET", "/v1/nothing", headers={"X-Request-Id": hostile})
    assert wait_records(text_server, "api.request")[0]["request_id"] == hostile


def test_a_line_names_the_key_and_its_tenant(logged):
    server, send = logged
    made = server.api().post("/v1/api-keys", {"scope": "tenant", "tenant_id": "acme"}, expect=201)
    _, line = send("GET", "/v1/webhooks", key=made["key"])
    assert (line["status"], line["key_id"], line["tenant"]) == (200, made["id"], "acme")
    _, line = send("GET", "/v1/audit-log", key=made["key"])
    assert (line["status"], line["key_id"], line["tenant"]) == (403, made["id"], "acme")
    for key in (None, "pk_wrong"):
        _, line = send("GET", "/v1/webhooks", key=key)
        assert line["status"] == 401 and "key_id" not in line and "tenant" not in line
    session = server.sign_in({"key": made["key"]})
    _, line = send("GET", "/v1/webhooks", key=None, Cookie=session.headers["Cookie"])
    assert (line["status"], line["key_id"], line["tenant"]) == (200, made["id"], "acme")
    assert made["key"] not in server.output()


def test_a_published_event_can_be_followed(logged, make_world):
    server, send = logged
    world = make_world(server)
    hook = world.hook()
    body = {"type": "a.b", "data": 1, "tenant_id": world.tenant, "idempotency_key": "once"}
    answer, line = send("POST", "/v1/events", body)
    event = answer.json["id"]
    assert (line["status"], line["event"]) == (202, event)
    assert line["request_bytes"] == len(json.dumps(body))
    world.wait_status(event, hook, "succeeded")
    attempt = wait_records(server, "delivery.attempted")[0]
    assert re.fullmatch("[0-9a-f]{32}", attempt["trace_id"])
    assert (attempt["event"], attempt["trace_id"]) == (event, line["trace_id"])
    _, line = send("POST", "/v1/events", body)
    assert (line["status"], line["event"]) == (200, event), "the event of the first request"


def test_lines_have_the_trace_id_of_the_client(logged, make_world):
    server, send = logged
    world = make_world(server)
    hook = world.hook("hook", Reply(404))
    trace = "0af7651916cd43dd8448eb211c80319c"
    body = {"type": "a.b", "data": 1, "tenant_id": world.tenant}
    for path, sent in (("/v1/events", body), ("/v1/events/batch", {"events": [body]})):
        _, line = send("POST", path, sent, traceparent=f"00-{trace}-b7ad6b7169203331-01")
        assert (line["status"], line["trace_id"]) == (202, trace)
    world.wait_requests(hook, 2)
    for name in ("delivery.attempted", "delivery.dead_letter"):
        assert [record["trace_id"] for record in wait_records(server, name, 2)] == [trace] * 2
    _, line = send("GET", "/v1/webhooks", traceparent="nonsense")
    assert "trace_id" not in line


def test_refused_requests_have_a_line(logged):
    _, send = logged
    for method, path, body, status, route in [
            ("DELETE", "/v1/stats", None, 405, "none"),
            ("POST", "/v1/events", b"{", 400, "/v1/events"),
            ("POST", "/v1/events", {"type": "a b"}, 422, "/v1/events"),
            ("POST", "/v1/webhooks", b"x" * 1_000_000, 413, "/v1/webhooks"),
            ("TRACE", "/v1/webhooks", None, 405, "none")]:
        answer, line = send(method, path, body)
        assert (answer.status, line["status"], line["route"], line["method"]) == (
            status, status, route, method)
        assert line["response_bytes"] == len(answer.body)


def test_probes_scrapes_and_files_are_logged_at_level_debug(logged, own_server):
    _, send = logged
    for path, route in [("/healthz", "/healthz"), ("/readyz", "/readyz"),
                        ("/metrics", "/metrics"), ("/", "/")]:
        _, line = send("GET", path)
        assert (line["level"], line["route"], line["status"]) == ("debug", route, 200)
    _, line = send("GET", "/webhooks", key=None, Accept="text/html")
    assert (line["level"], line["route"]) == ("debug", "static")
    quiet = own_server("--set", "metrics_listen=127.0.0.1:0", name="quiet").start()
    api = quiet.api()
    for path in ("/healthz", "/readyz", "/metrics", "/", "/v1/webhooks"):
        assert api.request("GET", path).status == 200
    quiet.stop()
    assert {record["route"] for record in records(quiet, "api.request")} == {"/v1/webhooks"}


def test_a_stream_that_the_client_leaves_has_a_line(logged):
    server, _ = logged
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    connection.request("GET", "/v1/stream", headers={"Authorization": f"Bearer {ADMIN_KEY}",
                                                     "X-Request-Id": "stream-1"})
    response = connection.getresponse()
    assert response.status == 200
    response.close()
    connection.close()
    found = wait_for(lambda: [record for record in records(server, "api.request")
                              if record["request_id"] == "stream-1"], "the line of the stream")
    assert [(record["route"], record["status"]) for record in found] == [("/v1/stream", 200)]


def test_which_requests_are_logged_is_a_setting(own_server, tmp_path):
    file = tmp_path / "own.toml"
    file.write_text("[log]\naccess = \"errors\"\n")
    server = own_server("--config", str(file)).start()
    api = server.api()

    def ask(name):
        for path in ("/v1/webhooks", "/v1/nothing"):
            api.request("GET", path, headers={"X-Request-Id": f"{name}{path}"})

    ask("errors")
    for access in ("off", "all"):
        file.write_text(f"[log]\naccess = \"{access}\"\n")
        seen = len(records(server, "config.reloaded"))
        server.signal(signal.SIGHUP)
        wait_records(server, "config.reloaded", seen + 1)
        ask(access)
    server.stop()
    ids = [record["request_id"] for record in records(server, "api.request")]
    assert ids == ["errors/v1/nothing", "all/v1/webhooks", "all/v1/nothing"]
    code, _, stderr = run_command("serve", "--set", "log.access=some", directory=tmp_path)
    assert code == 2 and "log.access must be one of all, errors, off" in stderr


def test_a_full_disk_of_the_log_does_not_stop_the_server(own_server):
    server = own_server(wrapper=["sh", "-c", 'exec "$@" 2>/dev/full', "sh"]).start()
    assert server.api().request("GET", "/v1/webhooks").status == 200
