"""Each kind of failure: its category, its retry delay, and when it becomes a dead letter."""

import datetime
import socket

import pytest

from harness import wait_for
from receiver import Close, Hang, Raw, Reply
from world import FAST, SLOW

PERMANENT = [400, 401, 403, 404, 413, 414, 415, 451]
RETRIED = [
    (500, "server_error"), (502, "server_error"), (503, "server_error"), (599, "server_error"),
    (408, "timeout"), (409, "client_error"), (418, "client_error"), (425, "client_error"),
    (301, "redirect"), (304, "redirect"),
]


def seconds(earlier, later):
    def parse(text):
        return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    return (parse(later) - parse(earlier)).total_seconds()


def planned_delay(attempt):
    """Seconds from the start of an attempt to its planned retry."""
    return seconds(attempt["executed_at"], attempt["next_retry_at"])


def first_failure(world, hook):
    """Publishes and waits for the first failed attempt. Returns (delivery, attempt)."""
    event = world.publish()
    delivery = world.wait_status(event["id"], hook, "retrying", "dead_letter")
    assert delivery["attempt_count"] == 1, delivery
    return delivery, delivery["attempts"][0]


def test_a_500_is_retried_until_it_succeeds(world):
    hook = world.hook("hook", Reply(500), Reply(500), Reply(), retry_config={**FAST, "jitter": 0})
    event = world.publish()
    delivery = world.wait_done(event["id"], hook)
    assert (delivery["status"], delivery["attempt_count"]) == ("succeeded", 3)
    assert [attempt["failure_category"] for attempt in delivery["attempts"]] == [
        "server_error", "server_error", None]

    requests = world.requests(hook)
    assert [request.attempt for request in requests] == [1, 2, 3]
    gaps = [b.started - a.started for a, b in zip(requests, requests[1:])]
    assert gaps[0] >= 0.045 and gaps[1] >= 0.095, gaps  # At least 50 ms, then 100 ms.


def test_attempts_run_out_and_leave_a_recoverable_dead_letter(world):
    hook = world.hook("hook", Reply(500), retry_config={**FAST, "max_attempts": 3})
    event = world.publish()
    delivery = world.wait_done(event["id"], hook)
    assert (delivery["status"], delivery["attempt_count"]) == ("dead_letter", 3)
    assert delivery["dead_letter"]["classification"] == "recoverable"
    assert delivery["dead_letter"]["reason"] == "max_attempts_exceeded"
    assert delivery["attempts"][-1]["next_retry_at"] is None
    assert len(world.requests(hook)) == 3


@pytest.mark.parametrize("status", PERMANENT)
def test_a_permanent_status_is_not_retried(world, status):
    hook = world.hook("hook", Reply(status), retry_config=FAST)
    event = world.publish()
    delivery = world.wait_done(event["id"], hook)
    assert (delivery["status"], delivery["attempt_count"]) == ("dead_letter", 1)
    assert delivery["dead_letter"]["classification"] == "permanent"
    assert delivery["dead_letter"]["reason"] == f"permanent_client_error_{status}"
    assert delivery["attempts"][0]["failure_category"] == (
        "payload_too_large" if status == 413 else "client_error")
    assert len(world.requests(hook)) == 1


def test_permanent_statuses_are_configurable_per_webhook(world):
    hook = world.hook("hook", Reply(404), Reply(418),
                      retry_config={**FAST, "permanent_statuses": [418]})
    event = world.publish()
    delivery = world.wait_done(event["id"], hook)
    assert (delivery["status"], delivery["attempt_count"]) == ("dead_letter", 2)
    assert delivery["dead_letter"]["reason"] == "permanent_client_error_418"


