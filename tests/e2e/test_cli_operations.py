"""How commands show the progress of long-running operations, and what requests they send.

A scripted server returns the states of an operation, so that the test controls every step.
"""

import datetime
import http.server
import json
import threading

import pytest

from cli import Cli


class Script(http.server.ThreadingHTTPServer):
    """Answers with the given states of one operation, one after the other; the last repeats."""

    def __init__(self, states):
        super().__init__(("127.0.0.1", 0), Handler)
        self.states = list(states)
        self.requests = []
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # The client asks for the health first, on the same connection.

    def answer(self):
        length = int(self.headers.get("content-length", 0))
        body = self.rfile.read(length)
        if self.path == "/healthz":
            self.send({"status": "ok", "service": "postrider"})
            return
        self.server.requests.append(
            (self.command, self.path, json.loads(body) if body else None))
        states = self.server.states
        self.send(states.pop(0) if len(states) > 1 else states[0])

    def send(self, value):
        sent = json.dumps(value).encode()
        self.send_response(202 if self.command != "GET" else 200)
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    do_GET = do_POST = do_PATCH = do_DELETE = answer

    def log_message(self, *arguments):
        pass


def state(status, done, total=10, failed=0, **fields):
    return {"id": "opr_1", "kind": "replay", "status": status, "total": total, "done": done,
            "failed": failed, "eta": None, **fields}


STEPS = [state("scheduled", 0, None), state("running", 2), state("running", 5),
         state("completed", 9, failed=1)]


@pytest.fixture
def script():
    servers = []

    def start(states):
        servers.append(Script(states))
        return servers[-1], Cli(servers[-1].server_port)
    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def test_a_terminal_shows_a_progress_bar(script):
    _, cli = script(STEPS)
    code, shown = cli.on_terminal("replay", "whk_1", "--since", "2h")
    assert code == 0
    frames = shown.split("\r\x1b[K")
    assert any("[######---" in frame and " 20 %  2 of 10" in frame for frame in frames), frames
    assert any("100 %  10 of 10, 1 failed" in frame for frame in frames)
    assert shown.replace("\r", "").endswith("\nopr_1 completed: 9 of 10 done, 1 failed.\n")


def test_a_pipe_gets_one_line_per_change(script):
    _, cli = script(STEPS)
    code, stdout, stderr = cli.run("replay", "whk_1", "--since", "2h")
    assert (code, stdout) == (0, "opr_1 completed: 9 of 10 done, 1 failed.\n")
    assert stderr == ("replay: 2 of 10\nreplay: 5 of 10\nreplay: 10 of 10, 1 failed\n")


def test_json_output_is_only_the_last_state(script):
    _, cli = script(STEPS)
    assert cli.json("replay", "whk_1", "--since", "2h") == STEPS[-1]


OUTCOMES = [
    state("running", 4, requeued=4, waiting=4, requeue_finished_at=None),
    state("running", 10, requeued=10, succeeded=5, dead_again=1, waiting=4,
          requeue_finished_at="2026-01-31T10:00:00.000Z"),
    state("completed", 10, requeued=10, succeeded=8, dead_again=1, cancelled=1, waiting=0,
          requeue_finished_at="2026-01-31T10:00:00.000Z")]


def test_the_command_waits_for_the_outcome(script):
    _, cli = script(OUTCOMES)
    code, stdout, stderr = cli.run("dlq", "retry-batch", "--all")
    assert (code, stdout) == (0, "opr_1 completed: 10 of 10 done. "
                                 "Outcome: 8 succeeded, 1 dead again, 1 cancelled.\n")
    assert stderr.endswith("retry: 6 of 10, 1 dead again, 4 waiting\n"
                           "retry: 10 of 10, 1 dead again\n")


