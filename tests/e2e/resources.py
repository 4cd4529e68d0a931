"""Creates the resources that documented requests act on, and sends the requests.

Each request gets its own resources.
"""

import base64
import datetime
import http.client
import itertools
import json
import os
import pathlib
import urllib.parse

from harness import DEADLINE, Answer, Server, wait_for
from receiver import Reply

UNKNOWN = "0" * 26
# The tests send many requests without a key.
SETTINGS = ("--allow-private-targets", "--allow-http",
            "--set", "idempotency.in_progress=conflict",
            "--set", "api.unauthenticated_rate_limit.requests_per_second=100000")


# Nothing listens at the address of the source.
TABLES = """[[sources]]
name = "shop"
kind = "redis"
address = "redis://127.0.0.1:9"
stream = "events"

[[notification_channels]]
name = "On call"
kind = "email"
to = ["ops@example.com"]
"""


def start_server(directory):
    """Starts a server on which every operation can succeed.

    It has sealed secrets, a source and a configured notification channel."""
    key = base64.b64encode(os.urandom(32)).decode()
    config = pathlib.Path(directory) / "tables.toml"
    config.write_text(TABLES)
    settings = (*SETTINGS, "--config", str(config))
    return Server(directory, settings, {"POSTRIDER_SECRETS_KEY": key}).start()


def echo(request):
    """A receiver's reply that repeats the challenge."""
    return Reply(200, body=json.loads(request.body)["data"]["challenge"].encode())


