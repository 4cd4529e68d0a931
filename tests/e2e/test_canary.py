"""No secret appears anywhere but in the one answer that is meant to show it (P11).

Canaries are planted wherever a secret can be given; then everything is exercised, failures
included, with the log at its most talkative, and everything the server says or writes is searched.
"""

import base64
import json
import urllib.parse

from harness import Server, wait_for
from receiver import Close, Hang, Reply
from secrets_world import bytes_on_disk, echo

ADMIN = "canary-admin-key-5f2b9c7e1d"
ADMIN_WRONG = "canary-wrong-key-77aa01be"
SECRET = b"canary-secret-one-8d1f00aa"
ROTATED = b"canary-secret-two-19c3e4bb"
PATCHED = b"canary-secret-three-a7d2ff"
REFUSED = b"canary-refused"  # Too short to be a secret: what is wrong with it is not repeated.
HEADER = "Bearer canary-header-value-44e0"
COOKIE = "session=canary-cookie-value-91b7"
VAULT_KEY = base64.b64encode(b"canary-vault-key-of-32-bytes-..!").decode()


def whsec(key):
    return "whsec_" + base64.b64encode(key).decode()


def spellings(canary):
    """Every form in which it could slip out."""
    text = canary if isinstance(canary, bytes) else canary.encode()
    coded = base64.b64encode(text).rstrip(b"=")
    return {text, coded, coded[:-2], text.hex().encode(),
            urllib.parse.quote(text.decode(), safe="").encode()}


CANARIES = {name: spellings(value) for name, value in {
    "admin key": ADMIN, "wrong key": ADMIN_WRONG, "secret": SECRET, "rotated": ROTATED,
    "patched": PATCHED, "refused": REFUSED, "header": HEADER, "cookie": COOKIE,
    "vault key": base64.b64decode(VAULT_KEY)}.items()}


def assert_silent(where, said):
    for name, forms in CANARIES.items():
        for form in forms:
            assert form not in said, f"the {name} is in {where}"


class Ear:
    """Calls the API and listens to every answer, but those that are meant to tell."""

    def __init__(self, server, key=ADMIN):
        self.api = server.api(key)

    def __call__(self, method, path, body=None, tells=False):
        answer = self.api.request(method, path, body)
        if not tells:
            said = answer.body + json.dumps(answer.headers).encode()
            assert_silent(f"the answer to {method} {path}", said)
        return answer


def plant(ear, receiver):
    """Webhooks that succeed, fail, hang and vanish; their ids."""
    scripts = {"ok": [Reply(200, body=b"fine")], "bad": [Reply(500)], "gone": [Reply(410)],
               "never": [Hang()], "close": [Close()], "echo": [echo]}
    ids = {}
    for label, script in scripts.items():
        receiver.on(f"/canary/{label}", *script)
        body = {"url": receiver.url(f"/canary/{label}"), "events": ["*"], "secret": whsec(SECRET),
                "headers": {"Authorization": HEADER, "Cookie": COOKIE}, "timeout_ms": 1000,
                "retry_config": {"base_delay_ms": 50, "max_delay_ms": 100, "max_attempts": 2},
                "verify_url": label in ("echo", "bad")}
        answer = ear("POST", "/v1/webhooks", body, tells=True)
        assert answer.status == 201, answer
        ids[label] = answer.json["id"]
    return ids


def plant_keys(ear):
    """An API key, a portal link and a portal session; each is shown once."""
    key = ear("POST", "/v1/api-keys", {"name": "reader", "scope": "read"}, tells=True).json["key"]
    link = ear("POST", "/v1/portal-links", {"tenant_id": "acme"}, tells=True).json["token"]
    session = ear("POST", "/v1/portal-sessions", {"token": link}, tells=True).json["key"]
    CANARIES.update({"api key": spellings(key), "portal link": spellings(link),
                     "portal session": spellings(session)})
    ear("POST", "/v1/portal-sessions", {"token": link})  # A second time it is gone.
    return key, session


