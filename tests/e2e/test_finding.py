"""Finding deliveries and attempts: by resource, by date, by the words of other systems."""

import datetime

import pytest

from cli import Cli
from harness import wait_for
from operations import wait_finished
from receiver import Reply
from world import FAST, SLOW

NO_CIRCUIT = {"enabled": False}


def ids(api, path):
    return [item["id"] for item in api.all(path)]


def today():
    return datetime.datetime.now(datetime.timezone.utc).date()


def days(count):
    return (today() + datetime.timedelta(days=count)).isoformat()


@pytest.fixture
def swaps(world):
    """One dead letter, one success and one retry; the first two with a resource."""
    dying = world.hook("dying", Reply(404, body=b"no such hook"), events=["swap.dead"],
                       name="Dying", resource_id="swap-1")
    good = world.hook("good", events=["swap.good"])
    waiting = world.hook("waiting", Reply(500), events=["swap.waits"], retry_config=SLOW,
                         circuit_breaker_config=NO_CIRCUIT)
    dead = world.publish("swap.dead", resource_id="swap-1")["id"]
    done = world.publish("swap.good", resource_id="swap-2")["id"]
    waits = world.publish("swap.waits")["id"]
    found = {"dead": world.wait_status(dead, dying, "dead_letter"),
             "done": world.wait_status(done, good, "succeeded"),
             "waits": world.wait_status(waits, waiting, "retrying")}
    return world, found, dying


# ---------------------------------------------------------------- by resource


def test_every_list_is_filtered_by_resource(swaps):
    world, found, dying = swaps
    tenant = f"tenant_id={world.tenant}"
    dead, done = found["dead"], found["done"]
    assert ids(world.api, f"/v1/webhooks?{tenant}&resource_id=swap-1") == [dying.id]
    assert ids(world.api, f"/v1/events?{tenant}&resource_id=swap-1") == [dead["event_id"]]
    assert ids(world.api, f"/v1/deliveries?{tenant}&resource_id=swap-1") == [dead["id"]]
    assert ids(world.api, f"/v1/deliveries?{tenant}&resource_id=swap-2") == [done["id"]]
    assert ids(world.api, f"/v1/deliveries?{tenant}&resource_id=swap-1&status=succeeded") == []
    assert ids(world.api, f"/v1/webhooks/{dying.id}/deliveries?resource_id=swap-1") == [dead["id"]]
    assert ids(world.api, f"/v1/webhooks/{dying.id}/deliveries?resource_id=swap-2") == []
    assert ids(world.api, f"/v1/dlq?{tenant}&resource_id=swap-1") == [dead["id"]]
    assert ids(world.api, f"/v1/dlq?{tenant}&resource_id=swap-2") == []
    for path in ("webhooks", "events", "deliveries", "dlq"):
        assert ids(world.api, f"/v1/{path}?{tenant}&resource_id=other") == [], path


def test_a_resource_of_another_tenant_is_not_found(swaps, server):
    world, _, _ = swaps
    key = world.api.post("/v1/api-keys", {"scope": "tenant", "tenant_id": "somebody"}, expect=201)
    client = server.api(key["key"])
    for path in ("webhooks", "events", "deliveries", "dlq"):
        assert client.get(f"/v1/{path}?resource_id=swap-1")["data"] == [], path
    assert client.get("/v1/attempts")["data"] == []
    client.close()
    world.api.delete(f"/v1/api-keys/{key['id']}")


def test_operations_act_on_one_resource(world):
    hook = world.hook("hook", Reply(404))
    letters = {}
    for name in ("swap-1", "swap-2", "swap-3"):
        event = world.publish(resource_id=name)["id"]
        letters[name] = world.wait_status(event, hook, "dead_letter")["id"]
    world.receiver.on(hook.path, Reply())
    started = world.api.post("/v1/dlq/retry-batch", {"filter": {
        "tenant_id": world.tenant, "resource_id": "swap-1", "from": days(-1), "to": days(0)}},
        expect=202)
    assert started["filter"]["resource_id"] == "swap-1"
    assert wait_finished(world.api, started)["total"] == 1
    left = f"/v1/dlq?webhook_id={hook.id}"
    wait_for(lambda: ids(world.api, left) == [letters["swap-3"], letters["swap-2"]], "one retry")
    discarded = world.api.delete(f"/v1/dlq?tenant_id={world.tenant}&resource_id=swap-2", 202)
    assert wait_finished(world.api, discarded)["total"] == 1
    wait_for(lambda: ids(world.api, left) == [letters["swap-3"]], "one discard")


