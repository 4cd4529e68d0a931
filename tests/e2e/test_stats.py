"""Statistics over time: GET /v1/stats and the metrics page."""

from harness import metric, metrics_page, wait_for, wait_metric
from receiver import Reply
from world import FAST, SLOW, World


def stats_of(world, **query):
    words = "".join(f"&{name}={value}" for name, value in query.items())
    return world.api.get(f"/v1/stats?tenant_id={world.tenant}{words}")


def wait_attempts(world, count):
    def look():
        answer = stats_of(world)
        return answer if answer["total"]["attempts"] >= count else None
    return wait_for(look, f"{count} attempts to be counted")


def test_attempts_are_counted_by_outcome(world):
    good = world.hook("good")
    flaky = world.hook("flaky", Reply(503), Reply(200), retry_config=FAST)
    dead = world.hook("dead", Reply(404))
    world.publish()
    answer = wait_attempts(world, 4)

    total = answer["total"]
    assert total["published"] == 1
    assert total["deliveries"] == 3
    assert total["attempts"] == 4
    assert total["succeeded"] == 2
    assert total["failed"] == 2
    assert total["retries"] == 1
    assert total["dead_letters"] == 1
    assert total["failures"] == {"server_error": 1, "client_error": 1}
    assert total["success_rate"] == 0.5, "per attempt"
    assert (total["deliveries_succeeded"], total["deliveries_failed"]) == (2, 1)
    assert total["delivery_success_rate"] == 2 / 3
    duration = total["duration_ms"]
    assert 0 < duration["p50"] <= duration["p95"] <= duration["p99"]
    assert duration["average"] > 0

    by_webhook = {item["webhook_id"]: item for item in answer["webhooks"]["data"]}
    assert answer["webhooks"]["data"][0]["webhook_id"] == flaky.id, "most attempts first"
    assert by_webhook[good.id]["success_rate"] == 1
    assert by_webhook[flaky.id]["success_rate"] == 0.5
    assert by_webhook[flaky.id]["delivery_success_rate"] == 1
    assert by_webhook[dead.id]["success_rate"] == 0
    assert by_webhook[dead.id]["dead_letters"] == 1
    assert sum(bucket["attempts"] for bucket in answer["buckets"]) == 4

    one = stats_of(world, webhook_id=good.id, bucket="5m")
    assert one["total"]["attempts"] == 1
    assert [item["webhook_id"] for item in one["webhooks"]["data"]] == [good.id]


def test_a_webhook_whose_attempts_all_fail_is_the_worst_before_a_delivery_has_settled(world):
    world.hook("good", name="Good")
    world.hook("dead", Reply(404), name="Dead")
    world.hook("failing", Reply(503), name="Failing", retry_config=FAST | {"max_attempts": 100},
               circuit_breaker_config={"enabled": False})
    paused = world.hook("paused", name="Paused")
    world.api.post(f"/v1/webhooks/{paused.id}/pause")
    world.publish()

    def ranked():
        rows = stats_of(world, sort="worst")["webhooks"]["data"]
        by_name = {row["name"]: row for row in rows}
        done = {"Good", "Dead", "Failing"} <= by_name.keys() and by_name["Failing"]["attempts"] >= 2
        return rows if done and all(row["attempts"] for row in rows[:3]) else None
    rows = wait_for(ranked, "the attempts to be counted")
    assert [row["name"] for row in rows] == ["Failing", "Dead", "Good", "Paused"]
    assert (rows[0]["delivery_success_rate"], rows[0]["success_rate"]) == (None, 0)


# ---------------------------------------------------------------- the load at this moment

def load_of(api, **query):
    words = "&".join(f"{name}={value}" for name, value in query.items())
    return api.get(f"/v1/stats?{words}")["now"]


def load(waiting=0, in_flight=0, dead_letters=0, open_circuits=0):
    return {"waiting": waiting, "in_flight": in_flight, "dead_letters": dead_letters,
            "open_circuits": open_circuits}


def wait_load(api, expected, **query):
    wait_for(lambda: load_of(api, **query) == expected, f"the load {expected} of {query}")


