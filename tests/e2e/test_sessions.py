"""Sign-in of browsers: sessions in a cookie, CSRF tokens, links that work once."""

import concurrent.futures
import datetime
import json
import re

import pytest

from harness import ADMIN_KEY, run_command, wait_for
from test_stream import Stream

ADMIN = {"key": ADMIN_KEY}


def status(client, path="/v1/webhooks"):
    return client.request("GET", path).status


def again(client, server):
    """The same session on the restarted server."""
    client.close()
    client.port = server.port
    return client


def text_of(client):
    return client.headers["Cookie"].partition("=")[2]


def attempt(server, credentials, **headers):
    client = server.api(key=None)
    answer = client.request("POST", "/v1/sessions", credentials, headers)
    client.close()
    return answer


def make_key(api, **fields):
    return api.post("/v1/api-keys", fields, expect=201)


# ---------------------------------------------------------------- what the product prints

@pytest.mark.parametrize("form", ["text", "json"])
def test_the_link_of_the_first_start_signs_in_once(own_server, form):
    server = own_server(*(["--json"] if form == "json" else []))
    del server.environment["POSTRIDER_ADMIN_KEY"]
    server.launch()
    server.port = wait_for(server._find_port, "the server's address")
    printed = wait_for(lambda: re.search(r"(http://[\w.:]+)/#token=(\w+)",
                                         server.stdout_file.read_text()), "the link")
    assert printed.group(1) == f"http://127.0.0.1:{server.port}"
    if form == "json":
        assert json.loads(server.stdout_file.read_text())["sign_in_url"] == printed.group(0)
    token = {"token": printed.group(2)}
    client = server.sign_in(token)
    shown = client.get("/v1/sessions")
    assert (shown["scope"], shown["role"], shown["key_name"]) == ("admin", "admin", "admin")
    assert client.post("/v1/tenants", {"id": "acme"}, expect=201)["id"] == "acme"
    assert attempt(server, token).json["code"] == "link_spent"
    server.stop()
    server.launch()
    server.port = wait_for(server._find_port, "the server's address")
    assert "token=" not in server.stdout_file.read_text(), "only at the first start"
    wait_for(lambda: status(again(client, server)) == 200, "the session to be known")


def test_the_command_line_prints_a_link(server):
    connection = ("--server", f"http://127.0.0.1:{server.port}", "--key", ADMIN_KEY)
    code, out, err = run_command("keys", "sign-in-link", *connection)
    assert code == 0, err
    token = re.match(rf"http://127.0.0.1:{server.port}/#token=(pri_\w+)\n", out).group(1)
    assert server.sign_in({"token": token}).get("/v1/sessions")["scope"] == "admin"
    code, out, err = run_command("keys", "sign-in-link", "--tenant", "acme", "--role", "viewer",
                                 "--expires-in", "60", "--json", *connection)
    assert code == 0, err
    shown = server.sign_in({"token": json.loads(out)["token"]}).get("/v1/sessions")
    assert (shown["tenant_id"], shown["role"]) == ("acme", "viewer")


# ---------------------------------------------------------------- sign-in

def test_the_session_is_in_the_cookie_only(server):
    answer = attempt(server, ADMIN)
    cookie = answer.headers["set-cookie"]
    assert re.fullmatch(r"postrider_session=prs_[0-9a-z]{52}; Path=/; HttpOnly; SameSite=Strict; "
                        r"Max-Age=43200", cookie), cookie
    text = cookie.split(";")[0].partition("=")[2]
    assert text not in answer.body.decode() and ADMIN_KEY not in answer.body.decode()
    assert answer.headers["cache-control"] == "no-store"
    assert status(server.api(text)) == 401, "a session is no API key"
    assert attempt(server, {"key": text}).status == 401


def test_one_of_many_concurrent_redemptions_succeeds(server, api):
    token = {"token": api.post("/v1/sign-in-links", {}, expect=201)["token"]}
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: attempt(server, token), range(16)))
    assert sorted(answer.status for answer in answers) == [201] + [410] * 15


@pytest.mark.parametrize("headers", [
    {"Content-Type": "application/x-www-form-urlencoded"}, {"Content-Type": "text/plain"},
    {"Content-Type": "multipart/form-data; boundary=x"},
    {"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"}])
def test_another_site_cannot_sign_a_visitor_in(server, headers):
    answer = attempt(server, ADMIN, **headers)
    assert answer.status == (415 if "Content-Type" in headers else 403), answer
    assert "set-cookie" not in answer.headers


