"""Bulk retries of dead letters: filters, rates, schedules, cancellation, restarts."""

import datetime

from harness import metric, metrics_page, wait_for
from operations import count_dead_letters, make_dead_letters, start, wait_finished
from receiver import Reply

# No circuit breaker: these tests are about what is retried and when.
UNRESTRICTED = {"circuit_breaker_config": {"enabled": False}, "max_in_flight": 50}


def retry_batch(world, hook, **fields):
    return start(world.api, "POST", "/v1/dlq/retry-batch",
                 {"filter": {"webhook_ids": [hook.id]}, **fields})


def test_a_batch_retries_every_dead_letter_that_matches_its_filter(world):
    hook = world.hook("hook", Reply(404), **UNRESTRICTED)
    other = world.hook("other", Reply(404), **UNRESTRICTED)
    make_dead_letters(world, hook, 30)
    wait_for(lambda: count_dead_letters(world, other) == 30, "the other's dead letters")
    world.receiver.on(hook.path, Reply())
    world.receiver.on(other.path, Reply())
    answer = retry_batch(world, hook, priority="high")
    assert answer["batch_operation_id"] == answer["id"]
    assert answer["id"].startswith("opr_")
    assert (answer["kind"], answer["priority"]) == ("retry_batch", "high")
    done = wait_finished(world.api, answer)
    assert (done["status"], done["total"], done["done"], done["failed"]) == ("completed", 30, 30, 0)
    assert (done["requeued"], done["succeeded"], done["waiting"]) == (30, 30, 0)
    assert world.api.get(f"/v1/dlq/batch-operations/{answer['id']}") == done
    wait_for(lambda: len(world.requests(hook)) == 60, "all retries to arrive")
    assert len(world.requests(other)) == 30
    succeeded = f"/v1/webhooks/{hook.id}/deliveries?status=succeeded"
    wait_for(lambda: len(world.api.all(succeeded)) == 30, "all deliveries to succeed")
    found = world.api.all(succeeded)
    assert {item["trigger"] for item in found} == {"manual"}
    assert {item["priority"] for item in found} == {"high"}
    listed = world.api.get("/v1/operations?kind=retry_batch&status=completed&limit=250")["data"]
    assert answer["id"] in [item["id"] for item in listed]


def test_filters_restrict_by_type_category_and_time(world):
    hook = world.hook("hook", lambda request: Reply(
        404 if request.header("x-webhook-event") == "a.gone" else 413), **UNRESTRICTED)
    make_dead_letters(world, hook, 3, type="a.gone")
    make_dead_letters(world, hook, 5, type="a.large", start=3)

    def total(**filter):
        """How many dead letters a batch with this filter retries. All of them fail again."""
        operation = start(world.api, "POST", "/v1/dlq/retry-batch",
                          {"filter": {"webhook_ids": [hook.id], **filter}})
        done = wait_finished(world.api, operation)
        assert (done["status"], done["done"]) == ("completed", done["total"])
        wait_for(lambda: count_dead_letters(world, hook) == 8, "all of them to fail again")
        return done["total"]
    assert total(event_types=["a.gone"]) == 3
    assert total(failure_categories=["payload_too_large"]) == 5
    assert total(classification="permanent") == 8
    assert total(classification="recoverable") == 0
    assert total(to="2020-01-01T00:00:00Z") == 0

    world.receiver.on(hook.path, Reply())
    operation = start(world.api, "POST", "/v1/dlq/retry-batch", {
        "filter": {"webhook_ids": [hook.id], "event_types": ["a.large"],
                   "failure_categories": ["payload_too_large", "client_error"],
                   "classification": "permanent", "from": "2020-01-01T00:00:00Z"}})
    assert wait_finished(world.api, operation)["done"] == 5
    assert count_dead_letters(world, hook) == 3


def test_concurrent_batches_retry_each_dead_letter_once(world):
    hook = world.hook("hook", Reply(404), **UNRESTRICTED)
    make_dead_letters(world, hook, 60)
    world.receiver.on(hook.path, Reply())
    batches = [retry_batch(world, hook, rate_limit={"requests_per_second": 100})
               for _ in range(3)]
    ended = [wait_finished(world.api, operation) for operation in batches]
    for done in ended:
        assert done["status"] == "completed"
        assert done["done"] + done["skipped"] + done["failed"] == done["total"], done
    assert sum(done["done"] for done in ended) == 60, "each was retried once"


