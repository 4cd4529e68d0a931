"""A repeated publish is answered with the first answer, whatever became of the deliveries."""

import pytest

from cli import Cli
from receiver import Hang, Reply
from world import SLOW

CONFLICT = ("--set", "idempotency.in_progress=conflict")


def by_api(world, expect):
    answer = world.publish(data={"a": 1}, idempotency_key="by-api", expect=expect)
    assert expect == 409 or answer["duplicate"] is (expect == 200)
    return answer["id"]


def in_a_batch(world, expect):
    answer = world.publish_batch([{"type": "order.created", "data": {"a": 1},
                                   "idempotency_key": "in-a-batch"}])
    assert answer["accepted"] == (1 if expect == 202 else 0)
    result = answer["results"][0]
    assert result["status"] == expect and result["duplicate"] is (expect != 202)
    return result["id"]


def by_command(world, expect):
    code, stdout, stderr = Cli(world.api.port).run(
        "send", "--tenant", world.tenant, "--type", "order.created", "--data", '{"a": 1}',
        "--idempotency-key", "by-command")
    if expect == 409:
        assert code == 1 and "409" in stderr, (code, stdout, stderr)
        return None
    assert (code, stderr) == (0, "")
    assert ("was published before" in stdout) is (expect == 200), stdout
    return stdout.split()[0]


def publish(world, expect=202):
    """Publishes an event in every way. Returns their ids."""
    return [way(world, expect) for way in (by_api, in_a_batch, by_command)]


def assert_repeats(world, first, status=200):
    again = publish(world, status)
    assert again == (first if status == 200 else [*first[:2], None])


def waiting(world):
    hook = world.hook("hook", Reply(500), retry_config=SLOW)
    first = publish(world)
    world.wait_requests(hook, len(first))
    return first


def in_flight(world):
    hook = world.hook("hook", Hang(), timeout_ms=300_000)
    first = publish(world)
    world.wait_requests(hook, len(first))
    return first


def paused(world):
    hook = world.hook()
    world.api.post(f"/v1/webhooks/{hook.id}/pause")
    return publish(world)


def dead(world):
    hook = world.hook("hook", Reply(404))
    first = publish(world)
    for event in first:
        world.wait_status(event, hook, "dead_letter")
    return first


def succeeded(world):
    hook = world.hook()
    first = publish(world)
    for event in first:
        world.wait_done(event, hook)
    return first


def webhook_deleted(world):
    hook = world.hook("hook", Reply(500), retry_config=SLOW)
    first = publish(world)
    world.api.delete(f"/v1/webhooks/{hook.id}")
    for event in first:
        world.wait_status(event, hook, "cancelled")
    return first


def cancelled(world):
    hook = world.hook("hook", Reply(500), retry_config=SLOW)
    first = publish(world)
    for event in first:
        delivery = world.wait_status(event, hook, "retrying")
        world.api.post(f"/v1/deliveries/{delivery['id']}/cancel")
    return first


def without_deliveries(world):
    return publish(world)


UNDER_WAY = [waiting, in_flight, paused]
ENDED = [dead, succeeded, webhook_deleted, cancelled, without_deliveries]


def name(case):
    return case.__name__


@pytest.mark.parametrize("case", UNDER_WAY + ENDED, ids=name)
def test_a_repeat_is_200_whatever_became_of_the_deliveries(world, case):
    assert_repeats(world, case(world))


@pytest.mark.parametrize("how", ["stop", "kill"])
def test_a_repeat_is_200_after_a_restart(own_server, make_world, how):
    server = own_server("--drain-timeout", "1").start()
    world = make_world(server)
    first = waiting(world)
    getattr(server, how)()
    server.start()
    world.api = server.api()
    assert_repeats(world, first)


@pytest.mark.parametrize("case", UNDER_WAY, ids=name)
def test_with_the_setting_a_repeat_is_409_while_deliveries_are_under_way(own_server, make_world,
                                                                         case):
    server = own_server("--drain-timeout", "0", *CONFLICT).start()
    world = make_world(server)
    first = case(world)
    assert_repeats(world, first, status=409)
    server.kill()
    server.start()
    world.api = server.api()
    assert_repeats(world, first, status=409)


@pytest.mark.parametrize("case", ENDED, ids=name)
def test_with_the_setting_a_repeat_is_200_when_the_deliveries_have_ended(own_server, make_world,
                                                                         case):
    server = own_server(*CONFLICT).start()
    world = make_world(server)
    assert_repeats(world, case(world))


def test_the_setting_follows_a_delivery_to_its_end(own_server, make_world):
    server = own_server(*CONFLICT).start()
    world = make_world(server)
    hook = world.hook()
    world.receiver.hold(hook.path)
    first = publish(world)
    world.wait_requests(hook, len(first))
    assert_repeats(world, first, status=409)
    world.receiver.release(hook.path)
    for event in first:
        world.wait_done(event, hook)
    assert_repeats(world, first)


def test_a_repeat_is_200_after_retention_while_the_key_is_remembered(own_server, make_world):
    server = own_server("--retention-events-ms", "1", "--retention-dead-letters-ms", "1").start()
    world = make_world(server)
    hook = world.hook("hook", Reply(404))
    first = publish(world)
    world.wait_requests(hook, len(first))
    # Every start runs retention at once.
    server.stop()
    server.start()
    world.api = server.api()
    assert_repeats(world, first)


def test_a_repeat_with_another_body_is_still_refused(world):
    first = waiting(world)
    other = world.publish(data={"a": 2}, idempotency_key="by-api", expect=422)
    assert (other["code"], other["id"]) == ("idempotency_key_reused", first[0])
