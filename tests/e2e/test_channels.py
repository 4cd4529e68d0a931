"""Notification channels: the API, tenants, the settings and what survives a crash.

What is sent through them is tested elsewhere.
"""

import pytest

from harness import run_command, wait_for

PATH = "/v1/notification-channels"
EMAIL = {"name": "On call", "kind": "email", "target": {"to": ["ops@example.com"]}}
SYSTEM_TYPES = ["postrider.alert.raised", "postrider.alert.resolved",
                "postrider.delivery.dead_letter", "postrider.operation.finished",
                "postrider.secret.expiring", "postrider.webhook.disabled"]


@pytest.fixture
def configured(own_server, tmp_path):
    """Starts a server with these tables in its configuration. Returns it and the file."""
    def make(text, environment=None):
        file = tmp_path / "channels.toml"
        file.write_text(text)
        return own_server("--config", str(file), environment=environment).start(), file
    return make


def hook_of(receiver, path="/ops", **fields):
    return {"name": "Ops", "kind": "webhook", "target": {"url": receiver.url(path)}, **fields}


def test_channels_survive_kill_9_with_their_webhooks(own_server, receiver):
    server = own_server().start()
    api = server.api()
    email = api.post(PATH, {**EMAIL, "kinds": ["circuit_opened"], "severity_min": "warning",
                            "send_resolved": False, "group_window_ms": 0}, expect=201)
    hook = api.post(PATH, hook_of(receiver), expect=201)
    gone = api.post(PATH, EMAIL, expect=201)
    api.delete(f"{PATH}/{gone['id']}")
    api.close()
    server.kill()
    api = server.start().api()
    assert api.get(f"{PATH}/{email['id']}") == email
    assert api.get(f"{PATH}/{hook['id']}") == hook
    assert [each["id"] for each in api.all(PATH)] == [hook["id"], email["id"]]
    webhook = api.get(f"/v1/webhooks/{hook['webhook_id']}")
    assert (webhook["tenant_id"], webhook["events"]) == ("postrider", [])
    api.patch(f"{PATH}/{hook['id']}", {"target": {"url": receiver.url("/other")}})
    api.close()
    server.kill()
    api = server.start().api()
    assert api.get(f"{PATH}/{hook['id']}")["target"]["url"] == receiver.url("/other")
    assert api.get(f"/v1/webhooks/{hook['webhook_id']}")["url"] == receiver.url("/other")
    api.delete(f"{PATH}/{hook['id']}")
    api.get(f"/v1/webhooks/{hook['webhook_id']}", expect=404)


def test_the_webhook_of_a_channel_is_an_ordinary_one_that_subscribes_to_nothing(
        own_server, receiver):
    api = own_server().start().api()
    channel = api.post(PATH, hook_of(receiver, "/alerts", tenant_id="acme"), expect=201)
    api.post("/v1/events", {"type": "a.b", "data": 1, "tenant_id": "acme"}, expect=202)
    hook = f"/v1/webhooks/{channel['webhook_id']}"
    # A test goes to this webhook only, signed as always.
    sent = api.post(f"{hook}/test", {"data": {"a": 1}})
    assert sent["attempt"]["status"] == "succeeded"
    received = receiver.requests("/alerts")
    assert len(received) == 1 and received[0].header("webhook-signature")
    assert api.get(f"{hook}/deliveries")["data"][0]["event_id"] == sent["event_id"]
    refused = api.request("DELETE", hook)
    assert (refused.status, refused.json["code"]) == (409, "webhook_of_channel")
    assert channel["id"] in refused.json["detail"]


def test_two_tenants_and_the_server_do_not_see_each_others_channels(server, world, make_world):
    other = make_world(server)
    operator = server.api()
    theirs = [server.api(key=operator.post(
        "/v1/api-keys", {"scope": "tenant", "tenant_id": each.tenant}, expect=201)["key"])
        for each in (world, other)]
    servers = operator.post(PATH, EMAIL, expect=201)
    made = [api.post(PATH, EMAIL, expect=201) for api in theirs]
    for api, own, foreign in ((theirs[0], *made), (theirs[1], *reversed(made))):
        assert [each["id"] for each in api.all(PATH)] == [own["id"]]
        for path in (f"{PATH}/{foreign['id']}", f"{PATH}/{servers['id']}"):
            for method, suffix, body in (
                    ("GET", "", None), ("PATCH", "", {"name": "x"}), ("DELETE", "", None),
                    ("POST", "/test", None), ("GET", "/notifications", None)):
                assert api.request(method, path + suffix, body).status == 404, (method, suffix)
        assert api.request("POST", PATH, {**EMAIL, "tenant_id": "another"}).status == 422
    hook = other.hook()
    refused = theirs[0].request("POST", PATH, {**EMAIL, "webhook_ids": [hook.id]})
    assert (refused.status, refused.json["errors"][0]["field"]) == (422, "webhook_ids[0]")
    reader = operator.post("/v1/api-keys", {"scope": "read"}, expect=201)["key"]
    assert servers["id"] in [each["id"] for each in server.api(key=reader).all(PATH)]
    assert server.api(key=reader).request("POST", PATH, EMAIL).status == 403
    for channel in (servers, *made):
        operator.delete(f"{PATH}/{channel['id']}")