def test_event_types_in_a_filter_are_names_or_patterns(world):
    hook = world.hook("hook", Reply(404), **UNRESTRICTED)
    make_dead_letters(world, hook, 2, type="a.gone")
    make_dead_letters(world, hook, 3, type="a.b.gone", start=2)
    make_dead_letters(world, hook, 1, type="ab.gone", start=5)
    world.receiver.on(hook.path, Reply())
    operation = start(world.api, "POST", "/v1/dlq/retry-batch", {
        "filter": {"webhook_ids": [hook.id], "event_types": ["a.*"]}})
    done = wait_finished(world.api, operation)
    assert (done["total"], done["done"]) == (5, 5)
    assert count_dead_letters(world, hook) == 1


def test_a_batch_keeps_its_rate_limit(world):
    hook = world.hook("hook", Reply(404), **UNRESTRICTED)
    make_dead_letters(world, hook, 30)
    world.receiver.on(hook.path, Reply())
    operation = retry_batch(world, hook, rate_limit={"requests_per_second": 20})
    running = wait_finished(world.api, operation, "running")
    assert running["rate_limit"] == {"requests_per_second": 20}
    assert wait_finished(world.api, operation)["done"] == 30
    world.wait_requests(hook, 60)
    arrivals = sorted(request.started for request in world.requests(hook)[30:])
    # At 20 per second the last of 30 arrives at least 1.45 s after the first.
    assert arrivals[-1] - arrivals[0] > 1.3
    for first, later in zip(arrivals, arrivals[10:]):
        assert later - first > 0.25, "the rate is far above 20 per second"


def test_a_delivery_that_fails_again_is_not_retried_twice(world):
    hook = world.hook("hook", Reply(404), **UNRESTRICTED)
    make_dead_letters(world, hook, 20)
    operation = retry_batch(world, hook, rate_limit={"requests_per_second": 50})
    done = wait_finished(world.api, operation)
    assert (done["total"], done["done"]) == (20, 20)
    wait_for(lambda: count_dead_letters(world, hook) == 20, "all dead again")
    assert len(world.requests(hook)) == 40


def test_a_cancelled_operation_stops(world):
    hook = world.hook("hook", Reply(404), **UNRESTRICTED)
    make_dead_letters(world, hook, 40)
    world.receiver.on(hook.path, Reply())
    operation = retry_batch(world, hook, rate_limit={"requests_per_second": 10})
    wait_for(lambda: world.api.get(f"/v1/operations/{operation['id']}")["done"] >= 2,
             "two retries")
    cancelled = world.api.post(f"/v1/dlq/batch-operations/{operation['id']}/cancel")
    assert cancelled["status"] == "cancelled"
    assert cancelled["finished_at"] is not None
    wait_for(lambda: world.api.get(f"/v1/webhooks/{hook.id}/health")["deliveries"] ==
             {"pending": 0, "retrying": 0, "dead_letter": 40 - cancelled["done"]},
             "the others to stay dead letters")
    assert 2 <= cancelled["done"] < 40
    found = world.api.get(f"/v1/operations/{operation['id']}")
    assert (found["status"], found["done"], found["finished_at"]) == (
        "cancelled", cancelled["done"], cancelled["finished_at"])
    again = world.api.request("POST", f"/v1/operations/{operation['id']}/cancel")
    assert (again.status, again.json["code"]) == (409, "conflict")


def test_kill_9_in_the_middle_of_a_batch_loses_nothing(own_server, make_world):
    server = own_server().start()
    world = make_world(server)
    hook = world.hook("hook", Reply(404), **UNRESTRICTED)
    make_dead_letters(world, hook, 120)
    world.receiver.on(hook.path, Reply())
    operation = retry_batch(world, hook, rate_limit={"requests_per_second": 100})
    for _ in range(2):
        before = world.api.get(f"/v1/operations/{operation['id']}")["done"]
        wait_for(lambda: world.api.get(f"/v1/operations/{operation['id']}")["done"] > before,
                 "some progress")
        server.kill()
        world.api = server.start().api()
    done = wait_finished(world.api, operation)
    assert (done["status"], done["total"]) == ("completed", 120)
    assert done["done"] + done["skipped"] == 120
    wait_for(lambda: len(world.api.all(
        f"/v1/webhooks/{hook.id}/deliveries?status=succeeded")) == 120, "all deliveries to succeed")
    assert count_dead_letters(world, hook) == 0
    size = f'webhook_dlq_size{{tenant_id="{world.tenant}"}}'
    assert metric(metrics_page(world.api), size) == 0


