"""Three nodes on one database: what is changed on one is known to all (docs/decisions/0042).

Whatever a node has answered holds for the next request, on any node.
"""

import concurrent.futures
import itertools

from cluster import in_parallel, publish
from harness import wait_for
from receiver import Reply
from world import SLOW

_names = itertools.count(1)


def test_a_new_webhook_gets_the_next_event_wherever_it_is_published(apis, spread):
    for number in range(50):
        spread.api = apis[number % 3]
        hook = spread.hook(f"hook-{number}", events=[f"type.n{number}"])
        answer = publish(apis[(number + 1) % 3], spread, f"type.n{number}")
        assert answer["deliveries"] == 1, f"the webhook number {number} was missed"
        spread.wait_requests(hook, 1)


def test_an_edited_webhook_is_used_for_the_next_event(apis, spread):
    hook = spread.hook("before")
    for number in range(20):
        path = spread.path(f"after-{number}")
        apis[number % 3].patch(f"/v1/webhooks/{hook.id}", {"url": spread.receiver.url(path)})
        publish(apis[(number + 1) % 3], spread)
        wait_for(lambda path=path: spread.receiver.count(path) == 1, f"the event at {path}")
    assert spread.requests(hook) == []


def test_an_edit_holds_for_deliveries_that_wait(apis, spread):
    hook = spread.hook("before", Reply(500), retry_config=SLOW)
    event = publish(apis[1], spread)
    delivery = spread.wait_status(event["id"], hook, "retrying")
    after = spread.path("after")
    apis[2].patch(f"/v1/webhooks/{hook.id}", {"url": spread.receiver.url(after)})
    apis[0].post(f"/v1/deliveries/{delivery['id']}/retry", expect=202)
    assert spread.wait_done(event["id"], hook)["status"] == "succeeded"
    assert (len(spread.requests(hook)), spread.receiver.count(after)) == (1, 1)


def test_a_paused_webhook_gets_nothing_until_it_is_resumed_elsewhere(apis, spread):
    hook, control = spread.hook(), spread.hook("control")
    for number in range(10):
        apis[number % 3].post(f"/v1/webhooks/{hook.id}/pause")
        event = publish(apis[(number + 1) % 3], spread)
        spread.wait_requests(control, number + 1)
        assert spread.wait_blocked(event["id"], hook)["blocked"]["reason"] == "paused"
        assert len(spread.requests(hook)) == number
        apis[(number + 2) % 3].post(f"/v1/webhooks/{hook.id}/resume")
        spread.wait_requests(hook, number + 1)


def test_a_removed_webhook_gets_neither_new_nor_waiting_events(apis, spread):
    control = spread.hook("control")
    for number in range(10):
        hook = spread.hook(f"hook-{number}", Reply(500), retry_config=SLOW)
        waiting = publish(apis[number % 3], spread)
        spread.wait_status(waiting["id"], hook, "retrying")
        apis[(number + 1) % 3].delete(f"/v1/webhooks/{hook.id}")
        assert publish(apis[(number + 2) % 3], spread)["deliveries"] == 1
        wait_for(lambda hook=hook: not apis[0].get(
            f"/v1/deliveries?webhook_id={hook.id}&status=retrying")["data"], "the cancel")
        assert len(spread.requests(hook)) == 1
    spread.wait_requests(control, 20)


def test_a_key_works_at_once_everywhere_and_is_refused_at_once_after_its_removal(cluster, apis):
    for number in range(10):
        made = apis[number % 3].post("/v1/api-keys", {"scope": "publish"}, expect=201)
        others = [cluster.nodes[(number + step) % 3].api(made["key"]) for step in (1, 2)]
        for client in others:
            assert client.request("POST", "/v1/events", {"type": "a.b", "data": 1}).status == 202
        apis[(number + 2) % 3].delete(f"/v1/api-keys/{made['id']}")
        for client in others:
            assert client.request("POST", "/v1/events", {"type": "a.b", "data": 1}).status == 401
            client.close()


def test_a_session_is_known_and_ended_everywhere(cluster, apis):
    link = apis[0].post("/v1/portal-links", {"tenant_id": "acme"}, expect=201)
    session = cluster.nodes[1].sign_in({"token": link["token"]})
    for node in cluster.nodes:
        client = node.api(key=None)
        client.headers = session.headers
        assert client.get("/v1/sessions")["tenant_id"] == "acme"
    assert cluster.nodes[2].api(key=None).request(
        "POST", "/v1/sessions", {"token": link["token"]}).status == 410
    session.delete("/v1/sessions")
    for node in cluster.nodes:
        client = node.api(key=None)
        assert client.request("GET", "/v1/sessions", headers=session.headers).status == 401


