"""What the contract's examples talk about, alive: each request gets things of its own to act on."""

import base64
import datetime
import http.client
import itertools
import json
import os
import urllib.parse

from harness import DEADLINE, Answer, Server, wait_for
from receiver import Reply

UNKNOWN = "0" * 26
# Requests without a key are many here, and secrets are sealed.
SETTINGS = ("--allow-private-targets", "--allow-http",
            "--set", "api.unauthenticated_rate_limit.requests_per_second=100000")


def start_server(directory):
    """A server on which every operation can succeed."""
    key = base64.b64encode(os.urandom(32)).decode()
    return Server(directory, SETTINGS, {"POSTRIDER_SECRETS_KEY": key}).start()


def echo(request):
    """A receiver's answer to a challenge."""
    return Reply(200, body=json.loads(request.body)["data"]["challenge"].encode())


class Stage:
    """Makes the webhooks, events and deliveries that an operation needs, on a real server."""

    def __init__(self, server, receiver):
        self.server = server
        self.receiver = receiver
        self.api = server.api()
        self._numbers = itertools.count(1)

    # ------------------------------------------------------------ things

    def webhook(self, *script, **fields):
        """A webhook of a tenant of its own: nobody else's events reach it."""
        number = next(self._numbers)
        path = f"/stage/{number}"
        if script:
            self.receiver.on(path, *script)
        body = {"url": self.receiver.url(path), "events": ["*"], "tenant_id": f"stage-{number}",
                **fields}
        return self.api.post("/v1/webhooks", body, expect=201)

    def event(self, webhook, **fields):
        body = {"type": "order.paid", "data": {"order": 7}, "tenant_id": webhook["tenant_id"],
                **fields}
        return self.api.post("/v1/events", body, expect=202)["id"]

    def delivery(self, webhook, *statuses):
        """A new delivery to the webhook, once it is in one of the states."""
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
        """A registered tenant's id."""
        name = f"tenant-{next(self._numbers)}"
        self.api.post("/v1/tenants", {"id": name}, expect=201)
        self.api.put(f"/v1/tenants/{name}/limits", limits)
        return name

    def key(self, scope):
        return self.api.post("/v1/api-keys", {"scope": scope}, expect=201)

    def event_type(self, **fields):
        """The name of a type in the catalogue."""
        name = f"stage.type{next(self._numbers)}"
        return self.api.post("/v1/event-types", {"name": name, **fields}, expect=201)["name"]

    def portal_token(self):
        return self.api.post("/v1/portal-links", {"tenant_id": "acme"}, expect=201)["token"]

    def operation(self):
        """An operation that waits for its time."""
        start = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=30)
        body = {"start_at": start.isoformat(), "filter": {"tenant_id": "stage"}}
        return self.api.post("/v1/dlq/retry-batch", body, expect=202)

    def alert(self):
        """410 switches a webhook off, and its owner is told."""
        webhook = self.webhook(Reply(410))
        self.delivery(webhook, "dead_letter")
        wait_for(lambda: self.api.get(f"/v1/alerts?webhook_id={webhook['id']}")["data"], "an alert")

    # ------------------------------------------------------------ requests

    def path_values(self, operation):
        """A live value for each parameter in the operation's path."""
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
        """With the query it cannot do without."""
        return self.path(operation) + QUERIES.get(operation.id, "")

    def unknown_path(self, operation):
        """Well-formed ids of things that do not exist."""
        return self.path(operation, {
            parameter["name"]: parameter["example"].split("_")[0] + "_" + UNKNOWN
            for parameter in operation.parameters_in("path")})

    def body(self, value):
        """An example's body, with its fixed names turned into ones of this request alone."""
        text = json.dumps(value)
        number = next(self._numbers)
        text = text.replace("https://example.com/hooks", self.receiver.url(f"/stage/{number}"))
        text = text.replace('"id": "acme"', f'"id": "acme-{number}"')
        text = text.replace('"name": "order.', f'"name": "order{number}.')
        if "prp_0123456789" in text:
            text = text.replace("prp_0123456789", self.portal_token())
        return json.loads(text.replace("order-7-paid", f"order-{number}-paid"))

    def any_body(self, operation):
        examples = operation.body_examples
        return self.body(next(iter(examples.values()))) if examples else None

    def send(self, operation, path=None, body=None, headers=None, key=True):
        """Sends, and checks the answer against the document. `body` bytes go out as they are."""
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
            # What was begun must not act on what the next test makes.
            self.api.request("POST", f"/v1/operations/{answer.json['id']}/cancel")
        return answer

    def _begin(self, client, path, headers):
        """The head of an answer that may have no end, and the whole of one that is refused."""
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=DEADLINE)
        key = {"Authorization": f"Bearer {client.key}"} if client.key else {}
        connection.request("GET", path, headers={**key, **(headers or {})})
        response = connection.getresponse()
        body = response.read() if response.status != 200 else b""
        connection.close()
        named = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, named, body)


def _of_dead_letter(stage):
    delivery = stage.dead_letter()
    return {"id": delivery["id"], "delivery_id": delivery["id"]}


def _of_webhook_delivery(stage):
    delivery = stage.dead_letter()
    return {"id": delivery["webhook_id"], "delivery_id": delivery["id"]}


# What a path's parameters stand for: the longest beginning decides.
PATHS = {
    "/v1/api-keys/{id}": lambda stage: {"id": stage.key("read")["id"]},
    "/v1/deliveries/{id}": _of_dead_letter,
    "/v1/deliveries/{id}/cancel": lambda stage: {"id": stage.waiting_delivery()["id"]},
    "/v1/dlq/batch-operations/{id}": lambda stage: {"id": stage.operation()["id"]},
    "/v1/dlq/{delivery_id}": _of_dead_letter,
    "/v1/event-types/{name}": lambda stage: {"name": stage.event_type()},
    "/v1/events/{id}": lambda stage: {"id": stage.event({"tenant_id": "stage"})},
    "/v1/operations/{id}": lambda stage: {"id": stage.operation()["id"]},
    "/v1/tenants/{id}": lambda stage: {"id": stage.tenant()},
    "/v1/webhooks/{id}": lambda stage: {"id": stage.webhook()["id"]},
    "/v1/webhooks/{id}/deliveries/{delivery_id}": _of_webhook_delivery,
    "/v1/webhooks/{id}/verify": lambda stage: {"id": stage.webhook(echo)["id"]},
}

QUERIES = {"discardDeadLetters": "?all=true"}

# How a list gets another item, when a dead letter does not do it: (stage, the list's path).
FILLERS = {
    "listAlerts": lambda stage, _: stage.alert(),
    "listApiKeys": lambda stage, _: stage.key("read"),
    "listEventTypes": lambda stage, _: stage.event_type(),
    "listOperations": lambda stage, _: stage.operation(),
    "listTenants": lambda stage, _: stage.tenant(),
    "listWebhookDeliveries": lambda stage, path: stage.delivery(
        stage.api.get(path.removesuffix("/deliveries")), "succeeded"),
}


def _an_hour_ago():
    return (datetime.datetime.now(datetime.timezone.utc)
            - datetime.timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")


# Parameters whose example is right at another time only.
VALUES = {("getStats", "from"): _an_hour_ago}
