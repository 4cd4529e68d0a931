"""Secrets of the schemes t-v1, sha256-timestamp and sha256-body: the shown text is the key."""

import hashlib
import hmac
import json
import re

import pytest

from harness import ADMIN_KEY, run_command, wait_for
from receiver import Reply
from secret_checks import bytes_on_disk, echo, in_database, signature, signatures

SCHEMES = ["t-v1", "sha256-timestamp", "sha256-body"]
ONE_SIGNATURE = ["sha256-timestamp", "sha256-body"]
OWN = "a secret of my own: Grüße"
NEXT = "x-webhook-signature-next"


def made_with(secret, scheme, request):
    """The value that the scheme gives one signature: `v1=<hex>` or `sha256=<hex>`."""
    stamp = (re.match(r"t=(\d+)", request.header("x-webhook-signature")).group(1)
             if scheme == "t-v1" else request.header("x-webhook-timestamp"))
    text = request.body if scheme == "sha256-body" else stamp.encode() + b"." + request.body
    mac = hmac.new(secret.encode(), text, hashlib.sha256).hexdigest()
    return ("v1=" if scheme == "t-v1" else "sha256=") + mac


def is_signed_with(secret, scheme, request, header="x-webhook-signature"):
    return made_with(secret, scheme, request) in request.header(header).split(",")


def text_hook(world, scheme, label="hook", **fields):
    return world.hook(label, signature={"scheme": scheme}, **fields)


def send(world, hook):
    """Publishes one event. Returns the received request."""
    before = world.receiver.count(hook.path)
    world.publish()
    return world.wait_requests(hook, before + 1)[-1]


def rotate(world, hook, expect=200, **fields):
    return world.api.post(f"/v1/webhooks/{hook.id}/secret/rotate", fields, expect=expect)


def shown(world, hook):
    return world.api.get(f"/v1/webhooks/{hook.id}/secret")["secret"]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_generated_secret_has_64_hexadecimal_digits(world, scheme):
    hooks = [text_hook(world, scheme, f"hook{number}") for number in range(3)]
    for hook in hooks:
        assert re.fullmatch("[0-9a-f]{64}", hook.secret) and shown(world, hook) == hook.secret
    assert len({hook.secret for hook in hooks}) == 3
    assert is_signed_with(hooks[0].secret, scheme, send(world, hooks[0]))


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("secret", [
    "12345678", "x" * 255, OWN, " with spaces ", "\"quotes\" and \\", "whsec_ and more",
    "whsec_not base64", "whsec_MDEyMzQ1Njc4OWFiY2RlZmdoaWprbG1ub3BxcnN0dXY=", "whpk_is text",
    "0123456789abcdef" * 4])
def test_a_callers_own_secret_is_shown_and_used_as_given(world, scheme, secret):
    hook = text_hook(world, scheme, secret=secret)
    assert hook.secret == secret == shown(world, hook)
    assert is_signed_with(secret, scheme, send(world, hook))


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("secret, good", [
    ("1234567", False), ("12345678", True), ("é" * 4, True), ("é" * 127, True), ("x" * 255, True),
    ("é" * 128, False), ("x" * 256, False), ("", False), ("line\nbreak", False),
    ("tab\tinside", False), ("\u0000" * 8, False), ("delete\u007f", False), (12345678, False)])
def test_an_own_secret_has_8_to_255_bytes_without_control_characters(world, scheme, secret, good):
    body = {"url": world.receiver.url("/x"), "events": ["*"], "tenant_id": world.tenant,
            "signature": {"scheme": scheme}, "secret": secret}
    hook = text_hook(world, scheme)
    for method, path, fields in (("POST", "/v1/webhooks", body),
                                 ("PATCH", f"/v1/webhooks/{hook.id}", {"secret": secret}),
                                 ("POST", f"/v1/webhooks/{hook.id}/secret/rotate",
                                  {"secret": secret})):
        answer = world.api.request(method, path, fields)
        if good and path.endswith("rotate"):
            assert answer.status == 422, "the same secret as the one just patched"
            continue
        assert answer.status == ((201 if method == "POST" else 200) if good else 422), answer
        if not good:
            assert [error["field"] for error in answer.json["errors"]] == ["secret"]
            assert str(secret) not in json.dumps(answer.json) or not secret


