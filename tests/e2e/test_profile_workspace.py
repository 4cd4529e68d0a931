"""The workspace profile: fivefold delays, a breaker that counts failures, own header names."""

import json
import re
import tomllib

import pytest

import odd_json
import profiles
import receiver_code
from harness import run_command, wait_for
from receiver import Held, Reply


@pytest.fixture
def workspace(own_server, make_world):
    return make_world(own_server("--profile", "workspace", "--io-threads", "4").start())


def test_the_delays_are_1_5_25_125_and_600_seconds_with_20_percent_jitter(workspace):
    delays = profiles.planned_delays(workspace, [1, 2, 3, 4, 5])
    profiles.check_delays(delays, {1: 1, 2: 5, 3: 25, 4: 125, 5: 600}, minus=0.2, plus=0.2)


@pytest.mark.parametrize("status", [400, 404, 429, 503])
def test_every_failure_is_retried_4xx_included(workspace, status):
    delays = profiles.planned_delays(workspace, [1], reply=Reply(status))
    profiles.check_delays(delays, {1: 1}, minus=0.2, plus=0.2)


def test_a_delivery_has_failed_after_six_attempts(workspace):
    delivery, _ = profiles.attempts_until_dead(workspace, Reply(400))
    assert delivery["attempt_count"] == 6
    assert delivery["dead_letter"]["reason"] == "max_attempts_exceeded"


def test_the_request_has_event_type_and_data_and_the_two_x_agenta_headers(workspace):
    hook = workspace.hook("signed")
    event = workspace.publish("config.deployed", {"variant": "a"})
    request, = workspace.wait_requests(hook, 1)
    assert json.loads(request.body) == {"event_type": "config.deployed", "data": {"variant": "a"}}
    assert request.body == b'{"data": {"variant": "a"}, "event_type": "config.deployed"}'
    stamp, _ = re.fullmatch(r"t=(\d+),v1=([0-9a-f]{64})",
                            request.header("x-agenta-signature")).groups()
    assert abs(int(stamp) - request.unix_time) < 300
    assert request.header("x-agenta-event-id") == event["id"]
    assert profiles.names_with(request, "x-agenta-") == ["x-agenta-event-id", "x-agenta-signature"]
    assert profiles.names_with(request, "x-webhook-") == []
    assert profiles.names_with(request, "webhook-") == []


def test_the_secret_has_32_characters_and_is_shown_once(workspace):
    hook = workspace.hook("secret")
    assert re.fullmatch("[0-9a-f]{32}", hook.secret)
    rotated = workspace.api.post(f"/v1/webhooks/{hook.id}/secret/rotate")["secret"]
    assert re.fullmatch("[0-9a-f]{32}", rotated) and rotated != hook.secret
    assert "secret" not in workspace.api.get(f"/v1/webhooks/{hook.id}")


def test_a_receiver_that_dumps_the_sorted_payload_verifies_with_the_secret_it_was_shown(workspace):
    signed = profiles.requests_with_shown_secrets(
        workspace, lambda: workspace.publish("config.deployed", {"text": "Grüße", "n": 1.50}))
    profiles.check_receiver(receiver_code.workspace_accepts, signed)


def test_that_receiver_verifies_any_json(workspace):
    hook = workspace.hook("any", max_in_flight=50)
    for text in odd_json.TEXTS:
        body = f'{{"type": "a.b", "tenant_id": "{workspace.tenant}", "data": {text}}}'
        assert workspace.api.request("POST", "/v1/events", body.encode()).status == 202, text
    for request in workspace.wait_requests(hook, len(odd_json.TEXTS)):
        assert receiver_code.workspace_accepts(hook.secret, request), request.body


def test_five_failures_in_60_seconds_open_the_circuit_for_5_minutes_then_a_test_decides(workspace):
    hook = profiles.open_circuit(workspace, [200] * 20 + [500] * 4)
    assert workspace.circuit(hook)["state"] == "closed", "four failures are too few"
    workspace.receiver.on(hook.path, Reply(500))
    workspace.publish()
    circuit = workspace.wait_circuit(hook, "open")
    assert profiles.open_seconds(circuit) == 300
    late = workspace.publish()["id"]
    assert workspace.wait_blocked(late, hook)["blocked"]["reason"] == "circuit"
    assert len(workspace.requests(hook)) == 25

    soon = {"circuit_breaker_config": {"sleep_window_ms": 10, "sleep_max_ms": 10}}
    workspace.receiver.on(hook.path, Held(Reply(500)))
    workspace.api.patch(f"/v1/webhooks/{hook.id}", soon)
    workspace.wait_requests(hook, 26)
    workspace.api.patch(f"/v1/webhooks/{hook.id}", {"circuit_breaker_config": None})
    workspace.receiver.release(hook.path)  # One failed probe opens it again.
    circuit = workspace.wait_circuit(hook, "open")
    assert profiles.open_seconds(circuit) == 300

    workspace.receiver.on(hook.path, Reply(200))
    workspace.api.patch(f"/v1/webhooks/{hook.id}", soon)
    probe = workspace.publish()["id"]
    assert workspace.wait_done(probe, hook)["status"] == "succeeded"
    workspace.wait_circuit(hook, "closed")
    assert len(workspace.requests(hook)) == 27, "one successful probe closes it"


def test_fifty_deliveries_run_at_the_same_time_and_no_more(own_server, receiver):
    server = own_server("--profile", "workspace", "--io-threads", "4").start()
    api = server.api()
    receiver.hold("/crowd")
    for n in range(4):
        api.post("/v1/webhooks", {"url": receiver.url("/crowd"), "events": ["*"], "tenant_id":
                                  f"workspace-{n}", "max_in_flight": 100}, expect=201)
    events = [{"type": "a.b", "data": n, "tenant_id": f"workspace-{n % 4}"} for n in range(100)]
    api.post("/v1/events/batch", {"events": events}, expect=202)
    wait_for(lambda: receiver.count("/crowd") >= 50, "fifty requests")
    receiver.release("/crowd")
    wait_for(lambda: receiver.count("/crowd") >= 100, "the others")
    assert receiver.peak("/crowd") == 50


def test_retention_and_alert_limits_are_those_of_the_design():
    _, stdout, _ = run_command("serve", "--profile", "workspace", "--print-config")
    config = tomllib.loads(stdout)
    assert config["retention"]["events_days"] == 30
    assert config["alerts"]["queue_depth"] == 1000
    assert config["alerts"]["success_percentage"] == 50
    assert config["alerts"]["circuit_open_ms"] == 600_000
