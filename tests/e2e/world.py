"""Separates tests that share a server: each has its own tenant, webhooks and receiver paths."""

import dataclasses
import json

from harness import wait_for

FINAL = ("succeeded", "dead_letter", "cancelled")

# Retries quickly enough for a test to wait for them.
FAST = {"base_delay_ms": 50, "max_delay_ms": 200, "max_attempts": 5}
# Retries so late that the delivery stays `retrying` during the test.
SLOW = {"base_delay_ms": 600_000, "max_delay_ms": 3_600_000, "max_attempts": 5}


@dataclasses.dataclass
class Hook:
    """A registered webhook and the receiver's path it points at."""

    id: str
    path: str
    created: dict

    @property
    def secret(self):
        return self.created["secret"]


class World:
    def __init__(self, api, receiver, tenant):
        self.api = api
        self.receiver = receiver
        self.tenant = tenant
        self.hooks = []

    def path(self, label):
        return f"/{self.tenant}/{label}"

    def hook(self, label="hook", /, *script, **fields):
        """Creates a webhook for path `label`. `script`: the receiver's replies (default 200)."""
        path = self.path(label)
        if script:
            self.receiver.on(path, *script)
        body = {"url": self.receiver.url(path), "events": ["*"], "tenant_id": self.tenant, **fields}
        created = self.api.post("/v1/webhooks", body, expect=201)
        hook = Hook(created["id"], path, created)
        self.hooks.append(hook)
        return hook

    def publish(self, type="order.created", data=None, expect=202, **fields):
        body = {"type": type, "data": {} if data is None else data, "tenant_id": self.tenant,
                **fields}
        return self.api.post("/v1/events", body, expect=expect)

    def publish_numbered(self, count, type="order.created", start=0, **fields):
        """Publishes events with data {"n": start}, {"n": start + 1}, … Returns their ids."""
        return [self.publish(type, {"n": number}, **fields)["id"]
                for number in range(start, start + count)]

    def publish_batch(self, events, expect=202, query=""):
        body = {"events": [{"tenant_id": self.tenant, **event} for event in events]}
        return self.api.post("/v1/events/batch" + query, body, expect=expect)

    # ------------------------------------------------------------ results

    def requests(self, hook):
        return self.receiver.requests(hook.path)

    def wait_requests(self, hook, count):
        wait_for(lambda: self.receiver.count(hook.path) >= count,
                 f"{count} requests to {hook.path}")
        return self.requests(hook)

    def numbers(self, hook):
        """The `n` of every request, in order of arrival."""
        return [json.loads(request.body)["data"]["n"] for request in self.requests(hook)]

    def delivery(self, event_id, hook):
        """The delivery of an event to a webhook, with its attempts."""
        found = [item for item in self.api.get(f"/v1/events/{event_id}")["deliveries"]
                 if item["webhook_id"] == hook.id]
        assert len(found) == 1, found
        return self.api.get(f"/v1/deliveries/{found[0]['id']}")

    def wait_status(self, event_id, hook, *wanted):
        def look():
            delivery = self.delivery(event_id, hook)
            return delivery if delivery["status"] in wanted else None
        return wait_for(look, f"{event_id} -> {hook.id} to be {' or '.join(wanted)}")

    def wait_done(self, event_id, hook):
        return self.wait_status(event_id, hook, *FINAL)

    def wait_blocked(self, event_id, hook):
        """Waits until the delivery shows a `blocked` reason and returns it."""
        def look():
            delivery = self.delivery(event_id, hook)
            return delivery if delivery["blocked"] else None
        return wait_for(look, f"{event_id} -> {hook.id} to be blocked")

    def circuit(self, hook):
        return self.api.get(f"/v1/webhooks/{hook.id}")["circuit"]

    def wait_circuit(self, hook, state):
        def look():
            circuit = self.circuit(hook)
            return circuit if circuit["state"] == state else None
        return wait_for(look, f"the circuit of {hook.id} to be {state}")

    def clean(self):
        """Deletes the webhooks, so that nothing of this test runs during the next one."""
        for hook in self.hooks:
            self.receiver.release(hook.path)
            self.api.request("DELETE", f"/v1/webhooks/{hook.id}")
        self.api.close()