def misbehave(ear, ids):
    """Everything that is refused."""
    there = f"/v1/webhooks/{ids['ok']}"
    for method, path, body in [
            ("POST", "/v1/webhooks", {"secret": REFUSED.decode(), "url": "x", "events": 1}),
            ("POST", "/v1/webhooks", {"secret": whsec(SECRET), "headers": {"Host": HEADER}}),
            ("PATCH", there, {"secret": REFUSED.decode()}),
            ("PATCH", there, {"headers": {"Authorization": HEADER + "\r\nX: 1"}}),
            ("PATCH", there, b'{"secret": "' + whsec(PATCHED).encode() + b'", '),
            ("PATCH", there, {"secret": whsec(PATCHED), "unknown": 1}),
            ("POST", there + "/secret/rotate", {"secret": REFUSED.decode()}),
            ("POST", there + "/secret/rotate", {"secret": whsec(ROTATED), "x": 1}),
            ("POST", "/v1/events", {"type": "no type"}),
            ("GET", "/v1/nowhere", None)]:
        assert 400 <= ear(method, path, body).status < 500, (method, path)


def act(ear, ids):
    """Everything that is done."""
    there = f"/v1/webhooks/{ids['ok']}"
    rotated = ear("POST", there + "/secret/rotate", {"secret": whsec(ROTATED)}, tells=True)
    assert rotated.status == 200
    shown = ear("GET", there + "/secret", tells=True)
    assert shown.json["secret"] == whsec(ROTATED)
    assert whsec(SECRET).encode() not in shown.body
    ear("PATCH", f"/v1/webhooks/{ids['bad']}", {"secret": whsec(PATCHED), "active": True})
    ear("PUT", there, {"headers": {"Authorization": "[hidden]", "Cookie": COOKIE}})
    for label in ids:
        ear("POST", f"/v1/webhooks/{ids[label]}/test", {"data": {"n": 1}})
        ear("POST", f"/v1/webhooks/{ids[label]}/verify")
    ear("POST", f"/v1/webhooks/{ids['gone']}/pause")
    ear("POST", f"/v1/webhooks/{ids['gone']}/resume")
    ear("PATCH", f"/v1/webhooks/{ids['close']}/circuit-breaker", {"action": "force_open"})
    ear("PATCH", f"/v1/webhooks/{ids['close']}/circuit-breaker", {"action": "reset"})
    ear("POST", "/v1/secrets/rotate-key")
    for number in range(3):
        assert ear("POST", "/v1/events", {"type": "a.b", "data": number}).status == 202
    wait_for(lambda: len(ear("GET", "/v1/dlq?limit=250").json["data"]) >= 2, "dead letters")


def read_everything(ear, ids):
    """Every route that shows something."""
    paths = ["/", "/healthz", "/readyz", "/metrics", "/status.css", "/status.js", "/v1/webhooks",
             "/v1/events", "/v1/deliveries?limit=250", "/v1/dlq", "/v1/alerts", "/openapi.json",
             "/v1/audit-log?limit=250", "/v1/api-keys", "/v1/tenants", "/v1/stats"]
    for webhook in ids.values():
        paths += [f"/v1/webhooks/{webhook}", f"/v1/webhooks/{webhook}/health",
                  f"/v1/webhooks/{webhook}/deliveries"]
    for delivery in ear("GET", "/v1/deliveries?limit=250").json["data"]:
        paths.append(f"/v1/deliveries/{delivery['id']}")
    for event in ear("GET", "/v1/events").json["data"]:
        paths.append(f"/v1/events/{event['id']}")
    for path in paths:
        assert ear("GET", path).status < 500, path


def test_no_secret_is_ever_said_or_written(tmp_path, receiver):
    server = Server(tmp_path, ["--allow-private-targets", "--allow-http", "--log-level", "trace"],
                    {"POSTRIDER_ADMIN_KEY": ADMIN, "POSTRIDER_SECRETS_KEY": VAULT_KEY})
    server.start()
    try:
        ear = Ear(server)
        ids = plant(ear, receiver)
        for key in plant_keys(ear):
            assert Ear(server, key)("GET", "/v1/webhooks").status == 200
        misbehave(ear, ids)
        act(ear, ids)
        read_everything(ear, ids)
        for key in (ADMIN_WRONG, ADMIN + "x", None):
            assert Ear(server, key)("GET", "/v1/webhooks").status == 401
        server.kill()
        server.start()
        read_everything(Ear(server), ids)
        assert Ear(server)("DELETE", f"/v1/webhooks/{ids['ok']}").status == 204
        server.stop()
    finally:
        server.kill()
    assert "delivery.attempted" in server.output()
    assert_silent("the output", server.output().encode())
    assert_silent("the data directory", bytes_on_disk(server))
    # What was looked for does exist: the receiver saw it.
    assert any(request.header("authorization") == HEADER for request in receiver.requests())
