"""A delivery shows the requests that the receiver got, even if the webhook has changed since."""

import base64
import os

from harness import wait_for
from receiver import Held, Reply
from secret_checks import bytes_on_disk
from world import SLOW

SIGNATURES = ("webhook-signature", "x-webhook-signature", "x-own-signature")
CREDENTIAL = "Bearer canary-credential-5b1f"
CHANGED = {"headers": {"Authorization": None, "X-Plain": "two", "X-Api-Token": CREDENTIAL},
           "payload_format": "tenant",
           "signature": {"scheme": "t-v1", "header_prefix": "X-Own-"}}


def expected_headers(request, *hidden):
    """The headers that the API must show for a received request: (name, value), in order."""
    shown = []
    for name, value in request.headers:
        if name in SIGNATURES:
            value = "[not kept]"
        elif name in hidden:
            value = "[hidden]"
        shown.append((name, value))
    return shown


def shown_headers(request):
    return [(name.lower(), value) for name, value in request["headers"].items()]


def retry(world, delivery):
    world.api.post(f"/v1/deliveries/{delivery['id']}/retry", expect=202)


def wait_attempts(world, delivery, count):
    def look():
        found = world.api.get(f"/v1/deliveries/{delivery['id']}")
        return found if len(found["attempts"]) == count else None
    return wait_for(look, f"{count} attempts of {delivery['id']}")


def first_attempt(world, hook, **event):
    """Publishes an event. Returns its delivery after the first failed attempt."""
    return world.wait_status(world.publish(**event)["id"], hook, "retrying")


def make_hook(world, label="old", **fields):
    return world.hook(label, Reply(500), retry_config=SLOW,
                      headers={"Authorization": CREDENTIAL, "X-Plain": "one"}, **fields)


def test_every_attempt_shows_the_request_that_the_receiver_got(world):
    hook = make_hook(world)
    delivery = first_attempt(world, hook, data={"n": 1.50}, idempotency_key="schl\u00fcssel 7")
    new = world.path("new") + "?a=%20b"
    world.receiver.on(new, Reply(200))
    world.api.patch(f"/v1/webhooks/{hook.id}", {"url": world.receiver.url(new), **CHANGED})
    retry(world, delivery)
    delivery = wait_attempts(world, delivery, 2)

    first, = world.requests(hook)
    second, = world.receiver.requests(new)
    for attempt, got, hidden in [(delivery["attempts"][0], first, "authorization"),
                                 (delivery["attempts"][1], second, "x-api-token")]:
        assert attempt["request"]["method"] == "POST"
        assert attempt["request"]["url"] == world.receiver.url(got.path)
        assert shown_headers(attempt["request"]) == expected_headers(got, hidden)
        assert got.header(hidden) == CREDENTIAL
    assert delivery["attempts"][0]["request"]["body"] == first.body.decode()
    assert delivery["request"].pop("body") == second.body.decode()
    assert delivery["request"] == delivery["attempts"][1]["request"]
    assert first.header("x-idempotency-key") == "schl%C3%BCssel 7"

    world.api.patch(f"/v1/webhooks/{hook.id}", {"headers": {}, "payload_format": "raw"})
    world.api.delete(f"/v1/webhooks/{hook.id}")
    after = world.api.get(f"/v1/deliveries/{delivery['id']}")
    assert after["attempts"] == delivery["attempts"]
    assert CREDENTIAL not in str(after)


def test_a_change_does_not_affect_a_request_in_flight(world):
    hook = world.hook("hook", Held(Reply(500)), retry_config=SLOW)
    event = world.publish()["id"]
    request, = world.wait_requests(hook, 1)
    assert world.delivery(event, hook)["request"] is None
    world.api.patch(f"/v1/webhooks/{hook.id}", {"url": world.receiver.url("/elsewhere"), **CHANGED})
    world.receiver.release(hook.path)
    delivery = world.wait_status(event, hook, "retrying")
    assert delivery["request"]["url"] == world.receiver.url(hook.path)
    assert shown_headers(delivery["request"]) == expected_headers(request)
    assert delivery["request"]["body"] == request.body.decode()


def test_a_delivery_without_attempts_has_no_request(world):
    hook = world.hook()
    world.api.post(f"/v1/webhooks/{hook.id}/pause")
    delivery = world.wait_blocked(world.publish()["id"], hook)
    assert delivery["attempts"] == []
    assert delivery["request"] is None


def test_a_request_that_could_not_connect_is_shown(world):
    url = "http://127.0.0.1:1/nobody"
    created = world.api.post("/v1/webhooks", {"url": url, "events": ["*"], "retry_config": SLOW,
                                              "tenant_id": world.tenant}, expect=201)
    answer = world.api.post(f"/v1/webhooks/{created['id']}/test")
    assert answer["attempt"]["remote_ip"] is None
    assert answer["attempt"]["request"]["url"] == url
    assert answer["attempt"]["request"]["headers"]["Host"] == "127.0.0.1:1"
    world.api.delete(f"/v1/webhooks/{created['id']}")


def test_a_test_send_answers_with_its_request(world):
    hook = make_hook(world)
    answer = world.api.post(f"/v1/webhooks/{hook.id}/test")
    got, = world.requests(hook)
    assert shown_headers(answer["attempt"]["request"]) == expected_headers(got, "authorization")
    assert answer["attempt"]["request"]["body"] == got.body.decode()


def test_stored_requests_survive_a_crash_and_are_sealed(own_server, make_world):
    key = base64.b64encode(os.urandom(32)).decode()
    plain = "canary-plain-header-77c0"
    server = own_server(environment={"POSTRIDER_SECRETS_KEY": key,
                                     "POSTRIDER_USER_AGENT": "One/1"}).start()
    world = make_world(server)
    hook = make_hook(world)
    world.api.patch(f"/v1/webhooks/{hook.id}",
                    {"headers": {"Authorization": CREDENTIAL, "X-Plain": plain}})
    delivery = first_attempt(world, hook)

    server.kill()
    server.environment["POSTRIDER_USER_AGENT"] = "Two/2"
    world.api = server.start().api()
    retry(world, delivery)
    delivery = wait_attempts(world, delivery, 2)
    world.api.delete(f"/v1/webhooks/{hook.id}")
    server.stop()
    for canary in (plain, CREDENTIAL):
        assert canary.encode() not in bytes_on_disk(server)

    world.api = server.start().api()
    delivery = world.api.get(f"/v1/deliveries/{delivery['id']}")
    agents = []
    for attempt, got in zip(delivery["attempts"], world.requests(hook), strict=True):
        assert shown_headers(attempt["request"]) == expected_headers(got, "authorization")
        assert attempt["request"]["headers"]["X-Plain"] == plain
        agents.append(attempt["request"]["headers"]["User-Agent"])
    assert agents == ["One/1", "Two/2"]
