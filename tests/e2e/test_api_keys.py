"""API keys: scopes, expiry, revocation and storage."""

import datetime

from harness import wait_for
from secret_checks import bytes_on_disk
from test_stream import Stream


def in_seconds(seconds):
    when = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
    return when.strftime("%Y-%m-%dT%H:%M:%S.") + f"{when.microsecond // 1000:03d}Z"


def make_key(api, **fields):
    return api.post("/v1/api-keys", {"name": "made by a test", **fields}, expect=201)


def test_a_key_can_do_only_what_its_scope_allows(server, api):
    event = {"type": "order.created", "data": 1}
    hook = {"url": "https://example.com/", "events": ["none.such"]}
    allowed = {"admin": (200, 202, 201), "read": (200, 403, 403), "publish": (403, 202, 403)}
    for scope, (read, publish, manage) in allowed.items():
        key = make_key(api, scope=scope)
        client = server.api(key["key"])
        assert client.request("GET", "/v1/webhooks").status == read, scope
        assert client.request("POST", "/v1/events", event).status == publish, scope
        assert client.request("POST", "/v1/webhooks", hook).status == manage, scope
        client.close()
        api.delete(f"/v1/api-keys/{key['id']}")


def test_a_deleted_key_is_refused_immediately_even_on_an_open_connection(server, api):
    key = make_key(api, scope="read")
    client = server.api(key["key"])
    assert client.request("GET", "/v1/webhooks").status == 200
    api.delete(f"/v1/api-keys/{key['id']}")
    refused = client.request("GET", "/v1/webhooks")
    assert refused.status == 401, refused
    assert refused.headers["www-authenticate"].startswith("Bearer")
    client.close()


def test_an_expired_key_is_refused_with_its_expiry_time(server, api):
    expires_at = in_seconds(1)
    key = make_key(api, scope="read", expires_at=expires_at)
    assert key["expires_at"] == expires_at
    client = server.api(key["key"])
    refused = wait_for(lambda: (answer := client.request("GET", "/v1/webhooks")).status == 401
                       and answer, "the key to expire")
    assert expires_at in refused.json["detail"]
    client.close()
    api.delete(f"/v1/api-keys/{key['id']}")


def test_the_last_admin_key_cannot_be_deleted(own_server):
    server = own_server().start()
    api = server.api()
    [first] = api.get("/v1/api-keys")["data"]
    assert api.request("DELETE", f"/v1/api-keys/{first['id']}").json["code"] == "last_admin_key"
    second = make_key(api, scope="admin")
    api.delete(f"/v1/api-keys/{first['id']}")
    assert api.request("GET", "/v1/webhooks").status == 401
    client = server.api(second["key"])
    assert client.request("DELETE", f"/v1/api-keys/{second['id']}").status == 409
    client.close()
    api.close()


def test_keys_survive_a_restart_and_are_not_stored_in_plain_text(own_server):
    server = own_server().start()
    api = server.api()
    key = make_key(api, scope="publish", name="survivor")
    client = server.api(key["key"])
    assert client.request("POST", "/v1/events", {"type": "a.b", "data": 1}).status == 202
    client.close()
    api.close()
    server.stop()
    stored = bytes_on_disk(server)
    assert b"survivor" in stored
    assert key["key"].encode() not in stored
    assert key["key"] not in server.output()
    server.start()
    client = server.api(key["key"])
    assert client.request("POST", "/v1/events", {"type": "a.b", "data": 1}).status == 202
    client.close()
    api = server.api()
    shown = api.get(f"/v1/api-keys/{key['id']}")
    assert shown["name"] == "survivor"
    assert "key" not in shown and "sha256" not in shown
    api.close()


def test_the_time_of_last_use_is_shown_and_survives_a_restart(own_server):
    server = own_server().start()
    api = server.api()
    key = make_key(api, scope="read")
    assert api.get(f"/v1/api-keys/{key['id']}")["last_used_at"] is None
    client = server.api(key["key"])
    client.get("/v1/webhooks")
    client.close()
    used = api.get(f"/v1/api-keys/{key['id']}")["last_used_at"]
    assert used is not None
    api.close()
    server.stop()
    server.start()
    api = server.api()
    assert api.get(f"/v1/api-keys/{key['id']}")["last_used_at"] == used
    api.close()


def test_deleting_a_key_ends_its_stream_before_the_next_event(server, world):
    key = make_key(world.api, scope="tenant", tenant_id=world.tenant)
    hook = world.hook()
    stream = Stream(server, key=key["key"])
    assert stream.status == 200
    first = world.publish()
    world.wait_done(first["id"], hook)
    assert stream.wait("delivery")["data"]["event_id"] == first["id"]

    world.api.delete(f"/v1/api-keys/{key['id']}")
    second = world.publish()
    world.wait_done(second["id"], hook)
    while (event := stream.next()) is not None:
        assert second["id"] not in str(event)
    stream.close()
