"""The server on a PostgreSQL database: the same promises as with its own files."""

import itertools
import signal

import pytest

from harness import (ADMIN_KEY, metric, metrics_page, refuses_publishing, run_command,
                     wait_for)
from metric_pages import sum_of
from outbox import PostgresServer
from receiver import Reply
from test_crash import Publisher

_databases = itertools.count(1)


@pytest.fixture(scope="module")
def postgres():
    with PostgresServer() as server:
        yield server


@pytest.fixture
def store(postgres):
    """The environment of a server with an empty database."""
    name = f"store_{next(_databases)}"
    postgres.make_database(name)
    return {"POSTRIDER_STORE": postgres.address(database=name)}


def test_an_event_is_stored_in_the_database_and_delivered(own_server, make_world, store):
    server = own_server(environment=store).start()
    world = make_world(server)
    hook = world.hook()
    world.publish_batch([{"type": "a.b", "data": {"n": number}} for number in range(30)])
    wait_for(lambda: sorted(world.numbers(hook)) == list(range(30)), "every event")
    wait_for(lambda: len(world.api.all("/v1/deliveries?status=succeeded")) == 30, "the record")
    assert not (server.data / "postrider.db").exists()
    server.stop()

    server.start()
    again = server.api()
    assert len(again.all("/v1/events")) == 30
    assert len(again.all("/v1/attempts")) == 30


def test_the_connections_and_the_worker_pool_are_shown(own_server, make_world, store):
    server = own_server("--pool", "eu", environment=store).start()
    make_world(server).hook()
    page = metrics_page(server.api())
    assert sum_of(page, "postrider_store_connections", role="writer") == 1
    assert sum_of(page, "postrider_store_connections", role="reader") == 3
    assert metric(page, 'postrider_store_requests_waiting{role="writer"}') >= 0
    assert metric(page, 'postrider_store_wait_seconds_count{role="writer"}') > 0
    assert metric(page, 'webhook_worker_pool_utilization{pool_id="eu"}') == 0
    server.stop()

    other = own_server(name="other", environment=store).start()
    page = metrics_page(other.api())
    assert metric(page, 'webhook_worker_pool_utilization{pool_id="default"}') == 0


def test_a_key_is_published_once_and_a_dead_letter_can_be_retried(own_server, make_world, store):
    world = make_world(own_server(environment=store).start())
    hook = world.hook("gone", Reply(404), Reply())
    event = {"type": "a.b", "tenant_id": world.tenant, "data": 1, "idempotency_key": "k-1"}
    first = world.api.post("/v1/events", event, expect=202)
    assert world.api.post("/v1/events", event, expect=200) == {**first, "duplicate": True}
    [dead] = wait_for(lambda: world.api.all("/v1/dlq"), "the dead letter")
    world.api.post(f"/v1/deliveries/{dead['id']}/retry", {}, expect=202)
    wait_for(lambda: world.api.get(f"/v1/deliveries/{dead['id']}")["status"] == "succeeded",
             "success")
    assert len(world.requests(hook)) == 2


def test_strict_order_survives_kill_9(own_server, make_world, store):
    server = own_server(environment=store).start()
    world = make_world(server)
    hook = world.hook(ordering_guarantee="strict")
    world.publish_batch([{"type": "a.b", "data": {"n": number}} for number in range(300)])
    for kill_at in (20, 150):
        world.wait_requests(hook, kill_at)
        server.kill()
        server.start()
    wait_for(lambda: world.numbers(hook)[-1:] == [299], "the last event")
    numbers = world.numbers(hook)
    assert numbers == sorted(numbers), "out of order"
    assert set(numbers) == set(range(300))


def test_kill_9_of_the_server_and_of_the_database_loses_nothing(own_server, make_world, store,
                                                                postgres):
    server = own_server(environment=store).start()
    world = make_world(server)
    hook = world.hook("healthy", max_in_flight=20)
    publishers = [Publisher(server, world.tenant, name) for name in "ab"]
    for publisher in publishers:
        publisher.start()

    def acked():
        return {event_id for publisher in publishers for event_id in publisher.acked}
    for cycle in range(6):
        seen = len(acked())
        wait_for(lambda: len(acked()) >= seen + 60, f"progress in cycle {cycle}")
        if cycle % 2 == 0:
            server.kill()
            server.start()
        else:
            postgres.kill()
            assert refuses_publishing(server.api())
            postgres.start()
    for publisher in publishers:
        publisher.stopping.set()
        publisher.join(30)

    assert all(set(each.answers) <= {202, 503} for each in publishers)
    wait_for(lambda: acked() <= {request.webhook_id for request in world.requests(hook)},
             "every acknowledged event")
    world.api = server.api()
    wait_for(lambda: not world.api.all("/v1/deliveries?status=pending"), "the record")
    assert acked() <= {item["id"] for item in world.api.all("/v1/events")}


def test_the_server_starts_after_the_one_before_was_killed(own_server, store):
    server = own_server(environment=store).start()
    server.signal(signal.SIGKILL)
    server.kill()
    server.start()
    server.api().get("/v1/webhooks")


def test_the_password_of_the_database_is_not_shown(own_server, store):
    server = own_server(environment=store).start()
    password = store["POSTRIDER_STORE"].split(":")[2].split("@")[0]
    code, shown, error = run_command("serve", "--print-config", environment=store)
    assert code == 0
    assert "store = \"postgres://app:" in shown
    settings = server.api().request("GET", "/v1/settings").body.decode()
    for text in (shown, error, settings, server.output()):
        assert password not in text
        assert ADMIN_KEY not in text


def test_an_address_that_is_not_of_postgresql_is_refused(tmp_path):
    for address in ("mysql://app@127.0.0.1/app", "postgres://"):
        code, _, error = run_command("serve", "--store", address, directory=tmp_path)
        assert code == 2
        assert "store must be empty or an address with postgres:// or postgresql://" in error