def test_a_page_of_this_server_can(server):
    for headers in ({"Origin": f"http://127.0.0.1:{server.port}"},
                    {"Sec-Fetch-Site": "same-origin", "Origin": "http://elsewhere"}):
        assert attempt(server, ADMIN, **headers).status == 201


def test_guessing_is_limited_by_address(own_server):
    server = own_server("--set", "api.unauthenticated_rate_limit.requests_per_second=1",
                        "--set", "api.unauthenticated_rate_limit.burst=5").start()
    answers = [attempt(server, {"key": f"prk_guess{number}"}) for number in range(20)]
    assert {answer.status for answer in answers} == {401, 429}
    assert attempt(server, {"token": "prp_guess"}).status == 429
    assert status(server.api()) == 200


def test_the_cookie_is_secure_behind_https(own_server):
    server = own_server("--set", "public_url=https://hooks.example.com").start()
    assert attempt(server, ADMIN).headers["set-cookie"].endswith("; Secure")
    link = server.api().post("/v1/sign-in-links", {}, expect=201)["url"]
    assert link.startswith("https://hooks.example.com/#token=")


# ---------------------------------------------------------------- requests with the cookie

def test_a_change_needs_the_csrf_token_of_its_session(server):
    mine, other = server.sign_in(ADMIN), server.sign_in(ADMIN)
    cookie = mine.headers["Cookie"]
    bare = server.api(key=None)
    wrong = [{}, {"X-CSRF-Token": ""}, {"X-CSRF-Token": other.headers["X-CSRF-Token"]},
             {"X-CSRF-Token": mine.headers["X-CSRF-Token"].upper()},
             {"X-CSRF-Token": text_of(mine)}]
    for headers in wrong:
        for method, path in (("POST", "/v1/webhooks"), ("PATCH", "/v1/webhooks/x"),
                             ("PUT", "/v1/webhooks/x"), ("DELETE", "/v1/dlq?all=true"),
                             ("POST", "/v1/events"), ("DELETE", "/v1/sessions")):
            answer = bare.request(method, path, None, {"Cookie": cookie, **headers})
            assert (answer.status, answer.json["code"]) == (403, "csrf_token_required"), path
    for method in ("GET", "HEAD"):
        assert bare.request(method, "/v1/webhooks", None, {"Cookie": cookie}).status == 200
    assert mine.request("POST", "/v1/webhooks", {}).status == 422
    bare.close()


def test_authorization_overrides_the_cookie(server, api):
    reader = make_key(api, scope="read")["key"]
    cookie = {"Cookie": server.sign_in(ADMIN).headers["Cookie"]}
    both = server.api(reader)
    assert both.request("GET", "/v1/webhooks", None, cookie).status == 200
    assert both.request("GET", "/v1/tenants", None, cookie).status == 403
    assert server.api("wrong").request("GET", "/v1/webhooks", None, cookie).status == 401
    assert both.request("GET", "/v1/sessions", None, cookie).status == 401
    assert api.request("POST", "/v1/webhooks", {}, cookie).status == 422, "needs no CSRF token"


def test_damaged_cookies_are_refused(server):
    good = server.sign_in(ADMIN).headers["Cookie"]
    text = good.partition("=")[2]
    client = server.api(key=None)
    for cookie, expected in ((good, 200), (f"a=b; {good}; c=d", 200), (f"{good}; {good}", 401),
                             (f'postrider_session="{text}"', 401), (good + "x", 401),
                             (good.upper(), 401), (good[:-1], 401), ("postrider_session", 401),
                             (f"postrider_session={ADMIN_KEY}", 401), (";=;;", 401)):
        answer = client.request("GET", "/v1/webhooks", None, {"Cookie": cookie})
        assert answer.status == expected, cookie
    client.close()


def test_sign_out_ends_the_session_on_the_server_too(server):
    client, other = server.sign_in(ADMIN), server.sign_in(ADMIN)
    answer = client.request("DELETE", "/v1/sessions")
    assert answer.status == 204
    assert answer.headers["set-cookie"].startswith("postrider_session=; Path=/; HttpOnly")
    assert "Max-Age=0" in answer.headers["set-cookie"]
    assert (status(client), status(client, "/v1/sessions"), status(other)) == (401, 401, 200)


def test_sign_in_and_sign_out_are_audited_for_the_key(own_server):
    server = own_server().start()
    api = server.api()
    key = make_key(api, scope="read", name="ops")
    client = server.sign_in({"key": key["key"]})
    client.delete("/v1/sessions")
    entries = api.get("/v1/audit-log?limit=2")["data"]
    assert [entry["action"] for entry in entries] == ["session.delete", "session.create"]
    assert {(entry["actor"], entry["actor_name"]) for entry in entries} == {(key["id"], "ops")}
    assert text_of(client) not in json.dumps(entries)


