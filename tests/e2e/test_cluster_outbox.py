"""Three nodes on one database take rows from a table and write their status back, whichever of them
took a row, made its deliveries or was killed."""

import collections

import pytest

from cluster import TAKEOVER_S
from harness import metric, metrics_page, wait_for
from receiver import Reply
from status_outbox import StatusOutbox, configuration
from test_source_outbox_status import QUICK, delivery_of, fill

WRITTEN = 'postrider_source_rows_total{source="bank",outcome="written"}'


@pytest.fixture
def outbox(cluster_postgres):
    return StatusOutbox(cluster_postgres)


@pytest.fixture
def bank(outbox, make_cluster, make_world, tmp_path):
    """The nodes, and a world that talks to the first one."""
    arguments = configuration(tmp_path, outbox, tenant="bank", batch_max=5)
    cluster = make_cluster(arguments=["--profile", "outbox", *arguments])
    world = make_world(cluster.nodes[0])
    world.tenant = "bank"
    return cluster, world


def fill_type(outbox, event_type, count):
    outbox.run("INSERT INTO webhook_outbox (event_type, payload) SELECT %s, '1' "
               "FROM generate_series(1, %s)", (event_type, count))


def unfinished(outbox):
    """The number of rows that are not delivered once, as the application sees them."""
    return outbox.run("SELECT count(*) FROM webhook_outbox WHERE status <> 'delivered' OR "
                      "postrider_handed_over_at IS NOT NULL OR postrider_generation <> 1")[0][0]


def sent_rows(world, hook):
    return collections.Counter(request.header("x-webhook-id") for request in world.requests(hook))


def test_every_row_gets_its_status_through_every_node(bank, outbox):
    cluster, world = bank
    hooks = [cluster.hook_of(world, node, f"of-{number}", events=[f"type.n{number}"])
             for number, node in enumerate(cluster.nodes)]
    for number in range(3):
        fill_type(outbox, f"type.n{number}", 100)
    wait_for(lambda: unfinished(outbox) == 0, "all rows to be delivered")
    for hook, node in zip(hooks, cluster.nodes):
        assert set(sent_rows(world, hook).values()) == {1}
        assert len(sent_rows(world, hook)) == 100
        page = metrics_page(node.api())
        assert metric(page, WRITTEN) > 0, f"{node.name} writes what it has sent"

    # A manual retry, a cancel and a row that is armed again.
    for number, node in enumerate(cluster.nodes):
        world.api = node.api()
        once = world.hook(f"once-{number}", Reply(500), Reply(200), events=[f"once.n{number}"],
                          retry_config={**QUICK, "max_attempts": 1})
        world.hook(f"late-{number}", Reply(500), events=[f"late.n{number}"],
                   retry_config={"schedule_ms": [600_000], "jitter": 0})
        failing = outbox.insert(event_type=f"once.n{number}")
        waiting = outbox.insert(event_type=f"late.n{number}")
        outbox.wait_status(failing, "failed")
        world.api.post(f"/v1/deliveries/{delivery_of(world, failing)['id']}/retry", expect=202)
        assert outbox.wait_status(failing, "delivered").attempts == 2
        outbox.wait_status(waiting, "retrying")
        world.api.post(f"/v1/deliveries/{delivery_of(world, waiting)['id']}/cancel")
        outbox.wait_status(waiting, "failed")
        outbox.update(failing, "status = 'pending'")
        outbox.wait(failing, lambda row: row.generation == 3, "the row to be sent again")
        assert sent_rows(world, once)[failing] == 3


def test_kills_lose_no_status(bank, outbox):
    cluster, world = bank
    hook = cluster.hook_of(world, cluster.nodes[2], "held", events=["held"], max_in_flight=20)
    world.receiver.hold(hook.path)
    fill_type(outbox, "held", 20)
    world.wait_requests(hook, 20)
    wait_for(lambda: outbox.run("SELECT count(*) FROM webhook_outbox "
                                "WHERE postrider_handed_over_at IS NOT NULL") == [(20,)],
             "the rows to be handed over")
    # While the application holds the rows, their status cannot be written.
    application = outbox.connect(autocommit=False)
    with application.cursor() as cursor:
        cursor.execute("SELECT 1 FROM webhook_outbox FOR UPDATE")
    world.receiver.release(hook.path)
    wait_for(lambda: len(world.api.get(f"/v1/deliveries?webhook_id={hook.id}&status=succeeded"
                                       "&limit=50")["data"]) == 20, "the deliveries")
    cluster.nodes[2].kill()
    application.rollback()
    application.close()
    wait_for(lambda: unfinished(outbox) == 0, "the other nodes to write the status", TAKEOVER_S)
    assert set(sent_rows(world, hook).values()) == {1}
    cluster.nodes[2].start()

    bulk = world.hook("bulk", events=["bulk"], retry_config=QUICK)
    fill(outbox, 600)
    for number, node in enumerate(cluster.nodes[1:], 1):
        wait_for(lambda number=number: outbox.counts()["delivered"] >= number * 100, "a part")
        node.kill()
        node.start()
    wait_for(lambda: unfinished(outbox) == 0, "all rows to be delivered", TAKEOVER_S)
    assert len(sent_rows(world, bulk)) == 600