def test_no_outcome_returns_once_everything_is_requeued(script):
    for command in (["dlq", "retry-batch", "--all"], ["replay", "whk_1", "--since", "2h"]):
        _, cli = script(OUTCOMES)
        code, stdout, _ = cli.run(*command, "--no-outcome")
        assert (code, stdout) == (
            0, "opr_1 running: 10 of 10 done. Outcome: 5 succeeded, 1 dead again, 4 waiting.\n")


def test_no_wait_returns_after_starting_the_operation(script):
    server, cli = script(STEPS)
    assert cli.json("replay", "whk_1", "--since", "2h", "--no-wait")["status"] == "scheduled"
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", ["failed", "cancelled"])
def test_a_failed_or_cancelled_operation_exits_with_1(script, status):
    _, cli = script([state("running", 1), state(status, 1, error="the webhook is gone")])
    code, stdout, stderr = cli.run("replay", "whk_1", "--since", "2h")
    assert code == 1 and status in stdout and "the webhook is gone" in stderr


def test_operation_flags_become_request_fields(script):
    server, cli = script([state("completed", 0, 0)])
    cli.text("replay", "whk_1", "--since", "2026-01-31T10:00:00Z", "--until",
             "2026-01-31T12:00:00+01:00", "--status", "dead_letter", "--event-type", "a.b")
    cli.text("dlq", "retry-batch", "--webhook", "whk_1", "--webhook", "whk_2", "--category",
             "timeout", "--rate", "10", "--priority", "low", "--from", "2026-01-31T10:00:00Z",
             "--tenant", "t", "--classification", "recoverable")
    cli.text("dlq", "retry-batch", "--all")
    cli.text("dlq", "discard", "--webhook", "whk_1", "--classification", "permanent")
    cli.text("dlq", "discard", "--all")
    assert server.requests == [
        ("POST", "/v1/webhooks/whk_1/replay",
         {"since": "2026-01-31T10:00:00.000Z", "until": "2026-01-31T11:00:00.000Z",
          "status": ["dead_letter"], "event_types": ["a.b"]}),
        ("POST", "/v1/dlq/retry-batch",
         {"filter": {"webhook_ids": ["whk_1", "whk_2"], "failure_categories": ["timeout"],
                     "classification": "recoverable", "tenant_id": "t",
                     "from": "2026-01-31T10:00:00.000Z"},
          "rate_limit": {"requests_per_second": 10}, "priority": "low"}),
        ("POST", "/v1/dlq/retry-batch", {"filter": {}}),
        ("DELETE", "/v1/dlq?webhook_id=whk_1&classification=permanent", None),
        ("DELETE", "/v1/dlq?all=true", None)]


def test_a_scheduled_batch_is_not_waited_for(script):
    server, cli = script([state("scheduled", 0)])
    shown = cli.text("dlq", "retry-batch", "--all", "--start-at", "2027-01-31T11:00:00+01:00",
                     "--repeat", "1d")
    assert "scheduled" in shown
    assert server.requests == [("POST", "/v1/dlq/retry-batch", {
        "filter": {}, "start_at": "2027-01-31T10:00:00.000Z", "repeat_every_seconds": 86_400})]
    cli.text("dlq", "retry-batch", "--all", "--start-at", "2h")
    later = datetime.datetime.fromisoformat(
        server.requests[-1][2]["start_at"].replace("Z", "+00:00"))
    ahead = (later - datetime.datetime.now(datetime.timezone.utc)).total_seconds()
    assert 7100 < ahead <= 7200
    for flag in ("--start-at", "--repeat"):
        assert flag in cli.refused("dlq", "retry-batch", "--all", flag, "soon", code=2)


def test_circuit_flags_become_request_fields(script):
    server, cli = script([{"webhook_id": "whk_1", "circuit": {"state": "open"}}])
    assert "open" in cli.text("webhooks", "circuit", "whk_1", "force-open", "--for", "2h")
    cli.text("webhooks", "circuit", "whk_1", "force-close")
    cli.text("webhooks", "circuit", "whk_1", "reset")
    assert server.requests == [
        ("PATCH", "/v1/webhooks/whk_1/circuit-breaker",
         {"action": "force_open", "duration_seconds": 7200}),
        ("PATCH", "/v1/webhooks/whk_1/circuit-breaker", {"action": "force_close"}),
        ("PATCH", "/v1/webhooks/whk_1/circuit-breaker", {"action": "reset"})]