def test_whsec_belongs_to_the_standard_schemes(world):
    for scheme in ("standard", "standard-ed25519"):
        assert world.hook(f"hook-{scheme}", signature={"scheme": scheme}).secret.startswith(
            "whsec_")
    for secret in ("12345678", "x" * 76, "whsec_c2hvcnQ=", "whsec_!"):
        answer = world.api.request("POST", "/v1/webhooks", {
            "url": world.receiver.url("/x"), "events": ["*"], "secret": secret})
        assert answer.status == 422, secret


@pytest.mark.parametrize("scheme", ["t-v1", "sha256-body"])
def test_rotation_of_a_text_secret(world, scheme):
    hook = text_hook(world, scheme)
    made = rotate(world, hook, grace_period_seconds=0)["secret"]
    assert re.fullmatch("[0-9a-f]{64}", made) and made != hook.secret
    assert is_signed_with(made, scheme, send(world, hook))
    assert rotate(world, hook, grace_period_seconds=0, secret=OWN)["secret"] == OWN
    assert is_signed_with(OWN, scheme, send(world, hook))
    assert shown(world, hook) == OWN


def test_t_v1_lists_the_signatures_of_all_secrets_newest_first(world):
    hook = text_hook(world, "t-v1")
    secrets = [hook.secret, rotate(world, hook)["secret"], rotate(world, hook)["secret"]]
    request = send(world, hook)
    assert request.header("x-webhook-signature").split(",")[1:] == [
        made_with(secret, "t-v1", request) for secret in reversed(secrets)]
    assert request.header(NEXT) is None


@pytest.mark.parametrize("scheme", ONE_SIGNATURE)
def test_the_old_secret_signs_until_the_grace_period_ends_and_the_new_one_beside_it(world, scheme):
    hook = text_hook(world, scheme)
    assert send(world, hook).header(NEXT) is None
    new = rotate(world, hook, grace_period_seconds=3600)["secret"]
    request = send(world, hook)
    assert request.header("x-webhook-signature") == made_with(hook.secret, scheme, request)
    assert request.header(NEXT) == made_with(new, scheme, request)
    delivery, = world.api.get(f"/v1/webhooks/{hook.id}/deliveries?limit=1")["data"]
    attempt = wait_for(lambda: world.api.get(f"/v1/deliveries/{delivery['id']}")["attempts"],
                       "the attempt")[0]
    assert attempt["request"]["headers"]["X-Webhook-Signature-Next"] == "[not kept]"


@pytest.mark.parametrize("scheme", ONE_SIGNATURE)
def test_after_the_grace_period_only_the_new_secret_signs(world, scheme):
    hook = text_hook(world, scheme)
    new = rotate(world, hook, grace_period_seconds=1)["secret"]

    def moved():
        request = send(world, hook)
        signed = request.header("x-webhook-signature")
        if request.header(NEXT) is None:
            assert signed == made_with(new, scheme, request)
            return True
        assert signed == made_with(hook.secret, scheme, request)
        assert request.header(NEXT) == made_with(new, scheme, request)
        return False
    wait_for(moved, "the end of the grace period")


@pytest.mark.parametrize("scheme", ONE_SIGNATURE)
def test_of_several_rotations_the_oldest_and_the_newest_secret_sign(world, scheme):
    hook = text_hook(world, scheme)
    second = rotate(world, hook, grace_period_seconds=1)["secret"]
    third = rotate(world, hook, grace_period_seconds=3600)["secret"]

    def first_has_ended():
        request = send(world, hook)
        assert request.header(NEXT) == made_with(third, scheme, request)
        if request.header("x-webhook-signature") == made_with(hook.secret, scheme, request):
            return False
        assert request.header("x-webhook-signature") == made_with(second, scheme, request)
        return True
    wait_for(first_has_ended, "the end of the first secret")


@pytest.mark.parametrize("scheme", ONE_SIGNATURE)
@pytest.mark.parametrize("replace", ["rotate", "patch"])
def test_without_grace_the_new_secret_signs_at_once_and_all_older_ones_end(world, scheme, replace):
    hook = text_hook(world, scheme)
    rotate(world, hook)
    if replace == "rotate":
        assert rotate(world, hook, grace_period_seconds=0, secret=OWN)["old_secrets"] == []
    else:
        world.api.patch(f"/v1/webhooks/{hook.id}", {"secret": OWN})
    request = send(world, hook)
    assert request.header("x-webhook-signature") == made_with(OWN, scheme, request)
    assert request.header(NEXT) is None