def test_a_resource_is_found_after_a_crash_and_among_late_deliveries(own_server, make_world):
    server = own_server().start()
    world = make_world(server)
    hook = world.hook()
    event = world.publish(resource_id="swap-1")["id"]
    world.wait_done(event, hook)
    later = world.hook("later")
    done = world.api.post(f"/v1/webhooks/{later.id}/replay", {"since": days(0)}, expect=202)
    wait_finished(world.api, done)
    world.wait_done(event, later)
    both = ids(world.api, "/v1/deliveries?resource_id=swap-1")
    assert len(both) == 2
    attempts = [(item["id"], item["executed_at"]) for item in world.api.all("/v1/attempts")]
    assert len(attempts) == 2
    server.kill()
    server.start()
    api = server.api()
    assert ids(api, "/v1/deliveries?resource_id=swap-1") == both
    assert [(item["id"], item["executed_at"]) for item in api.all("/v1/attempts")] == attempts


# ---------------------------------------------------------------- rows


def test_rows_show_the_latest_attempt_and_the_webhook(swaps):
    world, found, dying = swaps
    rows = [found["dead"],
            world.api.get(f"/v1/webhooks/{dying.id}/deliveries")["data"][0],
            world.api.get(f"/v1/dlq?webhook_id={dying.id}")["data"][0],
            world.api.get(f"/v1/events/{found['dead']['event_id']}")["deliveries"][0]]
    last = found["dead"]["attempts"][-1]
    webhook = world.api.get(f"/v1/webhooks/{dying.id}")
    for row in rows:
        assert (row["attempt_count"], row["attempts_total"]) == (1, 1)
        assert row["max_attempts"] == webhook["retry_config"]["max_attempts"]
        assert row["last_attempt_at"] == last["executed_at"]
        assert row["last_error"] == last["error_message"] == "The receiver answered 404."
        assert row["last_duration_ms"] == last["duration_ms"]
        assert (row["webhook_name"], row["webhook_url"]) == ("Dying", webhook["url"])
    done = found["done"]
    assert (done["last_error"], done["webhook_name"]) == (None, None)
    assert done["last_attempt_at"] == done["attempts"][-1]["executed_at"]

    world.api.delete(f"/v1/webhooks/{dying.id}")
    removed = world.api.get(f"/v1/deliveries/{found['dead']['id']}")
    assert removed["last_error"] == "The receiver answered 404."
    for name in ("webhook_name", "webhook_url", "max_attempts"):
        assert name in removed


def test_a_delivery_without_an_attempt_has_no_latest_one(world):
    hook = world.hook()
    world.api.post(f"/v1/webhooks/{hook.id}/pause")
    delivery = world.delivery(world.publish()["id"], hook)
    assert (delivery["last_attempt_at"], delivery["last_error"],
            delivery["last_duration_ms"]) == (None, None, None)
    assert (delivery["attempt_count"], delivery["attempts_total"]) == (0, 0)


def test_after_a_manual_retry_the_count_is_of_the_new_budget(world):
    hook = world.hook("hook", Reply(500), retry_config={**FAST, "max_attempts": 2},
                      circuit_breaker_config=NO_CIRCUIT)
    event = world.publish()["id"]
    dead = world.wait_done(event, hook)
    assert (dead["attempt_count"], dead["attempts_total"], dead["max_attempts"]) == (2, 2, 2)
    answer = world.api.post(f"/v1/deliveries/{dead['id']}/retry", expect=202)
    assert (answer["attempt_count"], answer["attempts_total"]) == (0, 2)
    wait_for(lambda: world.delivery(event, hook)["attempts_total"] == 4, "two more attempts")
    again = world.wait_status(event, hook, "dead_letter")
    assert (again["attempt_count"], again["attempts_total"]) == (2, 4)
    assert [attempt["number"] for attempt in again["attempts"]] == [1, 2, 3, 4]


# ---------------------------------------------------------------- attempts