def test_one_link_opens_one_session_however_many_nodes_are_asked(cluster, apis):
    for _ in range(5):
        token = apis[0].post("/v1/portal-links", {"tenant_id": "acme"}, expect=201)["token"]
        statuses = in_parallel(lambda node, token=token: node.api(key=None).request(
            "POST", "/v1/sessions", {"token": token}).status, cluster.nodes)
        assert sorted(statuses) == [201, 410, 410]


def test_a_tenant_suspended_on_one_node_is_suspended_on_all(apis, spread):
    apis[0].post("/v1/tenants", {"id": spread.tenant}, expect=201)
    hook = spread.hook()
    for number in range(10):
        waiting = publish(apis[1], spread)
        spread.wait_done(waiting["id"], hook)
        apis[number % 3].post(f"/v1/tenants/{spread.tenant}/suspend")
        for api in apis:
            assert publish(api, spread, expect=403)["code"] == "tenant_suspended"
        apis[(number + 1) % 3].post(f"/v1/tenants/{spread.tenant}/resume")


def test_waiting_deliveries_of_a_suspended_tenant_wait_until_it_is_resumed(apis, spread):
    apis[0].post("/v1/tenants", {"id": spread.tenant}, expect=201)
    hooks = [spread.hook(f"hook-{number}", Reply(500), Reply(), retry_config=SLOW)
             for number in range(6)]
    event = publish(apis[1], spread)
    deliveries = [spread.wait_status(event["id"], hook, "retrying") for hook in hooks]
    apis[2].post(f"/v1/tenants/{spread.tenant}/suspend")
    for delivery, hook in zip(deliveries, hooks):
        apis[0].post(f"/v1/deliveries/{delivery['id']}/retry", expect=202)
        assert spread.wait_blocked(event["id"], hook)["blocked"]["reason"] == "suspended"
    assert all(len(spread.requests(hook)) == 1 for hook in hooks)
    apis[1].post(f"/v1/tenants/{spread.tenant}/resume")
    for hook in hooks:
        assert spread.wait_done(event["id"], hook)["status"] == "succeeded"


def test_a_schema_made_on_one_node_is_checked_on_all(apis, spread):
    for number in range(10):
        name = f"cluster.type-{next(_names)}"
        schema = {"type": "object", "required": ["amount"]}
        apis[number % 3].post("/v1/event-types", {"name": name, "schema": schema}, expect=201)
        for api in apis:
            publish(api, spread, name, expect=422, data={})
            publish(api, spread, name, data={"amount": 1})
        apis[(number + 1) % 3].delete(f"/v1/event-types/{name}")
        for api in apis:
            publish(api, spread, name, data={})


def test_one_idempotency_key_on_three_nodes_at_once_is_one_event(cluster, apis, spread):
    hook = spread.hook()
    for number in range(30):
        answers = in_parallel(lambda api, number=number: api.request("POST", "/v1/events", {
            "type": "a.b", "tenant_id": spread.tenant, "data": {"n": number},
            "idempotency_key": f"same-{number}"}), apis)
        assert sorted(answer.status for answer in answers) == [200, 200, 202], answers
        assert len({answer.json["id"] for answer in answers}) == 1
    spread.wait_requests(hook, 30)
    assert sorted(spread.numbers(hook)) == list(range(30))
    assert len(apis[0].all(f"/v1/events?tenant_id={spread.tenant}")) == 30


def test_one_request_key_on_three_nodes_at_once_creates_one_webhook(apis, spread):
    for number in range(10):
        body = {"url": spread.receiver.url(spread.path("x")), "events": ["*"],
                "tenant_id": spread.tenant}
        answers = in_parallel(lambda api, body=body, number=number: api.request(
            "POST", "/v1/webhooks", body, {"Idempotency-Key": f"{spread.tenant}-{number}"}), apis)
        assert {answer.status for answer in answers} == {201}, answers
        assert len({answer.json["id"] for answer in answers}) == 1
    assert len(apis[1].all(f"/v1/webhooks?tenant_id={spread.tenant}")) == 10


def test_an_event_type_and_its_webhook_are_shown_alike_by_all(apis, spread):
    hook = spread.hook()
    spread.wait_done(publish(apis[1], spread)["id"], hook)
    shown = [[api.get(f"/v1/webhooks/{hook.id}"), api.all(f"/v1/events?tenant_id={spread.tenant}"),
              api.all(f"/v1/attempts?webhook_id={hook.id}")] for api in apis]
    assert shown[0] == shown[1] == shown[2]


def test_events_published_everywhere_at_once_reach_each_webhook_once(cluster, apis, spread):
    hooks = [spread.hook(f"hook-{number}", max_in_flight=20) for number in range(9)]

    def publish_many(place):
        client = cluster.nodes[place].api()
        for number in range(100):
            publish(client, spread, data={"n": place * 100 + number})
        client.close()
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        list(pool.map(publish_many, range(3)))
    for hook in hooks:
        spread.wait_requests(hook, 300)
        assert sorted(spread.numbers(hook)) == list(range(300)), hook.path
