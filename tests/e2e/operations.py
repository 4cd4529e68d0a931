"""Helpers for tests of long-running operations."""

from harness import wait_for

OVER = ("completed", "cancelled", "failed")


def kill_off(world, hook, count, type="order.created", start=0):
    """`count` dead letters: their event ids. The receiver must answer 404."""
    ids = []
    before = dead_count(world, hook)
    for first in range(start, start + count, 100):
        numbers = range(first, min(first + 100, start + count))
        answer = world.publish_batch([{"type": type, "data": {"n": n}} for n in numbers])
        ids += [item["id"] for item in answer["results"]]
    wait_for(lambda: dead_count(world, hook) >= before + count,
             f"{count} dead letters of {hook.id}")
    return ids


def dead_count(world, hook):
    return sum(world.api.get(f"/v1/dlq?webhook_id={hook.id}&limit=1")["age_buckets"].values())


def wait_over(api, operation, *wanted):
    """The operation once it is over, or in one of the states that are wanted."""
    def look():
        found = api.get(f"/v1/operations/{operation['id']}")
        return found if found["status"] in (wanted or OVER) else None
    return wait_for(look, f"{operation['id']} to be {' or '.join(wanted or OVER)}")


def start(api, method, path, body=None):
    answer = api.request(method, path, body)
    assert answer.status == 202, answer
    return answer.json
