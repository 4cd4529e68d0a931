"""Reads for a dashboard: the history of a circuit, small charts, and finding by status and id."""

from harness import wait_for
from receiver import Reply


def test_the_history_of_a_circuit_survives_a_restart(own_server, receiver):
    server = own_server().start()
    api = server.api()
    hook = api.post("/v1/webhooks", {"url": receiver.url("/circuit"), "events": ["*"]},
                    expect=201)
    path = f"/v1/webhooks/{hook['id']}/circuit-breaker"
    for action in ("force_open", "reset", "force_open"):
        api.patch(path, {"action": action})
    before = wait_for(lambda: len(found := api.all(path + "/history")) == 2 and found, "2 periods")
    assert [period["reason"] for period in before] == ["forced", "forced"]
    assert before[0]["ended_at"] is None and before[1]["ended_at"] >= before[1]["opened_at"]
    assert before[0]["opened_at"] >= before[1]["ended_at"]
    assert [hook["id"]] == [one["id"] for one in api.get("/v1/webhooks?circuit=open")["data"]]
    assert api.get("/v1/webhooks?circuit=closed")["data"] == []
    server.kill()
    server.start()
    after = server.api().all(path + "/history")
    assert [period["opened_at"] for period in after] == [period["opened_at"] for period in before]


def test_a_chart_shows_the_attempts_of_each_webhook(world):
    good = world.hook("good", Reply(200), events=["a.*"])
    bad = world.hook("bad", Reply(404), events=["b.*"])
    for kind, hook in (("a.one", good), ("a.one", good), ("b.one", bad)):
        world.wait_done(world.publish(kind)["id"], hook)
    charts = world.api.get(f"/v1/stats/webhooks?ids={bad.id},{good.id}&period=24h")["data"]
    assert [chart["webhook_id"] for chart in charts] == [bad.id, good.id]
    assert [chart["success_rate"] for chart in charts] == [0, 1]
    for chart, succeeded, failed in ((charts[0], 0, 1), (charts[1], 2, 0)):
        assert len(chart["buckets"]) == 24
        assert sum(bucket["succeeded"] for bucket in chart["buckets"]) == succeeded
        assert sum(bucket["failed"] for bucket in chart["buckets"]) == failed


def test_webhooks_are_found_by_status_and_deliveries_by_id(world):
    hooks = {name: world.hook(name) for name in ("active", "paused", "disabled")}
    world.api.post(f"/v1/webhooks/{hooks['paused'].id}/pause")
    world.api.patch(f"/v1/webhooks/{hooks['disabled'].id}", {"active": False})
    for name, hook in hooks.items():
        found = world.api.all(f"/v1/webhooks?tenant_id={world.tenant}&status={name}")
        assert [one["id"] for one in found] == [hook.id]
    event = world.publish()["id"]
    done = world.wait_done(event, hooks["active"])
    for query in (done["id"], f"{done['id']}&status=succeeded"):
        found = world.api.all(f"/v1/deliveries?q={query}")
        assert [one["id"] for one in found] == [done["id"]]
    assert len(world.api.all(f"/v1/deliveries?q={event}")) == 2
    assert world.api.all(f"/v1/deliveries?q={done['id']}&status=pending") == []