@pytest.mark.parametrize("kill", [False, True])
def test_rotation_survives_a_restart(own_server, make_world, kill):
    server = own_server().start()
    world = make_world(server)
    hook = text_hook(world, "sha256-timestamp", secret=OWN)
    new = rotate(world, hook)["secret"]
    if kill:
        server.kill()
    else:
        server.stop()
    server.start()
    world.api = server.api()
    request = send(world, hook)
    assert request.header("x-webhook-signature") == made_with(OWN, "sha256-timestamp", request)
    assert request.header(NEXT) == made_with(new, "sha256-timestamp", request)
    assert shown(world, hook) == new


def test_the_header_of_the_next_signature_is_reserved(world):
    hook = world.hook()
    for name in ("X-Webhook-Signature-Next", "x-webhook-signature-NEXT"):
        for method, path in (("POST", "/v1/webhooks"), ("PATCH", f"/v1/webhooks/{hook.id}")):
            body = {"headers": {name: "x"}}
            if method == "POST":
                body.update(url=world.receiver.url("/x"), events=["*"])
            refused = world.api.request(method, path, body)
            assert refused.status == 422
            assert [error["field"] for error in refused.json["errors"]] == [f"headers.{name}"]
    prefixed = {"signature": {"header_prefix": "X-Own-"}, "headers": {"X-Own-Signature-Next": "x"}}
    assert world.api.request("PATCH", f"/v1/webhooks/{hook.id}", prefixed).status == 422


@pytest.mark.parametrize("scheme", SCHEMES)
def test_another_scheme_keeps_the_text_of_the_secret(world, scheme):
    hook = world.hook()
    rotate(world, hook)
    before = shown(world, hook)
    changed = world.api.patch(f"/v1/webhooks/{hook.id}", {"signature": {"scheme": scheme}})
    assert shown(world, hook) == before
    request = send(world, hook)
    header = NEXT if scheme in ONE_SIGNATURE else "x-webhook-signature"
    assert is_signed_with(before, scheme, request, header)
    assert is_signed_with(hook.secret, scheme, request), "the old secret, too"
    back = world.api.patch(f"/v1/webhooks/{hook.id}", {"signature": {"scheme": "standard"}})
    assert back["secret_set_at"] == changed["secret_set_at"], "it is no new secret"
    assert shown(world, hook) == before
    request = send(world, hook)
    assert signatures(request) == [signature(before, request), signature(hook.secret, request)]


def test_a_generated_text_secret_works_with_the_standard_scheme(world):
    hook = text_hook(world, "t-v1")
    world.api.patch(f"/v1/webhooks/{hook.id}", {"signature": {"scheme": "standard"}})
    request = send(world, hook)
    assert signatures(request) == [signature(shown(world, hook), request)]


def test_a_scheme_that_does_not_accept_the_secret_needs_a_new_one(world):
    hook = text_hook(world, "sha256-body", secret="8 bytes!")
    path = f"/v1/webhooks/{hook.id}"
    refused = world.api.request("PATCH", path, {"signature": {"scheme": "standard"}})
    assert refused.status == 422
    assert [error["field"] for error in refused.json["errors"]] == ["signature.scheme"]
    assert "8 bytes!" not in refused.body.decode()
    assert is_signed_with("8 bytes!", "sha256-body", send(world, hook)), "nothing has changed"
    own = "long enough for the standard scheme"
    world.api.patch(path, {"signature": {"scheme": "standard"}, "secret": own})
    request = send(world, hook)
    assert signatures(request) == [signature(shown(world, hook), request)]


@pytest.mark.parametrize("sealed", [False, True])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_database_of_an_earlier_version_shows_what_verifies(own_server, make_world, tmp_path,
                                                              scheme, sealed):
    """Earlier versions stored 32 random bytes for every scheme."""
    server = own_server().start()
    world = make_world(server)
    generated = text_hook(world, scheme)
    own = text_hook(world, scheme, "own", secret="x" * 24)
    server.stop()
    in_database(server, "UPDATE webhook SET secret = ? WHERE secret <> ?", b"\xfe" * 32, b"x" * 24)
    if sealed:
        key = tmp_path / "key"
        key.write_text("00" * 32)
        key.chmod(0o600)
        server.arguments = [*server.arguments, "--secrets-key-file", str(key)]
    server.start()
    world.api = server.api()
    text = shown(world, generated)
    assert text.startswith("whsec_")
    assert is_signed_with(text, scheme, send(world, generated))
    assert shown(world, own) == "x" * 24
    assert is_signed_with("x" * 24, scheme, send(world, own))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_test_sends_and_url_verification_sign_with_the_text(world, scheme):
    path = world.path("verified")
    world.receiver.on(path, echo)
    hook = world.hook("verified", signature={"scheme": scheme}, verify_url=True,
                      require_verification=True)
    challenge, = world.wait_requests(hook, 1)
    assert is_signed_with(hook.secret, scheme, challenge)
    world.receiver.on(path, Reply(200))
    world.api.post(f"/v1/webhooks/{hook.id}/test")
    assert is_signed_with(hook.secret, scheme, world.wait_requests(hook, 2)[1])