def test_410_dead_letters_the_delivery_and_disables_the_webhook(world):
    gone = world.hook("gone", Reply(410))
    other = world.hook("other")
    event = world.publish()
    delivery = world.wait_done(event["id"], gone)
    assert delivery["status"] == "dead_letter"
    assert delivery["dead_letter"] == {"classification": "permanent",
                                       "reason": "permanent_client_error_410"}

    wait_for(lambda: not world.api.get(f"/v1/webhooks/{gone.id}")["active"],
             "the webhook to be disabled")
    assert "410" in world.api.get(f"/v1/webhooks/{gone.id}")["disabled_reason"]

    assert world.publish()["deliveries"] == 1  # Only to the other webhook.
    world.wait_requests(other, 2)
    assert len(world.requests(gone)) == 1


@pytest.mark.parametrize("status, category", RETRIED)
def test_any_other_status_is_retried(world, status, category):
    hook = world.hook("hook", Reply(status), retry_config={**SLOW, "jitter": 0})
    delivery, attempt = first_failure(world, hook)
    assert delivery["status"] == "retrying"
    assert (attempt["http_status"], attempt["failure_category"]) == (status, category)
    assert 599 <= planned_delay(attempt) <= 602


def test_a_redirect_is_never_followed(world):
    target = world.path("target")
    hook = world.hook("hook", Reply(302, headers=(("Location", world.receiver.url(target)),)),
                      Reply(), retry_config=FAST)
    event = world.publish()
    delivery = world.wait_done(event["id"], hook)
    assert delivery["status"] == "succeeded"
    assert delivery["attempts"][0]["failure_category"] == "redirect"
    assert world.receiver.count(target) == 0


@pytest.mark.parametrize("retry_after, base_ms, max_ms, want", [
    ("30", 1_000, 60_000, 30),       # Lengthens.
    ("30", 45_000, 60_000, 45),      # Never shortens.
    ("3600", 1_000, 60_000, 60),     # Capped at max_delay_ms.
    ("-5", 7_000, 60_000, 7),        # Invalid values are ignored.
    ("soon", 7_000, 60_000, 7),
    ("99999999999999999999", 1_000, 60_000, 60),
    ("Wed, 21 Oct 2015 07:28:00 GMT", 7_000, 60_000, 7),
])
def test_retry_after_lengthens_the_delay_up_to_the_maximum(world, retry_after, base_ms, max_ms,
                                                            want):
    hook = world.hook("hook", Reply(503, headers=(("Retry-After", retry_after),)), retry_config={
        "base_delay_ms": base_ms, "max_delay_ms": max_ms, "max_attempts": 5, "jitter": 0})
    delivery, attempt = first_failure(world, hook)
    assert delivery["status"] == "retrying"
    assert want - 1 <= planned_delay(attempt) <= want + 2


def test_429_waits_at_least_a_minute(world):
    hook = world.hook("hook", Reply(429), retry_config={
        "base_delay_ms": 100, "max_delay_ms": 120_000, "max_attempts": 5, "jitter": 0})
    delivery, attempt = first_failure(world, hook)
    assert delivery["status"] == "retrying"
    assert attempt["failure_category"] == "rate_limit"
    assert 59 <= planned_delay(attempt) <= 62


@pytest.mark.parametrize("headers, low, high", [
    ((), 60, 66),                             # The minimum of the category.
    ((("Retry-After", "100"),), 100, 110),    # What the receiver asks for.
])
def test_jitter_spreads_delays_above_a_minimum(world, headers, low, high):
    hook = world.hook("hook", Reply(429, headers=headers))
    ids = [world.publish()["id"] for _ in range(8)]
    delays = []
    for event_id in ids:
        attempt = world.wait_status(event_id, hook, "retrying")["attempts"][0]
        # From the end of the attempt.
        delays.append(planned_delay(attempt) - attempt["duration_ms"] / 1000)
    assert len({round(delay, 2) for delay in delays}) >= 6, delays
    assert min(delays) >= low - 0.1, delays
    assert max(delays) <= high + 2, delays


@pytest.mark.parametrize("jitter", [
    0.5, {"minus": 0, "plus": 0.5}, {"minus": 0, "plus": 0, "extra_ms": 30_000},
    {"minus": 0.5, "plus": 0}])