def test_the_load_of_each_tenant_is_exact(own_server, receiver):
    """With several io threads, across retries, a restart and the removal of a webhook."""
    server = own_server("--set", "io_threads=4").start()
    acme = World(server.api(), receiver, "acme")
    other = World(server.api(), receiver, "other")
    held = [acme.hook(f"held{number}") for number in range(8)]  # On all io threads.
    for hook in held:
        acme.api.post(f"/v1/webhooks/{hook.id}/pause")
    receiver.hold(other.path("slow"))
    slow = [other.hook("slow"), other.hook("slow2", Reply(404)),
            other.hook("slow3", Reply(500), retry_config=SLOW)]
    acme.publish_numbered(5)
    other.publish_numbered(2)
    keys = {tenant: server.api(acme.api.post(
        "/v1/api-keys", {"scope": "tenant", "tenant_id": tenant}, expect=201)["key"])
        for tenant in ("acme", "other", "idle")}

    # In flight: two to `slow`. Dead: two of `slow2`. Waiting: two of `slow3`.
    of_other = load(waiting=2, in_flight=2, dead_letters=2)
    wait_load(acme.api, of_other, tenant_id="other")
    assert load_of(keys["other"]) == of_other
    assert load_of(keys["acme"]) == load(waiting=40)
    assert load_of(keys["idle"]) == load()
    assert load_of(keys["acme"], tenant_id="other") == load(), "of another tenant"
    assert load_of(acme.api) == load(waiting=42, in_flight=2, dead_letters=2)
    assert load_of(acme.api, webhook_id=held[0].id) is None

    acme.api.request("PATCH", f"/v1/webhooks/{held[0].id}/circuit-breaker",
                     {"action": "force_open"})
    wait_load(keys["acme"], load(waiting=40, open_circuits=1))
    receiver.release(other.path("slow"))
    wait_load(keys["other"], load(waiting=2, dead_letters=2))
    [retried, *_] = other.api.all("/v1/dlq?tenant_id=other")
    other.api.post(f"/v1/webhooks/{slow[1].id}/pause")
    other.api.post(f"/v1/deliveries/{retried['id']}/retry", expect=202)
    wait_load(keys["other"], load(waiting=3, dead_letters=1))

    for client in (acme.api, other.api, *keys.values()):
        client.close()
    server.stop()
    server.start()
    api = server.api()
    wait_load(api, load(waiting=40, open_circuits=1), tenant_id="acme")
    wait_load(api, load(waiting=3, dead_letters=1), tenant_id="other")
    api.delete(f"/v1/webhooks/{held[0].id}")
    wait_load(api, load(waiting=35), tenant_id="acme")
    for item in api.all(f"/v1/deliveries?webhook_id={held[1].id}"):
        api.post(f"/v1/deliveries/{item['id']}/cancel", expect=200)
    wait_load(api, load(waiting=30), tenant_id="acme")
    for hook in held[2:]:
        api.post(f"/v1/webhooks/{hook.id}/resume")
    wait_load(api, load(), tenant_id="acme")
    wait_load(api, load(waiting=3, dead_letters=1))
    api.close()


