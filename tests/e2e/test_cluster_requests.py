"""Three nodes: what is asked of one of them about a webhook that another one works is done."""

from cluster import publish
from harness import metrics_page, wait_for
from metric_pages import sum_of
from operations import make_dead_letters, start, wait_finished
from receiver import Reply


def test_dead_letters_are_retried_by_whichever_node_is_asked(apis, spread):
    hooks = [spread.hook(f"hook-{number}", Reply(404), Reply()) for number in range(6)]
    event = publish(apis[0], spread)
    for number, hook in enumerate(hooks):
        dead = spread.wait_done(event["id"], hook)
        apis[number % 3].post(f"/v1/deliveries/{dead['id']}/retry", expect=202)
        spread.wait_status(event["id"], hook, "succeeded")
        assert len(spread.requests(hook)) == 2


def test_every_node_counts_the_dead_letters_of_all(apis, spread):
    hooks = [spread.hook(f"hook-{number}", Reply(404), max_in_flight=20,
                         circuit_breaker_config={"enabled": False}) for number in range(6)]
    stats = f"/v1/stats?tenant_id={spread.tenant}"

    def counted():
        """What each node shows, in the metric and in the statistics."""
        return [number for api in apis for number in (
            sum_of(metrics_page(api), "webhook_dlq_size", tenant_id=spread.tenant),
            api.get(stats)["now"]["dead_letters"])]

    for number in range(10):
        publish(apis[number % 3], spread)
    wait_for(lambda: set(counted()) == {60}, "every node to count them")
    for hook in hooks:
        spread.receiver.on(hook.path, Reply())
    for each in apis[0].all(f"/v1/dlq?tenant_id={spread.tenant}"):
        apis[2].post(f"/v1/deliveries/{each['id']}/retry", expect=202)
        assert min(counted()) >= 0
    wait_for(lambda: set(counted()) == {0}, "no node to count any")


def test_a_delivery_cancelled_on_any_node_is_not_sent_again(apis, spread):
    hooks = [spread.hook(f"hook-{number}", Reply(500), retry_config={
        "base_delay_ms": 1000, "max_delay_ms": 1000, "max_attempts": 50}) for number in range(6)]
    event = publish(apis[0], spread)
    for number, hook in enumerate(hooks):
        waiting = spread.wait_status(event["id"], hook, "retrying")
        apis[number % 3].post(f"/v1/deliveries/{waiting['id']}/cancel")
    sent = [len(spread.requests(hook)) for hook in hooks]
    later = [publish(apis[number % 3], spread, "later.type") for number in range(6)]
    for hook in hooks:
        for each in later:
            spread.wait_status(each["id"], hook, "retrying")
    after = [sum(request.webhook_id == event["id"] for request in spread.requests(hook))
             for hook in hooks]
    # The node that works the webhook may have begun an attempt just before it learned of it.
    assert all(now <= before + 1 for before, now in zip(sent, after))


def test_a_test_event_is_answered_by_whichever_node_is_asked(apis, spread):
    hooks = [spread.hook(f"hook-{number}") for number in range(6)]
    for number, hook in enumerate(hooks):
        for api in apis:
            answer = api.post(f"/v1/webhooks/{hook.id}/test")
            assert answer["attempt"]["status"] == "succeeded"
        assert len(spread.requests(hook)) == 3, number


def test_a_circuit_is_opened_and_reset_by_whichever_node_is_asked(apis, spread):
    hooks = [spread.hook(f"hook-{number}") for number in range(6)]
    for number, hook in enumerate(hooks):
        path = f"/v1/webhooks/{hook.id}/circuit-breaker"
        apis[number % 3].patch(path, {"action": "force_open"})
        spread.wait_circuit(hook, "open")
        for api in apis:
            wait_for(lambda api=api, hook=hook: api.get(
                f"/v1/webhooks/{hook.id}")["circuit"]["state"] == "open", "every node to show it")
    event = publish(apis[1], spread)
    for number, hook in enumerate(hooks):
        assert spread.wait_blocked(event["id"], hook)["blocked"]["reason"] == "circuit"
        assert spread.requests(hook) == []
        apis[(number + 1) % 3].patch(f"/v1/webhooks/{hook.id}/circuit-breaker",
                                     {"action": "reset"})
    for hook in hooks:
        assert spread.wait_done(event["id"], hook)["status"] == "succeeded"


def test_a_bulk_retry_is_done_wherever_it_was_asked_for(apis, spread):
    hooks = [spread.hook(f"hook-{number}", Reply(404), max_in_flight=20,
                         circuit_breaker_config={"enabled": False}) for number in range(4)]
    make_dead_letters(spread, hooks[0], 20)
    for number, hook in enumerate(hooks):
        wait_for(lambda hook=hook: len(apis[0].all(f"/v1/dlq?webhook_id={hook.id}")) == 20,
                 "the dead letters")
        spread.receiver.on(hook.path, Reply())
        operation = start(apis[number % 3], "POST", "/v1/dlq/retry-batch",
                          {"filter": {"webhook_ids": [hook.id]}})
        done = wait_finished(apis[(number + 1) % 3], operation)
        assert (done["status"], done["done"]) == ("completed", 20)
        spread.wait_requests(hook, 40)


def test_a_replay_is_done_wherever_it_was_asked_for(apis, spread):
    for number in range(10):
        publish(apis[number % 3], spread, data={"n": number})
    for number in range(3):
        hook = spread.hook(f"late-{number}")
        operation = start(apis[number], "POST", f"/v1/webhooks/{hook.id}/replay",
                          {"since": "2020-01-01T00:00:00Z"})
        assert wait_finished(apis[(number + 1) % 3], operation)["done"] == 10
        spread.wait_requests(hook, 10)
        assert sorted(spread.numbers(hook)) == list(range(10))


def test_an_operation_is_cancelled_on_another_node(apis, spread):
    hook = spread.hook("hook", Reply(404), max_in_flight=20,
                       circuit_breaker_config={"enabled": False})
    make_dead_letters(spread, hook, 40)
    spread.receiver.on(hook.path, Reply())
    for number in range(3):
        operation = start(apis[number], "POST", "/v1/dlq/retry-batch",
                          {"filter": {"webhook_ids": [hook.id]},
                           "rate_limit": {"requests_per_second": 5}})
        other = apis[(number + 1) % 3]
        wait_for(lambda operation=operation, other=other: other.get(
            f"/v1/operations/{operation['id']}")["done"] >= 1, "its first step")
        cancelled = other.post(f"/v1/operations/{operation['id']}/cancel")
        assert cancelled["status"] == "cancelled"
        ended = apis[(number + 2) % 3].get(f"/v1/operations/{operation['id']}")
        assert ended["status"] == "cancelled"
    assert len(spread.requests(hook)) < 60