def test_jitter_does_not_exceed_the_longest_delay(world, jitter):
    hook = world.hook("hook", Reply(500), retry_config={
        "base_delay_ms": 60_000, "max_delay_ms": 60_000, "jitter": jitter})
    ids = [world.publish()["id"] for _ in range(8)]
    delays = []
    for event_id in ids:
        attempt = world.wait_status(event_id, hook, "retrying")["attempts"][0]
        delays.append(planned_delay(attempt) - attempt["duration_ms"] / 1000)
    assert max(delays) <= 60 + 2, delays
    assert min(delays) >= 29.9, delays
    assert len({round(delay) for delay in delays}) >= 4, delays


@pytest.mark.parametrize("status, want", [(503, 7), (429, 60)])
def test_retry_after_can_be_ignored(world, status, want):
    hook = world.hook("hook", Reply(status, headers=(("Retry-After", "3000"),)), retry_config={
        "base_delay_ms": 7_000, "jitter": 0})
    world.api.patch(f"/v1/webhooks/{hook.id}", {"retry_config": {"honor_retry_after": False}})
    _, attempt = first_failure(world, hook)
    assert want - 1 <= planned_delay(attempt) <= want + 2


def test_a_receiver_that_never_answers_times_out(world):
    hook = world.hook("hook", Hang(), timeout_ms=1_000, retry_config={**SLOW, "jitter": 0})
    delivery, attempt = first_failure(world, hook)
    assert delivery["status"] == "retrying"
    assert (attempt["http_status"], attempt["failure_category"]) == (None, "timeout")
    assert attempt["duration_ms"] >= 999
    assert attempt["error_message"]


def test_a_timeout_waits_at_least_two_seconds(world):
    hook = world.hook("hook", Hang(), timeout_ms=1_000, retry_config={
        "base_delay_ms": 50, "max_delay_ms": 60_000, "max_attempts": 5, "jitter": 0})
    _, attempt = first_failure(world, hook)
    # Measured from the attempt's start: its timeout of 1 s plus 2 s.
    assert 2.9 <= planned_delay(attempt) <= 6


def test_a_refused_connection_is_a_network_failure(world):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    hook = world.hook(url=f"http://127.0.0.1:{port}/", retry_config=SLOW)
    delivery, attempt = first_failure(world, hook)
    assert delivery["status"] == "retrying"
    assert (attempt["http_status"], attempt["failure_category"]) == (None, "network")
    assert "refused" in attempt["error_message"].lower()


