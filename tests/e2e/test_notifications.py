"""Notifications: who is told what, through a real mail server and real webhooks."""

import contextlib
import re

import pytest

import alert_api
from harness import metric, metrics_page, wait_for
from notifying import (BREAKER, BRIEF, PASSWORD, RETRY, USER, Smtp, add_channel, notifications,
                       settings, wait_body, wait_mail, wait_notification)
from operations import start
from receiver import OK, Reply
from world import SLOW


@pytest.fixture(scope="module")
def smtp():
    with Smtp() as server:
        yield server


@pytest.fixture
def place(own_server, make_world, smtp):
    """Starts a server that uses the mail server. Returns it and a World."""
    def make(*arguments, **values):
        server = own_server(*settings(smtp, **values), *arguments).start()
        return server, make_world(server)
    return make


def fail_until_open(world, label="hook", **fields):
    hook = world.hook(label, Reply(503), retry_config=RETRY, circuit_breaker_config=BREAKER,
                      **fields)
    world.publish()
    alert_api.wait_alert(world.api, webhook_id=hook.id, kind="circuit_opened", status="active")
    return hook


def test_an_opened_circuit_and_its_recovery_are_told_by_mail_chat_and_webhook(place, smtp):
    server, world = place("--set", "public_url=https://postrider.example.com")
    kinds = {"kinds": ["circuit_opened"]}
    add_channel(world.api, "email", {"to": ["three-ways@example.com"]}, **kinds)
    paths = {kind: world.path(kind) for kind in ("slack", "teams", "webhook")}
    for kind, path in paths.items():
        add_channel(world.api, kind, {"url": world.receiver.url(path)}, **kinds)
    hook = fail_until_open(world, name="Orders")

    mail = wait_mail(smtp, "Circuit opened: Orders", "three-ways@example.com")
    text = mail.part("plain")
    assert mail.tls
    assert mail.sender == "postrider@example.com"
    assert world.receiver.url(hook.path) in text
    assert f"Tenant: {world.tenant}" in text
    assert "2 attempts failed; the circuit opens at 2." in text
    assert "The last attempt failed: HTTP 503." in text
    assert "Measured: 2" in text and "Limit: 2" in text
    assert "What to do: Check the receiver." in text
    link = f"https://postrider.example.com/webhooks/{hook.id}"
    assert link in text and f'href="{link}"' in mail.part("html")

    _, slack = wait_body(world.receiver, paths["slack"], "Circuit opened")
    assert set(slack) == {"text", "blocks"}
    assert slack["text"] == "Circuit opened: Orders"
    assert slack["blocks"][0]["type"] == "header"
    _, teams = wait_body(world.receiver, paths["teams"], "Circuit opened")
    assert teams["type"] == "message"
    assert teams["attachments"][0]["content"]["type"] == "AdaptiveCard"
    request, event = wait_body(world.receiver, paths["webhook"], "circuit_opened")
    assert request.header("webhook-signature")
    assert event["type"] == "postrider.alert.raised"
    assert event["data"]["count"] == 1
    assert event["data"]["notifications"][0]["webhook_id"] == hook.id
    assert event["data"]["notifications"][0]["link"] == link

    world.receiver.on(hook.path, OK)
    recovered = wait_mail(smtp, "Circuit recovered: Orders", "three-ways@example.com")
    assert "Lasted:" in recovered.part("plain")
    assert recovered.parsed()["References"] == mail.parsed()["References"]
    wait_body(world.receiver, paths["slack"], "Circuit recovered")
    wait_body(world.receiver, paths["teams"], "Circuit recovered")
    _, event = wait_body(world.receiver, paths["webhook"], "postrider.alert.resolved")
    assert event["data"]["notifications"][0]["resolved_at"]

    page = metrics_page(world.api)
    for kind in ("email", "slack", "teams", "webhook"):
        sent = metric(page,
                      f'postrider_notifications_total{{channel_kind="{kind}",outcome="sent"}}')
        assert sent == 2, kind
    assert metric(page, "postrider_notifications_waiting") == 0


