"""Expensive payload filters of a tenant do not hold up other tenants, and miss no event (P5)."""

import json
import threading
import time

import pytest

from world import World

HOOKS = 15
OTHER = "-1"  # A value that no rule matches.
ANSWERED_S_MAX = 1  # Far more than a publish takes, far less than all filters together.
NUMBERS = [{"numeric": [">", 1000 + number, "<", 1001 + number]} for number in range(63)]
PREFIXES = [{"prefix": f"b{number}"} for number in range(64)]
WILDCARDS = [{"wildcard": f"*aaaaaaaaaaaa{chr(ord('b') + n % 20)}*"} for n in range(60)]


def data(values, last):
    return ('{"x":[' + ",".join([*values, last]) + "]}").encode()


# Rules, data of 255 KB that the rules are compared with in vain, and a value that matches.
ATTACKS = {
    "numbers": (NUMBERS, ["99"] * 85_000, "1062.5"),
    "prefixes": (PREFIXES, ['"a"'] * 63_000, '"b59"'),
    "wildcards": (WILDCARDS, ['"' + "a" * 255_000 + '"'], '"' + "a" * 12 + 'u"'),
}


class Bystander:
    """A tenant that publishes all the time."""

    def __init__(self, server):
        self.answers = []  # Status and seconds.
        self.attacked = threading.Event()
        self.thread = threading.Thread(target=self.publish, args=(server.api(),))

    def publish(self, api):
        event = {"type": "a.b", "tenant_id": "bystander", "data": 1}
        while not self.attacked.is_set():
            begin = time.monotonic()
            answer = api.request("POST", "/v1/events", event)
            self.answers.append((answer.status, time.monotonic() - begin))
        api.close()

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *error):
        self.attacked.set()
        self.thread.join()

    def check(self):
        assert len(self.answers) > 10
        assert {status for status, _ in self.answers} == {202}
        assert max(seconds for _, seconds in self.answers) < ANSWERED_S_MAX


@pytest.mark.parametrize("rules, values, match", ATTACKS.values(), ids=ATTACKS)
def test_expensive_filters_delay_no_other_tenant_and_miss_no_event(
        own_server, receiver, rules, values, match):
    server = own_server("--io-threads", "1").start()
    world = World(server.api(), receiver, "greedy")
    hooks = [world.hook(f"hook-{number}", filter={"data": {"x": rules}})
             for number in range(HOOKS)]
    single = b'{"type":"a.b","tenant_id":"greedy","data":' + data(values, match) + b"}"
    unwanted = single.replace(match.encode(), OTHER.encode())
    answers = []

    def attack(path, body):
        api = server.api()
        answers.append(api.request("POST", path, body))
        api.close()

    attacks = [("/v1/events", single), ("/v1/events", single), ("/v1/events", unwanted),
               ("/v1/events/batch", b'{"events":[' + b",".join([single, unwanted, single]) + b"]}")]
    threads = [threading.Thread(target=attack, args=each) for each in attacks]
    with Bystander(server) as bystander:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert {answer.status for answer in answers} <= {200, 202}, answers
    created = sum(json.loads(answer.body).get("deliveries", 0) for answer in answers)
    assert created == 2 * HOOKS, "of the single events"
    bystander.check()
    for hook in hooks:
        assert len(world.wait_requests(hook, 4)) == 4


def test_a_replay_with_an_expensive_filter_delays_no_other_tenant(own_server, receiver):
    server = own_server("--io-threads", "1").start()
    world = World(server.api(), receiver, "greedy")
    rules, values, match = ATTACKS["numbers"]
    for number in range(8):
        last = match if number % 2 else OTHER
        world.api.request("POST", "/v1/events", b'{"type":"a.b","tenant_id":"greedy","data":' +
                          data(values, last) + b"}")
    hook = world.hook(filter={"data": {"x": rules}})
    with Bystander(server) as bystander:
        replay = world.api.post(f"/v1/webhooks/{hook.id}/replay",
                                {"since": "2020-01-01T00:00:00Z"}, expect=202)
        assert len(world.wait_requests(hook, 4)) == 4
    bystander.check()
    assert world.api.get(f"/v1/operations/{replay['id']}")["total"] == 4