def test_the_view_of_seven_days_shows_the_worst_webhook_first(world):
    """Name, URL, deliveries, successful, failed, success rate and average response time."""
    good = world.hook("good", name="Good")
    half = world.hook("half", Reply(404), Reply(200), name="Half", max_in_flight=1)
    flaky = world.hook("flaky", Reply(503), Reply(200), retry_config=FAST, name="Flaky")
    dead = world.hook("dead", Reply(404), name="Dead")
    for event_id in world.publish_numbered(2):
        for hook in (good, half, flaky, dead):
            world.wait_done(event_id, hook)

    def week():
        return stats_of(world, period="7d", sort="worst")["webhooks"]["data"]
    rows = week()
    assert [row["name"] for row in rows] == ["Dead", "Half", "Flaky", "Good"]
    assert [row["webhook_id"] for row in rows] == [dead.id, half.id, flaky.id, good.id]
    assert [row["url"] for row in rows] == [hook.created["url"]
                                            for hook in (dead, half, flaky, good)]
    assert [row["deliveries"] for row in rows] == [2, 2, 2, 2]
    assert [row["deliveries_succeeded"] for row in rows] == [0, 1, 2, 2]
    assert [row["deliveries_failed"] for row in rows] == [2, 1, 0, 0]
    assert [row["delivery_success_rate"] for row in rows] == [0, 0.5, 1, 1]
    assert [row["success_rate"] for row in rows] == [0, 0.5, 2 / 3, 1]
    assert all(row["duration_ms"]["average"] > 0 for row in rows)
    first = world.api.get(f"/v1/stats?tenant_id={world.tenant}&period=7d&sort=worst&limit=1")
    assert [row["name"] for row in first["webhooks"]["data"]] == ["Dead"]

    health = world.api.get(f"/v1/webhooks/{half.id}/health")["last_7_days"]
    assert health == {name: value for name, value in rows[1].items()
                      if name not in ("webhook_id", "name", "url")}

    # A dead letter that is delivered after all is a success.
    world.receiver.on(dead.path, Reply())
    for item in world.api.all(f"/v1/dlq?webhook_id={dead.id}"):
        world.api.post(f"/v1/deliveries/{item['id']}/retry", expect=202)

    def delivered():
        return {row["name"]: row for row in week()}["Dead"]["deliveries_succeeded"] == 2
    wait_for(delivered, "the retries to be counted")
    row = {row["name"]: row for row in week()}["Dead"]
    assert (row["deliveries_failed"], row["delivery_success_rate"]) == (0, 1)
    assert (row["success_rate"], row["dead_letters"]) == (0.5, 2)
    world.api.delete(f"/v1/webhooks/{half.id}")
    gone = {row["webhook_id"]: row for row in week()}[half.id]
    assert (gone["name"], gone["url"], gone["deliveries_succeeded"]) == (None, None, 1)


def test_a_tenants_key_sees_only_its_own_webhooks(server, world, make_world):
    other = make_world(server)
    mine, theirs = world.hook(name="Mine"), other.hook(name="Theirs")
    world.wait_done(world.publish()["id"], mine)
    other.wait_done(other.publish()["id"], theirs)
    key = world.api.post("/v1/api-keys", {"scope": "tenant", "tenant_id": world.tenant},
                         expect=201)
    client = server.api(key["key"])
    answer = client.get("/v1/stats?period=7d&sort=worst")
    assert [row["name"] for row in answer["webhooks"]["data"]] == ["Mine"]
    assert answer["total"]["deliveries_succeeded"] == 1
    assert client.get(f"/v1/stats?webhook_id={theirs.id}")["webhooks"]["data"] == []
    assert client.get(f"/v1/webhooks/{mine.id}/health")["last_7_days"]["deliveries"] == 1
    assert client.request("GET", f"/v1/webhooks/{theirs.id}/health").status == 404
    client.close()
    world.api.delete(f"/v1/api-keys/{key['id']}")
    other.clean()


def test_statistics_survive_kill_9(own_server, make_world):
    server = own_server().start()
    world = make_world(server)
    hook = world.hook()
    world.publish_batch([{"type": "a.b", "data": {"n": number}} for number in range(50)])
    wait_attempts(world, 50)
    server.kill()
    server.start()
    world.api = server.api()
    assert stats_of(world)["total"]["attempts"] == 50
    total = stats_of(world, webhook_id=hook.id)["total"]
    assert (total["succeeded"], total["deliveries_succeeded"]) == (50, 50)


def test_an_invalid_query_is_refused(api):
    answer = api.request("GET", "/v1/stats?bucket=1w")
    assert answer.status == 400
    assert answer.json["errors"][0]["field"] == "bucket"
    assert "5m, 1h or 1d" in answer.json["detail"]


def test_the_metrics_page_shows_incoming_and_outgoing_connections(own_server, make_world):
    server = own_server().start()
    world = make_world(server)
    hook = world.hook()
    for number in range(5):
        world.publish(data={"n": number})
        world.wait_requests(hook, number + 1)
    connections = len({request.connection for request in world.requests(hook)})

    wait_metric(world.api, 'postrider_http_requests_total{result="handled"}', lambda n: n >= 6)
    text = metrics_page(world.api)
    assert metric(text, "postrider_transport_connections_opened_total") == connections
    assert metric(text, "postrider_transport_connections_reused_total") == 5 - connections
    assert metric(text, "postrider_transport_connections_idle") >= 1
    assert metric(text, "postrider_http_connections_open") >= 1
    assert metric(text, 'postrider_http_connections_total{result="refused"}') == 0
    assert metric(text, "postrider_archive_failures_total") == 0