def test_permanent_failures_are_told_in_words(place, smtp):
    _, world = place()
    add_channel(world.api, "email", {"to": ["words@example.com"]},
                kinds=["permanent_failure", "dead_letters"])
    hook = world.hook("hook", Reply(500), name="Invoices", retry_config=BRIEF,
                      circuit_breaker_config={"enabled": False})
    event = world.publish()
    delivery = world.wait_done(event["id"], hook)
    mail = wait_mail(smtp, "Webhook delivery failed: Invoices", "words@example.com")
    assert f"Webhook delivery {delivery['id']} failed after 3 attempts" in mail.part("plain")
    assert "The last attempt failed: HTTP 500." in mail.part("plain")
    for each in world.publish_numbered(10):
        world.wait_done(each, hook)
    wait_mail(smtp, "Webhook Invoices has 11 failures in the last hour", "words@example.com")


def test_alerts_of_one_kind_are_one_message_with_their_count(place, smtp):
    _, world = place()
    channel = add_channel(world.api, "email", {"to": ["count@example.com"]},
                          group_window_ms=10_000, kinds=["webhook_disabled"])
    for number in range(3):
        world.hook(f"hook{number}", Reply(410), name=f"Hook {number}")
    world.publish()
    mail = wait_mail(smtp, "and 2 more", "count@example.com")
    assert all(f"Webhook disabled: Hook {number}" in mail.part("plain") for number in range(3))
    sent = notifications(world.api, channel, state="sent")
    assert len(sent) == 3
    assert len({item["message_id"] for item in sent}) == 1


def test_an_alert_that_ends_within_the_window_is_not_told(place, smtp):
    _, world = place()
    channel = add_channel(world.api, "email", {"to": ["brief@example.com"]},
                          group_window_ms=600_000, kinds=["webhook_disabled"])
    hook = world.hook("hook", Reply(410))
    world.publish()
    wait_notification(world.api, channel, state="waiting")
    world.api.patch(f"/v1/webhooks/{hook.id}", {"active": True})
    wait_for(lambda: len(notifications(world.api, channel, state="held_back")) == 2,
             "both to be held back")
    assert not [mail for mail in smtp.mails if "brief@example.com" in mail.recipients]


def test_beyond_the_limit_notifications_wait_for_the_summary(place, smtp):
    _, world = place()
    channel = add_channel(world.api, "email", {"to": ["limit@example.com"]}, per_hour_max=1,
                          kinds=["webhook_disabled"])
    first = world.hook("first", Reply(410), name="First")
    world.publish()
    mail = wait_mail(smtp, "Webhook disabled: First", "limit@example.com")
    assert "What follows is told at" in mail.part("plain")
    world.api.patch(f"/v1/webhooks/{first.id}", {"active": True})
    wait_notification(world.api, channel, state="waiting")
    assert len([each for each in smtp.mails if "limit@example.com" in each.recipients]) == 1


def test_killed_between_alert_and_message_it_is_sent_after_the_start(place, smtp):
    server, world = place()
    channel = add_channel(world.api, "email", {"to": ["killed@example.com"]},
                          group_window_ms=600_000, kinds=["webhook_disabled"])
    hook = world.hook("hook", Reply(410), name="Killed")
    world.publish()
    waiting = wait_notification(world.api, channel, state="waiting")
    assert waiting["webhook_id"] == hook.id
    # Let the window end with the next start.
    world.api.patch(f"/v1/notification-channels/{channel['id']}", {"group_window_ms": 0})
    server.kill()
    assert not [mail for mail in smtp.mails if "killed@example.com" in mail.recipients]
    server.start()
    wait_mail(smtp, "Webhook disabled: Killed", "killed@example.com")
    sent = wait_notification(server.api(), channel, state="sent")
    assert sent["id"] == waiting["id"]
    assert notifications(server.api(), channel, state="waiting") == []


def test_what_was_told_before_a_restart_is_told_to_be_over_after_it(place, smtp):
    server, world = place()
    channel = add_channel(world.api, "email", {"to": ["restart@example.com"]},
                          kinds=["webhook_disabled"])
    hook = world.hook("hook", Reply(410), name="Restarted")
    world.publish()
    wait_mail(smtp, "Webhook disabled: Restarted", "restart@example.com")
    wait_notification(world.api, channel, state="sent")
    server.stop()
    server.start()
    server.api().patch(f"/v1/webhooks/{hook.id}", {"active": True})
    wait_mail(smtp, "Webhook enabled again: Restarted", "restart@example.com")


