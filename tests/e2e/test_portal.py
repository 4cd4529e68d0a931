"""Portal links: one link gives one short session for one tenant."""

import concurrent.futures

from harness import wait_for


def redeem(server, token):
    client = server.api(key=None)
    answer = client.request("POST", "/v1/sessions", {"token": token})
    client.close()
    return answer


def test_a_link_lets_a_tenants_user_manage_the_tenants_webhooks(server, world):
    hook = world.hook()
    link = world.api.post("/v1/portal-links", {"tenant_id": world.tenant}, expect=201)
    assert link["url"] == f"http://127.0.0.1:{server.port}/#token={link['token']}"
    portal = server.sign_in({"token": link["token"]})
    assert portal.get("/v1/sessions")["tenant_id"] == world.tenant
    assert [each["id"] for each in portal.all("/v1/webhooks")] == [hook.id]
    assert portal.patch(f"/v1/webhooks/{hook.id}", {"name": "renamed"})["name"] == "renamed"
    assert portal.all("/v1/api-keys") == []
    assert portal.request("GET", "/v1/tenants").status == 403
    portal.close()


def test_one_of_many_concurrent_redemptions_of_a_link_succeeds(server, api):
    token = api.post("/v1/portal-links", {"tenant_id": "t"}, expect=201)["token"]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: redeem(server, token), range(16)))
    assert sorted(answer.status for answer in answers) == [201] + [410] * 15
    assert {answer.json["code"] for answer in answers if answer.status == 410} == \
        {"link_spent"}


def test_a_link_can_be_redeemed_once_even_across_a_restart(own_server):
    server = own_server().start()
    api = server.api()
    used = api.post("/v1/portal-links", {"tenant_id": "t"}, expect=201)["token"]
    unused = api.post("/v1/portal-links", {"tenant_id": "t"}, expect=201)["token"]
    portal = server.sign_in({"token": used})
    api.close()
    server.kill()
    server.start()
    assert redeem(server, used).status == 410
    assert redeem(server, unused).status == 201
    portal.port = server.port
    assert portal.get("/v1/webhooks")["data"] == []
    portal.close()
    text = portal.headers["Cookie"].partition("=")[2]
    assert used not in server.output() and text not in server.output()


def test_links_and_sessions_expire_and_are_removed(own_server):
    server = own_server().start()
    api = server.api()
    link = {"tenant_id": "t", "expires_in_seconds": 1, "session_seconds": 1}
    late = api.post("/v1/portal-links", link, expect=201)["token"]
    portal = server.sign_in({"token": api.post("/v1/portal-links", link, expect=201)["token"]})
    wait_for(lambda: portal.request("GET", "/v1/webhooks").status == 401, "the session to expire")
    portal.close()
    assert redeem(server, late).status == 410
    api.post("/v1/portal-links", {"tenant_id": "t"}, expect=201)
    assert [key["name"] for key in api.all("/v1/api-keys")] == ["POSTRIDER_ADMIN_KEY"]
    api.close()