def test_an_operation_resumes_after_a_graceful_restart(own_server, make_world):
    server = own_server().start()
    world = make_world(server)
    hook = world.hook("hook", Reply(404), **UNRESTRICTED)
    make_dead_letters(world, hook, 40)
    world.receiver.on(hook.path, Reply())
    operation = retry_batch(world, hook, rate_limit={"requests_per_second": 20})
    wait_for(lambda: world.api.get(f"/v1/operations/{operation['id']}")["done"] >= 2,
             "two retries")
    server.stop()
    world.api = server.start().api()
    done = wait_finished(world.api, operation)
    assert (done["status"], done["done"]) == ("completed", 40)
    wait_for(lambda: len(world.requests(hook)) >= 80, "all retries to arrive")
    assert len({request.webhook_id for request in world.requests(hook)}) == 40


def test_a_scheduled_batch_starts_at_its_time_and_is_scheduled_again(world):
    hook = world.hook("hook", Reply(404), **UNRESTRICTED)
    make_dead_letters(world, hook, 2)
    later = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=1)
    operation = retry_batch(world, hook, start_at=later.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z",
                            repeat_every_seconds=60)
    assert operation["status"] == "scheduled"
    assert world.api.get(f"/v1/operations/{operation['id']}")["status"] == "scheduled"

    def look():
        found = world.api.get(f"/v1/operations/{operation['id']}")
        return found if found["finished_at"] else None
    ran = wait_for(look, "a run")
    assert ran["runs"] == 1
    assert ran["status"] == "scheduled"
    assert ran["done"] == 2
    assert ran["started_at"] >= operation["start_at"]
    assert ran["start_at"] > ran["finished_at"], "the next run is a minute later"
    world.api.post(f"/v1/operations/{operation['id']}/cancel")


def test_dead_letters_of_a_deleted_webhook_cannot_be_retried(world):
    hook = world.hook("hook", Reply(404), **UNRESTRICTED)
    make_dead_letters(world, hook, 3)
    world.api.delete(f"/v1/webhooks/{hook.id}")
    done = wait_finished(world.api, retry_batch(world, hook))
    assert (done["status"], done["total"], done["done"], done["failed"]) == ("completed", 3, 0, 3)


def test_an_invalid_batch_is_refused_with_the_field(world):
    for body, field in [
            ({"filter": {"webhook_ids": ["nobody"]}}, "filter.webhook_ids"),
            ({"filter": {"webhook_ids": []}}, "filter.webhook_ids"),
            ({"filter": {"event_types": [""]}}, "filter.event_types"),
            ({"filter": {"event_types": ["a b"]}}, "filter.event_types"),
            ({"filter": {"event_types": ["order.*.paid"]}}, "filter.event_types"),
            ({"filter": {"failure_categories": ["bad luck"]}}, "filter.failure_categories"),
            ({"filter": {"from": "2026-01-02T00:00:00Z", "to": "2026-01-01T00:00:00Z"}},
             "filter.to"),
            ({"filter": {"colour": 1}}, "filter.colour"),
            ({"rate_limit": {"requests_per_second": 0}}, "rate_limit.requests_per_second"),
            ({"rate_limit": {"requests_per_second": 10_001}}, "rate_limit.requests_per_second"),
            ({"priority": "urgent"}, "priority"),
            ({"repeat_every_seconds": 59}, "repeat_every_seconds"),
            ({"start_at": "tomorrow"}, "start_at"),
            ({"start_at": "2100-01-01T00:00:00Z"}, "start_at"),
            ({"unknown": 1}, "unknown")]:
        answer = world.api.request("POST", "/v1/dlq/retry-batch", body)
        assert answer.status == 422, (body, answer)
        assert [error["field"] for error in answer.json["errors"]] == [field], answer
    assert world.api.request("GET", "/v1/operations/opr_nothing").status == 404
    assert world.api.request("GET", "/v1/operations?status=lost").status == 400
    assert world.api.request("GET", "/v1/operations?cursor=abc").status == 400