def test_after_an_outage_of_the_mail_server_nothing_is_missing(place, smtp):
    _, world = place()
    channel = add_channel(world.api, "email", {"to": ["outage@example.com"]},
                          kinds=["webhook_disabled"])
    smtp.kill()
    try:
        world.hook("hook", Reply(410), name="Outage")
        world.publish()
        failed = wait_for(
            lambda: [item for item in notifications(world.api, channel) if item["attempts"]],
            "an attempt")[0]
        assert failed["state"] == "waiting"
        assert "cannot be used" in failed["last_error"]
        assert failed["next_attempt_at"]
        test = world.api.post(f"/v1/notification-channels/{channel['id']}/test")
        assert test["state"] == "failed"
    finally:
        smtp.start()
    # A mail that gets through shows that the server works again.
    test = world.api.post(f"/v1/notification-channels/{channel['id']}/test")
    assert test["state"] == "sent", test
    wait_mail(smtp, "Test of the notification channel email channel", "outage@example.com")
    wait_mail(smtp, "Webhook disabled: Outage", "outage@example.com")


def test_refusals_and_greylisting(place, smtp):
    _, world = place()
    told = world.path("told")
    add_channel(world.api, "webhook", {"url": world.receiver.url(told)},
                kinds=["notifications_failing"])
    greylisted = add_channel(world.api, "email", {"to": ["greylisted-1@example.com"]},
                             kinds=["webhook_disabled"], name="Greylisted")
    refused = add_channel(world.api, "email", {"to": ["unknown@example.com"]},
                          kinds=["webhook_disabled", "notifications_failing"], name="Refused")
    world.hook("hook", Reply(410))
    world.publish()
    item = wait_notification(world.api, refused, state="failed")
    assert "550 5.1.1 No such user here" in item["last_error"]
    item = wait_for(lambda: [each for each in notifications(world.api, greylisted)
                             if each["attempts"]], "an attempt")[0]
    assert item["state"] == "waiting"
    assert "450 4.2.0 Greylisted" in item["last_error"]

    # The alert goes through another channel, not through the one that fails.
    alert = alert_api.wait_alert(world.api, kind="notifications_failing", status="active")
    assert '"Refused" cannot send' in alert["detail"]
    _, event = wait_body(world.receiver, told, "notifications_failing")
    assert event["data"]["notifications"][0]["alert_id"] == alert["id"]
    assert {each["kind"] for each in notifications(world.api, refused)} == {"webhook_disabled"}

    # A working address resolves it.
    world.api.patch(f"/v1/notification-channels/{refused['id']}",
                    {"target": {"to": ["known@example.com"]}})
    assert world.api.post(f"/v1/notification-channels/{refused['id']}/test")["state"] == "sent"
    alert_api.wait_alert(world.api, kind="notifications_failing", status="resolved")


def test_a_mail_server_that_hangs_delays_nothing_else(place, smtp):
    _, world = place(timeout_ms=600_000)
    add_channel(world.api, "email", {"to": ["hangs@example.com"]}, kinds=["webhook_disabled"])
    world.hook("hook", Reply(410))
    other = world.hook("other")
    world.publish()
    world.wait_requests(other, 1)
    for event in world.publish_numbered(20):
        assert world.wait_done(event, other)["status"] == "succeeded"
    # The fixture stops the server, which must not wait for the mail server.


def test_logs_in_and_shows_the_password_nowhere(place, smtp, tmp_path):
    (tmp_path / "password").write_text(PASSWORD + "\n")
    server, world = place(user=USER, password_file=tmp_path / "password",
                          **{"from": "login@example.com"})
    channel = add_channel(world.api, "email", {"to": ["auth@example.com"]})
    assert world.api.post(f"/v1/notification-channels/{channel['id']}/test")["state"] == "sent"
    assert wait_mail(smtp, "Test of", "auth@example.com").user == USER
    (tmp_path / "password").write_text("wrong\n")
    failed = world.api.post(f"/v1/notification-channels/{channel['id']}/test")
    assert failed["state"] == "failed"
    assert "535" in failed["last_error"]
    assert PASSWORD not in server.output()


def test_owners_and_contacts_are_told_about_their_own(place, smtp):
    server, world = place()
    other = f"{world.tenant}-other"
    for tenant, contact in ((world.tenant, "contact-a"), (other, "contact-b")):
        world.api.post("/v1/tenants", {"id": tenant, "contacts": [f"{contact}@example.com"]},
                       expect=201)
    channel = add_channel(world.api, "email", {"to_owner": True, "to_contacts": True},
                          kinds=["webhook_disabled"], group_window_ms=5_000)
    world.hook("a", Reply(410), name="First", owner_email="owner-a@example.com")
    world.hook("b", Reply(410), name="Second", tenant_id=other, owner_email="owner-b@example.com")
    world.publish()
    world.publish(tenant_id=other)
    for name, mine, foreign in (("a", "First", "Second"), ("b", "Second", "First")):
        for role in ("owner", "contact"):
            mail = wait_mail(smtp, f"Webhook disabled: {mine}", f"{role}-{name}@example.com")
            assert mail.recipients == [f"{role}-{name}@example.com"]
            assert foreign not in mail.content
    assert len(notifications(world.api, channel, state="sent")) == 2