def test_the_portal_manages_the_channels_of_its_tenant(server, world):
    api = server.api()
    token = api.post("/v1/portal-links", {"tenant_id": world.tenant}, expect=201)["token"]
    session = server.sign_in({"token": token})
    nobody = server.api(key=None)
    made = nobody.request("POST", PATH, EMAIL, session.headers)
    assert (made.status, made.json["tenant_id"]) == (201, world.tenant)
    without_token = {name: value for name, value in session.headers.items()
                     if name.lower() != "x-csrf-token"}
    forged = nobody.request("POST", f"{PATH}/{made.json['id']}/test", None, without_token)
    assert (forged.status, forged.json["code"]) == (403, "csrf_token_required")
    viewer = api.post("/v1/portal-links", {"tenant_id": world.tenant, "role": "viewer"},
                      expect=201)["token"]
    looking = server.sign_in({"token": viewer}).headers
    assert nobody.request("GET", PATH, None, looking).json["data"][0]["id"] == made.json["id"]
    assert nobody.request("POST", f"{PATH}/{made.json['id']}/test", None, looking).status == 403
    assert nobody.request("DELETE", f"{PATH}/{made.json['id']}", None,
                          session.headers).status == 204


@pytest.mark.parametrize("address", [
    "a@b.example\r\nBcc: c@d.example", "a@b.example, c@d.example", "A <a@b.example>",
    "a b@c.example",
    "a@b.example\x00", "@", "a@", "ä@b.example", "a@b\u2028.example", 7, None, ["a@b.example"]])
def test_an_address_cannot_add_a_header_or_a_recipient(api, world, address):
    body = {**EMAIL, "target": {"to": [address]}, "tenant_id": world.tenant}
    assert api.request("POST", PATH, body).status == 422
    if address is not None:
        assert api.request("POST", "/v1/webhooks", {
            "url": "http://127.0.0.1/", "events": ["*"], "owner_email": address}).status == 422
        assert api.request("POST", "/v1/tenants", {"contacts": [address]}).status == 422


def test_names_may_contain_anything_that_is_text(api):
    name = "<b>\"ops\" & Co</b> ' — 日本 \u202e \\u0000"
    made = api.post(PATH, {**EMAIL, "name": name}, expect=201)
    assert api.get(f"{PATH}/{made['id']}")["name"] == name
    api.delete(f"{PATH}/{made['id']}")
    for bad in ("", "a\nb", "x" * 201, "\x00"):
        assert api.request("POST", PATH, {**EMAIL, "name": bad}).status == 422


def test_owner_and_contacts_are_stored(own_server, receiver):
    server = own_server().start()
    api = server.api()
    hook = api.post("/v1/webhooks", {"url": receiver.url("/x"), "events": ["*"],
                                     "owner_email": "owner@example.com"}, expect=201)
    api.post("/v1/tenants", {"id": "acme", "contacts": ["a@acme.example"]}, expect=201)
    api.put("/v1/tenants/acme/contacts", {"contacts": ["b@acme.example", "c@acme.example"]})
    api.close()
    server.kill()
    api = server.start().api()
    assert api.get(f"/v1/webhooks/{hook['id']}")["owner_email"] == "owner@example.com"
    assert api.get("/v1/tenants/acme")["contacts"] == ["b@acme.example", "c@acme.example"]


def test_the_server_reserves_a_tenant_and_event_types(server, api):
    types = [each["name"] for each in api.all("/v1/event-types?system=true")]
    assert types == SYSTEM_TYPES
    for name in SYSTEM_TYPES:
        entry = api.get(f"/v1/event-types/{name}")
        assert entry["system"] and entry["schema"] and entry["example"]
        assert api.request("PATCH", f"/v1/event-types/{name}", {"archived": True}).status == 409
        assert api.request("DELETE", f"/v1/event-types/{name}").status == 409
        assert api.request("POST", "/v1/events", {
            "type": name, "data": entry["example"]}).status == 422
    assert api.request("POST", "/v1/events/batch", {"events": [
        {"type": "postrider.own", "data": 1}]}).status == 422
    assert api.request("POST", "/v1/event-types", {"name": "postrider.own"}).status == 422
    for path, body in (("/v1/tenants", {"id": "postrider"}),
                       ("/v1/events", {"type": "a.b", "data": 1, "tenant_id": "postrider"}),
                       ("/v1/webhooks", {"url": "https://example.com/", "events": ["*"],
                                         "tenant_id": "postrider"}),
                       ("/v1/api-keys", {"scope": "tenant", "tenant_id": "postrider"}),
                       ("/v1/portal-links", {"tenant_id": "postrider"}),
                       (PATH, {**EMAIL, "tenant_id": "postrider"})):
        assert api.request("POST", path, body).status == 422, path


