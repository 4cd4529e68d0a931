"""Shared by the tests of the profiles: reads retry schedules without waiting; checks signatures."""

import datetime
import itertools

from harness import wait_for
from receiver import Held, Reply

# A caller's own secrets for the schemes whose secrets are text.
OWN_SECRETS = ["8 bytes!", "a secret that both of us know", "whsec_is just text here",
               "Grüße 😀", "x" * 255]

# Retries after 1 ms, so that a test quickly reaches the attempt it checks.
IMMEDIATE_RETRIES = {"schedule_ms": [1], "jitter": 0, "category_minimums": False}

_labels = itertools.count(1)


def seconds(text):
    """Converts a time of the API to Unix seconds."""
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def requests_with_shown_secrets(world, publish):
    """Sends an event to webhooks with a generated secret and with a caller's own ones.

    `publish` publishes the event. Returns [(the secret that the creation showed, the request)].
    """
    hooks = [world.hook(f"shown{next(_labels)}")]
    hooks += [world.hook(f"shown{next(_labels)}", secret=secret) for secret in OWN_SECRETS]
    assert [hook.secret for hook in hooks[1:]] == OWN_SECRETS, "shown as they were given"
    publish()
    for hook in hooks:
        shown = world.api.get(f"/v1/webhooks/{hook.id}/secret")["secret"]
        assert shown == hook.secret
    return [(hook.secret, world.wait_requests(hook, 1)[0]) for hook in hooks]


def check_receiver(accepts, secrets_and_requests):
    """Checks that the receiver's code accepts each request with its own secret only."""
    for secret, request in secrets_and_requests:
        assert accepts(secret, request), secret
        assert not accepts(secret + "x", request), secret


def planned_delays(world, numbers, reply=Reply(500), **fields):
    """Returns {number: planned delay in seconds after the failure of attempt `number`}.

    Creates a webhook for each number. Its attempts fail quickly until attempt `number`. The answer
    to that attempt is held until the webhook has the profile's default policy again, so that the
    next delay follows that policy.
    """
    hooks = {}
    for number in numbers:
        script = [Reply(500)] * (number - 1) + [Held(reply)]
        hooks[number] = world.hook(f"plan{next(_labels)}", *script, retry_config=IMMEDIATE_RETRIES,
                                   circuit_breaker_config={"enabled": False}, **fields)
    event = world.publish()["id"]
    delays = {}
    for number, hook in hooks.items():
        world.wait_requests(hook, number)
        world.api.patch(f"/v1/webhooks/{hook.id}", {"retry_config": None})
        world.receiver.release(hook.path)

        def failed(hook=hook, number=number):
            attempts = world.delivery(event, hook)["attempts"]
            return attempts[number - 1] if len(attempts) >= number else None
        attempt = wait_for(failed, f"attempt {number}")
        assert attempt["number"] == number
        ended = seconds(attempt["executed_at"]) + attempt["duration_ms"] / 1000
        delays[number] = seconds(attempt["next_retry_at"]) - ended
    return delays


def check_delays(delays, planned, minus=0.0, plus=0.0, extra=0.0):
    """Checks each delay against its plan and jitter. Allows 0.5 s more for a busy machine."""
    assert set(delays) == set(planned)
    for number, delay in delays.items():
        low, high = planned[number] * (1 - minus), planned[number] * (1 + plus) + extra
        assert low - 0.01 <= delay <= high + 0.5, (number, delay, low, high)


def attempts_until_dead(world, reply=Reply(500), **fields):
    """Fails a delivery until it is a dead letter. Returns the delivery and its webhook."""
    hook = world.hook(f"dead{next(_labels)}", reply, retry_config=IMMEDIATE_RETRIES,
                      circuit_breaker_config={"enabled": False}, **fields)
    delivery = world.wait_done(world.publish()["id"], hook)
    assert delivery["status"] == "dead_letter"
    assert len(world.requests(hook)) == delivery["attempt_count"]
    return delivery, hook


def open_circuit(world, outcomes, **fields):
    """Creates a webhook and publishes one event for each of the receiver's answers, in order."""
    hook = world.hook(f"circuit{next(_labels)}", *[Reply(status) for status in outcomes],
                      max_in_flight=1, retry_config={"schedule_ms": [600_000], "jitter": 0},
                      **fields)
    for sent in range(1, len(outcomes) + 1):
        world.publish()
        world.wait_requests(hook, sent)
    return hook


def open_seconds(circuit):
    return seconds(circuit["open_until"]) - seconds(circuit["changed_at"])


def names_with(request, prefix):
    """The request's header names with this prefix, sorted."""
    return sorted(name for name, _ in request.headers if name.startswith(prefix))


def event_type_names(config):
    return [each["name"] for each in config["event_types"]]