def test_attempts_are_listed_newest_first_with_their_results(swaps):
    world, found, dying = swaps
    listed = world.api.all(f"/v1/attempts?tenant_id={world.tenant}")
    assert {item["delivery_id"] for item in listed} == {item["id"] for item in found.values()}
    times = [item["executed_at"] for item in listed]
    assert times == sorted(times, reverse=True)
    [attempt] = world.api.get(f"/v1/webhooks/{dying.id}/attempts")["data"]
    stored = found["dead"]["attempts"][0]
    assert {name: attempt[name] for name in stored if name != "request"} == {
        name: value for name, value in stored.items() if name != "request"}
    assert attempt["response_sample"] == "no such hook"
    assert (attempt["delivery_id"], attempt["event_id"], attempt["webhook_id"]) == (
        found["dead"]["id"], found["dead"]["event_id"], dying.id)
    assert (attempt["tenant_id"], attempt["event_type"]) == (world.tenant, "swap.dead")


def test_attempts_are_filtered(swaps):
    world, found, dying = swaps

    def deliveries(query):
        listed = world.api.all(f"/v1/attempts?tenant_id={world.tenant}&{query}")
        return {item["delivery_id"] for item in listed}
    dead, done, waits = (found[name]["id"] for name in ("dead", "done", "waits"))
    for query, expected in [
            ("status=succeeded", {done}), ("status=success", {done}), ("status=delivered", {done}),
            ("status=failed", {dead, waits}), ("status=failure", {dead, waits}),
            ("status=exhausted", {dead}), ("status=timeout", set()),
            ("status=circuit_blocked", set()), ("status=success,exhausted", {done, dead}),
            ("failure_category=client_error", {dead}), ("failure_category=dns", set()),
            ("event_type=swap.waits", {waits}), ("event_type=swap.*", {dead, done, waits}),
            (f"webhook_id={dying.id}", {dead}), (f"delivery_id={waits}", {waits}),
            (f"from={days(0)}", {dead, done, waits}), (f"from={days(2)}", set()),
            (f"to={days(0)}", {dead, done, waits}), (f"to={days(-2)}", set())]:
        assert deliveries(query) == expected, query
    for query in ("status=sent", "from=yesterday", "number=1", "cursor=x"):
        assert world.api.request("GET", f"/v1/attempts?{query}").status == 400, query
    assert world.api.request("GET", "/v1/webhooks/whk_x/attempts").status == 404


@pytest.mark.parametrize("path", ["/v1/attempts?tenant_id={tenant}", "/v1/webhooks/{id}/attempts?"])
def test_attempts_are_paged(world, path):
    hook = world.hook("hook", Reply(500), retry_config={**FAST, "max_attempts": 5},
                      circuit_breaker_config=NO_CIRCUIT)
    delivery = world.wait_status(world.publish()["id"], hook, "dead_letter")
    newest_first = [attempt["id"] for attempt in reversed(delivery["attempts"])]
    path = path.format(tenant=world.tenant, id=hook.id)
    first = world.api.get(f"{path}&limit=2")
    second = world.api.get(f"{path}&limit=2&cursor={first['next_cursor']}")
    third = world.api.get(f"{path}&limit=2&cursor={second['next_cursor']}")
    pages = [[item["id"] for item in page["data"]] for page in (first, second, third)]
    assert pages == [newest_first[0:2], newest_first[2:4], newest_first[4:]]
    assert third["next_cursor"] is None
    assert [item["id"] for item in world.api.get(f"{path}&offset=3")["data"]] == newest_first[3:]


# ---------------------------------------------------------------- dates and words


def test_a_date_is_a_whole_day(swaps):
    world, _, dying = swaps
    for path in ("/v1/events?", "/v1/deliveries?", "/v1/dlq?", "/v1/attempts?"):
        path += f"tenant_id={world.tenant}"
        everything = len(world.api.all(path))
        assert everything > 0
        for query, expected in [(f"from={days(0)}", everything), (f"to={days(0)}", everything),
                                (f"from={days(0)}&to={days(0)}", everything),
                                (f"from={days(1)}", 0), (f"to={days(-1)}", 0)]:
            assert len(world.api.all(f"{path}&{query}")) == expected, (path, query)
    path = f"/v1/webhooks/{dying.id}/deliveries?limit=50&offset=0&status=failed&from=2024-01-01"
    assert len(world.api.get(path)["data"]) == 1
    assert world.api.get(f"/v1/stats?from={days(0)}&to={days(0)}")["from"].startswith(days(0))
    world.api.get(f"/v1/audit-log?from={days(0)}&to={days(0)}")
    for text in ("2024-02-30", "2024-1-1", "20240101", "2024"):
        refused = world.api.request("GET", f"/v1/events?from={text}")
        assert refused.status == 400, text
        assert "a date such as" in refused.json["detail"]