# ---------------------------------------------------------------- the end of a session

def test_a_revoked_key_ends_its_sessions_and_their_streams(own_server, make_world):
    server = own_server().start()
    world = make_world(server)
    world.hook()
    key = make_key(world.api, scope="admin", name="leaked")
    direct = server.sign_in({"key": key["key"]})
    link = direct.post("/v1/sign-in-links", {}, expect=201)["token"]
    linked = server.sign_in({"token": link})
    unused = linked.post("/v1/sign-in-links", {}, expect=201)["token"]
    streams = [Stream(server, key=None, cookie=client.headers["Cookie"])
               for client in (direct, linked)]
    assert {stream.status for stream in streams} == {200}
    event = world.publish()["id"]
    for stream in streams:
        assert stream.wait("delivery")["data"]["event_id"] == event
    world.api.delete(f"/v1/api-keys/{key['id']}")
    assert (status(direct), status(linked)) == (401, 401)
    assert attempt(server, {"token": unused}).status == 410
    world.publish()  # The streams end with the next thing that they would have shown.
    for stream in streams:
        wait_for(lambda: stream.next() is None, "the end of the stream")
    server.kill()
    server.start()
    assert status(again(direct, server)) == 401


def test_a_stream_ends_at_sign_out(server, world):
    world.hook()
    client = server.sign_in(ADMIN)
    stream = Stream(server, key=None, cookie=client.headers["Cookie"])
    assert stream.status == 200
    client.delete("/v1/sessions")
    world.publish()
    wait_for(lambda: stream.next() is None, "the end of the stream")


def test_a_session_expires_and_is_removed(own_server):
    server = own_server().start()
    api = server.api()
    link = api.post("/v1/sign-in-links", {"session_seconds": 1}, expect=201)["token"]
    client = server.sign_in({"token": link})
    wait_for(lambda: status(client) == 401, "the session to expire")
    assert client.request("POST", "/v1/webhooks", {}).status == 401
    link = api.post("/v1/sign-in-links", {"expires_in_seconds": 1}, expect=201)
    ends_at = datetime.datetime.fromisoformat(link["expires_at"].replace("Z", "+00:00"))
    wait_for(lambda: datetime.datetime.now(datetime.timezone.utc) > ends_at, "the link's end")
    assert attempt(server, {"token": link["token"]}).status == 410


def test_a_session_survives_a_restart_and_kill_9(own_server):
    server = own_server().start()
    client = server.sign_in(ADMIN)
    token = client.get("/v1/sessions")["csrf_token"]
    server.kill()
    server.start()
    assert again(client, server).get("/v1/sessions")["csrf_token"] == token
    server.stop()
    server.start()
    assert again(client, server).post("/v1/tenants", {"id": "a"}, expect=201)
    client.delete("/v1/sessions")
    server.kill()
    server.start()
    assert status(again(client, server)) == 401, "signed out for good"


def test_another_admin_key_in_the_environment_ends_the_sessions_of_the_first(own_server):
    server = own_server().start()
    client = server.sign_in(ADMIN)
    server.stop()
    server.environment["POSTRIDER_ADMIN_KEY"] = "another-key-of-24-bytes"
    server.start()
    assert status(again(client, server)) == 401


def test_the_sessions_of_a_key_are_bounded(own_server):
    server = own_server("--set", "api.unauthenticated_rate_limit.requests_per_second=0").start()
    first = server.sign_in(ADMIN)
    second = server.sign_in(ADMIN)
    for _ in range(99):
        server.sign_in(ADMIN).close()
    assert (status(first), status(second)) == (401, 200)
    assert len(server.api().all("/v1/api-keys")) == 1, "sessions are no API keys"


# ---------------------------------------------------------------- tenants

