"""Secrets appear only in the answers that are meant to show them (P11).

The test sets recognizable secrets (canaries) wherever the API accepts one, sends accepted and
refused requests with the most detailed log level, and searches every answer, the log and the data
directory for them.
"""

import base64
import json
import urllib.parse

from harness import Server, wait_for
from receiver import Close, Hang, Reply
from secret_checks import bytes_on_disk, echo

ADMIN = "canary-admin-key-5f2b9c7e1d"
ADMIN_WRONG = "canary-wrong-key-77aa01be"
SECRET = b"canary-secret-one-8d1f00aa"
ROTATED = b"canary-secret-two-19c3e4bb"
PATCHED = b"canary-secret-three-a7d2ff"
REFUSED = b"canary-refused"  # Too short to be a secret. The error must not repeat it.
HEADER = "Bearer canary-header-value-44e0"
COOKIE = "session=canary-cookie-value-91b7"
VAULT_KEY = base64.b64encode(b"canary-vault-key-of-32-bytes-..!").decode()


def whsec(key):
    return "whsec_" + base64.b64encode(key).decode()


def spellings(canary):
    """The encodings in which a canary could appear."""
    text = canary if isinstance(canary, bytes) else canary.encode()
    coded = base64.b64encode(text).rstrip(b"=")
    return {text, coded, coded[:-2], text.hex().encode(),
            urllib.parse.quote(text.decode(), safe="").encode()}


CANARIES = {name: spellings(value) for name, value in {
    "admin key": ADMIN, "wrong key": ADMIN_WRONG, "secret": SECRET, "rotated": ROTATED,
    "patched": PATCHED, "refused": REFUSED, "header": HEADER, "cookie": COOKIE,
    "vault key": base64.b64decode(VAULT_KEY)}.items()}


def assert_no_canary(where, text):
    for name, forms in CANARIES.items():
        for form in forms:
            assert form not in text, f"the {name} is in {where}"


class LeakCheckingClient:
    """Calls the API and searches every answer for canaries unless it is meant to show one."""

    def __init__(self, server, key=ADMIN):
        self.api = server.api(key)

    def __call__(self, method, path, body=None, show_secret=False, headers=None):
        answer = self.api.request(method, path, body, headers)
        if not show_secret:
            text = answer.body + json.dumps(answer.headers).encode()
            assert_no_canary(f"the answer to {method} {path}", text)
        return answer


def create_webhooks(client, receiver):
    """Creates webhooks whose receivers succeed, fail, hang or close. Returns their ids."""
    scripts = {"ok": [Reply(200, body=b"fine")], "bad": [Reply(500)], "gone": [Reply(410)],
               "never": [Hang()], "close": [Close()], "echo": [echo]}
    ids = {}
    for label, script in scripts.items():
        receiver.on(f"/canary/{label}", *script)
        body = {"url": receiver.url(f"/canary/{label}"), "events": ["*"], "secret": whsec(SECRET),
                "headers": {"Authorization": HEADER, "Cookie": COOKIE}, "timeout_ms": 1000,
                "retry_config": {"base_delay_ms": 50, "max_delay_ms": 100, "max_attempts": 2},
                "verify_url": label in ("echo", "bad")}
        answer = client("POST", "/v1/webhooks", body, show_secret=True)
        assert answer.status == 201, answer
        ids[label] = answer.json["id"]
    return ids


def create_keys(client):
    """Creates an API key, links and sessions. Each is shown once. Returns their headers."""
    key = client("POST", "/v1/api-keys", {"name": "reader", "scope": "read"},
                 show_secret=True).json["key"]
    link = client("POST", "/v1/portal-links", {"tenant_id": "acme"},
                  show_secret=True).json["token"]
    sign_in = client("POST", "/v1/sign-in-links", {}, show_secret=True).json["token"]
    opened = [client("POST", "/v1/sessions", body, show_secret=True)
              for body in ({"token": link}, {"token": sign_in}, {"key": key})]
    cookies = [answer.headers["set-cookie"].partition(";")[0] for answer in opened]
    texts = [cookie.partition("=")[2] for cookie in cookies]
    assert all(text not in answer.body.decode() for text, answer in zip(texts, opened))
    CANARIES.update({"api key": spellings(key), "portal link": spellings(link),
                     "sign-in link": spellings(sign_in)})
    CANARIES.update({f"session {number}": spellings(text) for number, text in enumerate(texts)})
    assert client("POST", "/v1/sessions", {"token": link}).status == 410
    return [{"Authorization": f"Bearer {key}"}, *({"Cookie": cookie} for cookie in cookies)]