class Resources:
    """Creates the webhooks, events and deliveries that an operation needs, on a real server."""

    def __init__(self, server, receiver):
        self.server = server
        self.receiver = receiver
        self.api = server.api()
        self._numbers = itertools.count(1)

    # ------------------------------------------------------------ resources

    def webhook(self, *script, **fields):
        """Creates a webhook with its own tenant, so that it gets no other events."""
        number = next(self._numbers)
        path = f"/resources/{number}"
        if script:
            self.receiver.on(path, *script)
        body = {"url": self.receiver.url(path), "events": ["*"], "tenant_id": f"resources-{number}",
                **fields}
        return self.api.post("/v1/webhooks", body, expect=201)

    def event(self, webhook, **fields):
        body = {"type": "order.paid", "data": {"order": 7}, "tenant_id": webhook["tenant_id"],
                **fields}
        return self.api.post("/v1/events", body, expect=202)["id"]

    def delivery(self, webhook, *statuses):
        """Publishes an event and returns its delivery once it has one of the statuses."""
        event = self.event(webhook)

        def look():
            found = self.api.get(f"/v1/events/{event}")["deliveries"][0]
            return found if found["status"] in statuses else None
        return wait_for(look, f"a delivery to be {' or '.join(statuses)}")

    def dead_letter(self):
        return self.delivery(self.webhook(Reply(404)), "dead_letter")

    def waiting_delivery(self):
        webhook = self.webhook()
        self.api.post(f"/v1/webhooks/{webhook['id']}/pause")
        return self.delivery(webhook, "pending")

    def tenant(self, **limits):
        """Registers a tenant and returns its id."""
        name = f"tenant-{next(self._numbers)}"
        self.api.post("/v1/tenants", {"id": name}, expect=201)
        self.api.put(f"/v1/tenants/{name}/limits", limits)
        return name

    def key(self, scope):
        return self.api.post("/v1/api-keys", {"scope": scope}, expect=201)

    def event_type(self, **fields):
        """Adds an event type to the catalogue and returns its name."""
        name = f"resources.type{next(self._numbers)}"
        return self.api.post("/v1/event-types", {"name": name, **fields}, expect=201)["name"]

    def portal_token(self, tenant="acme"):
        return self.api.post("/v1/portal-links", {"tenant_id": tenant}, expect=201)["token"]

    def session_headers(self):
        """The headers of a new session of the admin key."""
        return self.server.sign_in({"key": self.api.key}).headers

    def suspended_session(self):
        """The headers of a portal session whose tenant was suspended since."""
        tenant = self.tenant()
        session = self.server.sign_in({"token": self.portal_token(tenant)})
        self.api.post(f"/v1/tenants/{tenant}/suspend")
        return session.headers

    def operation(self):
        """Schedules an operation for a later time."""
        start = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=30)
        body = {"start_at": start.isoformat(), "filter": {"tenant_id": "resources"}}
        return self.api.post("/v1/dlq/retry-batch", body, expect=202)

    def channel(self):
        """Creates a notification channel with its own tenant."""
        number = next(self._numbers)
        body = {"name": "Chat", "kind": "slack", "tenant_id": f"resources-{number}",
                "target": {"url": self.receiver.url(f"/resources/{number}")}}
        return self.api.post("/v1/notification-channels", body, expect=201)

    def alert(self):
        """Raises an alert: an answer of 410 disables a webhook."""
        webhook = self.webhook(Reply(410))
        self.delivery(webhook, "dead_letter")
        wait_for(lambda: self.api.get(f"/v1/alerts?webhook_id={webhook['id']}")["data"], "an alert")

    # ------------------------------------------------------------ requests

    def path_values(self, operation):
        """A valid value for each parameter in the operation's path."""
        if not operation.parameters_in("path"):
            return {}
        fitting = [prefix for prefix in PATHS if operation.path.startswith(prefix)]
        return PATHS[max(fitting, key=len)](self)

    def path(self, operation, values=None):
        values = self.path_values(operation) if values is None else values
        path = operation.path
        for parameter in operation.parameters_in("path"):
            name = parameter["name"]
            path = path.replace("{" + name + "}", urllib.parse.quote(values[name], safe=""))
        return path

    def plain(self, operation):
        """The path with the required query parameters."""
        required = "&".join(required_parameters(operation))
        return self.path(operation) + QUERIES.get(operation.id, required and "?" + required)

    def unknown_path(self, operation):
        """The path with well-formed ids of resources that do not exist."""
        return self.path(operation, {
            parameter["name"]: parameter["example"].split("_")[0] + "_" + UNKNOWN
            for parameter in operation.parameters_in("path")})

    def body(self, value):
        """An example's body with its fixed names made unique."""
        text = json.dumps(value)
        number = next(self._numbers)
        text = text.replace("https://example.com/hooks", self.receiver.url(f"/resources/{number}"))
        text = text.replace('"id": "acme"', f'"id": "acme-{number}"')
        text = text.replace('"acme-team"', f'"acme-team-{number}"')
        text = text.replace('"name": "order.', f'"name": "order{number}.')
        if "prp_0123456789" in text:
            text = text.replace("prp_0123456789", self.portal_token())
        if "prk_0123456789" in text:
            text = text.replace("prk_0123456789", self.key("read")["key"])
        return json.loads(text.replace("order-7-paid", f"order-{number}-paid"))

    def any_body(self, operation):
        examples = operation.body_examples
        return self.body(next(iter(examples.values()))) if examples else None

    def send(self, operation, path=None, body=None, headers=None, key=True):
        """Sends a request and checks the answer against the document. Sends bytes unchanged."""
        if operation.by_session and key is True:
            key, headers = None, {**self.session_headers(), **(headers or {})}
        client = self.api if key is True else self.server.api(key=key)
        path = self.plain(operation) if path is None else path
        if operation.is_stream:
            answer = self._begin(client, path, headers)
        else:
            answer = client.request(operation.method, path, body, headers)
        if client is not self.api:
            client.close()
        operation.check(answer)
        if answer.status == 202 and "kind" in answer.json:
            # The operation must not act on resources of the next test.
            self.api.request("POST", f"/v1/operations/{answer.json['id']}/cancel")
        return answer

    def _begin(self, client, path, headers):
        """Reads the head of a stream, or a whole refusal."""
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=DEADLINE)
        key = {"Authorization": f"Bearer {client.key}"} if client.key else {}
        connection.request("GET", path, headers={**key, **(headers or {})})
        response = connection.getresponse()
        body = response.read() if response.status != 200 else b""
        connection.close()
        named = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, named, body)