def test_a_tenants_key_creates_and_patches_text_secrets(world):
    world.api.post("/v1/tenants", {"id": world.tenant}, expect=201)
    key = world.api.post("/v1/api-keys", {"name": "t", "scope": "tenant",
                                          "tenant_id": world.tenant}, expect=201)["key"]
    headers = {"Authorization": f"Bearer {key}"}
    body = {"url": world.receiver.url(world.path("hook")), "events": ["*"],
            "signature": {"scheme": "sha256-body"}}
    made = world.api.post("/v1/webhooks", body, expect=201, headers=headers)
    assert re.fullmatch("[0-9a-f]{64}", made["secret"])
    own = world.api.post("/v1/webhooks", {**body, "secret": OWN}, expect=201, headers=headers)
    assert own["secret"] == OWN
    world.api.patch(f"/v1/webhooks/{made['id']}", {"secret": "8 bytes!"}, headers=headers)
    world.publish()
    wait_for(lambda: world.receiver.count(world.path("hook")) == 2, "both requests")
    signed = {request.header("x-webhook-signature")
              for request in world.receiver.requests(world.path("hook"))}
    body = world.receiver.requests(world.path("hook"))[0].body
    assert signed == {"sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
                      for secret in (OWN, "8 bytes!")}
    for each in (made, own):
        world.api.delete(f"/v1/webhooks/{each['id']}")


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("secret", [None, OWN, "whsec_is just text"])
def test_postrider_verify_takes_the_text(world, scheme, secret):
    hook = text_hook(world, scheme, **({"secret": secret} if secret else {}))

    def verdict(request, key):
        flags = [part for name, value in request.headers for part in ("--header",
                                                                       f"{name}: {value}")]
        return run_command("verify", "--scheme", scheme, "--secret", key, "--body", "-", *flags,
                           stdin=request.body.decode())[0]
    request = send(world, hook)
    assert (verdict(request, hook.secret), verdict(request, hook.secret + "x")) == (0, 1)
    new = rotate(world, hook)["secret"]
    request = send(world, hook)
    assert (verdict(request, hook.secret), verdict(request, new)) == (0, 0), "during a rotation"
    assert verdict(request, "another secret") == 1


def test_the_command_line_rotates_to_an_own_secret(world):
    hook = text_hook(world, "sha256-body")
    code, stdout, stderr = run_command(
        "webhooks", "rotate-secret", hook.id, "--secret", OWN, "--json", "--server",
        f"http://127.0.0.1:{world.api.port}", "--key", ADMIN_KEY)
    assert code == 0, stderr
    assert json.loads(stdout)["secret"] == OWN


def test_text_secrets_are_sealed_at_rest(own_server, make_world, tmp_path):
    key = tmp_path / "key"
    key.write_text("00" * 32)
    key.chmod(0o600)
    server = own_server("--secrets-key-file", str(key)).start()
    world = make_world(server)
    hook = text_hook(world, "sha256-body", secret="canary-text-secret")
    new = rotate(world, hook)["secret"]
    server.stop()
    stored = bytes_on_disk(server)
    assert b"canary-text-secret" not in stored and new.encode() not in stored
    server.start()
    world.api = server.api()
    request = send(world, hook)
    assert is_signed_with("canary-text-secret", "sha256-body", request)
    assert is_signed_with(new, "sha256-body", request, NEXT)


def test_the_length_of_a_generated_secret_is_a_setting(own_server, make_world):
    world = make_world(own_server("--set", "webhooks.signature.secret_length=255").start())
    assert len(text_hook(world, "t-v1").secret) == 255
    assert world.hook("standard").secret.startswith("whsec_")
    for length in ("31", "256"):
        code, _, stderr = run_command("serve", "--set",
                                      f"webhooks.signature.secret_length={length}")
        assert code == 2 and "32 to 255" in stderr