def test_hostile_names_are_only_text(place, smtp):
    _, world = place()
    chat = world.path("chat")
    add_channel(world.api, "email", {"to": ["hostile@example.com"]}, kinds=["webhook_disabled"])
    add_channel(world.api, "slack", {"url": world.receiver.url(chat)}, kinds=["webhook_disabled"])
    name = "<!channel> <script>x</script> \"{{subject}}\" Bcc: a@b.c ☂"
    world.hook("hook", Reply(410), name=name)
    world.publish()
    mail = wait_mail(smtp, "Webhook disabled", "hostile@example.com")
    assert mail.subject == f"[Postrider] Webhook disabled: {name}"
    assert set(mail.parsed().keys()) == {
        "From", "To", "Subject", "Date", "Message-ID", "In-Reply-To", "References",
        "Auto-Submitted", "MIME-Version", "Content-Type"}
    assert "<script>" not in mail.part("html")
    _, slack = wait_body(world.receiver, chat, "Webhook disabled")
    assert "<!channel>" not in slack["text"]
    assert "&lt;!channel&gt;" in slack["text"]


def test_other_webhooks_do_not_get_notifications(place):
    _, world = place()
    told = world.path("told")
    channel = add_channel(world.api, "webhook", {"url": world.receiver.url(told)})
    curious = world.hook("curious", tenant_id="postrider-curious")
    own = world.hook("own")  # Subscribes to everything of its tenant.
    world.hook("hook", Reply(410))
    event = world.publish()
    wait_body(world.receiver, told, "postrider.webhook.disabled")
    assert world.wait_done(event["id"], own)["status"] == "succeeded"
    assert world.receiver.count(curious.path) == 0
    assert [request for request in world.requests(own) if b"postrider." in request.body] == []
    assert wait_notification(world.api, channel, state="sent")["event_id"].startswith("evt_")


def test_the_end_of_an_operation_is_told(place):
    _, world = place()
    told = world.path("told")
    add_channel(world.api, "webhook", {"url": world.receiver.url(told)},
                kinds=["operation_finished"])
    hook = world.hook("hook", Reply(404), OK, retry_config=SLOW,
                      circuit_breaker_config={"enabled": False})
    event = world.publish()
    assert world.wait_done(event["id"], hook)["status"] == "dead_letter"
    started = start(world.api, "POST", "/v1/dlq/retry-batch",
                    {"filter": {"webhook_ids": [hook.id]}})
    _, event = wait_body(world.receiver, told, "operation_finished")
    assert event["type"] == "postrider.operation.finished"
    [item] = event["data"]["notifications"]
    assert item["operation_id"] == started["id"]
    assert "1 succeeded" in item["detail"]


def test_templates_can_be_replaced(place, smtp, tmp_path):
    templates = tmp_path / "templates"
    templates.mkdir()
    (templates / "subject.txt").write_text("ALERT {{severity}}: {{subject}}")
    _, world = place("--set", f"notifications.templates={templates}")
    add_channel(world.api, "email", {"to": ["templates@example.com"]}, kinds=["webhook_disabled"])
    world.hook("hook", Reply(410), name="Templated")
    world.publish()
    wait_mail(smtp, "ALERT critical: Webhook disabled: Templated", "templates@example.com")


def test_a_wrong_template_is_named_at_the_start(own_server, tmp_path):
    (tmp_path / "mail.html").write_text("{{#items}}")
    server = own_server("--set", f"notifications.templates={tmp_path}").launch()
    assert server.wait() != 0
    assert re.search(r"mail\.html: The section `items` has no end", server.output())


def test_a_test_without_a_mail_server_says_what_is_missing(own_server, make_world):
    world = make_world(own_server().start())
    channel = add_channel(world.api, "email", {"to": ["ops@example.com"]})
    failed = world.api.post(f"/v1/notification-channels/{channel['id']}/test")
    assert failed["state"] == "failed"
    assert "smtp.server" in failed["last_error"]
    with contextlib.suppress(KeyError):
        assert metric(metrics_page(world.api), "postrider_notifications_waiting") == 0
