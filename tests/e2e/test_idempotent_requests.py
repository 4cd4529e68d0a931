"""A request with an idempotency key takes effect once: concurrently, repeated, after a crash."""

import json
import socket
import threading
import time

import pytest

from harness import ADMIN_KEY


def with_key(key):
    return {"Idempotency-Key": key}


def concurrently(server, count, request):
    """Makes the request from `count` threads at the same moment. Returns the answers."""
    barrier = threading.Barrier(count)
    answers = []

    def ask(number):
        api = server.api()
        barrier.wait()
        answers.append(request(api, number))
        api.close()
    threads = [threading.Thread(target=ask, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == count, "a request got no answer"
    return answers


def webhooks_named(api, name):
    return [webhook for webhook in api.all("/v1/webhooks") if webhook["name"] == name]


@pytest.mark.parametrize("round", range(5))
def test_concurrent_requests_with_one_key_create_one_webhook(server, receiver, round):
    body = {"url": receiver.url("/once"), "events": ["*"], "name": f"concurrent {round}"}
    answers = concurrently(server, 8, lambda api, _: api.request(
        "POST", "/v1/webhooks", body, with_key(f"concurrent {round}")))
    assert {answer.status for answer in answers} == {201}
    assert len({answer.json["id"] for answer in answers}) == 1
    first = [answer for answer in answers if "idempotent-replayed" not in answer.headers]
    assert len(first) == 1 and first[0].json["secret"].startswith("whsec_")
    assert all("secret" not in answer.json for answer in answers if answer is not first[0])
    assert len(webhooks_named(server.api(), body["name"])) == 1


def test_of_different_concurrent_requests_with_one_key_one_succeeds(server, receiver):
    answers = concurrently(server, 6, lambda api, number: api.request(
        "POST", "/v1/webhooks",
        {"url": receiver.url(f"/{number}"), "events": ["*"], "name": "different"},
        with_key("differ")))
    assert sorted(answer.status for answer in answers) == [201] + [422] * 5
    codes = {answer.json["code"] for answer in answers if answer.status == 422}
    assert codes == {"idempotency_key_reused"}
    assert len(webhooks_named(server.api(), "different")) == 1


def test_a_repeated_rotation_rotates_once(world, api):
    hook = world.hook()
    path = f"/v1/webhooks/{hook.id}/secret"
    first = api.request("POST", path + "/rotate", {}, with_key("rotate"))
    again = api.request("POST", path + "/rotate", {}, with_key("rotate"))
    assert (first.status, again.status) == (200, 200)
    assert again.headers["idempotent-replayed"] == "true"
    assert again.json == {key: value for key, value in first.json.items() if key != "secret"}
    assert api.get(path)["secret"] == first.json["secret"]
    assert len(api.get(path)["old_secrets"]) == 1


def test_a_repeated_test_is_sent_once(server, world, api):
    hook = world.hook()
    path = f"/v1/webhooks/{hook.id}/test"
    first = api.request("POST", path, {}, with_key("test"))
    again = api.request("POST", path, {}, with_key("test"))
    assert (first.status, again.status) == (200, 200), (first, again)
    assert again.json == first.json and again.headers["idempotent-replayed"] == "true"
    answers = concurrently(server, 6, lambda each, _: each.request(
        "POST", path, {}, with_key("tests")))
    assert {answer.status for answer in answers} <= {200, 202, 409}
    assert 200 in {answer.status for answer in answers}
    assert len([each for each in answers if "idempotent-replayed" not in each.headers]) == 1
    assert len(world.requests(hook)) == 2


def test_a_key_is_remembered_across_a_crash(own_server, receiver):
    server = own_server().start()
    api = server.api()
    webhook = {"url": receiver.url("/once"), "events": ["*"]}
    made = api.post("/v1/webhooks", webhook, 201, with_key("w"))
    batch = api.post("/v1/dlq/retry-batch", {}, 202, with_key("o"))
    key = api.post("/v1/api-keys", {"scope": "read"}, 201, with_key("k"))
    server.kill()

    server.start()
    api = server.api()
    again = api.request("POST", "/v1/webhooks", webhook, with_key("w"))
    assert (again.status, again.json["id"]) == (201, made["id"])
    assert again.headers["idempotent-replayed"] == "true"
    assert again.headers["location"] == f"/v1/webhooks/{made['id']}"
    assert api.get(f"/v1/webhooks/{made['id']}/secret")["secret"] == made["secret"]
    assert api.post("/v1/dlq/retry-batch", {}, 202, with_key("o"))["id"] == batch["id"]
    assert api.post("/v1/api-keys", {"scope": "read"}, 201, with_key("k"))["id"] == key["id"]
    assert len(api.all("/v1/webhooks")) == len(api.all("/v1/operations")) == 1
    refused = api.request("POST", "/v1/webhooks", {**webhook, "name": "x"}, with_key("w"))
    assert (refused.status, refused.json["code"]) == (422, "idempotency_key_reused")


def test_a_crash_at_any_moment_creates_nothing_twice(own_server, receiver):
    server = own_server().start()
    body = json.dumps({"url": receiver.url("/once"), "events": ["*"], "name": "torn"}).encode()
    for round in range(8):
        head = (f"POST /v1/webhooks HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {ADMIN_KEY}\r\n"
                f"Content-Type: application/json\r\nIdempotency-Key: torn {round}\r\n"
                f"Content-Length: {len(body)}\r\n\r\n").encode()
        with socket.create_connection(("127.0.0.1", server.port)) as connection:
            connection.sendall(head + body)
            time.sleep(round * 0.001)  # Varies the moment of the crash around the commit.
            server.kill()
        server.start()
        api = server.api()
        answer = api.request("POST", "/v1/webhooks", json.loads(body), with_key(f"torn {round}"))
        assert answer.status == 201, answer
        assert len(webhooks_named(api, "torn")) == round + 1


def test_concurrent_changes_of_different_limits_are_all_applied(server):
    api = server.api()
    api.post("/v1/tenants", {"id": "limits-race"}, 201)
    path = "/v1/tenants/limits-race/limits"
    names = ("webhooks_max", "events_per_minute")
    for value in range(1, 30):
        answers = concurrently(server, 2, lambda api, number: api.request(
            "PUT", path, {names[number]: value}))
        assert [answer.status for answer in answers] == [200, 200]
        limits = api.get(path)
        assert {name: limits[name] for name in names} == dict.fromkeys(names, value)