def test_a_test_is_stored_listed_and_sent_once_per_key(own_server):
    server = own_server().start()
    api = server.api()
    path = f"{PATH}/{api.post(PATH, EMAIL, expect=201)['id']}"
    key = {"Idempotency-Key": "once"}
    first = api.post(f"{path}/test", headers=key)
    assert (first["kind"], first["transition"]) == ("test", "test")
    assert api.post(f"{path}/test", headers=key)["id"] == first["id"]
    listed = api.all(f"{path}/notifications")
    assert [each["id"] for each in listed] == [first["id"]]
    assert sum(api.get(path)["notifications"].values()) == 1
    api.close()
    server.kill()
    api = server.start().api()
    assert [each["id"] for each in api.all(f"{path}/notifications")] == [first["id"]]
    entries = api.all("/v1/audit-log?subject=" + path.rpartition("/")[2])
    assert [each["action"] for each in entries] == [
        "notification_channel.test", "notification_channel.create"]


FILE = """
[smtp]
server = "127.0.0.1"
port = 9
security = "none"
user = "postrider"
password_env = "SMTP_PASSWORD"

[[notification_channels]]
name = "On call"
kind = "email"
to = ["ops@example.com"]
severity_min = "critical"

[[notification_channels]]
name = "Chat"
kind = "slack"
url_env = "CHAT_URL"
"""


def test_configured_channels_are_read_only_and_follow_the_file(configured, receiver):
    secrets = {"SMTP_PASSWORD": "canary-password", "CHAT_URL": receiver.url("/canary-path")}
    server, file = configured(FILE, secrets)
    api = server.api()
    by_name = {each["name"]: each for each in api.all(PATH)}
    assert set(by_name) == {"On call", "Chat"}
    chat, mail = by_name["Chat"], by_name["On call"]
    assert chat["configured"] and mail["configured"] and mail["severity_min"] == "critical"
    assert chat["target"]["url"] == secrets["CHAT_URL"]
    for channel in (chat, mail):
        path = f"{PATH}/{channel['id']}"
        assert api.request("PATCH", path, {"name": "x"}).json["code"] == "channel_configured"
        assert api.request("DELETE", path).json["code"] == "channel_configured"
    own = api.post(PATH, EMAIL, expect=201)
    shown = api.request("GET", "/v1/settings").body + server.output().encode()
    assert b"canary-password" not in shown and b"canary-path" not in shown
    api.close()

    file.write_text(FILE.replace('severity_min = "critical"', 'severity_min = "warning"'))
    server.kill()
    api = server.start().api()
    again = {each["id"]: each for each in api.all(PATH)}
    assert set(again) == {chat["id"], mail["id"], own["id"]}
    assert again[mail["id"]]["severity_min"] == "warning"
    assert again[chat["id"]] == chat
    api.close()

    file.write_text("")
    server.stop()
    api = server.start().api()
    assert [each["id"] for each in api.all(PATH)] == [own["id"]]
    assert api.get(f"/v1/webhooks/{chat['webhook_id']}", expect=404)


def test_the_printed_configuration_shows_no_password_and_no_path(tmp_path):
    file = tmp_path / "c.toml"
    file.write_text(FILE.replace('url_env = "CHAT_URL"', 'url = "https://x.example/canary-path"'))
    for form in ([], ["--json"]):
        code, stdout, stderr = run_command("serve", "--config", str(file), "--print-config", *form,
                                           environment={"SMTP_PASSWORD": "canary-password"})
        assert code == 0, stderr
        assert "canary" not in stdout + stderr
        assert "https://x.example/***" in stdout


def test_a_wrong_channel_in_the_file_is_named(tmp_path):
    file = tmp_path / "c.toml"
    file.write_text('[[notification_channels]]\nname = "a"\nkind = "email"\nto = ["x"]\n')
    code, _, stderr = run_command("serve", "--config", str(file), "--data", str(tmp_path / "data"))
    assert code != 0
    assert f"{file}:4: `to` of a notification channel must be" in stderr


def test_deleting_a_tenant_deletes_its_channels(api, receiver, world):
    api.post("/v1/tenants", {"id": world.tenant}, expect=201)
    made = [api.post(PATH, {**body, "tenant_id": world.tenant}, expect=201)
            for body in (EMAIL, hook_of(receiver))]
    api.delete(f"/v1/tenants/{world.tenant}?force=true")
    for channel in made:
        api.get(f"{PATH}/{channel['id']}", expect=404)
    wait_for(lambda: api.request("GET", f"/v1/webhooks/{made[1]['webhook_id']}").status == 404,
             "the webhook to be gone")
