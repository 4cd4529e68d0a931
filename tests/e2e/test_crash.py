"""kill -9 under load: nothing acknowledged is lost (P1, P2)."""

import http.client
import threading

import pytest

from harness import wait_for
from receiver import Reply
from stores import integrity_check, integrity_of_killed

pytestmark = pytest.mark.durable_store


class Publisher(threading.Thread):
    """Publishes until it is stopped, across crashes. Records the acknowledged events."""

    def __init__(self, server, tenant, name):
        super().__init__(daemon=True)
        self.server = server
        self.tenant = tenant
        self.label = name
        self.acked = []
        self.answers = {}  # {status: count}
        self.stopping = threading.Event()

    def run(self):
        number = 0
        while not self.stopping.is_set():
            port = self.server.port
            api = self.server.api(timeout=5)
            try:
                while not self.stopping.is_set() and self.server.port == port:
                    number += 1
                    self.publish(api, number)
            except (OSError, http.client.HTTPException):
                pass  # The server was killed: this publish was not acknowledged.
            finally:
                api.close()

    def publish(self, api, number):
        events = [{"type": "a.b", "tenant_id": self.tenant,
                   "data": {"n": f"{self.label}-{number}-{item}"}}
                  for item in range(number % 3 + 1)]
        if len(events) == 1:
            answer = api.request("POST", "/v1/events", events[0])
        else:
            answer = api.request("POST", "/v1/events/batch", {"events": events})
        self.answers[answer.status] = self.answers.get(answer.status, 0) + 1
        if answer.status == 202:
            body = answer.json
            self.acked += [item["id"] for item in body.get("results", [body])]


def test_strict_order_survives_kill_9(own_server, make_world):
    server = own_server().start()
    world = make_world(server)
    hook = world.hook(ordering_guarantee="strict")
    world.publish_batch([{"type": "a.b", "data": {"n": number}} for number in range(400)])
    for kill_at in (20, 150, 300):
        world.wait_requests(hook, kill_at)
        server.kill()
        server.start()
    wait_for(lambda: world.numbers(hook)[-1:] == [399], "the last event")
    numbers = world.numbers(hook)
    assert numbers == sorted(numbers), "out of order"
    assert set(numbers) == set(range(400))
    # Only the delivery in flight at each kill is sent twice.
    assert len(numbers) <= 400 + 3


def test_kill_9_under_load_ten_times_loses_nothing(own_server, make_world, tmp_path):
    server = own_server().start()
    world = make_world(server)
    healthy = world.hook("healthy", max_in_flight=20)
    # Fails sometimes, so that settlements of every kind are interrupted.
    flaky = world.hook("flaky", *([Reply(500), Reply(), Reply()] * 2000), max_in_flight=20,
                       retry_config={"base_delay_ms": 20, "max_delay_ms": 100, "max_attempts": 50},
                       circuit_breaker_config={"enabled": False})
    publishers = [Publisher(server, world.tenant, name) for name in "ab"]
    for publisher in publishers:
        publisher.start()

    for cycle in range(10):
        seen = sum(len(publisher.acked) for publisher in publishers)
        wait_for(lambda: sum(len(publisher.acked) for publisher in publishers) >= seen + 60,
                 f"progress in cycle {cycle}")
        server.kill()
        assert integrity_of_killed(server.data, tmp_path / f"copy-{cycle}") == "ok"
        if cycle % 3 == 0:  # Kill it again during recovery.
            server.launch()
            server.kill()
        server.start()
    for publisher in publishers:
        publisher.stopping.set()
        publisher.join(30)

    acked = {event_id for publisher in publishers for event_id in publisher.acked}
    answers = [publisher.answers for publisher in publishers]
    assert len(acked) >= 600
    assert all(set(counts) <= {202, 503} for counts in answers), answers

    def delivered(hook):
        return {request.webhook_id for request in world.requests(hook)}
    for hook in (healthy, flaky):
        wait_for(lambda: acked <= delivered(hook), f"every acknowledged event at {hook.path}")
    world.api = server.api()

    def open_deliveries():
        return [item for status in ("pending", "retrying", "dead_letter")
                for item in world.api.all(f"/v1/deliveries?status={status}")]
    wait_for(lambda: not open_deliveries(), "every delivery to be recorded as succeeded")
    stored = {item["id"] for item in world.api.all("/v1/events")}
    assert acked <= stored
    assert delivered(healthy) <= stored, "nothing was sent that was not stored"
    server.stop()
    assert integrity_check(server.data) == "ok"
