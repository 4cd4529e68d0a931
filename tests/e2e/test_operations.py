"""Dead letters in bulk: retried at a rate, interrupted, repeated, cancelled, killed."""

import datetime

from harness import wait_for
from operations import dead_count, kill_off, start, wait_over
from receiver import Reply

# Nothing of the circuit in the way: these tests are about who is sent again and when.
OPEN_DOOR = {"circuit_breaker_config": {"enabled": False}, "max_in_flight": 50}


def retry_batch(world, hook, **fields):
    return start(world.api, "POST", "/v1/dlq/retry-batch",
                 {"filter": {"webhook_ids": [hook.id]}, **fields})


def test_a_batch_brings_every_dead_letter_of_its_filter_back(world):
    hook = world.hook("hook", Reply(404), **OPEN_DOOR)
    other = world.hook("other", Reply(404), **OPEN_DOOR)
    kill_off(world, hook, 30)
    wait_for(lambda: dead_count(world, other) == 30, "the other's dead letters")
    world.receiver.on(hook.path, Reply())
    world.receiver.on(other.path, Reply())
    answer = retry_batch(world, hook, priority="high")
    assert answer["batch_operation_id"] == answer["id"]
    assert answer["id"].startswith("opr_")
    assert (answer["kind"], answer["priority"]) == ("retry_batch", "high")
    done = wait_over(world.api, answer)
    assert (done["status"], done["total"], done["done"], done["failed"]) == ("completed", 30, 30, 0)
    assert world.api.get(f"/v1/dlq/batch-operations/{answer['id']}") == done
    wait_for(lambda: len(world.requests(hook)) == 60, "all of them again")
    assert len(world.requests(other)) == 30
    succeeded = f"/v1/webhooks/{hook.id}/deliveries?status=succeeded"
    wait_for(lambda: len(world.api.all(succeeded)) == 30, "all of them delivered")
    found = world.api.all(succeeded)
    assert {item["trigger"] for item in found} == {"manual"}
    assert {item["priority"] for item in found} == {"high"}
    listed = world.api.get("/v1/operations?kind=retry_batch&status=completed&limit=250")["data"]
    assert answer["id"] in [item["id"] for item in listed]


def test_filters_restrict_by_type_category_and_time(world):
    hook = world.hook("hook", lambda request: Reply(
        404 if request.header("x-webhook-event") == "a.gone" else 413), **OPEN_DOOR)
    kill_off(world, hook, 3, type="a.gone")
    kill_off(world, hook, 5, type="a.large", start=3)

    def total(**filter):
        operation = start(world.api, "POST", "/v1/dlq/retry-batch",
                          {"filter": {"webhook_ids": [hook.id], **filter},
                           "start_at": "2027-01-01T00:00:00Z"})
        world.api.post(f"/v1/operations/{operation['id']}/cancel")
        answer = world.api.get(
            f"/v1/dlq?webhook_id={hook.id}&" + "&".join(f"{key.rstrip('s')}={value[0]}"
            if isinstance(value, list) else f"{key}={value}" for key, value in filter.items()))
        return len(answer["data"])
    assert total(event_types=["a.gone"]) == 3
    assert total(classification="permanent") == 8
    assert total(to="2020-01-01T00:00:00Z") == 0

    world.receiver.on(hook.path, Reply())
    operation = start(world.api, "POST", "/v1/dlq/retry-batch", {
        "filter": {"webhook_ids": [hook.id], "event_types": ["a.large"],
                   "failure_categories": ["payload_too_large", "client_error"],
                   "classification": "permanent", "from": "2020-01-01T00:00:00Z"}})
    assert wait_over(world.api, operation)["done"] == 5
    assert dead_count(world, hook) == 3


def test_two_batches_at_once_account_for_everything_they_counted(world):
    hook = world.hook("hook", Reply(404), **OPEN_DOOR)
    kill_off(world, hook, 60)
    world.receiver.on(hook.path, Reply())
    both = [retry_batch(world, hook, rate_limit={"requests_per_second": 100}) for _ in range(3)]
    ended = [wait_over(world.api, operation) for operation in both]
    for done in ended:
        assert done["status"] == "completed"
        assert done["done"] + done["skipped"] + done["failed"] == done["total"], done
    assert sum(done["done"] for done in ended) == 60, "each came back once"


def test_types_are_names_or_patterns(world):
    hook = world.hook("hook", Reply(404), **OPEN_DOOR)
    kill_off(world, hook, 2, type="a.gone")
    kill_off(world, hook, 3, type="a.b.gone", start=2)
    kill_off(world, hook, 1, type="ab.gone", start=5)
    world.receiver.on(hook.path, Reply())
    operation = start(world.api, "POST", "/v1/dlq/retry-batch", {
        "filter": {"webhook_ids": [hook.id], "event_types": ["a.*"]}})
    done = wait_over(world.api, operation)
    assert (done["total"], done["done"]) == (5, 5)
    assert dead_count(world, hook) == 1