@pytest.mark.parametrize("reply, category", [
    (Close(), "network"),
    (Raw(b"SSH-2.0-OpenSSH_9.2\r\n\r\n"), "protocol"),
    (Raw(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab"), "network"),
    (Raw(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"), "protocol"),
    (Raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\nab"),
     "protocol"),
], ids=["close", "no-http", "cut-short", "two-lengths", "length-and-chunked"])
def test_an_invalid_or_incomplete_response_is_a_failure(world, reply, category):
    hook = world.hook("hook", reply, retry_config=SLOW)
    delivery, attempt = first_failure(world, hook)
    assert delivery["status"] == "retrying"
    assert attempt["failure_category"] == category, attempt
    assert attempt["error_message"]


def test_an_untrusted_certificate_is_retried_twice(world, tls_receiver):
    requests_before = tls_receiver.count()
    hook = world.hook(url=tls_receiver.url("/"), retry_config={**FAST, "max_attempts": 10})
    event = world.publish()
    delivery = world.wait_done(event["id"], hook)
    assert (delivery["status"], delivery["attempt_count"]) == ("dead_letter", 3)
    assert delivery["dead_letter"]["reason"] == "ssl_error_retry_limit"
    assert {attempt["failure_category"] for attempt in delivery["attempts"]} == {"ssl"}
    assert tls_receiver.count() == requests_before, "sent before the certificate was checked"


@pytest.mark.parametrize("config, attempts, reason", [
    ({"max_attempts": 10, "ssl_max_attempts": 5}, 5, "ssl_error_retry_limit"),
    ({"max_attempts": 10, "ssl_max_attempts": 1}, 1, "ssl_error_retry_limit"),
    ({"max_attempts": 4, "ssl_max_attempts": 4}, 4, "max_attempts_exceeded"),
    ({"max_attempts": 2, "ssl_max_attempts": 100}, 2, "max_attempts_exceeded"),
])
def test_the_number_of_attempts_after_tls_errors_is_configurable(world, tls_receiver, config,
                                                                 attempts, reason):
    hook = world.hook(url=tls_receiver.url("/"), retry_config={**FAST, **config})
    assert hook.created["retry_config"]["ssl_max_attempts"] == config["ssl_max_attempts"]
    delivery = world.wait_done(world.publish()["id"], hook)
    assert (delivery["status"], delivery["attempt_count"]) == ("dead_letter", attempts)
    assert delivery["dead_letter"]["reason"] == reason


@pytest.mark.parametrize("field, value", [
    ("ssl_max_attempts", 0), ("ssl_max_attempts", 101), ("ssl_max_attempts", "3"),
    ("honor_retry_after", 1), ("honor_retry_after", "false")])
def test_wrong_retry_values_are_refused(world, field, value):
    body = {"url": "https://example.com/", "events": ["*"], "retry_config": {field: value}}
    problem = world.api.post("/v1/webhooks", body, expect=422)
    assert problem["errors"][0]["field"] == f"retry_config.{field}"


def test_null_restores_the_default_of_a_retry_value(world):
    hook = world.hook(retry_config={"ssl_max_attempts": 9, "honor_retry_after": False})
    changed = world.api.patch(f"/v1/webhooks/{hook.id}", {
        "retry_config": {"ssl_max_attempts": None, "honor_retry_after": None}})["retry_config"]
    assert (changed["ssl_max_attempts"], changed["honor_retry_after"]) == (3, True)
    assert changed["preset"] == "patient"


def test_a_name_that_does_not_resolve_is_a_dns_failure(world):
    hook = world.hook(url="http://no-such-host.invalid/", retry_config=SLOW)
    delivery, attempt = first_failure(world, hook)
    assert delivery["status"] == "retrying"
    assert attempt["failure_category"] == "dns"


@pytest.mark.parametrize("profile, delay", [("outbox", 3), ("tenant", 30)])
def test_profiles_outbox_and_tenant_retry_every_failure_alike(own_server, make_world, tls_receiver,
                                                              profile, delay):
    world = make_world(own_server("--profile", profile).start())
    hook = world.hook("asks", Reply(503, headers=(("Retry-After", "3000"),)))
    config = hook.created["retry_config"]
    assert (config["ssl_max_attempts"], config["honor_retry_after"]) == (5, False)
    assert config["max_attempts"] == 5
    _, attempt = first_failure(world, hook)
    assert planned_delay(attempt) <= delay + 2

    broken = world.hook("tls", url=tls_receiver.url("/"),
                        retry_config={"schedule_ms": [10], "jitter": 0})
    delivery = world.wait_done(world.publish()["id"], broken)
    assert (delivery["status"], delivery["attempt_count"]) == ("dead_letter", 5)
    assert delivery["dead_letter"]["reason"] == "max_attempts_exceeded"


def test_settings_apply_to_new_webhooks_and_survive_a_restart(own_server, make_world):
    server = own_server("--set", "webhooks.retry.ssl_max_attempts=7",
                        "--set", "webhooks.retry.honor_retry_after=false").start()
    world = make_world(server)
    hook = world.hook()
    server.kill()
    server.start()
    config = server.api().get(f"/v1/webhooks/{hook.id}")["retry_config"]
    assert (config["ssl_max_attempts"], config["honor_retry_after"]) == (7, False)