def test_two_tenants_do_not_reach_each_other(server, make_world):
    mine, theirs = make_world(server), make_world(server)
    my_hook, their_hook = mine.hook(), theirs.hook()
    sessions = []
    for world in (mine, theirs):
        link = world.api.post("/v1/portal-links", {"tenant_id": world.tenant}, expect=201)
        sessions.append(server.sign_in({"token": link["token"]}))
    visitor, neighbour = sessions
    assert [hook["id"] for hook in visitor.all("/v1/webhooks")] == [my_hook.id]
    secret = visitor.get(f"/v1/webhooks/{my_hook.id}/secret")
    assert secret["secret"].startswith("whsec_")
    read = mine.api.get(f"/v1/audit-log?tenant_id={mine.tenant}&limit=1")["data"][0]
    assert (read["action"], read["actor_name"]) == ("webhook.secret.read", "portal session")
    assert status(visitor, f"/v1/webhooks/{their_hook.id}/secret") == 404
    key = make_key(neighbour, name="own")
    assert (key["scope"], key["tenant_id"], key["role"]) == ("tenant", theirs.tenant, "admin")
    assert visitor.all("/v1/api-keys") == []
    assert visitor.request("GET", f"/v1/api-keys/{key['id']}").status == 404
    assert visitor.request("DELETE", f"/v1/api-keys/{key['id']}").status == 404
    for body in ({"scope": "admin"}, {"scope": "read"}, {"tenant_id": theirs.tenant}):
        assert visitor.request("POST", "/v1/api-keys", body).status == 422, body
    assert status(server.api(key["key"])) == 200
    crossed = server.api(key=None)
    crossed.headers = {"Cookie": visitor.headers["Cookie"],
                       "X-CSRF-Token": neighbour.headers["X-CSRF-Token"]}
    assert crossed.request("POST", "/v1/api-keys", {}).json["code"] == "csrf_token_required"
    neighbour.delete(f"/v1/api-keys/{key['id']}")
    assert status(server.api(key["key"])) == 401
    for path in ("/v1/tenants", "/v1/audit-log", f"/v1/tenants/{mine.tenant}/limits"):
        assert status(visitor, path) == 403, path


def test_a_viewer_has_neither_keys_nor_secrets(server, world):
    hook = world.hook()
    body = {"tenant_id": world.tenant, "role": "viewer"}
    viewer = server.sign_in(
        {"token": world.api.post("/v1/portal-links", body, expect=201)["token"]})
    assert viewer.get("/v1/sessions")["role"] == "viewer"
    assert status(viewer, f"/v1/webhooks/{hook.id}") == 200
    assert status(viewer, f"/v1/webhooks/{hook.id}/secret") == 403
    assert status(viewer, "/v1/api-keys") == 403
    assert viewer.request("POST", "/v1/api-keys", {}).status == 403


def test_a_suspended_tenant_is_shut_out_but_can_sign_out(server, world):
    world.api.post("/v1/tenants", {"id": world.tenant}, expect=201)
    key = make_key(world.api, scope="tenant", tenant_id=world.tenant)["key"]
    client = server.sign_in({"key": key})
    world.api.post(f"/v1/tenants/{world.tenant}/suspend")
    for answer in (client.request("GET", "/v1/webhooks"), client.request("GET", "/v1/sessions"),
                   attempt(server, {"key": key})):
        assert (answer.status, answer.json["code"]) == (403, "tenant_suspended"), answer
    assert status(server.api(key)) == 200, "keys can still read"
    assert client.request("DELETE", "/v1/sessions").status == 204
    world.api.post(f"/v1/tenants/{world.tenant}/resume")
    assert status(client) == 401


def test_branding_comes_from_the_link_or_the_settings(own_server):
    server = own_server("--set", "portal.title=Hooks", "--set",
                        "portal.primary_color=#112233").start()
    api = server.api()
    assert server.sign_in(ADMIN).get("/v1/sessions")["branding"] == {
        "title": "Hooks", "logo_url": None, "primary_color": "#112233"}
    hostile = '<img src=x onerror="alert(1)">'
    link = api.post("/v1/portal-links", {"tenant_id": "acme", "branding": {
        "title": hostile, "logo_url": "https://cdn.example.com/logo.svg"}}, expect=201)
    client = server.sign_in({"token": link["token"]})
    server.kill()
    server.start()
    assert again(client, server).get("/v1/sessions")["branding"] == {
        "title": hostile, "logo_url": "https://cdn.example.com/logo.svg",
        "primary_color": "#112233"}
    for branding in ({"title": "x" * 101}, {"logo_url": "javascript:alert(1)"},
                     {"logo_url": "//evil.example/x"}, {"primary_color": "red;}"}):
        refused = server.api().request("POST", "/v1/portal-links",
                                       {"tenant_id": "acme", "branding": branding})
        assert refused.status == 422, branding
    api.close()


def test_a_bad_setting_of_the_portal_is_refused():
    for setting in ("portal.primary_color=red", "portal.logo_url=http://x/", "portal.title=a\tb"):
        code, _, err = run_command("serve", "--set", setting, "--print-config")
        assert code != 0 and setting.partition("=")[0] in err, (setting, err)
