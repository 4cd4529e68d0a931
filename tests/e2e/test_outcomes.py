"""What a bulk retry or replay tells about the deliveries it requeued."""

import json

from harness import wait_for
from operations import make_dead_letters, start, wait_finished
from receiver import Reply
from world import FAST, SLOW

UNRESTRICTED = {"circuit_breaker_config": {"enabled": False}, "max_in_flight": 50}
NOBODY = {"requeued": 0, "succeeded": 0, "dead_again": 0, "cancelled": 0, "waiting": 0}


def retry_batch(world, hook, **fields):
    return start(world.api, "POST", "/v1/dlq/retry-batch",
                 {"filter": {"webhook_ids": [hook.id]}, **fields})


def outcome(operation):
    """The counts, which must always add up."""
    counts = {name: operation[name] for name in NOBODY}
    assert counts["requeued"] == sum(counts.values()) - counts["requeued"], operation
    return counts


def read(world, operation):
    found = world.api.get(f"/v1/operations/{operation['id']}")
    outcome(found)
    return found


def wait_requeued(world, operation):
    def look():
        found = read(world, operation)
        return found if found["requeue_finished_at"] else None
    return wait_for(look, f"{operation['id']} to requeue everything")


def wait_outcome(world, operation, **wanted):
    def look():
        found = read(world, operation)
        return found if outcome(found) == {**NOBODY, **wanted} else None
    return wait_for(look, f"{operation['id']} to have {wanted}")


def refusing(refuses):
    """A receiver that answers 404 to the events whose number `refuses`."""
    return lambda request: Reply(404 if refuses(json.loads(request.body)["data"]["n"]) else 200)


def test_a_batch_is_completed_once_everything_has_settled(world):
    hook = world.hook("hook", Reply(404), **UNRESTRICTED)
    make_dead_letters(world, hook, 6)
    world.receiver.on(hook.path, refusing(lambda number: number == 1))
    world.receiver.hold(hook.path)
    operation = retry_batch(world, hook)
    requeued = wait_requeued(world, operation)
    assert requeued["status"] == "running", "nothing has settled yet"
    assert outcome(requeued) == {**NOBODY, "requeued": 6, "waiting": 6}
    assert (requeued["done"], requeued["finished_at"]) == (6, None)
    running = world.api.get("/v1/operations?status=running&limit=250")["data"]
    assert operation["id"] in [item["id"] for item in running]
    world.receiver.release(hook.path)
    done = wait_finished(world.api, operation)
    assert done["status"] == "completed"
    assert outcome(done) == {**NOBODY, "requeued": 6, "succeeded": 5, "dead_again": 1}
    assert done["requeue_finished_at"] <= done["finished_at"]
    assert world.api.get(f"/v1/dlq/batch-operations/{operation['id']}") == done
    assert done["eta"] is None


def test_deliveries_that_are_being_retried_are_waiting(world):
    hook = world.hook("hook", Reply(404), retry_config=SLOW, **UNRESTRICTED)
    make_dead_letters(world, hook, 3)
    world.receiver.on(hook.path, Reply(503), Reply(503), Reply(503), Reply())
    operation = retry_batch(world, hook)
    deliveries = f"/v1/webhooks/{hook.id}/deliveries?status=retrying"
    wait_for(lambda: len(world.api.all(deliveries)) == 3, "three failures")
    assert read(world, operation)["status"] == "running"
    assert outcome(read(world, operation)) == {**NOBODY, "requeued": 3, "waiting": 3}

    first, second, _ = world.api.all(deliveries)
    world.api.post(f"/v1/deliveries/{first['id']}/retry", expect=202)
    wait_outcome(world, operation, requeued=3, succeeded=1, waiting=2)
    world.api.post(f"/v1/deliveries/{second['id']}/cancel")
    wait_outcome(world, operation, requeued=3, succeeded=1, cancelled=1, waiting=1)
    assert read(world, operation)["status"] == "running"
    world.api.delete(f"/v1/webhooks/{hook.id}")
    done = wait_finished(world.api, operation)
    assert done["status"] == "completed", "the deliveries of a deleted webhook are cancelled"
    assert outcome(done) == {**NOBODY, "requeued": 3, "succeeded": 1, "cancelled": 2}


def test_a_replay_counts_new_and_revived_deliveries(world):
    world.publish_numbered(2)  # Before there is a webhook.
    hook = world.hook("hook", Reply(404), **UNRESTRICTED)
    make_dead_letters(world, hook, 2)
    world.receiver.on(hook.path, Reply(404), Reply())
    operation = start(world.api, "POST", f"/v1/webhooks/{hook.id}/replay",
                      {"since": "2020-01-01T00:00:00Z"})
    done = wait_finished(world.api, operation)
    assert (done["status"], done["total"], done["done"]) == ("completed", 4, 4)
    assert outcome(done) == {**NOBODY, "requeued": 4, "succeeded": 3, "dead_again": 1}


