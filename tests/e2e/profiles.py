"""What the tests of the profiles share: the schedule without waiting for it, signatures."""

import base64
import datetime
import hashlib
import hmac
import itertools

from harness import wait_for
from receiver import Held, Reply

# A text is its own key: what the receivers of these profiles are used to.
SECRET = "a secret that both of us know"

# Retries at once, so that a test gets to the attempt it wants to see.
AT_ONCE = {"schedule_ms": [1], "jitter": 0, "category_minimums": False}

_labels = itertools.count(1)


def seconds(text):
    """A time of the API as seconds."""
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def hmac_hex(secret, text):
    return hmac.new(secret.encode(), text, hashlib.sha256).hexdigest()


def key_of(secret):
    """The bytes behind a whsec_ secret."""
    return base64.b64decode(secret.removeprefix("whsec_"))


def planned_delays(world, numbers, reply=Reply(500), **fields):
    """{number: seconds planned after the failure of attempt `number`}, under the profile's policy.

    A webhook for each number fails at once until that attempt, which is held until the webhook has
    its default policy again; what is planned then is what the profile says.
    """
    hooks = {}
    for number in numbers:
        script = [Reply(500)] * (number - 1) + [Held(reply)]
        hooks[number] = world.hook(f"plan{next(_labels)}", *script, retry_config=AT_ONCE,
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
    """Each delay is the planned one, spread as said; half a second for a busy machine."""
    assert set(delays) == set(planned)
    for number, delay in delays.items():
        low, high = planned[number] * (1 - minus), planned[number] * (1 + plus) + extra
        assert low - 0.01 <= delay <= high + 0.5, (number, delay, low, high)


def attempts_until_dead(world, reply=Reply(500), **fields):
    """A delivery that failed as often as the profile allows, and its webhook."""
    hook = world.hook(f"dead{next(_labels)}", reply, retry_config=AT_ONCE,
                      circuit_breaker_config={"enabled": False}, **fields)
    delivery = world.wait_done(world.publish()["id"], hook)
    assert delivery["status"] == "dead_letter"
    assert len(world.requests(hook)) == delivery["attempt_count"]
    return delivery, hook


def open_circuit(world, outcomes, **fields):
    """A webhook whose receiver answered these statuses, one event each, in order."""
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
    """The request's header names that begin so, in lower case, sorted."""
    return sorted(name for name, _ in request.headers if name.startswith(prefix))


def event_type_names(config):
    return [each["name"] for each in config.get("event_types", [])]
