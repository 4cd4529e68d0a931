"""Dry runs: a replay, a bulk retry and a discard say what they would act on and start nothing."""

from operations import make_dead_letters, wait_finished
from receiver import Reply

LONG_AGO = "2020-01-01T00:00:00Z"


def operations(world):
    return world.api.all("/v1/operations")


def test_a_count_is_what_the_operation_then_does(world):
    hook = world.hook("hook", Reply(404), circuit_breaker_config={"enabled": False})
    make_dead_letters(world, hook, 3)
    other = world.hook("other", Reply(404), circuit_breaker_config={"enabled": False})
    before = operations(world)
    # `other` missed the events of `hook`.
    replay = f"/v1/webhooks/{other.id}/replay"
    assert world.api.post(replay, {"since": LONG_AGO, "dry_run": True}) == {
        "count": 3, "more": False}
    batch = {"filter": {"webhook_ids": [hook.id]}}
    assert world.api.post("/v1/dlq/retry-batch", {**batch, "dry_run": True}) == {
        "count": 3, "more": False}
    discard = f"/v1/dlq?webhook_id={hook.id}"
    counted = world.api.request("DELETE", discard + "&dry_run=true")
    assert (counted.status, counted.json) == (200, {"count": 3, "more": False})
    assert operations(world) == before
    assert world.requests(other) == []

    replayed = world.api.post(replay, {"since": LONG_AGO}, expect=202)
    assert wait_finished(world.api, replayed)["total"] == 3
    discarded = world.api.request("DELETE", discard)
    assert discarded.status == 202
    assert wait_finished(world.api, discarded.json)["total"] == 3
    assert world.api.request("DELETE", discard + "&dry_run=true").json["count"] == 0


def test_a_dry_run_does_not_use_its_idempotency_key(world):
    hook = world.hook("hook", Reply(404), circuit_breaker_config={"enabled": False})
    make_dead_letters(world, hook, 1)
    key = {"Idempotency-Key": f"dry-{hook.id}"}
    body = {"filter": {"webhook_ids": [hook.id]}, "dry_run": True}
    for _ in range(2):
        counted = world.api.request("POST", "/v1/dlq/retry-batch", body, key)
        assert (counted.status, counted.json["count"]) == (200, 1)
        assert "idempotent-replayed" not in counted.headers
    started = world.api.request("POST", "/v1/dlq/retry-batch", {**body, "dry_run": False}, key)
    assert started.status == 202
