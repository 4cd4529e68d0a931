"""The preview of a webhook: what it would be and do, without storing or sending anything."""

import base64
import hashlib
import hmac
import json

PATH = "/v1/webhooks/preview"
SECRET = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz"
VARIABLE = {"webhook-id", "webhook-timestamp", "webhook-signature", "x-webhook-signature",
            "x-webhook-delivery", "x-webhook-timestamp", "x-idempotency-key"}


def headers_of(request):
    return {header["name"].lower(): header["value"] for header in request["headers"]}


def standard_signature(headers, body):
    key = base64.b64decode(SECRET.removeprefix("whsec_"))
    text = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.{body}"
    return "v1," + base64.b64encode(
        hmac.new(key, text.encode(), hashlib.sha256).digest()).decode()


def audit_entries(world, hook):
    return [entry for entry in world.api.get("/v1/audit-log?limit=250")["data"]
            if entry["subject"] == hook.id]


def test_the_previewed_request_is_the_one_that_is_sent(world):
    hook = world.hook(secret=SECRET, headers={"Authorization": "Bearer canary-5b1f", "X-A": "1"})
    event = {"type": "order.paid", "data": {"n": 1.50, "text": "<script>\u00e4"}}
    shown = world.api.post(PATH, {"webhook_id": hook.id, "event": event})
    assert world.requests(hook) == []
    world.publish(event["type"], event["data"])
    sent = world.wait_requests(hook, 1)[0]

    request, previewed = shown["request"], headers_of(shown["request"])
    assert request["method"] == "POST" and request["url"] == world.receiver.url(sent.path)
    assert [header["name"].lower() for header in request["headers"]] == [
        name for name, _ in sent.headers]
    for name, value in sent.headers:
        if name == "authorization":
            assert previewed[name] == "[hidden]"
        elif name not in VARIABLE:
            assert previewed[name] == value, name
    body = json.loads(request["body"])
    assert body["data"] == event["data"] and set(body) == set(json.loads(sent.body))
    assert previewed["webhook-signature"] == standard_signature(previewed, request["body"])
    assert shown["signed_with"] == "webhook_secret"
    assert shown["matches"] == dict.fromkeys(("event_type", "filter", "tenant", "resource"), True)
    assert "canary" not in json.dumps(shown) and "whsec_" not in json.dumps(shown)


def test_a_preview_changes_nothing(world):
    hook = world.hook(name="before")
    stored = world.api.get(f"/v1/webhooks/{hook.id}")
    audited = audit_entries(world, hook)
    shown = world.api.post(PATH, {"webhook_id": hook.id, "webhook": {
        "name": "after", "secret": SECRET, "verify_url": True, "active": False}})
    assert shown["webhook"]["name"] == "after" and shown["webhook"]["active"] is False
    world.api.post(PATH, {"webhook": {"url": "https://example.com/", "events": ["*"]}})
    assert world.api.get(f"/v1/webhooks/{hook.id}") == stored
    assert audit_entries(world, hook) == audited
    assert world.requests(hook) == [], "no challenge is sent"


def test_a_filter_is_evaluated_and_its_faults_are_named(world):
    webhook = {"url": "https://example.com/", "events": ["order.*"],
               "filter": {"data": {"amount": [{"numeric": [">", 100]}]}}}
    for amount, wanted in ((101, True), (100, False)):
        shown = world.api.post(PATH, {"webhook": webhook, "event": {
            "type": "order.paid", "data": {"amount": amount}}})
        assert shown["matches"]["filter"] is wanted
        assert shown["request"], "shown also if the event does not match"
    webhook["filter"]["data"]["amount"] = [{"numeric": ["~", 1]}]
    created = world.api.request("POST", "/v1/webhooks", webhook)
    shown = world.api.request("POST", PATH, {"webhook": webhook})
    assert (shown.status, shown.json["errors"]) == (422, created.json["errors"])
    assert shown.json["errors"][0]["field"].startswith("filter.data.amount")


def test_the_schedule_is_that_of_the_policy(world):
    shown = world.api.post(PATH, {"webhook": {
        "url": "https://example.com/", "events": ["*"], "retry_config": {"preset": "stepped"}}})
    delays = [retry["delay_ms"] for retry in shown["retry_schedule"]]
    assert delays == [30_000, 300_000, 1_200_000, 3_600_000]
    assert [retry["at_ms"] for retry in shown["retry_schedule"]] == [
        30_000, 330_000, 1_530_000, 5_130_000]
    assert [retry["attempt"] for retry in shown["retry_schedule"]] == [2, 3, 4, 5]
    assert shown["webhook"]["retry_config"]["max_attempts"] == 5


def test_a_read_key_cannot_preview(world, server):
    key = world.api.post("/v1/api-keys", {"scope": "read"}, expect=201)["key"]
    refused = server.api(key=key).request("POST", PATH, {"webhook": {}})
    assert (refused.status, refused.json["code"]) == (403, "insufficient_scope")


def test_an_event_over_the_configured_size_is_refused(own_server):
    server = own_server("--set", "events.data_bytes_max=1024").start()
    body = {"webhook": {"url": "https://example.com/", "events": ["*"]},
            "event": {"type": "a.b", "data": "x" * 1024}}
    refused = server.api().request("POST", PATH, body)
    assert (refused.status, refused.json["code"]) == (413, "data_too_large")
    assert refused.json["errors"][0]["field"] == "event.data"
    body["event"]["data"] = "x" * 1000
    assert server.api().request("POST", PATH, body).status == 200