def _of_dead_letter(resources):
    delivery = resources.dead_letter()
    return {"id": delivery["id"], "delivery_id": delivery["id"]}


def _of_webhook_delivery(resources):
    delivery = resources.dead_letter()
    return {"id": delivery["webhook_id"], "delivery_id": delivery["id"]}


# Creates the values of path parameters. The longest matching prefix is used.
PATHS = {
    "/v1/api-keys/{id}": lambda resources: {"id": resources.key("read")["id"]},
    "/v1/deliveries/{id}": _of_dead_letter,
    "/v1/deliveries/{id}/cancel": lambda resources: {"id": resources.waiting_delivery()["id"]},
    "/v1/dlq/batch-operations/{id}": lambda resources: {"id": resources.operation()["id"]},
    "/v1/dlq/{delivery_id}": _of_dead_letter,
    "/v1/event-types/{name}": lambda resources: {"name": resources.event_type()},
    "/v1/events/{id}": lambda resources: {"id": resources.event({"tenant_id": "resources"})},
    "/v1/notification-channels/{id}": lambda resources: {"id": resources.channel()["id"]},
    "/v1/operations/{id}": lambda resources: {"id": resources.operation()["id"]},
    "/v1/sources/{name}": lambda resources: {"name": "shop"},
    "/v1/tenants/{id}": lambda resources: {"id": resources.tenant()},
    "/v1/webhooks/{id}": lambda resources: {"id": resources.webhook()["id"]},
    "/v1/webhooks/{id}/deliveries/{delivery_id}": _of_webhook_delivery,
    "/v1/webhooks/{id}/verify": lambda resources: {"id": resources.webhook(echo)["id"]},
}

def required_parameters(operation, but=None):
    """The required query parameters with their examples, except the one called `but`."""
    return [f"{one['name']}={one['example']}" for one in operation.parameters_in("query")
            if one.get("required") and one["name"] != but]


# Instead of the required parameters. Without its query, listWebhooks does not read the store.
QUERIES = {"discardDeadLetters": "?all=true", "listWebhooks": "?circuit=open"}

def _open_period(resources, path):
    circuit = path.removesuffix("/history")
    before = len(resources.api.all(path))
    for action in ("force_open", "reset"):
        resources.api.patch(circuit, {"action": action})
    wait_for(lambda: len(resources.api.all(path)) > before, "an open period")


# Adds an item to a list, for lists that do not contain dead letters. Takes (resources, list path).
FILLERS = {
    "listAlerts": lambda resources, _: resources.alert(),
    "listApiKeys": lambda resources, _: resources.key("read"),
    "listEventTypes": lambda resources, _: resources.event_type(),
    "listNotificationChannels": lambda resources, _: resources.channel(),
    "listNotifications": lambda resources, path: resources.api.post(
        path.removesuffix("/notifications") + "/test"),
    "listOpenPeriods": _open_period,
    "listOperations": lambda resources, _: resources.operation(),
    "listTenants": lambda resources, _: resources.tenant(),
    "listWebhookAttempts": lambda resources, path: resources.delivery(
        resources.api.get(path.removesuffix("/attempts")), "succeeded"),
    "listWebhookDeliveries": lambda resources, path: resources.delivery(
        resources.api.get(path.removesuffix("/deliveries")), "succeeded"),
}


def _an_hour_ago():
    return (datetime.datetime.now(datetime.timezone.utc)
            - datetime.timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")


# Values for parameters whose example in the document is outdated or needs another parameter.
VALUES = {("getStats", "from"): _an_hour_ago,
          ("discardDeadLetters", "dry_run"): lambda: "true&all=true"}
