"""The form of a body: a receiver that parses and serialises it gets the bytes that were signed."""

import hashlib
import hmac
import json
import subprocess

import pytest

from harness import ADMIN_KEY, DEADLINE, run_command
from odd_json import TEXTS

STRINGIFY = """
const texts = JSON.parse(require('fs').readFileSync(0, 'utf8'));
process.stdout.write(JSON.stringify(texts.map((text) => JSON.stringify(JSON.parse(text)))));
"""


def javascript(texts):
    """JSON.stringify(JSON.parse(text)) of each text, in Node.js."""
    done = subprocess.run(["node", "-e", STRINGIFY], input=json.dumps(texts), capture_output=True,
                          text=True, timeout=DEADLINE, check=True)
    return json.loads(done.stdout)


def python(texts):
    return [json.dumps(json.loads(text), sort_keys=True) for text in texts]


def publish_texts(world, texts):
    """Publishes each text as the data of an event, byte for byte."""
    for text in texts:
        body = f'{{"type": "a.b", "tenant_id": "{world.tenant}", "data": {text}}}'.encode()
        assert world.api.request("POST", "/v1/events", body).status == 202, text


@pytest.mark.parametrize("form, serialise", [("compact", javascript), ("sorted", python)])
def test_a_body_is_what_the_receivers_serialiser_writes(world, form, serialise):
    hook = world.hook(payload_format="raw", payload={"form": form},
                      signature={"scheme": "sha256-body"}, ordering_guarantee="strict")
    publish_texts(world, TEXTS)
    requests = world.wait_requests(hook, len(TEXTS))
    bodies = [request.body.decode() for request in requests]
    assert dict(zip(TEXTS, bodies)) == dict(zip(TEXTS, serialise(TEXTS)))
    assert serialise(bodies) == bodies
    for request in requests:
        signed = hmac.new(hook.secret.encode(), request.body, hashlib.sha256).hexdigest()
        assert request.header("x-webhook-signature") == "sha256=" + signed


def test_a_number_beyond_a_double_is_null_in_javascript_and_unchanged_for_python(world):
    compact = world.hook("compact", payload_format="raw", payload={"form": "compact"})
    ordered = world.hook("sorted", payload_format="raw", payload={"form": "sorted"})
    publish_texts(world, ["[1e400, -1e999]"])
    assert world.wait_requests(compact, 1)[0].body == b"[null,null]"
    assert world.wait_requests(ordered, 1)[0].body == b"[1e400, -1e999]"


def test_the_default_is_the_data_byte_for_byte(world):
    hook = world.hook(payload_format="raw", ordering_guarantee="strict")
    assert hook.created["payload"] == {"form": "verbatim"}
    publish_texts(world, TEXTS)
    requests = world.wait_requests(hook, len(TEXTS))
    assert [request.body.decode() for request in requests] == TEXTS


@pytest.mark.parametrize("format", ["standard", "exchange", "platform", "workspace", "tenant"])
def test_every_envelope_has_the_form_and_keeps_its_values(world, format):
    hooks = {form: world.hook(form, payload_format=format, payload={"form": form})
             for form in ("verbatim", "compact", "sorted")}
    world.publish("order.created", {"b": 1, "a": "é\u2028"},
                  resource_id="ü", metadata={"z": 1, "y": "ä"})
    bodies = {form: world.wait_requests(hook, 1)[0].body.decode() for form, hook in hooks.items()}
    assert [bodies["compact"]] == javascript([bodies["compact"]])
    assert [bodies["sorted"]] == python([bodies["sorted"]])
    values = [json.loads(body) for body in bodies.values()]
    if format == "tenant":  # Has the id of the delivery and the time of the attempt.
        values = [{**value, "id": 0, "timestamp": 0} for value in values]
    assert values[0] == values[1] == values[2]
    assert list(json.loads(bodies["compact"])) == list(json.loads(bodies["verbatim"]))


def test_the_form_can_be_changed_and_survives_a_crash(own_server, make_world):
    server = own_server().start()
    world = make_world(server)
    hook = world.hook(payload_format="raw")
    changed = world.api.patch(f"/v1/webhooks/{hook.id}", {"payload": {"form": "sorted"}})
    assert changed["payload"] == {"form": "sorted"}
    server.kill()
    server.start()
    world.api = server.api()
    assert world.api.get(f"/v1/webhooks/{hook.id}")["payload"] == {"form": "sorted"}
    event = world.publish(data={"b": 1, "a": 2})["id"]
    assert world.wait_requests(hook, 1)[0].body == b'{"a": 2, "b": 1}'
    delivery = world.wait_done(event, hook)
    assert delivery["request"]["body"] == '{"a": 2, "b": 1}', "as it was sent"

    reset = world.api.patch(f"/v1/webhooks/{hook.id}", {"payload": None})
    assert reset["payload"] == {"form": "verbatim"}
    delivery = world.api.get(f"/v1/deliveries/{delivery['id']}")
    assert delivery["request"]["body"] == '{"a": 2, "b": 1}', "as it was sent"


def test_the_form_of_a_filtered_event_does_not_change_what_matches(world):
    hook = world.hook(payload_format="raw", payload={"form": "compact"},
                      filter={"data": {"n": [{"numeric": ["=", 12345678901234567890]}]}})
    publish_texts(world, ['{"n": 12345678901234567890}', '{"n": 12345678901234567891}'])
    assert world.wait_requests(hook, 1)[0].body == b'{"n":12345678901234567000}'


def test_settings_and_the_command_line_set_the_form(own_server, make_world):
    server = own_server("--set", "webhooks.payload.form=compact").start()
    world = make_world(server)
    assert world.hook().created["payload"] == {"form": "compact"}
    key = ["--server", f"http://127.0.0.1:{world.api.port}", "--key", ADMIN_KEY]
    code, stdout, stderr = run_command("webhooks", "create", "http://127.0.0.1:9/", "--json",
                                       "--payload-form", "sorted", *key)
    assert code == 0, stderr
    assert json.loads(stdout)["payload"] == {"form": "sorted"}
    code, _, stderr = run_command("serve", "--set", "webhooks.payload.form=pretty")
    assert code == 2 and "verbatim, compact, sorted" in stderr


def test_an_unknown_form_is_refused(world):
    hook = world.hook()
    for payload, field in [({"form": "pretty"}, "payload.form"), ({"form": 1}, "payload.form"),
                           ({"x": 1}, "payload.x"), ("compact", "payload")]:
        for method, path in (("POST", "/v1/webhooks"), ("PATCH", f"/v1/webhooks/{hook.id}")):
            body = {"payload": payload}
            if method == "POST":
                body.update(url=world.receiver.url("/x"), events=["*"])
            refused = world.api.request(method, path, body)
            assert refused.status == 422, (payload, refused)
            assert [error["field"] for error in refused.json["errors"]] == [field]
