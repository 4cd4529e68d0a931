"""Judges what the webhooks of a cluster received, while nodes and the database fail.

The trace says when something failed: only that may explain a request that was made twice.
"""

import contextlib
import dataclasses
import json
import threading
import time

from harness import SLOWNESS

# An answer is recorded in the store within this time, unless something fails.
SETTLED_S = 5.0 * SLOWNESS
# A request arrives later than it was sent, by this much at most.
ON_ITS_WAY_S = 0.4 * SLOWNESS


@dataclasses.dataclass
class Fault:
    name: str
    begin: float
    end: float = float("inf")


class Trace:
    """The faults of a test. Any thread."""

    def __init__(self):
        self._lock = threading.Lock()
        self.faults = []

    @contextlib.contextmanager
    def fault(self, name):
        """Something fails while the block runs."""
        fault = Fault(name, time.monotonic())
        with self._lock:
            self.faults.append(fault)
        try:
            yield
        finally:
            fault.end = time.monotonic()

    def explains(self, request):
        """Whether something failed before the request was recorded in the store."""
        ended = request.ended if request.ended is not None else time.monotonic()
        with self._lock:
            return any(fault.begin <= ended + SETTLED_S and fault.end >= request.started
                       for fault in self.faults)


def number_of(request):
    return json.loads(request.body)["data"]["n"]


def peak(requests):
    """The highest number of requests at the same time."""
    changes = [(request.started, 1) for request in requests]
    changes += [(request.ended, -1) for request in requests if request.ended is not None]
    highest = now = 0
    for _, change in sorted(changes):
        now += change
        highest = max(highest, now)
    return highest


def rate_excess(requests, per_second, burst):
    """By how many requests the fullest interval exceeds the token bucket. Not above 0: the limit
    held."""
    excess, lowest = float("-inf"), float("inf")
    for place, started in enumerate(sorted(request.started for request in requests)):
        tokens = started * per_second
        lowest = min(lowest, place - tokens)
        excess = max(excess, place + 1 - tokens - lowest - burst - ON_ITS_WAY_S * per_second)
    return excess


def unexplained_repeats(requests, trace):
    """Pairs of requests of one delivery of which the second one should not have been made."""
    latest = {}
    found = []
    for request in sorted(requests, key=lambda each: each.started):
        before = latest.get(request.webhook_id)
        latest[request.webhook_id] = request
        if before is None:
            continue
        is_settled = before.answered is not None and before.answered < 300
        if (is_settled or request.attempt == before.attempt) and not trace.explains(before):
            found.append((before, request))
    return found


def out_of_order(requests):
    """Pairs of successive requests whose numbers descend."""
    numbers = [number_of(request) for request in sorted(requests, key=lambda each: each.started)]
    return [pair for pair in zip(numbers, numbers[1:]) if pair[0] > pair[1]]


def check(requests, trace, max_in_flight=None, rate=None, ordered=False):
    """`rate`: (per second, burst)."""
    assert len({(number_of(request), request.webhook_id) for request in requests}) == len(
        {number_of(request) for request in requests}), "an event was stored twice (P3)"
    repeats = unexplained_repeats(requests, trace)
    assert not repeats, f"sent again without a reason: {repeats[:3]}; {trace.faults}"
    if max_in_flight is not None:
        assert peak(requests) <= max_in_flight, f"{peak(requests)} requests at once (P7, P8)"
    if rate is not None:
        assert rate_excess(requests, *rate) <= 0, "more requests than the rate allows (P7)"
    if ordered:
        assert not out_of_order(requests), f"out of order (P4): {out_of_order(requests)[:5]}"
