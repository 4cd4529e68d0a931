"""Helpers for tests of long-running operations."""

from harness import wait_for

FINISHED = ("completed", "cancelled", "failed")


def make_dead_letters(world, hook, count, type="order.created", start=0):
    """Creates `count` dead letters. Returns their event ids. The receiver must answer 404."""
    ids = []
    before = count_dead_letters(world, hook)
    for first in range(start, start + count, 100):
        numbers = range(first, min(first + 100, start + count))
        answer = world.publish_batch([{"type": type, "data": {"n": n}} for n in numbers])
        ids += [item["id"] for item in answer["results"]]
    wait_for(lambda: count_dead_letters(world, hook) >= before + count,
             f"{count} dead letters of {hook.id}")
    return ids


def count_dead_letters(world, hook):
    return sum(world.api.get(f"/v1/dlq?webhook_id={hook.id}&limit=1")["age_buckets"].values())


def wait_finished(api, operation, *wanted):
    """Waits until the operation has one of the wanted states (default: finished) and returns it."""
    def look():
        found = api.get(f"/v1/operations/{operation['id']}")
        return found if found["status"] in (wanted or FINISHED) else None
    return wait_for(look, f"{operation['id']} to be {' or '.join(wanted or FINISHED)}")


def start(api, method, path, body=None):
    answer = api.request(method, path, body)
    assert answer.status == 202, answer
    return answer.json