def test_the_words_of_other_systems_are_accepted(swaps):
    world, found, dying = swaps
    tenant = f"tenant_id={world.tenant}"
    dead, done, waits = (found[name]["id"] for name in ("dead", "done", "waits"))
    for words, expected in [("success", {done}), ("delivered", {done}), ("exhausted", {dead}),
                            ("dead_lettered", {dead}), ("failed", {dead, waits}),
                            ("failed,success", {dead, waits, done}), ("circuit_blocked", set())]:
        assert set(ids(world.api, f"/v1/deliveries?{tenant}&status={words}")) == expected, words
    for word in ("failed", "exhausted", "dead_letter"):
        assert ids(world.api, f"/v1/dlq?{tenant}&status={word}") == [dead], word
    for path in ("deliveries", "dlq", "attempts", "stream"):
        refused = world.api.request("GET", f"/v1/{path}?status=sleeping")
        assert refused.status == 400, path
        assert "dead_letter" in refused.json["detail"]
    replay = f"/v1/webhooks/{dying.id}/replay"
    refused = world.api.request("POST", replay, {"since": days(0), "status": ["sleeping"]})
    assert refused.status == 422 and "exhausted" in refused.json["detail"]
    world.receiver.on(dying.path, Reply())
    started = world.api.post(replay, {"since": days(0), "until": days(0), "status": ["exhausted"]},
                             expect=202)
    assert started["filter"]["status"] == ["dead_letter"]
    assert wait_finished(world.api, started)["done"] == 1


def test_what_a_circuit_blocks_can_be_listed(world):
    hook = world.hook()
    other = world.hook("other", Reply(500), retry_config=SLOW, circuit_breaker_config=NO_CIRCUIT)
    world.api.patch(f"/v1/webhooks/{hook.id}/circuit-breaker", {"action": "force_open"})
    event = world.publish()["id"]
    blocked = world.wait_blocked(event, hook)
    world.wait_status(event, other, "retrying")
    path = f"/v1/deliveries?tenant_id={world.tenant}&status=circuit_blocked"
    wait_for(lambda: ids(world.api, path) == [blocked["id"]], "the blocked delivery")
    world.api.patch(f"/v1/webhooks/{hook.id}/circuit-breaker", {"action": "reset"})
    world.wait_done(event, hook)
    assert ids(world.api, path) == []


# ---------------------------------------------------------------- command line


def test_the_command_line_finds_the_same(swaps, server):
    world, found, dying = swaps
    cli = Cli(server.port)
    tenant = ("--tenant", world.tenant)

    def listed(*words):
        return {item["id"] for item in cli.json(*words, *tenant)["data"]}
    dead, done, waits = (found[name]["id"] for name in ("dead", "done", "waits"))
    assert listed("webhooks", "list", "--resource", "swap-1") == {dying.id}
    assert listed("events", "list", "--resource", "swap-1") == {found["dead"]["event_id"]}
    assert listed("deliveries", "list", "--resource", "swap-2") == {done}
    assert listed("dlq", "list", "--resource", "swap-1") == {dead}
    assert listed("deliveries", "list", "--status", "failed", "--from", days(0)) == {dead, waits}
    assert listed("deliveries", "list", "--to", days(-1)) == set()
    attempts = cli.json("deliveries", "attempts", "--status", "exhausted", "--to", days(0), *tenant)
    assert [item["delivery_id"] for item in attempts["data"]] == [dead]
    text = cli.text("deliveries", "attempts", "--webhook", dying.id)
    assert "client_error" in text and "The receiver answered 404." in text
    assert "--from" in cli.refused("deliveries", "attempts", "--from", "2024-02-30", code=2)