def test_the_receiver_sees_the_rate_that_was_asked_for(world):
    hook = world.hook("hook", Reply(404), **OPEN_DOOR)
    kill_off(world, hook, 30)
    world.receiver.on(hook.path, Reply())
    operation = retry_batch(world, hook, rate_limit={"requests_per_second": 20})
    running = wait_over(world.api, operation, "running")
    assert running["rate_limit"] == {"requests_per_second": 20}
    assert wait_over(world.api, operation)["done"] == 30
    world.wait_requests(hook, 60)
    arrivals = sorted(request.started for request in world.requests(hook)[30:])
    # The first comes after a twentieth of a second, the last no earlier than 1.45 s after it.
    assert arrivals[-1] - arrivals[0] > 1.3
    for first, later in zip(arrivals, arrivals[10:]):
        assert later - first > 0.25, "more than 20 a second, by far"


def test_what_dies_again_is_not_picked_up_twice(world):
    hook = world.hook("hook", Reply(404), **OPEN_DOOR)
    kill_off(world, hook, 20)
    done = wait_over(world.api, retry_batch(world, hook, rate_limit={"requests_per_second": 50}))
    assert (done["total"], done["done"]) == (20, 20)
    wait_for(lambda: dead_count(world, hook) == 20, "all dead again")
    assert len(world.requests(hook)) == 40


def test_a_cancelled_operation_stops(world):
    hook = world.hook("hook", Reply(404), **OPEN_DOOR)
    kill_off(world, hook, 40)
    world.receiver.on(hook.path, Reply())
    operation = retry_batch(world, hook, rate_limit={"requests_per_second": 10})
    wait_for(lambda: world.api.get(f"/v1/operations/{operation['id']}")["done"] >= 2, "some")
    cancelled = world.api.post(f"/v1/dlq/batch-operations/{operation['id']}/cancel")
    assert cancelled["status"] == "cancelled"
    assert cancelled["finished_at"] is not None
    wait_for(lambda: world.api.get(f"/v1/webhooks/{hook.id}/health")["deliveries"] ==
             {"pending": 0, "retrying": 0, "dead_letter": 40 - cancelled["done"]}, "rest")
    assert world.api.get(f"/v1/operations/{operation['id']}") == cancelled
    again = world.api.request("POST", f"/v1/operations/{operation['id']}/cancel")
    assert (again.status, again.json["code"]) == (409, "conflict")


def test_kill_9_in_the_middle_of_a_batch_loses_nothing(own_server, make_world):
    server = own_server().start()
    world = make_world(server)
    hook = world.hook("hook", Reply(404), **OPEN_DOOR)
    kill_off(world, hook, 120)
    world.receiver.on(hook.path, Reply())
    operation = retry_batch(world, hook, rate_limit={"requests_per_second": 100})
    for _ in range(2):
        before = world.api.get(f"/v1/operations/{operation['id']}")["done"]
        wait_for(lambda: world.api.get(f"/v1/operations/{operation['id']}")["done"] > before,
                 "some progress")
        server.kill()
        world.api = server.start().api()
    done = wait_over(world.api, operation)
    assert (done["status"], done["total"]) == ("completed", 120)
    assert done["done"] + done["skipped"] == 120
    wait_for(lambda: len(world.api.all(
        f"/v1/webhooks/{hook.id}/deliveries?status=succeeded")) == 120, "all of them delivered")
    assert dead_count(world, hook) == 0
    text = world.api.request("GET", "/metrics").body.decode()
    assert f'webhook_dlq_size{{tenant_id="{world.tenant}"}} 0' in text


def test_a_drained_server_goes_on_after_its_restart(own_server, make_world):
    server = own_server().start()
    world = make_world(server)
    hook = world.hook("hook", Reply(404), **OPEN_DOOR)
    kill_off(world, hook, 40)
    world.receiver.on(hook.path, Reply())
    operation = retry_batch(world, hook, rate_limit={"requests_per_second": 20})
    wait_for(lambda: world.api.get(f"/v1/operations/{operation['id']}")["done"] >= 2, "some")
    server.stop()
    world.api = server.start().api()
    done = wait_over(world.api, operation)
    assert (done["status"], done["done"]) == ("completed", 40)
    wait_for(lambda: len(world.requests(hook)) >= 80, "everything")
    assert len({request.webhook_id for request in world.requests(hook)}) == 40


def test_a_batch_starts_when_it_is_told_to_and_repeats(world):
    hook = world.hook("hook", Reply(404), **OPEN_DOOR)
    kill_off(world, hook, 2)
    later = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=1)
    operation = retry_batch(world, hook, start_at=later.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z",
                            repeat_every_seconds=60)
    assert operation["status"] == "scheduled"
    assert world.api.get(f"/v1/operations/{operation['id']}")["status"] == "scheduled"
    ran = wait_for(lambda: next((found for found in [
        world.api.get(f"/v1/operations/{operation['id']}")] if found["runs"] == 1), None), "a run")
    assert ran["status"] == "scheduled"
    assert ran["done"] == 2
    assert ran["started_at"] >= operation["start_at"]
    assert ran["start_at"] > ran["finished_at"], "the next run is a minute later"
    world.api.post(f"/v1/operations/{operation['id']}/cancel")


def test_dead_letters_of_a_deleted_webhook_cannot_come_back(world):
    hook = world.hook("hook", Reply(404), **OPEN_DOOR)
    kill_off(world, hook, 3)
    world.api.delete(f"/v1/webhooks/{hook.id}")
    done = wait_over(world.api, retry_batch(world, hook))
    assert (done["status"], done["total"], done["done"], done["failed"]) == ("completed", 3, 0, 3)


def test_a_bad_batch_is_refused_naming_the_field(world):
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
