"""`postrider verify`: checks the signature of a saved request without a server."""

import json

import pytest

from harness import run_command

SECRET = "whsec_plJ3nmyCDGBKInavdOK15jsl"
BODY = '{"event_type":"ping","data":{"success":true}}'
HEADERS = ["webhook-id: msg_loFOjxBNrRLzqYUf", "webhook-timestamp: 1731705121",
           "Webhook-Signature: v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0="]
AT = ["--at", "2024-11-15T21:12:01Z"]


def verify(*arguments, headers=HEADERS, body=BODY, secret=SECRET):
    flags = [part for header in headers for part in ("--header", header)]
    code, stdout, stderr = run_command("verify", "--secret", secret, "--body", "-", *flags,
                                       *arguments, "--json", stdin=body)
    return code, (json.loads(stdout)["outcome"] if stdout else stderr)


def test_the_known_vector_is_valid_only_within_the_tolerance():
    assert verify(*AT) == (0, "valid")
    assert verify() == (1, "timestamp_too_old")
    assert verify("--at", "2024-11-15T21:17:01Z") == (0, "valid")
    assert verify("--at", "2024-11-15T21:17:02Z") == (1, "timestamp_too_old")
    assert verify("--at", "2024-11-15T21:07:00Z") == (1, "timestamp_too_new")
    assert verify("--at", "2024-11-15T21:07:00Z", "--tolerance", "301") == (0, "valid")


def test_changed_and_missing_parts_are_reported():
    assert verify(*AT, body=BODY + "\n") == (1, "wrong_signature")
    assert verify(*AT, headers=HEADERS[:2]) == (1, "missing_header")
    assert verify(*AT, headers=[*HEADERS[:2], "webhook-signature: v2,x"]) == (1, "malformed_header")
    assert verify(*AT, secret="whsec_!") == (1, "no_usable_key")


def test_body_and_headers_are_read_from_files(tmp_path):
    (tmp_path / "body").write_text(BODY)
    (tmp_path / "headers").write_text("\r\n".join(HEADERS) + "\r\n")
    code, stdout, _ = run_command("verify", "--body", str(tmp_path / "body"), "--header",
                                  f"@{tmp_path / 'headers'}", *AT,
                                  environment={"POSTRIDER_SECRET": SECRET})
    assert (code, stdout) == (0, "The signature is valid.\n")


SCHEMES = ["standard", "standard-ed25519", "t-v1", "sha256-timestamp", "sha256-body"]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_requests_of_every_signature_scheme_are_verified(world, scheme):
    hook = world.hook(signature={"scheme": scheme})
    world.publish()
    request = world.wait_requests(hook, 1)[0]
    headers = [f"{name}: {value}" for name, value in request.headers]
    key = hook.created["public_key"] or hook.secret
    assert verify("--scheme", scheme, headers=headers, body=request.body.decode(),
                  secret=key) == (0, "valid")
    assert verify("--scheme", scheme, headers=headers, body=request.body.decode() + " ",
                  secret=key) == (1, "wrong_signature")


@pytest.mark.parametrize("arguments", [
    ["--body", "/no/such/file", "--secret", "x"], ["--body", "-", "--secret", "x", "--header", "x"],
    ["--body", "-"], ["--body", "-", "--secret", "x", "--at", "soon"],
    ["--body", "-", "--secret", "x", "--scheme", "md5"]])
def test_wrong_usage_exits_with_2(arguments):
    code, stdout, stderr = run_command("verify", *arguments, stdin="")
    assert (code, stdout) == (2, "") and stderr.startswith("postrider: ")