def send_refused_requests(client, ids):
    """Sends requests that contain secrets and must be refused."""
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
        assert 400 <= client(method, path, body).status < 500, (method, path)


def send_accepted_requests(client, ids):
    """Sends requests that use every feature that handles secrets."""
    there = f"/v1/webhooks/{ids['ok']}"
    rotated = client("POST", there + "/secret/rotate", {"secret": whsec(ROTATED)},
                     show_secret=True)
    assert rotated.status == 200
    shown = client("GET", there + "/secret", show_secret=True)
    assert shown.json["secret"] == whsec(ROTATED)
    assert whsec(SECRET).encode() not in shown.body
    for method, path, body in [
            ("PATCH", f"/v1/webhooks/{ids['bad']}", {"secret": whsec(PATCHED), "active": True}),
            ("PUT", there, {"headers": {"Authorization": "[hidden]", "Cookie": COOKIE}})]:
        assert client(method, path, body).status == 200, path
    for label in ids:
        client("POST", f"/v1/webhooks/{ids[label]}/test", {"data": {"n": 1}})
        client("POST", f"/v1/webhooks/{ids[label]}/verify")
    for method, path, body in [
            ("POST", f"/v1/webhooks/{ids['gone']}/pause", None),
            ("POST", f"/v1/webhooks/{ids['gone']}/resume", None),
            ("PATCH", f"/v1/webhooks/{ids['close']}/circuit-breaker", {"action": "force_open"}),
            ("PATCH", f"/v1/webhooks/{ids['close']}/circuit-breaker", {"action": "reset"}),
            ("POST", "/v1/secrets/rotate-key", None)]:
        assert client(method, path, body).status == 200, path
    for number in range(3):
        assert client("POST", "/v1/events", {"type": "a.b", "data": number}).status == 202
    wait_for(lambda: len(client("GET", "/v1/dlq?limit=250").json["data"]) >= 2, "dead letters")


def read_everything(client, ids):
    """Reads every route."""
    paths = ["/", "/healthz", "/readyz", "/metrics", "/v1/settings", "/v1/webhooks",
             "/v1/events", "/v1/deliveries?limit=250", "/v1/dlq", "/v1/alerts", "/openapi.json",
             "/v1/audit-log?limit=250", "/v1/api-keys", "/v1/tenants", "/v1/stats"]
    for webhook in ids.values():
        paths += [f"/v1/webhooks/{webhook}", f"/v1/webhooks/{webhook}/health",
                  f"/v1/webhooks/{webhook}/deliveries"]
    for delivery in client("GET", "/v1/deliveries?limit=250").json["data"]:
        paths.append(f"/v1/deliveries/{delivery['id']}")
    for event in client("GET", "/v1/events").json["data"]:
        paths.append(f"/v1/events/{event['id']}")
    for path in paths:
        assert client("GET", path).status == 200, path


def test_no_secret_appears_in_an_answer_the_log_or_the_data_directory(tmp_path, receiver):
    server = Server(tmp_path, ["--allow-private-targets", "--allow-http", "--log-level", "trace"],
                    {"POSTRIDER_ADMIN_KEY": ADMIN, "POSTRIDER_SECRETS_KEY": VAULT_KEY})
    server.start()
    try:
        client = LeakCheckingClient(server)
        ids = create_webhooks(client, receiver)
        for headers in create_keys(client):
            for path in ("/v1/webhooks", "/v1/sessions"):
                answer = LeakCheckingClient(server, None)("GET", path, headers=headers)
                assert answer.status == (200 if path == "/v1/webhooks" or "Cookie" in headers
                                         else 401), answer
        send_refused_requests(client, ids)
        send_accepted_requests(client, ids)
        read_everything(client, ids)
        for key in (ADMIN_WRONG, ADMIN + "x", None):
            assert LeakCheckingClient(server, key)("GET", "/v1/webhooks").status == 401
        server.kill()
        server.start()
        read_everything(LeakCheckingClient(server), ids)
        assert LeakCheckingClient(server)("DELETE", f"/v1/webhooks/{ids['ok']}").status == 204
        server.stop()
    finally:
        server.kill()
    assert "delivery.attempted" in server.output()
    assert_no_canary("the output", server.output().encode())
    assert_no_canary("the data directory", bytes_on_disk(server))
    # The search looked for the right bytes: the receiver got them.
    assert any(request.header("authorization") == HEADER for request in receiver.requests())
