"""URL verification: a challenge is sent before a webhook becomes active."""

import json
import signal
import time

import pytest

from harness import DEADLINE, wait_for
from receiver import Close, Hang, Reply
from secret_checks import echo, signature, signatures


def verified_hook(world, *script, expect=201, **fields):
    path = world.path("hook")
    world.receiver.on(path, *script)
    body = {"url": world.receiver.url(path), "events": ["*"], "tenant_id": world.tenant, **fields}
    return world.api.post("/v1/webhooks", body, expect=expect)


def challenge_of(request):
    return json.loads(request.body)["data"]["challenge"]


def test_a_receiver_that_echoes_the_challenge_is_verified(world):
    created = verified_hook(world, echo, verify_url=True)
    assert created["active"] is True
    assert created["disabled_reason"] is None
    request, = world.receiver.requests(world.path("hook"))
    assert json.loads(request.body)["type"] == "postrider.verification"
    assert request.header("x-webhook-event") == "postrider.verification"
    assert signatures(request) == [signature(created["secret"], request)]
    assert len(challenge_of(request)) == 48
    assert world.api.get(f"/v1/deliveries?tenant_id={world.tenant}")["data"] == []


@pytest.mark.parametrize("reply", [
    lambda request: Reply(200, body=challenge_of(request).encode()),
    lambda request: Reply(204 + 2, body=b" " + challenge_of(request).encode() + b"\r\n"),
    lambda request: Reply(200, body=b'"' + challenge_of(request).encode() + b'"'),
    lambda request: Reply(200, body=json.dumps(
        {"ok": True, "challenge": challenge_of(request)}).encode()),
], ids=["plain", "with-blanks", "json-string", "json-object"])
def test_the_challenge_may_be_echoed_plain_or_as_json(world, reply):
    assert verified_hook(world, reply, verify_url=True)["active"] is True


@pytest.mark.parametrize("reply, why", [
    (Reply(200), "does not repeat the challenge"),
    (Reply(200, body=b'{"challenge":"0000"}'), "does not repeat the challenge"),
    (lambda request: Reply(404, body=challenge_of(request).encode()), "answered 404"),
    (lambda request: Reply(302, body=challenge_of(request).encode()), "answered 302"),
    (Close(), "could not be verified"),
], ids=["empty", "wrong", "not-found", "redirect", "closed"])
def test_an_unverified_webhook_is_created_inactive_with_the_reason(world, reply, why):
    created = verified_hook(world, reply, verify_url=True)
    assert created["active"] is False
    assert why in created["disabled_reason"]
    assert created["disabled_at"] == created["created_at"]
    assert world.publish()["deliveries"] == 0


def test_a_receiver_that_does_not_answer_within_five_seconds_is_not_verified(world):
    began = time.monotonic()
    created = verified_hook(world, Hang(), verify_url=True)
    assert 4.9 <= time.monotonic() - began < DEADLINE
    assert created["active"] is False
    assert "could not be verified" in created["disabled_reason"]


def test_verification_can_be_required(world):
    problem = verified_hook(world, Reply(200), expect=422, require_verification=True)
    assert problem["code"] == "verification_failed"
    assert problem["errors"][0]["field"] == "url"
    assert world.api.get(f"/v1/webhooks?tenant_id={world.tenant}")["data"] == []
    assert verified_hook(world, echo, require_verification=True)["active"] is True


def test_the_configuration_can_require_verification(own_server, make_world, tmp_path):
    file = tmp_path / "own.toml"
    file.write_text("[webhooks]\nrequire_verification = true\n")
    server = own_server("--config", str(file)).start()
    world = make_world(server)
    problem = verified_hook(world, Reply(200), expect=422, verify_url=False)
    assert problem["code"] == "verification_failed"
    assert world.api.get("/v1/webhooks")["data"] == []
    created = verified_hook(world, echo)
    assert created["active"] is True
    there = world.path("there")
    world.receiver.on(there, Reply(200))
    world.api.patch(f"/v1/webhooks/{created['id']}", {"url": world.receiver.url(there)}, expect=422)
    world.api.patch(f"/v1/webhooks/{created['id']}", {"name": "the same URL"}, expect=200)

    file.write_text("")
    server.signal(signal.SIGHUP)
    wait_for(lambda: "config.reloaded" in server.output(), "the reload")
    assert verified_hook(world, Reply(200))["active"] is True


def test_no_challenge_is_sent_without_a_request_for_verification(world):
    assert verified_hook(world, echo)["active"] is True
    assert world.receiver.count(world.path("hook")) == 0


def test_a_successful_second_verification_activates_the_webhook(world):
    created = verified_hook(world, Reply(500), verify_url=True)
    problem = world.api.post(f"/v1/webhooks/{created['id']}/verify", expect=422)
    assert "answered 500" in problem["detail"]
    assert world.api.get(f"/v1/webhooks/{created['id']}")["active"] is False

    world.receiver.on(world.path("hook"), echo)
    verified = world.api.post(f"/v1/webhooks/{created['id']}/verify")
    assert verified["active"] is True
    assert verified["disabled_reason"] is None
    assert verified["disabled_at"] is None
    assert verified["replay"] == {"since": created["disabled_at"],
                                  "path": f"/v1/webhooks/{created['id']}/replay"}
    assert world.publish()["deliveries"] == 1


def test_a_changed_url_is_verified_before_it_is_used(world):
    hook = world.hook()
    there = world.path("there")
    world.receiver.on(there, Reply(200))
    changed = {"url": world.receiver.url(there)}

    problem = world.api.patch(f"/v1/webhooks/{hook.id}", {**changed, "require_verification": True},
                              expect=422)
    assert problem["code"] == "verification_failed"
    assert world.api.get(f"/v1/webhooks/{hook.id}")["url"] == hook.created["url"]

    answer = world.api.patch(f"/v1/webhooks/{hook.id}", {**changed, "verify_url": True})
    assert answer["url"] == changed["url"]
    assert answer["active"] is False
    assert "does not repeat" in answer["disabled_reason"]


def test_a_challenge_is_not_sent_to_a_private_address(strict_api):
    problem = strict_api.post("/v1/webhooks", {"url": "https://127.0.0.1/", "events": ["*"],
                                               "verify_url": True}, expect=422)
    assert problem["errors"][0]["field"] == "url"


def test_a_verify_url_that_is_not_a_boolean_is_refused(world):
    problem = verified_hook(world, echo, expect=422, verify_url="yes")
    assert problem["errors"][0]["field"] == "verify_url"
