"""Rotation of a webhook's secret: old and new secrets sign during the grace period."""

import base64
import datetime
import subprocess

import pytest

from harness import wait_for
from secret_checks import signature, signatures


def rotate(world, hook, expect=200, **fields):
    return world.api.post(f"/v1/webhooks/{hook.id}/secret/rotate", fields, expect=expect)


def send(world, hook):
    """Publishes one event. Returns the received request."""
    before = world.receiver.count(hook.path)
    world.publish()
    return world.wait_requests(hook, before + 1)[-1]


def test_old_and_new_secret_both_sign_after_a_rotation(world):
    hook = world.hook()
    answer = rotate(world, hook)
    assert answer["secret"] != hook.secret
    assert len(answer["old_secrets"]) == 1
    request = send(world, hook)
    assert signatures(request) == [signature(answer["secret"], request),
                                   signature(hook.secret, request)]


def test_the_default_grace_period_is_one_day(world):
    hook = world.hook()
    answer = rotate(world, hook)
    day = 24 * 3600
    assert seconds_between(answer["set_at"], answer["old_secrets"][0]["ends_at"]) == day
    answer = rotate(world, hook, grace_period_seconds=604_800)
    assert seconds_between(answer["set_at"], answer["old_secrets"][0]["ends_at"]) == 7 * day


def seconds_between(earlier, later):
    parse = datetime.datetime.fromisoformat
    return (parse(later[:-1]) - parse(earlier[:-1])).total_seconds()


def test_without_grace_only_the_new_secret_signs(world):
    hook = world.hook()
    answer = rotate(world, hook, grace_period_seconds=0)
    assert answer["old_secrets"] == []
    request = send(world, hook)
    assert signatures(request) == [signature(answer["secret"], request)]


def test_an_old_secret_stops_signing_after_its_grace_period(world):
    hook = world.hook()
    answer = rotate(world, hook, grace_period_seconds=1)

    def only_the_new_one_signs():
        request = send(world, hook)
        made = signatures(request)
        assert made[0] == signature(answer["secret"], request)
        return len(made) == 1
    wait_for(only_the_new_one_signs, "the old secret to expire")
    assert world.api.get(f"/v1/webhooks/{hook.id}/secret")["old_secrets"] == []


def test_a_caller_can_choose_the_new_secret(world):
    hook = world.hook()
    mine = "whsec_" + base64.b64encode(b"a secret of my own, long enough").decode()
    assert rotate(world, hook, secret=mine)["secret"] == mine
    request = send(world, hook)
    assert signatures(request)[0] == signature(mine, request)
    refused = rotate(world, hook, expect=422, secret=mine)
    assert refused["detail"] == "The new secret is the same as the webhook's current secret."


def test_at_most_ten_old_secrets_sign(world):
    hook = world.hook()
    for count in range(1, 11):
        assert len(rotate(world, hook)["old_secrets"]) == count
    assert len(signatures(send(world, hook))) == 11
    refused = rotate(world, hook, expect=409)
    assert "grace_period_seconds 0" in refused["detail"]
    assert len(rotate(world, hook, grace_period_seconds=0)["old_secrets"]) == 10


@pytest.mark.parametrize("body, field", [
    ({"grace_period_seconds": -1}, "grace_period_seconds"),
    ({"grace_period_seconds": 604_801}, "grace_period_seconds"),
    ({"grace_period_seconds": "1"}, "grace_period_seconds"),
    ({"secret": "short"}, "secret"),
    ({"secret": None}, "secret"),
    ({"sekret": "x"}, "sekret"),
])
def test_an_invalid_rotation_is_refused_with_the_field(world, body, field):
    hook = world.hook()
    problem = rotate(world, hook, expect=422, **body)
    assert [error["field"] for error in problem["errors"]] == [field]
    assert world.api.get(f"/v1/webhooks/{hook.id}/secret")["secret"] == hook.secret


def test_the_secret_is_shown_only_by_its_own_route_and_is_not_cacheable(world):
    hook = world.hook()
    answer = world.api.request("GET", f"/v1/webhooks/{hook.id}/secret")
    assert answer.status == 200
    assert answer.json["secret"] == hook.secret
    assert answer.json["public_key"] is None
    assert answer.headers["cache-control"] == "no-store"
    rotated = world.api.request("POST", f"/v1/webhooks/{hook.id}/secret/rotate")
    assert rotated.headers["cache-control"] == "no-store"
    assert "secret" not in world.api.get(f"/v1/webhooks/{hook.id}")


def test_asymmetric_keys_rotate_with_their_public_keys(world, tmp_path):
    hook = world.hook(signature={"scheme": "standard-ed25519"})
    answer = rotate(world, hook)
    assert answer["public_key"].startswith("whpk_")
    assert answer["old_secrets"][0]["public_key"] == hook.created["public_key"]
    assert answer["public_key"] == world.api.get(f"/v1/webhooks/{hook.id}")["public_key"]
    request = send(world, hook)
    made = signatures(request)
    assert len(made) == 2
    text = b".".join([request.webhook_id.encode(), request.header("webhook-timestamp").encode(),
                      request.body])
    for public_key, value in zip([answer["public_key"], hook.created["public_key"]], made):
        verify_ed25519(tmp_path, public_key, value, text)


def verify_ed25519(directory, public_key, value, text):
    """Verifies a signature with OpenSSL."""
    assert value.startswith("v1a,")
    # The fixed DER prefix of an Ed25519 public key, then its bytes.
    der = bytes.fromhex("302a300506032b6570032100") + base64.b64decode(public_key[len("whpk_"):])
    (directory / "key.der").write_bytes(der)
    (directory / "signature").write_bytes(base64.b64decode(value[len("v1a,"):]))
    (directory / "text").write_bytes(text)
    done = subprocess.run(["openssl", "pkeyutl", "-verify", "-pubin", "-keyform", "DER", "-inkey",
                           "key.der", "-rawin", "-in", "text", "-sigfile", "signature"],
                          cwd=directory, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_rotation_survives_a_restart(own_server, make_world):
    server = own_server().start()
    world = make_world(server)
    hook = world.hook()
    answer = rotate(world, hook)
    server.kill()
    server.start()
    world.api = server.api()
    request = send(world, hook)
    assert signatures(request) == [signature(answer["secret"], request),
                                   signature(hook.secret, request)]
