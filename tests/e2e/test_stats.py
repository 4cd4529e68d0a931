"""Statistics over time: GET /v1/stats and the metrics page."""

from harness import metric, metrics_page, wait_for, wait_metric
from receiver import Reply
from world import FAST


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
    assert total["success_rate"] == 0.5
    duration = total["duration_ms"]
    assert 0 < duration["p50"] <= duration["p95"] <= duration["p99"]
    assert duration["average"] > 0

    by_webhook = {item["webhook_id"]: item for item in answer["webhooks"]["data"]}
    assert answer["webhooks"]["data"][0]["webhook_id"] == flaky.id, "most attempts first"
    assert by_webhook[good.id]["success_rate"] == 1
    assert by_webhook[flaky.id]["success_rate"] == 0.5
    assert by_webhook[dead.id]["success_rate"] == 0
    assert by_webhook[dead.id]["dead_letters"] == 1
    assert sum(bucket["attempts"] for bucket in answer["buckets"]) == 4

    one = stats_of(world, webhook_id=good.id, bucket="5m")
    assert one["total"]["attempts"] == 1
    assert [item["webhook_id"] for item in one["webhooks"]["data"]] == [good.id]


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
    assert stats_of(world, webhook_id=hook.id)["total"]["succeeded"] == 50


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

    wait_metric(world.api, 'http_server_requests_total{result="handled"}', lambda n: n >= 6)
    text = metrics_page(world.api)
    assert metric(text, "webhook_transport_connections_opened_total") == connections
    assert metric(text, "webhook_transport_connections_reused_total") == 5 - connections
    assert metric(text, "webhook_transport_connections_idle") >= 1
    assert metric(text, "http_server_connections") >= 1
    assert metric(text, 'http_server_connections_total{result="refused"}') == 0
    assert metric(text, "webhook_archive_failures_total") == 0
