"""The request that the receiver gets: body, headers, signature."""

import datetime
import hashlib
import hmac
import json
import pathlib
import re
import subprocess

import pytest

from harness import ADMIN_KEY, wait_for
from receiver import Reply
from world import FAST

HERE = pathlib.Path(__file__).resolve().parent
EVENT_ID = re.compile(r"evt_[0-9a-hjkmnp-tv-z]{26}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")

# Parsing and serializing would change these: white space, key order, number formats, escapes,
# empty containers.
VERBATIM = [
    b'{"b" : 1.50,  "a":[1e400, -0, 12345678901234567890], "z":{ } }',
    '{"text":"\\u00e9 é \\/ \\ud83d\\ude00 😀"}'.encode(),
    b"null", b"true", b'"text"', b"0.10", b"[ ]", b'{"":{"":[[[]]]}}',
]


def verify(*cases):
    """Verifies each (secret, request) with the npm package `standardwebhooks`."""
    asked = [{"secret": secret, "headers": dict(request.headers), "body": request.body.decode()}
             for secret, request in cases]
    done = subprocess.run(["node", "verify.mjs"], cwd=HERE, input=json.dumps(asked), text=True,
                          capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_an_event_reaches_the_webhook_with_every_header(world):
    hook = world.hook()
    event = world.publish("swap.created", {"amount": "0.1"}, idempotency_key="key-1")
    request, = world.wait_requests(hook, 1)

    assert EVENT_ID.fullmatch(event["id"])
    assert event == {"id": event["id"], "deliveries": 1, "duplicate": False}
    delivery = world.wait_done(event["id"], hook)
    assert delivery["status"] == "succeeded"

    unix = request.header("webhook-timestamp")
    assert abs(int(unix) - request.unix_time) <= 2
    assert request.header("host") == f"127.0.0.1:{world.receiver.port}"
    assert request.header("content-type") == "application/json"
    assert request.header("content-length") == str(len(request.body))
    assert re.fullmatch(r"Postrider/\d+\.\d+\.\d+", request.header("user-agent"))
    assert request.header("webhook-id") == event["id"]
    assert re.fullmatch(r"v1,[A-Za-z0-9+/]{43}=", request.header("webhook-signature"))
    assert request.header("x-webhook-id") == hook.id
    assert request.header("x-webhook-event") == "swap.created"
    assert request.header("x-webhook-delivery") == delivery["id"]
    assert request.header("x-webhook-attempt") == "1"
    shown = datetime.datetime.fromisoformat(request.header("x-webhook-timestamp"))
    assert int(shown.timestamp()) == int(unix)
    assert request.header("x-idempotency-key") == "key-1"
    assert request.header("transfer-encoding") is None


@pytest.mark.parametrize("data", VERBATIM, ids=range(len(VERBATIM)))
def test_the_data_arrives_byte_for_byte(world, data):
    hook = world.hook()
    published = b'{"tenant_id":"%s","type":"a.b","data":%s}' % (world.tenant.encode(), data)
    answer = world.api.request("POST", "/v1/events", published)
    assert answer.status == 202, answer
    request, = world.wait_requests(hook, 1)

    timestamp = TIME.search(request.body.decode()).group()
    want = b'{"id":"%s","type":"a.b","timestamp":"%s","data":%s}' % (
        answer.json["id"].encode(), timestamp.encode(), data)
    assert request.body == want


def test_the_largest_data_is_delivered_and_one_byte_more_is_refused(world):
    hook = world.hook()
    text = "x" * (256 * 1024 - 2)
    event = world.publish(data=text)
    request, = world.wait_requests(hook, 1)
    assert json.loads(request.body)["data"] == text
    assert world.wait_done(event["id"], hook)["status"] == "succeeded"

    refused = world.api.request(
        "POST", "/v1/events", {"type": "a.b", "tenant_id": world.tenant, "data": text + "x"})
    assert refused.status == 413, refused
    assert "262144" in refused.json["detail"]


def test_the_reference_library_verifies_requests_and_rejects_changed_ones(world):
    made = world.hook("made")
    own = world.hook("own", secret="whsec_MDEyMzQ1Njc4OWFiY2RlZmdoaWprbG1ub3BxcnN0dXY=")
    assert re.fullmatch(r"whsec_[A-Za-z0-9+/]{43}=", made.secret)
    for data in ({"a": 1}, "é😀", [1.50]):
        world.publish(data=data)
    cases = [(hook.secret, request) for hook in (made, own)
             for request in world.wait_requests(hook, 3)]
    assert verify(*cases) == [None] * 6

    secret, request = cases[0]
    request.body += b" "
    changed, wrong_secret = (secret, request), (own.secret, cases[1][1])
    assert None not in verify(changed, wrong_secret)


def test_a_retry_keeps_the_webhook_id_and_has_a_valid_signature(world):
    hook = world.hook("hook", Reply(500), Reply(), retry_config=FAST)
    event = world.publish()
    first, second = world.wait_requests(hook, 2)
    assert first.webhook_id == second.webhook_id == event["id"]
    assert first.body == second.body
    assert (first.attempt, second.attempt) == (1, 2)
    assert verify((hook.secret, first), (hook.secret, second)) == [None, None]


def test_custom_headers_are_sent(world):
    hook = world.hook(headers={"X-Shop": "north, 7", "Authorization": "Basic abc"})
    world.publish()
    request, = world.wait_requests(hook, 1)
    assert request.header("x-shop") == "north, 7"
    assert request.header("authorization") == "Basic abc"


def test_an_event_reaches_only_matching_webhooks(world):
    everything = world.hook("all")
    swaps = world.hook("swaps", events=["swap.*"])
    exact = world.hook("exact", events=["swap.created", "order.paid"])
    inactive = world.hook("inactive", active=False)
    resource = world.hook("resource", resource_id="r-1")

    counts = [
        world.publish("swap.created")["deliveries"],
        world.publish("swap.leg.created", resource_id="r-1")["deliveries"],
        world.publish("order.paid", resource_id="r-2")["deliveries"],
        world.publish("swapped")["deliveries"],
    ]
    assert counts == [3, 3, 2, 1]
    world.wait_requests(everything, 4)
    types = {hook.path: sorted(request.header("x-webhook-event")
                               for request in world.wait_requests(hook, wanted))
             for hook, wanted in ((swaps, 2), (exact, 2), (resource, 1))}
    assert types == {swaps.path: ["swap.created", "swap.leg.created"],
                     exact.path: ["order.paid", "swap.created"],
                     resource.path: ["swap.leg.created"]}
    assert world.requests(inactive) == []


def test_another_tenants_event_does_not_reach_the_webhook(world, make_world, server):
    other = make_world(server)
    mine, theirs = world.hook(), other.hook()
    for each, hook in ((world, mine), (other, theirs)):
        event = each.publish()
        assert event["deliveries"] == 1
        each.wait_done(event["id"], hook)
        assert [request.webhook_id for request in each.requests(hook)] == [event["id"]]
    assert (len(world.requests(mine)), len(other.requests(theirs))) == (1, 1)
    other.clean()


def test_an_event_without_a_matching_webhook_is_stored(world):
    event = world.publish("lonely.event", {"a": 1})
    assert event["deliveries"] == 0
    read = world.api.get(f"/v1/events/{event['id']}")
    assert (read["type"], read["data"], read["deliveries"]) == ("lonely.event", {"a": 1}, [])


@pytest.mark.parametrize("format, keys", [
    ("standard", ["id", "type", "timestamp", "data"]),
    ("exchange", ["id", "type", "created_at", "data"]),
    ("workspace", ["event_type", "data"]),
    ("tenant", ["id", "event", "data", "timestamp"]),
    ("raw", ["n"]),
])
def test_each_payload_format_has_its_own_envelope(world, format, keys):
    hook = world.hook(payload_format=format)
    world.publish(data={"n": 1})
    request, = world.wait_requests(hook, 1)
    body = json.loads(request.body)
    assert list(body) == keys
    assert (body if format == "raw" else body["data"]) == {"n": 1}


@pytest.mark.parametrize("scheme, pattern, signs_time", [
    ("t-v1", r"t=(?P<time>\d+),v1=(?P<hex>[0-9a-f]{64})", True),
    ("sha256-timestamp", r"sha256=(?P<hex>[0-9a-f]{64})", True),
    ("sha256-body", r"sha256=(?P<hex>[0-9a-f]{64})", False),
])
def test_each_other_signature_scheme_can_be_verified(world, scheme, pattern, signs_time):
    hook = world.hook(signature={"scheme": scheme})
    world.publish()
    request, = world.wait_requests(hook, 1)
    found = re.fullmatch(pattern, request.header("x-webhook-signature"))
    time = found.groupdict().get("time") or request.header("x-webhook-timestamp")
    assert not signs_time or abs(int(time) - request.unix_time) <= 2
    assert re.fullmatch("[0-9a-f]{64}", hook.secret)
    signed = time.encode() + b"." + request.body if signs_time else request.body
    assert hmac.new(hook.secret.encode(), signed, hashlib.sha256).hexdigest() == found["hex"]


def test_connections_are_reused(world):
    hook = world.hook(max_in_flight=1)
    for _ in range(5):
        world.publish()
    requests = world.wait_requests(hook, 5)
    assert len({request.connection for request in requests}) == 1


def test_a_delivery_shows_every_attempt_in_detail(world):
    hook = world.hook("hook", Reply(503, body=b"busy\xff" * 1000, headers=(("X-Why", "load"),)),
                      Reply(201, body=b"thanks"), retry_config=FAST)
    event = world.publish()
    delivery = world.wait_done(event["id"], hook)
    assert delivery["status"] == "succeeded"
    assert delivery["attempt_count"] == 2
    first, second = delivery["attempts"]
    assert (first["number"], first["http_status"], first["failure_category"]) == (
        1, 503, "server_error")
    assert first["response_sample"].startswith("busy")
    assert 1000 < len(first["response_sample"].encode()) <= 1024
    assert first["remote_ip"] == "127.0.0.1"
    assert first["next_retry_at"] and TIME.fullmatch(first["next_retry_at"])
    assert (second["number"], second["http_status"], second["failure_category"]) == (2, 201, None)
    assert second["response_sample"] == "thanks"
    assert second["trigger"] == "scheduled"
    assert ADMIN_KEY not in json.dumps(delivery)


def test_a_webhook_shows_when_it_last_succeeded_and_failed(world):
    hook = world.hook("hook", Reply(500), Reply(), retry_config=FAST)
    event = world.publish()
    world.wait_done(event["id"], hook)

    def both_known():
        read = world.api.get(f"/v1/webhooks/{hook.id}")
        return read["last_success_at"] and read["last_failure_at"]
    wait_for(both_known, "last_success_at and last_failure_at")
    read = world.api.get(f"/v1/webhooks/{hook.id}")
    [listed] = world.api.get(f"/v1/webhooks?tenant_id={world.tenant}")["data"]
    for member in ("last_success_at", "last_failure_at"):
        assert listed[member] == read[member]