def test_lists_accept_an_offset_or_a_cursor_but_not_both(script):
    server, cli = script([{"data": [], "next_cursor": None}])
    for words, path in [(["webhooks"], "/v1/webhooks"), (["events"], "/v1/events"),
                        (["deliveries"], "/v1/deliveries"), (["dlq"], "/v1/dlq"),
                        (["keys"], "/v1/api-keys")]:
        cli.text(*words, "list", "--limit", "5", "--offset", "10")
        assert server.requests[-1] == ("GET", f"{path}?limit=5&offset=10", None)
        assert "--cursor" in cli.refused(*words, "list", "--offset", "1", "--cursor", "x", code=2)


def test_operations_are_listed_shown_and_cancelled(script):
    page = {"data": [state("running", 5, skipped=1, succeeded=2, dead_again=1, waiting=2,
                           tenant_id="t", created_at=None)],
            "next_cursor": "abc"}
    server, cli = script([page, state("running", 5), state("cancelled", 5)])
    shown = cli.text("operations", "list", "--kind", "replay", "--kind", "discard", "--status",
                     "running", "--tenant", "t", "--limit", "1").splitlines()
    assert shown[0].split() == ["ID", "KIND", "STATUS", "DONE", "SKIPPED", "FAILED", "TOTAL",
                                "SUCCEEDED", "DEAD", "WAITING", "TENANT", "ETA", "CREATED"]
    assert shown[1].split()[:11] == ["opr_1", "replay", "running", "5", "1", "0", "10", "2", "1",
                                     "2", "t"]
    assert "running" in cli.text("operations", "get", "opr_1")
    assert cli.json("operations", "cancel", "opr_1")["status"] == "cancelled"
    assert server.requests == [
        ("GET", "/v1/operations?kind=replay&kind=discard&status=running&tenant_id=t&limit=1", None),
        ("GET", "/v1/operations/opr_1", None),
        ("POST", "/v1/operations/opr_1/cancel", None)]


def test_key_secret_and_test_flags_become_request_fields(script):
    server, cli = script([{"id": "key_1", "attempt": {"status": "succeeded"}}])
    cli.text("keys", "create", "--scope", "publish", "--name", "shop", "--expires",
             "2027-01-31T10:00:00Z")
    cli.text("keys", "create", "--tenant", "t")
    assert cli.text("keys", "revoke", "key_1") == "key_1 revoked.\n"
    cli.text("keys", "rotate")
    cli.text("webhooks", "secret", "whk_1")
    cli.text("webhooks", "rotate-secret", "whk_1", "--grace", "60")
    cli.text("webhooks", "test", "whk_1", "--type", "a.b", "--data", '{"n": 1}')
    assert server.requests == [
        ("POST", "/v1/api-keys", {"scope": "publish", "name": "shop",
                                  "expires_at": "2027-01-31T10:00:00Z"}),
        ("POST", "/v1/api-keys", {"scope": "tenant", "tenant_id": "t"}),
        ("DELETE", "/v1/api-keys/key_1", None),
        ("POST", "/v1/secrets/rotate-key", None),
        ("GET", "/v1/webhooks/whk_1/secret", None),
        ("POST", "/v1/webhooks/whk_1/secret/rotate", {"grace_period_seconds": 60}),
        ("POST", "/v1/webhooks/whk_1/test", {"event_type": "a.b", "data": {"n": 1}})]


def test_a_failed_test_event_exits_with_1(script):
    _, cli = script([{"attempt": {"status": "failed", "http_status": 500}}])
    assert "The attempt failed" in cli.refused("webhooks", "test", "whk_1")