def test_a_cancelled_operation_still_counts_what_it_requeued(world):
    hook = world.hook("hook", Reply(404), **UNRESTRICTED)
    make_dead_letters(world, hook, 40)
    world.receiver.on(hook.path, Reply())
    world.receiver.hold(hook.path)
    operation = retry_batch(world, hook, rate_limit={"requests_per_second": 20})
    wait_for(lambda: read(world, operation)["requeued"] >= 2, "two retries")
    cancelled = world.api.post(f"/v1/operations/{operation['id']}/cancel")
    assert (cancelled["status"], cancelled["requeue_finished_at"]) == ("cancelled", None)
    requeued = cancelled["requeued"]
    assert 2 <= requeued == cancelled["waiting"] < 40
    world.receiver.release(hook.path)
    done = wait_outcome(world, operation, requeued=requeued, succeeded=requeued)
    assert (done["status"], done["finished_at"]) == ("cancelled", cancelled["finished_at"])


def test_a_delivery_counts_for_the_operation_that_revived_it(world):
    hook = world.hook("hook", Reply(404), **UNRESTRICTED)
    make_dead_letters(world, hook, 2)
    first = wait_finished(world.api, retry_batch(world, hook))
    assert outcome(first) == {**NOBODY, "requeued": 2, "dead_again": 2}
    world.receiver.on(hook.path, Reply())
    by_hand = world.api.all(f"/v1/dlq?webhook_id={hook.id}")[0]
    world.api.post(f"/v1/deliveries/{by_hand['id']}/retry", expect=202)
    wait_for(lambda: world.api.get(f"/v1/deliveries/{by_hand['id']}")["status"] == "succeeded",
             "the manual retry")
    second = wait_finished(world.api, retry_batch(world, hook))
    assert outcome(second) == {**NOBODY, "requeued": 1, "succeeded": 1}
    assert read(world, first) == first, "the first has told its outcome"


def test_a_discard_requeues_nothing(world):
    hook = world.hook("hook", Reply(404), **UNRESTRICTED)
    make_dead_letters(world, hook, 2)
    done = wait_finished(world.api, start(world.api, "DELETE", f"/v1/dlq?webhook_id={hook.id}"))
    assert (done["status"], done["done"]) == ("completed", 2)
    assert outcome(done) == NOBODY


def test_outcomes_are_exact_after_kill_9(own_server, make_world):
    server = own_server().start()
    world = make_world(server)
    hook = world.hook("hook", Reply(404), retry_config=FAST, **UNRESTRICTED)
    make_dead_letters(world, hook, 60)
    world.receiver.on(hook.path, refusing(lambda number: number % 3 == 0))
    operation = retry_batch(world, hook, rate_limit={"requests_per_second": 60})
    for part in (5, 25):
        wait_for(lambda: read(world, operation)["succeeded"] >= part, f"{part} successes")
        server.kill()
        world.api = server.start().api()
    done = wait_finished(world.api, operation)
    assert (done["status"], done["total"]) == ("completed", 60)
    assert done["requeued"] + done["skipped"] == 60
    counted = outcome(done)
    for status, name in (("succeeded", "succeeded"), ("dead_letter", "dead_again")):
        found = world.api.all(f"/v1/webhooks/{hook.id}/deliveries?status={status}")
        assert len(found) == counted[name], status
    assert (counted["succeeded"], counted["dead_again"]) == (40, 20)


def test_an_operation_waits_across_a_restart_for_its_last_delivery(own_server, make_world):
    server = own_server().start()
    world = make_world(server)
    hook = world.hook("hook", Reply(404), retry_config=SLOW, **UNRESTRICTED)
    make_dead_letters(world, hook, 2)
    world.receiver.on(hook.path, Reply(), Reply(503), Reply())
    operation = retry_batch(world, hook)
    wait_outcome(world, operation, requeued=2, succeeded=1, waiting=1)
    server.kill()
    world.api = server.start().api()
    assert read(world, operation)["status"] == "running"
    waiting = wait_for(lambda: world.api.all(
        f"/v1/webhooks/{hook.id}/deliveries?status=retrying"), "the failed one")[0]
    world.api.post(f"/v1/deliveries/{waiting['id']}/retry", expect=202)
    done = wait_finished(world.api, operation)
    assert (done["status"], done["succeeded"]) == ("completed", 2)


def test_a_repeating_batch_does_not_wait_for_outcomes(world):
    hook = world.hook("hook", Reply(404), retry_config=SLOW, **UNRESTRICTED)
    make_dead_letters(world, hook, 2)
    world.receiver.on(hook.path, Reply(503))
    operation = retry_batch(world, hook, repeat_every_seconds=60)
    ran = wait_requeued(world, operation)
    assert (ran["status"], ran["runs"], ran["finished_at"]) == ("scheduled", 1, None)
    assert outcome(ran) == {**NOBODY, "requeued": 2, "waiting": 2}
    world.api.post(f"/v1/operations/{operation['id']}/cancel")
